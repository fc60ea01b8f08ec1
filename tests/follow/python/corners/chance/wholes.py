# == words that aren't known
import torch
import random
R = random.randint
words = [random.choice("abcdef") for _ in range(R(5, 9))]
counts = {}
for w in words: counts[w] = counts.get(w, 0) + 1
a = max(counts.values()); b = len(counts); c = sorted(counts.items(), key=lambda kv: -kv[1])[0][1]
w2i = {}
for w in words:
    if w not in w2i: w2i[w] = len(w2i)
d = max(w2i.values()); e = len(w2i); ids = [w2i[w] for w in words]; f = ids[-1]; g = len(ids)
i2w = {i: w for w, i in w2i.items()}; h = len(i2w)
groups = {}
for w in words: groups.setdefault(w, []).append(len(groups))
i = len(groups); j = sum(len(v) for v in groups.values())
seen = set(); uniq = []
for w in words:
    if w in seen: continue
    seen.add(w); uniq.append(w)
k = len(uniq); l = len(seen)
best = None
for q, w in enumerate(words):
    if best is None or w < best: best, at = w, q
m = at
last = -1
for q, w in enumerate(words):
    if w == words[0]: last = q
n = last
pos = {w: q for q, w in enumerate(words)}; o = pos[words[-1]]; p = min(pos.values())
t = torch.zeros(len(words), len(w2i)); u = torch.zeros(b, k)
# == numbers that aren't known
import torch
import random
R = random.randint
n = R(2, 6)
xs = []
for i in range(n): xs.append(i * 2)
a = len(xs); b = xs[-1]; c = sum(xs); d = xs[0]
acc = 0
for x in xs: acc += x
e = acc
ys = [0] * n; ys[n - 1] = 5; f = ys[-1]; g = ys[0]; h = len(ys)
for i in range(n): ys[i] = i + 1
j = ys[0]; k = ys[-1]
m = [[0] * n for _ in range(n)]
for i in range(n):
    for q in range(n):
        if i == q: m[i][q] = 1
l = m[0][0]; o = sum(map(sum, m)); p = m[0][1]
s = 0; i = 0
while i < n: i += 1; s += i
r = s; u = i
st = [1]
while len(st) < n + 3: st.append(st[-1] * 2)
v = st[-1]; w = len(st)
x = n if n > 3 else n + 10
y = 7
if n > 3: y = 9
z = y
first = None
for i in range(n):
    if i > 0: first = i; break
z1 = first
try:
    for i in range(n):
        if i == 3: raise ValueError(i)
    z2 = 0
except ValueError as err: z2 = err.args[0]
fl = False
for i in range(n):
    if i == 2: fl = True
z3 = fl + 1
cnt = 0
for i in range(n):
    if i % 2: continue
    cnt += 1
else: cnt += 100
z4 = cnt
prev = 0; cur = 1
for _ in range(n): prev, cur = cur, prev + cur
z5 = cur; z6 = prev
t = torch.zeros(n, a, h); q1 = torch.zeros(len(m), len(m[0]))
# == objects that see unknown numbers
import torch
import random, collections
R = random.randint
class Buf:
    def __init__(self, cap): self.cap = cap; self.items = []; self.pos = 0; self.full = False
    def push(self, x):
        if len(self.items) < self.cap: self.items.append(x)
        else: self.items[self.pos] = x; self.full = True
        self.pos = (self.pos + 1) % self.cap
    def __len__(self): return len(self.items)
b = Buf(4)
for i in range(R(1, 9)): b.push(i)
a = len(b); c = b.pos; d = b.full + 1; e = b.items[0]
class Stat:
    def __init__(self): self.n = 0; self.total = 0; self.best = -1; self.hist = []
    def update(self, v):
        self.n += 1; self.total += v; self.hist.append(v)
        if v > self.best: self.best = v
s = Stat()
vals = [R(0, 5) for _ in range(R(2, 5))]
for v in vals: s.update(v)
f = s.n; g = s.total; h = s.best; i = len(s.hist); j = s.hist[0]
class Early:
    def __init__(self, p): self.p = p; self.c = 0; self.best = None; self.stop = False
    def __call__(self, v):
        if self.best is None or v > self.best: self.best = v; self.c = 0
        else:
            self.c += 1
            if self.c >= self.p: self.stop = True
es = Early(2); ep = 0
for ep in range(10):
    es(R(0, 3))
    if es.stop: break
k = ep; l = es.c; m = es.best
q = collections.deque(maxlen=3)
for x in range(R(1, 6)): q.append(x)
n = len(q); o = q[0]; p = q[-1]
dd = collections.defaultdict(list)
for x in range(R(3, 8)): dd[x % 3].append(x)
r = len(dd); t1 = len(dd[0]); u = sum(len(v) for v in dd.values()); v = dd[1][0]
cfg = {"lr": 1, "n": 2}
if R(0, 1): cfg["n"] = 5
if R(0, 1): cfg.update(extra=3)
w = cfg["n"]; x = len(cfg); y = cfg.get("extra", 9)
lst = [1, 2, 3]
if R(0, 1): lst.append(4)
z = len(lst); z1 = lst[-1]
if R(0, 1): lst = lst[1:]
z2 = lst[0]; z3 = len(lst)
def maybe(x): return x if R(0, 1) else None
got = maybe(4); z4 = 0 if got is None else got
def pick(n):
    if n == 0: return 1, 2
    elif n == 1: return 3, 4
    return 5, 6
aa, bb = pick(R(0, 2)); z5 = aa + bb; z6 = bb - aa
obj = Stat() if R(0, 1) else Buf(2); z7 = len(vars(obj)); z8 = hasattr(obj, "cap") + 1; z9 = isinstance(obj, Buf) + 1
t = torch.zeros(a, f + 1)
# == tensors of unknown sizes
import torch
import random
R = random.randint
x = torch.zeros(2, 3)
sizes = []
for i in range(R(1, 3)):
    x = torch.cat([x, torch.zeros(2, 1)], 1)
    sizes.append(x.shape[1])
a = x.shape[1]; b = len(sizes); c = sizes[0]; d = sizes[-1]
layers = []
dims = [4] + [R(2, 5) for _ in range(2)] + [3]
for i, o in zip(dims[:-1], dims[1:]): layers.append(torch.nn.Linear(i, o))
net = torch.nn.Sequential(*layers); y = net(torch.zeros(7, 4)); e = len(layers); f = y.shape[1]
h = torch.zeros(1, 5)
outs = []
for t0 in range(R(2, 4)):
    h = torch.tanh(h @ torch.zeros(5, 5))
    outs.append(h)
o2 = torch.stack(outs); o3 = torch.cat(outs, 0); g = o2.shape[2]
feats = {}
for n in ["a", "b", "c"][:R(1, 3)]: feats[n] = torch.zeros(2, len(feats) + 1)
j = len(feats); k = torch.cat(list(feats.values()), 1)
m = torch.zeros(4, 4)
if R(0, 1): m = m[:2]
n2 = m.shape[0]; m2 = m.sum(0)
p = torch.zeros(3, 4) if R(0, 1) else torch.zeros(3, 5)
q = p.shape[1]; r = p.t()
s = torch.zeros(R(2, 5), 3); u = s[0]; v = s @ torch.zeros(3, 2); w = s.mean(0)
bs = R(2, 4); data = [torch.zeros(6) for _ in range(bs * 2)]
batches = [torch.stack(data[i:i + bs]) for i in range(0, len(data), bs)]
z = batches[0]; z1 = len(batches); z2 = batches[-1].shape
mask = torch.zeros(5).bool(); z3 = torch.zeros(5, 2)[mask]
z4 = torch.nonzero(torch.arange(R(2, 4))); z5 = z4.shape[1]
tot = 0
for xb in batches: tot += xb.shape[0]
z6 = tot
pad = [torch.zeros(R(1, 4)) for _ in range(3)]; mx = max(len(p2) for p2 in pad); pp = torch.nn.utils.rnn.pad_sequence(pad, batch_first=True); z7 = pp.shape[0]; z8 = pp.shape[1]
chunks = torch.zeros(7, 2).split(R(2, 3)); z9 = len(chunks); c0 = chunks[0]; cl = chunks[-1]
acc = None
for i in range(R(1, 3)): acc = torch.ones(2, 3) if acc is None else torch.cat([acc, torch.ones(2, 3)])
aa = acc.shape[1]; ab = acc.shape[0]
