"""Files that are either there in full or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from simpletorch.errors import CheckpointError, as_also

StrPath: TypeAlias = str | os.PathLike[str]


@contextmanager
def replacing(path: Path, size: int | None = None) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` when the block ends, and vanishes when it fails.

    It is written beside ``path``, flushed to the disk and renamed, which the file system does in one step: whatever
    happens, ``path`` is the old file or the new one, in full. Folders are made as needed. A symbolic link stays: the
    file that it leads to is replaced.

    Args:
        size: how many bytes are going to be written, for the message when they find no room.

    Raises:
        CheckpointError: ``path`` is no regular file or leads to none, the disk is full, the folder can't be written to,
            …: the system's error with what it is about. It is also of the system's class, such as `PermissionError`.
    """
    path = replaceable(path)
    new = _unfinished(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # "x": never into a file that is there already
        with open(new, "xb") as file:
            yield file
            file.flush()
            # before the rename: some file systems would put the new name on the disk before the bytes
            os.fsync(file.fileno())
        os.replace(new, path)
        _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _explained(error, path, size) from error
        raise


def replaceable(path: Path) -> Path:
    """The file that a new one at ``path`` replaces: ``path`` itself, or what a symbolic link there leads to.

    Raises:
        CheckpointError: there is something that is no regular file, or a link that leads nowhere.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if not path.is_symlink():
            return path  # there is nothing yet, or the system says why when it is written
        raise as_also(CheckpointError, OSError)(
            f"can't write {path}: it is a symbolic link to {os.readlink(path)}, which is no file",
            hint="remove the link, or make the file that it leads to",
        ) from error
    if not stat.S_ISREG(mode):
        raise _irregular("write", path, mode)
    return path.resolve() if path.is_symlink() else path


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading: all that is read of it is of one version, whoever replaces it meanwhile.

    Raises:
        CheckpointError: there is none, it is something else (a folder, a device, a pipe), or it can't be read. It is
            also of the system's class, such as `FileNotFoundError`.
    """
    try:
        # without O_NONBLOCK, which regular files ignore, opening a pipe without a writer would wait
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            mode = os.fstat(number).st_mode
            if not stat.S_ISREG(mode):
                raise _irregular("read", path, mode)
            file = os.fdopen(number, "rb", closefd=False)
        except BaseException:
            os.close(number)
            raise
    except CheckpointError:
        raise
    except (OSError, ValueError) as error:  # the latter: a name with a null character
        raise unreadable(path, error) from error
    try:
        yield file
    except CheckpointError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(number)


def unreadable(path: Path, error: OSError | ValueError) -> CheckpointError:
    """The system's words about a file that can't be read, with the exception's class."""
    if isinstance(error, OSError):
        return as_also(CheckpointError, type(error))(f"can't read {path}: {error.strerror or error}")
    return CheckpointError(f"can't read {path}: {error}")


_KINDS: Final = (
    (stat.S_ISDIR, IsADirectoryError, "a folder"),
    (stat.S_ISFIFO, OSError, "a pipe"),
    (stat.S_ISSOCK, OSError, "a socket"),
    (stat.S_ISCHR, OSError, "a device"),
    (stat.S_ISBLK, OSError, "a device"),
)


def _irregular(what: str, path: Path, mode: int) -> CheckpointError:
    also, name = next(((also, name) for test, also, name in _KINDS if test(mode)), (OSError, "something else"))
    return as_also(CheckpointError, also)(
        f"can't {what} {path}: it is {name}, not a file", hint="give the path of a file in a folder"
    )


def try_folder(folder: Path) -> None:
    """See that files can be written to ``folder``, which is made as needed; none is left.

    Raises:
        CheckpointError: as for `replacing`, or a file is where the folder should be.
    """
    new = _unfinished(folder / "try")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(new, "xb") as file:
            file.write(bytes(1))  # a full disk still takes a name
            file.flush()
            os.fsync(file.fileno())
        new.unlink()
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        in_the_way = next((path for path in (folder, *folder.parents) if path.exists() and not path.is_dir()), None)
        if in_the_way is None:
            raise _explained(error, folder, None) from error
        raise as_also(CheckpointError, type(error))(
            f"can't make the folder {folder}: {in_the_way} is a file",
            hint="choose another folder, or move the file out of the way",
        ) from error


_FLUSHED_AT_ONCE: Final = 1 << 25
_flush: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)  # macOS and Windows have no fdatasync


@contextmanager
def flushing(file: BinaryIO) -> Iterator[Callable[[memoryview], object]]:
    """A ``write`` for large files that has the disk at work from the beginning, and not only when all is written.

    A writer that computes a checksum then doesn't wait for the disk as well.

    Raises:
        OSError: the disk could not take it. The system says so once, to whoever flushes first.
    """
    with ThreadPoolExecutor(1, "flush") as executor:
        pending: Future[None] | None = None
        unflushed = 0

        def write(chunk: memoryview) -> None:
            nonlocal pending, unflushed
            file.write(chunk)
            unflushed += len(chunk)
            if unflushed >= _FLUSHED_AT_ONCE and (pending is None or pending.done()):
                if pending is not None:
                    pending.result()
                pending, unflushed = executor.submit(_flush, file.fileno()), 0

        yield write
        if pending is not None:
            pending.result()


def duplicate(path: Path, other: Path) -> None:
    """Let ``other`` be the same file as ``path``, in one step; a copy where the file system has no hard links.

    Raises:
        CheckpointError: as for `replacing`.
    """
    path, other = path.resolve(), replaceable(other)  # a link to a link would be another way to one file, no second
    new = _unfinished(other)
    try:
        os.link(path, new)
        os.replace(new, other)
        _sync_folder(other.parent)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        with replacing(other) as target, open(path, "rb") as source:  # so that either one's error is explained
            shutil.copyfileobj(source, target, 1 << 22)


def _sync_folder(folder: Path) -> None:
    """Have the disk remember the new name too."""
    if os.name != "posix":
        return  # Windows can't open a folder; its rename is journalled
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(error: OSError, path: Path, size: int | None) -> CheckpointError:
    reason = f"can't write {path}: {error.strerror or error}"
    hint = "what was there before is untouched"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        with suppress(OSError):
            free = shutil.disk_usage(path.parent).free
            reason += f" ({'' if size is None else f'{size / 2**20:,.1f} MiB needed, '}{free / 2**20:,.1f} MiB free)"
        hint += "; make room, keep fewer checkpoints, or choose another folder"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint += "; choose a folder that you may write to, or change its permissions"
    elif error.errno in (errno.ENOTDIR, errno.EISDIR, errno.EEXIST):
        hint += "; give the path of a file in a folder"
    return as_also(CheckpointError, type(error))(reason, hint=hint)


# several machines may share a folder, and a process id means something on its own machine only
_HOST: Final = re.sub(r"\W", "_", socket.gethostname())


def _unfinished(path: Path) -> Path:
    """A new name beside ``path`` that says whose it is, for `remove_leftovers`."""
    return path.with_name(f".{path.name}.{_HOST}-{os.getpid()}-{secrets.token_hex(4)}.tmp")


@contextmanager
def workshop(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` in which a file is made, and which vanishes.

    Raises:
        OSError: there is no place for it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = _unfinished(path)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine were making in ``folder``, unfinished files and `workshop`, when killed."""
    for leftover in folder.glob(f".*.{_HOST}-*.tmp"):
        process = int(leftover.name.rsplit("-", 2)[1])
        if _is_running(process):
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing, but fails if there is no such process
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it is there, and another user's
    return True
