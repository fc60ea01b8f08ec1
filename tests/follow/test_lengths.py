"""How long texts, lists and samples are of which nobody knows which they are: between which numbers."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

from simpletorch.follow import follow

HEAD = """import datetime
import random
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset
random.seed(0)
torch.manual_seed(0)
n = random.randint(3, 7)
text = "".join(random.choices("abc", k=random.randint(2, 5)))
word = random.choice(["red", "yellow", "blue"])
rows = [torch.zeros(k, 11) for k in (5, 8, 6)]
row = rows[random.randrange(3)]
day = datetime.date(1970, 1, 1) + datetime.timedelta(days=random.randrange(20000))
"""
SHOWN = {
    "torch.zeros(n)": "Float32[3..7]",
    "torch.zeros(n) + torch.ones(n)": "Float32[3..7]",
    "torch.zeros(len(text))": "Float32[2..5]",
    "torch.zeros(len(text.lower()))": "Float32[2..5]",
    "torch.tensor([1 for c in text])": "Int64[2..5]",
    "torch.cat([torch.zeros(13, 3) for c in text])": "Float32[26..65, 3]",
    "torch.stack([torch.zeros(13, 3) for c in text], 1)": "Float32[13, 2..5, 3]",
    "torch.tensor([0] + [1 for c in text] + [2])": "Int64[4..7]",
    "torch.tensor([1 for c in text] + [0] * (11 - len(text)))": "Int64[11]",
    "torch.tensor([1 for c in text[:3]])": "Int64[2..3]",
    "torch.tensor([1 for c in text][:3])": "Int64[2..3]",
    "torch.tensor([1 for c in text][:7])": "Int64[2..5]",
    "torch.zeros(len(text + word))": "Float32[5..11]",
    "torch.zeros(len('-'.join([word, word])))": "Float32[7..13]",
    "torch.zeros(len(word))": "Float32[3..6]",
    "torch.zeros(len(word[0]))": "Float32[1]",
    "torch.stack([torch.zeros(13) for _ in range(n)])": "Float32[3..7, 13]",
    "torch.stack([torch.zeros(13) for _ in torch.zeros(n, 3)])": "Float32[3..7, 13]",
    "row": "Float32[5..8, 11]",
    "torch.cat([row, row])": "Float32[10..16, 11]",
    "random.choice(rows)": "Float32[5..8, 11]",
    "sorted(rows, key=lambda r: random.random())[0]": "Float32[5..8, 11]",
    "torch.zeros(len(day.isoformat()))": "Float32[10]",
    "torch.zeros(len(day.strftime('%d.%m.%y')))": "Float32[8]",
    "torch.zeros(len(day.strftime('%d %B %Y')))": "Float32[9..]",
}


@pytest.mark.parametrize(("made", "shown"), SHOWN.items(), ids=SHOWN)
def test_what_is_known_is_what_torch_has(made, shown, tmp_path):
    agrees(f"{HEAD}x = {made}\n", tmp_path)
    path = tmp_path / "shown.py"
    path.write_text(f"{HEAD}reveal_type({made})\n")
    assert [n.message for n in follow(path).notes] == [f'Revealed type is "{shown}"']


DIFFERENT = [
    "len(random.choice(words)) == len(words[0])",
    "len(random.choice(words)) == len(random.choice(words))",
    "len(words[random.randrange(3)]) == len(words[0])",
    "torch.zeros(random.randint(2, 5)).shape == torch.zeros(random.randint(2, 5)).shape",
    "rows[random.randrange(3)].shape == row.shape",
    "rows[random.randrange(3)].shape == rows[0].shape",
    "sorted(rows, key=lambda r: random.random())[0].shape == row.shape",
    "len(before) == len(later)",
    "len(left) == n",
    "torch.zeros(first).shape == torch.zeros(second).shape",
]
SAME = [
    "torch.zeros(n).shape == torch.ones(n).shape",
    "len(text) == torch.tensor([1 for c in text]).shape[0]",
    "len(text + text) == 2 * len(text)",
    "row.shape == row.clone().shape",
    "len(text) < 7",
    "torch.zeros(n).shape[0] > 2",
]
WORDS = """words = ["".join(random.choices("abc", k=random.randint(2, 5))) for _ in range(3)]
before = later = words[0]
first = second = random.randint(2, 5)
begun = iter(range(n))
next(begun)
left = [i for i in begun]
for _ in range(int(input())):
    later = random.choice(words)
    second = random.randint(2, 5)
"""


@pytest.mark.parametrize(("asked", "known"), [*((a, False) for a in DIFFERENT), *((a, True) for a in SAME)])
def test_two_of_a_kind_are_not_one(asked, known, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"{HEAD}{WORDS}reveal_type({asked})\n")
    (note,) = follow(path).notes
    assert (note.message == 'Revealed type is "True"') is known


@pytest.mark.parametrize(
    "wrong",
    [
        "torch.zeros(len(text), 3) + torch.zeros(7, 3)",
        "torch.nn.Linear(13, 3)(torch.zeros(2, n))",
        "torch.cat([row, row]) + torch.zeros(9, 1)",
        "pad_sequence([torch.zeros(8 * random.randint(2, 5)) for _ in range(3)], True) + torch.zeros(3, 7)",
    ],
)
def test_a_size_outside_is_found(wrong, tmp_path):
    assert findings(f"{HEAD}x = {wrong}\n", tmp_path)


SAMPLES = """class Samples(Dataset):
    def __init__(self):
        self.rows = ROWS
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return ITEM
def collate(rows):
    return pad_sequence([x for x, _ in rows], batch_first=True), torch.tensor([y for _, y in rows])
for x, y in DataLoader(Samples(), OPTIONS):
    print(x.shape, y.shape)
"""
DRAWN = "[torch.zeros(random.randint(2, 29), 3) for _ in range(70)]"
UNEVEN = {
    "rows by chance": (DRAWN, "self.rows[i], i", "batch_size=7, shuffle=True"),
    "rows that are written out": ("[torch.zeros(2 + i % 5, 3) for i in range(70)]", "self.rows[i], i", "7, True"),
    "columns": ("[torch.zeros(3, random.randint(2, 29)) for _ in range(70)]", "self.rows[i], i", "7, True"),
    "texts": (
        "[''.join(random.choices('ab', k=random.randint(2, 29))) for _ in range(70)]",
        "torch.tensor([ord(c) for c in self.rows[i]]), i",
        "7, shuffle=True",
    ),
    "drawn for each": ("list(range(70))", "torch.zeros(random.randint(2, 29)), i", "7, shuffle=True"),
    "lengths": (
        "[random.randint(2, 29) for _ in range(70)]",
        "torch.arange(self.rows[i]), self.rows[i]",
        "batch_size=7, shuffle=True",
    ),
}
EVEN = {
    "padded by a function": (DRAWN, "self.rows[i], i", "batch_size=7, shuffle=True, collate_fn=collate"),
    "one by one": (DRAWN, "self.rows[i], i", "batch_size=1, shuffle=True"),
    "cut": (DRAWN, "self.rows[i][:2], i", "batch_size=7, shuffle=True"),
    "of one size that is drawn": ("torch.zeros(70, random.randint(2, 29))", "self.rows[i], i", "7, shuffle=True"),
    "padded in the dataset": (
        DRAWN,
        "torch.cat([self.rows[i], torch.zeros(29 - len(self.rows[i]), 3)]), i",
        "batch_size=7, shuffle=True",
    ),
    "sums": (DRAWN, "self.rows[i].sum(0), i", "batch_size=7, shuffle=True"),
    "alike": ("[torch.zeros(5, 3) for _ in range(70)]", "self.rows[i], i", "7, shuffle=True"),
    "groups in order": ("[torch.zeros(2 + i // 7, 3) for i in range(70)]", "self.rows[i], i", "7"),
}


def samples(rows: str, item: str, options: str) -> str:
    """A program with a dataset of these rows."""
    return HEAD + SAMPLES.replace("ROWS", rows).replace("ITEM", item).replace("OPTIONS", options)


@pytest.mark.parametrize("parts", UNEVEN.values(), ids=UNEVEN)
def test_samples_that_cannot_be_stacked_are_found(parts, tmp_path):
    source = samples(*parts)
    with pytest.raises(RuntimeError, match="equal size"):
        exec(compile(source, "program.py", "exec"), {})
    ((line, message),) = findings(source, tmp_path)
    assert "samples of a batch have different sizes" in message
    assert source.split("\n")[line - 1].startswith("for x, y in")


@pytest.mark.parametrize("parts", EVEN.values(), ids=EVEN)
def test_samples_that_can_be_stacked_are_left_alone(parts: tuple[str, str, str], tmp_path: Path) -> None:
    exec(compile(samples(*parts), "program.py", "exec"), {})
    assert findings(samples(*parts), tmp_path) == []
