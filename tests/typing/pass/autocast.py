"""Under autocast torch casts the operands itself, so mixed dtypes are no mistake."""

import torch
from torch import nn

x = torch.zeros(7, 11)
w = torch.zeros(11, 5, dtype=torch.bfloat16)


def train(steps: int) -> torch.Tensor:
    total = torch.zeros(())
    for _ in range(steps):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = nn.Linear(5, 3)(x @ w)
            total = total + y.sum()
    return total


train(2)
