"""For packages of simpletorch that raise their own errors: values as operands, and the place in the program.

With `live` what they may import from `simpletorch.errors` besides the package itself. The reader of the stack is
loaded on demand, so a program without failures doesn't pay for it.
"""

from __future__ import annotations

import sys

from simpletorch.errors._description import describe, dtype_name
from simpletorch.errors._fields import Place
from simpletorch.errors._functions import function_of_torch, is_function
from simpletorch.errors._layers import explain_layers, remember_layer

__all__ = [
    "describe",
    "dtype_name",
    "explain_layers",
    "function_of_torch",
    "is_function",
    "is_user_file",
    "module_path",
    "place",
    "remember_layer",
]


def place() -> Place:
    """The present place in the program: the user's innermost line, and the called module."""
    from simpletorch.errors._place import place_of

    return place_of(sys._getframe(1))


def module_path() -> str | None:
    """The path of the module that is being called now, by the program's names: ``model.encoder.2.fc``."""
    from simpletorch.errors._place import module_path_of

    return module_path_of(sys._getframe(1))


def is_user_file(file: str) -> bool:
    """Whether a file is the user's, or of a library that they call: not torch's, Python's or ours."""
    from simpletorch.errors import _stack

    return _stack.is_user_file(file)
