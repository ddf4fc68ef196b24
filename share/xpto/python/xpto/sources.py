"""Cells as files: their text for the compiler, their numbers for people."""
from __future__ import annotations

import linecache
from typing import Any

from xpto import _engine

_serial = 0


def register(text: str, shown: str) -> str:
    """Keeps a cell's text under a file name of its own and returns that name; `shown` is how places in it read ("In[4]")."""
    global _serial
    _serial += 1
    filename = f"<xpto cell {_serial}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    _engine.name_file(filename, shown, 1)
    return filename


def register_cells() -> None:
    """Tells the engine the numbers of ordinary cells that IPython has compiled."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    cells: dict[str, Any] = getattr(getattr(shell, "compile", None), "_filename_map", {}) if shell else {}
    for filename, number in cells.items():
        _engine.name_file(filename, f"In[{number}]", 1)


def load(text: str, name: str = "") -> dict[str, Any]:
    """Runs kernel source as a module of its own and returns its namespace: load(text)["relu_matmul"] is the kernel.

    `name` is how places in the text read in messages. `if __name__ == "__main__"` blocks do not run.
    """
    from xpto import kernel as kernels
    filename = register(text, name or f"<text {_serial + 1}>")
    space: dict[str, Any] = {"__name__": f"xpto_text_{_serial}", "__file__": filename}
    before = len(kernels.created)
    try:
        exec(compile(text, filename, "exec", dont_inherit=True), space)
    finally:
        del kernels.created[before:]  # they belong to the text, not to the cell that loads it
    return space
