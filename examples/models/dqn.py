"""A deep Q-network for Atari games, with a target network and double Q-learning.

Mnih et al., Human-level control through deep reinforcement learning, 2015; van Hasselt, Guez and Silver, Deep
Reinforcement Learning with Double Q-learning, 2016. Annotated with jaxtyping's strings; ``K`` is the network's
own size, its number of actions.
"""

from typing import Generic, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float32, Int64, UInt8
from torch import Tensor, nn

from simpletorch.dims import Dim, K


class Transitions(NamedTuple):
    """What happened: four frames, an action, its reward, four frames later, and whether the game was over."""

    frames: UInt8[Tensor, "batch 4 84 84"]
    actions: Int64[Tensor, " batch"]
    rewards: Float32[Tensor, " batch"]
    next_frames: UInt8[Tensor, "batch 4 84 84"]
    over: Bool[Tensor, " batch"]


class QNetwork(nn.Module, Generic[K]):
    """The value of each action: the discounted reward to be expected after it."""

    def __init__(self, actions: Dim[K] = 18) -> None:
        super().__init__()
        self.actions = actions
        self.convolutions = nn.Sequential(
            nn.Conv2d(4, 32, kernel_size=8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, kernel_size=4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, kernel_size=3, stride=1),
            nn.ReLU(),
        )
        self.hidden = nn.Linear(64 * 7 * 7, 512)
        self.values = nn.Linear(512, actions)

    def forward(self, frames: UInt8[Tensor, "batch 4 84 84"]) -> Float32[Tensor, "batch K"]:
        """A value for each action; frames are grey, 0 to 255."""
        x = self.convolutions(frames.float() / 255)
        x = F.relu(self.hidden(x.flatten(start_dim=1)))
        return self.values(x)


@torch.no_grad()
def act(network: QNetwork[K], frames: UInt8[Tensor, "batch 4 84 84"], epsilon: float) -> Int64[Tensor, " batch"]:
    """The best action in each game, or with probability ``epsilon`` any."""
    best = network(frames).argmax(dim=1)
    random = torch.randint(network.actions, best.shape, device=best.device)
    return torch.where(torch.rand(best.shape, device=best.device) < epsilon, random, best)


@torch.no_grad()
def targets(
    network: QNetwork[K],
    target: QNetwork[K],
    rewards: Float32[Tensor, " batch"],
    next_frames: UInt8[Tensor, "batch 4 84 84"],
    over: Bool[Tensor, " batch"],
    discount: float,
) -> Float32[Tensor, " batch"]:
    """What the actions taken turned out to be worth: ``network`` chooses what comes next, ``target`` values it."""
    best = network(next_frames).argmax(dim=1, keepdim=True)
    values = target(next_frames).gather(1, best).squeeze(1)
    return rewards + discount * values * ~over


def loss(network: QNetwork[K], target: QNetwork[K], batch: Transitions, discount: float = 0.99) -> Float32[Tensor, ""]:
    """The mean Huber loss of the values of the actions taken."""
    values = network(batch.frames).gather(1, batch.actions.unsqueeze(1)).squeeze(1)
    wanted = targets(network, target, batch.rewards, batch.next_frames, batch.over, discount)
    return F.smooth_l1_loss(values, wanted)
