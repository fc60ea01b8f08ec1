"""Sequences of different lengths, against torch."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils import rnn

from simpletorch.rules import ANYTHING, Packed, Report, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, var

RNN = "torch.nn.utils.rnn."
B, T = var("B"), var("T")


def lifted(packed: rnn.PackedSequence, batch: int) -> Packed:
    return Packed(tensor(*packed.data.shape, dtype=FLOAT32), batch)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", [[7, 5, 2], [7, 7, 7]])
@pytest.mark.parametrize("features", [(), (11,), (11, 13)])
def test_pack_padded_sequence(batch_first, lengths, features):
    shape = (3, 7, *features) if batch_first else (7, 3, *features)
    truth = rnn.pack_padded_sequence(torch.zeros(shape), lengths, batch_first)
    found = infer(RNN + "pack_padded_sequence", [tensor(*shape, dtype=FLOAT32), tuple(lengths), batch_first])
    assert found == lifted(truth, 3)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("total_length", [None, 7, 11])
def test_pad_packed_sequence(batch_first, total_length):
    packed = rnn.pack_padded_sequence(torch.zeros(7, 3, 13), [7, 5, 2])
    truth, counts = rnn.pad_packed_sequence(packed, batch_first, total_length=total_length)
    padded, sizes = infer(RNN + "pad_packed_sequence", [lifted(packed, 3), batch_first], {"total_length": total_length})
    known = tuple(UNKNOWN if total_length is None and d == 7 else d for d in truth.shape)
    assert padded == tensor(*known, dtype=FLOAT32)
    assert sizes == tensor(*counts.shape, dtype=INT64)


@pytest.mark.parametrize("batch_first", [False, True])
def test_pad_and_pack_sequence(batch_first):
    sequences = [torch.zeros(7, 11), torch.zeros(5, 11), torch.zeros(2, 11)]
    given = tuple(tensor(*s.shape, dtype=FLOAT32) for s in sequences)
    truth = rnn.pad_sequence(sequences, batch_first)
    assert infer(RNN + "pad_sequence", [given, batch_first]) == tensor(*truth.shape, dtype=FLOAT32)
    assert infer(RNN + "pack_sequence", [given]) == lifted(rnn.pack_sequence(sequences), 3)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_layers_take_packed_sequences(name, bidirectional):
    packed = rnn.pack_padded_sequence(torch.zeros(7, 3, 11), [7, 5, 2])
    truth, state = getattr(torch.nn, name)(11, 13, 2, bidirectional=bidirectional)(packed)
    layer = new_module(
        f"torch.nn.{name}",
        {"input_size": 11, "hidden_size": 13, "num_layers": 2, "bidirectional": bidirectional},
    )
    out, found = infer_module(layer, [lifted(packed, 3)])
    assert out == lifted(truth, 3)
    states = (found, state) if name != "LSTM" else (found[0], state[0])
    assert states[0] == tensor(*states[1].shape, dtype=FLOAT32)


def test_pack_padded_sequence_that_sorts_takes_as_many_sequences_as_there_are_lengths():
    truth = rnn.pack_padded_sequence(torch.zeros(7, 3, 5), [2, 7], enforce_sorted=False)
    found = infer(RNN + "pack_padded_sequence", [tensor(7, 3, 5, dtype=FLOAT32), (2, 7), False, False])
    assert found == lifted(truth, 2)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), [7, 5])),
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), torch.tensor([7, 5]))),
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), [5, 7, 2])),
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), [7, 5, 0])),
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), torch.tensor([[7, 5, 2]]))),
        ("pack_padded_sequence", (torch.zeros(7), [7])),
        ("pack_padded_sequence", (torch.zeros(7, 3, 5), [7, 5, 2, 1, 3], False, False)),
        ("pack_sequence", ([torch.zeros(2, 5), torch.zeros(7, 5)],)),
        ("pack_sequence", ([torch.zeros(7, 5), torch.zeros(2, 3)],)),
        ("pad_sequence", ([torch.zeros(7, 5), torch.zeros(2, 3)],)),
        ("pad_sequence", ([],)),
    ],
)
def test_what_torch_refuses_is_refused(name, arguments):
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        getattr(rnn, name)(*arguments)

    def lift(value):
        if isinstance(value, torch.Tensor):
            return tensor(*value.shape, dtype=INT64 if value.dtype == torch.int64 else FLOAT32)
        return tuple(map(lift, value)) if isinstance(value, list) else value

    assert isinstance(infer(RNN + name, [lift(a) for a in arguments]), Report)


def test_symbols_and_what_is_not_known():
    packed = infer(RNN + "pack_padded_sequence", [tensor(B, T, 11, dtype=FLOAT32), ANYTHING, True])
    assert packed == Packed(tensor(UNKNOWN, 11, dtype=FLOAT32), B)
    assert infer(RNN + "pack_padded_sequence", [tensor(T, B, 11), tensor(B, dtype=INT64)]).batch == B
    assert isinstance(infer(RNN + "pack_padded_sequence", [tensor(T, B, 11), tensor(T, dtype=INT64)]), Report)
    assert infer(RNN + "pack_padded_sequence", [ANYTHING, ANYTHING]) == Packed(tensor(UNKNOWN, ANY_REST), UNKNOWN)
    assert infer(RNN + "pad_packed_sequence", [ANYTHING]) is ANYTHING
    assert infer(RNN + "pad_sequence", [ANYTHING]) is ANYTHING
