"""timm's names: state dicts come and go (benchmarks/vision_models.py runs timm's own source beside it)."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.vision_models import digest, entries
from simpletorch import nn
from simpletorch.errors import CheckpointError
from simpletorch.nn import StateMismatch
from simpletorch.vision import models
from simpletorch.vision.models import from_timm, to_timm

TIMM = json.loads(Path(__file__).with_name("digests.json").read_text("utf-8"))["timm"]


def on_meta(name, **options):
    with torch.device("meta"):
        return getattr(models, name)(**options)


@pytest.mark.parametrize("name", TIMM)
def test_names_and_shapes_are_timms(name):
    model = on_meta(name)
    assert digest(dict(sorted(to_timm(model).items()))) == TIMM[name]


@pytest.mark.parametrize("name", TIMM)
def test_there_and_back(name):
    state = on_meta(name).state_dict()
    assert sorted(entries(from_timm(to_timm(on_meta(name))))) == sorted(entries(state))


@pytest.mark.parametrize("name", ["mobilenet_v3_small", "swin_t", "convnext_tiny"])
def test_the_values_come_back(name):
    torch.manual_seed(3)
    model = getattr(models, name)(num_classes=7)
    again = getattr(models, name)(num_classes=7, weights=from_timm(to_timm(model)))
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in model.state_dict().items())


def test_buffers_of_older_versions_of_timm_are_passed_over():
    state = to_timm(on_meta("swin_t"))
    old = {"layers.0.blocks.0.attn.relative_position_index": torch.zeros(49, 49), "layers.0.blocks.1.attn_mask": None}
    assert from_timm(state | old).keys() == from_timm(state).keys()


def test_variants_with_other_parts_are_named():
    state = to_timm(on_meta("convnext_tiny"))
    state["stages.0.blocks.0.mlp.grn.weight"] = torch.zeros(384)  # of ConvNeXt V2
    with pytest.raises(CheckpointError, match=r"timm's stages\.0\.blocks\.0\.mlp\.grn\.weight have no counterpart"):
        from_timm(state)
    model = on_meta("swin_t")
    model.head = nn.Sequential(nn.Linear(768, 11), nn.ReLU(), nn.Linear(11, 7))
    with pytest.raises(CheckpointError, match=r"SwinTransformer's head\.0\.weight, head\.0\.bias, head\.2\.weight"):
        to_timm(model)


def test_another_size_does_not_fit():
    with pytest.raises(StateMismatch, match="misshapen"):
        models.mobilenet_v3_small(weights=from_timm(to_timm(on_meta("mobilenet_v3_small", num_classes=7))))


def test_other_families():
    with pytest.raises(CheckpointError, match=r"the names a\.weight … are of none of timm's models that are known"):
        from_timm({"a.weight": torch.zeros(2)})
    with pytest.raises(TypeError, match=r"to_timm takes a model of resnet, vit, convnext, .*, not a VGG"):
        to_timm(on_meta("vgg11"))
