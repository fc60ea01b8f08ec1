"""Distributions in variables, attributes, branches and lists, as programs have them."""

import torch
from torch import distributions, nn
from torch.distributions import Categorical, Distribution, Independent, Normal, TransformedDistribution, kl_divergence
from torch.distributions.transforms import TanhTransform

from simpletorch import Float32, Tensor
from simpletorch.dims import B


class Policy(nn.Module):
    def __init__(self, discrete: bool) -> None:
        super().__init__()
        self.head = nn.Linear(5, 3)
        self.discrete = discrete
        self.last = Normal(torch.zeros(3), torch.ones(3))
        self.known: list[Distribution] = []

    def forward(self, x: Tensor[Float32, B, 5]) -> Distribution:
        scores = self.head(x)
        self.last = Normal(scores, torch.ones(3))
        self.known.append(self.last)
        return Categorical(logits=scores) if self.discrete else Normal(scores, torch.ones_like(scores))


class Squashed(Normal):
    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        each: torch.Tensor = super().log_prob(value)
        return each.sum(-1, keepdim=True)


def make(mean: torch.Tensor, scale: float) -> Normal:
    return Normal(mean, scale)


def grown() -> None:
    q = Normal(torch.zeros(3), torch.ones(3))
    for size in (5, 7):
        q = Normal(torch.zeros(size, 3), torch.ones(3))
        q.sample((2,)) + torch.zeros(3)
    every = [Normal(torch.zeros(3), 1.0)]
    every.append(Normal(torch.zeros(5), 1.0))
    by_name = {"a": Normal(torch.zeros(3), 1.0), "b": Normal(torch.zeros(5), 1.0)}
    by_name["c"] = Normal(torch.zeros(7), 1.0)
    of_both = Normal(torch.zeros(3), 1.0) if len(every) > 1 else Categorical(torch.ones(3))
    of_both.sample()


x = torch.zeros(2, 5)
for discrete in (True, False):
    found = Policy(discrete)(x)
    found.log_prob(found.sample()).sum()
    found.entropy().mean()
Squashed(torch.zeros(2, 3), torch.ones(3)).log_prob(torch.zeros(2, 3)) + torch.zeros(2, 1)
make(x, 2.0).rsample((3,)) + torch.zeros(3, 2, 5)
grown()
kl_divergence(Independent(Normal(x, 1.0), 1), Independent(Normal(torch.zeros(5), 1.0).expand((2, 5)), 1)) + torch.ones(
    2
)
TransformedDistribution(Normal(x, 1.0), [TanhTransform()]).rsample()
distributions.Normal(0.0, 1.0).sample(torch.Size([3, 2])) + torch.zeros(2)
distributions.Bernoulli(logits=x).log_prob(torch.ones(2, 5, dtype=torch.int64).float())
distributions.MixtureSameFamily(Categorical(torch.ones(5)), Normal(torch.zeros(5), torch.ones(5))).sample((3,))
