"""The parts of a training loop."""

import io
import itertools
from collections import namedtuple

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.metrics import Accuracy, MeanLoss
from simpletorch.optim import SGD
from simpletorch.train import Step, device_of, evaluate, mode, to_device, track


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 2))


def test_mode_puts_every_submodule_back():
    model = net()
    model[1].eval()
    with mode(model, training=False):
        assert not any(module.training for module in model.modules())
    assert [module.training for module in model.modules()] == [True, True, False, True]


def test_mode_puts_back_after_an_error():
    model = net().eval()
    with pytest.raises(KeyError), mode(model, training=True):
        raise KeyError
    assert not model.training


def test_a_step_is_the_loop_written_out():
    ours, by_hand = net(), net()
    inputs, targets = torch.randn(7, 3), torch.tensor([0, 1, 1, 0, 1, 0, 0])
    step = Step(ours, F.cross_entropy, SGD(ours.parameters(), lr=0.1), clip_norm=0.01)
    optimizer = torch.optim.SGD(by_hand.parameters(), lr=0.1)
    for _ in range(3):
        our_loss = step(inputs, targets)
        loss = F.cross_entropy(by_hand(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 0.01)
        optimizer.step()
        assert torch.equal(our_loss, loss)
        assert not our_loss.requires_grad
    for ours_now, by_hand_now in zip(ours.parameters(), by_hand.parameters(), strict=True):
        assert torch.equal(ours_now, by_hand_now)


def test_a_step_passes_all_inputs_but_the_target():
    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(()))

        def forward(self, left, right):
            return self.scale * (left + right)

    model = Sum()
    step = Step(model, F.mse_loss, SGD(model.parameters(), lr=0.1))
    loss = step(torch.full((3,), 2.0), torch.full((3,), 5.0), torch.full((3,), 7.0))
    assert loss.item() == 0


def test_what_fails_in_a_step_is_explained():
    model = net()
    step = Step(model, F.cross_entropy, SGD(model.parameters()))
    with pytest.raises(ShapeMismatch, match=r"the last dim of .* is 7"):
        step(torch.randn(5, 7), torch.zeros(5, dtype=torch.int64))


def test_what_fails_in_an_evaluation_is_explained():
    with pytest.raises(ShapeMismatch, match=r"the last dim of .* is 7"):
        evaluate(net(), [(torch.randn(5, 7), torch.zeros(5, dtype=torch.int64))], {"accuracy": Accuracy()})


def test_an_optimizer_of_another_model_is_refused():
    with pytest.raises(ValueError, match="updates none of this model's parameters"):
        Step(net(), F.cross_entropy, SGD(net().parameters()))


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_clip_norm_that_is_not_positive_is_refused(limit):
    model = net()
    with pytest.raises(ValueError, match="clip_norm is"):
        Step(model, F.cross_entropy, SGD(model.parameters()), clip_norm=limit)


def test_evaluate_averages_over_samples_and_leaves_the_model_alone():
    model = net()
    inputs, targets = torch.randn(11, 3), torch.randint(2, (11,))
    statistics = model[1].running_mean.clone()
    measured = evaluate(
        model,
        DataLoader(TensorDataset(inputs, targets), 4),
        {"loss": MeanLoss(F.cross_entropy), "accuracy": Accuracy()},
    )
    assert model.training
    assert torch.equal(model[1].running_mean, statistics)
    with mode(model, training=False):
        scores = model(inputs)
    assert measured["loss"] == pytest.approx(F.cross_entropy(scores, targets).item(), rel=1e-5)
    assert measured["accuracy"] == pytest.approx((scores.argmax(1) == targets).float().mean().item())


def test_evaluate_starts_from_zero_each_time():
    model, accuracy = net(), Accuracy()
    loader = DataLoader(TensorDataset(torch.randn(7, 3), torch.randint(2, (7,))), 3)
    first = evaluate(model, loader, {"accuracy": accuracy})
    assert evaluate(model, loader, {"accuracy": accuracy}) == first


def test_evaluate_builds_no_graph():
    class Keep(Accuracy):
        def update(self, output, target):
            self.output = output

        def compute(self):
            return 0.0

    keep = Keep()
    evaluate(net(), [(torch.randn(2, 3), torch.tensor([0, 1]))], {"keep": keep})
    assert not keep.output.requires_grad


def test_nothing_to_evaluate_is_an_error():
    with pytest.raises(DataError, match="the loader gave no sample"):
        evaluate(net(), [], {"accuracy": Accuracy()})


def test_a_batch_that_is_no_tuple_can_not_be_evaluated():
    with pytest.raises(DataError, match="a batch is a Tensor, but training and evaluation need tuples"):
        evaluate(net(), [torch.zeros(5, 3)], {"accuracy": Accuracy()})


def test_the_device_of_a_model():
    assert device_of(torch.nn.Linear(2, 3, device="meta")) == torch.device("meta")
    assert device_of(torch.nn.BatchNorm1d(3, affine=False)) == torch.device("cpu")
    assert device_of(torch.nn.ReLU()) is None


def test_tensors_move_wherever_they_are_in_a_batch():
    Pair = namedtuple("Pair", "image name")
    batch = {"x": (torch.zeros(2), [torch.zeros(3), 5]), "y": Pair(torch.zeros(1), "digit")}
    (moved,) = to_device([batch], torch.device("meta"))
    assert moved["x"][0].device.type == "meta"
    assert moved["x"][1][0].device.type == "meta"
    assert moved["x"][1][1] == 5
    assert type(moved["y"]) is Pair
    assert moved["y"].image.device.type == "meta"
    assert moved["y"].name == "digit"


def test_tensors_that_are_there_already_are_the_same_objects():
    tensor = torch.zeros(3)
    (moved,) = to_device([tensor], torch.device("cpu"))
    assert moved is tensor


def test_a_model_without_parameters_moves_nothing():
    tensor = torch.zeros(3)
    assert list(to_device([tensor], None)) == [tensor]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_track_shows_a_bar_in_a_terminal():
    screen = Terminal()
    assert list(track(range(5), "digits", file=screen)) == [0, 1, 2, 3, 4]
    assert "digits" in screen.getvalue()
    assert "5/5" in screen.getvalue() or "0/5" in screen.getvalue()


@pytest.mark.parametrize("file", [Terminal(), io.StringIO()])
def test_track_changes_nothing_about_a_loader(file):
    def batches(show):
        torch.manual_seed(5)
        loader = DataLoader(TensorDataset(torch.arange(23)), 7, shuffle=True)
        return [numbers.tolist() for (numbers,) in show(loader)], torch.rand(()).item()

    assert batches(lambda loader: track(loader, file=file)) == batches(iter)


def test_track_says_nothing_of_a_short_loop_when_piped():
    pipe = io.StringIO()
    assert list(track(range(5), file=pipe)) == [0, 1, 2, 3, 4]
    assert pipe.getvalue() == ""


def test_track_prints_plain_lines_now_and_then_when_piped():
    pipe = io.StringIO()
    list(track(range(3), "digits", file=pipe, every=0.0))
    lines = pipe.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("digits: 1/3 after 0 s (")
    assert "\r" not in pipe.getvalue()
    assert "\x1b" not in pipe.getvalue()


def test_track_takes_what_has_no_length():
    pipe = io.StringIO()
    assert list(itertools.islice(track(itertools.count(), file=pipe, every=0.0), 2)) == [0, 1]
    assert pipe.getvalue().startswith("0 after ")


def test_track_shows_the_status_and_where_it_began():
    pipe = io.StringIO()
    list(track(range(3), "digits", status=lambda: "loss 0.5", start=4, file=pipe, every=0.0))
    lines = pipe.getvalue().splitlines()
    assert lines[0].startswith("digits: 4/7 after 0 s (")
    assert lines[0].endswith(", loss 0.5")


def test_the_bar_goes_when_the_loop_is_left():
    screen = Terminal()
    for _ in track(range(5), "digits", file=screen):
        break
    assert screen.getvalue().endswith("\r")
