"""A `GradScaler` that is used in the wrong order says what is wrong."""

import pytest
import torch

from simpletorch import nn, optim
from simpletorch.amp import GradScaler
from simpletorch.errors import TorchError


class Training:
    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        self.model = nn.Linear(3, 5).to(dtype)
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1, fused=False)  # fused ones scale by themselves
        self.scaler = GradScaler("cpu")
        self.x = torch.ones(2, 3, dtype=dtype)

    def backward(self) -> None:
        self.scaler.scale(self.model(self.x).sum()).backward()


def test_the_right_order_is_torch_s():
    training = Training()
    training.backward()
    training.scaler.unscale_(training.optimizer)
    training.scaler.step(training.optimizer)
    training.scaler.update()
    assert torch.equal(training.model.weight.grad, torch.full((5, 3), 2.0))


def test_a_step_without_a_scaled_loss():
    training = Training()
    training.model(training.x).sum().backward()
    with pytest.raises(TorchError, match="no loss has been scaled yet") as error:
        training.scaler.step(training.optimizer)
    assert isinstance(error.value, AssertionError)
    assert error.value.operation == "GradScaler.step"
    assert "scaler.scale(loss).backward()" in error.value.hint
    assert isinstance(error.value.__cause__, AssertionError)


def test_an_update_without_a_scaled_loss():
    with pytest.raises(TorchError, match="no loss has been scaled yet"):
        Training().scaler.update()


def test_a_step_without_backward():
    training = Training()
    training.scaler.scale(torch.ones(1))
    with pytest.raises(TorchError, match="no parameter of the optimizer has a gradient"):
        training.scaler.step(training.optimizer)


def test_unscaling_twice():
    training = Training()
    training.backward()
    training.scaler.unscale_(training.optimizer)
    with pytest.raises(TorchError, match="unscaled already") as error:
        training.scaler.unscale_(training.optimizer)
    assert isinstance(error.value, RuntimeError)


def test_unscaling_after_the_step():
    training = Training()
    training.backward()
    training.scaler.step(training.optimizer)
    with pytest.raises(TorchError, match="the step has been made already"):
        training.scaler.unscale_(training.optimizer)


def test_a_second_step_before_the_update():
    training = Training()
    training.backward()
    training.scaler.step(training.optimizer)
    with pytest.raises(TorchError, match="a step was made since the last update"):
        training.scaler.step(training.optimizer)


def test_parameters_in_half_precision():
    training = Training(torch.float16)
    training.backward()
    with pytest.raises(TorchError, match="parameters are Float16"):
        training.scaler.unscale_(training.optimizer)
