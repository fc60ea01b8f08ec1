"""Temporal-Fusion-Transformer style quantile forecaster for several related series."""
import copy
import logging
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)


@dataclass
class FeatureSpec:
    static_cat: Dict[str, int] = field(default_factory=lambda: {"store": 6, "region": 3})
    known_real: List[str] = field(default_factory=lambda: ["hour_sin", "hour_cos", "promo"])
    known_cat: Dict[str, int] = field(default_factory=lambda: {"dow": 7})
    observed_real: List[str] = field(default_factory=lambda: ["target", "footfall"])


@dataclass
class Config:
    hidden: int = 20
    heads: int = 4
    dropout: float = 0.1
    encoder_len: int = 28
    horizon: int = 9
    quantiles: Tuple[float, ...] = (0.1, 0.5, 0.9)
    batch_size: int = 22
    epochs: int = 2
    patience: int = 2
    lr: float = 5e-3
    features: FeatureSpec = field(default_factory=FeatureSpec)

    @property
    def total_len(self):
        return self.encoder_len + self.horizon


class SalesDataset(Dataset):
    def __init__(self, cfg, lo, hi, stride=5):
        self.cfg = cfg
        rng = np.random.default_rng(31)
        T, n = 260, cfg.features.static_cat["store"]
        t = np.arange(T)
        self.series = []
        for s in range(n):
            promo = (rng.random(T) < 0.12).astype(np.float32)
            season = np.sin(2 * np.pi * t / 12 + s) + 0.5 * ((t // 12) % 7 >= 5)
            foot = season + 0.3 * rng.normal(size=T)
            target = 1.5 * season + (0.5 + s % 3) * promo + 0.4 * np.roll(foot, 1) + 0.2 * (1 + s % 2) * rng.normal(size=T)
            self.series.append({
                "store": s, "region": s % 3, "promo": promo, "dow": (t // 12) % 7,
                "hour_sin": np.sin(2 * np.pi * t / 12), "hour_cos": np.cos(2 * np.pi * t / 12),
                "target": (target - target[:150].mean()) / target[:150].std(), "footfall": foot})
        self.index = [(s, i) for s in range(n) for i in range(lo, hi - cfg.total_len, stride)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, k):
        s, i = self.index[k]
        spec, row = self.cfg.features, self.series[s]
        win, enc = slice(i, i + self.cfg.total_len), slice(i, i + self.cfg.encoder_len)
        f32 = lambda names, w: torch.tensor(np.stack([row[n][w] for n in names], -1), dtype=torch.float32)
        return {
            "static": torch.tensor([row[n] for n in spec.static_cat]),
            "known_real": f32(spec.known_real, win),
            "known_cat": torch.tensor(np.stack([row[n][win] for n in spec.known_cat], -1)),
            "observed": f32(spec.observed_real, enc),
            "y": torch.tensor(row["target"][i + self.cfg.encoder_len:i + self.cfg.total_len], dtype=torch.float32),
        }


class TimeDistributed(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        lead = x.shape[:-1]
        return self.module(x.contiguous().view(-1, x.size(-1))).view(*lead, -1)


class GLU(nn.Module):
    def __init__(self, d_in, d_out=None):
        super().__init__()
        self.fc = nn.Linear(d_in, 2 * (d_out or d_in))

    def forward(self, x):
        return F.glu(self.fc(x), dim=-1)


class GateAddNorm(nn.Module):
    def __init__(self, d, dropout=0.0):
        super().__init__()
        self.drop, self.glu, self.norm = nn.Dropout(dropout), GLU(d), nn.LayerNorm(d)

    def forward(self, x, skip):
        return self.norm(self.glu(self.drop(x)) + skip)


class GRN(nn.Module):
    def __init__(self, d_in, d_hidden, d_out=None, d_ctx=None, dropout=0.0):
        super().__init__()
        d_out = d_out or d_hidden
        self.fc1, self.fc2 = nn.Linear(d_in, d_hidden), nn.Linear(d_hidden, d_out)
        self.ctx = nn.Linear(d_ctx, d_hidden, bias=False) if d_ctx else None
        self.skip = nn.Linear(d_in, d_out) if d_in != d_out else nn.Identity()
        self.gate = GateAddNorm(d_out, dropout)

    def forward(self, x, context=None):
        h = self.fc1(x)
        if context is not None:
            c = self.ctx(context)
            while c.dim() < h.dim():
                c = c.unsqueeze(1)
            h = h + c
        return self.gate(self.fc2(F.elu(h)), self.skip(x))


class VariableSelection(nn.Module):
    def __init__(self, n_vars, d, use_ctx=True, dropout=0.0):
        super().__init__()
        self.flat = GRN(n_vars * d, d, n_vars, d_ctx=d if use_ctx else None, dropout=dropout)
        self.single = nn.ModuleList(GRN(d, d, dropout=dropout) for _ in range(n_vars))

    def forward(self, embs, context=None):
        """embs: (..., n_vars, d)"""
        weights = self.flat(embs.flatten(-2), context).softmax(-1)
        processed = torch.stack([grn(e) for grn, e in zip(self.single, embs.unbind(-2))], dim=-1)
        return (processed * weights.unsqueeze(-2)).sum(-1), weights


class InterpretableMHA(nn.Module):
    """heads share the values, so that the averaged attention is meaningful"""

    def __init__(self, d, heads, dropout):
        super().__init__()
        self.heads, self.dk = heads, d // heads
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, self.dk)
        self.out, self.drop = nn.Linear(self.dk, d, bias=False), nn.Dropout(dropout)

    def forward(self, q, kv, mask):
        B, Tq, Tk = q.size(0), q.size(1), kv.size(1)
        qh = self.q(q).view(B, Tq, self.heads, self.dk).permute(2, 0, 1, 3)
        kh = self.k(kv).view(B, Tk, self.heads, self.dk).permute(2, 0, 3, 1)
        score = (qh @ kh) / np.sqrt(self.dk)
        attn = score.masked_fill(mask, float("-inf")).softmax(-1)
        head = self.drop(attn) @ self.v(kv)
        return self.out(head.mean(0)), attn.mean(0)


class TFT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, d, sp = cfg, cfg.hidden, cfg.features
        self.static_emb = nn.ModuleDict({k: nn.Embedding(n, d) for k, n in sp.static_cat.items()})
        self.known_emb = nn.ModuleDict({k: nn.Embedding(n, d) for k, n in sp.known_cat.items()})
        self.real_proj = nn.ModuleDict({k: TimeDistributed(nn.Linear(1, d)) for k in sp.known_real + sp.observed_real})
        n_known = len(sp.known_real) + len(sp.known_cat)
        self.static_vsn = VariableSelection(len(sp.static_cat), d, use_ctx=False)
        self.enc_vsn = VariableSelection(n_known + len(sp.observed_real), d, dropout=cfg.dropout)
        self.dec_vsn = VariableSelection(n_known, d, dropout=cfg.dropout)
        self.ctx = nn.ModuleList([GRN(d, d, dropout=cfg.dropout) for _ in range(4)])
        self.encoder = nn.LSTM(d, d, batch_first=True)
        self.decoder = nn.LSTM(d, d, batch_first=True)
        self.post_lstm = GateAddNorm(d, cfg.dropout)
        self.enrich = GRN(d, d, d_ctx=d, dropout=cfg.dropout)
        self.attn = InterpretableMHA(d, cfg.heads, cfg.dropout)
        self.post_attn, self.ff, self.final = GateAddNorm(d), GRN(d, d), GateAddNorm(d)
        self.head = nn.Linear(d, len(cfg.quantiles))
        L, H = cfg.encoder_len, cfg.horizon
        self.register_buffer("mask", torch.ones(H, L + H).triu(L + 1).bool())

    def forward(self, batch):
        sp, L = self.cfg.features, self.cfg.encoder_len
        static = torch.stack([self.static_emb[k](batch["static"][:, i]) for i, k in enumerate(sp.static_cat)], 1)
        s, s_w = self.static_vsn(static)
        c_sel, c_h, c_c, c_enr = [g(s) for g in self.ctx]
        known = [self.real_proj[k](batch["known_real"][..., i:i + 1]) for i, k in enumerate(sp.known_real)]
        known += [self.known_emb[k](batch["known_cat"][..., i]) for i, k in enumerate(sp.known_cat)]
        known = torch.stack(known, dim=2)
        obs = torch.stack([self.real_proj[k](o) for k, o in zip(sp.observed_real, batch["observed"].split(1, -1))], 2)
        past, w_past = self.enc_vsn(torch.cat([obs, known[:, :L]], 2), c_sel)
        fut, _ = self.dec_vsn(known[:, L:], c_sel)
        enc, state = self.encoder(past, (c_h[None].contiguous(), c_c[None].contiguous()))
        dec, _ = self.decoder(fut, state)
        lstm = self.post_lstm(torch.cat([enc, dec], 1), torch.cat([past, fut], 1))
        enriched = self.enrich(lstm, c_enr)
        a, weights = self.attn(enriched[:, L:], enriched, self.mask)
        x = self.ff(self.post_attn(a, enriched[:, L:]))
        return self.head(self.final(x, lstm[:, L:])), {"attn": weights, "static": s_w, "past": w_past}


class QuantileLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("q", torch.tensor(quantiles))

    def forward(self, pred, y):
        diff = y.unsqueeze(-1) - pred
        return torch.maximum((self.q - 1) * diff, self.q * diff).sum(-1).mean()


def main():
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    torch.manual_seed(17)
    cfg = Config()
    train = DataLoader(SalesDataset(cfg, 0, 200), cfg.batch_size, shuffle=True)
    valid = DataLoader(SalesDataset(cfg, 190, 260, stride=4), 15)
    model, crit = TFT(cfg), QuantileLoss(cfg.quantiles)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=len(train), T_mult=2)
    best, best_state, bad = float("inf"), None, 0
    for epoch in range(cfg.epochs):
        model.train()
        for i, batch in enumerate(train):
            loss = crit(model(batch)[0], batch["y"])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step(epoch + i / len(train))
        model.eval()
        with torch.no_grad():
            preds, ys = zip(*[(model(b)[0], b["y"]) for b in valid])
        pred, y = torch.cat(preds), torch.cat(ys)
        val = crit(pred, y).item()
        cover = ((y > pred[..., 0]) & (y < pred[..., -1])).float().mean()
        logger.info("epoch %d train %.4f valid %.4f coverage %.2f", epoch, loss.item(), val, cover)
        if val < best - 1e-4:
            best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
        elif (bad := bad + 1) >= cfg.patience:
            break
    model.load_state_dict(best_state)
    with torch.no_grad():
        _, info = model(batch)
    names = cfg.features.observed_real + cfg.features.known_real + list(cfg.features.known_cat)
    for n, w in sorted(zip(names, info["past"].mean((0, 1)).tolist()), key=lambda p: -p[1]):
        logger.info("  %-10s %.3f", n, w)
    logger.info("most attended lag: %d", cfg.encoder_len - int(info["attn"].mean((0, 1))[:cfg.encoder_len].argmax()))


if __name__ == "__main__":
    main()
