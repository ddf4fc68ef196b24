"""The command line: `xpto COMMAND ...`, one file a command under xpto/commands."""
from __future__ import annotations

import importlib
import pkgutil
import sys

from xpto import commands

DONE, KERNEL_FAILED, WRONG_USAGE, INTERNAL_ERROR = 0, 1, 2, 3


def known_commands() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_"))


def usage() -> str:
    lines = ["usage: xpto COMMAND ...", "", "  kernel    what Jupyter starts: kernel -f CONNECTION_FILE"]
    for name in known_commands():
        try:
            summary = importlib.import_module(f"xpto.commands.{name}").SUMMARY
        except Exception as e:
            summary = f"not available: {type(e).__name__}: {e}"
        lines.append(f"  {name:<9} {summary}")
    return "\n".join([*lines, "", "xpto COMMAND --help says more; xpto --version names the version."])


def main(arguments: list[str]) -> int:
    """Runs one command and returns its exit code: 0 done, 1 the user's kernel failed, 2 wrong usage, 3 internal error."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return DONE if arguments else WRONG_USAGE
    name, rest = arguments[0], arguments[1:]
    if name not in known_commands():
        import difflib
        near = difflib.get_close_matches(name, [*known_commands(), "kernel"], 1)
        print(f"xpto: no command {name!r}" + (f"; did you mean {near[0]}?" if near else "") + "\n\n" + usage(), file=sys.stderr)
        return WRONG_USAGE
    try:
        return int(importlib.import_module(f"xpto.commands.{name}").main(rest) or 0)
    except SystemExit as e:  # argparse leaves with 0 after --help and 2 for wrong usage
        return e.code if isinstance(e.code, int) else DONE if e.code is None else WRONG_USAGE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `xpto compile ... | head`
        sys.stderr.close()
        return DONE
    except Exception:
        return _internal_error(name, rest)


def _internal_error(name: str, rest: list[str]) -> int:
    """Says what broke and leaves what is needed to reproduce it in a folder."""
    import platform
    import shlex
    import tempfile
    import traceback
    from pathlib import Path
    trace = traceback.format_exc()
    print(trace, file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="xpto-report-"))
    command = shlex.join(["xpto", name, *rest])
    (folder / "report.txt").write_text(f"{command}\n{platform.platform()}\nPython {platform.python_version()}\n\n{trace}", encoding="utf-8")
    for argument in rest:
        source = Path(argument)
        if source.suffix == ".py" and source.is_file():
            (folder / source.name).write_bytes(source.read_bytes())
    print(f"xpto {name}: this is our fault, not the kernel's. What is needed to reproduce it is in {folder}", file=sys.stderr)
    return INTERNAL_ERROR
