"""Archives, unpacked so that nothing in them can reach outside the folder, fill the disk, or be left half done."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import posixpath
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from simpletorch.errors import DataError, as_also

_CHUNK: Final = 1 << 20
_GIB: Final = 1 << 30
_BLOCK: Final = 512  # of a tar file
_PACKED: Final[dict[bytes, Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_DAMAGED: Final = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, gzip.BadGzipFile, ValueError, NotImplementedError),  # the last: an unknown method of compression
)


def extract(
    archive: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    max_bytes: int | None = None,
    max_files: int = 2_000_000,
) -> Path:
    """Unpack a ``tar`` (plain, gzip, bzip2, xz), a ``zip``, or one compressed file into ``folder``; returns the folder.

    The contents of the file decide its kind, not its name. Everything is unpacked beside ``folder`` first and moved
    into it
    when all of it was right: after an error the folder is as it was. Entries that are already in ``folder`` are
    replaced.

    Names that are absolute or lead out of the folder, links to anything but a file of the archive, and devices are
    refused. Links become copies, so no link is ever made. Owners and permissions are not taken over.

    Args:
        archive: the path of the archive.
        folder: the folder to unpack into; it is made if it is missing.
        max_bytes: how much may come out, in bytes; None: 100 times the archive's size, but at least 1 GiB.
        max_files: how many entries there may be.

    Returns:
        ``folder``, as a path.

    Raises:
        DataError: it is no archive, is damaged or truncated, breaks a rule or a limit above, or the disk is full.

    Examples:
        >>> import zipfile
        >>> from simpletorch import data
        >>> with zipfile.ZipFile("pets.zip", "w") as archive:
        ...     archive.writestr("cat/1.txt", "meow")
        >>> (data.extract("pets.zip", "pets") / "cat/1.txt").read_text()
        'meow'
    """
    archive, folder = Path(archive), Path(folder)
    if not archive.is_file():
        raise DataError(f"there is no archive {archive}", hint="download it first, or give its path")
    limit = max(_GIB, 100 * archive.stat().st_size) if max_bytes is None else max_bytes
    with _beside(archive, folder) as fresh:
        target = _Target(archive, fresh, limit, max_files)
        try:
            _unpack(archive, target)
        except _DAMAGED as error:
            raise _damaged(archive, error) from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DataError(
                    f"the disk is full: {archive} can't be unpacked to {folder}",
                    hint="make room, or give another folder",
                ) from error
            # bz2 has no error of its own for bytes that are no bzip2; zipfile seeks where a damaged index says
            if error.errno in (None, errno.EINVAL):
                raise _damaged(archive, error) from error
            if error.errno in _NO_NAMES:
                raise DataError(
                    f"{archive} can't be unpacked: no file can have the name of one of its entries: {error}",
                    hint="names are too long here, or one entry lies in another that is no folder",
                ) from error
            raise _not_written(archive, folder, error) from error
        try:
            _move(fresh, folder)
        except OSError as error:
            raise _not_written(archive, folder, error) from error
    return folder


# entries that are too long, or files in files: names that are right on no disk
_NO_NAMES: Final = (errno.ENAMETOOLONG, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.EILSEQ)


def _not_written(archive: Path, folder: Path, error: OSError) -> DataError:
    return as_also(DataError, type(error))(
        f"{archive} can't be unpacked to {folder}: {error.strerror or error}",
        hint="give a folder that can be written to",
    )


def _damaged(archive: Path, error: Exception) -> DataError:
    return DataError(f"{archive} is damaged or truncated: {error}", hint="delete it and download it again")


@contextmanager
def _beside(archive: Path, folder: Path) -> Iterator[Path]:
    """A fresh folder on the same disk, gone afterwards."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _not_written(archive, folder, error) from error
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _move(fresh: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for entry in fresh.iterdir():
        there = folder / entry.name
        if there.is_dir() and not there.is_symlink():
            shutil.rmtree(there)
        os.replace(entry, there)


@dataclass
class _Target:
    """Where entries are written, with the rules that each must keep."""

    archive: Path
    folder: Path
    max_bytes: int
    max_files: int
    written: int = 0
    count: int = 0
    links: dict[str, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    def refuse(self, name: str, why: str) -> DataError:
        return DataError(
            f"{self.archive} is not unpacked: its entry {name!r} {why}",
            hint="such an archive may be an attack: get it from a source that you trust",
        )

    def inside(self, name: str) -> str:
        """The entry's path below the folder, in one canonical form."""
        # a backslash and a colon would mean a folder and a drive on Windows
        if "\0" in name or "\\" in name or PurePosixPath(name).is_absolute() or ":" in name.split("/")[0]:
            raise self.refuse(name, "has no plain relative name")
        plain = posixpath.normpath(name)
        if plain == ".." or plain.startswith("../"):
            raise self.refuse(name, "would be written outside the folder")
        return plain

    def counted(self, name: str) -> str:
        self.count += 1
        if self.count > self.max_files:
            raise self.refuse(name, f"is one more than the {self.max_files:,} entries allowed (max_files)")
        return self.inside(name)

    def make_folder(self, name: str) -> None:
        (self.folder / self.counted(name)).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, source: IO[bytes], size: int | None) -> None:
        plain = self.counted(name)
        path = self.folder / plain
        path.parent.mkdir(parents=True, exist_ok=True)
        before = self.written
        if plain == ".":
            raise self.refuse(name, "has no name")
        with open(path, "wb") as file:
            while chunk := source.read(_CHUNK):
                self.written += len(chunk)
                if self.written > self.max_bytes:
                    raise self.refuse(name, f"goes over the {self.max_bytes:,} bytes allowed (max_bytes)")
                file.write(chunk)
        if size is not None and self.written - before != size:
            raise tarfile.ReadError(f"{name} has {self.written - before} of {size} bytes")
        self.files.add(plain)

    def link(self, name: str, to: str) -> None:
        """Remember a link to the entry ``to`` (a path from the archive's top)."""
        self.links[self.counted(name)] = to

    def copy_links(self) -> None:
        """Write each link as a copy of the file it leads to, perhaps over other links."""
        for name in self.links:
            to, seen = name, set()
            while to in self.links and to not in seen:
                seen.add(to)
                to = self.inside_link(name, self.links[to])
            if to not in self.files:
                raise self.refuse(name, f"is a link to {to!r}, which is no file of the archive")
            with open(self.folder / to, "rb") as source:
                self.count -= 1  # it was counted when it was met
                self.write(name, source, None)

    def inside_link(self, name: str, to: str) -> str:
        plain = posixpath.normpath(to)
        if PurePosixPath(to).is_absolute() or plain == ".." or plain.startswith("../"):
            raise self.refuse(name, f"is a link to {to!r}, outside the folder")
        return plain


def _unpack(archive: Path, target: _Target) -> None:
    with open(archive, "rb") as file:
        head = file.read(6)
    # both, because is_zipfile looks at the end of a file, where anything may have a zip appended
    if zipfile.is_zipfile(archive) and head[:2] == b"PK":
        _unpack_zip(archive, target)
    elif tarfile.is_tarfile(archive):
        _unpack_tar(archive, target)
    else:
        _unpack_one(archive, head, target)
    target.copy_links()


def _unpack_tar(archive: Path, target: _Target) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isdir():
                target.make_folder(member.name)
            elif member.isfile():
                source = tar.extractfile(member)
                assert source is not None, "a regular member has content"
                target.write(member.name, source, member.size)
            elif member.issym():
                # a symbolic link counts from its own folder, a hard link from the archive's top
                target.link(member.name, posixpath.join(posixpath.dirname(member.name), member.linkname))
            elif member.islnk():
                target.link(member.name, member.linkname)
            else:
                raise target.refuse(member.name, "is a device or a pipe")
        # tarfile takes a file that was cut between two entries for whole; a whole one ends with blocks of zeros
        assert tar.fileobj is not None, "an open archive has a file"
        tar.fileobj.seek(tar.offset)
        if tar.fileobj.read(_BLOCK) != bytes(_BLOCK):
            raise tarfile.ReadError("its end is missing")
        behind = 0
        while chunk := tar.fileobj.read(_CHUNK):  # a compressed file's checksum stands at its end
            behind += len(chunk)
            if behind > max(_GIB, target.max_bytes):
                raise target.refuse("at its end", f"goes over the {target.max_bytes:,} bytes allowed (max_bytes)")


def _unpack_zip(archive: Path, target: _Target) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            if member.flag_bits & 1:
                raise target.refuse(member.filename, "is encrypted")
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir():
                target.make_folder(member.filename)
            elif kind == stat.S_IFLNK:
                # longer than a path can be: "/" is refused like every absolute one
                to = zipped.read(member).decode() if member.file_size <= 4096 else "/"
                target.link(member.filename, posixpath.join(posixpath.dirname(member.filename), to))
            # 0: written where files have no Unix mode
            elif kind in (0, stat.S_IFREG):
                with zipped.open(member) as source:
                    target.write(member.filename, source, member.file_size)
            else:
                raise target.refuse(member.filename, "is a device or a pipe")


def _unpack_one(archive: Path, head: bytes, target: _Target) -> None:
    """A single compressed file, which gets the archive's name without its last suffix."""
    for start, opened in _PACKED.items():
        if head.startswith(start):
            with opened(archive) as source:
                target.write(archive.stem, source, None)
            return
    raise DataError(
        f"{archive} is no archive that is known here: its first bytes are {head!r}",
        hint="tar, tar.gz, tar.bz2, tar.xz, zip, gz, bz2 and xz are; if it was downloaded, it may be an error page",
    )
