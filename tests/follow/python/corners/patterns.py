# == literals and captures
def f(x):
    match x:
        case 0: return 2
        case "a" | "b": return 3
        case None: return 5
        case True: return 7
        case -1 | 2.5: return 11
        case n: return 13
n = f(0) + f("b") * 100
m = f(None)
q = f(True)
r = f(-1)
s = f([])
# == or-patterns capture
match (1, 3):
    case (0 | 1, n) | (n, 0 | 1):
        m = n
match (3, 1):
    case (0 | 1, n) | (n, 0 | 1):
        q = n
# == sequences
def f(x):
    match x:
        case []: return 2
        case [a]: return a
        case [a, b]: return a + b
        case [a, *rest, z]: return a + len(rest) * 10 + z
n = f([])
m = f((3,))
q = f([3, 5])
r = f([3, 5, 7, 11])
# == text is no sequence
match "ab":
    case [a, b]: n = 2
    case str(): n = 3
# == mappings
def f(x):
    match x:
        case {"a": n, "b": 2}: return n
        case {"a": n, **rest}: return len(rest) * 10 + n
        case {}: return 5
        case _: return 7
n = f({"a": 3, "b": 2})
m = f({"a": 3, "c": 2, "d": 1})
q = f({"x": 1})
r = f([1])
# == classes
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
def f(p):
    match p:
        case P(0, y): return y
        case P(x=1, y=y): return y * 10
        case P(x, y) if x == y: return 99
        case P(): return 3
        case int(n) | float(n): return int(n) + 1
        case _: return 5
n = f(P(0, 7))
m = f(P(1, 7))
q = f(P(5, 5))
r = f(P(2, 3))
s = f(11)
t = f("a")
# == dataclasses match
from dataclasses import dataclass
@dataclass
class A:
    x: int
    y: int = 3
match A(2):
    case A(x, y): n = x + y
match A(2, 5):
    case A(y=5): m = 7
    case _: m = 11
# == as and nested
match [2, (3, {"k": [5, 7]})]:
    case [int() as a, (b, {"k": [c, *d]} as e)]:
        n = a + b + c + len(d) + len(e)
# == constants by dots
class K:
    A = 2
    B = 3
match 3:
    case K.A: n = 5
    case K.B: n = 7
# == a capture stays when the guard fails
match 5:
    case x if x > 10: n = 2
    case _: n = x
# == nothing fits
n = 2
match 5:
    case 6: n = 3
m = n
# == none of the names before
match {"kind": "a", "size": 7}:
    case {"kind": "b", "size": s}: n = s
    case {"kind": "a", "size": s}: n = s + 1
# == star in the middle
match range(6):
    case [0, 1, *m, 5]: n = len(m)
    case _: n = 11
# == enum members
import enum
class E(enum.Enum):
    A = 1
    B = 2
match E.B:
    case E.A: n = 2
    case E.B: n = 3
# == bool and int
match True:
    case 1: n = 2
    case True: n = 3
match 1:
    case True: m = 2
    case 1: m = 5
# == PEP 695
try:
    exec("def f[T](x: T) -> T:\n    return x\nn = f(5)\nclass A[T]:\n    def __init__(self, k): self.k = k\nm = A[int](3).k\ntype X = int\n")
except SyntaxError:
    pass
