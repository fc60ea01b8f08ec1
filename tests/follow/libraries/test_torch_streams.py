"""Streams: a tensor that is used before anybody has waited for it."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import torch
from torch import nn
from simpletorch import cuda
x = torch.zeros(3, 5, device="cuda")
side = torch.cuda.Stream()
"""


def warned(source: str, folder: Path) -> list[int]:
    """The lines of the body at which streams are said to race."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    assert not found.errors
    assert {w.code for w in found.warnings} <= {"tensor-stream"}
    return [w.line - HEAD.count("\n") for w in found.warnings]


SIDE = "with torch.cuda.stream(side):\n    y = x * 2\n"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (SIDE + "z = y + 1\n", [3]),
        (SIDE + "print(y.item() if y.numel() == 1 else y.sum())\n", [3]),
        (SIDE + "z = nn.Linear(5, 7, device='cuda')(y)\n", [3]),
        (SIDE + "other = torch.cuda.Stream()\nwith torch.cuda.stream(other):\n    z = y @ y.T\n", [5]),
        ("z = x + 1\n" + SIDE.replace("x * 2", "z * 2"), [3]),
        ("with side:\n    y = x * 2\nz = y + 1\n", [3]),
        ("s = cuda.Stream()\nwith s:\n    y = x * 2\nz = y + 1\n", [4]),
        ("event = torch.cuda.Event()\nevent.record()\n" + SIDE + "event.wait()\nz = y + 1\n", [6]),
        (SIDE + "side.wait_stream(torch.cuda.current_stream())\nz = y + 1\n", [4]),
        (
            SIDE
            + "torch.cuda.current_stream().wait_stream(side)\nwith torch.cuda.stream(side):\n    y = y * 3\nz = y + 1\n",  # noqa: E501
            [6],
        ),
    ],
)
def test_a_race_is_found(source, lines, tmp_path):
    assert warned(source, tmp_path) == lines


@pytest.mark.parametrize(
    "source",
    [
        SIDE + "torch.cuda.current_stream().wait_stream(side)\nz = y + 1\n",
        SIDE + "side.synchronize()\nz = y + 1\n",
        SIDE + "torch.cuda.synchronize()\nz = y + 1\n",
        SIDE + "event = side.record_event()\ntorch.cuda.current_stream().wait_event(event)\nz = y + 1\n",
        SIDE + "event = torch.cuda.Event()\nevent.record(side)\nevent.synchronize()\nz = y + 1\n",
        "with torch.cuda.stream(side):\n    y = x * 2\n    n = y.sum().item()\nz = y + 1\n",
        "z = x + 1\nside.wait_stream(torch.cuda.current_stream())\n" + SIDE.replace("x * 2", "z * 2"),
        # through a third stream that has waited
        "third = torch.cuda.Stream()\n" + SIDE + "third.wait_stream(side)\n"
        "torch.cuda.current_stream().wait_stream(third)\nz = y + 1\n",
        SIDE.replace("x * 2", "torch.zeros(3)") + "z = y + 1\n",  # who knows where
        "c = torch.zeros(3, device='cpu')\n" + SIDE.replace("x * 2", "c * 2") + "z = y + 1\n",
        "with torch.cuda.stream(None):\n    y = x * 2\nz = y + 1\n",
        "pending = cuda.Stream().run(torch.add, x, 1)\nz = pending.wait() + 1\n",
        "pending = cuda.Stream().run(torch.add, x, 1)\nz = pending.synchronize() + 1\n",
        SIDE + "unknown(side)\nz = y + 1\n".replace("unknown", "__import__('somewhere').wait"),
        # the prefetcher that everybody writes
        "class Prefetcher:\n"
        "    def __init__(self, batches):\n"
        "        self.batches, self.stream = iter(batches), torch.cuda.Stream()\n"
        "        self.preload()\n"
        "    def preload(self):\n"
        "        self.next = next(self.batches, None)\n"
        "        if self.next is None:\n"
        "            return\n"
        "        with torch.cuda.stream(self.stream):\n"
        "            self.next = self.next.to('cuda', non_blocking=True) / 255\n"
        "    def get(self):\n"
        "        torch.cuda.current_stream().wait_stream(self.stream)\n"
        "        batch = self.next\n"
        "        self.preload()\n"
        "        return batch\n"
        "p = Prefetcher([torch.ones(3, 5)] * 4)\n"
        "while (batch := p.get()) is not None:\n"
        "    z = batch @ x.T\n",
    ],
)
def test_who_waits_is_not_warned(source, tmp_path):
    assert warned(source, tmp_path) == []


def test_the_warning_names_both_sides(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + SIDE + "z = y + 1\n")
    (warning,) = follow(path).warnings
    expected = (
        "__add__ runs on the default stream, but Float32[3, 5] is computed on a stream, for which it has not waited"
    )
    assert warning.message.endswith(expected.partition("runs")[2])
    assert "wait_stream" in (warning.hint or "")


def test_buffers_of_a_pool_have_the_sizes_that_are_asked_for(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        HEAD + "pool = cuda.TensorPool(debug=True)\nwith pool:\n    a = pool.get(3, 5)\n"
        "with pool.borrowed(7, 11, dtype=torch.int64) as b:\n    reveal_type(b)\n"
        "reveal_type(pool.get([13, 3], torch.int32))\n"
        "reveal_type(cuda.pinned((a, 'text'))[0])\nreveal_type(cuda.channels_last(torch.zeros(2, 3, 5, 7)))\na @ a\n"
    )
    found = follow(path)
    assert not found.faults
    shown = [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in found.notes]
    assert shown == ["Int64[7, 11]", "Int32[13, 3]", "Float32[3, 5]", "Float32[2, 3, 5, 7]"]
    assert [e.line - HEAD.count("\n") for e in found.errors] == [9]
