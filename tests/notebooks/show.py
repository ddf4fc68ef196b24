"""Runs a notebook and prints what its cells show, as text: what `make demo` does.

    show.py NOTEBOOK
"""
from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from execution import Cell, execute, text_of  # noqa: E402


def main() -> int:
    path = Path(sys.argv[1])
    book = execute(path)
    number = 0
    failed = 0
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            print(f"\n{source}\n")
            continue
        number += 1
        lines = source.splitlines()
        shown = lines if len(lines) <= 8 else [*lines[:4], f"... {len(lines) - 4} more lines"]
        print(f"In [{number}]: " + ("\n" + " " * 8).join(shown))
        for output in cell["outputs"]:
            print(text_of(output).rstrip("\n"))
        made = Cell(source, tuple(cell["metadata"].get("tags", ())), tuple(cell["outputs"]))
        failed += made.failed and "raises-exception" not in made.tags
    if failed:
        print(f"\n{failed} cells of {path.name} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
