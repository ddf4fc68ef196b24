"""Public cases with known answers: hazards and hangs (SYN) and what a launch's grid makes wrong."""
from __future__ import annotations

import numpy as np
import pytest
from support import errors, load

from xpto.errors import CompileError, HazardError, LaunchWarning

HEAD = "import pypto_pro.language as pl\n\n"

CHOSEN = HEAD + '''
@pl.vector_function
def copy_row(source, target):
    mask = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
    row = vf.load_align(source, 0)
    row = vf.muls(row, 1.0, mask)
    vf.store_align(target, row, mask)


@pl.jit(auto_mutex=True)
def chosen(src: pl.Tensor[[16, 64], pl.DT_FP32], dst: pl.Tensor[[16, 64], pl.DT_FP32]):
    row = pl.TileType(shape=[1, 64], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    single = pl.make_tile_group(type=row, addrs=0x0000, mutex_ids=[4])
    double = pl.make_tile_group(type=row, addrs=[0x1000, 0x1400], mutex_ids=[5, 6])
    triple = pl.make_tile_group(type=row, addrs=[0x2000, 0x2400, 0x2800], mutex_ids=[7, 8, 9])
    result = pl.make_tile_group(type=row, addrs=0x3000, mutex_ids=[10])
    with pl.section_vector():
        out = result.next()
        for r in pl.range(0, 16):
            a = single.next()
            b = double.next()
            c = triple.next()
CHOICE
            pl.load(t, src, [r, 0])
            copy_row(t, out)
            pl.store(dst, out, [r, 0])
'''

CHOICES = {
    "two branches, the second decides": """
t = a
if r % 2 == 0:
    t = a
else:
    t = b
if r % 2 == 0:
    t = b
else:
    t = a""",
    "elif": """
t = a
if r % 3 == 0:
    t = a
elif r % 3 == 1:
    t = b
else:
    t = c""",
    "if without else": """
t = a
if r % 3 == 1:
    t = c""",
    "nested": """
t = a
if r % 2 == 0:
    if r % 3 == 0:
        t = b
    else:
        t = c""",
    "conditional expression": "\nt = b if r % 2 == 0 else a",
    "expression of a branch": """
t = a
if r % 4 != 0:
    t = c if r % 2 == 0 else b""",
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_syn_01_a_chosen_tile_keeps_its_lock(choice):
    kernel = load(CHOSEN.replace("CHOICE", choice.replace("\n", "\n            ")))["chosen"]
    made = kernel.compile()
    assert not errors(made), made.text()
    src = np.arange(1024, dtype=np.float32).reshape(16, 64)
    dst = np.zeros_like(src)
    run = kernel.launch((src, dst), {}, hostile="all")
    assert run.status == "done", run.text()
    assert np.array_equal(src, dst)
    # without locks the same text races: the test above can fail
    loose = load(CHOSEN.replace("CHOICE", choice.replace("\n", "\n            ")).replace("auto_mutex=True", "auto_mutex=False"))["chosen"]
    with pytest.raises((CompileError, HazardError)):
        loose.launch((src, dst), {})


def flag(what: str, setter: str, waiter: str, number: int = 0) -> str:
    return f"pl.system.sync_{what}(set_pipe=pl.PipeType.{setter}, wait_pipe=pl.PipeType.{waiter}, event_id={number})"


def by_hand(guarded: str, before: str = "", after: str = "") -> str:
    """A copy loop with hand-written flags; GUARDED stands under a run-time condition."""
    lines = [before, "if i < n:", *("    " + line for line in guarded.split("\n")), after, "pl.add(b, a, 1.0)",
             flag("src", "V", "MTE3"), flag("dst", "V", "MTE3"), "pl.store(y, b, [0, 0])", flag("src", "MTE3", "V"), flag("dst", "MTE3", "V"),
             flag("src", "V", "MTE2", 1), flag("dst", "V", "MTE2", 1)]
    return HEAD + '''@pl.jit()
def by_hand(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32], n: pl.DT_INT32):
    t = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)
    a = pl.make_tile(t, addr=0x0)
    b = pl.make_tile(t, addr=0x4000)
    with pl.section_vector():
        for i in pl.range(0, 4):
''' + "".join(f"            {line}\n" for line in lines if line)


def test_syn_02_a_set_under_a_condition():
    text = by_hand("pl.load(a, x, [0, 0])\n" + flag("src", "MTE2", "V"), after=flag("dst", "MTE2", "V"))
    kernel = load(text)["by_hand"]
    found = [d for d in kernel.compile().diagnostics if d["code"] == "PTO-flag-unpaired"]
    assert found and "one path" in found[0]["message"] and "MTE2 to V id 0" in found[0]["message"]
    assert "sync_src" in text.splitlines()[found[0]["line"] - 1]
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    with pytest.raises(HazardError) as caught:
        kernel[None, 1](x, y, 2)
    said = str(caught.value)
    assert "HANG" in said and "flag MTE2 to V id 0" in said and "set 2 times, awaited 3 times" in said and "AIV0 V" in said
    assert (y == 0).all(), "a refused launch leaves the buffers alone"
    kernel[None, 1](x, y, 4)  # on the path that sets it, nothing hangs
    assert (y == 2).all()


def test_syn_02_both_sides_outside_are_fine():
    text = by_hand("pl.load(a, x, [0, 0])", after=flag("src", "MTE2", "V") + "\n            " + flag("dst", "MTE2", "V"))
    kernel = load(text)["by_hand"]
    assert not [d for d in kernel.compile().diagnostics if d["code"] in ("PTO-flag-unpaired", "PTO-hang")]
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    kernel[None, 1](x, y, 2)
    assert (y == 2).all()


BARRIER = HEAD + '''
@pl.jit()
def all_meet(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_FP32]):
    t = pl.TileType(shape=[1, 64], dtype=pl.DT_FP32)
    rows = pl.make_tile_group(type=t, addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        row = rows.next()
        pl.load(row, x, [0, 0])
        pl.system.sync_all(core_type=pl.SyncCoreType.AIV_ONLY)
        pl.store(y, row, [pl.get_block_idx(), 0])
'''


def test_syn_04_a_grid_barrier_names_both_numbers():
    kernel = load(BARRIER)["all_meet"]
    x, y = np.ones((64, 64), np.float32), np.zeros((128, 64), np.float32)
    with pytest.warns(LaunchWarning, match="8 of 64 blocks"):
        kernel[None, 8](x, y)
    assert (y[:8] == 1).all() and (y[8:] == 0).all()
    assert kernel.last_run.to_json()["launch"][0]["code"] == "PTO-grid-barrier-launch"
    with pytest.raises(HazardError, match="65 blocks, but only 64"):
        kernel[None, 65](x, y)
    assert (y[8:] == 0).all()
    kernel[None, 64](x, y)
    assert (y[:64] == 1).all() and not kernel.last_run.to_json()["launch"]


LANES = HEAD + '''
@pl.jit()
def lanes(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[128, 64], pl.DT_FP32]):
    t = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)
    a = pl.make_tile(t, addr=0x0)
    m = pl.make_tile(pl.TileType(shape=[64, 64], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addr=0x0)
    with pl.section_vector():
        for i in pl.range(0, 3):
            pl.system.set_cross_core(pipe=pl.PipeType.V, event_id=ID, sync_mode=pl.CrossCoreSyncMode.SETMODE)
    with pl.section_cube():
        for i in pl.range(0, 3):
            pl.system.wait_cross_core(pipe=pl.PipeType.MTE1, event_id=ID, sync_mode=pl.CrossCoreSyncMode.WAITMODE)
'''


@pytest.mark.parametrize("number", [0, 5])
@pytest.mark.parametrize("set_mode, wait_mode", [("UNICAST_BLOCK", "UNICAST_BLOCK"), ("INTRA_BLOCK", "UNICAST_BLOCK")])
def test_syn_05_two_lanes_signal_and_the_cube_waits_once(set_mode, wait_mode, number):
    text = LANES.replace("SETMODE", set_mode).replace("WAITMODE", wait_mode).replace("=ID", f"={number}")
    kernel = load(text)["lanes"]
    found = [d for d in kernel.compile().diagnostics if d["code"] == "PTO-counter-left"]
    assert found, kernel.compile().text()
    message = found[0]["message"]
    assert f"id {number}" in message and "AIV1" in message and "set 3 times and awaited 0 times" in message
    assert "2 sets for 1 wait" in message and "from its 1. turn on" in message
    x, y = np.zeros((64, 64), np.float32), np.zeros((128, 64), np.float32)
    run = kernel.launch((x, y), {})
    assert run.status == "warned" and "AIV1" in run.text()


def test_syn_05_both_lanes_and_a_wait_for_both():
    kernel = load(LANES.replace("SETMODE", "INTRA_BLOCK").replace("WAITMODE", "INTRA_BLOCK").replace("=ID", "=2"))["lanes"]
    assert not [d for d in kernel.compile().diagnostics if d["code"] == "PTO-counter-left"]


RING = HEAD + '''
@pl.jit()
def ring(x: pl.Tensor[[32, 64], pl.DT_FP32], y: pl.Tensor[[32, 64], pl.DT_FP32]):
    small = pl.make_tile_group(type=pl.TileType(shape=[N, 64], dtype=pl.DT_FP32), addrs=[0x0, STRIDE], mutex_ids=[0, 1])
    large = pl.make_tile_group(type=pl.TileType(shape=[32, 64], dtype=pl.DT_FP32), addrs=[FIRST, FIRST + STRIDE], mutex_ids=[2, 3])
    with pl.section_vector():
        for i in pl.range(0, 4):
            a = small.next()
            b = large.next()
            pl.load(a, x, [0, 0])
            pl.load(b, x, [0, 0])
            pl.system.bar_mte2()
            pl.store(y, b, [0, 0])
            pl.system.bar_mte3()
'''


@pytest.mark.parametrize("rows", [16, 8, 32])
def test_syn_10_slots_strided_by_tile_size(rows):
    # one ring whose slots hold a tile of `rows` rows and one of 32: the stride must be that of a slot, not of the small tile
    wrong = RING.replace("N,", f"{rows},").replace("STRIDE", f"{rows * 256 * 2}").replace("FIRST", f"{rows * 256}")
    made = load(wrong)["ring"].compile()
    if rows == 32:
        assert not [d for d in made.diagnostics if d["code"] == "PTO-overlap-without-lock"], made.text()
    else:
        said = next(d["message"] for d in made.diagnostics if d["code"] == "PTO-overlap-without-lock")
        assert "`large` slot 0" in said and "`small` slot 1" in said and hex(rows * 512) in said
    right = RING.replace("N,", f"{rows},").replace("STRIDE", f"{(rows + 32) * 256}").replace("FIRST", f"{rows * 256}")
    kernel = load(right)["ring"]
    assert not errors(kernel.compile()), kernel.compile().text()
    x, y = np.random.default_rng(1).random((32, 64), np.float32), np.zeros((32, 64), np.float32)
    kernel[None, 1](x, y)
    assert np.array_equal(x, y)
