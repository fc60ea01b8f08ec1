"""Dreamer-ish world model on a toy pixel pendulum: RSSM with categorical latents + imagination actor-critic."""
import math
from collections import defaultdict
from functools import partial

import numpy as np
import torch
import torch.distributions as td
import torch.nn as nn
import torch.nn.functional as F

class AttrDict(dict):
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k)

DEFAULTS = AttrDict(deter=38, stoch=5, classes=7, hidden=33, embed=44, act='ELU', img=(1, 16, 20), action_dim=1,
                    batch=6, length=9, horizon=5, kl_balance=0.8, free_nats=0.3, kl_scale=0.5, gamma=0.96, lam=0.9,
                    ent=1e-3, model_lr=2e-3, actor_lr=6e-4, critic_lr=8e-4, clip=50.0, slow_tau=0.05, iters=7)

def mlp(inp, out, hidden, layers=2, act='ELU', norm=True):
    mods, dims = [], [inp] + [hidden] * layers
    for a, b in zip(dims[:-1], dims[1:]):
        mods += [nn.Linear(a, b, bias=not norm)]
        if norm:
            mods += [nn.LayerNorm(b)]
        mods += [getattr(nn, act)()]
    return nn.Sequential(*mods, nn.Linear(dims[-1], out))

class FreezeParameters:
    def __init__(self, modules):
        self.params = [p for m in modules for p in m.parameters()]
    def __enter__(self):
        self.state = [p.requires_grad for p in self.params]
        for p in self.params:
            p.requires_grad = False
    def __exit__(self, *exc):
        for p, s in zip(self.params, self.state):
            p.requires_grad = s

class OneHotST(td.OneHotCategoricalStraightThrough):
    def __init__(self, logits, unimix=0.01):
        probs = F.softmax(logits, -1)
        probs = probs * (1 - unimix) + unimix / probs.shape[-1]
        super().__init__(probs=probs)

class NormGRUCell(nn.Module):
    def __init__(self, input_size, hidden_size, update_bias=-1):
        super().__init__()
        self.layer = nn.Linear(input_size + hidden_size, 3 * hidden_size, bias=False)
        self.norm = nn.LayerNorm(3 * hidden_size)
        self.update_bias = update_bias
    def forward(self, x, h):
        reset, cand, update = self.norm(self.layer(torch.cat([x, h], -1))).chunk(3, -1)
        cand = torch.tanh(torch.sigmoid(reset) * cand)
        update = torch.sigmoid(update + self.update_bias)
        return update * cand + (1 - update) * h

class RSSM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        z = cfg.stoch * cfg.classes
        self.inp = nn.Sequential(nn.Linear(z + cfg.action_dim, cfg.hidden), getattr(nn, cfg.act)())
        self.cell = NormGRUCell(cfg.hidden, cfg.deter)
        self.prior_net = mlp(cfg.deter, z, cfg.hidden, 1, cfg.act)
        self.post_net = mlp(cfg.deter + cfg.embed, z, cfg.hidden, 1, cfg.act)
    @property
    def feat_size(self):
        return self.cfg.deter + self.cfg.stoch * self.cfg.classes
    def initial(self, n):
        c = self.cfg
        return {'deter': torch.zeros(n, c.deter), 'stoch': torch.zeros(n, c.stoch, c.classes),
                'logits': torch.zeros(n, c.stoch, c.classes)}
    def feat(self, s):
        return torch.cat([s['deter'], s['stoch'].flatten(-2)], -1)
    def dist(self, logits):
        return td.Independent(OneHotST(logits), 1)
    def _stats(self, deter, flat):
        logits = flat.view(*flat.shape[:-1], self.cfg.stoch, self.cfg.classes)
        return {'deter': deter, 'stoch': self.dist(logits).rsample(), 'logits': logits}
    def img_step(self, prev, action):
        x = self.inp(torch.cat([prev['stoch'].flatten(-2), action], -1))
        deter = self.cell(x, prev['deter'])
        return self._stats(deter, self.prior_net(deter))
    def obs_step(self, prev, action, embed, is_first):
        mask = 1.0 - is_first[:, None]
        prev = {k: v * (mask if v.dim() == 2 else mask[..., None]) for k, v in prev.items()}
        prior = self.img_step(prev, action * mask)
        post = self._stats(prior['deter'], self.post_net(torch.cat([prior['deter'], embed], -1)))
        return post, prior
    def observe(self, embed, action, is_first):
        state, posts, priors = self.initial(embed.shape[0]), defaultdict(list), defaultdict(list)
        for t in range(embed.shape[1]):
            state, prior = self.obs_step(state, action[:, t], embed[:, t], is_first[:, t])
            for store, s in ((posts, state), (priors, prior)):
                for k, v in s.items():
                    store[k].append(v)
        stack = lambda d: {k: torch.stack(v, 1) for k, v in d.items()}
        return stack(posts), stack(priors)
    def kl_loss(self, post, prior):
        sg = lambda d: self.dist(d['logits'].detach())
        kl = td.kl_divergence
        lhs = kl(sg(post), self.dist(prior['logits'])).mean().clamp(min=self.cfg.free_nats)
        rhs = kl(self.dist(post['logits']), sg(prior)).mean().clamp(min=self.cfg.free_nats)
        return self.cfg.kl_balance * lhs + (1 - self.cfg.kl_balance) * rhs

class Encoder(nn.Module):
    def __init__(self, cfg, widths=(8, 14)):
        super().__init__()
        dims = (cfg.img[0],) + tuple(widths)
        self.conv = nn.Sequential(*[m for a, b in zip(dims, dims[1:]) for m in (nn.Conv2d(a, b, 4, 2, 1), getattr(nn, cfg.act)())])
        self.fc = nn.Linear(widths[-1] * (cfg.img[1] // 4) * (cfg.img[2] // 4), cfg.embed)
    def forward(self, obs):
        lead = obs.shape[:-3]
        x = self.conv(obs.reshape(-1, *obs.shape[-3:])).flatten(1)
        return self.fc(x).reshape(*lead, -1)

class Decoder(nn.Module):
    def __init__(self, cfg, feat, widths=(16, 9)):
        super().__init__()
        self.base = (widths[0], cfg.img[1] // 4, cfg.img[2] // 4)
        self.fc = nn.Linear(feat, int(np.prod(self.base)))
        self.deconv = nn.Sequential(nn.ConvTranspose2d(widths[0], widths[1], 4, 2, 1), getattr(nn, cfg.act)(),
                                    nn.ConvTranspose2d(widths[1], cfg.img[0], 4, 2, 1))
    def forward(self, feat):
        x = self.fc(feat).reshape(-1, *self.base)
        mean = self.deconv(x)
        mean = mean.reshape(*feat.shape[:-1], *mean.shape[1:])
        return td.Independent(td.Normal(mean, 1.0), 3)

class PixelPendulum:
    def __init__(self, cfg, rng):
        self.h, self.w, self.rng = cfg.img[1], cfg.img[2], rng
        self.ys, self.xs = np.mgrid[0:self.h, 0:self.w]
    def reset(self):
        self.th, self.om = self.rng.uniform(-np.pi, np.pi), 0.0
        return self.render()
    def render(self):
        cy, cx = self.h / 2 - 5 * np.cos(self.th), self.w / 2 + 6 * np.sin(self.th)
        return np.exp(-((self.ys - cy) ** 2 + (self.xs - cx) ** 2) / 5.)[None].astype(np.float32) - 0.5
    def step(self, a):
        self.om = np.clip(self.om + 0.15 * (np.sin(self.th) * 5 + 3 * a), -6, 6)
        self.th = (self.th + 0.15 * self.om + np.pi) % (2 * np.pi) - np.pi
        return self.render(), float(np.cos(self.th)) - 0.01 * a ** 2

class Agent(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.rssm, self.encoder = RSSM(cfg), Encoder(cfg)
        f = self.rssm.feat_size
        build = partial(mlp, f, hidden=cfg.hidden, act=cfg.act)
        self.decoder, self.reward, self.cont = Decoder(cfg, f), build(1), build(1)
        self.actor, self.critic, self.slow = build(2 * cfg.action_dim), build(1), build(1)
        self.slow.load_state_dict(self.critic.state_dict())
        self.world = [self.rssm, self.encoder, self.decoder, self.reward, self.cont]
        self.opts = {'world': torch.optim.Adam([p for m in self.world for p in m.parameters()], lr=cfg.model_lr),
                     'actor': torch.optim.Adam(self.actor.parameters(), lr=cfg.actor_lr),
                     'critic': torch.optim.Adam(self.critic.parameters(), lr=cfg.critic_lr)}
    def policy(self, feat):
        mean, std = self.actor(feat).chunk(2, -1)
        base = td.Normal(5 * torch.tanh(mean / 5), F.softplus(std + 0.5) + 0.1)
        return td.Independent(td.TransformedDistribution(base, td.TanhTransform(cache_size=1)), 1)
    def apply_opt(self, name, loss):
        opt = self.opts[name]
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(opt.param_groups[0]['params'], self.cfg.clip)
        opt.step()
        return norm
    def train_world(self, obs, act, rew, first):
        post, prior = self.rssm.observe(self.encoder(obs), act, first)
        feat = self.rssm.feat(post)
        losses = {'image': -self.decoder(feat).log_prob(obs).mean() - 0.5 * math.log(2 * math.pi) * obs[0, 0].numel(),
                  'reward': F.mse_loss(self.reward(feat).squeeze(-1), rew),
                  'cont': F.binary_cross_entropy_with_logits(self.cont(feat).squeeze(-1), torch.ones_like(rew)),
                  'kl': self.cfg.kl_scale * self.rssm.kl_loss(post, prior)}
        self.apply_opt('world', sum(losses.values()))
        return {k: v.detach().flatten(0, 1) for k, v in post.items()}, losses
    def train_behaviour(self, start):
        cfg = self.cfg
        with FreezeParameters(self.world + [self.slow]):
            state, feats, ents = start, [self.rssm.feat(start)], []
            for _ in range(cfg.horizon):
                pi = self.policy(feats[-1].detach())
                a = pi.rsample()
                ents.append(-pi.log_prob(a.detach()))
                state = self.rssm.img_step(state, a)
                feats.append(self.rssm.feat(state))
            feat = torch.stack(feats)
            reward, value = self.reward(feat[1:]).squeeze(-1), self.slow(feat).squeeze(-1)
            disc = cfg.gamma * torch.sigmoid(self.cont(feat[1:]).squeeze(-1))
            last, rets = value[-1], []
            for t in reversed(range(cfg.horizon)):
                last = reward[t] + disc[t] * ((1 - cfg.lam) * value[t + 1] + cfg.lam * last)
                rets.append(last)
            rets = torch.stack(rets[::-1])
            weight = torch.cumprod(torch.cat([torch.ones_like(disc[:1]), disc[:-1]]), 0).detach()
            actor_loss = -(weight * (rets + cfg.ent * torch.stack(ents))).mean()
            self.apply_opt('actor', actor_loss)
        v = self.critic(feat[:-1].detach()).squeeze(-1)
        critic_loss = (weight * F.smooth_l1_loss(v, rets.detach(), reduction='none')).mean()
        self.apply_opt('critic', critic_loss)
        for p, q in zip(self.critic.parameters(), self.slow.parameters()):
            q.data.lerp_(p.data, cfg.slow_tau)
        return {'actor': actor_loss, 'critic': critic_loss}
    @torch.no_grad()
    def rollout(self, env, steps):
        state, a, out = self.rssm.initial(1), torch.zeros(1, self.cfg.action_dim), defaultdict(list)
        o, r = env.reset(), 0.0
        for t in range(steps):
            first = torch.tensor([float(t == 0)])
            for k, v in zip(('obs', 'act', 'rew', 'first'), (torch.from_numpy(o), a[0], torch.tensor(r), first[0])):
                out[k].append(v)
            state, _ = self.rssm.obs_step(state, a, self.encoder(torch.from_numpy(o)[None]), first)
            a = self.policy(self.rssm.feat(state)).sample()
            o, r = env.step(a.item())
        return {k: torch.stack(v).float() for k, v in out.items()}

if __name__ == '__main__':
    cfg = AttrDict({**DEFAULTS, 'iters': 6})
    torch.manual_seed(31)
    rng = np.random.default_rng(31)
    agent, env = Agent(cfg), PixelPendulum(cfg, rng)
    episodes = [agent.rollout(env, 23) for _ in range(3)]
    for it in range(cfg.iters):
        picks = [(episodes[rng.integers(len(episodes))], rng.integers(0, 23 - cfg.length)) for _ in range(cfg.batch)]
        batch = [torch.stack([e[k][s:s + cfg.length] for e, s in picks]) for k in ('obs', 'act', 'rew', 'first')]
        start, losses = agent.train_world(*batch)
        losses.update(agent.train_behaviour(start))
        print(it, {k: round(v.item(), 3) for k, v in losses.items()})
        if it % 3 == 2:
            episodes.append(agent.rollout(env, 23))
    print('returns', [round(e['rew'].sum().item(), 2) for e in episodes])
