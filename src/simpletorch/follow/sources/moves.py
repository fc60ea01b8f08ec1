"""What a program's text says of where things go: flags for CUDA, and what conditions on them move.

``use_cuda = torch.cuda.is_available()`` makes a flag; ``if use_cuda: x = x.cuda()`` and ``x.cuda() if use_cuda else x``
move. Other conditions about devices whose branches move anything make a program unclear. The value of a name decides,
never the name itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from simpletorch.follow.sources.availability import asks_where, names_that_ask
from simpletorch.follow.sources.syntax import assigns_to, of_node, walk

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "Flags",
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


class Flags(NamedTuple):
    """Names for ``torch.cuda.is_available()``, and names of what is false unless the command line says otherwise."""

    on: frozenset[str]
    off: frozenset[str]


def flags(run: Interpreter) -> Flags:
    """The flags of the file that is followed."""
    off = _off(run.program.trees())
    return Flags(frozenset(), off) if run.tree is None else _flags(run.tree, off)


@of_node
def _flags(tree: ast.Module, off: frozenset[str]) -> Flags:
    found = Flags(frozenset(), off)
    for node in walk(tree):
        if isinstance(node, ast.Assign) and is_availability(node.value, found):
            names = {t.id if isinstance(t, ast.Name) else t.attr for t in node.targets
                     if isinstance(t, ast.Name | ast.Attribute)}  # fmt: skip
            found = Flags(found.on | names, off)
    return found


def _off(trees: Iterable[ast.Module]) -> frozenset[str]:
    return frozenset().union(*map(_false_names, trees))


@of_node
def _false_names(tree: ast.Module) -> frozenset[str]:
    """Names of options that are off by default, and names that are given ``False`` alone."""
    false: set[str] = set()
    others: set[str] = set()
    for node in walk(tree):
        match node:
            case ast.Call(args=[*options], keywords=keywords) if dest := _destination(options, keywords):
                (false if any(map(_leaves_off, keywords)) else others).add(dest)
            case ast.Assign(targets=targets, value=value):
                (false if _is_false(value) else others).update(
                    t.id if isinstance(t, ast.Name) else t.attr
                    for t in targets
                    if isinstance(t, ast.Name | ast.Attribute)
                )
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                (false if _is_false(value) else others).add(name)
    return frozenset(false - others)


def _destination(options: list[ast.expr], keywords: list[ast.keyword]) -> str | None:
    """The attribute that holds an option: ``no_cuda`` of ``add_argument("--no-cuda", …)``."""
    told = [k.value.value for k in keywords if k.arg == "dest" and isinstance(k.value, ast.Constant)]
    words = [o.value for o in options if isinstance(o, ast.Constant) and isinstance(o.value, str)]
    long = [w for w in words if w.startswith("--")]
    return str(told[0]) if told else long[0][2:].replace("-", "_") if long else None


def _leaves_off(keyword: ast.keyword) -> bool:
    """``action="store_true"``, ``default=False``, ``is_flag=True``."""
    match keyword:
        case ast.keyword(arg="action", value=ast.Constant(value="store_true")):
            return True
        case ast.keyword(arg="is_flag", value=ast.Constant(value=True)):
            return True
    return keyword.arg == "default" and _is_false(keyword.value)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def asks_for_cuda(run: Interpreter, node: ast.expr) -> bool:
    """Whether an expression is true where there is CUDA: ``use_cuda``, ``device.type == "cuda"``, or a name for it."""
    match node:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value="cuda")]):
            return True
        case ast.Name(id=name):
            tree = run.tree
            given = [n.value for n in walk(tree) if assigns_to(n, name)] if tree is not None else []
            return name in flags(run).on or (len(given) == 1 and asks_for_cuda(run, given[0]))
    return is_availability(node, flags(run))


def is_availability(node: ast.expr, names: Flags) -> bool:
    """Whether an expression is what it is asked for: ``torch.cuda.is_available()``, or a name for it.

    Also ``not args.no_cuda and torch.cuda.is_available()``, where that option is off unless it is given.
    """
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            rest = [v for v in values if not is_availability(v, names)]
            return len(rest) < len(values) and all(_is_unless(v, names) for v in rest)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=of) | ast.Attribute(attr=of), attr="is_available")):
            return of in ("cuda", "accelerator")
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names.on
    return False


def _is_unless(node: ast.expr, names: Flags) -> bool:
    """``not args.no_cuda``, ``not args.cpu``."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in names.off
    return False


@of_node
def moves(node: ast.If, names: Flags) -> tuple[ast.stmt, ...] | None:
    """What the body of such a statement moves, each by ``cuda()``; None where it does anything else."""
    if not is_availability(node.test, names):
        return None
    found: list[ast.stmt] = []
    for statement in node.body:
        by_name = isinstance(statement, ast.Assign) and names_cuda(statement.value) and _is_plain(statement.targets)
        if by_name or moved_by(statement):
            found.append(statement if by_name else _by_cuda(statement))
        elif not isinstance(statement, ast.Pass) and not _moves_nothing(statement):
            return None
    return tuple(found)


def _moves_nothing(statement: ast.stmt) -> bool:
    """``print("on a GPU")``, ``logger.info("…")``, ``torch.cuda.empty_cache()``, ``torch.backends.cudnn.… = True``."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(attr=name, value=ast.Name() | ast.Attribute()) as called, args=[said, *_])
        ):
            return (name in _SAYS and isinstance(said, ast.JoinedStr | ast.Constant)) or _is_of_cuda(called)
        case ast.Expr(value=ast.Call(func=called)):
            return _is_of_cuda(called)
        case ast.Assign(targets=[target]):
            return _is_of_cuda(target)
    return False


_SAYS: Final = ("debug", "info", "warning", "warn")


def _is_of_cuda(node: ast.expr) -> bool:
    """``torch.cuda.manual_seed``, ``torch.backends.cudnn.benchmark``."""
    match node:
        case ast.Attribute(value=ast.Name(id="torch"), attr="cuda" | "backends"):
            return True
        case ast.Attribute(value=inner):
            return _is_of_cuda(inner)
    return False


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


def is_move(node: ast.IfExp, names: Flags) -> bool:
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
    trees = [*run.program.trees()]
    asking, off = names_that_ask(trees), _off(trees)
    return all(_is_clear_tree(tree, asking, off) for tree in trees)


@of_node
def _is_clear_tree(tree: ast.Module, asking: frozenset[str], off: frozenset[str]) -> bool:
    flags = _flags(tree, off)
    for node in walk(tree):
        if not isinstance(node, ast.If | ast.IfExp | ast.While) or not asks_where(node.test, asking):
            continue
        if isinstance(node, ast.IfExp) and is_move(node, flags):
            continue
        is_decided = isinstance(node, ast.If) and moves(node, flags) is not None
        if any(
            map(_moves_anything, _inside(node.orelse) if is_decided else (*_inside(node.body), *_inside(node.orelse)))
        ):
            return False
    return True


def _inside(part: ast.expr | list[ast.stmt]) -> Iterator[ast.AST]:
    for one in part if isinstance(part, list) else (part,):
        yield from walk(one)


def _moves_anything(node: ast.AST) -> bool:
    """``x.cuda()``, ``x.to(…)``, ``nn.DataParallel``, ``torch.cuda.FloatTensor``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="cuda" | "to" | "cpu")):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.endswith(("DataParallel", "Tensor"))
    return False


@of_node
def named_in(node: ast.expr) -> frozenset[str]:
    """The variables and attributes that an expression names."""
    found = (n.id if isinstance(n, ast.Name) else n.attr for n in walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return frozenset(found)
