"""What a program's text says of where things go: flags for CUDA, and what conditions on them move.

``use_cuda = torch.cuda.is_available()`` makes a flag; ``if use_cuda: x = x.cuda()`` and ``x.cuda() if use_cuda else x``
move. Other conditions about devices whose branches move anything make a program unclear.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow.sources.syntax import assigns_to, of_node, parse, spoken, walk

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "asks_for_cuda",
    "flags",
    "is_availability",
    "is_clear",
    "is_move",
    "moved_by",
    "moves",
    "named_in",
    "names_cuda",
]


def flags(run: Interpreter) -> frozenset[str]:
    """The names that stand for ``torch.cuda.is_available()`` in the file that is followed."""
    tree = run.tree
    return frozenset() if tree is None else _flags(tree)


@of_node
def _flags(tree: ast.Module) -> frozenset[str]:
    """The names that stand for ``torch.cuda.is_available()``."""
    found: frozenset[str] = frozenset()
    for node in walk(tree):
        if isinstance(node, ast.Assign) and is_availability(node.value, found):
            found |= {t.id if isinstance(t, ast.Name) else t.attr for t in node.targets
                      if isinstance(t, ast.Name | ast.Attribute)}  # fmt: skip
    return found


def asks_for_cuda(run: Interpreter, node: ast.expr) -> bool:
    """Whether an expression is true where there is CUDA: ``use_cuda``, ``device.type == "cuda"``, or a name for it."""
    match node:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value="cuda")]):
            return True
        case ast.Name(id=name):
            tree = run.tree
            given = [n.value for n in walk(tree) if assigns_to(n, name)] if tree is not None else []
            return name in flags(run) or (len(given) == 1 and asks_for_cuda(run, given[0]))
    return is_availability(node, flags(run))


def is_availability(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is what it is asked for: ``torch.cuda.is_available()``, or a name for it.

    Also ``not args.no_cuda and torch.cuda.is_available()``: a flag of such a name is off unless it is given.
    """
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            rest = [v for v in values if not is_availability(v, names)]
            return len(rest) < len(values) and all(map(_is_unless, rest))
        case ast.Call(func=ast.Attribute(value=of, attr="is_available")):
            return ast.unparse(of).endswith(("cuda", "accelerator"))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
    return False


def _is_unless(node: ast.expr) -> bool:
    """``not args.no_cuda``, ``not args.cpu``."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name) | ast.Attribute(attr=name)):
            return _WITHOUT.match(name) is not None
    return False


_WITHOUT: Final = re.compile(r"(no|disable|without|force)_|(use_)?cpu$|no(cuda|gpu)$", re.IGNORECASE)


@of_node
def moves(node: ast.If, names: frozenset[str]) -> tuple[ast.stmt, ...] | None:
    """What the body of such a statement moves, each by ``cuda()``; None where it does anything else."""
    if not is_availability(node.test, names):
        return None
    found: list[ast.stmt] = []
    for statement in node.body:
        by_name = isinstance(statement, ast.Assign) and names_cuda(statement.value) and _is_plain(statement.targets)
        if by_name or moved_by(statement):
            found.append(statement if by_name else _by_cuda(statement))
        elif not isinstance(statement, ast.Pass) and not _OF_CUDA.match(ast.unparse(statement)):
            return None
    return tuple(found)


_OF_CUDA: Final = re.compile(r"print\(|(\w+\.)*(logger|logging|log)\.|torch\.(cuda|backends)\.\w+(\.\w+)*(\(| = )")


def _is_plain(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name | ast.Attribute)


def names_cuda(node: ast.expr) -> bool:
    """``"cuda"``, ``torch.device("cuda:0")``."""
    match node:
        case ast.Constant(value=str(name)):
            return name.partition(":")[0] == "cuda"
        case ast.Call(func=ast.Attribute(attr="device"), args=[inner, *_], keywords=[]):
            return names_cuda(inner)
    return False


def moved_by(statement: ast.stmt) -> list[ast.expr] | None:
    """What a statement moves to CUDA: ``x = x.cuda()``, ``x, y = x.cuda(), y.to("cuda")``, ``model.cuda()``."""
    match statement:
        case ast.Expr(value=value) if (moved := _moved(value)) is not None:
            return [moved]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pass
        case ast.Assign(targets=[target], value=value):
            targets, values = [target], [value]
        case _:
            return None
    found = [_moved(value) for value in values]
    same = [m for m, t in zip(found, targets, strict=False) if m is not None and ast.unparse(m) == ast.unparse(t)]
    return same if len(same) == len(targets) == len(values) else None


def _moved(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.cuda()``, ``x.to("cuda")``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as inner, attr="cuda")):
            return inner
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as inner, attr="to"), args=[place, *_]):
            return inner if names_cuda(place) else None
    return None


def is_move(node: ast.IfExp, names: frozenset[str]) -> bool:
    """``x.cuda() if torch.cuda.is_available() else x``."""
    moved = _moved(node.body)
    return moved is not None and ast.unparse(moved) == ast.unparse(node.orelse) and is_availability(node.test, names)


class _By(ast.NodeTransformer):
    """``x.to("cuda")`` as ``x.cuda()``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        moved = _moved(node)
        return node if moved is None else ast.Call(ast.Attribute(moved, "cuda", ast.Load()), [], [])


def _by_cuda(statement: ast.stmt) -> ast.stmt:
    """A copy of a statement that moves by ``cuda()`` alone, in the same place."""
    (made,) = ast.parse(ast.unparse(_By().visit(ast.parse(ast.unparse(statement))))).body
    for node in ast.walk(made):
        ast.copy_location(node, statement)
    return made


_MOVES: Final = re.compile(r"\.cuda\(|\.to\(|\.cpu\(|DataParallel|Tensor\b")
_ABOUT: Final = re.compile(r"cuda|device|gpu|is_available|accelerator", re.IGNORECASE)
_ELSEWHERE: Final = frozenset((
    *("set_default_device", "set_default_tensor_type", "DataParallel", "DistributedDataParallel", "accelerate"),
    *("Accelerator", "Fabric", "lightning", "pytorch_lightning", "lightning_fabric", "deepspeed", "init_empty_weights"),
    *("Buffer", "to_empty", "prepare", "torch_xla", "functional_call", "FullyShardedDataParallel"),
))  # fmt: skip
"""What is called or imported that puts things elsewhere."""


def is_clear(run: Interpreter) -> bool:
    """Whether the program says where things are by ``to`` and ``device=`` alone, and no condition moves anything."""
    names = run.program.mentions()
    if not names.used.isdisjoint(_ELSEWHERE) or "device_map" in names.keywords or "_apply" in names.defined:
        return False
    trees = (parse(Path(m.path)) for m in run.program.modules.values() if m.path is not None)
    return all(tree is None or _is_clear_tree(tree) for tree in trees)


@of_node
def _is_clear_tree(tree: ast.Module) -> bool:
    flags = _flags(tree)
    for node in walk(tree):
        if not isinstance(node, ast.If | ast.IfExp | ast.While):
            continue
        if isinstance(node, ast.IfExp) and is_move(node, flags):
            continue
        is_decided = isinstance(node, ast.If) and moves(node, flags) is not None
        parts = (node.orelse,) if is_decided else (node.body, node.orelse)
        body = [n for p in parts for n in (p if isinstance(p, list) else [p])]
        about = _ABOUT.search(ast.unparse(node.test)) or named_in(node.test) & flags
        if about and any(_MOVES.search(spoken(n)) for n in body):
            return False
    return True


@of_node
def named_in(node: ast.expr) -> frozenset[str]:
    """The variables and attributes that an expression names."""
    found = (n.id if isinstance(n, ast.Name) else n.attr for n in walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return frozenset(found)
