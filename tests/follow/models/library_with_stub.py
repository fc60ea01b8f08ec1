"""A library, and its stub."""

STUB = """\
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, overload

from jaxtyping import Float32, Int64
from torch import Tensor, nn

VERSION: str

@dataclass
class Output:
    scores: Float32[Tensor, "b 7"]
    names: list[str]

class Tokenizer:
    table: Float32[Tensor, "128 16"]
    def __init__(self, name: str, *, lower: bool = ...) -> None: ...
    def encode(self, text: str) -> list[int]: ...
    def batch(self, texts: list[str], length: int = 7) -> Int64[Tensor, "b 7"]: ...
    def lower(self) -> Self: ...
    def weights(self, **more: int) -> dict[str, Float32[Tensor, "2"]]: ...
    @property
    def pads(self) -> Int64[Tensor, "3"]: ...
    @staticmethod
    def load(path: str) -> Tokenizer: ...

class Encoder(nn.Module):
    def __init__(self, depth: int = 3) -> None: ...
    def forward(self, x: Float32[Tensor, "b c h w"]) -> Float32[Tensor, "b 1000"]: ...

class Trainer:
    def fit(self, model: nn.Module, *callbacks: object) -> None: ...

def embed(x: Float32[Tensor, "b n"], /, scale: float = 1.0) -> Float32[Tensor, "b n 13"]: ...
def classify(x: Float32[Tensor, "b n"]) -> Output: ...
def halves(x: Float32[Tensor, "b n"]) -> tuple[Float32[Tensor, "b"], Float32[Tensor, "n"]]: ...
def stream(n: int) -> Iterator[Float32[Tensor, "3 2"]]: ...
@overload
def odd(x: int) -> Float32[Tensor, "2"]: ...
@overload
def odd(x: str) -> Float32[Tensor, "3"]: ...
"""

LIBRARY = """\
from types import SimpleNamespace

import torch

class Output(SimpleNamespace):
    pass

class Tokenizer:
    def __init__(self, name, *, lower=True):
        self.table = torch.zeros(128, 16)
    def encode(self, text):
        return [3, 5]
    def batch(self, texts, length=7):
        return torch.zeros(len(texts), length, dtype=torch.int64)
    def lower(self):
        return self
    def weights(self, **more):
        return {name: torch.zeros(2) for name in more}
    @property
    def pads(self):
        return torch.zeros(3, dtype=torch.int64)
    @staticmethod
    def load(path):
        return Tokenizer(path)

class Encoder(torch.nn.Module):
    def __init__(self, depth=3):
        super().__init__()
    def forward(self, x):
        return torch.zeros(x.shape[0], 1000)

class Trainer:
    def fit(self, model, *callbacks):
        for p in model.parameters():
            p.grad = torch.ones_like(p)

def embed(x, /, scale=1.0):
    return torch.zeros(*x.shape, 13)

def classify(x):
    return Output(scores=torch.zeros(x.shape[0], 7), names=[])

def halves(x):
    return x[:, 0], x[0]

def stream(n):
    while True:
        yield torch.zeros(n, 2)

def odd(x):
    return torch.zeros(2 if isinstance(x, int) else 3)
"""
