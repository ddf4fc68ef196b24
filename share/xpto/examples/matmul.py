"""C = A @ B, fp16 in, fp32 out: K in steps of 64 with double buffers, output tiles shared among the cores."""
import pypto_pro.language as pl

M_TILE, K_TILE, N_TILE = 128, 64, 128


@pl.jit()
def matmul(a: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP16],
           b: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP16],
           c: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP32]):
    a_type = pl.TileType(shape=[M_TILE, K_TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat)
    b_type = pl.TileType(shape=[K_TILE, N_TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat)
    left_type = pl.TileType(shape=[M_TILE, K_TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Left)
    right_type = pl.TileType(shape=[K_TILE, N_TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Right)
    acc_type = pl.TileType(shape=[M_TILE, N_TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc)
    a_l1 = pl.make_tile_group(type=a_type, addrs=0x0, mutex_ids=[0, 1])
    b_l1 = pl.make_tile_group(type=b_type, addrs=0x8000, mutex_ids=[2, 3])
    left = pl.make_tile_group(type=left_type, addrs=0x0, mutex_ids=[4, 5])
    right = pl.make_tile_group(type=right_type, addrs=0x0, mutex_ids=[6, 7])
    acc = pl.make_tile_group(type=acc_type, addrs=0x0, mutex_ids=[8, 9])
    with pl.section_cube():
        m_tiles = a.shape[0] // M_TILE
        n_tiles = b.shape[1] // N_TILE
        for t in pl.range(pl.get_block_idx(), m_tiles * n_tiles, pl.get_block_num()):
            row = t // n_tiles * M_TILE
            col = t % n_tiles * N_TILE
            acc_tile = acc.next()
            for k in pl.range(0, a.shape[1], K_TILE):
                a_tile = a_l1.next()
                b_tile = b_l1.next()
                left_tile = left.next()
                right_tile = right.next()
                pl.load(a_tile, a, [row, k])
                pl.load(b_tile, b, [k, col])
                pl.move(left_tile, a_tile)
                pl.move(right_tile, b_tile)
                if k == 0:
                    pl.matmul(acc_tile, left_tile, right_tile)
                else:
                    pl.matmul_acc(acc_tile, acc_tile, left_tile, right_tile)
            pl.store(c, acc_tile, [row, col])


if __name__ == "__main__":
    import numpy as np

    rng = np.random.default_rng(2)
    a = rng.standard_normal((256, 128)).astype(np.float16)
    b = rng.standard_normal((128, 256)).astype(np.float16)
    c = np.zeros((256, 256), dtype=np.float32)
    matmul[None, 2](a, b, c)
    reference = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(c - reference).max()
    print(f"largest error {error:.2e}")
    assert error < 1e-3
