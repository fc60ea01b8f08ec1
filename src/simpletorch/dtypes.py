"""Dtypes as types: the first argument of ``Tensor[Float32, B, 784]``. They are never instantiated.

The hierarchy is jaxtyping's (and NumPy's): a concrete dtype is a subclass of every kind it belongs to::

    Shaped ── Num ─┬─ Real ─┬─ Integer ─┬─ Int      Int8 Int16 Int32 Int64
          └─ Bool  │        │           └─ UInt     UInt8 UInt16 UInt32 UInt64
                   │        └─ Float ┐              Float16 BFloat16 Float32 Float64 Float8e4m3fn Float8e5m2
                   └─ Inexact ───────┴─ Complex     Complex64 Complex128

Each concrete one knows its `torch.dtype` (``Float32.dtype``), and `dtype_of` goes back. Importing this module loads no
torch.
"""

from typing import TYPE_CHECKING

from _simpletorch.dtypes import (
    BFloat16,
    Bool,
    Complex,
    Complex64,
    Complex128,
    Float,
    Float8e4m3fn,
    Float8e5m2,
    Float16,
    Float32,
    Float64,
    Inexact,
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
    Integer,
    Num,
    Real,
    Shaped,
    UInt,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    dtype_of,
)

__all__ = [
    "BFloat16",
    "Bool",
    "Complex",
    "Complex64",
    "Complex128",
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
    "Num",
    "Real",
    "Shaped",
    "UInt",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "dtype_of",
]

if TYPE_CHECKING:  # once more, for checkers without the plugin: mypy takes the first definition, the others the last
    # isort: off
    from simpletorch._plain import (  # type: ignore[assignment]
        BFloat16 as BFloat16,
        Bool as Bool,
        Complex as Complex,
        Complex64 as Complex64,
        Complex128 as Complex128,
        Float as Float,
        Float8e4m3fn as Float8e4m3fn,
        Float8e5m2 as Float8e5m2,
        Float16 as Float16,
        Float32 as Float32,
        Float64 as Float64,
        Inexact as Inexact,
        Int as Int,
        Int8 as Int8,
        Int16 as Int16,
        Int32 as Int32,
        Int64 as Int64,
        Integer as Integer,
        Num as Num,
        Real as Real,
        Shaped as Shaped,
        UInt as UInt,
        UInt8 as UInt8,
        UInt16 as UInt16,
        UInt32 as UInt32,
        UInt64 as UInt64,
    )
