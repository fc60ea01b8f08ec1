"""Keyword spotting: log-mel spectrogram made by hand (torch.stft + triangular filters), res8-like CNN.

The "speech" is synthesised: each word is a sequence of vowel-like formant pairs with noise,
a random pitch and a random onset.
"""

import argparse
import dataclasses
import math
import os
import random
import tempfile
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SAMPLE_RATE = 8000

# word -> formants (F1, F2) of its sounds
LEXICON: Dict[str, List[Tuple[int, int]]] = {
    "yes": [(300, 2300), (550, 1900)],
    "no": [(450, 900), (350, 700)],
    "up": [(700, 1200)],
    "down": [(750, 1300), (400, 800), (300, 1000)],
    "stop": [(600, 950), (500, 850)],
}
SILENCE = "_silence_"
CLASSES = [SILENCE] + sorted(LEXICON)


@dataclasses.dataclass
class AudioConfig:
    sample_rate: int = SAMPLE_RATE
    n_fft: int = 256
    hop_length: int = 80
    win_length: int = 200
    n_mels: int = 40
    f_min: float = 60.0
    f_max: Optional[float] = None
    duration: float = 1.0

    @property
    def num_samples(self) -> int:
        return int(self.sample_rate * self.duration)


def synthesise(word: str, cfg: AudioConfig, rng: np.random.Generator) -> np.ndarray:
    out = rng.normal(0, 0.01, cfg.num_samples)
    if word == SILENCE:
        return out.astype(np.float32)
    pitch = rng.uniform(90, 220)
    pieces = []
    for f1, f2 in LEXICON[word]:
        n = int(rng.uniform(0.12, 0.2) * cfg.sample_rate)
        t = np.arange(n) / cfg.sample_rate
        sound = np.zeros(n)
        for k in range(1, int(3500 / pitch)):
            f = k * pitch
            gain = math.exp(-((f - f1) / 150) ** 2) + 0.6 * math.exp(-((f - f2) / 200) ** 2)
            sound += gain * np.sin(2 * np.pi * f * t + rng.uniform(0, 2 * np.pi))
        pieces.append(sound * np.hanning(n))
    wave = np.concatenate(pieces)
    start = rng.integers(0, cfg.num_samples - len(wave))
    out[start:start + len(wave)] += 0.3 * wave
    return out.astype(np.float32)


class CommandsDataset(Dataset):
    def __init__(self, cfg, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        self.cfg = cfg
        self.augment = augment
        self.labels = [i % len(CLASSES) for i in range(n)]
        self.waves = [synthesise(CLASSES[y], cfg, rng) for y in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        wave = torch.from_numpy(self.waves[i])
        if self.augment:
            wave = torch.roll(wave, random.randint(-400, 400))
            # real recordings have different lengths
            wave = wave[: len(wave) - random.randint(0, 800)]
            wave = wave * random.uniform(0.7, 1.2)
        return wave, self.labels[i]


def collate_fn(batch):
    waves, labels = zip(*batch)
    waves = nn.utils.rnn.pad_sequence(waves, batch_first=True)
    missing = SAMPLE_RATE - waves.shape[1]
    if missing > 0:
        waves = F.pad(waves, (0, missing))
    return waves, torch.tensor(labels)


def hz_to_mel(f):
    return 2595.0 * np.log10(1.0 + np.asarray(f) / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (np.asarray(m) / 2595.0) - 1.0)


def mel_filterbank(cfg: AudioConfig) -> torch.Tensor:
    """(n_freqs, n_mels) triangular filters"""
    n_freqs = cfg.n_fft // 2 + 1
    f_max = cfg.f_max or cfg.sample_rate / 2
    all_freqs = torch.linspace(0, cfg.sample_rate / 2, n_freqs)
    points = mel_to_hz(np.linspace(hz_to_mel(cfg.f_min), hz_to_mel(f_max), cfg.n_mels + 2))
    f_pts = torch.from_numpy(points).float()
    f_diff = f_pts[1:] - f_pts[:-1]
    slopes = f_pts.unsqueeze(0) - all_freqs.unsqueeze(1)
    down_slopes = (-1.0 * slopes[:, :-2]) / f_diff[:-1]
    up_slopes = slopes[:, 2:] / f_diff[1:]
    return torch.max(torch.zeros(1), torch.min(down_slopes, up_slopes))


class LogMel(nn.Module):
    def __init__(self, cfg: AudioConfig):
        super().__init__()
        self.cfg = cfg
        self.register_buffer("window", torch.hann_window(cfg.win_length))
        self.register_buffer("fb", mel_filterbank(cfg))

    def forward(self, wave):
        wave = torch.cat([wave[:, :1], wave[:, 1:] - 0.97 * wave[:, :-1]], dim=1)
        spec = torch.stft(wave, n_fft=self.cfg.n_fft, hop_length=self.cfg.hop_length,
                          win_length=self.cfg.win_length, window=self.window, center=True,
                          pad_mode="reflect", return_complex=True)
        power = spec.abs().pow(2)
        mel = torch.matmul(power.transpose(1, 2), self.fb).transpose(1, 2)
        logmel = torch.log(mel + 1e-6)
        mean = logmel.mean(dim=(1, 2), keepdim=True)
        std = logmel.std(dim=(1, 2), keepdim=True)
        return ((logmel - mean) / (std + 1e-5)).unsqueeze(1)


class SpecAugment(nn.Module):
    def __init__(self, freq_mask=6, time_mask=15, n=2):
        super().__init__()
        self.freq_mask, self.time_mask, self.n = freq_mask, time_mask, n

    def forward(self, spec):
        if not self.training:
            return spec
        spec = spec.clone()
        for _ in range(self.n):
            f = random.randint(0, self.freq_mask)
            f0 = random.randint(0, spec.size(2) - f)
            spec[:, :, f0:f0 + f, :] = 0
            t = random.randint(0, self.time_mask)
            t0 = random.randint(0, spec.size(3) - t)
            spec[:, :, :, t0:t0 + t] = 0
        return spec


class SpeechResModel(nn.Module):
    """after Tang & Lin, Deep residual learning for small-footprint keyword spotting"""

    def __init__(self, n_labels: int, n_maps: int = 24, n_layers: int = 6,
                 res_pool: Optional[Tuple[int, int]] = (4, 3), use_dilation: bool = False):
        super().__init__()
        self.conv0 = nn.Conv2d(1, n_maps, (3, 3), padding=(1, 1), bias=False)
        if res_pool is not None:
            self.pool = nn.AvgPool2d(res_pool)
        self.n_layers = n_layers
        for i in range(n_layers):
            d = int(2 ** (i // 3)) if use_dilation else 1
            self.add_module(f"bn{i + 1}", nn.BatchNorm2d(n_maps, affine=False))
            self.add_module(f"conv{i + 1}",
                            nn.Conv2d(n_maps, n_maps, (3, 3), padding=d, dilation=d, bias=False))
        self.output = nn.Linear(n_maps, n_labels)

    def forward(self, x):
        for i in range(self.n_layers + 1):
            y = F.relu(getattr(self, f"conv{i}")(x))
            if i == 0:
                if hasattr(self, "pool"):
                    y = self.pool(y)
                old_x = y
            if i > 0 and i % 2 == 0:
                x = y + old_x
                old_x = x
            else:
                x = y
            if i > 0:
                x = getattr(self, f"bn{i}")(x)
        x = x.view(x.size(0), x.size(1), -1)
        x = torch.mean(x, 2)
        return self.output(x)


def mixup(x, y, n_classes, alpha=0.2):
    lam = np.random.beta(alpha, alpha)
    perm = torch.randperm(x.size(0), device=x.device)
    onehot = F.one_hot(y, n_classes).float()
    return lam * x + (1 - lam) * x[perm], lam * onehot + (1 - lam) * onehot[perm]


def print_confusion(cm: np.ndarray, names: Sequence[str]) -> None:
    width = max(map(len, names)) + 1
    print(" " * width + "".join(n[:6].rjust(8) for n in names))
    for name, row in zip(names, cm):
        print(name.ljust(width) + "".join(str(v).rjust(8) for v in row))


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--train-size", type=int, default=72)
    ap.add_argument("--test-size", type=int, default=36)
    ap.add_argument("--batch-size", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=1)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--n-mels", type=int, default=40)
    ap.add_argument("--dilation", action="store_true")
    args = ap.parse_args()

    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    cfg = AudioConfig(n_mels=args.n_mels)
    train = CommandsDataset(cfg, args.train_size, seed=1, augment=True)
    test = CommandsDataset(cfg, args.test_size, seed=2)
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, collate_fn=collate_fn)
    test_loader = DataLoader(test, batch_size=args.batch_size, collate_fn=collate_fn)

    frontend = nn.Sequential(LogMel(cfg), SpecAugment()).to(device)
    model = SpeechResModel(len(CLASSES), use_dilation=args.dilation).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)

    for epoch in range(args.epochs):
        model.train(), frontend.train()
        for step, (waves, labels) in enumerate(train_loader):
            waves, labels = waves.to(device), labels.to(device)
            features, soft = mixup(frontend(waves), labels, len(CLASSES))
            loss = F.cross_entropy(model(features), soft)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step(epoch + step / len(train_loader))
            print(f"epoch {epoch} step {step} features {tuple(features.shape)} loss {loss.item():.4f}")

    with tempfile.NamedTemporaryFile(suffix=".pt", delete=False) as fh:
        torch.save({"state": model.state_dict(), "audio": dataclasses.asdict(cfg)}, fh)
    state = torch.load(fh.name, map_location=device)
    os.unlink(fh.name)
    model.load_state_dict(state["state"])

    model.eval(), frontend.eval()
    cm = np.zeros((len(CLASSES), len(CLASSES)), dtype=int)
    with torch.no_grad():
        for waves, labels in test_loader:
            pred = model(frontend(waves.to(device))).argmax(dim=1).cpu()
            np.add.at(cm, (labels.numpy(), pred.numpy()), 1)
    print_confusion(cm, CLASSES)
    print("accuracy %.3f" % (np.diag(cm).sum() / cm.sum()))


if __name__ == "__main__":
    main()
