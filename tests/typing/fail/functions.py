"""Calls of the user's own functions and modules with tensors of the wrong size; `checked` raises the same."""

import dataclasses
from typing import Generic

import torch
from jaxtyping import Float32 as JaxFloat32
from torch import nn

import simpletorch as st
from simpletorch import Float32, Tensor, checked
from simpletorch.dims import B, C, Dim, M, N


@checked
def same(a: Tensor[Float32, B, N], b: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
    return a + b


@checked
def doubled(a: Tensor[Float32, N], b: Tensor[Float32, "2*N"]) -> Tensor[Float32, "3*N"]:
    return torch.cat([a, b])


@checked
def named(a: JaxFloat32[torch.Tensor, "batch n"], b: JaxFloat32[torch.Tensor, "n m"]) -> JaxFloat32[torch.Tensor, "batch m"]:
    return a @ b


@checked
def wrong_result(x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 5]:
    return x  # E: tensor-shape


@checked
def wrong_for_some_sizes(x: Tensor[Float32, B, N]) -> Tensor[Float32, N, B]:
    return x  # E: tensor-shape


@checked
def wrong_dtype(x: Tensor[Float32, B]) -> Tensor[Float32, B]:
    return x.double()  # E: tensor-dtype


@checked
def no_broadcast(x: Tensor[Float32, B, N], y: Tensor[Float32, B, C]) -> None:
    x + y  # E: tensor-shape


class MLP(st.nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M]) -> None:
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        return self.fc(x)


def fail_same() -> None:
    same(torch.zeros(3, 5), torch.zeros(3, 7))  # E: tensor-shape


def fail_rank() -> None:
    same(torch.zeros(3, 5), torch.zeros(3))  # E: tensor-shape


def fail_doubled() -> None:
    doubled(torch.zeros(3), torch.zeros(5))  # E: tensor-shape


def fail_named() -> None:
    named(torch.zeros(3, 5), torch.zeros(7, 11))  # E: tensor-shape


def fail_argument_dtype() -> None:
    same(torch.zeros(3, 5), torch.zeros(3, 5, dtype=torch.int64))  # E: tensor-dtype


def fail_wrong_result() -> None:
    wrong_result(torch.zeros(3, 7))


def fail_wrong_for_some_sizes() -> None:
    wrong_for_some_sizes(torch.zeros(3, 7))


def fail_wrong_dtype() -> None:
    wrong_dtype(torch.zeros(3))


def fail_no_broadcast() -> None:
    no_broadcast(torch.zeros(3, 5), torch.zeros(3, 7))


def fail_module() -> None:
    MLP(5, 3)(torch.zeros(2, 7))  # E: tensor-shape


def fail_not_a_tensor() -> None:
    same(torch.zeros(3, 5), [1.0])  # E: arg-type


class Attention(nn.Module):
    def forward(self, q: Tensor[Float32, B, N], k: Tensor[Float32, B, M], scale: float = 1.0) -> Tensor[Float32, N, M]:
        return q.mT @ k * scale


def fail_second_argument() -> None:
    Attention()(torch.zeros(2, 3), torch.zeros(5, 7))  # E: tensor-shape


def fail_keyword_argument() -> None:
    Attention()(k=torch.zeros(5, 7), q=torch.zeros(2, 3), scale=0.5)  # E: tensor-shape


class Declared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state: Tensor[Float32, 3] = torch.zeros(3)
        self.history: list[Tensor[Float32, 3]] = []

    def grow(self) -> None:
        self.state = torch.zeros(5)  # E: tensor-shape
        self.history.append(torch.zeros(5))  # E: tensor-shape


def local_declaration() -> None:
    x: Tensor[Float32, 3] = torch.zeros(5)  # E: tensor-shape
    x.sum()


def centred(cx: JaxFloat32[torch.Tensor, "*cameras 1"] | float) -> None: ...


def fail_scalar(intrinsics: JaxFloat32[torch.Tensor, "n 3 3"]) -> None:
    centred(intrinsics[0, 0, 2])  # E: tensor-shape


@dataclasses.dataclass
class Sample:
    image: Tensor[Float32, 3, 5]
    label: int = 0


def fail_replaced(sample: Sample) -> None:
    dataclasses.replace(sample, label=1, image=torch.zeros(5, 3))  # E: tensor-shape
