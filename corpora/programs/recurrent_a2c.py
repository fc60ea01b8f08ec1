# Recurrent A2C with GAE on a grid world written here (keys and doors).
import collections
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
import torch.nn.functional as F
from torch.distributions import Categorical

GRID = 7
NUM_ACTIONS = 5
NUM_ENVS = 4
NUM_STEPS = 6
HIDDEN = 30
GAMMA, LAMBDA = 0.99, 0.95

Rollout = collections.namedtuple('Rollout', 'obs inventory actions log_probs values rewards masks')


class GridWorld:
    MOVES = {0: (0, 1), 1: (1, 0), 2: (0, -1), 3: (-1, 0)}

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        cells = self.rng.permutation(GRID * GRID)[:3]
        self.agent, self.key, self.door = [np.array(divmod(int(c), GRID)) for c in cells]
        self.has_key = False
        self.t = 0
        return self.observe()

    def observe(self):
        planes = np.zeros((3, GRID, GRID), dtype=np.float32)
        planes[0, self.agent[0], self.agent[1]] = 1.
        if not self.has_key:
            planes[1, self.key[0], self.key[1]] = 1.
        planes[2, self.door[0], self.door[1]] = 1.
        return planes, np.array([float(self.has_key), self.t / 20.], dtype=np.float32)

    def step(self, action):
        self.t += 1
        reward, done = -0.01, False
        if action in self.MOVES:
            self.agent = np.clip(self.agent + self.MOVES[action], 0, GRID - 1)
        elif (self.agent == self.key).all() and not self.has_key:
            self.has_key, reward = True, 0.5
        elif (self.agent == self.door).all() and self.has_key:
            reward, done = 1.0, True
        done = done or self.t >= 20
        obs = self.reset() if done else self.observe()
        return obs, reward, done


class VecEnv:
    def __init__(self, n):
        self.envs = [GridWorld(seed=i) for i in range(n)]

    def reset(self):
        return self._pack([env.reset() for env in self.envs])

    def step(self, actions):
        results = [env.step(int(a)) for env, a in zip(self.envs, actions)]
        obs, rewards, dones = zip(*results)
        return self._pack(obs), torch.tensor(rewards), torch.tensor(dones, dtype=torch.float32)

    @staticmethod
    def _pack(obs):
        planes, inv = zip(*obs)
        return torch.from_numpy(np.stack(planes)), torch.from_numpy(np.stack(inv))


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Policy(nn.Module):
    def __init__(self, num_inventory=2):
        super().__init__()
        self.conv = nn.Sequential(
            layer_init(nn.Conv2d(3, 8, 3)), nn.ReLU(),
            layer_init(nn.Conv2d(8, 16, 3)), nn.ReLU(),
            nn.Flatten(),
        )
        flat = 16 * (GRID - 4) ** 2
        self.fc = layer_init(nn.Linear(flat + num_inventory, HIDDEN))
        self.rnn = nn.GRUCell(HIDDEN, HIDDEN)
        self.actor = layer_init(nn.Linear(HIDDEN, NUM_ACTIONS), std=0.01)
        self.critic = layer_init(nn.Linear(HIDDEN, 1), std=1)

    def forward(self, obs, inventory, h):
        x = torch.cat([self.conv(obs), inventory], dim=1)
        x = F.relu(self.fc(x))
        h = self.rnn(x, h)
        return self.actor(h), self.critic(h).squeeze(-1), h

    @torch.no_grad()
    def act(self, obs, inventory, h):
        logits, value, h = self(obs, inventory, h)
        dist = Categorical(logits=logits)
        action = dist.sample()
        return action, dist.log_prob(action), value, h


def collect(env, policy, obs, inv, h, mask):
    storage = {k: [] for k in Rollout._fields}
    for _ in range(NUM_STEPS):
        h = h * mask.unsqueeze(1)
        action, log_prob, value, next_h = policy.act(obs, inv, h)
        (next_obs, next_inv), reward, done = env.step(action.numpy())
        for k, v in zip(Rollout._fields, (obs, inv, action, log_prob, value, reward, mask)):
            storage[k].append(v)
        obs, inv, h, mask = next_obs, next_inv, next_h, 1.0 - done
    rollout = Rollout(**{k: torch.stack(v) for k, v in storage.items()})
    return rollout, obs, inv, h, mask


def gae(rollout, last_value, last_mask):
    advantages = torch.zeros_like(rollout.rewards)
    adv = torch.zeros(NUM_ENVS)
    for t in reversed(range(NUM_STEPS)):
        next_value = last_value if t == NUM_STEPS - 1 else rollout.values[t + 1]
        next_mask = last_mask if t == NUM_STEPS - 1 else rollout.masks[t + 1]
        delta = rollout.rewards[t] + GAMMA * next_value * next_mask - rollout.values[t]
        adv = delta + GAMMA * LAMBDA * next_mask * adv
        advantages[t] = adv
    return advantages, advantages + rollout.values


def main():
    torch.manual_seed(0)
    env = VecEnv(NUM_ENVS)
    policy = Policy()
    optimizer = optim.RMSprop(policy.parameters(), lr=7e-4, eps=1e-5, alpha=0.99)
    obs, inv = env.reset()
    h, mask = torch.zeros(NUM_ENVS, HIDDEN), torch.ones(NUM_ENVS)
    episode_rewards = collections.deque(maxlen=10)
    for update in range(3):
        h0 = h.clone()
        rollout, obs, inv, h, mask = collect(env, policy, obs, inv, h, mask)
        with torch.no_grad():
            _, last_value, _ = policy(obs, inv, h * mask.unsqueeze(1))
        advantages, returns = gae(rollout, last_value, mask)
        hidden, logits, values = h0, [], []
        for t in range(NUM_STEPS):
            hidden = hidden * rollout.masks[t].unsqueeze(1)
            logit, value, hidden = policy(rollout.obs[t], rollout.inventory[t], hidden)
            logits.append(logit)
            values.append(value)
        logits = torch.stack(logits).view(NUM_STEPS * NUM_ENVS, -1)
        values = torch.stack(values).view(-1)
        dist = Categorical(logits=logits)
        adv = advantages.view(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        policy_loss = -(dist.log_prob(rollout.actions.view(-1)) * adv).mean()
        value_loss = 0.5 * (returns.view(-1) - values).pow(2).mean()
        entropy = dist.entropy().mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
        episode_rewards.append(rollout.rewards.sum(0).mean().item())
        explained_var = 1 - (returns.view(-1) - values.detach()).var() / (returns.var() + 1e-8)
        print(update, np.mean(episode_rewards), float(entropy), float(explained_var))


if __name__ == "__main__":
    main()
