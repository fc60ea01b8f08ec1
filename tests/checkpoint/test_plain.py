"""Plain data and tensors come back as they were."""

import dataclasses
import enum
import json
import math
import pathlib
import random
from collections import Counter, OrderedDict, deque

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simpletorch.checkpoint._plain import pack, unpack
from simpletorch.errors import CheckpointError


def through_json(value, **options):
    tensors = {}
    packed = json.loads(json.dumps(pack(value, tensors, **options), allow_nan=False))
    return unpack(packed, tensors)


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and left.shape == right.shape and repr(left.tolist()) == repr(right.tolist())
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=True)
        return len(left) == len(right) and all(same(a, c) and same(b, d) for (a, b), (c, d) in pairs)
    if isinstance(left, (list, tuple, deque)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right or left != left


atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.complex_numbers()
    | st.sampled_from([torch.float32, torch.device("cuda", 1), torch.Size([2, 3]), np.float32(0.1), np.int8(-3)])
)
keys = st.text(max_size=3) | st.integers() | st.booleans() | st.sampled_from(["$", "v", (1, "a"), None, 0.5])
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3).map(OrderedDict)
        | st.lists(inner, max_size=3).map(lambda items: deque(items, 5))
        | st.sets(st.integers() | st.text(), max_size=3)
        | st.frozensets(st.floats(allow_nan=False), max_size=3)
        | st.dictionaries(keys, st.integers(), max_size=3).map(Counter)
    ),
    max_leaves=13,
)


@settings(deadline=None, max_examples=300)
@given(values)
def test_plain_data_comes_back(value):
    assert same(through_json(value), value)


DTYPES = [getattr(torch, name) for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)]
QUANTIZED = {torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4}


@pytest.mark.parametrize("dtype", [d for d in dict.fromkeys(DTYPES) if d not in QUANTIZED and d.itemsize], ids=str)
def test_every_dtype_comes_back_with_all_its_bits(dtype):
    raw = torch.frombuffer(bytearray(random.Random(0).randbytes(7 * dtype.itemsize)), dtype=torch.uint8)
    tensor = (raw % 2).view(dtype) if dtype == torch.bool else raw.view(dtype)
    back = through_json({"x": tensor})["x"]
    assert back.dtype == dtype
    assert torch.equal(back.view(torch.uint8), tensor.view(torch.uint8))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),
        torch.zeros(0, 5),
        torch.arange(15).reshape(3, 5).T,
        torch.arange(15)[2::3],
        torch.arange(5).expand(3, 5),
        torch.randn(3, 5, dtype=torch.complex64).conj(),
        torch.nn.Parameter(torch.ones(2)),
    ],
    ids=["0-d", "empty", "transposed", "strided", "expanded", "conjugate", "parameter"],
)
def test_every_layout_comes_back(tensor):
    back = through_json([tensor])[0]
    assert torch.equal(back, tensor)
    assert type(back) is torch.Tensor


def test_one_memory_read_with_two_signs_comes_back():
    value = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0]))
    there = {"a": value.imag, "b": value.conj().imag}  # the second is minus the first, at its address
    back = through_json(there)
    assert torch.equal(back["a"], there["a"])
    assert torch.equal(back["b"], there["b"])


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i1", ">i2", "u4", "u8", "?", "c8", "c16"])
def test_arrays_come_back(dtype):
    array = np.arange(15).reshape(3, 5).T.astype(dtype)
    back = through_json(array)
    assert back.dtype == np.dtype(dtype).newbyteorder("=")
    assert np.array_equal(back, array)
    assert through_json(np.array(2.5)).shape == ()


def test_two_references_to_a_tensor_stay_two_references_to_one():
    tensor = torch.arange(3.0)
    tensors = {}
    packed = pack({"a": tensor, "b": [tensor, tensor[:2]]}, tensors)
    assert sorted(tensors) == ["a", "b.1"]
    back = unpack(packed, tensors)
    assert back["a"] is back["b"][0]


def test_tensors_are_named_by_their_place():
    tensors = {}
    pack({"model": OrderedDict({"fc.weight": torch.ones(2)}), "m": [{0: torch.ones(1)}]}, tensors)
    assert sorted(tensors) == ["m.0.0", "model.fc.weight"]


def test_places_with_one_name_stay_apart():
    value = {"a.b": torch.ones(1), "a": {"b": torch.zeros(1)}}
    assert same(through_json(value), value)


def test_a_copy_does_not_follow_the_original():
    tensor, array = torch.zeros(3), np.zeros(3)
    tensors = {}
    packed = pack([tensor, array], tensors, copy=True)
    tensor.fill_(1)
    array.fill(1)
    kept_tensor, kept_array = unpack(packed, tensors)
    assert not kept_tensor.any()
    assert not kept_array.any()


def test_the_versions_of_modules_are_kept():
    state = torch.nn.Sequential(torch.nn.BatchNorm1d(3)).state_dict()
    assert dict(through_json(state)._metadata) == dict(state._metadata)


def test_infinities_and_nan():
    back = through_json([math.inf, -math.inf, math.nan, -0.0])
    assert back[:2] == [math.inf, -math.inf]
    assert math.isnan(back[2])
    assert math.copysign(1, back[3]) == -1


Color = enum.Enum("Color", "RED")


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"a": [1, {"f": len}]}, r"a\.1\.f is a builtin_function_or_method"),
        ({"p": Point(1)}, r"p is a .*Point: a checkpoint holds tensors"),
        ({"c": Color.RED}, "c is a .*Color"),
        ({"path": pathlib.Path("x")}, "path is a pathlib"),
        ({"s": torch.eye(2).to_sparse()}, r"s is a sparse tensor(.|\n)*to_dense"),
        ({"m": torch.zeros(2, device="meta")}, "m is a tensor on the meta device"),
        ({"o": np.array([None])}, "o is a numpy.ndarray"),
        ({"t": torch.float32, (1, print): 2}, r"\(1, .*\(key\)\.1 is a builtin|\(key\)\.1 is a builtin"),
    ],
)
def test_what_is_no_data_is_refused_by_its_place(value, sentence):
    with pytest.raises(CheckpointError, match=sentence):
        pack(value, {})


@pytest.mark.parametrize(
    "packed",
    [
        {"$": "tensor", "v": "nowhere"},
        {"$": "tensor"},
        {"$": "os.system", "v": "true"},
        {"$": ["list"], "v": 1},
        {"$": "dict", "v": [[[1], 2]]},
        {"$": "dict", "v": [1]},
        {"$": "dtype", "v": "save"},
        {"$": "device", "v": "nonsense"},
        {"$": "scalar", "v": "AAAA", "dtype": "O"},
        {"$": "scalar", "v": "AAAA", "dtype": "<f8"},
        {"$": "complex", "v": ["a", "b"]},
        {"$": "bytes", "v": "ä"},
        {"$": "size", "v": ["x"]},
        {"$": "int", "v": 5},
        {"$": "deque", "v": [], "maxlen": -1},
        {"$": "ordered", "v": [], "metadata": [1]},
    ],
    ids=str,
)
def test_what_nobody_packs_is_refused(packed):
    with pytest.raises(CheckpointError, match="that can't be read"):
        unpack({"x": packed}, {})
