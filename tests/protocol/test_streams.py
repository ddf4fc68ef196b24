"""Text arrives completely, in order and bounded, wherever it comes from."""
from __future__ import annotations

import re
import time

import pytest
from conftest import Kernel

C_LIBRARY = "import ctypes\nlibc = ctypes.CDLL(None)\n"


def numbers(text: str, word: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^{word} (\d+)$", text, re.MULTILINE)]


def test_twenty_thousand_prints(kernel: Kernel) -> None:
    done = kernel.run("for i in range(20_000): print('line', i)", timeout=60)
    assert numbers(done.text(), "line") == list(range(20_000))
    assert len(done.of("stream")) < 200


def test_twenty_thousand_printf(kernel: Kernel) -> None:
    done = kernel.run(C_LIBRARY + "for i in range(20_000): libc.printf(b'line %d\\n', i)", timeout=60)
    assert numbers(done.text(), "line") == list(range(20_000))


def test_program_order_across_sources(kernel: Kernel) -> None:
    done = kernel.run(C_LIBRARY + "import os, subprocess, sys\n"
                      "for i in range(50):\n"
                      "    print('line', 5 * i)\n"
                      "    libc.printf(b'line %d\\n', 5 * i + 1)\n"
                      "    os.write(1, b'line %d\\n' % (5 * i + 2))\n"
                      "    sys.stdout.buffer.write(b'line %d\\n' % (5 * i + 3))\n"
                      "    print('line', 5 * i + 4, flush=True)\n"
                      "subprocess.run(['echo', 'line 250'])\nos.system('echo line 251')\nprint('line 252')", timeout=60)
    assert numbers(done.text(), "line") == list(range(253))


def test_program_order_holds_while_the_draining_thread_reads(kernel: Kernel) -> None:
    """The thread that empties the pipe may hold bytes that are neither in the pipe nor delivered yet."""
    done = kernel.run("import os, sys\nfor i in range(5000):\n"
                      "    os.write(1, b'line %d\\n' % (2 * i))\n"
                      "    for _ in range(i % 40): pass\n"
                      "    sys.stdout.write('line %d\\n' % (2 * i + 1))\n", timeout=60)
    assert numbers(done.text(), "line") == list(range(10_000))


def test_both_streams_keep_their_order(kernel: Kernel) -> None:
    done = kernel.run("import sys\nfor i in range(100): print('line', i, file=sys.stderr if i % 2 else sys.stdout)")
    merged = "".join(m["content"]["text"] for m in done.of("stream"))
    assert numbers(merged, "line") == list(range(100))
    assert {m["content"]["name"] for m in done.of("stream")} == {"stdout", "stderr"}


def test_text_comes_before_the_display_it_precedes(kernel: Kernel) -> None:
    done = kernel.run(C_LIBRARY + "print('before')\ndisplay(1)\nlibc.printf(b'between\\n')\ndisplay(2)\nprint('last')\n3")
    order = [m["content"].get("text") or m["content"]["data"]["text/plain"] for m in done.messages
             if m["msg_type"] in ("stream", "display_data", "execute_result")]
    assert order == ["before\n", "1", "between\n", "2", "last\n", "3"]


def test_slow_text_does_not_wait_for_the_end(kernel: Kernel) -> None:
    message_id = kernel.submit("import time\nprint('early', end='')\ntime.sleep(2)")
    begin = time.monotonic()
    while kernel.client.get_iopub_msg(timeout=5)["msg_type"] != "stream":
        pass
    assert time.monotonic() - begin < 1
    kernel.finish(message_id)


def test_bytes_that_are_not_utf8(kernel: Kernel) -> None:
    done = kernel.run("import os, sys\nos.write(1, b'\\xff\\xfe raw\\n')\nsys.stdout.buffer.write(b'\\xc3')\nsys.stdout.buffer.write(b'\\xa9 ok\\n')")
    assert done.status == "ok"
    assert done.text() == "\ufffd\ufffd raw\né ok\n"
    assert kernel.run("print('中文')").text() == "中文\n"


def test_more_than_a_pipe_while_the_interpreter_is_held(kernel: Kernel) -> None:
    done = kernel.run("import ctypes\nheld = ctypes.PyDLL(None)\nfor i in range(2000): held.printf(b'%s\\n', b'x' * 200)", timeout=60)
    assert done.text().count("x" * 200 + "\n") == 2000


def test_stream_objects_are_files(kernel: Kernel) -> None:
    done = kernel.run("import faulthandler, sys\nfaulthandler.enable()\n"
                      "(sys.stdout.encoding, sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.isatty(), sys.stdout.writable())")
    assert done.result()["text/plain"] == "('utf-8', 1, 2, False, True)"
    assert kernel.run("sys.stdout.write(b'x')").error == "TypeError"


def test_forked_children_write_through_the_parent(kernel: Kernel) -> None:
    done = kernel.run("import multiprocessing as mp\nc = mp.get_context('fork')\n"
                      "p = [c.Process(target=print, args=(f'child {i}',)) for i in range(3)]\n[q.start() for q in p]; [q.join() for q in p]\nprint('parent')")
    assert sorted(done.text().splitlines()) == ["child 0", "child 1", "child 2", "parent"]
    assert kernel.run("1").status == "ok"


def test_lines_of_forked_children_do_not_mix(kernel: Kernel) -> None:
    done = kernel.run("import multiprocessing as mp\ndef work(name):\n    for i in range(300): print(name, i, 'end')\n    print('last', end='')\n"
                      "p = [mp.get_context('fork').Process(target=work, args=(n,)) for n in 'abc']\n[q.start() for q in p]; [q.join() for q in p];", timeout=60)
    text = done.text()
    assert text.count("last") == 3
    for name in "abc":
        assert [int(n) for n in re.findall(rf"{name} (\d+) end\n", text)] == list(range(300))


def test_threads_print_while_cells_run(kernel: Kernel) -> None:
    kernel.run("import threading, time\nstop = False\ndef work(name):\n    while not stop: print(name, end='')\n"
               "workers = [threading.Thread(target=work, args=(n,)) for n in 'ab']\n[w.start() for w in workers];")
    try:
        for i in range(150):
            assert kernel.reply(kernel.submit(str(i)), timeout=10)["status"] == "ok"
    finally:
        done = kernel.finish(kernel.submit("stop = True\n[w.join() for w in workers]; 'joined'"), timeout=60)
    assert done.result()["text/plain"] == "'joined'"
    assert kernel.manager.is_alive()


def test_two_thousand_display_updates(kernel: Kernel) -> None:
    done = kernel.run("h = display(0, display_id=True)\nfor i in range(2000): h.update(i)", timeout=60)
    updates = done.of("update_display_data")
    assert [u["content"]["data"]["text/plain"] for u in updates] == [str(i) for i in range(2000)]


def test_a_flood_is_bounded(kernel: Kernel) -> None:
    done = kernel.run("for i in range(5_000_000): print(i)", timeout=120)
    shown = done.text().splitlines()
    assert shown[:25_000] == [str(i) for i in range(25_000)]
    assert len(shown) == 25_001 and "output limit reached" in shown[-1]
    (note,) = done.displays()
    assert "4,975,000 more lines" in note["text/plain"] and note["text/plain"].endswith("4999999")
    place = re.search(r'href="([^"]+)"', note["text/html"])
    assert place is not None
    kept = (kernel.folder / place[1]).read_text().splitlines()
    assert (kept[0], kept[-1], len(kept)) == ("25000", "4999999", 4_975_000)
    after = kernel.run("print('free again')")
    assert after.text() == "free again\n" and after.displays() == []


def test_an_endless_line_is_bounded(kernel: Kernel) -> None:
    done = kernel.run("for i in range(3000): print('y' * 1000, end='')", timeout=60)
    assert len(done.text()) < (1 << 20) + 200
    assert done.displays()[0]["text/plain"].startswith("stdout: 0 more lines, 1,951,424 characters")


def test_a_child_process_may_flood(kernel: Kernel) -> None:
    done = kernel.run("import subprocess\nsubprocess.run('yes line | head -n 1000000', shell=True);", timeout=60)
    assert done.text().count("line\n") == 25_000
    assert "975,000 more lines" in done.displays()[0]["text/plain"]


def test_overwritten_progress_is_not_counted(kernel: Kernel) -> None:
    done = kernel.run("import sys\nfor i in range(200_000): sys.stderr.write(f'\\r{i:>8} of 200000 steps')\nprint('end')", timeout=60)
    assert done.displays() == [] and done.text() == "end\n"
    assert done.text("stderr").endswith("\r  199999 of 200000 steps")


def test_progress_bar_of_tqdm(kernel: Kernel) -> None:
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    done = kernel.run("from tqdm import tqdm\nfor i in tqdm(range(1000)): pass")
    assert "1000/1000" in done.text("stderr")


def test_progress_of_ours_is_limited_and_ends_right(kernel: Kernel) -> None:
    done = kernel.run("from xpto.sink import Progress\nimport time\nwith Progress('sweep', 400) as p:\n"
                      "    for i in range(400):\n        time.sleep(0.001)\n        p.update(i + 1, 'best 3 <us>')")
    updates = done.of("update_display_data")
    assert len(updates) <= 3 + 10 * (done.seconds + 1)
    assert updates[-1]["content"]["data"]["text/plain"] == "sweep: 400/400 best 3 <us>"
    assert "3 &lt;us&gt;" in updates[-1]["content"]["data"]["text/html"]
