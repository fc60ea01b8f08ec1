"""Dtypes and torch's promotion: what ``a + b`` is, for tensors of any rank and Python numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, final

__all__ = [
    "ABSTRACT",
    "BFLOAT16",
    "BOOL",
    "BY_NAME",
    "COMPLEX64",
    "COMPLEX128",
    "DEFAULT_FLOAT",
    "DTYPES",
    "FLOAT16",
    "FLOAT32",
    "FLOAT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "DType",
    "combine_categories",
    "promote",
    "promote_all",
    "to_complex",
    "to_real",
]

Category = Literal["bool", "int", "float", "complex"]
_CATEGORY_ORDER: Final = {"bool": 0, "int": 1, "float": 2, "complex": 3}


@final
@dataclass(frozen=True, slots=True)
class DType:
    """A dtype by the name that our annotations use. An abstract one (``Float``) has no torch name."""

    name: str
    torch_name: str | None
    category: Category | None  # None: unknown, for Shaped and Num
    bits: int = 0
    unsigned: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def is_concrete(self) -> bool:
        """Whether this is one dtype of torch and not a family of them."""
        return self.torch_name is not None

    @property
    def is_floating(self) -> bool | None:
        """Whether it is a real floating dtype; None if that isn't known."""
        return None if self.category is None else self.category == "float"

    @property
    def order(self) -> int | None:
        """The place of its category in torch's promotion: bool, int, float, complex."""
        return None if self.category is None else _CATEGORY_ORDER[self.category]


BOOL: Final = DType("Bool", "bool", "bool", 8)
UINT8: Final = DType("UInt8", "uint8", "int", 8, unsigned=True)
UINT16: Final = DType("UInt16", "uint16", "int", 16, unsigned=True)
UINT32: Final = DType("UInt32", "uint32", "int", 32, unsigned=True)
UINT64: Final = DType("UInt64", "uint64", "int", 64, unsigned=True)
INT8: Final = DType("Int8", "int8", "int", 8)
INT16: Final = DType("Int16", "int16", "int", 16)
INT32: Final = DType("Int32", "int32", "int", 32)
INT64: Final = DType("Int64", "int64", "int", 64)
FLOAT8E4M3FN: Final = DType("Float8e4m3fn", "float8_e4m3fn", "float", 8)
FLOAT8E5M2: Final = DType("Float8e5m2", "float8_e5m2", "float", 8)
FLOAT16: Final = DType("Float16", "float16", "float", 16)
BFLOAT16: Final = DType("BFloat16", "bfloat16", "float", 16)
FLOAT32: Final = DType("Float32", "float32", "float", 32)
FLOAT64: Final = DType("Float64", "float64", "float", 64)
COMPLEX64: Final = DType("Complex64", "complex64", "complex", 64)
COMPLEX128: Final = DType("Complex128", "complex128", "complex", 128)

# fmt: off
DTYPES: Final = (
    BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64,
    FLOAT8E4M3FN, FLOAT8E5M2, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
)
# fmt: on

# The families of jaxtyping. Only what promotion can use is kept: the category where there is one.
ABSTRACT: Final = (
    DType("Float", None, "float"),
    DType("Complex", None, "complex"),
    DType("Int", None, "int"),
    DType("UInt", None, "int", unsigned=True),
    DType("Integer", None, "int"),
    DType("Inexact", None, None),
    DType("Real", None, None),
    DType("Num", None, None),
    DType("Shaped", None, None),
)
# by the order of their categories; bool, 0, is a single dtype and has none
_FAMILY: Final = {1: ABSTRACT[4], 2: ABSTRACT[0], 3: ABSTRACT[1]}
BY_NAME: Final = {d.name: d for d in (*DTYPES, *ABSTRACT)}
_TORCH_ALIASES: Final = {
    "half": FLOAT16,
    "float": FLOAT32,
    "double": FLOAT64,
    "int": INT32,
    "long": INT64,
    "short": INT16,
    "cfloat": COMPLEX64,
    "cdouble": COMPLEX128,
}
BY_TORCH_NAME: Final = {d.torch_name: d for d in DTYPES if d.torch_name} | _TORCH_ALIASES

DEFAULT_FLOAT: Final = FLOAT32
"""What a Python float becomes, unless the program calls `torch.set_default_dtype`."""


def _promote_concrete(a: DType, b: DType) -> DType | None:
    """The least dtype that holds both (torch.promote_types); None where torch has none."""
    if a == b:
        return a
    a_order, b_order = a.order, b.order
    assert a_order is not None
    assert b_order is not None
    low, high = (a, b) if a_order < b_order else (b, a)
    # torch: "Promotion for Float8 Types is not supported"
    if any(d.category == "float" and d.bits == 8 for d in (a, b)):
        return None
    if any(d.unsigned and d != UINT8 for d in (a, b)):  # UInt16, UInt32, UInt64 know only floats
        return high if high.category == "float" else None
    if a_order != b_order:
        return COMPLEX128 if high.category == "complex" and low == FLOAT64 else high
    if UINT8 in (a, b):
        signed = b if a == UINT8 else a
        return INT16 if signed == INT8 else signed
    if a.bits == b.bits:
        return FLOAT32  # Float16 with BFloat16
    return a if a.bits > b.bits else b


def promote(a: DType | None, b: DType | None) -> DType | None:
    """`torch.promote_types`, where it can be told; None where it can't."""
    if a is None or b is None or a.order is None or b.order is None:
        return None
    if a.is_concrete and b.is_concrete:
        return _promote_concrete(a, b)
    if a.order == b.order:
        return a if a == b else _FAMILY.get(a.order)
    high = a if a.order > b.order else b
    # the lower one may be Float64, which makes a Complex128 of Complex64
    return _FAMILY[3] if high.order == 3 else high


def promote_all(dtypes: Iterable[DType | None]) -> DType | None:
    """`promote` over all of them."""
    out: DType | None = None
    for i, d in enumerate(dtypes):
        out = d if i == 0 else promote(out, d)
    return out


def to_complex(dtype: DType) -> DType | None:
    """The complex dtype whose parts have this floating dtype."""
    # of BFloat16 torch has no complex form and takes complex64; Float16's is complex32, for which there is no name here
    return {16: COMPLEX64 if dtype == BFLOAT16 else None, 32: COMPLEX64, 64: COMPLEX128}.get(dtype.bits)


def to_real(dtype: DType) -> DType | None:
    """The floating dtype of the parts of a complex dtype; a dtype that isn't complex is itself."""
    if dtype.category != "complex":
        return dtype
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype)


def combine_categories(higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of a higher-priority operand with a lower-priority one (a 0-dim tensor, a Python number).

    The lower one counts only if its category (bool < int < float < complex) is higher. This is
    ``combine_categories`` of ATen/native/TypeProperties.cpp. An unknown operand makes the answer unknown.
    """
    if higher is None or lower is None or higher.order is None or lower.order is None:
        return higher if higher is not None and higher.order == 3 else None
    if higher.order == 3:
        return higher
    if higher.order == 2:
        return to_complex(higher) if lower.order == 3 else higher
    if lower.order == 3:
        return lower
    if higher.order == 0 or lower.order == 2:
        return promote(higher, lower)
    return higher
