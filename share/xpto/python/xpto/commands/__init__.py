"""One file a subcommand of `xpto`; each has `main(argv) -> exit code` (0 done, 1 the kernel failed, 2 wrong usage, 3 internal)."""
