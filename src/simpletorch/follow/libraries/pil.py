"""``PIL``: an image is its mode, height and width; as an array it is ``(H, W)`` or ``(H, W, C)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import files
from simpletorch.follow.disk import entries as disk
from simpletorch.follow.libraries import attribute, library_class, model
from simpletorch.follow.values import Instance, Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BOOL, FLOAT32, INT32, UINT8, UINT16, DType
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["CHANNELS", "IMAGE", "as_dim", "image", "is_image"]

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

IMAGE: Final = "PIL.Image.Image"
CHANNELS: Final = {"1": 1, "L": 1, "P": 1, "I": 1, "F": 1, "I;16": 1, "LA": 2, "PA": 2, "RGB": 3, "YCbCr": 3, "LAB": 3,
                   "HSV": 3, "RGBA": 4, "RGBX": 4, "CMYK": 4}  # fmt: skip
_DTYPES: Final[dict[str, DType]] = {"1": BOOL, "I": INT32, "F": FLOAT32, "I;16": UINT16}


def image(run: Interpreter, mode: Value, height: Value, width: Value) -> Instance:
    """An image; what isn't a number or a name isn't known."""
    made = Instance(run.program.library_class(IMAGE))
    run.heap.write(made.cells, "mode", mode if isinstance(mode, str) else run.unknown("the mode of an image", "str"))
    for name, size in (("height", height), ("width", width)):
        run.heap.write(made.cells, name, size if is_int(size) else _size(run))
    return made


def _size(run: Interpreter) -> Unknown:
    return run.unknown("the size of an image", "int", "data")


def is_image(value: Value) -> bool:
    """Whether it is one of PIL's."""
    return isinstance(value, Instance) and value.cls.is_a(IMAGE)


def as_dim(size: Value) -> Dim:
    """A number of pixels as a dim."""
    return size if is_int(size) else UNKNOWN


def _parts(run: Interpreter, value: Instance) -> tuple[Value, Value, Value]:
    """Mode, height and width."""
    mode, height, width = (run.resolve(value.cells.get(name)) for name in ("mode", "height", "width"))
    return mode, height, width


def _as_array(run: Interpreter, self: Value, *more: Value, **rest: Value) -> Value:
    mode, height, width = _parts(run, self)
    plane = (as_dim(height), as_dim(width))
    if mode not in CHANNELS:
        return Tensor(TensorType(Shape((*plane, ANY_REST))), array=True)
    rest = (CHANNELS[mode],) if CHANNELS[mode] > 1 else ()
    return Tensor(TensorType(Shape((*plane, *rest)), _DTYPES.get(mode, UINT8)), array=True)


# -- methods ---------------------------------------------------------------------------------------------------------


def _nothing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


def _copied(run: Interpreter, self: Value, *more: Value, **rest: Value) -> Value:
    return image(run, *_parts(run, self))


@model("PIL.Image.Image.convert")
def _converted(run: Interpreter, self: Value, mode: Value = None, *more: Value, **rest: Value) -> Value:
    _, height, width = _parts(run, self)
    return image(run, mode, height, width)


@model("PIL.Image.Image.resize")
def _resized(run: Interpreter, self: Value, size: Value, *more: Value, **rest: Value) -> Value:
    mode, _, _ = _parts(run, self)
    size = run.items(size)
    width, height = map(run.resolve, size) if size is not None and len(size) == 2 else (None, None)
    return image(run, mode, height, width)


@model("PIL.Image.Image.crop")
def _cropped(run: Interpreter, self: Value, box: Value = None) -> Value:
    mode, height, width = _parts(run, self)
    if box is None:
        return image(run, mode, height, width)
    edges = run.items(box)
    if edges is None or len(edges) != 4:
        return image(run, mode, None, None)
    left, top, right, bottom = map(run.resolve, edges)
    return image(run, mode, _between(run, top, bottom), _between(run, left, right))


def _between(run: Interpreter, start: Value, end: Value) -> Value:
    return run.operate("__sub__", end, start) if is_int(start) and is_int(end) else None


@model("PIL.Image.Image.rotate")
def _rotated(
    run: Interpreter, self: Value, angle: Value, resample: Value = 0, expand: Value = False, *more: Value, **rest: Value
) -> Value:
    mode, height, width = _parts(run, self)
    kept = expand in (False, 0)
    return image(run, mode, height if kept else None, width if kept else None)


@model("PIL.Image.Image.transpose")
def _transposed(run: Interpreter, self: Value, method: Value) -> Value:
    """Flips keep the sizes, quarter turns swap them; which it is isn't looked at."""
    mode, height, width = _parts(run, self)
    square = is_int(height) and height == width
    return image(run, mode, height if square else None, width if square else None)


@model("PIL.Image.Image.thumbnail")
def _shrunk(run: Interpreter, self: Value, size: Value, resample: Value = 3, reducing_gap: Value = 2.0) -> Value:
    for name in ("height", "width"):
        run.heap.write(self.cells, name, _size(run))
    return None


@model("PIL.Image.Image.split")
def _bands(run: Interpreter, self: Value) -> Value:
    mode, height, width = _parts(run, self)
    if mode not in CHANNELS:
        return run.unknown("the bands of an image")
    return tuple(image(run, "L" if CHANNELS[mode] > 1 else mode, height, width) for _ in range(CHANNELS[mode]))


@attribute("PIL.Image.Image.size")
def _size_of(run: Interpreter, self: Value) -> Value:
    _, height, width = _parts(run, self)
    return width, height


library_class(
    IMAGE,
    methods={
        "__array__": _as_array,
        **dict.fromkeys(("copy", "filter", "effect_spread"), _copied),
        **dict.fromkeys(("save", "show", "close", "paste", "verify", "putpixel", "__exit__"), _nothing),
        "__enter__": lambda run, args, kwargs: args[0],
    },
)


# -- functions -------------------------------------------------------------------------------------------------------


@model("PIL.Image.open")
def _open(run: Interpreter, fp: Value, mode: Value = "r", formats: Value = None) -> Value:
    return run.each(fp, lambda one: image(run, *files.loaded(run, disk.IMAGE, one, 3)))


@model("PIL.Image.new")
def _new(run: Interpreter, mode: Value, size: Value, color: Value = 0) -> Value:
    size = run.items(size)
    width, height = map(run.resolve, size) if size is not None and len(size) == 2 else (None, None)
    return image(run, mode, height, width)


@model("PIL.Image.fromarray")
def _from_array(run: Interpreter, obj: Value, mode: Value = None) -> Value:
    return run.each(obj, lambda v: _of_array(run, v, mode))


def _of_array(run: Interpreter, value: Value, mode: Value) -> Value:
    if not isinstance(value, Tensor) or not value.type.shape.is_exact:
        return image(run, mode, None, None)
    dims = value.type.shape.dims
    if mode is None and value.type.dtype == UINT8:
        last = dims[2] if len(dims) == 3 else None
        mode = "L" if len(dims) == 2 else {2: "LA", 3: "RGB", 4: "RGBA"}.get(last) if isinstance(last, int) else None
    return image(run, mode, dims[0], dims[1]) if len(dims) in (2, 3) else image(run, mode, None, None)


@model("PIL.Image.merge")
def _merge(run: Interpreter, mode: Value, bands: Value) -> Value:
    bands = run.items(bands)
    first = run.resolve(bands[0]) if bands else None
    height, width = _parts(run, first)[1:] if isinstance(first, Instance) and is_image(first) else (None, None)
    return image(run, mode, height, width)
