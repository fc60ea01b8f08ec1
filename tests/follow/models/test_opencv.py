"""OpenCV, which isn't installed: the shapes are those that version 5.0.0 gave, in a run by hand."""

import re
from pathlib import Path

import pytest

from simpletorch.follow import follow

_HEAD = """import cv2
import numpy as np
import torch
a, g, o = np.zeros((6, 8, 3), "uint8"), np.zeros((6, 8), "uint8"), np.zeros((6, 8, 1), "float32")
"""


def followed(program: str, folder: Path):
    (folder / "program.py").write_text(_HEAD + program + "\n")
    return follow(folder / "program.py")


@pytest.mark.parametrize(
    ("image", "shape"),
    {
        "cv2.resize(a, (5, 4))": "UInt8[4, 5, 3]",
        "cv2.resize(g, (5, 4), interpolation=cv2.INTER_AREA)": "UInt8[4, 5]",
        "cv2.resize(o, dsize=(5, 4))": "Float32[4, 5]",
        "cv2.resize(a, None, fx=0.5, fy=0.5)": "UInt8[?, ?, 3]",
        "cv2.cvtColor(a, cv2.COLOR_BGR2GRAY)": "UInt8[6, 8]",
        "cv2.cvtColor(g, cv2.COLOR_GRAY2BGR)": "UInt8[6, 8, 3]",
        "cv2.cvtColor(a, cv2.COLOR_BGR2HSV)": "UInt8[6, 8, 3]",
        "cv2.cvtColor(a, cv2.COLOR_BGR2BGRA)": "UInt8[6, 8, 4]",
        "cv2.flip(o, 1)": "Float32[6, 8]",
        "cv2.GaussianBlur(a, (3, 3), 0)": "UInt8[6, 8, 3]",
        "cv2.warpAffine(a, np.eye(2, 3), (5, 4))": "UInt8[4, 5, 3]",
        "cv2.copyMakeBorder(a, 1, 2, 3, 4, cv2.BORDER_CONSTANT, value=0)": "UInt8[9, 15, 3]",
        "cv2.copyMakeBorder(o, 1, 2, 3, 4, cv2.BORDER_CONSTANT)": "Float32[9, 15]",
        "cv2.imread('none.png')": "UInt8[?, ?, 3]",
        "cv2.imread('none.png', cv2.IMREAD_GRAYSCALE)": "UInt8[?, ?]",
        "cv2.resize(cv2.imread('none.png'), (5, 4))": "UInt8[4, 5, 3]",
    }.items(),
)
def test_the_size_of_an_image_is_known(image: str, shape: str, tmp_path: Path):
    found = followed(f"y = {image}\nz = torch.from_numpy(y)\nreveal_type(z)", tmp_path)
    assert found.errors == ()
    assert [re.sub("[0-9]*[.][.]", "?", note.message) for note in found.notes] == [f'Revealed type is "{shape}"']


@pytest.mark.parametrize(
    "right",
    [
        "y = cv2.resize(unknown(), (4, 4))\ntorch.from_numpy(y).permute(2, 0, 1)",
        "y = cv2.imread('x.png', -1)\nif y.ndim == 2:\n    y = y[:, :, None]\ntorch.from_numpy(y[:, :, 0])",
        "y = cv2.imread('x.png')\nif y is None:\n    raise FileNotFoundError\ntorch.from_numpy(y).float() / 255",
        "cap = cv2.VideoCapture(0)\nok, frame = cap.read()\ntorch.from_numpy(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))",
        "h, w = a.shape[:2]\ny = cv2.resize(a, (w // 2, h // 2))\ntorch.from_numpy(y).view(3, 4, 3)",
        "cv2.setNumThreads(0)\ncv2.imshow('x', a)\ncv2.waitKey(1)\ncv2.destroyAllWindows()",
    ],
)
def test_nothing_is_said_of_right_programs(right: str, tmp_path: Path):
    found = followed("from somewhere import unknown\n" + right, tmp_path)
    assert (found.errors, found.warnings, found.faults) == ((), (), ())


@pytest.mark.parametrize(
    "wrong",
    [
        "torch.from_numpy(cv2.resize(a, (5, 4))) + torch.zeros(5, 4, 3)",
        "torch.from_numpy(cv2.cvtColor(a, cv2.COLOR_RGB2GRAY)).permute(2, 0, 1)",
        "torch.nn.Conv2d(1, 2, 3)(torch.from_numpy(cv2.imread('x.png')).permute(2, 0, 1).float())",
    ],
)
def test_a_wrong_use_of_an_image_is_found(wrong: str, tmp_path: Path):
    assert len(followed(wrong, tmp_path).errors) == 1
