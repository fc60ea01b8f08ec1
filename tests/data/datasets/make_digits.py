"""Writes the file that `Digits` reads, from scikit-learn's copy: python -m tests.data.datasets.make_digits

Grey values from 0 to 16 and classes are a byte each: 1,437 training images, row by row, 360 test images, 1,797 classes.
"""

import gzip
from importlib import resources
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def content() -> bytes:
    """What the file has, unpacked."""
    whole = load_digits()
    split = train_test_split(range(len(whole.target)), test_size=0.2, random_state=0, stratify=whole.target)
    rows = np.concatenate(split)
    return whole.images[rows].astype(np.uint8).tobytes() + whole.target[rows].astype(np.uint8).tobytes()


if __name__ == "__main__":
    path = Path(str(resources.files("simpletorch.data.datasets"))) / "digits.gz"
    path.write_bytes(gzip.compress(content(), mtime=0))
