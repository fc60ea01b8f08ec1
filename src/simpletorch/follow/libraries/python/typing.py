"""``typing``, ``types`` and ``abc``: what annotations are made of disturbs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import ALIASES, VALUES, gives, library_class, model, native
from simpletorch.follow.libraries.python.builtins import make_dict
from simpletorch.follow.libraries.python.collections import make_named_tuple
from simpletorch.follow.libraries.python.dataclasses import own_annotations
from simpletorch.follow.model import metaclasses
from simpletorch.follow.values import MISSING, Class, Instance, Native, Property, StaticMethod, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

ALIASES["typing_extensions"] = "typing"
ALIASES["typing.reveal_type"] = "builtins.reveal_type"
for _name in ("List", "Dict", "Tuple", "Set", "FrozenSet", "Type"):
    ALIASES[f"typing.{_name}"] = f"builtins.{_name.lower()}"
for _name in ("OrderedDict", "Counter", "ChainMap"):
    ALIASES[f"typing.{_name}"] = f"collections.{_name}"
ALIASES["typing.DefaultDict"] = "collections.defaultdict"
ALIASES["typing.Deque"] = "collections.deque"
for _name in [
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "Collection",
    "Container",
    "Coroutine",
    "Generator",
    "Hashable",
    "Iterable",
    "Iterator",
    "Mapping",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Reversible",
    "Sequence",
    "Sized",
]:
    ALIASES[f"typing.{_name}"] = f"collections.abc.{_name}"

VALUES["typing.TYPE_CHECKING"] = False
for _name in ("Generic", "Protocol", "SupportsFloat", "SupportsInt", "SupportsIndex", "SupportsAbs"):
    library_class(f"typing.{_name}")


def _subclassed_tuple(run: Interpreter, cls: Class) -> None:
    inherited = next((c.fields for c in cls.mro[1:] if c.metadata.get("tuple")), None)
    if inherited is not None:
        cls.fields, cls.metadata["tuple"] = inherited, True
    elif "tuple" not in cls.metadata:
        make_named_tuple(run, cls, tuple((n, cls.cells.get(n, MISSING)) for n in own_annotations(cls)))


def _subclassed_dict(run: Interpreter, cls: Class) -> None:
    cls.metadata["make"] = make_dict


library_class("typing.NamedTuple", subclassed=_subclassed_tuple)
library_class("typing.TypedDict", subclassed=_subclassed_dict)
gives("typing.TypeVar typing.ParamSpec typing.TypeVarTuple typing.get_type_hints typing.get_args typing.get_origin")


@model("typing.cast")
def _cast(run: Interpreter, typ: Value, val: Value) -> Value:
    return val


@native("typing.overload", "typing.final", "typing.override", "typing.runtime_checkable", "typing.no_type_check",
        "typing.assert_type", "types.coroutine", "abc.update_abstractmethods")  # fmt: skip
def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


@model("typing.NewType")
def _new_type(run: Interpreter, name: Value, tp: Value) -> Value:
    return Native("NewType", lambda run, given, kwargs: given[0])


@model("typing.dataclass_transform")
def _transform(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return Native("dataclass_transform", lambda run, given, kwargs: given[0])


# -- abc -------------------------------------------------------------------------------------------------------------

library_class("abc.ABC")
library_class("abc.ABCMeta", ("builtins.type",))


@model("abc.abstractmethod")
def _abstract(run: Interpreter, funcobj: Value) -> Value:
    return metaclasses.mark_abstract(run, funcobj)


@model("abc.abstractproperty")
def _abstract_property(run: Interpreter, fget: Value = None, *more: Value, **rest: Value) -> Value:
    return Property(metaclasses.mark_abstract(run, fget))


@model("abc.abstractclassmethod")
def _abstract_of_class(run: Interpreter, callable: Value) -> Value:
    return StaticMethod(metaclasses.mark_abstract(run, callable), of_class=True)


@model("abc.abstractstaticmethod")
def _abstract_static(run: Interpreter, callable: Value) -> Value:
    return StaticMethod(metaclasses.mark_abstract(run, callable))


# -- types -----------------------------------------------------------------------------------------------------------


def _make_namespace(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    for name, value in kwargs.items():
        run.heap.write(made.cells, name, value)
    return made


def same_attributes(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``==`` of two namespaces."""
    left, right = args[0], run.resolve(args[1])
    if not isinstance(right, Instance) or left.cls is not right.cls:
        return False
    return run.operate("__eq__", tuple(sorted(left.cells)), tuple(sorted(right.cells))) and run.operate(
        "__eq__", *(tuple(v.cells[k] for k in sorted(v.cells)) for v in (left, right))
    )


def _init_namespace(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    for name, value in kwargs.items():
        run.heap.write(args[0].cells, name, value)
    return None


library_class(
    "types.SimpleNamespace",
    make=_make_namespace,
    methods={"__init__": _init_namespace, "__eq__": same_attributes},
    exact=True,
)
ALIASES["types.NoneType"] = "builtins.NoneType"
library_class("types.UnionType", unknown="a union of classes")
ALIASES["types.LambdaType"] = "types.FunctionType"


def _make_function(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A function of code that isn't known: it may change the variables that it is given."""
    run.escape((*args, *kwargs.values()))
    return run.unknown("a function of code that isn't known")


library_class("types.FunctionType", make=_make_function)
library_class("types.ModuleType")
library_class("types.MethodType")
