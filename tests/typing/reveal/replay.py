"""What replay buffers give."""

from typing import NamedTuple

import torch

from simpletorch import Float32, Int64, Tensor
from simpletorch.data import PrioritizedReplayBuffer, ReplayBuffer


class Transition(NamedTuple):
    state: Tensor[Float32, 5]
    action: Tensor[Int64]
    reward: float
    done: bool


transition = Transition(torch.zeros(5), torch.tensor(2), 0.5, False)
buffer = ReplayBuffer[Transition](11)
buffer.add(transition)
batch = buffer.sample(7)
reveal_type(batch.state)  # R: Tensor[Float32, 7, 5]
reveal_type(batch.action)  # R: Tensor[Int64, 7]
reveal_type(batch.reward)  # R: Tensor[Float32, 7]
reveal_type(batch.done)  # R: Tensor[Bool, 7]

pairs = ReplayBuffer[tuple[Tensor[Float32, 5], Tensor[Int64]]](11)
pairs.add((torch.zeros(5), torch.tensor(2)))
reveal_type(pairs.sample(3))  # R: tuple[Tensor[Float32, 3, 5], Tensor[Int64, 3]]

prioritized = PrioritizedReplayBuffer[Transition](11)
prioritized.add(transition)
reveal_type(prioritized.sample(7).batch.state)  # R: Tensor[Float32, 7, 5]
reveal_type(prioritized.sample(7).weights)  # R: Tensor[Float32, Any]


def draw(n: int) -> None:
    reveal_type(buffer.sample(n).state)  # R: Tensor[Float32, Any, 5]


draw(3)
