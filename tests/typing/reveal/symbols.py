"""Symbols: aliases, jaxtyping's names, sizes from everywhere, facts, reasoning, calls through functions."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Generic, NamedTuple, ParamSpec, Protocol, TypedDict, TypeVar, cast, overload

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from jaxtyping import Float32 as JFloat32
from torch import nn

import simpletorch as st
from simpletorch import Float32, Tensor, checked
from simpletorch.dims import B, Batch, C, D, Dim, H, K, M, N, T, W

# -- annotations in every place -----

Image = Tensor[Float32, 3, H, W]
Named = JFloat32[torch.Tensor, "3 h w"]
Maybe = JFloat32[torch.Tensor, "b n"] | None
Pair = tuple[JFloat32[torch.Tensor, "b n"], Int64[torch.Tensor, "b"]]
Leading = Tensor[Float32, *Batch, D]


def doubled(x: Image) -> Image:
    reveal_type(x)  # R: Tensor[Float32, 3, H, W]
    return x * 2


def masked(x: Image, mask: Tensor[Float32, H, W]) -> Image:
    return x * mask


def halved(x: Named) -> Named:
    reveal_type(x)  # R: Tensor[Float32, 3, h, w]
    return x / 2


def first(x: Maybe, pair: Pair) -> None:
    reveal_type(pair[1])  # R: Tensor[Int64, b]
    if x is not None:
        reveal_type(x)  # R: Tensor[Float32, b, n]


def leading(x: Leading) -> Leading:
    return x + 1


picture: Image = torch.zeros(3, 5, 7)
reveal_type(picture)  # R: Tensor[Float32, 3, Any, Any]
reveal_type(doubled(torch.zeros(3, 5, 7)))  # R: Tensor[Float32, 3, 5, 7]
reveal_type(masked(torch.zeros(3, 5, 7), torch.zeros(5, 7)))  # R: Tensor[Float32, 3, 5, 7]
reveal_type(halved(torch.zeros(3, 5, 7)))  # R: Tensor[Float32, 3, 5, 7]
reveal_type(leading(torch.zeros(3, 5, 7)))  # R: Tensor[Float32, 3, 5, 7]
reveal_type(cast(JFloat32[torch.Tensor, "b 5"], torch.zeros(2, 5)).mT)  # R: Tensor[Float32, 5, Any]


@dataclass
class State(Generic[B, D]):
    hidden: Tensor[Float32, B, D]
    mask: Tensor[Float32, B] | None = None


class Result(NamedTuple):
    logits: Tensor[Float32, 5, 11]


class Sample(TypedDict):
    x: Tensor[Float32, 5, 3]


class Encoder(Protocol):
    def encode(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 7]: ...


class Embeds(Protocol[D]):
    def embed(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, D]: ...


class Projection:
    def encode(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 7]:
        return x @ torch.zeros(3, 7)

    embed = encode

    @property
    def weight(self) -> Tensor[Float32, 3, 7]:
        return torch.zeros(3, 7)


def embedded(encoder: Embeds[D]) -> Tensor[Float32, 2, D]:
    return encoder.embed(torch.zeros(2, 3))


def encoded(encoder: Encoder) -> Tensor[Float32, 2, 7]:
    return encoder.encode(torch.zeros(2, 3))


@overload
def total(x: Tensor[Float32, B, 3]) -> Tensor[Float32, B]: ...
@overload
def total(x: Tensor[Float32, 3]) -> Tensor[Float32]: ...
def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum(-1)


sample: Sample = {"x": torch.zeros(5, 3)}
reveal_type(State(torch.zeros(3, 5)).hidden)  # R: Tensor[Float32, 3, 5]
reveal_type(Result(torch.zeros(5, 11)).logits)  # R: Tensor[Float32, 5, 11]
reveal_type(sample["x"])  # R: Tensor[Float32, 5, 3]
reveal_type(encoded(Projection()))  # R: Tensor[Float32, 2, 7]
reveal_type(embedded(Projection()))  # R: Tensor[Float32, 2, 7]
reveal_type(Projection().weight)  # R: Tensor[Float32, 3, 7]
reveal_type(total(torch.zeros(2, 3)))  # R: Tensor[Float32, 2]
reveal_type(total(torch.zeros(3)))  # R: Tensor[Float32]


def nested(x: Tensor[Float32, B, N]) -> Tensor[Float32, B]:
    def inner(y: Tensor[Float32, B, N]) -> Tensor[Float32, B]:
        return y.sum(1)

    reduce: Callable[[Tensor[Float32, B, N]], Tensor[Float32, B]] = lambda z: z.sum(1)  # noqa: E731
    reveal_type(reduce(x))  # R: Tensor[Float32, B]
    return inner(x)


def scaled(x: Float[torch.Tensor, "b n"], scale: Float[torch.Tensor, "#b n"]) -> Float[torch.Tensor, "b n"]:
    return x * scale


def projected(x: Float[torch.Tensor, "*b n"], w: Float[torch.Tensor, "n m"]) -> Float[torch.Tensor, "*b m"]:
    new: Float[torch.Tensor, "*b k"] = x @ w
    reveal_type(new)  # R: Tensor[Float, *b, Any]
    return new


reveal_type(nested(torch.zeros(2, 3)))  # R: Tensor[Float32, 2]
reveal_type(scaled(torch.zeros(3, 5), torch.zeros(1, 5)))  # R: Tensor[Float, 3, 5]
reveal_type(projected(torch.zeros(2, 3, 5), torch.zeros(5, 7)))  # R: Tensor[Float, 2, 3, 7]

# -- where sizes come from -----

WIDTH: Final = 13
depth = 17


class Settings:
    width = 19


class Size(IntEnum):
    SMALL = 29


@dataclass(frozen=True)
class Config(Generic[N, M]):
    n: Dim[N]
    m: Dim[M]


class MLP(nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M], hidden: int = 64) -> None:
        super().__init__()
        self.fc = nn.Linear(n, hidden)
        self.out = nn.Linear(hidden, m)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        return self.out(self.fc(x).relu())


class Configured(nn.Module, Generic[N, M]):
    def __init__(self, config: Config[N, M]) -> None:
        super().__init__()
        self.fc = nn.Linear(config.n, config.m)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        return self.fc(x)


class Normal(st.nn.Module, Generic[D]):
    def __init__(self, dim: Dim[D]) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: JFloat32[torch.Tensor, "b {self.dim}"]) -> JFloat32[torch.Tensor, "b {self.dim}"]:
        return x - x.mean(-1, keepdim=True)


reveal_type(MLP(WIDTH, depth)(torch.zeros(2, 13)))  # R: Tensor[Float32, 2, 17]
reveal_type(MLP(Settings.width, m=Size.SMALL)(torch.zeros(2, 19)))  # R: Tensor[Float32, 2, 29]
reveal_type(MLP(int("3"), 5)(torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 5]
reveal_type(Configured(Config(5, 7))(torch.zeros(2, 5)))  # R: Tensor[Float32, 2, 7]
reveal_type(Normal(5)(torch.zeros(2, 5)))  # R: Tensor[Float32, 2, 5]

# -- values, facts and reasoning -----


def values(x: Tensor[Float32, B, T, C], n: Dim[N]) -> None:
    b, t, c = x.shape
    *_, last = x.shape
    reveal_type(b * t + n)  # R: Dim[B*T + N]
    reveal_type(last)  # R: Dim[C]
    reveal_type(max(b, t))  # R: Dim[max(B, T)]
    reveal_type(min(t, 5))  # R: Dim[min(T, 5)]
    reveal_type(len(x))  # R: Dim[B]
    reveal_type(torch.zeros(x.size(1), 3))  # R: Tensor[Float32, T, 3]
    reveal_type(x.view(b * t, -1))  # R: Tensor[Float32, B*T, C]
    reveal_type(x.view(x.numel() // x.shape[-1], c))  # R: Tensor[Float32, B*T, C]
    reveal_type(x.flatten(0, 1).view(b, t, -1))  # R: Tensor[Float32, B, T, C]
    reveal_type(torch.cat([x, x, torch.zeros(b, t, 7)], -1))  # R: Tensor[Float32, B, T, 2*C + 7]
    reveal_type(torch.zeros(2**n))  # R: Tensor[Float32, 2**N]
    reveal_type(x.unbind(1)[0])  # R: Tensor[Float32, B, C]


def heads(x: Tensor[Float32, B, T, D], h: Dim[H]) -> Tensor[Float32, B, T, D]:
    b, t, d = x.shape
    assert d % h == 0
    reveal_type(d // h * h)  # R: Dim[D]
    split = x.view(b, t, h, d // h).transpose(1, 2)
    reveal_type(split)  # R: Tensor[Float32, B, H, T, D//H]
    return split.transpose(1, 2).reshape(b, t, d)


def doubling(x: Tensor[Float32, B, 3, H, W]) -> None:
    reveal_type(nn.Conv2d(3, 8, 3, padding=1)(x))  # R: Tensor[Float32, B, 8, H, W]
    reveal_type(F.interpolate(F.max_pool2d(x, 2), scale_factor=2))  # R: Tensor[Float32, B, 3, 2*(H//2), 2*(W//2)]


def asserted(x: Tensor[Float32, B, N], y: Tensor[Float32, K, N]) -> Tensor[Float32, B, N]:
    assert x.shape[0] == y.shape[0]
    return x + y


def checked_first(x: Tensor[Float32, B, N], y: Tensor[Float32, K, N], n: Dim[M]) -> Tensor[Float32, K, 3]:
    if x.shape[0] != y.shape[0] or x.shape[1] != n:
        raise ValueError
    return (x + y) @ torch.zeros(n, 3)


def branched(x: Tensor[Float32, B, N], w: Tensor[Float32, M, 3]) -> Tensor[Float32, B, 3] | None:
    if x.shape[-1] == w.shape[0]:
        return x @ w
    return None


def halves(x: Tensor[Float32, "2*N"]) -> Tensor[Float32, N]:
    return x.view(2, -1).sum(0)


values(torch.zeros(2, 3, 5), 7)
doubling(torch.zeros(2, 3, 8, 12))
reveal_type(heads(torch.zeros(2, 3, 12), 4))  # R: Tensor[Float32, 2, 3, 12]
reveal_type(asserted(torch.zeros(2, 3), torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 3]
reveal_type(halves(torch.zeros(10)))  # R: Tensor[Float32, 5]

# -- calls through functions -----

P = ParamSpec("P")
R = TypeVar("R")


def logged(f: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(f)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return f(*args, **kwargs)

    return run


@logged
@checked
def product(x: Tensor[Float32, B, N], w: Tensor[Float32, N, M]) -> Tensor[Float32, B, M]:
    return x @ w


def applied(
    f: Callable[[Tensor[Float32, B, N]], Tensor[Float32, B, M]], x: Tensor[Float32, B, N]
) -> Tensor[Float32, B, M]:
    return f(x)


def repeated(x: Tensor[Float32, *Batch, N], times: int) -> Tensor[Float32, *Batch, N]:
    return x if times == 0 else repeated(x * 2, times - 1)


class Block(nn.Module, Generic[D]):
    def __init__(self, d: Dim[D]) -> None:
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x: Tensor[Float32, *Batch, D]) -> Tensor[Float32, *Batch, D]:
        return self.helper(x)

    def helper(self, x: Tensor[Float32, *Batch, D]) -> Tensor[Float32, *Batch, D]:
        return self.fc(x)

    @classmethod
    def make(cls, d: Dim[K]) -> "Block[K]":
        return Block(d)


class Shifted(Block[D]):
    def forward(self, x: Tensor[Float32, *Batch, D]) -> Tensor[Float32, *Batch, D]:
        return super().forward(x) + 1


fixed = functools.partial(product, w=torch.zeros(3, 5))
reveal_type(product(torch.zeros(2, 3), torch.zeros(3, 7)))  # R: Tensor[Float32, 2, 7]
reveal_type(fixed(torch.zeros(7, 3)))  # R: Tensor[Float32, 7, 5]
reveal_type(list(map(nested, [torch.zeros(2, 3)])))  # R: list[Tensor[Float32, 2]]
reveal_type(list(map(halves, [torch.zeros(6)])))  # R: list[Tensor[Float32, Any]]
reveal_type(applied(lambda x: x @ torch.zeros(3, 5), torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 5]
reveal_type(applied(nn.Linear(3, 5), torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 5]
reveal_type(repeated(torch.zeros(2, 3, 5), 2))  # R: Tensor[Float32, 2, 3, 5]
reveal_type(Block.make(7)(torch.zeros(2, 3, 7)))  # R: Tensor[Float32, 2, 3, 7]
reveal_type(Shifted(7)(torch.zeros(2, 3, 7)))  # R: Tensor[Float32, 2, 3, 7]
