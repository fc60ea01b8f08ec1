"""Two density models for the plane: a mixture density network and RealNVP."""

import math

import torch
import torch.distributions as D
import torch.nn as nn
from sklearn.datasets import make_moons


class MDN(nn.Module):
    """A mixture density network layer

    Arguments:
        in_features (int): the number of dimensions in the input
        out_features (int): the number of dimensions in the output
        num_gaussians (int): the number of Gaussians per output dimensions
    """

    def __init__(self, in_features, out_features, num_gaussians):
        super(MDN, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.num_gaussians = num_gaussians
        self.pi = nn.Sequential(nn.Linear(in_features, num_gaussians), nn.Softmax(dim=1))
        self.sigma = nn.Linear(in_features, out_features * num_gaussians)
        self.mu = nn.Linear(in_features, out_features * num_gaussians)

    def forward(self, minibatch):
        pi = self.pi(minibatch)
        sigma = torch.exp(self.sigma(minibatch))
        sigma = sigma.view(-1, self.num_gaussians, self.out_features)
        mu = self.mu(minibatch)
        mu = mu.view(-1, self.num_gaussians, self.out_features)
        return pi, sigma, mu


def gaussian_probability(sigma, mu, target):
    target = target.unsqueeze(1).expand_as(sigma)
    ret = 1.0 / math.sqrt(2 * math.pi) * torch.exp(-0.5 * ((target - mu) / sigma) ** 2) / sigma
    return torch.prod(ret, 2)


def mdn_loss(pi, sigma, mu, target):
    prob = pi * gaussian_probability(sigma, mu, target)
    nll = -torch.log(torch.sum(prob, dim=1) + 1e-9)
    return torch.mean(nll)


def mdn_sample(pi, sigma, mu):
    """Draw samples from a MoG."""
    # Choose which gaussian we'll sample from
    pis = D.OneHotCategorical(probs=pi).sample().argmax(dim=1).view(pi.size(0), 1, 1)
    # Choose a random sample, one randn for batch X output dims
    gaussian_noise = torch.randn((sigma.size(2), sigma.size(0)), requires_grad=False)
    variance_samples = sigma.gather(1, pis.expand(-1, 1, sigma.size(2))).detach().squeeze(1)
    mean_samples = mu.detach().gather(1, pis.expand(-1, 1, sigma.size(2))).squeeze(dim=1)
    return (gaussian_noise * variance_samples.transpose(0, 1) + mean_samples.transpose(0, 1)).transpose(0, 1)


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super(RealNVP, self).__init__()

        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batchSize):
        z = self.prior.sample((batchSize,))
        x = self.g(z)
        return x


class GlowStep(nn.Module):
    """actnorm, invertible linear, affine coupling on vectors"""

    def __init__(self, d, hidden=16):
        super().__init__()
        self.loc, self.log_scale = nn.Parameter(torch.zeros(1, d)), nn.Parameter(torch.zeros(1, d))
        w = torch.linalg.qr(torch.randn(d, d))[0]
        self.weight = nn.Parameter(w)
        self.half = d // 2
        self.coupling = nn.Sequential(nn.Linear(d - self.half, hidden), nn.ReLU(), nn.Linear(hidden, 2 * self.half))

    def forward(self, x):
        x = (x + self.loc) * self.log_scale.exp()
        logdet = self.log_scale.sum()
        x = x @ self.weight.t()
        logdet = logdet + torch.slogdet(self.weight)[1]
        a, b = x[:, :self.half], x[:, self.half:]
        shift, scale = self.coupling(b).chunk(2, dim=-1)
        scale = torch.sigmoid(scale + 2)
        a = (a + shift) * scale
        return torch.cat([a, b], dim=1), logdet + scale.log().sum(-1)


def main():
    torch.manual_seed(0)
    # -- the inverse sine
    y = torch.rand(60, 1) * 20 - 10
    x = 7 * torch.sin(0.75 * y) + 0.5 * y + torch.randn_like(y)
    model = nn.Sequential(nn.Linear(1, 15), nn.Tanh(), MDN(15, 1, 5))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(4):
        model.zero_grad()
        pi, sigma, mu = model(x)
        loss = mdn_loss(pi, sigma, mu, y)
        loss.backward()
        optimizer.step()
    print('mdn', loss.item(), mdn_sample(pi, sigma, mu).shape)

    # -- moons
    nets = lambda: nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(), nn.Linear(24, 24), nn.LeakyReLU(), nn.Linear(24, 2), nn.Tanh())
    nett = lambda: nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(), nn.Linear(24, 24), nn.LeakyReLU(), nn.Linear(24, 2))
    masks = torch.tensor([[0, 1], [1, 0]] * 2, dtype=torch.float32)
    prior = D.MultivariateNormal(torch.zeros(2), torch.eye(2))
    flow = RealNVP(nets, nett, masks, prior)
    optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad == True], lr=1e-4)
    for t in range(4):
        noisy_moons = torch.from_numpy(make_moons(n_samples=50, noise=.05)[0].astype('float32'))
        loss = -flow.log_prob(noisy_moons).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    z, _ = flow.f(noisy_moons)
    print('realnvp', loss.item(), z.shape, flow.sample(6).detach().mean(0))

    steps = nn.ModuleList([GlowStep(5) for _ in range(3)])
    x = torch.randn(8, 5) * torch.arange(1, 6)
    total = torch.zeros(8)
    for step in steps:
        x, ld = step(x)
        total = total + ld
    base = D.Independent(D.Normal(torch.zeros(5), torch.ones(5)), 1)
    nll = -(base.log_prob(x) + total).mean()
    nll.backward()
    print('glow', nll.item())


if __name__ == '__main__':
    main()
