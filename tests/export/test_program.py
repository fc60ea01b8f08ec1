"""Programs of `torch.export`: made from annotations, compared with the model, written with a manifest, read again."""

from __future__ import annotations

import json

import pytest
import torch
from jaxtyping import Float32 as F32
from torch import nn as torch_nn

from simpletorch import Float32, Tensor, export, nn
from simpletorch.dims import B, T
from simpletorch.errors import BackendError, CheckpointError, DTypeMismatch, ShapeMismatch, TypeMismatch
from tests.export.models import MLP, Halves, Images, Memory, Plain, Remembering, Unannotated


@pytest.fixture
def model() -> MLP:
    torch.manual_seed(0)
    return MLP()


def test_the_annotation_is_the_specification(model):
    run = export.program(model)
    assert str(run.signature) == "(x: Float32[B, 11]) -> Float32[B, 5]"
    assert [str(s) for s in run.signature.symbols] == ["B >= 1"]
    assert len({c.sizes["B"] for c in run.report.comparisons}) >= 3
    assert run.report.difference <= 1e-5
    x = torch.randn(17, 11)
    torch.testing.assert_close(run(x), model.eval()(x))
    assert isinstance(run.program, torch.export.ExportedProgram)


def test_the_model_is_exported_in_eval_mode_and_stays_in_its_own(model):
    model.fc1.eval()
    run = export.program(model)
    assert (model.training, model.fc1.training, model.dropout.training) == (True, False, True)
    x = torch.randn(3, 11)
    assert torch.equal(run(x), run(x))


def test_a_module_of_torch_with_a_fact_and_an_embedding(tmp_path):
    run = export.program(Plain(), tmp_path / "net.pt2")
    assert str(run.signature) == (
        "(tokens: Int64[batch, time], weights: Float32[batch, time]) "
        "-> (Float32[batch, time, 3], Float32[batch, time//4, 3])"
    )
    assert [str(s) for s in run.signature.symbols] == ["batch >= 1", "time >= 4, a multiple of 4"]
    with pytest.raises(ShapeMismatch, match="time is 9, but the artefact takes time >= 4, a multiple of 4"):
        run(torch.zeros(3, 9, dtype=torch.int64), torch.zeros(3, 9))


def test_what_is_written_is_read_again_and_checks_what_it_is_given(tmp_path, model):
    export.program(model, tmp_path / "deep" / "net.pt2")
    run = export.load(tmp_path / "deep" / "net.pt2")
    x = torch.randn(2, 11)
    torch.testing.assert_close(run(x), model.eval()(x))
    torch.testing.assert_close(run(x=x), model(x))
    with pytest.raises(ShapeMismatch, match=r"net.pt2: dim 1 of x is 7, but the exported program takes 11"):
        run(torch.randn(2, 7))
    with pytest.raises(ShapeMismatch, match="x has 1 dims"):
        run(torch.randn(11))
    with pytest.raises(DTypeMismatch, match=r"x is Float64, but the exported program takes Float32"):
        run(x.double())
    with pytest.raises(TypeError, match="no value for x"):
        run()
    with pytest.raises(TypeMismatch, match="x is 5"):
        run(5)


def test_the_manifest_says_what_it_is(tmp_path, model):
    run = export.program(model, tmp_path / "net.pt2")
    manifest = json.loads((tmp_path / "net.pt2.json").read_text())["manifest"]
    assert manifest["kind"] == "program"
    assert manifest["versions"]["torch"] == torch.__version__
    assert manifest["signature"]["symbols"][0]["name"] == "B"
    assert manifest["report"]["difference"] == run.report.difference
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.pt2", "net.pt2.json"]
    assert "greatest difference from the model" in str(export.load(tmp_path / "net.pt2"))


def test_sizes_have_the_range_in_which_the_model_runs():
    run = export.program(Images())
    assert [str(s) for s in run.signature.symbols] == ["B >= 1", "H >= 9", "W >= 9"]
    assert str(run.signature.output) == "Float32[B, 5, H - 8, W - 8]"


def test_an_expression_is_a_derived_dim():
    run = export.program(Halves())
    assert str(run.signature) == "(x: Float32[B, 2*T]) -> Float32[B, T]"
    assert run(torch.ones(3, 14)).shape == (3, 7)
    with pytest.raises(ShapeMismatch, match=r"dim 1 of x is 13, but it is 2\*T, which no size T gives"):
        run(torch.ones(3, 13))


def test_containers_are_taken_apart_and_put_together(tmp_path):
    memories = [Memory(torch.randn(3, 5), torch.zeros(3)) for _ in range(2)]
    inputs = {"x": torch.randn(3), "memories": memories}
    export.program(Remembering(), tmp_path / "net.pt2", inputs=inputs, dynamic={"T": (0, None)})
    run = export.load(tmp_path / "net.pt2")
    empty = [Memory(torch.zeros(7, 0), torch.zeros(7)) for _ in range(2)]
    total, grown = run(torch.ones(7), empty)
    assert total.tolist() == [3.0] * 7
    assert [m.seen.shape for m in grown] == [(7, 1), (7, 1)]
    assert grown[0].count.tolist() == [1.0] * 7
    with pytest.raises(ShapeMismatch, match=r"dim 0 of memories_1_count is 2, but the exported program takes 7"):
        run(torch.ones(7), [empty[0], Memory(torch.zeros(7, 0), torch.zeros(2))])
    with pytest.raises(TypeMismatch, match="memories is a list"):
        run(torch.ones(7), empty[:1])


def test_without_an_annotation_the_error_says_what_to_write():
    with pytest.raises(TypeError, match=r"the annotation of x in Unannotated.forward is missing") as caught:
        export.program(Unannotated())
    assert caught.value.hint.startswith('write x: Float32[torch.Tensor, "batch 784"]')


@pytest.mark.parametrize(
    ("inputs", "dynamic", "text"),
    [
        ("Float32[rows, 11]", None, "(x: Float32[rows, 11])"),
        (("rows", 11), None, "(x: Float32[rows, 11])"),
        ({"x": torch.randn(3, 11)}, {"x": "rows 11"}, "(x: Float32[rows, 11])"),
        (torch.randn(3, 11), None, "(x: Float32[3, 11])"),
    ],
)
def test_what_the_caller_says_instead(inputs, dynamic, text):
    given = (inputs,) if isinstance(inputs, tuple) else inputs
    assert str(export.program(Unannotated(), inputs=given, dynamic=dynamic).signature).startswith(text)


def test_a_range_of_the_caller_s():
    run = export.program(MLP(), dynamic={"B": (2, 64)})
    assert [str(s) for s in run.signature.symbols] == ["2 <= B <= 64"]
    with pytest.raises(ShapeMismatch, match="B is 65, but the artefact takes 2 <= B <= 64"):
        run(torch.randn(65, 11))
    assert str(export.program(MLP(), dynamic={"B": 5}).signature) == "(x: Float32[5, 11]) -> Float32[5, 5]"
    with pytest.raises(ValueError, match="dynamic names batch, which is no open size of the model's; it has B"):
        export.program(MLP(), dynamic={"batch": (1, 5)})


def test_a_size_that_the_model_fixes_is_found_out():
    class Fixed(torch_nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch_nn.Linear(16, 5)

        def forward(self, x: F32[torch.Tensor, "batch features"]) -> F32[torch.Tensor, "batch 5"]:
            return self.fc(x)

    run = export.program(Fixed())  # what Linear says about 5 features tells
    assert str(run.signature) == "(x: Float32[batch, 16]) -> Float32[batch, 5]"
    assert run.report.fixed == {"features": 16}
    assert "features = 16: the model takes no other" in str(run.report)


class Repeating(nn.Module):
    """The number of rows is a Python number in ``len(x)``, which torch keeps open only in its strict way."""

    def __init__(self) -> None:
        super().__init__()
        self.token = torch.nn.Parameter(torch.randn(1, 5))

    def forward(self, x: Tensor[Float32, B, 5]) -> Tensor[Float32, B, 10]:
        return torch.cat([self.token.expand(len(x), -1), x], dim=1)


def test_len_keeps_a_size_open():
    run = export.program(Repeating())
    assert [str(s) for s in run.signature.symbols] == ["B >= 1"]


# -- what can't be exported ------------------------------------------------------------------------------------------


class Branch(nn.Module):
    def forward(self, x: Tensor[Float32, B, T]) -> Tensor[Float32, B, T]:
        if x.sum() > 0:
            return x
        return -x


class Item(nn.Module):
    def forward(self, x: Tensor[Float32, B, T]) -> Tensor[Float32, B, T]:
        largest = f"{x.max().item():.3f}"
        return x / float(largest)


class Unrolled(nn.Module):
    def forward(self, x: Tensor[Float32, B, T]) -> Tensor[Float32, B]:
        total = x[:, 0]
        for i in range(1, x.shape[1]):
            total = total * 0.5 + x[:, i]
        return total


@pytest.mark.parametrize(
    ("model", "line", "hint"),
    [(Branch(), "if x.sum() > 0:", "torch.where"), (Item(), "largest = f", "keep it a tensor|torch.where")],
)
def test_the_line_and_the_way_out(model, line, hint, tmp_path, capfd):
    with pytest.raises(BackendError) as caught:
        export.program(model, tmp_path / "net.pt2")
    assert caught.value.location.code.startswith(line)
    assert any(part in caught.value.hint for part in hint.split("|"))
    assert list(tmp_path.iterdir()) == []
    assert "GraphModule" not in "".join(capfd.readouterr())


def test_a_size_that_exporting_would_fix_is_refused():
    with pytest.raises(BackendError, match="T is open in the annotation, but exporting made it the number") as caught:
        export.program(Unrolled())
    assert "dynamic={'T': " in caught.value.hint


def test_what_differs_isn_t_written(tmp_path, monkeypatch):
    """A program that gives something else than the model leaves nothing behind."""
    model = MLP().eval()
    save = torch.export.save

    def damaging(program, *args):
        with torch.no_grad():
            program.state_dict["fc2.bias"] += 0.5
            save(program, *args)
            program.state_dict["fc2.bias"] -= 0.5  # it is the model's own

    monkeypatch.setattr(torch.export, "save", damaging)
    (tmp_path / "net.pt2").write_text("what was there before")
    with pytest.raises(BackendError, match=r"the program artefact differs from the model by 5.0e-01"):
        export.program(model, tmp_path / "net.pt2", inputs="Float32[B, 11]")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["what was there before"]


def test_a_folder_that_can_t_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="can't write"):
        export.program(MLP(), tmp_path / "file" / "net.pt2")


def test_what_is_no_module():
    with pytest.raises(TypeError, match="a module can be exported, and this is a int"):
        export.program(5)
