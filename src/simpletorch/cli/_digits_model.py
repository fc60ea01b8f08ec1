"""A convolutional network for 8×8 digits: plain PyTorch, with jaxtyping's annotations."""

import torch.nn.functional as F
from jaxtyping import Float32
from torch import Tensor, nn


class DigitsNet(nn.Module):
    """Scores for ten digits from one grey image."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=3, padding=1)
        self.norm2 = nn.BatchNorm2d(64)
        self.fc1 = nn.Linear(1024, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x: Float32[Tensor, "batch 1 8 8"]) -> Float32[Tensor, "batch 10"]:
        """The largest score is the model's answer."""
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.max_pool2d(x, kernel_size=2)
        x = F.relu(self.fc1(x.flatten(start_dim=1)))
        return self.fc2(F.dropout(x, p=0.5, training=self.training))
