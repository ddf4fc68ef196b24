"""The precision verdict: thresholds that hold, kinds that are named. Open cases PRE-01, PRE-02, PRE-03, PRE-07."""
from __future__ import annotations

import numpy as np
import pytest
import support

import xpto
from xpto import tolerance

RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def run():
    """The example's last run with its data and reference."""
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    kernel[None, 1](a, b, d, y)
    return kernel, (a, b, d, y), support.relu_reference(a, b, d)


def fp32_matmul(a, b):
    """Sums of fp32 products in ascending k, rounded after every step."""
    total = np.zeros((a.shape[0], b.shape[1]), dtype=np.float32)
    for k in range(a.shape[1]):
        total = (total.astype(np.float64) + a[:, k, None].astype(np.float64) * b[k]).astype(np.float32)
    return total


def narrow_matmul(a, b, dtype):
    total = np.zeros((a.shape[0], b.shape[1]), dtype=dtype)
    for k in range(a.shape[1]):
        total = (total + a[:, k, None] * b[k]).astype(dtype)
    return total


def test_the_example_matches_with_thresholds_from_its_own_structure(run):
    kernel, (a, b, d, y), reference = run
    c = xpto.compare(y, reference, kernel=kernel)
    assert c.status == "MATCH" and c, c.text()
    j = c.to_json()
    assert "K=64 twice" in j["derivation"] and "relu(a @ b) @ d" in j["derivation"]
    assert 0.5 < j["worst_sigma"] < 6 and j["above_limit"] == 0
    assert 0 < j["sigma_low"] < j["sigma_high"] < j["limit_high"]
    assert (j["worst"][0]["index"], j["worst"][0]["task"], j["worst"][0]["subblock"]) == ([41, 28], 0, 1)
    assert j["map"]["task_rows"] == list(range(0, 256, 32)) and j["map"]["task_labels"][:3] == ["task 0, AIV0", "task 0, AIV1", "task 1, AIV0"]
    assert "MATCH" in c.text() and all(len(line) <= 100 for line in c.text().splitlines())


def test_a_reference_function_brings_its_thresholds(run):
    kernel, (a, b, d, y), _ = run
    by_function = xpto.compare(y, lambda a, b, d: np.maximum(a @ b, 0) @ d, kernel=kernel)
    by_arguments = xpto.compare(y, lambda p, q, r: np.maximum(p @ q, 0) @ r, args=(a, b, d))
    assert by_function.status == by_arguments.status == "MATCH"
    assert by_function.to_json()["sigma_high"] == by_arguments.to_json()["sigma_high"]
    assert "K=64 twice, fp32 sums, relu between" in by_function.to_json()["derivation"]


def test_thresholds_are_neither_loose_nor_tight():
    """Errors of real fp32 sums have about the derived size; the limit is never crossed."""
    a, b = RNG.standard_normal((128, 200)).astype(np.float32), RNG.standard_normal((200, 96)).astype(np.float32)
    c = xpto.compare(fp32_matmul(a, b), lambda a, b: a @ b, args=(a, b)).to_json()
    assert c["verdict"] == "MATCH" and 0.2 < c["median_sigma"] < 1.5 and 2 < c["worst_sigma"] < 6


def test_a_reference_in_fp32_has_errors_of_its_own():
    a, b = RNG.standard_normal((64, 512)).astype(np.float32), RNG.standard_normal((512, 64)).astype(np.float32)
    got, exact = fp32_matmul(a, b), a.astype(np.float64) @ b.astype(np.float64)
    rough = xpto.compare(got, fp32_matmul(a[:, ::-1], b[::-1]), k=512).to_json()
    wide = xpto.compare(got, exact, k=512).to_json()
    assert rough["verdict"] in ("MATCH", "ROUNDING") and "reference's as well" in rough["derivation"] and "as well" not in wide["derivation"]
    assert abs(rough["sigma_high"] / wide["sigma_high"] - 2 ** 0.5) < 0.01


def test_examples_match():
    space = support.load(support.example_text("matmul"))
    a, b = RNG.standard_normal((256, 128)).astype(np.float16), RNG.standard_normal((128, 256)).astype(np.float16)
    c = np.zeros((256, 256), dtype=np.float32)
    space["matmul"][None, 2](a, b, c)
    found = xpto.compare(c, a.astype(np.float64) @ b.astype(np.float64), kernel=space["matmul"])
    assert found.status == "MATCH" and "a @ b of the last run's arguments: K=128, fp32 sums" in found.to_json()["derivation"]
    space = support.load(support.example_text("vector_add"))
    x, y = RNG.standard_normal((7, 37)).astype(np.float16), RNG.standard_normal((7, 37)).astype(np.float16)
    z = np.zeros_like(x)
    space["vector_add"][None, 2](x, y, z)
    assert xpto.compare(z, x + y, kernel=space["vector_add"]).status == "BITWISE"
    wide = xpto.compare(z, x.astype(np.float64) + y, kernel=space["vector_add"])
    assert wide.status == "MATCH" and "x + y" in wide.to_json()["derivation"] and "cast to fp16" in wide.to_json()["derivation"]


def test_bits_and_integers():
    x = RNG.standard_normal((8, 8)).astype(np.float32)
    assert xpto.compare(x, x.copy()).status == "BITWISE"
    n = np.arange(12, dtype=np.int32).reshape(3, 4)
    m = n.copy()
    m[1, 2] += 1
    assert xpto.compare(n, n.copy()).status == "BITWISE"
    c = xpto.compare(m, n)
    assert c.status == "DIFFERENT" and not c and c.to_json()["above_limit"] == 1 and c.to_json()["worst"][0]["index"] == [1, 2]


def test_nan_and_infinity_are_compared_by_place():
    x = RNG.standard_normal((16, 16)).astype(np.float32)
    x[3, 4], x[5, 6], x[7, 8] = np.nan, np.inf, -np.inf
    assert xpto.compare(x, x.astype(np.float64), k=1)
    moved = x.copy()
    moved[3, 4], moved[3, 5] = 0, np.nan
    c = xpto.compare(moved, x.astype(np.float64), k=1)
    assert c.status == "DIFFERENT" and c.to_json()["above_limit"] == 2 and "NaN out of place 2 times" in c.text()
    flipped = x.copy()
    flipped[5, 6] = -np.inf
    assert xpto.compare(flipped, x.astype(np.float64), k=1).to_json()["above_limit"] == 1


def test_an_overflow_of_the_output_format_is_due():
    wide = np.array([[65504.0, 65519.0, 65520.0, 70000.0, -70000.0]])
    with np.errstate(over="ignore"):
        assert xpto.compare(wide.astype(np.float16), wide, k=1)


def test_a_wrong_element_cannot_hide(run):
    kernel, (a, b, d, y), reference = run
    off = y.copy()
    off[100, 3] += 0.05
    c = xpto.compare(off, reference, kernel=kernel)
    assert c.status == "DIFFERENT" and c.to_json()["above_limit"] == 1
    worst = c.to_json()["worst"][0]
    assert worst["index"] == [100, 3] and worst["task"] == 1


# ------------------------------------------------------------------------------------------------ kinds

def kind_of(got, expected, **options):
    return xpto.compare(got, expected, k=64, **options).kind


def test_an_overtaken_slot_is_recognised_with_its_distance(run):
    kernel, (a, b, d, y), reference = run
    late = y.copy()
    late[0:64] = y[128:192]
    c = xpto.compare(late, reference, kernel=kernel)
    assert c.kind.startswith("overtaken slot: the tile of task 0 equals the right value of task 2")
    assert "(distance 2 = slots of mm1, out, p)" in c.kind
    assert "one whole task tile" in c.to_json()["where"] and c.to_json()["first_wrong_task"] == 0


def test_a_racing_run_names_channel_and_stage():
    """Without the vector's waits for free slots of p, stage2 overtakes stage3: in program order the numbers are wrong already."""
    made = support.kernel().compile(preload=2)
    lines = [line[:len(line) - len(line.lstrip())] + "pass\n" if "wait_cross_core" in line and "_pl_bwd_ids_p" in line else line
             for line in made.generated.splitlines(keepends=True)]
    assert sum(line.strip() == "pass" for line in lines) >= 3
    kernel = support.load("".join(lines), "edited.py")["relu_matmul"]
    kernel.overrides = {"check": "warn"}
    a, b, d, y = support.relu_data()
    assert kernel.launch((a, b, d, y), {}, check="warn").status == "race"
    c = xpto.compare(y, support.relu_reference(a, b, d), kernel=kernel)
    j = c.to_json()
    assert c.kind.startswith("overtaken slot: the tile of task 0 equals the right value of task 2 (distance 2 = slots of p)"), c.text()
    assert (j["first_wrong_stage"], j["first_wrong_task"]) == ("stage3", 0)
    assert "RACE" in j["see"] and "first wrong stage: stage3, task 0" in c.text()


BASE = RNG.standard_normal((128, 64)).astype(np.float32)
WIDE = BASE.astype(np.float64)


@pytest.mark.parametrize("change, words", [
    (lambda x: np.vstack([x[:100], np.zeros_like(x[100:])]), "rows from 100 on (28 of 128), all 0"),
    (lambda x: np.hstack([x[:, :50], x[:, 50:] + 1]), "columns from 50 on (14 of 64)"),
    (lambda x: -x, "sign"),
    (lambda x: (x * np.float32(0.125)), "constant factor: the values are 0.125 times"),
    (lambda x: np.roll(x, 64, axis=0), "equals the right value of task 1"),
    (lambda x: np.roll(x, 32, axis=1), "left and right half of the columns"),
    (lambda x: x.reshape(8, 16, 8, 8).transpose(2, 0, 1, 3).reshape(128, 64), "NZ data stored as ND"),
    (lambda x: x[:, RNG.permutation(64)], "the same values in other places"),
    (lambda x: RNG.standard_normal(x.shape).astype(np.float32), "none of the known kinds"),
])
def test_kinds(change, words):
    c = xpto.compare(change(BASE), WIDE, k=64)
    assert c.status == "DIFFERENT" and words in c.kind, c.text()


def test_uniform_rows_where_nan_is_due():
    expected = WIDE.copy()
    expected[[3, 70]] = np.nan
    got = BASE.copy()
    got[[3, 70]] = 1 / 64
    assert "mask constant" in kind_of(got, expected)


def test_pre_01_padding_joins_a_maximum():
    """All values negative, width 100, tiles of 64, the tail tile padded with zeros."""
    x = -np.abs(RNG.standard_normal((32, 100))).astype(np.float32) - 0.5
    padded = np.zeros((32, 128), dtype=np.float32)
    padded[:, :100] = x
    got, expected = padded.max(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    c = xpto.compare(got, expected, k=1)
    assert c.status == "DIFFERENT" and "padding joined a maximum: 0.0" in c.kind and "min padding" in c.kind
    from xpto.difference_kinds import Difference, tail
    d = Difference(got, expected, np.ones_like(got), np.zeros_like(got), got != expected, "fp32", "fp32", 1, tile_columns=[1, 64], input_columns=[100])
    found = tail(d)
    assert found is not None and "tail tile, columns 64 to 99 of 100" in found.text


def test_pre_02_error_grows_with_k():
    runs16, runs32 = {}, {}
    for k in (64, 256, 1024):
        a, b = RNG.standard_normal((16, k)).astype(np.float16), RNG.standard_normal((k, 32)).astype(np.float16)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        runs16[k], runs32[k] = (narrow_matmul(a, b, np.float16), exact), (fp32_matmul(a.astype(np.float32), b.astype(np.float32)), exact)
    narrow = xpto.compare_growth(runs16, dtype="fp32")
    assert narrow.fits == "fp16" and "accumulation dtype" in narrow.text() and "not a bug" in narrow.text()
    assert 0.3 < narrow.slope < 0.7 and "<img" in narrow._repr_mimebundle_()["text/html"]
    wide = xpto.compare_growth(runs32)
    assert wide.fits == "fp32" and wide.to_json()["status"] == "MATCH"
    got, exact = runs16[1024]
    c = xpto.compare(got, exact, k=1024, dtype="fp32")
    assert "accumulation dtype: errors fit sums of 1024 terms kept in fp16" in c.kind, c.text()
    assert xpto.compare(got, exact, k=1024, sums="fp16").status in ("MATCH", "ROUNDING")
    limits = [xpto.compare(*runs32[k], k=k).to_json()["limit_high"] for k in (64, 1024)]
    assert limits[1] > 8 * limits[0], "the threshold scales with K"


def test_pre_03_ties_name_the_rounding_mode():
    tie = 1.01953125
    even, away = np.float32(1.015625), np.float32(1.0234375)
    assert abs(tie - even) == abs(tie - away) and tolerance.spacing(np.array([tie]), "bf16")[0] == away - even
    wide = np.full((4, 8), tie)
    wide[0] = 1.25
    got = np.where(wide == tie, away, np.float32(1.25)).astype(np.float32)
    c = xpto.compare(got, wide, k=1, dtype="bf16")
    assert "away from zero" in c.kind and "rounding mode" in c.kind and c, c.text()
    right = np.where(wide == tie, even, np.float32(1.25)).astype(np.float32)
    assert xpto.compare(right, wide, k=1, dtype="bf16").kind == ""


def test_pre_07_one_element_of_2048_is_a_cancelled_sum():
    a, b = RNG.standard_normal((32, 128)).astype(np.float32), RNG.standard_normal((128, 64)).astype(np.float32)
    # the last row of b makes element (5, 9) cancel to almost nothing
    exact = a.astype(np.float64) @ b.astype(np.float64)
    b[127, 9] -= np.float32(exact[5, 9] / a[5, 127])
    got, exact = fp32_matmul(a, b), a.astype(np.float64) @ b.astype(np.float64)
    assert (np.abs(got - exact) > 1e-5 * np.abs(exact)).sum() >= 1
    c = xpto.compare(got, lambda a, b: a @ b, args=(a, b), rtol=1e-5)
    j = c.to_json()
    assert c.status == "MATCH", c.text()
    assert "rtol=1e-05 fails at" in j["tolerance"] and "of 2,048; atol=" in j["tolerance"]
    assert float(j["tolerance"].split("atol=")[1].split()[0]) <= 1e-4
    assert "cancelled sums" in c.kind and "lawful" in c.kind


def test_png_says_what_it_needs_or_is_one(run):
    kernel, (a, b, d, y), reference = run
    c = xpto.compare(y, reference, kernel=kernel)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="matplotlib"):
            c.png()
    else:
        assert c.png().startswith(b"\x89PNG")


class Tensor:
    """What compare() asks of a torch tensor; torch itself need not be installed."""

    def __init__(self, values, dtype):
        self.values, self.dtype = np.asarray(values, dtype=np.float32), dtype

    detach = cpu = lambda self: self
    is_floating_point = lambda self: True
    double = lambda self: self
    numpy = lambda self: self.values.astype(np.float64)


def test_torch_tensors_keep_their_format():
    wide = RNG.standard_normal((16, 16))
    bf16 = Tensor(np.rint(wide * 2.0 ** 7 / np.exp2(np.floor(np.log2(np.abs(wide))))) / 2.0 ** 7 * np.exp2(np.floor(np.log2(np.abs(wide)))), "torch.bfloat16")
    c = xpto.compare(bf16, Tensor(wide, "torch.float32"), k=1)
    assert c.status == "MATCH" and c.to_json()["dtype"] == "bf16" and c.to_json()["reference"] == "torch float32"
    assert c.to_json()["worst_sigma"] <= 3 ** 0.5 * 1.01, "a cast is off by at most half a unit, which is the square root of 3 sigma"
    assert not xpto.compare(Tensor(wide * 1.02, "torch.bfloat16"), Tensor(wide, "torch.float32"), k=1)


def test_the_histogram_holds_every_element(run):
    kernel, (a, b, d, y), reference = run
    for values in (y, -y, y * np.float32(1.0001)):
        j = xpto.compare(values, reference, kernel=kernel).to_json()
        assert sum(bar["count"] for bar in j["histogram"]) == j["elements"]
        assert sum(bar["count"] for bar in j["histogram"] if bar["from"] >= 6) >= j["above_sigma"]


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"\[4, 4\].*\[4, 5\]"):
        xpto.compare(np.zeros((4, 4), np.float32), np.zeros((4, 5)))


# ------------------------------------------------------------------------------------------------ the same from kernels

ROWMAX = """
import pypto_pro.language as pl


@pl.jit()
def rowmax(x: pl.Tensor[[32, 100], pl.DT_FP32], y: pl.Tensor[[32, 1], pl.DT_FP32]):
    tile = pl.TileType(shape=[32, 64], dtype=pl.DT_FP32)
    column = pl.TileType(shape=[32, 1], dtype=pl.DT_FP32, layout=pl.TensorLayout.DN)
    xs = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0, 1])
    tmp = pl.make_tile_group(type=tile, addrs=0x8000, mutex_ids=[2])
    best = pl.make_tile_group(type=column, addrs=0x10000, mutex_ids=[3])
    part = pl.make_tile_group(type=column, addrs=0x12000, mutex_ids=[4])
    with pl.section_vector():
        t = tmp.current()
        b = best.current()
        q = part.current()
        first = xs.next()
        pl.load(first, x, [0, 0])
        pl.row_max(b, first, t)
        tail = xs.next()
        pl.expands(tail, 0.0)
        pl.set_validshape(tail, [32, 36])
        pl.load(tail, x, [0, 64])
        pl.set_validshape(tail, [32, 64])
        pl.row_max(q, tail, t)
        pl.maximum(b, b, q)
        pl.store(y, b, [0, 0])
"""

CAST = """
import pypto_pro.language as pl


@pl.jit()
def casts(x: pl.Tensor[[16, 64], pl.DT_FP32], y: pl.Tensor[[16, 64], pl.DT_FP32]):
    wide = pl.TileType(shape=[16, 64], dtype=pl.DT_FP32)
    narrow = pl.TileType(shape=[16, 64], dtype=pl.DT_BF16)
    xs = pl.make_tile_group(type=wide, addrs=0x0, mutex_ids=[0])
    ns = pl.make_tile_group(type=narrow, addrs=0x8000, mutex_ids=[1])
    ys = pl.make_tile_group(type=wide, addrs=0x10000, mutex_ids=[2])
    with pl.section_vector():
        a = xs.current()
        b = ns.current()
        c = ys.current()
        pl.load(a, x, [0, 0])
        pl.cast(b, a, mode=pl.RoundMode.MODE)
        pl.cast(c, b)
        pl.store(y, c, [0, 0])
"""


def test_pre_01_of_a_kernel_names_the_tail_tile():
    kernel = support.load(ROWMAX)["rowmax"]
    x = -np.abs(RNG.standard_normal((32, 100))).astype(np.float32) - 0.5
    y = np.full((32, 1), 7, dtype=np.float32)
    kernel[None, 1](x, y)
    assert np.all(y == 0)
    c = xpto.compare(y, x.max(axis=1, keepdims=True), kernel=kernel)
    assert c.status == "DIFFERENT" and "in the tail tile, columns 64 to 99 of 100" in c.kind and "min padding" in c.kind


@pytest.mark.parametrize("mode, value, named", [("CAST_RINT", 1.015625, False), ("CAST_ROUND", 1.0234375, True)])
def test_pre_03_of_a_kernel_under_both_modes(mode, value, named):
    kernel = support.load(CAST.replace("RoundMode.MODE", f"RoundMode.{mode}"))["casts"]
    x, y = np.full((16, 64), 1.01953125, dtype=np.float32), np.zeros((16, 64), dtype=np.float32)
    kernel[None, 1](x, y)
    assert np.all(y == np.float32(value))
    c = xpto.compare(y, x.astype(np.float64), kernel=kernel, dtype="bf16")
    assert c and ("CAST_ROUND against CAST_RINT" in c.kind) == named
