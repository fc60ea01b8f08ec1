#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Single channel speech enhancement: complex ratio masks with a small
convolutional-recurrent network (CRN), SI-SNR + multi-resolution STFT loss."""
import json
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CONF = json.loads("""
{
  "stft": {"n_fft": 126, "hop": 40, "win": 120},
  "model": {"channels": [2, 8, 12, 20], "rnn": 26, "kernel": [5, 2], "stride": [2, 1]},
  "data": {"sr": 4000, "seconds": 0.45, "n_train": 30, "n_valid": 12, "snr": [-3, 8]},
  "train": {"epochs": 2, "bs": 5, "lr": 0.004, "patience": 2, "mrstft_weight": 0.3}
}
""")


class NoisySpeech(Dataset):
    """harmonic 'voices' with a wandering pitch, plus coloured noise at a random SNR."""

    def __init__(self, n, conf, seed):
        self.n, self.conf, self.seed = n, conf, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        rng = np.random.RandomState(self.seed * 10007 + i)
        sr = self.conf["sr"]
        length = int(sr * self.conf["seconds"] * rng.uniform(0.75, 1.0))
        t = np.arange(length) / sr
        f0 = rng.uniform(90, 220) * (1 + 0.05 * np.sin(2 * np.pi * rng.uniform(2, 5) * t))
        phase = 2 * np.pi * np.cumsum(f0) / sr
        clean = sum(np.sin(k * phase) / k ** rng.uniform(0.6, 1.4) for k in range(1, 7))
        clean *= np.clip(np.sin(2 * np.pi * rng.uniform(2, 4) * t + rng.uniform(0, 6)), 0, 1)
        white = rng.randn(length + 8)
        noise = np.convolve(white, rng.randn(9), mode="valid")
        snr = rng.uniform(*self.conf["snr"])
        scale = np.sqrt((clean ** 2).mean() / ((noise ** 2).mean() * 10 ** (snr / 10) + 1e-8))
        noisy = clean + scale * noise
        peak = np.abs(noisy).max() + 1e-6
        return (noisy / peak).astype(np.float32), (clean / peak).astype(np.float32)


def pad_collate(batch):
    lens = torch.as_tensor([len(b[0]) for b in batch])
    noisy, clean = (nn.utils.rnn.pad_sequence([torch.from_numpy(x) for x in xs], batch_first=True)
                    for xs in zip(*batch))
    return noisy, clean, lens


class CausalConv2d(nn.Module):
    def __init__(self, cin, cout, kernel, stride):
        super().__init__()
        self.pad_t = kernel[1] - 1
        self.conv = nn.Conv2d(cin, cout, kernel, stride, padding=(kernel[0] // 2, 0))
        self.norm = nn.GroupNorm(1, cout)
        self.act = nn.PReLU(cout)

    def forward(self, x):                       # (B, C, F, T)
        x = F.pad(x, [self.pad_t, 0])
        return self.act(self.norm(self.conv(x)))


class CausalDeconv2d(nn.Module):
    def __init__(self, cin, cout, kernel, stride, last=False):
        super().__init__()
        self.deconv = nn.ConvTranspose2d(cin, cout, kernel, stride, padding=(kernel[0] // 2, 0))
        self.post = nn.Identity() if last else nn.Sequential(nn.GroupNorm(1, cout), nn.PReLU(cout))

    def forward(self, x, size):
        y = self.deconv(x)[..., :x.shape[-1]]
        if y.shape[2] < size:
            y = F.pad(y, [0, 0, 0, size - y.shape[2]])
        return self.post(y[:, :, :size])


class CRN(nn.Module):
    def __init__(self, conf, stft_conf):
        super().__init__()
        self.n_fft, self.hop, self.win = stft_conf["n_fft"], stft_conf["hop"], stft_conf["win"]
        self.register_buffer("window", torch.hann_window(self.win))
        ch, k, s = conf["channels"], conf["kernel"], conf["stride"]
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for i in range(len(ch) - 1):
            self.encoder.append(CausalConv2d(ch[i], ch[i + 1], k, s))
            self.decoder.insert(0, CausalDeconv2d(ch[i + 1] * 2, ch[i], k, s, last=(i == 0)))
        freq = self.n_fft // 2 + 1
        for _ in range(len(ch) - 1):
            freq = (freq + 2 * (k[0] // 2) - k[0]) // s[0] + 1
        self.rnn = nn.GRU(ch[-1] * freq, conf["rnn"], num_layers=2, batch_first=True)
        self.proj = nn.Linear(conf["rnn"], ch[-1] * freq)

    def stft(self, wav):
        return torch.stft(wav, self.n_fft, self.hop, self.win, self.window, return_complex=True)

    def istft(self, spec, length):
        return torch.istft(spec, self.n_fft, self.hop, self.win, self.window, length=length)

    def forward(self, wav):
        spec = self.stft(wav)
        x = torch.view_as_real(spec).permute(0, 3, 1, 2)
        mag = x.pow(2).sum(1, keepdim=True).clamp_min(1e-10).sqrt()
        h = x * mag.pow(-0.5)                  # power compression
        skips, sizes = [], []
        for enc in self.encoder:
            sizes.append(h.shape[2])
            h = enc(h)
            skips.append(h)
        b, c, f, t = h.shape
        z, _ = self.rnn(h.permute(0, 3, 1, 2).reshape(b, t, c * f))
        h = self.proj(z).view(b, t, c, f).permute(0, 2, 3, 1)
        for dec in self.decoder:
            h = dec(torch.cat([h, skips.pop()], dim=1), sizes.pop())
        mask_mag = torch.tanh(torch.norm(h, dim=1) + 1e-6)
        mask_phase = torch.atan2(h[:, 1] + 1e-8, h[:, 0] + 1e-8)
        est = spec * torch.polar(mask_mag, mask_phase)
        return self.istft(est, wav.shape[-1])


def length_mask(lens, total):
    return (torch.arange(total)[None, :] < lens[:, None]).float()


def si_snr(est, ref, lens, eps=1e-8):
    mask = length_mask(lens, est.shape[-1])
    mean = lambda v: (v * mask).sum(-1, keepdim=True) / lens[:, None]
    est, ref = (est - mean(est)) * mask, (ref - mean(ref)) * mask
    proj = (est * ref).sum(-1, keepdim=True) / (ref.pow(2).sum(-1, keepdim=True) + eps) * ref
    noise = est - proj
    return 10 * torch.log10(proj.pow(2).sum(-1) / (noise.pow(2).sum(-1) + eps) + eps)


class MultiResSTFTLoss(nn.Module):
    def __init__(self, resolutions=((64, 16, 50), (200, 50, 180))):
        super().__init__()
        self.resolutions = resolutions
        for i, (_, _, win) in enumerate(resolutions):
            self.register_buffer("w%d" % i, torch.hamming_window(win))

    def forward(self, x, y):
        loss = x.new_zeros(())
        for i, (n, hop, win) in enumerate(self.resolutions):
            w = getattr(self, "w%d" % i)
            X, Y = (torch.view_as_real(torch.stft(v, n, hop, win, w, return_complex=True)).pow(2).sum(-1).clamp(min=1e-7).sqrt()
                    for v in (x, y))
            sc = torch.linalg.norm(Y - X, dim=(1, 2)) / torch.linalg.norm(Y, dim=(1, 2))
            loss = loss + sc.mean() + F.l1_loss(X.log(), Y.log())
        return loss / len(self.resolutions)


class Trainer:
    def __init__(self, conf, workdir):
        self.conf, self.workdir = conf, workdir
        self.model = CRN(conf["model"], conf["stft"])
        self.aux = MultiResSTFTLoss()
        self.opt = torch.optim.RMSprop(self.model.parameters(), lr=conf["train"]["lr"])
        self.sched = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.5, patience=0)
        d, bs = conf["data"], conf["train"]["bs"]
        self.train_dl = DataLoader(NoisySpeech(d["n_train"], d, 1), bs, shuffle=True, collate_fn=pad_collate)
        self.valid_dl = DataLoader(NoisySpeech(d["n_valid"], d, 2), bs - 1, collate_fn=pad_collate)
        self.best, self.bad = -math.inf, 0

    def epoch(self, train):
        self.model.train(train)
        tot, base, n = 0.0, 0.0, 0
        with torch.set_grad_enabled(train):
            for noisy, clean, lens in (self.train_dl if train else self.valid_dl):
                est = self.model(noisy)
                snr = si_snr(est, clean, lens)
                loss = -snr.mean() + self.conf["train"]["mrstft_weight"] * self.aux(est, clean)
                if train:
                    self.opt.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_value_(self.model.parameters(), 0.5)
                    self.opt.step()
                tot += snr.sum().item()
                base += si_snr(noisy, clean, lens).sum().item()
                n += len(lens)
        return tot / n, (tot - base) / n

    def fit(self):
        path = os.path.join(self.workdir, "best.pth")
        for ep in range(self.conf["train"]["epochs"]):
            tr, _ = self.epoch(True)
            va, gain = self.epoch(False)
            self.sched.step(-va)
            print(f"epoch {ep}: train SI-SNR {tr:.2f} dB, valid {va:.2f} dB (improvement {gain:+.2f} dB)")
            if va > self.best:
                self.best, self.bad = va, 0
                torch.save({"model": self.model.state_dict(), "epoch": ep}, path)
            else:
                self.bad += 1
                if self.bad >= self.conf["train"]["patience"]:
                    print("early stop")
                    break
        self.model.load_state_dict(torch.load(path)["model"])


def main():
    torch.manual_seed(1234)
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(CONF, tmp)
        print("parameters: %.1fk" % (sum(p.numel() for p in trainer.model.parameters()) / 1e3))
        trainer.fit()


if __name__ == "__main__":
    main()
