"""``state_dict`` and ``load_state_dict`` of modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards, layers
from simpletorch.follow.values import MISSING, Dict, Fields, Instance, List, Method, Tensor, Value, behind
from simpletorch.rules import Report, TensorType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

OWN_WAY: Final = "loads its own way"
"""In the state of a module: a hook may change what is loaded."""
_METHODS: Final = ("_load_from_state_dict", "load_state_dict", "get_extra_state")


def state_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The parameters and buffers, by name."""
    plain = {k: Tensor(replace(t.type, is_parameter=False)) for k, t in _tensors(run, args[0]).items()}
    return Dict(plain, MISSING if layers.lists_all(run, args[0]) else run.unknown("an entry of a state dict"))


def load_state_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What was missing or too much is named; where it must fit, nothing was. Sizes must fit in any case."""
    me, *given = args
    loaded = behind(run.resolve(given[0] if given else kwargs.get("state_dict")))
    strict = run.resolve(given[1] if len(given) > 1 else kwargs.get("strict", True))
    if isinstance(loaded, Dict) and not any(_has_own_way(m) for _, m in layers.named_modules(run, me)):
        _check(run, loaded.cells, me)
        if strict is True and loaded.rest is MISSING and layers.lists_all(run, me):
            _check_names(run, loaded.cells, me)
    elif isinstance(loaded, str | Instance) and (isinstance(loaded, str) or loaded.cls.is_a(layers.MODULE)):
        shown, hint = ("a path", "torch.load(path)") if isinstance(loaded, str) else ("a module", "its state_dict()")
        guards.refuse(run, f"load_state_dict takes a state dict, but it is given {shown}", hint)
    elif isinstance(loaded, Method):
        guards.refuse(run, "load_state_dict takes a state dict, but it is given a method", "call it: state_dict()")
    names = [List() if strict is True else List(None, run.unknown("a name", "str")) for _ in range(2)]
    return Fields(("missing_keys", "unexpected_keys"), tuple(names))


def _tensors(run: Interpreter, module: Instance) -> dict[str, Tensor]:
    return dict(layers.named_tensors(run, module, parameters_only=False, again=True))


def _has_own_way(module: Instance) -> bool:
    found = [module.cls.find(name) for name in _METHODS]
    return bool(module.state.get(OWN_WAY)) or any(f is not None and f[1].module != "torch.nn" for f in found)


def _check(run: Interpreter, loaded: Mapping[object, Value], module: Instance) -> None:
    for name, own in _tensors(run, module).items():
        new = run.resolve(loaded.get(name, MISSING))
        if isinstance(new, Tensor) and not new.array and _differ(new.type, own.type):
            reason = f"{name} is {new.type.shape} in what is loaded, but {own.type.shape} in the model"
            hint = "build the model with the same sizes, or take the entry out and give strict=False"
            run.report(Report("load_state_dict", "shape", reason, {}, hint))
            return


def _check_names(run: Interpreter, loaded: Mapping[Any, Value], module: Instance) -> None:
    """Names that one of both lacks. A buffer need not be in a state dict, and wrappers add names with an underscore."""
    own = _tensors(run, module)
    lacking = [n for n, t in own.items() if t.type.is_parameter and run.resolve(loaded.get(n, MISSING)) is MISSING]
    odd = [n for n, v in loaded.items() if isinstance(n, str) and n not in own and isinstance(run.resolve(v), Tensor)]
    if not (lacking or odd) or any(name.startswith("_") or "._" in name for name in odd):
        return
    said = [f"lacks {', '.join(lacking[:_MOST_NAMED])}"] if lacking else []
    said += [f"has {', '.join(odd[:_MOST_NAMED])}, which the model hasn't"] if odd else []
    prefix = odd[0].removesuffix(lacking[0]) if odd and lacking else ""
    hint = "build the same model, or give strict=False"
    if prefix and odd == [prefix + name for name in lacking]:
        hint = f"{{name.removeprefix({prefix!r}): tensor for name, tensor in state.items()}}"
    guards.refuse(run, f"load_state_dict: what is loaded {' and '.join(said)}", hint, "RuntimeError")


_MOST_NAMED: Final = 4


def _differ(new: TensorType, own: TensorType) -> bool:
    if not (new.shape.is_exact and own.shape.is_exact):
        return False
    if new.shape.rank != own.shape.rank:
        return {new.shape.rank, own.shape.rank} != {0, 1}  # files of old versions have a dim where there is none now
    pairs = zip(new.shape.dims, own.shape.dims, strict=True)
    return any(type(a) is int and type(b) is int and a != b for a, b in pairs)
