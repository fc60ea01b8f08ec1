"""Hydra: configurations composed of files beside the program, with the overrides of its command line.

Composition follows Hydra 1.3: the defaults list in order, ``_self_`` last where it isn't named, a group's options below
the group's name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simpletorch.follow import files
from simpletorch.follow.disk import entries, settings
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.libraries import ALIASES, MADE, by_name, gives, library_class, native
from simpletorch.follow.libraries.configs.omegaconf import config_of, plain_of
from simpletorch.follow.libraries.python.modules import locate
from simpletorch.follow.values import MISSING, Dict, Instance, List, Native, StaticMethod, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_PACKAGE: Final = re.compile(r"^\s*#\s*@package\s+(\S+)\s*$", re.MULTILINE)
_MOST_FILES: Final = 100


class _UnknownError(Exception):
    """A configuration can't be composed; the text says why."""


@dataclass
class _Composition:
    """Reads the files of one configuration. ``tree`` is what came of them: nested dicts, whose leaves are values."""

    run: Interpreter
    folders: tuple[str, ...]
    choices: dict[str, Any]  # by group, as the command line chooses
    tree: dict[Any, Any] = field(default_factory=dict)
    left: int = _MOST_FILES
    overridden: dict[str, Any] = field(default_factory=dict)  # by group, as ``override`` in a defaults list chooses

    def add(self, name: str, group: str, package: str | None, *, optional: bool = False) -> None:
        """One option of a group, with its own defaults."""
        self.left -= 1
        if self.left < 0:
            raise _UnknownError("too many files")
        path = posixpath.normpath(posixpath.join(group, name)).removesuffix(".yaml").removesuffix(".yml")
        found = self._read(path)
        if found is None:
            if optional:
                return
            raise _UnknownError(f"{path}.yaml isn't there")
        body, header = found
        at = group.replace("/", ".") if package is None else package
        if header is not None and package is None:
            at = {"_global_": "", "_group_": at, "_name_": name}.get(header, header)
        defaults = body.pop("defaults", None) if isinstance(body.get("defaults"), list) else None
        own = False
        for entry in defaults or ():
            if entry == "_self_":
                _merge(_place(self.tree, at), body)
                own = True
            else:
                self._default(entry, group, at)
        if not own:
            _merge(_place(self.tree, at), body)

    def _default(self, entry: Any, group: str, at: str) -> None:
        if isinstance(entry, str):
            name, package = _split(entry, at)
            absolute = name.startswith("/")
            whole = name.lstrip("/") if absolute else posixpath.join(group, name)
            self.add(posixpath.basename(whole), posixpath.dirname(whole), package)
            return
        if not isinstance(entry, dict) or len(entry) != 1:
            raise _UnknownError("a defaults list that isn't plain")
        ((key, option),) = entry.items()
        words = str(key).split()
        inner, package = _split(words[-1], at)
        whole = inner.lstrip("/") if inner.startswith("/") else posixpath.join(group, inner)
        if "override" in words:
            self.overridden[whole] = option
            return
        if whole.startswith("hydra/"):
            return
        option = self.choices.pop(whole, self.overridden.get(whole, option))
        if package is None and not inner.startswith("/"):
            package = ".".join(filter(None, (at, inner.replace("/", "."))))
        elif package is None:
            package = whole.replace("/", ".")
        for one in option if isinstance(option, list) else [option]:
            if one is None:
                continue
            if not isinstance(one, str) or "${" in one or one == "???":
                raise _UnknownError(f"the option of {whole} isn't given")
            package_of = None if package == whole.replace("/", ".") else package
            self.add(one, whole, package_of, optional="optional" in words)

    def collect(self, path: str) -> None:
        """Note what ``override`` chooses in a file and in all that it includes, before anything is added."""
        self.left -= 1
        found = self._read(path) if self.left > 0 else None
        group = posixpath.dirname(path)
        for entry in (found[0].get("defaults") if found else None) or ():
            key, option = next(iter(entry.items())) if isinstance(entry, dict) and len(entry) == 1 else ("", entry)
            name = str(key).split(" ")[-1].partition("@")[0]
            whole = name.lstrip("/") if name.startswith("/") else posixpath.join(group, name)
            if str(key).startswith("override "):
                self.overridden[whole] = option
                continue
            option = self.choices.get(whole, option)
            for one in option if isinstance(option, list) else [option]:
                if isinstance(one, str) and one != "_self_":
                    inner = one.lstrip("/") if one.startswith("/") else posixpath.join(whole, one)
                    self.collect(inner.partition("@")[0].removesuffix(".yaml"))

    def _read(self, path: str) -> tuple[dict[Any, Any], str | None] | None:
        """A copy of what a file says, and its package; one of the `ConfigStore` has a value of the program's."""
        run = self.run
        stored = run.resolve(_store(run).cells.get(path, MISSING))
        if stored is not MISSING:
            body = _plain(run, plain_of(run, config_of(run, stored)))
            if not isinstance(body, dict):
                raise _UnknownError(f"{path} of the store isn't known")
            return body, None
        for folder in self.folders:
            for suffix in (".yaml", ".yml"):
                text = files.text_of(run, posixpath.join(folder, path) + suffix)
                if text is None:
                    continue
                try:
                    found = settings.yaml(text, newer=True)
                except Unreadable as error:
                    raise _UnknownError(f"{path}{suffix}: {error}") from error
                if found is not None and not isinstance(found, dict):
                    raise _UnknownError(f"{path}{suffix} isn't a dict")
                entries.describe(run, text, "settings" if not found else f"settings: {', '.join(map(str, found))}")
                header = _PACKAGE.search(text)
                return _copy(found or {}), None if header is None else header[1]
        return None


def _split(name: str, at: str) -> tuple[str, str | None]:
    """``group@package``: the package is below that of the file, unless it is global."""
    name, has, package = name.partition("@")
    if not has:
        return name, None
    if package.startswith("_global_"):
        return name, package.removeprefix("_global_").lstrip(".")
    package = {"_here_": ""}.get(package, package)
    return name, ".".join(filter(None, (at, package)))


def _place(tree: dict[Any, Any], package: str) -> dict[Any, Any]:
    for part in filter(None, package.split(".")):
        held = tree.get(part)
        if not isinstance(held, dict):
            held = tree[part] = {}
        tree = held
    return tree


class _Open(dict[Any, Any]):
    """A dict with more keys than these."""


def _merge(tree: dict[Any, Any], more: dict[Any, Any]) -> None:
    for key, value in more.items():
        held = tree.get(key, MISSING)
        if isinstance(held, dict) and isinstance(value, dict):
            _merge(held, value)
        elif held is None or isinstance(held, Unknown) or isinstance(tree, _Open):
            tree[key] = _opened(value)  # the class of a part that was missing may say more
        else:
            tree[key] = _copy(value)


def _opened(value: Any) -> Any:
    return _Open((k, _opened(v)) for k, v in value.items()) if isinstance(value, dict) else _copy(value)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value)((k, _copy(v)) for k, v in value.items())
    return list(map(_copy, value)) if isinstance(value, list) else value


def _plain(run: Interpreter, value: Value) -> Any:
    """Dicts and lists of the program as Python's; leaves stay values."""
    value = run.resolve(value)
    if isinstance(value, Dict) and value.rest is MISSING:
        return {k: _plain(run, v) for k, v in value.cells.items()}
    if isinstance(value, List) and value.items is not None:
        return [_plain(run, v) for v in value.items]
    return value


def _value(run: Interpreter, found: Any) -> Value:
    if isinstance(found, dict):
        more = run.unknown("a setting that a class has") if isinstance(found, _Open) else MISSING
        return Dict({k: _value(run, v) for k, v in found.items()}, more)
    if isinstance(found, list):
        return List(tuple(_value(run, v) for v in found))
    known = isinstance(found, str | int | float | bool | None | Unknown | Instance)
    return found if known else run.unknown("what is in a file")


# -- overrides ---------------------------------------------------------------------------------------------------------

_OVERRIDE: Final = re.compile(r"(\+{0,2}|~)([\w./@-]+)(?:=(.*))?", re.DOTALL)


def compose(run: Interpreter, folders: tuple[str, ...], name: str | None, words: list[str]) -> Value:
    """The configuration of a name with overrides; unknown, with the reason, where it can't be composed."""
    overrides = []
    for word in words:
        match = _OVERRIDE.fullmatch(word)
        if match is None:
            return run.unknown(f"a configuration with the override {word!r}")
        overrides.append(match.groups())
    made = _Composition(run, folders, {})
    groups = {key for _, key, _ in overrides if _is_group(run, folders, key.partition("@")[0])}
    try:
        for sign, key, text in overrides:
            if key in groups and text is not None and sign != "~":
                made.choices[key] = _parsed(text)
            elif key in groups:
                made.choices[key] = None
        if name is not None:
            made.collect(name.removesuffix(".yaml"))
            made.left = _MOST_FILES
            made.add(name, "", "")
        for key, option in list(made.choices.items()):  # ``+group=option``
            group, package = _split(key, "")
            for one in option if isinstance(option, list) else [option]:
                if one is not None:
                    made.add(str(one), group, package)
        for sign, key, text in overrides:
            if key not in groups:
                _override(run, made.tree, sign, key, text)
    except _UnknownError as error:
        return run.unknown(f"a configuration ({error})")
    made.tree.pop("hydra", None)
    return config_of(run, _value(run, made.tree))


def _is_group(run: Interpreter, folders: tuple[str, ...], key: str) -> bool:
    if any(isinstance(n, str) and n.startswith(f"{key}/") for n in _store(run).cells):
        return True
    return "." not in key and any(run.program.reach.names_of(posixpath.join(f, key)) for f in folders)


def _override(run: Interpreter, tree: dict[Any, Any], sign: str, key: str, text: str | None) -> None:
    above, _, last = key.rpartition(".")
    if above.split(".")[0] == "hydra" or key.startswith("hydra/"):
        return
    place = _place(tree, above)
    if sign == "~":
        place.pop(last, None)
        return
    value = _parsed(text or "")
    sweeps = isinstance(text, str) and re.search(r"^[^\[{'\"(]*,|^(choice|range|glob|interval)\(", text)
    if sweeps:
        place[last] = run.unknown(f"{key}, which a sweep varies")
    elif isinstance(value, dict) and isinstance(place.get(last), dict):
        _merge(place[last], value)
    else:
        place[last] = value


def _parsed(text: str) -> Any:
    """The value of an override, in Hydra's grammar as far as that is YAML's."""
    if text == "":
        return ""
    try:
        return settings.yaml(re.sub(r"(?<=[{,])\s*([\w.]+):(?=\S)", r" \1: ", text), newer=True)
    except Unreadable:
        return text


# -- main and compose --------------------------------------------------------------------------------------------------

MADE["hydra._store"] = lambda run: Dict()
MADE["hydra._folder"] = lambda run: Dict()


def _store(run: Interpreter) -> Dict:
    found = run.program.library(run, "hydra._store")
    return found if isinstance(found, Dict) else Dict()


def _folder(run: Interpreter, path: Value, file: str) -> str | None:
    """The folder that ``config_path`` names, relative to the file that says so."""
    path = run.resolve(path)
    if not isinstance(path, str) or "://" in path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(file) or ".", path))


_OPTIONS: Final = {"-cn": "name", "--config-name": "name", "-cp": "path", "--config-path": "path", "-cd": "dir",
                   "--config-dir": "dir"}  # fmt: skip
_ALONE: Final = ("-m", "--multirun", "--run", "-r")


def _command_line(run: Interpreter) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    rest: list[str] = []
    words = list(run.program.arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in _OPTIONS and (equals or words):
            options[_OPTIONS[name]] = value if equals else words.pop(0)
        elif word not in _ALONE:
            rest.append(word)
    return options, rest


@native("hydra.main")
def _main(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    said = by_name("config_path config_name version_base", args, kwargs)
    file = run.path

    def call(run: Interpreter, function: Value, args: tuple[Value, ...]) -> Value:
        if args and run.resolve(args[0]) is not None:  # as Hydra's ``cfg_passthrough``
            return run.call(function, args)
        options, words = _command_line(run)
        path = options.get("path", run.resolve(said.get("config_path", "." if "version_base" not in said else None)))
        name = options.get("name", run.resolve(said.get("config_name")))
        if name is None and isinstance(path, str) and path.endswith((".yaml", ".yml")):  # as Hydra 0.11 took it
            path, name = posixpath.dirname(path), posixpath.splitext(posixpath.basename(path))[0]
        folder = None if path is None else _folder(run, path, file)
        folders = tuple(f for f in (folder, options.get("dir")) if f is not None)
        version = run.resolve(said.get("version_base", "1.1"))
        if isinstance(name, str | None) and (path is None or folder is not None):
            made = compose(run, folders, name, words)
        else:
            made = run.unknown("a configuration")
        if version == "1.1":
            files.left_behind(run)  # each run has a folder of its own
        run.call(function, (made,))
        return None

    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        return Native("main", lambda run, args, kwargs: call(run, given[0], args))

    return Native("hydra.main", decorate)


def _initialize(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self config_path job_name caller_stack_depth version_base", args, kwargs)
    folder = _folder(run, given.get("config_path"), run.path)
    state = run.program.library(run, "hydra._folder")
    if isinstance(state, Dict):
        run.heap.write(state.cells, "folder", folder)
    return None


def _initialize_there(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self config_dir job_name version_base", args, kwargs)
    state, folder = run.program.library(run, "hydra._folder"), run.resolve(given.get("config_dir"))
    if isinstance(state, Dict):
        run.heap.write(state.cells, "folder", folder if isinstance(folder, str) else None)
    return None


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


for _name, _work in {
    "initialize": _initialize,
    "initialize_config_dir": _initialize_there,
    "initialize_config_module": _initialize_there,
}.items():
    library_class(f"hydra.{_name}", methods={"__init__": _work, "__enter__": _itself, "__exit__": _nothing})


@native("hydra.compose")
def _compose(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("config_name overrides", args, kwargs)
    state, name = run.program.library(run, "hydra._folder"), run.resolve(given.get("config_name"))
    folder = run.resolve(state.cells.get("folder")) if isinstance(state, Dict) else None
    words = run.items(given.get("overrides") or ())
    if not isinstance(name, str | None) or words is None or not all(isinstance(w, str) for w in words):
        return run.unknown("a configuration")
    return compose(run, (folder,) if isinstance(folder, str) else (), name, list(words))


def _keep(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``ConfigStore.instance().store(name=…, node=…, group=…)``."""
    given = {k: run.resolve(v) for k, v in by_name("self name node group package provider", args, kwargs).items()}
    name, group = given.get("name"), given.get("group") or ""
    if isinstance(name, str) and isinstance(group, str):
        path = posixpath.join(group, name.removesuffix(".yaml"))
        odd = given.get("package") is not None
        value = run.unknown("a stored configuration") if odd else given.get("node")
        run.heap.write(_store(run).cells, path, value)
    return None


def _instance(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Instance(run.program.library_class("hydra.core.config_store.ConfigStore"))


library_class(
    "hydra.core.config_store.ConfigStore",
    methods={"instance": StaticMethod(Native("instance", _instance)), "store": _keep},
)
gives("hydra.core.hydra_config.HydraConfig.get")
library_class("hydra.core.hydra_config.HydraConfig", unknown="Hydra's own settings")
gives("hydra.utils.get_original_cwd", "str")
native("hydra.utils.to_absolute_path")(lambda run, args, kwargs: args[0])


# -- instantiate -------------------------------------------------------------------------------------------------------


@native("hydra.utils.instantiate")
def _instantiate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = dict(kwargs)
    config = args[0] if args else given.pop("config", None)
    value = run.resolve(config)
    if value is None:
        return None
    plain = plain_of(run, value)
    how = _How().inside(run, given)
    given = {k: v for k, v in given.items() if k not in ("_convert_", "_recursive_")}
    if isinstance(plain, Dict) and plain.rest is MISSING:
        more = {k: plain_of(run, v) for k, v in given.items()}
        return _made(run, Dict({**plain.cells, **more}), tuple(args[1:]), how)
    if isinstance(plain, List) and not given:
        return _made(run, plain, (), how)
    return run.call_in_the_dark(run.unknown("what a configuration names"), args[1:], kwargs)


class _How(NamedTuple):
    """How a configuration is made into objects: parts too, and whether dicts without a target become plain ones."""

    recursive: bool = True
    converts: bool = False

    def inside(self, run: Interpreter, cells: Mapping[Any, Value]) -> _How:
        """The same below a dict that may say otherwise."""
        mode = run.resolve(cells.get("_convert_", MISSING))
        converts = self.converts if mode is MISSING else mode != "none"
        return _How(self.recursive and run.resolve(cells.get("_recursive_", True)) is True, converts)


def _made(run: Interpreter, value: Value, args: tuple[Value, ...], how: _How) -> Value:
    """The object of a dict with ``_target_``, also inside of lists and dicts."""
    value = run.resolve(value)
    if isinstance(value, List) and value.items is not None:
        return List(tuple(_made(run, v, (), how) for v in value.items))
    if not isinstance(value, Dict):
        return value
    how = how.inside(run, value.cells)
    if "_target_" not in value.cells:
        inner = Dict({k: _made(run, v, (), how) for k, v in value.cells.items()})
        return inner if how.converts else config_of(run, inner)
    target = run.resolve(value.cells["_target_"])
    function = locate(run, target) if isinstance(target, str) else target
    given = {k: v for k, v in value.cells.items() if not (isinstance(k, str) and k in _OWN)}
    if how.recursive:
        given = {k: _made(run, v, (), how) for k, v in given.items()}
    else:
        given = {k: config_of(run, v) for k, v in given.items()}
    if not args and "_args_" in value.cells:
        placed = run.items(value.cells["_args_"])
        if placed is None:
            return run.call_in_the_dark(function, (), given)
        args = tuple(_made(run, v, (), how) if how.recursive else config_of(run, v) for v in placed)
    if function is MISSING or not all(isinstance(k, str) for k in given):
        return run.call_in_the_dark(run.unknown(f"{target} isn't known"), args, given)
    if run.resolve(value.cells.get("_partial_", False)) is True:
        return run.call(run.program.library(run, "functools.partial"), (function, *args), given)
    return run.call(function, args, given)


_OWN: Final = frozenset({"_target_", "_partial_", "_args_", "_recursive_", "_convert_"})


@native("hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object", "hydra.utils.get_static_method")
def _get(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    path = run.resolve(by_name("path", args, kwargs).get("path"))
    found = locate(run, path) if isinstance(path, str) else MISSING
    return run.unknown("what a text names") if found is MISSING else found


ALIASES["hydra.utils.call"] = "hydra.utils.instantiate"
ALIASES["hydra.experimental"] = "hydra"
library_class("hydra.errors.InstantiationException", ("builtins.Exception",))
