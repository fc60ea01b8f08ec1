"""A cell with the shapes that its lines give, and the way of a batch through a model."""

from __future__ import annotations

import ast
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, final

from simpletorch.follow import Followed
from simpletorch.follow.findings import CHANGES, OR, OneOf
from simpletorch.follow.layers import is_module, named_modules
from simpletorch.follow.outcomes import Exhausted, Raised
from simpletorch.follow.sources import texts
from simpletorch.follow.values import Instance, List, Native, Tensor, Unknown, Value
from simpletorch.notebook._following import begin, nothing_called
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.shapes import Shape

__all__ = ["Shown", "beside", "path_through"]

_WIDEST: Final = 76
_MOST: Final = 3  # shapes of one name on one line


@final
@dataclass(frozen=True)
class Shown:
    """Text with fixed columns, as IPython shows it."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<pre style="background:none;color:inherit">{html.escape(self.text)}</pre>'


def beside(text: str, name: str, found: Followed) -> Shown:
    """The lines of a cell with the shapes that they give at their ends."""
    lines = texts.lines(text)
    width = min(max(map(len, lines), default=0), _WIDEST)
    out = []
    for number, line in enumerate(lines, 1):
        shown = _given(found, name, number)
        out.append(f"{line:<{width}}  # {shown}" if shown else line)
    return Shown("\n".join(out))


def _given(found: Followed, name: str, line: int) -> str:
    parts = []
    for target, values in found.shapes_at(name, line).items():
        rows = [text for text, _ in groupby(str(v) for v in values if isinstance(v, TensorType))]
        if rows:
            between = OR if isinstance(values, OneOf) else CHANGES
            parts.append(f"{target}: {between.join(rows[:_MOST])}{f'{between}…' if len(rows) > _MOST else ''}")
    return ", ".join(parts)


# -- through a model -------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Step:
    path: str
    layer: str
    given: str
    gives: str


def path_through(asked: str, namespace: dict[str, Any]) -> Shown:
    """The input and output of each module inside a model.

    Args:
        asked: the model by its name, then a batch: names of the notebook's, or sizes of a float tensor
            (``"model images"``, ``"model 5 3 32 32"``); without, what the first layers demand.
        namespace: the notebook's variables.

    Raises:
        ValueError: there is no such model, or batch.
    """
    with nothing_called():
        return _path_through(asked, namespace)


def _path_through(asked: str, namespace: dict[str, Any]) -> Shown:
    name, *rest = asked.split()
    run, live = begin(namespace)
    scope = live.scope(namespace, "%shapes")

    def value(text: str) -> Value:
        """A name with dots and indexes: that runs nothing."""
        return run.resolve(run.evaluate(_plain(text), scope))

    model = value(name)
    if not is_module(model):
        raise ValueError(f"{name} is no module that is known: %shapes MODEL [BATCH… | SIZES…]")
    arguments: list[Value] = [Tensor(TensorType(Shape(tuple(map(int, rest))), FLOAT32))] if _are_sizes(rest) else []
    arguments = arguments or ([value(text) for text in rest] if rest else [Tensor(TensorType())])
    steps: list[_Step] = []
    for path, inner in named_modules(run, model):
        inner.state["hooks"] = (_recorder(steps, path or name, inner),)
    run.path = "%shapes"
    try:
        run.call(model, arguments)
    except (Raised, Exhausted) as error:
        steps.append(_Step("", "", "", f"({type(error).__name__.lower()}: what follows isn't known)"))
    found = [f"{error.message}" for error in run.findings]
    return Shown("\n".join([*_table(steps), *found]))


def _plain(text: str) -> ast.expr:
    """The syntax of a name with dots and indexes.

    Raises:
        ValueError: it is something else.
    """
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"{text!r} is no name") from None
    allowed = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load)
    if not all(isinstance(n, allowed) for n in ast.walk(node)):
        raise ValueError(f"{text!r} is no name: nothing is computed here")
    return node


def _are_sizes(texts: Sequence[str]) -> bool:
    return bool(texts) and all(text.isdecimal() for text in texts)


def _recorder(steps: list[_Step], path: str, module: Instance) -> Native:
    """A hook of one module: another function for each, so that none is followed in the place of another."""
    layer = str(module.native) if module.native is not None else module.cls.name

    def record(run: Any, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        steps.append(_Step(path, layer, _shown(args[1]), _shown(args[2])))
        return None

    return Native(path, record)


def _shown(value: Value) -> str:
    if isinstance(value, Tensor):
        return str(value.type)
    if isinstance(value, List):
        value = value.items or ()
    if isinstance(value, tuple):
        rows = ", ".join(map(_shown, value))
        return rows if len(value) == 1 else f"({rows})"
    return "…" if isinstance(value, Unknown | Instance) else str(value)


def _table(steps: Sequence[_Step]) -> Iterator[str]:
    widths = [max((len(getattr(s, part)) for s in steps), default=0) for part in ("path", "layer", "given")]
    for s in steps:
        yield f"{s.path:<{widths[0]}}  {s.layer:<{widths[1]}}  {s.given:<{widths[2]}} → {s.gives}"
