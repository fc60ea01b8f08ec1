"""Which files are programs, and which a library's."""

from pathlib import Path

import pytest

from simpletorch._programs import kind_of

PROGRAMS = {
    "a main program": "import torch\n\nif __name__ == '__main__':\n    main()\n",
    "tensors at the margin": "import torch\nx = torch.zeros(3)\n",
    "a layer over several lines": "from torch import nn\nnet = Net(\n    nn.Linear(3, 5),\n)\n",
    "a loop that trains": "for x, y in loader:\n    loss = model(x).sum()\n    loss.backward()\n",
    "below a text": '"""Trains\nfor ever.\n"""\nmodel.train()\n',
}
DEFINITIONS = {
    "functions": "import torch\n\ndef f():\n    return torch.zeros(3)\n",
    "classes and constants": """\
import torch
from torch import nn
DTYPE = torch.float32

class Net(nn.Module):
    def forward(self, x):
        return nn.functional.relu(x)
""",
    "registrations": "@register\ndef net():\n    return Net()\n\nregister('a', {'b': 1})\n",
    "what is asked of torch": "try:\n    HAS = torch.ops.aten.add_.overloads()\nexcept Exception:\n    HAS = 0\n",
    "a program in a text": '"""Use it so:\n\nx = torch.zeros(3)\nif __name__ == "__main__": pass\n"""\nSIZE = 3\n',
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "__init__.py").touch()
    return tmp_path


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_file_of_a_package_that_is_run_is_a_program(package, text):
    assert kind_of(package / "train.py", text) == "program"


@pytest.mark.parametrize("text", DEFINITIONS.values(), ids=DEFINITIONS)
def test_one_that_only_defines_is_a_librarys(package, text):
    assert kind_of(package / "net.py", text) is None
    annotated = "from jaxtyping import Float\n" + text
    assert kind_of(package / "net.py", annotated) == "library"


def test_tests_are_programs(package):
    assert kind_of(package / "test_net.py", "def test_net():\n    assert Net()\n") == "program"
    assert (
        kind_of(package / "net_test.py", "class TestNet:\n    def test_net(self):\n        assert Net()\n") == "program"
    )


def test_a_file_in_no_package_is_a_program(tmp_path):
    assert kind_of(tmp_path / "model.py", DEFINITIONS["functions"]) == "program"


@pytest.mark.parametrize(
    "words",
    [
        "SIZES = (3, 4)  # nn.Linear(3, 4) in model.train()\n",
        'TEXT = "model.train()"\n',
        "TEXT = (\n    'torch.zeros(3)'\n)\n",
        "for name in ('a', 'b'):\n    HELP = 'opt.step()'  # loss.backward()\n",
    ],
)
def test_words_in_comments_and_texts_make_no_program(words, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    assert kind_of(package / "net.py", "import torch\n" + words) is None
    assert kind_of(package / "net.py", "import torch\n" + words + "x = torch.zeros(3)\n") == "program"
    assert kind_of(package / "net.py", words + "if __name__ == '__main__':\n    main()\n") == "program"
    quoted = 'TEXT = """\nimport jaxtyping\nfrom simpletorch import Tensor\n"""\n'
    assert kind_of(package / "net.py", quoted + words) is None
    assert kind_of(package / "net.py", quoted + words + "import jaxtyping\n") == "library"
    assert kind_of(package / "test_net.py", "'''\ndef test_it(): pass\n'''\n") != "program"
