"""Random annotations, values that mostly fit them, and functions that have them; for `test_differential`."""

# ruff: noqa: UP007, UP045 - both spellings of a union
from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypeVar, Union, get_args, get_origin

import jaxtyping
import torch
from hypothesis import strategies as st

from simpletorch import Dim

__all__ = ["Call", "calls", "functions", "hints"]

DTYPES = {
    "Float32": torch.float32,
    "Float": torch.float64,
    "BFloat16": torch.bfloat16,
    "Int64": torch.int64,
    "Int": torch.int8,
    "UInt8": torch.uint8,
    "Bool": torch.bool,
    "Complex": torch.complex64,
    "Num": torch.int32,
    "Inexact": torch.float16,
    "Shaped": torch.bool,
}
Count = NewType("Count", int)
Number = TypeVar("Number", bound=int)
Choice = TypeVar("Choice", int, str)
Anything = TypeVar("Anything")


class Pair(NamedTuple):
    left: int
    right: str


@dataclass
class Options:
    width: int = 3


# -- annotations ------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "c", "1", "2", "3", "_", "_any", "#a", "#b", "#2", "a+1", "2*b", "n=2", "a"])
VARIADIC = st.sampled_from(["...", "*r", "*#r", "*_any"])


@st.composite
def tensor_hints(draw: st.DrawFn, dtype: str | None = None) -> Any:
    words = draw(st.lists(WORDS, max_size=3))
    if draw(st.integers(0, 2)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(VARIADIC))
    array = draw(st.sampled_from([torch.Tensor, torch.Tensor, torch.Tensor, torch.nn.Parameter]))
    return getattr(jaxtyping, dtype or draw(st.sampled_from(sorted(DTYPES))))[array, " ".join(words)]


@st.composite
def containers(draw: st.DrawFn, inner: Any) -> Any:
    item, other = draw(inner), draw(inner)
    return draw(
        st.sampled_from(
            [
                Optional[item],
                Optional[tuple[item, int]],
                Union[item, int],
                tuple[item, other],
                tuple[item, ...],
                tuple[()],
                list[item],
                dict[str, item],
                Sequence[item],
                Mapping[str, item],
                Annotated[item, "a note"],
                Optional[list[item]],
            ]
        )
    )


PLAIN = st.sampled_from(
    [
        *(int, float, bool, str, object, Any, int | None, Union[int, str], Literal["a", 1], Count, Number, Choice),
        *(Anything, Pair, Options, torch.Tensor, torch.dtype, torch.device, torch.nn.Module, torch.nn.Parameter),
        *(type[torch.nn.Module], Callable[..., Any], list[int], dict[str, int], set[int], frozenset[str]),
        *(Dim["a"], Dim["c"], Dim[2], None),
    ]
)
TWO_DTYPES = st.tuples(tensor_hints("Float32"), tensor_hints("Int64")).map(lambda two: Union[two])


def hints() -> st.SearchStrategy[Any]:
    """Mostly tensors, and everything that stands around them in a signature."""
    single = st.one_of(tensor_hints(), tensor_hints(), PLAIN)
    return st.one_of(tensor_hints(), tensor_hints(), tensor_hints(), PLAIN, containers(single), TWO_DTYPES)


# -- values -----------------------------------------------------------------------------------------------------------

TENSORS = st.builds(
    lambda shape, dtype: torch.zeros(shape, dtype=dtype),
    st.lists(st.integers(1, 3), max_size=3),
    st.sampled_from([torch.float32, torch.float32, torch.int64, torch.bool, torch.bfloat16]),
)
SCALARS = st.sampled_from(
    [None, 0, 1, 2, 3, True, 2.5, "a", "x", Pair(1, "a"), Pair("a", 1), Options(), torch.float32, torch.device("cpu")]
)
OTHERS = st.one_of(
    TENSORS,
    SCALARS,
    st.sampled_from([torch.nn.Linear(2, 3), torch.nn.Linear, int, len, frozenset(("a",)), (), [1]]),
    st.lists(TENSORS, max_size=1),
    st.tuples(TENSORS, SCALARS),
    st.dictionaries(st.sampled_from(["k", 1]), TENSORS, max_size=1),
)
FITTING = {
    int: 3,
    float: 2.5,
    bool: True,
    str: "x",
    Count: 3,
    Number: 3,
    Choice: "x",
    Pair: Pair(1, "a"),
    Options: Options(),
    torch.dtype: torch.float32,
    torch.device: torch.device("cpu"),
    torch.nn.Module: torch.nn.Linear(2, 3),
    torch.nn.Parameter: torch.nn.Parameter(torch.zeros(2)),
    type[torch.nn.Module]: torch.nn.Linear,
    Callable[..., Any]: len,
    set[int]: {1},
    frozenset[str]: frozenset(("a",)),
    tuple[()]: (),
    None: None,
    type(None): None,
}


@st.composite
def sizes(draw: st.DrawFn) -> dict[str, list[int]]:
    """One size for each name, and a row of sizes for each variadic one."""
    one = {name: [draw(st.integers(1, 3))] for name in ("a", "b", "c")}
    return {**one, "r": draw(st.lists(st.integers(1, 3), max_size=2))}


def fitting_tensor(hint: Any, known: dict[str, list[int]]) -> torch.Tensor:
    shape: list[int] = []
    for word in hint.dim_str.split():
        name = word.lstrip("*#").rpartition("=")[2]
        if name.isdigit():
            shape.append(int(name))
        elif name in known:
            shape += known[name]
        else:
            shape += {"a+1": [known["a"][0] + 1], "2*b": [2 * known["b"][0]]}.get(name, [2])
    tensor = torch.zeros(shape, dtype=DTYPES[hint.dtype.__name__])
    return tensor if hint.array_type is torch.Tensor else torch.nn.Parameter(tensor, requires_grad=False)


@st.composite
def values(draw: st.DrawFn, hint: Any, known: dict[str, list[int]]) -> Any:
    """Mostly a value that fits; a container holds one item, because beartype looks at one only."""
    if draw(st.integers(0, 9)) == 0:
        return draw(OTHERS)
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray):
        return fitting_tensor(hint, known)
    if isinstance(hint, type(Dim)):
        return known.get(hint.__name__[4:-1], [2])[0]
    if hint in FITTING:
        return FITTING[hint]
    if hint in (Any, object, Anything, torch.Tensor):
        return draw(TENSORS)
    if origin is Annotated:
        return draw(values(args[0], known))
    if origin is Literal:
        return draw(st.sampled_from(args))
    if origin in (Union, type(int | None)):
        return draw(values(draw(st.sampled_from(args)), known))
    if origin is tuple and args[-1] is not Ellipsis:
        return tuple(draw(values(arg, known)) for arg in args)
    item = draw(values(args[-1] if origin is not tuple else args[0], known))
    return (item,) if origin is tuple else {"k": item} if len(args) == 2 else [item]


# -- functions --------------------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """What a function is called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def plain(x, y, out):
    return out


def by_kind(x, /, y, *, out):
    return out


def with_defaults(x, y=None, *, out=None):
    return out


def several(out, *x, **y):
    return out


def generator(x, y, out) -> Iterator[Any]:
    yield out


async def coroutine(x, y, out):
    return out


FUNCTIONS = (plain, by_kind, with_defaults, several, generator)


@st.composite
def functions(draw: st.DrawFn) -> tuple[Callable[..., Any], tuple[Any, Any, Any]]:
    """A function, not yet checked, and the types of x, y and its result."""
    template = draw(st.sampled_from(FUNCTIONS))
    first, second, result = draw(hints()), draw(hints()), draw(hints())
    function = typing.cast(Any, type(template))(template.__code__, globals(), template.__name__)
    function.__defaults__, function.__kwdefaults__ = template.__defaults__, template.__kwdefaults__
    function.__annotations__ = {"x": first, "y": second, "return": Iterator[Any] if template is generator else result}
    return function, (first, second, result)


@st.composite
def calls(draw: st.DrawFn, function: Callable[..., Any], hinted: tuple[Any, Any, Any]) -> Call:
    """A call of the function; every call has sizes of its own."""
    known = draw(sizes())
    x, y, out = (draw(values(hint, known)) for hint in hinted)
    match function.__name__:
        case "plain" | "generator":
            return Call((x, y), {"out": out})
        case "by_kind":
            return Call((x,), {"y": y, "out": out})
        case "with_defaults":
            return Call((x,), {"out": out}) if y is None or draw(st.booleans()) else Call((x, y), {"out": out})
        case _:
            return Call((out, *[x] * draw(st.integers(0, 2))), {"y": y, "z": y} if draw(st.booleans()) else {})
