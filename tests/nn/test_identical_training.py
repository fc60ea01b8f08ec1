"""A ResNet-18 and a GPT from our parts train as plain torch modules do: same seeds, same losses, bit for bit.

The plain models are written here with nothing but `torch.nn`.
"""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn as tnn

from simpletorch import nn
from simpletorch.vision.models import resnet18

STEPS = 7


# -- plain torch ----------------------------------------------------------------------------------------------------


class PlainBlock(tnn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = tnn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = tnn.BatchNorm2d(out)
        self.relu = tnn.ReLU()
        self.conv2 = tnn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = tnn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = tnn.Sequential(tnn.Conv2d(channels, out, 1, stride, bias=False), tnn.BatchNorm2d(out))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = out + (x if self.downsample is None else self.downsample(x))
        return self.relu(out)


class PlainResNet18(tnn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = tnn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = tnn.BatchNorm2d(64)
        self.layer1 = tnn.Sequential(PlainBlock(64, 64, 1), PlainBlock(64, 64, 1))
        self.layer2 = tnn.Sequential(PlainBlock(64, 128, 2), PlainBlock(128, 128, 1))
        self.layer3 = tnn.Sequential(PlainBlock(128, 256, 2), PlainBlock(256, 256, 1))
        self.layer4 = tnn.Sequential(PlainBlock(256, 512, 2), PlainBlock(512, 512, 1))
        self.fc = tnn.Linear(512, classes)
        for layer in self.modules():
            if isinstance(layer, tnn.Conv2d):
                tnn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class PlainLayer(tnn.Module):
    """A pre-norm decoder block as in GPT-2."""

    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.norm1 = tnn.LayerNorm(dim)
        self.qkv = tnn.Linear(dim, 3 * dim)
        self.out = tnn.Linear(dim, dim)
        self.norm2 = tnn.LayerNorm(dim)
        self.up = tnn.Linear(dim, 4 * dim)
        self.down = tnn.Linear(4 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        p = self.p if self.training else 0.0
        seen = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        x = x + F.dropout(self.out(seen.transpose(1, 2).reshape(b, t, d)), self.p, self.training)
        hidden = F.dropout(F.gelu(self.up(self.norm2(x))), self.p, self.training)
        return x + F.dropout(self.down(hidden), self.p, self.training)


class PlainGPT(tnn.Module):
    def __init__(self, vocab, context, dim, heads, layers, dropout):
        super().__init__()
        self.tokens = tnn.Embedding(vocab, dim)
        self.positions = tnn.Embedding(context, dim)
        self.blocks = tnn.ModuleList([PlainLayer(dim, heads, dropout) for _ in range(layers)])
        self.norm = tnn.LayerNorm(dim)
        self.head = tnn.Linear(dim, vocab, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# -- our parts ------------------------------------------------------------------------------------------------------


class GPT(nn.Module):
    def __init__(self, vocab, context, dim, heads, layers, dropout):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.blocks = nn.Sequential(
            *[nn.TransformerBlock(dim, heads, causal=True, dropout=dropout) for _ in range(layers)]
        )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


# -- training -------------------------------------------------------------------------------------------------------


def train(build, optimizer, batches):
    """The losses of every step, and all parameters and buffers after the last, in order."""
    torch.manual_seed(7)
    model = build()
    step = optimizer(model.parameters())
    torch.manual_seed(11)  # of dropout
    losses = []
    for inputs, targets in itertools.islice(batches(), STEPS):
        step.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
        loss.backward()
        step.step()
        losses.append(loss.item())
    return losses, [*model.parameters(), *model.buffers()]


def images():
    generator = torch.Generator().manual_seed(3)
    while True:
        yield torch.randn(5, 3, 37, 41, generator=generator), torch.randint(7, (5,), generator=generator)


def text():
    generator = torch.Generator().manual_seed(3)
    while True:
        tokens = torch.randint(31, (5, 14), generator=generator)
        yield tokens[:, :-1], tokens[:, 1:]


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=3e-3)


CASES = {
    "ResNet-18": (lambda: resnet18(num_classes=7), lambda: PlainResNet18(7), sgd, images),
    "GPT": (lambda: GPT(31, 13, 24, 3, 3, 0.1), lambda: PlainGPT(31, 13, 24, 3, 3, 0.1), adamw, text),
}


@pytest.mark.parametrize("name", CASES)
def test_same_seeds_same_losses_same_weights(name):
    ours, theirs, optimizer, batches = CASES[name]
    our_losses, our_tensors = train(ours, optimizer, batches)
    their_losses, their_tensors = train(theirs, optimizer, batches)
    assert our_losses == their_losses
    assert len(set(our_losses)) == STEPS  # it does train
    for mine, other in zip(our_tensors, their_tensors, strict=True):
        assert mine.shape == other.shape
        assert torch.equal(mine, other)


def test_the_comparison_can_fail():
    _, theirs, optimizer, batches = CASES["GPT"]
    losses, _ = train(theirs, optimizer, batches)
    other, _ = train(lambda: PlainGPT(31, 13, 24, 3, 3, 0.2), optimizer, batches)
    assert losses[0] != other[0]
