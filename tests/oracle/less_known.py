"""The same calls with less known: what a rule says then must still hold for the real call.

`weakened` takes ranks, dims, dtypes and numbers away at random; `symbolic` writes variables for sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from simpletorch.rules import ANYTHING, Many, Named, Report, Scalar, TensorType, infer
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Expr, Shape, Var, substitute
from tests.oracle.truth import lift, run_torch
from tests.oracle.verdict import Call, Judgement, compare, grows, lift_arguments

_FAMILIES = {"bool": ("Shaped",), "int": ("Int", "Num"), "float": ("Float", "Real"), "complex": ("Complex", "Inexact")}


def weaken(value: Any, rng: random.Random) -> Any:
    """A lifted value of which less is known."""
    match value:
        case TensorType():
            if rng.random() < 0.1:
                return ANYTHING
            return replace(value, shape=_weaken_shape(value.shape, rng), dtype=_weaken_dtype(value.dtype, rng))
        case tuple():
            return ANYTHING if rng.random() < 0.1 else tuple(weaken(v, rng) for v in value)
        case bool() | float() | complex():
            return rng.choice((value, value, value, Scalar(type(value).__name__), ANYTHING))  # type: ignore[arg-type]
        case int():
            return rng.choice((value, value, value, value, UNKNOWN, ANYTHING))
        case _:
            return value


def _weaken_shape(shape: Shape, rng: random.Random) -> Shape:
    if rng.random() < 0.1:
        return ANY_SHAPE
    items: list[Any] = [UNKNOWN if rng.random() < 0.2 else d for d in shape.items]
    if rng.random() < 0.4:
        left = rng.randint(0, len(items))
        items[left : rng.randint(left, len(items))] = [ANY_REST]
    return Shape(tuple(items))


def _weaken_dtype(dtype: DType | None, rng: random.Random) -> DType | None:
    if dtype is None or dtype.category is None or rng.random() < 0.7:
        return dtype
    return BY_NAME[rng.choice(_FAMILIES[dtype.category])] if rng.random() < 0.5 else None


def _lifted(call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return lift_arguments(call.name, call.args), {k: lift(v) for k, v in call.kwargs.items()}


def _verdict(call: Call, answer: Any, truth: Any) -> Judgement:
    """The verdict on a call known in part; a refusal of what torch refuses is right, and silence is no fault."""
    if isinstance(truth, Exception):
        return Judgement("both_refuse" if isinstance(answer, Report) else "missed", answer, truth)
    if isinstance(answer, Report):
        excused = answer.kind == "broadcast" and grows(call.args, call.kwargs)
        return Judgement("flagged" if excused else "false_error", answer, truth)
    return Judgement(compare(answer, truth), answer, truth)


def weakened(call: Call, *, seed: int = 0, count: int = 3) -> Iterator[tuple[str, Judgement]]:
    """The call with less known, ``count`` times: how it looks, and the verdict."""
    truth = run_torch(call.name, call.args, call.kwargs)
    args, kwargs = _lifted(call)
    rng = random.Random(f"{seed} {call}")
    for _ in range(count):
        known = weaken_arguments(args, rng), {k: weaken(v, rng) for k, v in kwargs.items()}
        yield show_lifted(call.name, *known), _verdict(call, infer(call.name, *known), truth)


def weaken_arguments(args: tuple[Any, ...], rng: random.Random) -> tuple[Any, ...]:
    """Each argument weakened; a method's own tensor stays a tensor."""
    return tuple(weaken(a, rng) for a in args)


def show_lifted(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """The call as the rules see it."""

    def text(value: Any) -> str:
        return f"({', '.join(map(text, value))})" if isinstance(value, tuple) else str(value)

    return f"{name}({', '.join([*map(text, args), *(f'{k}={text(v)}' for k, v in kwargs.items())])})"


def symbolic(call: Call) -> tuple[str, Judgement] | None:
    """The call with a variable for every size that its tensors have, judged after putting the sizes back.

    None where there is no size to replace. A refusal may be right, because it speaks of all sizes: it is "missed".
    """
    args, kwargs = _lifted(call)
    names: dict[int, Expr] = {}
    sizes: dict[Var, Dim] = {}

    def name_of(size: Any) -> Any:
        if not isinstance(size, int) or size < 2:
            return size
        if size not in names:
            v = Var(f"N{size}")
            sizes[v] = size
            names[size] = Expr(((((v, 1),), 1),))
        return names[size]

    def tensors(value: Any) -> Any:
        match value:
            case TensorType():
                return replace(value, shape=Shape(tuple(map(name_of, value.shape.items))))
            case tuple():
                return tuple(map(tensors, value))
            case int() if not isinstance(value, bool) and value >= 7:  # smaller ints may be dim numbers
                return names.get(value, value)
            case _:
                return value

    for value in (*args, *kwargs.values()):
        tensors(value)  # names all sizes first
    if not names:
        return None
    known = tensors(args), {k: tensors(v) for k, v in kwargs.items()}
    answer = infer(call.name, *known)
    truth = run_torch(call.name, call.args, call.kwargs)
    if isinstance(answer, Report) and not isinstance(truth, Exception):
        return show_lifted(call.name, *known), Judgement("missed", answer, truth)
    return show_lifted(call.name, *known), _verdict(call, _put_back(answer, sizes), truth)


def _put_back(answer: Any, sizes: Mapping[Var, Dim]) -> Any:
    match answer:
        case TensorType():
            return replace(answer, shape=answer.shape.substitute(sizes))
        case Expr():
            return substitute(answer, sizes)
        case tuple():
            return tuple(_put_back(v, sizes) for v in answer)
        case Many(item=each):
            return Many(replace(each, shape=each.shape.substitute(sizes)))
        case Named():
            return Named(answer.type_name, tuple((k, _put_back(v, sizes)) for k, v in answer.fields))
        case _:
            return answer
