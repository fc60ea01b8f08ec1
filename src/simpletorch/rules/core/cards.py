"""Effects of torch's operations beside shapes: on memory, numbers and gradients, and whether they draw numbers.

A card stands beside its rule: ``@rule("torch.transpose", …, card=Card(VIEW, MOVED))``. A rule without one has the card
of most operations, new memory and other numbers. `tests/rules/test_cards.py` asks torch both ways: each card, and each
operation without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from simpletorch.rules.core.dtype import DType

__all__ = [
    "BITS",
    "DRAWS",
    "DROPS",
    "ELEMENTWISE",
    "FIRST",
    "KEPT",
    "MAYBE",
    "MOVED",
    "NEVER",
    "NEW",
    "OPERAND",
    "OTHER",
    "OTHERS",
    "PICKED",
    "PLAIN",
    "PRODUCT",
    "REPEATED",
    "RESULT",
    "SOME",
    "SOMETHING",
    "VIEW",
    "WRITES",
    "Card",
    "Gradient",
    "Memory",
    "Numbers",
    "Random",
    "Saves",
    "writes",
]


class Memory(Enum):
    """Where the numbers of the result are."""

    NEW = "memory of its own, always"
    VIEW = "memory of the first operand, always"
    MAYBE = "an operand itself, a view of it, or new memory, by the arguments"
    WRITES = "the first operand itself, changed in place"


class Numbers(Enum):
    """Which numbers every result has, beside real ones of its operand: the first one, or each its own."""

    KEPT = "the same in the same places, as far as the dtype can hold them"
    MOVED = "the same, each once, in other places"
    BITS = "moved; given a dtype, the same bits, which are other numbers"
    REPEATED = "the same, each at least once"
    PICKED = "some of them"
    OTHER = "others"


class Gradient(Enum):
    """Which floating results require a gradient where an operand does."""

    ALL = "all, whichever operand it is"
    FIRST = "all, if the first operand does: the others only say how the result is made"
    SOME = "not all"
    NEVER = "none"


class Saves(Enum):
    """The tensors that are kept for backward: torch refuses a second backward without them, or behind their change."""

    SOMETHING = "something"
    RESULT = "the result"
    OPERAND = "the first operand"
    OTHERS = "of the first two operands each whose other one requires a gradient"
    PRODUCT = "the same, but copies of batches that don't lie as the product wants them"


class Random(Enum):
    """Whether random numbers are drawn."""

    NO = "never"
    DRAWS = "always"
    DROPS = "by its arguments: in training, or with a probability that isn't 0"


NEW: Final = Memory.NEW
VIEW: Final = Memory.VIEW
MAYBE: Final = Memory.MAYBE
WRITES: Final = Memory.WRITES
KEPT: Final = Numbers.KEPT
MOVED: Final = Numbers.MOVED
BITS: Final = Numbers.BITS
REPEATED: Final = Numbers.REPEATED
PICKED: Final = Numbers.PICKED
OTHER: Final = Numbers.OTHER
FIRST: Final = Gradient.FIRST
SOME: Final = Gradient.SOME
NEVER: Final = Gradient.NEVER
SOMETHING: Final = Saves.SOMETHING
RESULT: Final = Saves.RESULT
OPERAND: Final = Saves.OPERAND
OTHERS: Final = Saves.OTHERS
PRODUCT: Final = Saves.PRODUCT
DRAWS: Final = Random.DRAWS
DROPS: Final = Random.DROPS


@dataclass(frozen=True, slots=True)
class Card:
    """The effects of an operation, beside the shape and dtype of its result."""

    memory: Memory = NEW
    numbers: Numbers = OTHER
    gradient: Gradient = Gradient.ALL
    random: Random = Random.NO
    saves: Saves | None = None  # not known
    by_element: bool = False
    """Whether torch computes each number of the result from those in its place, and lays the result out by that."""

    def may_share(self, operands: int) -> bool:
        """Whether a result may be memory of an operand; numbers that are computed of several tensors never are."""
        computed = operands > 1 and self.numbers is OTHER and self.gradient is Gradient.ALL
        return self.memory in (VIEW, MAYBE) and not computed

    @property
    def keeps_numbers(self) -> bool:
        """Whether a result has each of the operand's numbers, and no others."""
        return self.numbers not in (PICKED, OTHER)

    def held(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Numbers:
        """Which numbers a call's results have: ``x.view(torch.uint8)`` reads the bits of ``x`` as others."""
        if self.numbers is not BITS:
            return self.numbers
        return OTHER if isinstance(args[1] if len(args) > 1 else kwargs.get("dtype"), DType) else MOVED

    def spelled(self, name: str) -> Card:
        """The card of one of the rule's names: ``x.t_()`` writes, ``torch.t_copy`` gives new memory."""
        if writes(name):
            return replace(self, memory=WRITES)
        return replace(self, memory=NEW) if name.endswith("_copy") else self


PLAIN: Final = Card()
ELEMENTWISE: Final = Card(by_element=True)

_NO_WRITES: Final = frozenset({"__invert__", "__int__", "__index__", "__iter__"})


def writes(name: str) -> bool:
    """Whether an operation of this name changes its first operand in place: ``add_``, ``__iadd__``, ``x[i] = y``."""
    short = name.rpartition(".")[2]
    if short.startswith("__"):
        return short == "__setitem__" or (short.startswith("__i") and short not in _NO_WRITES)
    return short.endswith("_")
