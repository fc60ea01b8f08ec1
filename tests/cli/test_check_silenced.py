"""``# type: ignore[index]`` silences ours where mypy itself says [index] of the same expression, and only there."""

import json

import pytest

from simpletorch._settings import FOLLOW_VARIABLE
from simpletorch.cli import main

SPOKEN = """\
import torch


def f(x: torch.Tensor, i: float, xs: list[torch.Tensor]) -> torch.Tensor:
    a = x[i]  # type: ignore[index]
    b = x[0, i]  # type: ignore[index, arg-type]
    c = (
        x[
            i  # type: ignore[index]
        ]
    )
    return a + b + c


k: float = 1.0
torch.zeros(3)[k]  # type: ignore[index]
"""
SHOWN = """\
import torch


def f(x: torch.Tensor, i: float) -> None:
    torch.zeros(3, 5) @ torch.zeros(7, 11)  # type: ignore[operator]
    x[i]  # type: ignore[operator]
    x[i].sum(); torch.zeros(3) + torch.zeros(5)  # type: ignore[index]


torch.zeros(3, 5) @ torch.zeros(7, 13)  # type: ignore[index]
"""

MANY = """\
import torch
from torch import nn
from torch.nn import functional as F


def f(x: torch.Tensor, i: float, xs: list[torch.Tensor], n: str | None) -> None:
    x[i]  # type: ignore[index]
    x + [1, 2]  # type: ignore[operator]
    torch.zeros("3")  # type: ignore[arg-type]
    x.unsqeeze(0)  # type: ignore[attr-defined]
    torch.stack(x.shape)  # type: ignore[arg-type]
    F.relu(None)  # type: ignore[arg-type]
    nn.Linear(3, "4")  # type: ignore[arg-type]
    x.view("3")  # type: ignore[arg-type]
    x[: x.size(0) / 2]  # type: ignore[misc]
    torch.tensor(xs).foo  # type: ignore[attr-defined]
    a, b = x.numel()  # type: ignore[misc]
    x @ None  # type: ignore[operator]
    x.shape(0)  # type: ignore[operator]
    for p in nn.Linear(2, 2).named_parameters:  # type: ignore[attr-defined]
        pass
    torch.cat(x, dim="1")  # type: ignore[arg-type]
    nn.Embedding(3, 4)([1])
    x.size[0]  # type: ignore[index]


g: float = 1.0
torch.zeros(3)[g]  # type: ignore[index]
torch.zeros(3) + [1, 2]  # type: ignore[operator]
torch.zeros(2, 3).view("3")  # type: ignore[arg-type]
torch.zeros(2, 3).unsqeeze(0)  # type: ignore[attr-defined]
torch.zeros(4)[: 4 / 2]  # type: ignore[misc]
a, b = torch.zeros(3).numel()  # type: ignore[misc]
torch.zeros(3).shape(0)  # type: ignore[operator]
for p in nn.Linear(2, 2).named_parameters:  # type: ignore[attr-defined]
    pass
torch.zeros(3).size[0]  # type: ignore[index]
F.relu(None)  # type: ignore[arg-type]
nn.Linear(2, 2)([1])  # type: ignore[arg-type]
torch.zeros(2, 3) @ torch.zeros(2, 3)  # type: ignore[operator]
"""
NOT_COVERED = [(15, "tensor-dtype"), (32, "tensor-dtype"), (39, "tensor-class"), (40, "tensor-shape")]
"""mypy says nothing of these lines: of slices, of what a layer is given, of sizes."""


def errors(capsys, folder, text, *arguments):
    """The errors by lines and codes."""
    (folder / "script.py").write_text(text)
    main(["check", "--json", "script.py", *arguments])
    shown = json.loads(capsys.readouterr().out)["diagnostics"]
    return sorted((d["line"], d["code"]) for d in shown if d["severity"] == "error")


@pytest.fixture(params=["on", "off"])
def _followed(request, monkeypatch):
    monkeypatch.setenv(FOLLOW_VARIABLE, request.param)


@pytest.mark.usefixtures("_followed")
def test_it_takes_ours_where_mypy_says_it_and_is_used(folder, capsys):
    plain = SPOKEN.replace("# type: ignore", "#")
    assert {(5, "index"), (5, "tensor-dtype"), (16, "index")} <= {*errors(capsys, folder, plain)}
    for _ in range(2):  # the second time from mypy's cache
        unused = errors(capsys, folder, SPOKEN, "--", "--warn-unused-ignores")
        assert unused == [(6, "unused-ignore")], "arg-type alone"


@pytest.mark.usefixtures("_followed")
def test_ours_of_another_expression_stays(folder, capsys):
    shown = [(5, "tensor-shape"), (6, "index"), (6, "tensor-dtype"), (7, "tensor-shape"), (10, "tensor-shape")]
    assert errors(capsys, folder, SHOWN) == shown


def test_each_code_silences_where_mypy_says_it(folder, capsys, monkeypatch):
    monkeypatch.setenv(FOLLOW_VARIABLE, "on")
    assert errors(capsys, folder, MANY) == NOT_COVERED
    plain = {line for line, _ in errors(capsys, folder, MANY.replace("# type: ignore", "#"))}
    assert plain == {n for n, line in enumerate(MANY.splitlines(), 1) if "# type: ignore" in line}


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.usefixtures("_followed")
def test_the_daemon_says_the_same(folder, capsys):
    try:
        for text in (SPOKEN, SHOWN, SPOKEN):
            assert errors(capsys, folder, text, "--daemon") == errors(capsys, folder, text)
    finally:
        main(["check", "--stop"])
