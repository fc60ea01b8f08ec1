"""``pytest``: what is expected to fail is no mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import library_class, native
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

for _name in ("raises", "warns", "deprecated_call"):  # a warning may be an error, by the settings
    library_class(
        f"pytest.{_name}", ("contextlib.suppress",), make=lambda run, cls, args, kwargs: Instance(cls, (args,))
    )


@native("pytest.skip", "pytest.fail", "pytest.exit", "pytest.xfail")
def _end(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    raise Raised("OutcomeException", None, ("BaseException",))
