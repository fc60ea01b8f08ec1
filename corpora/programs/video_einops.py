"""Factorised space-time attention on video clips with einops, tube masking and a small autoregressive decoder."""
from functools import partial

import torch
from einops import pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange
from torch import einsum, nn


def exists(v):
    return v is not None


def default(v, d):
    return v if exists(v) else d() if callable(d) else d


def divisible_by(a, b):
    return a % b == 0


class LayerNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
        self.register_buffer('beta', torch.zeros(dim))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta)


class GEGLU(nn.Module):
    def forward(self, x):
        x, gate = x.chunk(2, dim = -1)
        return x * nn.functional.gelu(gate)


def FeedForward(dim, mult = 3):
    inner = int(dim * mult * 2 / 3)
    return nn.Sequential(LayerNorm(dim), nn.Linear(dim, inner * 2), GEGLU(), nn.Linear(inner, dim))


class RelPosBias(nn.Module):
    def __init__(self, heads, max_len = 16):
        super().__init__()
        self.max_len = max_len
        self.emb = nn.Embedding(2 * max_len - 1, heads)

    def forward(self, n):
        pos = torch.arange(n)
        rel = rearrange(pos, 'i -> i 1') - rearrange(pos, 'j -> 1 j') + self.max_len - 1
        return rearrange(self.emb(rel), 'i j h -> h i j')


class Attention(nn.Module):
    def __init__(self, dim, *, context_dim = None, heads = 4, dim_head = 8, causal = False, num_null_kv = 1):
        super().__init__()
        self.heads, self.scale, self.causal = heads, dim_head ** -0.5, causal
        inner = heads * dim_head
        self.norm = LayerNorm(dim)
        self.null_kv = nn.Parameter(torch.randn(2, heads, num_null_kv, dim_head))
        self.to_q = nn.Linear(dim, inner, bias = False)
        self.to_kv = nn.Linear(default(context_dim, dim), inner * 2, bias = False)
        self.to_out = nn.Linear(inner, dim, bias = False)

    def forward(self, x, context = None, bias = None):
        b, n, h = x.shape[0], x.shape[1], self.heads
        x = self.norm(x)
        q, k, v = self.to_q(x), *self.to_kv(default(context, x)).chunk(2, dim = -1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h = h), (q, k, v))
        nk, nv = map(lambda t: repeat(t, 'h n d -> b h n d', b = b), self.null_kv)
        k, v = torch.cat((nk, k), dim = -2), torch.cat((nv, v), dim = -2)
        sim = einsum('b h i d, b h j d -> b h i j', q * self.scale, k)
        if exists(bias):
            bias = nn.functional.pad(bias, (sim.shape[-1] - bias.shape[-1], 0))
            sim = sim + bias
        if self.causal:
            i, j = sim.shape[-2:]
            mask = torch.ones((i, j), dtype = torch.bool).triu(j - i + 1)
            sim = sim.masked_fill(mask, -torch.finfo(sim.dtype).max)
        out = einsum('b h i j, b h j d -> b h i d', sim.softmax(dim = -1), v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))


class SpaceTime(nn.Module):
    def __init__(self, dim, depth, **kwargs):
        super().__init__()
        self.bias = RelPosBias(kwargs.get('heads', 4))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([
                Attention(dim, **kwargs),
                Attention(dim, causal = True, num_null_kv = 0, **kwargs),
                FeedForward(dim)
            ]))
        self.norm = LayerNorm(dim)

    def forward(self, x):
        b, t, s, _ = x.shape
        bias = self.bias(t)
        for space, time, ff in self.layers:
            x = rearrange(x, 'b t s d -> (b t) s d')
            x = space(x) + x
            x = rearrange(x, '(b t) s d -> (b s) t d', b = b)
            x = time(x, bias = bias) + x
            x = rearrange(x, '(b s) t d -> b t s d', s = s)
            x = ff(x) + x
        return self.norm(x)


class VideoMAE(nn.Module):
    def __init__(self, *, dim = 24, image_size = 16, patch_size = 4, frames = 8, temporal_patch = 2, depth = 2,
                 decoder_dim = 16, mask_ratio = 0.5, channels = 3, num_classes = 7):
        super().__init__()
        assert divisible_by(image_size, patch_size), 'image must be divisible by the patch size'
        self.hw, self.t = image_size // patch_size, frames // temporal_patch
        self.mask_ratio = mask_ratio
        patch_dim = channels * patch_size ** 2 * temporal_patch
        self.to_patches = Rearrange('b c (t pt) (h p1) (w p2) -> b t (h w) (pt p1 p2 c)',
                                    pt = temporal_patch, p1 = patch_size, p2 = patch_size)
        self.embed = nn.Sequential(LayerNorm(patch_dim), nn.Linear(patch_dim, dim), LayerNorm(dim))
        self.pos_space = nn.Parameter(torch.randn(self.hw ** 2, dim) * 0.02)
        self.pos_time = nn.Parameter(torch.randn(self.t, dim) * 0.02)
        self.encoder = SpaceTime(dim, depth)
        self.to_decoder = nn.Linear(dim, decoder_dim, bias = False)
        self.mask_token = nn.Parameter(torch.zeros(decoder_dim))
        self.queries = nn.Parameter(torch.randn(self.hw ** 2, decoder_dim))
        self.cross = Attention(decoder_dim, context_dim = decoder_dim, heads = 2)
        self.to_pixels = nn.Sequential(FeedForward(decoder_dim), nn.Linear(decoder_dim, patch_dim))
        self.cls = nn.Parameter(torch.zeros(dim))
        self.pool = Attention(dim, heads = 2)
        self.head = nn.Linear(dim, num_classes)

    def tokens(self, video):
        patches = self.to_patches(video)
        x = self.embed(patches)
        x = x + self.pos_space + rearrange(self.pos_time, 't d -> t 1 d')
        return patches, x

    def forward(self, video):
        patches, x = self.tokens(video)
        b, t, s, _ = x.shape
        num_masked = int(s * self.mask_ratio)
        order = torch.rand(b, s).argsort(dim = -1)
        masked, kept = order[:, :num_masked], order[:, num_masked:]
        take = lambda x, idx: x.gather(2, repeat(idx, 'b n -> b t n d', t = t, d = x.shape[-1]))
        x = self.encoder(take(x, kept))
        x = self.to_decoder(x)
        filled = repeat(self.mask_token, 'd -> b t n d', b = b, t = t, n = num_masked)
        x, ps = pack([x, filled], 'b t * d')
        context = rearrange(x, 'b t n d -> (b t) n d')
        where = repeat(self.queries[masked], 'b n d -> (b t) n d', t = t)
        pred = self.to_pixels(self.cross(where, context) + where)
        pred = rearrange(pred, '(b t) n p -> b t n p', b = b)
        encoded, _ = unpack(x, ps, 'b t * d')
        return nn.functional.mse_loss(pred, take(patches, masked)), encoded

    def classify(self, video):
        x = self.encoder(self.tokens(video)[1])
        x = reduce(x, 'b t s d -> b t d', 'mean')
        cls = repeat(self.cls, 'd -> b 1 d', b = x.shape[0])
        x, ps = pack([cls, x], 'b * d')
        x = self.pool(x) + x
        cls, _ = unpack(x, ps, 'b * d')
        return self.head(rearrange(cls, 'b 1 d -> b d'))


def moving_squares(n, frames = 8, size = 16):
    video = torch.zeros(n, 3, frames, size, size)
    labels = torch.randint(0, 7, (n,))
    for i in range(n):
        for f in range(frames):
            at = (int(labels[i]) + f) % (size - 4)
            video[i, i % 3, f, at:at + 4, at:at + 4] = 1.
    return video, labels


def main():
    torch.manual_seed(42)
    mae = VideoMAE()
    opt = torch.optim.Adam(mae.parameters(), lr = 1e-3, betas = (0.9, 0.95))
    batch = partial(moving_squares, 4)
    for step in range(3):
        video, _ = batch()
        loss, encoded = mae(video)
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(step, loss.item(), tuple(encoded.shape))
    for step in range(2):
        video, labels = batch()
        logits = mae.classify(video)
        loss = nn.functional.cross_entropy(logits, labels)
        loss.backward()
        opt.step()
        opt.zero_grad()
    acc = (logits.argmax(dim = -1) == labels).float().mean()
    frames = rearrange(video[:2], 'b c t h w -> (b h) (t w) c')
    print(acc.item(), frames.shape)


if __name__ == '__main__':
    main()
