"""MixUp and CutMix."""

import numpy as np
import pytest
import torch

from simpletorch import transforms as T
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch

IMAGES = torch.arange(5.0).view(5, 1, 1, 1).expand(5, 3, 31, 37)
TARGETS = torch.tensor([2, 0, 6, 2, 1])


def seeded(mix, seed, **options):
    return mix(7, generator=torch.Generator().manual_seed(seed), **options)


@pytest.mark.parametrize("seed", range(5))
def test_mixup_is_the_weighted_sum_with_the_one_before(seed):
    images, targets = seeded(T.MixUp, seed)(IMAGES, TARGETS)
    kept = targets[1, 0].item()  # image 1 is of class 0, image 0 is not
    torch.testing.assert_close(images, kept * IMAGES + (1 - kept) * IMAGES.roll(1, 0))
    one_hot = torch.eye(7)[TARGETS]
    torch.testing.assert_close(targets, kept * one_hot + (1 - kept) * one_hot.roll(1, 0))


@pytest.mark.parametrize("seed", range(11))
def test_cutmix_pastes_one_rectangle_and_counts_its_area(seed):
    images, targets = seeded(T.CutMix, seed)(IMAGES, TARGETS)
    pasted = images != IMAGES
    assert torch.equal(images, torch.where(pasted, IMAGES.roll(1, 0), IMAGES))
    assert (pasted == pasted[:1, :1]).all()
    rows, columns = torch.where(pasted[0, 0])
    if len(rows):
        assert len(rows) == (rows.max() - rows.min() + 1) * (columns.max() - columns.min() + 1)
    torch.testing.assert_close(targets[1, 0], 1 - torch.tensor(len(rows) / (31 * 37)))
    torch.testing.assert_close(targets.sum(1), torch.ones(5))


@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_the_share_is_of_the_beta_distribution(alpha):
    mix = seeded(T.MixUp, 3, alpha=alpha)
    shares = np.array([mix(IMAGES, TARGETS)[1][1, 0].item() for _ in range(1009)])
    variance = 1 / (4 * (2 * alpha + 1))
    assert abs(shares.mean() - 0.5) < 4 * np.sqrt(variance / 1009)
    assert abs(shares.var() / variance - 1) < 0.2


@pytest.mark.parametrize("mix", [T.MixUp, T.CutMix])
def test_shares_of_classes_are_targets_too_and_a_generator_repeats(mix):
    first = seeded(mix, 3)(IMAGES, TARGETS)
    second = seeded(mix, 3)(IMAGES, torch.eye(7)[TARGETS])
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not torch.equal(seeded(mix, 5)(IMAGES, TARGETS)[1], first[1])


@pytest.mark.parametrize("mix", [T.MixUp, T.CutMix])
def test_bad_input(mix):
    with pytest.raises(ShapeMismatch, match=r"got \[3, 31, 37\] and \[\]"):
        mix(7)(IMAGES[0], TARGETS[0])
    with pytest.raises(ShapeMismatch, match=r"got \[5, 3, 31, 37\] and \[3\]"):
        mix(7)(IMAGES, TARGETS[:3])
    with pytest.raises(ShapeMismatch, match=r"targets \[B\] or \[B, 7\], but got .* \[5, 6\]"):
        mix(7)(IMAGES, torch.zeros(5, 6))
    with pytest.raises(DTypeMismatch, match=r"takes float images, but got torch.uint8"):
        mix(7)(IMAGES.byte(), TARGETS)
    with pytest.raises(DataError, match="targets go from 0 to 6, but num_classes is 5"):
        mix(5)(IMAGES, TARGETS)
    with pytest.raises(DataError, match="num_classes is 1"):
        mix(1)
    with pytest.raises(DataError, match="alpha is 0"):
        mix(7, alpha=0)
