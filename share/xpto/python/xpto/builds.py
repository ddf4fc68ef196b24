"""Compiled kernels on disk: one folder per content, named by a digest of everything that could change what is in it. A folder appears at
once and complete: it is made under another name and renamed, so neither a second process nor a killed one leaves half of it."""
from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

from xpto import cache


def unbuildable(emitted: Mapping[str, Any]) -> list[str]:
    """What of a kernel's generated C++ no compiler can take, in words: statements without a form, tiles that the library's assertions refuse."""
    return [x for x in emitted["lacking"] if "no C++ form" in x or "whole blocks of 32" in x]


def root() -> Path:
    return cache.root()


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
        cache.used(done)
        return done, False
    cache.private(root())
    cache.private(home)
    work = Path(tempfile.mkdtemp(prefix=".making-", dir=home))  # mode 0700
    try:
        make(work)
        cache.seal(work)
        try:
            work.rename(done)
        except OSError:
            if not done.is_dir():  # another process was faster otherwise
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    cache.trim()
    return done, True
