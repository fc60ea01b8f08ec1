"""Errors of torch.compile and its back ends."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import BackendError
from simpletorch.errors._origin import is_from_compiler
from simpletorch.errors._reasons._table import Reason, message


@message(r"\A([^\n]+)\n  Explanation: ([^\n]*)")
def _cannot_trace(f: Failure, m: re.Match[str]) -> Reason | None:
    if f.error is None or not is_from_compiler(f.error):
        return None
    hints = re.findall(r"\n  Hint: ([^\n]*)", m.string)
    why = m[2].strip() or m[1].strip()
    return Reason(
        BackendError,
        f"torch.compile can't trace this: {why[0].lower()}{why[1:].rstrip('.')}",
        hint=min(hints, key=len).strip() if hints else "fullgraph=False compiles around it",
    )


@message(r"backend='(\w+)' raised:\s*(\w+): ([^\n]*)")
def _backend_failed(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        f"the compiler back end {m[1]} failed: {m[2]}: {m[3].strip()}",
        hint="backend='eager' shows whether the model itself is sound; TORCH_LOGS=+dynamo (environment) tells more",
    )


@message(r"(InvalidCxxCompiler|No working C\+\+ compiler found)")
def _no_compiler(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        "torch.compile needs a C++ compiler, and found none",
        hint="install g++ or clang++, or name one in CXX; torch.compile(..., backend='eager') needs none",
    )
