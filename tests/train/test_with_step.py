"""`Update`, and a `Trainer` with a step of one's own: several optimizers, losses that a model computes itself."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import CheckpointError, DataError, ShapeMismatch, TorchError
from simpletorch.metrics import MeanSquaredError
from simpletorch.optim import EMA, LBFGS, SGD, Adam, ReduceLROnPlateau, StepLR
from simpletorch.train import (
    Callback,
    Checkpoint,
    CSVLogger,
    DetectNaN,
    EarlyStopping,
    GradientMonitor,
    Trainer,
    Update,
)

REAL = torch.randn(23, 5, generator=torch.Generator().manual_seed(0))


class GAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator, self.discriminator = nn.Linear(3, 5), nn.Linear(5, 1)

    def forward(self, noise):
        return self.generator(noise)


def made(seed=0):
    """The module, its two updates and the step; as a GAN's loop would be written."""
    torch.manual_seed(seed)
    gan = GAN()
    discriminate = Update(Adam(gan.discriminator.parameters(), lr=0.01), clip_norm=0.5)
    generate = Update(Adam(gan.generator.parameters(), lr=0.02))

    def step(real):
        fakes = gan.generator(torch.randn(len(real), 3))
        discriminate(F.softplus(gan.discriminator(fakes.detach())).mean() + F.softplus(-gan.discriminator(real)).mean())
        generate(F.softplus(-gan.discriminator(fakes)).mean())

    return gan, {"discriminator": discriminate, "generator": generate}, step


def loader():
    return DataLoader(TensorDataset(REAL), 7)


def test_it_is_the_loop_written_out():
    gan, updates, step = made()
    torch.manual_seed(3)
    history = Trainer.with_step(step, updates, progress=False).fit(gan, loader(), epochs=2)

    other = made()[0]
    torch.manual_seed(3)
    d_optimizer = torch.optim.Adam(other.discriminator.parameters(), lr=0.01, fused=True)
    g_optimizer = torch.optim.Adam(other.generator.parameters(), lr=0.02, fused=True)
    totals = []
    for _ in range(2):
        total = torch.zeros(2)
        for (real,) in loader():
            fakes = other.generator(torch.randn(len(real), 3))
            d_optimizer.zero_grad()
            d_loss = (
                F.softplus(other.discriminator(fakes.detach())).mean() + F.softplus(-other.discriminator(real)).mean()
            )
            d_loss.backward()
            nn.utils.clip_grad_norm_(other.discriminator.parameters(), 0.5)
            d_optimizer.step()
            g_optimizer.zero_grad()
            g_loss = F.softplus(-other.discriminator(fakes)).mean()
            g_loss.backward()
            g_optimizer.step()
            total += torch.tensor([d_loss.item(), g_loss.item()]) * len(real)
        totals.append((total / 23).tolist())
    for ours, by_hand in zip(gan.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, by_hand)
    assert [list(epoch.training) for epoch in history] == [["discriminator", "generator"]] * 2
    assert [list(epoch.training.values()) for epoch in history] == [pytest.approx(each, rel=1e-5) for each in totals]
    assert [epoch.loss for epoch in history] == pytest.approx([sum(each) for each in totals], rel=1e-5)
    assert [epoch.samples for epoch in history] == [23, 23]


def test_an_update_leaves_no_gradient_in_what_its_loss_goes_through():
    gan, updates, _ = made()
    updates["generator"](gan.discriminator(gan(torch.randn(7, 3))).mean())
    assert all(parameter.grad is None for parameter in gan.discriminator.parameters())


def test_one_graph_for_two_updates():
    body, heads = nn.Linear(3, 5), nn.Linear(5, 1)
    hidden = body(torch.randn(7, 3))
    Update(SGD(heads.parameters()))(heads(hidden.detach()).mean())
    loss = hidden.pow(2).mean()
    first, second = Update(SGD([body.weight], lr=1e-9)), Update(SGD([body.bias], lr=1e-9))
    first(loss, retain_graph=True)
    second(loss)
    assert body.weight.grad is not None
    assert body.bias.grad is not None


def test_the_log_has_each_update_by_name_and_callbacks_take_these_names(capsys, tmp_path):
    gan, updates, step = made()
    callbacks = [
        GradientMonitor(),
        DetectNaN(),
        CSVLogger(tmp_path / "log.csv"),
        EarlyStopping("generator", mode="max", patience=50),
        Checkpoint(tmp_path / "run", monitor="discriminator"),
    ]
    Trainer.with_step(step, updates, callbacks=callbacks).fit(gan, loader(), epochs=2)
    first, _ = capsys.readouterr().out.splitlines()
    assert ", discriminator " in first
    assert ", generator " in first
    assert "discriminator,generator" in (tmp_path / "log.csv").read_text()


def test_a_resumed_training_is_the_one_that_was_never_stopped(tmp_path):
    def run(folder, epochs, **options):
        gan, updates, step = made(seed=options.pop("seed", 0))
        trainer = Trainer.with_step(step, updates, callbacks=[Checkpoint(folder)], progress=False)
        return gan, trainer.fit(gan, loader(), epochs=epochs, **options)

    whole, history = run(tmp_path / "whole", 3)
    run(tmp_path / "stopped", 2)
    resumed, resumed_history = run(tmp_path / "stopped", 3, resume="auto", seed=5)
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)
    assert [epoch.training for epoch in history] == [epoch.training for epoch in resumed_history]


def test_another_optimizer_in_the_checkpoint_is_said_by_the_update(tmp_path):
    gan, updates, step = made()
    Trainer.with_step(step, updates, callbacks=[Checkpoint(tmp_path)], progress=False).fit(gan, loader())
    gan, updates, step = made()
    updates["generator"] = Update(SGD(gan.generator.parameters()))
    trainer = Trainer.with_step(step, updates, callbacks=[Checkpoint(tmp_path)], progress=False)
    with pytest.raises(CheckpointError, match=r"optimizer\.generator"):
        trainer.fit(gan, loader(), epochs=2, resume="auto")


def test_each_update_has_a_scheduler_of_its_own():
    weight = nn.Linear(3, 1)
    optimizer = SGD(weight.parameters(), lr=1.0)
    update = Update(optimizer, scheduler=StepLR(optimizer, 1, gamma=0.5))
    for _ in range(3):
        update(weight(torch.randn(7, 3)).pow(2).mean())
    assert optimizer.param_groups[0]["lr"] == 0.125


def test_a_model_that_computes_its_loss_itself_and_batches_that_are_dicts():
    class LanguageModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(5, 1)

        def forward(self, x, labels):
            return {"loss": F.mse_loss(self.fc(x), labels)}

    model = LanguageModel()
    update = Update(SGD(model.parameters()))
    batches = [{"x": REAL, "labels": REAL[:, :1]}]
    trainer = Trainer.with_step(lambda batch: update(model(**batch)["loss"]), {"model": update}, progress=False)
    assert trainer.fit(model, batches)[0].samples == 23


def test_validation_averages_and_evaluation_work_as_ever():
    model = nn.Linear(5, 1)
    update = Update(SGD(model.parameters(), lr=0.1))
    average = EMA(model, decay=0.5)
    batches = DataLoader(TensorDataset(REAL, REAL[:, :1]), 7)
    trainer = Trainer.with_step(
        lambda x, y: update(F.mse_loss(model(x), y)),
        {"model": update},
        loss=F.mse_loss,
        ema=average,
        metrics={"error": MeanSquaredError()},
        progress=False,
    )
    measured = trainer.fit(model, batches, epochs=2, validation=batches)[-1].validation
    assert measured["loss"] == pytest.approx(measured["error"])
    assert int(average.n_averaged) == 8


def test_an_update_may_be_made_now_and_then():
    gan, updates, _ = made()

    def critic_only(real):
        updates["discriminator"](gan.discriminator(real).mean())
        return updates["discriminator"](gan.discriminator(real).mean())

    epoch = Trainer.with_step(critic_only, updates, progress=False).fit(gan, loader())[0]
    assert math.isnan(epoch.training["generator"])
    assert epoch.loss == pytest.approx(epoch.training["discriminator"])


def test_a_step_without_an_update_is_said():
    gan, updates, _ = made()
    with pytest.raises(TorchError, match=r"the step made no update: nothing called updates\['discriminator'\]\(loss\)"):
        Trainer.with_step(lambda real: None, updates, progress=False).fit(gan, loader())


def test_a_loss_that_has_nothing_to_do_with_the_parameters_is_said():
    gan, updates, _ = made()
    with pytest.raises(TorchError, match="depends on none of the parameters of its optimizer: was it made of detached"):
        updates["generator"](gan.discriminator(gan(torch.randn(7, 3)).detach()).mean())


def test_what_fails_inside_is_explained():
    gan, updates, _ = made()
    with pytest.raises(ShapeMismatch):
        Trainer.with_step(lambda real: updates["generator"](gan(real).mean()), updates, progress=False).fit(
            gan, loader()
        )


def test_no_updates_are_refused():
    with pytest.raises(ValueError, match="updates has none: name each Update that the step makes"):
        Trainer.with_step(lambda real: None, {}, progress=False).fit(nn.Linear(5, 1), loader())


def test_an_update_of_another_model_is_refused():
    _, updates, step = made()
    with pytest.raises(ValueError, match="the update 'discriminator' has none of this model's parameters"):
        Trainer.with_step(step, updates, progress=False).fit(GAN(), loader())


def test_validation_without_anything_to_measure_is_refused():
    gan, updates, step = made()
    with pytest.raises(ValueError, match="nothing to measure on the validation batches: give loss= or metrics="):
        Trainer.with_step(step, updates, progress=False).fit(gan, loader(), validation=loader())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"clip_norm": 0}, "clip_norm is 0: give a positive number, or None"),
        ({"scheduler": "other"}, "the StepLR changes the learning rate of another optimizer"),
        ({"scheduler": "plateau"}, "ReduceLROnPlateau needs a measure, which an update has none of"),
    ],
)
def test_updates_that_can_not_work_are_refused(options, sentence):
    optimizer, other = (SGD(nn.Linear(3, 1).parameters()) for _ in range(2))
    schedulers = {"other": lambda: StepLR(other, 1), "plateau": lambda: ReduceLROnPlateau(optimizer)}
    options = {name: schedulers[value]() if value in schedulers else value for name, value in options.items()}
    with pytest.raises(ValueError, match=sentence):
        Update(optimizer, **options)


def test_an_optimizer_with_a_closure_is_refused():
    with pytest.raises(ValueError, match="with a closure"):
        Update(LBFGS(nn.Linear(3, 1).parameters()))


def test_nan_is_found_without_a_forward_of_the_trainer_s_own():
    gan, updates, step = made()
    bad = REAL.clone()
    bad[2, 3] = math.nan
    with pytest.raises(TorchError, match="the batch's input already has a value that is not finite"):
        Trainer.with_step(step, updates, callbacks=[DetectNaN()], progress=False).fit(gan, [(bad,)])


def test_callbacks_hear_of_each_update():
    heard = []

    class Listen(Callback):
        def on_gradients(self, fit):
            heard.append(fit.step)

    gan, updates, step = made()
    Trainer.with_step(step, updates, callbacks=[Listen()], progress=False).fit(gan, loader())
    assert heard == [0, 0, 1, 1, 2, 2, 3, 3]


def test_an_empty_loader_is_refused():
    gan, updates, step = made()
    with pytest.raises(DataError, match="the loader gave no batch in epoch 1"):
        Trainer.with_step(step, updates, progress=False).fit(gan, [])
