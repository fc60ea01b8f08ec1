"""The modules of torch's own tests give through ours what they give through torch, bit for bit, errors included."""

import copy
from functools import partial

import pytest
import torch

from simpletorch import nn
from simpletorch._tensors import map_tensors, tensors_in
from tests.marks import thorough
from tests.oracle.databases import module_db
from tests.oracle.outcomes import differences, outcome

INFOS = {info.name: info for info in module_db()}
REFUSING = [name for name, info in INFOS.items() if info.module_error_inputs_func is not None]


def quick(info):
    """The dtype that `make test` looks at."""
    return torch.float32 if torch.float32 in info.dtypes else next(iter(info.dtypes))


class Holder(nn.Module):
    """A module of the user's around the one that is tested: what torch raises in it is explained."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args, **kwargs):
        return self.inner(*args, **kwargs)


def ours(info):
    """The class by our name; torch tests some that have no public name."""
    name = info.module_cls.__name__
    return getattr(nn, name) if getattr(torch.nn, name, None) is info.module_cls else info.module_cls


def leaf(tensor):
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def given(case):
    """The arguments of a case, made anew: a graph or a change in place must not reach the next who uses them."""
    return tuple(map_tensors(case.args, leaf)), map_tensors(case.kwargs, leaf)


def used(build, case, dtype, training, hold=False):
    """All that a module comes to: its text, what it gives, the gradients, and the state that it is left in.

    With None for the dtype the module keeps that of its arguments.
    """
    args, kwargs = copy.deepcopy(given(case.constructor_input))
    module = build(*args, **kwargs).train(training)
    module = module if dtype is None else module.to(dtype)
    text = repr(module), type(module).__name__
    args, kwargs = given(case.forward_input)
    outputs = (Holder(module) if hold else module)(*args, **kwargs)
    learnt = [tensor for tensor in tensors_in(outputs) if tensor.requires_grad]
    torch.autograd.backward(learnt, [torch.ones_like(tensor) for tensor in learnt])
    learning = [*tensors_in([args, kwargs]), *module.parameters()]
    gradients = [tensor.grad for tensor in learning if tensor.requires_grad]
    return text, [tensor.detach() for tensor in tensors_in(outputs)], gradients, module.state_dict()


def compare(name, dtype, first=None):
    """Compare all cases, or the ``first`` ones of each mode."""
    info, found = INFOS[name], []
    for training in (True, False) if info.train_and_eval_differ else (False,):
        torch.manual_seed(3)
        cases = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
        assert cases
        for case in cases[:first]:
            theirs = outcome(partial(used, info.module_cls, case, dtype, training))
            assert not isinstance(theirs, Exception), theirs
            for hold in (False, True):
                mine = outcome(partial(used, ours(info), case, dtype, training, hold))
                found += differences(mine, theirs, f"{case.desc}, training={training}, hold={hold}: ")
    assert found == []


@pytest.mark.parametrize("name", INFOS)
def test_a_module_is_torch_s(name):
    compare(name, quick(INFOS[name]), first=3)


@pytest.mark.parametrize("name", thorough(INFOS))
def test_with_all_arguments_in_every_dtype(name):
    for dtype in INFOS[name].dtypes:
        compare(name, dtype)


def test_the_comparison_can_fail():
    def run(rate):
        return outcome(partial(torch.nn.functional.dropout, torch.ones(97), rate))

    assert differences(run(0.5), run(0.5)) == []
    assert len(differences(run(0.4), run(0.5))) == 1
    assert len(differences(run(0.5), run(2.0))) == 1
    assert len(differences({"a": 1.0, "b": [2.0]}, {"a": 1.0, "b": [3.0]})) == 1


@pytest.mark.parametrize("name", REFUSING)
def test_what_torch_refuses_is_refused(name):
    info = INFOS[name]
    refused = dict.fromkeys(range(len(errors_of(info))), False)
    for training in (True, False):  # some are refused in one mode only
        for number, error in enumerate(errors_of(info)):
            case = error.module_error_input
            theirs = outcome(partial(used, info.module_cls, case, None, training))
            mine = outcome(partial(used, ours(info), case, None, training, hold=True))
            assert differences(mine, theirs, name) == []
            refused[number] |= isinstance(theirs, error.error_type)
    assert all(refused.values())


def errors_of(info):
    torch.manual_seed(3)
    return info.module_error_inputs_func(info, device="cpu", dtype=quick(info), requires_grad=False, training=True)
