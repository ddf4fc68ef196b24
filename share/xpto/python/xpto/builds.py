"""Compiled kernels on disk: one folder per content, named by a digest of everything that could change what is in it. A folder appears at
once and complete: it is made under another name and renamed, so neither a second process nor a killed one leaves half of it."""
from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Callable, Iterable


def root() -> Path:
    chosen = os.environ.get("XPTO_CACHE_DIR")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xpto"


def digest(parts: Iterable[str]) -> str:
    h = hashlib.sha256()
    for part in parts:
        data = part.encode()
        h.update(len(data).to_bytes(8, "little") + data)
    return h.hexdigest()[:32]


def folder(kind: str, parts: Iterable[str], make: Callable[[Path], None]) -> tuple[Path, bool]:
    """(folder, whether it was made now). `make(folder)` fills a new one; what it raises leaves nothing behind."""
    home = root() / kind
    done = home / digest(parts)
    if done.is_dir():
        return done, False
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = Path(tempfile.mkdtemp(prefix=".making-", dir=home))  # mode 0700
    try:
        make(work)
        try:
            work.rename(done)
        except OSError:
            if not done.is_dir():  # another process was faster otherwise
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return done, True
