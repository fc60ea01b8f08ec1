"""What two processes do in one launch; each part gives something plain to compare, or a text of an error."""

import copy
import os
from pathlib import Path

import torch
from torch.nn import functional as F

from simpletorch import distributed
from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.distributed import _group
from simpletorch.errors import TorchError
from simpletorch.metrics import Accuracy
from simpletorch.reproducibility import checksum
from simpletorch.train import Checkpoint, CSVLogger, Step, Trainer


def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7), torch.nn.Tanh(), torch.nn.Linear(7, 3))


def samples(number=24):
    generator = torch.Generator().manual_seed(5)
    return torch.randn(number, 5, generator=generator), torch.randint(3, (number,), generator=generator)


def error_of(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except TorchError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def collectives():
    x = torch.arange(12.0).reshape(2, 6) + 100 * distributed.rank()
    before = x.clone()
    results = {
        "all_reduce": distributed.all_reduce(x),
        "max": distributed.all_reduce(x, distributed.ReduceOp.MAX),
        "mean": distributed.all_reduce(x, distributed.ReduceOp.AVG),
        "all_gather": distributed.all_gather(x),
        "all_gather 1": distributed.all_gather(x, dim=1),
        "reduce_scatter": distributed.reduce_scatter(x),
        "reduce_scatter 1": distributed.reduce_scatter(x, dim=1),
        "broadcast": distributed.broadcast(x, src=1),
        "all_to_all": distributed.all_to_all(x, dim=1),
        "gather": distributed.gather(x, dst=1),
        "scatter": distributed.scatter(x, src=1, dim=1),
        "transposed": distributed.all_gather(x.T),
    }
    distributed.barrier()
    assert torch.equal(x, before)
    return results


def mismatches():
    rank = distributed.rank()
    return {
        "shapes": error_of(distributed.all_reduce, torch.ones(3 if rank else 7)),
        "dtypes": error_of(distributed.all_gather, torch.ones(3, dtype=torch.float64 if rank else torch.float32)),
        "calls": error_of(distributed.broadcast if rank else distributed.all_reduce, torch.ones(3)),
        "sizes": error_of(distributed.reduce_scatter, torch.ones(3)),
        "rank": error_of(distributed.broadcast, torch.ones(3), src=2),
        "after": distributed.all_reduce(torch.ones(3)),
    }


def accumulated(accumulate, sizes):
    """The weights after steps on batches of these sizes, half of each batch in each process; alone, whole batches."""
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    torch.manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    alone, weights = copy.deepcopy(model), []
    for one, together in ((model, True), (alone, False)):
        sharing = _replicas() if together else None
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
        wrapped = sharing.wrapped(one, optimizer) if sharing else one
        step = Step(wrapped, F.cross_entropy, optimizer, accumulate=accumulate, replicas=sharing)
        inputs, targets, start = *samples(sum(sizes)), 0
        for size in sizes:
            whole = slice(start, start + size)
            part = slice(start + distributed.rank(), start + size, 2) if together else whole
            step(inputs[part], targets[part])
            start += size
        step.flush()
        weights.append(torch.cat([p.detach().flatten() for p in one.parameters()]))
    return weights


def _replicas():
    from simpletorch.train._parallel import Replicated

    return Replicated()


def fitted(folder):
    model = net()
    inputs, targets = samples()
    dataset = TensorDataset(inputs, targets)
    held_out = TensorDataset(inputs[:7], targets[:7])
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        metrics={"accuracy": Accuracy()},
        train_metrics={"accuracy": Accuracy()},
        callbacks=[CSVLogger(folder / f"log-{distributed.rank()}.csv"), Checkpoint(folder / "run")],
        parallel="ddp",
    )
    loader = DataLoader(dataset, 3, sampler=DistributedSampler(dataset))
    validation = DataLoader(held_out, 1, sampler=DistributedSampler(held_out, shuffle=False, pad=False))
    history = trainer.fit(model, loader, epochs=2, validation=validation)
    return {
        "history": [(e.loss, e.samples, e.steps, e.validation, e.training) for e in history],
        "weights": checksum(dict(model.named_parameters())),
        "files": sorted(path.name for path in folder.iterdir() if path.name.startswith("log")),
    }


def refused():
    model, (inputs, targets) = net(), samples(23)
    dataset = TensorDataset(inputs, targets)
    trainer = Trainer(loss=F.cross_entropy, optimizer=torch.optim.SGD(model.parameters()), parallel="ddp")
    share = DistributedSampler(dataset, pad=False)  # 12 samples on rank 0, 11 on rank 1
    return {
        "everything": error_of(trainer.fit, model, DataLoader(dataset, 3, shuffle=True)),
        "batches": error_of(trainer.fit, model, DataLoader(dataset, 11, sampler=share)),
        "kind": error_of(Trainer(loss=F.mse_loss, optimizer=trainer.optimizer, parallel="dpp").fit, model, [1]),
        "twice": error_of(distributed.replicate, distributed.replicate(net())),
        "compress": error_of(distributed.replicate, net(), compress="int8"),
        "frozen": error_of(distributed.replicate, torch.nn.Flatten()),
        "launch": error_of(distributed.launch, print),
    }


class HalfUsed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = torch.nn.Linear(5, 3), torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.used(x)


def unused():
    model, (inputs, targets) = HalfUsed(), samples()
    dataset = TensorDataset(inputs, targets)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.SGD(model.parameters()),
        parallel="ddp",
        progress=False,
    )
    return error_of(trainer.fit, model, DataLoader(dataset, 3, sampler=DistributedSampler(dataset)))


def compressed():
    model = net()
    replicated = distributed.replicate(model, compress="bfloat16", static_graph=True)
    inputs, targets = samples()
    F.cross_entropy(replicated(inputs[distributed.rank() :: 2]), targets[distributed.rank() :: 2]).backward()
    gradient = model[0].weight.grad
    return distributed.all_gather(gradient).reshape(2, *gradient.shape), type(replicated).__name__


def everything(folder):
    """All of it, in an order that leaves no process behind."""
    folder = Path(folder)
    print("one of the two says this")
    return {
        "group": (distributed.rank(), distributed.local_rank(), distributed.world_size(), distributed.is_main()),
        "again": str(distributed.init(device="cpu")),
        "environment": _group.is_started_together(),
        "pid": os.getpid(),
        "collectives": collectives(),
        "mismatches": mismatches(),
        "even": accumulated(1, [8, 6]),
        "accumulated": accumulated(3, [8, 6, 4, 10, 8]),
        "fitted": fitted(folder),
        "refused": refused(),
        "unused": unused(),
        "compressed": compressed(),
    }


if __name__ == "__main__":
    distributed.init(timeout=60)
    done = everything(os.environ["FOLDER"])
    torch.save(done, Path(os.environ["FOLDER"]) / f"done-{distributed.rank()}")
