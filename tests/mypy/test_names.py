"""mypy knows every name that is there at run time, and its type."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import torch

import simpletorch
from simpletorch import nn
from simpletorch.mypy.convert.spelling import tensor_in
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_NAME
from tests import warm
from tests.oracle.face import SAMPLES, may_be, tensors_given

OPTIMIZERS = [name for name, value in vars(torch.optim).items() if isinstance(value, type) and name != "Optimizer"]


def test_every_name_has_a_type(tmp_path: Path):
    names = [
        *(f"simpletorch.{name}" for name in simpletorch.__all__),
        *(f"simpletorch.nn.{name}" for name in nn.__all__),
        *(f"simpletorch.optim.{name}" for name in OPTIMIZERS),
    ]
    file = tmp_path / "names.py"
    file.write_text("\n".join(["import simpletorch", *(f"reveal_type({name})" for name in names)]))
    cache = warm.cache(tmp_path)
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", cache, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    revealed = re.findall(r':(\d+): note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    assert [int(line) for line, _ in revealed] == list(range(2, len(names) + 2))
    assert [name for name, (_, type_) in zip(names, revealed, strict=True) if type_ == "Any"] == []


def test_what_mypy_answers_is_what_torch_gives(tmp_path: Path):
    """Of each function that stands for torch's, called with the samples of the follower's sweep."""
    lines, given = ["import simpletorch as st", "from simpletorch import Tensor"], []
    for i, (arguments, before) in enumerate(SAMPLES):
        lines += [f"def f{i}() -> None:", f"    {before}"]
        for name, result in tensors_given(arguments, before):
            lines.append(f"    reveal_type(st.{name}({arguments}))")
            given.append((len(lines), f"{name}({arguments})", result))
    file = tmp_path / "calls.py"
    file.write_text("\n".join(lines) + "\n")
    config = Path(__file__).parents[1] / "typing" / "mypy.ini"
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", warm.cache(tmp_path), file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not re.findall(r".*\[tensor-.*", done.stdout)
    revealed = {int(line): text for line, text in re.findall(r':(\d+): note: Revealed type is "(.*)"', done.stdout)}
    wrong, known = [], 0
    for line, call, result in given:
        found = tensor_in(revealed[line])
        if found is None:  # a tensor of which nothing is known
            assert revealed[line] in ("Tensor", "Any"), f"{call} is {revealed[line]}"
            continue
        dtype, shape = found
        known += shape.is_exact
        if not may_be(TensorType(shape, BY_NAME.get(dtype)), result):
            wrong.append(f"{call}: {revealed[line]}, but torch gives {list(result.shape)}, {result.dtype}")
    assert not wrong
    assert known > 0.97 * len(given)
