"""The optimizers of torch's own tests give through ours what they give through torch, bit for bit, errors included."""

import copy
from functools import partial

import pytest
import torch

from simpletorch import optim
from tests.marks import thorough
from tests.oracle.databases import optim_db
from tests.oracle.outcomes import differences, outcome

INFOS = {info.name: info for info in optim_db()}
CASES = {f"{name}, {case.desc}": (name, case) for name, info in INFOS.items() for case in info.optim_inputs_func("cpu")}
STEPS = 5


def parameters(name, dtype):
    """Weights to learn: Muon takes matrices only."""
    shapes = [(5, 7), (3, 2)] if name == "Muon" else [(5, 7), (3,), ()]
    return [torch.nn.Parameter(torch.randn(shape).to(dtype)) for shape in shapes]


def choice(name, dtype, options):
    """The implementation that ours chooses where nobody does: fused rounds differently than a loop."""
    try:
        group = getattr(optim, name)(parameters(name, dtype), **copy.deepcopy(options)).param_groups[0]
    except Exception:
        return {}  # what is refused is refused by both
    return {"fused": True} if group.get("fused") else {}


def learnt(build, name, dtype, sparse, options):
    """The weights, losses and states of some updates, which go on from a saved state in the middle."""
    weights = parameters(name, dtype)
    optimizer = build(weights, **copy.deepcopy(options))
    states, losses = [], []

    def closure():
        optimizer.zero_grad()
        loss = sum(((weight - 1) ** 2).sum() for weight in weights)
        loss.backward()
        if sparse:
            for weight in weights:
                weight.grad = weight.grad.to_sparse()
        return loss.detach()

    for step in range(STEPS):
        if step == STEPS // 2:
            saved = copy.deepcopy(optimizer.state_dict())
            optimizer = build(weights, **copy.deepcopy(options))
            optimizer.load_state_dict(saved)
        losses.append(optimizer.step(closure))
        states.append(copy.deepcopy(optimizer.state_dict()))
    return repr(optimizer), losses, states, [weight.detach() for weight in weights]


def compare(name, options, dtype=torch.float32):
    """Compare with dense gradients and with sparse ones, as far as the optimizer takes them."""
    info = INFOS[name]
    for sparse in {info.only_supports_sparse_grads, bool(info.supports_sparse)}:
        same = {} if sparse else choice(name, dtype, options)
        run = partial(learnt, name=name, dtype=dtype, sparse=sparse)
        theirs = outcome(partial(run, getattr(torch.optim, name), options={**options, **same}))
        mine = outcome(partial(run, getattr(optim, name), options=options))
        assert differences(mine, theirs, f"sparse={sparse}") == []


@pytest.mark.parametrize("case", CASES)
def test_an_optimizer_is_torch_s(case):
    name, given = CASES[case]
    compare(name, given.kwargs)


WAYS = [
    {},
    *({way: on} for way in ("foreach", "fused", "differentiable", "maximize", "capturable") for on in (True, False)),
]


@pytest.mark.parametrize("case", thorough(CASES))
def test_in_every_way_and_dtype(case):
    name, given = CASES[case]
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.complex64):
        for way in WAYS:
            if not (name == "SGD" and way.get("fused") and dtype.itemsize < 4):  # wrong, and not the same twice
                compare(name, {**given.kwargs, **way}, dtype)


def refused(build, error):
    """The exception of one of torch's examples of mistakes."""
    case = error.optimizer_error_input
    weights = [torch.nn.Parameter(torch.ones(1))] if case.params is None else case.params
    optimizer = build(weights, **copy.deepcopy(case.kwargs))
    if error.error_on.name == "STEP_ERROR":
        optimizer.step()


@pytest.mark.parametrize("name", INFOS)
def test_what_torch_refuses_is_refused(name):
    count = 0
    for error in INFOS[name].optim_error_inputs_func("cpu", torch.float32):
        theirs = outcome(partial(refused, getattr(torch.optim, name), error))
        mine = outcome(partial(refused, getattr(optim, name), error))
        assert differences(mine, theirs, error.optimizer_error_input.desc) == []
        count += isinstance(theirs, error.error_type)
    assert count


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_every_weight_of_16_bits_is_updated(name, dtype):
    ours, theirs = (torch.nn.Parameter(torch.full((97,), 0.5, dtype=dtype)) for _ in range(2))
    for cls, weights, options in (
        (getattr(optim, name), ours, {}),
        (getattr(torch.optim, name), theirs, {"foreach": False}),
    ):
        optimizer = cls([weights], lr=0.1, **options)
        for _ in range(3):
            weights.grad = torch.ones_like(weights)
            optimizer.step()
    torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.02)


def test_weights_that_become_16_bits_are_all_updated():
    layer = torch.nn.Linear(97, 1, bias=False)
    optimizer = optim.SGD(layer.parameters(), lr=1.0)
    torch.nn.init.zeros_(layer.bfloat16().weight)
    layer(torch.ones(97, dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    assert torch.equal(layer.weight, -torch.ones_like(layer.weight))


def test_gradients_that_a_closure_makes_may_be_sparse():
    layer = torch.nn.Embedding(11, 3, sparse=True)
    optimizer = optim.SGD(layer.parameters(), lr=0.5)
    before = layer.weight.detach().clone()

    def closure():
        optimizer.zero_grad()
        loss = layer(torch.tensor([2, 5])).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure) == before[[2, 5]].sum()
    assert torch.equal(layer.weight[2], before[2] - 0.5)


def test_gradients_that_come_later_may_be_sparse():
    first, later = torch.nn.Linear(2, 3), torch.nn.Embedding(11, 3, sparse=True)
    optimizer = optim.SGD([*first.parameters(), *later.parameters()], lr=0.5)
    first(torch.ones(2)).sum().backward()
    optimizer.step()
    before = later.weight.detach().clone()
    later(torch.tensor([2])).sum().backward()
    optimizer.step()
    assert torch.equal(later.weight[2], before[2] - 0.5)


def test_a_hook_of_the_user_s_is_called_beside_ours():
    weight, called = torch.nn.Parameter(torch.ones(3)), []
    optimizer = optim.SGD([weight], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: called.append(1))
    weight.grad = torch.ones(3)
    optimizer.step()
    optimizer.step()
    assert len(called) == 2
