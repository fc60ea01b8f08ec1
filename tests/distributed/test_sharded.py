"""Models that are divided among processes: trained, saved, and gone on with by others."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch

from simpletorch import checkpoint
from simpletorch.checkpoint._format import read as read_file
from simpletorch.checkpoint._format import write
from simpletorch.checkpoint._sharded import MANIFEST
from simpletorch.distributed import materialize
from simpletorch.errors import CheckpointError, TorchError
from simpletorch.optim import EMA
from tests import meeting
from tests.distributed import sharded, variants
from tests.distributed.launching import ROOT, torchrun

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("divided")
    meeting.start(sharded.two, (made,), 2)
    return made


def straight(folder: Path) -> dict:
    return torch.load(folder / "straight.pt")["straight"]


def test_one_process_has_the_same_curve(folder: Path):
    alone, two = sharded.train(folder / "alone"), straight(folder)
    assert alone["samples"] == two["samples"]
    assert alone["losses"] == pytest.approx(two["losses"], rel=1e-6)


def test_processes_that_divide_layers_read_the_same_samples(folder: Path):
    alone, two = sharded.layers(None), torch.load(folder / "layers.pt")
    assert [samples for samples, _ in alone] == [samples for samples, _ in two] == [60, 60]
    assert [loss for _, loss in two] == pytest.approx([loss for _, loss in alone], rel=1e-6)


def test_saved_by_two_resumed_by_one_without_a_group(folder: Path):
    one, two = sharded.train(folder / "one", resume=folder / "stopped" / "step-000000007"), straight(folder)
    assert list(one["losses"]) == [8, 9, 10]
    assert one["losses"] == pytest.approx({step: two["losses"][step] for step in (8, 9, 10)}, rel=1e-6)
    assert one["samples"] == {8: 36, 9: 48, 10: 60}
    assert [samples for samples, _ in one["epochs"]] == [60, 60]
    for name, value in two["state"].items():
        torch.testing.assert_close(one["state"][name], value, rtol=1e-5, atol=1e-7)


def test_saved_by_two_resumed_by_four(folder: Path):
    meeting.start(sharded.others, (folder, 4), 4)
    four, two = torch.load(folder / "by-4.pt"), straight(folder)
    assert four["losses"] == pytest.approx({step: two["losses"][step] for step in (8, 9, 10)}, rel=1e-6)
    assert four["samples"] == {8: 36, 9: 48, 10: 60}
    assert [samples for samples, _ in four["epochs"]] == [60, 60]
    for name, value in two["state"].items():
        torch.testing.assert_close(four["state"][name], value, rtol=1e-5, atol=1e-7)
    assert "was saved by 2 processes, and 4 can't go on with it" in four["refused"]
    assert "whose steps have 12 samples, and here they would have 4 x 5; take batch_size=3" in four["refused"]


def test_what_is_in_the_folder(folder: Path):
    run = folder / "stopped"
    assert [path.name for path in checkpoint.checkpoints_in(run)] == ["step-000000006", "step-000000007"]
    newest = checkpoint.latest(run)
    assert newest == run / "step-000000007"
    assert (run / "best" / MANIFEST).is_file()
    files = sorted(path.name for path in newest.iterdir())
    assert [name[:10] for name in files] == ["checkpoint", "part-00000", "part-00001"]
    for path in newest.iterdir():  # every file is one of safetensors: nothing in them is code
        size = int.from_bytes(path.read_bytes()[:8], "little")
        assert "__metadata__" in json.loads(path.read_bytes()[8 : 8 + size])


def test_consolidated_it_is_one_file_with_the_same(folder: Path, tmp_path: Path):
    path = folder / "stopped" / "step-000000007"
    one = checkpoint.consolidate(path, tmp_path / "one.safetensors")
    there, here = checkpoint.read(path), checkpoint.read(one)
    assert one.is_file()
    assert here.written == there.written
    assert here.parts.keys() == there.parts.keys()
    for name, value in there.parts["model"].items():
        assert torch.equal(here.parts["model"][name], value)
    for index, state in there.parts["optimizer"]["state"].items():
        assert all(torch.equal(here.parts["optimizer"]["state"][index][name], value) for name, value in state.items())
    model = sharded.network()
    assert checkpoint.load_weights(one, model).is_complete
    assert checkpoint.load_weights(path, model).is_complete


def test_a_damaged_part_is_found_and_passed_over(folder: Path):
    run = folder / "straight"
    last, before = checkpoint.checkpoints_in(run)[::-1]
    part = next(last.glob("part-00001-*"))
    raw = bytearray(part.read_bytes())
    raw[-3] ^= 1
    part.write_bytes(raw)
    with pytest.raises(CheckpointError, match=f"the checksum of a part of {part.name} is not that of its contents"):
        checkpoint.read(last)
    with pytest.warns(UserWarning, match="passed over"):
        assert checkpoint.latest(run) == before
    part.unlink()
    with pytest.raises(CheckpointError, match=f"{part.name} can't be read"):
        checkpoint.read(last)


def with_sums(path: Path, other: Path, kind: str) -> Path:
    """The same checkpoint, with checksums of another kind."""
    shutil.copytree(path, other)
    _, about, state, tensors = read_file(path / MANIFEST)
    for entry in about["sharded"].values():
        for part in entry["parts"]:
            raw = (path / part["file"]).read_bytes()[part["at"] :][: part["bytes"]]
            part[kind] = hashlib.sha256(raw).hexdigest()
            del part["crc32"]
    write(other / MANIFEST, about, state, tensors)
    return other


def test_checksums_of_the_first_versions_are_compared_too(folder: Path, tmp_path: Path):
    path = folder / "stopped" / "step-000000007"
    older = with_sums(path, tmp_path / "older", "sha256")
    there, here = checkpoint.read(path).parts["model"], checkpoint.read(older).parts["model"]
    assert all(torch.equal(here[name], value) for name, value in there.items())
    part = next(older.glob("part-00000-*"))
    raw = bytearray(part.read_bytes())
    raw[-3] ^= 1
    part.write_bytes(raw)
    with pytest.raises(CheckpointError, match=f"the checksum of a part of {part.name} is not that of its contents"):
        checkpoint.read(older)
    with pytest.raises(CheckpointError, match="checksums of a kind that this simpletorch doesn't know"):
        checkpoint.read(with_sums(path, tmp_path / "newer", "crc64"))


def test_weights_drawn_after_dividing_are_those_of_one_process(folder: Path):
    with torch.device("meta"):
        model = sharded.network()
    materialize(model, seed=11)
    drawn = torch.load(folder / "straight.pt")["drawn"]
    assert all(torch.equal(value, drawn[name]) for name, value in model.state_dict().items())
    with pytest.raises(TorchError, match=r"0\.weight is on cpu already"):
        materialize(model)


def test_tied_weights_stay_tied(folder: Path):
    model = materialize(sharded.tied_on_meta(), seed=11)
    assert model.head.weight is model.embedding.weight
    torch.manual_seed(11)  # drawn by the first that has it, as where one is built and then tied
    assert torch.equal(model.head.weight, torch.nn.Embedding(7, 5).weight)
    drawn, learned = torch.load(folder / "straight.pt")["tied"]
    assert all(torch.equal(value, drawn[name]) for name, value in model.state_dict().items())
    for name, value in sharded.learned(model).items():
        assert not torch.equal(value, drawn[name])
        torch.testing.assert_close(learned[name], value)


def test_averages_accumulation_and_steps_of_ones_own_are_those_of_one_process(folder: Path, tmp_path: Path):
    one, two = variants.variants(tmp_path), torch.load(folder / "variants.pt")
    copied, undivided = two.pop("refused")
    assert "an average starts as a copy of the model, and this one is divided among processes (FSDP2)" in copied
    assert "the model is divided among the processes, but the average of its weights (ema) isn't" in undivided
    assert one.keys() == two.keys()
    for kind, (*states, measured) in one.items():
        for alone, divided in zip(states, two[kind][:2], strict=True):
            assert alone.keys() == divided.keys()
            for name, value in alone.items():
                torch.testing.assert_close(divided[name], value, rtol=1e-5, atol=1e-6, msg=f"{kind}: {name}")
        assert two[kind][2] == pytest.approx(measured, rel=1e-5), kind
    plain = one["plain"][0]["0.weight"]
    for kind in ("a limited norm", "limited elements", "two batches an update, and one left over"):
        assert not torch.allclose(one[kind][0]["0.weight"], plain, rtol=1e-3), kind  # it does something


def test_an_average_of_two_is_gone_on_with_by_one(folder: Path, tmp_path: Path):
    first = folder / "averaged" / "step-000000005"
    options = {"evaluate_every": 2, "callbacks": [sharded.elsewhere(tmp_path)]}
    one = variants.fitted(lambda model: EMA(model, 0.9), resume=first, **options)
    two = torch.load(folder / "variants.pt")["an average"]
    for alone, divided in zip(one[:2], two[:2], strict=True):
        for name, value in alone.items():
            torch.testing.assert_close(divided[name], value, rtol=1e-5, atol=1e-6)


def test_examples_by_two():
    files = [ROOT / f"examples/distributed/{name}.py" for name in ("ddp", "fsdp", "tensor_parallel", "pipeline")]
    printed, errors, status = torchrun(Path(__file__).with_name("run_examples.py"), *files)
    assert status == 0, errors
    assert printed.count("ranks agree: True") == 4
