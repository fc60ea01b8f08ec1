"""A program: its files, found and read as Python finds and reads them, and the libraries that it may use."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch import _outside as outside
from simpletorch.follow import guards
from simpletorch.follow.disk.reach import Reach, here, project_of
from simpletorch.follow.libraries import ABSENT, ALIASES, CLASSES, MADE, NATIVES, OWN, VALUES, load, source_of
from simpletorch.follow.libraries.harmless import is_harmless, is_without_tensors
from simpletorch.follow.libraries.pytorch.torch_nn import make_layer_class
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raise
from simpletorch.follow.sources import lazily, mentions, texts
from simpletorch.follow.sources.installed import is_installed
from simpletorch.follow.sources.mentions import Mentions
from simpletorch.follow.sources.packages import Packages
from simpletorch.follow.sources.stubs import Stubs
from simpletorch.follow.sources.syntax import parse
from simpletorch.follow.values import MISSING, Class, Instance, List, Namespace, Native, Unknown, Value
from simpletorch.rules import MODULES, RULES
from simpletorch.rules.core.dtype import BY_TORCH_NAME

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Program"]


class Program:
    """The files of one program, and what was imported of them."""

    main: Final = "__main__"
    is_whole = True  # all that it has imported is read
    has_cuda = False  # whether it surely runs on a machine with CUDA, which uses it

    def __init__(
        self, path: Path, arguments: Sequence[str] = (), shown: str | None = None, reach: Reach | None = None
    ) -> None:
        self.shown = str(path) if shown is None else shown
        self.path = path = path.absolute()  # packages may lie above the current folder
        self.arguments = tuple(arguments)
        self.reach = reach or Reach(None, path.parent)
        self.entries: dict[str, Value] = {}  # of data files, by their real paths
        self.long_texts: dict[str, str] = {}  # of large ones, for readers of tables
        self.described: dict[str, str] = {}  # what they are, in words
        self.modules: dict[str, Namespace] = {}
        self.loading: set[str] = set()
        self.is_library = lazily.is_library(path)  # then only what is needed of its package is run
        self._classes: dict[str, Class] = {}
        self._members: dict[str, Value] = {}
        self._files: dict[Path, Namespace] = {}
        self.starred: list[dict[str, Any]] = []  # the variables of modules that import everything of a library
        self.stubs = Stubs(path)
        self.packages = Packages(path)
        self.own: set[str] = set()  # the files of simpletorch's that are followed for what the program uses of them
        self.has_moved = False  # whether it has gone to another folder than the current one
        self._further: list[Path] | None = None
        self.by_project: set[str] = set()  # the modules that were found below the project's folder alone
        self.roots = [path.parent]
        package = path.parent
        while outside.exists(package / "__init__.py") and package != package.parent:
            package = package.parent
            self.roots.append(package)

    # -- files --------------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Path | None:
        """The file of a module by its dotted name."""
        relative = Path(*name.split("."))
        for root in self._roots(name):
            for candidate in (root / relative / "__init__.py", root / relative.with_suffix(".py")):
                if texts.is_file(candidate):
                    return candidate
        for root in self._roots_of_project(name):
            for candidate in (root / relative / "__init__.py", root / relative.with_suffix(".py")):
                if texts.is_file(candidate):
                    self.by_project.add(name)
                    return candidate
        return None

    def search(self, folder: str, *, first: bool = False) -> None:
        """Look for modules in a folder too; a relative one lies in the current folder, or beside the program."""
        for path in (Path(os.path.abspath(folder)), self.path.parent / folder):
            if path not in self.roots and outside.is_dir(path):
                self.roots.insert(0 if first else len(self.roots), path)

    def _roots_of_project(self, name: str) -> Sequence[Path]:
        """Where a module lies that only a setting of the search path, or an installation, makes known to Python."""
        first = name.partition(".")[0]
        if first in sys.stdlib_module_names or canonical(first) in _packages():
            return ()
        if is_installed(first, project_of(self.path.parent)):
            return ()
        if self._further is None:
            self._further = _folders_of_project(self.path.parent)
        return self._further

    def _roots(self, name: str) -> Sequence[Path]:
        """Where a module may lie. Who names a module of a package ``torch`` or ``types`` doesn't import it by that."""
        first = name.partition(".")[0]
        if first not in sys.stdlib_module_names and canonical(first) not in _packages():
            return self.roots
        return [root for root in self.roots if not outside.exists(root / "__init__.py")]

    def show(self, path: Path) -> str:
        """The path as the user would write it: relative to where the program's own path starts."""
        file, shown, folder = Path(outside.real(path)), Path(self.shown), Path(outside.real(self.path.parent))
        if file.is_relative_to(folder):
            return str(shown.parent / file.relative_to(folder))
        above = len(shown.parent.parts)
        if 0 < above <= len(folder.parents) and not shown.is_absolute() and ".." not in shown.parts:
            start = folder.parents[above - 1]
            if file.is_relative_to(start):
                return str(file.relative_to(start))
        return os.path.normpath(path)

    def trees(self) -> Iterator[ast.Module]:
        """The syntax of each file that was imported so far, the program's own first."""
        for module in self.modules.values():
            tree = None if module.path is None else parse(Path(module.path))
            if tree is not None:
                yield tree

    def mentions(self) -> Mentions:
        """The names in these files."""
        return mentions.of_all(self.trees())

    def load(self, run: Interpreter, name: str) -> Namespace | None:
        """The module of the program's own by its dotted name, None if it has none."""
        if name in self.modules:
            return self.modules[name]
        path = self.find(name)
        tree = None if path is None else parse(path)
        if path is None or tree is None:
            roots = (*self._roots(name), *self._roots_of_project(name))
            folders = (root / Path(*name.split(".")) for root in roots)
            folder = next((f for f in folders if outside.is_dir(f)), None)
            if folder is not None and outside.has_python(folder):
                self.modules[name] = Namespace(name, {}, str(folder))
                return self.modules[name]
            return None
        return self._run(run, name, path, tree)

    def load_file(self, run: Interpreter, name: str, path: Path) -> Namespace | None:
        """The module that a file is under a name of the program's choice; None if it can't be read."""
        key = f"{name} of {path}"
        if key in self.modules:
            return self.modules[key]
        tree = parse(path)
        return None if tree is None else self._run(run, name, path, tree, key)

    def _run(self, run: Interpreter, name: str, path: Path, tree: ast.Module, key: str | None = None) -> Namespace:
        shown = self.show(path)
        made = Namespace(name, self.cells(run, name, str(path), tree), str(path))
        self.modules[key or name] = made
        scope = Scope(None, shown, made.cells)
        if not self.is_library:
            # what one way here imports, the others have too; where somebody does without it, it is followed in place
            is_undone = (run.conditions or run.entry or run.hypothetical) and not run.optional_imports
            with run.at_the_start(shown) if is_undone else run.elsewhere(shown):
                done = run.execute(tree.body, scope)
            if isinstance(done, Raise) and guards.is_caught(run, done.error):
                del self.modules[name]  # as Python does
                raise done.error
            return made
        with run.at_the_start(shown):
            run.execute(tree.body, scope)
        lazily.open_registries(run, made, tree)
        return made

    def cells(self, run: Interpreter, name: str, file: str, tree: ast.Module | None) -> dict[str, Any]:
        """The variables that a module begins with."""
        doc = None if tree is None else ast.get_docstring(tree, clean=False)
        first: dict[str, Any] = {"__name__": name, "__file__": file, "__doc__": doc}
        first.update({n: Unknown(f"{n} of a module") for n in ("__builtins__", "__spec__", "__loader__", "__cached__")})
        if name != self.main:
            is_package = file.endswith("__init__.py")
            first["__package__"] = name if is_package else name.rpartition(".")[0]
            if is_package:
                first["__path__"] = List((str(Path(file).parent),))
        return lazily.cells_of(run, first) if self.is_library else first

    def has_all_names(self, cells: dict[str, Any]) -> bool:
        """Whether the variables of a module are all that it has."""
        return "__spec__" in cells and not self.is_library and not any(cells is c for c in self.starred)

    def names_of(self, run: Interpreter, library: str) -> Value:
        """``library.__dict__``: whatever is asked for by name is looked up."""
        return Instance(self.library_class("builtins._Names"), library)

    def absolute(self, name: str, file: Path) -> str | None:
        """The dotted name of a module that a file names with dots before it; None outside of a package."""
        dots = len(name) - len(name.lstrip("."))
        if not dots:
            return name
        folder = file.absolute().parent
        for _ in range(dots - 1):
            folder = folder.parent
        package = self.package_of("", str(folder / "__init__.py"))
        return ".".join(filter(None, (package, name[dots:]))) or None

    def package_of(self, name: str, file: str) -> str:
        """The package that a module's relative imports start from."""
        if file in self.packages.files:
            return name if file.endswith("__init__.py") else name.rpartition(".")[0]
        if name == self.main or name not in self.modules:
            parts: list[str] = []
            folder = Path(file).absolute().parent if file else self.path.parent
            while outside.exists(folder / "__init__.py"):
                parts.insert(0, folder.name)
                folder = folder.parent
            if not parts and folder == self.path.parent and folder != folder.parent:
                # it is run by ``python -m``, from a folder above
                parts = list(folder.relative_to(here()).parts) if here() in folder.parents else [folder.name]
                above = folder.parents[len(parts) - 1]
                self.roots += [] if above in self.roots else [above]
            return ".".join(parts)
        return name if file.endswith("__init__.py") else name.rpartition(".")[0]

    # -- libraries ----------------------------------------------------------------------------------------------------

    def builtin(self, run: Interpreter, name: str) -> Value:
        """A name of Python's own, MISSING if there is none."""
        return self.library(run, f"builtins.{name}")

    def library_class(self, name: str) -> Class:
        """A library's class by its dotted name."""
        name = canonical(name)
        if name not in self._classes:
            self._classes[name] = (
                CLASSES[name](self.library_class) if name in CLASSES else make_layer_class(name, self.library_class)
            )
        return self._classes[name]

    def library(self, run: Interpreter, name: str) -> Value:
        """What a library has under a dotted name, MISSING if that isn't known."""
        real = canonical(name)
        if real not in self._members:
            own = OWN.get(real) or source_of(real.rpartition(".")[0])
            self._members[real] = (
                MADE[real](run) if real in MADE else self._look_up(real) if own is None else self._own(run, real, own)
            )
            if self._members[real] is MISSING:
                self._members[real] = self.stubs.member(run, real)
            if self._members[real] is MISSING:
                del self._members[real]  # the library may ask for it meanwhile: ``from package import module``
                self._members[real] = self.packages.member(run, real)
            if self._members[real] is MISSING and real in ABSENT:
                self._members[real] = self._own(run, real, ABSENT[real])
        found = self._members[real]
        if isinstance(found, Namespace) and name != real:  # its members may have other names than the real one's
            found = self._members.setdefault(name, Namespace(name))
        return found

    def library_module(self, run: Interpreter, name: str) -> Value:
        """The module of a library by its dotted name, MISSING if none is known."""
        if canonical(name) not in _packages() and self.packages.has(name):
            return Namespace(name)
        return self.library(run, name)

    def _own(self, run: Interpreter, name: str, file: Path) -> Value:
        """The value of a name of ours in a file of simpletorch's."""
        short = name.rpartition(".")[2]
        if file not in self._files:
            path = str(file)
            self.own.add(path)
            tree, seen = parse(file), run.training.lost_sight
            self._files[file] = made = Namespace(name.rpartition(".")[0], self.cells(run, f"_{name}", path, tree), path)
            if file.suffix != ".py":  # it says what a loop does, which counts as the program's
                self.modules[f"_{name}"] = made
            with run.at_the_start(path):
                run.execute([] if tree is None else tree.body, Scope(None, path, made.cells))
            run.training.lost_sight = seen
            source = ".".join(("simpletorch", *file.with_suffix("").parts[-2:]))  # what is known of it beside its text
            known = {name: NATIVES[f"{source}.{name}"] for name in list(made.cells) if f"{source}.{name}" in NATIVES}
            made.cells.update(known)
        return run.resolve(self._files[file].cells.get(short, MISSING))

    def _look_up(self, name: str) -> Value:
        if name in NATIVES:
            return NATIVES[name]
        if name in CLASSES or name in MODULES:
            return self.library_class(name)
        if name in VALUES:
            return VALUES[name]
        owner, _, short = name.rpartition(".")
        if owner == "torch" and short in BY_TORCH_NAME:
            return BY_TORCH_NAME[short]
        if name in RULES:
            return Native(name, lambda run, args, kwargs: run.ask(name, args, kwargs))
        return Namespace(name) if name in _packages() or source_of(name) else MISSING

    def member(self, run: Interpreter, namespace: Namespace, name: str) -> Value:
        """``namespace.name`` of a library's module, or a submodule of the program's."""
        dotted = f"{namespace.name}.{name}"
        if namespace.path is not None:
            inner = self.load(run, dotted)
            return MISSING if inner is None else inner
        found = self.library(run, dotted)
        if found is MISSING:
            found = Unknown(
                f"{dotted} isn't known to the follower",
                harmless=is_harmless(dotted),
                without_tensors=is_without_tensors(dotted),
            )
            self._members[canonical(dotted)] = found
        return found

    def array_attribute(self, run: Interpreter, value: Value, name: str) -> Value:
        """An attribute of a NumPy array."""
        from simpletorch.follow.libraries.numpy import array_attribute

        return array_attribute(run, value, name)

    def array_operation(self, run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """An operation that has a NumPy array among its operands, by the name of the tensors' one."""
        from simpletorch.follow.libraries.numpy import array_operation

        return array_operation(run, name, args, kwargs)


_BESIDE_PACKAGES: Final = ("scripts", "examples", "example", "tools", "bin", "experiments", "demo", "demos", "tests")


def _folders_of_project(folder: Path) -> list[Path]:
    """The folders of a project that hold its packages: its root, ``src``, and those of ``PYTHONPATH`` below it."""
    root = project_of(folder)
    beside = folder.parent if folder.name in _BESIDE_PACKAGES else None
    current = here() if here() in (folder, *folder.parents) else None
    found = [root, None if root is None else root / "src", beside, current]
    named = [Path(os.path.abspath(p)) for p in outside.variable("PYTHONPATH").split(os.pathsep) if p]
    found += [p for p in named if root is not None and p.is_relative_to(root)]
    return list(dict.fromkeys(p for p in found if p is not None and outside.is_dir(p) and p != p.parent))


@lru_cache(maxsize=10_000)
def canonical(name: str) -> str:
    """The one name of what a library has under several: ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``."""
    if load(name):  # there are aliases that nobody knew before
        _packages.cache_clear()
        canonical.cache_clear()
    if name in ALIASES:
        return ALIASES[name]
    if name.startswith("torch.nn.modules.") and name.rpartition(".")[2][:1].isupper():
        return f"torch.nn.{name.rpartition('.')[2]}"
    prefix = name
    while "." in prefix:
        prefix = prefix.rpartition(".")[0]
        if prefix in ALIASES:
            real = ALIASES[prefix]
            return name if real == prefix else canonical(real + name[len(prefix) :])
    return name


@cache
def _packages() -> frozenset[str]:
    """The dotted names that others lie under, as far as libraries are read."""
    return _packages_of_rules() | _above(NATIVES, CLASSES, MADE, VALUES, ALIASES, OWN, ABSENT)


@cache
def _packages_of_rules() -> frozenset[str]:
    return _above(RULES, MODULES)


def _above(*tables: Iterable[str]) -> frozenset[str]:
    """The dotted names that the names in tables lie under."""
    found: set[str] = set()
    for table in tables:
        for name in table:
            package = name.rpartition(".")[0]
            while package and package not in found:
                found.add(package)
                package = package.rpartition(".")[0]
    return frozenset(found)
