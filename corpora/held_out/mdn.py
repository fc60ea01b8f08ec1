import torch
import numpy as np
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal
import math

# Mixture density network on the inverse sinusoid problem (Bishop 1994)
# plus a 2d-output robot arm problem. Two implementations:
#   1) by hand with logsumexp
#   2) with torch.distributions

ONEOVERSQRT2PI = 1.0 / math.sqrt(2 * math.pi)
LOG2PI = math.log(2 * math.pi)


def inverse_sine(n, noise=0.1):
    t = np.random.uniform(-10, 10, (n, 1))
    x = np.sin(0.75 * t) * 7 + t * 0.5 + np.random.normal(size=(n, 1)) * noise
    return torch.tensor(x, dtype=torch.float), torch.tensor(t, dtype=torch.float)


def robot_arm(n, l1=0.8, l2=0.2):
    """forward kinematics; network must learn the inverse (multi valued)"""
    theta = np.stack([np.random.uniform(0.3, 1.2, n), np.random.uniform(np.pi / 2, 3 * np.pi / 2, n)], axis=1)
    x1 = l1 * np.cos(theta[:, 0]) - l2 * np.cos(theta.sum(1))
    x2 = l1 * np.sin(theta[:, 0]) - l2 * np.sin(theta.sum(1))
    pos = np.column_stack((x1, x2))
    return torch.from_numpy(pos).float(), torch.from_numpy(theta).float()


class MDN(nn.Module):
    def __init__(self, in_features, out_features, num_gaussians, hidden=32):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.num_gaussians = num_gaussians
        self.trunk = nn.Sequential(nn.Linear(in_features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, num_gaussians)
        self.sigma = nn.Linear(hidden, out_features * num_gaussians)
        self.mu = nn.Linear(hidden, out_features * num_gaussians)

    def forward(self, minibatch):
        h = self.trunk(minibatch)
        log_pi = torch.log_softmax(self.pi(h), dim=1)
        log_sigma = self.sigma(h).clamp(-6, 4)
        log_sigma = log_sigma.view(-1, self.num_gaussians, self.out_features)
        mu = self.mu(h)
        mu = mu.view(-1, self.num_gaussians, self.out_features)
        return log_pi, log_sigma, mu


def mdn_loss(log_pi, log_sigma, mu, target):
    target = target.unsqueeze(1).expand_as(mu)
    z = (target - mu) * torch.exp(-log_sigma)
    log_prob = -0.5 * z.pow(2) - log_sigma - 0.5 * LOG2PI
    log_prob = log_prob.sum(dim=2)
    return -torch.logsumexp(log_pi + log_prob, dim=1).mean()


def sample(log_pi, log_sigma, mu):
    pis = Categorical(logits=log_pi).sample().view(log_pi.size(0), 1, 1)
    idx = pis.expand(-1, -1, mu.size(2))
    mean = mu.gather(1, idx).squeeze(1)
    std = log_sigma.gather(1, idx).squeeze(1).exp()
    return mean + std * torch.randn_like(mean)


def mode(log_pi, mu):
    best = log_pi.argmax(dim=1)
    return mu[torch.arange(len(mu)), best]


class MDNDist(nn.Module):
    """same thing but returns a distribution object"""

    def __init__(self, in_dim, out_dim, n_components, hidden=(24, 24), full_scale=True):
        super().__init__()
        dims = [in_dim, *hidden]
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.SiLU()]
        self.net = nn.Sequential(*layers)
        self.head = nn.Linear(dims[-1], n_components * (1 + 2 * out_dim))
        self.k, self.d = n_components, out_dim

    def forward(self, x):
        p = self.head(self.net(x))
        logits, loc, scale = p.split([self.k, self.k * self.d, self.k * self.d], dim=-1)
        loc = loc.reshape(*x.shape[:-1], self.k, self.d)
        scale = nn.functional.softplus(scale).reshape(*x.shape[:-1], self.k, self.d) + 1e-3
        comp = Independent(Normal(loc, scale), 1)
        return MixtureSameFamily(Categorical(logits=logits), comp)


def standardize(train, *others):
    m, s = train.mean(0), train.std(0)
    return [(a - m) / s for a in (train,) + others]


if __name__ == '__main__':
    np.random.seed(5)
    torch.manual_seed(5)

    # ---- 1D -----
    x, y = inverse_sine(400)
    x_test, y_test = inverse_sine(100)
    x, x_test = standardize(x, x_test)
    model = MDN(1, 1, 5)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        perm = torch.randperm(x.shape[0])
        total = 0.
        for i in range(0, x.shape[0], 128):
            idx = perm[i:i + 128]
            loss = mdn_loss(*model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            val = mdn_loss(*model(x_test), y_test)
        print('epoch', epoch, 'nll', total / len(x), 'val', val.item())

    with torch.no_grad():
        log_pi, log_sigma, mu = model(x_test)
        s = torch.stack([sample(log_pi, log_sigma, mu) for _ in range(20)])
        err = (s - y_test).abs().min(dim=0).values
    print('samples', s.shape, 'best-of-20 error', err.mean().item())
    ent = -(log_pi.exp() * log_pi).sum(1)
    print('mixture entropy %.3f +- %.3f' % (ent.mean(), ent.std()))
    print('mode rmse', (mode(log_pi, mu) - y_test).pow(2).mean().sqrt().item())

    # ---- 2D robot arm ----
    pos, ang = robot_arm(256)
    pos_test, ang_test = robot_arm(50)
    net = MDNDist(2, 2, 4)
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    for step in range(3):
        dist = net(pos)
        nll = -dist.log_prob(ang).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
        print('arm step', step, round(nll.item(), 4))
    with torch.no_grad():
        d = net(pos_test)
        draws = d.sample((10,))
        reach = torch.stack([0.8 * torch.cos(draws[..., 0]) - 0.2 * torch.cos(draws.sum(-1)),
                             0.8 * torch.sin(draws[..., 0]) - 0.2 * torch.sin(draws.sum(-1))], dim=-1)
        dist_to_target = (reach - pos_test).norm(dim=-1)
    print('mean distance', dist_to_target.mean().item(), 'best', dist_to_target.min(0)[0].mean().item())
    print('expected angles', d.mean[:3])
