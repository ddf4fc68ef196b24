"""The devices notebook runs unchanged on each place: only the word in its first cell differs."""
from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from conftest import BUILD, FAKE, LIBRARY, ROOT
from xpto import host_build

sys.path.insert(0, str(ROOT / "tests/notebooks"))
pytestmark = pytest.mark.skipif(not (BUILD / "share/jupyter/kernels/xpto/kernel.json").is_file(), reason="the Jupyter kernel was not built")


def shown_on(device: str, folder: Path):
    from execution import Shown, execute
    book = json.loads((ROOT / "notebooks/04_devices.ipynb").read_text(encoding="utf-8"))
    changed = [c for c in book["cells"] if c["source"] and c["source"][0] == 'DEVICE = "sim"\n']
    assert len(changed) == 1
    changed[0]["source"][0] = f'DEVICE = "{device}"\n'
    path = folder / "devices.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    return Shown(execute(path))


@pytest.mark.skipif(bool(host_build.missing()), reason="host C++ is not run: " + "; ".join(host_build.missing()))
def test_on_host(tmp_path, monkeypatch, cache):
    monkeypatch.setenv("XPTO_CACHE_DIR", str(cache))
    shown = shown_on("host", tmp_path)
    assert not any(cell.failed for cell in shown.cells)
    spec = importlib.util.spec_from_file_location("expected_devices", ROOT / "tests/notebooks/expected/04_devices.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.check(shown, "en")


def test_on_a_card_that_is_not_there(tmp_path):
    """Choosing it is refused in words, and the rest runs where kernels ran before."""
    shown = shown_on("npu:0", tmp_path)
    assert [cell.failed for cell in shown.cells] == [True] + [False] * (len(shown.cells) - 1)
    assert "npu:0 cannot be chosen, nothing was changed" in shown.cells[0].text and "set_env.sh" in shown.cells[0].text
    assert "simulator" in shown.cell("scaled_matmul[None, 1](a, b, 0.5, y)").text


def test_on_a_card_that_is_played(tmp_path, monkeypatch, cache):
    """Every call goes to the card; its values are canned and said to be."""
    toolkit = tmp_path / "toolkit/lib64"
    toolkit.mkdir(parents=True)
    for name, value in (("ASCEND_HOME_PATH", toolkit.parent), ("XPTO_RUNTIME", LIBRARY), ("XPTO_CACHE_DIR", cache), ("XPTO_FAKE_LOG", tmp_path / "log"),
                        ("PATH", f"{FAKE}:{os.environ['PATH']}")):
        monkeypatch.setenv(name, str(value))
    shown = shown_on("npu:0", tmp_path)
    assert "kernels run on npu:0" in shown.cells[0].text
    launched = shown.cell("scaled_matmul[None, 1](a, b, 0.5, y)").text
    assert "fake runtime" in launched and "values are canned" in launched and "never on hardware" in launched
    log = (tmp_path / "log").read_text().splitlines()
    assert sum(line.startswith("launch 1") for line in log) == 2 and log[-1] == "finalize"
