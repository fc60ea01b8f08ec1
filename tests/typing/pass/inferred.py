"""What mypy has inferred from the first thing put there may hold others later; only what is annotated must fit."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, wide: bool = True) -> None:
        super().__init__()
        self.fc = nn.Linear(11, 7)
        self.state = torch.zeros(0)
        if wide:
            self.proj = nn.Linear(7, 5)
        else:
            self.proj = nn.Linear(7, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.Linear(5, 2)(self.proj(self.fc(x)))

    def reset(self) -> None:
        self.state = torch.zeros(5, dtype=torch.int64)
        self.fc = nn.Linear(13, 7)


net = Net()
net(torch.zeros(2, 11))
net.reset()
net(torch.zeros(2, 13))
net.fc = nn.Linear(17, 7)
net(torch.zeros(2, 17))

layers = []
layers.append(nn.Linear(3, 5))
layers.append(nn.Linear(5, 7))
layers += [nn.Linear(7, 2)]
nn.Sequential(*layers)(torch.zeros(11, 3))

outputs = [torch.zeros(2, 3)]
outputs.append(torch.zeros(4, 3))
outputs.extend([torch.zeros(5, 3, dtype=torch.int64)])
by_name = {"a": torch.zeros(2)}
by_name["b"] = torch.zeros(3)
total = torch.zeros(3)


def grow() -> None:
    global total
    total = torch.zeros(5)


class Base(nn.Module):
    size = torch.zeros(3)

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 5)


class Derived(Base):
    size = torch.zeros(5)

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 7)


grow()
Derived()
