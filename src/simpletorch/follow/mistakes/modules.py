"""Mistakes with classes and modules that Python or torch refuses: `tensor-class`.

A module whose class forgets ``super().__init__()``, one without ``forward``, a class where a module is needed, an
attribute that isn't there. Each is told only of objects of which everything is known; an `AttributeError` also needs
something that shows what was meant.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import (
    MISSING,
    BoundNative,
    Choice,
    Class,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Native,
    Tensor,
    Unknown,
    Value,
)
from simpletorch.rules import Device, ModuleRule
from simpletorch.rules.core.attributes import is_of_tensors, of_tensors

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "MODULE",
    "array_lacks",
    "begun",
    "check_arguments",
    "check_call_of_class",
    "check_held",
    "check_method",
    "check_operands",
    "check_options",
    "check_parameters",
    "check_statement",
    "holds_nothing_else",
    "is_alone",
    "is_bare",
    "is_followed",
    "is_layer_of_torchs",
    "is_misspelt",
    "is_of_mistake",
    "is_of_torchs_own",
    "is_without",
    "knows_all",
    "lacks",
    "lacks_forward",
    "may_be_module",
    "misfit",
    "none_lacks",
    "of_class",
    "refuse",
    "start",
    "starts_late",
    "tensor_lacks",
    "tensor_may_lack",
    "torch_has",
]

MODULE: Final = "torch.nn.Module"
_BASES: Final = ("Exception", "BaseException")
_BARE: Final = "bare"  # in the state of a module: ``Module.__init__`` hasn't run yet
_TOLD: Final = "told"  # of a class: that it stands where a module should is said
_CONTAINERS: Final = frozenset(
    f"torch.nn.{name}" for name in ("Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)
_HOLDERS: Final = _CONTAINERS - {MODULE} | {"torch.nn.Sequential"}
"""Modules that behave as a list or a dict: ``len(layers)``, ``layers + others``."""
_INSIDE_HOLDERS: Final = ("_get_abs_string_index", "_get_item_by_idx", "_key_to_attr", "_keys", "_size")
_KNOWN_BASES: Final = _CONTAINERS | {
    *("torch.nn.Sequential", "torch.utils.data.Dataset", "builtins.object", "abc.ABC", "typing.Generic"),
    *("argparse.Namespace",),
}
"""Classes of libraries whose objects have no attributes but those that the follower knows, and `_OF_MODULES`."""
_OF_MODULES: Final = frozenset({
    "T_destination", "add_layer", "add_module", "append", "apply", "bfloat16", "buffers", "call_super_init", "children",
    "clear", "compile", "copy", "cpu", "cuda", "double", "dump_patches", "eval", "extend", "extra_repr",
    "float", "forward", "fromkeys", "get", "get_buffer", "get_extra_state", "get_parameter", "get_submodule",
    "half", "insert", "ipu", "items", "keys", "load_state_dict", "modules", "mtia", "named_buffers",
    "named_children", "named_modules", "named_parameters", "parameters", "pop", "popitem",
    "register_backward_hook", "register_buffer", "register_forward_hook", "register_forward_pre_hook",
    "register_full_backward_hook", "register_full_backward_pre_hook", "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook", "register_module", "register_parameter",
    "register_state_dict_post_hook", "register_state_dict_pre_hook", "requires_grad_", "set_extra_state",
    "set_submodule", "setdefault", "share_memory", "state_dict", "to", "to_empty", "to_onnx",
    "to_torchscript", "train", "training", "type",
    "torch_class", "update", "values", "xpu", "zero_grad",
})  # fmt: skip
"""What modules and containers have, torch's and ours; names with an underscore in front are left alone."""
_OF_DATASETS: Final = frozenset({"cache", "filter", "map", "zip"})
"""What simpletorch's ``Dataset`` has and torch's hasn't."""
_INSIDE_MODULES: Final = frozenset({
    "_apply", "_backward_hooks", "_backward_pre_hooks", "_buffers", "_call_impl", "_compiled_call_impl",
    "_forward_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs", "_get_backward_hooks", "_get_backward_pre_hooks", "_get_name",
    "_is_full_backward_hook", "_load_from_state_dict", "_load_state_dict_post_hooks", "_load_state_dict_pre_hooks",
    "_maybe_warn_non_full_backward_hook", "_modules", "_named_members", "_non_persistent_buffers_set", "_parameters",
    "_register_load_state_dict_pre_hook", "_register_state_dict_hook", "_replicate_for_data_parallel",
    "_save_to_state_dict", "_slow_forward", "_state_dict_hooks", "_state_dict_pre_hooks", "_version",
    "_wrapped_call_impl", "__call__", "__getattr__", "__setstate__",
})  # fmt: skip
"""What ``nn.Module`` keeps for itself, and programs reach for."""
_TAKES_TENSORS: Final = frozenset({"weight", "pos_weight", "_weight", "data", "device", "dtype"})
_CALLED_ALONE: Final = frozenset({"backward", "step", "zero_grad", "train", "eval"})


def refuse(
    run: Interpreter, message: str, hint: str | None, error: str = "TypeError", code: str = "tensor-class"
) -> Unknown:
    """What Python or torch raises: a finding, or an exception where somebody may catch it.

    Raises:
        Raised: somebody may catch it.
    """
    raised = Raised(error, None, _BASES)
    if guards.is_caught(run, raised):
        raise raised
    run.find(code, message, hint)
    return run.unknown("an error was found here")


def _is_module(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a(MODULE)


# -- super().__init__() ----------------------------------------------------------------------------------------------


def start(made: Instance) -> None:
    """A module is made by a constructor of the program's, which must call that of ``nn.Module``.

    A metaclass, or a ``__new__`` of the program's, may have done it before.
    """
    decides = any("metaclass" in c.metadata or isinstance(c.cells.get("__new__"), Function) for c in made.cls.mro)
    if made.cls.unknown_base is None and not decides:
        made.state[_BARE] = True


def is_bare(value: Instance) -> bool:
    """Whether ``Module.__init__`` hasn't run yet."""
    return _BARE in value.state


def begun(run: Interpreter, value: Instance) -> None:
    """The constructor of a library's class has run."""
    if _BARE in value.state:
        run.heap.write(value.state, _BARE, MISSING)


def starts_late(run: Interpreter, module: Instance, name: str, new: Value) -> None:
    """``module.name = new`` before ``Module.__init__`` has run: torch has nowhere to put modules and parameters."""
    is_parameter = isinstance(new, Tensor) and new.type.is_parameter
    if module.state.get("open") or not (is_parameter or _is_module(new)):
        return
    kind = "parameter" if is_parameter else "module"
    cls = module.cls.name
    begun(run, module)  # said once
    message = f"{cls}.{name} is a {kind}, but super().__init__() has not been called: torch can't register it"
    refuse(run, message, f"super().__init__() as the first line of {cls}.__init__", "AttributeError")


# -- forward ---------------------------------------------------------------------------------------------------------


def misfit(run: Interpreter, module: Instance) -> Unknown | None:
    """A call of a module whose constructor hasn't called that of ``nn.Module``; None where nothing is said."""
    cls = module.cls
    if module.state.get("open"):
        return None
    begun(run, module)  # said once
    hint = f"super().__init__() as the first line of {cls.name}.__init__"
    message = f"{cls.name} is called, but its constructor has not called super().__init__()"
    return refuse(run, message, hint, "AttributeError")


def lacks_forward(run: Interpreter, module: Instance) -> Unknown | None:
    """A call of a module that has no ``forward``: what is said, None where it isn't sure that it has none."""
    cls = module.cls
    if module.state.get("open") or not _is_plain(cls) or not _is_known(run, cls):
        return None
    return refuse(run, f"{cls.name} has no forward, so it can't be called", _why_no_forward(cls), "NotImplementedError")


def _why_no_forward(cls: Class) -> str | None:
    own = [name for c in cls.mro for name, v in c.cells.items() if isinstance(v, Function)]
    close = _closest("forward", own)
    if close is not None:
        return f"{close} is spelt forward"
    for c in cls.mro:
        for name, value in c.cells.items():
            inner = value.node if isinstance(value, Function) else None
            if inner and any(isinstance(n, ast.FunctionDef) and n.name == "forward" for n in walk(inner)):
                return f"forward is defined inside {name}: it belongs one level further out"
    if cls.is_a("torch.nn.ModuleList"):
        return "call what it holds one after the other: for layer in layers: x = layer(x), or take an nn.Sequential"
    if cls.is_a("torch.nn.ModuleDict"):
        return "call one of its modules: modules[name](x)"
    return f"def forward(self, x) in {cls.name}"


def _is_plain(cls: Class) -> bool:
    """Whether nothing decides by itself which attributes an object of the class has."""
    if cls.unknown_base is not None or any("metaclass" in c.metadata for c in cls.mro):
        return False
    return cls.find("__getattr__") is None and cls.find("__getattribute__") is None


# -- a class or a method in the place of a module, a tensor, parameters ----------------------------------------------


def check_held(run: Interpreter, container: Instance, value: Value) -> Value:
    """What a container of modules is given, or what isn't known where it is no module."""
    name = container.cls.name
    found = run.resolve(value)
    if isinstance(found, Class) and found.is_a(MODULE):
        return refuse(run, f"{name} holds modules, but it is given the class {found.name}", f"{found.name}(...)")
    if isinstance(found, Function | Native | Method):
        shown = _name_of(found)
        lower = shown.rpartition(".")[2]
        hint = f"the module that does the same, such as {_MODULE_OF[lower]}()" if lower in _MODULE_OF else None
        hint = hint or "a module that calls it in its forward"
        return refuse(run, f"{name} holds modules, but it is given the function {lower}", hint)
    if isinstance(found, List) and container.cls.is_a("torch.nn.Sequential"):
        return refuse(run, f"{name} takes its modules one by one, but it is given a list", f"{name}(*layers)")
    return value


_MODULE_OF: Final = {
    **{
        name.lower(): f"nn.{name}" for name in ("ReLU", "Sigmoid", "Tanh", "GELU", "SiLU", "ELU", "Flatten", "Softplus")
    },
    "leaky_relu": "nn.LeakyReLU",
    "softmax": "nn.Softmax",
    "log_softmax": "nn.LogSoftmax",
    "dropout": "nn.Dropout",
}


def _name_of(value: Value) -> str:
    if isinstance(value, Method):
        return _name_of(value.function)
    return str(getattr(value, "name", value))


def check_arguments(run: Interpreter, name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a layer is made with a tensor in the place of an option: ``nn.ReLU(x)``, ``nn.MSELoss(x, y)``."""
    for key, value in arguments.items():
        if type(value) is not Tensor or value.array or key in _TAKES_TENSORS or not _has_several(value):
            continue
        short = name.rpartition(".")[2]
        message = f"{short}(...) makes a module, but {value.type} is given to it as its {key}"
        refuse(run, message, f"make it first: {short}()(...)")
        return True
    return False


def _has_several(value: Tensor) -> bool:
    """Whether a tensor surely has more than one element, so that it stands for no number."""
    shape = value.type.shape
    return bool(shape.min_rank) and any(isinstance(d, int) and d > 1 for d in shape.items)


def check_call_of_class(run: Interpreter, cls: Class, init: Function, args: tuple[Value, ...]) -> bool:
    """Whether a constructor is given more than it takes, and tensors among it, which were meant for ``forward``."""
    if _TOLD in cls.metadata:
        return True
    spec = init.node.args
    if spec.vararg is not None or len(args) < len([*spec.posonlyargs, *spec.args]) or not _is_plain(cls):
        return False
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is None:
        return False
    cls.metadata[_TOLD] = True
    message = f"{cls.name} is a class, but it is called with {given.type} as a module would be"
    refuse(run, message, f"make a module first: model = {cls.name}(...)")
    return True


def of_class(run: Interpreter, cls: Class, method: Native) -> Native:
    """A method of modules that a class is asked for: it needs a module in front."""
    if method.name.rpartition(".")[2] not in _OF_A_MODULE:
        return method

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        first = run.resolve(args[0]) if args else None
        if (not args or isinstance(first, Device | str)) and _TOLD in cls.metadata:
            return run.unknown("an error was found here")
        if not args or isinstance(first, Device | str):
            cls.metadata[_TOLD] = True
            hint = f"make a module first: model = {cls.name}(...)"
            return refuse(run, f"{cls.name} is a class, but {_short(method)} is called on it", hint)
        return method.work(run, args, kwargs)

    return Native(method.name, work)


def _short(value: Native) -> str:
    return value.name.rpartition(".")[2]


_OF_A_MODULE: Final = frozenset(
    {"parameters", "named_parameters", "to", "cuda", "train", "eval", "zero_grad", "state_dict"}
)


def check_options(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> bool:
    """Whether a class of modules without a constructor is given arguments, which ``Module.__init__`` refuses."""
    if not (args or kwargs) or not _is_plain(cls) or cls.find("__new__") is not None:
        return False
    misspelt = _misspelt_constructor(cls)
    hint = f"{misspelt} is spelt __init__" if misspelt else f"def __init__(self, ...) in {cls.name}"
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is not None and misspelt is None:
        hint = f"make it first: {cls.name}()(...)"
    refuse(run, f"{cls.name} is given arguments, but it has no __init__ that takes them", hint)
    return True


def is_of_mistake(value: Instance) -> bool:
    """Whether a finding about its class, or about how it was made, is told already."""
    return bool(value.state.get("open")) or _TOLD in value.cls.metadata


def check_operands(run: Interpreter, name: str, args: tuple[Value, ...]) -> Unknown | None:
    """A module or a class of modules in the place of an operation's tensor: what is said, None where it is none."""
    value = args[0]
    if name == "is_tensor":
        return None
    if isinstance(value, Class) and value.is_a(MODULE):
        kind, hint = f"the class {value.name}", f"{value.name}(...)(x)"
    elif isinstance(value, Instance) and _takes_no_operator(value):
        kind, hint = f"the module {value.cls.name}", f"call it: {value.cls.name}(...)(x)"
    else:
        return None
    return refuse(run, f"{name} takes a tensor, but it is given {kind}", hint)


def _takes_no_operator(value: Instance) -> bool:
    if not value.cls.is_a(MODULE) or not _is_plain(value.cls) or is_of_mistake(value):
        return False
    return not any(value.cls.find(n) for n in ("__torch_function__", "__array__", "__add__", "__iter__", "__getitem__"))


def check_parameters(run: Interpreter, optimizer: str, params: Value) -> bool:
    """Whether an optimizer is given a model, or the method that gives its parameters."""
    if isinstance(params, Method | BoundNative) and _name_of(params).endswith("parameters"):
        message = f"{optimizer} takes parameters, but it is given the method that gives them"
        refuse(run, message, "call it: model.parameters()")
        return True
    if isinstance(params, Iterator) and params.items == ():
        hint = "layers in a plain list or dict aren't the model's: put them into an nn.ModuleList or nn.ModuleDict"
        refuse(run, f"{optimizer} is given a model without parameters", hint, "ValueError")
        return True
    if isinstance(params, Instance) and _takes_no_operator(params) and params.cls.find("__iter__") is None:
        hint = "model.parameters()"
        layer = params.cls.native is not None and params.cls.qualified.startswith("torch.nn.")
        if params.cls.find("__getitem__") is not None or not (layer or _is_known(run, params.cls)):
            return False
        refuse(run, f"{optimizer} takes parameters, but it is given the module {params.cls.name}", hint)
        return True
    return False


def may_be_module(value: Value) -> bool:
    """Whether it isn't known if this is a module: its class may derive from one of a library's."""
    if isinstance(value, Instance):
        return value.cls.unknown_base is not None and not value.cls.is_a(MODULE)
    return isinstance(value, Unknown | Choice)


def holds_nothing_else(run: Interpreter, parts: Iterable[Instance]) -> bool:
    """Whether modules hold no parameters but those that are known."""
    return all(
        not m.state.get("open")
        and (not m.native.holds_modules if isinstance(m.native, ModuleRule) else _is_known(run, m.cls))
        and not any(may_be_module(run.resolve(v)) for v in m.cells.values())
        for m in parts
    )


def check_statement(run: Interpreter, value: Value, node: ast.Attribute) -> None:
    """``optimizer.step`` as a statement: a method that isn't called."""
    if node.attr not in _CALLED_ALONE or not isinstance(value, Method | BoundNative):
        return
    receiver = run.resolve(value.receiver)
    if isinstance(receiver, Tensor) or (
        isinstance(receiver, Instance)
        and any(receiver.cls.is_a(c) for c in (MODULE, "torch.optim.Optimizer", "torch.optim.lr_scheduler.LRScheduler"))
    ):
        shown = ast.unparse(node)
        run.find("tensor-training", f"{shown} is named here, but not called: nothing happens", f"{shown}()")


# -- attributes that aren't there --------------------------------------------------------------------------------------


def lacks(run: Interpreter, value: Value, name: str) -> Unknown:
    """An object has no attribute of this name: told where it is sure, and where it shows what was meant.

    Raises:
        Raised: nothing is told.
    """
    value = run.resolve(value)
    if isinstance(value, Tensor) and value.array and (meant := _meant_of_arrays(name)) is not None:
        return refuse(run, f"an array has no attribute {name!r}", f"did you mean {meant!r}?", "AttributeError")
    if isinstance(value, Tensor) and value.array:
        hint = "torch.from_numpy(...) makes a tensor of it"
        return refuse(run, f"an array has no attribute {name!r}, which a tensor has", hint, "AttributeError")
    if isinstance(value, Tensor) and (
        is_misspelt(value, name) or (is_without(run, value, name) and is_alone(run, name))
    ):
        close = _meant_of_tensors(name)
        hint = None if close is None else f"did you mean {close!r}?"
        return refuse(run, f"a tensor has no attribute {name!r}", hint, "AttributeError")
    if isinstance(value, Instance) and not name.startswith("__"):
        of_torch = value.cls.is_a(MODULE) and (name in _OF_MODULES or name[0] == "_")
        if name == "module" and value.cls.is_a(MODULE):  # of a DataParallel, where the machine has several GPUs
            return run.unknown("the module in a DataParallel")
        of_torch = of_torch or (name in _OF_DATASETS and value.cls.is_a("torch.utils.data.Dataset"))
        hint = _meant(run, value, name) if not of_torch and _is_complete(run, value) else None
        if hint is not None or (name[0] != "_" and not of_torch and _surely_lacks(run, value)):
            hint = hint or _inside(run, value, name) or _of_layer(run, value, name)
            return refuse(run, f"{value.cls.name} has no attribute {name!r}", hint, "AttributeError")
    raise Raised("AttributeError", None, _BASES)


def _of_layer(run: Interpreter, value: Instance, name: str) -> str | None:
    """An attribute of a layer of torch's that is spelt nearly so."""
    if not isinstance(value.native, ModuleRule):
        return None
    close = _closest(name, [*vars(value.native), "weight", "bias", *_held(value), *_in_class(run, value)])
    return None if close is None else f"did you mean {close!r}?"


def is_alone(run: Interpreter, name: str) -> bool:
    """Whether nothing in sight gives torch's objects an attribute of this name, and no library may."""
    names = run.program.mentions()
    if name in names.assigned or "*" in names.assigned or run.entry or run.hypothetical:
        return False
    if run.program.is_library or not run.program.is_whole:
        return False
    own = {module.partition(".")[0] for module in run.program.modules}
    return names.roots <= own | _ADD_NOTHING | sys.stdlib_module_names


_ADD_NOTHING: Final = frozenset((
    *("torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "sklearn", "matplotlib", "PIL", "cv2", "tqdm"),
    *("einops", "yaml", "tensorboardX", "tensorboard", "h5py", "gym", "gymnasium", "networkx"),
    *("skimage", "seaborn", "requests", "imageio", "torchtext", "transformers", "datasets", "nltk", "spacy"),
    "__future__",
))  # fmt: skip
"""Libraries that give torch's classes no attributes."""


def array_lacks(value: Tensor, name: str) -> bool:
    """Whether an array has no attribute of this name, which tensors have or which is misspelt."""
    if name.startswith("_") or name in _OF_ARRAYS or name in _OF_COLUMNS:
        return False
    if value.type.dtype is None and value.type.shape.rank in (0, None):
        return False  # an item of an array of texts, or of other objects
    return is_of_tensors(name) or (is_of_torchs_own(value) and _meant_of_arrays(name) is not None)


@lru_cache(maxsize=1024)
def _meant_of_arrays(name: str) -> str | None:
    """Which attribute of NumPy's arrays is misspelt by one letter; a plural may be a field's name."""
    if is_of_tensors(name) or name.removesuffix("s") in _OF_ARRAYS:
        return None
    return _closest(name, (n for n in _OF_ARRAYS if len(n) > 3), most=1)


_OF_ARRAYS: Final = frozenset({
    "T", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "base", "byteswap", "choose", "clip",
    "compress", "conj", "conjugate", "copy", "ctypes", "cumprod", "cumsum", "data", "device", "diagonal", "dot",
    "dtype", "dump", "dumps", "fill", "flags", "flat", "flatten", "getfield", "imag", "item", "itemset", "itemsize",
    "mT", "max",
    "mean", "min", "nbytes", "ndim", "newbyteorder", "nonzero", "partition", "prod", "ptp", "put", "ravel", "real",
    "repeat", "reshape", "resize", "round", "searchsorted", "setfield", "setflags", "shape", "size", "sort", "squeeze",
    "std", "strides", "sum", "swapaxes", "take", "to_device", "tobytes", "tofile", "tolist", "tostring", "trace",
    "transpose", "var", "view", "at", "addressable_shards", "is_integer", "bit_count", "hex", "block_until_ready",
    "H", "A", "I", "mask", "values", "index", "log", "exp", "sqrt", "where", "isin", "divide", "is_deleted", "delete",
    "sharding", "on_device_size_in_bytes", "names", "unique", "diff", "abs", "add", "apply_", "count", "empty", "map_",
})  # fmt: skip
"""Attributes of arrays, of numbers of NumPy's, of JAX's arrays, and of what is taken for an array."""

_OF_COLUMNS: Final = frozenset({"apply", "bfill", "ffill", "map", "nunique", "set_flags", "to_list", "to_string"})
"""Attributes of a table's columns, which NumPy's functions keep, that an attribute of arrays could be meant by."""


def tensor_may_lack(value: Tensor, name: str) -> bool:
    """Whether torch's tensors have no such attribute, and this one wasn't given it."""
    return not (name.startswith("_") or name in value.cells or value.array or is_of_tensors(name))


def tensor_lacks(value: Tensor, name: str) -> bool:
    """The same, and no library may have added it: some do to parameters, as in ``p.main_grad``.

    Of what isn't known torch makes what it is a class of: a proxy for a graph, a picture that has its own methods.
    """
    return is_of_torchs_own(value) and not value.type.is_parameter and tensor_may_lack(value, name)


def is_of_torchs_own(value: Tensor) -> bool:
    """Whether something is known of the tensor: it is no stand-in of a library's."""
    return value.type.dtype is not None or value.type.shape.rank is not None


def is_without(run: Interpreter, value: Tensor, name: str) -> bool:
    """The same, where no other class may be at work: a caller's own, or tensors over a mesh."""
    return is_misspelt(value, name) or (tensor_lacks(value, name) and not run.entry and not run.spreads)


def is_misspelt(value: Tensor, name: str) -> bool:
    """Whether an attribute that a tensor lacks is meant to be one of torch's."""
    return tensor_lacks(value, name) and _meant_of_tensors(name) is not None


@lru_cache(maxsize=1024)
def _meant_of_tensors(name: str) -> str | None:
    return _closest(name, of_tensors())


def is_layer_of_torchs(value: Instance) -> bool:
    """Whether an object's class is one of torch's own layers, and none that derives from it."""
    return isinstance(value.native, ModuleRule) and value.cls.native is not None


def derives_from_torchs(run: Interpreter, value: Instance) -> bool:
    """Whether an object's class derives from one of torch's layers, and all of its attributes are known."""
    if not isinstance(value.native, ModuleRule) or value.cls.native is not None or not _has_all(value):
        return False
    return all(
        c.module == run.program.main or c.native is not None or c.qualified in _KNOWN_BASES for c in value.cls.mro
    )


def _surely_lacks(run: Interpreter, value: Instance) -> bool:
    """Whether an attribute is certainly missing, though nothing shows what was meant.

    In code that the program doesn't call it isn't: a subclass elsewhere may define the attribute.
    """
    return not run.entry and (is_layer_of_torchs(value) or derives_from_torchs(run, value) or _is_complete(run, value))


def _inside(run: Interpreter, value: Instance, name: str) -> str | None:
    """Which of the modules in a container has the attribute."""
    for key, inner in value.cells.items():
        one = run.resolve(inner)
        if isinstance(one, Instance) and isinstance(key, str) and key.isdecimal() and _has(one, name):
            return f"its layer [{key}] has one"
    return None


def _has(value: Instance, name: str) -> bool:
    rule = value.native
    return name in value.cells or (isinstance(rule, ModuleRule) and name in {*vars(rule), *rule.attributes()})


def none_lacks(run: Interpreter, name: str) -> bool:
    """Whether None is asked for what tensors have, and that was said."""
    if name not in _OF_TENSORS or run.entry:
        return False
    hint = "a function that returns nothing gives None: is a return missing?"
    refuse(run, f"None has no {name}, which a tensor has", hint, "AttributeError")
    return True


def check_method(run: Interpreter, value: Instance, name: str) -> None:
    """A method of tensors is asked of one of torch's layers, as in ``x = nn.ReLU(); x.view(-1)``."""
    if name in _OF_TENSORS and value.cls.native is not None and _takes_no_operator(value):
        message = f"{value.cls.name} is a module, which has no {name}: that is a tensor's"
        refuse(run, message, f"of what it gives: {value.cls.name}(...)(x).{name}", "AttributeError")


_OF_TENSORS: Final = frozenset({
    "view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "mean", "sum", "backward", "item",
    "detach", "contiguous", "argmax", "shape", "numpy",
})  # fmt: skip
"""Attributes of tensors that none of torch's layers has."""


def _is_complete(run: Interpreter, value: Instance) -> bool:
    """Whether all attributes of an object are known."""
    return _has_all(value) and _is_known(run, value.cls)


def _has_all(value: Instance) -> bool:
    """Whether an object has the attributes that were assigned in sight, and no others."""
    return not any(map(value.state.get, ("open", "dict", "mirrored"))) and _is_plain(value.cls)


def torch_has(cls: Class, name: str) -> bool:
    """Whether torch's class has an attribute of this name, which may not be modelled."""
    as_holder = name.startswith("__") or name in _INSIDE_HOLDERS
    if as_holder and any(c.qualified in _HOLDERS for c in cls.mro):
        return True
    return cls.is_a(MODULE) and (name in _INSIDE_MODULES or name in _OF_MODULES)


def knows_all(run: Interpreter, cls: Class) -> bool:
    """Whether all attributes of the library classes among a class's bases are known."""
    return all(c.module in ("", run.program.main) or c.qualified in _KNOWN_BASES for c in cls.mro)


def is_followed(run: Interpreter, cls: Class) -> bool:
    """Whether a class and its bases are the program's, or followed in their source, or known bases.

    Other code that sets the attribute isn't looked for: this answers ``hasattr`` in the library itself.
    """
    if run.path not in run.program.packages.files:
        return False
    return all(
        c.module in ("", run.program.main) or c.qualified in _KNOWN_BASES or run.program.packages.defines(c.qualified)
        for c in cls.mro
    )


def _is_known(run: Interpreter, cls: Class) -> bool:
    return all(_is_own(run, c) for c in cls.mro)


def _is_own(run: Interpreter, cls: Class) -> bool:
    return cls.module == run.program.main or cls.qualified in _KNOWN_BASES


def _meant(run: Interpreter, value: Instance, name: str) -> str | None:
    """What shows that an attribute was meant to be there, and how it is right; None where nothing does."""
    misspelt = _misspelt_constructor(value.cls)
    if misspelt is not None and name in _assigned(value.cls, misspelt):
        run.heap.write(value.state, "open", True)  # said once
        return f"{misspelt} is spelt __init__"
    held = _held(value)
    if run.entry:  # a class that derives from this one, elsewhere, may have it
        close = _closest(name, [n for n in held if _letters(n) != _letters(name) and len(n) > 4], most=1)
        return None if close is None else f"did you mean {close!r}?"
    found = value.cls.find("__init__")
    init = found[0].node if found is not None and isinstance(found[0], Function) else None
    if init is not None and name in _locals(init):
        return f"{value.cls.name}.__init__ assigns {name}, which is gone when it ends: self.{name} = ..."
    close = _closest(name, [*held, *_in_class(run, value)])
    return None if close is None else f"did you mean {close!r}?"


def _held(value: Instance) -> list[str]:
    """The attributes that the program gave an object."""
    return [k for k, v in value.cells.items() if isinstance(k, str) and v is not MISSING]


def _in_class(run: Interpreter, value: Instance) -> list[str]:
    """The attributes that the program's classes give it."""
    return [k for c in value.cls.mro for k in c.cells if c.module == run.program.main and not k.startswith("__")]


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalpha())


def _locals(node: ast.AST) -> set[str]:
    """The variables that a function assigns."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _misspelt_constructor(cls: Class) -> str | None:
    """The name of a method that looks like ``__init__``, where the class has none."""
    if cls.module != "__main__" or isinstance(cls.cells.get("__init__"), Function):
        return None
    names = [n for n, v in cls.cells.items() if isinstance(v, Function) and n.startswith("_") and _assigned(cls, n)]
    return next((n for n in names if n != "__init__" and _distance(n.strip("_"), "init") < 2), None)


def _assigned(cls: Class, method: str) -> set[str]:
    """The attributes that a method of a class assigns to its object."""
    node = cls.cells[method].node
    me = node.args.args[0].arg if node.args.args else ""
    stores = [n for n in walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return {n.attr for n in stores if isinstance(n.value, ast.Name) and n.value.id == me}


def _closest(name: str, others: Iterable[str], most: int = 2) -> str | None:
    """The one among the names that was likely meant; None where none is near."""
    best: tuple[int, str] | None = None
    plain = name.lower().replace("_", "")
    for other in dict.fromkeys(others):
        bare = other.lower().replace("_", "")
        if min(len(plain), len(bare)) < 2 or abs(len(plain) - len(bare)) > most:
            continue
        found = _distance(plain, bare)
        near = found <= (1 if max(len(plain), len(bare)) < 6 else most)
        if near and (best is None or found < best[0]):
            best = found, other
    return None if best is None else best[1]


def _distance(a: str, b: str) -> int:
    """How many letters are to be changed, left out, added or swapped with their neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(row[-1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
