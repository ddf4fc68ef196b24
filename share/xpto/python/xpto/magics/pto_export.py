"""%pto_export: what leaves the notebook: a trace, a reproduction bundle, the ahead-of-time package."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from xpto.magics import Option, UsageError, parse_line
from xpto.magics.views import find_kernel, last_compilation

OPTIONS = [Option("to", "path", "file or folder to write (default: named after the kernel, in the current folder)")]
DOC = """Writes something of the last (or the named) kernel to disk.

%pto_export trace [kernel] [to=FILE.json]    Chrome trace of the last run (open it in a trace viewer)
%pto_export bundle [kernel] [to=FILE.zip]    source, generated text, report, versions: what is needed to reproduce it
%pto_export aot [kernel] [to=FOLDER]         package for the operator library: kernel_meta, objects or the commands that make them, manifests"""


def _trace(kernel: Any, to: str) -> str:
    from xpto import trace
    run = kernel.last_run
    if run is None:
        raise UsageError(f"%pto_export trace: {kernel.__name__} was not run yet; %pto_run {kernel.__name__}(...) first")
    return str(trace.write(run.timeline().to_json(), to or f"{kernel.__name__}.trace.json"))


def _bundle(kernel: Any, to: str) -> str:
    import json
    import platform
    import tempfile
    import zipfile
    from xpto import _engine, config
    made, path = last_compilation(kernel), Path(to or f"{kernel.__name__}.bundle.zip")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, file in sorted(made.save(folder).items()):
            pack.write(file, name)
        versions = {"xpto": _engine.version(), "python": platform.python_version(), "platform": platform.platform(), "settings": config.values,
                    "overrides": kernel.overrides}
        pack.writestr("versions.json", json.dumps(versions, indent=1, default=str))
        if kernel.last_run is not None:
            pack.writestr("run.txt", kernel.last_run.text())
            shapes = {n: f"{getattr(v, 'dtype', type(v).__name__)}{list(getattr(v, 'shape', []))}" for n, v in kernel.last_run.arguments().items()}
            pack.writestr("arguments.json", json.dumps(shapes, indent=1))
    return str(path)


def _aot(kernel: Any, to: str) -> str:
    from xpto import release
    made = last_compilation(kernel)
    return release.make(made.kernel, Path(to or f"{made.kernel.__name__}.package")).text()


_KINDS = {"trace": _trace, "bundle": _bundle, "aot": _aot}


def register(shell: Any) -> None:
    def pto_export(line: str) -> None:
        names, options = parse_line("%pto_export", line, OPTIONS, DOC)
        if names is None:
            return
        if not names or names[0] not in _KINDS:
            raise UsageError(f"%pto_export: what to write is one of {', '.join(_KINDS)}" + (f", not {names[0]}" if names else ""))
        if len(names) > 2:
            raise UsageError(f"%pto_export: one kernel at a time, got {' '.join(names[1:])}")
        kernel = find_kernel(shell, "pto_export", names[1] if len(names) > 1 else None)
        written = _KINDS[names[0]](kernel, (options or {}).get("to", ""))
        print(written if names[0] == "aot" else "wrote " + written)

    pto_export.__doc__ = DOC
    shell.register_magic_function(pto_export, magic_kind="line", magic_name="pto_export")
