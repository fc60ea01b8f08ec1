"""FT-Transformer + AutoInt for tabular data, registry of models, simple early stopping trainer."""
import copy
import math
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MODEL_REGISTRY = {}

def register_model(name):
    def _wrap(cls):
        MODEL_REGISTRY[name] = cls
        return cls
    return _wrap

def build_model(name, **kwargs):
    return MODEL_REGISTRY[name](**kwargs)

def reglu(x):
    a, b = x.chunk(2, dim=-1)
    return a * F.relu(b)

def geglu(x):
    a, b = x.chunk(2, dim=-1)
    return a * F.gelu(b)

def get_activation_fn(name):
    return {'reglu': reglu, 'geglu': geglu}.get(name) or getattr(F, name)

class Tokenizer(nn.Module):
    def __init__(self, d_numerical, categories, d_token, bias=True):
        super().__init__()
        d_bias = d_numerical + (len(categories) if categories else 0)
        self.has_cat = bool(categories)
        if self.has_cat:
            offsets = torch.tensor([0] + list(categories[:-1])).cumsum(0)
            self.register_buffer('category_offsets', offsets)
            self.category_embeddings = nn.Embedding(sum(categories), d_token)
            nn.init.kaiming_uniform_(self.category_embeddings.weight, a=math.sqrt(5))
        self.weight = nn.Parameter(torch.empty(d_numerical + 1, d_token))  # +1 for CLS
        self.bias = nn.Parameter(torch.empty(d_bias, d_token)) if bias else None
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias:
            nn.init.kaiming_uniform_(self.bias, a=math.sqrt(5))
    @property
    def n_tokens(self):
        return len(self.weight) + (0 if not self.has_cat else len(self.category_offsets))
    def forward(self, x_num, x_cat=None):
        x_num = torch.cat([torch.ones(len(x_num), 1)] + ([] if x_num is None else [x_num]), dim=1)
        x = self.weight[None] * x_num[:, :, None]
        if x_cat is not None:
            x = torch.cat([x, self.category_embeddings(x_cat + self.category_offsets[None])], dim=1)
        if self.bias is not None:
            bias = torch.cat([torch.zeros(1, self.bias.shape[1]), self.bias])
            x = x + bias[None]
        return x

class PiecewiseLinearEncoding(nn.Module):
    """quantile bins -> [0..1] ramps, then a per-feature linear layer"""
    def __init__(self, edges, d):
        super().__init__()
        self.register_buffer('edges', edges)                      # [F, B+1]
        self.w = nn.Parameter(torch.randn(edges.shape[0], edges.shape[1] - 1, d) * 0.1)
    def forward(self, x):
        lo, hi = self.edges[:, :-1], self.edges[:, 1:]
        ramp = ((x[..., None] - lo) / (hi - lo).clamp(min=1e-6)).clamp(0, 1)
        return torch.einsum('nfb,fbd->nfd', ramp, self.w)

class MultiheadAttention(nn.Module):
    def __init__(self, d, n_heads, dropout, kv_compression=None):
        super().__init__()
        assert d % n_heads == 0
        self.W_q, self.W_k, self.W_v = (nn.Linear(d, d) for _ in range(3))
        self.W_out = nn.Linear(d, d) if n_heads > 1 else None
        self.n_heads = n_heads
        self.dropout = nn.Dropout(dropout) if dropout else None
        self.kv_compression = kv_compression
        for m in [self.W_q, self.W_k, self.W_v]:
            nn.init.xavier_uniform_(m.weight, gain=1 / math.sqrt(2) if m is not self.W_v else 1.0)
            nn.init.zeros_(m.bias)
    def _reshape(self, x):
        bs, n_tokens, d = x.shape
        dh = d // self.n_heads
        return x.reshape(bs, n_tokens, self.n_heads, dh).transpose(1, 2).reshape(bs * self.n_heads, n_tokens, dh)
    def forward(self, x_q, x_kv):
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        if self.kv_compression is not None:
            k = self.kv_compression(k.transpose(1, 2)).transpose(1, 2)
            v = self.kv_compression(v.transpose(1, 2)).transpose(1, 2)
        bs, d_head, n_q = len(q), k.shape[-1] // self.n_heads, q.shape[1]
        q, k = self._reshape(q), self._reshape(k)
        attention = F.softmax(q @ k.transpose(1, 2) / math.sqrt(d_head), dim=-1)
        if self.dropout is not None:
            attention = self.dropout(attention)
        x = attention @ self._reshape(v)
        x = x.reshape(bs, self.n_heads, n_q, d_head).transpose(1, 2).reshape(bs, n_q, self.n_heads * d_head)
        return self.W_out(x) if self.W_out is not None else x

@register_model('ft_transformer')
class FTTransformer(nn.Module):
    def __init__(self, d_numerical, categories, d_out, d_token=24, n_layers=2, n_heads=3, d_ffn_factor=4 / 3,
                 attention_dropout=0.1, ffn_dropout=0.1, residual_dropout=0.0, activation='reglu', prenormalization=True,
                 kv_ratio=None, **kwargs):
        super().__init__()
        self.tokenizer = Tokenizer(d_numerical, categories, d_token)
        n_tokens = self.tokenizer.n_tokens
        comp = nn.Linear(n_tokens, int(n_tokens * kv_ratio), bias=False) if kv_ratio else None
        d_hidden = int(d_token * d_ffn_factor)
        self.layers = nn.ModuleList()
        for idx in range(n_layers):
            layer = nn.ModuleDict({
                'attention': MultiheadAttention(d_token, n_heads, attention_dropout, comp),
                'linear0': nn.Linear(d_token, d_hidden * (2 if activation.endswith('glu') else 1)),
                'linear1': nn.Linear(d_hidden, d_token),
                'norm1': nn.LayerNorm(d_token)})
            if not prenormalization or idx:
                layer['norm0'] = nn.LayerNorm(d_token)
            self.layers.append(layer)
        self.activation, self.last_activation = get_activation_fn(activation), F.relu
        self.prenorm, self.ffn_dropout, self.residual_dropout = prenormalization, ffn_dropout, residual_dropout
        self.last_norm = nn.LayerNorm(d_token) if prenormalization else None
        self.head = nn.Linear(d_token, d_out)
    def _start(self, layer, x, i):
        key = f'norm{i}'
        return layer[key](x) if self.prenorm and key in layer else x
    def _end(self, layer, x, res, i):
        x = x + F.dropout(res, self.residual_dropout, self.training)
        return x if self.prenorm else layer[f'norm{i}'](x)
    def forward(self, x_num, x_cat):
        x = self.tokenizer(x_num, x_cat)
        for idx, layer in enumerate(self.layers):
            is_last = idx + 1 == len(self.layers)
            res = self._start(layer, x, 0)
            res = layer['attention'](res[:, :1] if is_last else res, res)
            if is_last:
                x = x[:, :res.shape[1]]
            x = self._end(layer, x, res, 0)
            res = layer['linear0'](self._start(layer, x, 1))
            res = F.dropout(self.activation(res), self.ffn_dropout, self.training)
            x = self._end(layer, x, layer['linear1'](res), 1)
        x = x[:, 0]
        if self.last_norm is not None:
            x = self.last_norm(x)
        return self.head(self.last_activation(x)).squeeze(-1)

@register_model('autoint')
class AutoInt(nn.Module):
    def __init__(self, d_numerical, categories, d_out, edges, emb=14, att=10, heads=2, n_blocks=2, deep=(37, 21), **kwargs):
        super().__init__()
        self.num = PiecewiseLinearEncoding(edges, emb)
        self.cats = nn.ModuleList([nn.Embedding(c, emb) for c in categories])
        dims = [emb] + [att * heads] * n_blocks
        self.blocks = nn.ModuleList([nn.ModuleDict({'attn': nn.MultiheadAttention(b, heads, batch_first=True),
                                                    'inp': nn.Linear(a, b), 'res': nn.Linear(a, b, bias=False)})
                                     for a, b in zip(dims[:-1], dims[1:])])
        n_fields = d_numerical + len(categories)
        mods, w = [], [n_fields * emb, *deep]
        for a, b in zip(w[:-1], w[1:]):
            mods.extend([nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Dropout(0.1)])
        self.deep = nn.Sequential(*mods)
        self.out = nn.Linear(n_fields * dims[-1] + deep[-1], d_out)
    def forward(self, x_num, x_cat):
        e = torch.cat([self.num(x_num), torch.stack([emb(x_cat[:, i]) for i, emb in enumerate(self.cats)], 1)], 1)
        # factorisation-machine style pairwise term
        self.fm = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(-1)
        h = e
        for blk in self.blocks:
            z = blk['inp'](h)
            h = F.relu(blk['attn'](z, z, z, need_weights=False)[0] + blk['res'](h))
        return self.out(torch.cat([h.flatten(1), self.deep(e.flatten(1))], 1)).squeeze(-1) + 0.01 * self.fm

class TabularData:
    def __init__(self, n=420, d_num=6, cards=(4, 7, 3, 11), seed=0):
        rng = np.random.default_rng(seed)
        self.x_num = rng.lognormal(size=(n, d_num)).astype(np.float32)
        self.x_cat = np.stack([rng.integers(0, c, n) for c in cards], 1)
        tables = [rng.normal(size=c) for c in cards]
        z = np.log(self.x_num[:, 0]) * tables[0][self.x_cat[:, 0]] + np.where(self.x_num[:, 1] > 1, tables[1][self.x_cat[:, 1]], -.4)
        self.y = (z + 0.3 * rng.normal(size=n) > 0).astype(np.float32)
        self.cards, self.d_num = list(cards), d_num
        idx = rng.permutation(n)
        self.split = {'train': idx[:280], 'val': idx[280:340], 'test': idx[340:]}
    def quantile_transform(self):
        ref = np.sort(self.x_num[self.split['train']], axis=0)
        u = np.stack([np.searchsorted(ref[:, j], self.x_num[:, j]) / (len(ref) + 1) for j in range(self.d_num)], 1)
        u = torch.tensor(u, dtype=torch.float32).clamp(1e-3, 1 - 1e-3)
        self.x_num = torch.erfinv(2 * u - 1).numpy() * np.float32(math.sqrt(2))
    def tensors(self, part):
        i = self.split[part]
        return tuple(torch.from_numpy(a[i]) for a in (self.x_num, self.x_cat, self.y))

def roc_auc(score, y):
    order = score.argsort()
    ranks = torch.empty_like(order, dtype=torch.float)
    ranks[order] = torch.arange(1, len(score) + 1, dtype=torch.float)
    n1 = y.sum()
    return ((ranks[y == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1))).item()

class Trainer:
    def __init__(self, model, data, lr=3e-3, weight_decay=1e-4, batch_size=56, patience=3):
        self.model, self.data, self.bs, self.patience = model, data, batch_size, patience
        no_wd = [p for n, p in model.named_parameters() if n.endswith('bias') or 'norm' in n or 'tokenizer' in n]
        ids = set(map(id, no_wd))
        self.opt = torch.optim.AdamW([{'params': [p for p in model.parameters() if id(p) not in ids]},
                                      {'params': no_wd, 'weight_decay': 0.0}], lr=lr, weight_decay=weight_decay)
    @torch.no_grad()
    def evaluate(self, part):
        self.model.eval()
        xn, xc, y = self.data.tensors(part)
        out = torch.cat([self.model(a, b) for a, b in zip(xn.split(48), xc.split(48))])
        return roc_auc(out, y)
    def fit(self, epochs):
        xn, xc, y = self.data.tensors('train')
        best, best_state, bad = -1, None, 0
        for ep in range(epochs):
            self.model.train()
            for idx in torch.randperm(len(y)).split(self.bs):
                target = y[idx] * 0.96 + 0.02
                loss = F.binary_cross_entropy_with_logits(self.model(xn[idx], xc[idx]), target)
                self.opt.zero_grad(); loss.backward(); self.opt.step()
            auc = self.evaluate('val')
            if auc > best:
                best, best_state, bad = auc, copy.deepcopy(self.model.state_dict()), 0
            else:
                bad += 1
            print(f'    ep {ep} loss {loss.item():.4f} val auc {auc:.4f}')
            if bad >= self.patience:
                break
        self.model.load_state_dict(best_state)
        return self.evaluate('test')

if __name__ == '__main__':
    torch.manual_seed(15)
    data = TabularData()
    data.quantile_transform()
    qs = torch.linspace(0, 1, 9 + 1)
    edges = torch.quantile(data.tensors('train')[0], qs, dim=0).T.contiguous()
    make = partial(build_model, d_numerical=data.d_num, categories=data.cards, d_out=1, edges=edges)
    for name, kw in [('ft_transformer', dict(kv_ratio=0.5)), ('ft_transformer', dict(activation='gelu', prenormalization=False)), ('autoint', {})]:
        print(name, kw, 'test auc', Trainer(make(name, **kw), data).fit(5))
