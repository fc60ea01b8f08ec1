"""The operators that `simpletorch.kernels` ships: a call gives what the annotations in their own source say.

Their bodies aren't followed. An operator holds its arguments to its annotations, as at run time, and so do the
functions that pass theirs on to one. Of other functions, what doesn't fit the annotations is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch import _outside as outside
from simpletorch.follow.classes import define
from simpletorch.follow.libraries import MADE, by_name, native
from simpletorch.follow.libraries.pytorch.kernels import promised
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.values import Function, Namespace, Native, Tensor, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_NAME, DType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_HELD: Final = ("cross_entropy", "linear_cross_entropy", "rotary")
_HOME: Final = "torch.kernels"  # what simpletorch.kernels is: simpletorch's names count as torch's
_FOLDER: Final = Path(__file__).parents[3] / "kernels/shipped"


def _names() -> Iterator[tuple[str, Path]]:
    """What the package gives, and the file that defines it."""
    for node in ast.parse(outside.content(_FOLDER / "__init__.py")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for name in node.names:
                yield name.name, _FOLDER / f"{node.module.rpartition('.')[2]}.py"


@cache
def _definition(name: str, path: Path) -> ast.FunctionDef:
    tree = ast.parse(outside.content(path))
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)


def _maker(name: str, path: Path) -> Callable[[Interpreter], Value]:
    def make(run: Interpreter) -> Value:
        written = _definition(name, path)
        plain = ast.FunctionDef(**{**dict(ast.iter_fields(written)), "decorator_list": []})
        function = define(run, ast.copy_location(plain, written), Scope(None, str(path), {"torch": Namespace("torch")}))
        assert isinstance(function, Function)
        is_operator = bool(written.decorator_list) or name in _HELD

        def call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
            return _given(run, function, args, kwargs, is_operator)

        return Native(f"{_HOME}.{name}", call)

    return make


def _given(run: Interpreter, function: Function, args: Args, kwargs: Kwargs, is_operator: bool) -> Value:
    if function.name == "attention":
        _attended(run, args, kwargs)
    found = promised(run, function, args, kwargs, strict=is_operator)
    rule = _DTYPES.get(function.name)
    if rule is None or not isinstance(found, Tensor):
        return found
    scores = run.resolve(args[0] if args else next(iter(kwargs.values()), None))
    given = scores.type.dtype if isinstance(scores, Tensor) else None
    return Tensor(TensorType(found.type.shape, rule(run, given)))


def _attended(run: Interpreter, args: Args, kwargs: Kwargs) -> None:
    """Queries, keys and values as torch's own attention holds them, which this one calls."""
    given = by_name("query key value", args, kwargs)
    if len(given) == 3:
        attention = run.program.library(run, "torch.nn.functional.scaled_dot_product_attention")
        run.call(attention, tuple(given.values()), {"enable_gqa": True})


def _widened(run: Interpreter, given: DType | None) -> DType | None:
    """A loss is computed in float32 whatever the scores are, float64 in float64."""
    if given is None or not given.is_concrete:
        return None
    return given if given == BY_NAME["Float64"] else BY_NAME["Float32"]


def _unless_autocast(run: Interpreter, given: DType | None) -> DType | None:
    return None if run.modes.get("autocast") else given


_DTYPES: Final[Mapping[str, Callable[[Interpreter, DType | None], DType | None]]] = {
    "cross_entropy": _widened,
    "linear_cross_entropy": _widened,
    "attention": _unless_autocast,  # it is torch's own, no operator
}


@native(f"{_HOME}.attention_backend")
def _backend(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.unknown("the backend that torch takes", "str")


for _name, _path in _names():
    if _name != "attention_backend":
        MADE[f"{_HOME}.{_name}"] = _maker(_name, _path)
