"""``model.compile()``: what it raises is explained, in one graph, also as part of a bigger model."""

import copy
import pickle

import pytest
import torch

from simpletorch import nn
from simpletorch.errors import ShapeMismatch, TorchError


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


@pytest.fixture
def model():
    made = Net()
    made.compile(backend="eager", fullgraph=True)
    yield made
    torch.compiler.reset()


def test_torchs_error_is_explained_and_still_of_torchs_class(model):
    with pytest.raises(TorchError, match=r"Linear\(3, 5\): the last dim of input is 7, but") as caught:
        model(torch.randn(2, 7))
    assert isinstance(caught.value, ShapeMismatch)
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value.__cause__, torch._dynamo.exc.TorchRuntimeError)


def test_what_fits_gives_what_it_gives_uncompiled(model):
    x = torch.randn(2, 3)
    assert torch.equal(model(x), model.forward(x))


def test_it_is_one_graph_inside_another(model):
    whole = torch.compile(nn.Sequential(model, nn.ReLU()), backend="eager", fullgraph=True)
    x = torch.randn(2, 3)
    assert torch.equal(whole(x), model(x).relu())


def test_it_is_copied_and_pickled_uncompiled_as_torchs_modules_are(model):
    x = torch.randn(2, 3)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other._compiled_call_impl is None
        assert torch.equal(other(x), model(x))
