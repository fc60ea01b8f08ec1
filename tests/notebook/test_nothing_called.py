"""Hostile live objects: following a cell that mentions them calls nothing of theirs."""

import abc
import collections
import dataclasses
import enum
import functools
import itertools
import sys
import types

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.sampler import RandomSampler

from simpletorch.notebook._following import follow_cell
from tests.marks import thorough

CALLS = []
"""What was called, while `watched`."""


def trap(name):
    def called(*args, **kwargs):
        CALLS.append(name)
        raise RuntimeError(f"{name} was called")

    return called


_ASKED = (  # noqa: SIM905  # fifty words
    "__getattribute__ __getattr__ __len__ __iter__ __bool__ __repr__ __str__ __format__ __dir__ __eq__ __ne__ __hash__ "
    "__contains__ __getitem__ __next__ __call__ __index__ __int__ __float__ __instancecheck__ __subclasscheck__ "
    "__fspath__ __bytes__ __lt__ __array__ __torch_function__ __torch_dispatch__ __reduce_ex__ "
    "__missing__ keys items values get __enter__ __exit__ __length_hint__ __sizeof__ "
    "__or__ __ror__ __add__ __radd__ __and__ __neg__ __copy__ __deepcopy__ __get__ "
    "state_dict parameters named_modules forward extra_repr dim size stride is_contiguous numel is_floating_point"
).split()
_READ = ["__class__", "__dict__", "__name__", "__mro__", "__bases__", "shape", "dtype", "device", "layout"]


def members(kind):
    """Methods and properties that record each call."""
    own = {name: trap(f"{kind}.{name}") for name in _ASKED}
    own.update({name: property(trap(f"{kind}.{name}")) for name in _READ})
    return own


def some(*names):
    return {name: trap(f"metaclass.{name}") for name in names}


META = type("Meta", (type,), members("metaclass"))
META_MILD = type("MetaMild", (type,), some("__eq__", "__hash__", "__instancecheck__", "__subclasscheck__", "__len__"))
META_ABC = type("MetaAbc", (abc.ABCMeta,), some("__eq__", "__hash__", "__instancecheck__", "__subclasscheck__"))
META_TENSOR = type("MetaTensor", (type(torch.Tensor),), some("__eq__", "__hash__", "__getattribute__"))


def objects_of(base, make):
    """Objects of subclasses of a class that are hostile in one place, or everywhere."""
    everything = members(base.__name__)
    rows = [{name: value} for name, value in everything.items()] + [everything]
    # these ask a new class for its attributes
    metas = {type: META_MILD if base in (np.ndarray, Dataset, DataLoader) else META, type(torch.Tensor): META_TENSOR}
    for number, own in enumerate(rows):
        for meta in dict.fromkeys((type(base), metas.get(type(base), type(base)))):
            cls = meta.__new__(meta, "Hostile", (base,), {"__module__": "__main__", **own})
            kind = "meta" if meta in metas.values() else "plain"
            yield f"{base.__name__}-{next(iter(own))}-{number}-{kind}", make(cls)


def made_by(base, *args):
    return lambda cls: base.__new__(cls, *args)


def filled_list(cls):
    found = list.__new__(cls)
    list.extend(found, [1, torch.zeros(2)])
    return found


def filled_dict(cls):
    found = dict.__new__(cls)
    dict.update(found, a=1)
    return found


def module_of(cls):
    found = object.__new__(cls)
    own = next(vars(kind)["__dict__"] for kind in type.mro(nn.Module) if "__dict__" in vars(kind))
    own.__get__(found).update(vars(nn.Linear(3, 5)))  # past what a class has made of the name
    return found


def plain_of(cls):
    return object.__new__(cls)


def tensor_of(cls):
    return torch.Tensor._make_subclass(cls, torch.zeros(3, 5))


def array_of(cls):
    return np.ndarray.__new__(cls, (3, 5))


BASES = [
    (object, plain_of),
    (list, filled_list),
    (dict, filled_dict),
    (tuple, made_by(tuple, (1, 2))),
    (set, made_by(set)),
    (frozenset, made_by(frozenset, (1,))),
    (str, made_by(str, "text")),
    (int, made_by(int, 7)),
    (float, made_by(float, 0.5)),
    (bytes, made_by(bytes, b"x")),
    (torch.Tensor, tensor_of),
    (nn.Parameter, tensor_of),
    (np.ndarray, array_of),
    (nn.Module, module_of),
    (nn.Linear, module_of),
    (nn.Sequential, module_of),
    (Dataset, plain_of),
    (DataLoader, plain_of),
    (torch.optim.SGD, plain_of),
    (BaseException, made_by(BaseException)),
    (types.ModuleType, lambda cls: types.ModuleType.__new__(cls)),
    (types.SimpleNamespace, made_by(types.SimpleNamespace)),
    (collections.OrderedDict, filled_dict),
    (collections.defaultdict, filled_dict),
    (collections.UserDict, plain_of),
    (functools.partial, lambda cls: functools.partial.__new__(cls, len)),
    (property, made_by(property)),
]


class Key(str):
    """A name that is equal to others only by its own word."""

    armed = False

    def __hash__(self):
        CALLS.extend(["key.__hash__"] * Key.armed)
        return str.__hash__(self)

    def __eq__(self, other):
        CALLS.extend(["key.__eq__"] * Key.armed)
        return str.__eq__(self, other)


def with_names(target):
    """An object whose ``__dict__`` has hostile names."""
    held = object.__getattribute__(target, "__dict__")
    for name in ("forward", "weight", "training", "_modules", "__wrapped__", "__file__"):
        if name not in held:
            held[Key(name)] = 3
    return target


def tricky():
    """Objects of Python's and torch's own classes with something hostile in them."""
    hostile = next(value for name, value in objects_of(object, plain_of) if "__getattribute__" in name)
    metaclassed = META.__new__(META, "Of", (), {"__module__": "__main__"})
    of_meta = object.__new__(metaclassed)

    def function(x=1):
        return x

    odd = types.FunctionType(function.__code__, {"__name__": hostile}, "odd")
    odd.__module__ = hostile
    odd.__dict__["__wrapped__"] = function
    wrapped = functools.wraps(function)(types.FunctionType(function.__code__, {"__name__": hostile}))
    coded = types.FunctionType(function.__code__.replace(co_consts=(None, hostile, of_meta)), {})
    shadowed = torch.zeros(3, 5)
    for name in ("is_contiguous", "stride", "dim", "size", "is_floating_point"):
        setattr(shadowed, name, trap(f"tensor.{name}"))
    layer = nn.Linear(3, 5)
    vars(layer)["in_features"] = hostile
    parameters = nn.Linear(3, 5)
    cls = type(nn.Parameter).__new__(type(nn.Parameter), "P", (nn.Parameter,), members("parameter"))
    parameters._parameters["weight"] = tensor_of(cls)
    hooked = nn.Linear(3, 5)
    vars(hooked)["_forward_hooks"] = filled_dict(type("Hooks", (dict,), members("hooks")))
    modules = nn.Sequential(nn.Linear(3, 5))
    object.__getattribute__(modules, "__dict__")["_modules"] = filled_dict(type("Inner", (dict,), members("modules")))
    record = type("Record", (np.record,), {})
    loader = DataLoader([1, 2, 3])
    vars(loader)["collate_fn"] = hostile
    sampler = RandomSampler([1, 2])
    vars(sampler)["_num_samples"] = hostile
    sampled = DataLoader([1, 2, 3], sampler=sampler)
    pair = collections.namedtuple("pair", "a b")
    wrong = type("Wrong", (pair,), {"__module__": "__main__", "_field_defaults": hostile, "_fields": hostile})
    fielded = type(
        "Fielded", (), {"__module__": "__main__", "__dataclass_fields__": hostile, "__dataclass_params__": hostile}
    )
    point = (
        dataclasses.make_dataclass("Point", [("x", int)], module="__main__")
        if sys.version_info >= (3, 12)
        else (dataclasses.make_dataclass("Point", [("x", int)]))
    )
    point.__dataclass_params__.eq = hostile
    quiet = type(
        "Quiet", (), {"__module__": "__main__", "__eq__": trap("quiet.__eq__"), "__len__": trap("quiet.__len__")}
    )
    color = enum.Enum("Color", {"A": object.__new__(quiet), "B": 2})
    color.__module__ = "__main__"
    odd_module = types.ModuleType("odd")
    del odd_module.__name__
    odd_module.__getattr__ = trap("module.__getattr__")
    odd_module.__file__ = hostile
    partial = functools.partial(function, hostile)
    cached = functools.lru_cache(function)
    unnamed = type("Unnamed", (), {})
    unnamed.__module__ = hostile
    optimizer = torch.optim.SGD(nn.Linear(3, 5).parameters(), lr=0.1)
    optimizer.param_groups = filled_list(type("Groups", (list,), members("groups")))
    bound = filled_list(META.__new__(META, "L", (list,), {})).append
    named = type("Named", (), {"__module__": "__main__", Key("forward"): 1, "x": 2})
    with torch.no_grad():
        decorated = torch.no_grad()(function)
    return {
        "hostile": hostile, "metaclassed": metaclassed, "of_meta": of_meta, "odd": odd, "wrapped": wrapped,
        "coded": coded,
        "shadowed": shadowed, "layer": layer, "parameters": parameters, "hooked": hooked, "modules": modules,
        "record": np.zeros(3, np.dtype((record, [("x", "f4")]))), "loader": loader, "sampled": sampled,
        "wrong": wrong, "wronged": tuple.__new__(wrong, (1, 2)), "fielded": fielded, "point": point, "color": color,
        "module": odd_module, "partial": partial, "cached": cached, "unnamed": unnamed, "optimizer": optimizer,
        "bound": bound, "named": named, "decorated": decorated, "names": with_names(plain_of(named)),
        "layers": with_names(nn.Linear(3, 5)), "method": types.MethodType(function, hostile),
        "in_list": [hostile, of_meta, metaclassed], "in_tuple": (hostile, of_meta), "in_set": {1, quiet.mro},
        "as_values": {"a": hostile, "b": of_meta}, "sliced": slice(hostile, of_meta), "abc": META_ABC.__new__(
            META_ABC, "Abstract", (), {"__module__": "__main__"}),
        "deep": [[[[of_meta]]]], "default": collections.defaultdict(metaclassed, a=of_meta),
        "defaults": types.FunctionType(function.__code__, globals(), "f", (of_meta,)),
        "property": type("WithProperty", (), {"__module__": "__main__", **members("property")}),
    }  # fmt: skip


CELLS = (
    "y = v",
    "y = v.shape",
    "y = v(torch.zeros(2, 3))",
    "for x in v:\n    print(x)",
    "y = len(v), bool(v), isinstance(v, list), str(v), v == v",
    "y = v[0]\nz = v + torch.zeros(3, 5)",
    "class Mine(type(v)):\n    pass\nm = Mine()",
    "print(f'{v!r}', v.weight, v.__class__, hash(v), {v: 1})",
)


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if WATCHED:
            CALLS.append("mode")
        return func(*args, **(kwargs or {}))


WATCHED = []


def called_by(cell, value):
    """What following a cell with this value called."""
    variables = {"__name__": "__main__", "torch": torch, "nn": nn, "v": value}
    CALLS.clear()
    Key.armed = True
    WATCHED.append(1)
    try:
        seen = follow_cell(cell, variables, "Cell In[7]")
    finally:
        Key.armed = False
        WATCHED.clear()
    assert seen is not None
    return list(dict.fromkeys(CALLS))


def every_object():
    for base, make in BASES:
        yield from objects_of(base, make)


@pytest.mark.parametrize("base", [base.__name__ for base, _ in BASES])
def test_objects_of_hostile_classes(base):
    number = 0
    for kind, make in BASES:
        if kind.__name__ != base:
            continue
        for (name, value), cell in zip(objects_of(kind, make), itertools.cycle(CELLS)):
            assert (name, cell, called_by(cell, value)) == (name, cell, [])
            number += 1
    assert number > 20


@pytest.mark.parametrize("part", [*thorough(range(len(CELLS)))])
def test_every_object_in_every_cell(part):
    number = 0
    for name, value in every_object():
        assert (name, called_by(CELLS[part], value)) == (name, [])
        number += 1
    assert number > 1500


@pytest.mark.parametrize("name", tricky())
def test_plain_objects_that_hold_something_hostile(name):
    for cell in CELLS:
        assert (cell, called_by(cell, tricky()[name])) == (cell, [])


def test_modes_of_the_users_are_not_asked():
    with Mode():
        assert called_by("y = v + 1", torch.zeros(3, 5)) == []
        assert called_by("y = v(torch.zeros(2, 3))", nn.Linear(3, 5)) == []


def test_names_of_the_notebook_that_are_hostile():
    Key.armed = False
    variables = {"__name__": "__main__", "torch": torch, Key("v"): torch.zeros(3), "w": 1}
    Key.armed = True
    try:
        CALLS.clear()
        follow_cell("y = v + w", variables, "Cell In[7]")
        assert CALLS == []
    finally:
        Key.armed = False


def test_the_detector_sees_what_is_called():
    hostile = tricky()["hostile"]
    CALLS.clear()
    with pytest.raises(RuntimeError):
        hostile.x  # noqa: B018
    assert CALLS == ["object.__getattribute__"]
