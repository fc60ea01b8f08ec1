"""Models that draw random numbers in eval mode: what is exported draws them too, and that is said."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import nn

from simpletorch import export
from simpletorch.errors import BackendError


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 5)


class Dropping(Net):
    def forward(self, x: Float32[torch.Tensor, "batch 7"]) -> Float32[torch.Tensor, "batch 5"]:
        return F.dropout(self.fc(x), 0.5)


class Noisy(Net):
    def forward(self, x: Float32[torch.Tensor, "batch 7"]) -> Float32[torch.Tensor, "batch 5"]:
        return self.fc(x) + torch.randn_like(x[:, :5])


class Quiet(nn.Module):
    """All that drops in training, and nothing in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(7, 5, num_layers=2, dropout=0.3, batch_first=True)
        self.attention = nn.TransformerEncoderLayer(5, 1, 7, 0.1, batch_first=True)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: Float32[torch.Tensor, "batch 4 7"]) -> Float32[torch.Tensor, "batch 4 5"]:
        return F.dropout(self.dropout(self.attention(self.rnn(x)[0])), 0.1, self.training)


def test_dropout_that_nobody_told_of_eval_mode():
    with pytest.warns(UserWarning, match=r"drops values in eval mode too") as caught:
        report = export.program(Dropping().eval()).report
    (told,) = caught
    assert told.filename == __file__
    line = Dropping.forward.__code__.co_firstlineno + 1
    assert f"test_random.py:{line}: return F.dropout(self.fc(x), 0.5) (aten.dropout)" in str(told.message)
    assert "training=self.training" in str(told.message)
    assert "draws random numbers at each call" in str(report)


def test_noise_is_in_the_report_only():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        report = export.program(Noisy()).report
    (line,) = report.random
    assert line.endswith("return self.fc(x) + torch.randn_like(x[:, :5]) (aten.randn_like)")


def test_what_drops_in_training_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        report = export.program(Quiet()).report
    assert report.random == ()
    assert "random" not in str(report)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:export")
@pytest.mark.neighbour("onnx", "onnxscript", "onnxruntime")
def test_why_an_artefact_differs(tmp_path, seed):
    torch.manual_seed(seed)
    with pytest.raises(BackendError, match="the model draws random numbers") as caught:
        export.onnx(Dropping(), tmp_path / "dropping.onnx")
    assert "training=self.training" in str(caught.value)
