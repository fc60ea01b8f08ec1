"""Operators that the tests of this folder share: one for each thing that an annotation can say."""

from __future__ import annotations

import torch

from simpletorch import Float, Float32, Int64, Tensor, kernels
from simpletorch.dims import B, Dim, N


@kernels.operator("kernel_tests::relu_add")
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """relu(x + y)"""
    return torch.relu(x + y)


@relu_add.cpu
def _(x, y):
    return torch.relu(x.add(y))


@relu_add.backward
def _(grad, result):
    kept = grad * (result > 0)
    return kept, kept


@kernels.operator("kernel_tests::halves")
def halves(
    x: Float[Tensor, "b 2*n"], scale: float = 3.0, *, swapped: bool = False
) -> tuple[Float[Tensor, "b n"], Float[Tensor, "b n"]]:
    a, b = (x * scale).chunk(2, -1)
    return (b, a) if swapped else (a, b)


@kernels.operator("kernel_tests::pooled")
def pooled(x: Float32[Tensor, "*b h"]) -> Float32[Tensor, "*b (h-1)//2+1"]:
    return x[..., ::2].exp()


@kernels.operator("kernel_tests::added")
def added(x: Float[Tensor, "#n #m"], y: Float[Tensor, "#n #m"]) -> Float[Tensor, "n m"]:
    return x + y


@kernels.operator("kernel_tests::embedded")
def embedded(table: Tensor[Float32, N, "d"], ids: Tensor[Int64, B], n: Dim[N]) -> Tensor[Float32, B, "d"]:
    return table[ids % n]


@kernels.operator("kernel_tests::positive")
def positive(x: Float[Tensor, " n"]) -> tuple[Float[Tensor, " k"], Int64[Tensor, " k"]]:
    places = (x > 0).nonzero()[:, 0]
    return x[places], places


@kernels.operator("kernel_tests::total")
def total(xs: list[Float[Tensor, "*n"]], weight: Float[Tensor, "*n"] | None = None) -> Float[Tensor, "*n"]:
    result = torch.stack(xs).sum(0)
    return result if weight is None else result * weight


@kernels.operator("kernel_tests::double_", mutates=("x",))
def double_(x: Float[Tensor, "*n"]) -> None:
    x.mul_(2)


@kernels.operator("kernel_tests::normalized")
def normalized(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Shapes as an element-wise operator has them, and it is none."""
    return x / x.abs().sum()


@kernels.operator("kernel_tests::split")
def split(x: Float[Tensor, "n d"], sizes: list[int]) -> list[torch.Tensor]:
    return [part.clone() for part in x.split(sizes)]


def tensor(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32, grad: bool = False) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_(grad)


CALLS = {
    "relu_add": (relu_add, (tensor(3, 5, grad=True), tensor(3, 5, seed=1, grad=True))),
    "halves": (halves, (tensor(3, 10, grad=True), 2.0, True)),
    "pooled": (pooled, (tensor(2, 3, 7, grad=True),)),
    "added": (added, (tensor(3, 1, grad=True), tensor(1, 5))),
    "embedded": (embedded, (tensor(7, 3, grad=True), torch.arange(5), 7)),
    "positive": (positive, (tensor(11, grad=True),)),
    "total": (total, ([tensor(5, seed=s, grad=True) for s in range(3)], tensor(5, grad=True))),
    "double_": (double_, (tensor(3, 5),)),
    "normalized": (normalized, (tensor(3, 5, grad=True),)),
    "split": (split, (tensor(8, 3, grad=True), [3, 5])),
}
"""Each operator with arguments for its ``op``, which takes all of them by position."""
