"""``torch.nn``: modules, containers, parameters, and a class for each layer that has a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import attributes, branches, calls, guards, iteration, layers, operators
from simpletorch.follow.libraries import ALIASES, NATIVES, Work, by_name, library_class, model
from simpletorch.follow.libraries.pytorch.hooks import HOOKS
from simpletorch.follow.libraries.pytorch.signatures import PARAMETERS
from simpletorch.follow.libraries.pytorch.state_dicts import load_state_dict, state_dict
from simpletorch.follow.marks import devices, gradients, layout
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members, spelling
from simpletorch.follow.values import (
    MISSING,
    REPEATED,
    SIZE,
    Choice,
    Class,
    Dict,
    Instance,
    Iterator,
    List,
    Native,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    is_known,
)
from simpletorch.rules import ANYTHING, MODULES, RULES, ModuleRule, Report, TensorType, infer
from simpletorch.rules.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from simpletorch.shapes import UNKNOWN

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["make_layer_class"]

ALIASES.update(
    {
        "torch.nn.parameter": "torch.nn",
        "torch.nn.modules": "torch.nn",
        "torch.nn.modules.module": "torch.nn",
        "torch.nn.modules.container": "torch.nn",
        "simpletorch.nn": "torch.nn",
        "simpletorch.nn.Sequential": "simpletorch.nn.Sequential",  # it takes a list too
    }
)


# -- layers ----------------------------------------------------------------------------------------------------------


def make_layer_class(name: str, find: Callable[[str], Class]) -> Class:
    """The class of a layer that has a rule, by its dotted name.

    Raises:
        KeyError: there is none.
    """
    if name not in MODULES:
        raise KeyError(name)
    module, _, short = name.rpartition(".")
    order = PARAMETERS.get(short, ())

    def init(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        me, *given = args
        if name.startswith("einops."):
            arguments: dict[str, Value] = {
                **dict(zip(("pattern", "reduction") if short == "Reduce" else ("pattern",), given, strict=False))
            }
            arguments["axes_lengths"] = tuple(kwargs.items())
        else:
            arguments = {**dict(zip(order, given, strict=False)), **kwargs}
        surplus = {f"argument {i}": v for i, v in enumerate(given, 1) if i > len(order)}
        if events.OPTIONS(run, name, {**arguments, **surplus}) is not None:
            run.heap.write(me.state, "open", True)
        else:
            layers.build(run, me, name, arguments)
        return None

    def forward(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return layers.forward(run, args[0], args[1:], kwargs)

    cells = {"__init__": Native(f"{name}.__init__", init), "forward": Native(f"{name}.forward", forward)}
    made = Class(short, (find(layers.MODULE),), {**cells, **_OF_CLASSES.get(name, {})}, module)
    made.native = name
    return made


def _subsequent_mask(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.ask("torch.nn.Transformer.generate_square_subsequent_mask", args, kwargs)


def _from_pretrained(parameters: str) -> Work:
    """A layer that has a matrix as its weights: ``(num_embeddings, embedding_dim)``."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = by_name(f"embeddings freeze {parameters}", args[1:], kwargs)
        weights, freeze = run.resolve(given.pop("embeddings", None)), run.resolve(given.pop("freeze", True))
        if not isinstance(weights, Tensor) or weights.type.shape.rank != 2 or weights.type.dtype is None:
            return run.unknown("a layer with weights that aren't known")
        sizes = [run.unknown("a size", "int") if d is UNKNOWN else d for d in weights.type.shape.dims]
        made = run.call(args[0], sizes, {**given, "dtype": weights.type.dtype})
        trains = not freeze if isinstance(freeze, bool) else run.unknown("whether a layer is frozen", "bool")
        return run.call(run.attribute(made, "requires_grad_"), (trains,))

    return work


_OF_CLASSES: Final = {
    "torch.nn.Transformer": {
        "generate_square_subsequent_mask": StaticMethod(Native("generate_square_subsequent_mask", _subsequent_mask))
    },
    "torch.nn.Embedding": {
        "from_pretrained": StaticMethod(
            Native("from_pretrained", _from_pretrained("padding_idx max_norm norm_type scale_grad_by_freq sparse")),
            of_class=True,
        )
    },
    "torch.nn.EmbeddingBag": {
        "from_pretrained": StaticMethod(
            Native(
                "from_pretrained",
                _from_pretrained("max_norm norm_type scale_grad_by_freq mode sparse include_last_offset padding_idx"),
            ),
            of_class=True,
        )
    },
}
"""What these classes have beside what every layer has."""


# -- modules ---------------------------------------------------------------------------------------------------------


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _call(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return layers.call(run, args[0], args[1:], kwargs)


def _directly(run: Interpreter, module: Instance, rows: list[Value]) -> Value:
    """What iterating over the modules directly inside gives."""
    if layers.lists_own(run, module):
        return Iterator(tuple(rows))
    one = branches.common_item(rows, "which module it is") if rows else run.unknown("a module")
    if rows and module.state.get("open") != REPEATED:  # or one that isn't known
        one = _or_unknown(run, rows, "module", run.unknown("a module"))
    elif rows and isinstance(one, tuple):
        one = (run.unknown("a name", "str"), one[1])
    return Iterator(None, one)


def _or_unknown(run: Interpreter, rows: list[Value], kind: str, one: Value) -> Value:
    """One of the rows, or of those that aren't known."""
    other = (run.unknown("a name", "str"), one) if isinstance(rows[0], tuple) else one
    return branches.common_item((*rows, other), f"which {kind} it is")


def _some(run: Interpreter, module: Instance, rows: list[Value], kind: str) -> Value:
    """What iterating over parts gives: all of them, where all are known."""
    if layers.lists_all(run, module):
        return Iterator(tuple(rows))
    for row in rows:  # what is done to the one that stands for all of them is done to each
        one = row[1] if isinstance(row, tuple) else row
        if isinstance(one, Tensor):
            gradients.escaped(run, one)
    one = _OF_KIND[kind]() if kind in _OF_KIND else run.unknown(f"a {kind}")
    return Iterator(None, _or_unknown(run, rows, kind, one) if rows else one)


_OF_KIND: Final = {
    "parameter": lambda: Tensor(TensorType(is_parameter=True)),
    "buffer": lambda: Tensor(TensorType()),
}


def _tensors(
    run: Interpreter, me: Instance, prefix: Value, recurse: Value, *, parameters: bool, again: bool = False
) -> list[Value]:
    """Names and tensors of a module; without ``recurse`` its own."""
    rows = layers.named_tensors(run, me, parameters_only=parameters, again=again)
    front = f"{prefix}." if isinstance(prefix, str) and prefix else ""
    return [
        (front + name if isinstance(prefix, str) else run.unknown("a name", "str"), one)
        for name, one in rows
        if (parameters or not one.type.is_parameter) and (recurse is not False or "." not in name)
    ]


def _parameters(run: Interpreter, self: Value, recurse: Value = True) -> Value:
    rows = [t for _, t in _tensors(run, self, "", recurse, parameters=True)]
    if (
        not rows
        and recurse is True
        and members.holds_nothing_else(run, [m for _, m in layers.named_modules(run, self)])
    ):
        return Iterator(())
    return _some(run, self, rows, "parameter") if rows else Iterator(None, Tensor(TensorType(is_parameter=True)))


def _named_parameters(
    run: Interpreter, self: Value, prefix: Value = "", recurse: Value = True, remove_duplicate: Value = True
) -> Value:
    rows = _tensors(run, self, prefix, recurse, parameters=True, again=remove_duplicate is False)
    return _some(run, self, rows, "parameter")


def _freeze(run: Interpreter, self: Value, requires_grad: Value = True) -> Value:
    """``module.requires_grad_(flag)``."""
    if not layers.lists_all(run, self):
        gradients.freeze(run, None, requires_grad)
    for _, one in layers.named_tensors(run, self, parameters_only=True):
        gradients.freeze(run, one, requires_grad)
    return self


def _buffers(run: Interpreter, self: Value, recurse: Value = True) -> Value:
    return _some(run, self, [t for _, t in _tensors(run, self, "", recurse, parameters=False)], "buffer")


def _named_buffers(
    run: Interpreter, self: Value, prefix: Value = "", recurse: Value = True, remove_duplicate: Value = True
) -> Value:
    rows = _tensors(run, self, prefix, recurse, parameters=False, again=remove_duplicate is False)
    return _some(run, self, rows, "buffer")


def _modules(run: Interpreter, self: Value, remove_duplicate: Value = True) -> Value:
    found = layers.named_modules(run, self, again=remove_duplicate is False)
    return _some(run, self, [m for _, m in found], "module")


def _named_modules(
    run: Interpreter, self: Value, memo: Value = None, prefix: Value = "", remove_duplicate: Value = True
) -> Value:
    front = f"{prefix}." if isinstance(prefix, str) and prefix else ""
    found = layers.named_modules(run, self, again=remove_duplicate is False)
    return _some(run, self, [((front + n).rstrip("."), m) for n, m in found], "module")


def _children(run: Interpreter, self: Value) -> Value:
    return _directly(run, self, [m for _, m in _own_modules(run, self)])


def _named_children(run: Interpreter, self: Value) -> Value:
    return _directly(run, self, list(_own_modules(run, self)))


def _own_modules(run: Interpreter, module: Instance) -> Iterable[tuple[str, Instance]]:
    """The modules directly inside, each once, under its first name."""
    first: dict[int, tuple[str, Instance]] = {}
    for name, one in layers.children(run, module):
        first.setdefault(id(one), (name, one))
    return first.values()


def _put_under(run: Interpreter, me: Instance, name: Value, value: Value) -> Value:
    if isinstance(name, str):
        run.set_attribute(me, name, value)
    else:
        run.heap.write(me.state, "open", True)
    return None


def _register_parameter(run: Interpreter, self: Value, name: Value, param: Value) -> Value:
    return _put_under(run, self, name, param)


def _add_module(run: Interpreter, self: Value, name: Value, module: Value) -> Value:
    return _put_under(run, self, name, module)


def _register_buffer(run: Interpreter, self: Value, name: Value, tensor: Value, persistent: Value = True) -> Value:
    run.heap.write(self.state, f"{devices.BUFFER} {name}", True)
    return _put_under(run, self, name, tensor)


def _apply(run: Interpreter, self: Value, fn: Value) -> Value:
    for _, inner in reversed(list(layers.named_modules(run, self))):
        run.call(fn, (inner,))
    return self


def _train(run: Interpreter, self: Value, mode: Value = True) -> Value:
    return _in_mode(
        run, self, mode if isinstance(mode, bool) else run.unknown("whether a module trains", "bool", "data")
    )


def _eval(run: Interpreter, self: Value) -> Value:
    return _in_mode(run, self, False)


def _in_mode(run: Interpreter, me: Instance, trains: Value) -> Value:
    """The module and those inside it train, or don't."""
    events.MODE(run, me, trains)
    for _, inner in layers.named_modules(run, me):
        run.heap.write(inner.cells, "training", trains)
    return me


_FLOATING: Final = {"half": FLOAT16, "bfloat16": BFLOAT16, "double": FLOAT64, "float": FLOAT32}


def _convert(run: Interpreter, module: Instance, dtype: DType | None) -> None:
    """The parameters and buffers of a module and of those inside it get another dtype, None where it isn't known."""
    for _, inner in layers.named_modules(run, module):
        if isinstance(inner.native, ModuleRule):
            run.converts_dtypes = run.converts_dtypes or dtype != FLOAT32
            if run.converts_dtypes or layers.CONVERTED in inner.state:
                run.heap.write(inner.state, layers.CONVERTED, ANYTHING if dtype is None else dtype)
        for value in list(inner.cells.values()):
            found = run.resolve(value)
            if isinstance(found, Tensor):
                kind = found.type
                if kind.dtype != dtype and (kind.dtype is None or kind.dtype.category in ("float", "complex")):
                    run.heap.write(found.cells, "type", replace(kind, dtype=dtype))


def _move(run: Interpreter, module: Instance, place: str | None) -> None:
    """A module, with those inside it, is on another device from here on."""
    if run.places:
        inside = [m for _, m in layers.named_modules(run, module)]
        devices.move(run, inside, place if layers.is_certain(run, module) else None)


def _moved(place: str | None) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        _move(run, args[0], place)
        return args[0]

    return work


def _to(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = [run.resolve(a) for a in (*args[1:], *kwargs.values())]
    dtype = next((a for a in given if isinstance(a, DType)), None)
    if dtype is not None or run.resolve(kwargs.get("dtype")) is not None:
        _convert(run, args[0], dtype)
    target = next((a for a in args[1:2] if not isinstance(run.resolve(a), DType)), kwargs.get("device"))
    if target is not None:
        devices.check_name(run, run.resolve(target), "to")
        _move(run, args[0], devices.named(run, run.resolve(target)))
    if "memory_format" in kwargs:
        run.heap.write(run.modes, layout.OTHER_FORMAT, True)
    return args[0]


def _cast(name: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        _convert(run, args[0], _FLOATING[name])
        return args[0]

    return work


def _get_submodule(run: Interpreter, self: Value, target: Value) -> Value:
    found: Value = self
    if not isinstance(target, str):
        return run.unknown("a module by a path that isn't known")
    for part in target.split(".") if target else []:
        owner, found = found, attributes.read(run, found, part)
        if found is MISSING:
            refused = events.LACKS(run, run.resolve(owner), part)
            return run.unknown(f"the part {target} of a module") if refused is None else refused
    return found


def _zero(run: Interpreter, self: Value, set_to_none: Value = True) -> Value:
    events.ZERO(run, self)
    return None


def _export(name: str) -> Callable[..., Value]:
    """``module.to_onnx(path)``, which `simpletorch.nn` gives to every module."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return run.call(run.program.library(run, f"simpletorch.export.{name}"), args, kwargs)

    return work


_PARTS: Final = {
    **{f"to_{name}": _export(name) for name in ("onnx", "torchscript")},
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "buffers": _buffers,
    "named_buffers": _named_buffers,
    "modules": _modules,
    "named_modules": _named_modules,
    "children": _children,
    "named_children": _named_children,
    "state_dict": state_dict,
    "register_buffer": _register_buffer,
    "register_parameter": _register_parameter,
    "add_module": _add_module,
    "register_module": _add_module,
    "apply": _apply,
    "to": _to,
    "train": _train,
    "eval": _eval,
    "get_submodule": _get_submodule,
    "get_parameter": _get_submodule,
    "get_buffer": _get_submodule,
    **{n: _cast(n) for n in _FLOATING},
    **{n: _moved(n if n in ("cuda", "cpu") else None) for n in ("cuda", "cpu", "mps", "xpu", "to_empty")},
    **dict.fromkeys(("share_memory", "type"), _itself),
    "requires_grad_": _freeze,
    "zero_grad": _zero,
    "load_state_dict": load_state_dict,
    **dict.fromkeys(("compile", "extra_repr", "set_extra_state"), _nothing),
    **HOOKS,
}
library_class(
    layers.MODULE,
    methods={"__init__": _nothing, "training": True, **_PARTS},
)


# -- containers ------------------------------------------------------------------------------------------------------


def _held(run: Interpreter, me: Instance) -> dict[str, Value]:
    """What a container holds, by name, in order: other attributes of a subclass are none of it."""
    out: dict[str, Value] = {}
    for name, value in me.cells.items():
        if isinstance(name, str) and value is not MISSING:
            found = run.resolve(value) if type(value) is Choice else value
            is_item = found is None and name.isdigit()  # ``nn.ModuleList([None, layer])``
            if is_item or (type(found) is Instance and found.cls.is_a(layers.MODULE)) or _can_be_held(me, found):
                out[name] = found
    return out


def _can_be_held(me: Instance, value: Value) -> bool:
    if isinstance(value, Tensor):
        return me.cls.is_a("torch.nn.ParameterList") or me.cls.is_a("torch.nn.ParameterDict")
    unknown = isinstance(value, Unknown) and value.type is None
    return unknown or layers.is_module(value) or isinstance(value, Choice) or members.may_be_module(value)


def _put(run: Interpreter, me: Instance, name: str, value: Value) -> None:
    run.heap.write(me.cells, name, value)


def _fill(run: Interpreter, me: Instance, values: tuple[Value, ...] | None, source: Value) -> None:
    """Items under the next numbers; where they aren't known the container is open."""
    if values is None and not me.state.get("open") and not _held(run, me):
        one = iteration.item(run, source)
        if layers.is_module(one):  # ``[Block(dim) for _ in range(depth)]``
            run.heap.write(me.state, "open", REPEATED)
            values = (one,)
    if values is None or me.state.get("open") is True:
        run.heap.write(me.state, "open", True)
        return
    if me.cls.is_a("torch.nn.Sequential") or me.cls.is_a("torch.nn.ModuleList"):
        values = tuple(v if (refused := events.HELD(run, me, v)) is None else refused for v in values)
    held = _held(run, me)
    if me.state.get("open") == REPEATED:
        values = tuple(v for v in values if not any(branches.alike(v, row) for row in held.values()))
    start = len(held)
    for i, value in enumerate(values, start):
        _put(run, me, str(i), value)
    run.heap.write(me.state, SIZE, start + len(values))  # a loop that goes on for unknown rounds must notice


def _init_sequential(run: Interpreter, self: Value, *layers: Value) -> Value:
    first = layers[0] if len(layers) == 1 else None
    if isinstance(first, Dict):
        for name, value in first.cells.items():
            _put(run, self, name, value)
        if first.rest is not MISSING:
            run.heap.write(self.state, "open", True)
    else:
        _fill(run, self, layers, None)
    return None


def _init_our_sequential(run: Interpreter, self: Value, *layers: Value) -> Value:
    if len(layers) == 1 and isinstance(layers[0], List):
        return _init_list(run, self, layers[0])
    return _init_sequential(run, self, *layers)


def _init_list(run: Interpreter, self: Value, modules: Value = None) -> Value:
    modules = run.resolve(modules)
    if isinstance(modules, Instance) and members.is_layer_of_torchs(modules) and modules.cls.find("__iter__") is None:
        message = f"{self.cls.name} takes a list of modules, but it is given the module {modules.cls.name}"
        guards.refuse(run, message, "a list of it: [...]")
        run.heap.write(self.state, "open", True)
        return None
    _fill(run, self, () if modules is None else run.items(modules), modules)
    return None


def _init_parameter_list(run: Interpreter, self: Value, values: Value = None) -> Value:
    return _as_parameters(run, self, _init_list(run, self, values))


def _init_dict(run: Interpreter, self: Value, modules: Value = None) -> Value:
    return None if modules is None else _update(run, self, modules)


def _init_parameter_dict(run: Interpreter, self: Value, parameters: Value = None) -> Value:
    return _as_parameters(run, self, _init_dict(run, self, parameters))


def _update(run: Interpreter, self: Value, modules: Value) -> Value:
    if isinstance(modules, Instance):
        rows: Any = _held(run, modules).items()
    elif isinstance(modules, Dict) and modules.rest is MISSING:
        rows = modules.cells.items()
    else:
        rows = run.items(modules)
    pairs = None if rows is None else [run.items(row) for row in rows]
    if pairs is None or any(pair is None or len(pair) != 2 for pair in pairs):
        run.heap.write(self.state, "open", True)
        return None
    for name, value in (pair for pair in pairs if pair is not None):
        if isinstance(name, str):
            _put(run, self, name, value)
        else:
            run.heap.write(self.state, "open", True)
    return None


def _run_all(run: Interpreter, self: Value, input: Value) -> Value:
    """``Sequential.forward``."""
    if self.state.get("open"):
        calls.escape(run, (input,))
        return run.unknown("the result of a Sequential with unknown layers")
    for layer in _held(run, self).values():
        input = run.call(layer, (input,))
    return input


def _length(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("how long a container is", "int") if args[0].state.get("open") else len(_held(run, args[0]))


def _iterate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rows = tuple(_held(run, args[0]).values())
    if args[0].state.get("open"):
        repeats = args[0].state["open"] == REPEATED
        return Iterator(None, branches.common_item(rows) if repeats else run.unknown("a module of a container"))
    return Iterator(rows)


def _iterate_keys(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if args[0].state.get("open"):
        return Iterator(None, run.unknown("a name in a container", "str"))
    return Iterator(tuple(_held(run, args[0])))


def _iterate_items(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if args[0].state.get("open"):
        return Iterator(None, (run.unknown("a name in a container", "str"), run.unknown("a module of a container")))
    return Iterator(tuple(_held(run, args[0]).items()))


def _get(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, index = args[0], run.resolve(args[1])
    rows = _held(run, me)
    if me.state.get("open"):
        return run.unknown("a module of a container")
    values = list(rows.values())
    if isinstance(index, slice) and is_known(index):
        made = Instance(me.cls)
        _fill(run, made, tuple(values[index]), None)
        return made
    if isinstance(index, int) and -len(values) <= index < len(values):
        return values[index]
    if isinstance(index, str) and index in rows:
        return rows[index]
    if me.cls.qualified in _OF_MODULES and isinstance(index, int | str) and not run.entry:
        return _no_module(run, me, index, rows)
    guards.may_raise(run, guards.LOOKUP)
    return (
        branches.common_item(values, "which module of a container it is")
        if values
        else run.unknown("a module of a container")
    )


_OF_MODULES: Final = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict")


def _no_module(run: Interpreter, me: Instance, index: int | str, rows: Mapping[str, Value]) -> Unknown:
    """A container is asked for a module that it hasn't."""
    kind = me.cls.name
    if isinstance(index, int):
        message = f"index {index} is out of range for the {len(rows)} modules of a {kind}"
        return guards.refuse(run, message, None, "IndexError", "tensor-shape")
    close = spelling.closest(index, rows)
    hint = None if close is None else f"did you mean {close!r}?"
    error = "KeyError" if me.cls.qualified == "torch.nn.ModuleDict" else "TypeError"
    return guards.refuse(run, f"a {kind} has no module {index!r}", hint, error)


def _set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, index, value = args[0], run.resolve(args[1]), args[2]
    rows = list(_held(run, me))
    if isinstance(index, int) and -len(rows) <= index < len(rows):
        _put(run, me, rows[index], value)
    elif isinstance(index, str):
        _put(run, me, index, value)
    else:
        run.heap.write(me.state, "open", True)
    return None


def _append(run: Interpreter, self: Value, module: Value) -> Value:
    _fill(run, self, (module,), None)
    return self


def _extend(run: Interpreter, self: Value, modules: Value) -> Value:
    _fill(run, self, run.items(modules), modules)
    return self


def _extend_sequential(run: Interpreter, self: Value, sequential: Value) -> Value:
    return _extend(run, self, sequential)


def _append_parameter(run: Interpreter, self: Value, value: Value) -> Value:
    return _as_parameters(run, self, _append(run, self, value))


def _extend_parameters(run: Interpreter, self: Value, values: Value) -> Value:
    return _as_parameters(run, self, _extend(run, self, values))


def _insert(run: Interpreter, self: Value, index: Value, module: Value) -> Value:
    rows = list(_held(run, self).values())
    if isinstance(index, int):
        rows.insert(index, module)
        _rewrite(run, self, rows)
    else:
        run.heap.write(self.state, "open", True)
    return self


def _rewrite(run: Interpreter, me: Instance, values: list[Value]) -> None:
    for name in list(_held(run, me)):
        run.heap.write(me.cells, name, MISSING)
    _fill(run, me, tuple(values), None)


def _delete(run: Interpreter, self: Value, key: Value, /) -> Value:
    _pop(run, self, key)
    return None


def _pop(run: Interpreter, self: Value, key: Value) -> Value:
    rows = _held(run, self)
    names = list(rows)
    if isinstance(key, str) and key in rows:
        run.heap.write(self.cells, key, MISSING)
        return rows[key]
    if isinstance(key, int) and -len(names) <= key < len(names):
        values = list(rows.values())
        found = values.pop(key)
        _rewrite(run, self, values)
        return found
    run.heap.write(self.state, "open", True)
    return run.unknown("a module of a container")


def _contains(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[1])
    if isinstance(name, str) and not args[0].state.get("open"):
        return name in _held(run, args[0])
    return run.unknown("whether a container has a name", "bool")


def _as_tensor(run: Interpreter, value: Value) -> Value:
    found = run.resolve(value)
    if not isinstance(found, Tensor):
        return found
    return gradients.mark(Tensor(replace(found.type, is_parameter=True)), gradients.LEAF)


def _as_parameters(run: Interpreter, me: Instance, result: Value) -> Value:
    """The result of a container's method; the tensors in the container become parameters."""
    for name, value in _held(run, me).items():
        if isinstance(value, Tensor) and not value.type.is_parameter:
            _put(run, me, name, _as_tensor(run, value))
    return result


def _set_parameter(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _as_parameters(run, args[0], _set(run, args, kwargs))


def _update_parameters(run: Interpreter, self: Value, parameters: Value) -> Value:
    return _as_parameters(run, self, _update(run, self, parameters))


_COMMON: Final = {
    "__len__": _length,
    "__getitem__": _get,
    "__setitem__": _set,
    "__delitem__": _delete,
    "__iter__": _iterate,
    "pop": _pop,
}
_LIST: Final = {**_COMMON, "append": _append, "extend": _extend, "insert": _insert}
_MAPPING: Final = {
    **_COMMON,
    "__iter__": _iterate_keys,
    "__contains__": _contains,
    "keys": _iterate_keys,
    "values": _iterate,
    "items": _iterate_items,
    "update": _update,
}
library_class(
    "torch.nn.Sequential",
    (layers.MODULE,),
    {"__init__": _init_sequential, "forward": _run_all, **_LIST, "extend": _extend_sequential},
)
library_class("simpletorch.nn.Sequential", ("torch.nn.Sequential",), {"__init__": _init_our_sequential})
library_class("torch.nn.ModuleList", (layers.MODULE,), {"__init__": _init_list, **_LIST})
library_class("torch.nn.ModuleDict", (layers.MODULE,), {"__init__": _init_dict, **_MAPPING})
library_class(
    "torch.nn.ParameterList",
    (layers.MODULE,),
    {
        **_LIST,
        "__init__": _init_parameter_list,
        "append": _append_parameter,
        "extend": _extend_parameters,
    },
)
library_class(
    "torch.nn.ParameterDict",
    (layers.MODULE,),
    {
        **_MAPPING,
        "__init__": _init_parameter_dict,
        "__setitem__": _set_parameter,
        "update": _update_parameters,
    },
)


# -- parameters ------------------------------------------------------------------------------------------------------


def _make_parameter(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    asked = run.resolve(args[1] if len(args) > 1 else kwargs.get("requires_grad", True))

    def one(value: Value) -> Value:
        kind = value.type if isinstance(value, Tensor) else TensorType()
        if asked is True:
            kind = gradients.need_float(run, kind)
        history = gradients.LEAF if asked is True else gradients.PLAIN if asked is False else None
        made = gradients.mark(Tensor(replace(kind, is_parameter=True)), history)
        return devices.moved(run, made, devices.of(run, value))

    return run.each(args[0] if args else kwargs.get("data"), one)


library_class("torch.nn.Parameter", ("torch.Tensor",), make=_make_parameter)
library_class("torch.nn.Buffer", ("torch.Tensor",), make=lambda run, cls, args, kwargs: args[0])
library_class("torch.nn.utils.rnn.PackedSequence")


def _initializer(name: str, run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``nn.init.*``: fills the tensor and gives it."""
    filled = run.resolve(args[0] if args else kwargs.get("tensor"))
    if name in RULES and isinstance(filled, Tensor) and isinstance(found := infer(name, (filled.type,)), Report):
        run.report(found)
    return filled


for _name in (
    *(
        "uniform_",
        "normal_",
        "trunc_normal_",
        "constant_",
        "ones_",
        "zeros_",
        "eye_",
        "dirac_",
        "sparse_",
        "orthogonal_",
    ),
    *("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"),
    *(
        "xavier_uniform",
        "xavier_normal",
        "kaiming_uniform",
        "kaiming_normal",
        "uniform",
        "normal",
        "constant",
        "orthogonal",
    ),
):
    _name = f"torch.nn.init.{_name}"
    NATIVES[_name] = Native(_name, partial(_initializer, _name))


@model("torch.nn.init.calculate_gain")
def _gain(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return run.unknown("a gain", "float", "data")


@model("torch.nn.init._calculate_fan_in_and_fan_out")
def _fans(run: Interpreter, tensor: Value) -> Value:
    """How many numbers each output of a layer is made of, and each input goes into, by the shape of its weight."""
    shape = tensor.type.shape if isinstance(tensor, Tensor) else None
    if shape is None or shape.rank is None or shape.rank < 2:
        return run.unknown("a fan", "int"), run.unknown("a fan", "int")
    outputs, inputs, *kernel = (run.unknown("a fan", "int") if d is UNKNOWN else d for d in shape.items)

    def fan(side: Value) -> Value:
        return reduce(lambda a, b: operators.binary(run, "__mul__", a, b), kernel, side)

    return fan(inputs), fan(outputs)


@model("torch.nn.init._calculate_correct_fan")
def _fan(run: Interpreter, tensor: Value, mode: Value) -> Value:
    fans, mode = _fans(run, tensor), run.resolve(mode)
    known = isinstance(fans, tuple) and mode in ("fan_in", "fan_out")
    return fans[mode == "fan_out"] if known else run.unknown("a fan", "int")
