"""One pass of attention over blocks of keys, with the running maximum and sum kept in the vector cores' memory: the kernel that emission is timed on."""
import pypto_pro.language as pl

TILE = 64
HALF = TILE // 2
BLOCKS = 4
SCALE = 0.125


@pl.pipeline.stage
def scores(ki, k, k_l1, q_l1, left, right, acc, s):
    k_slot = k_l1.next()
    left_slot = left.next()
    right_slot = right.next()
    acc_slot = acc.next()
    s_slot = s.next()
    pl.load(k_slot, k, [ki * TILE, 0], order=[1, 0])
    pl.move(left_slot, q_l1)
    pl.move(right_slot, k_slot)
    pl.matmul(acc_slot, left_slot, right_slot)
    pl.move(s_slot, acc_slot, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def softmax(ki, sub, s, work, tmp, m_old, m_new, row, total, factor, nz, p):
    s_slot = s.next()
    nz_slot = nz.next()
    p_slot = p.next()
    pl.mul(work, s_slot, SCALE)
    pl.maximum(row, work, tmp, dim=0)
    if ki == 0:
        pl.maximum(m_new, row, row)
        pl.sub(total, row, row)
        pl.sub(m_old, row, row)
    else:
        pl.maximum(m_new, m_old, row)
    pl.sub(factor, m_old, m_new)
    pl.exp(factor, factor)
    pl.expand_sub(work, work, m_new, dim=0)
    pl.exp(work, work)
    pl.sum(row, work, tmp, dim=0)
    pl.mul(total, total, factor)
    pl.add(total, total, row)
    pl.maximum(m_old, m_new, m_new)
    pl.move(nz_slot, work)
    pl.insert(p_slot, nz_slot, [sub * HALF, 0])


@pl.pipeline.stage
def values(ki, v, v_l1, p, left, right, acc, out):
    v_slot = v_l1.next()
    p_slot = p.next()
    left_slot = left.next()
    right_slot = right.next()
    acc_slot = acc.next()
    out_slot = out.next()
    pl.load(v_slot, v, [ki * TILE, 0])
    pl.move(left_slot, p_slot)
    pl.move(right_slot, v_slot)
    pl.matmul(acc_slot, left_slot, right_slot)
    pl.move(out_slot, acc_slot, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def combine(ki, sub, out, result, total, factor, y):
    out_slot = out.next()
    if ki == 0:
        pl.mul(result, out_slot, 1.0)
    else:
        pl.expand_mul(result, result, factor, dim=0)
        pl.add(result, result, out_slot)
    if ki == BLOCKS - 1:
        pl.expand_div(result, result, total, dim=0)
        pl.store(y, result, [sub * HALF, 0])


def tile(rows, cols, memory, layout=None):
    return pl.TileType(shape=[rows, cols], dtype=pl.DT_FP32, target_memory=memory) if layout is None else pl.TileType(
        shape=[rows, cols], dtype=pl.DT_FP32, target_memory=memory, layout=layout)


@pl.jit(auto_mutex=True, pipeline=pl.pipeline.PipelineConfig(preload=0))
def attention(q: pl.Tensor[[TILE, TILE], pl.DT_FP32], k: pl.Tensor[[BLOCKS * TILE, TILE], pl.DT_FP32], v: pl.Tensor[[BLOCKS * TILE, TILE], pl.DT_FP32],
              y: pl.Tensor[[TILE, TILE], pl.DT_FP32]):
    mat = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat)
    mat_zn = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat, layout=pl.TensorLayout.ZN)
    left_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left)
    right_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Right)
    acc_type = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc)
    half = pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    half_nz = pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec, layout=pl.TensorLayout.NZ)
    column = pl.TileType(shape=[HALF, 1], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec, layout=pl.TensorLayout.DN)
    s = pl.make_tile_group(type=half, addrs=[0x0000, 0x2000], mutex_ids=[0, 1], fwd_ids=[0, 1], bwd_ids=[2, 3])
    p = pl.make_tile_group(type=mat, addrs=[0x20000, 0x24000], mutex_ids=[2, 3], fwd_ids=[4, 5], bwd_ids=[6, 7])
    out = pl.make_tile_group(type=half, addrs=[0x4000, 0x6000], mutex_ids=[4, 5], fwd_ids=[8, 9], bwd_ids=[10, 11])
    with pl.section_cube():
        q_group = pl.make_tile_group(type=mat, addrs=[0x0], mutex_ids=[6])
        k_l1 = pl.make_tile_group(type=mat_zn, addrs=[0x4000, 0x8000], mutex_ids=[7, 8])
        v_l1 = pl.make_tile_group(type=mat, addrs=[0xC000, 0x10000], mutex_ids=[9, 10])
        left = pl.make_tile_group(type=left_type, addrs=[0x0, 0x4000], mutex_ids=[11, 12])
        right = pl.make_tile_group(type=right_type, addrs=[0x0, 0x4000], mutex_ids=[13, 14])
        acc = pl.make_tile_group(type=acc_type, addrs=[0x0, 0x4000], mutex_ids=[15, 16])
        q_l1 = q_group.next()
        pl.load(q_l1, q, [0, 0])
    with pl.section_vector():
        sub = pl.get_subblock_idx()
        work_group = pl.make_tile_group(type=half, addrs=[0x8000], mutex_ids=[17])
        tmp_group = pl.make_tile_group(type=half, addrs=[0xA000], mutex_ids=[18])
        result_group = pl.make_tile_group(type=half, addrs=[0xC000], mutex_ids=[19])
        nz = pl.make_tile_group(type=half_nz, addrs=[0xE000, 0x10000], mutex_ids=[20, 21])
        columns = pl.make_tile_group(type=column, addrs=[0x12000, 0x12100, 0x12200, 0x12300, 0x12400], mutex_ids=[22, 23, 24, 25, 26])
        work = work_group.next()
        tmp = tmp_group.next()
        result = result_group.next()
        m_old = columns[0]
        m_new = columns[1]
        row = columns[2]
        total = columns[3]
        factor = columns[4]
    for ki in pl.range(BLOCKS):
        with pl.section_cube():
            scores(ki, k, k_l1, q_l1, left, right, acc, s)
        with pl.section_vector():
            softmax(ki, sub, s, work, tmp, m_old, m_new, row, total, factor, nz, p)
        with pl.section_cube():
            values(ki, v, v_l1, p, left, right, acc, out)
        with pl.section_vector():
            combine(ki, sub, out, result, total, factor, y)
