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


def test_a_kernel_of_a_cell_is_swept_with_its_constants(kernel: Kernel) -> None:
    text = (ROOT / "share/xpto/examples/relu_matmul.py").read_text().split('if __name__ == "__main__":')[0]
    assert kernel.run("%%pto_kernel preload=1 show=none\n" + text + "\nCELLS_RUN = globals().get('CELLS_RUN', 0) + 1\n").status == "ok"
    made = kernel.run("""
import numpy as np, xpto
def make():
    f = lambda *s: np.ones(s, np.float32)
    return f(TASKS * TILE, TILE), f(TILE, TILE), f(TILE, TILE), f(TASKS * TILE, TILE)
a, b, d, y = make()
""")
    assert made.status == "ok"
    done = kernel.run("%pto_tune relu_matmul(a, b, d, y) preload=0:3 slots=p:2-3 TASKS=4")
    assert done.status == "ok", done.text("stderr")
    text = done.result()["text/plain"]
    assert "RIGHT  relu_matmul: best preload" in text and "7 of 8 settings run" in text and "K41: p needs 3 slots" in text, text
    assert kernel.run("CELLS_RUN, TASKS, relu_matmul.overrides").result()["text/plain"] == "(1, 4, {'preload': 1})"


def test_export_and_device(kernel: Kernel, tmp_path) -> None:
    import json
    import zipfile
    kernel.run(SET_UP)
    assert kernel.run("%pto_run kernel(a, b, d, y)").status == "ok"
    done = kernel.run(f"%pto_export trace to={tmp_path}/t.json")
    assert "wrote" in done.text(), done.text("stderr")
    assert any(e["ph"] == "X" for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"])
    assert "wrote" in kernel.run(f"%pto_export bundle to={tmp_path}/b.zip").text()
    names = set(zipfile.ZipFile(tmp_path / "b.zip").namelist())
    assert {"source.py", "pipeline_generated.py", "report.json", "versions.json", "run.txt", "arguments.json"} <= names
    package = kernel.run(f"%pto_export aot to={tmp_path}/package").text()
    assert "1 of 1 keys" in package and "no objects were made here" in package and (tmp_path / "package/kernel_meta/build.sh").is_file()
    listed = kernel.run("%pto_device").text()
    assert "* sim" in listed and "not usable" in listed
    npu = kernel.run("%pto_device npu:0")
    assert npu.status == "error" and npu.error == "LaunchError" and "simulator still works" in npu.reply["evalue"]
    assert kernel.run("%pto_device sim").status == "ok"
