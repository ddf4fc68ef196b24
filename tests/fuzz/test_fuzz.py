"""A few hundred generated kernels in every run; `make fuzz N=... SEED=...` goes on from there."""
from __future__ import annotations

import json

import run as fuzz


def test_laws_hold_and_enough_is_accepted(tmp_path):
    out = tmp_path / "fuzz.json"
    code = fuzz.main(["--count", "150", "--seed", "1000", "--orders", "1", "--json", str(out)])
    data = json.loads(out.read_text())
    assert code == 0, data["failures"]
    counts = data["counts"]
    assert counts["accepted"] / counts["compiled"] >= 0.4
    assert counts["runs"] >= 2 * counts["kernels"]
    for feature in ("outer loop", "several loops", "one id for many slots", "forward only", "address reuse"):
        assert data["features"].get(feature, 0) > 0, f"the generator never drew {feature}"
