"""``simpletorch.interop``: arrays, which share their memory and so their shape and dtype; modules with signatures."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow.calls import escape
from simpletorch.follow.libraries import arrow, by_name, jax, library_class, native
from simpletorch.follow.libraries.pytorch.kernels import promised
from simpletorch.follow.libraries.pytorch.torch import shared
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.sources.syntax import parse
from simpletorch.follow.values import Class, Dict, Function, Instance, Namespace, Tensor, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@native("torch.interop.from_numpy", "torch.interop.from_dlpack")
def _from_array(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0] if args else kwargs.get("array"), shared)


@native("torch.interop.to_numpy")
def _to_numpy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    tensor = args[0] if args else kwargs.get("tensor")
    options = {} if run.resolve(kwargs.get("copy", False)) is False else {"force": True}
    return run.call(run.attribute(tensor, "numpy"), (), options)


@native("torch.interop.to_jax")
def _to_jax(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0] if args else kwargs.get("tensor"), lambda v: jax.of_tensor(run, v))


@native("torch.interop.from_arrow")
def _from_arrow(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0] if args else kwargs.get("column"), _over)


def _over(column: Value) -> Tensor:
    """The tensor over a column of Arrow."""
    kind = arrow.held(column)
    return shared(None if kind is None else Tensor(kind))


@native("torch.interop.from_arrow_table")
def _from_arrow_table(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("table columns", args, kwargs)
    columns = arrow.columns_of(run, given.get("table"))
    chosen = run.resolve(given.get("columns"))
    given_names = columns if chosen is None else run.items(chosen)
    names = None if given_names is None else [run.resolve(name) for name in given_names]
    if columns is None or names is None or not all(name in columns for name in names):
        return Dict(rest=shared(None))
    return Dict({name: _over(run.resolve(columns[name])) for name in names})


@native("torch.interop.to_arrow")
def _to_arrow(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0] if args else kwargs.get("tensor"), lambda v: arrow.over(run, v))


# -- modules with signatures -------------------------------------------------------------------------------------------

_TYPED: Final = "torch.interop.Typed"


@native("torch.interop.typed")
def _typed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A module of the program stays what it is; of one that isn't known, the signature says what a call gives."""
    given = dict(zip(("model", "signature"), args, strict=False)) | kwargs
    model, signature = run.resolve(given.get("model")), _stated(run, given.get("signature"))
    if not isinstance(model, Unknown) or signature is None:
        return given.get("model")
    made = Instance(run.program.library_class(_TYPED), native=signature)
    escape(run, (made,))  # its parameters, buffers and methods are another library's
    return made


@native("torch.interop.hub.load")
def _hub(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A model from elsewhere, of which only the signature is known."""
    model = run.unknown("a model of another repository")
    return _typed(run, (model, kwargs["signature"]), {}) if "signature" in kwargs else model


# -- models of transformers --------------------------------------------------------------------------------------------

_TASKS: Final = "simpletorch.interop._tasks"
_SIGNATURES: Final[Mapping[str, str]] = {
    "hidden-states": "HiddenStates",
    "causal-lm": "CausalLM",
    "masked-lm": "MaskedLM",
    "seq2seq-lm": "Seq2SeqLM",
    "sequence-classification": "SequenceClassifier",
    "token-classification": "TokenClassifier",
    "question-answering": "QuestionAnswering",
}


@native("torch.interop.from_transformers")
def _from_transformers(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A model of transformers, of which only the signature of its task is known."""
    given = dict(zip(("source", "task"), args, strict=False)) | kwargs
    model, task = run.unknown("a model of transformers"), run.resolve(given.get("task", "hidden-states"))
    signature = _tasks(run).get(_SIGNATURES.get(task, "")) if isinstance(task, str) else None
    return model if signature is None else _typed(run, (model, signature), {})


def _tasks(run: Interpreter) -> Mapping[str, Value]:
    """What the file with the tasks' signatures defines: it is followed as one of the program's own."""
    known = run.program.modules.get(_TASKS)
    if known is None or "HiddenStates" not in known.cells:  # what a branch has loaded goes with it
        path = Path(__file__).parents[3] / "interop" / "_tasks.py"
        tree = parse(path)
        assert tree is not None, "a file of ours"
        made = Namespace(_TASKS, {"__name__": _TASKS, "__file__": str(path)}, str(path))
        run.program.modules[_TASKS] = made
        with run.elsewhere(str(path)):
            run.execute(tree.body, Scope(None, str(path), made.cells))
    return run.program.modules[_TASKS].cells


def _stated(run: Interpreter, signature: Value) -> Function | None:
    """The function whose annotations count: of a protocol its ``__call__``, of a module class its ``forward``."""
    signature = run.resolve(signature)
    if isinstance(signature, Class):
        for name, shown in (("__call__", signature.name), ("forward", f"{signature.name}.forward")):
            found = signature.find(name)
            call = run.resolve(found[0]) if found is not None else None
            if isinstance(call, Function):
                return replace(call, name=shown)
        return None
    return signature if isinstance(signature, Function) and not isinstance(signature.node, ast.Lambda) else None


def _call(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A call of the signature; one with more than it has is another."""
    model, *given = args
    assert isinstance(model, Instance)
    function: Function = model.native
    spec = function.node.args
    # of a protocol the first parameter is the object
    own = [model] if spec.args and spec.args[0].arg == "self" else []
    names = {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    if len(given) + len(own) > len(spec.posonlyargs) + len(spec.args) or kwargs.keys() - names:
        return run.unknown("what another library's module gives")
    return promised(run, function, (*own, *given), kwargs, strict=True)


library_class(_TYPED, ("torch.nn.Module",), {"__call__": _call}, unknown="a module of another library")
