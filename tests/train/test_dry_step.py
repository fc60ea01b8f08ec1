"""A step on shapes alone finds what doesn't fit, changes nothing, and raises no false alarm."""

import random

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TorchError
from simpletorch.optim import SGD
from simpletorch.reproducibility import rng_state, set_rng_state
from simpletorch.train import Trainer, dry_step

INPUTS, TARGETS = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])


def net(width=5):
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(width, 2))


def test_what_fits_fits():
    assert dry_step(net(), F.cross_entropy, INPUTS, TARGETS)


def test_the_layer_is_named():
    with pytest.raises(ShapeMismatch) as caught:
        dry_step(net(width=7), F.cross_entropy, INPUTS, TARGETS)
    assert caught.value.module_path == "model.2"
    assert "takes 7 features" in str(caught.value)


def test_a_dtype_is_found():
    with pytest.raises(DTypeMismatch):
        dry_step(torch.nn.Embedding(11, 2), F.cross_entropy, INPUTS, TARGETS)


def test_a_loss_that_does_not_fit_is_found():
    with pytest.raises(TorchError, match="target"):
        dry_step(net(), F.cross_entropy, INPUTS, TARGETS[:3])


def test_nothing_changes():
    class Stateful(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net()
            self.calls, self.seen, self.cache = 0, [], torch.zeros(1, 2)

        def forward(self, x):
            self.calls += 1
            out = F.dropout(self.inner(x)) + self.cache
            self.cache = out
            self.seen.append(out)
            return out

    model = Stateful()
    cache, before = model.cache, {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    assert dry_step(model, F.cross_entropy, INPUTS, TARGETS)
    assert torch.equal(torch.get_rng_state(), random)
    assert (model.calls, model.seen) == (0, [])
    assert model.cache is cache
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_model_s_own_draws_are_put_back():
    class Noisy(torch.nn.Linear):
        def forward(self, input):
            return super().forward(input) + random.random() + np.random.rand() + torch.rand(2).to(input.device)

    model = Noisy(3, 2)
    before = rng_state()
    assert dry_step(model, F.cross_entropy, INPUTS, TARGETS)
    next_ones = random.random(), np.random.rand(), torch.rand(1)
    set_rng_state(before)
    assert next_ones == (random.random(), np.random.rand(), torch.rand(1))


def test_tied_weights_stay_tied():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            self.two.weight = self.one.weight

        def forward(self, x):
            assert self.one.weight is self.two.weight
            return self.two(self.one(x))

    assert dry_step(Tied(), F.cross_entropy, INPUTS, TARGETS)


class Peeks(torch.nn.Linear):
    def forward(self, input):
        return super().forward(input) * input.max().item()


class Uncopyable(torch.nn.Linear):
    def __deepcopy__(self, memo):
        raise RuntimeError("there can be only one")


@pytest.mark.parametrize("model", [Peeks(3, 2), Uncopyable(3, 2)])
def test_what_can_not_be_tried_is_no_error(model):
    assert not dry_step(model, F.cross_entropy, INPUTS, TARGETS)


def test_a_trainer_tries_before_it_changes_anything():
    model = net(width=7)
    batches = DataLoader(TensorDataset(INPUTS, TARGETS), 5)
    with pytest.raises(ShapeMismatch) as caught:
        Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False).fit(model, batches)
    assert caught.value.module_path == "model.2"
    assert model[1].num_batches_tracked == 0  # a real step would have got this far
