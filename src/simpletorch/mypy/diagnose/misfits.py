"""Arguments that don't fit the sizes in a signature, in the words that the check at run time has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mypy.types import CallableType, Instance, TypeVarType, get_proper_type

from simpletorch.mypy.convert.lift import Lifter, is_tensor
from simpletorch.mypy.types import definition_of, is_named
from simpletorch.rules.core.values import TensorType
from simpletorch.shapes import Bindings, Clash, Dim, Shape, Var, is_compound, variables
from simpletorch.shapes.sentences import (
    dim_differs,
    dim_impossible,
    place,
    rank_differs,
    rest_differs,
    size_source,
    source_of,
)

__all__ = ["Misfits"]


@dataclass
class Misfits:
    """The facts for messages about the arguments of one call: where each size comes from, and the values."""

    name: str
    signature: CallableType
    bindings: Bindings
    lifter: Lifter
    operands: dict[str, TensorType] = field(default_factory=dict)
    sources: dict[Var, str] = field(default_factory=dict)

    def note_shape(self, name: str, pattern: Shape, shape: Shape) -> None:
        """Remember that the sizes which are known by now come from this argument, if they are not known before."""
        self.note({size_source(name, place(i, shape)): pattern.dim(i) for i in _ends(pattern)})

    def note(self, places: Mapping[str, Dim]) -> None:
        """The same for dims by where they are; a plain name says more of where its size comes from."""
        for source, pattern in sorted(places.items(), key=lambda place: is_compound(place[1])):
            for variable in variables(pattern) & self.bindings.dims.keys():
                self.sources.setdefault(variable, source)

    def shown(self, name: str, pattern: TensorType | None) -> dict[str, str]:
        """The operands; the one of this name with what it should be."""
        wanted = "" if pattern is None else f" (should be {pattern})"
        return {n: f"{value}{wanted if n == name else ''}" for n, value in self.operands.items()}

    def of_tensor(self, name: str, pattern: TensorType, value: TensorType, clash: Clash) -> str:
        """A sentence about a wrong shape."""
        if clash.rest is not None:
            rest, before, now = clash.rest
            return rest_differs(str(rest.name), name, now.items, before.items)
        if clash.index is None:
            if value.shape.rank is None:
                return f"{name} is {value}, but should be {pattern}"
            return rank_differs(name, value.shape.rank, pattern.shape.min_rank, or_more=not pattern.shape.is_exact)
        what = f"dim {place(clash.index, value.shape)} of {name}"
        of_class = self._of_class(name, clash.index) if isinstance(clash.pattern, int) else None
        if of_class is not None:
            return dim_differs(what, clash.got, of_class, clash.expected, f"in this {self.name.split('.')[-2]}")
        return self.of_size(what, clash)

    def of_size(self, what: str, clash: Clash) -> str:
        """A sentence about a wrong size."""
        own = {v.id for v in self.signature.variables}
        is_open = not isinstance(clash.expected, str) and any(
            self.lifter.variables[v].id in own for v in variables(clash.expected)
        )
        if is_open:
            return dim_impossible(what, clash.got, str(clash.pattern))
        source = source_of(clash.pattern, self.sources, self.bindings.dims)
        return dim_differs(what, clash.got, str(clash.pattern), clash.expected, source)

    def _of_class(self, name: str, index: int) -> str | None:
        """The name of a size of the class, which is filled in where the method is called."""
        definition = definition_of(self.signature)
        typ = None if definition is None else get_proper_type(definition.type)
        if not isinstance(typ, CallableType) or name not in typ.arg_names or "." not in self.name:
            return None
        declared = get_proper_type(typ.arg_types[typ.arg_names.index(name)])
        if not isinstance(declared, Instance) or not is_tensor(declared):
            return None
        size = get_proper_type(declared.args[index if index < 0 else 1 + index])
        return size.name if isinstance(size, TypeVarType) and not is_named(size) else None


def _ends(pattern: Shape) -> Iterator[int]:
    """The indices of a pattern's dims; those behind a variadic part count from the end."""
    yield from range(len(pattern.head))
    if pattern.rest is not None:
        yield from range(-len(pattern.tail), 0)
