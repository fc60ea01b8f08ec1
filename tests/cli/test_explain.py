"""`simpletorch explain`, and the links that lead from findings to the pages of their codes."""

from __future__ import annotations

import sys

import pytest

from simpletorch._distribution import page_of
from simpletorch.cli import main
from simpletorch.cli._run import Diagnostic
from simpletorch.cli._show import show_one
from simpletorch.rules.core.codes import CODES

PROGRAM = "import torch\n\ntorch.zeros(5, 7) @ torch.zeros(11, 3)\n"


def in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal that knows links; in the test itself, as pytest replaces it after fixtures."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def link(code: str) -> str:
    """The file that a link leads to."""
    page = page_of(code)
    assert page is not None
    return page.as_uri()


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_its_page(code, capsys):
    assert main(["explain", code]) == 0
    assert capsys.readouterr().out.startswith(f"# `{code}`: ")


@pytest.mark.parametrize("word", ["layout", "[tensor-layout]"])
def test_a_code_may_be_given_as_it_is_read(word, capsys):
    assert main(["explain", word]) == 0
    assert capsys.readouterr().out.startswith("# `tensor-layout`: ")


def test_in_a_terminal_the_page_is_set(monkeypatch, capsys):
    in_a_terminal(monkeypatch)
    assert main(["explain", "tensor-layout"]) == 0
    shown = capsys.readouterr().out
    assert " of what was transposed" in shown
    assert "```" not in shown


def test_without_a_code_all_are_listed(capsys):
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CODES)


def test_another_code_is_refused(capsys):
    assert main(["explain", "arg-type"]) == 2
    assert "there is no code arg-type; simpletorch explain lists them" in capsys.readouterr().err
    assert main(["explain", "tensor-layut"]) == 2
    assert "there is no code tensor-layut; did you mean tensor-layout?" in capsys.readouterr().err


def test_findings_link_to_their_page_in_a_terminal(monkeypatch, tmp_path, capsys):
    in_a_terminal(monkeypatch)
    (tmp_path / "net.py").write_text(PROGRAM)
    assert main(["follow", str(tmp_path / "net.py")]) == 1
    assert f";{link('tensor-shape')}\x1b\\" in capsys.readouterr().out
    show_one([Diagnostic("net.py", 3, 1, 3, 5, "error", "sizes differ", "tensor-shape")])
    assert f";{link('tensor-shape')}\x1b\\" in capsys.readouterr().out


def test_elsewhere_findings_are_plain_text(tmp_path, capsys):
    (tmp_path / "net.py").write_text(PROGRAM)
    assert main(["follow", str(tmp_path / "net.py")]) == 1
    assert "\x1b" not in capsys.readouterr().out
