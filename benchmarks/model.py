"""What benchmarks/check_time.py checks: ordinary PyTorch with annotations, a language model and an image classifier."""

# ruff: noqa: D102, RET504  (forward is described by its class, and written as it is in ordinary code)

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """The sizes of the language model."""

    vocabulary: int = 256
    context: int = 128
    layers: int = 4
    heads: int = 4
    width: int = 128
    dropout: float = 0.0


def causal_mask(length: int) -> Tensor:
    """True where position t may look at position s."""
    return torch.ones(length, length, dtype=torch.bool).tril()


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to its own past."""

    mask: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("mask", causal_mask(config.context), persistent=False)

    def forward(self, x: Float32[Tensor, "b t d"]) -> Float32[Tensor, "b t d"]:
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=2)
        q = q.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        weights = self.dropout(scores.softmax(dim=-1))
        mixed = (weights @ v).transpose(1, 2).contiguous().view(b, t, d)
        return self.out(mixed)


class FeedForward(nn.Module):
    """Two layers with a gate between them."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.gate = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float32[Tensor, "b t d"]) -> Float32[Tensor, "b t d"]:
        hidden = F.silu(self.gate(x)) * self.up(x)
        return self.dropout(self.down(hidden))


class RMSNorm(nn.Module):
    """Scales every vector to a root mean square of one."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Float32[Tensor, "b t d"]) -> Float32[Tensor, "b t d"]:
        scale = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps)
        return x * scale * self.weight


class Block(nn.Module):
    """Attention and feed-forward, each with a residual."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm1 = RMSNorm(config.width)
        self.attention = SelfAttention(config)
        self.norm2 = RMSNorm(config.width)
        self.feed_forward = FeedForward(config.width, config.dropout)

    def forward(self, x: Float32[Tensor, "b t d"]) -> Float32[Tensor, "b t d"]:
        x = x + self.attention(self.norm1(x))
        x = x + self.feed_forward(self.norm2(x))
        return x


class LanguageModel(nn.Module):
    """A decoder-only transformer."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = RMSNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, ids: Int64[Tensor, "b t"]) -> Float32[Tensor, "b t v"]:
        t = ids.shape[1]
        x = self.tokens(ids) + self.positions(torch.arange(t, device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, ids: Int64[Tensor, "b t"]) -> Float32[Tensor, ""]:
        """The mean negative log-likelihood of every next token."""
        logits = self(ids[:, :-1])
        targets = ids[:, 1:]
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, ids: Int64[Tensor, "b t"], count: int, temperature: float = 1.0) -> Int64[Tensor, "b n"]:
        """``ids`` and ``count`` more tokens."""
        for _ in range(count):
            logits = self(ids[:, -self.config.context :])
            probabilities = (logits[:, -1] / temperature).softmax(dim=-1)
            following = torch.multinomial(probabilities, num_samples=1)
            ids = torch.cat([ids, following], dim=1)
        return ids


def convolution(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """A convolution that keeps the size (divided by the stride), normalised."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Residual(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, stride)
        self.second = convolution(outputs, outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, kernel_size=1, stride=stride, bias=False)

    def forward(self, x: Float32[Tensor, "b c h w"]) -> Tensor:
        y = F.relu(self.first(x))
        y = self.second(y)
        return F.relu(y + self.shortcut(x))


class SqueezeExcite(nn.Module):
    """Weighs the channels by what the whole image looks like."""

    def __init__(self, channels: int, reduction: int = 4) -> None:
        super().__init__()
        self.down = nn.Linear(channels, channels // reduction)
        self.up = nn.Linear(channels // reduction, channels)

    def forward(self, x: Float32[Tensor, "b c h w"]) -> Float32[Tensor, "b c h w"]:
        pooled = x.mean(dim=(2, 3))
        weights = torch.sigmoid(self.up(F.relu(self.down(pooled))))
        return x * weights[:, :, None, None]


class ImageClassifier(nn.Module):
    """A small residual network for images of 32 x 32."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, kernel_size=3, padding=1)
        self.stage1 = nn.Sequential(Residual(32, 32), Residual(32, 32))
        self.stage2 = nn.Sequential(Residual(32, 64, stride=2), Residual(64, 64))
        self.stage3 = nn.Sequential(Residual(64, 128, stride=2), Residual(128, 128))
        self.excite = SqueezeExcite(128)
        self.head = nn.Linear(128, classes)

    def features(self, images: Float32[Tensor, "b 3 32 32"]) -> Tensor:
        """The last feature maps."""
        x = F.relu(self.stem(images))
        x = self.stage1(x)
        x = self.stage2(x)
        x = self.stage3(x)
        return self.excite(x)

    def forward(self, images: Float32[Tensor, "b 3 32 32"]) -> Float32[Tensor, "b classes"]:
        x = self.features(images)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(x)


class LeNet(nn.Module):
    """The classic, for images of 28 x 28."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, images: Float32[Tensor, "b 1 28 28"]) -> Float32[Tensor, "b 10"]:
        x = F.max_pool2d(torch.tanh(self.conv1(images)), 2)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2)
        x = x.flatten(1)
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def accuracy(logits: Float[Tensor, "b c"], labels: Int64[Tensor, "b"]) -> float:
    """The share of right answers."""
    return (logits.argmax(dim=1) == labels).float().mean().item()


def contrastive(a: Float32[Tensor, "b d"], b: Float32[Tensor, "b d"], temperature: float) -> Float32[Tensor, ""]:
    """Matching rows shall be closer to each other than to all others."""
    a = F.normalize(a, dim=1)
    b = F.normalize(b, dim=1)
    logits = a @ b.T / temperature
    targets = torch.arange(logits.shape[0], device=logits.device)
    return (F.cross_entropy(logits, targets) + F.cross_entropy(logits.T, targets)) / 2


def smoothed(labels: Int64[Tensor, "b"], classes: int, amount: float) -> Float32[Tensor, "b c"]:
    """One-hot targets that keep a little for the others."""
    hot = F.one_hot(labels, classes).float()
    return hot * (1 - amount) + amount / classes


def batches(images: Tensor, labels: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Shuffled minibatches."""
    order = torch.randperm(len(labels))
    for indices in order.split(size):
        yield images[indices], labels[indices]


def train(model: nn.Module, images: Tensor, labels: Tensor, *, epochs: int, rate: float) -> list[float]:
    """Ordinary training; the mean loss of every epoch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    history: list[float] = []
    for _ in range(epochs):
        model.train()
        losses: list[Tensor] = []
        for x, y in batches(images, labels, 32):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
        schedule.step()
        history.append(torch.stack(losses).mean().item())
    return history


@torch.no_grad()
def evaluate(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Accuracy over all images."""
    model.eval()
    right = 0
    for x, y in zip(images.split(64), labels.split(64), strict=True):
        right += int((model(x).argmax(dim=1) == y).sum())
    return right / len(labels)


def main() -> None:
    """One step of everything."""
    torch.manual_seed(0)
    config = Config()
    language = LanguageModel(config)
    ids = torch.randint(0, config.vocabulary, (2, 17))
    print(f"language: {language.loss(ids).item():.2f}, {tuple(language.generate(ids, 3).shape)}")

    images, labels = torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))
    classifier = ImageClassifier()
    print(f"images: {train(classifier, images, labels, epochs=1, rate=1e-3)}, {evaluate(classifier, images, labels)}")
    print(f"digits: {accuracy(LeNet()(torch.randn(5, 1, 28, 28)), labels[:5])}")
    print(f"contrast: {contrastive(torch.randn(7, 11), torch.randn(7, 11), 0.1):.2f}")
    print(f"smoothed: {tuple(smoothed(labels, 10, 0.1).shape)}")


if __name__ == "__main__":
    main()
