"""What tensors carry beside their types: all of it, wherever another tensor is made of one."""

import ast
from pathlib import Path

import pytest

import simpletorch.follow
from simpletorch.follow import follow
from simpletorch.follow.heap import Heap
from simpletorch.follow.marks import carried
from simpletorch.follow.marks.layout import CONTIGUOUS
from simpletorch.follow.marks.mark import FORGOTTEN, Marks
from simpletorch.follow.marks.origins import ASKED
from simpletorch.follow.marks.spread import PLAIN
from simpletorch.follow.values import Tensor
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.shapes import Shape

KIND = TensorType(Shape((1, 1)), FLOAT32)
KNOWN = Marks(spread=PLAIN, layout=CONTIGUOUS, origins=(ASKED, ASKED), place="cuda", batch=0)
BY_NAME = {mark.name: mark for mark in carried.MARKS}


def tensor() -> Tensor:
    made = Tensor(KIND)
    made.marks = KNOWN
    return made


def test_the_record_has_a_field_for_each_mark_in_order():
    assert Marks._fields == tuple(mark.name for mark in carried.MARKS)[-len(Marks._fields) :]
    assert None not in KNOWN


def test_each_mark_is_in_the_tuple():
    folder = Path(simpletorch.follow.__file__).parent
    files = [path for name in ("marks", "numbers") for path in sorted((folder / name).glob("*.py"))]
    classes = [n for path in files for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef)]
    found = {c.name for c in classes if any(ast.unparse(base).partition("[")[0] == "Mark" for base in c.bases)}
    assert found == {type(mark).__name__ for mark in carried.MARKS}


@pytest.mark.parametrize("name", Marks._fields)
def test_of_two_alike_the_mark_is_known(name):
    one, other = tensor(), tensor()
    assert getattr(carried.common(one, other, KIND).marks, name) == getattr(KNOWN, name)
    BY_NAME[name].put(other, None)
    assert getattr(carried.common(one, other, KIND).marks, name) is None


def test_another_one_has_all_marks():
    assert carried.another(tensor()).marks == KNOWN


def test_another_object_for_the_same_numbers_has_all_marks_but_its_place():
    """A module's parameters are moved beside their marks."""
    assert tensor().like(KIND).marks == KNOWN._replace(place=None)


@pytest.mark.parametrize("name", Marks._fields)
def test_what_is_forgotten_on_one_way_is_known_on_the_other(name):
    heap, one = Heap(), tensor()
    heap.begin()
    heap.write(one.cells, FORGOTTEN[name], True)
    one.cells["an attribute"] = 3
    assert one.known == KNOWN._replace(**{name: None})
    heap.end()
    assert one.known == KNOWN


LSTM = """
import copy
import torch
from torch import nn
batch_size, steps, n = 4, 7, torch.randn(3).argmax().item()
labels = torch.randint(0, 3, (batch_size,))
"""


@pytest.mark.parametrize(
    "given",
    ["x", "x.data", "x.cpu()", "copy.deepcopy(x)", "next(iter([x] * n))", "x.pin_memory()", "first"],
)
def test_which_dim_the_samples_are_isn_t_lost(given, tmp_path):
    program = tmp_path / "program.py"
    x = "x = torch.randn(batch_size, steps, 8)\nfirst, *rest = [x for _ in range(n)]\n"
    program.write_text(f"{LSTM}{x}nn.LSTM(8, 16)({given})\n")
    assert [(found.line, found.code) for found in follow(program).warnings] == [(9, "tensor-mixed")]


def test_a_copy_of_a_module_is_where_the_module_was_moved(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import copy
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(3, 5)
nn.init.ones_(model.weight)
model.to(device)
averaged = copy.deepcopy(model)
with torch.no_grad():
    for mean, weight in zip(averaged.parameters(), model.parameters()):
        mean.mul_(0.9).add_(weight, alpha=0.1)
""")
    assert follow(program).errors == ()
