"""`Step`: accumulation, clipping, mixed precision, averages."""

import copy
import functools

import pytest
import torch
from torch.nn import functional as F

from simpletorch.amp import GradScaler, precise
from simpletorch.errors import ShapeMismatch, TorchError
from simpletorch.metrics import MeanLoss
from simpletorch.optim import EMA, LBFGS, SGD, AdamW
from simpletorch.train import Step, evaluate

INPUTS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0))
TARGETS = torch.arange(23) % 2


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


def gradients(model):
    return [parameter.grad for parameter in model.parameters()]


@pytest.mark.parametrize("sizes", [(7, 7, 7), (7, 7, 2), (3, 11, 9), (1, 13, 5)])
@pytest.mark.parametrize("scaled", [False, True])
def test_accumulated_batches_are_one_large_batch(sizes, scaled):
    ours, whole = net(), net()
    scaler = GradScaler("cpu", init_scale=64.0) if scaled else None
    step = Step(ours, F.cross_entropy, SGD(ours.parameters(), lr=0.1), accumulate=3, scaler=scaler)
    total = sum(sizes)
    pending = []
    for inputs, targets in zip(INPUTS[:total].split(sizes), TARGETS[:total].split(sizes), strict=True):
        step(inputs, targets)
        pending.append(step.pending)
    assert pending == [1, 2, 0]
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    F.cross_entropy(whole(INPUTS[:total]), TARGETS[:total]).backward()
    optimizer.step()
    for parameter, expected in zip(ours.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(parameter, expected)


def test_what_is_left_over_makes_an_update_too():
    ours, whole = net(), net()
    step = Step(ours, F.cross_entropy, SGD(ours.parameters(), lr=0.1), accumulate=5)
    step(INPUTS[:7], TARGETS[:7])
    step(INPUTS[7:10], TARGETS[7:10])
    assert step.pending == 2
    assert step.flush()
    assert not step.flush()
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    F.cross_entropy(whole(INPUTS[:10]), TARGETS[:10]).backward()
    optimizer.step()
    for parameter, expected in zip(ours.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(parameter, expected)


def test_items_that_do_not_count_are_not_counted():
    """Tokens with padding: the mean is over the tokens that are left, however they are spread over the batches."""

    def loss(output, target):
        return F.cross_entropy(output, target, ignore_index=-100)

    ours, whole = net(), net()
    targets = TARGETS[:14].clone()
    targets[1:7] = -100
    step = Step(
        ours,
        loss,
        SGD(ours.parameters(), lr=0.1),
        accumulate=2,
        count=lambda target: int((target != -100).sum()),
    )
    step(INPUTS[:7], targets[:7])
    step(INPUTS[7:14], targets[7:14])
    loss(whole(INPUTS[:14]), targets).backward()
    for gradient, expected in zip(gradients(ours), gradients(whole), strict=True):
        torch.testing.assert_close(gradient, expected)


def test_clip_value_limits_each_element():
    model = net()
    Step(model, F.cross_entropy, SGD(model.parameters(), lr=0.1), clip_value=1e-3)(INPUTS, TARGETS)
    assert max(float(gradient.abs().max()) for gradient in gradients(model)) == pytest.approx(1e-3)


def test_hooks_come_before_backward_and_before_clipping():
    model, seen = net(), []

    def on_loss(loss):
        seen.append(("loss", float(loss), loss.requires_grad, model[0].weight.grad))

    def on_gradients():
        seen.append(("norm", float(torch.nn.utils.get_total_norm(gradients(model)))))

    step = Step(
        model,
        F.cross_entropy,
        SGD(model.parameters(), lr=0.1),
        clip_norm=1e-4,
        on_loss=on_loss,
        on_gradients=on_gradients,
    )
    loss = step(INPUTS, TARGETS)
    assert seen[0] == ("loss", float(loss), False, None)
    assert seen[1][1] > 1e-3


def test_the_output_is_kept_on_request():
    model = net()
    step = Step(model, F.cross_entropy, SGD(model.parameters(), lr=0.0), keep_output=True)
    step(INPUTS, TARGETS)
    assert torch.equal(step.output, model(INPUTS))
    assert not step.output.requires_grad


@pytest.mark.parametrize(("precision", "dtype"), [("bfloat16", torch.bfloat16), ("float16", torch.float16)])
def test_mixed_precision_is_torch_s_recipe(precision, dtype):
    ours, theirs = net(), net()
    step = Step(ours, F.cross_entropy, AdamW(ours.parameters(), lr=0.01), precision=precision, clip_norm=0.5)
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=0.01, fused=True)
    scaler = torch.amp.GradScaler("cpu", enabled=precision == "float16")
    for _ in range(5):
        our_loss = step(INPUTS, TARGETS)
        with torch.autocast("cpu", dtype=dtype):
            output = theirs(INPUTS)
            loss = F.cross_entropy(output, TARGETS)
        assert output.dtype == dtype
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(our_loss, loss)
    for parameter, expected in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(parameter, expected)


def test_an_update_with_an_infinite_gradient_is_skipped_and_the_scale_halved():
    model = net()
    ema = EMA(model, 0.9)
    step = Step(
        model,
        lambda output, target: F.cross_entropy(output, target) * 1e35,
        SGD(model.parameters(), lr=0.1),
        scaler=GradScaler("cpu", init_scale=2.0**20),
        ema=ema,
    )
    before = model[0].weight.detach().clone()
    step(INPUTS, TARGETS)
    assert step.skipped
    assert torch.equal(model[0].weight, before)
    assert step.scaler.get_scale() == 2.0**19
    assert ema.n_averaged == 0


def test_the_average_follows_each_update():
    model = net()
    ema, expected = EMA(model, 0.9), EMA(model, 0.9)
    step = Step(model, F.cross_entropy, SGD(model.parameters(), lr=0.1), ema=ema, accumulate=2)
    for _ in range(3):
        step(INPUTS, TARGETS)
        step(INPUTS, TARGETS)
        expected.update_parameters(model)
    for ours, theirs in zip(ema.parameters(), expected.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert ema.n_averaged == 3


def test_sizes_that_can_not_be():
    model = net()
    with pytest.raises(ValueError, match="accumulate is 0: it is the number of batches") as caught:
        Step(model, F.cross_entropy, SGD(model.parameters()), accumulate=0)
    assert isinstance(caught.value, TorchError)
    with pytest.raises(ValueError, match=r"clip_value is -1\.0"):
        Step(model, F.cross_entropy, SGD(model.parameters()), clip_value=-1.0)
    with pytest.raises(ValueError, match="LBFGS evaluates the loss several times"):
        Step(model, F.cross_entropy, LBFGS(model.parameters()))


def test_a_precision_that_there_is_not():
    with pytest.raises(ValueError, match="precision is 'fp8': it must be one of 'float32', 'bfloat16', 'float16'"):
        precise("fp8", None)
    with pytest.raises(ValueError, match="torch has no autocast on 'meta'"):
        precise("bfloat16", torch.device("meta"))


def test_a_scaler_is_made_for_the_device_that_there_is():
    expected = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
    assert GradScaler()._device == expected  # torch has no public name for it


def test_a_step_can_be_copied_with_its_model():
    model = net()
    step = copy.deepcopy(Step(model, F.cross_entropy, SGD(model.parameters(), lr=0.1)))
    step(INPUTS, TARGETS)
    assert model[0].weight.grad is None


def test_gradients_are_dropped_as_torchs_zero_grad_does():
    model = net()
    optimizer = SGD([{"params": model[0].parameters()}], lr=0.1)
    step = Step(model, F.cross_entropy, optimizer)
    optimizer.add_param_group({"params": model[2].parameters()})
    for _ in range(2):
        step(INPUTS[:7], TARGETS[:7])
    reference = net()
    F.cross_entropy(reference(INPUTS[:7]), TARGETS[:7]).backward()
    torch.optim.SGD(reference.parameters(), lr=0.1).step()
    reference.zero_grad()
    F.cross_entropy(reference(INPUTS[:7]), TARGETS[:7]).backward()
    assert all(map(torch.equal, gradients(model), gradients(reference)))


@pytest.mark.parametrize("how", ["overridden", "replaced"])
def test_an_optimizers_own_zero_grad_is_called(how):
    calls = []

    class Own(SGD):
        def zero_grad(self, set_to_none=True):
            calls.append(set_to_none)
            super().zero_grad(set_to_none)

    model = net()
    optimizer = (Own if how == "overridden" else SGD)(model.parameters(), lr=0.1)
    if how == "replaced":
        optimizer.zero_grad = lambda: calls.append(True)
    step = Step(model, F.cross_entropy, optimizer)
    for _ in range(3):
        step(INPUTS[:7], TARGETS[:7])
    assert calls == [True] * 3


@pytest.mark.parametrize(
    ("loss", "target", "said"),
    [
        (F.cross_entropy, torch.zeros(7), "cross_entropy: target is Float32, but class indices must be Int64 or UInt8"),
        (
            F.binary_cross_entropy_with_logits,
            torch.zeros(7, 5, dtype=torch.int64),
            "binary_cross_entropy_with_logits: target is Int64, but it must be floating or complex",
        ),
    ],
)
def test_a_target_that_does_not_fit_is_explained_as_in_a_loop_of_ones_own(loss, target, said):
    model = torch.nn.Linear(3, 5)
    with pytest.raises(TorchError, match=said) as caught:
        Step(model, loss, SGD(model.parameters()))(torch.zeros(7, 3), target)
    assert str(caught.value.hint).startswith("target.")


@pytest.mark.parametrize(
    ("loss", "operation"),
    [
        (F.cross_entropy, "cross_entropy"),
        (functools.partial(F.cross_entropy, label_smoothing=0.1), "cross_entropy"),
        (torch.nn.CrossEntropyLoss(), "cross_entropy"),
        (F.nll_loss, "nll_loss"),
        (F.multi_margin_loss, "multi_margin_loss"),
    ],
)
def test_a_label_that_is_no_class_is_said_as_of_a_loss_called_by_hand(loss, operation):
    model, labels = net(), torch.tensor([0, 1, 2, 1])
    step = Step(model, loss, SGD(model.parameters()))
    with pytest.raises(ShapeMismatch) as trained:
        step(INPUTS[:4], labels)
    with pytest.raises(ShapeMismatch) as measured:
        evaluate(model, [(INPUTS[:4], labels)], {"loss": MeanLoss(loss)})
    for error, line in (trained.value, "step(INPUTS[:4], labels)"), (measured.value, "evaluate(model, [("):
        assert error.reason == "class 2 in target is out of range: input has 2 classes (0 to 1)"
        assert (error.operation, error.expected, error.got) == (operation, 2, 2)
        assert [(each.name, each.shape) for each in error.operands[:2]] == [("input", (4, 2)), ("target", (4,))]
        assert error.location.file.endswith("test_step.py")
        assert error.location.code.startswith(line)
