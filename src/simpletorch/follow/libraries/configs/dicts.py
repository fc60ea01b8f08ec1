"""Dicts whose items are attributes (`dicts.txt`), and what their text asks for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from simpletorch.follow import files
from simpletorch.follow.budget import LARGEST
from simpletorch.follow.disk import settings
from simpletorch.follow.disk.entries import value
from simpletorch.follow.libraries import ALIASES, gives, native
from simpletorch.follow.libraries.configs import own
from simpletorch.follow.libraries.configs.readers import read_file, read_text, texts_of
from simpletorch.follow.values import Value

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


@native("simpletorch_settings.yaml_file")
def _yaml_file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_file(run, args[0], settings.yaml)


@native("simpletorch_settings.yaml_text")
def _yaml_text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_text(run, texts_of(run, args[0]), settings.yaml)
