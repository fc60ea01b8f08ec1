"""``transformers``: decorators that change nothing which the follower sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.configs import records  # noqa: F401  (tables)
from simpletorch.follow.values import Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_WITH_ARGUMENTS: Final = """
    add_start_docstrings add_start_docstrings_to_model_forward add_end_docstrings add_code_sample_docstrings
    replace_return_docstrings
"""


def _same(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@decorator`` or ``@decorator(…)``: what it decorates."""
    return args[0] if args else Native("a decorator", lambda run, args, kwargs: args[0])


def _made(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@decorator(…)``: a decorator that changes nothing."""
    return Native("a decorator", lambda run, args, kwargs: args[0])


def _register(names: str, work: Any) -> None:
    native(*names.split())(work)


_register("transformers.utils.auto_docstring huggingface_hub.dataclasses.strict", _same)
_register(
    " ".join(f"transformers.utils.{name} transformers.utils.doc.{name}" for name in _WITH_ARGUMENTS.split()), _made
)
_register(
    """transformers.integrations.use_kernel_forward_from_hub transformers.integrations.use_kernel_func_from_hub
    transformers.integrations.use_kernelized_func transformers.utils.import_utils.requires
    transformers.utils.requires""",
    _made,
)
