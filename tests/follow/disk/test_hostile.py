"""Damaged and malicious data files give `Unreadable` or a small answer: nothing runs, nothing else is opened."""

from __future__ import annotations

import io
import os
import pickle
import random
import resource
import sqlite3
import sys
import tarfile
import time
import wave
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
import torch

from simpletorch.follow import follow
from simpletorch.follow.disk.arrays import npy, npz
from simpletorch.follow.disk.arrow import arrow
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.hdf5 import hdf5
from simpletorch.follow.disk.hubs import file_of, read_json, tokens, tokens_named, weights_dtype
from simpletorch.follow.disk.images import image
from simpletorch.follow.disk.matlab import matlab
from simpletorch.follow.disk.parquet import parquet
from simpletorch.follow.disk.pickles import pickled, torch_archive
from simpletorch.follow.disk.reach import Reach
from simpletorch.follow.disk.safetensors import safetensors
from simpletorch.follow.disk.sounds import sound
from simpletorch.follow.disk.sqlite import sqlite
from simpletorch.follow.disk.tables import csv_table, numbers
from simpletorch.follow.disk.zips import members, refuse_large_index


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


def _parquet() -> bytes:
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2], "b": ["x", "y"]})
    pytest.importorskip("pyarrow")
    return _written(frame.to_parquet)


def _matlab(compressed: bool) -> bytes:
    library = pytest.importorskip("scipy.io")
    held = {"x": np.zeros((3, 5)), "s": "text"}
    return _written(lambda s: library.savemat(s, held, do_compression=compressed))


def _zip(stream) -> None:
    with zipfile.ZipFile(stream, "w") as out:
        for n in range(20):
            out.writestr(f"folder/{n}.txt", "x" * n)


def _tar(stream) -> None:
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name in ("a.txt", "b/ü.txt", "c" * 200):
            out.addfile(tarfile.TarInfo(name))


def _feather() -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1, 2], "b": ["x", "y"], "c": [[1], [2, 3]]})
    return _written(lambda s: pytest.importorskip("pyarrow.feather").write_feather(table, s))


def _sqlite() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table t (a integer primary key, b real, c text)")
        database.executemany("insert into t values (?, ?, ?)", [(i, i / 2, "x" * i) for i in range(200)])
        database.commit()
        return database.serialize()


def _beside(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


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
    "parquet": (_parquet, parquet),
    "matlab": (lambda: _matlab(False), matlab),
    "compressed matlab": (lambda: _matlab(True), matlab),
    "old hdf5": (lambda: _beside("old.h5"), hdf5),
    "new hdf5": (lambda: _beside("new.h5"), hdf5),
    "zip": (lambda: _written(_zip), members),
    "tar": (lambda: _written(_tar), members),
    "sqlite": (_sqlite, sqlite),
    "feather": (_feather, arrow),
    "numbers": (lambda: b"1 2\n3 4\n", lambda f, n: numbers(f.read().decode("latin1"))),
}


_TIMES = 250


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_unreadable_or_read(name):
    make, read = FORMATS[name]
    whole, chance = make(), random.Random(name)
    for _ in range(_TIMES):
        data = bytearray(whole)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        for _ in range(chance.randrange(1, 9) if data else 0):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        with suppress(Unreadable):
            read(io.BytesIO(bytes(data)), len(data))


# fields of a footer or a header that say how much follows
CLAIMS = {
    "parquet": (_parquet, parquet, range(-60, 0)),
    "old hdf5": (lambda: _beside("old.h5"), hdf5, range(0, 2_000, 8)),
    "new hdf5": (lambda: _beside("new.h5"), hdf5, range(0, 2_000, 8)),
    "matlab": (lambda: _matlab(False), matlab, range(128, 400, 4)),
    "feather": (_feather, arrow, range(-1_000, 0, 4)),
    "zip": (lambda: _written(_zip), members, range(-1_400, 0, 8)),
    "tar": (lambda: _written(_tar), members, range(0, 4_000, 12)),
    "sqlite": (_sqlite, sqlite, range(16, 4_200, 20)),
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("claim", [b"\xff" * 8, b"\x7f" + b"\xff" * 7, (2**40).to_bytes(8, "little"), bytes(8)])
def test_a_file_that_claims_too_much_stays_small(name, claim):
    make, read, places = CLAIMS[name]
    whole = make()
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for place in places:
        data = bytearray(whole)
        at = place % len(data)
        data[at : at + 8] = claim
        with suppress(Unreadable):
            read(io.BytesIO(bytes(data)), len(data))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    assert time.process_time() - start < 10


def test_groups_in_themselves_end():
    """Every address of the file's objects leads to its root."""
    data = _beside("old.h5")
    root = data[64:72]
    for place in range(96, len(data) - 8, 8):
        with suppress(Unreadable):
            hdf5(io.BytesIO(data[:place] + root + data[place + 8 :]), len(data))


def test_a_model_of_the_hub_leads_nowhere_else(tmp_path):
    reach = Reach([tmp_path / "hub"], tmp_path / "work")
    (tmp_path / "secret.json").write_text("{}")
    folder = tmp_path / "hub" / "models--a--b"
    for part in ("refs", "snapshots/c"):
        (folder / part).mkdir(parents=True)
    (folder / "snapshots" / "c" / "config.json").symlink_to(tmp_path / "secret.json")
    (folder / "refs" / "main").write_text("c")
    (folder / "refs" / "up").write_text("../../../..")
    cache = str(tmp_path / "hub")
    for revision in ("main", "up", "../main", "c", "x" * 10_000, "\0"):
        for file in ("config.json", "secret.json", "../secret.json", "../../../../secret.json"):
            assert file_of(reach, "a/b", file, cache=cache, revision=revision) is None
    for name in ("../secret", "a/../b", "/etc", "a/b/c", "", "\0", "~", "x" * 5_000):
        assert file_of(reach, name, "passwd", cache=cache) is None


def test_the_files_of_a_damaged_model_say_nothing_wrong(tmp_path):
    reach, path, chance = Reach([tmp_path], tmp_path), tmp_path / "x.json", random.Random(7)
    whole = b'{"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"content": "c"}], "pad_token": "[PAD]"}'
    for _ in range(_TIMES):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 9)):
            data[chance.randrange(len(data))] = chance.choice(b'{}[]",:0ax\\')
        path.write_bytes(bytes(data))
        with suppress(Unreadable):
            found = read_json(reach, str(path))
            tokens(found), tokens_named(found)
        assert weights_dtype(reach, str(path)) == ""
    path.write_bytes(b"[" * 5_000_000)
    with pytest.raises(Unreadable):
        read_json(reach, str(path))


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
