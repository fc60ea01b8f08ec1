"""Modules as `torch.jit.script` can read them: without a border, and with annotations that TorchScript knows.

TorchScript compiles the text of a method, and knows no ``Tensor[Float32, B, 784]``. So a module hands it a copy of
itself, with the same parameters, whose methods are the user's own text with ``Tensor`` in these places.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, get_args, get_origin

import torch
from torch import nn

from simpletorch.checks import UNRESOLVED, Resolver, is_bordered, is_tensor_hint
from simpletorch.dims import DimType

__all__ = ["scriptable", "scriptable_tree"]


def scriptable(module: nn.Module) -> nn.Module:
    """A copy of the module, of the same parameters and submodules, that TorchScript can compile."""
    cls = type(module)
    if cls.__module__.startswith("torch.") or isinstance(module, torch.jit.ScriptModule):
        return module
    resolve = Resolver(cls.__init__, {cls.__name__: cls})
    # of attributes, as buffers have them
    hints = {name: resolve(hint) for name, hint in vars(cls).get("__annotations__", {}).items()}
    own = {name: torch.Tensor if is_tensor_hint(hint) else hint for name, hint in hints.items()}
    plain = type(cls.__name__, (cls,), {"__module__": cls.__module__, "__annotations__": own})
    for name, member in _methods(cls).items():
        setattr(plain, name, _plain(member, {}))  # only now: a new class gets a border of its own
    copy: nn.Module = object.__new__(plain)
    # past nn.Module's __setattr__; torch replaces entries of _modules
    vars(copy).update({**vars(module), "_modules": dict(module._modules)})
    return copy


def scriptable_tree(module: nn.Module) -> nn.Module:
    """The copy of a module and of all below it, for modules of torch's that are annotated."""
    copy = scriptable(module)
    if copy is module:
        return module
    for name, child in module._modules.items():
        copy._modules[name] = None if child is None else scriptable_tree(child)
    return copy


def _methods(cls: type) -> dict[str, types.FunctionType]:
    """The methods whose text TorchScript would stumble over, by name."""
    found: dict[str, types.FunctionType] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith(("torch.", "simpletorch.nn._module")) or base is object:
            continue
        for name, member in vars(base).items():
            if isinstance(member, types.FunctionType) and name != "__init__":
                found.pop(name, None)
                if _is_annotated(member) or is_bordered(member):
                    found[name] = member
    return found


def _is_annotated(function: types.FunctionType) -> bool:
    resolve = Resolver(function, {})
    return any(_has_shape(resolve(hint)) for hint in inspect.unwrap(function).__annotations__.values())


def _has_shape(hint: Any) -> bool:
    if hint is UNRESOLVED or is_tensor_hint(hint) or isinstance(hint, DimType):
        return True
    return any(_has_shape(part) for part in get_args(hint))


def _plain(function: types.FunctionType, done: dict[Any, Any]) -> Any:
    """The function compiled again from its text, with annotations for TorchScript; the function itself without text."""
    inner = inspect.unwrap(function)
    if inner in done:
        return done[inner]
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inner)))
    except (OSError, TypeError, SyntaxError):  # typed into an interpreter: torch.jit.script couldn't read it either
        return function
    (definition,) = tree.body
    if not isinstance(definition, ast.FunctionDef):
        return function
    cells = inspect.getclosurevars(inner).nonlocals
    space: dict[str, Any] = {**inner.__globals__, **cells, **_NAMES}
    _Annotations(Resolver(inner, {})).visit(definition)
    definition.decorator_list = []
    definition.returns = None
    text = ast.unparse(ast.fix_missing_locations(definition)) + "\n"
    file = f"<scriptable {inner.__module__}.{inner.__qualname__}>"
    # where TorchScript, and its errors, find the text
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    plain = space[inner.__name__]
    plain.__module__, plain.__qualname__ = inner.__module__, inner.__qualname__
    plain.__defaults__, plain.__kwdefaults__ = inner.__defaults__, inner.__kwdefaults__
    done[inner] = plain
    for name in inner.__code__.co_names:  # functions that it calls are compiled too
        called = space.get(name)
        if not isinstance(called, types.FunctionType) or called.__module__.startswith("torch"):
            continue
        if is_bordered(called) or _is_annotated(called):
            space[name] = _plain(called, done)
    return plain


# what annotations are written with, and what TorchScript calls these types
_NAMES: Final[Mapping[str, Any]] = {
    "Tensor": torch.Tensor,
    "List": typing.List,  # noqa: UP006
    "Dict": typing.Dict,  # noqa: UP006
    "Tuple": typing.Tuple,  # noqa: UP006
    "Union": typing.Union,
}


class _Annotations(ast.NodeTransformer):
    """Writes annotations as TorchScript knows them: a tensor is a ``Tensor``, a size an ``int``."""

    def __init__(self, resolve: Resolver) -> None:
        self.resolve = resolve

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """A parameter; without an annotation it is a tensor."""
        if node.annotation is not None:
            text = _script_text(self.resolve(ast.unparse(node.annotation)))
            node.annotation = None if text in (None, "Tensor") else ast.parse(text, mode="eval").body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """An annotated variable: its value says what it is."""
        if node.value is not None and _has_shape(self.resolve(ast.unparse(node.annotation))):
            return ast.copy_location(ast.Assign([node.target], node.value), node)
        return node


_PLAIN: Final[Mapping[Any, str]] = {int: "int", float: "float", bool: "bool", str: "str", type(None): "None"}
_CONTAINERS: Final[Mapping[Any, str]] = {list: "List", dict: "Dict", tuple: "Tuple", typing.Union: "Union"}


def _script_text(hint: Any) -> str | None:
    """A type in TorchScript's words; None for a tensor, and for what it is left to find out."""
    if hint is torch.Tensor or is_tensor_hint(hint):
        return "Tensor"
    if isinstance(hint, DimType):
        return "int"
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin = typing.Union if get_origin(hint) is types.UnionType else get_origin(hint)
    parts = [_script_text(part) for part in get_args(hint)]
    if origin in _CONTAINERS and parts and all(parts):
        return f"{_CONTAINERS[origin]}[{', '.join(part for part in parts if part)}]"
    if hint is not Any and isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return hint.__name__
    return None
