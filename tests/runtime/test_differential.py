"""`checked` accepts and refuses exactly what jaxtyping with beartype does, call after call."""
# ruff: noqa: UP007, UP045 - both spellings of a union

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Optional, Union, get_args, get_origin

import jaxtyping
import torch
from beartype import beartype
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simpletorch import checked

DTYPES = ["Float32", "Float", "Int64", "Shaped", "Num"]
WORDS = st.lists(st.sampled_from(["a", "b", "2", "3", "_", "#a", "c"]), max_size=3)


@st.composite
def tensor_hints(draw: st.DrawFn) -> Any:
    words = draw(WORDS)
    if draw(st.booleans()):
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(["...", "*r", "*#r"])))
    return getattr(jaxtyping, draw(st.sampled_from(DTYPES)))[torch.Tensor, " ".join(words)]


@st.composite
def hints(draw: st.DrawFn) -> Any:
    base = draw(tensor_hints())
    return draw(
        st.sampled_from(
            [
                base,
                base,
                base,
                Optional[base],
                Union[base, int],
                tuple[base, int],
                list[base],
                dict[str, base],
                int,
                float,
                Any,
                torch.Tensor,
            ]
        )
    )


NAMES = {
    "Float32": torch.float32,
    "Float": torch.float32,
    "Int64": torch.int64,
    "Shaped": torch.bool,
    "Num": torch.int64,
}
TENSORS = st.builds(
    lambda shape, dtype: torch.zeros(shape, dtype=dtype),
    st.lists(st.sampled_from([1, 2, 3]), max_size=3),
    st.sampled_from([torch.float32, torch.float32, torch.int64, torch.bool]),
)
OTHERS = st.one_of(
    TENSORS,
    st.none(),
    st.integers(0, 3),
    st.just("x"),
    st.lists(TENSORS, max_size=1),
    st.tuples(TENSORS, st.integers(0, 3)),
    st.dictionaries(st.just("k"), TENSORS, max_size=1),
)


@st.composite
def sizes(draw: st.DrawFn) -> dict[str, list[int]]:
    """One size for each name, and a row of sizes for each variadic one."""
    one = {name: [draw(st.integers(1, 3))] for name in ("a", "b", "c")}
    return {**one, "r": draw(st.lists(st.integers(1, 3), max_size=2))}


def fitting_tensor(hint: Any, known: dict[str, list[int]]) -> torch.Tensor:
    shape: list[int] = []
    for word in hint.dim_str.split():
        name = word.lstrip("*#")
        shape += [int(word)] if word.isdigit() else [2] if word in ("_", "...") else known[name]
    return torch.zeros(shape, dtype=NAMES[hint.dtype.__name__])


@st.composite
def values_for(draw: st.DrawFn, hint: Any, known: dict[str, list[int]]) -> Any:
    """Mostly a value that fits; lists and dicts hold one item, because beartype looks at one only."""
    if draw(st.integers(0, 7)) == 0:
        return draw(OTHERS)
    args = get_args(hint)
    if get_origin(hint) is Union:
        hint = draw(st.sampled_from(args))
    if hint is type(None):
        return None
    if hint in (int, float):
        return hint(draw(st.integers(0, 3)))
    if hint in (Any, torch.Tensor):
        return draw(TENSORS)
    if get_origin(hint) is tuple:
        return (fitting_tensor(args[0], known), draw(st.integers(0, 3)))
    if get_origin(hint) is list:
        return [fitting_tensor(args[0], known)]
    if get_origin(hint) is dict:
        return {"k": fitting_tensor(args[1], known)}
    return fitting_tensor(hint, known)


@st.composite
def calls(draw: st.DrawFn, *hinted: Any) -> tuple[Any, ...]:
    known = draw(sizes())
    return tuple(draw(values_for(hint, known)) for hint in hinted)


def verdict(function: Callable[..., Any], *args: Any) -> str:
    try:
        function(*args)
    except (TypeError, RuntimeError) as error:
        return "refused" if isinstance(error, jaxtyping.TypeCheckError) else type(error).__name__
    return "accepted"


VERDICTS: Counter[str] = Counter()


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.data())
def compare(data: st.DataObject) -> None:
    first, second, result = data.draw(hints()), data.draw(hints()), data.draw(hints())

    def function(x, y, out):
        return out

    function.__annotations__ = {"x": first, "y": second, "return": result}
    ours = checked(function)
    theirs = jaxtyping.jaxtyped(function, typechecker=beartype)
    made = data.draw(st.lists(calls(first, second, result), min_size=1, max_size=6))
    for call in [*made, *made]:  # the second time through the memo
        expected = verdict(theirs, *call)
        assert verdict(ours, *call) == expected, (first, second, result, call)
        VERDICTS[expected] += 1


def test_the_same_verdict_as_jaxtyping_and_beartype():
    VERDICTS.clear()
    compare()
    assert min(VERDICTS["accepted"], VERDICTS["refused"]) > 300, "too one-sided to mean something"
