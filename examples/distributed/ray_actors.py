"""Workers that one asks: gradients averaged by all-reduce, a parameter server, rollouts that nobody waits for. On Ray.

Run:    python examples/distributed/ray_actors.py
        torchrun --nproc-per-node 2 examples/distributed/ray_actors.py   (Ray starts its own processes: rank 0 asks)
Check:  simpletorch check examples/distributed/ray_actors.py
"""

import asyncio
from functools import partial

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Int64, Tensor, distributed, nn
from simpletorch.data import Digits
from simpletorch.dims import B
from simpletorch.distributed import actors
from simpletorch.optim import SGD

WORKERS = 2
BATCH = 50


class DigitsNet(nn.Module):
    """Two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x: Tensor[Float32, B, 64]) -> Tensor[Float32, B, 10]:
        """Scores for each digit."""
        return self.fc2(F.relu(self.fc1(x)))


Batch = tuple[torch.Tensor, torch.Tensor]


def build() -> tuple[DigitsNet, torch.optim.Optimizer]:
    """What each worker holds."""
    model = DigitsNet()
    return model, SGD(model.parameters(), lr=0.2)


def loss(model: DigitsNet, batch: Batch) -> torch.Tensor:
    """The mean over a batch."""
    images, labels = batch
    return F.cross_entropy(model(images), labels)


def batches(rank: int, count: int) -> list[Batch]:
    """A worker's share of the digits: every ``WORKERS``-th one."""
    all_digits = Digits()
    digits = [all_digits[i] for i in range(rank, count * BATCH * WORKERS, WORKERS)]
    images = torch.stack([image.flatten() for image, _ in digits]).split(BATCH)
    labels = torch.tensor([int(label) for _, label in digits]).split(BATCH)
    return list(zip(images, labels, strict=True))


# -- together: every update is that of all workers -----------------------------------------------------------------


async def all_reduced(steps: int) -> tuple[float, float]:
    """Each worker computes gradients of its own batch; they are averaged, and all make the same update."""
    workers = await distributed.ray.TrainingWorker.start(build, loss, count=WORKERS)
    shares = [batches(worker.rank, steps) for worker in workers]
    losses = [
        await asyncio.gather(*(worker.train(batch) for worker, batch in zip(workers, parts, strict=True)))
        for parts in zip(*shares, strict=True)
    ]
    states = [(await worker.state_dict())["model"] for worker in workers]
    print(f"workers agree: {all(torch.equal(states[0][name], states[1][name]) for name in states[0])}")
    for worker in workers:
        worker.stop()
    return losses[0][0], losses[-1][0]


# -- a parameter server: workers come and go, no one waits for the slowest -----------------------------------------


class ParameterServer:
    """Holds the parameters; every gradient that arrives is an update."""

    def __init__(self) -> None:
        self.model, self.optimizer = build()

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters as they are."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def push(self, gradients: list[torch.Tensor | None]) -> dict[str, torch.Tensor]:
        """Update by these gradients, and give the new parameters."""
        for parameter, gradient in zip(self.model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        self.optimizer.step()
        return self.weights()


class Pusher:
    """Computes gradients of its share, at parameters that others may have changed since."""

    def __init__(self, server: actors.Actor[ParameterServer]) -> None:
        self.server, self.model = server, DigitsNet()

    async def run(self, rank: int, steps: int) -> list[float]:
        """One push for each batch of a share; the losses."""
        weights = await self.server.ask(ParameterServer.weights)
        losses = []
        for batch in batches(rank, steps):
            self.model.load_state_dict(weights)
            self.model.zero_grad()
            value = loss(self.model, batch)
            value.backward()
            losses.append(value.item())
            weights = await self.server.ask(ParameterServer.push, [p.grad for p in self.model.parameters()])
        return losses


def ends(values: list[float]) -> tuple[float, float]:
    """The means of the first and of the last quarter: which batch comes last is chance."""
    quarter = len(values) // 4
    return sum(values[:quarter]) / quarter, sum(values[-quarter:]) / quarter


async def served(steps: int) -> tuple[float, float]:
    """Workers that push and pull by themselves."""
    with actors.spawn(ParameterServer) as (server,), actors.spawn(partial(Pusher, server), WORKERS) as pushers:
        losses = await asyncio.gather(*(pusher.ask(Pusher.run, pusher.rank, steps) for pusher in pushers))
    return ends(losses[0])


# -- asynchronous rollouts: who plays isn't who learns ---------------------------------------------------------------

ARMS = 5


class Policy(nn.Module):
    """Scores for each arm of a bandit, whose best one the context names."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(ARMS, ARMS)

    def forward(self, context: Tensor[Float32, B, 5]) -> Tensor[Float32, B, 5]:
        """Unnormalized log-probabilities."""
        return self.scores(context)


class Player:
    """Plays with the weights that it was given last, its own games: of two no draws are alike."""

    def __init__(self) -> None:
        self.policy, self.generator = Policy(), torch.Generator()

    def begin(self, seed: int) -> None:
        """Draw by this seed from now on."""
        self.generator.manual_seed(seed)

    def play(self, weights: dict[str, torch.Tensor], games: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Contexts, chosen arms and rewards."""
        self.policy.load_state_dict(weights)
        best = torch.randint(ARMS, (games,), generator=self.generator)
        context = F.one_hot(best, ARMS).float()
        with torch.no_grad():
            chosen = torch.multinomial(self.policy(context).softmax(dim=-1), 1, generator=self.generator)
        return context, chosen.squeeze(-1), (chosen.squeeze(-1) == best).float()


def learn(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    context: Tensor[Float32, B, 5],
    chosen: Tensor[Int64, B],
    reward: Tensor[Float32, B],
) -> float:
    """REINFORCE with the mean reward as the baseline (Williams 1992); gives that mean."""
    optimizer.zero_grad()
    log_probabilities = -F.cross_entropy(policy(context), chosen, reduction="none")
    (-(reward - reward.mean()) * log_probabilities).mean().backward()
    optimizer.step()
    return float(reward.mean())


async def rolled_out(updates: int) -> tuple[float, float]:
    """Learn from whichever player is done first, and give it the newest weights: they may be an update old."""
    torch.manual_seed(0)
    policy = Policy()
    optimizer = SGD(policy.parameters(), lr=5.0)
    rewards: list[float] = []
    with actors.spawn(Player, WORKERS) as players:
        await asyncio.gather(*(player.ask(Player.begin, player.rank) for player in players))
        playing = {asyncio.ensure_future(_play(player, policy)): player for player in players}
        while len(rewards) < updates:
            done, _ = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
            for game in done:
                player = playing.pop(game)
                rewards.append(learn(policy, optimizer, *game.result()))
                playing[asyncio.ensure_future(_play(player, policy))] = player
        await asyncio.gather(*playing)
    return ends(rewards)


async def _play(player: actors.Actor[Player], policy: Policy) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return await player.ask(Player.play, actors.share(policy.state_dict()), 200)


async def main() -> None:
    """All three, on one cluster."""
    ray = distributed.ray.start(cpus=WORKERS)
    first, last = await all_reduced(steps=14)
    print(f"all-reduce: loss {first:.3f} -> {last:.3f}")
    first, last = await served(steps=14)
    print(f"parameter server: loss {first:.3f} -> {last:.3f}")
    first, last = await rolled_out(updates=60)
    print(f"rollouts: reward {first:.3f} -> {last:.3f}")
    ray.shutdown()


if __name__ == "__main__":
    torch.set_num_threads(1)
    if distributed.is_main() and not distributed.ray.is_installed():
        print("Ray is not installed, so that no actors can be started: pip install 'simpletorch-typed[ray]'")
    elif distributed.is_main():
        asyncio.run(main())
