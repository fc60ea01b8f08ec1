"""`typed`: the module stays itself, and its calls are held to the signature."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol

import pytest
import torch
from torch import nn

from simpletorch import Float32, Int64, Tensor, config
from simpletorch.dims import B, D, N, T
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TypeMismatch
from simpletorch.interop import typed


class Output(NamedTuple):
    states: torch.Tensor
    text: torch.Tensor | None


class Encoder(nn.Module):
    """As in a library that says nothing of shapes."""

    def __init__(self, width: int = 21) -> None:
        super().__init__()
        self.embedding = nn.Embedding(53, width)

    def forward(self, input_ids: Any, mask: Any = None, flat: bool = False, **more: Any) -> Any:
        states = self.embedding(input_ids)
        return Output(states.flatten(0, 1) if flat else states, None)


class States(Protocol, Generic[B, N, D]):
    states: Tensor[Float32, B, N, D]
    text: Tensor[Float32, B, D] | None


class Encodes(Protocol):
    def __call__(self, input_ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None) -> States[B, T, 21]: ...


def encodes(input_ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None) -> States[B, T, 21]: ...


IDS = torch.zeros(2, 7, dtype=torch.int64)


@pytest.fixture(params=[Encodes, encodes])
def encoder(request):
    return typed(Encoder(), request.param)


def test_the_module_stays_itself():
    model = Encoder()
    before = dict(vars(model))
    keys = list(model.state_dict())
    assert typed(model, Encodes) is model
    assert type(model) is Encoder
    assert list(model.state_dict()) == keys
    changed = {name for name, value in vars(model).items() if before.get(name) is not value}
    assert changed == {"_simpletorch_signature"}
    assert "forward" not in vars(model)


def test_calls_that_fit(encoder):
    assert encoder(IDS).states.shape == (2, 7, 21)
    assert encoder(IDS, mask=IDS).states.shape == (2, 7, 21)
    assert encoder(input_ids=IDS).text is None


def test_arguments_are_held_to_the_signature(encoder):
    with pytest.raises(DTypeMismatch, match="Encoder: input_ids is Float32, but should be Int64"):
        encoder(torch.zeros(2, 7))
    with pytest.raises(ShapeMismatch, match="Encoder: dim 1 of mask is 3, but T is 7 from dim 1 of input_ids"):
        encoder(IDS, mask=IDS[:, :3])
    with pytest.raises(TypeMismatch, match=r"Encoder: input_ids should be a Tensor, .* but is of type list"):
        encoder([[0]])


def test_the_result_is_held_to_the_signature():
    with pytest.raises(ShapeMismatch, match="Encoder: dim 2 of result_states is 5, not 21"):
        typed(Encoder(5), Encodes)(IDS)


def test_the_sizes_of_a_result_are_those_of_the_call():
    class Turned(Protocol):
        def __call__(self, input_ids: Tensor[Int64, B, T]) -> States[T, B, 21]: ...

    with pytest.raises(ShapeMismatch, match="dim 0 of result_states is 2, but T is 7 from dim 1 of input_ids"):
        typed(Encoder(), Turned)(IDS)


def test_expressions_over_sizes():
    def halves(input_ids: Tensor[Int64, B, "2*T"]) -> States[B, "2*T", 21]: ...

    model = typed(Encoder(), halves)
    assert model(torch.zeros(2, 6, dtype=torch.int64)).states.shape == (2, 6, 21)
    with pytest.raises(ShapeMismatch, match=r"dim 1 of input_ids is 7"):
        model(IDS)


def test_a_result_without_an_attribute():
    class More(Protocol):
        logits: Tensor[Float32, 3]

    def call(input_ids: Tensor[Int64, B, T]) -> More: ...

    with pytest.raises(TypeMismatch, match="Encoder: the result, of type Output, has no logits"):
        typed(Encoder(), call)(IDS)


def test_an_attribute_that_may_be_none_may_be_absent():
    class More(Protocol):
        states: Tensor[Float32, B, T, 21]
        attentions: Tensor[Float32, B, T, T] | None

    def call(input_ids: Tensor[Int64, B, T]) -> More: ...

    assert typed(Encoder(), call)(IDS).states.shape == (2, 7, 21)


def test_a_result_that_only_type_checkers_know():
    def call(input_ids: Tensor[Int64, B, T]) -> Nowhere: ...

    model = typed(Encoder(), call)
    assert model(IDS).states.shape == (2, 7, 21)
    with pytest.raises(DTypeMismatch):
        model(torch.zeros(2, 7))


def test_a_callable_has_the_model_s_own_names():
    layer = typed(nn.Linear(3, 5), Callable[[Tensor[Float32, B, 3]], Tensor[Float32, B, 5]])
    assert layer(torch.zeros(7, 3)).shape == (7, 5)
    with pytest.raises(ShapeMismatch, match="Linear: input has 1 dim, not 2"):
        layer(torch.zeros(3))
    wrong = typed(nn.Linear(3, 11), Callable[[Tensor[Float32, B, 3]], Tensor[Float32, B, 5]])
    with pytest.raises(ShapeMismatch, match="Linear: dim 1 of the result is 11, not 5"):
        wrong(torch.zeros(7, 3))


def test_a_call_with_more_than_the_signature_has_is_another_one(encoder):
    assert encoder(IDS, flat=True).states.shape == (14, 21)
    assert encoder(IDS, None, True).states.shape == (14, 21)
    assert encoder(torch.zeros_like(IDS), more=None).states.shape == (2, 7, 21)

    def takes_more(input_ids: Tensor[Int64, B, T], **more: Any) -> States[B, T, 21]: ...

    with pytest.raises(ShapeMismatch, match="result_states has 2 dims, not 3"):
        typed(encoder, takes_more)(IDS, flat=True)


def test_a_second_signature_takes_the_place_of_the_first():
    model = typed(typed(Encoder(5), Encodes), Callable[[Tensor[Int64, B, T]], Any])
    assert model(IDS).states.shape == (2, 7, 5)
    assert len(model._forward_hooks) == 1


def test_copies_are_typed_too(encoder):
    twin = copy.deepcopy(encoder)
    with pytest.raises(DTypeMismatch):
        twin(torch.zeros(2, 7))
    typed(twin, Callable[..., Any])
    twin(IDS)
    with pytest.raises(DTypeMismatch):
        encoder(torch.zeros(2, 7))


def test_pickled_with_its_signature():
    twin = pickle.loads(pickle.dumps(typed(Encoder(), Encodes)))
    assert twin(IDS).states.shape == (2, 7, 21)
    with pytest.raises(DTypeMismatch):
        twin(torch.zeros(2, 7))


def test_checks_can_be_off(encoder):
    with config(check="off"):
        assert encoder(IDS[0]).states.shape == (7, 21)


def test_under_export_nothing_is_checked():
    program = torch.export.export(
        typed(Encoder(), Encodes), (IDS,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},)
    )
    assert program.module()(torch.zeros(3, 11, dtype=torch.int64))[0].shape == (3, 11, 21)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_what_is_no_module():
    with pytest.raises(TypeMismatch, match="model is of type dict, but a module was due"):
        typed({}, Encodes)


@pytest.mark.parametrize("signature", [5, "x: Tensor", int])
def test_what_is_no_signature(signature):
    with pytest.raises(TypeMismatch, match="a function with annotations, a Callable"):
        typed(Encoder(), signature)


def test_parameters_that_the_model_has_not():
    def call(tokens: Tensor[Int64, B, T]) -> Any: ...

    with pytest.raises(TypeMismatch, match=r"the signature has tokens, but Linear\.forward has input"):
        typed(nn.Linear(3, 5), call)
    typed(Encoder(), call)  # takes anything by name

    def more(input: Tensor[Float32, B, 3], *args: Any, **options: Any) -> Tensor[Float32, B, 5]: ...

    assert typed(nn.Linear(3, 5), more)(torch.zeros(2, 3)).shape == (2, 5)


def test_parameters_at_another_place():
    def call(mask: Tensor[Int64, B, T], input_ids: Tensor[Int64, B, T]) -> Any: ...

    with pytest.raises(
        TypeMismatch, match=r"Encoder\.forward has input_ids where the signature has mask: put it behind"
    ):
        typed(Encoder(), call)
