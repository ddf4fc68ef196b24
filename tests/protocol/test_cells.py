"""Ordinary cells behave as under ipykernel."""
from __future__ import annotations

import time

import pytest
from conftest import Kernel


def test_kernel_info(kernel: Kernel) -> None:
    info = kernel.ask("kernel_info")
    assert (info["status"], info["implementation"]) == ("ok", "xeus-pto")
    assert info["language_info"]["name"] == "python"
    assert info["language_info"]["file_extension"] == ".py"
    assert info["language_info"]["pygments_lexer"] == "ipython3"
    assert info["language_info"]["codemirror_mode"] == {"name": "ipython", "version": 3}


def test_start_prints_nothing(fresh_kernel: Kernel) -> None:
    assert [m["msg_type"] for m in fresh_kernel.run("None").messages] == ["status", "execute_input", "status"]


def test_start_imports_nothing_heavy(fresh_kernel: Kernel) -> None:
    done = fresh_kernel.run("import sys; [m for m in ('numpy', 'matplotlib', 'torch', 'pandas') if m in sys.modules]")
    assert done.result()["text/plain"] == "[]"


def test_result_number_is_the_cell_number(kernel: Kernel) -> None:
    kernel.run("1", store_history=False)
    done = kernel.run("40 + 2")
    assert done.result()["text/plain"] == "42"
    assert done.of("execute_result")[0]["content"]["execution_count"] == done.reply["execution_count"]
    assert kernel.run(f"Out[{done.reply['execution_count']}]").result()["text/plain"] == "42"


def test_rich_display(kernel: Kernel) -> None:
    done = kernel.run("class A:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n"
                      "        return {'text/plain': 'plain', 'text/html': '<b>x</b>'}\nA()")
    assert done.result() == {"text/plain": "plain", "text/html": "<b>x</b>"}


def test_update_display(kernel: Kernel) -> None:
    done = kernel.run("h = display('first', display_id='x1')\nh.update('second')")
    (update,) = done.of("update_display_data")
    assert update["content"]["data"]["text/plain"] == "'second'"
    assert update["content"]["transient"]["display_id"] == "x1"


@pytest.mark.parametrize("value, shown", [("float('nan')", None), ("__import__('numpy').float32(1.5)", 1.5), ("b'ab'", "YWI=")])
def test_odd_values_in_json(kernel: Kernel, value: str, shown: object) -> None:
    done = kernel.run(f"display({{'application/json': {{'a': {value}}}, 'text/plain': 'x'}}, raw=True)")
    assert done.status == "ok"
    assert done.displays()[0]["application/json"]["a"] == shown


def test_lone_surrogates_are_replaced(kernel: Kernel) -> None:
    done = kernel.run("print('a\\udc80b'); '\\ud800'")
    assert (done.status, done.text()) == ("ok", "a?b\n")
    failed = kernel.run("raise ValueError('\\udc80')")
    assert (failed.status, failed.error, failed.reply["evalue"]) == ("error", "ValueError", "?")


def test_matplotlib_inline(kernel: Kernel) -> None:
    done = kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);", timeout=60)
    assert any("image/png" in d for d in done.displays())


def test_timing_and_capture(kernel: Kernel) -> None:
    assert "Wall time" in kernel.run("%%time\n1 + 1").text()
    assert kernel.run("%%capture c\nprint('kept')").text() == ""
    assert kernel.run("c.stdout").result()["text/plain"] == "'kept\\n'"


def test_await(kernel: Kernel) -> None:
    assert kernel.run("import asyncio\nawait asyncio.sleep(0.01)\n'done'").result()["text/plain"] == "'done'"
    assert kernel.run("async def f(): return 7\nasyncio.run(f())").result()["text/plain"] == "7"


def test_error_names_and_tracebacks(kernel: Kernel) -> None:
    done = kernel.run("def f():\n    1 / 0\nf()")
    assert (done.status, done.error, done.reply["evalue"]) == ("error", "ZeroDivisionError", "division by zero")
    (message,) = done.of("error")
    assert message["content"]["ename"] == "ZeroDivisionError"
    assert "1" in "".join(message["content"]["traceback"])
    assert kernel.run("x = = 1").error == "SyntaxError"
    assert kernel.run("class E(BaseException): pass\nraise E").error == "E"


def test_usage_errors_are_one_line(kernel: Kernel) -> None:
    done = kernel.run("%pto_config chek=strict")
    assert (done.status, done.error) == ("error", "UsageError")
    assert done.text("stderr").count("\n") <= 2 and "did you mean check?" in done.text("stderr")
    assert done.of("error") == []


def test_silent_cells(kernel: Kernel) -> None:
    done = kernel.run("quiet = 5\nquiet", silent=True)
    assert done.status == "ok" and not done.of("execute_result") and not done.of("execute_input")
    assert kernel.run("1 / 0", silent=True).status == "error"
    assert kernel.run("quiet").result()["text/plain"] == "5"


def test_user_expressions(kernel: Kernel) -> None:
    reply = kernel.run("v = 3", user_expressions={"good": "v + 1", "bad": "nothing_here"}).reply
    assert reply["user_expressions"]["good"]["data"]["text/plain"] == "4"
    assert reply["user_expressions"]["bad"]["status"] == "error"


def test_history_search_sees_this_session(kernel: Kernel) -> None:
    kernel.run("needle_in_history = 1")
    rows = kernel.ask("history", hist_access_type="search", pattern="*needle_in*", n=5, raw=True, output=False)["history"]
    assert rows[-1][2] == "needle_in_history = 1"
    tail = kernel.ask("history", hist_access_type="tail", n=1, raw=True, output=False)["history"]
    assert tail[-1][2] == "needle_in_history = 1"


def test_shell_command(kernel: Kernel) -> None:
    assert kernel.run("!echo from the shell").text().splitlines() == ["from the shell"]


def test_pager_payload(kernel: Kernel) -> None:
    payload = kernel.run("zip?").reply["payload"]
    assert payload[0]["source"] == "page" and "zip" in payload[0]["data"]["text/plain"]


def test_clear_output_comes_in_order(kernel: Kernel) -> None:
    done = kernel.run("from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')")
    kinds = [m["content"].get("text", m["msg_type"]) for m in done.messages if m["msg_type"] in ("stream", "clear_output")]
    assert kinds == ["old\n", "clear_output", "new\n"]


def test_modules_beside_the_notebook(kernel: Kernel) -> None:
    (kernel.folder / "beside_us.py").write_text("value = 5")
    assert kernel.run("import beside_us; beside_us.value").result()["text/plain"] == "5"


@pytest.mark.parametrize("code, prompt", [("%debug", "ipdb> "), ("breakpoint()", "(Pdb) ")])
def test_debuggers_ask(kernel: Kernel, code: str, prompt: str) -> None:
    kernel.run("def f(x): return 1 / x\nf(0)")
    message_id = kernel.submit(code, allow_stdin=True)
    for answer in ("p 40 + 2", "c" if code == "breakpoint()" else "q"):
        assert kernel.client.get_stdin_msg(timeout=10)["content"]["prompt"] == prompt
        kernel.client.input(answer)
    assert "42" in kernel.finish(message_id).text()


def test_scripts_and_subprocess_magics(kernel: Kernel) -> None:
    done = kernel.run("%%bash\necho out\necho err >&2")
    assert (done.text(), done.text("stderr")) == ("out\n", "err\n")
    (kernel.folder / "script.py").write_text("print('ran as', __name__)")
    assert kernel.run("%run script.py").text() == "ran as __main__\n"


def test_widgets_open_their_channel(kernel: Kernel) -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")
    done = kernel.run("import ipywidgets\ndisplay(ipywidgets.IntSlider())")
    assert done.of("comm_open")
    assert any("application/vnd.jupyter.widget-view+json" in d for d in done.displays())


def test_queue_stops_after_an_error(fresh_kernel: Kernel) -> None:
    ids = [fresh_kernel.submit(c) for c in ("import time; time.sleep(0.5)", "1 / 0", "print('RAN')", "print('RAN')", "print('RAN')")]
    replies = [fresh_kernel.reply(i) for i in ids]
    assert [r["status"] for r in replies] == ["ok", "error", "aborted", "aborted", "aborted"]
    waiting = set(ids)  # a front-end waits for the idle status of every cell, aborted or not
    while waiting:
        message = fresh_kernel.client.get_iopub_msg(timeout=10)
        assert message["msg_type"] != "stream"
        if message["content"].get("execution_state") == "idle":
            waiting.discard(message["parent_header"].get("msg_id"))
    time.sleep(0.2)  # what arrives while the queue is being emptied counts as queued
    assert fresh_kernel.run("print('after')").text() == "after\n"
    fresh_kernel.quiet()


def test_queue_goes_on_when_asked(kernel: Kernel) -> None:
    first = kernel.submit("1 / 0", stop_on_error=False)
    second = kernel.submit("print('goes on')")
    assert kernel.reply(first)["status"] == "error"
    assert kernel.reply(second)["status"] == "ok"


def test_completion_while_idle_and_unknown_names(kernel: Kernel) -> None:
    kernel.run("import os")
    assert "path" in kernel.ask("complete", "os.pa", 5)["matches"]
    assert kernel.ask("complete", "zzzz_nothing", 12)["matches"] == []
    assert kernel.ask("inspect", "zzzz_nothing", 3)["found"] is False


def test_every_request_has_one_reply(kernel: Kernel) -> None:
    requests = [("kernel_info", ()), ("complete", ("pri", 3)), ("inspect", ("print", 3)), ("is_complete", ("for x in y:",)),
                ("complete", ("", 99)), ("inspect", ("", 99)), ("comm_info", ()), ("history", ())]
    for kind, arguments in requests:
        assert kernel.ask(kind, *arguments)["status"] in ("ok", "incomplete", "error", "unknown"), kind
    kernel.quiet()
