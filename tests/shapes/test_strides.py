"""What torch makes of strides, beside what we compute."""

import random

import pytest
import torch

from simpletorch.shapes import UNKNOWN, var
from simpletorch.shapes.strides import Undecided, contiguous, element_wise, is_contiguous, overlaps, viewed


def strided(rng: random.Random) -> torch.Tensor:
    """A tensor that some views lead to."""
    t = torch.zeros([rng.choice((1, 2, 3, 5, 7)) for _ in range(rng.randint(0, 5))])
    for _ in range(rng.randint(0, 3)):
        kind, rank = rng.randrange(5), t.dim()
        dim = rng.randrange(max(rank, 1))
        if rank and kind == 0:
            t = t.permute(rng.sample(range(rank), rank))
        elif rank and kind == 1:
            t = t.narrow(dim, 0, rng.randint(1, t.size(dim)))
        elif rank and kind == 2:
            t = t[(slice(None),) * dim + (slice(None, None, 2),)]
        elif rank and kind == 3:
            t = t.select(dim, 0)
        else:
            t = t.unsqueeze(rng.randint(0, rank))
            t = t.expand([3 if s == 1 and rng.random() < 0.3 else s for s in t.shape])
    return t


def factors(rng: random.Random, count: int) -> list[int]:
    """Sizes of which the product is ``count``."""
    out = []
    while count > 1:
        out.append(rng.choice([d for d in range(2, count + 1) if count % d == 0]))
        count //= out[-1]
    for _ in range(rng.randint(0, 2)):
        out.insert(rng.randint(0, len(out)), 1)
    rng.shuffle(out)
    return out


def strides_of_view(t: torch.Tensor, sizes: list[int]) -> tuple[int, ...] | None:
    try:
        return t.view(sizes).stride()
    except RuntimeError as refusal:
        assert "view size is not compatible" in str(refusal)  # noqa: PT017
        return None


def test_views_are_those_of_torch():
    rng = random.Random(0)
    refused = 0
    for _ in range(5_000):
        t = strided(rng)
        wanted = factors(rng, t.numel())
        real = strides_of_view(t, wanted)
        refused += real is None
        assert viewed(t.shape, t.stride(), wanted) == real, (t.shape, t.stride(), wanted)
        assert is_contiguous(t.shape, t.stride()) == t.is_contiguous()
        assert overlaps(t.shape, t.stride()) == any(s == 0 and n > 1 for n, s in zip(t.shape, t.stride(), strict=True))
    assert refused > 1_000


def test_element_wise_results_lie_as_in_torch():
    rng = random.Random(1)
    for _ in range(2_000):
        t = strided(rng)
        other = torch.zeros([1 if rng.random() < 0.3 else s for s in t.shape[rng.randint(0, 1) :]])
        other = other.permute(rng.sample(range(other.dim()), other.dim())).contiguous() if rng.random() < 0.3 else other
        for operands, work in (((t,), torch.relu), ((t, other), torch.add), ((other, t), torch.mul)):
            try:
                real = work(*operands)
            except RuntimeError:
                continue
            found = element_wise(real.shape, [(o.shape, o.stride()) for o in operands])
            wide = [d for d, size in enumerate(real.shape) if size > 1]
            assert [found[d] for d in wide] == [real.stride(d) for d in wide], operands


B, T = var("b"), var("t")


@pytest.mark.parametrize("batch", [B, UNKNOWN])
def test_a_size_that_is_not_known_decides_nothing_where_it_does_not_matter(batch):
    sizes, strides = (batch, 5, 3, 7), (105, 7, 35, 1)  # (b, 3, 5, 7) with the middle dims turned
    assert viewed(sizes, strides, (batch, 5, 21)) is None
    assert element_wise(sizes, [(sizes, strides)]) == strides


@pytest.mark.parametrize("length", [T, UNKNOWN])
def test_a_size_that_may_be_one_decides_nothing(length):
    strides = contiguous((11, length, 3, 7))
    turned = strides[0], strides[2], strides[1], strides[3]
    with pytest.raises(Undecided):
        viewed((11, 3, length, 7), turned, (11, 3 * length * 7))


def test_new_tensors_of_unknown_sizes():
    assert contiguous((UNKNOWN, T, 3)) == (3 * T, 3, 1)
    assert contiguous((2, UNKNOWN, 3)) == (UNKNOWN, 3, 1)
    assert is_contiguous((B, T, 3), (3 * T, 3, 1))
