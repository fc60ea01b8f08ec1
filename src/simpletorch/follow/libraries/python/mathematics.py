"""``math`` and ``statistics``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import NATIVES, VALUES, Work, gives, model, native
from simpletorch.follow.libraries.python.builtins import pure
from simpletorch.follow.values import Tensor, Value, is_int
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

VALUES.update({f"math.{name}": getattr(math, name) for name in ("pi", "e", "inf", "nan", "tau")})

_INTS: Final = ("comb", "factorial", "gcd", "isqrt", "lcm", "perm")
_BOOLS: Final = ("isclose", "isfinite", "isinf", "isnan")
_FLOATS: Final = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fmod",
    "gamma",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "radians",
    "remainder",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "ulp",
]


def _of_floats(name: str, kind: str) -> Work:
    """Each argument is made a float, also one that is a tensor."""
    known = pure(f"math.{name}", getattr(math, name), kind)

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        for one in map(run.resolve, args):
            if type(one) is Tensor and not one.array:
                run.ask("Tensor.__float__", (one,))
        return known.work(run, args, kwargs)

    return work


for _name in _INTS:
    NATIVES[f"math.{_name}"] = pure(f"math.{_name}", getattr(math, _name), "int")
for _names, _type in ((_BOOLS, "bool"), (_FLOATS, "float")):
    for _name in _names:
        native(f"math.{_name}")(_of_floats(_name, _type))
for _name in ("modf", "frexp"):
    NATIVES[f"math.{_name}"] = pure(f"math.{_name}", getattr(math, _name))


def _rounded(name: str) -> Work:
    """An int stays the int that it is, by symbols too."""
    known = pure(f"math.{name}", getattr(math, name), "int")
    return lambda run, args, kwargs: run.each(
        args[0], lambda v: v if isinstance(v, Expr) else known.work(run, (v,), kwargs)
    )


for _name in ("ceil", "floor", "trunc"):
    native(f"math.{_name}")(_rounded(_name))


@model("math.prod")
def _prod(run: Interpreter, iterable: Value, /, *, start: Value = 1) -> Value:
    found = run.items(iterable)
    if found is None:
        return run.unknown("a product")
    out: Value = start
    for value in found:
        out = run.operate("__mul__", out, value)
    return out


@model("math.fsum")
def _fsum(run: Interpreter, seq: Value, /) -> Value:
    found = run.items(seq)
    if found is not None and all(is_int(v) or isinstance(v, float) for v in found):
        return NATIVES["math.fsum.of"].work(run, (found,), {})
    return run.unknown("a sum", "float", "data")


NATIVES["math.fsum.of"] = pure("math.fsum", math.fsum, "float")
gives("math.dist math.sumprod statistics.fmean statistics.stdev statistics.pstdev statistics.variance "
      "statistics.pvariance statistics.geometric_mean statistics.harmonic_mean", "float", "data")  # fmt: skip
gives("statistics.mean statistics.median statistics.mode", None, "data")
