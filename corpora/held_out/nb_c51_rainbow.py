# coding: utf-8
# In[1]:
# Rainbow-ish DQN: dueling + double + C51 + noisy layers + prioritized replay + n-step
import math
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0); np.random.seed(0); torch.manual_seed(0)

# In[2]:
GRID = 6
N_ACTIONS = 4
OBS_C = 3
V_MIN, V_MAX = -3.0, 2.0
N_ATOMS = 21
GAMMA = 0.97
N_STEP = 3
BATCH = 24
CAPACITY = 700
WARMUP = 90
TOTAL_FRAMES = 330
TRAIN_EVERY = 3
TARGET_EVERY = 60
LR = 8e-4
PRIO_ALPHA = 0.6
BETA_START = 0.4
HIDDEN = 52

support = torch.linspace(V_MIN, V_MAX, N_ATOMS)
delta_z = (V_MAX - V_MIN) / (N_ATOMS - 1)
print(support.shape, delta_z)

# In[3]:

class GridWorld:
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def reset(self):
        self.agent = [random.randrange(GRID), random.randrange(GRID)]
        self.goal = [random.randrange(GRID), random.randrange(GRID)]
        self.trap = [random.randrange(GRID), random.randrange(GRID)]
        self.t = 0
        return self._obs()

    def _obs(self):
        o = np.zeros((OBS_C, GRID, GRID), dtype=np.float32)
        for c, pos in enumerate((self.agent, self.goal, self.trap)):
            o[c, pos[0], pos[1]] = 1
        return o

    def step(self, a):
        dy, dx = self.moves[a]
        self.agent[0] = min(max(self.agent[0] + dy, 0), GRID - 1)
        self.agent[1] = min(max(self.agent[1] + dx, 0), GRID - 1)
        self.t += 1
        if self.agent == self.goal:
            return self._obs(), 1.0, True
        r = -0.05
        if self.agent == self.trap:
            r = -0.5
        return self._obs(), r, self.t >= 25

env = GridWorld()
s = env.reset()
print(s.shape)

# In[4]:

class NoisyLinear(nn.Module):
    def __init__(self, in_features, out_features, std_init=0.4):
        super(NoisyLinear, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight_mu = nn.Parameter(torch.empty(out_features, in_features))
        self.weight_sigma = nn.Parameter(torch.empty(out_features, in_features))
        self.register_buffer('weight_epsilon', torch.zeros(out_features, in_features))
        self.bias_mu = nn.Parameter(torch.empty(out_features))
        self.bias_sigma = nn.Parameter(torch.empty(out_features))
        self.register_buffer('bias_epsilon', torch.zeros(out_features))
        mu_range = 1. / math.sqrt(in_features)
        self.weight_mu.data.uniform_(-mu_range, mu_range)
        self.weight_sigma.data.fill_(std_init / math.sqrt(in_features))
        self.bias_mu.data.uniform_(-mu_range, mu_range)
        self.bias_sigma.data.fill_(std_init / math.sqrt(out_features))
        self.reset_noise()

    @staticmethod
    def _scale(size):
        x = torch.randn(size)
        return x.sign().mul(x.abs().sqrt())

    def reset_noise(self):
        eps_in = self._scale(self.in_features)
        eps_out = self._scale(self.out_features)
        self.weight_epsilon.copy_(eps_out.ger(eps_in))
        self.bias_epsilon.copy_(eps_out)

    def forward(self, x):
        if self.training:
            return F.linear(x, self.weight_mu + self.weight_sigma * self.weight_epsilon,
                            self.bias_mu + self.bias_sigma * self.bias_epsilon)
        return F.linear(x, self.weight_mu, self.bias_mu)

class RainbowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(OBS_C, 10, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(10, 14, 3, stride=2, padding=1), nn.ReLU())
        with torch.no_grad():
            self.feat = self.conv(torch.zeros(1, OBS_C, GRID, GRID)).view(1, -1).size(1)
        self.v1 = NoisyLinear(self.feat, HIDDEN)
        self.v2 = NoisyLinear(HIDDEN, N_ATOMS)
        self.a1 = NoisyLinear(self.feat, HIDDEN)
        self.a2 = NoisyLinear(HIDDEN, N_ACTIONS * N_ATOMS)

    def forward(self, x, log=False):
        h = self.conv(x)
        h = h.view(h.size(0), -1)
        v = self.v2(F.relu(self.v1(h))).view(-1, 1, N_ATOMS)
        a = self.a2(F.relu(self.a1(h))).view(-1, N_ACTIONS, N_ATOMS)
        q = v + a - a.mean(1, keepdim=True)
        return F.log_softmax(q, dim=2) if log else F.softmax(q, dim=2)

    def reset_noise(self):
        for name, module in self.named_children():
            if isinstance(module, NoisyLinear):
                module.reset_noise()

online = RainbowNet()
target = RainbowNet()
target.load_state_dict(online.state_dict())
for p in target.parameters():
    p.requires_grad = False
print(online.feat, online(torch.from_numpy(s)[None]).shape)

# In[5]:

class PrioritizedBuffer:
    def __init__(self):
        self.buf = []
        self.pos = 0
        self.prios = np.zeros(CAPACITY, dtype=np.float32)

    def push(self, *tr):
        mx = self.prios.max() if self.buf else 1.0
        if len(self.buf) < CAPACITY:
            self.buf.append(tr)
        else:
            self.buf[self.pos] = tr
        self.prios[self.pos] = mx
        self.pos = (self.pos + 1) % CAPACITY

    def sample(self, n, beta):
        pr = self.prios[:len(self.buf)] ** PRIO_ALPHA
        pr = pr / pr.sum()
        idx = np.random.choice(len(self.buf), n, p=pr)
        w = (len(self.buf) * pr[idx]) ** (-beta)
        w = w / w.max()
        s, a, r, s2, d = zip(*[self.buf[i] for i in idx])
        return (idx, torch.tensor(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.tensor(np.stack(s2)), torch.tensor(d, dtype=torch.float32),
                torch.tensor(w, dtype=torch.float32))

    def update(self, idx, prios):
        for i, p in zip(idx, prios):
            self.prios[i] = p + 1e-5

memory = PrioritizedBuffer()

# In[6]:

@torch.no_grad()
def act(state):
    dist = online(torch.from_numpy(state).unsqueeze(0))
    q = (dist * support).sum(2)
    return q.max(1)[1].item()

def learn(beta):
    idx, s, a, r, s2, d, w = memory.sample(BATCH, beta)
    log_ps = online(s, log=True)
    log_ps_a = log_ps[range(BATCH), a]
    with torch.no_grad():
        pns = online(s2)
        argmax_ns = (support.expand_as(pns) * pns).sum(2).argmax(1)
        target.reset_noise()
        pns_a = target(s2)[range(BATCH), argmax_ns]
        Tz = r.unsqueeze(1) + (1 - d).unsqueeze(1) * (GAMMA ** N_STEP) * support.unsqueeze(0)
        Tz = Tz.clamp(min=V_MIN, max=V_MAX)
        b = (Tz - V_MIN) / delta_z
        l, u = b.floor().long(), b.ceil().long()
        l[(u > 0) * (l == u)] -= 1
        u[(l < (N_ATOMS - 1)) * (l == u)] += 1
        m = torch.zeros(BATCH, N_ATOMS)
        offset = torch.linspace(0, (BATCH - 1) * N_ATOMS, BATCH).unsqueeze(1).expand(BATCH, N_ATOMS).long()
        m.view(-1).index_add_(0, (l + offset).view(-1), (pns_a * (u.float() - b)).view(-1))
        m.view(-1).index_add_(0, (u + offset).view(-1), (pns_a * (b - l.float())).view(-1))
    loss = -torch.sum(m * log_ps_a, 1)
    optimizer.zero_grad()
    (w * loss).mean().backward()
    nn.utils.clip_grad_norm_(online.parameters(), 10.0)
    optimizer.step()
    memory.update(idx, loss.detach().numpy())
    return loss.mean().item(), m

# In[7]:
optimizer = torch.optim.Adam(online.parameters(), lr=LR, eps=1.5e-4)
nstep = deque(maxlen=N_STEP)
state, ep_r, returns, losses = env.reset(), 0.0, [], []
action_log = []
for frame in range(1, TOTAL_FRAMES + 1):
    if frame % TRAIN_EVERY == 0:
        online.reset_noise()
    action = act(state) if frame > WARMUP else random.randrange(N_ACTIONS)
    action_log.append(action)
    nxt, rew, done = env.step(action)
    nstep.append((state, action, rew))
    if len(nstep) == N_STEP or done:
        R = sum((GAMMA ** i) * tr[2] for i, tr in enumerate(nstep))
        memory.push(nstep[0][0], nstep[0][1], R, nxt, done)
    state = nxt
    ep_r += rew
    if done:
        returns.append(ep_r)
        state, ep_r = env.reset(), 0.0
        nstep.clear()
    if frame > WARMUP and frame % TRAIN_EVERY == 0:
        beta = min(1.0, BETA_START + frame * (1 - BETA_START) / TOTAL_FRAMES)
        lo, m = learn(beta)
        losses.append(lo)
    if frame % TARGET_EVERY == 0:
        target.load_state_dict(online.state_dict())
        if losses:
            print(frame, 'loss', np.mean(losses[-10:]), 'ret', np.mean(returns[-10:]))

# In[8]:
print('projected mass', m.sum(1)[:5])
print('action hist', torch.bincount(torch.tensor(action_log), minlength=N_ACTIONS))
online.eval()
with torch.no_grad():
    d = online(torch.from_numpy(env.reset())[None])
    q = (d * support).sum(-1)
    ent = -(d * d.clamp_min(1e-8).log()).sum(-1)
    cdf = d.cumsum(-1)
print('q', q, 'entropy', ent)
print(cdf.shape, 'median atom', support[(cdf >= 0.5).float().argmax(-1)])
