"""Hooks of modules: functions that torch calls beside ``forward`` and ``backward``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simpletorch.follow import calls, guards, layers
from simpletorch.follow.libraries import Work, library_class
from simpletorch.follow.libraries.pytorch.state_dicts import OWN_WAY
from simpletorch.follow.values import Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["HOOKS"]


def _hook(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    calls.escape(run, (*args[1:], *kwargs.values()))
    return run.unknown("a handle of a hook")


def _loading_hook(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].state, OWN_WAY, True)
    return run.unknown("a handle of a hook")


def _added(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], kind: str) -> Value:
    """A hook among the others of its kind; of another protocol, or on some ways only, it is not followed."""
    me, hook = args[0], _given(args, kwargs)
    hooks = layers.hooks_of(run, me, kind)
    if hooks is not None:
        run.heap.write(me.state, kind, (*hooks, hook))
    # with_kwargs, prepend: another protocol
    if hooks is None or any(run.resolve(v) is True for v in kwargs.values()):
        run.heap.write(me.state, "hooked", True)
    return Instance(run.program.library_class("torch.utils.hooks.RemovableHandle"), (me, kind, hook))


def _forward_hook(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What is called with the module, its arguments and what it gives, and may replace that."""
    return _added(run, args, kwargs, "hooks")


def _pre_hook(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A hook that is called with the module and its arguments, and may replace these."""
    return _added(run, args, kwargs, "pre_hooks")


def _remove_hook(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, kind, hook = args[0].native
    hooks = layers.hooks_of(run, me, kind)
    if hooks is not None:
        run.heap.write(me.state, kind, tuple(h for h in hooks if h is not hook))
    return None


def _given(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[1] if len(args) > 1 else kwargs.get("hook")


def _called_with(*names: str) -> Callable[[Work], Work]:
    """A hook that can't be called with these arguments is torch's ``TypeError`` at the next call of the module."""

    def checked(register: Work) -> Work:
        def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
            hook = run.resolve(_given(args, kwargs))
            if type(hook) is Function and not kwargs.keys() - {"hook"} and not _takes(hook, len(names)):
                hint = f"def {'hook' if hook.name == '<lambda>' else hook.name}({', '.join(names)})"
                guards.refuse(run, f"the hook is called with {len(names)} arguments, which it doesn't take", hint)
            return register(run, args, kwargs)

        return work

    return checked


def _takes(function: Function, count: int) -> bool:
    """Whether a function can be called with so many positional arguments."""
    spec = function.node.args
    most = len(spec.posonlyargs) + len(spec.args)
    needs_more = len(spec.kwonlyargs) > len(function.keyword_defaults)
    return most - len(function.defaults) <= count and (count <= most or spec.vararg is not None) and not needs_more


HOOKS: Final = {
    "register_forward_hook": _called_with("module", "args", "output")(_forward_hook),
    "register_forward_pre_hook": _called_with("module", "args")(_pre_hook),
    "register_full_backward_hook": _called_with("module", "grad_input", "grad_output")(_hook),
    "register_full_backward_pre_hook": _called_with("module", "grad_output")(_hook),
    **dict.fromkeys(
        ("register_backward_hook", "register_load_state_dict_post_hook", "register_state_dict_post_hook"), _hook
    ),
    **dict.fromkeys(("_register_load_state_dict_pre_hook", "register_load_state_dict_pre_hook"), _loading_hook),
}
"""The methods of modules that register hooks, by name."""
library_class("torch.utils.hooks.RemovableHandle", methods={"remove": _remove_hook, "__exit__": _remove_hook})
