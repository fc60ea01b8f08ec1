"""The inputs and outputs of an artefact: tensors by dtype and sizes, in the program's own containers."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import torch

from simpletorch.dtypes import dtype_of
from simpletorch.shapes import UNKNOWN, Dim, Unknown, evaluate, parse_dim, substitute, variables
from simpletorch.shapes.dim import Var

__all__ = ["Constant", "Group", "Node", "Signature", "Symbol", "TensorSpec", "dtype_name", "substituted", "tensors_of"]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor by dtype and sizes; a size is a number, an expression over symbols, or unknown (any).

    Attributes:
        name: the name of the tensor in the artefact.
        dtype: its dtype.
        shape: its sizes.

    Examples:
        >>> import torch
        >>> from simpletorch import export
        >>> str(export.TensorSpec("x", torch.float32, ("B", 8)))
        'Float32[B, 8]'
    """

    name: str
    dtype: torch.dtype
    shape: tuple[Dim, ...]

    def symbols(self) -> Iterator[str]:
        """The names in the sizes, in order."""
        for size in self.shape:
            yield from sorted(v.name for v in variables(size))

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}[{', '.join('...' if s is UNKNOWN else str(s) for s in self.shape)}]"


@dataclass(frozen=True)
class Group:
    """Several values: a ``tuple`` or ``list``, or a ``dict`` or ``record`` (a named tuple, a dataclass) by key."""

    kind: str
    keys: tuple[str, ...]
    items: tuple[Node, ...]
    title: str = ""
    cls: Any = field(default=None, compare=False)  # of a record, where the class itself is at hand

    def __str__(self) -> str:
        names = [f"{key}: " for key in self.keys] or [""] * len(self.items)
        inner = ", ".join(f"{name}{item}" for name, item in zip(names, self.items, strict=True))
        brackets = {"list": "[]", "dict": "{}"}.get(self.kind, "()")
        return f"{self.title}{brackets[0]}{inner}{brackets[1]}"

    def made(self, values: Sequence[Any]) -> Any:
        """The container with these values; of a record whose class isn't at hand, a named tuple."""
        if self.kind == "dict":
            return dict(zip(self.keys, values, strict=True))
        if self.kind == "record":
            cls = self.cls or namedtuple(self.title, self.keys)
            return cls(**dict(zip(self.keys, values, strict=True)))
        return list(values) if self.kind == "list" else tuple(values)


@dataclass(frozen=True)
class Constant:
    """A value that isn't a tensor and is fixed in the artefact: None, a number or a text."""

    value: bool | int | float | str | None

    def __str__(self) -> str:
        return repr(self.value)


Node: TypeAlias = TensorSpec | Group | Constant


def tensors_of(node: Node) -> Iterator[TensorSpec]:
    """The tensors, in order."""
    if isinstance(node, TensorSpec):
        yield node
    elif isinstance(node, Group):
        for item in node.items:
            yield from tensors_of(item)


def substituted(node: Node, sizes: Mapping[str, Dim]) -> Node:
    """The node with these sizes in the place of symbols."""
    if isinstance(node, TensorSpec):
        by = {Var(name): size for name, size in sizes.items()}
        return dataclasses.replace(node, shape=tuple(substitute(size, by) for size in node.shape))
    if isinstance(node, Group):
        return dataclasses.replace(node, items=tuple(substituted(item, sizes) for item in node.items))
    return node


def dtype_name(dtype: torch.dtype) -> str:
    """``Float32``; torch's own name for what has no name here."""
    try:
        return dtype_of(dtype).__name__
    except TypeError:
        return str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class Symbol:
    """A size that each call chooses: from ``least`` to ``most`` (None: no limit), ``offset`` and steps above it.

    Attributes:
        name: the name in the annotation, such as ``"B"``.
        least: the smallest size allowed.
        most: the largest size allowed; None for no limit.
        step: allowed sizes are multiples of this above ``offset``.
        offset: the remainder of an allowed size, divided by ``step``.

    Examples:
        >>> from simpletorch import export
        >>> export.Symbol("B", least=1, most=64)
        Symbol(name='B', least=1, most=64, step=1, offset=0)
    """

    name: str
    least: int = 1
    most: int | None = None
    step: int = 1
    offset: int = 0

    def allows(self, size: int) -> bool:
        """Whether the artefact takes this size.

        Args:
            size: the number of elements along the dim.
        """
        return self.least <= size <= (size if self.most is None else self.most) and self.fits(size)

    def fits(self, size: int) -> bool:
        """Whether the size is one of the steps.

        Args:
            size: the number of elements along the dim.
        """
        return (size - self.offset) % self.step == 0

    def __str__(self) -> str:
        limits = f"{self.name} >= {self.least}" if self.most is None else f"{self.least} <= {self.name} <= {self.most}"
        if self.step == 1:
            return limits
        multiple = f"a multiple of {self.step}" + (f" and {self.offset}" if self.offset else "")
        return f"{limits}, {multiple}"


@dataclass(frozen=True)
class Signature:
    """The inputs by the names that ``forward`` has for them, the output, and the sizes that are open.

    Attributes:
        inputs: pairs of a name and a tensor, a constant, or a group of these.
        output: the same for the result; None if it isn't known.
        symbols: the open sizes.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, export, nn
        >>> from simpletorch.dims import B
        >>> class Net(nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.fc = nn.Linear(8, 3)
        ...
        ...     def forward(self, x: Tensor[Float32, B, 8]) -> Tensor[Float32, B, 3]:
        ...         return self.fc(x)
        >>> signature = export.program(Net()).signature
        >>> [name for name, _ in signature.inputs], signature.symbols
        (['x'], (Symbol(name='B', least=1, most=None, step=1, offset=0),))
    """

    inputs: tuple[tuple[str, Node], ...]
    output: Node | None
    symbols: tuple[Symbol, ...]

    def tensors(self) -> tuple[TensorSpec, ...]:
        """The tensors among the inputs, in order."""
        return tuple(spec for _, node in self.inputs for spec in tensors_of(node))

    def __str__(self) -> str:
        inputs = ", ".join(f"{name}: {node}" for name, node in self.inputs)
        return f"({inputs}) -> {'...' if self.output is None else self.output}"

    def to_dict(self) -> dict[str, Any]:
        """The signature as plain data, for a manifest."""
        return {
            "inputs": [[name, _plain(node)] for name, node in self.inputs],
            "output": None if self.output is None else _plain(self.output),
            "symbols": [dataclasses.asdict(symbol) for symbol in self.symbols],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Signature:
        """The signature from the result of `to_dict`.

        Args:
            data: a dict that `to_dict` returned.

        Returns:
            The signature.

        Raises:
            ValueError, KeyError, TypeError: it is something else.
        """
        output = data["output"]
        return cls(
            tuple((str(name), _node(node)) for name, node in data["inputs"]),
            None if output is None else _node(output),
            tuple(Symbol(**symbol) for symbol in data["symbols"]),
        )


def _plain(node: Node) -> dict[str, Any]:
    if isinstance(node, TensorSpec):
        shape = [
            size if isinstance(size, int) else None if isinstance(size, Unknown) else str(size) for size in node.shape
        ]
        return {"name": node.name, "dtype": str(node.dtype).removeprefix("torch."), "shape": shape}
    if isinstance(node, Group):
        items = [_plain(item) for item in node.items]
        return {"kind": node.kind, "keys": list(node.keys), "items": items, "title": node.title}
    return {"value": node.value}


_KINDS: Final = ("tuple", "list", "dict", "record")


def _node(data: Mapping[str, Any]) -> Node:
    if "dtype" in data:
        dtype = getattr(torch, data["dtype"])
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"{data['dtype']} is no dtype")
        shape = tuple(UNKNOWN if s is None else s if isinstance(s, int) else parse_dim(s) for s in data["shape"])
        return TensorSpec(str(data["name"]), dtype, shape)
    if "items" in data:
        if data["kind"] not in _KINDS:
            raise ValueError(f"{data['kind']} is no kind of container")
        return Group(data["kind"], tuple(data["keys"]), tuple(map(_node, data["items"])), data["title"])
    return Constant(data["value"])


# -- values against nodes -------------------------------------------------------------------------------------------


def described(value: Any, name: str, leaf: Callable[[str, torch.Tensor], TensorSpec]) -> Node | None:
    """The node of a value, its tensors as ``leaf`` describes them; None for what no artefact can pass."""
    if isinstance(value, torch.Tensor):
        return leaf(name, value)
    if value is None or isinstance(value, bool | int | float | str):
        return Constant(value)
    parts = parts_of(value)
    if parts is None:
        return None
    kind, title, items = parts
    nodes = [described(item, f"{name}_{key}" if name else key, leaf) for key, item in items]
    if any(node is None for node in nodes):
        return None
    keys = tuple(key for key, _ in items) if kind in ("dict", "record") else ()
    cls = type(value) if kind == "record" else None
    return Group(kind, keys, tuple(node for node in nodes if node is not None), title, cls)


def parts_of(value: Any) -> tuple[str, str, list[tuple[str, Any]]] | None:
    """The kind of a container, the name of its class if that is a record, and its items by key or number."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        if type(value) is dict:
            return "dict", "", list(value.items())
        # transformers' outputs are mappings of their fields
        return "record", type(value).__name__, [(k, v) for k, v in value.items() if v is not None]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "record", type(value).__name__, [(name, getattr(value, name)) for name in value._fields]
    if isinstance(value, tuple | list):
        kind = "list" if isinstance(value, list) else "tuple"
        return kind, "", [(str(i), item) for i, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return "record", type(value).__name__, [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    return None


def leaves(value: Any) -> list[torch.Tensor]:
    """The tensors of a value, in the order of `tensors_of`."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = parts_of(value)
    return [] if parts is None else [leaf for _, item in parts[2] for leaf in leaves(item)]


def rebuilt(node: Node, tensors: Iterator[torch.Tensor]) -> Any:
    """The value of a node, with the next tensors in its places."""
    if isinstance(node, TensorSpec):
        return next(tensors)
    if isinstance(node, Constant):
        return node.value
    return node.made([rebuilt(item, tensors) for item in node.items])


def size_at(size: Dim, sizes: Mapping[str, int]) -> int | None:
    """A size for these symbols; None if it isn't known."""
    if isinstance(size, int):
        return size
    names = variables(size)
    if isinstance(size, Unknown) or any(v.name not in sizes for v in names):
        return None
    return evaluate(size, {v: sizes[v.name] for v in names})
