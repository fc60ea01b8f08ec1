"""Dicts whose items are attributes (`dicts.txt`), and what their text asks for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from simpletorch.follow import files, items
from simpletorch.follow.budget import LARGEST
from simpletorch.follow.disk import settings
from simpletorch.follow.disk.entries import value
from simpletorch.follow.libraries import ALIASES, gives, native
from simpletorch.follow.libraries.configs import own
from simpletorch.follow.libraries.configs.readers import read_file, read_text, texts_of
from simpletorch.follow.values import MISSING, Dict, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

own(
    "dicts.txt",
    {
        "easydict.EasyDict": "EasyDict",
        "addict.Dict": "Addict",
        "box.Box": "EasyDict",
        "munch.Munch": "Munch",
        "munch.DefaultMunch": "Munch",
        "munch.munchify": "munchify",
        "munch.unmunchify": "unmunchify",
        "yacs.config.CfgNode": "CfgNode",
        "ml_collections.ConfigDict": "ConfigDict",
        "ml_collections.FrozenConfigDict": "ConfigDict",
        "ml_collections.FieldReference": "FieldReference",
        "ml_collections.config_dict.placeholder": "placeholder",
        "ml_collections.config_dict.create": "create",
    },
)
ALIASES["ml_collections.config_dict"] = "ml_collections"
ALIASES["fvcore.common.config"] = "yacs.config"
gives("simpletorch_settings.some_bool", "bool")
gives("simpletorch_settings.some_text", "str")


@native("simpletorch_settings.another")
def _another(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A deep copy."""
    return files.copied(run, args[0])


@native("simpletorch_settings.decoded")
def _decoded(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The literal that a text is, or the text."""
    text = run.resolve(args[0])
    if not isinstance(text, str) or len(text) > LARGEST:
        return text
    try:
        return value(run, ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


@native("simpletorch_settings.is_dict")
def _is_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether it surely is a plain dict."""
    return isinstance(run.resolve(args[0]), Dict)


@native("simpletorch_settings.is_list")
def _is_list(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether it surely is a list or tuple, of known length."""
    found = run.resolve(args[0])
    return type(found) is tuple or (type(found) is List and found.items is not None)


@native("simpletorch_settings.pairs")
def _pairs(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The items of a mapping that a dict gets; where they aren't known, neither is that dict any more."""
    value = run.resolve(args[1])
    if value is None:
        return ()
    found = items.as_dict(run, value)
    if isinstance(found, Dict) and found.rest is MISSING and items.whole(run, found) is found:
        return tuple(found.cells.items())
    run.escape((args[0],))
    return ()


@native("simpletorch_settings.pairs_of_list")
def _pairs_of_list(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Keys and values of a list in turn: ``["MODEL.DIM", "7"]``."""
    words = run.items(args[1])
    if words is not None and len(words) % 2 == 0 and all(isinstance(w, str) for w in words[::2]):
        return tuple(zip(words[::2], words[1::2], strict=True))
    run.escape((args[0],))
    return ()


@native("simpletorch_settings.yaml_file")
def _yaml_file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_file(run, args[0], settings.yaml)


@native("simpletorch_settings.yaml_text")
def _yaml_text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_text(run, texts_of(run, args[0]), settings.yaml)
