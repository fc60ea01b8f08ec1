"""Parameters and results that are arrays: ``def f(points: Float32[np.ndarray, "n 3"])``.

In a signature each stands for the tensor that it would be while sizes are bound, and for the array again when mypy
compares types: for mypy all arrays of a class are alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from mypy.types import (
    CallableType,
    Instance,
    NoneType,
    Type,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from simpletorch.mypy.annotate.arrays import array_noted, noted_array
from simpletorch.mypy.calls.arrays.tensors import of_numpy
from simpletorch.mypy.convert.lift import Lifter
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.names import ARRAY
from simpletorch.mypy.types import TypeTable, definition_of, walk

__all__ = ["with_array", "with_tensors"]


def with_tensors(signature: CallableType, types: TypeTable) -> tuple[CallableType, Mapping[int, Type]]:
    """The signature with tensors in the place of arrays, and which of its parameters were arrays."""
    definition = definition_of(signature)
    theirs = definition is None or definition.fullname.startswith("numpy.")
    arrays: dict[int, Type] = {}
    formals = list(signature.arg_types)
    for i, formal in enumerate(formals):
        tensor = _tensor(formal, types, theirs)
        if tensor is not None:
            arrays[i], formals[i] = formal, tensor
    result = get_proper_type(signature.ret_type)
    given = array_noted(result) if isinstance(result, Instance) else None
    if not arrays and given is None:
        return signature, {}
    return signature.copy_modified(arg_types=formals, ret_type=given or signature.ret_type), arrays


def with_array(signature: CallableType, declared: Type) -> CallableType:
    """The signature of a call with the array that it gives, whose sizes are known by now."""
    array, tensor = get_proper_type(declared), get_proper_type(signature.ret_type)
    if isinstance(array, Instance) and array_noted(array) is not None and isinstance(tensor, Instance):
        return signature.copy_modified(ret_type=noted_array(array, tensor))
    return signature


def _tensor(formal: Type, types: TypeTable, theirs: bool) -> Instance | None:
    """The tensor that a parameter would be; None if it is no array, or nothing is said of it."""
    found = get_proper_type(formal)
    if isinstance(found, UnionType):
        items = [item for item in map(get_proper_type, found.items) if not isinstance(item, NoneType)]
        found = items[0] if len(items) == 1 else found
    if not isinstance(found, Instance):
        return None
    note = array_noted(found)
    if note is not None or theirs or found.type.fullname != ARRAY:
        return note
    if any(isinstance(part, TypeVarType | TypeVarTupleType) for part in walk(found)):
        return None
    return Lowerer(Lifter(types)).tensor(of_numpy(found))
