"""The callbacks that come with the `Trainer`."""

import copy
import csv
import json
import math
import warnings

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DataError, OutOfMemory, TorchError
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD, AdamW, CosineAnnealingLR, OneCycleLR
from simpletorch.train import (
    BatchSizeFinder,
    Callback,
    CSVLogger,
    DetectNaN,
    EarlyStopping,
    GradientMonitor,
    LearningRateFinder,
    Profiler,
    TensorBoardLogger,
    Trainer,
)

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


def loader(size=7, **options):
    return DataLoader(TensorDataset(INPUTS, TARGETS), size, **options)


def trainer(model, *callbacks, lr=0.1, **settings):
    settings.setdefault("optimizer", SGD(model.parameters(), lr=lr))
    return Trainer(loss=F.cross_entropy, callbacks=callbacks, progress=False, **settings)


class Script(Callback):
    """Says what happens, in order."""

    def __init__(self):
        self.said = []

    def on_fit_start(self, fit):
        self.said.append("fit")

    def on_epoch_start(self, fit):
        self.said.append(f"epoch {fit.epoch}")

    def on_loss(self, fit):
        self.said.append("loss")

    def on_gradients(self, fit):
        self.said.append("gradients")

    def on_step_end(self, fit):
        self.said.append(f"step {fit.step}")

    def on_evaluated(self, fit):
        self.said.append("evaluated")

    def on_epoch_end(self, fit):
        self.said.append(f"end {fit.epoch}")

    def on_fit_end(self, fit):
        self.said.append("done")

    def on_exception(self, fit, error):
        self.said.append(type(error).__name__)


def test_callbacks_are_told_in_order():
    model, script = net(), Script()
    trainer(model, script, accumulate=2).fit(model, loader(9), epochs=1, validation=loader())
    once = ["loss", "loss", "gradients", "step 1", "loss", "gradients", "step 2"]
    assert script.said == ["fit", "epoch 1", *once, "evaluated", "end 1", "done"]


def test_callbacks_are_told_of_an_exception():
    model, script = net(), Script()
    with pytest.raises(DataError):
        trainer(model, script).fit(model, [], epochs=1)
    assert script.said == ["fit", "epoch 1", "DataError"]


def test_the_last_come_last():
    order = []

    class First(Callback):
        def on_step_end(self, fit):
            order.append("first")

    class Last(Callback):
        last = True

        def on_step_end(self, fit):
            order.append("last")

    model = net()
    trainer(model, Last(), First()).fit(model, loader(), steps=1)
    assert order == ["first", "last"]


def test_a_callback_stops_the_training():
    class Stop(Callback):
        def on_step_end(self, fit):
            if fit.step == 5:
                fit.stop("enough")

    model = net()
    history = trainer(model, Stop()).fit(model, loader(), epochs=7)
    assert [(epoch.number, epoch.steps) for epoch in history] == [(1, 4), (2, 1)]


# -- early stopping ---------------------------------------------------------------------------------------------------


class Pretend:
    """A metric with the values that it is told."""

    def __init__(self, *values):
        self.values = iter(values)

    def update(self, output, target):
        pass

    def compute(self):
        return next(self.values)

    def reset(self):
        pass


@pytest.mark.parametrize(
    ("mode", "values", "epochs"),
    [
        ("min", [5.0, 4.0, 4.0, 4.5, 3.0, 1.0], 4),
        ("max", [1.0, 2.0, 1.5, 2.5, 2.5, 0.0, 9.0], 6),
        ("min", [3.0, math.nan, math.nan, 1.0], 3),
    ],
)
def test_early_stopping_waits_its_patience(mode, values, epochs):
    model, stopping = net(), EarlyStopping("validation_pretended", mode=mode, patience=2)
    metrics = {"pretended": Pretend(*values)}
    history = trainer(model, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())
    assert len(history) == epochs


def test_early_stopping_wants_min_delta():
    model, stopping = net(), EarlyStopping("validation_pretended", patience=1, min_delta=0.5)
    metrics = {"pretended": Pretend(3.0, 2.0, 1.6, 0.0)}
    assert len(trainer(model, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())) == 3


def test_early_stopping_looks_at_the_training_loss_without_validation():
    model, stopping = net(), EarlyStopping(patience=1, min_delta=100.0)
    assert len(trainer(model, stopping).fit(model, loader(), epochs=7)) == 2
    assert stopping.best < 100


def test_early_stopping_puts_the_best_weights_back():
    class Keep(Callback):
        def on_epoch_end(self, fit):
            if fit.epoch == 2:
                self.weights = fit.model[0].weight.detach().clone()

    model, keep = net(), Keep()
    stopping = EarlyStopping("validation_pretended", patience=2, restore_best=True)
    metrics = {"pretended": Pretend(3.0, 2.0, 4.0, 5.0)}
    trainer(model, keep, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())
    assert torch.equal(model[0].weight, keep.weights)


def test_early_stopping_begins_anew_with_each_training():
    model, stopping = net(), EarlyStopping(patience=1, min_delta=100.0)
    trained = trainer(model, stopping)
    assert [len(trained.fit(model, loader(), epochs=7)) for _ in range(2)] == [2, 2]


def test_early_stopping_says_what_it_could_monitor():
    model = net()
    with pytest.raises(TorchError, match="monitors 'validation_accuracy', but what is measured is 'loss'"):
        trainer(model, EarlyStopping("validation_accuracy")).fit(model, loader(), epochs=2)


def test_why_it_stopped_is_printed(capsys):
    model = net()
    Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters()),
        callbacks=[EarlyStopping(patience=1, min_delta=100.0)],
    ).fit(model, loader(), epochs=7)
    assert "stopped: loss has not got better than 0." in capsys.readouterr().out


# -- loggers ----------------------------------------------------------------------------------------------------------


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_csv_file_has_every_update_evaluation_and_epoch(tmp_path):
    model, path = net(), tmp_path / "new" / "log.csv"
    logger = CSVLogger(path)
    losses = []

    class Note(Callback):
        def on_step_end(self, fit):
            losses.append(float(fit.loss))

    history = trainer(model, Note(), GradientMonitor(), logger, metrics={"accuracy": Accuracy()}, evaluate_every=3).fit(
        model, loader(), epochs=2, validation=loader()
    )
    table = rows(path)
    steps = [row for row in table if row["kind"] == "step"]
    assert [int(row["step"]) for row in steps] == list(range(1, 9))
    assert [float(row["loss"]) for row in steps] == losses
    assert all(float(row["gradient_norm"]) > 0 and float(row["learning_rate"]) == 0.1 for row in steps)
    epochs = [row for row in table if row["kind"] == "epoch"]
    assert [float(row["loss"]) for row in epochs] == [epoch.loss for epoch in history]
    assert [float(row["validation_accuracy"]) for row in epochs] == [epoch.validation["accuracy"] for epoch in history]
    assert [int(row["step"]) for row in table if row["kind"] == "evaluation"] == [3, 6]


def test_the_csv_file_survives_an_error(tmp_path):
    class Fail(Callback):
        def on_step_end(self, fit):
            if fit.step == 3:
                raise KeyboardInterrupt

    model = net()
    with pytest.raises(KeyboardInterrupt):
        trainer(model, CSVLogger(tmp_path / "log.csv"), Fail()).fit(model, loader())
    assert len(rows(tmp_path / "log.csv")) == 3


def test_many_rows_are_written_in_groups(tmp_path):
    model, path = net(), tmp_path / "log.csv"
    trainer(model, CSVLogger(path, every=2)).fit(model, loader(), steps=1000)
    steps = [int(row["step"]) for row in rows(path) if row["kind"] == "step"]
    assert steps == list(range(2, 1001, 2))


class SaveAndFail(Callback):
    """Keeps the state after update 6, and ends the program after update 9 of those that are to fail."""

    last = True

    def __init__(self, fail):
        self.fail = fail

    def on_step_end(self, fit):
        if fit.step == 6:
            self.state = copy.deepcopy(fit.state_dict())
        if fit.step == 9 and self.fail:
            raise KeyboardInterrupt


def test_a_resumed_training_goes_on_in_its_csv_file(tmp_path):
    def run(path, saving, resume=None):
        model = net()
        callbacks = GradientMonitor(), CSVLogger(path), saving
        trainer(model, *callbacks).fit(model, loader(), epochs=3, resume=resume)

    run(tmp_path / "whole.csv", SaveAndFail(fail=False))
    failing = SaveAndFail(fail=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "log.csv", failing)
    assert len(rows(tmp_path / "log.csv")) > 7
    run(tmp_path / "log.csv", SaveAndFail(fail=False), failing.state)
    assert (tmp_path / "log.csv").read_text() == (tmp_path / "whole.csv").read_text()


def test_tensorboard_gets_the_scalars(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    model = net()
    logger = TensorBoardLogger(tmp_path, every=2)
    history = trainer(model, GradientMonitor(), logger, metrics={"accuracy": Accuracy()}).fit(
        model, loader(), epochs=2, validation=loader()
    )
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [2, 4, 6, 8]
    assert [event.value for event in events.Scalars("epoch/loss")] == pytest.approx([e.loss for e in history])
    assert [event.value for event in events.Scalars("validation/accuracy")] == pytest.approx(
        [epoch.validation["accuracy"] for epoch in history]
    )
    assert len(events.Scalars("train/gradient_norm")) == 4


# -- what happens inside ----------------------------------------------------------------------------------------------


def test_the_gradient_monitor_measures_before_clipping():
    seen = []

    class Look(Callback):
        def on_step_end(self, fit):
            seen.append({name: float(value) for name, value in fit.logged.items()})
            seen.append(float(torch.nn.utils.get_total_norm([p.grad for p in fit.model.parameters()])))

    model = net()
    trainer(model, GradientMonitor(each=True), Look(), clip_norm=1e-3).fit(model, loader(), steps=1)
    logged, clipped = seen
    assert clipped == pytest.approx(1e-3, rel=1e-2)
    assert logged["gradient_norm"] > 10 * clipped
    parts = [value for name, value in logged.items() if name.startswith("gradient_norm/")]
    assert math.hypot(*parts) == pytest.approx(logged["gradient_norm"])
    assert len(parts) == 4


def test_the_gradient_monitor_names_what_gets_no_gradient():
    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)

        def forward(self, x):
            return self.used(x)

    model, monitor = Half(), GradientMonitor()
    trainer(model, monitor).fit(model, loader())
    assert monitor.without_gradient == ("unused.weight", "unused.bias")


class Log(torch.nn.Module):
    def forward(self, x):
        return x.log()


def test_nan_is_traced_to_the_layer_before_it_reaches_the_weights():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), Log(), torch.nn.Linear(5, 2))
    before = model[0].weight.detach().clone()
    with pytest.raises(TorchError, match="batch 1, update 1: Log makes it out of finite inputs") as caught:
        trainer(model, DetectNaN()).fit(model, loader())
    assert caught.value.module_path == "model.1"
    assert torch.equal(model[0].weight, before)


def test_nan_in_the_data_is_said():
    inputs = INPUTS.clone()
    inputs[17, 1] = math.nan
    model = net()
    with pytest.raises(TorchError, match=r"batch 3, update 3: the batch's input already has a value that"):
        trainer(model, DetectNaN()).fit(model, DataLoader(TensorDataset(inputs, TARGETS), 7))


def test_nan_in_the_weights_is_said():
    model = net()
    with torch.no_grad():
        model[2].bias[1] = math.inf
    with pytest.raises(TorchError, match=r"the weights 2\.bias already have a value"):
        trainer(model, DetectNaN()).fit(model, loader())


def test_nan_of_the_loss_function_is_said():
    model = net()
    broken = Trainer(
        loss=lambda output, target: output.sum() / 0,
        optimizer=SGD(model.parameters()),
        callbacks=[DetectNaN()],
        progress=False,
    )
    with pytest.raises(TorchError, match="it is the loss function that makes it"):
        broken.fit(model, loader())


def test_a_gradient_that_is_not_finite_is_found_before_the_update():
    class Root(torch.nn.Module):
        def forward(self, x):
            return (x * 0).sqrt() + x

    model = torch.nn.Sequential(torch.nn.Linear(3, 2), Root())
    before = model[0].weight.detach().clone()
    with pytest.raises(TorchError, match=r"is finite, but the gradient of 0\.weight, 0\.bias is not"):
        trainer(model, DetectNaN()).fit(model, loader())
    assert torch.equal(model[0].weight, before)


def test_a_healthy_training_is_left_alone():
    model, other = net(), net()
    trainer(model, DetectNaN(), GradientMonitor()).fit(model, loader(), epochs=2)
    trainer(other).fit(other, loader(), epochs=2)
    assert torch.equal(model[0].weight, other[0].weight)


def test_the_profiler_writes_a_trace_and_a_table(tmp_path):
    model, profiler = net(), Profiler(tmp_path / "profile", active=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's profiler warns of itself
        trainer(model, profiler).fit(model, loader(), epochs=2)
    trace = json.loads((tmp_path / "profile" / "trace.json").read_text())
    assert any("addmm" in str(event.get("name")) for event in trace["traceEvents"])
    assert "aten::addmm" in (tmp_path / "profile" / "operations.txt").read_text()
    assert "aten::addmm" in profiler.table


# -- finders ----------------------------------------------------------------------------------------------------------


def after_one_epoch(*callbacks, **settings):
    model = net()
    torch.manual_seed(3)
    optimizer = AdamW(model.parameters(), lr=0.01)
    trainer(model, *callbacks, optimizer=optimizer, **settings).fit(model, loader(shuffle=True))
    return model, optimizer


def test_finding_a_learning_rate_leaves_no_trace():
    finder = LearningRateFinder(batches=31, apply=False)
    found, _ = after_one_epoch(finder)
    plain, _ = after_one_epoch()
    assert finder.suggestion is not None
    for ours, theirs in zip(found.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_the_suggestion_is_where_a_quadratic_falls_fast_and_does_not_diverge():
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 5.0)
    # the loss is w², its gradient 2 w: the best rate is 0.5, and from 1 on it diverges
    batches = [(torch.ones(1, 1), torch.zeros(1, 1))]
    finder = LearningRateFinder(1e-4, 10.0, 61)
    optimizer = SGD(model.parameters(), lr=0.1)
    Trainer(loss=F.mse_loss, optimizer=optimizer, callbacks=[finder], progress=False).fit(model, batches)
    assert 0.005 < finder.suggestion < 1.0
    assert optimizer.param_groups[0]["lr"] == finder.suggestion
    assert finder.rates == sorted(finder.rates)
    assert len(finder.rates) == len(finder.losses)


def test_a_scheduler_starts_from_the_suggestion():
    model, finder = net(), LearningRateFinder(batches=31)
    optimizer = SGD(model.parameters(), lr=0.1)
    scheduler = CosineAnnealingLR(optimizer, 10)
    trainer(model, finder, optimizer=optimizer, scheduler=scheduler).fit(model, loader(), epochs=5)
    assert scheduler.get_last_lr()[0] == pytest.approx(finder.suggestion / 2)


def test_groups_keep_their_proportion():
    model, finder = net(), LearningRateFinder(batches=31)
    optimizer = SGD([{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters(), "lr": 0.3}])
    trainer(model, finder, optimizer=optimizer).fit(model, loader())
    first, second = (group["lr"] for group in optimizer.param_groups)
    assert (first, second) == (finder.suggestion, pytest.approx(3 * finder.suggestion))


def test_a_scheduler_with_rates_of_its_own_is_refused():
    model = net()
    optimizer = SGD(model.parameters())
    cycle = OneCycleLR(optimizer, 0.1, total_steps=4)
    with pytest.raises(TorchError, match="OneCycleLR has learning rates of its own"):
        trainer(model, LearningRateFinder(), optimizer=optimizer, scheduler=cycle, schedule="step").fit(model, loader())


def test_a_loss_that_never_falls_is_an_error():
    model = net()
    stuck = Trainer(
        loss=lambda output, target: output.sum() * 0 + 1,
        optimizer=SGD(model.parameters()),
        callbacks=[LearningRateFinder()],
        progress=False,
    )
    with pytest.raises(TorchError, match="the loss falls nowhere with learning rates from 1e-07 to 1"):
        stuck.fit(model, loader())


def test_the_finder_draws_its_curve():
    pytest.importorskip("matplotlib").use("Agg")
    model, finder = net(), LearningRateFinder(batches=31)
    with pytest.raises(TorchError, match="nothing to draw yet"):
        finder.plot()
    trainer(model, finder).fit(model, loader())
    axes = finder.plot()
    assert list(axes.lines[0].get_xdata()) == finder.rates
    assert list(axes.lines[0].get_ydata()) == finder.losses
    assert axes.get_xscale() == "log"


class Hungry(torch.nn.Linear):
    """Needs memory that no machine has when a batch is larger than ``most``."""

    most = 37

    def forward(self, input):
        if len(input) > self.most:
            torch.empty(2**55)
        return super().forward(input)


def many(size):
    return DataLoader(TensorDataset(INPUTS.repeat(11, 1), TARGETS.repeat(11)), size, shuffle=True)


@pytest.mark.parametrize(("refine", "size"), [(False, 32), (True, 36)])
def test_the_largest_batch_that_fits_is_found_and_used(refine, size):
    model, finder = Hungry(3, 2), BatchSizeFinder(many, start=4, refine=refine)
    (epoch,) = trainer(model, finder, dry_run=False).fit(model, many(4))
    assert finder.batch_size == size
    assert epoch.steps == math.ceil(253 / size)


def test_the_batch_is_not_larger_than_the_data_or_the_limit():
    model, finder = net(), BatchSizeFinder(many, start=3, largest=100)
    trainer(model, finder).fit(model, many(3))
    assert finder.batch_size == 100
    finder = BatchSizeFinder(many, start=3)
    trainer(model, finder).fit(model, many(3))
    assert finder.batch_size == 192


def test_finding_a_batch_size_leaves_no_trace():
    finder = BatchSizeFinder(lambda size: loader(7, shuffle=True), start=7, largest=7)
    found, _ = after_one_epoch(finder)
    plain, _ = after_one_epoch()
    for ours, theirs in zip(found.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_nothing_that_fits_is_an_error():
    model = Hungry(3, 2)
    with pytest.raises(OutOfMemory, match="not even batches of 64 fit in memory"):
        trainer(model, BatchSizeFinder(many, start=64), dry_run=False).fit(model, many(4))


@pytest.mark.parametrize(
    "make",
    [
        lambda: EarlyStopping(mode="less"),
        lambda: EarlyStopping(patience=0),
        lambda: CSVLogger("x.csv", every=0),
        lambda: TensorBoardLogger("x", every=0),
        lambda: GradientMonitor(every=0),
        lambda: DetectNaN(every=0),
        lambda: Profiler("x", active=0),
        lambda: LearningRateFinder(1.0, 0.1),
        lambda: BatchSizeFinder(many, start=0),
    ],
)
def test_settings_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError, match="got ") as caught:
        make()
    assert isinstance(caught.value, TorchError)
