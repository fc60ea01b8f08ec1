"""Which names of a program depend on whether the machine has CUDA, by what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from simpletorch.follow.sources.syntax import of_node, walk

__all__ = ["asks_where", "names_that_ask"]

_ASKED: Final = frozenset(("is_available", "device_count", "is_built", "current_accelerator"))
_WHERE: Final = frozenset(("device", "is_cuda", "get_device"))
_OF_TEXTS: Final = frozenset(("startswith", "endswith", "lower", "split"))
_PASSES: Final = frozenset(("bool", "int", "str", "device"))


def asks_where(test: ast.expr, names: frozenset[str]) -> bool:
    """Whether a condition depends on the machine, or on where a tensor is."""
    return any(
        (isinstance(n, ast.Attribute) and n.attr in _WHERE) or (isinstance(n, ast.expr) and _depends(n, names))
        for n in walk(test)
    )


def names_that_ask(trees: Sequence[ast.Module]) -> frozenset[str]:
    """Variables, attributes, parameters, keys and functions whose value depends on whether there is CUDA."""
    names: frozenset[str] = frozenset()
    parameters: dict[str, list[list[str]]] = {}
    for tree in trees:
        for name, row in _parameters(tree):
            parameters.setdefault(name, []).append(row)
    while True:
        found = names.union(*(_given(tree, names, parameters) for tree in trees))
        if found == names:
            return names
        names = found


@of_node
def _parameters(tree: ast.Module) -> tuple[tuple[str, list[str]], ...]:
    """The parameters of functions by name, without ``self``; those of a class are its constructor's."""
    found = []
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((node.name, _of_signature(node)))
        elif isinstance(node, ast.ClassDef):
            makers = (f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__")
            found += [(node.name, _of_signature(maker)) for maker in makers]
    return tuple(found)


def _of_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _given(tree: ast.Module, names: frozenset[str], parameters: dict[str, list[list[str]]]) -> Iterator[str]:
    """The names that are given here what depends on CUDA."""
    for node in walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value) if _depends(value, names):
                for target in targets:
                    yield from _targets(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value) if _depends(value, names):
                yield from _targets(target)
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if _depends(value, names):
                yield name
            case ast.Dict(keys=keys, values=values):
                rows = zip(keys, values, strict=True)
                yield from (str(k.value) for k, v in rows if isinstance(k, ast.Constant) and _depends(v, names))
            case ast.Call():
                yield from _passed(node, names, parameters)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if any(
                    isinstance(n, ast.Return) and n.value is not None and _depends(n.value, names) for n in walk(node)
                ):
                    yield name
                yield from (a for a, default in _defaults(node.args) if _depends(default, names))


def _passed(call: ast.Call, names: frozenset[str], parameters: dict[str, list[list[str]]]) -> Iterator[str]:
    """Parameters, and an option of the command line whose default depends on CUDA."""
    keywords = [k for k in call.keywords if _depends(k.value, names)]
    yield from (k.arg for k in keywords if k.arg is not None)
    if keywords:
        words = (a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str))
        yield from (w.lstrip("-").replace("-", "_") for w in words if w.startswith("-"))
    called = (
        call.func.id
        if isinstance(call.func, ast.Name)
        else call.func.attr
        if isinstance(call.func, ast.Attribute)
        else ""
    )
    at = [i for i, a in enumerate(call.args) if _depends(a, names)]
    yield from (row[i] for row in parameters.get(called, ()) for i in at if i < len(row))


def _defaults(spec: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    named = (*spec.posonlyargs, *spec.args)
    yield from ((a.arg, d) for a, d in zip(reversed(named), reversed(spec.defaults), strict=False))
    yield from ((a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None)


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            yield name
        case ast.Tuple(elts=inner) | ast.List(elts=inner):
            for one in inner:
                yield from _targets(one)


def _depends(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether a value is another where there is CUDA; a tensor or module that was moved isn't meant."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=ast.Name(id="torch")):
            return False  # the module torch.cuda
        case ast.Attribute(value=value, attr=name):
            return name in names or (name in ("type", "index") and _depends(value, names))
        case ast.Subscript(value=value, slice=key):
            return (isinstance(key, ast.Constant) and key.value in names) or _depends(value, names)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args):
            passed = (name in _PASSES and any(_depends(a, names) for a in args)) or (
                name in _OF_TEXTS and _depends(value, names)
            )
            return name in _ASKED or passed or (name in names and name not in ("cuda", "to", "cpu"))
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in names or name in _ASKED or (name in _PASSES and any(_depends(a, names) for a in args))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
            return any(_depends(v, names) for v in values)
        case ast.UnaryOp(operand=value):
            return _depends(value, names)
        case ast.Compare(left=left, comparators=others):
            return any(_depends(v, names) for v in (left, *others))
        case ast.IfExp(test=test, body=body, orelse=other):
            return any(_depends(v, names) for v in (test, body, other))
    return False
