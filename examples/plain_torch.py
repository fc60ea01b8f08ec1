"""Adopting simpletorch in plain PyTorch: keep the imports, annotate one forward, and mypy knows every shape in between.

Run:    python examples/plain_torch.py
Check:  simpletorch check examples/plain_torch.py

Nothing of simpletorch is imported. Change one of the two 128 to 100 and check again.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float32, Int64
from torch import Tensor, nn


class MLP(nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x: Float32[Tensor, "batch 784"]) -> Float32[Tensor, "batch 10"]:
        """Scores for ten classes."""
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def attention(
    query: Float32[Tensor, "batch time dim"], key: Float32[Tensor, "batch source dim"]
) -> Float32[Tensor, "batch time source"]:
    """How much each of ``time`` positions attends to each of ``source`` others; rows sum to 1."""
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[2])
    return scores.softmax(dim=2)


def loss(model: MLP, x: Float32[Tensor, "batch 784"], y: Int64[Tensor, " batch"]) -> Float32[Tensor, ""]:
    """The mean loss of one batch."""
    return F.cross_entropy(model(x), y)


def main() -> None:
    """Call both once."""
    torch.manual_seed(0)
    print(f"loss {loss(MLP(), torch.randn(32, 784), torch.randint(10, (32,))):.3f}")
    print(f"attention {list(attention(torch.randn(2, 5, 16), torch.randn(2, 7, 16)).shape)}")


if __name__ == "__main__":
    main()
