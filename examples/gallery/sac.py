"""SAC: an agent with continuous actions swings a pendulum up (gymnasium's Pendulum), and is rewarded for chance.

The policy gives a normal distribution, squashed into the torque's range by tanh. Two critics judge state and action,
and the lower judgement counts. The policy also wants entropy, whose weight is learned, too. B is the batch.

Haarnoja et al., Soft Actor-Critic Algorithms and Applications, 2018. Run: pip install gymnasium
"""

import math
from argparse import ArgumentParser
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import gymnasium
import torch

import simpletorch.nn.functional as F
from simpletorch import Bool, Float32, Tensor, nn, seed_everything
from simpletorch.data import ReplayBuffer
from simpletorch.dims import B
from simpletorch.optim import Adam

TORQUE = 2.0  # the largest that the game takes


class Transition(NamedTuple):
    """What happened; of a batch, each field has its transitions in front."""

    state: Tensor[Float32, ..., 3]
    action: Tensor[Float32, ..., 1]
    reward: Tensor[Float32, ...]
    next_state: Tensor[Float32, ..., 3]
    over: Tensor[Bool, ...]


class Policy(nn.Module):
    """From a state (cosine and sine of the angle, speed) to a torque by chance, and how likely it was."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, states: Tensor[Float32, B, 3]) -> tuple[Tensor[Float32, B, 1], Tensor[Float32, B]]:
        """The torques, and the logarithms of their densities (the paper's equation 21)."""
        mean, log_std = self.layers(states).chunk(2, dim=1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        free = normal.rsample()
        squashed = 2 * (math.log(2) - free - F.softplus(-2 * free))  # log(1 - tanh(free)²), without overflow
        return TORQUE * torch.tanh(free), (normal.log_prob(free) - squashed).squeeze(1)


class Critics(nn.Module):
    """From a state and a torque to two judgements of the rewards to come."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = (
            nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)) for _ in range(2)
        )

    def forward(self, states: Tensor[Float32, B, 3], actions: Tensor[Float32, B, 1]) -> Tensor[Float32, B, 2]:
        """Both judgements."""
        both = torch.cat((states, actions), dim=1)
        return torch.cat((self.one(both), self.two(both)), dim=1)


def draw(rewards: list[float], file: Path) -> None:
    """The sum of rewards of each game."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(rewards)
    axes.set_xlabel("game")
    axes.set_ylabel("reward (at best about -150)")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The mean reward of the first 5 games, by chance, and of the last 5; the weight of entropy in the end."""
    seed_everything(0)
    game = gymnasium.make("Pendulum-v1")
    policy, critics, weight = Policy(), Critics(), torch.zeros((), requires_grad=True)
    target = deepcopy(critics)
    optimizers = Adam(policy.parameters(), lr=1e-3), Adam(critics.parameters(), lr=1e-3), Adam([weight], lr=1e-3)
    memory = ReplayBuffer[Transition](20_000)
    rewards: list[float] = []
    for number in range(25 if quick else 60):  # games of 200 steps
        state, total = torch.from_numpy(game.reset(seed=number)[0]), 0.0
        for _ in range(200):
            with torch.no_grad():
                by_chance = torch.empty(1).uniform_(-TORQUE, TORQUE)
                action = by_chance if number < 5 else policy(state.unsqueeze(0))[0].squeeze(0)
            seen, reward, over, _, _ = game.step(action.numpy())
            after = torch.from_numpy(seen)
            memory.add(Transition(state, action, torch.tensor(float(reward)), after, torch.tensor(over)))
            state, total = after, total + float(reward)
            if number >= 5:
                update(memory.sample(64), policy, critics, target, weight, optimizers)
        rewards.append(total)
    first, last = sum(rewards[:5]) / 5, sum(rewards[-5:]) / 5
    print(f"{len(rewards)} games; a reward of {first:.0f} by chance, {last:.0f} in the last 5")
    print(f"entropy counts {weight.exp().item():.2f} in the end")
    if picture is not None:
        draw(rewards, picture)
    return {"first": first, "last": last, "weight": weight.exp().item()}


def update(
    batch: Transition,
    policy: Policy,
    critics: Critics,
    target: Critics,
    weight: torch.Tensor,
    optimizers: tuple[Adam, Adam, Adam],
) -> None:
    """One step of the critics, of the policy and of the weight of entropy."""
    for_policy, for_critics, for_weight = optimizers
    entropy_counts = weight.exp().detach()
    with torch.no_grad():
        action, density = policy(batch.next_state)
        later = target(batch.next_state, action).amin(dim=1) - entropy_counts * density
        wanted = batch.reward / 10 + 0.98 * later * ~batch.over
    for_critics.zero_grad()
    F.mse_loss(critics(batch.state, batch.action), wanted.unsqueeze(1).expand(-1, 2)).backward()
    for_critics.step()

    action, density = policy(batch.state)
    for_policy.zero_grad()
    (entropy_counts * density - critics(batch.state, action).amin(dim=1)).mean().backward()
    for_policy.step()
    for_weight.zero_grad()
    (weight.exp() * (1.0 - density.detach())).mean().backward()  # an entropy of -1 is wanted: one action
    for_weight.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critics.parameters(), strict=True):
            slow.lerp_(fast, 0.01)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
