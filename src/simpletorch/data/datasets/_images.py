"""Labelled images in memory: the common base of MNIST and CIFAR."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

import torch
from filelock import FileLock

from simpletorch.data._dataset import Dataset
from simpletorch.data.loading._columns import Columns
from simpletorch.errors import DataError
from simpletorch.transforms import ToTensor, takes_batches

if TYPE_CHECKING:
    from simpletorch.dtypes import Int64, UInt8
    from simpletorch.tensor import Tensor

X = TypeVar("X", covariant=True)
Y = TypeVar("Y", covariant=True)
PathLike: TypeAlias = "str | os.PathLike[str]"

_to_tensor = ToTensor()


class LabelledImages(Dataset[tuple[X, Y]], Generic[X, Y]):
    """Images of one size in memory, each with the number of its class.

    Sample ``i`` is ``(transform(images[i]), target_transform(int(targets[i])))``. Without a transform the image is
    Float32 between 0 and 1; without a target transform the target is Int64 ``[]``. `DataLoader` takes whole batches at
    once; so do transforms of `simpletorch.transforms`, with the same results as image by image.

    Args:
        images: UInt8 ``[N, C, H, W]`` from 0 to 255.
        targets: Int64 ``[N]``, each from 0 up to the number of classes, exclusive.
        transform: takes an image, UInt8 ``[C, H, W]``, and returns the sample's first item; None for `ToTensor`.
        target_transform: takes the number of the class (an int) and returns the sample's second item; None for Int64
            ``[]``.
        source: the file or folder that the images were read from, for error messages.

    Raises:
        DataError: there are more images than targets, or fewer; or a target is no number of a class.
    """

    images: Tensor[UInt8, Any, Any, Any, Any]
    """UInt8 ``[N, C, H, W]`` from 0 to 255."""
    targets: Tensor[Int64, Any]
    """Int64 ``[N]``, from 0 up to the number of classes, exclusive."""
    classes: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        images: Tensor[UInt8, Any, Any, Any, Any],
        targets: Tensor[Int64, Any],
        transform: Callable[[Any], Any] | None,
        target_transform: Callable[[Any], Any] | None,
        source: Path,
    ) -> None:
        if len(images) != len(targets):
            raise DataError(
                f"{source} has {len(images):,} images but {len(targets):,} targets: a file is from elsewhere"
            )
        if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < len(self.classes):
            raise DataError(
                f"{source} is damaged: its targets go from {targets.min()} to {targets.max()}, "
                f"but there are {len(self.classes)} classes"
            )
        self.images, self.targets = images, targets
        self.transform, self.target_transform = transform, target_transform

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class by its name."""
        return {name: number for number, name in enumerate(self.classes)}

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[X, Y]:
        image = (self.transform or _to_tensor)(self.images[index])
        target: Any = self.targets[index]
        if self.target_transform is not None:
            target = self.target_transform(int(target))
        return cast("tuple[X, Y]", (image, target))

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[X, Y]]:
        """The samples at ``indices``, as torch's loader asks for a batch of them."""
        transform = self.transform or _to_tensor
        if not takes_batches(transform):
            return [self[index] for index in indices]
        rows = torch.as_tensor(indices, dtype=torch.int64)
        rows = rows + (rows < 0) * len(self)
        targets: Any = self.targets[rows].unbind()
        if self.target_transform is not None:
            targets = map(self.target_transform, self.targets[rows].tolist())
        return cast("list[tuple[X, Y]]", list(zip(transform(self.images[rows]).unbind(), targets, strict=True)))

    def as_columns(self) -> Columns | None:
        """For `DataLoader`: how to get a whole batch, if that is more than its samples put together.

        Returns:
            The images, the targets and the transform; None if samples must be made one by one.
        """
        transform = self.transform or _to_tensor
        own = type(self).__getitem__ is LabelledImages.__getitem__
        if not own or self.target_transform is not None or not takes_batches(transform):
            return None
        return Columns((self.images, self.targets), change=self._changed)

    def _changed(self, images: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (self.transform or _to_tensor)(images), targets

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} samples, images {list(self.images.shape[1:])})"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time prepare ``folder``, which is made if it isn't there.

    Raises:
        DataError: it can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire()
    except OSError as error:
        raise DataError(f"can't write {folder}: {error.strerror}", hint="give a root that you may write to") from error
    try:
        yield
    finally:
        lock.release()


def missing(what: str, paths: Sequence[Path], download: bool = False) -> DataError:
    """The error for files that are not there."""
    names = ", ".join(str(path) for path in paths)
    hint = "" if download else "pass download=True to fetch it, or give the root where it is"
    return DataError(f"{what} is not in the folder given: there is no {names}", hint=hint or None)
