"""Random transforms: what they draw, that a generator repeats it, and that a batch is its images one by one."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simpletorch import transforms as T
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.transforms import _resize

BYTES = torch.randint(0, 256, (7, 3, 37, 41), dtype=torch.uint8, generator=torch.Generator().manual_seed(5))
MAKERS = {
    "CenterCrop": lambda **g: T.CenterCrop(31),
    "RandomCrop": lambda **g: T.RandomCrop((29, 31), padding=(2, 3), **g),
    "RandomResizedCrop": lambda **g: T.RandomResizedCrop(17, **g),
    "Resize": lambda **g: T.Resize(23),
    "RandomHorizontalFlip": lambda **g: T.RandomHorizontalFlip(**g),
    "RandomVerticalFlip": lambda **g: T.RandomVerticalFlip(0.3, **g),
    "ColorJitter": lambda **g: T.ColorJitter(0.4, 0.4, 0.4, 0.2, **g),
    "RandomErasing": lambda **g: T.RandomErasing(0.7, value="random", **g),
    "GaussianBlur": lambda **g: T.GaussianBlur(5, **g),
    "Pad": lambda **g: T.Pad(3, padding_mode="reflect"),
    "Grayscale": lambda **g: T.Grayscale(3),
    "ToTensor": lambda **g: T.ToTensor(),
    "Compose": lambda **g: T.Compose(
        [T.RandomCrop(29), T.RandomHorizontalFlip(), T.RandomErasing(), T.ToTensor(), T.Normalize(0.5, 0.3)], **g
    ),
}


@pytest.fixture(params=MAKERS)
def maker(request):
    return MAKERS[request.param]


def seeded(maker, seed=11):
    return maker(generator=torch.Generator().manual_seed(seed))


def test_a_batch_is_its_images_one_by_one(maker):
    transform = seeded(maker)
    one_by_one = torch.stack([transform(image) for image in BYTES])
    assert torch.equal(seeded(maker)(BYTES), one_by_one)


def test_more_dims_in_front_are_a_batch(maker):
    five = BYTES[:6].reshape(2, 3, *BYTES.shape[1:])
    result = seeded(maker)(five)
    assert torch.equal(result.flatten(0, 1), seeded(maker)(BYTES[:6]))


def test_no_image_at_all_is_a_batch(maker):
    assert seeded(maker)(BYTES[:0]).shape == seeded(maker)(BYTES)[:0].shape


def test_the_input_is_left_alone(maker):
    images = BYTES.clone()
    result = seeded(maker)(images)
    assert torch.equal(images, BYTES)
    assert result.dtype in (torch.uint8, torch.float32)


def test_a_generator_repeats_and_the_global_one_is_left_alone(maker):
    before = torch.get_rng_state()
    assert torch.equal(seeded(maker)(BYTES), seeded(maker)(BYTES))
    assert torch.equal(torch.get_rng_state(), before)


def test_without_a_generator_the_global_one_decides(maker):
    results = []
    for _ in range(2):
        torch.manual_seed(13)
        results.append(maker()(BYTES))
    assert torch.equal(*results)


def test_copies_and_pickles_go_on_as_the_original(maker):
    transform = seeded(maker)
    transform(BYTES)
    again, copied = pickle.loads(pickle.dumps(transform)), copy.deepcopy(transform)
    expected = transform(BYTES)
    assert torch.equal(again(BYTES), expected)
    assert torch.equal(copied(BYTES), expected)
    assert repr(again) == repr(transform)


def test_a_grey_image_is_an_image(maker):
    assert seeded(maker)(BYTES[:, :1]).shape[0] == 7


class Marked(TensorDataset):
    """Images through a transform, in a worker."""

    def __init__(self, transform, count=12):
        super().__init__(torch.arange(count))
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(BYTES[0])


def epochs(transform, workers, seed=3, count=2, **options):
    loader = DataLoader(
        Marked(transform), 3, num_workers=workers, generator=torch.Generator().manual_seed(seed), **options
    )
    return [torch.cat([batch[None] if batch.ndim == 3 else batch for batch in loader]) for _ in range(count)]


def test_workers_and_epochs_differ_and_a_seeded_loader_repeats_them():
    def run(seed):
        return epochs(T.RandomCrop(11, generator=torch.Generator().manual_seed(17)), 2, seed)

    first, second = run(3)
    assert len(first.flatten(1).unique(dim=0)) > 6  # with one generator for both workers, half of them would be twins
    assert not torch.equal(first, second)
    assert all(torch.equal(a, b) for a, b in zip(run(3), (first, second), strict=True))
    assert not torch.equal(run(5)[0], first)


def test_transforms_go_to_workers_that_are_started_anew():
    transform = T.Compose([T.RandomCrop(11), T.ToTensor()], generator=torch.Generator().manual_seed(17))
    spawned = epochs(transform, 1, count=1, multiprocessing_context="spawn")[0]
    forked = epochs(transform, 1, count=1, multiprocessing_context="fork")[0]
    assert torch.equal(spawned, forked)


def test_a_crop_reaches_every_corner():
    image = torch.arange(6.0).view(1, 2, 3)
    corners = {T.RandomCrop(1, generator=torch.Generator().manual_seed(seed))(image).item() for seed in range(60)}
    assert corners == set(range(6))


def test_a_crop_of_the_whole_is_the_whole():
    assert torch.equal(T.RandomCrop((37, 41))(BYTES), BYTES)


def test_a_small_image_is_padded_if_needed():
    cropped = T.RandomCrop(11, pad_if_needed=True, fill=7)(torch.zeros(1, 3, 13))
    assert list(cropped.shape) == [1, 11, 11]
    assert set(cropped.unique().tolist()) <= {0.0, 7.0}


@settings(deadline=None, max_examples=200)
@given(height=st.integers(1, 997), width=st.integers(1, 997), seed=st.integers(0, 2**31))
def test_a_random_window_keeps_its_bounds(height, width, seed):
    numbers = torch.rand(22, generator=torch.Generator().manual_seed(seed)).tolist()
    top, left, h, w = _resize.random_window(height, width, (0.08, 1.0), (3 / 4, 4 / 3), numbers)
    assert 0 <= top <= top + h <= height
    assert 0 <= left <= left + w <= width
    assert h > 0
    assert w > 0


def test_a_random_window_has_the_areas_and_ratios_asked_for():
    numbers = torch.rand(2003, 22, generator=torch.Generator().manual_seed(7)).tolist()
    found = [_resize.random_window(499, 503, (0.2, 0.6), (1 / 2, 2), row)[2:] for row in numbers]
    areas = torch.tensor([h * w / (499 * 503) for h, w in found])
    ratios = torch.tensor([math.log2(w / h) for h, w in found])
    assert 0.19 < areas.min() < 0.22
    assert 0.57 < areas.max() < 0.61
    assert -1.01 < ratios.min() < -0.95
    assert 0.95 < ratios.max() < 1.01
    assert abs(ratios.mean()) < 0.05


@pytest.mark.parametrize(("height", "width", "window"), [(10, 100, (0, 43, 10, 13)), (100, 10, (43, 0, 13, 10))])
def test_a_window_that_never_fits_is_the_largest_in_the_middle(height, width, window):
    assert _resize.random_window(height, width, (1.0, 1.0), (3 / 4, 4 / 3), [0.5] * 22) == window


def test_flips_happen_as_often_as_asked():
    flipped = T.RandomHorizontalFlip(0.3, generator=torch.Generator().manual_seed(3))(
        torch.tensor([0.0, 1.0]).expand(3001, 1, 1, 2)
    )
    assert abs(flipped[:, 0, 0, 0].mean() - 0.3) < 0.03


def test_erasing_writes_one_rectangle_of_the_value():
    image = torch.full((3, 37, 41), 9, dtype=torch.uint8)
    for value, expected in ((0, [0, 0, 0]), ((3, 5, 7), [3, 5, 7])):
        erased = T.RandomErasing(1.0, value=value, generator=torch.Generator().manual_seed(3))(image)
        rows, columns = torch.where((erased != 9).all(0))
        hole = erased[:, rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert hole.flatten(1).unique(dim=1).flatten().tolist() == expected
        assert hole[0].numel() == len(rows)
        assert 0.01 < len(rows) / (37 * 41) < 0.34
    assert torch.equal(T.RandomErasing(0.0)(image), image)


def test_erasing_with_noise():
    floats = T.RandomErasing(1.0, value="random", generator=torch.Generator().manual_seed(3))(torch.zeros(3, 97, 101))
    noise = floats[floats != 0]
    assert abs(noise.mean()) < 0.1
    assert abs(noise.std() - 1) < 0.1
    image = torch.zeros(3, 97, 101, dtype=torch.uint8)
    noise = T.RandomErasing(1.0, value="random", generator=torch.Generator().manual_seed(3))(image)
    assert abs(noise[noise != 0].float().mean() - 128) < 8


def test_erasing_in_place():
    image = torch.ones(1, 37, 41)
    assert T.RandomErasing(1.0, inplace=True)(image).data_ptr() == image.data_ptr()
    assert image.min() == 0


def test_jitter_draws_from_its_ranges():
    image = torch.full((1, 1, 1), 0.5)
    found = T.ColorJitter(brightness=(0.4, 1.6), generator=torch.Generator().manual_seed(3))(image.expand(997, 1, 1, 1))
    assert 0.2 <= found.min() < 0.21
    assert 0.79 < found.max() <= 0.8


def test_jitter_takes_every_order():
    image = torch.rand(3, 5, 7, generator=torch.Generator().manual_seed(3))
    jitter = T.ColorJitter((2, 2), (2, 2), (3, 3), (0.2, 0.2))
    found = jitter.on_batch(
        image.expand(24, 3, 5, 7), torch.stack([torch.zeros(24)] * 4 + [(torch.arange(24) + 0.5) / 24], 1)
    )
    assert len({tuple(x.round(decimals=5).flatten().tolist()) for x in found}) > 6
