"""One of several functions, nobody knows which: each is followed, and all that they may give is known."""

from functools import partial

import pytest
from scripts import Scripts

HEAD = """import random
import sys
from functools import partial
import numpy as np
import torch
from torch import nn
key, place = sys.stdin.readline(), int(sys.stdin.readline())
def three(n):
    return torch.zeros(n, 3), torch.zeros(5)
def five(n):
    return torch.ones(n, 3), torch.zeros(7).long()
"""
shown = partial(Scripts(HEAD).shown, right=True)
lines = Scripts(HEAD).lines


@pytest.mark.parametrize(
    "function",
    [
        "{'a': three, 'b': five}[key]",
        "{'a': three, 'b': five}.get(key, three)",
        "[three, five, three][place]",
        "(three, five)[place % 2]",
        "random.choice([three, five])",
        "np.random.choice([three, five])",
        "[lambda n: three(n), five][place]",
        "{'a': partial(three), 'b': five}[key]",
    ],
)
def test_what_all_of_them_give_is_known(function, tmp_path):
    assert shown(f"x = {function}(11)[0]", tmp_path) == "Float32[11, 3]"
    assert lines(f"x = {function}(11)[0] @ torch.zeros(13)", tmp_path) == [1]


def test_what_only_some_give_is_one_of_these(tmp_path):
    source = "x = {'a': three, 'b': five}[key](11)[1]\n"
    assert lines(source + "x + torch.zeros(7)", tmp_path) == []
    assert lines(source + "x + torch.zeros(11)", tmp_path) == [2]


def test_a_table_with_arguments(tmp_path):
    assert (
        shown("f, n = {'a': (three, 11), 'b': (five, 13)}[key]\nx = f(n)[0]", tmp_path)
        == "Float32[11, 3] or Float32[13, 3]"
    )


def test_one_of_several_classes(tmp_path):
    source = "x = {'relu': nn.ReLU, 'gelu': nn.GELU, 'tanh': nn.Tanh}[key]()(torch.zeros(7, 11))"
    assert shown(source, tmp_path) == "Float32[7, 11]"


def test_of_functions_that_fail_the_one_that_does_not_is_taken(tmp_path):
    source = "def wrong(n):\n    return torch.zeros(n, 3) @ torch.zeros(5)\n"
    assert lines(source + "{'a': wrong, 'b': three}[key](11)", tmp_path) == []
    assert lines(source + "{'a': wrong, 'b': wrong}[key](11)", tmp_path) == [2]


def test_what_may_be_no_function_or_one_of_many_is_not_guessed(tmp_path):
    assert lines("x = {'a': three, 'b': None}[key](11)[0] @ torch.zeros(13)", tmp_path) == []
    many = "{str(i): three for i in range(4)} | {str(i): five for i in range(5, 10)}"
    assert lines(f"x = ({many})[key](11)[0] @ torch.zeros(13)", tmp_path) == []
    assert lines("def fill(d):\n    d[open('f').read()] = print\nd = {'a': three, 'b': five}\nfill(d)\n"
                 "d[key](11)[0] @ torch.zeros(13)", tmp_path) == []  # fmt: skip


def test_a_sample_of_one_of_several_shapes(tmp_path):
    source = """
names = ["three", "five"]
class Shapes(torch.utils.data.Dataset):
    def __len__(self):
        return 11
    def __getitem__(self, index):
        return {"three": three, "five": five}[names[index % len(names)]](7)[0], np.int64(index % 2)
for x, y in torch.utils.data.DataLoader(Shapes(), batch_size=5, drop_last=True):
    pass
"""
    assert shown(source, tmp_path) == "Float32[5, 7, 3]"


def test_a_device_that_is_not_known_is_no_dtype(tmp_path):
    source = "def move(y, x):\n    return y.to(x.device)\n"
    move = "x = move(torch.zeros(7, dtype=torch.long), torch.Tensor(np.zeros(5)))"
    assert shown(source + move, tmp_path) == "Int64[7]"
    assert shown("x = torch.zeros(7, dtype=torch.long).to(torch.device(key))", tmp_path) == "Int64[7]"
    assert lines("x = torch.Tensor(np.zeros(5))\nlayer = nn.Linear(5, 7, device=x.device)\nlayer(torch.zeros(5))\n"
                 "layer(torch.zeros(5).cuda())", tmp_path) == []  # fmt: skip
