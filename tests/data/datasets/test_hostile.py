"""Archives and IDX files that are damaged, or made with bad intentions: `DataError`, and nothing is left behind."""

import gzip
import os
import random
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from simpletorch.data import Table, extract
from simpletorch.data.datasets._idx import read_idx
from simpletorch.errors import DataError
from tests.checkpoint.test_format import damaged
from tests.data.datasets.test_archive import KINDS, archive, special, tar_bytes, zip_bytes, zip_link
from tests.marks import thorough

HOSTILE = {
    "deep": tar_bytes([("a/" * 3000 + "x", b"1")]),
    "long": tar_bytes([("a" * 300, b"1")]),
    "long.zip": zip_bytes([("a" * 300, b"1")]),
    "file in a file": tar_bytes([("a", b"1"), ("a/b", b"2")]),
    "file in a file.zip": zip_bytes([("a", b"1"), ("a/b", b"2")]),
    "file over a folder": tar_bytes([("a/b", b"1"), ("a", b"2")]),
    "folder over a file": tar_bytes([("a", b"2"), special("a", tarfile.DIRTYPE)]),
    "the folder itself": tar_bytes([(".", b"1")]),
    "the folder itself.zip": zip_bytes([(".", b"1")]),
    "no name": tar_bytes([("", b"1")]),
    "link over a folder": tar_bytes([special("l", tarfile.SYMTYPE, "x"), ("l/y", b"1"), ("x", b"2")]),
    "link to itself": zip_bytes([zip_link("a", "a")]),
    "hard link to itself": tar_bytes([special("l", tarfile.LNKTYPE, "l")]),
    "device": tar_bytes([special("l", tarfile.CHRTYPE)]),
    "pipe": tar_bytes([special("l", tarfile.FIFOTYPE)]),
    "bomb of ones.gz": gzip.compress(b"1" * 10**7),
    "bomb.tar": tar_bytes([("x", bytes(10**7))]),
    "bomb.zip": zip_bytes([("x", bytes(10**7))]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(tmp_path, name):
    path = archive(tmp_path, HOSTILE[name])
    with pytest.raises(DataError):
        extract(path, tmp_path / "out", max_bytes=10**6)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 5))])
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_archives(tmp_path, kind, seed):
    drawn = random.Random(seed)
    for _ in range(50):
        path = archive(tmp_path, damaged(KINDS[kind], drawn))
        try:
            extract(path, tmp_path / "out", max_bytes=10**6)
        except DataError:
            assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


def test_a_folder_that_can_t_be_made(tmp_path):
    path = archive(tmp_path, KINDS["tar"])
    with pytest.raises(DataError, match=r"give a folder that can be written to") as caught:
        extract(path, path / "out")
    assert isinstance(caught.value, OSError)


MANY = 0xFFFFFFFF
IDX = b"\0\0\x08\x03" + struct.pack(">III", 3, 5, 7) + bytes(105)


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\x08\xff" + struct.pack(">255I", *[MANY] * 255),
        b"\0\0\x08\x03" + struct.pack(">III", 0, MANY, MANY),
        b"\0\0\x0e\x05" + struct.pack(">5I", 0, *[MANY] * 4),
        b"\0\0\x08\x03" + struct.pack(">III", MANY, MANY, MANY),
        b"\0\0\x08\x04\0\0",
        gzip.compress(b"\0\0\x08\x01" + struct.pack(">I", 3) + bytes(10**7)),
        gzip.compress(IDX, mtime=0)[:-5],
        b"",
    ],
    ids=range(8),
)
def test_hostile_idx_files(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError):
        read_idx(tmp_path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_isn_t_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a")
    for read in (read_idx, lambda path: extract(path, tmp_path / "out"), Table.from_numpy):
        with pytest.raises(DataError, match=r"it is no file|no archive"):
            read(tmp_path / "a")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_damaged_idx_files(tmp_path, pack):
    drawn = random.Random(0)
    for _ in range(300):
        (tmp_path / "a").write_bytes(damaged(pack(IDX), drawn))
        try:
            read_idx(tmp_path / "a")
        except DataError:
            continue


def test_an_npz_file_of_which_gigabytes_would_come(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(7))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("y.npy", b"")
    raw = path.read_bytes()
    at = raw.rindex(b"PK\x01\x02") + 24  # of the index of files: how large the last one says it is
    path.write_bytes(raw[:at] + struct.pack("<I", MANY) + raw[at + 4 :])
    with pytest.raises(DataError, match="would come of its"):
        Table.from_numpy(path)
