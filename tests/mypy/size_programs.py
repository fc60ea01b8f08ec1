"""Random programs over tensors whose sizes are variables, and whether what mypy reveals is true of every size.

A program is a function that runs: each line is drawn, executed on ``meta`` with several sets of distinct primes for the
sizes, and kept if torch accepts it for all of them::

    def p0(x0: Tensor[Float32, B, T, C], x1: Tensor[Float32, B, C, D]) -> None:
        v0 = x0.flatten(1, 2)
        reveal_type(v0)
        v1 = x0 @ x1
        reveal_type(v1)

The revealed shape, with the primes put in, must be the shape that torch gave, and mypy must not complain.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import torch
import torch.nn.functional as F

from simpletorch.shapes import DimSyntaxError, Var, evaluate, parse_dim
from tests import warm

NAMES = ("B", "T", "C", "D", "H")
PRIMES = ((5, 7, 11, 13, 17), (19, 11, 5, 7, 23), (13, 29, 17, 11, 7))
"""Sizes for the names. What is accepted for all three holds for all sizes, but for some bad luck."""
MOST_ELEMENTS = 10**9
HEADER = f"""\
import torch
import torch.nn.functional as F

from simpletorch import Float32, Tensor
from simpletorch.dims import {", ".join(NAMES)}
"""

Shape = tuple[int, ...]


@dataclass
class Program:
    """Lines of one function, and for each variable its shape under each set of sizes."""

    parameters: dict[str, tuple[str, ...]]
    lines: list[tuple[str, str]] = field(default_factory=list)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The function as Python."""
        arguments = ", ".join(f"{x}: Tensor[Float32, {', '.join(dims)}]" for x, dims in self.parameters.items())
        body = [f"    {v} = {code}\n    reveal_type({v})  # {v}" for v, code in self.lines]
        return f"def {name}({arguments}) -> None:\n" + "\n".join(body) + "\n"


@dataclass(frozen=True)
class Finding:
    """What mypy said of one variable, beside the truth."""

    program: str
    variable: str
    code: str
    said: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.variable} = {self.code}: {self.said}\n{self.program}"


class Writer:
    """Draws the lines of one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.values: list[dict[str, torch.Tensor]] = [{} for _ in PRIMES]
        parameters: dict[str, tuple[str, ...]] = {}
        for i in range(random.randint(2, 3)):
            dims = tuple(random.choice(NAMES) for _ in range(random.choice((1, 2, 2, 3, 3, 4))))
            parameters[f"x{i}"] = dims
            for sizes, values in zip(PRIMES, self.values, strict=True):
                of = dict(zip(NAMES, sizes, strict=True))
                values[f"x{i}"] = torch.empty([of[d] for d in dims], device="meta")
        self.program = Program(parameters)

    def write(self, length: int) -> Program:
        """A program with this many operations."""
        attempts = 0
        while len(self.program.lines) < length and attempts < 50 * length:
            attempts += 1
            code = self._draw()
            if code is not None:
                self._try(f"v{len(self.program.lines)}", code)
        return self.program

    def _try(self, variable: str, code: str) -> None:
        results = []
        for values in self.values:
            try:
                found = eval(code, {"torch": torch, "F": F}, dict(values))
            except Exception:
                return  # torch refuses it for these sizes
            if not isinstance(found, torch.Tensor) or found.numel() > MOST_ELEMENTS or found.dim() > 6:
                return
            results.append(found)
        if len({r.dim() for r in results}) > 1:
            return
        for values, result in zip(self.values, results, strict=True):
            values[variable] = result
        self.program.lines.append((variable, code))
        self.program.shapes[variable] = tuple(tuple(r.shape) for r in results)

    def _draw(self) -> str | None:
        names = list(self.values[0])
        x = self.random.choice(names[-4:] if self.random.random() < 0.7 else names)
        template = self.random.choice(TEMPLATES)
        return template(self, x, self.values[0][x].dim())

    def other(self, accepts: Callable[[Shape], bool]) -> str | None:
        """A variable whose shape, for the first sizes, is right."""
        found = [n for n, v in self.values[0].items() if accepts(tuple(v.shape))]
        return self.random.choice(found) if found else None

    def dim(self, rank: int) -> int:
        """A dim number, negative at times."""
        d = self.random.randrange(rank)
        return d - rank if self.random.random() < 0.5 else d

    def shape(self, x: str) -> Shape:
        """The shape for the first sizes."""
        return tuple(self.values[0][x].shape)


Template = Callable[[Writer, str, int], "str | None"]


def _on_dim(code: str) -> Template:
    return lambda w, x, r: code.format(x=x, d=w.dim(r)) if r else None


def _on_two(code: str) -> Template:
    def write(w: Writer, x: str, r: int) -> str | None:
        if r < 2:
            return None
        i, j = sorted(w.random.sample(range(r), 2))
        return code.format(x=x, i=i, j=j, n=w.random.randint(2, 3))

    return write


def _plain(code: str, least: int = 0, most: int = 6) -> Template:
    return lambda w, x, r: code.format(x=x, n=w.random.randint(2, 7)) if least <= r <= most else None


def _binary(code: str) -> Template:
    def write(w: Writer, x: str, r: int) -> str | None:
        y = w.other(lambda s: _broadcasts(s, w.shape(x)))
        return None if y is None else code.format(x=x, y=y)

    return write


def _broadcasts(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def _matmul(w: Writer, x: str, r: int) -> str | None:
    y = w.other(lambda s: len(s) == 2 and r >= 1 and s[0] == w.shape(x)[-1])
    return f"{x} @ {x}.mT" if y is None and r >= 2 else None if y is None else f"{x} @ {y}"


def _cat(w: Writer, x: str, r: int) -> str | None:
    if not r:
        return None
    d = w.random.randrange(r)
    shape = w.shape(x)
    y = w.other(lambda s: len(s) == r and s[:d] + s[d + 1 :] == shape[:d] + shape[d + 1 :])
    return f"torch.cat([{x}, {y}], {d})"


def _stack(w: Writer, x: str, r: int) -> str | None:
    y = w.other(lambda s: s == w.shape(x))
    return f"torch.stack([{x}, {y}, {x}], {w.dim(r + 1)})"


def _permute(w: Writer, x: str, r: int) -> str | None:
    return f"{x}.permute({', '.join(map(str, w.random.sample(range(r), r)))})" if r else None


def _view(w: Writer, x: str, r: int) -> str | None:
    """Merge two dims by their sizes, as people write it."""
    if r < 2:
        return None
    i = w.random.randrange(r - 1)
    sizes = [f"{x}.shape[{k}]" for k in range(r)]
    merged = [*sizes[:i], w.random.choice((f"{sizes[i]} * {sizes[i + 1]}", "-1")), *sizes[i + 2 :]]
    return f"{x}.reshape({', '.join(merged)})"


def _split_dim(w: Writer, x: str, r: int) -> str | None:
    if not r:
        return None
    d, n = w.random.randrange(r), w.random.randint(2, 3)
    return f"torch.cat([{', '.join([x] * n)}], {d}).unflatten({d}, ({n}, -1))"


def _slice(w: Writer, x: str, r: int) -> str | None:
    if not r:
        return None
    items = [
        w.random.choice((":", ":", "1:", ":-1", "0", "-1", "::2", "1::3", "None", "2:-2", ":3"))
        for _ in range(w.random.randint(1, r))
    ]
    return f"{x}[{', '.join(items)}]"


def _sized(w: Writer, x: str, r: int) -> str | None:
    """A new tensor out of arithmetic of sizes."""
    if not r:
        return None
    y, k = w.other(lambda s: len(s) > 0), w.random.randint(2, 4)
    size = w.random.choice(
        (
            f"{x}.shape[0] * {k} + 1",
            f"{x}.shape[-1] // {k}",
            f"({x}.shape[0] + {k} - 1) // {k}",
            f"{x}.shape[0] + {y}.shape[0]",
            f"{x}.shape[0] * {y}.shape[-1]",
            f"max({x}.shape[0], {y}.shape[0])",
            f"min({x}.shape[-1], {y}.shape[0])",
            f"{x}.numel()",
            f"{x}.size(0) % {k} + 1",
            f"2 * {x}.shape[0] - 1",
        )
    )
    return w.random.choice((f"torch.zeros({size}, {k})", f"torch.arange({size}).float()"))


def _linear(w: Writer, x: str, r: int) -> str | None:
    return f"F.linear({x}, torch.zeros({w.random.randint(2, 9)}, {x}.shape[-1]))" if r else None


def _convolution(w: Writer, x: str, r: int) -> str | None:
    if r not in (3, 4):
        return None
    k, s, p, dilation = (w.random.randint(*span) for span in ((1, 3), (1, 3), (0, 2), (1, 2)))
    kernel = ", ".join([str(k)] * (r - 2))
    weight = f"torch.zeros({w.random.randint(2, 9)}, {x}.shape[1], {kernel})"
    return f"F.conv{r - 2}d({x}, {weight}, stride={s}, padding={p}, dilation={dilation})"


def _transposed(w: Writer, x: str, r: int) -> str | None:
    if r not in (3, 4):
        return None
    k, s = w.random.randint(1, 3), w.random.randint(1, 3)
    kernel = ", ".join([str(k)] * (r - 2))
    return f"F.conv_transpose{r - 2}d({x}, torch.zeros({x}.shape[1], 3, {kernel}), stride={s})"


def _pool(w: Writer, x: str, r: int) -> str | None:
    if r not in (3, 4):
        return None
    kind, k = w.random.choice(("max", "avg")), w.random.randint(2, 3)
    return f"F.{kind}_pool{r - 2}d({x}, {k}, stride={w.random.randint(1, 3)}, padding={w.random.randint(0, 1)})"


def _einsum(w: Writer, x: str, r: int) -> str | None:
    if not r:
        return None
    letters = "abcdef"[:r]
    kept = "".join(w.random.sample(letters, w.random.randint(0, r)))
    return f'torch.einsum("{letters}->{kept}", {x})'


def _expand(w: Writer, x: str, r: int) -> str | None:
    y = w.other(lambda s: len(s) > 0)
    return None if y is None else f"{x}.expand({y}.shape[0], {', '.join(['-1'] * r)})" if r else None


TEMPLATES: Sequence[Template] = (
    _on_two("{x}.transpose({i}, {j})"),
    _on_two("{x}.flatten({i}, {j})"),
    _on_two("{x}.movedim({i}, {j})"),
    _on_two("{x}.diagonal(0, {i}, {j})"),
    _on_two("{x}.sum(({i}, {j}))"),
    _on_dim("{x}.unsqueeze({d})"),
    _on_dim("{x}.sum({d})"),
    _on_dim("{x}.mean({d}, keepdim=True)"),
    _on_dim("{x}.max(dim={d}).values"),
    _on_dim("{x}.argmin({d}).float()"),
    _on_dim("{x}.topk(2, dim={d}).values"),
    _on_dim("{x}.cumsum({d})"),
    _on_dim("F.softmax({x}, dim={d})"),
    _on_dim("{x}.repeat_interleave(3, {d})"),
    _on_dim("{x}.roll(1, {d})"),
    _on_dim("{x}.chunk(2, {d})[0]"),
    _on_dim("{x}.split(2, {d})[0]"),
    _on_dim("{x}.unbind({d})[1]"),
    _on_dim("{x}.narrow({d}, 1, 2)"),
    _on_dim("{x}.select({d}, 1)"),
    _on_dim("torch.diff({x}, dim={d})"),
    _plain("{x}.reshape(-1)"),
    _plain("{x} * {n}"),
    _plain("{x}[None]"),
    _plain("{x}.repeat({n}, 2)", 1, 2),
    _plain("{x}.mT", 2),
    _plain("F.pad({x}, (1, {n}))", 1),
    _plain("F.pad({x}, (0, 1, 2, {n}))", 2),
    _plain("torch.outer({x}, {x})", 1, 1),
    _plain("torch.kron({x}, {x})", 1, 2),
    _plain("{x}.tril()", 2),
    _plain("F.layer_norm({x}, ({x}.shape[-1],))", 1),
    _plain("torch.cdist({x}, {x})", 2, 3),
    _plain("F.interpolate({x}, scale_factor=2)", 3, 4),
    _plain("F.unfold({x}, 3)", 4, 4),
    _plain("F.glu(torch.cat([{x}, {x}], -1))", 1),
    _plain("torch.zeros_like({x})"),
    _plain("{x}.T.unflatten(0, (-1, 1))", 2, 2),
    _plain("{x}.view({x}.shape)"),
    _binary("{x} + {y}"),
    _binary("torch.maximum({x}, {y})"),
    _binary("torch.where({x} > 0, {x}, {y})"),
    _matmul, _cat, _stack, _permute, _view, _split_dim, _slice, _sized, _linear, _convolution, _transposed, _pool,
    _einsum, _expand,
)  # fmt: skip


def programs(count: int, seed: int) -> list[Program]:
    """Random programs of 5 to 15 operations."""
    random = Random(seed)
    found: list[Program] = []
    while len(found) < count:
        program = Writer(random).write(random.randint(5, 15))
        if len(program.lines) >= 5:
            found.append(program)
    return found


def examine(written: Sequence[Program], folder: Path) -> list[Finding]:
    """What mypy with the plugin says of every variable, in one run."""
    path = folder / "symbolic.py"
    texts = [p.text(f"p{i}") for i, p in enumerate(written)]
    path.write_text(HEADER + "\n\n" + "\n\n".join(texts))
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(folder), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    assert "INTERNAL" not in done.stdout + done.stderr, done.stdout[-3000:] + done.stderr[-3000:]
    assert not done.stderr, done.stderr[-3000:]
    said = _by_line(done.stdout)
    return list(_findings(path.read_text().splitlines(), said, written, texts))


_MESSAGE = re.compile(r"^[^:]+:(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")


def _by_line(output: str) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    for line in output.splitlines():
        if match := _MESSAGE.match(line):
            found.setdefault(int(match["line"]), []).append((match["kind"], match["text"]))
    return found


def _findings(
    lines: Sequence[str], said: dict[int, list[tuple[str, str]]], written: Sequence[Program], texts: Sequence[str]
) -> Iterator[Finding]:
    at = -1
    for number, line in enumerate(lines, 1):
        if line.startswith("def p"):
            at += 1
        reveal = re.match(r"    reveal_type\((v\d+)\)", line)
        if reveal is None:
            continue
        variable = reveal[1]
        code = dict(written[at].lines)[variable]
        errors = [text for n in (number - 1, number) for kind, text in said.get(n, ()) if kind == "error"]
        notes = [text for kind, text in said.get(number, ()) if text.startswith("Revealed type is")]
        assert notes or errors, f"mypy said nothing of {line}"
        if errors:
            yield Finding(texts[at], variable, code, errors[0], "false error")
        else:
            yield Finding(texts[at], variable, code, notes[0], _judge(notes[0], written[at].shapes[variable]))


def _judge(note: str, truth: Sequence[Shape]) -> str:
    """exact, partial, unknown or wrong."""
    match = re.search(r'"Tensor(?:\[(\w+)(?:, (.*))?\])?"$', note)
    if match is None:
        return "unreadable"
    if match[1] is None:
        return "unknown"
    items = _split(match[2] or "")
    if "..." in items:
        return "unknown" if len(items) == 1 else "partial"
    verdict = "exact"
    for sizes, shape in zip(PRIMES, truth, strict=True):
        if len(items) != len(shape):
            return "wrong"
        of = {Var(name): size for name, size in zip(NAMES, sizes, strict=True)}
        for item, size in zip(items, shape, strict=True):
            if item == "Any":
                verdict = "partial"
                continue
            try:
                number = evaluate(parse_dim(item), of)
            except DimSyntaxError:
                return "unreadable"
            if number != size:
                return "wrong"
    return verdict


def _split(text: str) -> list[str]:
    """``"B, min(T, 3)"`` at the commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [p.strip() for p in parts if p.strip()]
