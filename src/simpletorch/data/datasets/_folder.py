"""Images in folders, one for each class."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, cast, overload

import torch
from typing_extensions import TypeVar

from simpletorch.data._dataset import Dataset
from simpletorch.data.datasets._images import PathLike
from simpletorch.dtypes import Float32, Int64, UInt8
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor
from simpletorch.transforms import ToTensor
from simpletorch.vision.io import read_image

X = TypeVar("X", covariant=True, default=Tensor[Float32, 3, Any, Any])
Y = TypeVar("Y", covariant=True, default=Tensor[Int64])

if TYPE_CHECKING:
    from typing import TypeAlias

    Colour: TypeAlias = Tensor[UInt8, 3, Any, Any]

EXTENSIONS: Final = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")

_to_tensor = ToTensor()


def read_rgb(path: str) -> torch.Tensor:
    """The image in a file as UInt8 ``[3, H, W]``; the default loader of a folder's images."""
    return read_image(path, "RGB")


class ImageFolder(Dataset[tuple[X, Y]], Generic[X, Y]):
    """Images in the folders ``root/cat/*.jpg``, ``root/dog/*.jpg``, …: each folder is a class, numbered by its name.

    A sample is ``(image, target)``: Float32 ``[3, H, W]`` between 0 and 1, and Int64 ``[]``. Images are read when
    they are asked for. Folders within a class's folder belong to it. The order is torchvision's: classes by name,
    then paths.

    Args:
        root: the folder of the classes' folders.
        transform: from the image as it is read, UInt8 ``[3, H, W]``, to the sample's first item; None for `ToTensor`.
            For batches it has to give one size, as ``Compose([RandomResizedCrop(224), ToTensor()])`` does.
        target_transform: from the class's number (an int) to the sample's second item.
        loader: reads an image, instead of ``read_image(path, "RGB")``; the transform gets its result.
        is_valid_file: whether a path belongs to the dataset, instead of looking at its extension.
        allow_empty: a class may have no image.

    Raises:
        DataError: there is no such folder, no class in it, or a class without images; and when a sample is asked for:
            its file is gone, truncated or no image.

    Examples:
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from simpletorch import data
        >>> for name in ("cat", "dog"):
        ...     Path("pets", name).mkdir(parents=True)
        ...     Image.new("RGB", (8, 8)).save(f"pets/{name}/1.png")
        >>> pets = data.ImageFolder("pets")
        >>> pets.classes, len(pets)
        (['cat', 'dog'], 2)

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.datasets.ImageFolder.html
    """

    classes: list[str]
    """The classes' names, in order."""
    class_to_idx: dict[str, int]
    """The number of each class by its name."""
    samples: list[tuple[str, int]]
    """Path and class of each image."""
    targets: list[int]
    """The class of each image."""

    @overload
    def __init__(
        self: ImageFolder[Tensor[Float32, 3, Any, Any], Tensor[Int64]],
        root: PathLike,
        transform: None = None,
        target_transform: None = None,
        *,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: ImageFolder[X, Tensor[Int64]],
        root: PathLike,
        transform: Callable[[Colour], X],
        target_transform: None = None,
        *,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: ImageFolder[Any, Any],
        root: PathLike,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] = ...,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None: ...
    def __init__(
        self,
        root: PathLike,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] = read_rgb,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.root = Path(root).expanduser()
        self.transform, self.target_transform, self.loader = transform, target_transform, loader
        self.classes = _classes(self.root)
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        valid = is_valid_file or (lambda path: path.lower().endswith(EXTENSIONS))
        self.samples = []
        empty = []
        for number, name in enumerate(self.classes):
            paths = [path for path in _files(self.root / name) if valid(path)]
            self.samples += [(path, number) for path in paths]
            if not paths:
                empty.append(name)
        if empty and not allow_empty:
            known = (
                "is_valid_file takes none of their files" if is_valid_file else f"images end in {', '.join(EXTENSIONS)}"
            )
            raise DataError(
                f"there are no images in {len(empty)} of {len(self.classes)} classes of {self.root}: "
                f"{', '.join(empty[:5])}{', …' if len(empty) > 5 else ''} ({known})",
                hint="add some, delete the folders, or pass allow_empty=True",
            )
        self.targets = [target for _, target in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[X, Y]:
        path, number = self.samples[index]
        image = (self.transform or _to_tensor)(self.loader(path))
        target = torch.tensor(number) if self.target_transform is None else self.target_transform(number)
        return cast("tuple[X, Y]", (image, target))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} samples, {len(self.classes):,} classes, root {self.root})"


def _classes(root: Path) -> list[str]:
    try:
        names = sorted(entry.name for entry in os.scandir(root) if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise DataError(f"can't read the images' folder {root}: {error.strerror}") from error
    if not names:
        raise DataError(f"there is no class in {root}: it needs a folder with images for each class, as root/cat/1.jpg")
    return names


def _files(folder: Path) -> list[str]:
    """All files below ``folder``, folder by folder, each in order of names."""
    return [
        os.path.join(parent, name)
        for parent, _, names in sorted(os.walk(folder, followlinks=True))
        for name in sorted(names)
    ]
