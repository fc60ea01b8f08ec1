"""HTML views: what IPython shows while the extension is loaded, and short tracebacks."""

from __future__ import annotations

import math
import random
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from simpletorch._drawing import bars, curves, picture
from simpletorch.notebook import load_ipython_extension, unload_ipython_extension
from simpletorch.train import Epoch


@pytest.fixture
def shell(tmp_path):
    made = InteractiveShell(ipython_dir=str(tmp_path))
    made.colors = "nocolor"
    load_ipython_extension(made)
    yield made
    unload_ipython_extension(made)


def views(shell, value):
    """What IPython would show of a value, by kind of text."""
    return shell.display_formatter.format(value)[0]


class Balance(HTMLParser):
    """Whether each element that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(page: str) -> str:
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    return page


# -- tensors ----------------------------------------------------------------------------------------------------------


def test_a_tensor(shell):
    shown = views(shell, torch.tensor([[1.0, 3.0], [math.nan, math.inf]], requires_grad=True))
    page = checked(shown["text/html"])
    assert "Float32[2, 2]" in page
    assert "requires a gradient" in page
    assert "1 to 3, mean 2, 1 NaN, 1 infinite" in page
    assert shown["text/plain"].startswith("tensor([[1., 3.]")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (torch.zeros(0, 3), "empty"),
        (torch.tensor(5), "5 to 5, mean 5"),
        (torch.tensor([True, False]), "0 to 1"),
        (torch.tensor([3 + 4j]), "5 to 5"),
        (torch.zeros(3, dtype=torch.bfloat16), "BFloat16[3]"),
        (torch.full((2,), math.nan), "2 NaN"),
    ],
)
def test_tensors_of_all_kinds(shell, value, told):
    assert told in checked(views(shell, value)["text/html"])


@pytest.mark.parametrize(
    "value",
    [torch.zeros(3).to_sparse(), torch.zeros(3, device="meta"), nn.LazyLinear(3), [3, 5], []],
    ids=["sparse", "meta", "lazy", "list", "empty list"],
)
def test_what_has_no_view_is_text(shell, value):
    assert list(views(shell, value)) == ["text/plain"]


def test_pictures(shell):
    assert views(shell, torch.rand(3, 16, 16))["text/html"].count("data:image/png") == 1
    assert views(shell, torch.rand(11, 1, 16, 16))["text/html"].count("data:image/png") == 8
    assert "<svg" in views(shell, torch.rand(16, 16))["text/html"]


def test_a_picture_is_what_it_shows():
    pillow = pytest.importorskip("PIL.Image")
    import base64
    import io

    page = picture(bytes(range(18)), 3, 2, grey=False)
    data = base64.b64decode(page.partition("base64,")[2].partition('"')[0])
    assert np.asarray(pillow.open(io.BytesIO(data))).tolist() == np.arange(18).reshape(2, 3, 3).tolist()


def test_a_large_tensor_is_looked_at_in_a_sample(shell):
    shown = views(shell, torch.zeros(1).expand(50_000, 50_000))["text/html"]  # 10 GB, if it were copied
    assert "of its numbers" in shown


def test_nothing_is_drawn_from_the_random_numbers(shell):
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tobytes()
    views(shell, torch.ones(3000, 300))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (random.getstate(), np.random.get_state()[1].tobytes())


# -- modules and epochs -----------------------------------------------------------------------------------------------


def test_a_module(shell):
    model = nn.Sequential(nn.Linear(3, 5), nn.Sequential(nn.ReLU(), nn.Linear(5, 2)))
    model[0].requires_grad_(False)
    page = checked(views(shell, model)["text/html"])
    assert "32 parameters, 12 trained" in page
    assert "Linear(in_features=3, out_features=5, bias=True)" in page


def test_epochs(shell):
    epochs = [Epoch(n, 3 / n, {"loss": 5 / n, "<hit>": 0.5}, 0.1, 7, 2, 0.3) for n in (1, 2, 3)]
    page = checked(views(shell, epochs)["text/html"])
    assert page.count("<tr>") == 4
    assert "validation &lt;hit&gt;" in page
    assert page.count("<polyline") == 2


def test_curves_leave_out_what_is_not_finite():
    assert "nan" not in curves({"loss": [1.0, math.nan, math.inf, 2.0]})
    assert curves({"loss": [math.nan]}) == ""
    assert bars([]).startswith("<svg")


def test_the_colours_are_those_of_the_page(shell):
    for value in (torch.rand(5), nn.Linear(3, 5), [Epoch(1, 3.0, {}, 0.1, 7, 2, 0.3)]):
        page = views(shell, value)["text/html"]
        assert "color:inherit" in page
        assert "white" not in page
        assert "black" not in page


def test_unloading_takes_the_views_off(tmp_path):
    made = InteractiveShell(ipython_dir=str(tmp_path))
    load_ipython_extension(made)
    unload_ipython_extension(made)
    for value in (torch.zeros(3), nn.ReLU(), [Epoch(1, 3.0, {}, 0.1, 7, 2, 0.3)]):
        assert list(views(made, value)) == ["text/plain"]


# -- tracebacks -------------------------------------------------------------------------------------------------------


FAILS = """import torch
from torch import nn
m = nn.Sequential(nn.Linear(3, 5), nn.Unflatten(1, (2, 3)))
m(torch.zeros(2, 3))"""


def test_tracebacks_are_short(shell, capsys):
    shell.run_cell("%simpletorch off")
    shell.run_cell(FAILS, store_history=True)
    short = capsys.readouterr().out
    assert "---> 4 m(torch.zeros(2, 3))" in short
    assert "RuntimeError" in short
    assert "site-packages" not in short
    shell.run_cell("%tb")
    assert "site-packages" in capsys.readouterr().out


@pytest.mark.parametrize(
    "source", ["x = = 3", "%no_such_magic", "raise ValueError('own')", "import json\njson.loads('{')"]
)
def test_other_errors_are_shown_as_ever(shell, capsys, source):
    shell.run_cell(source, store_history=True)
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    assert any(name in shown for name in ("SyntaxError", "UsageError", "ValueError: own", "JSONDecodeError"))
    assert "Handler failed" not in shown


def test_a_handler_of_the_user_s_stays(tmp_path):
    made = InteractiveShell(ipython_dir=str(tmp_path))
    made.set_custom_exc((KeyError,), lambda *args, **kwargs: None)
    load_ipython_extension(made)
    assert made.custom_exceptions == (KeyError,)
    unload_ipython_extension(made)
    assert made.custom_exceptions == (KeyError,)
