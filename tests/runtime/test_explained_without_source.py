"""Programs whose source can't be read (exec, a frozen program): torch's message is all there is."""

from __future__ import annotations

import re
import sys
from importlib import util
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

from simpletorch.errors import TorchError, explain

HERE = Path(__file__).parent / "broken"


def load(name: str) -> ModuleType:
    spec = util.spec_from_file_location(f"broken_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def nowhere(code: CodeType) -> CodeType:
    """The same code, from a file that isn't there."""
    inner = tuple(nowhere(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="<nowhere>", co_consts=inner)


def programs() -> list[object]:
    found = []
    for name in ("operations", "indices", "dtypes", "layers", "gradients"):
        module = load(name)
        kinds = dict(re.findall(r"^== (\w+)\n(\w+):", (HERE / f"{name}.txt").read_text(), flags=re.MULTILINE))
        for key, f in list(vars(module).items()):
            if isinstance(f, FunctionType) and f.__module__ == module.__name__:
                found.append(pytest.param(f, kinds[key], id=f"{name}-{key}"))
    return found


# what only the expression in the source tells: torch's own messages speak of sizes and dtypes there, or of nothing
UNTOLD = {"embedding_dim_that_heads_do_not_divide"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "kind"), programs())
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
