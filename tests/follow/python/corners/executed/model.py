# == what a metaclass tells descriptors, and which items are compared
class D:
    def __set_name__(self, owner, name):
        self.name = len(name)
        self.owner = owner
class Meta(type):
    def __new__(cls, name, bases, ns, k=1):
        ret = super().__new__(cls, name, bases, ns)
        n = ret.dd.name
        m = 1 if ret.dd.owner is ret else 2
        return ret
class A(metaclass=Meta):
    dd = D()
n = A.dd.name
log = []
class Base:
    def __init_subclass__(cls, **kw):
        log.append(len(kw))
class M2(type):
    def __new__(cls, name, bases, ns, **kw):
        r = super().__new__(cls, name, bases, ns, **kw)
        n = len(log)
        return r
class B(Base, metaclass=M2, a=1):
    pass
n = len(log)
n = log[0]
class M3(type):
    def __new__(cls, name, bases, ns, **kw):
        return super().__new__(cls, name, bases, ns)
class C(Base, metaclass=M3, a=1, b=2):
    x: int = 3
n = log[-1]
n = len(log)
class Stop(Exception): pass
class S:
    def __eq__(self, o): raise Stop
n = 1 if 1 in [1, S()] else 2
n = 1 if 1 in (1, S()) else 2
try:
    n = 1 if 1 in [S(), 1] else 2
except Stop:
    n = 3
try:
    n = 1 if 2 in (1, S()) else 2
except Stop:
    n = 3
# == names in slots
n = 0
for s in ([None], ['foo bar'], ['1'], [''], ['foo\x00bar'], 5, ['a', 'a'], ['__dict__'], ['__weakref__'], [3], ['a', 'b c']):
    try:
        class C:
            __slots__ = s
        n = 1
    except TypeError:
        n = 2
    n = n + 0
try:
    class C:
        __slots__ = [None]
    n = 1
except TypeError:
    n = 2
try:
    class C:
        __slots__ = ['1']
    n = 1
except TypeError:
    n = 2
try:
    class C:
        a = 3
        __slots__ = ['a']
    n = 1
except ValueError:
    n = 2
try:
    class C:
        __slots__ = {'a': 'doc'}
    n = len(C.__slots__)
except TypeError:
    n = 2
try:
    class C(int):
        __slots__ = ['a']
    n = 1
except TypeError:
    n = 2
try:
    class C(tuple):
        __slots__ = ()
    n = 1
except TypeError:
    n = 2
class S:
    __slots__ = "a"
class U: pass
try:
    S.a.__set__(U(), 3)
    n = 1
except TypeError:
    n = 2
s = S()
S.a.__set__(s, 3)
n = s.a
S.a.__get__(s)
S.a.__delete__(s)
try:
    n = s.a
except AttributeError:
    n = 7
try:
    n = S.a.__get__(U())
except TypeError:
    n = 17
# == attributes of classes, and objects of other classes
n = 0
try:
    object.__setattr__(str, 'foo', 42)
    n = 1
except TypeError:
    n = 2
try:
    object.__delattr__(str, 'lower')
    n = 1
except TypeError:
    n = 2
try:
    str.foo = 3
    n = 1
except TypeError:
    n = 2
try:
    type.__setattr__(int, "foo", 1)
    n = 1
except TypeError:
    n = 2
class A: pass
try:
    object.__setattr__(A, "q", 1)
    n = 1
except TypeError:
    n = 2
type.__setattr__(A, "q", 4)
n = A.q
a = A()
object.__setattr__(a, "q", 5)
n = a.q
object.__delattr__(a, "q")
n = a.q
try:
    1 .__class__ = A
    n = 1
except TypeError:
    n = 2
class MyInt(int): __slots__ = ()
try:
    (1).__class__ = MyInt
    n = 1
except TypeError:
    n = 2
try:
    [].__class__ = A
    n = 1
except TypeError:
    n = 2
import types
class Sub(types.ModuleType):
    a = 1
m = types.ModuleType("m")
n = hasattr(m, "a") + 0
m.__class__ = Sub
n = hasattr(m, "a") + 0
m.__class__ = types.ModuleType
n = hasattr(m, "a") + 0
n = 1 if m.__class__ is types.ModuleType else 2
try:
    object.__setattr__(5, "q", 1)
    n = 1
except AttributeError:
    n = 2
try:
    a.__class__ = int
    n = 1
except TypeError:
    n = 2
try:
    a.__class__ = 3
    n = 1
except TypeError:
    n = 2
class B:
    def m(self): return 6
a.__class__ = B
n = a.m()
# == private parameters, strict zip
class X:
    def f(self, *, __a=42):
        return __a
    def g(self, __a=42, /, __b=43, *, __c=44, d=45):
        return __a + __b + __c + d
    h = lambda self, *, __q=3: __q
n = X().f()
n = X().g()
n = X().g(1, d=2)
n = X().f(_X__a=5)
n = X().h()
try:
    X().f(__a=5)
    n = 1
except TypeError:
    n = 2
class B:
    def __bool__(self): raise RuntimeError
n = 1 if all([2, None, B()]) else 2
n = 1 if any([0, 3, B()]) else 2
try:
    any([0, B()])
    n = 1
except RuntimeError:
    n = 2
x = iter(range(5)); y = [0]; z = iter(range(5))
try:
    list(zip(x, y, z, strict=True))
    n = 1
except ValueError:
    n = 2
n = next(x)
n = next(z)
k = zip([1, 2], [3], strict=True)
n = 7
a = next(k)
n = len(a)
try:
    next(k)
    n = 1
except ValueError:
    n = 2
n = len(list(zip([1, 2], "ab", strict=True)))
n = 0
for p, q in zip([1, 2, 3], [4, 5, 6], strict=True):
    n += p * q
try:
    for p, q in zip([1, 2, 3], [4, 5], strict=True):
        n += p
except ValueError:
    n += 100
m = n
try:
    for p, q, r in zip([1, 2], [4, 5], [4, 5, 6], strict=True):
        n += p
except ValueError:
    n += 100
m = n
n = len(list(zip(strict=True)))
import itertools
for args in ((range(3),), (range(3), 1, 2, 3, 4), (range(3), -5)):
    try:
        itertools.islice(*args)
        n = 1
    except (TypeError, ValueError):
        n = 2
    m = n
# == code that isn't known, and what Python asks of objects
import ast, copy, pickle, time, re, sys
class X:
    def __init__(self): self.called = 1
    def __call__(self):
        self.called = 2
        return 4
x = X()
y = [1]
z = {"a": 1}
def f():
    w = [3]
    c = compile(ast.parse("x(); y.append(2)"), "", "exec")
    exec(c)
    n = x.called
    n = len(y)
    c = compile("w.append(1)", "", "exec")
    exec(c)
    n = len(w)
f()
n = x.called
memo = {}
copy.deepcopy([1, 2], memo)
n = len(memo)
class P:
    def __init__(self): self.n = 0
    def __getstate__(self):
        self.n += 1
        return {"n": self.n}
p = P()
d = pickle.dumps(p)
n = p.n
q = pickle.loads(d)
n = q.n
class R:
    count = 0
    def __reduce__(self):
        R.count += 1
        return (R, ())
r = pickle.loads(pickle.dumps(R()))
n = R.count
class S:
    def __init__(self): self.k = 0
    def __str__(self):
        self.k += 1
        return "s"
    def write(self, t): self.k += 10
    def flush(self): self.k += 100
s = S()
print(s)
n = s.k
print("a", file=s, flush=True)
n = s.k
n = len(f"{s}") + s.k
for a in (lambda: int(base=3), lambda: int(x=3), lambda: time.sleep(-1), lambda: re.compile("a{100000000000000000000}")):
    try:
        a()
        n = 1
    except (TypeError, ValueError, OverflowError):
        n = 2
    m = n
# == descriptors of which one side lacks, named tuples, except* with raise
import typing, collections, dataclasses
class Check:
    def __init__(self, low): self.low = low
    def __set_name__(self, owner, name): self.at = '_' + name
    def __get__(self, o, owner=None): return getattr(o, self.at, 4)
    def __delete__(self, o): pass
class Own:
    size = Check(0)
    def __init__(self, v):
        if v: self.size = v
try:
    o = Own(3)
    n = 1
except AttributeError:
    n = 2
o = Own(0)
n = o.size
del o.size
class SetOnly:
    def __set__(self, o, v): o.__dict__["w"] = v + 1
class Q:
    w = SetOnly()
q = Q()
q.w = 3
n = q.w
try:
    del q.w
    n = 1
except AttributeError:
    n = 2
class P(typing.NamedTuple):
    x: int
    y: int = 2
P2 = collections.namedtuple("P2", "a b")
class Sub(P): pass
class Sub2(P2): pass
for p in (P(1), P2(1, 2), Sub(1), Sub2(1, 2)):
    try:
        p.z = 3
        n = 1
    except AttributeError:
        n = 2
    m = n
for kinds in ((ValueError, KeyError), (TypeError,)):
    n = 0
    try:
        try:
            raise ExceptionGroup('g', [ValueError(1), TypeError()])
        except* kinds as e:
            n += len(e.exceptions)
            raise
        except* TypeError:
            n += 20
    except ExceptionGroup as g:
        n += 30
    m = n
n = 0
try:
    try:
        raise ExceptionGroup('g', [ValueError(1), TypeError()])
    except* ValueError as e:
        n += 1
        raise KeyError
    except* TypeError:
        n += 20
    finally:
        n += 4
except BaseException as g:
    n += 30
m = n
@dataclasses.dataclass
class D:
    x: int = 2
class E(D):
    q = 2
n = 1 if E(1) == E(1) else 2
n = 1 if E(1) == D(1) else 2
n = 1 if E(1) != E(2) else 2
@dataclasses.dataclass(eq=False)
class F(D):
    pass
n = 1 if F(1) == F(1) else 2
# == deques that change while they are gone over
import collections
q = collections.deque([1, 2, 3], 3)
n = 0
try:
    for x in reversed(q):
        q.append(x)
        n += x
except RuntimeError:
    n += 100
m = n
q = collections.deque([1, 2, 3], 3)
n = 0
try:
    for x in q:
        q.append(x)
        n += x
except RuntimeError:
    n += 100
m = n
q = collections.deque([1, 2, 3])
for x in q:
    q[0] = 5
    n += x
m = n
for x in reversed(q):
    n += x
m = n
q.rotate(1)
r = reversed(q)
a = next(r)
b = next(r)
q.append(1)
try:
    c = next(r)
except RuntimeError:
    c = 9
m = c
# == tensors beside objects of subclasses of collections
import torch
class B(dict):
    def __hash__(self): return 7
o = B()
r = torch.zeros(3, 4) == o
n = int(r) if isinstance(r, (int, bool)) else 2
class D(dict):
    def __getitem__(self, k): return 7
    def __hash__(self): return 7
o = D()
r = torch.zeros(3, 4) == o
n = int(r) if isinstance(r, (int, bool)) else 2
class L(list): pass
class T(tuple): pass
class S(set): pass
class N(int): pass
class F(float): pass
for o in (L([1, 2]), S()):
    r = torch.zeros(3, 4) == o
    n = int(r) if isinstance(r, bool) else 2
x = torch.zeros(3, 4) == N(3)
y = torch.zeros(3, 4) == F(3)
z = L([1]) == torch.zeros(3)
n = int(z) if isinstance(z, bool) else 2
