"""Calls of modules that are followed once: what they give the second time, and when they are followed again."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.memory import remembered

HEAD = "import torch\nfrom torch import nn\n"


@pytest.fixture
def counted(monkeypatch):
    """How often a call was answered from memory."""
    answers = []
    again = remembered._again

    def count(run, known, given):
        answers.append(known)
        return again(run, known, given)

    monkeypatch.setattr(remembered, "_again", count)
    return answers


def shown(source: str, folder: Path) -> list[str]:
    """What ``reveal_type`` shows, line by line."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in found.notes]


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.width, self.calls = nn.Linear(3, 5), 5, []
    def forward(self, x, flat=False):
        {body}
net = Net()
"""


def test_the_same_arguments_give_the_same_shapes_and_another_tensor(counted, tmp_path):
    source = NET.format(body="return self.layer(x)")
    source += "a, b = net(torch.zeros(7, 3)), net(torch.zeros(7, 3))\na.t_()\nreveal_type(a)\nreveal_type(b)\n"
    assert shown(source, tmp_path) == ["Float32[5, 7]", "Float32[7, 5]"]
    assert len(counted) == 1


def test_an_argument_that_is_given_back_is_the_argument(counted, tmp_path):
    source = NET.format(body="return x, self.layer(x)")
    source += "net(torch.zeros(7, 3))\nx = torch.zeros(7, 3)\ny, _ = net(x)\ny.t_()\nreveal_type(x)\n"
    assert shown(source, tmp_path) == ["Float32[3, 7]"]
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("return x.new_zeros(self.width)", "net.width = 11"),
        ("return x.new_zeros(WIDTH)", "WIDTH = 11"),
        ("return x.new_zeros(*SIZES)", "SIZES.append(11)"),
        ("return x.new_zeros(SIZE['w'])", "SIZE['w'] = 11"),
        ("return x.new_zeros(Net.size)", "Net.size = 11"),
        ("return x.new_zeros(self.layer.weight.shape)", "net.layer = nn.Linear(3, 11)"),
        ("self.width += 6\n        return x.new_zeros(self.width)", ""),
        ("self.calls.append(x)\n        return x.new_zeros(len(self.calls))", ""),
        ("return x.new_zeros(5 if self.training else 11)", "net.eval()"),
    ],
)
def test_what_a_call_depends_on_is_followed_again_when_it_has_changed(body, change, counted, tmp_path):
    source = "WIDTH, SIZES, SIZE = 5, [5], {'w': 5}\n" + NET.format(body=body) + "Net.size = 5\n"
    source += f"a = net(torch.zeros(7, 3))\n{change}\nb = net(torch.zeros(7, 3))\nreveal_type(a)\nreveal_type(b)\n"
    first, second = shown(source, tmp_path)
    assert first != second
    assert counted == []


def test_unknown_numbers_are_others_each_time(tmp_path):
    source = NET.format(body="return x[x > 0]")
    source += "a, b = net(torch.zeros(7, 3)), net(torch.zeros(7, 3))\n"
    source += "c = a.size(0) == b.size(0)\nreveal_type(c)\n"
    assert "unknown" in shown(source, tmp_path)[0]


GROWN = "def grown(): return torch.zeros(int(input()), 3)\n"


def test_a_size_that_a_call_names_is_another_one_in_the_next_call(counted, tmp_path):
    """Each call gives as many rows as its own argument has, and nobody knows whether these are equal."""
    source = GROWN + NET.format(body="return self.layer(x).view(x.shape[0], 5), x.shape[0] + 1")
    source += "a, b = grown(), grown()\n(c, n), (d, m) = net(a), net(b)\n"
    source += "print(c + a[:, :1], d + b[:, :1])\nprint(torch.zeros(n, 2) + torch.zeros(m, 2))\n"
    source += "reveal_type(torch.cat([c, c]).shape[0] == 2 * a.shape[0])\nreveal_type(d.shape[0] == b.shape[0])\n"
    unknown = "unknown: the answer of =="
    source += "reveal_type(c.shape[0] == d.shape[0])\nreveal_type(m == b.shape[0] + 1)\nreveal_type(n == m)\n"
    assert shown(source, tmp_path) == ["True", "True", unknown, "True", unknown]
    assert not counted  # the arguments have sizes of their own


def test_a_size_of_something_else_is_the_same_in_the_next_call(counted, tmp_path):
    """What a call gives belongs to that tensor, and not to the argument."""
    source = GROWN + NET.format(body="return x.new_zeros(self.kept.shape[0])")
    source += "net.kept = grown()\na = net(torch.zeros(7, 3))\nb = net(torch.zeros(7, 3))\n"
    source += "reveal_type(a.shape == b.shape)\n"
    assert shown(source, tmp_path) == ["True"]
    assert len(counted) == 1


def test_what_a_layer_says_of_an_unknown_argument_is_known_of_the_next_one_too(counted, tmp_path):
    source = NET.format(body="return self.layer(x)")
    source += "a, b = (torch.load(name) * torch.zeros(1, 1) for name in 'ab')\nnet(a)\nnet(b)\n"
    source += "reveal_type(a)\nreveal_type(b)\n"
    assert shown(source, tmp_path) == ["Tensor[..., ?, 3]"] * 2
    assert len(counted) == 1


def test_a_mistake_is_told_at_each_call_that_leads_to_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + NET.format(body="return self.layer(x)") + "net(torch.zeros(7, 5))\nnet(torch.zeros(7, 5))\n")
    (found,) = follow(path).errors
    assert found.message.startswith("Linear(3, 5)")


STACK = """
class Block(nn.Module):
    def __init__(self, width, inner, memory=None):
        super().__init__()
        self.up, self.down, self.memory = nn.Linear(width, inner), nn.Linear(inner, width), memory
    def forward(self, x):
        {body}
"""


def test_layers_that_are_built_alike_are_followed_once(counted, tmp_path):
    source = STACK.format(body="return x + self.down(self.up(x))")
    source += "blocks = nn.ModuleList(Block(3, 5) for _ in range(7))\nx = nn.Linear(3, 3)(torch.zeros(11, 3))\n"
    source += "for block in blocks:\n    x = block(x)\nreveal_type(x)\n"
    assert shown(source, tmp_path) == ["Float32[11, 3]"]
    assert len(counted) == 6 + 6  # built and called


@pytest.mark.parametrize(
    "other",
    [
        "Block(3, 7)",
        "changed(Block(3, 5), 'up', nn.Linear(3, 7))",
        "changed(Block(3, 5), 'up', nn.Linear(3, 5).double())",
        "nn.Sequential(Block(3, 7))",
    ],
)
def test_a_layer_that_was_built_or_changed_otherwise_is_followed_by_itself(other, tmp_path):
    source = STACK.format(body="return self.up(x)")
    source += "def changed(block, name, value):\n    setattr(block, name, value)\n    return block\n"
    source += f"a, b = Block(3, 5), {other}\nx, y = torch.zeros(11, 3), torch.zeros(11, 3).to(torch.float64)\n"
    source += "reveal_type(a(x))\nreveal_type(b(y if 'double' in DOUBLE else x))\n".replace("DOUBLE", repr(other))
    first, second = shown(source, tmp_path)
    assert first != second


def test_what_is_built_again_is_another_object(counted, tmp_path):
    source = STACK.format(body="return self.up(x)")
    source += "a, b = Block(3, 5), Block(3, 5)\nb.up = nn.Linear(3, 7)\nx = torch.zeros(11, 3)\n"
    source += "reveal_type(a(x))\nreveal_type(b(x))\nreveal_type(a is b)\n"
    assert shown(source, tmp_path)[:2] == ["Float32[11, 5]", "Float32[11, 7]"]
    assert len(counted) == 1


def test_weights_that_are_tied_inside_are_tied_in_the_next_one_too(tmp_path):
    source = """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(7, 3), nn.Linear(3, 7, bias=False)
        self.head.weight = self.embed.weight
a, b = Tied(), Tied()
reveal_type(b.head.weight is b.embed.weight)
reveal_type(a.head.weight is b.head.weight)
reveal_type(len(list(b.parameters())))
"""
    assert shown(source, tmp_path) == ["True", "False", "1"]


def test_what_the_constructor_was_given_is_shared_not_copied(tmp_path):
    source = STACK.format(body="self.memory.append(1)\n        return x.new_zeros(len(self.memory))")
    source += "memory = []\na, b = Block(3, 5, memory), Block(3, 5, memory)\nx = torch.zeros(11, 3)\n"
    source += "a(x)\nreveal_type(b(x))\nreveal_type(len(memory))\n"
    assert shown(source, tmp_path) == ["Float32[2]", "2"]


def test_a_mistake_in_each_of_several_layers_is_told(tmp_path):
    path = tmp_path / "program.py"
    source = (
        STACK.format(body="return self.down(x)") + "for b in [Block(3, 5), Block(3, 5)]:\n    b(torch.zeros(11, 3))\n"
    )
    path.write_text(HEAD + source)
    (found,) = follow(path).errors
    assert "the layer takes 5 features" in found.message


# -- numbers in the arguments -----------------------------------------------------------------------------------------

STEPS = """
for i in range(7):
    y = net(torch.full((2,), i))
    reveal_type(y)
"""


@pytest.mark.parametrize(
    ("body", "remembered"),
    [
        ("return torch.sin(x[:, None] * torch.ones(5))", 6),
        ("return torch.zeros(7, 5)[x]", 0),
        ("return x.clamp(0) + torch.zeros(5, 1)", 6),
    ],
)
def test_numbers_that_nobody_looks_at_make_no_other_call(counted, tmp_path, body, remembered):
    told = shown(NET.format(body=body) + STEPS, tmp_path)
    assert len(counted) == remembered
    assert len(told) == 1


def test_an_index_that_does_not_fit_is_found_behind_calls_that_fit(tmp_path):
    source = NET.format(body="return torch.zeros(5, 3)[x]") + STEPS
    (tmp_path / "program.py").write_text(HEAD + source)
    (found,) = follow(tmp_path / "program.py").errors
    assert "index 5" in found.message


def test_numbers_that_a_remembered_call_has_looked_at_count_for_the_call_around_it(tmp_path):
    source = NET.format(body="return torch.zeros(5, 3)[x]")
    source += """
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net
    def forward(self, x):
        return self.net(x)
outer = Outer()
"""
    source += "net(torch.full((2,), 3))\nouter(torch.full((2,), 3))\nouter(torch.full((2,), 11))\n"
    (tmp_path / "program.py").write_text(HEAD + source)
    (found,) = follow(tmp_path / "program.py").errors
    assert "index 11" in found.message


def test_numbers_of_an_argument_that_is_given_back_are_those_of_this_call(tmp_path):
    source = NET.format(body="return x[:, None], x + 1")
    source += (
        "for i in range(9):\n    a, b = net(torch.full((2,), i))\n    torch.zeros(9, 3)[a]\n    torch.zeros(9, 3)[b]\n"
    )
    (tmp_path / "program.py").write_text(HEAD + source)
    (found,) = follow(tmp_path / "program.py").errors
    assert "index 9" in found.message


@pytest.mark.parametrize(("change", "shape"), [("", "Float32[7, 5]"), ("n.layer = nn.Linear(3, 2)", "Float32[7, 2]")])
def test_a_module_is_looked_through_again_after_a_change_inside_of_it(tmp_path, change, shape):
    source = NET.format(body="return self.layer(x)") + "class Two(nn.Module):\n    def __init__(self):\n"
    source += "        super().__init__()\n        self.nets = nn.ModuleList([Net(), Net()])\n"
    source += (
        "    def forward(self, x):\n        return [n(x) for n in self.nets][-1]\ntwo = Two()\ntwo(torch.zeros(7, 3))\n"
    )
    source += f"n = two.nets[1]\n{change}\nreveal_type(two(torch.zeros(7, 3)))\n"
    assert shown(source, tmp_path) == [shape]
