"""`checked` accepts and refuses exactly what jaxtyping with beartype does, call after call."""
# ruff: noqa: UP007, UP045 - both spellings of a union

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Union

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


TENSORS = st.builds(
    lambda shape, dtype: torch.zeros(shape, dtype=dtype),
    st.lists(st.sampled_from([1, 2, 3]), max_size=3),
    st.sampled_from([torch.float32, torch.float32, torch.int64, torch.bool]),
)


@st.composite
def values_for(draw: st.DrawFn, hint: Any) -> Any:
    # lists and dicts hold one item at most: beartype looks at one item only
    some = st.one_of(
        TENSORS,
        TENSORS,
        st.none(),
        st.integers(0, 3),
        st.just("x"),
        st.lists(TENSORS, max_size=1),
        st.tuples(TENSORS, st.integers(0, 3)),
        st.dictionaries(st.just("k"), TENSORS, max_size=1),
    )
    return draw(some)


def verdict(function: Callable[..., Any], *args: Any) -> str:
    try:
        function(*args)
    except (TypeError, RuntimeError) as error:
        return "refused" if isinstance(error, jaxtyping.TypeCheckError) else type(error).__name__
    return "accepted"


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.data())
def test_the_same_verdict_as_jaxtyping_and_beartype(data: st.DataObject):
    first, second, result = data.draw(hints()), data.draw(hints()), data.draw(hints())

    def function(x, y, out):
        return out

    function.__annotations__ = {"x": first, "y": second, "return": result}
    ours = checked(function)
    theirs = jaxtyping.jaxtyped(function, typechecker=beartype)
    calls = data.draw(
        st.lists(st.tuples(values_for(first), values_for(second), values_for(result)), min_size=1, max_size=6)
    )
    for call in [*calls, *calls]:  # the second time through the memo
        assert verdict(ours, *call) == verdict(theirs, *call), (first, second, result, call)
