"""The decorator `checked`."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any, Final, TypeVar, cast

from simpletorch.checks._config import config
from simpletorch.checks._remembered_sizes import remember_sizes
from simpletorch.checks._scope import local_names, outer_names
from simpletorch.checks._wrapper import bordered, is_bordered

__all__ = ["checked"]

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """Enforce a function's annotations when it is called, and explain torch's errors inside.

    ::

        @checked
        def scores(q: Tensor[Float32, B, T, D], k: Tensor[Float32, B, S, D]) -> Tensor[Float32, B, T, S]:
            return q @ k.mT

    Shapes, dtypes and devices are checked once for each combination that arrives (see `simpletorch.config`), with the
    meaning of jaxtyping and beartype: a size variable has one value in one call, the result included. Under
    ``torch.compile``, export and tracing nothing is checked; under autocast a float annotation means "a float".

    Functions, methods, class and static methods and properties can be decorated. Coroutine functions, generators and
    asynchronous generators are checked when they run, and yielded values are checked like results.

    For a class, every method is checked, and a dataclass or named tuple checks its fields when it is made. In a generic
    class the sizes that ``__init__`` was given for ``n: Dim[N]`` hold in its methods.

    With ``SIMPLETORCH_CHECK=off`` the decorated object is returned unchanged; so is one that `typing.no_type_check`
    marks.

    Args:
        function: a function, a method (also a class or static method or a property), a coroutine function, a generator
            or a class.

    Returns:
        The function or class, with checks around it.

    Raises:
        TypeError: ``function`` is something else.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, checked
        >>> from simpletorch.dims import B, N
        >>> @checked
        ... def mean(x: Tensor[Float32, B, N]) -> Tensor[Float32, B]:
        ...     return x.mean(1)
        >>> mean(torch.zeros(3, 5)).shape
        torch.Size([3])
        >>> try:
        ...     mean(torch.zeros(3))
        ... except TypeError as error:
        ...     print(type(error).__name__)
        ShapeMismatch
    """
    if config.check == "off" or getattr(function, "__no_type_check__", False):
        return function
    frame = sys._getframe(1)
    if isinstance(function, type):
        _check_class(function, frame)
        return function
    return cast(F, _checked(function, frame))


def _checked(function: Any, frame: FrameType, local: Mapping[str, Any] | None = None, sizes: str | None = None) -> Any:
    if isinstance(function, classmethod | staticmethod):
        return type(function)(_checked(function.__func__, frame, local))
    if isinstance(function, property):
        get, put, remove = (
            None if part is None else _checked(part, frame, local, sizes)
            for part in (function.fget, function.fset, function.fdel)
        )
        return property(get, put, remove, function.__doc__)
    if getattr(function, "__no_type_check__", False):
        return function
    if not isinstance(function, FunctionType):
        raise TypeError(f"checked takes a function or a class, not a {type(function).__name__}")
    names = {**local_names(function, frame), **(local or {})}
    return bordered(function, names, sizes=sizes)


def _check_class(cls: type, frame: FrameType) -> None:
    """Put a border around the methods that a class defines; of a dataclass and a named tuple, around its making too."""
    if getattr(cls, "_is_protocol", False):
        return
    names = {**vars(builtins), **vars(sys.modules[cls.__module__]), **outer_names(frame), cls.__name__: cls}
    sizes = remember_sizes(cls, frame)
    for name, member in list(vars(cls).items()):
        if not _is_annotated_in(member, cls):
            continue
        own = None if name in _MAKERS else sizes
        if own is not None or not is_bordered(member):
            setattr(cls, name, _checked(member, frame, names, own))


_MAKERS: Final = frozenset(("__init__", "__new__"))


def _is_annotated_in(member: object, cls: type) -> bool:
    """Whether a member is a function, or made of functions, that the class's own body defines with annotations."""
    if isinstance(member, classmethod | staticmethod):
        return _is_annotated_in(member.__func__, cls)
    if isinstance(member, property):
        return any(_is_annotated_in(part, cls) for part in (member.fget, member.fset, member.fdel))
    if not isinstance(member, FunctionType) or not member.__annotations__:
        return False
    return member.__qualname__.split(".")[-2:-1] == [cls.__name__]
