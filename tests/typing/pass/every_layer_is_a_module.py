"""`nn.Module` of ours as an annotation: every module of torch is one."""

from typing import TypeVar

import torch

from simpletorch import B, Float32, Tensor, nn

M = TypeVar("M", bound=nn.Module)


class Net(nn.Module):
    after: nn.Module

    def __init__(self, act: nn.Module = nn.ReLU()) -> None:  # noqa: B008
        super().__init__()
        self.act = act
        self.after = nn.GELU()
        self.fc = nn.Linear(3, 5)
        self.heads: list[nn.Module] = [nn.Linear(5, 7)]
        self.named: dict[str, nn.Module] = {"norm": nn.LayerNorm(5)}

    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]:
        return self.fc(x)


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def build(name: str) -> nn.Module:
    return nn.Linear(3, 5) if name == "linear" else Net()


def same(module: M) -> M:
    return module


layer: nn.Module = nn.Linear(3, 5)
net: nn.Module = Net(nn.Tanh())
theirs: torch.nn.Module = Net()
sizes = count(layer), count(theirs), count(nn.ModuleList([nn.Linear(2, 3)])), count(nn.Sequential(nn.ReLU()))
out: Tensor[Float32, 2, 5] = same(Net())(torch.zeros(2, 3))
