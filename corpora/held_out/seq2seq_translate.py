# Transformer for toy translation (number words -> digits, reversed), with greedy & beam search with kv cache
# mostly following fairseq's incremental_state idea but simplified
import argparse
import math
import random
from collections import Counter

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, DataLoader, Sampler

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ['<pad>', '<s>', '</s>', '<unk>']

WORDS = 'zero one two three four five six seven eight nine'.split()
NEG = float('-inf')


def make_pair(rng, lo=2, hi=7):
    n = rng.randint(lo, hi)
    nums = [rng.randrange(10) for _ in range(n)]
    src = [WORDS[i] for i in nums]
    if rng.random() < .5:
        src = ['reverse'] + src
        nums = nums[::-1]
    return src, ['d%d' % i for i in nums]


class Vocab:
    def __init__(self, sents, min_freq=1):
        c = Counter(w for s in sents for w in s)
        self.itos = SPECIALS + sorted([w for w, f in c.items() if f >= min_freq])
        self.stoi = dict(zip(self.itos, range(len(self.itos))))

    def __len__(self):
        return len(self.itos)

    def __call__(self, sent):
        return [self.stoi.get(w, UNK) for w in sent]

    def string(self, ids):
        out = []
        for i in ids:
            if i == EOS:
                break
            if i not in (PAD, BOS):
                out.append(self.itos[i])
        return ' '.join(out)


class ParallelData(Dataset):
    def __init__(self, pairs, sv, tv):
        self.data = [(torch.tensor(sv(s) + [EOS]), torch.tensor([BOS] + tv(t) + [EOS])) for s, t in pairs]

    def __getitem__(self, i):
        return self.data[i]

    def __len__(self):
        return len(self.data)


class BucketSampler(Sampler):
    """sort by length inside of big chunks, yields batches under a token budget"""

    def __init__(self, ds, max_tokens=96, shuffle=True):
        self.lengths = [max(len(a), len(b)) for a, b in ds.data]
        self.max_tokens = max_tokens
        self.shuffle = shuffle

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda i: self.lengths[i])
        batches, cur, longest = [], [], 0
        for i in order:
            longest = max(longest, self.lengths[i])
            if cur and longest * (len(cur) + 1) > self.max_tokens:
                batches.append(cur)
                cur, longest = [], self.lengths[i]
            cur.append(i)
        batches.append(cur)
        if self.shuffle:
            random.shuffle(batches)
        return iter(batches)


def collate(batch):
    src, tgt = zip(*batch)
    src = pad_sequence(src, batch_first=True, padding_value=PAD)
    tgt = pad_sequence(tgt, batch_first=True, padding_value=PAD)
    return dict(src=src, prev=tgt[:, :-1], gold=tgt[:, 1:], ntok=(tgt[:, 1:] != PAD).sum().item())


class PosEnc(nn.Module):
    def __init__(self, d, maxlen=64):
        super().__init__()
        pe = torch.zeros(maxlen, d)
        pos = torch.arange(maxlen).unsqueeze(1).float()
        div = torch.exp(torch.arange(0, d, 2).float() * -(math.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer('pe', pe.unsqueeze(0))

    def forward(self, x, offset=0):
        return x + self.pe[:, offset:offset + x.size(1)]


class MHA(nn.Module):
    def __init__(self, d, h, p=0.1):
        super().__init__()
        self.h, self.dk = h, d // h
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d) for _ in range(4))
        self.drop = nn.Dropout(p)

    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.dk).transpose(1, 2)

    def forward(self, q, kv, mask=None, cache=None, static=False):
        q = self.split(self.wq(q))
        if cache is not None and static and 'k' in cache:
            k, v = cache['k'], cache['v']
        else:
            k, v = self.split(self.wk(kv)), self.split(self.wv(kv))
            if cache is not None:
                if not static and 'k' in cache:
                    k = torch.cat([cache['k'], k], 2)
                    v = torch.cat([cache['v'], v], 2)
                cache['k'], cache['v'] = k, v
        att = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.dk)
        if mask is not None:
            att = att.masked_fill(mask, NEG)
        att = self.drop(att.softmax(-1))
        o = torch.matmul(att, v).transpose(1, 2).contiguous().view(q.size(0), -1, self.h * self.dk)
        return self.wo(o)


class Residual(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, f):
        return x + self.drop(f(self.norm(x)))


class EncLayer(nn.Module):
    def __init__(self, d, h, ff, p):
        super().__init__()
        self.attn = MHA(d, h, p)
        self.ff = nn.Sequential(nn.Linear(d, ff), nn.ReLU(), nn.Dropout(p), nn.Linear(ff, d))
        self.res = nn.ModuleList(Residual(d, p) for _ in range(2))

    def forward(self, x, mask):
        x = self.res[0](x, lambda y: self.attn(y, y, mask))
        return self.res[1](x, self.ff)


class DecLayer(EncLayer):
    def __init__(self, d, h, ff, p):
        super().__init__(d, h, ff, p)
        self.cross = MHA(d, h, p)
        self.res.append(Residual(d, p))

    def forward(self, x, mem, self_mask, mem_mask, cache=None):
        c_self, c_cross = (None, None) if cache is None else (cache['self'], cache['cross'])
        x = self.res[0](x, lambda y: self.attn(y, y, self_mask, c_self))
        x = self.res[2](x, lambda y: self.cross(y, mem, mem_mask, c_cross, static=True))
        return self.res[1](x, self.ff)


class Transformer(nn.Module):
    def __init__(self, n_src, n_tgt, d=32, h=4, ff=64, layers=2, p=0.1):
        super().__init__()
        self.d = d
        self.src_emb = nn.Embedding(n_src, d, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(n_tgt, d, padding_idx=PAD)
        self.pos = PosEnc(d)
        self.enc = nn.ModuleList(EncLayer(d, h, ff, p) for _ in range(layers))
        self.dec = nn.ModuleList(DecLayer(d, h, ff, p) for _ in range(layers))
        self.enc_norm, self.dec_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.out = nn.Linear(d, n_tgt, bias=False)
        self.out.weight = self.tgt_emb.weight
        for w in self.parameters():
            if w.dim() > 1:
                nn.init.xavier_uniform_(w)

    def encode(self, src):
        mask = (src == PAD)[:, None, None, :]
        x = self.pos(self.src_emb(src) * math.sqrt(self.d))
        for l in self.enc:
            x = l(x, mask)
        return self.enc_norm(x), mask

    def decode(self, prev, mem, mem_mask, cache=None, offset=0):
        x = self.pos(self.tgt_emb(prev) * math.sqrt(self.d), offset)
        T = prev.size(1)
        causal = None if cache is not None else torch.ones(T, T, dtype=torch.bool).triu(1)
        for i, l in enumerate(self.dec):
            x = l(x, mem, causal, mem_mask, cache[i] if cache is not None else None)
        return self.out(self.dec_norm(x))

    def forward(self, src, prev):
        return self.decode(prev, *self.encode(src))

    def new_cache(self):
        return [{'self': {}, 'cross': {}} for _ in self.dec]


def label_smoothed_nll(logits, gold, eps=0.1):
    lp = F.log_softmax(logits, -1)
    gold = gold.unsqueeze(-1)
    nll = -lp.gather(-1, gold)
    smooth = -lp.mean(-1, keepdim=True)
    pad = gold.eq(PAD)
    nll.masked_fill_(pad, 0.)
    smooth.masked_fill_(pad, 0.)
    return ((1 - eps) * nll + eps * smooth).sum(), nll.sum()


@torch.no_grad()
def greedy(model, src, maxlen=10):
    mem, mask = model.encode(src)
    ys = src.new_full((src.size(0), 1), BOS)
    done = torch.zeros(src.size(0), dtype=torch.bool)
    cache = model.new_cache()
    for t in range(maxlen):
        logits = model.decode(ys[:, -1:], mem, mask, cache, offset=t)
        nxt = logits[:, -1].argmax(-1)
        nxt = nxt.masked_fill(done, PAD)
        ys = torch.cat([ys, nxt.unsqueeze(1)], 1)
        done |= nxt == EOS
        if done.all():
            break
    return ys[:, 1:]


def reorder(cache, idx):
    for layer in cache:
        for part in layer.values():
            for k in part:
                part[k] = part[k].index_select(0, idx)


@torch.no_grad()
def beam_search(model, src, K=3, maxlen=10, alpha=0.6):
    B = src.size(0)
    mem, mask = model.encode(src)
    mem = mem.repeat_interleave(K, 0)
    mask = mask.repeat_interleave(K, 0)
    ys = torch.full((B * K, 1), BOS, dtype=torch.long)
    scores = torch.full((B, K), NEG)
    scores[:, 0] = 0
    finished = torch.zeros(B, K, dtype=torch.bool)
    lens = torch.zeros(B, K)
    cache = model.new_cache()
    for t in range(maxlen):
        lp = model.decode(ys[:, -1:], mem, mask, cache, offset=t)[:, -1].log_softmax(-1)
        V = lp.size(-1)
        lp = lp.view(B, K, V)
        # finished hyps can only emit pad with zero cost
        only_pad = torch.full((V,), NEG)
        only_pad[PAD] = 0
        lp = torch.where(finished.unsqueeze(-1), only_pad, lp)
        cand = scores.unsqueeze(-1) + lp
        scores, flat = cand.view(B, K * V).topk(K, -1)
        beam, tok = torch.div(flat, V, rounding_mode='floor'), flat % V
        rows = (beam + torch.arange(B).unsqueeze(1) * K).view(-1)
        ys = torch.cat([ys[rows], tok.view(-1, 1)], 1)
        reorder(cache, rows)
        finished = finished.gather(1, beam)
        lens = lens.gather(1, beam) + (~finished).float()
        finished = finished | tok.eq(EOS)
        if finished.all():
            break
    norm = scores / ((5 + lens) / 6) ** alpha
    best = norm.argmax(-1)
    ys = ys.view(B, K, -1)
    return ys[torch.arange(B), best, 1:], norm.max(-1)[0]


def main(args):
    rng = random.Random(args.seed)
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    pairs = [make_pair(rng) for _ in range(200)]
    sv, tv = Vocab([p[0] for p in pairs]), Vocab([p[1] for p in pairs])
    train, test = ParallelData(pairs[:190], sv, tv), ParallelData(pairs[190:], sv, tv)
    loader = DataLoader(train, batch_sampler=BucketSampler(train, args.max_tokens), collate_fn=collate)
    model = Transformer(len(sv), len(tv), args.d)
    opt = optim.Adam(model.parameters(), lr=1., betas=(.9, .98), eps=1e-9)
    sched = optim.lr_scheduler.LambdaLR(
        opt, lambda s: args.d ** -.5 * min((s + 1) ** -.5, (s + 1) * args.warmup ** -1.5))
    model.train()
    for step, b in enumerate(loader):
        if step == args.steps:
            break
        logits = model(b['src'], b['prev'])
        loss, nll = label_smoothed_nll(logits, b['gold'])
        opt.zero_grad()
        (loss / b['ntok']).backward()
        opt.step()
        sched.step()
        print(f"| {step} | loss {loss.item() / b['ntok']:.3f} | ppl {math.exp(nll.item() / b['ntok']):.2f} | lr {sched.get_last_lr()[0]:.2e}")
    model.eval()
    test_batch = collate([test[i] for i in range(4)])
    g = greedy(model, test_batch['src'])
    hyp, sc = beam_search(model, test_batch['src'], args.beam)
    for i in range(4):
        print('S', sv.string(test_batch['src'][i].tolist()), '| T', tv.string(test_batch['gold'][i].tolist()))
        print('  G', tv.string(g[i].tolist()), '| B', tv.string(hyp[i].tolist()), '%.3f' % sc[i].item())


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    for name, default in [('seed', 7), ('max-tokens', 96), ('d', 32), ('warmup', 20), ('steps', 3), ('beam', 3)]:
        ap.add_argument('--' + name, type=int, default=default)
    main(ap.parse_args())
