"""`checked` accepts and refuses exactly what jaxtyping with beartype does, call after call, whatever the mode.

They differ on purpose in what this doesn't draw: every item of a container counts (beartype looks at one), the fields
of dataclasses, named tuples and typed dicts count, what a generator yields counts, a value that is the parameter's
default passes, and a computed size may come before the names in it, where jaxtyping gives up with an AnnotationError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import GeneratorType
from typing import Any

import jaxtyping
import pytest
from beartype import beartype
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simpletorch import checked, config

from . import annotated

VERDICTS: Counter[str] = Counter()


def verdict(function: Callable[..., Any], call: annotated.Call) -> str:
    try:
        result = function(*call.args, **call.kwargs)
        if isinstance(result, GeneratorType):
            list(result)
    except Exception as error:
        return "refused" if isinstance(error, jaxtyping.TypeCheckError) else type(error).__name__
    return "accepted"


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def compare(data: st.DataObject) -> None:
    function, hinted = data.draw(annotated.functions())
    ours = checked(function)
    theirs = jaxtyping.jaxtyped(function, typechecker=beartype)
    made = data.draw(st.lists(annotated.calls(function, hinted), min_size=1, max_size=5))
    expected = [verdict(theirs, call) for call in made]
    for mode in ("once", "once", "full"):  # the second time through the memo
        with config(check=mode):
            for call, wanted in zip(made, expected, strict=True):
                if wanted in ("accepted", "refused"):
                    assert verdict(ours, call) == wanted, (function.__name__, hinted, call, mode)
                VERDICTS[wanted] += 1


@pytest.mark.slow
def test_the_same_verdict_as_jaxtyping_and_beartype():
    VERDICTS.clear()
    compare()
    assert min(VERDICTS["accepted"], VERDICTS["refused"]) > 400, "too one-sided to mean something"
    assert VERDICTS.total() - VERDICTS["accepted"] - VERDICTS["refused"] < VERDICTS.total() / 5, VERDICTS
