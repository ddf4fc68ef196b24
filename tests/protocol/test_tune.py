"""A sweep in a notebook: its progress does not flood the page, an interrupt keeps the points that are done."""
from __future__ import annotations

import re
import time

from conftest import ROOT, Kernel

SET_UP = f"""
import numpy as np, xpto
source = open({str(ROOT / "share/xpto/examples/relu_matmul.py")!r}).read()
kernel = xpto.load(source, "relu_matmul.py")["relu_matmul"]
a, b, d, y = (np.ones(s, np.float32) for s in ((256, 64), (64, 64), (64, 64), (256, 64)))
"""


def test_an_interrupted_sweep_keeps_what_it_has(kernel: Kernel) -> None:
    assert kernel.run(SET_UP).status == "ok"
    message_id = kernel.submit("%pto_tune kernel(a, b, d, y) preload=0:4 slots=p:2-4,mm1:2-3,a_l1:1-20")
    while True:
        message = kernel.client.get_iopub_msg(timeout=20)
        if message["msg_type"] == "execute_input" and message["parent_header"]["msg_id"] == message_id:
            break
    begin = time.monotonic()
    time.sleep(2)
    kernel.manager.interrupt_kernel()
    reply = kernel.reply(message_id, timeout=20)
    seconds = time.monotonic() - begin
    messages = kernel.collect(message_id)
    assert reply["status"] == "ok", reply
    results = [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"]
    assert len(results) == 1 and "; interrupted" in results[0].splitlines()[0] + results[0].splitlines()[1], results
    ran = re.search(r"(\d+) of 600\s+settings", results[0])
    assert ran is not None and 0 < int(ran[1]) < 600
    updates = [m for m in messages if m["msg_type"] == "update_display_data"]
    assert 3 <= len(updates) <= 10 * seconds + 2
    assert len({m["content"]["transient"]["display_id"] for m in updates}) == 1
    assert kernel.run("1 + 1").result()["text/plain"] == "2"


def test_sweeps_that_make_no_sense_are_refused(kernel: Kernel) -> None:
    kernel.run(SET_UP)
    for line, words in (("preload=4:1", "ends before it begins"), ("slots=p", "NAME:2-4"), ("presload=1", "did you mean preload"), ("slots=p:0", "at least 1")):
        done = kernel.run(f"%pto_tune kernel(a, b, d, y) {line}")
        assert done.error == "UsageError" and words in done.text("stderr"), (line, done.text("stderr"))
