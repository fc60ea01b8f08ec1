"""Hyperparameters: optuna looks for a learning rate, a width, a dropout and a weight decay.

Each trial trains a small network on a part of the training digits and is judged on the rest; a trial that is worse than
the median of the others at the same epoch is given up early. The best one is trained again and tried on the test,
which the search has never seen. B is the batch, D the width. Run: pip install optuna
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Generic

import optuna

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.dims import B, D
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate

Images = TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64, ""]]


class Net(nn.Module, Generic[D]):
    """A perceptron of any width."""

    def __init__(self, width: Dim[D], dropout: float) -> None:
        super().__init__()
        self.hidden, self.dropout, self.last = nn.Linear(64, width), nn.Dropout(dropout), nn.Linear(width, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        return self.last(self.dropout(F.relu(self.hidden(x.flatten(start_dim=1)))))


def suggest(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    """What a trial is tried with."""
    return {
        "rate": trial.suggest_float("rate", 1e-5, 1e-1, log=True),
        "width": trial.suggest_int("width", 8, 128, log=True),
        "dropout": trial.suggest_float("dropout", 0.0, 0.6),
        "decay": trial.suggest_float("decay", 1e-4, 1.0, log=True),
    }


def train(chosen: dict[str, Any], samples: Images, held: Images, epochs: int, trial: optuna.Trial | None) -> float:
    """The accuracy on ``held`` after training."""
    seed_everything(0)
    model = Net(int(chosen["width"]), chosen["dropout"])
    optimizer = AdamW(model.parameters(), lr=chosen["rate"], weight_decay=chosen["decay"])
    step = Step(model, F.cross_entropy, optimizer)
    accuracy = 0.0
    for epoch in range(epochs):
        model.train()
        for images, digits in DataLoader(samples, 64, shuffle=True):
            step(images, digits)
        accuracy = evaluate(model, DataLoader(held, 500), {"accuracy": Accuracy()})["accuracy"]
        if trial is not None:
            trial.report(accuracy, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
    return accuracy


def draw(study: optuna.Study, file: Path) -> None:
    """The accuracy of each trial by its learning rate; crosses were given up."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    for trial in study.trials:
        given_up = trial.state == optuna.trial.TrialState.PRUNED
        axes.semilogx(trial.params["rate"], trial.value, "rx" if given_up else "bo", markersize=4)
    axes.set_xlabel("learning rate")
    axes.set_ylabel("accuracy on what was held back")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy of the first trial, of the best, and of the best on the test."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    digits, test = Digits(), Digits(train=False)
    samples = TensorDataset(digits.images[:1000], digits.targets[:1000])
    held = TensorDataset(digits.images[1000:], digits.targets[1000:])
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=0), pruner=optuna.pruners.MedianPruner()
    )
    epochs = 3 if quick else 12
    study.optimize(lambda trial: train(suggest(trial), samples, held, epochs, trial), n_trials=8 if quick else 60)

    best = study.best_trial
    given_up = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    final = train(suggest(optuna.trial.FixedTrial(best.params)), digits, test, epochs, None)
    print(f"{len(study.trials)} trials, {given_up} given up early; the best is number {best.number}:")
    print(", ".join(f"{name} {value:.3g}" for name, value in best.params.items()))
    first, found = study.trials[0].value or 0.0, study.best_value
    print(f"held back: {first:.1%} in the first trial, {found:.1%} in the best; the best on the test: {final:.1%}")
    if picture is not None:
        draw(study, picture)
    return {"first": first, "best": found, "test": final}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
