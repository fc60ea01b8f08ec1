"""TorchScript: our modules are scripted and traced as torch's are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch import Dim, Float32, Tensor, checked, export, nn
from simpletorch.dims import B, T
from simpletorch.errors import BackendError, ShapeMismatch
from tests.export.models import MLP, Images, Plain

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")


@checked
def doubled(x: Tensor[Float32, B, T], times: Dim[T]) -> Tensor[Float32, B, T]:
    return x * 2 * times


class Deciding(nn.Module):
    """What a trace can't keep: a branch on contents, a loop over a size, methods and functions with borders."""

    scale: Tensor[Float32, ""]

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(3.0))

    def forward(self, x: Tensor[Float32, B, T], shift: int = 2) -> Tensor[Float32, B, T]:
        total: Tensor[Float32, B] = torch.zeros_like(x[:, 0])
        for i in range(x.shape[1]):
            total = total + x[:, i]
        if total.sum() > 0:
            return doubled(x, x.shape[1]) + shift
        return self.negative(x) * self.scale

    @checked
    def negative(self, x: Tensor[Float32, B, T]) -> Tensor[Float32, B, T]:
        return -x


@pytest.mark.parametrize("model", [MLP(), Deciding()])
def test_a_module_is_scripted(model):
    model.eval()
    script = torch.jit.script(model)
    for rows in (1, 5):
        x = torch.randn(rows, 11)
        torch.testing.assert_close(script(x), model(x))
        torch.testing.assert_close(script(-x.abs()), model(-x.abs()))
    assert [name for name, _ in script.named_parameters()] == [name for name, _ in model.named_parameters()]
    with pytest.raises(ShapeMismatch):  # the module itself has its border still
        model(torch.randn(11))


def test_a_scripted_module_shares_its_parameters():
    model = MLP().eval()
    script = torch.jit.script(nn.Sequential(model, nn.ReLU()))
    with torch.no_grad():
        model.fc2.bias += 1
    x = torch.randn(3, 11)
    torch.testing.assert_close(script(x), model(x).relu())


@pytest.mark.parametrize(("model", "how"), [(MLP(), "trace"), (Deciding(), "script"), (Plain(), "script")])
def test_an_archive_is_written_and_read(model, how, tmp_path):
    run = export.torchscript(model, tmp_path / "net.ts", how=how)
    assert run.report.difference <= 1e-5
    again = export.load(tmp_path / "net.ts")
    assert str(again.signature) == str(run.signature)
    assert again.kind == "torchscript"


def test_what_a_trace_decides_for_good_is_found(tmp_path):
    with pytest.raises(BackendError, match="the torchscript artefact"):
        export.torchscript(Deciding(), tmp_path / "net.ts")
    assert list(tmp_path.iterdir()) == []


def test_the_limits_of_sizes_are_found_without_an_export(tmp_path):
    run = export.torchscript(Images(), tmp_path / "net.ts")
    assert [str(s) for s in run.signature.symbols] == ["B >= 1", "H >= 9", "W >= 9"]
    assert [str(s) for s in export.torchscript(Plain(), tmp_path / "net.ts").signature.symbols] == [
        "batch >= 1",
        "time >= 4, a multiple of 4",
    ]


class Unscriptable(nn.Module):
    def forward(self, x: Tensor[Float32, B, T]) -> Tensor[Float32, B, T]:
        first, *_ = {"x": x}.values()
        return first


def test_what_torchscript_doesn_t_know(tmp_path):
    with pytest.raises(BackendError, match="export of Unscriptable"):
        export.torchscript(Unscriptable(), tmp_path / "net.ts", how="script")
    assert list(tmp_path.iterdir()) == []


def test_a_class_without_a_text_is_traced_instead(tmp_path):
    names: dict[str, Any] = {"torch": torch}
    exec("class Typed(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n", names)
    with pytest.raises(BackendError, match="compiles the text of the model, which a class") as caught:
        export.torchscript(names["Typed"](), tmp_path / "net.ts", inputs="Float32[batch, 5]", how="script")
    assert "how='trace'" in caught.value.hint
    run = export.torchscript(names["Typed"](), tmp_path / "net.ts", inputs="Float32[batch, 5]", how="trace")
    assert run(torch.ones(3, 5)).tolist() == [[2.0] * 5] * 3
