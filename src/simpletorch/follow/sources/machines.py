"""A program's guards: it ends where the machine, the command line or the disk hasn't what it needs.

What is followed is the program where all of that is there: ``assert torch.cuda.is_available()`` has passed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches
from simpletorch.follow.sources import moves
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import Function, Instance

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["depends", "is_guard", "is_refusal", "needs", "passed", "ways"]

_ASKED: Final = frozenset((
    *("is_available", "device_count", "is_bf16_supported", "get_device_capability", "is_nccl_available", "is_built"),
    *("environ", "getenv", "argv", "exists", "isfile", "isdir", "is_file", "is_dir", "cpu_count", "which"),
    *("version_info", "platform", "get_device_properties", "has_cuda", "has_mps"),
))  # fmt: skip
"""Names that ask for something outside of the program."""
_PLACES: Final = ast.Name | ast.Attribute
_OPTIONS: Final = frozenset(("argparse.Namespace", "absl.flags.FlagValues"))
_ENDS: Final = frozenset(("exit", "_exit", "quit", "abort", "error"))
_SAYS: Final = frozenset(("print", "warning", "error", "info", "critical", "warn", "write"))


def is_guard(run: Interpreter, test: ast.expr, scope: Scope) -> bool:
    """Whether a condition is about something outside of the program, or asks a function that does, or an option."""
    if not moves.named_in(test).isdisjoint(_ASKED | moves.flags(run).on | _answers(run)):
        return True
    called = [n.func for n in walk(test) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    owners = [n.value for n in walk(test) if isinstance(n, ast.Attribute) and isinstance(n.value, _PLACES)]
    with run.silently():
        functions, objects = ([run.resolve(run.evaluate(n, scope)) for n in nodes] for nodes in (called, owners))
    if any(isinstance(o, Instance) and o.cls.qualified in _OPTIONS for o in objects):
        return True
    return any(isinstance(f, Function) and not _named_inside(f.node).isdisjoint(_ASKED) for f in functions)


def depends(run: Interpreter, test: ast.expr, scope: Scope) -> bool:
    """The same, also where a name in the condition was given such a value: ``gpus = args.gpus.split(",")``."""
    if is_guard(run, test, scope):
        return True
    names = {n.id for n in walk(test) if isinstance(n, ast.Name)}
    if run.tree is None:
        return False
    given = [n.value for n in walk(run.tree) if isinstance(n, ast.Assign) and names & set(map(_name, n.targets))]
    return any(is_guard(run, value, scope) for value in given)


def passed(run: Interpreter, test: ast.expr, scope: Scope) -> None:
    """A guard that fails here counts as passed: where it does, the machine answers otherwise."""
    run.is_elsewhere = True
    for node in walk(test):
        if isinstance(node, ast.Name) and node.id in _answers(run):
            held = branches.type_name(run.resolve(scope.find(node.id)))
            run.heap.write(scope.place(node.id), node.id, run.unknown("what another machine answers", held))


def ways(run: Interpreter, node: ast.If, scope: Scope) -> list[list[ast.stmt]]:
    """The ways that a guard leaves at whose end the program refuses: ``if a: … elif b: … else: raise``.

    Here neither ``a`` nor ``b`` holds; where the guard passes one does, and which isn't known.
    """
    found = [node.body]
    outer = _outer_ifs(run.body) if run.body is not None else {}
    with run.silently():
        while (around := outer.get(node)) is not None:
            if branches.truth(run, run.evaluate(around.test, scope)) is False:
                found.insert(0, around.body)
            node = around
    return found


@of_node
def _outer_ifs(code: ast.AST) -> dict[ast.If, ast.If]:
    """The ``if`` or ``elif`` before each ``elif``."""
    found: dict[ast.If, ast.If] = {}
    for node in walk(code):
        match node:
            case ast.If(orelse=[ast.If() as inner]):
                found[inner] = node
    return found


def _answers(run: Interpreter) -> frozenset[str]:
    """The names that what the machine answers is assigned to in the file that is followed."""
    return frozenset() if run.tree is None else _assigned_answers(run.tree)


@of_node
def _assigned_answers(tree: ast.Module) -> frozenset[str]:
    found = (n.targets for n in walk(tree) if isinstance(n, ast.Assign) and _asks(n.value))
    return frozenset(_name(t) for targets in found for t in targets if isinstance(t, _PLACES))


def _asks(node: ast.expr) -> bool:
    """``torch.cuda.device_count()``, ``os.environ.get("KEY")``, ``int(sys.argv[1])``."""
    match node:
        case ast.Call(func=ast.Name(id="int" | "len" | "bool" | "str" | "float"), args=[value]):
            return _asks(value)
        case ast.Call(func=value) | ast.Subscript(value=value):
            return _asks(value)
        case ast.Attribute(value=value, attr=name):
            return name in _ASKED or _asks(value)
    return False


@of_node
def _named_inside(node: ast.AST) -> frozenset[str]:
    return frozenset(n.attr for n in walk(node) if isinstance(n, ast.Attribute))


def needs(body: Sequence[ast.stmt]) -> bool:
    """Whether a handler of an import that fails ends the program, or has its tests skipped."""
    match body:
        case [*_, ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="pytest"), attr="skip")))]:
            return True
    return is_refusal(body)


def is_refusal(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end the program, or say something and leave the function."""
    if not body:
        return False
    match body[-1]:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=called)):
            return _name(called) in _ENDS
        case ast.Return(value=None):
            said = (s.value.func for s in body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
            return any(_name(called) in _SAYS for called in said)
    return False


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
