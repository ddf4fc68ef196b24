"""xpto profile and xpto tune: their JSON is as the schemas say, their exit codes as the other commands'."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
EXAMPLE = ROOT / "share/xpto/examples/relu_matmul.py"
SCHEMAS = ROOT / "share/xpto/schema"


def xpto(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "JUPYTER_PATH")}
    return subprocess.run([str(BUILD / "bin/xpto"), *map(str, arguments)], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def validated(done: subprocess.CompletedProcess[str], schema: str) -> dict:
    import jsonschema
    data = json.loads(done.stdout)
    jsonschema.validate(data, json.loads((SCHEMAS / schema).read_text()))
    return data


def test_profile(tmp_path: Path) -> None:
    done = xpto("profile", EXAMPLE, "--json", "--trace", tmp_path / "t.json")
    assert done.returncode == 0, done.stderr
    data = validated(done, "profile.schema.json")
    assert [s["name"] for s in data["stages"]] == ["stage1", "stage2", "stage3", "stage4"] and data["tasks"] == 4
    trace = json.loads((tmp_path / "t.json").read_text())
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(slices) == sum(len(lane["slices"]) for lane in data["lanes"])
    assert max(e["ts"] + e["dur"] for e in slices) <= data["us"] * (1 + 1e-9)
    assert data["bound"]["text"] and sum(c["ticks"] for c in data["critical_shares"]) == data["total"]
    assert 0 < data["plan_period"]["ticks"] and data["plan_period"]["cycle"]
    asked = {c["change"] for group in data["what_if"] for c in group["changes"]}
    assert any(c.endswith(" slots of p") for c in asked) and "preload 1" in asked  # 3 needs more slots
    (tmp_path / "then.json").write_text(done.stdout)
    compared = xpto("profile", EXAMPLE, "--preload", "0", "--against", tmp_path / "then.json", "--json")
    assert compared.returncode == 0, compared.stderr
    c = validated(compared, "profile.schema.json")["against"]
    assert c["total"] == json.loads(compared.stdout)["total"] - data["total"] > 0 and {s["name"] for s in c["stages"]} == {"stage1", "stage2", "stage3", "stage4"}
    assert "against relu_matmul preload 2:" in xpto("profile", EXAMPLE, "--preload", "0", "--against", tmp_path / "then.json").stdout
    text = xpto("profile", EXAMPLE, "--preload", "0")
    assert text.returncode == 0 and text.stdout.startswith("PREDICTED  relu_matmul preload 0")


def test_tune() -> None:
    done = xpto("tune", EXAMPLE, "--kernel", "relu_matmul", "--preload", "0:4", "--slots", "p:2-3", "--json")
    assert done.returncode == 0, done.stderr
    data = validated(done, "tune.schema.json")
    assert data["status"] == "RIGHT" and data["settings"] == 10 and data["points"][data["best"]]["state"] == "right"
    refused = [p for p in data["points"] if p["state"] == "refused"]
    assert {p["reason"] for p in refused} == {"K41: p needs 3 slots", "K41: p needs 4 slots"}
    text = xpto("tune", EXAMPLE, "--preload", "0:2")
    assert text.returncode == 0 and "<- best" in text.stdout and all(len(line) <= 100 for line in text.stdout.splitlines())


def test_inputs_of_the_file(tmp_path: Path) -> None:
    """A file with dynamic shapes says what its data are; constants then change them too."""
    file = tmp_path / "sized.py"
    text = EXAMPLE.read_text().split('if __name__ == "__main__":')[0]
    file.write_text(text + '''
def xpto_inputs():
    import numpy as np
    rng = np.random.default_rng(3)
    f = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    return f(TASKS * TILE, TILE), f(TILE, TILE), f(TILE, TILE), np.zeros((TASKS * TILE, TILE), np.float32)
''')
    done = xpto("tune", file, "TASKS=2,4", "--preload", "0:1", "--json")
    assert done.returncode == 0, done.stderr
    data = validated(done, "tune.schema.json")
    assert [(dict(p["setting"])["TASKS"], p["state"]) for p in data["points"]] == [("2", "right"), ("2", "right"), ("4", "right"), ("4", "right")]
    times = [p["us"] for p in data["points"]]
    assert times[0] < times[2] and times[1] < times[3]


@pytest.mark.parametrize("arguments, words", [
    (("tune", EXAMPLE, "--kernel", "nothing"), "it has relu_matmul"),
    (("tune", "no_such_file.py"), "no file"),
    (("tune", EXAMPLE, "--preload", "4:1"), "ends before it begins"),
    (("profile", ROOT / "share/xpto/examples/matmul.py"), "define xpto_inputs()"),
    (("profile", ROOT / "share/xpto/examples/vector_add.py", "--preload", "1"), "no pipeline= option"),
])
def test_wrong_usage(arguments: tuple[object, ...], words: str) -> None:
    done = xpto(*arguments)
    assert done.returncode == 2 and words in done.stderr, (done.stdout, done.stderr)


def test_a_refused_kernel(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(EXAMPLE.read_text().replace("fwd_ids=[0, 1]", "fwd_ids=[16, 1]"))
    for command in ("tune", "profile"):
        done = xpto(command, file)
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert "K21" in done.stdout + done.stderr
