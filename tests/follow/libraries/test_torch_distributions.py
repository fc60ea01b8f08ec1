"""Samples, log-probabilities and divergences have the shapes of torch's."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

HEAD = "import torch\nfrom torch.distributions import *\n"

NORMAL = """
loc, scale = torch.zeros(7, 3), torch.ones(3)
p, q = Normal(loc, scale), Normal(torch.zeros(7, 1), 1.0)
a, b, c = p.sample(), p.rsample((5,)), p.log_prob(torch.zeros(2, 1, 3))
d, e, f, g = p.entropy(), kl_divergence(p, q), p.mean, p.scale
h = Normal(0.0, 1.0).sample((2, 3))
i = Independent(p, 1)
j, k, l = i.log_prob(b), i.sample(), i.entropy()
m, n = i.batch_shape[0], i.event_shape[0]
o = Normal(torch.zeros(3, dtype=torch.float64), 1.0).cdf(torch.ones(5, 3, dtype=torch.float64))
r = p.expand((5, 7, 3)).sample()
"""
CATEGORICAL = """
p = Categorical(logits=torch.zeros(7, 3))
a, b, c = p.sample(), p.sample((5,)), p.probs
d, e, f = p.log_prob(a), p.log_prob(b), p.entropy()
g = OneHotCategorical(probs=torch.ones(7, 3) / 3)
h, i, j = g.sample(), g.log_prob(g.sample((2,))), g.logits
k, l = Dirichlet(torch.ones(7, 3)).sample((2,)), Dirichlet(torch.ones(3)).log_prob(torch.ones(3) / 3)
m = Bernoulli(logits=torch.zeros(5))
n, o = m.sample(), m.log_prob(torch.ones(2, 5))
p_, q = m.probs, RelaxedOneHotCategorical(torch.tensor(0.5), logits=torch.zeros(7, 3)).rsample()
"""
MULTIVARIATE = """
p = MultivariateNormal(torch.zeros(7, 3), torch.eye(3))
a, b, c = p.sample((5,)), p.log_prob(torch.zeros(3)), p.covariance_matrix
d = MixtureSameFamily(Categorical(torch.ones(2)), Independent(Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1))
e, f = d.sample((5,)), d.log_prob(torch.zeros(7, 3))
g = kl_divergence(p, MultivariateNormal(torch.zeros(3), scale_tril=torch.eye(3)))
h, i = Uniform(0, torch.ones(3)).sample(), Beta(torch.ones(3), 2.0).sample((2,))
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (NORMAL, "a b c d e f g h j k l m n o r"),
        (CATEGORICAL, "a b c d e f h i j k l n o p_ q"),
        (MULTIVARIATE, "a b c e f g h i"),
    ],
)
def test_what_they_give_is_what_torch_gives(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Normal(torch.zeros(7, 3), 1.0).log_prob(torch.zeros(5))", "the value must broadcast with batch"),
        ("Normal(torch.zeros(3), torch.ones(5))", "the parameters don't broadcast"),
        ("Independent(Normal(torch.zeros(3), 1.0), 2)", "the batch has 1"),
        ("kl_divergence(Normal(torch.zeros(3), 1.0), Normal(torch.zeros(5), 1.0))", "don't broadcast"),
        ("Categorical(logits=torch.tensor(1.0))", "needs at least one dim"),
    ],
)
def test_what_does_not_fit_is_found(line: str, message: str, tmp_path: Path) -> None:
    ((_, found),) = findings(HEAD + line + "\n", tmp_path)
    assert message in found
    with pytest.raises(Exception, match=r".+"):
        exec(HEAD + line)
