"""Shapes that broadcast: the common one, and operands that may not make it larger."""

from __future__ import annotations

from collections.abc import Iterator

from simpletorch.rules.common.conditions import differ, unequal
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import BroadcastError, Shape, broadcast, equal, same

__all__ = ["broadcast_shapes", "common_shape", "need_expandable"]


def broadcast_shapes(*operands: tuple[str, Shape]) -> Shape:
    """The common shape of named operands.

    Raises:
        Mismatch: two of them can't be broadcast; the reason names them, the dim and both sizes.
    """
    (first, out), *others = operands
    for name, shape in others:
        try:
            out = broadcast(out, shape)
        except BroadcastError as e:
            numbers = isinstance(e.left, int) and isinstance(e.right, int)
            why = differ(e.left, e.right) + (" and neither is 1" if numbers else "")
            raise Mismatch(
                f"{first} {out} and {name} {shape} can't be broadcast: {why} at dim {e.index}",
                hint=_unsqueezed(first, out, name, shape),
                expected=e.left,
                got=e.right,
            ) from None
    return out


def _unsqueezed(left: str, a: Shape, right: str, b: Shape) -> Iterator[str]:
    """The usual causes: one side lacks a dim of the other, which isn't the first, or its dims are turned round."""
    for name, short, long in ((right, b, a), (left, a, b)):
        if not name.isidentifier() or not short.rank or not long.is_exact or short.rank is None or long.rank is None:
            continue
        if same(short, Shape(long.items[:-1])) is True:
            yield f"{name}.unsqueeze(-1) would fit"
        for at in range(1, long.rank - 1) if short.rank == long.rank - 1 else ():
            if same(short, Shape((*long.items[:at], *long.items[at + 1 :]))) is True:
                yield f"{name}.unsqueeze({at}) would fit"
    if right.isidentifier() and a.rank == b.rank == 2 and same(a, Shape(b.items[::-1])) is True:
        yield f"{right}.T has the shape of {left}"


def common_shape(**operands: Value) -> Shape:
    """The shape that the tensors among the named operands broadcast to.

    Raises:
        Mismatch: they don't.
        CannotTell: there is no tensor.
    """
    tensors = [(name, v.shape) for name, v in operands.items() if isinstance(v, TensorType)]
    if not tensors:
        raise CannotTell
    return broadcast_shapes(*tensors)


def need_expandable(name: str, shape: Shape, target: Shape, what: str) -> None:
    """``shape`` must broadcast to ``target`` (called ``what``) without enlarging it."""
    if target.is_exact and shape.min_rank > target.min_rank:
        raise Mismatch(f"{name} {shape} has more dims than {what} {target}", expected=target, got=shape)
    for index, (own, wanted) in enumerate(zip(reversed(shape.tail), reversed(target.tail), strict=False), 1):
        if own != 1 and equal(own, wanted) is False and equal(own, 1) is not True:
            raise Mismatch(
                f"{name} {shape} can't be expanded to {what} {target}: {own} is not {wanted} at dim {-index}"
                + unequal(own, wanted),
                expected=wanted,
                got=own,
            )
