"""What torch says of a call, in the rules' own values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import torch
import torch.distributed._functional_collectives
import torch.distributed.nn.functional
import torch.nn.functional
import torch.signal
from torch.nn.attention import SDPBackend, sdpa_kernel

from simpletorch.rules import ANYTHING, Device, Named, TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.shapes import Shape


def lift(value: object) -> Any:
    """The rules' view of a Python value: tensors by shape and dtype, containers item by item."""
    match value:
        case torch.Tensor():
            return TensorType(Shape(tuple(value.shape)), lift_dtype(value.dtype))
        case torch.dtype():
            return lift_dtype(value) or ANYTHING
        case torch.device():
            return Device(value.type, value.index)
        case torch.Size():
            return tuple(value)
        case tuple() if hasattr(value, "n_sequence_fields"):  # torch.return_types.*
            names = type(value).__match_args__
            return Named(type(value).__name__, tuple(zip(names, map(lift, value), strict=True)))
        case tuple() if hasattr(value, "_fields"):
            return Named(type(value).__name__, tuple(zip(value._fields, map(lift, value), strict=True)))
        case list() | tuple():
            return tuple(lift(v) for v in value)
        case None | bool() | int() | float() | complex() | str() | slice():
            return value
        case _ if value is Ellipsis:
            return value
        case _:
            return ANYTHING


def lift_dtype(dtype: torch.dtype) -> DType | None:
    """The rules' dtype, None for one they don't have."""
    return BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))


def show(value: object) -> str:
    """A value as short as a reader can still understand it: ``f32[2, 3]`` for a tensor."""
    match value:
        case torch.Tensor():
            name = str(value.dtype).removeprefix("torch.")
            return f"{name}{list(value.shape)}"
        case list():
            return f"[{', '.join(map(show, value))}]"
        case tuple():
            return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
        case _:
            return repr(value)


@cache
def resolve(name: str) -> Callable[..., Any]:
    """The real thing behind a public name: ``"torch.cat"``, ``"Tensor.view"``, ``"Tensor.T"``, ``"einops.rearrange"``.

    Raises:
        AttributeError: there is nothing of that name.
    """
    head, _, rest = name.partition(".")
    if head == "Tensor":
        found: Any = torch.Tensor
    elif head == "torch":
        found = torch
    else:
        found = import_module(head)
        if ".layers." in name:
            found, rest = import_module(name.rpartition(".")[0]), name.rpartition(".")[2]
    for part in rest.split("."):
        found = getattr(found, part)
    if not callable(found):
        return lambda self: found.__get__(self)  # a property
    return found


def tree_map(function: Callable[[torch.Tensor], Any], value: Any) -> Any:
    """``value`` with ``function`` applied to every tensor in it."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)([tree_map(function, v) for v in value])
    if isinstance(value, dict):
        return {k: tree_map(function, v) for k, v in value.items()}
    return value


def tensors_in(*values: Any) -> list[torch.Tensor]:
    """Every tensor in the arguments, from left to right."""
    found: list[torch.Tensor] = []
    for v in values:
        tree_map(found.append, v)
    return found


NOT_HERE = re.compile(
    r"not implemented for|not supported on CPU|not yet supported|could not run|no kernel|only supported on|"
    r"meta tensor|data-dependent|unsupported|not available|mkldnn|not compiled with|requires LAPACK",
    re.IGNORECASE,
)


# kernels that trust their operands so far that a wrong size corrupts memory
UNCHECKED = re.compile(r"\.(lu_unpack|lu_unpack_)$")


def run(name: str, args: Any, kwargs: Any, device: str) -> object:
    if UNCHECKED.search(name):
        device = "meta"

    def fresh(t: torch.Tensor) -> torch.Tensor:
        return t.clone() if device == "cpu" else torch.empty_like(t, device="meta")

    # a fixed seed: what random operations draw must not change a verdict
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            if name.endswith("scaled_dot_product_attention"):
                # the fused kernel reads past operands of wrong sizes, which plain products refuse
                with sdpa_kernel(SDPBackend.MATH):
                    resolve(name)(*tree_map(fresh, args), **tree_map(fresh, kwargs))
            return resolve(name)(*tree_map(fresh, args), **tree_map(fresh, kwargs))
        except Exception as e:
            return e


def run_torch(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> object:
    """What torch says: the lifted result, or the exception it raises.

    The call is run for real, because sizes are small and only the real kernels refuse all that torch refuses; on
    ``meta`` instead where this machine's kernels lack the dtype, which says nothing about shapes.
    """
    found = run(name, tuple(args), dict(kwargs or {}), "cpu")
    if lacks_kernel(found):
        on_meta = run(name, tuple(args), dict(kwargs or {}), "meta")
        found = found if isinstance(on_meta, Exception) else on_meta
    return found if isinstance(found, Exception) else lift(found)


def lacks_kernel(found: object) -> bool:
    return isinstance(found, NotImplementedError) or (
        isinstance(found, Exception) and bool(NOT_HERE.search(str(found)))
    )


def exists(name: str) -> bool:
    try:
        resolve(name)
    except (AttributeError, ImportError):
        return False
    return True
