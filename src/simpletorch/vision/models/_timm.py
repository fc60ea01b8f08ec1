"""State dicts of timm's models under torchvision's names, and back.

Both libraries build the same networks and name their parts differently. A family is a list of pairs of names, timm's
and ours, of modules or of single tensors; how long it is follows from how many blocks each stage has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

import torch
from torch import nn

from simpletorch.errors import CheckpointError
from simpletorch.vision.models._convnext import ConvNeXt
from simpletorch.vision.models._efficientnet import EfficientNet
from simpletorch.vision.models._mobilenet import MobileNetV3
from simpletorch.vision.models._resnet import ResNet
from simpletorch.vision.models._swin import SwinTransformer, window_positions
from simpletorch.vision.models._vit import VisionTransformer

__all__ = ["from_timm", "to_timm"]

State: TypeAlias = Mapping[str, torch.Tensor]
Pairs: TypeAlias = Iterator[tuple[str, str]]  # timm's name and ours, of a module or of a tensor

_FAMILIES: Final = "resnet, vit, convnext, swin, mobilenetv3 and efficientnet"
_PERCEPTRON: Final = (("mlp.fc1", "mlp.0"), ("mlp.fc2", "mlp.3"))


def from_timm(state: State) -> dict[str, torch.Tensor]:
    """The state dict of one of timm's models, under the names of ours: ``resnet50(weights=from_timm(state))``.

    The families are resnet, vit, convnext, swin, mobilenetv3 and efficientnet, in the variants that `vision.models`
    has. The norms of timm's models may have another epsilon, which no state dict holds: for ``mobilenetv3_large_100``
    and ``mobilenetv3_small_100`` build the model with ``norm_layer=nn.BatchNorm2d``. The padding of timm's ``tf_…``
    models differs.

    Args:
        state: tensors by timm's names; its ``state_dict()``, or the result of `read_weights` on its files.

    Returns:
        The same tensors; a few are reshaped, and Swin's table of offsets, which timm doesn't save, is added.

    Raises:
        CheckpointError: the names are of no such model, or of a variant with other parts.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> model = models.resnet18()
        >>> state = models.from_timm(models.to_timm(model))
        >>> model.load_state_dict(state)
        <All keys matched successfully>

    Source: https://github.com/huggingface/pytorch-image-models, timm 1.0.31.
    """
    pairs = dict(_pairs_of(state))
    kept = {key: value for key, value in state.items() if not key.endswith(("relative_position_index", "attn_mask"))}
    made = _renamed(kept, pairs, "timm's")
    for key, value in list(made.items()):
        if key.endswith("layer_scale"):
            made[key] = value.reshape(-1, 1, 1)
        elif key == "classifier.0.weight" and value.ndim == 4:  # a convolution of one pixel, there
            made[key] = value.flatten(1)
        elif key.endswith("relative_position_bias_table"):
            window = (math.isqrt(len(value)) + 1) // 2
            made[key.replace("bias_table", "index")] = window_positions(window).to(value.device)
    return made


def to_timm(model: nn.Module) -> dict[str, torch.Tensor]:
    """The state dict of a model of `vision.models`, under timm's names; see `from_timm` for the families.

    Args:
        model: a model of a family that `from_timm` has.

    Returns:
        Tensors by timm's names; they share memory with the model.

    Raises:
        TypeError: the model is of no such family.
        CheckpointError: it has parts that timm's has not, such as layers that were put in.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> sorted(models.to_timm(models.resnet18()))[:2]
        ['bn1.bias', 'bn1.num_batches_tracked']
    """
    family = next((pairs for kind, pairs in _OURS.items() if isinstance(model, kind)), None)
    if family is None:
        raise TypeError(f"to_timm takes a model of {_FAMILIES}, not a {type(model).__name__}")
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("relative_position_index")}
    made = _renamed(state, {ours: theirs for theirs, ours in family(state)}, type(model).__name__ + "'s")
    for key, value in list(made.items()):
        if key.endswith("gamma"):
            made[key] = value.flatten()
        elif key == "conv_head.weight" and value.ndim == 2:
            made[key] = value[:, :, None, None]
    return made


def _renamed(state: State, names: Mapping[str, str], whose: str) -> dict[str, torch.Tensor]:
    """The state under other names: those of its tensors, or of the modules that they belong to."""
    made, strange = {}, []
    for key, value in state.items():
        module, _, tensor = key.rpartition(".")
        if not names or key in names:  # no names: both are the same
            made[names.get(key, key)] = value
        elif module in names:
            made[f"{names[module]}.{tensor}"] = value
        else:
            strange.append(key)
    if strange:
        shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        raise CheckpointError(f"{whose} {shown} have no counterpart: it is a variant of the model with other parts")
    return made


# -- which family a state dict of timm's is of -----------------------------------------------------------------------


def _pairs_of(state: State) -> Pairs:
    if "layer1.0.conv1.weight" in state:
        return iter(())
    if "cls_token" in state:
        return _vit(_counted(state, r"blocks\.()(\d+)\.")[0])
    if "stem.0.weight" in state:
        return _convnext(_counted(state, r"stages\.(\d+)\.blocks\.(\d+)\."))
    if "patch_embed.norm.weight" in state:
        return _swin(_counted(state, r"layers\.(\d+)\.blocks\.(\d+)\."))
    if "conv_stem.weight" in state:
        counts = _counted(state, r"blocks\.(\d+)\.(\d+)\.")
        kinds = [[_timm_kind(state, f"blocks.{s}.{i}.") for i in range(n)] for s, n in enumerate(counts)]
        return _efficientnet(kinds) if "bn2.weight" in state else _mobilenet(kinds)
    shown = ", ".join(list(state)[:3])
    raise CheckpointError(f"the names {shown} … are of none of timm's models that are known: {_FAMILIES}")


def _counted(state: Iterable[str], pattern: str) -> list[int]:
    """How many blocks each stage has: the pattern's groups are the numbers of the stage and of the block."""
    found: dict[int, int] = {}
    for key in state:
        if match := re.match(pattern, key):
            stage, block = int(match[1] or 0), int(match[2])
            found[stage] = max(found.get(stage, 0), block + 1)
    return [found.get(stage, 0) for stage in range(max(found, default=-1) + 1)] or [0]


# -- the names, family by family --------------------------------------------------------------------------------------


def _vit(blocks: int) -> Pairs:
    yield from (("cls_token", "class_token"), ("pos_embed", "encoder.pos_embedding"))
    yield from (("patch_embed.proj", "conv_proj"), ("norm", "encoder.ln"), ("head", "heads.head"))
    for i in range(blocks):
        theirs, ours = f"blocks.{i}", f"encoder.layers.encoder_layer_{i}"
        for part in ("weight", "bias"):
            yield f"{theirs}.attn.qkv.{part}", f"{ours}.self_attention.in_proj_{part}"
        yield f"{theirs}.attn.proj", f"{ours}.self_attention.out_proj"
        for there, here in (("norm1", "ln_1"), ("norm2", "ln_2"), *_PERCEPTRON):
            yield f"{theirs}.{there}", f"{ours}.{here}"


def _convnext(layers: Sequence[int]) -> Pairs:
    yield from (("stem.0", "features.0.0"), ("stem.1", "features.0.1"))
    yield from (("head.norm", "classifier.0"), ("head.fc", "classifier.2"))
    parts = (("conv_dw", "block.0"), ("norm", "block.2"), ("mlp.fc1", "block.3"), ("mlp.fc2", "block.5"))
    for stage, count in enumerate(layers):
        for part in (0, 1) if stage else ():
            yield f"stages.{stage}.downsample.{part}", f"features.{2 * stage}.{part}"
        for i in range(count):
            theirs, ours = f"stages.{stage}.blocks.{i}", f"features.{2 * stage + 1}.{i}"
            yield f"{theirs}.gamma", f"{ours}.layer_scale"
            for there, here in parts:
                yield f"{theirs}.{there}", f"{ours}.{here}"


def _swin(depths: Sequence[int]) -> Pairs:
    yield from (("patch_embed.proj", "features.0.0"), ("patch_embed.norm", "features.0.2"))
    yield from (("norm", "norm"), ("head.fc", "head"))
    same = [(part, part) for part in ("norm1", "norm2", "attn", "attn.qkv", "attn.proj")]
    for stage, count in enumerate(depths):
        for part in ("norm", "reduction") if stage else ():
            yield f"layers.{stage}.downsample.{part}", f"features.{2 * stage}.{part}"
        for i in range(count):
            for there, here in (*same, *_PERCEPTRON):
                yield f"layers.{stage}.blocks.{i}.{there}", f"features.{2 * stage + 1}.{i}.{here}"


def _timm_kind(state: State, block: str) -> tuple[str, bool]:
    """A block's kind and whether it scales channels."""
    kind = "inverted" if f"{block}conv_pwl.weight" in state else "separable"
    return "plain" if f"{block}conv.weight" in state else kind, f"{block}se.conv_reduce.weight" in state


def _our_kind(state: State, block: str) -> tuple[str, bool]:
    numbers = [int(key[len(block) :].split(".")[0]) for key in state if key.startswith(block)]
    excited = any(key.startswith(block) and key.endswith("fc1.weight") for key in state)
    return "inverted" if max(numbers) - excited == 2 else "separable", excited


def _block(theirs: str, ours: str, kind: str, excited: bool) -> Pairs:
    """The parts of one block: convolutions with a norm each, and what scales the channels before the last one."""
    convs = {"inverted": ("conv_pw", "conv_dw", "conv_pwl"), "separable": ("conv_dw", "conv_pw")}[kind]
    for i, conv in enumerate(convs):
        last = i == len(convs) - 1
        place = i + (excited and last)
        yield f"{theirs}.{conv}", f"{ours}.{place}.0"
        yield f"{theirs}.bn{i + 1}", f"{ours}.{place}.1"
        if excited and last:
            yield f"{theirs}.se.conv_reduce", f"{ours}.{i}.fc1"
            yield f"{theirs}.se.conv_expand", f"{ours}.{i}.fc2"


Kinds: TypeAlias = Sequence[Sequence[tuple[str, bool]]]  # of each stage's blocks


def _efficientnet(stages: Kinds) -> Pairs:
    yield from (("conv_stem", "features.0.0"), ("bn1", "features.0.1"), ("classifier", "classifier.1"))
    for stage, blocks in enumerate(stages):
        for i, (kind, excited) in enumerate(blocks):
            yield from _block(f"blocks.{stage}.{i}", f"features.{stage + 1}.{i}.block", kind, excited)
    yield from (("conv_head", f"features.{len(stages) + 1}.0"), ("bn2", f"features.{len(stages) + 1}.1"))


def _mobilenet(stages: Kinds) -> Pairs:
    yield from (("conv_stem", "features.0.0"), ("bn1", "features.0.1"))
    yield from (("conv_head", "classifier.0"), ("classifier", "classifier.3"))
    place = 1
    for stage, blocks in enumerate(stages):
        for i, (kind, excited) in enumerate(blocks):
            theirs, ours = f"blocks.{stage}.{i}", f"features.{place}"
            if kind == "plain":
                yield from ((f"{theirs}.conv", f"{ours}.0"), (f"{theirs}.bn1", f"{ours}.1"))
            else:
                yield from _block(theirs, f"{ours}.block", kind, excited)
            place += 1


def _of_efficientnet(state: State) -> Pairs:
    counts = _counted(state, r"features\.(\d+)\.(\d+)\.block\.")
    kinds = [[_our_kind(state, f"features.{s}.{i}.block.") for i in range(n)] for s, n in enumerate(counts)]
    return _efficientnet(kinds[1:])  # the first is the stem


def _of_mobilenet(state: State) -> Pairs:
    """timm's stages are the blocks that give equally many channels; its last has the plain convolution alone."""
    places = range(1, 1 + len({key.split(".")[1] for key in state if ".block." in key}))
    kinds = {place: _our_kind(state, f"features.{place}.block.") for place in places}

    def channels(place: int) -> int:
        kind, excited = kinds[place]
        return len(state[f"features.{place}.block.{(kind == 'inverted') + 1 + excited}.0.weight"])

    stages = [[kinds[place] for place in group] for _, group in groupby(places, channels)]
    return _mobilenet([*stages, [("plain", False)]])


_OURS: Final[Mapping[type[nn.Module], Callable[[State], Pairs]]] = {
    ResNet: lambda state: iter(()),
    VisionTransformer: lambda state: _vit(_counted(state, r"encoder\.layers\.encoder_layer_()(\d+)\.")[0]),
    ConvNeXt: lambda state: _convnext(_counted(state, r"features\.(\d+)\.(\d+)\.block\.")[1::2]),
    SwinTransformer: lambda state: _swin(_counted(state, r"features\.(\d+)\.(\d+)\.attn\.")[1::2]),
    EfficientNet: _of_efficientnet,
    MobileNetV3: _of_mobilenet,
}
