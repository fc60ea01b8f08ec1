"""Installed libraries, followed into their source: a name of theirs is worked out when the program asks for it.

Nothing of a library is run or imported; its files are read as the project's own modules are. Of a file only the
statements count that bind a name which is asked for, in the order of the text. Models and stubs come first.

A call into a library is a border (`Interpreter.border`): its mistakes are the caller's, where they are certain, and it
has a budget of its own. Code that can't be followed has an unknown result, may raise, and may have changed any object
that it can reach.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import guards
from simpletorch.follow.libraries import OWN
from simpletorch.follow.libraries.harmless import is_harmless
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Exhausted, Raise, Raised, Split
from simpletorch.follow.sources import installed, texts
from simpletorch.follow.sources.lazily import CHANGES, binds, registries
from simpletorch.follow.sources.lazy_cells import LazyCells
from simpletorch.follow.sources.syntax import number, of_node, parse
from simpletorch.follow.values import MISSING, Dict, List, Namespace, Set, Value
from simpletorch.rules.core.codes import CODES

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Packages"]

_FOLDERS: Final = re.compile(r"(?:site|dist)-packages[/\\]")
_NEVER: Final = frozenset(
    {*sys.stdlib_module_names, "_simpletorch", "accelerate", "beartype", "datasets", "deepspeed", "functorch", "gym"}
    | {"gymnasium", "jax", "jaxlib", "jaxtyping", "keras", "mypy", "optuna", "pytest", "ray", "simpletorch"}
    | {"tensorflow", "torch", "torchgen", "triton", "typeguard"}
)
"""Packages without a source that says anything of sizes, and those that models stand for."""

_OPAQUE: Final = re.compile(
    r"(?:pytorch_lightning|lightning\.pytorch)\.(?:trainer|loops|callbacks|loggers|profilers|strategies|tuner|cli)\b"
    r"|lightning(?:\.|_)fabric\.(?:fabric|accelerators|connector|loggers|plugins|strategies|wrappers)\b"
    r"|transformers\.(?:trainer\w*|training_args\w*|pipelines|generation|integrations|quantizers|agents)\b"
    r"|transformers\..*\b(?:tokenization|image_processing|video_processing|processing|feature_extraction)_\w+"
    r"|torch(?:vision\.(?:datasets|transforms)|audio\.datasets|_geometric\.(?:datasets|loader|transforms))\b"
    r"|timm\.(?:data\.(?:dataset|loader|readers|transforms|auto_augment)\w*|utils)\b"
)
"""Modules of followed libraries that only drive loops, read data or know machines."""

_WHOLE: Final = "torchvision.models"
"""A package with models of its parts that programs use: what is followed of it uses the parts themselves."""

_STEPS: Final = 80_000  # of all calls into libraries
_STEPS_OF_CALL: Final = 30_000
_SECONDS: Final = 5.0
_SECONDS_OF_CALL: Final = 2.5


@final
class _Definitions(Mapping[str, Callable[[], Value]]):
    """The names that a library's file may bind, each with the function that works it out."""

    def __init__(self, packages: Packages, run: Interpreter, module: _Module) -> None:
        self._packages, self._run, self._module = packages, run, module

    def __contains__(self, name: object) -> bool:
        return name in self._module.groups or self._star(name) is not None

    def __getitem__(self, name: str) -> Callable[[], Value]:
        if name in self._module.groups:
            return lambda: self._packages.define(self._run, self._module, name)
        star = self._star(name)
        return lambda: MISSING if star is None else self._packages.member(self._run, f"{star}.{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._module.groups)

    def __len__(self) -> int:
        return len(self._module.groups)

    def _star(self, name: object) -> str | None:
        """The module, imported from whole, that has the name."""
        if not isinstance(name, str) or name.startswith("__"):
            return None
        return self._packages.star_of(self._module.stars, name)


@final
class _Cells(LazyCells):
    """The variables of a library's module; a name that turns out not to be bound isn't there."""

    __slots__ = ()

    def _ask(self, key: Any) -> None:
        if key in self._asked:
            return
        self._asked.add(key)  # what isn't there is looked for once
        value = self._convert(self._source[key]) if key in self._source else MISSING
        if value is not MISSING:
            dict.__setitem__(self, key, value)


@final
class _Module:
    """A file of a library's, and which of its statements bind which names."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path = name, path
        self.groups, stars = _groups(tree)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.stars = [star for s in stars if (star := _absolute(s, package)) is not None]
        self.registries = registries(tree)
        self.scope: Scope
        self.done: set[int] = set()


@final
class Packages:
    """The libraries that a program uses, as far as their source is followed."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._modules: dict[str, _Module | None] = {}
        self._texts: dict[Path, str] = {}
        self._paths: dict[str, Path | None] = {}
        self._followed: dict[str, bool] = {}
        self.files: set[str] = set()
        self.depth = 0  # of calls into libraries, and of what is worked out of their modules
        self.defining = 0  # of what is worked out of modules
        self.doubts = 0  # how often something wasn't followed there
        self._steps = _STEPS
        self._seconds: float | None = None  # that are left; at first half of the program's own
        self._cut: set[ast.AST] = set()  # the functions that took too long

    # -- names --------------------------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether a dotted name is a module of a library's that is followed."""
        return self._file(name) is not None

    def member(self, run: Interpreter, name: str) -> Value:
        """The value of a dotted name, MISSING if no library has it."""
        if _OPAQUE.match(name):
            return MISSING
        owner, _, short = name.rpartition(".")
        module = self._module(run, owner) if owner else None
        found = MISSING if module is None else run.resolve(module.scope.cells.get(short, MISSING))
        if found is MISSING and self.has(name):
            return Namespace(name)
        return found

    def inside(self, run: Interpreter, module: str, name: str) -> Value:
        """A name that a library's module takes from another one by its source, although models stand for that.

        MISSING where it isn't such a library.
        """
        if not module.startswith(_WHOLE) or run.path not in self.files or f"{module}.{name}" in OWN:
            return MISSING
        inner = self._module(run, f"{module}.{name}")
        if inner is not None:
            return Namespace(inner.name, inner.scope.cells, str(inner.path))
        found = self._module(run, module)
        return MISSING if found is None else run.resolve(found.scope.cells.get(name, MISSING))

    def defines(self, name: str) -> bool:
        """Whether a class of this dotted name is followed in a library's source, and no text stands for it."""
        module = self._modules.get(name.rpartition(".")[0])
        return module is not None and name not in OWN and name.rpartition(".")[2] in module.groups

    def tree(self, module: str) -> ast.Module:
        """The syntax of a module; an empty one where there is none."""
        path = self._file(module)
        return (None if path is None else parse(path)) or ast.Module([], [])

    def evaluate(self, run: Interpreter, module: str, node: ast.expr) -> Value:
        """An expression as it stands in a module."""
        found = self._module(run, module)
        if found is None:
            return run.unknown(f"what stands in {module}")
        number(node)
        with run.elsewhere(str(found.path)):
            return run.evaluate(node, found.scope)

    def star(self, module: str, name: str) -> str | None:
        """The module from which a module's ``import *`` has a name."""
        path = self._file(module)
        package = module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]
        found = () if path is None else _STAR.findall(self._text(path))
        return self.star_of([star for s in found if (star := _absolute(s, package)) is not None], name)

    def star_of(self, stars: Sequence[str], name: str) -> str | None:
        """That of several modules which has a name, the last one."""
        likely = sorted(stars, key=lambda star: _alike(star, name))
        return next((star for star in reversed(likely) if self.may_define(star, name)), None)

    def may_define(self, module: str, name: str) -> bool:
        """Whether ``from module import *`` may bind a name, as far as texts say."""
        seen, left, looked = {module}, [module], 0
        while left and looked < _MOST_TEXTS:
            at = left.pop()
            looked += 1
            path = self._path(at)
            text = "" if path is None else self._text(path)
            if name in text and _exports(text, name):
                return True
            if path is None or "import *" not in text:
                continue
            package = at if path.name == "__init__.py" else at.rpartition(".")[0]
            stars = {star for s in _STAR.findall(text) if (star := _absolute(s, package)) is not None} - seen
            seen |= stars
            left = sorted([*left, *stars], key=lambda star: (_alike(star, name), star))
        return False

    def _text(self, path: Path) -> str:
        if path not in self._texts:
            self._texts[path] = texts.read(path)
        return self._texts[path]

    def _file(self, name: str) -> Path | None:
        """The file of a module that is followed."""
        return None if _OPAQUE.match(name) else self._path(name)

    def _path(self, name: str) -> Path | None:
        """The file of a module."""
        if name not in self._paths:
            self._paths[name] = self._look_up(name)
        return self._paths[name]

    def _look_up(self, name: str) -> Path | None:
        first = name.partition(".")[0]
        if first not in self._followed:
            is_left_out = first in _NEVER or is_harmless(first)
            self._followed[first] = not is_left_out and installed.is_followed(first, str(self._program.parent))
        if not self._followed[first]:
            return None
        found = installed.source_of(name)
        return None if found is None else Path(found)

    def _module(self, run: Interpreter, name: str) -> _Module | None:
        if name not in self._modules:
            path = self._file(name)
            tree = None if path is None else parse(path)
            self._modules[name] = None if path is None or tree is None else self._begun(run, name, path, tree)
        return self._modules[name]

    def _begun(self, run: Interpreter, name: str, path: Path, tree: ast.Module) -> _Module:
        made = _Module(name, path, tree)
        cells = _Cells(_Definitions(self, run, made), lambda work: work())
        for key, value in run.program.cells(run, name, str(path), tree).items():
            cells[key] = value
        made.scope = Scope(None, str(path), cells)
        self.files.add(str(path))
        run.program.own.add(str(path))
        return made

    def define(self, run: Interpreter, module: _Module, name: str) -> Value:
        """Follow the statements that bind a name, and those that it shares them with; its value then."""
        cells, path = module.scope.cells, str(module.path)
        is_known = True
        for statement in module.groups[name]:
            if id(statement) in module.done:
                continue
            module.done.add(id(statement))
            number(statement)
            self.defining += 1
            try:
                with run.at_the_start(path):
                    with self.spending(run):
                        done = run.execute([statement], module.scope)
                    left = run.steps
                run.steps = left
                is_known = is_known and not isinstance(done, Raise | Split)
            except (Raised, Exhausted):
                if run.budget.is_cut:
                    raise
                is_known = False
            finally:
                self.defining -= 1
        found = dict.get(cells, name, MISSING)
        if not is_known:
            return run.unknown(f"{name} of {module.name}, which wasn't followed")
        return self._opened(run, module, name, found)

    def _opened(self, run: Interpreter, module: _Module, name: str, value: Value) -> Value:
        """A registry that functions of modules which aren't run may have filled further."""
        if name in module.registries:
            further = run.unknown(f"{name} of {module.name}, which other modules may have changed")
            if isinstance(value, Dict):
                value.state.setdefault("open", further)
            elif isinstance(value, List | Set):
                return further
        return value

    # -- calls --------------------------------------------------------------------------------------------------------

    @contextmanager
    def spending(self, run: Interpreter) -> Iterator[None]:
        """In here the libraries' budget is spent, not the program's.

        Raises:
            Exhausted: it is used up.
        """
        if self.depth:
            self.depth += 1
            try:
                yield
            finally:
                self.depth -= 1
            return
        steps, ends, was_cut, began = run.steps, run.budget.ends, run.budget.is_cut, run.budget.now()
        given = min(self._steps, _STEPS_OF_CALL)
        left = min(_SECONDS, (ends - began) / 2) if self._seconds is None else self._seconds
        run.steps = given
        run.budget.ends = min(ends, began + min(left, _SECONDS_OF_CALL))
        is_ours = run.budget.ends < ends
        self.depth = 1
        try:
            yield
        finally:
            self.depth = 0
            spent = run.budget.now() - began
            self._steps -= given - max(run.steps, 0)
            self._seconds = left - spent
            run.steps, run.budget.ends = steps, ends + spent
            if is_ours:
                run.budget.is_cut = was_cut

    @property
    def _is_spent(self) -> bool:
        return self._steps <= 0 or (self._seconds is not None and self._seconds <= 0)

    def call(self, run: Interpreter, function: Any, given: Sequence[Value], work: Callable[[], Value]) -> Value:
        """``work`` as the body of a library's function that the program calls."""
        if self._is_spent or function.node in self._cut:
            return self._unknown(run, function, given)
        run.training.lost_sight = True
        depth, doubts = run.heap.depth, self.doubts
        run.heap.begin()
        try:
            with self.spending(run):
                value = work()
        except Exhausted:
            self._take_back(run, depth)
            if run.budget.is_cut:
                raise
            self._cut.add(function.node)
            return self._unknown(run, function, given)
        except Raised as error:
            if error.is_told or (function.name.startswith("__") and function.name != "__init__") or run.questions:
                self._keep(run, depth)
                raise
            self._take_back(run, depth)
            if self.doubts == doubts:
                self._refused(run, function, error)
            return self._unknown(run, function, given)
        except BaseException:
            self._keep(run, depth)
            raise
        self._keep(run, depth)
        return value

    def _refused(self, run: Interpreter, function: Any, error: Raised) -> None:
        """A library's ``assert`` or ``raise ValueError`` that the program surely meets is its mistake."""
        ending = run.raised
        is_sure = run.surely_gets_here and not run.tries and not guards.is_caught(run, error)
        if ending.error is not error or ending.path not in self.files or not is_sure or run.border is None:
            return
        match ending.statement:
            case (
                ast.Assert(msg=reason) | ast.Expr(value=ast.Call(func=ast.Attribute(attr="_assert"), args=[_, reason]))
            ):
                pass
            case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError" | "AssertionError"), args=[reason, *_])):
                pass
            case _:
                return
        run.path, run.node, _ = run.border
        name = function.name if function.owner is None else f"{function.owner.name}.{function.name}"
        said = _said(reason)
        text = f": {said}" if said else ""
        where = self.explained(run, None, ending.path, ending.statement)
        run.find("tensor-option", f"{name.removesuffix('.__init__')} refuses this{text}", where)

    def counts(self, run: Interpreter, code: str) -> bool:
        """Whether a mistake in a library's file is the program's: an error to which nothing that isn't known leads."""
        is_called = run.border is not None and run.border[0] not in self.files and not self.defining
        return is_called and CODES[code].severity == "error" and run.surely_gets_here

    def is_inside(self, run: Interpreter) -> bool:
        """Whether what is followed here is a library's, or stands for a part of one that is being followed."""
        return run.path in self.files or (self.depth > 0 and run.path in run.program.own)

    def explained(
        self, run: Interpreter, hint: str | None, path: str | None = None, node: ast.AST | None = None
    ) -> str:
        """The hint of a mistake in a library's file, with its place there."""
        shown = _FOLDERS.split(path or run.path)[-1]
        place = f"it fails in {shown}:{getattr(node or run.node, 'lineno', 0)}"
        return place if hint is None else f"{hint}; {place}"

    def _keep(self, run: Interpreter, depth: int) -> None:
        while run.heap.depth > depth:
            run.heap.keep()

    def _take_back(self, run: Interpreter, depth: int) -> None:
        while run.heap.depth > depth:
            run.heap.end()

    def _unknown(self, run: Interpreter, function: Any, given: Sequence[Value]) -> Value:
        """A call that isn't followed: it may raise, and may have changed what it was given."""
        return run.call_in_the_dark(run.unknown(f"what {function.name} gives, which wasn't followed"), given, {})


def _said(said: ast.expr | None) -> str:
    """The text of an exception; values in it aren't known any more."""
    parts = said.values if isinstance(said, ast.JoinedStr) else [said]
    return "".join(p.value if isinstance(p, ast.Constant) and isinstance(p.value, str) else "…" for p in parts if p)


# -- statements by the names that they bind ----------------------------------------------------------------------------

_STAR: Final = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\*", re.MULTILINE)
_ALL: Final = re.compile(r"^__all__[^=\n]*=\s*[\[(]([^\])]*)[\])]", re.MULTILINE)
_QUOTED: Final = re.compile("['\"]")
_MOST_TEXTS: Final = 400  # that are looked through for a name


def _exports(text: str, name: str) -> bool:
    """Whether a module's text may give a name to ``import *``: decorators may add to ``__all__`` what it defines."""
    if re.search(rf"^(?:class|def) {re.escape(name)}\b", text, re.MULTILINE):
        return True
    listed = _ALL.search(text)
    is_listed = listed is None or _QUOTED.search(listed[1]) is None or f'"{name}"' in listed[1].replace("'", '"')
    return is_listed and binds(name).search(text) is not None


def _alike(module: str, name: str) -> int:
    """How much of a name the name of a module says, which likely has it: ``bert`` of ``BertConfig``."""
    short = name.lower().replace("_", "")
    parts = (part.replace("_", "") for part in module.split("."))
    return max((len(part) for part in parts if part and short.startswith(part)), default=0)


_CHANGES: Final = CHANGES | {"register"}


def _absolute(name: str, package: str) -> str | None:
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parts = package.split(".")
    if dots - 1 >= len(parts):
        return None
    return ".".join(filter(None, (*parts[: len(parts) - dots + 1], name[dots:])))


@of_node
def _groups(tree: ast.Module) -> tuple[dict[str, list[ast.stmt]], list[str]]:
    """By name the statements to follow for it, in the order of the text; and the modules imported from whole.

    Names that a statement binds together share their statements.
    """
    stars: list[str] = []
    bound = [(statement, _bound(statement)) for statement in _flat(tree.body, stars)]
    first: dict[str, str] = {}

    def root(name: str) -> str:
        while first.setdefault(name, name) != name:
            name = first[name]
        return name

    for _, names in bound:
        for name in names[1:]:
            first[root(name)] = root(names[0])
    by_root: dict[str, list[ast.stmt]] = {}
    for statement, names in bound:
        if names:
            by_root.setdefault(root(names[0]), []).append(statement)
    return {name: by_root[root(name)] for name in first if root(name) in by_root}, stars


def _flat(body: Sequence[ast.stmt], stars: list[str]) -> Iterator[ast.stmt]:
    """The statements of a module: each import by itself, and what a type checker reads instead of what is run."""
    for statement in body:
        match statement:
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                stars.append("." * statement.level + (statement.module or ""))
            case ast.Import(names=names) | ast.ImportFrom(names=names) if len(names) > 1:
                for alias in names:
                    one = (
                        ast.Import([alias])
                        if isinstance(statement, ast.Import)
                        else ast.ImportFrom(statement.module, [alias], statement.level)
                    )
                    yield ast.copy_location(one, statement)
            case ast.If(test=test, body=inner, orelse=other) if _speaks_of(test, "TYPE_CHECKING"):
                yield from _flat(inner, stars)
                if not any(_speaks_of(n, "modules") for n in other):  # a module that replaces itself by a lazy one
                    yield from _flat(other, stars)
            case ast.If(test=test, body=inner) if _asks_what_is_installed(test) and all(map(_is_import, inner)):
                yield from _flat(inner, stars)
            case ast.Try(body=[ast.If(body=[ast.Raise()])], orelse=[_, *_] as other):
                yield from _flat(other, stars)  # names for what isn't installed
            case _:
                yield statement


_IMPORTS: Final = (ast.Import, ast.ImportFrom)


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, _IMPORTS)


def _asks_what_is_installed(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Name) and n.id.endswith("_available") for n in ast.walk(test))


def _speaks_of(node: ast.AST, word: str) -> bool:
    """Whether a node names a variable or an attribute."""
    return any(word in (getattr(n, "id", None), getattr(n, "attr", None)) for n in ast.walk(node))


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement binds, or of whose value it changes something."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names):
            return [(alias.asname or alias.name).partition(".")[0] for alias in names]
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=attr))):
            root = _root(owner)
            return [root] if root and attr in _CHANGES else []
        case ast.Expr():
            return []
    found: list[str] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop(0)
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.append(name)
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                found += [root] if (root := _root(node)) else []
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                found += _bound(node)
                continue
            case ast.Expr():
                found += _bound(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.Lambda():
                continue
        todo += ast.iter_child_nodes(node)
    return list(dict.fromkeys(found))


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
