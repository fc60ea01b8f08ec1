# %%
# Neural temporal point processes: simulate Hawkes (thinning), fit
#  (a) the exponential Hawkes by MLE, (b) RMTPP with GRU, (c) log-normal mixture with marks
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributions as D
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

np.random.seed(99)
torch.manual_seed(99)

# %%
N_MARKS = 4
T_MAX = 12.0
N_SEQ = 46
MU = np.array([0.3, 0.15, 0.2, 0.1])
ADJ = np.array([[0.3, 0.2, 0.0, 0.0], [0.0, 0.2, 0.3, 0.0], [0.1, 0.0, 0.2, 0.3], [0.25, 0.0, 0.0, 0.1]])
BETA = 1.7
EMB = 9
HID = 22
N_COMP = 5
BATCH = 13
EPOCHS = 5
LR = 8e-3
PAD = N_MARKS

# %%


def simulate():
    t, events, marks = 0.0, [], []
    while True:
        hist = np.array(events)

        def intensity(s):
            lam = MU.copy()
            if len(events):
                decay = BETA * np.exp(-BETA * (s - hist))
                for m, d in zip(marks, decay):
                    lam = lam + ADJ[m] * d
            return lam
        lam_bar = intensity(t).sum() + 1e-9
        t = t + np.random.exponential(1 / lam_bar)
        if t > T_MAX:
            break
        lam = intensity(t)
        if np.random.rand() < lam.sum() / lam_bar:
            marks.append(np.random.choice(N_MARKS, p=lam / lam.sum()))
            events.append(t)
    return np.array(events), np.array(marks)


seqs = []
while len(seqs) < N_SEQ:
    ev, mk = simulate()
    if len(ev) >= 3:
        seqs.append((ev, mk))
lens = [len(a) for a, _ in seqs]
print('lengths', min(lens), np.mean(lens), max(lens))
print('mark hist', torch.bincount(torch.tensor(np.concatenate([m for _, m in seqs])), minlength=N_MARKS))

# %%
times = pad_sequence([torch.tensor(a, dtype=torch.float32) for a, _ in seqs], batch_first=True, padding_value=T_MAX)
marks = pad_sequence([torch.tensor(m) for _, m in seqs], batch_first=True, padding_value=PAD)
lengths = torch.tensor(lens)
mask = torch.arange(times.size(1))[None, :] < lengths[:, None]
deltas = torch.diff(times, dim=1, prepend=torch.zeros(N_SEQ, 1)).clamp(min=1e-4)
print(times.shape, marks.shape, mask.sum(), deltas.mean())

# %%
# (a) Hawkes MLE, vectorised O(L^2)
log_mu = nn.Parameter(torch.full((N_MARKS,), -1.5))
log_alpha = nn.Parameter(torch.full((N_MARKS, N_MARKS), -2.0))
log_beta = nn.Parameter(torch.zeros(()))


def hawkes_nll(t, m, msk):
    mu, alpha, beta = log_mu.exp(), log_alpha.exp(), log_beta.exp()
    dt = t[:, :, None] - t[:, None, :]
    causal = torch.tril(torch.ones(t.size(1), t.size(1)), -1).bool()[None] & msk[:, None, :]
    kern = beta * torch.exp(-beta * dt.clamp(min=0))
    kern = kern.masked_fill(~causal, 0.0)
    mc = m.clamp(max=N_MARKS - 1)
    a = alpha[mc][:, None, :, :].expand(-1, t.size(1), -1, -1)          # [B, L, L, K] from j
    lam = mu + torch.einsum('blj,bljk->blk', kern, a)
    lam_m = lam.gather(2, mc.unsqueeze(-1)).squeeze(-1)
    ll = (lam_m.clamp(min=1e-8).log() * msk).sum(1)
    comp = mu.sum() * T_MAX + (alpha.sum(1)[mc] * (1 - torch.exp(-beta * (T_MAX - t))) * msk).sum(1)
    return -(ll - comp)


print(hawkes_nll(times, marks, mask).shape)
opt = torch.optim.Adam([log_mu, log_alpha, log_beta], lr=0.06)
t0 = time.time()
for it in range(40):
    ix = torch.randperm(N_SEQ)[:BATCH]
    loss = hawkes_nll(times[ix], marks[ix], mask[ix]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print('hawkes', it, loss.item(), 'beta', log_beta.exp().item())
print('took', time.time() - t0)
print('alpha err', (log_alpha.exp().detach() - torch.tensor(ADJ)).abs().mean().item())
print('branching ratio', torch.linalg.eigvals(log_alpha.exp().detach()).abs().max().item())

# %%
# shared recurrent encoder


class HistoryEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(N_MARKS + 1, EMB, padding_idx=PAD)
        self.gru = nn.GRU(EMB + 2, HID, batch_first=True)
        self.h0 = nn.Parameter(torch.zeros(1, 1, HID))

    def forward(self, dt, m, lens):
        x = torch.cat([self.emb(m), dt.unsqueeze(-1), dt.log().unsqueeze(-1)], dim=-1)
        packed = pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
        h0 = self.h0.repeat(1, x.size(0), 1)
        out, _ = self.gru(packed, h0)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
        # shift right, the state before event i
        return torch.cat([h0.transpose(0, 1), out[:, :-1]], dim=1), out


class RMTPP(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = HistoryEncoder()
        self.v = nn.Linear(HID, 1)
        self.w = nn.Parameter(torch.tensor(-0.5))
        self.mark = nn.Linear(HID, N_MARKS)

    def forward(self, dt, m, lens, msk):
        h, _ = self.enc(dt, m, lens)
        v = self.v(h).squeeze(-1)
        w = -F.softplus(self.w)
        log_f = v + w * dt + (torch.exp(v) - torch.exp(v + w * dt)) / w
        mark_lp = self.mark(h).log_softmax(-1).gather(-1, m.clamp(max=N_MARKS - 1)[..., None]).squeeze(-1)
        return -((log_f + mark_lp) * msk).sum(1)


class LogNormMix(nn.Module):
    def __init__(self, mean_log, std_log):
        super().__init__()
        self.enc = HistoryEncoder()
        self.params = nn.Linear(HID, 3 * N_COMP)
        self.mark = nn.Sequential(nn.Linear(HID, 17), nn.Tanh(), nn.Linear(17, N_MARKS))
        self.register_buffer('mean_log', mean_log)
        self.register_buffer('std_log', std_log)

    def dist(self, h):
        loc, log_scale, logit = self.params(h).split(N_COMP, dim=-1)
        mix = D.Categorical(logits=logit)
        comp = D.Normal(loc, log_scale.clamp(-4, 3).exp())
        base = D.MixtureSameFamily(mix, comp)
        return D.TransformedDistribution(base, [D.AffineTransform(self.mean_log, self.std_log), D.ExpTransform()])

    def forward(self, dt, m, lens, msk):
        h, _ = self.enc(dt, m, lens)
        log_f = self.dist(h).log_prob(dt)
        ce = F.cross_entropy(self.mark(h).transpose(1, 2), m.clamp(max=N_MARKS - 1), reduction='none')
        return -((log_f - ce) * msk).sum(1)

    @torch.no_grad()
    def sample(self, n, t_end):
        h = self.enc.h0.expand(1, n, HID).contiguous()
        t = torch.zeros(n)
        ts, ms = [], []
        while (t < t_end).any() and len(ts) < 30:
            dt = self.dist(h[0]).sample().clamp(1e-4, t_end)
            mk = D.Categorical(logits=self.mark(h[0])).sample()
            t = t + dt
            ts.append(t.clone())
            ms.append(torch.where(t < t_end, mk, torch.full_like(mk, PAD)))
            x = torch.cat([self.enc.emb(mk), dt[:, None], dt.log()[:, None]], -1)
            _, h = self.enc.gru(x[:, None], h)
        return torch.stack(ts, 1), torch.stack(ms, 1)


# %%
valid_log = deltas[mask].log()
for NAME, net in [('rmtpp', RMTPP()), ('lognormmix', LogNormMix(valid_log.mean(), valid_log.std()))]:
    opt = torch.optim.Adam(net.parameters(), lr=LR, weight_decay=1e-5)
    for epoch in range(EPOCHS):
        tot = 0.0
        for ix in torch.randperm(N_SEQ).split(BATCH):
            nll = net(deltas[ix], marks[ix], lengths[ix], mask[ix])
            loss = nll.sum() / mask[ix].sum()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 4.0)
            opt.step()
            tot += nll.sum().item()
        if epoch % 2 == 0:
            print(NAME, 'epoch', epoch, 'nll/event', tot / mask.sum().item())

# %%
ts, ms = net.sample(7, T_MAX)
print('sampled', ts.shape, ms.shape, 'mean count', (ts < T_MAX).float().sum(1).mean().item(), 'data', np.mean(lens))
counts = torch.zeros(N_MARKS + 1).scatter_add_(0, ms.flatten(), torch.ones(ms.numel()))
print('mark counts', counts)
# time-rescaling residuals for the fitted hawkes (total intensity)
with torch.no_grad():
    t1, m1 = times[:1, :lens[0]], marks[0, :lens[0]]
    grid = torch.linspace(0, T_MAX, 200)
    k = log_beta.exp() * torch.exp(-log_beta.exp() * (grid[:, None] - t1[0][None, :]).clamp(min=0))
    k = torch.where(grid[:, None] > t1[0][None, :], k, torch.zeros(()))
    lam = log_mu.exp().sum() + k @ log_alpha.exp().sum(1)[m1]
    Lam = torch.cumulative_trapezoid(lam, grid)
    res = torch.diff(Lam[torch.searchsorted(grid, t1[0]).clamp(max=198)])
print('residual mean (should be ~1)', res.mean().item(), res.shape)
