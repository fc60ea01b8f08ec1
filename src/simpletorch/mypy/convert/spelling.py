"""Tensor types as text: reading them out of mypy's messages, and writing them as users do.

``Tensor[Float32, B, Literal[784]]`` is written ``Tensor[Float32, B, 784]``, an expression as ``2*N``, the gradual
``Tensor[Any, *tuple[Any, ...]]`` as ``Tensor``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, lru_cache
from typing import Any, Final

from simpletorch import dtypes
from simpletorch.mypy.names import DEVICE_NAMES, DISTRIBUTIONS
from simpletorch.rules import MODULES, Device
from simpletorch.rules.core.values import as_device
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Expr, Item, Rest, Shape, maximum, minimum, var

__all__ = [
    "callable_items",
    "container_items",
    "device_in",
    "has_variables",
    "may_be",
    "respell",
    "same_module_class",
    "sizes_in",
    "tensor_in",
    "tuple_items",
    "union_members",
]

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>\*?[A-Za-z_][\w.]*(?:@[\w.]+)?)|(?P<number>-?\d+)|(?P<mark>\.\.\.|[\[\],|?]))"
)
TENSOR_NAMES: Final = ("Tensor", "Parameter", *DEVICE_NAMES)
_OF_ITEMS: Final = (
    *("list", "List", "deque", "Sequence", "MutableSequence", "Collection", "Iterable", "Iterator"),
    *("dict", "defaultdict", "OrderedDict", "Mapping", "MutableMapping", "set", "frozenset"),
)
_UNKNOWN: Final = ("Any", "Never", "int", "Unknown")
_EXPRESSIONS: Final[dict[str, Callable[..., Dim]]] = {
    "Sum": lambda *d: sum(d[1:], d[0]),
    "Product": lambda *d: _product(d),
    "Quotient": lambda a, b: a // b,
    "Remainder": lambda a, b: a % b,
    "Power": lambda a, b: a**b,
    "Minimum": minimum,
    "Maximum": maximum,
}


def _product(dims: tuple[Dim, ...]) -> Dim:
    out: Dim = 1
    for d in dims:
        out = out * d
    return out


@dataclass(frozen=True, slots=True)
class _Node:
    """``name[args]`` as mypy prints types."""

    name: str
    args: tuple[_Node, ...] | None = None

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


class _NotAType(Exception):
    """The text is no type that we know how to read."""


@lru_cache(maxsize=1024)
def _parse(text: str) -> _Node:
    tokens = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _NotAType
        tokens.append(match.group().strip())
        at = match.end()
    node, rest = _parse_node(tokens)
    if rest:
        raise _NotAType
    return node


def _parse_node(tokens: list[str]) -> tuple[_Node, list[str]]:
    if not tokens or tokens[0] in "[],|?":
        raise _NotAType
    name, rest = tokens[0], tokens[1:]
    if not rest or rest[0] != "[":
        return _Node(name), rest[1:] if rest and rest[0] == "?" else rest
    args: list[_Node] = []
    rest = rest[1:]
    while rest and rest[0] != "]":
        arg, rest = _parse_node(rest)
        args.append(arg)
        if rest and rest[0] == ",":
            rest = rest[1:]
        elif rest and rest[0] != "]":
            raise _NotAType  # "B*T" is a size that has been respelled before
    if not rest:
        raise _NotAType
    rest = rest[1:]
    return _Node(name, tuple(args)), rest[1:] if rest and rest[0] == "?" else rest


def _item(node: _Node) -> Item:
    if node.name.startswith("*"):
        if node.short == "*tuple" or node.name == "*tuple" or "@" in node.name:
            return ANY_REST
        return Rest(node.name[1:])
    return _dim(node)


def _dim(node: _Node) -> Dim:
    if node.args is None:
        if node.name.lstrip("-").isdigit():
            return int(node.name)
        # mypy adds whose variable it is, as in n@f, where two functions have one of this name
        return UNKNOWN if node.short in _UNKNOWN or "@" in node.name else var(node.name)
    if node.name == "Literal" and len(node.args) == 1:
        return _dim(node.args[0])
    if node.short == "Dim" and len(node.args) == 1:
        return _dim(node.args[0])
    if node.short == "Broadcast":
        return UNKNOWN
    if node.short in _EXPRESSIONS:
        return _EXPRESSIONS[node.short](*(_dim(a) for a in node.args))
    raise _NotAType


def tensor_in(text: str) -> tuple[str, Shape] | None:
    """Dtype and shape of the text of one tensor type; None for any other text (a union, a tuple, …)."""
    if "[" not in text:
        return None
    try:
        node = _parse(text)
        if node.short not in TENSOR_NAMES or not node.args:
            return None
        return node.args[0].short, Shape(tuple(_item(a) for a in node.args[1:]))
    except (_NotAType, ValueError, TypeError):
        return None


def device_in(text: str) -> Device | None:
    """The device that the text of one tensor type states."""
    name = DEVICE_NAMES.get(text.partition("[")[0].rpartition(".")[2])
    return None if name is None else as_device(name)


def sizes_in(got: str, expected: str) -> list[tuple[Dim, Dim]] | None:
    """The sizes in which two types of one generic class differ: of ``Linear[M, 5]`` and ``Linear[N, 5]`` M and N.

    None if they are of two classes, or may differ in something else.
    """
    if "[" not in got or "[" not in expected:
        return None
    try:
        left, right = _parse(got), _parse(expected)
        if left.name != right.name or not left.args or not right.args or len(left.args) != len(right.args):
            return None
        return [(_dim(a), _dim(b)) for a, b in zip(left.args, right.args, strict=True) if a != b]
    except (_NotAType, ValueError, TypeError):
        return None


def union_members(text: str) -> list[str]:
    """``"A[x | y] | B"`` as its two members."""
    return _split(text, "|")


def tuple_items(got: str, expected: str) -> list[tuple[str, str]] | None:
    """The items of two tuple types, pairwise; None if they aren't tuples of one length."""
    if not (got.startswith("tuple[") and expected.startswith("tuple[")):
        return None
    left, right = _split(got[len("tuple[") : -1], ","), _split(expected[len("tuple[") : -1], ",")
    return list(zip(left, right, strict=True)) if len(left) == len(right) else None


def container_items(got: str, expected: str) -> list[tuple[str, str]] | None:
    """The type arguments of two containers of one class, pairwise, such as keys and values of dicts; None of others."""
    name, _, left = got.partition("[")
    other, _, right = expected.partition("[")
    if name != other or name not in _OF_ITEMS or not left or not right:
        return None
    pairs = _split(left[:-1], ","), _split(right[:-1], ",")
    return list(zip(*pairs, strict=True)) if len(pairs[0]) == len(pairs[1]) else None


def callable_items(got: str, expected: str) -> list[tuple[str, str]] | None:
    """Parameters and result of two ``Callable[[…], …]``, pairwise; None if they aren't two such of one length."""
    parts = [_callable(got), _callable(expected)]
    left, right = parts
    if left is None or right is None or len(left) != len(right):
        return None
    return list(zip(left, right, strict=True))


def _callable(text: str) -> list[str] | None:
    if not text.startswith("Callable[["):
        return None
    parts = _split(text[len("Callable[") : -1], ",")
    return [*_split(parts[0][1:-1], ","), parts[1]] if len(parts) == 2 else None


def has_variables(text: str) -> bool:
    """Whether a size in the text of a tensor type isn't a number."""
    found = tensor_in(text)
    return found is not None and any(isinstance(i, Expr | Rest) for i in found[1].items)


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that stand outside all brackets."""
    if mark not in text:
        return [text.strip()]
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == mark and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def same_module_class(got: str, expected: str) -> bool:
    """Whether both texts are types of one ``torch.nn`` class, such as ``Linear[3, 5]`` and ``Linear[5, 7]``, or law."""
    first, second = got.partition("[")[0], expected.partition("[")[0]
    name = first.rpartition(".")[2]
    return first == second and (name == "Sequential" or name in _LAWS or f"torch.nn.{name}" in MODULES)


def may_be(got: str, expected: str) -> bool:
    """Whether a dtype, by name, may be of another one: the same, of its family, or not known."""
    if "Any" in (got, expected) or got == expected:
        return True
    first, second = getattr(dtypes, got, None), getattr(dtypes, expected, None)
    if not isinstance(first, type) or not isinstance(second, type):
        return True
    return issubclass(first, second) or issubclass(second, first)


_LAWS: Final = frozenset(name.rpartition(".")[2] for name in DISTRIBUTIONS)
_LAYERS: Final = {name.rpartition(".")[2]: name for name in MODULES}
_SIZED: Final = frozenset((*TENSOR_NAMES, "Dim", *_EXPRESSIONS))
# names are looked up: as alternatives in a pattern they would take 30 ms to compile, for each run of mypy
_HEAD: Final = re.compile(r"\b(?:\w+\.)*(\w+)\[")
_SIZE: Final = re.compile(r"Literal\[(-?\d+)\]\??")
_METHOD_VARIABLES: Final = re.compile(r"(?<=\bdef )\[DT(?: = Any)?, Shape(?: = \*tuple\[Any, \.\.\.\])?\] ")
_CLASS_VARIABLES: Final = re.compile(r"(\w+)\[(\*?\w+(?:, \*?\w+)*|\(\))\]")
_CONTAINERS: Final = ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


def respell(text: str) -> str:
    """The text with every tensor type, dim and literal size in it as a user writes them."""
    if "[" not in text:
        return text
    text = _CLASS_VARIABLES.sub(_without_own_variables, _METHOD_VARIABLES.sub("", text))
    out: list[str] = []
    at = 0
    while (match := _HEAD.search(text, at)) is not None:
        head, name, end = match.start(), match[1], match.end()
        if name == "Literal" and (size := _SIZE.match(text, match.start(1))) is not None:
            head = size.start()
            is_argument = _within_type(text, head)
            shown, end = (size[1], size.end()) if is_argument else ("Literal[", end)
        elif name in _SIZED:
            end = _closing(text, end)
            shown = _respell_type(text[head:end])
        elif _sizes_of(name):
            end = _closing(text, end)
            shown = _respell_layer(name, text[head : match.end() - 1], text[match.end() : end - 1])
        elif name in _LAWS:  # a distribution has the dtype and shape of a tensor
            end = _closing(text, end)
            sizes = _respell_type(f"Tensor[{text[match.end() : end]}").removeprefix("Tensor")
            shown = text[head : match.end() - 1] + sizes
        else:
            shown = text[head:end]
        out += (text[at:head], shown)
        at = end
    out.append(text[at:])
    return "".join(out)


def _without_own_variables(match: re.Match[str]) -> str:
    name, given = match.groups()
    own = "Item, *Items" if name in _CONTAINERS else ", ".join(field.name for field in _sizes_of(name))
    is_own = given in ("DT, *Shape", own)
    return name if is_own or (name == "Sequential" and given in ("*Layers", "()")) else match[0]


@cache
def _sizes_of(name: str) -> tuple[Field[Any], ...]:
    """The variables that the plugin has given to a class of layers, whose rule is read when a message names it."""
    return fields(MODULES[_LAYERS[name]]) if name in _LAYERS else ()


_LITERAL: Final = re.compile(r"^Literal\[(.*)\]$")


def _within_type(text: str, at: int) -> bool:
    """Whether a ``Literal[n]`` is an argument of a bigger type; alone it is what the user wrote."""
    return text[:at].rstrip().endswith(("[", ","))


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth and at < len(text):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        at += 1
    return at


def _respell_type(text: str) -> str:
    try:
        node = _parse(text)
        if node.short in TENSOR_NAMES and node.args:
            name = node.short.rstrip("0123456789")  # the index of a GPU can't be written
            dtype, items = node.args[0].short, [_item(a) for a in node.args[1:]]
            if items == [ANY_REST]:
                return name if dtype == "Any" else f"{name}[{dtype}, ...]"
            return f"{name}[{', '.join([dtype, *(_item_text(i) for i in items)])}]"
        dim = str(_dim(node))
        return f"Dim[{dim}]" if node.short == "Dim" else dim
    except (_NotAType, ValueError, TypeError):
        return text


def _respell_layer(name: str, fullname: str, arguments: str) -> str:
    """``Linear[4, 6, Literal[True], None, None]`` as ``Linear[4, 6]``: without what is unknown or torch's default."""
    shown = [respell(_LITERAL.sub(r"\1", a)).removeprefix("_simpletorch.dtypes.") for a in _split(arguments, ",")]
    defaults = ["" if f.default is MISSING else repr(f.default) for f in _sizes_of(name)]
    while shown and len(shown) <= len(defaults) and _says_nothing(shown[-1], defaults[len(shown) - 1]):
        shown.pop()
    if all(a == "Any" for a in shown):
        return fullname
    return f"{fullname}[{', '.join(shown)}]"


def _says_nothing(argument: str, default: str) -> bool:
    return bool(default) and argument in ("Any", default)


def _item_text(item: Item) -> str:
    return "Any" if item is UNKNOWN else str(item)
