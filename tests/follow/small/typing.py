# == NamedTuple
from typing import NamedTuple
class P(NamedTuple):
    x: int
    y: int = 7
    def total(self):
        return self.x + self.y
p = P(3)
a, b = p
c = p.total()
d = p[0]
e = isinstance(p, P)

# == named tuples are tuples
from collections import namedtuple
from typing import NamedTuple
class P(NamedTuple):
    x: int
    y: int = 7
class Q(P):
    pass
R = namedtuple("R", "a b")
a = isinstance(P(3), tuple), isinstance(Q(3), (list, tuple)), isinstance(R(3, 5), tuple), isinstance((3, 5), R)
b = issubclass(P, tuple), issubclass(R, (dict, tuple)), issubclass(P, list), isinstance(P(3), list)
c = R(3, 5)[0] if isinstance(R(3, 5), tuple) else 11

# == what derives from a named tuple
from typing import NamedTuple
class P(NamedTuple):
    x: int
    y: int = 7
class Q(P):
    z: int = 11
    def total(self):
        return self.x * self.y
q = Q(3)
a, b = q
c = q.total(), q[1], len(q), q._replace(x=5).total(), q == (3, 7), q._fields, q.z

# == what derives from collections.namedtuple
from collections import namedtuple
class Q(namedtuple("R", "x y", defaults=[7])):
    def total(self):
        return self.x * self.y
q = Q(3)
a, b = q
c = q.total(), q[1], len(q), q._replace(x=5).total(), isinstance(q, tuple), issubclass(Q, tuple)

# == TypedDict
from typing import TypedDict
class D(TypedDict):
    a: int
d = D(a=3)
x = d['a']

# == Generic
from typing import Generic, TypeVar, Protocol
T = TypeVar('T')
class Box(Generic[T]):
    def __init__(self, v: T):
        self.v = v
    def get(self) -> T:
        return self.v
a = Box(3).get()
class S(Protocol):
    def f(self): ...
class I(S):
    def f(self):
        return 5
b = I().f()
c = Box[int](7).v
del T

# == annotations disturb nothing
from typing import Optional, Union, List, Tuple, Callable, Any, Literal, Annotated
Num = Union[int, float]
def f(x: Optional[int] = None, y: List[Tuple[int, ...]] = [], *z: Any) -> 'Num':
    return x or 3
a = f()
b = f(5)
Mode = Literal['x', 'y']
del Num, Mode

# == cast
from typing import cast, TYPE_CHECKING, NewType
a = cast('int', 3)
Id = NewType('Id', int)
b = Id(5)
c = TYPE_CHECKING
if TYPE_CHECKING:
    import nowhere
del Id

# == overload
from typing import overload, final
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x
a = f(3)
@final
class A:
    y = 5
b = A().y

# == abstract classes
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
    @property
    @abstractmethod
    def g(self): ...
class B(A):
    def f(self):
        return 3
    @property
    def g(self):
        return 5
a = B().f() + B().g
b = isinstance(B(), A)

# == SimpleNamespace
from types import SimpleNamespace
s = SimpleNamespace(a=3, **{'b': 5})
s.c = s.a + s.b
x = s.c
y = vars(s)
