"""torch's errors, explained: the whole text for the mistakes that people make."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn as tnn

from simpletorch import nn
from simpletorch.errors import (
    ShapeMismatch,
    TorchError,
    explain,
)

zeros = torch.zeros


def long(*shape: int) -> torch.Tensor:
    return zeros(*shape, dtype=torch.int64)


class Net(nn.Module):
    def __init__(self, **layers: tnn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def failing(function: Callable[..., Any], *args: Any) -> TorchError:
    with pytest.raises(TorchError) as caught, explain():
        function(*args)
    return caught.value


# -- the text as a whole ----------------------------------------------------------------------------------------------


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = tnn.Linear(784, 128)
        self.fc2 = tnn.Linear(100, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return x  # noqa: RET504 - the message shows the statement above


def test_the_whole_text_of_a_failed_layer():
    model = Two()
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(32, 784))
    line = inspect.getsourcelines(Two.forward)[1] + 2
    assert str(caught.value) == (
        "Linear(100, 10): the last dim of input is 128, but the layer takes 100 features\n"
        "  input = x  Float32[32, 128]  (cpu)\n"
        "  self.fc2   Linear(in_features=100, out_features=10)\n"
        f"  in model.fc2, at {os.path.relpath(__file__)}:{line}: x = self.fc2(x)\n"
        "  hint: Linear(128, 10) would fit"
    )


def test_the_whole_text_of_a_failed_operator():
    def f() -> None:
        x, y = zeros(3, 4), zeros(3, 5)
        x + y

    line = inspect.getsourcelines(f)[1] + 2
    assert str(failing(f)) == (
        "+: input (3, 4) and other (3, 5) can't be broadcast: 4 and 5 differ and neither is 1 at dim -1\n"
        "  input = x  Float32[3, 4]  (cpu)\n"
        "  other = y  Float32[3, 5]  (cpu)\n"
        f"  at {os.path.relpath(__file__)}:{line}: x + y"
    )


def test_the_fields_are_data():
    model = Two()
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(32, 784))
    error = caught.value
    assert error.operation == "Linear(100, 10)"
    assert error.expected == 100
    assert error.got == 128
    assert error.module_path == "model.fc2"
    assert error.operands[0].shape == (32, 128)
    assert error.operands[0].device == "cpu"
    assert (error.operands[0].name, error.operands[0].role) == ("x", "input")
    assert error.location is not None
    assert error.location.code == "x = self.fc2(x)"
    assert error.location.function.endswith("forward")
    lines, first = inspect.getsourcelines(Two.forward)
    source = lines[error.location.line - first]
    assert source[error.location.column : error.location.end_column] == error.location.expression == "self.fc2(x)"


# -- modules ----------------------------------------------------------------------------------------------------------


def test_a_layer_inside_plain_containers_is_named_by_its_path():
    model = Net(layer=tnn.Sequential(tnn.ReLU(), tnn.Sequential(tnn.Linear(5, 6))))
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(2, 7))
    assert caught.value.module_path == "model.layer.1.0"
    assert caught.value.reason == "the last dim of input is 7, but the layer takes 5 features"


def test_nested_modules_are_explained_once_with_the_whole_path():
    inner = Net(layer=tnn.Linear(5, 6))
    outer = Net(layer=Net(layer=inner))
    with pytest.raises(ShapeMismatch) as caught:
        outer(zeros(2, 7))
    assert caught.value.module_path == "outer.layer.layer.layer"
    assert type(caught.value.__cause__) is RuntimeError


def test_a_model_in_an_attribute_keeps_its_name():
    class Trainer:
        model = Net(layer=tnn.Linear(5, 6))

        def step(self) -> None:
            self.model(zeros(2, 7))

    assert failing(Trainer().step).module_path == "self.model.layer"


def test_a_model_without_a_name_goes_by_its_class():
    assert failing(lambda: Net(layer=tnn.Linear(5, 6))(zeros(2, 7))).module_path == "Net.layer"


def test_a_module_in_a_list_is_found_under_its_index():
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = tnn.ModuleList([tnn.Linear(3, 3), tnn.Linear(4, 3)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for block in self.blocks:
                x = block(x)
            return x

    stack = Stack()
    error = failing(lambda: stack(zeros(2, 3)))
    assert error.module_path == "stack.blocks.1"
    assert error.reason == "the last dim of input is 3, but the layer takes 4 features"
    assert [o.name for o in error.operands] == ["x", "block"]


def test_an_operation_in_forward_itself():
    class Scores(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tnn.Parameter(zeros(5, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.w

    model = Scores()
    error = failing(lambda: model(zeros(2, 7)))
    assert error.reason == "the inner dims differ: input has 7, other has 5"
    assert [o.name for o in error.operands] == ["x", "self.w"]
    assert error.module_path == "model"


def test_user_errors_pass_through_unchanged():
    class Picky(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError) as caught:
        Picky()(zeros(2))
    assert type(caught.value) is RuntimeError


class Mine(RuntimeError):
    pass


@pytest.mark.parametrize(
    "error", [ValueError("mine"), KeyError("k"), Mine("x"), StopIteration(), TypeError("t"), AssertionError()]
)
def test_other_exceptions_pass_through_unchanged(error: Exception):
    class Picky(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise error

    with pytest.raises(type(error)) as caught:
        Picky()(zeros(2))
    assert caught.value is error


def test_errors_of_plain_python_in_forward_pass_through():
    class Buggy(nn.Module):
        def forward(self, x: torch.Tensor) -> int:
            return [1, 2][len(x)]

    with pytest.raises(IndexError) as caught:
        Buggy()(zeros(5))
    assert type(caught.value) is IndexError


def test_the_traceback_still_leads_to_the_failing_line():
    model = Two()
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(32, 784))
    names = [entry.name for entry in caught.traceback]
    assert "forward" in names
    assert str(caught.traceback[-1].path).endswith("linear.py")


# -- classes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "also"),
    [
        (lambda: zeros(2, 3)[5], IndexError),
        (lambda: tnn.BatchNorm2d(7)(zeros(2, 7)), ValueError),
        (lambda: torch.softmax(long(3), 0), NotImplementedError),
        (lambda: tnn.Linear(3, 5)(None), TypeError),
    ],
)
def test_an_error_is_still_what_torch_raised(function: Callable[[], object], also: type[Exception]):
    error = failing(function)
    assert isinstance(error, also)
    assert type(error.__cause__) is also


def test_a_message_nobody_knows_is_kept():
    def f() -> None:
        x = zeros(2, 3)
        torch.ops.aten.segment_reduce(x, "sum", lengths=long(5))

    error = failing(f)
    assert type(error) is TorchError
    assert error.reason == str(error.__cause__).partition("\n")[0]


def test_autocast_does_not_make_a_shape_error_one_of_dtypes():
    def f() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x, w = zeros(2, 3), zeros(5, 7, dtype=torch.bfloat16)
            x @ w

    assert isinstance(failing(f), ShapeMismatch)


# -- what an error never does -----------------------------------------------------------------------------------------


def test_no_code_of_the_user_runs():
    calls = []

    class Owner:
        @property
        def weight(self) -> torch.Tensor:
            calls.append("property")
            return zeros(5, 6)

        def __getattr__(self, name: str) -> torch.Tensor:
            calls.append("getattr")
            raise AttributeError(name)

    def f() -> None:
        owner, x = Owner(), zeros(2, 7)
        x @ owner.weight

    error = failing(f)
    assert calls == ["property"]  # the program's own
    assert [o.name for o in error.operands] == ["x"]


def test_no_contents_are_shown():
    def f() -> None:
        secret, w = torch.full((2, 3), 12345.0), zeros(5, 6)
        secret @ w

    assert "12345" not in str(failing(f))


def test_code_without_source_is_explained_without_a_line():
    space: dict[str, Any] = {"torch": torch}
    exec("def f():\n    x, w = torch.zeros(2, 3), torch.zeros(5, 6)\n    return x @ w", space)
    error = failing(space["f"])
    assert isinstance(error, ShapeMismatch)
    assert "3" in error.reason


def test_a_failing_report_leaves_torchs_error(monkeypatch: pytest.MonkeyPatch):
    from simpletorch.errors import _translation

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(_translation, "diagnosis", broken)
    with pytest.raises(RuntimeError) as caught, explain():
        zeros(2, 3) @ zeros(5, 6)
    assert type(caught.value) is RuntimeError


def test_notes_are_kept():
    def f() -> None:
        try:
            zeros(2, 3) @ zeros(5, 6)
        except RuntimeError as error:
            error.add_note("while warming up")
            raise

    assert failing(f).__notes__ == ["while warming up"]
