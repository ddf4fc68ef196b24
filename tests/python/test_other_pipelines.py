"""The figures of the four-stage example for kernels that share no text with it: other lengths, starting cores, slots, bounds."""
from __future__ import annotations

import sys

import numpy as np
import pytest
import support

sys.path.insert(0, str(support.ROOT / "tests" / "fuzz"))
from generate import generate  # noqa: E402


def delays(stages: int, preload: int) -> list[int]:
    return [0] * stages if preload == 0 else [(k // 2) * preload + k % 2 for k in range(stages)]


def find(stages: int, vector_first: bool, slots: int, runtime: bool):
    for seed in range(20_000):
        fuzz = generate(seed)
        loop = fuzz.loops[0]
        if (len(fuzz.loops) == 1 and len(loop.stages) == stages and loop.stages[0].cube != vector_first and loop.runtime_bound == runtime
                and loop.trips >= 3 and not fuzz.features & {"forward only", "address reuse"}
                and all(2 <= c.slots <= slots for c in loop.channels) and any(c.slots == slots for c in loop.channels)):
            return fuzz
    raise AssertionError("no such kernel is drawn")


@pytest.mark.parametrize("stages, vector_first, slots, runtime", [(5, True, 3, True), (3, False, 2, False)])
def test_delays_proof_and_bits(stages, vector_first, slots, runtime):
    fuzz = find(stages, vector_first, slots, runtime)
    kernel = support.load(fuzz.source)[fuzz.name]
    bounds = [loop.start + loop.trips * loop.step for loop in fuzz.loops if loop.runtime_bound]
    for preload in (0, 1, 2):
        made = kernel.compile(preload=preload)
        assert made.ok, made.text()
        data = made.to_json()
        loop = data["loops"][0]
        assert [s["delay"] for s in loop["stages"]] == delays(stages, preload)
        assert loop["ring_depth"] == max(delays(stages, preload)) + 1
        assert loop["stages"][0]["section"] == ("vector" if vector_first else "cube")
        assert len(loop["sites"]) == 4 * (stages - 1), "a wait and a set each way for every channel"
        permits = sum(c.slots for c in fuzz.loops[0].channels)
        assert len(loop["prefire"]) == permits and len(loop["drain"]) == permits
        assert data["sync"]["status"] == "proven", made.text()
        kernel.overrides = {"preload": preload}
        x, m, y = fuzz.inputs()
        run = kernel.launch((x, m, y, *bounds), {}, hostile="all")
        assert run.status == "done" and np.array_equal(y, fuzz.reference())
