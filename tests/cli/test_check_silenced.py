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


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.usefixtures("_followed")
def test_the_daemon_says_the_same(folder, capsys):
    try:
        for text in (SPOKEN, SHOWN, SPOKEN):
            assert errors(capsys, folder, text, "--daemon") == errors(capsys, folder, text)
    finally:
        main(["check", "--stop"])
