
# == a sampling loop
import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self, d, heads, block):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))
    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=2)
        q, k, v = (s.view(b, t, self.heads, d // self.heads).transpose(1, 2) for s in (q, k, v))
        a = (q @ k.transpose(-2, -1)) / (d // self.heads) ** 0.5
        a = a.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf")).softmax(-1)
        return self.out((a @ v).transpose(1, 2).contiguous().view(b, t, d))
class GPT(nn.Module):
    def __init__(self, vocab, block, d, heads):
        super().__init__()
        self.block = block
        self.token, self.place = nn.Embedding(vocab, d), nn.Embedding(block, d)
        self.blocks = nn.ModuleList([Attention(d, heads, block) for _ in range(2)])
        self.head = nn.Linear(d, vocab)
    def forward(self, ids):
        b, t = ids.shape
        assert t <= self.block
        x = self.token(ids) + self.place(torch.arange(t))
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)
    @torch.no_grad()
    def generate(self, ids, count, top=None):
        for _ in range(count):
            cropped = ids if ids.size(1) <= self.block else ids[:, -self.block:]
            logits = self(cropped)[:, -1, :]
            if top is not None:
                v, _ = torch.topk(logits, min(top, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("inf")
            ids = torch.cat((ids, torch.multinomial(logits.softmax(-1), num_samples=1)), dim=1)
        return ids
model = GPT(53, 29, 12, 3)
short = model.generate(torch.zeros(3, 5, dtype=torch.long), 17)
long = model.generate(torch.zeros(3, 5, dtype=torch.long), 61, top=7)
del model

# == keys and values are kept
import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, x, past=None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v, (k, v)
class Model(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.token = nn.Embedding(31, d)
        self.layers = nn.ModuleList([Attention(d) for _ in range(n)])
        self.head = nn.Linear(d, 31)
    def forward(self, ids, past=None):
        x, kept = self.token(ids), []
        past = past or [None] * len(self.layers)
        for layer, one in zip(self.layers, past):
            y, new = layer(x, one)
            x = x + y
            kept.append(new)
        return self.head(x), kept
model = Model(7, 3).eval()
ids, past = torch.zeros(2, 11, dtype=torch.long), None
given, lengths = [ids], []
with torch.no_grad():
    for step in range(40):
        logits, past = model(ids, past)
        ids = logits[:, -1].argmax(-1, keepdim=True)
        given.append(ids)
        lengths.append(past[0][0].shape[1])
out = torch.cat(given, dim=1)
k, v = past[2]
del model, given

# == a cache that is an object
import torch
from dataclasses import dataclass
class Cache:
    def __init__(self):
        self.keys, self.seen = {}, 0
    def update(self, layer, k):
        if layer in self.keys:
            self.keys[layer] = torch.cat([self.keys[layer], k], dim=-2)
        else:
            self.keys[layer] = k
        if layer == 0:
            self.seen += k.shape[-2]
        return self.keys[layer]
@dataclass
class Output:
    logits: torch.Tensor
    hidden: tuple
def step(x, cache):
    hidden = ()
    for layer in range(3):
        k = cache.update(layer, x)
        x = (x @ k.transpose(-1, -2)).softmax(-1) @ k
        hidden += (k,)
    return Output(x @ torch.zeros(8, 13), hidden)
cache, x = Cache(), torch.zeros(2, 5, 8)
for i in range(50):
    output = step(x, cache)
    x = output.logits[:, -1:] @ torch.zeros(13, 8)
a, seen, last = cache.keys[1], cache.seen, output.hidden[2]
logits = output.logits
del cache, output

# == a buffer that is filled
import torch
cache = torch.zeros(2, 64, 7)
x = torch.zeros(2, 1, 7)
sums = []
for i in range(3, 60):
    cache[:, i : i + 1] = x
    some_keys = cache[:, : i + 1]
    y = (x @ some_keys.transpose(1, 2)).softmax(-1) @ some_keys
    x = y + x
    n = i + 1
    sums.append(y.sum())
s = torch.stack(sums)
del sums

# == shorter each time
import torch
x = torch.zeros(3, 97)
y = torch.zeros(89, 5)
for i in range(30):
    x = x[:, 1:] * x[:, :-1]
    y = y[2:].clone()
z = torch.zeros(41, 3)
for i in range(19):
    z = z.narrow(0, 0, z.shape[0] - 2) + 1
    z = z.view(z.shape[0], 3)

# == sometimes something else
import torch
x = torch.zeros(2, 3)
for i in range(40):
    x = torch.cat([x, x[:, :1]], dim=1)
    if x.shape[1] == 20:
        x = x[:, :5]
y = torch.zeros(2, 3)
for i in range(40):
    y = torch.cat([y, y[:, :1]], dim=1)
    if i == 17:
        y = y[:, :5]
z = torch.zeros(2, 3)
for i in range(40):
    z = torch.cat([z, z[:, :1]], dim=1)
    if i % 7 == 6:
        z = torch.cat([z, z[:, :2]], dim=1)
w = torch.zeros(2, 3)
for i in range(40):
    w = torch.cat([w, w[:, :1]], dim=1)[:, -13:]
v = torch.zeros(2, 3)
for i in range(40):
    v = torch.cat([v, v[:, : 1 + v.shape[1] // 11]], dim=1)

# == channels
import torch
from torch import nn
layers, width, growth = [], 24, 12
for i in range(30):
    layers.append(nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, growth, 3, padding=1, bias=False)))
    width += growth
x = torch.zeros(2, 24, 9, 11)
for layer in layers:
    y = layer(x)
    x = torch.cat([x, y], dim=1)
n = len(layers)
del layers, layer

# == lists and numbers
import torch
sizes, t, total = [], 5, 0
rows, frames = [torch.zeros(1, 3)], []
for i in range(45):
    t += 2
    total += t
    sizes.append(t)
    rows.append(torch.zeros(1, 3))
    frames.append(torch.zeros(t, 3))
    x = torch.zeros(t, total)
a, b = torch.cat(rows), torch.cat(frames)
c = torch.zeros(sizes[13], sizes[44])
del rows, frames

# == pairs
import torch
x, y = torch.zeros(2, 3), torch.zeros(5, 2)
for i, (a, b) in enumerate(zip(range(10, 90, 2), range(40))):
    x = torch.cat([x, torch.zeros(2, 1)], dim=1)
    y = torch.cat([y, torch.zeros(3, 2)])
    z = torch.zeros(a, b + 1)
    x, y = x, y
    if i > 100:
        x = y

# == swapped
import torch
x, y = torch.zeros(2, 3), torch.zeros(2, 7)
for i in range(40):
    x, y = y, torch.cat([x, x[:, :1]], dim=1)
a = b = torch.zeros(3)
for i in range(40):
    a = torch.cat([a, a[:2]])
    b = a
    c = torch.zeros(i + 3)
    a += 1

# == in a batch of two, in a dict, in an attribute
import torch
class Holder:
    pass
h, d = Holder(), {"x": torch.zeros(3, 5), "n": 2}
h.x = torch.zeros(3, 7)
for k in range(33):
    h.x = torch.cat([h.x, d["x"][:, :2]], dim=1)
    d["x"] = torch.cat([d["x"], h.x[:, :1]], dim=1)
    d["n"] += 3
    d = {**d}
a, b, n = h.x, d["x"], d["n"]
del h, d

# == a mask that grows
import torch
mask, ids = torch.ones(2, 5, dtype=torch.long), torch.zeros(2, 5, dtype=torch.long)
position = mask.cumsum(-1) - 1
for _ in range(37):
    t = ids.shape[1]
    causal = torch.tril(torch.ones(t, t, dtype=torch.bool))
    both = causal[None] & mask[:, None, :].bool()
    ids = torch.cat([ids, ids[:, -1:]], dim=-1)
    mask = torch.cat([mask, mask.new_ones((mask.shape[0], 1))], dim=-1)
    position = torch.cat([position, position[:, -1:] + 1], dim=1)

# == from the end
import torch
x = torch.zeros(3, 2)
for t in reversed(range(50)):
    x = torch.cat([torch.full((3, 1), float(t)), x], dim=1)
y = torch.zeros(1, 4)
for t in range(50, 0, -1):
    y = torch.cat([y, torch.zeros(t, 4)])
    u = torch.zeros(t)

# == more rounds than are ever unrolled
import torch
from torch import nn
model = nn.Sequential(nn.Embedding(31, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 31)).eval()
ids, kept, scores, n = torch.zeros(2, 5, dtype=torch.long), torch.zeros(2, 0, 8), [], 0
for step in range(1_000):
    context = ids[:, -64:]
    logits = model(context)[:, -1]
    value, token = logits.topk(1)
    ids = torch.cat([ids, token], dim=1)
    kept = torch.cat([kept, model[0](token)], dim=1)
    scores.append(value.mean().item())
    n += token.shape[1]
d = (len(scores), n)
del model, scores

# == in a generator, under try
import torch
def lengths(x):
    try:
        for i in range(60):
            x = torch.cat([x, x[:, :2]], dim=1)
            yield x
    except ValueError:
        x = x[:1]
    finally:
        x = x[:, 1:]
a = [x.shape[1] for x in lengths(torch.zeros(2, 3))][-1]
x = torch.zeros(2, 3)
try:
    for i in range(60):
        x = torch.cat([x, x[:, :2]], dim=1)
        y = x @ torch.zeros(x.shape[1], 5)
except RuntimeError:
    x = torch.zeros(7)
b = x.shape
del x, y, i

# == until nothing is left
import torch
y, z = torch.zeros(9, 5), torch.zeros(90, 5)
for i in range(80):
    y = y[1:].clone()
    z = z[1:].clone()
    u = y.T
    v = u + 1
    w = z.sum(0)

# == while there is room, from a list of tokens
import torch
from torch import nn
model = nn.Sequential(nn.Embedding(31, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 31)).eval()
ids, tokens, n = torch.zeros(1, 5, dtype=torch.long), [1, 2, 3], 0
while ids.shape[1] < 61:
    logits = model(ids[:, -32:])
    scores = logits[:, -1].softmax(-1)
    ids = torch.cat([ids, torch.multinomial(scores, 1)], dim=1)
    n += 3
while len(tokens) < 57:
    context = torch.tensor([tokens[-32:]])
    logits = model(context)
    scores = logits[0, -1].softmax(-1)
    tokens.append(int(torch.multinomial(scores, 1)))
    n += 1
a = len(tokens)
low, step = 100, 0
while low > 3:
    low -= 2
    step += 1
    x = torch.zeros(low, 3)
    y = x.T @ x
    z = y + 1
    if low == 50:
        low -= 1
n, x = 0, torch.zeros(2, 3)
while (n := n + 1) < 90 and x.shape[1] < 51:
    x = torch.cat([x, x[:, :1]], dim=1)
    y = x.T
    z = y + 1
    w = z @ x
queue = list(range(80))
while queue.pop() > 3 and x.shape[1] < 91:
    x = torch.cat([x, x[:, :1]], dim=1)
    y = x.T
    z = y + 1
    w = z @ x
left = len(queue)
while True:
    step += 2
    x = torch.zeros(step)
    y = x * 2
    z = y + 1
    w = z - y
    if step > 200:
        break
del model, tokens, context, queue

# == items of a list are replaced, sizes are kept
import torch
past, shape = [None, None], ()
x = torch.zeros(2, 1, 8)
for step in range(50):
    for layer in range(2):
        k = x * 2
        past[layer] = k if past[layer] is None else torch.cat([past[layer], k], dim=1)
        x = (x @ past[layer].transpose(1, 2)).softmax(-1) @ past[layer]
    shape = past[0].shape
a, b, n = past[0], past[1], shape[1]
rows, total = [torch.zeros(3, 2)] * 3, torch.Size((1, 2))
for i in range(60):
    rows[i % 1] = torch.cat([rows[0], rows[1][:1]])
    total = rows[0].shape
    y = rows[0] @ torch.zeros(2, 5)
    z = y.T
    w = z.sum(0)
c = rows[0]
del past, rows
