"""`Sequential` is torch's, with `add_layer`."""

import copy
import pickle
from collections import OrderedDict

import pytest
import torch

from simpletorch import nn


def layers():
    torch.manual_seed(0)
    return torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)


def test_it_behaves_as_torch_s():
    ours, theirs = nn.Sequential(*layers()), torch.nn.Sequential(*layers())
    inputs = torch.randn(7, 3)
    assert torch.equal(ours(inputs), theirs(inputs))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert isinstance(ours, torch.nn.Sequential)


def test_named_layers_and_slices():
    model = nn.Sequential(OrderedDict(zip(("first", "act", "last"), layers(), strict=True)))
    assert list(dict(model.named_children())) == ["first", "act", "last"]
    assert type(model[1:]) is nn.Sequential
    assert len(model[1:]) == 2


def test_add_layer_returns_the_model_so_that_calls_chain():
    first, act, last = layers()
    model = nn.Sequential().add_layer(first).add_layer(act, "act").add_layer(last)
    assert list(dict(model.named_children())) == ["0", "act", "2"]
    assert model(torch.ones(7, 3)).shape == (7, 2)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_copies_compute_the_same(copied):
    model = nn.Sequential(*layers())
    inputs = torch.randn(7, 3)
    assert torch.equal(copied(model)(inputs), model(inputs))


def test_a_class_instead_of_an_instance_is_refused():
    with pytest.raises(TypeError, match="not type: pass an instance"):
        nn.Sequential().add_layer(torch.nn.ReLU)


def test_a_taken_name_is_refused():
    with pytest.raises(KeyError, match="a layer named 'act' already"):
        nn.Sequential().add_layer(torch.nn.ReLU(), "act").add_layer(torch.nn.ReLU(), "act")


def test_a_list_of_layers_is_taken():
    torch.manual_seed(0)
    one = nn.Sequential([nn.Linear(3, 5), nn.ReLU()])
    assert [type(layer) for layer in one] == [torch.nn.Linear, torch.nn.ReLU]
    assert isinstance(one[:1], nn.Sequential)
    assert list(one.state_dict()) == list(nn.Sequential(nn.Linear(3, 5), nn.ReLU()).state_dict())
    assert len(nn.Sequential([])) == 0
    with pytest.raises(TypeError):
        nn.Sequential([nn.ReLU()], nn.ReLU())
