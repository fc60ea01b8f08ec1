"""Gradient checkpointing changes memory, and nothing else."""

import copy
import pickle

import pytest
import torch
from torch.nn import functional as F

from simpletorch.train import recompute


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.fc = torch.nn.Linear(7, 7)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x, *, scale=1.0):
        self.calls += 1
        return x + scale * self.dropout(F.relu(self.fc(x)))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Linear(7, 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=0.5)
        return self.head(x)


def gradients(model):
    torch.manual_seed(5)
    loss = model(torch.randn(11, 7)).square().mean()
    loss.backward()
    return loss, [p.grad for p in model.parameters()]


def test_loss_gradients_and_random_draws_are_the_same():
    torch.manual_seed(0)
    plain = Net()
    ours = copy.deepcopy(plain)
    assert recompute(ours, Block) == ["blocks.0", "blocks.1"]
    (loss, expected), (our_loss, found) = gradients(plain), gradients(ours)
    assert torch.equal(loss, our_loss)
    for gradient, other in zip(expected, found, strict=True):
        assert torch.equal(gradient, other)
    assert [block.calls for block in ours.blocks] == [2, 2]
    assert ours.state_dict().keys() == plain.state_dict().keys()


def test_activations_are_not_kept():
    def saved(model):
        bytes_saved = 0

        def pack(tensor):
            nonlocal bytes_saved
            bytes_saved += tensor.nbytes
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            model(torch.randn(1009, 7))
        return bytes_saved

    ours = Net()
    recompute(ours, Block)
    assert saved(ours) < saved(Net()) / 2


def test_without_gradients_nothing_is_computed_twice():
    model = Net()
    recompute(model, lambda name, module: name == "blocks.1")
    with torch.no_grad():
        model(torch.randn(2, 7))
    assert [block.calls for block in model.blocks] == [1, 1]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_computes_with_its_own_weights(copied):
    model = Net()
    recompute(model, Block)
    other = copied(model)
    with torch.no_grad():
        for parameter in other.blocks.parameters():
            parameter.zero_()
    inputs = torch.randn(2, 7)
    assert torch.equal(other(inputs), other.head(inputs))
    other(inputs).sum().backward()
    assert model.blocks[0].fc.weight.grad is None


def test_asking_twice_wraps_once():
    model = Net()
    recompute(model, Block)
    recompute(model, Block)
    gradients(model)
    assert model.blocks[0].calls == 2


def test_what_is_inside_another_is_left_to_it():
    assert recompute(Net(), (Block, torch.nn.Linear)) == ["blocks.0", "blocks.1", "head"]


def test_nothing_to_recompute_is_an_error():
    with pytest.raises(ValueError, match="recompute found no such submodule in Net"):
        recompute(Net(), torch.nn.Conv2d)
