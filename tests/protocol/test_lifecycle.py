"""Starting, asking, leaving, restarting."""
from __future__ import annotations

import time

from conftest import Kernel


def test_input_and_getpass(fresh_kernel: Kernel) -> None:
    message_id = fresh_kernel.submit("import getpass\nprint('hello')\na = input('name? ')\nb = getpass.getpass('secret? ')\na + b", allow_stdin=True)
    asked = fresh_kernel.client.get_stdin_msg(timeout=10)["content"]
    assert asked["prompt"] == "name? " and not asked["password"]
    fresh_kernel.client.input("中")
    asked = fresh_kernel.client.get_stdin_msg(timeout=10)["content"]
    assert asked["prompt"] == "secret? " and asked["password"] is True
    fresh_kernel.client.input("b")
    assert fresh_kernel.finish(message_id).result()["text/plain"] == "'中b'"
    refused = fresh_kernel.run("input('x')", allow_stdin=False)
    assert refused.error == "StdinNotImplementedError"


def test_threads_go_on_while_a_cell_asks(fresh_kernel: Kernel) -> None:
    message_id = fresh_kernel.submit("import threading\nn = 0\ndef count():\n    global n\n    while n < 10**9: n += 1\n"
                                     "threading.Thread(target=count, daemon=True).start()\nbefore = n\ninput()\nn - before", allow_stdin=True)
    fresh_kernel.client.get_stdin_msg(timeout=10)
    time.sleep(0.3)
    fresh_kernel.client.input("")
    assert int(fresh_kernel.finish(message_id).result()["text/plain"]) > 100_000


def test_exit_asks_the_front_end(fresh_kernel: Kernel) -> None:
    for code in ("exit()", "exit", "quit()"):
        done = fresh_kernel.run(code)
        assert done.status == "ok"
        assert {"source": "ask_exit", "keepkernel": False} in done.reply["payload"], code
    assert fresh_kernel.run("1").status == "ok"


def test_leaving_a_cell_the_hard_way_keeps_the_kernel(fresh_kernel: Kernel) -> None:
    for code, name in (("import sys; sys.exit(3)", "SystemExit"), ("raise SystemExit", "SystemExit"),
                       ("raise KeyboardInterrupt", "KeyboardInterrupt"), ("raise BaseException(1)", "BaseException"),
                       ("def f(): f()\nf()", "RecursionError")):
        done = fresh_kernel.run(code)
        assert (done.status, done.error) == ("error", name), code
    assert fresh_kernel.manager.is_alive()
    assert fresh_kernel.run("1 + 1").result()["text/plain"] == "2"


def test_restart_runs_exit_functions_and_forgets(fresh_kernel: Kernel) -> None:
    fresh_kernel.run("import atexit\nx = 1\natexit.register(lambda: open('left', 'w').write('done'))")
    fresh_kernel.client.stop_channels()
    fresh_kernel.manager.restart_kernel(now=False)
    fresh_kernel.connect()
    assert (fresh_kernel.folder / "left").read_text() == "done"
    done = fresh_kernel.run("x")
    assert done.error == "NameError" and done.reply["execution_count"] == 1


def test_shutdown_leaves_cleanly_and_history_stays(fresh_kernel: Kernel) -> None:
    fresh_kernel.run("remembered = 'across sessions'")
    process = fresh_kernel.process
    fresh_kernel.client.stop_channels()
    begin = time.monotonic()
    fresh_kernel.manager.shutdown_kernel(now=False)
    assert process.returncode == 0, f"exit code {process.returncode}"
    assert time.monotonic() - begin < 5
    again = Kernel(fresh_kernel.folder)
    try:
        rows = again.ask("history", hist_access_type="search", pattern="remembered*", n=1, raw=True, output=False)["history"]
        assert rows and rows[-1][2] == "remembered = 'across sessions'"
    finally:
        again.close()


def test_a_thread_that_never_ends_does_not_hold_the_kernel(fresh_kernel: Kernel) -> None:
    fresh_kernel.run("import threading, time\ndef work():\n    while True: time.sleep(0.01); print('x', end='')\nthreading.Thread(target=work).start()")
    process = fresh_kernel.process
    fresh_kernel.client.stop_channels()
    begin = time.monotonic()
    fresh_kernel.manager.shutdown_kernel(now=False)
    assert process.returncode == 0 and time.monotonic() - begin < 5


def test_messages_that_make_no_sense(fresh_kernel: Kernel) -> None:
    client = fresh_kernel.client
    for kind, content in (("nonsense_request", {}), ("execute_request", {}), ("complete_request", {"code": 7}), ("inspect_request", {}),
                          ("history_request", {"hist_access_type": "sideways"}), ("is_complete_request", {}), ("comm_msg", {"comm_id": "x"}),
                          ("comm_open", {"comm_id": "y", "target_name": "nobody", "data": {}})):
        client.shell_channel.send(client.session.msg(kind, content))
    time.sleep(0.5)
    last = fresh_kernel.submit("'still here'")
    while True:  # the others may be answered or not
        message = client.get_shell_msg(timeout=20)
        if message["parent_header"].get("msg_id") == last:
            break
    assert message["content"]["status"] == "ok" and fresh_kernel.manager.is_alive()
