"""Batches of loaders: what datasets give, collated."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

HEAD = "import torch\nfrom torch.utils.data import *\n"

DATASET = """
class Shapes(Dataset):
    def __init__(self, n):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, index):
        return torch.zeros(3, 11), index
"""

NESTED = """
class Nested(Dataset):
    def __len__(self):
        return 37
    def __getitem__(self, index):
        return {"x": torch.zeros(3, 11), "n": index, "f": 1.5, "b": True, "name": "a", "t": (torch.ones(2), 3)}
"""

STREAM = """
class Stream(IterableDataset):
    def __iter__(self):
        for i in range(13):
            yield torch.zeros(7), i
"""


TENSORS = """
data = TensorDataset(torch.randn(35, 3, 7), torch.randint(0, 5, (35,)))
loader = DataLoader(data, batch_size=5, shuffle=True)
n, m = len(loader), len(data)
x, y = next(iter(loader))
row, label = data[2]
"""
DROP_LAST = f"""{DATASET}
loader = DataLoader(Shapes(37), 5, drop_last=True)
n = len(loader)
for x, y in loader:
    pass
"""
TOO_FEW = f"""{DATASET}
x, y = next(iter(DataLoader(Shapes(3), batch_size=5)))
"""
SINGLE = f"""{DATASET}
x, y = next(iter(DataLoader(Shapes(3), batch_size=None)))
"""
DICTS = f"""{NESTED}
for batch in DataLoader(Nested(), 37):
    x, n, f, b = batch["x"], batch["n"], batch["f"], batch["b"]
    t, u = batch["t"]
"""
STREAMED = f"""{STREAM}
x, y = next(iter(DataLoader(Stream(), batch_size=13)))
"""
COLLATED = f"""{DATASET}
def collate(rows):
    xs, ys = zip(*rows)
    return torch.stack(xs, 1), torch.tensor(ys)
x, y = next(iter(DataLoader(Shapes(37), 5, collate_fn=collate)))
"""
PARTS = f"""{DATASET}
a, b = random_split(Shapes(37), [30, 7])
c, d, e = random_split(Shapes(37), [0.5, 0.3, 0.2])
k, m, p, q, r = len(a), len(b), len(c), len(d), len(e)
x, y = next(iter(DataLoader(b, 7)))
z, i = a[3]
"""
SEVERAL = f"""{DATASET}
both = ConcatDataset([Shapes(3), Shapes(5)])
n = len(both)
x, y = next(iter(DataLoader(both, 2)))
m = len(Shapes(3) + Shapes(2))
part = Subset(both, range(5))
k = len(part)
z, i = part[0]
"""
SAMPLERS = f"""{DATASET}
data = Shapes(13)
sampler = WeightedRandomSampler(torch.ones(13), 11)
loader = DataLoader(data, 2, sampler=sampler)
n = len(loader)
x, y = next(iter(loader))
batches = BatchSampler(SequentialSampler(data), 3, False)
m = len(batches)
z, t = next(iter(DataLoader(data, batch_sampler=batches)))
"""
LISTED = """
data = [(torch.zeros(3, 5), 2.0) for _ in range(7)]
x, y = next(iter(DataLoader(data, batch_size=7)))
"""
STACKED = """
data = StackDataset(a=TensorDataset(torch.ones(7, 3)), b=torch.zeros(7, 5))
batch = next(iter(DataLoader(data, 7)))
x, y = batch["a"][0], batch["b"]
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (TENSORS, "n m x y row label"),
        (DROP_LAST, "n x y"),
        (TOO_FEW, "x y"),
        (SINGLE, "x"),
        (DICTS, "x n f b t u"),
        (STREAMED, "x y"),
        (COLLATED, "x y"),
        (PARTS, "k m p q r x y z"),
        (SEVERAL, "n x y m k z"),
        (SAMPLERS, "n x y m z t"),
        (LISTED, "x y"),
        (STACKED, "x y"),
    ],
)
def test_batches_are_those_of_torch(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_layer_that_does_not_fit_the_batches_is_found(tmp_path: Path) -> None:
    program = DATASET + "for x, y in DataLoader(Shapes(35), 5):\n    torch.nn.Linear(7, 2)(x)\n"
    assert ["the last dim of input is 11" in m for _, m in findings(HEAD + program, tmp_path)] == [True]


def test_tensors_of_other_lengths_are_no_dataset(tmp_path: Path) -> None:
    ((line, message),) = findings(HEAD + "TensorDataset(torch.zeros(5, 3), torch.zeros(7))\n", tmp_path)
    assert line == 3
    assert "the first has 5 rows and another 7" in message


def test_the_last_smaller_batch_is_followed(tmp_path: Path) -> None:
    program = DATASET + "for x, y in DataLoader(Shapes(37), 5):\n    x.view(5, 33)\n"
    ((_, message),) = findings(HEAD + program, tmp_path)
    assert message.startswith("the last batch has 2 samples, not 5: view")
