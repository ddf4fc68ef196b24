"""Where kernels run, kernels from text, the timeline of a run. Open cases ENV-01 and ENV-05."""
from __future__ import annotations


import numpy as np
import pytest
import support

import xpto
from xpto import config
from xpto.errors import LaunchError

COUNTED = '''
import pypto_pro.language as pl


@pl.jit()
def counted(n: pl.Tensor[[8], pl.DT_INT32], x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32]):
    tile = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)
    xs = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0, 1])
    ys = pl.make_tile_group(type=tile, addrs=0x8000, mutex_ids=[2, 3])
    with pl.section_vector():
        count = pl.getval(n, 0)
        for i in pl.range(count):
            a = xs.next()
            b = ys.next()
            pl.load(a, x, [0, 0])
            pl.add(b, a, a)
            pl.system.bar_mte3()
            pl.store(y, b, [0, 0])
'''


def test_load_gives_kernels_and_names_the_text():
    space = xpto.load(support.example_text(), "copy.py")
    a, b, d, y = support.relu_data()
    space["relu_matmul"][None, 1](a, b, d, y)
    assert np.array_equal(y, support.scalar_reference(a, b, d))
    refused = xpto.load(support.edited(("fwd_ids=[0, 1]", "fwd_ids=[16, 1]")), "copy.py")["relu_matmul"].compile()
    assert not refused.ok and refused.diagnostics[0]["file"] == "copy.py"
    assert "SystemExit" not in space and space["__name__"] != "__main__"


def test_env_01_a_missing_toolkit_is_said_and_the_simulator_stays(monkeypatch):
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    monkeypatch.delenv("ASCEND_TOOLKIT_HOME", raising=False)
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    with pytest.raises(LaunchError, match="set_env.sh") as caught:
        kernel.launch((a, b, d, y), {}, device="npu:0")
    assert "kernelspec" in str(caught.value) and not y.any(), "a run elsewhere must not fall back silently"
    with pytest.raises(LaunchError, match="simulator still works"):
        config.set_value("device", "npu:3")
    assert config.values["device"] == "sim"
    kernel[None, 1](a, b, d, y)
    assert y.any()
    rows = {r["device"]: r for r in xpto.devices()}
    assert rows["sim"]["usable"] and not rows["host"]["usable"] and rows["host"]["missing"]
    with pytest.raises(LaunchError, match="sim, host or npu:N"):
        config.set_value("device", "gpu")


def test_env_05_zeroed_inputs_are_not_fast():
    kernel = xpto.load(COUNTED)["counted"]
    zeros = np.zeros(8, np.int32), np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    quiet = xpto.profile(kernel, *zeros)
    assert quiet.text().startswith("WARNED") and "inputs' doing, not speed" in quiet.text()
    assert quiet.to_json()["warnings"]
    real = np.full(8, 5, np.int32), np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    busy = xpto.profile(kernel, *real)
    assert "warnings" not in busy.to_json() and busy.to_json()["us"] > 10 * quiet.to_json()["us"]


def test_zeros_without_a_data_dependent_loop_need_no_warning():
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    assert "warnings" not in xpto.profile(kernel, np.zeros_like(a), np.zeros_like(b), np.zeros_like(d), y).to_json()


def test_without_data_the_prediction_of_the_compiler():
    kernel = support.kernel()
    a, b, d, y = support.relu_data()
    assert xpto.profile(kernel).to_json()["us"] == xpto.profile(kernel, a, b, d, y).to_json()["us"]
