"""`benchmarks/found.py` proves bugs by running them, and says where one no longer holds."""

from dataclasses import replace

import pytest

from benchmarks import found

SOURCE = """
import torch
from . import layers
from nowhere import Base

WIDTH = 7
same = layers.same


def linear(n):
    return torch.nn.Linear(WIDTH, n)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out = linear(11), torch.nn.Linear(13, 3)

    def forward(self, x):
        x = self.fc(x)
        return self.out(x)


unused = Base()
"""
FIND = found.Find("some-net", "1.0", "net/model.py", 21, "Net", "Net()(torch.randn(5, 7))", "11 features go into 13.")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A released package that has been fetched already."""
    monkeypatch.setattr(found, "CACHE", tmp_path)
    file = tmp_path / "some-net-1.0" / "net/model.py"
    file.parent.mkdir(parents=True)
    file.write_text(SOURCE)
    return file


def test_what_raises_in_its_line_holds_and_is_followed(package):
    proof = found.prove(FIND)
    assert proof.holds
    assert "cannot be multiplied" in proof.said
    assert proof.found.startswith("Linear(13, 3): the last dim of input is 11")


def test_what_has_been_mended_does_not_hold(package):
    package.write_text(SOURCE.replace("Linear(13, 3)", "Linear(11, 3)"))
    assert found.prove(replace(FIND, followed=False)) == found.Proof(False, "it runs")
    assert found.prove(FIND) == found.Proof(False, "following says nothing of line 21; it runs")


def test_what_raises_elsewhere_does_not_hold(package):
    proof = found.prove(replace(FIND, run="Net()(torch.randn(5, 3))", followed=False))
    assert not proof.holds
    assert proof.said.startswith("it raises at [20]: ")


def test_the_page_has_every_find():
    page = found.PAGE.read_text(encoding="utf-8")
    assert [find.place for find in found.FINDS if f"{find.package} {find.version}: `{find.place}`" not in page] == []
    assert "DOES NOT HOLD" not in page
