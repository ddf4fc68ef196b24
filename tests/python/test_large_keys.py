"""A key class of ninety million combinations: a launch names one, and nothing lists them."""
from __future__ import annotations

import pytest

from xpto import tiling_keys
from xpto.errors import PtoError

import pypto_pro.language as pl  # after xpto, which stands in for it


class Large:
    A = pl.TilingKeyField(bits=10, values=list(range(450)))
    B = pl.TilingKeyField(bits=10, values=list(range(450)))
    C = pl.TilingKeyField(bits=10, values=list(range(450)))

    def is_valid(self, values):
        return values[2] >= 7


def test_the_first_legal_key_is_found_at_once():
    assert tiling_keys.first_legal(Large) == {"A": 0, "B": 0, "C": 7}


def test_a_first_legal_key_that_lies_far_away_is_not_searched_for():
    class Far(Large):
        A, B, C = Large.A, Large.B, Large.C

        def is_valid(self, values):
            return values[0] == 449

    with pytest.raises(PtoError, match="Far.is_valid refuses the first 100000 of 91125000 keys: compile with the key that a launch names"):
        tiling_keys.first_legal(Far)


def test_a_listing_says_how_many_there_are():
    with pytest.raises(PtoError, match="Large has 91125000 combinations of values, and at most 100000 are listed"):
        tiling_keys.split(Large)
