"""``class Net(nn.Module[In, Out])`` promises the types of its call; its own ``forward`` has to keep them."""

from __future__ import annotations

import inspect
import typing
from types import FunctionType, GenericAlias
from typing import Any

import torch
from jaxtyping import AbstractArray

from simpletorch.errors import TypeMismatch, as_also

__all__ = ["hold"]


def hold(cls: type, forward: FunctionType, names: dict[str, Any]) -> None:
    """Compare ``forward``'s annotations with what a base ``Module[In, Out]`` of the class states.

    Only what holds for no size at all is refused: another rank, two numbers that differ, or no dtype in common.

    Raises:
        TypeMismatch: (a `TypeError`) the two contradict each other.
    """
    bases = vars(cls).get("__orig_bases__", ())
    stated = next((b for b in bases if isinstance(b, GenericAlias) and b.__origin__ is torch.nn.Module), None)
    if stated is None or len(stated.__args__) != 2:
        return
    try:
        hints = typing.get_type_hints(forward, localns=names, include_extras=True)
    except (NameError, TypeError, SyntaxError):  # a name is defined later: nothing is known here
        return
    taken = [p for p in list(inspect.signature(forward).parameters.values())[1:] if p.default is p.empty]
    given, result = stated.__args__
    if len(taken) == 1 and taken[0].kind in (taken[0].POSITIONAL_ONLY, taken[0].POSITIONAL_OR_KEYWORD):
        _compare(cls, f"takes {taken[0].name}:", hints.get(taken[0].name), given)
    _compare(cls, "gives", hints.get("return"), result)


def _compare(cls: type, verb: str, own: object, stated: object) -> None:
    if not _is_tensor(own) or not _is_tensor(stated) or not _contradict(own, stated):
        return
    raise as_also(TypeMismatch, TypeError)(
        _text(stated),
        _text(own),
        f"forward {verb} {_text(own)}, but the class's Module[In, Out] states {_text(stated)}",
        operation=f"class {cls.__name__}",
        hint="write the same type in both places",
    )


def _is_tensor(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def _contradict(own: Any, stated: Any) -> bool:
    both = (own.dtypes, stated.dtypes)
    if all(isinstance(names, (list, tuple)) for names in both) and not set(both[0]) & set(both[1]):
        return True
    first, second = own.dim_str.split(), stated.dim_str.split()
    if any(axis == "..." or axis.startswith("*") for axis in (*first, *second)):
        return False
    return len(first) != len(second) or any(
        a != b and a.isdecimal() and b.isdecimal() for a, b in zip(first, second, strict=True)
    )


def _text(hint: Any) -> str:
    dims = "".join(f", {axis}" for axis in hint.dim_str.split())
    return f"Tensor[{hint.dtype.__name__}{dims}]"
