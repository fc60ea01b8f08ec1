"""Random failures of torch's operations, explained: what holds for every one of them.

python tests/errors/failures.py --count 100000        all of it, in a few minutes; prints what was seen
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import util
from pathlib import Path
from typing import Any

import torch

from simpletorch.errors import Err, TorchError, attempt
from simpletorch.rules import RULES

DTYPES = [torch.float32, torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.uint8]
SECRET = 0.61803398  # what no error may show of a tensor

# kernels that trust their operands so far that a wrong size corrupts memory, or that wait or leave a trace
UNSAFE = [
    "lu_unpack", "scaled_dot_product_attention", "set_", "as_strided", "as_strided_", "resize_", "frombuffer",
    "share_memory_", "pin_memory", "is_pinned", "register_hook", "requires_grad_", "retain_grad", "sparse_coo_tensor",
    "cuda", "xpu",
]  # fmt: skip

CALLS = [
    "torch.{0}(x)", "torch.{0}(x, y)", "torch.{0}(x, i)", "torch.{0}(x, i, y)", "torch.{0}(x, y, z)",
    "torch.{0}([x, y], dim=i)", "torch.{0}(input=x, other=y)", "torch.{0}(x.flatten(), y + 1)",
]  # fmt: skip
METHODS = ["x.{0}()", "x.{0}(y)", "x.{0}(i)", "x.{0}(i, j)", "x.{0}(i, y)", "(x * 2).{0}(y)", "x.{0}(dim=i)"]
FUNCTIONS = [
    "F.{0}(x)",
    "F.{0}(x, y)",
    "F.{0}(x, i)",
    "F.{0}(x, y, z)",
    "F.{0}(x, y, i)",
    "F.{0}(x.clone(), target=y)",
]
EXPRESSIONS = [
    "x @ y", "x + y", "x / y.sum(0)", "x.relu() @ y.T", "x[i]", "x[y]", "x[i, j]", "x[i:, y]", "x[None, ..., i]",
    "x[x > 0]", "x[[i, j]]", "x[y > 0]", "~x", "-x", "x << y", "x & y", "bool(x > y)", "float(x)", "len(x[i])",
    "x.view(i, -1)", "x.view(y.shape)", "x.reshape(len(y), -1)", "x.permute(*range(i))", "x.unflatten(0, (i, 2))",
    "x.expand(3, i)", "x.backward()", "x.sum().backward(y)", "x.numpy()", "x.tolist()[i]", "x.item()",
    "x.index_add_(i, y, z)",
    "torch.cat([x, y, z])", "torch.stack((x, y))", "torch.cat(xs)", "torch.stack(xs, dim=j)",
    "torch.where(x > 0, y, z)",
    "torch.einsum('ij,jk->ik', x, y)", "torch.einsum('...i,ij', x, y)", "torch.zeros(i, j)", "torch.full((i, 2), x)",
    "nn.Linear(3, i + 4)(x)", "nn.Linear(3, 5)(x.flatten(1))", "nn.Conv1d(3, 2, 3)(x)", "nn.Conv2d(3, 2, 3)(x)",
    "nn.LSTM(3, 4)(x)", "nn.LSTM(3, 4, batch_first=True)(x, (y, z))", "nn.MultiheadAttention(4, 2)(x, y, z)",
    "nn.BatchNorm1d(3)(x)", "nn.LayerNorm(i + 3)(x)", "nn.GroupNorm(2, 4)(x)", "nn.Embedding(3, 2)(x)",
    "nn.CrossEntropyLoss()(x, y)", "nn.MSELoss()(x, y)", "nn.BCELoss()(x, y)", "nn.NLLLoss()(x, y)",
    "nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(i + 4, 2))(x)", "nn.TransformerEncoderLayer(4, 2, 8)(x)",
    "nn.Linear(3, 5).load_state_dict({'weight': x, 'b': y})", "nn.Unflatten(i, (2, j))(x)",
    "nn.Bilinear(2, 3, 4)(x, y)",
    "nn.MaxPool2d(i + 2)(x)", "nn.AdaptiveAvgPool2d(j)(x)", "nn.MultiheadAttention(i + 5, 2)", "nn.GroupNorm(i + 2, 5)",
]  # fmt: skip
STATEMENTS = ["x += y", "x[i] = y", "x[y] = z", "x[i:j] = z", "x @= y", "x.add_(y)", "x.copy_(y)", "x.data[i] += z"]


def lines() -> Iterator[str]:
    """Every program, as one line of Python."""
    for name in RULES:
        head, _, rest = name.partition(".")
        short = rest.rpartition(".")[2]
        if short in UNSAFE or short.startswith("_") or "cuda" in rest:
            continue
        if name.startswith("torch.nn.functional."):
            yield from (form.format(short) for form in FUNCTIONS)
        elif head == "Tensor":
            yield from (form.format(short) for form in METHODS)
        elif head == "torch":
            yield from (form.format(rest) for form in CALLS)
    for _ in range(60):
        yield from EXPRESSIONS
        yield from STATEMENTS


def programs(folder: Path) -> list[Callable[..., Any]]:
    """The programs as functions, in files of a usual size, so that their source can be read."""
    everything = list(lines())
    return [
        f for start in range(0, len(everything), 200) for f in written(folder, start, everything[start : start + 200])
    ]


def written(folder: Path, start: int, some: list[str]) -> Iterator[Callable[..., Any]]:
    name = f"random_programs_{start}"
    text = ["import torch", "import torch.nn.functional as F", "from torch import nn", ""]
    for number, line in enumerate(some, start):
        text += [f"def program_{number}(x, y, z, xs, i, j):", f"    {line}"]
    file = folder / f"{name}.py"
    file.write_text("\n".join(text) + "\n")
    spec = util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from (f for key, f in vars(module).items() if key.startswith("program_"))


def tensor(rng: random.Random) -> torch.Tensor:
    shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
    dtype, device = rng.choice(DTYPES), rng.choice(["cpu", "cpu", "cpu", "cpu", "meta"])
    value = SECRET if dtype.is_floating_point else rng.randint(0, 1)
    out = torch.full(shape, value, dtype=dtype, device=device)
    return out.requires_grad_() if dtype.is_floating_point and rng.random() < 0.1 else out


def arguments(rng: random.Random) -> tuple[Any, ...]:
    x, y, z = tensor(rng), tensor(rng), tensor(rng)
    return x, y, z, [x, y] if rng.random() < 0.7 else [y, z, x], rng.randint(-2, 3), rng.randint(-1, 4)


def first_line(error: BaseException | None) -> str:
    """What an error says; some go on with a C++ stack, and some of torch's print an object with its address."""
    return re.sub(r"0x[0-9a-f]+", "0x…", str(error).partition("\n")[0])


def examine(program: Callable[..., Any], seed: int) -> str | None:
    """Run a program twice on the same arguments, plainly and explained; the kind of its failure, None if it has none.

    Raises:
        AssertionError: the explanation changed what an ``except`` catches, hid torch's message, or showed contents.
    """
    try:
        torch.manual_seed(seed)
        program(*arguments(random.Random(seed)))
    except Exception as error:
        original = error.__cause__ if isinstance(error, TorchError) else error  # a layer alone explains it already
    else:
        return None
    torch.manual_seed(seed)
    try:
        result = attempt(program, *arguments(random.Random(seed)))
    except Exception as raised:
        other = raised
    else:
        other = None
    if other is not None:
        assert not isinstance(other, TorchError)
        assert type(other) is type(original)
        assert first_line(other) == first_line(original)
        return "(not torch's)"
    assert isinstance(result, Err), "it failed only without explanation"
    error = result.error
    assert isinstance(error, TorchError)
    assert isinstance(error, type(original)), f"{type(original)} became {type(error).__mro__}"
    assert type(error.__cause__) is type(original)
    assert first_line(error.__cause__) == first_line(original)
    assert error.reason
    if str(SECRET)[:8] not in str(original):  # torch's own words are quoted where nobody has better ones
        assert str(SECRET)[:8] not in f"{error}{error._repr_html_()}{error.to_dict()}"
    assert error.__rich__().plain.startswith(error.kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.to_dict() == error.to_dict()
    return error.kind


def failures(count: int, seed: int, everything: Sequence[Callable[..., Any]]) -> Counter[str]:
    """Examine programs until ``count`` have failed; how often each kind was seen."""
    rng, seen = random.Random(seed), Counter[str]()
    while seen.total() < count:
        program, number = rng.choice(everything), rng.randrange(2**31)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="explaining", category=RuntimeWarning)
            try:
                kind = examine(program, number)
            except BaseException as error:
                error.add_note(f"{program.__name__}: seed {number}")
                raise
        if kind is not None:
            seen[kind] += 1
    return seen


def main() -> None:
    """Run as many as wanted, and print the kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="failures to examine")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["SIMPLETORCH_DEBUG"] = "1"
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seen = failures(options.count, options.seed, programs(Path(folder)))
    for kind, number in seen.most_common():
        print(f"{number:8}  {kind}")
    print(f"{seen.total():8}  failures in {time.perf_counter() - start:.0f} s, none of them explained wrongly")


if __name__ == "__main__":
    sys.exit(main())
