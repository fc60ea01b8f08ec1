"""Random programs for `differential`: what Python's control flow and objects do to tensors, from a seed.

    python benchmarks/follow/random_programs.py 7      # shows the program of seed 7

Each is some sixty statements, ends in milliseconds, and raises nothing outside of ``try``: the operations on tensors
are those that hold for every shape, and ``small`` keeps them small. What varies is the way there: known and unknown
conditions, loops, aliases, objects, containers, closures, generators, exceptions, inheritance. What all of them begin
with is `random_prelude`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from corpus import Program

PRIMES = (2, 3, 5, 7, 11, 13)
DTYPES = ("float32", "float64", "int64", "int32", "bool")
TENSORS = ("a", "b", "c", "d")
INTS = ("i", "j", "k")

PRELUDE = Path(__file__).with_name("random_prelude.py").read_text()


class Writer:
    """Writes one program; every choice comes from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.outer = "nonlocal" if seed % 2 else "global"  # how a function inside gets at the variables
        self.lines: list[str] = []
        self.depth = 1
        self.left = 60
        self.loops = 0

    def write(self, *lines: str) -> None:
        """Lines at the present depth."""
        self.lines += ["    " * self.depth + line for line in lines]
        self.left -= len(lines)

    def block(self, header: str, statements: int | None = None) -> None:
        """A header with a few statements under it."""
        self.write(header)
        self.depth += 1
        for _ in range(statements or self.random.randint(1, 3)):
            self.statement()
        self.depth -= 1

    def statement(self) -> None:
        """A statement, or several that belong together."""
        deep = self.depth > 3 or self.left < 4
        self.random.choice(SIMPLE if deep else SIMPLE + NESTED)(self)

    def t(self) -> str:
        """The name of a tensor."""
        return self.random.choice(TENSORS)

    def n(self) -> str:
        """The name of an int."""
        return self.random.choice(INTS)

    def box(self) -> str:
        """The name of a box."""
        return self.random.choice("pq")

    def shape(self) -> str:
        """The sizes of a new tensor."""
        return ", ".join(map(str, self.random.sample(PRIMES, self.random.randint(1, 3))))

    def value(self) -> str:
        """An expression that is a tensor, whatever the shapes of its parts."""
        t, u, n = self.t(), self.t(), self.n()
        return self.random.choice(
            (
                f"torch.zeros({self.shape()}, dtype=torch.{self.random.choice(DTYPES)})",
                *(f"{t}.{w}" for w in ("flatten()", "transpose(0, -1)", "double()", "long()", "sum(-1)")),
                f"small({t}.unsqueeze({self.random.choice((0, -1))}))",
                f"small({t}[None])",
                f"small({t}[..., None])",
                f"{t} * 2",
                f"{t} > 0",
                f"small(torch.cat([{t}.flatten(), {u}.flatten()]))",
                f"torch.ones({n} + 1, 3)",
                f"torch.zeros_like({t})",
                f"{t}.new_zeros({n} + 2)",
                f"{t}.flatten()[{n}:]",
                f"{t} if {self.condition()} else {u}",
                f"longer({t}, {self.random.randint(1, 3)})",
                f"longer({t}, 2, {u}, scale=3)",
                f"longer({t}, **{{'up': 0}})",
                f"{self.box()}({t})",
                f"{self.box()}.t",
                f"xs[-1] if xs else {t}",
                f"table.get('k{self.random.randint(0, 2)}', {t})",
                f"max(xs, key=lambda x: x.numel(), default={t})",
                f"kept({t})",
                f"deep({t}, {n} % 4)",
                f"g.{self.random.choice(('t', 'half', 'flat', 'flatter'))}",
                f"small(torch.cat([x.flatten().float() for x in (t for t in xs if t.ndim < 3)] + [{t}.flatten()]))",
                f"[{t} for {t} in [{u}, {u}.flatten()]][-1]",
                f"next((x for x in xs if x.ndim == {self.random.randint(1, 2)}), {t})",
                f"{t}[..., :1].transpose(0, -1) if {t}.ndim else {t}",
                f"(lambda x, y={u}: small(torch.cat([x.flatten(), y.flatten()])))({t})",
            )
        )

    def number(self) -> str:
        """An expression that is a small int."""
        t, n, m = self.t(), self.n(), self.n()
        return self.random.choice(
            (
                f"len(xs) + {self.random.randint(0, 2)}",
                f"({n} * 3 + {m}) % 7",
                f"{t}.ndim",
                f"{t}.shape[0] % 7 if {t}.ndim else {n}",
                "sum(x.ndim for x in xs) % 5",
                f"{self.box()}.count % 6",
                f"len({self.box()}) % 4",
                f"{self.box()}.size % 5",
                "calls % 5",
                f"min({n}, {m})",
                f"int({n} > {m}) + 1",
                f"len([x for x in xs if x.ndim > {n}])",
                "g.changes % 6",
                "len(table)",
                f"sum(1 for _ in halving({t})) % 5",
                f"max((x.ndim for x in table.values()), default={m})",
                "total % 7",
            )
        )

    def condition(self) -> str:
        """A condition: some can be known without running, some can't."""
        return self.random.choice(
            (
                f"{self.n()} > {self.random.randint(0, 4)}",
                f"{self.t()}.ndim == {self.random.randint(1, 2)}",
                f"{self.t()}.shape == {self.t()}.shape",
                "len(xs) > 2 and xs",
                f"isinstance({self.box()}, Tall)",
                "p is q",
                f"{self.t()}.dtype == torch.float32",
                "random.random() > 0.5",
                f"'k{self.random.randint(0, 2)}' in table",
                f"g == Guarded({self.t()})",
                f"not xs or {self.t()}.numel() > {self.random.choice((3, 20, 70))}",
                f"hasattr(p, 'kept') and {self.n()} > 1",
                "torch.tensor(random.random()).item() > 0.5",
                "torch.tensor(random.random()) > 0.5",
            )
        )

    def risky(self) -> str:
        """An expression that raises for some shapes."""
        t, u = self.t(), self.t()
        return self.random.choice(
            (
                f"checked({t}, {self.random.randint(1, 3)})",
                f"table['k{self.random.randint(0, 2)}']",
                "g.missing",
                f"{t}[{self.n()}, 0]",
                f"{t}.expand(2, 3, 5)",
                f"torch.stack([{t}, {u}])",
                f"{t} + {u}",
                f"{t} @ {u}",
                f"torch.cat([{t}[None], {u}[None]], 1)",
                f"{t}.view(-1, 7)",
                f"xs[{self.n()}]",
                f"{t}[3]",
            )
        )


def assign(w: Writer) -> None:
    """``t = …``, in one of the ways to write it."""
    form = w.random.choice(("{0} = {2}", "{0} = {2}", "{0} = {1} = {2}", "{0}, {1} = {2}, {3}", "{0}, {1} = {1}, {0}"))
    w.write(form.format(*w.random.sample(TENSORS, 2), w.value(), w.value()))


def count(w: Writer) -> None:
    """``n = …``."""
    w.write(f"{w.n()} = {w.number()}")


def in_place(w: Writer) -> None:
    """A tensor changed where it is, perhaps under two names."""
    one, other = w.random.sample(TENSORS, 2)
    change = w.random.choice(
        ("unsqueeze_(0)", "transpose_(0, -1)", "squeeze_()", "zero_()", "resize_(3, 5)", "t_() if {0}.ndim < 3 else 0")
    ).format(other)
    w.write(f"{one} = {one}.clone()", f"{other} = {one}", f"{other}.{change}", f"{one} = small({one})")
    w.write(f"{other} = small({other})")


def augment(w: Writer) -> None:
    """``+=`` and its like: of what other names stand for too, and of what they make anew."""
    one, other = w.random.sample(TENSORS, 2)
    n = w.n()
    w.write(
        *w.random.choice(
            (
                (f"{one} = {other} = {other}.double() + 0", f"{one} += 1", f"{one} = {one}.flatten()"),
                (f"xs = [*xs, {one}]", "xs[-1] = xs[-1].long() + 0", "xs[-1] *= 2", f"{other} = xs[-1]"),
                (f"table['k1'] = {one}.double() + 0", "table['k1'] -= 1", f"{other} = table['k1']"),
                (f"{n} += 1", f"{n} %= 5"),
                ("total += 1",),
                (f"p.t = {one}.double() + 0", "p.t *= 2", f"{other} = p.t"),
                (f"pair = ({one}, {other})", "pair += (pair[0],)", f"{one} = pair[2]"),
                (f"{one} = {other}.flatten()", f"{other} = {one}[1:]", f"{other} = {other}[:2]"),
                ("ys = [xs, xs]", f"ys[0].append({one})", f"{n} = len(ys[1]) % 6"),
                ("ys = xs[:]", f"ys.append({one})", f"{n} = len(xs) % 6"),
                ("tables = {'a': table}", f"tables['a']['k2'] = {one}", f"{other} = table['k2']"),
            )
        )
    )


def deletion(w: Writer) -> None:
    """``del``, of what is made again."""
    t, n = w.t(), w.n()
    w.write(
        *w.random.choice(
            (
                (f"other = {t}", f"del {t}", f"{t} = other.flatten()"),
                ("if xs:", "    del xs[0]"),
                ("table.pop('k2', None)", f"table['k2'] = {t}", f"{n} = len(table)", "del table['k2']"),
                ("del xs[2:]",),
                ("if 'k1' in table:", "    del table['k1']"),
            )
        )
    )


def guarded(w: Writer) -> None:
    """An object whose class has a say in what is set and read."""
    t, u, n = w.t(), w.t(), w.n()
    w.write(
        *w.random.choice(
            (
                (f"g = Guarded({t})",),
                (f"g.t = {t}", f"{u} = g.t", f"{n} = g.changes % 7"),
                (f"g.half = {t}", f"{u} = g.half"),
                ("first, second = g", f"{t} = second"),
                ("other = g", f"other.t = {t}", f"{u} = g.flat"),
            )
        )
    )


def matched(w: Writer) -> None:
    """``match``, of a shape, a tuple or an object."""
    t, n = w.t(), w.n()
    kind = w.random.randint(0, 2)
    if kind == 0:
        w.write(f"match tuple({t}.shape):")
        cases = ["case (size,):", "case (_, size):", "case (3, *sizes):", "case _:"]
    elif kind == 1:
        w.write(f"match p if {w.condition()} else {n}:")
        cases = ["case Tall():", "case Box():", "case 0 | 1:", f"case int() if {w.condition()}:", "case _:"]
    else:
        w.write(f"match ({n} % 3, {t}):")
        cases = [f"case (0, {w.t()}):", "case (1, _):", "case _:"]
    w.depth += 1
    for case in cases:
        w.block(case, 1)
    w.depth -= 1


def container(w: Writer) -> None:
    """A list or dict that grows, shrinks, or is another's alias."""
    key = f"'k{w.random.randint(0, 2)}'"
    w.write(
        *w.random.choice(
            (
                (f"xs.append({w.t()})",),
                ("ys = xs", f"ys += [{w.t()}]"),
                (f"ys = [*xs, {w.t()}]", "ys.pop()", f"{w.n()} = len(ys) % 5"),
                (f"{w.t()} = xs.pop() if xs else {w.value()}",),
                ("xs = [small(x[None]) for x in xs if x.ndim < 3][:4]",),
                (f"table[{key}] = {w.value()}",),
                (f"table[f'k{{{w.n()} % 3}}'] = {w.value()}",),
                ("table = {name: x.flatten() for name, x in table.items()}",),
                (f"{w.t()} = table.pop({key}, {w.t()})",),
                (f"table.setdefault({key}, {w.t()})", f"{w.t()} = table[{key}]"),
                (f"xs[:1] = [{w.t()}, {w.value()}]", "xs = xs[-3:]"),
                (f"first, *others = [{w.t()}, *xs]", f"{w.t()} = first", f"{w.n()} = len(others) % 6"),
                ("xs = sorted(xs, key=lambda x: x.numel())[:3]",),
            )
        )
    )


def objects(w: Writer) -> None:
    """An object made, changed, or given a second name."""
    one, other = w.random.sample("pq", 2)
    w.write(
        *w.random.choice(
            (
                (f"{one} = {w.random.choice(('Box', 'Tall'))}({w.t()}, {w.t()})",),
                (f"{one} = {w.random.choice(('Box', 'Tall'))}.of({w.n()} + 1)",),
                (f"{one} = {other}", f"{other}.t = {w.value()}", f"{w.t()} = {one}.t"),
                (f"{one}.push({w.t()}).push({w.t()})", f"{w.t()} = {one}.t"),
                (f"{one}.t = {w.value()}",),
                (f"setattr({one}, 't', {w.value()})", f"{w.t()} = getattr({one}, 't')"),
                (f"{one}.count += {w.n()}", f"{w.n()} = {one}.count % 7"),
                (f"{w.t()} = {one}[0] if len({one}) else {w.t()}",),
                (f"a, b = {one}.pair({w.t()})",),
                (f"{one}.rest = xs", f"xs = list({one}.rest)"),
            )
        )
    )


def closure(w: Writer) -> None:
    """A closure with a state."""
    w.write(f"add, now = counter({w.t()})", f"{w.n()} = add() + add({w.t()})", "add()", f"{w.t()} = now()")


def branch(w: Writer) -> None:
    """``if``, perhaps with ``elif`` and ``else``."""
    w.block(f"if {w.condition()}:")
    if w.random.random() < 0.3:
        w.block(f"elif {w.condition()}:")
    if w.random.random() < 0.6:
        w.block("else:")


def loop(w: Writer) -> None:
    """A ``for`` over a range, a list, a dict or a generator."""
    t = w.t()
    w.block(
        w.random.choice(
            (
                f"for {w.n()} in range({w.random.randint(0, 3)}):",
                f"for {w.n()} in range({w.n()} % 3):",
                f"for {t} in list(xs)[:3]:",
                f"for {w.n()}, {t} in enumerate([{w.t()}, {w.t()}]):",
                f"for name, {t} in list(table.items()):",
                f"for {w.n()}, {t} in growing({w.t()}, {w.random.randint(1, 3)}):",
                f"for {w.n()}, {t} in both({w.t()}, {w.random.randint(0, 2)}):",
                f"for {t} in halving({w.t()}):",
                f"for {w.n()}, {t} in zip(range(3), halving({w.t()})):",
                "for other in g:",
                f"for name in [k for k in table if k != 'k{w.random.randint(0, 2)}']:",
                f"for {w.n()} in reversed(range({w.random.randint(0, 3)})):",
                f"for {w.n()} in range(3 if {w.condition()} else 1):",
                f"for {t}, {w.random.choice([u for u in TENSORS if u != t])} in zip(xs[:], xs[1:]):",
            )
        )
    )
    w.depth += 1
    leave(w)
    w.depth -= 1
    if w.random.random() < 0.2:
        w.block("else:", 1)


def leave(w: Writer) -> None:
    """``break`` or ``continue`` in a loop, perhaps out of a ``try``, perhaps under conditions."""
    if w.random.random() < 0.3:
        w.write(f"if {w.condition()}:", f"    {w.random.choice(('break', 'continue'))}", f"{w.t()} = {w.value()}")
    if w.random.random() < 0.15:
        w.write("try:", f"    {w.t()} = small({w.risky()})", f"    if {w.condition()}:")
        w.write(f"        {w.random.choice(('break', 'continue', 'raise RuntimeError'))}")
        w.write("except (RuntimeError, LookupError):", f"    {w.random.choice(('break', 'continue', 'pass'))}")
        w.write("except (ValueError, AttributeError):", f"    {w.t()} = {w.value()}")
        w.block("finally:", 1)


def while_loop(w: Writer) -> None:
    """A ``while`` that counts, or ends by chance."""
    w.loops += 1
    turns = f"turns{w.loops}"
    w.write(f"{turns} = 0")
    kind = w.random.random()
    most = w.random.randint(1, 4)
    if kind < 0.6:
        w.write(f"while {turns} < {most}:")
    elif kind < 0.8:
        w.write(f"while {turns} < {min(most, 2)} and random.random() > 0.5:")
    else:
        w.write("while True:")
    w.depth += 1
    w.write(f"{turns} += 1")
    if kind >= 0.8:
        w.write(f"if {turns} >= {min(most, 3)} or {w.condition()}:", "    break")
    w.statement()
    w.statement()
    leave(w)
    w.depth -= 1
    if w.random.random() < 0.2:
        w.block("else:", 1)


def state(w: Writer) -> None:
    """A function that changes what is around it."""
    t, n = w.t(), w.n()
    w.loops += 1
    name = f"change{w.loops}"
    w.write(f"def {name}(x):")
    w.depth += 1
    w.write(f"{w.outer} {t}, {n}", f"{t} = small(x[None])", f"{n} = ({n} + 1) % 5", f"return {n}")
    w.depth -= 1
    w.write(f"{w.n()} = {name}({w.t()})", f"{w.n()} = {name}({t})")


def attempt(w: Writer) -> None:
    """``try`` with what may raise, and what is then done."""
    w.write("try:", f"    {w.t()} = {w.value()}", f"    {w.t()} = small({w.risky()})")
    if w.random.random() < 0.3:
        w.write(f"    if {w.condition()}:", "        raise ValueError('no')")
    if w.random.random() < 0.6:
        w.block("except (RuntimeError, LookupError, ValueError, AttributeError):")
    else:
        w.write("except (RuntimeError, ValueError) as error:", f"    {w.n()} = isinstance(error, Unfit) + 1")
        w.depth += 1
        w.statement()
        w.depth -= 1
        w.block("except LookupError:", 1)
        w.block("except Exception:", 1)
    if w.random.random() < 0.3:
        w.block("else:")
    if w.random.random() < 0.3:
        w.block("finally:", 1)


def context(w: Writer) -> None:
    """A ``with`` that puts back what was there, and swallows an error."""
    w.block(f"with Tall({w.t()}) as p:")
    if w.random.random() < 0.4:
        w.write("    raise ValueError")


def function(w: Writer) -> None:
    """A function defined on the way, called at once and once more."""
    t, default = w.t(), w.t()
    w.loops += 1
    name = f"helper{w.loops}"
    w.write(f"def {name}({t}, other={default}, n={w.random.randint(0, 3)}):")
    w.depth += 1
    w.write(f"if {t}.ndim > n:", "    return other", f"other = {t}.flatten()", "return small(other.unsqueeze(n % 2))")
    w.depth -= 1
    w.write(f"{w.t()} = {name}({w.t()})", f"{w.t()} = {name}({w.t()}, n={w.n()})")


Kinds = Sequence[Callable[[Writer], None]]
SIMPLE: Kinds = (
    *(assign, assign, assign, count, in_place, augment, augment, container, container),
    *(objects, closure, deletion, guarded),
)
NESTED: Kinds = (
    *(branch, branch, branch, loop, loop, loop, while_loop, while_loop, attempt, attempt, attempt),
    *(context, function, state, matched),
)


def program(seed: int) -> Program:
    """The program of a seed."""
    w = Writer(seed)
    start = [f"{t} = torch.zeros({w.shape()}, dtype=torch.{w.random.choice(DTYPES)})" for t in TENSORS]
    w.write("import random", "total = 0")
    w.write(*start, *(f"{n} = {w.random.randint(0, 5)}" for n in INTS))
    w.write(f"xs, table = [{w.t()}], {{'k0': {w.t()}}}", f"p, q = Box({w.t()}, {w.t()}), Tall({w.t()})")
    w.write(f"g = Guarded({w.t()})")
    w.left = 60
    while w.left > 0:
        w.statement()
    body = "\n".join(w.lines)
    if seed % 2:
        text = f"def main():\n{body}\n\n\nif __name__ == '__main__':\n    main()\n"
    else:
        text = f"if __name__ == '__main__':\n{body}\n"
    return Program(f"random_{seed}", f"random_{seed}.py", {f"random_{seed}.py": f"{PRELUDE}\n\n{text}"})


def main() -> None:
    """Show a program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seed", type=int)
    shown = program(parser.parse_args().seed)
    print(shown.files[shown.main])


if __name__ == "__main__":
    main()
