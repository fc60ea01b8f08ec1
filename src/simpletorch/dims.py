"""Sizes as types: `Dim`, and ready-made type variables for annotations. Importing this module loads no torch.

``B T C D …`` are ordinary `TypeVar`s, ``Batch`` and ``Rest`` ordinary `TypeVarTuple`s; define others yourself::

    def scores(q: Tensor[Float32, *Batch, T, D], k: Tensor[Float32, *Batch, S, D]
        ) -> Tensor[Float32, *Batch, T, S]: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, TypeVarTuple, overload

__all__ = [
    "B",
    "Batch",
    "C",
    "D",
    "Dim",
    "E",
    "F",
    "G",
    "H",
    "I",
    "K",
    "L",
    "M",
    "N",
    "O",
    "P",
    "Q",
    "Rest",
    "S",
    "T",
    "V",
    "W",
]

B = TypeVar("B")
T = TypeVar("T")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
I = TypeVar("I")  # noqa: E741 - the usual letter for an input size
K = TypeVar("K")
L = TypeVar("L")
M = TypeVar("M")
N = TypeVar("N")
O = TypeVar("O")  # noqa: E741 - the usual letter for an output size
P = TypeVar("P")
Q = TypeVar("Q")
S = TypeVar("S")
V = TypeVar("V")
W = TypeVar("W")
Batch = TypeVarTuple("Batch")
Rest = TypeVarTuple("Rest")

_Size = TypeVar("_Size", covariant=True)


class _Sized:
    """An int as jaxtyping sees an array with that one dim: it binds and compares the size with those of the tensors."""

    dtype = "int"

    def __init__(self, size: int) -> None:
        self.shape = (size,)


class DimType(type):
    """The class of `Dim` and of every ``Dim[N]``: says which values are sizes."""

    _axis: Any = None  # jaxtyping's annotation of the size, None for any size

    def __getitem__(cls, size: object) -> DimType:
        from simpletorch._annotation import size_axis  # here, because it loads torch

        axis, name = size_axis(size)
        made = DimType(f"Dim[{name}]", (), {"__module__": cls.__module__, "__doc__": cls.__doc__})
        made._axis = axis
        return made

    def __instancecheck__(cls, value: object) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return cls._axis is None or isinstance(_Sized(value), cls._axis)

    def __call__(cls, *_args: object) -> NoReturn:
        raise TypeError(f"{cls.__name__} is a type for annotations; sizes are plain ints")


if TYPE_CHECKING:

    class Dim(int, Generic[_Size]):
        """An `int` whose size the checker knows: ``def __init__(self, n: Dim[N])``.

        For the checker it is a subclass of int whose arithmetic the mypy plugin follows: with ``n: Dim[N]``,
        ``2 * n`` is a ``Dim["2*N"]``. At run time sizes are plain ints: ``Dim[N]`` in an annotation accepts an int
        that is not a bool and binds ``N``, so that the int and the tensors of one checked call must agree.
        """

        def __add__(self, value: int, /) -> int: ...
        def __radd__(self, value: int, /) -> int: ...
        def __sub__(self, value: int, /) -> int: ...
        def __rsub__(self, value: int, /) -> int: ...
        def __mul__(self, value: int, /) -> int: ...
        def __rmul__(self, value: int, /) -> int: ...
        def __floordiv__(self, value: int, /) -> int: ...
        def __rfloordiv__(self, value: int, /) -> int: ...
        def __mod__(self, value: int, /) -> int: ...
        def __rmod__(self, value: int, /) -> int: ...
        @overload  # type: ignore[override]
        def __pow__(self, value: int, mod: None = None, /) -> Any: ...
        @overload
        def __pow__(self, value: float, mod: None = None, /) -> float: ...
        def __pow__(self, value: float, mod: None = None, /) -> Any: ...
        def __rpow__(self, value: int, mod: int | None = None, /) -> Any: ...
        def __neg__(self) -> int: ...

else:

    class Dim(metaclass=DimType):
        """A size: ``n: Dim[N]`` accepts an int that is not a bool, and binds ``N`` for the call being checked."""
