"""Sweeps: every depth right or refused with the slots it needs, text edited only where that is safe. Open case SYN-03."""
from __future__ import annotations

import importlib

import numpy as np
import pytest
import support
from support import edited, load

import xpto
from xpto import kernel_text
from xpto.errors import LaunchError

tuning = importlib.import_module("xpto.tune")

THREE = ("addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7]",
         "addrs=0x18000, mutex_ids=[14, 15, 22], fwd_ids=[4, 5, 12], bwd_ids=[6, 7, 13]")


def states(sweep):
    return {(p["preload"], *(v for _, v in p["setting"])): p["state"] for p in sweep.points}


@pytest.mark.parametrize("slots, deepest", [((), 2), ((THREE,), 3)])
def test_syn_03_each_depth_is_right_or_says_the_slots_it_needs(slots, deepest):
    kernel = load(edited(*slots))["relu_matmul"]
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(kernel, a, b, d, y, preload="1:4")
    for p in sweep.points:
        if p["preload"] <= deepest:
            assert p["state"] == "right", sweep.text()
        else:
            assert p["state"] == "refused" and p["reason"] == f"K41: p needs {p['preload']} slots"
    assert not y.any(), "a sweep writes copies"
    assert sweep.best["state"] == "right" and sweep.to_json()["status"] == "RIGHT"


def test_table_best_floor_and_advice():
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(support.kernel(), a, b, d, y, preload="0:5", slots="p:2-4")
    assert states(sweep) == {(p, str(s)): "right" if p <= s else "refused" for p in range(6) for s in (2, 3, 4)}
    j = sweep.to_json()
    assert j["settings"] == 18 and j["run"] == 12
    by_depth = {p["preload"]: p for p in j["points"] if p["state"] == "right"}
    assert [(by_depth[n]["ids"], by_depth[n]["prefire"], by_depth[n]["l1_bytes"] // 1024) for n in range(5)] == [
        (12, 6, 96), (12, 6, 96), (12, 6, 96), (14, 7, 112), (16, 8, 128)]
    assert by_depth[0]["note"] == "3 or 4 slots: same"
    right = [p["us"] for p in j["points"] if p["state"] == "right"]
    assert sweep.best["us"] <= min(right) * 1.005 and j["serial_us"] == by_depth[0]["us"] > sweep.best["us"]
    assert 0 < j["floor_us"] < sweep.best["us"] and "cycles on cube M" in j["floor_note"] and j["advice"]
    text = sweep.text()
    assert "RIGHT" in text and "<- best" in text and "floor" in text and "advice" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_times_are_those_of_a_run():
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(kernel, a, b, d, y, preload=[0, 1])
    for p in sweep.points:
        kernel.overrides = {"preload": p["preload"]}
        assert kernel.launch((a, b, d, y), {}).timeline().to_json()["us"] == p["us"]


def test_the_kernel_stays_as_it_was():
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    kernel.overrides = {"preload": 1}
    kernel[None, 1](a, b, d, y)
    before = kernel.last_run, dict(kernel.overrides), kernel.__xpto_function__
    xpto.tune(kernel, a, b, d, y, preload="0:3", slots="p:2-3", TASKS=4)
    assert (kernel.last_run, kernel.overrides, kernel.__xpto_function__) == before
    assert kernel.compile().to_json()["loops"][0]["preload"] == 1


def test_a_constant_changes_what_is_computed_from_it():
    """TASKS is in the annotations and in the loop; data come from a function of the variant's own namespace."""
    text = edited() + '''
def make():
    import numpy as np
    rng = np.random.default_rng(1)
    f = lambda *s: rng.standard_normal(s).astype(np.float32)
    return f(TASKS * TILE, TILE), f(TILE, TILE), f(TILE, TILE), np.zeros((TASKS * TILE, TILE), np.float32)
'''
    space = load(text)
    sweep = xpto.tune(space["relu_matmul"], preload="0:2", inputs=space["make"], TASKS=[1, 4, 8])
    assert set(states(sweep).values()) == {"right"} and len(sweep.points) == 9
    times = {(p["preload"], dict(p["setting"])["TASKS"]): p["us"] for p in sweep.points}
    assert times[0, "1"] < times[0, "4"] < times[0, "8"]
    assert times[1, "8"] < times[0, "8"]
    assert space["TASKS"] == 4


def test_data_that_do_not_fit_a_constant_are_said():
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(support.kernel(), a, b, d, y, preload=0, TASKS=[4, 8])
    assert states(sweep) == {(0, "4"): "right", (0, "8"): "refused"}
    assert sweep.points[1]["reason"] == "data: a axis 0 is 256 where 512 is declared"


@pytest.mark.parametrize("options, words", [
    ({"HALF": [16, 32]}, "HALF = TILE // 2 is computed; sweep what it is computed from"),
    ({"NOTHING": 3}, "NOTHING is not assigned"),
    ({"slots": "mm9:2-3"}, "mm9 is not one tile group"),
    ({"slots": "p:9"}, "no event id is left of 16"),
])
def test_what_cannot_be_rewritten_is_said(options, words):
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(support.kernel(), a, b, d, y, preload=0, **options)
    assert all(p["state"] == "refused" for p in sweep.points) and words in sweep.points[0]["reason"]
    assert sweep.best is None and sweep.to_json()["status"] == "REFUSED"


def test_new_slots_lie_where_nothing_is():
    kernel = support.kernel()
    base = kernel.compile(preload=0)
    made, _ = kernel_text.variant(kernel, {}, {"p": 3, "mm1": 3}, base.to_json()["memory"], base.native.ir())
    said = made.compile(preload=0)
    assert said.ok, said.text()
    for memory in said.to_json()["memory"]:
        spans = sorted((a, a + t["slot_bytes"]) for t in memory["tiles"] for a in t["addresses"])
        assert all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:])) and spans[-1][1] <= memory["capacity"]
    tiles = {t["name"]: t for m in said.to_json()["memory"] for t in m["tiles"]}
    ids = [i for t in tiles.values() for i in (*t["fwd_ids"], *t["bwd_ids"])]
    assert len(ids) == len(set(ids)) and len(tiles["p"]["addresses"]) == 3 and len(tiles["mm1"]["addresses"]) == 3


def test_a_point_that_computes_something_else_is_never_best(monkeypatch):
    """Outputs that differ from preload 0 in one bit."""
    right = tuning._Job.outputs

    def off(self, kernel, space, preload):
        outputs, run, made = right(self, kernel, space, preload)
        if preload == 1:
            outputs[-1] = outputs[-1].copy()
            outputs[-1][7] ^= 1
        return outputs, run, made

    monkeypatch.setattr(tuning._Job, "outputs", off)
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(support.kernel(), a, b, d, y, preload="0:2")
    assert [p["state"] for p in sweep.points] == ["right", "wrong", "right"] and sweep.points[1]["reason"] == "1 bytes differ from preload 0"
    assert sweep.best["preload"] == 2 and sweep.to_json()["status"] == "DIFFERENT"


def test_an_interrupt_keeps_what_is_done(monkeypatch):
    real, count = tuning._point, iter(range(10))

    def point(job, setting):
        if next(count) == 2:
            raise KeyboardInterrupt
        return real(job, setting)

    monkeypatch.setattr(tuning, "_point", point)
    a, b, d, y = support.relu_data()
    sweep = xpto.tune(support.kernel(), a, b, d, y, preload="0:4")
    assert len(sweep.points) == 2 and sweep.to_json()["interrupted"] and sweep.best["preload"] == 1
    assert "interrupted" in sweep.text()


def test_a_kernel_without_a_pipeline_has_no_preload():
    space = load(support.example_text("vector_add"))
    x = np.ones((64, 128), np.float16)
    with pytest.raises(LaunchError, match="no pipeline= option"):
        xpto.tune(space["vector_add"], x, x, np.zeros_like(x), preload="0:2")
    sweep = xpto.tune(space["vector_add"], x, x, np.zeros_like(x), slots="x_tiles:2-3")
    assert [p["state"] for p in sweep.points] == ["right", "right"], sweep.text()


@pytest.mark.parametrize("given, values", [("0:4", [0, 1, 2, 3, 4]), ("2-4", [2, 3, 4]), ("1,2,8", [1, 2, 8]), (3, [3]), (range(2), [0, 1]), ("0.5,2", [0.5, 2]), ("[1, 2]", [1, 2])])
def test_values_to_sweep(given, values):
    assert tuning.values_of(given) == values


def test_slot_counts():
    assert tuning.slot_counts("p:2-4,out:2,3") == {"p": [2, 3, 4], "out": [2, 3]}
    with pytest.raises(ValueError):
        tuning.slot_counts("p")
    with pytest.raises(ValueError, match="at least 1"):
        tuning.slot_counts({"p": [0]})


def test_only_definitions_run_again():
    """The user's data and launches in the same text are left alone; what is computed from a swept constant follows."""
    text = edited() + """
RUNS = []
def note(x):
    RUNS.append(x)
    return x
DATA = note("data")
SIZE = TASKS * 2
relu_matmul.seen = note("statement")
"""
    space = load(text)
    made, namespace = kernel_text.variant(space["relu_matmul"], {"TASKS": 8}, {}, [], "")
    assert space["RUNS"] == ["data", "statement"]
    assert (namespace["SIZE"], space["SIZE"], namespace["TASKS"]) == (16, 8, 8)
    assert made.compile().native.params()[0]["dims"][0]["size"] == 8 * 64


def test_slots_and_tiles_of_a_kernel_without_stages():
    """Double buffering pays, and a deeper tile of K too: four settings, each with the sums of its own order."""
    kernel = load(support.example_text("matmul"))["matmul"]
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((256, 128)).astype(np.float16), rng.standard_normal((128, 256)).astype(np.float16)
    c = np.zeros((256, 256), np.float32)
    sweep = xpto.tune(kernel, a, b, c, K_TILE=[32, 64], slots="a_l1:1-2", block_dim=2)
    assert [p["state"] for p in sweep.points] == ["right"] * 4
    time = {tuple(int(v) for _, v in p["setting"]): p["us"] for p in sweep.points}
    assert time[2, 32] < time[1, 32] and time[2, 64] < time[1, 64] and time[2, 64] < time[2, 32]
    assert dict(sweep.best["setting"]) == {"a_l1": "2", "K_TILE": "64"}
