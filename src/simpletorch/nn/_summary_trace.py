"""A model called once, and what went into and came out of each of its modules."""

from __future__ import annotations

import copy
import logging
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import torch
from torch import nn

# The documented way to run a program without computing (docs.pytorch.org/docs/stable/torch.compiler_fake_tensor.html)
# has no public name yet. Without it the models would have to be copied to the meta device.
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from simpletorch.errors import explain
from simpletorch.nn._summary_inputs import Inputs, Sized
from simpletorch.nn._summary_symbols import Point
from simpletorch.nn._summary_values import Group, Value, describe

__all__ = ["FORMULAS", "Call", "Trace", "materialized", "trace", "undisturbed"]


@dataclass(frozen=True)
class Call:
    """One call of a module: its arguments (a single one as itself), its result, and the operations in between."""

    inputs: Value
    output: Value
    flops: int


Trace: TypeAlias = dict[str, list[Call]]
"""The calls of each module, by path; the model's own path is empty."""


_MOST_REAL: Final = 32  # sizes of symbols at which a model may be called for real


def trace(model: nn.Module, inputs: Inputs, sizes: Point) -> Trace:
    """Call ``model`` in evaluation mode without gradients, at these sizes of the symbols, and leave it as it was.

    Nothing is computed: the tensors are torch's fake ones, with shape, dtype and device but no values. A model that
    needs values (it branches on what a tensor contains) is called for real instead, on the given tensors and on zeros.

    Raises:
        Exception: what the model raises; torch's own as `TorchError`.
    """
    device = next((t.device for t in (*model.parameters(), *model.buffers())), torch.device("cpu"))
    dtype = next((p.dtype for p in model.parameters() if p.dtype.is_floating_point), torch.get_default_dtype())
    try:
        with undisturbed(model), _same_values(model), FakeTensorMode(allow_non_fake_inputs=True):
            return _call(model, *inputs.made(_maker(torch.empty, sizes, dtype, device)))
    except Exception:
        if device.type == "meta" or any(size > _MOST_REAL for size in sizes.values()):
            raise
    with undisturbed(model), _same_values(model):
        return _call(model, *inputs.made(_maker(torch.zeros, sizes, dtype, device, keep=True)))


def _maker(
    make: Callable[..., torch.Tensor], sizes: Point, dtype: torch.dtype, device: torch.device, *, keep: bool = False
) -> Callable[[Any], torch.Tensor]:
    """The function that makes the tensors of the call; tensors with values are kept where values count."""

    def made(value: Sized | torch.Tensor) -> torch.Tensor:
        if isinstance(value, Sized):
            return make(value.at(sizes), dtype=value.dtype or dtype, device=device)
        if keep and not value.is_meta:
            return value
        return make(value.shape, dtype=value.dtype, device=device if value.is_meta or keep else value.device)

    return made


def _call(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Trace:
    calls: Trace = defaultdict(list)
    counter = FlopCounterMode(display=False, custom_mapping=FORMULAS)
    with torch.no_grad(), counter, _recording(model, calls, counter), explain():
        output = model(*args, **kwargs)
    if "" not in calls:  # a scripted model takes no hooks
        calls[""].append(Call(_arguments(args, kwargs), describe(output), counter.get_total_flops()))
    return dict(calls)


@contextmanager
def _recording(model: nn.Module, calls: Trace, counter: FlopCounterMode) -> Iterator[None]:
    """Hooks on every module that note its calls."""
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):  # takes no hooks once it is compiled
                continue
            before: list[int] = []

            # ``before`` and ``name`` are defaults, so that each hook keeps those of its own round
            def enter(_module: nn.Module, _args: Any, _kwargs: Any, before: list[int] = before) -> None:
                before.append(counter.get_total_flops())

            def leave(
                _module: nn.Module,
                args: tuple[Any, ...],
                kwargs: dict[str, Any],
                output: Any,
                before: list[int] = before,
                name: str = name,
            ) -> None:
                calls[name].append(
                    Call(_arguments(args, kwargs), describe(output), counter.get_total_flops() - before.pop())
                )

            stack.callback(module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(leave, with_kwargs=True).remove)
        yield


def _arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Value:
    """The arguments; what holds no tensor is left out where a tensor is given too."""
    named = [("", describe(a)) for a in args] + [(k, describe(v)) for k, v in kwargs.items()]
    shown = [(name, value) for name, value in named if not isinstance(value, str)] or named
    if len(shown) == 1:
        return shown[0][1]
    return Group(tuple(("", value) for _, value in shown))


@contextmanager
def undisturbed(model: nn.Module, *, evaluation: bool = True) -> Iterator[None]:
    """Evaluation mode, no fused transformer (its operations can't be counted), and afterwards everything as it was.

    Args:
        evaluation: False leaves the model in the mode in which it is.
    """
    training = [(module, module.training) for module in model.modules()]
    attributes = [(vars(module), dict(vars(module))) for module in model.modules()]
    # a module keeps its buffers, and many a model a cache, in containers; what is in those counts too
    containers = [(v, copy.copy(v)) for _, before in attributes for v in before.values() if type(v) in _CONTAINERS]
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.random.fork_rng(), _quiet():
            for module, _ in training if evaluation else ():
                module.training = False  # eval() isn't there for every kind of model
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
        for now, before in attributes:
            now.clear()
            now.update(before)
        for container, content in containers:
            _refill(container, content)
        for module, mode in training:
            module.training = mode  # a scripted module doesn't keep it among its attributes


@contextmanager
def _same_values(model: nn.Module) -> Iterator[None]:
    """Restore the buffers that a call changes; even a fake call may, if only a module's own tensors take part."""
    values = [(b, b.detach().clone(), b._version) for b in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value, version in values:
                if buffer._version != version:  # counts changes in place
                    buffer.copy_(value)


_CONTAINERS: Final = (list, dict, set, OrderedDict, defaultdict)


def _refill(container: Any, content: Any) -> None:
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)


@contextmanager
def _quiet() -> Iterator[None]:
    """torch logs what fake tensors refuse, traceback and all, before it raises it."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def materialized(model: nn.Module, inputs: Inputs) -> nn.Module:
    """The model, or if it has lazy layers a copy of it whose layers have learned their sizes from these inputs."""
    if not any(nn.parameter.is_lazy(p) for p in (*model.parameters(), *model.buffers())):
        return model
    copied: nn.Module = pickle.loads(pickle.dumps(model))  # deepcopy refuses lazy parameters
    args, kwargs = inputs.made(
        _maker(
            torch.zeros, dict.fromkeys(inputs.symbols(), 8), torch.get_default_dtype(), torch.device("cpu"), keep=True
        )
    )
    with torch.no_grad(), explain():
        copied.eval()(*args, **kwargs)
    return copied.train(model.training)


def _attention(query: Any, key: Any, value: Any, *_args: Any, **_kwargs: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


def _bilinear(first: Sequence[int], weight: Sequence[int], _second: Sequence[int], *_args: Any, **_kwargs: Any) -> int:
    """Two operations for each weight and each row."""
    rows, count = 1, 2
    for size in first[:-1]:
        rows *= size
    for size in weight:
        count *= size
    return rows * count


def _recurrent(input: Sequence[int], *weights: Any, **_kwargs: Any) -> int:
    """A matrix product with each of the two weights of a layer for every step of every sequence; mkldnn's LSTM."""
    rows = 2
    for size in input[:-1]:
        rows *= size
    return sum(rows * int(w[0]) * int(w[1]) for w in weights[:2])


FORMULAS: Final[dict[Any, Any]] = {  # torch's counter lacks these
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._trilinear: _bilinear,
    torch.ops.aten.mkldnn_rnn_layer: _recurrent,
}
