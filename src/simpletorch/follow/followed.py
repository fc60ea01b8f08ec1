"""Following a file: the way in, and what comes out of it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, final, get_args

from simpletorch._programs import Kind
from simpletorch.follow import branches
from simpletorch.follow.budget import SECONDS, STEPS, Budget, collecting_rarely, with_room
from simpletorch.follow.budget import watched as watched_by_clock
from simpletorch.follow.disk import entries
from simpletorch.follow.disk.reach import Reach, folders_of
from simpletorch.follow.entries import follow_entries
from simpletorch.follow.findings import Finding, Note
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.libraries.python import builtins, methods, revealed  # noqa: F401  (tables)
from simpletorch.follow.libraries.pytorch import (  # noqa: F401  (tables)
    torch,
    torch_func,
    torch_gradients,
    torch_runtime,
    torch_scaler,
    torch_streams,
)
from simpletorch.follow.marks.seen import Seen, Watching
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import caught
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Exhausted, Raise, Raised
from simpletorch.follow.sources import switches, texts
from simpletorch.follow.sources.ignored import is_ignored
from simpletorch.follow.sources.program import Program
from simpletorch.follow.sources.syntax import number, parse
from simpletorch.follow.values import Namespace, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.codes import CODES, Severity
from simpletorch.shapes import UNKNOWN, Shape

__all__ = ["Followed", "follow", "follow_from"]

_SECONDS_OF_UNCALLED: Final = 0.05  # what a part of a program defines, and may call later
_RECURSION: Final = 40_000  # Python's own frames: each call of the program takes some twenty


@final
@dataclass(frozen=True, slots=True)
class Followed:
    """What is known of a program after following it."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()  # of the severity "note"
    claims: Mapping[tuple[str, int], Mapping[str, Sequence[Value]]] = field(default_factory=dict)
    certain: Collection[tuple[str, int, str, Value]] = ()  # the claims of ways that no unknown condition leads to
    unsaid: Collection[tuple[str, int, str]] = ()  # the names that a line also gives what isn't known
    reasons: Mapping[tuple[str, int], Sequence[str]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()  # mistakes of the follower's own, with the lines that it could not follow
    complete: bool = True  # False where the budget was used up
    is_cut: bool = False  # by the clock or the memory, not by the steps: another run may get further
    ended: str = ""  # where an exception, or a limit, ends following, and which; "" where the program comes to its end
    not_followed: tuple[tuple[str, int, str], ...] = ()  # calls of what isn't known: path, line, name
    coverage: tuple[int, int] = (
        0,
        0,
    )  # how many lines give a name tensors of known shapes, of those that may give some
    causes: tuple[tuple[str, int, str, bool], ...] = ()  # path, line, why; True: known in part
    ignored: tuple[Finding, ...] = ()  # what a ``# type: ignore`` silences
    notes: tuple[Note, ...] = ()  # what ``reveal_type`` shows
    files: tuple[str, ...] = ()  # those that the program consists of, its own first
    data: tuple[tuple[str, str], ...] = ()  # data files that were read, each with a description of its contents
    seen: Seen | None = None  # what was seen of each expression, if that was asked for

    def shapes_at(self, path: str, line: int) -> Mapping[str, Sequence[Any]]:
        """What the line gives to names: for each the tensor types (or ints) in the order in which they came."""
        return self.claims.get((path, line), {})


def follow(
    path: str | Path,
    arguments: Sequence[str] = (),
    *,
    kind: Kind = "program",
    steps: int = STEPS,
    seconds: float = SECONDS,
    severities: Mapping[str, Severity] | None = None,
    opened: Mapping[str, str] | None = None,
    data: bool | Sequence[Path] = True,
    watched: bool = False,
    is_cancelled: Callable[[], bool] | None = None,
) -> Followed:
    """Follow a file as ``python path *arguments`` would run it.

    Args:
        path: the file.
        arguments: those of its command line.
        kind: of a "library" only what annotates its tensors is followed among the functions and classes that nobody
            calls.
        steps: the most statements to follow.
        seconds: the most CPU time to take.
        severities: by code, what shall not have the severity that it has by itself: ``{"tensor-loss": "off"}``.
        opened: the texts of files that count instead of what the disk has, by path: those that an editor hasn't saved.
        data: whether the headers of data files are read that the program opens; further folders, beside the project's,
            the current one and those on the command line, whose files may be read.
        watched: note what each expression gives, for `Followed.seen`; takes more time.
        is_cancelled: asked now and then; where it is true, following ends.

    Raises:
        ValueError: a code or a severity that doesn't exist.
    """
    chosen = {code.name: code.severity for code in CODES.values()} | dict(severities or {})
    if unknown := [f"{k}: {v}" for k, v in chosen.items() if k not in CODES or v not in get_args(Severity)]:
        raise ValueError(f"no code of a finding, or no severity: {', '.join(unknown)}")
    with collecting_rarely(), texts.instead(opened or {}):
        folders = None if data is False else [*folders_of(Path(path), arguments), *(() if data is True else data)]
        program = Program(Path(path), arguments, str(path), Reach(folders, Path(path).absolute().parent))
        made = Watching if watched else Interpreter
        run = made(program, steps, Budget(seconds, is_cancelled))
        run.only_annotated = kind == "library"
        return with_room(lambda: _follow(path, run, chosen))


def _follow(path: str | Path, run: Interpreter, severities: Mapping[str, Severity]) -> Followed:
    run.demands_sizes = severities["tensor-size"] != "off"
    tree = parse(Path(path))
    if tree is None:
        return Followed(())
    number(tree)
    return follow_from(run, tree, _main(run, tree), severities)


def _main(run: Interpreter, tree: ast.Module) -> Scope:
    """The variables of the main program, as it starts."""
    program = run.program
    scope = Scope(None, program.shown, program.cells(run, Program.main, program.shown, tree))
    program.modules[Program.main] = Namespace(Program.main, scope.cells, program.shown)
    return scope


def follow_from(
    run: Interpreter, tree: ast.Module, scope: Scope, severities: Mapping[str, Severity], *, whole: bool = True
) -> Followed:
    """Follow statements in a scope, and say what is known then.

    Args:
        run: the interpreter, as it is before them.
        tree: the statements.
        scope: their variables.
        severities: of each code.
        whole: they are a program; a part of one is silent of what only a whole program shows.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    complete, ended = True, ""
    programs = [run.program]
    try:
        ended = _execute(run, tree, scope)
        if not whole:
            run.budget.take_at_most(_SECONDS_OF_UNCALLED)
        elif not run.program.is_library:  # of one, not all is read that could make it right
            events.END(run)
            switch = switches.of_training(run)
            if switch is not None:
                first, run = run, run.again(switch)
                programs.append(run.program)
                scope = _main(run, tree)
                ended = _execute(run, tree, scope)
                events.END(run)
                run.switch, run.certain = None, first.certain
        run.hypothetical = True
        follow_entries(run, tree, scope)
        for found in run.broken:
            run.keep(found)
        if whole and not run.program.is_library:
            run.findings[:] = _with_options(run, tree)
    except Exhausted:
        complete = False
        if whole and not run.hypothetical:
            limit = "time or memory" if run.budget.is_cut else "steps"
            ended = f"{run.path}:{getattr(run.node, 'lineno', 0)}, where the limit of {limit} is reached"
    except Exception as error:
        complete = False
        run.fault(error)
    finally:
        sys.setrecursionlimit(before)
    reasons = {place: tuple(found) for place, found in run.reasons.items()}
    lines, causes = _unknown(run)
    found = [replace(f, severity=_severity(f, severities)) for f in _without_consequences(run.findings)]
    said = [f for f in found if not is_ignored(f)]
    return Followed(
        tuple(f for f in said if f.severity == "error"),
        tuple(f for f in said if f.severity == "warning"),
        tuple(f for f in said if f.severity == "note"),
        run.claims,
        run.certain,
        run.unsaid,
        reasons,
        tuple(run.faults),
        complete,
        run.budget.is_cut,
        ended,
        tuple((*place, name) for place, name in sorted({**run.in_the_dark, **run.failures}.items())),
        (lines - len(causes), lines),
        causes,
        ignored=tuple(f for f in found if f not in said),
        notes=tuple(Note(*at, f'Revealed type is "{" or ".join(shown)}"') for at, shown in run.revealed.items()),
        files=tuple(dict.fromkeys(m.path for p in programs for m in p.modules.values() if m.path is not None)),
        data=entries.read(run),
        seen=run.seen if isinstance(run, Watching) else None,
    )


def _execute(run: Interpreter, tree: ast.Module, scope: Scope) -> str:
    """Follow a program's statements; where they end before the last, see `_ending`."""
    with watched_by_clock(run.budget):
        done = run.execute(tree.body, scope)
    ended = ""
    if isinstance(done, Raise):
        ended = _ending(run, tree, done.error)
        caught.tell(run, done.error)
        if done.error.name != "SystemExit":
            run.note_reason(f"{done.error.name} is raised")
    branches.settle(run, done)
    return ended


def _severity(found: Finding, severities: Mapping[str, Severity]) -> Severity:
    """The severity that its code has by choice; an error that is but a note stays one."""
    chosen = severities[found.code]
    is_less = found.severity == "note" and CODES[found.code].severity == chosen == "error"
    return "note" if is_less else chosen


def _with_options(run: Interpreter, tree: ast.Module) -> list[Finding]:
    """Mistakes that the program makes with None for an option are only notes if it doesn't make them with a value.

    Its users give the option, without which it can't be run.
    """
    flags = switches.left_out(run)
    told = [f for f in run.findings if f.severity == "error" and "None" in f.message]
    if not flags or not told:
        return run.findings
    other, was_cut = run.beside(flags), run.budget.is_cut
    try:
        _execute(other, tree, _main(other, tree))
    except Exhausted:
        run.budget.is_cut = was_cut
        return run.findings
    again = {(f.path, f.line, f.code) for f in other.findings}
    only = [f for f in told if (f.path, f.line, f.code) not in again]
    return [_unless_given(f, flags) if f in only else f for f in run.findings]


def _unless_given(found: Finding, flags: Mapping[str, str]) -> Finding:
    """A mistake as a note: the options that its line names, or else all of them, aren't given."""
    lines = texts.read(Path(found.path)).splitlines()[found.line - 1 : found.line]
    words = frozenset(re.findall(r"\w+", " ".join(lines)))
    named = [flag for name, flag in flags.items() if name in words] or list(flags.values())
    return replace(found, severity="note", message=f"{found.message}, unless {' or '.join(named[:3])} is given")


def _ending(run: Interpreter, tree: ast.Module, error: Raised) -> str:
    """Where the program ends before its last statement: ``train.py:41, where ValueError is raised ("no data")``."""
    ending = run.raised
    if ending.error is not error or ending.statement is None:
        return ""
    line = ending.statement.lineno
    if error.name == "SystemExit":
        last = tree.body[-1]
        is_end = last.lineno <= run.node.lineno if isinstance(run.node, ast.stmt | ast.expr) else True
        return "" if is_end else f"{ending.path}:{line}, where the program exits"
    said = _message(ending.statement)
    return f"{ending.path}:{line}, where {error.name or 'an exception'} is raised{said}"


def _message(statement: ast.stmt) -> str:
    match statement:
        case ast.Assert(msg=ast.Constant(value=str() as text)):
            return f' ("{text}")'
        case ast.Raise(exc=ast.Call(args=[ast.Constant(value=str() as text), *_])):
            return f' ("{text}")'
    return ""


def _unknown(run: Interpreter) -> tuple[int, tuple[tuple[str, int, str, bool], ...]]:
    """The number of lines that give a name tensors, or may do so, and those whose shapes aren't all known."""
    lines, causes = len(run.unknown_lines), []
    for place, names in run.claims.items():
        types = [one for shown in names.values() for one in shown if isinstance(one, TensorType)]
        if not types:
            continue
        lines += place not in run.unknown_lines
        if place in run.unknown_lines:
            causes.append((*place, run.unknown_lines[place], True))
        elif not all(_is_sized(one.shape) for one in types):
            causes.append((*place, next(iter(run.reasons.get(place, ())), "a size that isn't known"), True))
    partly = {(path, line) for path, line, *_ in causes}
    causes += [(*place, why, False) for place, why in run.unknown_lines.items() if place not in partly]
    return lines, tuple(sorted(causes))


def _is_sized(shape: Shape) -> bool:
    return shape.is_exact and UNKNOWN not in shape.items


def _without_consequences(found: Sequence[Finding]) -> Iterator[Finding]:
    """A broken promise that makes torch raise behind it is said there, and only there."""
    for f in found:
        if not f.is_promise or not any(not g.is_promise and g.has_passed(f.path, f.line) for g in found):
            yield f
