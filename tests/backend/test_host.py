"""Generated C++ compiled by this machine's compiler and run: values against the simulator, waits that matter, what is refused in which words."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import support

import host_programs
from conftest import ROOT
from xpto import config, host_build, places
from xpto.errors import HazardError, LaunchError

MISSING = host_build.missing()
needs_headers = pytest.mark.skipif(bool(MISSING), reason="host C++ is not run: " + "; ".join(MISSING))


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path):
    monkeypatch.setenv("XPTO_CACHE_DIR", str(cache))
    places.restart()
    yield
    places.restart()
    config.values["device"] = "sim"


def notebook_kernel() -> Any:
    book = json.loads((ROOT / "notebooks/04_devices.ipynb").read_text(encoding="utf-8"))
    text = next("".join(c["source"]) for c in book["cells"] if "def scaled_matmul" in "".join(c["source"]))
    return support.load(text.split("\n", 1)[1])["scaled_matmul"]


def scaled_data() -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.standard_normal((256, 64), dtype=np.float32), rng.standard_normal((64, 64), dtype=np.float32), 0.5, np.zeros((256, 64), np.float32)


# ------------------------------------------------------------------ values

@needs_headers
@pytest.mark.parametrize("family", ["fp32", "cast_fp32_fp16", "rows_fp32", "compare_fp16"])
def test_generated_programs_give_the_simulators_values(family):
    """A few; host_programs.py --count runs as many as wanted of all families."""
    chosen = next(f for f in host_programs.FAMILIES if f.name == family)
    assert host_programs.run(host_programs.generate(chosen, 12, seed=1), support.load) == []


@needs_headers
def test_four_stages_on_three_cores_give_the_simulators_bits():
    kernel, data = support.kernel(), support.relu_data()
    run = kernel.launch(data, {}, device="host")
    expected = np.zeros_like(data[-1])
    kernel.launch((*data[:-1], expected), {})
    assert np.array_equal(data[-1], expected) and run.cores == 3
    assert "host C++ (" in run.computed_by and "PTO-ISA headers" in run.computed_by and run.to_json()["checked_by"] == []


@needs_headers
def test_matmul_of_halves_on_two_blocks():
    kernel = support.load(support.example_text("matmul"))["matmul"]
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((256, 128)).astype(np.float16), rng.standard_normal((128, 256)).astype(np.float16)
    host, sim = np.zeros((256, 256), np.float32), np.zeros((256, 256), np.float32)
    kernel.launch((a, b, host), {}, block_dim=2, device="host")
    kernel.launch((a, b, sim), {}, block_dim=2)
    assert np.array_equal(host, sim)


@needs_headers
def test_movements_give_the_simulators_bits():
    """A few; host_programs.py --movements runs all. Built together: each kernel is one or two small compilations."""
    from concurrent.futures import ThreadPoolExecutor
    import movement_programs as programs
    chosen = [m for m in programs.MOVEMENTS if m.name in ("transposed", "whole_numbers", "added", "scaled_to_int8", "columns_split_relu")]
    kernels = [support.load(programs.text(m))[m.name] for m in chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(host_build.build, [k.compile().native.emitted() for k in kernels]))
    wrong = []
    for movement, kernel in zip(chosen, kernels):
        a, b, out = programs.data(movement)
        expected = out.copy()
        kernel.launch((a, b, expected), {})
        kernel.launch((a, b, out), {}, device="host")
        if not np.array_equal(out, expected):
            wrong.append((movement.name, int((out != expected).sum()), out.flat[0], expected.flat[0]))
        assert (expected != 3).any(), movement.name
    assert wrong == []


@pytest.mark.parametrize("name", ["rows_split_relu", "columns_split_relu"])
def test_the_simulator_applies_relu_to_both_halves_of_a_split_move(name):
    import movement_programs as programs
    movement = next(m for m in programs.MOVEMENTS if m.name == name)
    a, b, out = programs.data(movement)
    support.load(programs.text(movement))[name].launch((a, b, out), {})
    expected = 2 * np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    assert np.abs(out - expected).max() < 1e-3 and (expected == 0).any()


@needs_headers
def test_registers_give_the_simulators_bits():
    import register_programs
    kernel = support.load(register_programs.text())["registers"]
    x, y, n = register_programs.data(8)
    host, sim = (np.zeros((len(register_programs.EXPRESSIONS), 64), np.float32) for _ in range(2))
    kernel.launch((x, y, n, sim), {})
    kernel.launch((x, y, n, host), {}, device="host")
    wrong = [e for e, a, b in zip(register_programs.EXPRESSIONS, sim, host) if not np.array_equal(a.view(np.int32), b.view(np.int32))]
    assert wrong == [] and sim.any(axis=1).all()


# ------------------------------------------------------------------ waits

def edited(kernel: Any, old: str, new: str, count: int = 1) -> Any:
    """The kernel's compilation with an edit of its generated C++."""
    compiled = kernel.compile()
    emitted = compiled.native.emitted()
    text = emitted["files"]["kernel.cpp"]
    assert old in text
    emitted["files"] = {**emitted["files"], "kernel.cpp": text.replace(old, new, count)}
    return SimpleNamespace(native=SimpleNamespace(emitted=lambda: emitted, params=compiled.native.params))


def launch_edited(kernel: Any, compiled: Any, data: tuple) -> Any:
    from xpto import arguments
    converted = arguments.convert(kernel.__name__, compiled.native.params(), list(data))
    return places.place("host").launch(kernel, compiled, list(data), converted, 1)


@needs_headers
def test_a_set_that_never_comes_is_a_hang_with_names():
    kernel, data = notebook_kernel(), scaled_data()
    with pytest.raises(HazardError) as caught:
        launch_edited(kernel, edited(kernel, "set_intra_block(PIPE_FIX, 0);", "", 9), data)
    assert "AIV0 of block 0 waits for cross-core id 0" in str(caught.value) and "AIC of block 0 waits" in str(caught.value)
    assert not data[-1].any()
    assert kernel.launch(data, {}, device="host").status == "done"  # a new process


@pytest.fixture(scope="module")
def watched_worker(tmp_path_factory: pytest.TempPathFactory) -> str:
    """xpto-worker under ThreadSanitizer."""
    out = tmp_path_factory.mktemp("tsan") / "xpto-worker"
    sources = [str(p) for p in sorted((ROOT / "engine/backend").glob("*.cpp"))]
    done = subprocess.run(["g++", "-std=c++20", "-O1", "-g", "-fsanitize=thread", "-DXPTO_WITHOUT_LANES", f"-I{ROOT}", *sources, "-o", str(out), "-ldl", "-lpthread"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"ThreadSanitizer cannot be linked here: {done.stderr.strip().splitlines()[-1]}")
    return str(out)


def attention() -> tuple[Any, tuple]:
    rng = np.random.default_rng(6)
    q, k, v = (rng.standard_normal(shape, dtype=np.float32) for shape in ((64, 64), (256, 64), (256, 64)))
    return support.load((ROOT / "tests/emit/attention.py").read_text(encoding="utf-8"))["attention"], (q, k, v, np.zeros((64, 64), np.float32))


# name -> the kernel with its data, and a wait between cores that its values depend on
WATCHED = {
    "scaled_matmul": (lambda: (notebook_kernel(), scaled_data()), "wait_intra_block(PIPE_V, 0);"),                 # the vector cores read before the cube wrote
    "relu_matmul": (lambda: (support.kernel(), support.relu_data()), "wait_intra_block(PIPE_V, ("),                # the same, in a pipeline of four stages
    "attention": (attention, "wait_intra_block(PIPE_V, ("),                                                        # scores are read before they are there
}


@pytest.fixture(scope="module")
def watched_flags(tmp_path_factory: pytest.TempPathFactory) -> str:
    return " ".join(host_programs.precompiled(tmp_path_factory.mktemp("headers"), ("-O0", "-g1", "-fsanitize=thread")))


@needs_headers
@pytest.mark.parametrize("name", WATCHED)
def test_thread_sanitizer_sees_the_wait_that_is_missing(name, watched_worker, watched_flags, monkeypatch):
    """As it is, the sanitizer has nothing to say; with one wait between cube and vector core removed it reports a data race."""
    monkeypatch.setenv("XPTO_WORKER", watched_worker)
    monkeypatch.setenv("XPTO_HOST_CXXFLAGS", watched_flags)
    monkeypatch.setenv("TSAN_OPTIONS", "exitcode=0")
    make, wait = WATCHED[name]
    kernel, data = make()
    run = launch_edited(kernel, kernel.compile(), data)
    if "unexpected memory mapping" in run.printed:
        pytest.skip("ThreadSanitizer does not run on this machine's memory layout")
    assert "ThreadSanitizer" not in run.printed, run.printed[:2000]
    run = launch_edited(kernel, edited(kernel, wait, "// " + wait), data)
    assert "ThreadSanitizer: data race" in run.printed, run.printed[:2000]


# ------------------------------------------------------------------ failures

@needs_headers
def test_a_crash_of_the_kernel_is_not_the_sessions():
    kernel, data = notebook_kernel(), scaled_data()
    with pytest.raises(LaunchError, match=r"crashed on host \(signal 11 \(SIGSEGV\)\) before it was done"):
        launch_edited(kernel, edited(kernel, "TMATMUL(", "*(volatile int*)8 = 0; TMATMUL("), data)
    assert not data[-1].any() and kernel.launch(data, {}, device="host").status == "done"


@needs_headers
def test_an_interrupt_ends_the_process_and_changes_nothing():
    kernel, data = notebook_kernel(), scaled_data()
    endless = edited(kernel, "TMATMUL(", "for (volatile int spin = 1; spin;) {} TMATMUL(")
    host_build.build(endless.native.emitted())  # compiled before the clock starts
    threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            launch_edited(kernel, endless, data)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not data[-1].any() and places.place("host")._worker is None


@needs_headers
def test_a_timeout(monkeypatch):
    monkeypatch.setitem(config.values, "timeout", "0.5")
    kernel, data = notebook_kernel(), scaled_data()
    with pytest.raises(LaunchError, match="did not finish on host in 0.5 s"):
        launch_edited(kernel, edited(kernel, "TMATMUL(", "for (volatile int spin = 1; spin;) {} TMATMUL("), data)


@needs_headers
def test_the_compilers_words_are_shown():
    kernel, data = notebook_kernel(), scaled_data()
    with pytest.raises(LaunchError, match="the host's compiler refuses the generated C\\+\\+"):
        launch_edited(kernel, edited(kernel, "TMATMUL(", "TNOTHING("), data)


@needs_headers
def test_a_second_launch_compiles_nothing_and_takes_milliseconds():
    kernel, data = notebook_kernel(), scaled_data()
    kernel.launch(data, {}, device="host")
    begin = time.monotonic()
    kernel.launch(data, {}, device="host")
    assert time.monotonic() - begin < 2  # a compilation takes longer
    assert host_build.build(kernel.compile().native.emitted()).fresh is False


@pytest.mark.parametrize("home, words", [(None, "PTO_ISA_HOME is not set"), ("/nowhere", "no folder"), ("empty", "no include/pto/pto-inst.hpp"),
                                         ("toolkit", "no CPU simulator")])
def test_without_headers_the_reason_is_said(monkeypatch, tmp_path, home, words):
    if home is None:
        monkeypatch.delenv("PTO_ISA_HOME", raising=False)
    else:
        if home == "toolkit":
            (tmp_path / "include/pto").mkdir(parents=True)
            (tmp_path / "include/pto/pto-inst.hpp").touch()
        monkeypatch.setenv("PTO_ISA_HOME", home if home.startswith("/") else str(tmp_path))
    x, y, z = (np.ones((8, 8), np.float16) for _ in range(3))
    with pytest.raises(LaunchError, match=words):
        support.load(support.example_text("vector_add"))["vector_add"].launch((x, y, z), {}, device="host")
    with pytest.raises(LaunchError, match="the simulator still works"):
        config.set_value("device", "host")
    assert config.values["device"] == "sim"


def test_tiling_data_have_cs_layout():
    from xpto.launch_values import packed_tiling
    fields = [{"dtype": "bool"}, {"dtype": "int64"}, {"dtype": "fp32"}, {"dtype": "bool"}]
    data = packed_tiling(fields, [[True], [-2], [1.5, 2.5], [True, False]])
    assert data == bytes([1]) + bytes(7) + (2**64 - 2).to_bytes(8, "little") + b"\0\0\xc0\x3f\0\0\x20\x40" + b"\1\0" + bytes(6)


def test_arguments_over_one_memory_are_one_memory():
    from xpto import arguments, launch_values
    memory = np.zeros((8, 4), np.float32)
    params = [{"name": n, "kind": "tensor", "dtype": "fp32", "dims": [{"dynamic": True, "static": False, "size": 0}] * 2, "written": n == "y"} for n in "xyz"]
    converted = arguments.convert("k", params, [memory[:4], memory[2:6], memory[7:]])
    packed = launch_values.pack(params, converted, [("", "", "")] * 9)
    assert [w.split(":")[0] for w in packed.words] == ["p"] * 3 + ["v"] * 6 and packed.words[:3] == ["p:0:0", "p:0:32", "p:1:0"]
    assert packed.sizes == [6 * 16, 16] and packed.written == [True, False]


def test_the_shim_is_found_and_the_compiler_named():
    assert (host_build.shim_folder() / "xpto_movement.hpp").is_file()
    if shutil.which("g++"):
        from xpto import toolchain
        assert "g++" in toolchain.compiler_version(toolchain.host_compiler())
