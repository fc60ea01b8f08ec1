"""Adapting a small BERT-like encoder: LoRA + prefix tuning, then structured head pruning and fake-quant QAT."""
import copy
import math
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize

class EncoderConfig:
    def __init__(self, vocab_size=61, max_len=21, hidden=40, heads=5, layers=2, ffn=66, act='gelu', pad_id=0, cls_id=1,
                 mask_id=2, num_labels=4, dropout=0.05, **kwargs):
        self.__dict__.update({k: v for k, v in locals().items() if k not in ('self', 'kwargs', '__class__')})
        self.extra = kwargs

    @property
    def head_dim(self):
        return self.hidden // self.heads

class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_heads, self.head_dim = cfg.heads, cfg.head_dim
        self.query, self.key, self.value = [nn.Linear(cfg.hidden, cfg.hidden) for _ in range(3)]
        self.out = nn.Linear(cfg.hidden, cfg.hidden)
        self.dropout = nn.Dropout(cfg.dropout)
        self.register_buffer('head_gate', torch.ones(cfg.heads), persistent=False)

    def shape(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x, pad_mask, prefix=None):
        q, k, v = self.shape(self.query(x)), self.shape(self.key(x)), self.shape(self.value(x))
        if prefix is not None:
            pk, pv = prefix
            k = torch.cat([pk.expand(x.size(0), -1, -1, -1), k], dim=2)
            v = torch.cat([pv.expand(x.size(0), -1, -1, -1), v], dim=2)
            pad_mask = F.pad(pad_mask, (pk.size(2), 0), value=False)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(pad_mask[:, None, None, :], torch.finfo(scores.dtype).min)
        ctx = self.dropout(scores.softmax(-1)) @ v
        ctx = ctx * self.head_gate.view(1, -1, 1, 1)
        return self.out(ctx.permute(0, 2, 1, 3).flatten(2))

class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attn = SelfAttention(cfg)
        self.fc1, self.fc2 = nn.Linear(cfg.hidden, cfg.ffn), nn.Linear(cfg.ffn, cfg.hidden)
        self.ln1, self.ln2 = nn.LayerNorm(cfg.hidden), nn.LayerNorm(cfg.hidden)
        self.act = getattr(F, cfg.act)

    def forward(self, x, pad_mask, prefix=None):
        x = self.ln1(x + self.attn(x, pad_mask, prefix))
        return self.ln2(x + self.fc2(self.act(self.fc1(x))))

class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.hidden, padding_idx=cfg.pad_id)
        self.pos = nn.Embedding(cfg.max_len, cfg.hidden)
        self.ln = nn.LayerNorm(cfg.hidden)
        self.layers = nn.ModuleList([Layer(cfg) for _ in range(cfg.layers)])
        self.mlm_bias = nn.Parameter(torch.zeros(cfg.vocab_size))
        self.classifier = nn.Linear(cfg.hidden, cfg.num_labels)
        self.prefix = None

    def forward(self, ids, task='cls'):
        pad = ids.eq(self.cfg.pad_id)
        x = self.ln(self.tok(ids) + self.pos(torch.arange(ids.size(1))))
        prefixes = self.prefix() if self.prefix is not None else [None] * len(self.layers)
        for layer, p in zip(self.layers, prefixes):
            x = layer(x, pad, p)
        if task == 'mlm':
            return x @ self.tok.weight.t() + self.mlm_bias
        keep = (~pad).unsqueeze(-1).float()
        return self.classifier((x * keep).sum(1) / keep.sum(1))

class LoRALinear(nn.Module):
    def __init__(self, base, r=3, alpha=6, dropout=0.0):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling, self.drop = alpha / r, nn.Dropout(dropout)

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(self.drop(x), self.lora_A), self.lora_B) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.lora_B @ self.lora_A * self.scaling
        return self.base

class PrefixEncoder(nn.Module):
    def __init__(self, cfg, length=4, mid=23):
        super().__init__()
        self.cfg, self.length = cfg, length
        self.embedding = nn.Embedding(length, cfg.hidden)
        self.trans = nn.Sequential(nn.Linear(cfg.hidden, mid), nn.Tanh(), nn.Linear(mid, cfg.layers * 2 * cfg.hidden))

    def forward(self):
        kv = self.trans(self.embedding(torch.arange(self.length)))
        kv = kv.view(self.length, self.cfg.layers, 2, self.cfg.heads, self.cfg.head_dim).permute(1, 2, 3, 0, 4)
        return [(l[0].unsqueeze(0), l[1].unsqueeze(0)) for l in kv]

def replace_modules(root, match, factory):
    for name, mod in list(root.named_modules()):
        if match(name, mod):
            parent_name, _, child = name.rpartition('.')
            setattr(root.get_submodule(parent_name), child, factory(mod))
    return root

class FakeQuantSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, qmin, qmax):
        q = x / scale
        ctx.save_for_backward((q >= qmin) & (q <= qmax))
        return torch.clamp(torch.round(q), qmin, qmax) * scale

    @staticmethod
    def backward(ctx, grad):
        mask, = ctx.saved_tensors
        return grad * mask, None, None, None

class QuantWeight(nn.Module):
    def __init__(self, bits=6):
        super().__init__()
        self.qmax = 2 ** (bits - 1) - 1

    def forward(self, w):
        scale = w.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / self.qmax
        return FakeQuantSTE.apply(w, scale, -self.qmax - 1, self.qmax)

class QuantAct(nn.Module):
    def __init__(self, module, bits=8, momentum=0.9):
        super().__init__()
        self.module, self.qmax, self.momentum = module, 2 ** (bits - 1) - 1, momentum
        self.register_buffer('amax', torch.zeros(()))

    def forward(self, x):
        if self.training:
            cur = x.detach().abs().max()
            self.amax.copy_(torch.where(self.amax > 0, self.momentum * self.amax + (1 - self.momentum) * cur, cur))
        return self.module(FakeQuantSTE.apply(x, self.amax.clamp(min=1e-6) / self.qmax, -self.qmax - 1, self.qmax))

class ToyText:
    def __init__(self, cfg, seed=0):
        self.cfg, self.rng = cfg, np.random.default_rng(seed)
        self.trans = self.rng.dirichlet(np.full(cfg.vocab_size - 3, 0.08), size=(cfg.num_labels, cfg.vocab_size - 3))

    def sample(self, n):
        ids, y = np.zeros((n, self.cfg.max_len), dtype=np.int64), self.rng.integers(0, self.cfg.num_labels, n)
        for i in range(n):
            L, s = self.rng.integers(7, self.cfg.max_len), self.rng.integers(self.cfg.vocab_size - 3)
            ids[i, 0] = self.cfg.cls_id
            for t in range(1, L + 1):
                ids[i, t] = s + 3
                s = self.rng.choice(len(self.trans[y[i], s]), p=self.trans[y[i], s])
        return torch.from_numpy(ids), torch.from_numpy(y)

    def mask(self, ids, p=0.2):
        m = (torch.rand(ids.shape) < p) & (ids > 2)
        return ids.masked_fill(m, self.cfg.mask_id), ids.masked_fill(~m, -100)

def fit(model, steps, batch_fn, lr, tag):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(params, lr=lr)
    model.train()
    for s in range(steps):
        loss = batch_fn(model)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'{tag:<8} loss {loss.item():.4f} trainable {sum(p.numel() for p in params)}')

def prune_heads(model, batch_fn, n_prune):
    gates = [l.attn.head_gate for l in model.layers]
    for g in gates:
        g.requires_grad_(True)
    importance = torch.stack(torch.autograd.grad(batch_fn(model), gates)).abs()
    for g in gates:
        g.requires_grad_(False)
    importance = importance / importance.norm(dim=1, keepdim=True).clamp(min=1e-9)
    drop = importance.flatten().topk(n_prune, largest=False).indices
    for li, layer in enumerate(model.layers):
        a = layer.attn
        heads = {int(i % a.n_heads) for i in drop if int(i) // a.n_heads == li}
        keep = [h for h in range(a.n_heads) if h not in heads] or [0]
        rows = torch.cat([torch.arange(h * a.head_dim, (h + 1) * a.head_dim) for h in keep])
        for lin in (a.query, a.key, a.value):
            lin.weight, lin.bias = nn.Parameter(lin.weight[rows].detach()), nn.Parameter(lin.bias[rows].detach())
            lin.out_features = len(rows)
        a.out.weight = nn.Parameter(a.out.weight[:, rows].detach())
        a.out.in_features, a.n_heads, a.head_gate = len(rows), len(keep), a.head_gate[keep]
    return [l.attn.n_heads for l in model.layers]

@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data
    return round((model(x).argmax(-1) == y).float().mean().item(), 4)

def main():
    torch.manual_seed(19)
    cfg = EncoderConfig(note='toy')
    text = ToyText(cfg)
    train, test = text.sample(120), text.sample(50)

    def mlm(m):
        inp, tgt = text.mask(train[0][torch.randint(120, (18,))])
        return F.cross_entropy(m(inp, task='mlm').transpose(1, 2), tgt, ignore_index=-100)

    def cls(m, n=26):
        i = torch.randint(120, (n,))
        return F.cross_entropy(m(train[0][i]), train[1][i], label_smoothing=0.05)

    base = Encoder(cfg)
    fit(base, 22, mlm, 4e-3, 'mlm')
    frozen = copy.deepcopy(base).requires_grad_(False)
    lora = replace_modules(copy.deepcopy(frozen), lambda n, m: n.endswith(('query', 'value')), partial(LoRALinear, r=3, alpha=6))
    lora.classifier.requires_grad_(True)
    fit(lora, 26, cls, 8e-3, 'lora')
    before = accuracy(lora, test)
    replace_modules(lora, lambda n, m: isinstance(m, LoRALinear), lambda m: m.merge())
    print('lora acc', before, 'merged', accuracy(lora, test))
    prefix = copy.deepcopy(frozen)
    prefix.prefix = PrefixEncoder(cfg)
    prefix.classifier.requires_grad_(True)
    fit(prefix, 20, cls, 8e-3, 'prefix')
    print('prefix acc', accuracy(prefix, test))
    lora.requires_grad_(True)
    print('heads left', prune_heads(lora, partial(cls, n=60), 4), 'acc', accuracy(lora, test))
    fit(lora, 12, cls, 2e-3, 'finetune')
    for layer in lora.layers:
        for lin in (layer.fc1, layer.fc2, layer.attn.out):
            parametrize.register_parametrization(lin, 'weight', QuantWeight(bits=6))
        layer.fc1, layer.fc2 = QuantAct(layer.fc1), QuantAct(layer.fc2)
    fit(lora, 12, cls, 1e-3, 'qat')
    w = lora.layers[0].fc1.module.weight
    print('qat acc', accuracy(lora, test), 'levels in row 0:', torch.unique(w[0]).numel(), lora.layers[1].fc2.amax.item())

if __name__ == '__main__':
    main()
