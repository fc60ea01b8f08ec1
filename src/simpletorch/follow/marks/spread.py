"""Which tensors are spread over a mesh of processes (``DTensor``), and which surely aren't: torch doesn't mix the two.

None is "not known": the parameters of a module may be either, after `fully_shard`. What the program makes itself with
`torch.randn` and its like is plain, and so is what `full_tensor` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from simpletorch.follow.marks.mark import Call, Mark
from simpletorch.follow.numbers.sizes import MAKERS
from simpletorch.follow.values import Tensor, Value, tensors_in
from simpletorch.rules import Report
from simpletorch.shapes import UNKNOWN, Dim, Shape, at_least

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["MIXES", "PLAIN", "SPREAD", "Spread", "check", "global_shape", "local_shape", "plain"]


class Spread(NamedTuple):
    """Over how many processes along each dim of the mesh, and which dim of the tensor each of these cuts.

    A placement is the number of a dim, None where it isn't cut; the whole is None where it isn't known.
    """

    sizes: tuple[Dim, ...] | None
    cuts: tuple[int | None, ...] | None


PLAIN: Final = Spread((), ())
"""Of a tensor that is no `DTensor`."""
MIXES: Final = "mixes DTensors with others"
"""In `Interpreter.modes`: the program asks torch to take plain tensors for replicated ones."""
_NAMES: Final = frozenset(
    [
        *(f"Tensor.__{r}{name}__" for r in ("", "r", "i") for name in ("add", "sub", "mul", "truediv", "matmul")),
        *(f"{owner}.{name}" for owner in ("torch", "Tensor") for name in ("add", "sub", "mul", "div", "matmul", "mm")),
        *(f"torch.{name}" for name in ("cat", "stack", "where")),
        "torch.nn.functional.linear",
    ]
)


@final
class _Spread(Mark[Spread]):
    def same(self, a: Tensor, b: Tensor) -> bool:
        return True

    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[Spread | None]:
        """Results of tensors over a mesh are spread too, and results of plain ones are plain."""
        if call.name in MAKERS:
            return (PLAIN,) * len(made)
        if not run.spreads:
            return super().of_operation(run, call, made)
        found = [self.of(t) for t in tensors_in((*call.args, *call.kwargs.values()))]
        over = next((s for s in found if s is not None and s is not PLAIN), None)
        if over is not None:
            return (Spread(over.sizes, None),) * len(made)
        return (PLAIN if found and all(s is PLAIN for s in found) else None,) * len(made)


SPREAD: Final = _Spread("spread")


def plain(value: Value) -> Value:
    """What holds the part of this process, or the whole, and is no `DTensor` any more."""
    if type(value) is Tensor:
        SPREAD.put(value, PLAIN)
    return value


def check(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """An operation of one over a mesh and of a plain one that has several elements is refused."""
    if name not in _NAMES or run.modes.get(MIXES):
        return
    found = list(tensors_in((*args, *kwargs.values())))
    over = next((t for t in found if SPREAD.of(t) not in (None, PLAIN)), None)
    other = next((t for t in found if SPREAD.of(t) is PLAIN and at_least(t.type.shape.numel(), 2) is True), None)
    if over is None or other is None:
        return
    reason = f"{over.type} is a DTensor, spread over a mesh, but {other.type} is a plain tensor; torch doesn't mix them"
    hint = "distribute_tensor(x, mesh, placements) makes a DTensor of it, .full_tensor() a plain one"
    run.report(Report(name.rpartition(".")[2].strip("_"), "device", reason, {}, hint))


# -- shapes ------------------------------------------------------------------------------------------------------------


def global_shape(local: Shape, spread: Spread) -> Shape:
    """The shape of the whole, of equal parts."""
    return _scaled(local, spread, lambda size, count: size * count)


def local_shape(whole: Shape, spread: Spread) -> Shape:
    """The shape of the part of one process: a size that isn't cut evenly differs between processes."""

    def cut(size: Dim, count: Dim) -> Dim:
        even = isinstance(size, int) and isinstance(count, int) and count > 0 and size % count == 0
        return size // count if even else UNKNOWN

    return _scaled(whole, spread, cut)


def _scaled(shape: Shape, spread: Spread, change: Callable[[Dim, Dim], Dim]) -> Shape:
    if not shape.is_exact:
        return shape
    if spread.sizes is None or spread.cuts is None:
        return Shape((UNKNOWN,) * len(shape.items))
    dims = list(shape.dims)
    for size, cut in zip(spread.sizes, spread.cuts, strict=False):
        if cut is not None and -len(dims) <= cut < len(dims):
            dims[cut] = change(dims[cut], size)
    return Shape(tuple(dims))
