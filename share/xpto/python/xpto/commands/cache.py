"""xpto cache: what is kept on disk between sessions."""
from __future__ import annotations

import argparse
import json
import time

SUMMARY = "list, clear or locate what is kept on disk"


def _size(n: int) -> str:
    value = float(n)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return ""


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(max(0.0, seconds))} s"


def _title(entry: object) -> str:
    """The kernel an entry belongs to, from the file that every kind of entry has."""
    import re
    for name in ("kernel.cpp", "call_kernel.cpp"):
        try:
            head = (entry.path / name).read_text(encoding="utf-8", errors="replace")[:200]  # type: ignore[attr-defined]
        except OSError:
            continue
        if found := re.match(r"// (\S+) for (\S+):", head):
            return f"{found.group(1)} for {found.group(2)}"
    return ""


def main(argv: list[str]) -> int:
    from xpto import cache
    p = argparse.ArgumentParser("xpto cache", description=__doc__)
    p.add_argument("what", nargs="?", choices=("list", "clear", "path"), default="list")
    p.add_argument("--json", action="store_true", help="list as one JSON object")
    args = p.parse_args(argv)
    if args.what == "path":
        print(cache.root())
        return 0
    if args.what == "clear":
        count, size = cache.clear()
        print(f"removed {count} entries, {_size(size)}, from {cache.root()}")
        return 0
    found, now = cache.entries(), time.time()
    total = sum(e.bytes for e in found)
    if args.json:
        print(json.dumps({"schema": 1, "path": str(cache.root()), "bytes": total, "limit": cache.limit(),
                          "entries": [{"name": e.name, "kind": e.kind, "bytes": e.bytes, "unused_seconds": round(now - e.used, 1), "path": str(e.path)} for e in found]}))
        return 0
    for e in reversed(found):
        print(f"{e.kind:<8} {e.name}  {_size(e.bytes):>10}  used {_age(now - e.used)} ago  {_title(e)}")
    print(f"{len(found)} entries, {_size(total)} of {_size(cache.limit())}, in {cache.root()}")
    return 0
