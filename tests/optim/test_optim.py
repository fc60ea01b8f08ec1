"""`simpletorch.optim` is `torch.optim`, flat, with a protocol and two clipping functions."""

import pytest
import torch

from simpletorch import optim

OPTIMIZERS = [name for name, value in vars(torch.optim).items() if isinstance(value, type) and name != "Optimizer"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_torch_s_own_and_meets_the_protocol(name):
    cls = getattr(optim, name)
    assert cls is getattr(torch.optim, name)
    optimizer = cls([torch.nn.Parameter(torch.randn(3, 5))], lr=0.1)
    assert isinstance(optimizer, optim.Optimizer)


@pytest.mark.parametrize("name", torch.optim.lr_scheduler.__all__)
def test_every_scheduler_is_torch_s_own(name):
    assert getattr(optim, name) is getattr(torch.optim.lr_scheduler, name)


def test_what_lacks_a_method_is_no_optimizer():
    class Half:
        param_groups = ()

        def step(self):
            pass

    assert not isinstance(Half(), optim.Optimizer)


def gradients(*values):
    parameters = [torch.nn.Parameter(torch.zeros(len(value))) for value in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = torch.tensor(value)
    return parameters


def test_clip_grad_norm_scales_all_gradients_together():
    parameters = gradients([3.0, 0.0], [0.0, 4.0, 0.0])
    before = optim.clip_grad_norm(parameters, 1.0)
    assert before.item() == pytest.approx(5.0)
    assert torch.allclose(parameters[0].grad, torch.tensor([0.6, 0.0]), atol=1e-5)
    assert torch.allclose(parameters[1].grad, torch.tensor([0.0, 0.8, 0.0]), atol=1e-5)


def test_clip_grad_norm_leaves_small_gradients_alone():
    parameters = gradients([0.3, 0.4])
    optim.clip_grad_norm(parameters, 1.0)
    assert torch.equal(parameters[0].grad, torch.tensor([0.3, 0.4]))


def test_clip_grad_norm_takes_a_module():
    layer = torch.nn.Linear(3, 5)
    layer(torch.full((7, 3), 100.0)).sum().backward()
    optim.clip_grad_norm(layer, 0.5)
    norm = torch.cat([parameter.grad.flatten() for parameter in layer.parameters()]).norm()
    assert norm.item() == pytest.approx(0.5, rel=1e-4)


def test_clip_grad_norm_can_refuse_a_norm_that_is_not_finite():
    with pytest.raises(RuntimeError, match="non-finite"):
        optim.clip_grad_norm(gradients([float("nan")]), 1.0, error_if_nonfinite=True)


def test_clip_grad_value_clamps_each_element():
    parameters = gradients([-3.0, 0.25, 7.0])
    optim.clip_grad_value(parameters, 0.5)
    assert torch.equal(parameters[0].grad, torch.tensor([-0.5, 0.25, 0.5]))


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_not_positive_is_refused(limit):
    with pytest.raises(ValueError, match="can only be limited to a positive number"):
        optim.clip_grad_norm(gradients([1.0]), limit)
    with pytest.raises(ValueError, match="can only be limited to a positive number"):
        optim.clip_grad_value(gradients([1.0]), limit)
