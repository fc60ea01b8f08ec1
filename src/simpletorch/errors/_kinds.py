"""`TorchError` and its kinds: errors whose fields are data, and whose text is written from them in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final, TypedDict, TypeVar

from typing_extensions import Unpack

__all__ = [
    "BackendError",
    "CUDAError",
    "CheckpointError",
    "Context",
    "DTypeMismatch",
    "DataError",
    "DeviceMismatch",
    "Location",
    "Mismatch",
    "Operand",
    "OutOfMemory",
    "Place",
    "ShapeMismatch",
    "TorchError",
    "TypeMismatch",
    "as_also",
]


@dataclass(frozen=True, slots=True)
class Operand:
    """One thing that took part: a tensor by dtype, shape and device, anything else by ``text``; never its contents.

    ``name`` is what stands in the source (``self.fc2``); ``should_be`` the annotation it fails, if it fails one.
    """

    name: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    device: str | None = None
    text: str = ""
    should_be: str | None = None

    @property
    def type_text(self) -> str:
        """``Float32[32, 128]``, or the text of what is no tensor."""
        if self.shape is None:
            return self.text
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the source: lines from 1, columns from 0 (``end_column`` is one past the last), as `ast` counts."""

    file: str
    line: int
    code: str = ""
    function: str = ""
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


class Place(TypedDict, total=False):
    """What any `TorchError` can carry besides its sentence."""

    operation: str | None
    operands: Sequence[Operand]
    location: Location | None
    module_path: str | None
    hint: str | None


class Context(Place, total=False):
    """The same, with the two things that differ."""

    expected: object
    got: object


Error = TypeVar("Error", bound="TorchError")


class TorchError(RuntimeError):
    """What went wrong in torch or at a border of simpletorch; the base of all kinds.

    Args:
        reason: one sentence, without the operation's name.
        context: operation, operands, location, module path, expected, got, hint; all optional.
    """

    reason: str
    operation: str | None
    operands: tuple[Operand, ...]
    location: Location | None
    module_path: str | None
    expected: object
    got: object
    hint: str | None

    # for `as_also`: the kind proper, and the class that the error also is
    _kind: ClassVar[type[TorchError] | None] = None
    _also: ClassVar[type[Exception] | None] = None

    def __init__(self, reason: str = "", **context: Unpack[Context]) -> None:
        super().__init__(reason)
        self.reason = reason
        self._fill(context)

    def _fill(self, context: Context) -> None:
        self.operation = context.get("operation")
        self.operands = tuple(context.get("operands", ()))
        self.location = context.get("location")
        self.module_path = context.get("module_path")
        self.expected = context.get("expected")
        self.got = context.get("got")
        self.hint = context.get("hint")

    @property
    def kind(self) -> str:
        """The name of the kind: ``"ShapeMismatch"``."""
        return (self._kind or type(self)).__name__

    def __str__(self) -> str:
        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for logs; ``cause`` is torch's own message."""
        return {
            "kind": self.kind,
            **vars(self),
            "operands": [asdict(o) for o in self.operands],
            "location": None if self.location is None else asdict(self.location),
            "cause": None if self.__cause__ is None else str(self.__cause__),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        kind = self._kind or type(self)
        state = {k: v for k, v in vars(self).items() if k != "__notes__"}
        notes = tuple(getattr(self, "__notes__", ()))
        return _rebuild, (kind, self._also, state, notes, self.__cause__)


def _rebuild(
    kind: type[TorchError],
    also: type[Exception] | None,
    state: Mapping[str, Any],
    notes: Sequence[str],
    cause: BaseException | None,
) -> TorchError:
    cls = kind if also is None else as_also(kind, also)
    error = cls.__new__(cls, state["reason"])
    vars(error).update(state)
    error.__cause__ = cause
    for note in notes:
        error.add_note(note)
    return error


_MIXED: Final[dict[tuple[type[TorchError], type[Exception]], type[Any]]] = {}


def as_also(kind: type[Error], also: type[Exception]) -> type[Error]:
    """``kind`` as a class that is a subclass of ``also`` too.

    An `IndexError` of torch becomes a `ShapeMismatch` that ``except IndexError`` still catches.
    """
    if issubclass(kind, also):
        return kind
    mixed = _MIXED.get((kind, also))
    if mixed is None:
        body = {
            "__module__": kind.__module__,
            "__qualname__": kind.__qualname__,
            "__doc__": kind.__doc__,
            "_kind": kind,
            "_also": also,
        }
        try:
            mixed = type(kind.__name__, (kind, also), body)
        except TypeError:  # two C layouts that don't go together
            mixed = kind
        _MIXED[kind, also] = mixed
    return mixed


def render(error: TorchError) -> str:
    """The whole text of an error: sentence, operands, place, hint."""
    lines = [f"{error.operation}: {error.reason}" if error.operation else error.reason]
    lines += _operand_lines(error.operands)
    place = _place(error)
    if place:
        lines.append(f"  {place}")
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    return "\n".join(lines)


def _operand_lines(operands: Sequence[Operand]) -> list[str]:
    names = max((len(o.name) for o in operands), default=0)
    types = max((len(o.type_text) for o in operands if o.shape is not None), default=0)
    lines = []
    for o in operands:
        line = f"  {o.name:{names}}  {o.type_text:{types}}"
        if o.device:
            line += f"  ({o.device})"
        if o.should_be:
            line += f"  should be {o.should_be}"
        lines.append(line.rstrip())
    return lines


def _place(error: TorchError) -> str:
    parts = [f"in {error.module_path}"] if error.module_path else []
    if error.location is not None:
        code = f": {error.location.code}" if error.location.code else ""
        parts.append(f"at {error.location.file}:{error.location.line}{code}")
    return ", ".join(parts)


class Mismatch(TorchError):
    """Two things that don't fit: ``expected`` and ``got``. The base of the mismatches by shape, dtype, device, type."""

    _what: ClassVar[str] = ""

    def __init__(
        self, expected: object = None, got: object = None, reason: str | None = None, **place: Unpack[Place]
    ) -> None:
        if reason is None:
            reason = f"expected {self._what}{expected}, but got {got}"
        super().__init__(reason, expected=expected, got=got, **place)


class ShapeMismatch(Mismatch):
    """Shapes that don't fit: ``expected`` and ``got`` are the shapes, sizes or indices that differ."""

    _what = "shape "


class DTypeMismatch(Mismatch):
    """Dtypes that don't fit."""

    _what = "dtype "


class DeviceMismatch(Mismatch):
    """Tensors on different devices."""

    _what = "device "


class TypeMismatch(Mismatch):
    """A value that is no tensor where one is due, or of another type than its annotation says."""


class OutOfMemory(TorchError):
    """A device has no room: ``requested`` and ``available`` in bytes, None where it isn't known."""

    requested: int | None
    available: int | None

    def __init__(
        self,
        requested: int | None = None,
        available: int | None = None,
        reason: str | None = None,
        **context: Unpack[Context],
    ) -> None:
        if reason is None:
            reason = f"{_size(requested)} requested, {_size(available)} available"
        super().__init__(reason, **context)
        self.requested, self.available = requested, available


class CUDAError(TorchError):
    """The CUDA driver reports ``code`` (such as ``"cudaErrorAssert"``, None if it isn't known)."""

    code: str | int | None

    def __init__(self, code: str | int | None = None, reason: str = "", **context: Unpack[Context]) -> None:
        super().__init__(reason, **context)
        self.code = code


class BackendError(TorchError):
    """Something below torch failed: a compiler, a communication library, a codec."""


class CheckpointError(TorchError):
    """A checkpoint that can't be written, can't be trusted or doesn't fit the model."""


class DataError(TorchError):
    """Data that can't be loaded, batched or split."""


def _size(count: int | None) -> str:
    if count is None:
        return "an unknown amount"
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{count} bytes" if unit == "bytes" else f"{value:.2f} {unit}"
        value /= 1024
    return f"{value:.2f} TiB"


_KINDS: Final[tuple[type[TorchError], ...]] = (
    *(TorchError, Mismatch, ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch),
    *(OutOfMemory, CUDAError, BackendError, CheckpointError, DataError),
)
for _each in _KINDS:
    _each.__module__ = "simpletorch.errors"  # where users import them from: tracebacks and pickles say so
