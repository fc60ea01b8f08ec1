"""Padding: constant, by reflection, by replication, circular."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_min_rank, need_one_of
from simpletorch.rules.common.positions import of, unknown_dims
from simpletorch.rules.core.dtype import BOOL
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Dim, at_least, minimum

_MODES: Final[Mapping[str, str]] = MappingProxyType(
    {"constant": "", "reflect": "reflected", "replicate": "replicated", "circular": "wrapped around"}
)


def _need_side(size: Dim, amount: Dim, mode: str) -> None:
    """Reflection needs a dim larger than the padding, wrapping around one at least as large."""
    needed = amount + 1 if mode == "reflect" else amount
    if mode in ("reflect", "circular") and at_least(size, needed) is False:
        raise Mismatch(f"{amount} entries can't be {_MODES[mode]} from a dim of size {size}", expected=needed, got=size)


def _padded(size: Dim, left: Dim, right: Dim, mode: str) -> Dim:
    """``left + size + right``, checked; negative padding cuts."""
    out = left + size + right
    least = 0 if mode in ("", "constant", "circular") else 1
    # torch cuts before it adds, so what one side cuts off the other can't make up for
    shrunk = minimum(left, 0) + size + minimum(right, 0) if mode == "constant" else out
    if at_least(shrunk, least) is False:
        raise Mismatch(f"cutting {left} and {right} from a dim of size {size} leaves nothing", got=size)
    _need_side(size, left, mode)
    _need_side(size, right, mode)
    return out


def _pairs(pad: tuple[Value, ...]) -> list[tuple[Dim, Dim]]:
    """The (left, right) amounts from the first padded dim to the last; torch lists them from the last."""
    if len(pad) % 2:
        raise Mismatch(f"pad has {len(pad)} entries, but it must have two for each padded dim", got=len(pad))
    amounts = [as_dim(v) for v in pad]
    return [(amounts[i], amounts[i + 1]) for i in range(len(pad) - 2, -1, -2)]


def need_padded_dims(input: TensorType, count: int, mode: str) -> None:
    """A constant pads any number of dims that there are; the other modes all dims but the first one or two."""
    need_min_rank("input", input, count)
    rank = input.shape.rank
    if mode not in ("", "constant") and (count not in (1, 2, 3) or rank not in (None, count + 1, count + 2)):
        found = "" if rank is None else f" of an input with {rank} dims"
        raise Mismatch(
            f"mode={mode!r} can't pad {count} dims{found}; it pads the last 1, 2 or 3 of an input that has"
            " one or two dims more",
            got=count,
        )


def pad_by_mode(input: TensorType, amounts: Value, mode: Value = "constant", value: Value = None) -> TensorType:
    """``(*, n) -> (*, left + n + right)``, the last dim first"""
    if not isinstance(amounts, tuple):
        return TensorType(unknown_dims(input.shape), input.dtype)
    need_one_of("mode", mode, *_MODES)
    how = mode if isinstance(mode, str) else ""
    pairs = _pairs(amounts)
    need_padded_dims(input, len(pairs), how)
    if how not in ("", "constant") and isinstance(value, int | float) and value != 0:
        raise Mismatch(f"mode={how!r} takes no value, but value is {value}", got=value)
    if how == "replicate" and input.dtype == BOOL:
        raise Mismatch("mode='replicate' can't pad Bool", kind="dtype", hint="input.float()", got=BOOL)
    sizes = input.shape.last(len(pairs))
    padded = (_padded(size, *pair, how) for size, pair in zip(sizes, pairs, strict=True))
    return TensorType(of(input.shape.drop_last(len(pairs)), *padded), input.dtype)


@rule("torch.nn.functional.pad")
def pad(input: TensorType, pad: Value, mode: Value = "constant", value: Value = None) -> TensorType:
    """``(*, n) -> (*, left + n + right)``, the last dim first"""
    return pad_by_mode(input, pad, mode, value)


@rule("torch.constant_pad_nd")
def constant_pad_nd(input: TensorType, pad: Value, value: Value = 0) -> TensorType:
    """``(*, n) -> (*, left + n + right)``, the last dim first"""
    return pad_by_mode(input, pad)


__all__ = ["constant_pad_nd", "need_padded_dims", "pad", "pad_by_mode"]
