"""`TorchError` and its kinds: errors whose fields are data, and whose text is written from them in one place."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Final, TypeVar

from typing_extensions import Unpack

from simpletorch._bytes import size_text
from simpletorch.errors._fields import Common, Context, Location, Operand
from simpletorch.errors._text import markup, page, render

__all__ = [
    "BackendError",
    "CUDAError",
    "CheckpointError",
    "DTypeMismatch",
    "DataError",
    "DeviceMismatch",
    "Mismatch",
    "NotFinite",
    "OutOfMemory",
    "ShapeMismatch",
    "TorchError",
    "TypeMismatch",
    "as_also",
]


Error = TypeVar("Error", bound="TorchError")


# `copyreg` looks classes up by their class: without one of our own, pickle would write a mixed class by its name, under
# which the kind proper is found
class _Kind(type):
    """The class of the kinds: lets the classes that `as_also` makes be pickled."""


class TorchError(RuntimeError, metaclass=_Kind):
    """A failure in torch or at a border of simpletorch; the base of all kinds.

    Args:
        reason: one sentence, without the operation's name.
        context: operation, operands, location, module path, expected, got, hint, details (more lines, for lists such as
            the keys of a checkpoint that don't fit); all optional.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     with errors.explain():
        ...         torch.zeros(2, 3) @ torch.zeros(5, 7)
        ... except errors.TorchError as error:
        ...     print(type(error).__name__, isinstance(error, RuntimeError))
        ShapeMismatch True
    """

    reason: str
    operation: str | None
    operands: tuple[Operand, ...]
    location: Location | None
    module_path: str | None
    expected: object
    got: object
    hint: str | None
    details: tuple[str, ...]

    # for `as_also`: the kind proper, and the class that the error also is
    _kind: ClassVar[type[TorchError] | None] = None
    _also: ClassVar[type[Exception] | None] = None

    def __init__(self, reason: str = "", **context: Unpack[Context]) -> None:
        # A loader raises a worker's error again as type(error)(message=<the worker's traceback>).
        reason = context.get("message", reason)
        RuntimeError.__init__(self, reason)  # not super(): in a class of `as_also` that is the other base's
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
        self.details = tuple(context.get("details", ()))

    @property
    def message(self) -> str:
        """The whole text, ``str(error)``."""
        return render(self)

    @property
    def kind(self) -> str:
        """The name of the kind: ``"ShapeMismatch"``."""
        return (self._kind or type(self)).__name__

    def __str__(self) -> str:
        return render(self)

    def __rich__(self) -> Any:
        """The text in colours, for `rich.print` and rich's tracebacks."""
        return markup(self)

    def _repr_html_(self) -> str:
        """The error as a notebook shows it."""
        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for logs; ``cause`` is torch's own message."""
        return {
            "kind": self.kind,
            **vars(self),
            "operands": [asdict(o) for o in self.operands],
            "location": None if self.location is None else asdict(self.location),
            "details": list(self.details),
            "cause": None if self.__cause__ is None else str(self.__cause__),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        kind = self._kind or type(self)
        # notes are added again one by one: `copy.copy` would share the list with the original
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
    # not the constructor, whose parameters differ from kind to kind
    error = cls.__new__(cls, state["reason"])
    vars(error).update(state)
    error.__cause__ = cause
    for note in notes:
        error.add_note(note)
    return error


def _reduce_kind(kind: type[TorchError]) -> str | tuple[Any, ...]:
    """How a class is pickled: by name, or as the two classes that `as_also` joined."""
    # its own, not inherited: a class that a user derives from a mixed one is pickled by its name
    own, also = vars(kind).get("_kind"), vars(kind).get("_also")
    return kind.__qualname__ if own is None else (as_also, (own, also))


copyreg.pickle(_Kind, _reduce_kind)  # type: ignore[arg-type]  # typeshed knows reducers of instances only

_MIXED: Final[dict[tuple[type[TorchError], type[Exception]], type[Any]]] = {}


def as_also(kind: type[Error], also: type[Exception]) -> type[Error]:
    """``kind`` as a class that is a subclass of ``also`` too.

    An `IndexError` of torch becomes a `ShapeMismatch` that ``except IndexError`` still catches.

    Args:
        kind: the class of the error.
        also: the other class that ``except`` shall catch it by.

    Examples:
        >>> from simpletorch import errors
        >>> Wrong = errors.as_also(errors.TorchError, ValueError)
        >>> issubclass(Wrong, ValueError)
        True
    """
    if issubclass(kind, also):
        return kind
    if issubclass(also, kind):
        return also
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


class Mismatch(TorchError):
    """Two things that don't fit: ``expected`` and ``got``. The base of the mismatches by shape, dtype, device, type.

    Args:
        expected: what would fit: a shape, a dtype, a device or a type.
        got: what was given.
        reason: one sentence; None makes it from ``expected`` and ``got``.
        context: as for `TorchError`.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     with errors.explain():
        ...         torch.zeros(2, 3) + torch.zeros(5)
        ... except errors.Mismatch as error:
        ...     print(error.reason)
        input (2, 3) and other (5,) can't be broadcast: 3 and 5 differ and neither is 1 ...
    """

    _what: ClassVar[str] = ""

    def __init__(
        self, expected: object = None, got: object = None, reason: str | None = None, **context: Unpack[Common]
    ) -> None:
        if reason is None:
            reason = f"expected {self._what}{expected}, but got {got}"
        super().__init__(reason, expected=expected, got=got, **context)


class ShapeMismatch(Mismatch):
    """Shapes that don't fit: ``expected`` and ``got`` are the shapes, sizes or indices that differ.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     with errors.explain():
        ...         torch.zeros(2, 3) @ torch.zeros(5, 7)
        ... except errors.ShapeMismatch as error:
        ...     print(error.reason)
        the inner dims differ: input has 3, other has 5
    """

    _what = "shape "


class DTypeMismatch(Mismatch):
    """Dtypes that don't fit.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     with errors.explain():
        ...         torch.zeros(2, 3) @ torch.zeros(3, 5).double()
        ... except errors.DTypeMismatch as error:
        ...     print(error.reason)
        input is Float32, but other is Float64; both must have one dtype
    """

    _what = "dtype "


class DeviceMismatch(Mismatch):
    """Tensors on different devices.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, checked, errors
        >>> from simpletorch import CUDATensor
        >>> @checked
        ... def norm(x: CUDATensor[Float32, "n"]) -> None: ...
        >>> try:
        ...     norm(torch.zeros(3))
        ... except errors.DeviceMismatch as error:
        ...     print(error.expected, error.got)
        cuda cpu
    """

    _what = "device "


class TypeMismatch(Mismatch):
    """A value where a tensor is due, or of another type than annotated.

    Examples:
        >>> from simpletorch import errors, nn
        >>> try:
        ...     nn.MLP("784", 128, 10)
        ... except errors.TypeMismatch as error:
        ...     print(error.reason)
        in_features is the str '784', not an int
    """


class OutOfMemory(TorchError):
    """A device has no room: ``requested``, ``available`` and ``total`` in bytes, None if unknown.

    ``details`` lists the largest tensors that are alive there.

    Args:
        requested: bytes that were asked for.
        available: bytes that were free.
        total: bytes that the device has.
        reason: one sentence; None makes it from the numbers.
        context: as for `TorchError`.

    Examples:
        >>> from simpletorch import errors
        >>> str(errors.OutOfMemory(requested=2 << 30, available=1 << 30, total=8 << 30))
        '2.00 GiB requested, 1.00 GiB of 8.00 GiB available'
    """

    requested: int | None
    available: int | None
    total: int | None

    def __init__(
        self,
        requested: int | None = None,
        available: int | None = None,
        total: int | None = None,
        reason: str | None = None,
        **context: Unpack[Context],
    ) -> None:
        if reason is None:
            of = "" if total is None else f" of {size_text(total)}"
            reason = f"{size_text(requested)} requested, {size_text(available)}{of} available"
        super().__init__(reason, **context)
        self.requested, self.available, self.total = requested, available, total


class CUDAError(TorchError):
    """The CUDA driver reports ``code`` (such as ``"cudaErrorAssert"``, None if unknown).

    Args:
        code: the driver's name or number of the error; None if it isn't known.
        reason: one sentence, without the operation's name.
        context: as for `TorchError`.

    Examples:
        >>> from simpletorch import errors
        >>> str(errors.CUDAError("cudaErrorAssert", "an index is out of range"))
        'an index is out of range'
    """

    code: str | int | None

    def __init__(self, code: str | int | None = None, reason: str = "", **context: Unpack[Context]) -> None:
        super().__init__(reason, **context)
        self.code = code


class NotFinite(TorchError):
    """A module, an operation or a gradient that is NaN or infinite (`detect_nan`).

    Examples:
        >>> import torch
        >>> from simpletorch import errors, nn
        >>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        >>> try:
        ...     with errors.detect_nan():
        ...         model(torch.full((7, 3), torch.nan))
        ... except errors.NotFinite as error:
        ...     print(error.module_path)
        model.0
    """


class BackendError(TorchError):
    """Something below torch failed: a compiler, a communication library, a codec.

    Examples:
        >>> from simpletorch import errors
        >>> issubclass(errors.BackendError, errors.TorchError)
        True
    """


class CheckpointError(TorchError):
    """A checkpoint that can't be written, can't be trusted or doesn't fit the model.

    The mismatches: ``missing`` keys, ``unexpected`` ones, and ``mismatched`` shapes (key, shape in the checkpoint,
    shape in the model).

    Args:
        reason: one sentence, without the operation's name.
        missing: keys of the model that the checkpoint lacks.
        unexpected: keys of the checkpoint that the model lacks.
        mismatched: for each tensor whose shape differs its key, its shape in the checkpoint, its shape in the model.
        context: as for `TorchError`.

    Examples:
        >>> from simpletorch import checkpoint, errors
        >>> try:
        ...     checkpoint.read("missing.safetensors")
        ... except errors.CheckpointError as error:
        ...     print(error)
        can't read missing.safetensors: No such file or directory
    """

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatched: tuple[tuple[str, str, str], ...]

    def __init__(
        self,
        reason: str = "",
        *,
        missing: Sequence[str] = (),
        unexpected: Sequence[str] = (),
        mismatched: Sequence[tuple[str, str, str]] = (),
        **context: Unpack[Context],
    ) -> None:
        super().__init__(reason, **context)
        self.missing, self.unexpected, self.mismatched = tuple(missing), tuple(unexpected), tuple(mismatched)


class DataError(TorchError):
    """Data that can't be loaded, batched or split.

    Examples:
        >>> from simpletorch import data, errors
        >>> try:
        ...     data.read_idx("missing.idx")
        ... except errors.DataError as error:
        ...     print(error)
        can't read missing.idx: No such file or directory
    """


_KINDS: Final[tuple[type[TorchError], ...]] = (
    *(TorchError, Mismatch, ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch),
    *(OutOfMemory, CUDAError, NotFinite, BackendError, CheckpointError, DataError),
)
for _each in _KINDS:
    _each.__module__ = "simpletorch.errors"  # where users import them from: tracebacks and pickles say so
