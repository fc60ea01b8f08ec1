"""Models of less: int8 weights, and pruned ones."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils import prune

from simpletorch import Float32, Tensor, export, nn
from simpletorch.dims import B, T
from simpletorch.errors import BackendError, ShapeMismatch
from tests.export.models import MLP, Halves


class Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 32)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Tensor[Float32, B, T, 64]) -> Tensor[Float32, B, T, 32]:
        return self.fc2(self.dropout(torch.relu(self.fc1(x))))


@pytest.mark.neighbour("torchao")
class TestQuantize:
    @pytest.fixture(autouse=True)
    def seeded(self):
        torch.manual_seed(0)

    def test_a_copy_with_int8_weights(self):
        model = Wide()
        quantized = export.quantize(model)
        assert 0 < quantized.report.difference < 0.05
        assert quantized.report.bytes < 0.4 * sum(p.nbytes for p in model.parameters())
        assert type(quantized.model) is Wide
        assert quantized.model.training
        assert type(model.fc1.weight.data) is torch.Tensor
        x = torch.randn(3, 5, 64)
        torch.testing.assert_close(quantized.model.eval()(x), model.eval()(x), atol=0.05, rtol=0.05)
        with pytest.raises(ShapeMismatch, match=r"the last dim|is 7"):
            quantized.model(torch.randn(3, 5, 7))

    def test_some_layers_only(self):
        quantized = export.quantize(Wide(), only=lambda layer, name: name == "fc1").model
        assert [type(layer.weight.data) is torch.Tensor for layer in (quantized.fc1, quantized.fc2)] == [False, True]

    def test_what_is_too_far_away(self):
        with pytest.raises(BackendError, match=r"the quantized artefact differs from the model by"):
            export.quantize(Wide(), tolerance=1e-6)

    def test_a_quantized_model_is_exported(self, tmp_path):
        quantized = export.quantize(Wide()).model
        export.program(quantized, tmp_path / "net.pt2", tolerance=1e-4)
        x = torch.randn(3, 5, 64)
        torch.testing.assert_close(export.load(tmp_path / "net.pt2")(x), quantized.eval()(x), atol=1e-4, rtol=1e-4)

    def test_nothing_to_quantize(self):
        with pytest.raises(BackendError, match="Halves has no linear layer"):
            export.quantize(Halves())


class TestPrune:
    """torch.nn.utils.prune works on our modules, and what is pruned can be exported."""

    def test_weights_are_zero_and_the_checks_hold(self, tmp_path):
        model = MLP().eval()
        prune.l1_unstructured(model.fc1, "weight", amount=0.5)
        prune.ln_structured(model.fc2, "weight", amount=2, n=2, dim=0)
        assert (model.fc1.weight == 0).float().mean().item() == pytest.approx(0.5, abs=0.02)
        assert (model.fc2.weight == 0).all(dim=1).sum() == 2
        with pytest.raises(ShapeMismatch):
            model(torch.randn(3, 7))
        x = torch.randn(3, 11)
        before = model(x)
        run = export.program(model, tmp_path / "net.pt2")
        torch.testing.assert_close(run(x), before)
        for layer in (model.fc1, model.fc2):
            prune.remove(layer, "weight")
        torch.testing.assert_close(model(x), before)
        assert set(model.state_dict()) == set(MLP().state_dict())

    def test_the_whole_model_at_once(self):
        model = MLP()
        layers = [(model.fc1, "weight"), (model.fc2, "weight")]
        prune.global_unstructured(layers, pruning_method=prune.L1Unstructured, amount=0.25)
        zeros = sum(int((layer.weight == 0).sum()) for layer, _ in layers)
        assert zeros == round(0.25 * (77 + 35))
        model(torch.randn(3, 11)).sum().backward()
        assert model.fc1.weight_orig.grad is not None
