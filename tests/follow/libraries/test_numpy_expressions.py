"""Random expressions of NumPy: what the follower says is what NumPy gives, and its errors are NumPy's."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import difference, follow_source

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
ELEMENTWISE = [
    "exp",
    "sqrt",
    "abs",
    "sin",
    "log",
    "floor",
    "square",
    "sign",
    "isnan",
    "negative",
    "round",
    "logical_not",
    "copy",
    "ravel",
    "transpose",
    "squeeze",
    "argsort",
    "cumsum",
    "nonzero",
    "atleast_2d",
    "flip",
    "triu",
    "prod",
    "count_nonzero",
    "argmax",
    "zeros_like",
    "max",
]
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "<", "==", ">=", "&", "|", "!=")
OF_TWO = [
    "maximum",
    "add",
    "divide",
    "power",
    "logical_and",
    "arctan2",
    "dot",
    "matmul",
    "outer",
    "hypot",
    "isclose",
    "inner",
    "equal",
]
REDUCTIONS = ["sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "median", "argmax", "argmin", "cumsum"]
INDICES = (
    "0",
    "-1",
    ":1",
    "::2",
    "None",
    "..., 0",
    ":, 0",
    "0, 1",
    "[0, 1]",
    "::-1",
    "1:0:-1",
    "..., None",
    ":, [0]",
    "4",
)
COUNT = 600


class Expressions:
    """A source of random expressions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def shape(self) -> tuple[int, ...]:
        return tuple(self.random.choice((1, 2, 3, 5)) for _ in range(self.random.choice((0, 1, 1, 2, 2, 3))))

    def array(self) -> str:
        return f"np.ones({self.shape()}, dtype='{self.random.choice(DTYPES)}')"

    def number(self) -> str:
        return self.random.choice(("2", "0.5", "True", "np.float32(2)", "np.sqrt(2)", "[1, 2]", "np.pi"))

    def operand(self) -> str:
        return self.array() if self.random.random() < 0.7 else self.number()

    def axis(self) -> str:
        return self.random.choice(("0", "1", "-1", "2"))

    def expression(self) -> str:
        pick = self.random.choice
        return pick(
            (
                f"np.{pick(ELEMENTWISE)}({self.array()})",
                f"{self.array()} {pick(OPERATORS)} {self.operand()}",
                f"{self.number()} {pick(OPERATORS)} {self.array()}",
                f"np.{pick(OF_TWO)}({self.array()}, {self.operand()})",
                f"np.{pick(REDUCTIONS)}({self.array()}, axis={pick((self.axis(), 'None', '(0, 1)'))})",
                f"{self.array()}.{pick(('sum', 'mean', 'max', 'argmax', 'any'))}({self.axis()})",
                f"{self.array()}.reshape({pick((2, 3, 6, -1))}, {pick((1, 2, 3, 5))})",
                f"np.{pick(('concatenate', 'stack'))}([{self.array()}, {self.array()}], axis={self.axis()})",
                f"np.{pick(('vstack', 'hstack', 'dstack'))}([{self.array()}, {self.array()}])",
                f"{self.array()}[{pick(INDICES)}]",
                f"np.{pick(('expand_dims', 'flip', 'squeeze'))}({self.array()}, {self.axis()})",
                f"np.{pick(('swapaxes', 'moveaxis'))}({self.array()}, {self.axis()}, {self.axis()})",
                f"np.where({self.array()} > 0, {self.operand()}, {self.operand()})",
                f"np.broadcast_to({self.array()}, {self.shape()})",
            )
        )


def real(expression: str) -> tuple[Any, bool]:
    """What NumPy gives, and whether it gives anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {"np": np}), True
        except (ValueError, TypeError, IndexError):
            return None, False


@pytest.mark.parametrize("seed", range(2))
def test_random_expressions(seed: int, tmp_path: Path) -> None:
    source = Expressions(seed)
    known = reported = 0
    for _ in range(COUNT):
        expression = source.expression()
        value, works = real(expression)
        try:
            found, reports = follow_source(f"import numpy as np\nx = {expression}\n", tmp_path / "program.py")
        except AssertionError:  # the follower says that it raises
            assert not works, expression
            continue
        if not works:
            reported += bool(reports)
            continue
        assert not reports, (expression, reports)
        wrong = difference(found["x"], value, lenient=True)
        assert wrong is None, f"{expression}: {wrong}"
        known += difference(found["x"], value, lenient=False) is None
    assert known > COUNT * 0.4
    assert reported > COUNT * 0.1
