"""Casting, moving and inspecting tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, RULES, Device, Report, Scalar, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BOOL, BY_NAME, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape, var
from tests import oracle
from tests.rules.symbolic import GOOD

B, N = map(var, "BN")
CASTS = ("half", "bfloat16", "float", "double", "bool", "byte", "char", "short", "int", "long", "cfloat", "cdouble")
SAME = [n for n in RULES["torch.clone"].names if n not in ("Tensor.pin_memory", "Tensor.coalesce")]
DTYPES = (torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64)
CUDA, CPU = Device("cuda", 0), Device("cpu")
x = tensor(B, 3, dtype=FLOAT32)
t = torch.ones


def verdict(name: str, *args: Any, **kwargs: Any) -> str:
    return str(oracle.examine(name, args, kwargs))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [*(f"Tensor.{n}" for n in CASTS), *SAME])
def test_cast(name: str, dtype: torch.dtype) -> None:
    assert verdict(name, t(2, 3).to(dtype)).startswith(GOOD)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("Tensor.to", (t(2, 3), torch.int64), {}),
        ("Tensor.to", (t(2, 3), "cpu"), {}),
        ("Tensor.to", (t(2, 3), "cpu", torch.int64), {}),
        ("Tensor.to", (t(2, 3), torch.int64, True), {}),
        ("Tensor.to", (t(2, 3), t(5).double()), {}),
        ("Tensor.to", (t(2, 3),), {"dtype": torch.float16, "device": "cpu"}),
        ("Tensor.to", (t(2, 3), "cpu"), {"dtype": torch.float16, "non_blocking": True}),
        ("Tensor.type", (t(2, 3), torch.int8), {}),
        ("Tensor.type", (t(2, 3), "torch.DoubleTensor"), {}),
        ("Tensor.type_as", (t(2, 3), t(5).long()), {}),
        ("Tensor.copy_", (t(2, 3), t(3).double()), {}),
        ("Tensor.copy_", (t(3), t(2, 3)), {}),
        ("Tensor.copy_", (t(3), t(2)), {}),
        ("Tensor.requires_grad_", (t(3),), {}),
        ("Tensor.requires_grad_", (t(3).long(),), {}),
        ("Tensor.requires_grad_", (t(3).long(), False), {}),
        ("Tensor.size", (t(2, 3),), {}),
        ("Tensor.size", (t(2, 3), -1), {}),
        ("Tensor.size", (t(2, 3), 2), {}),
        ("Tensor.size", (t(()), 0), {}),
        ("Tensor.shape", (t(2, 3),), {}),
        ("Tensor.numel", (t(2, 3),), {}),
        ("torch.numel", (t(()),), {}),
        ("Tensor.dim", (t(2, 3),), {}),
        ("Tensor.ndim", (t(2, 3),), {}),
        ("Tensor.element_size", (t(2, 3).half(),), {}),
        ("Tensor.nbytes", (t(2, 3).double(),), {}),
        ("Tensor.is_floating_point", (t(3).long(),), {}),
        ("torch.is_complex", (t(3) * 1j,), {}),
        ("Tensor.item", (t(3),), {}),
        ("Tensor.__bool__", (t(3),), {}),
        ("Tensor.__bool__", (t(0),), {}),
        ("Tensor.__int__", (t(3),), {}),
        ("Tensor.__index__", (t(1),), {}),
        ("Tensor.stride", (t(2, 3), 5), {}),
        ("torch.result_type", (t(3).half(), 2.5), {}),
        ("torch.promote_types", (torch.int64, torch.float16), {}),
        ("Tensor.dtype", (t(3).half(),), {}),
    ],
    ids=str,
)
def test_as_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert verdict(name, *args, **kwargs).startswith(GOOD)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("Tensor.to", (x, ANYTHING), tensor(B, 3)),
        ("Tensor.to", (x, Device("cuda"), ANYTHING), tensor(B, 3, device=Device("cuda"))),
        ("Tensor.to", (x, Device("")), x),
        ("Tensor.float", (tensor(ANY_REST, N),), tensor(ANY_REST, N, dtype=FLOAT32)),
        ("Tensor.float", (ANYTHING,), TensorType(ANY_SHAPE, FLOAT32)),
        ("Tensor.type", (x, ANYTHING), tensor(B, 3)),
        ("Tensor.type", (x,), ANYTHING),
        ("Tensor.size", (x,), (B, 3)),
        ("Tensor.size", (x, 0), B),
        ("Tensor.size", (x, ANYTHING), UNKNOWN),
        ("Tensor.size", (tensor(ANY_REST, N),), ANYTHING),
        ("Tensor.size", (tensor(ANY_REST, N), -1), N),
        ("Tensor.size", (tensor(ANY_REST, N), 0), UNKNOWN),
        ("Tensor.stride", (x,), (UNKNOWN, UNKNOWN)),
        ("Tensor.numel", (x,), 3 * B),
        ("Tensor.dim", (tensor(ANY_REST, N),), UNKNOWN),
        ("Tensor.item", (tensor(dtype=FLOAT16),), Scalar("float")),
        ("Tensor.item", (tensor(dtype=BOOL),), Scalar("bool")),
        ("Tensor.item", (tensor(dtype=COMPLEX64),), Scalar("complex")),
        ("Tensor.item", (tensor(dtype=INT32),), UNKNOWN),
        ("Tensor.item", (tensor(UNKNOWN),), ANYTHING),
        ("Tensor.tolist", (tensor(dtype=FLOAT16),), Scalar("float")),
        ("Tensor.tolist", (x,), ANYTHING),
        ("Tensor.is_floating_point", (tensor(3),), Scalar("bool")),
        ("Tensor.is_floating_point", (tensor(3, dtype=BY_NAME["Float"]),), True),
        ("Tensor.element_size", (tensor(3, dtype=BY_NAME["Float"]),), UNKNOWN),
        ("Tensor.dtype", (tensor(3),), ANYTHING),
    ],
)
def test_symbols_and_what_is_not_known(name: str, args: tuple[Any, ...], expected: Any) -> None:
    answer = infer(name, args)
    assert answer == expected
    assert type(answer) is type(expected)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("Tensor.cuda", (), {}, Device("cuda")),
        ("Tensor.cuda", (1,), {}, Device("cuda", 1)),
        ("Tensor.cuda", ("cuda:0",), {}, CUDA),
        ("Tensor.cuda", (ANYTHING,), {}, Device("cuda")),
        ("Tensor.cpu", (), {}, CPU),
        ("Tensor.to", ("cuda:0",), {}, CUDA),
        ("Tensor.to", (CUDA, FLOAT64), {}, CUDA),
        ("Tensor.to", (FLOAT64,), {"device": "cuda:0"}, CUDA),
        ("Tensor.to", (FLOAT64,), {}, CPU),
        ("Tensor.to", (tensor(2, device=CUDA),), {}, CUDA),
        ("Tensor.to", (ANYTHING,), {}, None),
        ("Tensor.type_as", (tensor(2, device=CUDA),), {}, CUDA),
        ("Tensor.copy_", (tensor(3, device=CUDA),), {}, CPU),
        ("Tensor.clone", (), {}, CPU),
        ("Tensor.half", (), {}, CPU),
    ],
)
def test_device(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], expected: Device | None) -> None:
    answer = infer(name, (tensor(2, 3, device=CPU), *args), kwargs)
    assert isinstance(answer, TensorType)
    assert answer.device == expected


def test_where_a_tensor_is() -> None:
    assert infer("Tensor.is_cuda", (tensor(2, device=CUDA),)) is True
    assert infer("Tensor.is_cuda", (tensor(2, device=CPU),)) is False
    assert infer("Tensor.is_cuda", (tensor(2),)) == Scalar("bool")
    assert infer("Tensor.device", (tensor(2, device=CPU),)) == CPU


def test_a_parameter_gives_plain_tensors() -> None:
    weight = TensorType(Shape.of(3), FLOAT32, is_parameter=True)
    assert infer("Tensor.detach", (weight,)) == tensor(3, dtype=FLOAT32)


MESSAGES = [
    (
        "Tensor.item",
        (x,),
        "item: input is (B, 3), but only a tensor of one element is a Python number [input: Float32[B, 3]]",
    ),
    (
        "Tensor.__bool__",
        (tensor(3, dtype=BOOL),),
        "__bool__: input is (3,), but only a tensor of one element is true or false [input: Bool[3]]",
    ),
    (
        "Tensor.size",
        (tensor(2, 3), 2),
        "size: dim=2 is out of range for 2 dims (2, 3); it must be in [-2, 1] [input: Tensor[2, 3]]",
    ),
    (
        "Tensor.requires_grad_",
        (tensor(3, dtype=INT64),),
        "requires_grad_: the tensor is Int64, but only floating and complex tensors have gradients [input: Int64[3]]",
    ),
    (
        "Tensor.copy_",
        (tensor(3), tensor(2)),
        "copy_: input (3,) and src (2,) can't be broadcast: 3 and 2 differ and neither is 1 at dim -1"
        " [input: Tensor[3], src: Tensor[2]]",
    ),
]


@pytest.mark.parametrize(("name", "args", "text"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    found = infer(name, args)
    assert isinstance(found, Report)
    assert found.text == text
