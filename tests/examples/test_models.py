"""The ports in examples/models: mypy finds nothing, and they do at random sizes what their annotations say."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from tests import warm
from tests.examples import ports


def test_every_port_is_run():
    assert {path.stem for path in ports.MODELS.glob("*.py")} == set(ports.PORTS)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ports.PORTS)
def test_shapes_at_random_sizes(name, seed):
    torch.manual_seed(seed)
    ports.PORTS[name](ports.load(ports.MODELS / f"{name}.py"), seed)


@pytest.mark.slow
def test_mypy_finds_nothing(tmp_path):
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(tmp_path), "."]
    done = subprocess.run(command, cwd=ports.MODELS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "could not analyse" not in done.stderr


def test_resnet_has_the_names_of_torchvision():
    names = list(ports.load(ports.MODELS / "resnet.py").ResNet().state_dict())
    assert len(names) == 320
    assert {"conv1.weight", "bn1.running_mean", "layer1.0.downsample.0.weight", "layer4.2.bn3.bias", "fc.bias"} <= set(
        names
    )


@pytest.mark.parametrize(
    ("name", "make", "parameters"),
    [
        ("gpt", lambda port: port.GPT(), 124_439_808),
        ("llama", lambda port: port.Llama(port.LLAMA_3_8B), 8_030_261_248),
        ("vit", lambda port: port.ViT(), 86_567_656),
        ("resnet", lambda port: port.ResNet(), 25_557_032),
        ("dqn", lambda port: port.QNetwork(4), 1_686_180),
    ],
)
def test_as_large_as_published(name, make, parameters):
    with torch.device("meta"):
        model = make(ports.load(ports.MODELS / f"{name}.py"))
    assert sum(parameter.numel() for parameter in model.parameters()) == parameters
