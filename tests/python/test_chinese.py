"""Every sentence that a comparison composes has its Chinese form, and JSON keeps the English one."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import xpto
from xpto import chinese, config, difference_kinds

SAMPLES = [
    "overtaken slot: the tile of task 0 equals the right value of task 2 (distance 2 = slots of p)",
    "stale slot: the tile of task 2 equals the right value of task 1 (distance -1)",
    "padding joined a maximum: 0.0 where every expected value is negative in the tail tile, columns 64 to 69 of 70 (tiles of 64); fill with min padding "
    "(pl.fillpad into a tile with pad=pl.TilePad.min) or set the valid shape before the reduction",
    "padding joined a maximum: 0.0 where every expected value is negative; fill with min padding "
    "(pl.fillpad into a tile with pad=pl.TilePad.min) or set the valid shape before the reduction",
    "rows from 48 on (16 of 64), all 0: the tail's valid shape or padding",
    "columns from 7 on (2 of 64): the tail's valid shape or padding",
    "sign: the values are the negated reference",
    "constant factor: the values are 0.125 times the reference",
    "permuted: upper and lower half of the rows are exchanged (split between the vector cores)",
    "permuted: left and right half of the columns are exchanged",
    "permuted: rows and columns are exchanged (transposed)",
    "permuted: fractals of 16x8: NZ data stored as ND (layout)",
    "permuted: fractals of 16x16: ND data read as NZ (layout)",
    "permuted: halves of each 64-row tile are exchanged (split between the vector cores)",
    "permuted: the same values in other places (layout, split or index)",
    "uniform rows where NaN is due (3 rows of 0.5): the mask constant is finite, so a fully masked row becomes uniform instead of NaN",
    "cast ties: 4 elements lie halfway between two bf16 numbers and went away from zero; the reference's cast goes to even (rounding mode: CAST_ROUND against CAST_RINT)",
    "cast ties: 4 elements lie halfway between two bf16 numbers and did not go to even (rounding mode)",
    "cast: every value went toward zero (trunc), the reference's cast goes to nearest even (rounding mode)",
    "cast: every value went down (floor), the reference's cast goes to nearest even (rounding mode)",
    "cast ties: 3 elements differ by one fp16 unit, each where the reference is even; the output went away from zero (rounding mode: CAST_ROUND against CAST_RINT)",
    "accumulation dtype: errors fit sums of 512 terms kept in fp16 (they grow with the square root of K), not a wrong value",
    "accumulation dtype: errors grow with K=512, as sums kept in bf16 with one-sided rounding do",
    "scattered, at cancelled sums: 2 elements whose terms cancel to 0.001 of their size or less; the error is small against the terms (lawful)",
    "order-dependent, within bound: cores add atomically in no fixed order, so bits differ from run to run",
    "none of the known kinds",
    "%pto_run with hostile=all shows the race", "the last run: race", "nothing is right", "the other 3 of 4 tasks are within 2.7 sigma",
    "all others are within 0.0 sigma", "out[0:64, 0:64] = one whole task tile, task 0", "out[0:64, 0:63] holds them, 12 of 4,032, tasks 0, 2; NaN out of place 3 times",
    "rtol=0.01 atol=0.01 also holds", "rtol=0.01 fails at 3 of 16,384; atol=0.1 would hold",
    "K=64 twice, fp32 sums, relu between", "K=64 as given, fp32 sums, sizes estimated from the reference, the fp32 reference's as well",
    "K=64 twice from the kernel's matmuls, fp32 sums, sizes estimated from the reference, cast to fp16", "integers: no rounding",
    "fp32 operations, exp and add", "no sums in the kernel, one rounding, fp32 sums, sizes estimated from the reference",
    "one rounding (nothing is known of the sums: pass k=), fp32 sums, sizes estimated from the reference",
    "12 operations of the kernel, one rounding each, fp32 sums, sizes estimated from the reference", "numpy float64", "function in float64",
    "error grows as K**0.50: as sums in fp32 do", "error grows as K**0.52: accumulation dtype: sums were kept in fp16, the threshold is for fp32; not a bug",
]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("sentence", SAMPLES)
def test_sentences_have_their_chinese_form(sentence):
    made = chinese.translated(sentence)
    assert made != sentence and "{" not in made
    english = re.sub(r"`[^`]*`|[A-Za-z0-9_.]+\.[A-Za-z]\w*|\b(?:numpy|torch|cast|exp|add|relu|max|NaN|NZ|ND|AIV|tile|atol|rtol|hostile|vector|all|and|trunc|floor|ceil|pto_run|out|p|k|K|pl|CAST_\w+|fp\d+|bf16|float64|race)\b", "", made)
    assert CHINESE.search(made) or sentence.startswith(("numpy", "torch")), made
    assert not re.search(r"[a-z]{4,}", english), f"{sentence!r} -> {made!r} still holds {re.findall('[a-z]{4,}', english)}"


def test_every_kind_in_the_source_has_a_sample():
    source = Path(difference_kinds.__file__).read_text(encoding="utf-8")
    heads = set(re.findall(r'Kind\(f?"([a-z ]+)[:{]', source)) | {"overtaken slot"}
    for head in heads:
        assert any(s.startswith(head.strip()) for s in SAMPLES), f"no sample begins with {head!r}"


def test_the_verdict_reads_chinese_and_its_json_english(monkeypatch):
    monkeypatch.setitem(config.values, "lang", "zh")
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    made = xpto.compare(-a - 1, a + 1, k=4)
    assert "符号" in made.text() and "阈值" in made.text() and "一次" not in made.text().splitlines()[0]
    assert made.kind == "sign: the values are the negated reference"


def test_the_settings_are_described_in_the_language_of_the_session(monkeypatch):
    monkeypatch.setitem(config.values, "lang", "en")
    assert "language of messages" in config.describe()
    monkeypatch.setitem(config.values, "lang", "zh")
    described = config.describe()
    assert "提示信息的语言" in described and len(described.splitlines()) == len(config.values)
    assert not re.search(r"chip to compile|seconds a launch", described)
