#!/usr/bin/env python
# coding: utf-8

# # Tiny LLaMA from scratch
# RMSNorm + RoPE + SwiGLU + grouped-query attention + KV cache
# In[1]:
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
device = 'cuda' if torch.cuda.is_available() else 'cpu'
# In[2]:
TEXT = """the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs.
how vexingly quick daft zebras jump! sphinx of black quartz, judge my vow.
""" * 12
chars = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda ids: ''.join(itos[int(i)] for i in ids)
VOCAB = len(chars)
print('vocab size', VOCAB)
# In[3]:
DIM = 48
N_LAYERS = 2
N_HEADS = 6
N_KV_HEADS = 2
HEAD_DIM = DIM // N_HEADS
FF_MULT = 8 / 3
MAX_SEQ = 160
BLOCK = 40
BATCH = 10
STEPS = 45
LR = 3e-3
TOP_P = 0.9
TEMPERATURE = 0.8

data = torch.tensor(encode(TEXT), dtype=torch.long)
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]
print(train_data.shape, val_data.shape)

def get_batch(split):
    d = train_data if split == 'train' else val_data
    ix = torch.randint(len(d) - BLOCK - 1, (BATCH,))
    x = torch.stack([d[i:i + BLOCK] for i in ix])
    y = torch.stack([d[i + 1:i + BLOCK + 1] for i in ix])
    return x.to(device), y.to(device)

xb, yb = get_batch('train')
print(xb.shape, yb.shape)
# In[4]:
# rotary embeddings

def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end).float()
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)

def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    f = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * f).flatten(3)
    xk_out = torch.view_as_real(xk_ * f).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)

def repeat_kv(x, n_rep):
    bs, slen, n_kv, hd = x.shape
    if n_rep == 1:
        return x
    return x[:, :, :, None, :].expand(bs, slen, n_kv, n_rep, hd).reshape(bs, slen, n_kv * n_rep, hd)

freqs_cis = precompute_freqs_cis(HEAD_DIM, MAX_SEQ)
print(freqs_cis.shape, freqs_cis.dtype)
# In[5]:

class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_rep = N_HEADS // N_KV_HEADS
        self.wq = nn.Linear(DIM, N_HEADS * HEAD_DIM, bias=False)
        self.wk = nn.Linear(DIM, N_KV_HEADS * HEAD_DIM, bias=False)
        self.wv = nn.Linear(DIM, N_KV_HEADS * HEAD_DIM, bias=False)
        self.wo = nn.Linear(N_HEADS * HEAD_DIM, DIM, bias=False)
        self.cache = None
    def reset_cache(self, bsz):
        self.cache = (torch.zeros(bsz, MAX_SEQ, N_KV_HEADS, HEAD_DIM, device=device),
                      torch.zeros(bsz, MAX_SEQ, N_KV_HEADS, HEAD_DIM, device=device))
    def forward(self, x, start_pos, freqs, mask):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        xq = xq.view(bsz, seqlen, N_HEADS, HEAD_DIM)
        xk = xk.view(bsz, seqlen, N_KV_HEADS, HEAD_DIM)
        xv = xv.view(bsz, seqlen, N_KV_HEADS, HEAD_DIM)
        xq, xk = apply_rotary_emb(xq, xk, freqs)
        if self.cache is not None:
            ck, cv = self.cache
            ck[:bsz, start_pos:start_pos + seqlen] = xk
            cv[:bsz, start_pos:start_pos + seqlen] = xv
            keys = ck[:bsz, :start_pos + seqlen]
            values = cv[:bsz, :start_pos + seqlen]
        else:
            keys, values = xk, xv
        keys = repeat_kv(keys, self.n_rep).transpose(1, 2)
        values = repeat_kv(values, self.n_rep).transpose(1, 2)
        xq = xq.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(HEAD_DIM)
        if mask is not None:
            scores = scores + mask
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        out = torch.matmul(scores, values)
        out = out.transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(out)

class FeedForward(nn.Module):
    def __init__(self, multiple_of=4):
        super().__init__()
        hidden = int(DIM * FF_MULT)
        hidden = multiple_of * ((hidden + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(DIM, hidden, bias=False)
        self.w2 = nn.Linear(hidden, DIM, bias=False)
        self.w3 = nn.Linear(DIM, hidden, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))

class Block(nn.Module):
    def __init__(self, layer_id):
        super().__init__()
        self.layer_id = layer_id
        self.attention = Attention()
        self.feed_forward = FeedForward()
        self.attention_norm = RMSNorm(DIM)
        self.ffn_norm = RMSNorm(DIM)
    def forward(self, x, start_pos, freqs, mask):
        h = x + self.attention(self.attention_norm(x), start_pos, freqs, mask)
        return h + self.feed_forward(self.ffn_norm(h))

class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList([Block(i) for i in range(N_LAYERS)])
        self.norm = RMSNorm(DIM)
        self.output = nn.Linear(DIM, VOCAB, bias=False)
        self.output.weight = self.tok_embeddings.weight
        nn.init.normal_(self.tok_embeddings.weight, std=0.02)
        self.register_buffer('freqs_cis', freqs_cis, persistent=False)
    def forward(self, tokens, targets=None, start_pos=0):
        _, seqlen = tokens.shape
        h = self.tok_embeddings(tokens)
        f = self.freqs_cis[start_pos:start_pos + seqlen]
        mask = None
        if seqlen > 1:
            mask = torch.full((seqlen, seqlen), float('-inf'), device=tokens.device)
            mask = torch.triu(mask, diagonal=1)
            mask = torch.hstack([torch.zeros((seqlen, start_pos), device=tokens.device), mask]).type_as(h)
        for layer in self.layers:
            h = layer(h, start_pos, f, mask)
        logits = self.output(self.norm(h)).float()
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

model = Llama().to(device)
print(sum(p.numel() for p in model.parameters()), 'params')
logits, loss = model(xb, yb)
print(logits.shape, loss.item(), 'expected', math.log(VOCAB))
# In[6]:
decay = [p for p in model.parameters() if p.dim() >= 2]
no_decay = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{'params': decay, 'weight_decay': 0.1},
                               {'params': no_decay, 'weight_decay': 0.0}], lr=LR, betas=(0.9, 0.95))
sched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda it: min(1.0, (it + 1) / 8))
losses = []
t0 = time.time()
for step in range(STEPS):
    xb, yb = get_batch('train')
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    sched.step()
    losses.append(loss.item())
    if step % 15 == 0:
        print(f'step {step} | loss {loss.item():.4f} | lr {sched.get_last_lr()[0]:.2e}')
print('done in', round(time.time() - t0, 2), 's, final', sum(losses[-5:]) / 5)
# In[7]:
# top-p sampling with the cache

def sample_top_p(probs, p):
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    probs_sum = torch.cumsum(probs_sort, dim=-1)
    mask = probs_sum - probs_sort > p
    probs_sort[mask] = 0.0
    probs_sort.div_(probs_sort.sum(dim=-1, keepdim=True))
    next_token = torch.multinomial(probs_sort, num_samples=1)
    return torch.gather(probs_idx, -1, next_token)

@torch.no_grad()
def generate(prompts, max_new=30):
    model.eval()
    toks = torch.tensor([encode(p) for p in prompts], device=device)
    for l in model.layers:
        l.attention.reset_cache(len(prompts))
    prev = 0
    for cur in range(toks.shape[1], toks.shape[1] + max_new):
        logits, _ = model(toks[:, prev:cur], start_pos=prev)
        if TEMPERATURE > 0:
            probs = torch.softmax(logits[:, -1] / TEMPERATURE, dim=-1)
            nxt = sample_top_p(probs, TOP_P)
        else:
            nxt = logits[:, -1].argmax(-1, keepdim=True)
        toks = torch.cat([toks, nxt], dim=1)
        prev = cur
    for l in model.layers:
        l.attention.cache = None
    return toks

out = generate(['the quick', 'how vexin', 'pack my b'])
print(out.shape)
for row in out:
    print(repr(decode(row)))
# In[8]:
with torch.no_grad():
    full, _ = model(out[:, :20])
    for l in model.layers:
        l.attention.reset_cache(out.shape[0])
    a, _ = model(out[:, :13], start_pos=0)
    b, _ = model(out[:, 13:20], start_pos=13)
    cached = torch.cat([a, b], dim=1)
print('max diff', (full - cached).abs().max().item())
assert torch.allclose(full, cached, atol=1e-4)
