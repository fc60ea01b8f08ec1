"""``torchvision.transforms``, its ``v2`` and both ``functional``: what they do to the size of a picture.

A picture is an image of PIL's (see `pil`) or a tensor ``(..., C, H, W)``. A transform is a function of a picture and
its options; its class keeps the options as attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import branches, guards, layers, tensors
from simpletorch.follow.libraries import ALIASES, by_name, library_class, native
from simpletorch.follow.libraries.pil import CHANNELS, as_dim, image, is_image
from simpletorch.follow.values import Instance, List, Tensor, Unknown, Value, is_int
from simpletorch.rules import Report, TensorType
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, FLOAT32, INT16, INT32, UINT8, DType
from simpletorch.shapes import ANY_REST, UNKNOWN, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]
Transform: TypeAlias = Callable[["Interpreter", Value, Kwargs], Value]

_TRANSFORMS: Final = "torchvision.transforms"
_V2: Final = "torchvision.transforms.v2"
ALIASES.update(
    {
        f"{_TRANSFORMS}.transforms": _TRANSFORMS,
        f"{_TRANSFORMS}.Scale": f"{_TRANSFORMS}.Resize",
        f"{_TRANSFORMS}.RandomSizedCrop": f"{_TRANSFORMS}.RandomResizedCrop",
        f"{_V2}.transforms": _V2,
    }
)


# -- pictures --------------------------------------------------------------------------------------------------------


def sizes(run: Interpreter, picture: Value) -> tuple[Value, Value]:
    """Height and width, None where they aren't known."""
    if isinstance(picture, Instance):
        found = [run.resolve(picture.cells.get(name)) for name in ("height", "width")]
    else:
        tail = picture.type.shape.tail if not picture.type.shape.is_exact else picture.type.shape.dims
        found = list(tail[-2:]) if len(tail) >= 2 else [None, None]
    height, width = (v if is_int(v) else None for v in found)
    return height, width


def sized(run: Interpreter, picture: Value, height: Value, width: Value) -> Value:
    """The picture with another height and width."""
    if isinstance(picture, Instance):
        return image(run, run.resolve(picture.cells.get("mode")), height, width)
    return _ending(picture, 2, (as_dim(height), as_dim(width)))


def _ending(picture: Tensor, count: int, items: tuple[Item, ...]) -> Tensor:
    """The tensor with its last ``count`` dims replaced."""
    shape = picture.type.shape
    if shape.is_exact:
        kept = shape.items[: max(len(shape.items) - count, 0)]
        return Tensor(replace(picture.type, shape=Shape((*kept, *items))))
    return Tensor(replace(picture.type, shape=Shape((ANY_REST, *items))))


def _channels(picture: Tensor) -> Value:
    shape = picture.type.shape
    items = shape.dims if shape.is_exact else shape.tail
    return items[-3] if len(items) >= 3 else UNKNOWN


def _with_channels(picture: Tensor, count: int) -> Tensor:
    shape = picture.type.shape
    items = shape.dims if shape.is_exact else shape.tail
    return _ending(picture, 3, (count, *(items[-2:] if len(items) >= 2 else (UNKNOWN, UNKNOWN))))


def _is_picture(value: Value) -> bool:
    return is_image(value) or isinstance(value, Tensor)


def _pair(run: Interpreter, value: Value) -> tuple[Value, Value]:
    """``size`` as height and width."""
    value = run.resolve(value)
    if is_int(value):
        return value, value
    rows = run.items(value) if isinstance(value, tuple | List) else None
    if rows is not None and len(rows) == 1:
        return rows[0], rows[0]
    if rows is None or len(rows) != 2:
        return None, None
    height, width = map(run.resolve, rows)
    return height, width


# -- geometry --------------------------------------------------------------------------------------------------------


def _same(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return sized(run, picture, *sizes(run, picture))


def _of_unknown_size(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return sized(run, picture, None, None)


def _to_size(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    """Crops that always have the size that is asked for."""
    return sized(run, picture, *_pair(run, options.get("size", options.get("output_size"))))


def _resize(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    """A pair is the new size; one number is the new length of the shorter side."""
    wanted = run.resolve(options.get("size"))
    rows = run.items(wanted) if isinstance(wanted, tuple | List) else None
    if rows is not None and len(rows) == 1:
        wanted = run.resolve(rows[0])
    elif rows is not None:
        return sized(run, picture, *_pair(run, wanted))
    height, width = sizes(run, picture)
    if options.get("max_size") is not None or not all(isinstance(v, int) for v in (wanted, height, width)):
        square = is_int(wanted) and is_int(height) and height == width and options.get("max_size") is None
        return sized(run, picture, wanted, wanted) if square else sized(run, picture, None, None)
    short, long = sorted((height, width))
    longer = int(wanted * long / short)
    return sized(run, picture, *((longer, wanted) if width <= height else (wanted, longer)))


def _padded(run: Interpreter, height: Value, width: Value, padding: Value) -> tuple[Value, Value]:
    """Sizes with ``padding`` of one number, of two (left and right, top and bottom) or four."""
    padding = run.resolve(padding)
    rows = (padding,) if is_int(padding) else run.items(padding) if isinstance(padding, tuple | List) else None
    if rows is None or len(rows) not in (1, 2, 4):
        return None, None
    left, top, right, bottom = {1: rows * 4, 2: rows * 2, 4: rows}[len(rows)]

    def grown(size: Value, before: Value, after: Value) -> Value:
        if not all(map(is_int, (size, run.resolve(before), run.resolve(after)))):
            return None
        return run.operate("__add__", run.operate("__add__", size, before), after)

    return grown(height, top, bottom), grown(width, left, right)


def _pad(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return sized(run, picture, *_padded(run, *sizes(run, picture), options.get("padding")))


def _random_crop(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    wanted = _pair(run, options.get("size"))
    there = sizes(run, picture)
    if run.resolve(options.get("padding")) is not None:
        there = _padded(run, *there, options["padding"])
    fills = run.resolve(options.get("pad_if_needed", False)) is not False
    for size, least, name in zip(there, wanted, ("high", "wide"), strict=True):
        if isinstance(size, int) and isinstance(least, int) and size < least and not fills:
            reason = f"the crop is {least} pixels {name}, but the picture only {size}"
            return run.report(Report("RandomCrop", "shape", reason, {}, "pad_if_needed=True fills what is missing"))
    return sized(run, picture, *wanted)


def _crop(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return sized(run, picture, run.resolve(options.get("height")), run.resolve(options.get("width")))


def _rotate(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return (_same if run.resolve(options.get("expand", False)) is False else _of_unknown_size)(run, picture, options)


def _five(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return tuple(_to_size(run, picture, options) for _ in range(5))


def _ten(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return tuple(_to_size(run, picture, options) for _ in range(10))


# -- colors and conversions ------------------------------------------------------------------------------------------


def _gray(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    count = run.resolve(options.get("num_output_channels", 1))
    if isinstance(picture, Instance):
        return image(run, {1: "L", 3: "RGB"}.get(count) if isinstance(count, int) else None, *sizes(run, picture))
    return _with_channels(picture, count) if isinstance(count, int) else _same(run, picture, options)


def _to_rgb(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return image(run, "RGB", *sizes(run, picture)) if isinstance(picture, Instance) else _with_channels(picture, 3)


_NUMBERS: Final = {"I": INT32, "F": FLOAT32, "I;16": INT16}


def _planes(run: Interpreter, picture: Value) -> TensorType:
    """An image or array as a tensor (C, H, W) of its own dtype."""
    if isinstance(picture, Instance):
        mode = run.resolve(picture.cells.get("mode"))
        plane = map(as_dim, sizes(run, picture))
        dtype = None if mode not in CHANNELS else _NUMBERS.get(mode, UINT8)
        return TensorType(Shape((CHANNELS.get(mode, UNKNOWN) if isinstance(mode, str) else UNKNOWN, *plane)), dtype)
    shape = picture.type.shape
    if shape.is_exact and len(shape.items) == 2:
        return TensorType(Shape((1, *shape.items)), picture.type.dtype)
    if shape.is_exact and len(shape.items) == 3:
        return TensorType(Shape((shape.items[2], *shape.items[:2])), picture.type.dtype)
    return TensorType(Shape((UNKNOWN,) * 3), picture.type.dtype)


def _to_tensor(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    if isinstance(picture, Tensor) and not picture.array:
        return run.unknown("a tensor that is to become a tensor")
    found = _planes(run, picture)
    return tensors.made(run, replace(found, dtype=DEFAULT_FLOAT if found.dtype == UINT8 else found.dtype))


def _to_plain_tensor(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return picture if isinstance(picture, Tensor) and not picture.array else Tensor(_planes(run, picture))


def _to_image(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    if isinstance(picture, Instance):
        return picture
    shape = picture.type.shape
    items = list(shape.dims) if shape.is_exact else []
    if len(items) == 3 and not picture.array:
        items = [*items[1:], items[0]]
    last = items[2] if len(items) == 3 else 1 if len(items) == 2 else None
    plain = picture.type.dtype == UINT8 or (not picture.array and picture.type.dtype == FLOAT32)
    mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}.get(last) if isinstance(last, int) and plain else None
    mode = mode if options.get("mode") is None else run.resolve(options["mode"])
    return image(run, mode, *(items[:2] if items else (None, None)))


def _to_dtype(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    dtype = run.resolve(options.get("dtype", DEFAULT_FLOAT))
    if isinstance(picture, Instance):
        return picture
    return Tensor(replace(picture.type, dtype=dtype if isinstance(dtype, DType) else None, is_parameter=False))


def _normalize(run: Interpreter, picture: Value, options: Kwargs, *, broadcasts: bool = False) -> Value:
    if not isinstance(picture, Tensor):
        return run.unknown("a normalized image that is no tensor")
    kind = picture.type
    if kind.dtype is not None and kind.dtype.category not in ("float", "complex"):
        hint = "ToTensor() or ToDtype(torch.float32, scale=True) before it makes floats"
        reason = f"the picture must hold floats, not {kind.dtype.name}"
        return run.report(Report("Normalize", "dtype", reason, {"input": picture}, hint))
    given = [run.resolve(options.get(name)) for name in ("mean", "std")]
    counts = [len(rows) if isinstance(v, tuple | List) and (rows := run.items(v)) is not None else 1 for v in given]
    count, channels = max(counts), _channels(picture)
    if count > 1 and isinstance(channels, int) and channels != count:
        if broadcasts and channels == 1:
            return _with_channels(picture, count)
        reason = f"mean and std are for {count} channels, but the picture has {channels}"
        return run.report(Report("Normalize", "shape", reason, {"input": picture}))
    if count > 1:  # without broadcasting it is done in place, so that there must be as many channels
        return _with_channels(picture, count)
    return Tensor(replace(kind, is_parameter=False), array=False)


def _normalize_v2(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return _normalize(run, picture, options, broadcasts=True)


# -- transforms of transforms ----------------------------------------------------------------------------------------


def _composed(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    steps = run.items(options.get("transforms"))
    if isinstance(picture, Unknown) and picture.type is None and _take_an_image(run, steps or ()):
        picture = image(run, None, None, None)
    for step in steps or ():
        picture = run.call(step, (picture,))
    return run.unknown("what transforms give that aren't known") if steps is None else picture


def _take_an_image(run: Interpreter, steps: Iterable[Value]) -> bool:
    """Whether these transforms refuse all but one of PIL's images.

    Some that take images and tensors come before one that makes a tensor of it.
    """
    for at, step in enumerate(steps):
        step = run.resolve(step)
        package, _, name = step.cls.qualified.rpartition(".") if isinstance(step, Instance) else ("", "", "")
        if package != _TRANSFORMS or (name not in _OF_IMAGES and name not in _TO_TENSORS):
            return False
        if name in _TO_TENSORS:
            return at > 0
    return False


def _maybe(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    """All of them or none, by chance."""
    return _either(run, (picture, _composed(run, picture, options)))


def _one_of(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    steps = run.items(options.get("transforms"))
    if not steps:
        return run.unknown("what transforms give that aren't known")
    return _either(run, tuple(run.resolve(run.call(step, (picture,))) for step in steps))


def _either(run: Interpreter, pictures: tuple[Value, ...]) -> Value:
    """One of them, by chance."""
    first = pictures[0]
    if all(isinstance(p, Instance) and is_image(p) for p in pictures):
        parts = [branches.common_item([p.cells[n] for p in pictures]) for n in ("mode", "height", "width")]
        return image(run, *parts)
    return first if len(pictures) == 1 else branches.common_item(pictures, "which transform is chosen")


def _lambda(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return run.call(options.get("lambd"), (picture,))


def _unknown(run: Interpreter, picture: Value, options: Kwargs) -> Value:
    return run.unknown("what a transform gives that isn't followed")


# -- the tables ------------------------------------------------------------------------------------------------------

_ANYTHING: Final = frozenset({"Compose", "RandomApply", "RandomChoice", "RandomOrder", "Lambda"})
_KEEP_SIZE: Final = """
    RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomAffine RandomPerspective GaussianBlur RandomInvert
    RandomPosterize RandomSolarize RandomAdjustSharpness RandomAutocontrast RandomEqualize AutoAugment RandAugment
    TrivialAugmentWide AugMix ElasticTransform RandomErasing RandomGrayscale
"""
_KEEP_SIZE_IN_V2: Final = "Identity GaussianNoise JPEG RandomPhotometricDistort RandomChannelPermutation ToPureTensor"
_CHANGE_SIZE_IN_V2: Final = "RandomResize RandomShortestSize RandomZoomOut ScaleJitter RandomIoUCrop"
_FUNCTIONS_THAT_KEEP_SIZE: Final = """
    hflip vflip horizontal_flip vertical_flip affine perspective gaussian_blur invert erase equalize posterize solarize
    autocontrast adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness
    elastic_transform gaussian_noise
"""
_CLASSES: Final[dict[str, tuple[str, Transform]]] = {
    "Compose": ("transforms", _composed),
    "RandomApply": ("transforms p", _maybe),
    "RandomChoice": ("transforms p", _one_of),
    "RandomOrder": ("transforms", _unknown),
    "Lambda": ("lambd", _lambda),
    "ToTensor": ("", _to_tensor),
    "PILToTensor": ("", _to_plain_tensor),
    "ToPILImage": ("mode", _to_image),
    "ConvertImageDtype": ("dtype", _to_dtype),
    "Normalize": ("mean std inplace", _normalize),
    "Resize": ("size interpolation max_size antialias", _resize),
    "CenterCrop": ("size", _to_size),
    "RandomResizedCrop": ("size scale ratio interpolation antialias", _to_size),
    "RandomCrop": ("size padding pad_if_needed fill padding_mode", _random_crop),
    "FiveCrop": ("size", _five),
    "TenCrop": ("size vertical_flip", _ten),
    "Pad": ("padding fill padding_mode", _pad),
    "Grayscale": ("num_output_channels", _gray),
    "RandomRotation": ("degrees interpolation expand center fill", _rotate),
    "LinearTransformation": ("transformation_matrix mean_vector", _unknown),
    **dict.fromkeys(_KEEP_SIZE.split(), ("p", _same)),
}
_CLASSES_OF_V2: Final[dict[str, tuple[str, Transform]]] = {
    **_CLASSES,
    "Normalize": ("mean std inplace", _normalize_v2),
    "ToImage": ("", _to_plain_tensor),
    "ToDtype": ("dtype scale", _to_dtype),
    "RGB": ("", _to_rgb),
    **dict.fromkeys(_KEEP_SIZE_IN_V2.split(), ("p", _same)),
    **dict.fromkeys(_CHANGE_SIZE_IN_V2.split(), ("size", _of_unknown_size)),
}
_FUNCTIONS: Final[dict[str, tuple[str, Transform]]] = {
    "to_tensor": ("", _to_tensor),
    "pil_to_tensor": ("", _to_plain_tensor),
    "to_image": ("", _to_plain_tensor),
    "to_pil_image": ("mode", _to_image),
    "convert_image_dtype": ("dtype", _to_dtype),
    "to_dtype": ("dtype scale", _to_dtype),
    "normalize": ("mean std inplace", _normalize),
    "resize": ("size interpolation max_size antialias", _resize),
    "center_crop": ("output_size", _to_size),
    "crop": ("top left height width", _crop),
    "resized_crop": ("top left height width size interpolation antialias", _to_size),
    "five_crop": ("size", _five),
    "ten_crop": ("size vertical_flip", _ten),
    "pad": ("padding fill padding_mode", _pad),
    "rgb_to_grayscale": ("num_output_channels", _gray),
    "to_grayscale": ("num_output_channels", _gray),
    "rotate": ("angle interpolation expand center fill", _rotate),
    **dict.fromkeys(_FUNCTIONS_THAT_KEEP_SIZE.split(), ("", _same)),
}


_OF_IMAGES: Final = frozenset({
    "Resize", "CenterCrop", "RandomResizedCrop", "RandomCrop", "Pad", "Grayscale", "RandomRotation",
    *set(_KEEP_SIZE.split()) - {"RandomErasing"},
})  # fmt: skip
_TO_TENSORS: Final = frozenset({"ToTensor", "PILToTensor"})
_REFUSE: Final = frozenset({
    *(f"{_TRANSFORMS}.{name}" for name in _TO_TENSORS), f"{_TRANSFORMS}.functional.to_tensor",
    f"{_TRANSFORMS}.functional.pil_to_tensor",
})  # fmt: skip
"""Those that take only an image or an array; the classes of v2 let other things pass."""


def _apply(run: Interpreter, name: str, work: Transform, picture: Value, options: Kwargs) -> Value:
    def one(value: Value) -> Value:
        if name.rpartition(".")[2] in _ANYTHING or _is_picture(value):
            return work(run, value, options)
        if isinstance(value, Unknown) and value.type is None and name in _REFUSE:
            guards.may_raise(run, guards.ANY)
            return tensors.made(run, TensorType(Shape((UNKNOWN,) * 3)))
        return run.unknown("a transform of what is no picture")

    return run.each(picture, one)


def _register_class(name: str, parameters: str, work: Transform) -> None:
    def init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        for key, value in by_name(parameters, args[1:], kwargs).items():
            run.heap.write(args[0].cells, key, value)
        return None

    def forward(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me, *pictures = args
        if me.state.get("open") or kwargs:
            return run.unknown("what a transform gives that unknown code has changed")
        options = {k: v for k, v in me.cells.items() if isinstance(k, str)}
        if len(pictures) == 1:
            return _apply(run, name, work, pictures[0], options)
        if len(pictures) == 2 and not isinstance(run.resolve(pictures[1]), Tensor | Instance | Unknown):
            picture = _apply(run, name, work, pictures[0], options)
            return picture, pictures[1]
        return run.unknown("what a transform gives for several pictures")

    library_class(name, (layers.MODULE,), {"__init__": init, "forward": forward})


def _register_function(name: str, parameters: str, work: Transform) -> None:
    def call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        options = by_name(f"picture {parameters}", args, kwargs)
        picture = next(
            (options.pop(k) for k in ("picture", "img", "pic", "tensor", "inpt", "image") if k in options), None
        )
        return _apply(run, name, work, picture, options)

    native(name)(call)


for _name, (_parameters, _work) in _CLASSES.items():
    _register_class(f"{_TRANSFORMS}.{_name}", _parameters, _work)
for _name, (_parameters, _work) in _CLASSES_OF_V2.items():
    _register_class(f"{_V2}.{_name}", _parameters, _work)
for _name, (_parameters, _work) in _FUNCTIONS.items():
    _register_function(f"{_TRANSFORMS}.functional.{_name}", _parameters, _work)
    _register_function(f"{_V2}.functional.{_name}", _parameters, _normalize_v2 if _name == "normalize" else _work)
