"""Public cases with known answers, in a live kernel: redefinition (NB-04), a constant edited in another cell (NB-05), stages from several cells,
exec and closures (NB-06), completion behind wide characters (NB-07), offline pictures (NB-08), text that is not ASCII inside stages (NB-09),
and refusals whose places are those of the cell (REJ)."""
from __future__ import annotations

import re

import pytest
from conftest import ROOT, Kernel

EXAMPLE = (ROOT / "share/xpto/examples/relu_matmul.py").read_text(encoding="utf-8").split('if __name__ == "__main__":')[0]
HEAD, *STAGES = EXAMPLE.split("@pl.pipeline.stage\n")
LAST, KERNEL = STAGES[-1].split("@pl.jit", 1)
STAGES = ["@pl.pipeline.stage\n" + s for s in (*STAGES[:-1], LAST)]
KERNEL = "@pl.jit" + KERNEL
DATA = """
import numpy as np
rng = np.random.default_rng(0)
a, b, d = (rng.standard_normal(s, dtype=np.float32) for s in ((TASKS * TILE, TILE), (TILE, TILE), (TILE, TILE)))
y = np.zeros((TASKS * TILE, TILE), np.float32)
want = np.maximum(a.astype(np.float64) @ b, 0) @ d
"""
LAUNCH = DATA + "relu_matmul[None, 1](a, b, d, y)\nfloat(np.abs(y - want).max() / np.abs(want).max()) < 2e-6"


def value(kernel: Kernel, code: str) -> str:
    done = kernel.run(code)
    assert done.status == "ok", (done.error, done.reply.get("evalue"), done.text("stderr"))
    return done.result()["text/plain"]


def test_nb_04_the_last_definition_wins(fresh_kernel: Kernel) -> None:
    cell = "%%pto_kernel preload=1 show=panel\n" + EXAMPLE
    assert fresh_kernel.run(cell).status == "ok"
    assert value(fresh_kernel, LAUNCH) == "True"
    assert fresh_kernel.run("first = relu_matmul.last\nkept = relu_matmul").status == "ok"
    assert fresh_kernel.run(cell).status == "ok"  # the same text again
    assert value(fresh_kernel, LAUNCH) == "True"
    assert fresh_kernel.run(cell.replace("TILE = 64", "TILE = 32")).status == "ok"
    assert value(fresh_kernel, LAUNCH) == "True"
    assert value(fresh_kernel, "y.shape, relu_matmul is kept") == "((128, 32), False)"
    # what was compiled before says that a constant is another one now
    assert re.search(r"(TILE|HALF) was (64|32), is (32|16) now", value(fresh_kernel, "first.stale()"))


def test_nb_05_a_constant_edited_in_another_cell(fresh_kernel: Kernel) -> None:
    constants, rest = HEAD.replace('"""', "'''"), "".join(STAGES) + KERNEL
    assert fresh_kernel.run(constants).status == "ok"
    assert fresh_kernel.run(rest).status == "ok"
    assert value(fresh_kernel, LAUNCH) == "True"
    assert fresh_kernel.run("TILE = 32\nHALF = TILE // 2").status == "ok"
    done = fresh_kernel.run(LAUNCH)  # only the launch cell again: it compiles with 32, or says what it used
    said = (done.text("stderr") + str(done.reply.get("evalue", "")))
    if done.status == "ok":
        assert done.result()["text/plain"] == "True"
        assert value(fresh_kernel, "y.shape") == "(128, 32)"
    else:
        assert "TILE" in said or "256" in said, said


@pytest.mark.parametrize("how", ["a cell a stage", "exec", "in a function", "exec without a file"])
def test_nb_06_stages_without_a_file(fresh_kernel: Kernel, how: str) -> None:
    if how == "a cell a stage":
        for cell in (HEAD.replace('"""', "'''"), *STAGES, KERNEL):
            assert fresh_kernel.run(cell).status == "ok"
        assert value(fresh_kernel, LAUNCH) == "True"
        assert value(fresh_kernel, "[s['name'] for s in relu_matmul.last.to_json()['loops'][0]['stages']]") == "['stage1', 'stage2', 'stage3', 'stage4']"
    elif how == "in a function":
        inner = "".join(STAGES) + KERNEL
        cell = HEAD.replace('"""', "'''") + "def make():\n" + "".join(f"    {line}\n" if line else "\n" for line in inner.splitlines()) + "    return relu_matmul\n\nrelu_matmul = make()"
        assert fresh_kernel.run(cell).status == "ok"
        assert value(fresh_kernel, LAUNCH) == "True"
    else:
        texts = repr([HEAD, *STAGES, KERNEL])
        run = "exec(text)" if how == "exec" else "exec(compile(text, '<no file>', 'exec'))"
        assert fresh_kernel.run(f"for text in {texts}:\n    {run}").status == "ok"
        done = fresh_kernel.run(LAUNCH)
        said = done.text("stderr") + str(done.reply.get("evalue", "")) + "".join(done.reply.get("traceback", []))
        if done.status == "ok":
            assert done.result()["text/plain"] == "True"
        else:  # one sentence that names the function whose text is missing
            assert re.search(r"(source|text) of .*(relu_matmul|stage\d)|(relu_matmul|stage\d).*(source|text)", re.sub(r"\x1b\[[0-9;]*m", "", said)), said
            assert "0 stage" not in said


@pytest.mark.parametrize("before", ["# 𝐚𝐚中文 pl.", "s = '𝐚𝐚中文'; pl.", "甲 = 1; x = pl."])
def test_nb_07_completion_behind_wide_characters(kernel: Kernel, before: str) -> None:
    assert kernel.run("import pypto_pro.language as pl").status == "ok"
    code = "import pypto_pro.language as pl\n" + (before if not before.startswith("#") else before[:-3] + "\npl.") + "ma"
    reply = kernel.ask("complete", code, len(code))
    assert {"matmul", "maximum", "max"} <= {m.rpartition(".")[2] for m in reply["matches"]}, reply["matches"]
    assert reply["cursor_end"] == len(code)
    assert code[reply["cursor_start"]:] in ("ma", "pl.ma")


def test_nb_08_pictures_fetch_nothing(fresh_kernel: Kernel) -> None:
    assert fresh_kernel.run("%%pto_kernel preload=2\n" + EXAMPLE).status == "ok"
    assert fresh_kernel.run(DATA).status == "ok"
    for magic in ("%pto_profile relu_matmul(a, b, d, y)", "%pto_sync", "%pto_memory"):
        done = fresh_kernel.run(magic)
        bundles = done.displays() + [m["content"]["data"] for m in done.of("execute_result")]
        html = "".join(str(b.get("text/html", "")) for b in bundles)
        assert html, (magic, done.text("stderr"))
        fetched = re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"']*|url\((?!["']?(?:data:|#))[^)]*|@import[^;]*|fetch\([^)]*""", html)
        assert not fetched, (magic, fetched[:3])


def test_nb_09_chinese_text_inside_a_stage(fresh_kernel: Kernel, tmp_path) -> None:
    text = EXAMPLE.replace("    pl.relu(relu_slot, mm1_slot)\n", "    # 激活：负数变零 — “全角” 😀\n    pl.printf(\"stage2\\n\", loc=True)  # 行号\n    pl.relu(relu_slot, mm1_slot)\n")
    assert text != EXAMPLE
    assert fresh_kernel.run("%%pto_kernel preload=2 show=none\n" + text).status == "ok"
    done = fresh_kernel.run(LAUNCH)
    assert done.status == "ok" and done.result()["text/plain"] == "True", done.text("stderr")
    assert re.search(r"\[[^\]]*:\d+(:\d+)?\] stage2", done.text()), done.text()[:200]
    assert "激活" in value(fresh_kernel, "relu_matmul.last.generated")
    cpp = fresh_kernel.run("%pto_cpp").displays() + [m["content"]["data"] for m in fresh_kernel.run("%pto_cpp").of("execute_result")]
    assert any("kernel" in str(b.get("text/plain", "")) for b in cpp)


@pytest.mark.parametrize("head", ["%%pto_kernel\n", "# 第一行\n%%pto_kernel check=strict\n"])
def test_rej_06_the_place_is_the_cells(fresh_kernel: Kernel, head: str) -> None:
    cell = head + """import pypto_pro.language as pl

@pl.jit()
def small(x: pl.Tensor[[64, 128], pl.DT_FP32]):
    m = pl.make_tile(pl.TileType(shape=[64, 128], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addr=0x0)
    # 左矩阵
    l = pl.make_tile(pl.TileType(shape=[64, 128], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left), addr=0x10000, size=32768)
    with pl.section_cube():
        pl.load(m, x, [0, 0])
        pl.move(l, m)
"""
    done = fresh_kernel.run(cell)
    shown = "".join(str(b.get("text/plain", "")) for b in done.displays()) + "".join(done.reply.get("traceback", [])) + done.text() + done.text("stderr")
    line = next(n for n, text in enumerate(cell.splitlines(), 1) if "0x10000" in text)
    assert "0x18000" in shown and "65536" in shown and f":{line}:" in shown, shown
    assert fresh_kernel.run("1 + 1").result()["text/plain"] == "2"
