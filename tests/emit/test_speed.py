"""Attention: right on the simulator, compiles as C++, and what emission and a cache hit cost (printed; the assertion is far above any machine's noise)."""
from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import pytest

import checking
import support
from xpto import builds

SOURCE = (Path(__file__).parent / "attention.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def kernel():
    return support.load(SOURCE)["attention"]


def median_ms(work, runs: int = 31) -> float:
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times)


def test_it_is_attention(kernel) -> None:
    rng = np.random.default_rng(3)
    q = rng.standard_normal((64, 64), dtype=np.float32)
    k, v = (rng.standard_normal((256, 64), dtype=np.float32) for _ in range(2))
    y = np.zeros((64, 64), dtype=np.float32)
    kernel[None, 1](q, k, v, y)
    s = 0.125 * q.astype(np.float64) @ k.T
    w = np.exp(s - s.max(axis=1, keepdims=True))
    assert np.abs(y - w @ v / w.sum(axis=1, keepdims=True)).max() < 2e-6


@pytest.mark.skipif(not checking.COMPILER, reason="no C++ compiler (g++ or clang++) is on PATH")
def test_it_compiles(kernel, tmp_path: Path) -> None:
    (tmp_path / "attention").mkdir()
    (tmp_path / "attention/kernel.cpp").write_text(kernel.compile().native.emitted()["files"]["kernel.cpp"])
    for side in ("CUBE", "VEC"):
        assert checking.errors(tmp_path, [tmp_path / "attention/kernel.cpp"], side, [f"-I{checking.DECLARED}"]) == {}


def test_emission_and_cache_hit(kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPTO_CACHE", str(tmp_path))
    monkeypatch.delenv("XPTO_CACHE_DIR", raising=False)
    made = kernel.compile()
    emit = median_ms(made.native.emitted)
    first = made.folder
    hit = median_ms(lambda: made.folder)
    assert made.folder == first and len(list(builds.root().glob("kernels/*"))) == 1
    print(f"\nattention: {len(made.native.emitted()['files']['kernel.cpp'].splitlines())} lines of C++ in {emit:.2f} ms, cache hit in {hit:.2f} ms")
    assert emit < 20 and hit < 40  # goals are 1 and 2 ms on an idle core; a test machine may be busy
