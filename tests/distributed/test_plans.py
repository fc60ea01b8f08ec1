"""Meshes, blocks, plans and stages, mostly without processes."""

import pytest
import torch

from simpletorch import nn
from simpletorch.distributed import Mesh, Pipeline, parallelize, shard
from simpletorch.distributed._plans import styles_of
from simpletorch.distributed._shard import blocks_of
from simpletorch.distributed._stages import in_order, stages_of
from simpletorch.errors import TorchError


def test_mesh_sizes():
    assert Mesh(data=-1, tensor=4).sizes(24) == {"data": 6, "tensor": 4}
    assert Mesh(data=2, tensor=3) == Mesh(data=2, tensor=3) != Mesh(tensor=3, data=2)
    assert repr(Mesh(data=2)) == "Mesh(data=2)"
    with pytest.raises(ValueError, match="is a grid of 6 processes, but there are 7"):
        Mesh(data=2, tensor=3).sizes(7)
    with pytest.raises(ValueError, match="one may be -1"):
        Mesh(data=-1, tensor=-1)
    with pytest.raises(ValueError, match="no direction"):
        Mesh()
    with pytest.raises(TorchError, match="there is no process group"):
        _ = Mesh(data=1).device_mesh


def test_without_a_group_nothing_is_divided():
    model = torch.nn.Linear(3, 5)
    assert shard(model) is model
    assert type(model.weight.data) is torch.Tensor
    block = nn.FeedForward(3, 5)
    assert parallelize(block, Mesh(tensor=-1)) is block


def test_blocks_are_the_items_of_the_outermost_lists():
    model = torch.nn.Module()
    model.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])
    model.head = torch.nn.Linear(3, 2)
    assert blocks_of(model) == ["layers.0", "layers.1"]
    model.head.weight = model.layers[1].weight  # shared with what is outside: neither can gather it alone
    assert blocks_of(model) == ["layers.0"]


def test_what_a_plan_gets_wrong():
    model = nn.FeedForward(6, 10)
    with pytest.raises(ValueError, match="the plan divides 'nothing', and a FeedForward has no such module"):
        styles_of(model, {"nothing": "out"})
    with pytest.raises(ValueError, match="has no plan for a Linear"):
        parallelize(torch.nn.Linear(2, 3), Mesh(tensor=2))
    with pytest.raises(ValueError, match="has no such module"):
        shard(model, blocks=["layers.*"])


def test_stages_have_about_as_many_parameters():
    layers = [torch.nn.Linear(10, 10, bias=False), torch.nn.ReLU(), torch.nn.Linear(10, 10), torch.nn.Linear(10, 19)]
    assert [len(stage) for stage in stages_of(in_order(layers), 2)] in ([2, 2], [3, 1])
    assert [len(stage) for stage in stages_of(in_order(layers), 4)] == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="5 stages needs as many layers, and there are 4"):
        stages_of(in_order(layers), 5)
    with pytest.raises(ValueError, match="what comes one after the other in a FeedForward isn't known"):
        Pipeline(nn.FeedForward(3, 5), torch.nn.functional.mse_loss, parts=2)


def test_a_pipeline_of_one_stage_is_the_model():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2))
    pipeline = Pipeline(model, torch.nn.functional.mse_loss, parts=2)
    x, y = torch.randn(6, 3), torch.randn(6, 2)
    expected = torch.nn.functional.mse_loss(model(x), y)
    torch.testing.assert_close(pipeline.step(x, y), expected.detach())
    assert pipeline.state_dict().keys() == model.state_dict().keys()
    with pytest.raises(ValueError, match="a batch of 7 can't be cut into 2 equal parts"):
        pipeline.step(torch.randn(7, 3), torch.randn(7, 2))
