"""docs/tour.md shows the product's own output; this keeps it true."""
from __future__ import annotations

import os
import re

import numpy as np
import support

TOUR = support.ROOT / "docs" / "tour.md"
_BLOCK = re.compile(r"<!-- tour: (?P<key>[\w-]+) -->\n```text\n(?P<text>.*?)```\n", re.S)


def _between(text: str, begin: str, end: str, limit: int) -> str:
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if begin in line)
    last = next((i for i in range(first + 1, len(lines)) if end in lines[i]), len(lines))
    return "\n".join(line.rstrip() for line in lines[first:min(last + 1, first + limit)])


def _outputs() -> dict[str, str]:
    kernel = support.load(support.example_text(), "relu_matmul.py")["relu_matmul"]
    made = kernel.compile(preload=2)
    assert made.ok, made.text()
    kernel.overrides = {"preload": 2}
    a, b, d, y = support.relu_data()
    run = kernel.launch((a, b, d, y), {}, hostile="all")
    assert np.array_equal(y, support.scalar_reference(a, b, d))
    serial = kernel.compile(preload=0)
    return {
        "ir-stage1": _between(serial.native.ir(), "stage stage1", "}", 30),
        "sync": made.view("sync").text(),
        "generated-loop": _between(made.generated, "for ki in pl.range", "_pl_task_id = _pl_task_id + 1", 60),
        "memory": made.view("memory").text(),
        "proof": made.to_json()["sync"]["summary"] + "\n" + made.to_json()["sync"]["coverage"],
        "run": run.text(),
        "timeline": run.timeline().text(),
        "cpp": _between(made.view("cpp").text(), "{ // stage stage3", "TMATMUL", 40),
    }


def test_every_block_of_the_tour_is_what_the_product_prints():
    outputs = _outputs()
    text = TOUR.read_text(encoding="utf-8")
    keys = [m.group("key") for m in _BLOCK.finditer(text)]
    assert sorted(keys) == sorted(outputs), "the page shows other blocks than this test makes"
    expected = _BLOCK.sub(lambda m: f"<!-- tour: {m.group('key')} -->\n```text\n{outputs[m.group('key')].rstrip()}\n```\n", text)
    if os.environ.get("XPTO_UPDATE"):
        TOUR.write_text(expected, encoding="utf-8")
        return
    for mine, theirs in zip(_BLOCK.finditer(text), _BLOCK.finditer(expected)):
        assert mine.group("text") == theirs.group("text"), f"block {mine.group('key')} of docs/tour.md is out of date"
