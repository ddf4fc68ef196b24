"""The JSON of a compilation is as share/xpto/schema/compile.schema.json says, for kernels that are accepted and refused."""
from __future__ import annotations

import json

import jsonschema
import pytest
import support

SCHEMA = json.loads((support.ROOT / "share/xpto/schema/compile.schema.json").read_text())


def validate(data):
    jsonschema.validate(data, SCHEMA)


@pytest.mark.parametrize("preload", [0, 1, 2, 3])
def test_accepted_and_refused(preload):
    data = support.kernel().compile(preload=preload).to_json()
    validate(data)
    assert data["ok"] == (preload < 3)
    if preload == 3:
        first = next(d for d in data["diagnostics"] if d["severity"] == "error")
        assert first["fix"]["edits"], "three slots can be given here"


def test_a_kernel_without_a_pipeline():
    data = support.load(support.example_text("vector_add"))["vector_add"].compile().to_json()
    validate(data)
    assert data["loops"] == [] and data["ok"] and data["predicted"] is None and data["not_predicted"]


def test_prediction_is_an_estimate_and_says_so():
    data = support.kernel().compile(preload=2).to_json()
    p = data["predicted"]
    assert p["us"] > 0 and p["estimated"] and p["serial_cycles"] > p["cycles"]


def test_applying_the_fix_makes_the_kernel_compile():
    source = support.example_text()
    made = support.load(source)["relu_matmul"].compile(preload=3)
    edits = next(d for d in made.diagnostics if d["code"] == "PTO-K41")["fix"]["edits"]
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for e in sorted(edits, key=lambda e: (-e["line"], -e["column"])):
        begin = starts[e["line"] - 1] + e["column"] - 1
        end = starts[e["end"]["line"] - 1] + e["end"]["column"] - 1
        source = source[:begin] + e["replacement"] + source[end:]
    again = support.load(source)["relu_matmul"].compile(preload=3)
    assert again.ok, again.text()
    a, b, d, y = support.relu_data()
    kernel = again.kernel
    kernel.overrides = {"preload": 3}
    kernel[None, 1](a, b, d, y)
    import numpy as np
    assert np.array_equal(y, support.scalar_reference(a, b, d))
