"""Element-wise work, broadcasts, reductions, compares and casts against numpy, over random shapes, valid shapes and types."""
from __future__ import annotations

import numpy as np
import pytest
from tile_programs import BITS, HOST, INTS, Tiles, equal, near, numbers, region

FLOATS = ["FP32", "FP16"]
np.seterr(all="ignore")


def wide(a: np.ndarray) -> np.ndarray:
    """Floats as the model computes them: in fp32, rounded to the type once."""
    return a.astype(np.float32) if a.dtype == np.float16 else a


def maximum(a, b):
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b)) if a.dtype.kind == "f" else np.maximum(a, b)


BINARY = {"add": (np.add, INTS + FLOATS), "sub": (np.subtract, INTS + FLOATS),
          "mul": (np.multiply, [t for t in INTS if "8" not in t] + FLOATS),
          "maximum": (maximum, INTS + FLOATS), "minimum": (np.minimum, INTS + FLOATS),
          "and_": (np.bitwise_and, [t for t in INTS if "64" not in t])}


@pytest.mark.parametrize("name", BINARY)
def test_two_tiles_and_a_tile_with_a_number(name):
    function, types = BINARY[name]
    for seed, dtype in enumerate(types):
        rng = np.random.default_rng([seed, len(name)])
        shape, valid = region(rng, BITS[dtype])
        a, b = numbers(rng, dtype, valid), numbers(rng, dtype, valid)
        two, one = np.zeros(valid, HOST[dtype]), np.zeros(valid, HOST[dtype])
        number = 3 if "INT" in dtype else 1.5
        t = Tiles()
        t.tile("a", dtype, shape, valid, load=a)
        t.tile("b", dtype, shape, valid, load=b)
        t.tile("two", dtype, shape, valid, store=two)
        t.tile("one", dtype, shape, valid, store=one)
        t.run(f"pl.{name}(two, a, b)", f"pl.{name}(one, a, {number})", f"pl.{name}(a, a, b)")
        equal(two, function(wide(a), wide(b)).astype(HOST[dtype]))
        equal(one, function(wide(a), wide(np.full_like(a, number))).astype(HOST[dtype]))


@pytest.mark.parametrize("dtype", ["INT16", "INT32", "INT64", "UINT16", "UINT32", "FP32", "FP16"])
def test_division(dtype):
    rng = np.random.default_rng(11)
    shape, valid = region(rng, BITS[dtype])
    a, b = numbers(rng, dtype, valid), numbers(rng, dtype, valid)
    b[b == 0] = 1
    out = np.zeros(valid, HOST[dtype])
    t = Tiles()
    t.tile("a", dtype, shape, valid, load=a)
    t.tile("b", dtype, shape, valid, load=b)
    t.tile("out", dtype, shape, valid, store=out)
    t.run("pl.div(out, a, b)")
    if "INT" in dtype:
        exact = [[int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(p, q)] for p, q in zip(a, b)]
        bits = BITS[dtype]
        equal(out, np.array([[v & ((1 << bits) - 1) for v in row] for row in exact], dtype=f"u{bits // 8}").view(HOST[dtype]))
    else:
        equal(out, (wide(a) / wide(b)).astype(HOST[dtype]))


UNARY = {"neg": (np.negative, ["INT16", "INT32", "INT64", "FP32", "FP16"]), "abs": (np.abs, ["INT8", "INT16", "INT32", "FP32", "FP16"]),
         "relu": (lambda a: np.maximum(a, 0), ["INT32", "FP32", "FP16"]), "sqrt": (np.sqrt, FLOATS)}
CLOSE = {"exp": np.exp, "log": np.log, "recip": lambda a: 1 / a, "rsqrt": lambda a: 1 / np.sqrt(a)}


def test_one_tile_exact():
    for seed, (name, (function, types)) in enumerate(UNARY.items()):
        for dtype in types:
            rng = np.random.default_rng([seed, BITS[dtype]])
            shape, valid = region(rng, BITS[dtype])
            a = numbers(rng, dtype, valid)
            if name == "sqrt":
                a = np.abs(a)
            out = np.zeros(valid, HOST[dtype])
            t = Tiles()
            t.tile("a", dtype, shape, valid, load=a)
            t.tile("out", dtype, shape, valid, store=out)
            t.run(f"pl.{name}(out, a)")
            equal(out, function(wide(a)).astype(HOST[dtype]))


@pytest.mark.parametrize("name", CLOSE)
def test_one_tile_within_a_unit_in_the_last_place(name):
    for dtype in FLOATS:
        rng = np.random.default_rng(len(name))
        shape, valid = region(rng, BITS[dtype])
        a = numbers(rng, dtype, valid, 3.0)
        if name != "exp":
            a = np.abs(a) + HOST[dtype](0.01)
        out = np.zeros(valid, HOST[dtype])
        t = Tiles()
        t.tile("a", dtype, shape, valid, load=a)
        t.tile("out", dtype, shape, valid, store=out)
        t.run(f"pl.{name}(out, a)")
        wanted = CLOSE[name](a.astype(np.float64))
        units = 1.5 if name == "rsqrt" else 1.0  # 1/sqrt(x) rounds twice
        near(out, wanted, units * np.spacing(np.abs(wanted).astype(HOST[dtype])).astype(np.float64))


def test_shifts():
    for seed, dtype in enumerate(INTS):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, BITS[dtype])
        a, by = numbers(rng, dtype, valid), rng.integers(0, BITS[dtype], valid).astype(HOST[dtype])
        left, right = np.zeros(valid, HOST[dtype]), np.zeros(valid, HOST[dtype])
        t = Tiles()
        t.tile("a", dtype, shape, valid, load=a)
        t.tile("by", dtype, shape, valid, load=by)
        t.tile("left", dtype, shape, valid, store=left)
        t.tile("right", dtype, shape, valid, store=right)
        t.run("pl.shl(left, a, by)", "pl.shr(right, a, by)")
        equal(left, np.left_shift(a, by))
        equal(right, np.right_shift(a, by))


def test_fused_forms():
    for seed, dtype in enumerate(["FP32", "FP16", "FP32", "FP16"]):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, BITS[dtype])
        a, b, c = (numbers(rng, dtype, valid) for _ in range(3))
        f = HOST[dtype]
        results = {name: np.zeros(valid, f) for name in ("added", "multiplied", "folded", "axpied")}
        t = Tiles()
        for name, array in (("a", a), ("a2", a), ("a3", a), ("a4", a), ("b", b)):
            t.tile(name, dtype, shape, valid, load=array)
        for name, array in results.items():
            t.tile(name, dtype, shape, valid, load=c, store=array)
        t.run("pl.add_relu(added, a, b)", "pl.mul_add_dst(multiplied, a2, b)", "pl.fused_mul_add(folded, a3, b)", "pl.axpy(axpied, a4, 1.5)")
        product = (wide(a) * wide(b)).astype(f)
        equal(results["added"], np.maximum((wide(a) + wide(b)).astype(f), f(0)))
        equal(results["multiplied"], (wide(c) + wide(product)).astype(f))
        equal(results["folded"], (wide((wide(a) * wide(c)).astype(f)) + wide(b)).astype(f))
        exact = c.astype(np.float64) + 1.5 * a.astype(np.float64)  # one rounding
        equal(results["axpied"], exact.astype(f) if dtype == "FP32" else exact.astype(np.float32).astype(f))


def test_fused_forms_with_a_cast():
    for seed, (dtype, to) in enumerate([("FP32", "FP16"), ("FP16", "FP32"), ("FP32", "INT32")]):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, 16)
        a, b, c = (numbers(rng, dtype, valid) for _ in range(3))
        f, g = HOST[dtype], HOST[to]
        results = {name: np.zeros(valid, g) for name in ("added", "subtracted", "multiplied")}
        plain = {name: np.zeros(valid, f) for name in ("relued", "folded", "carried")}
        t = Tiles()
        for name, array in (("a", a), ("a2", a), ("a3", a), ("a4", a), ("a5", a), ("b", b), ("c", c)):
            t.tile(name, dtype, shape, valid, load=array)
        for name, array in results.items():
            t.tile(name, to, shape, valid, store=array)
        for name, array in plain.items():
            t.tile(name, dtype, shape, valid, load=c, store=array)
        options = f"target_type=pl.DT_{to}, mode=pl.RoundMode.CAST_RINT"
        t.run(f"pl.add_relu_cast(added, a, b, {options})", f"pl.sub_relu_cast(subtracted, a2, b, {options})", f"pl.mul_cast(multiplied, a3, b, {options})",
              "pl.sub_relu(relued, a4, b)", "pl.fused_mul_add_relu(folded, a5, b)", "pl.addc(carried, b, c, b)")
        def cast(values):
            return (np.rint(values) if "INT" in to else values).astype(g)
        equal(results["added"], cast(np.maximum((wide(a) + wide(b)).astype(f), f(0))))
        equal(results["subtracted"], cast(np.maximum((wide(a) - wide(b)).astype(f), f(0))))
        equal(results["multiplied"], cast((wide(a) * wide(b)).astype(f)))
        equal(plain["relued"], np.maximum((wide(a) - wide(b)).astype(f), f(0)))
        equal(plain["folded"], np.maximum((wide((wide(c) * wide(a)).astype(f)) + wide(b)).astype(f), f(0)))
        equal(plain["carried"], (wide((wide(b) + wide(c)).astype(f)) + wide(b)).astype(f))


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT32"])
def test_exclusive_or(dtype):
    rng = np.random.default_rng(BITS[dtype])
    shape, valid = region(rng, BITS[dtype])
    a, b, out = numbers(rng, dtype, valid), numbers(rng, dtype, valid), np.zeros(valid, HOST[dtype])
    t = Tiles()
    for name, array in (("a", a), ("b", b)):
        t.tile(name, dtype, shape, valid, load=array)
    t.tile("scratch", dtype, shape, valid)
    t.tile("out", dtype, shape, valid, store=out)
    t.run("pl.xor(out, a, b, scratch)")
    equal(out, a ^ b)


EXPANDS = {"expand_max": maximum, "expand_min": np.minimum, "expand_mul": np.multiply, "expand_sub": np.subtract, "expand_div": np.divide}


@pytest.mark.parametrize("dim", [0, 1])
def test_broadcasts(dim):
    for seed, dtype in enumerate(["FP32", "FP16", "INT32", "INT16"]):
        rng = np.random.default_rng([seed, dim])
        shape, valid = region(rng, BITS[dtype])
        vector_shape = (valid[0], 1) if dim == 0 else (1, valid[1])
        a, v = numbers(rng, dtype, valid), numbers(rng, dtype, vector_shape)
        v[v == 0] = 1
        names = [n for n in EXPANDS if "FP" in dtype or n != "expand_div"]
        outs = {n: np.zeros(valid, HOST[dtype]) for n in names}
        t = Tiles()
        t.tile("a", dtype, shape, valid, load=a)
        if dim == 0:
            t.tile("v", dtype, (-(-shape[0] // 16) * 16, 1), vector_shape, load=v, layout="pl.TensorLayout.DN")
        else:
            t.tile("v", dtype, (1, shape[1]), vector_shape, load=v)
        for n in names:
            t.tile(n, dtype, shape, valid, store=outs[n])
        t.run(*[f"pl.{n}({n}, a, v, dim={dim})" for n in names])
        for n in names:
            equal(outs[n], EXPANDS[n](wide(a), wide(v)).astype(HOST[dtype]))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT32", "INT16"])
def test_reductions(dtype, dim):
    for seed in range(3):
        rng = np.random.default_rng([seed, dim, BITS[dtype]])
        shape, valid = region(rng, BITS[dtype], 24, 400)
        a = numbers(rng, dtype, valid, 2.0)
        if dtype == "FP32" and seed == 0:  # ties: the first one counts
            a = np.round(a)
        out_shape = (-(-shape[0] // 16) * 16, 1) if dim == 0 else (1, shape[1])
        out_valid = (valid[0], 1) if dim == 0 else (1, valid[1])
        layout = {"layout": "pl.TensorLayout.DN"} if dim == 0 else {}
        total, high, low = (np.zeros(out_valid, HOST[dtype]) for _ in range(3))
        t = Tiles()
        t.tile("a", dtype, shape, valid, load=a)
        t.tile("tmp", dtype, shape, valid)
        for name, array in (("total", total), ("high", high), ("low", low)):
            t.tile(name, dtype, out_shape, out_valid, store=array, **layout)
        body = [f"pl.sum(total, a, tmp, dim={dim})", f"pl.maximum(high, a, tmp, dim={dim})", f"pl.minimum(low, a, tmp, dim={dim})"]
        where = np.zeros(out_valid, np.int32)
        arg = "FP" in dtype or dim == 1
        if arg:
            index_shape = out_shape if dim == 0 else (1, -(-shape[1] // 8) * 8)
            t.tile("where", "INT32", index_shape, out_valid, store=where, **layout)
            body.append(f"pl.argmax(where, a, tmp, dim={dim})")
        t.run(*body)
        axis = 1 - dim
        equal(high, a.max(axis, keepdims=True))
        equal(low, a.min(axis, keepdims=True))
        if arg:
            equal(where, a.argmax(axis, keepdims=True) if axis else a.argmax(axis)[None, :])
        exact = a.astype(np.float64).sum(axis, keepdims=True)
        if "INT" in dtype:
            equal(total, a.astype(np.int64).sum(axis, keepdims=True).astype(HOST[dtype]))
        else:
            n = a.shape[axis]
            u = 2.0 ** -24 if dtype == "FP32" else 2.0 ** -11
            steps = 6 + n / 64 + 1 if dim == 0 else n
            near(total, exact, steps * u * np.abs(a.astype(np.float64)).sum(axis, keepdims=True) + 1e-30)


COMPARES = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def test_compare_and_select():
    for seed, dtype in enumerate(["FP32", "FP16", "INT32", "INT16", "UINT8"]):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, BITS[dtype])
        a, b = numbers(rng, dtype, valid), numbers(rng, dtype, valid)
        b[rng.random(valid) < 0.3] = a[0, 0]
        if "FP" in dtype:
            a[0, -1] = np.nan
        name = list(COMPARES)[int(rng.integers(6))]
        for relation in (name, "eq", "ne"):
            chosen = np.zeros(valid, HOST[dtype])
            t = Tiles()
            t.tile("a", dtype, shape, valid, load=a)
            t.tile("b", dtype, shape, valid, load=b)
            t.tile("mask", "UINT8", (shape[0], max(32, shape[1])), valid)
            t.tile("tmp", dtype, shape, valid)
            t.tile("chosen", dtype, shape, valid, store=chosen)
            t.run(f"pl.{relation}(mask, a, b)", "pl.select(chosen, mask, a, b, tmp)")
            equal(chosen, np.where(COMPARES[relation](a, b), a, b))


ROUND = {"CAST_RINT": np.rint, "CAST_FLOOR": np.floor, "CAST_CEIL": np.ceil, "CAST_TRUNC": np.trunc,
         "CAST_ROUND": lambda a: np.where(a < 0, -np.floor(-a + 0.5), np.floor(a + 0.5))}
WRAPS = {("FP16", "INT8"), ("FP16", "UINT8"), ("FP32", "INT16"), ("FP16", "INT16")}


@pytest.mark.parametrize("mode", ROUND)
def test_casts_to_integers(mode):
    for source, target in [("FP32", "INT32"), ("FP32", "INT16"), ("FP16", "INT8"), ("FP16", "UINT8"), ("FP16", "INT32"), ("FP16", "INT16")]:
        rng = np.random.default_rng([len(mode), BITS[source], BITS[target]])
        shape, valid = region(rng, min(BITS[source], BITS[target]))
        a = numbers(rng, source, valid, 300.0)
        a[rng.random(valid) < 0.3] = HOST[source](2.5)
        a[rng.random(valid) < 0.1] = HOST[source](-0.5)
        if source == "FP32":
            a[0, 0] = 3e9
        out = np.zeros(valid, HOST[target])
        t = Tiles()
        t.tile("a", source, shape, valid, load=a)
        t.tile("out", target, shape, valid, store=out)
        t.run(f"pl.cast(out, a, mode=pl.RoundMode.{mode})")
        exact = ROUND[mode](a.astype(np.float64))
        info = np.iinfo(HOST[target])
        if (source, target) in WRAPS:
            wanted = exact.astype(np.int64).astype(HOST[target])
        else:
            wanted = np.clip(exact, info.min, info.max).astype(np.int64).astype(HOST[target])
        equal(out, wanted)


def test_casts_between_floats_and_from_integers():
    rng = np.random.default_rng(5)
    shape, valid = region(rng, 16)
    a = numbers(rng, "FP32", valid, 1e4)
    a[0, 0] = 65519.0
    half, brain, whole, from_half = (np.zeros(valid, t) for t in (np.float16, np.float32, np.float32, np.float32))
    n = numbers(rng, "INT32", valid)
    t = Tiles()
    t.tile("a", "FP32", shape, valid, load=a)
    t.tile("n", "INT32", shape, valid, load=n)
    t.tile("half", "FP16", shape, valid, store=half)
    t.tile("b", "BF16", shape, valid)
    t.tile("brain", "FP32", shape, valid, store=brain)
    t.tile("whole", "FP32", shape, valid, store=whole)
    t.tile("from_half", "FP32", shape, valid, store=from_half)
    rint = "mode=pl.RoundMode.CAST_RINT"
    t.run(f"pl.cast(half, a, {rint})", f"pl.cast(b, a, {rint})", "pl.cast(brain, b)", f"pl.cast(whole, n, {rint})", "pl.cast(from_half, half)")
    equal(half, a.astype(np.float16))
    equal(from_half, half.astype(np.float32))
    equal(whole, n.astype(np.float32))
    bits = a.view(np.uint32).astype(np.uint64)
    equal(brain, (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32))


def test_partial_operations():
    for seed, (name, function) in enumerate({"partadd": np.add, "partmax": maximum, "partmin": np.minimum, "partmul": np.multiply}.items()):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, 32)
        part = (int(rng.integers(1, valid[0] + 1)), int(rng.integers(1, valid[1] + 1)))
        a, b = numbers(rng, "FP32", valid), numbers(rng, "FP32", part)
        out = np.zeros(valid, np.float32)
        t = Tiles()
        t.tile("a", "FP32", shape, valid, load=a)
        t.tile("b", "FP32", shape, part, load=b)
        t.tile("out", "FP32", shape, valid, store=out)
        t.run(f"pl.{name}(out, a, b)" if seed % 2 else f"pl.{name}(out, b, a)")
        wanted = a.copy()
        wanted[:part[0], :part[1]] = function(a[:part[0], :part[1]], b)
        equal(out, wanted)


def test_fill():
    for seed, dtype in enumerate(["FP32", "FP16", "INT32", "UINT8"]):
        rng = np.random.default_rng(seed)
        shape, valid = region(rng, BITS[dtype])
        out, index = np.zeros(valid, HOST[dtype]), np.zeros(valid, np.int32)
        t = Tiles()
        t.tile("out", dtype, shape, valid, store=out)
        t.tile("index", "INT32", (shape[0], -(-shape[1] // 8) * 8), valid, store=index)
        t.run("pl.expands(out, 7)", "pl.fill_index(index, 5)")
        equal(out, np.full(valid, 7, HOST[dtype]))
        equal(index, np.broadcast_to(5 + np.arange(valid[1], dtype=np.int32), valid))
