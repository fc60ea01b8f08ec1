"""MNIST and Fashion-MNIST, on small files in their format."""

import gzip
import pickle

import numpy as np
import pytest
import torch

from simpletorch import transforms
from simpletorch.data import MNIST, DataLoader, FashionMNIST, Subset, read_idx
from simpletorch.errors import DataError
from tests.data.datasets.formats import CODES, GREY, TARGETS, idx, mnist_files, sha256


@pytest.fixture
def root(tmp_path):
    """A folder as torchvision leaves it: unpacked files, no checksums."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, content in mnist_files().items():
        (raw / name.removesuffix(".gz")).write_bytes(gzip.decompress(content))
    return tmp_path


@pytest.fixture
def small(server, monkeypatch):
    """Both datasets, to be downloaded from this machine."""
    resources = []
    for name, content in mnist_files().items():
        server.add(f"/{name}", content)
        resources.append((name, sha256(content)))
    for dataset in (MNIST, FashionMNIST):
        monkeypatch.setattr(dataset, "mirrors", (server.url + "/nowhere/", server.url + "/"))
        monkeypatch.setattr(dataset, "resources", tuple(resources))
    return server


@pytest.mark.parametrize("train", [True, False])
def test_a_sample_is_a_grey_image_and_its_class(root, train):
    dataset = MNIST(root, train)
    count = len(GREY[train])
    assert len(dataset) == count
    for index in (0, count - 1, -1):
        image, target = dataset[index]
        assert image.dtype == torch.float32
        assert torch.equal(image, torch.from_numpy(GREY[train][index].astype(np.float32) / 255)[None])
        assert (target.dtype, target.item()) == (torch.int64, TARGETS[count][index])


def test_all_images_and_targets(root):
    dataset = MNIST(root)
    assert torch.equal(dataset.images, torch.from_numpy(GREY[True]).unsqueeze(1))
    assert dataset.targets.tolist() == TARGETS[43].tolist()
    assert dataset.class_to_idx["7"] == 7
    assert repr(dataset) == "MNIST(43 samples, images [1, 28, 28])"


def test_transforms_get_the_stored_image_and_the_number(root):
    dataset = MNIST(root, transform=lambda image: (image.dtype, list(image.shape)), target_transform=lambda t: t + 100)
    assert dataset[5] == ((torch.uint8, [1, 28, 28]), TARGETS[43][5] + 100)


@pytest.mark.parametrize(
    "transform",
    [
        None,
        transforms.Compose([transforms.RandomCrop(23), transforms.RandomHorizontalFlip(), transforms.ToTensor()]),
        transforms.Compose([lambda image: image.float() + torch.rand(()), transforms.Normalize(0.5, 0.3)]),
    ],
)
@pytest.mark.parametrize("target_transform", [None, lambda target: target + 100])
def test_a_batch_is_its_samples(root, transform, target_transform):
    dataset = MNIST(root, transform=transform, target_transform=target_transform)
    indices = [3, 41, -1, 3]
    torch.manual_seed(5)
    batch = dataset.__getitems__(indices)
    torch.manual_seed(5)
    for (image, target), index in zip(batch, indices, strict=True):
        expected = dataset[index]
        assert torch.equal(image, expected[0])
        assert target == expected[1]
        assert type(target) is type(expected[1])


@pytest.mark.parametrize("loader", [DataLoader, torch.utils.data.DataLoader])
def test_loaders_take_it(root, loader):
    images, targets = next(iter(loader(MNIST(root), batch_size=17)))
    assert torch.equal(images, torch.from_numpy(GREY[True][:17]).unsqueeze(1) / 255)
    assert targets.tolist() == TARGETS[43][:17].tolist()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_s_batch_is_its_samples_also_of_a_part(root, workers):
    transform = transforms.Compose([transforms.CenterCrop(23), transforms.ToTensor(), transforms.Normalize(0.1, 0.3)])
    dataset = MNIST(root, transform=transform)
    for data in (dataset, Subset(dataset, [5, -1, 40, 5, 7])):
        ours = list(DataLoader(data, 3, num_workers=workers))
        theirs = list(torch.utils.data.DataLoader(data, 3))
        for (images, targets), (expected, labels) in zip(ours, theirs, strict=True):
            assert torch.equal(images, expected)
            assert torch.equal(targets, labels)


def test_a_getitem_of_one_s_own_is_called(root):
    class Doubled(MNIST):
        def __getitem__(self, index):
            image, target = super().__getitem__(index)
            return 2 * image, target

    images, _ = next(iter(DataLoader(Doubled(root), 3)))
    assert torch.equal(images, 2 * (MNIST(root).images[:3] / 255))


def test_it_survives_pickling(root):
    again = pickle.loads(pickle.dumps(MNIST(root, transform=transforms.ToTensor())))
    assert torch.equal(again[3][0], MNIST(root)[3][0])


@pytest.mark.parametrize("dataset", [MNIST, FashionMNIST])
def test_a_download_is_complete_and_happens_once(small, tmp_path, dataset):
    images = dataset(tmp_path, download=True).images
    assert torch.equal(images, torch.from_numpy(GREY[True]).unsqueeze(1))
    raw = tmp_path / dataset.__name__ / "raw"
    assert {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte", "SHA256SUMS"} <= {p.name for p in raw.iterdir()}
    small.requests.clear()
    assert len(dataset(tmp_path, train=False, download=True)) == 13
    assert small.requests == []


def test_a_download_that_fails_can_be_continued(small, tmp_path):
    name = "/t10k-images-idx3-ubyte.gz"
    content = small.files.pop(name)
    with pytest.raises(DataError, match=r"t10k-images-idx3-ubyte\.gz could not be downloaded"):
        MNIST(tmp_path, download=True)
    with pytest.raises(DataError, match=r"MNIST is not in the folder given: there is no .*t10k-images-idx3-ubyte"):
        MNIST(tmp_path, train=False)
    small.files[name] = content
    assert len(MNIST(tmp_path, train=False, download=True)) == 13


def test_wrong_bytes_from_every_mirror_are_never_used(small, tmp_path):
    small.files["/train-images-idx3-ubyte.gz"] = gzip.compress(idx(GREY[True][::-1].copy()))
    with pytest.raises(DataError, match="wrong bytes"):
        MNIST(tmp_path, download=True)
    assert not (tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte").exists()


def test_bytes_that_changed_since_they_were_unpacked_are_noticed(small, tmp_path):
    MNIST(tmp_path, download=True)
    path = tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte"
    content = bytearray(path.read_bytes())
    content[1009] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="train-images-idx3-ubyte is damaged: its bytes have changed"):
        MNIST(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no .*train-images-idx3-ubyte, .*train-labels") as caught:
        MNIST(tmp_path)
    assert "pass download=True" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("train-images-idx3-ubyte", idx(GREY[True])[:-1], r"its header says \[43, 28, 28\], which is 33,728 bytes"),
        ("train-images-idx3-ubyte", idx(GREY[True]) + b"x", "damaged or truncated"),
        ("train-images-idx3-ubyte", b"<html>", "is no IDX file: it starts with b'<htm'"),
        ("train-images-idx3-ubyte", b"", "is no IDX file"),
        ("train-images-idx3-ubyte", idx(TARGETS[43]), "it holds torch.uint8 .43., not bytes of rank 3"),
        ("train-images-idx3-ubyte", idx(GREY[True][:, :27]), r"its images are \[27, 28\]"),
        ("train-labels-idx1-ubyte", idx(TARGETS[13]), "has 43 images but 13 targets"),
        (
            "train-labels-idx1-ubyte",
            idx(TARGETS[43] + (TARGETS[43] == TARGETS[43].max())),
            "its targets go from 0 to 10",
        ),
    ],
)
def test_files_that_are_not_right_are_refused(root, name, content, said):
    (root / "MNIST" / "raw" / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        MNIST(root)


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_of_every_type(tmp_path, dtype, packed):
    array = (np.arange(2 * 3 * 5).reshape(2, 3, 5) * 7 - 11).astype(dtype)
    path = tmp_path / "array"
    path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    assert torch.equal(read_idx(path), torch.from_numpy(array))


def test_idx_files_of_no_numbers_and_no_file(tmp_path):
    (tmp_path / "none").write_bytes(idx(np.zeros((0, 3), np.uint8)))
    assert list(read_idx(tmp_path / "none").shape) == [0, 3]
    with pytest.raises(DataError, match=r"can't read .*nowhere: No such file"):
        read_idx(tmp_path / "nowhere")
    (tmp_path / "cut").write_bytes(gzip.compress(idx(TARGETS[43]))[:-9])
    with pytest.raises(DataError, match="damaged or truncated"):
        read_idx(tmp_path / "cut")
