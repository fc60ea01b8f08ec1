"""`nn.Module`: torch's, with a border around forward."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, Generic

import pytest
import torch
from torch import nn as tnn

from simpletorch import B, Float32, N, Tensor, checked, config, nn
from simpletorch.errors import ShapeMismatch


class Ours(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = tnn.Linear(4, 3)

    def forward(self, x: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 3]:
        return self.fc(x)


class Theirs(tnn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = tnn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


def test_state_dict_and_repr_are_torchs():
    assert list(Ours().state_dict()) == list(Theirs().state_dict())
    assert repr(Ours()).replace("Ours", "Theirs") == repr(Theirs())
    theirs = Theirs()
    ours = Ours()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 4)
    assert torch.equal(ours(x), theirs(x))


def test_the_call_is_torchs():
    assert nn.Module.__call__ is tnn.Module.__call__


def test_forward_is_checked():
    with pytest.raises(ShapeMismatch) as caught:
        Ours()(torch.zeros(2, 5))
    assert caught.value.operation == "Ours.forward"
    assert caught.value.reason == "dim 1 of x is 5, not 4"
    assert caught.value.module_path == "Ours"


def test_the_result_is_checked():
    class Wrong(nn.Module):
        def forward(self, x: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 3]:
            return x

    with pytest.raises(ShapeMismatch, match="dim 1 of the result is 4, not 3"):
        Wrong()(torch.zeros(2, 4))


def test_a_submodules_refusal_names_its_path():
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = tnn.ModuleList([Ours()])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.parts[0](x)

    model = Outer()
    with pytest.raises(ShapeMismatch) as caught:
        model(torch.zeros(2, 5))
    assert caught.value.module_path == "model.parts.0"


def test_subclasses_and_super():
    class Doubled(Ours):
        def forward(self, x: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 3]:
            return 2 * super().forward(x)

    class Inherited(Ours):
        pass

    assert Doubled()(torch.zeros(2, 4)).shape == (2, 3)
    for cls in (Doubled, Inherited):
        with pytest.raises(ShapeMismatch):
            cls()(torch.zeros(2, 5))


def test_a_class_may_name_itself():
    class Tree(nn.Module):
        def __init__(self, child: Tree | None = None) -> None:
            super().__init__()
            self.child = child

        def forward(self, x: torch.Tensor, other: Tree | None = None) -> torch.Tensor:
            return x if self.child is None else self.child(x, other)

    assert Tree(Tree())(torch.ones(2), Tree()).tolist() == [1, 1]
    with pytest.raises(TypeError):
        Tree()(torch.ones(2), 3)


def test_hooks_run_as_ever():
    model, seen = Ours(), []
    model.register_forward_pre_hook(lambda _m, args: seen.append("before"))
    model.register_forward_hook(lambda _m, args, out: seen.append("after"))
    model(torch.zeros(2, 4))
    assert seen == ["before", "after"]


def test_gradients_copies_and_pickles():
    model = Ours()
    model(torch.ones(2, 4)).sum().backward()
    assert model.fc.weight.grad is not None
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(again(torch.ones(2, 4)), model(torch.ones(2, 4)))


def test_what_is_defined_with_checks_off_is_still_explained():
    with config(check="off"):

        class Unchecked(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.fc = tnn.Linear(4, 3)

            def forward(self, x: Tensor[Float32, B, 5]) -> Tensor[Float32, B, 3]:
                return self.fc(x)

    model = Unchecked()
    assert model(torch.zeros(2, 4)).shape == (2, 3)
    with pytest.raises(ShapeMismatch) as caught:
        model(torch.zeros(2, 5))
    assert caught.value.module_path == "model.fc"


def test_forward_without_annotations_or_with_prose_works():
    class Plain(nn.Module):
        def forward(self, x, y=None, *args, **kwargs):
            return x

    class Prose(nn.Module):
        def forward(self, x: "the input, any shape") -> "the same":
            return x

    assert Plain()(3, 4, 5, z=6) == 3
    assert Prose()(3) == 3


def test_a_subscript_is_for_checkers():
    class Sized(nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    alias = nn.Module[4, 3]
    assert alias.__origin__ is tnn.Module  # any module may be called so
    assert alias.__args__ == (4, 3)

    def build() -> nn.Module[4, 3]:
        return Sized()

    assert build()(3) == 3


def test_generic_modules():
    class Box(nn.Module, Generic[N]):
        def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
            return x

    class Small(nn.Module[Tensor[Float32, N], Tensor[Float32, N]]):
        def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
            return x

    assert Small.__bases__ == (nn.Module,)
    for model in (Box(), Box[3](), Small()):
        assert model(torch.zeros(3)).shape == (3,)


def test_a_module_with_sizes_in_its_type_is_a_parameter_like_any_other():
    @checked
    def run(layer: nn.Linear[4, 3], model: nn.Module[4, 3], activation: Callable[..., Any]) -> None: ...

    run(tnn.Linear(4, 3), Ours(), torch.relu)
    assert len(run.__globals__["_st_seen"]) == 1
    run(tnn.Linear(4, 3), Theirs(), torch.relu)
    for bad in (
        (Ours(), Ours(), torch.relu),
        (tnn.Linear(4, 3), torch.relu, torch.relu),
        (tnn.Linear(4, 3), Ours(), 3),
    ):
        with pytest.raises(TypeError):
            run(*bad)


def test_data_parallel_and_script_free_wrappers_accept_it():
    model = tnn.Sequential(Ours(), tnn.ReLU())
    assert model(torch.zeros(2, 4)).shape == (2, 3)
    functional = torch.func.functional_call(Ours(), dict(Ours().named_parameters()), (torch.zeros(2, 4),))
    assert functional.shape == (2, 3)


def test_it_can_be_driven_by_vmap_over_models():
    models = [Ours() for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")

    def call(p: Any, b: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(base, (p, b), (x,))

    assert torch.vmap(call, in_dims=(0, 0, None))(params, buffers, torch.ones(2, 4)).shape == (3, 2, 3)


def test_checkpointing_works():
    model = Ours()
    x = torch.ones(2, 4, requires_grad=True)
    torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).sum().backward()
    assert x.grad is not None
