"""The four-stage example: plan, values, refusals. Open cases ACC-02, ACC-03, REJ-01..05, REJ-08, SYN-06..08."""
from __future__ import annotations

import numpy as np
import pytest
import support
from support import edited, errors, kernel, line_of, load

from xpto.errors import CompileError, HazardError


@pytest.fixture(scope="module")
def example():
    return load(support.example_text())["relu_matmul"]


def loop_of(kernel, preload):
    made = kernel.compile(preload=preload)
    assert made.ok, made.text()
    return made.to_json()["loops"][0]


@pytest.mark.parametrize("preload, delays, depth", [(1, [0, 1, 1, 2], 3), (2, [0, 1, 2, 3], 4)])
def test_delays_sites_and_permits(example, preload, delays, depth):
    loop = loop_of(example, preload)
    assert [s["delay"] for s in loop["stages"]] == delays
    assert [s["section"] for s in loop["stages"]] == ["cube", "vector", "cube", "vector"]
    assert loop["ring_depth"] == depth and loop["drain_beats"] == depth - 1
    assert len(loop["edges"]) == 6
    assert len(loop["sites"]) == 12 and len(loop["prefire"]) == 6 and len(loop["drain"]) == 6


def test_serial_spellings_mean_one_thing(example):
    plans = [loop_of(example, 0)]
    plans.append(loop_of(kernel(("PipelineConfig(preload=2)", "PipelineConfig(preload=0)")), None))
    plans.append(loop_of(kernel(("PipelineConfig(preload=2)", "PipelineConfig(preload=2, sync_only=True)")), None))
    assert all([s["delay"] for s in p["stages"]] == [0, 0, 0, 0] for p in plans)
    assert all(p["edges"] == plans[0]["edges"] and len(p["sites"]) == 12 for p in plans)


@pytest.mark.parametrize("preload", [0, 1, 2])
def test_values_and_bits(example, preload):
    a, b, d, y = support.relu_data()
    example.overrides = {"preload": preload}
    example[None, 1](a, b, d, y)
    reference = support.relu_reference(a, b, d)
    assert np.abs(y - reference).max() <= 2e-6 * np.abs(reference).max()
    assert np.array_equal(y, support.scalar_reference(a, b, d))
    run = example.launch((a, b, d, y2 := np.zeros_like(y)), {}, hostile="all")
    assert run.status == "done" and np.array_equal(y, y2)


def test_proof_is_for_every_number_of_tasks(example):
    made = example.compile(preload=2)
    sync = made.to_json()["sync"]
    assert sync["status"] == "proven", made.text()
    assert "PROVEN" in made.text()


def test_renamed_identifiers_change_nothing_but_names(example):
    names = {"stage1": "hopp", "stage2": "sasa", "stage3": "tres", "stage4": "vier", "mm1": "kanal", "relu_matmul": "anders",
             "a_l1": "eingang", "b_l1": "rechts", "half_nz": "typ_n", "TILE": "KACHEL"}
    text = support.example_text()
    for old, new in names.items():
        text = text.replace(old, new)
    renamed = load(text)["anders"]
    for preload in (0, 1, 2):
        ours, theirs = loop_of(renamed, preload), loop_of(example, preload)
        assert [s["delay"] for s in ours["stages"]] == [s["delay"] for s in theirs["stages"]]
        assert [(s["where"], s["op"], s["pipe"], s["ids"]) for s in ours["sites"]] == [(s["where"], s["op"], s["pipe"], s["ids"]) for s in theirs["sites"]]


def refused(source: str, name: str = "relu_matmul", **overrides):
    made = load(source, "In[7]")[name].compile(**overrides)
    assert not made.ok, "accepted, but must be refused\n" + made.text()
    return errors(made), made


def test_rej_01_neighbours_on_one_core():
    source = edited(("        with pl.section_vector():\n            stage2(", "        with pl.section_cube():\n            stage2("))
    found, made = refused(source)
    assert found[0]["code"] == "PTO-K15" and "stage1" in made.text() and "stage2" in made.text()


def test_rej_02_stage_returns():
    source = edited(("acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)\n\n\n@pl.pipeline.stage\ndef stage2",
                     "acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)\n    return acc_slot\n\n\n@pl.pipeline.stage\ndef stage2"))
    found, _ = refused(source)
    assert found[0]["code"] == "PTO-K12" and found[0]["line"] == line_of(source, "return acc_slot")


def test_rej_03_event_id_16():
    found, _ = refused(edited(("fwd_ids=[0, 1]", "fwd_ids=[16, 1]")))
    assert found[0]["code"] == "PTO-K21" and "16" in found[0]["message"]


def test_rej_04_one_address_two_locks():
    found, made = refused(edited(("out = pl.make_tile_group(type=half, addrs=0x10000", "out = pl.make_tile_group(type=half, addrs=0x0")), preload=1)
    assert found[0]["code"] == "PTO-K40" and "12" in made.text() and "16" in made.text()


def test_rej_05_stage_under_runtime_if():
    source = edited(("d: pl.Tensor[[TILE, TILE], pl.DT_FP32],", "d: pl.Tensor[[TILE, TILE], pl.DT_FP32], n_rt: pl.DT_INT32,"),
                    ("        with pl.section_vector():\n            stage2(sub, mm1, relu, nz, p)",
                     "        if ki < n_rt:\n            with pl.section_vector():\n                stage2(sub, mm1, relu, nz, p)"))
    source = source.replace("d: pl.Tensor[[TILE, TILE], pl.DT_FP32], n_rt: pl.DT_INT32,", "d: pl.Tensor[[TILE, TILE], pl.DT_FP32],").replace(
        "y: pl.Tensor[[TASKS * TILE, TILE], pl.DT_FP32]):", "y: pl.Tensor[[TASKS * TILE, TILE], pl.DT_FP32], n_rt: pl.DT_INT32):")
    found, _ = refused(source)
    assert found[0]["code"] == "PTO-K1" and found[0]["line"] == line_of(source, "if ki < n_rt:")


def test_rej_08_too_deep_for_two_slots():
    found, made = refused(support.example_text(), preload=3)
    assert found[0]["code"] == "PTO-K41"
    assert "`p`" in found[0]["message"]
    assert "3 slots" in made.text()
    three = kernel(("addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7]",
                    "addrs=0x18000, mutex_ids=[14, 15, 22], fwd_ids=[4, 5, 12], bwd_ids=[6, 7, 13]"))
    loop = loop_of(three, 3)
    assert len(loop["sites"]) == 12 and len(loop["prefire"]) == 7 and len(loop["drain"]) == 7
    a, b, d, y = support.relu_data()
    three.overrides = {"preload": 3}
    three[None, 1](a, b, d, y)
    assert np.array_equal(y, support.scalar_reference(a, b, d))


def test_rej_09_sequence_must_fit_the_loops(example):
    made = example.compile(preload=[1, 2])
    assert not made.ok and errors(made)[0]["code"] == "PTO-K10"
    assert example.compile(preload=[1]).ok


def test_syn_08_reuse_works_only_shallow():
    source = edited(("out = pl.make_tile_group(type=half, addrs=0x10000, mutex_ids=[16, 17]", "out = pl.make_tile_group(type=half, addrs=0x0, mutex_ids=[12, 13]"))
    shallow = loop_of(load(source)["relu_matmul"], 1)
    assert len(shallow["edges"]) == 8 and len(shallow["sites"]) == 14
    assert len(shallow["prefire"]) == 8 and len(shallow["drain"]) == 8
    found, made = refused(source, preload=2)
    assert found[0]["code"] == "PTO-K46"
    assert "stage2" in made.text() and "stage3" in made.text()


def test_syn_06_forward_only_is_refused_with_the_race():
    source = edited((", fwd_ids=[0, 1], bwd_ids=[2, 3])", ", fwd_ids=[0, 1])"))
    found, made = refused(source, check="strict")
    assert "mm1" in made.text()
    warned = load(source)["relu_matmul"].compile(check="warn")
    assert warned.ok and "NOT PROVEN" in warned.text()


def test_syn_07_two_loops_need_a_barrier():
    text = support.example_text()
    loop_text = text[text.index("    for ki in pl.range(TASKS):"):]
    without = text.rstrip() + "\n" + loop_text.replace("ki", "kj")
    found, made = refused(without)
    assert any("barrier" in d["message"] or d["code"] == "PTO-S4" for d in found), made.text()
    barrier = "    pl.system.sync_all(core_type=pl.SyncCoreType.MIX)\n"
    fine = load(text.rstrip() + "\n" + barrier + loop_text.replace("ki", "kj"))["relu_matmul"].compile(preload=[1, 2])
    assert fine.ok, fine.text()
    assert [loop["ring_depth"] for loop in fine.to_json()["loops"]] == [3, 4]


def test_refusal_raises_at_launch_and_keeps_buffers(example):
    a, b, d, y = support.relu_data()
    before = y.copy()
    example.overrides = {"preload": 3}
    with pytest.raises(CompileError) as caught:
        example[None, 1](a, b, d, y)
    example.overrides = {}
    assert "PTO-K41" in str(caught.value.diagnostics) and np.array_equal(y, before)


# ---------------------------------------------------------------- the generated file, edited

def generated(example, preload=2):
    made = example.compile(preload=preload)
    assert made.ok
    return made.generated


def test_generated_text_runs_alone_and_is_a_fixed_point(example):
    text = generated(example)
    again = load(text, "pipeline_generated.py")["relu_matmul"]
    a, b, d, y = support.relu_data()
    again[None, 1](a, b, d, y)
    assert np.array_equal(y, support.scalar_reference(a, b, d))
    made = again.compile()
    assert made.ok and made.generated in ("", text)


def without_line(text: str, *needles: str) -> str:
    lines = text.splitlines(keepends=True)
    keep = [line for line in lines if not all(n in line for n in needles)]
    assert len(keep) < len(lines), f"no line holds {needles}"
    return "".join(keep)


def test_missing_wait_is_a_race(example):
    # every wait for "p ready": the cube no longer waits before it reads p
    broken = load(without_line(generated(example), "wait_cross_core", "MTE1", "_pl_fwd_ids_p"), "edited.py")["relu_matmul"]
    made = broken.compile()
    assert not made.ok or made.to_json()["sync"]["status"] != "proven"
    a, b, d, y = support.relu_data()
    broken.overrides = {"check": "warn"}
    run = broken.launch((a, b, d, y), {}, check="warn")
    assert run.status == "race" or "RACE" in run.text()
    with pytest.raises((HazardError, CompileError)):
        broken.overrides = {"check": "strict"}
        broken.launch((a, b, d, y), {})


def test_unmatched_wait_is_a_hang_with_its_reason(example):
    import time
    # the cube no longer says that out is ready: stage4 waits for ever
    text = without_line(generated(example), "set_cross_core", "_pl_fwd_ids_out")
    broken = load(text, "edited.py")["relu_matmul"]
    a, b, d, y = support.relu_data()
    broken.overrides = {"check": "warn"}
    begin = time.monotonic()
    with pytest.raises(HazardError) as caught:
        broken.launch((a, b, d, y), {}, check="warn")
    assert time.monotonic() - begin < 1.0
    assert "HANG" in str(caught.value) and "8" in str(caught.value)
    assert not y.any(), "buffers must be as they were before the launch"
