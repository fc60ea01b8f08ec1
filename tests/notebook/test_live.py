"""Cells are followed from what is alive, which is only looked at."""

from __future__ import annotations

import functools
import importlib
import random
import sys
import textwrap
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, auto
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

import simpletorch as st
from simpletorch.notebook._following import follow_cell
from simpletorch.rules import Device

NAME = "Cell In[7]"


def follow(source: str, **variables):
    """What following a cell shows, with these variables alive."""
    variables = {"__name__": "__main__", "torch": torch, "nn": nn, **variables}
    seen = follow_cell(textwrap.dedent(source), variables, NAME)
    assert seen is not None
    assert seen.followed.faults == ()
    return seen


def shapes(source: str, **variables) -> dict[str, str]:
    """The last shape of each name that a cell gives a tensor."""
    found = {}
    for (path, _), given in follow(source, **variables).followed.claims.items():
        if path == NAME:
            found.update({name: str(values[-1]) for name, values in given.items()})
    return found


def errors(source: str, **variables) -> list[str]:
    """The messages of the errors."""
    return [f"{e.path}:{e.line}: {e.message}" for e in follow(source, **variables).followed.errors]


# -- what is known --------------------------------------------------------------------------------------------------


def test_tensors():
    given = {"x": torch.zeros(5, 7, dtype=torch.float64), "i": torch.zeros(7, dtype=torch.int32), "a": np.zeros((3, 5))}
    assert shapes("y = x + i\nz = torch.from_numpy(a)", **given) == {"y": "Float64[5, 7]", "z": "Float64[3, 5]"}


def test_strides():
    assert errors("x.view(35)", x=torch.zeros(5, 7).T) != []
    assert errors("x.view(35)", x=torch.zeros(5, 7)) == []


def test_what_requires_a_gradient():
    weight = torch.zeros(5, requires_grad=True)
    assert errors("(x * 3).sum().backward()", x=weight) == []
    assert "has no graph" in errors("(x * 3).sum().backward()", x=weight.detach())[0]


def test_gradients_that_are_there():
    weight = torch.zeros(5, requires_grad=True)
    weight.sum().backward()
    assert errors("weight.grad.zero_()", weight=weight) == []
    assert "grad is None" in errors("w.grad.zero_()", w=torch.zeros(5, requires_grad=True))[0]


def test_modules_are_what_they_are_now():
    model = nn.Sequential(nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 3))
    x = torch.zeros(5, 7)
    assert shapes("y = model(x)", model=model, x=x) == {"y": "Float32[5, 3]"}
    model[2] = nn.Linear(13, 17)
    assert errors("y = model(x)", model=model, x=x) == [
        f"{NAME}:1: Linear(13, 17): the last dim of input is 11, but the layer takes 13 features"
        " [input: Float32[5, 11]]"
    ]


class Net(nn.Module):
    """A module of a file, with attributes of all kinds."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList([nn.Linear(dim, dim) for _ in range(3)])
        self.register_buffer("mask", torch.ones(dim))
        self.scale = nn.Parameter(torch.ones(dim))

    @property
    def half(self) -> int:
        return self.dim // 2

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) * self.mask + self.scale
        return x.unflatten(-1, (2, self.half))


def test_classes_of_files():
    assert shapes("y = net(torch.zeros(5, 6))", net=Net(6)) == {"y": "Float32[5, 2, 3]"}
    (found,) = follow("y = net(torch.zeros(5, 7))", net=Net(6)).followed.errors
    assert found.path == __file__
    assert [call.path for call in found.trace] == [NAME]


def test_methods_that_were_put_on_a_class_or_an_object(monkeypatch):
    net = Net(6)
    monkeypatch.setattr(Net, "forward", lambda self, x: self.layers[0](x))
    assert shapes("y = net(torch.zeros(5, 6))", net=net) == {"y": "Float32[5, 6]"}


def test_patches_hold_while_they_last():
    cell = """\
        with mock.patch.object(nn.Linear, "forward", lambda self, x: x.sum(1)):
            y = layer(torch.zeros(2, 11))
        layer(torch.zeros(2, 11))"""
    (found,) = errors(cell, layer=nn.Linear(7, 3), mock=mock)
    assert found.startswith(f"{NAME}:3: ")


def test_hooks_hide_what_a_module_gives():
    layer = nn.Linear(7, 3)
    layer.register_forward_hook(lambda module, args, out: out.sum(-1))
    assert errors("torch.zeros(5) + layer(torch.zeros(5, 7))", layer=layer) == []


def test_a_weight_of_another_size():
    layer = nn.Linear(7, 3)
    layer.weight = nn.Parameter(torch.zeros(3, 11))
    assert errors("layer(torch.zeros(5, 11))", layer=layer) == []


def test_modules_of_another_dtype():
    assert errors("model(x)", model=nn.Linear(7, 3).double(), x=torch.zeros(5, 7, dtype=torch.float64)) == []


@dataclass
class Config:
    dim: int = 6
    sizes: list[int] = field(default_factory=lambda: [3, 5])


def test_configurations():
    given = {"c": Config(7), "Config": Config, "d": {"n": 11}, "s": (13, "x")}
    assert shapes("x = torch.zeros(c.dim, *c.sizes, d['n'], s[0])\ny = torch.zeros(Config().dim)", **given) == {
        "x": "Float32[7, 3, 5, 11, 13]",
        "y": "Float32[6]",
    }


def test_loaders_and_datasets():
    data = TensorDataset(torch.zeros(101, 7), torch.zeros(101, dtype=torch.int64))
    loaders = {"a": DataLoader(data, 8), "b": DataLoader(Subset(data, range(50)), 5), "c": st.data.DataLoader(data, 11)}
    source = "for x, _ in a: pass\nfor y, _ in b: pass\nfor z, _ in c: pass"
    assert {k: v for k, v in shapes(source, **loaders).items() if k in "xyz"} == {
        "x": "Float32[8, 7]",
        "y": "Float32[5, 7]",
        "z": "Float32[11, 7]",
    }


class Squares(Dataset):
    """A dataset of a file."""

    def __init__(self, n: int) -> None:
        self.n, self.asked = n, 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index):
        self.asked += 1
        return torch.zeros(3, 5), index


def test_a_dataset_is_followed_and_not_asked():
    data = Squares(50)
    found = shapes("for x, i in loader: pass", loader=DataLoader(data, 8))
    assert (found, data.asked) == ({"x": "Float32[8, 3, 5]", "i": "Int64[8]"}, 0)


def double(x, times=2):
    return torch.cat([x] * times)


def outer(n):
    def inner(x):
        return x.expand(n, -1)

    return inner


@torch.no_grad()
def evaluate(x):
    return x * 2


def test_functions():
    x = torch.zeros(5, 7, requires_grad=True)
    given = {"x": x, "f": double, "g": functools.partial(double, times=3), "h": outer(11), "e": evaluate}
    assert shapes("a = f(x)\nb = g(x)\nc = h(x[0])", **given) == {
        "a": "Float32[10, 7]",
        "b": "Float32[15, 7]",
        "c": "Float32[11, 7]",
    }
    assert "has no graph" in errors("e(x).sum().backward()", **given)[0]


def test_functions_of_torch_under_any_name():
    given = {"relu": torch.nn.functional.relu, "mm": torch.matmul, "x": torch.zeros(5, 7)}
    assert shapes("y = mm(relu(x), x.T)", **given) == {"y": "Float32[5, 5]"}


def test_modules_that_are_imported():
    here = sys.modules[__name__]

    assert shapes("y = here.double(x)", here=here, x=torch.zeros(5, 7)) == {"y": "Float32[10, 7]"}


# -- named tuples and enumerations ------------------------------------------------------------------------------------


class Sizes(NamedTuple):
    width: int
    depth: int = 3

    @property
    def both(self):
        return self.width * self.depth


class Wide(Sizes):
    def twice(self):
        return self._replace(width=2 * self.width)


Batch = namedtuple("Batch", "images labels")


class Kind(Enum):
    FIRST = 5
    SECOND = "second"
    ONE = 5  # noqa: PIE796  # another name for the first

    def size(self):
        return 7 if self is Kind.FIRST else 11


class Level(IntEnum):
    LOW = 3
    HIGH = auto()


class Mode(str, Enum):  # noqa: UP042  # as people write it
    SUM = "sum"


class Part(Flag):
    A = auto()
    B = auto()


class Planet(Enum):
    EARTH = (3, 5)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius


def test_named_tuples():
    batch = Batch(torch.zeros(5, 7), torch.zeros(5))
    given = {"s": Sizes(7), "w": Wide(2, 5), "batch": batch, "Sizes": Sizes, "Batch": Batch}
    found = shapes(
        """
        a = torch.zeros(s.width, s.both, s[1], len(s))
        width, depth = s
        b = torch.zeros(width, depth)
        c = torch.zeros(w.twice().width, w.both)
        images, labels = batch
        d, e = images.T, batch.labels[None]
        f = torch.zeros(Sizes(13)), Batch(images, labels)
        g = Batch(images, labels).images
        """,
        **given,
    )
    assert {k: v for k, v in found.items() if k in "abcdeg"} == {
        "a": "Float32[7, 21, 3, 2]", "b": "Float32[7, 3]", "c": "Float32[4, 10]", "d": "Float32[7, 5]",
        "e": "Float32[1, 5]", "g": "Float32[5, 7]",
    }  # fmt: skip


def test_a_named_tuple_of_a_loader():
    rows = [Batch(torch.zeros(7), torch.zeros(())) for _ in range(5)]
    assert errors(
        "for batch in DataLoader(rows, 5):\n    batch.images @ torch.zeros(3)", rows=rows, DataLoader=DataLoader
    )


def test_enumerations():
    given = {"Kind": Kind, "kind": Kind.FIRST, "Level": Level, "Mode": Mode, "mode": Mode.SUM, "Part": Part,
             "parts": Part.A | Part.B, "planet": Planet.EARTH}  # fmt: skip
    found = shapes(
        """
        a = torch.zeros(kind.value, kind.size(), len(kind.name), len(list(Kind)))
        b = torch.zeros(3 if kind is Kind.FIRST else 2, 3 if kind is Kind.ONE else 2, 3 if kind == Kind.SECOND else 2)
        c = torch.zeros(Kind(5).size(), Kind["SECOND"].size())
        d = torch.zeros(Level.LOW + 2, 13 if Level.HIGH > Level.LOW else 17)
        e = torch.zeros(5 if mode == "sum" else 7, 5 if mode is Mode.SUM else 7)
        f = torch.zeros(planet.mass, planet.radius)
        g = torch.zeros(3 if parts == Part.A else 5)
        """,
        **given,
    )
    assert found.pop("g") in ("Float32[3]", "Float32[5]")  # several flags aren't known: it is one of the two
    assert found == {
        "a": "Float32[5, 7, 5, 2]", "b": "Float32[3, 3, 2]", "c": "Float32[7, 11]", "d": "Float32[5, 13]",
        "e": "Float32[5, 5]", "f": "Float32[3, 5]",
    }  # fmt: skip


# -- devices ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_cuda(monkeypatch):
    """What stands for a machine that uses CUDA: the tensors and modules that it is given are there."""
    there = set()

    def device(tensor):
        return Device("cuda", 0) if id(tensor) in there else Device(tensor.device.type, tensor.device.index)

    def put(*values):
        for value in values:
            there.update(
                map(id, value.state_dict(keep_vars=True).values() if isinstance(value, nn.Module) else [value])
            )

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr("simpletorch.notebook.live.tensors._device", device)
    return put


LAYER = "Linear(7, 3): the layer is on cuda, but Float32[5, 7] is on the CPU"


def test_a_model_on_cuda_and_a_batch_on_the_cpu(on_cuda):
    net, x = nn.Sequential(nn.Linear(7, 3)), torch.zeros(5, 7)
    on_cuda(net)
    seen = follow("y = net(x)", net=net, x=x)
    (found,) = seen.followed.errors
    assert (found.code, found.message) == ("tensor-device", LAYER)
    assert found.hint == "call .to(device) on the CPU tensor, or create it with device="
    assert seen.stops is found


def test_a_batch_of_a_loader_is_on_the_cpu(on_cuda):
    net, loader = nn.Linear(7, 3), DataLoader(TensorDataset(torch.zeros(11, 7)), 5)
    on_cuda(net)
    assert errors("for (x,) in loader:\n    net(x)", net=net, loader=loader) == [f"{NAME}:2: {LAYER}"]
    assert errors("for (x,) in loader:\n    net(x.cuda())", net=net, loader=loader) == []


def test_a_model_on_the_cpu_and_a_batch_on_cuda(on_cuda):
    net, x = nn.Linear(7, 3), torch.zeros(5, 7)
    on_cuda(x)
    (found,) = errors("net(x)", net=net, x=x)
    assert "Linear(7, 3): the layer is on the CPU, but Float32[5, 7] is on cuda" in found


@pytest.mark.parametrize(
    "cell",
    [
        "net(there)",
        "net(x.cuda())",
        "net(x.to('cuda'))",
        "net(x.to(0))",
        "net(x.to(there.device))",
        "net(x.to(there))",
        "net(x.type_as(there))",
        "net(torch.zeros_like(there))",
        "net(there.new_zeros(5, 7))",
        "net(torch.zeros(5, 7, device=there.device))",
        "net(torch.zeros(5, 7, device=next(net.parameters()).device))",
        "net.cpu()\nnet(x)",
        "net.to('cpu')\nnet(x)",
        "net.to(x.device)\nnet(x)",
        "net(there).cpu() + torch.zeros(5, 3)",
        "net(there).cpu() + torch.zeros(5, 3, device='cpu')",
        "net(there).detach().cpu().numpy()",
        "there.cpu() + x",
        "(there.cpu() * 2) + x * 3",
        "x.cuda() + there",
        "net.cpu()\nnet.weight.sum(0) + x",
        "other = nn.Linear(7, 3).cuda()\nother(there)",
        "other = nn.Linear(7, 3).to(there.device)\nother(there)",
        "other = nn.Linear(7, 3, device='cuda')\nother(there)",
        "nn.Linear(7, 3)(x)",
        "there + 3\nthere + torch.tensor(3.0)\nthere * torch.zeros(())",
        "there[torch.tensor([0, 1])]\nx[0]",
        "if x.sum() > 3:\n    net.cpu()\nnet(x)",
        "if x.sum() > 3:\n    x = x.cuda()\nnet(x)",
        "if torch.cuda.is_available():\n    x = x.cuda()\nnet(x)",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nnet(x.to(device))",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nnn.Linear(7, 3).to(device)(x.to(device))",
        "with torch.device('cuda'):\n    x = torch.zeros(5, 7)\nnet(x)",
        "torch.set_default_device('cuda')\nnet(torch.zeros(5, 7))",
        "try:\n    net(x)\nexcept RuntimeError:\n    pass",
        "nn.functional.cross_entropy(net(there), torch.zeros(5, dtype=torch.long).cuda())",
    ],
)
def test_what_is_moved_is_left_alone(on_cuda, cell):
    net, x, there = nn.Linear(7, 3), torch.zeros(5, 7), torch.ones(5, 7)
    on_cuda(net, there)
    assert errors(cell, net=net, x=x, there=there) == []


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("net(there) + torch.zeros(5, 3)", "+: Float32[5, 3] is on the CPU, but Float32[5, 3] is on cuda"),
        ("nn.Linear(7, 3)(there)", "Linear(7, 3): the layer is on the CPU, but Float32[5, 7] is on cuda"),
        ("there.numpy()", "numpy: Float32[5, 7] is on cuda"),
        ("net.cpu()\nnet(there)", "Linear(7, 3): the layer is on the CPU, but Float32[5, 7] is on cuda"),
        ("x.cuda()\nnet(x)", LAYER),
    ],
)
def test_what_is_left_behind_is_found(on_cuda, cell, told):
    net, x, there = nn.Linear(7, 3), torch.zeros(5, 7), torch.ones(5, 7)
    on_cuda(net, there)
    (found,) = errors(cell, net=net, x=x, there=there)
    assert told in found


def test_a_function_that_makes_tensors_elsewhere(on_cuda):
    net = nn.Linear(7, 3)
    on_cuda(net)

    def made():
        with torch.device("cuda"):
            return torch.zeros(5, 7)

    assert errors("net(made())", net=net, made=made) == []


def test_a_default_device_of_an_earlier_cell(on_cuda, monkeypatch):
    net = nn.Linear(7, 3)
    on_cuda(net)
    monkeypatch.setattr(torch, "get_default_device", lambda: torch.device("cuda"))
    assert errors("net(torch.zeros(5, 7))", net=net) == []


def test_a_layer_with_a_forward_of_its_own_moves_what_it_is_given(on_cuda):
    """As accelerate puts one into each module."""
    net = nn.Linear(7, 3)
    on_cuda(net)
    net.forward = functools.partial(nn.Linear.forward, net)
    assert errors("net(torch.zeros(5, 7))", net=net) == []


# -- what isn't known -----------------------------------------------------------------------------------------------


class Strange(torch.Tensor):
    """A tensor that may do anything."""


def test_what_cannot_be_read_is_unknown():
    given = {
        "a": torch.zeros(5, 7).as_subclass(Strange),
        "b": torch.zeros(5, 7).to_sparse(),
        "c": iter([torch.zeros(5)]),
        "d": torch.jit.script(nn.Linear(7, 3)),
    }
    assert errors("a @ a\nb @ b\nnext(c) @ a\nd(torch.zeros(5, 11))", **given) == []


def test_a_cycle_of_lists_and_objects():
    rows: list = [torch.zeros(5)]
    rows.append(rows)
    layer = nn.Linear(5, 3)
    object.__setattr__(layer, "me", layer)
    assert shapes("x = rows[1][1][0]\ny = layer.me(x)", rows=rows, layer=layer) == {
        "x": "Float32[5]",
        "y": "Float32[3]",
    }


def test_a_comment_silences_as_in_files():
    assert errors("torch.zeros(3) + torch.zeros(5)  # type: ignore[tensor-shape]") == []


# -- what is certain ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "a @ b",
        "def f():\n    return a @ b\nf()",
        "for _ in range(3):\n    a @ b",
        "for x, _ in loader:\n    a @ b",
        "with torch.no_grad():\n    a @ b",
        "if n > 3:\n    a @ b",
        "[a @ b for _ in range(2)]",
    ],
)
def test_what_surely_fails(source):
    assert follow(source, **ALIVE).stops is not None


@pytest.mark.parametrize(
    "source",
    [
        "if input():\n    a @ b",
        "while input():\n    a @ b",
        "for _ in input():\n    a @ b",
        "def f():\n    return a @ b",
        "x = input() and a @ b",
        "[a @ b for _ in input()]",
        "class M(nn.Module):\n    def forward(self, x):\n        return a @ b",
        "%run other.py\na @ b",
        "try:\n    a @ b\nexcept RuntimeError:\n    pass",
    ],
)
def test_what_may_not_be_reached_stops_nothing(source):
    assert follow(source, **ALIVE).stops is None


ALIVE = {
    "a": torch.zeros(3, 5),
    "b": torch.zeros(7, 11),
    "n": 5,
    "loader": DataLoader(TensorDataset(torch.zeros(101, 7), torch.zeros(101)), 8),
}


# -- nothing is changed ---------------------------------------------------------------------------------------------


class Watching:
    """An object that counts who asks it for anything."""

    asked = 0

    @property
    def size(self) -> int:
        Watching.asked += 1
        return 5

    def __getattr__(self, name: str) -> int:
        Watching.asked += 1
        return 5

    def __len__(self) -> int:
        Watching.asked += 1
        return 5

    def __eq__(self, other: object) -> bool:
        Watching.asked += 1
        return True

    def __bool__(self) -> bool:
        Watching.asked += 1
        return True

    __hash__ = None


def test_nothing_that_is_alive_is_asked_or_changed():
    def steps():
        yield from (torch.zeros(5), torch.zeros(7))

    generator, iterator, rows = steps(), iter([3, 5]), [3]
    watching, model = Watching(), nn.Linear(5, 3)
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tobytes()
    variables = {"g": generator, "i": iterator, "rows": rows, "w": watching, "model": model}
    follow(
        """
        x = next(g), next(i), torch.rand(5), w.size, w.other, len(w), w == 3, bool(w)
        rows.append(w.size)
        model.weight.data.zero_()
        model.bias = None
        model.new = 5
        del model.weight
        y = [t for t in g]
        if w:
            z = w[3]
        """,
        **variables,
    )
    after = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tobytes()
    assert torch.equal(before[0], after[0])
    assert before[1:] == after[1:]
    assert [t.shape for t in generator] == [(5,), (7,)]
    assert (list(iterator), rows, Watching.asked) == ([3, 5], [3], 0)
    assert model.bias is not None
    assert "new" not in vars(model)
    assert model.weight.shape == (3, 5)
    assert variables.keys() == {"g", "i", "rows", "w", "model"}


# -- modules that are read again -------------------------------------------------------------------------------------


def test_a_reloaded_module_is_what_its_file_says_now(tmp_path, monkeypatch):
    file = tmp_path / "edited_since.py"
    file.write_text("import torch\nW = torch.zeros(3, 4)\ndef f(x): return x @ W\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "edited_since", raising=False)
    module = importlib.import_module("edited_since")
    file.write_text("import torch\nW = torch.zeros(5, 4)\ndef f(x): return x @ W\ndef g(x): return x\n")
    again = "import importlib\nimportlib.reload(edited_since)\n"
    assert len(errors("edited_since.f(torch.zeros(2, 5))", edited_since=module)) == 1  # it isn't, yet
    assert errors(again + "edited_since.f(torch.zeros(2, 5))", edited_since=module) == []
    assert errors(again + "edited_since.g(torch.zeros(2, 5))", edited_since=module) == []
    assert errors(again + "from edited_since import g", edited_since=module) == []
    gone = "import sys\ndel sys.modules['edited_since']\nimport edited_since\n"
    assert errors(gone + "edited_since.f(torch.zeros(2, 5))", edited_since=module) == []
    sys.modules.pop("edited_since")


# -- modules of which nothing is known ---------------------------------------------------------------------------------


class Sub(st.nn.MLP):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda: st.nn.MLP(8, [7], 3),
        lambda: Sub(8, [7], 3),
        lambda: st.nn.TransformerBlock(8, 2),
        lambda: st.nn.SelfAttention(8, 2),
        lambda: st.nn.Residual(nn.Linear(8, 8)),
        lambda: st.vision.models.resnet18(),
        lambda: st.transforms.Normalize(0.5, 0.5),
    ],
)
def test_what_is_not_known_of_a_module_is_not_absent(make):
    assert errors("y = net(x)", net=make(), x=torch.zeros(4, 3, 8)) == []


def test_layers_of_ours_are_torchs():
    assert errors("y = net(x)", net=st.nn.Linear(7, 3), x=torch.zeros(4, 8)) == [
        f"{NAME}:1: Linear(7, 3): the last dim of input is 8, but the layer takes 7 features [input: Float32[4, 8]]"
    ]
