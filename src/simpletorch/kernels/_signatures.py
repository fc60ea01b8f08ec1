"""The arguments of a Triton kernel's launch, read from the annotations of its parameters.

Triton compiles a kernel for whatever it is launched with, and a wrong launch (a float16 tensor for a float32 pointer, a
size where a stride belongs) compiles silently. With these annotations a launch is checked once for each combination of
dtypes and constants, and `compile_check` knows which variants there are::

    @triton.jit
    def scaled(x: "Pointer[Float]", y: "Pointer[Float]", n: "Size", factor: "Number", BLOCK: tl.constexpr): ...

They are strings, because Inductor copies a kernel's source into a module in which these names aren't known.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from simpletorch.dtypes import (
    BFloat16,
    Bool,
    Float,
    Float8e4m3fn,
    Float8e5m2,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
)
from simpletorch.errors import BackendError

__all__ = ["KINDS", "Number", "Parameter", "Pointer", "Signature", "Size", "Stride", "signature_of"]

T = TypeVar("T")

if TYPE_CHECKING:

    class Pointer(Generic[T]):
        """A tensor: in the kernel, its first element's address. ``Pointer[Float]`` is float32, float16 or bfloat16."""

        def __add__(self, offset: Any) -> Any: ...

    Size = int
    Stride = int
    Number = float
else:

    @dataclass(frozen=True)
    class _PointerType:
        """The type of ``Pointer[Float]``."""

        element: type

        def __or__(self, other: object) -> object:
            return typing.Optional[self] if other in (None, type(None)) else NotImplemented  # noqa: UP045

        def __call__(self) -> None:  # so that typing takes it for a type
            raise TypeError("Pointer[...] annotates a parameter and has no instances")

        def __repr__(self) -> str:
            return f"Pointer[{self.element.__name__}]"

    class Pointer(Generic[T]):
        """A tensor: in the kernel, its first element's address. ``Pointer[Float]`` is float32, float16 or bfloat16.

        Raises:
            TypeError: Triton has no pointers to this dtype.
        """

        def __class_getitem__(cls, element: type) -> object:
            if element not in POINTED:
                raise TypeError(f"Pointer[{element!r}]: Triton's pointers are to {', '.join(sorted(_names(POINTED)))}")
            return _PointerType(element)

    class Size(int):
        """A number of elements or rows: an int, 32 bits wide unless it is larger."""

    class Stride(int):
        """A step between elements: an int, as `Size`."""

    class Number(float):
        """A float, passed as float32."""


# dtypes as Triton spells them
KINDS: Final[Mapping[type, str]] = {
    Float32: "fp32",
    Float16: "fp16",
    BFloat16: "bf16",
    Float64: "fp64",
    Float8e4m3fn: "fp8e4nv",
    Float8e5m2: "fp8e5",
    Int8: "i8",
    Int16: "i16",
    Int32: "i32",
    Int64: "i64",
    UInt8: "u8",
    Bool: "i1",
}
POINTED: Final[Mapping[type, tuple[type, ...]]] = {Float: (Float32, Float16, BFloat16), **{k: (k,) for k in KINDS}}


def _names(dtypes: Any) -> Iterator[str]:
    return (dtype.__name__ for dtype in dtypes)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
        kind: "pointer", "size", "stride", "number" or "constexpr".
        dtypes: that a pointer may point to.
        optional: whether None is taken, which the kernel sees as a constant.
        default: of a constexpr that has one.
    """

    name: str
    kind: str
    dtypes: tuple[type, ...] = ()
    optional: bool = False
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Signature:
    """The parameters of a kernel, and which of its constants must be powers of two."""

    name: str
    parameters: tuple[Parameter, ...]
    powers: frozenset[str]

    @property
    def constants(self) -> tuple[Parameter, ...]:
        """The parameters that are ``tl.constexpr``."""
        return tuple(parameter for parameter in self.parameters if parameter.kind == "constexpr")

    def block_reason(self, constants: Mapping[str, Any]) -> str:
        """Why these constants can't be right, "" if nothing speaks against them."""
        for name in sorted(self.powers & constants.keys()):
            value = constants[name]
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                return f"{name}={value!r} is the length of a tl.arange, which must be a power of two"
            if value > 1 << 20:
                return f"{name}={value} is more than the 2**20 elements that Triton's blocks have at most"
        return ""


def _parameter(kernel: str, name: str, annotation: Any, default: Any) -> Parameter:
    tl = import_module("triton.language")  # no import statement, or mypy would read all of Triton
    optional = type(None) in typing.get_args(annotation)
    if optional:
        annotation = next(one for one in typing.get_args(annotation) if one is not type(None))
    if annotation is tl.constexpr:
        return Parameter(name, "constexpr", default=default)
    element: Any = getattr(annotation, "element", None)
    if element in POINTED:
        return Parameter(name, "pointer", POINTED[element], optional)
    for kind, spelled in (("size", Size), ("stride", Stride), ("number", Number)):
        if annotation is spelled:
            return Parameter(name, kind)
    said = "no annotation" if annotation is inspect.Parameter.empty else f"the annotation {annotation!r}"
    raise BackendError(
        f"{kernel}: {name} has {said}",
        hint='say what a launch passes: "Pointer[Float]", "Size", "Stride", "Number" or tl.constexpr',
    )


def _powers(function: Callable[..., Any]) -> frozenset[str]:
    """The names used as the end of a ``tl.arange(0, NAME)``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return frozenset(
        node.args[1].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "arange"
        if len(node.args) == 2 and isinstance(node.args[1], ast.Name)
    )


def signature_of(function: Callable[..., Any]) -> Signature:
    """Read the annotations of the Python function behind a ``@triton.jit``.

    Raises:
        BackendError: a parameter isn't annotated, or not with a type that a launch can pass.
    """
    name = function.__name__
    hints = typing.get_type_hints(function)
    parameters: Sequence[inspect.Parameter] = list(inspect.signature(function).parameters.values())
    read = tuple(_parameter(name, p.name, hints.get(p.name, inspect.Parameter.empty), p.default) for p in parameters)
    constants = {parameter.name for parameter in read if parameter.kind == "constexpr"}
    return Signature(name, read, _powers(function) & constants)
