"""`torch.einsum`: the equation is read once into terms, then every letter gets one size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from simpletorch.rules.common.arguments import tensor_list
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import unequal
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.positions import reveal
from simpletorch.rules.core.cards import MAYBE, Card
from simpletorch.rules.core.dtype import INT64, DType, promote_all
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Dim, Shape, broadcast_dims, equal

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Term:
    """The subscripts of one operand: letters left and right of an ellipsis, all of them left where there is none."""

    left: str
    right: str = ""
    has_ellipsis: bool = False

    @property
    def letters(self) -> str:
        """All letters in order."""
        return self.left + self.right

    def __str__(self) -> str:
        return f"{self.left}...{self.right}" if self.has_ellipsis else self.left


def _term(text: str) -> Term:
    left, dots, right = text.partition("...")
    for letter in left + right:
        if letter not in _LETTERS:
            raise Mismatch(f"{letter!r} in the equation is not a letter, an ellipsis, a comma or ->", got=letter)
    return Term(left, right, bool(dots))


def _parse(equation: str) -> tuple[list[Term], Term]:
    """The terms of the operands and of the output; without ``->`` it has the letters that occur once, sorted."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = [_term(t) for t in inputs.split(",")]
    counts = Counter("".join(t.letters for t in terms))
    if not arrow:
        once = "".join(sorted(c for c, n in counts.items() if n == 1))
        return terms, Term("", once, any(t.has_ellipsis for t in terms))
    out = _term(output)
    for letter, n in Counter(out.letters).items():
        if n > 1:
            raise Mismatch(f"{letter} appears {n} times in the output {out}", got=letter)
        if letter not in counts:
            raise Mismatch(f"{letter} of the output {out} is in no operand", got=letter)
    return terms, out


def _from_sublists(args: Sequence[Value]) -> tuple[str, tuple[Value, ...]]:
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as an equation and its operands."""

    def letters(value: Value) -> str:
        if not isinstance(value, tuple):
            raise CannotTell
        out = ""
        for v in value:
            item: object = v
            if item is Ellipsis:
                out += "..."
            elif isinstance(v, int) and 0 <= v < len(_LETTERS):
                out += _LETTERS[v]
            else:
                raise CannotTell
        return out

    count = len(args) // 2
    inputs = ",".join(letters(args[2 * i + 1]) for i in range(count))
    output = "->" + letters(args[-1]) if len(args) % 2 else ""
    return inputs + output, tuple(args[2 * i] for i in range(count))


def _split(index: int, term: Term, shape: Shape) -> tuple[list[tuple[str, Dim]], Shape]:
    """The size of every letter of one operand, and what its ellipsis stands for."""
    n, rank = len(term.letters), shape.rank
    wrong = rank is not None and (rank < n or (rank != n and not term.has_ellipsis))
    if wrong or (shape.min_rank > n and not term.has_ellipsis):
        least = "at least " if term.has_ellipsis else ""
        raise Mismatch(f"{term} names {least}{n} dims, but operands[{index}] is {shape}", expected=n, got=rank)
    left = [(c, shape.dim(i)) for i, c in enumerate(term.left)]
    if not term.has_ellipsis and rank is None:
        hidden = len(term.left)
        # the letters are all the dims there are, so those behind a variadic part are counted from the right
        left = [(c, d if i < len(shape.head) else shape.dim(i - hidden)) for i, (c, d) in enumerate(left)]
    right = [(c, shape.dim(i - len(term.right))) for i, c in enumerate(term.right)]
    if not term.has_ellipsis:
        return left + right, Shape(())
    before, after = len(term.left), len(term.right)
    items = reveal(shape, before, after).items
    return left + right, Shape(items[before : len(items) - after])


def _sizes(terms: Sequence[Term], operands: Sequence[TensorType]) -> tuple[dict[str, Dim], Shape]:
    """One size for every letter, and the broadcast of all ellipses."""
    sizes: dict[str, Dim] = {}
    seen: dict[str, int] = {}
    ellipses: list[tuple[str, Shape]] = []
    for index, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        letters, ellipsis = _split(index, term, operand.shape)
        own: dict[str, Dim] = {}
        for letter, size in letters:
            # twice in one operand is a diagonal, where torch broadcasts nothing; it does between operands
            if letter in own and equal(own[letter], size) is False:
                raise Mismatch(
                    f"{letter} is both {own[letter]} and {size} in operands[{index}] ({term})"
                    + unequal(own[letter], size),
                    expected=own[letter],
                    got=size,
                )
            own[letter] = size
        for letter, size in own.items():
            if letter not in sizes:
                sizes[letter], seen[letter] = size, index
                continue
            known, first = sizes[letter], seen[letter]
            if 1 not in (known, size) and equal(known, size) is False:
                raise Mismatch(
                    f"{letter} is {known} in operands[{first}] ({terms[first]}), but {size} in operands[{index}] "
                    f"({term}){unequal(known, size)}",
                    expected=known,
                    got=size,
                )
            sizes[letter] = broadcast_dims(known, size)
        if term.has_ellipsis:
            ellipses.append((f"the ellipsis of operands[{index}]", ellipsis))
    return sizes, broadcast_shapes(*ellipses) if ellipses else Shape(())


def _is_integer(dtype: DType | None) -> bool | None:
    return None if dtype is None or dtype.category is None else dtype.category in ("bool", "int")


def _dtype(terms: Sequence[Term], output: Term, operands: Sequence[TensorType]) -> DType | None:
    """Sums of ints are Int64, products promote, contractions need one dtype."""
    counts = Counter(c for t in terms for c in set(t.letters))
    summed = [c for c in counts if c not in output.letters]
    contracted = [c for c in summed if counts[c] > 1]
    ellipsis_summed = any(t.has_ellipsis for t in terms) and not output.has_ellipsis
    dtypes = [o.dtype for o in operands]
    if len(operands) == 1:
        empty = len(terms[0].letters) == operands[0].shape.rank
        reduces = True if summed else ellipsis_summed and not empty
        return INT64 if reduces and _is_integer(dtypes[0]) else dtypes[0]
    # which operand is summed first, and hence is Int64, depends on the order that torch chooses
    sums_alone = ellipsis_summed or len(operands) > 2 or any(counts[c] == 1 for c in summed)
    if sums_alone and any(_is_integer(d) is not False and d != INT64 for d in dtypes):
        return None
    if len(operands) == 2 and contracted and not ellipsis_summed:
        # torch sums a letter of size 1 before it multiplies; only a sum of products needs one dtype
        own = [dict(_split(i, t, o.shape)[0]) for i, (t, o) in enumerate(zip(terms, operands, strict=True))]
        alone = [{equal(sizes[c], 1) for sizes in own} for c in contracted]
        if any(True in found for found in alone) and any(_is_integer(d) is not False and d != INT64 for d in dtypes):
            return None  # of ints its sum is Int64
        empty = any(0 in o.shape.items for o in operands)  # torch multiplies nothing then
        if {False} in alone and not (empty and len(set(dtypes)) > 1):
            return same_dtype(*((f"operands[{i}]", o) for i, o in enumerate(operands)))
        if not empty and all(True in found for found in alone):
            return promote_all(dtypes)
    if len(set(dtypes)) > 1 and (contracted or ellipsis_summed):
        return None
    return promote_all(dtypes)


@rule("torch.einsum", card=Card(MAYBE))
def einsum(equation: Value, *operands: Value) -> TensorType:
    """``"ij,jk->ik", (i, j), (j, k) -> (i, k)``; letters that the output lacks are summed"""
    if isinstance(equation, TensorType):
        equation, operands = _from_sublists((equation, *operands))
    if not isinstance(equation, str) or operands == (ANYTHING,):
        raise CannotTell  # one unknown argument may be a whole list of operands
    if len(operands) == 1 and isinstance(operands[0], tuple):
        operands = operands[0]
    found = tensor_list(tuple(operands))
    terms, output = _parse(equation)
    if len(terms) != len(found):
        raise Mismatch(
            f"the equation names {len(terms)} operands, but {len(found)} are given", expected=len(terms), got=len(found)
        )
    sizes, ellipsis = _sizes(terms, found)
    dtype = _dtype(terms, output, found)
    left, right = ([sizes[c] for c in part] for part in (output.left, output.right))
    return TensorType(Shape((*left, *(ellipsis.items if output.has_ellipsis else ()), *right)), dtype)


__all__ = ["Term", "einsum"]
