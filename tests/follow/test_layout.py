"""How tensors lie in memory: what is known of their strides, and what torch refuses for them."""

import random
import traceback
from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.marks import layout
from simpletorch.follow.values import Tensor
from simpletorch.rules import RULES
from simpletorch.shapes.strides import contiguous, element_wise
from tests.oracle import resolve

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def found(source: str, folder: Path) -> list[tuple[int, str]]:
    """The lines of the body with a mistake, and its code."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    result = follow(path)
    assert not result.faults
    return [(e.line - HEAD.count("\n"), e.code) for e in result.errors]


def run(source: str) -> None:
    """The program, in torch."""
    exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})


X = "x = torch.randn(2, 3, 5, 7)\n"
GRID = "a, b = torch.meshgrid(torch.linspace(0, 1, 7), torch.arange(5.0), indexing='xy')\n"
BAD = [
    X + "y = x.transpose(1, 2)\ny.view(2, 15, 7)\n",
    X + "y = x.permute(0, 2, 3, 1).relu()\ny.view(2, -1)\n",
    "x = nn.Linear(11, 12)(torch.randn(2, 5, 11)).view(2, 5, 3, 4).transpose(1, 2)\nx.view(2, 5, 12)\n",
    "a = torch.randn(2, 3, 5, 5).softmax(-1)\na = (a @ torch.randn(2, 5, 3, 7).transpose(1, 2)).transpose(1, 2)\n"
    "a.view(2, 5, 21)\n",
    X + "x[:, :, ::2].view(-1)\n",
    X + "x[..., :3].view(30, 3)\nx[:, 1:].view(-1)\n",
    X + "a, b = x.chunk(2, dim=-1)\na.view(2, -1)\n",
    X + "y = x.movedim(1, -1) + 1\ny.view(70, 3).shape\ny.flatten(1).view(2, 105).view(7, 30)\ny.view(210)\n",
    "x = torch.zeros(3, 1).expand(3, 5)\nx += 1\n",
    "x = torch.zeros(5).expand(3, 5)\nx[:, 2] = 7\n",
    "x = torch.zeros(5).expand(3, 5)\nx.copy_(torch.ones(3, 5))\n",
    "x = torch.zeros(3, 5).T\nx.mul_(2).view(15)\n",
    "for x in torch.randn(3, 5, 7).permute(0, 2, 1):\n    x.view(35)\n",
    X + "x.contiguous().transpose(0, 1).clone().view(3, 70)\n",
    GRID + "(a[None] - torch.randn(2, 1, 1)).permute(1, 2, 0).view(70)\n",
    GRID + "a += 1\n",
    "_, b = torch.meshgrid(torch.arange(3), torch.arange(5), indexing='ij')\nb.T.view(15)\nb.view(15)\n",
]
LAST = "x = torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last)\n"
BAD += [
    LAST + "x.view(2, 105)\n",
    LAST + "(x + 1).view(2, 105)\n",
    X + "x.contiguous(memory_format=torch.channels_last).view(2, 105)\n",
    X + "x.clone(memory_format=torch.channels_last).view(-1)\n",
    X + "from simpletorch import cuda\ncuda.channels_last(x).view(2, 105)\n",
]
GOOD = [
    LAST + "x.reshape(2, 105)\nx.view(2, 3, 5, 7)\nx.permute(0, 2, 3, 1).view(70, 3)\nx.contiguous().view(2, 105)\n",
    LAST + "(x + 1).permute(0, 2, 3, 1).view(-1)\nx.flatten(1)\nx.to(memory_format=torch.contiguous_format).view(-1)\n",
    "torch.randn(2, 1, 5, 7).to(memory_format=torch.channels_last).view(2, 35)\n"
    "torch.randn(2, 3, 1, 1).to(memory_format=torch.channels_last).view(2, 3)\n"
    "torch.randn(2, 3, 5, 1).to(memory_format=torch.channels_last).view(2, 3, 5)\n",
    GRID + "(a + b).view(35)\n(a + b)[None].permute(1, 2, 0).view(35)\ntorch.stack([a, b]).view(70)\n",
    "import numpy as np\na, b = np.meshgrid(np.arange(3), np.arange(5))\na += 1\ntorch.from_numpy(b).view(15)\n",
    X + "y = x.transpose(1, 2)\ny.reshape(2, 15, 7)\ny.contiguous().view(2, 15, 7)\n",
    X + "x.permute(0, 2, 3, 1).flatten(1).view(2, 105)\n",
    "x = torch.randn(2, 5, 1, 7).transpose(1, 2)\nx.view(2, 35)\n",
    X + "y = x.permute(1, 2, 3, 0)\ny.view(105, 2)\n",
    X + "x[:, 1].view(2, 35)\nx[1:].view(-1)\nx[..., None].view(-1)\n",
    X + "x.transpose(2, 3).transpose(2, 3).view(-1)\n",
    X + "y = torch.matmul(x.transpose(2, 3), x)\ny.view(-1)\n",
    "x = torch.zeros(3, 1).expand(3, 5).clone()\nx += 1\nx[0] = 2\n",
    "x = torch.zeros(3, 1).expand(3, 5)\nx = x + 1\nx.view(15)\nx += 1\n",
    "x = torch.zeros(3, 1).expand(3, 1)\nx += 1\n",
    "x = torch.zeros(3, 1).expand(3, 5)\nx[:, 0] = 1\n",
    "x = torch.zeros(3, 5).t()\nx.t_()\nx.view(15)\n",
    "x = torch.zeros(5, 5).t()\nx.t_()\nx.view(25)\n",
    X + "x = x.to(memory_format=torch.channels_last)\nx.permute(0, 2, 3, 1).view(-1)\n",
    "m = nn.Conv2d(3, 11, 3).to(memory_format=torch.channels_last)\n" + X + "m(x).permute(0, 2, 3, 1).view(-1)\n",
    X + "x.permute(0, 2, 3, 1).sum(1).view(-1)\n",
    "x = torch.zeros(4, 6).T\nx.view(torch.int32)\n",
    X + "try:\n    y = x.transpose(1, 2).view(-1)\nexcept RuntimeError:\n    y = x.reshape(-1)\n",
    "import random\nx = torch.zeros(3, 5)\nif random.random() < 0.5:\n    x = torch.zeros(5, 3).T\nx.size()\n",
    X + "x.data = x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2)\nx.permute(0, 1, 3, 2).view(-1)\n",
]


@pytest.mark.parametrize("source", BAD)
def test_what_torch_refuses_is_found(source, tmp_path):
    with pytest.raises(RuntimeError, match=r"view size is not compatible|more than one element") as raised:
        run(source)
    line = [frame.lineno for frame in traceback.extract_tb(raised.tb) if frame.filename == "program.py"][-1]
    assert found(source, tmp_path)[0] == (line - HEAD.count("\n"), "tensor-layout")


MADE = "i, v = torch.tensor([[0, 1], [2, 0]]), torch.tensor([3.0, 5.0])\n"
SPARSE = [
    "torch.eye(3).to_sparse().numpy()\n",
    "x = torch.eye(3).to_sparse().coalesce()\ny = x.detach().cpu().numpy()\n",
    MADE + "x = torch.sparse_coo_tensor(i, v, (2, 3))\nx.numpy()\n",
    "x = torch.eye(3).to_sparse_csr()\nx.to(torch.float64).numpy()\n",
]
DENSE = [
    "torch.eye(3).to_sparse().to_dense().numpy()\n",
    MADE + "x = torch.sparse_coo_tensor(i, v, (2, 3)).coalesce()\nx.values().numpy(), x.indices().numpy()\n",
    "x = torch.eye(3).to_sparse()\ntorch.sparse.mm(x, torch.ones(3, 5)).numpy()\n(x @ torch.ones(3, 5)).numpy()\n",
]


@pytest.mark.parametrize("source", SPARSE)
def test_sparse_tensors_are_no_arrays(source, tmp_path):
    with pytest.raises(TypeError, match="to numpy"):
        run(source)
    assert found(source, tmp_path) == [(source.count("\n"), "tensor-layout")]


@pytest.mark.parametrize("source", DENSE)
def test_what_is_made_of_sparse_tensors_may_be_dense(source, tmp_path):
    run(source)
    assert not found(source, tmp_path)


@pytest.mark.parametrize("source", GOOD)
def test_what_torch_computes_is_no_mistake(source, tmp_path):
    run(source)
    assert not found(source, tmp_path)


UNARY = [
    "{x}.transpose({d}, {e})", "{x}.permute({p})", "torch.permute({x}, ({p},))", "{x}.movedim({d}, {e})",
    "{x}.swapaxes({d}, {e})", "{x}.unsqueeze({d})", "{x}.squeeze()", "{x}.squeeze({d})", "{x}.contiguous()",
    "{x}.clone()", "{x}.relu()", "-{x}", "{x} * 2", "F.gelu({x})", "{x}.sum({d})", "{x}.mean({d}, keepdim=True)",
    "{x}.softmax({d})", "{x}[0]", "{x}[..., 0]", "{x}[:, None]", "{x}[1:]", "{x}[..., ::2]", "{x}[:, -1]",
    "{x}.unbind({d})[-1]", "{x}.chunk(2, {d})[0]", "{x}.split(2, dim={d})[-1]", "{x}.narrow({d}, 0, 1)",
    "{x}.select({d}, 0)", "{x}.double()", "{x}.to(torch.float32)", "{x}.flatten({d})", "{x}.reshape(-1)",
    "{x}.detach()",
    "{x}.T", "{x}.mT", "{x}.expand(3, {s})", "{x}.repeat(2, {o})", "torch.cat([{x}, {x}], {d})",
    "torch.stack([{x}, {x}], {d})", "F.layer_norm({x}, {x}.shape[-1:])", "{x}.unflatten({d}, (1, -1))",
    "F.dropout({x})", "{x} > 0", "{x}.cumsum({d})", "{x}.flip({d})", "torch.zeros_like({x})", "{x}.requires_grad_()",
    "nn.Linear({l}, 4)({x})", "nn.Dropout(0.5)({x})", "{x}.masked_fill({x} > 0, 0)", "{x}.tril()", "{x}.data",
    "torch.where({x} > 0, {x}, 0)", "{x} @ {x}.transpose(-1, -2)", "{x}.amax({d})", "F.normalize({x}, dim={d})",
    "F.softmax({x}, {d}) @ torch.zeros({l}, 3)", "{x}.exp()", "{x}.argmax({d})", "F.pad({x}, (1, 2))",
    "{x}.max({d})[0]",
]  # fmt: skip
BINARY = ["{x} + {y}", "{y} * {x}", "torch.maximum({x}, {y})", "torch.where({y} > 0, {x}, {y})", "{x}.add({y})"]


def chain(rng: random.Random, length: int) -> tuple[list[str], dict[str, torch.Tensor]]:
    """Lines that each give a tensor, and what they give in torch."""
    sizes = [rng.choice((1, 2, 3, 4, 5)) for _ in range(rng.randint(1, 5))]
    lines, real = [f"x0 = torch.randn({sizes})"], {"x0": torch.zeros(sizes)}
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    while len(lines) < length:
        name = rng.choice(list(real)[-3:])
        x, made = real[name], f"x{len(lines)}"
        if not 1 <= x.dim() <= 5 or x.numel() > 2_000:
            name, x = "x0", real["x0"]
        rank = x.dim()
        words = {
            "x": name, "d": rng.randrange(rank), "e": rng.randrange(rank), "l": x.size(-1),
            "p": ", ".join(map(str, rng.sample(range(rank), rank))), "s": ", ".join(map(str, x.shape)),
            "o": ", ".join("1" * rank), "y": rng.choice(list(real)),
        }  # fmt: skip
        code = rng.choice(UNARY if rng.random() < 0.7 else BINARY).format(**words)
        try:
            value = eval(code, {**names, **real})
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        if value.numel():
            lines.append(f"{made} = {code}")
            real[made] = value.detach()
    return lines, real


def known_of(lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[int, Tensor]:
    """By line, the tensor that it gives a name."""
    seen: dict[int, Tensor] = {}
    before = Interpreter.claim

    def note(self, name, value):
        if isinstance(self.resolve(value), Tensor):
            seen[self.node.lineno - HEAD.count("\n")] = self.resolve(value)
        before(self, name, value)

    monkeypatch.setattr(Interpreter, "claim", note)
    assert not found("\n".join(lines) + "\n", folder)
    monkeypatch.undo()
    return seen


@pytest.mark.parametrize("seed", range(40))
def test_strides_are_those_of_torch(seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    lines, real = chain(rng, 60)
    told = 0
    for line, tensor in known_of(lines, tmp_path, monkeypatch).items():
        there = real[f"x{line - 1}"]
        strides = layout.of(tensor)
        if strides is None:
            continue
        told += 1
        strides = contiguous(there.shape) if strides == layout.CONTIGUOUS else strides
        wide = [d for d, size in enumerate(there.shape) if size > 1]
        assert [strides[d] for d in wide] == [there.stride(d) for d in wide], lines[line - 1]
    assert told > 15


def strided(rng: random.Random) -> torch.Tensor:
    """Numbers that any function takes, of a shape that is always the same, in any order of dims."""
    order = rng.sample(range(3), 3)
    sizes = (2, 3, 5)
    return torch.full([sizes[d] for d in order], 0.5).permute([order.index(d) for d in range(3)])


ELEMENT_WISE = sorted(n for n in RULES if n.startswith(("torch.", "Tensor.")) and layout._work(n) is layout._by_element)


@pytest.mark.parametrize("name", ELEMENT_WISE)
def test_element_wise_operations(name):
    """All that are said to be element-wise give what lies as their operands do."""
    rng = random.Random(name)
    compared = 0
    for cast in (torch.Tensor.float, torch.Tensor.long):
        for count in (3,) if name.endswith("where") else (1, 2, 3):
            given = [cast(strided(rng)) for _ in range(count)]
            if name.endswith("where"):
                given[name.startswith("Tensor")] = strided(rng) > 0
            try:
                real = resolve(name)(*given)
            except (RuntimeError, TypeError, NotImplementedError):
                continue
            if real is NotImplemented or any(real is g for g in given):
                continue
            compared += 1
            found = element_wise(real.shape, [(g.shape, g.stride()) for g in given])
            assert found == real.stride()
    assert compared or name.rpartition(".")[2].endswith("_")


WRITING = sorted(n for n in RULES if layout.writes(n) and n != "Tensor.__setitem__")


@pytest.mark.parametrize("name", WRITING)
def test_operations_that_write(name):
    """All that are said to refuse an expanded tensor do so, for what they take."""
    tried = []
    for cast in (torch.Tensor.float, torch.Tensor.long):
        others = cast(torch.ones(3, 5))
        for rest in ((), (others,), (others, others), (1,), (0.5,), (1, 2)):
            expanded = cast(torch.ones(3, 1)).expand(3, 5)
            try:
                accepted = resolve(name)(expanded, *rest)
            except RuntimeError as refusal:
                tried.append("single memory location" in str(refusal) and "unsupported operation" in str(refusal))
            except (TypeError, NotImplementedError, ValueError):
                continue
            else:
                tried += [] if accepted is NotImplemented else [None]
    assert True in tried
    assert None not in tried
