"""The sizes that jaxtyping's ``Float32[np.ndarray, "n 3"]`` states for an array, kept beside mypy's type for it.

mypy itself takes such a note away where it joins two arrays with different ones (``a if flag else b``), also from the
declarations of both: then their sizes aren't known.
"""

from __future__ import annotations

from typing import Final

from mypy.types import ExtraAttrs, Instance, get_proper_type

__all__ = ["array_noted", "noted_array"]

_NOTE: Final = "(array)"  # nothing that could be an attribute's name


def noted_array(array: Instance, tensor: Instance) -> Instance:
    """The type of an array, of NumPy's class or another, with the tensor that it would be beside it."""
    return Instance(array.type, array.args, array.line, array.column, extra_attrs=ExtraAttrs({_NOTE: tensor}))


def array_noted(array: Instance) -> Instance | None:
    """The tensor that an array would be, if its annotation said so."""
    found = None if array.extra_attrs is None else get_proper_type(array.extra_attrs.attrs.get(_NOTE))
    return found if isinstance(found, Instance) else None
