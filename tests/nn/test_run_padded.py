"""`run_padded`: sequences of different lengths through recurrent layers, packed and while tracing."""

import itertools

import pytest
import torch

from simpletorch import nn
from simpletorch.errors import TorchError
from simpletorch.nn._recurrent import _reversing
from tests.marks import thorough

# oneDNN, which torch calls on a CPU, can't do it; torch says so once in a process, in whichever test comes first
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")

LENGTHS = torch.tensor([11, 3, 1, 7])
KINDS = [
    (torch.nn.LSTM, {}),
    (torch.nn.LSTM, {"proj_size": 3}),
    (torch.nn.GRU, {}),
    (torch.nn.RNN, {}),
    (torch.nn.RNN, {"nonlinearity": "relu"}),
]
VARIANTS = list(itertools.product([False, True], repeat=3))


def layer_and_sequences(kind, options, variant, seed=0, **more):
    bidirectional, batch_first, bias = variant
    torch.manual_seed(seed)
    layer = kind(5, 7, 2, bidirectional=bidirectional, batch_first=batch_first, bias=bias, **options, **more)
    return layer, torch.randn((4, 11, 5) if batch_first else (11, 4, 5), requires_grad=True)


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_sequence_is_read_as_if_it_were_alone(kind, options, variant):
    layer, sequences = layer_and_sequences(kind, options, variant)
    batch_first = layer.batch_first
    output = nn.run_padded(layer, sequences, LENGTHS)
    assert output.shape == layer(sequences)[0].shape
    for index, length in enumerate(LENGTHS):
        rows = sequences[index] if batch_first else sequences[:, index]
        mine = output[index] if batch_first else output[:, index]
        torch.testing.assert_close(mine[:length], layer(rows[:length])[0], rtol=1e-5, atol=1e-6)
        assert not mine[length:].any()


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_traced_computes_the_same(kind, options, variant):
    layer, sequences = layer_and_sequences(kind, options, variant)
    results = []
    for run in (nn.run_padded, _reversing):
        output = run(layer, sequences, LENGTHS)
        gradients = torch.autograd.grad(output.square().sum(), [sequences, *layer.parameters()])
        results.append([output, *gradients])
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_dropout_between_the_layers_is_drawn_while_tracing_too():
    layer, sequences = layer_and_sequences(torch.nn.LSTM, {}, (True, True, True), dropout=0.5)
    first, second = (_reversing(layer, sequences, LENGTHS) for _ in range(2))
    assert not torch.equal(first, second)
    layer.eval()
    first, second = (_reversing(layer, sequences, LENGTHS) for _ in range(2))
    assert torch.equal(first, second)


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.GRU(5, 7, 2, batch_first=True, bidirectional=True)

    def forward(self, sequences, lengths):
        return nn.run_padded(self.layer, sequences, lengths)


def test_it_is_exported_for_any_batch_size():
    model = Reader().eval()
    batch = torch.export.Dim("batch", min=2)
    exported = torch.export.export(model, (torch.randn(4, 11, 5), LENGTHS), dynamic_shapes=({0: batch}, {0: batch}))
    more = torch.randn(6, 11, 5), torch.tensor([2, 11, 5, 3, 1, 10])
    torch.testing.assert_close(exported.module()(*more), model(*more), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", *thorough(["inductor"])])
@torch._dynamo.config.patch(allow_rnn=True)
def test_it_compiles_to_one_graph(backend):
    model, args = Reader(), (torch.randn(4, 11, 5), LENGTHS)
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(*args), model(*args), rtol=1e-5, atol=1e-6)
    torch.compiler.reset()


@pytest.mark.parametrize(
    ("sequences", "lengths", "message"),
    [
        ((4, 11), [11, 3, 1, 7], r"got sequences \[4, 11\]: they must be \[batch, steps, features\]"),
        ((11, 4, 5), [11, 3, 1, 7], r"lengths \[4\] for sequences \[11, 4, 5\], which are \[batch, .* each of 11$"),
        ((4, 11, 5), [12, 3, 1, 7], "lengths from 1 to 12 for sequences padded to 11 steps: they must be from 1 to 11"),
        ((4, 11, 5), [11, 3, 0, 7], "lengths from 0 to 11"),
    ],
)
def test_what_does_not_fit_is_explained(sequences, lengths, message):
    with pytest.raises(TorchError, match=message) as caught:
        nn.run_padded(torch.nn.GRU(5, 7, batch_first=True), torch.zeros(sequences), torch.tensor(lengths))
    assert isinstance(caught.value, ValueError)


def test_only_recurrent_layers_are_run():
    with pytest.raises(TorchError, match="got a Linear"):
        nn.run_padded(torch.nn.Linear(5, 7), torch.zeros(4, 11, 5), LENGTHS)
