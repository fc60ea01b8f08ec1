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
    CheckpointError,
    DeviceMismatch,
    DTypeMismatch,
    OutOfMemory,
    ShapeMismatch,
    TorchError,
    TypeMismatch,
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


def check(function: Callable[..., Any], kind: type[TorchError], reason: str, hint: str | None = None) -> TorchError:
    error = failing(function)
    assert isinstance(error, kind), error
    assert error.reason == reason
    assert error.hint == hint
    assert error.__cause__ is not None
    assert isinstance(error, type(error.__cause__))
    return error


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
        "linear: the last dim of x is 128, but self.fc2 takes 100 features\n"
        "  x         Float32[32, 128]  (cpu)\n"
        "  self.fc2  Linear(in_features=100, out_features=10)\n"
        f"  in model.fc2, at {os.path.relpath(__file__)}:{line}: x = self.fc2(x)\n"
        "  hint: Linear(128, 10) would fit"
    )


def test_the_whole_text_of_a_failed_operator():
    def f() -> None:
        x, y = zeros(3, 4), zeros(3, 5)
        x + y

    line = inspect.getsourcelines(f)[1] + 2
    assert str(failing(f)) == (
        "add: dim -1 of x is 4, but of y it is 5, and neither is 1\n"
        "  x  Float32[3, 4]  (cpu)\n"
        "  y  Float32[3, 5]  (cpu)\n"
        f"  at {os.path.relpath(__file__)}:{line}: x + y"
    )


def test_the_fields_are_data():
    model = Two()
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(32, 784))
    error = caught.value
    assert error.operation == "linear"
    assert error.expected == (32, 100)
    assert error.got == (32, 128)
    assert error.module_path == "model.fc2"
    assert error.operands[0].shape == (32, 128)
    assert error.operands[0].device == "cpu"
    assert error.location is not None
    assert error.location.code == "x = self.fc2(x)"
    assert error.location.function.endswith("forward")
    lines, first = inspect.getsourcelines(Two.forward)
    source = lines[error.location.line - first]
    assert source[error.location.column : error.location.end_column] == "self.fc2(x)"


# -- modules ----------------------------------------------------------------------------------------------------------


def test_a_layer_inside_plain_containers_is_named_by_its_path():
    model = Net(layer=tnn.Sequential(tnn.ReLU(), tnn.Sequential(tnn.Linear(5, 6))))
    with pytest.raises(ShapeMismatch) as caught:
        model(zeros(2, 7))
    assert caught.value.module_path == "model.layer.1.0"
    assert caught.value.reason == "the last dim of input is 7, but model.layer.1.0 takes 5 features"


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
    assert error.reason == "the last dim of x is 3, but block takes 4 features"


def test_an_operation_in_forward_itself():
    class Scores(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tnn.Parameter(zeros(5, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.w

    model = Scores()
    error = failing(lambda: model(zeros(2, 7)))
    assert error.reason == "the last dim of x is 7, but the first of self.w is 5"
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


# -- shapes -----------------------------------------------------------------------------------------------------------


def test_matmul():
    def f() -> None:
        x, w = zeros(32, 128), zeros(100, 10)
        x @ w

    check(f, ShapeMismatch, "the last dim of x is 128, but the first of w is 100")


def test_matmul_with_a_transposed_weight():
    def f() -> None:
        x, w = zeros(32, 128), zeros(10, 128)
        torch.matmul(x, w)

    check(f, ShapeMismatch, "the last dim of x is 128, but the first of w is 10", "x @ w.T would fit")


def test_linear_after_a_missing_flatten():
    model = Net(layer=tnn.Linear(72, 10))
    x = zeros(2, 8, 3, 3)
    check(
        lambda: model(x),
        ShapeMismatch,
        "the last dim of x is 3, but self.layer takes 72 features",
        "x.flatten(1) has 72 features",
    )


def test_functional_linear_with_a_transposed_weight():
    def f() -> None:
        x, w = zeros(2, 5), zeros(5, 7)
        F.linear(x, w)

    check(
        f,
        ShapeMismatch,
        "the last dim of x is 5, but w takes 7 features (its last dim)",
        "the weight of linear is (out, in): w.T would fit",
    )


def test_channels_last_images():
    model = Net(layer=tnn.Conv2d(3, 8, 5))
    check(
        lambda: model(zeros(2, 32, 30, 3)),
        ShapeMismatch,
        "x has 32 channels (dim 1), but self.layer takes 3",
        "x looks channels-last: x.permute(0, 3, 1, 2) would fit",
    )


def test_wrong_channels():
    model = Net(layer=tnn.Conv2d(3, 8, 5))
    check(
        lambda: model(zeros(2, 1, 30, 30)),
        ShapeMismatch,
        "x has 1 channels (dim 1), but self.layer takes 3",
        "Conv2d(1, 8, 5) would fit",
    )


def test_a_conv_without_a_channel_dim():
    model = Net(layer=tnn.Conv2d(1, 8, 5))
    check(
        lambda: model(zeros(28, 28)),
        ShapeMismatch,
        "x has 2 dims, but conv2d takes (N, C, H, W) or (C, H, W)",
        "x.unsqueeze(0) adds a dim for one channel",
    )


def test_a_kernel_larger_than_the_image():
    model = Net(layer=tnn.Conv2d(1, 8, 5))
    error = failing(lambda: model(zeros(1, 1, 3, 3)))
    assert error.reason == "x is 3 x 3 with its padding, smaller than the kernel of 5 x 5"


def test_batch_norm_channels():
    model = Net(layer=tnn.BatchNorm2d(8))
    check(
        lambda: model(zeros(2, 5, 3, 3)),
        ShapeMismatch,
        "x has 5 channels (dim 1), but self.layer takes 8",
        "BatchNorm2d(5) would fit",
    )


def test_batch_norm_rank_is_still_a_value_error():
    model = Net(layer=tnn.BatchNorm2d(8))
    error = failing(lambda: model(zeros(2, 8)))
    assert isinstance(error, ValueError)
    assert error.reason == "x has 2 dims, but self.layer takes 4D"


def test_one_sample_in_training():
    model = Net(layer=tnn.BatchNorm1d(8))
    error = failing(lambda: model(zeros(1, 8)))
    assert "drop_last=True" in (error.hint or "")


def test_layer_norm():
    model = Net(layer=tnn.LayerNorm(8))
    check(
        lambda: model(zeros(2, 5)),
        ShapeMismatch,
        "the last dim of x is 5, but self.layer normalises 8",
        "LayerNorm(5) would fit",
    )


def test_group_norm():
    model = Net(layer=tnn.GroupNorm(2, 8))
    check(lambda: model(zeros(2, 5, 3)), ShapeMismatch, "x has 5 channels (dim 1), which 2 groups don't divide evenly")


def test_lstm():
    model = Net(layer=tnn.LSTM(4, 5))
    check(
        lambda: model(zeros(2, 3, 6)),
        ShapeMismatch,
        "the last dim of x is 6, but self.layer takes 4 features",
        "LSTM(6, 5) would fit",
    )


def test_cat():
    def f() -> None:
        a, b = zeros(2, 3), zeros(2, 4)
        torch.cat([a, b])

    check(f, ShapeMismatch, "dim 1 of b is 4, but of a it is 3 (only dim 0 may differ)", "dim=1 would fit")


def test_cat_of_a_list_variable():
    def f() -> None:
        parts = [zeros(2, 3), zeros(2, 3), zeros(5, 4)]
        torch.cat(parts)

    check(f, ShapeMismatch, "dim 1 of parts[2] is 4, but of parts[0] it is 3 (only dim 0 may differ)")


def test_stack():
    def f() -> None:
        a, b = zeros(2, 3), zeros(2, 4)
        torch.stack((a, b))

    error = failing(f)
    assert error.reason == "b has shape (2, 4), but a has (2, 3)"


def test_view_of_the_wrong_size():
    def f() -> None:
        x = zeros(6, 4)
        x.view(5, 8)

    check(f, ShapeMismatch, "x has 24 numbers, but (5, 8) has 40", "(-1, 8) would fit, and makes the first dim 3")


def test_reshape_that_does_not_divide():
    def f() -> None:
        x = zeros(2, 3)
        x.reshape(-1, 4)

    check(f, ShapeMismatch, "x has 6 numbers, which (-1, 4) can't divide up: 6 is no multiple of 4")


def test_view_after_transpose():
    def f() -> None:
        heads = zeros(2, 3, 4).transpose(1, 2)
        heads.view(2, 12)

    error = failing(f)
    assert error.reason.startswith("heads is not contiguous")
    assert error.hint is not None
    assert error.hint.startswith("heads.reshape(...)")


def test_broadcast_of_a_vector_over_rows():
    def f() -> None:
        x, mean = zeros(5, 3), zeros(5)
        x - mean

    check(
        f,
        ShapeMismatch,
        "dim -1 of x is 3, but of mean it is 5, and neither is 1",
        "mean.unsqueeze(1) has shape (5, 1), one number for each row of x",
    )


def test_in_place_operations_keep_the_shape():
    def f() -> None:
        x, y = zeros(3), zeros(2, 3)
        x += y

    error = failing(f)
    assert error.operation == "add_"
    assert error.reason == "x has shape (3,), which can't hold the result of shape (2, 3)"


def test_assignment():
    def f() -> None:
        x, row = zeros(2, 3), zeros(5)
        x[0] = row

    check(f, ShapeMismatch, "row has shape (5,), but the place it is assigned to has (3,)")


def test_bmm():
    def f() -> None:
        a, b = zeros(2, 3, 4), zeros(2, 5, 4)
        torch.bmm(a, b)

    check(f, ShapeMismatch, "the last dim of a is 4, but the second last of b is 5", "b.mT would fit")


def test_einsum():
    def f() -> None:
        a, b = zeros(2, 3), zeros(4, 5)
        torch.einsum("ij,jk->ik", a, b)

    check(f, ShapeMismatch, "j is 4 in b, but 3 before it")


def test_index_out_of_range_is_still_an_index_error():
    def f() -> None:
        x = zeros(2, 3)
        x[5]

    error = check(f, ShapeMismatch, "index 5 is outside dim 0 of x, which has size 2 (0 to 1)")
    assert isinstance(error, IndexError)


def test_no_such_dim():
    def f() -> None:
        x = zeros(2, 3)
        x.sum(2)

    check(f, ShapeMismatch, "there is no dim 2: x has 2 dims (-2 to 1)")


def test_mask_of_another_shape():
    def f() -> None:
        x, keep = zeros(2, 3), zeros(5, dtype=torch.bool)
        x[keep]

    check(f, ShapeMismatch, "the mask keep has shape (5,), but x has (2, 3): they differ in dim 0")


def test_embedding_index_out_of_range():
    model = Net(layer=tnn.Embedding(10, 4))
    check(
        lambda: model(torch.tensor([3, 12])),
        ShapeMismatch,
        "index 12 in x is out of range: self.layer has 10 rows (0 to 9)",
        "num_embeddings must be larger than the largest index",
    )


def test_class_target_out_of_range():
    def f() -> None:
        logits, y = zeros(4, 10), torch.full((4,), 11)
        F.cross_entropy(logits, y)

    check(f, ShapeMismatch, "class 11 in y is out of range: logits has 10 classes (0 to 9)")


def test_targets_of_another_batch_size():
    def f() -> None:
        logits, y = zeros(4, 10), long(5)
        F.cross_entropy(logits, y)

    check(f, ShapeMismatch, "logits has 4 rows, but y has 5")


def test_targets_with_a_dim_too_many():
    def f() -> None:
        logits, y = zeros(4, 10), long(4, 1)
        F.cross_entropy(logits, y)

    check(
        f,
        ShapeMismatch,
        "y has 2 dims, but class indices have one for each row of the input",
        "y.squeeze(1) has one class index for each row",
    )


def test_a_row_of_targets_against_a_column_of_logits():
    def f() -> None:
        logits, y = zeros(4, 1), zeros(4)
        F.binary_cross_entropy_with_logits(logits, y)

    check(f, ShapeMismatch, "y has shape (4,), but logits has (4, 1)", "y.unsqueeze(1) has the input's shape")


def test_truth_of_a_tensor():
    def f() -> None:
        x = zeros(3)
        if x > 0:
            pass

    assert failing(f).hint == "say .any() or .all()"


# -- dtypes -----------------------------------------------------------------------------------------------------------


def test_float_targets():
    def f() -> None:
        logits, y = zeros(4, 10), zeros(4)
        F.cross_entropy(logits, y)

    error = failing(f)
    assert isinstance(error, DTypeMismatch)
    assert error.reason == "y is Float32, but class indices are Int64"
    assert (error.hint or "").startswith("y.long() would fit")


def test_a_criterion_names_its_arguments():
    def f() -> None:
        criterion = tnn.CrossEntropyLoss()
        logits, y = zeros(4, 10), zeros(4)
        criterion(logits, y)

    error = failing(f)
    assert error.operation == "cross_entropy"
    assert error.reason == "y is Float32, but class indices are Int64"


def test_numpy_doubles_into_a_layer():
    model = Net(layer=tnn.Linear(4, 5))
    check(
        lambda: model(zeros(2, 4, dtype=torch.float64)),
        DTypeMismatch,
        "x is Float64, but self.layer is Float32",
        "x.float() would fit; numbers from NumPy are Float64 unless told otherwise",
    )


def test_bytes_into_a_conv():
    model = Net(layer=tnn.Conv2d(3, 8, 3))
    check(
        lambda: model(zeros(2, 3, 8, 8, dtype=torch.uint8)),
        DTypeMismatch,
        "x is UInt8, but self.layer is Float32",
        "x.float() would fit",
    )


def test_matmul_of_two_dtypes():
    def f() -> None:
        a, b = zeros(2, 3), long(3, 2)
        a @ b

    check(f, DTypeMismatch, "a is Float32, but b is Int64", "a.long() would fit")


def test_floats_as_indices():
    def f() -> None:
        x, i = zeros(3), zeros(2)
        x[i]

    check(f, DTypeMismatch, "i is Float32, but indices are Int64", "i.long() would fit")


def test_floats_into_an_embedding():
    model = Net(layer=tnn.Embedding(10, 4))
    check(lambda: model(zeros(3)), DTypeMismatch, "x is Float32, but indices are Int64 or Int32", "x.long() would fit")


def test_mean_of_integers():
    def f() -> None:
        x = long(3)
        x.mean()

    check(f, DTypeMismatch, "x is Int64, but mean needs floats", "x.float() would fit")


def test_softmax_of_integers_is_still_not_implemented_error():
    def f() -> None:
        x = long(3)
        torch.softmax(x, 0)

    error = check(f, DTypeMismatch, "softmax is not defined for Int64, which x is", "x.float() would fit")
    assert isinstance(error, NotImplementedError)


def test_integer_labels_for_probabilities():
    def f() -> None:
        logits, y = zeros(4), long(4)
        F.binary_cross_entropy_with_logits(logits, y)

    check(f, DTypeMismatch, "y is Int64, but probabilities are floats", "y.float() would fit")


def test_something_else_than_a_tensor():
    def f() -> None:
        layer, x = tnn.Linear(4, 5), None
        layer(x)

    error = check(
        f,
        TypeMismatch,
        "x should be a Tensor, but is None",
        "is x the result of a function that returns nothing?",
    )
    assert isinstance(error, TypeError)


# -- devices, memory, gradients, checkpoints -------------------------------------------------------------------------


def test_two_devices():
    def f() -> None:
        x, y = zeros(2), zeros(2, device="meta")
        x + y

    check(f, DeviceMismatch, "x is on cpu, but y is on meta", "x.to('meta') would fit")


def test_data_on_another_device_than_the_model():
    model = Net(layer=tnn.Linear(4, 5, device="meta"))
    error = failing(lambda: model(zeros(2, 4)))
    assert isinstance(error, DeviceMismatch)
    assert error.reason == "x is on cpu, but self.layer is on meta"
    assert (error.got, error.expected) == ("cpu", "meta")


def test_out_of_memory():
    error = failing(lambda: torch.empty(10**15))
    assert isinstance(error, OutOfMemory)
    assert error.requested == 4 * 10**15
    assert error.reason == "3637.98 TiB requested, more than there is"


def test_cuda_out_of_memory_reads_torchs_numbers():
    message = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.00 GiB "
        "of which 512.00 MiB is free."
    )

    class Hungry(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.apply_(lambda _: self.fail())

        def fail(self) -> float:
            return exec_raise(torch.OutOfMemoryError(message))

    error = failing(lambda: Hungry()(zeros(1)))
    assert isinstance(error, OutOfMemory)
    assert isinstance(error, torch.OutOfMemoryError)
    assert (error.requested, error.available) == (2 * 2**30, 512 * 2**20)
    assert error.reason == "2.00 GiB requested, 512.00 MiB available"


def exec_raise(error: Exception) -> float:
    (_ for _ in ()).throw(error)
    return 0.0


def test_backward_of_a_vector():
    def f() -> None:
        loss = zeros(2, requires_grad=True) * 2
        loss.backward()

    check(
        f,
        ShapeMismatch,
        "loss is not a scalar, and only a scalar has one gradient",
        "loss.mean().backward() or loss.sum().backward()",
    )


def test_backward_without_a_graph():
    def f() -> None:
        loss = zeros(())
        loss.backward()

    assert failing(f).reason == "loss was computed without a graph, so there is nothing to differentiate"


def test_backward_twice():
    def f() -> None:
        loss = zeros(2, requires_grad=True).exp().sum()
        loss.backward()
        loss.backward()

    assert failing(f).reason == "the graph was freed by an earlier backward"


def test_an_in_place_change_that_backward_needs():
    def f() -> None:
        y = (zeros(3, requires_grad=True) * 2).exp()
        y.add_(1)
        y.sum().backward()

    assert failing(f).reason == "a Float32[3] tensor, the output of Exp, that backward needs was changed in place"


def test_a_checkpoint_that_does_not_fit():
    def f() -> None:
        tnn.Linear(3, 4).load_state_dict({"weight": zeros(4, 4)})

    error = failing(f)
    assert isinstance(error, CheckpointError)
    assert error.reason.startswith('the checkpoint doesn\'t fit Linear: Missing key(s) in state_dict: "bias".')


def test_a_message_nobody_knows_is_kept():
    def f() -> None:
        x = zeros(2, 3)
        x.narrow(0, 1, 5)

    error = failing(f)
    assert type(error).__name__ == "TorchError"
    assert error.reason == "start (1) + length (5) exceeds dimension size (2)."
    assert error.operation == "narrow"


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
    from simpletorch.errors import _border

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(_border, "failure", broken)
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
