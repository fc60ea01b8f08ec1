"""CIFAR-10 and CIFAR-100, on small files in their two formats."""

import hashlib
import os
import pickle

import numpy as np
import pytest
import torch

from simpletorch.data import CIFAR10, CIFAR100, DataLoader
from simpletorch.errors import DataError
from tests.data.datasets.formats import COLOUR, TARGETS, cifar_files, pickled, sha256, tar_gz

FOLDERS = {CIFAR10: ("cifar-10-batches-bin", 1), CIFAR100: ("cifar-100-binary", 2)}


def write(root, dataset):
    folder, labels = FOLDERS[dataset]
    (root / folder).mkdir()
    for name, content in cifar_files(labels).items():
        (root / folder / name).write_bytes(content)
    return root / folder


def serve(server, monkeypatch, dataset, change=lambda files: files):
    folder, labels = FOLDERS[dataset]
    name = dataset.archive[0]
    content = tar_gz(folder, change(cifar_files(labels)))
    server.add(f"/{name}", content)
    monkeypatch.setattr(dataset, "mirrors", (server.url + "/",))
    monkeypatch.setattr(dataset, "archive", (name, sha256(content)))


def assert_right(dataset, train):
    targets = TARGETS[len(COLOUR[train])]
    assert torch.equal(dataset.images, torch.from_numpy(COLOUR[train]))
    assert dataset.targets.tolist() == targets.tolist()
    image, target = dataset[7]
    assert torch.equal(image, torch.from_numpy(COLOUR[train][7]) / 255)
    assert (target.dtype, target.item()) == (torch.int64, targets[7])


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("dataset", [CIFAR10, CIFAR100])
def test_the_binary_format(tmp_path, dataset, train):
    write(tmp_path, dataset)
    assert_right(dataset(tmp_path, train), train)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("dataset", [CIFAR10, CIFAR100])
def test_the_pickled_format_of_torchvision_s_folders(tmp_path, monkeypatch, dataset, train):
    folder = tmp_path / dataset.pickled_folder
    folder.mkdir()
    parts = []
    for part, is_train in zip(dataset.pickled, (True, False), strict=True):
        sums = {}
        images, targets = COLOUR[is_train], TARGETS[len(COLOUR[is_train])]
        step = len(images) // len(part)
        for position, name in enumerate(part):
            rows = slice(position * step, (position + 1) * step)
            content = pickled(images[rows], targets[rows], dataset.key)
            (folder / name).write_bytes(content)
            sums[name] = hashlib.md5(content).hexdigest()
        parts.append(sums)
    monkeypatch.setattr(dataset, "pickled", tuple(parts))
    assert_right(dataset(tmp_path, train, download=True), train)
    damaged = folder / next(iter(parts[0]))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match="is damaged: its MD5 is not"):
        dataset(tmp_path)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


def test_a_pickle_runs_no_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    content = pickle.dumps({"data": Evil()})
    (folder / "train").write_bytes(content)
    monkeypatch.setattr(CIFAR100, "pickled", ({"train": hashlib.md5(content).hexdigest()}, {}))
    with pytest.raises(DataError, match=r"it asks for posix\.mkdir, and only arrays are loaded"):
        CIFAR100(tmp_path)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("dataset", [CIFAR10, CIFAR100])
def test_a_download_is_complete_and_happens_once(server, tmp_path, monkeypatch, dataset):
    serve(server, monkeypatch, dataset)
    server.faults[f"/{dataset.archive[0]}"] = ["cut", 503]
    assert_right(dataset(tmp_path, download=True), True)
    server.requests.clear()
    assert_right(dataset(tmp_path, train=False, download=True), False)
    assert server.requests == []


def test_an_archive_without_the_files_is_refused(server, tmp_path, monkeypatch):
    serve(server, monkeypatch, CIFAR10, lambda files: {"readme": b"hello"})
    with pytest.raises(DataError, match=r"there is no .*data_batch_1\.bin"):
        CIFAR10(tmp_path, download=True)


def test_bytes_that_changed_since_they_were_unpacked_are_noticed(server, tmp_path, monkeypatch):
    serve(server, monkeypatch, CIFAR10)
    CIFAR10(tmp_path, download=True)
    path = tmp_path / "cifar-10-batches-bin" / "data_batch_3.bin"
    content = bytearray(path.read_bytes())
    content[1009] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"data_batch_3\.bin is damaged"):
        CIFAR10(tmp_path)


def test_files_that_are_not_right_are_refused(tmp_path):
    folder = write(tmp_path, CIFAR10)
    path = folder / "data_batch_2.bin"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(DataError, match=r"data_batch_2\.bin is damaged or truncated: it has 33,802 bytes"):
        CIFAR10(tmp_path)
    path.write_bytes(bytes([10]) + content[1:])
    with pytest.raises(DataError, match="its targets go from 0 to 10, but there are 10 classes"):
        CIFAR10(tmp_path)
    path.unlink()
    with pytest.raises(DataError, match=r"CIFAR10 is not in the folder given: there is no .*data_batch_2\.bin"):
        CIFAR10(tmp_path)


def test_classes():
    assert (len(CIFAR10.classes), len(CIFAR100.classes)) == (10, 100)
    assert CIFAR100.classes == tuple(sorted(CIFAR100.classes))
    assert (CIFAR100.classes[19], CIFAR100.classes[99]) == ("cattle", "worm")


def test_batches(tmp_path):
    write(tmp_path, CIFAR10)
    batches = list(DataLoader(CIFAR10(tmp_path), 23))
    assert [list(images.shape) for images, _ in batches] == [[23, 3, 32, 32], [23, 3, 32, 32], [9, 3, 32, 32]]
    assert torch.equal(torch.cat([targets for _, targets in batches]), torch.from_numpy(TARGETS[55].astype(np.int64)))
