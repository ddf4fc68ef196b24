"""Public cases with known answers: what must be accepted, what refused and with which words, layouts and addresses."""
from __future__ import annotations

import json

import numpy as np
import pytest
import support
from support import errors, load

from xpto import cli
from xpto.errors import CompileError, HazardError, LaunchError


@pytest.mark.parametrize("rows, cols", [(129, 257), (7, 5)])
def test_acc_01_dynamic_tail_add(rows, cols):
    kernel = load(support.example_text("vector_add"))["vector_add"]
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((rows, cols)).astype(np.float16) for _ in range(2))
    memory = np.full((rows + 2, cols), 7, dtype=np.float16)  # rows around the output: nothing may be written outside
    z = memory[1:-1]
    z = np.ascontiguousarray(z)
    run = kernel.launch((x, y, z), {}, block_dim=2)
    assert run.status == "done" and np.array_equal(z, x + y)


@pytest.mark.parametrize("slots", [2, 4])
def test_acc_04_slots_change_nothing_but_memory(slots):
    text = support.example_text("matmul")
    if slots == 4:
        text = support.edited(("a_l1 = pl.make_tile_group(type=a_type, addrs=0x0, mutex_ids=[0, 1])",
                               "a_l1 = pl.make_tile_group(type=a_type, addrs=0x20000, mutex_ids=[0, 1, 10, 11])"), text=text)
    kernel = load(text)["matmul"]
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((256, 128)).astype(np.float16), rng.standard_normal((128, 256)).astype(np.float16)
    c = np.zeros((256, 256), np.float32)
    kernel[None, 2](a, b, c)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-3
    tiles = [t for m in kernel.last.to_json()["memory"] if m["memory"] == "Mat" for t in m["tiles"] if t["name"] == "a_l1"]
    assert len(tiles[0]["addresses"]) == slots


KEYED = '''
import pypto_pro.language as pl

class Key:
    Mask = pl.TilingKeyField(bits=1, values=[0, 1])
    BlockM = pl.TilingKeyField(bits=2, values=[0, 1, 2])
    def is_valid(self, key):
        return not (key[0] == 1 and key[1] == 0)

@pl.jit(tiling_key=Key)
def keyed(x: pl.Tensor[[32, 32], pl.DT_FP32], y: pl.Tensor[[32, 32], pl.DT_FP32]):
    tile = pl.TileType(shape=[32, 32], dtype=pl.DT_FP32)
    t = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        a = t.next()
        pl.load(a, x, [0, 0])
        if Mask == 1:
            pl.mul(a, a, 3.0)
        if BlockM == 2:
            pl.add(a, a, 1.0)
        pl.store(y, a, [0, 0])
'''


def test_acc_06_every_legal_key_compiles_once_and_rej_10_names_the_rule():
    kernel = load(KEYED)["keyed"]
    keys = kernel.variants()
    assert len(keys) == 5 and {"Mask": 1, "BlockM": 0} not in keys
    assert all(kernel.compile(tiling_key=k).ok for k in keys)
    x, y = np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    kernel[None, 1, {"Mask": 1, "BlockM": 2}](x, y)
    assert (y == 4).all()
    with pytest.raises(LaunchError, match="is_valid"):
        kernel[None, 1, {"Mask": 1, "BlockM": 0}](x, y)


def test_acc_08_columns_behind_chinese_text():
    source = support.edited(("    pl.matmul(acc_slot, left_slot, right_slot)\n    pl.move(mm1_slot",
                             "    # 矩阵乘：左矩阵 × 右矩阵\n    s = '全角，标点'; pl.matmul(acc_slot, left_slot, nichts)\n    pl.move(mm1_slot"))
    source = source.replace("s = '全角，标点'; ", "")
    found = errors(load(source)["relu_matmul"].compile())
    assert found and "nichts" in found[0]["message"]
    line = source.splitlines()[found[0]["line"] - 1]
    assert line[found[0]["column"] - 1:].startswith("nichts")


HELPERS = '''
import pypto_pro.language as pl

def half(n):
    return n // 2

def both(n):
    return n, n + 1

def pick(group):
    return group.next()

@pl.jit()
def helped(x: pl.Tensor[[16, 16], pl.DT_INT32], out: pl.Tensor[[16, 16], pl.DT_INT32]):
    tile = pl.TileType(shape=[16, 16], dtype=pl.DT_INT32)
    g = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0, 1])
    with pl.section_vector():
        t = pick(g)
        a, b = both(half(6))
        pl.load(t, x, [0, 0])
        pl.add(t, t, a * 10 + b)
        pl.store(out, t, [0, 0])
'''


def test_acc_09_helpers_return_scalars_tuples_and_tiles():
    x, out = np.zeros((16, 16), np.int32), np.zeros((16, 16), np.int32)
    load(HELPERS)["helped"][None, 1](x, out)
    assert (out == 34).all()


def small(body: str, declarations: str = "", params: str = "x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32]"):
    text = f"import pypto_pro.language as pl\n\n@pl.jit()\ndef small({params}):\n{declarations}{body}"
    return text, load(text, "In[3]")["small"]


def test_rej_06_tile_past_the_end_of_l0a():
    text, kernel = small("    with pl.section_cube():\n        pl.load(m, x, [0, 0])\n        pl.move(l, m)\n",
                         "    m = pl.make_tile(pl.TileType(shape=[64, 128], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addr=0x0)\n"
                         "    l = pl.make_tile(pl.TileType(shape=[64, 128], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left), addr=0x10000, size=32768)\n",
                         "x: pl.Tensor[[64, 128], pl.DT_FP32]")
    made = kernel.compile()
    found = errors(made)
    assert found, made.text()
    assert "0x18000" in made.text() and ("65536" in made.text() or "0x10000" in made.text())


def test_rej_07_the_other_dialect_is_named_once():
    source = ("import pypto_pro.language as pl\n\n@pl.jit()\ndef other(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32]):\n"
              "    with pl.section_vector():\n        for i in pl.pipeline(4, stage=2):\n            with pl.at(level=1):\n"
              "                t = pl.load_tensor(x)\n                pl.Out(y)\n")
    found = errors(load(source)["other"].compile())
    assert len(found) == 1, [d["message"] for d in found]
    assert "project" in found[0]["message"] or "dialect" in found[0]["message"]


def test_lay_03_slots_that_run_into_the_next_group():
    text, kernel = small("    with pl.section_vector():\n        a = g.next()\n        b = h.next()\n        pl.load(a, x, [0, 0])\n        pl.load(b, x, [0, 0])\n"
                         "        pl.add(a, a, b)\n        pl.store(y, a, [0, 0])\n",
                         "    t = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)\n    g = pl.make_tile_group(type=t, addrs=0x0000, mutex_ids=[0, 1])\n"
                         "    h = pl.make_tile_group(type=t, addrs=0x6000, mutex_ids=[2])\n")
    made = kernel.compile()
    assert "0x6000" in made.text() and "0x8000" in made.text()


def test_lay_02_valid_shape_after_load_is_warned():
    text = support.edited(("                pl.set_validshape(x_tile, shape)\n", ""),
                          ("                pl.load(x_tile, x, [r, c])\n", "                pl.load(x_tile, x, [r, c])\n                pl.set_validshape(x_tile, shape)\n"),
                          text=support.example_text("vector_add"))
    kernel = load(text)["vector_add"]
    made = kernel.compile()
    assert any("valid" in d["message"] for d in made.diagnostics), made.text()
    x = np.ones((7, 5), np.float16)
    with pytest.raises((HazardError, CompileError)) as caught:
        kernel.launch((x, x, np.zeros((7, 5), np.float16)), {})
    assert caught.value


def test_syn_09_blocks_that_write_the_same_rows():
    text, kernel = small("    with pl.section_vector():\n        a = g.next()\n        pl.load(a, x, [0, 0])\n        pl.mul(a, a, pl.get_block_idx() * 1.0)\n"
                         "        pl.store(y, a, [0, 0])\n",
                         "    t = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)\n    g = pl.make_tile_group(type=t, addrs=0x0000, mutex_ids=[0])\n")
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    kernel[None, 1](x, y)
    with pytest.raises(HazardError) as caught:
        kernel[None, 8](x, y)
    text = str(caught.value)
    assert "RACE" in text and "block" in text and "rows" in text


def test_pre_03_and_04_casts():
    text = ("import pypto_pro.language as pl\n\n@pl.jit()\ndef casts(x: pl.Tensor[[16, 16], pl.DT_FP32], even: pl.Tensor[[16, 16], pl.DT_BF16], "
            "away: pl.Tensor[[16, 16], pl.DT_BF16], half: pl.Tensor[[16, 16], pl.DT_FP16]):\n"
            "    a = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32), addrs=0x0, mutex_ids=[0])\n"
            "    b = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_BF16), addrs=0x1000, mutex_ids=[1])\n"
            "    c = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP16), addrs=0x2000, mutex_ids=[2])\n"
            "    with pl.section_vector():\n        s = a.next()\n        t = b.next()\n        u = c.next()\n        pl.load(s, x, [0, 0])\n"
            "        pl.cast(t, s, mode=pl.RoundMode.CAST_RINT)\n        pl.store(even, t, [0, 0])\n"
            "        pl.cast(t, s)\n        pl.store(away, t, [0, 0])\n"
            "        pl.cast(u, s, mode=pl.RoundMode.CAST_RINT)\n        pl.store(half, u, [0, 0])\n")
    torch = pytest.importorskip("torch", reason="torch is not installed: bfloat16 arguments need it")
    x = torch.zeros(16, 16)
    x[0, 0] = 1.01953125
    x[1, :6] = torch.tensor([65504.0, 65505.0, 65519.0, 65520.0, 70000.0, -65520.0])
    even, away, half = torch.zeros(16, 16, dtype=torch.bfloat16), torch.zeros(16, 16, dtype=torch.bfloat16), torch.zeros(16, 16, dtype=torch.float16)
    load(text)["casts"][None, 1](x, even, away, half)
    assert even[0, 0].item() == 1.015625 and away[0, 0].item() == 1.0234375
    assert half[1, :6].tolist() == [65504.0, 65504.0, 65504.0, float("inf"), float("inf"), float("-inf")]


WHOLE_FILES = {
    "program class": ("""import pypto.language as pl


@pl.program
class VectorAdd:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[128, 128], pl.FP32], out: pl.Out[pl.Tensor[[128, 128], pl.FP32]]) -> pl.Tensor[[128, 128], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            for i in pl.pipeline(4, stage=2):
                x = pl.load(a, [i * 32, 0], [32, 128])
                pl.store(pl.add(x, x), [i * 32, 0], out)
        return out
""", 1, "pypto.language"),
    "Out annotation": ("""import pypto_pro.language as pl


@pl.jit
def add(a: pl.Tensor[[128, 128], pl.DT_FP32], out: pl.Out[pl.Tensor[[128, 128], pl.DT_FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.auto_chunk]):
        for i in pl.pipeline(4, stage=2):
            x = pl.load(a, [i * 32, 0], [32, 128])
            pl.store(pl.add(x, x), [i * 32, 0], out)
""", 5, "pl.Out"),
    "body only": ("""import pypto_pro.language as pl


@pl.jit
def add(a: pl.Tensor[[128, 128], pl.DT_FP32], b: pl.Tensor[[128, 128], pl.DT_FP32]):
    for i in pl.parallel(4):
        x = pl.slice(a, [32, 128], [i * 32, 0])
        b = pl.assemble(b, pl.add(x, x), [i * 32, 0])
    return b
""", 6, "pl.parallel"),
}


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_rej_07_a_whole_file_of_the_other_dialect(name, tmp_path, capsys):
    source, line, word = WHOLE_FILES[name]
    # as a file: refused once, at the first word
    path = tmp_path / "whole.py"
    path.write_text(source)
    assert cli.main(["compile", str(path), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    found = data["diagnostics"]
    assert len(found) == 1 and found[0]["code"] == "PTO-other-dialect" and found[0]["line"] == line and word in found[0]["message"]
    assert "different project" in found[0]["message"]
    # as a cell
    try:
        kernels = load(source)
        said = str(errors(kernels["add"].compile()))
    except Exception as e:
        said = str(e)
    assert said.count("different project") == 1 and word in said, said
