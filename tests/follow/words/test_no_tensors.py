"""What is no tensor stands where one is due, what can't be unpacked, assertions: said where Python raises."""

import re
from pathlib import Path
from typing import Any

import pytest

from simpletorch.follow import Finding, follow
from simpletorch.rules import infer

HEAD = """import collections
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
    def forward(self, x):
        return self.l(x), None
lstm, head, pair = nn.LSTM(3, 5), nn.Linear(5, 7), Pair()
x, y = torch.randn(2, 4, 3), torch.randn(2, 3, 4)
"""
LINE = HEAD.count("\n") + 1
WRONG = {
    "head(lstm(x))": ("Linear(5, 7) takes a tensor, but it is given a tuple of 2", "take [0] of it, Float32[2, 4, 5]"),
    "y + pair(y)": ("+ takes a tensor, but it is given a tuple of 2", "take [0] of it, Float32[2, 3, 4]"),
    "pair(y) * y": ("* takes a tensor", "take [0] of it, Float32[2, 3, 4]"),
    "F.softmax(torch.topk(x, 2), dim=-1)": ("softmax takes a tensor", "take .values of it, Float32[2, 4, 2]"),
    "x.max(1) + 1": ("+ takes a tensor, but it is given a tuple of 2", "take .values of it, Float32[2, 3]"),
    "y += pair(y)": ("+= takes a tensor, but it is given a tuple of 2", "take [0] of it, Float32[2, 3, 4]"),
    "x *= [1, 2]": ("*= takes a tensor, but it is given a list of 2", "torch.tensor(...)"),
    "x -= None": ("-= takes a tensor, but it is given None", None),
    "x.max(dim=-1).size(0)": (
        "a tuple of 2: (Float32[2, 4], Int64[2, 4]) has no attribute 'size'",
        "take .values of it",
    ),
    "[x, x].mean()": ("a list of 2 has no attribute 'mean', which a tensor has", "take [0] of it"),
    "{'a': x}.to('cpu')": ("a dict has no attribute 'to', which a tensor has", "take ['a'] of it"),
    "nn.Sequential(head, nn.ReLU()).weight": ("Sequential has no attribute 'weight'", "its layer [0] has one"),
    "pair.training_step(x)": ("Pair has no attribute 'training_step'", None),
    "pair.m(x)": ("Pair has no attribute 'm'", None),
    "head.out_channels": ("Linear has no attribute 'out_channels'", None),
    "nn.ReLU().weight": ("ReLU has no attribute 'weight'", None),
    "x.unsqeeze(0)": ("a tensor has no attribute 'unsqeeze'", "did you mean 'unsqueeze'?"),
    "x.relu().tranpose(0, 1)": ("a tensor has no attribute 'tranpose'", "did you mean 'transpose'?"),
    "torch.reshape([-1, 12], x)": ("reshape takes a tensor, but it is given a list of 2", "torch.tensor(...)"),
    "F.relu(None)": ("relu takes a tensor, but it is given None", None),
    "x @ [1, 2]": ("@ takes a tensor, but it is given a list of 2", "torch.tensor(...)"),
    "torch.where(x > 0, x, np.zeros(3))": ("where takes a tensor, but it is given an array", "torch.from_numpy(...)"),
    "x.where(x > 0, None)": ("where takes a tensor, but it is given None", None),
    "torch.stack(collections.deque([x, x]))": ("stack takes a list of tensors, but", "list(...) makes one of it"),
    "torch.cat(nn.ParameterList([x]))": ("cat takes a list of tensors, but", "list(...) makes one of it"),
    "torch.stack(nn.ModuleList([head]))": (
        "stack takes a list of tensors, but it is given the module ModuleList",
        None,
    ),
    "torch.cat(tensors=[x, None], dim=1)": ("cat takes a list of tensors, but [1] of it is None", None),
    "x < None": ("< takes a tensor, but it is given None", None),
    "x - 'a'": ("- takes a tensor, but it is given a text", None),
    "F.linear(x, {'w': torch.zeros(5, 3)})": ("linear takes a tensor, but it is given a dict", "take ['w'] of it"),
    "head(x.shape)": ("Linear(5, 7) takes a tensor, but it is given the shape (2, 4, 3)", None),
    "head(len)": (None, None),
    "for i, z in enumerate([x]): head(i)": ("Linear(5, 7) takes a tensor, but it is given the number 0", None),
    "a, b, c = (1, 2)": ("these are 2 values, but 3 are unpacked", None),
    "(a, b), c = (1, 2)": ("the number 1 can't be unpacked into 2", None),
    "a, b = 3.0": ("the number 3.0 can't be unpacked into 2: it has no items", None),
    "a, b = None": ("None can't be unpacked", None),
    "a, b = torch.tensor(3.0)": ("Float32[] can't be unpacked", None),
    "a, b, *c = (1,)": ("this is 1 value, but at least 2 are unpacked", None),
    "for a, b in [(1, 2, 3)]: pass": ("these are 3 values, but 2 are unpacked", None),
    "a, b, c = x": ("Float32[2, 4, 3] has 2 items along its first dim, but 3 are unpacked", None),
    "assert x.shape[1:] == y.shape, 'sizes'": (
        "assert x.shape[1:] == y.shape fails: x.shape[1:] is (4, 3), and y.shape is (2, 3, 4)",
        None,
    ),
    "assert x.ndim == 4": ("assert x.ndim == 4 fails: x.ndim is 3", None),
}
RIGHT = (
    *("torch.where(x > 0, 2.5, x)", "torch.where(x > 0, x, np.float64(3))", "torch.cat(tensors=[x, x], dim=1)"),
    "class Rows(list): pass\ntorch.cat(Rows([x, x]))",
    *(
        f"z = nn.utils.rnn.pad_sequence({rows})\nassert z.shape == (5, 2)"
        for rows in (
            "torch.zeros(n) for n in (3, 5)",
            "map(torch.zeros, (5, 3))",
            "{'a': torch.zeros(3), 'b': torch.zeros(5)}.values()",
            "collections.deque([torch.zeros(5), torch.zeros(3)])",
            "torch.zeros(2, 5)",
        )
    ),
    *("x == None", "x != (1, 2)", "torch.tensor(3) * [1]", "(1,) * torch.tensor(2)", "'a' * torch.tensor(2)"),
    *("'%s' % x", "x.max(1) * 2", "y, z = [1], 2\ny += torch.tensor([2])", "a, b = 'ab'", "a, b = {'a': 1, 'b': 2}"),
    *("a, *b = (1,)", "a, b = x", "assert x.shape[0] == 2", "x.max(1).values.size(0)", "x.sort()[1].size(0)"),
    *("assert torch.zeros(3).sum() == 0", "[x].copy()", "{'a': x}.items()", "torch.stack((x, x))"),
    *("nn.Identity()((x, x))", "nn.Sequential(pair)(y)[0] + 1", "lstm(x)[0] + 1"),
    "try:\n    a, b = (1, 2, 3)\nexcept ValueError:\n    a = b = 0",
    "try:\n    assert x.shape[0] == 3\nexcept AssertionError:\n    pass",
    "z = x\nif hasattr(x, 'pixel_values'):\n    z = x.pixel_values\n    y @ y\nz = getattr(x, 'logits', x)\nz @ y",
    "n = 3 if hasattr(x, 'shape') and not hasattr(x, 'keys') else 5\nx @ torch.zeros(n, 4)",
    "if x.is_inference():\n    x @ x",
    "for v in ((1, 2), [1], {'a': 1}, 3, 2.5, 'a'):\n    if hasattr(v, 'shape'):\n        y @ y",
    *("hasattr(nn.ReLU(), 'weight')", "getattr(head, 'running_mean', x)", "x.mine = 3\nx.mine + 1"),
    "try:\n    pair.other\nexcept AttributeError:\n    pass",
    "if hasattr(head, 'kernel_size'):\n    head.kernel_size",
    "setattr(pair, 'other', 3)\npair.other",
    "t = None\nif input():\n    t = (1, 2)\na, b = t",
)


def found(body: str, tmp_path: Path) -> tuple[Finding, ...]:
    (tmp_path / "program.py").write_text(HEAD + body + "\n")
    return follow(tmp_path / "program.py").errors


@pytest.mark.parametrize("body", WRONG)
def test_what_is_no_tensor_and_what_does_not_fit_is_found_where_python_raises(body: str, tmp_path: Path):
    scope: dict[str, object] = {}
    exec(HEAD, scope)
    with pytest.raises((TypeError, ValueError, AttributeError, AssertionError)):
        exec(body, scope)
    message, hint = WRONG[body]
    said = found(body, tmp_path)
    if message is None:
        return  # a function of a library's: nobody knows
    assert [f.line for f in said] == [LINE]
    assert said[0].message.startswith(message)
    assert (said[0].hint or "").startswith(hint or "")


@pytest.mark.parametrize("body", RIGHT)
def test_what_runs_is_left_alone(body: str, tmp_path: Path):
    scope: dict[str, object] = {"input": lambda: "yes"}
    exec(HEAD, scope)
    exec(body, scope)
    assert found(body, tmp_path) == ()


# -- guards ------------------------------------------------------------------------------------------------------------

BUG = "torch.zeros(2, 3) @ torch.zeros(2, 3)\n"
GUARDS = {
    "a GPU": "assert torch.cuda.is_available(), 'needs a GPU'\n",
    "a GPU, or the end": "if not torch.cuda.is_available():\n    print('no GPU')\n    sys.exit(1)\n",
    "two GPUs": "if torch.cuda.device_count() < 2: raise SystemExit('two GPUs')\n",
    "a name for it": "use_cuda = torch.cuda.is_available()\nassert use_cuda\n",
    "an argument": "if len(sys.argv) < 2:\n    print('usage')\n    sys.exit(1)\npath = sys.argv[1]\n",
    "arguments": "_, first, second = sys.argv\n",
    "a variable": "x = os.environ['DATA']\nif 'TOKEN' not in os.environ:\n    raise RuntimeError('set TOKEN')\n",
    "a file": "assert os.path.isdir('data'), 'no data'\nif not os.path.exists('a.bin'):\n    sys.exit()\n",
    "a function that asks": "def enough(least):\n    found = torch.accelerator.is_available()\n"
    "    return found and torch.accelerator.device_count() >= least\nif not enough(2):\n    sys.exit('no')\n",
    "an option without a default": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--rank', type=int)\na = p.parse_args()\nassert a.rank is not None, 'must have a rank'\n"
    "if a.rank is None:\n    raise ValueError('rank')\n",
    "a count of GPUs": "n = torch.cuda.device_count()\nassert n >= 2, f'{n} is too few'\n"
    "torch.distributed.init_device_mesh('cpu', (n,))\n",
    "GPUs that are counted again": "if torch.cuda.device_count() < 2: raise SystemExit('two GPUs')\n"
    "torch.distributed.init_device_mesh('cpu', (torch.cuda.device_count(),))\n",
    "a variable that is kept": "key = os.environ.get('KEY', '')\nif not key:\n    raise RuntimeError('set KEY')\n",
    "a library": "try:\n    import nowhere_to_be_found\nexcept ImportError:\n    sys.exit('pip install it')\n",
    "a library of tests": "import pytest\ntry:\n    import nowhere_to_be_found\nexcept ModuleNotFoundError:\n"
    "    pytest.skip('needs it', allow_module_level=True)\n",
    "a flag that must be given": "from absl import app, flags\nflags.DEFINE_enum('mode', None, ['train', 'eval'], '')\n"
    "flags.mark_flags_as_required(['mode'])\nF = flags.FLAGS\nif F.mode == 'train':\n    pass\n"
    "elif F.mode == 'eval':\n    pass\nelse:\n    raise ValueError(F.mode)\n",
    "a text that an option lacks": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--key', default='')\na = p.parse_args()\nassert a.key, 'needs a key'\n",
    "options that an object keeps": "import argparse\nclass App:\n    def __init__(self):\n"
    "        p = argparse.ArgumentParser()\n        p.add_argument('--key')\n        self.args = p.parse_args()\n"
    "        if not self.args.key:\n            raise Exception('needs a key')\nApp()\n",
    "an option": "import argparse\np = argparse.ArgumentParser()\np.add_argument('x')\n"
    "p.add_argument('--y', required=True)\np.parse_args()\n",
}


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_counts_as_passed(guard: str, tmp_path: Path):
    text = f"import os, sys, torch\n{GUARDS[guard]}"
    (tmp_path / "program.py").write_text(text + BUG)
    followed = follow(tmp_path / "program.py")
    assert [f.line for f in followed.errors] == [text.count("\n") + 1]
    assert followed.ended == ""


MUST = {
    "a number of its own": "n = 1\nassert n >= 2, 'too few'\n",
    "a library that it does without": "try:\n    import nowhere_to_be_found as n\nexcept ImportError:\n    n = 1\n"
    "assert n >= 2\n",
}


@pytest.mark.parametrize("end", MUST)
def test_what_ends_the_program_anywhere_is_no_guard(end: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(f"import os, sys, torch\n{MUST[end]}" + BUG)
    followed = follow(tmp_path / "program.py")
    assert followed.errors == ()
    assert followed.ended


def test_a_module_of_the_program_s_own_that_lacks_a_library_is_not_there(tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text(
        "try:\n    from .extra import n\nexcept ModuleNotFoundError:\n    n = 3\n"
    )
    (tmp_path / "parts" / "extra.py").write_text("from nowhere_to_be_found import x\nn = 2\n")
    (tmp_path / "program.py").write_text("import torch\nfrom parts import n\ntorch.zeros(2, n) @ torch.zeros(2, 5)\n")
    followed = follow(tmp_path / "program.py")
    assert [f.line for f in followed.errors] == [3]
    assert followed.not_followed == ()


# -- where following ends, and what it proved --------------------------------------------------------------------------


def test_it_is_said_where_an_exception_ends_the_program(tmp_path: Path):
    (tmp_path / "program.py").write_text(
        "n = 5\ndef f():\n    if n == 5:\n        raise ValueError('no five')\nf()\n" + BUG
    )
    followed = follow(tmp_path / "program.py")
    assert followed.errors == ()
    assert re.fullmatch(r'.*program\.py:4, where ValueError is raised \("no five"\)', followed.ended)
    (tmp_path / "program.py").write_text(
        "import sys\ndef main(): return 0\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    assert follow(tmp_path / "program.py").ended == "", "its own end"


def test_what_was_proved_and_what_was_not_followed_is_counted(tmp_path: Path):
    text = "import pickle, torch\nfrom somewhere import Trainer\nx = torch.zeros(2, 3)\n"
    text += "d = pickle.load(open('a.pkl', 'rb'))\n"
    (tmp_path / "program.py").write_text(text + "t = Trainer(x)\nt.fit(3)\ny = x + d\nz = x * 2\n")
    followed = follow(tmp_path / "program.py")
    assert [(line, name) for _, line, name in followed.not_followed] == [
        (4, "pickle.load"),
        (5, "Trainer"),
        (6, "t.fit"),
    ]
    assert followed.coverage == (2, 4)


@pytest.mark.parametrize(
    ("line", "count"),
    {
        "y = somewhere.load(3)": 1,
        "y = somewhere.Loader(3)": 0,
        "y = somewhere.FloatTensor(3)": 1,
        "y = somewhere.LSUN('.')": 0,
        "y = somewhere.Model(3)(x)": 1,
        "y = somewhere.Model(3).Layer1(x)": 1,
        "y = somewhere.Tokenizer.from_pretrained('x')": 0,
        "y = somewhere.Tokenizer.from_pretrained('x')(['a'])": 1,
        "y = somewhere.loader.DataLoader(x)": 0,
        "y = [b for b in somewhere.Loader(3)]": 0,
        "for y in somewhere.Loader(3):\n    pass": 1,
        "y = somewhere.load(3).size(0)": 0,
        "y = somewhere.load(3).shape": 0,
        "y = somewhere.load(3).numel() + 1": 0,
        "y = somewhere.load(3).tolist()": 0,
        "y = somewhere.load(3).flatten()": 1,
        "y = torch.tensor(somewhere.load(3)).size()[2:]": 0,
        "y = nn.Linear(2, 3) if somewhere.flag() else nn.ReLU()": 0,
        "y = x if somewhere.flag() else nn.ReLU()": 0,
        "y = somewhere.load(3) if somewhere.flag() else nn.ReLU()": 1,
        "somewhere.options.rate = 0.1": 0,
        "somewhere.options.rate = nn.Linear(2, 3)": 0,
        "somewhere.options.rate = somewhere.load(3)": 1,
        "import threading\ny = threading.Thread(target=print)": 0,
        "import tensorflow as tf\ny = tf.Summary(value=[])": 0,
        "y = 0\nfor i in range(somewhere.count()):\n    y += i * 0.5": 0,
    }.items(),
)
def test_a_line_whose_name_is_no_tensor_is_not_counted(line: str, count: int, tmp_path: Path):
    (tmp_path / "program.py").write_text(
        "import torch\nfrom torch import nn\nimport somewhere\nx = torch.zeros(2, 3)\n" + line + "\n"
    )
    known, lines = follow(tmp_path / "program.py").coverage
    assert (known, lines - known) == (1, count)


@pytest.mark.filterwarnings("ignore")
def test_a_mistake_of_the_follower_s_own_is_said_and_ends_one_statement_only(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SIMPLETORCH_DEBUG", raising=False)

    def fails(name: str, *args: Any, **kwargs: Any) -> object:
        if name == "Tensor.relu":
            raise KeyError("oh")
        return infer(name, *args, **kwargs)

    monkeypatch.setattr("simpletorch.follow.tensors.infer", fails)
    # of a size that no other test has: an answer that is known isn't asked for again
    text = "import torch\nx = torch.zeros(10_007)\ny = x.relu()\nfor i in y:\n    a, b = 1\n"
    (tmp_path / "program.py").write_text(text)
    followed = follow(tmp_path / "program.py")
    assert [f.line for f in followed.errors] == [5]
    assert {fault.partition(".py:")[2] for fault in followed.faults} == {"3: KeyError: 'oh'"}
