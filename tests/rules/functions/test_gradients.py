"""Where gradients may start, and what they are: asked of autograd itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import COMPLEX64, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN
from tests.rules.symbolic import B, D, f32, report


def lifted(t: torch.Tensor | None) -> TensorType | None:
    return None if t is None else tensor(*t.shape, dtype=FLOAT64 if t.dtype == torch.float64 else FLOAT32)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3,), (3, 5), (0,)], ids=str)
@pytest.mark.parametrize("gradient", [None, (), (1,), (3,), (3, 5), (5, 3)], ids=str)
def test_backward_refuses_as_torch_does(shape: tuple[int, ...], gradient: tuple[int, ...] | None) -> None:
    leaf = torch.ones(shape, requires_grad=True)
    start = None if gradient is None else torch.ones(gradient)
    try:
        (leaf * 2).backward(start)  # type: ignore[no-untyped-call]
        taken = True
    except RuntimeError:
        taken = False
    for name in ("Tensor.backward", "torch.autograd.backward"):
        answer = infer(name, (lifted(leaf), lifted(start)))
        assert answer is None if taken else isinstance(answer, Report), answer
    answer = infer("torch.autograd.grad", (lifted(leaf), lifted(leaf), lifted(start)))
    assert answer == (lifted(leaf),) if taken else isinstance(answer, Report), answer


def test_several_outputs_and_inputs() -> None:
    a, b, loss = tensor(3, 5, dtype=FLOAT32), tensor(7, dtype=FLOAT64), tensor(dtype=FLOAT32)
    assert infer("torch.autograd.grad", (loss, (a, b))) == (a, b)
    assert infer("torch.autograd.grad", ((loss, loss), a)) == (a,)
    assert infer("torch.autograd.grad", ((loss, a), a, (None, a))) == (a,)
    assert isinstance(infer("torch.autograd.grad", ((loss, a), a)), Report)
    assert isinstance(infer("torch.autograd.grad", ((loss, loss), a, (loss,))), Report)
    assert infer("torch.autograd.grad", (loss, (a, b)), {"allow_unused": True}) is ANYTHING
    assert infer("torch.autograd.grad", (loss, ANYTHING)) is ANYTHING


@pytest.mark.parametrize("loss", [TensorType(), tensor(UNKNOWN), tensor(ANY_REST), tensor(1), tensor()], ids=str)
def test_what_may_be_a_number_is_not_refused(loss: TensorType) -> None:
    assert infer("Tensor.backward", (loss,)) is None
    assert infer("Tensor.backward", (tensor(3), ANYTHING)) is None


def test_the_norm_before_clipping_and_the_vector_of_parameters() -> None:
    assert infer("torch.nn.utils.clip_grad_norm_", (ANYTHING, 1.0)) == tensor()
    weight, bias = tensor(D, 5, dtype=FLOAT32), tensor(D, dtype=FLOAT32)
    assert infer("torch.nn.utils.parameters_to_vector", ((weight, bias),)) == tensor(6 * D, dtype=FLOAT32)
    assert infer("torch.nn.utils.parameters_to_vector", (ANYTHING,)) == tensor(UNKNOWN)


@pytest.mark.parametrize(("args", "text", "hint"), [
    (
        (f32(B),),
        "backward: input is (B,), but without gradient only one number can be differentiated [input: Float32[B]]",
        "reduce it to a scalar first, as .mean() or .sum() does",
    ),
    (
        (f32(3, 5), f32(5)),
        "backward: gradient is (5,), but input is (3, 5); they must be equal "
        "[input: Float32[3, 5], gradient: Float32[5]]",
        None,
    ),
    (
        (tensor(dtype=INT64),),
        "backward: input is Int64, but only floating and complex tensors have gradients [input: Int64[]]",
        "take the gradient before the result is cast to ints",
    ),
    (
        (tensor(dtype=COMPLEX64),),
        "backward: input is Complex64, but without gradient only a real number can be differentiated "
        "[input: Complex64[]]",
        "input.real or input.abs()",
    ),
])  # fmt: skip
def test_messages(args: tuple[Any, ...], text: str, hint: str | None) -> None:
    found = report("Tensor.backward", *args)
    assert (found.text, found.hint) == (text, hint)
