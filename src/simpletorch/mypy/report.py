"""Diagnostics: our error codes, our messages, and mypy's own messages about tensors put into our words.

mypy itself compares types where no hook is asked: ``return``, assignment, arguments. It compares structurally, so it
calls ``D//H*H`` and ``D`` different, and prints ``Literal[784]``. A watcher at the bottom of mypy's stack of error
watchers sees each message before it is recorded: one about two tensor types is judged again with three-valued
equality (dropped if the two may be equal) and gets our code and our spelling of types. mypy offers no hook for that;
`ErrorWatcher` takes a callback, and that is all we use.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any, Final, Literal, TypeAlias, cast

from mypy.errorcodes import ErrorCode
from mypy.errors import ErrorInfo, Errors, ErrorWatcher
from mypy.nodes import ComparisonExpr, Context, OpExpr
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.autocast import is_autocast
from simpletorch.mypy.facts import NO_FACTS, Facts, facts_at
from simpletorch.mypy.inferred import unite_modules, widen_place
from simpletorch.mypy.lift import Lifter, scopes_around
from simpletorch.mypy.spelling import (
    callable_items,
    has_variables,
    may_be,
    respell,
    same_module_class,
    tensor_in,
    tuple_items,
    union_members,
)
from simpletorch.mypy.types import TypeTable
from simpletorch.rules.mismatch import Report
from simpletorch.shapes import UNKNOWN, Shape, assuming, same

__all__ = ["CODES", "allow_sizes", "report", "watch"]

Verdict: TypeAlias = Literal["shape", "dtype", "unsure"]
CODES: Final = {
    "shape": ErrorCode("tensor-shape", "Shapes of tensors that don't fit", "simpletorch"),
    "dtype": ErrorCode("tensor-dtype", "Dtypes of tensors that don't fit", "simpletorch"),
    "device": ErrorCode("tensor-device", "Tensors on different devices", "simpletorch"),
    "broadcast": ErrorCode("tensor-broadcast", "Broadcasting that is likely a mistake", "simpletorch"),
    "annotation": ErrorCode("tensor-annotation", "An annotation that is no tensor type", "simpletorch"),
}


def report(found: Report, context: Context, api: CheckerPluginInterface) -> None:
    """Say it: one error, and a note with the hint."""
    if found.kind == "dtype" and is_autocast(context, api):
        return
    errors = api.msg.errors
    watch(errors, api)
    # For a binary operator mypy tries several variants and keeps only the last one's errors, or makes its own of
    # them. Our verdict is about the operation, so it goes past the two watchers that check_op and
    # check_op_reversible have put up.
    hidden: list[ErrorWatcher] = []
    if isinstance(context, OpExpr | ComparisonExpr):
        hidden = [errors._watchers.pop() for _ in range(min(2, len(errors._watchers) - 1))]
    try:
        code = CODES[found.kind]
        api.fail(found.text, context, code=code)
        if found.hint:
            api.msg.note(f"hint: {found.hint}", context, code=code)
    finally:
        errors._watchers.extend(reversed(hidden))


_checkers: Final[dict[str, CheckerPluginInterface]] = {}
"""The checker of the file that is being checked, by its path; a message has only the path and the line."""


def watch(errors: Errors, api: CheckerPluginInterface | None = None) -> None:
    """Put our watcher at the bottom of the stack, once."""
    if api is not None and errors.file not in _checkers:
        _checkers.clear()
        _checkers[errors.file] = api
    if not any(w._filter is _review for w in errors._watchers):
        errors._watchers.insert(0, ErrorWatcher(errors, filter_errors=_review))


_ALIASES: Final[set[tuple[str, int]]] = set()
"""Lines (file, line) on which a bare size is a type argument, as in ``Image = Tensor[Float32, 3, H, W]``."""


def allow_sizes(errors: Errors, line: int) -> None:
    """mypy also analyses an alias item by item, before or after: its complaint about a bare size there is void."""
    watch(errors)
    _ALIASES.add((errors.file, line))
    recorded = errors.error_info_map.get(errors.file)
    if recorded:
        recorded[:] = [info for info in recorded if not _is_void(errors.file, info)]


def _is_void(file: str, info: ErrorInfo) -> bool:
    about_sizes = info.message.startswith(("Invalid type: try using Literal[", "Invalid type comment or annotation"))
    return about_sizes and (file, info.line) in _ALIASES


# An int is a fine default for a `Dim[D]`: it is what D is when the caller leaves the argument out.
_DIM_DEFAULT: Final = re.compile(r'^Incompatible default for .*\(default has type "int", .* has type "Dim\[')
_PAIR: Final = re.compile(
    r'got "(?P<got>[^"]*)", expected "(?P<expected>[^"]*)"'
    r'|has incompatible type "(?P<got2>[^"]*)"; expected "(?P<expected2>[^"]*)"'
    r'|expression has type "(?P<got3>[^"]*)", variable has type "(?P<expected3>[^"]*)"'
    r'|expression has type "(?P<got4>[^"]*)", (?:target|TypedDict item "[^"]*") has type "(?P<expected4>[^"]*)"'
    r'|expression has type "(?P<got5>[^"]*)", base class "[^"]*" defined the type as "(?P<expected5>[^"]*)"'
    r'|actual type "(?P<got6>[^"]*)", expected type "(?P<expected6>[^"]*)"'
    r'|default has type "(?P<got7>[^"]*)", argument has type "(?P<expected7>[^"]*)"'
    r'|Return type "(?P<got8>[^"]*)" of "[^"]*" incompatible with return type "(?P<expected8>[^"]*)" in supertype'
)


def _review(file: str, info: ErrorInfo) -> bool:
    """Rewrite a message of mypy's that is about tensors. True drops it: the two types may be equal after all."""
    text = info.message
    if _is_void(file, info) or _DIM_DEFAULT.search(text):
        return True
    if info.code is not None and info.code.category == "simpletorch":
        return False
    if (pair := _PAIR.search(text)) is not None:
        got, expected = (g for g in pair.groups() if g is not None)
        api = _checkers.get(file)
        verdict = _compare(got, expected)
        if verdict == "shape" and api is not None:
            verdict = _compare(got, expected, _facts(info.line, api))
        if verdict == "unsure":
            return True
        if api is not None:
            if verdict is None and unite_modules(info.line, api):
                return True
            if (verdict is not None or same_module_class(got, expected)) and widen_place(info.line, api):
                return True
        if verdict is not None:
            info.code = CODES[verdict]
    info.message = respell(text)
    return False


def _facts(line: int, api: CheckerPluginInterface) -> Facts:
    lifter = Lifter(TypeTable(cast(Any, api).modules), scopes_around(api))
    return facts_at(line, api, lifter.value).unscoped()


def _compare(got: str, expected: str, facts: Facts = NO_FACTS) -> Verdict | None:
    """How two types differ that mypy calls incompatible; None if they aren't both tensors or differ otherwise."""
    if (pairs := tuple_items(got, expected)) is not None:
        verdicts = {_compare(g, e, facts) for g, e in pairs if g != e}
        return None if None in verdicts else _worst(verdicts)
    if (pairs := callable_items(got, expected)) is not None:
        # the sizes of a generic function are open: mypy compares 2*N with 6 as if N were a size of this place
        verdicts = {"unsure" if has_variables(g) else _compare(g, e, facts) for g, e in pairs if g != e}
        return None if None in verdicts else _worst(verdicts)
    wanted = tensor_in(expected)
    found = [tensor_in(member) for member in union_members(got)]
    if wanted is None or None in found:
        return None
    verdicts = {_compare_tensors(f, wanted, facts) for f in found if f is not None}
    # A union may be stale: mypy keeps what a variable held before, where the new type has unknown dims. So a union with
    # anything unknown in it is an error only if no member fits; one of exact types comes from branches, and each
    # must fit.
    is_stale = any(f is not None and (UNKNOWN in f[1].items or not f[1].is_exact) for f in found)
    if "unsure" in verdicts and is_stale:
        return "unsure"
    return _worst(verdicts)


def _worst(verdicts: Set[Verdict | None]) -> Verdict:
    """What to say of several verdicts. Nothing differs for sure where mypy compares only structure and identities."""
    if "shape" in verdicts:
        return "shape"
    return "dtype" if "dtype" in verdicts else "unsure"


def _compare_tensors(found: tuple[str, Shape], wanted: tuple[str, Shape], facts: Facts) -> Verdict:
    with assuming(facts.known):
        fits = same(found[1], wanted[1])
    if fits is False:
        return "shape"
    if may_be(found[0], wanted[0]):
        return "unsure"
    return "dtype"
