"""Decoder-only transformer for multivariate time series forecasting."""
from __future__ import annotations

import argparse
import io
import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange
from torch.utils.data import DataLoader, Dataset


@dataclass
class ModelConfig:
    n_features: int = 3
    n_calendar: int = 4
    d_model: int = 32
    n_heads: int = 4
    n_layers: int = 2
    ff_mult: int = 2
    dropout: float = 0.1
    max_len: int = 64
    quantiles: tuple = (0.1, 0.5, 0.9)


@dataclass
class TrainConfig:
    context: int = 32
    horizon: int = 8
    batch_size: int = 16
    lr: float = 1e-3
    warmup: int = 2
    steps: int = 3
    model: ModelConfig = field(default_factory=ModelConfig)


def simulate(n=600, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    daily = np.sin(2 * np.pi * t / 24)
    weekly = np.cos(2 * np.pi * t / 168)
    noise = rng.normal(scale=0.1, size=(n, 3)).cumsum(axis=0) * 0.2
    base = np.stack([daily + 0.5 * weekly, daily * weekly, np.roll(daily, 6) + 0.01 * t], axis=1)
    calendar = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24),
                         np.sin(2 * np.pi * t / 168), np.cos(2 * np.pi * t / 168)], axis=-1)
    return (base + noise).astype(np.float32), calendar.astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, values, calendar, length):
        self.values, self.calendar, self.length = values, calendar, length

    def __len__(self):
        return len(self.values) - self.length

    def __getitem__(self, i):
        j = i + self.length + 1
        v, c = self.values[i:j], self.calendar[i:j]
        return {"x": v[:-1], "cal": c[1:], "y": v[1:]}


class InstanceScaler:
    def __init__(self, x, eps=1e-5):
        self.loc = x.mean(dim=1, keepdim=True)
        self.scale = x.std(dim=1, keepdim=True) + eps

    def __call__(self, x):
        return (x - self.loc) / self.scale

    def inverse(self, q):
        return q * self.scale.unsqueeze(-1) + self.loc.unsqueeze(-1)


class CausalSelfAttention(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.n_heads = cfg.n_heads
        self.qkv = nn.Linear(cfg.d_model, 3 * cfg.d_model, bias=False)
        self.out = nn.Linear(cfg.d_model, cfg.d_model)
        self.drop = nn.Dropout(cfg.dropout)
        mask = torch.triu(torch.ones(cfg.max_len, cfg.max_len, dtype=torch.bool), diagonal=1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x, return_weights=False):
        t = x.size(1)
        q, k, v = rearrange(self.qkv(x), "b t (three h d) -> three b h t d", three=3, h=self.n_heads)
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        att = att.masked_fill(self.mask[:t, :t], float("-inf"))
        att = att.softmax(dim=-1)
        y = rearrange(self.drop(att) @ v, "b h t d -> b t (h d)")
        y = self.out(y)
        return (y, att) if return_weights else y


class Block(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.d_model), nn.LayerNorm(cfg.d_model)
        self.attn = CausalSelfAttention(cfg)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.d_model, cfg.ff_mult * cfg.d_model),
            nn.GELU(),
            nn.Linear(cfg.ff_mult * cfg.d_model, cfg.d_model),
            nn.Dropout(cfg.dropout),
        )

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class TimeSeriesTransformer(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.cfg = cfg
        self.value_proj = nn.Linear(cfg.n_features, cfg.d_model)
        self.cal_proj = nn.Linear(cfg.n_calendar, cfg.d_model, bias=False)
        self.pos_emb = nn.Parameter(torch.zeros(1, cfg.max_len, cfg.d_model))
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.n_layers)])
        self.ln_f = nn.LayerNorm(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, cfg.n_features * len(cfg.quantiles))
        nn.init.trunc_normal_(self.pos_emb, std=0.02)

    def forward(self, x, cal):
        t = x.shape[1]
        h = self.value_proj(x) + self.cal_proj(cal) + self.pos_emb[:, :t]
        for block in self.blocks:
            h = block(h)
        out = self.head(self.ln_f(h))
        return rearrange(out, "b t (f q) -> b t f q", q=len(self.cfg.quantiles))


def pinball(pred, target, quantiles):
    q = torch.tensor(quantiles)
    err = target.unsqueeze(-1) - pred
    return torch.maximum(q * err, (q - 1) * err).mean()


def param_groups(model, wd=0.01):
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2 and "pos_emb" not in n]
    rest = [p for n, p in model.named_parameters() if p.ndim < 2 or "pos_emb" in n]
    return [{"params": decay, "weight_decay": wd}, {"params": rest, "weight_decay": 0.0}]


def cycle(loader):
    while True:
        yield from loader


@torch.no_grad()
def forecast(model, x, future_cal, cal, horizon):
    model.eval()
    scaler = InstanceScaler(x)
    xs, med = scaler(x), len(model.cfg.quantiles) // 2
    preds = []
    for h in range(horizon):
        q = model(xs, cal)[:, -1:]
        preds.append(scaler.inverse(q))
        xs = torch.cat([xs, q[..., med]], dim=1)[:, -model.cfg.max_len:]
        cal = torch.cat([cal, future_cal[:, h:h + 1]], dim=1)[:, -model.cfg.max_len:]
    return torch.cat(preds, dim=1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=3)
    ap.add_argument("--d-model", type=int, default=32)
    args = ap.parse_args()
    cfg = TrainConfig(steps=args.steps, model=ModelConfig(d_model=args.d_model))
    torch.manual_seed(0)

    values, calendar = simulate()
    split = 500
    loader = DataLoader(WindowDataset(values[:split], calendar[:split], cfg.context),
                        batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    model = TimeSeriesTransformer(cfg.model)
    opt = torch.optim.AdamW(param_groups(model), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.SequentialLR(opt, [
        torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=cfg.warmup),
        torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=max(1, cfg.steps - cfg.warmup)),
    ], milestones=[cfg.warmup])

    batches = cycle(loader)
    for step in range(cfg.steps):
        batch = next(batches)
        scaler = InstanceScaler(batch["x"])
        pred = model(scaler(batch["x"]), batch["cal"])
        loss = pinball(pred, scaler(batch["y"]), cfg.model.quantiles)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        print(f"step={step} loss={loss:.4f} lr={sched.get_last_lr()[0]:.2e}")

    buf = io.BytesIO()
    torch.save(model.state_dict(), buf)
    buf.seek(0)
    restored = TimeSeriesTransformer(cfg.model)
    restored.load_state_dict(torch.load(buf))

    test = WindowDataset(values[split:], calendar[split:], cfg.context + cfg.horizon)
    items = [test[i] for i in range(0, len(test), 12)]
    x, cal, y = (torch.from_numpy(np.stack([it[k] for it in items])) for k in ("x", "cal", "y"))
    c = cfg.context
    q = forecast(restored, x[:, :c], cal[:, c:], cal[:, :c], cfg.horizon)
    actual = y[:, c - 1:c - 1 + cfg.horizon]
    mae = (q[..., 1] - actual).abs().mean(dim=(0, 1))
    cover = ((actual >= q[..., 0]) & (actual <= q[..., 2])).float().mean()
    naive = F.l1_loss(x[:, c - 1:c].expand_as(actual), actual)
    print("forecast", tuple(q.shape), "mae per series", mae.tolist())
    print(f"coverage {cover:.2f} naive mae {naive:.3f}")


if __name__ == "__main__":
    main()
