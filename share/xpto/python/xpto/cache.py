"""What is kept on disk between sessions: entries of builds.folder, bounded in size, private to the user.

An entry is a folder below <root>/<kind>/. It appears complete or not at all (builds.py), is never changed afterwards except for links to libraries
made of it, and goes when the cache is over its size: the one longest unused first. Nothing used within GRACE_SECONDS goes, so that a path just handed
out stays good.
"""
from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from xpto.errors import PtoError

GRACE_SECONDS = 600        # longer than any compilation may take
ABANDONED_SECONDS = 3600   # what a killed process left half-made
DEFAULT_BYTES = 2 << 30
_SIZE = ".bytes"


def root() -> Path:
    """XPTO_CACHE (XPTO_CACHE_DIR before it), else the user's cache folder."""
    chosen = os.environ.get("XPTO_CACHE_DIR") or os.environ.get("XPTO_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xpto"


def limit() -> int:
    """Bytes the cache may hold: XPTO_CACHE_SIZE, "800M" or "4G"; 2 GiB without it."""
    text = os.environ.get("XPTO_CACHE_SIZE", "").strip()
    if not text:
        return DEFAULT_BYTES
    found = re.fullmatch(r"(\d+)\s*([kmgt]?)(?:i?b)?", text.lower())
    if found is None:
        raise PtoError(f"XPTO_CACHE_SIZE is {text!r}; write bytes or a number with K, M, G or T, such as 800M")
    return int(found.group(1)) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[found.group(2)]


def private(folder: Path) -> Path:
    """The folder, made if needed, readable by its user only. Refuses one that belongs to somebody else: its libraries would be run."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            raise PtoError(f"the cache folder {folder} belongs to another user; set XPTO_CACHE to a folder of your own")
        if stat.S_IMODE(found.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as e:
        raise PtoError(f"the cache folder {folder} cannot be used ({e.strerror or e}); set XPTO_CACHE to a folder you can write to") from None
    return folder


@dataclass(frozen=True)
class Entry:
    path: Path
    kind: str
    bytes: int
    used: float  # seconds since the epoch

    @property
    def name(self) -> str:
        return self.path.name


def _bytes_below(folder: Path) -> int:
    total = 0
    for base, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.lstat(os.path.join(base, file)).st_size
            except OSError:
                pass  # gone meanwhile
    return total


def seal(work: Path) -> None:
    """Notes an entry's size in it, before it gets its name."""
    (work / _SIZE).write_text(str(_bytes_below(work)), encoding="ascii")


def used(entry: Path) -> None:
    """Marks an entry as used now."""
    try:
        os.utime(entry)
    except OSError:
        pass  # another process has just removed it, or the disk is read-only: the entry is as good as before


def _kinds() -> list[Path]:
    try:
        return sorted(k for k in root().iterdir() if k.is_dir() and not k.name.startswith("."))
    except OSError:
        return []


def entries() -> list[Entry]:
    """Every complete entry, the one longest unused first."""
    found = []
    for kind in _kinds():
        for path in kind.iterdir():
            if path.name.startswith("."):
                continue
            try:
                when = path.stat().st_mtime
                size = path / _SIZE
                found.append(Entry(path, kind.name, int(size.read_text()) if size.is_file() else _bytes_below(path), when))
            except (OSError, ValueError):
                continue  # removed meanwhile
    return sorted(found, key=lambda e: (e.used, e.name))


def remove(path: Path) -> None:
    """An entry goes at once for everybody who looks, whatever its deletion takes."""
    try:
        grave = Path(tempfile.mkdtemp(prefix=".gone-", dir=path.parent))
        path.rename(grave / path.name)
        shutil.rmtree(grave, ignore_errors=True)
    except OSError:
        pass  # another process was faster


def _sweep(now: float) -> None:
    for kind in _kinds():
        for path in kind.glob(".*"):
            try:
                if now - path.lstat().st_mtime > ABANDONED_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)
            except OSError:
                pass


def trim(most: int | None = None, grace: float = GRACE_SECONDS) -> list[Entry]:
    """Brings the cache below its size; what went."""
    now, bound = time.time(), limit() if most is None else most
    _sweep(now)
    kept = entries()
    total, gone = sum(e.bytes for e in kept), []
    for e in kept:
        if total <= bound:
            break
        if now - e.used < grace:
            continue
        remove(e.path)
        total -= e.bytes
        gone.append(e)
    return gone


def clear() -> tuple[int, int]:
    """Everything goes, half-made entries too; (entries, bytes)."""
    found = entries()
    for kind in _kinds():
        for path in list(kind.iterdir()):
            if path.name.startswith("."):
                shutil.rmtree(path, ignore_errors=True)
    for e in found:
        remove(e.path)
    return len(found), sum(e.bytes for e in found)
