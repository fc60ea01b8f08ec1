"""A cell followed from the values that are alive: nothing is run, and nothing of the notebook's changes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from simpletorch.follow import Finding, Followed
from simpletorch.follow.budget import Budget, collecting_rarely
from simpletorch.follow.followed import follow_from
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.cells import read
from simpletorch.follow.values import Namespace
from simpletorch.notebook.live import Live, LiveProgram
from simpletorch.rules.core.codes import CODES, Severity

__all__ = ["Seen", "begin", "follow_cell", "nothing_called", "place_in", "read_tables"]

_STEPS: Final = 20_000
_SECONDS: Final = 0.3  # of CPU, for cells that are unlike those that people write


@final
@dataclass(frozen=True)
class Seen:
    """The result of following a cell.

    Args:
        followed: all of it.
        name: what the cell is called in it.
        text: its Python.
        stops: the error that it surely ends with; None where there is none for sure.
    """

    followed: Followed
    name: str
    text: str
    stops: Finding | None = None


def follow_cell(
    source: str,
    namespace: dict[str, Any],
    name: str,
    names: Callable[[str], str] = str,
    severities: Mapping[str, Severity] | None = None,
) -> Seen | None:
    """Follow a cell; None if it is no Python.

    Args:
        source: its text.
        namespace: the variables of the notebook.
        name: what the cell is called in reports: ``"Cell In[3]"``.
        names: the same for the names that Python has for files and earlier cells.
        severities: of codes that shall have another one than by themselves.
    """
    cell = read(source)
    try:
        tree = ast.parse(cell.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    with collecting_rarely(), texts.instead({name: cell.text}), nothing_called():
        run, live = begin(namespace, names, cell.text)
        chosen = {code.name: code.severity for code in CODES.values()} | dict(severities or {})
        scope = live.scope(namespace, name)
        run.program.modules[LiveProgram.main] = Namespace(LiveProgram.main, scope.cells)
        found = follow_from(run, tree, scope, chosen, whole=False)
    return Seen(found, name, cell.text, _stops(found, name, cell.strange))


@contextmanager
def nothing_called() -> Iterator[None]:
    """Within, torch answers questions about tensors by itself: no mode of the user's is asked."""
    if "torch" not in sys.modules:
        yield
        return
    import torch

    # no public name: `torch.overrides` only has the way in for subclasses
    with torch._C.DisableTorchFunction():
        yield


def begin(namespace: dict[str, Any], names: Callable[[str], str] = str, text: str = "") -> tuple[Interpreter, Live]:
    """An interpreter that goes on from live values, for a cell with this text."""
    live = Live(namespace, names)
    program = LiveProgram(Path.cwd(), live.value)
    program.text, program.files = text, live.files
    run = live.run = Interpreter(program, _STEPS, Budget(_SECONDS))
    if "torch" in sys.modules:
        from simpletorch.notebook.live.tensors import prepare

        prepare(live)
    return run, live


def _stops(found: Followed, name: str, strange: int | None) -> Finding | None:
    """The first error that a cell surely comes to, unless a magic before it may have changed what is known."""
    for error in found.errors:
        line = place_in(error, name)
        if error.is_certain and line is not None and (strange is None or line < strange):
            return error
    return None


def place_in(found: Finding, name: str) -> int | None:
    """The line of a cell where a mistake is, or that calls what leads there; None if it isn't in the cell."""
    places = [(found.path, found.line), *((call.path, call.line) for call in found.trace)]
    return next((line for path, line in places if path == name), None)


_FIRST: Final = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.flat = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.read, self.norm, self.out = nn.Embedding(7, 4), nn.LayerNorm(4), nn.Linear(4, 7)
    def forward(self, x, ids):
        b, t = ids.shape
        x = self.flat(self.seen(F.dropout(x, 0.1))).view(b, 4, 4).mean(1, keepdim=True)
        x = x.flatten(1).reshape(b, 1, 4).transpose(1, 2).squeeze(-1)
        y = self.norm(self.read(ids) + torch.arange(t)[:, None] * x[:, None])
        return self.out(F.scaled_dot_product_attention(y, y, y).softmax(-1))
model = Net()
optimizer = torch.optim.Adam(model.parameters())
data = TensorDataset(torch.randn(5, 3, 8, 8), torch.zeros(5, 6, dtype=torch.long))
for x, ids in DataLoader(data, batch_size=2):
    loss = F.cross_entropy(model(x, ids).reshape(-1, 7), ids.reshape(-1))
    loss.backward()
    optimizer.step()
    first, last = torch.cat([ids, torch.multinomial(torch.rand(len(ids), 7), 1)], 1).to("cpu").split([6, 1], dim=1)
    print(torch.stack([first, ids]).permute(1, 0, 2).argmax(1), (first == ids).float().mean())
    print(last @ last.T, loss.item())
"""


def read_tables() -> None:
    """Read what cells commonly ask for, so that the first of them is followed as soon as the others."""
    follow_cell(_FIRST, {}, "")
    if "torch" in sys.modules:
        import simpletorch.notebook.live.tensors  # noqa: F401
