"""Where the first value that is no number comes from."""

import math

import pytest
import torch

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import TorchError
from simpletorch.optim import SGD
from simpletorch.train import DetectNaN, GradientMonitor, Trainer
from tests.train.callbacks.small_training import INPUTS, TARGETS, loader, net, trainer


class Log(torch.nn.Module):
    def forward(self, x):
        return x.log()


def test_nan_is_traced_to_the_layer_before_it_reaches_the_weights():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), Log(), torch.nn.Linear(5, 2))
    before = model[0].weight.detach().clone()
    with pytest.raises(TorchError, match="batch 1, update 1: Log makes it out of finite inputs") as caught:
        trainer(model, DetectNaN()).fit(model, loader())
    assert caught.value.module_path == "model.1"
    assert torch.equal(model[0].weight, before)


def test_nan_in_the_data_is_said():
    inputs = INPUTS.clone()
    inputs[17, 1] = math.nan
    model = net()
    with pytest.raises(TorchError, match=r"batch 3, update 3: the batch's input already has a value that"):
        trainer(model, DetectNaN()).fit(model, DataLoader(TensorDataset(inputs, TARGETS), 7))


def test_nan_in_the_weights_is_said():
    model = net()
    with torch.no_grad():
        model[2].bias[1] = math.inf
    with pytest.raises(TorchError, match=r"the weights 2\.bias already have a value"):
        trainer(model, DetectNaN()).fit(model, loader())


def test_nan_of_the_loss_function_is_said():
    model = net()
    broken = Trainer(
        loss=lambda output, target: output.sum() / 0,
        optimizer=SGD(model.parameters()),
        callbacks=[DetectNaN()],
        progress=False,
    )
    with pytest.raises(TorchError, match="it is the loss function that makes it"):
        broken.fit(model, loader())


def test_a_gradient_that_is_not_finite_is_found_before_the_update():
    class Root(torch.nn.Module):
        def forward(self, x):
            return (x * 0).sqrt() + x

    model = torch.nn.Sequential(torch.nn.Linear(3, 2), Root())
    before = model[0].weight.detach().clone()
    with pytest.raises(TorchError, match=r"is finite, but the gradient of 0\.weight, 0\.bias is not"):
        trainer(model, DetectNaN()).fit(model, loader())
    assert torch.equal(model[0].weight, before)


def test_a_healthy_training_is_left_alone():
    model, other = net(), net()
    trainer(model, DetectNaN(), GradientMonitor()).fit(model, loader(), epochs=2)
    trainer(other).fit(other, loader(), epochs=2)
    assert torch.equal(model[0].weight, other[0].weight)
