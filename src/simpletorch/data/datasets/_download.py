"""Files from the web: with mirrors, resumed where a connection was cut, used only if their checksum is right."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from filelock import FileLock
from tqdm import tqdm

from simpletorch.errors import DataError

_CHUNK: Final = 1 << 18
_PAUSE_SECONDS: Final = 0.2
_GONE: Final = frozenset((400, 401, 403, 404, 405, 410, 451))  # asking again gives the same answer
_NETWORK_ERRORS: Final = (urllib.error.URLError, http.client.HTTPException, OSError)


def sha256_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's bytes, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(
    urls: str | Sequence[str],
    path: str | os.PathLike[str],
    *,
    sha256: str | None = None,
    progress: bool | None = None,
    timeout: float = 30,
    attempts: int = 3,
) -> Path:
    """Fetch a file from the first of ``urls`` (mirrors of each other) that gives it whole; returns ``path``.

    Bytes go to ``path`` + ``.part`` and get their name only when they are all there and their SHA-256 is right, so a
    file named ``path`` is never a part of one. A cut connection is resumed where it stopped, also by a later call if
    ``sha256`` can prove that both halves belong together. A file that is already there and right is not fetched
    again; processes that want the same file wait for each other.

    Args:
        urls: ``http`` or ``https`` addresses.
        path: the file to write; missing folders are made.
        sha256: 64 hexadecimal digits. Without it a file's length is all that is checked.
        progress: a progress bar on stderr; None shows one on a terminal only.
        timeout: seconds without a byte after which a connection counts as cut.
        attempts: how often each mirror is asked (once, if it says that it doesn't have the file).

    Returns:
        ``path``, as a path.

    Raises:
        DataError: no mirror gave the file (with what each of them said), the disk is full, or the folder can't be
            written.
    """
    addresses = [urls] if isinstance(urls, str) else list(urls)
    path = Path(path)
    if reason := _why_not(addresses, sha256, attempts):
        raise DataError(reason)
    digest = sha256.lower() if sha256 else None
    try:
        if _is_there(path, digest):  # perhaps in a folder that can only be read
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if not _is_there(path, digest):
                _Transfer(path, digest, progress, timeout, attempts).run(addresses)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _is_there(path: Path, sha256: str | None) -> bool:
    return path.is_file() and (sha256 is None or sha256_of(path) == sha256)


def _why_not(addresses: Sequence[str], sha256: str | None, attempts: int) -> str:
    """Why these arguments can't work; "" when they can."""
    if not addresses:
        return "download needs at least one address"
    for address in addresses:
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            return f"{address!r} can't be downloaded: addresses start with http:// or https://"
    if sha256 is not None and (len(sha256) != 64 or set(sha256.lower()) - set("0123456789abcdef")):
        return f"sha256 is {sha256!r}: it must have 64 hexadecimal digits, as sha256sum prints them"
    if attempts < 1:
        return f"attempts is {attempts}: it must be at least 1"
    return ""


class _Cut(Exception):
    """The connection ended before the file did."""


class _Refused(Exception):
    """This mirror will not give the file, however often it is asked."""


@dataclass
class _Transfer:
    path: Path
    sha256: str | None
    progress: bool | None
    timeout: float
    attempts: int
    validator: str = ""  # the ETag or date of what the part was taken from, while it is known

    @property
    def part(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def run(self, addresses: Sequence[str]) -> None:
        """Ask one mirror after the other; leaves the whole file, or raises with what each of them said."""
        answers = []
        for address in addresses:
            self.validator = ""
            if self.sha256 is None:
                self.part.unlink(missing_ok=True)  # nothing could tell that it belongs to what this mirror has
            answer = self._ask(address)
            if answer is None:
                os.replace(self.part, self.path)
                return
            answers.append(f"{address}: {answer}")
        raise DataError(
            f"{self.path.name} could not be downloaded: " + "; ".join(answers),
            hint=f"check the connection and try again, or fetch it by hand and put it at {self.path}",
        )

    def _ask(self, address: str) -> str | None:
        """Why this mirror didn't give the file, or None when it did."""
        said = ""
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(_PAUSE_SECONDS * 2 ** (attempt - 1))
            resumed = self.part.exists()
            try:
                self._fetch(address)
            except _Refused as refusal:
                return str(refusal)
            except _Cut as cut:
                said = str(cut)
                continue
            wrong = self._wrong_bytes()
            if not wrong:
                return None
            self.part.unlink()
            said = wrong
            if not resumed:  # it was this mirror's file from the first byte to the last
                return said
        return f"{said} ({self.attempts} attempts)"

    def _wrong_bytes(self) -> str:
        if self.sha256 is None:
            return ""
        found = sha256_of(self.part)
        return "" if found == self.sha256 else f"wrong bytes, their SHA-256 is {found} but should be {self.sha256}"

    def _fetch(self, address: str) -> None:
        """One request; appends to the part if the server can continue it."""
        provable = self.sha256 is not None or self.validator
        start = self.part.stat().st_size if provable and self.part.exists() else 0
        # "identity", so that lengths and ranges count the file's own bytes, and not those of a compressed answer
        headers = {"User-Agent": "simpletorch", "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
            if self.validator:
                headers["If-Range"] = self.validator
        try:
            with urllib.request.urlopen(
                urllib.request.Request(address, headers=headers), timeout=self.timeout
            ) as answer:
                if start and not _continues(answer, start):
                    start = 0  # the whole file comes again
                self.validator = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
                self._receive(answer, start)
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
                if self.sha256 is None or sha256_of(self.part) != self.sha256:
                    self.part.unlink()
                    raise _Cut("the part that was there is no beginning of this file") from error
                return  # the part was the whole file
            said = f"HTTP status {error.code} ({error.reason})"
            raise (_Refused if error.code in _GONE else _Cut)(said) from error
        except _NETWORK_ERRORS as error:
            raise _Cut(str(getattr(error, "reason", None) or error) or type(error).__name__) from error

    def _receive(self, answer: Any, start: int) -> None:
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        self._check_room(total, start)
        try:
            with (
                self._opened(start) as file,
                tqdm(
                    total=total,
                    initial=start,
                    unit="B",
                    unit_scale=True,
                    unit_divisor=1024,
                    desc=self.path.name,
                    # None is tqdm's word for "on a terminal only"
                    disable=None if self.progress is None else not self.progress,
                ) as bar,
            ):
                got = start + self._copy(answer, file, bar)
        except _DiskFull as error:
            self.part.unlink(missing_ok=True)
            raise self._no_room(total) from error
        if total is not None and got != total:
            raise _Cut(f"the connection was cut after {got:,} of {total:,} bytes")

    def _opened(self, start: int) -> IO[bytes]:
        try:
            return open(self.part, "ab" if start else "wb")
        except OSError as error:
            raise _unwritable(self.part, error) from error

    def _copy(self, answer: Any, file: IO[bytes], bar: tqdm[Any]) -> int:
        count = 0
        while chunk := answer.read(_CHUNK):
            try:
                file.write(chunk)
                file.flush()  # a full disk shows here, and what has come survives a kill
            except OSError as error:
                raise (
                    _DiskFull() if error.errno in (errno.ENOSPC, errno.EDQUOT) else _unwritable(self.part, error)
                ) from error
            count += len(chunk)
            bar.update(len(chunk))
        return count

    def _check_room(self, total: int | None, start: int) -> None:
        if total is not None and total - start > shutil.disk_usage(self.path.parent).free:
            self.part.unlink(missing_ok=True)
            raise self._no_room(total)

    def _no_room(self, total: int | None) -> DataError:
        free = shutil.disk_usage(self.path.parent).free
        needed = "its size isn't known" if total is None else f"it has {total:,} bytes"
        return DataError(
            f"the disk is full: {self.path} can't be written, {needed} and {free:,} are free",
            hint="make room, or give a folder on another disk",
        )


class _DiskFull(Exception):
    """No room for the next bytes."""


def _continues(answer: Any, start: int) -> bool:
    """Whether the answer is the rest of the file from byte ``start`` on."""
    said = str(answer.headers.get("Content-Range", ""))
    return bool(answer.status == http.HTTPStatus.PARTIAL_CONTENT and said.startswith(f"bytes {start}-"))


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"can't write {path}: {error.strerror or error}", hint="give a folder that you may write to")
