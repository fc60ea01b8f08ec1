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

__all__ = ["Differentiable", "Gradient", "formula", "function_of", "register_gradient"]


@dataclass(frozen=True)
class Gradient:
    """How a gradient is computed, and the saved values of the forward call.

    ``compute`` gives a gradient for each parameter. It takes the gradients of the results, the names of the arguments
    that need one, the arguments (None for one that isn't kept) and the results (none if they aren't kept).
    """

    compute: Callable[[Sequence[Any], frozenset[str], Sequence[Any], Sequence[Any]], Sequence[Any]]
    keeps: frozenset[str]
    keeps_results: bool
    asks_needs: bool = True

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

        positions = {n: i for i, n in enumerate(signature.names)}
        of_values = [(n, positions[n]) for n in names if n in positions]
        grads_of, results_of, needs_of = (n if n in names and n not in positions else "" for n in offered)

        def compute(grads: Sequence[Any], needs: frozenset[str], values: Sequence[Any], results: Sequence[Any]) -> Any:
            asked = {n: values[i] for n, i in of_values}
            if grads_of:
                asked[grads_of] = grads[0] if one else tuple(grads)
            if results_of:
                asked[results_of] = results[0] if one else tuple(results)
            if needs_of:
                asked[needs_of] = needs
            return _each_parameter(signature, name, function(**asked))

        kept = frozenset(names) & frozenset(signature.names)
        return cls(compute, kept, keeps_results=bool(results_of), asks_needs=bool(needs_of))


def _each_parameter(signature: Signature, name: str, found: Any) -> list[Any]:
    """The gradients that a user's function returned, with None for the parameters that have none.

    Raises:
        TypeError: there are more or fewer gradients than parameters that may have one.
    """
    wanted = signature.differentiable
    given = found if isinstance(found, tuple) else (found,)
    if len(given) != len(wanted):
        raise TypeError(
            f"the gradient of {name} returns {len(given)} value{'s' * (len(given) != 1)}, but there is one to return "
            f"for each of {', '.join(signature.names[i] for i in wanted)}, in this order (None for one that is zero)"
        )
    each = [None] * len(signature.names)
    for i, grad in zip(wanted, given, strict=True):
        each[i] = grad
    return each


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
    """An operator's gradient; read in each call, because `backward` may be registered again."""

    gradient: Gradient

    @property
    def name(self) -> str:
        """The name that torch knows it by."""
        ...

    @property
    def signature(self) -> Signature:
        """The operator's signature."""
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
        keep, backward = formula(operator)
        torch.library.register_autograd(operator.name, backward, setup_context=keep, lib=library)


def function_of(operator: Differentiable, batching: Callable[..., Any]) -> Callable[..., Any]:
    """The operator as `torch.func` differentiates it; itself, where it has a gradient that torch.func can't take."""
    signature = operator.signature
    lists = any(p.is_list for p in signature.parameters) or signature.returns == "list"
    if lists or signature.mutated or signature.returns == "nothing":
        return operator.op
    keep, backward = formula(operator)
    body = {
        "forward": staticmethod(lambda *values: operator.op(*values)),
        "setup_context": staticmethod(keep),
        "backward": staticmethod(backward),
        "vmap": staticmethod(batching),
    }
    apply: Callable[..., Any] = type(operator.name, (torch.autograd.Function,), body).apply  # type: ignore[attr-defined]
    return apply


def formula(operator: Differentiable) -> tuple[Callable[..., None], Callable[..., tuple[Any, ...]]]:
    """The saved values of a call, and the gradient: `setup_context` and `backward` of torch."""
    signature = operator.signature
    name, names, count, wanted = operator.name, signature.names, len(signature.names), signature.differentiable
    gives_list = signature.returns == "list"

    def keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        gradient = operator.gradient
        results = (output,) if isinstance(output, torch.Tensor) else output
        kept, places, tensors = _apart(names, gradient.keeps, inputs)
        ctx.kept = gradient, kept, places, [(i, _shapes(inputs[i])) for i in wanted]
        ctx.save_for_backward(*tensors, *(results if gradient.keeps_results else ()))
        if fixed := [r for r in results if not _has_gradient(r)]:
            ctx.mark_non_differentiable(*fixed)

    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        gradient, kept, places, shapes = ctx.kept
        tensors = ctx.saved_tensors
        values = _together(kept, places, tensors)
        needs: frozenset[str] = frozenset()
        if gradient.asks_needs:
            asked = ctx.needs_input_grad[-count:]  # what is passed before the arguments is no argument
            needs = frozenset(names[i] for i in wanted if (any(n) if isinstance(n := asked[i], list) else n))
        found = gradient.compute(grads[0] if gives_list else grads, needs, values, tensors[len(places) :])
        fitted = [None] * count
        for i, shape in shapes:
            grad = found[i]
            if isinstance(shape, list) or (grad is not None and grad.shape != shape):
                grad = _fitted(name, names[i], grad, shape)
            fitted[i] = grad
        return tuple(fitted)

    return keep, backward


def _apart(
    names: Sequence[str], keeps: frozenset[str], inputs: Sequence[Any]
) -> tuple[list[Any], list[int], list[torch.Tensor]]:
    """The arguments that are kept: those that are no tensors, then the tensors with the places where they belong."""
    kept: list[Any] = [None] * len(inputs)
    places: list[int] = []
    tensors: list[torch.Tensor] = []
    for i, value in enumerate(inputs):
        if names[i] not in keeps:
            continue
        if isinstance(value, torch.Tensor):
            places.append(i)
            tensors.append(value)
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            kept[i] = []
            places += [i] * len(value)
            tensors += value
        else:
            kept[i] = value
    return kept, places, tensors


def _together(kept: Sequence[Any], places: Sequence[int], tensors: Sequence[torch.Tensor]) -> list[Any]:
    """The inverse of `_apart`."""
    values = [list(value) if isinstance(value, list) else value for value in kept]
    for i, tensor in zip(places, tensors, strict=False):  # after them come the results
        if kept[i] is None:
            values[i] = tensor
        else:
            values[i].append(tensor)
    return values


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
