"""What makes a variant and what reaches it by value: tiling dataclasses, tiling keys, datatype mappings, scalars (language 1.3 and 7)."""
from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from support import example_text, load

from xpto.errors import CompileError, LaunchError, LaunchTypeError

PLAIN = '''
import pypto_pro.language as pl


@pl.jit()
def k(x: pl.Tensor[[8], pl.DT_INT64], n: pl.DT_INT32):
    with pl.section_vector():
        x[0] = n
'''

KEYED = '''
from __future__ import annotations
import pypto_pro.language as pl


def OTHER():
    pass


class Key:
    SPLIT = pl.TilingKeyField(bits=2, values=[1, 2, 4])
    OTHER = pl.TilingKeyField(bits=1, values=[0, 1])

    def is_valid(self, key):
        return not (key[0] == 4 and key[1] == 1)


@pl.jit(tiling_key=Key)
def k(x: pl.Tensor[[SPLIT * 8], pl.DT_INT64]):
    with pl.section_vector():
        if SPLIT == 4:
            x[0] = x.shape[0]
        elif SPLIT == 2:
            x[0] = undefined if SPLIT == 3 else 20
        else:
            x[0] = len([v for v in (1, 2, 3) if v > SPLIT])
        x[1] = OTHER
'''


def test_a_key_folds_everywhere_and_hides_a_function_of_its_name() -> None:
    k = load(KEYED)["k"]
    for split, expected in ((1, 2), (2, 20), (4, 32)):
        x = np.zeros(8 * split, np.int64)
        k[None, 1, {"OTHER": split % 2, "SPLIT": split}](x)
        assert list(x[:2]) == [expected, split % 2]


@pytest.mark.parametrize("key, error, text", [
    ({"SPLIT": 4, "OTHER": 1}, LaunchError, r"is_valid refuses.*\n +def is_valid"),
    ({"SPLIT": 3, "OTHER": 0}, LaunchError, "SPLIT=3 is not among its values"),
    ({"SPLIT": 1}, LaunchError, r"must name exactly SPLIT, OTHER, got \['SPLIT'\]; write k\[None, 1, "),
    (None, LaunchError, "got none"),
    ([1, 0], LaunchError, r"got \[1, 0\]"),
    ({"SPLIT": 1.0, "OTHER": 0}, LaunchTypeError, "SPLIT=1.0 is no int"),
])
def test_a_key_that_is_no_variant_is_refused_at_the_launch(key, error, text) -> None:
    with pytest.raises(error, match=text):
        load(KEYED)["k"][None, 1, key](np.zeros(8, np.int64))


@pytest.mark.parametrize("old, new, text", [
    ("def OTHER():\n    pass", "OTHER = 3", r"Key.OTHER is a variable of the module too \(OTHER = 3\)"),
    ("def k(x:", "def k(SPLIT:", "Key.SPLIT is a parameter of k too"),
    ("bits=2", "bits=64", "needs 65 bits"),
    ("def is_valid(self, key):\n        return not (key[0] == 4 and key[1] == 1)", "is_valid = 3", "is_valid is a int"),
    ("tiling_key=Key", "tiling_key=Key()", "is no class"),
    ("tiling_key=Key", "tiling_key=int", "has no TilingKeyField"),
])
def test_a_key_class_is_checked_by_the_decorator(old, new, text) -> None:
    assert old in KEYED
    with pytest.raises(CompileError, match=text):
        load(KEYED.replace(old, new))


TYPED = '''
from __future__ import annotations
import pypto_pro.language as pl


@pl.jit(datatype={"x": "T", "y": "T"})
def k(x: pl.Tensor[[8, 64], T], y: pl.Tensor[[8, 64], T], seen: pl.Tensor[[8], pl.DT_INT64]):
    t = pl.make_tile_group(type=pl.TileType(shape=[8, 64], dtype=T), addrs=0, mutex_ids=[0]).next()
    with pl.section_vector():
        if T == pl.DT_FP16:
            seen[0] = 16
        else:
            seen[0] = T.get_bit() + 1
        pl.load(t, x, [0, 0])
        pl.store(y, t, [0, 0])
'''


def test_a_datatype_is_a_constant_of_its_variant() -> None:
    space = load(TYPED)
    pl = space["pl"]
    for dtype, host, expected in ((pl.DT_FP16, np.float16, 16), (pl.DT_FP32, np.float32, 33)):
        x = np.arange(512, dtype=host).reshape(8, 64)
        y, seen = np.zeros_like(x), np.zeros(8, np.int64)
        space["k"][None, 1, {"x": dtype, "y": dtype}](x, y, seen)
        assert (x == y).all() and seen[0] == expected


def test_a_datatype_mapping_names_every_parameter_by_a_type() -> None:
    space = load(TYPED)
    k, pl = space["k"], space["pl"]
    x, seen = np.zeros((8, 64), np.float16), np.zeros(8, np.int64)
    for mapping, error, text in [({"x": pl.DT_FP16}, LaunchError, "must name exactly x, y, got .'x'.; write {'x': pl.DT_FP16, 'y': pl.DT_FP16}"),
                                 ({"x": pl.DT_FP16, "y": pl.DT_FP32}, LaunchError, "dtype T must agree"),
                                 ({"x": "fp16", "y": "fp16"}, LaunchTypeError, "the dtype of x is 'fp16'"), (None, LaunchError, "got None")]:
        with pytest.raises(error, match=text):
            k[None, 1, mapping](x, x, seen)
    with pytest.raises(LaunchTypeError, match="has no tiling_key="):
        k[None, 1, None, {"x": pl.DT_FP16, "y": pl.DT_FP16}](x, x, seen)
    plain = load(PLAIN)["k"]
    with pytest.raises(LaunchError, match="has no datatype="):
        plain[None, 1, {"x": pl.DT_FP16}](np.zeros(8, np.int64), 1)


@pytest.mark.parametrize("schema, text", [
    ("{}", "expected a dict"), ('{"q": "T"}', "there is no parameter 'q'; the kernel has x, y, seen"), ('{"x": "1T"}', "cannot be a variable"),
    ('{"x": "for"}', "cannot be a variable"), ('{"x": 3}', "cannot be a variable"), ('{"x": "y"}', "'y' is a parameter too"),
])
def test_a_datatype_schema_is_checked_by_the_decorator(schema, text) -> None:
    with pytest.raises(CompileError, match=text):
        load(TYPED.replace('{"x": "T", "y": "T"}', schema))


TILED = '''
from __future__ import annotations
from dataclasses import dataclass
import pypto_pro.language as pl


@dataclass
class Plan:
    rows: int
    scale: float
    last: bool
    offs: int[3]


@pl.jit()
def k(x: pl.Tensor[[8], pl.DT_FP32], n: pl.Tensor[[8], pl.DT_INT64], plan: Plan):
    with pl.section_vector():
        for i in pl.range(3):
            n[i] = plan.offs[i] * plan.rows
        x[0] = plan.scale
        n[3] = plan.rows if plan.last else 0
'''


def tiled(text: str = TILED) -> dict:
    """A module that dataclasses can find: its annotations are text."""
    module = types.ModuleType("tiled_kernels")
    sys.modules[module.__name__] = module
    space = load(text.replace("import annotations\n", "import annotations\n__name__ = 'tiled_kernels'\n"))
    module.__dict__.update(space)
    return space


def test_tiling_data_is_a_run_time_value() -> None:
    space = tiled()
    x, n = np.zeros(8, np.float32), np.zeros(8, np.int64)
    space["k"](x, n, space["Plan"](-(2 ** 40), 0.1, True, [1, -2, 3]))
    assert list(n[:4]) == [-(2 ** 40), 2 ** 41, -3 * 2 ** 40, -(2 ** 40)] and x[0] == np.float32(0.1)
    space["k"](x, n, space["Plan"](np.int32(2), 3, False, np.array([4, 5, 6])))
    assert list(n[:4]) == [8, 10, 12, 0] and x[0] == 3 and len(space["k"]._compiled) == 1


@pytest.mark.parametrize("fields, error, text", [
    ((1.5, 1.0, True, [1, 2, 3]), LaunchTypeError, r"k\(plan\).rows: expected an int, got 1.5"),
    ((1, "a", True, [1, 2, 3]), LaunchTypeError, r"k\(plan\).scale: expected a float, got 'a'"),
    ((1, 1.0, 2, [1, 2, 3]), LaunchError, r"k\(plan\).last: 2 does not fit bool"),
    ((2 ** 63, 1.0, True, [1, 2, 3]), LaunchError, r"k\(plan\).rows: 9223372036854775808 does not fit index"),
    ((1, 1.0, True, [1, 2]), LaunchError, r"k\(plan\).offs: 2 elements where 3 are declared"),
    ((1, 1.0, True, [1, 2, 0.5]), LaunchTypeError, r"k\(plan\).offs: expected an int, got 0.5"),
])
def test_tiling_data_fits_its_class(fields, error, text) -> None:
    space = tiled()
    with pytest.raises(error, match=text):
        space["k"](np.zeros(8, np.float32), np.zeros(8, np.int64), space["Plan"](*fields))


def test_every_field_that_cannot_be_tiling_data_is_named_once() -> None:
    wrong = TILED.replace("rows: int", "rows: str").replace("offs: int[3]", "offs: int[0]\n    more: float[SIZE]\n    many: bool[2049]")
    found = [d for d in tiled(wrong)["k"].compile().diagnostics if d["severity"] == "error"]
    assert [d["code"] for d in found] == ["PTO-tiling-class"]
    for text in ("field rows has type str", "field offs", "[0]", "field more", "[SIZE]", "field many", "[2049]"):
        assert text in found[0]["message"]


@pytest.mark.parametrize("value, error, text", [
    (2 ** 32, LaunchError, r"k\(n\): 4294967296 does not fit int32 \(-2147483648 to 2147483647\)"), (-(2 ** 31) - 1, LaunchError, "does not fit int32"), (1.0, LaunchTypeError, "expected an int"),
    (None, LaunchTypeError, "expected an int"),
])
def test_a_scalar_argument_fits_its_type(value, error, text) -> None:
    k = load(PLAIN)["k"]
    x = np.zeros(8, np.int64)
    k(x, -5)
    k(x, np.uint8(250))
    assert x[0] == 250
    k(x, 0xC0000000)  # the bits of -2.0f, as fixpipe factors are passed
    assert x[0] == 0xC0000000 - 2 ** 32
    with pytest.raises(error, match=text):
        k(x, value)


def test_dynamic_sizes_make_no_variant_beside_static_ones() -> None:
    space = load("from __future__ import annotations\nimport pypto_pro.language as pl\n\n@pl.jit()\n"
                 "def k(x: pl.Tensor[[pl.DYNAMIC, pl.STATIC], pl.DT_INT64]):\n    with pl.section_vector():\n        x[0, 0] = x.shape[0] * x.shape[1]\n")
    for rows, columns, variants in ((3, 4, 1), (5, 4, 1), (5, 6, 2)):
        x = np.zeros((rows, columns), np.int64)
        space["k"](x)
        assert x[0, 0] == rows * columns and len(space["k"]._compiled) == variants


def test_an_edited_chip_file_is_another_chip(tmp_path) -> None:
    """A session compiles again when the chip file of a kernel's target has changed, and keeps what it has otherwise."""
    import json

    kernel = load(example_text())["relu_matmul"]
    file = tmp_path / "mine.json"

    def compiled(startup: int):
        file.write_text(json.dumps({"schema": 1, "name": "mine", "based_on": "ascend950pr", "timing": [
            {"key": "cube.fp32", "startup": startup, "per_unit": "1", "unit": "16x16x1", "grade": "derived", "source": "test"}]}))
        return kernel.compile(target=str(file))

    quick = compiled(5)
    assert compiled(5) is quick
    slow = compiled(50000)
    assert slow is not quick
    assert slow.to_json()["predicted"]["us"] > 2 * quick.to_json()["predicted"]["us"]
    file.unlink()
    gone = kernel.compile(target=str(file))
    assert not gone.ok and "cannot be read" in str(gone.text())
