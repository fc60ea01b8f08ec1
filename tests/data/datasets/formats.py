"""Small datasets in the real file formats."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
import tarfile

import numpy as np

RANDOM = np.random.default_rng(17)
GREY = {train: RANDOM.integers(0, 256, (count, 28, 28), dtype=np.uint8) for train, count in ((True, 43), (False, 13))}
COLOUR = {
    train: RANDOM.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8) for train, count in ((True, 55), (False, 11))
}
TARGETS = {count: RANDOM.integers(0, 10, count, dtype=np.uint8) for count in (43, 13, 55, 11)}
CODES = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}


def idx(array):
    header = bytes([0, 0, CODES[array.dtype.name], array.ndim])
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return header + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


def mnist_files():
    """The four files, gzipped, by name."""
    return {
        f"{prefix}-{name}.gz": gzip.compress(idx(array))
        for prefix, train in (("train", True), ("t10k", False))
        for name, array in (("images-idx3-ubyte", GREY[train]), ("labels-idx1-ubyte", TARGETS[len(GREY[train])]))
    }


def cifar_files(labels=1):
    """The binary files by name: five for training, one for testing (one and one with two label bytes)."""

    def records(images, targets):
        return b"".join(
            bytes([3] * (labels - 1)) + bytes([target]) + image.tobytes()
            for image, target in zip(images, targets, strict=True)
        )

    if labels == 2:
        return {
            name: records(COLOUR[t], TARGETS[len(COLOUR[t])]) for name, t in (("train.bin", True), ("test.bin", False))
        }
    train = {
        f"data_batch_{i + 1}.bin": records(COLOUR[True][11 * i : 11 * i + 11], TARGETS[55][11 * i : 11 * i + 11])
        for i in range(5)
    }
    return {**train, "test_batch.bin": records(COLOUR[False], TARGETS[11])}


def pickled(images, targets, key="labels"):
    """A file of the pickled format."""
    return pickle.dumps({"data": images.reshape(len(images), -1), key: targets.tolist()}, protocol=2)


def tar_gz(folder, files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()
