"""ONNX under the program's own names."""

from __future__ import annotations

import onnx
import pytest
import torch
from torch import nn

from simpletorch import export
from simpletorch.errors import BackendError, ShapeMismatch
from simpletorch.export import _export, _runners
from simpletorch.vision.models import SwinTransformer
from tests.export.models import MLP, Halves, Plain

pytestmark = pytest.mark.neighbour("onnx", "onnxscript", "onnxruntime")


def dims(info) -> list[object]:
    return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]


def test_names_are_the_program_s_own(tmp_path):
    run = export.onnx(Plain(), tmp_path / "net.onnx")
    assert run.report.difference <= 1e-5
    graph = onnx.load(tmp_path / "net.onnx").graph
    assert {i.name: dims(i) for i in graph.input} == {"tokens": ["batch", "time"], "weights": ["batch", "time"]}
    assert {o.name: dims(o) for o in graph.output} == {
        "scores": ["batch", "time", 3],
        "pooled": ["batch", "(time//4)", 3],
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.onnx", "net.onnx.json"]


def test_it_is_read_again_and_checks_what_it_is_given(tmp_path):
    model = MLP().eval()
    export.onnx(model, tmp_path / "net.onnx")
    run = export.load(tmp_path / "net.onnx")
    x = torch.randn(17, 11)
    torch.testing.assert_close(run(x), model(x))
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 5"):
        run(torch.randn(17, 5))


def test_onnx_s_own_evaluator_runs_it_too(tmp_path):
    export.onnx(Halves(), tmp_path / "net.onnx")
    run = _runners.onnx_runner((tmp_path / "net.onnx").read_bytes(), "net.onnx", reference=True)
    assert run([torch.ones(3, 14)])[0].tolist() == [[2.0] * 7] * 3


def test_what_fails_is_told_by_its_node_and_not_by_a_temporary_file(tmp_path, monkeypatch):
    read_runner = _export.read_runner

    def reading(kind, path):
        run = read_runner(kind, path)
        return lambda tensors: run([tensors[0][:, :10]])  # as if a size had become a number on the way

    monkeypatch.setattr(_export, "read_runner", reading)
    with pytest.raises(BackendError, match="the onnx artefact fails at B=1, where the model runs") as caught:
        export.onnx(MLP(), tmp_path / "net.onnx")
    assert "onnxruntime: " in caught.value.reason
    assert "/" not in caught.value.reason


def test_what_onnxruntime_says_is_told_without_its_own_sources():
    begin = "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running "
    source = "/onnxruntime_src/core/reshape_helper.h:84 onnxruntime::Helper(const onnxruntime::TensorShape&, bool) "
    said = f"{begin}Reshape node. Name:'view_3' Status Message: {source}size != 0 was false. It can't be {{5,-1}}\nmore"
    assert _runners._line(RuntimeError(said)) == "Reshape (view_3): It can't be {5,-1}"
    said = f"{begin}Concat node. Name:'cat' Status Message: concatbase.h:135 PrepareForCompute Axis 1 has 5 and 6"
    assert _runners._line(RuntimeError(said)) == "Concat (cat): PrepareForCompute Axis 1 has 5 and 6"


def test_shifted_windows_and_an_open_batch(tmp_path):
    model = SwinTransformer(2, 6, [2], [3], 4, num_classes=5).eval()
    run = export.onnx(model, tmp_path / "net.onnx", dynamic={"H": 16, "W": 24})
    x = torch.randn(5, 3, 16, 24)
    torch.testing.assert_close(run(x), model(x), atol=1e-5, rtol=0)


def test_an_operator_that_onnx_hasn_t(tmp_path):
    class Values(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x)

    with pytest.raises(BackendError, match=r"ONNX has no operator for aten.*eig") as caught:
        export.onnx(Values(), tmp_path / "net.onnx", inputs=torch.eye(3))
    assert caught.value.location.code == "return torch.linalg.eigvals(x)"
    assert list(tmp_path.iterdir()) == []


def test_a_call_as_torch_has_it(tmp_path):
    model, x = nn.Linear(11, 7), torch.randn(3, 11)
    names = {"input_names": ["images"], "output_names": ["scores"], "do_constant_folding": True}
    run = export.onnx(model, x, tmp_path / "net.onnx", export_params=True, opset_version=18, **names)
    made = onnx.load(tmp_path / "net.onnx")
    assert {i.name: dims(i) for i in (*made.graph.input, *made.graph.output)} == {"images": [3, 11], "scores": [3, 7]}
    assert made.opset_import[0].version == 18
    torch.testing.assert_close(run(x), model(x))
    torch.testing.assert_close(export.load(tmp_path / "net.onnx")(x), model(x))


@pytest.mark.parametrize(
    ("dynamic", "batch"),
    [
        ({"dynamic_axes": {"images": {0: "batch"}, "scores": {0: "batch"}}}, "batch"),
        ({"dynamic_axes": {"images": {-2: "batch"}}}, "batch"),
        ({"dynamic_axes": {"images": [0]}}, "images_dynamic_axes_1"),
        ({"dynamic_shapes": {"input": {0: torch.export.Dim("batch", min=2, max=40)}}}, "batch"),
        ({"dynamic_shapes": ((torch.export.Dim.DYNAMIC, 11),)}, "input_0"),
    ],
)
def test_open_dims_as_torch_names_them(dynamic, batch, tmp_path):
    names = {"input_names": ["images"], "output_names": ["scores"]}
    run = export.onnx(nn.Linear(11, 7), (torch.randn(3, 11),), tmp_path / "net.onnx", **names, **dynamic)
    graph = onnx.load(tmp_path / "net.onnx").graph
    assert {i.name: dims(i) for i in (*graph.input, *graph.output)} == {"images": [batch, 11], "scores": [batch, 7]}
    assert run(torch.randn(17, 11)).shape == (17, 7)
    limits = [(s.least, s.most) for s in run.signature.symbols]
    assert limits == ([(2, 40)] if "max" in str(dynamic) else [(1, None)])


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"args": ()}, TypeError, r"Linear.forward\(input.* missing a required argument: 'input'"),
        ({"export_params": False}, BackendError, "export_params=False isn't possible"),
        ({"autograd_inlining": True}, TypeError, "unexpected keyword argument 'autograd_inlining'"),
        ({"dynamic_axes": {"images": [0]}}, ValueError, "dynamic_axes names images, but the inputs are input"),
        ({"dynamic_shapes": {"x": {}}}, ValueError, "dynamic_shapes names x, but the inputs are input"),
        ({"dynamic_axes": {"input": [2]}}, ValueError, "input has 2 dims, and no dim 2"),
        ({"dynamic_axes": {"input": {0: "a batch"}}}, ValueError, "'a batch' can't name a size"),
        ({"input_names": ["a", "b"]}, ValueError, "no tensor left for b"),
        ({"output_names": ["a", "b"]}, ValueError, "1 tensor for the 2 names a, b"),
        ({"f": None}, TypeError, "misses the path"),
    ],
)
def test_wrong_arguments_write_nothing(options, error, said, tmp_path):
    with pytest.raises(error, match=said):
        export.onnx(nn.Linear(11, 7), **{"args": torch.randn(3, 11), "f": tmp_path / "net.onnx", **options})
    assert list(tmp_path.iterdir()) == []
