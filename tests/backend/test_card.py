"""The way to a card, against a library that plays one: what it is asked in which order, and what a person is told when it fails."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from xpto import config, places
from xpto.errors import LaunchError


def data() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(32 * 32, dtype=np.float32).reshape(32, 32), np.zeros((32, 32), np.float32)


def refused(kernel, **options) -> str:
    x, y = data()
    with pytest.raises(LaunchError) as caught:
        kernel.launch((x, y), {}, device="npu:0", **options)
    assert not y.any(), "a launch that failed changed its output"
    return str(caught.value)


HAPPY = ["init", "device count 1", "set device 0", "create stream", "malloc 4096", "copy to device 4096", "malloc 4096", "copy to device 4096",
         "launch 3", "synchronize", "copy from device 4096", "free 4096", "free 4096", "destroy stream", "reset device 0", "finalize"]


def test_a_launch_from_the_first_call_to_the_last(card, copy_kernel):
    x, y = data()
    run = copy_kernel.launch((x, y), {}, block_dim=3, device="npu:0")
    assert run.status == "done" and np.array_equal(x, y)
    assert "fake runtime" in run.verdict and "values are canned" in run.verdict and run.to_json()["fake"] is True
    assert any("never on hardware" in n for n in run.notes)
    import json
    import jsonschema
    from conftest import ROOT
    jsonschema.validate(json.loads(json.dumps(run.to_json())), json.loads((ROOT / "share/xpto/schema/device_run.schema.json").read_text()))
    places.restart()
    assert card.log() == HAPPY


def test_the_compiler_gets_the_documented_command_line(card, copy_kernel):
    from xpto import card_build
    emitted = copy_kernel.compile().native.emitted()
    line = card_build.command(emitted, "bisheng")
    assert line[0] == "bisheng" and "--cce-aicore-arch=dav-c310-vec" in line and "-xcce" in line and "--cce-auto-sync=off" in line
    assert not any("$" in a for a in line) and f"-I{os.environ['ASCEND_HOME_PATH']}/include" in line and "xpto_call.cpp" in line


def test_a_second_launch_keeps_card_library_and_build(card, copy_kernel):
    x, y = data()
    for _ in range(2):
        copy_kernel.launch((x, y), {}, device="npu:0")
    log = card.log()
    assert log.count("set device 0") == 1 and sum(l.startswith("launch") for l in log) == 2
    assert sum(l.startswith("compile") for l in card.lines()) <= 1


@pytest.mark.parametrize("plays, words, last", [
    ("busy", ["npu:0 is busy", "code -16"], "set device 0"),
    ("dead", ["does not answer", "code -6", "npu-smi"], "set device 0"),
    ("driver", ["driver and toolkit do not fit", "24.1"], "set device 0"),
    ("permission", ["may not be used by this user"], "set device 0"),
    ("devices=0", ["there is no npu:0", "0 devices"], "device count 0"),
    ("chip=Ascend910B1", ["Ascend910B1", "compiled for ascend950pr", "target=ascend910b"], "create stream"),
    ("memory", ["no memory left"], "malloc 4096"),
    ("fault", ["the card stopped the kernel", "code 507015", "aicore exception"], "synchronize"),
])
def test_what_fails_is_told_apart(card, copy_kernel, plays, words, last):
    card.plays(plays)
    said = refused(copy_kernel)
    for word in words:
        assert word in said, said
    protocol = [line for line in card.log() if line not in ("destroy stream", "reset device 0", "finalize", "free 4096")]
    assert protocol[-1] == last


DOCUMENTED = ("", "busy", "dead", "chip=Ascend910B1", "memory", "fault", "hang", "crash_sync")


@pytest.mark.parametrize("plays", DOCUMENTED, ids=[p.split("=")[0] or "happy" for p in DOCUMENTED])
def test_the_protocol_is_the_documented_one(card, copy_kernel, plays, monkeypatch):
    """docs/howto/devices.md shows what a card is asked when all is well and in each of these faults, up to the end of the worker."""
    from conftest import ROOT
    monkeypatch.setitem(config.values, "timeout", "0.3")
    card.plays(plays)
    x, y = data()
    if plays:
        refused(copy_kernel)
    else:
        copy_kernel.launch((x, y), {}, device="npu:0")
    if plays != "hang":  # whether a worker still gives back what hangs, or is killed before, is a matter of time
        places.restart()
    log, lines = card.log(), []
    places.restart()
    for line in log:
        if lines and lines[-1].split(" x")[0] == line:  # polls
            lines[-1] = line if line.startswith("synchronize") else f"{line} x{int((lines[-1].split(' x') + ['1'])[1]) + 1}"
        else:
            lines.append(line)
    name = plays.split("=")[0] or "happy"
    text = (ROOT / "docs/howto/devices.md").read_text(encoding="utf-8")
    written = next((line.split(None, 1)[1] for line in text.splitlines() if line.startswith(name + " ") and ";" in line), "")
    assert written == "; ".join(lines)


def test_busy_and_dead_are_two_sentences(card, copy_kernel):
    card.plays("busy")
    busy = refused(copy_kernel)
    card.plays("dead")
    dead = refused(copy_kernel)
    assert busy != dead and "held by" not in dead


def test_busy_names_who_holds_the_card(card, copy_kernel, monkeypatch, tmp_path):
    monkeypatch.setenv("XPTO_DEVICE_FOLDER", str(tmp_path))
    (tmp_path / "davinci0").touch()
    holder = subprocess.Popen([sys.executable, "-c", f"f = open({str(tmp_path / 'davinci0')!r}); print('open', flush=True); input()"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "open\n"
        card.plays("busy")
        said = refused(copy_kernel)
        assert f"held by process {holder.pid} (" in said and "python" in said
    finally:
        holder.communicate("\n")


def test_after_a_fault_the_next_launch_gets_a_new_worker(card, copy_kernel):
    card.plays("fault")
    refused(copy_kernel)
    card.plays("")
    x, y = data()
    assert copy_kernel.launch((x, y), {}, device="npu:0").status == "done" and np.array_equal(x, y)


# ------------------------------------------------------------------ time

def test_a_timeout_says_what_still_occupies_the_card_and_restart_gives_it_back(card, copy_kernel, monkeypatch):
    monkeypatch.setitem(config.values, "timeout", "0.3")
    card.plays("hang")
    said = refused(copy_kernel)
    assert "did not end on npu:0 within 0.3 s" in said and "copy still runs there" in said and "%pto_device restart" in said
    again = refused(copy_kernel)
    assert "npu:0 is occupied: copy still runs there" in again
    pid = places.place("npu:0")._worker.pid
    assert places.restart() == ["npu:0"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    card.plays("")
    x, y = data()
    assert copy_kernel.launch((x, y), {}, device="npu:0").status == "done"


def test_a_slow_kernel_runs_beside_python(card, copy_kernel):
    card.plays("slow=300")
    x, y = data()
    begin = time.monotonic()
    run = copy_kernel.launch((x, y), {}, device="npu:0", wait=False)
    assert run.status == "running" and time.monotonic() - begin < 30 and not y.any()
    assert run.wait().status == "done" and np.array_equal(x, y) and run.seconds >= 0.3


def test_launches_of_one_stream_end_in_order(card, copy_kernel):
    card.plays("slow=100")
    (x, y), z = data(), np.zeros((32, 32), np.float32)
    first = copy_kernel.launch((x, y), {}, device="npu:0", wait=False)
    second = copy_kernel.launch((y, z), {}, device="npu:0", wait=False)
    assert first.status == "done" and np.array_equal(x, y)
    assert np.array_equal(second.wait().arguments()["y"], x)


def test_a_stream_returns_at_once_and_ends_in_order(card, copy_kernel):
    import xpto
    card.plays("slow=200")
    (x, y), z = data(), np.zeros((32, 32), np.float32)
    stream = xpto.Stream("npu:0")
    copy_kernel[stream, 1](x, y)
    assert not y.any()
    copy_kernel[stream, 1](y, z)
    stream.synchronize()
    assert np.array_equal(y, x) and np.array_equal(z, x)
    on_sim = xpto.Stream("sim")
    z[:] = 0
    copy_kernel[on_sim, 1](x, z)
    on_sim.synchronize()
    assert np.array_equal(z, x)


def test_an_interrupt_is_honest(card, copy_kernel, capsys):
    card.plays("slow=3000")
    x, y = data()
    run = copy_kernel.launch((x, y), {}, device="npu:0", wait=False)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr().out
    assert "interrupted, but not on the card" in said and "copy still runs there" in said and "worker process" in said
    assert "is occupied" in places.occupied("npu:0")
    until = time.monotonic() + 20
    while places.occupied("npu:0") and time.monotonic() < until:
        time.sleep(0.1)
    assert places.occupied("npu:0") == "" and not y.any()  # it has ended, and what nobody waited for is not written


def test_a_runtime_that_never_comes_back_is_ended(card, copy_kernel, monkeypatch):
    from xpto import worker
    card.plays("hang,stubborn")
    ask = worker.Worker.ask
    monkeypatch.setattr(worker.Worker, "ask", lambda self, verb, *a, seconds=30, **k: ask(self, verb, *a, seconds=1 if verb == "wait" else seconds, **k))
    said = refused(copy_kernel)
    assert "does not come back" in said and "Arguments are as before" in said


# ------------------------------------------------------------------ crashes (a verdict counts, whatever happens after it)

def test_a_crash_after_the_verdict_keeps_the_result(card, copy_kernel):
    card.plays("crash_free")
    x, y = data()
    run = copy_kernel.launch((x, y), {}, device="npu:0")
    assert run.status == "done" and np.array_equal(x, y)
    assert any("crashed after the verdict (signal 11 (SIGSEGV))" in n and "kept" in n for n in run.notes)


@pytest.mark.parametrize("where", ["crash_sync", "crash_launch"])
def test_a_crash_without_a_verdict_is_a_failure(card, copy_kernel, where):
    card.plays(where)
    said = refused(copy_kernel)
    assert "crashed" in said and "SIGSEGV" in said and "before a verdict" in said


# ------------------------------------------------------------------ prints

def test_what_the_kernel_prints_is_shown_and_dumps_become_arrays(card, copy_kernel, capsys):
    card.plays(r"print=block 0 says 7\n=== [dump_tensor] dtype: float; Layout: ND; shape=[1 1 1 2 2] ===\n1.5 -2.0\n3.0 4e-3\nend\n".replace(",", ";"))
    x, y = data()
    run = copy_kernel.launch((x, y), {}, device="npu:0")
    assert "block 0 says 7\n" in capsys.readouterr().out
    (dump,) = run.dumps
    assert dump.what == "dump_tensor" and np.array_equal(dump.array(), np.array([[1.5, -2.0], [3.0, 4e-3]]))


def test_dumps_of_the_documented_form():
    from xpto.device_prints import dumps_of
    text = "noise\n=== [dump_tile] dtype: int32, Layout: ND, shape=[1, 1, 1, 2, 3] ===\n 1 2 3\n 4 5 -6\nafter 9\n"
    (dump,) = dumps_of(text)
    assert dump.dtype == "int32" and dump.layout == "ND" and dump.array().tolist() == [[1, 2, 3], [4, 5, -6]]


# ------------------------------------------------------------------ what is missing

def test_without_the_toolkits_environment_the_simulator_works_and_says_what_to_do(card, copy_kernel, monkeypatch):
    monkeypatch.delenv("ASCEND_HOME_PATH")
    said = refused(copy_kernel)
    assert "set_env.sh" in said and "kernel.json" in said and "the simulator still works" in said
    x, y = data()
    assert copy_kernel.launch((x, y), {}).status == "done" and np.array_equal(x, y)


def test_without_the_compiler_its_absence_is_explained(card, copy_kernel, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    said = refused(copy_kernel)
    assert "bisheng" in said and "not on PATH" in said


def test_a_compiler_that_refuses_is_quoted(card, copy_kernel, monkeypatch, tmp_path):
    monkeypatch.setenv("XPTO_FAKE_COMPILER", "refuses")
    monkeypatch.setenv("XPTO_CACHE_DIR", str(tmp_path / "empty"))
    said = refused(copy_kernel)
    assert "the device compiler refuses" in said and "no member named 'TADD'" in said
    assert list((tmp_path / "empty" / "npu").iterdir()) == []  # nothing half made is left


def test_a_library_that_is_none(card, copy_kernel, monkeypatch, tmp_path):
    monkeypatch.setenv("XPTO_RUNTIME", str(tmp_path / "libascendcl.so"))
    assert "cannot be opened" in refused(copy_kernel)
    (tmp_path / "libascendcl.so").write_bytes(b"no library")
    assert "cannot be opened" in refused(copy_kernel)


def test_a_runtime_that_lacks_functions_is_another_version(card, copy_kernel, monkeypatch):
    import ctypes.util
    monkeypatch.setenv("XPTO_RUNTIME", ctypes.util.find_library("m") or "libm.so.6")
    said = refused(copy_kernel)
    assert "driver and toolkit do not fit" in said and "aclInit" in said


def test_the_list_of_devices_tells_each_card(card):
    card.plays("devices=3,busy=1")
    rows = {r["device"]: r for r in places.devices()}
    assert rows["npu:0"]["usable"] and "Ascend950PR" in rows["npu:0"]["chip"] and "no card" in rows["npu:0"]["chip"]
    assert not rows["npu:1"]["usable"] and "busy" in rows["npu:1"]["missing"][0] and rows["npu:2"]["usable"]


def test_choosing_asks_the_card(card):
    card.plays("dead")
    with pytest.raises(LaunchError, match="does not answer"):
        config.set_value("device", "npu:0")
    assert config.values["device"] == "sim"
    card.plays("")
    config.set_value("device", "npu:0")
    assert config.values["device"] == "npu:0"


def test_which_headers_were_read(card, copy_kernel, monkeypatch, tmp_path):
    trees = []
    for name, text in (("toolkit_tree", "1"), ("own_tree", "2")):
        folder = tmp_path / name / "include/pto"
        folder.mkdir(parents=True)
        (folder / "pto-inst.hpp").write_text(f"// {text}\n")
        trees.append(tmp_path / name)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(trees[0]))
    monkeypatch.setenv("PTO_ISA_HOME", str(trees[1]))
    x, y = data()
    run = copy_kernel.launch((x, y), {}, device="npu:0")
    assert f"PTO-ISA headers of {trees[0]}/include" in run.headers and f"not read, and different: {trees[1]}/include" in run.headers


def test_options_of_the_simulator_are_refused(card, copy_kernel):
    assert "only the simulator can" in refused(copy_kernel, seed=3)


def test_the_worker_ends_with_its_owner(card):
    """kill -9 of a session leaves neither worker nor card behind."""
    code = ("import sys, os; sys.path.insert(0, %r); import support, numpy as np; from conftest import COPY; k = support.load(COPY)['copy']; from xpto import places;"
            "x = np.ones((32, 32), np.float32); k.launch((x, x.copy()), {}, device='npu:0', wait=False); print(places.place('npu:0')._worker.pid, flush=True); os.kill(os.getpid(), 9)")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path])}
    card.plays("hang")
    out = subprocess.run([sys.executable, "-c", code % os.path.dirname(__file__)], env={**env, "XPTO_FAKE_DEVICE": "hang"}, capture_output=True, text=True)
    pid = int(out.stdout)
    until = time.monotonic() + 8
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the worker outlives its session")
    assert card.log()[-1] == "finalize"  # in order: stream, card, library
