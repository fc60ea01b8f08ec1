"""What is read of a data file is what the library that wrote it has: NumPy, torch, Pillow, wave, pandas' rules."""

from __future__ import annotations

import io
import pickle
import wave
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch

from simpletorch.follow.disk.arrays import npy, npz
from simpletorch.follow.disk.arrow import arrow
from simpletorch.follow.disk.described import Array, Object, Sound, Table, Tensor, Unreadable
from simpletorch.follow.disk.hdf5 import hdf5
from simpletorch.follow.disk.images import image, is_image
from simpletorch.follow.disk.matlab import matlab
from simpletorch.follow.disk.parquet import parquet
from simpletorch.follow.disk.pickles import pickled, torch_archive
from simpletorch.follow.disk.safetensors import safetensors
from simpletorch.follow.disk.sounds import sound
from simpletorch.follow.disk.tables import csv_table, numbers

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "float16", "float32", "float64", "complex64"]


def saved(write) -> io.BytesIO:
    stream = io.BytesIO()
    write(stream)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 7), (2, 1, 11)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(dtype, shape, order):
    made = np.zeros(shape, dtype, order=order)
    stream = saved(lambda s: np.save(s, made))
    assert npy(stream, len(stream.getvalue())) == Array(shape, dtype)


@pytest.mark.parametrize(
    "made", [np.array(["a", "bc"]), np.array([object()]), np.zeros(3, "f4,i2"), np.zeros(2, "M8[s]")]
)
def test_a_dtype_that_torch_lacks_is_not_read(made):
    stream = saved(lambda s: np.save(s, made))
    assert npy(stream) == Array(made.shape, "")


def test_npz():
    stream = saved(lambda s: np.savez(s, a=np.zeros((3, 5)), b=np.zeros(7, np.uint8)))
    assert npz(stream) == {"a": Array((3, 5), "float64"), "b": Array((7,), "uint8")}
    stream = saved(lambda s: np.savez_compressed(s, np.zeros((2, 3))))
    assert npz(stream) == {"arr_0": Array((2, 3), "float64")}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_of_plain_data_and_arrays(protocol):
    plain = {
        "sizes": [3, (5, 7)],
        "rate": 0.5,
        "name": "net",
        "flag": True,
        "none": None,
        11: [],
        "ordered": OrderedDict(a=1),
    }
    arrays = {"x": np.zeros((3, 5), np.float32), "y": np.arange(7)}
    found = pickled(io.BytesIO(pickle.dumps(plain | arrays, protocol)))
    assert {k: found[k] for k in plain} == plain
    assert (found["x"], found["y"]) == (Array((3, 5), "float32"), Array((7,), "int64"))


class Mine:
    """A class whose pickle would run code when it is read."""

    def __reduce__(self):
        return print, ("this is run",)


def test_no_pickle_runs_anything(capsys):
    found = pickled(io.BytesIO(pickle.dumps({"n": 3, "it": Mine(), "set": {1, 2}, "f": np.mean})))
    assert found["n"] == 3
    assert found["it"] == Object(f"{print.__module__}.{print.__qualname__}")  # Ray has one of its own
    assert capsys.readouterr().out == ""


def test_lists_that_hold_each_other_many_times_stay_small():
    nested: list = []
    for _ in range(200):
        nested = [nested, nested]
    found = pickled(io.BytesIO(pickle.dumps(nested[0][0])))
    assert isinstance(found, list)


def test_a_file_of_torch():
    model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.BatchNorm1d(5))
    state = {
        "model": model.state_dict(),
        "epoch": 3,
        "half": torch.zeros(2, 3).half(),
        "view": torch.zeros(5, 7).t()[1:],
    }
    found = torch_archive(saved(lambda s: torch.save(state, s)))
    assert found["epoch"] == 3
    assert found["half"] == Tensor((2, 3), "float16")
    assert found["view"] == Tensor((6, 5), "float32")
    expected = {k: Tensor(tuple(v.shape), str(v.dtype).removeprefix("torch.")) for k, v in model.state_dict().items()}
    assert found["model"] == expected
    whole = torch_archive(saved(lambda s: torch.save(model, s)))
    assert whole == Object("torch.nn.modules.container.Sequential")
    assert torch_archive(saved(lambda s: torch.save(torch.nn.Parameter(torch.zeros(3)), s))) == Tensor(
        (3,), "float32", True
    )


def test_safetensors():
    library = pytest.importorskip("safetensors.torch")
    data = library.save({"a": torch.zeros(3, 5), "b": torch.zeros(7, dtype=torch.bfloat16)}, metadata={"k": "v"})
    expected = {"a": Tensor((3, 5), "float32"), "b": Tensor((7,), "bfloat16")}
    assert safetensors(io.BytesIO(data), len(data)) == expected


@pytest.mark.parametrize(("kind", "modes"), [
    ("PNG", ("L", "RGB", "RGBA", "P", "1", "LA")), ("JPEG", ("L", "RGB", "CMYK")), ("GIF", ("RGB", "L")),
    ("BMP", ("L", "RGB", "1")), ("TIFF", ("L", "RGB", "CMYK")), ("WEBP", ("RGB", "RGBA")),
])  # fmt: skip
def test_images(kind, modes):
    library = pytest.importorskip("PIL.Image")
    for mode in modes:
        stream = saved(lambda s, m=mode: library.new(m, (31, 17)).save(s, kind))
        opened = library.open(io.BytesIO(stream.getvalue()))
        assert is_image(stream.getvalue()[:32])
        found = image(stream)
        assert (found.width, found.height) == opened.size == (31, 17)
        assert found.mode in ("", opened.mode), (kind, mode)


@pytest.mark.parametrize("channels", [1, 2])
def test_wav(channels):
    def write(stream):
        with wave.open(stream, "wb") as out:
            out.setnchannels(channels)
            out.setsampwidth(2)
            out.setframerate(16_000)
            out.writeframes(bytes(2 * channels * 731))

    stream = saved(write)
    assert sound(stream, len(stream.getvalue())) == Sound(731, channels, 16_000)


TABLES = {
    "a,b,c\n1,2.5,x\n2,,y\n": (("a", "b", "c"), 2, ("int64", "float64", "")),
    'n,"a, b"\n1,"two\nlines"\n': (("n", "a, b"), 1, ("int64", "")),
    "t,f\nTrue,1\nFalse,-3\n": (("t", "f"), 2, ("bool", "int64")),
    "a,a,\n1,2,3\n": (("a", "a.1", "Unnamed: 2"), 1, ("int64",) * 3),
    "a,b\n1,2\n\n3,4": (("a", "b"), 2, ("int64", "int64")),
    "a,b\n1e3,inf\nNA,2\n": (("a", "b"), 2, ("float64", "float64")),
}


@pytest.mark.parametrize(("text", "expected"), TABLES.items())
def test_tables(text, expected):
    found = csv_table(text)
    assert (found.columns, found.rows, found.dtypes) == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(io.StringIO(text))
    assert frame.shape == (found.rows, len(found.columns))
    assert tuple(frame.columns) == found.columns
    assert all(ours in ("", str(theirs)) for ours, theirs in zip(found.dtypes, frame.dtypes, strict=True))


@pytest.mark.parametrize("shape", [(5, 3), (1, 7), (7, 1), (1, 1)])
def test_numbers_in_a_text(shape):
    stream = io.StringIO()
    np.savetxt(stream, np.ones(shape), header="a header")
    assert numbers(stream.getvalue()).shape == np.loadtxt(io.StringIO(stream.getvalue())).shape


def test_rows_of_other_lengths_are_no_table():
    with pytest.raises(Unreadable):
        csv_table("a,b\n1,2,3\n")
    with pytest.raises(Unreadable):
        numbers("1 2\n3\n")


def _table(stream: io.BytesIO) -> Table:
    return parquet(stream, len(stream.getvalue()))


@pytest.mark.parametrize("index", [None, "a"])
@pytest.mark.parametrize("rows", [0, 7])
def test_parquet_as_pandas_reads_what_it_has_written(index, rows):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    columns = {"a": np.arange(rows), "b": np.zeros(rows, np.float32), "c": ["x"] * rows, "d": [True] * rows}
    made = pandas.DataFrame(columns | {"e": [1.5] * rows, "u": np.zeros(rows, np.uint8), "n": [None] * rows})
    stream = saved((made if index is None else made.set_index(index)).to_parquet)
    found = _table(stream)
    stream.seek(0)
    there = pandas.read_parquet(stream)
    assert (found.rows, list(found.columns)) == (len(there), list(there.columns))
    assert all(told in ("", str(kind)) for told, kind in zip(found.dtypes, there.dtypes, strict=True))
    assert {"float32", "uint8"} <= set(found.dtypes)


def test_parquet_of_others():
    """Integers with missing values become floats; columns in columns are one."""
    arrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    pandas = pytest.importorskip("pandas")
    columns = {
        "missing": arrow.array([1, 2, None]),
        "whole": arrow.array([1, 2, 3], arrow.int16()),
        "unsigned": arrow.array([1, 2, 3], arrow.uint32()),
        "list": arrow.array([[1], [2, 3], []]),
        "struct": arrow.array([{"x": 1, "y": {"z": 2.5}}] * 3),
        "date": arrow.array([1, 2, 3], arrow.timestamp("us")),
        "float": arrow.array([1.0, None, 2.0]),
    }
    stream = saved(lambda s: writer.write_table(arrow.table(columns), s))
    dtypes = ("", "int16", "uint32", "", "", "", "float64")
    assert _table(stream) == Table(tuple(columns), 3, dtypes)
    stream.seek(0)
    there = [str(kind) for kind in pandas.read_parquet(stream).dtypes]
    assert [kind for kind, told in zip(there, dtypes, strict=True) if told] == [told for told in dtypes if told]


@pytest.mark.parametrize("rows", [0, 7])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
@pytest.mark.parametrize("size", [None, 3])
def test_feather(rows, compression, size):
    """Integers with missing values become floats; columns in columns are one."""
    pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    columns = {
        "whole": pa.array(range(rows), pa.int16()),
        "struct": pa.array(
            [{"x": 1, "y": {"z": 2.5}}] * rows, pa.struct({"x": pa.int64(), "y": pa.struct({"z": pa.float64()})})
        ),
        "missing": pa.array([None if n == 3 else n for n in range(rows)], pa.int64()),
        "list": pa.array([[1], [2, 3]] * (rows // 2) + [[]] * (rows % 2), pa.list_(pa.int64())),
        "unsigned": pa.array(range(rows), pa.uint32()),
        "coded": pa.array(["a"] * rows).dictionary_encode(),
        "text": pa.array(["a"] * rows),
        "date": pa.array(range(rows), pa.timestamp("us")),
        "float": pa.array([None if n == 2 else n / 2 for n in range(rows)], pa.float32()),
        "flag": pa.array([True] * rows, pa.bool_()),
    }
    stream = saved(lambda s: feather.write_feather(pa.table(columns), s, compression=compression, chunksize=size))
    missing = "" if rows else "int64"
    dtypes = ("int16", "", missing, "", "uint32", "", "", "", "float32", "bool")
    assert arrow(stream, len(stream.getvalue())) == Table(tuple(columns), rows, dtypes)
    stream.seek(0)
    there = [str(kind) for kind in feather.read_feather(stream).dtypes]
    assert [kind for kind, told in zip(there, dtypes, strict=True) if told] == [told for told in dtypes if told]


def test_an_index_is_no_column_of_a_feather_file():
    pandas, feather = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.feather")
    made = pandas.DataFrame({"a": [1.5, 2.5]}, index=["x", "y"])
    stream = saved(lambda s: feather.write_feather(made, s))
    assert arrow(stream, len(stream.getvalue())) == Table(("a",), 2, ("float64",))


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab(compressed):
    scipy = pytest.importorskip("scipy.io")
    made = {name: np.zeros((3, n + 1), name) for n, name in enumerate(DTYPES) if name not in ("bool", "float16")}
    made |= {"flags": np.array([True, False]), "text": "text", "struct": {"a": 1}, "cube": np.zeros((2, 3, 5))}
    made |= {"empty": np.zeros((0, 3)), "a" * 31: np.float32(1)}
    stream = saved(lambda s: scipy.savemat(s, made, do_compression=compressed))
    found = matlab(stream, len(stream.getvalue()))
    stream.seek(0)
    there = scipy.loadmat(stream)
    assert list(found) == [name for name in there if not name.startswith("__")]
    for name, told in found.items():
        if isinstance(told, Array):
            assert told == Array(there[name].shape, str(there[name].dtype)), name
    assert {name for name, told in found.items() if isinstance(told, Object)} == {"text", "struct", "complex64"}


_HDF5 = {
    "x": Array((3, 5), "float32"),
    "y": Array((2,), "bool"),
    "g": {"z": Array((7,), "uint16")},
    "n": Array((11, 13), "float64"),
    "t": Array((), ""),
}
"""The contents of ``old.h5`` and ``new.h5``, which h5py has written, the second one with ``libver="latest"``."""


@pytest.mark.parametrize("name", ["old.h5", "new.h5"])
def test_hdf5(name):
    path = Path(__file__).with_name(name)
    with path.open("rb") as file:
        assert hdf5(file, path.stat().st_size) == _HDF5


@pytest.mark.neighbour("h5py")
def test_hdf5_as_h5py_reads_it(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for n in range(200):
            file[f"group{n % 3}/array{n}"] = np.zeros((n % 5, n), DTYPES[n % 10])
    with (tmp_path / "x.h5").open("rb") as stream:
        found = hdf5(stream, (tmp_path / "x.h5").stat().st_size)
    with h5py.File(tmp_path / "x.h5") as file:
        for n in range(200):
            there = file[f"group{n % 3}/array{n}"]
            assert found[f"group{n % 3}"][f"array{n}"] == Array(there.shape, str(there.dtype))
