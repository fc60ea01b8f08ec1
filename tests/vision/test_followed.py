"""`simpletorch.vision.models` as the follower has them: what they give, and what a replaced head makes of it."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import torch
from torch import nn
import simpletorch as st
from simpletorch.vision import models
from simpletorch.vision.io import read_image
from simpletorch.vision.models import swin_t, unet
x = torch.zeros(2, 3, 67, 71)
picture = read_image("a.png")
"""


def followed(program: str, folder: Path):
    path = folder / "program.py"
    path.write_text(HEAD + program)
    result = follow(path)
    shown = {name: str(values[-1]) for names in result.claims.values() for name, values in names.items()}
    return shown.get("y"), [finding.message for finding in result.errors]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("y = models.resnet18(num_classes=7)(x)", "Float32[2, 7]"),
        ("y = models.convnext_tiny(num_classes=7)(x)", "Float32[2, 7]"),
        ("y = models.mobilenet_v3_small(num_classes=7)(x)", "Float32[2, 7]"),
        ("y = models.efficientnet_b3()(x)", "Float32[2, 1000]"),
        ("y = st.vision.models.swin_b(num_classes=7)(x)", "Float32[2, 7]"),
        ("y = unet(num_classes=7, width=11)(x)", "Float32[2, 7, 67, 71]"),
        ("m = swin_t()\nm.head = nn.Linear(768, 11)\ny = m(x)", "Float32[2, 11]"),
        ("m = models.convnext_tiny()\nm.classifier[2] = nn.Linear(768, 11)\ny = m(x)", "Float32[2, 11]"),
        ("m = models.efficientnet_b0()\nm.classifier = nn.Identity()\ny = m(x)", "Float32[2, 1280]"),
        ("m = unet(width=11)\nm.head = nn.Conv2d(11, 5, 1)\ny = m(x)", "Float32[2, 5, 67, 71]"),
        ("m = unet()\nm.stem = nn.Conv2d(3, 64, 1)\ny = m(x)", None),
    ],
)
def test_what_a_model_gives(program, expected, tmp_path):
    shown, errors = followed(program, tmp_path)
    assert (shown, errors) == (expected, [])


def test_a_head_for_other_features(tmp_path):
    _, errors = followed("m = swin_t()\nm.head = nn.Linear(512, 7)\nm(x)", tmp_path)
    assert [error.partition(" [")[0] for error in errors] == [
        "Linear(512, 7): the last dim of input is 768, but the layer takes 512 features"
    ]
    _, errors = followed("m = unet()\nm.head = nn.Conv2d(32, 7, 1)\nm(x)", tmp_path)
    assert [error.partition(" [")[0] for error in errors] == [
        "Conv2d(32, 7, 1): input has 64 channels at dim 1, but the layer takes 32"
    ]


@pytest.mark.parametrize("library", ["simpletorch.vision.models", "torchvision.models", "torchvision.models.resnet"])
def test_the_classes_of_models_are_not_known(library, tmp_path):
    program = f"""from {library} import BasicBlock, ResNet

class Own(ResNet):
    def __init__(self):
        super().__init__(BasicBlock, [1, 1, 1, 1], 7)
        self.extra = nn.Linear(7, 5)

    def forward(self, x):
        return self.extra(super().forward(x))

m = ResNet(BasicBlock, [2, 2, 2, 2], 7)
y = m(x), Own()(x), m.fc.in_features, isinstance(models.resnet18(), ResNet)
"""
    assert followed(program, tmp_path) == (None, [])
