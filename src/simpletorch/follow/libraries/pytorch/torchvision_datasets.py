"""``torchvision.datasets``: images of a known mode and, for the classic ones, of known size and number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import files
from simpletorch.follow.disk import entries as disk
from simpletorch.follow.disk.folders import image_classes
from simpletorch.follow.libraries import ALIASES, attribute, by_name, library_class, native
from simpletorch.follow.libraries.pil import CHANNELS, as_dim, image
from simpletorch.follow.libraries.python.builtins import length
from simpletorch.follow.libraries.pytorch.torch_data import row
from simpletorch.follow.values import Dict, Instance, List, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import INT64, UINT8
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_DATASETS: Final = "torchvision.datasets"
ALIASES.update({f"{_DATASETS}.{m}": _DATASETS for m in ("mnist", "cifar", "svhn", "folder", "vision", "stl10")})


@dataclass(frozen=True)
class _Kind:
    """One dataset: parameters in order, mode and size of its images, and how many there are.

    ``counts`` is by the value of ``train`` or ``split``; ``held`` says how all images lie in ``data``.
    """

    parameters: str
    mode: str = "RGB"
    height: int | None = None
    width: int | None = None
    counts: dict[bool | str, int] = field(default_factory=dict)
    held: str = ""
    default: bool | str = True


_TRAIN: Final = "root train transform target_transform download"
_SPLIT: Final = "root split transform target_transform download loader"
_KINDS: Final = {
    **{n: _Kind(_TRAIN, "L", 28, 28, {True: 60_000, False: 10_000}, "HW") for n in ("MNIST", "FashionMNIST", "KMNIST")},
    "EMNIST": _Kind("root split", "L", 28, 28, {}, "HW", "byclass"),
    "CIFAR10": _Kind(_TRAIN, "RGB", 32, 32, {True: 50_000, False: 10_000}, "HWC"),
    "CIFAR100": _Kind(_TRAIN, "RGB", 32, 32, {True: 50_000, False: 10_000}, "HWC"),
    "SVHN": _Kind(_SPLIT, "RGB", 32, 32, {"train": 73_257, "test": 26_032, "extra": 531_131}, "CHW", "train"),
    "STL10": _Kind(
        "root split folds transform target_transform download", "RGB", 96, 96,
        {"train": 5_000, "test": 8_000, "unlabeled": 100_000, "train+unlabeled": 105_000}, "CHW", "train",
    ),
    "USPS": _Kind(_TRAIN, "L", 16, 16, {True: 7_291, False: 2_007}),
    "PCAM": _Kind(_SPLIT, "RGB", 96, 96, {"train": 262_144, "test": 32_768, "val": 32_768}, "", "train"),
    "FER2013": _Kind(_SPLIT, "L", 48, 48, {}, "", "train"),
    "EuroSAT": _Kind("root transform target_transform download loader", "RGB", 64, 64),
    "ImageFolder": _Kind("root transform target_transform loader is_valid_file"),
    "DatasetFolder": _Kind("root loader extensions transform target_transform is_valid_file"),
    "ImageNet": _Kind("root split"),
    "Imagenette": _Kind("root split size download transform target_transform loader"),
    "SUN397": _Kind("root transform target_transform download loader"),
    "DTD": _Kind("root split partition transform target_transform download loader"),
    "FGVCAircraft": _Kind("root split annotation_level transform target_transform download loader"),
    "Places365": _Kind("root split small download transform target_transform loader"),
    **{n: _Kind(_SPLIT) for n in ("Food101", "Flowers102", "StanfordCars", "GTSRB", "Country211", "RenderedSST2")},
}  # fmt: skip


def _label(run: Interpreter) -> Unknown:
    return run.unknown("the label of an image", "int", "data")


def _total(run: Interpreter, kind: _Kind, given: Kwargs) -> Value:
    """How many images there are."""
    which = run.resolve(given.get("train", given.get("split", kind.default)))
    number = kind.counts.get(which) if isinstance(which, bool | str) else None
    return run.unknown("how many images there are", "int", "data") if number is None else number


def _register(name: str, kind: _Kind) -> None:
    def init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me, *rest = args
        given = {"transform": None, "target_transform": None, **by_name(kind.parameters, tuple(rest), kwargs)}
        for key, value in given.items():
            run.heap.write(me.cells, key, value)
        number = _total(run, kind, given)
        folder = (
            files.folder(run, given.get("root")) if name == "ImageFolder" and "is_valid_file" not in given else None
        )
        classes = None if folder is None else image_classes(run.program.reach, folder)
        run.heap.write(me.state, "length", number if classes is None else classes[1])
        targets: Value = List(None, _label(run))
        if kind.held:
            count: Dim = number if isinstance(number, int) else UNKNOWN
            sizes = {"H": kind.height, "W": kind.width, "C": CHANNELS[kind.mode]}
            shape = Shape((count, *(sizes[letter] or UNKNOWN for letter in kind.held)))
            array = kind.held != "HW"
            run.heap.write(me.cells, "data", Tensor(TensorType(shape, UINT8), array=array))
            if not array:
                targets = Tensor(TensorType(Shape((count,)), INT64))
        if name != "SVHN":
            run.heap.write(me.cells, "targets", targets)
        names = None if classes is None else tuple(classes[0])
        unknown = run.unknown("the name of a class", "str")
        run.heap.write(me.cells, "classes", List(None, unknown) if names is None else List(names))
        numbers = Dict({}, _label(run)) if names is None else Dict({n: i for i, n in enumerate(names)})
        run.heap.write(me.cells, "class_to_idx", numbers)
        return None

    def item(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me = args[0]
        loader = run.resolve(me.cells.get("loader"))
        if loader is None and name == "DatasetFolder":
            picture: Value = run.unknown("what a loader gives")
        elif loader is None:
            picture = image(run, kind.mode, kind.height, kind.width)
        else:
            picture = run.call(loader, (run.unknown("the path of an image", "str"),))
        return _transformed(run, me, picture, _label(run))

    library_class(
        f"{_DATASETS}.{name}",
        (f"{_DATASETS}.VisionDataset",),
        {"__init__": init, "__getitem__": item, "__len__": _length},
    )


def _transformed(run: Interpreter, me: Instance, picture: Value, target: Value) -> Value:
    """A sample, after the transforms that the dataset was given."""
    both = run.resolve(me.cells.get("transforms"))
    if both is not None:
        return run.call(both, (picture, target))
    transform, of_target = (run.resolve(me.cells.get(n)) for n in ("transform", "target_transform"))
    return (
        picture if transform is None else run.call(transform, (picture,)),
        target if of_target is None else run.call(of_target, (target,)),
    )


def _length(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """That of ``data``, which programs cut."""
    me = args[0]
    held = run.resolve(me.cells.get("data"))
    return me.state.get("length") if held is None else run.each(held, lambda v: length(run, v))


library_class(f"{_DATASETS}.VisionDataset", ("torch.utils.data.Dataset",))
for _name, _kind in _KINDS.items():
    _register(_name, _kind)


_OF_MNIST: Final = [f"{_DATASETS}.{name}" for name in ("MNIST", "FashionMNIST", "KMNIST", "EMNIST")]


@attribute(*(f"{name}.{part}_data" for name in _OF_MNIST for part in ("train", "test")))
def _data(run: Interpreter, self: Value) -> Value:
    """``data`` by the names that it had once; they still work."""
    return run.attribute(self, "data")


@attribute(*(f"{name}.{part}_labels" for name in _OF_MNIST for part in ("train", "test")))
def _labels(run: Interpreter, self: Value) -> Value:
    return run.attribute(self, "targets")


# -- other datasets --------------------------------------------------------------------------------------------------


def _init_fake(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, *rest = args
    given = by_name("size image_size num_classes transform target_transform random_offset", tuple(rest), kwargs)
    for key, value in {"size": 1_000, "image_size": (3, 224, 224), "transform": None, **given}.items():
        run.heap.write(me.cells, key, value)
    run.heap.write(me.state, "length", me.cells["size"])
    return None


def _fake(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    sizes = run.items(args[0].cells["image_size"])
    channels, height, width = map(run.resolve, sizes) if sizes is not None and len(sizes) == 3 else (None, None, None)
    mode = {1: "L", 3: "RGB", 4: "RGBA"}.get(channels) if isinstance(channels, int) else None
    return _transformed(run, args[0], image(run, mode, height, width), _label(run))


def _init_faces(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, *rest = args
    given = by_name("root split target_type transform target_transform download", tuple(rest), kwargs)
    for key, value in given.items():
        run.heap.write(me.cells, key, value)
    run.heap.write(me.state, "length", run.unknown("how many images there are", "int", "data"))
    return None


def _face(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    plain = run.resolve(me.cells.get("target_type", "attr")) == "attr"
    target = Tensor(TensorType(Shape((40,)), INT64)) if plain else run.unknown("the target of a face")
    return _transformed(run, me, image(run, "RGB", 218, 178), target)


for _name, _init, _get in (("FakeData", _init_fake, _fake), ("CelebA", _init_faces, _face)):
    library_class(
        f"{_DATASETS}.{_name}",
        (f"{_DATASETS}.VisionDataset",),
        {"__init__": _init, "__getitem__": _get, "__len__": _length},
    )


@native(f"{_DATASETS}.default_loader", f"{_DATASETS}.pil_loader")
def _load(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return image(run, "RGB", None, None)


# -- torchvision.utils and torchvision.io ----------------------------------------------------------------------------


@native("torchvision.utils.save_image", "torchvision.io.write_png", "torchvision.io.write_jpeg")
def _save(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


@native("torchvision.utils.make_grid")
def _grid(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """One picture of all; of one channel it makes three."""
    found = run.resolve(by_name("tensor", args, kwargs).get("tensor"))
    if isinstance(found, List):
        rows = run.items(found)
        found = row(run, found, 0) if rows else None
        channels = found.type.shape.dims[0] if isinstance(found, Tensor) and found.type.shape.rank == 3 else UNKNOWN
    else:
        channels = found.type.shape.dims[1] if isinstance(found, Tensor) and found.type.shape.rank == 4 else UNKNOWN
    dtype = found.type.dtype if isinstance(found, Tensor) else None
    return Tensor(TensorType(Shape((3 if channels == 1 else channels, UNKNOWN, UNKNOWN)), dtype))


@native("torchvision.io.read_image", "torchvision.io.decode_image")
def _read(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("path mode", args, kwargs)
    name, height, width = files.loaded(run, disk.IMAGE, run.resolve(given.get("path")), 3)
    channels = CHANNELS.get(name) if isinstance(name, str) and name != "P" and "mode" not in given else None
    return Tensor(TensorType(Shape((channels or UNKNOWN, *map(as_dim, (height, width)))), UINT8))
