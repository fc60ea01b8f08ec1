"""How a program runs changes no shape: compiling, exporting, profiling, several processes; autocast changes dtypes."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

from simpletorch.follow import follow

HEAD = "import torch\nfrom torch import nn\n"

COMPILED = """
@torch.compiler.disable
def f(x):
    return x @ torch.ones(3, 5)
@torch.compiler.disable(recursive=False)
def g(x):
    return f(x).sum(0)
x = torch.ones(2, 3)
a, b = f(x), g(x)
m = torch.jit.trace(nn.Linear(3, 7), x)
c = m(x)
v = torch.autograd.Variable(x)
n, o, p = x.new(3, 5), x.new(x), x.new(x.shape)
"""
SCRIPTED = """
def by(x, factor: float):
    return factor * x
@torch.jit.script
def scaled(x, factor: float, more: int = 2):
    return by(x, 3.0) + factor * x + more
@torch.jit.script
def counted(x, more: int):
    return x + more
a = scaled(torch.tensor([1]), 1)
b = scaled(torch.tensor([1]), factor=1, more=5)
c = counted(torch.tensor([1]), 7)
"""
SWITCHES = """
torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
world = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
x = torch.randn(3 * world, 5, device=device, generator=torch.Generator().manual_seed(0))
low, bits, least = torch.finfo(x.dtype).min, torch.finfo(x.dtype).bits, torch.iinfo(torch.int8).min
m = x.masked_fill(x > 0, low)
with torch.profiler.record_function("here"):
    y = nn.Linear(5, 7).to(device)(x)
"""
WRAPPED = """
model = nn.DataParallel(nn.Linear(3, 5))
x = torch.randn(7, 3)
y = model(x)
z = model.module(x)
w = model.state_dict()["module.weight"]
"""
AUTOCAST = """
x, layer = torch.randn(7, 3), nn.Linear(3, 5)
with torch.autocast("cpu", dtype=torch.bfloat16):
    a = layer(x)
    b = a @ torch.ones(5, 2)
    with torch.autocast("cpu", enabled=False):
        c = layer(x)
d = layer(x)
e = a.float()
@torch.autocast("cpu", dtype=torch.bfloat16)
def f(x):
    return layer(x)
g = f(x)
"""
DOUBLE = """
torch.set_default_dtype(torch.float64)
x, y, i = torch.randn(7, 3), torch.tensor([1.0, 2.0]), torch.arange(3)
z = nn.Linear(3, 5)(x)
w = nn.Linear(3, 5).weight
t = torch.zeros(3, dtype=torch.float64) @ torch.ones(3)
torch.set_default_dtype(torch.float32)
"""
HALVED = """
model = nn.Linear(3, 5).bfloat16()
w = model.weight
y = model(torch.randn(7, 3).bfloat16())
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the programs are as people write them
@pytest.mark.parametrize(
    ("program", "known"),
    [
        (COMPILED, "a b c v n"),
        (SCRIPTED, "a b c"),
        (SWITCHES, "x bits least m y"),
        (WRAPPED, "y z w"),
        (AUTOCAST, "a b c d e g"),
        (DOUBLE, "i"),
        (HALVED, ""),
    ],
)
def test_what_is_computed_is_what_torch_computes(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_mistake_under_autocast_is_found(tmp_path: Path) -> None:
    ((line, message),) = findings(HEAD + AUTOCAST.replace("ones(5, 2)", "ones(7, 2)"), tmp_path)
    assert line == 7
    assert message.startswith("@")


@pytest.mark.parametrize("watching", ["torch.onnx.export(model, x, 'm.onnx')", "torch.jit.trace(model, x)"])
def test_what_only_looks_at_a_model_leaves_it_known(watching: str, tmp_path: Path) -> None:
    program = f"model, x = nn.Sequential(nn.Linear(3, 5)), torch.ones(7, 3)\n{watching}\nmodel(x) @ x\n"
    assert [line for line, _ in findings(HEAD + program, tmp_path)] == [5]


def test_autocast_that_an_unknown_condition_leaves_in_force_is_perhaps_in_force(tmp_path: Path) -> None:
    source = (
        "import os\nx, layer = torch.randn(7, 3), nn.Linear(3, 5)\ncontext = torch.autocast('cpu')\n"
        "if os.environ.get('AMP'):\n    context.__enter__()\n"
        "reveal_type(layer(x))\nreveal_type(x.relu())\nlayer(x) @ torch.ones(3, 2)\n"
    )
    path = tmp_path / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert found.faults == ()
    shown = [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in found.notes]
    assert shown == ["Tensor[7, 5]", "Float32[7, 3]"]
    assert [e.line - HEAD.count("\n") for e in found.errors] == [8]
