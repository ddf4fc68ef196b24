"""Kernels as torch operators: values, schema, and graph capture without running anything."""
from __future__ import annotations

import numpy as np
import pytest
import support

import xpto
from xpto.errors import LaunchError

torch = pytest.importorskip("torch", reason="torch is not installed (Debian: python3-torch); its operators are not tested")

SCALED = '''
import pypto_pro.language as pl

@pl.jit(auto_mutex=True)
def scaled(x: pl.Tensor[[32, 32], pl.DT_FP32], factor: pl.DT_FP32, y: pl.Tensor[[32, 32], pl.DT_FP32]):
    tile = pl.TileType(shape=[32, 32], dtype=pl.DT_FP32)
    t = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0])
    with pl.section_vector():
        a = t.next()
        pl.load(a, x, [0, 0])
        pl.mul(a, a, factor)
        pl.store(y, a, [0, 0])
'''


@pytest.fixture(scope="module")
def add():
    kernel = support.load(support.example_text("vector_add"))["vector_add"]
    return xpto.register_op(kernel, "xpto_test::add", shapes={"z": "x"}, block_dim=2)


@pytest.fixture(scope="module")
def scaled():
    return xpto.register_op(support.load(SCALED)["scaled"], "xpto_test::scaled")


def test_values_and_schema(add, scaled):
    x, y = torch.randn(70, 33).half(), torch.randn(70, 33).half()
    assert torch.equal(add(x, y), x + y)
    assert str(add.default._schema) == "xpto_test::add(Tensor x, Tensor y) -> Tensor"
    assert str(scaled.default._schema) == "xpto_test::scaled(Tensor x, float factor) -> Tensor"
    a = torch.randn(32, 32)
    assert torch.equal(scaled(a.t(), 2.0), a.t() * 2)  # a view with strides is copied for the kernel


def test_meta_tensors_run_nothing(add, scaled):
    out = add(torch.empty(5, 7, dtype=torch.float16, device="meta"), torch.empty(5, 7, dtype=torch.float16, device="meta"))
    assert out.device.type == "meta" and out.shape == (5, 7) and out.dtype == torch.float16
    assert scaled(torch.empty(32, 32, device="meta"), 1.0).shape == (32, 32)


def test_fx_tracing(scaled):
    def model(x):
        return torch.relu(torch.ops.xpto_test.scaled(x, -1.0))
    graph = torch.fx.symbolic_trace(model)
    assert any("scaled" in str(n.target) for n in graph.graph.nodes if n.op == "call_function")
    x = torch.randn(32, 32)
    assert torch.equal(graph(x), torch.relu(-x))


def test_capture_with_fake_tensors(scaled):
    proxy = pytest.importorskip("torch.fx.experimental.proxy_tensor", reason="this torch captures no graphs with fake tensors")
    x = torch.randn(32, 32)
    graph = proxy.make_fx(lambda t: scaled(t, 3.0) + 1, tracing_mode="fake")(x)
    assert [n for n in graph.graph.nodes if "scaled" in str(n.target)] and torch.equal(graph(x), x * 3 + 1)


needs_compile = pytest.mark.skipif(not hasattr(torch, "compile"), reason=f"torch {torch.__version__} has no torch.compile; fx and fake tensors are tested above")


@needs_compile
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile_captures_whole_graphs(scaled, backend):
    x = torch.randn(32, 32)
    compiled = torch.compile(lambda t: torch.relu(torch.ops.xpto_test.scaled(t, 3.0)) + 1, backend=backend, fullgraph=True)
    assert torch.equal(compiled(x), torch.relu(x * 3) + 1)


@needs_compile
def test_torch_compile_with_sizes_left_open(add):
    compiled = torch.compile(lambda p, q: add(p, q) + 1, backend="aot_eager", fullgraph=True, dynamic=True)
    for shape in ((70, 33), (5, 9)):
        x, y = torch.randn(shape).half(), torch.randn(shape).half()
        assert torch.equal(compiled(x, y), x + y + 1)


@needs_compile
def test_torch_compile_sees_what_is_changed_in_place():
    into = xpto.register_op(support.load(SCALED)["scaled"], "xpto_test::captured_into", mutates=["y"])

    def model(x, y):
        into(x, 2.0, y)
        return y + 1
    x, y = torch.randn(32, 32), torch.zeros(32, 32)
    assert torch.equal(torch.compile(model, backend="aot_eager", fullgraph=True)(x, y), x * 2 + 1) and torch.equal(y, x * 2)


@pytest.mark.skipif(not hasattr(torch.library, "opcheck"), reason=f"torch {torch.__version__} has no torch.library.opcheck")
def test_torchs_own_check_of_operators(add, scaled):
    """Schema, meta function against values, capture with open sizes."""
    half = torch.randn(6, 5).half()
    for operator, arguments in ((scaled, (torch.randn(32, 32), 2.0)), (add, (half, half.clone()))):
        assert set(torch.library.opcheck(operator.default, arguments).values()) == {"SUCCESS"}


def test_the_kernel_is_replaced_by_registering_again(scaled):
    xpto.register_op(support.load(SCALED.replace("pl.mul(a, a, factor)", "pl.add(a, a, factor)"))["scaled"], "xpto_test::scaled")
    x = torch.randn(32, 32)
    assert torch.equal(scaled(x, 2.0), x + 2)
    xpto.register_op(support.load(SCALED)["scaled"], "xpto_test::scaled")


def test_in_place(tmp_path):
    kernel = support.load(SCALED)["scaled"]
    op = xpto.register_op(kernel, "xpto_test::scaled_into", mutates=["y"])
    x, y = torch.randn(32, 32), torch.zeros(32, 32)
    assert op(x, 2.0, y) is None and torch.equal(y, x * 2)
    assert "Tensor(a!) y" in str(op.default._schema)


def test_the_call_path_is_the_devices(scaled):
    """The session's device is asked at the call, and its refusal arrives in words."""
    kernel = support.load(SCALED)["scaled"]
    op = xpto.register_op(kernel, "xpto_test::on_a_card", device="npu:63")
    with pytest.raises(LaunchError, match="npu:63 cannot be chosen"):
        op(torch.zeros(32, 32), 1.0)
    xpto.register_op(kernel, "xpto_test::on_sim", device="sim")(torch.zeros(32, 32), 1.0)
    assert kernel.last_run.status == "done"


@pytest.mark.parametrize("options, words", [
    ({}, "leaves the shape of z open"), ({"mutates": ["q"]}, "no parameter"), ({"shapes": {"z": "x"}, "name": "no_namespace"}, "namespace::name")])
def test_refusals(options, words):
    kernel = support.load(support.example_text("vector_add"))["vector_add"]
    with pytest.raises(LaunchError, match=words):
        xpto.register_op(kernel, **{"name": "xpto_test::refused", **options})


def test_another_schema_is_refused(scaled):
    with pytest.raises(LaunchError, match="torch cannot change"):
        xpto.register_op(support.load(support.example_text("vector_add"))["vector_add"], "xpto_test::scaled", shapes={"z": "x"})


def test_shapes_by_a_function_and_by_meta():
    kernel = support.load(support.example_text("vector_add"))["vector_add"]
    x = torch.ones(6, 4).half()
    for n, how in enumerate(({"shapes": {"z": lambda x, y: x.shape}}, {"meta": lambda x, y: torch.empty_like(x)})):
        assert torch.equal(xpto.register_op(kernel, f"xpto_test::add_{n}", **how)(x, x), x + x)
    assert np.all(x.numpy() == 1)
