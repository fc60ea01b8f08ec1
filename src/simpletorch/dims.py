"""Sizes as types: `Dim`, and ready-made type variables for annotations. Importing this module loads no torch.

``B T C D …`` are ordinary `TypeVar`s, ``Batch`` and ``Rest`` ordinary `TypeVarTuple`s; define others yourself::

    def scores(q: Tensor[Float32, "*Batch", T, D], k: Tensor[Float32, "*Batch", S, D]
        ) -> Tensor[Float32, "*Batch", T, S]: ...

``*Batch`` without quotes says the same; pyright takes it only in quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, TypeVarTuple

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
    from _simpletorch.dim import Dim as Dim
    from simpletorch._plain import Dim as Dim  # type: ignore[assignment]  # noqa: F811 - for other checkers
else:

    class Dim(metaclass=DimType):
        """A size: ``n: Dim[N]`` accepts an int that is not a bool, and binds ``N`` for the call being checked."""
