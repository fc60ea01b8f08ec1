"""PPO: actor and critic learn from sixteen games at once to balance a pole (gymnasium's CartPole).

The actor says how likely each action is, the critic what a state is worth. After each 32 steps both learn from them a
few times; the objective is clipped, so that the policy doesn't leave the one that played. T are steps, B games, S
samples (steps of all games).

Schulman et al., Proximal Policy Optimization Algorithms, 2017; the advantages are from High-Dimensional Continuous
Control Using Generalized Advantage Estimation, 2016. Run: pip install gymnasium
"""

from argparse import ArgumentParser
from pathlib import Path

import gymnasium
import torch
from gymnasium.vector import AutoresetMode

from simpletorch import Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.dims import B, S, T
from simpletorch.optim import Adam, clip_grad_norm

GAMES, STEPS = 16, 32


class ActorCritic(nn.Module):
    """Two perceptrons."""

    def __init__(self) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, states: Tensor[Float32, S, 4]) -> tuple[Tensor[Float32, S, 2], Tensor[Float32, S]]:
        """The logarithm of each action's probability, and the value."""
        return self.actor(states).log_softmax(dim=1), self.critic(states).squeeze(1)


def advantages(
    rewards: Tensor[Float32, T, B], values: Tensor[Float32, "T+1", B], going_on: Tensor[Float32, T, B]
) -> Tensor[Float32, T, B]:
    """How much better each action was than the critic expected."""
    errors = rewards + 0.98 * values[1:] * going_on - values[:-1]
    carried = 0.98 * 0.9 * going_on
    result, following = torch.zeros_like(rewards), torch.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        following = errors[t] + carried[t] * following
        result[t] = following
    return result


def loss(
    model: ActorCritic,
    states: Tensor[Float32, S, 4],
    actions: Tensor[Int64, S],
    before: Tensor[Float32, S],
    gains: Tensor[Float32, S],
    returns: Tensor[Float32, S],
) -> Tensor[Float32, ""]:
    """The clipped objective, the critic's error, and a little for keeping an open mind."""
    likely, values = model(states)
    ratio = (likely.gather(1, actions.unsqueeze(1)).squeeze(1) - before).exp()
    policy = torch.minimum(ratio * gains, ratio.clamp(0.8, 1.2) * gains).mean()
    entropy = -(likely.exp() * likely).sum(dim=1).mean()
    return 0.5 * (values - returns).square().mean() - policy - 0.01 * entropy


def draw(lengths: list[float], file: Path) -> None:
    """The length of each game."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(lengths, ".", markersize=3)
    axes.set_xlabel("game")
    axes.set_ylabel("steps until the pole falls")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The mean length of the first 20 games and of the last 20 (at most 500 steps)."""
    seed_everything(0)
    games = gymnasium.make_vec(
        "CartPole-v1", GAMES, vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    model = ActorCritic()
    optimizer = Adam(model.parameters(), lr=1e-3)
    lengths: list[float] = []
    ages = torch.zeros(GAMES)
    state = torch.from_numpy(games.reset(seed=0)[0])
    for _ in range(16 if quick else 100):
        states, actions = torch.empty(STEPS, GAMES, 4), torch.empty(STEPS, GAMES, dtype=torch.int64)
        likely, rewards, going_on = torch.empty(3, STEPS, GAMES).unbind()
        with torch.no_grad():
            for t in range(STEPS):
                now, _ = model(state)
                action = now.exp().multinomial(1).squeeze(1)
                states[t], actions[t], likely[t] = state, action, now.gather(1, action.unsqueeze(1)).squeeze(1)
                seen, reward, over, stopped, _ = games.step(action.numpy())
                state = torch.from_numpy(seen)
                ended = torch.from_numpy(over | stopped)
                rewards[t], going_on[t] = torch.from_numpy(reward), 1 - ended.float()
                ages += 1
                lengths += ages[ended].tolist()
                ages[ended] = 0
            _, values = model(torch.cat([states.flatten(0, 1), state]))
        values = values.view(STEPS + 1, GAMES)
        gains = advantages(rewards, values, going_on)
        returns = gains + values[:-1]
        gains = (gains - gains.mean()) / gains.std()
        samples = TensorDataset(*(x.flatten(0, 1) for x in (states, actions, likely, gains, returns)))
        for _ in range(6):
            for batch in DataLoader(samples, 128, shuffle=True):
                optimizer.zero_grad()
                loss(model, *batch).backward()
                clip_grad_norm(model.parameters(), 0.5)
                optimizer.step()
    first, last = sum(lengths[:20]) / 20, sum(lengths[-20:]) / 20
    print(f"{len(lengths)} games; the pole stood {first:.0f} steps in the first 20, {last:.0f} in the last 20")
    if picture is not None:
        draw(lengths, picture)
    return {"first": first, "last": last}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
