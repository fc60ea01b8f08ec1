"""``Tensor[Float32, B, 784]`` at run time: a jaxtyping annotation of `torch.Tensor`."""

from __future__ import annotations

import re
import types
import typing
from functools import lru_cache
from typing import Any, Final, Literal, NoReturn, TypeVar, TypeVarTuple, get_args, get_origin

import jaxtyping
import torch
from typing_extensions import Unpack

from simpletorch.dtypes import Shaped, dtype_of
from simpletorch.shapes import DimSyntaxError, parse_dim, rest_in

__all__ = ["Phantom", "annotation", "axis_name", "size_axis"]


class Phantom(type):
    """The class of the phantom tensors: answers `isinstance`, makes annotations, refuses instances."""

    base: type[torch.Tensor] = torch.Tensor
    device_type: str | None = None  # None: not stated

    def __instancecheck__(cls, value: object) -> bool:
        # ``isinstance(x, CUDATensor)`` looks at the value; jaxtyping asks the same of its array type
        return isinstance(value, cls.base) and (cls.device_type is None or value.device.type == cls.device_type)

    def __subclasscheck__(cls, subclass: type) -> bool:
        # a class says nothing of its instances' device, so no class of torch's is a CUDATensor
        return super().__subclasscheck__(subclass) or (cls.device_type is None and issubclass(subclass, cls.base))

    def __getitem__(cls, item: object) -> Any:
        return annotation(cls.__name__, cls.base if cls.device_type is None else cls, item)

    def __call__(cls, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError(
            f"{cls.__name__} is a type for annotations and has no instances; "
            f"write torch.tensor(data), or {cls.__name__}.zeros(2, 3) and the like"
        )


def annotation(face: str, array_type: type, item: object) -> Any:
    """The jaxtyping annotation for ``face[item]``, where ``item`` is a dtype followed by dims (none: a scalar).

    Raises:
        TypeError: the first item is no dtype, or a dim is of a type that says no size.
        ValueError: a dim is negative, malformed, or there are two variadic parts.
    """
    dtype, *dims = item if isinstance(item, tuple) else (item,)
    kind = _dtype(face, dtype)
    axes = [axis for dim in dims for axis in _axes(face, dtype, dim)]
    variadic = [axis for axis in axes if axis == "..." or axis.startswith("*")]
    if len(variadic) > 1:
        raise ValueError(
            f"{face}[...] has {len(variadic)} variadic parts ({', '.join(variadic)}), but a shape can have only one; "
            "write the other dims one by one"
        )
    return _made(kind, array_type, " ".join(axes))


# jaxtyping makes a new class each time, which isn't equal to the one before; hints are compared, and cached by beartype
@lru_cache(maxsize=4096)
def _made(kind: Any, array_type: type, text: str) -> Any:
    made = kind[array_type, text]
    made.__class_getitem__ = classmethod(lambda _cls, item: _filled(kind, array_type, text, item))
    return made


def _filled(kind: Any, array_type: type, text: str, item: object) -> Any:
    """An alias with arguments, ``W[3, O]`` of ``W = Tensor[Float32, I, O]``: they replace its variables in turn.

    Raises:
        TypeError: another number of arguments than the alias has variables.
    """
    given = list(item) if isinstance(item, tuple) else [item]
    words = [w for w in dict.fromkeys(text.split()) if w.lstrip("*").isidentifier() and w != "_"]
    variable = getattr(kind, "variable", None)
    names = [*([] if variable is None else [variable.__name__]), *words]
    rest = next((i for i, w in enumerate(names) if w.startswith("*")), None)
    if len(given) != len(names) if rest is None else len(given) < len(names) - 1:
        raise TypeError(
            f"{kind.__name__}[{array_type.__name__}, {text!r}] takes {len(names)} arguments "
            f"({', '.join(names) or 'none'}), but is given {len(given)}"
        )
    dtype = given.pop(0) if variable is not None else None
    put: dict[str, list[str]] = {}
    for word in words:
        count = len(given) - (len(words) - len(put) - 1) if word.startswith("*") else 1
        put[word] = [axis for dim in given[:count] for axis in _axes(array_type.__name__, kind, _any_if_int(dim))]
        del given[:count]
    axes = [axis for word in text.split() for axis in (put[word] if word in put else [_put_in(word, put)])]
    return _made(kind if dtype is None else _dtype(array_type.__name__, dtype), array_type, " ".join(axes))


def _any_if_int(dim: object) -> object:
    return Any if dim is int else dim


def _put_in(word: str, put: dict[str, list[str]]) -> str:
    """An expression such as ``2*N``, with what its names now stand for."""
    found = {name for name in re.findall(r"[A-Za-z_]\w*", word) if name in put}
    if any(put[name] == ["_"] for name in found):
        return "_"
    if not found:
        return word
    return _dim_text(re.sub(r"[A-Za-z_]\w*", lambda m: f"({put[m[0]][0]})" if m[0] in found else m[0], word), word)


def size_axis(size: object) -> tuple[Any, str]:
    """jaxtyping's annotation for the size in ``Dim[size]`` (None for any size), and the text of the size.

    Raises:
        TypeError: ``size`` is no dim.
        ValueError: ``size`` is negative or malformed.
    """
    if isinstance(size, tuple):
        raise TypeError(f"Dim[{', '.join(map(_show, size))}]: a Dim is one size; write one Dim for each")
    (axis,) = _axes("Dim", None, size) or ("_",)
    if axis == "..." or axis.startswith("*"):
        raise TypeError(f"Dim[{_show(size)}]: a Dim is one size; write an int, a TypeVar, an expression or Any")
    return (None if axis == "_" else _made(jaxtyping.Shaped, Any, axis)), axis


def _dtype(face: str, dtype: object) -> Any:
    """jaxtyping's class for a dtype."""
    if isinstance(dtype, type):
        if issubclass(dtype, Shaped):
            return getattr(jaxtyping, dtype.__name__)
        if issubclass(dtype, jaxtyping.AbstractDtype):
            return dtype
    if dtype is Any:
        return jaxtyping.Shaped
    if isinstance(dtype, TypeVar):
        return _dtype_variable(face, dtype)
    if isinstance(dtype, torch.dtype):
        try:
            right = f"write {dtype_of(dtype).__name__}"
        except TypeError:
            right = "write Shaped for any dtype"
        raise TypeError(f"{face}[{dtype}, ...]: {dtype} is a value, not a type; {right}")
    right = next((text for cls, text in _PYTHONS if cls is dtype), "one such as Float32, or Shaped for any")
    raise TypeError(f"{face}[{_show(dtype)}, ...]: {_show(dtype)} is no dtype; write {right}")


# by identity: two type variables of one name are two
@lru_cache(maxsize=1024)
def _dtype_variable(face: str, variable: TypeVar) -> Any:
    """The dtypes that a type variable may stand for, as a class of jaxtyping's that knows the ``variable``."""
    allowed = variable.__constraints__ or (Any if variable.__bound__ is None else variable.__bound__,)
    kinds = [_dtype(face, member) for member in allowed]
    names = [kind.dtypes for kind in kinds]
    any_dtype = [n for n in names if not isinstance(n, tuple)]
    body = {
        "dtypes": any_dtype[0] if any_dtype else [name for some in names for name in some],
        "variable": variable,
        "kind": " or ".join(kind.__name__ for kind in kinds),
    }
    return types.new_class(variable.__name__, (jaxtyping.AbstractDtype,), exec_body=lambda space: space.update(body))


_PYTHONS: Final = (
    (bool, "Bool"),
    (int, "Int64 or Int"),
    (float, "Float32 or Float"),
    (complex, "Complex64 or Complex"),
)


def _axes(face: str, dtype: object, dim: object) -> list[str]:
    """The words of jaxtyping's shape string for one item."""
    where = f"{face}[{_show(dim)}]" if face == "Dim" else f"{face}[{_show(dtype)}, {_show(dim)}]"
    if dim is Ellipsis:
        return ["..."]
    if dim is Any:
        return ["_"]
    if isinstance(dim, TypeVar):
        return [axis_name(dim.__name__)]
    if isinstance(dim, TypeVarTuple):
        raise TypeError(f"{where}: {dim.__name__} stands for any number of dims; write *{dim.__name__}")
    if isinstance(dim, str):
        if dim.strip() == "...":
            return ["..."]
        return [_dim_text(dim, where)] if dim.strip() or face == "Dim" else []  # Tensor[Float32, ""] is a scalar
    if isinstance(dim, int) and not isinstance(dim, bool):
        if dim < 0:
            raise ValueError(f"{where}: {dim} is negative, but a size is 0 or more; write Any for an unknown size")
        return [str(int(dim))]
    if get_origin(dim) is Literal:
        values = get_args(dim)
        if len(values) == 1:
            return _axes(face, dtype, values[0])
        raise TypeError(f"{where}: a dim has one size; write Any where it may be any of several")
    unpacked = _unpacked(dim)
    if unpacked is not None:
        return (
            [axis for part in unpacked for axis in _axes(face, dtype, part)]
            if isinstance(unpacked, tuple)
            else [unpacked]
        )
    raise TypeError(
        f'{where}: {_show(dim)} is no dim; write an int, a TypeVar, an expression such as "2*N", *Batch, ... or Any'
    )


def _unpacked(dim: object) -> str | tuple[object, ...] | None:
    """``*Batch`` as a word, ``*tuple[...]`` as its items; None for anything else."""
    if get_origin(dim) is Unpack or get_origin(dim) is typing.Unpack:
        (inner,) = get_args(dim)
    elif isinstance(dim, types.GenericAlias) and getattr(dim, "__unpacked__", False):
        inner = dim
    else:
        return None
    if isinstance(inner, TypeVarTuple):
        return "*" + axis_name(inner.__name__)
    if get_origin(inner) is tuple:
        items = get_args(inner)
        return "..." if len(items) == 2 and items[1] is Ellipsis else tuple(items)
    return None


def axis_name(name: str) -> str:
    """A name as jaxtyping takes it: one that begins with ``_`` would be anonymous there."""
    return f"dim{name}" if name.startswith("_") else name


def _dim_text(text: str, where: str) -> str:
    """A dim expression, or ``*Batch``, as one word of a jaxtyping string.

    Raises:
        ValueError: it is no expression over sizes, or a negative number.
    """
    if (rest := rest_in(text)) is not None:
        return f"*{axis_name(rest)}"
    words = text.split()
    if len(words) > 1 and all(word.lstrip("*").isidentifier() or word.isdecimal() for word in words):
        raise ValueError(
            f'{where}: "{text}" holds {len(words)} dims; write them one by one: {", ".join(map(repr, words))}'
        )
    try:
        size = parse_dim(text)
    except DimSyntaxError as error:
        raise ValueError(f"{where}: {error}") from None
    if isinstance(size, int):
        if size < 0:
            raise ValueError(f"{where}: {size} is negative, but a size is 0 or more")
        return str(size)
    return re.sub(r"\b_\w*", lambda m: axis_name(m[0]), "".join(words))


def _show(value: object) -> str:
    if value is Ellipsis:
        return "..."
    if value is Any:
        return "Any"
    if isinstance(value, type) and not isinstance(value, types.GenericAlias):
        return value.__name__
    if isinstance(value, TypeVar | TypeVarTuple):
        return value.__name__
    unpacked = _unpacked(value)
    if isinstance(unpacked, str) and unpacked != "...":
        return unpacked
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text.replace("typing.", "")
