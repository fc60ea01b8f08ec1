"""Programs whose source can't be read (exec, a frozen program): torch's message is all there is."""

from __future__ import annotations

from types import CodeType, FunctionType

import pytest

from simpletorch.errors import TorchError, explain

from .broken_programs import programs, recorded


def nowhere(code: CodeType) -> CodeType:
    """The same code, from a file that isn't there."""
    inner = tuple(nowhere(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="<nowhere>", co_consts=inner)


FILES = ["operations", "indices", "dtypes", "layers", "gradients"]
ALL = [
    pytest.param(f, recorded(name)[f.__name__].partition(":")[0], id=f"{name}-{f.__name__}")
    for name in FILES
    for f in programs(name)
]

# what only the expression in the source tells: torch's own messages speak of sizes and dtypes there, or of nothing
UNTOLD = {"embedding_dim_that_heads_do_not_divide"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "kind"), ALL)
def test_the_kind_is_known_from_the_message_alone(program: FunctionType, kind: str):
    bare = FunctionType(nowhere(program.__code__), program.__globals__, program.__name__)
    if program.__name__ in UNTOLD:
        pytest.skip("torch checks this with an assert")
    with pytest.raises(TorchError) as caught, explain():
        bare()
    error = caught.value
    assert error.kind == kind
    assert error.location is not None
    in_a_model = error.location.function.endswith("forward")  # whose source is there
    assert in_a_model or (error.location.file, error.location.code) == ("<nowhere>", "")
    assert "None" not in error.reason.replace("is None", "")
    assert "MISSING" not in str(error)
    assert isinstance(error, type(error.__cause__))
