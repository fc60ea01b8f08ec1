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
CHANGED = (  # of one array, along an axis
    "np.append({a}, {b})", "np.append({a}, {b}, axis={i})", "np.append({a}, 3.0)", "np.delete({a}, 0, axis={i})",
    "np.delete({a}, [0, -1], {i})", "np.delete({a}, 1)", "np.insert({a}, 0, 2, axis={i})", "np.insert({a}, 1, 2)",
    "np.percentile({a}, 50, axis={i})", "np.percentile({a}, [5, 50, 95], axis={i})", "np.quantile({a}, 0.5)",
    "np.average({a}, axis={i})", "np.diff({a}, axis={i})", "np.diff({a}, n=2)", "np.diff({a}, prepend=0, axis={i})",
    "np.ediff1d({a})", "np.tensordot({a}, {b}, axes=1)", "np.tensordot({a}, {a}, axes=([{i}], [{i}]))",
    "np.take_along_axis({a}, np.argsort({a}, axis={i}), axis={i})", "np.apply_along_axis(np.sum, {i}, {a})",
    "np.apply_along_axis(lambda row: row[:2], {i}, {a})", "np.add.accumulate({a}, axis={i})",
    "np.maximum.reduce({a}, axis={i})", "np.multiply.outer({a}, {b})", "np.add.reduceat({a}, [0, 1], axis={i})",
    "np.diagonal({a})", "{a}.diagonal(1)", "np.linalg.svd({a}, full_matrices=False)[0]", "np.linalg.svd({a})[2]",
    "np.linalg.qr({a})[1]", "np.linalg.eigh({a})[1]", "np.linalg.lstsq({a}, {b}, rcond=None)[0]",
    "np.lib.stride_tricks.sliding_window_view({a}, 2, axis={i})", "np.expand_dims({a}, (0, 2))",
    "np.resize({a}, (2, 3))", "np.cross({a}, {b})", "np.select([{a} > 0], [{a}], 0)", "np.partition({a}, 1)",
    "np.r_[{a}, {b}]", "np.r_[{a}, 3]", "np.block([[{a}, {b}]])", "np.hsplit({a}, 2)[0]", "np.vsplit({a}, 2)[1]",
    "np.histogram({a})[0]", "np.histogram({a}, bins=7)[1]", "np.histogram({a}, bins=[0, 1, 3])[0]",
    "np.interp({a}, [0, 1], [2, 3])", "np.trapezoid({a}, axis={i})", "np.gradient({a}, axis={i})",
    "np.polyval([1, 2], {a})", "np.compress([True], {a}, axis={i})", "np.real({a})", "np.angle({a})",
    "np.copysign({a}, {b})", "np.divmod({a}, {b})[0]", "np.nancumsum({a}, axis={i})", "np.nanmedian({a}, axis={i})",
    "np.convolve({a}, {b})", "np.convolve({a}, {b}, 'same')", "np.correlate({a}, {b})", "np.lexsort({a})",
    "np.searchsorted([1, 2], {a})", "{a}.take([0, 0], axis={i})", "np.unravel_index({a}.astype(int), (3, 2))[1]",
    "np.linalg.multi_dot([{a}, {b}, {a}])", "np.linalg.matrix_power({a}, 2)", "np.ix_({a}, {b})[0]",
    "np.random.default_rng(0).choice({a}, 2)", "np.random.permutation({a})", "np.random.dirichlet({a}, 2)",
    "np.unstack({a})[0]", "np.permute_dims({a}, (1, 0))", "np.matrix_transpose({a})", "np.vander({a}, 2)",
    "np.triu_indices(3, 1)[0]", "np.tril_indices(2, -1, 4)[1]", "np.vectorize(lambda x, y: x + y)({a}, {b})",
    "np.extract({a} > 0, {a})", "np.flatnonzero({a})", "np.fromfunction(lambda i, j: i + j, (3, 2))",
    "np.frombuffer({a}.tobytes(), {a}.dtype)", "np.fromiter((v for v in range(3)), float)", "np.heaviside({a}, 0)",
    "np.bitwise_not({a})", "np.reciprocal({a})", "np.histogram2d({a}, {a}, bins=3)[0]", "np.nanvar({a}, axis={i})",
)  # fmt: skip
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

    def changed(self) -> str:
        template = self.random.choice(CHANGED)
        return template.format(a=self.array(), b=self.array(), i=self.axis())

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


@pytest.mark.parametrize(("seed", "kind"), [(0, "expression"), (1, "expression"), (2, "changed"), (3, "changed")])
def test_random_expressions(seed: int, kind: str, tmp_path: Path) -> None:
    source = Expressions(seed)
    known = reported = 0
    for _ in range(COUNT):
        expression = getattr(source, kind)()
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
