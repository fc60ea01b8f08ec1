"""The plugin class: which hook goes where. The work is done in the other modules of this package.

The feature for a name is found in a table (`hooks.py`). Only a name that no table has is asked for its kind: an
operation with a rule, a class of ``torch.nn``, something of the user's.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from mypy.errors import CompileError
from mypy.nodes import MypyFile, TypeAlias, TypeInfo
from mypy.options import Options
from mypy.plugin import (
    AnalyzeTypeContext,
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import CallableType, FunctionLike, Instance, Type, get_proper_type

from simpletorch._settings import settings
from simpletorch.mypy.annotate import classes
from simpletorch.mypy.annotate.annotations import Annotations
from simpletorch.mypy.calls import (
    attributes,
    autograd,
    collections,
    compose,
    constructors,
    containers,
    distributions,
    factories,
    functions,
    interop,
    loaders,
    losses,
    modules,
    mutations,
    operators,
    pools,
    reader,
    registrations,
    sizes,
    super_calls,
    training,
    transforms,
    wrappers,
)
from simpletorch.mypy.calls.arguments import SignatureContext
from simpletorch.mypy.calls.arrays import tensors
from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.convert.meta import may_ask
from simpletorch.mypy.convert.place import Place, knowing_facts
from simpletorch.mypy.diagnose.followed import Follower, is_the_users
from simpletorch.mypy.diagnose.report import ask_first, watch, weigh
from simpletorch.mypy.digest import digest
from simpletorch.mypy.guard import guarded
from simpletorch.mypy.hooks import AttributeHook, FunctionHook, MethodHook, joined
from simpletorch.mypy.names import public_class, public_name
from simpletorch.mypy.program.imports import Reading
from simpletorch.mypy.program.sight import is_out_of_sight
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import MODULES, RULES

__all__ = ["SimpletorchPlugin", "plugin"]

_TENSOR_METHODS: Final = frozenset(
    (
        *mutations.TENSOR_METHODS,
        *tensors.TENSOR_METHODS,
        *(n.removeprefix("Tensor.") for n in RULES if n.startswith("Tensor.")),
    )
)
_NOT_OURS: Final = (
    *("builtins.", "typing.", "typing_extensions.", "torch.", "collections.", "functools."),
    *("attr.", "attrs."),  # mypy has hooks of its own there
    "numpy.",
)
_OF_PYTHON: Final = ("builtins.", "typing.", "collections.")
_WITHOUT_MODULES: Final = (*_OF_PYTHON, "abc.", "enum.")
_DEPENDENCIES: Final = ("_simpletorch.dtypes", "_simpletorch.dim", "_simpletorch.phantom")
_PRIORITY: Final = 10
_YOUNG: Final = 500_000  # new objects that bring about a collection; mypy's own is 200,000
_YOUNGEST_TO_A_MIDDLE: Final = 200  # collections; mypy's own is 30
_TYPESHED: Final = f"{os.sep}typeshed{os.sep}stdlib{os.sep}"
_ROOT: Final = Path(__file__).parents[1]

_FUNCTIONS: Final = joined(
    attributes.FUNCTIONS,
    compose.FUNCTIONS,
    containers.FUNCTIONS,
    distributions.FUNCTIONS,
    loaders.FUNCTIONS,
    losses.FUNCTIONS,
    training.FUNCTIONS,
    transforms.FUNCTIONS,
    wrappers.FUNCTIONS,
)
_METHODS: Final = joined(
    collections.METHODS,
    compose.METHODS,
    factories.METHODS,
    loaders.METHODS,
    pools.METHODS,
    transforms.METHODS,
    wrappers.METHODS,
)
_INHERITED_METHODS: Final = joined(
    containers.INHERITED_METHODS,
    distributions.INHERITED_METHODS,
    loaders.INHERITED_METHODS,
    modules.INHERITED_METHODS,
    registrations.INHERITED_METHODS,
    training.INHERITED_METHODS,
    wrappers.INHERITED_METHODS,
)
_INHERITED_NAMES: Final = frozenset(fullname.rpartition(".")[2] for fullname in _INHERITED_METHODS)
_ATTRIBUTES: Final = joined(attributes.ATTRIBUTES, distributions.ATTRIBUTES, modules.ATTRIBUTES, operators.ATTRIBUTES)
_FUNCTION_RESULTS: Final = joined(
    interop.FUNCTION_RESULTS,
    tensors.FUNCTION_RESULTS,
    operators.FUNCTION_RESULTS,
    reader.FUNCTION_RESULTS,
    sizes.FUNCTION_RESULTS,
    transforms.FUNCTION_RESULTS,
)
_METHOD_RESULTS: Final = joined(operators.METHOD_RESULTS, sizes.METHOD_RESULTS)

C = TypeVar("C", bound=Place)
S = TypeVar("S", bound=SignatureContext)
R = TypeVar("R")
H = TypeVar("H")


def _function(fullname: str, is_pythons: Callable[[str], bool]) -> FunctionHook | None:
    """torch's functions by rule, ``torch.nn``'s constructors, and the user's own functions and classes."""
    if fullname in _FUNCTIONS:
        return _FUNCTIONS[fullname]
    if public_name(fullname) in RULES or may_ask(fullname):
        return partial(reader.function_rule, fullname)
    if public_class(fullname) in MODULES:
        return constructors.construct
    return None if fullname.startswith(_NOT_OURS) or is_pythons(fullname) else partial(_user_function, fullname)


def _method(fullname: str, is_pythons: Callable[[str], bool]) -> MethodHook | None:
    """Methods of tensors by rule, calls of modules, and the user's own methods."""
    if fullname in _METHODS:
        return _METHODS[fullname]
    receiver, _, method = fullname.rpartition(".")
    if receiver.startswith(_OF_PYTHON):
        return None
    if receiver.startswith("torch.nn."):
        if method == "forward":
            return modules.call
        if public_name(fullname) in RULES:  # a static method
            return partial(reader.function_rule, fullname)
    if method in _INHERITED_NAMES or method in _TENSOR_METHODS or may_ask(fullname):
        return partial(_by_receiver, fullname)
    return None if fullname.startswith(_NOT_OURS) or is_pythons(fullname) else partial(_user_method, fullname)


def _attribute(fullname: str) -> AttributeHook | None:
    """Attributes of tensors and modules, and the fields of torch's named tuples."""
    return _ATTRIBUTES.get(fullname) or attributes.by_owner(fullname)


def _by_receiver(fullname: str, context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """A method whose name tensors or modules have: mypy names the class of the object, not the one that defines it."""
    receiver, method = get_proper_type(context.type), fullname.rpartition(".")[2]
    if isinstance(receiver, Instance) and method in _INHERITED_NAMES:
        for info in receiver.type.mro:
            hook = _INHERITED_METHODS.get(f"{info.fullname}.{method}")
            if hook is not None:
                return hook(context, types)
    if isinstance(receiver, Instance) and is_tensor(receiver) and not _is_overridden(receiver, method):
        if method in mutations.TENSOR_METHODS:
            return mutations.TENSOR_METHODS[method](context, types)
        if method in tensors.TENSOR_METHODS:
            return tensors.TENSOR_METHODS[method](context, types)
        if method in _TENSOR_METHODS or may_ask(fullname):
            return reader.method_rule(method, context, types)
    return context.default_signature if fullname.startswith(_NOT_OURS) else _user_method(fullname, context, types)


def _is_overridden(receiver: Instance, method: str) -> bool:
    """Whether a class of the program's that is a tensor has a method of its own for one of torch's."""
    if receiver.type.fullname.startswith(_NOT_OURS):
        return False
    symbol = receiver.type.get(method)
    return symbol is not None and symbol.fullname is not None and not symbol.fullname.startswith(_NOT_OURS)


def _user_function(fullname: str, context: FunctionSigContext, types: TypeTable) -> FunctionLike:
    signature = functions.call_function(context.default_signature, context, types, fullname.rpartition(".")[2])
    signature = constructors.with_open_sizes(signature, fullname)
    return operators.with_dtypes(signature, context, types, fullname)


def _user_method(fullname: str, context: MethodSigContext, types: TypeTable) -> FunctionLike:
    return functions.call_function(context.default_signature, context, types, ".".join(fullname.split(".")[-2:]))


def _is_generic(node: object) -> bool:
    return bool(node.type_vars if isinstance(node, TypeInfo) else isinstance(node, TypeAlias) and node.alias_tvars)


class _Asked(dict[str, H | None]):
    """The hooks that are known by name; for any other name a function is asked."""

    def __init__(self, work: Callable[[str], H | None]) -> None:
        super().__init__()
        self.work = work

    def __missing__(self, name: str) -> H | None:
        return self.work(name)


class _Kept(_Asked[H]):
    """The same, and what the function says is kept."""

    def __missing__(self, name: str) -> H | None:
        found = self[name] = self.work(name)
        return found


class SimpletorchPlugin(Plugin):
    """Tells mypy the dtype, shape and device of tensors."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._is_daemon = options.fine_grained_incremental
        if not self._is_daemon:  # the daemon lives long, and leaves trees behind
            _collect_less_often()
        self._types = TypeTable({})
        self.annotations = Annotations(self.types)
        self._classes: set[str] = set()
        # mypy asks two million times in a large program, once for each name at each place: a look into a dict, which
        # Python does without a call of ours, takes a third of the time
        names = (
            *("get_function_signature_hook", "get_method_signature_hook", "get_function_hook", "get_method_hook"),
            *("get_base_class_hook", "get_class_attribute_hook"),
        )
        # what is said of an attribute depends on its class, which the daemon may replace
        lasting = () if self._is_daemon else ("get_attribute_hook",)
        for name in (*names, *lasting):
            setattr(self, name, _Kept(getattr(self, name)).__getitem__)
        self._not_annotations = _Asked(self.get_type_analyze_hook)
        setattr(self, "get_type_analyze_hook", self._not_annotations.__getitem__)  # noqa: B010
        self._prepare = guarded(super_calls.prepare, lambda _: None)
        said = settings(options.config_file)
        self._severities = said.severities
        ask_first()  # removes the follower of an earlier run in this process
        self._reading = Reading()
        self._follower = (
            Follower(said.severities, self._reading, is_daemon=self._is_daemon, uses_cache=said.cache)
            if said.follow
            else None
        )
        weigh(said.severities)

    def types(self) -> TypeTable:
        """The classes that mypy has loaded so far."""
        if self._types.modules is not self._modules:
            self._types = TypeTable(self._modules or {})
        return self._types

    # -- the build ------------------------------------------------------------------------------------------------

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        """Digests of our code and of the files that a program reads, and what the user has set of findings.

        mypy's cache is void when they change; that of libraries, which projects share, holds whatever is set. It has
        the errors of a file with the path that was shown, which isn't the same in another folder.
        """
        if not is_the_users(ctx.path):
            return [digest(_ROOT)]
        read = None if self._follower is None else self._reading.by(ctx.path)
        return [digest(_ROOT), os.getcwd(), ctx.path, read, dict(self._severities)]

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """torch.Tensor's type mentions our dtypes, so its module needs ours."""
        if file.fullname == "torch._tensor":
            return [(_PRIORITY, name, -1) for name in _DEPENDENCIES]
        return []

    # -- semantic analysis ------------------------------------------------------------------------------------------

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Make torch's classes generic."""
        customize = classes.customizer(fullname)
        return None if customize is None else guarded(customize, lambda _: None)

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Subclasses of torch's modules."""
        return None if fullname.startswith(_WITHOUT_MODULES) else self._prepare

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """Both styles of annotation."""
        analyze = None if fullname in self._classes else self.annotations.hook(fullname)
        if analyze is None:
            if fullname.startswith(_NOT_OURS):
                self._not_annotations[fullname] = None
                return None
            self._classes.add(fullname)
            node = self._node(fullname)
            if not _is_generic(node):
                # before its bases are known, a class may still become generic; in the daemon always
                if not self._is_daemon and isinstance(node, TypeInfo) and node.mro:
                    self._not_annotations[fullname] = None
                return None
            analyze = self.annotations.generic
        # `takes` forgets what it is asked about, so it comes last
        return guarded(analyze, lambda _: any_type()) if self.annotations.takes() else None

    def _node(self, fullname: str) -> object:
        symbol = self.lookup_fully_qualified(fullname)
        return None if symbol is None else symbol.node

    # -- checking -------------------------------------------------------------------------------------------------
    # mypy asks for the signature before it looks at the arguments, and for the result when they have been checked.

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """Calls of functions and classes."""
        return self._signature(_function(fullname, self._is_pythons))

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Calls of methods and of objects, and operators."""
        return self._signature(_method(fullname, self._is_pythons))

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """``len(x)``, ``abs(x)``; decorators; ``torch.linalg.inv`` and its like, made with an untyped helper."""
        return self._guarded(_FUNCTION_RESULTS.get(fullname), _default_return)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Arithmetic of `Dim`."""
        return self._guarded(_METHOD_RESULTS.get(fullname), _default_return)

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """``x.shape``, ``x.T``, ``layer.weight``, and the fields of named tuples and of batches of dataclasses."""
        return self._guarded(_attribute(fullname), _default_attribute) or self._field(fullname)

    def _field(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """Of nearly every object with fields, no loader has made a batch, and no more is to be asked."""
        owner, _, name = fullname.rpartition(".")
        if fullname.startswith(_NOT_OURS) or not loaders.has_fields(self._node(owner)):
            return None
        read = self._asked(partial(loaders.field, name), _default_attribute)
        return lambda context: read(context) if loaders.is_batched(context.type) else context.default_attr_type

    def get_class_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """``Square.apply`` of an ``autograd.Function``."""
        hook = autograd.apply if autograd.is_apply(fullname) else None
        return self._guarded(hook, _default_attribute)

    def _is_pythons(self, fullname: str) -> bool:
        """Whether this is in the standard library, whose functions say nothing of sizes."""
        modules, module = self._modules or {}, fullname.rpartition(".")[0]
        while module and module not in modules:
            module = module.rpartition(".")[0]
        return bool(module) and _TYPESHED in modules[module].path

    def _signature(self, hook: Callable[[S, TypeTable], FunctionLike] | None) -> Callable[[S], FunctionLike] | None:
        if hook is None:
            return None

        def run(context: S, types: TypeTable) -> FunctionLike:
            signature = hook(context, types)
            if not isinstance(signature, CallableType):
                return signature
            if is_module(get_proper_type(signature.ret_type)):
                containers.settle(context.context, context.api, types)
            return factories.with_dtype_classes(signature, context)

        return self._guarded(run, _default_signature)

    def _guarded(self, hook: Callable[[C, TypeTable], R] | None, default: Callable[[C], R]) -> Callable[[C], R] | None:
        return None if hook is None else self._asked(hook, default)

    def _asked(self, hook: Callable[[C, TypeTable], R], default: Callable[[C], R]) -> Callable[[C], R]:
        """The hook, with what the program has stated at its place; and what it gives if it fails."""

        def run(context: C) -> R:
            if is_out_of_sight(context.api):
                return default(context)
            types = self.types()
            watch(context.api.msg.errors, context.api)
            if self._follower is not None:
                self._follower.see(context.api)
            with knowing_facts(context, types):
                return hook(context, types)

        return guarded(run, default)


def _collect_less_often() -> None:
    """Look for unreachable objects less often than mypy does: there are next to none.

    The middle generation holds every tree and type since the last time. To go through it takes 4 s of the 50 that
    a model of transformers takes, once in each six million objects.
    """
    youngest, middle, oldest = gc.get_threshold()
    gc.set_threshold(max(youngest, _YOUNG), max(middle, _YOUNGEST_TO_A_MIDDLE), oldest)


def _default_signature(context: Any) -> FunctionLike:
    signature: FunctionLike = context.default_signature
    return signature


def _default_attribute(context: AttributeContext) -> Type:
    return context.default_attr_type


def _default_return(context: FunctionContext | MethodContext) -> Type:
    return context.default_return_type


def plugin(version: str) -> type[SimpletorchPlugin]:
    """mypy's entry point.

    Raises:
        CompileError: mypy is older than 2.4; its plugin interface lacks what we use. mypy prints the sentence, where
            any other exception would be an internal error of mypy's.
    """
    found = tuple(int(part) for part in version.partition("+")[0].split(".")[:2])
    if found < (2, 4):
        needed = f"simpletorch needs mypy 2.4 or newer, but this is mypy {version}; pip install 'mypy>=2.4,<3'"
        raise CompileError([f"error: {needed}"])
    return SimpletorchPlugin
