"""``torch`` beside its operations: tensors made of values, contexts, devices, autograd; and the methods of tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches, files, guards, iteration, layers, tensors
from simpletorch.follow.libraries import ALIASES, VALUES, jax, library_class, method, model, native
from simpletorch.follow.marks import carried, devices, gradients, layout, sparsity
from simpletorch.follow.marks.origins import ORIGINS
from simpletorch.follow.mistakes import events
from simpletorch.follow.numbers import indexes, offsets, open_shapes, sizes
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import (
    HISTORY,
    MISSING,
    Choice,
    Class,
    Dict,
    Function,
    Here,
    Instance,
    List,
    Method,
    Native,
    Sizes,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    is_known,
)
from simpletorch.rules import Device, TensorType
from simpletorch.rules.core.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    DEFAULT_FLOAT,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    DType,
)
from simpletorch.shapes import Expr, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

ALIASES.update(
    {
        "torch.functional": "torch",
        "torch._C": "torch",
        "torch.autograd.function": "torch.autograd",
        "simpletorch": "torch",
    }
)
VALUES["torch.channels_last"] = layout.CHANNELS_LAST
VALUES.update(
    {
        "torch.pi": 3.141592653589793,
        "torch.inf": float("inf"),
        "torch.nan": float("nan"),
        "torch.e": 2.718281828459045,
        "torch.newaxis": None,
    }
)


@native("torch.pure")
def _pure(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``simpletorch.pure``."""
    value = args[0]
    inner = value.function if isinstance(value, StaticMethod) else value
    if isinstance(inner, Function):
        inner.pure = True
    return value


@native("torch.checked")
def _checked(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``simpletorch.checked``: what it decorates stays what it is."""
    return args[0]


# -- classes ---------------------------------------------------------------------------------------------------------


def _make_tensor(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _of_sizes_or_data(run, args, kwargs, DEFAULT_FLOAT)


def _of_sizes_or_data(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], dtype: DType) -> Value:
    """``torch.Tensor(2, 3)`` and ``torch.Tensor(x.shape)`` have that shape; ``torch.Tensor((2, 3))`` holds numbers."""
    for name, given in kwargs.items():
        if name == "size":
            found = run.items(given)
            args = (run.unknown("sizes") if found is None else Sizes(found),)
        elif name in ("data", "other"):
            args = (given,)
    only = sparsity.as_dense(run.resolve(args[0])) if len(args) == 1 else None
    if isinstance(only, List | tuple | Tensor | range) and not isinstance(only, Sizes):
        return from_data(run, only, dtype)
    return run.ask("torch.empty", args, {"dtype": dtype}) if args else Tensor(TensorType(Shape((0,)), dtype))


library_class("torch.Tensor", make=_make_tensor)
_LEGACY: Final = {
    "FloatTensor": FLOAT32,
    "DoubleTensor": FLOAT64,
    "HalfTensor": FLOAT16,
    "BFloat16Tensor": BFLOAT16,
    "BoolTensor": BOOL,
    "LongTensor": INT64,
    "IntTensor": INT32,
    "ShortTensor": INT16,
    "CharTensor": INT8,
    "ByteTensor": UINT8,
}
for _legacy, _dtype in _LEGACY.items():
    library_class(
        f"torch.{_legacy}",
        ("torch.Tensor",),
        make=lambda run, cls, args, kwargs, d=_dtype: _of_sizes_or_data(run, args, kwargs, d),
    )
    library_class(
        f"torch.cuda.{_legacy}",
        ("torch.Tensor",),
        make=lambda run, cls, args, kwargs, d=_dtype: devices.moved(
            run, _of_sizes_or_data(run, args, kwargs, d), "cuda"
        ),
    )
for _plain in ("torch.dtype", "torch.memory_format", "torch.layout"):
    library_class(_plain)
library_class(
    "torch.Generator",
    methods={name: lambda run, args, kwargs: args[0] for name in ("manual_seed", "set_state")},
    unknown="a generator",
)
library_class("torch.Size", make=lambda run, cls, args, kwargs: _size(run, args))


def _size(run: Interpreter, args: tuple[Value, ...]) -> Value:
    found = run.items(args[0]) if args else ()
    return run.unknown("sizes") if found is None else Sizes(found)


def _make_device(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[0]) if args else kwargs.get("type")
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        return run.unknown("a device", "device")
    devices.check_name(run, name, "torch.device")
    if isinstance(name, devices.Name):
        return devices.Chosen(str(name), None, name.there)
    kind, _, index = name.partition(":")
    number = run.resolve(args[1]) if len(args) > 1 else int(index) if index.isdigit() else None
    return Device(kind, number if isinstance(number, int) else None)


library_class("torch.device", make=_make_device)


# -- tensors of values -----------------------------------------------------------------------------------------------


def from_data(run: Interpreter, value: Value, dtype: DType | None = None) -> Tensor:
    """``torch.tensor(value)``: sizes from how lists are nested, the dtype from the numbers."""
    value = sparsity.as_dense(run.resolve(value))
    found = _data_type(run, value)
    if dtype is not None:
        found = replace(found, dtype=dtype)
    made = gradients.mark(tensors.made(run, replace(found, is_parameter=False)), gradients.PLAIN)
    if not isinstance(run.resolve(value), Tensor):
        made.numbers = indexes.written_out(run.resolve(value))
        if isinstance(run.resolve(value), List | tuple | int | float):
            layout.LAYOUT.put(made, layout.CONTIGUOUS)
    held = run.resolve(value)
    if isinstance(held, Tensor) and held.array and made.type.dtype in (INT32, INT64):
        indexes.follow(run, "torch.clone", (held,), {}, made)
    if not isinstance(held, Tensor) or held.array:
        return carried.of_data(made)
    ORIGINS.put(made, ORIGINS.of(held))
    devices.DEVICE.put(made, held.marks.place)
    return made


def _data_type(run: Interpreter, value: Value) -> TensorType:
    value = run.resolve(value)
    if isinstance(value, Choice):
        return branches.common_type(_data_type(run, value.when_true), _data_type(run, value.when_false))
    if isinstance(value, Tensor):
        return value.type
    if isinstance(value, bool):
        return TensorType(Shape(()), BOOL)
    if isinstance(value, int | Expr):
        return TensorType(Shape(()), INT64)
    if isinstance(value, float | complex):
        return TensorType(Shape(()), DEFAULT_FLOAT if isinstance(value, float) else COMPLEX64)
    if isinstance(value, Unknown):
        dtype = {"int": INT64, "float": DEFAULT_FLOAT, "bool": BOOL}.get(value.type or "")
        return TensorType(Shape(()), dtype) if dtype is not None else TensorType()
    if isinstance(value, tuple | List | range):
        return _nested(run, value)
    return TensorType()


def _item_type(run: Interpreter, value: Value) -> TensorType:
    """The same of an item of a list, where a tensor stands for its one number."""
    found = _data_type(run, value)
    value = run.resolve(value)
    return replace(found, shape=Shape(())) if isinstance(value, Tensor) and not value.array else found


def _nested(run: Interpreter, value: Value) -> TensorType:
    items = run.items(value)
    if items is None:
        one = _item_type(run, iteration.item(run, value))
        return TensorType(Shape((sizes.of_list(run, value), *one.shape.items)), one.dtype)
    if not items:
        return TensorType(Shape((0,)), DEFAULT_FLOAT)
    if {*map(type, items)} <= {int}:
        return TensorType(Shape((len(items),)), INT64)
    kinds = [_item_type(run, v) for v in items]
    out = kinds[0]
    lengths = {k.shape.items for k in kinds}
    if len(lengths) > 1 and all(k.shape.is_exact and all(type(d) is int for d in k.shape.items) for k in kinds):
        shown = " and ".join(sorted(map(str, {k.shape for k in kinds}))[:2])
        guards.refuse(run, f"a list has items of the shapes {shown}, but one tensor needs one", None, "ValueError")
        return TensorType()
    for k in kinds[1:]:
        dtype = out.dtype if out.dtype == k.dtype else _widest(out.dtype, k.dtype)
        out = replace(branches.common_type(out, k), dtype=dtype)
    return TensorType(Shape((len(items), *out.shape.items)), out.dtype)


_ORDER: Final = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def _widest(a: DType | None, b: DType | None) -> DType | None:
    if a is None or b is None or a.category is None or b.category is None:
        return None
    return a if _ORDER[a.category] >= _ORDER[b.category] else b


@native("torch.as_tensor", "torch.asarray")
def _as_tensor(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = _tensor(run, args, kwargs)
    value = run.resolve(args[0] if args else kwargs.get("data", kwargs.get("obj")))
    if isinstance(made, Tensor) and not (isinstance(value, Tensor) and value.array) and not is_known(value):
        gradients.forget(made)  # it may be, or be made of, the tensors that it is given
    return made


@native("torch.tensor")
def _tensor(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = args[0] if args else kwargs.get("data")
    dtype = run.resolve(kwargs.get("dtype", args[1] if len(args) > 1 else None))
    if run.takers and any(map(tensors.is_odd, (value, *(run.items(value) or () if isinstance(value, List) else ())))):
        guards.may_raise(run, guards.ANY)
    if (refused := events.DATA(run, value)) is not None:
        return refused
    made = from_data(run, value)
    if dtype is not None:
        named = tensors.to_rule(dtype)
        run.heap.write(made.cells, "type", replace(made.type, dtype=named if isinstance(named, DType) else None))
    asked = run.resolve(kwargs.get("requires_grad", False))
    if asked is True:
        run.heap.write(made.cells, "type", gradients.need_float(run, made.type))
    if asked is not False:
        gradients.forget(made)
    device = run.resolve(kwargs.get("device"))
    if device is not None:
        devices.check_name(run, device, "tensor")
        devices.moved(run, made, devices.named(run, device))
    return gradients.mark(made, gradients.LEAF if asked is True else None)


@native("torch.from_numpy")
def _from_numpy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(args[0], lambda v: events.ARRAY(run, v) or shared(sparsity.as_dense(v)))


_CAPSULE: Final = "torch.Capsule"
library_class(_CAPSULE)


@model("torch.to_dlpack", "torch.utils.dlpack.to_dlpack")
def _to_dlpack(run: Interpreter, tensor: Value, /) -> Value:
    return _capsule(run, tensor)


def _capsule(run: Interpreter, tensor: Value) -> Value:
    capsule = Instance(run.program.library_class(_CAPSULE))
    run.heap.write(capsule.cells, "tensor", tensor)
    return capsule


method(Tensor, "to_dlpack")(lambda run, args, kwargs: _capsule(run, args[0]))


@model("torch.from_dlpack", "torch.utils.dlpack.from_dlpack")
def _from_dlpack(run: Interpreter, ext_tensor: Value, *, device: Value = None, copy: Value = None) -> Value:
    if isinstance(ext_tensor, Instance) and ext_tensor.cls.is_a(_CAPSULE):
        capsule, ext_tensor = ext_tensor, run.resolve(ext_tensor.cells.get("tensor"))
        if run.resolve(capsule.cells.get("used")) is True:
            hint = "call to_dlpack() again, or pass the tensor itself"
            return guards.refuse(run, "from_dlpack: a capsule can be taken only once", hint, "RuntimeError")
        run.heap.write(capsule.cells, "used", True)
    made = run.each(ext_tensor, shared)
    if device is not None and isinstance(made, Tensor):
        devices.moved(run, made, devices.named(run, device))
    return made


def shared(value: Value) -> Tensor:
    """A tensor in the memory of an array."""
    value = jax.as_tensor(value) or value
    if not isinstance(value, Tensor):
        return Tensor(TensorType())
    made = gradients.mark(Tensor(value.type), gradients.PLAIN)
    made.numbers = value.numbers
    return carried.of_data(made)


# -- what changes nothing --------------------------------------------------------------------------------------------


@model("torch.manual_seed")
def _seed(run: Interpreter, seed: Value) -> Value:
    events.SEED(run, seed)
    return Instance(run.program.library_class("torch.Generator"))


@native(
    "torch.set_num_threads",
    "torch.set_float32_matmul_precision",
    "torch.use_deterministic_algorithms",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.cuda.empty_cache",
    "torch.set_printoptions",
    "torch.cuda.set_device",
    "torch.cuda.reset_peak_memory_stats",
    "torch.set_num_interop_threads",
    "torch.mps.manual_seed",
    "torch.cuda.ipc_collect",
)
def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


@model(
    "torch.cuda.is_available",
    "torch.backends.mps.is_available",
    "torch.backends.mps.is_built",
    "torch.xpu.is_available",
    "torch.accelerator.is_available",
    "torch.cuda.is_bf16_supported",
)
def _no_device(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return False


@model("torch.cuda.device_count", "torch.cuda.memory_allocated", "torch.cuda.max_memory_allocated")
def _none_there(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return run.unknown("what another machine answers", "int") if run.is_elsewhere else Here(0)


@native("torch.get_default_dtype")
def _default_dtype(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return DEFAULT_FLOAT


@model("torch.save")
def _save_file(run: Interpreter, obj: Value, f: Value, *more: Value, **rest: Value) -> Value:
    files.save(run, "torch", obj, f)
    return None


@model("torch.load")
def _load_file(run: Interpreter, f: Value, map_location: Value = None, *more: Value, **rest: Value) -> Value:
    tensor = None if map_location is None else partial(files.mapped, run, map_location)
    found = files.load(run, ("torch",), f, tensor)
    if found is MISSING:
        return run.unknown("what is loaded from a file")
    if map_location is not None and run.places:
        for one in (found, *(found.cells.values() if isinstance(found, Dict) else ())):
            inside = [m for _, m in layers.named_modules(run, one)] if isinstance(one, Instance) else []
            devices.move(run, inside, devices.named(run, map_location))
    return found


@model("torch.hub.load", "torch.hub.load_state_dict_from_url", "torch.initial_seed", "torch.get_rng_state")
def _from_file(run: Interpreter, *args: Value, **rest: Value) -> Value:
    return run.unknown("what is loaded from a file")


# -- contexts and decorators -----------------------------------------------------------------------------------------


def _make_context(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if len(args) == 1 and isinstance(args[0], Function | Method | Class):
        return args[0]  # ``@torch.no_grad`` without parentheses
    return Instance(cls)


def _decorate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[1]


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


for _context in (
    "torch.autograd.profiler.record_function",
    "torch.profiler.record_function",
    "torch.autograd.detect_anomaly",
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.set_multithreading_enabled",
    "torch.backends.cudnn.flags",
    "torch.device_context",
    "torch.random.fork_rng",
    "torch.nn.attention.sdpa_kernel",
    "torch.autograd.graph.save_on_cpu",
):
    library_class(
        _context,
        make=_make_context,
        methods={"__call__": _decorate, "__enter__": _itself, "__exit__": lambda run, args, kwargs: None},
    )


# -- methods of tensors ----------------------------------------------------------------------------------------------


@method(Tensor, "size")
def _size_of(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    which = args[1] if len(args) > 1 else kwargs.get("dim")
    if which is None:
        return run.attribute(args[0], "shape")
    shape = run.attribute(args[0], "shape")
    which = run.resolve(which)
    if isinstance(shape, Sizes) and isinstance(which, int) and -len(shape) <= which < len(shape):
        return shape[which]
    if isinstance(shape, Unknown) and shape.fact is not None and type(which) is int:
        return open_shapes.item(run, shape, which)
    return run.ask("Tensor.size", (args[0], which))


@method(Tensor, "numel", "nelement")
def _number_of_elements(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The product of the sizes, of which those that aren't known get a name."""
    shape = run.attribute(args[0], "shape")
    if not isinstance(shape, Sizes):
        return run.ask("Tensor.numel", args)
    return run.call(run.attribute(shape, "numel"), ())


@method(Tensor, "dim", "ndimension")
def _rank(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.attribute(args[0], "ndim")


@method(Tensor, "is_inference")
def _is_inference(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Only what is made under ``inference_mode`` is such a tensor."""
    if "inference_mode" in run.program.mentions().used:
        return run.derived("is_inference", args[0], None, type="bool")
    return False


@method(Tensor, "share_memory_")
def _shared_memory(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


@method(Tensor, "set_")
def _set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``x.set_(y)``: x is the memory of y from here on; of a storage with ``size``, if that is given."""
    x, source = args[0], run.resolve(args[1] if len(args) == 2 else kwargs.get("source"))
    size = args[3] if len(args) > 3 else kwargs.get("size")
    if size is not None:
        source = run.ask("Tensor.new_empty", (x, size))
    indexes.spoil(run, x)
    ORIGINS.forget(run, x)
    run.set_attribute(x, "data", source if isinstance(source, Tensor) else run.unknown("a storage"))
    if isinstance(x, Tensor) and (len(args) > 4 or "stride" in kwargs):
        layout.LAYOUT.forget(run, x)
    return x


def _itself_moved(place: str | None) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        made = gradients.moved(run, args[0])
        if made is args[0] and made.marks.place != place:
            made = gradients.mark(made.like(made.type), made.cells.get(HISTORY))
            made.base = args[0]
        if made is not args[0]:
            # what is moved to CUDA stays here where there is none
            made.cells["type"] = replace(made.type, device=Device("cpu") if place == "cpu" else None)
        return devices.moved(run, made, place)

    return work


for _name, _place in (("cpu", "cpu"), ("cuda", "cuda"), ("mps", None), ("xpu", None)):
    method(Tensor, _name)(_itself_moved(_place))


@method(Tensor, "pin_memory")
def _pinned(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return gradients.moved(run, args[0])


@method(Tensor, "new_tensor")
def _new_tensor(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    dtype = run.resolve(kwargs.get("dtype"))
    made = from_data(run, args[1] if len(args) > 1 else kwargs.get("data"))
    wanted = args[0].type.dtype if dtype is None else tensors.to_rule(dtype)
    return Tensor(replace(made.type, dtype=wanted if isinstance(wanted, DType) else None))


@method(Tensor, "numpy")
def _to_numpy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if run.resolve(args[1] if len(args) > 1 else kwargs.get("force", False)) is False:
        gradients.to_numpy(run, args[0])
        devices.to_numpy(run, args[0])
    if args[0].type.dtype == BFLOAT16:
        guards.refuse(run, "numpy: NumPy has no bfloat16", "x.float().numpy()", code="tensor-dtype")
    made = Tensor(replace(args[0].type, is_parameter=False), array=True)
    made.numbers = args[0].numbers
    return made


@method(Tensor, "tolist")
def _tolist(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _lists(run, args[0].type)


def _lists(run: Interpreter, kind: TensorType) -> Value:
    number = {"bool": "bool", "int": "int", "float": "float"}.get(kind.dtype.category or "" if kind.dtype else "")
    one: Value = run.unknown("a number in a tensor", number, "data")
    if kind.shape.rank is None:
        return run.unknown("a list of numbers", None, "data")
    for size in reversed(kind.shape.dims):
        one = List((one,) * size) if isinstance(size, int) and size <= 256 else List(None, one)
    return one


@method(Tensor, "item")
def _item(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.each(run.ask("Tensor.item", args), lambda v: offsets.as_number(args[0], v))


@method(Tensor, "type")
def _type(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    wanted = run.resolve(args[1]) if len(args) > 1 else run.resolve(kwargs.get("dtype"))
    on_cuda = False
    if isinstance(wanted, Class | str):  # ``torch.LongTensor``, ``"torch.cuda.LongTensor"``
        name = wanted if isinstance(wanted, str) else wanted.qualified
        wanted, on_cuda = _LEGACY.get(name.rpartition(".")[2], wanted), name.startswith("torch.cuda.")
    if isinstance(wanted, DType):
        made = run.ask("Tensor.to", (args[0], wanted))
        return run.ask("Tensor.cuda", (made,)) if on_cuda else made
    if wanted is None:
        return run.unknown("the name of a tensor's type", "str")
    made = Tensor(replace(args[0].type, dtype=None, is_parameter=False))
    made.is_written_out = args[0].is_written_out
    return made


@method(Tensor, "apply_", "map_")
def _applied(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


@method(
    Tensor, "stride", "storage", "data_ptr", "untyped_storage", "storage_offset", "__hash__", "__repr__", "__format__"
)
def _layout(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("how a tensor lies in memory")


@method(Tensor, "is_contiguous")
def _is_contiguous(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    lies = None if len(args) > 1 or kwargs else layout.is_new(args[0])
    return run.unknown("how a tensor lies in memory", "bool", "data") if lies is None else lies


@method(Tensor, "is_pinned", "is_shared")
def _flag(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("a property of a tensor", "bool", "data")


# -- autograd --------------------------------------------------------------------------------------------------------


def _apply_function(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``MyFunction.apply(x)`` is ``MyFunction.forward(ctx, x)``; without ctx where there is a ``setup_context``."""
    cls, *given = args
    found = cls.find("forward") if isinstance(cls, Class) else None
    if found is None:
        return run.unknown("what a function of autograd gives")
    context = Instance(run.program.library_class("torch.autograd.FunctionCtx"))
    plain = cls.find("setup_context") is None
    with run.heap.instead(run.modes, gradients.MODE, False):  # it has a backward of its own
        result = run.call(run.attribute(cls, "forward"), (context, *given) if plain else given, kwargs)
        if not plain:
            run.call(run.attribute(cls, "setup_context"), (context, tuple(given), result))
    _hold_backward(run, cls, given)
    return gradients.unsure(run, result)


def _hold_backward(run: Interpreter, cls: Class, given: list[Value]) -> None:
    """A ``backward`` gives a gradient for each argument of ``forward``; torch takes more of them if they are None."""
    found = cls.find("backward")
    backward = found[0].function if found is not None and isinstance(found[0], StaticMethod) else None
    if run.takers or not isinstance(backward, Function):
        return
    nodes = list(walk(backward.node))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    taken = {a.arg for a in backward.node.args.args[1:]} - stored
    counts = {_count(node.value, taken) for node in nodes if isinstance(node, ast.Return)}
    if counts and None not in counts and (most := max(c for c in counts if c is not None)) < len(given):
        shown = "1 gradient" if most == 1 else f"{most} gradients"
        message = f"{cls.name}.backward returns {shown}, but forward takes {len(given)} inputs"
        guards.refuse(run, message, "return None for an input that needs no gradient", "RuntimeError", "tensor-grad")


def _count(returned: ast.expr | None, tensors: Collection[str]) -> int | None:
    """How many gradients a ``return`` of ``backward`` surely gives; None where it may be a tuple by name."""
    if returned is not None and _is_one(returned, tensors):
        return 1
    match returned:
        case ast.Tuple(elts=elements) if not any(isinstance(e, ast.Starred) for e in elements):
            return len(elements)
        case ast.BinOp(op=ast.Mult(), left=ast.Name() | ast.Attribute(), right=ast.Name() | ast.Attribute()):
            return 1
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.MatMult()):
            return 1
    return None


def _is_one(node: ast.expr, tensors: Collection[str]) -> bool:
    """Whether an expression surely gives one tensor, as these names hold one each."""
    match node:
        case ast.Name(id=name):
            return name in tensors
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _is_one(inner, tensors)
        case ast.BinOp(left=left, right=right):
            return _is_one(left, tensors) or _is_one(right, tensors)
    return False


def _call_function(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``MyFunction()(x)`` is refused since torch 1.5; what ``forward`` gave before is what the program counts on."""
    function, *given = args
    name = function.cls.name if isinstance(function, Instance) else "A function of autograd"
    message = f"{name} is a function of autograd, which torch refuses to call as an object"
    refused = guards.refuse(run, message, f"{name}.apply(…), with a static forward(ctx, …)", "RuntimeError")
    forward = function.cls.find("forward") if isinstance(function, Instance) else None
    if forward is None or not isinstance(forward[0], Function):
        return refused
    return run.call(run.attribute(function, "forward"), tuple(given), kwargs)


def _subclassed_function(run: Interpreter, cls: Class) -> None:
    cls.cells.setdefault("apply", Method(Native("apply", _apply_function), cls))


def _save(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, "saved_tensors", args[1:])
    return None


library_class("torch.autograd.FunctionCtx", methods={"save_for_backward": _save, "mark_non_differentiable": _nothing})
library_class("torch.autograd.Function", methods={"__call__": _call_function}, subclassed=_subclassed_function)


@native("torch.utils.checkpoint.checkpoint")
def _checkpoint(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rest = {
        k: v
        for k, v in kwargs.items()
        if k not in ("use_reentrant", "preserve_rng_state", "determinism_check", "context_fn", "debug")
    }
    return gradients.unsure(run, run.call(args[0], args[1:], rest))


@model("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm")
def _clip(run: Interpreter, parameters: Value, max_norm: Value, *more: Value, **rest: Value) -> Value:
    events.CLIP(run, "clip_grad_norm_")
    if isinstance(parameters, Method):
        events.UNITERABLE(run, parameters)
    return Tensor(TensorType(Shape(()), DEFAULT_FLOAT))


@model("torch.optim.clip_grad_norm")
def _clip_of_ours(run: Interpreter, parameters: Value, max_norm: Value, *more: Value, **rest: Value) -> Value:
    """`simpletorch.optim.clip_grad_norm`, which takes no norm that would turn gradients round."""
    norm = run.resolve(max_norm)
    if isinstance(norm, int | float) and norm <= 0:
        message = f"clip_grad_norm: max_norm is {norm}, but a norm can only be limited to a positive number"
        guards.refuse(run, message, None, "ValueError", "tensor-option")
    return run.call(run.program.library(run, "torch.nn.utils.clip_grad_norm_"), (parameters, max_norm))


@model("torch.nn.utils.clip_grad_value_")
def _clip_value(run: Interpreter, parameters: Value, clip_value: Value, foreach: Value = None) -> Value:
    events.CLIP(run, "clip_grad_value_")
    return None
