#!/usr/bin/env python
# coding: utf-8

# In[1]:
# DeepSurv (Cox partial likelihood) + discrete-time hazard (nnet-survival) + Weibull AFT
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Weibull

np.random.seed(42)
torch.manual_seed(42)

# In[2]:
N = 370
N_NUM = 7
CAT_CARDS = [3, 5, 9]
EMB_DIMS = [2, 3, 4]
HIDDEN = [34, 18]
DROPOUT = 0.15
EPOCHS = 12
BATCH = 74
LR = 6e-3
L2 = 1e-3
N_INTERVALS = 13

# In[3]:
# simulate
X_num = np.random.randn(N, N_NUM).astype('float32')
X_cat = np.stack([np.random.randint(0, c, N) for c in CAT_CARDS], axis=1)
cat_eff = [np.random.randn(c) * 0.5 for c in CAT_CARDS]
risk = 0.9 * X_num[:, 0] - 0.6 * X_num[:, 1] ** 2 + 0.5 * X_num[:, 2] * X_num[:, 3]
for j, eff in enumerate(cat_eff):
    risk = risk + eff[X_cat[:, j]]
T_event = (-np.log(np.random.rand(N)) / (0.08 * np.exp(risk))) ** (1 / 1.4)
C = np.random.exponential(np.median(T_event) * 2.2, N)
time = np.minimum(T_event, C).astype('float32')
event = (T_event <= C).astype('float32')
print('events', event.mean(), 'median time', np.median(time))

Xn, Xc = torch.tensor(X_num), torch.tensor(X_cat)
t, e = torch.tensor(time), torch.tensor(event)
perm = torch.randperm(N)
tr, va, te = perm[:250], perm[250:300], perm[300:]
print(Xn.shape, Xc.shape, t.shape, len(tr), len(va), len(te))

# In[4]:


class TabularBackbone(nn.Module):
    def __init__(self, hidden=HIDDEN, p=DROPOUT):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, d) for c, d in zip(CAT_CARDS, EMB_DIMS)])
        self.bn = nn.BatchNorm1d(N_NUM)
        dims = [N_NUM + sum(EMB_DIMS)] + hidden
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers.extend([nn.Linear(a, b), nn.SELU(), nn.AlphaDropout(p)])
        self.mlp = nn.Sequential(*layers)
        self.out_dim = dims[-1]

    def forward(self, xn, xc):
        e = [emb(xc[:, i]) for i, emb in enumerate(self.embs)]
        return self.mlp(torch.cat([self.bn(xn)] + e, dim=1))


# In[5]:
# losses and metrics


def cox_ph_loss(log_h, durations, events, eps=1e-7):
    idx = durations.sort(descending=True)[1]
    events = events[idx]
    log_h = log_h[idx].view(-1)
    gamma = log_h.max()
    log_cumsum_h = log_h.sub(gamma).exp().cumsum(0).add(eps).log().add(gamma)
    return -log_h.sub(log_cumsum_h).mul(events).sum().div(events.sum() + eps)


def cox_logcumsumexp(log_h, durations, events):
    order = torch.argsort(durations, descending=True)
    lh, ev = log_h[order].view(-1), events[order]
    return -((lh - torch.logcumsumexp(lh, 0)) * ev).sum() / ev.sum()


def concordance(score, durations, events):
    ti, tj = durations[:, None], durations[None, :]
    comparable = (ti < tj) & (events[:, None] > 0)
    conc = (score[:, None] > score[None, :]).float() + 0.5 * (score[:, None] == score[None, :]).float()
    return (conc[comparable].sum() / comparable.sum()).item()


_s = torch.randn(31)
_t, _e = torch.rand(31), (torch.rand(31) > 0.4).float()
print(cox_ph_loss(_s, _t, _e), cox_logcumsumexp(_s, _t, _e))
print('true c-index', concordance(torch.tensor(risk), t, e))

# In[6]:
net = TabularBackbone()
head = nn.Linear(net.out_dim, 1, bias=False)
opt = torch.optim.AdamW(list(net.parameters()) + list(head.parameters()), lr=LR, weight_decay=L2)
best, best_state, patience = 0, None, 0
for epoch in range(EPOCHS):
    net.train()
    order = tr[torch.randperm(len(tr))]
    tot = []
    for chunk in order.split(BATCH):
        if len(chunk) < 10:
            continue
        opt.zero_grad()
        loss = cox_ph_loss(head(net(Xn[chunk], Xc[chunk])), t[chunk], e[chunk])
        loss.backward()
        opt.step()
        tot.append(loss.item())
    net.eval()
    with torch.no_grad():
        c = concordance(head(net(Xn[va], Xc[va])).squeeze(1), t[va], e[va])
    if c > best:
        best, patience = c, 0
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    else:
        patience += 1
    if epoch % 4 == 0:
        print(f'{epoch:2d} loss {np.mean(tot):.4f} val c {c:.4f}')
net.load_state_dict(best_state)
print('best', best)

# In[7]:
# Breslow baseline hazard
with torch.no_grad():
    net.eval()
    h_tr = head(net(Xn[tr], Xc[tr])).squeeze(1).exp()
    ts, o = t[tr].sort()
    at_risk = h_tr[o].flip(0).cumsum(0).flip(0)
    dH = e[tr][o] / at_risk
    H0 = dH.cumsum(0)
    lh_te = head(net(Xn[te], Xc[te]))
    pos = torch.searchsorted(ts, t[te]).clamp(max=len(ts) - 1)
    S = torch.exp(-H0[None, :] * lh_te.exp())
print(H0.shape, S.shape, S[:, ::60], S.gather(1, pos[:, None]).mean())
print('test c', concordance(lh_te.squeeze(1), t[te], e[te]))

# In[8]:
# discrete hazards
breaks = torch.quantile(t[tr], torch.linspace(0, 1, N_INTERVALS + 1))
breaks[0] = 0
breaks[-1] = t.max() + 1
interval = (torch.bucketize(t, breaks, right=True) - 1).clamp(0, N_INTERVALS - 1)
print('interval counts', torch.bincount(interval[tr], minlength=N_INTERVALS))


def make_targets(interval, event):
    ar = torch.arange(N_INTERVALS)[None]
    surv = (ar < interval[:, None]).float()
    surv = torch.where((event[:, None] == 0) & (ar == interval[:, None]) & (torch.rand(len(event), 1) < .5),
                       torch.ones_like(surv), surv)
    fail = F.one_hot(interval, N_INTERVALS).float() * event[:, None]
    return surv, fail


surv_t, fail_t = make_targets(interval, e)
print(surv_t.shape, fail_t.sum(0))
disc = nn.ModuleDict({'body': TabularBackbone(hidden=[27]), 'head': nn.Linear(27, N_INTERVALS)})
opt = torch.optim.Adam(disc.parameters(), lr=LR)
for epoch in range(EPOCHS):
    disc.train()
    for chunk in tr[torch.randperm(len(tr))].split(BATCH):
        logit = disc['head'](disc['body'](Xn[chunk], Xc[chunk]))
        ll = surv_t[chunk] * F.logsigmoid(-logit) + fail_t[chunk] * F.logsigmoid(logit)
        loss = -ll.sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
disc.eval()
with torch.no_grad():
    haz = torch.sigmoid(disc['head'](disc['body'](Xn[te], Xc[te])))
    surv = torch.cumprod(1 - haz, dim=1)
    widths = breaks[1:] - breaks[:-1]
    mean_t = (surv[:, :-1] * widths[:-1]).sum(1)
print('discrete', loss.item(), surv.shape, 'c', concordance(-mean_t, t[te], e[te]))

# In[9]:
# Weibull AFT
aft = TabularBackbone(hidden=[15, 11])
aft_head = nn.Linear(11, 2)
opt = torch.optim.Adam([*aft.parameters(), *aft_head.parameters()], lr=LR)
for epoch in range(EPOCHS * 2):
    out = aft_head(aft(Xn[tr], Xc[tr]))
    scale, conc = F.softplus(out[:, 0]) * t[tr].mean() + 1e-3, F.softplus(out[:, 1]) + 0.3
    d = Weibull(scale, conc)
    tt = t[tr].clamp(min=1e-3)
    log_surv = -(tt / scale) ** conc
    nll = -torch.where(e[tr] > 0, d.log_prob(tt), log_surv).mean()
    opt.zero_grad()
    nll.backward()
    nn.utils.clip_grad_norm_(list(aft.parameters()) + list(aft_head.parameters()), 5.0)
    opt.step()
    if epoch % 8 == 0:
        print('aft', epoch, nll.item())
aft.eval()
with torch.no_grad():
    out = aft_head(aft(Xn[te], Xc[te]))
    med = Weibull(F.softplus(out[:, 0]) * t[tr].mean() + 1e-3, F.softplus(out[:, 1]) + 0.3)
print('aft c', concordance(-med.mean, t[te], e[te]), med.sample((3,)).shape)
