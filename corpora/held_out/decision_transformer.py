"""
Offline RL as sequence modelling: Decision Transformer on a 1-D "reach the goal"
task. Data = random-policy rollouts.  Loosely follows kzl/decision-transformer.
"""
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

cfg = SimpleNamespace(
    state_dim=5, act_dim=3, context=8, max_ep_len=26,
    n_layer=2, n_head=3, n_embd=39, dropout=0.1,
    batch_size=18, iters=45, lr=3e-3, warmup=8, rtg_scale=10.0, n_episodes=60,
)


class PointEnv:
    actions = np.array([-1.0, 0.0, 1.0])

    def __init__(self, seed=None):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v = self.rng.uniform(-2, 2), 0.0
        self.goal = self.rng.uniform(-3, 3)
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.array([self.x, self.v, self.goal, self.goal - self.x, self.t / cfg.max_ep_len],
                        dtype=np.float32)

    def step(self, a):
        self.v = 0.7 * self.v + 0.3 * self.actions[a]
        self.x += self.v
        self.t += 1
        reward = float(np.exp(-abs(self.goal - self.x)))
        done = self.t >= cfg.max_ep_len or abs(self.x) > 6
        return self._obs(), reward, done, {}


def discount_cumsum(x, gamma):
    out = np.zeros_like(x)
    out[-1] = x[-1]
    for t in reversed(range(x.shape[0] - 1)):
        out[t] = x[t] + gamma * out[t + 1]
    return out


def collect(n):
    env, paths = PointEnv(0), []
    for ep in range(n):
        obs, done = env.reset(), False
        path = {"observations": [], "actions": [], "rewards": []}
        skill = env.rng.uniform()
        while not done:
            if env.rng.uniform() < skill:
                a = 1 + int(np.sign(np.round(env.goal - env.x - 2 * env.v)))
            else:
                a = int(env.rng.integers(3))
            nxt, r, done, _ = env.step(a)
            for k, v in zip(path, (obs, a, r)):
                path[k].append(v)
            obs = nxt
        paths.append({k: np.array(v) for k, v in path.items()})
    return paths


def get_batch_fn(paths):
    states = np.concatenate([p["observations"] for p in paths])
    mean, std = states.mean(0), states.std(0) + 1e-6
    lens = np.array([len(p["actions"]) for p in paths])
    p_sample = lens / lens.sum()
    K = cfg.context

    def get_batch(bs):
        s, a, rtg, ts, mask = [], [], [], [], []
        for i in np.random.choice(len(paths), size=bs, p=p_sample):
            traj = paths[i]
            si = np.random.randint(0, len(traj["rewards"]))
            chunk = slice(si, si + K)
            obs = (traj["observations"][chunk] - mean) / std
            tlen = obs.shape[0]
            s.append(np.concatenate([np.zeros((K - tlen, cfg.state_dim)), obs]))
            a.append(np.concatenate([np.full(K - tlen, -10), traj["actions"][chunk]]))
            g = discount_cumsum(traj["rewards"][si:], 1.0)[:tlen] / cfg.rtg_scale
            rtg.append(np.concatenate([np.zeros(K - tlen), g])[:, None])
            ts.append(np.concatenate([np.zeros(K - tlen), np.arange(si, si + tlen)]))
            mask.append(np.concatenate([np.zeros(K - tlen), np.ones(tlen)]))
        f = lambda x, dt: torch.from_numpy(np.stack(x)).to(dtype=dt)
        return f(s, torch.float32), f(a, torch.long), f(rtg, torch.float32), f(ts, torch.long), f(mask, torch.bool)

    return get_batch, mean, std


class CausalSelfAttention(nn.Module):
    def __init__(self, c, n_tokens):
        super().__init__()
        assert c.n_embd % c.n_head == 0
        self.c_attn = nn.Linear(c.n_embd, 3 * c.n_embd)
        self.c_proj = nn.Linear(c.n_embd, c.n_embd)
        self.drop = nn.Dropout(c.dropout)
        self.n_head = c.n_head
        self.register_buffer("bias", torch.tril(torch.ones(n_tokens, n_tokens)).view(1, 1, n_tokens, n_tokens))

    def forward(self, x, pad_mask):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (k.size(-1) ** -0.5)
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, torch.finfo(att.dtype).min)
        att = att.masked_fill(~pad_mask[:, None, None, :], torch.finfo(att.dtype).min)
        att = self.drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, c, n_tokens):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(c.n_embd), nn.LayerNorm(c.n_embd)
        self.attn = CausalSelfAttention(c, n_tokens)
        self.mlp = nn.ModuleDict(dict(
            c_fc=nn.Linear(c.n_embd, 4 * c.n_embd), act=nn.GELU(),
            c_proj=nn.Linear(4 * c.n_embd, c.n_embd), dropout=nn.Dropout(c.dropout)))

    def forward(self, x, pad_mask):
        x = x + self.attn(self.ln_1(x), pad_mask)
        m = self.mlp
        return x + m.dropout(m.c_proj(m.act(m.c_fc(self.ln_2(x)))))


class DecisionTransformer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_timestep = nn.Embedding(c.max_ep_len + c.context, c.n_embd)
        self.embed_return = nn.Linear(1, c.n_embd)
        self.embed_state = nn.Linear(c.state_dim, c.n_embd)
        self.embed_action = nn.Embedding(c.act_dim + 1, c.n_embd)   # last = "unknown"
        self.embed_ln = nn.LayerNorm(c.n_embd)
        self.h = nn.ModuleList([Block(c, 3 * c.context) for _ in range(c.n_layer)])
        self.predict_action = nn.Linear(c.n_embd, c.act_dim)
        self.predict_return = nn.Linear(c.n_embd, 1)

    def forward(self, states, actions, rtg, timesteps, mask):
        B, T = states.shape[:2]
        act = torch.where(actions < 0, torch.full_like(actions, self.c.act_dim), actions)
        te = self.embed_timestep(timesteps)
        tokens = torch.stack(
            (self.embed_return(rtg) + te, self.embed_state(states) + te, self.embed_action(act) + te), dim=1)
        tokens = tokens.permute(0, 2, 1, 3).reshape(B, 3 * T, self.c.n_embd)
        pad = torch.stack((mask,) * 3, dim=1).permute(0, 2, 1).reshape(B, 3 * T)
        x = self.embed_ln(tokens)
        for blk in self.h:
            x = blk(x, pad)
        x = x.reshape(B, T, 3, self.c.n_embd).permute(0, 2, 1, 3)
        return self.predict_action(x[:, 1]), self.predict_return(x[:, 2])

    @torch.no_grad()
    def get_action(self, states, actions, rtg, timesteps):
        K = self.c.context
        pad = K - min(K, states.shape[0])
        states, actions, rtg, timesteps = (t[-K:] for t in (states, actions, rtg, timesteps))
        mask = torch.cat([torch.zeros(pad), torch.ones(K - pad)]).bool()[None]
        states = F.pad(states, (0, 0, pad, 0))[None]
        rtg = F.pad(rtg, (0, 0, pad, 0))[None]
        actions = F.pad(actions, (pad, 0), value=-10)[None]
        timesteps = F.pad(timesteps, (pad, 0))[None]
        logits, _ = self(states, actions, rtg, timesteps, mask)
        return logits[0, -1].argmax().item()


def evaluate(model, target, mean, std, episodes=2):
    model.eval()
    returns = []
    for e in range(episodes):
        env = PointEnv(100 + e)
        obs, done, total = env.reset(), False, 0.0
        norm = lambda o: torch.from_numpy(((o - mean) / std).astype(np.float32))
        S, A = norm(obs)[None], torch.tensor([-10])
        R, ts = torch.tensor([[target / cfg.rtg_scale]]), torch.zeros(1, dtype=torch.long)
        while not done:
            a = model.get_action(S, A, R, ts)
            A[-1] = a
            obs, r, done, _ = env.step(a)
            total += r
            S = torch.cat([S, norm(obs)[None]])
            A = torch.cat([A, torch.tensor([-10])])
            R = torch.cat([R, R[-1:] - r / cfg.rtg_scale])
            ts = torch.cat([ts, ts[-1:] + 1])
        returns.append(total)
    return float(np.mean(returns)), float(np.std(returns))


def main():
    torch.manual_seed(12)
    np.random.seed(12)
    get_batch, mean, std = get_batch_fn(collect(cfg.n_episodes))
    model = DecisionTransformer(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / cfg.warmup, 1))
    for it in range(cfg.iters):
        model.train()
        s, a, g, t, m = get_batch(cfg.batch_size)
        logits, ret = model(s, a, g, t, m)
        loss = F.cross_entropy(logits[m], a[m]) + 0.1 * F.mse_loss(ret[m], g[m])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        scheduler.step()
        if it % 15 == 14:
            acc = (logits[m].argmax(-1) == a[m]).float().mean()
            print(f"iter {it + 1}: loss {loss.item():.3f} action acc {acc:.3f}")
    for target in (4.0, 16.0):
        print("target %.0f -> return %.2f +- %.2f" % ((target,) + evaluate(model, target, mean, std)))


if __name__ == "__main__":
    main()
