"""The classes of `simpletorch.dtypes`, where they are described; at run time they say that they are from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


class _DTypeMeta(type):
    """The class of the dtypes: gives ``Float32.dtype`` and a readable repr, and refuses instances."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> _DTypeMeta:
        if members["__module__"] == __name__:
            members["__module__"] = "simpletorch.dtypes"  # where programs, and pickles, take them from
        return super().__new__(mcs, name, bases, members)

    @property
    def torch_name(cls) -> str | None:
        """The name of the dtype in torch, None for a kind of dtypes such as `Float`."""
        # not inherited: a class that someone derives from Float32 is no dtype of torch
        name: str | None = cls.__dict__.get("_torch_name")
        return name

    @property
    def dtype(cls) -> torch.dtype:
        """The `torch.dtype` that this type stands for.

        Raises:
            TypeError: the type is a kind of dtypes, such as `Float`.
        """
        name = cls.torch_name
        if name is None:
            some = " or ".join(concrete_dtypes_of(cls)[:2])
            raise TypeError(
                f"{cls.__name__} is a kind of dtypes, so it has no torch.dtype; take a concrete one such as {some}"
            )
        import torch

        dtype: torch.dtype = getattr(torch, name)
        return dtype

    @staticmethod
    def __torch_function__(
        function: Callable[..., Any], _types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Stand for the `torch.dtype` wherever torch takes one: ``torch.zeros(3, dtype=Float32)``, ``t.to(Float64)``.

        torch asks this of an argument that has it and isn't what a parameter takes. Arguments of torch's own classes
        never come here, so nothing else gets slower.
        """
        named = {name: _plain(value) for name, value in (kwargs or {}).items()}
        return function(*(_plain(value) for value in args), **named)

    def __fx_create_arg__(cls, _tracer: object) -> torch.dtype:
        """Stand for the `torch.dtype` in a graph of `torch.fx` too, which `torch.compile` makes."""
        return cls.dtype

    def __repr__(cls) -> str:
        return f"simpletorch.{cls.__name__}"

    def __call__(cls, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError(
            f"{cls.__name__} is a type for annotations and has no instances; "
            f"write Tensor[{cls.__name__}, ...] in an annotation, or dtype={cls.__name__} in a call"
        )

    def __getitem__(cls, item: Any) -> Any:
        # jaxtyping's spelling with our dtype: Float32[torch.Tensor, "batch 784"]
        import jaxtyping

        return getattr(jaxtyping, cls.__name__)[item]


def _plain(value: Any) -> Any:
    return value.dtype if isinstance(value, _DTypeMeta) else value


class Shaped(metaclass=_DTypeMeta):
    """Any dtype."""


class Num(Shaped):
    """Any dtype but `Bool`."""


class Real(Num):
    """Integers and floats."""


class Inexact(Num):
    """Floats and complex numbers."""


class Integer(Real):
    """Signed and unsigned integers."""


class Int(Integer):
    """Signed integers."""


class UInt(Integer):
    """Unsigned integers."""


class Float(Real, Inexact):
    """Floating-point numbers of any width."""


class Complex(Inexact):
    """Complex numbers of any width."""


class Bool(Shaped):
    """`torch.bool`."""

    _torch_name = "bool"


class Int8(Int):
    """`torch.int8`."""

    _torch_name = "int8"


class Int16(Int):
    """`torch.int16`."""

    _torch_name = "int16"


class Int32(Int):
    """`torch.int32`."""

    _torch_name = "int32"


class Int64(Int):
    """`torch.int64`."""

    _torch_name = "int64"


class UInt8(UInt):
    """`torch.uint8`."""

    _torch_name = "uint8"


class UInt16(UInt):
    """`torch.uint16`."""

    _torch_name = "uint16"


class UInt32(UInt):
    """`torch.uint32`."""

    _torch_name = "uint32"


class UInt64(UInt):
    """`torch.uint64`."""

    _torch_name = "uint64"


class Float16(Float):
    """`torch.float16`."""

    _torch_name = "float16"


class BFloat16(Float):
    """`torch.bfloat16`."""

    _torch_name = "bfloat16"


class Float32(Float):
    """`torch.float32`."""

    _torch_name = "float32"


class Float64(Float):
    """`torch.float64`."""

    _torch_name = "float64"


class Float8e4m3fn(Float):
    """`torch.float8_e4m3fn`."""

    _torch_name = "float8_e4m3fn"


class Float8e5m2(Float):
    """`torch.float8_e5m2`."""

    _torch_name = "float8_e5m2"


class Complex64(Complex):
    """`torch.complex64`."""

    _torch_name = "complex64"


class Complex128(Complex):
    """`torch.complex128`."""

    _torch_name = "complex128"


_CONCRETE: Final[tuple[type[Shaped], ...]] = (
    *(Float32, Float64, Float16, BFloat16, Float8e4m3fn, Float8e5m2),
    *(Int64, Int32, Int16, Int8, UInt8, UInt16, UInt32, UInt64),
    *(Complex64, Complex128, Bool),
)
_BY_TORCH_NAME: Final = {name: d for d in _CONCRETE if (name := d.torch_name) is not None}


def concrete_dtypes_of(kind: type) -> list[str]:
    """The names of the concrete dtypes that belong to ``kind``, the most usual first."""
    return [d.__name__ for d in _CONCRETE if issubclass(d, kind)]


def dtype_of(dtype: torch.dtype) -> type[Shaped]:
    """The type for a `torch.dtype`: ``dtype_of(torch.float32)`` is `Float32`.

    Returns:
        A subclass of `Shaped`.

    Raises:
        TypeError: ``dtype`` is no `torch.dtype`, or one that simpletorch has no type for (a quantized one).

    Examples:
        >>> import torch
        >>> from simpletorch import dtype_of
        >>> dtype_of(torch.float32).__name__
        'Float32'
    """
    name = str(dtype).removeprefix("torch.")
    try:
        return _BY_TORCH_NAME[name]
    except KeyError:
        raise TypeError(f"{dtype!r} has no simpletorch dtype; those known are {', '.join(_BY_TORCH_NAME)}") from None
