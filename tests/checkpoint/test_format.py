"""The file itself: read by other tools, damaged in every way, written by others with bad intentions."""

import hashlib
import json
import os
import pickle
import random
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from simpletorch import checkpoint
from simpletorch.checkpoint import _format
from simpletorch.errors import CheckpointError

HERE = Path(__file__).parent


def saved(path, **extra):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(7, 3)).sum().backward()
    optimizer.step()
    return checkpoint.save(path, model=model, optimizer=optimizer, epoch=3, **extra)


def signed(path, header, data=b""):
    """A file with this header and a right checksum, as someone with bad intentions would write it."""
    header["__metadata__"] |= {"sha256": "0" * 64}
    digest = hashlib.sha256(_format.head_of(header) + data).hexdigest()
    header["__metadata__"] |= {"sha256": digest}
    path.write_bytes(_format.head_of(header) + data)
    return path


def parsed(path):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def test_any_reader_of_safetensors_reads_the_tensors(tmp_path):
    path = saved(tmp_path / "a")
    parts = checkpoint.read(path).parts
    with safe_open(path, framework="pt") as file:
        assert file.metadata()["format"] == "pt"
        assert torch.equal(file.get_tensor("model.0.weight"), parts["model"]["0.weight"])
        assert torch.equal(file.get_tensor("optimizer.state.0.exp_avg"), parts["optimizer"]["state"][0]["exp_avg"])


def test_tensors_of_mixed_widths_are_aligned(tmp_path):
    tensors = {f"x{n}": torch.zeros(n, dtype=dtype) for n, dtype in enumerate([torch.bool, torch.int16, torch.float64])}
    header, _ = parsed(checkpoint.save(tmp_path / "a", rng=False, tensors=tensors))
    width = {"BOOL": 1, "I16": 2, "F64": 8}
    del header["__metadata__"]
    assert all(entry["data_offsets"][0] % width[entry["dtype"]] == 0 for entry in header.values())


@pytest.mark.parametrize("name", sorted(each.name for each in (HERE / "written").glob("*.safetensors")))
def test_every_version_of_the_format_is_read(name):
    """Files that were written by each version of the format, and stay as they are."""
    read = checkpoint.read(HERE / "written" / name)
    assert read.format == int(name.removeprefix("format-").removesuffix(".safetensors"))
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    assert torch.equal(read.parts["model"]["weight"], model.weight)
    assert read.parts["data"] == {"epoch": 3, "pair": (1, 2.5), "steps": {0: "a", 1: float("inf")}}
    assert read.parts["rng"]["torch"].dtype == torch.uint8
    optimizer = torch.optim.AdamW(model.parameters())
    checkpoint.load(HERE / "written" / name, model=model, optimizer=optimizer)
    assert optimizer.state[model.weight]["step"] == 1


def test_there_is_a_file_of_every_version():
    versions = sorted(int(path.stem.removeprefix("format-")) for path in (HERE / "written").iterdir())
    assert versions == list(range(1, _format.VERSION + 1))


def test_an_older_version_is_brought_up_to_date_step_by_step(tmp_path, monkeypatch):
    path = checkpoint.save(tmp_path / "a", rng=False, value=1)
    steps = {version: lambda state, v=version: {**state, "value": [state["value"], v]} for version in (1, 2)}
    monkeypatch.setattr(_format, "VERSION", 3)
    monkeypatch.setattr(_format, "UPGRADES", steps)
    assert checkpoint.read(path).parts["value"] == [[1, 1], 2]
    assert checkpoint.read(path).format == 1


def test_a_newer_version_says_so(tmp_path):
    header, data = parsed(saved(tmp_path / "a"))
    header["__metadata__"]["simpletorch"] = "99"
    with pytest.raises(CheckpointError, match=r"written by a newer simpletorch: its format is 99(.|\n)*update"):
        checkpoint.read(signed(tmp_path / "a", header, data))


def test_damage_is_named_and_an_undamaged_one_offered(tmp_path):
    for step in (7, 11, 13):
        saved(tmp_path / f"step-{step:09d}.safetensors")
    for step in (11, 13):
        path = tmp_path / f"step-{step:09d}.safetensors"
        raw = bytearray(path.read_bytes())
        raw[-5] ^= 1
        path.write_bytes(raw)
    with pytest.raises(CheckpointError) as caught:
        checkpoint.read(path)
    assert str(caught.value) == (
        f"{path} is damaged: its checksum is not that of its contents\n"
        f"  hint: {tmp_path / 'step-000000007.safetensors'} is undamaged"
    )


def test_the_latest_is_the_newest_undamaged_one(tmp_path):
    assert checkpoint.latest(tmp_path / "nowhere") is None
    assert checkpoint.latest(tmp_path) is None
    for step in (9, 11, 1_000_000_007):
        saved(tmp_path / f"step-{step:09d}.safetensors")
    (tmp_path / "step-other.safetensors").touch()
    os.truncate(tmp_path / "step-1000000007.safetensors", 1000)
    with pytest.warns(UserWarning, match="step-1000000007.safetensors is damaged.*: passed over"):
        assert checkpoint.latest(tmp_path) == tmp_path / "step-000000011.safetensors"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"abc", "is damaged or no checkpoint"),
        (b"\x00" * 16, "is damaged or no checkpoint"),
        (b"\xff" * 64, "it ends before its header does"),
        ((2).to_bytes(8, "little") + b"{}", "is a safetensors file, but no checkpoint(.|\n)*load_weights"),
        ((2).to_bytes(8, "little") + b"[]", "its header can't be read"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "its header can't be read"),
    ],
    ids=["empty", "short", "zeros", "ones", "bare", "list", "nested"],
)
def test_other_files_are_refused(tmp_path, content, sentence):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(CheckpointError, match=sentence):
        checkpoint.read(tmp_path / "a")


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_malicious_pickle_is_refused_and_not_run(tmp_path, zipped):
    path, trace = tmp_path / "a", tmp_path / "trace"
    torch.save({"model": Evil(trace)}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(CheckpointError, match=r"is a file of torch\.save, not a checkpoint"):
        checkpoint.load(path)
    for read in (
        lambda: checkpoint.from_torch(path, tmp_path / "b"),
        lambda: checkpoint.load_weights(path, torch.nn.Linear(2, 3)),
    ):
        with pytest.raises(CheckpointError, match="is refused: it is a pickle that holds more than tensors"):
            read()
    path.write_bytes(pickle.dumps(Evil(trace)))
    for read in (lambda: checkpoint.read(path), lambda: checkpoint.from_torch(path, tmp_path / "b")):
        with pytest.raises(CheckpointError):
            read()
    assert sorted(os.listdir(tmp_path)) == ["a"]


def damaged(raw, random):
    """One kind of damage, drawn at random."""
    raw = bytearray(raw)
    spot = random.choice([random.randrange(16), random.randrange(len(raw)), random.randrange(min(len(raw), 2000))])
    kind = random.randrange(6)
    if kind == 0:
        raw[spot] ^= 1 << random.randrange(8)
    elif kind == 1:
        raw[spot] = (raw[spot] + random.randrange(1, 256)) % 256
    elif kind == 2:
        del raw[spot:]
    elif kind == 3:
        del raw[spot : spot + random.randrange(1, 64)]
    elif kind == 4:
        raw[spot:spot] = random.randbytes(random.randrange(1, 64))
    else:
        end = min(len(raw), spot + random.randrange(1, 64))
        piece = random.randbytes(max(end - spot, 0))
        raw[spot:end] = piece if piece != raw[spot:end] else bytes(len(piece))
    return bytes(raw)


@pytest.mark.slow
def test_ten_thousand_damaged_files_are_all_refused(tmp_path):
    original = saved(tmp_path / "a", rng=False).read_bytes()
    drawn = random.Random(0)
    path = tmp_path / "b"
    for _ in range(10_000):
        content = damaged(original, drawn)
        path.write_bytes(content)
        if content != original:
            with pytest.raises(CheckpointError):
                checkpoint.read(path)


def mutated(value, random, depth=0):
    """A JSON value with something in it replaced, removed or repeated."""
    junk = [None, True, -1, 2**70, 0.5, "", "tensor", "$", [], {}, ["x"], {"$": "tuple"}, {"$": "tensor", "v": "rng"}]
    if (depth > 2 and random.random() < 0.3) or not isinstance(value, (dict, list)) or not value:
        return random.choice(junk)
    if isinstance(value, list):
        value, index = list(value), random.randrange(len(value))
        value[index] = mutated(value[index], random, depth + 1)
        return value
    key = random.choice(list(value))
    if random.random() < 0.1:
        return {k: v for k, v in value.items() if k != key}
    return {**value, key: mutated(value[key], random, depth + 1)}


def test_well_signed_nonsense_gives_data_or_an_error_of_ours(tmp_path):
    """Whoever can write files can sign them too: what they say must still be harmless."""
    header, data = parsed(saved(tmp_path / "a"))
    state = json.loads(header["__metadata__"]["state"])
    drawn = random.Random(1)
    refused = 0
    for _ in range(1000):
        changed = json.loads(json.dumps(header))
        if drawn.random() < 0.3:
            changed = mutated(changed, drawn)
        if not isinstance(changed, dict) or not isinstance(changed.get("__metadata__"), dict):
            continue
        if drawn.random() < 0.9:
            changed["__metadata__"]["state"] = json.dumps(mutated(state, drawn))
        signed(tmp_path / "b", changed, data)
        model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2))
        try:
            checkpoint.load(tmp_path / "b", model=model, optimizer=torch.optim.Adam(model.parameters()))
        except CheckpointError:
            refused += 1
    assert 300 < refused < 1000


def test_damaged_files_of_torch_are_refused(tmp_path):
    torch.save({"model": {"weight": torch.arange(15.0)}, "epoch": 3}, tmp_path / "a")
    original = (tmp_path / "a").read_bytes()
    drawn = random.Random(2)
    for _ in range(500):
        (tmp_path / "b").write_bytes(damaged(original, drawn))
        try:
            parts = checkpoint.from_torch(tmp_path / "b", tmp_path / "c").parts
        except CheckpointError:
            continue
        assert isinstance(parts, dict)  # a plain file has no checksum over every byte: some damage isn't seen


def test_a_header_as_long_as_a_pickle_begins_is_read(tmp_path):
    lengths = set()
    for text in (*range(0, 1500, 8), *range(18500, 19400, 8)):
        path = checkpoint.save(tmp_path / "a", rng=False, note="x" * text, model=torch.nn.Linear(3, 2))
        lengths.add(path.read_bytes()[:2])
        assert checkpoint.read(path).parts["note"] == "x" * text
        assert checkpoint.load_weights(path, torch.nn.Linear(3, 2)).loaded == ("weight", "bias")
    assert {b"\x80\x04", b"PK"} <= lengths


def test_a_checkpoint_can_be_moved(tmp_path):
    shutil.move(saved(tmp_path / "a"), tmp_path / "b")
    assert checkpoint.read(tmp_path / "b").parts["epoch"] == 3
