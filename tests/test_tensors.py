"""What holds tensors: looked into, changed, moved."""

import types
from collections import OrderedDict, UserDict, UserList, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch

from simpletorch._tensors import map_tensors, moved, tensors_in

META = torch.device("meta")


class Pair(NamedTuple):
    image: torch.Tensor
    name: str


@dataclass
class Sample:
    image: torch.Tensor
    name: str = "digit"


@dataclass(frozen=True, slots=True)
class Frozen:
    image: torch.Tensor
    times: list[int] = field(default_factory=list)

    def __post_init__(self):
        self.times.append(1)


class Tagged(dict):
    tag = ""


class TaggedList(list):
    tag = ""


class Wrapped(UserDict):
    """Made of two arguments, so that only a copy can make another."""

    def __init__(self, tag, data):
        self.tag = tag
        super().__init__(data)


class Fixed(Mapping):
    """A mapping that is no dict, made of one."""

    def __init__(self, items):
        self._items = items

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


class Named(Fixed):
    """A mapping that can't be made of a dict."""

    def __init__(self, **items):
        super().__init__(items)


def image() -> torch.Tensor:
    return torch.arange(3.0)


def filled(container: Any, **attributes: Any) -> Any:
    vars(container).update(attributes)
    return container


KINDS = [
    image,
    lambda: (image(), 5),
    lambda: [image(), "five"],
    lambda: Pair(image(), "digit"),
    lambda: filled(TaggedList([image(), 7]), tag="seven"),
    lambda: {"x": image()},
    lambda: OrderedDict(x=image()),
    lambda: defaultdict(list, x=image()),
    lambda: filled(Tagged(x=image()), tag="seven"),
    lambda: Wrapped("seven", {"x": image()}),
    lambda: Fixed({"x": image()}),
    lambda: types.MappingProxyType({"x": image()}),
    lambda: Sample(image()),
    lambda: Frozen(image()),
    lambda: torch.max(image().unsqueeze(0), 1),  # a named tuple of torch's own kind
]


@pytest.mark.parametrize("make", KINDS)
def test_a_container_keeps_its_class_and_its_original_is_left_alone(make):
    batch = make()
    found = moved(batch, META)
    assert type(found) is type(batch)
    assert len(list(tensors_in(batch))) == len(list(tensors_in(found))) > 0
    assert {tensor.device.type for tensor in tensors_in(found)} == {"meta"}
    assert {tensor.device.type for tensor in tensors_in(batch)} == {"cpu"}


@pytest.mark.parametrize("make", KINDS)
def test_containers_are_looked_for_inside_of_each_other(make):
    (found,) = moved([{"x": (make(),)}], META)
    assert {tensor.device.type for tensor in tensors_in(found)} == {"meta"}


def test_what_is_no_tensor_stays_the_same_object():
    name, other = "digit" * 2, object()
    pair, (same,) = moved((Pair(image(), name), [other]), META)
    assert pair.name is name
    assert same is other


def test_attributes_and_default_factories_stay():
    assert moved(filled(Tagged(x=image()), tag="seven"), META).tag == "seven"
    assert moved(filled(TaggedList([image()]), tag="seven"), META).tag == "seven"
    assert moved(Wrapped("seven", {"x": image()}), META).tag == "seven"
    assert moved(defaultdict(list, x=image()), META)["y"] == []


def test_a_dataclass_is_not_constructed_again():
    assert moved(Frozen(image()), META).times == [1]


def test_a_mapping_that_can_not_be_made_of_a_dict_becomes_one():
    found = moved(Named(x=image(), y=5), META)
    assert type(found) is dict
    assert found["x"].is_meta
    assert found["y"] == 5


def test_other_containers_are_not_looked_into():
    batch = UserList([image()])
    assert moved(batch, META) is batch


def test_an_object_moves_itself():
    class Graph:
        def __init__(self, nodes, device=None):
            self.nodes, self.device = nodes, device

        def to(self, device):
            return Graph(self.nodes.to(device), device)

    found, _ = moved((Graph(image()), 5), META)
    assert found.nodes.is_meta
    assert found.device == META


def test_a_mapping_that_moves_itself_is_not_taken_apart():
    class Encoding(UserDict):  # as a tokenizer of Hugging Face gives it
        def to(self, device):
            self.data = {key: value.to(device) for key, value in self.items()}
            self.asked = device
            return self

    assert moved({"text": Encoding(x=image())}, META)["text"].asked == META


def test_a_packed_sequence_keeps_its_lengths_on_the_cpu():
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(5, 2), torch.ones(3, 2)])
    (found,) = moved((packed,), META)
    assert found.data.is_meta
    assert found.batch_sizes.device.type == "cpu"


def test_a_key_is_no_method():
    class Attributes(dict):
        __getattr__ = dict.__getitem__

    assert moved(Attributes(to=image()), META)["to"].is_meta


def test_a_class_is_not_asked_to_move():
    assert moved((Frozen, torch.nn.Linear), META) == (Frozen, torch.nn.Linear)


def test_the_method_gets_the_arguments():
    class Counted:
        def scaled(self, by):
            return by

    scaled, negated = map_tensors([Counted(), torch.ones(2)], torch.neg, "scaled", 5)
    assert scaled == 5
    assert negated.tolist() == [-1, -1]


def test_a_tensor_that_is_there_already_is_the_same_object():
    tensor = image()
    assert moved({"x": tensor}, torch.device("cpu"))["x"] is tensor
