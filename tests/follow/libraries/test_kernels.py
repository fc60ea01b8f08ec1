"""Operators of the user's own: a call is followed by its annotations, also in another file."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

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
