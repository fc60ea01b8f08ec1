"""Autocast: which operands of an operation torch casts under ``with torch.autocast(...)``, and to what.

torch has four policies, by operation and type of device: cast to the lower precision, to float32, to the widest
operand, or not at all. Which operation has which is in ``autocast_table.py``, found out by asking torch.

Source: https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, final

from simpletorch.rules.core.autocast_table import TABLE
from simpletorch.rules.core.dtype import BFLOAT16, FLOAT16, FLOAT32, DType
from simpletorch.rules.core.values import Many, Named, TensorType, Value

__all__ = ["Autocast", "Policy", "any_float", "cast"]

Policy: TypeAlias = Literal["lower", "float32", "widest", "none", "unknown"]

_DEFAULTS: Final = {"cuda": FLOAT16, "cpu": BFLOAT16}


@final
@dataclass(frozen=True, slots=True)
class Autocast:
    """An autocast that is in force.

    Args:
        device: the type of device it was made for, None if that isn't known.
        dtype: what it casts to, None if that isn't known.
        certain: whether it is known to be in force.
    """

    device: str | None = None
    dtype: DType | None = None
    certain: bool = True

    def policy(self, name: str) -> Policy:
        """The policy for the operands of ``name``, as far as it is known."""
        found = _policy(name, self.device)
        return found if self.certain or found == "none" else "unknown"

    @classmethod
    def of(cls, device: str | None, dtype: DType | None) -> Autocast:
        """With torch's own dtype for the device where none is given."""
        return cls(device, _DEFAULTS.get(device or "") if dtype is None else dtype)


def _policy(name: str, device: str | None) -> Policy:
    """The cast of the operands of ``name`` on a type of device; "unknown" too if devices differ in it."""
    if device not in TABLE:
        found = {_policy(name, each) for each in TABLE} if device is None else set()
        return found.pop() if len(found) == 1 else "unknown"
    return next((p for p, names in TABLE[device].items() if name in names), "none")


def cast(
    autocast: Autocast, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The operands of ``name`` as torch has them after autocast."""
    match autocast.policy(name):
        case "none":
            return args, kwargs
        case "lower":
            change = _to(autocast, autocast.dtype)
        case "float32":
            change = _to(autocast, FLOAT32)
        case "widest":
            change = _to(autocast, _widest((*args, *kwargs.values())))
        case _:
            change = _unknown
    return [_changed(a, change) for a in args], {k: _changed(v, change) for k, v in kwargs.items()}


def any_float(value: Any) -> Any:
    """The value with its float dtypes forgotten."""
    return _changed(value, _unknown)


def _unknown(tensor: TensorType) -> TensorType:
    floats = tensor.dtype is not None and tensor.dtype.category == "float"
    return replace(tensor, dtype=None) if floats else tensor


def _to(autocast: Autocast, dtype: DType | None) -> Callable[[TensorType], TensorType]:
    """Casts what autocast casts: floats on its device but float64; of ``float32``, only what is less precise."""

    def one(tensor: TensorType) -> TensorType:
        own = tensor.dtype
        if own is None or own.category != "float" or own.name == "Float64":
            return tensor
        if None not in (tensor.device, autocast.device) and tensor.device.type != autocast.device:  # type: ignore[union-attr]
            return tensor
        if not own.is_concrete:
            return replace(tensor, dtype=None)  # it may be float64
        return replace(tensor, dtype=dtype)

    return one


def _widest(values: Sequence[Value]) -> DType | None:
    """Float32 if an operand is, else the lower precision that all have; None if that isn't known."""
    floats = [t.dtype for t in _tensors(values) if t.dtype is None or t.dtype.category == "float"]
    if FLOAT32 in floats:
        return FLOAT32
    return floats[0] if floats and len(set(floats)) == 1 else None


def _tensors(values: Sequence[Any]) -> list[TensorType]:
    found: list[TensorType] = []
    for value in values:
        if isinstance(value, TensorType):
            found.append(value)
        elif isinstance(value, tuple):
            found += _tensors(value)
    return found


def _changed(value: Any, change: Callable[[TensorType], TensorType]) -> Any:
    if isinstance(value, TensorType):
        return change(value)
    if isinstance(value, Many):
        return Many(change(value.item))
    if isinstance(value, Named):
        return Named(value.type_name, tuple((k, _changed(v, change)) for k, v in value.fields))
    if isinstance(value, tuple):
        return type(value)(_changed(v, change) for v in value)
    return value
