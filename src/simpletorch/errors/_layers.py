"""The border around torch's own layers: ``nn.Linear(3, 4)(x)`` outside of any `Module` of ours raises a `TorchError`.

A layer of ours is torch's own object, so the border has to be where torch calls it. ``torch.nn.Module.__call__`` gets a
``try`` around the body that torch gave it. Python has no instruction for a ``try`` that nothing leaves, and no frame is
added, so a call costs the same. The function stays the same object: dynamo and fx compare it by identity.
"""

from __future__ import annotations

import ast
import inspect
import sys
from types import CodeType, FrameType, FunctionType
from typing import Final
from weakref import WeakSet

import torch
from torch import nn

from simpletorch.errors._border import explained
from simpletorch.errors._kinds import TorchError

__all__ = ["explain_layers", "explained_call", "remember_layer"]

_HANDLER: Final = """
try: ...
except Exception as error:
    from simpletorch.errors._layers import explained_call
    explanation = explained_call(self, error)
    if explanation is None:
        raise
    raise explanation from explanation.__cause__
"""


def explain_layers() -> None:
    """Put the border around the calls of torch's layers, unless others have replaced them or there is no source."""
    call = nn.Module.__call__
    if not isinstance(call, FunctionType) or call.__module__ != nn.Module.__module__ or call.__closure__:
        return
    if (code := _with_border(call)) is not None:
        call.__code__ = code


def _with_border(function: FunctionType) -> CodeType | None:
    """The code of ``function`` with its body inside of the ``try``; its lines stay those of torch's file."""
    code = function.__code__
    try:
        source = inspect.getsource(function)
    except OSError:
        return None
    block = ast.parse(f"if True:\n{source}").body[0]  # the source is indented as a method is
    ast.increment_lineno(block, code.co_firstlineno - 2)
    border = ast.parse(_HANDLER).body[0]
    assert isinstance(block, ast.If)
    definition = block.body[0]
    assert isinstance(definition, ast.FunctionDef)
    assert isinstance(border, ast.Try)
    last = max((n for n in ast.walk(definition) if isinstance(n, ast.stmt)), key=lambda statement: statement.lineno)
    for node in ast.walk(border):  # a traceback shows the last line of torch's for the handler
        ast.copy_location(node, last)
    border.body, definition.body = definition.body, [border]
    names: dict[str, FunctionType] = {}
    exec(compile(ast.Module([definition], []), code.co_filename, "exec", dont_inherit=True), names)
    return names[definition.name].__code__.replace(co_qualname=code.co_qualname)


def explained_call(module: nn.Module, error: Exception) -> TorchError | None:
    """The `TorchError` for a call of ``module``; None where the exception is to be passed on.

    Only layers that were made through `simpletorch.nn`, and our own modules when they are compiled, are explained:
    others in the process rely on torch's messages (``"out of memory" in str(error)``). A layer that another layer of
    torch's calls is explained there, because the program knows that one.
    """
    held = vars(module).get("_modules")
    wrapped = held.get("_orig_mod") if type(held) is dict else None  # of torch.compile(module)
    is_compiled = wrapped is not None or module._compiled_call_impl is not None
    inner = module if wrapped is None else wrapped
    if inner not in _MADE and not (is_compiled and _is_ours(inner)):
        return None
    border = sys._getframe(1)
    if torch.compiler.is_compiling() or _is_inside_of_a_layer(border.f_back):
        return None
    return explained(error, border)


def remember_layer(layer: nn.Module) -> None:
    """A layer was made through `simpletorch.nn`."""
    _MADE.add(layer)


_MADE: Final[WeakSet[nn.Module]] = WeakSet()


def _is_ours(module: nn.Module) -> bool:
    return any(cls.__module__.startswith("simpletorch.nn.") for cls in type(module).__mro__)


def _is_inside_of_a_layer(frame: FrameType | None) -> bool:
    from simpletorch.errors._stack import is_user  # loaded when something fails

    code = nn.Module.__call__.__code__
    while frame is not None and not is_user(frame.f_code):
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False
