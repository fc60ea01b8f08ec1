"""``jax``: arrays that come from tensors over DLPack, or are made of sizes, have their shape and go back with it.

All else is unknown, so what is computed of them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import Work, library_class, native
from simpletorch.follow.libraries.arrays import argument, as_array, as_dtype, shape_of
from simpletorch.follow.values import Instance, Tensor, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["as_tensor", "of_tensor"]

ARRAY: Final = "jax.Array"
_HELD: Final = "array"  # in an array's state: the tensor in whose memory it lies


library_class(ARRAY, unknown="an array of JAX")


def of_tensor(run: Interpreter, value: Value) -> Value:
    """``jnp.from_dlpack(x)``: an array with the tensor's shape."""
    value = run.resolve(value)
    if isinstance(value, Instance) and value.cls.is_a(ARRAY):
        return value
    if not isinstance(value, Tensor):
        return run.unknown("an array of JAX")
    return _made(run, value.type.shape, value.type.dtype)


def _made(run: Interpreter, shape: Shape, dtype: DType | None) -> Instance:
    # whether JAX keeps 64 bits is a setting
    held = TensorType(shape, None if dtype is None or _is_narrowed(dtype) else dtype)
    made = Instance(run.program.library_class(ARRAY))
    run.heap.write(made.state, _HELD, held)
    dims = shape.dims if shape.rank is not None else None
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


def _filled(place: int) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        # without one it is float32, or float64 by the same setting; that of `full` is the value's
        dtype = as_dtype(argument(run, args, kwargs, place, "dtype"))
        return _made(run, shape_of(run, argument(run, args, kwargs, 0, "shape")), dtype)

    return work


for _name in ("zeros", "ones", "empty"):
    native(f"jax.numpy.{_name}")(_filled(1))
native("jax.numpy.full")(_filled(2))


@native("jax.numpy.array", "jax.numpy.asarray")
def _make_array(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def one(value: Value) -> Value:
        given = (as_tensor(value) or as_array(run, value)).type
        return _made(run, given.shape, as_dtype(argument(run, args, kwargs, 1, "dtype"), given.dtype))

    return run.each(args[0] if args else next((kwargs[n] for n in ("object", "a") if n in kwargs), None), one)
