"""From a model to a verified program of torch: the first part of every export."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import torch
from torch import nn
from torch.export import ExportedProgram

from simpletorch.errors import BackendError
from simpletorch.export._call import Call
from simpletorch.export._capture import Captured, Way, capture, is_about_one, refuse_fixed
from simpletorch.export._random import draws, warn_of_dropout
from simpletorch.export._reading import Dynamic, read_request
from simpletorch.export._report import Comparison, Report
from simpletorch.export._runners import Runner, run_program
from simpletorch.export._signature import (
    Group,
    Node,
    Signature,
    Symbol,
    TensorSpec,
    described,
    leaves,
    tensors_of,
)
from simpletorch.export._sizes import base_point, eager_limits, points
from simpletorch.export._verify import Refusal, compare
from simpletorch.nn._summary_symbols import explain
from simpletorch.shapes import UNKNOWN, Dim, parse_dim, substitute, var
from simpletorch.shapes.dim import Var

__all__ = ["Prepared", "names_of", "prepare", "prepare_eagerly"]


@dataclasses.dataclass(frozen=True)
class Prepared:
    """An analysed model: its call, the sizes at which it runs, and its results."""

    call: Call
    module: nn.Module  # what is exported: the model, or a function of tensors around it
    base: Mapping[str, int]
    points: tuple[Mapping[str, int], ...]
    signature: Signature
    fixed: Mapping[str, int]
    program: ExportedProgram | None
    comparisons: tuple[Comparison, ...]
    tolerance: float | None

    def verified(self, run: Runner, kind: str) -> tuple[Comparison, ...]:
        """An artefact compared with the model at all points.

        Raises:
            BackendError: it doesn't give the model's results.
        """
        try:
            return tuple(compare(self.call, run, self.points, kind, self.tolerance))
        except BackendError:
            if not self.call.draws_masks():
                raise
            # a text of one token is all padding in one of two ways to write a mask, and no model says which is its own
            with contextlib.suppress(BackendError):
                self.call.alone = True
                return tuple(compare(self.call, run, self.points, kind, self.tolerance))
            self.call.alone = False
            raise

    def report(self, kind: str, comparisons: Sequence[Comparison]) -> Report:
        """The report of an artefact of this model."""
        random = () if self.program is None else tuple(map(str, draws(self.program)))
        return Report(
            kind, None, str(self.signature), self.signature.symbols, self.fixed, tuple(comparisons), random=random
        )

    def tensors(self) -> list[torch.Tensor]:
        """Inputs at the base."""
        tensors = self.call.tensors(self.base)
        assert tensors is not None, "the base is a point at which the model runs"
        return tensors


def prepared_call(model: nn.Module, inputs: Any, dynamic: Dynamic | None) -> tuple[Call, dict[str, int]]:
    """How the model is called, and sizes at which it runs; the model is in eval mode."""
    call = Call(read_request(model, inputs, dynamic))
    base = base_point_with_ranges(call)
    return call, base


def base_point_with_ranges(call: Call) -> dict[str, int]:
    """The base, with the integers that the model's tables allow."""
    for sizes in _first_sizes(call):
        call.find_ranges(sizes)
        if any(most > 0 for _, most in call.ranges.values()) or not call.ranges:
            break
    return base_point(call)


def _first_sizes(call: Call) -> Iterator[dict[str, int]]:
    for size in (5, 16, 32):
        yield {s.name: max(s.least, min(size, s.most or size)) for s in call.request.symbols}


_OWN_WAY: Final = Way()
_WAYS: Final = (
    *(Way(alike=True), _OWN_WAY, Way(alike=True, strict=True)),
    *(Way(narrows=True), Way(alike=True, narrows=True), Way(alike=True, strict=True, narrows=True)),
)


def _ways(model: nn.Module, symbols: Sequence[Symbol], compiled: bool) -> Sequence[Way]:
    """The ways to try, in order."""
    ways = sorted(_WAYS, key=lambda way: way != _OWN_WAY) if compiled else _WAYS
    recurrent = symbols and any(isinstance(m, nn.LSTM | nn.GRU) for m in model.modules())
    return (Way(loops=True), *ways) if recurrent else ways


def prepare(
    model: nn.Module, inputs: Any, dynamic: Dynamic | None, tolerance: float | None, *, compiled: bool = False
) -> Prepared:
    """Export a model with `torch.export` and compare the program with the model; the model is in eval mode.

    All sizes are alike first; some programs need torch's own way, in which 0 and 1 are special. Torch's strict way
    comes then: it knows less of Python, and keeps more sizes open. Where a program refuses the least size of a symbol
    in each of these ways, that is its limit. LSTM and GRU are loops first, so that their time stays open. A program
    that will be ``compiled`` begins with torch's own way: if all sizes of a program are alike, Inductor makes code for
    it that gives wrong numbers (torch 2.13, convolutions of open sizes).

    Raises:
        BackendError: it can't be exported, or the program differs from the model.
    """
    call, base = prepared_call(model, inputs, dynamic)
    limited = tuple(eager_limits(call, symbol, base) for symbol in call.request.symbols)
    fixed = {s.name: s.least for s in limited if s.least == s.most}
    if fixed:
        limited = tuple(s for s in limited if s.name not in fixed)
        call, base = call.with_sizes(fixed, limited), {s.name: base[s.name] for s in limited}
    output = call.eager(call.tensors(base) or [])
    module = call.exported_form(output)
    failures: list[BackendError] = []
    for way in _ways(model, limited, compiled):
        if way.narrows and not any(isinstance(f, Refusal) or is_about_one(f) for f in failures):
            break  # no size is to blame
        try:
            captured = capture(call, module, limited, base, way)
            refuse_fixed(call, captured, base)
            captured = dataclasses.replace(captured, fixed={**fixed, **captured.fixed})
            found = _compared(call, module, captured, base, tolerance, narrows=way.narrows)
            warn_of_dropout(draws(captured.program))
            return found
        except BackendError as error:
            failures.append(error)
    # what narrowing a size didn't help isn't about that size
    chosen = next((f for f in failures if not is_about_one(f)), failures[0])
    # torch knows the line in some ways only
    raise next((f for f in failures if f.reason == chosen.reason and f.location is not None), chosen)


def prepare_eagerly(model: nn.Module, inputs: Any, dynamic: Dynamic | None, tolerance: float | None) -> Prepared:
    """The result of `prepare` without a torch program: sizes at which the model runs, and its results there.

    Raises:
        BackendError: the model runs at none of the sizes that were tried.
    """
    call, base = prepared_call(model, inputs, dynamic)
    symbols = tuple(eager_limits(call, symbol, base) for symbol in call.request.symbols)
    module = call.exported_form(call.eager(call.tensors(base) or []))
    chosen = points(call, symbols, base)
    node = output_node(call, chosen, symbols)
    signature = Signature(tuple((p.name, p.node) for p in call.request.parameters), node, symbols)
    return Prepared(call, module, base, tuple(chosen), signature, {}, None, (), tolerance)


def _compared(
    call: Call,
    module: nn.Module,
    captured: Captured,
    base: Mapping[str, int],
    tolerance: float | None,
    *,
    narrows: bool,
) -> Prepared:
    symbols = captured.symbols
    known: dict[str, Dim] = {**captured.fixed, **{a: parse_dim(b) for a, b in captured.equal.items()}}
    if known:
        call = call.with_sizes(known, symbols)
    base = {s.name: base[s.name] for s in symbols}
    # a fact that the program states (a multiple of 8) is known only now
    symbols = tuple(eager_limits(call, s, base) if s.step > 1 else s for s in symbols)
    run = run_program(captured.program)
    for _ in range(2 * len(symbols) + 1):
        chosen = points(call, symbols, base)
        try:
            comparisons = compare(call, run, chosen, "program", tolerance)
        except Refusal as refusal:
            narrowed = _without_least(symbols, refusal) if narrows else None
            if narrowed is None:
                raise
            symbols = narrowed
        else:
            break
    else:
        raise BackendError("the exported program runs at no size at which the model runs", operation="export")
    signature = Signature(
        tuple((p.name, p.node) for p in call.request.parameters), output_node(call, chosen, symbols), symbols
    )
    return Prepared(
        call, module, base, tuple(chosen), signature, captured.fixed, captured.program, tuple(comparisons), tolerance
    )


def _without_least(symbols: Sequence[Symbol], refusal: Refusal) -> tuple[Symbol, ...] | None:
    """The symbols without the one least size, 0 or 1 steps, at which the program doesn't run."""
    for i, symbol in enumerate(symbols):
        if refusal.sizes.get(symbol.name) == symbol.least <= symbol.step:
            narrowed = dataclasses.replace(symbol, least=symbol.least + symbol.step)
            return (*symbols[:i], narrowed, *symbols[i + 1 :])
    return None


# -- what it gives --------------------------------------------------------------------------------------------------


def output_node(call: Call, points: Sequence[Mapping[str, int]], symbols: Sequence[Symbol]) -> Node | None:
    """The model's output: its sizes as expressions over the symbols, fitted to its results at the points."""
    outputs = [call.eager(call.tensors(point) or []) for point in points]
    shapes = [[tuple(t.shape) for t in leaves(output)] for output in outputs]
    names = iter(_returned_names(call.request.model, outputs[0]))
    if any([len(s) for s in found] != [len(s) for s in shapes[0]] for found in shapes):
        return None
    sizes = iter([_explained(columns, points, symbols) for columns in zip(*shapes, strict=True)])

    def leaf(name: str, tensor: torch.Tensor) -> TensorSpec:
        return TensorSpec(name or next(names), tensor.dtype, next(sizes))

    node = described(outputs[0], "", leaf)
    return None if node is None else _named(node, list(names) or _returned_names(call.request.model, outputs[0]))


def _named(node: Node, names: Sequence[str]) -> Node:
    """The items of a tuple by the names that the program returns them under."""
    if isinstance(node, Group) and not node.keys and len(names) == len(node.items):
        items = tuple(
            dataclasses.replace(item, name=name) if isinstance(item, TensorSpec) else item
            for item, name in zip(node.items, names, strict=True)
        )
        return dataclasses.replace(node, items=items)
    return node


def _explained(
    shapes: Sequence[tuple[int, ...]], points: Sequence[Mapping[str, int]], symbols: Sequence[Symbol]
) -> tuple[Dim, ...]:
    """A size for each dim, as an expression over the symbols."""
    if not symbols:
        return tuple(shapes[0])
    plain = tuple(explain(list(sizes), list(points)) for sizes in zip(*shapes, strict=True))
    # in steps, so that a quarter of what is a multiple of 4 is a polynomial
    counted = [{s.name: (point[s.name] - s.offset) // s.step for s in symbols} for point in points]
    steps = {Var(s.name): (var(s.name) - s.offset) // s.step for s in symbols if s.step > 1}
    columns = zip(*shapes, strict=True)
    return tuple(
        substitute(explain(list(sizes), counted), steps) if size is UNKNOWN else size
        for size, sizes in zip(plain, columns, strict=True)
    )


def _returned_names(model: nn.Module, output: Any) -> list[str]:
    """The names in the last ``return`` of ``forward``; ``output``, or ``output_0`` and so on, if there are none."""
    count = len(output) if isinstance(output, tuple | list) else 1
    general = ["output"] if not isinstance(output, tuple | list) else [f"output_{i}" for i in range(count)]
    forward = inspect.unwrap(type(model).forward)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(forward)))
    except (OSError, TypeError, SyntaxError):  # no source: made by a program, or typed into an interpreter
        return general
    taken = set(inspect.signature(forward).parameters)
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    parts = values[-1].elts if values and isinstance(values[-1], ast.Tuple) else values[-1:]
    names = [part.id if isinstance(part, ast.Name) else "" for part in parts]
    if len(names) != count or not all(names) or len(set(names)) < count or taken & set(names):
        return general
    return names


def names_of(node: Node | None) -> list[str]:
    """The names of the tensors of an output."""
    return [] if node is None else [spec.name for spec in tensors_of(node)]
