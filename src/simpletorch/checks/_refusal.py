"""The error for an argument or a result that fails its annotation: which, how, and a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jaxtyping
import torch

from simpletorch.checks._computed_sizes import Unsolvable, aligned, solution
from simpletorch.checks._hints import is_tensor_hint, tensor_hints
from simpletorch.checks._parts import Part, leaves
from simpletorch.errors import DeviceMismatch, DTypeMismatch, Mismatch, Operand, ShapeMismatch, TypeMismatch, as_also
from simpletorch.errors.context import describe, dtype_name, place
from simpletorch.shapes import DimSyntaxError, evaluate, parse_axes, parse_dim, variables
from simpletorch.shapes.sentences import (
    device_differs,
    dim_differs,
    dim_impossible,
    dtype_differs,
    rank_differs,
    rest_differs,
    size_source,
)

__all__ = ["Bound", "Mistake", "hint_text", "refusal"]


class Bound(NamedTuple):
    """A dtype that a type variable has in a call, and the name of the value that it comes from."""

    dtype: Any
    source: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value that fails its annotation; ``within`` are the fields of the record whose sizes hold for it, if any."""

    name: str
    hint: Any
    value: Any
    within: Sequence[Part] = ()
    dtype: Bound | None = None  # what its dtype should be, and the value that settled that


@dataclass(frozen=True, slots=True)
class _Size:
    """A size that a name has in a call, and where it comes from."""

    size: int
    source: str


@dataclass(frozen=True, slots=True)
class _Finding:
    kind: type[Mismatch]
    sentence: str
    expected: object
    got: object


def refusal(
    function: Callable[..., Any],
    mistakes: Sequence[Mistake],
    arguments: Sequence[Part],
    own: Mapping[str, int],
    outcome: Sequence[Part] = (),
) -> Mismatch:
    """The error for values that fail their annotations.

    Args:
        function: the called one.
        mistakes: at least one.
        arguments: name, annotation and value of all arguments of the call.
        own: the sizes of the module whose method was called.
        outcome: the same of the result, if there is one.
    """
    operation = function.__qualname__.replace("<locals>.", "").removesuffix(".__init__").removesuffix(".__new__")
    sizes = _bound([arguments, outcome], own, operation.split(".")[-2] if own else "")
    # the fields of a record share its sizes and know nothing of the call's
    findings = [_finding(m, _bound([m.within], {}, "") if m.within else sizes) for m in mistakes]
    wrong = {m.name: m for m in mistakes}
    shown = [(n, h, v) for n, h, v in arguments if n in wrong or (isinstance(v, torch.Tensor) and tensor_hints(h))]
    operands = [_operand(n, v, wrong.get(n)) for n, _, v in shown]
    operands += [_operand(m.name, m.value, m) for m in mistakes if m.name not in {n for n, _, _ in shown}]
    first = findings[0]
    # an ``except`` for jaxtyping's error, or for a TypeError, catches this one as well
    cls = as_also(first.kind, jaxtyping.TypeCheckError)
    return cls(
        first.expected,
        first.got,
        "; ".join(f.sentence for f in findings),
        operation=operation,
        operands=operands,
        **place(),
    )


def _operand(name: str, value: Any, mistake: Mistake | None) -> Operand:
    plain = describe(name, value)
    if mistake is None:
        return plain
    return Operand(name, plain.dtype, plain.shape, plain.device, plain.text, hint_text(mistake.hint))


def hint_text(hint: Any) -> str:
    """An annotation as its author wrote it: ``Float32[B, 784]``."""
    if is_tensor_hint(hint):
        device = getattr(hint.array_type, "device_type", None)
        text = f"{hint.dtype.__name__}[{', '.join(hint.dim_str.split())}]"
        return f"{text} on {device}" if device else text
    if isinstance(hint, type) and not hasattr(hint, "__args__"):
        return "None" if hint is type(None) else hint.__name__
    text = str(hint)
    for inner in tensor_hints(hint):
        text = text.replace(f"{inner.__module__}.{inner.__name__}", hint_text(inner))
    return re.sub(r"\btyping\.", "", text)


def _finding(mistake: Mistake, sizes: Mapping[str, _Size | tuple[int, ...]]) -> _Finding:
    name, hint, value = mistake.name, mistake.hint, mistake.value
    if mistake.dtype is not None:
        right, got = dtype_name(mistake.dtype.dtype), dtype_name(value.dtype)
        (variable,) = {h.dtype.__name__ for h in tensor_hints(hint)}
        sentence = f"{name} is {got}, but {variable} is {right} from {mistake.dtype.source}"
        return _Finding(DTypeMismatch, sentence, right, got)
    wanted = [h for h in tensor_hints(hint) if isinstance(value, h.array_type)] if not is_tensor_hint(hint) else [hint]
    if not isinstance(value, torch.Tensor) or not wanted:
        return _of_type(name, hint, value, sizes)
    if len(wanted) > 1:
        # of several that have as many dims as the value it isn't known which one was meant
        of_rank = [h for h in wanted if _has_rank(h, value)]
        wanted = of_rank if len(of_rank) == 1 else wanted
    if len(wanted) > 1:
        got = describe(name, value).type_text
        return _Finding(ShapeMismatch, f"{name} should be {hint_text(hint)}, but is {got}", hint_text(hint), got)
    (tensor_hint,) = wanted
    return _of_tensor(name, tensor_hint, value, sizes)


def _has_rank(hint: Any, value: torch.Tensor) -> bool:
    try:
        return aligned(parse_axes(hint.dim_str), tuple(value.shape)) is not None
    except DimSyntaxError:  # an expression that only Python understands
        return True


def _of_type(name: str, hint: Any, value: Any, sizes: Mapping[str, Any]) -> _Finding:
    device = getattr(hint, "device_type", None)
    if device is not None and isinstance(value, torch.Tensor) and value.device.type != device:
        return _Finding(DeviceMismatch, device_differs(name, value.device, device), device, str(value.device))
    got = "None" if value is None else f"of type {type(value).__name__}"
    if isinstance(value, int) and getattr(hint, "_axis", None) is not None and not isinstance(value, bool):
        axis = hint._axis.dim_str
        expected = _expected_size(axis, sizes)
        if expected is not None:
            sentence = dim_differs(name, value, axis, expected.size, expected.source)
            return _Finding(ShapeMismatch, sentence, expected.size, value)
        if _is_impossible(axis, value, sizes):
            return _Finding(ShapeMismatch, dim_impossible(name, value, axis), axis, value)
    if isinstance(value, torch.Tensor):
        got = describe(name, value).type_text
    what = hint_text(hint)
    if is_tensor_hint(hint):
        what = f"a Tensor, {what}"
    elif isinstance(hint, type) and hint is not type(None):
        what = f"an {what}" if what[0].lower() in "aeiou" else f"a {what}"
    return _Finding(TypeMismatch, f"{name} should be {what}, but is {got}", hint_text(hint), got)


def _of_tensor(name: str, hint: Any, value: torch.Tensor, sizes: Mapping[str, Any]) -> _Finding:
    device = getattr(hint.array_type, "device_type", None)
    if device is not None and value.device.type != device:
        sentence = device_differs(name, value.device, device)
        return _Finding(DeviceMismatch, sentence, device, str(value.device))
    if not isinstance(value, hint.array_type):
        got = type(value).__name__
        sentence = f"{name} should be a {hint.array_type.__name__}, but is a plain {got}"
        return _Finding(TypeMismatch, sentence, hint.array_type.__name__, got)
    if isinstance(hint.dtypes, tuple) and not isinstance(value, hint.dtype[Any, "..."]):
        got = dtype_name(value.dtype)
        right = getattr(hint.dtype, "kind", hint.dtype.__name__)
        return _Finding(DTypeMismatch, dtype_differs(name, got, right), right, got)
    sentence = _shape_sentence(name, hint, tuple(value.shape), sizes)
    return _Finding(ShapeMismatch, sentence, tuple(hint.dim_str.split()), tuple(value.shape))


def _shape_sentence(name: str, hint: Any, shape: tuple[int, ...], sizes: Mapping[str, Any]) -> str:
    try:
        axes = parse_axes(hint.dim_str)
    except DimSyntaxError:  # an expression that only Python understands
        return f"{name} has shape {shape}, which {hint_text(hint)} doesn't allow"
    dims = aligned(axes, shape)
    if dims is None:
        least = sum(a.kind in ("dim", "any") for a in axes)
        return rank_differs(name, len(shape), least, or_more=least < len(axes))
    own: dict[str, Any] = dict(sizes)
    for index, axis, size in dims:
        if axis.broadcastable and size == 1:
            continue
        expected = _expected_size(axis.expression, own)
        if expected is None:
            if axis.expression.isidentifier() and isinstance(size, int):
                own[axis.expression] = _Size(size, size_source(name, index))
            elif _is_impossible(axis.expression, size, own):
                return dim_impossible(f"dim {index} of {name}", size, axis.expression)
        elif expected.size != size:
            return dim_differs(f"dim {index} of {name}", size, axis.expression, expected.size, expected.source)
    rest = next((a.expression for a in axes if a.kind == "rest"), None)
    if rest is not None and isinstance(sizes.get(f"*{rest}"), tuple):
        # all single dims agree, so it must be the variadic part that differs
        at = [a.kind for a in axes].index("rest")
        own_rest = shape[at : len(shape) - (len(axes) - at - 1)]
        return rest_differs(rest, name, own_rest, sizes[f"*{rest}"])
    return f"{name} has shape {shape}, which {hint_text(hint)} doesn't allow"


def _expected_size(expression: str, sizes: Mapping[str, Any]) -> _Size | None:
    """The value of a dim's expression in this call, None if it isn't settled."""
    if expression.isdigit():
        return _Size(int(expression), "")
    known = sizes.get(expression)
    if isinstance(known, _Size):
        return known
    try:
        dim = parse_dim(expression)
        names = {v.name: v for v in variables(dim)}
        if not names or any(not isinstance(sizes.get(n), _Size) for n in names):
            return None
        value = evaluate(dim, {v: sizes[n].size for n, v in names.items()})
    except (DimSyntaxError, ArithmeticError, ValueError):
        return None
    where = ", ".join(f"{n} = {sizes[n].size} {sizes[n].source}" for n in sorted(names))
    return _Size(int(value), f"({where})") if isinstance(value, int) else None


def _known(name: str, sizes: Mapping[str, Any]) -> int | None:
    size = sizes.get(name)
    return size.size if isinstance(size, _Size) else None


def _is_impossible(expression: str, size: int, sizes: Mapping[str, Any]) -> bool:
    try:
        solution(expression, size, lambda name: _known(name, sizes))
    except Unsolvable:
        return True
    return False


def _bound(groups: Sequence[Sequence[Part]], own: Mapping[str, int], owner: str) -> dict[str, Any]:
    """The sizes that values settle: the first one to name a size sets it. ``own`` are those of the module.

    A group of values settles sizes only if the groups before it, solved, have left them open.
    """
    sizes: dict[str, Any] = {name: _Size(size, f"in this {owner}") for name, size in own.items()}
    computed: list[tuple[str, int, str]] = []
    for group in groups:
        for leaf in (leaf for part in group for leaf in leaves(part)):
            _settle(leaf, sizes, computed)
        _solve(computed, sizes)
    return sizes


def _settle(leaf: Part, sizes: dict[str, Any], computed: list[tuple[str, int, str]]) -> None:
    """Add the sizes that a value settles by plain names, and list those (expression, size, source) it computes."""
    name, hint, value = leaf
    axis = getattr(hint, "_axis", None)
    if axis is not None and isinstance(value, int):
        if axis.dim_str.isidentifier():
            sizes.setdefault(axis.dim_str, _Size(value, size_source(name)))
        else:
            computed.append((axis.dim_str, value, size_source(name)))
    hints = tensor_hints(hint)
    if not isinstance(value, torch.Tensor) or len(hints) != 1:
        return
    try:
        axes = parse_axes(hints[0].dim_str)
    except DimSyntaxError:
        return
    shape = tuple(value.shape)
    for index, a, size in aligned(axes, shape) or ():
        if a.expression.isidentifier() and not a.broadcastable:
            sizes.setdefault(a.expression, _Size(size, size_source(name, index)))
        elif not a.broadcastable:
            computed.append((a.expression, size, size_source(name, index)))
    at = next((i for i, a in enumerate(axes) if a.kind == "rest"), None)
    if at is not None and len(shape) >= len(axes) - 1:
        sizes.setdefault(f"*{axes[at].expression}", shape[at : len(shape) - (len(axes) - at - 1)])


def _solve(computed: Sequence[tuple[str, int, str]], sizes: dict[str, Any]) -> None:
    """Add what the computed sizes (expression, size, source) settle."""
    progress = True
    while progress:
        progress = False
        for text, size, source in computed:
            try:
                found = solution(text, size, lambda name: _known(name, sizes))
            except Unsolvable:
                continue
            if found is not None:
                progress = True
                sizes[found[0]] = _Size(found[1], source)
