#!/usr/bin/env python3
"""Soft actor critic on a hand written pendulum swing up (no gym needed).

Twin Q, automatic entropy tuning, numpy replay buffer (with n-step returns, optional).
"""
import argparse
import abc
import copy
import random
from collections import deque, OrderedDict, defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

LOG_STD_MAX = 2
LOG_STD_MIN = -5


class Env(abc.ABC):
    @property
    @abc.abstractmethod
    def observation_dim(self):
        ...

    @property
    @abc.abstractmethod
    def action_dim(self):
        ...

    @abc.abstractmethod
    def reset(self):
        ...

    @abc.abstractmethod
    def step(self, action):
        ...


class PendulumEnv(Env):
    max_speed = 8.0
    max_torque = 2.0

    def __init__(self, seed=0, dt=0.05, horizon=50):
        self.rng = np.random.default_rng(seed)
        self.dt = dt
        self.horizon = horizon
        self.g, self.m, self.l = 10.0, 1.0, 1.0

    observation_dim = 3
    action_dim = 1

    def reset(self):
        self.state = self.rng.uniform(low=[-np.pi, -1.0], high=[np.pi, 1.0])
        self.t = 0
        return self._obs()

    def _obs(self):
        th, thdot = self.state
        return np.array([np.cos(th), np.sin(th), thdot], dtype=np.float32)

    def step(self, a):
        th, thdot = self.state
        u = float(np.clip(a, -1, 1)[0]) * self.max_torque
        angle = ((th + np.pi) % (2 * np.pi)) - np.pi
        cost = angle ** 2 + 0.1 * thdot ** 2 + 0.001 * u ** 2
        thdot = thdot + (3 * self.g / (2 * self.l) * np.sin(th) + 3.0 / (self.m * self.l ** 2) * u) * self.dt
        thdot = np.clip(thdot, -self.max_speed, self.max_speed)
        self.state = np.array([th + thdot * self.dt, thdot])
        self.t += 1
        return self._obs(), -cost, self.t >= self.horizon, {}


class NormalizeObs(Env):
    """wrapper, running mean/var"""

    def __init__(self, env):
        self.env = env
        self.mean = np.zeros(env.observation_dim)
        self.var = np.ones(env.observation_dim)
        self.count = 1e-4

    @property
    def observation_dim(self):
        return self.env.observation_dim

    @property
    def action_dim(self):
        return self.env.action_dim

    def _filt(self, o):
        delta = o - self.mean
        tot = self.count + 1
        self.mean = self.mean + delta / tot
        self.var = (self.var * self.count + delta ** 2 * self.count / tot) / tot
        self.count = tot
        return ((o - self.mean) / np.sqrt(self.var + 1e-8)).astype(np.float32)

    def reset(self):
        return self._filt(self.env.reset())

    def step(self, a):
        o, r, d, info = self.env.step(a)
        return self._filt(o), r, d, info


class ReplayBuffer(object):
    def __init__(self, obs_dim, act_dim, capacity, device, n_step=1, gamma=0.99):
        self.obs = np.empty((capacity, obs_dim), dtype=np.float32)
        self.next_obs = np.empty((capacity, obs_dim), dtype=np.float32)
        self.actions = np.empty((capacity, act_dim), dtype=np.float32)
        self.rewards = np.empty((capacity, 1), dtype=np.float32)
        self.not_dones = np.empty((capacity, 1), dtype=np.float32)
        self.capacity = capacity
        self.device = device
        self.idx, self.full = 0, False
        self.n_step, self.gamma = n_step, gamma
        self.queue = deque(maxlen=n_step)

    def __len__(self):
        return self.capacity if self.full else self.idx

    def add(self, obs, action, reward, next_obs, done):
        self.queue.append((obs, action, reward))
        if len(self.queue) < self.n_step:
            return
        R = sum(self.gamma ** i * q[2] for i, q in enumerate(self.queue))
        o, a, _ = self.queue[0]
        np.copyto(self.obs[self.idx], o)
        np.copyto(self.actions[self.idx], a)
        np.copyto(self.rewards[self.idx], R)
        np.copyto(self.next_obs[self.idx], next_obs)
        np.copyto(self.not_dones[self.idx], not done)
        self.idx = (self.idx + 1) % self.capacity
        self.full = self.full or self.idx == 0
        if done:
            self.queue.clear()

    def sample(self, batch_size):
        idxs = np.random.randint(0, len(self), size=batch_size)
        bufs = (self.obs, self.actions, self.rewards, self.next_obs, self.not_dones)
        return tuple(torch.as_tensor(buf[idxs], device=self.device) for buf in bufs)


def mlp(input_dim, hidden_dim, output_dim, hidden_depth, output_mod=None):
    mods = [nn.Linear(input_dim, output_dim)]
    if hidden_depth > 0:
        mods = [nn.Linear(input_dim, hidden_dim), nn.ReLU(inplace=True)]
        for i in range(hidden_depth - 1):
            mods += [nn.Linear(hidden_dim, hidden_dim), nn.ReLU(inplace=True)]
        mods.append(nn.Linear(hidden_dim, output_dim))
    if output_mod is not None:
        mods.append(output_mod)
    return nn.Sequential(*mods)


def weight_init(m):
    if isinstance(m, nn.Linear):
        nn.init.orthogonal_(m.weight.data)
        if hasattr(m.bias, 'data'):
            m.bias.data.fill_(0.0)


class DiagGaussianActor(nn.Module):
    def __init__(self, obs_dim, action_dim, hidden_dim, hidden_depth):
        super().__init__()
        self.trunk = mlp(obs_dim, hidden_dim, 2 * action_dim, hidden_depth)
        self.outputs = dict()
        self.apply(weight_init)

    def forward(self, obs):
        mu, log_std = self.trunk(obs).chunk(2, dim=-1)
        log_std = torch.tanh(log_std)
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        self.outputs['mu'], self.outputs['std'] = mu, log_std.exp()
        return Normal(mu, self.outputs['std'])

    def sample(self, obs):
        dist = self(obs)
        x_t = dist.rsample()
        y_t = torch.tanh(x_t)
        log_prob = dist.log_prob(x_t)
        log_prob -= torch.log(1 - y_t.pow(2) + 1e-6)
        log_prob = log_prob.sum(-1, keepdim=True)
        return y_t, log_prob, torch.tanh(dist.mean)


class DoubleQCritic(nn.Module):
    def __init__(self, obs_dim, action_dim, hidden_dim, hidden_depth):
        super().__init__()
        self.Q1 = mlp(obs_dim + action_dim, hidden_dim, 1, hidden_depth)
        self.Q2 = mlp(obs_dim + action_dim, hidden_dim, 1, hidden_depth)
        self.apply(weight_init)

    def forward(self, obs, action):
        assert obs.size(0) == action.size(0)
        obs_action = torch.cat([obs, action], dim=-1)
        return self.Q1(obs_action), self.Q2(obs_action)


class SACAgent:
    def __init__(self, obs_dim, action_dim, args):
        self.args = args
        self.device = torch.device(args.device)
        self.actor = DiagGaussianActor(obs_dim, action_dim, args.hidden, 2).to(self.device)
        self.critic = DoubleQCritic(obs_dim, action_dim, args.hidden, 2).to(self.device)
        self.critic_target = copy.deepcopy(self.critic)
        for p in self.critic_target.parameters():
            p.requires_grad = False
        self.log_alpha = torch.tensor(np.log(args.init_temperature), dtype=torch.float32, device=self.device)
        self.log_alpha.requires_grad = True
        self.target_entropy = -action_dim
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=args.lr)
        self.log_alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=args.lr)

    @property
    def alpha(self):
        return self.log_alpha.exp()

    def act(self, obs, sample=False):
        obs = torch.FloatTensor(obs).to(self.device).unsqueeze(0)
        with torch.no_grad():
            a, _, mean = self.actor.sample(obs)
        action = a if sample else mean
        assert action.ndim == 2 and action.shape[0] == 1
        return action.cpu().numpy()[0]

    def update_critic(self, obs, action, reward, next_obs, not_done):
        with torch.no_grad():
            next_action, log_prob, _ = self.actor.sample(next_obs)
            target_Q1, target_Q2 = self.critic_target(next_obs, next_action)
            target_V = torch.min(target_Q1, target_Q2) - self.alpha.detach() * log_prob
            target_Q = reward + (not_done * self.args.gamma ** self.args.n_step * target_V)
        current_Q1, current_Q2 = self.critic(obs, action)
        critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        return critic_loss.item()

    def update_actor_and_alpha(self, obs):
        action, log_prob, _ = self.actor.sample(obs)
        actor_Q = torch.min(*self.critic(obs, action))
        actor_loss = (self.alpha.detach() * log_prob - actor_Q).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        self.log_alpha_optimizer.zero_grad()
        alpha_loss = (self.alpha * (-log_prob - self.target_entropy).detach()).mean()
        alpha_loss.backward()
        self.log_alpha_optimizer.step()
        return actor_loss.item(), alpha_loss.item(), -log_prob.mean().item()

    def update(self, replay_buffer, step):
        batch = replay_buffer.sample(self.args.batch_size)
        info = OrderedDict()
        info['critic_loss'] = self.update_critic(*batch)
        if step % self.args.actor_update_freq == 0:
            info['actor_loss'], info['alpha_loss'], info['entropy'] = self.update_actor_and_alpha(batch[0])
        if step % self.args.target_update_freq == 0:
            with torch.no_grad():
                for p, tp in zip(self.critic.parameters(), self.critic_target.parameters()):
                    tp.data.copy_(self.args.tau * p.data + (1 - self.args.tau) * tp.data)
        return info


def evaluate(env, agent, episodes=1):
    returns = []
    for _ in range(episodes):
        obs, done, ret = env.reset(), False, 0.
        while not done:
            obs, r, done, _ = env.step(agent.act(obs, sample=False))
            ret += r
        returns.append(ret)
    return np.mean(returns), np.std(returns)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--hidden', type=int, default=32)
    p.add_argument('--batch-size', type=int, default=24)
    p.add_argument('--lr', type=float, default=3e-4)
    p.add_argument('--gamma', type=float, default=0.99)
    p.add_argument('--tau', type=float, default=0.005)
    p.add_argument('--n-step', type=int, default=2)
    p.add_argument('--init-temperature', type=float, default=0.1)
    p.add_argument('--actor-update-freq', type=int, default=1); p.add_argument('--target-update-freq', type=int, default=2)
    p.add_argument('--seed-steps', type=int, default=60)
    p.add_argument('--steps', type=int, default=64)
    p.add_argument('--device', default='cpu')
    return p.parse_args()


if __name__ == '__main__':
    args = get_args()
    torch.manual_seed(args.seed); np.random.seed(args.seed); random.seed(args.seed)
    env = NormalizeObs(PendulumEnv(args.seed))
    agent = SACAgent(env.observation_dim, env.action_dim, args)
    buffer = ReplayBuffer(env.observation_dim, env.action_dim, 1000, args.device, args.n_step, args.gamma)
    obs, ep_ret = env.reset(), 0
    stats = defaultdict(list)
    for step in range(args.steps):
        action = np.random.uniform(-1, 1, env.action_dim) if step < args.seed_steps else agent.act(obs, True)
        next_obs, reward, done, _ = env.step(action)
        ep_ret += reward
        buffer.add(obs, action, reward, next_obs, done)
        obs = next_obs
        if done:
            print('step %d episode return %.2f' % (step, ep_ret))
            obs, ep_ret = env.reset(), 0
        if step >= args.seed_steps:
            for k, v in agent.update(buffer, step).items():
                stats[k].append(v)
    print({k: round(float(np.mean(v)), 4) for k, v in stats.items()}, 'buffer', len(buffer))
    print('eval: %.2f +- %.2f' % evaluate(env, agent, 2))
