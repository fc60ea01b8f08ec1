"""Losses against their formulas, written out."""

import math

import pytest
import torch
from torch.nn import functional as F

from simpletorch.errors import DataError, ShapeMismatch, TorchError
from simpletorch.losses import (
    WeightedSum,
    dice_loss,
    focal_loss,
    sigmoid_focal_loss,
    smooth_labels,
    smoothed_cross_entropy,
)


def scores(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


SCORES, CLASSES = scores(7, 5), torch.tensor([0, 4, 2, 2, 1, 3, 0])


@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3, 2), (5,)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_gamma_focal_loss_is_cross_entropy(shape, reduction, weighted):
    input = scores(*shape)
    target = torch.randint(
        5, shape[:1] + shape[2:] if len(shape) > 1 else (), generator=torch.Generator().manual_seed(1)
    )
    if target.ndim:
        target[0] = -100
    weight = torch.rand(5, dtype=torch.float64, generator=torch.Generator().manual_seed(2)) if weighted else None
    ours = focal_loss(input, target, 0.0, weight=weight, reduction=reduction)
    torch.testing.assert_close(ours, F.cross_entropy(input, target, weight=weight, reduction=reduction))


def test_focal_loss_is_the_formula():
    losses = [
        -((1 - p) ** 3) * math.log(p)
        for p in (float(row.softmax(0)[c]) for row, c in zip(SCORES, CLASSES, strict=True))
    ]
    assert focal_loss(SCORES, CLASSES, 3.0).item() == pytest.approx(sum(losses) / 7)


def test_focal_loss_has_the_right_gradient():
    assert torch.autograd.gradcheck(lambda x: focal_loss(x, CLASSES, 1.5), SCORES.clone().requires_grad_())
    targets = (scores(7, 5, seed=1) > 0).double()
    assert torch.autograd.gradcheck(lambda x: sigmoid_focal_loss(x, targets), SCORES.clone().requires_grad_())


def test_focal_loss_of_a_certain_score_is_finite_with_its_gradient():
    input = torch.tensor([[200.0, -200.0]], requires_grad=True)
    focal_loss(input, torch.tensor([0]), 0.5).backward()
    sigmoid_focal_loss(input, torch.tensor([[1.0, 0.0]]), 0.5).backward()
    assert torch.isfinite(input.grad).all()


def test_sigmoid_focal_loss_is_the_formula():
    targets = (scores(7, 5, seed=1) > 0).double()
    yes = SCORES.sigmoid()
    likely = torch.where(targets == 1, yes, 1 - yes)
    alpha = torch.where(targets == 1, 0.3, 0.7)
    expected = -alpha * (1 - likely) ** 2 * likely.log()
    torch.testing.assert_close(sigmoid_focal_loss(SCORES, targets, alpha=0.3), expected.mean())
    torch.testing.assert_close(sigmoid_focal_loss(SCORES, targets, alpha=0.3, reduction="sum"), expected.sum())
    torch.testing.assert_close(sigmoid_focal_loss(SCORES, targets, alpha=0.3, reduction="none"), expected)


def test_sigmoid_focal_loss_without_gamma_and_alpha_is_binary_cross_entropy():
    targets = (scores(7, 5, seed=1) > 0).double()
    expected = F.binary_cross_entropy_with_logits(SCORES, targets)
    torch.testing.assert_close(sigmoid_focal_loss(SCORES, targets, 0.0, None), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: focal_loss(SCORES, CLASSES, -1.0), r"gamma is -1\.0"),
        (lambda: focal_loss(SCORES, CLASSES, reduction="avg"), "reduction is 'avg': it must be"),
        (lambda: sigmoid_focal_loss(SCORES, SCORES, alpha=2.0), r"alpha is 2\.0: it must be between 0 and 1"),
        (lambda: smoothed_cross_entropy(1.5), r"smoothing is 1\.5"),
        (lambda: WeightedSum(), "WeightedSum got no loss"),
    ],
)
def test_settings_that_make_no_sense_are_refused(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert isinstance(caught.value, TorchError)


@pytest.mark.parametrize("loss", [sigmoid_focal_loss, dice_loss])
def test_other_shapes_are_refused(loss):
    with pytest.raises(ShapeMismatch, match=r"expected shape \[7, 5, 3\], but got \[7, 5, 1\]"):
        loss(scores(7, 5, 3), scores(7, 5, 1))


def test_smoothing_is_torch_s():
    torch.testing.assert_close(
        smoothed_cross_entropy(0.2)(SCORES, CLASSES), F.cross_entropy(SCORES, CLASSES, label_smoothing=0.2)
    )
    soft = smooth_labels(CLASSES, 5, 0.2)
    assert soft.dtype == torch.float32
    torch.testing.assert_close(
        F.cross_entropy(SCORES, soft.double()), F.cross_entropy(SCORES, CLASSES, label_smoothing=0.2), rtol=1e-6, atol=0
    )


def test_labels_that_can_not_be_smoothed():
    with pytest.raises(DataError, match="there are 3 classes, 0 to 2, but targets range from 0 to 4"):
        smooth_labels(CLASSES, 3)
    with pytest.raises(DataError, match="takes class numbers"):
        smooth_labels(SCORES, 5)


def test_dice_loss_is_the_overlap():
    predicted = torch.tensor([[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    true = torch.tensor([[[1, 0, 0, 1], [0, 0, 0, 0]]])
    assert dice_loss(predicted, true, smooth=0.5).item() == pytest.approx((1 - 2.5 / 4.5) / 2)
    assert dice_loss(true.float(), true).item() == 0


def test_a_weighted_sum_is_the_sum():
    target = (scores(7, 5, seed=1) > 0).double()
    both = WeightedSum((1.0, F.binary_cross_entropy_with_logits), (0.5, F.mse_loss))
    expected = F.binary_cross_entropy_with_logits(SCORES, target) + 0.5 * F.mse_loss(SCORES, target)
    torch.testing.assert_close(both(SCORES, target), expected)
