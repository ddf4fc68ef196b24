"""x + y for any number of rows and columns: tiles of 64 x 128, tail blocks by valid shapes, rows shared among the cores."""
import pypto_pro.language as pl

ROWS, COLS = 64, 128


@pl.jit()
def vector_add(x: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP16],
               y: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP16],
               z: pl.Tensor[[pl.DYNAMIC, pl.DYNAMIC], pl.DT_FP16]):
    tile = pl.TileType(shape=[ROWS, COLS], dtype=pl.DT_FP16)
    x_tiles = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0, 1])
    y_tiles = pl.make_tile_group(type=tile, addrs=0x8000, mutex_ids=[2, 3])
    z_tiles = pl.make_tile_group(type=tile, addrs=0x10000, mutex_ids=[4, 5])
    with pl.section_vector():
        rows = x.shape[0]
        cols = x.shape[1]
        for r in pl.range(pl.get_block_idx() * ROWS, rows, pl.get_block_num() * ROWS):
            for c in pl.range(0, cols, COLS):
                shape = [pl.min(ROWS, rows - r), pl.min(COLS, cols - c)]
                x_tile = x_tiles.next()
                y_tile = y_tiles.next()
                z_tile = z_tiles.next()
                pl.set_validshape(x_tile, shape)
                pl.set_validshape(y_tile, shape)
                pl.set_validshape(z_tile, shape)
                pl.load(x_tile, x, [r, c])
                pl.load(y_tile, y, [r, c])
                pl.add(z_tile, x_tile, y_tile)
                pl.store(z, z_tile, [r, c])


if __name__ == "__main__":
    import numpy as np

    for rows, cols in ((129, 257), (7, 5)):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((rows, cols)).astype(np.float16)
        y = rng.standard_normal((rows, cols)).astype(np.float16)
        z = np.zeros((rows, cols), dtype=np.float16)
        vector_add[None, 2](x, y, z)
        assert np.array_equal(z, x + y)
        print(f"{rows} x {cols}: equal")
