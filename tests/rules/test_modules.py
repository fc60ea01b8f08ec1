"""Every module rule against torch: constructors, module_db, misuse, parameters.

module_db of `torch.testing._internal` is the only list of module inputs that torch has; if a release moves it, only
`cases` breaks.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

import oracle
import oracle_torch
import pytest
import torch
from torch import nn
from torch.testing._internal.common_modules import module_db

from simpletorch.rules import ANYTHING, MODULES, ModuleRule, Named, Report, TensorType, infer_module, new_module
from simpletorch.rules.values import ANY_TENSOR
from simpletorch.shapes import Shape

TORCH_NAMES = sorted(name for name in MODULES if name.startswith("torch.nn."))


def torch_class(name: str) -> type[nn.Module]:
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, type)
    return found


@cache
def constructor(cls: type) -> inspect.Signature:
    """The constructor's parameters; those of RNN, LSTM and GRU, which take ``*args``, are `torch.nn.RNNBase`'s."""
    signature = inspect.signature(cls)
    if issubclass(cls, nn.RNNBase):
        own = [p for n, p in inspect.signature(nn.RNNBase).parameters.items() if n != "mode"]
        if cls is nn.RNN:
            nonlinearity = inspect.Parameter("nonlinearity", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="tanh")
            own.insert(3, nonlinearity)
        signature = inspect.Signature(own)
    return signature


def build(name: str, args: Any = (), kwargs: Any = None) -> ModuleRule | Report | None:
    """The rules' module for torch's constructor arguments."""
    bound = constructor(torch_class(name)).bind(*args, **(kwargs or {}))
    given = dict(bound.arguments)
    rest = [n for n, p in bound.signature.parameters.items() if p.kind is inspect.Parameter.VAR_POSITIONAL]
    given.update({n: tuple(given[n]) for n in rest if n in given})
    return new_module(name, {k: oracle.lift(v) for k, v in given.items()})


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


@dataclass
class Case:
    """A module as torch builds it, and a call of it."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: tuple[Any, ...]
    input_kwargs: dict[str, Any]

    def __str__(self) -> str:
        made = oracle.Call(self.name, self.args, self.kwargs)
        return f"{made}{oracle.Call('', self.inputs, self.input_kwargs)}"

    def run(self) -> object:
        """torch's answer: the lifted result or the exception."""
        torch.manual_seed(0)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            try:
                module = torch_class(self.name)(*self.args, **self.kwargs)
                inputs = oracle_torch.tree_map(torch.clone, self.inputs)
                return oracle.lift(module(*inputs, **oracle_torch.tree_map(torch.clone, self.input_kwargs)))
            except Exception as e:
                return e

    def judge(self) -> tuple[str, object, object]:
        """The verdict with both answers. Parameters' dtypes aren't tracked: an unknown dtype is as good."""
        truth = self.run()
        answer: object = build(self.name, self.args, self.kwargs)
        if isinstance(answer, ModuleRule):
            answer = infer_module(
                answer, [oracle.lift(v) for v in self.inputs], {k: oracle.lift(v) for k, v in self.input_kwargs.items()}
            )
        if isinstance(truth, Exception):
            return ("both_refuse" if isinstance(answer, Report) else "missed"), answer, truth
        if isinstance(answer, Report):
            return "false_error", answer.text, truth
        if answer is None:
            return "unknown", answer, truth
        return oracle.compare(_without_dtypes(answer, truth), truth), answer, truth


def _without_dtypes(answer: Any, truth: Any) -> Any:
    """The answer, with torch's dtype where it has none."""
    match answer, truth:
        case TensorType(dtype=None), TensorType():
            return answer.with_dtype(truth.dtype)
        case tuple(), tuple() if len(answer) == len(truth):
            return tuple(_without_dtypes(a, t) for a, t in zip(answer, truth, strict=True))
        case Named(), Named():
            return answer
        case _:
            return answer


def _cases_of(info: Any, count: int) -> Iterator[Case]:
    name = "torch." + info.name
    if name not in MODULES:
        return
    drawn = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (False, True):
            torch.manual_seed(0)
            drawn += info.module_inputs_func(info, "cpu", torch.float32, requires_grad=False, training=training)
    seen: set[str] = set()
    for given in drawn:
        made, call = given.constructor_input, given.forward_input
        if call is None or "device" in made.kwargs:
            continue
        own = {k: v for k, v in made.kwargs.items() if not k.startswith("_")}
        case = Case(name, tuple(made.args), own, tuple(call.args), dict(call.kwargs))
        if str(case) not in seen and len(seen) < count:
            seen.add(str(case))
            yield case


@cache
def cases() -> tuple[Case, ...]:
    """Calls of modules from module_db, the plain ones, at most 8 a module."""
    found = [c for info in module_db for c in _cases_of(info, 8)]
    assert len(found) > 250
    return tuple(found)


DB_NAMES = sorted({"torch." + info.name for info in module_db} & set(MODULES))


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
    found = oracle_torch.tensors_in(case.inputs)
    if not all(t.numel() for t in found) or any(isinstance(a, nn.Module) for a in case.args):
        return  # of no elements torch accepts what it refuses of one; a module's own sizes aren't seen here
    for i, t in enumerate(found):
        for d in range(t.dim()):
            place = iter(range(100))
            other = oracle.refill(t, [s + (d == at) for at, s in enumerate(t.shape)])
            inputs = oracle_torch.tree_map(lambda x, i=i, p=place, o=other: o if next(p) == i else x, case.inputs)
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
        for attribute, answer in rule.attributes().items():
            truth = getattr(module, attribute)
            if answer is ANYTHING or isinstance(truth, nn.parameter.UninitializedParameter):
                continue
            if truth is None:
                # Linear[In, Out] doesn't say whether it has a bias
                assert answer is None or name == "torch.nn.Linear", attribute
                continue
            assert isinstance(answer, TensorType), (attribute, truth.shape)
            assert answer.is_parameter is isinstance(truth, nn.Parameter), attribute
            if isinstance(truth, nn.parameter.UninitializedBuffer):
                continue
            assert answer.shape == Shape(tuple(truth.shape)), attribute


# -- misuse ------------------------------------------------------------------------------------------------------------


def made(name: str, *args: Any, **kwargs: Any) -> Case:
    """A construction of a module of torch.nn."""
    return Case(f"torch.nn.{name}", args, kwargs, (), {})


def _shown(case: Case) -> str:
    return str(oracle.Call(case.name.removeprefix("torch.nn."), case.args, case.kwargs))


CONVOLUTIONS = [f"{kind}{n}d" for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)]
NORMS = [f"{kind}{n}d" for kind in ("BatchNorm", "InstanceNorm") for n in (1, 2, 3)]
DROPOUTS = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]
MISUSE = [
    *(made(name, 8, 10, 3, groups=5) for name in CONVOLUTIONS),
    *(made(name, 10, 8, 3, groups=5) for name in CONVOLUTIONS),
    *(made(name, 4, 4, 3, groups=0) for name in CONVOLUTIONS),
    *(made(name, 4, 4, 3, groups=-2) for name in CONVOLUTIONS),
    *(made(name, -4, 4, 3) for name in CONVOLUTIONS),
    *(made(name, 4, -4, 3) for name in CONVOLUTIONS),
    *(made(name, 4, 4, -3) for name in CONVOLUTIONS),
    *(made(name, 4, 4, 3, padding_mode="zero") for name in CONVOLUTIONS),
    *(made(f"Lazy{name}", 8, 3, groups=0) for name in CONVOLUTIONS),
    *(made(f"Lazy{name}", 8, 3, padding_mode="zero") for name in CONVOLUTIONS),
    made("Conv2d", 4, 4, (3, -3)),
    made("Conv2d", 4, 4, 3, padding="sane"),
    made("Conv2d", 4, 4, 3, padding="same", stride=2),
    made("Conv2d", 4, 4, 3, padding="same", stride=(1, 2)),
    made("ConvTranspose2d", 4, 4, 3, padding_mode="reflect"),
    made("Linear", -3, 4),
    made("Linear", 3, -4),
    made("Bilinear", 0, 3, 4),
    made("Bilinear", 3, -1, 4),
    made("Bilinear", 3, 3, -4),
    made("MultiheadAttention", 10, 3),
    made("MultiheadAttention", 0, 3),
    made("MultiheadAttention", 8, 0),
    made("MultiheadAttention", 8, -2),
    made("MultiheadAttention", 8, 2, kdim=-1),
    made("TransformerEncoderLayer", 10, 3),
    made("TransformerEncoderLayer", 8, 2, -1),
    made("TransformerEncoderLayer", 8, 2, activation="rely"),
    made("TransformerDecoderLayer", 10, 3),
    made("Transformer", 10, 3),
    made("Transformer", nhead=7),
    made("GroupNorm", 3, 10),
    made("GroupNorm", 0, 10),
    made("GroupNorm", 3, -9),
    *(made(name, -4, affine=True) for name in NORMS),
    made("SyncBatchNorm", -4),
    made("LayerNorm", -4),
    made("LayerNorm", (3, -4)),
    made("RMSNorm", -4),
    made("Embedding", -1, 4),
    made("Embedding", 10, -4),
    made("Embedding", 10, 4, padding_idx=10),
    made("Embedding", 10, 4, padding_idx=-11),
    made("EmbeddingBag", 10, -4),
    made("EmbeddingBag", 10, 4, padding_idx=10),
    made("FractionalMaxPool2d", 2),
    made("FractionalMaxPool2d", 2, output_size=3, output_ratio=0.5),
    made("FractionalMaxPool2d", 2, output_ratio=1.5),
    made("FractionalMaxPool2d", 2, output_ratio=(0.5, 0.0)),
    made("FractionalMaxPool3d", 0, output_ratio=0.5),
    made("FractionalMaxPool3d", (2, 2, -1), output_ratio=0.5),
    *(made(name, 0, 4) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 0) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, -1) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, 0) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, dropout=1.5) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, dropout=-0.5) for name in ("RNN", "LSTM", "GRU")),
    made("LSTM", 3, 4, proj_size=4),
    made("LSTM", 3, 4, proj_size=-1),
    made("RNN", 3, 4, nonlinearity="sigmoid"),
    made("RNNCell", -3, 4),
    made("GRUCell", 3, -4),
    made("LSTMCell", 3, -4),
    made("PReLU", -3),
    *(made(name, -0.1) for name in DROPOUTS),
    *(made(name, 1.5) for name in DROPOUTS),
]
ACCEPTED = [
    made("Conv2d", 4, 4, 3, padding="same", dilation=2),
    made("Conv2d", 4, 4, 3, padding="valid", stride=2),
    made("Conv2d", 4, 4, (3, 5), stride=(2, 1), groups=4),
    made("Linear", 0, 4),
    made("BatchNorm2d", 0),
    made("Embedding", 10, 4, padding_idx=-10),
    made("MultiheadAttention", 8, 2, kdim=3),
    made("LayerNorm", ()),
    made("LazyConv2d", 8, 3, groups=5),
    made("GroupNorm", 3, 9, affine=False),
    made("LSTM", 3, 4, proj_size=3),
    made("GRUCell", 0, 4),
    made("FractionalMaxPool2d", (1, 0), output_ratio=0.5),
    made("Upsample"),
    made("MaxPool2d", 0),
    made("Dropout", 1),
]


@pytest.mark.parametrize("case", MISUSE, ids=_shown)
@pytest.mark.filterwarnings("ignore")
def test_constructor_misuse_is_refused(case: Case) -> None:
    with pytest.raises((ValueError, RuntimeError, AssertionError, ZeroDivisionError)):
        torch_class(case.name)(*case.args, **case.kwargs)
    assert isinstance(build(case.name, case.args, case.kwargs), Report)


@pytest.mark.parametrize("case", ACCEPTED, ids=_shown)
def test_what_torch_builds_is_built(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch_class(case.name)(*case.args, **case.kwargs)
    assert isinstance(build(case.name, case.args, case.kwargs), ModuleRule)
