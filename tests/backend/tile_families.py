"""What generated tile programs are made of, one entry a family of operations and type: their tiles, where the values come from, their statements.

Shapes are written with R and C, the rows and columns a kernel draws. A statement's {d} is the tile it writes, {a} and {b} tiles of the chain so
far, {k} a number of the family's domain, {n} a small whole number, {p} and {q} random words of the family's lists; other names are the family's
own tiles as they are called here.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

NUMPY = {"FP32": "float32", "FP16": "float16", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16",
         "UINT32": "uint32", "UINT64": "uint64"}
BYTES = {name: int("".join(c for c in name if c.isdigit())) // 8 for name in NUMPY}

SHAPES = ((16, 64), (32, 64), (8, 128), (24, 96), (64, 32), (8, 192))


@dataclass(frozen=True)
class Tile:
    dtype: str = ""                 # empty: the family's
    shape: str = "R, C"
    layout: str = ""
    pad: str = ""
    values: str = "uniform"         # of an input: uniform, whole, indices (into a), permutation (of a), blocks (byte offsets into a), columns, sorted (records)
    domain: tuple[float, float] | None = None


@dataclass(frozen=True)
class Family:
    name: str
    dtype: str
    last: tuple[str, ...]           # the statement that writes the result r; several are separated by ;
    chain: tuple[str, ...] = ()     # statements before it, each writes c out of a, b and c
    steps: int = 0                  # how many of them
    inputs: Mapping[str, Tile] = field(default_factory=lambda: {"a": Tile(), "b": Tile()})
    work: Mapping[str, Tile] = field(default_factory=lambda: {"c": Tile(), "t": Tile()})
    result: Tile = Tile()
    domain: tuple[float, float] = (-4.0, 4.0)
    shapes: tuple[tuple[int, int], ...] = SHAPES
    ragged: bool = True             # valid shapes below the tiles' own are tried too
    words: tuple[str, ...] = ("",)  # of {p}
    ulps: Mapping[str, int] = field(default_factory=dict)  # a word in the last statement -> allowed distance; nothing named: the same bits
    why: str = ""                   # where an allowed distance comes from


_BINARY = ("add", "sub", "mul", "maximum", "minimum")


def _arithmetic(unary: tuple[str, ...], binary: tuple[str, ...] = _BINARY, number: str = "{k}") -> tuple[str, ...]:
    return (*(f"pl.{f}({{d}}, {{a}}, {{b}})" for f in binary), *(f"pl.{f}({{d}}, {{a}}, {number})" for f in binary), *(f"pl.{f}({{d}}, {{a}})" for f in unary))


def _elementwise() -> list[Family]:
    floats = _arithmetic(("abs", "neg", "relu")) + tuple(f"pl.{f}({{d}}, {{a}}, {{k}})" for f in ("adds", "subs", "muls", "maxs", "mins"))
    found = [Family("fp32", "FP32", floats + ("pl.div({d}, {a}, {b})", "pl.div({d}, {a}, {k})", "pl.divs({d}, {a}, {k})"), floats, 3),
             Family("fp16", "FP16", floats, floats, 2)]
    for dtype, unary, domain in (("INT32", ("abs", "neg", "relu"), (-1000, 1000)), ("INT16", ("abs", "neg"), (-100, 100)), ("UINT32", (), (0, 4000)), ("UINT16", (), (0, 200)),
                                 ("INT64", ("neg",), (-100000, 100000))):
        ops = _arithmetic(unary, number="{n}")
        found.append(Family(dtype.lower(), dtype, ops, ops, 2, domain=domain))
    for dtype, domain in (("INT8", (-20, 20)), ("UINT8", (0, 40))):
        ops = _arithmetic(("abs",) if dtype == "INT8" else (), ("add", "sub", "maximum", "minimum"), "{n}")
        found.append(Family(dtype.lower(), dtype, ops, ops, 2, domain=domain))
    for dtype in ("INT32", "INT16"):
        found.append(Family(f"division_{dtype.lower()}", dtype, ("pl.div({d}, {a}, b0)", "pl.div({d}, {a}, {n})", "pl.rem({d}, {a}, b0)", "pl.rems({d}, {a}, {n})"), domain=(-999, 999),
                            inputs={"a": Tile(), "b": Tile(domain=(1, 30))}))
    found.append(Family("special", "FP32", ("pl.exp({d}, {a})", "pl.log({d}, {a})", "pl.sqrt({d}, {a})", "pl.rsqrt({d}, {a})", "pl.recip({d}, {a})"), domain=(0.1, 8.0),
                        ulps={"exp": 2, "log": 2, "rsqrt": 1},
                        why="exp and log are this machine's library on host, the simulator has its own, within half an ulp; rsqrt rounds twice"))
    return found


def _fused() -> list[Family]:
    found = []
    for dtype in ("FP32", "FP16"):
        ops = ("pl.add_relu({d}, a0, b0)", "pl.sub_relu({d}, a0, b0)", "pl.addc({d}, a0, b0, c0)", "pl.subc({d}, a0, b0, c0)", "pl.addsc({d}, a0, {k}, c0)", "pl.subsc({d}, a0, {k}, c0)",
               "pl.add({d}, a0, b0); pl.mul_add_dst({d}, a0, b0)", "pl.sub({d}, a0, b0); pl.fused_mul_add({d}, a0, b0)", "pl.add({d}, a0, b0); pl.fused_mul_add_relu({d}, a0, b0)",
               "pl.sub({d}, a0, b0); pl.axpy({d}, c0, {k})")
        found.append(Family(f"fused_{dtype.lower()}", dtype, ops, ("pl.mul({d}, {a}, {b})", "pl.sub({d}, {a}, {k})"), 1))
    found.append(Family("fused_cast", "FP32", tuple(f"pl.{f}({{d}}, a0, b0, target_type=pl.DT_FP16, mode=pl.RoundMode.{{p}})" for f in ("add_relu_cast", "sub_relu_cast", "mul_cast")),
                        result=Tile("FP16"), words=("CAST_RINT", "CAST_ROUND", "CAST_FLOOR", "CAST_CEIL", "CAST_TRUNC")))
    found.append(Family("parts", "FP32", tuple(f"pl.set_validshape(b0, [R // 2, C]); pl.{f}({{d}}, a0, b0); pl.set_validshape(b0, [R, C])" for f in ("partadd", "partmax", "partmin", "partmul")),
                        ragged=False))
    return found


def _bits() -> list[Family]:
    ops = ("pl.and_({d}, {a}, {b})", "pl.and_({d}, {a}, {n})", "pl.ors({d}, {a}, {n})", "pl.ands({d}, {a}, {n})")
    more = ("pl.xor({d}, {a}, {b}, t0)", "pl.xors({d}, {a}, {n}, t0)", "pl.shls({d}, {a}, {n})", "pl.shrs({d}, {a}, {n})", "pl.shl({d}, a0, s0)", "pl.shr({d}, a0, s0)")
    return [Family(f"bits_{d.lower()}", d, ops + more, ops, 1, domain=domain, inputs={"a": Tile(), "b": Tile(), "s": Tile(domain=(0, 7))})
            for d, domain in (("INT32", (-90000, 90000)), ("UINT32", (0, 90000)), ("INT16", (-9000, 9000)), ("UINT16", (0, 60000)), ("INT8", (-120, 120)), ("UINT8", (0, 250)))]


def _compare() -> list[Family]:
    relations = ("eq", "ne", "lt", "le", "gt", "ge")
    found = []
    for dtype, domain in (("FP32", (-2.0, 2.0)), ("FP16", (-2.0, 2.0)), ("INT32", (-3, 3)), ("INT16", (-3, 3)), ("UINT8", (0, 5))):
        kind = {} if dtype.startswith("FP") else {"values": "whole"}
        number = "{k}" if dtype.startswith("FP") else "{n}"
        ops = tuple(f"pl.{f}(m0, {{a}}, {rhs}); pl.select({{d}}, m0, {{a}}, {other}, t0)" for f in relations for rhs, other in (("{b}", "{b}"), (number, "{b}"), ("{b}", number)))
        found.append(Family(f"compare_{dtype.lower()}", dtype, ops, domain=domain, inputs={"a": Tile(**kind), "b": Tile(**kind)},
                            work={"m": Tile("UINT8"), "t": Tile()}, shapes=((16, 64), (32, 64), (8, 128), (64, 32), (4, 256))))
    return found


def _reductions() -> list[Family]:
    found = []
    for dim, shape, layout, names in ((0, "R, 1", "DN", "row"), (1, "1, C", "", "col")):
        for dtype in ("FP32", "FP16", "INT32", "INT16"):
            whole = dtype.startswith("INT")
            if whole and dim:  # the headers reduce columns of 8-bit whole numbers only, and do not sum them
                dtype = {"INT32": "INT8", "INT16": "UINT8"}[dtype]
            ops = [f"pl.sum({{d}}, {{a}}, t0, dim={dim})", f"pl.maximum({{d}}, {{a}}, t0, dim={dim})", f"pl.minimum({{d}}, {{a}}, t0, dim={dim})"]
            ops += [f"pl.{names}_{f}({{d}}, {{a}}, t0)" for f in ("sum", "max", "min")]
            found.append(Family(f"{names}s_{dtype.lower()}", dtype, tuple(o for o in ops if not (whole and dim and "sum" in o)), ("pl.add({d}, {a}, {b})", "pl.maximum({d}, {a}, {b})"), 1, result=Tile(shape=shape, layout=layout),
                                domain=(0 if dtype[0] == "U" else -60, 60) if whole else (0.5, 4.0), ulps={} if whole else {"sum": 192},
                                why="" if whole else "the simulator adds in a tree, the headers one after the other: half an ulp a step at most in either"))
            if dtype == "FP32" or (dim == 1 and dtype[-1] != "8"):
                found.append(Family(f"{names}_places_{dtype.lower()}", dtype, tuple(f"pl.{f}({{d}}, {{a}}, t0, dim={dim})" for f in ("argmax", "argmin")),
                                    result=Tile("INT32", shape, layout), domain=(-9, 9), inputs={"a": Tile(values="whole"), "b": Tile()}))
        found.append(Family(f"{names}_products", "FP32", (f"pl.{names}_prod({{d}}, {{a}}, t0)",), result=Tile(shape=shape, layout=layout), domain=(0.9, 1.1), ulps={"prod": 192},
                            why="the order of the factors"))
    return found


def _broadcasts() -> list[Family]:
    found = []
    for dim, shape, layout, names in ((0, "R, 1", "DN", "row"), (1, "1, C", "", "col")):
        for dtype in ("FP32", "FP16", "INT32"):
            whole = dtype == "INT32"
            functions = ("max", "min", "mul", "sub") + (() if whole else ("div",))
            ops = tuple(f"pl.expand_{f}({{d}}, {{a}}, v0, dim={dim})" for f in functions) + tuple(f"pl.{names}_expand_{f}({{d}}, {{a}}, v0)" for f in (*functions, "add"))
            found.append(Family(f"{names}s_broadcast_{dtype.lower()}", dtype, ops + (f"pl.{names}_expand({{d}}, v0)",), ("pl.add({d}, {a}, {b})",), 1,
                                inputs={"a": Tile(), "b": Tile(), "v": Tile(shape=shape, layout=layout, domain=(1, 9))}, domain=(-50, 50) if whole else (-4.0, 4.0)))
        found.append(Family(f"{names}s_broadcast_special", "FP32", (f"pl.{names}_expand_expdif({{d}}, a0, v0)",), ulps={"expdif": 2}, why="exp is this machine's library on host",
                            inputs={"a": Tile(), "b": Tile(), "v": Tile(shape=shape, layout=layout)}, domain=(-2.0, 2.0)))
    return found


def _conversions() -> list[Family]:
    found = []
    modes = ("CAST_RINT", "CAST_ROUND", "CAST_FLOOR", "CAST_CEIL", "CAST_TRUNC", "CAST_NONE")
    for source, to, domain in (("FP32", "FP16", (-900.0, 900.0)), ("FP32", "INT32", (-900.0, 900.0)), ("FP32", "INT16", (-900.0, 900.0)), ("FP16", "INT32", (-900.0, 900.0)),
                               ("FP16", "INT16", (-900.0, 900.0)), ("FP16", "INT8", (-100.0, 100.0)), ("FP16", "UINT8", (0.0, 200.0)), ("INT32", "FP32", (-2e7, 2e7)), ("INT16", "FP16", (-9000, 9000)),
                               ("INT16", "FP32", (-9000, 9000)), ("FP16", "FP32", (-900.0, 900.0)), ("INT32", "INT16", (-9000, 9000)), ("UINT8", "FP16", (0, 255)), ("INT8", "FP16", (-128, 127)),
                               ("INT32", "INT64", (-9000, 9000)), ("INT64", "INT32", (-9000, 9000)), ("UINT8", "UINT16", (0, 255)), ("INT16", "INT32", (-9000, 9000))):
        found.append(Family(f"cast_{source.lower()}_{to.lower()}", source, ("pl.cast({d}, {a}, mode=pl.RoundMode.{p})",), result=Tile(to), domain=domain, words=modes,
                            inputs={"a": Tile()}, work={}))
    for source, to, limit in (("FP32", "FP16", 2e5), ("FP32", "INT32", 9e9), ("FP32", "INT16", 1e5), ("FP16", "INT8", 400.0), ("FP16", "UINT8", 900.0), ("FP16", "INT16", 60000.0),
                              ("INT32", "INT16", 200000), ("INT32", "FP16", 200000), ("INT64", "INT32", 2**40)):
        found.append(Family(f"overflow_{source.lower()}_{to.lower()}", source, ("pl.cast({d}, {a}, mode=pl.RoundMode.{p})",), result=Tile(to), domain=(-limit, limit), words=modes,
                            inputs={"a": Tile()}, work={}))
    scales = {"a": Tile(), "u": Tile(shape="R, 1", layout="DN", domain=(0.5, 20.0)), "z": Tile(shape="R, 1", layout="DN", domain=(90.0, 140.0))}
    found.append(Family("quant", "FP32", ("pl.quant({d}, a0, u0)",), inputs=scales, result=Tile("INT8"), work={}, shapes=((16, 64), (32, 32), (8, 128))))
    found.append(Family("quant_asym", "FP32", ("pl.quant({d}, a0, u0, mode=pl.QuantMode.ASYM, offset=z0)",), inputs=scales, result=Tile("UINT8"), work={}, shapes=((16, 64), (32, 32), (8, 128))))
    found.append(Family("dequant", "FP32", ("pl.dequant({d}, i0, u0, z0)",), inputs={**scales, "i": Tile("INT8", domain=(-99, 99))}, work={}, shapes=((16, 64), (32, 32), (8, 128))))
    for dtype in ("FP32", "FP16", "INT32"):
        found.append(Family(f"padding_{dtype.lower()}", dtype, ("pl.set_validshape(a0, [R - 3, C - {n}]); pl.fillpad({d}, a0); pl.set_validshape(a0, [R, C])",
                                                                "pl.set_validshape(a0, [R - 3, C - {n}]); pl.fillpad({d}, a0, mode=pl.FillPadMode.EXPAND); pl.set_validshape(a0, [R, C])"),
                            inputs={"a": Tile()}, work={}, result=Tile(pad="zero"), domain=(-99, 99), ragged=False))
    for dtype in ("FP32", "FP16", "INT32", "INT16", "UINT8"):
        found.append(Family(f"transposed_{dtype.lower()}", dtype, ("pl.transpose({d}, {a})",), result=Tile(shape="C, R"), domain=(0, 99), inputs={"a": Tile()}, work={}, ragged=False,
                            shapes=((32, 64), (64, 32), (32, 128))))
    return found


def _permutations() -> list[Family]:
    found = []
    for dtype in ("FP32", "FP16", "INT32"):
        found.append(Family(f"gather_{dtype.lower()}", dtype, ("pl.gather({d}, a0, i0, t0)",), inputs={"a": Tile(), "i": Tile("INT32", values="indices")}, domain=(-99, 99),
                            work={"t": Tile("INT32")}, ragged=False))
        found.append(Family(f"scatter_{dtype.lower()}", dtype, ("pl.scatter({d}, a0, i0)",), domain=(-99, 99), work={}, ragged=False,
                            inputs={"a": Tile(), "i": Tile("INT32" if BYTES[dtype] == 4 else "INT16", values="permutation")}))
    for p, half in ((1, 2), (2, 2), (3, 4), (4, 4), (5, 4), (6, 4), (7, 1)):
        found.append(Family(f"gathermask_{p}", "FP32", (f"pl.gathermask({{d}}, a0, pattern_mode={p})",), inputs={"a": Tile()}, work={}, result=Tile(shape=f"R, C // {half}"), ragged=False,
                            shapes=((16, 64), (8, 128), (32, 32))))
    found.append(Family("gather_blocks", "FP32", ("pl.gatherb({d}, a0, i0)",), inputs={"a": Tile(), "i": Tile("UINT32", "R, C // 8", values="blocks")}, work={}, ragged=False,
                        shapes=((16, 64), (8, 128), (32, 64))))
    found.append(Family("sort32", "FP32", ("pl.sort32({d}, a0, i0)",), inputs={"a": Tile(), "i": Tile("UINT32", values="columns")}, work={}, result=Tile(shape="R, C * 2"), ragged=False,
                        shapes=((16, 64), (8, 128), (4, 32))))
    found.append(Family("merge", "FP32", ("pl.mrgsort({d}, a0, block_len=64)",), inputs={"a": Tile(values="sorted")}, work={}, ragged=False, shapes=((1, 256), (1, 512))))
    found.append(Family("histogram", "UINT16", ("pl.histogram({d}, a0, j0, is_msb=True)", "pl.histogram({d}, a0, j0, is_msb=False)"), domain=(0, 1500), work={}, ragged=False,
                        inputs={"a": Tile(), "j": Tile("UINT8", "R, 1", "DN", domain=(0, 5))}, result=Tile("UINT32", "R, 256"), shapes=((32, 64), (32, 128))))
    return found


def _fills() -> list[Family]:
    found = [Family(f"fill_{d.lower()}", d, ("pl.expands({d}, {n})", "pl.full({d}, {n})"), inputs={"a": Tile()}, work={}, domain=(0, 9)) for d in ("FP32", "FP16", "INT32", "INT16")]
    found += [Family(f"fill_index_{d.lower()}", d, ("pl.fill_index({d}, {k})",), inputs={"a": Tile()}, work={}, domain=(0, 9), shapes=((1, 64), (1, 128), (16, 32), (8, 64)),
                     ulps={"fill_index": 1} if d == "FP16" else {}, why="the C++ rounds the start to FP16 before it counts")
              for d in ("INT32", "INT16", "UINT32", "FP32", "FP16")]
    return found


def _moves() -> list[Family]:
    found = [Family(f"copies_{d.lower()}", d, ("pl.ub_copy({d}, {a})", "pl.move({d}, {a})"), ("pl.add({d}, {a}, {b})",), 1, domain=(0, 99)) for d in ("FP32", "FP16", "INT32")]
    element = ("x = pl.getval(a0, {n}); pl.add({d}, b0, x)", "pl.add({d}, a0, b0); pl.setval({d}, {n}, pl.getval(b0, {n}))",
               "x = pl.getval(a0, {n}); y = pl.getval(b0, {n}); pl.add({d}, a0, b0) ; pl.setval({d}, {n}, x * y - x)")
    found += [Family(f"elements_{d.lower()}", d, element, domain=(1, 99)) for d in ("FP32", "INT32")]
    return found


FAMILIES = (*_elementwise(), *_fused(), *_bits(), *_compare(), *_reductions(), *_broadcasts(), *_conversions(), *_permutations(), *_fills(), *_moves())
