"""The rules' answer against torch's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import torch

from simpletorch.rules import ANYTHING, Many, Named, Report, Scalar, TensorType, infer
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import Expr, Rest, Shape, Unknown
from tests.oracle.truth import lacks_kernel, lift, run, run_torch, show, tensors_in

Verdict: TypeAlias = Literal["exact", "partial", "unknown", "wrong", "false_error", "missed", "both_refuse", "flagged"]
VERDICTS: tuple[Verdict, ...] = Verdict.__args__  # type: ignore[attr-defined]

VALUE_DEPENDENT = re.compile(
    r"(^|\.)(nonzero|nonzero_static|masked_select|unique|unique_consecutive|argwhere|bincount|item|tolist|"
    r"repeat_interleave|equal|allclose|is_nonzero|__bool__|__float__|__int__|__complex__|__index__)$"
)


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("exact", "partial", "unknown", "wrong")
    found = list(verdicts)
    if found and all(v == "unknown" for v in found):
        return "unknown"
    worst = max(found, key=order.index, default="exact")
    return "partial" if worst == "unknown" else worst


def compare_dims(answer: object, truth: int) -> Verdict:
    """A dim against the size torch gives."""
    if isinstance(answer, Unknown):
        return "partial"
    if isinstance(answer, Expr):
        return "wrong"
    return "exact" if answer == truth else "wrong"


def compare_shapes(answer: Shape, truth: Shape) -> Verdict:
    """A shape, perhaps with a variadic part, against the one torch gives."""
    sizes = truth.dims
    if answer.is_exact:
        if len(answer.items) != len(sizes):
            return "wrong"
        return _worst(compare_dims(a, t) for a, t in zip(answer.dims, sizes, strict=True))  # type: ignore[arg-type]
    if answer.rest != Rest() or answer.min_rank > len(sizes):
        return "wrong"
    heads = zip(answer.head, sizes, strict=False)
    tails = zip(reversed(answer.tail), reversed(sizes), strict=False)
    met = [compare_dims(a, t) for a, t in (*heads, *tails)]  # type: ignore[arg-type]
    return "wrong" if "wrong" in met else "partial" if met else "unknown"


def compare_dtypes(answer: DType | None, truth: DType | None) -> Verdict:
    """A dtype, perhaps a family of them, against the one torch gives."""
    if answer is None:
        return "unknown" if truth is not None else "exact"  # a dtype that has no name here
    if truth is None:
        return "wrong" if answer.is_concrete else "partial"
    if answer.is_concrete:
        return "exact" if answer == truth else "wrong"
    return "partial" if answer.category in (None, truth.category) else "wrong"


def compare(answer: Any, truth: Any) -> Verdict:
    """The rules' answer against torch's: the same, less known, not known, or wrong."""
    if answer is ANYTHING or truth is ANYTHING:
        return "unknown"
    match answer, truth:
        case TensorType(), TensorType():
            return _worst((compare_shapes(answer.shape, truth.shape), compare_dtypes(answer.dtype, truth.dtype)))
        case Named(), Named():
            if [k for k, _ in answer.fields] != [k for k, _ in truth.fields]:
                return "wrong"
            if answer.type_name.rpartition(".")[2] != truth.type_name.rpartition(".")[2]:
                return "wrong"
            return _worst(compare(a, t) for (_, a), (_, t) in zip(answer.fields, truth.fields, strict=True))
        case tuple(), Named():
            fields = tuple(v for _, v in truth.fields)
            return _worst((compare(answer, fields), "partial"))
        case Many(), tuple():
            return _worst(["partial", *(compare(answer.item, t) for t in truth)])
        case tuple(), tuple():
            if len(answer) != len(truth):
                return "wrong"
            return _worst(compare(a, t) for a, t in zip(answer, truth, strict=True))
        case Scalar(), bool() | float() | complex():
            return "partial" if answer.type == type(truth).__name__ else "wrong"
        case Unknown(), int() if not isinstance(truth, bool):
            return "partial"
        case _:
            return "exact" if type(answer) is type(truth) and answer == truth else "wrong"


@dataclass
class Judgement:
    """A verdict with the two answers that led to it."""

    verdict: Verdict
    answer: Any
    truth: Any

    def __str__(self) -> str:
        answer = self.answer.text if isinstance(self.answer, Report) else self.answer
        truth = f"{type(self.truth).__name__}: {self.truth}" if isinstance(self.truth, Exception) else self.truth
        return f"{self.verdict}\n    rules: {_plain(answer)}\n    torch: {_plain(truth)}"


def _plain(value: object) -> str:
    match value:
        case tuple():
            return f"({', '.join(map(_plain, value))})"
        case Named():
            return f"{value.type_name}({', '.join(f'{k}={_plain(v)}' for k, v in value.fields)})"
        case _:
            return " ".join(str(value).split())[:300]


def grows(args: Any, kwargs: Any) -> bool:
    """Whether the operands broadcast to something larger than each of them."""
    shapes = [tuple(t.shape) for t in tensors_in(args, kwargs)][:2]
    try:
        joint = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        return False
    return all(joint.numel() > torch.Size(s).numel() for s in shapes)


def examine(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Judgement:
    """Ask both and compare."""
    lifted = {k: lift(v) for k, v in (kwargs or {}).items()}
    return weigh(infer(name, lift_arguments(name, args), lifted), name, args, kwargs)


def weigh(answer: Any, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Judgement:
    """Compare an answer, whoever gave it, with torch's."""
    kwargs = dict(kwargs or {})
    truth = run_torch(name, args, kwargs)
    if isinstance(answer, Report) and not isinstance(truth, Exception):
        refusal = run(name, tuple(args), kwargs, "cpu")
        truth = refusal if lacks_kernel(refusal) else truth  # accepted on meta alone: either answer is right
    if isinstance(truth, Exception):
        return Judgement("both_refuse" if isinstance(answer, Report) else "missed", answer, truth)
    if isinstance(answer, Report):
        excused = answer.kind == "broadcast" and grows(args, kwargs)
        return Judgement("flagged" if excused else "false_error", answer, truth)
    verdict = compare(answer, truth)
    if verdict == "partial" and _depends_on_values(name, args, kwargs):
        verdict = "exact"  # nothing more can be known
    return Judgement(verdict, answer, truth)


def lift_arguments(name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """``x[[1, 2]]`` and ``x[1, 2]`` differ, so for the rules a list stands inside a tuple, as the plugin puts it."""
    if name.endswith(("__getitem__", "__setitem__")) and isinstance(args[1], list):
        args = (args[0], (args[1],), *args[2:])
    return lift(tuple(args))  # type: ignore[no-any-return]


def _depends_on_values(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    if VALUE_DEPENDENT.search(name) or (name in ("torch.where", "Tensor.where") and len(args) + len(kwargs) == 1):
        return True
    if name.endswith("tensor_split"):
        return bool(tensors_in(args[1:], kwargs))
    masks = tensors_in(args[1:], kwargs)
    return name.endswith("__getitem__") and any(t.dtype in (torch.bool, torch.uint8) for t in masks)


def judge(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Verdict:
    """The verdict on ``name(*args, **kwargs)``.

    exact: same shape and dtype (or all that can be known without values); partial: consistent, but less is known;
    unknown; wrong; false_error: torch accepts, the rules don't; missed: the other way round; both_refuse;
    flagged: a likely mistake that torch accepts (a broadcast larger than either operand).
    """
    return examine(name, args, kwargs).verdict


@dataclass
class Call:
    """One call: the public name, its arguments, the entry of op_db that it comes from, and what was changed in it."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    change: Literal["", "dim", "dtype"] = ""

    def __str__(self) -> str:
        shown = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"{self.name}({', '.join(shown)})"

    def judge(self) -> Judgement:
        """The verdict on this call, with both answers."""
        return examine(self.name, self.args, self.kwargs)
