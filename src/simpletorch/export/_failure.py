"""Why something can't be exported: the line of the user's program, and the way out."""

from __future__ import annotations

import linecache
import re
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import torch
from torch import nn
from torch.export import ExportedProgram

import simpletorch
from simpletorch.errors import BackendError, Location, TorchError

__all__ = ["explained_failure", "location_in", "location_in_stack", "original"]

_INSIDE: Final = (
    str(Path(torch.__file__).parent),
    str(Path(simpletorch.__file__).parent / "export"),
    str(Path(simpletorch.__file__).parent / "checks"),
    str(Path(simpletorch.__file__).parent / "errors"),
    sysconfig.get_path("stdlib"),
    "<",
)

# what torch says, what that is, and what to write instead
_KNOWN: Final = (
    (
        re.compile(r"zeros\(\): argument 'size' failed to unpack[^\n]*FakeTensor"),
        "a packed sequence has sizes that come from data (the lengths), which an exported program doesn't have",
        "give the layer the padded tensor, and take from its result what lies before each length; or "
        "export.torchscript, which traces packed sequences",
    ),
    (
        re.compile(r"data-dependent|GuardOnDataDependent|unbacked symint|Could not guard", re.IGNORECASE),
        "the model decides by a tensor's values, but an exported program can't",
        "choose with torch.where(condition, a, b), or torch.cond(condition, f, g, (x,)); a size that comes from data "
        "is stated by torch._check(n <= 5)",
    ),
    (
        re.compile(r"\.item\(\)|Sym(?:Float|Int|Bool)|_local_scalar_dense|\.tolist\(\)", re.IGNORECASE),
        "a number is taken out of a tensor, which has no contents while it is exported",
        "keep it a tensor: x / x.max() instead of x / x.max().item()",
    ),
    (
        re.compile(r"\.numpy\(\)|numpy array|__array__|\.data_ptr|not allocated", re.IGNORECASE),
        "the contents of a tensor leave torch, and what happens to them elsewhere can't be exported",
        "compute it with torch's operations, or make the rest an operator of its own (simpletorch.kernels.operator)",
    ),
    (
        re.compile(r"No ONNX function found for <OpOverload\(op='(?P<op>[^']+)'"),
        "ONNX has no operator for {op}",
        "write it with other operations, or export.program and export.aot, which take every operator of torch",
    ),
    (
        re.compile(r"(?:Unsupported FX nodes|Unsupported op|not supported)[^\n]*?(?P<op>aten[.:]+\w+)"),
        "this format has no operator for {op}",
        "write it with other operations, or export.program, which takes every operator of torch",
    ),
    (
        re.compile(r"could not get source code|[Cc]an't get source for"),
        "TorchScript compiles the text of the model, which a class that is typed into an interpreter hasn't",
        "put the class into a file, or how='trace'",
    ),
    (
        re.compile(r"torch\._dynamo\.exc\.Unsupported|graph break"),
        None,
        "torch.export follows tensors through plain Python; what is outside of it (I/O, threads, C code) goes before "
        "or after the model",
    ),
)


def original(error: BaseException) -> BaseException:
    """Torch's own error, where a border has explained it already."""
    while isinstance(error, TorchError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def explained_failure(
    error: BaseException, tool: str, module: nn.Module, program: ExportedProgram | None = None
) -> BackendError:
    """The error as one that names the user's line and the way out; ``program`` knows the lines of its operations."""
    cause = original(error)
    texts = [f"{type(e).__name__}: {e}" for e in _chain(error)]
    whole = "\n".join(texts)
    location = location_in(error)
    reason = f"{tool}: {_first_line(cause)}"
    tried = ((pattern.search(whole), sentence, way) for pattern, sentence, way in _KNOWN)
    found, sentence, hint = next((known for known in tried if known[0]), (None, None, None))
    if found is not None:
        words = found.groupdict()
        reason = sentence.format(**words) if sentence else reason
        if program is not None and words.get("op"):
            location = _location_of_operator(words["op"], program) or location
    name = type(getattr(module, "model", module)).__name__
    return BackendError(
        reason,
        operation=f"export of {name}",
        location=location,
        hint=hint,
        details=[] if hint is None else _said(cause),
    )


def _said(cause: BaseException) -> list[str]:
    line = _first_line(cause)
    return [f"torch: {line}"] if line else []


_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


def _first_line(error: BaseException) -> str:
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("Constraints violated"):  # which ones is said below
        lines = [line.removeprefix("- ") for line in lines if line.startswith("- ")] or lines
    return lines[0][:300] if lines else type(error).__name__


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def location_in(error: BaseException) -> Location | None:
    """The innermost line of the user's program that an error passed."""
    found: Location | None = None
    for each in _chain(error):
        for frame in traceback.extract_tb(each.__traceback__):
            if frame.lineno is not None and not frame.filename.startswith(_INSIDE) and frame.name != "<module>":
                found = Location(frame.filename, frame.lineno, code=(frame.line or "").strip(), function=frame.name)
        if found is not None and _is_in_model(found):
            return found
    return found


def _is_in_model(location: Location) -> bool:
    return "site-packages" not in location.file


_STACK_LINE: Final = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')


def _location_of_operator(operator: str, program: ExportedProgram) -> Location | None:
    """The line that an operation of a program comes from."""
    for node in program.graph.nodes:
        if node.op != "call_function" or operator.replace("::", ".") not in str(node.target):
            continue
        found = location_in_stack(node.meta.get("stack_trace") or "")
        if found is not None:
            return found
    return None


def location_in_stack(text: str) -> Location | None:
    """The innermost line of the user's program in a stack that torch has written out."""
    places = [m for m in _STACK_LINE.finditer(text) if not m["file"].startswith(_INSIDE)]
    if not places:
        return None
    file, line = places[-1]["file"], int(places[-1]["line"])
    return Location(file, line, code=linecache.getline(file, line).strip(), function=places[-1]["function"])
