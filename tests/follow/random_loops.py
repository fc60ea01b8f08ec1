"""Random loops whose tensors, numbers and lists get longer: what the follower says of them is what Python gives."""

from __future__ import annotations

import random
from textwrap import indent

__all__ = ["program"]

_SIZES = ["i", "n", "2", "3", "x.shape[1]", "y.shape[0]", "len(rows)", "i % 3 + 1", "min(n, 20)", "max(i, 9)"]
_STATEMENTS = [
    "x = torch.cat([x, x[:, :1]], dim=1)",
    "x = torch.cat([x, torch.zeros(x.shape[0], {few})], dim=1)",
    "x = torch.cat([x, torch.zeros({few}, x.shape[1])])",
    "x = x[:, 1:] if x.shape[1] > 3 else x",
    "x = x[:, 1:] * 1 if x.shape[1] > 3 else x",
    "x = x[:, -{many}:]",
    "x = x[:{many}]",
    "x = step(x)",
    "x += 1",
    "x = x.T.reshape(x.shape) + 0",
    "y = torch.zeros({size}, {size})",
    "y = torch.cat([y, y[:{few}]])",
    "y = y.t()",
    "y = y[1:].clone()",
    "x, y = y, x",
    "z = x",
    "x = z.clone()",
    "n += {few}",
    "n = {size}",
    "n = n + i",
    "n = len(rows[-{many}:])",
    "rows.append(torch.zeros({size}, 2))",
    "rows.append(x)",
    "rows = rows + [y]",
    "rows[0] = torch.cat([rows[0], rows[0][:1]])",
    "held = {{'shape': x.shape, 'rows': [y, z]}}",
    "counts.append(int(x.sum()))",
    "p = torch.tensor(counts[-{many}:])",
    "d['a'] = torch.cat([d['a'], d['a'][:1]])",
    "d = {{'a': d['a'], 'b': (x, n)}}",
    "h.t = torch.cat([h.t, x.flatten()[:1]])",
    "h.n += n",
    "p = torch.arange(x.shape[1])[:3]",
    "p = torch.zeros(x[:, {many}:{many}].shape[1])",
    "p = x[:, i : i + 3]",
    "p = x[:, -2:]",
    "p = y[n % y.shape[0]] if len(y) else y",
    "p = torch.zeros(max(y.shape[0] - {many}, 0))",
]
_CONDITIONS = [
    *("i > 12", "i == 17", "i % 5 == 2", "n < {many}", "len(rows) > {many}", "x.shape[1] > {many}"),
    *("x.shape[1] == {many}", "x.shape[0] <= y.shape[0]", "x.shape[1] % 2", "y.dim() == 2"),
]
_ROUNDS = [
    *("for i in range({rounds})", "for i in range(3, {rounds} + 3)", "for i in range({rounds}, 0, -1)"),
    *("for i in range(0, 2 * {rounds}, 2)", "for i, q in enumerate([x] * {rounds})"),
    *("for i, _ in zip(range({rounds}), range(50))", "while i < {rounds}"),
]
_START = """import torch
class Held:
    pass
h = Held()
h.t, h.n = torch.zeros(3), 5
x, y, z = torch.zeros({few}, 5), torch.zeros({few}, 7), torch.zeros(5, 7)
i, n, rows, d = 0, {few}, [torch.zeros(3, 2)], dict(a=torch.zeros(2))
counts = [1, 2, 3]
def step(x, k=1):
    q = torch.cat([x, x[:, :k]], dim=1)
    return q[:, 1:] if k == 9 else q
"""


def program(seed: int) -> str:
    """A program with one loop. A few raise."""
    chance = random.Random(seed)
    body = "".join(_statement(chance, 0) for _ in range(chance.randrange(2, 7)))
    body += "".join(f"u{i} = {i}\n" for i in range(chance.choice([0, 0, 8])))  # only long rounds are skipped
    head = _fill(chance, chance.choice(_ROUNDS))
    body += "i += 1\n" if head.startswith("while") else ""
    return f"{_fill(chance, _START)}{head}:\n{indent(body, '    ')}del h, step, Held\n"


def _statement(chance: random.Random, depth: int) -> str:
    if depth < 2 and chance.random() < 0.2:
        inner = "".join(_statement(chance, depth + 1) for _ in range(chance.randrange(1, 3)))
        made = f"if {_fill(chance, chance.choice(_CONDITIONS))}:\n{indent(inner, '    ')}"
        if chance.random() < 0.3:
            made += f"else:\n{indent(_statement(chance, depth + 1), '    ')}"
        return made
    return _fill(chance, chance.choice(_STATEMENTS)) + "\n"


def _fill(chance: random.Random, text: str) -> str:
    few, many, size = chance.randrange(1, 6), chance.randrange(2, 40), chance.choice(_SIZES)
    return text.format(few=few, many=many, size=size, rounds=chance.randrange(17, 60))
