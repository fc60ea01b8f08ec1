"""`install_import_hook`: every annotated function of a package is checked, and nothing else changes."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import simpletorch
from simpletorch import config, install_import_hook
from simpletorch.checks import is_bordered
from simpletorch.errors import ShapeMismatch, TypeMismatch

z = torch.zeros

SOURCE = '''\
"""The module's docstring."""
from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, no_type_check, overload

import torch
from jaxtyping import Float32
from torch import Tensor, nn

from simpletorch import Dim, checked
from simpletorch.dims import N


def twice(x: Float32[Tensor, "n"]) -> Float32[Tensor, "2*n"]:
    """Its docstring."""
    return torch.cat([x, x])


def bare(x):
    return x


def outer(x: Float32[Tensor, "n"]) -> Float32[Tensor, "n"]:
    def inner(y: Float32[Tensor, "n 3"]) -> Float32[Tensor, "n"]:
        return y.sum(1)

    return inner(x[:, None].expand(-1, 3) if len(x) < 5 else x)


@no_type_check
def anything(x: Float32[Tensor, "n"]) -> None: ...


@overload
def several(x: int) -> int: ...
@overload
def several(x: str) -> str: ...
def several(x: int | str) -> int | str:
    return x


@checked
def marked(x: Float32[Tensor, "n"]) -> None: ...


@functools.lru_cache
def cached(n: int) -> Float32[Tensor, "3"]:
    return torch.zeros(n)


@contextlib.contextmanager
def opened(x: Float32[Tensor, "3"]):
    yield x


@torch.no_grad()
def modes(n: int):
    for _ in range(n):
        yield torch.is_grad_enabled()


async def later(x: Float32[Tensor, "3"]) -> Float32[Tensor, "3"]:
    return x


class Net(nn.Module):
    def __init__(self, size: int = 3) -> None:
        super().__init__()
        self.fc = nn.Linear(size, 5)

    def forward(self, x: Float32[Tensor, "batch 3"]) -> Float32[Tensor, "batch 5"]:
        return self.fc(x)

    @property
    def weight(self) -> Float32[Tensor, "5 3"]:
        return self.fc.weight

    @staticmethod
    def static(x: Float32[Tensor, "3"]) -> None: ...

    @classmethod
    def of(cls, x: Float32[Tensor, "3"]) -> Net:
        return cls(len(x))


class Sized(nn.Module, Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        super().__init__()

    def forward(self, x: Float32[Tensor, "N"]) -> Float32[Tensor, "N"]:
        return x


@dataclass
class Batch:
    x: Float32[Tensor, "b 3"]
    y: Float32[Tensor, "b"]


class Pair(NamedTuple):
    x: Float32[Tensor, "b 3"]
    y: Float32[Tensor, "b"]


class Measure(Protocol):
    def of(self, x: Float32[Tensor, "3"]) -> float: ...
'''


@pytest.fixture(autouse=True)
def _no_bytecode_and_no_leftovers() -> Iterator[None]:
    before, path, finders = set(sys.modules), list(sys.path), list(sys.meta_path)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("hooked"):
            del sys.modules[name]
    sys.path[:], sys.meta_path[:] = path, finders


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., None]:
    sys.path.insert(0, str(tmp_path))

    def write(**files: str) -> None:
        (tmp_path / "hooked").mkdir(exist_ok=True)
        (tmp_path / "hooked" / "__init__.py").touch()
        for name, text in files.items():
            (tmp_path / "hooked" / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    return write


@pytest.fixture
def module(package: Any) -> types.ModuleType:
    package(part=SOURCE)
    with install_import_hook("hooked"):
        return importlib.import_module("hooked.part")


def test_functions_are_checked(module: Any):
    assert module.twice(z(3)).shape == (6,)
    with pytest.raises(ShapeMismatch, match="x has 2 dims, not 1") as caught:
        module.twice(z(3, 3))
    assert caught.value.operation == "twice"


def test_docstrings_names_and_source_stay(module: Any):
    assert module.__doc__ == "The module's docstring."
    assert module.twice.__doc__ == "Its docstring."
    assert inspect.getsource(module.twice).startswith("def twice")
    assert module.twice.__wrapped__.__code__.co_firstlineno == 17
    assert not any(name in vars(module) for name in ("simpletorch", "st"))


def test_functions_without_annotations_stay_as_they_are(module: Any):
    assert not is_bordered(module.bare)
    assert module.bare("x") == "x"


def test_nested_functions_are_checked(module: Any):
    assert module.outer(z(3)).shape == (3,)
    with pytest.raises(ShapeMismatch, match="y has 1 dim, not 2"):
        module.outer(z(5))


def test_what_is_marked_or_checked_already_is_left_alone(module: Any):
    module.anything("what it likes")
    assert module.several("x") == "x"
    with pytest.raises(TypeMismatch):
        module.several(1.5)
    with pytest.raises(TypeMismatch):
        module.marked(3)
    assert not is_bordered(module.marked.__wrapped__)


def test_other_decorators_see_the_checked_function(module: Any):
    assert module.cached(3).shape == (3,)
    with pytest.raises(ShapeMismatch):
        module.cached(4)
    with module.opened(z(3)) as x:
        assert x.shape == (3,)
    with pytest.raises(ShapeMismatch), module.opened(z(4)):
        pass
    assert list(module.modes(2)) == [False, False]


def test_coroutines(module: Any):
    assert asyncio.run(module.later(z(3))).shape == (3,)
    with pytest.raises(ShapeMismatch):
        asyncio.run(module.later(z(4)))


def test_methods_of_plain_torch_modules(module: Any):
    net = module.Net()
    assert net(z(2, 3)).shape == (2, 5)
    assert net.weight.shape == (5, 3)
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 4, not 3"):
        net(z(2, 4))
    with pytest.raises(TypeMismatch):
        module.Net("3")
    for call in (module.Net.static, module.Net.of):
        with pytest.raises(ShapeMismatch):
            call(z(4))
    net.fc = torch.nn.Linear(3, 7)
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 7, not 5"):
        _ = net.weight


def test_the_sizes_of_an_instance(module: Any):
    assert module.Sized(3)(z(3)).shape == (3,)
    with pytest.raises(ShapeMismatch, match="N is 3 in this Sized"):
        module.Sized(3)(z(5))


def test_dataclasses_and_named_tuples(module: Any):
    for cls in (module.Batch, module.Pair):
        cls(z(2, 3), z(2))
        with pytest.raises(ShapeMismatch):
            cls(z(2, 3), z(5))


def test_compile_sees_one_graph(module: Any):
    net = module.Net()
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(2, 3)), net(torch.ones(2, 3)))


def test_other_packages_and_later_imports_stay_unchecked(package: Any):
    package(part=SOURCE, other=SOURCE, third=SOURCE)
    with install_import_hook(["hooked.part"]):
        assert is_bordered(importlib.import_module("hooked.part").twice)
        assert not is_bordered(importlib.import_module("hooked.other").twice)
    assert not is_bordered(importlib.import_module("hooked.third").twice)


def test_the_hook_leaves_no_bytecode_behind(package: Any):
    package(part=SOURCE)
    with install_import_hook("hooked"):
        assert is_bordered(importlib.import_module("hooked.part").twice)
    del sys.modules["hooked.part"], sys.modules["hooked"]
    assert not is_bordered(importlib.import_module("hooked.part").twice)
    del sys.modules["hooked.part"], sys.modules["hooked"]
    with install_import_hook("hooked"):
        assert is_bordered(importlib.import_module("hooked.part").twice)


def test_a_package_may_install_the_hook_for_itself(package: Any):
    package(part=SOURCE)
    init = Path(sys.path[0]) / "hooked" / "__init__.py"
    init.write_text("import simpletorch\nwith simpletorch.install_import_hook(__name__):\n    from . import part\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_bordered(importlib.import_module("hooked").part.twice)


def test_off_leaves_every_function_as_it_is(package: Any):
    package(part=SOURCE)
    with config(check="off"), install_import_hook("hooked"):
        part = importlib.import_module("hooked.part")
    assert not is_bordered(part.twice)
    assert not hasattr(part.twice, "__wrapped__")


def test_two_hooks_check_once(package: Any):
    package(part=SOURCE)
    with install_import_hook("hooked"), install_import_hook("hooked.part"):
        part = importlib.import_module("hooked.part")
    assert is_bordered(part.twice)
    assert not is_bordered(part.twice.__wrapped__)


def test_an_error_in_the_package_is_told_at_its_line(package: Any):
    package(part="from __future__ import annotations\ndef f(x: int) -> int:\n    return x +\n")
    with install_import_hook("hooked"), pytest.raises(SyntaxError) as caught:
        importlib.import_module("hooked.part")
    assert caught.value.lineno == 3
    assert caught.value.filename.endswith("part.py")


def test_a_hook_can_be_uninstalled_twice():
    hook = install_import_hook("hooked")
    assert repr(hook) == "<simpletorch import hook for hooked>"
    hook.uninstall()
    hook.uninstall()
    assert hook not in sys.meta_path


def test_bad_names_are_told():
    with pytest.raises(ValueError, match=r"install_import_hook\('my-pkg'\): that is no module's name"):
        install_import_hook("my-pkg")
    with pytest.raises(ValueError, match="names no module"):
        install_import_hook([])
    with pytest.raises(TypeError, match="takes names of modules, such as 'mypkg', not _Face"):
        install_import_hook([simpletorch])
    with pytest.warns(RuntimeWarning, match="asyncio is imported already and stays unchecked"):
        install_import_hook("asyncio").uninstall()
