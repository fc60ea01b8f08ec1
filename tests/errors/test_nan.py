"""`detect_nan` names the first module, operation or gradient that isn't finite."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from simpletorch import nn
from simpletorch.errors import NotFinite, detect_nan


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(3, 5)
        self.log = Log()
        self.fc2 = nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.log(self.fc1(x)))


class Log(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x - x)


def failing(model: nn.Module, x: Tensor, **options: bool) -> NotFinite:
    with pytest.raises(NotFinite) as caught, detect_nan(**options):
        model(x).sum().backward()
    return caught.value


def test_the_first_module_is_named():
    model = Net()
    error = failing(model, torch.ones(2, 3))
    assert error.module_path == "model.log"
    assert error.reason == "the output of model.log has 10 infinite of 10 values, though its input is finite"
    assert error.location is not None
    assert error.location.expression == "self.log(self.fc1(x))"


def test_the_operation_is_named():
    error = failing(Net(), torch.ones(2, 3), operations=True)
    assert error.operation == "log"
    assert error.reason == "the result has 10 infinite of 10 values, and all operands are finite"
    assert error.location is not None
    assert error.location.code == "return torch.log(x - x)"


def test_bad_data_is_told_from_a_bad_module():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    x = torch.ones(2, 3)
    x[0, 1] = torch.nan
    error = failing(model, x)
    assert error.module_path == "model.0"
    assert "its input already had 1 NaN of 6 values" in error.reason


def test_bad_parameters_are_named():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    with torch.no_grad():
        model[0].bias[2] = torch.inf
    error = failing(model, torch.ones(2, 3))
    assert error.reason == "the output of model.0 has 2 infinite of 10 values; its bias is not finite"


def test_a_gradient_is_caught_where_it_arrives():
    class Root(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 5)

        def forward(self, x: Tensor) -> Tensor:
            return torch.sqrt(self.fc(x) * 0)

    model = Root()
    error = failing(model, torch.ones(2, 3))
    assert error.operation == "backward"
    assert error.reason == "the gradient that reaches the output of model.fc has 10 NaN of 10 values"


def test_finite_numbers_pass_and_nothing_stays_behind():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    with detect_nan(operations=True):
        model(torch.ones(2, 3)).sum().backward()
    model[0].weight.data.fill_(torch.nan)
    assert model(torch.ones(2, 3)).isnan().all()


def test_counts_are_shown_and_no_values():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    x = torch.full((2, 3), 12345.0)
    x[0, 0] = torch.inf
    assert "12345" not in str(failing(model, x))


@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks:UserWarning")
def test_a_compiled_model_still_runs():
    model = torch.compile(nn.Sequential(nn.Linear(3, 5), nn.ReLU()), backend="eager")
    with detect_nan():
        assert model(torch.ones(2, 3)).shape == (2, 5)
