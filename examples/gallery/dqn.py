"""DQN: an agent learns from what it remembers to balance a pole (gymnasium's CartPole).

A network gives each action its value, the reward to be expected. It learns from random transitions of a `ReplayBuffer`;
a second network, which follows slowly, says what the next state is worth. B is the batch.

Mnih et al., Human-level control through deep reinforcement learning, 2015; van Hasselt et al., Deep Reinforcement
Learning with Double Q-learning, 2016. Run: pip install gymnasium
"""

import random
from argparse import ArgumentParser
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import gymnasium
import torch

import simpletorch.nn.functional as F
from simpletorch import Bool, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import ReplayBuffer
from simpletorch.dims import B
from simpletorch.optim import AdamW, clip_grad_norm


class Transition(NamedTuple):
    """What happened; of a batch, each field has its transitions in front."""

    state: Tensor[Float32, ..., 4]
    action: Tensor[Int64, ...]
    reward: Tensor[Float32, ...]
    next_state: Tensor[Float32, ..., 4]
    over: Tensor[Bool, ...]


class Values(nn.Module):
    """From a state (place and speed of the cart, angle and speed of the pole) to the value of both actions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))

    def forward(self, states: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 2]:
        """The reward to be expected after a push to the left, and to the right."""
        return self.layers(states)


def loss(values: Values, target: Values, batch: Transition) -> Tensor[Float32, ""]:
    """How far the values are from what the actions turned out to be worth."""
    taken = values(batch.state).gather(1, batch.action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = values(batch.next_state).argmax(dim=1, keepdim=True)
        later = target(batch.next_state).gather(1, best).squeeze(1)
        wanted = batch.reward + 0.98 * later * ~batch.over
    return F.smooth_l1_loss(taken, wanted)


def draw(rewards: list[float], file: Path) -> None:
    """The length of each game."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(rewards, ".", markersize=3)
    axes.set_xlabel("game")
    axes.set_ylabel("steps until the pole falls")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The mean length of the first 20 games and of the last 20 (at most 500 steps)."""
    seed_everything(0)
    game = gymnasium.make("CartPole-v1")
    values = Values()
    target, optimizer = deepcopy(values), AdamW(values.parameters(), lr=1e-3, weight_decay=0)
    memory = ReplayBuffer[Transition](20_000)
    steps = 4_000 if quick else 25_000
    rewards: list[float] = []
    state, reward_sum = torch.from_numpy(game.reset(seed=0)[0]), 0.0
    for step in range(steps):
        if random.random() < max(0.02, 1 - 4 * step / steps):  # less and less by chance
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(values(state.unsqueeze(0)).argmax())
        seen, reward, over, stopped, _ = game.step(action)
        after = torch.from_numpy(seen)
        memory.add(Transition(state, torch.tensor(action), torch.tensor(float(reward)), after, torch.tensor(over)))
        state, reward_sum = after, reward_sum + float(reward)
        if over or stopped:
            rewards.append(reward_sum)
            state, reward_sum = torch.from_numpy(game.reset()[0]), 0.0
        if step >= 500 and step % 2 == 0:
            value = loss(values, target, memory.sample(64))
            optimizer.zero_grad()
            value.backward()
            clip_grad_norm(values.parameters(), 10.0)
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(target.parameters(), values.parameters(), strict=True):
                    slow.lerp_(fast, 0.01)
    first, last = sum(rewards[:20]) / 20, sum(rewards[-20:]) / 20
    print(f"{len(rewards)} games; the pole stood {first:.0f} steps in the first 20, {last:.0f} in the last 20")
    if picture is not None:
        draw(rewards, picture)
    return {"first": first, "last": last}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
