"""How many processes talk to each other, and the conditions of what they send: what is surely refused by every backend.

Backends differ: gloo compares shapes, NCCL numbers of elements. A condition here is one that both have.
"""

from __future__ import annotations

from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import Group, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape, equal

__all__ = ["need_count", "need_divisible_by", "need_some_fit", "need_times", "need_transfer_dtype", "world_size"]


def world_size(group: Value) -> Dim:
    """How many processes a group has: UNKNOWN where the argument doesn't say."""
    return group.size if isinstance(group, Group) else UNKNOWN


def need_transfer_dtype(left: str, a: TensorType, right: str, b: TensorType) -> None:
    """Refuse two dtypes: processes receive the dtype that is sent."""
    if a.dtype is None or b.dtype is None or not a.dtype.is_concrete or not b.dtype.is_concrete or a.dtype == b.dtype:
        return
    raise Mismatch(
        f"{left} is {a.dtype}, but {right} is {b.dtype}; processes send and receive one dtype",
        kind="dtype",
        hint=f"make {left} with dtype={right}.dtype",
        expected=b.dtype,
        got=a.dtype,
    )


def need_times(large: str, whole: Shape, small: str, part: Shape, world: Dim) -> None:
    """One tensor has the elements of the other as often as there are processes."""
    have, each = whole.numel(), part.numel()
    wanted = each * world
    if isinstance(have, int) and isinstance(each, int) and each and have % each:
        raise Mismatch(
            f"{large} has {have} elements, which is no multiple of the {each} of {small}; it must have "
            "them once for each process",
            expected=each,
            got=have,
        )
    if equal(have, wanted) is False:
        many = f"each of {world} processes" if isinstance(world, int) else "each process"
        raise Mismatch(
            f"{large} has {have} elements, but it must have {wanted}: the {each} of {small} {part} from {many}",
            expected=wanted,
            got=have,
        )


def need_count(name: str, count: int, world: Dim) -> None:
    """A list has one entry for each process."""
    if equal(count, world) is False:
        entries = "entry" if count == 1 else "entries"
        raise Mismatch(
            f"{name} has {count} {entries}, but there are {world} processes; it must have one for each",
            expected=world,
            got=count,
        )


def need_some_fit(name: str, entries: tuple[TensorType, ...], own: str, tensor: TensorType) -> None:
    """At least the entry for this process has as many elements as its tensor, and all have its dtype."""
    for i, entry in enumerate(entries):
        need_transfer_dtype(f"{name}[{i}]", entry, own, tensor)
    if entries and all(equal(e.shape.numel(), tensor.shape.numel()) is False for e in entries):
        raise Mismatch(
            f"{own} is {tensor.shape}, but {name}[0] is {entries[0].shape}; what is sent and received must be equally "
            "large",
            expected=tensor.shape,
            got=entries[0].shape,
        )


def need_divisible_by(what: str, size: Dim, world: Dim) -> None:
    """Each process gets an equal part."""
    if isinstance(size, int) and isinstance(world, int) and world and size % world:
        raise Mismatch(
            f"{what} is {size}, which {world} processes can't share equally",
            hint=f"pad it to {size + world - size % world}",
            expected=world,
            got=size,
        )
