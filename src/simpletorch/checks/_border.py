"""`Border`: a checked function's annotations, judged by jaxtyping and beartype, and the calls admitted so far.

The function's generated wrapper (`_wrapper.py`) looks keys up among those that have passed. Only what is seen for the
first time takes the slow road, `Border.admit` and `Border.admit_result`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import jaxtyping
import torch

from simpletorch.checks._computed_sizes import bind, is_computed, verdicts
from simpletorch.checks._config import config
from simpletorch.checks._conformance import Uncheckable, passes, passes_or_unknown, wrong_fields
from simpletorch.checks._hints import as_any_float, dtype_variable, is_ignorable, tensor_hints
from simpletorch.checks._parts import Part, leaves, parts
from simpletorch.checks._records import fields
from simpletorch.checks._refusal import Bound, Mistake, refusal
from simpletorch.checks._remembered_sizes import is_rebuilt
from simpletorch.checks._surroundings import is_observable, under_autocast
from simpletorch.errors import explained

__all__ = ["EVERYTHING", "Border", "Outcome"]

Outcome: TypeAlias = Literal["return", "yield"]

_MOST_SIGNATURES: Final = 1024
_MOST_RESULTS: Final = 64
_LABELS: Final[dict[Outcome, str]] = {"return": "the result", "yield": "what it yields"}


class _Everything(set[Hashable]):
    """The results of a call that isn't checked: it has them all."""

    def __contains__(self, _key: object) -> bool:
        return True

    def __reduce__(self) -> str:
        return "EVERYTHING"  # pickled by name: borders compare it by identity, and a copy would be another one


EVERYTHING: Final = _Everything()


class Border:
    """A checked function's annotations, and the calls admitted so far.

    ``hints`` are the types of the parameters by name, of the result (``"return"``) and of a generator's items
    (``"yield"``). ``sizes`` is the attribute of the first argument that holds the sizes of its class.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        hints: Mapping[str, Any],
        sizes: str | None = None,
    ) -> None:
        self.function = function
        self.sizes = sizes
        self.parameters = tuple(signature.parameters.values())
        self.hints = dict(hints)
        self.seen: dict[Hashable, set[Hashable]] = {}
        self.seen_under_autocast: dict[Hashable, set[Hashable]] = {}
        self._computed = frozenset(name for name, hint in hints.items() if is_computed(hint))
        self._names_dtypes = any(dtype_variable(h) for hint in hints.values() for h in tensor_hints(hint))
        self._in_scope = _argument_scope(hints, self.parameters)

    def admit(self, key: Hashable | None, values: Sequence[Any]) -> set[Hashable]:
        """Check arguments that haven't been seen before; the keys of the results that go with them.

        Raises:
            TorchError: an argument fails its annotation.
        """
        # the wrapper looks in `seen` even under autocast: what passes as it is written passes as "a float" too. The
        # converse doesn't hold, so what passes here only thanks to autocast is remembered apart.
        autocast = under_autocast()
        seen = self.seen_under_autocast if autocast else self.seen
        known = None if key is None else seen.get(key)
        if known is not None:
            return known
        if not is_observable(values):
            return EVERYTHING
        mistakes = self._in_scope(values, lambda: self._wrong_arguments(values, autocast, {}))
        # only after a mistake, as it walks over the parameters; not remembered, as no key holds its answer
        if mistakes and self._is_rebuilt(values):
            return EVERYTHING
        if mistakes:
            raise self._refuse(mistakes, values)
        return set() if key is None else _remembered(seen, key)

    def admit_result(
        self,
        key: Hashable | None,
        known: set[Hashable],
        result_key: Hashable | None,
        values: Sequence[Any],
        result: Any,
        outcome: Outcome = "return",
    ) -> None:
        """Check a result, or an item of a generator, that hasn't been seen before with these arguments.

        Raises:
            TorchError: the result fails its annotation.
        """
        if known is EVERYTHING:
            return
        autocast = under_autocast()
        if autocast and key is not None:
            # ``known`` may be the ordinary memo, in which a bfloat16 result must not pass for float32 from then on
            known = _remembered(self.seen_under_autocast, key)
            if result_key is not None and result_key in known:
                return
        if not is_observable((*values, result)):
            return
        part = Part(_LABELS[outcome], self.hints[outcome], result)

        def wrong() -> Sequence[Mistake]:
            dtypes: dict[Any, set[Bound]] = {}
            self._wrong_arguments(values, autocast, dtypes)  # binds sizes and dtypes
            return self._wrong_outcome(outcome, part, autocast, dtypes)

        mistakes = self._in_scope(values, wrong)
        if mistakes and self._is_rebuilt(values):
            return
        if mistakes:
            raise self._refuse(mistakes, values, [part])
        if result_key is not None:
            if len(known) >= _MOST_RESULTS:
                known.clear()
            known.add(result_key)

    def admit_item(
        self,
        item_key: Callable[[Any], Hashable],
        key: Hashable | None,
        known: set[Hashable],
        values: Sequence[Any],
        item: Any,
    ) -> None:
        """Check an item of a generator, unless one like it has passed with these arguments.

        Raises:
            TorchError: the item fails its annotation.
        """
        try:
            found = item_key(item)
            old = found in known
        except Exception:  # no sound key
            found, old = None, False
        if not old:
            self.admit_result(key, known, found, values, item, "yield")

    def call(self, values: Sequence[Any], function: Callable[[], Any]) -> Any:
        """Check arguments and result around a call, in whose body ``isinstance`` sees their sizes.

        Raises:
            TorchError: an argument or the result fails its annotation, or torch fails inside.
        """
        if config.check == "off" or not is_observable(values):
            return _explaining(function)
        autocast = under_autocast()

        def whole() -> Any:
            dtypes: dict[Any, set[Bound]] = {}
            mistakes = self._wrong_arguments(values, autocast, dtypes)
            if mistakes:
                raise self._refuse(mistakes, values)
            part = Part(_LABELS["return"], self.hints["return"], _explaining(function))
            mistakes = self._wrong_outcome("return", part, autocast, dtypes)
            if mistakes and is_observable([part.value]):
                raise self._refuse(mistakes, values, [part])
            return part.value

        return self._in_scope(values, whole)

    def _wrong_arguments(self, values: Sequence[Any], autocast: bool, dtypes: dict[Any, set[Bound]]) -> list[Mistake]:
        for name, size in self._own(values):
            bind(name, size)
        items = []
        for parameter, value in zip(self.parameters, values, strict=True):
            if not is_ignorable(self.hints[parameter.name]) and value is not parameter.default:
                items += [(parameter.name, name, item) for name, item in _items(parameter, value)]
        found = self._wrong(items, autocast)
        if self._names_dtypes and not autocast:
            owners = type(values[0]).__mro__ if values else ()
            # a class's own variable may stand for a kind of dtypes, which no single value settles
            own = {v for owner in owners for v in getattr(owner, "__parameters__", ())}
            for variable, leaf in _dtype_leaves([Part(name, self.hints[key], value) for key, name, value in items]):
                if variable not in own:
                    dtypes.setdefault(variable, set()).add(Bound(leaf.value.dtype, leaf.name))
        return found

    def _is_rebuilt(self, values: Sequence[Any]) -> bool:
        return self.sizes is not None and is_rebuilt(values[0], self.sizes)

    def _own(self, values: Sequence[Any]) -> tuple[tuple[str, int], ...]:
        return () if self.sizes is None else getattr(values[0], self.sizes, ())

    def _wrong(self, items: Sequence[tuple[str, str, Any]], autocast: bool) -> list[Mistake]:
        """The mistakes among (key of the hint, name, value); computed sizes are looked at when all names are bound."""
        good: dict[int, bool] = {}
        computed = []
        for i, (key, _, value) in enumerate(items):
            hint = self._hint(key, autocast)
            if key in self._computed:
                computed.append((i, value, hint))
            else:
                good[i] = self._passes(key, value, hint)
        if computed:
            found = verdicts([(value, hint) for _, value, hint in computed], passes_or_unknown)
            good |= zip((i for i, _, _ in computed), found, strict=True)
        whole = [Part(name, self._hint(key, autocast), value) for key, name, value in items]
        return [mistake for i, part in enumerate(whole) if not good[i] for mistake in _mistakes(part)]

    def _wrong_outcome(
        self, outcome: Outcome, part: Part, autocast: bool, dtypes: Mapping[Any, set[Bound]]
    ) -> list[Mistake]:
        """The mistakes in a result; where all arguments of a dtype variable have one dtype, it has that too.

        Arguments themselves may differ: for a type checker the variable then stands for what they have in common.
        """
        found = self._wrong([(outcome, part.name, part.value)], autocast)
        if found or not self._names_dtypes or autocast:
            return found
        for variable, leaf in _dtype_leaves([part]):
            bound = sorted(dtypes.get(variable, ()), key=lambda b: b.source)
            if len({b.dtype for b in bound}) == 1 and bound[0].dtype != leaf.value.dtype:
                found.append(Mistake(*leaf, dtype=bound[0]))
        return found

    def _hint(self, key: str, autocast: bool) -> Any:
        return as_any_float(self.hints[key]) if autocast else self.hints[key]

    def _passes(self, name: str, value: Any, hint: Any) -> bool:
        try:
            return passes(value, hint)
        # for good: it is the hint that beartype can't read, whatever the value
        except Uncheckable:  # unknown is quiet
            self.hints[name] = Any
            return True

    def _refuse(self, mistakes: Sequence[Mistake], values: Sequence[Any], outcome: Sequence[Part] = ()) -> Exception:
        arguments = [
            Part(name, self.hints[p.name], item)
            for p, value in zip(self.parameters, values, strict=True)
            for name, item in _items(p, value)
        ]
        return refusal(self.function, mistakes, arguments, dict(self._own(values)), outcome)


def _dtype_leaves(values: Sequence[Part]) -> Iterator[tuple[Any, Part]]:
    """The tensors in values whose dtype is a type variable, with that variable."""
    for leaf in (leaf for part in values for leaf in leaves(part)):
        variables = [dtype_variable(h) for h in tensor_hints(leaf.hint)]
        if len(variables) == 1 and variables[0] is not None and isinstance(leaf.value, torch.Tensor):
            yield variables[0], leaf


def _explaining(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        new = explained(error)
        if new is None:
            raise
        raise new  # noqa: B904 - it has torch's own as its cause


def _remembered(seen: dict[Hashable, set[Hashable]], key: Hashable) -> set[Hashable]:
    """The results under ``key``, which is remembered from now on; ever-new signatures take no ever-growing memory."""
    if key not in seen and len(seen) >= _MOST_SIGNATURES:
        seen.clear()
    return seen.setdefault(key, set())


def _mistakes(whole: Part, within: Sequence[Part] = ()) -> list[Mistake]:
    """The wrong parts of a value that fails its annotation; the value itself if no part is wrong."""
    found: list[Mistake] = []
    inner = parts(whole)
    if fields(whole.hint):
        names = {f.path(whole.name) for f in wrong_fields(whole.value, whole.hint)} if inner else ()
        for part in inner:
            found += _mistakes(part, inner) if part.name in names else []
    else:
        good = verdicts([(part.value, part.hint) for part in inner], passes_or_unknown)
        for part, fits in zip(inner, good, strict=True):
            found += [] if fits else _mistakes(part, within)
    return found or [Mistake(*whole, within)]


def _items(parameter: inspect.Parameter, value: Any) -> list[tuple[str, Any]]:
    """A parameter's values by name: one, but ``*args`` and ``**kwargs`` have several."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return [(f"{parameter.name}[{i}]", item) for i, item in enumerate(value)]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return [(name, item) for name, item in value.items()]
    return [(parameter.name, value)]


def _argument_scope(
    hints: Mapping[str, Any], parameters: Sequence[inspect.Parameter]
) -> Callable[[Sequence[Any], Callable[[], Any]], Any]:
    """How to run a check in a fresh scope of sizes; for a dim such as ``{self.size}`` the scope knows the arguments."""

    def plain(_values: Sequence[Any], check: Callable[[], Any]) -> Any:
        with jaxtyping.jaxtyped("context"):
            return check()

    if not any("{" in h.dim_str for hint in hints.values() for h in tensor_hints(hint)):
        return plain
    names = ", ".join(p.name for p in parameters)
    # jaxtyping evaluates ``{self.size}`` with the arguments of the function that it decorates, by their names
    space: dict[str, Any] = {}
    exec(f"def scope({names}{', ' if names else ''}*, _st_check): return _st_check()", space)
    scope = jaxtyping.jaxtyped(space["scope"], typechecker=None)

    def with_arguments(values: Sequence[Any], check: Callable[[], Any]) -> Any:
        return scope(*values, _st_check=check)

    return with_arguments
