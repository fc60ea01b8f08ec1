"""What a program has stated of sizes holds wherever sizes are compared; each of these is an error without the fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, cast

import torch
from jaxtyping import Float
from torch import nn
from torch.func import functional_call, grad, jacrev, vjp, vmap
from torch.nn import functional as F
from torch.optim import SGD
from torch.utils.checkpoint import checkpoint

import simpletorch
from simpletorch import B, D, Dim, Float32, H, Int64, K, M, N, Tensor
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.train import Trainer, evaluate


def add(a: Tensor[Float32, N], b: Tensor[Float32, N]) -> Tensor[Float32, N]:
    return a + b


def diagonal(a: Tensor[Float32, N, N]) -> Tensor[Float32, N]:
    return a.diagonal()


class Scale(Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        self.factor: Tensor[Float32, N] = torch.ones(n)

    def apply(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x * self.factor

    def __call__(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x * self.factor


class Net(simpletorch.nn.Module, Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        super().__init__()
        self.fc: nn.Linear[N, 5] = nn.Linear(n, 5)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, 5]:
        return self.fc(x)


class Stack(nn.Sequential):
    def __init__(self, n: Dim[N], m: Dim[M]) -> None:
        assert n == m
        super().__init__(nn.Linear(3, n), nn.Linear(m, 5))


def operations(x: Tensor[Float32, B, N], w: Tensor[Float32, M, 3]) -> None:
    assert x.shape[1] == w.shape[0]
    x @ w
    torch.einsum("bn,nk->bk", x, w)
    F.linear(x, w.T)
    x.matmul(w)


def layers(x: Tensor[Float32, B, N], images: Tensor[Float32, B, N, D], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    nn.Linear(m, 5)(x)
    nn.Linear(m, 5).forward(x)
    simpletorch.nn.Linear(m, 5)(x)
    nn.Conv1d(m, n, 3, groups=n)(images)
    nn.LayerNorm([m, images.shape[2]])(images)
    (nn.Linear(m, 5) if m > 7 else nn.Identity())(x)


def divisions(x: Tensor[Float32, B, N, D], d: Dim[D], h: Dim[H]) -> Tensor[Float32, B, N, D]:
    if d % h:
        raise ValueError
    heads: nn.Linear[D, D] = nn.Linear(h * (d // h), d // h * h)
    attention = nn.MultiheadAttention(h * (d // h), h, batch_first=True)
    return heads(attention(x, x, x)[0].view(x.shape[0], x.shape[1], h, d // h).flatten(2))


def containers(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    nn.Sequential(nn.Linear(3, n), nn.Linear(m, 5))(torch.zeros(2, 3))
    simpletorch.nn.Sequential(nn.Linear(m, 5), nn.ReLU())(x)
    net = nn.Sequential(nn.Linear(m, n), nn.ReLU())
    net.append(nn.Linear(m, 3))
    net(x)
    stages = nn.ModuleList([nn.Linear(m, 5), nn.Linear(m, 7)])
    stages[0](x)
    for stage in stages:
        stage(x)
    nn.ModuleDict({"a": nn.Linear(m, 3)})["a"](x)
    x + nn.ParameterList([torch.zeros(m)])[0]


def users(x: Tensor[Float32, B, N], square: Tensor[Float32, N, M], y: Tensor[Float32, M]) -> Tensor[Float32, N]:
    z = x[0]
    assert len(y) == len(z)
    diagonal(square)
    scale = Scale(len(z))
    scale.apply(y)
    scale(y)
    Net(len(y))(x)
    Net(len(y)).forward(x)
    return add(y, z)


def transforms(x: Tensor[Float32, N, K], y: Tensor[Float32, M, K], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    vmap(torch.dot)(x, y)
    vmap(add)(x, y)
    vmap(lambda a, b: a + b)(x, y)
    vmap(add, in_dims=1)(x, y)
    grad(torch.dot)(x[:, 0], y[:, 0])
    jacrev(add)(x[:, 0], y[:, 0])
    vjp(add, x[:, 0], y[:, 0])
    checkpoint(add, x[:, 0], y[:, 0], use_reentrant=False)
    checkpoint(nn.Linear(m, 3), x.T, use_reentrant=False)


def wrappers(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    nn.DataParallel(nn.Linear(m, 5))(x)
    nn.Linear(m, 5).double()(x.double())
    nn.utils.parametrizations.weight_norm(nn.Linear(m, 5))(x)
    functional_call(nn.Linear(m, 5), {}, (x,))
    x + nn.Parameter(torch.zeros(m))


def attributes(x: Tensor[Float32, B, N], n: Dim[N], m: Dim[M]) -> None:
    assert n == m
    fc = nn.Linear(m, 5)
    x @ fc.weight.T
    x @ fc.weight.data.mT
    add(x[0], torch.zeros(fc.in_features))
    add(x[0], torch.zeros(fc.weight.shape[1]))


def assignments(x: Tensor[Float32, N], y: Tensor[Float32, M], n: Dim[N], m: Dim[M]) -> tuple[Tensor[Float32, N], int]:
    assert n == m
    a: Tensor[Float32, M] = x
    b: list[Tensor[Float32, M]] = [x]
    c: tuple[Tensor[Float32, N], Dim[N]] = (y, m)
    d: Callable[[Tensor[Float32, N]], Tensor[Float32, M]] = nn.Linear(m, n)
    e = cast(Tensor[Float32, N], y)
    f: Dim[N] = m
    g: nn.Linear[N, 3] = nn.Linear(m, 3)
    h: Scale[N] = Scale(m)
    x = y
    add(a, d(c[0])), add(b[0], h.apply(e)), g(torch.zeros(f))
    return y, 3


def training(images: Tensor[Float32, 11, N], labels: Tensor[Int64, 11], m: Dim[M]) -> None:
    assert images.shape[1] == m
    model = Net(m)
    loader = DataLoader(TensorDataset(images, labels), 5)
    for batch, _ in loader:
        model(batch)
    evaluate(model, loader, {})
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False).fit(model, loader)
    plain = nn.Sequential(nn.Linear(m, 5))
    Trainer(loss=F.cross_entropy, optimizer=SGD(plain.parameters()), progress=False).fit(plain, loader)


def measured(x: Float[torch.Tensor, "*batch c"], w: Float[torch.Tensor, "c2 d"]) -> Float[torch.Tensor, "*batch d"]:
    assert x.shape[-1] == w.shape[0]
    return x @ w


def narrowed(image: Float[torch.Tensor, "*batch channels"]) -> Float[torch.Tensor, "*batch 3"]:
    if image.size(-1) == 3:
        return image
    raise ValueError(image.shape)


def same_shape(x: Float[torch.Tensor, "b c"], w: Float[torch.Tensor, "b2 c2"]) -> Float[torch.Tensor, "b c"]:
    if x.shape != w.shape:
        raise ValueError(x.shape)
    return x + w


def in_expressions(x: Tensor[Float32, N, D], y: Tensor[Float32, M, K]) -> Tensor[Float32, N, D]:
    z = x + y if x.shape == y.shape else x
    if x.shape != y.shape or (x != y).any():
        return z
    assert x.shape == y.shape and (x - y).abs().max() < 1e-5, "they differ"  # noqa: PT018
    return z if not (x.shape == y.shape and torch.allclose(x, y)) else x + y


def one_of_three(x: Tensor[Float32, N], y: Tensor[Float32, M]) -> Tensor[Float32, N]:
    return (
        x
        if y.shape[0] > 7
        else x + y
        if y.shape[0] == 1
        else x
    )  # fmt: skip


def named(x: Tensor[Float32, N, D], y: Tensor[Float32, M, K]) -> Tensor[Float32, N, D]:
    is_same = x.shape == y.shape
    if not is_same:
        raise ValueError(y.shape)
    return x + y


def as_lists(x: Tensor[Float32, N, D], y: Tensor[Float32, M, K], z: Tensor[Float32, H, B]) -> Tensor[Float32, N, D]:
    n, d = x.shape
    assert list(y.shape) == [n, d]
    assert tuple(z.shape) == (len(y), *y.shape[1:])
    return x + y + z


def sizes(x: Tensor[Float32, N, D], y: Tensor[Float32, M, K]) -> Tensor[Float32, N, D]:
    assert y.shape == torch.Size([x.shape[0], x.shape[1]])
    return x + y


def by_torch(x: Tensor[Float32, N, D], y: Tensor[Float32, M, K]) -> Tensor[Float32, N, D]:
    torch._assert(x.shape[0] == y.shape[0], "rows")
    torch._check(x.shape[1] == y.shape[1])
    return x + y


def only_one(x: Tensor[Float32, N, D], y: Tensor[Float32, M, D]) -> Tensor[Float32, N, D]:
    if y.shape[0] == 1:
        y.expand(len(x), -1) + x
        y.expand_as(x)
        x.addcmul(x, y)
        return x + y
    m = y.shape[0]
    if m == len(x):
        return x + y
    elif m == 1:
        return y + x
    return x


operations(torch.zeros(2, 5), torch.zeros(5, 3))
in_expressions(torch.zeros(2, 5), torch.zeros(2, 5))
one_of_three(torch.zeros(2), torch.zeros(1))
named(torch.zeros(2, 5), torch.zeros(2, 5))
as_lists(torch.zeros(2, 5), torch.zeros(2, 5), torch.zeros(2, 5))
sizes(torch.zeros(2, 5), torch.zeros(2, 5))
by_torch(torch.zeros(2, 5), torch.zeros(2, 5))
only_one(torch.zeros(2, 5), torch.zeros(1, 5))
only_one(torch.zeros(2, 5), torch.zeros(2, 5))
measured(torch.zeros(2, 3, 5), torch.zeros(5, 7))
narrowed(torch.zeros(2, 3))
same_shape(torch.zeros(2, 3), torch.zeros(2, 3))
layers(torch.zeros(2, 11), torch.zeros(2, 11, 13), 11, 11)
divisions(torch.zeros(2, 7, 15), 15, 3)
Stack(7, 7)(torch.zeros(2, 3))
containers(torch.zeros(2, 7), 7, 7)
users(torch.zeros(2, 7), torch.zeros(7, 7), torch.zeros(7))
transforms(torch.zeros(7, 7), torch.zeros(7, 7), 7, 7)
wrappers(torch.zeros(2, 7), 7, 7)
attributes(torch.zeros(2, 7), 7, 7)
assignments(torch.zeros(7), torch.zeros(7), 7, 7)
training(torch.zeros(11, 7), torch.zeros(11, dtype=torch.int64), 7)
