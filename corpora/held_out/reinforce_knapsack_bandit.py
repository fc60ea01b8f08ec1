"""
Contextual combinatorial bandit: pick K items out of N for a user (slate recommendation).
The reward is submodular (items that look alike give diminishing returns) and only the total
is seen. Policy = sequential sampling without replacement, trained with REINFORCE and a
learned state-value baseline.
"""
import abc
import collections
import contextlib

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

Transition = collections.namedtuple("Transition", "users items actions log_probs entropies rewards")


class SlateEnv:
    def __init__(self, n_items=12, slate_size=4, user_dim=6, item_dim=6, n_topics=3, seed=0):
        self.rng = np.random.RandomState(seed)
        self.n_items, self.slate_size = n_items, slate_size
        self.user_dim, self.item_dim, self.n_topics = user_dim, item_dim, n_topics
        self.true_W = self.rng.randn(user_dim, item_dim) / np.sqrt(user_dim)
        self.topic_centers = self.rng.randn(n_topics, item_dim) * 1.5

    def reset(self, batch):
        self.users = self.rng.randn(batch, self.user_dim)
        self.topics = self.rng.randint(self.n_topics, size=(batch, self.n_items))
        self.items = self.topic_centers[self.topics] + 0.5 * self.rng.randn(batch, self.n_items, self.item_dim)
        return self.users.astype(np.float32), self.items.astype(np.float32)

    def affinity(self):
        score = np.einsum("bu,ui,bni->bn", self.users, self.true_W, self.items)
        return 1.0 / (1.0 + np.exp(-score))

    def step(self, actions):
        p = np.take_along_axis(self.affinity(), actions, axis=1)
        topics = np.take_along_axis(self.topics, actions, axis=1)
        reward = np.zeros(len(actions))
        for t in range(self.n_topics):
            reward += 1.0 - np.prod(np.where(topics == t, 1.0 - p, 1.0), axis=1)
        return reward + 0.05 * self.rng.randn(len(actions))

    def greedy_oracle(self):
        picks = np.argsort(-self.affinity(), axis=1)[:, : self.slate_size]
        return picks


class CheckpointMixin:
    def snapshot(self):
        return {k: v.detach().clone() for k, v in self.state_dict().items()}

    def restore(self, snap):
        self.load_state_dict(snap)


class BasePolicy(nn.Module, CheckpointMixin, abc.ABC):
    @abc.abstractmethod
    def forward(self, users, items, k, greedy=False):
        ...

    @contextlib.contextmanager
    def evaluating(self):
        was_training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield self
        finally:
            self.train(was_training)


class SlatePolicy(BasePolicy):
    def __init__(self, user_dim, item_dim, hidden=32):
        super().__init__()
        self.user_net = nn.Linear(user_dim, hidden)
        self.item_net = nn.Sequential(nn.Linear(item_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.state_cell = nn.GRUCell(hidden, hidden)
        self.scorer = nn.Bilinear(hidden, hidden, 1)

    def forward(self, users, items, k, greedy=False):
        b, n, _ = items.shape
        state = torch.tanh(self.user_net(users))
        emb = self.item_net(items)
        taken = torch.zeros(b, n, dtype=torch.bool)
        actions, log_probs, entropies = [], [], []
        for _ in range(k):
            query = state[:, None].expand(-1, n, -1).contiguous()
            logits = self.scorer(query, emb).squeeze(-1)
            logits = logits.masked_fill(taken, -1e8)
            dist = Categorical(logits=logits)
            a = logits.argmax(-1) if greedy else dist.sample()
            actions.append(a)
            log_probs.append(dist.log_prob(a))
            entropies.append(dist.entropy())
            taken = taken | nn.functional.one_hot(a, n).bool()
            chosen = torch.gather(emb, 1, a[:, None, None].repeat(1, 1, emb.shape[2]))[:, 0]
            state = self.state_cell(chosen, state)
        return torch.stack(actions, 1), torch.stack(log_probs, 1), torch.stack(entropies, 1)


class Baseline(nn.Module):
    """Deep-set value network V(user, candidates)."""

    def __init__(self, user_dim, item_dim, hidden=24):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(user_dim + item_dim, hidden), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, users, items):
        u = users.unsqueeze(1).expand(users.shape[0], items.shape[1], users.shape[1])
        h = self.phi(torch.cat([u, items], -1))
        pooled = torch.cat([h.mean(1), h.max(1)[0]], -1)
        return self.rho(pooled).squeeze(-1)


class RunningStat:
    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def push(self, xs):
        for x in xs:
            self.n += 1
            d = x - self.mean
            self.mean += d / self.n
            self.m2 += d * (x - self.mean)

    @property
    def std(self):
        return (self.m2 / max(1, self.n - 1)) ** 0.5


class Agent:
    def __init__(self, env, lr=3e-3, ent_coef=0.01, batch=32):
        self.env, self.ent_coef, self.batch = env, ent_coef, batch
        self.policy = SlatePolicy(env.user_dim, env.item_dim)
        self.baseline = Baseline(env.user_dim, env.item_dim)
        self.opt_pi = optim.Adam(self.policy.parameters(), lr=lr)
        self.opt_v = optim.Adam(self.baseline.parameters(), lr=2 * lr)
        self.stats = RunningStat()
        self.grad_norms = {}
        for name, p in self.policy.named_parameters():
            p.register_hook(lambda g, name=name: self.grad_norms.__setitem__(name, g.norm().item()))

    def rollouts(self, n):
        for _ in range(n):
            users, items = map(torch.from_numpy, self.env.reset(self.batch))
            actions, logp, ent = self.policy(users, items, self.env.slate_size)
            rewards = torch.as_tensor(self.env.step(actions.numpy()), dtype=torch.float32)
            self.stats.push(rewards.tolist())
            yield Transition(users, items, actions, logp, ent, rewards)

    def update(self, tr):
        value = self.baseline(tr.users, tr.items)
        adv = tr.rewards - value.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        loss_pi = -(adv[:, None] * tr.log_probs).sum(1).mean() - self.ent_coef * tr.entropies.mean()
        loss_v = nn.functional.smooth_l1_loss(value, tr.rewards)
        for opt, loss in ((self.opt_pi, loss_pi), (self.opt_v, loss_v)):
            opt.zero_grad()
            loss.backward()
            opt.step()
        ev = 1 - (tr.rewards - value.detach()).var() / tr.rewards.var()
        return loss_pi.item(), loss_v.item(), ev.item()

    def evaluate(self, batch=64):
        users, items = self.env.reset(batch)
        with self.policy.evaluating() as pi:
            actions, _, _ = pi(torch.from_numpy(users), torch.from_numpy(items), self.env.slate_size, greedy=True)
        assert all(len(set(row)) == self.env.slate_size for row in actions.tolist())
        rand = np.argsort(self.env.rng.rand(batch, self.env.n_items), axis=1)[:, : self.env.slate_size]
        return {"policy": self.env.step(actions.numpy()).mean(),
                "random": self.env.step(rand).mean(),
                "greedy": self.env.step(self.env.greedy_oracle()).mean()}


def main():
    torch.manual_seed(11)
    agent = Agent(SlateEnv())
    best, snap = -np.inf, None
    for it, tr in enumerate(agent.rollouts(3)):
        lp, lv, ev = agent.update(tr)
        worst = max(agent.grad_norms, key=agent.grad_norms.get)
        print("iter %d reward %.3f pi %.3f v %.3f expl.var %.3f biggest grad %s"
              % (it, tr.rewards.mean(), lp, lv, ev, worst))
        if tr.rewards.mean() > best:
            best, snap = tr.rewards.mean().item(), agent.policy.snapshot()
    agent.policy.restore(snap)
    print("running reward %.3f +- %.3f" % (agent.stats.mean, agent.stats.std))
    for k, v in agent.evaluate().items():
        print("%-8s %.4f" % (k, v))


if __name__ == "__main__":
    main()
