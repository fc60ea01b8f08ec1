"""Both styles of annotation are the same type."""

from typing import Any, Generic, Literal, NamedTuple, TypeVar, TypeVarTuple

import jaxtyping as jt
import torch
from jaxtyping import Float, Float32, Int64

import simpletorch as st
from simpletorch import Tensor, dtypes
from simpletorch.dims import B, Batch, C, D, Dim, I, M, N, O, S, T


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


# -- spellings that checkers without the plugin take too: "*Batch", and sizes in a Literal

Item = TypeVar("Item")
Lead = TypeVarTuple("Lead")


def scores(
    q: Tensor[st.Float32, "*Batch", T, D], k: Tensor[st.Float32, "*Batch", S, D]
) -> Tensor[st.Float32, "*Batch", T, S]:
    reveal_type(q.mean(-1))  # R: Tensor[Float32, *Batch, T]
    return q @ k.mT


reveal_type(scores(torch.zeros(2, 3, 5, 7), torch.zeros(2, 3, 11, 7)))  # R: Tensor[Float32, 2, 3, 5, 11]


def mixed(x: Tensor[st.Float32, *Batch, D], y: Tensor[st.Float32, "*Batch"]) -> Tensor[st.Float32, "*Batch", D]:
    return x * y.unsqueeze(-1)


reveal_type(mixed(torch.zeros(2, 3, 5), torch.zeros(2, 3)))  # R: Tensor[Float32, 2, 3, 5]


class Kept(Generic[*Lead]):
    def __init__(self, x: Tensor[st.Float32, *Lead]) -> None:
        self.x = x

    def again(self, x: Tensor[st.Float32, "*Lead", 3]) -> Tensor[st.Float32, "*Lead"]:
        return self.x * x.mean(-1)


reveal_type(Kept(torch.zeros(2, 5)).again(torch.zeros(2, 5, 3)))  # R: Tensor[Float32, 2, 5]


class Cache(NamedTuple, Generic[B, T, D]):
    keys: Tensor[st.Float32, B, T, D]


def extend(cache: Cache[B, T, D], new: Tensor[st.Float32, B, S, D]) -> Cache[B, Literal["S + T"], D]:
    return Cache(torch.cat([cache.keys, new], dim=1))


def start(new: Tensor[st.Float32, B, S, D]) -> Cache[B, Literal[0], D]:
    return Cache(new[:, :0])


reveal_type(start(torch.zeros(2, 3, 5)).keys)  # R: Tensor[Float32, 2, 0, 5]
reveal_type(extend(start(torch.zeros(2, 3, 5)), torch.zeros(2, 3, 5)).keys)  # R: Tensor[Float32, 2, 3, 5]


def doubled(
    x: Tensor[st.Float32, B, Literal["2*D"]], layer: st.nn.Linear[I, O]
) -> Tensor[st.Float32, B, D, Literal[2]]:
    reveal_type(layer.weight)  # R: Parameter[Any, O, I]
    return x.view(x.shape[0], -1, 2)


class Named(Generic[Item]):
    """A `Literal` that is no size stays what it is."""

    item: Item


def kinds(a: Named[Literal["test-only"]], b: Named[Literal["T"]], c: Named[Literal["no + size"]]) -> None:
    reveal_type(a.item)  # R: Literal['test-only']
    reveal_type(b.item)  # R: Literal['T']
    reveal_type(c.item)  # R: Literal['no + size']
