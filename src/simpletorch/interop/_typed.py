"""`typed`: a signature for a module that has none."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeVar, get_args

import torch
from torch import nn

from simpletorch.checks import bordered, config, outer_names
from simpletorch.errors import TypeMismatch, as_also
from simpletorch.interop._signature import read_signature

__all__ = ["attach_signature", "typed"]

M = TypeVar("M", bound=nn.Module)

_HANDLES: Final = "_simpletorch_signature"  # the attribute of a typed module that holds its hooks
_ABSENT: Final = object()


def typed(model: M, signature: object) -> M:
    """Give a module of another library a signature: mypy, the follower and every call hold it to that.

    ::

        class States(Protocol[B, T]):
            last_hidden_state: Tensor[Float32, B, T, 768]

        def call(input_ids: Tensor[Int64, B, T], attention_mask: Tensor[Int64, B, T] | None = None) -> States[B, T]: ...

        bert = typed(AutoModel.from_pretrained("bert-base-uncased"), call)

    The result is ``model`` itself, with one hook before each call and one after it. Nothing else is wrapped or
    changed: its state dict, its methods and its class stay the same. A call that is given more than the signature's
    parameters is another one, and isn't looked at: so ``generate`` of a language model works, which calls the model
    in ways of its own. Under compilation and export nothing is checked. A second `typed` of a module takes the place
    of the first.

    Args:
        model: any module.
        signature: a function with annotations (its body is never run), a protocol or module class whose ``__call__``
            or ``forward`` has them, or a ``Callable[[…], …]``, whose parameters are the model's first ones. Another
            result than a tensor is described by a protocol, dataclass or named tuple with its attributes.

    Returns:
        ``model``, the same object, with a check around each call.

    Raises:
        TypeMismatch: (a `TypeError` too) ``model`` isn't a module, or ``signature`` doesn't fit it.
        ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch: when called, with the model's name.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, interop
        >>> from simpletorch.dims import B
        >>> def scores(input: Tensor[Float32, B, 8]) -> Tensor[Float32, B, 3]: ...
        >>> model = interop.typed(torch.nn.Linear(8, 3), scores)
        >>> model(torch.zeros(7, 8)).shape
        torch.Size([7, 3])
    """
    if not isinstance(model, nn.Module):
        reason = f"model is of type {type(model).__name__}, but a module was due"
        raise as_also(TypeMismatch, TypeError)("Module", type(model).__name__, reason, operation="typed")
    attach_signature(model, signature, outer_names(sys._getframe(1)))
    return model


class _Check:
    """The two hooks of a typed module."""

    def __init__(
        self, model: type[nn.Module], signature: object, names: Mapping[str, Any], *, shared: bool = False
    ) -> None:
        self.made_of = partial(_Check, model, signature, {}, shared=shared)
        self.stated = stated = read_signature(model, signature, names, shared=shared)
        self.names = tuple(p.name for p in stated.parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
        kind = inspect.Parameter.KEYWORD_ONLY
        given = [
            p.replace(kind=kind, default=_ABSENT)
            for p in stated.parameters
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        self.known = frozenset(p.name for p in given)
        self.takes_more = any(p.kind is p.VAR_KEYWORD for p in stated.parameters)
        fields = [inspect.Parameter(f"result_{field}", kind, annotation=hint) for field, hint in stated.fields.items()]
        result = inspect.Parameter("result", kind, annotation=Any)
        name = model.__name__
        self.arguments = _checking(name, inspect.Signature(given))
        self.outcome = _checking(
            name, inspect.Signature([*given, *fields, result], return_annotation=stated.result), "result"
        )

    def before(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The hook before a call."""
        if not torch.compiler.is_compiling() and self._is_meant(args, kwargs):
            self.arguments(**self._given(args, kwargs))

    def after(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """The hook behind a call."""
        if torch.compiler.is_compiling() or config.check == "off" or not self._is_meant(args, kwargs):
            return
        due = [name for name, hint in self.stated.fields.items() if not _is_optional(hint)]
        missing = [name for name in due if not hasattr(result, name)]
        if missing:
            what = type(result).__name__
            reason = f"the result, of type {what}, has no {', '.join(missing)}"
            raise as_also(TypeMismatch, TypeError)(missing, what, reason, operation=type(model).__name__)
        fields = {f"result_{name}": getattr(result, name, None) for name in self.stated.fields}
        self.outcome(**self._given(args, kwargs), **fields, result=result)

    def _is_meant(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether it is a call of this signature."""
        more = [name for name, value in kwargs.items() if name not in self.known and value is not None]
        return self.takes_more or (not more and len(args) <= len(self.names))

    def _given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that the signature has, by name."""
        named = {name: value for name, value in kwargs.items() if name in self.known}
        return {**dict(zip(self.names, args, strict=False)), **named}

    def __deepcopy__(self, memo: object) -> _Check:
        return self  # nothing of it changes

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made_of, ()


def attach_signature(model: nn.Module, signature: object, names: Mapping[str, Any], *, shared: bool = False) -> None:
    """Hooks for ``signature`` in place of those that ``model`` has from another one.

    See `read_signature` for ``shared``.

    Raises:
        TypeMismatch: (a `TypeError` too) ``signature`` is none for it.
    """
    check = _Check(type(model), signature, names, shared=shared)
    for handle in getattr(model, _HANDLES, ()):
        handle.remove()
    before = model.register_forward_pre_hook(check.before, with_kwargs=True, prepend=True)
    after = model.register_forward_hook(check.after, with_kwargs=True)
    setattr(model, _HANDLES, (before, after))


def _is_optional(hint: Any) -> bool:
    """Whether it may be None; then it may be absent too, as outputs leave out optional parts."""
    return type(None) in get_args(hint)


def _checking(name: str, signature: inspect.Signature, returned: str | None = None) -> Any:
    """A function of this signature that does nothing but check it."""

    def check(**kwargs: Any) -> Any:
        return None if returned is None else kwargs[returned]

    setattr(check, "__signature__", signature)  # noqa: B010  # mypy knows no such attribute of a function
    check.__name__ = check.__qualname__ = name
    return bordered(check, {})
