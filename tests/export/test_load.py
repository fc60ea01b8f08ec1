"""What isn't ours, what is damaged, and what would run code."""

from __future__ import annotations

import logging
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Generic

import onnx
import pytest
import torch
from jaxtyping import Float32 as F32
from jaxtyping import Int64 as I64

from benchmarks import damaged_exports
from simpletorch import Dim, Float32, Tensor, export, nn
from simpletorch.dims import B, N
from simpletorch.errors import BackendError, CheckpointError, DTypeMismatch, ShapeMismatch

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.neighbour("onnx", "onnxscript", "onnxruntime")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    damaged_exports.artefacts(folder)
    return folder


# benchmarks/damaged_exports.py does a thousand
@pytest.mark.parametrize("seed", range(50))
def test_damage_is_an_error_of_ours_and_nothing_is_executed(whole, tmp_path, seed):
    what, result = damaged_exports.one(whole, tmp_path, random.Random(f"0 {seed}"))
    assert result in ("CheckpointError", "BackendError", "read"), what


@pytest.mark.parametrize("name", ["net.pt2", "net.ts"])
def test_without_a_manifest_what_can_run_code_has_to_be_trusted(whole, tmp_path, name):
    path = tmp_path / name
    shutil.copy(whole / name, path)
    with pytest.raises(CheckpointError, match=r"can run code") as caught:
        export.load(path)
    assert "trust=True" in caught.value.hint
    run = export.load(path, trust=True)
    x = torch.randn(3, 7)
    torch.testing.assert_close(run(x), export.load(whole / name)(x))
    with pytest.raises(TypeError, match="it takes tensors in order"):
        run(x=x)


def test_a_manifest_of_another_artefact(whole, tmp_path):
    shutil.copy(whole / "net.pt2", tmp_path / "net.pt2")
    shutil.copy(whole / "net.ts.json", tmp_path / "net.pt2.json")
    with pytest.raises(CheckpointError, match=r"net.pt2 isn't the file that its manifest net.pt2.json was written for"):
        export.load(tmp_path / "net.pt2")


def test_a_file_that_isn_t_there(tmp_path):
    with pytest.raises(CheckpointError, match="there is no file"):
        export.load(tmp_path / "net.onnx")


# -- like a model -----------------------------------------------------------------------------------------------------


class Scores(nn.Module, Generic[N]):
    def __init__(self, features: Dim[N]) -> None:
        super().__init__()
        self.layer = nn.Linear(features, 5)

    def forward(self, x: Tensor[Float32, B, N], scale: float = 1.0) -> Tensor[Float32, B, 5]:
        return self.layer(x) * scale


class Renamed(torch.nn.Module):
    def forward(self, left: F32[torch.Tensor, "rows 7"], right: F32[torch.Tensor, "..."]) -> torch.Tensor:
        return left @ right


class Whole(torch.nn.Module):
    def forward(self, x: I64[torch.Tensor, "rows 7"]) -> torch.Tensor:
        return x


class Deeper(torch.nn.Module):
    def forward(self, x: F32[torch.Tensor, "batch rows 7"]) -> torch.Tensor:
        return x


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.pt2"
    export.program(Scores(7), path)
    return path


def test_a_file_like_a_model_is_called_as_the_model_is(scores, product):
    with torch.device("meta"):
        model = Scores(7)
    assert export.load(scores, like=model)(torch.randn(3, 7)).shape == (3, 5)
    assert len(export.load(product, like=Renamed())(torch.randn(3, 7), torch.randn(7, 5))) == 2  # by order


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Scores(11), r"x is Float32\[B, 7\] there, and Scores.forward takes 11 as dim 1"),
        (Renamed(), r"it takes \(x: Float32\[B, 7\]\) -> Float32\[B, 5\], and Renamed.forward takes left, right"),
        (Whole(), r"and Whole.forward takes Int64"),
        (Deeper(), r"and Deeper.forward takes 3 dims"),
    ],
    ids=["size", "parameters", "dtype", "rank"],
)
def test_a_file_of_another_model_is_refused(scores, model, reason):
    with pytest.raises(CheckpointError, match=f"scores.pt2 isn't an export of such a model: .*{reason}") as caught:
        export.load(scores, like=model)
    assert "like" in caught.value.hint


# -- ONNX models from elsewhere ---------------------------------------------------------------------------------------


def foreign(path, nodes, inputs, outputs, initializers=()):
    graph = onnx.helper.make_graph(nodes, "graph", inputs, outputs, initializer=list(initializers))
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, path)


def info(name, kind, shape):
    return onnx.helper.make_tensor_value_info(name, kind, shape)


@pytest.fixture
def product(tmp_path):
    path = tmp_path / "product.onnx"
    f32 = onnx.TensorProto.FLOAT
    inputs = [info("left", f32, ["rows", 7]), info("input.2", f32, [7, "columns"])]
    nodes = [
        onnx.helper.make_node("MatMul", ["left", "input.2"], ["product"]),
        onnx.helper.make_node("Relu", ["product"], ["positive"]),
    ]
    outputs = [info("product", f32, ["rows", "columns"]), info("positive", f32, ["rows", "columns"])]
    foreign(path, nodes, inputs, outputs)
    return path


def test_an_onnx_model_from_elsewhere_is_checked_by_its_value_infos(product):
    run = export.load(product)
    assert str(run.signature) == (
        "(left: Float32[rows, 7], input.2: Float32[7, columns]) -> (Float32[rows, columns], Float32[rows, columns])"
    )
    a, b = torch.randn(3, 7), torch.randn(7, 5)
    result, positive = run(a, b)
    torch.testing.assert_close(result, a @ b)
    torch.testing.assert_close(positive, (a @ b).relu())
    torch.testing.assert_close(run(a, **{"input.2": b})[0], a @ b)
    with pytest.raises(ShapeMismatch, match=r"dim 0 of input.2 is 5, but the exported program takes 7"):
        run(a, torch.randn(5, 7))
    with pytest.raises(DTypeMismatch, match="left is Float64"):
        run(a.double(), b)


def test_weights_outside_of_the_folder_are_refused(tmp_path):
    weight = onnx.TensorProto(name="w", data_type=1, dims=[7], data_location=1)
    weight.external_data.add(key="location", value="../../etc/passwd")
    f32 = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", [info("x", f32, [7])], [info("y", f32, [7])], [weight]
    )
    (tmp_path / "net.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with pytest.raises(CheckpointError, match="outside of its folder"):
        export.load(tmp_path / "net.onnx")


def test_weights_in_files_of_their_own(tmp_path):
    f32 = onnx.TensorProto.FLOAT
    weight = onnx.numpy_helper.from_array(torch.arange(7.0).numpy(), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", [info("x", f32, [7])], [info("y", f32, [7])], [weight]
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, tmp_path / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    assert (tmp_path / "net.data").exists()
    assert export.load(tmp_path / "net.onnx")(torch.ones(7)).tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_an_operator_that_nobody_knows(tmp_path):
    f32 = onnx.TensorProto.FLOAT
    node = onnx.helper.make_node("Nobody", ["x"], ["y"], domain="example.org")
    graph = onnx.helper.make_graph([node], "g", [info("x", f32, [7])], [info("y", f32, [7])])
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("example.org", 1)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "net.onnx")
    with pytest.raises((BackendError, CheckpointError), match="Nobody"):
        export.load(tmp_path / "net.onnx")


def test_torch_s_log_of_a_damaged_program_stays_out_of_sight(tmp_path, monkeypatch):
    export.program(damaged_exports.Net(), tmp_path / "net.pt2")
    (tmp_path / "net.pt2.json").unlink()
    content = (tmp_path / "net.pt2").read_bytes()
    header = content.rindex(b"PK\3\4", 0, content.index(b"models/model.json"))
    (tmp_path / "net.pt2").write_bytes(content[:header] + b"PK\0\0" + content[header + 4 :])
    said: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", said.append)
    monkeypatch.setattr(logging.getLogger("torch.export"), "handlers", [handler])
    with pytest.raises(CheckpointError, match=r"is damaged, or no program of torch\.export"):
        export.load(tmp_path / "net.pt2", trust=True)
    assert said == []


# benchmarks/killed_exports.py does it at random moments too
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_kill_in_the_middle_of_an_export_loses_nothing():
    """Before each step of an export over an existing artefact; in a process of its own, which forks."""
    script = ["-m", "benchmarks.killed_exports", "--kinds", "torchscript", "--moments", "0"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    kills = next(line for line in done.stdout.splitlines() if "before each step" in line)
    assert int(kills.split("|")[3]) > 20


@pytest.mark.parametrize("before", ["with a manifest", "without"])
def test_what_an_unfinished_export_left_is_read_by_its_checksum(whole, tmp_path, monkeypatch, before):
    path = tmp_path / "net.onnx"
    shutil.copy(whole / "net.onnx", path)
    if before == "with a manifest":
        shutil.copy(whole / "net.onnx.json", tmp_path)
    x = torch.randn(3, 7)
    expected = export.load(path)(x)

    def fails(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfileobj", fails)
    with pytest.raises(KeyboardInterrupt):
        export.onnx(damaged_exports.Net(), path)
    read = export.load(path)
    assert torch.equal(read(x), expected)
    assert (read.report is None) == (before == "without")


def test_a_manifest_that_is_written_anew_while_it_is_read(whole, tmp_path, monkeypatch):
    path = tmp_path / "net.pt2"
    shutil.copy(whole / "net.ts", path)
    shutil.copy(whole / "net.pt2.json", tmp_path)
    manifests = iter([(whole / "net.pt2.json").read_bytes(), (whole / "net.ts.json").read_bytes()])
    monkeypatch.setattr("simpletorch.export._manifest._text", lambda _: next(manifests))
    assert export.load(path).kind == "torchscript"
