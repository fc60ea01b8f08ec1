"""``import``: the program's own modules are followed, of libraries the follower has models; all else is unknown."""

from __future__ import annotations

import ast
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from simpletorch import _outside as outside
from simpletorch.follow import guards
from simpletorch.follow.libraries.harmless import is_harmless, is_without_tensors
from simpletorch.follow.mistakes import events
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources import lazily
from simpletorch.follow.sources.installed import has_member, has_module
from simpletorch.follow.values import MISSING, RELOADED, Namespace, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["names", "plain"]


def plain(run: Interpreter, node: ast.Import, scope: Scope) -> None:
    """``import a.b``, ``import a.b as c``."""
    for alias in node.names:
        first = alias.name.partition(".")[0]
        bound = alias.asname or first
        shown = alias.name if alias.asname else first
        if run.program.find(alias.name) and lazily.defer(run, scope, bound, partial(module, run, shown)):
            continue
        found = module(run, alias.name)
        run.heap.write(scope.holder(bound), bound, found if alias.asname is not None else module(run, first))


def names(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> None:
    """``from a import b``."""
    name = _absolute(run, node, scope)
    if name is not None and run.program.find(name) and _is_deferred(run, node, name, scope):
        return
    source = run.unknown("a relative import outside of a package") if name is None else module(run, name)
    for alias in node.names:
        if alias.name == "*":
            _everything(run, source, scope)
            continue
        target = alias.asname or alias.name
        member = run.program.packages.inside(run, name, alias.name) if name and node.level else MISSING
        if member is MISSING:
            member = _member(run, source, alias.name)
        if run.optional_imports and isinstance(member, Unknown) and name and not has_member(name, alias.name):
            raise Raised("ImportError", None, ("Exception", "BaseException"))
        run.heap.write(scope.holder(target), target, member)


def _is_deferred(run: Interpreter, node: ast.ImportFrom, name: str, scope: Scope) -> bool:
    """Whether ``from a import b, c`` is followed only when b or c is asked for."""

    def member(wanted: str) -> Value:
        inner = f"{name}.{wanted}"
        if run.program.find(inner) and not lazily.may_define(run, name, wanted):
            return module(run, inner)
        return _member(run, module(run, name), wanted)

    return all(
        lazily.defer_all(run, scope, name)
        if alias.name == "*"
        else lazily.defer(run, scope, alias.asname or alias.name, partial(member, alias.name))
        for alias in node.names
    )


def module(run: Interpreter, name: str) -> Value:
    """The module of a dotted name."""
    if run.path in run.program.packages.files and run.program.packages.has(name):
        return run.program.library_module(run, name)  # the program's own folders needn't be asked
    if "." in name and not run.program.is_library:
        module(run, name.rpartition(".")[0])  # Python imports a package before what is in it
    own = run.program.load(run, name)
    if own is not None:
        if "." in name and not run.program.is_library:  # importing a submodule binds it in its package
            package = run.program.load(run, name.rpartition(".")[0])
            if package is not None:
                run.heap.write(package.cells, name.rpartition(".")[2], own)
        return own
    found = run.program.library_module(run, name)
    if found is MISSING:
        first = name.partition(".")[0]
        known = isinstance(run.program.library(run, first), Namespace) or first in sys.stdlib_module_names
        if run.optional_imports and not known and not has_module(name):
            raise Raised("ModuleNotFoundError", None, ("ImportError", "Exception", "BaseException"))
        strange = run.unknown(f"{name} isn't followed")
        strange.harmless, strange.without_tensors = is_harmless(name), is_without_tensors(name)
        return strange
    return found


def _absolute(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> str | None:
    if not node.level:
        return node.module or ""
    package = run.program.package_of(scope.globals.cells.get("__name__", ""), scope.globals.cells.get("__file__", ""))
    parts = package.split(".") if package else []
    if node.level - 1 > len(parts):
        return None
    base = parts[: len(parts) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])]) or None


def _member(run: Interpreter, source: Value, name: str) -> Value:
    if isinstance(source, Unknown):
        return run.derived(f".{name}", source, None, None)
    if not isinstance(source, Namespace):
        return run.attribute(source, name)
    if name in source.cells:
        return run.resolve(source.cells[name])
    if RELOADED in source.cells:
        return run.derived(f".{name}", source, None, None)
    found = run.program.member(run, source, name)
    if found is MISSING:
        is_package = source.path is None or not outside.is_dir(source.path)
        is_sure = source.name in run.program.modules and source.name not in run.program.by_project
        if is_sure and is_package:  # an installed module comes before a mere folder
            raise Raised("ImportError", None, ("Exception", "BaseException"))
        found = run.unknown(f"{source.name}.{name}")
    if type(found) is Unknown:
        if run.takers:
            guards.may_raise(run, _NOT_THERE)
        elif (refused := events.NO_NAME(run, source.name, name, "ImportError")) is not None:
            return refused
    return found


_NOT_THERE: Final = (Raised("ImportError", None, ("Exception", "BaseException")),)


def _everything(run: Interpreter, source: Value, scope: Scope) -> None:
    if not isinstance(source, Namespace):
        scope.globals.stars.append(Namespace(""))  # a name that isn't defined otherwise may be one of it
        return
    if source.path is None:
        scope.globals.stars.append(source)
        run.program.starred.append(scope.globals.cells)
        return
    listed = run.resolve(source.cells.get("__all__"))
    chosen = None if listed is None else run.items(listed)
    for name, value in list(source.cells.items()):
        if name in chosen if chosen is not None else not name.startswith("_"):
            run.heap.write(scope.cells, name, value)
