"""Why memory can't be shared: the common part of `from_numpy` and its like."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import torch

from simpletorch.errors import DeviceMismatch, DTypeMismatch, TorchError, TypeMismatch, as_also

__all__ = [
    "BY_BITS",
    "REFUSALS",
    "explain_tensor",
    "first_line",
    "named",
    "refuse",
    "refuse_backwards",
    "refuse_other",
    "shown",
]

BY_BITS: Final = {
    name: getattr(torch, name)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
}
"""Dtypes that NumPy has from the package ml_dtypes, which torch doesn't know: the bits are the same."""
REFUSALS: Final[tuple[type[Exception], ...]] = (TypeError, ValueError, AttributeError, BufferError, RuntimeError)


def refuse(
    operation: str,
    reason: str,
    hint: str | None,
    *,
    also: type[Exception] = ValueError,
    kind: type[TorchError] = TorchError,
    cause: BaseException | None = None,
) -> NoReturn:
    """Say why memory can't be shared."""
    raise as_also(kind, also)(reason=reason, operation=operation, hint=hint) from cause


def refuse_backwards(operation: str, shape: str, cause: BaseException | None = None) -> NoReturn:
    refuse(
        operation,
        f"the array of shape {shape} has a negative stride (it is a view such as array[::-1]), and tensors only run "
        "forwards",
        f"{operation}(array, copy=True)",
        cause=cause,
    )


def refuse_other(operation: str, value: object, cause: BaseException | None = None) -> None:
    """Refuse a value that isn't a tensor."""
    if not isinstance(value, torch.Tensor):
        refuse(
            operation,
            f"expected a tensor, but got {named(value)}",
            "from_array(...) makes tensors of lists, numbers and arrays",
            also=TypeError,
            kind=TypeMismatch,
            cause=cause,
        )


def explain_tensor(operation: str, tensor: torch.Tensor, error: BaseException | None = None) -> NoReturn:
    """Why another library can't use the memory of a tensor."""
    if tensor.requires_grad:
        reason, hint = "the tensor requires a gradient, which would not see the uses of the array", ".detach()"
    elif tensor.layout != torch.strided:
        dense = ".to_padded_tensor(0)" if tensor.is_nested else ".to_dense()"
        reason, hint = f"a tensor of layout {tensor.layout} has no single memory", dense
    elif not tensor.is_cpu:
        raise as_also(DeviceMismatch, TypeError)(
            "cpu", tensor.device, f"the tensor is on {tensor.device}", operation=operation, hint="tensor.cpu()"
        ) from error
    elif tensor.is_conj() or tensor.is_neg():
        reason, hint = "the tensor is a lazy conjugate or negative", ".resolve_conj().resolve_neg()"
    else:
        refuse(
            operation,
            f"there is no dtype for {tensor.dtype} on the other side",
            "tensor.float()",
            also=TypeError,
            kind=DTypeMismatch,
            cause=error,
        )
    refuse(operation, reason, f"tensor{hint}", also=RuntimeError, cause=error)


def named(value: object) -> str:
    """A value's description for a sentence."""
    module, name = type(value).__module__.partition(".")[0], type(value).__qualname__
    return name if module == "builtins" else f"{module}'s {name}"


def shown(shape: Any) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
