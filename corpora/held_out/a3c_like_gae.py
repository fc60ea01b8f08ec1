"""
Synchronous A3C (several environments stepped together) with GAE, an LSTM policy and
entropy bonus.  The environment is a hand-written cart-pole.

$ python a3c_like_gae.py
"""
import contextlib
import json
import math
import time
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

CONFIG = json.loads("""
{
  "env": {"num_envs": 8, "max_steps": 200},
  "net": {"obs_dim": 4, "num_actions": 2, "hidden": 64, "lstm": 32},
  "algo": {
    "rollout": 16, "gamma": 0.99, "lam": 0.95, "vf_coef": 0.5, "ent_coef": 0.01,
    "lr": 0.0007, "max_grad_norm": 0.5, "updates": 3, "normalize_adv": true
  },
  "seed": 1
}
""")


class VecCartPole:
    """Vectorised CartPole-v1 in numpy; finished environments reset themselves."""

    gravity, masscart, masspole, length = 9.8, 1.0, 0.1, 0.5
    force_mag, tau = 10.0, 0.02
    theta_limit, x_limit = 12 * 2 * math.pi / 360, 2.4

    def __init__(self, num_envs, max_steps, seed):
        self.n = num_envs
        self.max_steps = max_steps
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros((num_envs, 4))
        self.steps = np.zeros(num_envs, dtype=int)
        self.returns = np.zeros(num_envs)
        self.finished = []

    def _fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, size=(k, 4))

    def reset(self):
        self.state = self._fresh(self.n)
        self.steps[:] = 0
        return self.state.astype(np.float32)

    def step(self, actions):
        x, x_dot, theta, theta_dot = self.state.T
        force = np.where(actions == 1, self.force_mag, -self.force_mag)
        cos, sin = np.cos(theta), np.sin(theta)
        total_mass = self.masscart + self.masspole
        pml = self.masspole * self.length
        temp = (force + pml * theta_dot ** 2 * sin) / total_mass
        theta_acc = (self.gravity * sin - cos * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * cos ** 2 / total_mass))
        x_acc = temp - pml * theta_acc * cos / total_mass
        self.state = np.stack([x + self.tau * x_dot, x_dot + self.tau * x_acc,
                               theta + self.tau * theta_dot, theta_dot + self.tau * theta_acc], axis=1)
        self.steps += 1
        self.returns += 1
        done = ((np.abs(self.state[:, 0]) > self.x_limit)
                | (np.abs(self.state[:, 2]) > self.theta_limit)
                | (self.steps >= self.max_steps))
        if done.any():
            self.finished.extend(self.returns[done].tolist())
            self.state[done] = self._fresh(done.sum())
            self.steps[done] = 0
            self.returns[done] = 0
        reward = np.ones(self.n, dtype=np.float32)
        return self.state.astype(np.float32), reward, done


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, num_actions, hidden, lstm):
        super().__init__()
        self.body = nn.Sequential(
            layer_init(nn.Linear(obs_dim, hidden)), nn.Tanh(),
            layer_init(nn.Linear(hidden, hidden)), nn.Tanh(),
        )
        self.rnn = nn.LSTMCell(hidden, lstm)
        self.actor = layer_init(nn.Linear(lstm, num_actions), std=0.01)
        self.critic = layer_init(nn.Linear(lstm, 1), std=1.0)

    def initial_state(self, batch, device):
        size = self.rnn.hidden_size
        return torch.zeros(batch, size, device=device), torch.zeros(batch, size, device=device)

    def forward(self, obs, state, not_done):
        # forget where the episode is over
        h, c = (s * not_done.unsqueeze(-1) for s in state)
        h, c = self.rnn(self.body(obs), (h, c))
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1), (h, c)


class Rollout(NamedTuple):
    log_probs: torch.Tensor
    entropies: torch.Tensor
    values: torch.Tensor
    rewards: torch.Tensor
    not_dones: torch.Tensor
    last_value: torch.Tensor


class Runner:
    def __init__(self, env, net, device, horizon):
        self.env, self.net, self.device, self.horizon = env, net, device, horizon
        self.obs = torch.from_numpy(env.reset()).to(device)
        self.state = net.initial_state(env.n, device)
        self.not_done = torch.ones(env.n, device=device)

    def collect(self):
        self.state = tuple(s.detach() for s in self.state)
        columns = {"log_probs": [], "entropies": [], "values": [], "rewards": [], "not_dones": []}
        for _ in range(self.horizon):
            dist, value, self.state = self.net(self.obs, self.state, self.not_done)
            action = dist.sample()
            obs, reward, done = self.env.step(action.cpu().numpy())
            self.obs = torch.from_numpy(obs).to(self.device)
            self.not_done = 1.0 - torch.from_numpy(done.astype(np.float32)).to(self.device)
            columns["log_probs"].append(dist.log_prob(action))
            columns["entropies"].append(dist.entropy())
            columns["values"].append(value)
            columns["rewards"].append(torch.from_numpy(reward).to(self.device))
            columns["not_dones"].append(self.not_done)
        with torch.no_grad():
            _, last_value, _ = self.net(self.obs, self.state, self.not_done)
        return Rollout(last_value=last_value, **{k: torch.stack(v) for k, v in columns.items()})


def compute_gae(rollout, gamma, lam):
    values = torch.cat([rollout.values.detach(), rollout.last_value.unsqueeze(0)])
    advantages = torch.zeros_like(rollout.rewards)
    gae = torch.zeros_like(rollout.last_value)
    for t in reversed(range(rollout.rewards.size(0))):
        nd = rollout.not_dones[t]
        delta = rollout.rewards[t] + gamma * values[t + 1] * nd - values[t]
        gae = delta + gamma * lam * nd * gae
        advantages[t] = gae
    return advantages, advantages + values[:-1]


def explained_variance(pred, target):
    var = target.var()
    return float("nan") if var == 0 else (1 - (target - pred).var() / var).item()


@contextlib.contextmanager
def stopwatch(label, store):
    begin = time.perf_counter()
    yield
    store[label] = store.get(label, 0.0) + time.perf_counter() - begin


def train(config):
    torch.manual_seed(config["seed"])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    algo = config["algo"]
    env = VecCartPole(**config["env"], seed=config["seed"])
    net = ActorCritic(**config["net"]).to(device)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=algo["lr"], alpha=0.99, eps=1e-5)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=algo["updates"])
    runner = Runner(env, net, device, algo["rollout"])
    timings = {}

    for update in range(algo["updates"]):
        with stopwatch("rollout", timings):
            rollout = runner.collect()
        with stopwatch("learn", timings):
            adv, returns = compute_gae(rollout, algo["gamma"], algo["lam"])
            if algo["normalize_adv"]:
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            policy_loss = -(rollout.log_probs * adv).mean()
            value_loss = (rollout.values - returns).pow(2).mean()
            entropy = rollout.entropies.mean()
            loss = policy_loss + algo["vf_coef"] * value_loss - algo["ent_coef"] * entropy
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(net.parameters(), algo["max_grad_norm"])
            optimizer.step()
            schedule.step()
        ev = explained_variance(rollout.values.detach().flatten(), returns.flatten())
        print(f"update {update}: pi {policy_loss.item():+.4f} v {value_loss.item():.3f} "
              f"H {entropy.item():.3f} ev {ev:.2f} |g| {norm:.2f} episodes {len(env.finished)}")
    print({k: round(v, 3) for k, v in timings.items()})
    return net, device


@torch.no_grad()
def play(net, device, config, episodes=2):
    env = VecCartPole(episodes, config["env"]["max_steps"], seed=99)
    obs = torch.from_numpy(env.reset()).to(device)
    state = net.initial_state(episodes, device)
    not_done = torch.ones(episodes, device=device)
    while len(env.finished) < episodes:
        dist, _, state = net(obs, state, not_done)
        obs, _, done = env.step(dist.probs.argmax(-1).cpu().numpy())
        obs = torch.from_numpy(obs).to(device)
        not_done = torch.from_numpy(~done).float().to(device)
    return float(np.mean(env.finished))


if __name__ == "__main__":
    net, device = train(CONFIG)
    print("greedy return: %.1f" % play(net, device, CONFIG))
