"""What is read of a data file is what the library that wrote it has: NumPy, torch, Pillow, wave, pandas' rules."""

from __future__ import annotations

import io
import pickle
import wave
from collections import OrderedDict

import numpy as np
import pytest
import torch

from simpletorch.follow.disk.arrays import npy, npz
from simpletorch.follow.disk.described import Array, Object, Sound, Tensor, Unreadable
from simpletorch.follow.disk.images import image, is_image
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
