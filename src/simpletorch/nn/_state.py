"""`load_state_dict`: a state dict goes into a module whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from simpletorch.errors import CheckpointError, Operand, TorchError
from simpletorch.errors.context import describe, dtype_name

__all__ = ["IncompatibleKeys", "StateMismatch", "load_state_dict"]


class IncompatibleKeys(NamedTuple):
    """The keys that a load with ``strict=False`` passed over; torch's names."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:  # as torch's
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateMismatch(CheckpointError):
    """A state dict that doesn't fit a module, with all that is wrong.

    Examples:
        >>> from simpletorch import nn
        >>> try:
        ...     nn.load_state_dict(nn.Linear(3, 2), nn.Linear(3, 5).state_dict())
        ... except nn.StateMismatch as error:
        ...     print(error.misshapen)
        {'weight': ((2, 3), (5, 3)), 'bias': ((2,), (5,))}
    """

    missing: tuple[str, ...]
    """Keys that the module has and the state dict lacks."""
    unexpected: tuple[str, ...]
    """Keys that the state dict has and the module doesn't know."""
    misshapen: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]
    """By key, the shape that the module has and the shape in the state dict."""


StateMismatch.__module__ = "simpletorch.nn"  # where users import it from


def load_state_dict(
    module: nn.Module, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
) -> IncompatibleKeys:
    """Load parameters and buffers into ``module`` and its submodules, as torch's method of this name does.

    Unlike torch's, which copies the entries that fit before it complains, it changes nothing if anything doesn't fit.
    That takes no memory beside the module and the state dict. The exception is a module with hooks that run after
    loading, or with its own ``_load_from_state_dict``. These find the new values in place, and the old ones are kept
    until all has gone well.

    Args:
        module: any module; a `simpletorch.nn.Module` has this as its method.
        state_dict: tensors by key, as ``state_dict()`` gives them.
        strict: whether missing and unexpected keys are errors; misshapen ones always are.
        assign: put the state dict's own tensors into the module instead of copying their values.

    Returns:
        The missing and the unexpected keys, which ``strict=False`` allows.

    Raises:
        StateMismatch: (a `CheckpointError`, a `RuntimeError`) with all missing, unexpected and misshapen keys.
        TypeError: ``state_dict`` is no mapping.

    Examples:
        >>> from simpletorch import nn
        >>> model, other = nn.Linear(3, 2), nn.Linear(3, 2)
        >>> nn.load_state_dict(model, other.state_dict())
        <All keys matched successfully>

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
    """
    return load(module, module.load_state_dict, state_dict, strict, assign)


def load(
    module: nn.Module, method: Callable[..., Any], state_dict: Mapping[str, Any], strict: bool, assign: bool
) -> IncompatibleKeys:
    """Load by ``method`` (torch's or one that overrides it, bound to ``module``), whole or not at all."""
    if not isinstance(state_dict, Mapping):
        what = type(state_dict).__name__
        raise TypeError(
            f"load_state_dict takes a dict of tensors by key, not a {what}: read a file with torch.load first"
        )
    copies = _Copies(module)
    with _restored_on_failure(module, copies):
        with copies:
            missing, unexpected, complaints = _collect(module, method, state_dict, assign)
        if complaints or (strict and (missing or unexpected)):
            raise _mismatch(module, state_dict, missing, unexpected, complaints)
        copies.apply()
    return IncompatibleKeys(missing, unexpected)


def _collect(
    module: nn.Module, method: Callable[..., Any], state_dict: Mapping[str, Any], assign: bool
) -> tuple[list[str], list[str], str]:
    """Call torch's method: the missing and the unexpected keys, and what else it complains about."""
    seen: list[Any] = []
    hook = module.register_load_state_dict_post_hook(lambda _, keys: seen.append(keys))
    try:
        method(state_dict, strict=False, assign=assign)
        complaints = ""
    except StateMismatch:  # of a `load_state_dict` that the method itself calls: it says all
        raise
    except RuntimeError as error:
        if not seen:  # raised by a hook before torch was through
            raise
        complaints = str(error)
    finally:
        hook.remove()
    if not seen:  # a method that asks torch's own of no module, such as that of a wrapper
        return [], [], complaints
    return seen[-1].missing_keys, seen[-1].unexpected_keys, complaints


class _Copies(TorchFunctionMode):
    """Holds back the copies into a module's own tensors: torch copies key by key, before it knows of all mismatches.

    They are done later, or at once with a backup if the module has code that runs during the load and may
    read the new values.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._own = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}
        self._at_once = any(_reads_what_is_loaded(m) for m in module.modules())
        self._copies: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._backups: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.Tensor.copy_ and id(args[0]) in self._own and not kwargs:
            target, source = args
            if self._at_once:
                self._backups.append((target, target.detach().clone()))
                return func(target, source)
            if type(target) in _PLAIN and type(source) in _PLAIN:
                torch.empty_like(target, device="meta").copy_(source)  # refuses what the copy would refuse
            self._copies.append((target, source))
            return target
        return func(*args, **(kwargs or {}))

    @torch.no_grad()
    def apply(self) -> None:
        """Do the copies that were kept."""
        # outside of the mode, which would hold them back again
        for target, source in self._copies:
            target.copy_(source)

    @torch.no_grad()
    def undo(self) -> None:
        """Put back what was there before the copies that were done."""
        # backwards: of a tensor that was copied into twice, the first backup has what was there before
        for target, value in reversed(self._backups):
            target.copy_(value)


_PLAIN: Final = (torch.Tensor, nn.Parameter)


def _reads_what_is_loaded(module: nn.Module) -> bool:
    """Whether a hook or a method that is not torch's own runs after a module's tensors were copied."""
    # torch gives no public way to ask for hooks; without the attribute they are taken to be there
    hooks = getattr(module, "_load_state_dict_post_hooks", True)
    own = type(module)._load_from_state_dict
    return bool(hooks) or not str(own.__module__).startswith("torch.nn.")


@contextmanager
def _restored_on_failure(module: nn.Module, copies: _Copies) -> Iterator[None]:
    """Undoes the copies and what else a load changes: tensors that are assigned or swapped, lazy ones, extra state."""
    # torch keeps a module's tensors in these two dicts; replacing an entry is what `assign` does
    tables: list[dict[str, Any]] = [table for m in module.modules() for table in (m._parameters, m._buffers)]
    entries = [dict(table) for table in tables]
    own = [*module.parameters(), *module.buffers()]
    lazy = [p for p in own if nn.parameter.is_lazy(p)]
    classes = [type(p) for p in lazy]
    swapping = torch.__future__.get_swap_module_params_on_conversion()
    values = [(p, p.detach().clone()) for p in own if not nn.parameter.is_lazy(p)] if swapping else []
    extra = [(m, m.get_extra_state()) for m in module.modules() if _has_extra_state(m)]
    try:
        yield
    except BaseException:
        copies.undo()
        for table, before in zip(tables, entries, strict=True):
            table.clear()
            table.update(before)
        for parameter, cls in zip(lazy, classes, strict=True):
            if type(parameter) is not cls:
                parameter.data = parameter.data.new_empty(0)
                parameter.__class__ = cls  # as torch's `materialize` does, the other way round
        with torch.no_grad():
            for parameter, value in values:
                parameter.copy_(value)
        for m, state in extra:
            m.set_extra_state(state)
        raise


def _has_extra_state(module: nn.Module) -> bool:
    cls = type(module)
    return cls.get_extra_state is not nn.Module.get_extra_state and cls.set_extra_state is not nn.Module.set_extra_state


# -- the error ------------------------------------------------------------------------------------------------------

_MISSHAPEN: Final = re.compile(
    r"size mismatch for (?P<key>\S+): copying a param with shape torch\.Size\(\[(?P<got>[\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[(?P<own>[\d, ]*)\]\)"
)


def _mismatch(
    module: nn.Module, state: Mapping[str, Any], missing: Sequence[str], unexpected: Sequence[str], complaints: str
) -> TorchError:
    own = {name: t for name, t in (*module.named_parameters(), *module.named_buffers()) if not nn.parameter.is_lazy(t)}
    misshapen = {m["key"]: (_sizes(m["own"]), _sizes(m["got"])) for m in _MISSHAPEN.finditer(complaints)}
    operands = [Operand(key, text="missing", should_be=_type(own.get(key))) for key in missing]
    operands += [_found(key, state.get(key), "absent") for key in unexpected]
    operands += [_found(key, state.get(key), _type(own.get(key))) for key in misshapen]
    counts = [(len(missing), "missing"), (len(unexpected), "unexpected"), (len(misshapen), "misshapen")]
    parts = [f"{count} {'key' if count == 1 else 'keys'} {what}" for count, what in counts if count]
    lines = [line.strip() for line in complaints.splitlines()[1:] if line.strip() and not _MISSHAPEN.search(line)]
    error = StateMismatch(
        f"the state dict doesn't fit {type(module).__name__}: " + "; ".join([", ".join(parts), *lines]).lstrip("; "),
        operation="load_state_dict",
        operands=operands,
        expected={**{k: _shape(own.get(k)) for k in missing}, **{k: v[0] for k, v in misshapen.items()}},
        got={**{k: _shape(state.get(k)) for k in unexpected}, **{k: v[1] for k, v in misshapen.items()}},
        hint=_hint(module, state, missing, unexpected) or _head(module, missing, unexpected, misshapen),
    )
    error.missing, error.unexpected, error.misshapen = tuple(missing), tuple(unexpected), misshapen
    return error


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(",") if size.strip())


def _shape(value: object) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def _type(value: torch.Tensor | None) -> str | None:
    return None if value is None else f"{dtype_name(value.dtype)}[{', '.join(map(str, value.shape))}]"


def _found(key: str, value: object, should_be: str | None) -> Operand:
    found = describe(key, value)
    return Operand(key, found.dtype, found.shape, text=found.text, should_be=should_be)


_WRAPPERS: Final = {"module.": " (DistributedDataParallel's)", "_orig_mod.": " (torch.compile's)"}


def _hint(module: nn.Module, state: Mapping[str, Any], missing: Sequence[str], unexpected: Sequence[str]) -> str | None:
    """The hint for a well-known mistake, if one is recognised."""
    nested = [key for key, value in state.items() if isinstance(value, Mapping)]
    if nested and missing:
        return f"{nested[0]!r} holds a dict of its own: load_state_dict(checkpoint[{nested[0]!r}])"
    if missing and unexpected:
        for key in unexpected:
            prefix = key.removesuffix(missing[0])
            if prefix != key and all(k.startswith(prefix) for k in state):
                whose = _WRAPPERS.get(prefix, "")
                return f"every key begins with {prefix!r}{whose}: load {{k.removeprefix({prefix!r}): v for k, v in …}}"
    for name, container in module.named_modules():
        if isinstance(container, nn.Sequential | nn.ModuleList):
            said = _stages(name, container, state)
            if said is not None:
                return said
    return None


def _head(
    module: nn.Module,
    missing: Sequence[str],
    unexpected: Sequence[str],
    misshapen: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]],
) -> str | None:
    """The hint if nothing but one layer's number of outputs differs, as with a head for other classes."""
    layers = {key.rpartition(".")[0] for key in misshapen}
    outputs = {(own[:1], got[:1]) for own, got in misshapen.values()}
    alike = all(own[1:] == got[1:] for own, got in misshapen.values())
    if missing or unexpected or not alike or len(layers) != 1 or len(outputs) != 1:
        return None
    (name,), ((own, got),) = layers, outputs
    if not name or not isinstance(module.get_submodule(name), nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d):
        return None
    return (
        f"{name} has {got[0]} outputs in the state dict and {own[0]} here: load it into a model with {got[0]}, then "
        f"put a new layer in the place of {name}"
    )


def _stages(name: str, container: nn.Sequential | nn.ModuleList, state: Mapping[str, Any]) -> str | None:
    """A container that has other layers with state than the state dict knows."""
    prefix = f"{name}." if name else ""
    own = {child for child, layer in container.named_children() if layer.state_dict()}
    found = {key.removeprefix(prefix).partition(".")[0] for key in state if key.startswith(prefix)}
    if not found or len(own) == len(found) or not all(stage.isdigit() for stage in found | own):
        return None
    kind = type(container).__name__
    what = f"{name}, a {kind}," if name else f"the {kind}"
    return f"{what} has {len(own)} layers with parameters, but the state dict has {len(found)}"
