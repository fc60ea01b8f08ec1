"""What torchvision's datasets, transforms and models give. The shapes are those of torchvision 0.28, which isn't
installed where the tests run: it doesn't load beside a torch for CPUs.
"""

from pathlib import Path
from typing import Any

import pytest
from against_torch import findings

from simpletorch.follow import follow

HEAD = """import numpy as np
import torch
from torch import nn
from torchvision import datasets, models, transforms
from torchvision.transforms import v2, functional as TF
from torch.utils.data import DataLoader
from PIL import Image
image = Image.new("RGB", (100, 60))
import elsewhere
anything = elsewhere.get()
"""


def _shown(program: str, folder: Path) -> dict[str, Any]:
    path = folder / "program.py"
    path.write_text(HEAD + program)
    result = follow(path)
    assert not result.errors
    return {name: str(shown[-1]) for names in result.claims.values() for name, shown in names.items()}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("TF.to_tensor(image)", "Float32[3, 60, 100]"),
        ("TF.pil_to_tensor(image.convert('L'))", "UInt8[1, 60, 100]"),
        ("TF.to_tensor(image.resize((7, 5)))", "Float32[3, 5, 7]"),
        ("TF.to_tensor(image.crop((2, 3, 13, 8)))", "Float32[3, 5, 11]"),
        ("TF.to_tensor(TF.resize(image, 30))", "Float32[3, 30, 50]"),
        ("TF.resize(torch.rand(2, 3, 100, 61), [30])", "Float32[2, 3, 49, 30]"),
        ("transforms.Resize((7, 5))(torch.rand(3, 60, 100))", "Float32[3, 7, 5]"),
        ("transforms.Pad((2, 3))(torch.rand(3, 60, 100))", "Float32[3, 66, 104]"),
        ("transforms.RandomCrop(64, padding=4)(torch.rand(3, 60, 100))", "Float32[3, 64, 64]"),
        ("transforms.FiveCrop((7, 5))(torch.rand(3, 60, 100))[2]", "Float32[3, 7, 5]"),
        ("transforms.Grayscale()(torch.rand(3, 60, 100))", "Float32[1, 60, 100]"),
        ("transforms.ToTensor()(transforms.Grayscale(3)(image))", "Float32[3, 60, 100]"),
        ("transforms.ToTensor()(transforms.ToPILImage()(torch.rand(1, 7, 5)))", "Float32[1, 7, 5]"),
        ("TF.crop(torch.rand(3, 60, 100), 0, 0, 7, 5)", "Float32[3, 7, 5]"),
        ("v2.Normalize([0.5] * 3, [0.5] * 3)(torch.rand(1, 7, 5))", "Float32[3, 7, 5]"),
        ("transforms.ToTensor()(anything)", "Tensor[?, ?, ?]"),
        ("TF.to_tensor(anything)", "Tensor[?, ?, ?]"),
        ("transforms.Compose([transforms.Resize((7, 5)), transforms.ToTensor()])(anything)", "Tensor[?, 7, 5]"),
        (
            "transforms.Compose([transforms.CenterCrop(9), transforms.RandomHorizontalFlip(), transforms.ToTensor(),"
            " transforms.Normalize([0.5] * 3, [0.5] * 3)])(anything)",
            "Tensor[3, 9, 9]",
        ),
        ("v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])(image)", "Float32[3, 60, 100]"),
        ("v2.ToImage()(image)", "UInt8[3, 60, 100]"),
        ("TF.to_tensor(transforms.RandomApply([transforms.RandomRotation(9)])(image))", "Float32[3, 60, 100]"),
        ("TF.to_tensor(Image.open('x.png').convert('RGB'))", "Float32[3, ?, ?]"),
        ("torch.from_numpy(np.array(image))", "UInt8[60, 100, 3]"),
        ("torch.from_numpy(np.array(image.convert('L'), dtype=np.float32))", "Float32[60, 100]"),
        ("TF.to_tensor(Image.fromarray(np.zeros((7, 5, 3), dtype=np.uint8)))", "Float32[3, 7, 5]"),
        ("transforms.RandomRotation(9, expand=True)(torch.rand(3, 60, 100))", "Float32[3, ?, ?]"),
    ],
)
def test_transforms(expression: str, expected: str, tmp_path: Path) -> None:
    assert _shown(f"x = {expression}\n", tmp_path)["x"] == expected


@pytest.mark.parametrize(
    ("dataset", "images", "labels", "length"),
    [
        ("datasets.MNIST('d', transform=t)", "Float32[5, 1, 28, 28]", "Int64[5]", "60000"),
        ("datasets.CIFAR10('d', False, t)", "Float32[5, 3, 32, 32]", "Int64[5]", "10000"),
        ("datasets.SVHN('d', 'test', t)", "Float32[5, 3, 32, 32]", "Int64[5]", "26032"),
        ("datasets.FakeData(13, (3, 7, 11), transform=t)", "Float32[5, 3, 7, 11]", "Int64[5]", "13"),
        ("datasets.CelebA('d', transform=t)", "Float32[5, 3, 218, 178]", "Int64[5, 40]", None),
        ("datasets.ImageFolder('d', t)", "Float32[5, 3, ?, ?]", "Int64[5]", None),
    ],
)
def test_datasets(dataset: str, images: str, labels: str, length: str | None, tmp_path: Path) -> None:
    program = f"t = transforms.ToTensor()\ndata = {dataset}\nx, y = next(iter(DataLoader(data, 5)))\nn = len(data)\n"
    shown = _shown(program, tmp_path)
    assert (shown["x"], shown["y"], shown.get("n")) == (images, labels, length)


def test_images_that_a_program_cuts_are_fewer(tmp_path: Path) -> None:
    program = "data = datasets.MNIST('d')\ndata.data = data.data[:7]\nn, x = len(data), data.targets\n"
    shown = _shown(program, tmp_path)
    assert (shown["n"], shown["x"]) == ("7", "Int64[60000]")


def test_images_have_their_old_names(tmp_path: Path) -> None:
    program = """class Noisy(datasets.MNIST):
    def __getitem__(self, index):
        picture = Image.fromarray(self.train_data[index].numpy(), mode="L")
        return transforms.ToTensor()(picture), self.train_labels[index]
data = Noisy("d")
x, y = next(iter(DataLoader(data, 5)))
data.data = data.data[:7]
z = datasets.FashionMNIST("d", train=False).test_data
"""
    shown = _shown(program, tmp_path)
    assert (shown["x"], shown["y"], shown["z"]) == ("Float32[5, 1, 28, 28]", "Int64[5]", "UInt8[10000, 28, 28]")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("model = models.resnet18(weights='DEFAULT')", "Float32[2, 1000]"),
        ("model = models.resnet50(); model.fc = nn.Linear(model.fc.in_features, 7)", "Float32[2, 7]"),
        ("model = models.resnet18(); model.fc = nn.Identity()", "Float32[2, 512]"),
        ("model = models.vgg16(); model.classifier[6] = nn.Linear(4096, 7)", "Float32[2, 7]"),
        ("model = models.mobilenet_v2(); model.classifier[1] = nn.Linear(model.last_channel, 7)", "Float32[2, 7]"),
        ("model = models.efficientnet_b0(num_classes=7)", "Float32[2, 7]"),
        ("model = models.vit_b_16(); model.heads.head = nn.Linear(768, 7)", "Float32[2, 7]"),
        ("model = models.squeezenet1_0(); model.classifier[1] = nn.Conv2d(512, 7, 1)", "Float32[2, 7]"),
        ("model = models.convnext_tiny(); model.classifier[2] = nn.Linear(768, 7)", "Float32[2, 7]"),
        ("model = nn.Sequential(*list(models.resnet18().children())[:-1])", "Float32[2, 512, 1, 1]"),
        ("model = nn.Sequential(*list(models.resnet50().children())[:-2])", "Float32[2, 2048, 7, 7]"),
        ("model = models.resnet18(); model.layer4[0].conv2.stride = (1, 1)", "Tensor[?, 1000]"),
        ("m = models.resnet18(); m.layer4[0].conv2.stride = (1, 1); model = m.layer4", None),
        ("model = models.vgg16(); model.avgpool = nn.Identity()", None),
        ("model = nn.Sequential(*list(models.vgg16().children())[:-1])", None),
    ],
)
def test_models(change: str, expected: str | None, tmp_path: Path) -> None:
    shown = _shown(f"{change}\ny = model(torch.rand(2, 3, 224, 224))\n", tmp_path)
    assert shown.get("y") == expected


def test_a_layer_with_other_weights_takes_what_they_take(tmp_path: Path) -> None:
    program = "m = models.resnet18()\nm.conv1.weight = nn.Parameter(m.conv1.weight.sum(1, keepdim=True))\n"
    assert _shown(program + "y = m(torch.rand(2, 1, 64, 64))\n", tmp_path)["y"] == "Tensor[?, 1000]"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m = models.resnet18(); m.avgpool = nn.Identity(); m(torch.rand(2, 3, 224, 224))", "of input is 25088"),
        ("models.resnet18()(torch.rand(2, 1, 224, 224))", "input has 1 channel at dim 1, but the layer takes 3"),
        (
            "m = models.resnet50(); m.fc = nn.Linear(512, 7); m(torch.rand(2, 3, 64, 64))",
            "the last dim of input is 2048",
        ),
        ("transforms.Normalize([0.5] * 3, [0.5] * 3)(torch.rand(1, 28, 28))", "for 3 channels, but the picture has 1"),
        ("TF.normalize(TF.pil_to_tensor(image), [0.5], [0.5])", "the picture must hold floats, not UInt8"),
        ("transforms.RandomCrop(64)(torch.rand(3, 60, 100))", "the crop is 64 pixels high, but the picture only 60"),
    ],
)
def test_what_does_not_fit_is_found(line: str, message: str, tmp_path: Path) -> None:
    ((_, found),) = findings(HEAD + line + "\n", tmp_path)
    assert message in found


@pytest.mark.parametrize("name", ["vgg11_bn", "densenet121", "efficientnet_b0", "vit_b_16"])
def test_a_model_may_be_put_into_another_mode(name: str, tmp_path: Path) -> None:
    lines = (
        f"m = models.{name}(num_classes=17)",
        "m.eval()",
        "y = m(torch.rand(2, 3, 224, 224))",
        "m.train()",
        "z = m(torch.rand(5, 3, 64, 64))",
    )
    shown = _shown("\n".join(lines), tmp_path)
    assert (shown["y"], shown["z"]) == ("Float32[2, 17]", "Float32[5, 17]")


def test_its_parameters_are_not_those_of_its_head_alone(tmp_path: Path) -> None:
    program = "m = models.vit_b_16()\nfor p in m.parameters():\n    pass\nfor n, q in m.named_parameters():\n    pass\n"
    shown = _shown(program, tmp_path)
    assert (shown["p"], shown["q"]) == ("Tensor[...]", "Tensor[...]")


_WEIGHTS = """
import torch
from PIL import Image
from torchvision import models
from torchvision.models import EfficientNet_B3_Weights, ResNet18_Weights, vit_h_14, ViT_H_14_Weights
weights = ResNet18_Weights.DEFAULT
image = weights.transforms()(Image.open("a.png").convert("RGB"))
net = models.resnet18(weights=weights)
y = net(image.unsqueeze(0))
many = models.EfficientNet_B3_Weights.IMAGENET1K_V1.transforms()(torch.zeros(5, 3, 40, 50, dtype=torch.uint8))
other = ViT_H_14_Weights.IMAGENET1K_SWAG_E2E_V1.transforms()(Image.open("a.png").convert("RGB"))
names = weights.meta["categories"]
"""


def test_weights_say_what_images_a_model_takes(tmp_path: Path):
    path = tmp_path / "program.py"
    found = follow(path, opened={str(path): _WEIGHTS})
    said = {name: str(values[-1]) for names in found.claims.values() for name, values in names.items()}
    assert found.errors == ()
    assert said == {"image": "Float32[3, 224, 224]", "y": "Float32[1, 1000]", "many": "Float32[5, 3, 300, 300]"}
    wrong = _WEIGHTS.replace('convert("RGB")', 'convert("L")', 1)
    assert [f.line for f in follow(path, opened={str(path): wrong}).errors] == [7]


@pytest.mark.parametrize(
    "expression",
    [
        "transforms.Resize((7, 5))(anything)",  # of a batch of pictures, say
        "v2.Compose([v2.Resize((7, 5)), v2.ToTensor()])(anything)",  # v2 lets an array pass as it is
        "transforms.Compose([transforms.Lambda(elsewhere.cut), transforms.Resize((7, 5))])(anything)",
        "transforms.Compose([transforms.Normalize([0.5], [0.5]), transforms.Resize((7, 5))])(anything)",
    ],
)
def test_a_transform_that_takes_tensors_too_gives_anything(expression: str, tmp_path: Path) -> None:
    assert "result" not in _shown(f"result = {expression}\n", tmp_path)


def test_a_mistake_behind_a_transform_of_what_is_not_known_is_found(tmp_path: Path) -> None:
    program = """to_tensor = transforms.Compose([transforms.Resize((7, 5)), transforms.ToTensor()])
flat = to_tensor(anything).view(-1, 36)
"""
    assert findings(HEAD + program, tmp_path) == []
    program = """to_tensor = transforms.Compose([transforms.Resize((7, 5)), transforms.ToTensor(),
    transforms.Normalize([0.5] * 3, [0.5] * 3)])
nn.Conv2d(1, 8, 3)(to_tensor(anything))
"""
    assert findings(HEAD + program, tmp_path)
