# == a metaclass answers for its classes
import torch
class Meta(type):
    def __call__(cls, *a, **k):
        o = super().__call__(*a, **k)
        o.extra = len(a)
        return o
    def __len__(cls): return 7
    def __iter__(cls): return iter([1, 2, 3])
    def __contains__(cls, x): return x == 4
    def __getitem__(cls, k): return k * 2
class A(metaclass=Meta):
    def __init__(self, *a): self.a = a
a1 = A(1, 2).extra
a2 = len(A)
a3 = sum(A)
a4 = 4 in A
a5 = A[5]
a6 = int(5 in A) + 2
t1 = torch.zeros(a1, a2, a3, a5)
# == a metaclass prepares the namespace
import torch
class P:
    def __prepare__(name, bases): return {}
class M(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        return {"injected": 11, **kw}
    def __new__(mcs, name, bases, ns, **kw):
        ns["count"] = len([k for k in ns if not k.startswith("__")])
        return super().__new__(mcs, name, bases, ns)
    def __init__(cls, name, bases, ns, **kw): cls.nm = len(name)
class Q(metaclass=M, size=5):
    x = 1
    y = injected + 1
n1 = Q.count
n2 = Q.y
n3 = Q.size
n4 = Q.nm
t = torch.zeros(n1, n2, n3, n4)
# == copies, weak references
import torch
import weakref, copy
class N:
    def __init__(self, v): self.v = v
    def __copy__(self): return N(self.v + 1)
    def __deepcopy__(self, memo): return N(self.v + 2)
n = N(3)
a = copy.copy(n).v
b = copy.deepcopy(n).v
c = copy.copy([n])[0].v
d = copy.deepcopy([n])[0].v
e = copy.deepcopy({1: [n]})[1][0].v
r = weakref.ref(n)
f = r().v
t = torch.zeros(a, b, c, d, e, f)
# == every special method once
import torch
class V:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return isinstance(o, V) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __lt__(self, o): return self.x < o.x
    def __repr__(self): return f"V<{self.x}>"
    def __format__(self, spec): return f"[{spec}:{self.x}]"
    def __bytes__(self): return b"abc"
    def __complex__(self): return 2 + 3j
    def __round__(self, n=0): return self.x + n
    def __trunc__(self): return 9
    def __floor__(self): return 8
    def __ceil__(self): return 10
    def __index__(self): return 5
    def __abs__(self): return 4
    def __invert__(self): return 6
    def __divmod__(self, o): return (3, 4)
    def __pow__(self, o, m=None): return 5 if m is None else 7
import math
d = {V(1): 2, V(1): 3, V(2): 4}
n1 = len(d)
n2 = d[V(1)]
n3 = len(f"{V(3):>5}")
n4 = len(repr(V(10)))
n5 = len(bytes(V(1)))
n6 = int(complex(V(1)).imag)
n7 = round(V(3)) + round(V(3), 2)
n8 = math.trunc(V(1)) + math.floor(V(1)) + math.ceil(V(1))
n9 = [0, 1, 2, 3, 4, 50][V(1)]
n10 = abs(V(1)) + ~V(1)
n11 = divmod(V(1), 3)[1] + V(1) ** 2 + pow(V(1), 2, 3)
n12 = min(V(4), V(2), V(3)).x
n13 = sorted([V(5), V(4)])[0].x
n14 = max([V(4), V(9)], key=lambda v: -v.x).x
n15 = len("%s %r" % (V(1), V(2)))
n16 = len({V(1), V(1), V(3)})
n17 = len(hex(V(1)) + bin(V(1)))
n18 = range(20)[V(0)]
t = torch.zeros(n1, n2, n3, n4)
# == functools
import torch
import functools
@functools.total_ordering
class T:
    def __init__(s, a): s.a = a
    def __eq__(s, o): return s.a == o.a
    def __lt__(s, o): return s.a < o.a
x = int(T(1) <= T(1)) + int(T(2) > T(1)) * 2 + int(T(2) >= T(3)) * 4 + 1
@functools.singledispatch
def f(x): return 2
@f.register
def _(x: int): return 3
@f.register(list)
@f.register(tuple)
def _(x): return 5
y1 = f(1.0); y2 = f(1); y3 = f([]); y4 = f(()); y5 = f(True)
class S:
    @functools.singledispatchmethod
    def g(self, x): return 1
    @g.register
    def _(self, x: str): return 4
z = S().g("a") + S().g(1)
@functools.lru_cache(maxsize=2)
def h(n): return n + 1
h(1); h(1); h(2); h(3); h(1)
i = h.cache_info().misses
j = h.cache_info().hits
k = h.__wrapped__(4)
p = functools.partial(lambda a, b, c=1: a * 100 + b * 10 + c, 1, c=3)
q = p(2)
q2 = p(2, c=5)
q3 = len(p.args) + len(p.keywords)
pm = functools.reduce(lambda a, b: a * b, [1, 2, 3], 2)
cmp = sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))
w0 = cmp[0]
t = torch.zeros(x, y1, y3, i, 3)
# == late binding
import torch
def outer():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    gs = [lambda: j for j in range(4)]
    hs = [lambda k=k: k for k in range(5)]
    return fs[0]() + gs[0]() * 10 + hs[1]() * 100
a = outer()
x = 5
class C:
    x = 7
    def m(self): return x
    y = [x for _ in range(2)]
    z = [i for i in range(x)]
    w = lambda: x
b = C().m()
c = C.y[0]
d = len(C.z)
e = C.w()
def late():
    def g(): return v
    v = 3
    r = g()
    v = 4
    return r * 10 + g()
f = late()
t = torch.zeros(b, c, d, e)
# == generators: send, throw, close, return
import torch
def gen():
    try:
        x = yield 1
        while True:
            x = yield (x or 0) + 1
    except GeneratorExit:
        log.append("closed")
        raise
    finally:
        log.append("fin")
log = []
g = gen()
a = next(g)
b = g.send(5)
c = next(g)
g.close()
d = len(log)
def sub():
    r = yield from inner()
    yield r * 2
def inner():
    yield 1
    yield 2
    return 21
e = list(sub())[-1]
def thrower():
    try:
        yield 1
    except ValueError as err:
        yield len(str(err))
g = thrower(); next(g)
f = g.throw(ValueError("abcd"))
try:
    next(g)
    h = 1
except StopIteration as s:
    h = 2 + (s.value is None)
def ret():
    return 5
    yield
try:
    next(ret())
except StopIteration as s:
    i = s.value
def bad():
    yield 1
    raise StopIteration(3)
try:
    list(bad())
    j = 1
except RuntimeError as e2:
    j = 4
t = torch.zeros(a, b, c, d, f)
# == managers made of generators, stacks of managers
import torch
import contextlib
log = []
@contextlib.contextmanager
def cm(n, swallow=False):
    log.append(n)
    try:
        yield n * 2
    except KeyError:
        if not swallow: raise
        log.append(100)
    finally:
        log.append(-n)
with cm(1) as a, cm(2) as b:
    c = a + b
with cm(3, True):
    {}["x"]
d = len(log)
try:
    with cm(4):
        {}["x"]
except KeyError:
    e = len(log)
with contextlib.suppress(ZeroDivisionError, KeyError):
    f = 3
    1 / 0
    f = 4
with contextlib.ExitStack() as st:
    for i in range(3):
        st.enter_context(cm(i))
    st.callback(log.append, 9)
    st.push(lambda *a: log.append(8))
g = len(log)
h = log[-5]
with contextlib.nullcontext(6) as i2:
    pass
with contextlib.closing(open(__file__)) as fh:
    ok = fh.closed
k = int(fh.closed) + 2
class R(contextlib.ContextDecorator):
    def __enter__(self): log.append(1); return self
    def __exit__(self, *a): return True
@R()
def dec():
    raise ValueError
l = dec()
m = 5 if l is None else 6
t = torch.zeros(c, d, e, f)
# == descriptors
import torch
class D:
    def __set_name__(self, owner, name): self.n = name; owner.cnt = getattr(owner, "cnt", 0) + 1
    def __get__(self, o, c):
        if o is None: return self
        return o.__dict__.get(self.n, 40)
    def __set__(self, o, v): o.__dict__[self.n] = v + 1
    def __delete__(self, o): o.__dict__.pop(self.n, None)
class ND:
    def __get__(self, o, c=None): return 13
class K:
    a = D(); b = D(); c = ND()
k = K()
x1 = k.a
k.a = 5
x2 = k.a
del k.a
x3 = k.a
x4 = K.cnt
x5 = k.c
k.c = 4
x6 = k.c
x7 = K.c
x8 = len(K.a.n)
k.__dict__["b"] = 77
x9 = k.b
class L(K): pass
x10 = L().c
t = torch.zeros(x2, x4, x6, x8)
# == __init_subclass__
import torch
class B:
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        B.reg[tag or cls.__name__] = cls
    reg = {}
class B1(B, tag="x"): size = 3
class B2(B): size = 4
class B3(B2, tag="z"): pass
a = len(B.reg)
b = B.reg["x"].size
c = B.reg["B2"].size + B.reg["z"].size
d = len(B.__subclasses__())
e = len(B3.__mro__)
f = len(B3.__bases__)
g = len(B.reg["z"].__qualname__)
try:
    class B4(B, other=3): pass
    h = 1
except TypeError:
    h = 2
t = torch.zeros(a, b, c, d, e)
# == super and the order of classes
import torch
class X:
    def f(self): return 1
class Y(X):
    def f(self): return super().f() + 10
class Z(X):
    def f(self): return super().f() + 100
class W(Y, Z):
    def f(self): return super().f() + 1000
a = W().f()
b = Y.f(W())
c = super(Y, W()).f()
d = [k.__name__ for k in W.__mro__].index("Z")
try:
    class Bad(X, Y): pass
    e = 1
except TypeError:
    e = 3
f = Z.__dict__["f"](W())
g = len(W.__mro__)
h = W.mro().index(object)
class Cl:
    n = 0
    @classmethod
    def make(cls): cls.n += 1; return cls()
class Cm(Cl): pass
Cl.make(); Cm.make(); Cm.make()
i = Cl.n * 10 + Cm.n
t = torch.zeros(d, e, g, h)
# == unpacking
import torch
a, *b, c = range(6)
d = len(b) + c
(e, f), g = [1, 2], 3
h, (i, *j) = 4, "xyz"
k = len(j)
*l, = {1: 2, 3: 4}
m = l[1]
n = o = p = [1]
n.append(2)
q = len(p)
r = s = 0
r, s = s + 3, r + 4
lst = [0, 1, 2]
idx = 0
idx, lst[idx] = 2, 9
u = lst[0] * 10 + lst[2]
try:
    v, w = 1, 2, 3
except ValueError:
    v = 7
try:
    v1, *v2, v3 = [1]
except ValueError:
    v3 = 5
for z, (y, *x) in [(1, (2, 3, 4)), (5, [6])]:
    pass
zz = z + y + len(x)
t = torch.zeros(d, k, q, r, s)
# == parameters of every kind
import torch
def f(a, b=2, /, c=3, *args, d, e=5, **kw):
    return a + b * 10 + c * 100 + len(args) * 1000 + d * 10000 + e * 100000 + len(kw) * 1000000
x1 = f(1, d=4)
x2 = f(1, 2, 3, 4, 5, d=1, z=3)
x3 = f(*[1, 2], **{"d": 3, "a": 9})
try:
    f(1)
    x4 = 1
except TypeError:
    x4 = 2
try:
    f(1, d=1, **{"d": 2})
    x5 = 1
except TypeError:
    x5 = 3
def g(x, acc=[]):
    acc.append(x)
    return len(acc)
x6 = g(1) + g(2) + g(3, [])
x7 = len(g.__defaults__[0])
def h(*, k): return k
x8 = h(k=4)
h.__kwdefaults__ = {"k": 6}
x9 = h()
x10 = f.__code__.co_argcount
def rec(n): return 1 if n <= 1 else n * rec(n - 1)
x11 = rec(5)
x12 = (lambda *a, **k: len(a) + len(k))(1, 2, x=3)
import inspect
x13 = len(inspect.signature(f).parameters)
t = torch.zeros(x4, x5, x6, x8)
# == a match statement with many cases
import torch
def m(v):
    match v:
        case 0 | 1: return 2
        case int(x) if x > 100: return 3
        case bool(): return 30
        case int(): return 4
        case [a]: return 5
        case [a, b, *rest]: return 6 + len(rest)
        case {"k": kk, **more}: return 20 + len(more) + kk
        case {}: return 40
        case str() as s if s.startswith("a"): return 50
        case "b": return 51
        case None: return 52
        case Pt(x=0, y=yy): return 60 + yy
        case Pt(xx, 7): return 70 + xx
        case (float() | complex()) as q: return 80
        case _: return 99
class Pt:
    __match_args__ = ("x", "y")
    def __init__(s, x, y): s.x = x; s.y = y
r1 = m(True); r2 = m(200); r3 = m(50); r4 = m([1]); r5 = m((1, 2, 3, 4)); r6 = m({"k": 1, "z": 2})
r7 = m({}); r8 = m("abc"); r9 = m("b"); r10 = m(None); r11 = m(Pt(0, 3)); r12 = m(Pt(4, 7)); r13 = m(1.5)
r14 = m("zzz"); r15 = m(Pt(1, 1)); r16 = m({"q": 3}); r17 = m([]); r18 = m(range(3)); r19 = m(b"xx"); r20 = m({1, 2})
t = torch.zeros(r1, r2, r3, r4, r5)
# == try statements in each other
import torch
log = []
def f(n):
    try:
        log.append(n)
        if n == 1: return 10
        if n == 2: raise ValueError("v")
        if n == 3: raise KeyError("k") from ValueError("inner")
        if n == 4: [][1]
        for i in range(3):
            try:
                if i == n - 5: continue
                if n == 7: break
            finally:
                log.append(-1)
        else:
            return 60 + i
    except ValueError as e:
        return 20 + len(e.args)
    except (KeyError, TypeError) as e:
        return 30 + (type(e.__cause__) is ValueError)
    except LookupError:
        return 40
    else:
        return 50
    finally:
        log.append(0)
        if n == 8: return 88
r1 = f(1); r2 = f(2); r3 = f(3); r4 = f(4); r5 = f(5); r6 = f(7); r7 = f(8)
r8 = len(log)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        {}["x"]
except KeyError as e:
    r9 = 3 if isinstance(e.__context__, ZeroDivisionError) else 4
try:
    e
    r10 = 1
except NameError:
    r10 = 2
try:
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("h", [ValueError(3)])])
    except* ValueError as eg:
        r11 = len(eg.exceptions)
    except* TypeError as eg2:
        r12 = len(eg2.exceptions)
except Exception:
    r11 = r12 = 77
def g():
    while True:
        try:
            return 1
        finally:
            break
    return 2
r13 = g()
ee = ValueError("a", "b"); ee.add_note("nn")
r14 = len(ee.__notes__) + len(ee.args) + len(str(ee))
class My(Exception):
    def __init__(self, code): super().__init__(f"code {code}"); self.code = code
try:
    raise My(6)
except Exception as err:
    r15 = err.code; r16 = len(str(err))
try:
    raise My
except TypeError:
    r17 = 9
t = torch.zeros(r9, r10, r11, r12, r13)
# == dicts and their relatives
import torch
d = {}
for w in "the cat the dog the end".split():
    d[w] = d.get(w, 0) + 1
a = d["the"]
b = len(d)
d.setdefault("new", []).append(1)
c = len(d["new"])
e = d.pop("zzz", 4)
f = list(d.items())[0][1]
g = d.popitem()[1][0]
d |= {"q": 9}
h = d["q"]
i = len({**d, "the": 5, "r": 1})
j = {v: k for k, v in d.items()}
k = len(j)
it = iter(d)
next(it)
l = len(list(it))
try:
    for x in d: d[x + "1"] = 1
    m = 1
except RuntimeError:
    m = 2
n = len(dict.fromkeys("hello"))
o = len(dict(zip("abc", range(2)), z=3))
p = next(iter(reversed({"a": 1, "b": 2}.values())))
q = len({1: 2, True: 3, 1.0: 4})
r = {1: 2, True: 3}[1]
s = len({"a": 1}.keys() | {"b"}) + len({"a": 1, "b": 2}.items() & {("a", 1)})
u = int({"a": 1} == {"a": 1.0}) + int({"a": 1}.keys() == {"a"}) + 1
from collections import defaultdict, OrderedDict, Counter, ChainMap, deque
dd = defaultdict(lambda: 5); dd["x"] += 1; v = dd["x"] + dd["y"]; w2 = len(dd)
cc = Counter("mississippi"); y = cc["s"] + cc["q"]; z = cc.most_common(1)[0][1]; z2 = len(cc); z3 = sum((cc - Counter("miss")).values()); z4 = len(list(cc.elements()))
cm = ChainMap({"a": 1}, {"a": 2, "b": 3}); z5 = cm["a"] + cm["b"]; cm["b"] = 10; z6 = len(cm.maps[0])
od = OrderedDict(a=1, b=2, c=3); od.move_to_end("a"); z7 = list(od.values())[0]; od.popitem(last=False); z8 = len(od)
dq = deque(range(5), maxlen=3); z9 = dq[0]; dq.appendleft(9); z10 = dq[0] + dq[-1]; dq.rotate(1); z11 = dq[0]; dq.extend([1, 2]); z12 = sum(dq)
t = torch.zeros(a, b, c, e)
# == texts
import torch
s = "Hello, World"
a = len(s.split(",")); b = len(s.split()); c = s.find("World"); d = s.count("o"); e = len(s.partition(", ")[2]); f = len(s.replace("l", "LL"))
g = len(s.center(20, "*").strip("*")); h = len(s[::2]); i = len(s[-3:]); j = int("0x1f", 16); k = int("1_000"); l = int(" 42 "); m = len("a\tb".expandtabs(4)); n = ord("A")
o = len("{:>10}|{:<5}|{:^7}".format(1, 2, 3)); p = len(f"{3.14159:.2f}{10:,}{255:#x}{'s'!r:>6}"); q = len("%05d %-8s|%.3f" % (42, "ab", 1.5)); r = len("a,b,,c".split(",")); u = len(" a  b ".split(" "))
v = len("abc".join(["1", "2", "3"])); w = len("line1\nline2\r\nline3".splitlines()); x = "abcabc".rfind("b"); y = len("title case".title()); z = len("ß".upper())
a1 = len("ab" * 3 + "c"); a2 = int("abc" < "abd") + int("a" in "cat") + 1; a3 = len(str(1e16)); a4 = len(str(0.1 + 0.2)); a5 = len(repr("it's")); a6 = len("x".encode("utf-16")); a7 = len(b"\x00ab".hex()); a8 = b"abc"[1]
a9 = int.from_bytes(b"\x01\x00", "big"); b1 = (300).bit_length(); b2 = len((1024).to_bytes(2, "little")); b3 = len("abc".translate({97: None, 98: "BB"})); b4 = len("{a[0]}{b.real}".format(a=[12], b=5)); b5 = "abc".zfill(6).count("0"); b6 = len("😀é")
b7 = len("a-b_c".replace("-", "").removeprefix("a").removesuffix("c")); b8 = round(2.5) + round(3.5); b9 = round(-7 / 2); c1 = -7 // 2; c2 = -7 % 3; c3 = int(-7 / 2); c4 = 7 % -3; c5 = divmod(-7, 2)[0]; c6 = 2 ** -1 == 0.5; c7 = int(1e3) ; c8 = int("-5"); c9 = bool("False") + 1
d1 = len("%s" % ((1, 2),)); d2 = len("%(a)s-%(b)03d" % {"a": "x", "b": 7}); d3 = len(f"{s=}"); d4 = len(f"{'a':{'*'}^{5}}"); d5 = len(f"{1000000:_}"); d6 = len(f"{0.000001}"); d7 = len(f"{True}{None}{[1, 'a']}{ {1: 2} }")
t = torch.zeros(a, b, d, 3)
# == itertools and iterators
import torch
import itertools as it
a = len(list(it.product([1, 2], repeat=3))); b = len(list(it.permutations(range(4), 2))); c = len(list(it.combinations(range(5), 3))); d = len(list(it.chain([1], [2, 3], "ab"))); e = list(it.accumulate([1, 2, 3]))[-1]
f = list(it.islice(it.count(5, 2), 2, 4))[0]; g = len(list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1]))); h = len(list(it.dropwhile(lambda x: x < 3, [1, 2, 3, 1]))); i = len(list(it.groupby("aabbbc"))); j = [len(list(g)) for k, g in it.groupby([1, 1, 2, 2, 2])][1]
k = len(list(it.zip_longest([1, 2, 3], [1], fillvalue=0))); l = list(it.starmap(pow, [(2, 3), (3, 2)]))[0]; m = len(list(it.pairwise([1, 2, 3, 4]))); x, y = it.tee([1, 2, 3]); next(x); n = len(list(x)) * 10 + len(list(y)); o = len(list(it.compress("abcd", [1, 0, 1, 1]))); p = len(list(it.filterfalse(None, [0, 1, 2]))); q = len(list(it.repeat(1, 4))); r = list(it.accumulate([3, 1, 2], max, initial=2))[1]; c2 = it.cycle([1, 2]); s = [next(c2) for _ in range(5)][-1]; u = len(list(it.combinations_with_replacement([1, 2, 3], 2)))
z1 = list(zip(*[[1, 2], [3, 4]]))[1][0]; z2 = list(map(lambda a, b: a + b, [1, 2], [10, 20, 30]))[-1]; z3 = len(list(zip([1, 2, 3], "ab"))); z4 = list(enumerate("abc", 5))[1][0]; z5 = sum(x for x in range(10) if x % 3 == 0); z6 = len(list(filter(None, [0, "", 1, [], [0]]))); z7 = max("apple", "fig", key=len); z8 = len(z7); z9 = sorted([3, 1, 2], reverse=True)[0]; y1 = min([], default=6); y2 = any([0, 0, 3]) + 1; y3 = all([]) + 1
try:
    list(zip([1], [1, 2], strict=True)); y4 = 1
except ValueError:
    y4 = 2
i1 = iter([1, 2, 3]); y5 = next(i1) + sum(i1); y6 = next(i1, 9); y7 = list(iter(lambda c=[0]: c.__setitem__(0, c[0] + 1) or c[0], 4))[-1]; y8 = list(reversed(range(0, 10, 3)))[0]; y9 = len(range(10, 0, -3)); w1 = range(5, 50, 5)[3]; w2 = range(0, 10, 2).index(6); w3 = 7 in range(0, 10, 2); w4 = sum(range(4)[1:3])
t = torch.zeros(a, b, c, d)
# == lists and sets
import torch
l = [3, 1, 4, 1, 5, 9, 2, 6]
a = l.index(4); b = l.count(1); l2 = l[:]; l2.sort(key=lambda x: -x); c = l2[0]; l2[1:3] = [0] * 5; d = len(l2); del l2[::2]; e = len(l2); l2[::2] = [7] * len(l2[::2]); f = l2[0]; l2 += (1, 2); g = len(l2); l2 *= 2; h = len(l2); i = l2.pop(); j = l2.pop(0); l2.insert(-1, 99); k = l2[-2]; l2.insert(100, 5); m = l2[-1]; l2.remove(7); n = len(l2); l2.clear(); o = len(l2) + 2
m1 = [[0] * 3] * 2; m1[0][1] = 5; p = m1[1][1]; m2 = [[0] * 3 for _ in range(2)]; m2[0][1] = 5; q = m2[1][1] + 2; r = len([x for y in [[1, 2], [3]] for x in y]); s = [[j * i for j in range(3)] for i in range(4)][3][2]
u = ([1, 2] < [1, 3]) + ([1, 2] == [1.0, 2]) + 1; v = len([1, 2, 3][5:]) + 2; w = [1, 2, 3][-5:2][1]; x = (1, 2, 3).index(3); y = len((1,) * 3 + (2,)); z = [*range(3), *"ab"][3]
try:
    [1, 2].remove(5); z1 = 1
except ValueError:
    z1 = 2
tup = ([1], 2)
try:
    tup[0] += [5]; z2 = 1
except TypeError:
    z2 = len(tup[0])
s1 = {1, 2, 3}; s2 = {2, 3, 4}; z3 = len(s1 | s2); z4 = len(s1 & s2); z5 = len(s1 - s2); z6 = len(s1 ^ s2); z7 = (s1 <= {1, 2, 3, 4}) + 1; s1.add(2); s1.discard(9); z8 = len(s1); s1 -= {1}; z9 = len(s1); y1 = len(frozenset([1, 1]) | {5}); y2 = len({frozenset({1}), frozenset({1})})
lst = [1, 2, 3, 4]
for x2 in lst:
    if x2 % 2 == 0: lst.remove(x2)
y3 = len(lst); n5 = []
for i5 in [1, 2, 3]:
    n5.append(i5)
    if len(n5) == 2: i5 = 100
y4 = i5; y5 = lst is lst[:]; y6 = lst[True]; y7 = len([None] * 4); y8 = [1, 2, 3, 4, 5][1:-1:2][-1]; y9 = len(sorted({"b": 1, "a": 2})); w1 = slice(1, 10, 2).indices(6)[1]
t = torch.zeros(a, b, c, d, e)
# == operators of an object
import torch
class Acc:
    def __init__(self): self.v = []
    def __iadd__(self, o): self.v.append(o); return self
    def __imul__(self, o): return 5
    def __radd__(self, o): return o + 3
    def __matmul__(self, o): return 7
    def __rmatmul__(self, o): return 8
    def __ror__(self, o): return 9
    def __lshift__(self, o): self.v.append(o); return self
    def __neg__(self): return 11
    def __call__(self, *a): return len(a)
    def __getitem__(self, k): return k if not isinstance(k, tuple) else len(k)
    def __setitem__(self, k, v): self.v.append((k, v))
    def __delitem__(self, k): self.v.append(k)
    def __contains__(self, x): return x in (2, 3)
    def __len__(self): return len(self.v)
    def __bool__(self): return True
a = Acc()
a += 1
a += 2
b = len(a)
c = 4 + a
d = a @ 1
e = 1 @ a
f = 1 | a
a << 3 << 4
g = len(a)
h = -a
i = a(1, 2, 3)
j = a[1:2, ...]
k = a[5]
a[1] = 2
del a[3]
l = len(a)
m = (2 in a) + (5 in a) * 2 + 1
n = 5 if a else 6
s = a[1:3].stop
a *= 3
o = a
p = sum([Acc(), Acc()], 0) if False else 4
t = torch.zeros(b, c, d, e)
# == operators that pass
import torch
class NI:
    def __add__(self, o): return NotImplemented
    def __eq__(self, o): return NotImplemented
    def __lt__(self, o): return NotImplemented
class RI:
    def __radd__(self, o): return 4
    def __eq__(self, o): return True
    def __gt__(self, o): return True
a = NI() + RI()
try:
    NI() + 1
    b = 1
except TypeError as e:
    b = 2
c = (NI() == RI()) + 2
d = (NI() == NI()) + 2
e = (NI() < RI()) + 4
class Sub(NI):
    def __radd__(self, o): return 6
f = NI() + Sub()
class A2:
    def __add__(self, o): return 1
    def __radd__(self, o): return 2
class B2(A2):
    def __radd__(self, o): return 3
g = A2() + B2()
class C2(A2): pass
h = A2() + C2()
i = 5 + A2()
j = sum([A2()], 3)
class Cmp:
    def __lt__(self, o): return 3
    def __gt__(self, o): return 5
k = Cmp() < 4
l = 4 < Cmp()
m = (1 < 2 < 3) + (3 > 2 > 2) + 1
n = not Cmp() or 8
o = Cmp() and 9
p = None or 0 or [] or 6
q = (1 and 2 and 3)
class Chain:
    n = 0
    def v(self, x): Chain.n += 1; return x
ch = Chain()
r = 1 < ch.v(0) < ch.v(5)
s = Chain.n + 1
t = torch.zeros(a, b, s, q)
# == attributes of every kind
import torch
class Attr:
    def __init__(self): self.real = 3
    def __getattr__(self, n):
        if n.startswith("x"): return len(n)
        raise AttributeError(n)
    def __setattr__(self, n, v): object.__setattr__(self, n, v * 2 if isinstance(v, int) else v)
    def __delattr__(self, n): object.__setattr__(self, "deleted", 5); object.__delattr__(self, n)
    def __dir__(self): return ["a", "b"]
o = Attr()
a = o.real
b = o.xyz
o.w = 4
c = o.w
d = getattr(o, "nope", 7)
e = hasattr(o, "nope") + 1
f = hasattr(o, "xq") + 1
del o.w
g = o.deleted
h = len(dir(o))
i = len(vars(o))
setattr(o, "zz", 5)
j = o.__dict__["zz"]
try:
    del o.nothing
    k = 1
except AttributeError:
    k = 2
class Slots:
    __slots__ = ("a", "b")
    c = 5
s = Slots()
s.a = 3
try:
    s.d = 4
    l = 1
except AttributeError:
    l = 2
try:
    s.b
    m = 1
except AttributeError:
    m = 3
try:
    s.c = 1
    n = 1
except AttributeError:
    n = 4
class Sub(Slots): pass
u = Sub(); u.anything = 6
p = u.anything + len(u.__dict__)
class Prop:
    @property
    def v(self): return self._v
    @v.setter
    def v(self, x): self._v = x + 1
    @v.deleter
    def v(self): self._v = 100
    ro = property(lambda self: 9)
q = Prop(); q.v = 4; r = q.v; del q.v; r2 = q.v
try:
    q.ro = 1
    r3 = 1
except AttributeError:
    r3 = 2
class P2(Prop):
    @Prop.v.getter
    def v(self): return 50
q2 = P2(); q2.v = 1
r4 = q2.v + q2._v
class CV:
    @staticmethod
    def s(a): return a
    @classmethod
    def c(cls, a): return a + 1
    f = len
    g = lambda self: 8
r5 = CV.s(1) + CV().s(2) + CV.c(3) + CV().c(4) + CV().f([1]) + CV().g() if False else CV.s(1) + CV().c(4) + CV().f([1]) + CV().g()
import types
o2 = Prop(); o2.m = types.MethodType(lambda self, x: x * 2, o2)
r6 = o2.m(4)
ns = types.SimpleNamespace(a=1, b=2)
ns.c = 3
r7 = len(vars(ns)) + ns.c
r8 = types.SimpleNamespace(a=1) == types.SimpleNamespace(a=1)
t = torch.zeros(a, b, c, e, f)
# == dataclasses and named tuples
import torch
import dataclasses as dc
from typing import ClassVar, NamedTuple
@dc.dataclass
class D:
    a: int
    b: int = 2
    c: list = dc.field(default_factory=list)
    k: ClassVar[int] = 9
    e: int = dc.field(init=False, default=4)
    f: dc.InitVar[int] = 3
    def __post_init__(self, f): self.g = self.a + f
x = D(1)
y = D(1, 2, [5], f=6)
a = x.g; b = y.g; c = len(y.c); d = len(dc.fields(D)); e = (D(1) == D(1)) + 1
f = dc.replace(x, a=5, f=1).g
g = len(dc.asdict(x)); h = len(dc.astuple(y)); 
@dc.dataclass(order=True, frozen=True)
class E:
    p: int
    q: int = dc.field(default=1, compare=False)
i = (E(1, 5) == E(1, 6)) + (E(1) < E(2)) + 1
try:
    E(1).p = 3
    j = 1
except dc.FrozenInstanceError:
    j = 2
k = len({E(1), E(1, 2), E(2)})
@dc.dataclass
class F(D):
    z: int = 8
l = F(1).z + F(1, 2, [], f=3, z=4).z
try:
    hash(D(1)); m = 1
except TypeError:
    m = 3
@dc.dataclass(slots=True, kw_only=True)
class G:
    u: int
    v: int = 5
n = G(u=2).v
try:
    G(2); o = 1
except TypeError:
    o = 2
class NT(NamedTuple):
    a: int
    b: int = 7
    def s(self): return self.a + self.b
p = NT(1).s(); q = NT(1, 2)[1]; r = len(NT(1)); s = NT(1)._replace(b=3).b; u = len(NT._fields); v, w = NT(4, 5); z = NT(**{"a": 6}).a; z2 = len(NT(1)._asdict()); z3 = NT._make([8, 9]).b; z4 = (NT(1, 7) == (1, 7)) + 1
z5 = len(repr(x)) ; z6 = len(str(NT(1)))
M = dc.make_dataclass("M", [("x", int), ("y", int, 3)])
z7 = M(2).y
t = torch.zeros(a, b, c, d)
# == enumerations
import torch
import enum
class C(enum.Enum):
    R = 1
    G = 2
    ALIAS = 1
    @property
    def dbl(self): return self.value * 2
    @classmethod
    def first(cls): return list(cls)[0]
    def __str__(self): return "col"
a = len(C); b = C.G.dbl; c = C(2).value; d = C["R"].value; e = (C.ALIAS is C.R) + 1; f = len(C.__members__); g = C.first().value; h = len(str(C.R)); i = len(C.G.name)
try:
    C(9); j = 1
except ValueError:
    j = 2
class I(enum.IntEnum):
    A = 3
    B = enum.auto()
k = I.B + 1; l = [0, 1, 2, 30][I.A]; m = sum(I); n = (I.A == 3) + 1
class F(enum.Flag):
    X = enum.auto(); Y = enum.auto(); Z = X | Y
o = (F.X | F.Y).value; p = (F.X in F.Z) + 1; q = len(list(F.Z)); r = (F.Z & ~F.X).value
class S(str, enum.Enum):
    A = "abc"
s = len(S.A); u = S.A.upper().count("A"); v = ("x" + S.A).count("c")
class P(enum.Enum):
    E = (1, 2.5); V = (3, 4)
    def __init__(self, m, r): self.m = m; self.r = r
w = P.V.m; x = P((1, 2.5)).m
class M(enum.Enum):
    @classmethod
    def _missing_(cls, v): return cls.D
    D = 5; E = 6
y = M(100).value
D = enum.Enum("D", "p q r"); z = D.r.value; z2 = {C.R: 4}[C.ALIAS]
try:
    C.R = 5; z3 = 1
except AttributeError:
    z3 = 2
z4 = [x2.value for x2 in reversed(C)][0]
t = torch.zeros(a, b, c, d)
# == decorators that keep state
import torch
def deco(n):
    def wrap(f):
        import functools
        @functools.wraps(f)
        def inner(*a, **k): inner.calls += 1; return f(*a, **k) * n
        inner.calls = 0
        return inner
    return wrap
@deco(2)
@deco(3)
def f(x): "doc"; return x + 1
a = f(1); b = f(2); c = f.calls; d = len(f.__name__); e = f.__wrapped__.calls; g = len(f.__doc__)
class Count:
    def __init__(self, f): self.f = f; self.n = 0
    def __call__(self, *a): self.n += 1; return self.f(*a)
    def __get__(self, o, c): return lambda *a: self(o, *a)
class K:
    @Count
    def m(self, x): return x
@Count
def h(x): return x
h(1); h(2); i = h.n; j = K().m(5)
reg = {}
def register(name):
    def w(c): reg[name] = c; c.tag = name; return c
    return w
@register("one")
class One:
    n = 3
k = reg["one"].n + len(One.tag)
def memo(f):
    cache = {}
    def g(n):
        if n not in cache: cache[n] = f(n)
        return cache[n]
    g.cache = cache
    return g
@memo
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
l = fib(20) % 100; m = len(fib.cache)
def curry(f, *a):
    return lambda *b: f(*a, *b)
n = curry(curry(max, 3), 9)(4)
compose = lambda *fs: (lambda x: [x := g(x) for g in fs][-1])
o = compose(lambda v: v + 1, lambda v: v * 2)(3)
def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    return inc, lambda: n
inc, get = counter(); inc(); inc(4); p = get()
from operator import itemgetter, attrgetter, methodcaller, add, mul
q = itemgetter(1)([3, 4]); r = itemgetter(0, 2)("abc"); r1 = len(r); s = attrgetter("n")(One); u = methodcaller("count", "a")("banana"); v = add(2, 3) * mul(2, 3)
w = (lambda: (yield 3))().__next__()
x = [y := 5, y ** 2][1]
z = y
t = torch.zeros(a % 7 + 1, c, d, i)
# == scopes
import torch
x = 10
def f():
    try:
        return x
    finally:
        pass
def g():
    global x
    x = 3
    def h():
        global x
        x += 1
    h()
    return x
a = g(); b = x
def k(n):
    del n
    try: n
    except UnboundLocalError: return 4
c = k(1)
def m():
    for i in range(3): pass
    return i
d = m()
def m2():
    for i in []: pass
    try: return i
    except NameError: return 6
e = m2()
def p():
    l = [lambda v=v: v for v in range(3)]
    return l[2]()
f2 = p()
exec("dyn = 5")
g2 = dyn
h2 = eval("x + 2", {"x": 7})
i2 = eval("x + b")
ns = {}
exec("def z(a): return a * 2\nq = z(4)", ns)
j2 = ns["q"] + ns["z"](1)
class A:
    v = 1
    def get(self): return self.v
    def bump(self): self.v += 1; return self
k2 = A().bump().bump().v; l2 = A.v
o = A(); A.v = 7; m3 = o.v; o.v = 2; del o.v; n2 = o.v
def outer():
    def inner(): return locals()
    q = 1; r = 2
    return len(locals())
p2 = outer()
globals()["made"] = 9
q2 = made
r2 = len([1 for _ in "ab" for _ in range(3)])
s2 = [(i, j) for i in range(3) if i for j in range(i)][-1][1] + 1
u2 = {i: i * i for i in range(4) if i % 2}[3]; v2 = len({c for c in "hello"}); w2 = sum(i for i in (1, 2)) ; x2 = next((i for i in range(9) if i > 5), None)
if (n := len("four")) > 3: y2 = n
while True:
    if x > 6: break
    x += 1
else:
    x = 100
z2 = x
for q3 in range(2): pass
else: z3 = 5
try: pass
except Exception: z4 = 1
else: z4 = 2
finally: z5 = 3
assert True, "no"
t = torch.zeros(a, b, c, d, e)
# == iterators of the program's own
import torch
class It:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n
a = sum(It(4)); b = list(It(3))[0]; c = len([*It(2), *It(3)]); d, e, f = It(3); g = max(It(5)); h = 2 in It(4); it = It(5); next(it); i = len(list(it)); j = len(list(it)) + 3
class Seq:
    def __getitem__(self, i):
        if i >= 4: raise IndexError
        return i * 2
    def __len__(self): return 4
k = sum(Seq()); l = list(reversed(Seq()))[0]; m = 6 in Seq(); n = len(list(enumerate(Seq()))); o = [x for x in Seq() if x][0]; p = list(zip(Seq(), It(9)))[2][1]
class Rev:
    def __reversed__(self): return iter([7, 8])
    def __length_hint__(self): return 3
q = list(reversed(Rev()))[0]
import operator
r = operator.length_hint(Rev())
class BI:
    def __iter__(self): yield 1; yield from [2, 3]; return
s = len(tuple(BI())); u = dict(zip(BI(), "abc"))[3]; 
try: iter(5); v = 1
except TypeError: v = 2
try: next(iter([])); w = 1
except StopIteration: w = 3
def pipeline(xs):
    for x in xs:
        if x % 2: yield x
def sq(xs): return (x * x for x in xs)
y = sum(sq(pipeline(range(6))))
src = [1, 2, 3]; gen = (x * len(src) for x in src); src = [9]; z = next(gen)
src2 = [1, 2]; gi = iter(src2); next(gi); src2.append(5); z1 = len(list(gi)) + 1
k2 = iter("abc"); z2 = len(list(zip(k2, k2))); z3 = [*map(str, range(12))][11]; z4 = len(z3)
async def co(): return 4
import asyncio
async def main():
    a = await co()
    b = await asyncio.gather(co(), co())
    async def ag():
        yield 1
        yield 2
    return a + sum(b) + sum([x async for x in ag()])
z5 = asyncio.run(main())
t = torch.zeros(a, b, c, d + 1)
# == the standard library
import torch
import re, json, math, string, textwrap, datetime, decimal, fractions, statistics, bisect, heapq, random, os.path, pathlib, struct, base64, hashlib, io, csv, collections, copy
a = len(re.findall(r"\d+", "a1b22c333")); b = len(re.sub(r"[aeiou]", "", "education")); c = int(re.match(r"(\w+)-(\d+)", "ab-42").group(2)); d = len(re.split(r"[,;]", "a,b;c")); e = re.search("x", "abc") is None; f = re.fullmatch(r"(?P<n>\d)x", "5x")["n"]; f1 = int(f)
g = len(json.loads('{"a": [1, 2, {"b": null}]}')["a"]); h = len(json.dumps({"a": 1, "b": [1, 2]})); i = math.gcd(12, 18); j = math.comb(5, 2); k = math.isqrt(17); l = math.ceil(2.1) + math.floor(-2.1); m = math.prod([2, 3]); n = int(math.log2(1024)); o = int(math.hypot(3, 4)); 
p = len(string.ascii_letters); q = len(textwrap.dedent("  a\n  b")); r = (datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1)).days; s = int(decimal.Decimal("1.1") * 10); u = fractions.Fraction(6, 4).numerator; v = int(statistics.mean([1, 2, 6])); w = bisect.bisect([1, 3, 5], 3); x = heapq.nsmallest(2, [5, 1, 4])[1]
hp = [5, 3, 8]; heapq.heapify(hp); heapq.heappush(hp, 1); y = heapq.heappop(hp); z = len(hp); z1 = len(os.path.join("a", "b.txt")); z2 = len(os.path.splitext("a/b.tar.gz")[1]); z3 = len(pathlib.Path("a/b/c.txt").parts); z4 = len(pathlib.PurePath("x.py").stem); z5 = struct.calcsize("<iif"); z6 = struct.unpack("<H", b"\x01\x02")[0]; z7 = len(base64.b64encode(b"hello")); z8 = len(hashlib.md5(b"x").hexdigest())
bio = io.StringIO("a,b\n1,2\n3,4\n"); rows = list(csv.reader(bio)); y1 = len(rows); y2 = int(rows[1][1]); y3 = len(list(csv.DictReader(io.StringIO("a,b\n1,2\n")))[0]); y4 = len(io.BytesIO(b"abc").read(2)); buf = io.StringIO(); print("hi", 5, sep="-", end="!", file=buf); y5 = len(buf.getvalue())
y6 = len(bytes(5)) + bytearray(b"ab")[0]; y7 = memoryview(b"abc")[1]; y8 = len(format(1234.5, ",.1f")); y9 = int("11", 2); w1 = ord("a") ^ 1; w2 = 0b101 | 2; w3 = ~5 + 10; w4 = 1 << 3 >> 1; w5 = 17 // 4 % 3; w6 = int(True) + int(2.9); w7 = complex(1, 2).real; w8 = hash(1) + hash(1.0); w9 = id(None) == id(None); u1 = isinstance(True, int) + issubclass(bool, (str, int)) ; u2 = callable(len) + callable(3) + 1; u3 = len({*range(3), *[2, 5]}); u4 = round(3.14159, 2) * 100; u5 = int(u4); u6 = abs(-3) + pow(2, 3, 5); u7 = int(str(12)[::-1]); u8 = sorted("bca")[0] == "a"; u9 = chr(98) in "abc"
random.seed(0); v1 = len(random.sample(range(10), 4)); v2 = len(random.choices([1, 2], k=5)); v3 = random.randint(3, 3); lst = [1, 2, 3]; random.shuffle(lst); v4 = len(lst); v5 = sum(lst)
t = torch.zeros(a, b, c % 7, d)
# == a tree
import torch
class Node:
    def __init__(self, v, *kids): self.v = v; self.kids = list(kids)
    def __iter__(self):
        yield self
        for k in self.kids: yield from k
    def __len__(self): return 1 + sum(len(k) for k in self.kids)
    def depth(self): return 1 + max((k.depth() for k in self.kids), default=0)
tree = Node(1, Node(2, Node(4)), Node(3))
a = len(tree); b = tree.depth(); c = [n.v for n in tree][-1]; d = sum(n.v for n in tree)
tree.kids[0].kids.append(Node(9, Node(10)))
e = tree.depth(); f = len(tree)
stack = [tree]; order = []
while stack:
    n = stack.pop()
    order.append(n.v)
    stack.extend(reversed(n.kids))
g = order[3]; h = len(order)
from collections import deque
q = deque([(tree, 0)]); levels = {}
while q:
    n, l = q.popleft()
    levels.setdefault(l, []).append(n.v)
    for k in n.kids: q.append((k, l + 1))
i = max(len(v) for v in levels.values()); j = len(levels)
t = torch.zeros(a, b, c, d)
# == a linked list
import torch
class LinkedList:
    class _N:
        __slots__ = "v", "nxt"
        def __init__(self, v, nxt=None): self.v, self.nxt = v, nxt
    def __init__(self): self.head = None; self.size = 0
    def push(self, v): self.head = self._N(v, self.head); self.size += 1; return self
    def pop(self):
        if self.head is None: raise IndexError("empty")
        v, self.head = self.head.v, self.head.nxt
        self.size -= 1
        return v
    def __iter__(self):
        n = self.head
        while n is not None:
            yield n.v
            n = n.nxt
    def reverse(self):
        prev, cur = None, self.head
        while cur: cur.nxt, prev, cur = prev, cur, cur.nxt
        self.head = prev
l = LinkedList().push(1).push(2).push(3)
a = l.pop(); b = l.size; c = list(l)[0]; l.reverse(); d = list(l)[0]; l.pop(); l.pop()
try: l.pop(); e = 0
except IndexError as err: e = len(str(err))
f = 3 if l.head is None else 4
t = torch.zeros(a, b, c, d, e)
# == arguments that are changed
import torch
def f(*args, **kw):
    args = list(args)
    kw.setdefault("z", 4)
    args.append(kw.pop("q", 6))
    return args, kw
a, k = f(1, 2, q=3)
b = len(a) + k["z"]
opts = {"z": 9}
_, k2 = f(**opts)
c = k2["z"]; d = len(opts); k2["new"] = 1; e = len(opts)
lst = [1, 2]
def m(x, y=lst): y = y + [x]; return len(y)
def m2(x, y=lst): y += [x]; return len(y)
g = m(1); h = m2(1); i = len(lst); j = m(1)
def swap(a, b): return b, a
x, y = swap(1, 2)
(x, y), z = swap(3, (x, y))
def nested(a):
    def inner(b):
        def innermost(c): return a + b + c
        return innermost
    return inner
n = nested(1)(2)(3)
o = (lambda a, b=(lambda: 4)(): a + b)(1)
p = [*map(lambda t: t[0] * t[1], [(1, 2), (3, 4)])][1]
def varret(n):
    if n > 2: return n, n
    return n
q = varret(3)[0]; r = varret(1)
def early(xs):
    for x in xs:
        if x < 0: return x
        if x > 10: continue
        if x == 7: break
    else: return 100
    return x
s = early([1, 20, 3]); u = early([1, 7, -4]); v = early([5, -3])
t = torch.zeros(b, c, d, g, h)
# == an amount of money
import torch
class Money:
    def __init__(self, c): self.c = c
    def __add__(self, o):
        if isinstance(o, Money): return Money(self.c + o.c)
        if isinstance(o, int): return Money(self.c + o)
        return NotImplemented
    __radd__ = __add__
    def __mul__(self, k): return Money(self.c * k)
    __rmul__ = __mul__
    def __sub__(self, o): return self + -o
    def __neg__(self): return Money(-self.c)
    def __eq__(self, o): return isinstance(o, Money) and self.c == o.c
    def __int__(self): return self.c
    def __float__(self): return self.c / 2
    def __truediv__(self, o): return Money(self.c // o)
    def __floordiv__(self, o): return self.c // o
    def __mod__(self, o): return self.c % o
    def __divmod__(self, o): return self // o, self % o
    def __str__(self): return "$" * self.c
    def __hash__(self): return 1
a = int(Money(2) + Money(3)); b = int(sum([Money(1), Money(2)])); c = int(3 * Money(2)); d = int(Money(5) - Money(2)); e = (Money(1) == Money(1)) + 1; f = int(float(Money(8))); g = divmod(Money(17), 5)[1]; h = len(f"{Money(3)}"); i = len({Money(1): 1, Money(1): 2, Money(2): 3}); j = (Money(1) != Money(2)) + 1
try: Money(1) + "x"; k = 1
except TypeError: k = 2
try: Money(1) < Money(2); l = 1
except TypeError: l = 3
m = Money(4); n = m; m += 3; o = int(n); p = int(m)
q = Money(3) in [Money(1), Money(3)]; r = [Money(1), Money(3)].index(Money(3)) + 1; s = [Money(2)].count(Money(2)); u = len("%s" % Money(4)); v = int(Money(9) / 2)
t = torch.zeros(a, b, c, d, e)
# == abstract classes, protocols, mappings
import torch
import abc
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    @property
    @abc.abstractmethod
    def n(self): ...
    def both(self): return self.area() + self.n
class Sq(Shape):
    def area(self): return 4
    n = 2
class Half(Shape):
    def area(self): return 1
a = Sq().both()
try: Half(); b = 1
except TypeError: b = 2
try: Shape(); c = 1
except TypeError: c = 3
class Virtual:
    def __len__(self): return 3
from collections.abc import Sized, Iterable, Mapping, Sequence, MutableSequence, Hashable, Callable
d = isinstance(Virtual(), Sized) + 1; e = isinstance([], Iterable) + isinstance({}, Mapping) + isinstance((), Sequence) + isinstance("", Sequence) + isinstance({1}, Sequence)
Shape.register(Virtual); f = isinstance(Virtual(), Shape) + 1; g = issubclass(Virtual, Shape) + 1
class MyMap(Mapping):
    def __init__(self, d): self.d = d
    def __getitem__(self, k): return self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = MyMap({"a": 1, "b": 2}); h = m.get("z", 7); i = len(list(m.items())); j = sum(m.values()); k = ("a" in m) + 1; l = (m == {"a": 1, "b": 2}) + 1; n = len({**m}); o = len(dict(m))
class MySeq(MutableSequence):
    def __init__(self): self.l = []
    def __getitem__(self, i): return self.l[i]
    def __setitem__(self, i, v): self.l[i] = v
    def __delitem__(self, i): del self.l[i]
    def __len__(self): return len(self.l)
    def insert(self, i, v): self.l.insert(i, v * 2)
s = MySeq(); s.append(3); s.extend([4, 5]); p = s[0]; q = s.pop(); r = len(s); s += [1]; u = s[-1]; v = s.index(8); s.reverse(); w = s[0]; s.remove(6); x = len(s)
from typing import Protocol, runtime_checkable
@runtime_checkable
class HasX(Protocol):
    def x(self): ...
class X1:
    def x(self): return 1
y = isinstance(X1(), HasX) + 1; z = isinstance(3, HasX) + 1
t = torch.zeros(a, b, c, d, e)
# == managers with with-statements inside
import torch
class Temp:
    def __init__(self): self.log = []
    def __enter__(self): self.log.append("in"); return self.log
    def __exit__(self, et, ev, tb):
        self.log.append(et.__name__ if et else "ok")
        return et is not None and issubclass(et, LookupError)
m = Temp()
with m as l: l.append("x")
a = len(m.log)
with m: {}["k"]
b = len(m.log); c = len(m.log[-1])
try:
    with m, Temp() as z: raise ValueError("bad")
    d = 1
except ValueError as e: d = len(e.args[0])
f = len(m.log); g = len(z)
def fn():
    with Temp() as l: return len(l)
h = fn()
for i in range(4):
    with Temp() as l:
        if i == 2: break
        continue
j = i; k = len(l)
with (Temp() as p, Temp() as q): p.append(1)
n = len(p) * 10 + len(q)
def gen():
    with Temp() as l: yield l
g1 = gen(); l1 = next(g1); o = len(l1); g1.close(); r = len(l1)
class Bad:
    def __enter__(self): raise KeyError("e")
    def __exit__(self, *a): return True
try:
    with Bad(): s = 1
    s2 = 1
except KeyError: s2 = 5
class Rep:
    def __enter__(self): return 1
    def __exit__(self, *a): raise TypeError
try:
    with Rep(): 1 / 0
except TypeError as e: u = 3 if isinstance(e.__context__, ZeroDivisionError) else 4
t = torch.zeros(a, b, c, d)
# == counting words
import torch
text = """the quick brown fox
jumps over the lazy dog
the end"""
words = text.split()
vocab = sorted(set(words)); stoi = {w: i for i, w in enumerate(vocab)}; itos = {i: w for w, i in stoi.items()}
a = len(vocab); b = stoi["the"]; c = len(itos[0]); ids = [stoi[w] for w in words]; d = max(ids); e = ids.count(stoi["the"])
chars = sorted(list(set(text))); f = len(chars); g = len(text.splitlines()); h = len(max(words, key=len)); 
counts = {}
for w in words: counts[w] = counts.get(w, 0) + 1
top = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])); i = top[0][1]; j = len(top[1][0])
bigrams = list(zip(words, words[1:])); k = len(bigrams); l = len(set(bigrams)); m = sum(1 for x, y in bigrams if x == "the")
lens = [len(w) for w in words]; n = sum(lens); o = min(lens); p = sorted(lens)[len(lens) // 2]; by = {}
for w in words: by.setdefault(len(w), set()).add(w)
q = len(by); r = len(by[3]); s = len(by.get(10, ())) + 2
caesar = "".join(chr((ord(x) - 97 + 3) % 26 + 97) if x.isalpha() else x for x in "xyz abc"); u = ord(caesar[0]) - 90; v = caesar.index("d")
pal = [w for w in ["level", "noon", "abc"] if w == w[::-1]]; w2 = len(pal)
rle = []
for ch in "aaabbc":
    if rle and rle[-1][0] == ch: rle[-1][1] += 1
    else: rle.append([ch, 1])
x = len(rle); y = rle[0][1]; pad = [s2 + ["<pad>"] * (5 - len(s2)) for s2 in [["a"], ["b", "c"]]]; z = len(pad[1])
z1 = len(" ".join(w.capitalize() for w in words)); z2 = text.lower().count("the"); z3 = text.find("fox") // 4; z4 = len([l for l in text.split("\n") if "the" in l]); z5 = len({w[0] for w in words})
enc = [[stoi.get(w, 0) for w in line.split()] for line in text.split("\n")]; z6 = max(map(len, enc)); z7 = len(enc); mask = [[1] * len(r2) + [0] * (z6 - len(r2)) for r2 in enc]; z8 = sum(map(sum, mask))
emb = torch.nn.Embedding(a, 5); t = emb(torch.tensor(ids)); t2 = torch.zeros(z6, z7, a)
# == algorithms
import torch
def primes(n):
    sieve = [True] * (n + 1); sieve[0] = sieve[1] = False
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]: sieve[i * i::i] = [False] * len(sieve[i * i::i])
    return [i for i, p in enumerate(sieve) if p]
a = len(primes(50)); b = primes(30)[-1]
def gcd(x, y): return x if y == 0 else gcd(y, x % y)
c = gcd(48, 18)
def fact(n): return 1 if n == 0 else n * fact(n - 1)
d = fact(6) % 97
def binsearch(xs, v):
    lo, hi = 0, len(xs)
    while lo < hi:
        mid = (lo + hi) // 2
        if xs[mid] < v: lo = mid + 1
        else: hi = mid
    return lo
e = binsearch([1, 3, 5, 7, 9], 6)
def qs(xs): return xs if len(xs) < 2 else qs([x for x in xs[1:] if x < xs[0]]) + [xs[0]] + qs([x for x in xs[1:] if x >= xs[0]])
f = qs([3, 6, 1, 8, 2])[2]
def bubble(xs):
    xs = xs[:]
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]: xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs
g = bubble([5, 2, 9, 1])[3]
def perms(xs): return [[]] if not xs else [[x] + p for i, x in enumerate(xs) for p in perms(xs[:i] + xs[i + 1:])]
h = len(perms([1, 2, 3]))
def edit(a, b):
    dp = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1): dp[i][0] = i
    for j in range(len(b) + 1): dp[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            dp[i][j] = min(dp[i - 1][j] + 1, dp[i][j - 1] + 1, dp[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return dp[-1][-1]
i = edit("kitten", "sitting")
def collatz(n):
    s = 0
    while n != 1: n = n // 2 if n % 2 == 0 else 3 * n + 1; s += 1
    return s
j = collatz(27) % 50
mat = [[1, 2, 3], [4, 5, 6]]; k = list(zip(*mat))[2][1]; l = [list(r) for r in zip(*mat)][1][0]; m = sum(map(sum, mat)); n = [r[::-1] for r in mat[::-1]][0][0]; o = len([x for r in mat for x in r if x % 2]); mm = [[sum(a * b for a, b in zip(r, c)) for c in zip(*[[1, 0], [0, 1], [1, 1]])] for r in mat]; p = mm[1][1]
def hanoi(n, a, b, c): return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
q = hanoi(4, "a", "b", "c")
def to_bin(n): return "" if n == 0 else to_bin(n // 2) + str(n % 2)
r = len(to_bin(100)); s = int(to_bin(10), 2)
graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
def dfs(n, seen=None):
    seen = set() if seen is None else seen
    if n in seen: return seen
    seen.add(n)
    for m in graph[n]: dfs(m, seen)
    return seen
u = len(dfs("a")); v = len(dfs("b"))
import heapq
def dij(g, s):
    dist = {s: 0}; pq = [(0, s)]
    while pq:
        d, n = heapq.heappop(pq)
        for m, w in g.get(n, []):
            if d + w < dist.get(m, 10 ** 9): dist[m] = d + w; heapq.heappush(pq, (d + w, m))
    return dist
w = dij({"a": [("b", 4), ("c", 1)], "c": [("b", 2)], "b": [("d", 5)]}, "a")["d"]
from functools import lru_cache
@lru_cache(None)
def ways(n): return 1 if n <= 1 else ways(n - 1) + ways(n - 2)
x = ways(10)
t = torch.zeros(a, b % 7 + 1, c, e, f)
# == an object that acts as a tensor
import torch
class Tensorish:
    def __init__(self, data): self.data = data; self.shape = torch.Size(data.shape)
    def __getattr__(self, n): return getattr(self.data, n)
    def __getitem__(self, i): return Tensorish(self.data[i])
    def __len__(self): return len(self.data)
    def __matmul__(self, o): return self.data @ (o.data if isinstance(o, Tensorish) else o)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*[a.data if isinstance(a, Tensorish) else a for a in args], **(kwargs or {}))
x = Tensorish(torch.zeros(4, 5, 6))
a = x.size(1); b = x[0].dim(); c = len(x); y = x[0] @ torch.zeros(6, 2); z = torch.relu(x); d = x.shape.numel(); e, *f = x.shape; g = len(f)
h = x.T if False else x.permute(2, 0, 1)
s = torch.Size([2, 3]) + torch.Size((4,)); i = len(s); j = s[-1]; k = s.numel(); l = tuple(s)[0]; m = s[1:].numel() if hasattr(s[1:], "numel") else 3
u = torch.zeros(*s).view(s[0], -1); v = u.new_zeros(u.shape); w = torch.zeros(s)[..., None]; w2 = w.squeeze(-1).flatten(1).unbind(1)[0]
n = sum(p.numel() for p in torch.nn.Linear(3, 4).parameters()); o = len(list(torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU()).named_modules())); p = int(torch.tensor([[1, 2], [3, 4]]).sum()); q = torch.tensor([3, 1, 2]).argmax().item() + 1; r = torch.arange(10)[2:8:3].tolist()[1]
# == patterns of design
import torch
state = {"n": 0}
class Obs:
    def __init__(self): self.subs = []
    def on(self, f): self.subs.append(f); return f
    def fire(self, *a): return [f(*a) for f in self.subs]
o = Obs()
@o.on
def first(x): state["n"] += x
o.on(lambda x: state.update(m=x))
o.fire(3); a = state["n"]; b = state["m"]
class Single:
    _i = None
    def __new__(cls, *a):
        if cls._i is None: cls._i = super().__new__(cls); cls._i.made = 0
        cls._i.made += 1
        return cls._i
s1 = Single(); s2 = Single(); c = s1.made; d = (s1 is s2) + 1
class Borg:
    shared = {}
    def __init__(self): self.__dict__ = self.shared
b1 = Borg(); b1.x = 5; e = Borg().x
class Fluent:
    def __init__(self): self.parts = []
    def __getattr__(self, n):
        if n.startswith("_"): raise AttributeError(n)
        def add(*a): self.parts.append(n); return self
        return add
f = len(Fluent().a().b(1).c(2, 3).parts)
class Lazy:
    def __init__(self, fn): self.fn = fn
    def __get__(self, o, cls):
        v = self.fn(o); o.__dict__[self.fn.__name__] = v; state["n"] += 1; return v
class Uses:
    @Lazy
    def val(self): return 11
u = Uses(); g = u.val + u.val; h = state["n"]
class Pub:
    def __init__(self): self._x = 1
    x = property(lambda s: s._x * 2, lambda s, v: setattr(s, "_x", v))
p = Pub(); p.x = 4; i = p.x; p.x += 1; j = p._x
class Meta(type):
    reg = []
    def __new__(m, n, b, d): c = super().__new__(m, n, b, d); m.reg.append(n); return c
    @property
    def total(cls): return len(cls.reg)
    def __call__(cls, *a, **k): o = super().__call__(*a, **k); o.tag = len(cls.__name__); return o
class Ma(metaclass=Meta): pass
class Mbb(Ma): pass
k = Ma.total; l = Mbb().tag; m = type(Mbb).__name__ == "Meta"
T = type("Dyn", (Ma,), {"v": 6, "f": lambda self: self.v + 1}); n = T().f(); q = Ma.total
class Outer:
    class Inner:
        v = 3
        def mk(self): return Outer
    def get(self): return self.Inner().mk().Inner.v
r = Outer().get()
class Cnt:
    total = 0
    def __init__(self): type(self).total += 1
    def __del__(self): pass
for _ in range(3): Cnt()
v = Cnt.total
class Mix:
    def save(self): return ["mix"] + super().save()
class Base:
    def save(self): return ["base"]
class Both(Mix, Base): pass
w = len(Both().save())
class Poly:
    def __init__(self, *c): self.c = c
    def __call__(self, x):
        r = 0
        for k in self.c: r = r * x + k
        return r
x = Poly(1, 2, 3)(2)
y = (lambda f: f(f, 5))(lambda f, n: 1 if n < 2 else n * f(f, n - 1)) % 13
t = torch.zeros(a, b, c, d, e)
# == reversed of a tensor
import torch
r = reversed(torch.zeros(3, 4))
a = r.shape[0]
try:
    o = 5
    r = reversed(torch.zeros(3, 4))
    n = -1
except TypeError:
    n = 4
# == what a generator returned is told once
import torch
class A:
    def __index__(self): return 3
import collections
try:
    collections.deque("abc", A())
    n = 1
except TypeError:
    n = 2
def g():
    yield 1
    return 9
i = g()
a = next(i)
try: next(i)
except StopIteration as e: b = e.value
try: next(i)
except StopIteration as e: c = e.value or 3
i = g(); list(i)
try: i.send(None)
except StopIteration as e: d = e.value or 3
def h(i):
    x = yield from i
    yield x or 40
i = g()
f = list(h(i))[-1]
k = list(h(i))[-1]
i = g(); i.close()
try: next(i)
except StopIteration as e: l = e.value or 3
i = g(); next(i)
m = list(h(i))[-1]
t = torch.zeros(b, c, d, f, k)
x = reversed(torch.zeros(3, 4, dtype=torch.int64))
y = torch.tensor(3.0)
z = reversed(y)
def cm():
    with torch.no_grad():
        yield torch.zeros(2, 3)
    yield torch.zeros(5)
s = list(cm())[1]
w = next(cm())
def lines():
    with open(__file__) as f:
        for l in f: yield l
v = len(list(lines())[0]) + 1
for one in lines():
    u = 4
    break
# == classes made by type
import torch
class M:
    def m(self): return 3
class N2:
    def n(self): return 4
bases = (M, N2)
class X(*bases): v = 5
a = X().m() + X().n() + X.v
opts = {"k": 6}
class Y:
    def __init_subclass__(cls, k=1): cls.k = k
class Z(Y, **opts): pass
b = Z.k
T = type("T", (M,), dict(w=7, f=lambda self: self.w + self.m()))
c = T().f(); d = len(T.__name__); e = isinstance(T(), M) + 1
class U(T):
    def f(self): return super().f() + 1
f = U().f()
def make(n):
    class K: size = n
    return K
g = make(3).size + make(4).size
Net = type("Net", (torch.nn.Module,), {"__init__": lambda self: (torch.nn.Module.__init__(self), setattr(self, "fc", torch.nn.Linear(3, 5)))[0], "forward": lambda self, x: self.fc(x)})
y = Net()(torch.zeros(2, 3))
def initer(self, n): self.n = n
P = type("P", (), {"__init__": initer, "twice": property(lambda s: s.n * 2)})
h = P(4).twice
P.extra = lambda self: self.n + 1
i = P(4).extra()
M.late = 9
j = X().late + T.late
del M.late
k = hasattr(T, "late") + 1
L = [type(f"C{i}", (), {"i": i}) for i in range(3)]
l = sum(c.i for c in L); m = len(L[2].__name__)
try: type("Q", (int, str), {}); n = 1
except TypeError: n = 2
o = type(3).__name__; p = len(type("A", (), {})().__class__.__name__); q = type(type) is type
t = torch.zeros(a, b, c, d)
# == a bit of everything
import torch
import sys, os, time, logging, warnings, collections, typing as T
def with_default(x: T.Optional[int] = None, *, flag: bool = False) -> int:
    return 4 if x is None else x + flag
a = with_default(); b = with_default(3, flag=True)
log = logging.getLogger(__name__); log.info("x %d", 3)
with warnings.catch_warnings():
    warnings.simplefilter("ignore"); warnings.warn("w")
    c = 5
try: sys.exit(3)
except SystemExit as e: d = e.code
g = int(os.environ.get("NOPE_X", 8)); h = os.getenv("NOPE_Y") is None
class Ctx:
    stack = []
    def __enter__(self): self.stack.append(self); return self
    def __exit__(self, *a): self.stack.pop()
    @classmethod
    def depth(cls): return len(cls.stack)
with Ctx():
    with Ctx(): i = Ctx.depth()
    j = Ctx.depth()
k = Ctx.depth() + 2
Point = collections.namedtuple("Point", ["x", "y"], defaults=[9])
l = Point(1).y; m = Point(x=3, y=4).x; x, y = Point(5, 6); n = len(Point._fields); o = Point(1, 2) + (3,); p = len(o)
q = Point(1, 2)._replace(x=8).x; r = max(Point(1, 5), Point(2, 0)).x
def kw(**k): return sorted(k)
s = len(kw(b=1, a=2)); u = kw(z=1, c=2)[0] == "c"
v = (lambda *, a=3: a)(); w = [f() for f in [lambda: 1, lambda: 2]][1]
nested = {"a": {"b": [10, {"c": 20}]}}; z = nested["a"]["b"][1]["c"]; nested["a"]["b"][1]["c"] += 2; z1 = nested["a"]["b"][-1]["c"]
from copy import deepcopy
n2 = deepcopy(nested); n2["a"]["b"].append(1); z2 = len(nested["a"]["b"]); z3 = len(n2["a"]["b"])
sh = nested.copy(); sh["a"]["q"] = 1; z4 = len(nested["a"])
first, *rest = sorted({5, 3, 9}); z5 = first; z6 = rest[-1]
flat = [x for sub in [[1, [2]], [3]] for x in sub]; z7 = len(flat)
z8 = sum([[1], [2, 3]], []); z9 = len(z8)
y1 = dict(a=1) | dict(b=2); y2 = len(y1); y3 = {**y1, "a": 9}["a"]; y4 = dict([("k", 5)])["k"]; y5 = {i: str(i) for i in range(3)}; y6 = len(y5[2])
t = torch.zeros(a, b, c, d)
# == subclasses of Python's own
import torch
class Matrix:
    def __init__(self, rows): self.rows = [list(r) for r in rows]
    @property
    def shape(self): return len(self.rows), len(self.rows[0])
    @classmethod
    def identity(cls, n): return cls([[int(i == j) for j in range(n)] for i in range(n)])
    def __matmul__(self, o): return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __getitem__(self, ij):
        if isinstance(ij, tuple): i, j = ij; return self.rows[i][j]
        return self.rows[ij]
    def __setitem__(self, ij, v): i, j = ij; self.rows[i][j] = v
    def __eq__(self, o): return self.rows == o.rows
    def __iter__(self): return (x for r in self.rows for x in r)
    def T(self): return Matrix(zip(*self.rows))
    def __pow__(self, n):
        r = Matrix.identity(len(self.rows))
        for _ in range(n): r = r @ self
        return r
m = Matrix([[1, 2, 3], [4, 5, 6]])
a, b = m.shape; c = m[1, 2]; m[0, 0] = 9; d = m[0][0]; e = (m @ m.T())[0, 1]; f = sum(m); g = m.T().shape[0]; h = (Matrix([[1, 1], [1, 0]]) ** 8)[0, 1]; i = (Matrix.identity(2) == Matrix([[1, 0], [0, 1]])) + 1
class Stack(list):
    def push(self, x): self.append(x); return self
    @property
    def top(self): return self[-1]
    def __repr__(self): return f"S{list.__repr__(self)}"
    def __add__(self, o): return Stack(list.__add__(self, o))
s = Stack([1]).push(5); j = s.top; k = len(s); l = len(repr(s)); n = type(s + [1]) is Stack; o = len((s + [1, 2]).push(3)); p = s[::-1].__class__ is list; q = s.pop() + len(s)
class DD(dict):
    def __missing__(self, k): self[k] = v = len(k); return v
    def __getattr__(self, k):
        try: return self[k]
        except KeyError: raise AttributeError(k)
    __setattr__ = dict.__setitem__
dd = DD(a=1); r = dd["hello"]; dd.zz = 4; u = dd["zz"]; v = len(dd); w = dd.a; x = dd.get("nope", 6); y = dd.qqq
class I(int):
    def __add__(self, o): return I(int(self) + int(o) + 1)
    def half(self): return self // 2
z = I(3) + 4; z1 = z.half(); z2 = type(I(3) * 2) is int; z3 = I(5) - 1; z4 = sum([I(1), I(2)], I(0)); z5 = int(z4); z6 = [10, 20, 30, 40][I(2)]; z7 = len(range(I(4)))
class S(str):
    def shout(self): return S(self.upper() + "!")
z8 = len(S("ab").shout().shout()); z9 = len(S("a,b").split(",")); y1 = {S("k"): 5}["k"]; y2 = S("x") == "x"
class F(float): pass
y3 = int(F(2.7) * 2); y4 = round(F(2.5) + 1)
class Tp(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
    @property
    def area(self): return self[0] * self[1]
tp = Tp(3, 4); y5 = tp.area; y6 = len(tp); aa, bb = tp; y7 = (tp == (3, 4)) + 1; y8 = hash(tp) == hash((3, 4)); y9 = tp + (1,); w1 = len(y9)
class E(Exception):
    def __init__(self, n): self.n = n
    def __str__(self): return "x" * self.n
try: raise E(4)
except E as ex: w2 = len(str(ex)); w3 = ex.n; w4 = len(ex.args)
t = torch.zeros(a, b, c, d)
# == decorated classes, registries, pipelines
import torch
def log_calls(cls):
    for name, f in list(vars(cls).items()):
        if callable(f) and not name.startswith("__"):
            def w(self, *a, __f=f, __n=name): cls.calls.append(__n); return __f(self, *a)
            setattr(cls, name, w)
    cls.calls = []
    return cls
@log_calls
class A:
    def x(self, n): return n + 1
    def y(self): return self.x(1) + self.x(2)
oa = A(); a = oa.y(); b = len(A.calls); c = A.calls.count("x")
def retry(n):
    def d(f):
        def g(*args):
            for i in range(n):
                try: return f(i, *args)
                except ValueError: last = i
            return 100 + last
        return g
    return d
@retry(3)
def flaky(i, x):
    if i < x: raise ValueError(i)
    return i
d = flaky(2); e = flaky(9)
class Plug:
    registry = {}
    def __init_subclass__(cls, **k): Plug.registry[cls.__name__.lower()] = cls
    @staticmethod
    def make(n, *a): return Plug.registry[n](*a)
class Lin(Plug):
    def __init__(self, i=2): self.i = i
class Conv(Plug):
    i = 8
f = Plug.make("lin", 5).i; g = Plug.make("conv").i; h = len(Plug.registry)
def tree(n): return None if n == 0 else (tree(n - 1), tree(n - 1))
def leaves(t): return 1 if t is None else leaves(t[0]) + leaves(t[1])
i = leaves(tree(4))
def flatten(x):
    for e in x:
        if isinstance(e, (list, tuple)): yield from flatten(e)
        else: yield e
j = len(list(flatten([1, [2, [3, (4, 5)], []], 6]))); k = max(flatten([1, [7, [3]]]))
def chunks(xs, n):
    for i in range(0, len(xs), n): yield xs[i:i + n]
l = len(list(chunks(list(range(10)), 3))); m = len(list(chunks("abcdefg", 3))[-1])
def window(it, n):
    from collections import deque
    d = deque(maxlen=n)
    for x in it:
        d.append(x)
        if len(d) == n: yield tuple(d)
n = len(list(window(range(7), 3))); o = list(window("abcd", 2))[1][0] == "b"
def accumulate():
    total = 0
    while True:
        x = yield total
        if x is None: return total
        total += x
ac = accumulate(); next(ac); ac.send(3); p = ac.send(4)
try: ac.send(None)
except StopIteration as s: q = s.value
def ping(n):
    if n: yield n; yield from ping(n - 1)
r = sum(ping(4)); s2 = len(list(zip(ping(3), ping(5))))
u = dict(enumerate(ping(3)))[2]
evens = filter(lambda v: v % 2 == 0, map(lambda v: v * 3, range(6))); v = next(evens); w = next(evens); x = len(list(evens))
from functools import partial, reduce
y = reduce(lambda f, g: lambda x: g(f(x)), [lambda x: x + 1, lambda x: x * 3])(2)
z = [*map(partial(pow, 2), range(5))][4]
class Meth:
    def __init__(self): self.handlers = {"a": self.on_a, "b": lambda: 6}
    def on_a(self): return 5
    def run(self, k): return self.handlers.get(k, lambda: 7)()
z1 = Meth().run("a"); z2 = Meth().run("b"); z3 = Meth().run("c"); z4 = getattr(Meth(), "on_" + "a")()
bound = Meth().on_a; z5 = bound(); z6 = Meth.on_a(Meth()); z7 = bound.__self__.run("b"); z8 = len(bound.__name__)
t = torch.zeros(a, b, c, d)
# == loops, try and expressions
import torch
n = 0
for i in range(3):
    for j in range(3):
        if j == i: break
        n += 1
    else:
        n += 10
a = n
i = 0
while i < 10:
    i += 3
    if i == 6: continue
    n += i
b = n; c = i
try:
    try: raise KeyError("a")
    finally: d = 4
except KeyError: e = 5
def f(n):
    for k in range(n):
        try:
            if k == 1: continue
            if k == 3: return k
        finally: out.append(k)
    return -1
out = []; g = f(5); h = len(out); out = []; x = f(2) + 5; y = len(out)
def nested_try(v):
    try:
        try: return 10 // v
        except ZeroDivisionError: raise ValueError("z")
        else: return 3
        finally:
            if v == 5: return 50
    except ValueError: return 8
l = nested_try(0); m = nested_try(2); o = nested_try(5)
p = [i for i in range(20) if i % 2 if i % 3][2]; q = [(a2, b2) for a2 in range(3) for b2 in range(a2)][-1][0]
r = sum(1 for _ in iter(int, 1) if False) if False else 6
s = 5 if not [] else 6; u = (3 if 0 else 4) + (1 if None is None else 2); v = 1 < 2 < 3 != 4 == 4
w = [] or {} or 7; z = 0 and 1 / 0; z1 = not not "a"; z2 = -2 ** 2 + 10; z3 = 2 ** 3 ** 2 % 100; z4 = 7 // 2 * 2 + 7 % 2; z5 = 1 if 1 else 1 / 0
x1, x2 = x3 = (4, 5); z6 = len(x3) + x1; d1 = {}; d1["k"] = d1_ = [1]; d1_.append(2); z7 = len(d1["k"])
lst = [3, 4, 5]; lst[1:1] = [9, 9]; z8 = len(lst); lst[::2] = "abc"; z9 = lst.index("b"); del lst[-2:]; y1 = len(lst); lst *= 0; y2 = len(lst) + 2
k = 5; k **= 2; k //= 3; k %= 5; k <<= 2; k |= 1; k ^= 3; y3 = k
s1 = "a"; s1 += "b" * 3; y4 = len(s1); tup = (1,); tup += (2,); y5 = len(tup); st = {1}; st |= {2}; st &= {2, 3}; y6 = len(st)
def outer():
    x = 1
    class K:
        x = 2
        def m(self): return x
        n = x
    return K().m() * 10 + K.n
y7 = outer(); y8 = [x for x in [1, 2, 3]][-1]; y9 = x
def gl():
    return [v0 for v0 in range(3)], v0g
v0g = 4
w1 = gl()[1]
w2 = (lambda: [y for y in range(2)])()[1] + 1
def dflt(a, b=None):
    b = b if b is not None else []
    b.append(a)
    return len(b)
w3 = dflt(1) + dflt(2) + dflt(3, [0])
w4 = sorted([(2, "b"), (1, "z"), (2, "a")])[1][1] == "a"; w5 = sorted("bac", reverse=True)[0] == "c"; w6 = sorted([1, -3, 2], key=abs)[2] + 5; w7 = max([1, 5, 3], default=0); w8 = min((3, "x"), (2, "y"))[0]; w9 = sum([0.5, 0.5]) == 1
t = torch.zeros(a, b, c, d)
# == threads, files and arrays
import torch
import threading, queue, time, contextlib, uuid, tempfile, pathlib, pickle, io, shutil, glob, platform, getpass, traceback, operator, types, inspect, ast as _ast, string
res = []
th = [threading.Thread(target=lambda i=i: res.append(i)) for i in range(3)]
for x in th: x.start()
for x in th: x.join()
a = len(res)
q = queue.Queue(); q.put(3); q.put(4); b = q.get(); c = q.qsize()
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as ex: d = sum(ex.map(lambda v: v * 2, [1, 2])); e = ex.submit(pow, 2, 3).result()
f = pickle.loads(pickle.dumps({"a": [1, 2]}))["a"][1]
with tempfile.TemporaryDirectory() as td:
    p = pathlib.Path(td) / "x.txt"; p.write_text("hello\nworld\n"); g = len(p.read_text().splitlines()); h = p.exists() + 1; i = len(list(pathlib.Path(td).glob("*.txt"))); j = p.stat().st_size
    with open(p) as fh: k = sum(1 for _ in fh)
    with open(p, "a") as fh: fh.write("more\n")
    l = len(open(p).readlines())
    torch.save({"w": torch.zeros(3, 2)}, pathlib.Path(td) / "m.pt"); m = torch.load(pathlib.Path(td) / "m.pt")["w"].shape[0]
try: 1 / 0
except Exception: n = len(traceback.format_exc()) > 5
o = len(inspect.signature(lambda a, b=1: 0).parameters); r = inspect.isfunction(len) + 1
s = types.SimpleNamespace(**{"a": 5}).a; u = eval(compile("1 + 2", "", "eval")); v = _ast.literal_eval("[1, 2, 3]")[2]; w = int(string.Template("$x").substitute(x=9))
start = time.time(); x2 = time.perf_counter() - start; y = isinstance(x2, float) + 1
from array import array
z = len(array("i", [1, 2, 3])); z1 = array("f", [1.5])[0] * 2; z2 = int(z1)
import numpy as np
z3 = np.zeros((2, 3)).shape[1]; z4 = int(np.array([1, 5, 2]).max()); z5 = len(np.arange(0, 1, 0.25)); z6 = np.concatenate([np.ones((2, 3)), np.ones((4, 3))]).shape[0]; z7 = torch.from_numpy(np.zeros((4, 5), dtype=np.float32)).shape[1]; z8 = np.random.rand(3, 4)[:, 1].shape[0]; z9 = np.where(np.array([1, 0, 2]) > 0)[0].shape
y1 = np.stack([np.zeros(3)] * 4).T.shape[0]; y2 = np.array([[1, 2], [3, 4]]).reshape(-1).tolist()[2]; y3 = int(np.prod((2, 3))); y4 = np.linspace(0, 1, 7).size; y5 = np.expand_dims(np.zeros((2, 3)), 0).ndim; y6 = len(np.unique([1, 1, 2])); y7 = np.zeros((3, 4)).mean(axis=0).shape[0]; y9 = int(np.sum(np.eye(3)))
t = torch.zeros(a, b, c, d)
# == a tensor compared with other objects
import torch
class A: pass
class R:
    def __eq__(self, o): return 5
    def __ne__(self, o): return 6
    def __radd__(self, o): return 7
    def __add__(self, o): return 8
    def __rmatmul__(self, o): return 9
    def __gt__(self, o): return 10
x = torch.zeros(3, 4)
a = int(x == A()) + 1
b = int(A() == x) + 1
c = int(x != None) + 1
d = int(x == "x") + 1
e = x == R()
f = x != R()
g = R() == x
h = int(x == [1, 2, 3]) + 1
i = int(x in ("a", None)) + 2 if False else 3
j = int(x != (1, 2)) + 1
k = (x == 2.0).shape[0]
l = int(x == len) + 1
m = int([x] == [1]) + 1 if False else 3
n = R() + x
o = x + R()
p = x @ R()
q = x < R()
r = int(x == torch.float32) + 1
s = int(x == {1: 2}) + 1
y = int({1} == x) + 1
z = x == torch.tensor(2)
t = torch.zeros(a, b, c, d, e)
# == subclasses that go over other items
import torch
class L(list):
    def __iter__(self): return iter([9, 0])
class M(list):
    def __iter__(self): return iter([(1, 2), (3, 4)])
class D(dict):
    def keys(self): return ["q"]
    def __getitem__(self, k): return 6
    def __iter__(self): return iter("xyz")
l = L([1, 2, 3])
a = len(list(l)); b = sum(l); c = len(l); d = len(set(l)); e = len([*l]); f = max(l); g = len(tuple(l)); h = len([x for x in l]); i = list(enumerate(l))[1][1] + 1; j = len(list(zip(l, l))); k = sorted(l)[1]
try:
    dict(l); m = 1
except TypeError: m = 2
n = dict(M()).get(3); o = len(dict(M())); x = {}; x.update(M()); p = x[1]
q = L([1]) + [2]; r = len(q); u = [0]; u.extend(L()); v = len(u); u += L([5]); w = len(u); y = 9 in L(); z = L([4])[0]; aa, bb = L(); z1 = aa + bb; z2 = len(L([1, 2]) * 2); z3 = len(L([1, 2, 3])[1:]); z4 = list(reversed(L([1, 2])))[0]
d1 = D(a=1); z5 = len(dict(d1)); z6 = len({**d1}); z7 = len(list(d1)); z8 = len(d1); z9 = d1["zzz"]
class S(set):
    def __iter__(self): return iter([1, 2, 3])
z10 = len(list(S())); z11 = len(S()) + 1; z12 = sum(S())
class T(tuple):
    def __iter__(self): return iter([5])
z13 = len(list(T((1, 2)))); z14 = len(T((1, 2))); (z15,) = T((1, 2, 3))
class St(str):
    def __iter__(self): return iter(["ab"])
z16 = len(list(St("xyz"))); z17 = len("".join(St("xyz"))); z18 = len(St("abc"))
t = torch.zeros(a, b, c, d, e)
# == a match statement with classes, mappings and guards
import torch
class A:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __hash__(self): return hash(self.v)
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y=0): self.x, self.y = x, y
class Q(P): pass
from enum import Enum
class C(Enum): R = 1; G = 2
K = 7
class NS: K = 8
def f(v):
    match v:
        case C.R: return 1
        case C(): return 2
        case NS.K: return 3
        case P(x=1) as p if p.y == 5: return 4
        case P(0, y): return 10 + y
        case Q(x, _): return 30 + x
        case P(): return 5
        case [P(a), *_, Q(b)]: return 100 + a + b
        case [[a, b], c]: return 200 + a + b + c
        case [1, *r] | [2, *r]: return 300 + len(r)
        case (x, y) if x == y: return 400
        case {"t": "a", "v": [x, *_]}: return 500 + x
        case {"t": str(t), **rest}: return 600 + len(t) + len(rest)
        case str() | bytes() as s: return 700 + len(s)
        case int() | float() as n if n < 0: return 800
        case -0.0 | 0: return 850
        case bool(b): return 870
        case int(n): return 900 + n
        case None: return 950
        case set() | frozenset(): return 960
        case [*xs]: return 970 + len(xs)
        case object(v=vv): return 980 + vv
        case _: return 999
r = [f(x) for x in (C.R, C.G, 8, P(1, 5), P(0, 3), Q(4), P(9), [P(1), 5, Q(2)], [[1, 2], 3], [2, 9, 9], (7, 7), {"t": "a", "v": [5]}, {"t": "bc", "z": 1}, "hey", b"xy", -3, 0.0, True, 42, None, {1}, [5, 6, 7], A(3), 2.5, {}, range(2), [1])]
x1, x2, x3, x4, x5, x6, x7, x8, x9, y1, y2, y3, y4, y5, y6, y7, y8, y9, z1, z2, z3, z4, z5, z6, z7, z8, z9 = r
match 5:
    case captured: pass
z10 = captured
match (1, (2, [3, 4])):
    case (q1, (q2, [q3, q4])): z11 = q1 + q2 * q3 + q4
match {"a": 1}:
    case {"b": _}: z12 = 1
    case {}: z12 = 2
match [1, 2]:
    case [x, y, z]: z13 = 1
    case [x]: z13 = 2
    case _: z13 = x if False else 3
t = torch.zeros(x1, x2, x3, x4, x5)
# == exceptions by their classes and numbers
import torch
import traceback
log = []
def risky(n):
    if n == 0: raise ValueError("zero")
    if n == 1: raise KeyError("one")
    if n == 2: raise RuntimeError("two") from ValueError("cause")
    if n == 3: raise OSError(2, "no file")
    if n == 4: raise StopIteration(7)
    if n == 5: raise UnicodeDecodeError("utf8", b"x", 0, 1, "bad")
    if n == 6: raise AssertionError
    if n == 7: raise NotImplementedError("nn")
    if n == 8: raise Exception(1, 2, 3)
    if n == 9: raise KeyboardInterrupt
    return n
def classify(n):
    try: return risky(n)
    except (ValueError, KeyError) as e: return 20 + len(str(e)) + len(e.args)
    except NotImplementedError: return 45
    except RuntimeError as e: return 40 + (type(e.__cause__) is ValueError) + (e.__suppress_context__)
    except FileNotFoundError as e: return 50 + e.errno
    except OSError: return 60
    except StopIteration as e: return 70 + e.value
    except AssertionError as e: return 80 + len(e.args)
    except Exception as e: return 90 + len(e.args)
    except BaseException: return 99
r = [classify(i) for i in range(11)]
a, b, c, d, e, f, g, h, i, j, k = r
def chain():
    try:
        try: risky(0)
        except ValueError as e1:
            try: risky(1)
            except KeyError as e2: raise TypeError("t") from e2
    except TypeError as e3:
        return len([x for x in (e3.__cause__, e3.__cause__.__context__, e3.__context__) if x is not None])
l = chain()
class MyErr(ValueError):
    code = 5
    def __init__(self, *a, extra=0): super().__init__(*a); self.extra = extra
try: raise MyErr("m", extra=9)
except ValueError as e: m = e.extra + e.code + len(e.args)
try:
    try: raise MyErr
    finally: log.append("f")
except MyErr as e: n = len(log) + e.extra
def reraise():
    try: risky(3)
    except OSError:
        log.append("r")
        raise
try: reraise()
except Exception as e: o = len(log) + e.errno; p = len(type(e).__name__)
try: [].pop()
except IndexError as e: q = len(e.args)
try: int("x")
except ValueError: s = 3
try: {}["k"]
except LookupError as e: u = len(e.args[0])
try: None.foo
except AttributeError as e: v = len(e.name)
try: undefined_name
except NameError as e: w = len(e.name)
try: "a" + 1
except TypeError: x = 4
try: 1 / 0
except ArithmeticError: y = 5
try: assert 1 == 2, "msg"
except AssertionError as e: z = len(str(e))
try: import not_a_module_xyz
except ModuleNotFoundError as e: z1 = len(e.name)
try: from math import nope
except ImportError: z2 = 6
try: exec("x = = 1")
except SyntaxError as e: z3 = e.lineno
try: "x".encode("ascii", "strict").decode(); b"\xff".decode("utf8")
except UnicodeError: z4 = 7
def rec(n): return rec(n + 1)
try: rec(0)
except RecursionError: z5 = 8
try: 10.0 ** 400
except OverflowError: z6 = 9
try: (lambda a: a)()
except TypeError: z7 = 2
try: torch.zeros(2, 3) @ torch.zeros(2, 3)
except RuntimeError: z8 = 3
try: torch.nn.Linear(3, 4)(torch.zeros(2, 5))
except RuntimeError as e: z9 = 4 if "shapes" in str(e) else 5
eg = ExceptionGroup("g", [ValueError(1), KeyError(2), ExceptionGroup("i", [ValueError(3)])])
m1, rest = eg.split(ValueError); y1 = len(m1.exceptions); y2 = len(rest.exceptions); y3 = len(eg.subgroup(KeyError).exceptions)
try: raise eg
except* ValueError as g1: y4 = len(g1.exceptions)
except* KeyError: y5 = 2
t = torch.zeros(a % 7, b % 7, l, m)
# == qualified names
import torch
def f():
    yield 1
class A:
    def m(self):
        def inner(): yield 2
        class L:
            def z(self): pass
        return inner, L
    class B:
        def k(self): pass
inner, L = A().m()
a = len(f.__qualname__); b = len(A.m.__qualname__); c = len(inner.__qualname__); d = len(L.__qualname__); e = len(L.z.__qualname__); g = len(A.B.k.__qualname__); h = len(A.B.__qualname__)
g1 = f(); i = len(g1.__qualname__); j = len(inner().__qualname__); k = len(g1.__name__)
g1.__qualname__ = "qq"; l = len(g1.__qualname__); ge = (x for x in [1]); m = len(ge.__name__); n = len(ge.__qualname__)
f.__qualname__ = "abcdef"; o = len(f.__qualname__); p = len(f().__qualname__); q = len((lambda: 0).__qualname__); r = len(A().m.__qualname__); s = len(len.__qualname__); u = len([].append.__qualname__); f.__name__ = "zzz"; v = len(f.__name__); w = len(f().__name__)
# == how managers made of generators end
import torch
import contextlib
@contextlib.contextmanager
def cm():
    yield
log = []
@contextlib.contextmanager
def woo(y):
    log.append(y)
    yield
    log.append(999)
for ex in (StopIteration("a"), RuntimeError("b"), ValueError("c")):
    try:
        with cm(): raise ex
    except Exception as err:
        log.append(len(type(err).__name__))
a = log[0]; b = log[1]; c = log[2]
log = []
@woo(1)
def test(x): log.append(x)
test(5)
d = len(log); e = log[-1]
log = []
test(6)
f = len(log); g = log[1]
class C(contextlib.ContextDecorator):
    def __enter__(self): log.append(7); return self
    def __exit__(self, *a): log.append(8); return False
@C()
def two(x): log.append(x); return x + 1
h = two(3); i = len(log); j = log[-1]
with contextlib.ExitStack() as st:
    st.enter_context(woo(4))
    try: raise StopIteration
    except StopIteration: k = 3
l = log[-1]
try:
    with contextlib.ExitStack() as st:
        st.enter_context(cm())
        raise StopIteration("z")
except StopIteration: m = 4
except RuntimeError: m = 5
@contextlib.contextmanager
def twice():
    yield 1
    yield 2
try:
    with twice(): n = 1
except RuntimeError: n = 2
@contextlib.contextmanager
def none():
    if False: yield
try:
    with none(): o = 1
except RuntimeError: o = 2
@contextlib.contextmanager
def swallow():
    try: yield 3
    except KeyError: pass
with swallow() as p: {}["x"]
q = p
try:
    with swallow(): {}["x"] if False else [][1]
except IndexError: r = 6
# == a network that is changed
import torch
import torch.nn as nn, torch.nn.functional as F
class Block(nn.Module):
    expansion = 2
    def __init__(self, i, o, stride=1, act=nn.ReLU, **kw):
        super().__init__()
        self.c1 = nn.Conv2d(i, o, 3, stride, 1, bias=False); self.b1 = nn.BatchNorm2d(o); self.act = act()
        self.down = nn.Sequential(nn.Conv2d(i, o, 1, stride), nn.BatchNorm2d(o)) if stride != 1 or i != o else nn.Identity()
        self.drop = nn.Dropout(kw.get("p", 0.1))
    def forward(self, x): return self.act(self.drop(self.b1(self.c1(x))) + self.down(x))
class Net(nn.Module):
    cfg = {"s": [1, 1], "m": [2, 2, 2]}
    def __init__(self, size="s", classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, 2, 3); ch = 8; stages = []
        for n, reps in enumerate(self.cfg[size]):
            out = 8 * 2 ** n
            stages.append(nn.Sequential(*[Block(ch if r == 0 else out, out, 2 if r == 0 and n else 1) for r in range(reps)])); ch = out
        self.stages = nn.ModuleList(stages); self.head = nn.Linear(ch, classes); self.ch = ch
        self.heads = nn.ModuleDict({k: nn.Linear(ch, v) for k, v in {"a": 2, "b": 3}.items()})
        self.register_buffer("mean", torch.zeros(3, 1, 1)); self.scale = nn.Parameter(torch.ones(1))
        for m in self.modules():
            if isinstance(m, nn.Conv2d): nn.init.kaiming_normal_(m.weight)
            elif isinstance(m, nn.BatchNorm2d): nn.init.ones_(m.weight)
    def features(self, x):
        x = (x - self.mean) * self.scale; x = self.stem(x); outs = []
        for s in self.stages: x = s(x); outs.append(x)
        return outs
    def forward(self, x):
        f = self.features(x)[-1]; p = F.adaptive_avg_pool2d(f, 1).flatten(1)
        return {"logits": self.head(p), **{k: h(p) for k, h in self.heads.items()}}
net = Net("m", 7); x = torch.zeros(2, 3, 64, 48); out = net(x); y = out["logits"]; z = out["b"]; fs = net.features(x); f0 = fs[0]; f2 = fs[2]
a = len(fs); b = net.ch; c = sum(1 for m in net.modules() if isinstance(m, nn.Conv2d)); d = len(list(net.named_children())); e = len(net.stages[1]); g = net.stages[0][0].c1.out_channels; h = len(net.state_dict()) ; i = sum(p.numel() for p in net.heads["a"].parameters()); j = len([n for n, p in net.named_parameters() if n.startswith("heads")]); k = isinstance(net.stages[0][0].down, nn.Identity) + 1
net.head = nn.Linear(net.ch, 5); l = net(x)["logits"]; net.heads["c"] = nn.Linear(net.ch, 4); m = len(net(x)); del net.heads["a"]; n = len(net(x)); net.stages.append(nn.Identity()); o = len(net.features(x)); net.stages = net.stages[:2]; p = len(net.features(x)); sub = nn.Sequential(*list(net.children())[:1]); q = sub(x); fn = torch.nn.utils.parameters_to_vector(net.stem.parameters()); r = fn.shape[0]
acts = {}
def hook(name):
    def f(mod, inp, outp): acts[name] = outp.shape[1]
    return f
hd = net.stem.register_forward_hook(hook("stem")); net.features(x); s = acts["stem"]; hd.remove()
w = net.stem.weight.data.clone(); u = w.mean((1, 2, 3)); v = net.stem.weight[0].flatten()
cls = type("Tmp", (nn.Module,), {"forward": lambda self, x: x[:, :2]}); w2 = cls()(x); emb = nn.Embedding(10, 6, padding_idx=0); w3 = emb(torch.tensor([[1, 2, 0]])); w4 = nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)(w3)[0]; (w5, (w6, w7)) = nn.LSTM(6, 5)(w3); w8, _ = nn.MultiheadAttention(6, 2, batch_first=True)(w3, w3, w3); w9 = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 12, batch_first=True), 2)(w3)
# == a sequence times an index
import torch
class I(int):
    def __index__(self): return 2
class A:
    def __index__(self): return 2
class D(dict):
    def __index__(self): return 2
class L(list):
    def __index__(self): return 2
def t(f):
    try: r = f()
    except TypeError: return 44
    except ValueError: return 45
    return len(r)
a = t(lambda: A() * [3, 1, 2]); b = t(lambda: [3, 1, 2] * A()); c = t(lambda: D() * [1, 2]); d = t(lambda: [1, 2] * D()); e = t(lambda: "ab" * A()); f = t(lambda: L([1]) * [1, 2]); g = t(lambda: L([1]) * 3); h = t(lambda: (1, 2) * D()); i = t(lambda: b"ab" * A()); j = t(lambda: A() * "abc"); k = t(lambda: D() * "abc"); l = t(lambda: D() * (1, 2))
# == a deque has no slices
import torch
import collections
def t(f):
    try: f()
    except TypeError: return 4
    except IndexError: return 5
    return 6
d = collections.deque([1, 2])
def dele(): del d[0:1]
def put(): d[0:1] = [3]
a = t(lambda: d[0:1]); b = t(lambda: d[10 ** 30:]); c = t(dele); e = t(put); f = t(lambda: d[5]); g = t(lambda: d["a"]); h = t(lambda: d[True])
t2 = torch.zeros(a, b, c)
