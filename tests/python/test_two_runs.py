"""Two runs of a kernel drawn on one axis."""
from __future__ import annotations

import support

from xpto.profile import profile, with_comparison


def test_the_second_run_is_compared_with_the_first():
    a, b, d, out = support.relu_data()
    serial = support.load(support.example_text())["relu_matmul"]
    serial.overrides["preload"] = 0
    before = profile(serial, a, b, d, out).to_json()
    piped = support.load(support.example_text())["relu_matmul"]
    view = with_comparison(profile(piped, a, b, d, out), before)
    first = view.text().splitlines()[0]
    assert first.startswith("PREDICTED  relu_matmul: preload 0") and "-> preload 2" in first and "(−" in first
    data = view.to_json()
    assert data["against"]["total"] == data["total"] - before["total"] < 0
    assert {s["name"] for s in data["against"]["stages"]} == {"stage1", "stage2", "stage3", "stage4"}
    assert "two runs of relu_matmul" in __import__("base64").b64decode(view._repr_mimebundle_()["text/html"].split("base64,")[1].split('"')[0]).decode()
