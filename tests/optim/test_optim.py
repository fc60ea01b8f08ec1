"""`simpletorch.optim` is `torch.optim`, flat, with faster defaults, a protocol and two clipping functions."""

import inspect
import pickle

import pytest
import torch

from simpletorch import optim
from simpletorch.errors import TorchError

OPTIMIZERS = [name for name, value in vars(torch.optim).items() if isinstance(value, type) and name != "Optimizer"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_one_of_torch_s_and_meets_the_protocol(name):
    cls, torch_cls = getattr(optim, name), getattr(torch.optim, name)
    optimizer = cls([torch.nn.Parameter(torch.randn(3, 5))], lr=0.1)
    assert isinstance(optimizer, optim.Optimizer)
    assert isinstance(optimizer, torch_cls)
    assert repr(optimizer).startswith(name)
    assert inspect.signature(cls) == inspect.signature(torch_cls)
    assert type(pickle.loads(pickle.dumps(optimizer))) is cls


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


def parameters():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(3, 5)), torch.nn.Parameter(torch.randn(7))]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_the_fused_implementation_is_the_default(name):
    assert getattr(optim, name)(parameters(), lr=0.1).param_groups[0]["fused"] is True


@pytest.mark.parametrize("option", [{"fused": False}, {"foreach": True}, {"foreach": False}, {"differentiable": True}])
def test_who_chooses_gets_the_choice(option):
    assert not optim.AdamW(parameters(), **option).param_groups[0]["fused"]


def test_what_can_not_be_fused_is_not():
    assert not optim.Adam([torch.nn.Parameter(torch.zeros(3, dtype=torch.complex64))]).param_groups[0]["fused"]
    assert not optim.Adam([torch.nn.Parameter(torch.zeros(3, device="meta"))]).param_groups[0]["fused"]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_fused_or_not_the_result_is_torch_s(name):
    ours, theirs = parameters(), parameters()
    optimizers = (
        getattr(optim, name)(iter(ours), lr=0.1, weight_decay=0.1),
        getattr(torch.optim, name)(theirs, lr=0.1, weight_decay=0.1),
    )
    for step in range(5):
        gradients = torch.randn(22, generator=torch.Generator().manual_seed(step)).split([15, 7])
        for group, optimizer in zip((ours, theirs), optimizers, strict=True):
            for parameter, gradient in zip(group, gradients, strict=True):
                parameter.grad = gradient.reshape(parameter.shape).clone()
            optimizer.step()
    for parameter, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(parameter, other, rtol=1e-5, atol=1e-6)


def test_sgd_still_takes_sparse_gradients():
    layer = torch.nn.Embedding(11, 3, sparse=True)
    optimizer = optim.SGD(layer.parameters(), lr=0.5)
    before = layer.weight.detach().clone()
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.tensor([2, 5])).sum().backward()
        optimizer.step()
    assert torch.equal(layer.weight[2], before[2] - 1.0)
    assert torch.equal(layer.weight[3], before[3])


def test_an_optimizer_s_state_goes_to_torch_s_and_back():
    ours, theirs = optim.AdamW(parameters(), lr=0.3), torch.optim.AdamW(parameters(), lr=0.1)
    theirs.load_state_dict(ours.state_dict())
    assert theirs.param_groups[0]["lr"] == 0.3
    ours.load_state_dict(theirs.state_dict())


def test_groups_may_hold_generators_and_names():
    layer = torch.nn.Linear(3, 5)
    groups = [
        {"params": (pair for pair in [("body", layer.weight)]), "lr": 0.1},
        optim.ParameterGroup(torch.nn.Linear(5, 2).named_parameters(), lr=0.2, betas=(0.8, 0.9)),
    ]
    first, second = optim.AdamW(groups, lr=0.3, weight_decay=0.0).param_groups
    assert first["params"][0] is layer.weight
    assert (first["lr"], first["fused"]) == (0.1, True)
    assert (second["lr"], second["betas"], second["param_names"]) == (0.2, (0.8, 0.9), ["weight", "bias"])


def test_a_misspelt_option_of_a_group_is_refused():
    with pytest.raises(
        TorchError, match="group 1 of AdamW has an option 'wieght_decay': did you mean 'weight_decay'"
    ) as e:
        optim.AdamW([{"params": parameters()[:1]}, {"params": parameters()[1:], "wieght_decay": 0.1}])
    assert isinstance(e.value, ValueError)


def test_a_user_s_own_key_in_a_group_is_not_a_mistake():
    optim.AdamW([{"params": parameters(), "lr_scale": 0.5, "name": "head"}])


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.norm = torch.nn.LayerNorm((5, 7))
        self.attention = torch.nn.MultiheadAttention(6, 2)
        self.scale = torch.nn.Parameter(torch.ones(()))
        self.frozen = torch.nn.Parameter(torch.ones(3, 3), requires_grad=False)


def test_norms_biases_and_scalars_do_not_decay():
    model = Block()
    decaying, others = optim.decay_groups(model, 0.1)
    names = {id(p): name for name, p in model.named_parameters()}
    assert {names[id(p)] for p in decaying["params"]} == {
        "conv.weight",
        "attention.in_proj_weight",
        "attention.out_proj.weight",
    }
    assert (decaying["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    assert {names[id(p)] for p in others["params"]} == {
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "attention.in_proj_bias",
        "attention.out_proj.bias",
        "scale",
    }


def test_a_user_decides_what_decays():
    decaying, others = optim.decay_groups(torch.nn.Linear(3, 5), 0.1, decays=lambda name, parameter: name == "bias")
    assert [p.shape for p in (*decaying["params"], *others["params"])] == [(5,), (5, 3)]


@pytest.mark.parametrize(
    ("model", "decay", "message"),
    [
        (torch.nn.Linear(3, 5), -0.1, "weight_decay is -0.1"),
        (torch.nn.ReLU(), 0.1, "no trainable parameter"),
        (torch.nn.LazyLinear(5), 0.1, "the parameter weight has no shape yet"),
    ],
)
def test_groups_that_can_not_be_made(model, decay, message):
    with pytest.raises(ValueError, match=message):
        optim.decay_groups(model, decay)


def drift(model, average, updates=5):
    """Random updates; the weights after each of them."""
    torch.manual_seed(1)
    seen = []
    for _ in range(updates):
        with torch.no_grad():
            model(torch.randn(7, 3))
            model[0].weight += torch.randn(5, 3)
        average.update_parameters(model)
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
    return seen


def normed():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5))


@pytest.mark.parametrize("warmup", [False, True])
def test_ema_is_the_formula(warmup):
    model = normed()
    ema = optim.EMA(model, 0.7, warmup=warmup)
    first, *rest = drift(model, ema)
    for name in ("0.weight", "1.running_mean"):
        expected = first[name]
        for done, now in enumerate(rest, 1):
            decay = min(0.7, (1 + done) / (10 + done)) if warmup else 0.7
            expected = decay * expected + (1 - decay) * now[name]
        torch.testing.assert_close(ema.module.state_dict()[name], expected)
    assert ema.module[1].num_batches_tracked == 5


def test_swa_is_the_mean_from_its_start_on():
    model = normed()
    swa = optim.SWA(model, start=1, every=2)
    seen = drift(model, swa, updates=6)
    for name in ("0.weight", "1.running_var"):
        expected = torch.stack([state[name] for state in seen[1::2]]).mean(0)
        torch.testing.assert_close(swa.module.state_dict()[name], expected)


def test_swa_before_its_start_is_the_model():
    model = normed()
    swa = optim.SWA(model, start=11)
    drift(model, swa)
    assert torch.equal(swa.module[0].weight, model[0].weight)


@pytest.mark.parametrize("average", [lambda m: optim.EMA(m, 0.9, warmup=True), lambda m: optim.SWA(m, 2)])
def test_an_average_goes_on_from_its_state(average):
    whole_model, halves_model = normed(), normed()
    whole, first = average(whole_model), average(halves_model)
    drift(whole_model, whole, 3), drift(halves_model, first, 3)
    second = average(halves_model)
    second.load_state_dict(first.state_dict())
    drift(whole_model, whole, 3), drift(halves_model, second, 3)
    for ours, theirs in zip(whole.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)


def test_averages_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match=r"decay is 1\.0"):
        optim.EMA(normed(), 1.0)
    with pytest.raises(ValueError, match="start must be 0 or more, every 1 or more"):
        optim.SWA(normed(), every=0)


def rates(scheduler, steps):
    found = []
    for _ in range(steps):
        found.append(scheduler.get_last_lr()[0])
        scheduler.optimizer.step()
        scheduler.step()
    return found


def test_linear_warmup_rises_and_stays():
    optimizer = optim.SGD(parameters(), lr=2.0)
    assert rates(optim.LinearWarmup(optimizer, 4, start=0.5), 6) == pytest.approx([1.0, 1.25, 1.5, 1.75, 2.0, 2.0])


def test_warmup_cosine_rises_falls_and_stays():
    optimizer = optim.SGD(parameters(), lr=2.0)
    found = rates(optim.WarmupCosine(optimizer, warmup=2, total=6, floor=0.1), 9)
    assert found == pytest.approx([1.0, 2.0, 2.0, 1.7363961, 1.1, 0.4636039, 0.2, 0.2, 0.2])


def test_warm_ups_refuse_what_makes_no_sense():
    optimizer = optim.SGD(parameters(), lr=2.0)
    with pytest.raises(ValueError, match="steps must be 1 or more"):
        optim.LinearWarmup(optimizer, 0)
    with pytest.raises(ValueError, match="warmup must be at least 0 and less than total"):
        optim.WarmupCosine(optimizer, 5, 5)
