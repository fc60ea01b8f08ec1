"""torch's modules as the oracle: module_db's inputs, its error inputs, and constructors that torch refuses.

module_db of `torch.testing._internal` is the only list of module inputs that torch has; if a release moves it, only
`cases` and `error_cases` break.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import nn

from simpletorch.rules import MODULES, ModuleRule, Named, Report, TensorType, infer_module, new_module
from tests import oracle
from tests.oracle import truth
from tests.oracle.databases import module_db


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


@dataclass
class Case:
    """A module as torch builds it, and a call of it if it is ``called``."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: tuple[Any, ...] = ()
    input_kwargs: dict[str, Any] = field(default_factory=dict)
    called: bool = True

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
                if not self.called:
                    return oracle.lift(module)
                inputs = truth.tree_map(torch.clone, self.inputs)
                return oracle.lift(module(*inputs, **truth.tree_map(torch.clone, self.input_kwargs)))
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
        if call is None:
            continue
        own = {k: v for k, v in made.kwargs.items() if k != "device" and not k.startswith("_")}
        case = Case(name, tuple(made.args), own, tuple(call.args), dict(call.kwargs))
        if str(case) not in seen and len(seen) < count:
            seen.add(str(case))
            yield case


@cache
def cases(count: int = 8) -> tuple[Case, ...]:
    """Calls of modules from module_db, the plain ones, at most ``count`` a module."""
    found = [c for info in module_db() for c in _cases_of(info, count)]
    assert len(found) > 250
    return tuple(found)


@cache
def error_cases() -> tuple[Case, ...]:
    """module_db's error inputs: constructions and calls that torch refuses."""
    found = []
    for info in module_db():
        if info.module_error_inputs_func is None or "torch." + info.name not in MODULES:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            drawn = info.module_error_inputs_func(info, "cpu", torch.float32, requires_grad=False, training=False)
        for error in drawn:
            made, call = error.module_error_input.constructor_input, error.module_error_input.forward_input
            own = {k: v for k, v in made.kwargs.items() if k != "device"}
            case = Case("torch." + info.name, tuple(made.args), own, called=call is not None)
            found.append(
                case if call is None else replace(case, inputs=tuple(call.args), input_kwargs=dict(call.kwargs))
            )
    assert len(found) > 80
    return tuple(found)


# -- misuse ------------------------------------------------------------------------------------------------------------


def made(name: str, *args: Any, **kwargs: Any) -> Case:
    """A construction of a module of torch.nn."""
    return Case(f"torch.nn.{name}", args, kwargs, called=False)


def shown(case: Case) -> str:
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
    made("Hardtanh", 1.0, -1.0),
    made("Hardtanh", 2.0),
    made("AdaptiveLogSoftmaxWithLoss", 8, 20, [5, 3]),
    made("AdaptiveLogSoftmaxWithLoss", 8, 20, [5, 20]),
    made("AdaptiveLogSoftmaxWithLoss", 8, 20, [0, 5]),
    made("AdaptiveLogSoftmaxWithLoss", 8, 20, []),
    made("MultiMarginLoss", p=3),
    made("MultiMarginLoss", weight=torch.ones(3, 5)),
    made("TripletMarginLoss", margin=0.0),
    made("TripletMarginWithDistanceLoss", margin=-1.0),
    made("LinearCrossEntropyLoss", 3, 2, weight=torch.ones(3)),
    made("LinearCrossEntropyLoss", 3, 2, label_smoothing=1.5),
    made("TransformerEncoderLayer", 8, 2, dropout=1.5),
    made("TransformerDecoderLayer", 8, 2, dropout=-0.5),
    made("Transformer", 8, 2, dropout=1.5),
    *(made(name, 3, 4, bias=1) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, bias="no") for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, batch_first=1) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3.5, 4) for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, "4") for name in ("RNN", "LSTM", "GRU")),
    *(made(name, 3, 4, proj_size=2) for name in ("RNN", "GRU")),
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
    made("Hardtanh", 0.0, 6.0),
    made("AdaptiveLogSoftmaxWithLoss", 8, 20, [5, 19]),
    made("MultiMarginLoss", p=2, weight=torch.ones(3)),
    made("CrossEntropyLoss", weight=torch.ones(3), label_smoothing=0.1),
    made("LinearCrossEntropyLoss", 3, 2, weight=torch.ones(2)),
    made("TransformerEncoderLayer", 8, 2, 16, 0, "gelu"),
]


# -- modules that module_db lacks --------------------------------------------------------------------------------------


def _called(name: str, *args: Any, on: tuple[Any, ...], **kwargs: Any) -> Case:
    """A construction of a module of torch.nn, and a call of it."""
    return Case(f"torch.nn.{name}", args, kwargs, on)


X = torch.zeros
LACKING = [
    _called("AdaptiveLogSoftmaxWithLoss", 7, 23, [3, 11], on=(X(5, 7), X(5, dtype=torch.int64))),
    _called("AlphaDropout", 0.3, on=(X(5, 7),)),
    _called("FeatureAlphaDropout", 0.3, on=(X(5, 7),)),
    _called("Dropout1d", 0.3, on=(X(5, 7, 11),)),
    _called("ChannelShuffle", 3, on=(X(2, 6, 5, 7),)),
    _called("CrossMapLRN2d", 3, on=(X(2, 5, 7, 11),)),
    _called("PixelShuffle", 2, on=(X(2, 12, 5, 7),)),
    _called("PixelUnshuffle", 3, on=(X(2, 5, 6, 9),)),
    _called("Fold", (5, 7), (2, 3), on=(X(2, 18, 20),)),
    _called("Unfold", (2, 3), padding=1, on=(X(2, 3, 5, 7),)),
    _called("Flatten", on=(X(2, 3, 5, 7),)),
    _called("Flatten", 0, 2, on=(X(2, 3, 5, 7),)),
    _called("Unflatten", 1, (3, 5), on=(X(2, 15, 7),)),
    _called("Unflatten", -1, [7, -1], on=(X(2, 3, 21),)),
    _called("Upsample", (11, 13), on=(X(2, 3, 5, 7),)),
    _called("Upsample", scale_factor=2, mode="bilinear", on=(X(2, 3, 5, 7),)),
    _called("UpsamplingNearest2d", scale_factor=3, on=(X(2, 3, 5, 7),)),
    _called("UpsamplingBilinear2d", size=(11, 13), on=(X(2, 3, 5, 7),)),
    _called("MaxUnpool1d", 2, on=(X(2, 3, 5), X(2, 3, 5, dtype=torch.int64))),
    _called("MaxUnpool2d", 2, on=(X(2, 3, 5, 7), X(2, 3, 5, 7, dtype=torch.int64))),
    _called("MaxUnpool3d", 2, on=(X(2, 3, 5, 7, 3), X(2, 3, 5, 7, 3, dtype=torch.int64))),
    _called("PairwiseDistance", keepdim=True, on=(X(5, 7), X(5, 7))),
    _called("CosineSimilarity", 1, on=(X(5, 7, 11), X(5, 7, 11))),
    _called("Softmax2d", on=(X(2, 3, 5, 7),)),
    _called("MultiLabelMarginLoss", on=(X(5, 7), X(5, 7, dtype=torch.int64))),
    _called("TripletMarginWithDistanceLoss", on=(X(5, 7), X(5, 7), X(5, 7))),
    _called("EmbeddingBag", 23, 7, on=(X(5, 3, dtype=torch.int64),)),
    _called("LazyLinear", 11, on=(X(5, 7),)),
    _called("LazyBatchNorm2d", on=(X(2, 3, 5, 7),)),
    _called("LazyInstanceNorm1d", on=(X(2, 3, 5),)),
    _called("LazyBatchNorm1d", on=(X(5, 3),)),
    _called("LazyBatchNorm3d", on=(X(2, 3, 5, 7, 11),)),
    _called("LazyInstanceNorm2d", on=(X(2, 3, 5, 7),)),
    _called("LazyInstanceNorm3d", on=(X(2, 3, 5, 7, 11),)),
    _called("Dropout", 0.3, on=(X(5, 7),)),
    _called("Dropout2d", on=(X(2, 3, 5, 7),)),
    _called("Dropout3d", on=(X(2, 3, 5, 7, 11),)),
    _called("Hardsigmoid", on=(X(5, 7),)),
    _called("RReLU", on=(X(5, 7),)),
    _called("TripletMarginLoss", on=(X(5, 7), X(5, 7), X(5, 7))),
    _called("TransformerDecoder", nn.TransformerDecoderLayer(6, 2, 7), 2, on=(X(5, 3, 6), X(7, 3, 6))),
    _called("ZeroPad1d", (1, 2), on=(X(2, 3, 5),)),
    _called("ZeroPad3d", 1, on=(X(2, 3, 5, 7, 11),)),
    _called("Identity", on=(X(2, 3),)),
    _called("Identity", 54, unused=True, on=(X(2, 3),)),
]
