"""What distributions sample, and how probable it is."""

import torch
from torch.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Independent,
    MultivariateNormal,
    Normal,
    OneHotCategorical,
    Uniform,
    kl_divergence,
)

from simpletorch import Float32, Tensor
from simpletorch.dims import B, K

normal = Normal(torch.zeros(3, 5), torch.ones(5))
reveal_type(normal)  # R: torch.distributions.normal.Normal[Float32, 3, 5]
reveal_type(normal.sample())  # R: Tensor[Float32, 3, 5]
reveal_type(normal.rsample((7,)))  # R: Tensor[Float32, 7, 3, 5]
reveal_type(normal.sample(torch.Size([7, 2])))  # R: Tensor[Float32, 7, 2, 3, 5]
reveal_type(normal.log_prob(torch.zeros(7, 3, 5)))  # R: Tensor[Float32, 7, 3, 5]
reveal_type(normal.entropy())  # R: Tensor[Float32, 3, 5]
reveal_type(normal.mean)  # R: Tensor[Float32, 3, 5]
reveal_type(normal.scale)  # R: Tensor[Float32, 3, 5]
reveal_type(Normal(0.0, 1.0).sample((3, 7)))  # R: Tensor[Float32, 3, 7]
reveal_type(Normal(torch.zeros(3, dtype=torch.float64), 1.0).sample())  # R: Tensor[Float64, 3]

joint = Independent(normal, 1)
reveal_type(joint.sample((2,)))  # R: Tensor[Float32, 2, 3, 5]
reveal_type(joint.log_prob(torch.zeros(3, 5)))  # R: Tensor[Float32, 3]
reveal_type(joint.entropy())  # R: Tensor[Float32, 3]

categorical = Categorical(logits=torch.zeros(3, 5))
reveal_type(categorical.sample())  # R: Tensor[Int64, 3]
reveal_type(categorical.sample((7,)))  # R: Tensor[Int64, 7, 3]
reveal_type(categorical.log_prob(categorical.sample()))  # R: Tensor[Float32, 3]
reveal_type(categorical.entropy())  # R: Tensor[Float32, 3]
reveal_type(OneHotCategorical(torch.ones(3, 5)).sample())  # R: Tensor[Float32, 3, 5]

reveal_type(Bernoulli(torch.zeros(3)).sample())  # R: Tensor[Float32, 3]
reveal_type(Uniform(torch.zeros(3), torch.ones(3)).rsample((2,)))  # R: Tensor[Float32, 2, 3]
reveal_type(Beta(torch.ones(3), 2.0).mean)  # R: Tensor[Float32, 3]
reveal_type(Gamma(torch.ones(3, 1), torch.ones(5)).variance)  # R: Tensor[Float32, 3, 5]
reveal_type(Dirichlet(torch.ones(3, 5)).rsample())  # R: Tensor[Float32, 3, 5]
reveal_type(Dirichlet(torch.ones(3, 5)).entropy())  # R: Tensor[Float32, 3]
gaussian = MultivariateNormal(torch.zeros(3, 5), torch.eye(5))
reveal_type(gaussian.rsample((2,)))  # R: Tensor[Float32, 2, 3, 5]
reveal_type(gaussian.log_prob(torch.zeros(7, 3, 5)))  # R: Tensor[Float32, 7, 3]
reveal_type(kl_divergence(normal, Normal(0.0, 1.0)))  # R: Tensor[Float32, 3, 5]


def act(logits: Tensor[Float32, B, K], n: int) -> Tensor[Float32, B]:
    policy = Categorical(logits=logits)
    action = policy.sample()
    reveal_type(action)  # R: Tensor[Int64, B]
    reveal_type(policy.sample((n,)))  # R: Tensor[Int64, Any, B]
    return policy.log_prob(action) + policy.entropy()


def unknown(x: torch.Tensor, policy: Categorical) -> None:
    reveal_type(Normal(x, 1.0).sample())  # R: Tensor
    reveal_type(policy.sample())  # R: Tensor[Int64, ...]


act(torch.zeros(3, 5), 7)
unknown(torch.zeros(3), categorical)
