"""Published weights: found by name, fetched once, checked, and loaded beside a head of one's own."""

import enum
import hashlib
import http.server
import logging
import threading

import pytest
import torch

from benchmarks import damaged_weights
from simpletorch.errors import CheckpointError, TorchError
from simpletorch.nn import StateMismatch
from simpletorch.vision import models
from simpletorch.vision.models import _weights
from simpletorch.vision.models._published import PUBLISHED

NAME = "mobilenet_v3_small"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home/hub/checkpoints"


@pytest.fixture
def server(home, tmp_path, monkeypatch):
    """Serves what lies in its folder in place of torchvision's address, and remembers what it was asked for."""
    folder, asked = tmp_path / "served", []
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def log_message(self, *args):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setattr(_weights, "ADDRESS", f"http://127.0.0.1:{running.server_port}/")
        yield folder, asked
        running.shutdown()


@pytest.fixture
def published(server, monkeypatch):
    """Weights that the server has, under the name that belongs to them."""
    torch.manual_seed(3)
    model = models.mobilenet_v3_small().eval()
    folder, _ = server
    torch.save(model.state_dict(), folder / "new.pth")
    digits = hashlib.sha256((folder / "new.pth").read_bytes()).hexdigest()[:8]
    file = (folder / "new.pth").rename(folder / f"mobilenet_v3_small-{digits}.pth")
    monkeypatch.setattr(_weights, "PUBLISHED", {NAME: {"IMAGENET1K_V1": file.name}})
    return model, file


IMAGES = torch.rand(2, 3, 37, 41, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("arguments", [{"pretrained": True}, {"weights": "DEFAULT"}, {"weights": "IMAGENET1K_V1"}])
def test_published_weights_load(arguments, published, home):
    model, file = published
    assert torch.equal(models.mobilenet_v3_small(**arguments).eval()(IMAGES), model(IMAGES))
    assert (home / file.name).read_bytes() == file.read_bytes()


def test_they_are_fetched_once_and_found_where_they_were_put_by_hand(published, home, server):
    models.mobilenet_v3_small(pretrained=True)
    models.mobilenet_v3_small(pretrained=True)
    assert len(server[1]) == 1
    model, file = published
    (home / file.name).unlink()
    file.rename(home / file.name)
    assert torch.equal(models.mobilenet_v3_small(pretrained=True).eval()(IMAGES), model(IMAGES))
    assert len(server[1]) == 1


def test_a_head_for_other_classes_is_new_and_all_else_is_loaded(published, caplog):
    torch.manual_seed(7)
    fresh = models.mobilenet_v3_small(num_classes=7)
    torch.manual_seed(7)
    with caplog.at_level(logging.WARNING, "simpletorch"):
        model = models.mobilenet_v3_small(pretrained=True, num_classes=7)
    state, expected = model.state_dict(), published[0].state_dict()
    head = {"classifier.3.weight", "classifier.3.bias"}
    assert all(torch.equal(state[key], expected[key]) for key in state.keys() - head)
    assert all(torch.equal(state[key], fresh.state_dict()[key]) for key in head)
    assert model(IMAGES).shape == (2, 7)
    (said,) = caplog.messages
    assert said.endswith(
        "is loaded but for its head; new and to be trained: classifier.3.weight [7, 1024], classifier.3.bias [7]"
    )


def test_nothing_is_said_of_a_head_that_is_loaded(published, caplog):
    models.mobilenet_v3_small(pretrained=True)
    assert caplog.messages == []


def test_a_file_of_one_s_own_has_to_fit_whole(published):
    with pytest.raises(StateMismatch, match="2 keys misshapen") as caught:
        models.mobilenet_v3_small(weights=published[1], num_classes=7)
    assert caught.value.hint == (
        "classifier.3 has 1000 outputs in the state dict and 7 here: load it into a model with 1000, then put a new "
        "layer in the place of classifier.3"
    )


def test_torchvisions_names_in_full_are_taken(published):
    model, _ = published
    named = models.mobilenet_v3_small(weights="MobileNet_V3_Small_Weights.IMAGENET1K_V1").eval()
    assert torch.equal(named(IMAGES), model(IMAGES))
    with pytest.raises(TorchError, match=r"ResNet18_Weights\.DEFAULT are weights of another model"):
        models.mobilenet_v3_small(weights="ResNet18_Weights.DEFAULT")


def test_only_the_number_of_classes_may_differ():
    published, own = torch.zeros(1000, 5), torch.zeros(7, 5)
    assert _weights._of_other_classes(published, own)
    assert not _weights._of_other_classes(published, torch.zeros(7, 3))
    assert not _weights._of_other_classes(own, published)
    assert not _weights._of_other_classes(published, published)


def test_without_a_network_it_says_where_the_file_goes(home, monkeypatch):
    monkeypatch.setattr(_weights, "ADDRESS", "http://127.0.0.1:9/")  # nobody listens
    with pytest.raises(CheckpointError, match=r"resnet18-f37072fd\.pth could not be downloaded") as caught:
        models.resnet18(pretrained=True)
    assert caught.value.hint == (
        "without a network, fetch http://127.0.0.1:9/resnet18-f37072fd.pth elsewhere and put the file at "
        f"{home / 'resnet18-f37072fd.pth'}"
    )
    assert not list(home.glob("resnet18*"))


def test_another_file_than_its_name_says_is_neither_used_nor_kept(published, home):
    file = published[1]
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(CheckpointError, match="is another file than its name says, or damaged"):
        models.mobilenet_v3_small(pretrained=True)
    assert not (home / file.name).exists()
    file.rename(home / file.name)  # by hand: it stays, for its owner to look at
    with pytest.raises(CheckpointError) as caught:
        models.mobilenet_v3_small(pretrained=True)
    assert caught.value.hint.startswith("remove the file, and it is fetched again")
    assert (home / file.name).exists()


class Members(enum.Enum):
    """As torchvision's enumerations."""

    RIGHT = "https://download.pytorch.org/models/{file}"
    OTHER = "https://download.pytorch.org/models/resnet18-f37072fd.pth"

    @property
    def url(self):
        return self.value


def test_torchvisions_own_members_are_taken(published, monkeypatch):
    model, file = published
    monkeypatch.setattr(Members.RIGHT, "_value_", f"https://download.pytorch.org/models/{file.name}")
    assert torch.equal(models.mobilenet_v3_small(weights=Members.RIGHT).eval()(IMAGES), model(IMAGES))
    with pytest.raises(
        TorchError, match=r"Members\.OTHER.* are weights of another model: resnet18-f37072fd\.pth, but mob"
    ):
        models.mobilenet_v3_small(weights=Members.OTHER)


def test_names_that_are_none():
    with pytest.raises(FileNotFoundError, match="resnet50 has no weights IMAGENET1K_V3: it has IMAGENET1K_V2, IMAGENE"):
        models.resnet50(weights="IMAGENET1K_V3")
    with pytest.raises(TorchError, match="pretrained=True means weights='DEFAULT', and other weights are given too"):
        models.resnet50(pretrained=True, weights="IMAGENET1K_V1")


def test_every_classifier_has_published_weights_with_a_checksum():
    functions = {name for name in models.__all__ if name[0].islower()} - {
        "read_weights",
        "from_timm",
        "to_timm",
        "unet",
    }
    assert PUBLISHED.keys() == functions
    files = [file for names in PUBLISHED.values() for file in names.values()]
    assert len(set(files)) == len(files)
    assert all(_weights.checksum(file) for file in files)


@pytest.mark.parametrize("kind", damaged_weights.KINDS)
def test_damaged_files_are_refused_and_run_nothing(kind, tmp_path):
    found = damaged_weights.run(kind, 10, tmp_path, seed=5)
    assert found.total() == 10
    assert not found.keys() - {"refused", "unchanged", "unseen"}
    assert kind != "zip" or not found["unseen"]
