"""Padding: constant, by reflection, by replication, circular."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

from simpletorch.rules.dtype import BOOL
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Dim, Item, Shape, at_least, minimum

_MODES: Final[Mapping[str, str]] = MappingProxyType(
    {"constant": "", "reflect": "reflected", "replicate": "replicated", "circular": "wrapped around"}
)


def _check_side(size: Dim, amount: Dim, mode: str) -> None:
    """Reflection needs a dim larger than the padding, wrapping around one at least as large."""
    needed = amount + 1 if mode == "reflect" else amount
    if mode in ("reflect", "circular") and at_least(size, needed) is False:
        raise Mismatch(f"{amount} entries can't be {_MODES[mode]} from a dim of size {size}", expected=needed, got=size)


def _padded(size: Dim, left: Dim, right: Dim, mode: str) -> Dim:
    """``left + size + right``, checked; negative padding cuts."""
    out = left + size + right
    least = 0 if mode in ("", "constant", "circular") else 1
    shrunk = minimum(left, 0) + size + minimum(right, 0) if mode == "constant" else out
    if at_least(shrunk, least) is False:
        raise Mismatch(f"cutting {left} and {right} from a dim of size {size} leaves nothing", got=size)
    _check_side(size, left, mode)
    _check_side(size, right, mode)
    return out


def _pairs(pad: tuple[Value, ...]) -> list[tuple[Dim, Dim]]:
    """The (left, right) amounts from the first padded dim to the last; torch lists them from the last."""
    if len(pad) % 2:
        raise Mismatch(f"pad has {len(pad)} entries, but it must have two for each padded dim", got=len(pad))
    amounts = [as_dim(v) for v in pad]
    return [(amounts[i], amounts[i + 1]) for i in range(len(pad) - 2, -1, -2)]


def _check_rank(shape: Shape, count: int, mode: str) -> None:
    """A constant pads any number of dims that there are; the other modes all dims but the first one or two."""
    if mode == "constant":
        if shape.rank is not None and shape.rank < count:
            raise Mismatch(f"pad is for {count} dims, but input has {shape.rank}", expected=count, got=shape.rank)
        return
    if count not in (1, 2, 3) or (shape.rank is not None and shape.rank not in (count + 1, count + 2)):
        rank = "" if shape.rank is None else f" of an input with {shape.rank} dims"
        raise Mismatch(
            f"mode={mode!r} can't pad {count} dims{rank}; it pads the last 1, 2 or 3 of an input that has"
            " one or two dims more",
            got=count,
        )


@rule("torch.nn.functional.pad")
def pad(input: TensorType, pad: Value, mode: Value = "constant", value: Value = None) -> TensorType:
    """``(*, n) -> (*, left + n + right)``, the last dim first"""
    if not isinstance(pad, tuple):
        if input.shape.is_exact:
            return TensorType(Shape((as_dim(ANYTHING),) * len(input.shape.items)), input.dtype)
        return TensorType(dtype=input.dtype)
    if isinstance(mode, str) and mode not in _MODES:
        raise Mismatch(f"mode is {mode!r}, but it must be one of {', '.join(map(repr, _MODES))}", got=mode)
    how = mode if isinstance(mode, str) else ""
    pairs = _pairs(pad)
    if how:
        _check_rank(input.shape, len(pairs), how)
    if how not in ("", "constant") and isinstance(value, int | float) and value != 0:
        raise Mismatch(f"mode={how!r} takes no value, but value is {value}", got=value)
    if how == "replicate" and input.dtype == BOOL:
        raise Mismatch("mode='replicate' can't pad Bool", kind="dtype", hint="input.float()", got=BOOL)
    sizes = input.shape.last(len(pairs)) if input.shape.min_rank >= len(pairs) else _last(input.shape, len(pairs))
    out: list[Item] = [_padded(size, *pair, how) for size, pair in zip(sizes, pairs, strict=True)]
    return TensorType(Shape((*input.shape.drop_last(len(pairs)).items, *out)), input.dtype)


def _last(shape: Shape, count: int) -> tuple[Dim, ...]:
    """The last dims where the rank isn't known to be large enough."""
    return tuple(as_dim(ANYTHING) if -i > len(shape.tail) else shape.dim(i) for i in range(-count, 0))


@rule("torch.constant_pad_nd")
def constant_pad_nd(input: TensorType, pad: Value, value: Value = 0) -> TensorType:
    """``(*, n) -> (*, left + n + right)``, the last dim first"""
    return _constant(input, pad)


def _constant(input: TensorType, amounts: Value) -> TensorType:
    return pad(input, amounts)


@record
class _Pad(ModuleRule):
    spatial_dims: ClassVar[int]
    mode: ClassVar[str]

    padding: Value

    def forward(self, input: TensorType) -> TensorType:
        amounts = self.padding
        if not isinstance(amounts, tuple):
            amounts = (as_dim(amounts),) * (2 * self.spatial_dims)
        if self.mode == "circular":
            _check_rank(input.shape, self.spatial_dims, "circular")
        return pad(input, amounts, self.mode)


@module("torch.nn.ConstantPad1d")
@record
class ConstantPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "constant"


@module("torch.nn.ConstantPad2d")
@record
class ConstantPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "constant"


@module("torch.nn.ConstantPad3d")
@record
class ConstantPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "constant"


@module("torch.nn.ZeroPad1d")
@record
class ZeroPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "constant"


@module("torch.nn.ZeroPad2d")
@record
class ZeroPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "constant"


@module("torch.nn.ZeroPad3d")
@record
class ZeroPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "constant"


@module("torch.nn.ReflectionPad1d")
@record
class ReflectionPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "reflect"


@module("torch.nn.ReflectionPad2d")
@record
class ReflectionPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "reflect"


@module("torch.nn.ReflectionPad3d")
@record
class ReflectionPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "reflect"


@module("torch.nn.ReplicationPad1d")
@record
class ReplicationPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "replicate"


@module("torch.nn.ReplicationPad2d")
@record
class ReplicationPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "replicate"


@module("torch.nn.ReplicationPad3d")
@record
class ReplicationPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "replicate"


@module("torch.nn.CircularPad1d")
@record
class CircularPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "circular"


@module("torch.nn.CircularPad2d")
@record
class CircularPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "circular"


@module("torch.nn.CircularPad3d")
@record
class CircularPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "circular"


__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "constant_pad_nd",
    "pad",
]
