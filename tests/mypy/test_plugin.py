"""The plugin as a piece of software: refuses an old mypy, hides no failure, never crashes mypy, voids stale caches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from mypy.errors import CompileError

from simpletorch.mypy import guard
from simpletorch.mypy import plugin as make_plugin
from simpletorch.mypy.convert.spelling import respell, tensor_in, union_members
from simpletorch.mypy.names import public_class, public_name
from simpletorch.mypy.plugin import SimpletorchPlugin
from simpletorch.shapes import ANY_REST, Shape, var
from tests import warm


def test_an_old_mypy_is_refused_in_one_sentence():
    with pytest.raises(CompileError) as error:
        make_plugin("1.11.2")
    assert error.value.messages == [
        "error: simpletorch needs mypy 2.4 or newer, but this is mypy 1.11.2; pip install 'mypy>=2.4,<3'"
    ]


@pytest.mark.parametrize("version", ["2.0.0", "2.3.1"])
def test_mypy_prints_that_sentence_and_no_internal_error(version, tmp_path):
    shim = f"from simpletorch.mypy import plugin as ours\n\ndef plugin(version):\n    return ours('{version}')\n"
    (tmp_path / "old.py").write_text(shim)
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = ./old.py\n")
    (tmp_path / "net.py").write_text("x = 3\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "net.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert f"error: simpletorch needs mypy 2.4 or newer, but this is mypy {version}; pip install" in said
    assert "INTERNAL ERROR" not in said
    assert "Traceback" not in said
    assert done.returncode == 2


@pytest.mark.parametrize("version", ["2.4.0", "2.4.1", "2.10", "2.5.0+dev.abc", "3.0"])
def test_newer_mypys_are_accepted(version):
    assert make_plugin(version) is SimpletorchPlugin


def test_a_failure_in_a_hook_degrades_and_is_told(capsys, monkeypatch):
    monkeypatch.delenv(guard.DEBUG_VARIABLE, raising=False)
    context = SimpleNamespace(api=SimpleNamespace(path="net.py"), context=SimpleNamespace(line=12))
    run = guard.guarded(lambda _: 1 / 0, lambda _: "default")
    assert run(context) == "default"
    told = capsys.readouterr().err
    assert told.startswith(
        "net.py:12: note: simpletorch could not analyse this and leaves it to mypy (ZeroDivisionError: "
    )


def test_the_debug_switch_raises(monkeypatch):
    monkeypatch.setenv(guard.DEBUG_VARIABLE, "1")
    with pytest.raises(ZeroDivisionError):
        guard.guarded(lambda _: 1 / 0, lambda _: None)(SimpleNamespace())


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("torch._C._VariableFunctions.cat", "torch.cat"),
        ("torch.functional.einsum", "torch.einsum"),
        ("torch._C._nn.gelu", "torch.nn.functional.gelu"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("torch._tensor.Tensor.cumsum", "Tensor.cumsum"),
    ],
)
def test_public_names(private, public):
    assert public_name(private) == public


def test_public_class():
    assert public_class("torch.nn.modules.linear.Linear") == "torch.nn.Linear"
    assert public_class("my.Linear") == "my.Linear"


@pytest.mark.parametrize(
    ("mypys", "ours"),
    [
        ("Tensor[Any, *tuple[Any, ...]]", "Tensor"),
        ("torch._tensor.Tensor[_simpletorch.dtypes.Float32, B, Literal[784]]", "Tensor[Float32, B, 784]"),
        ("Tensor[Float32, *tuple[Any, ...], Literal[3]]", "Tensor[Float32, ..., 3]"),
        ("Tensor[Float32, *Batch, Any]", "Tensor[Float32, *Batch, Any]"),
        ("Tensor[Float32, Sum[Product[Literal[2], N], Literal[1]]]", "Tensor[Float32, 2*N + 1]"),
        ("Tensor[Float32, Quotient[Sum[H, Literal[1]], Literal[2]]]", "Tensor[Float32, (H + 1)//2]"),
        ("list[Tensor[Float32, Literal[3]?]]", "list[Tensor[Float32, 3]]"),
        ("Dim[Literal[3]]", "Dim[3]"),
        ("torch.nn.modules.linear.Linear[Literal[2], Any]", "torch.nn.modules.linear.Linear[2, Any]"),
        ("Linear[Literal[2], Literal[3], Literal[True], None, None]", "Linear[2, 3]"),
        ("Linear[Literal[2], Literal[3], Literal[False], None, Any]", "Linear[2, 3, False]"),
        ("Linear[Any, Any, Any, Any, _simpletorch.dtypes.Float16]", "Linear[Any, Any, Any, Any, Float16]"),
        ("ReLU | Linear[Any, Any, Any, Any, Any]", "ReLU | Linear"),
        ("Sequential[Flatten[Literal[1], Literal[-1]], Softmax[Literal[1]]]", "Sequential[Flatten, Softmax[1]]"),
        ("Literal[784]", "Literal[784]"),
        ("Tensor[Float32, <nothing we know>]", "Tensor[Float32, <nothing we know>]"),
        ("type[CPUTensor[DT, *Shape]]", "type[CPUTensor]"),
        ("def [DT, Shape] sum(self: TensorBase) -> Tensor[DT, *Shape]", "def sum(self: TensorBase) -> Tensor"),
        ("type[Linear[in_features, out_features, bias, device, dtype]]", "type[Linear]"),
        ("type[ModuleList[Item, *Items]]", "type[ModuleList]"),
        ("torch.nn.modules.container.Sequential[()]", "torch.nn.modules.container.Sequential"),
        ("type[Sequential[*Layers]]", "type[Sequential]"),
        (
            "torch.distributions.normal.Normal[_simpletorch.dtypes.Float32, B, Literal[3]]",
            "torch.distributions.normal.Normal[Float32, B, 3]",
        ),
        ("Normal[Any, *tuple[Any, ...]]", "Normal"),
    ],
)
def test_types_are_spelled_as_users_write_them(mypys, ours):
    assert respell(f'Revealed type is "{mypys}"') == f'Revealed type is "{ours}"'


def test_tensor_types_are_read_back():
    assert tensor_in("Tensor[Float32, B, *tuple[Any, ...], Literal[3]]") == ("Float32", Shape.of(var("B"), ANY_REST, 3))
    assert tensor_in("list[int]") is None
    assert union_members("A[x | y] | B") == ["A[x | y]", "B"]


SOURCE = """\
import torch
from torch import nn

x = torch.zeros(3, 5)
nn.Linear(7, 2)(x)  # type: ignore[tensor-shape]
nn.Linear(7, 2)(x)
"""


@pytest.mark.slow
def test_codes_can_be_ignored_and_a_warm_run_says_the_same(tmp_path: Path):
    (tmp_path / "net.py").write_text(SOURCE)
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(tmp_path)]
    for _ in range(2):
        done = subprocess.run(
            [*command, "net.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, guard.DEBUG_VARIABLE: "1", "SIMPLETORCH_FOLLOW": "off"},
        )
        assert done.stdout.splitlines() == [
            "net.py:6: error: Linear(7, 2): the last dim of input is 5, but the layer takes 7 features "
            "[input: Float32[3, 5]]  [tensor-shape]",
            "net.py:6: note: hint: Linear(5, 2) would fit",
            "Found 1 error in 1 file (checked 1 source file)",
        ]


NEW_SYNTAX = """\
import torch
from torch import nn
from simpletorch import Dim, Float32, Tensor

class MLP[N: int, M: int](nn.Module):
    def __init__(self, n: Dim[N], m: Dim[M]) -> None:
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward[B: int](self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        return self.fc(x)

type Image[H: int, W: int] = Tensor[Float32, 3, H, W]

def show(image: Image[17, 19]) -> None:
    reveal_type(image)

reveal_type(MLP(5, 3)(torch.zeros(7, 5)))
MLP(5, 3)(torch.zeros(7, 4))

def unknown(x: Tensor[Float32, "2*Unknown"]) -> None: ...
"""


@pytest.mark.slow
def test_type_parameters_of_pep_695_and_an_unknown_name(tmp_path: Path):
    (tmp_path / "new.py").write_text(NEW_SYNTAX)
    cache = warm.cache(tmp_path)
    (here,) = cache.glob("3.*")  # what it needs of torch is the same for each version of Python
    here.rename(cache / "3.12")
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", cache]
    done = subprocess.run(
        [*command, "--python-version", "3.12", "new.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, guard.DEBUG_VARIABLE: "1", "SIMPLETORCH_FOLLOW": "off"},
    )
    assert done.stdout.splitlines()[:-1] == [
        'new.py:16: note: Revealed type is "Tensor[Float32, 3, 17, 19]"',
        'new.py:18: note: Revealed type is "Tensor[Float32, 7, 3]"',
        "new.py:19: error: MLP.forward: dim 1 of x is 4, but N is 5 in this MLP [x: Float32[7, 4] (should be "
        "Float32[B, 5])]  [tensor-shape]",
        'new.py:21: error: "Unknown" is no size variable here; declare Unknown = TypeVar("Unknown")  '
        "[tensor-annotation]",
    ]
