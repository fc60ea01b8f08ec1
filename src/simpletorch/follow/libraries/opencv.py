"""OpenCV: images are arrays ``(height, width)`` or ``(height, width, channels)``; a last dim of one channel is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import files
from simpletorch.follow.disk import entries
from simpletorch.follow.libraries import VALUES, native
from simpletorch.follow.libraries.arrays import argument, array, is_vague
from simpletorch.follow.libraries.pil import as_dim
from simpletorch.follow.values import Tensor, Value, is_int
from simpletorch.rules.core.dtype import UINT8
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_CODES: Final = {
    "BGR2BGRA": 0, "RGB2RGBA": 0, "BGRA2BGR": 1, "RGBA2RGB": 1, "BGR2RGB": 4, "RGB2BGR": 4, "BGR2GRAY": 6,
    "RGB2GRAY": 7, "GRAY2BGR": 8, "GRAY2RGB": 8, "BGRA2GRAY": 10, "RGBA2GRAY": 11, "BGR2YCrCb": 36, "RGB2YCrCb": 37,
    "YCrCb2BGR": 38, "YCrCb2RGB": 39, "BGR2HSV": 40, "RGB2HSV": 41, "BGR2LAB": 44, "RGB2LAB": 45, "HSV2BGR": 54,
    "HSV2RGB": 55, "LAB2BGR": 56, "LAB2RGB": 57,
}  # fmt: skip
_CHANNELS: Final = {0: 4, **dict.fromkeys((6, 7, 10, 11), 1)}
"""What a conversion gives, if it isn't three channels."""
VALUES.update({f"cv2.COLOR_{name}": code for name, code in _CODES.items()})
VALUES.update({f"cv2.IMREAD_{n}": v for n, v in {"UNCHANGED": -1, "GRAYSCALE": 0, "COLOR": 1}.items()})
VALUES.update({f"cv2.INTER_{n}": v for v, n in enumerate(("NEAREST", "LINEAR", "CUBIC", "AREA", "LANCZOS4"))})
VALUES.update({f"cv2.BORDER_{n}": v for v, n in enumerate(("CONSTANT", "REPLICATE", "REFLECT", "WRAP", "REFLECT_101"))})


@native("cv2.imread")
def _read(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(height, width, 3)``, or ``(height, width)`` of a grey one; the file is taken to be there."""
    mode = argument(run, args, kwargs, 1, "flags")
    _, height, width = files.loaded(run, entries.IMAGE, argument(run, args, kwargs, 0, "filename"), 3)
    if mode not in (None, 0, 1) or isinstance(mode, bool):
        return run.unknown("an image with unknown channels", None, "data")
    return array(Shape((as_dim(height), as_dim(width), *(() if mode == 0 else (3,)))), UINT8)


def _sized(run: Interpreter, source: Value, size: tuple[Dim, Dim] | None = None, channels: Dim | None = None) -> Value:
    """An image of the same dtype, of this height and width and with so many channels if they are given."""
    shape = source.type.shape if isinstance(source, Tensor) and source.array else None
    if not isinstance(source, Tensor) or shape is None or not shape.is_exact or shape.rank not in (2, 3):
        if channels is None:
            return run.unknown("an image of unknown size", None, "data")
        own, dtype = (UNKNOWN, UNKNOWN), source.type.dtype if isinstance(source, Tensor) else None
        last: Dim = channels
    else:
        own, dtype = shape.dims[:2], source.type.dtype
        last = channels if channels is not None else 1 if shape.rank == 2 else shape.dims[2]
    if last is UNKNOWN or not isinstance(last, int):
        return run.unknown("an image with unknown channels", None, "data")
    return array(Shape((*(own if size is None else size), *(() if last == 1 else (last,)))), dtype)


def _size(run: Interpreter, asked: Value) -> tuple[Dim, Dim]:
    """Height and width of a ``dsize``, which has them the other way round."""
    found = None if is_vague(asked) or asked is None else run.items(asked)
    if found is None or len(found) != 2:
        return run.some_size(), run.some_size()
    width, height = (v if is_int(v) else run.some_size() for v in map(run.resolve, found))
    return height, width


@native("cv2.resize")
def _resize(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _sized(run, argument(run, args, kwargs, 0, "src"), _size(run, argument(run, args, kwargs, 1, "dsize")))


@native("cv2.warpAffine", "cv2.warpPerspective")
def _warped(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _sized(run, argument(run, args, kwargs, 0, "src"), _size(run, argument(run, args, kwargs, 2, "dsize")))


@native("cv2.cvtColor")
def _converted(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    code = argument(run, args, kwargs, 1, "code")
    if not isinstance(code, int) or code not in _CODES.values():
        return run.unknown("an image with unknown channels", None, "data")
    return _sized(run, argument(run, args, kwargs, 0, "src"), channels=_CHANNELS.get(code, 3))


@native("cv2.flip", "cv2.GaussianBlur", "cv2.medianBlur", "cv2.blur", "cv2.bilateralFilter")
def _same(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _sized(run, argument(run, args, kwargs, 0, "src"))


@native("cv2.copyMakeBorder")
def _bordered(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(h, w, …) -> (h + top + bottom, w + left + right, …)``"""
    source = argument(run, args, kwargs, 0, "src")
    names = ("top", "bottom", "left", "right")
    edges = [argument(run, args, kwargs, place, name) for place, name in enumerate(names, 1)]
    if not isinstance(source, Tensor) or source.type.shape.rank not in (2, 3):
        return run.unknown("an image of unknown size", None, "data")
    grown = []
    for size, before, after in zip(source.type.shape.dims[:2], edges[::2], edges[1::2], strict=True):
        known = is_int(size) and is_int(before) and is_int(after)
        grown.append(size + before + after if known else run.some_size())
    return _sized(run, source, (grown[0], grown[1]))
