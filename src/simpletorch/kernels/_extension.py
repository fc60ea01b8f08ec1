"""`extension`: C++ and CUDA sources, compiled when they are first needed and loaded as a module."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Final

import torch
from filelock import FileLock

from simpletorch.errors import BackendError

__all__ = ["extension"]

_MOST_ERRORS: Final = 5
_CUDA: Final = (".cu", ".cuh")
_ERROR: Final = re.compile(r"^(?P<file>[^:\s][^:]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<message>.*)$", re.M)
_NVCC_ERROR: Final = re.compile(
    r"^(?P<file>[^(\s]+)\((?P<line>\d+)\): (?:catastrophic )?error:? (?P<message>.*)$", re.M
)
_LINKER_ERROR: Final = re.compile(r"^.*(?:undefined reference to|cannot find -l|undefined symbol).*$", re.M)


def extension(
    sources: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    name: str | None = None,
    openmp: bool = False,
    flags: Sequence[str] = (),
    cuda_flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    include: Sequence[str | PathLike[str]] = (),
    verbose: bool = False,
) -> ModuleType:
    """Compile C++ (and CUDA) sources, and import the result, as `torch.utils.cpp_extension.load` does.

    ::

        native = kernels.extension("relu_add.cpp", openmp=True)

        @relu_add.cpu
        def _(x: Tensor, y: Tensor) -> Tensor:
            return native.relu_add(x.contiguous(), y.contiguous())

    The build is kept, under a name made of the sources' text, the flags, the compiler and the versions of torch and
    Python, so it is done once and never stale. Several processes wait for the one that builds; they don't wait for
    one that was killed. It lies in ``TORCH_EXTENSIONS_DIR``, or where torch keeps its extensions.

    Args:
        sources: one file or several; relative to the file that calls this.
        name: the module's name, in the sources ``TORCH_EXTENSION_NAME``; by default that of the first source.
        openmp: whether to compile and link with OpenMP.
        flags: more flags for the C++ compiler; it gets ``-O3``.
        cuda_flags: flags for nvcc, which compiles ``.cu`` files.
        link_flags: flags for the linker.
        include: folders of headers, relative to the file that calls this.
        verbose: whether to show the output of the build.

    Returns:
        The compiled module.

    Raises:
        ValueError: there is no source.
        FileNotFoundError: a source isn't there.
        BackendError: there is no compiler, no ninja or no nvcc, or the sources don't compile: the compiler's first
            errors are its ``details``.
    """
    folder = _folder_of(sys._getframe(1).f_globals.get("__file__"))
    given = [sources] if isinstance(sources, str | PathLike) else list(sources)
    if not given:
        raise ValueError("extension() needs at least one source")
    files = [_found(folder, source) for source in given]
    name = name or re.sub(r"\W", "_", files[0].stem)
    compiler = _needed(files, name)
    cflags = ["-O3", *flags, *(["-fopenmp"] if openmp else [])]
    ldflags = [*link_flags, *(["-fopenmp"] if openmp else [])]
    settings = (cflags, list(cuda_flags), ldflags, [str(folder / path) for path in include])
    build = _build_folder(name, files, compiler, settings)
    build.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{build}.lock"), _ninja_in_path(name):
        # torch waits for this file of its own as long as it is there, and who was killed has left it behind
        (build / "lock").unlink(missing_ok=True)
        return _load(name, files, build, settings, verbose)


def _folder_of(caller: str | None) -> Path:
    """The folder of the file that calls; in a notebook the current one."""
    return Path.cwd() if caller is None else Path(caller).resolve().parent


def _found(folder: Path, source: str | PathLike[str]) -> Path:
    path = folder / source
    if not path.is_file():
        raise FileNotFoundError(f"{path} isn't there; the sources of an extension are looked for beside {folder}")
    return path


def _needed(files: Sequence[Path], name: str) -> str:
    """The C++ compiler.

    Raises:
        BackendError: something that the build needs isn't there.
    """
    compiler = os.environ.get("CXX", "cl" if sys.platform == "win32" else "c++")
    found = shutil.which(compiler)
    operation = f"extension({name})"
    if found is None:
        reason = f"there is no C++ compiler {compiler!r}"
        raise BackendError(reason, operation=operation, hint="apt install g++, or name another in the variable CXX")
    if any(file.suffix in _CUDA for file in files):
        from torch.utils.cpp_extension import CUDA_HOME, ROCM_HOME

        if CUDA_HOME is None and ROCM_HOME is None:
            sources = ", ".join(file.name for file in files if file.suffix in _CUDA)
            reason = f"there is no CUDA toolkit to compile {sources}: no nvcc in the path, and CUDA_HOME isn't set"
            raise BackendError(reason, operation=operation)
    return found


@contextmanager
def _ninja_in_path(name: str) -> Iterator[None]:
    """While it lasts ninja is found, also the one in the folder of a Python that isn't activated.

    Raises:
        BackendError: there is none.
    """
    before = os.environ.get("PATH", "")
    beside = Path(sys.executable).parent
    if shutil.which("ninja") is None:
        if shutil.which("ninja", path=str(beside)) is None:
            reason = "there is no ninja, with which torch builds extensions"
            raise BackendError(reason, operation=f"extension({name})", hint="pip install ninja")
        os.environ["PATH"] = f"{beside}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _build_folder(name: str, files: Sequence[Path], compiler: str, settings: object) -> Path:
    from torch.utils.cpp_extension import get_default_build_root

    key = hashlib.sha256()
    for file in files:
        key.update(f"{file}\0".encode() + file.read_bytes() + b"\0")
    key.update(repr((compiler, settings, torch.__version__, torch.version.cuda, sys.version)).encode())
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or get_default_build_root())
    return root / "simpletorch" / f"{name}-{key.hexdigest()[:16]}"


def _load(
    name: str,
    files: Sequence[Path],
    build: Path,
    settings: tuple[list[str], list[str], list[str], list[str]],
    verbose: bool,
) -> ModuleType:
    from torch.utils.cpp_extension import load

    cflags, cuda_flags, ldflags, include = settings
    try:
        module: ModuleType = load(
            name,
            [str(file) for file in files],
            extra_cflags=cflags,
            extra_cuda_cflags=cuda_flags,
            extra_ldflags=ldflags,
            extra_include_paths=include,
            build_directory=str(build),
            verbose=verbose,
        )
    except (RuntimeError, ImportError) as error:
        raise _explained(name, error) from error
    return module


def _explained(name: str, error: Exception) -> BackendError:
    """The first things that the compiler or the linker found wrong."""
    text = str(error)
    found = [
        f"{Path(match['file']).name}:{match['line']}: {match['message']}"
        for pattern in (_ERROR, _NVCC_ERROR)
        for match in pattern.finditer(text)
    ] or [match[0].strip() for match in _LINKER_ERROR.finditer(text)]
    lines = list(dict.fromkeys(found))
    if not lines:
        return BackendError(
            text.strip().splitlines()[-1] if text.strip() else repr(error), operation=f"extension({name})"
        )
    more = len(lines) - _MOST_ERRORS
    details = [*lines[1:_MOST_ERRORS], *([f"and {more} more"] if more > 0 else [])]
    return BackendError(lines[0], operation=f"extension({name})", details=details)
