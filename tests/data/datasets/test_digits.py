"""The digits that come with the package, which scikit-learn has too."""

import gzip
import subprocess
import sys
from importlib import resources

import torch
from sklearn.datasets import load_digits

from simpletorch.data import DataLoader, Digits
from tests.data.datasets.make_digits import content


def test_samples_are_grey_images_and_digits():
    digits = Digits()
    image, target = digits[0]
    assert (image.dtype, list(image.shape)) == (torch.float32, [1, 8, 8])
    assert (target.dtype, list(target.shape)) == (torch.int64, [])
    assert (digits.images.min(), digits.images.max()) == (0, 1)
    assert sorted(digits.targets.unique().tolist()) == list(range(10))
    assert digits.classes[3] == "3"


def test_the_two_parts_are_the_whole_without_overlap():
    parts = [Digits(train=True), Digits(train=False)]
    assert [len(part) for part in parts] == [1437, 360]

    def rows(images, targets):
        return sorted(
            (tuple(image.flatten().tolist()), int(target)) for image, target in zip(images, targets, strict=True)
        )

    whole = load_digits()
    expected = rows(torch.tensor(whole.images, dtype=torch.float32) / 16, whole.target)
    found = rows(torch.cat([part.images for part in parts]), torch.cat([part.targets for part in parts]))
    assert found == expected


def test_both_parts_have_every_digit_in_the_same_proportion():
    counts = [torch.bincount(Digits(train=train).targets, minlength=10) for train in (True, False)]
    shares = [count / count.sum() for count in counts]
    assert torch.allclose(shares[0], shares[1], atol=0.003)


def test_the_split_is_always_the_same():
    assert torch.equal(Digits(train=False).images, Digits(train=False).images)
    assert Digits(train=False).targets[:11].tolist() == [7, 6, 3, 7, 7, 3, 2, 8, 9, 3, 2]


def test_batches():
    images, targets = next(iter(DataLoader(Digits(), 67)))
    assert (list(images.shape), list(targets.shape)) == ([67, 1, 8, 8], [67])


def test_the_file_is_made_of_scikit_learn_s_copy():
    packed = resources.files("simpletorch.data.datasets").joinpath("digits.gz").read_bytes()
    assert len(packed) < 50_000
    assert gzip.decompress(packed) == content()


def test_nothing_else_has_to_be_installed():
    code = (
        "import sys; sys.modules['sklearn'] = None\nfrom simpletorch.data import Digits\nassert len(Digits()) == 1437"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
