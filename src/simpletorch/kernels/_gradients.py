"""Gradients of operators: a function that the user registers, or the reference's own, computed once more."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from simpletorch.errors import ShapeMismatch
from simpletorch.kernels._implementation import fitting
from simpletorch.kernels._schema import Plain, Signature

__all__ = ["Differentiable", "Gradient", "function_of", "register_gradient"]


@dataclass(frozen=True)
class Gradient:
    """How a gradient is computed, and what is kept of the forward call for it.

    ``compute`` takes the gradients of the results, the names of the arguments that need one, the arguments (None for
    one that isn't kept) and the results (none if they aren't kept), and gives a gradient for each parameter.
    """

    compute: Callable[[Sequence[Any], frozenset[str], Sequence[Any], Sequence[Any]], Sequence[Any]]
    keeps: frozenset[str]
    keeps_results: bool

    @classmethod
    def of_reference(cls, signature: Signature, name: str, reference: Callable[..., Any]) -> Gradient:
        """The gradient that autograd finds when the reference runs once more."""
        call = fitting(signature, name, "reference", reference)

        def compute(grads: Sequence[Any], needs: frozenset[str], values: Sequence[Any], _: Sequence[Any]) -> list[Any]:
            return _recomputed(signature, call, grads, needs, values)

        return cls(compute, frozenset(signature.names), keeps_results=False)

    @classmethod
    def given(cls, signature: Signature, name: str, function: Callable[..., Any]) -> Gradient:
        """The gradient that a user's function computes.

        Raises:
            TypeError: the operator has no gradient, or the function asks for something that isn't there.
        """
        if signature.mutated or signature.returns == "nothing":
            raise TypeError(f"{name} changes its arguments in place, so it has no gradient")
        names = tuple(inspect.signature(function).parameters)
        one = signature.returns == "one"
        offered = ("grad", "result", "needs") if one else ("grads", "results", "needs")
        if strange := [n for n in names if n not in offered and n not in signature.names]:
            raise TypeError(
                f"the gradient of {name} has a parameter {strange[0]}, but the names of its parameters say what it is "
                f"given: {', '.join((*offered, *signature.names))}"
            )

        def compute(grads: Sequence[Any], needs: frozenset[str], values: Sequence[Any], results: Sequence[Any]) -> Any:
            of_results = [grads[0], results[0] if results else None] if one else [tuple(grads), tuple(results)]
            known = dict(zip(offered, (*of_results, needs), strict=True))
            known |= zip(signature.names, values, strict=True)
            return _each_parameter(signature, name, function(**{n: known[n] for n in names}))

        kept = frozenset(names) & frozenset(signature.names)
        return cls(compute, kept, keeps_results=offered[1] in names and offered[1] not in kept)


def _each_parameter(signature: Signature, name: str, found: Any) -> list[Any]:
    """The gradients that a user's function returned, with None for the parameters that have none.

    Raises:
        TypeError: there are more or fewer gradients than parameters that may have one.
    """
    wanted = [p.name for p in signature.parameters if p.is_differentiable]
    given = list(found) if isinstance(found, tuple) else [found]
    if len(given) != len(wanted):
        raise TypeError(
            f"the gradient of {name} returns {len(given)} value{'s' * (len(given) != 1)}, but there is one to return "
            f"for each of {', '.join(wanted)}, in this order (None for one that is zero)"
        )
    by_name = dict(zip(wanted, given, strict=True))
    return [by_name.get(p.name) for p in signature.parameters]


def _recomputed(
    signature: Signature, call: Callable[..., Any], grads: Sequence[Any], needs: frozenset[str], values: Sequence[Any]
) -> list[Any]:
    """The gradients of the reference."""
    if torch._C._are_functorch_transforms_active():  # see `Operator`: within torch.func autograd.grad is not allowed
        return _recomputed_by_func(call, grads, needs, signature.names, values)
    twice = torch.is_grad_enabled()  # the gradient is to be differentiated itself

    def fresh(tensor: torch.Tensor) -> torch.Tensor:
        # a node of its own for each argument, since one tensor may be given for two of them
        return tensor.view_as(tensor) if twice and tensor.requires_grad else tensor.detach().requires_grad_()

    with torch.enable_grad():
        given: list[Any] = []
        inputs: list[torch.Tensor] = []
        for parameter, value in zip(signature.parameters, values, strict=True):
            new = value
            if parameter.name in needs:
                new = [fresh(t) if _has_gradient(t) else t for t in (value if isinstance(value, list) else [value])]
                inputs += [t for t in new if _has_gradient(t)]
                new = new if isinstance(value, list) else new[0]
            given.append(new)
        result = call(*given)
        results = [result] if isinstance(result, torch.Tensor) else list(result)
        pairs = [(r, g) for r, g in zip(results, grads, strict=True) if r.requires_grad and g is not None]
        found: Sequence[Any] = [None] * len(inputs)
        if pairs:
            outputs, weights = zip(*pairs, strict=True)
            found = torch.autograd.grad(outputs, inputs, weights, create_graph=twice, allow_unused=True)
    of_input = {id(t): g for t, g in zip(inputs, found, strict=True)}
    return [
        None if isinstance(p.form, Plain) else [of_input.get(id(t)) for t in v] if p.is_list else of_input.get(id(v))
        for p, v in zip(signature.parameters, given, strict=True)
    ]


def _recomputed_by_func(
    call: Callable[..., Any], grads: Sequence[Any], needs: frozenset[str], names: Sequence[str], values: Sequence[Any]
) -> list[Any]:
    wanted = [i for i, name in enumerate(names) if name in needs and _has_gradient(values[i])]

    def of_wanted(*tensors: torch.Tensor) -> Any:
        given = list(values)
        for i, tensor in zip(wanted, tensors, strict=True):
            given[i] = tensor
        result = call(*given)
        results = [result] if isinstance(result, torch.Tensor) else result
        return tuple(r for r in results if _has_gradient(r))

    results, pull = torch.func.vjp(of_wanted, *(values[i] for i in wanted))[:2]
    weights = [g for g in grads if g is not None and _has_gradient(g)]
    found = dict(zip(wanted, pull(tuple(weights)), strict=True)) if len(weights) == len(results) else {}
    return [found.get(i) for i in range(len(names))]


def _has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


# -- registering -------------------------------------------------------------------------------------------------------


class Differentiable(Protocol):
    """What an operator has for its gradient, looked at in each call: `backward` may be registered again."""

    gradient: Gradient

    @property
    def name(self) -> str:
        """The name that torch knows it by."""
        ...

    @property
    def signature(self) -> Signature:
        """What its annotations say."""
        ...

    @property
    def op(self) -> torch._ops.OpOverload:
        """The operator of torch."""
        ...


def register_gradient(operator: Differentiable, library: torch.library.Library) -> None:
    """Tell torch of an operator's gradient."""
    if operator.signature.mutated or operator.signature.returns == "nothing":
        _refuse_gradients(operator, library)
    else:
        keep, backward = _formula(operator)
        torch.library.register_autograd(operator.name, backward, setup_context=keep, lib=library)


def function_of(operator: Differentiable, batching: Callable[..., Any]) -> Callable[..., Any]:
    """The operator as `torch.func` differentiates it; itself, where it has a gradient that torch.func can't take."""
    signature = operator.signature
    lists = any(p.is_list for p in signature.parameters) or signature.returns == "list"
    if lists or signature.mutated or signature.returns == "nothing":
        return operator.op
    keep, backward = _formula(operator)
    body = {
        "forward": staticmethod(lambda *values: operator.op(*values)),
        "setup_context": staticmethod(keep),
        "backward": staticmethod(backward),
        "vmap": staticmethod(batching),
    }
    apply: Callable[..., Any] = type(operator.name, (torch.autograd.Function,), body).apply  # type: ignore[attr-defined]
    return apply


def _formula(operator: Differentiable) -> tuple[Callable[..., None], Callable[..., tuple[Any, ...]]]:
    """What is kept of a call, and what the gradient is: `setup_context` and `backward` of torch."""

    def keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        gradient = ctx.gradient = operator.gradient
        results = [output] if isinstance(output, torch.Tensor) else list(output)
        names = operator.signature.names
        kept = [v if n in gradient.keeps else None for n, v in zip(names, inputs, strict=True)]
        tensors: list[Any] = []
        ctx.kept = _without_tensors(kept, tensors)
        ctx.kept_results = _without_tensors(results if gradient.keeps_results else [], tensors)
        ctx.shapes = [_shapes(v) for v in inputs]
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*(r for r in results if not _has_gradient(r)))

    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        signature = operator.signature
        tensors = list(ctx.saved_tensors)
        values = _with_tensors(ctx.kept, tensors)
        results = _with_tensors(ctx.kept_results, tensors)
        needs = frozenset(
            p.name
            for p, need in zip(signature.parameters, ctx.needs_input_grad, strict=True)
            if p.is_differentiable and (any(need) if isinstance(need, list) else need)
        )
        given = grads[0] if signature.returns == "list" else grads
        found = ctx.gradient.compute(given, needs, values, results)
        return tuple(
            _fitted(operator.name, p.name, g, s)
            for p, g, s in zip(signature.parameters, found, ctx.shapes, strict=True)
        )

    return keep, backward


@dataclass(frozen=True, slots=True)
class _Kept:
    """Stands for a tensor that autograd keeps."""


def _without_tensors(values: Sequence[Any], tensors: list[Any]) -> list[Any]:
    """The values, their tensors put into ``tensors``, from which `_with_tensors` takes them again."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            found.append(_Kept())
        else:
            found.append(_without_tensors(value, tensors) if isinstance(value, list) else value)
    return found


def _with_tensors(values: Sequence[Any], tensors: list[Any]) -> list[Any]:
    return [
        tensors.pop(0) if isinstance(v, _Kept) else _with_tensors(v, tensors) if isinstance(v, list) else v
        for v in values
    ]


def _shapes(value: Any) -> Any:
    """The shape of a tensor, or those of a list of them; None for what has no gradient."""
    if isinstance(value, torch.Tensor):
        return value.shape
    if isinstance(value, list) and all(isinstance(v, torch.Tensor) for v in value):
        return [v.shape for v in value]
    return None


def _fitted(operator: str, name: str, grad: Any, shapes: Any) -> Any:
    """A gradient as autograd wants it: a list for a list.

    Raises:
        ShapeMismatch: it has another shape than its argument.
    """
    if isinstance(shapes, list):
        given = [None] * len(shapes) if grad is None else grad
        return [_fitted(operator, f"{name}[{i}]", g, s) for i, (g, s) in enumerate(zip(given, shapes, strict=True))]
    if grad is not None and grad.shape != shapes:
        reason = f"the gradient of {name} has shape {tuple(grad.shape)}, but {name} has {tuple(shapes)}"
        raise ShapeMismatch(tuple(shapes), tuple(grad.shape), reason, operation=f"{operator} (backward)")
    return grad


def _refuse_gradients(operator: Differentiable, library: torch.library.Library) -> None:
    """Of an operator that changes arguments in place: autograd learns of the change, and gets no wrong gradient."""
    mutated = operator.signature.mutated

    def run(keys: Any, *values: Any) -> None:
        tensors = [t for v in values for t in (v if isinstance(v, list) else [v]) if isinstance(t, torch.Tensor)]
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            raise RuntimeError(
                f"{operator.name} changes its arguments in place and has no gradient, but one of them requires one; "
                "call it under torch.no_grad()"
            )
        # what torch.library's own autograd kernel does, which it makes for functional operators only
        with torch._C._AutoDispatchBelowAutograd():
            operator.op.redispatch(keys & torch._C._after_autograd_keyset, *values)
        changed = [t for i in mutated for t in (values[i] if isinstance(values[i], list) else [values[i]])]
        torch.autograd.graph.increment_version([t for t in changed if t is not None])

    library.impl(operator.name.partition("::")[2], run, "Autograd", with_keyset=True)
