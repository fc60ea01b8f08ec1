"""``isinstance`` of values of every kind against classes of every kind: known as Python answers it, or unknown."""

import re
from pathlib import Path
from typing import Any

import pytest

from simpletorch.follow import follow

HEAD = """
import abc, collections, contextlib, dataclasses, datetime, decimal, enum, functools, numbers, os, pathlib, random
import types, typing
import numpy as np
import torch
class Sized:
    def __len__(self): return 3
    def __iter__(self): return iter([1])
    def __call__(self): return 3
    def step(self): return 2
class Plain: pass
class Full:
    __hash__ = None
    x = 3
    def __getitem__(self, i): return i
    def __contains__(self, i): return True
    def __reversed__(self): return self
    def __next__(self): return 1
    def __iter__(self): return self
    def __enter__(self): return self
    def __exit__(self, *a): return None
    def __float__(self): return 1.0
    def __int__(self): return 1
    def __index__(self): return 1
    def __abs__(self): return 1
    def __fspath__(self): return "a"
class OwnDict(dict): pass
class OwnList(list): pass
class OwnInt(int): pass
class OwnTuple(tuple): pass
class Stepping(abc.ABC):
    @abc.abstractmethod
    def step(self): ...
class Steps(Stepping):
    def step(self): return 1
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Data:
    x: int = 3
@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int = 3
class Named(typing.NamedTuple):
    x: int = 3
@typing.runtime_checkable
class HasStep(typing.Protocol):
    def step(self): ...
@typing.runtime_checkable
class HasX(typing.Protocol):
    x: int
@typing.runtime_checkable
class HasBoth(HasStep, typing.Protocol):
    def __len__(self): ...
class Derived(HasStep): pass
class Same:
    def __eq__(self, other): return True
class Net(torch.nn.Module):
    def step(self): return 1
def items():
    yield 1
def function(x): return x
"""
VALUES = (
    *("Sized()", "Plain()", "Full()", "OwnDict()", "OwnList()", "OwnInt(3)", "OwnTuple()", "Steps()", "Color.RED"),
    *("Data()", "Frozen()", "Named()", "Derived()", "Same()", "Net()", "items()", "function", "Plain", "lambda: 3"),
    *("len", "Sized().step", "[].append", "int", "type", "object()", "[1]", "(1,)", "{1: 2}", "{1}", "frozenset({1})"),
    *("'a'", "b'a'", "3", "2.5", "True", "None", "1j", "range(3)", "slice(3)", "...", "iter([1])", "enumerate([1])"),
    *("zip([1])", "map(function, [1])", "reversed([1])", "{1: 2}.keys()", "{1: 2}.values()", "{1: 2}.items()"),
    *("collections.OrderedDict()", "collections.Counter()", "collections.defaultdict(int)", "collections.deque()"),
    *("torch.zeros(3)", "torch.zeros(())", "torch.nn.Linear(3, 5)", "torch.nn.ModuleList()", "torch.nn.Sequential()"),
    *("torch.nn.Parameter(torch.zeros(2))", "np.zeros(3)", "np.float32(2)", "torch.float32", "torch.device('cpu')"),
    *("torch.Size([3])", "torch", "ValueError()", "pathlib.Path('a')", "functools.partial(function, 1)"),
    *("datetime.date(2020, 1, 1)", "random.Random()", "decimal.Decimal(1)", "bytearray(b'a')"),
)
_ABSTRACT = (
    *("Sized", "Iterable", "Iterator", "Callable", "Hashable", "Collection", "Container", "Reversible", "Sequence"),
    *("MutableSequence", "Mapping", "MutableMapping", "Set", "MutableSet", "Generator", "KeysView", "MappingView"),
)
CLASSES = (
    *(f"collections.abc.{name}" for name in _ABSTRACT),
    *("typing.Iterable", "typing.Sequence", "typing.Callable", "typing.Hashable", "typing.SupportsFloat"),
    *("typing.SupportsInt", "typing.SupportsIndex", "typing.SupportsAbs", "numbers.Number", "numbers.Integral"),
    *("os.PathLike", "contextlib.AbstractContextManager", "types.FunctionType", "types.MethodType", "types.NoneType"),
    *("types.ModuleType", "types.GeneratorType", "types.BuiltinFunctionType", "HasStep", "HasX", "HasBoth"),
    *("Stepping", "Sized", "Plain", "dict", "list", "tuple", "int", "float", "bool", "str", "object", "type", "set"),
    *("frozenset", "Exception", "torch.Tensor", "torch.nn.Module", "torch.nn.Parameter", "np.ndarray", "np.number"),
    *("enum.Enum", "collections.OrderedDict", "collections.Counter", "collections.deque", "torch.Size", "torch.dtype"),
    *("torch.device", "slice", "range", "(int, float)", "(Sized, dict)", "int | None", "list | tuple", "Sized | str"),
)
_KNOWN_AT_LEAST = 0.65
"""Of all answers."""


@pytest.fixture(scope="module")
def scope() -> dict[str, Any]:
    made: dict[str, Any] = {}
    exec("import collections.abc\n" + HEAD, made)
    return made


def test_every_answer_is_pythons_or_unknown(scope: dict[str, Any], tmp_path: Path) -> None:
    known = 0
    for value in VALUES:
        asked = [f"isinstance({value}, {cls})" for cls in CLASSES]
        lines = "".join(f"reveal_type({one})\n" for one in asked)
        head = "import collections.abc\n" + HEAD
        (tmp_path / "program.py").write_text(head + lines)
        told: dict[int, str] = {}
        for note in follow(tmp_path / "program.py").notes:
            if found := re.fullmatch(r'Revealed type is "(True|False|unknown.*|\?)"', note.message):
                told[note.line - head.count("\n") - 1] = found[1]
        assert len(told) == len(asked), value
        answers = {one: told[i] for i, one in enumerate(asked) if told[i] in ("True", "False")}
        known += len(answers)
        assert [one for one, answer in answers.items() if answer != str(eval(one, scope))] == []
    assert known > _KNOWN_AT_LEAST * len(VALUES) * len(CLASSES)
