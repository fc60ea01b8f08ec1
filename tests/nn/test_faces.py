"""`simpletorch.nn` is `torch.nn` under another name."""

import ast
import copy
import inspect
import pickle
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path

import pytest
import torch
from beartype import beartype
from beartype.roar import BeartypeCallHintViolation

import simpletorch.nn.functional
from simpletorch import nn

OURS = {"Module", "Sequential"}
CLASSES = sorted(
    name
    for name, value in vars(torch.nn).items()
    if isinstance(value, type) and issubclass(value, torch.nn.Module) and name not in OURS
)


def test_every_public_name_of_torch_nn_is_here():
    public = {name for name in vars(torch.nn) if not name.startswith("_")} - {"common_types", "grad"}
    missing = [name for name in sorted(public) if not hasattr(nn, name)]
    assert missing == []
    assert len(public) > 170


def test_every_module_class_is_listed_for_star_imports():
    assert set(torch.nn.modules.__all__) <= set(nn.__all__)


def test_a_checker_sees_what_a_star_import_brings():
    stub = ast.parse(Path(nn.__file__).with_suffix(".pyi").read_text())
    seen = []
    for statement in stub.body:
        if isinstance(statement, ast.ImportFrom):
            for name in statement.names:
                seen += import_module(statement.module).__all__ if name.name == "*" else [name.name]
    assert sorted(set(seen)) == nn.__all__  # twice: mypy takes the first import of a name, others the last


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'simpletorch\.nn' has no attribute 'Lineal'"):
        _ = nn.Lineal


@pytest.mark.parametrize("name", CLASSES)
def test_a_face_stands_for_torch_s_class(name):
    face, real = getattr(nn, name), getattr(torch.nn, name)
    assert face == real
    assert real == face
    assert {real: 1}[face] == 1
    assert issubclass(real, face)
    assert issubclass(face, torch.nn.Module)
    assert face.__name__ == real.__name__
    assert face.__doc__ == real.__doc__
    assert pickle.loads(pickle.dumps(face)) is face


def test_calling_a_face_builds_torch_s_own_object():
    layer = nn.Linear(3, 5)
    assert type(layer) is torch.nn.Linear
    assert repr(layer) == "Linear(in_features=3, out_features=5, bias=True)"
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_constructor_arguments_and_their_errors_are_torch_s():
    assert nn.Conv2d(3, 7, kernel_size=5, stride=2).stride == (2, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'in_feature'"):
        nn.Linear(in_feature=3)


def test_instances_of_torch_s_class_are_instances_of_the_face():
    assert isinstance(torch.nn.Linear(2, 3), nn.Linear)
    assert not isinstance(torch.nn.ReLU(), nn.Linear)
    assert not issubclass(torch.nn.ReLU, nn.Linear)


def test_faces_of_different_classes_differ():
    assert nn.Linear != nn.Conv2d
    assert nn.Linear != torch.nn.Conv2d
    assert nn.Linear != 3


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_copies_are_torch_s_objects_too(copied):
    layer = nn.Conv2d(2, 3, 5)
    again = copied(layer)
    assert type(again) is torch.nn.Conv2d
    assert torch.equal(again.weight, layer.weight)


def test_subclassing_a_face_is_subclassing_torch_s_class():
    class Wide(nn.Linear):
        def __init__(self, factor):
            super().__init__(3, 5 * factor)

    assert Wide.__mro__ == (Wide, *torch.nn.Linear.__mro__)
    assert type(Wide) is type
    assert Wide(2)(torch.ones(7, 3)).shape == (7, 10)
    assert isinstance(Wide(1), nn.Linear)


def test_a_face_can_be_subclassed_beside_an_abstract_class():
    class Named(ABC):
        @abstractmethod
        def name(self): ...

    class NamedLinear(nn.Linear, Named):
        def name(self):
            return "linear"

    assert NamedLinear(2, 3).name() == "linear"


def test_a_subscripted_face_can_be_subclassed():
    class Fixed(nn.Linear[3, 5]):
        pass

    assert Fixed(3, 5)(torch.ones(2, 3)).shape == (2, 5)


def test_subscripts_are_for_annotations_and_checkers_of_them_see_torch_s_class():
    @beartype
    def width(layer: nn.Linear[3, 5], other: nn.Conv2d | None = None) -> int:
        return layer.out_features

    assert width(torch.nn.Linear(3, 5)) == 5
    with pytest.raises(BeartypeCallHintViolation):
        width(torch.nn.ReLU())


def test_a_face_has_the_signature_of_torch_s_class():
    assert inspect.signature(nn.Linear) == inspect.signature(torch.nn.Linear)


def test_functional_and_init_are_torch_s_modules_and_importable():
    assert simpletorch.nn.functional is torch.nn.functional
    assert nn.init is torch.nn.init
    assert nn.utils.rnn is torch.nn.utils.rnn


def test_a_model_of_faces_compiles_without_a_graph_break():
    model = torch.nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    images = torch.randn(7, 3)
    assert torch.equal(compiled(images), model(images))


def test_a_module_that_is_built_in_a_compiled_function():
    def loss(scores, targets):
        return nn.CrossEntropyLoss(label_smoothing=0.1)(nn.LogSoftmax(dim=-1)(nn.ReLU()(scores)), targets)

    scores, targets = torch.randn(7, 3), torch.randint(3, (7,))
    compiled = torch.compile(loss, fullgraph=True, backend="eager")
    assert torch.equal(compiled(scores, targets), loss(scores, targets))
