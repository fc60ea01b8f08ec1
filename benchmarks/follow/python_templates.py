"""Random programs over the standard library and the data model, as scripts use them.

    python benchmarks/follow/python_templates.py 500 7000     # programs, from seed 7000 on

Each is a row of scenes that give an int, made of templates: where ``<<a|b|c>>`` stands, one of several is chosen. They
are executed and followed as those of `python_corners.py` are. Exit status 1 if anything is wrong.
"""

# ruff: noqa: E501  (rows of parts of programs are read best as they are)
# fmt: off
from __future__ import annotations

import random
import re
import sys
from textwrap import dedent, indent

import python_corners

__all__ = ["program"]

_CHOICE = re.compile(r"<<(.*?)>>", re.DOTALL)
TEMPLATES = tuple(map(dedent, (
    # dataclasses
    """
    @dataclasses.dataclass<<|(order=True)|(frozen=True)|(eq=False)|(slots=True)|(kw_only=True)|(unsafe_hash=True)|(repr=False, match_args=False)>>
    class D:
        x: int<<| = 3| = dataclasses.field(default=2)| = dataclasses.field(default_factory=lambda: 4)| = dataclasses.field(default=5, init=False)>>
        y: list<<| = dataclasses.field(default_factory=list)| = ()| = []| = None>>
        z: "typing.ClassVar[int]" = 6
        def __post_init__(self):
            <<pass|self.w = 4|log.append(1)|self.x = 8|object.__setattr__(self, 'x', 9)>>
    <<|
    class E(D):
        q = 2
    D = E|
    @dataclasses.dataclass
    class E(D):
        q: int = 2
    D = E>>
    d = D(<<|1|1, [2]|x=1, y=[2]|y=[1]|1, [2], 3|x=2, q=4, y=()>>)
    n += <<d.x|len(d.y)|len(dataclasses.fields(d))|len(dataclasses.asdict(d))|int(d == D(1, [2]))|int(d < D(2, [3]))|len(dataclasses.astuple(d))|dataclasses.replace(d, x=7).x|hash(d) % 2 * 0 + 3|len(vars(d))|d.z|len(D.__match_args__)|int(dataclasses.is_dataclass(D))|len(repr(d))>>
    d.x <<= 5|+= 1|= d.z>>
    n += d.x + len(log)
    """,
    """
    @dataclasses.dataclass
    class Base:
        a: int = 1
        k: dataclasses.InitVar[int] = <<2|3>>
        def __post_init__(self, k):
            self.a += k
    @dataclasses.dataclass
    class Child(Base):
        <<b: int = 4|a: int = 9|k: int = 3|_: dataclasses.KW_ONLY\n    c: int = 5>>
        <<|def __post_init__(self, k):
            super().__post_init__(k + 1)>>
    c = Child(<<|1|1, 2|k=5|1, 2, 3|c=4>>)
    n += c.a + len(dataclasses.fields(c)) + len(dataclasses.<<asdict|astuple>>(c))
    n += <<c.b|c.c|c.k|dataclasses.replace(c, k=1).a|int(c == Child())|int(isinstance(c, Base))>>
    """,
    # functools
    """
    def f(a, b=2, *c, d=<<3|1>>, **e):
        return a * 10 + b + len(c) + d + len(e)
    p = functools.partial(f, <<1|1, 2|d=5|1, 2, 3|a=1|z=3>>)
    q = functools.partial(p, <<|4|d=7|b=1|w=1>>)
    n += q(<<|1|1, 2|d=2|b=4>>) + len(q.args) + len(q.keywords)
    n += int(q.func is <<f|p>>)
    """,
    """
    class A:
        calls = 0
        def __init__(self): self.v = <<1|4>>
        def set(self, v, by=1):
            self.v = v * by
            return self.v
        five = functools.partialmethod(set, <<5|5, 2|v=3|by=4>>)
        @functools.cached_property
        def heavy(self):
            A.calls += 1
            return self.v + 10
        @functools.lru_cache(<<|maxsize=None|maxsize=1>>)
        def kept(self, k):
            A.calls += 1
            return k + self.v
    a = A()
    n += a.five(<<|2|by=3|v=6>>)
    n += a.heavy + a.heavy
    <<a.v = 7|a.heavy = 3|del a.heavy|b = A(); n += b.heavy|pass>>
    n += a.heavy + A.calls
    n += a.kept(1) + a.kept(<<1|2|k=1>>) + a.kept(1) + A.calls
    """,
    """
    @functools.singledispatch
    def show(x, *more): return 1
    @show.register
    def _(x: int, *more): return 2
    @show.register(<<list|str|tuple|float|type(None)>>)
    def _(x, *more): return 3
    <<@show.register(bool)|@show.register(Items)|@show.register(dict)>>
    def special(x, *more): return 4
    n += show(<<1|True|'a'|[1]|Items([1])|{}|Names()|None|1.5|(1,)|Int(3)>>) * 10 + show(<<Items([1])|Int(3)|True|None|2, 3>>)
    n += show.dispatch(<<int|bool|list|Items|object>>)(0)
    """,
    """
    def deco(<<k|k=2>>):
        def wrap(f):
            @functools.wraps(f)
            def inner(*a, **kw):
                log.append(k)
                return f(*a, **kw) + k
            <<inner.k = k|inner.calls = 0|inner.__wrapped__ = None|pass>>
            return inner
        return wrap
    @deco(<<3|4>>)
    @deco(<<5|6>>)
    def f(x, y=1): return x + y
    n += f(<<1|1, 2|x=3>>) + len(log) + len(f.__name__)
    n += <<f.k|f.calls|f.__wrapped__(1)|getattr(f, 'k', 9)|len(f.__dict__)>>
    """,
    """
    @functools.total_ordering
    class V:
        def __init__(self, v): self.v = v
        def <<__lt__|__le__|__gt__|__ge__>>(self, o): return self.v <<< o.v|<= o.v|> o.v>>
        def __eq__(self, o): return self.v == o.v
    a, b = V(<<1|2>>), V(2)
    n += (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a != b)
    n += sorted([a, b, V(0)])[<<0|-1>>].v + max(a, b).v
    n += functools.reduce(lambda p, q: p + q.v, [a, b], <<0|5>>)
    """,
    # contextlib
    """
    @contextlib.contextmanager
    def cm(k):
        log.append(k)
        try:
            yield <<k|None|[k]>>
        <<except ValueError:
            log.append(7)|except KeyError:
            log.append(8)
            raise|finally:
            log.append(9)|except Exception as e:
            raise TypeError from e>>
    with contextlib.ExitStack() as stack:
        a = stack.enter_context(cm(1))
        stack.callback(log.append, <<4|5>>)
        <<b = stack.enter_context(cm(2))|stack.push(lambda *e: True)|kept = stack.pop_all()|stack.close()>>
        <<raise ValueError|raise KeyError(1)|n += 3|n += len(log)>>
    n += len(log) * 10 + sum(log)
    """,
    """
    class M(contextlib.<<ContextDecorator|AbstractContextManager>>):
        def __enter__(self):
            log.append(1)
            return self
        def __exit__(self, *e):
            log.append(2)
            return <<None|True|e[0] is KeyError>>
    @M()
    def f(x):
        <<return x|raise KeyError(x)|raise ValueError>>
    r = f(3)
    n += len(log) + (r or 4)
    with contextlib.<<nullcontext(5)|closing(open(__file__))|suppress(KeyError)|redirect_stdout(None)>> as z, M():
        n += z if isinstance(z, int) else 2
        <<raise KeyError|pass|n += 1>>
    n += len(log)
    """,
    # enum
    """
    class Kind(enum.<<Enum|IntEnum|Flag|IntFlag>>):
        A = <<enum.auto()|1|4>>
        B = enum.auto()
        C = <<enum.auto()|8|A>>
        <<def twice(self): return self.value * 2|@property
        def twice(self): return 5|@classmethod
        def first(cls): return cls.A|_ignore_ = []>>
    k = Kind<<.A|['B']|(1)|(2)|.B|('A')>>
    n += k.value + len(Kind) + len(Kind.__members__) + len(list(Kind)[0].name)
    n += <<k.twice()|k.twice|Kind.first().value|int(k)|k + 1|(k | Kind.B).value|int(k in Kind)|int(k == 1)|int(k is Kind.A)|len(str(k))|hash(k) * 0 + 2|(~k).value|int(k < Kind.B)|bool(k) + 1>>
    """,
    # named tuples, protocols, typed dicts
    """
    class P(typing.NamedTuple):
        x: int
        y: int = <<2|3>>
        def total(self): return self.x + self.y
    p = P(<<1|1, 4|y=1, x=2|1, 2, 3>>)
    a, *b = p
    n += a + len(b) + p.total() + p[<<0|1|-1|2>>] + p.x
    n += <<p._replace(x=9).x|len(p._asdict())|len(P._fields)|P._make([5, 6]).y|len(p + (1,))|int(p == (1, 2))|P._field_defaults['y']|int(isinstance(p, tuple))|sorted([P(3), P(1)])[0].x|p.count(2)|p.index(2)>>
    p.<<x = 3|z = 3|total>>
    """,
    """
    @typing.runtime_checkable
    class Has(typing.Protocol):
        <<size: int|def size(self): ...|def size(self) -> int: return 7>>
    class One:
        size = <<3|None|4>>
    class Two(<<Has|One|object>>):
        <<pass|def size(self): return 5>>
    n += isinstance(One(), Has) + 2 * isinstance(Two(), Has) + 4 * isinstance(3, Has)
    n += Two().size<<()|>>
    Has()
    """,
    """
    class Opt(typing.TypedDict, total=<<False|True>>):
        lr: float
        steps: int
    o: Opt = <<{'lr': 0.1}|Opt(lr=0.1, steps=3)|Opt({'steps': 4})|dict(steps=1)>>
    o['steps'] = o.get('steps', 2) + 1
    n += o['steps'] + len(o) + isinstance(o, dict) + len(Opt.__annotations__)
    T = typing.TypeVar('T')
    class Box(typing.Generic[T]):
        def __init__(self, v: T): self.v = v
        def __class_getitem__(cls, k):
            log.append(1)
            return <<cls|super().__class_getitem__(k)|3>>
    b = Box<<[int]|>>(5)
    n += b.v + len(log)
    """,
    # collections
    """
    c = collections.Counter(<<'abca'|[1, 1, 2]|a=3, b=1|{'a': 2}>>)
    c.<<update('ab')|subtract('a')|update(a=2)|update([1])>>
    d = collections.Counter('aab')
    n += c.most_common(1)[0][1] + c['zz'] + c.total() + len(list(c.elements()))
    e = c <<+|-|&||>> d
    n += len(e) + sum(e.values()) + sum((+c).values()) + len(-c)
    n += c.<<pop('a', 0)|setdefault('a', 4)|get('a', 5)|popitem()[1]>> + len(c)
    del c['nothing']
    """,
    """
    m = collections.ChainMap({'a': 1}, {'a': 2, 'b': 3}<<|, {'c': 4}>>)
    k = m.new_child(<<|{'b': 9}>>)
    k['<<a|d>>'] = 7
    n += m['a'] + k['b'] + len(k) + len(m.maps) + k.get('zz', 2) + len(list(k))
    n += k.parents['a'] + len(dict(k)) + ('c' in k)
    <<del k['a']|k.pop('b')|k.update(b=1)|k.clear()>>
    n += k['a'] + m['b']
    """,
    """
    dd = collections.defaultdict(<<int|list|lambda: 5|None>>, {'x': <<[]|3>>})
    n += <<dd['y'] + 1|len(dd['x'])|dd.get('q', 4)|dd.setdefault('q', 6)|dd.pop('x', 1)|len(dd | {'r': 1})>>
    dd['w'] <<+= 1|= 2|.append(3)>>
    n += len(dd) + ('y' in dd) + len(copy.copy(dd))
    o = collections.OrderedDict([('a', 1), ('b', 2), ('c', 3)])
    o.move_to_end('<<a|c>>'<<|, last=False>>)
    n += list(o)[0] == 'a'
    n += o.popitem(<<|last=False>>)[1] * 10 + len(o) + (o == dict(o)) + list(reversed(o.values()))[0]
    """,
    """
    q = collections.deque([1, 2, 3]<<|, 3|, maxlen=2>>)
    q.<<append(4)|appendleft(5)|extend([6, 7])|extendleft([6, 7])|rotate(1)|rotate(-4)|insert(1, 9)|remove(2)|reverse()|pop()|popleft()>>
    n += q[0] + q[-1] * 10 + len(q) + q.count(1) + (q.maxlen or 0)
    n += q.<<index(3)|index(9)|popleft()|copy()[0]>>
    for x in <<q|list(q)|reversed(q)>>:
        <<n += x|q.append(x) if len(q) < 6 else None|q[0] = 8|break>>
    n += sum(q) + (q == collections.deque(q)) + (q < collections.deque([9]))
    """,
    # itertools
    """
    a = <<[1, 2, 3]|iter([1, 2, 3])|'abc'|range(4)|(x for x in [3, 1])>>
    n += len(list(itertools.<<chain(a, [1])|chain.from_iterable([[1], [2, 3]])|zip_longest(a, [1], fillvalue=0)|product(a, repeat=2)|permutations(a, 2)|combinations(a, 2)|combinations_with_replacement(a, 2)|islice(a, 1, None)|takewhile(lambda x: x != 2, a)|dropwhile(lambda x: x != 2, a)|filterfalse(None, a)|compress(a, [1, 0, 1])|starmap(max, [(1, 2), (3, 4)])|pairwise(a)|accumulate([1, 2, 3], lambda p, q: p * q)|repeat(3, 2)>>))
    g = {k: len(list(v)) for k, v in itertools.groupby(<<[1, 1, 2, 1]|'aab'|[3]>><<|, key=lambda x: x == 1>>)}
    n += len(g) * 10 + sum(g.values())
    t, u = itertools.tee([1, 2, 3])
    n += next(t) + sum(u) + next(t)
    c = itertools.count(<<|3|3, 2|0.5>>)
    n += int(next(c) + next(c)) + len(list(a))
    """,
    # texts
    """
    v, w, t = <<3|-12|1234567>>, <<2.5|0.1|1e10>>, '<<ab|x y|é>>'
    n += len(f'{v:<<d|5d|,|08.2f|x|b|+|e|<6|^7|_|>>}') + len(f'{w:<<.3f|10.2e|g|%|>8|>>}') + len(f'{t!r:<<>6|<4|^9|>>}')
    n += len('<<{0}{1}|{:>4}{}|{t[0]}{1}|{0!r}|{v.real}|{{}}>>'.format(v, w, t=t, v=v)) + len('<<%d|%5.1f|%s|%r|%x|%%>>' % <<v|(v,)|w>>)
    n += len(t.<<center(7, '*')|zfill(5)|title()|ljust(4)|partition(' ')|split()|splitlines()|encode()|upper()|expandtabs()|casefold()|rpartition('b')>>)
    n += t.<<find('b')|index('b')|count('')|startswith(('a', 'x'))|isalpha()|rfind('zz')|islower()>>
    n += len(f'{v=}') + len(f'{w!s:{v % 9}}') + len(' '.join(map(str, [v, w])))
    n += int('<<12|0x1f|1_000| 7 |z>>', <<10|16|0|36>>)
    """,
    # sorting
    """
    r = [<<('b', 2), ('a', 2), ('c', 1)|('a', 1), ('a', 0)>>]
    s = sorted(r, key=<<lambda k: k[1]|lambda k: (-k[1], k[0])|operator.itemgetter(1)|operator.itemgetter(1, 0)|str|functools.cmp_to_key(lambda p, q: p[1] - q[1])|None>><<|, reverse=True>>)
    n += s[0][1] + ord(s[0][0]) % 7 + ord(s[-1][0]) % 5
    n += min(r, key=lambda k: <<k[1]|-k[1]|k[0]>>)[1] + max([], default=<<4|5>>) + max(r)[1]
    r.sort(key=<<len|lambda k: k[1]|lambda k: r.append(1)>>)
    n += r[0][1] + bisect.<<bisect|bisect_left|insort>>([1, 3, 3, 5], 3) if r else 0
    h = [5, 1, 4]
    heapq.heapify(h)
    heapq.heappush(h, <<0|6>>)
    n += heapq.heappop(h) + h[0] + heapq.nsmallest(2, h)[1] + heapq.nlargest(1, h)[0]
    """,
    # unpacking, merging, walrus, scopes
    """
    d = {**{'a': 1}, <<**Names(b=2)|'a': 3|**{'c': 4}>>} | <<{'a': 5}|{}|[('z', 1)]>>
    d |= <<{'q': 1}|[('a', 7)]|{1: 2}.items()>>
    n += sum(v for v in d.values() if isinstance(v, int)) + len(d)
    a, (b, *c), d = <<1, [2, 3, 4], 5|1, 'xy', 2|1, (2,), 3|1, [7], 3>>
    n += a + len(c)
    e = [*range(<<2|3>>), *<<'ab'|{1: 2}|()|[3]>>, <<1|*[4]>>]
    n += len(e) + len({*e, *e}) + len((*e, *e))
    n += sum(y for x in e if (y := <<x|len(str(x))|3>>) and isinstance(y, int)) + y
    def f(p, /, q, *r, s=1, **t): return len(r) * 10 + s + len(t)
    n += f(*<<[1, 2]|'abc'|(1, 2, 3)|[1]>>, **<<{}|{'s': 4}|{'u': 1}|{'p': 2}|{'q': 1}>>)
    """,
    # match
    """
    match <<{'kind': 'conv', 'k': 3}|{'kind': 'pool'}|[1, 2, 3]|('go', 2)|P3(1, 2)|P3(0, 5)|'text'|3|None|Color.RED|[[1, 2], {'a': 1}]|range(3)|b'x'>>:
        case {'kind': 'conv', 'k': int(k)<<|, **rest>>} if k <<> 2|< 2>>: n += k
        case {'kind': <<'pool' | 'conv'|str()>>}: n += 11
        case [1, *rest] | ('go', *rest): n += 12 + len(rest)
        case P3(0, y) | P3(y=2, x=y): n += 13 + y
        case [[a, b], {'a': c}]: n += a + b + c
        case str() as s<<| if len(s) > 9>>: n += len(s)
        case Color.RED: n += 15
        case None | True: n += 16
        case <<int(x)|int() as x|x>>: n += 17
    """,
    # exception groups
    """
    try:
        try:
            raise ExceptionGroup('g', [ValueError(1), <<KeyError('a')|TypeError()|ExceptionGroup('h', [ValueError(2), OSError()])>>])
        except* <<ValueError|(ValueError, KeyError)|OSError>> as e:
            n += len(e.exceptions)
            <<pass|raise|raise RuntimeError from e|e.add_note('x')>>
        except* TypeError:
            n += 20
        <<else:
            n += 3|finally:
            n += 4>>
    except <<ExceptionGroup|BaseException>> as g:
        n += 30 + len(g.exceptions)
        a, b = g.split(<<ValueError|KeyError|lambda x: True>>)
        n += (a is None) + 2 * (b is None) + (g.subgroup(ValueError) is not None) + len(g.message)
    """,
    # asynchronous code
    """
    import asyncio
    class R:
        def __init__(self, k): self.k = k
        def __aiter__(self): return self
        async def __anext__(self):
            if self.k <= 0: raise StopAsyncIteration
            self.k -= 1
            return self.k
        async def __aenter__(self): return self.k
        async def __aexit__(self, *e): return <<None|True|e[0] is ValueError>>
    async def gen(k):
        for i in range(k):
            <<yield i|x = yield i; log.append(x)>>
    async def one(x): return x * 2
    async def main():
        s = 0
        async for v in <<R(3)|gen(3)|gen(0)>>:
            s += v + 1
            <<if v == 1: break|if v == 1: continue|pass>>
        else:
            s += 50
        async with R(5) as e:
            s += e
            <<raise ValueError|raise KeyError|s += await one(2)>>
        s += sum([v async for v in <<R(2)|gen(2)>>]) + sum(await asyncio.gather(one(1), one(2)))
        t = asyncio.create_task(one(s))
        return await t
    n += asyncio.run(main()) + len(log)
    """,
    # descriptors and metaclasses
    """
    class Check:
        def __init__(self, low): self.low = low
        def __set_name__(self, owner, name): self.at = '_' + name
        def __get__(self, o, owner=None): return <<self if o is None else getattr(o, self.at)|getattr(o, self.at, 4)|5>>
        <<def __set__(self, o, v):
            if v < self.low: raise ValueError(v)
            setattr(o, self.at, v)|def __delete__(self, o): log.append(1)|extra = 1>>
    class Own:
        size = Check(<<0|2>>)
        def __init__(self, v): self.size = v
    o = Own(<<1|3>>)
    n += o.size + len(vars(o))
    <<del o.size|o.__dict__['size'] = 8|Own.size = 6|o.size = -1|n += Own.size.low>>
    n += o.size + len(log)
    """,
    """
    class Meta(type):
        seen = []
        def __new__(m, name, bases, ns, **kw):
            ns<<['tag'] = 3|.pop('gone', None)|.setdefault('extra', 4)>>
            c = super().__new__(m, name, bases, ns)
            m.seen.append(name)
            return c
        def __init__(c, name, bases, ns, **kw): c.kw = len(kw)
        <<def __call__(c, *a): return super().__call__(*a)|def __call__(c, *a): return 6|def __len__(c): return 7|def __getattr__(c, k): return 8|def __iter__(c): return iter([1, 2])|def __contains__(c, x): return True|def __instancecheck__(c, o): return True>>
        @property
        def count(c): return len(Meta.seen)
    class A(metaclass=Meta<<|, flag=1>>):
        gone = 1
        def __init_subclass__(cls, **kw): log.append(len(kw))
    class B(A<<|, x=1|, x=1, y=2>>): pass
    n += A.count + B.kw * 10 + len(log)
    n += <<A.tag|B.gone|A.extra|len(A)|A.nope|len(list(A))|3 in A|isinstance(3, A)|type(B()) is B|A() if isinstance(A(), int) else 1>>
    """,
    # operators and containers of the program
    """
    class Vec(<<object|collections.abc.Sequence|collections.abc.MutableMapping|collections.UserList>>):
        def __init__(self, *v): self.data = list(v)
        def __getitem__(self, i): return self.data[i]
        def __len__(self): return len(self.data)
        def __setitem__(self, i, v): self.data[i] = v
        def __delitem__(self, i): del self.data[i]
        <<def __iter__(self): return iter(self.data)|def __contains__(self, x): return x == 5|def __add__(self, o): return Vec(*self.data, *o)|def __radd__(self, o): return 6|def __reversed__(self): return iter([7])|def __bool__(self): return False>>
    v = Vec(1, 2, 3)
    n += len(v) + v[0] + sum(v[1:]) + (2 in v) + 2 * (5 in v) + 4 * bool(v)
    n += <<len(list(v))|next(reversed(v))|len(v + [1])|[1] + v|v.index(2)|v.count(1)|len(list(v.items()))|v.get(0, 9)|v.pop(1)|max(v)|sorted(v)[0]|len([*v])|len(dict(v))>>
    v[0] = 9
    del v[<<-1|0|7>>]
    n += v[0] + len(v)
    """,
)))
HEAD = python_corners.HEAD + '''
import bisect
import collections.abc
import copy
import heapq
import operator
import typing

@dataclasses.dataclass
class P3:
    x: int
    y: int = 0
'''


def _scene(chance: random.Random) -> str:
    """A body of one template, every choice in it made; an exception is caught at the end."""
    text = chance.choice(TEMPLATES).strip("\n")
    text = _CHOICE.sub(lambda found: chance.choice(_options(found[1])), text)
    kept = [line for line in text.replace("\\n", "\n").split("\n") if line.strip()]
    body = "\n".join(f"    {line}" for line in kept)
    return f"log = []\nn = 0\ntry:\n{body}\nexcept Exception as error:\n    n += 1000 + len(type(error).__name__)\nreturn n"


def _options(text: str) -> list[str]:
    """The parts between the bars; two bars are one that is meant."""
    return [part.replace("\0", "|") for part in text.replace("||", "|\0").split("|")]


def program(seed: int, scenes: int = 12) -> str:
    """A program: its scenes, and what each gives as the size of a tensor."""
    chance = random.Random(seed)
    parts = [HEAD]
    while len(parts) <= scenes:
        number, text = len(parts), _scene(chance)
        text = f"def scene{number}():\n{indent(text, '    ')}\n"
        try:
            compile(text, "", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        parts.append(f"{text}\nr{number} = scene{number}()\nt{number} = torch.zeros(r{number} % 97 + 2, 3)\n")
    return "\n".join(parts)


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    sys.exit(python_corners.main(numbers[0] if numbers else 100, numbers[1] if len(numbers) > 1 else 0, program))
