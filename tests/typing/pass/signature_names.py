"""Names of jaxtyping's that only a result has, or that an overriding method or an overload calls otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

Scalar = Float[Tensor, ""]
PerToken = Float[Tensor, "batch pos"]


def last(x: Float[Tensor, "b t"]) -> Float[Tensor, "b s"]:
    return x[:, -1:]


def fresh(n: int) -> Float[Tensor, "n m"]:
    out: Float[Tensor, "n m"] = torch.zeros(n, 3)
    out = out + torch.zeros(n, 3)
    return out


def square(n: int) -> Float[Tensor, "n n"]:
    return torch.eye(n)


def ahead(x: Float[Tensor, "b t"]) -> Float[Tensor, "*any t"]:
    return x[None, :, None]


def split(x: Float[Tensor, "b t"]) -> tuple[Float[Tensor, "b s"], int | None]:
    return x[:, :2], 1


def doubled(x: Float[Tensor, "b t"]) -> Float[Tensor, "b 2*s"]:
    return x[:, :6]


def by_alias(x: Tensor) -> PerToken:
    return x.view(-1, 2)


def chunks(x: Float[Tensor, "b t"]) -> Iterator[Float[Tensor, "b s"]]:
    yield x[:, :2]
    yield x[:, :3]


async def later(x: Float[Tensor, "b t"]) -> Float[Tensor, "b s"]:
    return x[:, :2]


class Base(nn.Module):
    def forward(self, x: Float[Tensor, "*bs input_dim"]) -> Float[Tensor, "*bs output_dim"]:
        return x[..., :2]

    def encode(self, x: Float[Tensor, "b c h w"], scale: float = 1.0) -> Float[Tensor, "b d"]:
        return x.flatten(1) * scale

    @property
    def table(self) -> Float[Tensor, "rows columns"]:
        return torch.zeros(3, 5)

    @staticmethod
    def mean(x: Float[Tensor, "n d"]) -> Float[Tensor, " d"]:
        return x.mean(0)


class Sub(Base):
    def forward(self, x: Float[Tensor, "*bs in_dim"]) -> Float[Tensor, "*bs out_dim"]:
        return x

    def encode(self, x: Float[Tensor, "n 3 h w"], scale: float = 1.0) -> Float[Tensor, "n 5"]:
        return x.flatten(1)[:, :5]

    @property
    def table(self) -> Float[Tensor, "n m"]:
        return torch.zeros(3, 7)

    @staticmethod
    def mean(x: Float[Tensor, "rows columns"]) -> Float[Tensor, " columns"]:
        return x.mean(0)


class Cells(Base):
    def encode(
        self,
        x: Float[Tensor, "cells channels height width"],
        scale: float = 2.0,
    ) -> Float[Tensor, "cells features"]:
        return x.flatten(1)


@overload
def run(*a: Any, flag: Literal[True] = True) -> tuple[Float[Tensor, "batch d"], int]: ...
@overload
def run(*a: Any, flag: Literal[False]) -> tuple[Float[Tensor, "batch d"], str]: ...
def run(*a: Any, flag: bool = True) -> tuple[Float[Tensor, "n m"], int | str]:
    return torch.zeros(2, 3), 1


class Picker(nn.Module):
    @overload
    def pick(self, x: Float[Tensor, "b t"], index: int) -> Float[Tensor, " b"]: ...
    @overload
    def pick(self, x: Float[Tensor, "b t"], index: slice) -> Float[Tensor, "b s"]: ...
    def pick(self, x: Float[Tensor, "n m"], index: int | slice) -> Float[Tensor, " n"] | Float[Tensor, "n k"]:
        return x[:, index]


class Decoder(nn.Module):
    def forward(
        self, x: Float[Tensor, "t b i"], state: Float[Tensor, "1 b h"] | None
    ) -> tuple[Float[Tensor, "t b 3"], Float[Tensor, "1 b h"]]:
        return x[..., :3], x.new_zeros(1, x.shape[1], 5) if state is None else state

    def step(self, x: Float[Tensor, "b h"], state: Float[Tensor, "b h"] | None = None) -> Float[Tensor, "b h"]:
        return x if state is None else state


class Norm(nn.Module):
    def forward(
        self, x: Float[Tensor, "batch pos d"] | Float[Tensor, "batch pos h d"]
    ) -> Float[Tensor, "batch pos d"] | Float[Tensor, "batch pos h d"]:
        return x


def use(decoder: Decoder, norm: Norm, x: Float[Tensor, "t b 9"], state: Float[Tensor, "1 b h"] | None) -> None:
    q, _ = decoder(x, None)
    r, s = decoder(x, state)
    first = decoder.step(x[0])
    y = norm(x)
    z, kind = run(x, flag=False)
    n = last(x[0])
    print(q + r, s, first, y, z, kind, n, fresh(3) + torch.zeros(1, 3))


def positions(ids: Int64[Tensor, "b t"] | None) -> Float[Tensor, "b t"] | None:
    return None if ids is None else ids * 1.0


def nothing() -> None:
    found = positions(None)
    print(found)


use(Decoder(), Norm(), torch.ones(2, 3, 9), torch.ones(1, 3, 4))
nothing()
