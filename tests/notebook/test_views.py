"""HTML views: what IPython shows while the extension is loaded, and short tracebacks."""

from __future__ import annotations

import base64
import io
import math
import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from simpletorch._drawing import AMBER, BLUE, RED, bars, curves, picture
from simpletorch.data import Digits, Subset, Table, TensorDataset
from simpletorch.metrics import ConfusionMatrix
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
        (torch.tensor(5), ">5<"),
        (torch.tensor([5, 5]), ">all 5<"),
        (torch.tensor([5, math.nan]), ">5, 1 NaN<"),
        (torch.tensor([True, False, True]), ">2 of 3 are true<"),
        (torch.tensor([3 + 4j]), ">absolute values: 5<"),
        (torch.tensor([3 + 4j, 1]), ">absolute values: 1 to 5, mean 3<"),
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

    page = picture(bytes(range(18)), 3, 2, grey=False)
    data = base64.b64decode(page.partition("base64,")[2].partition('"')[0])
    assert np.asarray(pillow.open(io.BytesIO(data))).tolist() == np.arange(18).reshape(2, 3, 3).tolist()


def test_a_large_tensor_is_looked_at_in_a_sample(shell):
    shown = views(shell, torch.zeros(1).expand(50_000, 50_000))["text/html"]  # 10 GB, if it were copied
    assert "of its numbers" in shown


def test_nothing_is_drawn_from_the_random_numbers(shell):
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tobytes()
    views(shell, torch.ones(3000, 300))
    views(shell, Numbers(5))
    views(shell, [torch.ones(3000, 300)])
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


class Own(nn.Linear):
    def _repr_html_(self):
        return "<b>own</b>"


def test_a_class_s_own_view_is_kept(shell):
    assert views(shell, Own(3, 5))["text/html"] == "<b>own</b>"


# -- datasets ---------------------------------------------------------------------------------------------------------


class Numbers(torch.utils.data.Dataset):
    """Samples of a class that somebody has written, with chance in them."""

    def __init__(self, length, fails_at=None):
        self.length, self.fails_at, self.read = length, fails_at, []

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        self.read.append(index)
        if index == self.fails_at:
            raise ValueError("<no> such file")
        noise = torch.rand(1).item() + random.random() + np.random.rand()
        return {"x": torch.full((7,), 3.5), "name": f"<{index}>", "noise": noise}


def test_a_dataset_of_images_is_a_grid(shell):
    data = TensorDataset(torch.rand(31, 1, 8, 8), torch.arange(31))
    page = checked(views(shell, data)["text/html"])
    assert "<b>TensorDataset</b> 31 samples of (Float32[1, 8, 8], Int64[])" in page
    assert page.count("data:image/png") == 12
    assert "<div>11</div>" in page
    assert views(shell, data)["text/plain"] == "TensorDataset: 31 samples of (Float32[1, 8, 8], Int64[])"


def test_classes_have_their_names_behind_parts_and_caches(shell):
    pytest.importorskip("sklearn")
    data = Digits(train=False)
    data.classes = tuple("abcdefghij")
    first = "abcdefghij"[int(data[5][1])]
    for view in (Subset(data, [5, 3]), torch.utils.data.Subset(data, [5, 3]), Subset(data, [5, 3]).cache()):
        assert f"<div>{first}</div>" in views(shell, view)["text/html"]
    mapped = Subset(data, [5, 3]).map(lambda sample: (sample[0], (sample[1] + 1) % 10))  # other numbers
    assert f"<div>{first}</div>" not in views(shell, mapped)["text/html"]


def test_a_table_s_columns_have_their_names(shell):
    columns = {"height": np.array([1.5, 2.5, 3.5]), "<w>": np.array([5.0, 7.0, 11.0])}
    page = checked(views(shell, Table(columns, np.array(["cat", "dog", "cat"])))["text/html"])
    for told in (">height<", ">&lt;w&gt;<", ">2.5<", ">11<", ">target<", ">dog<", "(Float32[2], Int64[])"):
        assert told in page


def test_a_dataset_of_one_s_own(shell):
    page = checked(views(shell, Numbers(5))["text/html"])
    assert "5 samples of {x: Float32[7], name: str, noise: float}" in page
    assert "3.5 3.5 3.5 3.5 3.5 3.5 …" in page
    assert "&lt;3&gt;" in page


def test_samples_that_fail_are_told(shell):
    shown = views(shell, Numbers(5, fails_at=2))
    assert "sample 2: " in checked(shown["text/html"])
    assert "ValueError: &lt;no&gt; such file" in shown["text/html"]
    assert shown["text/plain"] == "Numbers: 5 samples of {x: Float32[7], name: str, noise: float}"
    assert (
        views(shell, Numbers(5, fails_at=0))["text/plain"]
        == "Numbers: 5 samples (sample 0: ValueError: <no> such file)"
    )


def test_a_dataset_that_takes_long_is_read_once(shell, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    data = Numbers(5)
    views(shell, data)
    assert data.read == [0, 0]  # for the page, and for the text


def test_sizes_that_differ_and_images_of_other_kinds(shell):
    pillow = pytest.importorskip("PIL.Image")
    data = [(pillow.new("RGB", (16, 13 + i), (200, 30, 40)), torch.zeros(3, 5 + i)) for i in range(3)]
    page = checked(views(shell, Listed(data))["text/html"])
    assert "(Image, Float32[3, …])" in page
    assert page.count("data:image/png") == 3
    page = checked(views(shell, Listed([(np.zeros((17, 13, 3), np.uint8), np.int64(5))]))["text/html"])
    assert "data:image/png" in page
    assert "<div>5</div>" in page


def test_long_samples_are_short(shell):
    tokens = Listed([{"ids": list(range(100_000)), "text": "word " * 100_000}])
    page = checked(views(shell, tokens)["text/html"])
    assert "{ids: list[int], text: str}" in page
    assert "0 1 2 3 4 5 …" in page
    assert len(page) < 5_000
    wide = Listed([{f"c{i}": i for i in range(1_000)}, {f"c{i}": i for i in range(1_000)}])
    assert len(checked(views(shell, wide)["text/html"])) < 10_000
    rows = Listed([[3, 5, 7]])
    assert ">3 5 7<" in checked(views(shell, rows)["text/html"])


class Listed(torch.utils.data.Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        raise AssertionError("read")


class Endless(torch.utils.data.Dataset):
    def __getitem__(self, index):
        raise AssertionError("read")


@pytest.mark.parametrize("value", [Stream(), Endless(), torch.utils.data.Subset(Stream(), [3])])
def test_streams_are_left_alone(shell, value):
    shown = views(shell, value)
    assert shown["text/plain"] == repr(value) or "Subset" in shown["text/plain"]


def test_an_empty_dataset(shell):
    assert views(shell, Numbers(0))["text/plain"] == "Numbers: 0 samples"
    assert "0 samples" in checked(views(shell, Numbers(0))["text/html"])


# -- batches ----------------------------------------------------------------------------------------------------------


def test_a_batch(shell):
    batch = [torch.rand(11, 3, 16, 16), torch.arange(11)]
    shown = views(shell, batch)
    page = checked(shown["text/html"])
    assert "Float32[11, 3, 16, 16]" in page
    assert "0 to 10, mean 5" in page
    assert page.count("data:image/png") == 8
    assert shown["text/plain"].startswith("[tensor(")


def test_a_batch_of_names_in_names(shell):
    page = checked(views(shell, {"<ids>": torch.arange(35).view(5, 7), "more": (torch.ones(5), 3, None)})["text/html"])
    for told in ("<b>&lt;ids&gt;</b>", "<b>more.0</b>", "0 1 2 3 4 5 …", "the first 5 along dim 0"):
        assert told in page


def test_rows_are_shown_where_there_are_as_many_of_each(shell):
    page = checked(views(shell, (torch.ones(5, 7), torch.ones(3)))["text/html"])
    assert "Float32[5, 7]" in page
    assert "along dim 0" not in page
    state = checked(views(shell, nn.Linear(3, 5).state_dict())["text/html"])
    assert "<b>weight</b>" in state
    assert "along dim 0" not in state


@pytest.mark.parametrize(
    "value", [{}, (), (3, 5), {"loss": torch.tensor(3.0)}, (torch.ones(3), object()), {"x": [torch.ones(3), {1}]}]
)
def test_what_is_no_batch_is_text(shell, value):
    assert list(views(shell, value)) == ["text/plain"]


def test_a_batch_of_tensors_without_numbers(shell):
    page = checked(views(shell, (torch.ones(3, device="meta"), torch.ones(3).to_sparse()))["text/html"])
    assert "meta" in page
    assert "mean" not in page


def test_a_large_batch_is_looked_at_in_samples(shell):
    large = torch.zeros(1).expand(50_000, 50_000)
    assert "of its numbers" in views(shell, (large, large))["text/html"]


# -- confusion matrices -----------------------------------------------------------------------------------------------


def confusion(classes: int) -> ConfusionMatrix:
    metric = ConfusionMatrix(classes)
    metric.update(torch.tensor([0, 1, 2, 2, 2]), torch.tensor([0, 1, 2, 2, 1]))
    return metric


def test_a_confusion_matrix(shell):
    shown = views(shell, confusion(3))
    page = checked(shown["text/html"])
    assert "5 in 3 classes, 80.0% right" in page
    assert page.count("rgba(9,105,218") == 3
    assert page.count("rgba(209,36,47") == 1
    assert "67%" in page  # precision of class 2: taken for it three times, twice rightly
    assert shown["text/plain"].splitlines() == [
        "ConfusionMatrix: 5 in 3 classes, 80.0% right",
        "   0 1 2",
        " 0 1 0 0",
        " 1 0 1 1",
        " 2 0 0 2",
    ]


def test_many_classes_are_a_picture_and_the_worst_pairs(shell):
    shown = views(shell, confusion(101))
    page = checked(shown["text/html"])
    assert "data:image/png" in page
    assert page.count("<tr>") == 2
    assert "1  1 taken for 2" in shown["text/plain"]


def test_of_nothing(shell):
    assert "0 in 7 classes" in checked(views(shell, ConfusionMatrix(7))["text/html"])


def test_ranks_are_not_waited_for(shell, monkeypatch):
    monkeypatch.setattr(ConfusionMatrix, "compute", lambda self: pytest.fail("asks the other ranks"))
    assert "5 in 3" in views(shell, confusion(3))["text/html"]


def test_a_pair_that_is_mixed_up_shows_in_the_picture_of_many_classes(shell):
    pillow = pytest.importorskip("PIL.Image")
    metric = ConfusionMatrix(1001)
    metric.update(torch.tensor([601]), torch.tensor([502]))
    page = views(shell, metric)["text/html"]
    assert 'width="256"' in page  # one pixel of 40 would be too small to be seen
    found = re.search(r'base64,([^"]+)', page)
    image = pillow.open(io.BytesIO(base64.b64decode(found[1])))
    assert image.size == (251, 251)
    assert [at for at in range(251 * 251) if image.tobytes()[at]] == [502 // 4 * 251 + 601 // 4]


# -- drawings ---------------------------------------------------------------------------------------------------------


def test_curves_leave_out_what_is_not_finite():
    assert "nan" not in curves({"loss": [1.0, math.nan, math.inf, 2.0]})
    assert curves({"loss": [math.nan]}) == ""
    assert curves({"loss": [3.0], "validation loss": [math.nan, 2.0]}) == ""  # no line, only an empty frame
    assert bars([]).startswith("<svg")


def test_the_colours_are_those_of_the_page(shell):
    epochs = [Epoch(1, 3.0, {}, 0.1, 7, 2, 0.3)]
    batch = (torch.rand(3, 5), torch.arange(3))
    for value in (torch.rand(5), nn.Linear(3, 5), epochs, batch, TensorDataset(*batch), ConfusionMatrix(3)):
        page = views(shell, value)["text/html"]
        assert "color:inherit" in page
        assert not re.search(r"\b(white|black)\b(?!-)|#(000|fff)", page)


def luminance(colour: str) -> float:
    """Source: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", [RED, AMBER, BLUE])
def test_coloured_words_are_readable_on_light_and_on_dark(colour):
    assert (luminance("#ffffff") + 0.05) / (luminance(colour) + 0.05) > 4
    assert (luminance(colour) + 0.05) / (luminance("#111111") + 0.05) > 4


def test_unloading_takes_the_views_off(tmp_path):
    values = (torch.zeros(3), nn.ReLU(), [Epoch(1, 3.0, {}, 0.1, 7, 2, 0.3)], Numbers(3), ConfusionMatrix(3), ())
    made = InteractiveShell(ipython_dir=str(tmp_path))
    before = [views(made, value) for value in values]
    load_ipython_extension(made)
    assert [views(made, value) for value in values] != before
    unload_ipython_extension(made)
    assert [views(made, value) for value in values] == before
    assert [list(shown) for shown in before] == [["text/plain"]] * len(values)


# -- tracebacks -------------------------------------------------------------------------------------------------------


FAILS = """import torch
from torch import nn
m = nn.Sequential(nn.Linear(3, 5), nn.Unflatten(1, (2, 3)))
m(torch.zeros(2, 3))"""


def test_the_traceback_of_an_interrupt_is_short_too(shell, capsys):
    source = "import torch\ndef stop(m, i):\n    raise KeyboardInterrupt\n"
    source += "net = torch.nn.ReLU()\nnet.register_forward_pre_hook(stop)\nnet(torch.zeros(3))"
    shell.run_cell(source, store_history=True)
    said = capsys.readouterr().out
    assert "KeyboardInterrupt" in said
    assert "in stop" in said
    assert "module.py" not in said


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
