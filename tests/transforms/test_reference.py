"""Each transform against a reference: Pillow for bytes, NumPy, SciPy, colorsys or torch's functions for floats.

The tolerances are what the docstrings promise: a level of 255 against Pillow (two for bicubic), nothing where
only pixels are moved, rounding of Float32 elsewhere.
"""

import colorsys

import numpy as np
import pytest
import scipy.ndimage
import torch
import torch.nn.functional as F
from PIL import Image, ImageEnhance

from simpletorch import transforms as T
from simpletorch.transforms import _color, _resize

RANDOM = np.random.default_rng(37)
NOISE = RANDOM.integers(0, 256, (59, 83, 3), dtype=np.uint8)
SMOOTH = scipy.ndimage.gaussian_filter(NOISE.astype(float), (5, 5, 0))
SMOOTH = np.uint8(255 * (SMOOTH - SMOOTH.min()) / np.ptp(SMOOTH))
PICTURES = {"noise": NOISE, "smooth": SMOOTH}
FLOATS = torch.rand(5, 3, 37, 53, generator=torch.Generator().manual_seed(3))


def planes(pixels):
    tensor = torch.from_numpy(np.array(pixels))
    return tensor.permute(2, 0, 1) if tensor.ndim == 3 else tensor[None]


def levels(ours, pillow):
    """The largest difference, in levels of 255."""
    return int((ours.int() - planes(np.array(pillow)).int()).abs().max())


@pytest.fixture(params=PICTURES)
def pixels(request):
    return PICTURES[request.param]


@pytest.mark.parametrize("size", [(23, 31), (97, 101), (59, 41), (1, 1), (113, 7)])
@pytest.mark.parametrize(("mode", "pillow", "most"), [("bilinear", Image.BILINEAR, 1), ("bicubic", Image.BICUBIC, 2)])
def test_resize_is_pillow_s_within_a_level_or_two(pixels, size, mode, pillow, most):
    expected = Image.fromarray(pixels).resize(size[::-1], pillow)
    assert levels(T.Resize(size, mode)(planes(pixels)), expected) <= most


@pytest.mark.parametrize("size", [(23, 31), (97, 101)])
def test_resize_to_the_nearest_is_pillow_s(pixels, size):
    expected = Image.fromarray(pixels).resize(size[::-1], Image.NEAREST)
    assert levels(T.Resize(size, "nearest-exact")(planes(pixels)), expected) == 0


@pytest.mark.parametrize("antialias", [True, False])
def test_resize_of_floats_is_torch_s(antialias):
    ours = T.Resize((19, 23), antialias=antialias)(FLOATS)
    assert torch.equal(ours, F.interpolate(FLOATS, (19, 23), mode="bilinear", antialias=antialias))


@pytest.mark.parametrize(
    ("options", "height", "width", "expected"),
    [
        ({"size": 20}, 59, 83, (20, 28)),
        ({"size": 20}, 83, 59, (28, 20)),
        ({"size": 59}, 59, 83, (59, 83)),
        ({"size": 40, "max_size": 50}, 59, 83, (35, 50)),
        ({"size": 7}, 7, 7, (7, 7)),
    ],
)
def test_an_int_is_the_shorter_side(options, height, width, expected):
    # torchvision: the longer side is int(size * long / short); with max_size the shorter one is cut likewise
    assert tuple(T.Resize(**options)(torch.zeros(3, height, width)).shape[1:]) == expected


@pytest.mark.parametrize("window", [(3, 5, 29, 41), (0, 0, 59, 83), (17, 2, 7, 79)])
def test_a_resized_window_is_pillow_s_crop_and_resize(pixels, window, monkeypatch):
    monkeypatch.setattr(_resize, "random_window", lambda *_: window)
    top, left, height, width = window
    expected = Image.fromarray(pixels).crop((left, top, left + width, top + height)).resize((31, 23), Image.BILINEAR)
    assert levels(T.RandomResizedCrop((23, 31))(planes(pixels)), expected) <= 1


@pytest.mark.parametrize("size", [(23, 31), (59, 83), (58, 82), (1, 2)])
def test_center_crop(pixels, size):
    height, width = size
    top, left = round((59 - height) / 2), round((83 - width) / 2)
    assert torch.equal(T.CenterCrop(size)(planes(pixels)), planes(pixels[top : top + height, left : left + width]))


def test_center_crop_puts_a_small_image_in_the_middle():
    cropped = T.CenterCrop((7, 4))(torch.ones(1, 3, 9))
    expected = np.pad(np.ones((3, 4)), ((2, 2), (0, 0)))
    assert cropped[0].tolist() == expected.tolist()


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
@pytest.mark.parametrize("padding", [3, (2, 5), (1, 0, 7, 4), (11, 13)])
def test_padding_is_numpy_s(mode, dtype, padding):
    image = torch.arange(2 * 3 * 5).reshape(2, 3, 5).to(dtype)
    left, top, right, bottom = {1: lambda p: (p,) * 4, 2: lambda p: p * 2, 4: lambda p: p}[
        1 if isinstance(padding, int) else len(padding)
    ](padding)
    expected = np.pad(image.numpy(), ((0, 0), (top, bottom), (left, right)), mode=mode)
    assert np.array_equal(T.Pad(padding, padding_mode=mode)(image).numpy(), expected)


def test_padding_with_a_colour():
    padded = T.Pad(1, fill=(3, 5, 7))(torch.zeros(3, 2, 2, dtype=torch.uint8))
    assert padded[:, 0, 0].tolist() == [3, 5, 7]
    assert padded[:, 1, 1].tolist() == [0, 0, 0]


def test_flips_are_numpy_s(pixels):
    assert torch.equal(T.RandomHorizontalFlip(1.0)(planes(pixels)), planes(np.fliplr(pixels)))
    assert torch.equal(T.RandomVerticalFlip(1.0)(planes(pixels)), planes(np.flipud(pixels)))
    assert torch.equal(T.RandomVerticalFlip(0.0)(planes(pixels)), planes(pixels))


def test_grey_bytes_are_pillow_s_to_the_bit(pixels):
    expected = Image.fromarray(pixels).convert("L")
    assert levels(T.Grayscale()(planes(pixels)), expected) == 0
    assert torch.equal(T.Grayscale(3)(planes(pixels))[2], planes(np.array(expected))[0])


def test_grey_floats_are_the_weighted_sum():
    expected = torch.einsum("nchw,c->nhw", FLOATS, torch.tensor([0.299, 0.587, 0.114])).unsqueeze(1)
    torch.testing.assert_close(T.Grayscale()(FLOATS), expected)


@pytest.mark.parametrize("factor", [0.0, 0.37, 1.0, 1.9])
@pytest.mark.parametrize(
    ("ours", "pillow"),
    [
        (_color.adjust_brightness, ImageEnhance.Brightness),
        (_color.adjust_contrast, ImageEnhance.Contrast),
        (_color.adjust_saturation, ImageEnhance.Color),
    ],
)
def test_enhanced_bytes_are_pillow_s_within_one_level(pixels, ours, pillow, factor):
    expected = pillow(Image.fromarray(pixels)).enhance(factor)
    assert levels(ours(planes(pixels)[None], factor)[0], expected) <= 1


def test_contrast_of_each_image_is_about_its_own_mean():
    each = torch.cat([_color.adjust_contrast(image[None], 0.5) for image in FLOATS])
    torch.testing.assert_close(_color.adjust_contrast(FLOATS, 0.5), each)


@pytest.mark.parametrize("turn", [-0.5, -0.13, 0.0, 0.29, 0.5])
def test_hue_is_colorsys(turn):
    image = FLOATS[:1, :, :5, :7].clone()
    image[0, :, 0, 0] = 0.3  # grey has no hue
    image[0, :, 0, 1] = torch.tensor([1.0, 0.0, 0.0])
    expected = image.clone()
    for y in range(5):
        for x in range(7):
            hue, saturation, value = colorsys.rgb_to_hsv(*image[0, :, y, x].tolist())
            expected[0, :, y, x] = torch.tensor(colorsys.hsv_to_rgb((hue + turn) % 1, saturation, value))
    torch.testing.assert_close(_color.adjust_hue(image, turn), expected, atol=2e-6, rtol=0)


def test_hue_of_bytes_is_that_of_floats_rounded(pixels):
    image = planes(pixels)[None]
    expected = (_color.adjust_hue(image / 255, 0.2) * 255).round().to(torch.uint8)
    assert torch.equal(_color.adjust_hue(image, 0.2), expected)


@pytest.mark.parametrize("sigma", [0.3, 1.7])
@pytest.mark.parametrize("kernel", [(5, 5), (3, 7), (1, 1)])
def test_blur_is_scipy_s(sigma, kernel):
    ours = T.GaussianBlur(kernel, sigma)(FLOATS)
    expected = scipy.ndimage.gaussian_filter(
        FLOATS.double().numpy(), sigma, radius=[size // 2 for size in kernel], axes=(2, 3), mode="mirror"
    )
    torch.testing.assert_close(ours, torch.from_numpy(expected).float(), atol=1e-6, rtol=0)


def test_blurred_bytes_are_the_blurred_floats_rounded(pixels):
    image = planes(pixels)
    expected = T.GaussianBlur(5, 1.1)(image.float()).round().to(torch.uint8)
    assert torch.equal(T.GaussianBlur(5, 1.1)(image), expected)


def test_to_tensor_takes_what_holds_an_image(pixels):
    expected = planes(pixels).float() / 255
    for image in (Image.fromarray(pixels), pixels, planes(pixels), expected, expected.double()):
        result = T.ToTensor()(image)
        assert result.dtype == torch.float32
        assert torch.equal(result, expected)
    grey = Image.fromarray(pixels).convert("L")
    assert torch.equal(T.ToTensor()(grey), planes(np.array(grey)).float() / 255)
    assert T.ToTensor()(np.full((3, 5), 65535, np.uint16)).tolist() == [[[1.0] * 5] * 3]
    assert T.ToTensor()(np.full((3, 5), True)).tolist() == [[[1.0] * 5] * 3]


def test_pixels_of_four_bytes_are_resized_as_those_of_three(pixels):
    four = torch.from_numpy(np.concatenate([pixels, RANDOM.integers(0, 256, (59, 83, 1), dtype=np.uint8)], 2))
    for image in (four[..., :3].permute(2, 0, 1), four[3:, :71, 1:].permute(2, 0, 1)):
        assert torch.equal(T.Resize((23, 31))(image), T.Resize((23, 31))(image.contiguous()))


def test_compose_leaves_floats_that_were_given_alone():
    image = FLOATS.clone()
    T.Compose([T.ToTensor(), T.Normalize(0.5, 0.3)])(image)
    assert torch.equal(image, FLOATS)


def test_normalize_is_the_formula():
    mean, std = [0.1, 0.3, 0.7], [0.2, 0.5, 1.3]
    ours = T.Normalize(mean, std)(FLOATS)
    expected = torch.stack([(FLOATS[:, i] - mean[i]) / std[i] for i in range(3)], 1)
    torch.testing.assert_close(ours, expected)
    kept = FLOATS.clone()
    assert T.Normalize(mean, std, inplace=True)(kept) is kept
    torch.testing.assert_close(kept, expected)
    torch.testing.assert_close(T.Normalize(0.5, 0.25)(FLOATS), (FLOATS - 0.5) / 0.25)
