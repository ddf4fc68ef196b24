"""What generated C++ says: comments, literals, ABI, guards."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import checking
import support

HEAD = "import pypto_pro.language as pl\n"
KERNEL = HEAD + '''
@pl.jit()
def scale(x: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_FP32], y: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_FP32], n: pl.DT_INT32):
    with pl.section_vector():
        ring = pl.make_tile_group(type=pl.TileType([16, 64], pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addrs=[0, 4096], mutex_ids=[0, 1])
        one = pl.make_tile_group(type=pl.TileType([16, 64], pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addrs=[8192], mutex_ids=[2])
        for i in pl.range(0, n):
            a = ring.next()  # REMARK
            b = one.next()
            pl.load(a, x, [i * 16, 0])
            pl.mul(b, a, LITERAL)
            pl.store(y, b, [i * 16, 0])
'''


def emitted(remark: str = "next slot", literal: str = "2.0") -> dict:
    made = support.load(KERNEL.replace("REMARK", remark).replace("LITERAL", literal))["scale"].compile()
    assert made.ok, made.text()
    return made.native.emitted()


@pytest.mark.parametrize("remark", ["中文注释", "é à ü", "emoji \U0001F600", "ends in a backslash \\", "ends in a trigraph ??/", "tab\tinside", "*/ closes /* opens", "\x0b vertical"])
def test_source_comments_never_break_the_text(remark: str, tmp_path: Path) -> None:
    files = emitted(remark)["files"]
    text = files["kernel.cpp"]
    assert text.isascii() and "a = ring.next()" in text
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "a = ring.next()" in line)
    assert not lines[at].rstrip().endswith(("\\", "??/")) and "ring_v" in lines[at + 1] or "cursor" in lines[at + 1]
    if checking.COMPILER:
        (tmp_path / "k").mkdir()
        (tmp_path / "k/kernel.cpp").write_text(text)
        assert checking.errors(tmp_path, [tmp_path / "k/kernel.cpp"], "VEC", [f"-I{checking.DECLARED}"]) == {}


def test_each_source_line_stands_in_front_of_its_statements() -> None:
    text = emitted()["files"]["kernel.cpp"]
    for line, statement in (("pl.load(a, x, [i * 16, 0])", "TLOAD("), ("pl.mul(b, a, 2.0)", "TMULS("), ("pl.store(y, b, [i * 16, 0])", "TSTORE(")):
        number = 1 + KERNEL.replace("LITERAL", "2.0").splitlines().index(next(l for l in KERNEL.replace("LITERAL", "2.0").splitlines() if line in l))
        comment = text.index(f"// {number}: {line}")
        assert comment < text.index(statement, comment) < text.find("// ", comment + 3) or text.find("// ", comment + 3) < 0


@pytest.mark.parametrize("literal", ["0.1", "1.0 / 3.0", "1e-40", "3.4028234e38", "16777217.0", "-0.5", "1.17549435e-38", "1e-45", "123456789.0"])
def test_float_literals_read_back_to_the_same_bits(literal: str) -> None:
    text = emitted(literal=literal)["files"]["kernel.cpp"]
    import re
    found = re.search(r"TMULS\([^;]*, \(?(-?[0-9.e+-]+f)\)?\);", text)
    assert found is not None, text
    import numpy as np
    assert np.float32(found.group(1)[:-1]).tobytes() == np.float32(eval(literal)).tobytes()
    assert len(found.group(1)) <= 15  # the shortest that does


def test_the_entry_takes_parameters_in_source_order_and_dynamic_sizes_last() -> None:
    made = emitted()
    assert [p[0] for p in made["parameters"]] == ["x_0_ptr", "y_0_ptr", "n_0", "__pypto_dyn_x_0", "__pypto_dyn_y_0"]
    launcher = made["files"]["call_kernel.cpp"]
    assert "__global__ AICORE void scale(__gm__ float* x_0_ptr, __gm__ float* y_0_ptr, int32_t n_0, int32_t __pypto_dyn_x_0, int32_t __pypto_dyn_y_0)" in launcher
    assert 'extern "C" void call_kernel(uint32_t blockDim, void* stream, uint8_t* x_0_ptr, uint8_t* y_0_ptr, int32_t n_0, int32_t __pypto_dyn_x_0, int32_t __pypto_dyn_y_0)' in launcher
    assert "scale<<<blockDim, nullptr, stream>>>((float*)x_0_ptr, (float*)y_0_ptr, n_0, __pypto_dyn_x_0, __pypto_dyn_y_0);" in launcher
    assert "__global__" not in made["files"]["kernel.cpp"]
    import json
    abi = json.loads(made["files"]["launch_args.json"])["abi"]
    assert [(a["kind"], a["dtype"], a["role"]) for a in abi] == [("ptr", "float", "tensor"), ("ptr", "float", "tensor"), ("scalar", "int32_t", "scalar"), ("scalar", "int32_t", "dim"), ("scalar", "int32_t", "dim")]


def test_locks_of_one_slot_are_numbers_and_loops_count_in_signed_integers() -> None:
    text = emitted()["files"]["kernel.cpp"]
    assert "get_buf(PIPE_MTE3, 2, 0);" in text and "uint64_t" not in text
    assert "for (int64_t i_v" in text


def test_two_sessions_write_the_same_text(tmp_path: Path) -> None:
    """Nothing of a process gets into the text: not an address, not a hash seed."""
    import os
    import sys
    program = ("import sys; sys.path.insert(0, %r); import support, hashlib\n" % str(Path(support.__file__).parent)
               + "made = support.load(open(%r).read())['scale'].compile()\n" % str(tmp_path / "k.py")
               + "print(hashlib.sha256(repr(sorted(made.native.emitted()['files'].items())).encode()).hexdigest())")
    (tmp_path / "k.py").write_text(KERNEL.replace("LITERAL", "2.0"))
    digests = {subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout for seed in ("1", "2")}
    assert len(digests) == 1


ROWS = HEAD + '''
@pl.jit(auto_mutex=MUTEX)
def rows(x: pl.Tensor[[16, 64], pl.DT_FP32], y: pl.Tensor[[16, 1], pl.DT_FP32]):
    with pl.section_vector():
        a = pl.make_tile(pl.TileType([16, 64], pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addr=0, size=4096)
        b = pl.make_tile(pl.TileType([16, 8], pl.DT_FP32, target_memory=pl.MemorySpace.Vec), addr=8192, size=512)
        pl.set_validshape(b, [16, 1])
        pl.load(a, x, [0, 0])
        pl.row_max(b, a)
        pl.store(y, b, [0, 0])
'''


def test_a_reduction_without_its_scratch() -> None:
    """A 950 leaves the scratch alone, so the source stands in; an older chip would write it, so there is no text to build."""
    here = support.load(ROWS.replace("MUTEX", "True"))["rows"].compile(check="warn").native.emitted()
    assert not here["lacking"] and "TROWMAX(b_d1, a_d0, a_d0);" in here["files"]["kernel.cpp"]
    older = support.load(ROWS.replace("MUTEX", "False"))["rows"].compile(check="warn", target="ascend910b").native.emitted()
    assert older["lacking"] and "// no C++ form here: row_max" in older["files"]["kernel.cpp"]


def test_the_view_of_the_text_is_there_for_older_chips_too() -> None:
    made = support.load(ROWS.replace("MUTEX", "False").replace("pl.row_max(b, a)", "pl.add(a, a, a)"))["rows"].compile(check="warn", target="ascend910b").native
    text, _, _ = made.view("cpp", "en", "")
    assert "TADD(a_d0, a_d0, a_d0);" in text and made.emitted()["files"]["kernel.cpp"].strip() in text
