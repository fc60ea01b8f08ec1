"""What the processes of `test_sharded` and `test_plans` run."""

from contextlib import suppress
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn import functional as F

from simpletorch import checkpoint
from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.distributed import Mesh, held, materialize, parallelize, shard
from simpletorch.errors import CheckpointError
from simpletorch.nn import FeedForward
from simpletorch.optim import EMA, AdamW
from simpletorch.reproducibility import seed_everything
from simpletorch.train import Callback, Checkpoint, Trainer
from tests import meeting
from tests.distributed import variants

GLOBAL_BATCH = 12


def meet(folder, name, rank, world):
    """Join a group over a file."""
    meeting.meet(folder / name, rank, world)


def network():
    """Sizes that two and four processes don't divide."""
    return torch.nn.Sequential(
        torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 11), torch.nn.Tanh(), torch.nn.Linear(11, 3)
    )


class Words(torch.nn.Module):
    """What reads words and what writes them have the same weights."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 5)
        self.head = torch.nn.Linear(5, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        return self.head(self.embedding(words).tanh())


def tied_on_meta():
    """Tied weights without numbers."""
    with torch.device("meta"):
        return Words()


def learned(model):
    """The weights after an update."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(torch.tensor([[1, 3, 6]])).square().mean().backward()
    optimizer.step()
    return variants.whole(model)


def elsewhere(folder):
    """A `Checkpoint` for a training that goes on from another folder."""
    return Checkpoint(folder / "elsewhere", overwrite=True)


class Broken(Exception):
    """What ends a training in the middle of an epoch."""


class Curve(Callback):
    """The mean loss of every step over all processes, in Float64, and an end in one of them."""

    def __init__(self, stop):
        self.stop, self.losses, self.samples = stop, {}, {}

    def on_step_end(self, fit):
        loss = torch.tensor([fit.loss.item(), fit.samples], dtype=torch.float64)
        world = dist.get_world_size() if dist.is_initialized() else 1
        if world > 1:
            dist.all_reduce(loss)
        self.losses[fit.step], self.samples[fit.step] = loss[0].item() / world, int(loss[1])
        if fit.step == self.stop:
            raise Broken

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


def train(folder, *, stop=None, resume=None, asynchronous=False, batch=None):
    """Train two epochs of five steps with the same global batch, whatever the number of processes."""
    world = dist.get_world_size() if dist.is_initialized() else 1
    seed_everything(3)
    model = network()
    generator = torch.Generator().manual_seed(5)
    dataset = TensorDataset(torch.randn(60, 5, generator=generator), torch.randint(3, (60,), generator=generator))
    curve = Curve(stop)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=AdamW(model.parameters(), lr=0.01, eps=1e-3),
        callbacks=[curve, Checkpoint(folder, every_steps=1, keep=2, asynchronous=asynchronous, overwrite=True)],
        clip_norm=1.0,
        progress=False,
        parallel="fsdp",
    )
    loader = DataLoader(dataset, batch or GLOBAL_BATCH // world, sampler=DistributedSampler(dataset, seed=7))
    history = trainer.fit(model, loader, epochs=2, resume=resume)
    state = {
        name: value.full_tensor() if hasattr(value, "full_tensor") else value
        for name, value in model.state_dict().items()
    }
    return {
        "losses": curve.losses,
        "samples": curve.samples,
        "state": state,
        "epochs": [(epoch.samples, epoch.loss) for epoch in history],
    }


def two(rank, folder):
    """A training without a break, one that ends in mid-epoch, one that goes on; and weights drawn late."""
    meet(folder, "two", rank, 2)
    straight = train(folder / "straight", asynchronous=True)
    with suppress(Broken):
        train(folder / "stopped", stop=8)
    resumed = train(folder / "resumed", resume=folder / "stopped" / "step-000000007")
    for part in ("losses", "samples"):
        assert resumed[part] == {step: value for step, value in straight[part].items() if step > 7}, part
    assert all(torch.equal(resumed["state"][name], value) for name, value in straight["state"].items())
    assert resumed["epochs"] == straight["epochs"]
    with torch.device("meta"):
        model = network()
    materialize(shard(model), seed=11)
    assert held(model) < sum(parameter.numel() for parameter in model.parameters())
    full = variants.whole(model)
    tied = materialize(shard(tied_on_meta()), seed=11)
    assert tied.head.weight is tied.embedding.weight
    full_tied = variants.whole(tied), learned(tied)
    if rank == 0:
        torch.save({"straight": straight, "drawn": full, "tied": full_tied}, folder / "straight.pt")
    by_kind, refused = variants.variants(folder / "averaged"), variants.refused()
    first = folder / "averaged" / "step-000000005"
    again = variants.fitted(
        lambda model: EMA(model, 0.9), resume=first, evaluate_every=2, callbacks=[elsewhere(folder)]
    )
    for one, other in zip(again[:2], by_kind["an average"][:2], strict=True):
        assert all(torch.equal(value, other[name]) for name, value in one.items())
    if rank == 0:
        torch.save({**by_kind, "refused": refused}, folder / "variants.pt")
    mesh(folder, rank)
    assert Mesh(data=2, tensor=1).share == (2, rank)
    assert Mesh(data=1, tensor=2).share == (1, 0)
    by_layers = layers(Mesh(tensor=2))
    if rank == 0:
        torch.save(by_layers, folder / "layers.pt")
    dist.destroy_process_group()


def mesh(folder, rank):
    """Tensor parallel and data parallel together, with a checkpoint: a grid of 1 x 2 and one of 2 x 1."""
    torch.manual_seed(0)
    plain = FeedForward(6, 10)
    states = {}
    for name, grid in (("wide", Mesh(data=1, tensor=2)), ("long", Mesh(data=2, tensor=1))):
        model = FeedForward(6, 10)
        model.load_state_dict(plain.state_dict())
        shard(parallelize(model, grid), grid, blocks=[])
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(2, 6)).square().sum().backward()
            optimizer.step()
        if name == "wide":
            checkpoint.save(folder / "grid", model=model, optimizer=optimizer)
            taken_back(folder / "grid", model, optimizer)
        else:  # in another arrangement than it was saved in
            states = {key: value.full_tensor() for key, value in model.state_dict().items()}
            checkpoint.load(folder / "grid", model=model, optimizer=optimizer)
            for key, value in model.state_dict().items():
                torch.testing.assert_close(value.full_tensor(), states[key])


def taken_back(path, model, optimizer):
    """Loaded into what is there: nobody needs memory twice, and nothing of the files stays open."""
    saved = {key: value.full_tensor() for key, value in model.state_dict().items()}
    averages = [state["exp_avg"].to_local() for state in optimizer.state.values()]
    wanted = [each.clone() for each in averages]
    with torch.no_grad():
        for each in (*model.parameters(), *averages):
            each.zero_()
    parts = checkpoint.load(path, model=model, optimizer=optimizer).parts
    assert all(torch.equal(value.full_tensor(), saved[key]) for key, value in model.state_dict().items())
    assert all(torch.equal(one, other) for one, other in zip(averages, wanted, strict=True))
    for key, parameter in model.named_parameters():
        assert parts["model"][key].to_local().data_ptr() == parameter.to_local().data_ptr()
    part = next(path.glob(f"part-{dist.get_rank():05}-*"))
    raw = part.read_bytes()
    part.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    averages[0].fill_(7)
    try:
        checkpoint.load(path, model=model, optimizer=optimizer)
    except CheckpointError:
        assert torch.equal(averages[0], torch.full_like(averages[0], 7))
    else:
        raise AssertionError("a damaged part was loaded")
    part.write_bytes(raw)
    averages[0].copy_(wanted[0])
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(path) not in maps.read_text()


def layers(parallel):
    """The epochs of a training whose processes divide layers, and read the same samples; and what is refused."""
    seed_everything(3)
    model = FeedForward(6, 10)
    generator = torch.Generator().manual_seed(5)
    dataset = TensorDataset(torch.randn(60, 6, generator=generator), torch.randn(60, 6, generator=generator))
    optimizer = AdamW(model.parameters(), lr=0.01, eps=1e-3)
    trainer = Trainer(loss=F.mse_loss, optimizer=optimizer, clip_norm=1.0, progress=False, parallel=parallel)
    if parallel is not None:
        try:
            trainer.fit(model, DataLoader(dataset, 12, sampler=DistributedSampler(dataset)), epochs=2)
        except ValueError as error:
            assert "its share is part 0 of 1: DataLoader(dataset, …" in str(error), error  # noqa: PT017
            assert "DistributedSampler(dataset, *mesh.share))" in str(error)  # noqa: PT017
        else:
            raise AssertionError("a loader of half the samples was taken")
    history = trainer.fit(model, DataLoader(dataset, 12, shuffle=True), epochs=2)
    return [(epoch.samples, epoch.loss) for epoch in history]


def others(rank, folder, world):
    """More processes go on, or one in a group; and with another global batch none."""
    meet(folder, f"others-{world}", rank, world)
    result = train(folder / f"by-{world}", resume=folder / "stopped" / "step-000000007")
    try:
        train(folder / "no", resume=folder / "stopped" / "step-000000007", batch=5)
    except CheckpointError as error:
        refused = str(error)
    dist.barrier()
    if rank == 0:
        torch.save({**result, "refused": refused}, folder / f"by-{world}.pt")
    dist.destroy_process_group()
