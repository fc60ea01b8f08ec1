"""Loaders of data: arguments that torch refuses (`tensor-option`), and parts of a data set mistaken for others.

A program that splits its data, and never uses one of the parts, has given another one, or the whole, to a loader where
that part was meant: it trains on what it evaluates with, or the other way round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard, final

from simpletorch.follow import guards
from simpletorch.follow.findings import Finding
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources.syntax import parse, walk
from simpletorch.follow.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "Loading"]

_BASES: Final = frozenset({"torch.utils.data.Dataset", "builtins.object", "typing.Generic", "abc.ABC"})
_OPTION: Final = "tensor-option"


@final
@dataclass(slots=True)
class _Part:
    """A part of a data set under its name, the whole that it is a part of, and the file."""

    value: Instance
    name: str
    whole: int
    path: str


@final
@dataclass(slots=True)
class Loading:
    """What one follow has seen of data sets and loaders."""

    parts: dict[int, _Part] = field(default_factory=dict)
    loaders: list[tuple[Value, Value, str, Finding]] = field(default_factory=list)
    """Of each loader: its data set, its sampler, its name, and what would be said at its place."""
    shuffles: bool = False  # whether a loader does


# -- arguments that torch refuses --------------------------------------------------------------------------------------


def _made(run: Interpreter, dataset: Value, given: Mapping[str, Value]) -> None:
    """The arguments of a ``DataLoader``; those that aren't given are left out."""
    known = {k: run.resolve(v) for k, v in given.items()}
    if _lacks_length(run, dataset) and not {"sampler", "batch_sampler"} & known.keys():
        message = f"DataLoader: {dataset.cls.name} has no __len__, so its indices are unknown"
        hint = "def __len__(self), or an IterableDataset, which has __iter__ instead of __getitem__"
        guards.refuse(run, message, hint)
        return
    wrong = _wrong(known, isinstance(dataset, Instance) and dataset.cls.is_a("torch.utils.data.IterableDataset"))
    if wrong is not None:
        guards.refuse(run, f"DataLoader: {wrong[0]}", wrong[1], "ValueError", _OPTION)
        return
    if run.entry or run.hypothetical:
        return
    run.training.of(Loading).shuffles |= known.get("shuffle") is True
    name = _assigned(run)
    if name is not None:
        found = run.finding("tensor-training", "", None)
        run.training.of(Loading).loaders.append((dataset, known.get("sampler"), name, found))


def _indexed(run: Interpreter, value: Instance) -> Unknown | None:
    """A loader can't be indexed."""
    if not value.cls.is_a("torch.utils.data.DataLoader") or value.cls.find("__getitem__") is not None:
        return None
    return guards.refuse(run, "a DataLoader has no items: one goes over it", "next(iter(loader)) is the first batch")


def _lacks_length(run: Interpreter, dataset: Value) -> bool:
    """Whether a data set of the program's own has samples by their index, and surely no length."""
    if not isinstance(dataset, Instance) or dataset.state.get("open") or dataset.cls.find("__len__") is not None:
        return False
    plain = all(c.module == run.program.main or c.qualified in _BASES for c in dataset.cls.mro)
    return plain and dataset.cls.unknown_base is None and dataset.cls.find("__getitem__") is not None


def _wrong(known: Mapping[str, Value], is_stream: bool) -> tuple[str, str] | None:
    """What torch refuses of the arguments, and what would be right; None where it takes them."""
    size, sampler, batches = known.get("batch_size", 1), known.get("sampler"), known.get("batch_sampler")
    shuffles, drops = known.get("shuffle") is True, known.get("drop_last") is True
    has_sampler, has_batches = isinstance(sampler, Instance), isinstance(batches, Instance)
    no_workers = known.get("num_workers", 0) == 0 and isinstance(known.get("num_workers", 0), int)
    if no_workers and known.get("persistent_workers") is True:
        return "persistent_workers needs num_workers > 0", "num_workers=2, or leave persistent_workers out"
    if no_workers and isinstance(known.get("prefetch_factor"), int):
        return "prefetch_factor needs num_workers > 0", "num_workers=2, or leave prefetch_factor out"
    if is_stream and (shuffles or has_sampler or has_batches):
        option = "shuffle" if shuffles else "a sampler"
        return f"an IterableDataset decides the order itself: {option} isn't possible", f"leave {option} out"
    if has_sampler and shuffles:
        return "it takes shuffle=True or a sampler, not both", "the sampler decides the order: leave shuffle out"
    if has_batches:
        sized = isinstance(size, int) and size != 1
        others = [n for n, there in (("batch_size", sized), ("shuffle", shuffles), ("drop_last", drops)) if there]
        others += ["sampler"] if has_sampler else []
        hint = "the batch_sampler decides it"
        return (f"it takes a batch_sampler or {', '.join(others)}, not both", hint) if others else None
    if "batch_size" in known and size is None and drops:
        return "drop_last needs a batch_size", "leave drop_last out"
    if isinstance(size, int) and not isinstance(size, bool) and size < 1:
        return f"batch_size is {size}, but a batch has one sample at least", "batch_size=1 or more"
    if isinstance(size, float | str):
        hint = "divide with //, or use int()" if isinstance(size, float) else f"int({size!r})"
        return f"batch_size is {size!r}, but it must be an int", hint
    return None


# -- parts that are mistaken for others --------------------------------------------------------------------------------


def _split(run: Interpreter, whole: Value, parts: tuple[Value, ...]) -> None:
    """``a, b = random_split(whole, …)``."""
    if run.entry or run.hypothetical:
        return
    target = _target(run)
    names = [t.id if isinstance(t, ast.Name) else None for t in getattr(target, "elts", ())]
    if len(names) == len(parts):
        for value, name in zip(parts, names, strict=True):
            _note(run, whole, value, name)


def _part_made(run: Interpreter, whole: Value, value: Instance) -> None:
    """A subset, or a sampler of some samples, is made."""
    if not run.entry and not run.hypothetical:
        _note(run, whole, value, _assigned(run))


def _note(run: Interpreter, whole: Value, value: Value, name: str | None) -> None:
    if name is not None and not name.startswith("_") and isinstance(value, Instance):
        of = id(run.resolve(whole))
        run.training.of(Loading).parts[id(value.cells)] = _Part(value, name, of, run.path)


def _target(run: Interpreter) -> ast.expr | None:
    """What the result of the call that is followed here is assigned to."""
    body = run.body
    found = (n for n in walk(body) if isinstance(n, ast.Assign) and n.value is run.node) if body else iter(())
    statement = next(found, None)
    return statement.targets[0] if statement is not None and len(statement.targets) == 1 else None


def _assigned(run: Interpreter) -> str | None:
    target = _target(run)
    return target.id if isinstance(target, ast.Name) else None


def _finish(run: Interpreter) -> None:
    """The program has ended: a part that nothing uses, and a loader that has something else in its place."""
    seen = run.training.of(Loading)
    unused = [p for p in seen.parts.values() if seen.loaders and not _is_read(p)]
    for lost in unused:
        at = _in_its_place(run, lost)
        if at is None:
            continue
        own, (_, _, name, found) = _taken(seen.loaders[at], seen.parts), seen.loaders[at]
        what = "all samples" if own is None else own.name
        message = f"{name} is given {what}, and {lost.name} is never used"
        message += ": the evaluation data is also trained on" if own is None else ""
        run.keep(replace(found, message=message, hint=f"give it {lost.name}"))


def _in_its_place(run: Interpreter, lost: _Part) -> int | None:
    """The loader, by its number, that has other samples than the lost part.

    A program makes loaders in the order of the parts. If just one doesn't follow it, and its part is unused, that one
    has the wrong samples. A small part that two loaders share, before a larger one that is left over, is a sample.
    """
    seen = run.training.of(Loading)
    parts = [p for p in seen.parts.values() if p.whole == lost.whole]
    order = next(i for i, one in enumerate(parts) if one is lost)
    owns = [_taken(loader, seen.parts) for loader in seen.loaders]
    of_parts = [i for i, own in enumerate(owns) if own is not None and own.whole == lost.whole]
    if len(of_parts) == len(parts):
        at = of_parts.pop(order)
        own = owns[at]
        is_sample = own is not None and own in parts[:order] and _size(run, own) < _size(run, lost)
    else:
        bounds = (-1, *of_parts, len(owns))[order : order + 2]
        between = range(bounds[0] + 1, bounds[1]) if len(bounds) == 2 else ()
        whole = [i for i in between if seen.loaders[i][1] is None and id(run.resolve(seen.loaders[i][0])) == lost.whole]
        at, is_sample = (whole[-1], False) if whole else (-1, True)
    follows = [owns[i] for i in of_parts] == [p for p in parts if p is not lost]
    return at if follows and not is_sample else None


def _size(run: Interpreter, part: _Part) -> int:
    """How many samples a part has; 0 where that isn't known."""
    indices = run.resolve(part.value.cells.get("indices"))
    known = run.resolve(part.value.state.get("length", len(indices) if isinstance(indices, range) else None))
    return known if isinstance(known, int) else 0


def _taken(loader: tuple[Value, Value, str, Finding], parts: Mapping[int, _Part]) -> _Part | None:
    for value in loader[:2]:
        if isinstance(value, Instance) and id(value.cells) in parts:
            return parts[id(value.cells)]
    return None


def _is_read(part: _Part) -> bool:
    """Whether a file reads the variable that holds a part, for more than to print it or its length."""
    tree = parse(Path(part.path))
    if tree is None:
        return True
    aside = {id(name) for call in walk(tree) if _is_shown(call) for name in _named(call)}
    return any(
        isinstance(n, ast.Name) and n.id == part.name and isinstance(n.ctx, ast.Load) and id(n) not in aside
        for n in walk(tree)
    )


def _is_shown(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "print")


def _named(shown: ast.expr) -> Iterator[ast.Name]:
    """The names that a call prints or measures itself, without those that it hands to another call."""
    match shown:
        case ast.Name():
            yield shown
        case ast.Call(args=inner) | ast.JoinedStr(values=inner):
            for one in inner:
                if not isinstance(one, ast.Call) or _is_shown(one):
                    yield from _named(one)
        case ast.FormattedValue(value=value) if not isinstance(value, ast.Call) or _is_shown(value):
            yield from _named(value)


LISTENS: Final = (
    events.LOADER.to(_made),
    events.ITEM.to(_indexed),
    events.SPLIT.to(_split),
    events.PART.to(_part_made),
    events.END.to(_finish),
)
