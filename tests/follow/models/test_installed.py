"""Installed libraries are followed into their source: small ones, put where packages are installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from simpletorch.follow import Followed, follow
from simpletorch.follow.sources import installed, packages

_BLOCKS = """
    import os
    import torch
    from torch import nn
    from .registry import register

    raise_at_import = os.environ["never set"]

    class Block(nn.Module):
        def __init__(self, dim, hidden=None):
            super().__init__()
            hidden = hidden or 2 * dim
            self.inner = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

        def forward(self, x):
            return x + self.inner(x)

    @register
    def halves(x):
        return x[: len(x) // 2]

    def depends(x, flag):
        if flag:
            return x @ torch.zeros(2, 3)
        return x

    def slow(x, kept):
        kept.append(x)
        for i in range(9):
            x = x + i
            x = x * 2
        return x

    def refuses(x):
        if x.shape[0] % 2:
            raise ValueError("odd")
        return x

    def refuses_in_the_dark(x):
        if something_else(x) or x.shape[0] % 2:
            raise ValueError("odd")
        raise ValueError("even")

    def never_meant(model):
        model.eval()
        for p in model.parameters():
            p.grad = None
        return torch.zeros(3, 1) + torch.zeros(3)

    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x)

    def __getattr__(name):
        raise AttributeError(name)
"""
_LIBRARY = {
    "__init__.py": """
        from typing import TYPE_CHECKING
        from .blocks import Block, halves
        from .more import *
        from . import blocks
        if TYPE_CHECKING:
            from .late import Late
        else:
            import sys
            sys.modules[__name__] = make_lazy(__name__)
    """,
    "blocks.py": _BLOCKS,
    "registry.py": """
        known = {}

        def register(function):
            known[function.__name__] = function
            return function

        def named(name):
            return known[name]
    """,
    "more.py": """
        import torch
        __all__ = ["Shown"]
        SIZE = 3
        SIZE = SIZE + 4

        class Shown:
            width = SIZE

        class Hidden:
            width = 1
    """,
    "late.py": """
        try:
            import a_package_that_is_not_there as optional
        except ImportError:
            optional = None
        import torch

        class Late:
            def __call__(self, x):
                return x.flatten(1) if optional is None else x
    """,
}
_HEAD = "import torch\nimport parts\nfrom torch import nn\n"


@pytest.fixture(autouse=True)
def _no_cache() -> Iterator[None]:
    kept = [f for f in vars(installed).values() if hasattr(f, "cache_clear")]
    for function in kept:
        function.cache_clear()
    yield
    for function in kept:
        function.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python finds installed packages in, with the package ``parts``."""
    folder = tmp_path / "site-packages"
    (folder / "parts").mkdir(parents=True)
    for name, text in _LIBRARY.items():
        (folder / "parts" / name).write_text(dedent(text))
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def followed(site: Path, tmp_path: Path) -> Callable[[str], Followed]:
    """What is found of a program that uses the package."""

    def work(program: str) -> Followed:
        path = tmp_path / "program.py"
        path.write_text(_HEAD + program)
        found = follow(path)
        assert found.faults == ()
        assert "parts" not in sys.modules
        return found

    return work


def _shown(found: Followed) -> list[str]:
    return [note.message.removeprefix('Revealed type is "').removesuffix('"') for note in found.notes]


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("reveal_type(parts.Block(5)(torch.zeros(3, 5)))", "Float32[3, 5]"),
        ("from parts import Block as B\nreveal_type(B(5, 7)(torch.zeros(3, 5)))", "Float32[3, 5]"),
        ("from parts.blocks import Block\nreveal_type(Block(5)(torch.zeros(3, 5)))", "Float32[3, 5]"),
        ("import parts.blocks as b\nreveal_type(b.Block(5)(torch.zeros(3, 5)))", "Float32[3, 5]"),
        ("reveal_type(parts.blocks.Block(5).inner[0].out_features)", "10"),
        ("reveal_type(parts.halves(torch.zeros(6, 5)))", "Float32[3, 5]"),
        ("reveal_type(parts.Shown.width)", "7"),
        ("reveal_type(parts.Late()(torch.zeros(2, 3, 5)))", "Float32[2, 15]"),
        ("reveal_type(parts.blocks.Wrapper(nn.Linear(5, 7))(torch.zeros(3, 5)))", "Float32[3, 7]"),
        (
            "class Mine(parts.Block):\n    def __init__(self):\n        super().__init__(5)\n"
            "        self.out = nn.Linear(5, 11)\n"
            "    def forward(self, x):\n        return self.out(super().forward(x))\n"
            "reveal_type(Mine()(torch.zeros(3, 5)))",
            "Float32[3, 11]",
        ),
    ],
)
def test_what_a_library_gives_is_known(followed: Callable[[str], Followed], program: str, shown: str):
    found = followed(program)
    assert _shown(found) == [shown]
    assert not found.errors


def test_a_mistake_is_the_callers_with_the_librarys_line(followed: Callable[[str], Followed], site: Path):
    found = followed("block = parts.Block(5)\ny = block(torch.zeros(3, 7))\n")
    (error,) = found.errors
    line = (site / "parts/blocks.py").read_text().splitlines().index("        return x + self.inner(x)") + 1
    assert (Path(error.path).name, error.line, error.code) == ("program.py", 5, "tensor-shape")
    assert error.hint is not None
    assert f"it fails in parts/blocks.py:{line}" in error.hint


def test_what_a_library_surely_refuses_is_a_mistake(followed: Callable[[str], Followed]):
    (error,) = followed("parts.blocks.refuses(torch.zeros(3))\n").errors
    assert (error.line, error.code, error.message) == (4, "tensor-option", "refuses refuses this: odd")


def test_a_mistake_of_the_program_in_a_library_is_where_it_stands(followed: Callable[[str], Followed]):
    program = """
class Inner(nn.Module):
    def forward(self, x):
        return x @ torch.zeros(2, 3)
parts.blocks.Wrapper(Inner())(torch.zeros(3, 5))
"""
    (error,) = followed(program).errors
    assert (error.line, error.hint is None or "it fails in" not in error.hint) == (7, True)


@pytest.mark.parametrize(
    "program",
    [
        "import random\nparts.blocks.depends(torch.zeros(3, 5), random.random() > 0.5)",
        "import random\nif random.random() > 0.5:\n    parts.Block(5)(torch.zeros(3, 7))",
        "def never_called():\n    parts.Block(5)(torch.zeros(3, 7))",
        "parts.blocks.refuses(torch.zeros(4))",
        "import random\nparts.blocks.refuses(torch.zeros(random.choice([2, 3])))",
        "parts.blocks.refuses_in_the_dark(torch.zeros(3))",
        "try:\n    parts.blocks.refuses(torch.zeros(3))\nexcept ValueError:\n    pass",
        "parts.blocks.no_such_name(3)",
        "model = nn.Linear(3, 5)\nparts.blocks.never_meant(model)",
        "try:\n    parts.Block(5)(torch.zeros(3, 7))\nexcept RuntimeError:\n    pass",
    ],
    ids=[
        *("unsure", "on one way", "an entry", "no raise", "an unsure raise", "an unclear raise", "a caught raise"),
        *("a missing name", "style", "caught"),
    ],
)
def test_nothing_is_said_of_what_is_not_certain(followed: Callable[[str], Followed], program: str):
    found = followed(program + "\nreveal_type(torch.zeros(2) * 2)\n")
    assert not found.errors
    assert not found.warnings
    assert not found.remarks
    assert found.ended == ""
    assert _shown(found) == ["Float32[2]"]


def test_what_takes_too_long_is_unknown_and_may_have_changed_its_arguments(
    followed: Callable[[str], Followed], monkeypatch: pytest.MonkeyPatch
):
    program = "kept = []\nx = parts.blocks.slow(torch.zeros(3), kept)\nreveal_type(x)\nreveal_type(len(kept))\n"
    program += "reveal_type(parts.Block(5)(torch.zeros(3, 5)))"
    assert _shown(followed(program)) == ["Float32[3]", "1", "Float32[3, 5]"]
    monkeypatch.setattr(packages, "_STEPS_OF_CALL", 15)
    found = followed(program)
    assert (found.complete, found.is_cut, found.errors) == (True, False, ())
    assert [text.startswith("unknown") for text in _shown(found)] == [True, True, False]


def test_a_call_that_took_too_long_is_not_tried_again(
    followed: Callable[[str], Followed], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(packages, "_STEPS_OF_CALL", 15)
    tried = []
    spending = packages.Packages.spending
    monkeypatch.setattr(
        packages.Packages, "spending", lambda self, run: (tried.append(self.depth), spending(self, run))[1]
    )
    call = "parts.blocks.slow(torch.zeros(3), [])\n"
    followed(call)
    once = tried.count(0)
    tried.clear()
    followed(3 * call)
    assert tried.count(0) == once > 1


def test_what_the_registry_of_a_module_holds_is_not_all(followed: Callable[[str], Followed]):
    program = "from parts.registry import named\nparts.halves\nreveal_type(named('other')(torch.zeros(3)))"
    assert _shown(followed(program))[0].startswith("unknown")


def test_a_library_without_torch_is_not_followed(followed: Callable[[str], Followed], site: Path):
    (site / "plain.py").write_text("def double(x):\n    return 2 * x\n")
    assert _shown(followed("import plain\nreveal_type(plain.double(3))"))[0].startswith("unknown")


def test_a_setting_switches_it_off(followed: Callable[[str], Followed], tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[tool.simpletorch]\nlibraries = false\n")
    found = followed("y = parts.Block(5)(torch.zeros(3, 7))\nreveal_type(y)")
    assert not found.errors
    assert _shown(found)[0].startswith("unknown")


def test_the_librarys_files_are_looks(site: Path, tmp_path: Path):
    from simpletorch import _outside as outside

    path = tmp_path / "program.py"
    path.write_text(_HEAD + "y = parts.Block(5)(torch.zeros(3, 5))\n")
    with outside.recording() as looks:
        follow(path)
    assert str(site / "parts/blocks.py") in looks.answers["content"]
    assert looks.answers["source"]["parts.blocks"] == str(site / "parts/blocks.py")
    assert outside.still(looks.answers, installed.AGAIN)
    (site / "parts/blocks.py").write_text("import torch\n")
    assert not outside.still(looks.answers, installed.AGAIN)
