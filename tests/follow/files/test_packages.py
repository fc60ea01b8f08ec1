"""A file of a package that only defines: of the package is run what the file needs, when it is needed."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

NET = """
from torch import nn
from .sizes import HIDDEN
from .layers import *
from .registry import NAMES, register
from .heavy import unused
import pkg.sizes as sizes
from . import sizes as same_sizes


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Wide(HIDDEN), nn.Linear(sizes.HIDDEN, 11)

    def forward(self, x):
        return self.second(self.first(x))


@register
def narrow(hidden: int = same_sizes.HIDDEN):
    print(hidden)
    return Net()
"""
FILES = {
    "__init__.py": "from .heavy import *\nfrom .net import Net\n",
    "sizes.py": "from .heavy import unused\n\nHIDDEN = 7\n",
    "layers.py": "from torch import nn\n\n__all__ = ['Wide']\n\n\nclass Wide(nn.Linear):\n    def __init__(self, n):\n"
    "        super().__init__(n, 2 * n)\n",
    "registry.py": "NAMES = {}\nFIXED = {'a': 3}\n\n\ndef register(f):\n    NAMES[f.__name__] = f\n    return f\n",
    "heavy.py": "import torch\n\nunused = 5\n\n\ndef print_all():\n    print(unused)\n",
    "net.py": NET,
}


def followed(folder: Path, main: str = "net.py", **changed: str) -> Followed:
    """What following a file of the package says, with some files changed."""
    package = folder / "pkg"
    package.mkdir(exist_ok=True)
    for name, text in (FILES | {f"{name}.py": text for name, text in changed.items()}).items():
        (package / name).write_text(text)
    found = follow(package / main)
    assert not found.faults
    return found


def files(found: Followed) -> set[str]:
    return {Path(file).name for file in found.files}


def test_what_is_not_needed_is_not_read_and_mistakes_are_found(tmp_path):
    found = followed(tmp_path)
    assert [(f.line, f.code) for f in found.errors] == [(17, "tensor-shape")]
    assert "Linear(7, 11): the last dim of input is 14" in found.errors[0].message
    assert files(found) == {"net.py", "sizes.py", "layers.py", "registry.py"}


def test_a_program_of_the_package_runs_all_that_it_imports(tmp_path):
    found = followed(tmp_path, net=NET + "\n\nif __name__ == '__main__':\n    Net()\n")
    assert [(f.line, f.code) for f in found.errors] == [(17, "tensor-shape")]
    assert files(found) == {*FILES}


@pytest.mark.parametrize("line", ["x = NAMES['wide']", "x = len(NAMES)", "x = 'wide' in NAMES", "x = [*NAMES]"])
def test_what_modules_that_are_not_run_may_have_registered_is_not_known(tmp_path, line):
    text = f"import torch\nfrom .registry import NAMES, FIXED, register\n\n\ndef f():\n    {line}\n    y = FIXED['a']\n"
    found = followed(tmp_path, net=text)
    path = str(tmp_path / "pkg/net.py")
    assert not found.errors
    assert "x" not in found.shapes_at(path, 6)
    assert found.shapes_at(path, 7)["y"] == [3]


def test_a_name_of_pythons_own_is_found_behind_an_import_of_everything(tmp_path):
    text = "import torch\nfrom .heavy import *\n\n\ndef f():\n    x = torch.zeros(max(3, len('ab')), unused)\n"
    found = followed(tmp_path, net=text)
    assert [*map(str, found.shapes_at(str(tmp_path / "pkg/net.py"), 6)["x"])] == ["Float32[3, 5]"]


def test_an_import_that_is_asked_for_in_a_branch_stays(tmp_path):
    text = """
import torch
from torch import Tensor
from jaxtyping import Float
from .sizes import HIDDEN


def f(x: Float[Tensor, "3"], flag: bool):
    if flag:
        y = torch.zeros(HIDDEN)
    else:
        y = torch.zeros(HIDDEN)
    z = torch.zeros(HIDDEN, 3)
    return y @ z


def g():
    return torch.zeros(5, HIDDEN) @ torch.zeros(HIDDEN + 1, 3)
"""
    found = followed(tmp_path, net=text)
    assert [(f.line, f.code) for f in found.errors] == [(18, "tensor-shape")]
    assert [*map(str, found.shapes_at(str(tmp_path / "pkg/net.py"), 13)["z"])] == ["Float32[7, 3]"]


def test_a_package_that_sets_something_for_all_is_run_as_a_whole(tmp_path):
    text = "import torch\n\n\ndef f():\n    x = torch.zeros(3)\n    return x\n"
    setting = "import torch\n\ntorch.set_default_dtype(torch.float64)\nfrom .sizes import HIDDEN\n"
    found = followed(tmp_path, net=text + "\nfrom . import sizes\n", __init__=setting)
    assert {"__init__.py", "sizes.py"} <= files(found)


def test_modules_that_import_each_other_are_run(tmp_path):
    sizes = "from .layers import BASE\n\nHIDDEN = BASE + 2\n"
    layers = FILES["layers.py"].replace("\n\n\nclass", "\nfrom . import sizes\n\nBASE = 5\n\n\nclass")
    found = followed(tmp_path, sizes=sizes, layers=layers.replace("2 * n", "2 * sizes.HIDDEN"))
    assert [(f.line, f.code) for f in found.errors] == [(17, "tensor-shape")]


def test_of_a_library_only_annotated_entries_are_followed(tmp_path):
    text = """
import torch
from torch import nn
from jaxtyping import Float
from torch import Tensor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x):
        return self.fc(self.fc(x))


class Annotated(Net):
    def forward(self, x: Float[Tensor, "b 3"]):
        return self.fc(self.fc(x))


def free():
    return torch.zeros(3, 5) @ torch.zeros(3)


def annotated(x: Float[Tensor, "b 3"]):
    return x @ torch.zeros(5, 7)
"""
    followed(tmp_path, net=text)
    path = tmp_path / "pkg/net.py"
    assert [f.line for f in follow(path).errors] == [14, 19, 23, 27]
    assert [f.line for f in follow(path, kind="library").errors] == [19, 27]


def test_of_many_functions_that_need_nothing_some_are_followed(tmp_path):
    builders = "".join(
        f"\n\ndef net{i}():\n    for i in range(100):\n        x = torch.zeros({i + 2}) @ torch.zeros({i + 2})\n"
        for i in range(100)
    )
    found = followed(tmp_path, net="import torch\n" + builders)
    reached = {line for path, line in found.claims if path.endswith("net.py")}
    assert 10 < len(reached) < 150
    assert found.complete
    assert any("too many functions that are never called" in r for rs in found.reasons.values() for r in rs)


def test_a_file_is_found_in_its_package_by_a_path_that_begins_in_it(tmp_path, monkeypatch):
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (inner / "__init__.py").touch()
    (inner.parent / "__init__.py").touch()
    (inner.parent / "sizes.py").write_text("SIZE = 7\n")
    head = "import torch\n\nfrom ..sizes import SIZE\n\n"
    for program in (
        "x = torch.zeros(2, 5) @ torch.zeros(SIZE, 3)",
        "def f(): return torch.zeros(2, 5) @ torch.zeros(SIZE, 3)",
    ):
        (inner / "net.py").write_text(head + program)
        monkeypatch.chdir(inner)
        assert [(f.path, f.line) for f in follow("net.py").errors] == [("net.py", 5)]
