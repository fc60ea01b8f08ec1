"""Both styles of annotation are the same type."""

from typing import Any, Generic, Literal, TypeVar

import jaxtyping as jt
import torch
from jaxtyping import Float, Float32, Int64

import simpletorch as st
from simpletorch import Tensor, dtypes
from simpletorch.dims import B, Batch, C, Dim, M, N


def ours(
    a: Tensor[st.Float32, 3, 784],
    b: Tensor[st.Float32, Literal[3], Any],
    c: Tensor[st.Float32, B, "2*B + 1"],
    d: Tensor[st.Int64, *Batch, 5],
    e: Tensor[st.Bool, ..., 5],
    f: Tensor[Any, 3],
    g: Tensor,
    h: Tensor[st.Float32, B, C] | None,
) -> None:
    reveal_type(a)  # R: Tensor[Float32, 3, 784]
    reveal_type(b)  # R: Tensor[Float32, 3, Any]
    reveal_type(c)  # R: Tensor[Float32, B, 2*B + 1]
    reveal_type(d)  # R: Tensor[Int64, *Batch, 5]
    reveal_type(e)  # R: Tensor[Bool, ..., 5]
    reveal_type(f)  # R: Tensor[Any, 3]
    reveal_type(g)  # R: Tensor
    if h is not None:
        reveal_type(h)  # R: Tensor[Float32, B, C]


def theirs(
    a: Float32[torch.Tensor, "3 784"],
    b: Float32[torch.Tensor, "3 _"],
    c: Float32[torch.Tensor, "batch 2*batch+1"],
    d: Int64[torch.Tensor, "*batch 5"],
    e: jt.Bool[torch.Tensor, "... 5"],
    f: Float[torch.Tensor, "3"],
    g: torch.Tensor,
    h: Float32[torch.Tensor, "b c"] | None,
    i: Float32[torch.Tensor, ""],
    j: Float32[torch.Tensor, "batch #other"],
    k: Float32[torch.Tensor, "rows=3 784"],
) -> None:
    reveal_type(a)  # R: Tensor[Float32, 3, 784]
    reveal_type(b)  # R: Tensor[Float32, 3, Any]
    reveal_type(c)  # R: Tensor[Float32, batch, 2*batch + 1]
    reveal_type(d)  # R: Tensor[Int64, *batch, 5]
    reveal_type(e)  # R: Tensor[Bool, ..., 5]
    reveal_type(f)  # R: Tensor[Float, 3]
    reveal_type(g)  # R: Tensor
    if h is not None:
        reveal_type(h)  # R: Tensor[Float32, b, c]
    reveal_type(i)  # R: Tensor[Float32]
    reveal_type(j)  # R: Tensor[Float32, batch, Any]
    reveal_type(k)  # R: Tensor[Float32, 3, 784]


Image = Tensor[st.Float32, 3, N, M]


def alias(x: "Image[Literal[17], Literal[19]]") -> None:
    reveal_type(x)  # R: Tensor[Float32, 3, 17, 19]


def sizes(n: Dim[N], k: int) -> None:
    reveal_type(n)  # R: Dim[N]
    reveal_type(2 * n + 1)  # R: Dim[2*N + 1]
    reveal_type((2 * n + 4) // 2)  # R: Dim[N + 2]
    reveal_type(n * k)  # R: int
    reveal_type(n % 7)  # R: Dim[N%7]


DT = TypeVar("DT", bound=dtypes.Shaped)


class Holder(Generic[DT]):
    def __init__(self, x: Tensor[DT, 3]) -> None:
        self.x = x


reveal_type(Holder(torch.zeros(3)).x)  # R: Tensor[Float32, 3]


class Both(torch.nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M]) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(n, m)

    def forward(self, x: Float32[torch.Tensor, "batch N"]) -> Float32[torch.Tensor, "batch M"]:
        reveal_type(x)  # R: Tensor[Float32, batch, N]
        return self.fc(x)


reveal_type(Both(3, 5)(torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 5]
