# coding: utf-8
# In[1]: informer-like forecaster (ProbSparse attention + distilling) vs. N-BEATS baseline, on a fake hourly series
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from math import sqrt
from types import SimpleNamespace
from torch.utils.data import Dataset, DataLoader

args = SimpleNamespace(
    seq_len=48, label_len=24, pred_len=12,
    enc_in=4, dec_in=4, c_out=4,
    d_model=32, n_heads=4, e_layers=2, d_layers=1, d_ff=64,
    factor=3, dropout=0.05, attn='prob', distil=True, mix=True,
    batch_size=8, train_steps=3, learning_rate=1e-3, loss='huber', seed=2021,
)
torch.manual_seed(args.seed)
np.random.seed(args.seed)

# In[2]: make the data
T = 600
t = np.arange(T)
hours = t % 24
days = (t // 24) % 7
base = np.sin(2 * np.pi * t / 24)[:, None] * np.array([1.0, 0.5, -0.7, 0.2])
week = np.cos(2 * np.pi * t / 168)[:, None] * np.random.rand(1, 4)
raw = base + week + 0.1 * np.random.randn(T, args.enc_in)
raw[:, 3] += 0.002 * t  # trend
stamp = np.stack([hours / 23.0 - 0.5, days / 6.0 - 0.5], axis=1)
print(raw.shape, stamp.shape)


class StandardScaler():
    def __init__(self):
        self.mean = 0.
        self.std = 1.

    def fit(self, data):
        self.mean = data.mean(0)
        self.std = data.std(0)

    def transform(self, data):
        mean = torch.from_numpy(self.mean).type_as(data) if torch.is_tensor(data) else self.mean
        std = torch.from_numpy(self.std).type_as(data) if torch.is_tensor(data) else self.std
        return (data - mean) / std

    def inverse_transform(self, data):
        mean = torch.from_numpy(self.mean).type_as(data) if torch.is_tensor(data) else self.mean
        std = torch.from_numpy(self.std).type_as(data) if torch.is_tensor(data) else self.std
        return (data * std) + mean


scaler = StandardScaler()
scaler.fit(raw[:420])
series = torch.tensor(scaler.transform(raw), dtype=torch.float32)
marks = torch.tensor(stamp, dtype=torch.float32)


class Windows(Dataset):
    def __init__(self, x, m, a):
        self.a = a
        w = a.seq_len + a.pred_len
        # unfold puts the window last
        self.x = x.unfold(0, w, 1).transpose(1, 2)
        self.m = m.unfold(0, w, 1).transpose(1, 2)

    def __getitem__(self, i):
        a = self.a
        x, m = self.x[i], self.m[i]
        s = a.seq_len - a.label_len
        return x[:a.seq_len], x[s:], m[:a.seq_len], m[s:]

    def __len__(self):
        return self.x.size(0)


train_data = Windows(series[:420], marks[:420], args)
test_data = Windows(series[420:], marks[420:], args)
train_loader = DataLoader(train_data, batch_size=args.batch_size, shuffle=True, drop_last=True)
test_loader = DataLoader(test_data, batch_size=32, shuffle=False, drop_last=False)
print('train', len(train_data), 'test', len(test_data), [b.shape for b in train_data[0]])


# In[3]: attention
class ProbAttention(nn.Module):
    def __init__(self, mask_flag=True, factor=5, scale=None, attention_dropout=0.1):
        super(ProbAttention, self).__init__()
        self.factor = factor
        self.scale = scale
        self.mask_flag = mask_flag
        self.dropout = nn.Dropout(attention_dropout)

    def _prob_QK(self, Q, K, sample_k, n_top):
        B, H, L_K, E = K.shape
        _, _, L_Q, _ = Q.shape
        # calculate the sampled Q_K
        K_expand = K.unsqueeze(-3).expand(B, H, L_Q, L_K, E)
        index_sample = torch.randint(L_K, (L_Q, sample_k))
        K_sample = K_expand[:, :, torch.arange(L_Q).unsqueeze(1), index_sample, :]
        Q_K_sample = torch.matmul(Q.unsqueeze(-2), K_sample.transpose(-2, -1)).squeeze(-2)
        # find the Top_k query with sparisty measurement
        M = Q_K_sample.max(-1)[0] - torch.div(Q_K_sample.sum(-1), L_K)
        M_top = M.topk(n_top, sorted=False)[1]
        # use the reduced Q to calculate Q_K
        Q_reduce = Q[torch.arange(B)[:, None, None], torch.arange(H)[None, :, None], M_top, :]
        return torch.matmul(Q_reduce, K.transpose(-2, -1)), M_top

    def _get_initial_context(self, V, L_Q):
        B, H, L_V, D = V.shape
        if not self.mask_flag:
            V_sum = V.mean(dim=-2)
            contex = V_sum.unsqueeze(-2).expand(B, H, L_Q, V_sum.shape[-1]).clone()
        else:
            assert (L_Q == L_V)  # requires that L_Q == L_V, i.e. for self-attention only
            contex = V.cumsum(dim=-2)
        return contex

    def _update_context(self, context_in, V, scores, index, L_Q):
        B, H, L_V, D = V.shape
        b, h = torch.arange(B)[:, None, None], torch.arange(H)[None, :, None]
        if self.mask_flag:
            _mask = torch.ones(L_Q, scores.shape[-1], dtype=torch.bool).triu(1)
            _mask_ex = _mask[None, None, :].expand(B, H, L_Q, scores.shape[-1])
            indicator = _mask_ex[b, h, index, :].view(scores.shape)
            scores.masked_fill_(indicator, -np.inf)
        attn = torch.softmax(scores, dim=-1)
        context_in[b, h, index, :] = torch.matmul(attn, V).type_as(context_in)
        return context_in

    def forward(self, queries, keys, values):
        B, L_Q, H, D = queries.shape
        _, L_K, _, _ = keys.shape
        queries, keys, values = (z.transpose(2, 1) for z in (queries, keys, values))
        U_part = min(self.factor * np.ceil(np.log(L_K)).astype('int').item(), L_K)  # c*ln(L_k)
        u = min(self.factor * np.ceil(np.log(L_Q)).astype('int').item(), L_Q)
        scores_top, index = self._prob_QK(queries, keys, sample_k=U_part, n_top=u)
        scores_top = scores_top * (self.scale or 1. / sqrt(D))
        context = self._get_initial_context(values, L_Q)
        context = self._update_context(context, values, scores_top, index, L_Q)
        return context.transpose(2, 1).contiguous()


class FullAttention(nn.Module):
    def __init__(self, mask_flag=True, factor=5, scale=None, attention_dropout=0.1):
        super(FullAttention, self).__init__()
        self.scale, self.mask_flag = scale, mask_flag
        self.dropout = nn.Dropout(attention_dropout)

    def forward(self, queries, keys, values):
        B, L, H, E = queries.shape
        _, S, _, D = values.shape
        scores = torch.einsum("blhe,bshe->bhls", queries, keys)
        if self.mask_flag:
            scores.masked_fill_(torch.triu(torch.ones(L, S, dtype=torch.bool), diagonal=1), -np.inf)
        A = self.dropout(torch.softmax((self.scale or 1. / sqrt(E)) * scores, dim=-1))
        return torch.einsum("bhls,bshd->blhd", A, values).contiguous()


class AttentionLayer(nn.Module):
    def __init__(self, attention, d_model, n_heads, mix=False):
        super(AttentionLayer, self).__init__()
        self.inner_attention = attention
        self.query_projection, self.key_projection, self.value_projection, self.out_projection = [
            nn.Linear(d_model, d_model) for _ in range(4)]
        self.n_heads, self.mix = n_heads, mix

    def forward(self, queries, keys, values):
        B, L, _ = queries.shape
        _, S, _ = keys.shape
        H = self.n_heads
        out = self.inner_attention(self.query_projection(queries).view(B, L, H, -1),
                                   self.key_projection(keys).view(B, S, H, -1),
                                   self.value_projection(values).view(B, S, H, -1))
        if self.mix:
            out = out.transpose(2, 1).contiguous()
        return self.out_projection(out.view(B, L, -1))


# In[4]: embedding, encoder, decoder
class DataEmbedding(nn.Module):
    def __init__(self, c_in, d_model, dropout=0.1, n_mark=2):
        super().__init__()
        self.value = nn.Conv1d(c_in, d_model, 3, padding=1, padding_mode='circular')
        self.temporal = nn.Linear(n_mark, d_model, bias=False)
        pos = torch.arange(0, 200).float().unsqueeze(1)
        div = (torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model)).exp()
        pe = torch.zeros(200, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer('pe', pe.unsqueeze(0))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, x_mark):
        x = self.value(x.permute(0, 2, 1)).transpose(1, 2) + self.temporal(x_mark) + self.pe[:, :x.size(1)]
        return self.dropout(x)


class ConvLayer(nn.Module):
    def __init__(self, c_in):
        super().__init__()
        self.downConv = nn.Conv1d(c_in, c_in, 3, padding=2, padding_mode='circular')
        self.norm = nn.BatchNorm1d(c_in)
        self.maxPool = nn.MaxPool1d(kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        x = self.maxPool(F.elu(self.norm(self.downConv(x.permute(0, 2, 1)))))
        return x.transpose(1, 2)


class Layer(nn.Module):
    """encoder layer, or a decoder layer when cross is given"""
    def __init__(self, self_attn, a, cross=None):
        super().__init__()
        self.attention, self.cross = self_attn, cross
        self.conv1 = nn.Conv1d(a.d_model, a.d_ff, kernel_size=1)
        self.conv2 = nn.Conv1d(a.d_ff, a.d_model, kernel_size=1)
        self.norms = nn.ModuleList([nn.LayerNorm(a.d_model) for _ in range(3 if cross else 2)])
        self.dropout = nn.Dropout(a.dropout)

    def forward(self, x, memory=None):
        x = self.norms[0](x + self.dropout(self.attention(x, x, x)))
        if self.cross is not None:
            x = self.norms[2](x + self.dropout(self.cross(x, memory, memory)))
        y = self.dropout(F.gelu(self.conv1(x.transpose(-1, 1))))
        y = self.dropout(self.conv2(y).transpose(-1, 1))
        return self.norms[1](x + y)


class Informer(nn.Module):
    def __init__(self, a):
        super(Informer, self).__init__()
        self.pred_len = a.pred_len
        Attn = {'prob': ProbAttention, 'full': FullAttention}[a.attn]
        mk = lambda cls, mask, mix=False: AttentionLayer(cls(mask, a.factor, attention_dropout=a.dropout), a.d_model, a.n_heads, mix)
        self.enc_embedding = DataEmbedding(a.enc_in, a.d_model, a.dropout)
        self.dec_embedding = DataEmbedding(a.dec_in, a.d_model, a.dropout)
        self.enc_layers = nn.ModuleList([Layer(mk(Attn, False), a) for _ in range(a.e_layers)])
        self.convs = nn.ModuleList([ConvLayer(a.d_model) for _ in range(a.e_layers - 1)]) if a.distil else None
        self.enc_norm = nn.LayerNorm(a.d_model)
        self.dec_layers = nn.ModuleList([Layer(mk(Attn, True, a.mix), a, mk(FullAttention, False)) for _ in range(a.d_layers)])
        self.dec_norm = nn.LayerNorm(a.d_model)
        self.projection = nn.Linear(a.d_model, a.c_out, bias=True)

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec):
        h = self.enc_embedding(x_enc, x_mark_enc)
        for i, l in enumerate(self.enc_layers):
            h = l(h)
            if self.convs is not None and i < len(self.convs):
                h = self.convs[i](h)
        h = self.enc_norm(h)
        d = self.dec_embedding(x_dec, x_mark_dec)
        for l in self.dec_layers:
            d = l(d, h)
        return self.projection(self.dec_norm(d))[:, -self.pred_len:, :]


# In[5]: train
model = Informer(args)
optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
criterion = {'mse': nn.MSELoss(), 'mae': nn.L1Loss(), 'huber': nn.SmoothL1Loss(beta=0.5)}[args.loss]


def process(batch):
    bx, by, bxm, bym = batch
    dec_inp = torch.zeros([by.shape[0], args.pred_len, by.shape[-1]]).float()
    dec_inp = torch.cat([by[:, :args.label_len, :], dec_inp], dim=1)
    out = model(bx, bxm, dec_inp, bym)
    return out, by[:, -args.pred_len:, :]


model.train()
for i, batch in enumerate(train_loader):
    if i == args.train_steps: break
    optimizer.zero_grad()
    pred, true = process(batch)
    loss = criterion(pred, true)
    loss.backward()
    optimizer.step()
    print("\titers: {0} | loss: {1:.5f}".format(i + 1, loss.item()))

# In[6]: test
model.eval()
preds, trues = [], []
with torch.no_grad():
    for batch in test_loader:
        pred, true = process(batch)
        preds.append(scaler.inverse_transform(pred).numpy())
        trues.append(scaler.inverse_transform(true).numpy())
preds, trues = np.concatenate(preds, axis=0), np.concatenate(trues, axis=0)
print('test shape:', preds.shape, trues.shape)
mae, mse = np.abs(preds - trues).mean(), ((preds - trues) ** 2).mean()
rmse_h = np.sqrt(((preds - trues) ** 2).mean(axis=(0, 2)))
naive = scaler.inverse_transform(test_data.x[:, args.seq_len - 24:args.seq_len - 24 + args.pred_len]).numpy()
print('mse:{:.4f}, mae:{:.4f} seasonal naive mae:{:.4f}'.format(mse, mae, np.abs(naive - trues).mean()), rmse_h.round(2))
