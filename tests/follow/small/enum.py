# == members
from enum import Enum
class C(Enum):
    RED = 'r'
    BLUE = 'b'
a = C.RED.value
b = C('b').name
c = C['RED'] is C.RED
d = [m.value for m in C]
e = C.RED == C.BLUE
f = len(C)
g = C.RED is C('r')
h = isinstance(C.RED, C)

# == auto
from enum import Enum, auto, Flag, IntEnum
class A(Enum):
    X = auto()
    Y = auto()
a = A.Y.value
class F(Flag):
    R = auto()
    W = auto()
    E = auto()
b = F.E.value
class I(IntEnum):
    ONE = 1
    TWO = auto()
c = I.TWO == 2
d = I.TWO > I.ONE
e = I.ONE + 4

# == strings
from enum import Enum
class M(str, Enum):
    TRAIN = 'train'
    TEST = 'test'
a = M.TRAIN == 'train'
b = M('test') is M.TEST
c = M.TRAIN != 'test'

# == methods and aliases
from enum import Enum, unique
@unique
class S(Enum):
    SMALL = (2, 3)
    LARGE = (5, 7)
    def __init__(self, w, h):
        self.w, self.h = w, h
    @property
    def area(self):
        return self.w * self.h
a = S.LARGE.area
b = S.SMALL.w
class T(Enum):
    A = 1
    B = 1
c = T.B is T.A
d = [t.name for t in T]

# == what isn't a member
from enum import Enum
class C(Enum):
    A = 1
try:
    C(2)
    a = 1
except ValueError:
    a = 2

# == StrEnum
from enum import StrEnum, auto
class M(StrEnum):
    FAST = auto()
a = M.FAST.value
b = M.FAST == 'fast'
c = str(M.FAST)
