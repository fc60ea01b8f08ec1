"""Attributes of torch's objects, and of the program's that derive from them: surely there, surely not, or not known."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from simpletorch.follow.model import spelling
from simpletorch.follow.values import MISSING, Choice, Class, Function, Instance, Tensor, Unknown, Value
from simpletorch.rules import ModuleRule
from simpletorch.rules.core.attributes import is_of_tensors, of_tensors

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "MODULE",
    "NAMED_TUPLE_HAS",
    "OF_MODULES",
    "TOLD",
    "array_lacks",
    "begun",
    "derives_from_torchs",
    "has_all",
    "holds_nothing_else",
    "is_alone",
    "is_bare",
    "is_complete",
    "is_followed",
    "is_layer_of_torchs",
    "is_misspelt",
    "is_named_tuple",
    "is_of_mistake",
    "is_of_torchs_own",
    "is_own",
    "is_plain",
    "is_without",
    "knows_all",
    "may_be_module",
    "meant_of_arrays",
    "meant_of_tensors",
    "start",
    "takes_no_operator",
    "tensor_lacks",
    "tensor_may_lack",
    "torch_has",
]

MODULE: Final = "torch.nn.Module"
_BARE: Final = "bare"  # in the state of a module: ``Module.__init__`` hasn't run yet
TOLD: Final = "told"  # of a class: that it stands where a module should is said
_CONTAINERS: Final = frozenset(
    f"torch.nn.{name}" for name in ("Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)
_HOLDERS: Final = _CONTAINERS - {MODULE} | {"torch.nn.Sequential"}
"""Modules that behave as a list or a dict: ``len(layers)``, ``layers + others``."""
_INSIDE_HOLDERS: Final = ("_get_abs_string_index", "_get_item_by_idx", "_key_to_attr", "_keys", "_size")
_KNOWN_BASES: Final = _CONTAINERS | {
    *("torch.nn.Sequential", "simpletorch.nn.Sequential", "torch.utils.data.Dataset"),
    *("builtins.object", "abc.ABC", "typing.Generic"),
    *("argparse.Namespace", "types.SimpleNamespace"),
}
"""Classes of libraries whose objects have no attributes but those that the follower knows, and `OF_MODULES`."""
OF_MODULES: Final = frozenset({
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


def may_be_module(value: Value) -> bool:
    """Whether it isn't known if this is a module: its class may derive from one of a library's."""
    if isinstance(value, Instance):
        return value.cls.unknown_base is not None and not value.cls.is_a(MODULE)
    return isinstance(value, Unknown | Choice)


def holds_nothing_else(run: Interpreter, parts: Iterable[Instance]) -> bool:
    """Whether modules hold no parameters but those that are known."""
    return all(
        not m.state.get("open")
        and (not m.native.holds_modules if isinstance(m.native, ModuleRule) else is_own(run, m.cls))
        and not any(may_be_module(run.resolve(v)) for v in m.cells.values())
        for m in parts
    )


def takes_no_operator(value: Instance) -> bool:
    """Whether an object is a module that stands for no tensor in an operation."""
    if not value.cls.is_a(MODULE) or not is_plain(value.cls) or is_of_mistake(value):
        return False
    return not any(value.cls.find(n) for n in ("__torch_function__", "__array__", "__add__", "__iter__", "__getitem__"))


def is_of_mistake(value: Instance) -> bool:
    """Whether a finding about its class, or about how it was made, is told already."""
    return bool(value.state.get("open")) or TOLD in value.cls.metadata


def is_plain(cls: Class) -> bool:
    """Whether nothing decides by itself which attributes an object of the class has."""
    if cls.unknown_base is not None or any("metaclass" in c.metadata for c in cls.mro):
        return False
    return cls.find("__getattr__") is None and cls.find("__getattribute__") is None


def has_all(value: Instance) -> bool:
    """Whether an object has the attributes that were spelling.assigned in sight, and no others."""
    return not any(map(value.state.get, ("open", "dict", "mirrored"))) and is_plain(value.cls)


def is_complete(run: Interpreter, value: Instance) -> bool:
    """Whether all attributes of an object are known."""
    return has_all(value) and is_own(run, value.cls)


def is_named_tuple(run: Interpreter, value: Instance) -> bool:
    """Whether an object is a named tuple of the program's: it has its fields, and what all of them have."""
    bases = [c for c in value.cls.mro if c.module != run.program.main]
    are_known = all(c.qualified in _OF_NAMED_TUPLES for c in bases)
    return bool(value.cls.metadata.get("tuple")) and are_known and has_all(value)


_OF_NAMED_TUPLES: Final = ("typing.NamedTuple", "typing.Generic", "builtins.tuple", "builtins.object")
NAMED_TUPLE_HAS: Final = frozenset(dir(namedtuple("_", ())))


def is_own(run: Interpreter, cls: Class) -> bool:
    """Whether a class and its bases are the program's, or known bases."""
    return all(_is_base(run, c) for c in cls.mro)


def _is_base(run: Interpreter, cls: Class) -> bool:
    return cls.module == run.program.main or cls.qualified in _KNOWN_BASES


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


def torch_has(cls: Class, name: str) -> bool:
    """Whether torch's class has an attribute of this name, which may not be modelled."""
    as_holder = name.startswith("__") or name in _INSIDE_HOLDERS
    if as_holder and any(c.qualified in _HOLDERS for c in cls.mro):
        return True
    return cls.is_a(MODULE) and (name in _INSIDE_MODULES or name in OF_MODULES)


def is_layer_of_torchs(value: Instance) -> bool:
    """Whether an object's class is one of torch's own layers, and none that derives from it."""
    return isinstance(value.native, ModuleRule) and value.cls.native is not None


def derives_from_torchs(run: Interpreter, value: Instance) -> bool:
    """Whether an object's class derives from one of torch's layers, and all of its attributes are known."""
    if not isinstance(value.native, ModuleRule) or value.cls.native is not None or not has_all(value):
        return False
    return all(
        c.module == run.program.main or c.native is not None or c.qualified in _KNOWN_BASES for c in value.cls.mro
    )


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
    *("einops", "simpletorch", "yaml", "tensorboardX", "tensorboard", "h5py", "gym", "gymnasium", "networkx"),
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
    return is_of_tensors(name) or (is_of_torchs_own(value) and meant_of_arrays(name) is not None)


@lru_cache(maxsize=1024)
def meant_of_arrays(name: str) -> str | None:
    """Which attribute of NumPy's arrays is misspelt by one letter; a plural may be a field's name."""
    if is_of_tensors(name) or name.removesuffix("s") in _OF_ARRAYS:
        return None
    return spelling.closest(name, (n for n in _OF_ARRAYS if len(n) > 3), most=1)


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
    """Whether a tensor lacks it, and no library may have added it: some do to parameters, as in ``p.main_grad``.

    Of what isn't known torch makes what it is a class of: a proxy for a graph, a picture that has its own methods.
    """
    return is_of_torchs_own(value) and not value.type.is_parameter and tensor_may_lack(value, name)


def is_of_torchs_own(value: Tensor) -> bool:
    """Whether something is known of the tensor: it is no stand-in of a library's."""
    return value.type.dtype is not None or value.type.shape.rank is not None


def is_without(run: Interpreter, value: Tensor, name: str) -> bool:
    """Whether a tensor lacks it where no other class may be at work: a caller's own, or tensors over a mesh."""
    if name == "to_dlpack" and "simpletorch" in run.program.mentions().roots:  # which adds this method
        return False
    return is_misspelt(value, name) or (tensor_lacks(value, name) and not run.entry and not run.spreads)


def is_misspelt(value: Tensor, name: str) -> bool:
    """Whether an attribute that a tensor lacks is meant to be one of torch's."""
    return tensor_lacks(value, name) and meant_of_tensors(name) is not None


@lru_cache(maxsize=1024)
def meant_of_tensors(name: str) -> str | None:
    """Which attribute of tensors is misspelt."""
    return spelling.closest(name, of_tensors())
