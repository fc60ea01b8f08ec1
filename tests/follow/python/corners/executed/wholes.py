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
# == generic classes, typed dicts and overloads
import torch
from typing import Generic, TypeVar, overload, Literal, TypedDict, Any, Callable, Iterator, NewType, cast, get_type_hints, Annotated, Final, Optional, Union, ClassVar
T = TypeVar("T")
class Box(Generic[T]):
    items: list[T]
    count: ClassVar[int] = 0
    def __init__(self, *items: T) -> None:
        self.items = list(items); Box.count += 1
    def map(self, f: Callable[[T], Any]) -> "Box": return Box(*map(f, self.items))
    def __iter__(self) -> Iterator[T]: return iter(self.items)
    def __class_getitem__(cls, item): return super().__class_getitem__(item)
b = Box[int](1, 2, 3); c = b.map(lambda x: x * 2); a1 = sum(c); a2 = Box.count; a3 = Box[str]("x").items[0] == "x"
class TD(TypedDict, total=False):
    x: int
    y: str
td = TD(x=4); a4 = td["x"]; a5 = len(td); td["y"] = "q"; a6 = len(td)
UserId = NewType("UserId", int); a7 = UserId(5) + 1; a8 = cast(str, 7); MAX: Final = 9; a9 = MAX
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x): return x * 2
b1 = f(3); b2 = len(f("ab"))
x: Optional[int] = None; b3 = 3 if x is None else x
def g(a: Literal["r", "w"] = "r", *args: int, k: "int | None" = None) -> tuple[int, ...]: return (len(a), len(args), 0 if k is None else k)
b4, b5, b6 = g("w", 1, 2, k=6)
b7 = len(f.__annotations__) + len(g.__annotations__); v: int
try: v; b8 = 1
except NameError: b8 = 2
class Node(Generic[T]):
    def __init__(self, v: T, nxt: "Node[T] | None" = None): self.v, self.nxt = v, nxt
    def __len__(self) -> int: return 1 + (len(self.nxt) if self.nxt else 0)
b9 = len(Node(1, Node(2, Node(3))))
class Vec(tuple[int, int]):
    def __new__(cls, a, b): return super().__new__(cls, (a, b))
c1 = Vec(2, 5)[1]; c2 = sum(Vec(1, 2)); c3 = isinstance(3, int | str) + isinstance("x", (int, str)) + isinstance(2.0, Union[int, str])
lst: list[list[int]] = [[1]]; lst[0].append(2); c4 = len(lst[0])
t = torch.zeros(a1, a2, a4, a5)
# == settings
import torch
class Config:
    defaults = dict(a=1, b=2)
    def __init__(self, **kw):
        for k, v in {**self.defaults, **kw}.items(): setattr(self, k, v)
    def __getitem__(self, k): return getattr(self, k)
    def __contains__(self, k): return hasattr(self, k)
    def to_dict(self): return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
    @classmethod
    def from_dict(cls, d): return cls(**d)
    def copy(self, **kw): return type(self)(**{**self.to_dict(), **kw})
    def __eq__(self, o): return self.to_dict() == o.to_dict()
    def __iter__(self): return iter(self.to_dict().items())
c = Config(b=5, c=7)
a = c.a; b = c["b"]; d = ("c" in c) + 1; e = len(c.to_dict()); f = Config.from_dict({"a": 9}).a; g = c.copy(a=4).a; h = (c == c.copy()) + 1; i = len(dict(c)); j = c.copy().c
c.new = 3; k = len(c.to_dict()); del c.new; l = len(c.to_dict())
class Sub(Config):
    defaults = {**Config.defaults, "z": 8}
m = Sub().z; n = Sub(b=1).copy(z=2).z; o = type(Sub().copy()).__name__ == "Sub"
def update(d, **k): d.update(k); return d
base = {"x": 1}; p = update(base, y=2); q = len(base); r = p is base
from functools import reduce
deep = {"a": {"b": {"c": 6}}}; s = reduce(lambda d, k: d[k], "a.b.c".split("."), deep); u = deep.get("a", {}).get("zz", {}).get("c", 5)
def merge(a, b):
    out = dict(a)
    for k, v in b.items(): out[k] = merge(out[k], v) if k in out and isinstance(out[k], dict) and isinstance(v, dict) else v
    return out
mm = merge({"a": {"x": 1}, "b": 2}, {"a": {"y": 3}, "b": 4}); v = len(mm["a"]); w = mm["b"]
flat = {}
def flatten(d, pre=""):
    for k, v in d.items():
        if isinstance(v, dict): flatten(v, pre + k + ".")
        else: flat[pre + k] = v
flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3}); x = len(flat); y = flat["a.c.d"]
args = "--lr 3 --n 5 --flag".split(); opts = {}; it = iter(args)
for tok in it:
    if tok == "--flag": opts["flag"] = True
    else: opts[tok[2:]] = int(next(it))
z = opts["n"]; z1 = len(opts)
inv = {}
for k2, v2 in {"a": 1, "b": 2, "c": 1}.items(): inv.setdefault(v2, []).append(k2)
z2 = len(inv[1]); z3 = {v: k for k, v in {"a": 1, "b": 2}.items()}[2] == "b"; z4 = sorted({"b": 3, "a": 4}.items())[0][1]; z5 = max({"b": 3, "a": 4}, key={"b": 3, "a": 4}.get) == "a"
d1 = {"k": [1]}; d2 = dict(d1); d2["k"].append(2); z6 = len(d1["k"]); d3 = {**d1}; d3["k"] = 0; z7 = len(d1["k"])
z8 = dict(sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1]))["b"]; z9 = list({"b": 1, "a": 2}.keys()).index("a")
t = torch.zeros(a, b, d, e)
# == small programs of every day
import torch
class Reg(dict):
    def register(self, name=None):
        def w(f): self[name or f.__name__] = f; return f
        return w
ops = Reg()
@ops.register()
def add(a, b): return a + b
@ops.register("times")
def mul(a, b): return a * b
ops["neg"] = lambda a, b=0: b - a
a = ops["add"](2, 3); b = ops["times"](2, 3); c = len(ops); d = ops["neg"](-4)
import operator
table = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod, "**": operator.pow}
def rpn(s):
    st = []
    for tok in s.split():
        if tok in table: y, x = st.pop(), st.pop(); st.append(table[tok](x, y))
        else: st.append(int(tok))
    return st.pop()
e = rpn("3 4 + 2 *"); f = rpn("2 3 ** 5 %")
def calc(expr):
    tokens = list(expr.replace(" ", ""))
    def parse_expr():
        v = parse_term()
        while tokens and tokens[0] in "+-":
            op = tokens.pop(0); r = parse_term()
            v = v + r if op == "+" else v - r
        return v
    def parse_term():
        v = parse_atom()
        while tokens and tokens[0] in "*/":
            op = tokens.pop(0); r = parse_atom()
            v = v * r if op == "*" else v // r
        return v
    def parse_atom():
        t = tokens.pop(0)
        if t == "(": v = parse_expr(); tokens.pop(0); return v
        n = t
        while tokens and tokens[0].isdigit(): n += tokens.pop(0)
        return int(n)
    return parse_expr()
g = calc("2*(3+4)-10/5"); h = calc("12+30*2")
class Event:
    def __init__(self): self.hs = []
    def __iadd__(self, h): self.hs.append(h); return self
    def __isub__(self, h): self.hs.remove(h); return self
    def __call__(self, *a): return [h(*a) for h in self.hs]
ev = Event(); sq = lambda x: x * x; ev += sq; ev += abs; i = ev(-3)[0]; j = len(ev(-3)); ev -= abs; k = len(ev.hs)
class Pipeline:
    def __init__(self, *fs): self.fs = fs
    def __or__(self, f): return Pipeline(*self.fs, f)
    def __call__(self, x):
        for f in self.fs: x = f(x)
        return x
p = Pipeline() | (lambda x: x + 1) | (lambda x: x * 10); l = p(2); m = len(p.fs)
class State:
    trans = {("idle", "go"): "run", ("run", "stop"): "idle", ("run", "fail"): "err"}
    def __init__(self): self.s = "idle"; self.n = 0
    def send(self, e):
        nxt = self.trans.get((self.s, e))
        if nxt is None: return False
        self.s = nxt; self.n += 1
        return True
s = State(); r = [s.send(e) for e in ("go", "bad", "fail", "go")]; n = s.n; o = len(s.s); q = r.count(True)
class Account:
    def __init__(self): self._b = 0
    @property
    def balance(self): return self._b
    @balance.setter
    def balance(self, v):
        if v < 0: raise ValueError("neg")
        self._b = v
acc = Account(); acc.balance += 30; acc.balance -= 5; u = acc.balance
try: acc.balance -= 100; v = 1
except ValueError: v = acc.balance
class Grid:
    def __init__(self, w, h): self.c = [["."] * w for _ in range(h)]
    def __setitem__(self, p, v): self.c[p[1]][p[0]] = v
    def __getitem__(self, p): return self.c[p[1]][p[0]]
    def neighbours(self, x, y):
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if (dx or dy) and 0 <= x + dx < len(self.c[0]) and 0 <= y + dy < len(self.c): yield self[x + dx, y + dy]
    def __str__(self): return "\n".join("".join(r) for r in self.c)
gr = Grid(4, 3); gr[1, 1] = "#"; gr[2, 0] = "#"; w = sum(c == "#" for c in gr.neighbours(1, 0)); x = len(str(gr)); y = len(list(gr.neighbours(0, 0)))
class LRU:
    def __init__(self, n): from collections import OrderedDict; self.n, self.d = n, OrderedDict()
    def get(self, k):
        if k not in self.d: return -1
        self.d.move_to_end(k); return self.d[k]
    def put(self, k, v):
        self.d[k] = v; self.d.move_to_end(k)
        if len(self.d) > self.n: self.d.popitem(last=False)
lru = LRU(2); lru.put(1, 10); lru.put(2, 20); lru.get(1); lru.put(3, 30); z = lru.get(2); z1 = lru.get(1); z2 = len(lru.d)
class Trie:
    def __init__(self): self.root = {}
    def add(self, w):
        n = self.root
        for c in w: n = n.setdefault(c, {})
        n["$"] = True
    def count(self, n=None): n = self.root if n is None else n; return sum(1 if k == "$" else self.count(v) for k, v in n.items())
    def __contains__(self, w):
        n = self.root
        for c in w:
            if c not in n: return False
            n = n[c]
        return "$" in n
tr = Trie()
for wd in ["ab", "abc", "b"]: tr.add(wd)
z3 = tr.count(); z4 = ("ab" in tr) + ("a" in tr) * 2; z5 = len(tr.root)
class UF:
    def __init__(self, n): self.p = list(range(n))
    def find(self, x):
        while self.p[x] != x: self.p[x] = self.p[self.p[x]]; x = self.p[x]
        return x
    def union(self, a, b): self.p[self.find(a)] = self.find(b)
uf = UF(6); uf.union(0, 1); uf.union(2, 3); uf.union(1, 3); z6 = len({uf.find(i) for i in range(6)}); z7 = uf.find(0)
t = torch.zeros(a, b, c, d)
# == numbers and texts
import torch
nums = [4, 8, 15, 16, 23, 42]
a, b = divmod(sum(nums), len(nums)); c = nums[len(nums) // 2]; d = sorted(nums, key=lambda n: n % 5)[0]; e = [n for n in nums if n & 1][-1]; f = nums[bisect] if (bisect := 2) else 0
import math, itertools, string
g = math.lcm(4, 6); h = math.factorial(5) % 7; i = sum(int(ch) for ch in str(2 ** 20)); j = len(str(3 ** 50)); k = int("".join(map(str, [1, 2, 3]))); l = int(bin(10)[2:], 2); m = int("z", 36); n = ord("é"); o = len("日本語".encode()); p = len(f"{12345.678:,.1f}"); q = round(1234.5678, -2); r = int(q); s = len(format(255, "08b")); u = "abc".translate(str.maketrans("abc", "xyz")).index("z"); v = len(" ".join("a b  c".split())); w = "a,b;c".replace(";", ",").split(",").index("c"); x = max("hello", key="hello".count) == "l"
y = [*itertools.accumulate([1, 2, 3, 4], lambda a, b: a * b)][-1]; z = len(set(map(frozenset, itertools.combinations(range(4), 2)))); z1 = sum(1 for a1, b1 in itertools.product(range(3), range(4)) if a1 < b1); z2 = list(itertools.chain.from_iterable([[1, 2], [3]]))[2]; z3 = next(itertools.dropwhile(lambda v: v < 3, itertools.count())); z4 = dict(zip(string.ascii_lowercase, range(26)))["e"]; z5 = [len(list(gp)) for _, gp in itertools.groupby("aaabbc")]; z6 = z5[0] * 100 + z5[1] * 10 + z5[2]; z7 = list(zip(*itertools.repeat([1, 2], 3)))[1][2]
m1 = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]; y1 = sum(m1[i2][i2] for i2 in range(3)); y2 = [list(c1) for c1 in zip(*m1[::-1])][0][2]; y3 = [r1[1] for r1 in m1][2]; y4 = sum(sum(r1) for r1 in m1 if r1[0] % 2); y5 = [x1 for r1 in m1 for x1 in r1][4]; y6 = max(max(r1) for r1 in m1); y7 = len([*filter(None, [0, 1, "", "a", None, []])]); y8 = [[0] * (i3 + 1) for i3 in range(4)]; y9 = sum(map(len, y8))
w1 = (lambda *a2: sum(a2))(*range(5)); w2 = [f2(2) for f2 in (lambda x2: x2, lambda x2: x2 ** 2)][1]; w3 = sorted(["b", "A", "c"], key=str.lower)[0] == "A"; w4 = "%d%%" % 50; w5 = len(w4); w6 = "x".join(["a"] * 4).count("x"); w7 = [1, 2, 3, 4, 5][-2::-2]; w8 = w7[0] * 10 + len(w7); w9 = list(range(10))[slice(2, 8, 3)][1]
v1 = 0b1010 ^ 0b0110; v2 = ~v1 & 0xF; v3 = (1 << 10) - 1; v4 = v3.bit_count(); v5 = (-8) >> 1; v6 = -17 // 5; v7 = -17 % 5; v8 = int(-17 / 5); v9 = math.trunc(-3.7) + math.floor(-3.2); u1 = round(0.5) + round(1.5) + round(2.5); u2 = int(1e15) % 7; u3 = 7 if 0.1 + 0.2 == 0.3 else 8; u4 = int(float("inf") > 10 ** 100); u5 = len({1, 1.0, True}); u6 = float("nan") == float("nan"); u7 = int(math.isclose(0.1 + 0.2, 0.3)); u8 = (5).__add__(3); u9 = (7).__rsub__(10); t1 = bool(0.0) + bool("0") + bool([0]); t2 = complex(3, 4); t3 = int(abs(t2)); t4 = int((t2 * t2).real); t5 = 10 ** -1; t6 = int(t5 * 100); t7 = 0o17 + 0x1F; t8 = 1_000 // 3; t9 = int("  -12  ")
s1 = "Mary had a little lamb"; s2 = s1.split()[::-1]; s3 = len(s2[0]); s4 = s1.title().count("L"); s5 = s1.partition("had")[2].strip().index("l"); s6 = s1.rsplit(" ", 1)[1]; s7 = len(s6); s8 = sum(ch in "aeiou" for ch in s1); s9 = len(s1.replace(" ", "")); r1 = s1.find("zzz"); r2 = s1.startswith(("X", "M")) + 1; r3 = s1[5:8] == "had"; r4 = len(s1.encode().hex()); r5 = s1.casefold().rindex("l"); r6 = "-".join(s1[:4]).count("-"); r7 = s1.swapcase()[0] == "m"; r8 = "{0}{1}{0}".format("a", "bc"); r9 = len(r8)
t = torch.zeros(a, g, s)
# == a tensor among the items of an iterator
import torch
class A:
    def __iter__(self): return iter([-2, 1])
x = torch.zeros(3, 4)
try:
    x in A()
    n = 2
except RuntimeError: n = 3
try:
    type("N", (), map(str, [1]))
    m = 2
except TypeError: m = 3
k = int(x in iter(["a", x])) + 1
l = int(x in iter(["a", None])) + 1
