"""Actor and critic on one body, trained by proximal policy optimization.

Mnih et al., Asynchronous Methods for Deep Reinforcement Learning, 2016; Schulman et al., High-Dimensional Continuous
Control Using Generalized Advantage Estimation, 2016, and Proximal Policy Optimization Algorithms, 2017.

Letters: B environments, T steps, N observations, I values in an observation, D width of the body, K actions.
"""

from typing import Generic, NamedTuple

import torch
from torch import nn

from simpletorch import Bool, Float32, Int64, Tensor
from simpletorch.dims import B, D, Dim, I, K, T


class Rollout(NamedTuple, Generic[T, B, I]):
    """``T`` steps in ``B`` environments, and what the policy thought of them then."""

    observations: Tensor[Float32, T, B, I]
    actions: Tensor[Int64, T, B]
    log_probabilities: Tensor[Float32, T, B]
    rewards: Tensor[Float32, T, B]
    over: Tensor[Bool, T, B]


class ActorCritic(nn.Module, Generic[I, D, K]):
    """A policy over ``K`` actions, and the value of what is observed."""

    def __init__(self, observed: Dim[I] = 128, width: Dim[D] = 512, actions: Dim[K] = 18) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observed, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor = nn.Linear(width, actions)
        self.critic = nn.Linear(width, 1)

    def forward(
        self, observations: Tensor[Float32, "*Batch", I]
    ) -> tuple[Tensor[Float32, "*Batch", K], Tensor[Float32, "*Batch"]]:
        """The logarithm of each action's probability, and the value, for any batch of observations."""
        x = self.body(observations)
        return self.actor(x).log_softmax(dim=-1), self.critic(x).squeeze(-1)

    @torch.no_grad()
    def act(self, observations: Tensor[Float32, B, I]) -> tuple[Tensor[Int64, B], Tensor[Float32, B]]:
        """An action drawn for each environment, and the logarithm of its probability."""
        log_probabilities, _ = self(observations)
        actions = torch.multinomial(log_probabilities.exp(), num_samples=1)
        return actions.squeeze(1), log_probabilities.gather(1, actions).squeeze(1)


@torch.no_grad()
def advantages(
    rewards: Tensor[Float32, T, B],
    values: Tensor[Float32, "T+1", B],
    over: Tensor[Bool, T, B],
    discount: float = 0.99,
    trace: float = 0.95,
) -> Tensor[Float32, T, B]:
    """How much better each action was than expected; ``values`` has one step more than there were actions."""
    going_on = (~over).float()
    errors = rewards + discount * values[1:] * going_on - values[:-1]
    result = torch.zeros_like(rewards)
    following = torch.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        following = errors[t] + discount * trace * going_on[t] * following
        result[t] = following
    return result


def loss(
    model: ActorCritic[I, D, K], rollout: Rollout[T, B, I], last: Tensor[Float32, B, I], clip: float = 0.2
) -> Tensor[Float32, ""]:
    """The clipped objective of the policy, the critic's squared error and a bonus for entropy."""
    log_probabilities, values = model(torch.cat([rollout.observations, last.unsqueeze(0)]))
    log_probabilities = log_probabilities[:-1]
    gain = advantages(rollout.rewards, values, rollout.over)
    returns = gain + values[:-1].detach()
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    chosen = log_probabilities.gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1)
    ratio = (chosen - rollout.log_probabilities).exp()
    policy = -torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain).mean()
    critic = (values[:-1] - returns).square().mean()
    entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=-1).mean()
    return policy + 0.5 * critic - 0.01 * entropy
