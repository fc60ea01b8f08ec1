"""Annotations that arguments and results fail, in functions and models; torch's own errors in checked functions."""

import torch
from torch import zeros

from simpletorch import B, D, Dim, Float32, Int64, N, Tensor, checked, nn


@checked
def attend(q: Tensor[Float32, B, D], k: Tensor[Float32, N, D]) -> Tensor[Float32, B, N]:
    return q @ k.T


@checked
def halves(x: Tensor[Float32, "2*N"]) -> Tensor[Float32, N]:
    return x[: len(x) // 2 + 1]


@checked
def look_up(ids: Tensor[Int64, B], table: Tensor[Float32, N, D]) -> Tensor[Float32, B, D]:
    return table[ids]


@checked
def scale(x: Tensor[Float32, B, D], weight: torch.Tensor) -> Tensor[Float32, B, D]:
    return x * weight


class Head(nn.Module):
    def __init__(self, width: Dim[D]) -> None:
        super().__init__()
        self.fc = nn.Linear(width, 3)

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, 3]:
        return self.fc(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = Head(7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x)


def two_sizes_that_differ() -> None:
    q, k = zeros(2, 3), zeros(5, 7)
    attend(q, k)


def a_dim_too_many() -> None:
    attend(zeros(2, 3, 5), zeros(7, 5))


def an_odd_number() -> None:
    halves(zeros(7))


def a_wrong_result() -> None:
    halves(zeros(10))


def floats_for_ids() -> None:
    look_up(zeros(3), zeros(5, 7))


def something_else() -> None:
    look_up([1, 2], zeros(5, 7))


def an_operation_inside_a_checked_function() -> None:
    scale(zeros(2, 3), zeros(5))


def a_forward_inside_a_model() -> None:
    model = Model()
    model(zeros(2, 5))
