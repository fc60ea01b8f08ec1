import random
import math
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

# ---------------- settings ----------------
GRID = 6
N_STATE_CHANNELS = 3
N_ACTIONS = 4
BATCH_SIZE = 32
GAMMA = 0.97
N_STEP = 3
EPS_START = 1.0
EPS_END = 0.05
EPS_DECAY = 200
TAU = 0.01
LR = 5e-4
CAPACITY = 512
LEARN_START = 64
MAX_UPDATES = 4
MAX_EPISODES = 20
MAX_STEPS = 40

random.seed(0)
torch.manual_seed(0)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "done"))


class GridWorld:
    """The agent has to fetch the goal and must not step into a pit."""

    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, size=GRID, n_pits=4):
        self.size = size
        self.n_pits = n_pits

    def reset(self):
        cells = [(r, c) for r in range(self.size) for c in range(self.size)]
        picked = random.sample(cells, self.n_pits + 2)
        self.agent, self.goal = picked[0], picked[1]
        self.pits = set(picked[2:])
        self.t = 0
        return self.observe()

    def observe(self):
        obs = np.zeros((N_STATE_CHANNELS, self.size, self.size), dtype=np.float32)
        obs[0][self.agent] = 1
        obs[1][self.goal] = 1
        for pit in self.pits:
            obs[2][pit] = 1
        return obs

    def step(self, action):
        dr, dc = self.moves[action]
        r = min(max(self.agent[0] + dr, 0), self.size - 1)
        c = min(max(self.agent[1] + dc, 0), self.size - 1)
        self.agent = (r, c)
        self.t += 1
        if self.agent == self.goal:
            return self.observe(), 1.0, True
        if self.agent in self.pits:
            return self.observe(), -1.0, True
        return self.observe(), -0.02, self.t >= MAX_STEPS


class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity
        self.tree = np.zeros(2 * capacity - 1)
        self.data = [None] * capacity
        self.write = 0
        self.n_entries = 0

    def _propagate(self, idx, change):
        parent = (idx - 1) // 2
        self.tree[parent] += change
        if parent != 0:
            self._propagate(parent, change)

    def _retrieve(self, idx, s):
        left = 2 * idx + 1
        right = left + 1
        if left >= len(self.tree):
            return idx
        if s <= self.tree[left] or self.tree[right] == 0:
            return self._retrieve(left, s)
        return self._retrieve(right, s - self.tree[left])

    def total(self):
        return self.tree[0]

    def add(self, p, data):
        idx = self.write + self.capacity - 1
        self.data[self.write] = data
        self.update(idx, p)
        self.write = (self.write + 1) % self.capacity
        self.n_entries = min(self.n_entries + 1, self.capacity)

    def update(self, idx, p):
        change = p - self.tree[idx]
        self.tree[idx] = p
        self._propagate(idx, change)

    def get(self, s):
        idx = self._retrieve(0, s)
        return idx, self.tree[idx], self.data[idx - self.capacity + 1]


class PrioritizedReplay:
    e = 0.01
    a = 0.6
    beta = 0.4
    beta_increment = 0.001

    def __init__(self, capacity):
        self.tree = SumTree(capacity)
        self.max_priority = 1.0

    def __len__(self):
        return self.tree.n_entries

    def push(self, *args):
        self.tree.add(self.max_priority, Transition(*args))

    def sample(self, n):
        batch, idxs, priorities = [], [], []
        segment = self.tree.total() / n
        self.beta = min(1.0, self.beta + self.beta_increment)
        for i in range(n):
            s = random.uniform(segment * i, segment * (i + 1))
            idx, p, data = self.tree.get(s)
            batch.append(data)
            idxs.append(idx)
            priorities.append(p)
        probs = np.array(priorities) / self.tree.total()
        weights = np.power(len(self) * probs, -self.beta)
        weights /= weights.max()
        return Transition(*zip(*batch)), idxs, weights

    def update(self, idxs, errors):
        for idx, err in zip(idxs, errors):
            p = (abs(err) + self.e) ** self.a
            self.max_priority = max(self.max_priority, p)
            self.tree.update(idx, p)


class NoisyLinear(nn.Module):
    def __init__(self, in_features, out_features, std_init=0.5):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.std_init = std_init
        self.weight_mu = nn.Parameter(torch.empty(out_features, in_features))
        self.weight_sigma = nn.Parameter(torch.empty(out_features, in_features))
        self.register_buffer("weight_epsilon", torch.empty(out_features, in_features))
        self.bias_mu = nn.Parameter(torch.empty(out_features))
        self.bias_sigma = nn.Parameter(torch.empty(out_features))
        self.register_buffer("bias_epsilon", torch.empty(out_features))
        self.reset_parameters()
        self.reset_noise()

    def reset_parameters(self):
        mu_range = 1 / math.sqrt(self.in_features)
        self.weight_mu.data.uniform_(-mu_range, mu_range)
        self.weight_sigma.data.fill_(self.std_init / math.sqrt(self.in_features))
        self.bias_mu.data.uniform_(-mu_range, mu_range)
        self.bias_sigma.data.fill_(self.std_init / math.sqrt(self.out_features))

    @staticmethod
    def scale_noise(size):
        x = torch.randn(size)
        return x.sign().mul(x.abs().sqrt())

    def reset_noise(self):
        epsilon_in = self.scale_noise(self.in_features)
        epsilon_out = self.scale_noise(self.out_features)
        self.weight_epsilon.copy_(epsilon_out.ger(epsilon_in))
        self.bias_epsilon.copy_(epsilon_out)

    def forward(self, x):
        if not self.training:
            return F.linear(x, self.weight_mu, self.bias_mu)
        return F.linear(x, self.weight_mu + self.weight_sigma * self.weight_epsilon,
                        self.bias_mu + self.bias_sigma * self.bias_epsilon)


class DuelingDQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(N_STATE_CHANNELS, 16, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3)
        flat = 32 * (GRID - 2) * (GRID - 2)
        self.value = nn.Sequential(nn.Linear(flat, 64), nn.ReLU(), NoisyLinear(64, 1))
        self.advantage = nn.Sequential(nn.Linear(flat, 64), nn.ReLU(), NoisyLinear(64, N_ACTIONS))

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = x.view(x.size(0), -1)
        v = self.value(x)
        a = self.advantage(x)
        return v + a - a.mean(dim=1, keepdim=True)

    def reset_noise(self):
        for m in self.modules():
            if isinstance(m, NoisyLinear):
                m.reset_noise()


policy_net = DuelingDQN().to(device)
target_net = DuelingDQN().to(device)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
memory = PrioritizedReplay(CAPACITY)
steps_done = 0


def select_action(state):
    global steps_done
    eps = EPS_END + (EPS_START - EPS_END) * math.exp(-1. * steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() < eps:
        return random.randrange(N_ACTIONS)
    with torch.no_grad():
        q = policy_net(torch.from_numpy(state).unsqueeze(0).to(device))
        return q.max(1)[1].item()


def optimize_model():
    batch, idxs, weights = memory.sample(BATCH_SIZE)
    states = torch.from_numpy(np.stack(batch.state)).to(device)
    next_states = torch.from_numpy(np.stack(batch.next_state)).to(device)
    actions = torch.tensor(batch.action, device=device).unsqueeze(1)
    rewards = torch.tensor(batch.reward, dtype=torch.float32, device=device)
    dones = torch.tensor(batch.done, dtype=torch.float32, device=device)
    weights = torch.as_tensor(weights, dtype=torch.float32, device=device)

    q = policy_net(states).gather(1, actions).squeeze(1)
    with torch.no_grad():
        # double DQN
        best = policy_net(next_states).argmax(dim=1, keepdim=True)
        q_next = target_net(next_states).gather(1, best).squeeze(1)
        target = rewards + (GAMMA ** N_STEP) * q_next * (1 - dones)
    td = target - q
    loss = (weights * F.smooth_l1_loss(q, target, reduction="none")).mean()

    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    memory.update(idxs, td.detach().cpu().numpy())
    policy_net.reset_noise()
    target_net.reset_noise()

    # soft update
    for tp, p in zip(target_net.parameters(), policy_net.parameters()):
        tp.data.copy_(TAU * p.data + (1 - TAU) * tp.data)
    return loss.item()


def push_n_step(window):
    ret = sum((GAMMA ** i) * tr.reward for i, tr in enumerate(window))
    memory.push(window[0].state, window[0].action, ret, window[-1].next_state, window[-1].done)


def main():
    env = GridWorld()
    updates = 0
    for episode in range(MAX_EPISODES):
        state = env.reset()
        window = deque(maxlen=N_STEP)
        score, done = 0, False
        while not done:
            action = select_action(state)
            next_state, reward, done = env.step(action)
            window.append(Transition(state, action, reward, next_state, done))
            if len(window) == N_STEP or done:
                push_n_step(window)
            state = next_state
            score += reward
            if len(memory) >= LEARN_START and updates < MAX_UPDATES:
                loss = optimize_model()
                updates += 1
                print("update %d loss %.4f" % (updates, loss))
        print("episode %d score %.2f memory %d" % (episode, score, len(memory)))
        if updates >= MAX_UPDATES:
            break


if __name__ == "__main__":
    main()
