"""``parallelize_module``: layers whose weights are divided over a mesh, and the part of the result that a process has.

Followed are plans of nothing but `ColwiseParallel` and `RowwiseParallel`, which take and give plain tensors. Of other
styles, and of a `DTensor` that comes in, it isn't known what a part gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simpletorch.follow import layers
from simpletorch.follow.calls import escape
from simpletorch.follow.libraries import by_name, library_class, native
from simpletorch.follow.libraries.pytorch.torch_meshes import mesh_of
from simpletorch.follow.marks import spread
from simpletorch.follow.marks.spread import PLAIN, Spread
from simpletorch.follow.values import MISSING, Class, Dict, Instance, Native, Tensor, Value
from simpletorch.shapes import Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_TENSOR: Final = "torch.distributed.tensor"
_PARALLEL: Final = f"{_TENSOR}.parallel"
_DIVIDED: Final = ("torch.nn.Linear", "torch.nn.Embedding")


class Style(NamedTuple):
    """Which dim of its argument, and of its result, each process has a part of; None is none."""

    given: int | None
    made: int | None


def _make_style(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    """Torch's defaults, unless the program says other layouts that are known; None otherwise."""
    default = Style(None, -1) if cls.name == "ColwiseParallel" else Style(-1, None)
    cuts = [
        _cut(run.resolve(kwargs[name])) if kwargs.get(name) is not None else of_default
        for name, of_default in (("input_layouts", default.given), ("output_layouts", default.made))
    ]
    plain = run.resolve(kwargs.get("use_local_output", True)) is True
    return Instance(cls, Style(*cuts) if plain and not args and MISSING not in cuts else None)


def _cut(placement: Value) -> Value:
    known = isinstance(placement, Instance) and placement.cls.module == _TENSOR
    if known and placement.cls.name == "Replicate":
        return None
    return placement.native if known and isinstance(placement.native, int) else MISSING


for _name in ("ColwiseParallel", "RowwiseParallel"):
    library_class(f"{_PARALLEL}.{_name}", make=_make_style)


@native(f"{_PARALLEL}.parallelize_module")
def _parallelize(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same module, whose parts that the plan names take and give the parts of this process."""
    given = by_name("module device_mesh parallelize_plan", args, kwargs)
    module, plan = run.resolve(given.get("module")), run.resolve(given.get("parallelize_plan"))
    plans = {"": plan} if not isinstance(plan, Dict) else None if plan.rest is not MISSING else dict(plan.cells)
    if plans is None or not isinstance(module, Instance) or not all(isinstance(path, str) for path in plans):
        escape(run, (module,))
        return module
    styles = {path: run.resolve(style) for path, style in plans.items()}
    known = all(isinstance(style, Instance) and isinstance(style.native, Style) for style in styles.values())
    mesh = mesh_of(run.resolve(given.get("device_mesh")))
    for path, style in styles.items():
        found = list(_parts(run, module, path))
        if not found:
            escape(run, (module,))
        for part in found:
            able = known and any(map(part.cls.is_a, _DIVIDED)) and part.state.get("around") is None
            if able and mesh is not None and len(mesh.sizes) == 1:
                run.heap.write(part.state, "around", _around(mesh.sizes[0], style.native))
            else:
                run.heap.write(part.state, "hooked", True)
    return module


def _parts(run: Interpreter, module: Instance, path: str) -> Iterator[Instance]:
    """The modules at a path such as ``"layers.*.attention.wq"``; none where that isn't known."""
    first, _, rest = path.partition(".")
    if not first:
        yield module
        return
    for name, child in layers.children(run, module):
        if fnmatchcase(name, first):
            yield from _parts(run, child, rest)


def _around(size: Dim, style: Style) -> Native:
    """What is called in place of the layer: with it, and with what it is called with."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        module, *given = args
        x = run.resolve(given[0]) if len(given) == 1 and not kwargs else None
        if not isinstance(x, Tensor) or x.marks.spread not in (None, PLAIN):
            return run.unknown("what a divided layer gives")
        whole = _changed(run, x, spread.global_shape(x.type.shape, Spread((size,), (style.given,))))
        made = run.resolve(layers.call(run, module, (whole,), {}))
        if not isinstance(made, Tensor):
            return made
        return _changed(run, made, spread.local_shape(made.type.shape, Spread((size,), (style.made,))))

    return Native(f"{_PARALLEL}.layer", work)


def _changed(run: Interpreter, tensor: Tensor, shape: Shape) -> Value:
    """The same tensor, of which a process has more or less."""
    if shape == tensor.type.shape:
        return tensor
    made = run.ask("Tensor.clone", (tensor,))
    if isinstance(made, Tensor):
        made.cells["type"] = replace(made.type, shape=shape)
    return made
