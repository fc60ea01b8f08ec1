"""``jax``: an array that comes from a tensor over DLPack has its shape, and goes back with it. All else is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import CLASSES, native
from simpletorch.follow.values import Class, Instance, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import UNKNOWN

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["as_tensor", "of_tensor"]

ARRAY: Final = "jax.Array"
_HELD: Final = "array"  # in an array's state: the tensor in whose memory it lies


def _array_class(find: Callable[[str], Class]) -> Class:
    made = Class("Array", (find("builtins.object"),), {}, "jax")
    made.unknown_base = Unknown("an array of JAX")
    return made


CLASSES[ARRAY] = _array_class


def of_tensor(run: Interpreter, value: Value) -> Value:
    """``jnp.from_dlpack(x)``: an array with the tensor's shape."""
    value = run.resolve(value)
    if isinstance(value, Instance) and value.cls.is_a(ARRAY):
        return value
    if not isinstance(value, Tensor):
        return run.unknown("an array of JAX")
    dtype = value.type.dtype
    # whether JAX keeps 64 bits is a setting
    held = TensorType(value.type.shape, None if dtype is None or _is_narrowed(dtype) else dtype)
    made = Instance(run.program.library_class(ARRAY))
    run.heap.write(made.state, _HELD, held)
    dims = value.type.shape.dims if value.type.shape.rank is not None else None
    if dims is not None:
        sizes = tuple(run.unknown("a size", "int", "data") if d is UNKNOWN else d for d in dims)
        run.heap.write(made.cells, "shape", sizes)
        run.heap.write(made.cells, "ndim", len(dims))
    return made


def _is_narrowed(dtype: DType) -> bool:
    return dtype.bits == (128 if dtype.category == "complex" else 64)


def as_tensor(value: Value) -> Tensor | None:
    """The tensor over an array of JAX; None for anything else."""
    held = value.state.get(_HELD) if isinstance(value, Instance) and value.cls.is_a(ARRAY) else None
    return Tensor(held) if isinstance(held, TensorType) else None


@native("jax.numpy.from_dlpack", "jax.dlpack.from_dlpack")
def _from_dlpack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0] if args else kwargs.get("x"), lambda v: of_tensor(run, v))
