"""`collate`: what becomes of samples, and what is said when they don't fit."""

from collections import OrderedDict, UserDict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import default_collate

from simpletorch.data import collate
from simpletorch.errors import DataError


class Point(NamedTuple):
    x: torch.Tensor
    y: float


@dataclass(frozen=True)
class Sample:
    image: torch.Tensor
    name: str
    area: int = field(init=False, default=7)

    def __post_init__(self):
        assert self.image.ndim == 1, "a batch is no sample: this must not be asked of it"


@pytest.mark.parametrize(
    "samples",
    [
        [torch.arange(3), torch.arange(3, 6)],
        [torch.tensor(3.0), torch.tensor(5.0)],
        [1, 2],
        [True, False],
        [1.5, 2],
        [2, 1.5],
        ["a", "b"],
        [b"a", b"b"],
        [np.arange(3), np.arange(3, 6)],
        [np.float32(1), np.float32(2)],
        [np.int64(1), np.int64(2)],
        [{"a": 1, "b": torch.ones(2)}, {"b": torch.zeros(2), "a": 3}],
        [[1, torch.ones(2)], [3, torch.zeros(2)]],
        [OrderedDict(a=1), OrderedDict(a=2)],
        [UserDict(a=1), UserDict(a=2)],
        [torch.ones(2), torch.ones(2, dtype=torch.float64)],
        [torch.zeros(0, 3), torch.zeros(0, 3)],
    ],
)
def test_as_torch_does(samples):
    ours, theirs = collate(samples), default_collate(samples)
    assert type(ours) is type(theirs)
    flat = [(ours, theirs)]
    while flat:
        a, b = flat.pop()
        if isinstance(a, torch.Tensor):
            assert a.dtype == b.dtype
            assert torch.equal(a, b)
        elif isinstance(a, list):
            flat += zip(a, b, strict=True)
        elif not isinstance(a, str | bytes):
            assert list(a) == list(b)
            flat += [(a[key], b[key]) for key in a]
        else:
            assert a == b


def test_tuples_stay_tuples():
    assert type(collate([(1, 2), (3, 4)])) is tuple
    batch = collate([Point(torch.ones(3), 0.5), Point(torch.ones(3), 1.5)])
    assert type(batch) is Point
    assert batch.x.shape == (2, 3)
    assert batch.y.tolist() == [0.5, 1.5]


def test_a_dataclass_stays_one_and_its_samples_are_left_alone():
    one, other = Sample(torch.ones(3), "a"), Sample(torch.zeros(3), "b")
    batch = collate([one, other])
    assert type(batch) is Sample
    assert batch.image.shape == (2, 3)
    assert batch.name == ["a", "b"]
    assert batch.area.tolist() == [7, 7]
    assert one.image.shape == (3,)


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([], "the list of samples is empty"),
        (
            [torch.ones(3), torch.ones(3), torch.ones(5)],
            r"samples 0 and 2 .* the one has shape \[3\] and the other \[5\]",
        ),
        ([(1, {"a": [torch.ones(3)]}), (1, {"a": [torch.ones(5)]})], r"in field 1\['a'\]\[0\] the one has shape"),
        ([Point(torch.ones(3), 1.0), Point(torch.ones(5), 1.0)], "in field 'x' the one has shape"),
        ([Sample(torch.ones(3), "a"), Sample(torch.ones(5), "a")], "in field 'image' the one has shape"),
        ([torch.ones(3), None], "samples 0 and 1 .* the one is a tensor and the other None"),
        ([1, "a"], "the one is a int and the other a str"),
        ([(1, 2), (1, 2, 3)], "the one has 2 fields and the other 3"),
        ([(1, 2), 5], "the one is a tuple and the other a int"),
        ([[1], [1, 2]], "the one has 1 items and the other 2"),
        ([{"a": 1}, {"b": 1}], "the one has the keys 'a' and the other 'b'"),
        ([{"a": 1}, 5], "the one is a dict and the other a int"),
        ([None, None], "a sample is None, which can't be batched: return tensors"),
        ([(1, object()), (1, object())], r"field 1 is a object, which can't be batched"),
    ],
)
def test_what_does_not_fit_is_named(samples, sentence):
    with pytest.raises(DataError, match=sentence):
        collate(samples)
