# perceiver io, multi modal (image + sequence) in, several query types out. loosely after lucidrains + krasser
from functools import wraps
from math import pi
import os
import tempfile

import numpy as np
import torch
from torch import nn, einsum
import torch.nn.functional as F
from einops import rearrange, repeat, reduce
from sklearn.datasets import load_digits
from torch.utils.data import Dataset, DataLoader


# helpers

def exists(val):
    return val is not None


def default(val, d):
    return val if exists(val) else d


def cache_fn(f):
    cache = dict()

    @wraps(f)
    def cached_fn(*args, _cache=True, key=None, **kwargs):
        if not _cache:
            return f(*args, **kwargs)
        if key in cache:
            return cache[key]
        result = f(*args, **kwargs)
        cache[key] = result
        return result
    return cached_fn


def fourier_encode(x, max_freq, num_bands=4):
    x = x.unsqueeze(-1)
    device, dtype, orig_x = x.device, x.dtype, x
    scales = torch.linspace(1., max_freq / 2, num_bands, device=device, dtype=dtype)
    scales = scales[(*((None,) * (len(x.shape) - 1)), Ellipsis)]
    x = x * scales * pi
    x = torch.cat([x.sin(), x.cos()], dim=-1)
    x = torch.cat((x, orig_x), dim=-1)
    return x


def fourier_positions(axis, max_freq, num_bands):
    axis_pos = [torch.linspace(-1., 1., steps=size) for size in axis]
    pos = torch.stack(torch.meshgrid(*axis_pos, indexing='ij'), dim=-1)
    enc = fourier_encode(pos, max_freq, num_bands)
    return rearrange(enc, '... n d -> ... (n d)')


# helper classes

class PreNorm(nn.Module):
    def __init__(self, dim, fn, context_dim=None):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)
        self.norm_context = nn.LayerNorm(context_dim) if exists(context_dim) else None

    def forward(self, x, **kwargs):
        x = self.norm(x)
        if exists(self.norm_context):
            context = kwargs['context']
            kwargs.update(context=self.norm_context(context))
        return self.fn(x, **kwargs)


class GEGLU(nn.Module):
    def forward(self, x):
        x, gates = x.chunk(2, dim=-1)
        return x * F.gelu(gates)


def FeedForward(dim, mult=4, dropout=0.):
    return nn.Sequential(
        nn.Linear(dim, dim * mult * 2),
        GEGLU(),
        nn.Dropout(dropout),
        nn.Linear(dim * mult, dim)
    )


class Attention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64, dropout=0.):
        super().__init__()
        inner_dim = dim_head * heads
        context_dim = default(context_dim, query_dim)
        self.scale = dim_head ** -0.5
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_kv = nn.Linear(context_dim, inner_dim * 2, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def forward(self, x, context=None, mask=None):
        h = self.heads
        q = self.to_q(x)
        context = default(context, x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> (b h) n d', h=h), (q, k, v))
        sim = einsum('b i d, b j d -> b i j', q, k) * self.scale
        if exists(mask):
            mask = rearrange(mask, 'b ... -> b (...)')
            max_neg_value = -torch.finfo(sim.dtype).max
            mask = repeat(mask, 'b j -> (b h) () j', h=h)
            sim.masked_fill_(~mask, max_neg_value)
        attn = sim.softmax(dim=-1)
        attn = self.dropout(attn)
        out = einsum('b i j, b j d -> b i d', attn, v)
        out = rearrange(out, '(b h) n d -> b n (h d)', h=h)
        return self.to_out(out)


# main class

class PerceiverIO(nn.Module):
    def __init__(self, *, depth, dim, num_latents=32, latent_dim=64, cross_heads=1, latent_heads=4, cross_dim_head=16,
                 latent_dim_head=12, weight_tie_layers=False, cross_every=2, dropout=0.):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim) * 0.02)

        get_cross_attn = lambda: PreNorm(latent_dim, Attention(latent_dim, dim, heads=cross_heads, dim_head=cross_dim_head,
                                                               dropout=dropout), context_dim=dim)
        get_cross_ff = lambda: PreNorm(latent_dim, FeedForward(latent_dim, mult=2))
        get_latent_attn = lambda: PreNorm(latent_dim, Attention(latent_dim, heads=latent_heads, dim_head=latent_dim_head))
        get_latent_ff = lambda: PreNorm(latent_dim, FeedForward(latent_dim, mult=2))
        get_cross_attn, get_cross_ff, get_latent_attn, get_latent_ff = map(
            cache_fn, (get_cross_attn, get_cross_ff, get_latent_attn, get_latent_ff))

        self.layers = nn.ModuleList([])
        for i in range(depth):
            should_cache = i > 0 and weight_tie_layers
            cache_args = {'_cache': should_cache}
            has_cross = i % cross_every == 0
            self.layers.append(nn.ModuleList([
                get_cross_attn(**cache_args, key='ca') if has_cross else nn.Identity(),
                get_cross_ff(**cache_args, key='cf') if has_cross else nn.Identity(),
                get_latent_attn(**cache_args, key='la'),
                get_latent_ff(**cache_args, key='lf'),
            ]))
        self.cross_every = cross_every

    def forward(self, data, mask=None):
        x = repeat(self.latents, 'n d -> b n d', b=data.shape[0])
        for i, (cross_attn, cross_ff, self_attn, self_ff) in enumerate(self.layers):
            if i % self.cross_every == 0:
                x = cross_attn(x, context=data, mask=mask) + x
                x = cross_ff(x) + x
            x = self_attn(x) + x
            x = self_ff(x) + x
        return x


class Modality(nn.Module):
    """turns raw input into tokens: content projection ++ position ++ modality id"""

    def __init__(self, name, in_ch, axes, num_bands, max_freq, out_dim):
        super().__init__()
        self.name = name
        pos = fourier_positions(axes, max_freq, num_bands)
        self.register_buffer('pos', pos.reshape(-1, pos.shape[-1]), persistent=False)
        content = out_dim - self.pos.shape[-1]
        assert content > 0, 'out_dim too small for position encoding'
        self.proj = nn.Linear(in_ch, content)
        self.kind = nn.Parameter(torch.zeros(out_dim))

    def forward(self, x):
        x = rearrange(x, 'b ... c -> b (...) c')
        pos = repeat(self.pos[:x.shape[1]], 'n d -> b n d', b=x.shape[0])
        return torch.cat((self.proj(x), pos), dim=-1) + self.kind


class MultiTaskPerceiver(nn.Module):
    def __init__(self, *, modalities, tasks, input_dim, query_dim, **trunk_kwargs):
        super().__init__()
        self.modalities = nn.ModuleDict({k: Modality(k, out_dim=input_dim, **v) for k, v in modalities.items()})
        self.mask_token = nn.Parameter(torch.randn(input_dim) * 0.02)
        self.trunk = PerceiverIO(dim=input_dim, **trunk_kwargs)
        latent_dim = trunk_kwargs['latent_dim']
        self.queries = nn.ParameterDict()
        self.heads = nn.ModuleDict()
        for name, t in tasks.items():
            self.queries[name] = nn.Parameter(torch.randn(t['num_queries'], query_dim) * 0.02)
            self.heads[name] = nn.Sequential(nn.LayerNorm(query_dim), nn.Linear(query_dim, t['out']))
        self.decoder_cross = PreNorm(query_dim, Attention(query_dim, latent_dim, heads=2, dim_head=15), context_dim=latent_dim)
        self.decoder_ff = PreNorm(query_dim, FeedForward(query_dim, mult=1))

    def encode(self, inputs, masks=None, drop=None):
        tokens, keep = [], []
        for name, x in inputs.items():
            tok = self.modalities[name](x)
            m = torch.ones(tok.shape[:2], dtype=torch.bool, device=tok.device)
            if exists(masks) and name in masks:
                m = masks[name]
            if exists(drop) and name in drop:
                tok = torch.where(drop[name].unsqueeze(-1), self.mask_token, tok)
            tokens.append(tok)
            keep.append(m)
        return self.trunk(torch.cat(tokens, dim=1), mask=torch.cat(keep, dim=1))

    def forward(self, inputs, tasks=None, **kwargs):
        latents = self.encode(inputs, **kwargs)
        names = default(tasks, list(self.heads.keys()))
        sizes = [self.queries[n].shape[0] for n in names]
        q = torch.cat([self.queries[n] for n in names], dim=0)
        q = repeat(q, 'n d -> b n d', b=latents.shape[0])
        x = self.decoder_cross(q, context=latents) + q
        x = x + self.decoder_ff(x)
        return {n: self.heads[n](part) for n, part in zip(names, x.split(sizes, dim=1))}


# data: digit picture and a pen-like trace of it (bright pixels in raster order), trace has variable length

class DigitTrace(Dataset):
    def __init__(self, split='train', max_len=26):
        d = load_digits()
        sel = slice(0, 1500) if split == 'train' else slice(1500, None)
        self.images, self.labels = d.images[sel] / 16., d.target[sel]
        self.max_len = max_len

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i].astype('float32')
        ys, xs = np.where(img > 0.4)
        trace = np.stack([ys / 7., xs / 7., img[ys, xs]], axis=-1)[:self.max_len].astype('float32')
        return img[..., None], trace, self.labels[i]


def collate(batch):
    imgs, traces, labels = zip(*batch)
    lens = torch.tensor([len(t) for t in traces])
    traces = nn.utils.rnn.pad_sequence([torch.from_numpy(t) for t in traces], batch_first=True)
    mask = torch.arange(traces.shape[1])[None] < lens[:, None]
    return dict(inputs=dict(image=torch.from_numpy(np.stack(imgs)), trace=traces), mask=mask,
                label=torch.as_tensor(np.array(labels)), length=lens)


def losses(out, batch):
    img = batch['inputs']['image']
    quads = reduce(img, 'b (h h2) (w w2) 1 -> b (h w)', 'mean', h2=4, w2=4)
    return {
        'cls': F.cross_entropy(out['cls'][:, 0], batch['label']),
        'recon': F.mse_loss(rearrange(out['recon'], 'b (h w) (p q) -> b (h p) (w q)', h=4, p=2, q=2), img[..., 0]),
        'ink': F.smooth_l1_loss(out['ink'].squeeze(-1), quads),
    }


def main():
    torch.manual_seed(5)
    cfg = dict(
        modalities=dict(image=dict(in_ch=1, axes=(8, 8), num_bands=5, max_freq=8.),
                        trace=dict(in_ch=3, axes=(26,), num_bands=7, max_freq=26.)),
        tasks=dict(cls=dict(num_queries=1, out=10), recon=dict(num_queries=16, out=4), ink=dict(num_queries=4, out=1)),
        input_dim=42, query_dim=30, depth=4, num_latents=20, latent_dim=56, weight_tie_layers=True)
    model = MultiTaskPerceiver(**cfg)
    print('params', sum(p.numel() for p in model.parameters()), 'buffers', [tuple(b.shape) for b in model.buffers()])

    acts = {}
    handle = model.trunk.register_forward_hook(lambda mod, inp, out: acts.__setitem__('latents', out.detach()))
    loader = DataLoader(DigitTrace(), batch_size=12, shuffle=True, collate_fn=collate)
    optim = torch.optim.AdamW(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=2e-3, total_steps=4, pct_start=0.5)
    accum = 2
    weights = dict(cls=1., recon=2., ink=0.5)

    model.train()
    it = iter(loader)
    for step in range(3):
        logs = {}
        for _ in range(accum):
            batch = next(it)
            b = batch['label'].shape[0]
            drop = dict(image=torch.rand(b, 64) < 0.3)
            out = model(batch['inputs'], masks=dict(trace=batch['mask']), drop=drop)
            ls = losses(out, batch)
            total = sum(weights[k] * v for k, v in ls.items())
            (total / accum).backward()
            for k, v in ls.items():
                logs[k] = logs.get(k, 0.) + v.item() / accum
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        optim.step()
        sched.step()
        optim.zero_grad()
        print(step, {k: round(v, 4) for k, v in logs.items()}, 'latent std', acts['latents'].std(dim=(0, 1)).mean().item())
    handle.remove()

    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, 'perceiver.pt')
        torch.save(model.state_dict(), p)
        model.load_state_dict(torch.load(p))

    model.eval()
    preds, gts = [], []
    with torch.no_grad():
        for batch in DataLoader(DigitTrace('test'), batch_size=99, collate_fn=collate):
            # only the trace at test time, only class query
            full = model(batch['inputs'], tasks=['cls'], masks=dict(trace=batch['mask']))['cls']
            only = model(dict(trace=batch['inputs']['trace']), tasks=['cls'], masks=dict(trace=batch['mask']))['cls']
            both = torch.stack((full, only)).squeeze(2)
            preds.append(both.argmax(dim=-1).numpy())
            gts.append(batch['label'].numpy())
    preds, gts = np.concatenate(preds, axis=1), np.concatenate(gts)
    print('acc image+trace %.3f, trace only %.3f' % tuple((preds == gts).mean(axis=1)))


if __name__ == '__main__':
    main()
