"""``torchvision.models``: classifiers. Of most only the last layers are known, and how many features they get; programs
replace those: ``model.classifier = nn.Linear(1024, 10)``. A model of which they replace anything else gives what isn't
known. Of a ResNet the parts are known, down to its four stages of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import layers
from simpletorch.follow.libraries import ALIASES, library_class, native
from simpletorch.follow.libraries.installed import torchvision  # noqa: F401  (decorators of what is followed)
from simpletorch.follow.values import Dict, Instance, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

MODELS: Final = "torchvision.models"
_CLASSES: Final = 1_000  # of ImageNet, which all weights are for


@dataclass(frozen=True)
class _Head:
    """What ends a model: the attribute, its layers, and the features of an image that they get.

    ``layers`` are Sequential's: a number is a Linear with so many outputs, ``"classes"`` one with an output a class.
    """

    name: str
    features: int
    layers: tuple[str | int, ...] = ()
    spatial: bool = False
    flattens: bool = False


def _flat(features: int) -> _Head:
    return _Head("classifier", features, ("Dropout", "classes"))


def _mobile(features: int, hidden: int) -> _Head:
    return _Head("classifier", features, (hidden, "Hardswish", "Dropout", "classes"))


def _convnext(features: int) -> _Head:
    return _Head("classifier", features, ("LayerNorm2d", "Flatten", "classes"), spatial=True)


_VGG: Final = _Head("classifier", 25_088, (4_096, "ReLU", "Dropout", 4_096, "ReLU", "Dropout", "classes"))
_ALEXNET: Final = _Head("classifier", 9_216, ("Dropout", 4_096, "ReLU", "Dropout", 4_096, "ReLU", "classes"))
_SQUEEZENET: Final = _Head(
    "classifier", 512, ("Dropout", "Conv2d", "ReLU", "AdaptiveAvgPool2d"), spatial=True, flattens=True
)
_RESNETS: Final = {  # how many times the width of a block is what it gives
    **dict.fromkeys(("resnet18", "resnet34"), 1),
    **dict.fromkeys(("resnet50", "resnet101", "resnet152", "wide_resnet50_2", "wide_resnet101_2"), 4),
    **dict.fromkeys(("resnext50_32x4d", "resnext101_32x8d", "resnext101_64x4d"), 4),
}
_FLAT: Final = {
    **dict.fromkeys(("mobilenet_v2", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"), 1280),
    **{f"efficientnet_v2_{size}": 1_280 for size in "sml"},
    **{f"efficientnet_b{i}": n for i, n in enumerate((1_280, 1_280, 1_408, 1_536, 1_792, 2_048, 2_304, 2_560))},
}
_VITS: Final = {"vit_b_16": 768, "vit_b_32": 768, "vit_l_16": 1_024, "vit_l_32": 1_024, "vit_h_14": 1_280}
_HEADS: Final = {
    **{f"shufflenet_v2_x{size}": _Head("fc", 1_024) for size in ("0_5", "1_0", "1_5")},
    "shufflenet_v2_x2_0": _Head("fc", 2_048),
    "alexnet": _ALEXNET,
    **{f"vgg{n}{norm}": _VGG for n in (11, 13, 16, 19) for norm in ("", "_bn")},
    **{f"densenet{n}": _Head("classifier", f) for n, f in ((121, 1_024), (161, 2_208), (169, 1_664), (201, 1_920))},
    **{name: _flat(features) for name, features in _FLAT.items()},
    "mobilenet_v3_large": _mobile(960, 1_280),
    "mobilenet_v3_small": _mobile(576, 1_024),
    **dict.fromkeys(("squeezenet1_0", "squeezenet1_1"), _SQUEEZENET),
    **{f"convnext_{s}": _convnext(f) for s, f in (("tiny", 768), ("small", 768), ("base", 1_024), ("large", 1_536))},
    **{f"swin_{v}{s}": _Head("head", f) for v in ("", "v2_") for s, f in (("t", 768), ("s", 768), ("b", 1_024))},
    **{name: _Head("heads", features, ("classes",)) for name, features in _VITS.items()},
}
_FILES: Final = "resnet vgg alexnet densenet efficientnet mobilenet vision_transformer swin_transformer squeezenet"
ALIASES.update({f"{MODELS}.{file}": MODELS for file in _FILES.split()})


def _identity(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[1]


library_class(f"{MODELS}.convnext.LayerNorm2d", (layers.MODULE,), {"forward": _identity})


def _layer(run: Interpreter, name: str, *args: Value, **kwargs: Value) -> Value:
    module = f"{MODELS}.convnext" if name == "LayerNorm2d" else "torch.nn"
    return run.call(run.program.library_class(f"{module}.{name}"), args, kwargs)


def _build(run: Interpreter, head: _Head, classes: Value) -> Value:
    """The layers that end a model."""
    if not head.layers:
        return _layer(run, "Linear", head.features, classes)
    rows: list[Value] = []
    width: Value = head.features
    for part in head.layers:
        if part == "classes" or isinstance(part, int):
            wide = classes if part == "classes" else part
            rows.append(_layer(run, "Linear", width, wide))
            width = wide
        elif part == "Conv2d":
            rows.append(_layer(run, "Conv2d", width, classes, kernel_size=1))
        else:
            rows.append(_layer(run, part, *(((1, 1),) if part == "AdaptiveAvgPool2d" else ())))
    names = ("head",) if head.name == "heads" else tuple(map(str, range(len(rows))))
    return _layer(run, "Sequential", Dict(dict(zip(names, rows, strict=True))))


def _make(run: Interpreter, name: str, kwargs: Kwargs) -> Value:
    head = _HEADS[name]
    made = Instance(run.program.library_class(f"{MODELS}.{name}()"), head)
    run.heap.write(made.cells, head.name, _build(run, head, run.resolve(kwargs.get("num_classes", _CLASSES))))
    run.heap.write(made.state, "open", True)
    return made


def images_for(run: Interpreter, head: str, args: Args, kwargs: Kwargs) -> TensorType | Unknown:
    """The type of the images that are given to a model whose head alone is known.

    It is unknown if more than the model's mode was changed, or if the argument is no batch of images.
    """
    me, value = args[0], run.resolve(args[1] if len(args) > 1 else next(iter(kwargs.values()), None))
    if me.cells.keys() - {"training"} != {head} or isinstance(me.cells[head], Unknown):
        return run.unknown("what a model gives that was changed")
    kind = value.type if isinstance(value, Tensor) else TensorType()
    if kind.shape.is_exact and kind.shape.rank != 4:
        return run.unknown("what a model gives for what is no batch of images")
    return kind


def _forward(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    head: _Head = me.native
    kind = images_for(run, head.name, args, kwargs)
    if isinstance(kind, Unknown):
        return kind
    batch = kind.shape.dims[0] if kind.shape.is_exact else UNKNOWN
    pixels = (UNKNOWN, UNKNOWN) if head.flattens else (1, 1) if head.spatial else ()
    found = run.call(me.cells[head.name], (Tensor(TensorType(Shape((batch, head.features, *pixels)), kind.dtype)),))
    return run.ask("torch.flatten", (found, 1)) if head.flattens else found


def _register(name: str) -> None:
    library_class(f"{MODELS}.{name}()", (layers.MODULE,), {"forward": _forward})

    def call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return _make(run, name, kwargs)

    native(f"{MODELS}.{name}")(call)


for _name in _HEADS:
    _register(_name)


# -- ResNets, which programs take apart ------------------------------------------------------------------------------

# no name that a program can say: torchvision's class of that name takes other arguments
_STAGE: Final = f"{MODELS}.Stage()"
_RESNET: Final = f"{MODELS}.ResNet()"


def _make_resnet(run: Interpreter, name: str, kwargs: Kwargs) -> Value:
    if not kwargs.keys() <= {"weights", "pretrained", "progress", "num_classes"}:
        return run.unknown("a model that is built in another way")
    times = _RESNETS[name]
    parts = {
        "conv1": _layer(run, "Conv2d", 3, 64, kernel_size=7, stride=2, padding=3, bias=False),
        "bn1": _layer(run, "BatchNorm2d", 64),
        "relu": _layer(run, "ReLU", inplace=True),
        "maxpool": _layer(run, "MaxPool2d", kernel_size=3, stride=2, padding=1),
        **{f"layer{i + 1}": _stage(run, 64 * 2**i * times, 2 if i else 1) for i in range(4)},
        "avgpool": _layer(run, "AdaptiveAvgPool2d", (1, 1)),
        "fc": _layer(run, "Linear", 512 * times, run.resolve(kwargs.get("num_classes", _CLASSES))),
    }
    made = Instance(run.program.library_class(_RESNET))
    for part, value in parts.items():
        run.heap.write(made.cells, part, value)
    return made


def _stage(run: Interpreter, channels: int, stride: int) -> Instance:
    """Several blocks, of which only is known what they make of a size."""
    made = Instance(run.program.library_class(_STAGE), (channels, stride))
    run.heap.write(made.state, "open", True)
    return made


def _through_stage(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, value = args[0], run.resolve(args[1])
    kind = value.type if isinstance(value, Tensor) else TensorType()
    if me.state.get("taken apart") or not kind.shape.is_exact or kind.shape.rank not in (3, 4):
        return run.unknown("what a part of a ResNet gives")
    channels, stride = me.native
    plane = tuple(UNKNOWN if d is UNKNOWN else (d - 1) // stride + 1 for d in kind.shape.dims[-2:])
    return Tensor(TensorType(Shape((*kind.shape.dims[:-3], channels, *plane)), kind.dtype))


def _take_apart(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whoever has a block may change it."""
    run.heap.write(args[0].state, "taken apart", True)
    return run.unknown("a block of a ResNet")


def _through_resnet(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, value = args[0], args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    for name in ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4", "avgpool"):
        value = run.call(run.attribute(me, name), (value,))
    return run.call(run.attribute(me, "fc"), (run.ask("torch.flatten", (value, 1)),))


library_class(
    _STAGE,
    ("torch.nn.Sequential",),
    {"forward": _through_stage, "__getitem__": _take_apart, "__iter__": _take_apart},
)
library_class(_RESNET, (layers.MODULE,), {"forward": _through_resnet})


def _register_resnet(name: str) -> None:
    native(f"{MODELS}.{name}")(lambda run, args, kwargs: _make_resnet(run, name, kwargs))


for _name in _RESNETS:
    _register_resnet(_name)


@native(f"{MODELS}.get_model")
def _get_model(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    name = run.resolve(args[0] if args else kwargs.get("name"))
    if name in _RESNETS:
        return _make_resnet(run, name, kwargs)
    return _make(run, name, kwargs) if name in _HEADS else run.unknown("a model that isn't known")
