# small speech recogniser: waveforms -> log mel -> conv + bi-lstm -> CTC
import math
import random
from dataclasses import dataclass
from typing import List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

VOCAB = ["_"] + list("abcdefgh ")
C2I = {c: i for i, c in enumerate(VOCAB)}


@dataclass
class Batch:
    feats: torch.Tensor
    feat_lens: torch.Tensor
    targets: torch.Tensor
    target_lens: torch.Tensor

    def to(self, device):
        return Batch(*(getattr(self, f).to(device) for f in self.__dataclass_fields__))


def mel_filters(n_mels, n_fft, sr):
    def hz2mel(f):
        return 2595 * math.log10(1 + f / 700)
    pts = torch.linspace(hz2mel(0), hz2mel(sr / 2), n_mels + 2)
    hz = 700 * (10 ** (pts / 2595) - 1)
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    lo, mid, hi = hz[:-2, None], hz[1:-1, None], hz[2:, None]
    up = (freqs - lo) / (mid - lo)
    down = (hi - freqs) / (hi - mid)
    return torch.clamp(torch.minimum(up, down), min=0)


class LogMel(nn.Module):
    def __init__(self, sr=800, n_fft=64, hop=16, n_mels=20):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft), persistent=False)
        self.register_buffer("fb", mel_filters(n_mels, n_fft, sr))

    def forward(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, center=True, return_complex=True)
        mel = self.fb @ spec.abs().pow(2)
        mel = (mel + 1e-6).log()
        return (mel - mel.mean(-1, keepdim=True)) / (mel.std(-1, keepdim=True) + 1e-5)


class Utterances(Dataset):
    def __init__(self, n, sr=800, seed=0):
        rng = random.Random(seed)
        self.sr = sr
        self.items: List[str] = ["".join(rng.choices("abcdefgh ", k=rng.randint(2, 4))) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx) -> Tuple[torch.Tensor, torch.Tensor]:
        text = self.items[idx]
        t = torch.arange(400) / self.sr
        tones = [torch.sin(2 * math.pi * (30 + 20 * C2I[c]) * t) for c in text]
        wav = torch.cat(tones) + 0.01 * torch.randn(400 * len(text))
        return wav, torch.tensor([C2I[c] for c in text])


class Collate:
    def __init__(self, frontend):
        self.frontend = frontend

    def __call__(self, samples):
        samples = sorted(samples, key=lambda s: s[0].shape[0], reverse=True)
        feats = [self.frontend(w).transpose(0, 1) for w, _ in samples]
        lens = torch.tensor([f.size(0) for f in feats])
        padded = nn.utils.rnn.pad_sequence(feats, batch_first=True)
        targets = torch.cat([y for _, y in samples])
        return Batch(padded, lens, targets, torch.tensor([len(y) for _, y in samples]))


class MaskConv(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def out_lens(self, lens):
        for m in self.layers:
            if isinstance(m, nn.Conv2d):
                lens = (lens + 2 * m.padding[1] - m.kernel_size[1]) // m.stride[1] + 1
        return lens

    def forward(self, x, lens):
        for m in self.layers:
            x = m(x)
        lens = self.out_lens(lens)
        mask = torch.arange(x.size(3))[None, :] >= lens[:, None]
        return x.masked_fill(mask[:, None, None, :], 0), lens


class DeepSpeech(nn.Module):
    def __init__(self, n_mels=20, conv_ch=6, hidden=18, n_class=len(VOCAB), layers=2):
        super().__init__()
        self.conv = MaskConv([
            nn.Conv2d(1, conv_ch, (5, 5), stride=(2, 2), padding=(2, 2)), nn.BatchNorm2d(conv_ch), nn.Hardtanh(0, 20),
            nn.Conv2d(conv_ch, conv_ch, (5, 3), stride=(2, 1), padding=(2, 1)), nn.BatchNorm2d(conv_ch), nn.Hardtanh(0, 20),
        ])
        rnn_in = conv_ch * math.ceil(math.ceil(n_mels / 2) / 2)
        self.rnns = nn.ModuleList(
            [nn.LSTM(rnn_in if i == 0 else hidden, hidden, bidirectional=True) for i in range(layers)])
        self.norm = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, n_class, bias=False)

    def forward(self, feats, lens):
        x, lens = self.conv(feats.transpose(1, 2).unsqueeze(1), lens)
        n, c, f, t = x.size()
        x = x.view(n, c * f, t).permute(2, 0, 1).contiguous()
        for rnn in self.rnns:
            packed = nn.utils.rnn.pack_padded_sequence(x, lens.cpu())
            out, _ = rnn(packed)
            x, _ = nn.utils.rnn.pad_packed_sequence(out, total_length=t)
            x = x.view(x.size(0), x.size(1), 2, -1).sum(2)
        return F.log_softmax(self.fc(self.norm(x)), dim=-1), lens


def greedy(log_probs, lens):
    best = log_probs.argmax(-1).transpose(0, 1)
    texts = []
    for row, n in zip(best, lens.tolist()):
        ids = torch.unique_consecutive(row[:n])
        texts.append("".join(VOCAB[i] for i in ids.tolist() if i != 0))
    return texts


def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


def main():
    random.seed(0)
    torch.manual_seed(0)
    train, test = Utterances(10), Utterances(4, seed=1)
    collate = Collate(LogMel())
    loader = DataLoader(train, batch_size=5, shuffle=True, collate_fn=collate)
    model = DeepSpeech()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, steps_per_epoch=len(loader), epochs=2)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    for epoch in range(2):
        model.train()
        for batch in loader:
            batch = batch.to("cpu")
            log_probs, lens = model(batch.feats, batch.feat_lens)
            loss = ctc(log_probs, batch.targets, lens, batch.target_lens)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            sched.step()
        print(epoch, round(loss.item(), 3))
    model.eval()
    errors = total = 0
    with torch.inference_mode():
        for batch in DataLoader(test, batch_size=2, collate_fn=collate):
            log_probs, lens = model(batch.feats, batch.feat_lens)
            refs = batch.targets.split(batch.target_lens.tolist())
            for hyp, ref in zip(greedy(log_probs, lens), refs):
                ref = "".join(VOCAB[i] for i in ref)
                errors += edit_distance(hyp, ref)
                total += len(ref)
    print(f"CER {errors / total:.2f}")


if __name__ == "__main__":
    main()
