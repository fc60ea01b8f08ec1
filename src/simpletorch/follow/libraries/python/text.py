"""``json`` and ``string``."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Any

from simpletorch.follow import files
from simpletorch.follow.libraries import VALUES, by_name, native
from simpletorch.follow.libraries.python.builtins import computed
from simpletorch.follow.model import often
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import MISSING, Choice, Dict, Instance, List, Saved, Unknown, Value, is_known
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

for _name in (
    "ascii_letters",
    "ascii_lowercase",
    "ascii_uppercase",
    "digits",
    "punctuation",
    "printable",
    "whitespace",
    "hexdigits",
):
    VALUES[f"string.{_name}"] = getattr(string, _name)


def _as_value(found: Any) -> Value:
    """What ``json`` gives, as the program has it."""
    if isinstance(found, dict):
        return Dict({k: _as_value(v) for k, v in found.items()})
    if isinstance(found, list):
        return List(tuple(map(_as_value, found)))
    return found


@native("json.loads")
def _loads(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def one(text: Value) -> Value:
        if isinstance(text, Unknown) and text.written is not None:
            return _loaded(run, text.written)
        return _loaded(run, Saved(files.TEXT, text))

    found = run.each(args[0], one)
    return _hooked(run, found, kwargs) if kwargs else found


@native("json.load")
def _load(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    held = files.holds(run, run.resolve(args[0])) if args else MISSING
    found = _said(run) if held is MISSING else run.each(held, lambda v: _loaded(run, v))
    return _hooked(run, found, kwargs) if kwargs else found


def _said(run: Interpreter) -> Unknown:
    found = run.unknown("what a text says")
    found.without_tensors = True
    return found


def _hooked(run: Interpreter, value: Value, options: dict[str, Value]) -> Value:
    """Apply ``object_hook=`` or ``object_pairs_hook=`` to each dict, from the inside out."""
    if not options.keys() <= {"object_hook", "object_pairs_hook"} or len(options) != 1:
        return run.unknown("what a text says")
    ((name, hook),) = options.items()
    value = run.resolve(value)
    if isinstance(value, List) and value.items is not None:
        return List(tuple(_hooked(run, v, options) for v in value.items))
    if not isinstance(value, Dict) or value.rest is not MISSING or hook is None:
        return value
    cells = {k: _hooked(run, v, options) for k, v in value.cells.items()}
    return run.call(hook, (Dict(cells) if name == "object_hook" else List(tuple(cells.items())),))


def _loaded(run: Interpreter, entry: Value) -> Value:
    """What a text says that is known, or was made by ``json`` of what is known in parts."""
    kind, value = entry if isinstance(entry, Saved) else (None, None)
    if kind == "json":
        return files.copied(run, value)
    if kind != files.TEXT or not isinstance(value, str):
        return _said(run)
    try:
        return _as_value(json.loads(value))
    except ValueError:
        raise Raised("JSONDecodeError", None, ("ValueError", "Exception", "BaseException")) from None


@native("json.dumps")
def _dumps(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    entry = _dumped(run, args[0], kwargs)
    if isinstance(entry, Saved) and entry.kind == files.TEXT:
        return entry.value
    made = run.unknown("what json.dumps gives", "str")
    made.written = entry if isinstance(entry, Saved) else None
    return made


@native("json.dump")
def _dump(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("obj fp", args, kwargs)
    target = run.resolve(given.pop("fp", None))
    if isinstance(target, Instance) and target.cls.is_a(files.STREAM):
        entry = _dumped(run, given.pop("obj", None), given)
        if isinstance(entry, Saved):
            files.put_into(run, target, entry)
        else:
            files.spoiled(run, (target,))
    return None


def _dumped(run: Interpreter, value: Value, options: dict[str, Value]) -> Value:
    """What ``json`` writes: the text, if all is known; else what will be read."""
    value = files.copied(run, value)
    try:
        plain = _plain(run, value)
        if all(map(is_known, options.values())):
            return Saved(files.TEXT, computed(run, json.dumps, (plain,), options))
    except ValueError:
        pass
    often.may_call(run, options.get("default"))
    changes = any(k in options for k in ("default", "cls", "skipkeys"))
    return run.unknown("what json writes in another way") if changes else Saved("json", _read_again(run, value))


def _plain(run: Interpreter, value: Value) -> Any:
    """A value that is known in all its parts.

    Raises:
        ValueError: it isn't.
    """
    if isinstance(value, tuple):
        return tuple(_plain(run, v) for v in value)
    if isinstance(value, List) and value.items is not None:
        return [_plain(run, v) for v in value.items]
    if isinstance(value, Dict) and value.rest is MISSING and all(map(_is_plain, value.cells)):
        return {k: _plain(run, v) for k, v in value.cells.items()}
    if _is_plain(value):
        return value
    raise ValueError


def _is_plain(value: Value) -> bool:
    return value is None or type(value) in (str, int, float, bool)


def _read_again(run: Interpreter, value: Value) -> Value:
    """A value as it is read from what ``json`` has written: tuples are lists, and keys are strings."""
    if isinstance(value, Choice):
        return Choice(value.condition, _read_again(run, value.when_true), _read_again(run, value.when_false))
    if value is MISSING or _is_plain(value) or isinstance(value, Expr):
        return value
    if isinstance(value, Unknown) and value.type in ("str", "int", "float", "bool"):
        return value
    if isinstance(value, tuple):
        return List(tuple(_read_again(run, v) for v in value))
    if isinstance(value, List) and value.items is None:
        return List(None, _read_again(run, value.item))
    if isinstance(value, List):
        return List(tuple(_read_again(run, v) for v in value.items or ()))
    if isinstance(value, Dict) and all(map(_is_plain, value.cells)):
        names = [k if isinstance(k, str) else json.dumps(k) for k in value.cells]
        rest = value.rest if value.rest is MISSING else run.unknown("an item of what json has written")
        return Dict({n: _read_again(run, v) for n, v in zip(names, value.cells.values(), strict=True)}, rest)
    return run.unknown("what json writes of an object")
