"""``value.name``, read and written: by kind of value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, items, layers, texts
from simpletorch.follow.libraries import METHODS, NATIVES
from simpletorch.follow.libraries.pytorch import sparse
from simpletorch.follow.marks import devices, gradients, sparsity
from simpletorch.follow.marks.layout import LAYOUT
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.memory.remembered import note, note_name
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import abstract, descriptors, kinds, members, metaclasses
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    RELOADED,
    BoundNative,
    Choice,
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Namespace,
    Native,
    Property,
    Set,
    Sizes,
    StaticMethod,
    Super,
    Tensor,
    Unknown,
    Value,
    View,
    behind,
    is_known,
    is_tuple,
)
from simpletorch.rules import Device, TensorType
from simpletorch.rules.core.attributes import is_of_tensors
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["attributes_of", "delete", "find", "get", "has_dict", "is_there", "put", "read"]

_TENSOR_PROPERTIES: Final = frozenset({"T", "mT", "H", "mH", "real", "imag", "itemsize", "nbytes"})
_FLAGS: Final = frozenset((
    *("is_cuda", "is_cpu", "is_mps", "is_meta", "is_xpu", "is_xla", "is_ipu", "is_hpu", "is_mtia", "is_vulkan"),
    *("is_sparse", "is_sparse_csr", "is_mkldnn", "is_quantized", "is_nested", "is_leaf", "requires_grad"),
    "retains_grad",
))  # fmt: skip
_NO_METHODS: Final = frozenset((
    *_TENSOR_PROPERTIES,
    *_FLAGS,
    *("data", "device", "dtype", "grad", "grad_dtype", "grad_fn", "is_maia", "layout", "name", "names", "ndim"),
    *("output_nr", "shape", "volatile"),
))  # fmt: skip
_ATTRIBUTE_ERROR: Final = ("Exception", "BaseException")
_LACKS: Final = (Raised("AttributeError", None, _ATTRIBUTE_ERROR),)


def get(run: Interpreter, value: Value, name: str) -> Value:
    """``value.name``.

    Raises:
        Raised: there is no such attribute for sure.
    """
    found = read(run, value, name)
    if found is MISSING:
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    return found


def read(run: Interpreter, value: Value, name: str) -> Value:
    """``value.name``, MISSING where there is none for sure; where that isn't known, it may raise."""
    if not run.takers:
        return find(run, value, name)
    one = run.resolve(value)
    of_tensor = isinstance(one, Tensor) and members.tensor_may_lack(one, name)
    of_object = isinstance(one, Instance) and branches.may_be_missing(run, one.cells.get(name))
    if isinstance(one, Unknown):
        guards.may_raise(run, guards.ANY)
    elif isinstance(one, Choice) or of_tensor or of_object:
        guards.may_raise(run, _LACKS)
    found = find(run, one, name)
    if not isinstance(one, Unknown | Choice | Tensor) and found is not MISSING and not is_there(one, name, found):
        guards.may_raise(run, _LACKS)
    return found


def is_there(value: Value, name: str, found: Value) -> bool:
    """Whether an attribute was found because it surely is there."""
    if isinstance(value, Instance):
        return type(found) is not Unknown or name in value.cells or value.cls.find(name) is not None
    if isinstance(found, BoundNative):
        if isinstance(value, Iterator):
            return name == "__next__" or kinds.has_attribute(value, name) is True
        return name in METHODS.get(type(value), {}) or kinds.has_attribute(value, name) is True
    return type(found) is not Unknown


def find(run: Interpreter, value: Value, name: str) -> Value:
    """``value.name``, MISSING where there is none for sure."""
    if type(value) is Choice:
        value = run.resolve(value)
        if isinstance(value, Choice):
            return _of_choice(run, value, name)
    if isinstance(value, Unknown):
        if name == "requires_grad_":
            gradients.freeze(run, value, None)
        events.ATTRIBUTE(run, value, name)
        if name == "backward" and value.type in ("int", "float"):
            return BoundNative(name, value)
        if value.matrix is not None:
            found = sparsity.ATTRIBUTES[value.matrix.kind](run, value, name)
            if found is not None:
                return found
        methods = _OF_UNKNOWN.get(value.type)
        method = None if methods is None else methods(value, name)
        return run.derived(f".{name}", value, None, type=None) if method is None else method
    if name == "__doc__" and not isinstance(value, Instance | Class | Function | Namespace | Method):
        return run.unknown("the documentation of a value")
    reader = _READERS.get(type(value), _of_plain)
    found = reader(run, value, name)
    if found is MISSING and name in _OF_ALL and not _is_without(run, value, name):
        return run.unknown(f".{name} of an object")
    return run.resolve(found) if type(found) is Choice else found


def _of_choice(run: Interpreter, value: Choice, name: str) -> Value:
    there = [v for v in (value.when_true, value.when_false) if v is not None]
    if len(there) == 1:  # who asks for an attribute knows that it isn't None
        return find(run, there[0], name)
    left = find(run, value.when_true, name)
    right = find(run, value.when_false, name)
    if left is MISSING or right is MISSING:
        return right if left is MISSING else left
    if isinstance(left, BoundNative | Method) and isinstance(right, BoundNative | Method):
        return Choice(value.condition, left, right)
    return branches.merge(value.condition, left, right)


_OF_UNKNOWN: Final[Mapping[str | None, Callable[[Unknown, str], Native | None]]] = {
    "str": texts.of_text, "date": texts.of_date, sparse.KIND: sparse.of_sparse,
}  # fmt: skip
"""By what is known of a value that isn't known otherwise: its methods."""


# -- tensors ---------------------------------------------------------------------------------------------------------


def _of_tensor(run: Interpreter, value: Tensor, name: str) -> Value:
    if name in value.cells and name != "type":
        return value.cells[name]
    if name == "shape":
        return shape_of(run, value)
    if name == "ndim":
        rank = value.type.shape.rank
        return run.derived("ndim", value, value.type.shape, "int") if rank is None else rank
    if name == "dtype":
        return value.type.dtype if value.type.dtype is not None else run.derived("dtype", value, None, None)
    if name == "device":
        known = value.type.device is not None
        return devices.device_of(run, value) if known else run.derived("device", value, None, "device")
    if name == "data":
        made = gradients.cut(value, value.like(replace(value.type, is_parameter=False)))
        return devices.moved(run, made, devices.of(run, value))
    if value.array:
        return run.program.array_attribute(run, value, name)
    if name == "grad":
        return gradients.grad_of(run, value)
    if name in _TENSOR_PROPERTIES:
        return run.ask(f"Tensor.{name}", (value,))
    if name in _FLAGS:
        known = gradients.of(run, value) if name == "requires_grad" else None
        return run.derived(f".{name}", value, None) if known is None else known
    if name in ("device_mesh", "placements"):
        return run.derived(f".{name}", value, None, None)
    if name in ("grad_fn", "_version", "layout", "names"):
        return run.unknown(f".{name} of a tensor")
    if name == "__class__":
        return _class_of(run, value)
    if members.is_without(run, value, name):
        return MISSING
    is_there = is_of_tensors(name) or name in METHODS.get(Tensor, {})
    return BoundNative(name, value) if is_there else run.derived(f".{name}", value, None, None)


def shape_of(run: Interpreter, value: Tensor) -> Value:
    """The sizes; an unknown value where not even their number is known."""
    shape = value.type.shape
    if not shape.is_exact:
        sizes = run.derived("shape", value, shape, None)
        sizes.without_tensors = True
        return sizes
    if UNKNOWN in shape.items:  # from here on these sizes have a name: what is made of them can be compared
        dims = tuple(run.some_size() if d is UNKNOWN else d for d in shape.dims)
        run.heap.learn(value.cells, replace(value.type, shape=Shape(dims)))
        return Sizes(dims)
    return Sizes(shape.dims)


# -- objects and classes ---------------------------------------------------------------------------------------------


def bind(run: Interpreter, found: Value, receiver: Value, owner: Class) -> Value:
    """What a class has under a name, as its object sees it."""
    if isinstance(found, Function | Native):
        return Method(found, receiver) if isinstance(found, Function) or _binds(run, found, owner) else found
    if isinstance(found, StaticMethod):
        cls = receiver.cls if isinstance(receiver, Instance) else owner
        return Method(found.function, cls) if found.of_class else found.function
    if isinstance(found, Property):
        return run.call(found.getter, (receiver,)) if found.getter is not None else MISSING
    if type(found) is Instance and (getter := found.cls.find("__get__")) is not None:
        is_class = isinstance(receiver, Class)
        given = (None, receiver) if is_class else (receiver, getattr(receiver, "cls", owner))
        return run.call(Method(getter[0], found), given)
    if isinstance(found, Choice):  # defined in another way, or not at all, under a condition
        return run.each(found, lambda one: bind(run, one, receiver, owner))
    return found


def _binds(run: Interpreter, function: Native, owner: Class) -> bool:
    """Whether a function of a library's becomes a method in a class of the program's: those written in C don't."""
    if owner.module not in run.program.modules:
        return True
    module, _, name = function.name.rpartition(".")
    if module == "torch.nn.functional":
        return name not in _COMPILED
    return name in _IN_PYTHON if module == "torch" else module not in ("builtins", "math", "numpy")


_COMPILED: Final = frozenset({
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity",
    "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear", "logsigmoid", "native_channel_shuffle",
    "one_hot", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_",
})  # fmt: skip
"""Of ``torch.nn.functional``, what is written in C (a test compares both tables with torch)."""
_IN_PYTHON: Final = frozenset({
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
    "cdist", "chain_matmul", "compile", "cond", "einsum", "from_dlpack", "is_storage", "is_tensor", "load", "lobpcg",
    "lu",
    "manual_seed", "meshgrid", "norm", "pca_lowrank", "save", "seed", "split", "stft", "svd_lowrank", "tensordot",
    "typename", "unique", "unique_consecutive", "unravel_index", "vmap", "while_loop",
})  # fmt: skip
"""Of ``torch``, what is written in Python."""


_OF_SYSTEM: Final = ("pathlib.Path", "pathlib.PurePath")
"""Classes that make objects of another class, which depends on the system."""
_OF_SHARDED: Final = ("set_", "reshard", "unshard", "reset_iter_state")
"""How the methods begin that `fully_shard` gives a module."""
_OF_CLASSES: Final = (Function, Native, Property, StaticMethod, Class)


def _of_instance(run: Interpreter, value: Instance, name: str) -> Value:
    if descriptors.READS in value.cls.metadata or descriptors.READS in value.cls.mro[-1].metadata:
        return descriptors.asked_first(run, value, name, lambda: _plainly(run, value, name))
    return _plainly(run, value, name)


def _plainly(run: Interpreter, value: Instance, name: str) -> Value:
    """``object.__getattribute__(value, name)``, and ``__getattr__`` where there is none."""
    in_class = value.cls.find(name)
    if in_class is not None and descriptors.is_data(in_class[0]):
        return _computed(run, in_class[0], value, value.cls, name)
    if in_class is not None and isinstance(in_class[0], Property):
        held = value.cells.get(name, MISSING)
        if in_class[0].cached and descriptors.slots(value.cls) is not None:  # it has no place for its value
            guards.may_raise(run, guards.ANY)
            return run.unknown(f"{name} of an object without a dict")
        if in_class[0].cached and held is not MISSING:
            return held
        found = _computed(run, in_class[0], value, value.cls, name)
        if in_class[0].cached:
            run.heap.write(value.cells, name, found)
        return found
    if name in value.cells:
        found = value.cells[name]
        if in_class is not None and branches.may_be_missing(run, found):
            return items.or_else(found, bind(run, in_class[0], value, in_class[1]))
        if type(found) is Unknown and found.of is not None:
            return stand_ins.attribute(run, value, name, found)
        if found is not MISSING:
            return found
    if value.native is not None:
        found = layers.attribute(run, value, name)
        if found is not MISSING:
            return found
    if in_class is not None:
        if value.state.get("open") and not isinstance(in_class[0], _OF_CLASSES):
            return run.derived(f".{name}", value, None, type=None)  # a default: the object may have another value
        return _computed(run, in_class[0], value, in_class[1], name)
    if value.state.get("sharded") and name.startswith(_OF_SHARDED):
        return run.derived(f".{name}", value, None, type=None)
    if name == "__class__":
        return value.cls if value.cls.qualified not in _OF_SYSTEM else run.unknown("which kind of path it is")
    if name == "__dict__" and descriptors.slots(value.cls) is None:
        return attributes_of(run, value) if has_dict(run, value) else run.unknown("the attributes of an object")
    held = behind(value)
    if held is not value:
        if value.state.get("mirrored") and name in held.cells:
            return held.cells[name]
        if name in METHODS.get(type(held), {}):
            return BoundNative(name, held)
    hook = value.cls.find("__getattr__")
    if hook is not None:
        if value.state.get("open"):  # it may have the attribute itself
            guards.may_raise(run, guards.ANY)
            return run.derived(f".{name}", value, None, type=None)
        return run.call(bind(run, hook[0], value, hook[1]), (name,))
    if not value.state.get("listed") and members.is_layer_of_torchs(value):
        of_none = not value.state.get("open") and layers.is_of_none(value.native, name) and members.is_alone(run, name)
        if of_none or layers.lacks(value.native, name):
            return MISSING
    elif (
        members.derives_from_torchs(run, value)
        and layers.is_of_none(value.native, name)
        and members.is_alone(run, name)
    ):
        return MISSING
    if value.cls.unknown_base is not None or value.state.get("open") or value.cls.native is not None:
        events.ATTRIBUTE(run, value, name)
        return run.derived(f".{name}", value, None, type=None)
    is_module = value.cls.is_a(members.MODULE)
    if name in _OF_OBJECTS or (name in _BY_NAME and (is_module or name != "__getattr__")):
        return Native(name, lambda run, args, kwargs: _BY_NAME[name](run, (value, *args), kwargs))
    if name == "__call__" and is_module:
        return Native(name, lambda run, args, kwargs: run.call(value, args, kwargs))
    if name == "_orig_mod" and value.state.get("compiled"):
        return value
    if name == "_modules" and is_module:
        return _modules_of(run, value)
    if value.state.get("listed") or _every_has(value.cls, name):
        return run.derived(f".{name}", value, None, type=None)
    if value.cls.metadata.get("exact") or members.knows_all(run, value.cls):
        return MISSING
    if run.questions and members.is_followed(run, value.cls):
        return MISSING
    if members.is_named_tuple(run, value) and name not in members.NAMED_TUPLE_HAS:
        return MISSING
    events.ATTRIBUTE(run, value, name)
    return run.unknown(f"attribute {name!r}")


def _computed(run: Interpreter, found: Value, value: Instance, owner: Class, name: str) -> Value:
    """The attribute of an object's class; where that says that there is none, ``__getattr__`` is asked."""
    hook = value.cls.find("__getattr__")
    if hook is None or not isinstance(hook[0], Function):
        return bind(run, found, value, owner)
    try:
        return bind(run, found, value, owner)
    except Raised as error:
        if "AttributeError" not in (error.name, *error.bases):
            raise
    return run.call(Method(hook[0], value), (name,))


def _modules_of(run: Interpreter, value: Instance) -> Dict:
    """``module._modules``: the modules inside by name. What is put into it may be an attribute."""
    if run.heap.recorders:
        note(run.heap, value)
    run.heap.write(value.state, "listed", True)
    rest = MISSING if layers.holds_known(run, value) else run.unknown("a module")
    return Dict(dict(layers.children(run, value)), rest)


def _every_has(cls: Class, name: str) -> bool:
    """Whether all modules of torch, or all objects of one of Python's classes, have an attribute of this name."""
    return members.torch_has(cls, name) or kinds.in_python(cls, name)


_OF_MANY: Final = frozenset({"__dict__", "__module__", "__weakref__", "__annotations__"})
_OF_ALL: Final = frozenset(dir(object)) | _OF_MANY
"""What every object has, or may have."""


def _is_without(run: Interpreter, value: Value, name: str) -> bool:
    if isinstance(value, Instance):
        slots = descriptors.slots(value.cls)
        return name in ("__dict__", "__weakref__") and slots is not None and name not in slots
    return kinds.has_attribute(value, name) is False


def has_dict(run: Interpreter, value: Instance) -> bool:
    """Whether an object's dict has its attributes, as far as they are known: those of exceptions have others."""
    cls = value.cls
    if "tuple" in cls.metadata or cls.is_a("builtins.BaseException"):
        return False
    known = all(c.module in ("", "builtins", run.program.main) for c in cls.mro) or members.knows_all(run, cls)
    return known or bool(cls.metadata.get("exact")) or cls.is_a(members.MODULE)


def attributes_of(run: Interpreter, value: Instance) -> Dict:
    """``vars(value)``: what is put into it is an attribute."""
    held = behind(value)
    if isinstance(held, Dict) and value.state.get("mirrored"):
        return held
    run.heap.write(value.state, "dict", True)
    registers = value.cls.is_a(members.MODULE)  # what that is isn't here, but in "_modules" and the like
    may_have_more = registers or "open" in value.state
    made = Dict({}, run.unknown("an attribute") if may_have_more else MISSING)
    made.cells = value.cells
    if registers:
        run.heap.write(value.state, "listed", True)
        made.state["registers"] = True
    elif not may_have_more:
        made.state = value.state  # what is put into the one without a name, may be an attribute of the other
    return made


def _of_class(run: Interpreter, value: Class, name: str) -> Value:
    found = value.find(name)
    is_abstract = value.metadata.get(metaclasses.ABC) or abstract.asked_class(value) is not None
    if name == "register" and found is None and is_abstract:
        value.metadata[metaclasses.REGISTERS] = True
    if descriptors.META in value.metadata and (own := descriptors.of_metaclass(run, value, name, found)) is not None:
        return own
    if found is not None and name == "__annotations__" and type(found[0]) is dict:
        return run.unknown(f"{name} of a class")
    if found is not None:
        return run.each(found[0], lambda inner: _held_by_class(run, value, inner))
    if name == "__name__":
        return value.name
    if name == "__qualname__":
        return _qualified(run, value)
    if value.module == "builtins" and (work := _unbound(value.name, name)) is not None:
        return Native(f"{value.name}.{name}", work)
    if name == "__module__":
        return value.module
    if name in ("__mro__", "__bases__"):
        if value.unknown_base is not None:
            return run.unknown(f"{name} of a class")
        return value.mro if name == "__mro__" else value.bases
    if name == "__members__" and "members" in value.metadata:
        named = value.metadata.get("named") or {m.cells["name"]: m for m in value.metadata["members"]}
        return Dict(dict(named))
    if name == "__dict__":
        return Dict(
            {n: v for n, v in value.cells.items() if n != "__qualname__"}, run.unknown("an attribute of a class")
        )
    if name == "mro":
        return Native("mro", lambda run, args, kwargs: List(value.mro))
    if hasattr(type, name) or name == "__annotations__":
        return run.unknown(f"{name} of a class")
    if name.startswith(("__dataclass_", "__match_args__")) and any("dataclass" in c.metadata for c in value.mro):
        return run.unknown(f"{name} of a class")
    if (work := NATIVES.get(f"{value.qualified}.{name}")) is not None:
        return work
    if value.qualified == "torch.Tensor" and is_of_tensors(name) and name not in _NO_METHODS:
        return _tensor_method(name)
    is_open = value.unknown_base is not None or value.module not in ("", run.program.main)
    if is_open or _every_has(value, name) or not members.knows_all(run, value):
        return run.unknown(f"attribute {name!r} of class {value.name}")
    return MISSING


def _held_by_class(run: Interpreter, cls: Class, found: Value) -> Value:
    """A value of a class, as the class itself sees it."""
    if type(found) is Instance and found.cls.find("__get__") is not None:
        return bind(run, found, cls, cls)
    if isinstance(found, StaticMethod):
        return Method(found.function, cls) if found.of_class else found.function
    if type(found) is Native and found.name.startswith(f"{members.MODULE}."):
        refused = events.CLASS_METHOD(run, cls, found)
        return found if refused is None else refused
    return found


def _set_plainly(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """``object.__setattr__(value, name, new)``."""
    owner, name, new = run.resolve(args[0]), run.resolve(args[1]), args[2]
    if isinstance(owner, Class):
        raise kinds.error("TypeError")
    if not isinstance(owner, Instance):
        put(run, owner, name, new)
    elif isinstance(name, str):
        if not descriptors.store(run, owner, name, new):
            run.heap.write(owner.cells, name, new)
    else:
        for held in list(owner.cells):
            run.heap.write(owner.cells, held, run.unknown("an attribute that was set by a name that isn't known"))
        run.heap.write(owner.state, "open", True)


def _delete_plainly(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """``object.__delattr__(value, name)``."""
    owner, name = run.resolve(args[0]), run.resolve(args[1])
    if isinstance(owner, Class):
        raise kinds.error("TypeError")
    if isinstance(owner, Instance) and isinstance(name, str):
        _remove(run, owner, name)


_OF_OBJECTS: Final[dict[str, Callable[..., Value]]] = {"__setattr__": _set_plainly, "__delattr__": _delete_plainly}


def _get_by_name(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``value.__getattr__(name)``."""
    owner, name = run.resolve(args[0]), run.resolve(args[1])
    if not isinstance(name, str):
        return run.derived("__getattr__", owner, name, type=None)
    found = _plainly(run, owner, name) if isinstance(owner, Instance) else find(run, owner, name)
    if found is MISSING:
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    return found


_BY_NAME: Final[dict[str, Callable[..., Value]]] = {
    **_OF_OBJECTS,
    **dict.fromkeys(("__getattr__", "__getattribute__"), _get_by_name),
}
_COLLECTIONS: Final[dict[str, type]] = {"dict": Dict, "list": List, "set": Set, "str": str}
_ITEM_METHODS: Final[dict[str, Callable[..., Value]]] = {
    "__getitem__": items.get,
    "__setitem__": items.put,
    "__delitem__": items.remove,
}


@cache  # so that one is itself: a program may compare them
def _tensor_method(name: str) -> Native:
    """``torch.Tensor.add`` as a function of the tensor and the rest."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        if not args:
            raise kinds.error("TypeError")
        return run.call(run.attribute(args[0], name), args[1:], kwargs)

    return Native(f"torch.Tensor.{name}", work)


def _unbound(owner: str, name: str) -> Callable[..., Value] | None:
    """``dict.get`` as a function of the dict and the rest."""
    if owner == "object" and (name in _OF_OBJECTS or name == "__getattribute__"):
        return _BY_NAME[name]
    if owner == "type" and name in _OF_OBJECTS:
        return _of_type
    if owner not in _COLLECTIONS:
        return None
    kind, item = _COLLECTIONS[owner], _ITEM_METHODS.get(name)
    work = METHODS[kind].get(name) or (None if item is None else _with_items(item))
    return None if work is None else partial(_by_class, kind, work)


def _of_type(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """``type.__setattr__(cls, name, new)``, ``type.__delattr__(cls, name)``."""
    name = run.resolve(args[1])
    if not isinstance(name, str):
        run.escape(args)
    elif len(args) > 2:
        put(run, args[0], name, args[2])
    else:
        delete(run, args[0], name)


def _with_items(item: Callable[..., Value]) -> Callable[..., Value]:
    return lambda run, args, kwargs: item(run, *args)


def _by_class(
    kind: type, work: Callable[..., Value], run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """``list.sort(value)``: an object of another kind is refused, if it is no subclass's that isn't known."""
    held = behind(run.resolve(args[0])) if args else None
    if not isinstance(held, kind) or isinstance(held, View):
        return run.call_in_the_dark(run.unknown("a method of another class"), args, kwargs)
    return work(run, (held, *args[1:]), kwargs)


def _of_super(run: Interpreter, value: Super, name: str) -> Value:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, Class):
        return run.unknown("super() of what isn't known")
    if (own := metaclasses.of_type(run, value, name)) is not MISSING:
        return own
    found = cls.find(name, after=value.after)
    if name == "__init__" and isinstance(receiver, Instance) and not (found and isinstance(found[0], Function)):
        members.begun(run, receiver)
    if found is not None:
        return bind(run, found[0], receiver, cls)
    for base in cls.mro:
        work = _unbound(base.name, name) if base.module == "builtins" and behind(receiver) is not receiver else None
        if work is not None:
            return Method(Native(name, work), receiver)
    if name == "__init__" and isinstance(receiver, Instance) and cls.is_a("builtins.BaseException"):
        return Native(name, lambda run, args, kwargs: run.heap.write(receiver.cells, "args", args))
    if name in ("__class_getitem__", "__init__", "__init_subclass__", "__post_init__", "__setattr__"):
        if cls.unknown_base is not None and isinstance(receiver, Instance):
            run.heap.write(receiver.state, "open", True)
        if name == "__setattr__" and not cls.is_a("torch.nn.Module"):
            return Native(name, lambda run, args, kwargs: _set_plainly(run, (receiver, *args), kwargs))
        if name == "__setattr__":
            return Native(name, lambda run, args, kwargs: run.heap.write(receiver.cells, args[0], args[1]))
        if name == "__class_getitem__" and isinstance(receiver, Class):
            return Native(name, lambda run, args, kwargs: receiver)
        if name == "__init_subclass__" and isinstance(receiver, Class):
            return Native(name, lambda run, args, kwargs: metaclasses.of_object(receiver, kwargs))
        return Native(name, lambda run, args, kwargs: None)
    if name == "__call__" and isinstance(receiver, Instance) and cls.is_a(members.MODULE):
        return Native(name, lambda run, args, kwargs: layers.call(run, receiver, args, kwargs))
    if name == "__new__":
        return Native(name, lambda run, args, kwargs: _new(run, args))
    if name == "__getattribute__" and isinstance(receiver, Instance):
        return Native(name, lambda run, args, kwargs: _get_by_name(run, (receiver, *args), kwargs))
    if name == "__delattr__" and isinstance(receiver, Instance):
        return Native(name, lambda run, args, kwargs: _delete_plainly(run, (receiver, *args), kwargs))
    if name == "__getattr__" and isinstance(receiver, Instance):
        return Native(name, lambda run, args, kwargs: receiver.cells.get(args[0], run.unknown("an attribute")))
    return run.unknown(f"{name} of what a class is derived from")


def _new(run: Interpreter, args: tuple[Value, ...]) -> Value:
    """``object.__new__(cls)``, or that of one of Python's collections.

    Raises:
        Raised: it is given arguments that nothing takes.
    """
    cls = run.resolve(args[0]) if args else None
    if len(args) > 1 and isinstance(cls, Class) and _is_plain_object(run, cls):
        ends, begins = cls.find("__init__"), cls.find("__new__")
        if begins is not None or ends is None:
            raise kinds.error("TypeError")
    return Instance(cls, kinds.collection_of(cls)) if isinstance(cls, Class) else run.unknown("an object")


def _is_plain_object(run: Interpreter, cls: Class) -> bool:
    """Whether the program's classes are all that an object is made by."""
    own = [c for c in cls.mro if c.qualified != "builtins.object"]
    return cls.unknown_base is None and all(c.module == run.program.main and "dataclass" not in c.metadata for c in own)


# -- the rest --------------------------------------------------------------------------------------------------------


def _of_namespace(run: Interpreter, value: Namespace, name: str) -> Value:
    if value.path is not None and run.heap.recorders:
        note_name(run.heap, value.cells, name)
    if name in value.cells:
        return value.cells[name]
    if name == "__name__":
        return value.name
    if RELOADED in value.cells:
        return run.derived(f".{name}", value, None, type=None)
    if name == "__dict__":
        names = [n for n in value.cells if isinstance(n, str)]
        known = value.path is not None and run.program.has_all_names(value.cells)
        rest = MISSING if known else run.unknown(f"a name in {value.name}")
        if value.path is None:
            return run.program.names_of(run, value.name)
        return Dict({n: value.cells[n] if known else find(run, value, n) for n in names}, rest)
    found = run.program.member(run, value, name)
    if type(found) is Unknown and (refused := events.NO_NAME(run, value.name, name, "AttributeError")) is not None:
        return refused
    return found


def _qualified(run: Interpreter, value: Function | Class) -> Value:
    """The name with those of the classes around it; unknown inside of functions."""
    if isinstance(value, Class):
        found = value.metadata.get(metaclasses.QUALIFIED, value.name)
    elif value.owner is not None:
        found = f"{around}.{value.name}" if isinstance(around := _qualified(run, value.owner), str) else None
    else:
        found = value.name if value.scope is value.scope.globals else None
    return run.unknown("a name", "str") if found is None else found


def _of_function(run: Interpreter, value: Function, name: str) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    if name == "__name__":
        return value.name
    if name == "__qualname__":
        return _qualified(run, value)
    if name == "cache_clear" and value.answers is not None:
        return Native(name, lambda run, args, kwargs: _clear(run, value.answers))
    if name == "__wrapped__" and value.answers is not None:
        return replace(value, answers=None)
    if name == "__module__":
        return value.scope.globals.cells.get("__name__", run.unknown("a name", "str"))
    return run.unknown(f"{name} of a function")


def _clear(run: Interpreter, held: Dict | None) -> None:
    assert held is not None
    for key in list(held.cells):
        run.heap.write(held.cells, key, MISSING)


def _of_method(run: Interpreter, value: Method, name: str) -> Value:
    if name == "__self__":
        return value.receiver
    if name == "__func__":
        return value.function
    return find(run, value.function, name)


def _of_native(run: Interpreter, value: Native, name: str) -> Value:
    if name == "__name__" or (name == "__qualname__" and "." not in value.name):
        return value.name.rpartition(".")[2]
    if name == "__qualname__":
        return run.unknown("the name of a library's function", "str")
    if name == "apply":
        return value
    inner = run.program.library(run, f"{value.name}.{name}")
    return run.unknown(f"{value.name}.{name}") if inner is MISSING else inner


def _of_property(run: Interpreter, value: Property, name: str) -> Value:
    if name == "setter":
        return Native(name, lambda run, args, kwargs: Property(value.getter, args[0], value.cached, value.deleter))
    if name == "deleter":
        return Native(name, lambda run, args, kwargs: Property(value.getter, value.setter, value.cached, args[0]))
    if name == "getter":
        return Native(name, lambda run, args, kwargs: Property(args[0], value.setter, value.cached, value.deleter))
    if name in ("fget", "fset", "fdel", "func"):
        return {"fset": value.setter, "fdel": value.deleter}.get(name, value.getter)
    return run.unknown(f"{name} of a property")


def _of_dtype(run: Interpreter, value: DType, name: str) -> Value:
    if name == "is_floating_point":
        return value.category == "float"
    if name == "is_complex":
        return value.category == "complex"
    if name == "itemsize":
        return value.bits // 8
    return run.unknown(f"{name} of a dtype")


def _of_device(run: Interpreter, value: Device, name: str) -> Value:
    if name in ("__enter__", "__exit__"):
        return run.unknown(f"{name} of a device")
    return {"type": value.type, "index": value.index}.get(name, MISSING)


def _of_fields(run: Interpreter, value: Fields, name: str) -> Value:
    if name in value.names:
        return value[value.names.index(name)]
    return MISSING if kinds.has_attribute(value, name) is False else BoundNative(name, value)


def _class_of(run: Interpreter, value: Value) -> Value:
    """``type(value)`` of a value of Python's, a tensor or an array."""
    if isinstance(value, Tensor):
        if value.array and value.type.shape.rank in (0, None):  # it may be a number
            return run.unknown("the class of an array or a number")
        name = "numpy.ndarray" if value.array else "torch.nn.Parameter" if value.type.is_parameter else "torch.Tensor"
        return run.program.library_class(name)
    if isinstance(value, Sizes):
        return run.program.library_class("torch.Size")
    if isinstance(value, Dict) and value.kind in ("OrderedDict", "defaultdict", "Counter"):
        return run.program.library(run, f"collections.{value.kind}")
    kind = "str" if isinstance(value, str) else "tuple" if is_tuple(value) else type(value).__name__.lower()
    return run.program.builtin(run, kind)


def _of_plain(run: Interpreter, value: Value, name: str) -> Value:
    if name == "__class__":
        return _class_of(run, value)
    if name in ("__name__", "__qualname__"):
        return run.unknown("a name", "str")
    if isinstance(value, Iterator) and name.startswith("gi_"):
        return run.unknown(f".{name} of a generator")
    if isinstance(value, StaticMethod | BoundNative):
        known = value.function if isinstance(value, StaticMethod) and name in ("__func__", "__wrapped__") else None
        known = value.receiver if isinstance(value, BoundNative) and name == "__self__" else known
        return run.unknown(f".{name} of a method") if known is None else known
    if isinstance(value, slice) and name in ("start", "stop", "step"):
        return getattr(value, name)
    if kinds.has_attribute(value, name) is not False:
        if not all(callable(getattr(w, name, callable)) for w in kinds.witnesses(value)):
            found = getattr(value, name, None) if is_known(value) else None
            return run.unknown(f".{name} of a value") if found is None or not is_known(found) else found
        return BoundNative(name, value)
    # a default: an unknown caller gives something else
    return run.unknown("an attribute of None") if value is None and run.entry else MISSING


_READERS: Final[dict[type, Callable[[Any, Any, str], Value]]] = {
    Tensor: _of_tensor,
    Instance: _of_instance,
    Class: _of_class,
    Super: _of_super,
    Namespace: _of_namespace,
    Function: _of_function,
    Method: _of_method,
    Native: _of_native,
    Property: _of_property,
    DType: _of_dtype,
    Device: _of_device,
    devices.Chosen: _of_device,
    Fields: _of_fields,
}


# -- writing ---------------------------------------------------------------------------------------------------------


def put(run: Interpreter, value: Value, name: str, new: Value) -> None:
    """``value.name = new``."""
    value = run.resolve(value)
    if run.promises:
        events.CHANGE(run, value)
    if isinstance(value, Choice):
        branches.distribute(run, value, lambda v: put(run, v, name, new))
    elif isinstance(value, Tensor):
        _put_on_tensor(run, value, name, new)
    elif isinstance(value, Instance):
        hook = value.cls.find("__setattr__")
        if hook is not None and isinstance(hook[0], Function | Native):
            run.call(Method(hook[0], value), (name, new))
            return
        if hook is not None and isinstance(hook[0], Unknown):
            run.call_in_the_dark(hook[0], (value, new), {})
            return
        descriptors.refuse_frozen(value.cls, name)
        if descriptors.store(run, value, name, new):
            return
        if name == "__dict__":
            _put_all(run, value, new)
            return
        if name == "__class__":
            _put_class(run, value, run.resolve(new))
            return
        events.ASSIGN(run, value, name, new)
        layers.note_change(run, value, name, new)
        run.heap.write(value.cells, name, new)
    elif isinstance(value, Class | Namespace):
        _refuse_of_python(value)
        if isinstance(value, Class) and any(m.cells.get("name") == name for m in value.metadata.get("members", ())):
            raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
        if isinstance(value, Class) and value.unknown_base is not None:  # its metaclass may refuse it
            guards.may_raise(run, guards.ANY)
        run.remembered.clear()  # what a class holds isn't noted call by call
        if name == descriptors.READS and isinstance(value, Class):  # for the classes that derive from it too
            value.mro[-1].metadata[descriptors.READS] = True
        if name == "__bases__" and isinstance(value, Class):
            _rebase(run, value)
            return
        run.heap.write(value.cells, name, new)
    elif isinstance(value, Function):
        run.heap.write(value.attributes, name, new)
    elif isinstance(value, Unknown) and value.matrix is not None and name != "requires_grad":
        sparsity.put(value, name, run.resolve(new))
    elif name == "requires_grad" and isinstance(value, Unknown):
        gradients.freeze(run, value, new)
    elif kinds.is_of_python(value) and not isinstance(value, Dict):  # an OrderedDict has what it is given
        if events.LACKS(run, value, name) is not None:
            return
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    else:
        guards.may_raise(run, guards.ANY)


def _rebase(run: Interpreter, cls: Class) -> None:
    """``cls.__bases__ = …``: it inherits other names from here on; no name is certain any more."""
    guards.may_raise(run, guards.ANY)
    cls.metadata[metaclasses.REBASED] = True
    cls.unknown_base = run.unknown("what a class has whose bases were set")
    order = metaclasses.special(cls, "mro")
    if order is not None:
        run.call(order, ())
    for name in {n for base in cls.mro for n in base.cells if isinstance(n, str)} - {*cls.cells}:
        run.heap.write(cls.cells, name, cls.unknown_base)


def _refuse_of_python(value: Class | Namespace) -> None:
    """Attributes of Python's own classes are neither set nor deleted.

    Raises:
        Raised: it is one.
    """
    if isinstance(value, Class) and value.module == "builtins" and kinds.real(value) is not None:
        raise kinds.error("TypeError")


def _put_class(run: Interpreter, value: Instance, cls: Value) -> None:
    """``value.__class__ = cls``: its methods are those of another class from here on.

    Raises:
        Raised: it is no class, or one of Python's.
    """
    if kinds.is_of_python(cls) or (isinstance(cls, Class) and cls.module == "builtins" and value.native is None):
        raise kinds.error("TypeError")
    both = [*value.cls.mro, *(cls.mro if isinstance(cls, Class) else ())]
    for name in {n for kind in both for n in kind.cells if isinstance(n, str)}:
        if name not in value.cells:
            run.heap.write(value.cells, name, run.unknown("what an object has that became one of another class"))
    run.heap.write(value.state, "open", True)
    run.heap.write(value.cells, "__class__", cls)


def delete(run: Interpreter, value: Value, name: str) -> None:
    """``del value.name``.

    Raises:
        Raised: there is no such attribute for sure, or it can't be deleted.
    """
    value = run.resolve(value)
    if run.promises:
        events.CHANGE(run, value)
    if isinstance(value, Choice):
        branches.distribute(run, value, lambda v: delete(run, v, name))
    elif isinstance(value, Instance):
        hook = value.cls.find("__delattr__")
        if hook is not None and isinstance(hook[0], Function):
            run.call(Method(hook[0], value), (name,))
            return
        if hook is not None and isinstance(hook[0], Unknown):
            run.call_in_the_dark(hook[0], (value,), {})
            return
        descriptors.refuse_frozen(value.cls, name)
        _remove(run, value, name)
    elif isinstance(value, Class | Namespace):
        _refuse_of_python(value)
        if isinstance(value, Namespace) and name not in value.cells:
            guards.may_raise(run, _LACKS)
        run.remembered.clear()
        is_member = isinstance(value, Class) and any(
            m.cells.get("name") == name for m in value.metadata.get("members", ())
        )
        if is_member or (name not in value.cells and isinstance(value, Class) and value.unknown_base is None):
            raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
        run.heap.write(value.cells, name, MISSING)
    elif isinstance(value, Function):
        if name not in value.attributes and not hasattr(_a_function, name) and not value.scripted:
            raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
        run.heap.write(value.attributes, name, MISSING)
    elif isinstance(value, Tensor):
        if name in _FIXED or members.is_without(run, value, name):
            raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
        if name != "type":
            run.heap.write(value.cells, gradients.HAS_GRAD if name == "grad" else name, MISSING)
    elif kinds.is_of_python(value) and not isinstance(value, Dict):
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    else:
        guards.may_raise(run, guards.ANY)


def _a_function() -> None: ...


def _remove(run: Interpreter, value: Instance, name: str) -> None:
    if descriptors.remove(run, value, name):
        return
    held = value.cells.get(name, MISSING)
    if value.cls.metadata.get("tuple") and any(name == n for n, _ in value.cls.fields or ()):
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    if held is MISSING and not value.state.get("open") and value.native is None and members.knows_all(run, value.cls):
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    if branches.may_be_missing(run, held) or value.state.get("open"):
        guards.may_raise(run, _LACKS)
    layers.note_change(run, value, name, None)
    run.heap.write(value.cells, name, MISSING)


def _put_all(run: Interpreter, value: Instance, new: Value) -> None:
    """``value.__dict__ = new``; a dict that is its own ``__dict__`` has its items as attributes."""
    new = run.resolve(new)
    held = behind(new)
    if new is value and isinstance(held, Dict):
        run.heap.write(value.state, "mirrored", True)
    elif isinstance(held, Dict) and held.rest is MISSING and not value.cells:  # a new object: they are one from now on
        value.cells = held.cells
        run.heap.write(value.state, "dict", True)
    else:
        known = held.cells if isinstance(held, Dict) and held.rest is MISSING else {}
        for name in {*value.cells, *known}:
            run.heap.write(value.cells, name, known.get(name, run.unknown("an attribute")))
        run.heap.write(value.state, "open", True)


_FIXED: Final = frozenset({
    "H", "T", "device", "dtype", "grad_fn", "is_cpu", "is_cuda", "is_ipu", "is_leaf", "is_maia", "is_meta",
    "is_mkldnn", "is_mps", "is_mtia", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla",
    "is_xpu", "itemsize", "layout", "mH", "mT", "name", "nbytes", "ndim", "output_nr", "retains_grad", "shape",
})  # fmt: skip
"""Attributes of torch's tensors that can't be set (a test compares with torch)."""


def _put_on_tensor(run: Interpreter, value: Tensor, name: str, new: Value) -> None:
    if name in _FIXED and not value.array:
        raise Raised("AttributeError", None, _ATTRIBUTE_ERROR)
    if name in ("data", "shape"):
        LAYOUT.forget(run, value)
    if name == "data":
        new = run.resolve(new)
        kind = new.type if isinstance(new, Tensor) else TensorType()
        gradients.check_data(run, value, kind)
        layers.note_data(run, value, kind)
        run.heap.write(value.cells, "type", replace(kind, is_parameter=value.type.is_parameter))
    elif name == "shape":
        run.heap.write(value.cells, "type", TensorType(dtype=value.type.dtype))
    elif name == "requires_grad":
        gradients.freeze(run, value, new)
    elif name == "grad":
        run.heap.write(value.cells, gradients.HAS_GRAD, True)
    elif name != "type":
        run.heap.write(value.cells, name, new)
