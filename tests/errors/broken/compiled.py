"""Models and functions under torch.compile. Tracing fails before any back end is asked, so "eager" stands for all."""

import torch
from torch import Tensor, zeros

from simpletorch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(5, 7)
        self.fc2 = nn.Linear(11, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.fc1(x))
        return self.fc2(h)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 7), nn.Linear(11, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


def a_model() -> None:
    model = torch.compile(Net(), backend="eager")
    model(zeros(2, 5))


def a_sequential_inside() -> None:
    model = torch.compile(Nested(), backend="eager")
    model(zeros(2, 5))


def a_function() -> None:
    @torch.compile(backend="eager")
    def scores(q: Tensor, k: Tensor) -> Tensor:
        return q.relu() @ k

    scores(zeros(2, 3), zeros(5, 3))


def cat() -> None:
    @torch.compile(backend="eager")
    def joined(a: Tensor, b: Tensor) -> Tensor:
        return torch.cat([a, b])

    joined(zeros(2, 3), zeros(2, 5))


def a_branch_on_data() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def positive(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x + 1
        return x

    positive(zeros(2))


def a_back_end_that_fails() -> None:
    def back_end(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> None:
        raise ValueError("no code for this machine")

    @torch.compile(backend=back_end)
    def double(x: Tensor) -> Tensor:
        return 2 * x

    double(zeros(2))
