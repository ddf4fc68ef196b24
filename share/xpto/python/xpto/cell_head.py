"""Comments and blank lines above a cell magic of ours. IPython sees a cell magic in the first line only."""
from __future__ import annotations

from typing import Any

#: How many lines of the running cell stand above its %%pto_ line; places in the cell count from the real first line.
lines_above = 0


def drop_lines_above(lines: list[str]) -> list[str]:
    """An input transformer: the lines from the %%pto_ line on, when only comments and blank lines stand above it."""
    global lines_above
    lines_above = 0
    for i, line in enumerate(lines):
        if line.startswith("%%pto_"):
            lines_above = i
            kept = lines[i:]
            # IPython refuses a cell magic without a body before it is asked, --help included
            return kept if len(kept) > 1 else [kept[0].rstrip("\n") + "\n", "\n"]
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return lines


def install(shell: Any) -> None:
    shell.input_transformer_manager.cleanup_transforms.insert(0, drop_lines_above)
