"""The manner that all magics share, and cell magics below comments."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Kernel

sys.path.insert(0, str(ROOT / "share/xpto/python/xpto/magics"))

from _line import LineError, split_line  # noqa: E402  (imports nothing of the package)


@pytest.mark.parametrize("line, names, options", [
    ("", [], []),
    ("name preload=2", ["name"], [("preload", "2")]),
    ("preload = 2 name", ["name"], [("preload", "2")]),
    ("preload= 2 check =warn", [], [("preload", "2"), ("check", "warn")]),
    ("preload=[1, 2] a", ["a"], [("preload", "[1, 2]")]),
    ("out='two words' x", ["x"], [("out", "two words")]),
    ('target = "ascend950"', [], [("target", "ascend950")]),
    ("--preload=2 --check=warn", [], [("preload", "2"), ("check", "warn")]),
    ("a, b, k=1,", ["a", "b"], [("k", "1")]),
    ("f(x, y) 中文=值", ["f(x, y)"], [("中文", "值")]),
])
def test_lines(line: str, names: list[str], options: list[tuple[str, str]]) -> None:
    assert split_line(line) == (names, options)


@pytest.mark.parametrize("line", ["a='open", "a=[1, 2", "=3"])
def test_lines_that_cannot_be_split(line: str) -> None:
    with pytest.raises(LineError):
        split_line(line)


def refusal(kernel: Kernel, code: str) -> str:
    done = kernel.run(code)
    assert (done.status, done.error) == ("error", "UsageError"), done.reply
    assert done.of("error") == []
    return done.text("stderr")


def test_unknown_options_name_the_nearest(kernel: Kernel) -> None:
    assert "unknown option preloads; did you mean preload?" in refusal(kernel, "%%pto_kernel preloads=2\npass")
    assert "given twice" in refusal(kernel, "%%pto_kernel preload=1 preload=2\npass")
    assert "preload needs a value" in refusal(kernel, "%%pto_kernel preload=\npass")
    assert "not closed" in refusal(kernel, "%%pto_kernel target='x\npass")


@pytest.mark.parametrize("path", sorted((ROOT / "share/xpto/python/xpto/magics").glob("pto_*.py")), ids=lambda p: p.stem)
def test_every_magic_has_help(kernel: Kernel, path: Path) -> None:
    kind = "%%" if path.stem == "pto_kernel" else "%"
    done = kernel.run(f"{kind}{path.stem} --help")
    assert done.status == "ok" and path.stem in done.text(), done.reply


def test_no_magic_failed_to_register(fresh_kernel: Kernel) -> None:
    known = fresh_kernel.run("sorted(n for kind in get_ipython().magics_manager.magics.values() for n in kind if n.startswith('pto_'))")
    names = known.result()["text/plain"]
    for path in (ROOT / "share/xpto/python/xpto/magics").glob("pto_*.py"):
        assert repr(path.stem) in names


def test_a_failing_magic_costs_one_line(kernel: Kernel) -> None:
    done = kernel.run("import xpto.magics as m\nkept = m.modules\nm.modules = lambda: ['no_such_magic', 'pto_config']\n"
                      "m.register_all(get_ipython())\nm.modules = kept")
    assert done.status == "ok"
    assert done.text("stderr").count("\n") == 1 and "no_such_magic" in done.text("stderr")


@pytest.mark.parametrize("head", ["# set-up\n", "\n# 中文\n\n", "\n\n"])
def test_comments_above_a_cell_magic(kernel: Kernel, head: str) -> None:
    """The magic runs; what it refuses is its own business."""
    text = refusal(kernel, head + "%%pto_kernel\nx = 1")
    assert "not found" not in text and "defines no kernel" in text


@pytest.mark.parametrize("head", ["", "# one\n", "# one\n\n# three\n"])
def test_places_count_from_the_first_line_of_the_cell(kernel: Kernel, head: str) -> None:
    done = kernel.run(head + "%%pto_kernel\nx = 1\n1 / 0")
    line = head.count("\n") + 3
    assert done.error == "ZeroDivisionError"
    assert re.search(rf"{line}.*1.*/.*0", re.sub(r"\x1b\[[0-9;]*m", "", done.reply["traceback"][-2])), done.reply["traceback"]


def test_code_above_a_cell_magic_is_python(kernel: Kernel) -> None:
    done = kernel.run("y = 1\n%%pto_kernel\nx = 1")
    assert done.status == "error"


@pytest.mark.parametrize("before", ["", "# plain\n", "# 𝐚𝐚中文\n", "s = '😀😀'\n"])
def test_positions_count_code_points(kernel: Kernel, before: str) -> None:
    code = before + "import os\nos.pa"
    reply = kernel.ask("complete", code, len(code))
    assert "path" in reply["matches"]
    assert (reply["cursor_start"], reply["cursor_end"]) == (len(code) - 2, len(code))
