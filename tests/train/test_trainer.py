"""The `Trainer`."""

import math

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.errors import DataError, ShapeMismatch, TorchError
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD, AdamW, OneCycleLR, ReduceLROnPlateau, StepLR
from simpletorch.train import Trainer

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Dropout(0.5), torch.nn.Linear(5, 2))


def loader(size=7):
    return DataLoader(TensorDataset(INPUTS, TARGETS), size)


def trainer(model, **settings):
    settings.setdefault("optimizer", SGD(model.parameters(), lr=0.1))
    return Trainer(loss=F.cross_entropy, progress=False, **settings)


def test_it_trains_as_the_loop_written_out():
    ours, by_hand = net(), net()
    torch.manual_seed(3)
    history = trainer(ours, clip_norm=0.5).fit(ours, loader(), epochs=2)
    torch.manual_seed(3)
    optimizer = torch.optim.SGD(by_hand.parameters(), lr=0.1)
    losses = []
    for _ in range(2):
        total = 0.0
        for inputs, targets in loader():
            loss = F.cross_entropy(by_hand(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 0.5)
            optimizer.step()
            total += loss.item() * len(targets)
        losses.append(total / 23)
    for ours_now, by_hand_now in zip(ours.parameters(), by_hand.parameters(), strict=True):
        assert torch.equal(ours_now, by_hand_now)
    assert [epoch.loss for epoch in history] == pytest.approx(losses)


def test_the_history_is_data():
    model = net()
    first, second = trainer(model, metrics={"accuracy": Accuracy()}).fit(
        model, loader(), epochs=2, validation=loader(11)
    )
    assert (first.number, second.number) == (1, 2)
    assert (first.samples, first.steps, first.learning_rate) == (23, 4, 0.1)
    assert first.seconds > 0
    assert set(first.validation) == {"loss", "accuracy"}
    assert 0 <= first.validation["accuracy"] <= 1


def test_training_is_in_train_mode_and_the_mode_is_put_back():
    modes = []

    class Spy(torch.nn.Linear):
        def forward(self, input):
            modes.append(self.training)
            return super().forward(input)

    model = Spy(3, 2).eval()
    trainer(model, dry_run=False).fit(model, loader(23), epochs=1, validation=loader(23))
    assert modes == [True, False]
    assert not model.training


@pytest.mark.parametrize("schedule", ["epoch", "step"])
def test_a_scheduler_runs_per_epoch_or_per_step(schedule):
    model = net()
    optimizer = SGD(model.parameters(), lr=1.0)
    fit = trainer(model, optimizer=optimizer, scheduler=StepLR(optimizer, 1, gamma=0.5), schedule=schedule).fit
    history = fit(model, loader(), epochs=2)
    expected = {"epoch": ([1.0, 0.5], 0.25), "step": ([0.5**3, 0.5**7], 0.5**8)}[schedule]
    assert ([epoch.learning_rate for epoch in history], optimizer.param_groups[0]["lr"]) == expected


def test_a_plateau_scheduler_is_given_the_loss():
    model = net()
    optimizer = SGD(model.parameters(), lr=1e-5)  # so small that the loss stays where it is
    scheduler = ReduceLROnPlateau(optimizer, factor=0.5, patience=0, threshold=0.5)
    trainer(model, optimizer=optimizer, scheduler=scheduler).fit(model, loader(), epochs=3, validation=loader())
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.25e-5)


def test_a_line_per_epoch_is_printed_and_no_bar_where_there_is_no_terminal(capsys):
    model = net()
    settings = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), metrics={"accuracy": Accuracy()})
    settings.fit(model, loader(), epochs=2, validation=loader())
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("epoch 1: loss ")
    assert "validation accuracy 0." in lines[0]
    assert err == ""


def test_silence_on_request(capsys):
    model = net()
    trainer(model).fit(model, loader(), epochs=1, validation=loader())
    assert capsys.readouterr() == ("", "")


def test_no_epoch_is_refused():
    model = net()
    with pytest.raises(ValueError, match="epochs is 0: train for at least 1"):
        trainer(model).fit(model, loader(), epochs=0)


def test_an_empty_loader_is_refused():
    model = net()
    with pytest.raises(DataError, match="the loader gave no batch in epoch 1"):
        trainer(model).fit(model, [], epochs=1)


def test_an_iterator_that_is_used_up_is_refused():
    model = net()
    with pytest.raises(DataError, match="no batch in epoch 2"):
        trainer(model).fit(model, iter(loader()), epochs=2)


@pytest.mark.parametrize("batch", [torch.zeros(5, 3), {"x": torch.zeros(5, 3)}, (torch.zeros(5, 3),)])
def test_batches_that_are_no_pairs_are_refused(batch):
    model = net()
    with pytest.raises(DataError, match=r"need tuples \(inputs, target\)"):
        trainer(model).fit(model, [batch], epochs=1)


def test_a_loss_that_is_not_finite_stops_the_training():
    model = net()
    with torch.no_grad():
        model[0].weight.fill_(math.inf)
    with pytest.raises(TorchError, match="the loss became nan in epoch 1: lower the learning rate"):
        trainer(model).fit(model, loader(), epochs=3)


def test_a_failing_step_names_the_layer():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(7, 2))
    with pytest.raises(ShapeMismatch) as caught:
        trainer(model).fit(model, loader(), epochs=1)
    assert caught.value.module_path == "model.2"
    assert "takes 7 features" in str(caught.value)


def test_a_loss_that_does_not_fit_is_explained():
    model = net()
    batches = DataLoader(TensorDataset(INPUTS, TARGETS.unsqueeze(1).expand(23, 3)), 5)
    with pytest.raises(TorchError, match="target"):
        trainer(model).fit(model, batches, epochs=1)


def test_digits_are_learned():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 61), torch.nn.ReLU(), torch.nn.Linear(61, 10))
    batches = DataLoader(Digits(), 67, shuffle=True)
    optimizer = AdamW(model.parameters())
    history = trainer(
        model,
        optimizer=optimizer,
        scheduler=OneCycleLR(optimizer, max_lr=0.01, total_steps=7 * len(batches)),
        schedule="step",
        metrics={"accuracy": Accuracy()},
    ).fit(model, batches, epochs=7, validation=DataLoader(Digits(train=False), 360))
    assert history[-1].validation["accuracy"] > 0.95
