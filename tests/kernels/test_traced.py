"""What `torch.compile` sees of the shipped operators on a GPU: their kernels, for any number of rows. Needs no GPU."""

from __future__ import annotations

from importlib import import_module

import pytest
import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

pytest.importorskip("triton", reason="Triton is for Linux")

WIDTH = 1037


class GPU:
    """What `torch.cuda.get_device_properties` says of a GPU."""

    multi_processor_count = 132


@pytest.fixture
def gpu(monkeypatch):
    """Tensors without values on a GPU that isn't there, and a number of rows that isn't known."""
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: GPU)
    shapes = ShapeEnv()
    source = ConstantSource("rows")
    symbol = shapes.create_symbol(67, source=source, dynamic_dim=DimDynamic.DYNAMIC)
    with FakeTensorMode(shape_env=shapes):
        yield shapes.create_symintnode(symbol, hint=67, source=source)


def empty(*shape, dtype=torch.bfloat16):
    return torch.empty(shape, dtype=dtype, device="cuda")


CALLS = {
    "relu_add.relu_add_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH)),
    "relu_add.relu_add_backward_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH)),
    "softmax.softmax_cuda": lambda r: (empty(r, WIDTH), 0.5),
    "softmax.softmax_backward_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH), 0.5),
    "layer_norm.layer_norm_cuda": lambda r: (empty(r, WIDTH), empty(WIDTH), None, 1e-5),
    "layer_norm.layer_norm_backward_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH), empty(WIDTH), 1e-5),
    "rms_norm.rms_norm_cuda": lambda r: (empty(r, WIDTH), empty(WIDTH), 1e-5),
    "rms_norm.add_rms_norm_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH), empty(WIDTH), 1e-5),
    "rms_norm.rms_norm_backward_cuda": lambda r: (empty(r, WIDTH), None, empty(r, WIDTH), empty(WIDTH), 1e-5),
    "gated.swiglu_cuda": lambda r: (empty(r, WIDTH), empty(r, WIDTH)),
    "gated.geglu_packed_cuda": lambda r: (empty(r, 2 * WIDTH), True),
    "gated.gated_packed_backward_cuda": lambda r: (empty(r, WIDTH), empty(r, 2 * WIDTH), 0),
    "rotary.rotary_turned_cuda": lambda r: (empty(2, r, 5, 26), empty(r, 13), empty(r, 13), False),
    "cross_entropy.cross_entropy_rows_cuda": lambda r: (empty(r, WIDTH), empty(r, dtype=torch.int64), -100, 0.0),
    "dropout_add.dropout_seeded_cuda": lambda r: (empty(r, WIDTH), empty(dtype=torch.int64), 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_kernel_is_a_node_of_the_graph(name, gpu):
    module, _, function = name.partition(".")
    found = getattr(import_module(f"simpletorch.kernels.shipped.{module}"), function)
    graph = make_fx(found)(*CALLS[name](gpu)).graph
    kernels = [node for node in graph.nodes if "triton_kernel_wrapper" in str(node.target)]
    assert kernels
    assert gpu.node.shape_env.replacements == {}, "the number of rows became a constant"
