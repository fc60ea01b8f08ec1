"""What packages by others are right to write, and the follower has taken for a mistake."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

START = """
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import nn
from elsewhere import load
"""

RIGHT = {
    "a comparison of what isn't known may be a tensor": """
mask = load() >= load()
mask &= torch.tensor(True)
mask[..., -1] = False
other = load() != load()
other &= torch.tensor(True)
other[:, 0] = False
""",
    "a list of the program's that a try has made longer": """
kinds = [torch.float32]
x = torch.zeros(2, 3)
try:
    kinds.append(torch.float64)
    x.unsqueeze_(0)
    load()
    import nowhere
except ImportError:
    kinds.append(torch.int8)
for kind in kinds:
    torch.zeros(2, 3, dtype=kind)
x.reshape(3, 2)
""",
    "settings that are read have other values than by default": """
from dataclasses import dataclass

@dataclass
class Settings:
    words: int = 0
    wide: int = 5

class Plain:
    words = 0
    def __init__(self, **settings):
        self.__dict__.update(settings)

for settings in (Settings(**torch.load("model.pt")["settings"]), Plain(**load())):
    nn.Embedding(settings.words, 7)(torch.tensor([3, 11]))
""",
    "the part that two pictures share, of which one is known": """
import random
pictures = [torch.randn(3, 4 + i, 4 + i) for i in range(3)]
for one in pictures:
    other = pictures[random.randint(0, 2)]
    height = min(one.shape[1], other.shape[1])
    top, other_top = (one.shape[1] - height) // 2, (other.shape[1] - height) // 2
    one[:, top : top + height, :height] + other[:, other_top : other_top + height, :height]
""",
    "what may be left out may be given": """
class Merge(nn.Module):
    def __init__(self, wide: int):
        super().__init__()
        self.first = nn.Linear(wide, wide)
        self.merged = nn.Linear(wide + wide, wide)

    def forward(self, x: torch.Tensor, skip=None):
        x = self.first(x)
        if skip is not None:
            x = torch.cat([x, skip], dim=-1)
        return self.merged(x)
""",
    "a library's object of arguments that aren't known": """
from functools import partial
from pathlib import Path
given = load()
for make in (partial(nn.Linear, 3, **given), partial(*given)):
    make(5)(torch.zeros(2, 3)) @ torch.zeros(7, 11)
size = 3 if str(Path(*given)) is None else 5
torch.zeros(2, size) @ torch.zeros(5, 7)
""",
    "who says float takes an int as well": """
class Wide(nn.Module):
    def __init__(self, dim: int, ratio: float):
        super().__init__()
        self.wide = nn.Linear(dim, dim * ratio)
        self.narrow = nn.Linear(dim * ratio, dim)

    def forward(self, x):
        return self.narrow(self.wide(x))
""",
    "a caller gives the size that a number asks for": """
class Scaled(nn.Module):
    def forward(self, x: Float[torch.Tensor, "b n"]):
        x = x.unsqueeze(1)
        return x * torch.tensor([2.0, 3.0, 5.0])
""",
    "an assert speaks of the last dim of several": """
def products(x: Float[torch.Tensor, "*b n"], factor: Float[torch.Tensor, "m"]):
    assert x.shape[-1] == factor.shape[0]
    return x[..., None, :] * factor.exp()
""",
    "unknown code calls the function that it is given": """
def collect(model, chunks):
    found = []
    for chunk in range(0, len(chunks), 5):
        store = []
        calls = 0

        def keep(x, also=None):
            nonlocal calls
            calls += 1
            store.append(x)

        with model.hooks(keep):
            load(chunk)
        if len(store) != 1 or calls != 1:
            raise RuntimeError
        found.append(store[0])
    return torch.cat(found)

collect(load(), load())
""",
    "a body that raises in each round is no loop without rounds": """
class Extractor:
    def forward(self, sample):
        found = []
        for start in range(0, sample.size(1), 16):
            if start >= 0:
                raise ValueError(start)
            found.append(sample[:, start : start + 16])
        return torch.cat(found, 1)

Extractor().forward(load())
""",
    "a named tuple in keywords": """
from collections import namedtuple

Pair = namedtuple(typename="Pair", field_names=["first", "second"])
torch.zeros(Pair(3, 5).first, 7) @ torch.zeros(7, 3)
""",
    "torch's own assert ends the program": """
def folded(x, size):
    torch._assert(x.shape[0] == size * size, "not square")
    return x.view(size, size)

folded(torch.zeros(35), 5)
""",
    "a variable with the name at": """
at = 3
for _ in load():
    at = at + 2
torch.zeros(at, 5) @ torch.zeros(5, 7)
torch.zeros(5, 7)[:, at - 3]
if load():
    at = torch.zeros(2)
""",
    "an attribute with the name items": """
class Shelf:
    def __init__(self):
        self.items = {}

shelf = Shelf()
for _ in load():
    shelf.items = {"a": load()}
""",
    "as many as a caller gives": """
class Grid(nn.Module):
    def forward(self, *sizes):
        return torch.stack([torch.arange(n) for n in sizes])
""",
    "a list of layers of which nobody knows how many": """
class Stack(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([nn.Linear(dim, dim), nn.Linear(dim, dim)]))

    def forward(self, x):
        seen = []
        for first, second in self.layers:
            x = second(first(x)) + x
            seen.append(x)
        return torch.stack(seen[:-1])
""",
    "objects that hold themselves, made on two ways": """
class Node:
    def __init__(self, size):
        self.size, self.inner = size, {"self": self}
        self.me = self

node = Node(3) if load() else Node(3)
torch.zeros(node.me.size) + torch.zeros(3)
""",
    "a buffer that is registered on one way": """
class Labels(nn.Module):
    def __init__(self):
        super().__init__()
        if load():
            self.register_buffer("first", torch.zeros(3))
        self.register_buffer("second", torch.zeros(5))

    def forward(self, x):
        return x + self.second

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Labels().to(device)(torch.zeros(5, device=device))
""",
    "what numpy.where gives of an array of which little is known": """
import numpy as np

def kept(boxes, scores):
    x, order = boxes[:, 0].copy(), np.argsort(scores)
    pick, count = np.zeros_like(scores, dtype=np.int16), 0
    while order.size > 0:
        i = order[-1]
        pick[count] = i
        count += 1
        rest = order[:-1]
        order = order[np.where(np.maximum(x[i], x[rest]) / 3 <= 0.5)]
    return pick[:count].copy()

kept(np.asarray(load()), np.asarray(load()).reshape(-1))
""",
}


def followed(source: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(START + source)
    return follow(path)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_nothing_is_said_of_what_is_right(source, tmp_path):
    found = followed(source, tmp_path)
    assert not found.errors
    assert not found.warnings
    assert not found.faults
    assert found.complete


def test_an_entry_that_takes_too_many_steps_leaves_the_next_one_its_own(tmp_path):
    source = """
def table():
    global size
    for _ in range(2):
        size = 5
        found = [[i * j for i in range(1009)] for j in range(1009)]
    return found

size = 3

def wrong():
    return torch.zeros(2, size) @ torch.zeros(5, 7)
"""
    found = followed(source, tmp_path)
    assert [e.line for e in found.errors] == [START.count("\n") + 12]


def test_each_layer_of_a_list_of_unknown_length_is_known(tmp_path):
    source = """
class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.Linear(7, 5))

    def forward(self, x):
        x = torch.zeros(3, 11)
        for layer in self.layers:
            x = layer(x)
        return x
"""
    found = followed(source, tmp_path)
    assert [e.line for e in found.errors] == [START.count("\n") + 12]


def test_a_package_may_name_a_module_as_a_library(tmp_path):
    package = tmp_path / "spikes"
    (package / "torch").mkdir(parents=True)
    for name in ("__init__.py", "torch/__init__.py"):
        (package / name).write_text("")
    path = package / "program.py"
    path.write_text("import torch\nimport spikes.torch\n\nx = torch.zeros(2, 3) @ torch.zeros(5, 7)\n")
    assert [e.line for e in follow(path).errors] == [4]


def test_an_annotation_that_cannot_be_evaluated_says_nothing(tmp_path):
    (tmp_path / "kinds.py").write_text("")
    source = """
import kinds

class State:
    def __init__(self, trace: "kinds.Trace"):
        self.trace = trace

def wrong():
    return torch.zeros(2, 3) @ torch.zeros(5, 7)
"""
    found = followed(source, tmp_path)
    assert [e.line for e in found.errors] == [START.count("\n") + 9]
    assert not found.faults


def test_a_decorator_writes_a_function_into_its_module_and_a_table(tmp_path):
    (tmp_path / "registry.py").write_text("""
import sys

TABLE = {}

def register(function):
    module = sys.modules[function.__module__]
    if hasattr(module, "__all__"):
        module.__all__.append(function.__name__)
    else:
        module.__all__ = [function.__name__]
    if function.__name__ in module.WIDTHS:
        TABLE[function.__name__] = function, module.WIDTHS[function.__name__]
    return function
""")
    (tmp_path / "models.py").write_text("""
from registry import register
from torch import nn

WIDTHS = {"small": 3, "large": 5}

@register
def small(width):
    return nn.Linear(width, 7)

@register
def large(width):
    return nn.Linear(width, 11)
""")
    source = """
import sys
from models import *
from registry import TABLE
make, width = TABLE["large"]
y = small(3)(torch.zeros(2, 3)) @ torch.zeros(7, 13)
z = make(width)(torch.zeros(2, 3))
assert "models" in sys.modules
sys.modules["models"] = None
w = sys.modules["models"]
v = sys.modules["nowhere"].anything(torch.zeros(2, 3))
"""
    (error,) = followed(source, tmp_path).errors
    assert error.line == 13
