"""The kinds of `TorchError` as values, and `attempt`."""

from __future__ import annotations

import pickle

import pytest
import torch

from simpletorch import errors
from simpletorch.errors import (
    BackendError,
    CheckpointError,
    CUDAError,
    DataError,
    DeviceMismatch,
    DTypeMismatch,
    Err,
    Location,
    Ok,
    Operand,
    OutOfMemory,
    ShapeMismatch,
    TorchError,
    as_also,
    attempt,
    explain,
)

KINDS = [
    ShapeMismatch((2, 3), (2, 4)),
    DTypeMismatch("Float32", "Int64"),
    DeviceMismatch("cpu", "cuda:0"),
    OutOfMemory(2048, 1024),
    CUDAError(700, "an illegal memory access was encountered"),
    BackendError("the compiler gave up"),
    CheckpointError("no such file"),
    DataError("an empty dataset"),
]


@pytest.mark.parametrize("error", KINDS, ids=lambda e: e.kind)
def test_every_kind_is_a_runtime_error_and_can_be_pickled(error: TorchError):
    assert isinstance(error, RuntimeError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.to_dict() == error.to_dict()


def test_texts_of_bare_kinds():
    assert [str(e) for e in KINDS] == [
        "expected shape (2, 3), but got (2, 4)",
        "expected dtype Float32, but got Int64",
        "expected device cpu, but got cuda:0",
        "2.00 KiB requested, 1.00 KiB available",
        "an illegal memory access was encountered",
        "the compiler gave up",
        "no such file",
        "an empty dataset",
    ]


def test_out_of_memory_and_cuda_errors_have_fields():
    assert (KINDS[3].requested, KINDS[3].available) == (2048, 1024)
    assert KINDS[4].code == 700


def test_the_text_is_written_from_the_fields():
    error = ShapeMismatch(
        100,
        128,
        "the last dim of x is 128, but self.fc2 takes 100 features",
        operation="linear",
        operands=[
            Operand("x", "Float32", (32, 128), "cpu"),
            Operand("self.fc2", text="Linear(in_features=100, out_features=10)"),
        ],
        location=Location("net.py", 12, "x = self.fc2(x)"),
        module_path="model.fc2",
        hint="Linear(128, 10) would fit",
    )
    assert str(error) == (
        "linear: the last dim of x is 128, but self.fc2 takes 100 features\n"
        "  x         Float32[32, 128]  (cpu)\n"
        "  self.fc2  Linear(in_features=100, out_features=10)\n"
        "  in model.fc2, at net.py:12: x = self.fc2(x)\n"
        "  hint: Linear(128, 10) would fit"
    )
    assert error.to_dict() == {
        "kind": "ShapeMismatch",
        "reason": "the last dim of x is 128, but self.fc2 takes 100 features",
        "operation": "linear",
        "operands": [
            {
                "name": "x",
                "dtype": "Float32",
                "shape": (32, 128),
                "device": "cpu",
                "text": "",
                "should_be": None,
                "role": None,
            },
            {
                "name": "self.fc2",
                "dtype": None,
                "shape": None,
                "device": None,
                "text": "Linear(in_features=100, out_features=10)",
                "should_be": None,
                "role": None,
            },
        ],
        "location": {
            "file": "net.py",
            "line": 12,
            "code": "x = self.fc2(x)",
            "function": "",
            "end_line": None,
            "column": None,
            "end_column": None,
            "expression": "",
        },
        "module_path": "model.fc2",
        "expected": 100,
        "got": 128,
        "hint": "Linear(128, 10) would fit",
        "details": [],
        "cause": None,
    }


def test_a_kind_can_be_an_index_error_too():
    cls = as_also(ShapeMismatch, IndexError)
    error = cls(3, 5)
    assert isinstance(error, ShapeMismatch)
    assert isinstance(error, IndexError)
    assert cls is as_also(ShapeMismatch, IndexError)
    assert cls.__name__ == "ShapeMismatch"
    assert error.kind == "ShapeMismatch"


def test_an_explained_error_crosses_process_borders_with_its_cause():
    result = attempt(lambda: torch.zeros(2)[5])
    assert isinstance(result, Err)
    again = pickle.loads(pickle.dumps(result.error))
    assert isinstance(again, ShapeMismatch)
    assert isinstance(again, IndexError)
    assert str(again) == str(result.error)
    assert str(again.__cause__) == "index 5 is out of bounds for dimension 0 with size 2"


def test_kinds_live_where_users_import_them_from():
    assert ShapeMismatch.__module__ == "simpletorch.errors"
    assert errors.ShapeMismatch is ShapeMismatch


def test_attempt_gives_the_value():
    result = attempt(torch.add, torch.ones(2), torch.ones(2))
    assert isinstance(result, Ok)
    assert result.unwrap().tolist() == [2, 2]


def test_attempt_gives_the_explained_error():
    match attempt(torch.mm, torch.ones(2, 3), torch.ones(4, 5)):
        case Err(ShapeMismatch() as error):
            assert error.__cause__ is not None
        case other:
            pytest.fail(f"{other}")


def test_attempt_names_the_operation_and_its_operands():
    left, right = torch.ones(2, 3), torch.ones(5, 7)
    match attempt(torch.mm, left, mat2=right):
        case Err(ShapeMismatch() as error):
            assert error.operation == "mm"
            assert [operand.shape for operand in error.operands] == [(2, 3), (5, 7)]
            assert {error.expected, error.got} == {3, 5}
        case other:
            pytest.fail(f"{other}")
    with pytest.raises(ShapeMismatch):
        attempt(torch.mm, left, right).unwrap()


def test_attempt_raises_what_is_no_result():
    def f() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        attempt(f)
    with pytest.raises(TypeError, match="missing 1 required"):
        attempt(torch.matmul, torch.ones(2))


def test_attempt_lets_an_interrupt_through():
    def f() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(f)


def test_explain_lets_a_good_block_through():
    with explain():
        x = torch.ones(2) + 1
    assert x.tolist() == [2, 2]


def test_an_error_is_explained_once():
    with pytest.raises(ShapeMismatch) as caught, explain(), explain():
        torch.zeros(2, 3) @ torch.zeros(5, 6)
    assert type(caught.value.__cause__) is RuntimeError
