"""Stubs: annotations say what the functions of a library give. Nothing of the library is read or imported.

A stub is a ``.pyi`` file, which mypy reads, too. Stubs lie

- in a folder that a project names: ``models = ["stubs"]`` under ``[tool.simpletorch]``;
- in a distribution with the entry point ``simpletorch.models``, whose name is the library's package, and whose value
  is the package or module that has the stubs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow.libraries.pytorch.kernels import promised
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources import installed, texts
from simpletorch.follow.sources.syntax import parse
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Function,
    Instance,
    List,
    Namespace,
    Native,
    Property,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    is_known,
)
from simpletorch.follow.values import Iterator as Items

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Stubs"]

_NEVER: Final = frozenset({"torch", "numpy", "simpletorch", *sys.stdlib_module_names})
"""The packages of which nobody else has stubs for us: the metadata of all distributions needn't be read for them."""


@final
class Stubs:
    """The stubs that a program may use."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._modules: dict[str, dict[str, Value]] = {}

    @cached_property
    def _folders(self) -> tuple[Path, ...]:
        return tuple(map(Path, installed.folders_of_stubs(str(self._program.parent))))

    def member(self, run: Interpreter, name: str) -> Value:
        """The value of a dotted name, MISSING if no stub has it."""
        if self._file(name) is not None:
            return Namespace(name)
        module, _, short = name.rpartition(".")
        return self._cells(run, module).get(short, MISSING)

    def _file(self, module: str) -> Path | None:
        package, _, rest = module.partition(".")
        for folder in self._folders:
            if (found := _stub(folder, module)) is not None:
                return found
        place = None if package in _NEVER else installed.stubs_of(package)
        if place is None:
            return None
        found = Path(place)
        if found.suffix == ".pyi":
            return None if rest else found
        return _stub(found, rest)

    def _cells(self, run: Interpreter, module: str) -> dict[str, Value]:
        """The names of a module's stub; none if it has no stub."""
        if module not in self._modules:
            file = self._file(module) if module else None
            tree = None if file is None else parse(file)
            cells = self._modules[module] = {"__name__": module, "__file__": str(file)} if tree is not None else {}
            if tree is not None:
                path = str(file)
                run.program.own.add(path)
                scope = Scope(None, path, cells)
                with run.at_the_start(path):
                    run.execute(tree.body, scope)
                _Promises(run, scope, module).put(tree.body, cells)
        return self._modules[module]


def _stub(folder: Path, module: str) -> Path | None:
    """The stub of a module below a folder."""
    inner = folder.joinpath(*module.split(".")) if module else folder
    candidates = (inner / "__init__.pyi", *([inner.with_suffix(".pyi")] if module else []))
    return next((c for c in candidates if texts.is_file(c)), None)


# -- what a stub promises ----------------------------------------------------------------------------------------------

_PLAIN: Final = ("int", "float", "bool", "str", "bytes", "complex")
_LISTS: Final = ("list", "List", "Sequence", "MutableSequence", "Collection")
_STREAMS: Final = ("Iterator", "Iterable", "Generator")
_DICTS: Final = ("dict", "Dict", "Mapping", "MutableMapping")


@final
class _Promises:
    """Values for the functions, classes and names of one stub."""

    def __init__(self, run: Interpreter, scope: Scope, module: str) -> None:
        self._run, self._scope, self._module = run, scope, module

    def put(self, body: list[ast.stmt], cells: dict[str, Value], owner: Class | None = None) -> None:
        """Put promises in the place of what a stub defines in its body, or in that of a class."""
        prefix = self._module if owner is None else owner.qualified
        several = _overloaded(body)
        for node in body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in several:
                    cells[name] = Native(f"{prefix}.{name}", _unclear(f"{prefix}.{name}"))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in cells:
                    cells[name] = self._promise(cells[name], prefix)
                case ast.ClassDef(name=name, body=inner) if isinstance(cls := cells.get(name), Class):
                    cls.unknown_base = cls.unknown_base or Unknown(f"an attribute that the stub of {name} lacks")
                    self.put(inner, cls.cells, cls)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=said, value=None):
                    getter = Function(_getter(name, said), self._scope, name)
                    if owner is None:
                        cells[name] = self._call(self._run, getter, (MISSING,), {})
                    elif owner.fields is None:
                        cells[name] = Property(self._promise(getter, prefix))

    def _promise(self, value: Value, prefix: str) -> Value:
        match value:
            case Function():
                return Native(f"{prefix}.{value.name}", lambda run, args, kwargs: self._call(run, value, args, kwargs))
            case Property(getter=Function() as getter):
                return Property(self._promise(getter, prefix), value.setter, value.cached)
            case StaticMethod(function=Function() as inner):
                return StaticMethod(self._promise(inner, prefix), value.of_class)
        return value

    def _call(self, run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        if (refused := events.MISFIT(run, function, args, kwargs)) is not None:
            return refused
        # the library may change and call all that it is given, but for tensors: these are what its annotations say
        given = args[1:] if function.owner is not None and args and isinstance(args[0], Instance) else args
        held = [
            v for v in map(run.resolve, (*given, *kwargs.values())) if not isinstance(v, Tensor) and not is_known(v)
        ]
        if held:
            run.escape(tuple(held))
        if not isinstance(function.node, ast.FunctionDef):
            return run.unknown(f"what {function.name} gives")

        def otherwise(said: ast.expr | None, tensor: Callable[[ast.expr], Tensor | None]) -> Value:
            owner = run.resolve(args[0]) if args else None
            return self._value(said, tensor, owner if isinstance(owner, Instance) else None, function)

        return promised(run, function, args, kwargs, strict=True, otherwise=otherwise)

    def _value(
        self,
        said: ast.expr | None,
        tensor: Callable[[ast.expr], Tensor | None],
        owner: Instance | None,
        function: Function,
    ) -> Value:
        """A value as an annotation describes it."""
        run, reason = self._run, f"what {function.name} gives"

        def inner(node: ast.expr) -> Value:
            return self._value(node, tensor, owner, function)

        if said is not None and (found := tensor(said)) is not None:
            return found
        match said:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str() as text):
                try:
                    return inner(ast.parse(text, mode="eval").body)
                except SyntaxError:
                    return run.unknown(reason)
            case ast.Subscript(value=head, slice=ast.Tuple(elts=[item, ast.Constant(value=value)])) if value is ...:
                return List(None, inner(item)) if _last(head) in ("tuple", "Tuple") else run.unknown(reason)
            case ast.Subscript(value=head, slice=ast.Tuple(elts=items)) if _last(head) in ("tuple", "Tuple"):
                return tuple(map(inner, items))
            case ast.Subscript(value=head, slice=item) if _last(head) in _LISTS:
                return List(None, inner(item))
            case ast.Subscript(value=head, slice=item) if _last(head) in _STREAMS:
                return Items(None, inner(item.elts[0] if isinstance(item, ast.Tuple) else item))
            case ast.Subscript(value=head, slice=ast.Tuple(elts=[_, item])) if _last(head) in _DICTS:
                return Dict({}, inner(item))
            case ast.Name(id=name) if name in _PLAIN:
                return run.unknown(reason, name)
            case ast.Name(id="Self") | ast.Attribute(attr="Self") if owner is not None:
                return Instance(owner.cls)
            case ast.Name() | ast.Attribute():
                return self._instance(said, inner, reason)
        return run.unknown(reason)

    def _instance(self, said: ast.expr, inner: Callable[[ast.expr], Value], reason: str) -> Value:
        run = self._run
        try:
            cls = run.resolve(run.evaluate(said, self._scope))
        except Raised:
            cls = None
        if not isinstance(cls, Class) or cls.module.partition(".")[0] != self._module.partition(".")[0]:
            return run.unknown(reason)
        made = Instance(cls)
        members.begun(run, made)
        if cls.fields is not None:  # a dataclass
            for c in reversed(cls.mro):
                made.cells.update({name: inner(note) for name, note in c.notes.items()})
        return made


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _overloaded(body: list[ast.stmt]) -> set[str]:
    """The names with several signatures: it isn't told which one a call has."""
    return {
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(_last(d) == "overload" for d in node.decorator_list)
    }


def _unclear(name: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        run.escape((*args, *kwargs.values()))
        return run.unknown(f"what {name} gives, which has several signatures")

    return work


def _getter(name: str, said: ast.expr) -> ast.FunctionDef:
    """A function that gives an attribute that a stub annotates."""
    made = ast.parse(f"def {name}(self): ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.returns = said
    return ast.fix_missing_locations(made)
