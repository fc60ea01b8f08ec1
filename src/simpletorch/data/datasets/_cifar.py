"""CIFAR-10 and CIFAR-100."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, overload

import numpy as np
import torch
from typing_extensions import TypeVar

from simpletorch.data.datasets._archive import extract
from simpletorch.data.datasets._download import download as fetch
from simpletorch.data.datasets._images import LabelledImages, PathLike, locked, missing
from simpletorch.data.datasets._sums import check, record
from simpletorch.dtypes import Float32, Int64, UInt8
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor

X = TypeVar("X", covariant=True, default=Tensor[Float32, 3, 32, 32])
Y = TypeVar("Y", covariant=True, default=Tensor[Int64])

if TYPE_CHECKING:
    from typing import TypeAlias

    Colour: TypeAlias = Tensor[UInt8, 3, 32, 32]

_PIXELS: Final = 3 * 32 * 32
_FINE: Final = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can
    castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin
    elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster
    man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck
    pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk
    skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger
    tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""


class CIFAR10(LabelledImages[X, Y]):
    """60,000 colour photographs of ten things: 50,000 to train with, 10,000 to test.

    A sample is ``(image, target)``: Float32 ``[3, 32, 32]`` between 0 and 1, and Int64 ``[]`` from 0 to 9. The files
    are in ``root/cifar-10-batches-bin`` (the binary format, which ``download`` fetches) or
    ``root/cifar-10-batches-py`` (the pickled one, where torchvision puts it; nothing in it but arrays and lists is
    ever loaded).

    Args:
        root: the folder of all datasets.
        train: the training part if true, the test part if false.
        transform: from the image as it is stored, UInt8 ``[3, 32, 32]``, to the sample's first item; None for
            `ToTensor`.
        target_transform: from the class's number (an int) to the sample's second item.
        download: fetch missing files (170 MB), verified by SHA-256.

    Raises:
        DataError: a file is missing, damaged or can't be fetched; the error names it and a remedy.

    Source: Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html
    """

    mirrors: ClassVar[Sequence[str]] = ("https://www.cs.toronto.edu/~kriz/",)
    archive: ClassVar[tuple[str, str]] = (
        "cifar-10-binary.tar.gz",
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    )
    folder: ClassVar[str] = "cifar-10-batches-bin"
    files: ClassVar[tuple[Sequence[str], Sequence[str]]] = (
        tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
        ("test_batch.bin",),
    )
    pickled_folder: ClassVar[str] = "cifar-10-batches-py"
    pickled: ClassVar[tuple[dict[str, str], dict[str, str]]] = (  # MD5, as torchvision has them
        {
            "data_batch_1": "c99cafc152244af753f735de768cd75f",
            "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
            "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
            "data_batch_4": "634d18415352ddfa80567beed471001a",
            "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        },
        {"test_batch": "40351d587109b95175f43aff81a1287e"},
    )
    labels: ClassVar[int] = 1  # bytes before each image; the last one is the class
    key: ClassVar[str] = "labels"
    classes: ClassVar[tuple[str, ...]] = (
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    )

    @overload
    def __init__(
        self: CIFAR10[Tensor[Float32, 3, 32, 32], Tensor[Int64]],
        root: PathLike,
        train: bool = True,
        transform: None = None,
        target_transform: None = None,
        download: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: CIFAR10[X, Tensor[Int64]],
        root: PathLike,
        train: bool = True,
        *,
        transform: Callable[[Colour], X],
        target_transform: None = None,
        download: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: CIFAR10[Any, Any],
        root: PathLike,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        download: bool = False,
    ) -> None: ...
    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        download: bool = False,
    ) -> None:
        self.root, self.train = Path(root).expanduser(), train
        if download:
            self.download()
        binary, pickled = self.root / self.folder, self.root / self.pickled_folder
        part = 0 if train else 1
        if not binary.is_dir() and pickled.is_dir():
            folder, parts = pickled, [self._unpickled(pickled / name, md5) for name, md5 in self.pickled[part].items()]
        else:
            folder, paths = binary, [binary / name for name in self.files[part]]
            if absent := [path for path in paths if not path.is_file()]:
                raise missing(type(self).__name__, absent)
            check(binary, self.files[part])
            parts = [self._records(path) for path in paths]
        images, targets = (torch.cat(column) for column in zip(*parts, strict=True))
        super().__init__(images, targets, transform, target_transform, folder)

    def download(self) -> None:
        """Fetch and unpack the files, unless they are there in either format."""
        binary, (name, sha256) = self.root / self.folder, self.archive
        names = [file for part in self.files for file in part]
        if all((binary / file).is_file() for file in names) or (self.root / self.pickled_folder).is_dir():
            return
        with locked(self.root):
            if not all((binary / file).is_file() for file in names):
                fetch([mirror + name for mirror in self.mirrors], self.root / name, sha256=sha256)
                extract(self.root / name, self.root)
                if absent := [binary / file for file in names if not (binary / file).is_file()]:
                    raise missing(name, absent, download=True)
                record(binary, names)

    def _records(self, path: Path) -> tuple[torch.Tensor, torch.Tensor]:
        """Images and targets of a binary file: records of one or two label bytes and 3,072 pixels, plane by plane."""
        data = np.fromfile(path, dtype=np.uint8)
        size = self.labels + _PIXELS
        if not data.size or data.size % size:
            raise DataError(
                f"{path} is damaged or truncated: it has {data.size:,} bytes, which is no multiple of {size:,}",
                hint=f"delete {path.parent} and pass download=True",
            )
        rows = torch.from_numpy(data).view(-1, size)
        return rows[:, self.labels :].reshape(-1, 3, 32, 32), rows[:, self.labels - 1].to(torch.int64)

    def _unpickled(self, path: Path, md5: str) -> tuple[torch.Tensor, torch.Tensor]:
        if not path.is_file():
            raise missing(type(self).__name__, [path])
        content = path.read_bytes()
        if hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
            raise DataError(
                f"{path} is damaged: its MD5 is not {md5}", hint=f"delete {path.parent}, pass download=True"
            )
        entry = load_arrays(path)
        pixels, targets = entry.get("data"), entry.get(self.key)
        if not isinstance(pixels, np.ndarray) or pixels.shape[1:] != (_PIXELS,) or not isinstance(targets, list):
            raise DataError(f"{path} is no file of {type(self).__name__}: it has {sorted(entry)}")
        return torch.from_numpy(pixels.reshape(-1, 3, 32, 32).copy()), torch.tensor(targets, dtype=torch.int64)


class CIFAR100(CIFAR10[X, Y]):
    """60,000 colour photographs of a hundred things, in the format and sizes of `CIFAR10`, with its arguments and
    errors.

    A sample is ``(image, target)``: Float32 ``[3, 32, 32]`` between 0 and 1, and Int64 ``[]`` from 0 to 99 (the fine
    class). The files are in ``root/cifar-100-binary`` or ``root/cifar-100-python``.

    Raises:
        DataError: a file is missing, damaged or can't be fetched; the error names it and a remedy.

    Source: Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html
    """

    archive: ClassVar[tuple[str, str]] = (
        "cifar-100-binary.tar.gz",
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    )
    folder = "cifar-100-binary"
    files: ClassVar[tuple[Sequence[str], Sequence[str]]] = (("train.bin",), ("test.bin",))
    pickled_folder = "cifar-100-python"
    pickled: ClassVar[tuple[dict[str, str], dict[str, str]]] = (
        {"train": "16019d7e3df5f24257cddd939b257f8d"},
        {"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
    )
    labels = 2
    key = "fine_labels"
    classes = tuple(_FINE.split())


class _ArraysOnly(pickle.Unpickler):
    """Loads dicts, lists, numbers, strings and NumPy arrays; a pickle that asks for anything else is refused."""

    allowed: Final = frozenset(
        [
            *((module, name) for module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
              for name in ("ndarray", "dtype", "_reconstruct")),
            ("_codecs", "encode"),
        ]
    )  # fmt: skip

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, and only arrays are loaded")
        # where NumPy 2 has it; the old name still works, but warns
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def load_arrays(path: Path) -> dict[str, Any]:
    """The dict that a pickle of arrays holds (Python 2's too); no code of the file is run.

    Raises:
        DataError: it is damaged, or holds anything but dicts, lists, numbers, strings and arrays.
    """
    try:
        with open(path, "rb") as file:
            entry = _ArraysOnly(file, encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise anything
        raise DataError(f"{path} can't be loaded: {error}", hint="delete it and download it again") from error
    if not isinstance(entry, dict):
        raise DataError(f"{path} can't be loaded: it holds a {type(entry).__name__}, not a dict")
    return entry
