"""Which arrays a tensor parameter takes."""
from __future__ import annotations

import numpy as np
import pytest
from support import load

from xpto.errors import LaunchTypeError

COPY = """
import pypto_pro.language as pl

@pl.jit()
def copy(x: pl.Tensor[[8, 32], pl.DT_{0}], y: pl.Tensor[[8, 32], pl.DT_{0}]):
    tile = pl.make_tile_group(type=pl.TileType(shape=[8, 32], dtype=pl.DT_{0}), addrs=0, mutex_ids=[0])
    with pl.section_vector():
        t = tile.next()
        pl.load(t, x, [0, 0])
        pl.store(y, t, [0, 0])
"""


@pytest.mark.parametrize("declared, given", [("UINT32", np.int32), ("UINT32", np.uint32), ("UINT16", np.int16), ("UINT16", np.uint16), ("INT32", np.int32)])
def test_unsigned_tensors_also_come_as_signed_arrays_of_their_width(declared, given):
    x = np.arange(-128, 128).astype(given).reshape(8, 32)
    y = np.zeros_like(x)
    load(COPY.format(declared))["copy"][None, 1](x, y)
    assert np.array_equal(x, y)


@pytest.mark.parametrize("declared, given", [("UINT32", np.int64), ("UINT32", np.int16), ("UINT16", np.int32), ("INT32", np.uint32), ("FP32", np.int32), ("UINT32", np.float32)])
def test_any_other_type_is_refused(declared, given):
    x = np.zeros((8, 32), given)
    with pytest.raises(LaunchTypeError, match="where .* is declared; convert it before the launch"):
        load(COPY.format(declared))["copy"][None, 1](x, x.copy())
