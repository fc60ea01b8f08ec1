"""Tensors that are written as numbers, and values that are no tensors where a tensor must be."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = "import torch\nx = torch.zeros(3, 5)\nloss = x.mean()\n"


def messages(source: str, folder: Path) -> list[str]:
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [f.message for f in found.errors]


@pytest.mark.parametrize(
    "source",
    [
        "f'{loss:.3f} {x} {x!r:>90} {x.shape} {float(loss):.2f}'",
        "'%.3f %s' % (loss, x)",
        "'%.3f' % x[:1, 0]",
        "'%d%% of %d' % (loss, 7)",
        "'%(a)s %(b)d' % {'a': x, 'b': 3}",
        "'%*d' % (5, loss)",
    ],
)
def test_what_can_be_formatted(source, tmp_path):
    assert messages(source, tmp_path) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f'{x.mean(1):.3f}'", "a tensor of shape (3,) can't be formatted as a number"),
        ("f'{x[:1, 0]:.3f}'", "a tensor of shape (1,) can't be formatted as a number"),
        ("'%.3f %s' % (x, loss)", "only a tensor of one element is a Python number"),
        ("'%.3f' % x", "only a tensor of one element is a Python number"),
        ("'%d%% of %g %g %g' % (7, *x)", "only a tensor of one element is a Python number"),
    ],
)
def test_what_cannot(source, expected, tmp_path):
    (message,) = messages(source, tmp_path)
    assert expected in message


def test_the_value_of_a_distribution_is_a_tensor(tmp_path):
    source = "d = torch.distributions.Categorical(logits=x)\nd.log_prob(d.sample())\nd.log_prob(d)\n"
    assert messages(source, tmp_path) == ["Categorical.log_prob: the value must be a tensor"]


def test_a_list_that_holds_itself_ends_nothing(tmp_path):
    source = "xs = [x]\nxs.append(xs)\ny = torch.stack(xs)\nx @ x\n"
    assert messages(source, tmp_path)[0].startswith("@")
