"""A variable's name says nothing of what a program does: what it calls and imports decides."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import HEAD

TRAINS = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.d = nn.Linear(3, 2), nn.Dropout(0.5)
    def forward(self, x):
        return self.d(self.a(x))
m = M()
o = torch.optim.SGD(m.parameters(), lr=0.1)
ds = torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.zeros(20, dtype=torch.long))
loader = torch.utils.data.DataLoader(ds, batch_size=5, shuffle=True)
"""
LOOP = "for x, y in loader:\n    o.zero_grad()\n    F.cross_entropy(m(x), y).backward()\n"
COUNTED = "{with_}\n    for x, y in loader:\n        correct = (m(x).argmax(1) == y).sum().item()\n"
UNDER = "with torch.no_grad():\n    for x, y in loader:\n"
NEVER, TRAINING = "SGD never steps", "M is evaluated in training mode"
GRAPHS, SEED = "M is evaluated with gradients", "the seed 0 is set in each iteration"

SPLIT = """whole = torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.zeros(20, dtype=torch.long))
train_set, test_set = torch.utils.data.random_split(whole, [14, 6])
train_loader = torch.utils.data.DataLoader(train_set, batch_size=7)
test_loader = torch.utils.data.DataLoader(train_set, batch_size=3)
"""
LAST = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.{name} = 8
        self.a = nn.Linear(3, 2)
    def forward(self, x):
        return self.a(x.view(self.{name}, 3))
net = Net()
def go():
    for x, y in torch.utils.data.DataLoader(ds, batch_size=8):
        net(x)
"""
OTHERS = SPLIT.replace("train_", "left_").replace("test_", "right_")
THREE = """whole = torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.zeros(20, dtype=torch.long))
a, b, c = torch.utils.data.random_split(whole, [14, 3, 3])
first = torch.utils.data.DataLoader(a, batch_size=7, shuffle=True)
"""
SECOND, THIRD = (f"{n} = torch.utils.data.DataLoader({{}}, batch_size=3)\n" for n in ("second", "third"))
SMALLER, PART = "the last batch has 4 samples, not 8", "test_loader is given train_set, and test_set is never used"

SAID = {
    "def print_step(n):\n    print(n)\n" + LOOP + "    print_step(1)\n": NEVER,
    "def minimize_nothing():\n    pass\n" + LOOP + "minimize_nothing()\n": NEVER,
    SPLIT: PART,
    SPLIT + "print(len(test_set), f'{len(test_set)} samples')\n": PART,
    OTHERS: "right_loader is given left_set, and right_set is never used",
    OTHERS.replace("(left_set, batch_size=7", "(whole, batch_size=7").replace(
        "(left_set, batch_size=3", "(right_set, batch_size=3"
    ): "left_loader is given all samples, and left_set is never used: the evaluation data is also trained on",
    THREE + SECOND.format("b") + THIRD.format("b"): "third is given b, and c is never used",
    THREE + SECOND.format("b") + THIRD.format("a"): "third is given a, and c is never used",
    "nsteps = minimized = fit = 3\n" + LOOP: NEVER,
    "for step, (x, y) in enumerate(loader):\n    o.zero_grad()\n    F.cross_entropy(m(x), y).backward()\n": NEVER,
    LOOP + "    o.step()\nevaluated = 3\n" + COUNTED.format(with_="with torch.no_grad():"): TRAINING,
    "jacobian_like = grad_wanted = 3\n" + LOOP + "    o.step()\nm.eval()\n" + COUNTED.format(with_="if True:"): GRAPHS,
    "q = nn.CrossEntropyLoss()\n" + LOOP + "    o.step()\n" + UNDER + "        q(m(x), y).item()\n": TRAINING,
    "def rate(a, b):\n    return a.max(1)[1].eq(b).sum()\n"
    + LOOP
    + "    o.step()\n"
    + UNDER
    + "        rate(m(x), y)\n": TRAINING,
    "def go():\n    a, b = [], []\n    for x, y in loader:\n        a.append(m(x))\n        b.append(y)\n"
    "    return F.l1_loss(torch.cat(a)[:, 0], torch.cat(b).float()).item()\n"
    + LOOP
    + "    o.step()\nm.eval()\ngo()\n": GRAPHS,
    "get_rng_state_wanted = 3\nfor epoch in range(3):\n    torch.manual_seed(0)\n"
    + "".join(f"    {line}\n" for line in (LOOP + "    o.step()").splitlines()): SEED,
}
RIGHT = (
    SPLIT.replace("DataLoader(train_set, batch_size=3)", "DataLoader(test_set, batch_size=3)"),
    SPLIT + "print([len(x) for x, y in test_set])\n",
    OTHERS.replace("(left_set, batch_size=3", "(right_set, batch_size=3"),
    OTHERS.replace("[14, 6]", "[6, 14]"),  # a few samples, and the same ones again
    THREE + SECOND.format("a") + THIRD.format("b"),  # the training set a second time, and a part for later
    THREE + SECOND.format("b"),
    # the statistics of a batch norm, or features: no label is compared, whatever functions are called
    "def accuracy(a):\n    return a\n" + LOOP + "    o.step()\n" + UNDER + "        accuracy(m(x))\n",
    "losses, correct = [], []\n"
    + LOOP
    + "    o.step()\n"
    + UNDER
    + "        losses.append(m(x))\n        correct.append(y)\n"
    "losses, correct = torch.cat(losses, 0), torch.cat(correct, 0)\n",
    "update = o.step\n" + LOOP + "    update()\n",
    LOOP + "    getattr(o, 'step')()\n",
    "import operator\n" + LOOP + "    operator.methodcaller('step')(o)\n",
    LOOP + "    o.step()\nm.eval()\n" + COUNTED.format(with_="with torch.no_grad():"),
    LOOP + "    o.step()\nm.train(False)\n" + COUNTED.format(with_="with torch.inference_mode():"),
    "for epoch in range(3):\n    state = torch.get_rng_state()\n    torch.manual_seed(0)\n"
    "    torch.set_rng_state(state)\n" + "".join(f"    {line}\n" for line in (LOOP + "    o.step()").splitlines()),
)


def warned(body: str, tmp_path: Path) -> list[str]:
    (tmp_path / "program.py").write_text(HEAD + TRAINS + body)
    found = follow(tmp_path / "program.py")
    return [f.message for f in (*found.errors, *found.warnings, *found.remarks)]


@pytest.mark.parametrize("body", SAID)
def test_what_is_missing_is_said_whatever_variables_are_called(body: str, tmp_path: Path):
    exec(HEAD + TRAINS + body, {"__name__": "__main__"})
    found = warned(body, tmp_path)
    assert len(found) == 1
    assert found[0].startswith(SAID[body])


@pytest.mark.parametrize("name", ["batch", "bs", "n", "size_of_each", "lines"])
def test_the_last_batch_is_found_whatever_its_size_is_called(name: str, tmp_path: Path):
    body = LAST.format(name=name) + "go()\n"
    with pytest.raises(RuntimeError):
        exec(HEAD + TRAINS + body, {"__name__": "__main__"})
    found = warned(body, tmp_path)
    assert len(found) == 1
    assert found[0].startswith(SMALLER)


@pytest.mark.parametrize("body", RIGHT)
def test_the_call_itself_counts_in_whatever_spelling(body: str, tmp_path: Path):
    exec(HEAD + TRAINS + body, {"__name__": "__main__"})
    assert warned(body, tmp_path) == []


@pytest.mark.parametrize("name", ["lightning_strikes", "accelerate", "prepare", "device_map", "fabric"])
def test_a_device_error_is_said_whatever_variables_are_called(name: str, tmp_path: Path):
    found = warned(f"{name} = 3\nm.cuda()\nm(torch.zeros(5, 3))\n", tmp_path)
    assert len(found) == 1
    assert "the layer is on cuda" in found[0]


def test_a_library_that_moves_things_hides_it(tmp_path: Path):
    assert warned("from accelerate import Accelerator\nm.cuda()\nm(torch.zeros(5, 3))\n", tmp_path) == []
