"""Eager calls go straight to the implementation, and through the dispatcher where anything else has a say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from simpletorch import Float, Tensor, kernels
from simpletorch.kernels._direct import ELSEWHERE, direct_call
from tests.kernels.operators import CALLS, double_, halves, positive, relu_add, split, tensor, total


class Own(torch.Tensor):
    """A tensor of the user's own class."""


def is_direct(op: Any, *values: Any) -> bool:
    call = direct_call(op)
    return call is not None and call(values) is not ELSEWHERE


def test_plain_tensors_take_the_short_way():
    x = tensor(3, 10)
    assert is_direct(relu_add, x, x)
    assert is_direct(relu_add, x.requires_grad_(), torch.nn.Parameter(x))
    assert is_direct(halves, x, 0.5, False)
    assert is_direct(positive, tensor(7))
    with torch.no_grad():
        assert is_direct(relu_add, x, x.T.T)


def test_inference_takes_the_short_way():
    x = tensor(3, 5)
    with torch.inference_mode():
        made = relu_add(x, x)
        assert made.is_inference()
        assert is_direct(relu_add, x, made)


STATES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "autocast": lambda: torch.autocast("cpu"),
    "a mode": lambda: FlopCounterMode(display=False),
    "tensors without values": FakeTensorMode,
    "a default device": lambda: torch.device("cpu"),
    "the profiler": lambda: profile(activities=[ProfilerActivity.CPU]),
}


@pytest.mark.parametrize("state", STATES)
def test_the_dispatcher_is_asked_under(state: str):
    x = tensor(3, 5)
    with STATES[state]():
        assert not is_direct(relu_add, x, x)


def test_the_dispatcher_is_asked_under_a_transform():
    x, found = tensor(3, 5), []

    def look(x: torch.Tensor) -> torch.Tensor:
        found.append(is_direct(relu_add, x, x))
        return x

    torch.vmap(look)(x)
    torch.func.vjp(look, x)
    torch.jit.trace(look, (x,), check_trace=False)
    assert found == [False] * 3


@pytest.mark.parametrize(
    "values",
    [
        (tensor(3, 10).to_sparse(), 0.5, False),
        (tensor(3, 10).to("meta"), 0.5, False),
        (tensor(3, 10).as_subclass(Own), 0.5, False),
        (torch.complex(tensor(3, 10), tensor(3, 10)).conj(), 0.5, False),
        (tensor(3, 10), 2, False),
        (tensor(3, 10), 0.5, 1),
        (tensor(3, 10), 0.5),
        ("no tensor", 0.5, False),
    ],
    ids=["sparse", "meta", "subclass", "conjugate", "int for float", "int for bool", "too few", "no tensor"],
)
def test_the_dispatcher_is_asked_of(values: tuple[Any, ...]):
    assert not is_direct(halves, *values)


def test_lists_and_changes_in_place_go_through_the_dispatcher():
    assert [direct_call(op) for op in (double_, split, total)] == [None] * 3


@pytest.mark.parametrize("name", CALLS)
def test_both_ways_give_the_same(name: str):
    op, values = CALLS[name]
    if direct_call(op) is None:
        pytest.skip("there is one way")
    found = []
    for call in (op.unchecked, op.op):
        results = call(*values)
        results = results if isinstance(results, tuple) else (results,)
        leaves = [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad]
        outputs = [r for r in results if r.requires_grad]
        grads = torch.autograd.grad([r.sum() for r in outputs], leaves) if outputs else ()
        found.append(([r.detach() for r in results], [r.requires_grad for r in results], grads))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=0, atol=0)
    assert found[0][1] == found[1][1]
    torch.testing.assert_close(found[0][2], found[1][2], rtol=0, atol=0)


def test_what_an_implementation_uses_besides_its_arguments_gets_no_gradient():
    weight = torch.nn.Parameter(torch.ones(3))

    @kernels.operator("kernel_tests::with_a_weight")
    def weighted(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        assert not torch.is_grad_enabled()
        return x * weight

    assert not weighted(torch.ones(3)).requires_grad
    assert torch.is_grad_enabled()
    with pytest.raises(RuntimeError, match="size of tensor a"):
        weighted.unchecked(torch.ones(5))
    assert torch.is_grad_enabled()


def test_the_profiler_knows_the_operator_by_its_name():
    x = tensor(3, 5)
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        relu_add(x, x)
    assert "kernel_tests::relu_add" in {event.key for event in seen.key_averages()}


def test_an_implementation_that_comes_later_is_the_one_that_runs():
    @kernels.operator("kernel_tests::tripled")
    def tripled(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        return x * 3

    assert tripled(torch.ones(2)).tolist() == [3, 3]
    tripled.cpu(lambda x: x * 3 + 1)
    assert tripled(torch.ones(2)).tolist() == [4, 4]
    tripled.cpu(lambda x: x * 3 + 2)
    assert tripled(torch.ones(2)).tolist() == [5, 5]
