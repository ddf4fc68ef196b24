"""Syntax checks of generated C++: many kernels in one unit a core kind, with the kernel each error belongs to."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterable

ROOT = Path(__file__).resolve().parents[2]
DECLARED = ROOT / "share/xpto/include"
COMPILER = shutil.which("g++") or shutil.which("clang++") or ""


def errors(unit_folder: Path, kernels: Iterable[Path], side: str, flags: list[str], first: str = "") -> dict[str, str]:
    """First error of each kernel (named by its folder) that does not compile; errors nobody can be blamed for under "?"."""
    unit = unit_folder / f"all_{side}.cpp"
    unit.write_text(first + "".join(f'#include "{k}"\n' for k in kernels), encoding="utf-8")
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-fmax-errors=0", f"-D__DAV_{side}__", *flags, str(unit)], capture_output=True, text=True,
                          errors="replace", timeout=240)
    found: dict[str, str] = {}
    block: list[str] = []
    for line in done.stderr.splitlines():
        block.append(line)
        if "error:" in line:
            named = [m for text in block for m in re.findall(r"([^/\s]+)/kernel\.cpp:\d+", text)]
            found.setdefault(named[-1] if named else "?", line.split("error:", 1)[1].strip())
            block = []
    if done.returncode and not found:
        found["?"] = done.stderr[-500:]
    return found
