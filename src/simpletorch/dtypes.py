"""Dtypes as types: what stands first in ``Tensor[Float32, B, 784]``. They are never instantiated.

The hierarchy is jaxtyping's (and NumPy's): a concrete dtype is a subclass of every kind it belongs to::

    Shaped ── Num ─┬─ Real ─┬─ Integer ─┬─ Int      Int8 Int16 Int32 Int64
          └─ Bool  │        │           └─ UInt     UInt8 UInt16 UInt32 UInt64
                   │        └─ Float ┐              Float16 BFloat16 Float32 Float64 Float8e4m3fn Float8e5m2
                   └─ Inexact ───────┴─ Complex     Complex64 Complex128

Each concrete one knows its `torch.dtype` (``Float32.dtype``), and `dtype_of` goes back. Importing this module loads no
torch.
"""

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
