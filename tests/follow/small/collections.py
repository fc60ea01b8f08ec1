# == OrderedDict
from collections import OrderedDict
d = OrderedDict([('a', 1), ('b', 2)])
d['c'] = 3
k = list(d)
v = d['b']
i = isinstance(d, OrderedDict)

# == defaultdict
from collections import defaultdict
d = defaultdict(list)
d['a'].append(3)
d['a'].append(5)
n = defaultdict(int)
n['x'] += 2
l = d['a']
z = n['y']

# == nested defaultdict
from collections import defaultdict
d = defaultdict(lambda: defaultdict(float))
d['a']['b'] += 1.5
x = d['a']['b']

# == Counter
from collections import Counter
c = Counter('abca')
a = c['a']
b = c['z']

# == deque
from collections import deque
d = deque([1, 2, 3], maxlen=3)
d.append(4)
a = list(d)
b = len(d)
d.appendleft(7)
c = list(d)
e = d.popleft()
f = d[-1]
g = deque()
g.extend([5, 6])
h = list(g)
d.rotate(1)
i = list(d)

# == namedtuple
from collections import namedtuple
P = namedtuple('P', 'x y')
p = P(3, y=5)
a, b = p
c = p.x + p[1]
d = p._replace(x=7).x
e = len(p)
f = p._asdict()
g = P._fields
h = p == (3, 5)
i = P(*[1, 2])

# == namedtuple with defaults
import collections
Q = collections.namedtuple('Q', ['a', 'b'], defaults=[7])
q = Q(3)
x = q.b

# == ChainMap
from collections import ChainMap
_c = ChainMap({'a': 1}, {'a': 2, 'b': 3})
x = _c['a']
y = _c['b']

# == abstract classes
from collections.abc import Sequence, Mapping, Iterable, Callable
a = isinstance([1], Sequence)
b = isinstance({}, Mapping)
c = isinstance(3, Iterable)
d = isinstance(len, Callable)

# == what brackets call
import torch
seen = {}
hook = lambda name, value: seen.__setitem__(name, value)
hook("a", torch.zeros(3, 5))
a = seen["a"]
b = (seen.__contains__("a"), seen.__len__())
rows = [torch.zeros(2), torch.zeros(11)]
rows.__setitem__(0, torch.zeros(7))
c = rows.__getitem__(0)
del hook

# == a list in an order that isn't known
import random
import torch
rows = [torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(3, 2)]
rows.sort(key=lambda x: random.random())
a = len(rows)
b = torch.stack(rows)
rows.sort(key=len)
c = rows[2]

# == the letters of a long text
from collections import Counter

text = "the quick brown fox jumps over the lazy dog\n" * 300
letters = sorted(set(text))
counted = Counter(text)
a = len(letters), len(set(text.encode())), len(counted), counted["o"], counted.most_common(1)[0][0]
numbers = {letter: i for i, letter in enumerate(letters)}
b = numbers["z"], len(numbers)

# == a named tuple's defaults that are set later
from collections import namedtuple
Block = namedtuple("Block", ["kernel", "stride", "skip"])
Block.__new__.__defaults__ = (None,) * len(Block._fields)
Point = namedtuple("Point", "x y")
Point.__new__.__defaults__ = (7,)
a = tuple(Block(kernel=3))
b = tuple(Block(1, skip=True))
c = tuple(Point(2))
d = len(Point.__new__.__defaults__)
try:
    e = Point(y=1)
except TypeError:
    e = "x is left"
del Block, Point

# == a named tuple's __new__
from collections import namedtuple
from typing import NamedTuple
class Box(namedtuple("Box", "low high")):
    def __new__(cls, low, high=9):
        return super().__new__(cls, low, high)
class Step(NamedTuple):
    size: int
    times: int = 2
class Same(namedtuple("Same", "a b")):
    __slots__ = ()
    def __new__(cls, *args, **kwargs):
        return super(Same, cls).__new__(cls, *args, **kwargs)
a = tuple(Box(4))
b = Box(4, 5).high
c = tuple(Step.__new__(Step, 3))
d = tuple(Same(1, b=6))
del Box, Step, Same
