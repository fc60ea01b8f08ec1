"""``simpletorch.kernels``: an operator is called by its annotations, not by its body, as at run time.

Sizes are bound as the check at run time binds them, and what doesn't fit is said in the same words. Where the
annotation of the result leaves something open, the body says it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.annotations import kind_of, tensor_of
from simpletorch.follow.libraries import library_class, native
from simpletorch.follow.libraries.pytorch import records
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Function, Instance, Native, Tensor, Value
from simpletorch.rules import Report, TensorType
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.shapes import (
    ANY_REST,
    UNKNOWN,
    Bindings,
    Clash,
    Expr,
    Item,
    Rest,
    Shape,
    Var,
    is_compound,
    substitute,
    unify,
    var,
    variables,
)
from simpletorch.shapes.sentences import (
    dim_differs,
    dim_impossible,
    dtype_differs,
    place,
    rank_differs,
    rest_differs,
    size_source,
    source_of,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_HOME: Final = "torch.kernels"  # what simpletorch.kernels is: simpletorch's names count as torch's
_OPERATOR: Final = f"{_HOME}.Operator"


@native(f"{_HOME}.operator")
def _operator(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``@operator``, and ``@operator("mylib::name", mutates=("x",))``."""
    first = run.resolve(args[0]) if args else None
    if isinstance(first, Function):
        return _made(run, (first,), {})
    return Native("a decorator", _made)


def _made(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function = run.resolve(args[0])
    if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef):
        return run.unknown("an operator of something that isn't known")
    made = Instance(run.program.library_class(_OPERATOR))
    for name in ("reference", "__wrapped__"):
        run.heap.write(made.cells, name, function)
    return made


def _itself(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``@relu_add.cpu`` gives the function below it."""
    return args[1]


def _decorator(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("a decorator", lambda run, args, kwargs: args[0])


# -- calling -----------------------------------------------------------------------------------------------------------


def _call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``relu_add(x, y)``: the arguments are held to their annotations, and the result is what its annotation says."""
    operator, *given = args
    function = run.resolve(operator.cells["reference"])
    if not isinstance(function, Function):  # unknown code has had the operator
        return run.unknown("what an operator gives that unknown code has had")
    call = _Call(run, function, _bound(function, tuple(given), kwargs))
    with run.elsewhere(function.scope.path):  # where the annotations stand
        report = call.bind()
        promised = call.results() if report is None else None
    if report is not None:
        return run.report(report)
    if promised is not None and all(map(_is_exact, promised)):
        return _values(call.returns, promised)
    found = run.resolve(run.call(function, tuple(given), kwargs))
    if promised is not None and len(promised) == 1 and not isinstance(found, Tensor):
        return Tensor(promised[0])
    return found


def promised(
    run: Interpreter,
    function: Function,
    args: Args,
    kwargs: Kwargs,
    *,
    strict: bool,
    otherwise: Callable[[ast.expr | None, Callable[[ast.expr], Tensor | None]], Value] | None = None,
) -> Value:
    """What a call of an annotated function gives by its annotations alone; its body isn't followed.

    Without ``strict`` a call whose arguments don't fit gives something unknown, and isn't reported.
    ``otherwise`` says what a result is that is neither a tensor nor several; it gets the result's annotation, and what
    gives the tensor that an annotation promises in this call.
    """
    call = _Call(run, function, _bound(function, args, kwargs))
    with run.elsewhere(function.scope.path):
        report = call.bind()
        found = call.results() if report is None else None
    if report is not None:
        return run.report(report) if strict else run.unknown(f"what {function.name} gives")
    if found is not None:
        return _values(call.returns, found)
    if otherwise is not None:
        return otherwise(call.returns, call.tensor)
    record = call.record() if report is None else None
    if record is not None:
        return record
    nothing = isinstance(call.returns, ast.Constant) and call.returns.value is None
    return None if nothing else run.unknown(f"what {function.name} gives")


def _bound(function: Function, args: Args, kwargs: Kwargs) -> dict[str, Value]:
    """The arguments by the names of the parameters.

    Raises:
        Raised: they don't fit.
    """
    spec = function.node.args
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    names = [*positional, *(a.arg for a in spec.kwonlyargs)]
    found = dict(zip(positional, args, strict=False))
    more, other = args[len(positional) :], {k: v for k, v in kwargs.items() if k not in names}
    if (more and spec.vararg is None) or (other and spec.kwarg is None) or kwargs.keys() & found.keys():
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    found |= {k: v for k, v in kwargs.items() if k in names}
    for name, default in zip(reversed(positional), reversed(function.defaults), strict=False):
        found.setdefault(name, default)
    for name, default in function.keyword_defaults.items():
        found.setdefault(name, default)
    if set(names) - found.keys():
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    return found


def _is_exact(promised: TensorType) -> bool:
    dtype, shape = promised.dtype, promised.shape
    return dtype is not None and shape.is_exact and UNKNOWN not in shape.dims


def _values(returns: ast.expr | None, promised: list[TensorType]) -> Value:
    made = tuple(map(Tensor, promised))
    return made if _is_tuple(returns) else made[0]


def _is_tuple(node: ast.expr | None) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id="tuple" | "Tuple")):
            return True
    return False


@dataclass
class _Call:
    """One call: what the names of sizes and the kinds of dtypes are in it."""

    run: Interpreter
    function: Function
    arguments: dict[str, Value]
    bindings: Bindings = field(default_factory=lambda: Bindings(frozenset()))
    sources: dict[Var, str] = field(default_factory=dict)
    dtypes: dict[str, DType | None] = field(default_factory=dict)
    operands: dict[str, str] = field(default_factory=dict)

    def bind(self) -> Report | None:
        """Hold the arguments to their annotations; what is wrong, if something is."""
        patterns = list(self._patterns())
        sizes = dict(self._sizes())
        items = [item for _, pattern, _ in patterns for item in pattern.shape.items]
        names = {v for item in (*items, *sizes.values()) if isinstance(item, Expr) for v in variables(item)}
        self.bindings.flexible = frozenset(names)
        for name, size in sizes.items():
            value = self.run.resolve(self.arguments[name])
            if isinstance(value, int | Expr) and not isinstance(value, bool):
                self.bindings.bind(size, value, 0)
                self._note({size_source(name): size})
        self.operands |= {name: str(value) for name, _, value in patterns}
        # plain names are bound before expressions over them are solved
        for name, pattern, value in sorted(patterns, key=lambda p: _difficulty(p[1])):
            reason = self._misfit(name, pattern, value)
            if reason is not None:
                kind, sentence, expected, got = reason
                self.operands[name] += f" (should be {pattern})"
                return Report(self.function.name, kind, sentence, self.operands, None, expected, got)  # type: ignore[arg-type]
        return None

    def results(self) -> list[TensorType] | None:
        """What the annotation of the result says; None where it speaks of anything but tensors."""
        returns = self._node.returns
        match returns:
            case ast.Subscript(slice=ast.Tuple(elts=nodes)) if _is_tuple(returns):
                pass
            case None:
                return None
            case _:
                nodes = [returns]
        found = [self._annotated(node) for node in nodes]
        if any(f is None for f in found):
            return None
        return [self._filled(f) for f in found if f is not None]

    def tensor(self, note: ast.expr) -> Tensor | None:
        """The tensor that an annotation promises in this call; None where it is of anything else."""
        with self.run.elsewhere(self.function.scope.path):
            promised = self._annotated(note)
            return None if promised is None else Tensor(self._filled(promised))

    def record(self) -> Value:
        """A result that is described by a protocol or record of the program; None where it is none."""
        with self.run.elsewhere(self.function.scope.path):
            return records.described(self.run, self.returns, self.function.scope, self.tensor)

    @property
    def returns(self) -> ast.expr | None:
        """The annotation of the result."""
        return self._node.returns

    @property
    def _node(self) -> ast.FunctionDef:
        assert isinstance(self.function.node, ast.FunctionDef)
        return self.function.node

    def _annotated(self, node: ast.expr | None) -> TensorType | None:
        found = tensor_of(self.run, node, self.function.scope, self.function.name)
        return None if found is None else replace(found, dtype=kind_of(node) or found.dtype)

    def _parameters(self) -> Iterator[ast.arg]:
        spec = self._node.args
        yield from (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)

    def _patterns(self) -> Iterator[tuple[str, TensorType, TensorType]]:
        """The parameters that are tensors: name, annotation, and what is given."""
        for parameter in self._parameters():
            pattern = self._annotated(_without_none(parameter.annotation))
            value = self.run.resolve(self.arguments[parameter.arg])
            if pattern is None:
                continue
            kind = pattern.dtype
            if kind is not None and not kind.is_concrete:
                self.dtypes.setdefault(kind.name, value.type.dtype if isinstance(value, Tensor) else None)
            if isinstance(value, Tensor):
                yield parameter.arg, pattern, replace(value.type, is_parameter=False)

    def _sizes(self) -> Iterator[tuple[str, Expr]]:
        """The parameters that are sizes by name: ``n: Dim[N]``."""
        for parameter in self._parameters():
            match parameter.annotation:
                case ast.Subscript(value=ast.Name(id="Dim") | ast.Attribute(attr="Dim"), slice=ast.Name(id=name)):
                    yield parameter.arg, var(name, self.function.name)

    def _misfit(self, name: str, pattern: TensorType, value: TensorType) -> tuple[str, str, object, object] | None:
        wanted, got = pattern.dtype, value.dtype
        any_float = self.run.modes.get("autocast") and wanted is not None and wanted.is_floating
        if wanted is not None and got is not None and _other_dtype(_FLOAT if any_float else wanted, got):
            return "dtype", dtype_differs(name, got, wanted), wanted, got
        with self.run.knowing():
            clash = unify(pattern.shape, value.shape, self.bindings)
        self._note({size_source(name, place(i, value.shape)): d for i, d in _ends(pattern.shape)})
        return (
            None if clash is None else ("shape", self._sentence(name, pattern, value, clash), clash.expected, clash.got)
        )

    def _note(self, places: dict[str, object]) -> None:
        """Remember where the sizes come from that are known by now."""
        for source, pattern in places.items():
            if isinstance(pattern, Expr) and not is_compound(pattern):
                (variable,) = variables(pattern)
                if variable in self.bindings.dims:
                    self.sources.setdefault(variable, source)

    def _sentence(self, name: str, pattern: TensorType, value: TensorType, clash: Clash) -> str:
        if clash.rest is not None:
            rest, before, now = clash.rest
            return rest_differs(str(rest.name), name, now.items, before.items)
        if clash.index is None:
            if value.shape.rank is None:
                return f"{name} is {value}, but should be {pattern}"
            return rank_differs(name, value.shape.rank, pattern.shape.min_rank, or_more=not pattern.shape.is_exact)
        what = f"dim {place(clash.index, value.shape)} of {name}"
        if not isinstance(clash.expected, str) and variables(clash.expected) & self.bindings.flexible:
            return dim_impossible(what, clash.got, str(clash.pattern))
        source = source_of(clash.pattern, self.sources, self.bindings.dims)
        return dim_differs(what, clash.got, str(clash.pattern), clash.expected, source)

    def _filled(self, promised: TensorType) -> TensorType:
        """A result with the sizes and dtypes of this call."""
        items: list[Item] = []
        for item in promised.shape.items:
            if isinstance(item, Rest):
                items += self.bindings.rests.get(item, (ANY_REST,))
                continue
            found = substitute(item, self.bindings.dims)
            own = isinstance(found, Expr) and bool(variables(found) & self.bindings.flexible)
            # a name that only the result has is one size, which depends on values
            fresh = isinstance(found, Expr) and not own and any(v.scope == self.function.name for v in variables(found))
            items.append(UNKNOWN if own or fresh else found)
        kind = promised.dtype
        dtype = self.dtypes.get(kind.name) if kind is not None and not kind.is_concrete else kind
        many = sum(isinstance(i, Rest) for i in items) > 1
        return TensorType(Shape((ANY_REST,)) if many else Shape(tuple(items)), dtype)


def _without_none(node: ast.expr | None) -> ast.expr | None:
    """``X`` of ``X | None``: what an argument is held to that isn't None."""
    match node:
        case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(value=None)):
            return inner
        case ast.BinOp(left=ast.Constant(value=None), op=ast.BitOr(), right=inner):
            return inner
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return inner
    return node


_FLOAT: Final = BY_NAME["Float"]  # under autocast any float passes for any other


def _other_dtype(wanted: DType, got: DType) -> bool:
    if wanted.is_concrete:
        return got.is_concrete and got != wanted
    return wanted.category is not None and got.category is not None and wanted.category != got.category


def _difficulty(pattern: TensorType) -> int:
    return sum(isinstance(i, Expr) and is_compound(i) for i in pattern.shape.items)


def _ends(pattern: Shape) -> Iterator[tuple[int, object]]:
    """The dims of a pattern; those behind a variadic part count from the end."""
    yield from enumerate(pattern.head)
    if pattern.rest is not None:
        yield from ((i - len(pattern.tail), d) for i, d in enumerate(pattern.tail))


library_class(
    _OPERATOR,
    methods={
        "__call__": _call,
        "cpu": _itself,
        "cuda": _itself,
        "backward": _itself,
        "vmap": _itself,
        "on": _decorator,
    },
)
