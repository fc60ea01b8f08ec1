"""What mypy itself takes for Any, such as what a module gives, is no reason for errors of mypy's own kind."""

import torch
from torch import nn


class Config:
    labels: int | None = 7
    width: int = 13


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.fc = nn.Linear(11, 7)
        self.sizes: tuple[int, int] = (3, 5)

    def resize(self, size: tuple[int, int]) -> None:
        self.sizes = size

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = self.fc(x)
        logits = x.view(-1, self.config.labels)
        if self.config.width < 3:
            logits = x + mask
        return logits


class Net(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(config) for _ in range(2)])
        self.norm = nn.LayerNorm(7)

    def resize(self, size: int) -> None:
        for block in self.blocks:
            block.resize((size, size)) if size else None

    def features(self, x: torch.Tensor) -> dict[str, list[torch.Tensor]]:
        found = {}
        found["all"] = [self.norm(x)]
        if x.shape[0] > 2:
            last = self.norm(x)
            found["last"] = last
        return found

    def sized(self, x: torch.Tensor) -> tuple[torch.Tensor, list[int]]:
        y = self.norm(x)
        return y, y.shape[1:]


net = Net(Config())
net.features(torch.zeros(3, 7))
net.sized(torch.zeros(3, 7))
net.blocks[0](torch.zeros(3, 11))
