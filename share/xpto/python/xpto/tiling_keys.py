"""Tiling keys: the fields of a key class, packing by index from bit 0, what is legal and what is_valid refuses. Source: codegen 6.1."""
from __future__ import annotations

import inspect
import itertools
import math
import operator
from typing import Any, Callable, Iterator, Mapping

from xpto.errors import CompileError, LaunchError, LaunchTypeError, PtoError

MOST_BITS = 64


def fields_of(key_class: type) -> list[Any]:
    """Fields in class order. PtoError when the class cannot be a key."""
    if not isinstance(key_class, type):
        raise CompileError(f"tiling_key={key_class!r} is no class; write a class with fields NAME = pl.TilingKeyField(bits=..., values=[...])")
    found = [f for f in vars(key_class).values() if type(f).__name__ == "TilingKeyField"]
    if not found:
        raise CompileError(f"{key_class.__name__} has no TilingKeyField; write NAME = pl.TilingKeyField(bits=..., values=[...]) in it")
    bits = sum(f.bits for f in found)
    if bits > MOST_BITS:
        raise CompileError(f"{key_class.__name__} needs {bits} bits, a tiling key has {MOST_BITS}; fewer bits a field are enough for "
                       + ", ".join(f"{f.name} ({len(f.values)} values: {max(1, (len(f.values) - 1).bit_length())} bits)" for f in found))
    test = getattr(key_class, "is_valid", None)
    if test is not None and not callable(test):
        raise CompileError(f"{key_class.__name__}.is_valid is a {type(test).__name__}; it must be a method that takes the key as a tuple")
    return found


def check_names(function: Callable, key_class: type) -> None:
    """CompileError when a field is a parameter or a variable of the kernel's module too: inside the kernel a name has one meaning."""
    parameters = inspect.signature(function).parameters
    for f in fields_of(key_class):
        if f.name in parameters:
            raise CompileError(f"{key_class.__name__}.{f.name} is a parameter of {function.__name__} too; rename one of them")
        other = function.__globals__.get(f.name)
        if f.name in function.__globals__ and not callable(other):
            raise CompileError(f"{key_class.__name__}.{f.name} is a variable of the module too ({f.name} = {other!r}); rename the field, "
                               f"or `del {f.name}` first")


def checked(kernel: str, key_class: type, key: Any) -> dict[str, int]:
    """A launch's key in field order, refused unless it names every field, each by one of its values, and is_valid agrees."""
    fields = {f.name: f for f in fields_of(key_class)}
    if not isinstance(key, Mapping) or set(key) != set(fields):
        got = sorted(map(str, key)) if isinstance(key, Mapping) else "none" if key is None else repr(key)
        raise LaunchError(f"{kernel}: the tiling key must name exactly {', '.join(fields)}, got {got}; "
                          f"write {kernel}[None, 1, {{{', '.join(f'{n!r}: {f.values[0]}' for n, f in fields.items())}}}](...)")
    for name, value in key.items():
        if not hasattr(value, "__index__"):
            raise LaunchTypeError(f"{kernel}: {name}={value!r} is no int; its values are {fields[name].values}")
        if value not in fields[name].values:
            raise LaunchError(f"{kernel}: {name}={value} is not among its values {fields[name].values}")
    ordered = {n: operator.index(key[n]) for n in fields}
    if not is_valid(key_class, tuple(ordered.values())):
        raise LaunchError(f"{kernel}: {key_class.__name__}.is_valid refuses {ordered}{why_refused(key_class)}")
    return ordered


def is_valid(key_class: type, values: tuple[int, ...]) -> bool:
    test = getattr(key_class, "is_valid", None)
    return True if test is None else bool(key_class().is_valid(values))


def why_refused(key_class: type) -> str:
    """The text of is_valid, for messages; empty when its source is not at hand."""
    try:
        return "\n" + inspect.getsource(key_class.is_valid).rstrip()
    except (OSError, TypeError, AttributeError):
        return ""


MOST_COMBINATIONS = 100_000  # that are listed; a class may have any number of them


def candidates(key_class: type) -> Iterator[tuple[int, ...]]:
    """Every combination of values in class order, the last field fastest."""
    return itertools.product(*(f.values for f in fields_of(key_class)))


def first_legal(key_class: type) -> dict[str, int]:
    """The first key that is_valid accepts, among the first MOST_COMBINATIONS."""
    names = [f.name for f in fields_of(key_class)]
    for values in itertools.islice(candidates(key_class), MOST_COMBINATIONS):
        if is_valid(key_class, values):
            return dict(zip(names, values))
    count = math.prod(len(f.values) for f in fields_of(key_class))
    raise PtoError(f"{key_class.__name__}.is_valid refuses " + (f"the first {MOST_COMBINATIONS} of {count} keys: compile with the key that a launch names"
                                                               if count > MOST_COMBINATIONS else "every key") + why_refused(key_class))


def split(key_class: type) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """(legal, refused by is_valid) keys, both in the order of candidates()."""
    names = [f.name for f in fields_of(key_class)]
    count = math.prod(len(f.values) for f in fields_of(key_class))
    if count > MOST_COMBINATIONS:
        raise PtoError(f"{key_class.__name__} has {count} combinations of values, and at most {MOST_COMBINATIONS} are listed: leave out values that no launch uses")
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
