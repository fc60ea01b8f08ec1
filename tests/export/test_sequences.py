"""Texts and series: their length stays open in LSTMs, behind masks and beside tables of positions."""

from __future__ import annotations

import onnx
import pytest
import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from simpletorch import export
from simpletorch.errors import BackendError, ShapeMismatch
from simpletorch.nn import run_padded

pytestmark = pytest.mark.neighbour("onnx", "onnxscript", "onnxruntime")


class Recurrent(nn.Module):
    """Both of the layers that torch writes out step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(14, 3, batch_first=True)

    def forward(self, x: Float32[Tensor, "batch time 5"]) -> tuple[Tensor, Tensor]:
        states, (last, _) = self.lstm(x)
        return self.gru(states)[0], last[0]


class Causal(nn.Module):
    """Attention as people write it: a table of what each place sees, cut to the length."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("causal", torch.ones(17, 17).tril().bool())

    def forward(self, x: Float32[Tensor, "b t 8"]) -> Float32[Tensor, "b t 8"]:
        b, t, c = x.shape
        heads = x.view(b, t, 2, c // 2).transpose(1, 2)
        scores = (heads @ heads.transpose(-2, -1)).masked_fill(~self.causal[:t, :t], float("-inf"))
        return (scores.softmax(-1) @ heads).transpose(1, 2).reshape(b, t, c)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(23, 8), nn.Embedding(29, 8)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 11, batch_first=True), 1)

    def forward(self, ids: Int64[Tensor, "b t"], padding: Bool[Tensor, "b t"]) -> Float32[Tensor, "b t 8"]:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return self.layers(x, src_key_padding_mask=padding)


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True)

    def forward(self, x: Float32[Tensor, "b t 5"], lengths: Int64[Tensor, " b"]) -> Float32[Tensor, "b t 7"]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Counting(nn.Module):
    def __init__(self, *, said: bool) -> None:
        super().__init__()
        self.said = said
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Float32[Tensor, "b 5"]) -> Float32[Tensor, "b 5"]:
        self.calls += 1
        return x + self.calls if self.said else x * 2


def test_the_time_of_recurrent_layers_stays_open(tmp_path):
    model = Recurrent().eval()
    run = export.program(model, tmp_path / "net.pt2")
    assert [str(s) for s in run.signature.symbols] == ["batch >= 1", "time >= 1"]
    x = torch.randn(2, 41, 5)
    torch.testing.assert_close(run(x), model(x))


def test_in_onnx_too_and_the_file_says_so(tmp_path):
    model = Recurrent().eval()
    export.onnx(model, tmp_path / "net.onnx")
    (tmp_path / "net.onnx.json").unlink()
    run = export.load(tmp_path / "net.onnx")  # by the file's own words
    assert str(run.signature.output).startswith("(Float32[batch, time, 3], Float32[batch, 7])")
    x = torch.randn(2, 41, 5)
    torch.testing.assert_close(run(x), model(x), atol=1e-5, rtol=0)
    graph = onnx.load(tmp_path / "net.onnx").graph
    found = {info.name: [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
             for info in graph.value_info}  # fmt: skip
    layers = [found[node.output[0]] for node in graph.node if node.op_type in ("LSTM", "GRU")]
    assert layers == [["time", 2, "batch", 7], ["time", 1, "batch", 3]]


def test_padded_sequences_read_both_ways_in_onnx(tmp_path):
    class Padded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(5, 7, num_layers=2, batch_first=True, bidirectional=True)

        def forward(self, x: Float32[Tensor, "batch time 5"], lengths: Int64[Tensor, " batch"]) -> Tensor:
            return run_padded(self.lstm, x, lengths)

    model = Padded().eval()
    run = export.onnx(model, tmp_path / "net.onnx", inputs={"lengths": torch.tensor([5, 3])})
    x, lengths = torch.randn(3, 11, 5), torch.tensor([2, 11, 7])
    torch.testing.assert_close(run(x, lengths), model(x, lengths), atol=1e-5, rtol=0)


def test_in_a_compiled_package_too(tmp_path):
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(5, 7)

        def forward(self, x: Float32[Tensor, "time batch 5"]) -> Float32[Tensor, "batch 7"]:
            return self.lstm(x)[0][-1]

    model, x = Last().eval(), torch.randn(41, 2, 5)
    run = export.aot(model, tmp_path / "net.pt2")
    torch.testing.assert_close(run(x), model(x), atol=1e-5, rtol=0)


def test_torch_s_own_way_is_back_afterwards(tmp_path):
    """Exporting by hand writes the steps out before and after, whatever the operators remember."""

    def operations():
        with torch.no_grad():
            program = torch.export.export(Recurrent().eval(), (torch.randn(2, 3, 5),))
        return [str(node.target) for node in program.graph.nodes]

    before = operations()
    export.program(Recurrent())
    export.onnx(Recurrent(), tmp_path / "net.onnx")
    assert operations() == before
    assert "while_loop" not in before


def test_a_table_that_is_cut_to_the_length_limits_it():
    run = export.program(Causal())
    assert [str(s) for s in run.signature.symbols] == ["b >= 1", "2 <= t <= 17"]
    x = torch.randn(2, 17, 8)
    torch.testing.assert_close(run(x), Causal()(x))
    with pytest.raises(ShapeMismatch, match="t is 18, but the artefact takes 2 <= t <= 17"):
        run(torch.randn(2, 18, 8))


def test_a_padding_mask_and_a_table_of_positions(tmp_path):
    model = Encoder()
    run = export.onnx(model, tmp_path / "net.onnx")
    assert [str(s) for s in run.signature.symbols] == ["b >= 1", "1 <= t <= 29"]
    assert torch.backends.mha.get_fastpath_enabled()
    ids, padding = torch.randint(23, (2, 29)), torch.arange(29) > torch.tensor([[12], [28]])
    wanted = model.eval()(ids, padding)
    torch.testing.assert_close(run(ids, padding)[~padding], wanted[~padding], atol=1e-5, rtol=1e-5)


def test_torch_s_log_of_attempts_stays_out_of_sight(capfd):
    export.program(Causal())  # takes several
    assert capfd.readouterr() == ("", "")


def test_packed_sequences_are_explained_and_traced(tmp_path):
    given = {"x": torch.randn(3, 5, 5), "lengths": torch.tensor([5, 2, 3])}
    with pytest.raises(BackendError, match="a packed sequence has sizes that come from data") as caught:
        export.program(Packed(), inputs=given)
    assert "self.lstm(packed)" in caught.value.location.code
    assert "export.torchscript" in caught.value.hint
    run = export.torchscript(Packed(), tmp_path / "net.pt", inputs=given, dynamic={"t": (5, None)})
    assert run(torch.randn(2, 9, 5), torch.tensor([4, 9])).shape == (2, 9, 7)


def test_a_loop_over_a_size_is_refused_with_its_line():
    class Steps(nn.Module):
        def forward(self, x: Float32[Tensor, "b t"]) -> Float32[Tensor, " b"]:
            total = x[:, 0]
            for i in range(1, x.shape[1]):
                total = total * 0.5 + x[:, i]
            return total

    with pytest.raises(BackendError, match="t is open in the annotation") as caught:
        export.program(Steps())
    assert caught.value.location.code == "for i in range(1, x.shape[1]):"


def test_exporting_leaves_a_model_s_buffers_as_they_were():
    model = Counting(said=False)
    calls = model.calls
    run = export.program(model)
    assert model.calls is calls
    assert model.calls == 0
    assert run(torch.ones(3, 5)).tolist() == [[2.0] * 5] * 3


def test_what_a_model_remembers_between_calls_is_named(tmp_path):
    with pytest.raises(BackendError, match="the model changes its calls at each call") as caught:
        export.program(Counting(said=True), tmp_path / "net.pt2")
    assert caught.value.hint == "make the remembered values inputs and results of forward"


def test_a_list_of_tensors_needs_to_be_counted():
    class Sum(nn.Module):
        def forward(self, parts: list[Float32[Tensor, "b 5"]]) -> Float32[Tensor, "b 5"]:
            return sum(parts[1:], parts[0])

    with pytest.raises(TypeError, match="doesn't say how many tensors there are") as caught:
        export.program(Sum())
    assert '{"parts": ["Float32[b, 5]", "Float32[b, 5]"]}' in caught.value.hint
    run = export.program(Sum(), inputs={"parts": ["Float32[b, 5]", "Float32[b, 5]"]})
    assert run([torch.ones(7, 5)] * 2).tolist() == [[2.0] * 5] * 7
