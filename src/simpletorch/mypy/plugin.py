"""The plugin class: which hook goes where. The work is done in the other modules of this package."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from mypy.nodes import MypyFile, TypeAlias, TypeInfo
from mypy.options import Options
from mypy.plugin import (
    AnalyzeTypeContext,
    AttributeContext,
    CheckerPluginInterface,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import CallableType, FunctionLike, Type, get_proper_type

import simpletorch
from simpletorch.mypy import (
    attributes,
    calls,
    classes,
    constructors,
    containers,
    functions,
    inherited,
    loaders,
    modules,
    registered,
    sizes,
    training,
    transforms,
    wrappers,
)
from simpletorch.mypy.annotations import Annotations
from simpletorch.mypy.guard import guarded
from simpletorch.mypy.lift import is_module, is_tensor
from simpletorch.mypy.meta import may_ask
from simpletorch.mypy.names import (
    DICTS,
    DIM,
    DTYPES_MODULE,
    LEGACY_TENSORS,
    LISTS,
    OUR_TENSORS,
    PARAMETER,
    SEQUENTIALS,
    TENSOR,
    UNTYPED_MAKERS,
    WRAPPERS,
    public_class,
    public_name,
)
from simpletorch.mypy.report import watch
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import MODULES, RULES

__all__ = ["SimpletorchPlugin", "plugin"]

TENSOR_METHODS: Final = frozenset(n.removeprefix("Tensor.") for n in RULES if n.startswith("Tensor."))
_NOT_OURS: Final = ("builtins.", "typing.", "typing_extensions.", "torch.", "collections.", "functools.")
_OF_PYTHON: Final = ("builtins.", "typing.", "collections.")
_DEPENDENCIES: Final = ("simpletorch.dtypes", "simpletorch.dims", "simpletorch._phantom")
_ANNOTATED: Final = ("typing.Annotated", "typing_extensions.Annotated")
_PRIORITY: Final = 10

C = TypeVar("C")


class SimpletorchPlugin(Plugin):
    """Tells mypy the dtype, shape and device of tensors."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.annotations = Annotations(self.types)
        self._not_annotations: set[str] = set()

    def types(self) -> TypeTable:
        """The classes that mypy has loaded so far."""
        return TypeTable(self._modules or {})

    # -- the build ------------------------------------------------------------------------------------------------

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        """A digest of our own code: mypy's cache is void when it changes."""
        return _digest()

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
        known = fullname.startswith((*_OF_PYTHON, "abc.", "enum."))
        return None if known else guarded(inherited.prepare, lambda _: None)

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """Both styles of annotation."""
        if fullname in self._not_annotations:  # asked for every name in every annotation of every file
            return None
        analyze = self._annotation(fullname)
        return None if analyze is None else guarded(analyze, lambda _: any_type())

    def _annotation(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname in LEGACY_TENSORS:
            return self.annotations.legacy
        if fullname == TENSOR:
            return self.annotations.plain if self.annotations.takes() else None
        if public_class(fullname) in MODULES:
            return partial(self.annotations.module, fullname) if self.annotations.takes() else None
        ours = fullname in OUR_TENSORS or fullname in (DIM, *_ANNOTATED) or fullname.startswith(DTYPES_MODULE + ".")
        if not ours:
            if fullname.startswith(_NOT_OURS):
                self._not_annotations.add(fullname)
                return None
            if not self._is_generic(fullname):
                return None
            return self.annotations.generic if self.annotations.takes() else None
        if not self.annotations.takes():
            return None
        if fullname in OUR_TENSORS:
            return partial(self.annotations.ours, fullname)
        if fullname == DIM:
            return self.annotations.dim
        return self.annotations.annotated

    def _node(self, fullname: str) -> object:
        symbol = self.lookup_fully_qualified(fullname)
        return None if symbol is None else symbol.node

    def _is_generic(self, fullname: str) -> bool:
        node = self._node(fullname)
        return bool(node.type_vars if isinstance(node, TypeInfo) else isinstance(node, TypeAlias) and node.alias_tvars)

    # -- checking -------------------------------------------------------------------------------------------------

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """torch's functions by rule, ``torch.nn``'s constructors, and the user's own functions and classes."""
        if public_name(fullname) in RULES or may_ask(fullname):
            return self._hook(partial(calls.function_rule, fullname))
        if fullname in transforms.MAKERS:
            return self._hook(partial(transforms.make, transforms.MAKERS[fullname]))
        if fullname in transforms.APPLIERS:
            return self._hook(partial(transforms.apply, transforms.APPLIERS[fullname]))
        if fullname == training.EVALUATE:
            return self._hook(training.evaluate)
        if fullname in (*SEQUENTIALS, *LISTS, *DICTS):
            return self._hook(containers.construct)
        if fullname in WRAPPERS:
            return self._hook(wrappers.wrap)
        if fullname in wrappers.SAME_MODULE:
            return self._hook(wrappers.same_module)
        if fullname in wrappers.FUNCTIONAL_CALLS:
            return self._hook(wrappers.functional_call)
        if fullname == wrappers.RUN_PADDED:
            return self._hook(wrappers.run_padded)
        if fullname in (PARAMETER, TENSOR):
            return self._hook(attributes.construct_tensor)
        if public_class(fullname) in MODULES:
            return self._hook(constructors.construct)
        if fullname == loaders.LOADER:
            return self._hook(loaders.construct)
        if fullname.startswith(_NOT_OURS):
            return None
        return self._hook(partial(_user_function, fullname))

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Methods of tensors by rule, calls of modules, and the user's own methods."""
        receiver, _, method = fullname.rpartition(".")
        if method == "__call__" and transforms.is_transformed(receiver):
            return self._hook(transforms.call)
        if method == "__call__" or (method == "forward" and receiver.startswith("torch.nn.")):
            return self._hook(modules.call)
        if fullname == loaders.BUILD:
            return self._hook(loaders.build)
        if method == "fit" and training.is_trainer(receiver, self.types()):
            return self._hook(training.fit)
        if not receiver.startswith(_OF_PYTHON):
            if method in _OF_MODULES:
                return self._hook(partial(_module_method, method, _OF_MODULES[method], fullname))
            if method in TENSOR_METHODS or may_ask(fullname):
                return self._hook(partial(calls.method_rule, method))
        if fullname.startswith(_NOT_OURS):
            return None
        return self._hook(partial(_user_method, fullname))

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """``len(x)``, ``abs(x)``; decorators; ``torch.linalg.inv`` and its like, made with an untyped helper."""
        if fullname in UNTYPED_MAKERS:
            return guarded(calls.made_untyped, _default_return)
        if fullname in transforms.MAKERS:
            return guarded(partial(transforms.decorate, transforms.MAKERS[fullname], self.types), _default_return)
        if fullname == "builtins.len":
            return guarded(partial(sizes.length, self.types), _default_return)
        if fullname in ("builtins.max", "builtins.min"):
            extremum = partial(sizes.extremum, fullname.rpartition(".")[2], self.types)
            return guarded(extremum, _default_return)
        if fullname == "builtins.abs":
            return guarded(partial(sizes.absolute, self.types), _default_return)
        return None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Arithmetic of `Dim`."""
        if fullname.startswith(DIM + "."):
            return guarded(partial(sizes.arithmetic, fullname.rpartition(".")[2], self.types), _default_return)
        return None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """``x.shape``, ``x.T``, ``layer.weight``, and the fields of torch's named tuples."""
        found = attributes.rule_for(fullname)
        if found is None:
            owner, _, name = fullname.rpartition(".")
            if fullname.startswith(_NOT_OURS) or not loaders.has_fields(self._node(owner)):
                return None
            found = partial(loaders.field, name)
        return guarded(lambda context: found(context, self.types()), lambda context: context.default_attr_type)

    def _hook(self, work: Callable[[C, TypeTable], FunctionLike]) -> Callable[[C], FunctionLike]:
        def run(context: C) -> FunctionLike:
            api: CheckerPluginInterface = context.api  # type: ignore[attr-defined]
            types = self.types()
            watch(api.msg.errors, api)
            signature = work(context, types)
            if isinstance(signature, CallableType) and is_module(get_proper_type(signature.ret_type)):
                containers.settle(context.context, api, types)  # type: ignore[attr-defined]
            return signature

        return guarded(run, _default_signature)


_OF_MODULES: Final[dict[str, Callable[[MethodSigContext, TypeTable], FunctionLike]]] = {
    **dict.fromkeys(registered.REGISTRATIONS, registered.register),
    **{method: partial(wrappers.convert, method) for method in wrappers.CONVERSIONS},
    **{method: partial(containers.grow, method) for method in containers.CHANGES},
    "__getitem__": containers.item,
    "__iter__": containers.iterate,
    "convert_sync_batchnorm": wrappers.same_module,
}


def _module_method(
    method: str,
    of_module: Callable[[MethodSigContext, TypeTable], FunctionLike],
    fullname: str,
    context: MethodSigContext,
    types: TypeTable,
) -> FunctionLike:
    """A method whose name modules have; other things have methods of that name as well."""
    receiver = get_proper_type(context.type)
    if is_module(receiver):
        return of_module(context, types)
    if method in TENSOR_METHODS and is_tensor(receiver):
        return calls.method_rule(method, context, types)
    if isinstance(receiver, FunctionLike) and receiver.is_type_obj():
        return of_module(context, types) if method == "convert_sync_batchnorm" else context.default_signature
    return context.default_signature if fullname.startswith(_NOT_OURS) else _user_method(fullname, context, types)


def _default_signature(context: Any) -> FunctionLike:
    signature: FunctionLike = context.default_signature
    return signature


def _default_return(context: FunctionContext | MethodContext) -> Type:
    return context.default_return_type


def _user_function(fullname: str, context: FunctionSigContext, types: TypeTable) -> FunctionLike:
    return functions.call_function(context.default_signature, context, types, fullname.rpartition(".")[2])


def _user_method(fullname: str, context: MethodSigContext, types: TypeTable) -> FunctionLike:
    return functions.call_function(context.default_signature, context, types, ".".join(fullname.split(".")[-2:]))


@cache
def _digest() -> str:
    root = Path(simpletorch.__file__).parent
    digest = hashlib.sha256()
    for folder in ("shapes", "rules", "mypy"):
        for file in sorted((root / folder).glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def plugin(version: str) -> type[SimpletorchPlugin]:
    """mypy's entry point.

    Raises:
        RuntimeError: mypy is older than 2.4; its plugin interface lacks what we use.
    """
    found = tuple(int(part) for part in version.partition("+")[0].split(".")[:2])
    if found < (2, 4):
        raise RuntimeError(
            f"simpletorch needs mypy 2.4 or newer, but this is mypy {version}; pip install 'mypy>=2.4,<3'"
        )
    return SimpletorchPlugin
