"""The shipped operators on the CPU: what `verify` asks of each, torch as the oracle, and their memory."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F

from simpletorch import kernels
from simpletorch.errors import BackendError, ShapeMismatch
from simpletorch.kernels import Operator
from tests.kernels.cases import angles, cases, classes, normal, outputs
from tests.kernels.every import OPERATORS

# a gradient that is computed from the rounded result differs from one that is computed from the exact one
LOW = {torch.float16: (4e-3, 4e-3), torch.bfloat16: (4e-2, 4e-2), torch.float32: (1e-3, 1e-3)}

# gradients along with the loss: constants for autograd, so `verify` would find that they have none
CONSTANT = {"simpletorch::linear_cross_entropy_gradients", "simpletorch::linear_cross_entropy_hidden_gradient"}
# its tables are constants
TABLES = {"simpletorch::rotary_turned"}


def operators() -> list[Operator]:
    return sorted(OPERATORS.values(), key=lambda op: op.name)


# a backward is what its forward's gradients are compared with
VERIFIED = [op for op in operators() if op.name not in CONSTANT | TABLES and not op.name.endswith("_backward")]


@pytest.mark.slow
@pytest.mark.parametrize("op", VERIFIED, ids=lambda op: op.name)
def test_verify(op):
    done = kernels.verify(op, tolerances=LOW)
    assert {"results", "opcheck"} <= {check for check, _ in done.passed}


@pytest.mark.parametrize("paired", [False, True])
def test_rotary_is_an_operator(paired):
    x, (cos, sin) = normal(2, 5, 3, 26).requires_grad_(), angles(5, 13)
    (op,) = (op for op in operators() if op.name in TABLES)
    torch.library.opcheck(op.op, (x, cos, sin, paired))
    assert torch.autograd.gradcheck(lambda x: kernels.rotary(x, cos, sin, paired), (x,))
    with pytest.raises(ValueError, match="rotary gives its tables cos and sin no gradient; detach them"):
        kernels.rotary(x, cos.requires_grad_(), sin, paired)


@pytest.mark.parametrize("name", sorted(CONSTANT))
def test_losses_with_gradients_are_operators(name):
    op = next(op for op in operators() if op.name == name)
    for dtype in (torch.float32, torch.bfloat16):
        given = (normal(67, 7).to(dtype), normal(11, 7).to(dtype), classes(67, 11), -100, 0.1)
        torch.library.opcheck(op.op, given)
        for got, right in zip(op(*given), op.reference(*given), strict=True):
            torch.testing.assert_close(got, right, rtol=LOW[dtype][0], atol=LOW[dtype][1])


def test_all_of_them_have_a_kernel_for_a_gpu():
    assert [op.name for op in operators() if "cuda" not in op.implementations] == []


NAMES = [case for case in cases() if "empty" not in case.name and "long" not in case.name]


@pytest.mark.slow
@pytest.mark.parametrize("case", NAMES, ids=repr)
def test_compiled_in_one_graph(case):
    torch._dynamo.reset()
    torch.manual_seed(7)
    given = tuple(x.float() if x.is_floating_point() else x for x in case.make())
    leaves = [
        x.detach().requires_grad_() if i not in case.constant and x.is_floating_point() else x
        for i, x in enumerate(given)
    ]
    compiled = torch.compile(case.call, backend="aot_eager", fullgraph=True)
    right, got = outputs(case.call(*leaves)), outputs(compiled(*leaves))
    wanted = [x for x in leaves if x.requires_grad]
    grads = (torch.autograd.grad([y.sum() for y in found], wanted) for found in (right, got))
    for a, b in zip([*right, *next(grads)], [*got, *next(grads)], strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case for case in NAMES if "packed" not in case.name and "0-d" not in case.name], ids=repr
)
def test_exported_for_any_number_of_rows(case):
    class Model(torch.nn.Module):
        def forward(self, *given):
            return case.call(*given)

    given = tuple(x.float() if x.is_floating_point() else x for x in case.make())
    exported = torch.export.export(Model(), given).module()
    for a, b in zip(outputs(exported(*given)), outputs(case.call(*given)), strict=True):
        torch.testing.assert_close(a, b)


# -- torch as the oracle -----------------------------------------------------------------------------------------------

X, Y, W, B = (torch.randn(3, 5, 7), torch.randn(3, 5, 7), torch.randn(7), torch.randn(7))


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (kernels.relu_add(X, Y), torch.relu(X + Y)),
        (kernels.softmax(X, 0.3), torch.softmax(0.3 * X, -1)),
        (kernels.layer_norm(X, W, B), F.layer_norm(X, (7,), W, B)),
        (kernels.layer_norm(X, W, eps=1e-3), F.layer_norm(X, (7,), W, None, 1e-3)),
        (kernels.rms_norm(X, W), F.rms_norm(X, (7,), W, 1e-6)),
        (kernels.add_rms_norm(X, Y, W)[0], F.rms_norm(X + Y, (7,), W, 1e-6)),
        (kernels.add_rms_norm(X, Y, W)[1], X + Y),
        (kernels.swiglu(X, Y), F.silu(X) * Y),
        (kernels.geglu(X, Y), F.gelu(X) * Y),
        (kernels.geglu(X, Y, True), F.gelu(X, approximate="tanh") * Y),
    ],
)
def test_it_is_what_torch_says(got, right):
    torch.testing.assert_close(got, right)


@pytest.mark.parametrize("paired", [False, True])
def test_rotary_turns_complex_numbers(paired):
    x, (cos, sin) = normal(2, 5, 3, 26), angles(5, 13)
    got = kernels.rotary(x, cos, sin, paired)
    pick = (lambda t: (t[..., 0::2], t[..., 1::2])) if paired else (lambda t: t.chunk(2, -1))
    turned = torch.complex(*pick(x)) * torch.complex(cos, sin)[None, :, None]
    torch.testing.assert_close(torch.complex(*pick(got)), turned)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["logits", "linear"])
def test_cross_entropy_is_torch_s(loss, smoothing):
    hidden, weight, targets = normal(67, 7).requires_grad_(), normal(11, 7).requires_grad_(), classes(67, 11)
    if loss == "linear":
        got = kernels.linear_cross_entropy(hidden, weight, targets, label_smoothing=smoothing)
    else:
        got = kernels.cross_entropy(hidden @ weight.T, targets, label_smoothing=smoothing)
    right = F.cross_entropy(hidden @ weight.T, targets, label_smoothing=smoothing)
    torch.testing.assert_close(got, right)
    for a, b in zip(
        torch.autograd.grad(got, (hidden, weight)), torch.autograd.grad(right, (hidden, weight)), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("frozen", ["weight", "hidden", "both"])
def test_linear_cross_entropy_with_something_frozen(frozen):
    hidden, weight, targets = normal(67, 7), normal(11, 7), classes(67, 11)
    leaves = [
        x.requires_grad_() for name, x in (("hidden", hidden), ("weight", weight)) if frozen not in (name, "both")
    ]
    got = kernels.linear_cross_entropy(hidden, weight, targets)
    right = F.cross_entropy(hidden @ weight.T, targets)
    torch.testing.assert_close(got, right)
    for leaf in leaves:
        torch.testing.assert_close(*(torch.autograd.grad(loss, leaf)[0] for loss in (got, right)))


def test_linear_cross_entropy_has_no_second_derivatives_and_says_so():
    hidden = normal(5, 7).requires_grad_()
    loss = kernels.linear_cross_entropy(hidden, normal(11, 7), torch.tensor([0, 1, 2, 3, 10]))
    with pytest.raises(RuntimeError, match="linear_cross_entropy has no second derivatives"):
        torch.autograd.grad(loss, hidden, create_graph=True)


def test_the_z_loss():
    logits = normal(5, 7)
    targets = torch.tensor([0, 6, -100, 3, 2])
    normalizers = logits.logsumexp(-1)[targets != -100]
    right = F.cross_entropy(logits, targets) + 0.01 * normalizers.square().mean()
    torch.testing.assert_close(kernels.cross_entropy(logits, targets, z_loss=0.01), right)


def test_a_mean_of_nothing_is_nan_as_in_torch():
    assert kernels.cross_entropy(normal(2, 3), torch.tensor([-100, -100])).isnan()


def test_a_target_out_of_range():
    with pytest.raises((IndexError, RuntimeError)):
        kernels.cross_entropy(normal(2, 3), torch.tensor([0, 3]))


def test_shapes_that_do_not_fit():
    with pytest.raises(ShapeMismatch):
        kernels.rms_norm(X, torch.ones(5))


# -- dropout -----------------------------------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_the_share():
    x = torch.ones(100_003)
    got = kernels.dropout_add(x, torch.zeros_like(x), 0.3, seed=5)
    assert (got == 0).float().mean().item() == pytest.approx(0.3, abs=0.005)
    assert got.max().item() == pytest.approx(1 / 0.7, rel=1e-4)


def test_dropout_is_decided_by_its_seed():
    x, zero = torch.ones(10_007), torch.zeros(10_007)
    same = [kernels.dropout_add(x, zero, seed=5) for _ in range(2)]
    assert torch.equal(*same)
    assert not torch.equal(same[0], kernels.dropout_add(x, zero, seed=6))
    torch.manual_seed(3)
    drawn = kernels.dropout_add(x, zero)
    assert not torch.equal(drawn, kernels.dropout_add(x, zero))
    torch.manual_seed(3)
    assert torch.equal(drawn, kernels.dropout_add(x, zero))


def test_dropout_gives_the_gradient_the_same_mask():
    x, y = torch.ones(10_007, requires_grad=True), torch.zeros(10_007, requires_grad=True)
    result = kernels.dropout_add(x, y, 0.25, seed=5)
    grads = torch.autograd.grad(result.sum(), (x, y))
    assert torch.equal(grads[0], result)
    assert torch.equal(grads[1], torch.ones_like(y))


def test_dropout_that_drops_nothing():
    assert torch.equal(kernels.dropout_add(X, Y, training=False), X + Y)
    assert torch.equal(kernels.dropout_add(X, Y, 0.0), X + Y)
    with pytest.raises(ValueError, match=r"p=1.5 is no chance"):
        kernels.dropout_add(X, Y, 1.5)


# -- AdamW -------------------------------------------------------------------------------------------------------------


def test_adamw_step_is_torch_s():
    right = [torch.nn.Parameter(torch.randn(n)) for n in (3, 5003)]
    ours = [p.detach().clone() for p in right]
    averages, squares = ([torch.zeros_like(p) for p in ours] for _ in range(2))
    optimizer = torch.optim.AdamW(right, lr=0.1, weight_decay=0.2, betas=(0.8, 0.9), eps=1e-6)
    for step in (1, 2, 3):
        for p in right:
            p.grad = torch.randn_like(p)
        optimizer.step()
        options = {"lr": 0.1, "weight_decay": 0.2, "betas": (0.8, 0.9), "eps": 1e-6}
        kernels.adamw_step(ours, [p.grad for p in right], averages, squares, step=step, **options)
    for a, b in zip(ours, right, strict=True):
        torch.testing.assert_close(a, b.detach())


def test_rounding_by_chance_keeps_what_is_less_than_half_a_step():
    """A bfloat16 of 1 has steps of 1/128: updates of 1/1000 are lost, or done one time in eight."""

    def trained(seed):
        x = [torch.ones(20_011, dtype=torch.bfloat16)]
        averages, squares = ([torch.zeros(20_011)] for _ in range(2))
        for step in range(1, 21):
            kernels.adamw_step(x, [torch.ones_like(x[0])], averages, squares, step=step, weight_decay=0.0, seed=seed)
        return x[0].double().mean().item()

    assert trained(None) == 1.0
    assert trained(3) == pytest.approx(0.98, abs=1e-3)
    assert trained(3) == trained(3)


def test_adamw_step_wants_lists_of_one_length():
    with pytest.raises(ValueError, match="as many gradients and averages as parameters, not 1, 0, 1, 1"):
        kernels.adamw_step([X], [], [X], [X], step=1)
    with pytest.raises(ValueError, match="step=0: the first step is 1"):
        kernels.adamw_step([X], [X], [X], [X], step=0)


# -- attention ---------------------------------------------------------------------------------------------------------


def test_attention_is_torch_s():
    q, k, v = torch.randn(2, 6, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 8)
    right = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), scale=0.2)
    torch.testing.assert_close(kernels.attention(q, k, v, scale=0.2), right)
    torch.testing.assert_close(kernels.attention(q, k, v, scale=0.2, backend="math"), right)
    assert kernels.attention_backend(q, k, v) in ("flash", "math")


def test_attention_says_why_a_backend_can_not():
    q = torch.randn(2, 3, 5, 8)
    with pytest.raises(BackendError, match="attention: cudnn can't run these arguments: these tensors are on cpu"):
        kernels.attention(q, q, q, backend="cudnn")
    with pytest.raises(BackendError, match="attention has no backend 'falsh'"):
        kernels.attention(q, q, q, backend="falsh")


# -- memory ------------------------------------------------------------------------------------------------------------


def peak(loss, *given):
    """The most bytes that torch had allocated at once for a loss and its gradients."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiled:
        torch.autograd.grad(loss(*given), given[:2])
    events = sorted(profiled.profiler.kineto_results.events(), key=lambda event: event.start_ns())
    return max(itertools.accumulate(event.nbytes() for event in events if event.name() == "[memory]"))


def test_linear_cross_entropy_takes_a_quarter_of_the_memory_at_most():
    given = (normal(1031, 32).requires_grad_(), normal(8009, 32).requires_grad_(), classes(1031, 8009))
    eager = peak(lambda hidden, weight, targets: F.cross_entropy(hidden @ weight.T, targets), *given)
    assert eager > 2 * 4 * 1031 * 8009
    assert peak(kernels.linear_cross_entropy, *given) <= eager / 4


@pytest.mark.thorough
@pytest.mark.slow
def test_linear_cross_entropy_takes_a_quarter_of_the_process_s_memory_at_most():
    """Each in its own process, because the peak of a process never goes down."""
    found = {}
    for which in ("ours", "eager"):
        command = [sys.executable, "-m", "benchmarks.kernels", "--peak", which]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[which] = json.loads(done.stdout.splitlines()[-1])["mib"]
    assert found["ours"] <= found["eager"] / 4
