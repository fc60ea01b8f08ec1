#!/usr/bin/env python
"""Joint CTC / RNN-Transducer recogniser on synthetic "speech".
Greedy RNN-T decoding and CTC prefix beam search."""
import collections
import math
import os
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

SR = 8000
VOCAB = ['<blk>'] + list('abcdefghijkl')
NEG_INF = -1e30


@dataclass
class Config:
    n_fft: int = 256
    win: int = 200
    hop: int = 80
    n_mels: int = 32
    vgg_ch: int = 10
    enc_hidden: int = 44
    enc_layers: int = 2
    emb_dim: int = 20
    pred_hidden: int = 38
    joint_dim: int = 50
    ctc_weight: float = 0.3
    batch_size: int = 4
    steps: int = 3
    lr: float = 2e-3
    warmup: int = 2


# ------------------------------------------------------------------ features
def mel_filterbank(n_mels, n_fft, sr):
    hz2mel = lambda f: 2595 * np.log10(1 + f / 700)
    mel2hz = lambda m: 700 * (10 ** (m / 2595) - 1)
    pts = mel2hz(np.linspace(hz2mel(20), hz2mel(sr / 2), n_mels + 2))
    freqs = np.linspace(0, sr / 2, n_fft // 2 + 1)
    lower = (freqs[None] - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    upper = (pts[2:, None] - freqs[None]) / (pts[2:] - pts[1:-1])[:, None]
    return torch.from_numpy(np.maximum(0, np.minimum(lower, upper)).astype(np.float32))


class LogMel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.register_buffer('window', torch.hann_window(cfg.win, periodic=True))
        self.register_buffer('fb', mel_filterbank(cfg.n_mels, cfg.n_fft, SR))

    def forward(self, wav, lens):
        frames = wav.unfold(-1, self.cfg.win, self.cfg.hop)
        spec = torch.fft.rfft(frames * self.window, n=self.cfg.n_fft, dim=-1)
        power = spec.real.square() + spec.imag.square()
        mel = torch.matmul(power, self.fb.T).clamp_min(1e-8).log()
        flens = torch.div(lens - self.cfg.win, self.cfg.hop, rounding_mode='trunc') + 1
        valid = (torch.arange(mel.size(1)) < flens[:, None]).unsqueeze(-1)
        n = flens.view(-1, 1, 1)
        mean = (mel * valid).sum(1, keepdim=True) / n
        var = (((mel - mean) * valid) ** 2).sum(1, keepdim=True) / n
        return (mel - mean) / (var + 1e-5).sqrt() * valid, flens


def spec_augment(feats, lens, n_f=1, F_=6, n_t=2, T_=8):
    out = feats.clone()
    for b in range(out.shape[0]):
        for _ in range(n_f):
            f = np.random.randint(0, F_)
            f0 = np.random.randint(0, out.shape[2] - f)
            out[b, :, f0:f0 + f] = 0
        for _ in range(n_t):
            t = np.random.randint(0, min(T_, int(lens[b])))
            t0 = np.random.randint(0, int(lens[b]) - t)
            out[b, t0:t0 + t] = 0
    return out


# ------------------------------------------------------------------ data
class SynthSpeech(Dataset):
    def __init__(self, n, seed=0):
        self.items = []
        rng = np.random.RandomState(seed)
        for _ in range(n):
            labels = rng.randint(1, len(VOCAB), size=rng.randint(3, 8))
            chunks = []
            for l in labels:
                dur = rng.randint(900, 1500)
                t = np.arange(dur) / SR
                chunks.append(np.sin(2 * np.pi * (250 * l) * t) * np.hanning(dur) + 0.5 * np.sin(2 * np.pi * 180 * l * t))
                chunks.append(np.zeros(rng.randint(100, 400)))
            wav = np.concatenate(chunks)
            wav += 0.01 * rng.randn(len(wav))
            self.items.append((wav.astype(np.float32), labels.astype(np.int64)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        wav, labels = self.items[i]
        return torch.from_numpy(wav), torch.from_numpy(labels)


class BucketSampler(Sampler):
    def __init__(self, lengths, batch_size):
        order = np.argsort(lengths)
        self.batches = [order[i:i + batch_size].tolist() for i in range(0, len(order), batch_size)]

    def __iter__(self):
        for i in torch.randperm(len(self.batches)).tolist():
            yield self.batches[i]

    def __len__(self):
        return len(self.batches)


def collate(batch):
    batch.sort(key=lambda x: -len(x[0]))
    wavs, labels = zip(*batch)
    wav_lens = torch.tensor([w.numel() for w in wavs])
    lab_lens = torch.tensor([l.numel() for l in labels])
    return pad_sequence(wavs, batch_first=True), wav_lens, pad_sequence(labels, batch_first=True), lab_lens


# ------------------------------------------------------------------ model
class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg.vgg_ch
        self.vgg = nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d((1, 2)))
        self.rnns, self.projs = nn.ModuleList(), nn.ModuleList()
        idim = 2 * c * (cfg.n_mels // 4)
        for _ in range(cfg.enc_layers):
            self.rnns.append(nn.LSTM(idim, cfg.enc_hidden, batch_first=True, bidirectional=True))
            self.projs.append(nn.Linear(2 * cfg.enc_hidden, cfg.enc_hidden))
            idim = cfg.enc_hidden

    def forward(self, x, lens):
        x = self.vgg(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = x.transpose(1, 2).contiguous().view(b, t, c * f)
        lens = torch.div(lens + 1, 2, rounding_mode='floor')
        for i, (rnn, proj) in enumerate(zip(self.rnns, self.projs)):
            packed = pack_padded_sequence(x, lens.cpu(), batch_first=True)
            out, _ = rnn(packed)
            out, lens = pad_packed_sequence(out, batch_first=True)
            if i < len(self.rnns) - 1:
                out = out[:, ::2]
                lens = torch.div(lens + 1, 2, rounding_mode='floor')
            x = torch.tanh(proj(out))
        return x, lens


class Predictor(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.embed = nn.Embedding(vocab, cfg.emb_dim, padding_idx=0)
        self.rnn = nn.LSTM(cfg.emb_dim, cfg.pred_hidden, batch_first=True)

    def forward(self, y, state=None):
        return self.rnn(self.embed(y), state)


class Joiner(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.enc = nn.Linear(cfg.enc_hidden, cfg.joint_dim)
        self.pred = nn.Linear(cfg.pred_hidden, cfg.joint_dim, bias=False)
        self.out = nn.Linear(cfg.joint_dim, vocab)

    def forward(self, e, p):
        return self.out(torch.tanh(self.enc(e) + self.pred(p)))


class Transducer(nn.Module):
    def __init__(self, cfg, vocab_size):
        super().__init__()
        self.feats, self.encoder = LogMel(cfg), Encoder(cfg)
        self.predictor, self.joiner = Predictor(vocab_size, cfg), Joiner(vocab_size, cfg)
        self.ctc = nn.Linear(cfg.enc_hidden, vocab_size)

    def encode(self, wav, wav_lens):
        feats, lens = self.feats(wav, wav_lens)
        if self.training:
            feats = spec_augment(feats, lens)
        return self.encoder(feats, lens)

    def forward(self, wav, wav_lens, y):
        enc, enc_lens = self.encode(wav, wav_lens)
        pred, _ = self.predictor(F.pad(y, (1, 0)))
        joint = self.joiner(enc.unsqueeze(2), pred.unsqueeze(1))
        return joint.log_softmax(-1), self.ctc(enc).log_softmax(-1), enc_lens

    @torch.no_grad()
    def greedy(self, enc, max_symbols=3):
        hyp = []
        p, state = self.predictor(torch.zeros(1, 1, dtype=torch.long))
        for t in range(enc.size(0)):
            for _ in range(max_symbols):
                k = self.joiner(enc[t], p[0, 0]).argmax().item()
                if k == 0:
                    break
                hyp.append(k)
                p, state = self.predictor(torch.tensor([[k]]), state)
        return hyp


def rnnt_loss(logp, y, t_lens, u_lens):
    """forward algorithm over anti diagonals"""
    B, T, U1, _ = logp.shape
    blank = logp[..., 0]
    emit = logp[:, :, :-1].gather(3, y[:, None, :, None].expand(-1, T, -1, -1)).squeeze(3)
    # skew so that the diagonal n = t + u is a column
    n_diag = T + U1 - 1
    u = torch.arange(U1)
    alphas = [torch.cat([torch.zeros(B, 1), torch.full((B, U1 - 1), NEG_INF)], dim=1)]
    for n in range(1, n_diag):
        prev = alphas[-1]
        t = n - u
        ok = ((t >= 0) & (t < T))[None]
        stay = prev + blank[:, (t - 1).clamp(0, T - 1), u]
        stay = stay.masked_fill((t < 1)[None], NEG_INF)
        te = t.clamp(0, T - 1)[1:]
        up = prev[:, :-1] + emit[:, te, u[:-1]]
        up = F.pad(up, (1, 0), value=NEG_INF)
        alphas.append(torch.logaddexp(stay, up).masked_fill(~ok, NEG_INF))
    alpha = torch.stack(alphas, dim=1)
    b = torch.arange(B)
    final = alpha[b, t_lens - 1 + u_lens, u_lens] + blank[b, t_lens - 1, u_lens]
    return -final


def logsumexp(*args):
    m = max(args)
    return NEG_INF if m <= NEG_INF else m + math.log(sum(math.exp(a - m) for a in args))


def ctc_prefix_beam(logp, beam=4):
    beams = [((), (0.0, NEG_INF))]
    for row in logp.tolist():
        nxt = collections.defaultdict(lambda: (NEG_INF, NEG_INF))
        for prefix, (pb, pnb) in beams:
            for s, p in enumerate(row):
                if s == 0:
                    b, nb = nxt[prefix]
                    nxt[prefix] = (logsumexp(b, pb + p, pnb + p), nb)
                    continue
                b, nb = nxt[prefix + (s,)]
                if prefix and s == prefix[-1]:
                    nxt[prefix + (s,)] = (b, logsumexp(nb, pb + p))
                    b0, nb0 = nxt[prefix]
                    nxt[prefix] = (b0, logsumexp(nb0, pnb + p))
                else:
                    nxt[prefix + (s,)] = (b, logsumexp(nb, pb + p, pnb + p))
        beams = sorted(nxt.items(), key=lambda kv: logsumexp(*kv[1]), reverse=True)[:beam]
    return list(beams[0][0])


def edit_distance(a, b):
    d = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, z in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (x != z))
    return d[-1]


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    cfg = Config()
    train = SynthSpeech(cfg.batch_size * cfg.steps)
    loader = DataLoader(train, batch_sampler=BucketSampler([len(w) for w, _ in train.items], cfg.batch_size), collate_fn=collate)
    model = Transducer(cfg, len(VOCAB))
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    noam = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) ** -0.5, (s + 1) * cfg.warmup ** -1.5))
    model.train()
    for step, (wav, wav_lens, y, y_lens) in enumerate(loader):
        logp, ctc_logp, enc_lens = model(wav, wav_lens, y)
        l_t = (rnnt_loss(logp, y, enc_lens, y_lens) / y_lens).mean()
        l_c = F.ctc_loss(ctc_logp.transpose(0, 1), y, enc_lens, y_lens, blank=0, zero_infinity=True)
        loss = (1 - cfg.ctc_weight) * l_t + cfg.ctc_weight * l_c
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        noam.step()
        print(f'step {step} rnnt {l_t.item():.3f} ctc {l_c.item():.3f} lattice {tuple(logp.shape)} lr {noam.get_last_lr()[0]:.2e}')

    with tempfile.TemporaryDirectory() as d:
        torch.save({'cfg': cfg.__dict__, 'model': model.state_dict()}, os.path.join(d, 'm.pt'))
        ck = torch.load(os.path.join(d, 'm.pt'))
    model = Transducer(Config(**ck['cfg']), len(VOCAB)).eval()
    model.load_state_dict(ck['model'])
    errs, total = np.zeros(2), 0
    for wav, wav_lens, y, y_lens in DataLoader(SynthSpeech(5, seed=9), batch_size=3, collate_fn=collate):
        with torch.no_grad():
            enc, enc_lens = model.encode(wav, wav_lens)
            ctc = model.ctc(enc).log_softmax(-1)
        for i in range(len(enc)):
            ref = y[i, :y_lens[i]].tolist()
            hyps = model.greedy(enc[i, :enc_lens[i]]), ctc_prefix_beam(ctc[i, :enc_lens[i]])
            errs += [edit_distance(ref, h) for h in hyps]
            total += len(ref)
    print('ref', ''.join(VOCAB[k] for k in ref), 'cer rnnt %.2f ctc %.2f' % tuple(errs / total))


if __name__ == '__main__':
    main()
