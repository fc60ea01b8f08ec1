"""The programs of ``mistakes.txt``: each with its mistakes, and as it is right; in our spelling, and in torch's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from simpletorch._stub import homes

__all__ = ["PROGRAMS", "Program", "as_torch"]


class Program(NamedTuple):
    """A program with mistakes."""

    title: str
    wrong: str
    right: str
    mistakes: dict[int, str]  # by line, the code

    @property
    def torchs(self) -> str | None:
        """The wrong program in torch's spelling; None if torch has no name for what it uses."""
        return as_torch(self.wrong)


def _read() -> list[Program]:
    found = []
    for section in Path(__file__).with_name("mistakes.txt").read_text().split("# == ")[1:]:
        title, _, text = section.partition("\n")
        wrong, right, mistakes = [], [], {}
        for number, line in enumerate(text.rstrip().splitlines(), 1):
            code, _, note = line.partition("  # ")
            match = re.match(r"(?:! (\S+) )?\| (.*)", note)
            if match is None:
                right.append(line)
            else:
                indent = line[: len(line) - len(line.lstrip())]
                right.append(indent + match[2])
            if match is not None and match[1]:
                mistakes[number] = match[1]
            wrong.append(line if match is None else code)
        found.append(Program(title, "\n".join(wrong) + "\n", "\n".join(right) + "\n", mistakes))
    return found


_MODULES = {"data": "torch.utils.data", "optim": "torch.optim", "nn": "torch.nn"}
_OURS = re.compile(
    r"\b(?:losses|metrics|train|transforms|pure|Digits|MLP|FeedForward|Residual|SelfAttention|CharTokens)\b|\w+Block"
    r"|ReplayBuffer|decay_groups|ParameterGroup|run_padded|EMA|SWA|Warmup|amp\.|kernels\.|export\."
    r"|\battempt\b|distributed\.|\bcuda\.|interop|builder|OneCycleLR|Sequential\(\["
    r"|autograd\.|checkpoint|to_dlpack|BFloat16|shape="
)


def as_torch(text: str) -> str | None:
    """A program in torch's spelling, line by line; None if torch has no name for what it uses."""
    if _OURS.search(text):
        return None
    imports = "import torch; import torch.nn.functional as F; from torch import nn, optim; from torch.utils import data"
    text = re.sub(r"^(from simpletorch import|import simpletorch) .*$", imports, text, flags=re.MULTILINE)
    text = re.sub(r"\b(?:st|Tensor)\.one_hot\b", "F.one_hot", text)
    text = re.sub(r"\b(?:st|Tensor)\.from_array\b", "torch.asarray", text)
    text = re.sub(r"\bst\.(\w+)", lambda m: _MODULES.get(m[1]) or f"{homes('simpletorch')[m[1]]}.{m[1]}", text)
    text = re.sub(r"\bParameter\.(\w+)(\(\[[^]]*\]\))", r"nn.Parameter(torch.\1\2)", text)
    text = re.sub(r"\bCUDATensor\.(\w+)\((.*?)\)", r"torch.\1(\2, device='cuda')", text)
    typed = r"\bTensor\[(\w+)\]\.(\w+)\((.*?)\)"
    text = re.sub(typed, lambda m: f"torch.{m[2]}({m[3]}, dtype=torch.{m[1].lower()})", text)
    text = re.sub(r"\b(?:CPU)?Tensor\.(\w+)", r"torch.\1", text)
    text = re.sub(r"\bDevice\.CUDA\((\d)\)", r"'cuda:\1'", text)
    text = re.sub(r"\bDevice\.CPU\b", "'cpu'", text)
    return re.sub(r"\bdtype=(Float64|UInt8)\b", lambda m: f"dtype=torch.{m[1].lower()}", text)


PROGRAMS = _read()
