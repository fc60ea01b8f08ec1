"""Programs from torch's spelling to ours, line by line."""

from __future__ import annotations

import re
from typing import Final

from simpletorch._stub import homes

__all__ = ["as_ours"]

_HOMES: Final = {name: home for name, home in homes("simpletorch").items() if home.partition(".")[0] == "torch"}
_IMPORTS: Final = {
    "import torch": "import simpletorch as st; from simpletorch import Tensor; import torch",
    "from torch import nn": "from simpletorch import nn",
    "import torch.nn as nn": "from simpletorch import nn",
    "from torch import optim": "from simpletorch import optim",
    "import torch.optim as optim": "from simpletorch import optim",
    "from torch.utils import data": "from simpletorch import data",
    "from torch.utils.data import DataLoader": "from simpletorch.data import DataLoader",
}
_FACTORIES: Final = ("zeros", "ones", "rand", "randn", "arange", "eye", "full", "randint", "tensor", "empty")


def as_ours(text: str) -> str:
    """A program in our spelling; a line stays a line, so findings are at the same places."""
    lines = [_IMPORTS.get(line, line) for line in text.splitlines()]
    text = "\n".join(lines) + "\n"
    if "import simpletorch as st" not in text:
        return text
    text = re.sub(rf"\btorch\.({'|'.join(_FACTORIES)})(?=\()", r"Tensor.\1", text)
    text = re.sub(r"\btorch\.(optim|utils\.data)\.(?=\w)", lambda m: f"st.{m[1].rpartition('.')[2]}.", text)
    text = re.sub(r"\btorch\.nn\.(?=[A-Z])", "st.nn.", text)
    return re.sub(r"\b(torch(?:\.linalg|\.nn\.functional)?|F)\.(\w+)\b(?!\.)", _ours, text)


def _ours(match: re.Match[str]) -> str:
    home = "torch.nn.functional" if match[1] == "F" else match[1]
    return f"st.{match[2]}" if _HOMES.get(match[2]) == home else match[0]
