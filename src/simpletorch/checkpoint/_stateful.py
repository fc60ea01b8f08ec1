"""Objects that a checkpoint can save and restore."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch

from simpletorch.checkpoint._differences import compare, optimizer_differences, state_differences
from simpletorch.checkpoint._names import own_names, unwrapped
from simpletorch.errors import CheckpointError
from simpletorch.reproducibility import rng_state, set_rng_state


@runtime_checkable
class Stateful(Protocol):
    """Anything with these two methods: modules, optimizers, schedulers, scalers, our loaders and metrics, your own.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> isinstance(nn.Linear(3, 2), checkpoint.Stateful)
        True
    """

    def state_dict(self) -> Any:
        """Everything needed to go on later, as plain data and tensors."""

    def load_state_dict(self, state_dict: Any, /) -> Any:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.

        Returns:
            Anything; it isn't used.
        """


Part: TypeAlias = Stateful | Mapping[str, Stateful] | Sequence[Stateful]
"""What `load` restores: a stateful object, or several by name or in order."""

Data: TypeAlias = (
    Mapping[Any, Any] | Sequence[Any] | set[Any] | frozenset[Any] | torch.Tensor | np.ndarray[Any, Any] | complex | None
)
"""What `save` keeps as it is: plain data, tensors and arrays. (``complex`` stands for float, int and bool as well.)"""


def state_of(value: Any) -> Any:
    """The state of whatever is stateful in ``value``; the rest as it is."""
    if isinstance(value, torch.nn.Module):
        return unwrapped(value).state_dict()
    # a class has the two methods as well as its instances
    if isinstance(value, Stateful) and not isinstance(value, type):
        return value.state_dict()
    if type(value) is dict:
        return {key: state_of(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(state_of(item) for item in value)
    return value


def differences(part: Any, saved: Any, name: str) -> list[str]:
    """Why ``saved`` can't be loaded into ``part``: one line for each reason, found before anything is changed."""
    try:
        return _differences(part, saved, name)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # The file is undamaged, so another program wrote it: it has not even the form of such a state.
        return [f"{name}: the saved state doesn't fit a {type(part).__name__} ({type(error).__name__}: {error})"]


def _differences(part: Any, saved: Any, name: str) -> list[str]:
    if isinstance(part, Mapping):
        if not isinstance(saved, Mapping) or part.keys() != saved.keys():
            there = sorted(saved) if isinstance(saved, Mapping) else "a single state"
            return [f"{name}: {there} in the checkpoint, {sorted(part)} here"]
        return [line for key in part for line in differences(part[key], saved[key], f"{name}.{key}")]
    if isinstance(part, Sequence):
        if not isinstance(saved, (list, tuple)) or len(part) != len(saved):
            there = f"{len(saved)} states" if isinstance(saved, (list, tuple)) else "a single state"
            return [f"{name}: {there} in the checkpoint, {len(part)} here"]
        pairs = enumerate(zip(part, saved, strict=True))
        return [line for index, (one, its) in pairs for line in differences(one, its, f"{name}.{index}")]
    if isinstance(part, torch.nn.Module):
        if not isinstance(saved, Mapping):
            return [f"{name}: a {type(saved).__name__} in the checkpoint, a {type(part).__name__} here"]
        return [f"{name}.{line}" for line in compare(part, saved)[0].differences()]
    if isinstance(part, torch.optim.Optimizer):
        lines = optimizer_differences(part, saved) if isinstance(saved, Mapping) else ["it is no state of an optimizer"]
        return [f"{name}: {line}" for line in lines]
    if not isinstance(part, Stateful):
        return [f"{name}: a {type(part).__name__} can't be restored in place; what was saved is in read(path).parts"]
    if isinstance(part, _TAKE_ANYTHING):
        return [f"{name}{line}" for line in state_differences(part.state_dict(), saved)]
    return []


_TAKE_ANYTHING = (torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
"""Classes whose ``load_state_dict`` looks at nothing that it gets."""


def in_order(parts: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The names of parts that may refuse what they get, and those of optimizers and, behind them, of modules.

    `differences` finds each reason why the latter could refuse a state; copies of them would take too much memory.
    """
    ranks = {name: max(map(_rank, _leaves(part)), default=0) for name, part in parts.items()}
    names = sorted(parts, key=lambda name: ranks[name])
    return [name for name in names if not ranks[name]], [name for name in names if ranks[name]]


def _rank(part: Any) -> int:
    if isinstance(part, torch.nn.Module):
        return 2 if _loads_plainly(part) else 0
    return int(isinstance(part, torch.optim.Optimizer))


def _leaves(part: Any) -> Iterator[Any]:
    if isinstance(part, (torch.nn.Module, torch.optim.Optimizer)) or not isinstance(part, (Mapping, Sequence)):
        yield part
    else:
        for inner in part.values() if isinstance(part, Mapping) else part:
            yield from _leaves(inner)


@contextmanager
def undoing(parts: Iterable[Any]) -> Iterator[None]:
    """Within, states are loaded into parts: when that fails, all parts and generators are what they were before.

    Of modules whose loading is torch's own nothing is kept: load them last, after `differences` found nothing.
    """
    generators = rng_state()
    steps = [step for part in parts for leaf in _leaves(part) for step in _ways_back(leaf)]
    try:
        yield
    except BaseException:
        for step in reversed(steps):
            with suppress(Exception):  # a part that refuses its own state, too
                step()
        set_rng_state(generators)
        raise


def _ways_back(part: Any) -> Iterator[Callable[[], object]]:
    if isinstance(part, torch.nn.Module):
        model = unwrapped(part)
        if not _loads_plainly(model):
            before = copy.deepcopy(model.state_dict())
            yield lambda: model.load_state_dict(before)
        return
    if isinstance(part, torch.optim.Optimizer):
        # it gets new dicts and lists, so the old ones, and all tensors in them, stay as they are
        groups = [dict(group) for group in part.param_groups]
        held = {**vars(part), "param_groups": groups}
        yield lambda: _put_back(part, held)
        return
    if isinstance(part, torch.optim.lr_scheduler.LRScheduler):
        for inner in getattr(part, "_schedulers", ()):
            yield from _ways_back(inner)
    elif isinstance(part, Stateful):
        with suppress(Exception):  # what has no state yet can't get it back
            state = copy.deepcopy(part.state_dict())
            yield lambda: part.load_state_dict(state)
    if hasattr(part, "__dict__"):
        own = dict(vars(part))
        yield lambda: _put_back(part, own)


def _put_back(part: Any, held: Mapping[str, Any]) -> None:
    vars(part).clear()
    vars(part).update(held)


def _loads_plainly(model: torch.nn.Module) -> bool:
    """Whether loading a model's state copies tensors and does nothing else."""
    hooks = (
        hook
        for module in model.modules()
        for its in (module._load_state_dict_pre_hooks, module._load_state_dict_post_hooks)
        for hook in its.values()
    )
    return all(map(_is_plain, {type(m) for m in model.modules()})) and all(
        _is_known(getattr(hook, "hook", hook)) for hook in hooks
    )


def _is_plain(kind: type[torch.nn.Module]) -> bool:
    return _is_known(kind._load_from_state_dict) and kind.set_extra_state is torch.nn.Module.set_extra_state


def _is_known(function: Any) -> bool:
    """Whether torch or this library wrote it (FSDP2 hangs a hook on each module that it divides)."""
    return (getattr(function, "__module__", None) or "").partition(".")[0] in ("torch", "simpletorch")


def load_into(part: Any, saved: Any, name: str) -> None:
    """Load ``saved`` into ``part``, which `differences` found nothing against.

    Raises:
        CheckpointError: the part itself refuses it.
    """
    if isinstance(part, Mapping):
        for key in part:
            load_into(part[key], saved[key], f"{name}.{key}")
    elif isinstance(part, Sequence):
        for index, (one, its) in enumerate(zip(part, saved, strict=True)):
            load_into(one, its, f"{name}.{index}")
    else:
        try:
            if isinstance(part, torch.nn.Module):
                unwrapped(part).load_state_dict(own_names(saved, part))
            else:
                part.load_state_dict(saved)
        except CheckpointError:
            raise
        except Exception as error:  # whatever a load_state_dict raises, it is about this state
            refused = f"{type(part).__name__}.load_state_dict refuses the saved state"
            raise CheckpointError(f"{name}: {refused}: {type(error).__name__}: {error}") from error
