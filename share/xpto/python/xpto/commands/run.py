"""xpto run FILE.py [ARGS...]: run a Python script with the language importable; its kernels run on the chosen device."""
from __future__ import annotations

import runpy
import sys
from pathlib import Path

SUMMARY = "run a Python script; its kernels run on the chosen device"




def main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(__doc__)
        print("usage: xpto run FILE.py [ARGS...]")
        return 0 if argv else 2
    path = Path(argv[0])
    if not path.is_file():
        print(f"xpto run: no file {argv[0]}", file=sys.stderr)
        return 2
    from xpto.errors import InternalError, PtoError
    sys.argv = [str(path), *argv[1:]]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        text = path.read_text(encoding="utf-8")
        first = text.lstrip("\n").split("\n", 1)[0]
        if first.startswith("%%pto_kernel"):
            _run_saved_cell(path, text)
        else:
            runpy.run_path(str(path), run_name="__main__")
    except InternalError as e:
        print(e, file=sys.stderr)
        return 3
    except PtoError as e:
        print(f"{type(e).__name__}: {e}", file=sys.stderr)
        return 1
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else (0 if e.code is None else (print(e.code, file=sys.stderr) or 1))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BaseException:
        import traceback
        traceback.print_exc()
        return 1
    return 0


def _run_saved_cell(path: Path, text: str) -> None:
    """Runs a cell saved with its %%pto_kernel line: the line becomes a comment, its options apply."""
    import linecache
    from xpto import kernel as kernels
    from xpto.magics import parse_line
    from xpto.magics.pto_kernel import OPTIONS, _preload
    head, _, rest = text.lstrip("\n").partition("\n")
    names, options = parse_line("%%pto_kernel", head.removeprefix("%%pto_kernel"), OPTIONS, "")
    body = "\n" * (len(text) - len(text.lstrip("\n"))) + "#" + head[1:] + "\n" + rest
    linecache.cache[str(path)] = (len(body), None, body.splitlines(keepends=True), str(path))
    space = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(body, str(path), "exec"), space)
    for k in kernels.created:
        overrides = {key: options[key] for key in ("target", "check") if key in options}
        if "preload" in options and k.options.get("pipeline") is not None:
            overrides["preload"] = _preload(options["preload"])
        k.overrides = overrides
        made = k.compile()
        print(made.text())
        if not made.ok:
            raise made.error()
