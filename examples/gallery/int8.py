"""Int8: a trained network in a quarter of the memory, computed in whole numbers.

Each row of a weight becomes whole numbers from -127 to 127 and one scale; so does what goes into a layer, with a scale
that some training data have shown. The product is one of integers. It is written out by hand, because
`torch.ao.quantization` is on its way out of torch, and its successor, torchao, is a package of its own. B is the batch,
I are the inputs, O the outputs of a layer.

Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Int8, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B, I, O
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate


class Int8Linear(nn.Module, Generic[I, O]):
    """A linear layer in whole numbers; `bits` can be fewer than 8, to see what that costs."""

    weight: Tensor[Int8, O, I]
    scales: Tensor[Float32, O]
    bias: Tensor[Float32, O]

    def __init__(self, layer: nn.Linear[I, O], largest: float, bits: int) -> None:
        super().__init__()
        self.limit = (1 << (bits - 1)) - 1
        scales = layer.weight.detach().abs().amax(dim=1) / self.limit
        self.register_buffer("weight", (layer.weight.detach() / scales.unsqueeze(1)).round().to(torch.int8))
        self.register_buffer("scales", scales)
        self.register_buffer("bias", layer.bias.detach().clone())
        self.step = largest / self.limit  # of the inputs

    def forward(self, x: Tensor[Float32, B, I]) -> Tensor[Float32, B, O]:
        """What the layer gives, nearly."""
        whole = (x / self.step).round().clamp(-self.limit, self.limit).to(torch.int8)
        product = whole.int() @ self.weight.int().T  # 32 bits hold the sums of 133,000 products
        return product * (self.scales * self.step) + self.bias


class Net(nn.Module):
    """A perceptron whose layers can be replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 256), nn.Linear(256, 64), nn.Linear(64, 10)])

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        first, second, last = self.layers
        return last(F.relu(second(F.relu(first(x.flatten(start_dim=1))))))


def quantized(model: Net, seen: Tensor[Float32, Any, 1, 8, 8], bits: int) -> nn.Sequential[Any]:
    """The model in whole numbers; ``seen`` shows how large inputs of each layer get."""
    layers: list[torch.nn.Module] = []
    x: torch.Tensor = seen.flatten(start_dim=1)
    with torch.no_grad():
        for layer in model.layers:
            layers += [Int8Linear(layer, x.abs().max().item(), bits), nn.ReLU()]
            x = F.relu(layer(x))
    return nn.Sequential(nn.Flatten(), *layers[:-1])


def size(model: torch.nn.Module) -> int:
    """Bytes of parameters and buffers."""
    return sum(tensor.nbytes for tensor in model.state_dict().values())


def draw(rights: dict[int, float], file: Path) -> None:
    """The accuracy by bits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.bar([str(bits) for bits in rights], list(rights.values()))
    axes.set_xlabel("bits")
    axes.set_ylabel("accuracy")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracies in float32 and with 8 bits, and the sizes in bytes."""
    seed_everything(0)
    model, digits, test = Net(), Digits(), DataLoader(Digits(train=False), 360)
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=2e-3))
    for _ in range(3 if quick else 20):
        for images, labels in DataLoader(digits, 64, shuffle=True):
            step(images, labels)
    right = evaluate(model, test, {"accuracy": Accuracy()})["accuracy"]
    print(f"float32: {right:.1%} of the test digits in {size(model):,} bytes")
    rights = {32: right}
    small = quantized(model, digits.images[:200], 8)
    for bits in (8, 4, 3, 2):
        fewer = quantized(model, digits.images[:200], bits)
        rights[bits] = evaluate(fewer, test, {"accuracy": Accuracy()})["accuracy"]
        print(f"{bits} bits:  {rights[bits]:.1%}" + (f" in {size(small):,} bytes" if bits == 8 else ""))
    if picture is not None:
        draw(rights, picture)
    return {"float": right, "int8": rights[8], "two": rights[2], "bytes": size(model), "small": size(small)}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
