"""Collectives: the sizes that every backend asks for, compared with what two processes of gloo do."""

import json

import pytest

from simpletorch.rules import ANYTHING, Group, Many, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT64
from simpletorch.shapes import UNKNOWN, Shape, var
from tests import meeting
from tests.rules.functions.communicating.calls import ALONE, CASES, both

DIST, OURS, FUNCTIONAL = "torch.distributed", "simpletorch.distributed", "torch.distributed._functional_collectives"


def _floats(*dims):
    return tensor(*dims, dtype=FLOAT32)


def _value(given):
    if isinstance(given, list):
        return tuple(map(_value, given))
    if not isinstance(given, tuple):
        return given
    return tensor(*given[1:], dtype=INT64) if given[0] == "long" else _floats(*given)


def _said(name, world, **given):
    return infer(f"{DIST}.{name}", (), {**{k: _value(v) for k, v in given.items()}, "group": Group(world)})


@pytest.fixture(scope="module")
def works(tmp_path_factory):
    """What two processes do, by case."""
    folder = tmp_path_factory.mktemp("works")
    meeting.start(both, (folder,), 2)
    return json.loads((folder / "works.json").read_text())


def test_a_rule_refuses_what_torch_refuses_and_nothing_else(works):
    said = [not isinstance(_said(name, 1 if name in ALONE else 2, **given), Report) for name, given in CASES]
    assert {i: CASES[i] for i, (a, b) in enumerate(zip(said, works, strict=True)) if a is not b} == {}
    assert True in works
    assert False in works


def test_of_an_unknown_number_of_processes_only_what_no_number_makes_right_is_refused():
    right = _said("all_gather_into_tensor", UNKNOWN, output_tensor=(14, 3), input_tensor=(7, 3))
    wrong = _said("all_gather_into_tensor", UNKNOWN, output_tensor=(13, 3), input_tensor=(7, 3))
    assert right is ANYTHING
    assert isinstance(wrong, Report)
    assert wrong.reason == (
        "output_tensor has 39 elements, which is no multiple of the 21 of input_tensor; it must have them once for "
        "each process"
    )


def test_a_list_of_which_only_an_item_is_known_holds_tensors_of_that_size():
    given = {"tensor_list": Many(_floats(7, 5)), "tensor": _floats(7, 3), "group": Group(UNKNOWN)}
    assert isinstance(infer(f"{DIST}.all_gather", (), given), Report)
    assert infer(f"{DIST}.all_gather", (), {**given, "tensor": _floats(7, 5)}) is ANYTHING


def test_processes_that_neither_send_nor_get_give_no_list():
    assert _said("gather", 2, tensor=(5,)) is ANYTHING
    assert _said("scatter", 2, tensor=(5,), scatter_list=[]) is ANYTHING


@pytest.mark.parametrize("world", [2, 3, var("W")])
def test_ours_multiply_and_divide_a_dim(world):
    group = {"group": Group(world)}
    assert infer(f"{OURS}.all_gather", (_floats(7, 12), 1), group) == _floats(7, 12 * world)
    assert infer(f"{OURS}.reduce_scatter", (_floats(12, 7),), group) == _floats(12 // world, 7)
    assert infer(f"{OURS}.scatter", (_floats(7, 12),), {"dim": -1, **group}) == _floats(7, 12 // world)
    for name in ("all_reduce", "broadcast", "all_to_all"):
        assert infer(f"{OURS}.{name}", (_floats(12, 7),), group) == _floats(12, 7)


@pytest.mark.parametrize("name", ["reduce_scatter", "scatter", "all_to_all"])
def test_a_dim_that_processes_cant_share_equally_is_refused(name):
    found = infer(f"{OURS}.{name}", (_floats(7, 3),), {"group": Group(2)})
    assert isinstance(found, Report)
    assert found.reason == "dim 0 of (7, 3) is 7, which 2 processes can't share equally"
    assert found.hint == "pad it to 8"


def test_functional_ones_give_new_tensors():
    x, group = _floats(12, 7), {"group": Group(3)}
    assert infer(f"{FUNCTIONAL}.all_gather_tensor", (x, 1), group) == _floats(12, 21)
    assert infer(f"{FUNCTIONAL}.reduce_scatter_tensor", (x, "sum", 0), group) == _floats(4, 7)
    assert infer(f"{FUNCTIONAL}.all_to_all_single", (x, (5, 2, 1), None), group) == _floats(8, 7)
    assert infer(f"{FUNCTIONAL}.all_to_all_single", (x, None, None), group) == x
    assert infer(f"{FUNCTIONAL}.all_reduce", (x, "sum"), group) == x


def test_those_with_gradients_give_one_tensor_from_each_process():
    x, name = _floats(7), f"{DIST}.nn.functional.all_gather"
    assert infer(name, (x,), {"group": Group(3)}) == (x, x, x)
    assert infer(name, (x,), {"group": Group(UNKNOWN)}) == Many(x)


def test_a_dim_that_isnt_there_is_refused():
    assert isinstance(infer(f"{OURS}.all_gather", (_floats(7, 3), 2)), Report)


def test_of_a_tensor_of_any_rank_nothing_is_said():
    unknown = TensorType(dtype=FLOAT32)
    assert infer(f"{OURS}.all_gather", (unknown,), {"group": Group(3)}).dtype == FLOAT32
    assert infer(f"{DIST}.all_gather_into_tensor", (unknown, unknown), {"group": Group(3)}) is ANYTHING
    assert infer(f"{OURS}.all_gather", (TensorType(Shape((UNKNOWN, 3))),), {"group": Group(3)}).shape.dim(1) == 3
