"""What an artefact may differ from the model by: the tolerance, and the model's own rounding."""

from __future__ import annotations

import dataclasses

import pytest

from simpletorch import Float32, Tensor, export, nn
from simpletorch.dims import B
from simpletorch.errors import BackendError
from simpletorch.export._call import Call
from simpletorch.export._reading import read_request
from simpletorch.export._report import Comparison
from simpletorch.export._verify import compared


class Shifted(nn.Module):
    """Loses the last digits of its input, the more of them the larger ``by`` is."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 7]:
        return x + self.by - self.by


def against(by: float, artefact, tolerance: float | None = None) -> Comparison:
    call = Call(read_request(Shifted(by), None, None))
    return compared(call, lambda tensors: [artefact(tensors[0])], {"B": 5}, "onnx", tolerance)


def test_an_exact_artefact_of_a_model_that_rounds():
    found = against(3000.0, lambda x: x)
    assert found.difference == found.rounding
    assert 3e-5 < found.difference < 2e-4
    assert str(found) == f"B=5: {found.difference:.1e}, and the model's own rounding is {found.rounding:.1e}"


def test_what_is_near_enough_is_not_asked_for_its_rounding():
    assert against(3000.0, lambda x: x + 3000.0 - 3000.0) == Comparison({"B": 5}, 0.0)


@pytest.mark.parametrize(
    ("by", "artefact"),
    [
        (0.0, lambda x: x + 1e-4),  # the model doesn't round
        (3000.0, lambda x: x + 1e-2),  # it rounds, and this is more
        (3e6, lambda x: x),  # it loses all digits, and what an artefact gives can't be judged
    ],
)
def test_what_the_model_s_rounding_does_not_explain_is_refused(by, artefact):
    with pytest.raises(BackendError, match="the onnx artefact differs from the model by"):
        against(by, artefact)


def test_a_tolerance_that_is_given_is_what_counts():
    with pytest.raises(BackendError, match="is allowed"):
        against(3000.0, lambda x: x, 1e-6)
    assert against(3000.0, lambda x: x, 1e-3).rounding is None


def test_a_model_that_can_not_be_copied_has_no_rounding():
    class Unique(Shifted):
        def __deepcopy__(self, memory):
            raise TypeError

    call = Call(read_request(Unique(3000.0), None, None))
    with pytest.raises(BackendError, match="is allowed"):
        compared(call, list, {"B": 5}, "onnx", None)


def test_the_rounding_is_in_the_manifest(tmp_path, monkeypatch):
    path = tmp_path / "net.pt2"
    monkeypatch.setattr(
        "simpletorch.export._prepare.compare", lambda *_: [Comparison({"B": 5}, 2e-5, 3e-5)], raising=True
    )
    report = export.program(Shifted(3000.0), path).report
    read = export.load(path).report
    assert read is not None
    assert read.comparisons == report.comparisons == (dataclasses.replace(Comparison({"B": 5}, 2e-5), rounding=3e-5),)
