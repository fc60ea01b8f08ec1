"""Symbols: aliases, jaxtyping's names, facts and functions that don't fit; `checked` raises the same."""

import functools
from typing import Generic, NamedTuple

import torch
from jaxtyping import Float
from jaxtyping import Float32 as JFloat32

import simpletorch as st
from simpletorch import Float32, Tensor, checked
from simpletorch.dims import B, D, Dim, H, K, N, W

Image = Tensor[Float32, 3, H, W]
Named = JFloat32[torch.Tensor, "3 h w"]


@checked
def turned(x: Image) -> Image:
    return x.mT  # E: tensor-shape


@checked
def turned_named(x: Named) -> Named:
    return x.mT  # E: tensor-shape


@checked
def masked(x: Image, mask: Tensor[Float32, H, W]) -> Image:
    return x * mask


@checked
def scaled(x: Float[torch.Tensor, "b n"], scale: Float[torch.Tensor, "#b n"]) -> Float[torch.Tensor, "b n"]:
    return x * scale


class Result(NamedTuple):
    logits: Tensor[Float32, 5, 11]


@checked
def result(r: Result) -> Tensor[Float32, 11, 5]:
    return r.logits  # E: tensor-shape


class Encoder(Generic[D]):
    def encode(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, 7]:
        return torch.zeros(x.shape[0], 7)


class Wider(Encoder[D]):
    def encode(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, 8]:  # E: tensor-shape
        return torch.zeros(x.shape[0], 8)


class Normal(st.nn.Module, Generic[D]):
    def __init__(self, dim: Dim[D]) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: JFloat32[torch.Tensor, "b {self.dim}"]) -> JFloat32[torch.Tensor, "b {self.dim}"]:
        return x - x.mean(-1, keepdim=True)


@checked
def other_fact(x: Tensor[Float32, B, N], y: Tensor[Float32, K, N]) -> Tensor[Float32, B, N]:
    if x.shape[0] == y.shape[0]:
        return x + y
    return x + y  # E: tensor-shape


@checked
def only_some_sizes(x: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
    return x.view(5, -1)  # E: tensor-shape


@checked
def product(x: Tensor[Float32, B, N], w: Tensor[Float32, N, K]) -> Tensor[Float32, B, K]:
    return x @ w


fixed = functools.partial(product, w=torch.zeros(3, 5))


def fail_alias() -> None:
    turned(torch.zeros(3, 5, 7))


def fail_alias_named() -> None:
    turned_named(torch.zeros(3, 5, 7))


def fail_alias_beside_names() -> None:
    masked(torch.zeros(3, 5, 7), torch.zeros(5, 8))  # E: tensor-shape


def fail_alias_literal() -> None:
    masked(torch.zeros(4, 5, 7), torch.zeros(5, 7))  # E: tensor-shape


def fail_neither_one_nor_the_same() -> None:
    scaled(torch.zeros(3, 5), torch.zeros(2, 5))  # E: tensor-shape


def fail_field() -> None:
    result(Result(torch.zeros(5, 11)))


def fail_attribute_in_a_string() -> None:
    Normal(5)(torch.zeros(2, 6))  # E: tensor-shape


def fail_where_the_fact_does_not_hold() -> None:
    other_fact(torch.zeros(2, 3), torch.zeros(5, 3))


def fail_for_some_sizes() -> None:
    only_some_sizes(torch.zeros(4, 5))


def fail_partial() -> None:
    fixed(torch.zeros(7, 4))  # E: tensor-shape
