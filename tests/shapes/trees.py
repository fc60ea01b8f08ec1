"""Random dim expressions, kept as trees, so that they can be evaluated without the algebra under test."""

from dataclasses import dataclass

from hypothesis import strategies as st

from simpletorch.shapes import ANY_REST, UNKNOWN, Rest, Shape, Var, maximum, minimum, var
from simpletorch.shapes.dim import floordiv, mod, power

NAMES = ("A", "B", "C")


class OutOfDomain(Exception):
    """The sizes give a divisor below 1 or a negative exponent: the expression means nothing there."""


@dataclass(frozen=True)
class Tree:
    """A variable, a number, or an operator with two operands."""

    op: str
    left: object = None
    right: object = None

    def __str__(self):
        if self.op in ("var", "int"):
            return str(self.left) if self.op == "var" or self.left >= 0 else f"({self.left})"
        if self.op in ("min", "max"):
            return f"{self.op}({self.left}, {self.right})"
        return f"({self.left} {self.op} {self.right})"

    __repr__ = __str__

    def build(self):
        """The dim, by the algebra under test."""
        match self.op:
            case "var":
                return var(self.left)
            case "int":
                return self.left
        a, b = self.left.build(), self.right.build()
        match self.op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "//":
                return floordiv(a, b)
            case "%":
                return mod(a, b)
            case "**":
                return power(a, b)
            case "min":
                return minimum(a, b)
            case _:
                return maximum(a, b)

    def value(self, sizes):
        """The number, by Python's integers alone."""
        match self.op:
            case "var":
                return sizes[self.left]
            case "int":
                return self.left
        a, b = self.left.value(sizes), self.right.value(sizes)
        match self.op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "//" | "%":
                if b < 1:
                    raise OutOfDomain
                return a // b if self.op == "//" else a % b
            case "**":
                if not 0 <= b <= 12:
                    raise OutOfDomain
                return a**b
            case "min":
                return min(a, b)
            case _:
                return max(a, b)

    def swapped(self):
        """The same with the operands of every commutative operator exchanged."""
        if self.op in ("var", "int"):
            return self
        a, b = self.left.swapped(), self.right.swapped()
        return Tree(self.op, b, a) if self.op in ("+", "*", "min", "max") else Tree(self.op, a, b)


def _extend(children):
    operators = st.sampled_from(["+", "-", "*", "//", "%", "min", "max", "+", "*", "//"])
    powers = st.builds(Tree, st.just("**"), st.just(Tree("int", 2)), children)
    squares = st.builds(Tree, st.just("**"), children, st.integers(0, 2).map(lambda n: Tree("int", n)))
    return st.builds(Tree, operators, children, children) | powers | squares


leaves = st.sampled_from(NAMES).map(lambda n: Tree("var", n)) | st.integers(-3, 12).map(lambda n: Tree("int", n))
trees = st.recursive(leaves, _extend, max_leaves=7)
sums = st.recursive(leaves, lambda c: st.builds(Tree, st.sampled_from("+-*"), c, c), max_leaves=7)
sizes = st.fixed_dictionaries({n: st.integers(1, 40) for n in NAMES})


def by_var(numbers):
    """``{"A": 2}`` as `substitute` wants it."""
    return {Var(name): number for name, number in numbers.items()}


simple_dims = st.sampled_from([1, 2, 3, 5, UNKNOWN])


@st.composite
def shapes(draw, dims=simple_dims, variadic=True, max_dims=4):
    """A shape of such dims, with or without a variadic part."""
    items = draw(st.lists(dims, max_size=max_dims))
    if variadic and draw(st.booleans()):
        rest = draw(st.sampled_from([ANY_REST, Rest("R")]))
        items.insert(draw(st.integers(0, len(items))), rest)
    return Shape(tuple(items))


@st.composite
def instances(draw, shape, rests=None):
    """Numbers for what ``shape`` leaves open; a named variadic is what ``rests`` says."""
    out = []
    for item in shape.items:
        if isinstance(item, Rest):
            named = None if item.name is None or rests is None else rests
            out += named if named is not None else draw(st.lists(st.sampled_from([1, 2, 3, 5]), max_size=3))
        else:
            out.append(draw(st.sampled_from([1, 2, 3, 5])) if item is UNKNOWN else item)
    return tuple(out)


def is_instance(concrete, shape, rests=()):
    """Whether the numbers are one of the shapes that ``shape`` stands for."""
    items = tuple(i for item in shape.items for i in (rests if item == Rest("R") else (item,)))
    shape = Shape(items)
    if shape.is_exact:
        return len(concrete) == len(items) and all(i is UNKNOWN or i == c for i, c in zip(items, concrete, strict=True))
    if len(concrete) < shape.min_rank:
        return False
    heads = zip(shape.head, concrete, strict=False)
    tails = zip(reversed(shape.tail), reversed(concrete), strict=False)
    return all(i is UNKNOWN or i == c for i, c in (*heads, *tails))
