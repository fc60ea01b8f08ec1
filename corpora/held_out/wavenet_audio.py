import math
import time
from dataclasses import dataclass, asdict

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader


@dataclass
class HParams:
    sample_rate: int = 4000
    quant: int = 64
    res_ch: int = 16
    dil_ch: int = 16
    skip_ch: int = 32
    end_ch: int = 32
    layers: int = 5
    blocks: int = 2
    kernel_size: int = 2
    n_mels: int = 8
    hop: int = 32
    segment: int = 256
    batch_size: int = 4
    lr: float = 2e-3
    max_steps: int = 3
    grad_clip: float = 1.0

    @property
    def receptive_field(self):
        return self.blocks * sum((self.kernel_size - 1) * 2 ** i for i in range(self.layers)) + 1


def mulaw_encode(x, mu):
    mu = mu - 1
    fx = np.sign(x) * np.log1p(mu * np.abs(x)) / np.log1p(mu)
    return np.floor((fx + 1) / 2 * mu + 0.5).astype(np.int64)


def mulaw_decode(y, mu):
    mu = mu - 1
    fx = (y.astype(np.float32)) / mu * 2 - 1
    return np.sign(fx) / mu * ((1 + mu) ** np.abs(fx) - 1)


def synth_note(f0, n, sr, rng):
    t = np.arange(n) / sr
    wav = np.zeros(n)
    for k in range(1, 5):
        wav += np.sin(2 * np.pi * f0 * k * t + rng.uniform(0, 6.28)) / k
    env = np.exp(-3.0 * t)
    wav = wav * env + 0.01 * rng.standard_normal(n)
    return (wav / np.abs(wav).max() * 0.95).astype(np.float32)


def log_bands(wav, hop, n_bands):
    n_frames = len(wav) // hop
    frames = wav[: n_frames * hop].reshape(n_frames, hop) * np.hanning(hop)
    spec = np.abs(np.fft.rfft(frames, axis=1))[:, 1:]
    width = spec.shape[1] // n_bands
    spec = spec[:, : width * n_bands].reshape(n_frames, n_bands, width).mean(-1)
    return np.log(spec + 1e-4).astype(np.float32).T


class ToneDataset(Dataset):
    def __init__(self, hp, n_items=16, seed=0):
        rng = np.random.default_rng(seed)
        self.hp = hp
        self.items = []
        for _ in range(n_items):
            f0 = 110 * 2 ** (rng.integers(0, 24) / 12)
            wav = synth_note(f0, 2048, hp.sample_rate, rng)
            self.items.append((mulaw_encode(wav, hp.quant), log_bands(wav, hp.hop, hp.n_mels)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


def make_collate(hp):
    frames = hp.segment // hp.hop

    def collate(batch):
        xs, cs = [], []
        for q, c in batch:
            start = np.random.randint(0, c.shape[1] - frames)
            xs.append(q[start * hp.hop: start * hp.hop + hp.segment])
            cs.append(c[:, start:start + frames])
        x = torch.from_numpy(np.stack(xs))
        c = torch.from_numpy(np.stack(cs))
        return x, c

    return collate


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1, **kw):
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation, padding=0, **kw)
        self.left_pad = (kernel_size - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left_pad, 0)))


class ResidualLayer(nn.Module):
    def __init__(self, hp, dilation):
        super().__init__()
        self.dil = CausalConv1d(hp.res_ch, 2 * hp.dil_ch, hp.kernel_size, dilation=dilation)
        self.cond = nn.Conv1d(hp.n_mels, 2 * hp.dil_ch, 1, bias=False)
        self.res = nn.Conv1d(hp.dil_ch, hp.res_ch, 1)
        self.skip = nn.Conv1d(hp.dil_ch, hp.skip_ch, 1)

    def forward(self, x, c):
        h = self.dil(x) + self.cond(c)
        filt, gate = torch.split(h, h.size(1) // 2, dim=1)
        h = torch.tanh(filt) * torch.sigmoid(gate)
        return (x + self.res(h)) * math.sqrt(0.5), self.skip(h)


class WaveNet(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.embed = nn.Embedding(hp.quant, hp.res_ch)
        self.upsample = nn.ConvTranspose1d(hp.n_mels, hp.n_mels, hp.hop, stride=hp.hop)
        self.layers = nn.ModuleList(
            ResidualLayer(hp, 2 ** i) for _ in range(hp.blocks) for i in range(hp.layers))
        self.end1 = nn.Conv1d(hp.skip_ch, hp.end_ch, 1)
        self.end2 = nn.Conv1d(hp.end_ch, hp.quant, 1)

    def forward(self, x, c, upsampled=False):
        h = self.embed(x).transpose(1, 2)
        if not upsampled:
            c = self.upsample(c)
        skips = 0
        for layer in self.layers:
            h, s = layer(h, c)
            skips = skips + s
        out = F.relu(skips * (1.0 / len(self.layers)) ** 0.5)
        return self.end2(F.relu(self.end1(out)))

    @torch.inference_mode()
    def generate(self, c, n_samples, temperature=1.0):
        self.eval()
        rf = self.hp.receptive_field
        c = self.upsample(c)
        x = torch.full((c.size(0), 1), self.hp.quant // 2, dtype=torch.long)
        for i in range(n_samples):
            ctx = x[:, -rf:]
            cc = c[:, :, max(0, i + 1 - rf): i + 1]
            logits = self(ctx, cc, upsampled=True)[:, :, -1]
            probs = F.softmax(logits / temperature, dim=-1)
            nxt = torch.multinomial(probs, 1)
            x = torch.cat([x, nxt], dim=1)
        return x[:, 1:]


def train(hp):
    ds = ToneDataset(hp)
    dl = DataLoader(ds, batch_size=hp.batch_size, shuffle=True, collate_fn=make_collate(hp))
    model = WaveNet(hp)
    opt = optim.AdamW(model.parameters(), lr=hp.lr)
    sched = optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 2))
    print("params: %.1fk, receptive field: %d" % (
        sum(p.numel() for p in model.parameters()) / 1e3, hp.receptive_field))
    for step, (x, c) in enumerate(dl):
        if step >= hp.max_steps:
            break
        t0 = time.time()
        logits = model(x, c)
        loss = F.cross_entropy(logits[:, :, :-1], x[:, 1:])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        gn = nn.utils.clip_grad_norm_(model.parameters(), hp.grad_clip)
        opt.step()
        sched.step()
        acc = (logits[:, :, :-1].argmax(1) == x[:, 1:]).float().mean()
        print(f"step {step} loss {loss.item():.3f} ({loss.item() / math.log(2):.2f} bits) "
              f"acc {acc:.3f} gnorm {gn:.2f} {time.time() - t0:.2f}s")
    return model, ds


if __name__ == "__main__":
    torch.manual_seed(1234)
    np.random.seed(1234)
    hp = HParams()
    print(asdict(hp))
    model, ds = train(hp)
    cond = torch.from_numpy(ds[0][1][:, :2]).unsqueeze(0)
    tokens = model.generate(cond, n_samples=2 * hp.hop, temperature=0.9)
    wav = mulaw_decode(tokens[0].numpy(), hp.quant)
    print("generated", wav.shape, "rms", float(np.sqrt((wav ** 2).mean())))
