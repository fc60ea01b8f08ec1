"""What surrounds a checked call: autocast, transforms, tracing, compilation. Neither broken graphs nor false alarms."""

from __future__ import annotations

import pytest
import torch

from simpletorch import B, Float, Float16, Float32, Tensor, checked, nn
from simpletorch.errors import DTypeMismatch, ShapeMismatch


@checked
def linear(x: Tensor[Float32, B, 4], w: Tensor[Float32, 3, 4]) -> Tensor[Float32, B, 3]:
    return torch.nn.functional.linear(x, w)


def test_under_autocast_a_float_annotation_means_a_float():
    x, w = torch.zeros(2, 4), torch.zeros(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(x, w).dtype == torch.bfloat16
        assert linear(x.bfloat16(), w).dtype == torch.bfloat16
        with pytest.raises(ShapeMismatch):
            linear(x, torch.zeros(3, 4, 1))
        with pytest.raises(DTypeMismatch):
            linear(x.long(), w)
    with pytest.raises(DTypeMismatch):
        linear(x.bfloat16(), w)


def test_what_passed_under_autocast_has_not_passed_outside():
    @checked
    def half(x: Tensor[Float32, 2]) -> Tensor[Float32, 2]:
        return x.to(torch.bfloat16)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        half(torch.zeros(2))
    with pytest.raises(DTypeMismatch, match="the result is BFloat16"):
        half(torch.zeros(2))


def test_vmap_sees_one_example():
    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32]:
        return x.sum()

    assert torch.vmap(f)(torch.ones(5, 3)).shape == (5,)
    with pytest.raises(ShapeMismatch):
        torch.vmap(f)(torch.ones(5, 4))


def test_function_transforms():
    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32]:
        return (x * x).sum()

    x = torch.ones(3)
    assert torch.equal(torch.func.grad(f)(x), 2 * x)
    assert torch.func.jvp(f, (x,), (x,))[1] == 6
    assert torch.func.jacrev(f)(x).shape == (3,)
    assert torch.func.hessian(f)(x).shape == (3, 3)


def test_fake_and_meta_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert linear(torch.zeros(2, 4), torch.zeros(3, 4)).shape == (2, 3)
    assert linear(torch.zeros(2, 4, device="meta"), torch.zeros(3, 4, device="meta")).shape == (2, 3)


def test_fx_tracing_sees_through_the_border():
    graph = torch.fx.symbolic_trace(linear)
    assert graph(torch.ones(2, 4), torch.ones(3, 4)).tolist() == [[4.0] * 3] * 2


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_jit_tracing_sees_through_the_border():
    traced = torch.jit.trace(linear, (torch.ones(2, 4), torch.ones(3, 4)))
    assert traced(torch.ones(5, 4), torch.ones(3, 4)).shape == (5, 3)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 3]:
        return torch.relu(self.fc(x))


def test_export_with_a_dynamic_batch():
    program = torch.export.export(Net(), (torch.zeros(2, 4),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    assert program.module()(torch.zeros(7, 4)).shape == (7, 3)


@pytest.mark.slow
def test_compile_finds_one_whole_graph():
    net = Net()
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    for rows in (2, 3, 5):
        assert torch.equal(compiled(torch.ones(rows, 4)), net(torch.ones(rows, 4)))
    assert torch.equal(
        torch.compile(linear, fullgraph=True, backend="eager")(torch.ones(2, 4), torch.ones(3, 4)),
        torch.full((2, 3), 4.0),
    )
    explained = torch._dynamo.explain(net)(torch.ones(2, 4))
    assert explained.graph_break_count == 0


def test_float16_is_no_float32_but_is_a_float():
    @checked
    def f(x: Tensor[Float, 2], y: Tensor[Float16, 2]) -> None: ...

    f(torch.zeros(2, dtype=torch.float16), torch.zeros(2, dtype=torch.float16))
    with pytest.raises(DTypeMismatch):
        f(torch.zeros(2), torch.zeros(2))
