"""The interpreter: what one follow of a program has in hand, and the ways into its parts.

The parts are tables by kind of syntax (`statements`, `expressions`) or functions about one matter (`calls`,
`attributes`, `branches`, …); each gets the interpreter as its first argument and reaches the others through it.
"""

from __future__ import annotations

import ast
import os
from collections import abc
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from simpletorch.follow import (
    attributes,
    branches,
    calls,
    classes,
    expressions,
    iteration,
    operators,
    statements,
    tensors,
)
from simpletorch.follow.budget import STEPS, Budget
from simpletorch.follow.findings import Call, Finding, OneOf
from simpletorch.follow.guards import Guard
from simpletorch.follow.heap import Cells, Heap, born, now
from simpletorch.follow.libraries.harmless import OF_ARRAYS, OF_NUMBERS
from simpletorch.follow.marks import devices, gradients, sparsity
from simpletorch.follow.memory import recursion, remembered, stand_ins
from simpletorch.follow.mistakes import listeners  # noqa: F401  (they subscribe)
from simpletorch.follow.model import generators, metaclasses
from simpletorch.follow.model.training import Promise, Training
from simpletorch.follow.numbers import sizes
from simpletorch.follow.outcomes import Done, Ending, Exhausted, Outcome, Raised
from simpletorch.follow.sources.program import Program
from simpletorch.follow.sources.syntax import number, parse, unparsed
from simpletorch.follow.values import Choice, Class, Dict, Function, Instance, Iterator, List, Tensor, Unknown, Value
from simpletorch.rules import ANYTHING, Report, TensorType
from simpletorch.rules.core.codes import CODES
from simpletorch.shapes import Dim, Expr, Var, assuming, at_least, evaluate, is_compound, some, substitute, variables

if TYPE_CHECKING:
    from simpletorch.follow.memory.trees import Tree
    from simpletorch.follow.model.scopes import Scope
    from simpletorch.follow.numbers.first_rounds import Begun
    from simpletorch.follow.sources.switches import Switch

__all__ = ["Interpreter"]

DEBUG_VARIABLE: Final = "SIMPLETORCH_DEBUG"
_DEEPEST: Final = 120
_MOST_CLAIMS: Final = 16  # of one name on one line
_ADAPTATIONS: Final = 8  # sizes of one operation that a caller chooses


class Interpreter:
    """One follow of a program."""

    def __init__(self, program: Program, steps: int = STEPS, budget: Budget | None = None) -> None:
        self.program: Program = program
        self.heap = Heap()
        self.findings: list[Finding] = []
        self.told = 0  # how often a mistake was found, known ones too
        self.failed = 0  # how often one that ends the program was
        self.assumed: dict[Unknown, bool] = {}
        self.firsts: dict[Unknown, Begun] = {}  # counters of loops in their first round
        self.later: dict[Unknown, tuple[int, bool]] = {}  # those of other rounds: the first number, and do they rise
        self.asked_first: set[Unknown] = set()  # those for which a condition has asked
        self.equalities: dict[str, Any] = {"sizes": {}}
        self.conditions: list[Unknown] = []  # those that are assumed around here
        self.going: set[Unknown] = set()  # those of them that surely hold: of loops that run at least once
        self.unsure_rounds = 0  # how many rounds of comprehensions around here may not be run
        self.tries = 0  # how many ``try`` around here may catch what torch raises
        self.parameters: dict[int, tuple[Tensor, Instance]] = {}  # of layers, by identity: and whose they are
        self.is_elsewhere = False  # whether a guard has counted as passed that fails on this machine
        self.optional_imports = 0  # how many ``try`` around here catch an ``ImportError``
        self.guards: list[Guard] = []  # who takes exceptions around here, the innermost last
        self.called_back: tuple[Value, ...] = ()  # hooks that unknown layers have
        self.questions = 0  # how many built-in functions around here take an exception for an answer
        self.takers = 0  # how many of them don't just pass them on: without one, nobody minds what may be raised
        self.hypothetical = False  # whether what runs may never run: an entry, a generator that nobody asks for more
        self.pending: list[tuple[Dict, Class, dict[str, Value]]] = []  # the classes that metaclasses are about to make
        self.waiting = False  # whether a generator was left that does something when it is dropped
        self.handled: list[Raised] = []  # the exceptions whose handlers run
        self.stack: list[tuple[str, int, str, tuple[tuple[str, TensorType], ...], bool]] = []
        self.running: list[recursion.Running] = []  # the functions that run, for recursion
        self.steps = steps
        self.budget = budget or Budget()
        self.entered: set[ast.AST] = set()  # the functions that were called
        self.entry = 0
        self.steps_of_builders = 0  # that functions took which need no argument, of a library's file
        self.only_annotated = False  # whether only what annotates its tensors is an entry
        self.passed: dict[ast.stmt, str] = {}  # the statements since the entry, with their files
        self.by_content: set[Var] = set()  # sizes that say how many elements of a tensor hold something
        self.symbols: set[Var] = set()  # sizes that a caller chooses
        self.class_sizes: dict[str, Dim] = {}  # what ``Dim[N]`` of a constructor stands for
        self.replaceable: set[ast.AST] = set()  # bodies of the entry's defaults, which a caller may replace
        self.entered_at = 0  # `heap.now` as the entry was called
        self.free: set[Var] = set()  # sizes that an annotation names: their first use says what they are
        self.demands_sizes = False  # whether "works only if n == m" is a finding
        self.updates = 0  # of parameters, by an optimizer: tells a training loop
        self.converts_dtypes = False  # whether modules may have another dtype than they were made with
        # what results depend on beside operands: "autocast" (an `Autocast`, or None), "other default dtype" (whether),
        # and those of `gradients`
        self.modes: dict[str, Any] = {gradients.MODE: True, "autocast": None}
        self.training = Training()
        self.promises: list[Promise] = []  # the calls of pure functions that run
        self.broken: list[Finding] = []  # what they do in spite of it
        self.unsure_modes = 0  # how many managers around here may have set the grad mode
        self.order: dict[Any, Any] | None = None  # of streams, see `streams`
        self.places = program.has_cuda or devices.counts(program.path)  # whether the program has to do with CUDA
        self.moved: dict[Any, Any] = {}  # where parameters and buffers have been moved
        self.path = ""  # where the program is
        self.border: tuple[str, ast.AST, int] | None = None  # while a file of ours is followed: who called it, how deep
        self.node: ast.AST = ast.Pass(lineno=0, col_offset=0)
        self.faults: list[str] = []  # of the follower itself
        self.raised = Ending()  # the last exception of the program
        self.unknown_lines: dict[tuple[str, int], str] = {}  # that give a name what may be a tensor, each with a cause
        self.in_the_dark: dict[tuple[str, int], str] = {}  # what was called and not followed, by place
        self.failures: dict[tuple[str, int], str] = {}  # what seems to raise, though following goes on behind it
        self.reasons: dict[tuple[str, int], dict[str, None]] = {}  # why something isn't known, by line
        self.revealed: dict[tuple[str, int], dict[str, None]] = {}  # what ``reveal_type`` was given, by line
        self.claims: dict[tuple[str, int], dict[str, list[Value]]] = {}
        self.certain: set[tuple[str, int, str, Value]] = set()  # claims of ways that no unknown condition leads to
        self._claimed: set[tuple[str, int, str, Value]] = set()  # all of them but tuples
        self.unsaid: set[tuple[str, int, str]] = set()  # names that a line gives what isn't known too
        self.remembered: dict[Any, Any] = {}  # calls of modules, see `remembered`
        self._trees: dict[str, ast.Module | None] = {}  # by file, see `tree`
        self.trees: dict[int, Tree] = {}  # by module, what it consists of
        self.kinds: dict[Any, tuple[int, Tree]] = {}  # a number for what modules consist of, and one of them
        self.heap.pass_on = partial(stand_ins.pass_on, self)
        self.heap.recorded_apart = {id(self.assumed), id(self.equalities), id(self.modes), id(self.moved)}
        self.files = Cells()  # what the program has written to which file, see `files`
        self.roots = 0  # how many new directories and files have a name, see `texts.Root`
        self.texts: dict[Any, Unknown] = {}  # those that aren't known, by what they are joined of
        self.spreads = False  # whether there are tensors over a mesh, see `spread`
        self.variables: dict[Unknown, str] = {}  # of the environment: the texts that say so
        self.defaults: dict[Unknown, Value] = {}  # and what they are unless somebody sets them
        self.varying: set[int] = set()  # the numbers of those that vary
        self.sizes: list[int] = []  # when each got its name by `some_size`, see `heap.now`
        self.read: dict[tuple[int, int], tuple[Value, Value, list[Value], Value]] = {}
        """By list and index, of which it isn't known which it is: what they and the items were, and what it gave."""
        self.offered: dict[str, tuple[str, Value]] = {}  # options left out on the command line: flags and defaults
        self.switch: Switch | None = None  # the one with which it is followed nevertheless, see `switches`
        self.given: Collection[str] = ()  # options that count as given, with values that aren't known
        self._derived: dict[tuple[str, Any, Any], tuple[Unknown, Value, Value]] = {}

    def again(self, switch: Switch) -> Self:
        """Another follow of the program, with an option: it goes on with all that is found and shown so far."""
        other = self._anew()
        other.switch = switch
        for name in _TAKEN_OVER:
            setattr(other, name, getattr(self, name))
        return other

    def beside(self, given: Collection[str]) -> Self:
        """Another follow of the program, with options that count as given: what it finds and shows is its own."""
        other = self._anew()
        other.given = given
        return other

    def _anew(self) -> Self:
        program = self.program
        other = type(self)(
            Program(program.path, program.arguments, program.shown, program.reach), self.steps, self.budget
        )
        for name in ("entries", "long_texts", "described"):
            setattr(other.program, name, getattr(program, name))
        return other

    # -- the parts --------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression.

        Raises:
            Raised: the program raises an exception here for sure.
        """
        budget = self.budget
        budget.left -= 1
        if budget.left < 0:
            budget.look()
        value = _EXPRESSIONS[type(node)](self, node, scope)
        recorders = self.heap.recorders
        if recorders and type(value) in _MUTABLE:
            recorder, cells = recorders[-1], value.cells
            # what is younger needn't be noted, and nothing twice
            if (type(cells) is not Cells or cells.born <= recorder.start) and id(cells) not in recorder.met:
                recorder.note(value)
        return value

    def execute(self, body: Sequence[ast.stmt], scope: Scope) -> Done:
        """Follow statements one after the other."""
        return statements.block(self, body, scope, 0)

    def join(self, a: Outcome, b: Outcome) -> Outcome:
        """Two ways that end in the same manner as one."""
        return branches.join_two(self, a, b)

    def call(self, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None) -> Value:
        """What a call gives."""
        return calls.call(self, function, tuple(args), dict(kwargs) if kwargs else {})

    def make(self, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """``type.__call__(cls, *args, **kwargs)``."""
        return classes.plainly(self, cls, args, kwargs)

    def call_in_the_dark(self, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """A call of which not all arguments are known."""
        return calls.in_the_dark(self, function, tuple(args), kwargs)

    def dropped(self, *values: Value) -> None:
        """Names of these values are gone: a generator that waits may have been closed, an object may have ended."""
        for value in values:
            if type(value) is Instance and (end := value.cls.find("__del__")) is not None:
                self.escape((end[0],))
            if type(value) is Iterator and isinstance(value.lazy, generators.Steps):
                value.lazy.drop()

    def escape(self, values: Sequence[Value]) -> None:
        """These values, and all that they hold, may have changed in an unknown way."""
        calls.escape(self, tuple(values))

    @property
    def body(self) -> ast.AST | None:
        """What is followed here: the function that runs, or the file; None if that can't be read any more."""
        return self.running[-1].node if self.running else self.tree

    @property
    def tree(self) -> ast.Module | None:
        """The syntax of the file that is followed here."""
        if self.path not in self._trees:  # whether a file has changed is asked once
            self._trees[self.path] = parse(Path(self.path))
        return self._trees[self.path]

    def enter(self, function: Function, scope: Scope, work: Callable[[], Value]) -> Value:
        """``work`` as the body of a function that is called here."""
        path, node, border = self.path, self.node, self.border
        if scope.path not in self.program.own:
            self.border = None
        elif border is None:
            self.border = path, node, len(self.stack)
            packages = self.program.packages
            if scope.path in packages.files and path not in packages.files:
                work = partial(packages.call, self, function, tuple(scope.cells.values()), work)
        given = tuple((k, v.type) for k, v in scope.cells.items() if type(v) is Tensor)
        self.stack.append((path, getattr(node, "lineno", 0), function.name, given, node is function.node))
        self.running.append(recursion.running(self, function, scope.cells.values())._replace(names=scope.cells))
        if function.node not in self.entered:
            number(function.node)
            self.entered.add(function.node)
        try:
            return work()
        except Raised as error:
            if not error.is_told or self.border is None or border is not None:
                raise
            if isinstance(scope.first, Instance):
                self.heap.write(scope.first.state, "open", True)  # it may not be built
            return self.unknown("an error was found here")
        finally:
            self.stack.pop()
            self.running.pop()
            self.path, self.node, self.border = path, node, border
            if self.waiting:
                self.dropped(*scope.cells.values())

    def attribute(self, value: Value, name: str) -> Value:
        """``value.name``."""
        return attributes.get(self, value, name)

    def special(self, value: Instance | Class, name: str) -> Value:
        """The method of its class that an operation on an object, or a class, calls; None without.

        Raises:
            Raised: the class says that there is none.
        """
        if isinstance(value, Class):
            return metaclasses.special(value, name)
        found = value.cls.find(name)
        if found is not None and found[0] is None:
            raise Raised("TypeError", None, ("Exception", "BaseException"))
        return None if found is None else attributes.bind(self, found[0], value, value.cls)

    def set_attribute(self, value: Value, name: str, new: Value) -> None:
        """``value.name = new``."""
        attributes.put(self, value, name, new)

    def operate(self, name: str, left: Value, right: Value) -> Value:
        """A binary operator by the name of its method: ``"__add__"``."""
        return operators.binary(self, name, left, right)

    def items(self, value: Value) -> tuple[Value, ...] | None:
        """What iterating gives, None if it isn't known how many that are."""
        return iteration.items(self, value)

    def ask(self, name: str, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None) -> Value:
        """What an operation of torch's gives, by its rule."""
        return tensors.ask(self, name, tuple(args), dict(kwargs) if kwargs else {})

    # -- values -------------------------------------------------------------------------------------------------------

    def resolve(self, value: Value) -> Value:
        """The value, without choices that are decided here."""
        return branches.resolve(self, value) if isinstance(value, Choice) else value

    def each(self, value: Value, compute: Callable[[Value], Value]) -> Value:
        """``compute`` of the value, or of each that it may be."""
        value = self.resolve(value)
        if isinstance(value, Choice):
            return branches.distribute(self, value, lambda v: self.each(v, compute))
        return compute(value)

    def unknown(self, reason: str, type: str | None = None, cause: Any = "code") -> Unknown:
        """Something that isn't known, from this line on."""
        made = Unknown(reason, type, cause)
        made.place = self.note_reason(reason)
        return made

    def note_reason(self, reason: str) -> tuple[str, int]:
        """Remember why something isn't known on this line, which it gives."""
        path, node, _ = self.place
        place = path, getattr(node, "lineno", 0)
        if path not in self.program.own:
            self.reasons.setdefault(place, {})[reason] = None
        return place

    def note_dark(self) -> None:
        """Remember that what is called here isn't followed."""
        path, node, _ = self.place
        self.program.packages.doubts += 1
        if isinstance(node, ast.Call) and not self.entry and path not in self.program.own:
            self.in_the_dark[path, node.lineno] = unparsed(node.func)

    @contextmanager
    def asked(self) -> abc.Iterator[None]:
        """While it lasts, an exception is an answer: ``hasattr(x, name)``."""
        self.questions += 1
        try:
            yield
        finally:
            self.questions -= 1

    def note_failure(self, error: Raised, statement: ast.stmt) -> None:
        """Remember that a statement seems to fail, and that following goes on behind it."""
        self.program.packages.doubts += 1
        path, node, _ = self.place
        at = node if isinstance(node, ast.expr) or self.border is not None else statement
        place = path, getattr(at, "lineno", 0)
        head = unparsed(at).partition("\n")[0].rstrip(":")  # of a class or a loop
        self.failures[place] = f"{head}, which seems to raise {error.name}"

    def part(self, whole: Value, reason: str) -> Unknown:
        """Something of a value that isn't known: an item, what a call of it gives."""
        made = self.unknown(reason)
        if isinstance(whole, Unknown):
            made.harmless, made.without_tensors, made.origin = whole.harmless, whole.without_tensors, whole.origin
        return made

    def some_size(self, least: int = 1, most: int | None = None, *, varies: bool = False) -> Expr:
        """A size that isn't known, but is one and the same, and lies between these.

        ``varies``: another one of its kind, such as that of another sample, is hardly the same.
        """
        self.sizes.append(now())
        if varies:
            self.varying.add(len(self.sizes))
        return some(f"?{len(self.sizes)}", least, most)

    def derived(self, operation: str, left: Value, right: Value, type: str | None = "bool") -> Unknown:
        """The unknown answer of an operation: the same one when it is asked again."""
        key = operation, _key(left), _key(right)
        found = self._derived.get(key)
        if found is None:
            causes = {v.cause for v in (left, right) if isinstance(v, Unknown)}
            causes |= {sizes.cause_of(v) for v in (left, right) if isinstance(v, Expr)}
            made = self.unknown(f"the answer of {operation}", type, "data" if causes == {"data"} else "code")
            made.fact = operation, left, right
            if isinstance(left, Unknown):
                made.harmless, made.origin = left.harmless, left.origin
            elif isinstance(right, Unknown):
                made.origin = right.origin
            made.scalar = operation in _COMPARISONS and branches.is_scalar(left) and branches.is_scalar(right)
            made.without_tensors = operation in OF_NUMBERS or (
                operation not in OF_ARRAYS and branches.has_no_tensor(left) and branches.has_no_tensor(right)
            )
            found = self._derived[key] = made, left, right
        return found[0]

    def same_size(self, a: Dim, b: Dim) -> bool | None:
        """Whether two sizes are equal: True (always), False (never), None (it depends on the symbols)."""
        a, b = self.settled(a), self.settled(b)
        if a == b:
            return True
        difference = a - b
        if isinstance(difference, int) or at_least(difference, 1) or at_least(-difference, 1):
            return False
        return None

    def narrow_rank(self, value: Tensor, rank: int) -> None:
        """The tensor has this many dims from here on."""
        tensors.narrow_rank(self, value, rank)

    # -- assumptions --------------------------------------------------------------------------------------------------

    def assume(self, condition: Unknown, holds: bool) -> None:
        """From here on the condition holds, or doesn't, and what it says is known."""
        self.heap.write(self.assumed, condition, holds)
        if condition.fact is None:
            return
        operation, left, right = condition.fact
        if operation == "rank" and holds and isinstance(left, Tensor) and left.type.shape.rank is None:
            tensors.narrow_rank(self, left, right)
        if (operation == "==" and holds) or (operation == "!=" and not holds):
            self._equate(left, right)

    def _equate(self, a: Value, b: Value) -> bool:
        """Two sizes are equal from here on: solve for a variable that stands alone. Whether that could be done."""
        sizes: dict[Var, Dim] = self.equalities["sizes"]
        for left, right in ((a, b), (b, a)):
            if isinstance(left, Expr) and isinstance(right, int | Expr) and not is_compound(left):
                (v,) = variables(left)
                if v not in variables(right):
                    known = {k: substitute(d, {v: right}) for k, d in sizes.items()}
                    self.heap.write(self.equalities, "sizes", {**known, v: substitute(right, sizes)})
                    return True
        return False

    def settled(self, dim: Dim) -> Dim:
        """The size with what is assumed of its variables put in."""
        sizes = self.equalities["sizes"]
        return substitute(dim, sizes) if sizes else dim

    @contextmanager
    def knowing(self) -> abc.Iterator[None]:
        """While it lasts, sizes are compared with what is assumed."""
        with assuming(self.settled):
            yield

    # -- the way ------------------------------------------------------------------------------------------------------

    @contextmanager
    def elsewhere(self, path: str) -> abc.Iterator[None]:
        """While it lasts another file is followed: one that is imported here."""
        before = self.path, self.node
        self.path = path
        try:
            yield
        finally:
            self.path, self.node = before

    @contextmanager
    def at_the_start(self, path: str) -> abc.Iterator[None]:
        """While it lasts another file is followed, as if that came before all else: one that is needed only now."""
        before = {name: getattr(self, name) for name in _OF_THE_WAY}
        modes = dict(self.modes)
        for name, value in before.items():
            setattr(self, name, type(value)())
        self.path, self.node, self.steps = path, before["node"], before["steps"]
        self.modes.update({gradients.MODE: True, "autocast": None})
        try:
            with self.heap.at_the_start():
                yield
        finally:
            self.modes.clear()
            self.modes.update(modes)
            for name, value in before.items():
                setattr(self, name, value)

    def fault(self, error: Exception) -> None:
        """A mistake of the follower's own: it must not end the follow, and must not hide (see `DEBUG_VARIABLE`)."""
        if os.environ.get(DEBUG_VARIABLE):
            raise error
        self.program.packages.doubts += 1
        self.faults.append(f"{self.path}:{getattr(self.node, 'lineno', 0)}: {type(error).__name__}: {error}")

    def step(self, node: ast.AST) -> None:
        """One statement more.

        Raises:
            Exhausted: the budget is used up.
        """
        self.node = node
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted

    @property
    def too_deep(self) -> bool:
        """Whether a call more is too much."""
        return len(self.stack) > _DEEPEST

    def adapting(self, infer: Callable[[], Any], operands: Sequence[Value] | None = None) -> Any:
        """What a rule answers, with the sizes that a caller chooses as the operation needs them.

        Args:
            infer: asks the rule.
            operands: of an operation; without them it is a layer that demands sizes. What a module holds demands them
                too, and so does a number; two tensors that a caller gives demand nothing of each other.
        """
        if self.is_plain:
            return infer()
        demands = operands is None or any(isinstance(v, Tensor) and born(v.cells) < self.entered_at for v in operands)
        for _ in range(_ADAPTATIONS):
            with self.knowing():
                result = infer()
            if not isinstance(result, Report) or not self._adapts(result, demands):
                break
        demands = demands or (isinstance(result, Report) and self._is_about_number(result))
        if isinstance(result, Report) and demands and self._is_about(result, self.free):
            return ANYTHING  # what a caller gives must fit what the module holds, in a way that can't be solved for
        return result

    @property
    def is_plain(self) -> bool:
        """Whether sizes are what they are: no caller chooses any, nothing is assumed of them."""
        return not self.symbols and not self.free

    def _is_about_number(self, report: Report) -> bool:
        """Whether a size doesn't fit a number that the program states, which the caller may give."""
        sizes = [self.settled(s) for s in (report.expected, report.got) if isinstance(s, int | Expr)]
        return len(sizes) == 2 and any(isinstance(s, int) for s in sizes)

    def _is_about(self, report: Report, names: set[Var]) -> bool:
        """Whether the sizes that don't fit are in terms of these."""
        sizes = [self.settled(s) for s in (report.expected, report.got) if isinstance(s, int | Expr)]
        return len(sizes) == 2 and any(variables(s) & names for s in sizes)

    def _adapts(self, report: Report, demands: bool) -> bool:
        """Whether sizes that a caller chooses can be so that the operation works; from here on they are.

        A size that only an annotation names becomes what it is compared with. Two sizes that the caller gives apart are
        a demand on the caller ("works only if n == m").
        """
        if report.kind != "shape":
            return False
        if not isinstance(report.expected, int | Expr) or not isinstance(report.got, int | Expr):
            return False
        a, b = self.settled(report.expected), self.settled(report.got)
        if isinstance(a - b, int):
            return False
        for name, other in ((a, b), (b, a)):
            own = isinstance(name, Expr) and not is_compound(name) and variables(name) <= self.free
            if own and (demands or isinstance(other, int)) and not variables(other) & self.free:
                return self._equate(name, other)
        if {*variables(a), *variables(b)} & self.free:
            return False
        if self.demands_sizes:
            told = f"assert {a} == {b} states it; or take one size for both"
            self.find("tensor-size", f"{report.text}: works only if {a} == {b}", told)
        return self._equate(a, b)

    def report(self, report: Report) -> Value:
        """A mistake: where somebody may catch it, an exception; else a finding, and the value isn't known."""
        code = f"tensor-{report.kind}"
        if self.tries and CODES[code].severity == "error":
            error = _exception(report)
            if not self._depends(report):
                self.blame(error, code, report.text, report.hint, operation=report.op)
            raise error
        if not self._depends(report):
            self.find(code, report.text, report.hint, operation=report.op)
        return self.unknown("an error was found here")

    def _depends(self, report: Report) -> bool:
        """Whether it depends on sizes that a caller chooses: those may be chosen so that it works."""
        if not self.symbols or report.kind != "shape":
            return False
        a, b = report.expected, report.got
        if isinstance(a, int | Expr) and isinstance(b, int | Expr):
            a, b = self.settled(a), self.settled(b)
            if isinstance(a - b, int) or _are_multiples(a, b):
                return False
            counts = report.op in (
                "view",
                "reshape",
                "unflatten",
            )  # products of sizes, which a caller may choose to fit
            return counts or not variables(a - b) & self.free
        shapes = [v.shape for v in report.operands.values() if isinstance(v, TensorType)]
        return any(variables(i) & self.symbols for s in shapes for i in s.items if isinstance(i, Expr))

    def find(self, code: str, message: str, hint: str | None = None, **about: Any) -> None:
        """Write a mistake down, with the way here; ``about`` are other fields of the finding."""
        if recursion.is_deep(self):
            return
        if self.program.packages.is_inside(self):
            if not self.program.packages.counts(self, code):
                return
            hint = self.program.packages.explained(self, hint)
        self.told += 1
        self.failed += CODES[code].severity == "error"
        path, node, _ = self.place
        if not self._is_found(path, getattr(node, "lineno", 0), code):  # a loop comes here in each round
            found = self.finding(code, message, hint, **about)
            if not (found.about and any(f.says_the_same(found) for f in self.findings)):
                self.findings.append(found)

    def blame(self, error: Raised, code: str, message: str, hint: str | None, **about: Any) -> None:
        """An exception is raised in place of a mistake, which is told if it isn't taken after all (`caught`)."""
        if not self.program.packages.is_inside(self):
            error.finding = self.finding(code, message, hint, **about)
            error.through = tuple(call.node for call in self.running)

    @property
    def place(self) -> tuple[str, ast.AST, int]:
        """The file, the node and the depth of what is followed; in a file of ours, those of the call of it."""
        return (self.path, self.node, len(self.stack)) if self.border is None else self.border

    def _way(self, path: str, depth: int) -> Sequence[tuple[str, int, str, Any, bool]]:
        """The calls that lead to a line of a file, without those inside files of ours."""
        if not (depth and self.program.own):
            return self.stack[:depth]
        way, place = [], ("", 0)
        inside = [*(entry[0] for entry in self.stack[1:depth]), path]  # where what each of them calls stands
        for entry, called in zip(self.stack[:depth], inside, strict=True):
            if entry[0] not in self.program.own:
                place = entry[:2]
            if called not in self.program.own:
                way.append((*place, *entry[2:]))
        return way

    def finding(
        self, code: str, message: str, hint: str | None, *, is_promise: bool = False, operation: str = ""
    ) -> Finding:
        """A mistake here, with the way here."""
        path, node, depth = self.place
        switch = self.switch
        is_said = not self.program.packages.is_inside(self) or CODES[code].severity == "error"
        return Finding(
            path if is_said else "",
            getattr(node, "lineno", 0),
            getattr(node, "col_offset", 0) + 1,
            code,
            message,
            hint,
            (
                *(_call(*entry) for entry in reversed(self._way(path, depth))),
                *(() if switch is None else (switch.way,)),
            ),
            None if hasattr(node, "body") else getattr(node, "end_lineno", None),
            None if hasattr(node, "body") else getattr(node, "end_col_offset", None),
            self.entry,
            frozenset((path, s.lineno, _last_line(s)) for s, path in self.passed.items()),
            is_promise,
            CODES[code].severity,
            self.surely_gets_here,
            operation,
            unparsed(node.value) if isinstance(node, ast.Subscript | ast.Attribute) else "",
        )

    @property
    def surely_gets_here(self) -> bool:
        """Whether no condition that isn't known leads here, and nobody may have taken an exception before."""
        open_ = (
            self.switch or self.entry or self.hypothetical or self.unsure_rounds or any(g.possible for g in self.guards)
        )
        return not open_ and all(c in self.going for c in self.conditions)

    @contextmanager
    def silently(self) -> abc.Iterator[list[Finding]]:
        """While it lasts nothing is said: what is found is given, what else would be shown is forgotten, and nobody
        around takes what may be raised.
        """
        counts = self.told, self.failed
        said = self.findings, self.claims, self.certain, self._claimed, self.unsaid, self.revealed
        possible = [(g, g.possible, g.at, g.places) for g in self.guards]
        for guard in self.guards:
            guard.possible, guard.at = dict(guard.possible), dict(guard.at)
        found: list[Finding] = []
        self.findings, self.claims, self.certain, self._claimed = found, {}, set(), set()
        self.unsaid, self.revealed = set(), {}
        try:
            yield found
        finally:
            self.findings, self.claims, self.certain, self._claimed, self.unsaid, self.revealed = said
            self.told, self.failed = counts
            for guard, ways, at, places in possible:
                guard.possible, guard.at, guard.places = ways, at, places

    def keep(self, found: Finding) -> None:
        """Write a mistake down, unless one of its kind on this line is known."""
        if found.path and not self._is_found(found.path, found.line, found.code):
            self.findings.append(found)

    def _is_found(self, path: str, line: int, code: str) -> bool:
        return any((f.path, f.line, f.code) == (path, line, code) for f in self.findings)

    def claim(self, name: str, value: Value) -> None:
        """Remember what a line gives to a name, for the shapes beside the source."""
        kind = type(value)
        if kind in _NEVER_CLAIMED or self.path in self.program.own:
            return
        line = getattr(self.node, "lineno", 0)
        if kind is Tensor:
            self._show(line, name, value.type)
            return
        value = self.resolve(value)
        if type(value) is Tensor:
            self._show(line, name, value.type)
            return
        if isinstance(value, Choice) and branches.alike(value.when_true, value.when_false):
            value = value.when_true
        if (known := sparsity.matrix_of(value)) is not None and known.kind == sparsity.TENSOR:
            value = Tensor(known.type)
        if isinstance(value, Choice) and (several := _tensors_of(value)):
            self.unsaid.add((self.path, line, name))  # none of them is certain
            for one in several:
                self._show(line, name, one.type, is_one_of=True)
            return
        if isinstance(value, Unknown | Choice):
            self.unsaid.add((self.path, line, name))
            if branches.may_lack_sizes(value):
                self.unknown_lines.setdefault((self.path, line), _cause(value))
        if not isinstance(value, Tensor | int | Expr | tuple) or isinstance(value, bool):
            return
        if isinstance(value, tuple) and not any(isinstance(v, Tensor) for v in value):
            return
        self._show(line, name, _frozen(value))

    @property
    def _may_be_elsewhere(self) -> bool:
        """Whether somebody may have taken an exception before."""
        for guard in self.guards:  # noqa: SIM110  (`any` takes twice as long, for each name that a line gives)
            if guard.possible:
                return True
        return False

    def _show(self, line: int, name: str, seen: Any, *, is_one_of: bool = False) -> None:
        if type(seen) is not tuple:
            claim = self.path, line, name, seen
            surely = not (is_one_of or self.conditions or self.hypothetical or self._may_be_elsewhere)
            if (surely and _is_in(self.certain, claim)) or _is_in(self._claimed, claim):
                return
        names = self.claims.setdefault((self.path, line), {})
        shown = names.setdefault(name, [])
        if is_one_of and type(shown) is not OneOf:
            shown = names[name] = OneOf(shown)
        if type(seen) is tuple and seen in shown:
            return
        if len(shown) < _MOST_CLAIMS:
            shown.append(seen)
        else:
            self.unsaid.add((self.path, line, name))


_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_OF_THE_WAY: Final = (
    *("path", "node", "stack", "running", "steps", "conditions", "going", "unsure_rounds", "hypothetical"),
    *("tries", "optional_imports", "guards", "takers", "questions", "handled", "unsure_modes", "promises"),
)
"""What an interpreter has in hand of the way that led here."""
_TAKEN_OVER: Final = (
    *("findings", "claims", "_claimed", "unsaid", "revealed", "reasons", "unknown_lines", "in_the_dark", "failures"),
    *("faults", "broken", "entered", "only_annotated", "demands_sizes"),
)
"""What following a program again adds to."""
_EXPRESSIONS: Final = expressions.TABLE
_MUTABLE: Final = remembered.MUTABLE
_NEVER_CLAIMED: Final = frozenset({str, float, bool, type(None), List, Dict, Instance, Function, Class})


def _cause(value: Unknown | Choice) -> str:
    """Why a value isn't known: the reason of the first that it was derived from."""
    while isinstance(value, Choice):
        value = next((v for v in (value.when_true, value.when_false) if isinstance(v, Unknown | Choice)), None)
    return value.origin if isinstance(value, Unknown) else "which of several values it is"


def _tensors_of(value: Choice) -> list[Tensor]:
    """The tensors that one of several is; none where it may be something else, or one of many."""
    found: list[Tensor] = []
    todo: list[Value] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, Choice):
            todo += [one.when_false, one.when_true]
        elif type(one) is Tensor and len(found) < _MOST_CLAIMS:
            found.append(one)
        else:
            return []
    return found


def _is_in(known: set[Any], one: Any) -> bool:
    """Whether it is one of these; it is from here on. Its hash, which takes long, is asked for once."""
    before = len(known)
    known.add(one)
    return len(known) == before


_OF_SIZES: Final = {
    *("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="),
    *("matmul", "mm", "bmm", "mv", "dot", "outer", "stack", "view", "reshape", "expand", "linear"),
}


def _exception(report: Report) -> Raised:
    """What torch raises: where an index or a dim is out of range an IndexError; else its layers and losses differ."""
    input_ = report.operands.get("input")
    has_dims = not isinstance(input_, TensorType) or input_.shape.rank != 0
    if report.op == "[]" and isinstance(report.got, str) and has_dims:
        return Raised("TypeError", None, ("Exception", "BaseException"))
    if report.op == "[]" or isinstance(report.expected, range):
        return Raised("IndexError", None, ("LookupError", "Exception", "BaseException"))
    return Raised("RuntimeError" if report.op in _OF_SIZES else "", None, ("Exception", "BaseException"))


def _are_multiples(a: Dim, b: Dim) -> bool:
    """Whether one size is always the same multiple of the other, and not once."""
    names = sorted({*variables(a), *variables(b)}, key=lambda v: v.sort_key)
    rows = [
        dict.fromkeys(names, 1),
        {v: 2 * i + 3 for i, v in enumerate(names)},
        {v: 5 + 7 * i for i, v in enumerate(names)},
    ]
    ratios = set()
    for chosen in rows:
        top, bottom = evaluate(a, chosen), evaluate(b, chosen)
        if not top or not bottom:
            return False
        ratios.add(Fraction(top, bottom))
    return len(ratios) == 1 and ratios != {Fraction(1)}


def _call(path: str, line: int, function: str, given: tuple[tuple[str, TensorType], ...], is_entry: bool) -> Call:
    return Call(path, line, function, tuple((name, str(kind)) for name, kind in given), is_entry)


def _key(value: Value) -> Any:
    if isinstance(value, Expr | int | float | str | bytes | None):
        return type(value), value
    return id(value)


def _frozen(value: Value) -> Any:
    """A value as it is now: what it becomes later must not change the claim."""
    if isinstance(value, Tensor):
        return value.type
    if isinstance(value, tuple):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, TensorType | int | Expr | str) or value is None:
        return value
    return None if isinstance(value, Instance) else value


def _last_line(statement: ast.stmt) -> int:
    """The last line of a statement, or of a compound one's head."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    return statement.end_lineno or statement.lineno if not body else max(statement.lineno, _first_line(body[0]) - 1)


def _first_line(inner: ast.stmt | ast.match_case) -> int:
    return inner.pattern.lineno if isinstance(inner, ast.match_case) else inner.lineno
