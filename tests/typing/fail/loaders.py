"""A model whose input doesn't fit the dataset is an error where it is called."""

import torch

from simpletorch import Tensor, nn
from simpletorch.data import DataLoader, Dataset
from simpletorch.dims import B
from simpletorch.dtypes import Float32, Int64


class Images(Dataset[tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]:
        return torch.zeros(1, 28, 28), torch.tensor(index)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3)

    def forward(self, x: Tensor[Float32, B, 3, 28, 28]) -> Tensor[Float32, B, 5, 26, 26]:
        return self.conv(x)


def fail_model() -> None:
    model = Net()
    for x, y in DataLoader(Images(), 3):
        model(x)  # E: tensor-shape


def fail_layer() -> None:
    layer = torch.nn.Linear(27, 10)
    for x, _ in DataLoader(Images(), 3):
        layer(x)  # E: tensor-shape


def fail_batch_size() -> None:
    weights = torch.zeros(5)
    for _, y in DataLoader(Images(), 3, drop_last=True):
        weights * y  # E: tensor-shape


def fail_builder() -> None:
    model = Net()
    for x, _ in DataLoader.builder().dataset(Images()).batch_size(3).build():
        model(x)  # E: tensor-shape
