"""In plain Python ``except TorchError`` catches what layers and functions of ours raise."""

from __future__ import annotations

import dis
import pickle
from collections.abc import Callable

import pytest
import torch

import simpletorch as st
from simpletorch import Err, ShapeMismatch, TorchError, attempt, nn

X = torch.zeros(2, 5)


def compiled() -> torch.nn.Module:
    layer = nn.Linear(3, 7)
    layer.compile(backend="eager")
    return layer


def scripted(x: torch.Tensor) -> torch.Tensor:
    return st.max_pool2d(st.relu(x), 2)


@pytest.mark.parametrize(
    "fails",
    [
        pytest.param(lambda: nn.Linear(3, 7)(X), id="layer"),
        pytest.param(lambda: nn.Sequential(nn.ReLU(), nn.Linear(3, 7))(X), id="layers"),
        pytest.param(lambda: nn.CrossEntropyLoss()(X, torch.tensor([1, 5])), id="loss"),
        pytest.param(lambda: compiled()(X), id="compiled in place"),
        pytest.param(lambda: torch.compile(nn.Linear(3, 7), backend="eager")(X), id="compiled"),
        pytest.param(lambda: st.matmul(X, X), id="function"),
        pytest.param(lambda: st.cross_entropy(X, torch.tensor([1, 5])), id="functional"),
        pytest.param(lambda: st.zeros(-1), id="factory"),
        pytest.param(lambda: st.Tensor.zeros(-1), id="factory of Tensor"),
    ],
)
def test_a_torch_error_is_caught(fails: Callable[[], object]):
    torch.compiler.reset()  # after another test's sizes dynamo would compile for symbols, and say less
    with pytest.raises(ShapeMismatch) as caught:
        fails()
    assert isinstance(caught.value, RuntimeError | IndexError)  # who caught torch's class still does
    assert caught.value.__cause__ is not None
    assert not isinstance(caught.value.__cause__, TorchError)


def test_what_no_rule_explains_has_torch_s_sentence():
    with pytest.raises(TorchError, match="the input matrix is singular") as caught:
        st.inv(torch.zeros(3, 3))
    assert isinstance(caught.value, torch.linalg.LinAlgError)


@pytest.mark.parametrize("fails", [lambda: nn.Linear(3, 7)(), lambda: st.matmul(X)])
def test_a_mistake_in_the_call_stays_python_s(fails: Callable[[], object]):
    with pytest.raises(TypeError, match="missing 1 required positional argument") as caught:
        fails()
    assert not isinstance(caught.value, TorchError)
    with pytest.raises(TypeError):
        attempt(fails)


def test_the_layer_that_the_program_calls_is_the_one_that_is_named():
    with pytest.raises(ShapeMismatch, match=r"^TransformerEncoderLayer\(8, 2\)"):
        nn.TransformerEncoderLayer(8, 2)(torch.zeros(2, 3, 7))


def test_a_module_of_the_program_stays_its_own_affair():
    class Own(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ x

    with pytest.raises(RuntimeError) as caught:
        Own()(X)
    assert not isinstance(caught.value, TorchError)


def test_an_error_as_a_value_has_all_its_fields():
    result = attempt(st.matmul, X, X)
    assert isinstance(result, Err)
    error = result.error
    assert isinstance(error, ShapeMismatch)
    assert (error.expected, error.got, error.operation) == (5, 2, "matmul")
    assert error.hint == "X.mT would fit"


def test_the_border_adds_no_frame_and_no_instruction_to_a_call():
    """A call runs the instructions of torch's own ``__call__`` up to its return; the handler stands behind them."""
    code = torch.nn.Module.__call__.__code__
    ways = [step.opname for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP")]
    assert code.co_filename == torch.nn.modules.module.__file__
    assert "explained_call" in code.co_names
    assert ways.index("PUSH_EXC_INFO") > max(i for i, name in enumerate(ways[:40]) if name == "CALL_FUNCTION_EX")


def test_functions_are_compiled_traced_and_pickled_as_torch_s():
    x = torch.randn(3, 7)
    whole = torch.compile(lambda x: st.relu(x) + st.zeros(7, dtype=st.Float32), fullgraph=True, backend="eager")
    assert whole(x).equal(x.relu())
    assert torch.fx.symbolic_trace(lambda x: st.relu(x))(x).equal(x.relu())
    assert torch.jit.script(scripted)(x[None]).equal(scripted(x[None]))
    assert pickle.loads(pickle.dumps(st.relu)) is st.relu
