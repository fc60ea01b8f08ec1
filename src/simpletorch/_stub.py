"""Names that resolve on first use: a package's stub lists each of them once, for checkers and for the run time.

A checker reads ``__init__.pyi`` instead of ``__init__.py``. At run time the stub is parsed when the first name is asked
for, so importing the package costs nothing and loads nothing.
"""

from functools import cache
from importlib import import_module


@cache
def homes(package: str) -> dict[str, str]:
    """The names that the stub of ``package`` imports, and the modules that it imports them from.

    Second imports from a module ``_plain`` are only for checkers without the mypy plugin.
    """
    import ast  # these two take three times as long as all the rest of `import simpletorch`
    import pkgutil

    stub = pkgutil.get_data(package, "__init__.pyi")
    assert stub is not None, f"the loader of {package} can't read its files"
    return {
        name.name: statement.module
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        if not statement.module.endswith("._plain")
        for name in statement.names
        if name.name != "*"
    }


def load(package: str, name: str) -> object:
    """The meaning of ``name`` in the stub of ``package``: a submodule, or an object of another module."""
    home = homes(package)[name]
    # ``from simpletorch import nn`` in the stub of simpletorch means the submodule
    return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
