"""What nobody in a program calls is followed too, with symbols for what a caller would give."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

START = """from dataclasses import dataclass
import torch
from torch import Tensor, nn
from jaxtyping import Float
"""


def messages(source: str, folder: Path) -> list[tuple[int, str]]:
    """The line, counted after the common start, and the operation of each error."""
    path = folder / "model.py"
    path.write_text(START + source)
    found = follow(path)
    assert not found.faults
    return [(e.line - START.count("\n"), e.message.partition(":")[0]) for e in found.errors]


WRONG = {
    "defaults of a configuration decide": (
        """
@dataclass
class Config:
    width: int = 48

class MLP(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.up = nn.Linear(config.width, config.width)
        self.down = nn.Linear(4 * config.width, config.width)

    def forward(self, x: Float[Tensor, "b t c"]):
        return self.down(self.up(x))
""",
        [(13, "Linear(192, 48)")],
    ),
    "two tensors of a caller have sizes of their own": (
        """
class Attention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.qkv, self.heads, self.size = nn.Linear(dim, dim * 3), heads, dim // heads

    def forward(self, x: Float[Tensor, "b t d"]):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, self.size) for y in self.qkv(x).chunk(3, dim=-1))
        return q.transpose(1, 2) @ k.transpose(-1, -2)
""",
        [(10, "@")],
    ),
    "what is returned is what the annotation promises": (
        """
def similarity(q: Float[Tensor, "b n d"], k: Float[Tensor, "b m d"]) -> Float[Tensor, "b n m"]:
    return (q @ k.transpose(-1, -2)).transpose(1, 2)
""",
        [(3, "similarity returns Tensor[b, m, n], but its annotation says Tensor[b, n, m]")],
    ),
    "our own annotations, in quotes": (
        """
import simpletorch as st

def scores(q: st.Tensor[st.Float32, "*Lead", "T", 8], k: st.Tensor[st.Float32, "*Lead", "S", Literal[7]]):
    return q @ k.transpose(-1, -2)

def back(x: st.Tensor[st.Float32, Literal["2*N"]]) -> st.Tensor[st.Float32, "2*N + 1"]:
    return x.flip(-1)
""",
        [(5, "@"), (8, "back returns Float32[2*N], but its annotation says Float32[2*N + 1]")],
    ),
    "objects that hold annotated tensors": (
        """
class Moments:
    def __init__(self, mean: Float[Tensor, "t b m"], scale: Float[Tensor, "t b m"]):
        self.mean, self.scale = mean, scale

    def matrix(self):
        rows = torch.stack([self.scale, self.mean, self.mean, self.scale], -1)
        return rows.view(*self.scale.shape, 4, 2)
""",
        [(8, "view")],
    ),
    "more pieces than names": (
        """
def split(x: Float[Tensor, "b n 30"]):
    q, k, v = map(lambda t: t.transpose(1, 2), x.chunk(4, dim=-1))
""",
        [(3, "these are 4 tensors, but 3 are unpacked")],
    ),
    "a promise is kept whatever a flag says": (
        """
def heads_of(x: Float[Tensor, "nodes d"], heads: int, size: int, concat: bool) -> Float[Tensor, "nodes _"]:
    y = x.view(x.shape[0], heads, size).permute(1, 0, 2)
    if concat:
        y = y.permute(1, 0, 2).flatten(1)
    return y
""",
        [(6, "heads_of returns Tensor[heads, nodes, size], but its annotation says Tensor[nodes, ?]")],
    ),
    "any number of layers is like one of them": (
        """
class Deep(nn.Module):
    def __init__(self, dim: int, depth: int):
        super().__init__()
        pairs = [nn.ModuleList([nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)]) for _ in range(depth)]
        self.layers = nn.ModuleList(pairs)

    def forward(self, x: Float[Tensor, "b n d"]):
        for up, down in self.layers:
            x = x + down(up(x))
        return x
""",
        [(10, "+")],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_for_every_caller(case, tmp_path):
    source, expected = WRONG[case]
    assert messages(source, tmp_path) == expected


RIGHT = {
    "a decorator of the constructor": """
import functools

def reviewed(cls):
    made = cls.__init__
    @functools.wraps(made)
    def wrapper(self, *args, **kwargs):
        made(self, *args, **kwargs)
    cls.__init__ = wrapper
    return cls

@reviewed
class Interpolate(nn.Module):
    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def forward(self, x: Tensor):
        return nn.functional.interpolate(x, size=self.size, scale_factor=self.scale_factor)
""",
    "a caller may choose the sizes so that they fit": """
class Both(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.a, self.b = nn.Linear(dim, hidden), nn.Linear(dim, hidden)

    def forward(self, x: Float[Tensor, "b d"]):
        return self.b(self.a(x))
""",
    "positions are as many as the sequence is long": """
class Encoder(nn.Module):
    def __init__(self, dim: int, length: int):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, length, dim))

    def forward(self, x: Float[Tensor, "b t d"]):
        return x + self.positions
""",
    "what another method sets isn't known": """
class Detector(nn.Module):
    anchors = torch.empty(0)

    def build(self, anchors):
        self.anchors = anchors

    def forward(self, x: Tensor):
        return x + self.anchors[0]
""",
    "heads divide the width": """
class Heads(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        b, t, d = x.shape
        y = x.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        return self.out(y.transpose(1, 2).reshape(b, t, d))
""",
    "what another method of a part sets isn't known": """
class Axes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("axes", torch.empty(0))

    def fit(self, x):
        self.axes = torch.linalg.svd(x)[2]

    def apart(self, x):
        return x @ self.axes.transpose(-2, -1)

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.axes = Axes()

    def forward(self, x: Tensor):
        return self.axes.apart(x)
""",
    "a constructor without arguments may need one of several": """
class Larger(nn.Upsample):
    def __init__(self, size: int | None = None, factor: float | None = None):
        super().__init__(size, factor)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)
""",
    "the same without annotations": """
class Interpolate(nn.Module):
    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def forward(self, x):
        return torch.nn.functional.interpolate(x, size=self.size, scale_factor=self.scale_factor)
""",
    "a size of 0 by default is none": """
@dataclass
class Config:
    experts: int = 0
    width: int = 13

class Router(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.empty(config.experts, config.width))

    def forward(self, x: Tensor):
        return (x @ self.weight.mT).view(-1, self.config.experts)
""",
    "a size of -1 by default is none": """
@dataclass
class Config:
    width: int = -1

class Norm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.norm = nn.BatchNorm1d(config.width)

    def forward(self, x: Tensor):
        return self.norm(x)
""",
    "an abstract method": """
class Base(nn.Module):
    def forward(self, x: Float[Tensor, "b d"]):
        raise NotImplementedError
""",
    "a caller may give both the same size": """
class Feedforward(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(dim, hidden))

    def forward(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        return self.net(x)

def rays(H: int, W: int) -> Float[Tensor, "h w 2"]:
    i, j = torch.meshgrid(torch.linspace(0, W - 1, W), torch.linspace(0, H - 1, H), indexing="ij")
    return torch.stack([i.t(), j], -1)
""",
    "a caller may give batches that fit": """
class Norm(nn.Module):
    def forward(self, x: Float[Tensor, "*bs d"]) -> Float[Tensor, "*bs d"]:
        return x * torch.rsqrt(torch.mean(x * x, dim=-1) + 1e-5)

def loss(x: Float[Tensor, "n 1 28 28"], mu: Float[Tensor, "n z"]) -> Tensor:
    return nn.functional.binary_cross_entropy(x.view(-1, 784), mu.view(-1, 784))
""",
    "which layers there are isn't known": """
class Net(nn.Module):
    def __init__(self, sizes: list[int]):
        super().__init__()
        blocks: list[nn.Module] = []
        for n in sizes:
            blocks.append(nn.Conv2d(n, n, 1) if n > 2 else nn.Flatten(2))
        self.blocks = nn.Sequential(*blocks)

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b _"]:
        return self.blocks(x).flatten(2)
""",
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_for_some_caller(case, tmp_path):
    assert messages(RIGHT[case], tmp_path) == []


def test_a_function_of_sizes_alone_is_followed(tmp_path):
    path = tmp_path / "rays.py"
    path.write_text(
        START
        + """
def rays(H: int, W: int) -> Float[Tensor, "h w 2"]:
    i, j = torch.meshgrid(torch.arange(W), torch.arange(H), indexing="ij")
    reveal_type(i)
    return torch.stack([i.t(), j.t()], -1)

def window(size: int, name: str):
    return torch.zeros(size) + torch.zeros(3, 5, 7)
"""
    )
    found = follow(path)
    assert [n.message for n in found.notes] == ['Revealed type is "Int64[W, H]"']
    assert not found.errors
