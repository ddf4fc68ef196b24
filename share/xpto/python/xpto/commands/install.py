"""xpto install: register the Jupyter kernel, so that notebooks offer it."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

SUMMARY = "register the Jupyter kernel (--user, or --prefix P)"


def _executable() -> Path | None:
    host = sys.modules.get("_xpto_host")
    if host is None:
        try:
            import _xpto_host as host
        except ImportError:  # run as a Python module, not through the executable
            found = shutil.which("xpto")
            return Path(found) if found else None
    return Path(host.executable)


def _user_folder() -> Path:
    try:
        from jupyter_core.paths import jupyter_data_dir
        return Path(jupyter_data_dir())
    except ImportError:
        return Path(os.environ.get("JUPYTER_DATA_DIR") or Path.home() / ".local/share/jupyter")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("xpto install", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user (the default)")
    where.add_argument("--prefix", metavar="P", help="into P/share/jupyter/kernels, for example an environment's folder")
    parser.add_argument("--name", default="xpto", help="folder name of the kernel, and what --kernel= takes")
    args = parser.parse_args(argv)
    executable = _executable()
    if executable is None:
        print("xpto install: the executable xpto is not on PATH", file=sys.stderr)
        return 2
    source = executable.parent.parent / "share/jupyter/kernels/xpto"
    if not (source / "kernel.json").is_file():
        print(f"xpto install: {source} has no kernel.json; is the build complete?", file=sys.stderr)
        return 3
    target = (Path(args.prefix).resolve() / "share/jupyter" if args.prefix else _user_folder()) / "kernels" / args.name
    spec = json.loads((source / "kernel.json").read_text(encoding="utf-8"))
    spec["argv"][0] = str(executable)  # the folder may have been moved since it was configured
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in source.iterdir():
            if file.name != "kernel.json":
                shutil.copyfile(file, target / file.name)
        (target / "kernel.json").write_text(json.dumps(spec, indent=2) + "\n", encoding="utf-8")
    except OSError as e:
        print(f"xpto install: cannot write {target}: {e.strerror}", file=sys.stderr)
        return 2
    print(f"kernel {args.name} registered in {target}")
    return 0
