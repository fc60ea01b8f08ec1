"""A typed module, its data and a seed, for the loops of others."""

import torch

from simpletorch import Float32, Tensor, nn
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.dims import B

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 5


class Net(nn.Module):
    """Scores of five classes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 5)

    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]:
        return self.fc(x)


def loader(seed: int = 7) -> DataLoader:
    """Batches of three in an order of its own."""
    return DataLoader(TensorDataset(INPUTS, TARGETS), 3, shuffle=True, generator=torch.Generator().manual_seed(seed))
