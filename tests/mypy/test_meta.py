"""Operations without a rule: what torch says on ``meta`` is the answer, as far as a polynomial explains it."""

import pytest

from simpletorch.mypy.convert.meta import ask_torch, may_ask
from simpletorch.rules import ANYTHING, infer
from simpletorch.rules.core.dtype import BOOL, BY_NAME, FLOAT32, INT64
from simpletorch.rules.core.values import TensorType, tensor
from simpletorch.shapes import UNKNOWN, Shape, var

B, M, N = var("B"), var("M"), var("N")
X = tensor(B, 3, N, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("torch.cat", ((tensor(N, 3, dtype=FLOAT32), tensor(M, 3, dtype=FLOAT32)),), {}),
        ("torch.kron", (tensor(N, 2, dtype=FLOAT32), tensor(M, 3, dtype=FLOAT32)), {}),
        ("torch.outer", (tensor(N, dtype=FLOAT32), tensor(M, dtype=INT64)), {}),
        ("torch.movedim", (X, 0, 2), {}),
        ("torch.eq", (X, X), {}),
        ("torch.sum", (X,), {"dim": 1, "keepdim": True}),
        ("torch.flatten", (X,), {"start_dim": 1}),
        ("Tensor.repeat", (X, 2, 3, 5), {}),
        ("torch.unbind", (X,), {"dim": 1}),
        ("torch.mm", (tensor(5, 7, dtype=FLOAT32), tensor(7, 11, dtype=FLOAT32)), {}),
    ],
)
def test_torch_says_what_the_rules_say(name, args, kwargs):
    assert ask_torch(name, args, kwargs) == infer(name, args, kwargs)


def test_a_size_that_no_polynomial_explains_is_unknown_and_the_rest_is_known():
    found = ask_torch("torch.max_pool1d", (X, 2), {})
    assert isinstance(found, TensorType)
    assert found.shape == Shape((B, 3, UNKNOWN))


def test_four_variables_are_told_apart():
    sizes = [var(name) for name in "BCDE"]
    found = ask_torch("torch.kron", (tensor(*sizes[:2], dtype=FLOAT32), tensor(*sizes[2:], dtype=FLOAT32)), {})
    assert found == tensor(sizes[0] * sizes[2], sizes[1] * sizes[3], dtype=FLOAT32)


def test_a_rank_that_depends_on_sizes_is_unknown():
    assert ask_torch("torch.squeeze", (tensor(B, 1, dtype=FLOAT32),), {}).shape == Shape((B,))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("torch.mm", (tensor(5, 7, dtype=FLOAT32), tensor(5, 7, dtype=FLOAT32))),
        ("torch.mm", (tensor(N, M, dtype=FLOAT32), tensor(N, M, dtype=FLOAT32))),
        ("torch.narrow", (tensor(N, dtype=FLOAT32), 0, 0, 5)),
        ("torch.nonzero", (tensor(5, dtype=BOOL),)),
    ],
)
def test_what_torch_refuses_for_some_size_or_without_data_is_unknown(name, args):
    assert ask_torch(name, args, {}) is ANYTHING


@pytest.mark.parametrize(
    "argument",
    [
        TensorType(dtype=FLOAT32),
        tensor(N, UNKNOWN, dtype=FLOAT32),
        tensor(5),
        tensor(5, dtype=BY_NAME["Float"]),
        ANYTHING,
    ],
)
def test_what_is_not_fully_known_is_not_asked(argument):
    assert ask_torch("torch.relu", (argument,), {}) is ANYTHING


@pytest.mark.parametrize("name", ["torch.save", "torch.relu_", "Tensor.fill_", "Tensor.numpy", "torch.set_num_threads"])
def test_what_changes_something_or_is_no_operation_is_never_run(name):
    assert ask_torch(name, (tensor(5, dtype=FLOAT32),), {}) is ANYTHING


def test_names_of_operations():
    assert may_ask("torch._C._VariableFunctions.segment_reduce")
    assert may_ask("torch._tensor.Tensor.sparse_mask")
    assert not may_ask("torch._C._VariableFunctions._foreach_add")
    assert not may_ask("torch.serialization.save")
