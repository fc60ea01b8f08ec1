"""``torch.func`` and ``torch.autograd.functional``: functions made of functions; what they give follows from one call.

``vmap(f)(x)`` calls ``f`` on ``x`` without the mapped dim; a gradient is like what it is taken by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import layers
from simpletorch.follow.libraries import ALIASES, by_name, model, native
from simpletorch.follow.values import MISSING, Dict, Instance, List, Native, Tensor, Value
from simpletorch.rules import Report, TensorType
from simpletorch.shapes import UNKNOWN, Dim, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_FUNCTIONAL: Final = "torch.autograd.functional"
ALIASES.update({"functorch": "torch.func", "torch.vmap": "torch.func.vmap", "torch._functorch": "torch.func"})


def _each_tensor(run: Interpreter, value: Value, compute: Callable[[Tensor], Value]) -> Value:
    """The value with every tensor in it computed anew."""
    value = run.resolve(value)
    if isinstance(value, Tensor):
        return compute(value)
    if isinstance(value, Dict):
        return Dict({k: _each_tensor(run, v, compute) for k, v in value.cells.items()}, value.rest)
    if isinstance(value, List):
        if value.items is None:
            return List(None, _each_tensor(run, value.item, compute))
        return List(tuple(_each_tensor(run, v, compute) for v in value.items))
    if type(value) is tuple:
        return tuple(_each_tensor(run, v, compute) for v in value)
    return value


def _gradient(run: Interpreter, value: Value) -> Value:
    return _each_tensor(run, value, lambda t: Tensor(replace(t.type, is_parameter=False)))


def _transformed(run: Interpreter, function: Value, args: Sequence[Value], kwargs: Kwargs | None = None) -> Value:
    """A call in which gradients are the transformation's: whether tensors require one isn't known."""
    run.unsure_modes += 1
    try:
        return run.call(function, args, kwargs or {})
    finally:
        run.unsure_modes -= 1


# -- vmap ------------------------------------------------------------------------------------------------------------


class _Mapped:
    """One call of a mapped function: the size of the dim that it is mapped over, once an argument has said it."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.size: Dim = UNKNOWN
        self.first: Tensor | None = None

    def strip(self, value: Value, dims: Value) -> Value:
        """An argument without its mapped dim; ``dims`` says which, for all of it or part by part."""
        run = self.run
        value, dims = run.resolve(value), run.resolve(dims)
        if dims is None:
            return value
        if isinstance(dims, tuple | List) and isinstance(value, tuple | List):
            rows, parts = run.items(value), run.items(dims)
            if rows is None or parts is None or len(rows) != len(parts):
                return run.unknown("a part of a mapped argument")
            found = tuple(self.strip(v, d) for v, d in zip(rows, parts, strict=True))
            return List(found) if isinstance(value, List) else found
        if isinstance(dims, Dict) and isinstance(value, Dict):
            return Dict({k: self.strip(v, dims.cells.get(k, 0)) for k, v in value.cells.items()}, value.rest)
        if isinstance(dims, int):
            return _each_tensor(run, value, lambda t: self._strip_tensor(t, dims))
        return _each_tensor(run, value, lambda t: Tensor(TensorType(dtype=t.type.dtype)))

    def _strip_tensor(self, value: Tensor, dim: int) -> Tensor:
        kind = replace(value.type, is_parameter=False)
        if not kind.shape.is_exact:
            return Tensor(TensorType(dtype=kind.dtype))
        items = list(kind.shape.dims)
        if not -len(items) <= dim < len(items):
            self.run.report(Report("vmap", "shape", f"there is no dim {dim} to map over", {"input": value}))
            return Tensor(TensorType(dtype=kind.dtype))
        self._agree(value, items.pop(dim))
        return Tensor(replace(kind, shape=Shape(tuple(items))))

    def _agree(self, value: Tensor, size: Dim) -> None:
        if self.first is None or self.size is UNKNOWN:
            self.first, self.size = value, size
        elif size is not UNKNOWN and self.run.same_size(self.size, size) is False:
            reason = f"the mapped dims have {self.size} and {size} items, but must have as many"
            self.run.report(Report("vmap", "shape", reason, {"first": self.first, "other": value}))

    def put_back(self, value: Value, dims: Value) -> Value:
        """A result with the mapped dim."""
        run = self.run
        value, dims = run.resolve(value), run.resolve(dims)
        if isinstance(dims, tuple) and type(value) is tuple and len(dims) == len(value):
            return tuple(self.put_back(v, d) for v, d in zip(value, dims, strict=True))
        return _each_tensor(run, value, lambda t: self._put_back_tensor(t, dims))

    def _put_back_tensor(self, value: Tensor, dim: Value) -> Value:
        shape = value.type.shape
        if not isinstance(dim, int) or not shape.is_exact:
            exact = dim == 0 and not shape.is_exact
            return Tensor(
                replace(value.type, shape=Shape((self.size, *shape.items)), is_parameter=False)
                if exact
                else TensorType(dtype=value.type.dtype)
            )
        items: list[Item] = list(shape.items)
        items.insert(dim if dim >= 0 else len(items) + 1 + dim, self.size)
        return Tensor(replace(value.type, shape=Shape(tuple(items)), is_parameter=False))


@native("torch.func.vmap")
def _vmap(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("func in_dims out_dims randomness", args, kwargs)
    function, in_dims, out_dims = given.get("func"), given.get("in_dims", 0), given.get("out_dims", 0)

    def mapped(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        call = _Mapped(run)
        dims = run.resolve(in_dims)
        stripped = call.strip(args, dims)
        if not isinstance(stripped, tuple):
            return run.unknown("what a mapped function gives")
        named = {k: call.strip(v, 0) for k, v in kwargs.items()}
        return call.put_back(_transformed(run, function, stripped, named), out_dims)

    return Native("torch.func.vmap", mapped)


# -- derivatives -----------------------------------------------------------------------------------------------------


def _chosen(run: Interpreter, args: Args, which: Value) -> Value:
    """The arguments that a derivative is taken by."""
    which = run.resolve(which)
    if isinstance(which, int) and -len(args) <= which < len(args):
        return args[which]
    if isinstance(which, tuple) and all(isinstance(i, int) and -len(args) <= i < len(args) for i in which):
        return tuple(args[i] for i in which)
    return run.unknown("by what a derivative is taken")


def _result(run: Interpreter, value: Value, has_aux: Value) -> tuple[Value, Value]:
    """What is derived, and what a function gives beside it (MISSING if nothing)."""
    flag = run.resolve(has_aux)
    if flag is False:
        return value, MISSING
    value = run.resolve(value)
    if flag is True and isinstance(value, tuple) and len(value) == 2:
        return value[0], value[1]
    return run.unknown("what is derived"), run.unknown("what a function gives beside its result")


def _scalar(run: Interpreter, name: str, value: Value) -> None:
    """Gradients are taken of scalars."""
    found = run.resolve(value)
    if isinstance(found, Tensor) and found.type.shape.min_rank:
        reason = "the function must give a scalar, a tensor without dims"
        run.report(Report(name, "shape", reason, {"output": found}, "`.sum()` or `.mean()` makes one of it"))


def _make_gradient(name: str, *, with_value: bool) -> Callable[..., Value]:
    def make(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = by_name("func argnums has_aux", args, kwargs)

        def gradient(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
            value, beside = _result(
                run, _transformed(run, given.get("func"), args, kwargs), given.get("has_aux", False)
            )
            _scalar(run, name, value)
            found = _gradient(run, _chosen(run, args, given.get("argnums", 0)))
            if with_value:
                return found, (value if beside is MISSING else (value, beside))
            return found if beside is MISSING else (found, beside)

        return Native(f"torch.func.{name}", gradient)

    return make


native("torch.func.grad")(_make_gradient("grad", with_value=False))
native("torch.func.grad_and_value")(_make_gradient("grad_and_value", with_value=True))


def _jacobian(run: Interpreter, output: Value, by: Value, times: int = 1) -> Value:
    """For each tensor of the output, for each that it is derived by: the dims of the one, then of the other."""

    def one(out: Tensor) -> Value:
        return _each_tensor(run, by, lambda t: Tensor(_outer(out.type, t.type, times)))

    return _each_tensor(run, output, one)


def _outer(out: TensorType, by: TensorType, times: int) -> TensorType:
    if not out.shape.is_exact or not by.shape.is_exact:
        return TensorType(dtype=out.dtype)
    dtype = out.dtype if out.dtype == by.dtype else None
    return TensorType(Shape((*out.shape.items, *by.shape.items * times)), dtype, out.device)


def _make_jacobian(name: str, times: int = 1) -> Callable[..., Value]:
    def make(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = by_name("func argnums has_aux", args, kwargs)

        def jacobian(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
            value, beside = _result(
                run, _transformed(run, given.get("func"), args, kwargs), given.get("has_aux", False)
            )
            by = _chosen(run, args, given.get("argnums", 0))
            if times > 1 and not isinstance(run.resolve(by), Tensor):
                return run.unknown("a Hessian by several arguments")
            found = _jacobian(run, value, by, times)
            return found if beside is MISSING else (found, beside)

        return Native(f"torch.func.{name}", jacobian)

    return make


for _name in ("jacrev", "jacfwd"):
    native(f"torch.func.{_name}")(_make_jacobian(_name))
native("torch.func.hessian")(_make_jacobian("hessian", 2))


@native("torch.func.vjp")
def _vjp(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *primals = args
    value, beside = _result(run, _transformed(run, function, primals), kwargs.get("has_aux", False))
    back = Native("vjp", lambda run, args, kwargs: _gradient(run, tuple(primals)))
    return (value, back) if beside is MISSING else (value, back, beside)


@model("torch.func.jvp")
def _jvp(
    run: Interpreter, func: Value, primals: Value, tangents: Value, *more: Value, has_aux: Value = False, **rest: Value
) -> Value:
    rows = run.items(primals)
    if rows is None:
        return run.unknown("a function's value and derivative")
    value, beside = _result(run, _transformed(run, func, rows), has_aux)
    return (value, _gradient(run, value)) if beside is MISSING else (value, _gradient(run, value), beside)


@native("torch.func.functionalize", "torch.func.linearize")
def _same_function(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0] if len(args) == 1 else run.unknown("a function's value and derivative")


# -- torch.autograd.functional ---------------------------------------------------------------------------------------


def _called(run: Interpreter, given: Kwargs) -> tuple[Value, Value]:
    """What the function gives, and what it is derived by."""
    inputs = run.resolve(given.get("inputs"))
    return _transformed(run, given.get("func"), inputs if type(inputs) is tuple else (inputs,)), inputs


@native(f"{_FUNCTIONAL}.jacobian")
def _functional_jacobian(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, inputs = _called(run, by_name("func inputs", args, kwargs))
    return _jacobian(run, value, inputs)


@native(f"{_FUNCTIONAL}.hessian")
def _functional_hessian(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _, inputs = _called(run, by_name("func inputs", args, kwargs))
    return _jacobian(run, inputs, inputs)


@native(f"{_FUNCTIONAL}.vjp", f"{_FUNCTIONAL}.hvp", f"{_FUNCTIONAL}.vhp")
def _functional_product(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, inputs = _called(run, by_name("func inputs v", args, kwargs))
    return value, _gradient(run, inputs)


@native(f"{_FUNCTIONAL}.jvp")
def _functional_jvp(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, _ = _called(run, by_name("func inputs v", args, kwargs))
    return value, _gradient(run, value)


# -- modules as functions --------------------------------------------------------------------------------------------


@native("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def _functional_call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The module with other tensors: with tensors of the same types, what it gives with its own."""
    given = by_name("module parameter_and_buffer_dicts args kwargs", args, kwargs)
    module, inputs = run.resolve(given.get("module")), run.resolve(given.get("args"))
    named = run.resolve(given.get("kwargs"))
    if not layers.is_module(module) or not _same_types(run, module, given.get("parameter_and_buffer_dicts")):
        return run.unknown("what a module gives with other parameters")
    rows = () if inputs is None else inputs if type(inputs) is tuple else (inputs,)
    return _transformed(run, module, rows, dict(named.cells) if isinstance(named, Dict) else {})


def _same_types(run: Interpreter, module: Instance, source: Value) -> bool:
    source = run.resolve(source)
    if isinstance(source, tuple):
        return all(_same_types(run, module, part) for part in source)
    if not isinstance(source, Dict) or source.rest is not MISSING:
        return False
    own = {k: t.type for k, t in layers.named_tensors(run, module, parameters_only=False)}
    given = {k: run.resolve(v) for k, v in source.cells.items()}
    return all(
        isinstance(v, Tensor) and k in own and (v.type.shape, v.type.dtype) == (own[k].shape, own[k].dtype)
        for k, v in given.items()
    )


@model("torch.func.stack_module_state")
def _stack_state(run: Interpreter, models: Value) -> Value:
    models = run.items(models)
    first = run.resolve(models[0]) if models else None
    if not models or not isinstance(first, Instance) or not layers.is_module(first):
        return Dict({}, run.unknown("stacked parameters")), Dict({}, run.unknown("stacked buffers"))
    rows = dict(layers.named_tensors(run, first, parameters_only=False))
    parameters = {k for k, _ in layers.named_tensors(run, first, parameters_only=True)}
    stacked = {
        k: Tensor(replace(t.type, shape=Shape((len(models), *t.type.shape.items)), is_parameter=False))
        for k, t in rows.items()
    }
    return (
        Dict({k: t for k, t in stacked.items() if k in parameters}),
        Dict({k: t for k, t in stacked.items() if k not in parameters}),
    )


@native("torch.utils.checkpoint.checkpoint_sequential")
def _checkpoint_sequential(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("functions segments input", args, kwargs)
    functions, value = run.resolve(given.get("functions")), given.get("input")
    if isinstance(functions, Instance) and functions.cls.is_a("torch.nn.Sequential"):
        return _transformed(run, functions, (value,))
    rows = run.items(functions)
    for function in rows or ():
        value = _transformed(run, function, (value,))
    return run.unknown("what functions give one after the other") if rows is None else value
