"""Text: the lines of a file, and characters as numbers for language models."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np
import torch

from simpletorch.data._dataset import Dataset
from simpletorch.data.datasets._images import PathLike
from simpletorch.dims import Dim
from simpletorch.dtypes import Int64
from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.tensor import Tensor

T = TypeVar("T")

_NEWLINE: Final = ord("\n")
_RETURN: Final = ord("\r")


class Lines(Dataset[str]):
    """The lines of a text file without their ends (``\\n`` or ``\\r\\n``); read when they are asked for.

    The file is mapped into memory, and only the places of its lines are kept, so it may be larger than memory; a
    gzipped one is unpacked into memory. Worker processes map it again.

    Args:
        path: of the file.
        encoding: of its text.
        keep_empty: keep lines with nothing in them.

    Raises:
        DataError: the file is missing or damaged, or, when a line is asked for, it is not in this encoding.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data
        >>> with open("poem.txt", "w") as file:
        ...     print("one", file=file)
        ...     print("two", file=file)
        >>> lines = data.Lines("poem.txt")
        >>> len(lines), lines[1]
        (2, 'two')
    """

    def __init__(self, path: PathLike, encoding: str = "utf-8", keep_empty: bool = False) -> None:
        self.path, self.encoding, self.keep_empty = Path(path).expanduser(), encoding, keep_empty
        self._content = _content(self.path)
        self._spans = _spans(np.frombuffer(self._content, dtype=np.uint8), keep_empty)

    def __len__(self) -> int:
        return len(self._spans)

    def __getitem__(self, index: int) -> str:
        start, end = self._spans[index].tolist()
        try:
            return self._content[start:end].decode(self.encoding)
        except (UnicodeDecodeError, LookupError) as error:
            raise DataError(
                f"line {index} of {self.path} is no {self.encoding} text: {error}",
                hint="pass the encoding that the file has, such as encoding='latin-1'",
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapped file can't be pickled
        return type(self), (self.path, self.encoding, self.keep_empty)


def lines(path: PathLike, encoding: str = "utf-8", keep_empty: bool = False) -> Lines:
    """The lines of a text file, gzipped or not, as a dataset of `str`; `Lines` says more.

    Args:
        path, encoding, keep_empty: as for `Lines`.

    Returns:
        A dataset of `str`, read when a line is asked for.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data
        >>> with open("poem.txt", "w") as file:
        ...     print("one", file=file)
        ...     print("two", file=file)
        >>> list(data.lines("poem.txt"))
        ['one', 'two']
    """
    return Lines(path, encoding, keep_empty)


def _content(path: Path) -> bytes | mmap.mmap:
    try:
        with open(path, "rb") as file:
            if file.read(2) == b"\x1f\x8b":
                file.seek(0)
                return gzip.GzipFile(fileobj=file).read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged or truncated: {error}", hint="get the file again") from error
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror}") from error


def _spans(content: np.ndarray[Any, Any], keep_empty: bool) -> np.ndarray[Any, Any]:
    """Where each line starts and ends: Int64 ``[n, 2]``."""
    ends = np.flatnonzero(content == _NEWLINE)
    if len(content) and content[-1] != _NEWLINE:
        ends = np.append(ends, len(content))  # the last line may lack its end
    starts = np.concatenate([ends[:0], [0], ends[:-1] + 1])[: len(ends)]
    filled = ends > starts
    ends = ends - (filled & (content[np.maximum(ends, 1) - 1] == _RETURN) if len(ends) else 0)
    spans = np.stack([starts, ends], 1).astype(np.int64)
    return spans if keep_empty else spans[spans[:, 1] > spans[:, 0]]


class CharTokens(Dataset[tuple[Tensor[Int64, T], Tensor[Int64, T]]], Generic[T]):
    """Characters as numbers, to train a model that predicts the next one.

    Sample ``i`` is ``(inputs, targets)``, both Int64 ``[context]``: ``context`` characters from place ``i * stride``
    on, and the same shifted by one. So ``targets[t]`` is the character after ``inputs[: t + 1]``. Batches are gathered
    at once.

    Args:
        text: all of it, in memory.
        context: how many characters a sample has.
        stride: how many characters further the next sample starts; ``context`` gives samples without overlap.
        vocabulary: the characters in the order of their numbers, such as another dataset's; None: those of the text,
            sorted.

    Raises:
        DataError: the text is too short for one sample, or has a character that is not in the vocabulary.
        IndexError: there is no sample of this number.

    Examples:
        >>> from simpletorch import data
        >>> tokens = data.CharTokens("to be or not to be", context=5)
        >>> inputs, targets = tokens[0]
        >>> tokens.decode(inputs), tokens.decode(targets)
        ('to be', 'o be ')

    Source: Karpathy 2015, https://karpathy.github.io/2015/05/21/rnn-effectiveness/
    """

    def __init__(self, text: str, context: Dim[T], stride: int = 1, vocabulary: Sequence[str] | None = None) -> None:
        if context < 1 or stride < 1:
            raise DataError(f"context is {context} and stride is {stride}: both must be at least 1")
        if len(text) < context + 1:
            raise DataError(
                f"a sample needs {context + 1} characters (context and one more), but the text has {len(text)}"
            )
        self.context, self.stride = int(context), stride
        self.vocabulary = tuple(sorted(set(text)) if vocabulary is None else vocabulary)
        if len(set(self.vocabulary)) < len(self.vocabulary) or any(
            len(character) != 1 for character in self.vocabulary
        ):
            raise DataError("the vocabulary must have single characters, none of them twice")
        self._numbers = {character: number for number, character in enumerate(self.vocabulary)}
        self.tokens = self.encode(text)

    @classmethod
    def from_file(
        cls,
        path: PathLike,
        context: Dim[T],
        stride: int = 1,
        vocabulary: Sequence[str] | None = None,
        encoding: str = "utf-8",
    ) -> CharTokens[T]:
        """The same from a text file, gzipped or not.

        Args:
            path: the text file.
            context, stride, vocabulary: as for `CharTokens`.
            encoding: of the file, such as ``"latin-1"``.

        Returns:
            The dataset.
        """
        try:
            text = bytes(_content(Path(path).expanduser())).decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is no {encoding} text: {error}", hint="pass the encoding that it has") from error
        return cls(text, context, stride, vocabulary)

    tokens: Tensor[Int64, Any]
    """The whole text, Int64 ``[N]``."""

    def encode(self, text: str) -> Tensor[Int64, Any]:
        """Its characters' numbers: Int64 ``[len(text)]``.

        Args:
            text: characters that are all in the vocabulary.

        Raises:
            DataError: a character is not in the vocabulary.
        """
        try:
            return torch.tensor([self._numbers[character] for character in text], dtype=torch.int64)
        except KeyError as error:
            character = error.args[0]
            raise DataError(
                f"character {character!r} at place {text.index(character)} is not among the {len(self.vocabulary)} "
                "of the vocabulary",
                hint="pass a vocabulary that has all characters, such as sorted(set(train_text + test_text))",
            ) from error

    def decode(self, tokens: Tensor[Int64, Any]) -> str:
        """The text of these numbers, Int64 ``[n]``.

        Args:
            tokens: numbers from 0 to ``len(vocabulary) - 1``.

        Raises:
            ShapeMismatch: they are not in one row.
            DataError: a number that no character has.
        """
        if tokens.ndim != 1:
            raise ShapeMismatch("[n]", list(tokens.shape), f"decode takes numbers [n], but got {list(tokens.shape)}")
        numbers = tokens.tolist()
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(self.vocabulary):
            raise DataError(
                f"tokens go from {min(numbers)} to {max(numbers)}, but there are {len(self.vocabulary)} characters"
            )
        return "".join([self.vocabulary[number] for number in numbers])

    def __len__(self) -> int:
        return (len(self.tokens) - self.context - 1) // self.stride + 1

    def __getitem__(self, index: int) -> tuple[Tensor[Int64, T], Tensor[Int64, T]]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"sample {index} of {len(self)}")
        start = index % len(self) * self.stride
        window = self.tokens[start : start + self.context + 1]
        return cast("tuple[Tensor[Int64, T], Tensor[Int64, T]]", (window[:-1], window[1:]))

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[Tensor[Int64, T], Tensor[Int64, T]]]:
        """The samples at ``indices``, as loaders ask for a batch of them."""
        starts = torch.as_tensor(indices, dtype=torch.int64) % len(self) * self.stride
        windows = self.tokens[starts.unsqueeze(1) + torch.arange(self.context + 1)]
        found = zip(windows[:, :-1].unbind(), windows[:, 1:].unbind(), strict=True)
        return cast("list[tuple[Tensor[Int64, T], Tensor[Int64, T]]]", list(found))
