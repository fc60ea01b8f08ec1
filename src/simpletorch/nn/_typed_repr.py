"""`typed_repr`: torch's repr of a model with the types of its calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args, get_origin

from torch import nn

from simpletorch.nn._summary_inputs import annotated_result, class_sizes, forward_hints
from simpletorch.rules import MODULES, ModuleRule, TensorType, infer_module
from simpletorch.shapes import ANY_REST, Dim, Expr, Rest, Shape, parse_axes, parse_dim, substitute, var
from simpletorch.shapes.dim import Var

__all__ = ["typed_repr"]


def typed_repr(model: nn.Module) -> str:
    """The modules of ``model`` as torch's repr shows them, and what each call takes and gives.

    ::

        >>> from simpletorch import nn
        >>> print(nn.typed_repr(nn.MLP(784, 128, 10)))
        MLP(
          (layers): Sequential(
            (0): Linear(in_features=784, out_features=128, bias=True): (..., 784) -> (..., 128)
            (1): ReLU()
            (2): Linear(in_features=128, out_features=10, bias=True): (..., 128) -> (..., 10)
          )
        ): DT[*Batch, 784] -> DT[*Batch, 10]

    The types are those that ``forward`` is annotated with, with the sizes that the constructor was given for
    ``n: Dim[N]``; for torch's layers those of the rules that the static check uses. A layer of torch's that takes
    any shape and keeps it, and a module without annotations, show none. `summary` shows the shapes of one call instead.

    Args:
        model: any module; it is not called.

    Returns:
        The text, a line for each module.
    """
    text = _text(model)
    found = _signature(model)
    return f"{text}: {found}" if found else text


def _text(module: nn.Module) -> str:
    """As `torch.nn.Module.__repr__`: children in parentheses, neighbours that are alike as one."""
    children = [(name, typed_repr(child)) for name, child in module.named_children()]
    head, extra = type(module).__name__, module.extra_repr().splitlines()
    if not children:
        return f"{head}({module.extra_repr()})" if len(extra) <= 1 else _block(head, extra)
    lines = list(extra)
    i = 0
    while i < len(children):
        name, text = children[i]
        last = i
        while (
            last + 1 < len(children) and name.isdigit() and children[last + 1] == (str(int(name) + last + 1 - i), text)
        ):
            last += 1
        times = last - i + 1
        lines.append(f"({name}): {text}" if times == 1 else f"({name}-{children[last][0]}): {times} x {text}")
        i = last + 1
    return _block(head, lines)


def _block(head: str, lines: list[str]) -> str:
    body = "\n".join(lines).replace("\n", "\n  ")
    return f"{head}(\n  {body}\n)"


def _signature(module: nn.Module) -> str:
    """``takes -> gives``; empty if it isn't known or says nothing."""
    if type(module).__module__.startswith("torch.nn."):
        return _by_rule(module)
    sizes = class_sizes(module)
    takes = [_hint(hint, sizes) for hint in forward_hints(module).values()]
    gives = _hint(annotated_result(module), sizes)
    shown = [text for text in takes if text]
    if not shown and not gives:
        return ""
    joined = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
    return f"{joined} -> {gives or 'Any'}"


def _hint(hint: Any, sizes: Mapping[str, int]) -> str:
    """A tensor's annotation with the known sizes in it; tuples of such; empty for anything else."""
    text = getattr(hint, "dim_str", None)
    if text is not None:
        dims = ", ".join(_axis(word, sizes) for word in text.split())
        return f"{hint.dtype.__name__}[{dims}]"
    if get_origin(hint) is tuple:
        items = [_hint(item, sizes) for item in get_args(hint)]
        return f"({', '.join(item or '…' for item in items)})" if any(items) else ""
    return ""


def _axis(word: str, sizes: Mapping[str, int]) -> str:
    (axis,) = parse_axes(word)
    if axis.kind != "dim":
        return word
    size = parse_dim(axis.expression)
    return str(substitute(size, {Var(n): s for n, s in sizes.items()}) if isinstance(size, Expr) else size)


# -- torch's layers -------------------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"``\((?P<takes>[\w*, ]+)\) -> ")


def _by_rule(module: nn.Module) -> str:
    """The answer of the static check's rule for the input that its sentence begins with."""
    cls = MODULES.get(f"torch.nn.{type(module).__name__}")
    sentence = _SENTENCE.match((cls.__doc__ or "").strip()) if cls is not None else None
    if cls is None or sentence is None:
        return ""
    rule = _rule(cls, module)
    takes = _shape(sentence["takes"], module)
    if rule is None or takes is None:
        return ""
    gives = infer_module(rule, [TensorType(takes)])
    says_nothing = not any(isinstance(item, int) for item in takes.items)
    if not isinstance(gives, TensorType) or (gives.shape == takes and says_nothing):
        return ""
    return f"{takes} -> {gives.shape}"


def _rule(cls: type[ModuleRule], module: nn.Module) -> ModuleRule | None:
    given: dict[str, Any] = {}
    for field in fields(cls):
        value = getattr(module, field.name, None)
        if field.name == "bias":
            value = value is not None and value is not False
        if isinstance(value, int | float | str | tuple):
            given[field.name] = value
    try:
        return cls(**given)
    except TypeError:  # an argument that the module doesn't keep
        return None


def _shape(text: str, module: nn.Module) -> Shape | None:
    """``N, in_channels, H, W`` with what the module knows."""
    items: list[Dim | Rest] = []
    for word in (w.strip() for w in text.split(",")):
        if word.startswith("*"):
            known = getattr(module, word[1:], None) if word[1:] else None
            items += list(known) if isinstance(known, tuple) else [ANY_REST]
        elif word.isidentifier():
            known = getattr(module, word, None)
            items.append(known if isinstance(known, int) else var(word))
        else:
            return None
    return Shape.of(*items)
