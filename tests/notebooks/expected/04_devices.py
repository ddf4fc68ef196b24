"""What the devices notebook promises: one set of cells for every place, and words where a place is missing."""
from __future__ import annotations

from typing import Any


def check(shown: Any, language: str) -> None:
    where = shown.cell("DEVICE =").text.removeprefix("kernels run on ").strip()
    assert where in ("sim", "host")
    launched = shown.cell("scaled_matmul[None, 1](a, b, 0.5, y)").text
    assert shown.number("scaled_matmul[None, 1](a, b, 0.5, y)", r"largest error ([\d.e-]+)") < 1e-4
    assert ("simulator" if where == "sim" else "host C++") in launched
    assert shown.cell("%pto_check y reference").text.startswith("MATCH")

    places = shown.cell("for device in (").text
    assert "sim: done, same bits as on sim: True" in places
    assert "host: done, same bits as on sim: True" in places or "host: host cannot be chosen, nothing was changed" in places
    assert "npu:0: npu:0 cannot be chosen, nothing was changed" in places and "the simulator still works" in places
    assert "set_env.sh" in places and "bisheng" in places
    listed = shown.cells[-1].text
    assert f"* {where}" in listed and "npu:0   not usable" in listed
