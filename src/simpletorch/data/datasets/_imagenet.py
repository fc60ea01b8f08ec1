"""ImageNet, from archives that everyone has to get for themselves."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, overload

import torch

from simpletorch.data.datasets._archive import extract
from simpletorch.data.datasets._folder import ImageFolder, X, Y, read_rgb
from simpletorch.data.datasets._images import PathLike, locked
from simpletorch.dtypes import Float32, Int64
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor

if TYPE_CHECKING:
    from simpletorch.data.datasets._folder import Colour

_META: Final = "meta.bin"
_DEVKIT: Final = "ILSVRC2012_devkit_t12"


class ImageNet(ImageFolder[X, Y]):
    """1,281,167 training and 50,000 validation photographs in 1,000 classes (ILSVRC 2012).

    A sample is ``(image, target)``: Float32 ``[3, H, W]`` between 0 and 1, and Int64 ``[]`` from 0 to 999; images have
    different sizes, so batches need a transform, as `ImageFolder`'s do.

    The images are in ``root/train/n01440764/*.JPEG`` and ``root/val/n01440764/*.JPEG``, as torchvision puts them:
    folders made by either work for both. If the folder isn't there, it is made from the archives in ``root``, which
    ImageNet gives to registered users: ``ILSVRC2012_img_train.tar``, or ``ILSVRC2012_img_val.tar`` and
    ``ILSVRC2012_devkit_t12.tar.gz``. They are checked by MD5, as ImageNet states it, and unpacked safely.

    ``wnids`` are the classes' WordNet numbers in order, ``classes`` their names (the numbers again, without the
    devkit).

    Args:
        root: the folder of the archives.
        split: ``train`` or ``val``.
        transform: from the image as it is read, UInt8 ``[3, H, W]``, to the sample's first item; None for `ToTensor`.
        target_transform: from the class's number (an int) to the sample's second item.
        loader: reads an image, instead of ``read_image(path, "RGB")``.

    Raises:
        DataError: another split; folder and archive are missing; an archive is damaged.

    Source: Russakovsky et al. 2015, https://arxiv.org/abs/1409.0575; https://image-net.org/download.php
    """

    archives: ClassVar[Mapping[str, tuple[str, str]]] = {  # MD5, as ImageNet states them
        "train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
        "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
        "devkit": (f"{_DEVKIT}.tar.gz", "fa75699e90414af021442c21a62c3abf"),
    }

    wnids: list[str]
    names: dict[str, tuple[str, ...]]
    """All names of each class by its WordNet number; empty without the devkit."""

    @overload
    def __init__(
        self: ImageNet[Tensor[Float32, 3, Any, Any], Tensor[Int64]],
        root: PathLike,
        split: Literal["train", "val"] = "train",
        transform: None = None,
        target_transform: None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: ImageNet[X, Tensor[Int64]],
        root: PathLike,
        split: Literal["train", "val"] = "train",
        *,
        transform: Callable[[Colour], X],
        target_transform: None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: ImageNet[Any, Any],
        root: PathLike,
        split: Literal["train", "val"] = "train",
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] = ...,
    ) -> None: ...
    def __init__(
        self,
        root: PathLike,
        split: Literal["train", "val"] = "train",
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] = read_rgb,
    ) -> None:
        if split not in ("train", "val"):
            raise DataError(f"split is {split!r}, but ImageNet has 'train' and 'val'")
        folder = Path(root).expanduser()
        if not (folder / split).is_dir():
            with locked(folder):
                if not (folder / split).is_dir():
                    (self._unpack_train if split == "train" else self._unpack_val)(folder)
        super().__init__(folder / split, transform, target_transform, loader)
        self.split, self.wnids = split, self.classes
        self.names, _ = self._meta(folder, needed=False)
        self.classes = [", ".join(self.names.get(wnid, (wnid,))) for wnid in self.wnids]
        self.class_to_idx = {
            name: number for number, wnid in enumerate(self.wnids) for name in (wnid, *self.names.get(wnid, ()))
        }

    def _archive(self, root: Path, part: str) -> Path:
        name, md5 = self.archives[part]
        path = root / name
        if not path.is_file():
            raise DataError(
                f"ImageNet is not in {root}: there is neither a folder with its images nor the archive {name}",
                hint="register at https://image-net.org/download.php, and put the archives there",
            )
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if found != md5:
            raise DataError(f"{path} is damaged or not all there: its MD5 is {found}, but should be {md5}")
        return path

    def _unpack_train(self, root: Path) -> None:
        """An archive of archives, one for each class."""
        archive = self._archive(root, "train")
        with _fresh(root) as fresh:
            for inner in sorted(extract(archive, fresh / "archives").iterdir()):
                extract(inner, fresh / "train" / inner.stem)
                inner.unlink()
            # in one step: a folder "train" that is there is complete, which is all that the constructor asks
            os.rename(fresh / "train", root / "train")

    def _unpack_val(self, root: Path) -> None:
        """One folder of images; the devkit knows their classes, in the order of their names."""
        _, wnids = self._meta(root, needed=True)
        with _fresh(root) as fresh:
            images = sorted(extract(self._archive(root, "val"), fresh / "images").iterdir())
            if len(images) != len(wnids):
                raise DataError(
                    f"ImageNet's val archive has {len(images):,} images, but the devkit {len(wnids):,} classes"
                )
            for image, wnid in zip(images, wnids, strict=True):
                (fresh / "val" / wnid).mkdir(parents=True, exist_ok=True)
                os.rename(image, fresh / "val" / wnid / image.name)
            os.rename(fresh / "val", root / "val")

    def _meta(self, root: Path, needed: bool) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Names by WordNet number, and the validation images' classes; kept in a file that torchvision reads too."""
        if (root / _META).is_file():
            return torch.load(root / _META, weights_only=True)  # type: ignore[no-any-return]
        if not needed and not (root / self.archives["devkit"][0]).is_file():
            return {}, []
        with _fresh(root) as fresh:
            meta = _read_devkit(extract(self._archive(root, "devkit"), fresh / "devkit") / _DEVKIT / "data")
            torch.save(meta, fresh / _META)
            os.replace(fresh / _META, root / _META)
        return meta


@contextmanager
def _fresh(root: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".imagenet-", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_devkit(folder: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise DataError("ImageNet's devkit is read by SciPy, which is not installed: pip install scipy") from error
    synsets = loadmat(folder / "meta.mat", squeeze_me=True)["synsets"]
    leaves = [row for row in synsets if row["num_children"] == 0]
    names = {str(row["WNID"]): tuple(str(row["words"]).split(", ")) for row in leaves}
    numbers = {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in leaves}
    truth = (folder / "ILSVRC2012_validation_ground_truth.txt").read_text().split()
    return names, [numbers[int(number)] for number in truth]
