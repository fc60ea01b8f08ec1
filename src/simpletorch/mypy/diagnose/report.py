"""Diagnostics: our error codes, our messages, and mypy's own messages about tensors put into our words.

mypy itself compares types where no hook is asked: ``return``, assignment, arguments. It compares structurally, so it
calls ``D//H*H`` and ``D`` different, and prints ``Literal[784]``. A watcher at the bottom of mypy's stack of error
watchers sees each message before it is recorded. A message about two tensor types is judged again with three-valued
equality (dropped if the two may be equal) and gets our code and our spelling of types. There is no hook for that;
`ErrorWatcher` takes a callback, and that is all we use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, cast

from mypy.errorcodes import ErrorCode
from mypy.errors import ErrorInfo, Errors, ErrorWatcher
from mypy.nodes import ComparisonExpr, Context, MypyFile, OpExpr
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.convert.spelling import (
    callable_items,
    container_items,
    device_in,
    has_variables,
    may_be,
    respell,
    same_module_class,
    sizes_in,
    tensor_in,
    tuple_items,
    union_members,
)
from simpletorch.mypy.diagnose import silenced
from simpletorch.mypy.diagnose.callbacks import as_callables
from simpletorch.mypy.diagnose.concerned import is_repeated
from simpletorch.mypy.diagnose.inferred import unite_modules, widen_place
from simpletorch.mypy.diagnose.modules import as_results
from simpletorch.mypy.diagnose.ours import is_ours_to_cause
from simpletorch.mypy.diagnose.signatures import agree_but_for_names, chosen_sizes, is_size_of_protocol
from simpletorch.mypy.program.asked_dtypes import is_dtype_asked
from simpletorch.mypy.program.autocast import autocast_at
from simpletorch.mypy.program.facts import NO_FACTS, Facts
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable
from simpletorch.rules.core import codes
from simpletorch.rules.core.codes import Severity
from simpletorch.rules.core.mismatch import Report
from simpletorch.shapes import UNKNOWN, Bindings, Dim, Rest, Shape, assuming, equal, same, unify, variables

__all__ = [
    "BY_CODE",
    "CODES",
    "allow_sizes",
    "ask_first",
    "mistakes",
    "note_tree",
    "number_of_reports",
    "report",
    "watch",
    "weigh",
]

Verdict: TypeAlias = Literal["shape", "dtype", "device", "unsure"]
BY_CODE: Final = {code.name: ErrorCode(code.name, code.about, "simpletorch") for code in codes.CODES.values()}
CODES: Final = {name.removeprefix("tensor-"): code for name, code in BY_CODE.items()}
"""By what they are about: shape, dtype, device …"""

_SOFT: Final[set[str]] = set()
_OFF: Final[set[str]] = set()


def weigh(severities: Mapping[str, Severity]) -> None:
    """Say what is a warning or a note in notes, which don't make mypy fail, and nothing of what is off.

    To disable a code in mypy's options would void what its cache has of torch, which was checked with others.
    """
    _SOFT.clear()
    _SOFT.update(code for code, severity in severities.items() if severity in ("warning", "note"))
    _OFF.clear()
    _OFF.update(code for code, severity in severities.items() if severity == "off")


_reports = 0


def number_of_reports() -> int:
    """How often something was reported so far, whether or not mypy let it through."""
    return _reports


def report(found: Report, context: Context, api: CheckerPluginInterface) -> None:
    """Say it: one error, and a note with the hint."""
    global _reports
    _reports += 1
    if found.kind == "dtype" and (autocast_at(context, api) is not None or is_dtype_asked(context, api)):
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


Elsewhere: TypeAlias = Callable[[str, ErrorInfo], bool]

_elsewhere: Final[list[Elsewhere]] = []


def ask_first(*is_said: Elsewhere) -> None:
    """Before a mistake of a file is said, ask these alone whether it is said already: each is said once."""
    _elsewhere[:] = is_said


def _is_taken(file: str, info: ErrorInfo) -> bool:
    return any(is_said(file, info) for is_said in _elsewhere)


_checkers: Final[dict[str, CheckerPluginInterface]] = {}
"""The checker of the file that is being checked, by its path; a message has only the path and the line."""

_recorder: Errors | None = None
"""Where mypy records what it says."""


def watch(errors: Errors, api: CheckerPluginInterface | None = None) -> None:
    """Put our watcher at the bottom of the stack, once."""
    global _recorder
    _recorder = errors
    if api is not None and _checkers.get(errors.file) is not api:  # in the daemon a file that was edited has a new one
        _checkers.clear()
        _checkers[errors.file] = api
        silenced.forget(errors.file)
    watchers = errors._watchers
    if not watchers or watchers[0]._filter is not _review:
        watchers.insert(0, ErrorWatcher(errors, filter_errors=_review))


_ALIASES: Final[set[tuple[str, int]]] = set()
"""Lines (file, line) on which a bare size is a type argument, as in ``Image = Tensor[Float32, 3, H, W]``."""


_trees: Final[dict[str, MypyFile]] = {}
"""The files with annotations of ours, by path: mypy compares signatures before it asks a hook of the checker."""


def note_tree(tree: MypyFile) -> None:
    """Remember the file for what mypy says of its signatures."""
    _trees[tree.path] = tree


_CONSTANTS: Final[dict[tuple[str, int], set[str]]] = {}
"""Constants that are dims on a line, by their full names: ``Image = Tensor[Float32, 3, SIZE, SIZE]``."""


def allow_sizes(errors: Errors, line: int, constant: str | None = None) -> None:
    """mypy also analyses an alias item by item, before or after: its complaint about a bare size there is void.

    Args:
        errors: where it complains.
        line: where the size is written.
        constant: the full name of the variable that the size is written as; None for a number.
    """
    watch(errors)
    if constant is None:
        _ALIASES.add((errors.file, line))
    else:
        _CONSTANTS.setdefault((errors.file, line), set()).add(constant)
    recorded = errors.error_info_map.get(errors.file)
    if recorded:
        recorded[:] = [info for info in recorded if not _is_void(errors.file, info)]


_NOT_A_TYPE: Final = 'Variable "{}" is not valid as a type'
_VARIABLES_PAGE: Final = "common_issues.html#variables-vs-type-aliases"


def _is_void(file: str, info: ErrorInfo) -> bool:
    constants = _CONSTANTS.get((file, info.line))
    if constants and (_VARIABLES_PAGE in info.message or info.message in map(_NOT_A_TYPE.format, constants)):
        return True
    about_sizes = info.message.startswith(("Invalid type: try using Literal[", "Invalid type comment or annotation"))
    return about_sizes and (file, info.line) in _ALIASES


# An int is a fine default for a `Dim[D]`: it is what D is when the caller leaves the argument out.
_DIM_DEFAULT: Final = re.compile(r'^Incompatible default for .*\(default has type "int", .* has type "Dim\[')
_VARIANCE: Final = re.compile(r'^\w+ type variable "(\w+)" used in protocol where ')
_PAIR: Final = re.compile(
    r'got "(?P<got>[^"]*)", expected "(?P<expected>[^"]*)"'
    r'|has incompatible type "(?P<got2>[^"]*)"; expected "(?P<expected2>[^"]*)"'
    r'|expression has type "(?P<got3>[^"]*)", variable has type "(?P<expected3>[^"]*)"'
    r'|expression has type "(?P<got4>[^"]*)", (?:target|TypedDict item "[^"]*") has type "(?P<expected4>[^"]*)"'
    r'|expression has type "(?P<got5>[^"]*)", base class "[^"]*" defined the type as "(?P<expected5>[^"]*)"'
    r'|actual type "(?P<got6>[^"]*)", expected type "(?P<expected6>[^"]*)"'
    r'|default has type "(?P<got7>[^"]*)", (?:argument|parameter) has type "(?P<expected7>[^"]*)"'
    r'|Return type "(?P<got8>[^"]*)" of "[^"]*" incompatible with return type "(?P<expected8>[^"]*)" in supertype'
    r'|has incompatible type (?P<got9>[^";]*); expected (?P<expected9>[^"]*)$'
    r'|has incompatible type "[^"]*": "(?P<got10>[^"]*)"; expected "[^"]*": "(?P<expected10>[^"]*)"'
)


_OF_PAIRS: Final = ('got "', ' type "', "incompatible type ")
"""One of them is in each message with a pair of types; to search for the pair itself takes twenty times as long."""
_SIZES: Final = re.compile(r"^(?:list|tuple)\[int(?:, (?:int|\.\.\.))*\]$")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_OF_ALIAS: Final = re.compile(rf"\b(\w+)@{NAMED_SCOPE}\b")
"""A size of an alias (``Image = Float32[torch.Tensor, "3 h w"]``), which is the function's own of that name."""
_ELIDED: Final = re.compile(r"<\d+ more items>")
"""What mypy prints of a long union."""


_dropped: tuple[str, int] | None = None
"""Where the last error was that was dropped: what mypy notes about it goes with it."""


def _review(file: str, info: ErrorInfo) -> bool:
    """Review a message of mypy's. True drops it, and the notes that belong to it."""
    global _dropped
    if info.severity == "note" and not info.message.startswith("Revealed type") and _dropped == (file, info.line):
        return True
    kept, said = _kept_messages(file), (info.line, info.column, info.severity, info.code, info.message)
    if said in kept:
        info.message, info.code, info.severity = kept[said]
        _dropped = None
        return _is_silenced(file, info)
    is_void = _reviewed(file, info)
    _dropped = (file, info.line) if is_void else None
    if not is_void:
        kept[said] = info.message, info.code, info.severity
    return is_void or _is_silenced(file, info)


def _is_silenced(file: str, info: ErrorInfo) -> bool:
    """Whether a comment that is for a code of mypy's takes this error of ours; it has to know all that mypy says."""
    if _recorder is None or info.code is None:
        return False
    if info.code.category == "simpletorch":
        return silenced.takes(_recorder, file, info)
    silenced.hear(_recorder, file, info)
    return False


_Message: TypeAlias = tuple[str, ErrorCode | None, str]  # its text, code and severity

_kept: Final[dict[tuple[object, ...], _Message]] = {}
_kept_of: object = None


def _kept_messages(file: str) -> dict[tuple[object, ...], _Message]:
    """The messages about the function that mypy is checking, as they were rewritten, without the dropped ones.

    mypy says most of them ten times, for each way in which it looks at an expression, and prints them once.
    """
    global _kept_of
    api = _checkers.get(file)
    binder = None if api is None else cast(Any, api).binder  # each function has its own, also when checked again
    if binder is None or binder is not _kept_of:
        _kept.clear()
        _kept_of = binder
    return _kept


def _reviewed(file: str, info: ErrorInfo) -> bool:
    """Rewrite a message of mypy's that is about tensors. True drops it: it is no mistake, or the place is widened."""
    if _recorder is not None and (file in _recorder.ignored_files or _is_off(info.code, _recorder)):
        return False  # it isn't shown
    pair, verdict = _judged(file, info)
    if verdict == "unsure":
        return True
    if info.code is not None and info.code.category == "simpletorch":
        if _is_weighed_away(info):
            return True
        if info.severity == "note":  # mypy's, about an error of its own that has our code by now
            info.message = respell(info.message)
        return _is_taken(file, info)
    api = _checkers.get(file)
    if pair is not None and api is not None:
        if verdict is None and unite_modules(info.line, api):
            return True
        if (verdict is not None or same_module_class(*pair)) and widen_place(info.line, api):
            return True
    if verdict is not None:
        info.code = CODES[verdict]
        if _is_weighed_away(info):
            return True
    elif api is not None and is_ours_to_cause(info, api):
        return True
    info.message = respell(info.message)
    if verdict is None and api is not None and is_repeated(file, info, api):
        return True
    return _is_taken(file, info)


def _is_off(code: ErrorCode | None, errors: Errors) -> bool:
    """Whether mypy shows such errors only to who asks; one that somebody doesn't want may still be ours to show."""
    return code is not None and not code.default_enabled and not errors.is_error_code_enabled(code)


def _is_weighed_away(info: ErrorInfo) -> bool:
    """Whether a mistake with this code isn't to be said; what is to be said softly becomes a note."""
    if info.code is None:
        return False
    if info.code.code in _SOFT:
        info.severity = "note"
    return info.code.code in _OFF


def _is_about_names(file: str, info: ErrorInfo) -> bool:
    """Whether mypy finds two signatures at odds, or says more of it, that agree but for the names of their sizes.

    Or the name of a size in a protocol, which it calls covariant.
    """
    if (variance := _VARIANCE.match(info.message)) is not None:
        return file in _trees and is_size_of_protocol(variance[1], info.line, _trees[file])
    is_override = info.code is not None and info.code.code == "override"
    if not (is_override or " in supertype " in info.message or info.message.startswith("Overloaded ")):
        return False
    in_results = info.message.startswith("Return type ")
    return file in _trees and agree_but_for_names(info.line, _trees[file], in_results=in_results)


def _judged(file: str, info: ErrorInfo) -> tuple[tuple[str, str] | None, Verdict | None]:
    """The two types that a message is about, if any, and how they differ.

    The verdict is "unsure" as well where it is about no types: what mypy complains of is fine by our rules.
    """
    if _is_void(file, info) or _DIM_DEFAULT.match(info.message):
        return None, "unsure"
    if info.code is not None and info.code.category == "simpletorch":
        return None, None
    if _is_about_names(file, info):
        return None, "unsure"
    if (pair := _pair(info)) is None:
        return None, None
    api = _checkers.get(file)
    if api is not None:
        pair = as_callables(pair, info.line, api)
    here = _Circumstances(info.line, api)
    if info.message.startswith("Incompatible default "):
        here = here.choosing(frozenset(n for name in _NAME.findall(pair[1]) for n in (name, f"*{name}")))
    return pair, _compare(*pair, here)


def _pair(info: ErrorInfo) -> tuple[str, str] | None:
    """The type that mypy got and the type that it expected."""
    if f"@{NAMED_SCOPE}" in info.message:
        for name in _OF_ALIAS.findall(info.message):
            info.message = re.sub(rf"\b{name}@\w+", name, info.message)
    if not any(words in info.message for words in _OF_PAIRS) or (found := _PAIR.search(info.message)) is None:
        return None
    got, expected = (text for text in found.groups() if text is not None)
    return got, expected


@contextmanager
def mistakes(api: CheckerPluginInterface) -> Iterator[list[ErrorInfo]]:
    """Collect the errors of what is tried here instead of recording them, without those that are no mistakes."""
    found: list[ErrorInfo] = []

    def collect(file: str, info: ErrorInfo) -> bool:
        if _judged(file, info)[1] != "unsure":
            found.append(info)
        return True

    with api.msg.filter_errors(filter_errors=collect):
        yield found


class _Circumstances:
    """The facts for comparing two types; worked out on first use, as most types have no sizes."""

    def __init__(self, line: int, api: CheckerPluginInterface | None) -> None:
        self._line = line
        self._checker = cast(Any, api)

    @cached_property
    def facts(self) -> Facts:
        """The facts that the program states about sizes."""
        if self._checker is None:
            return NO_FACTS
        return PlaceLifter(TypeTable(self._checker.modules), self._checker, self._line).facts.unscoped()

    def results(self, got: str, expected: str) -> tuple[str, str] | None:
        """The result of a module, and the ``Out`` of the ``Module[In, Out]`` that is expected."""
        return as_results(got, expected, self._line, self._checker, mistakes)

    def known(self, dim: Dim) -> Dim:
        """The size by what is stated; only sizes with variables are asked for."""
        return self.facts.known(dim)

    @cached_property
    def chosen(self) -> frozenset[str]:
        """The sizes that only the result of the function around has, which chooses them; of a default, all sizes."""
        function = None if self._checker is None else self._checker.scope.current_function()
        return frozenset() if function is None else chosen_sizes(function)

    def choosing(self, chosen: frozenset[str]) -> _Circumstances:
        """The same with other sizes that are chosen."""
        other = copy(self)
        other.chosen = chosen
        return other


def _compare(got: str, expected: str, here: _Circumstances) -> Verdict | None:
    """How two types differ that mypy calls incompatible; None if they differ in more than sizes and dtypes."""
    members, targets = union_members(got), union_members(expected)
    if "[" not in expected:  # mypy prints no sizes there
        return "unsure" if all(m in targets for m in members) else None
    if any(m == "Any" or _ELIDED.fullmatch(m) for m in members) and any(map(tensor_in, targets)):
        return "unsure"
    # a union comes from branches or from rounds of a loop, which correlate with what is done with it: so it is an error
    # only if no member fits
    rest = [m for m in members if m not in targets]
    verdicts = {_compare_with_all(m, targets, here) for m in rest}
    if None in verdicts:
        return None
    return "unsure" if any(m in targets for m in members if m != "None") else _mildest(verdicts)


def _compare_with_all(got: str, targets: Sequence[str], here: _Circumstances) -> Verdict | None:
    """How a type differs from each of these."""
    verdicts = {_compare_members(got, target, here) for target in targets} - {None}
    return _mildest(verdicts) if verdicts else None


def _compare_members(got: str, expected: str, here: _Circumstances) -> Verdict | None:
    """How two types differ that are no unions."""
    pairs = tuple_items(got, expected) or container_items(got, expected)
    if pairs is not None:
        verdicts = {_compare(g, e, here) for g, e in pairs if g not in union_members(e)}
        return None if None in verdicts else _worst(verdicts)
    if (pairs := callable_items(got, expected)) is not None:
        verdicts = {_compare_open(g, e, here) for g, e in pairs if g != e}
        return None if None in verdicts else _worst(verdicts)
    if (results := here.results(got, expected)) is not None:
        return "unsure" if results[0] == results[1] else _compare_open(results[1], results[0], here)
    if got == "Size" and _SIZES.match(expected):
        return "unsure"  # TorchScript's own name for it is List[int], and how long it is isn't known
    found, wanted = tensor_in(got), tensor_in(expected)
    if found is None or wanted is None:
        return _compare_classes(got, expected, here)
    verdict = _compare_tensors(found, wanted, here)
    return "device" if verdict == "unsure" and not _devices_fit(got, expected) else verdict


def _devices_fit(got: str, expected: str) -> bool:
    """Whether two tensors may be on one device, as far as their types say."""
    first, second = device_in(got), device_in(expected)
    return first is None or second is None or first.agrees(second)


def _compare_open(got: str, expected: str, here: _Circumstances) -> Verdict | None:
    """Compare types of a function's parameters or result, whose open sizes mypy takes for sizes of this place."""
    if not has_variables(got):
        return _compare(got, expected, here)
    found, wanted = tensor_in(got), tensor_in(expected)
    if found is None or wanted is None:
        return "unsure"
    items = found[1].items
    names = {v.name for item in items if not isinstance(item, Rest) for v in variables(item)}
    rests = {f"*{item.name}" for item in items if isinstance(item, Rest)}
    return _compare_tensors(wanted, found, here.choosing(frozenset(names | rests)))


def _compare_classes(got: str, expected: str, here: _Circumstances) -> Verdict | None:
    """Two types of one class, such as ``Dim[M]`` and ``Dim[N]``, may be the same if all sizes are that differ."""
    pairs = sizes_in(got, expected)
    if not pairs:
        return None
    with assuming(here.known):
        verdicts = [equal(a, b) for a, b in pairs]
    # of other classes than Dim it isn't sure that what differs are sizes
    fits = all(verdicts) or (got.startswith("Dim[") and False not in verdicts)
    return "unsure" if fits else None


def _mildest(verdicts: Set[Verdict | None]) -> Verdict:
    """The verdict if any one of several may be meant."""
    return "unsure" if "unsure" in verdicts else _worst(verdicts)


def _worst(verdicts: Set[Verdict | None]) -> Verdict:
    """The verdict on several together. Nothing differs for sure where mypy compares only structure and identities."""
    ranked: tuple[Verdict, ...] = ("shape", "dtype", "device")
    return next((verdict for verdict in ranked if verdict in verdicts), "unsure")


def _compare_tensors(found: tuple[str, Shape], wanted: tuple[str, Shape], here: _Circumstances) -> Verdict:
    with assuming(here.known):
        fits = same(found[1], _with_chosen(wanted[1], found[1], here.chosen))
    if fits is False:
        return "shape"
    if may_be(found[0], wanted[0]):
        return "unsure"
    return "dtype"


def _with_chosen(wanted: Shape, found: Shape, chosen: frozenset[str]) -> Shape:
    """The shape that a function promises, with the sizes that it chooses as they are in what it gives."""
    if not chosen:
        return wanted
    names = {v for item in wanted if not isinstance(item, Rest) for v in variables(item) if v.name in chosen}
    bindings = Bindings(names)
    unify(wanted, found, bindings)
    rests = {rest: items for rest, items in bindings.rests.items() if f"*{rest.name}" in chosen}
    return wanted.substitute({v: bindings.dims.get(v, UNKNOWN) for v in names}, rests)
