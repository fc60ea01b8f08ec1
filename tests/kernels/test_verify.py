"""`kernels.verify` passes what is right, and says of what is wrong which check, implementation and sample it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from simpletorch import Float, Int64, Tensor, kernels
from simpletorch.errors import TorchError
from tests.kernels.operators import CALLS


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"split"}))
def test_what_is_right_passes(name: str):
    op = CALLS[name][0]
    done = kernels.verify(op)
    checks = {check for check, _ in done.passed}
    assert checks >= {"results", "opcheck"}
    assert "check" in str(done)


@pytest.fixture
def summed() -> Any:
    @kernels.operator("kernel_tests::verified")
    def summed(x: Float[Tensor, "n m"], y: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
        return x + y

    return summed


def test_samples_are_made_of_every_dtype_odd_sizes_and_nothing(summed: Any):
    done = kernels.verify(summed)
    samples = " | ".join(done.passed["results", "reference on cpu"])
    for found in ("Float32[3, 5]", "Float64[3, 5]", "BFloat16[3, 5]", "Float16[3, 5]", "Float32[131, 37]"):
        assert found in samples
    for found in ("(not contiguous)", "(transposed)", "Float32[0, 3]", "Float32[3, 0]"):
        assert found in samples


def test_the_result_is_a_table(summed: Any):
    lines = str(kernels.verify(summed, [(torch.ones(3, 5), torch.ones(3, 5))])).splitlines()
    assert lines == [
        "kernel_tests::verified",
        "check      implementation    samples  dtypes",
        "results    reference on cpu        1  Float32",
        "gradients  reference on cpu        1  Float32",
        "gradcheck  reference on cpu        1  Float32",
        "opcheck    reference on cpu        1  Float32",
        "vmap       reference on cpu        1  Float32",
    ]


def _wrong_if_strided(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y if x.is_contiguous() else x


def _wrong_if_empty(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y if x.numel() else torch.zeros(1, 1)


@pytest.mark.parametrize(
    ("implementation", "sentence"),
    [
        (
            lambda x, y: x - y,
            r"results of the implementation on cpu on x: Float32\[3, 5\], y: Float32\[3, 5\]: Tensor-",
        ),
        (
            _wrong_if_strided,
            r"results of the implementation on cpu on .* \(not contiguous\): Tensor-likes are not close",
        ),
        (
            _wrong_if_empty,
            r"results of the implementation on cpu on x: Float32\[0, 3\].* \(empty\): .* n is 0 from dim 0",
        ),
        (lambda x, y: x.add_(y), "it changes x, which mutates= doesn't name"),
    ],
)
def test_a_wrong_implementation_is_named(summed: Any, implementation: Callable[..., Any], sentence: str):
    summed.cpu(implementation)
    with pytest.raises(TorchError, match=rf"^verify\(kernel_tests::verified\): .*{sentence}"):
        kernels.verify(summed)


def test_a_wrong_gradient_is_named(summed: Any):
    summed.backward(lambda grad: (grad, grad * 2))
    with pytest.raises(TorchError, match=r"gradients of the reference on cpu on .*: the gradient of y: Tensor-likes"):
        kernels.verify(summed)


def test_what_is_nearly_right_in_16_bits_may_be_better_than_the_reference():
    @kernels.operator("kernel_tests::accumulated")
    def accumulated(x: Float[Tensor, "n m"]) -> Float[Tensor, " n"]:
        result = x[:, 0]
        for column in x.unbind(1)[1:]:
            result = result + column
        return result

    @accumulated.cpu
    def _(x):
        return x.double().sum(1).to(x.dtype)

    x = torch.randn(7, 131, generator=torch.Generator().manual_seed(0)).bfloat16()
    assert kernels.verify(accumulated, [(x,)]).passed


def test_samples_that_the_reference_refuses_are_told():
    @kernels.operator("kernel_tests::looked_up")
    def looked_up(table: Float[Tensor, "v d"], ids: Int64[Tensor, " n"]) -> Float[Tensor, "n d"]:
        return table[ids]

    done = kernels.verify(looked_up)
    assert done.refused == ["table: Float32[0, 3], ids: Int64[5] (empty)"]
    assert "refused by the reference: table: Float32[0, 3]" in str(done)


def test_without_samples_that_can_be_made_they_are_asked_for():
    @kernels.operator("kernel_tests::named")
    def named(x: Float[Tensor, " n"], mode: str) -> Float[Tensor, " n"]:
        return x * {"once": 1, "twice": 2}[mode]

    with pytest.raises(TorchError, match=r"doesn't say what could be given for it; write verify\(op, samples="):
        kernels.verify(named)
    assert kernels.verify(named, [{"x": torch.ones(3), "mode": "twice"}]).passed

    @kernels.operator("kernel_tests::refusing")
    def refusing(x: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        raise ValueError("never")

    with pytest.raises(TorchError, match="the reference refuses all arguments that were made from its annotations"):
        kernels.verify(refusing)
