"""`simpletorch summary`."""

import subprocess
import sys
import textwrap

import pytest

from simpletorch.cli import main

NET = """
    import torch
    from simpletorch import nn, Tensor, Float32
    from simpletorch.dims import B

    class Net(nn.Module):
        def __init__(self, hidden: int = 5) -> None:
            super().__init__()
            self.fc1 = nn.Linear(7, hidden)
            self.fc2 = nn.Linear(5, 3)

        def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
            return self.fc2(torch.relu(self.fc1(x)))

    class Rates(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rates = [rate.item() for rate in torch.linspace(0, 1, 3)]
            self.fc = nn.Linear(7, 3)

        def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
            return self.fc(x) * self.rates[1]

    model = Net()
    number = 3

    def build(width: int, *, act: str) -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(7, width), getattr(torch.nn, act)())
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    (tmp_path / "a_net.py").write_text(textwrap.dedent(NET))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    yield
    sys.modules.pop("a_net", None)


@pytest.mark.parametrize("target", ["a_net:Net", "a_net.py:Net", "a_net:model", "a_net:Net(5)", "a_net:Net(hidden=5)"])
def test_a_model_by_its_module_or_file(net, capsys, target):
    assert main(["summary", target]) == 0
    assert capsys.readouterr().out == (
        "module          input          output         parameters    weights  FLOPs  output bytes\n"
        "────────────────────────────────────────────────────────────────────────────────────────\n"
        "Net             Float32[B, 7]  Float32[B, 3]          58  232 bytes  100·B    12 bytes·B\n"
        "├─ fc1: Linear  Float32[B, 7]  Float32[B, 5]          40  160 bytes   70·B    20 bytes·B\n"
        "└─ fc2: Linear  Float32[B, 5]  Float32[B, 3]          18   72 bytes   30·B    12 bytes·B\n"
        "────────────────────────────────────────────────────────────────────────────────────────\n"
        "58 parameters (232 bytes with buffers)\n"
        "100·B FLOPs a call; 32 bytes·B of results in the innermost modules\n"
    )


def test_inputs_and_depth(net, capsys):
    assert main(["summary", "a_net:build(11, act='ReLU')", "--input", "2 7", "--depth", "0"]) == 0
    out = capsys.readouterr().out
    assert "Sequential  Float32[2, 7]  Float32[2, 11]" in out
    assert "Linear" not in out


def test_several_inputs(capsys):
    target = "torch.nn:Bilinear(3, 5, 2)"
    assert main(["summary", target, "--input", "B 3", "--input", "Float32[B, 5]"]) == 0
    assert "(Float32[B, 3], Float32[B, 5])  Float32[B, 2]" in capsys.readouterr().out


def test_html_and_types(net, capsys):
    assert main(["summary", "a_net:Net", "--html"]) == 0
    assert capsys.readouterr().out.startswith("<table>")
    assert main(["summary", "a_net:Net", "--types"]) == 0
    assert "(fc1): Linear(in_features=7, out_features=5, bias=True): (..., 7) -> (..., 5)" in capsys.readouterr().out


def test_a_constructor_that_needs_values(net, capsys):
    assert main(["summary", "a_net:Rates"]) == 0
    assert "Float32[B, 3]" in capsys.readouterr().out


def test_a_large_model_needs_no_weights(capsys):
    assert main(["summary", "torch.nn:Linear(100003, 100003)", "--input", "B 100003"]) == 0
    assert "37.3 GiB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("a_net", "'a_net' names no model; write MODULE:CLASS, such as net:Net or net.py:Net(784, 10)"),
        ("a_net:Nt", "a_net has no Nt; its models are Net, Rates"),
        ("no_such_net:Net", "there is no module no_such_net"),
        ("no_such_net.py:Net", "there is no file no_such_net.py"),
        ("a_net:number", "a_net:number is no torch.nn.Module, but of type int"),
        (
            "a_net:Net(hidden=open('x'))",
            "(hidden=open('x')) are no arguments; write numbers, strings, tuples, lists: (784, hidden=[128])",
        ),
    ],
)
def test_what_is_not_found_is_exit_code_2(net, capsys, target, message):
    assert main(["summary", target]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"simpletorch summary: {message}")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "a_net:build(11)",
            "missing 1 required keyword-only argument: 'act'; arguments go behind the name: a_net:build(",
        ),
        ("a_net:Net(11)", ".fc2, at a_net.py:13"),
        ("torch.nn:Linear(3, 5)", "no input was given"),
        ("simpletorch.nn:TransformerBlock(10, 3)", "dim=10 is not divisible by heads=3"),
    ],
)
def test_what_cannot_be_built_or_called_is_exit_code_1(net, capsys, target, message):
    assert main(["summary", target]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"simpletorch summary: {target}: ")
    assert message in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.slow
def test_the_command(net):
    command = [sys.executable, "-m", "simpletorch.cli", "summary", "a_net:Net"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "58 parameters" in done.stdout
    assert done.stderr == ""
