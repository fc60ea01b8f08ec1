"""Dispatch: every name leads to one hook, whatever the order of the tables."""

import sys

import pytest
import torch

import simpletorch.mypy  # noqa: F401  # loads the plugin
from simpletorch.mypy.convert.meta import may_ask
from simpletorch.mypy.hooks import joined
from simpletorch.mypy.names import public_class, public_name
from simpletorch.rules import MODULES, RULES

plugin = sys.modules["simpletorch.mypy.plugin"]


def test_a_name_that_two_features_claim_is_refused():
    with pytest.raises(ValueError, match=r"^two features see to torch\.vmap$"):
        joined({"torch.vmap": 1, "torch.func.grad": 2}, {"torch.vmap": 3})
    assert joined({"torch.vmap": 1}, {"torch.func.grad": 2}) == {"torch.vmap": 1, "torch.func.grad": 2}


@pytest.mark.parametrize("name", sorted(plugin._FUNCTIONS))
def test_no_function_of_a_feature_has_a_rule_as_well(name):
    assert public_name(name) not in RULES
    assert public_class(name) not in MODULES
    assert not may_ask(name)


def test_no_method_of_a_feature_is_one_of_tensors():
    of_tensors = [name for name in plugin._METHODS if hasattr(torch.Tensor, name.rpartition(".")[2])]
    assert not [name for name in of_tensors if may_ask(name) or public_name(name) in RULES]
    assert not [name for name in plugin._INHERITED_METHODS if name.startswith(("torch._tensor.", "torch._C."))]


@pytest.mark.parametrize(
    "name", ["builtins.list.sort", "typing.Mapping.get", "torch.optim.adam.Adam.step", "collections.deque.rotate"]
)
def test_methods_of_others_have_no_hook(name):
    assert plugin._method(name, lambda _: False) is None


def test_the_standard_library_has_no_hook():
    assert plugin._method("re.Pattern.match", lambda _: True) is None
    assert plugin._function("dataclasses.replace", lambda _: True) is None  # mypy has one of its own
    assert plugin._function("mine.replace", lambda _: False) is not None
