"""Values of the language that exist while a file is imported: types, enumerations, names."""
from __future__ import annotations

import enum
from typing import Any


class DType:
    """An element type, pl.DT_FP32."""

    __slots__ = ("name", "_bits")

    def __init__(self, name: str, bits: int) -> None:
        self.name, self._bits = name, bits

    def get_bit(self) -> int:
        return self._bits

    bits = get_bit

    def _stem(self) -> str:
        return self.name.removeprefix("DT_")

    def is_float(self) -> bool:
        return self._stem().startswith(("FP", "BF", "HF"))

    def is_signed_int(self) -> bool:
        return self._stem().startswith("INT")

    def is_unsigned_int(self) -> bool:
        return self._stem().startswith("UINT")

    is_signed, is_unsigned = is_signed_int, is_unsigned_int

    def is_int(self) -> bool:
        return self.is_signed_int() or self.is_unsigned_int()

    def to_string(self) -> str:
        return self._stem().lower()

    def to_c_type_string(self) -> str:
        known = {"FP32": "float", "FP16": "half", "BF16": "bfloat16_t", "BOOL": "bool"}
        return known.get(self._stem(), self._stem().lower() + "_t")

    def __repr__(self) -> str:
        return f"pl.{self.name}"

    def __reduce__(self):
        return (_dtype_by_name, (self.name, self._bits))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _dtype_by_name(name: str, bits: int) -> DType:
    return DType(name, bits)


class Name:
    """A name of the language, pl.load. Calling it outside a kernel is a mistake that says so."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.__name__ = path.rpartition(".")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self.path} is an instruction of a kernel; it has a meaning only inside a function "
                           "decorated with @pl.jit or called by one")

    def __repr__(self) -> str:
        return self.path


class VectorNamespace:
    """`vf`: the register operations; reserved inside vector functions."""

    path = "vf"

    def __init__(self, members: dict[str, Name]) -> None:
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Name:
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(f"vf.{name}")

    def __repr__(self) -> str:
        return "vf"


def make_enum(name: str, members: list[str]) -> type[enum.Enum]:
    """An enumeration of the language. Members are never plain integers: the language refuses those."""
    return enum.Enum(name, {m: i for i, m in enumerate(members)}, module="pypto_pro.language")


class _Annotation:
    """pl.Tensor[[...], dtype] and its like: keeps what was written; the compiler reads the text."""

    def __class_getitem__(cls, item: Any) -> "_Annotation":
        made = object.__new__(cls)
        made.item = item
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.item = args

    def __repr__(self) -> str:
        return f"pl.{type(self).__name__}[...]"


class Tensor(_Annotation):
    pass


class Ptr(_Annotation):
    pass


class Tile(_Annotation):
    pass


class TileType:
    """pl.TileType(...) made outside a kernel: its arguments, read by the compiler where the name is used."""

    def __init__(self, shape: list[int], dtype: DType, target_memory: Any = None, valid_shape: Any = None, layout: Any = None,
                 fractal: int | None = None, pad: Any = None, compact: int | None = None) -> None:
        self.arguments = {k: v for k, v in locals().items() if k != "self" and v is not None}

    def __repr__(self) -> str:
        return f"pl.TileType({self.arguments})"


class TilingKeyField:
    """One field of a tiling key class: its width in bits and its candidate values, in order."""

    def __init__(self, bits: int, values: list[int]) -> None:
        if isinstance(bits, bool) or not isinstance(bits, int) or bits <= 0:
            raise ValueError(f"bits must be a positive int, got {bits!r}")
        values = list(values)
        if not values or any(isinstance(v, bool) or not isinstance(v, int) for v in values):
            raise ValueError(f"values must be a non-empty list of ints, got {values!r}")
        if len(set(values)) != len(values):
            raise ValueError(f"values must be unique, got {values!r}")
        if len(values) > 1 << bits:
            raise ValueError(f"{len(values)} values do not fit {bits} bits")
        self.bits, self.values = bits, values
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
