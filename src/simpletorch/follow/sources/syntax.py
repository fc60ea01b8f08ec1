"""The syntax of files, kept for as long as they are the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeGuard, TypeVar, cast

from simpletorch import _outside as outside
from simpletorch.follow.sources import texts

__all__ = [
    "assigns_to",
    "code",
    "contains",
    "expression",
    "forget",
    "has_effects",
    "is_python",
    "loop_around",
    "number",
    "of_node",
    "own_nodes",
    "parse",
    "parts",
    "spoken",
    "statements_of",
    "unparsed",
    "walk",
]

L = TypeVar("L", bound=ast.stmt)
N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")
P = ParamSpec("P")

_MOST_BYTES: Final = 2_000_000
_MOST_KEPT: Final = 6_000_000  # bytes of source; their syntax takes forty times as much


class _Kept(NamedTuple):
    """The syntax of a file, with the state of the file as it was read, and a digest of its content."""

    state: outside.State | str  # the text itself if an editor has it
    is_settled: bool
    digest: str
    size: int
    tree: ast.Module


_trees: Final[dict[str, _Kept]] = {}  # by path, those that were used last at the end


def parse(path: Path) -> ast.Module | None:
    """The syntax of a file, None if it can't be read as Python. Kept for as long as the file is the same."""
    try:
        text, known = texts.opened(path), _trees.pop(str(path), None)
        found = _read(path, known) if text is None else _read_opened(path, text, known)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if found is None:
        return None
    _trees[str(path)] = found
    kept = sum(one.size for one in _trees.values())
    while kept > _MOST_KEPT:
        kept -= _trees.pop(next(iter(_trees))).size
    return found.tree


def _read(path: Path, known: _Kept | None) -> _Kept | None:
    """The syntax of a file; what is known of it if that hasn't changed, None if it is too large."""
    try:
        state = outside.state(path)
    except OSError:
        outside.note("content", path, None)
        raise
    if known is not None and known.is_settled and known.state == state:
        outside.note("content", path, known.digest)
        return known
    is_settled = outside.is_settled(state)
    if outside.size_in(state) > _MOST_BYTES and outside.size(path) > _MOST_BYTES:
        return None
    content = outside.content(path)
    digest = outside.digest(content)
    same = known is not None and known.digest == digest
    tree = known.tree if known is not None and same else ast.parse(content, str(path))
    return _Kept(state, is_settled, digest, len(content), tree)


def _read_opened(path: Path, text: str, known: _Kept | None) -> _Kept | None:
    if known is not None and known.state == text:
        return known
    if len(text) > _MOST_BYTES:
        return None
    return _Kept(text, True, "", len(text), ast.parse(text.removeprefix("\ufeff"), str(path)))


def forget(path: str) -> None:
    """Nobody has the syntax of a file any more: its nodes lead to each other, and needn't be looked for."""
    known = _trees.pop(path, None)
    for node in () if known is None else ast.walk(known.tree):
        node.__dict__.pop(_PLACE, None)


def number(node: ast.AST) -> None:
    """Give all in a node their places before any part of it is asked for: parts then share one order.

    Of a package's modules a program runs few functions, and numbering all of them takes longer than to parse them.
    """
    if _PLACE not in node.__dict__:
        _number(node)


@lru_cache(maxsize=256)
def expression(text: str, path: str, line: int) -> ast.expr | None:
    """The expression that a text is, at the line that evaluates it; None if it is none."""
    try:
        found = ast.parse(text.strip(), path, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(found):
        if isinstance(node, ast.expr | ast.keyword | ast.arg):
            node.lineno = node.end_lineno = line
    return found


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """A node and all that it is made of, in the order of the text. Each tree is gone through once."""
    order, start, end = _place(node)
    return order[start:end]


def contains(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node is a part of another one, or it itself."""
    order, start, end = _place(outer)
    of, at, _ = inner.__dict__.get(_PLACE, (None, 0, 0))
    return start <= at < end if of is order else any(n is inner for n in order[start:end])


def loop_around(body: ast.AST, inner: ast.AST, *kinds: type[L]) -> L | None:
    """The innermost loop of these kinds that a node is a part of."""
    return next((n for n in reversed(walk(body)) if isinstance(n, kinds) and contains(n, inner)), None)


def own_nodes(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterable[ast.AST]:
    """The nodes of a function's body, without those of the functions and classes in it."""
    todo: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while todo:
        at = todo.pop()
        yield at
        if not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            todo += parts(at)


def parts(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node consists of, in the order of the text, without the contexts of names.

    Each file that is followed asks for all of its nodes several times; ``ast.iter_child_nodes`` takes three times as
    long.
    """
    kind, own = type(node), node.__dict__
    names = _inside.get(kind)
    if names is None:
        names = _inside[kind] = tuple(name for name in kind._fields if name not in _PLAIN)
    found: list[ast.AST] = []
    for name in names:
        inside = own.get(name)
        if type(inside) is list:
            found += [n for n in inside if isinstance(n, ast.AST)] if name in _MIXED else inside
        elif type(inside) not in _NO_NODES and isinstance(inside, ast.AST):
            found.append(inside)
    return found


_inside: Final[dict[type[ast.AST], tuple[str, ...]]] = {ast.Constant: ()}
"""By kind of syntax, the fields that hold nodes."""
_PLAIN: Final = frozenset({"ctx", "id", "attr", "arg", "module", "level", "type_comment"})
_MIXED: Final = frozenset({"keys", "kw_defaults", "names", "kwd_attrs"})
"""Lists that may hold None or texts as well."""


def of_node(function: Callable[Concatenate[N, P], T]) -> Callable[Concatenate[N, P], T]:
    """Remember in a node what a function says of it: as long as its tree is there, which lives from key to key."""
    name = f"_simpletorch_{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(node: N, *args: P.args, **kwargs: P.kwargs) -> T:
        said: dict[Any, T] = node.__dict__.setdefault(name, {})
        asked = (args, *kwargs.items())
        if asked not in said:
            said[asked] = function(node, *args, **kwargs)
        return said[asked]

    return cast("Callable[Concatenate[N, P], T]", known)


def is_python(text: str) -> bool:
    """Whether a text can be run: False where Python surely refuses it."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    except (ValueError, RecursionError, MemoryError):
        pass
    return True


@of_node
def statements_of(place: ast.AST, text: str) -> ast.Module | None:
    """The syntax of a text that is run at a node; all of it stands there."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            ast.copy_location(node, place)
    number(tree)
    return tree


@of_node
def code(tree: ast.Module, text: str) -> str:
    """A file's text without its comments and without what its strings say; the name of a device stays."""
    lines = [line.encode() for line in texts.LINE_END.split(text.removeprefix("\ufeff"))]
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() | bytes() as said) if not _is_device(said):
                _blank(lines, node)
            case ast.JoinedStr():
                _blank(lines, node)
    return "\n".join(line.partition(b"#")[0].decode(errors="replace") for line in lines)


@of_node
def spoken(node: ast.AST) -> str:
    """``ast.unparse`` of a node without what its strings say."""
    return _STRING.sub("''", ast.unparse(node))


_STRING: Final = re.compile(
    r"""\"{3}.*?(?<!\\)\"{3}|'{3}.*?(?<!\\)'{3}|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""", re.DOTALL
)


def _is_device(said: str | bytes) -> bool:
    return isinstance(said, str) and said.partition(":")[0] in ("cuda", "accelerator")


def _blank(lines: list[bytes], node: ast.expr) -> None:
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    for i in range(first, min(last + 1, len(lines))):
        start = node.col_offset if i == first else 0
        end = (node.end_col_offset or 0) if i == last else len(lines[i])
        lines[i] = lines[i][:start] + b" " * (end - start) + lines[i][end:]


@of_node
def unparsed(node: ast.AST) -> str:
    """``ast.unparse`` of a node that is asked for again and again."""
    return ast.unparse(node)


_PLACE: Final = "_simpletorch_place"  # in a node: the nodes of its tree in order, and where its own begin and end


def _place(node: ast.AST) -> tuple[list[ast.AST], int, int]:
    if _PLACE not in node.__dict__:
        _number(node)
    found: tuple[list[ast.AST], int, int] = node.__dict__.get(_PLACE, ([node], 0, 1))
    return found


def _number(root: ast.AST) -> None:
    """Give the nodes of a tree their places; operators and contexts, which trees share, have none of their own."""
    order: list[ast.AST] = []
    todo: list[ast.AST | int] = [root]
    while todo:  # for each node of a file whenever that is edited: the kinds are asked for by how many there are
        node = todo.pop()
        if isinstance(node, int):
            order[node].__dict__.setdefault(_PLACE, (order, node, len(order)))
            continue
        start = len(order)
        order.append(node)
        if type(node) in _SHARED:
            continue
        if inside := parts(node):
            todo.append(start)
            todo += inside[::-1]
        else:
            node.__dict__.setdefault(_PLACE, (order, start, start + 1))


_NO_NODES: Final = frozenset({str, int, type(None)})
_SHARED: Final = frozenset(
    kind
    for base in (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    for kind in base.__subclasses__()
)


def assigns_to(node: ast.AST, name: str) -> TypeGuard[ast.Assign]:
    """Whether a statement assigns to a name alone."""
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)


@of_node
def has_effects(node: ast.AST) -> bool:
    """Whether a body seems to change something that is not its own: then it makes a difference when it runs."""
    for inner in walk(node):
        if isinstance(inner, ast.Global | ast.Nonlocal | ast.Raise):
            return True
        if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
            return True
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call) and _may_change(inner.value):
            return True
    return False


def _may_change(call: ast.Call) -> bool:
    return not (isinstance(call.func, ast.Name) and call.func.id == "print")
