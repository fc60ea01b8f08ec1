"""`install_import_hook`: a whole package behind the run-time border, without a decorator in it.

The hook compiles the package's modules with ``@checked`` on every annotated function and class. Importing this file
loads no torch; the modules that it compiles do.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final

__all__ = ["ImportHook", "install_import_hook"]


def install_import_hook(modules: str | Sequence[str]) -> ImportHook:
    """Check every annotated function of a package, from its next import on, as if each had ``@simpletorch.checked``.

    ::

        with simpletorch.install_import_hook("mypkg"):
            import mypkg                # and all its submodules that are imported here

        hook = simpletorch.install_import_hook(["mypkg", "other.part"])
        ...
        hook.uninstall()

    Functions and methods without annotations stay as they are, and so does what is marked with `typing.no_type_check`
    or compiled from its source (``torch.jit.script``, ``triton.jit``). Dataclasses and named tuples hold their fields
    to the annotations when they are made. A function's own decorators see the checked function.

    It works like jaxtyping's hook of that name. Modules that are imported already, and ``__main__``, stay unchecked.

    Args:
        modules: dotted names; a package includes all its modules.

    Returns:
        The hook: ``uninstall()`` takes it out again, and so does leaving it as a ``with`` block.

    Raises:
        TypeError, ValueError: ``modules`` isn't the name of a module, or is empty.

    Examples:
        >>> import simpletorch
        >>> with simpletorch.install_import_hook("mypkg"):
        ...     pass  # import mypkg here: its annotated functions are checked
    """
    names = (modules,) if isinstance(modules, str) else tuple(modules)
    if not names:
        raise ValueError("install_import_hook(()) names no module; write install_import_hook('mypkg')")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"install_import_hook takes names of modules, such as 'mypkg', not {type(name).__name__}")
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(
                f"install_import_hook({name!r}): that is no module's name, such as 'mypkg' or 'mypkg.part'"
            )
        if _is_imported(sys.modules.get(name)):
            warnings.warn(
                f"{name} is imported already and stays unchecked; call install_import_hook before its first import",
                RuntimeWarning,
                stacklevel=2,
            )
    hook = ImportHook(names)
    sys.meta_path.insert(0, hook)
    return hook


def _is_imported(module: ModuleType | None) -> bool:
    """Whether a module has run to its end; a package may install the hook for itself while it is being imported."""
    # The import system's own mark, private. Without it (a rename) the warning comes once too often.
    return module is not None and not getattr(module.__spec__, "_initializing", False)


class ImportHook(MetaPathFinder):
    """An installed hook: a context manager, or `uninstall` it."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.modules: Final = modules

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The other finders' result, with a checking loader for source files of these modules."""
        if not any(fullname == name or fullname.startswith(f"{name}.") for name in self.modules):
            return None
        for finder in sys.meta_path:
            spec: ModuleSpec | None = (
                # not ourselves, which would never end, nor another of our hooks, which would decorate twice
                None if isinstance(finder, ImportHook) else finder.find_spec(fullname, path, target)
            )
            if spec is not None:
                # exactly that class: a subclass, such as jaxtyping's, compiles in its own way
                if type(spec.loader) is SourceFileLoader:
                    spec.loader = _CheckingLoader(spec.loader.name, spec.loader.path)
                return spec
        return None

    def uninstall(self) -> None:
        """Leave modules that are imported from now on unchecked."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def __enter__(self) -> ImportHook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()

    def __repr__(self) -> str:
        return f"<simpletorch import hook for {', '.join(self.modules)}>"


class _CheckingLoader(SourceFileLoader):
    """Compiles a source file with the decorators in it."""

    # typeshed has the static method of InspectLoader, but SourceLoader's is an ordinary one
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        tree = ast.parse(decode_source(data), filename=path)
        _decorate(tree)
        code: CodeType = compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)
        return code

    def path_stats(self, path: Any) -> Any:
        """Say that the source has no date, so that no bytecode is cached: its plain form lies there."""
        raise OSError


_OURS: Final = "__simpletorch__"  # two underscores at both ends: Python mangles no such name in a class
# decorators that compile the source, mark it, or check already; by the last part of their name
_LEFT_ALONE: Final = frozenset(
    ("no_type_check", "overload", "checked", "jaxtyped", "beartype", "typechecked", "script", "jit", "kernel")
)


def _decorate(tree: ast.Module) -> None:
    """Put ``@checked`` on what a module defines, and the import of it on top."""
    visitor = _Decorator()
    visitor.visit(tree)
    if not visitor.found:
        return
    last = next((i for i, node in enumerate(tree.body) if not _is_preamble(node)), len(tree.body))
    where = tree.body[max(last - 1, 0)]
    load = ast.Import(names=[ast.alias("simpletorch", _OURS)])
    tree.body.insert(last, ast.fix_missing_locations(ast.copy_location(load, where)))


def _is_preamble(node: ast.stmt) -> bool:
    """Whether a statement has to stay on top: the docstring and imports from the future."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Decorator(ast.NodeVisitor):
    found = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if _is_left_alone(node):
            return
        if _is_annotated(node):
            # the innermost: other decorators may take the annotations away, or give something that is no function
            node.decorator_list.append(self._checked(node))
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if _is_left_alone(node):
            return
        # the outermost: @dataclass makes the __init__ that is checked
        node.decorator_list.insert(0, self._checked(node))
        self.generic_visit(node)

    def _checked(self, node: ast.stmt) -> ast.expr:
        self.found = True
        decorator = ast.Attribute(ast.Name(_OURS, ast.Load()), "checked", ast.Load())
        return ast.fix_missing_locations(ast.copy_location(decorator, node))


def _is_left_alone(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(_last_name(decorator) in _LEFT_ALONE for decorator in node.decorator_list)


def _last_name(decorator: ast.expr) -> str | None:
    match decorator:
        case ast.Call(func=inner):
            return _last_name(inner)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return None


def _is_annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    a = node.args
    parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(p for p in (a.vararg, a.kwarg) if p is not None)]
    return node.returns is not None or any(p.annotation is not None for p in parameters)
