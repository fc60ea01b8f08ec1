"""`benchmarks/vision_models.py` runs torchvision's own source beside ours, and says what differs."""

import enum
import subprocess
import sys

import pytest
import torch

from benchmarks import found, vision_models
from tests.marks import thorough


class Weights:
    """A member of torchvision's enumerations."""

    @property
    def url(self):
        return self.value


class Library:
    """As torchvision's models, of which two have changed."""

    @staticmethod
    def get_model_weights(name):
        published = {key: vision_models.ADDRESS + file for key, file in vision_models.PUBLISHED[name].items()}
        names = list(published.items())
        return enum.Enum("Weights", [*names, ("DEFAULT", names[0][1])], type=Weights)

    @staticmethod
    def mobilenet_v3_small(**options):
        model = vision_models.models.mobilenet_v3_small(**options)
        model.classifier[1] = torch.nn.ReLU()
        return model

    @staticmethod
    def resnet18(**options):
        model = vision_models.models.resnet18(**options)
        model.fc = torch.nn.Linear(512, 11)
        return model


def test_what_differs_is_said():
    wrong, _ = vision_models.prove("resnet18", Library, run=False)
    assert "fc.weight [11, 512] torch.float32" in wrong
    assert "fc.weight [1000, 512] torch.float32" in wrong
    wrong, _ = vision_models.prove("mobilenet_v3_small", Library, run=True)
    assert wrong.startswith("the outputs differ by ")


def test_the_page_has_the_table_of_today():
    page = vision_models.PAGE.read_text("utf-8")
    assert f"{vision_models.BEGIN}\n\n{vision_models.table()}\n\n{vision_models.END}" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v3_small", *thorough(["swin_t"])])
def test_torchvision_s_and_timm_s_own_source_give_the_same(name):
    try:
        found.unpacked("torchvision", vision_models.TORCHVISION)
        found.unpacked("timm", vision_models.TIMM)
    except subprocess.CalledProcessError:
        pytest.skip("the wheels are not there, and the package index can't be reached")
    # a process of its own: the stand-in for the package must not be what other tests find
    command = [sys.executable, "-m", "benchmarks.vision_models", "--only", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("equal  ") == 2
