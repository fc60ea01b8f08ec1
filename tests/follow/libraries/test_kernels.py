"""Operators of the user's own, and those that are shipped: a call is followed by its annotations."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

from simpletorch.kernels import shipped

PACKAGE = """
import jaxtyping
import torch

from simpletorch import Float, Float32, Int64, Tensor, kernels
from simpletorch.dims import B, Dim, N


@kernels.operator
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    return torch.relu(x + y)


@relu_add.cpu
def _(x, y):
    return torch.relu(x + y)


@relu_add.on("mps")
def _(x, y):
    return torch.relu(x + y)


@relu_add.backward
def _(grad, result):
    kept = grad * (result > 0)
    return kept, kept


@kernels.operator("mylib::halve")
def halve(x: Tensor[Float32, B, "2*N"], scale: int = 3) -> Tensor[Float32, B, N]:
    return x[:, ::2] * scale


@kernels.operator
def turned(
    x: jaxtyping.Float[torch.Tensor, "a b"], ids: Int64[Tensor, "b"]
) -> tuple[jaxtyping.Float[torch.Tensor, "b a"], Int64[Tensor, "b"]]:
    return x.mT.clone(), ids + 1


@kernels.operator
def padded(x: Float[Tensor, "n"], size: Dim[N]) -> Float[Tensor, "{size}"]:
    return torch.nn.functional.pad(x, (0, size - x.shape[0]))


@kernels.operator
def kept(x: Float[Tensor, "n"]) -> Int64[Tensor, "k"]:
    return (x > 0).nonzero()[:, 0]


@kernels.operator(mutates=("x",))
def double_(x: Float[Tensor, "*n"]) -> None:
    x.mul_(2)
"""
HEAD = "import torch\nimport mylib.kernels\nfrom mylib.kernels import *\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib/__init__.py").touch()
    (tmp_path / "mylib/kernels.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_results_are_what_the_annotations_say(folder: Path):
    source = """
a = relu_add(torch.ones(3, 5), torch.ones(3, 5))
b = mylib.kernels.halve(torch.ones(7, 22), scale=2)
c, d = turned(torch.ones(3, 5, dtype=torch.float64), torch.arange(5))
e = padded(torch.ones(3), 11)
f = kept(torch.ones(13))
double_(a)
g = relu_add.reference(torch.ones(3), torch.ones(3))
"""
    agrees(HEAD + source, folder, known="a b c d g")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "relu_add(torch.ones(3, 5), torch.ones(3, 7))",
            "relu_add: *n is (3, 7) in y, but (3, 5) before [x: Float32[3, 5], y: Float32[3, 7] (should be Float[*n])]",
        ),
        (
            "mylib.kernels.halve(torch.ones(3, 7))",
            "halve: dim 1 of x is 7, which 2*N can't be [x: Float32[3, 7] (should be Float32[B, 2*N])]",
        ),
        (
            "turned(torch.ones(3, 5), torch.arange(7))",
            "turned: dim 0 of ids is 7, but b is 5 from dim 1 of x "
            "[x: Float32[3, 5], ids: Int64[7] (should be Int64[b])]",
        ),
        (
            "turned(torch.ones(3), torch.arange(7))",
            "turned: x has 1 dim, not 2 [x: Float32[3] (should be Float[a, b]), ids: Int64[7]]",
        ),
        (
            "halve(torch.ones(3, 4).double())",
            "halve: x is Float64, but should be Float32 [x: Float64[3, 4] (should be Float32[B, 2*N])]",
        ),
        (
            "relu_add(torch.arange(3), torch.ones(3))",
            "relu_add: x is Int64, but should be Float [x: Int64[3] (should be Float[*n]), y: Float32[3]]",
        ),
    ],
)
def test_what_does_not_fit_is_said_as_at_run_time(folder: Path, call: str, sentence: str):
    assert findings(HEAD + call, folder) == [(4, sentence)]


def test_under_autocast_a_float_is_any_float(folder: Path):
    source = "with torch.autocast('cpu', dtype=torch.bfloat16):\n    halve(torch.ones(3, 5) @ torch.ones(5, 4))\n"
    assert findings(HEAD + source, folder) == []


def test_the_body_is_held_to_its_promise(folder: Path):
    wrong = PACKAGE + '\n@kernels.operator\ndef f(x: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:\n    return x.mT\n'
    found = findings(wrong, folder)
    assert [text for _, text in found] == ["f returns Tensor[m, n], but its annotation says Tensor[n, m]"]


# -- shipped -----------------------------------------------------------------------------------------------------------

SHIPPED = {
    "relu_add": "relu_add(x, y=y)",
    "softmax": "softmax(x.double(), 0.5)",
    "layer_norm": "layer_norm(x, weight, weight.double(), eps=0.1)",
    "rms_norm": "rms_norm(x, weight)",
    "add_rms_norm": "add_rms_norm(x.half(), y, weight)",
    "swiglu": "swiglu(x, y)",
    "geglu": "geglu(x, y, True)",
    "swiglu_packed": "swiglu_packed(torch.ones(3, 10).bfloat16())",
    "geglu_packed": "geglu_packed(torch.ones(3, 10), tanh=True)",
    "rotary": "rotary(torch.ones(2, 5, 3, 8), torch.ones(5, 4), torch.ones(5, 4))",
    "cross_entropy": "cross_entropy(torch.ones(7, 11).half(), torch.arange(7), label_smoothing=0.1)",
    "linear_cross_entropy": "linear_cross_entropy(torch.ones(7, 3).double(), torch.ones(11, 3), torch.arange(7))",
    "dropout_add": "dropout_add(x.half(), y.half(), 0.1, seed=3)",
    "attention": "attention(torch.ones(2, 6, 5, 8), torch.ones(2, 3, 7, 8), torch.ones(2, 3, 7, 4), causal=True)",
}
OTHERS = {"adamw_step", "attention_backend"}  # give no tensor
WITH_SHIPPED = """import torch
from simpletorch import kernels
x, y, weight = torch.ones(3, 5), torch.ones(3, 5), torch.ones(5)
"""


def test_there_is_a_call_of_every_shipped_function():
    public = {name for name, value in vars(shipped).items() if callable(value)}
    assert public == SHIPPED.keys() | OTHERS


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_known(name: str, tmp_path: Path):
    agrees(f"{WITH_SHIPPED}result = kernels.{SHIPPED[name]}\n", tmp_path, known="result")


def test_what_is_shipped_is_revealed_to_mypy_too():
    file = Path(__file__).parents[2] / "typing/reveal/shipped_kernels.py"
    text = file.read_text()
    assert [name for name in (*SHIPPED, *OTHERS) if f"reveal_type(kernels.{name}(" not in text] == []


def test_a_step_and_a_backend_are_followed(tmp_path: Path):
    source = """
kernels.adamw_step([x], [y], [torch.zeros(3, 5)], [torch.zeros(3, 5)], step=1)
backend = kernels.attention_backend(torch.ones(2, 6, 5, 8), torch.ones(2, 6, 7, 8), torch.ones(2, 6, 7, 8))
from simpletorch.kernels import softmax
after = softmax(x + y)
"""
    agrees(WITH_SHIPPED + source, tmp_path, known="after")


def test_under_autocast_attention_is_torchs(tmp_path: Path):
    source = """q = torch.ones(2, 3, 5, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    a = kernels.attention(q, q, q)
    b = kernels.softmax(q)
"""
    agrees(WITH_SHIPPED + source, tmp_path, known="b")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "kernels.rms_norm(x, torch.ones(7))",
            "rms_norm: dim 0 of weight is 7, but n is 5 from dim 1 of x "
            "[x: Float32[3, 5], weight: Float32[7] (should be Float[n])]",
        ),
        (
            "kernels.swiglu_packed(x)",
            "swiglu_packed: dim 1 of packed is 5, which 2*n can't be "
            "[packed: Float32[3, 5] (should be Float[*b, 2*n])]",
        ),
    ],
)
def test_what_does_not_fit_a_shipped_operator(call: str, sentence: str, tmp_path: Path):
    assert findings(WITH_SHIPPED + call, tmp_path) == [(4, sentence)]


def test_a_plain_function_around_an_operator_takes_what_it_takes(tmp_path: Path):
    """Without dropout it is a sum, which broadcasts."""
    source = "result = kernels.dropout_add(x, torch.ones(1, 5), training=False)\n"
    agrees(WITH_SHIPPED + source, tmp_path)
