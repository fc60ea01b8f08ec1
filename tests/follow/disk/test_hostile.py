"""Damaged and malicious data files give `Unreadable` or a small answer: nothing runs, nothing else is opened."""

from __future__ import annotations

import io
import os
import pickle
import random
import resource
import sys
import wave
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import torch

from simpletorch.follow import follow
from simpletorch.follow.disk.arrays import npy, npz
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.images import image
from simpletorch.follow.disk.pickles import pickled, torch_archive
from simpletorch.follow.disk.safetensors import safetensors
from simpletorch.follow.disk.sounds import sound
from simpletorch.follow.disk.tables import csv_table, numbers
from simpletorch.follow.disk.zips import refuse_large_index


def _written(write) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def _wav(stream) -> None:
    with wave.open(stream, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(8_000)
        out.writeframes(bytes(400))


def _image(kind: str) -> bytes:
    library = pytest.importorskip("PIL.Image")
    return _written(lambda s: library.new("RGB", (31, 17)).save(s, kind))


def _tensors() -> bytes:
    return pytest.importorskip("safetensors.torch").save({"a": torch.zeros(3, 5)})


def _archive(read):
    def work(file, length):
        refuse_large_index(file, length)
        return read(file)

    return work


FORMATS = {
    "npy": (lambda: _written(lambda s: np.save(s, np.zeros((3, 5)))), npy),
    "npz": (lambda: _written(lambda s: np.savez_compressed(s, a=np.zeros((3, 5)))), _archive(npz)),
    "torch": (lambda: _written(lambda s: torch.save({"a": torch.zeros(3)}, s)), _archive(torch_archive)),
    "pickle": (lambda: pickle.dumps({"a": [1, 2], "x": np.zeros(3)}), lambda f, n: pickled(f)),
    "safetensors": (_tensors, safetensors),
    "png": (lambda: _image("PNG"), lambda f, n: image(f)),
    "jpeg": (lambda: _image("JPEG"), lambda f, n: image(f)),
    "tiff": (lambda: _image("TIFF"), lambda f, n: image(f)),
    "webp": (lambda: _image("WEBP"), lambda f, n: image(f)),
    "wav": (lambda: _written(_wav), sound),
    "csv": (lambda: b"a,b\n1,2\n3,4\n", lambda f, n: csv_table(f.read().decode("latin1"))),
    "numbers": (lambda: b"1 2\n3 4\n", lambda f, n: numbers(f.read().decode("latin1"))),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_unreadable_or_read(name):
    make, read = FORMATS[name]
    whole, chance = make(), random.Random(name)
    for _ in range(170):
        data = bytearray(whole)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        for _ in range(chance.randrange(1, 9) if data else 0):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        with suppress(Unreadable):
            read(io.BytesIO(bytes(data)), len(data))


BOMBS = {
    "doubling": b"".join([b"\x80\x04]\x940", b"h\x00" * 0, b"(h\x00h\x00e" * 200_000, b"."]),
    "long list": b"\x80\x04](" + b"N" * 3_000_000 + b"e.",
    "length": b"\x80\x04\x8d" + (2**62).to_bytes(8, "little") + b"a.",
    "integer": b"I" + b"9" * 100_000 + b"\n.",
    "no end": b"\x80\x04]",
    "marks": b"(" * 100_000 + b".",
    "deep": b"\x80\x04" + b"]" + b"\x85" * 100_000 + b".",
    "globals": b"cos\nsystem\n(S'touch /tmp/owned'\ntR.",
    "key": b"\x80\x04}]Ns.",
    "shape": b"\x80\x04cnumpy._core.multiarray\n_reconstruct\n(tR(K\x01(I-1\nttb.",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_stays_small(name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with suppress(Unreadable):
        pickled(io.BytesIO(BOMBS[name]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


def test_an_archive_with_a_huge_index_is_not_opened(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"")
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\5\6")
    data[at + 12 : at + 16] = (1 << 25).to_bytes(4, "little")
    with pytest.raises(Unreadable):
        refuse_large_index(io.BytesIO(bytes(data)), len(data))


PROGRAM = """
import json, pickle
import numpy as np
import torch
from PIL import Image
a = np.load("a.npy", allow_pickle=True)
b = pickle.load(open("b.pkl", "rb"))
c = torch.load("c.pt", weights_only=False)
d = np.array(Image.open("d.png"))
e = open("e.txt").read()
f = np.load("../outside.npy")
g = np.load("link.npy")
h = open("fifo").read()
"""


def test_only_what_the_program_names_is_opened(tmp_path):
    """By audit hooks: the program, its data, and nothing else below the folder or beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "p.py").write_text(PROGRAM)
    np.save(folder / "a.npy", np.zeros((3, 5)))
    np.save(folder / "unnamed.npy", np.zeros(3))
    np.save(tmp_path / "outside.npy", np.zeros(3))
    (folder / "link.npy").symlink_to(tmp_path / "outside.npy")
    (folder / "b.pkl").write_bytes(BOMBS["globals"])
    (folder / "e.txt").write_text("text")
    os.mkfifo(folder / "fifo")
    opened: set[str] = set()
    events: set[str] = set()
    active = True

    def hook(event: str, arguments: tuple) -> None:
        if active:
            if event == "open":
                opened.add(str(arguments[0]))
            elif event.startswith(("os.system", "subprocess", "socket.", "exec", "import")):
                events.add(event)

    follow(folder / "p.py")  # what is imported for the first time opens files of ours
    sys.addaudithook(hook)
    found = follow(folder / "p.py")
    active = False
    named = {os.path.relpath(p, tmp_path) for p in opened if p.startswith(str(tmp_path))}
    assert named <= {"project/p.py", "project/a.npy", "project/b.pkl", "project/e.txt", "project/fifo"}
    assert "project/a.npy" in named
    assert not events - {"import"}
    assert found.complete
