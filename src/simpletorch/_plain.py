"""Annotations for type checkers without the mypy plugin (pyright, ty, pyrefly): plain `torch.Tensor`s.

``Tensor[Float32, B, 784]`` is ``Annotated[torch.Tensor, B, 784]`` to them, as jaxtyping's annotations are, and
``Dim[N]`` is an int. Of a name that is imported twice they take the last definition and mypy the first, so
``simpletorch/__init__.pyi`` and `simpletorch.dims` import these names from here once more, for type checkers only.
"""

from __future__ import annotations

from typing import Annotated as CPUTensor
from typing import Annotated as CUDATensor
from typing import Annotated as MPSTensor
from typing import Annotated as Tensor
from typing import Any, Generic

import torch
from typing_extensions import TypeAliasType, TypeVar, TypeVarTuple, Unpack

_Size = TypeVar("_Size")
_DT = TypeVar("_DT", default=Any)
_Shape = TypeVarTuple("_Shape", default=Unpack[tuple[Any, ...]])


class Parameter(torch.nn.Parameter, Generic[_DT, *_Shape]):
    """`torch.nn.Parameter`, whose sizes may be stated."""


Dim = TypeAliasType("Dim", int, type_params=(_Size,))
Shaped = torch.Tensor
Num = torch.Tensor
Real = torch.Tensor
Inexact = torch.Tensor
Integer = torch.Tensor
Int = torch.Tensor
UInt = torch.Tensor
Float = torch.Tensor
Complex = torch.Tensor
Bool = torch.Tensor
Int8 = torch.Tensor
Int16 = torch.Tensor
Int32 = torch.Tensor
Int64 = torch.Tensor
UInt8 = torch.Tensor
UInt16 = torch.Tensor
UInt32 = torch.Tensor
UInt64 = torch.Tensor
Float16 = torch.Tensor
BFloat16 = torch.Tensor
Float32 = torch.Tensor
Float64 = torch.Tensor
Float8e4m3fn = torch.Tensor
Float8e5m2 = torch.Tensor
Complex64 = torch.Tensor
Complex128 = torch.Tensor

__all__ = [
    "BFloat16",
    "Bool",
    "CPUTensor",
    "CUDATensor",
    "Complex",
    "Complex64",
    "Complex128",
    "Dim",
    "Float",
    "Float8e4m3fn",
    "Float8e5m2",
    "Float16",
    "Float32",
    "Float64",
    "Inexact",
    "Int",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Integer",
    "MPSTensor",
    "Num",
    "Parameter",
    "Real",
    "Shaped",
    "Tensor",
    "UInt",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
]
