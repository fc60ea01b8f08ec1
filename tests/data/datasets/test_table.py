"""Tables from CSV, Parquet and NumPy files."""

import sys

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
import torch

from simpletorch.data import DataLoader, Table
from simpletorch.errors import DataError

FRAME = pandas.DataFrame(
    {
        "width": [0.5, 1.5, 2.5, 3.5, 4.5],
        "count": [7, 11, 13, 17, 19],
        "ripe": [True, False, True, True, False],
        "name": ["fig", "apple", "fig", "plum", "apple"],
    }
)
NUMBERS = FRAME[["width", "count", "ripe"]].to_numpy(dtype=np.float32)


def csv(tmp_path, frame=FRAME, name="table.csv", **options):
    frame.to_csv(tmp_path / name, index=False, **options)
    return tmp_path / name


def parquet(tmp_path, frame=FRAME):
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame), tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


@pytest.fixture(params=["csv", "parquet"])
def read(request, tmp_path):
    """Write a frame and read it back with these arguments."""

    def read(frame=FRAME, **arguments):
        if request.param == "csv":
            return Table.from_csv(csv(tmp_path, frame), **arguments)
        return Table.from_parquet(parquet(tmp_path, frame), **arguments)

    return read


def test_inputs_are_floats_and_text_is_a_class(read):
    table = read(target="name")
    assert table.columns == ("width", "count", "ripe")
    assert table.classes == ("apple", "fig", "plum")
    assert np.array_equal(table.inputs.numpy(), NUMBERS)
    assert table.targets.tolist() == [1, 0, 1, 2, 0]
    inputs, target = table[3]
    assert (inputs.dtype, target.dtype) == (torch.float32, torch.int64)
    assert inputs.tolist() == [3.5, 17, 1]


@pytest.mark.parametrize(
    ("target", "dtype", "values"),
    [
        ("width", torch.float32, [0.5, 1.5, 2.5, 3.5, 4.5]),
        ("count", torch.int64, [7, 11, 13, 17, 19]),
        ("ripe", torch.int64, [1, 0, 1, 1, 0]),
    ],
)
def test_numbers_stay_numbers(read, target, dtype, values):
    table = read(target=target, inputs=["width", "count"] if target == "ripe" else ["ripe"])
    assert table.targets.dtype == dtype
    assert table.targets.tolist() == values
    assert table.classes == ()


def test_inputs_come_in_the_order_given(read):
    table = read(target="name", inputs=["count", "width"])
    assert np.array_equal(table.inputs.numpy(), NUMBERS[:, [1, 0]])


def test_classes_are_shared(read):
    assert read(target="name", classes=["plum", "fig", "apple", "kiwi"]).targets.tolist() == [1, 2, 1, 0, 2]
    with pytest.raises(DataError, match=r"targets of .* are none of the classes: 'apple', 'plum'"):
        read(target="name", classes=["fig"])


def test_batches(read):
    batches = list(DataLoader(read(target="name"), 3))
    assert [list(inputs.shape) for inputs, _ in batches] == [[3, 3], [2, 3]]


def test_missing_values_are_counted_or_filled(read):
    frame = FRAME.copy()
    frame.loc[[1, 4], "width"] = np.nan
    with pytest.raises(DataError, match=r"values are missing in .*: 'width' \(2 of 5 rows\)") as caught:
        read(frame, target="name")
    assert "pass fill=0.0" in str(caught.value)
    assert read(frame, target="name", fill=-1.0).inputs[:, 0].tolist() == [0.5, -1.0, 2.5, 3.5, -1.0]
    with pytest.raises(DataError, match=r"2 of 5 targets of .* are missing"):
        read(frame, target="width", inputs=["count"])
    frame.loc[2, "name"] = None
    with pytest.raises(DataError, match=r"1 of 5 targets of .* are missing"):
        read(frame, target="name", inputs=["count"])


def test_columns_that_are_not_there_or_not_numbers(read):
    with pytest.raises(DataError, match="has no column 'weight': its columns are 'width', 'count', 'ripe', 'name'"):
        read(target="weight")
    with pytest.raises(DataError, match="has no column 'a', 'b'"):
        read(target="name", inputs=["a", "width", "b"])
    with pytest.raises(DataError, match=r"input columns of .* are not numbers: 'name'"):
        read(target="width")
    with pytest.raises(DataError, match="'name' is the target, so it can't be an input"):
        read(target="name", inputs=["name"])
    with pytest.raises(DataError, match="no column besides the target"):
        read(FRAME[["name"]], target="name")


def test_options_go_to_pandas(tmp_path):
    table = Table.from_csv(csv(tmp_path, sep=";"), "name", sep=";")
    assert np.array_equal(table.inputs.numpy(), NUMBERS)
    assert len(Table.from_csv(csv(tmp_path, name="table.csv.gz"), "name")) == 5


@pytest.mark.parametrize("read", [Table.from_csv, Table.from_parquet, Table.from_numpy])
def test_files_that_can_not_be_read(tmp_path, read):
    with pytest.raises(DataError, match=r"can't read .*nowhere"):
        read(tmp_path / "nowhere", "name")
    (tmp_path / "damaged").write_bytes(b'a,b\n1,2\n"3,4,5\n6' if read == Table.from_csv else b"PAR1 or not")
    with pytest.raises(DataError, match=r"damaged is no|can't read .*damaged"):
        read(tmp_path / "damaged", "name")


def test_a_parquet_file_that_is_cut_off(tmp_path):
    path = parquet(tmp_path)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(DataError, match="is no Parquet file, or it is damaged"):
        Table.from_parquet(path, "name")


@pytest.mark.parametrize(("module", "read"), [("pandas", Table.from_csv), ("pyarrow", Table.from_parquet)])
def test_without_the_library_the_error_says_what_to_install(monkeypatch, module, read):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=r"pip install 'simpletorch-typed\[tables\]'"):
        read("table", "name")


def test_npy_files_have_a_column_as_target(tmp_path):
    np.save(tmp_path / "table.npy", NUMBERS)
    table = Table.from_numpy(tmp_path / "table.npy")
    assert np.array_equal(table.inputs.numpy(), NUMBERS[:, :2])
    assert table.targets.tolist() == NUMBERS[:, 2].tolist()
    assert Table.from_numpy(tmp_path / "table.npy", 0).columns == ("1", "2")


def test_npz_files_have_arrays_by_name(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, x=NUMBERS, y=np.array(FRAME["name"].tolist()), z=np.arange(5))
    table = Table.from_numpy(path, "y", ["x"])
    assert table.columns == ("x.0", "x.1", "x.2")
    assert table.classes == ("apple", "fig", "plum")
    assert Table.from_numpy(path, "z", ["x"]).targets.dtype == torch.int64
    assert Table.from_numpy(path, "y").columns == ("x.0", "x.1", "x.2", "z")


def test_numpy_files_that_make_no_table(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, x=np.zeros(3), y=np.zeros(5))
    with pytest.raises(DataError, match=r"different lengths \(x: 3, y: 5\)"):
        Table.from_numpy(path, "y")
    np.savez(path, x=np.zeros((2, 3, 5)), y=np.zeros(2))
    with pytest.raises(DataError, match=r"has shape \[2, 3, 5\]: a table's are \[N\] or \[N, F\]"):
        Table.from_numpy(path, "y")
    np.savez(path, x=np.array([{"no": "objects"}]), y=np.zeros(1))
    with pytest.raises(DataError, match="holds objects"):
        Table.from_numpy(path, "y")
