"""The folder of one compiled variant: source, generated texts, C++, headers, command lines, report, side by side, named by what is in it."""
from __future__ import annotations

import functools
import hashlib
import json
import linecache
import os
import re
from pathlib import Path
from typing import Any

from xpto import builds, config
from xpto.errors import PtoError

LIBRARIES = "libraries"  # links to what compilers made of this folder, one a place


def contents(made: Any, folder: Path) -> dict[str, str]:
    """Writes every artefact of a compilation into a folder; paths by file name."""
    written = dict(made.native.save(str(folder)))
    if made.ok:
        emitted = made.native.emitted()
        for name, text in emitted["files"].items():
            (folder / name).write_text(text, encoding="utf-8")
            written[name] = str(folder / name)
        for side, define in (("cube", "__DAV_CUBE__"), ("vector", "__DAV_VEC__")):
            if emitted[side]:
                line = f"g++ -std=c++20 -fsyntax-only -D{define} -I{declared_forms()} kernel.cpp\n"
                name = f"check_{side}.command.txt"
                (folder / name).write_text(line, encoding="utf-8")
                written[name] = str(folder / name)
    return written


def declared_forms() -> Path:
    """share/xpto/include: the header that declares every form of generated C++, beside the package in a build folder, a checkout or an installation."""
    package = Path(__file__).resolve().parent
    for up in (package.parents[1] / "share/xpto/include", *[p / "include" for p in package.parents[:4]]):
        if (up / "pto/pto-inst.hpp").is_file():
            return up
    raise PtoError(f"the header of declared forms (pto/pto-inst.hpp) is not beside the package {package}")


@functools.cache
def engine() -> tuple[str, ...]:
    """Which engine and which chips' data: reports hold predicted times. A rebuilt engine of the same version is another one."""
    from xpto import _engine
    package = Path(__file__).resolve().parent
    module = Path(_engine.__file__)
    parts = [_engine.version()]
    for file in (module, *sorted(module.parents[2].glob("lib*/libpto_engine*"))):
        found = file.stat()
        parts.append(f"{file.name} {found.st_size} {found.st_mtime_ns}")
    for up in (package.parents[1] / "share/xpto/targets", *[p / "targets" for p in package.parents[:4]]):
        if up.is_dir():
            parts += [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(up.glob("*.json"))]
            break
    return tuple(parts)


def key(made: Any) -> list[str]:
    """Everything an artefact depends on: what was compiled, what came out, for which chip, by which engine."""
    native = made.native
    parts = [*engine(), made.kernel.__name__, config.values["check"], repr(sorted(made.kernel.overrides.items())), native.generated, native.ir(), json.dumps(made.diagnostics, sort_keys=True) if not made.ok else ""]
    if made.ok:
        emitted = native.emitted()
        parts += [emitted["chip"], *emitted["command"], *(f"{n}\0{t}" for n, t in sorted(emitted["files"].items()))]
    code = made.kernel.__xpto_function__.__code__
    parts += [code.co_filename, str(code.co_firstlineno), "".join(linecache.getlines(code.co_filename))]
    return parts


def folder(made: Any) -> Path:
    """The variant's folder in the cache, made when it is not there yet."""
    def make(work: Path) -> None:
        contents(made, work)
        (work / LIBRARIES).mkdir()
    return builds.folder("kernels", [re.sub(r"\W", "_", made.kernel.__name__), *key(made)], make)[0]


def link(made: Any, place: str, build: Path) -> None:
    """Links a build (a folder with libraries) beside the texts it was made of. Its absence harms nothing, so failures are silent. Texts that are no
    compilation's own, edited ones for example, have no folder to link it in."""
    from xpto.results import Compilation
    if not isinstance(made, Compilation):
        return
    try:
        target = folder(made) / LIBRARIES / place
        if target.is_symlink() and os.readlink(target) == str(build):
            return
        fresh = target.with_name(f".{place}.{os.getpid()}")
        fresh.symlink_to(build, target_is_directory=True)
        fresh.replace(target)
    except (OSError, PtoError):
        pass


def listing(made: Any) -> dict[str, str]:
    """Paths by file name, links to libraries included; empty when the cache cannot be written: a result does not depend on it."""
    try:
        return _listing(made)
    except PtoError:
        return {}


def _listing(made: Any) -> dict[str, str]:
    base = folder(made)
    found = {p.name: str(p) for p in sorted(base.iterdir()) if p.is_file() and not p.name.startswith(".")}
    for place in sorted((base / LIBRARIES).glob("*")):
        if not place.name.startswith(".") and place.is_dir():
            found.update({f"{place.name}/{p.name}": str(p) for p in sorted(place.glob("*.so"))})
    return found
