"""Trainings of one kind each, by any number of processes with the same global batch; `test_sharded` compares them."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.distributed import shard
from simpletorch.errors import TorchError
from simpletorch.optim import EMA, SWA, AdamW
from simpletorch.reproducibility import seed_everything
from simpletorch.train import Checkpoint, Trainer, Update


def whole(model):
    """A model's state, of all processes together."""
    return {
        name: (value.full_tensor() if hasattr(value, "full_tensor") else value).clone()
        for name, value in model.state_dict().items()
    }


def network(inputs=5, outputs=3):
    """Sizes that two processes don't divide."""
    return torch.nn.Sequential(torch.nn.Linear(inputs, 7), torch.nn.Tanh(), torch.nn.Linear(7, outputs))


def loaders(seed=7):
    """Five batches of twelve for training, and one for validation, among the processes."""
    world = dist.get_world_size() if dist.is_initialized() else 1
    generator = torch.Generator().manual_seed(5)
    made = []
    for samples, batch in ((60, 12), (34, 34)):
        data = TensorDataset(
            torch.randn(samples, 5, generator=generator), torch.randint(3, (samples,), generator=generator)
        )
        made.append(DataLoader(data, batch // world, sampler=DistributedSampler(data, seed=seed)))
    return made


def fitted(average=None, resume=None, epochs=2, **options):
    """The weights at the end, their average, and what was measured on the way."""
    seed_everything(3)
    model = network()
    ema = None if average is None else average(model)
    optimizer = AdamW(model.parameters(), lr=0.01, eps=1e-3)
    trainer = Trainer(loss=F.cross_entropy, optimizer=optimizer, ema=ema, progress=False, parallel="fsdp", **options)
    loader, validation = loaders()
    history = trainer.fit(model, loader, epochs=epochs, validation=validation, resume=resume)
    measured = [value for epoch in history for value in (epoch.loss, epoch.validation["loss"])]
    return whole(model), {} if ema is None else whole(ema), measured


def own_step():
    """Two models that a step of the user's own trains by turns, one through the other."""
    seed_everything(3)
    makes, judges = shard(network(5, 5)), shard(network(5, 1))
    updates = {
        name: Update(AdamW(model.parameters(), lr=0.01, eps=1e-3), clip_norm=0.5)
        for name, model in (("judges", judges), ("makes", makes))
    }

    def step(inputs, _):
        made = makes(inputs.flip(1))
        updates["judges"](judges(made.detach()).mean() - judges(inputs).tanh().mean())
        updates["makes"](-judges(made).mean())

    both = torch.nn.ModuleDict({"makes": makes, "judges": judges})
    Trainer.with_step(step, updates, progress=False).fit(both, loaders()[0], epochs=2)
    return whole(both), {}, []


def refused():
    """What is said of averages that can't be made, or not be updated."""
    model = network()
    early, words = EMA(model), []
    shard(model)
    trainer = Trainer(loss=F.cross_entropy, optimizer=AdamW(model.parameters()), ema=early, progress=False)
    for wrong in (lambda: EMA(model), lambda: trainer.fit(model, loaders()[0], steps=1)):
        try:
            wrong()
        except TorchError as error:
            words.append(str(error))
    return words


def variants(folder):
    """Each training's weights, averages and measures, by what is special in it."""

    def saved():
        return [Checkpoint(folder, overwrite=True)]

    return {
        "plain": fitted(),
        "a limited norm": fitted(clip_norm=0.3),
        "limited elements": fitted(clip_value=0.01),
        "two batches an update, and one left over": fitted(accumulate=2, clip_norm=0.3),
        "an average": fitted(lambda model: EMA(model, 0.9), evaluate_every=2, callbacks=saved()),
        "a late average": fitted(lambda model: SWA(model, 2)),
        "a step of one's own": own_step(),
    }
