"""Programs by the sections of Python's reference: templates with variations, a few of them in one program.

A template stands in ``sections/`` under a line that begins with ``# ==``. The lines behind it name what varies:
``# NAME: one || other`` stands for ``<NAME>`` in the code. The code gives ``n``, which is the size of a tensor.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import indent

__all__ = ["Case", "cases", "program"]

FOLDER = Path(__file__).parent / "sections"


@dataclass(frozen=True)
class Case:
    """One variation of a template."""

    title: str
    source: str

    def function(self, number: int) -> str:
        """The code as a function, with a call that makes a tensor of its number."""
        body = indent(self.source, "        ")
        inside = f"    try:\n{body}\n    except Exception as last:\n        n += 7000 + len(type(last).__name__)\n"
        name = f"case_{number}"
        return f"def {name}():\n    n = 0\n{inside}    return n\n\n\nt{number} = torch.zeros({name}() % 9973 + 2, 3)\n"


@cache
def cases(section: str) -> tuple[Case, ...]:
    """All variations of all templates of a section; what isn't Python is left out."""
    return tuple(case for part in _parts(section) for case in _variations(part))


def _parts(section: str) -> list[str]:
    return ("\n" + (FOLDER / f"{section}.txt").read_text()).split("\n# == ")[1:]


def _variations(part: str) -> Iterator[Case]:
    title, *lines = part.splitlines()
    heads = list(itertools.takewhile(lambda line: line.startswith("# "), lines))
    names = [h[2:].split(":")[0] for h in heads]
    options = [h.split(":", 1)[1].split(" || ") for h in heads]
    code = "\n".join(lines[len(heads) :])
    for number, chosen in enumerate(itertools.product(*options)):
        source = code
        for name, option in zip(names, chosen, strict=True):
            source = source.replace(f"<{name}>", option.strip())
        case = Case(f"{title}, {number}", source)
        if _is_python(case.function(0)):
            yield case


def _is_python(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(ast.parse(source), "<case>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def program(chosen: tuple[Case, ...] | list[Case]) -> str:
    """A program of several cases."""
    return "import torch\n\n" + "\n".join(case.function(i) for i, case in enumerate(chosen))
