"""A model that a command's argument names: ``net:Net``, ``net.py:Net(784, 10)``."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from simpletorch.cli._following.progress import Progress

__all__ = ["Failed", "NotFound", "arguments", "built", "said"]

_TARGET: Final = re.compile(r"(?P<module>.+?):(?P<name>[A-Za-z_][\w.]*)(?:\((?P<arguments>.*)\))?")


class NotFound(Exception):
    """The named object isn't there, or isn't a model; the message is for the user."""


class Failed(Exception):
    """The model can't be built or called."""


def built(target: str) -> Any:
    """The model: on the meta device where its constructor allows it, so that no weights are allocated."""
    with Progress(name="loading torch"):
        importlib.import_module("simpletorch.nn")  # which takes longer than torch alone; the commands need it anyway
    from torch import nn

    matched = _TARGET.fullmatch(target)
    if matched is None:
        raise NotFound(f"{target!r} names no model; write MODULE:CLASS, such as net:Net or net.py:Net(784, 10)")
    found: Any = _module(matched["module"])
    for part in matched["name"].split("."):
        if not hasattr(found, part):
            models = [n for n, v in vars(found).items() if isinstance(v, type) and issubclass(v, nn.Module)]
            known = f"; its models are {', '.join(models)}" if models else ""
            raise NotFound(f"{matched['module']} has no {matched['name']}{known}")
        found = getattr(found, part)
    if not isinstance(found, nn.Module):
        found = _called(found, *arguments(matched["arguments"] or ""), target)
    if not isinstance(found, nn.Module):
        raise NotFound(f"{target} is no torch.nn.Module, but of type {type(found).__name__}")
    return found


def _module(name: str) -> ModuleType:
    """A module by its dotted name, found from the current folder too, or by its file."""
    path = Path(name)
    folder = str(path.parent.resolve() if path.suffix == ".py" else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        if path.suffix != ".py":
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise NotFound(f"there is no file {name}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses and pickle look it up there
        spec.loader.exec_module(module)
        return module
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise NotFound(f"there is no module {name}") from error
        raise Failed(said(error)) from error
    except NotFound:
        raise
    except Exception as error:
        raise Failed(said(error)) from error


def arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """The constructor's arguments: literals only, nothing is evaluated."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or any(k.arg is None for k in call.keywords):
            raise ValueError
        args = [ast.literal_eval(a) for a in call.args]
        return args, {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg is not None}
    except (SyntaxError, ValueError) as error:
        raise NotFound(
            f"({text}) are no arguments; write numbers, strings, tuples, lists: (784, hidden=[128])"
        ) from error


def _called(build: Any, args: Sequence[Any], kwargs: dict[str, Any], target: str) -> Any:
    import torch

    if not callable(build):
        return build
    try:
        with torch.device("meta"):
            return build(*args, **kwargs)
    except Exception:  # a constructor that needs values, of a linspace for example
        try:
            return build(*args, **kwargs)
        except TypeError as error:
            hint = f"; arguments go behind the name: {target.partition('(')[0]}(784, 10)"
            raise Failed(said(error) + hint) from error
        except Exception as error:
            raise Failed(said(error)) from error


def said(error: Exception) -> str:
    from simpletorch.errors import TorchError

    return str(error) if isinstance(error, TorchError) else f"{type(error).__name__}: {error}"
