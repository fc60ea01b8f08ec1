"""Models and stubs of libraries against the libraries themselves: for their tests, which have the library."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Final

from simpletorch.follow.followed import follow
from simpletorch.rules import TensorType

__all__ = ["differences", "results_differ", "signatures_differ"]

_PLACES: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def differences(stub: str | Path, module: str) -> list[str]:
    """How a stub differs from the module that it describes, in sentences; the module is imported.

    A call that the stub refuses is said to fail, so the stub must take all that the library takes: parameters by the
    same names, in the same order, with the same defaults. ``...`` stands for any default. It may leave out names of
    the library.

    Args:
        stub: the ``.pyi`` file.
        module: the module's dotted name.
    """
    real = importlib.import_module(module)
    return list(_differences(ast.parse(Path(stub).read_text()).body, real, module))


def _differences(body: list[ast.stmt], real: Any, name: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                inner = f"{name}.{node.name}"
                found = inspect.getattr_static(real, node.name, None)
                if found is None:
                    yield f"{inner}: the library has no such name"
                elif isinstance(node, ast.ClassDef):
                    yield from _differences(node.body, found, inner)
                elif not any(isinstance(d, ast.Name) and d.id in ("overload", "property") for d in node.decorator_list):
                    yield from _of_function(node, found, inner)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, real: Any, name: str) -> Iterator[str]:
    try:
        theirs = inspect.signature(real.__func__ if isinstance(real, staticmethod | classmethod) else real)
    except (TypeError, ValueError):  # written in C, without a signature
        return
    yield from (f"{name}: {sentence}" for sentence in signatures_differ(_signature(node), theirs))


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Signature:
    spec = node.args
    made = [
        *(Parameter(a.arg, Parameter.POSITIONAL_ONLY) for a in spec.posonlyargs),
        *(Parameter(a.arg, Parameter.POSITIONAL_OR_KEYWORD) for a in spec.args),
    ]
    for i, default in enumerate(reversed(spec.defaults), 1):
        made[-i] = made[-i].replace(default=_default(default))
    if spec.vararg is not None:
        made.append(Parameter(spec.vararg.arg, Parameter.VAR_POSITIONAL))
    for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        value = Parameter.empty if default is None else _default(default)
        made.append(Parameter(arg.arg, Parameter.KEYWORD_ONLY, default=value))
    if spec.kwarg is not None:
        made.append(Parameter(spec.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(made)


def _default(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ...


def signatures_differ(model: Signature, library: Signature) -> list[str]:
    """The calls of a library's function that its model refuses, or takes for others, in sentences.

    A model that ends with ``**rest`` is a part of the signature: its names needn't be the library's.
    """
    theirs = [p for p in library.parameters.values() if not p.name.startswith("_") or p.kind is p.POSITIONAL_ONLY]
    ours = list(model.parameters.values())
    is_partial = any(p.kind is p.VAR_KEYWORD for p in ours)
    has_star = any(p.kind is p.VAR_POSITIONAL for p in ours)
    our_places, their_places = ([p for p in side if p.kind in _PLACES] for side in (ours, theirs))
    found: list[str] = []
    for one, other in zip(our_places, their_places, strict=False):
        by_place = Parameter.POSITIONAL_ONLY in (one.kind, other.kind)
        if one.name != other.name and not by_place and not is_partial:
            found.append(f"the library has {other.name} where {one.name} stands")
        if one.default is Parameter.empty and other.default is not Parameter.empty:
            found.append(f"{one.name} isn't required")
    if len(our_places) < len(their_places) and not (is_partial and has_star):
        found.append(f"the library also takes {their_places[len(our_places)].name}")
    if not is_partial:
        lacking = {p.name for p in theirs if p.kind is p.KEYWORD_ONLY} - {p.name for p in ours}
        found += [f"the library also takes {name}" for name in sorted(lacking)]
    defaults = {p.name: p.default for p in theirs}
    for one in ours:
        other = defaults.get(one.name, Parameter.empty)
        if _is_plain(one.default) and _is_plain(other) and one.default != other:
            found.append(f"the default of {one.name} is {other!r}, not {one.default!r}")
    return found


def _is_plain(default: object) -> bool:
    """Whether a default is a value for the follower as for Python."""
    return default is None or type(default) in (bool, int, float, str)


def results_differ(program: str, known: str = "") -> list[str]:
    """Where following is wrong about the tensors that a program's variables hold at its end, in sentences.

    The program is executed, and followed as if it lay in the current folder.

    Args:
        program: its text.
        known: names of variables whose shape and dtype must be known at the end, with spaces between them.
    """
    path = Path.cwd() / "program.py"
    followed = follow(path, opened={str(path): program})
    variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(program, str(path), "exec", dont_inherit=True), variables)
    found = [f"line {e.line}: {e.message}, but the program runs" for e in followed.errors]
    last = {name: values[-1] for _, names in sorted(followed.claims.items()) for name, values in names.items()}
    found += [f"{name} isn't known" for name in known.split() if not _is_known(last.get(name))]
    for name, said in last.items():
        held = variables.get(name)
        if isinstance(said, TensorType) and hasattr(held, "shape") and hasattr(held, "dtype"):
            found += [f"{name} is {_shown(held)}, not {said}"] if not _is_one_of(held, said) else []
    return found


def _is_known(said: object) -> bool:
    if not isinstance(said, TensorType) or said.dtype is None or not said.shape.is_exact:
        return False
    return all(isinstance(d, int) for d in said.shape.dims)


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _shown(tensor: Any) -> str:
    return f"{_dtype(tensor)}{list(tensor.shape)}"


def _is_one_of(tensor: Any, said: TensorType) -> bool:
    if said.dtype is not None and said.dtype.is_concrete and _dtype(tensor) != said.dtype.torch_name:
        return False
    if not said.shape.is_exact:
        return len(tensor.shape) >= said.shape.min_rank
    sizes = list(zip(said.shape.dims, tensor.shape, strict=False))
    return len(said.shape.dims) == len(tensor.shape) and all(d == n for d, n in sizes if isinstance(d, int))
