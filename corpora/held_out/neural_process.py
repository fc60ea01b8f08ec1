"""Attentive / latent neural processes on GP curves. One model class built out of mixins."""
import abc
import collections
import functools
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

Task = collections.namedtuple("Task", "x_context y_context x_target y_target num_context")


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        tic = time.perf_counter()
        out = fn(*args, **kwargs)
        print("  %s took %.2fs" % (fn.__name__, time.perf_counter() - tic))
        return out
    return wrapper


class GPCurves(object):
    def __init__(self, batch_size, max_num_context=12, x_size=1, y_size=2, l1_scale=0.6, sigma_scale=1.0,
                 testing=False):
        self.batch_size, self.max_num_context = batch_size, max_num_context
        self.x_size, self.y_size = x_size, y_size
        self.l1, self.sigma = l1_scale, sigma_scale
        self.testing = testing

    def _kernel(self, xdata, l1, sigma_f, sigma_noise=2e-2):
        n = xdata.shape[1]
        diff = xdata[:, None, :, :] - xdata[:, :, None, :]           # B,N,N,xd
        norm = (diff[:, None] / l1[:, :, None, None, :]).pow(2).sum(-1)  # B,yd,N,N
        kernel = sigma_f.pow(2)[:, :, None, None] * torch.exp(-0.5 * norm)
        return kernel + sigma_noise ** 2 * torch.eye(n)

    def generate(self):
        num_context = int(torch.randint(3, self.max_num_context, (1,)))
        if self.testing:
            num_target = total = 50
            x = torch.linspace(-2, 2, total).repeat(self.batch_size, 1).unsqueeze(-1)
        else:
            num_target = int(torch.randint(2, self.max_num_context, (1,)))
            total = num_context + num_target
            x = torch.rand(self.batch_size, total, self.x_size) * 4 - 2
        l1 = torch.ones(self.batch_size, self.y_size, self.x_size) * self.l1
        sigma_f = torch.ones(self.batch_size, self.y_size) * self.sigma
        chol = torch.linalg.cholesky(self._kernel(x, l1, sigma_f).double() + 1e-6 * torch.eye(total).double()).float()
        y = chol.matmul(torch.randn(self.batch_size, self.y_size, total, 1))
        y = y.squeeze(3).permute(0, 2, 1)
        idx = torch.randperm(total)
        return Task(x[:, idx[:num_context]], y[:, idx[:num_context]], x, y, num_context)


def batch_mlp(input_size, output_sizes):
    layers, prev = [], input_size
    for size in output_sizes[:-1]:
        layers += [nn.Linear(prev, size), nn.ReLU()]
        prev = size
    layers.append(nn.Linear(prev, output_sizes[-1]))
    return nn.Sequential(*layers)


def uniform_attention(q, v):
    return v.mean(dim=1, keepdim=True).expand(-1, q.shape[1], -1)


def laplace_attention(q, k, v, scale=1.0):
    k, q = k.unsqueeze(1), q.unsqueeze(2)
    w = torch.softmax(-(torch.abs((k - q) / scale)).sum(-1), dim=-1)
    return torch.einsum("bik,bkj->bij", w, v)


class MultiheadCross(nn.Module):
    def __init__(self, d_k, d_v, num_heads):
        super().__init__()
        head_size = d_v // num_heads
        self.heads = nn.ModuleList(
            nn.ModuleDict({"q": nn.Conv1d(d_k, head_size, 1, bias=False),
                           "k": nn.Conv1d(d_k, head_size, 1, bias=False),
                           "v": nn.Conv1d(d_v, head_size, 1, bias=False),
                           "o": nn.Conv1d(head_size, d_v, 1, bias=False)}) for _ in range(num_heads))

    def forward(self, q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        rep = 0.0
        for h in self.heads:
            hq, hk, hv = h["q"](q), h["k"](k), h["v"](v)
            w = torch.softmax(torch.matmul(hq.transpose(1, 2), hk) / hq.shape[1] ** 0.5, dim=-1)
            rep = rep + h["o"](torch.matmul(w, hv.transpose(1, 2)).transpose(1, 2))
        return rep.transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, rep, x_size, out_dim, att_type, heads=3):
        super().__init__()
        self.type = att_type
        if rep == "mlp":
            self.key_net = batch_mlp(x_size, [out_dim, out_dim])
        elif rep == "identity":
            self.key_net = nn.Identity()
        else:
            raise NameError("'rep' not among ['identity', 'mlp']")
        if att_type == "multihead":
            self.mh = MultiheadCross(out_dim if rep == "mlp" else x_size, out_dim, heads)

    def forward(self, x1, x2, r):
        k, q = self.key_net(x1), self.key_net(x2)
        if self.type == "uniform":
            return uniform_attention(q, r)
        if self.type == "laplace":
            return laplace_attention(q, k, r)
        return self.mh(q, k, r)


class BaseNP(nn.Module, abc.ABC):
    def __init__(self, x_size=1, y_size=2, hid=30, **kw):
        super().__init__()
        self.y_size, self.hid = y_size, hid
        self.build(x_size, y_size, hid, **kw)
        self.decoder = batch_mlp(x_size + self.rep_size, [hid, hid + 6, 2 * y_size])

    @abc.abstractmethod
    def build(self, x_size, y_size, hid, **kw):
        ...

    @abc.abstractmethod
    def represent(self, task):
        ...

    def forward(self, task):
        rep, kl = self.represent(task)
        hidden = self.decoder(torch.cat([rep, task.x_target], dim=-1))
        mu, log_sigma = hidden.split(self.y_size, dim=-1)
        return Normal(mu, 0.1 + 0.9 * F.softplus(log_sigma)), kl

    def loss(self, task):
        dist, kl = self(task)
        log_p = dist.log_prob(task.y_target).sum(-1)
        elbo = log_p - (kl[:, None] / task.x_target.shape[1] if kl is not None else 0)
        return -elbo.mean(), log_p.mean()


class DeterministicMixin:
    def build_det(self, x_size, y_size, hid, attention=("identity", "uniform")):
        self.det_enc = batch_mlp(x_size + y_size, [hid, hid, hid])
        self.att = Attention(attention[0], x_size, hid, attention[1])

    def det(self, t):
        return self.att(t.x_context, t.x_target, self.det_enc(torch.cat([t.x_context, t.y_context], -1)))


class LatentMixin:
    num_latents = 8

    def build_lat(self, x_size, y_size, hid):
        self.lat_enc = batch_mlp(x_size + y_size, [hid, hid])
        self.penultimate = nn.Linear(hid, (hid + self.num_latents) // 2)
        self.lat_out = nn.Linear((hid + self.num_latents) // 2, 2 * self.num_latents)

    def posterior(self, x, y):
        h = self.lat_enc(torch.cat([x, y], -1)).mean(dim=1)
        mu, log_sigma = self.lat_out(F.relu(self.penultimate(h))).chunk(2, -1)
        return Normal(mu, 0.1 + 0.9 * torch.sigmoid(log_sigma))

    def lat(self, t):
        prior = self.posterior(t.x_context, t.y_context)
        if not self.training:
            z, kl = prior.sample(), None
        else:
            post = self.posterior(t.x_target, t.y_target)
            z, kl = post.rsample(), kl_divergence(post, prior).sum(-1)
        return z[:, None, :].expand(-1, t.x_target.size(1), -1), kl


class CNP(DeterministicMixin, BaseNP):
    def build(self, x_size, y_size, hid, **kw):
        self.build_det(x_size, y_size, hid, **kw)
        self.rep_size = hid

    def represent(self, task):
        return self.det(task), None


class ANP(DeterministicMixin, LatentMixin, BaseNP):
    def build(self, x_size, y_size, hid, **kw):
        self.build_det(x_size, y_size, hid, **kw)
        self.build_lat(x_size, y_size, hid)
        self.rep_size = hid + self.num_latents

    def represent(self, task):
        z, kl = self.lat(task)
        return torch.cat([self.det(task), z], dim=-1), kl


MODELS = {
    "cnp": functools.partial(CNP),
    "laplace-cnp": functools.partial(CNP, attention=("identity", "laplace")),
    "anp": functools.partial(ANP, attention=("mlp", "multihead")),
}


@timed
def fit(model, steps=40):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    data, running = GPCurves(10), []
    model.train()
    for step in range(steps):
        loss, lp = model.loss(data.generate())
        opt.zero_grad()
        loss.backward()
        opt.step()
        running.append(lp.item())
    return np.mean(running[:5]), np.mean(running[-5:])


def main():
    torch.manual_seed(5)
    for name, make in MODELS.items():
        model = make()
        first, last = fit(model)
        model.eval()
        with torch.no_grad():
            task = GPCurves(3, testing=True).generate()
            dist, _ = model(task)
            rmse = (dist.mean - task.y_target).pow(2).mean().sqrt()
            inside = ((task.y_target - dist.mean).abs() < 2 * dist.stddev).float().mean()
        print(f"{name:12s} log p {first:.3f} -> {last:.3f}; test rmse {rmse:.3f}, 2-sigma coverage {inside:.2f}")


if __name__ == "__main__":
    main()
