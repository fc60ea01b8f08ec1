"""Transforms refuse what they can't work on, and say what would be right."""

import pytest
import torch
from PIL import Image

from simpletorch import transforms as T
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch

IMAGE = torch.zeros(3, 7, 11)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: T.Resize(0), r"Resize: size is 0, but must be a positive int or \(height, width\)"),
        (lambda: T.Resize((3, -1)), r"size is \(3, -1\)"),
        (lambda: T.Resize("7"), "size is '7'"),
        (lambda: T.Resize(7, "lanczos"), "interpolation is 'lanczos', but must be one of bilinear, bicubic"),
        (lambda: T.Resize((7, 7), max_size=9), "max_size 9 goes with an int size below it"),
        (lambda: T.CenterCrop((1, 2, 3)), r"size is \(1, 2, 3\)"),
        (lambda: T.RandomCrop(3, padding=-1), "padding is -1, but must be one, two or four numbers"),
        (lambda: T.Pad((1, 2, 3)), r"padding is \(1, 2, 3\)"),
        (lambda: T.Pad(1, padding_mode="wrap"), "padding_mode is 'wrap', but must be one of constant, edge"),
        (lambda: T.RandomHorizontalFlip(1.5), "RandomHorizontalFlip: p is 1.5, but a probability is between 0 and 1"),
        (lambda: T.RandomResizedCrop(3, scale=(0.5, 0.1)), r"scale is \(0.5, 0.1\), but must be \(from, to\)"),
        (lambda: T.RandomResizedCrop(3, ratio=(0, 1)), r"ratio is \(0, 1\)"),
        (lambda: T.ColorJitter(brightness=-1), "brightness is -1, but must be a number or a range, 0 or more"),
        (lambda: T.ColorJitter(contrast=(2, 1)), r"contrast is \(2, 1\)"),
        (lambda: T.ColorJitter(hue=0.7), "hue is 0.7, but must be at most 0.5"),
        (lambda: T.GaussianBlur(4), "kernel_size is 4, but must be odd"),
        (lambda: T.GaussianBlur(3, 0), "sigma is 0"),
        (lambda: T.Normalize([0.1, 0.2], [1.0]), "got 2 means but 1 deviations"),
        (lambda: T.Normalize(0.5, 0.0), "divides by std, but it is .0.0.: none of them may be 0"),
        (lambda: T.Grayscale(2), "num_output_channels is 2, but must be 1 or 3"),
        (lambda: T.RandomErasing(value="black"), "value is 'black', but must be a number, numbers, or \"random\""),
        (lambda: T.RandomErasing(scale=(0.1, 1.5)), "no more than all of an image can be erased"),
        (lambda: T.Compose([T.ToTensor(), 3]), "item 1 of Compose can't be called: it is a int"),
    ],
)
def test_wrong_arguments(make, said):
    with pytest.raises(DataError, match=said):
        make()


@pytest.mark.parametrize(
    ("transform", "image", "kind", "said"),
    [
        (
            T.CenterCrop(3),
            torch.zeros(7, 11),
            ShapeMismatch,
            r"CenterCrop takes images \[\*B, C, H, W\], but got \[7, 11\]",
        ),
        (T.RandomCrop(9), IMAGE, ShapeMismatch, "can't cut 9x9 out of an image of 7x11"),
        (
            T.GaussianBlur(15),
            IMAGE,
            ShapeMismatch,
            "kernel of 15x15 needs images of more than 7x7 pixels, but got 7x11",
        ),
        (T.Normalize([0.1, 0.2], [1.0, 1.0]), IMAGE, ShapeMismatch, "has 2 means, but the image has 3 channels"),
        (T.Normalize(0.1, 1.0), IMAGE.byte(), DTypeMismatch, "takes float images, but got torch.uint8"),
        (T.Grayscale(), IMAGE[:2], ShapeMismatch, "one or three channels, but got 2"),
        (T.ColorJitter(0.1), IMAGE[:2], ShapeMismatch, "one or three channels, but got 2"),
        (T.Resize(3), IMAGE.int(), DTypeMismatch, "takes UInt8 or float images, but got torch.int32"),
        (T.ToTensor(), IMAGE.int(), DTypeMismatch, "can't tell how large the values of torch.int32"),
        (T.ToTensor(), "image.png", DataError, "takes a Pillow image, an array or a tensor, but got a str"),
        (T.Resize(3), Image.new("RGB", (3, 5)), DataError, r"takes a tensor \[C, H, W\], but got a Image"),
        (T.Pad(1, (1, 2)), IMAGE, DataError, "fill has 2 values, but the image has 3 channels"),
        (T.Pad(1, padding_mode="reflect"), IMAGE[:, :1], DataError, "needs at least two pixels"),
        (T.RandomErasing(1.0, value=(1, 2)), torch.zeros(3, 37, 41), DataError, "has 2 values, but the image has 3"),
    ],
)
def test_wrong_images(transform, image, kind, said):
    with pytest.raises(kind, match=said):
        transform(image)


def test_a_transform_of_one_s_own():
    class Invert(T.Transform):
        draws = 1

        def on_batch(self, images, numbers):
            return torch.where(numbers.view(-1, 1, 1, 1) < 0.5, 1 - images, images)

    images = torch.zeros(101, 1, 1, 1)
    found = Invert(torch.Generator().manual_seed(3))(images)
    assert 30 < found.sum() < 70
    assert T.takes_batches(T.Compose([Invert()]))
    assert not T.takes_batches(T.Compose([Invert(), lambda image: image]))
    with pytest.raises(NotImplementedError, match="has no on_batch"):
        T.Transform()(images)


def test_compose_shows_its_parts():
    text = repr(T.Compose([T.RandomCrop(3), T.ToTensor()]))
    assert "RandomCrop(size=(3, 3), padding=None)" in text
    assert "ToTensor()" in text
    assert len(T.Compose([T.ToTensor()])) == 1
