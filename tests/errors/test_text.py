"""How an error is shown: in a terminal's colours, in a notebook, in a log."""

from __future__ import annotations

import json
import pickle
import traceback
from html.parser import HTMLParser
from io import StringIO

import pytest
import torch
from rich.console import Console

from simpletorch import nn
from simpletorch.errors import CheckpointError, Location, Operand, ShapeMismatch, TorchError, as_also, explain


def failed() -> TorchError:
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(7, 2))
    with pytest.raises(TorchError) as caught, explain():
        model(torch.zeros(11, 3))
    return caught.value


def test_a_terminal_shows_the_same_words():
    error = failed()
    out = StringIO()
    Console(file=out, width=200).print(error)
    shown = out.getvalue()
    assert shown.startswith("ShapeMismatch: Linear(7, 2): the last dim of input is 5, but the layer takes 7 features")
    for line in str(error).splitlines()[1:3]:
        assert line in shown
    assert "in model.1" in shown
    assert "hint: Linear(5, 2) would fit" in shown


def test_a_terminal_underlines_what_failed():
    out = StringIO()
    Console(file=out, width=200, force_terminal=True, color_system="standard").print(failed())
    assert "\x1b[4mmodel(torch.zeros(11, 3))\x1b[0m" in out.getvalue()


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.parts.append(data)


def test_a_notebook_shows_a_table_of_the_operands():
    html = failed()._repr_html_()
    text = Text()
    text.feed(html)
    assert text.open == []
    assert "Linear(7, 2): the last dim of input is 5, but the layer takes 7 features" in html
    assert html.count("<tr>") == 2
    assert "Float32[11, 5]" in text.parts
    assert "<u>model(torch.zeros(11, 3))</u>" in html


def test_html_of_the_program_is_escaped():
    error = ShapeMismatch(
        3,
        5,
        "<b>",
        operands=[Operand("<script>", "Float32", (3,), "cpu", should_be="<i>")],
        location=Location("<f>", 3, "x < y", expression="x < y"),
        module_path="<m>",
        hint="<h>",
        details=["<d>"],
    )
    html = error._repr_html_()
    for tag in ("<script>", "<f>", "<m>", "<h>", "<d>", "x < y"):
        assert tag not in html
    assert "&lt;script&gt;" in html


def test_details_are_listed_everywhere():
    error = CheckpointError(
        "it doesn't fit", missing=["a.weight", "b.bias"], details=["missing  a.weight", "missing  b.bias"]
    )
    assert str(error) == "it doesn't fit\n  missing  a.weight\n  missing  b.bias"
    assert error._repr_html_().count("<li>") == 2
    assert "b.bias" in error.__rich__().plain
    assert error.to_dict()["missing"] == ("a.weight", "b.bias")


def test_a_log_takes_the_fields_as_they_are():
    logged = json.loads(json.dumps(failed().to_dict()))
    assert logged["kind"] == "ShapeMismatch"
    assert logged["operands"][0] == {
        "name": "input",
        "dtype": "Float32",
        "shape": [11, 5],
        "device": "cpu",
        "text": "",
        "should_be": None,
        "role": None,
    }
    assert logged["location"]["expression"] == "model(torch.zeros(11, 3))"
    assert logged["cause"] == "mat1 and mat2 shapes cannot be multiplied (11x5 and 7x2)"


def test_the_class_of_an_error_crosses_process_borders_too():
    cls = as_also(ShapeMismatch, IndexError)
    assert pickle.loads(pickle.dumps(cls)) is cls
    assert pickle.loads(pickle.dumps(ShapeMismatch)) is ShapeMismatch


def test_an_error_built_from_a_workers_text_shows_it():
    cls = as_also(ShapeMismatch, IndexError)
    assert str(cls(message="Caught ShapeMismatch in DataLoader worker process 0.")) == (
        "Caught ShapeMismatch in DataLoader worker process 0."
    )


def test_the_traceback_ends_in_the_program_and_shows_torchs_error_first():
    error = failed()
    shown = "".join(traceback.format_exception(error))
    first, _, second = shown.partition("direct cause")
    assert "mat1 and mat2 shapes cannot be multiplied" in first
    assert "Traceback" not in first  # shown once, with the explanation
    assert "simpletorch/errors/_explanation" not in second
