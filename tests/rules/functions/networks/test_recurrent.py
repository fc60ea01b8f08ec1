"""Recurrent layers and cells against torch."""

from __future__ import annotations

from typing import Any

import pytest

from simpletorch.rules import ANYTHING, ModuleRule, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import INT64
from simpletorch.shapes import ANY_REST, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, D, H, L, N, T, f32, module_differs, module_report, ones

KINDS = ["RNN", "GRU", "LSTM"]
LAYERS: list[dict[str, Any]] = [
    {},
    {"num_layers": 2},
    {"bidirectional": True},
    {"batch_first": True},
    {"num_layers": 3, "bidirectional": True, "batch_first": True, "bias": False},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("shape", [(7, 2, 3), (7, 3), (7, 2, 4), (3,), (1, 7, 2, 3)], ids=str)
def test_layers(kind: str, layer: dict[str, Any], shape: tuple[int, ...]) -> None:
    sizes = {"input_size": 3, "hidden_size": 5} | layer
    assert module_differs(kind, sizes, f32(*shape)) == ""


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("shape", [(7, 2, 3), (7, 3)], ids=str)
def test_projections(layer: dict[str, Any], shape: tuple[int, ...]) -> None:
    sizes = {"input_size": 3, "hidden_size": 5, "proj_size": 2} | layer
    assert module_differs("LSTM", sizes, f32(*shape)) == ""
    state = (1, 2) if len(shape) == 2 else (1, 2, 2)
    cell = (1, 5) if len(shape) == 2 else (1, 2, 5)
    assert module_differs("LSTM", sizes, f32(*shape), (f32(*state), f32(*cell))) == ""


@pytest.mark.parametrize("state", [(1, 2, 5), (1, 5), (2, 2, 5), (1, 3, 5), (1, 2, 4)], ids=str)
@pytest.mark.parametrize("shape", [(7, 2, 3), (7, 3)], ids=str)
def test_states(state: tuple[int, ...], shape: tuple[int, ...]) -> None:
    sizes = {"input_size": 3, "hidden_size": 5}
    for kind in ("RNN", "GRU"):
        assert module_differs(kind, sizes, f32(*shape), f32(*state)) == ""
    for cell in (state, (1, 2, 5)):
        assert module_differs("LSTM", sizes, f32(*shape), (f32(*state), f32(*cell))) == ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 4), (1, 2, 3)], ids=str)
@pytest.mark.parametrize("state", [None, (2, 5), (5,), (1, 5), (2, 4), (3, 5)], ids=str)
def test_cells(kind: str, shape: tuple[int, ...], state: tuple[int, ...] | None) -> None:
    given = () if state is None else (f32(*state),) if kind != "LSTM" else ((f32(*state), f32(*state)),)
    assert module_differs(f"{kind}Cell", {"input_size": 3, "hidden_size": 5}, f32(*shape), *given) == ""


@pytest.mark.parametrize(("name", "gates"), [("rnn_tanh_cell", 1), ("rnn_relu_cell", 1), ("gru_cell", 3)])
def test_functions(name: str, gates: int) -> None:
    g = 5 * gates
    for w_ih, w_hh in (((g, 3), (g, 5)), ((g, 4), (g, 5)), ((g, 3), (g, 4)), ((g + 1, 3), (g, 5))):
        args = (ones(2, 3), ones(2, 5), ones(*w_ih), ones(*w_hh))
        assert oracle.judge(f"torch.{name}", args) in GOOD
        assert oracle.judge(f"torch.{name}", (*args, ones(g), ones(g))) in GOOD


@pytest.mark.parametrize(
    ("shape", "state"),
    [((7, 3, 5), (2, 3, 11)), ((7, 3, 5), (2, 2, 3, 11)), ((7, 5), (2, 11)), ((7, 5), (2, 2, 11))],
    ids=str,
)
def test_an_lstm_takes_no_single_state(shape: tuple[int, ...], state: tuple[int, ...]) -> None:
    sizes = {"input_size": 5, "hidden_size": 11, "num_layers": 2}
    assert module_differs("LSTM", sizes, f32(*shape), f32(*state)) == ""


def test_lstm_functions() -> None:
    state = (ones(2, 5), ones(2, 5))
    assert oracle.judge("torch.lstm_cell", (ones(2, 3), state, ones(20, 3), ones(20, 5))) == "exact"
    weights = [ones(20, 3), ones(20, 5), ones(20), ones(20)]
    states = (ones(1, 2, 5), ones(1, 2, 5))
    flags = (True, 1, 0.0, False, False, False)
    assert oracle.judge("torch.lstm", (ones(7, 2, 3), states, weights, *flags)) == "exact"
    weights = [ones(15, 3), ones(15, 5), ones(15), ones(15)]
    assert oracle.judge("torch.gru", (ones(7, 2, 3), ones(1, 2, 5), weights, *flags)) == "exact"


# -- symbols -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_symbolic(kind: str) -> None:
    sizes = {"input_size": D, "hidden_size": H, "num_layers": 2, "bidirectional": True}
    assert module_differs(kind, sizes, f32(L, N, D)) == ""
    assert module_differs(kind, sizes | {"batch_first": True}, f32(B, T, D)) == ""
    assert module_differs(f"{kind}Cell", {"input_size": D, "hidden_size": H}, f32(B, D)) == ""


def test_symbolic_sizes_read_well() -> None:
    layer = new_module("torch.nn.GRU", {"input_size": D, "hidden_size": H, "bidirectional": True, "batch_first": True})
    out, state = infer_module(layer, [f32(B, T, D)])  # type: ignore[arg-type, misc]
    assert (str(out), str(state)) == ("Float32[B, T, 2*H]", "Float32[2, B, H]")


# -- partly known ------------------------------------------------------------------------------------------------------


def test_a_packed_sequence_is_not_known() -> None:
    layer = new_module("torch.nn.LSTM", {"input_size": 3, "hidden_size": 5})
    out, (h, c) = infer_module(layer, [ANYTHING])  # type: ignore[arg-type, misc]
    assert out is ANYTHING
    assert (h, c) == (tensor(1, ANY_REST, 5), tensor(1, ANY_REST, 5))


def test_partly_known() -> None:
    layer = new_module("torch.nn.RNN", {"input_size": 3, "hidden_size": 5, "bidirectional": ANYTHING})
    out, state = infer_module(layer, [tensor(ANY_REST, 3)])  # type: ignore[arg-type, misc]
    assert (str(out), str(state)) == ("Tensor[..., ?]", "Tensor[?, ..., 5]")
    layer = new_module("torch.nn.RNN", {"input_size": 3, "hidden_size": 5, "batch_first": ANYTHING})
    out, state = infer_module(layer, [f32(7, 2, 3)])  # type: ignore[arg-type, misc]
    assert (str(out), str(state)) == ("Float32[7, 2, 5]", "Float32[1, ?, 5]")


def test_parameters_by_name() -> None:
    layer = new_module("torch.nn.LSTM", {"input_size": D, "hidden_size": H, "num_layers": 2, "bidirectional": True})
    assert isinstance(layer, ModuleRule)
    found = layer.attributes()
    assert found["weight_ih_l0"].shape == Shape.of(4 * H, D)  # type: ignore[union-attr]
    assert found["weight_ih_l1_reverse"].shape == Shape.of(4 * H, 2 * H)  # type: ignore[union-attr]


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    sizes = {"input_size": 3, "hidden_size": 5}
    assert module_report("GRU", sizes, f32(T, B, 4)).text == (
        "GRU(3, 5): the last dim of input is 4, but input_size is 3 [input: Float32[T, B, 4]]"
    )
    assert module_report("GRU", sizes, f32(7, 2, 3), f32(2, 2, 5)).reason == (
        "hx is (2, 2, 5), but it must be (1, 2, 5)"
    )
    assert module_report("LSTM", sizes | {"proj_size": 5}).text == (
        "LSTM: proj_size is 5, but it must be smaller than hidden_size=5"
    )
    assert module_report("RNN", {"input_size": 3, "hidden_size": 0}).text == (
        "RNN: hidden_size is 0, but it must be at least 1"
    )
    found = module_report("LSTM", sizes, tensor(7, 2, 3, dtype=INT64))
    assert (found.kind, found.hint) == ("dtype", "input.float()")
