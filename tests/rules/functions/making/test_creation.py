"""Creation, data, ranges, grids and random numbers against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Device, Report, Scalar, TensorType, infer, tensor
from simpletorch.rules.common.factory import device_argument
from simpletorch.rules.core.dtype import BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape, var
from tests import oracle
from tests.rules.symbolic import GOOD, case

B, N = map(var, "BN")
t = torch.ones
i64 = torch.int64


SIZED = [
    case(f"torch.{n}", *args, **kwargs)
    for n in ("zeros", "ones", "empty", "rand", "randn")
    for args, kwargs in (
        ((2, 3), {}),
        (((2, 3),), {}),
        (([5],), {"dtype": torch.float64}),
        ((), {"size": (2, 3)}),
        ((2, -3), {}),
        ((2,), {"dtype": i64}),
        ((2,), {"dtype": torch.bool}),
        ((2,), {"dtype": torch.complex64}),
        ((2,), {"dtype": i64, "requires_grad": True}),
        ((2,), {"requires_grad": True}),
        (((),), {}),
    )
]
LIKE = [
    case(name, *args, **kwargs)
    for name, rest in (
        ("torch.zeros_like", ()),
        ("torch.rand_like", ()),
        ("torch.full_like", (2.5,)),
        ("torch.randint_like", (5,)),
        ("Tensor.new_zeros", (2, 3)),
        ("Tensor.new_ones", ((2, 3),)),
        ("Tensor.new_full", ((2, 3), 2.5)),
        ("Tensor.new_tensor", ([1, 2, 3],)),
        ("Tensor.new_tensor", (t(5),)),
    )
    for args, kwargs in (
        ((t(5, 7), *rest), {}),
        ((t(5, 7).long(), *rest), {}),
        ((t(5, 7).long(), *rest), {"dtype": torch.float64}),
        ((t(5), *rest), {"dtype": i64}),
    )
]
FULL = [
    case("torch.full", (2, 3), value, **kwargs)
    for value in (True, 2, 2.5, 2j, torch.tensor(2.5, dtype=torch.float64), torch.tensor(3, dtype=torch.int32))
    for kwargs in ({}, {"dtype": torch.float16})
]
RANGES = [
    *(
        case("torch.arange", *a)
        for a in ((5,), (2, 7), (2, 11, 3), (11, 2, -3), (5, 5), (5, 0), (0, 5, 0), (0, 1, 0.1))
    ),
    *(case("torch.arange", *a, dtype=i64) for a in ((5,), (5.5,), (0.5, 5.5), (1.0, 5.000001, 2.0))),
    *(case("torch.arange", *a, dtype=torch.float32) for a in ((5,), (2, 11, 3), (True, 5))),
    case("torch.arange", end=7),
    case("torch.arange", 2, end=7),
    case("torch.arange", start=2, end=7, step=2),
    case("torch.arange", float("inf")),
    case("torch.range", 0, 5),
    case("torch.range", 0, 5, 0.5),
    *(case(f"torch.{n}space", *a) for n in ("lin", "log") for a in ((0, 1, 5), (0, 1j, 5), (0, 1, -1), (0, 1, 5.0))),
    case("torch.linspace", t(()), 1, 5),
    case("torch.linspace", t(3), 1, 5),
    case("torch.linspace", 0, 1, steps=7, dtype=i64),
    *(case(f"torch.tri{c}_indices", *a) for c in "lu" for a in ((4, 3), (4, 3, -1), (3, 7, 2), (5, 5, 1), (5, 5, -9))),
    *(case("torch.eye", *a) for a in ((3,), (3, 5), (3, -1))),
    case("torch.randperm", 7),
    case("torch.randperm", 7, dtype=torch.int32),
    *(case("torch.randint", *a) for a in ((3, (2, 5)), (1, 3, (2, 5)), (3, 3, (2,)), (0, (2,)), (5, 3, (2,)))),
    case("torch.randint", low=3, high=2, size=(2,)),
    case("torch.randint", 3, size=(2,), low=5),
    case("torch.randint", 1, 3, size=(2, 5)),
    case("torch.randint", high=3, size=(2,), dtype=torch.float32),
]
DATA = [
    case(f"torch.{name}", data)
    for name in ("tensor", "as_tensor")
    for data in (
        2,
        2.5,
        [1, 2],
        [1, 2.5, True],
        [True, False],
        [1, 2j],
        [],
        [[], []],
        [[1, 2], [3, 4], [5, 6]],
        [[1, 2], [3]],
        [1, [2]],
        [[1], 2],
        ((1, 2), [3, 4]),
        t(2, 3),
        [torch.tensor(2), torch.tensor(2.5)],
        [torch.tensor(2.5, dtype=torch.float64), 3.5],
        [t(1), t(1)],
        [t(2), t(2)],
    )
] + [
    case("torch.tensor", [1, 2], dtype=torch.float64),
    case("torch.tensor", [1, 2], requires_grad=True),
    case("torch.LongTensor", [1, 2]),
    case("torch.FloatTensor", 2, 3),
    case("torch.Tensor", [[1, 2, 3]]),
    case("torch.complex", t(3, 1), t(2)),
    case("torch.complex", t(3), t(3).double()),
    case("torch.complex", t(3).long(), t(3).long()),
    case("torch.polar", t(3).double(), t(3).double()),
    case("torch.scalar_tensor", 2),
    case("torch.empty_strided", (2, 3), (3, 1)),
    case("torch.empty_permuted", (2, 3), (1, 0)),
    case("torch.empty_permuted", (2, 3), (0, 0)),
]
WINDOWS = [
    case(name, *args, **kwargs)
    for name in ("torch.signal.windows.hann", "torch.signal.windows.kaiser", "torch.hann_window", "torch.kaiser_window")
    for args, kwargs in (((7,), {}), ((0,), {}), ((-1,), {}), ((7,), {"dtype": torch.float64}), ((7,), {"dtype": i64}))
]
GRIDS = [
    *(case("torch.meshgrid", t(3), t(5), t(7), indexing=i) for i in ("ij", "xy")),
    case("torch.meshgrid", t(3), t(()), indexing="ij"),
    case("torch.meshgrid", [t(3), t(5)], indexing="xy"),
    case("torch.meshgrid", t(3), indexing="xy"),
    case("torch.meshgrid", t(3, 2), indexing="ij"),
    case("torch.meshgrid", t(3), t(5).long(), indexing="ij"),
    case("torch.cartesian_prod", t(3), t(5), t(7)),
    case("torch.cartesian_prod", t(3)),
    case("torch.cartesian_prod", t(3, 2), t(3)),
    case("torch.cartesian_prod", t(()), t(3)),
    *(case("torch.combinations", t(5), *a) for a in ((), (3,), (3, True), (0,), (7,))),
    case("torch.combinations", t(5, 2)),
]
RANDOM = [
    case("torch.normal", t(2, 3), t(3)),
    case("torch.normal", t(2, 3).double(), t(3)),
    case("torch.normal", t(2, 3), t(3).double()),
    case("torch.normal", 0.0, t(3).double()),
    case("torch.normal", t(3), 1.0),
    case("torch.normal", t(3)),
    case("torch.normal", t(3).long(), 1.0),
    case("torch.normal", t(2), t(3)),
    case("torch.normal", 0.0, 1.0, (2, 3)),
    case("torch.normal", 0.0, 1.0, size=(2, 3), dtype=torch.float64),
    case("torch.bernoulli", t(3)),
    case("torch.bernoulli", t(3).long()),
    case("torch.bernoulli", t(3).long(), 0.5),
    *(case("torch.multinomial", t(s), n, r) for s in ((5,), (2, 5), (2, 2, 5), ()) for n, r in ((3, False), (7, True))),
    case("torch.multinomial", t(5), 7),
    case("torch.multinomial", t(5), 0),
    case("torch.multinomial", t(5).long(), 3),
    case("torch.poisson", t(3)),
    case("torch.poisson", t(3).long()),
    case("torch.binomial", t(3, 5), t(3, 5)),
    case("torch.binomial", t(3), t(3).double()),
    case("Tensor.bernoulli_", t(2, 3), t(3)),
    case("Tensor.bernoulli_", t(3), t(2, 3)),
    case("Tensor.fill_", t(3), t(1)),
    case("Tensor.fill_", t(3), t(()).double()),
    case("torch.fill", t(3).long(), 2.5),
    *(
        case(f"Tensor.{n}", t(5, 3).to(d), *((0.5,) if n == "geometric_" else ()))
        for n in ("uniform_", "normal_", "exponential_", "cauchy_", "log_normal_", "geometric_", "random_", "zero_")
        for d in (torch.float32, i64, torch.bool)
    ),
    *(
        case(f"torch.nn.init.{n}", t(*s), *((0.5,) if n in ("constant_", "sparse_") else ()))
        for n in (
            "xavier_uniform_",
            "kaiming_normal_",
            "orthogonal_",
            "eye_",
            "dirac_",
            "constant_",
            "sparse_",
            "ones_",
        )
        for s in ((5,), (5, 3), (5, 3, 2), (5, 3, 2, 2, 2), (5, 3, 2, 2, 2, 2))
    ),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), SIZED + LIKE + FULL + RANGES + DATA + WINDOWS + GRIDS + RANDOM)
def test_as_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    found = oracle.examine(name, args, kwargs)
    if found.verdict == "missed" and "inf" in str(args):
        return  # a value, not a shape
    assert found.verdict in GOOD, str(found)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("torch.zeros", (B, N), tensor(B, N, dtype=FLOAT32)),
        ("torch.zeros", ((B, 2 * N),), tensor(B, 2 * N, dtype=FLOAT32)),
        ("torch.zeros", ((B, ANYTHING),), tensor(B, UNKNOWN, dtype=FLOAT32)),
        ("torch.zeros", (ANYTHING,), TensorType(ANY_SHAPE, FLOAT32)),
        ("torch.zeros", (ANYTHING, 3), tensor(UNKNOWN, 3, dtype=FLOAT32)),
        ("torch.full", ((B,), Scalar("float")), tensor(B, dtype=FLOAT32)),
        ("torch.full", ((B,), ANYTHING), tensor(B)),
        ("torch.full", ((B,), N), tensor(B, dtype=INT64)),
        ("torch.arange", (N,), tensor(N, dtype=INT64)),
        ("torch.arange", (1, N), tensor(N - 1, dtype=INT64)),
        ("torch.arange", (0, N, 2), tensor((N + 1) // 2, dtype=INT64)),
        ("torch.arange", (0, 2 * N, 2), tensor(N, dtype=INT64)),
        ("torch.arange", (N, 0, -1), tensor(N, dtype=INT64)),
        ("torch.arange", (ANYTHING,), tensor(UNKNOWN)),
        ("torch.arange", (Scalar("float"),), tensor(UNKNOWN, dtype=FLOAT32)),
        ("torch.linspace", (0, 1, N), tensor(N, dtype=FLOAT32)),
        ("torch.linspace", (0, ANYTHING, N), tensor(N)),
        ("torch.eye", (N,), tensor(N, N, dtype=FLOAT32)),
        ("torch.randint", (10, (B, N)), tensor(B, N, dtype=INT64)),
        ("torch.tril_indices", (N, N), tensor(2, N * (N + 1) // 2, dtype=INT64)),
        ("torch.triu_indices", (N, N, 1), tensor(2, N * (N - 1) // 2, dtype=INT64)),
        ("torch.tril_indices", (B, N), tensor(2, UNKNOWN, dtype=INT64)),
        ("torch.nn.Transformer.generate_square_subsequent_mask", (N,), tensor(N, N, dtype=FLOAT32)),
        ("torch.nn.Transformer.generate_square_subsequent_mask", (ANYTHING,), tensor(UNKNOWN, UNKNOWN, dtype=FLOAT32)),
        ("torch.randperm", (N,), tensor(N, dtype=INT64)),
        ("torch.tensor", ((N, 2),), tensor(2, dtype=INT64)),
        ("torch.tensor", ((ANYTHING, 2.5),), tensor(2)),
        ("torch.tensor", (((1, 2), ANYTHING),), tensor(2, 2)),
        ("torch.tensor", ((ANYTHING, ANYTHING),), tensor(2, ANY_REST)),
        ("torch.tensor", ((Scalar("bool"), Scalar("bool")),), tensor(2, dtype=BOOL)),
        ("torch.tensor", (ANYTHING,), TensorType()),
        ("torch.from_numpy", (ANYTHING,), TensorType()),
        ("torch.zeros_like", (ANYTHING,), TensorType()),
        ("torch.zeros_like", (tensor(ANY_REST, N, dtype=INT32),), tensor(ANY_REST, N, dtype=INT32)),
        ("Tensor.new_zeros", (tensor(B, dtype=FLOAT16), N), tensor(N, dtype=FLOAT16)),
        ("torch.cartesian_prod", (tensor(B), tensor(N)), tensor(B * N, 2)),
        ("torch.combinations", (tensor(N),), tensor(N * (N - 1) // 2, 2)),
        ("torch.multinomial", (tensor(B, N), 3), tensor(B, 3, dtype=INT64)),
        ("torch.multinomial", (tensor(ANY_REST, N), 3), tensor(ANY_REST, 3, dtype=INT64)),
        ("torch.complex", (tensor(N, dtype=FLOAT32), tensor(N)), tensor(N, dtype=COMPLEX64)),
        ("torch.normal", (0.0, Scalar("float"), (B, 3)), tensor(B, 3, dtype=FLOAT32)),
    ],
)
def test_symbols_and_what_is_not_known(name: str, args: tuple[Any, ...], expected: TensorType) -> None:
    assert infer(name, args) == expected


def test_meshgrid_of_an_unknown_vector() -> None:
    assert infer("torch.meshgrid", (tensor(N), ANYTHING)) == (tensor(N, UNKNOWN), tensor(N, UNKNOWN))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("cuda:1", Device("cuda", 1)),
        ("cpu", Device("cpu")),
        (0, Device("cuda", 0)),
        (Device("mps"), Device("mps")),
        (ANYTHING, None),
        (None, Device("meta")),
    ],
)
def test_device_argument(given: Any, expected: Device | None) -> None:
    assert device_argument(given, Device("meta")) == expected


def test_device_of_new_tensors() -> None:
    there = tensor(3, dtype=FLOAT32, device=Device("cuda", 0))
    assert infer("torch.zeros", (3,), {"device": "cuda:0"}) == there
    assert infer("torch.zeros_like", (there,)) == there
    assert infer("torch.zeros_like", (there,), {"device": "cpu"}) == tensor(3, dtype=FLOAT32, device=Device("cpu"))
    assert infer("Tensor.new_zeros", (there, 3)) == there
    assert infer("torch.zeros", (3,)) == tensor(3, dtype=FLOAT32)


def test_dtype_argument_that_is_not_known() -> None:
    assert infer("torch.zeros", (3,), {"dtype": ANYTHING}) == tensor(3)
    assert infer("torch.zeros", (3,), {"dtype": FLOAT64}) == tensor(3, dtype=FLOAT64)


MESSAGES = [
    ("torch.zeros", (2, -3), {}, "zeros: dim 1 of size is -3, but it must be at least 0"),
    ("torch.rand", (2,), {"dtype": INT64}, "rand: dtype is Int64, but it must be floating or complex"),
    (
        "torch.zeros",
        (2,),
        {"dtype": INT64, "requires_grad": True},
        "zeros: the tensor is Int64, but only floating and complex tensors have gradients",
    ),
    ("torch.tensor", (((1, 2), (3,)),), {}, "tensor: the list is ragged: item 0 has shape (2,), item 1 has (1,)"),
    (
        "torch.tensor",
        ((tensor(2), tensor(2)),),
        {},
        "tensor: item 0 of the list is a tensor of shape (2,); only tensors of one element can be items"
        " [data[0]: Tensor[2], data[1]: Tensor[2]]",
    ),
    ("torch.arange", (5, 0), {}, "arange: step 1 leads from 5 away from 0"),
    (
        "torch.multinomial",
        (tensor(2, 5), 7),
        {},
        "multinomial: num_samples is 7, but input has only 5 to draw from [input: Tensor[2, 5]]",
    ),
    (
        "torch.nn.init.xavier_uniform_",
        (tensor(5),),
        {},
        "xavier_uniform_: tensor must have at least 2 dims, but it is (5,) [tensor: Tensor[5]]",
    ),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "text"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_message(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> None:
    found = infer(name, args, kwargs)
    assert isinstance(found, Report)
    assert found.text == text


def test_shape_of_frombuffer() -> None:
    assert infer("torch.frombuffer", (ANYTHING,), {"dtype": FLOAT32, "count": 5}) == tensor(5, dtype=FLOAT32)
    assert infer("torch.frombuffer", (ANYTHING,), {"dtype": FLOAT32}) == TensorType(Shape.of(UNKNOWN), FLOAT32)
