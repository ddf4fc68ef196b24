"""Interrupting anything raises KeyboardInterrupt soon and keeps the session."""
from __future__ import annotations

import os
import queue
import random
import time

import pytest
from conftest import Kernel, Outcome

# On a loaded machine signals and messages are slow; a second is what a user would call at once.
SOON = 1.0 * float(os.environ.get("XPTO_TEST_PATIENCE", 3))

CASES = {
    "busy loop": "while True: pass",
    "sleep": "import time; time.sleep(60)",
    "child process": "import subprocess; subprocess.run(['sleep', '60'])",
    "shell command": "!sleep 60",
    "await": "import asyncio; await asyncio.sleep(60)",
    "asyncio.run": "import asyncio; asyncio.run(asyncio.sleep(60))",
    "thread join": "import threading; threading.Thread(target=__import__('time').sleep, args=(2,)).start() or __import__('time').sleep(60)",
    "printing": "while True: print('x')",
    "displays": "while True: display(1)",
}


def interrupt(kernel: Kernel, code: str, delay: float = 0.5, **options: object) -> Outcome:
    message_id = kernel.submit(code, **options)
    while True:  # interrupts count from the moment the cell runs
        message = kernel.client.get_iopub_msg(timeout=20)
        if message["msg_type"] == "execute_input" and message["parent_header"]["msg_id"] == message_id:
            break
    time.sleep(delay)
    begin = time.monotonic()
    kernel.manager.interrupt_kernel()
    done = Outcome(kernel.reply(message_id, timeout=20), seconds=time.monotonic() - begin)
    done.messages = kernel.collect(message_id)
    return done


@pytest.mark.parametrize("case", CASES)
def test_interrupt(kernel: Kernel, case: str) -> None:
    kernel.run("kept = 41")
    done = interrupt(kernel, CASES[case])
    assert (done.status, done.error) == ("error", "KeyboardInterrupt") or case == "shell command"
    assert done.seconds < SOON, f"{case}: {done.seconds:.2f} s"
    assert kernel.run("kept + 1").result()["text/plain"] == "42"
    kernel.quiet()


def test_interrupt_a_question(kernel: Kernel) -> None:
    message_id = kernel.submit("answer = input('name? ')", allow_stdin=True)
    assert kernel.client.get_stdin_msg(timeout=10)["content"]["prompt"] == "name? "
    begin = time.monotonic()
    kernel.manager.interrupt_kernel()
    done = kernel.finish(message_id)
    assert done.error == "KeyboardInterrupt" and time.monotonic() - begin < SOON
    second = kernel.submit("input('again? ')", allow_stdin=True)
    assert kernel.client.get_stdin_msg(timeout=10)["content"]["prompt"] == "again? "
    kernel.client.input("yes")
    assert kernel.finish(second).result()["text/plain"] == "'yes'"


def test_interrupt_code_that_holds_the_interpreter_acts_at_its_end(kernel: Kernel) -> None:
    done = interrupt(kernel, "import ctypes\nctypes.PyDLL(None).usleep(1_500_000)\nprint('not reached')", delay=0.2)
    assert done.error == "KeyboardInterrupt" and done.text() == ""


def test_interrupt_keeps_what_was_printed(kernel: Kernel) -> None:
    done = interrupt(kernel, "for i in range(1000): print('line', i)\nimport time; time.sleep(60)")
    assert done.text() == "".join(f"line {i}\n" for i in range(1000))


def test_a_cell_may_handle_it(kernel: Kernel) -> None:
    done = interrupt(kernel, "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('tidied up')")
    assert (done.status, done.text()) == ("ok", "tidied up\n")


def test_a_handler_of_the_user_is_respected(kernel: Kernel) -> None:
    kernel.run("import signal, time\nours = signal.signal(signal.SIGINT, lambda *a: print('own handler'))")
    done = interrupt(kernel, "time.sleep(0.8)")
    assert (done.status, done.text()) == ("ok", "own handler\n")
    kernel.run("signal.signal(signal.SIGINT, ours);")
    assert interrupt(kernel, "time.sleep(60)").error == "KeyboardInterrupt"


def test_idle_interrupts(kernel: Kernel) -> None:
    for _ in range(5):
        kernel.manager.interrupt_kernel()
        time.sleep(0.05)
    assert kernel.manager.is_alive()
    assert kernel.run("40 + 2").result()["text/plain"] == "42"
    assert kernel.ask("complete", "pri", 3)["status"] == "ok"


def test_interrupt_request_on_the_control_channel(kernel: Kernel) -> None:
    message_id = kernel.submit("while True: pass")
    time.sleep(0.5)
    client = kernel.client
    client.control_channel.send(client.session.msg("interrupt_request", {}))
    assert kernel.finish(message_id).error == "KeyboardInterrupt"
    reply = client.get_control_msg(timeout=10)
    assert reply["msg_type"] == "interrupt_reply" and reply["content"].get("status", "ok") == "ok"


def test_random_moments(kernel: Kernel) -> None:
    """Whatever instruction an interrupt meets: one reply, no lost variables, no dead process."""
    seed = int(os.environ.get("XPTO_TEST_SEED", 20))
    count = int(os.environ.get("XPTO_TEST_INTERRUPTS", 25))
    chance = random.Random(seed)
    kernel.run("kept = 'yes'; import asyncio, time")
    codes = ["while True: pass", "time.sleep(30)", "await asyncio.sleep(30)", "while True: print('x')",
             "for i in range(10**9): x = [j for j in range(1000)]", "while True: display(2)",
             "while True:\n    try: time.sleep(0.001)\n    finally: print(end='y')"]
    for i in range(count):
        code = chance.choice(codes)
        message_id = kernel.submit(code)
        time.sleep(chance.uniform(0, 0.25))
        for attempt in range(10):  # one that comes before the cell has begun is ignored, as it should be
            kernel.manager.interrupt_kernel()
            try:
                reply = kernel.reply(message_id, timeout=1.0)
                break
            except queue.Empty:
                assert kernel.manager.is_alive(), f"seed {seed}, interrupt {i}: dead in {code!r}"
        else:
            pytest.fail(f"seed {seed}, interrupt {i}: no reply to {code!r}")
        assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt"), f"seed {seed}, interrupt {i}: {code!r}"
        kernel.collect(message_id)
    assert kernel.run("kept").result()["text/plain"] == "'yes'"
    kernel.quiet()


ENDLESS_KERNEL = '''%%pto_kernel show=none
import pypto_pro.language as pl

@pl.jit(auto_mutex=True)
def endless(n: pl.DT_INT64, x: pl.Tensor[[64, 64], pl.DT_FP32], out: pl.Tensor[[64, 64], pl.DT_FP32]):
    tile = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        for i in pl.range(n):
            t = tile.next()
            pl.load(t, x, [0, 0])
            pl.store(out, t, [0, 0])
'''


def test_interrupt_a_simulation(kernel: Kernel) -> None:
    defined = kernel.run(ENDLESS_KERNEL, timeout=60)
    assert defined.status == "ok", defined.reply
    kernel.run("import numpy as np\nx = np.ones((64, 64), np.float32); out = np.zeros((64, 64), np.float32)")
    assert kernel.run("endless[None, 1](3, x, out); bool((out == x).all())", timeout=60).result()["text/plain"] == "True"
    kernel.run("out[:] = 0")
    done = interrupt(kernel, "endless[None, 1](10**9, x, out)", delay=1.0)
    assert (done.status, done.error) == ("error", "KeyboardInterrupt")
    assert done.seconds < SOON, f"{done.seconds:.2f} s"
    assert kernel.run("float(out.sum()), float(x.sum())").result()["text/plain"] == "(0.0, 4096.0)"
