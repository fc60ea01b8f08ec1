"""MNIST and Fashion-MNIST."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import torch
from typing_extensions import TypeVar

from simpletorch.data.datasets._archive import extract
from simpletorch.data.datasets._download import download as fetch
from simpletorch.data.datasets._idx import read_idx
from simpletorch.data.datasets._images import LabelledImages, PathLike, locked, missing
from simpletorch.data.datasets._sums import check, record
from simpletorch.dtypes import Float32, Int64, UInt8
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor

X = TypeVar("X", covariant=True, default=Tensor[Float32, 1, 28, 28])
Y = TypeVar("Y", covariant=True, default=Tensor[Int64])

if TYPE_CHECKING:
    from typing import TypeAlias

    Grey: TypeAlias = Tensor[UInt8, 1, 28, 28]


class MNIST(LabelledImages[X, Y]):
    """70,000 handwritten digits: 60,000 to train with, 10,000 to test.

    A sample is ``(image, target)``: Float32 ``[1, 28, 28]`` between 0 (paper) and 1 (ink), and Int64 ``[]`` from 0 to
    9. The files are in ``root/MNIST/raw``, as torchvision puts them: folders made by either work for both.

    Args:
        root: the folder of all datasets.
        train: the training part if true, the test part if false.
        transform: from the image as it is stored, UInt8 ``[1, 28, 28]``, to the sample's first item; None for
            `ToTensor`.
        target_transform: from the class's number (an int) to the sample's second item.
        download: fetch missing files (11 MB), from several mirrors, verified by SHA-256.

    Raises:
        DataError: a file is missing, damaged or can't be fetched; the error names it and a remedy.

    Source: LeCun, Cortes & Burges, http://yann.lecun.com/exdb/mnist; CC BY-SA 3.0
    """

    mirrors: ClassVar[Sequence[str]] = (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    )
    resources: ClassVar[Sequence[tuple[str, str]]] = (
        ("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        ("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        ("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        ("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    )
    classes: ClassVar[tuple[str, ...]] = tuple("0123456789")

    @overload
    def __init__(
        self: MNIST[Tensor[Float32, 1, 28, 28], Tensor[Int64]],
        root: PathLike,
        train: bool = True,
        transform: None = None,
        target_transform: None = None,
        download: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: MNIST[X, Tensor[Int64]],
        root: PathLike,
        train: bool = True,
        *,
        transform: Callable[[Grey], X],
        target_transform: None = None,
        download: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: MNIST[Any, Any],
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
        images, targets = self._read()
        super().__init__(images, targets, transform, target_transform, self.raw_folder)

    @property
    def raw_folder(self) -> Path:
        """``root/MNIST/raw``."""
        return self.root / self.folder / "raw"

    folder: ClassVar[str] = "MNIST"

    def download(self) -> None:
        """Fetch and unpack the files that aren't there."""
        raw = self.raw_folder
        if all((raw / _plain(name)).is_file() for name, _ in self.resources):
            return
        with locked(raw):
            for name, sha256 in self.resources:
                if not (raw / _plain(name)).is_file():
                    fetch([mirror + name for mirror in self.mirrors], raw / name, sha256=sha256)
                    extract(raw / name, raw)
            record(raw, [_plain(name) for name, _ in self.resources])

    def _read(self) -> tuple[torch.Tensor, torch.Tensor]:
        part = slice(0, 2) if self.train else slice(2, 4)
        paths = [self.raw_folder / _plain(name) for name, _ in self.resources[part]]
        if absent := [path for path in paths if not path.is_file()]:
            raise missing(type(self).__name__, absent)
        check(self.raw_folder, [path.name for path in paths])
        images, targets = map(read_idx, paths)
        for path, tensor, rank in zip(paths, (images, targets), (3, 1), strict=True):
            if tensor.dtype != torch.uint8 or tensor.ndim != rank:
                raise DataError(
                    f"{path} is no file of {type(self).__name__}: it holds {tensor.dtype} {list(tensor.shape)}, "
                    f"not bytes of rank {rank}"
                )
        if images.shape[1:] != (28, 28):
            raise DataError(f"{paths[0]} is no file of {type(self).__name__}: its images are {list(images.shape[1:])}")
        return images.unsqueeze(1), targets.to(torch.int64)


class FashionMNIST(MNIST[X, Y]):
    """70,000 pictures of clothes in ten classes, in the format and sizes of `MNIST`, with its arguments and errors.

    A sample is ``(image, target)``: Float32 ``[1, 28, 28]`` between 0 and 1, and Int64 ``[]`` from 0 to 9. The files
    are in ``root/FashionMNIST/raw``.

    Raises:
        DataError: a file is missing, damaged or can't be fetched; the error names it and a remedy.

    Source: Xiao, Rasul & Vollgraf 2017, https://arxiv.org/abs/1708.07747; MIT
    """

    mirrors: ClassVar[Sequence[str]] = (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    )
    resources: ClassVar[Sequence[tuple[str, str]]] = (
        ("train-images-idx3-ubyte.gz", "08dc20ab1689590a0bcd66e874647b6ee8464e2d501b5a3f1f78831db19a3fdc"),
        ("train-labels-idx1-ubyte.gz", "b0197879cbda89f3dc7b894f9fd52b858e68ea4182b6947c9d8c2b67e5f18dcc"),
        ("t10k-images-idx3-ubyte.gz", "78dcbbfb5a27efaf1b6c1d616caca68560be8766c5bffcb2791df9273a534229"),
        ("t10k-labels-idx1-ubyte.gz", "42bd18137a62d5998cdeae52bf3a0676ac6b706f5cf8439b47bb5b151ae3dccf"),
    )
    folder = "FashionMNIST"
    classes = (
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    )


def _plain(name: str) -> str:
    """The file's name once it is unpacked."""
    return name.removesuffix(".gz")
