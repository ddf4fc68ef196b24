"""Public cases with known answers about the automatic pipeline, with their exact numbers: ACC-02, REJ-08, REJ-09, SYN-06 to SYN-08.

The four-stage example stands for K4; its middle channel has the case's name, `p_mat`.
"""
from __future__ import annotations

import re

import numpy as np
import pytest
import support
from support import errors, load, relu_data, relu_reference, scalar_reference


def k4(*replacements: tuple[str, str]) -> str:
    return re.sub(r"\bp\b(?= = pl|[,)])", "p_mat", support.edited(*replacements)).replace("p_slot = p.next()", "p_slot = p_mat.next()")


def kernel(text: str):
    return load(text, "In[1]")["relu_matmul"]


def counts(made) -> tuple[int, int, int, int]:
    loop = made.to_json()["loops"][0]
    return len(loop["edges"]), len(loop["sites"]), len(loop["prefire"]), len(loop["drain"])


def apply_fix(text: str, fix: dict) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for e in sorted(fix["edits"], key=lambda e: (-e["line"], -e["column"])):
        at, end = starts[e["line"] - 1] + e["column"] - 1, starts[e["end"]["line"] - 1] + e["end"]["column"] - 1
        text = text[:at] + e["replacement"] + text[end:]
    return text


def values(k, **options) -> tuple[np.ndarray, object]:
    a, b, d, y = relu_data()
    run = k.launch((a, b, d, y), {}, **options)
    return y, run


# ---------------------------------------------------------------- ACC-02

@pytest.mark.parametrize("preload, delays, depth", [(1, [0, 1, 1, 2], 3), (2, [0, 1, 2, 3], 4)])
def test_acc_02_two_depths(preload, delays, depth):
    k = kernel(k4())
    made = k.compile(preload=preload)
    assert made.ok and made.to_json()["sync"]["status"] == "proven"
    loop = made.to_json()["loops"][0]
    assert [s["delay"] for s in loop["stages"]] == delays and loop["ring_depth"] == depth
    assert counts(made) == (6, 12, 6, 6)
    k.overrides = {"preload": preload}
    y, _ = values(k)
    a, b, d, _ = relu_data()
    assert np.abs(y - relu_reference(a, b, d)).max() <= 2e-6 * np.abs(relu_reference(a, b, d)).max()
    assert np.array_equal(y, scalar_reference(a, b, d))


# ---------------------------------------------------------------- REJ-08, REJ-09

def test_rej_08_too_deep_for_two_slots():
    text = k4()
    k = kernel(text)
    made = k.compile(preload=3)
    assert not made.ok
    found = errors(made)
    assert [d["code"] for d in found] == ["PTO-K41"] and "`p_mat`" in found[0]["message"] and "3 slots" in found[0]["message"]
    grown = apply_fix(text, found[0]["fix"])  # the offered edit is the third slot
    k = kernel(grown)
    made = k.compile(preload=3)
    assert made.ok and made.to_json()["sync"]["status"] == "proven"
    assert counts(made)[1:] == (12, 7, 7)
    k.overrides = {"preload": 3}
    a, b, d, _ = relu_data()
    y, run = values(k, hostile="all")
    assert run.status == "done" and np.array_equal(y, scalar_reference(a, b, d))


def two_loops(between: str = "", second=lambda loop: loop.replace("ki", "kj"), text: str = "") -> str:
    text = text or support.example_text()
    return text.rstrip() + "\n" + between + second(text[text.index("    for ki in pl.range(TASKS):"):])


BARRIER = "    pl.system.sync_all(core_type=pl.SyncCoreType.MIX)\n"


def test_rej_09_a_list_of_depths():
    k = kernel(two_loops(BARRIER))
    made = k.compile(preload=[1, 2])
    assert made.ok
    loops = made.to_json()["loops"]
    assert [loop["preload"] for loop in loops] == [1, 2] and [loop["ring_depth"] for loop in loops] == [3, 4]
    assert [[s["delay"] for s in loop["stages"]] for loop in loops] == [[0, 1, 1, 2], [0, 1, 2, 3]]
    k.overrides = {"preload": [1, 2]}
    a, b, d, _ = relu_data()
    y, _ = values(k, hostile="random")
    assert np.array_equal(y, scalar_reference(a, b, d))
    written = kernel(two_loops(BARRIER, text=support.edited(("PipelineConfig(preload=2)", "PipelineConfig(preload=[1, 2])")))).compile()
    assert written.ok and [loop["preload"] for loop in written.to_json()["loops"]] == [1, 2]


@pytest.mark.parametrize("preload", [[1], [1, 2, 3], [0, 0, 0, 0]])
def test_rej_09_a_list_that_does_not_fit_is_refused(preload):
    made = kernel(two_loops(BARRIER)).compile(preload=preload)
    assert [d["code"] for d in errors(made)] == ["PTO-K10"]
    assert f"{len(preload)} value" in errors(made)[0]["message"] and "2 pipeline loops" in errors(made)[0]["message"]


@pytest.mark.parametrize("preload", ["True", "[]", "-1", "[1, -1]", "[1, True]", "1.5"])
def test_a_depth_that_is_none_is_refused_where_it_is_written(preload):
    with pytest.raises(ValueError):
        load(support.edited(("PipelineConfig(preload=2)", f"PipelineConfig(preload={preload})")))


# ---------------------------------------------------------------- SYN-06

def forward_only() -> str:
    """Without bwd_ids anywhere, stage2 slowed by work on its own tile."""
    return support.edited((", fwd_ids=[0, 1], bwd_ids=[2, 3])", ", fwd_ids=[0, 1])"), (", fwd_ids=[4, 5], bwd_ids=[6, 7])", ", fwd_ids=[4, 5])"),
                          (", fwd_ids=[8, 9], bwd_ids=[10, 11])", ", fwd_ids=[8, 9])"),
                          ("    pl.relu(relu_slot, mm1_slot)\n", "    pl.relu(relu_slot, mm1_slot)\n" + "    pl.relu(relu_slot, relu_slot)\n" * 6))


def test_syn_06_strict_refuses_with_the_race_and_its_order():
    made = kernel(forward_only()).compile(check="strict")
    assert not made.ok
    found = {re.match(r"`(\w+)`", d["message"])[1]: d["message"] for d in errors(made) if d["code"] == "PTO-pipeline-unprotected"}
    assert set(found) == {"mm1", "p", "out"}
    assert "`stage1` of task t+2 behind `stage2` of task t" in found["mm1"]


def test_syn_06_warn_compiles_unproven_and_the_race_shows_when_run():
    k = kernel(forward_only())
    k.overrides = {"check": "warn"}
    made = k.compile()
    assert made.ok and made.text().startswith("NOT PROVEN") and made.to_json()["sync"]["status"] != "proven"
    _, run = values(k, check="warn")
    assert run.status == "race"
    assert "mm1" in run.text() and "task 2" in run.text() and "task 0" in run.text() and "AIC FIX" in run.text() and "AIV0 V" in run.text()


def test_syn_06_the_plan_marks_the_open_edges():
    made = kernel(forward_only()).compile(check="warn")
    assert made.view("sync").text().count("not enforced (!)") == 3
    assert [e["not_emitted"] for e in made.to_json()["loops"][0]["edges"] if e["kind"] == "WAR"] == ["no ids declared"] * 3


# ---------------------------------------------------------------- SYN-07

def test_syn_07_strict_names_the_place_and_offers_the_barrier():
    text = two_loops()
    made = kernel(text).compile()
    (found,) = errors(made)
    assert found["code"] == "PTO-S4" and found["line"] == support.line_of(text, "for kj in") and found["labels"][0]["line"] == support.line_of(text, "for ki in")
    assert "sync_all(core_type=pl.SyncCoreType.MIX)" in found["fix"]["edits"][0]["replacement"]
    k = kernel(apply_fix(text, found["fix"]))
    assert k.compile().ok and k.compile().to_json()["sync"]["status"] == "proven"


def test_syn_07_warn_reports_it():
    made = kernel(two_loops()).compile(check="warn")
    assert made.ok and not errors(made)
    assert any(d["code"] == "PTO-S4" and d["severity"] == "warning" for d in made.diagnostics)


def test_syn_07_loops_that_share_nothing_need_no_barrier():
    single = support.edited(("fwd_ids=[0, 1], bwd_ids=[2, 3]", "fwd_ids=[0], bwd_ids=[1]"), ("fwd_ids=[4, 5], bwd_ids=[6, 7]", "fwd_ids=[2], bwd_ids=[3]"),
                            ("fwd_ids=[8, 9], bwd_ids=[10, 11]", "fwd_ids=[4], bwd_ids=[5]"))
    declared = "\n".join(f"    {name}2 = pl.make_tile_group(type={kind}, addrs={address}, mutex_ids={mutex}, fwd_ids=[{k}], bwd_ids=[{k + 1}])"
                         for name, kind, address, mutex, k in (("mm1", "half", "0x20000", [24, 25], 6), ("p", "mat", "0x60000", [26, 27], 8), ("out", "half", "0x28000", [28, 29], 10)))
    text = two_loops(declared + "\n", lambda loop: re.sub(r"\b(mm1|p|out)(?=[,)])", r"\g<1>2", loop.replace("ki", "kj")), single)
    made = kernel(text).compile()
    assert not any(d["code"] == "PTO-S4" for d in made.diagnostics), made.text()
    together = text.replace("fwd_ids=[6], bwd_ids=[7]", "fwd_ids=[0], bwd_ids=[7]")
    assert any(d["code"] == "PTO-S4" for d in errors(kernel(together).compile()))


# ---------------------------------------------------------------- SYN-08

def shared() -> str:
    return k4(("out = pl.make_tile_group(type=half, addrs=0x10000, mutex_ids=[16, 17]", "out = pl.make_tile_group(type=half, addrs=0x0, mutex_ids=[12, 13]"))


def test_syn_08_reuse_at_preload_1():
    made = kernel(shared()).compile(preload=1)
    assert made.ok and made.to_json()["sync"]["status"] == "proven"
    assert counts(made) == (8, 14, 8, 8)
    assert sum(e.get("not_emitted") == "redundant" for e in made.to_json()["loops"][0]["edges"]) == 1
    k = kernel(shared())
    k.overrides = {"preload": 1}
    a, b, d, _ = relu_data()
    y, run = values(k, hostile="all")
    assert run.status == "done" and np.array_equal(y, scalar_reference(a, b, d))


def test_syn_08_reuse_at_preload_2():
    made = kernel(shared()).compile(preload=2)
    (found,) = errors(made)
    assert found["code"] == "PTO-K46" and "stage2" in found["message"] and "stage3" in found["message"]
    assert any("lower the preload" in a and "stop sharing" in a for a in found["advice"])


# ---------------------------------------------------------------- texts that only the live reader sees as it does

ONE_LINE = (("        with pl.section_vector():\n            stage2(", "        with pl.section_vector(): stage2("),)
FOLDED = (("        with pl.section_vector():\n            stage2(sub, mm1, relu, nz, p)",
           "        if TASKS == 5: pass\n        elif TASKS == 4:\n            with pl.section_vector():\n                stage2(sub, mm1, relu, nz, p)\n        else: pass"),)


@pytest.mark.parametrize("change", [ONE_LINE, FOLDED])
@pytest.mark.parametrize("preload", [0, 2])
def test_headers_on_one_line_compile(change, preload):
    k = kernel(support.edited(*change))
    k.overrides = {"preload": preload}
    assert k.compile().ok, k.compile().text()
    a, b, d, _ = relu_data()
    y, _ = values(k)
    assert np.array_equal(y, scalar_reference(a, b, d))


# ---------------------------------------------------------------- values that travel, where the peer's ring loses them

TRAVEL = '''
import pypto_pro.language as pl

N = 5

@pl.pipeline.stage
def first(i, sub, x, nz, p):
    z = nz.next()
    pl.load(z, x, [i * 32 + sub * 16, 0])
    d = p.next()
    pl.insert(d, z, [sub * 16, 0])

@pl.pipeline.stage
def second(p, eye, left, right, acc, ch):
    t = p.next()
    l = left.next()
    r = right.next()
    c = acc.next()
    pl.move(l, t)
    pl.move(r, eye)
    pl.matmul(c, l, r)
    d = ch.next()
    pl.move(d, c, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)

@pl.pipeline.stage
def third(i, sub, half, wide, field, rate, ch, work, y):
    t = ch.next()
    w = work.next()
    pl.add(w, t, half)
    pl.add(w, w, wide * 1.0)
    pl.add(w, w, field * 1.0)
    pl.add(w, w, rate)
    pl.store(y, w, [i * 32 + sub * 16, 0])

@pl.jit(auto_mutex=True, pipeline=pl.pipeline.PipelineConfig(preload=2))
def travel(x: pl.Tensor[[N * 32, 16], pl.DT_FP32], e: pl.Tensor[[16, 16], pl.DT_FP32], y: pl.Tensor[[N * 32, 16], pl.DT_FP32]):
    half_t = pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    nz_t = pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec, layout=pl.TensorLayout.NZ)
    mat = pl.TileType(shape=[32, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat)
    square = pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat)
    p = pl.make_tile_group(type=mat, addrs=0x0, mutex_ids=[0, 1], fwd_ids=[0, 1], bwd_ids=[2, 3])
    ch = pl.make_tile_group(type=half_t, addrs=0x0, mutex_ids=[2, 3], fwd_ids=[4, 5], bwd_ids=[6, 7])
    nz = pl.make_tile_group(type=nz_t, addrs=0x4000, mutex_ids=[4, 5])
    work = pl.make_tile_group(type=half_t, addrs=0x8000, mutex_ids=[6, 7])
    eyes = pl.make_tile_group(type=square, addrs=0x8000, mutex_ids=[8])
    left = pl.make_tile_group(type=pl.TileType(shape=[32, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[9])
    right = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Right), addrs=0x0, mutex_ids=[10])
    acc = pl.make_tile_group(type=pl.TileType(shape=[32, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[11])
    cfg = pl.struct("Cfg", f=0)
    info = pl.struct("Info", rate=0.0)
    with pl.section_cube():
        eye = eyes.next()
        pl.load(eye, e, [0, 0])
    with pl.section_vector():
        sub = pl.get_subblock_idx()
    for i in pl.range(N):
        cfg.f = i * 3
        info.rate = i * 0.25
        half = 0.5 * i
        with pl.section_vector():
            first(i, sub, x, nz, p)
        with pl.section_cube():
            second(p, eye, left, right, acc, ch)
        with pl.section_vector():
            third(i, sub, half, i * x.shape[1], cfg.f, info.rate, ch, work, y)
'''


@pytest.mark.parametrize("preload", [0, 1, 2])
def test_floats_shapes_and_fields_travel_with_their_task(preload):
    k = load(TRAVEL)["travel"]
    k.overrides = {"preload": preload}
    assert k.compile().ok, k.compile().text()
    x = np.random.default_rng(1).integers(-4, 5, (160, 16)).astype(np.float32)
    y = np.zeros_like(x)
    k.launch((x, np.eye(16, dtype=np.float32), y), {}, hostile="random")
    i = np.repeat(np.arange(5, dtype=np.float32), 32)[:, None]
    assert np.array_equal(y, x + np.float32(0.5) * i + 16 * i + 3 * i + np.float32(0.25) * i)


def test_the_fix_of_k27_makes_a_kernel_that_compiles():
    text = support.edited(("    mm1_slot = mm1.next()\n    relu_slot = relu.next()\n", "    relu_slot = relu.next()\n"), ("pl.relu(relu_slot, mm1_slot)", "pl.relu(relu_slot, mm1.next())"))
    (found,) = errors(kernel(text).compile())
    assert found["code"] == "PTO-K27" and found["line"] == support.line_of(text, "mm1.next())")
    k = kernel(apply_fix(text, found["fix"]))
    assert k.compile().ok, k.compile().text()
    a, b, d, _ = relu_data()
    y, _ = values(k)
    assert np.array_equal(y, scalar_reference(a, b, d))
