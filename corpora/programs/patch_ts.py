"""Patch transformer for multivariate forecasting: sliding windows in numpy, RevIN, key padding masks, quantile loss."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = {
    "data": {"n_series": 4, "steps": 160, "lookback": 48, "horizon": 12, "train": 0.7},
    "model": {"d_model": 24, "n_heads": 3, "d_ff": 40, "e_layers": 2, "patch_len": 8, "stride": 4, "dropout": 0.1},
    "train": {"epochs": 2, "batch_size": 16, "lr": 1e-3, "quantiles": [0.1, 0.5, 0.9]},
}


class StandardScaler:
    def fit(self, x):
        self.mean_, self.std_ = x.mean(axis=0, keepdims=True), x.std(axis=0, keepdims=True) + 1e-8
        return self

    def transform(self, x):
        return (x - self.mean_) / self.std_

    def inverse(self, x):
        return x * self.std_ + self.mean_


def make_series(n_series, steps, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(steps, dtype=np.float64)[:, None]
    period = rng.uniform(10, 30, size=(1, n_series))
    base = np.sin(2 * np.pi * t / period) + 0.01 * t
    noise = np.cumsum(rng.normal(scale=0.05, size=(steps, n_series)), axis=0)
    stamp = np.stack([t[:, 0] % 24 / 23.0 - 0.5, t[:, 0] // 24 % 7 / 6.0 - 0.5], axis=1)
    return (base + noise).astype(np.float32), stamp.astype(np.float32)


class Windows(torch.utils.data.Dataset):
    def __init__(self, values, stamp, lookback, horizon):
        self.x, self.mark = values, stamp
        self.lookback, self.horizon = lookback, horizon

    def __len__(self):
        return len(self.x) - self.lookback - self.horizon + 1

    def __getitem__(self, i):
        j, k = i + self.lookback, i + self.lookback + self.horizon
        return self.x[i:j], self.x[j:k], self.mark[i:j]


class RevIN(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))

    def forward(self, x, mode):
        if mode == "norm":
            self.mean = x.mean(1, keepdim=True).detach()
            self.std = x.var(1, keepdim=True, unbiased=False).add(1e-5).sqrt().detach()
            return (x - self.mean) / self.std * self.w + self.b
        elif mode == "denorm":
            return (x - self.b) / (self.w + 1e-8) * self.std + self.mean
        raise NotImplementedError(mode)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))
        self.n1, self.n2 = nn.BatchNorm1d(d_model), nn.BatchNorm1d(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, pad):
        a, w = self.attn(x, x, x, key_padding_mask=pad, average_attn_weights=False)
        x = self.n1((x + self.drop(a)).transpose(1, 2)).transpose(1, 2)
        x = self.n2((x + self.drop(self.ff(x))).transpose(1, 2)).transpose(1, 2)
        return x, w


class PatchTST(nn.Module):
    def __init__(self, c_in, lookback, horizon, n_out, *, d_model, n_heads, d_ff, e_layers, patch_len, stride, dropout):
        super().__init__()
        self.patch_len, self.stride, self.horizon, self.n_out = patch_len, stride, horizon, n_out
        self.n_patches = (lookback - patch_len) // stride + 2
        self.revin = RevIN(c_in)
        self.pad = nn.ReplicationPad1d((0, stride))
        self.embed = nn.Linear(patch_len, d_model)
        self.pos = nn.Parameter(torch.randn(1, self.n_patches, d_model) * 0.02)
        self.time = nn.Conv1d(2, d_model, patch_len, stride)
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(e_layers)])
        self.head = nn.Sequential(nn.Flatten(-2), nn.Linear(d_model * self.n_patches, horizon * n_out), nn.Dropout(dropout))

    def forward(self, x, mark, pad=None):
        b, _, c = x.shape
        z = self.revin(x, "norm").permute(0, 2, 1)
        z = self.pad(z).unfold(dimension=-1, size=self.patch_len, step=self.stride)
        z = self.embed(z.reshape(b * c, self.n_patches, self.patch_len)) + self.pos
        tm = self.time(self.pad(mark.transpose(1, 2))).transpose(1, 2)
        z = z + tm.repeat_interleave(c, dim=0)
        if pad is not None:
            pad = pad.repeat_interleave(c, dim=0)
        maps = []
        for layer in self.layers:
            z, w = layer(z, pad)
            maps.append(w)
        out = self.head(z).view(b, c, self.horizon, self.n_out).permute(0, 2, 1, 3)
        out = torch.stack([self.revin(o, "denorm") for o in out.unbind(-1)], dim=-1)
        return out, torch.stack(maps, 1)


def pinball(pred, target, quantiles):
    q = torch.tensor(quantiles)
    err = target.unsqueeze(-1) - pred
    return torch.maximum(q * err, (q - 1) * err).mean()


def patch_mask(n, n_patches, rate=0.2):
    mask = torch.rand(n, n_patches) < rate
    mask[:, -1] = False
    return mask


def evaluate(model, loader, scaler):
    model.eval()
    preds, trues = [], []
    with torch.no_grad():
        for x, y, mark in loader:
            out, _ = model(x, mark)
            preds.append(out[..., 1].numpy())
            trues.append(y.numpy())
    preds, trues = np.concatenate(preds), np.concatenate(trues)
    mse = np.mean((preds - trues) ** 2, axis=(0, 1))
    n, h, c = preds.shape
    mae = np.abs(scaler.inverse(preds.reshape(-1, c)) - scaler.inverse(trues.reshape(-1, c))).reshape(n, h, c).mean(0)
    return mse, mae[-1]


def run(cfg):
    d, m, t = cfg["data"], cfg["model"], cfg["train"]
    values, stamp = make_series(d["n_series"], d["steps"])
    cut = int(d["steps"] * d["train"])
    scaler = StandardScaler().fit(values[:cut])
    values = scaler.transform(values)
    train_ds = Windows(values[:cut], stamp[:cut], d["lookback"], d["horizon"])
    test_ds = Windows(values[cut - d["lookback"]:], stamp[cut - d["lookback"]:], d["lookback"], d["horizon"])
    train = torch.utils.data.DataLoader(train_ds, t["batch_size"], shuffle=True, drop_last=True)
    test = torch.utils.data.DataLoader(test_ds, t["batch_size"])
    model = PatchTST(d["n_series"], d["lookback"], d["horizon"], len(t["quantiles"]), **m)
    opt = torch.optim.AdamW(model.parameters(), lr=t["lr"], weight_decay=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=t["epochs"])
    for epoch in range(t["epochs"]):
        model.train()
        total = []
        for x, y, mark in train:
            opt.zero_grad()
            out, attn = model(x, mark, patch_mask(x.shape[0], model.n_patches))
            loss = pinball(out, y, t["quantiles"])
            loss.backward()
            opt.step()
            total.append(loss.item())
        sched.step()
        mse, mae = evaluate(model, test, scaler)
        print(f"{epoch} {np.mean(total):.4f} {mse.round(2)} {mae.shape} {tuple(attn.shape)}")


if __name__ == "__main__":
    torch.manual_seed(0)
    run(CFG)
