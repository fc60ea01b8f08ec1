"""`torch.export` with dims from the signature, refined by what the program itself states (``assert h % 8 == 0``)."""

from __future__ import annotations

import dataclasses
import io
import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr
from typing import Any, Final

import torch
from torch import nn
from torch.export import Dim as ExportDim
from torch.export import ExportedProgram
from torch.export._patches import (  # torch's pages have no other way to keep an LSTM's time open; they import it so
    register_gru_while_loop_decomposition,
    register_lstm_while_loop_decomposition,
)
from torch.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes
from torch.fx.experimental import (
    _config as symbolic_config,
)  # the one switch for sizes 0 and 1; torch documents it there

from simpletorch.errors import BackendError, Location
from simpletorch.export._call import Call
from simpletorch.export._failure import explained_failure, location_in_stack, original
from simpletorch.export._signature import Symbol, TensorSpec
from simpletorch.export._sizes import Point, runs
from simpletorch.shapes import Dim, Expr, Unknown, evaluate, variables

__all__ = ["RECURRENT", "Captured", "Way", "capture", "is_about_one", "looping", "quiet", "refuse_fixed"]

_ROUNDS: Final = 6
RECURRENT: Final = (torch.ops.aten.lstm.input, torch.ops.aten.gru.input)


@dataclasses.dataclass(frozen=True)
class Way:
    """How torch is asked for a program.

    Attributes:
        alike: sizes 0 and 1 are as any other; torch's own way makes them special, which some programs need.
        strict: torch reads the program's bytecode instead of running it, which keeps ``len(x)`` open.
        narrows: a size may begin at 2 where the program is another one for 1.
        loops: LSTM and GRU are one operation each, a loop over an open time; torch's own way writes out each step.
    """

    alike: bool = False
    strict: bool = False
    narrows: bool = False
    loops: bool = False


@dataclasses.dataclass(frozen=True)
class Captured:
    """A torch program and its symbols: ``fixed`` ones are numbers there, ``equal`` ones equal another.

    ``places`` has the line at which a symbol became a number, where torch says it.
    """

    program: ExportedProgram
    symbols: tuple[Symbol, ...]
    fixed: Mapping[str, int]
    equal: Mapping[str, str]
    places: Mapping[str, Location]


def capture(call: Call, module: nn.Module, symbols: Sequence[Symbol], base: Point, way: Way) -> Captured:
    """Export ``module`` in one way.

    Raises:
        BackendError: torch can't export it; with the line of the program and what to write instead.
    """
    tensors = call.tensors(base)
    assert tensors is not None, "the base is a point at which the model runs"
    dims = {s.name: ExportDim(_dim_name(s.name), min=s.least, max=s.most) for s in symbols}
    shapes: list[dict[int, Any]] = [_shapes(spec, dims) for spec in call.specs]
    places: dict[str, Location] = {}
    for _ in range(_ROUNDS):
        try:
            program = _export(module, tensors, shapes, way)
        except Exception as error:  # of many kinds; torch has no base class for them
            places |= _places(error)
            shapes = _refined(error, shapes, module, way.narrows)
        else:
            captured = _read(program, call, symbols, shapes, base)
            own = {name: places[_dim_name(name)] for name in captured.fixed if _dim_name(name) in places}
            return dataclasses.replace(captured, places=own)
    raise BackendError("torch.export asks for other limits of the sizes again and again", operation="export")


def _export(module: nn.Module, tensors: Sequence[torch.Tensor], shapes: Sequence[Any], way: Way) -> ExportedProgram:
    alike = symbolic_config.patch(backed_size_oblivious=way.alike)  # type: ignore[attr-defined]  # added at run time
    said = io.StringIO()
    # torch prints its graph when it fails; the error has the line. Output of the model is shown.
    with quiet(), alike, looping() if way.loops else nullcontext(), redirect_stderr(said):
        program = torch.export.export(module, tuple(tensors), dynamic_shapes=tuple(shapes), strict=way.strict)
    sys.stderr.write(said.getvalue())
    return program


@contextmanager
def looping() -> Iterator[None]:
    """LSTM and GRU as loops; torch's own ways are back afterwards."""
    # torch exchanges their kernels and forgets that an operator remembers those it has used (torch 2.13)
    kernels = [operator._dispatch_cache for operator in RECURRENT]
    with register_lstm_while_loop_decomposition(), register_gru_while_loop_decomposition():
        for remembered in kernels:
            remembered.clear()
        try:
            yield
        finally:
            for remembered in kernels:
                remembered.clear()


_LOGGERS: Final = (
    "torch.export",
    "torch._guards",
    "torch.fx.experimental.symbolic_shapes",
    "torch._export.serde.serialize",
)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings that torch's exporters have about themselves, and their logs of attempts that fail.

    Logs that ``TORCH_LOGS`` asks for stay.
    """
    with warnings.catch_warnings(), ExitStack() as after:
        warnings.simplefilter("ignore")
        for logger in map(logging.getLogger, _LOGGERS):
            if logger.getEffectiveLevel() >= logging.WARNING:
                after.callback(logger.setLevel, logger.level)
                logger.setLevel(logging.CRITICAL)
        yield


def _dim_name(name: str) -> str:
    return name if name.isidentifier() else f"d_{name}"


def _shapes(spec: TensorSpec, dims: Mapping[str, Any]) -> dict[int, Any]:
    """The open dims of an input as torch's: of one symbol times a number plus a number; any other is left to torch."""
    found: dict[int, Any] = {}
    for i, size in enumerate(spec.shape):
        if isinstance(size, int):
            continue
        affine = _affine(size)
        if affine is None:
            found[i] = ExportDim.AUTO
        else:
            name, times, plus = affine
            dim = dims[name]
            dim = dim if times == 1 else times * dim
            found[i] = dim if plus == 0 else dim + plus
    return found


def _affine(size: Dim) -> tuple[str, int, int] | None:
    """``(name, a, b)`` of ``a*name + b``; None for any other size."""
    names = variables(size)
    if len(names) != 1 or isinstance(size, int | Unknown):
        return None
    (name,) = names
    at = [evaluate(size, {name: n}) for n in (1, 2, 3, 10)]
    if any(value is None for value in at):
        return None
    one, two, three, ten = (value for value in at if value is not None)
    times = two - one
    plain = three == two + times and ten == one + 9 * times and not isinstance(size, int)
    return (name.name, times, one - times) if plain and times > 0 and _is_polynomial(size) else None


def _is_polynomial(size: Expr) -> bool:
    return "//" not in str(size) and "%" not in str(size) and "(" not in str(size)


def _refined(error: Exception, shapes: list[dict[int, Any]], module: nn.Module, narrows: bool) -> list[dict[int, Any]]:
    """The dims as torch suggests them.

    Raises:
        BackendError: it suggests nothing, or nothing new.
    """
    cause = original(error)
    message = getattr(cause, "msg", None) or str(cause)
    if "Suggested fixes:" not in message:
        limited = _limited(message, shapes, narrows)
        if limited is not None:
            return limited
        raise explained_failure(error, "torch.export", module) from error
    try:
        # torch's names for the inputs don't matter to it: it goes through the dims
        named = {str(i): shape for i, shape in enumerate(shapes)}
        new = refine_dynamic_shapes_from_suggested_fixes(message, named)
    except Exception as nothing:  # a suggestion in words
        raise explained_failure(error, "torch.export", module) from nothing
    refined = [dict(new[str(i)] or {}) if isinstance(new, Mapping) else {} for i in range(len(shapes))]
    if str(refined) == str(shapes):
        raise explained_failure(error, "torch.export", module) from error
    return refined


_GUARD: Final = (
    r"Not all values of (?P<name>\w+) = (?P<size>[^\n]*?) in the specified range[^\n]*? satisfy the generated guard "
)
_NOT_ONE: Final = re.compile(_GUARD + r"[^\n]* != 1\.?$", re.M)
_AT_MOST: Final = re.compile(_GUARD + r"min\((?P<most>\d+), (?P=size)\) == (?P=size)\.?$", re.M)
"""What a slice of a table says: ``self.causal[:t, :t]`` has no more rows than the table."""


def is_about_one(error: Exception) -> bool:
    """Whether torch says that a program is another one for size 1."""
    return error.__cause__ is not None and _NOT_ONE.search(str(original(error.__cause__))) is not None


def _limited(message: str, shapes: list[dict[int, Any]], narrows: bool) -> list[dict[int, Any]] | None:
    """The dims with limits that torch says in words: from 2 on, if it ``narrows`` them, and at most what a table has.

    None if that is nothing new.
    """
    above_one = {match["name"] for match in _NOT_ONE.finditer(message)} if narrows else set()
    most = {match["name"]: int(match["most"]) for match in _AT_MOST.finditer(message)}
    new = {}
    for dim in (dim for shape in shapes for dim in shape.values()):
        if getattr(dim, "__name__", None) not in above_one | most.keys() or hasattr(dim, "root"):
            continue
        least = max(int(dim.min), 2) if dim.__name__ in above_one else int(dim.min)
        limit = min(most.get(dim.__name__, _UNLIMITED), int(dim.max) if dim.max < _UNLIMITED else _UNLIMITED)
        if (least, limit) != (int(dim.min), min(dim.max, _UNLIMITED)) and least <= limit:
            new[dim.__name__] = ExportDim(dim.__name__, min=least, max=None if limit == _UNLIMITED else limit)
    if not new:
        return None
    return [{i: new.get(getattr(dim, "__name__", ""), dim) for i, dim in shape.items()} for shape in shapes]


_SPECIALIZED: Final = re.compile(
    r"You marked (?P<name>\w+) as dynamic but your code specialized it[^\n]*\n(?P<stack>.*?)(?=\n *- |\Z)", re.S
)


def _places(error: Exception) -> dict[str, Location]:
    """The lines at which sizes became numbers, by torch's names for them."""
    cause = original(error)
    message = getattr(cause, "msg", None) or str(cause)
    found = {match["name"]: location_in_stack(match["stack"]) for match in _SPECIALIZED.finditer(message)}
    return {name: place for name, place in found.items() if place is not None}


def _read(
    program: ExportedProgram, call: Call, symbols: Sequence[Symbol], shapes: Sequence[Mapping[int, Any]], base: Point
) -> Captured:
    """The symbols in the program."""
    by_name = {s.name: s for s in symbols}
    fixed: dict[str, int] = {}
    equal: dict[str, str] = {}
    own = {_dim_name(name): name for name in by_name}
    for spec, shape in zip(call.specs, shapes, strict=True):
        for i, size in enumerate(spec.shape):
            name = str(size)
            if name not in by_name or i not in shape or shape[i] is ExportDim.AUTO:
                continue
            dim = shape[i]
            if dim is None or isinstance(dim, int):
                fixed[name] = base[name]
            elif hasattr(dim, "root"):  # torch's class of derived dims has no public name
                by_name[name] = _stepped(by_name[name], dim)
            elif own.get(dim.__name__, name) != name:
                equal[name] = own[dim.__name__]
            else:
                least = max(by_name[name].least, int(dim.min))
                most = None if dim.max >= _UNLIMITED else int(dim.max)
                by_name[name] = dataclasses.replace(by_name[name], least=least, most=most)
    kept = tuple(s for name, s in by_name.items() if name not in fixed and name not in equal)
    return Captured(program, kept, fixed, equal, {})


_UNLIMITED: Final = 2**31  # torch writes "no limit" as one of several numbers, all of them larger


def _stepped(symbol: Symbol, dim: Any) -> Symbol:
    """The symbol of a dim that torch derives from another: a multiple, and a number more."""
    step, offset = dim.fn(1) - dim.fn(0), dim.fn(0)
    least = max(symbol.least, dim.fn(max(int(dim.root.min), 1)))
    least += (offset - least) % step
    most = symbol.most
    if dim.root.max < _UNLIMITED:
        most = dim.fn(int(dim.root.max)) if most is None else min(most, dim.fn(int(dim.root.max)))
    return dataclasses.replace(symbol, least=least, most=most, step=step, offset=offset % step)


def refuse_fixed(call: Call, captured: Captured, base: Point) -> None:
    """Raise for a size that the exported program fixes, though the model runs with others.

    Raises:
        BackendError: with the size, and the range that the annotation promises.
    """
    for name, size in captured.fixed.items():
        for other in (size + 1, 2 * size, size + 8, 4 * size):
            if runs(call, {**base, name: other}) is None:
                raise BackendError(
                    f"{name} is open in the annotation, but exporting made it the number {size}: the model runs with "
                    f"{name}={other}, and the exported program wouldn't",
                    operation="export",
                    location=captured.places.get(name),
                    hint=f"a size was turned into a Python number, by int(…), len(x), a comparison or a loop over it; "
                    f"keep it as x.shape[i] in views and slices, or fix it: dynamic={{{name!r}: {size}}}",
                )
