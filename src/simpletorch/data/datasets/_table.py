"""Tables: CSV, Parquet and NumPy files as inputs and a target."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simpletorch._distribution import installing
from simpletorch.data._tensors import TensorDataset
from simpletorch.data.datasets._images import PathLike
from simpletorch.dtypes import Float32
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor


class Table(TensorDataset[Tensor[Float32, Any], Tensor[Any]]):
    """The rows of a table in memory: sample ``i`` is ``(inputs, target)`` of row ``i``.

    ``inputs`` are Float32 ``[F]``, one for each input column. The target is ``[]``: Float32 for a column of floats,
    Int64 for integers and truth values, and the number of its class, Int64, for text. Made by `from_csv`,
    `from_parquet` and `from_numpy`; like every `TensorDataset` it is read a batch at a time.

    Args:
        columns: the input columns by name, each of numbers ``[N]``.
        target: the values of the target column, ``[N]``.
        classes: the classes of a target of text, in the order of their numbers; None takes those that occur, sorted.
        fill: the value for a missing input; None: a missing one is an error.
        source: the name of the table in error messages.

    Examples:
        >>> import numpy as np
        >>> from simpletorch import data
        >>> table = data.Table({"age": np.array([31.0, 45.0])}, target=np.array([0, 1]))
        >>> table[1]
        (tensor([45.]), tensor(1))
    """

    columns: tuple[str, ...]
    """The input columns' names, in order."""
    classes: tuple[str, ...]
    """The target's classes in the order of their numbers; empty unless it is text."""

    def __init__(
        self,
        columns: dict[str, np.ndarray[Any, Any]],
        target: np.ndarray[Any, Any],
        classes: Sequence[str] | None = None,
        fill: float | None = None,
        source: str = "the table",
    ) -> None:
        self.columns = tuple(columns)
        if wrong := [name for name, values in columns.items() if values.dtype.kind not in "biuf"]:
            raise DataError(
                f"input columns of {source} are not numbers: {', '.join(map(repr, wrong))}",
                hint="name the columns to use (inputs=[...]), or turn these into numbers first",
            )
        inputs = np.stack([values.astype(np.float32) for values in columns.values()], 1)
        absent = np.isnan(inputs)
        if fill is not None:
            inputs = np.where(absent, np.float32(fill), inputs)
        elif absent.any():
            counts = zip(self.columns, absent.sum(0).tolist(), strict=True)
            shown = ", ".join(f"{name!r} ({count} of {len(inputs)} rows)" for name, count in counts if count)
            raise DataError(f"values are missing in {source}: {shown}", hint="pass fill=0.0, or drop those rows first")
        numbers, self.classes = _targets(target, classes, source)
        super().__init__(torch.from_numpy(inputs), numbers)

    @property
    def inputs(self) -> Tensor[Float32, Any, Any]:
        """All inputs, Float32 ``[N, F]``."""
        return self.tensors[0]

    @property
    def targets(self) -> Tensor[Any, Any]:
        """All targets, ``[N]``."""
        return self.tensors[1]

    @classmethod
    def from_csv(
        cls,
        path: PathLike,
        target: str,
        inputs: Sequence[str] | None = None,
        *,
        classes: Sequence[str] | None = None,
        fill: float | None = None,
        **options: Any,
    ) -> Table:
        """From a CSV file, read by pandas.

        Args:
            path: of the file; pandas unpacks ``.gz``, ``.zip`` and the like.
            target: the column to predict.
            inputs: the columns to predict it from; None: all others.
            classes: the target's classes in the order wanted, such as another table's; None: those that occur, sorted.
            fill: the value for a missing input; None: a missing one is an error.
            options: for `pandas.read_csv`, such as ``sep=";"``.

        Returns:
            The dataset, one row of the file a sample.

        Raises:
            DataError: pandas is not installed, the file can't be read, a column is missing or not numbers, values are
                missing, or a target is none of the classes.
        """
        try:
            import pandas
        except ImportError as error:
            raise _not_installed("CSV files are read by pandas") from error
        path = Path(path).expanduser()
        try:
            frame = pandas.read_csv(path, **options)
        except OSError as error:
            raise DataError(f"can't read {path}: {error.strerror or error}") from error
        except (ValueError, EOFError) as error:  # pandas' errors are ValueErrors
            raise DataError(f"{path} is no table that pandas can read: {error}") from error
        names = _chosen(list(map(str, frame.columns)), target, inputs, str(path))
        frame.columns = list(map(str, frame.columns))
        return cls({n: frame[n].to_numpy() for n in names}, frame[target].to_numpy(), classes, fill, str(path))

    @classmethod
    def from_parquet(
        cls,
        path: PathLike,
        target: str,
        inputs: Sequence[str] | None = None,
        *,
        classes: Sequence[str] | None = None,
        fill: float | None = None,
    ) -> Table:
        """From a Parquet file, or a folder of them, read by pyarrow; otherwise as `from_csv`.

        Args:
            path: a file or a folder of files.
            target, inputs, classes, fill: as for `from_csv`.

        Returns:
            The dataset, one row of the files a sample.

        Raises:
            DataError: as for `from_csv`; or pyarrow isn't installed.
        """
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise _not_installed("Parquet files are read by pyarrow") from error
        path = Path(path).expanduser()
        try:
            known = pyarrow.parquet.ParquetDataset(path).schema.names
            names = _chosen(known, target, inputs, str(path))
            table = pyarrow.parquet.read_table(path, columns=[*names, target])
        except OSError as error:
            raise DataError(f"can't read {path}: {error.strerror or error}") from error
        except pyarrow.ArrowException as error:
            raise DataError(f"{path} is no Parquet file, or it is damaged: {error}") from error
        values = {name: table[name].to_numpy() for name in (*names, target)}
        return cls({name: values[name] for name in names}, values[target], classes, fill, str(path))

    @classmethod
    def from_numpy(
        cls,
        path: PathLike,
        target: str | int = -1,
        inputs: Sequence[str] | None = None,
        *,
        classes: Sequence[str] | None = None,
        fill: float | None = None,
    ) -> Table:
        """From NumPy's files, in which nothing is ever executed.

        A ``.npy`` file holds numbers ``[N, F + 1]``, and ``target`` is the number of a column. A ``.npz`` file holds
        columns ``[N]`` or groups of them ``[N, F]`` by name, and ``target`` is a name. Otherwise as `from_csv`.

        Args:
            path: a ``.npy`` or ``.npz`` file.
            target: the number of the target column in a ``.npy`` file (-1 is the last), or its name in a ``.npz`` file.
            inputs, classes, fill: as for `from_csv`.

        Returns:
            The dataset, one row of the arrays a sample.

        Raises:
            DataError: as for `from_csv`; or the arrays have different lengths.
        """
        path = Path(path).expanduser()
        try:
            _refuse_bomb(path)
            loaded = np.load(path, allow_pickle=False)
            arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
        except DataError:
            raise
        except OSError as error:
            raise DataError(f"can't read {path}: {error.strerror or error}") from error
        except Exception as error:  # a damaged file makes NumPy, zipfile or zlib raise their own
            raise DataError(f"{path} is no file of NumPy's, is damaged, or holds objects: {error}") from error
        columns = {
            name: column for key, array in arrays.items() for name, column in _split(key, array, str(path)).items()
        }
        if len({len(column) for column in columns.values()}) > 1:
            lengths = ", ".join(f"{name}: {len(column)}" for name, column in columns.items())
            raise DataError(f"the columns of {path} have different lengths ({lengths}): each needs one value a row")
        key = str(target % len(columns)) if isinstance(target, int) and "" in arrays else str(target)
        wanted = None if inputs is None else [n for name in inputs for n in _group(columns, name)]
        names = _chosen(list(columns), key, wanted, str(path))
        return cls({name: columns[name] for name in names}, columns[key], classes, fill, str(path))


def _refuse_bomb(path: Path) -> None:
    """Refuse a path that is no file, and a small file that would expand to gigabytes."""
    if path.exists() and not path.is_file():
        raise DataError(f"can't read {path}: it is no file")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > max(1 << 30, 100 * path.stat().st_size):
            raise DataError(f"{path} is refused: {size:,} bytes would come of its {path.stat().st_size:,}")


def _not_installed(what: str) -> DataError:
    return DataError(f"{what}, which is not installed: {installing('tables')}")


def _group(columns: dict[str, Any], name: str) -> list[str]:
    """The columns of an array of several."""
    return [column for column in columns if column == name or column.rpartition(".")[0] == name] or [name]


def _split(name: str, array: np.ndarray[Any, Any], source: str) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of one array by name: ``x.0``, ``x.1``, … of one called ``x``."""
    if array.ndim == 1:
        return {name or "0": array}
    if array.ndim != 2:
        raise DataError(f"an array of {source} has shape {list(array.shape)}: a table's are [N] or [N, F]")
    return {f"{name}.{i}" if name else str(i): array[:, i] for i in range(array.shape[1])}


def _chosen(known: Sequence[str], target: str, inputs: Sequence[str] | None, source: str) -> list[str]:
    """The input columns, after a look whether all are there."""
    names = [name for name in known if name != target] if inputs is None else list(inputs)
    if absent := [name for name in (target, *names) if name not in known]:
        raise DataError(
            f"{source} has no column {', '.join(map(repr, absent))}: its columns are {', '.join(map(repr, known))}"
        )
    if target in names:
        raise DataError(f"column {target!r} is the target, so it can't be an input as well")
    if not names:
        raise DataError(f"{source} has no column besides the target {target!r}")
    return names


def _targets(
    values: np.ndarray[Any, Any], classes: Sequence[str] | None, source: str
) -> tuple[torch.Tensor, tuple[str, ...]]:
    """Targets as numbers, and the classes if they are text."""
    if values.dtype.kind == "f" and classes is None:
        if np.isnan(values).any():
            raise DataError(f"{int(np.isnan(values).sum())} of {len(values)} targets of {source} are missing")
        return torch.from_numpy(values.astype(np.float32)), ()
    if values.dtype.kind in "biu" and classes is None:
        return torch.from_numpy(values.astype(np.int64)), ()
    if (gone := sum(value is None or value != value for value in values.tolist())) > 0:
        raise DataError(f"{gone} of {len(values)} targets of {source} are missing")
    texts = [str(value) for value in values.tolist()]
    names = tuple(sorted(set(texts)) if classes is None else map(str, classes))
    numbers = {name: number for number, name in enumerate(names)}
    if unknown := sorted(set(texts) - set(names)):
        raise DataError(f"targets of {source} are none of the classes: {', '.join(map(repr, unknown[:5]))}")
    return torch.tensor([numbers[text] for text in texts], dtype=torch.int64), names
