"""What is installed around us that kernels are built with: header trees, compilers, the toolkit, the runtime library. Only looked up, never
guessed: each absence is a sentence that says who can change it."""
from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

SOURCE_IT = ("source its set_env.sh in the shell that starts the notebook server, or put the variables into \"env\" of the kernelspec "
             "(kernel.json; xpto doctor says where it is)")
USUAL_TOOLKIT = "/usr/local/Ascend/ascend-toolkit/latest"


# ------------------------------------------------------------------ the toolkit

def toolkit_home() -> Path | None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        if (home := os.environ.get(name)) and Path(home).is_dir():
            return Path(home)
    return None


def toolkit_missing() -> str:
    """Empty when the toolkit's environment is set; otherwise what is missing and who can set it."""
    if toolkit_home() is not None:
        return ""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        if home := os.environ.get(name):
            return f"{name} is {home}, which is no folder"
    if Path(USUAL_TOOLKIT).is_dir():
        return f"{USUAL_TOOLKIT} is there, but its environment is not set (ASCEND_HOME_PATH): {SOURCE_IT}"
    return f"the toolkit's environment is not set (ASCEND_HOME_PATH): {SOURCE_IT}"


def device_compiler() -> str | None:
    return shutil.which("bisheng")


def device_compiler_missing() -> str:
    if device_compiler():
        return ""
    home = toolkit_home()
    if home is not None:
        inside = sorted(home.glob("**/bisheng"))[:1]
        where = f"; there is one in {inside[0].parent}, which is not on PATH" if inside else f"; {home} holds none"
        return "the device compiler (bisheng) is not on PATH" + where
    return "the device compiler (bisheng) is not on PATH; it comes with the toolkit"


def runtime_library() -> str:
    """The library a worker opens: XPTO_RUNTIME, the toolkit's, or whatever the loader finds under its name."""
    if chosen := os.environ.get("XPTO_RUNTIME"):
        return chosen
    home = toolkit_home()
    for folder in ("lib64", "runtime/lib64"):
        if home is not None and (home / folder / "libascendcl.so").exists():
            return str(home / folder / "libascendcl.so")
    return "libascendcl.so"


def version_in(path: Path) -> str:
    """The version a *version.info file names; empty without one."""
    try:
        found = re.search(r"^\s*[Vv]ersion\s*=\s*\[?([\w.]+)", path.read_text(encoding="utf-8", errors="replace"), re.M)
    except OSError:
        return ""
    return found.group(1) if found else ""


def toolkit_version() -> str:
    home = toolkit_home()
    return next((v for n in ("version.info", "runtime/version.info", "compiler/version.info") if home and (v := version_in(home / n))), "")


def driver_version() -> str:
    return version_in(Path(os.environ.get("XPTO_DRIVER_FOLDER", "/usr/local/Ascend/driver")) / "version.info")


# ------------------------------------------------------------------ PTO-ISA headers

@dataclass(frozen=True)
class HeaderTree:
    """A folder that holds pto/pto-inst.hpp, and a digest of its files: two trees of one digest say the same."""

    include: str
    digest: str

    def __str__(self) -> str:
        return f"{self.include} ({self.digest})"


@functools.lru_cache(maxsize=16)
def _digest_of(include: str, stamp: float) -> str:
    h = hashlib.sha256()
    base = Path(include) / "pto"
    for path in sorted(base.rglob("*.h*")):
        h.update(str(path.relative_to(base)).encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:12]


def header_tree(folder: str | Path) -> HeaderTree | None:
    """The tree in a folder (its include/ or itself); None when there is none."""
    for include in (Path(folder) / "include", Path(folder)):
        marker = include / "pto" / "pto-inst.hpp"
        if marker.is_file():
            newest = max((p.stat().st_mtime for p in (include / "pto").rglob("*.h*")), default=0.0)
            return HeaderTree(str(include), _digest_of(str(include), newest))
    return None


def pto_isa() -> HeaderTree | None:
    home = os.environ.get("PTO_ISA_HOME")
    return header_tree(home) if home else None


def pto_isa_missing() -> str:
    home = os.environ.get("PTO_ISA_HOME")
    if not home:
        return "PTO_ISA_HOME is not set: it names a checkout of PTO-ISA, whose headers generated C++ is compiled against"
    if not Path(home).is_dir():
        return f"PTO_ISA_HOME is {home}, which is no folder"
    tree = header_tree(home)
    if tree is None:
        return f"PTO_ISA_HOME is {home}: there is no include/pto/pto-inst.hpp in it"
    if not (Path(tree.include) / "pto/cpu/NPUMemoryModel.hpp").is_file():
        return f"PTO_ISA_HOME is {home}: its headers have no CPU simulator (pto/cpu), as a toolkit's installed ones"
    return ""


@dataclass(frozen=True)
class TreeChoice:
    """Which header tree a command line reads, and which other ones it passes over."""

    used: HeaderTree | None
    others: tuple[HeaderTree, ...] = ()

    def text(self) -> str:
        if self.used is None:
            return "no PTO-ISA headers on the command line"
        differing = [t for t in self.others if t.digest != self.used.digest]
        text = f"PTO-ISA headers of {self.used}"
        if differing:
            text += "; not read, and different: " + ", ".join(map(str, differing))
        return text


def trees_of(command: Iterable[str]) -> TreeChoice:
    """The first include folder with the headers wins, as in the compiler; PTO_ISA_HOME is named when it is not that one."""
    found: list[HeaderTree] = []
    arguments = list(command)
    for i, a in enumerate(arguments):
        path = a[2:] if a.startswith("-I") and len(a) > 2 else arguments[i + 1] if a in ("-I", "-isystem") and i + 1 < len(arguments) else ""
        marker = Path(path) / "pto" / "pto-inst.hpp"
        if path and marker.is_file() and (tree := header_tree(path)) and tree not in found:
            found.append(tree)
    if (own := pto_isa()) is not None and own not in found:
        found.append(own)
        if len(found) == 1:
            return TreeChoice(None, (own,))
    return TreeChoice(found[0], tuple(found[1:])) if found else TreeChoice(None)


# ------------------------------------------------------------------ the host's compiler

def host_compiler() -> str | None:
    chosen = os.environ.get("XPTO_CXX")
    return shutil.which(chosen) if chosen else next((p for c in ("g++", "c++", "clang++") if (p := shutil.which(c))), None)


@functools.lru_cache(maxsize=8)
def compiler_version(path: str) -> str:
    try:
        out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "version unknown"
    return out.splitlines()[0].strip() if out else "version unknown"
