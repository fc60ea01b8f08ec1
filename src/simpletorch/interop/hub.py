"""Models from a folder or a repository that has a ``hubconf.py``: pinned, explicitly trusted, and typed.

::

    model = hub.load("models/mine", "encoder", trust=True)
    model = hub.load("pytorch/vision:96e779759f74384da5c54db571b9ad0b90c6f4ee", "resnet18", trust=True)

`torch.hub` runs code of others, so loading needs trust. So a repository is named with the commit that was read, and
``trust`` is required.

Source: https://docs.pytorch.org/docs/stable/hub.html
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch import nn

from simpletorch.checks import outer_names
from simpletorch.data import extract
from simpletorch.errors import BackendError, DataError, TorchError, TypeMismatch, as_also
from simpletorch.interop._typed import attach_signature

__all__ = ["entry_points", "load"]

_REPOSITORY: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?::(?P<commit>.*))?")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_CONFIG: Final = "hubconf.py"


def load(
    repo: str | os.PathLike[str],
    name: str,
    *args: Any,
    trust: bool = False,
    signature: object = None,
    **options: Any,
) -> nn.Module:
    """The model that ``name`` in a repository's ``hubconf.py`` makes.

    A repository on GitHub is fetched once, into `torch.hub`'s folder; from then on no network is needed.

    Args:
        repo: a folder, or ``"owner/name:commit"`` with all 40 digits of the commit. A folder of this name comes first.
        name: the entry point, a function in ``hubconf.py`` (`entry_points`).
        args: for the entry point.
        trust: that the repository's code may run; False is refused.
        signature: of the model's call, see `simpletorch.interop.typed`.
        options: for the entry point.

    Raises:
        TorchError: (a `ValueError` too) the repository isn't pinned or trusted, has no valid name, or lacks the entry
            point.
        DataError: the repository can't be fetched, or has no readable ``hubconf.py``.
        BackendError: it needs packages that are not installed.
        TypeMismatch: (a `TypeError` too) its result isn't a module, or the signature doesn't fit it.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch.interop import hub
        >>> _ = Path("hubconf.py").write_text("import torch\\n\\ndef small():\\n    return torch.nn.Linear(8, 3)\\n")
        >>> hub.load(".", "small", trust=True)
        Linear(in_features=8, out_features=3, bias=True)
    """
    error = as_also(TorchError, ValueError)
    folder = Path(repo)
    is_local = folder.is_dir()
    if not is_local:
        _refuse_unpinned(os.fspath(repo))
    if trust is not True:
        reason = f"{os.fspath(repo)} has code of its own, which would run here; trust=True says that it may"
        raise error(reason, operation="hub.load")
    if not is_local:
        folder = _fetched(os.fspath(repo))
    names = entry_points(folder)
    if name not in names:
        reason = f"{os.fspath(repo)} has no {name!r}; its {_CONFIG} has {', '.join(names) or 'nothing public'}"
        raise error(reason, operation="hub.load", expected=names, got=name)
    try:
        model = torch.hub.load(str(folder), name, *args, source="local", **options)
    except RuntimeError as cause:
        if not str(cause).startswith("Missing dependencies"):
            raise
        raise BackendError(f"{os.fspath(repo)}: {cause}", operation="hub.load", hint="pip install them") from cause
    if not isinstance(model, nn.Module):
        what = type(model).__name__
        reason = f"{name} of {os.fspath(repo)} makes a {what}, no module"
        raise as_also(TypeMismatch, TypeError)("Module", what, reason, operation="hub.load")
    if signature is not None:
        attach_signature(model, signature, outer_names(sys._getframe(1)))
    return model


def entry_points(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """The entry points of a folder's ``hubconf.py``, by name; it is read, and none of it runs.

    Args:
        folder: the folder of a repository.

    Raises:
        DataError: there is no such file, or it is no Python.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch.interop import hub
        >>> _ = Path("hubconf.py").write_text("import torch\\n\\ndef small():\\n    return torch.nn.Linear(8, 3)\\n")
        >>> hub.entry_points(".")
        ('small',)
    """
    path = Path(folder) / _CONFIG
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except OSError as cause:
        reason = f"{folder} has no {_CONFIG} that can be read: {cause.strerror}"
        raise DataError(reason, operation="hub.load") from cause
    except (SyntaxError, ValueError) as cause:
        raise DataError(f"{path} is no Python: {cause}", operation="hub.load") from cause
    found: list[str] = []
    for statement in ast.walk(tree):
        # also under `if` and `try`; what is inside of a function isn't offered, and isn't found by torch either
        if isinstance(statement, ast.FunctionDef) and statement.col_offset == 0:
            found.append(statement.name)
        elif isinstance(statement, ast.ImportFrom):  # `import torch` binds a module, which is none
            found += [alias.asname or alias.name for alias in statement.names]
        elif isinstance(statement, ast.Assign):
            found += [target.id for target in statement.targets if isinstance(target, ast.Name)]
    hidden = ("_", "*")
    return tuple(dict.fromkeys(name for name in found if not name.startswith(hidden) and name != "dependencies"))


def _refuse_unpinned(repo: str) -> None:
    """Raise a `TorchError` for what is neither a folder nor a repository with a commit."""
    error = as_also(TorchError, ValueError)
    match = _REPOSITORY.fullmatch(repo)
    if match is None:
        reason = f"{repo!r} is neither a folder nor owner/name:commit of a repository on GitHub"
        raise error(reason, operation="hub.load")
    name, commit = match["name"], match["commit"]
    if commit is None or not _COMMIT.fullmatch(commit):
        what = "no commit" if commit is None else f"{commit!r}, which may be another tomorrow"
        reason = f"{name} is named with {what}; what is loaded runs here, so it has to be pinned"
        hint = f"{name}:COMMIT, all 40 digits: git ls-remote https://github.com/{name} HEAD says the newest"
        raise error(reason, operation="hub.load", hint=hint)


def _fetched(repo: str) -> Path:
    """The folder with the files of a repository at a commit, fetched if it isn't there."""
    name, _, commit = repo.partition(":")
    home = Path(torch.hub.get_dir())
    folder = home / f"{name.replace('/', '_')}_{commit}"  # as torch.hub names it
    if folder.is_dir():
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home) as work:
            archive = Path(work, "repository.zip")
            torch.hub.download_url_to_file(f"https://github.com/{name}/zipball/{commit}", str(archive), progress=False)
            extract(archive, Path(work, "files"))  # which keeps what is named elsewhere out, and bombs
            (inner,) = Path(work, "files").iterdir()
            # in one step, so that no other process finds half of it
            inner.rename(folder)
    except (OSError, ValueError, DataError) as cause:  # what urllib raises is an OSError
        if folder.is_dir():  # another process was as fast
            return folder
        hint = (
            f"git clone https://github.com/{name} where there is a network, git checkout {commit}, and load that folder"
        )
        reason = f"{repo} can't be fetched from GitHub: {cause.reason if isinstance(cause, DataError) else cause}"
        raise DataError(reason, operation="hub.load", hint=hint) from cause
    return folder
