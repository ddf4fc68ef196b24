"""Public cases with known answers: where tiles lie (LAY) and what is reached through them (PRE-08)."""
from __future__ import annotations

import numpy as np
import pytest
from support import errors, load

from xpto.errors import CompileError, HazardError

HEAD = "import pypto_pro.language as pl\n\n"

SPARE_ROW = HEAD + '''@pl.jit()
def staged(x: pl.Tensor[[{r}, {c}], pl.DT_{t}], y: pl.Tensor[[{r}, {c}], pl.DT_{t}]):
    flat = pl.TileType(shape=[{r}, {c}], dtype=pl.DT_{t})
    nz_type = pl.TileType(shape=[{r}, {c}], dtype=pl.DT_{t}, layout=pl.TensorLayout.NZ, compact=2)
    source = pl.make_tile(flat, addr=0x10000)
    nz = pl.make_tile(nz_type, addr=0x0, size={size})
    behind = pl.make_tile(flat, addr={size})
    with pl.section_vector():
        pl.load(source, x, [0, 0])
        pl.load(behind, y, [0, 0])
        pl.system.bar_all()
        pl.move(nz, source)
        pl.system.bar_all()
        pl.store(y, behind, [0, 0])
'''


@pytest.mark.parametrize("rows, columns, dtype, extra", [(32, 128, "FP16", 256), (64, 64, "FP32", 256), (16, 64, "FP16", 128), (32, 64, "INT8", 64)])
def test_lay_01_the_spare_row_of_a_staging_tile(rows, columns, dtype, extra):
    plain = rows * columns * {"FP16": 2, "FP32": 4, "INT8": 1}[dtype]
    made = load(SPARE_ROW.format(r=rows, c=columns, t=dtype, size=plain))["staged"].compile()
    found = [d for d in made.diagnostics if d["code"] == "PTO-tile-bytes"]
    assert found, made.text()
    message = found[0]["message"]
    assert str(plain + extra) in message and f"{extra} more than the {plain}" in message
    assert "one spare row of 32 bytes" in message and f"{extra // 32} column blocks" in message
    enough = load(SPARE_ROW.format(r=rows, c=columns, t=dtype, size=plain + extra))["staged"].compile()
    assert not [d for d in enough.diagnostics if d["code"] == "PTO-tile-bytes"], enough.text()


HIGH = HEAD + '''@pl.jit(arch="a2")
def high(x: pl.Tensor[[16, 64], pl.DT_FP32], y: pl.Tensor[[16, 64], pl.DT_FP32]):
    t = pl.TileType(shape=[16, 64], dtype=pl.DT_FP32)
    a = pl.make_tile_group(type=t, addrs={addr}, mutex_ids=[0])
    with pl.section_vector():
        s = a.next()
        pl.load(s, x, [0, 0])
        pl.system.bar_all()
        pl.store(y, s, [0, 0])
'''


@pytest.mark.parametrize("kib, warned", [(183, False), (189, True), (192, True), (186, False)])
def test_lay_04_high_water_of_ub(kib, warned):
    made = load(HIGH.format(addr=(kib - 4) * 1024))["high"].compile()
    found = [d for d in made.diagnostics if d["code"] == "PTO-memory-high-water"]
    assert bool(found) == warned, made.text()
    if warned:
        assert f"{kib} of 192 KiB" in found[0]["message"] and "reported" in found[0]["message"]
    assert not errors(made)


def test_lay_04_beyond_the_end_is_refused():
    found = errors(load(HIGH.format(addr=190 * 1024))["high"].compile())
    assert found and found[0]["code"] == "PTO-memory-capacity" and "196608" in found[0]["message"]


NEIGHBOUR = HEAD + '''
@pl.vector_function
def fill(source, scratch):
    lanes = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
    for i in pl.range(0, {turns}):
        row = vf.load_align(source, i * 64)
        vf.store_align(scratch, row, lanes, i * 64)


@pl.jit()
def two_steps(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32]):
    source = pl.make_tile(pl.TileType(shape=[64, 64], dtype=pl.DT_FP32), addr=0x10000)
    scratch = pl.make_tile(pl.TileType(shape=[7, 64], dtype=pl.DT_FP32), addr=0x0)
    neighbour = pl.make_tile(pl.TileType(shape=[64, 64], dtype=pl.DT_FP32), addr=0x700)
    with pl.section_vector():
        pl.load(source, x, [0, 0])
        pl.load(neighbour, x, [0, 0])
        pl.system.bar_all()
        {step}
        pl.system.bar_all()
        pl.store(y, neighbour, [0, 0])
'''
STEPS = {"registers": "fill(source, scratch)", "elements": "for i in pl.range(0, {turns}):\n            pl.setval(scratch, i * 64, 1.0)",
         "subscripts": "for i in pl.range(0, {turns}):\n            scratch[i, 3] = 1.0"}


@pytest.mark.parametrize("step", STEPS)
def test_pre_08_scratch_of_the_tail_indexed_for_the_full_tile(step):
    # equal numbers everywhere: nothing but the addresses shows the fault
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    run = load(NEIGHBOUR.format(turns=64, step=STEPS[step].format(turns=64)))["two_steps"].launch((x, y), {})
    assert run.status == "warned", run.text()
    said = " ".join(run.text().split())
    assert "`scratch`, which has 0 to 1792" in said and "`neighbour` lies at 1792 to 18176" in said
    run = load(NEIGHBOUR.format(turns=7, step=STEPS[step].format(turns=7)))["two_steps"].launch((x, y), {})
    assert run.status == "done", run.text()


TILES = HEAD + '''@pl.jit()
def two_steps(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32]):
    source = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.DT_FP32), addrs=0x10000, mutex_ids=[0])
    scratch = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.DT_FP32), addrs=0x0, mutex_ids=[1])
    neighbour = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.DT_FP32), addrs=0x700, mutex_ids=[2])
    with pl.section_vector():
        s, t, n = source.next(), scratch.next(), neighbour.next()
        pl.load(s, x, [0, 0])
        pl.load(n, x, [0, 0])
        pl.add(t, s, 1.0)
        pl.add(n, n, t)
        pl.store(y, n, [0, 0])
'''


def test_pre_08_tiles_on_common_bytes():
    kernel = load(TILES)["two_steps"]
    found = [d for d in kernel.compile().diagnostics if d["code"] == "PTO-overlap-without-lock"]
    assert found and "0x700-0x4000" in found[0]["message"]
    with pytest.raises((CompileError, HazardError)):
        kernel.launch((np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)), {})


ELEMENTS = HEAD + '''@pl.jit()
def elements(x: pl.Tensor[[32, 64], pl.DT_FP32], y: pl.Tensor[[32, 64], pl.DT_FP32], n: pl.DT_INT32):
    group = pl.make_tile_group(type=pl.TileType(shape=[32, 64], dtype=pl.DT_FP32), addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        a = group.next()
        pl.load(a, x, [0, 0])
        pl.setval(a, n, 3.0)
        pl.store(y, a, [0, 0])
'''


def test_elements_outside_their_tile_are_told_with_the_numbers():
    kernel = load(ELEMENTS)["elements"]
    x, y = np.ones((32, 64), np.float32), np.zeros((32, 64), np.float32)
    kernel[None, 1](x, y, 2047)
    assert y[31, 63] == 3
    run = kernel.launch((x, y, 2048), {})
    assert run.status == "warned" and "bytes 8192 to 8196 through `a`" in " ".join(run.text().replace("group", "a").split()), run.text()
    with pytest.raises(HazardError, match="0x0 to|UB|Vec"):  # beyond the memory: refused before it happens
        kernel.launch((x, y, 100000), {})
