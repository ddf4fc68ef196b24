"""Places to run beside the simulator. A card is played by a library of ours (tests/support/fake_runtime); the host needs PTO-ISA's headers."""
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
FAKE = ROOT / "tests/support/fake_runtime"
LIBRARY = BUILD / "tests/support/fake_runtime/libxpto_fake_ascendcl.so"
sys.path.insert(0, str(ROOT / "tests/python"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@dataclass
class Card:
    """The played card: what it does, and what it was asked."""
    monkeypatch: pytest.MonkeyPatch
    log_file: Path

    def plays(self, what: str) -> None:
        self.monkeypatch.setenv("XPTO_FAKE_DEVICE", what)

    def log(self) -> list[str]:
        """The protocol, without the compiler's lines."""
        return [line for line in self.lines() if not line.startswith("compile ")]

    def lines(self) -> list[str]:
        return self.log_file.read_text(encoding="utf-8").splitlines() if self.log_file.is_file() else []

    def forget(self) -> None:
        self.log_file.unlink(missing_ok=True)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> Iterator[Card]:
    from xpto import config, places
    home = tmp_path / "toolkit"
    (home / "lib64").mkdir(parents=True)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.delenv("ASCEND_TOOLKIT_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{FAKE}:{os.environ['PATH']}")
    monkeypatch.setenv("XPTO_RUNTIME", str(LIBRARY))
    monkeypatch.setenv("XPTO_CACHE_DIR", str(cache))
    monkeypatch.setenv("XPTO_FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("XPTO_FAKE_DEVICE", raising=False)
    places.restart()
    yield Card(monkeypatch, tmp_path / "log")
    places.restart()
    config.values["device"] = "sim"


@pytest.fixture(scope="session")
def copy_kernel() -> Any:
    import support
    return support.load(COPY)["copy"]


COPY = '''
import pypto_pro.language as pl

@pl.jit(auto_mutex=True)
def copy(x: pl.Tensor[[32, 32], pl.DT_FP32], y: pl.Tensor[[32, 32], pl.DT_FP32]):
    tile = pl.TileType(shape=[32, 32], dtype=pl.DT_FP32)
    t = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        a = t.next()
        pl.load(a, x, [0, 0])
        pl.store(y, a, [0, 0])
'''
