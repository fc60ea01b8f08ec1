# == members that are made in a way of their own, are marked, nested, ordered, unique or empty
from enum import Enum, Flag, IntEnum, IntFlag, auto, unique
import enum
def tried(f):
    try:
        f()
        return 1
    except TypeError:
        return 2
    except ValueError:
        return 3
class IntLogic(int, Enum):
    true = 1
    false = 0
a = 1 if not IntLogic.false else 2
class Text(str, Enum):
    none = ""
    some = "a"
b = 1 if not Text.none else 2
class IE(IntEnum):
    zero = 0
    one = 1
c = 1 if not IE.zero else 2
class Zero(Enum):
    zero = 0
d = 1 if Zero.zero else 2
def one():
    @unique
    class Dirty(Enum):
        one = 1
        two = 2
        tres = 1
e = tried(one)
def two():
    class Color(Enum):
        _order_ = 'red green blue'
        red = 1
        blue = 3
        green = 2
f = tried(two)
def three():
    class Color(Enum):
        red = auto()
        def _generate_next_value_(name, start, count, last):
            return name
g = tried(three)
class Both(Enum):
    ONE = auto()
    TWO = (auto(), auto())
h = 1 if Both.TWO.value == (2, 3) else 2
class Fee(IntEnum):
    TEST = 1
    def __new__(cls, value):
        member = int.__new__(cls, value + 1)
        member._value_ = value + 1
        return member
i = 1 if Fee.TEST == 2 else 2
j = 1 if Fee.TEST.value == 2 else 2
k = len(Fee)
class Outer(Enum):
    a = 1
    class Inner(Enum):
        foo = 10
l = 1 if isinstance(Outer.Inner, type) else 2
m = len(Outer)
class Perm(IntFlag):
    R = 4
    W = 2
class Color(IntFlag):
    RED = 1
    GREEN = 2
n = 1 if str(Perm.R) == "4" else 2
o = 1 if Color.GREEN in Color else 2
o2 = tried(lambda: Color.GREEN in Perm)
p = 1 if Color.GREEN in Perm else 2
class Marked(Enum):
    a = 1
    b = enum.nonmember(3)
    @enum.member
    def c(self):
        return 4
q = len(Marked)
r = Marked.b + 0
s = 1 if isinstance(Marked.c, Marked) else 2
def garbage():
    class Bad(Flag):
        red = 'not an int'
        blue = auto()
t = tried(garbage)
u = tried(lambda: Enum("E", ("", "B")))
v = tried(lambda: Enum("E", ("A", "B")))
w = len(Enum("E", ("A", "B")))
class Period(Enum):
    _ignore_ = "x y"
    x = 3
    z = 4
aa = len(Period)
bb = 1 if hasattr(Period, "x") else 2
class Ordered(Enum):
    _order_ = "one two"
    one = 1
    two = 2
cc = len(Ordered)
import dataclasses
@dataclasses.dataclass
class Foo:
    a: int
class Entries(Foo, Enum):
    ENTRY1 = 1
dd = 1 if Entries.ENTRY1.value == Foo(1) else 2
ee = 1 if isinstance(Entries.ENTRY1, Foo) else 2
@unique
class Fine(Enum):
    a = 1
    b = 2
ff = Fine.b.value
class Truth(Enum):
    a = 0
    def __bool__(self):
        return bool(self.value)
gg = 1 if Truth.a else 2
class Pair(tuple, Enum):
    first = (1, 2)
hh = 1 if Pair.first == (1, 2) else 2
ii = 1 if hasattr(Period, "_ignore_") else 2
class Half(float, Enum):
    low = 0.0
    one = 1
jj = 1 if Half.one == 1 else 2
kk = 1 if Half.low else 2
