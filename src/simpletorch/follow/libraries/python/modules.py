"""``importlib`` and ``pkgutil``: modules of the program, and what is in them, by names that are texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simpletorch import _outside as outside
from simpletorch.follow import files
from simpletorch.follow.libraries import by_name, library_class, native
from simpletorch.follow.model import kinds
from simpletorch.follow.sources import imports
from simpletorch.follow.values import MISSING, RELOADED, Fields, Instance, List, Namespace, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["locate"]


def locate(run: Interpreter, path: str) -> Value:
    """The value that ``package.module.Name`` names, MISSING if that isn't known."""
    parts = path.replace(":", ".").split(".")
    if not all(p.isidentifier() for p in parts):
        return MISSING
    for length in range(len(parts), 0, -1):
        found = _imported(run, ".".join(parts[:length]))
        if isinstance(found, Unknown):
            continue
        for name in parts[length:]:
            found = run.resolve(run.attribute(found, name))
        return MISSING if isinstance(found, Unknown) else found
    return MISSING


def _imported(run: Interpreter, name: str) -> Value:
    """A module by its dotted name; unknown if there is none."""
    found = imports.module(run, name)
    return found if isinstance(found, Namespace) else run.unknown(f"{name} isn't followed")


@native("importlib.import_module")
def _import_module(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("name package", args, kwargs)

    def one(name: Value) -> Value:
        if not isinstance(name, str):
            return run.call_in_the_dark(run.unknown("a module that isn't known"), (), {})
        dots = len(name) - len(name.lstrip("."))
        if dots:
            package = run.resolve(given.get("package"))
            above = package.split(".") if isinstance(package, str) and package else []
            if len(above) < dots:
                return run.unknown("a module that isn't known")
            name = ".".join([*above[: len(above) - dots + 1], name[dots:]])
        if not all(p.isidentifier() for p in name.split(".")):
            return run.unknown("a module that isn't known")
        return imports.module(run, name)

    return run.each(given.get("name"), one)


@native("importlib.__import__")
def _import(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("name globals locals fromlist level", args, kwargs)
    name, wanted = run.resolve(given.get("name")), run.resolve(given.get("fromlist", ()))
    if not isinstance(name, str) or run.resolve(given.get("level", 0)) != 0 or not isinstance(wanted, tuple | List):
        return run.unknown("a module that isn't known")
    if not name:
        raise kinds.error("ValueError")
    found = imports.module(run, name)
    return found if run.items(wanted) else imports.module(run, name.partition(".")[0])


@native("importlib.reload")
def _reload(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The file's present contents aren't known: a program that reads it again has changed it."""
    module = run.resolve(by_name("module", args, kwargs).get("module"))
    if isinstance(module, Namespace) and module.path is not None:
        for name in [n for n in module.cells if not n.startswith("__")]:
            run.heap.write(module.cells, name, run.unknown(f"{name} of a module that was read again"))
        run.heap.write(module.cells, RELOADED, True)
    return module


# -- files as modules --------------------------------------------------------------------------------------------------


@native("importlib.util.spec_from_file_location")
def _spec(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("name location", args, kwargs)
    made = Instance(run.program.library_class("importlib.machinery.ModuleSpec"))
    made.cells.update(name=run.resolve(given.get("name")), origin=run.resolve(given.get("location")))
    made.cells["loader"] = Instance(run.program.library_class("importlib.machinery.SourceFileLoader"))
    made.cells["loader"].cells.update(name=made.cells["name"], path=made.cells["origin"])
    return made


@native("importlib.util.module_from_spec")
def _from_spec(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    spec = run.resolve(args[0])
    return _of_file(run, spec.cells.get("name"), spec.cells.get("origin")) if isinstance(spec, Instance) else spec


def _of_file(run: Interpreter, name: Value, path: Value) -> Value:
    """The module of a file, run when it is made."""
    found = files.path_of(run, path)
    text = found[0] if len(found) == 1 else None
    if not isinstance(name, str) or not isinstance(text, str) or not text.endswith(".py"):
        return run.unknown("a module of a file that isn't known")
    real = run.program.reach.find(text)
    made = None if real is None else run.program.load_file(run, name, Path(real))
    return run.unknown(f"{text} isn't followed") if made is None else made


def _load(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``SourceFileLoader(name, path).load_module()``."""
    return _of_file(run, args[0].cells.get("name"), args[0].cells.get("path"))


def _make_loader(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self fullname path", args, kwargs)
    for key, value in (("name", given.get("fullname")), ("path", given.get("path"))):
        run.heap.write(args[0].cells, key, run.resolve(value))
    return None


library_class("importlib.machinery.ModuleSpec", unknown="a spec of a module")
library_class(
    "importlib.machinery.SourceFileLoader",
    methods={
        "__init__": _make_loader,
        "load_module": _load,
        "exec_module": lambda run, args, kwargs: None,
        "create_module": lambda run, args, kwargs: None,
    },
)


# -- pkgutil -----------------------------------------------------------------------------------------------------------


def _modules_in(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[tuple[str, bool]] | None:
    given = by_name("path prefix", args, kwargs)
    paths, prefix = run.items(given["path"]) if "path" in given else None, run.resolve(given.get("prefix", ""))
    if not paths or not isinstance(prefix, str) or not all(isinstance(p, str) for p in paths):
        return None
    found: dict[str, bool] = {}
    for path in paths:
        real = run.program.reach.find(str(path))
        names = None if real is None else run.program.reach.names(real)
        if names is None:
            return None
        for name, is_folder in names:
            if is_folder and outside.is_file(Path(str(real)) / name / "__init__.py"):
                found[name] = True
            elif not is_folder and name.endswith(".py") and name != "__init__.py":
                found[name.removesuffix(".py")] = False
    return [(prefix + name, is_package) for name, is_package in sorted(found.items())]


def _rows(run: Interpreter, found: list[tuple[str, bool]] | None) -> Value:
    names = ("module_finder", "name", "ispkg")
    if found is None:
        one = run.unknown("a finder"), run.unknown("a name", "str"), run.unknown("whether it is a package", "bool")
        return List(None, Fields(names, one))
    return List(tuple(Fields(names, (run.unknown("a finder"), name, is_package)) for name, is_package in found))


@native("pkgutil.iter_modules")
def _iter_modules(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _rows(run, _modules_in(run, args, kwargs))


@native("pkgutil.walk_packages")
def _walk_packages(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = _modules_in(run, args, kwargs)
    return _rows(run, None if found is None or any(is_package for _, is_package in found) else found)
