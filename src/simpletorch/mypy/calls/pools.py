"""``pool.get(64, 784)`` and ``with pool.borrowed(64, 784) as x`` of a `TensorPool`: as ``torch.empty``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mypy.plugin import MethodSigContext
from mypy.types import CallableType, Instance, Type, get_proper_type

from simpletorch.mypy.calls.arguments import read_arguments
from simpletorch.mypy.calls.reader import CallReader, gradual
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import infer

__all__ = ["METHODS"]

_POOL: Final = "simpletorch.cuda._pool.TensorPool"


def _get(context: MethodSigContext, types: TypeTable) -> CallableType:
    found = _buffer(context, types, context.default_signature.ret_type)
    return context.default_signature.copy_modified(ret_type=found)


def _borrowed(context: MethodSigContext, types: TypeTable) -> CallableType:
    signature = context.default_signature
    manager = get_proper_type(signature.ret_type)
    if not isinstance(manager, Instance) or not manager.args:
        return signature
    found = _buffer(context, types, manager.args[0])
    return signature.copy_modified(ret_type=manager.copy_modified(args=[found, *manager.args[1:]]))


def _buffer(context: MethodSigContext, types: TypeTable, declared: Type) -> Type:
    reader = CallReader(types, context)
    combinations = reader.arguments(read_arguments(context))
    if combinations is None:
        return gradual(declared, types)
    return reader.answer(_empty, combinations, declared, context.context)


def _empty(sizes: Any, named: Any) -> Any:
    """The buffer that ``get(64, 784)`` gives; also ``get([64, 784], Float32)``, where the dtype comes second."""
    if len(sizes) == 2 and isinstance(sizes[0], tuple):
        sizes, named = sizes[:1], {**named, "dtype": sizes[1]}
    return infer("torch.empty", sizes, named)


METHODS: Final[Mapping[str, MethodHook]] = {f"{_POOL}.get": _get, f"{_POOL}.borrowed": _borrowed}
