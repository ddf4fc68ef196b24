"""The register layer against numpy, lane by lane: masks, arithmetic, comparisons, reductions, permutations, distributions, streams, conversions."""
from __future__ import annotations

import numpy as np
import pytest
from support import load
from tile_programs import BITS, HOST, equal, near, numbers

ALIGN = 256  # a register has 256 bytes


def lanes(dtype: str) -> int:
    return 2048 // BITS[dtype]


def run(body: str, arrays: dict[str, tuple[str, np.ndarray]], outputs: dict[str, tuple[str, np.ndarray]], n: int = 0) -> None:
    """`body` is a vector function over one-row tiles named as the arrays, and n. Outputs begin with what they hold."""
    names = [*arrays, *outputs]
    declarations, loads, stores, params = "", "", "", []
    for i, (name, (dtype, array)) in enumerate({**arrays, **outputs}.items()):
        declarations += (f"    {name}_g = pl.make_tile_group(type=pl.TileType(shape=[1, {array.size}], dtype=pl.DT_{dtype}), addrs={i * 4096:#x}, mutex_ids=[{i}])\n")
        params.append(f"{name}_m: pl.Tensor[[1, {array.size}], pl.DT_{dtype}]")
        loads += f"        {name} = {name}_g.next()\n        pl.load({name}, {name}_m, [0, 0])\n"
        if name in outputs:
            stores += f"        pl.store({name}_m, {name}, [0, 0])\n"
    text = (f"import pypto_pro.language as pl\n\n\n@pl.vector_function\ndef work({', '.join(names)}, n):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())
            + f"\n\n@pl.jit()\ndef kernel({', '.join(params)}, n: pl.DT_INT32):\n{declarations}    with pl.section_vector():\n{loads}        work({', '.join(names)}, n)\n{stores}")
    result = load(text)["kernel"].launch((*(a.reshape(1, -1) for _, a in {**arrays, **outputs}.values()), n), {})
    assert result.status == "done", f"{text}\n{result.text()}"


def active(dtype: str, n: int) -> np.ndarray:
    return np.arange(lanes(dtype)) < n


def pairs(seed: int, dtype: str, count: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [numbers(rng, dtype, (lanes(dtype),)) for _ in range(count)]


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype == np.float16 else x


ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_two_registers_under_a_mask(name):
    types = ["INT8", "UINT16", "INT32"] if name in ("and_", "or_", "xor") else ["FP32", "FP16", "INT16", "UINT32"] + ([] if name == "mul" else ["UINT8"])
    for seed, dtype in enumerate(types):
        a, b = pairs(seed, dtype)
        n = int(np.random.default_rng(seed).integers(1, lanes(dtype) + 5))
        out = np.full(lanes(dtype), 7, HOST[dtype])
        run(f"""
p = vf.update_mask(n, dtype=pl.DT_{dtype})
every = vf.create_mask(dtype=pl.DT_{dtype})
x = vf.load_align(a, 0)
y = vf.load_align(b, 0)
z = vf.{name}(x, y, p)
vf.store_align(out, z, every, 0)
""", {"a": (dtype, a), "b": (dtype, b)}, {"out": (dtype, out)}, n)
        wanted = ARITHMETIC[name](wide(a), wide(b)).astype(HOST[dtype])
        equal(out, np.where(active(dtype, n), wanted, HOST[dtype](0)))


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT32", "INT16"])
def test_one_register_and_a_number(dtype):
    a, = pairs(5, dtype, 1)
    names = ["absolute", "negative", "more", "times", "most"] + (["rectified"] if dtype != "INT16" else [])
    outs = {name: (dtype, np.zeros(lanes(dtype), HOST[dtype])) for name in names}
    body = f"p = vf.create_mask(dtype=pl.DT_{dtype})\nx = vf.load_align(a, 0)\n"
    for name, call in (("absolute", "vf.abs(x, p)"), ("negative", "vf.neg(x, p)"), ("more", "vf.adds(x, 3, p)"), ("times", "vf.muls(x, 3, p)"), ("most", "vf.maxs(x, 2, p)"), ("rectified", "vf.relu(x, p)")):
        if name in outs:
            body += f"r_{name} = {call}\nvf.store_align({name}, r_{name}, p, 0)\n"
    if dtype.startswith("FP"):
        body = body.replace(", 3, p)", ", 3.0, p)").replace(", 2, p)", ", 2.0, p)")
    run(body, {"a": (dtype, a)}, outs)
    f = HOST[dtype]
    three, two = f(3), f(2)
    with np.errstate(over="ignore"):
        wanted = {"absolute": np.abs(a), "negative": -a, "more": (wide(a) + wide(np.array(three))).astype(f), "times": (wide(a) * wide(np.array(three))).astype(f),
                  "most": np.maximum(a, two), "rectified": np.maximum(a, f(0))}
    for name, (_, out) in outs.items():
        equal(out, wanted[name])


@pytest.mark.parametrize("name, exact", [("exp", np.exp), ("ln", np.log), ("sqrt", np.sqrt)])
def test_functions_within_a_unit_in_the_last_place(name, exact):
    for dtype in ("FP32", "FP16"):
        a, = pairs(9, dtype, 1)
        a = (np.abs(a) + HOST[dtype](0.25) if name != "exp" else a / HOST[dtype](4)).astype(HOST[dtype])
        out = np.zeros(lanes(dtype), HOST[dtype])
        run(f"p = vf.create_mask(dtype=pl.DT_{dtype})\nx = vf.load_align(a, 0)\ny = vf.{name}(x, p)\nvf.store_align(out, y, p, 0)", {"a": (dtype, a)}, {"out": (dtype, out)})
        wanted = exact(a.astype(np.float64))
        near(out, wanted, np.spacing(np.abs(wanted).astype(HOST[dtype])).astype(np.float64))


def test_fused_forms_round_once():
    a, b, c = pairs(3, "FP32", 3)
    outs = {name: ("FP32", np.zeros(64, np.float32)) for name in ("axpied", "added", "folded", "difference")}
    run("""
p = vf.create_mask(dtype=pl.DT_FP32)
x = vf.load_align(a, 0)
y = vf.load_align(b, 0)
u = vf.load_align(c, 0)
u = vf.axpy(x, 1.5, p)
vf.store_align(axpied, u, p, 0)
v = vf.load_align(c, 0)
v = vf.mul_add_dst(x, y, p)
vf.store_align(added, v, p, 0)
w = vf.load_align(c, 0)
w = vf.mul_dst_add(x, y, p)
vf.store_align(folded, w, p, 0)
d = vf.exp_sub(x, y, p)
vf.store_align(difference, d, p, 0)
""", {"a": ("FP32", a), "b": ("FP32", b), "c": ("FP32", c)}, outs)
    wa, wb, wc = (x.astype(np.float64) for x in (a, b, c))
    for name, wanted in (("axpied", wc + 1.5 * wa), ("added", wa * wb + wc), ("folded", wc * wa + wb)):
        near(outs[name][1], wanted, 0.50001 * np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64))
    rounded = (a - b).astype(np.float64)
    near(outs["difference"][1], np.exp(rounded), np.spacing(np.exp(rounded).astype(np.float32)).astype(np.float64))


RELATIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


@pytest.mark.parametrize("name", RELATIONS)
def test_comparison_and_selection(name):
    for seed, dtype in enumerate(["FP32", "FP16", "INT32", "UINT8"]):
        a, b = pairs(seed, dtype)
        same = np.random.default_rng(seed).random(a.size) < 0.3
        b[same] = a[same]
        n = lanes(dtype) - 3
        out = np.zeros(lanes(dtype), HOST[dtype])
        run(f"""
p = vf.update_mask(n, dtype=pl.DT_{dtype})
every = vf.create_mask(dtype=pl.DT_{dtype})
x = vf.load_align(a, 0)
y = vf.load_align(b, 0)
m = vf.{name}(x, y, p)
z = vf.select(x, y, m)
vf.store_align(out, z, every, 0)
""", {"a": (dtype, a), "b": (dtype, b)}, {"out": (dtype, out)}, n)
        equal(out, np.where(RELATIONS[name](a, b) & active(dtype, n), a, b))


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT32"])
def test_shifts_by_a_number_and_by_a_register(dtype):
    rng = np.random.default_rng(BITS[dtype])
    a = numbers(rng, dtype, (lanes(dtype),))
    signed = dtype if dtype.startswith("I") else dtype[1:]
    by = rng.integers(0, BITS[dtype], a.size).astype(HOST[signed])
    outs = {name: (dtype, np.zeros(a.size, HOST[dtype])) for name in ("left", "right", "left3", "right3")}
    run(f"""
p = vf.create_mask(dtype=pl.DT_{dtype})
x = vf.load_align(a, 0)
s = vf.load_align(by, 0)
l = vf.shift_left(x, s, p)
vf.store_align(left, l, p, 0)
r = vf.shift_right(x, s, p)
vf.store_align(right, r, p, 0)
l3 = vf.shift_left(x, 3, p)
vf.store_align(left3, l3, p, 0)
r3 = vf.shift_right(x, 3, p)
vf.store_align(right3, r3, p, 0)
""", {"a": (dtype, a), "by": (signed, by)}, outs)
    for name, wanted in (("left", np.left_shift(a, by.astype(a.dtype))), ("right", np.right_shift(a, by.astype(a.dtype))), ("left3", a << HOST[dtype](3)), ("right3", a >> HOST[dtype](3))):
        equal(outs[name][1], wanted.astype(HOST[dtype]))


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT32", "UINT32"])
def test_reductions(dtype):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        count = lanes(dtype)
        a = rng.integers(0, 50, count).astype(HOST[dtype])  # whole numbers: every order of addition gives one sum
        n = int(rng.integers(1, count + 1))
        outs = {name: (dtype, np.ones(count, HOST[dtype])) for name in ("total", "top", "low", "blocks", "twos")}
        run(f"""
p = vf.update_mask(n, dtype=pl.DT_{dtype})
every = vf.create_mask(dtype=pl.DT_{dtype})
x = vf.load_align(a, 0)
s = vf.reduce_sum(x, p)
vf.store_align(total, s, every, 0)
t = vf.reduce_max(x, p)
vf.store_align(top, t, every, 0)
l = vf.reduce_min(x, p)
vf.store_align(low, l, every, 0)
b = vf.reduce_max(x, every, datablock=True)
vf.store_align(blocks, b, every, 0)
""" + ("q = vf.pair_reduce_sum(x, every)\nvf.store_align(twos, q, every, 0)\n" if dtype.startswith("FP") else ""), {"a": (dtype, a)}, outs, n)
        total, top, low, blocks, twos = (o for _, o in outs.values())
        assert total[0] == a[:n].sum() and not total[1:].any()
        word = {16: np.uint16, 32: np.uint32}[BITS[dtype]]
        assert top[0] == a[:n].max() and top.view(word)[1] == a[:n].argmax() and not top[2:].any()
        assert low[0] == a[:n].min() and low.view(word)[1] == a[:n].argmin() and not low[2:].any()
        assert list(blocks[:8]) == list(a.reshape(8, -1).max(axis=1)) and not blocks[8:].any()
        if dtype.startswith("FP"):
            equal(twos, np.concatenate([a[0::2] + a[1::2], np.zeros(count // 2, a.dtype)]).astype(a.dtype))


@pytest.mark.parametrize("dtype", ["UINT8", "FP16", "INT32"])
def test_permutations(dtype):
    a, b = pairs(4, dtype)
    count = lanes(dtype)
    outs = {name: (dtype, np.zeros(count, HOST[dtype])) for name in ("first", "second", "even", "odd", "squeezed")}
    outs["before"] = ({8: "UINT8", 16: "UINT16", 32: "UINT32"}[BITS[dtype]], np.zeros(count, {8: np.uint8, 16: np.uint16, 32: np.uint32}[BITS[dtype]]))
    run(f"""
p = vf.create_mask(dtype=pl.DT_{dtype})
x = vf.load_align(a, 0)
y = vf.load_align(b, 0)
f, s = vf.interleave(x, y)
vf.store_align(first, f, p, 0)
vf.store_align(second, s, p, 0)
e, o = vf.de_interleave(x, y)
vf.store_align(even, e, p, 0)
vf.store_align(odd, o, p, 0)
m = vf.gt(x, y, p)
c = vf.squeeze(x, m)
vf.store_align(squeezed, c, p, 0)
k = vf.unsqueeze(m, dtype=pl.DT_{outs["before"][0]})
vf.store_align(before, k, p, 0)
""", {"a": (dtype, a), "b": (dtype, b)}, outs)
    mixed, both = np.stack([a, b], axis=1).reshape(-1), np.concatenate([a, b])
    chosen = a[a > b]
    for name, wanted in (("first", mixed[:count]), ("second", mixed[count:]), ("even", both[0::2]), ("odd", both[1::2]),
                         ("squeezed", np.concatenate([chosen, np.zeros(count - chosen.size, a.dtype)]))):
        equal(outs[name][1], wanted)
    equal(outs["before"][1], (np.cumsum(a > b) - (a > b)).astype(outs["before"][1].dtype))


LOADS = {  # what a register holds, from the elements that follow the place
    "NORM": lambda x, n: x[:n], "BRC": lambda x, n: np.repeat(x[:1], n), "US": lambda x, n: np.repeat(x[:n // 2], 2), "DS": lambda x, n: x[:2 * n:2],
    "BLK": lambda x, n: np.tile(x[:32 // x.itemsize], 8), "E2B": lambda x, n: np.repeat(x[:8], n // 8),
}


@pytest.mark.parametrize("dist", LOADS)
def test_load_distributions(dist):
    types = {"US": ["UINT8", "FP16"], "DS": ["UINT8", "FP16"], "E2B": ["FP16", "FP32"]}.get(dist, ["UINT8", "FP16", "FP32"])
    for seed, dtype in enumerate(types):
        rng = np.random.default_rng(seed)
        count = lanes(dtype)
        a, out = numbers(rng, dtype, (3 * count,)), np.zeros(count, HOST[dtype])
        at = (32 if dist != "BRC" else 1) // (BITS[dtype] // 8) * int(rng.integers(0, 4)) if dist != "BRC" else int(rng.integers(0, 9))
        run(f"p = vf.create_mask(dtype=pl.DT_{dtype})\nx = vf.load_align(a, n, dist=pl.LoadDist.{dist})\nvf.store_align(out, x, p, 0)", {"a": (dtype, a)}, {"out": (dtype, out)}, at)
        equal(out, LOADS[dist](a[at:], count))


def test_widening_and_pairing_distributions():
    rng = np.random.default_rng(1)
    a = numbers(rng, "UINT16", (256,))
    outs = {"wide": ("UINT32", np.zeros(64, np.uint32)), "even": ("UINT16", np.zeros(128, np.uint16)), "odd": ("UINT16", np.zeros(128, np.uint16)),
            "packed": ("UINT16", np.full(128, 9, np.uint16)), "mixed": ("UINT16", np.zeros(256, np.uint16)), "one": ("UINT16", np.full(128, 9, np.uint16))}
    run("""
half = vf.create_mask(dtype=pl.DT_UINT16)
word = vf.create_mask(dtype=pl.DT_UINT32)
w = vf.load_align(a, 0, dtype=pl.DT_UINT32, dist=pl.LoadDist.UNPK_B16)
vf.store_align(wide, w, word, 0)
vf.store_align(packed, w, word, 0, dist=pl.StoreDist.PACK)
e, o = vf.load_align(a, 0, dist=pl.LoadDist.DINTLV_B16)
vf.store_align(even, e, half, 0)
vf.store_align(odd, o, half, 0)
vf.store_align(mixed, e, o, half, dist=pl.StoreDist.INTLV)
vf.store_align(one, o, half, 0, dist=pl.StoreDist.FIRST_ELEMENT)
""", {"a": ("UINT16", a)}, outs)
    equal(outs["wide"][1], a[:64].astype(np.uint32))
    equal(outs["packed"][1], np.concatenate([a[:64], np.full(64, 9, np.uint16)]))
    equal(outs["even"][1], a[0::2])
    equal(outs["odd"][1], a[1::2])
    equal(outs["mixed"][1], a)
    equal(outs["one"][1], np.concatenate([a[1:2], np.full(127, 9, np.uint16)]))


@pytest.mark.parametrize("dtype, index", [("FP32", "UINT32"), ("INT16", "UINT16")])
def test_gathers_and_scatters(dtype, index):
    rng = np.random.default_rng(2)
    count = lanes(dtype)
    a, at, n = numbers(rng, dtype, (2 * count,)), rng.permutation(2 * count)[:count].astype(HOST[index]), count - 5
    outs = {"taken": (dtype, np.zeros(count, HOST[dtype])), "put": (dtype, np.zeros(2 * count, HOST[dtype]))}
    run(f"""
p = vf.update_mask(n, dtype=pl.DT_{dtype})
every = vf.create_mask(dtype=pl.DT_{dtype})
i = vf.load_align(at, 0)
x = vf.gather(a, i, p)
vf.store_align(taken, x, every, 0)
vf.scatter(put, x, i, p)
""", {"a": (dtype, a), "at": (index, at)}, outs, n)
    taken = np.where(active(dtype, n), a[at], HOST[dtype](0))
    equal(outs["taken"][1], taken)
    wanted = np.zeros(2 * count, HOST[dtype])
    wanted[at[:n]] = taken[:n]
    equal(outs["put"][1], wanted)


@pytest.mark.parametrize("mode, rounding", [("CAST_RINT", np.rint), ("CAST_FLOOR", np.floor), ("CAST_CEIL", np.ceil), ("CAST_TRUNC", np.trunc)])
def test_conversions(mode, rounding):
    rng = np.random.default_rng(3)
    a = (rng.standard_normal(64) * 300).astype(np.float32)
    h = (rng.standard_normal(128) * 60).astype(np.float16)
    outs = {"whole": ("INT32", np.zeros(64, np.int32)), "even": ("FP16", np.zeros(128, np.float16)), "odd": ("FP16", np.zeros(128, np.float16)), "first": ("FP32", np.zeros(64, np.float32)),
            "second": ("FP32", np.zeros(64, np.float32)), "short": ("INT16", np.zeros(128, np.int16)), "clamped": ("INT16", np.zeros(128, np.int16))}
    run(f"""
word = vf.create_mask(dtype=pl.DT_FP32)
half = vf.create_mask(dtype=pl.DT_FP16)
x = vf.load_align(a, 0)
y = vf.load_align(h, 0)
i = vf.astype(x, word, dtype=pl.DT_INT32, round_mode=pl.VFRoundMode.{mode})
vf.store_align(whole, i, word, 0)
e = vf.astype(x, word, dtype=pl.DT_FP16, layout=pl.CastLayout.ZERO)
vf.store_align(even, e, half, 0)
o = vf.astype(x, word, dtype=pl.DT_FP16, layout=pl.CastLayout.ONE)
vf.store_align(odd, o, half, 0)
f = vf.astype(y, half, dtype=pl.DT_FP32, layout=pl.CastLayout.ZERO)
vf.store_align(first, f, word, 0)
s = vf.astype(y, half, dtype=pl.DT_FP32, layout=pl.CastLayout.ONE)
vf.store_align(second, s, word, 0)
k = vf.astype(y, half, dtype=pl.DT_INT16, round_mode=pl.VFRoundMode.{mode})
vf.store_align(short, k, half, 0)
z = vf.astype(x, word, dtype=pl.DT_INT16, round_mode=pl.VFRoundMode.{mode}, saturate=pl.SaturateMode.ON)
vf.store_align(clamped, z, half, 0)
""", {"a": ("FP32", a), "h": ("FP16", h)}, outs)
    equal(outs["whole"][1], rounding(a).astype(np.int32))
    zeros = np.zeros(64, np.float16)
    equal(outs["even"][1], np.stack([a.astype(np.float16), zeros], axis=1).reshape(-1))
    equal(outs["odd"][1], np.stack([zeros, a.astype(np.float16)], axis=1).reshape(-1))
    equal(outs["first"][1], h[0::2].astype(np.float32))
    equal(outs["second"][1], h[1::2].astype(np.float32))
    equal(outs["short"][1], rounding(h.astype(np.float32)).astype(np.int16))
    equal(outs["clamped"][1], np.stack([np.clip(rounding(a), -32768, 32767).astype(np.int16), np.zeros(64, np.int16)], axis=1).reshape(-1))


def test_products_and_carries_of_words():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2 ** 32, (2, 64), dtype=np.uint64).astype(np.uint32)
    outs = {name: ("UINT32", np.zeros(64, np.uint32)) for name in ("low", "high", "sum_low", "sum_high")}
    run("""
p = vf.create_mask(dtype=pl.DT_UINT32)
none = vf.create_mask(pl.MaskPattern.ALLF, dtype=pl.DT_UINT32)
x = vf.load_align(a, 0)
y = vf.load_align(b, 0)
l, h = vf.mull(x, y, p)
vf.store_align(low, l, p, 0)
vf.store_align(high, h, p, 0)
c, s = vf.addc(x, y, none, p)
vf.store_align(sum_low, s, p, 0)
z = vf.full(0, dtype=pl.DT_UINT32)
d, t = vf.addc(z, z, c, p)
vf.store_align(sum_high, t, p, 0)
""", {"a": ("UINT32", a), "b": ("UINT32", b)}, outs)
    product, total = a.astype(np.uint64) * b, a.astype(np.uint64) + b
    for name, wanted in (("low", product), ("high", product >> np.uint64(32)), ("sum_low", total), ("sum_high", total >> np.uint64(32))):
        equal(outs[name][1], wanted.astype(np.uint32))


def test_streams_at_any_element():
    rng = np.random.default_rng(6)
    for start in (1, 7, 13):
        a = numbers(rng, "FP32", (64 * 5,))
        out, joined = np.zeros(64, np.float32), np.zeros(64 * 4, np.float32)
        run("""
p = vf.create_mask(dtype=pl.DT_FP32)
u = vf.load_unalign_init()
vf.load_unalign_pre(u, a + n)
x = vf.load_unalign(a + n, u)
vf.store_align(out, x, p, 0)
vf.mem_bar(pl.MemBarMode.VST_VLD)
first = vf.load(a + n)
vf.store(joined, first, count=n)
second = vf.load(a + 64)
vf.store(joined, second, count=20)
""", {"a": ("FP32", a)}, {"out": ("FP32", out), "joined": ("FP32", joined)}, start)
        equal(out, a[start:start + 64])
        equal(joined[:start + 20], np.concatenate([a[start:2 * start], a[64:84]]))
