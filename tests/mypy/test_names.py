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
from tests.oracle.face import OWN_BEFORE, SAMPLES, may_be, of_our_own, tensors_given

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


def revealed(lines: list[str], folder: Path) -> tuple[dict[int, str], list[str]]:
    """What mypy reveals of these lines, and its errors."""
    file = folder / "calls.py"
    file.write_text("\n".join(lines) + "\n")
    config = Path(__file__).parents[1] / "typing" / "mypy.ini"
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", warm.cache(folder), file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r':(\d+): note: Revealed type is "(.*)"', done.stdout)
    return {int(line): text for line, text in found}, re.findall(r".*: error: .*", done.stdout)


def judged(said: str, call: str, result: torch.Tensor) -> bool:
    """Whether the shape is known; what is known must be true."""
    found = tensor_in(said)
    if found is None:
        assert said in ("Tensor", "Any"), f"{call} is {said}"
        return False
    dtype, shape = found
    right = may_be(TensorType(shape, BY_NAME.get(dtype)), result)
    assert right, f"{call}: {said}, but it gives {list(result.shape)}, {result.dtype}"
    return shape.is_exact


def test_what_mypy_answers_is_what_torch_gives(tmp_path: Path):
    """Of each function that stands for torch's, called with the samples of the follower's sweep."""
    lines, given = ["import simpletorch as st", "from simpletorch import Tensor"], []
    for i, (arguments, before) in enumerate(SAMPLES):
        lines += [f"def f{i}() -> None:", f"    {before}"]
        for name, result in tensors_given(arguments, before):
            lines.append(f"    reveal_type(st.{name}({arguments}))")
            given.append((len(lines), f"{name}({arguments})", result))
    found, errors = revealed(lines, tmp_path)
    assert not [e for e in errors if "[tensor-" in e]
    assert sum(judged(found[line], call, result) for line, call, result in given) > 0.97 * len(given)


def test_what_mypy_answers_of_our_own_is_what_they_give(tmp_path: Path):
    """Blocks, losses, transforms, and calls inside calls; what is wanted of the whole doesn't leak into its parts."""
    lines = ["from simpletorch import Float32, Float64", *OWN_BEFORE.splitlines()]
    given = []
    for i, (expression, result) in enumerate(of_our_own()):
        kind = "Float64" if result.dtype == torch.float64 else "Float32"
        wanted = f"Tensor[{', '.join([kind, *map(str, result.shape)])}]"
        lines += [f"y{i}: {wanted} = {expression}", f"def f{i}() -> {wanted}: return {expression}"]
        lines.append(f"reveal_type({expression})")
        given.append((len(lines), expression, result))
    found, errors = revealed(lines, tmp_path)
    assert errors == []
    assert sum(judged(found[line], call, result) for line, call, result in given) > 0.8 * len(given)
