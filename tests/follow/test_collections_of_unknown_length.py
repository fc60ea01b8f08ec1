"""Lists, dicts and strings of which not everything is known: what is known of them holds."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

from simpletorch.follow import follow

HEAD = """import random
from collections import defaultdict
import torch
from torch import nn
word = str(random.random())
"""

UNKNOWN_KEYS = """
groups, found = defaultdict(list), {}
for key in word:
    groups[key].append(torch.zeros(3))
    found.setdefault(key, []).append(torch.zeros(5))
a = torch.stack(groups[word[0]])
b = torch.stack(found[word[0]])
codes = {letter: i for i, letter in enumerate("0123456789.e-")}
c = torch.tensor([codes[letter] for part in word.split(".") for letter in part])
"""
PADDED = """
rows = [{"ids": [1] * random.randint(2, 7), "kind": 3} for _ in range(5)]
chosen = random.choice(rows)
a = torch.tensor(chosen["ids"] + [0] * (11 - len(chosen["ids"])))
b = torch.tensor([r["kind"] for r in rows])
"""
POPPED = """
batches = torch.utils.data.DataLoader([{"x": [1.0] * 3, "y": i} for i in range(14)], batch_size=7,
    collate_fn=lambda rows: {k: torch.tensor([r[k] for r in rows]) for k in ("x", "y")})
for batch in batches:
    y = batch.pop("y")
    x = batch["x"]
"""
OWN_ATTRIBUTES = """
class Block(nn.Sequential):
    def __init__(self, n):
        super().__init__(nn.Linear(n, n), nn.LayerNorm(n, eps=1e-3))
        self.width = n
class Norm(nn.LayerNorm):
    def forward(self, x):
        return nn.functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
block = Block(3)
a, n = block(torch.ones(5, 3)), len(block)
b = Norm(3)(a)
"""
OPTIONAL = """
try:
    from torch.nn.functional import no_such_function as f
except ImportError:
    def f(x):
        return x.sum(0)
try:
    import no_such_module_anywhere
except ImportError:
    no_such_module_anywhere = None
a = f(torch.ones(5, 3))
b = torch.ones(7) if no_such_module_anywhere is None else None
"""

REPLAYED = """
from collections import deque, namedtuple
Step = namedtuple("Step", "state action following")
memory, state = deque(maxlen=50), torch.zeros(1, 3)
while len(memory) < 40:
    following = None if random.random() < 0.3 else torch.zeros(1, 3)
    memory.append(Step(state, torch.zeros(1, 1).long(), following))
    state = torch.zeros(1, 3) if following is None else following
batch = Step(*zip(*random.sample(memory, 17)))
a, b = torch.cat(batch.state), torch.cat(batch.action)
c = nn.Linear(3, 5)(torch.cat([s for s in batch.following if s is not None])).sum(0)
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (REPLAYED, "a b c"),
        (UNKNOWN_KEYS, ""),
        (PADDED, "b"),
        (POPPED, "x y"),
        (OWN_ATTRIBUTES, "a b n"),
        (OPTIONAL, "a b"),
    ],
)
def test_what_is_known_is_what_torch_has(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_loop_over_models_that_train_follows_each(tmp_path: Path) -> None:
    program = """
for name in ("first", "second", "third", "fourth"):
    model = nn.Linear(3, {"first": 5, "second": 5, "third": 5, "fourth": 7}[name])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()
    model(torch.ones(2, 3)) @ torch.ones(5)
"""
    assert [line for line, _ in findings(HEAD + program, tmp_path)] == [11]


def test_what_a_round_leaves_to_the_next_must_suit_it(tmp_path: Path) -> None:
    program = """
layer, x = nn.Linear(3, 3), torch.ones(5, 3)
while random.random() < 0.9:
    x = layer(x).long()
"""
    assert [line for line, _ in findings(HEAD + program, tmp_path)] == [9]


ITEMS = """
import random
import torch
names = str(random.random()).split("7")
rows = [torch.zeros(random.randint(2, 9), 3) for _ in names]
pairs = [(torch.zeros(n := random.randint(2, 9)), n) for _ in names]
reveal_type(rows[0].shape == rows[-1].shape)
reveal_type(rows[0] is rows[-1])
reveal_type(rows[0].shape[1] == rows[-1].shape[1])
before, seen = torch.zeros(3), []
for row in rows:
    reveal_type(row.shape == before.shape)
    reveal_type(row is before)
    reveal_type(row.shape == row.shape)
    before = row
first, count = pairs[0]
reveal_type(pairs[0][0].shape == pairs[-1][0].shape)
reveal_type(row.t().is_contiguous())
"""


def test_items_of_a_list_of_unknown_length_are_different_ones(tmp_path: Path) -> None:
    """What is known of each of them is known, but nobody knows whether two are equal."""
    path = tmp_path / "program.py"
    path.write_text(ITEMS)
    shown = {(n.line, n.message.removeprefix('Revealed type is "').removesuffix('"')) for n in follow(path).notes}
    asked = [line for line, text in enumerate(ITEMS.split("\n"), 1) if "reveal_type" in text]
    unknown = [line for line in asked for found in [{m for n, m in shown if n == line}] if "True" not in found]
    assert unknown == [asked[i] for i in (0, 1, 3, 4, 6, 7)]


def test_what_is_done_to_an_item_is_done_to_the_list(tmp_path: Path) -> None:
    """Inputs are made to require gradients one by one, and are read of the list again."""
    source = HEAD + "rows = [torch.zeros(random.randint(2, 9)) for _ in word]\n"
    source += "for row in rows:\n    row.requires_grad_(True)\nsum(row.sum() for row in rows).backward()\n"
    assert findings(source + "print(rows[0].grad.shape == rows[0].shape)\n", tmp_path) == []
