"""RealNVP on two moons.

Affine coupling layers with alternating masks, ActNorm and invertible linear layers
(LU parametrised). Everything is a `Bijector` with `forward` (x -> z) and `inverse`.
"""
from abc import ABC, abstractmethod
from dataclasses import dataclass
import logging
import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FlowConfig:
    data_dim: int = 2
    hidden_dim: int = 64
    n_hidden: int = 2
    n_flows: int = 6
    batch_size: int = 128
    n_iters: int = 3
    learning_rate: float = 5e-4
    noise: float = 0.05
    n_samples: int = 500


class Bijector(nn.Module, ABC):
    @abstractmethod
    def forward(self, x: Tensor):
        """Returns z and log|det dz/dx|, one per example."""

    @abstractmethod
    def inverse(self, z: Tensor) -> Tensor:
        ...


class ActNorm(Bijector):
    """Data-dependent initialisation at the first batch."""

    def __init__(self, dim: int):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("initialised", torch.tensor(False))

    @torch.no_grad()
    def _initialise(self, x):
        std = x.std(dim=0)
        self.log_scale.copy_(-torch.log(std + 1e-6))
        self.bias.copy_(-x.mean(dim=0) / (std + 1e-6))
        self.initialised.fill_(True)

    def forward(self, x):
        if self.training and not self.initialised:
            self._initialise(x)
        z = x * self.log_scale.exp() + self.bias
        return z, self.log_scale.sum().expand(x.size(0))

    def inverse(self, z):
        return (z - self.bias) * torch.exp(-self.log_scale)


class InvertibleLinear(Bijector):
    def __init__(self, dim: int):
        super().__init__()
        q, _ = torch.linalg.qr(torch.randn(dim, dim))
        p, l, u = torch.linalg.lu(q)
        self.register_buffer("p", p)
        self.l = nn.Parameter(l.tril(-1))
        self.u = nn.Parameter(u.triu(1))
        self.s = nn.Parameter(u.diagonal().clone())
        self.register_buffer("eye", torch.eye(dim))

    @property
    def weight(self):
        lower = self.l.tril(-1) + self.eye
        upper = self.u.triu(1) + torch.diag(self.s)
        return self.p @ lower @ upper

    def forward(self, x):
        logdet = self.s.abs().log().sum()
        return x @ self.weight, logdet.expand(x.shape[0])

    def inverse(self, z):
        return torch.linalg.solve(self.weight.t(), z.t()).t()


def mlp(in_dim, hidden, out_dim, n_hidden, final_act=None):
    layers = [nn.Linear(in_dim, hidden), nn.LeakyReLU(0.1)]
    for _ in range(n_hidden - 1):
        layers.extend((nn.Linear(hidden, hidden), nn.LeakyReLU(0.1)))
    layers.append(nn.Linear(hidden, out_dim))
    # start at the identity
    nn.init.zeros_(layers[-1].weight)
    nn.init.zeros_(layers[-1].bias)
    if final_act is not None:
        layers.append(final_act)
    return nn.Sequential(*layers)


class AffineCoupling(Bijector):
    def __init__(self, dim: int, hidden: int, n_hidden: int, parity: bool):
        super().__init__()
        mask = torch.arange(dim) % 2
        if parity:
            mask = 1 - mask
        self.register_buffer("mask", mask.float())
        self.s_net = mlp(dim, hidden, dim, n_hidden, nn.Tanh())
        self.t_net = mlp(dim, hidden, dim, n_hidden)
        self.rescale = nn.Parameter(torch.ones(dim))

    def _st(self, frozen):
        s = self.s_net(frozen) * self.rescale * (1 - self.mask)
        t = self.t_net(frozen) * (1 - self.mask)
        return s, t

    def forward(self, x):
        frozen = x * self.mask
        s, t = self._st(frozen)
        z = frozen + (1 - self.mask) * (x * torch.exp(s) + t)
        return z, s.sum(dim=-1)

    def inverse(self, z):
        frozen = z * self.mask
        s, t = self._st(frozen)
        return frozen + (1 - self.mask) * ((z - t) * torch.exp(-s))


class RealNVP(nn.Module):
    def __init__(self, cfg: FlowConfig):
        super().__init__()
        bijectors = []
        for i in range(cfg.n_flows):
            bijectors.append(ActNorm(cfg.data_dim))
            bijectors.append(InvertibleLinear(cfg.data_dim))
            bijectors.append(AffineCoupling(cfg.data_dim, cfg.hidden_dim, cfg.n_hidden,
                                            parity=bool(i % 2)))
        self.bijectors = nn.ModuleList(bijectors)
        self.register_buffer("loc", torch.zeros(cfg.data_dim))
        self.register_buffer("cov", torch.eye(cfg.data_dim))

    @property
    def base(self):
        return MultivariateNormal(self.loc, self.cov)

    def forward(self, x):
        total = torch.zeros(x.shape[0], device=x.device)
        for bijector in self.bijectors:
            x, logdet = bijector(x)
            total = total + logdet
        return x, total

    def log_prob(self, x):
        z, logdet = self(x)
        return self.base.log_prob(z) + logdet

    @torch.no_grad()
    def sample(self, n: int):
        z = self.base.sample((n,))
        for bijector in reversed(self.bijectors):
            z = bijector.inverse(z)
        return z


def check_inverse(model, x, tol=1e-2):
    z, _ = model(x)
    back = z
    for bijector in reversed(model.bijectors):
        back = bijector.inverse(back)
    err = (back - x).abs().max().item()
    if err > tol:
        log.warning("large inversion error %.2e", err)
    return err


def density_grid(model, lim, n, device):
    xs = torch.linspace(-lim, lim, n)
    grid = torch.stack(torch.meshgrid(xs, xs, indexing="xy"), dim=-1).reshape(-1, 2)
    with torch.no_grad():
        logp = model.log_prob(grid.to(device))
    cell = (2 * lim / (n - 1)) ** 2
    return logp.exp().reshape(n, n).cpu().numpy(), cell


def minibatches(x, batch_size, generator):
    while True:
        perm = torch.randperm(len(x), generator=generator)
        for start in range(0, len(x) - batch_size + 1, batch_size):
            yield x[perm[start:start + batch_size]]


def main():
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
    cfg = FlowConfig()
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    data, _ = make_moons(2000, noise=cfg.noise, random_state=0)
    data = (data - data.mean(0)) / data.std(0)
    train, test = train_test_split(data.astype(np.float32), test_size=0.2, random_state=0)
    train = torch.from_numpy(train).to(device)
    test = torch.from_numpy(test).to(device)

    model = RealNVP(cfg).to(device)
    log.info("%d parameters", sum(p.numel() for p in model.parameters() if p.requires_grad))
    optim = torch.optim.Adam(model.parameters(), lr=cfg.learning_rate)
    sched = torch.optim.lr_scheduler.ExponentialLR(optim, gamma=0.99)

    batches = minibatches(train, cfg.batch_size, torch.Generator().manual_seed(0))
    model.train()
    for it, x in zip(range(cfg.n_iters), batches):
        loss = -model.log_prob(x).mean()
        if not torch.isfinite(loss):
            raise RuntimeError(f"loss is {loss.item()} at {it}")
        optim.zero_grad()
        loss.backward()
        optim.step()
        sched.step()
        log.info("iter %d nll %.4f (bits/dim %.3f)", it, loss.item(),
                 loss.item() / (cfg.data_dim * math.log(2)))

    model.eval()
    with torch.no_grad():
        test_ll = model.log_prob(test)
    log.info("test log-likelihood %.3f +- %.3f", test_ll.mean(), test_ll.std() / len(test) ** 0.5)
    log.info("inversion error %.2e", check_inverse(model, test))

    samples = model.sample(cfg.n_samples).cpu().numpy()
    log.info("sample mean %s cov %s", samples.mean(axis=0).round(2), np.cov(samples.T).round(2).tolist())
    density, cell = density_grid(model, 4.0, 60, device)
    log.info("the density sums to %.3f on the grid", density.sum() * cell)


if __name__ == "__main__":
    main()
