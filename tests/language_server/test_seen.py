"""What is seen of each expression and module, for editors and diagrams."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.marks.seen import Seen, Visit

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 7), nn.ReLU())
        self.blocks = nn.ModuleList([nn.Linear(7, 7) for _ in range(2)])
        self.last = nn.Linear(7, 3)

    def forward(self, x):
        x = self.body(x)
        for block in self.blocks:
            x = block(x)
        return self.last(torch.relu(x)).t()

model = Net()
for _ in range(4):
    model(torch.zeros(11, 5))
"""


def seen_of(text: str, tmp_path: Path) -> Seen:
    program = tmp_path / "program.py"
    program.write_text(text)
    seen = follow(program, watched=True).seen
    assert seen is not None
    return seen


def shown(visit: Visit, depth: int = 0) -> list[str]:
    times = f" x{visit.times}" if visit.times > 1 else ""
    line = f"{'  ' * depth}{visit.name}:{visit.kind} {', '.join(visit.takes)} -> {visit.gives}{times}"
    return [line, *(row for inner in visit.inner for row in shown(inner, depth + 1))]


def test_each_expression_that_gives_a_tensor(tmp_path: Path):
    looks = seen_of(MODEL, tmp_path).looks
    on_line_15 = {at[1::2]: [str(look.type) for look in found] for (_, at), found in looks.items() if at[0] == 15}
    assert on_line_15 == {
        (15, 43): ["Float32[3, 11]"],
        (15, 39): ["Float32[11, 3]"],
        (25, 38): ["Float32[11, 7]"],
        (36, 37): ["Float32[11, 7]"],
    }
    ((transposed,),) = (looks[path, place] for path, place in looks if place[::2] == (15, 15) and place[3] == 43)
    assert transposed.layout == (1, 3)


def test_parameters(tmp_path: Path):
    looks = seen_of(MODEL, tmp_path).looks
    (x,) = (looks[path, place] for path, place in looks if place[0] == 11)
    assert [str(look.type) for look in x] == ["Float32[11, 5]"]


def test_which_modules_call_which(tmp_path: Path):
    (visit,) = seen_of(MODEL, tmp_path).visits
    assert shown(visit) == [
        ":Net Float32[11, 5] -> Float32[3, 11] x4",
        "  body:Sequential Float32[11, 5] -> Float32[11, 7]",
        "    0:Linear Float32[11, 5] -> Float32[11, 7]",
        "    1:ReLU Float32[11, 7] -> Float32[11, 7]",
        "  blocks.0:Linear Float32[11, 7] -> Float32[11, 7]",
        "  blocks.1:Linear Float32[11, 7] -> Float32[11, 7]",
        "  last:Linear Float32[11, 7] -> Float32[11, 3]",
    ]


def test_a_call_that_is_remembered_leads_to_the_same(tmp_path: Path):
    block = "class Block(nn.Sequential):\n    pass\n\n"
    made = "model = nn.Sequential(*[Block(nn.Linear(5, 5)) for _ in range(3)])\nmodel(torch.zeros(2, 5))\n"
    (visit,) = seen_of(f"import torch\nfrom torch import nn\n\n{block}{made}", tmp_path).visits
    assert [inner.name for inner in visit.inner] == ["0", "1", "2"]
    assert all([leaf.kind for leaf in inner.inner] == ["Linear"] for inner in visit.inner)


@pytest.mark.parametrize("program", sorted(EXAMPLES.rglob("*.py")), ids=lambda p: p.stem)
def test_who_watches_finds_the_same(program: Path):
    plain, watched = follow(program), follow(program, watched=True)
    assert watched.claims == plain.claims
    assert (watched.errors, watched.warnings, watched.faults) == (plain.errors, plain.warnings, plain.faults)
