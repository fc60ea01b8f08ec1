"""torch's own lists of sample inputs, op_db, module_db and optim_db, imported so that the process stays as it was.

`torch.testing._internal` is private, and importing it calls `torch.backends.disable_global_flags`: after that a plain
``torch.backends.cudnn.benchmark = True``, which every other test may run, is an error.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torch import backends


@cache
def op_db() -> list[Any]:
    """Every operation that torch tests, with its generators of inputs."""
    with backends.__allow_nonbracketed_mutation():
        from torch.testing._internal.common_methods_invocations import op_db as found
    return found


@cache
def module_db() -> list[Any]:
    """Every module that torch tests, with its generators of inputs."""
    with backends.__allow_nonbracketed_mutation():
        from torch.testing._internal.common_modules import module_db as found
    return found


@cache
def optim_db() -> list[Any]:
    """Every optimizer that torch tests, with its generators of arguments."""
    with backends.__allow_nonbracketed_mutation():
        from torch.testing._internal.common_optimizers import optim_db as found
    return found
