"""``x[index]`` and ``x[index] = value`` against torch, over thousands of random index expressions."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from simpletorch.rules import Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, Scalar
from simpletorch.shapes import ANY_REST, UNKNOWN, Rest, Shape, var
from tests import oracle

PRIMES = (2, 3, 5, 7, 11, 13)
B, T, N, M = map(var, "BTNM")
INDEX_DTYPES = (torch.int64, torch.int64, torch.int64, torch.int32)


def lift_index(index: Any) -> Any:
    """The index as the checker gives it: a list stands inside the tuple."""
    return oracle.lift(index if isinstance(index, tuple) else (index,))


def draw_slice(rng: random.Random, size: int) -> slice:
    bound = lambda: rng.choice([None, None, rng.randint(-size - 2, size + 2)])  # noqa: E731
    return slice(bound(), bound(), rng.choice([None, None, 1, 2, 3]))


def draw_part(rng: random.Random, sizes: list[int], joint: tuple[int, ...]) -> tuple[Any, int]:
    """One index, and how many dims it takes of those left."""
    size = sizes[0] if sizes else 1
    index_shape = tuple(1 if rng.random() < 0.2 else d for d in joint[rng.randint(0, len(joint)) :])
    wrong = rng.random() < 0.03
    kinds = [
        "int",
        "slice",
        "slice",
        "slice",
        "none",
        "list",
        "tensor",
        "tensor",
        "mask",
        "masks",
        "bool",
        "zero",
        "float",
    ]
    match rng.choices(kinds, [3, 3, 3, 3, 2, 1, 2, 2, 1, 0.5, 0.3, 0.5, 0.03])[0]:
        case "int":
            return rng.randint(-size - wrong, size - 1 + wrong), 1
        case "slice":
            return draw_slice(rng, size), 1
        case "none":
            return None, 0
        case "list":
            return [rng.randrange(size) for _ in range(joint[-1])], 1
        case "mask":
            return torch.rand(size + wrong) < 0.5, 1
        case "masks" if len(sizes) > 1:
            return torch.rand(size, sizes[1] + wrong) < 0.5, 2
        case "bool":
            return True, 0
        case "zero":
            return torch.tensor(0), 1
        case "float":
            return torch.zeros(2), 1
        case _:
            return torch.zeros(index_shape or (1,), dtype=rng.choice(INDEX_DTYPES)), 1


def draw_index(rng: random.Random, sizes: list[int]) -> Any:
    """An index for a tensor of these sizes; now and then a wrong one."""
    joint = tuple(rng.choice(PRIMES[:4]) for _ in range(rng.randint(1, 2)))
    left, parts = list(sizes), []
    for _ in range(rng.randint(1, len(sizes) + 1)):
        if not left and rng.random() < 0.95:
            break
        part, taken = draw_part(rng, left, joint)
        parts.append(part)
        left = left[taken:]
    if rng.random() < 0.25:
        # what follows "..." is counted from the right
        at = rng.randint(0, len(parts))
        head, count = parts[:at], len(parts) - at
        tail, taken = [], 0
        for size in sizes[len(sizes) - count :]:
            tail.append(draw_slice(rng, size) if rng.random() < 0.7 else rng.randrange(size))
        parts = [*head, ..., *tail]
    return parts[0] if len(parts) == 1 and (parts[0] is True or rng.random() < 0.7) else tuple(parts)


def attempt(action: Callable[[], Any]) -> Any:
    """What torch answers, or why it refuses."""
    try:
        return action()
    except (IndexError, RuntimeError, TypeError, ValueError) as e:
        return e


def agree(answer: Any, truth: torch.Tensor, *, masked: bool) -> bool:
    if (
        not isinstance(answer, TensorType)
        or answer.dtype != oracle.lift_dtype(truth.dtype)
        or not answer.shape.is_exact
    ):
        return False
    dims = answer.shape.dims
    if len(dims) != truth.dim():
        return False
    return all(a == t or (masked and a is UNKNOWN) for a, t in zip(dims, truth.shape, strict=True))


def has_mask(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(p, torch.Tensor) and p.dtype == torch.bool for p in parts)


def depends_on_values(message: str) -> bool:
    """Whether torch refuses because of how many elements a mask happens to have."""
    return "could not be broadcast" in message or "no elements" in message or "size 0" in message


@pytest.mark.parametrize("seed", range(8))
def test_random_indices_select_what_torch_selects(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    refused = 0
    for _ in range(600):
        sizes = [rng.choice(PRIMES) for _ in range(rng.randint(1, 4))]
        x = torch.zeros(sizes)
        index = draw_index(rng, sizes)
        answer = infer("Tensor.__getitem__", (tensor(*sizes, dtype=FLOAT32), lift_index(index)))
        shown = f"x{sizes}[{oracle.show(index)}]: {answer}"
        truth = attempt(lambda x=x, index=index: x[index])
        if isinstance(truth, torch.Tensor):
            assert agree(answer, truth, masked=has_mask(index)), f"{shown}, but torch gives {tuple(truth.shape)}"
        else:
            excused = has_mask(index) and depends_on_values(str(truth))
            assert isinstance(answer, Report) or excused, f"{shown}: {truth}"
            refused += 1
    assert refused > 5


@pytest.mark.parametrize("seed", range(4))
def test_random_assignments_fit_as_in_torch(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    refused = 0
    for _ in range(500):
        sizes = [rng.choice(PRIMES) for _ in range(rng.randint(1, 3))]
        x = torch.zeros(sizes)
        index = draw_index(rng, sizes)
        selected = attempt(lambda x=x, index=index: x[index])
        if not isinstance(selected, torch.Tensor) or not selected.numel() or has_mask(index):
            continue
        shape = [1] * rng.randint(0, 1) + [
            1 if rng.random() < 0.2 else s + (rng.random() < 0.1) for s in selected.shape
        ]
        value = torch.zeros(
            shape[rng.randint(0, len(shape)) :], dtype=rng.choice([torch.float32] * 4 + [torch.float64])
        )
        answer = infer("Tensor.__setitem__", (oracle.lift(x), lift_index(index), oracle.lift(value)))
        shown = f"x{sizes}[{oracle.show(index)}] = {oracle.show(value)}: {answer}"
        truth = attempt(lambda x=x, index=index, value=value: x.__setitem__(index, value))
        assert isinstance(answer, Report) == (truth is not None), f"{shown}: {truth}"
        refused += truth is not None
    assert refused > 5


@pytest.mark.parametrize("seed", range(4))
def test_an_unknown_rank_never_says_what_is_not_so(seed: int) -> None:
    """Dims hidden behind a variadic part: what is said must hold for the shape that it hides."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    known = 0
    for _ in range(600):
        sizes = [rng.choice(PRIMES) for _ in range(rng.randint(1, 4))]
        left = rng.randint(0, len(sizes))
        right = rng.randint(left, len(sizes))
        hidden = Shape.of(*sizes[:left], ANY_REST, *sizes[right:])
        index = draw_index(rng, sizes)
        truth = attempt(lambda sizes=sizes, index=index: torch.zeros(sizes)[index])
        if not isinstance(truth, torch.Tensor):
            continue
        answer = infer("Tensor.__getitem__", (TensorType(hidden, FLOAT32), lift_index(index)))
        shown = f"{hidden} for {sizes}[{oracle.show(index)}]: {answer}, torch: {tuple(truth.shape)}"
        assert isinstance(answer, TensorType), shown
        verdict = oracle.compare(answer, oracle.lift(truth))
        assert verdict != "wrong", shown
        known += answer.shape.min_rank > 0
    assert known > 200


def get(x: TensorType, *index: Any) -> Any:
    return infer("Tensor.__getitem__", (x, index))


X = tensor(B, T, N, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((0,), (T, N)),
        ((..., 0), (B, T)),
        ((slice(None), slice(None, M)), (B, M, N)),
        ((..., slice(1, None)), (B, T, N - 1)),
        ((slice(None, -1),), (B - 1, T, N)),
        ((slice(None), slice(-M, None)), (B, M, N)),
        ((slice(None), slice(None, None, 2)), (B, (T + 1) // 2, N)),
        ((slice(2 - B, None),), (B - 2, T, N)),  # x[-y.size(0):] of a convolution's output
        ((slice(None, 3 - B),), (3, T, N)),
        ((slice(11 - M, None),), (B + M - 11, T, N)),  # table[length - m:]
        ((slice(M, None),), (B - M, T, N)),
        ((slice(M, M + 3),), (3, T, N)),
        ((slice(2, 5),), (3, T, N)),
        ((slice(None, 2 * B),), (B, T, N)),
        ((None, ..., None), (1, B, T, N, 1)),
        ((tensor(M, dtype=INT64),), (M, T, N)),
        ((slice(None), tensor(M, 7, dtype=INT64)), (B, M, 7, N)),
        ((tensor(M, dtype=INT64), slice(None), tensor(M, dtype=INT64)), (M, T)),
        ((tensor(B, T, dtype=BOOL),), (UNKNOWN, N)),
        ((slice(None), UNKNOWN), (B, N)),
        ((UNKNOWN, slice(UNKNOWN, None)), (UNKNOWN, N)),
    ],
)
def test_symbols(index: Any, expected: Any) -> None:
    assert get(X, *index) == tensor(*expected, dtype=FLOAT32)


BATCH = Rest("Batch")


@pytest.mark.parametrize(
    ("shape", "index", "expected"),
    [
        ((BATCH, 5), (..., 0), (BATCH,)),
        ((BATCH, 5), (..., slice(1, 3)), (BATCH, 2)),
        ((BATCH, 5), (..., None, slice(None)), (BATCH, 1, 5)),
        ((B, ANY_REST), (0,), (ANY_REST,)),
        ((B, ANY_REST, 5), (slice(None), 0), (B, ANY_REST)),
        ((ANY_REST, 7, 5), (0,), (ANY_REST, 5)),
        ((ANY_REST,), (slice(None), None), (UNKNOWN, 1, ANY_REST)),
        ((ANY_REST,), (tensor(3, 2, dtype=INT64),), (3, 2, ANY_REST)),
        ((ANY_REST, 5), (tensor(ANY_REST, dtype=BOOL),), (UNKNOWN, ANY_REST)),
        ((UNKNOWN, 5), (slice(None, 3),), (UNKNOWN, 5)),
        ((3, 5), (ANYTHING,), (ANY_REST,)),
        ((3, 5), (Scalar("bool"),), (UNKNOWN, 3, 5)),
        ((3, 5), (ANY_TENSOR,), (ANY_REST,)),
    ],
)
def test_partial_knowledge(shape: Any, index: Any, expected: Any) -> None:
    assert get(tensor(*shape, dtype=FLOAT32), *index) == tensor(*expected, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("shape", "index", "reason"),
    [
        ((5, 7), (0, 0, 0), "too many indices: 3 for 2 dims (5, 7)"),
        ((), (0,), "a 0-dim tensor can't be indexed"),
        ((5, 7), (5,), "index 5 is out of range for dim 0 of size 5"),
        ((N, 7), (0, -8), "index -8 is out of range for dim 1 of size 7"),
        ((5, 7), (slice(None, None, -1),), "the step of a slice must be positive, but it is -1"),
        ((5, 7), (tensor(3, dtype=FLOAT32),), "an index tensor must be Int64, Int32 or Bool, but this one is Float32"),
        ((5, 7), (1.5,), "an index must be an integer, slice, mask or None, not 1.5"),
        ((5, 7), (tensor(5, 8, dtype=BOOL),), "the mask (5, 8) has 8 where the tensor has 7 (dim 1)"),
        (
            (5, 7),
            (tensor(3, dtype=INT64), tensor(4, dtype=INT64)),
            "the index tensors (3,), (4,) can't be broadcast: 3 and 4 differ",
        ),
    ],
)
def test_wording(shape: Any, index: Any, reason: str) -> None:
    report = get(tensor(*shape, dtype=FLOAT32), *index)
    assert isinstance(report, Report)
    assert report.reason == reason


def test_wording_of_an_assignment() -> None:
    report = infer("Tensor.__setitem__", (tensor(5, 7, dtype=FLOAT32), (0,), tensor(5, dtype=FLOAT32)))
    assert isinstance(report, Report)
    assert report.reason == "value (5,) can't be expanded to what is selected (7,): 5 is not 7 at dim -1"
    report = infer(
        "Tensor.__setitem__", (tensor(5, dtype=FLOAT32), (tensor(3, dtype=INT64),), tensor(3, dtype=FLOAT64))
    )
    assert isinstance(report, Report)
    assert report.kind == "dtype"
    assert report.hint == "value.to(x.dtype)"


def test_length_and_iteration() -> None:
    assert infer("Tensor.__len__", (X,)) == B
    assert infer("Tensor.__iter__", (X,)) == tensor(T, N, dtype=FLOAT32)
    assert infer("Tensor.__iter__", (tensor(ANY_REST, 5, dtype=FLOAT32),)) == tensor(ANY_REST, dtype=FLOAT32)
    assert isinstance(infer("Tensor.__iter__", (tensor(dtype=FLOAT32),)), Report)
