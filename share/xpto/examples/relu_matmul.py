"""relu(A_i @ B) @ D for the four row blocks of A: four stages, cube and vector in turn.

stage1 (cube)    loads A_i, multiplies it by B, hands the product to the vector cores    channel mm1 (UB)
stage2 (vector)  takes relu of its half of the rows, turns it to NZ, writes it to L1     channel p   (L1)
stage3 (cube)    multiplies by D, hands the result to the vector cores                   channel out (UB)
stage4 (vector)  stores its half of the rows
"""
import pypto_pro.language as pl

TILE = 64
HALF = TILE // 2
TASKS = 4


@pl.pipeline.stage
def stage1(ki, a, a_l1, b_l1, left, right, acc, mm1):
    a_slot = a_l1.next()
    left_slot = left.next()
    right_slot = right.next()
    acc_slot = acc.next()
    mm1_slot = mm1.next()
    pl.load(a_slot, a, [ki * TILE, 0])
    pl.move(left_slot, a_slot)
    pl.move(right_slot, b_l1)
    pl.matmul(acc_slot, left_slot, right_slot)
    pl.move(mm1_slot, acc_slot, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def stage2(sub, mm1, relu, nz, p):
    mm1_slot = mm1.next()
    relu_slot = relu.next()
    nz_slot = nz.next()
    p_slot = p.next()
    pl.relu(relu_slot, mm1_slot)
    pl.move(nz_slot, relu_slot)
    pl.insert(p_slot, nz_slot, [sub * HALF, 0])


@pl.pipeline.stage
def stage3(p, d_l1, left, right, acc, out):
    p_slot = p.next()
    left_slot = left.next()
    right_slot = right.next()
    acc_slot = acc.next()
    out_slot = out.next()
    pl.move(left_slot, p_slot)
    pl.move(right_slot, d_l1)
    pl.matmul(acc_slot, left_slot, right_slot)
    pl.move(out_slot, acc_slot, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def stage4(ki, sub, out, y):
    out_slot = out.next()
    pl.store(y, out_slot, [ki * TILE + sub * HALF, 0])


@pl.jit(auto_mutex=True, pipeline=pl.pipeline.PipelineConfig(preload=2))
def relu_matmul(a: pl.Tensor[[TASKS * TILE, TILE], pl.DT_FP32],
                b: pl.Tensor[[TILE, TILE], pl.DT_FP32],
                d: pl.Tensor[[TILE, TILE], pl.DT_FP32],
                y: pl.Tensor[[TASKS * TILE, TILE], pl.DT_FP32]):
    mat = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat)
    left_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left)
    right_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Right)
    acc_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc)
    half = pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    half_nz = pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec, layout=pl.TensorLayout.NZ)

    # what crosses between the cores: two slots each
    mm1 = pl.make_tile_group(type=half, addrs=0x0, mutex_ids=[12, 13], fwd_ids=[0, 1], bwd_ids=[2, 3])
    p = pl.make_tile_group(type=mat, addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7])
    out = pl.make_tile_group(type=half, addrs=0x10000, mutex_ids=[16, 17], fwd_ids=[8, 9], bwd_ids=[10, 11])

    # what stays on one core
    a_l1 = pl.make_tile_group(type=mat, addrs=0x0, mutex_ids=[0, 1])
    b_group = pl.make_tile_group(type=mat, addrs=0x10000, mutex_ids=[2])
    d_group = pl.make_tile_group(type=mat, addrs=0x14000, mutex_ids=[3])
    left = pl.make_tile_group(type=left_type, addrs=0x0, mutex_ids=[4, 5])
    right = pl.make_tile_group(type=right_type, addrs=0x0, mutex_ids=[6, 7])
    acc = pl.make_tile_group(type=acc_type, addrs=0x0, mutex_ids=[8, 9, 10, 11])
    relu = pl.make_tile_group(type=half, addrs=0x8000, mutex_ids=[18, 19])
    nz = pl.make_tile_group(type=half_nz, addrs=0x18000, mutex_ids=[20, 21])

    with pl.section_cube():
        b_l1 = b_group.current()
        d_l1 = d_group.current()
        pl.load(b_l1, b, [0, 0])
        pl.load(d_l1, d, [0, 0])
    with pl.section_vector():
        sub = pl.get_subblock_idx()

    for ki in pl.range(TASKS):
        with pl.section_cube():
            stage1(ki, a, a_l1, b_l1, left, right, acc, mm1)
        with pl.section_vector():
            stage2(sub, mm1, relu, nz, p)
        with pl.section_cube():
            stage3(p, d_l1, left, right, acc, out)
        with pl.section_vector():
            stage4(ki, sub, out, y)


if __name__ == "__main__":
    import numpy as np

    rng = np.random.default_rng(0)
    a = rng.standard_normal((TASKS * TILE, TILE), dtype=np.float32)
    b = rng.standard_normal((TILE, TILE), dtype=np.float32)
    d = rng.standard_normal((TILE, TILE), dtype=np.float32)
    y = np.zeros((TASKS * TILE, TILE), dtype=np.float32)
    relu_matmul[None, 1](a, b, d, y)
    reference = np.maximum(a.astype(np.float64) @ b, 0) @ d
    error = np.abs(y - reference).max() / np.abs(reference).max()
    print(f"largest error {error:.2e} of the largest value")
    assert error <= 2e-6
