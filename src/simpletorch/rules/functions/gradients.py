"""Gradients: where they may start from, and the shapes that they have."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import tensor_list
from simpletorch.rules.common.conditions import need_differentiable, need_same_shape
from simpletorch.rules.core.dtype import DType, promote_all
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Shape, equal

_HINT: Final = "take the gradient before the result is cast to ints"


def _need_start(name: str, tensor: TensorType, gradient_name: str, gradient: Value) -> None:
    """Without a gradient to start from, what is differentiated must be one real number."""
    need_differentiable(name, tensor.dtype, hint=_HINT)
    if isinstance(gradient, TensorType):
        need_same_shape(gradient_name, gradient.shape, name, tensor.shape)
    if gradient is not None:
        return
    if equal(tensor.shape.numel(), 1) is False:
        raise Mismatch(
            f"{name} is {tensor.shape}, but without {gradient_name} only one number can be differentiated",
            hint="reduce it to a scalar first, as .mean() or .sum() does",
            expected=1,
            got=tensor.shape.numel(),
        )
    if tensor.dtype is not None and tensor.dtype.category == "complex":
        raise Mismatch(
            f"{name} is {tensor.dtype}, but without {gradient_name} only a real number can be differentiated",
            kind="dtype",
            hint=f"{name}.real or {name}.abs()",
            got=tensor.dtype,
        )


@rule("Tensor.backward")
def backward(
    input: TensorType,
    gradient: Value = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    inputs: Value = None,
) -> Value:
    """``() -> None``; any shape ``(*b)`` with a gradient ``(*b)``"""
    _need_start("input", input, "gradient", gradient)
    return None


def _need_starts(name: str, outputs: Value, gradients_name: str, gradients: Value) -> None:
    """`_need_start` for one tensor or for each of several."""
    if isinstance(outputs, TensorType):
        given = gradients[0] if isinstance(gradients, tuple) and len(gradients) == 1 else gradients
        _need_start(name, outputs, gradients_name, given)
    elif isinstance(outputs, tuple):
        several = gradients if isinstance(gradients, tuple) else (gradients,) * len(outputs)
        if gradients is not None and len(several) != len(outputs):
            raise Mismatch(
                f"{name} has {len(outputs)} tensors, but {gradients_name} has {len(several)}",
                expected=len(outputs),
                got=len(several),
            )
        for i, (tensor, given) in enumerate(zip(outputs, several, strict=False)):
            if isinstance(tensor, TensorType):
                _need_start(
                    f"{name}[{i}]", tensor, f"{gradients_name}[{i}]" if given is not None else gradients_name, given
                )


@rule("torch.autograd.backward")
def autograd_backward(
    tensors: Value,
    grad_tensors: Value = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    grad_variables: Value = None,
    inputs: Value = None,
) -> Value:
    """``() -> None``; any shape ``(*b)`` with grad_tensors ``(*b)``"""
    _need_starts("tensors", tensors, "grad_tensors", ANYTHING if grad_variables is not None else grad_tensors)
    return None


@rule("torch.autograd.grad")
def grad(
    outputs: Value,
    inputs: Value,
    grad_outputs: Value = None,
    retain_graph: Value = None,
    create_graph: Value = False,
    only_inputs: Value = True,
    allow_unused: Value = None,
    is_grads_batched: Value = False,
    materialize_grads: Value = False,
) -> Value:
    """``outputs (), inputs (*a), (*b) -> (*a), (*b)``; with grad_outputs the outputs may have any shape"""
    if is_grads_batched is not False:
        raise CannotTell
    _need_starts("outputs", outputs, "grad_outputs", grad_outputs)
    found = (inputs,) if isinstance(inputs, TensorType) else tensor_list(inputs)
    for i, tensor in enumerate(found):
        name = "inputs" if isinstance(inputs, TensorType) else f"inputs[{i}]"
        need_differentiable(name, tensor.dtype, hint=_HINT)
    if allow_unused is not False and (allow_unused is not None or materialize_grads is not False):
        raise CannotTell  # what is unused has no gradient: None
    return tuple(TensorType(t.shape, t.dtype, t.device) for t in found)


def _common_dtype(tensors: Value) -> DType | None:
    """The dtype that tensors promote to; None for an unknown iterable."""
    if isinstance(tensors, TensorType):
        return tensors.dtype
    if not isinstance(tensors, tuple) or not all(isinstance(t, TensorType) for t in tensors):
        return None
    return promote_all(t.dtype for t in tensors if isinstance(t, TensorType))


@rule("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad.clip_grad_norm_", moves=True)
def clip_grad_norm_(
    parameters: Value,
    max_norm: Value,
    norm_type: Value = 2.0,
    error_if_nonfinite: Value = False,
    foreach: Value = None,
) -> TensorType:
    """``tensors of any shapes -> ()``, the norm before clipping"""
    return TensorType(Shape(()))


@rule("torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector")
def parameters_to_vector(parameters: Value) -> TensorType:
    """``(*a), (*b) -> (∏a + ∏b,)``"""
    if not isinstance(parameters, tuple) or not parameters:
        return TensorType(Shape.of(UNKNOWN))
    sizes = [t.shape.numel() if isinstance(t, TensorType) else UNKNOWN for t in parameters]
    total = sizes[0]
    for size in sizes[1:]:
        total = total + size
    return TensorType(Shape.of(total), _common_dtype(parameters))


__all__ = ["autograd_backward", "backward", "clip_grad_norm_", "grad", "parameters_to_vector"]
