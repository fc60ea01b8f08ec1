"""What a program has stated of sizes holds where it is stated, and nowhere else; what it states otherwise is no fact."""

from __future__ import annotations

import torch
from torch import nn
from torch.func import vmap

from simpletorch import B, Dim, Float32, K, M, N, Tensor


def add(a: Tensor[Float32, N], b: Tensor[Float32, N]) -> Tensor[Float32, N]:
    return a + b


def layer_after_the_block(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    if n == m:
        nn.Linear(m, 5)(x)
    nn.Linear(m, 5)(x)  # E: tensor-shape


def container_before_the_fact(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    nn.Sequential(nn.Linear(3, n), nn.Linear(m, 5))  # E: tensor-shape
    nn.Sequential(nn.Linear(m, 5), nn.ReLU())(x)  # E: tensor-shape
    assert n == m
    nn.Sequential(nn.Linear(m, 5), nn.ReLU())(x)


def layer_made_where_the_fact_holds(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    layers = [nn.Linear(m, 5)]
    if n == m:
        layers[0](x)
    else:
        layers[0](x)  # E: tensor-shape


def other_size(x: Tensor[Float32, K, N], y: Tensor[Float32, M, N], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    vmap(torch.dot)(x, y)  # E: tensor-shape


def values(y: Tensor[Float32, M], n: Dim[N], m: Dim[M]) -> Tensor[Float32, N]:
    if n != m:
        first: Tensor[Float32, N] = y  # E: tensor-shape
        size: Dim[N] = m  # E: assignment
        layer: nn.Linear[N, 3] = nn.Linear(m, 3)  # E: assignment
        add(first, layer(torch.zeros(n))).view(size)  # E: tensor-shape
    return y  # E: tensor-shape


def fail_layer_after_the_block() -> None:
    layer_after_the_block(torch.zeros(2, 3), 3, 7)


def fail_container_before_the_fact() -> None:
    container_before_the_fact(torch.zeros(2, 3), 3, 7)


def fail_layer_made_where_the_fact_holds() -> None:
    layer_made_where_the_fact_holds(torch.zeros(2, 3), 3, 7)


def fail_other_size() -> None:
    other_size(torch.zeros(2, 3), torch.zeros(3, 3), 3, 3)


def fail_values() -> None:
    values(torch.zeros(3), 5, 3)
