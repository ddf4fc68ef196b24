"""What a device prints: ordinary text, and between it the dumps of tensors and tiles, which become arrays again."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_HEAD = re.compile(r"===\s*\[(dump_tensor|dump_tile|TPRINT[^\]]*)\]\s*(.*?)\s*===")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)", re.I)


@dataclass(frozen=True)
class Dump:
    what: str            # dump_tensor, dump_tile
    dtype: str
    layout: str
    shape: list[int]
    values: list[Any]    # in the order printed; fewer than the shape holds when the device cut the text

    def array(self) -> Any:
        """The values in their shape (leading ones dropped); flat when the text was cut."""
        import numpy as np
        flat = np.array(self.values)
        shape = list(self.shape)
        while len(shape) > 1 and shape[0] == 1:
            del shape[0]
        return flat.reshape(shape) if shape and int(np.prod(shape)) == flat.size else flat


def _field(head: str, name: str) -> str:
    found = re.search(rf"{name}\s*[:=]\s*(\[[^\]]*\]|[^,]+)", head, re.I)
    return found.group(1).strip() if found else ""


def dumps_of(text: str) -> list[Dump]:
    """Every dump in a device's output. Rows end where a line holds anything but numbers."""
    found: list[Dump] = []
    for match in _HEAD.finditer(text):
        head, values = match.group(2), []
        shape = [int(n) for n in re.findall(r"-?\d+", _field(head, "shape"))]
        whole = "float" not in _field(head, "dtype").lower() and "half" not in _field(head, "dtype").lower()
        for line in text[match.end():].lstrip("\n").split("\n"):
            rest = _NUMBER.sub("", line).strip(" \t,[]|")
            numbers = _NUMBER.findall(line)
            if rest or not numbers:
                break
            values += [int(n) if whole and re.fullmatch(r"[-+]?\d+", n) else float(n) for n in numbers]
        found.append(Dump(match.group(1), _field(head, "dtype"), _field(head, "layout"), shape, values))
    return found
