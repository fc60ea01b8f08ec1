"""``simpletorch.distributed``: processes that a program launches, and pipelines of layers on several of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.libraries import by_name, library_class, native
from simpletorch.follow.libraries.pytorch.torch_meshes import initialized
from simpletorch.follow.numbers import processes
from simpletorch.follow.values import Class, Instance, List, Tensor, Unknown, Value
from simpletorch.rules import Report
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_OURS: Final = "simpletorch.distributed"
_FEW: Final = 64


@native(f"{_OURS}.launch")
def _launch(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What the function gives in each process: it is followed once, as any of them."""
    count = run.resolve(kwargs.get("processes", 2))
    function = args[0] if args else kwargs.get("function")
    with processes.as_process(run, run.some_size(0, count - 1) if isinstance(count, int) and count > 1 else None):
        processes.say(run, count, None)
        initialized(run)
        made = run.resolve(run.call(function, args[1:]))
    if not isinstance(count, int) or not 1 <= count <= _FEW:
        return run.unknown("what processes give")
    return List(tuple(_of_one(run, made) for _ in range(count)))


def _of_one(run: Interpreter, made: Value) -> Value:
    """What one process gives, if that doesn't depend on which it is: a copy, as it was sent here."""
    if made is None or isinstance(made, bool | int | float | str):
        return made
    if isinstance(made, Tensor) and made.type.shape.is_exact and all(isinstance(d, int) for d in made.type.shape.dims):
        return run.ask("Tensor.clone", (made,))
    return run.unknown("what a process gives", made.type if isinstance(made, Unknown) else None, "data")


# -- pipelines ---------------------------------------------------------------------------------------------------------


def _make_pipeline(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("layers loss", args, kwargs)
    made = Instance(cls, (run.resolve(given.get("layers")), given.get("loss"), run.resolve(given.get("parts"))))
    made.cells["stage"] = run.unknown("the layers of this process")
    for name in ("first", "number", "stages"):
        made.cells[name] = run.unknown("which stage a process has", "int", "data")
    return made


def _step(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The mean loss of the parts of a batch, which go through all layers."""
    pipeline, *given = args
    layers, loss, parts = pipeline.native
    batch = by_name("inputs targets", tuple(given), kwargs)
    x, y = run.resolve(batch.get("inputs")), run.resolve(batch.get("targets"))
    if not isinstance(x, Tensor) or not isinstance(y, Tensor) or not isinstance(parts, int) or parts < 1:
        return run.unknown("the loss of a pipeline")
    if (refused := _uneven(x, parts)) is not None:
        return run.report(refused)
    found = run.items(layers) if isinstance(layers, List | tuple) else (layers,)
    made: Value = _part(run, x, parts)
    for layer in found or ():
        made = run.call(layer, (made,))
    made = run.resolve(run.call(loss, (made, _part(run, y, parts)))) if found else None
    return run.ask("Tensor.detach", (made,)) if isinstance(made, Tensor) else run.unknown("the loss of a pipeline")


def _uneven(x: Tensor, parts: int) -> Report | None:
    shape = x.type.shape
    size = shape.dims[0] if shape.is_exact and shape.dims else None
    if not isinstance(size, int) or size % parts == 0:
        return None
    reason = f"a batch of {size} can't be cut into {parts} equal parts"
    return Report("Pipeline.step", "shape", reason, {"inputs": x.type}, None, parts, size)


def _part(run: Interpreter, x: Tensor, parts: int) -> Value:
    shape = x.type.shape
    if not shape.is_exact or not shape.dims or parts == 1:
        return x
    made, size = run.ask("Tensor.clone", (x,)), shape.dims[0]
    if isinstance(made, Tensor):
        part = size // parts if isinstance(size, int) and size % parts == 0 else UNKNOWN
        made.cells["type"] = replace(made.type, shape=Shape((part, *shape.dims[1:])))
    return made


library_class(f"{_OURS}.Pipeline", methods={"step": _step}, make=_make_pipeline)
