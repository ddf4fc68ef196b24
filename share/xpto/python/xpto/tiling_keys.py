"""Tiling keys: the fields of a key class, packing by index from bit 0, what is legal and what is_valid refuses. Source: codegen 6.1."""
from __future__ import annotations

import inspect
import itertools
from typing import Any, Mapping

from xpto.errors import PtoError

MOST_BITS = 64


def fields_of(key_class: type) -> list[Any]:
    """Fields in class order. PtoError when the class cannot be a key."""
    found = [f for f in vars(key_class).values() if type(f).__name__ == "TilingKeyField"]
    if not found:
        raise PtoError(f"{key_class.__name__} has no TilingKeyField; write NAME = pl.TilingKeyField(bits=..., values=[...]) in it")
    bits = sum(f.bits for f in found)
    if bits > MOST_BITS:
        raise PtoError(f"{key_class.__name__} needs {bits} bits, a tiling key has {MOST_BITS}; fewer bits a field are enough for "
                       + ", ".join(f"{f.name} ({len(f.values)} values: {max(1, (len(f.values) - 1).bit_length())} bits)" for f in found))
    test = getattr(key_class, "is_valid", None)
    if test is not None and not callable(test):
        raise PtoError(f"{key_class.__name__}.is_valid is a {type(test).__name__}; it must be a method that takes the key as a tuple")
    return found


def is_valid(key_class: type, values: tuple[int, ...]) -> bool:
    test = getattr(key_class, "is_valid", None)
    return True if test is None else bool(key_class().is_valid(values))


def why_refused(key_class: type) -> str:
    """The text of is_valid, for messages; empty when its source is not at hand."""
    try:
        return "\n" + inspect.getsource(key_class.is_valid).rstrip()
    except (OSError, TypeError, AttributeError):
        return ""


def candidates(key_class: type) -> list[tuple[int, ...]]:
    """Every combination of values in class order, the last field fastest."""
    return list(itertools.product(*(f.values for f in fields_of(key_class))))


def split(key_class: type) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """(legal, refused by is_valid) keys, both in the order of candidates()."""
    names = [f.name for f in fields_of(key_class)]
    legal, refused = [], []
    for values in candidates(key_class):
        (legal if is_valid(key_class, values) else refused).append(dict(zip(names, values)))
    return legal, refused


def packed(key_class: type, key: Mapping[str, int]) -> int:
    """The number the device's program is named by: each field holds the index of its value, the first field in the lowest bits."""
    out = offset = 0
    for f in fields_of(key_class):
        out |= f.values.index(key[f.name]) << offset
        offset += f.bits
    return out


def unpacked(key_class: type, number: int) -> dict[str, int]:
    key, offset = {}, 0
    for f in fields_of(key_class):
        index = number >> offset & ((1 << f.bits) - 1)
        if index >= len(f.values):
            raise PtoError(f"{number:#x} is no key of {key_class.__name__}: field {f.name} has {len(f.values)} values, not an index {index}")
        key[f.name] = f.values[index]
        offset += f.bits
    if number >> offset:
        raise PtoError(f"{number:#x} is no key of {key_class.__name__}: its fields have {offset} bits")
    return key


def text(key: Mapping[str, int]) -> str:
    return ", ".join(f"{n}={v}" for n, v in key.items()) or "no key"
