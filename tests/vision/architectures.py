"""Every parameter and buffer of the models by torchvision's name, with its shape, derived from the papers' tables.

Nothing here knows the code under test: the tables are read off the papers, the names are those of torchvision's files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Shapes = dict[str, tuple[int, ...]]

# He et al. 2016, Table 1: blocks in conv2_x, conv3_x, conv4_x, conv5_x; and whether a block is a bottleneck
RESNETS = {
    "resnet18": ((2, 2, 2, 2), False),
    "resnet34": ((3, 4, 6, 3), False),
    "resnet50": ((3, 4, 6, 3), True),
    "resnet101": ((3, 4, 23, 3), True),
    "resnet152": ((3, 8, 36, 3), True),
}

# Simonyan and Zisserman 2015, Table 1, columns A, B, D, E: conv3-N, and M for a max pooling
VGGS = {
    "vgg11": "64 M 128 M 256 256 M 512 512 M 512 512 M",
    "vgg13": "64 64 M 128 128 M 256 256 M 512 512 M 512 512 M",
    "vgg16": "64 64 M 128 128 M 256 256 256 M 512 512 512 M 512 512 512 M",
    "vgg19": "64 64 M 128 128 M 256 256 256 256 M 512 512 512 512 M 512 512 512 512 M",
}

# Dosovitskiy et al. 2021, Table 1: layers, width, width of the perceptron, heads; then the side of a patch
VITS = {"vit_b_16": (12, 768, 3072, 12, 16)}

# the number of learned values, as torchvision's documentation states it for ImageNet's 1000 classes
PARAMETERS = {
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "resnet152": 60_192_808,
    "vgg11": 132_863_336,
    "vgg11_bn": 132_868_840,
    "vgg13": 133_047_848,
    "vgg13_bn": 133_053_736,
    "vgg16": 138_357_544,
    "vgg16_bn": 138_365_992,
    "vgg19": 143_667_240,
    "vgg19_bn": 143_678_248,
    "vit_b_16": 86_567_656,
}

# billions of multiply-adds for one image of 224×224, as torchvision's documentation states them ("GFLOPS")
MULTIPLY_ADDS = {
    "resnet18": 1.81,
    "resnet34": 3.66,
    "resnet50": 4.09,
    "resnet101": 7.80,
    "resnet152": 11.51,
    "vgg11": 7.61,
    "vgg11_bn": 7.61,
    "vgg13": 11.31,
    "vgg13_bn": 11.31,
    "vgg16": 15.47,
    "vgg16_bn": 15.47,
    "vgg19": 19.63,
    "vgg19_bn": 19.63,
    "vit_b_16": 17.56,
}


def table(name: str, classes: int = 1000) -> Shapes:
    """Name and shape of everything in the model's state dict, in order."""
    if name in RESNETS:
        return dict(_resnet(*RESNETS[name], classes))
    if name in VITS:
        return dict(_vit(*VITS[name], classes))
    return dict(_vgg(VGGS[name.removesuffix("_bn")], name.endswith("_bn"), classes))


def _norm(name: str, channels: int) -> Iterator[tuple[str, Any]]:
    for part in ("weight", "bias", "running_mean", "running_var"):
        yield f"{name}.{part}", (channels,)
    yield f"{name}.num_batches_tracked", ()


def _layer(name: str, out: int, *rest: int) -> Iterator[tuple[str, Any]]:
    yield f"{name}.weight", (out, *rest)
    yield f"{name}.bias", (out,)


def _resnet(blocks: tuple[int, ...], bottleneck: bool, classes: int) -> Iterator[tuple[str, Any]]:
    yield "conv1.weight", (64, 3, 7, 7)
    yield from _norm("bn1", 64)
    before = 64
    for stage, count in enumerate(blocks):
        width = 64 * 2**stage
        out = 4 * width if bottleneck else width
        for i in range(count):
            name = f"layer{stage + 1}.{i}"
            kernels = (
                ((width, before, 1), (width, width, 3), (out, width, 1))
                if bottleneck
                else ((out, before, 3), (out, out, 3))
            )
            for number, (channels, from_, side) in enumerate(kernels, 1):
                yield f"{name}.conv{number}.weight", (channels, from_, side, side)
                yield from _norm(f"{name}.bn{number}", channels)
            if i == 0 and (stage > 0 or out != before):  # the size or the channels change: a projection
                yield f"{name}.downsample.0.weight", (out, before, 1, 1)
                yield from _norm(f"{name}.downsample.1", out)
            before = out
    yield from _layer("fc", classes, before)


def _vgg(column: str, batch_norm: bool, classes: int) -> Iterator[tuple[str, Any]]:
    place, before = 0, 3
    for entry in column.split():
        if entry == "M":
            place += 1
            continue
        yield from _layer(f"features.{place}", int(entry), before, 3, 3)
        if batch_norm:
            yield from _norm(f"features.{place + 1}", int(entry))
        place += 3 if batch_norm else 2  # the convolution, its norm, its ReLU
        before = int(entry)
    for place, out, from_ in ((0, 4096, 512 * 7 * 7), (3, 4096, 4096), (6, classes, 4096)):
        yield from _layer(f"classifier.{place}", out, from_)


def _vit(layers: int, width: int, hidden: int, heads: int, patch: int, classes: int) -> Iterator[tuple[str, Any]]:
    assert width % heads == 0
    yield "class_token", (1, 1, width)
    yield from _layer("conv_proj", width, 3, patch, patch)
    yield "encoder.pos_embedding", (1, 1 + (224 // patch) ** 2, width)
    for i in range(layers):
        name = f"encoder.layers.encoder_layer_{i}"
        yield from _layer(f"{name}.ln_1", width)
        yield f"{name}.self_attention.in_proj_weight", (3 * width, width)
        yield f"{name}.self_attention.in_proj_bias", (3 * width,)
        yield from _layer(f"{name}.self_attention.out_proj", width, width)
        yield from _layer(f"{name}.ln_2", width)
        yield from _layer(f"{name}.mlp.0", hidden, width)
        yield from _layer(f"{name}.mlp.3", width, hidden)
    yield from _layer("encoder.ln", width)
    yield from _layer("heads.head", classes, width)
