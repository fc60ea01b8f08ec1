"""The kinds of mistake that `mutate` makes: each is a function from a source to the edits that make one.

``KINDS`` is the table. An edit that can't be made without moving a line (what it would replace spans several) is None,
and its mistake is left out.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

Edits = tuple["Edit | None", ...]


@dataclass(frozen=True)
class Edit:
    """What to write in a line instead of its bytes from ``start`` to ``end``."""

    line: int
    start: int
    end: int
    text: str


class Source:
    """A file with its syntax tree, and where each node stands in it."""

    def __init__(self, text: str) -> None:
        self.lines = text.encode().split(b"\n")
        self.tree = ast.parse(text)
        self.nodes = list(ast.walk(self.tree))
        self.modules = {
            alias.asname or alias.name.partition(".")[0] for n in self.every(ast.Import) for alias in n.names
        } | {alias.asname or alias.name for n in self.every(ast.ImportFrom) for alias in n.names}

    def every(self, *kinds: type) -> Iterator:
        """All nodes of these classes."""
        return (node for node in self.nodes if isinstance(node, kinds))

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """All calls with the last part of the name that is called."""
        return [(_last_name(call.func), call) for call in self.every(ast.Call)]

    def text(self, node: ast.AST) -> str | None:
        """How the node is written; None if it spans lines."""
        if node.lineno != node.end_lineno:
            return None
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def replaced(self, node: ast.AST, text: str | None) -> Edit | None:
        """The node written otherwise."""
        if text is None or node.lineno != node.end_lineno:
            return None
        return Edit(node.lineno, node.col_offset, node.end_col_offset, text)

    def removed_after(self, kept: ast.AST, whole: ast.AST) -> Edit | None:
        """What follows ``kept`` up to the end of ``whole`` removed: ``x.t()`` becomes ``x``."""
        if kept.end_lineno != whole.end_lineno:
            return None
        return Edit(kept.end_lineno, kept.end_col_offset, whole.end_col_offset, "")

    def swapped(self, one: ast.AST, other: ast.AST) -> Edits:
        """Two nodes in each other's place."""
        return self.replaced(one, self.text(other)), self.replaced(other, self.text(one))

    def edited(self, edits: tuple[Edit, ...]) -> str:
        """The text with the edits made."""
        lines = list(self.lines)
        for edit in sorted(edits, key=lambda e: (e.line, -e.start)):
            line = lines[edit.line - 1]
            lines[edit.line - 1] = line[: edit.start] + edit.text.encode() + line[edit.end :]
        return b"\n".join(lines).decode()


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def sizes(source: Source) -> Iterator[Edits]:
    """An integer one larger, one smaller, doubled."""
    seeds = {id(n) for name, call in source.calls if "seed" in name for n in ast.walk(call)}
    for node in source.every(ast.Constant):
        if (value := _integer(node)) is not None and value > 1 and id(node) not in seeds:
            for other in (value + 1, value - 1, 2 * value):
                yield (source.replaced(node, str(other)),)


# Where a dim stands among the arguments of a method; a function has it one place later.
DIM_PLACES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("softmax", "log_softmax", "sum", "mean", "max", "min", "std", "prod", "amax", "argmax"), (0,)),
    **dict.fromkeys(("cat", "stack", "unsqueeze", "squeeze", "flatten", "size", "cumsum", "unbind", "norm"), (0,)),
    **dict.fromkeys(("gather", "scatter", "index_add", "all", "any"), (0,)),
    **dict.fromkeys(("chunk", "split", "topk"), (1,)),
    **dict.fromkeys(("transpose", "swapaxes"), (0, 1)),
}


def dims(source: Source) -> Iterator[Edits]:
    """Another dim than the right one."""
    for name, call in source.calls:
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        shift = int(receiver is None or (isinstance(receiver, ast.Name) and receiver.id in source.modules))
        places = [i + shift for i in DIM_PLACES.get(name, ())]
        given = [call.args[i] for i in places if i < len(call.args)]
        given += [k.value for k in call.keywords if k.arg in ("dim", "axis", "start_dim", "dims")]
        for node in given:
            if (value := _integer(node)) is not None:
                for other in {0, 1, 2, -1} - {value}:
                    yield (source.replaced(node, str(other)),)


def rearranged(source: Source) -> Iterator[Edits]:
    """A permute or transpose with two dims swapped, or left out."""
    for name, call in source.calls:
        if name in ("permute", "transpose", "swapaxes", "t", "rearrange") and isinstance(call.func, ast.Attribute):
            yield (source.removed_after(call.func.value, call),)
            for one, other in pairwise(call.args):
                yield source.swapped(one, other)
    for node in source.every(ast.Attribute):
        if node.attr in ("T", "mT"):
            yield (source.removed_after(node.value, node),)


def reshaped(source: Source) -> Iterator[Edits]:
    """A view, reshape, flatten, squeeze or unsqueeze left out, or its arguments in another order."""
    for name, call in source.calls:
        if not isinstance(call.func, ast.Attribute):
            continue
        if name in ("view", "reshape", "flatten", "squeeze", "unsqueeze", "repeat", "expand", "ravel", "contiguous"):
            yield (source.removed_after(call.func.value, call),)
            for one, other in pairwise(call.args):
                yield source.swapped(one, other)
    for node in source.every(ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(i, ast.Constant) and i.value in (None, ...) for i in items):
            yield (source.removed_after(node.value, node),)


def patterns(source: Source) -> Iterator[Edits]:
    """Two axes of an einops or einsum pattern swapped."""
    for node in source.every(ast.Constant):
        if isinstance(node.value, str) and "->" in node.value and (text := source.text(node)):
            axes = (
                list(re.finditer(r"[a-z]\w*(?=[ ,)'\"-])", text)) if " " in text else list(re.finditer(r"[a-z]", text))
            )
            for one, other in pairwise(axes):
                swapped = (
                    text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]
                )
                yield (source.replaced(node, swapped),)


OTHER_NAMES = {
    "Conv2d": ("Conv1d", "ConvTranspose2d", "Linear"),
    "Conv1d": ("Conv2d", "Linear"),
    "ConvTranspose2d": ("Conv2d",),
    "BatchNorm2d": ("BatchNorm1d", "LayerNorm"),
    "BatchNorm1d": ("BatchNorm2d", "LayerNorm"),
    "LayerNorm": ("BatchNorm1d", "BatchNorm2d"),
    "MaxPool2d": ("MaxPool1d", "AvgPool1d"),
    "MaxPool1d": ("MaxPool2d",),
    "AvgPool2d": ("AvgPool1d",),
    "AdaptiveAvgPool2d": ("AdaptiveAvgPool1d",),
    "adaptive_avg_pool2d": ("adaptive_avg_pool1d",),
    "avg_pool2d": ("max_pool1d",),
    "LSTM": ("GRU",),
    "GRU": ("LSTM",),
    "Linear": ("Embedding", "LazyLinear", "Conv1d"),
    "Embedding": ("Linear",),
    "cross_entropy": ("mse_loss", "binary_cross_entropy_with_logits"),
    "CrossEntropyLoss": ("MSELoss", "BCEWithLogitsLoss"),
    "MSELoss": ("CrossEntropyLoss",),
    "BCELoss": ("NLLLoss",),
    "mse_loss": ("nll_loss",),
    "nll_loss": ("mse_loss",),
    "cat": ("stack",),
    "stack": ("cat",),
    "matmul": ("mm", "mul"),
    "mm": ("bmm", "mul"),
    "bmm": ("mm",),
    "argmax": ("max",),
    "randn_like": ("randn",),
}


def named(source: Source) -> Iterator[Edits]:
    """A neighbouring layer, loss or function: Conv1d for Conv2d, stack for cat."""
    for node in source.every(ast.Attribute):
        text = source.text(node)
        for other in OTHER_NAMES.get(node.attr, ()) if text else ():
            yield (source.replaced(node, text.removesuffix(node.attr) + other),)


def attributes(source: Source) -> Iterator[Edits]:
    """Another attribute of the same object: self.fc2 for self.fc1, config.n_head for config.n_embd."""
    for scope in source.every(ast.ClassDef, ast.Module):
        used: dict[str, dict[str, list[ast.Attribute]]] = defaultdict(lambda: defaultdict(list))
        for node in ast.walk(scope):
            if not (
                isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)
            ):
                continue
            if (node.value.id == "self") == isinstance(scope, ast.ClassDef) and node.value.id not in source.modules:
                used[node.value.id][node.attr].append(node)
        for name, by_attribute in used.items():
            for one, other in pairwise(sorted(by_attribute)):
                for node in by_attribute[one]:
                    yield (source.replaced(node, f"{name}.{other}"),)


def arguments(source: Source) -> Iterator[Edits]:
    """Two arguments in each other's place, or a keyword forgotten."""
    for _, call in source.calls:
        for one, other in pairwise(call.args):
            if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
                yield source.swapped(one, other)
        values = [*call.args, *(k.value for k in call.keywords)]
        if call.keywords and call.keywords[-1].arg and len(values) > 1:
            before = values[-2]
            last = call.keywords[-1].value
            if before.end_lineno == last.end_lineno:
                yield (Edit(before.end_lineno, before.end_col_offset, last.end_col_offset, ""),)


def products(source: Source) -> Iterator[Edits]:
    """The operands of a matrix product swapped, or another arithmetic."""
    for node in source.every(ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            yield source.swapped(node.left, node.right)
        between = {ast.MatMult: " * ", ast.Mult: " + ", ast.FloorDiv: " * ", ast.Add: " * ", ast.Sub: " + "}.get(
            type(node.op)
        )
        same_line = node.left.end_lineno == node.right.lineno
        written = (
            source.lines[node.right.lineno - 1][node.left.end_col_offset : node.right.col_offset] if same_line else b"("
        )
        if between and not set(b"()") & set(written):
            yield (Edit(node.right.lineno, node.left.end_col_offset, node.right.col_offset, between),)
    for name, call in source.calls:
        if name in ("matmul", "mm", "bmm") and len(call.args) == 2:
            yield source.swapped(*call.args)


def dtypes(source: Source) -> Iterator[Edits]:
    """A conversion left out, or another dtype."""
    for name, call in source.calls:
        if name not in ("float", "long", "int", "bool", "half", "type_as") or not isinstance(call.func, ast.Attribute):
            continue
        if not isinstance(call.func.value, ast.Name) or call.func.value.id not in source.modules:
            yield (source.removed_after(call.func.value, call),)
    others = {
        "float32": "int64",
        "float": "long",
        "long": "float",
        "int64": "float32",
        "bool": "float",
        "uint8": "float16",
    }
    for node in source.every(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id in ("torch", "np") and node.attr in others:
            yield (source.replaced(node, f"{node.value.id}.{others[node.attr]}"),)


def flags(source: Source) -> Iterator[Edits]:
    """The opposite of a flag: keepdim, batch_first, bidirectional."""
    for _, call in source.calls:
        for keyword in call.keywords:
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool):
                yield (source.replaced(keyword.value, str(not keyword.value.value)),)


def indices(source: Source) -> Iterator[Edits]:
    """The parts of an index in another order, or one of them left out."""
    for node in source.every(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            for one, other in pairwise(node.slice.elts):
                yield source.swapped(one, other)
                if one.end_lineno == other.end_lineno:
                    yield (Edit(one.end_lineno, one.end_col_offset, other.end_col_offset, ""),)


def variables(source: Source) -> Iterator[Edits]:
    """Another variable of the same function as an argument or operand."""
    for function in source.every(ast.FunctionDef):
        given = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
        names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
        local = sorted({*given, *(n.id for n in names if isinstance(n.ctx, ast.Store))})
        following = dict(zip(local, local[1:] + local[:1], strict=True))
        operands = [a for c in ast.walk(function) if isinstance(c, ast.Call) for a in c.args]
        operands += [o for b in ast.walk(function) if isinstance(b, ast.BinOp) for o in (b.left, b.right)]
        for node in operands:
            if isinstance(node, ast.Name) and len(local) > 1 and node.id in following:
                yield (source.replaced(node, following[node.id]),)


KINDS: dict[str, Callable[[Source], Iterator[Edits]]] = {
    "size": sizes,
    "dim": dims,
    "order of dims": rearranged,
    "reshape": reshaped,
    "pattern": patterns,
    "layer or function": named,
    "attribute": attributes,
    "arguments": arguments,
    "arithmetic": products,
    "dtype": dtypes,
    "flag": flags,
    "index": indices,
    "variable": variables,
}
