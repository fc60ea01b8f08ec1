"""Every module rule against torch: constructors, module_db, misuse, parameters."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace

import pytest
import torch
from torch import nn

from simpletorch.rules import ANYTHING, MODULES, ModuleRule, Report, TensorType, infer_module, new_module, parameters
from simpletorch.rules.core.dtype import FLOAT64, INT64
from simpletorch.rules.core.values import ANY_TENSOR
from simpletorch.shapes import Shape
from tests import oracle
from tests.oracle import truth
from tests.oracle.databases import module_db
from tests.oracle.modules import ACCEPTED, MISUSE, Case, build, cases, constructor, shown, torch_class

TORCH_NAMES = sorted(name for name in MODULES if name.startswith("torch.nn."))


# -- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TORCH_NAMES)
def test_fields_are_the_constructors_arguments(name: str) -> None:
    parameters = constructor(torch_class(name)).parameters
    own = [f.name for f in fields(MODULES[name])]
    assert set(own) <= set(parameters)
    positional = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    assert [n for n in own if n in positional] == [n for n in positional if n in own], "order"
    for f in fields(MODULES[name]):
        default = parameters[f.name].default
        if parameters[f.name].kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        if default is inspect.Parameter.empty:
            assert f.default is MISSING, f.name
        elif callable(default):
            assert f.default is ANYTHING, f.name
        else:
            assert f.default == oracle.lift(default), f.name


@pytest.mark.parametrize("name", TORCH_NAMES)
def test_forward_has_torchs_parameters(name: str) -> None:
    own = list(inspect.signature(MODULES[name].forward).parameters)
    assert own == list(inspect.signature(torch_class(name).forward).parameters)[: len(own)]


@pytest.mark.parametrize("name", TORCH_NAMES)
def test_nothing_is_refused_where_nothing_is_known(name: str) -> None:
    cls = MODULES[name]
    built = new_module(name, {f.name: ANYTHING for f in fields(cls)})
    assert isinstance(built, ModuleRule)
    needed = [
        p
        for p in inspect.signature(built.forward).parameters.values()
        if p.default is p.empty and p.kind < p.KEYWORD_ONLY
    ]
    for value in (ANYTHING, ANY_TENSOR):
        assert not isinstance(infer_module(built, [value] * len(needed)), Report)
    built.attributes()
    str(built)


# -- module_db ---------------------------------------------------------------------------------------------------------


DB_NAMES = sorted({"torch." + info.name for info in module_db()} & set(MODULES))


@pytest.mark.parametrize("name", DB_NAMES)
def test_module_db(name: str) -> None:
    wrong = []
    for case in cases():
        if case.name == name:
            verdict, answer, truth = case.judge()
            if verdict not in ("exact", "both_refuse"):
                wrong.append(f"{case}: {verdict}\n  rules: {answer}\n  torch: {truth}")
    assert wrong == []


def _perturbed(case: Case) -> Iterator[Case]:
    """One dim of one operand one larger."""
    found = truth.tensors_in(case.inputs)
    if not all(t.numel() for t in found) or any(isinstance(a, nn.Module) for a in case.args):
        return  # of no elements torch accepts what it refuses of one; a module's own sizes aren't seen here
    for i, t in enumerate(found):
        for d in range(t.dim()):
            place = iter(range(100))
            other = oracle.refill(t, [s + (d == at) for at, s in enumerate(t.shape)])
            inputs = truth.tree_map(lambda x, i=i, p=place, o=other: o if next(p) == i else x, case.inputs)
            yield Case(case.name, case.args, case.kwargs, inputs, case.input_kwargs)


MISSED = {  # what only sizes of weights or values of lengths tell
    "torch.nn.CTCLoss",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.MultiMarginLoss",
}


@pytest.mark.parametrize("name", DB_NAMES)
def test_one_dim_larger(name: str) -> None:
    wrong = []
    own = [c for c in cases() if c.name == name]
    for case in own[:: max(1, len(own) // 2)]:
        for changed in _perturbed(case):
            verdict, answer, truth = changed.judge()
            if verdict not in ("exact", "both_refuse") and not (verdict == "missed" and name in MISSED):
                wrong.append(f"{changed}: {verdict}\n  rules: {answer}\n  torch: {truth}")
    assert wrong == []


@pytest.mark.parametrize("name", DB_NAMES)
def test_parameters_and_buffers(name: str) -> None:
    for case in [c for c in cases() if c.name == name][:8]:
        rule = build(name, case.args, case.kwargs)
        assert isinstance(rule, ModuleRule)
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = torch_class(name)(*case.args, **case.kwargs)
        for attribute, answer in parameters(rule).items():
            truth = getattr(module, attribute)
            if answer is ANYTHING or isinstance(truth, nn.parameter.UninitializedParameter):
                continue
            if truth is None:
                assert answer is None, attribute
                continue
            assert isinstance(answer, TensorType), (attribute, truth.shape)
            assert answer.is_parameter is isinstance(truth, nn.Parameter), attribute
            assert answer.dtype == oracle.lift_dtype(truth.dtype), attribute
            if isinstance(truth, nn.parameter.UninitializedBuffer):
                continue
            assert answer.shape == Shape(tuple(truth.shape)), attribute


def _with_dtype(case: Case, dtype: torch.dtype) -> Case:
    return replace(case, kwargs={**case.kwargs, "dtype": dtype})


WITH_DTYPE = [n for n in DB_NAMES if "dtype" in constructor(torch_class(n)).parameters]


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_the_dtype_that_the_constructor_is_given_counts(name: str) -> None:
    case = _with_dtype(next(c for c in cases() if c.name == name), torch.float64)
    rule = build(name, case.args, case.kwargs)
    assert isinstance(rule, ModuleRule)
    assert rule.parameters_dtype is FLOAT64
    assert all(v.dtype in (FLOAT64, INT64) for v in parameters(rule).values() if isinstance(v, TensorType))


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_an_operand_of_another_dtype_than_the_parameters(name: str) -> None:
    case = next(c for c in cases() if c.name == name)
    found = _with_dtype(case, torch.float64).judge()
    if MODULES[name].takes_parameters_dtype:
        assert found[0] == "both_refuse", found
    else:
        assert found[0] != "false_error", found


# -- misuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MISUSE, ids=shown)
@pytest.mark.filterwarnings("ignore")
def test_constructor_misuse_is_refused(case: Case) -> None:
    with pytest.raises((ValueError, RuntimeError, AssertionError, ZeroDivisionError, TypeError)):
        torch_class(case.name)(*case.args, **case.kwargs)
    assert isinstance(build(case.name, case.args, case.kwargs), Report)


@pytest.mark.parametrize("case", ACCEPTED, ids=shown)
def test_what_torch_builds_is_built(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch_class(case.name)(*case.args, **case.kwargs)
    assert isinstance(build(case.name, case.args, case.kwargs), ModuleRule)
