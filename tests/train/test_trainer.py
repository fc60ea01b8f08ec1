"""The `Trainer`."""

import math

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.errors import DataError, ShapeMismatch, TorchError
from simpletorch.metrics import Accuracy
from simpletorch.optim import EMA, SGD, AdamW, OneCycleLR, ReduceLROnPlateau, StepLR
from simpletorch.train import Callback, Trainer

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


@pytest.mark.parametrize("batch", [torch.zeros(5, 3), 7, (torch.zeros(5, 3),)])
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


def test_one_epoch_is_the_default():
    model = net()
    assert len(trainer(model).fit(model, loader())) == 1


def test_steps_count_updates_over_epochs():
    model = net()
    history = trainer(model, accumulate=2).fit(model, loader(), steps=5)
    assert [(epoch.steps, epoch.samples) for epoch in history] == [(2, 23), (2, 23), (1, 14)]


def test_epochs_and_steps_whichever_is_first():
    model = net()
    assert [epoch.steps for epoch in trainer(model).fit(model, loader(), epochs=1, steps=7)] == [4]
    assert [epoch.steps for epoch in trainer(model).fit(model, loader(), epochs=3, steps=2)] == [2]


def test_accumulation_is_the_loop_written_out():
    ours, by_hand = net().eval(), net()
    ours[1].p = by_hand[1].p = 0.0
    trainer(ours, accumulate=3).fit(ours, loader(), epochs=2)
    optimizer = torch.optim.SGD(by_hand.parameters(), lr=0.1)
    for _ in range(2):
        for samples in (slice(0, 21), slice(21, 23)):
            optimizer.zero_grad()
            F.cross_entropy(by_hand(INPUTS[samples]), TARGETS[samples]).backward()
            optimizer.step()
    for ours_now, by_hand_now in zip(ours.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours_now, by_hand_now)


def test_evaluation_every_so_many_updates():
    seen = []

    class Look(Callback):
        def on_evaluated(self, fit):
            seen.append((fit.step, fit.phase, fit.metrics["validation loss"]))

    model = net()
    history = trainer(model, evaluate_every=3, callbacks=[Look()]).fit(model, loader(), epochs=2, validation=loader())
    assert [step for step, _, _ in seen] == [3, 4, 6, 8]
    assert [phase for _, phase, _ in seen] == ["training", "drained", "training", "drained"]
    assert seen[-1][2] == history[-1].validation["loss"]
    assert model.training


def test_training_metrics_are_measured_on_what_is_trained():
    model = net()
    (epoch,) = trainer(model, optimizer=SGD(model.parameters(), lr=0.0), train_metrics={"accuracy": Accuracy()}).fit(
        model, loader(), epochs=1
    )
    assert 0 < epoch.training["accuracy"] <= 1
    assert "accuracy 0." in str(epoch)


def test_the_average_is_what_is_evaluated():
    model = net()
    model[1].p = 0.0
    ema = EMA(model, 0.9)
    (epoch,) = trainer(model, ema=ema).fit(model, loader(), epochs=1, validation=loader())
    with torch.no_grad():
        of_average, of_model = (F.cross_entropy(m(INPUTS), TARGETS).item() for m in (ema.module, model))
    assert epoch.validation["loss"] == pytest.approx(of_average)
    assert epoch.validation["loss"] != pytest.approx(of_model, rel=1e-6)


def test_a_compiled_model_trains_as_it_is():
    ours, eager = net(), net()
    torch.manual_seed(3)
    trainer(ours, compile={"backend": "eager"}).fit(ours, loader(), epochs=2, validation=loader())
    torch.manual_seed(3)
    trainer(eager).fit(eager, loader(), epochs=2, validation=loader())
    for ours_now, eager_now in zip(ours.parameters(), eager.parameters(), strict=True):
        assert torch.equal(ours_now, eager_now)
    assert list(ours.state_dict()) == list(eager.state_dict())


def test_an_epoch_knows_time_and_memory():
    model = net()
    (epoch,) = trainer(model).fit(model, loader(), epochs=1)
    assert epoch.memory > 2**20
    assert "ms/step" in str(epoch)
    assert "MiB" in str(epoch)


def refused(model, message, *, batches=None, epochs=None, steps=None, **settings):
    with pytest.raises(ValueError, match=message) as caught:
        trainer(model, **settings).fit(model, loader() if batches is None else batches, epochs=epochs, steps=steps)
    assert isinstance(caught.value, TorchError)


def test_a_scheduler_of_another_optimizer_is_refused():
    model = net()
    other = SGD(net().parameters(), lr=0.1)
    refused(model, "the StepLR changes the learning rate of another optimizer", scheduler=StepLR(other, 1))


def test_a_plateau_scheduler_per_step_is_refused():
    model = net()
    optimizer = SGD(model.parameters(), lr=0.1)
    settings = {"optimizer": optimizer, "scheduler": ReduceLROnPlateau(optimizer), "schedule": "step"}
    refused(model, "ReduceLROnPlateau needs a measure", **settings)


@pytest.mark.parametrize(
    ("schedule", "total", "planned"), [("step", 7, "makes 8: build it with total_steps=8"), ("epoch", 1, "makes 2")]
)
def test_a_cycle_that_ends_too_early_is_refused_at_once(schedule, total, planned):
    model = net()
    optimizer = SGD(model.parameters(), lr=0.1)
    cycle = OneCycleLR(optimizer, 0.1, total_steps=total)
    refused(model, planned, epochs=2, optimizer=optimizer, scheduler=cycle, schedule=schedule)


def test_an_accumulated_cycle_has_as_many_steps_as_there_are_updates():
    model = net()
    optimizer = SGD(model.parameters(), lr=0.1)
    cycle = OneCycleLR(optimizer, 0.1, total_steps=4)
    trainer(model, optimizer=optimizer, scheduler=cycle, schedule="step", accumulate=3).fit(model, loader(), epochs=2)
    assert cycle.last_epoch == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0: make at least 1 update"),
        ({"evaluate_every": 0}, "evaluate_every is 0"),
        ({"schedule": "batch"}, "schedule is 'batch': it must be 'epoch' or 'step'"),
        ({"accumulate": 0}, "accumulate is 0"),
        ({"precision": "fp16"}, "precision is 'fp16'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    refused(net(), message, **settings)
