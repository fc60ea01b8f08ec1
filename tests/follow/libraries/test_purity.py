"""Functions under `simpletorch.pure`: where they change arguments, draw or touch what is global; and pure ones."""

import asyncio
import copy
import pickle
import random
from types import FunctionType

import numpy as np
import pytest
import torch
from scripts import Scripts
from torch import nn

import simpletorch
from simpletorch.follow import follow

HEAD = """import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import simpletorch as st
from simpletorch import pure
"""
STATE = """
class Running:
    def __init__(self, size):
        self.mean, self.count = torch.zeros(size), 0

    @pure
    def updated(self, x):
        UPDATE
        return self.mean

f, args = Running(5).updated, (torch.randn(3, 5),)
"""
BAD = {  # (the function, a piece of the line that is told)
    "a method with an underscore": (
        """
@pure
def f(x):
    return x.clamp_(min=0).sqrt()

args = (torch.randn(3, 5),)
""",
        "clamp_",
    ),
    "an item of a tensor": (
        """
@pure
def f(scores, mask):
    scores[mask] = float("-inf")
    return scores.softmax(-1)

args = torch.randn(3, 5), torch.eye(3, 5, dtype=torch.bool)
""",
        "scores[mask]",
    ),
    "a view of an argument": (
        """
@pure
def f(image):
    rows = image.transpose(0, 1)[2:]
    rows.zero_()
    return image.mean()

args = (torch.rand(7, 5),)
""",
        "zero_",
    ),
    "a view of another name": (
        """
@pure
def f(image):
    left, right = image.moveaxis(0, 1).tensor_split(2)
    left.zero_()
    return image.mean()

args = (torch.rand(7, 5),)
""",
        "zero_",
    ),
    "what is drawn into a new tensor": (
        """
@pure
def f(x):
    return x @ nn.init.normal_(torch.empty(5, 7))

args = (torch.rand(3, 5),)
""",
        "normal_",
    ),
    "dropout by torch's own name": (
        """
@pure
def f(x):
    return torch.dropout(x, 0.5, True)

args = (torch.rand(3, 5),)
""",
        "dropout",
    ),
    "an addition in place": (
        """
@st.pure
def f(x, bias):
    x += bias
    return x

args = torch.randn(3, 5), torch.randn(5)
""",
        "x += bias",
    ),
    "out=": (
        """
@pure
def f(x, y):
    return torch.mul(x, 2, out=y)

args = torch.ones(5), torch.zeros(5)
""",
        "out=y",
    ),
    "inplace=True": (
        """
@pure
def f(x):
    return F.relu(x, inplace=True)

args = (torch.randn(5, 7),)
""",
        "inplace=True",
    ),
    "a list": (
        """
@pure
def f(losses, loss):
    losses.append(loss)
    return sum(losses) / len(losses)

args = [1.0, 2.0], 3.0
""",
        "append",
    ),
    "a dict": (
        """
@pure
def f(cache, key):
    if key not in cache:
        cache[key] = torch.zeros(key)
    return cache[key]

args = {3: torch.zeros(3)}, 5
""",
        "cache[key] = ",
    ),
    "a global": (
        """
calls = 0

@pure
def f(x):
    global calls
    calls += 1
    return x * 2

args = (torch.ones(3),)
""",
        "calls += 1",
    ),
    "a list that is global": (
        """
history = []

@pure
def f(x):
    history.append(x.shape)
    return x.sum()

args = (torch.ones(3),)
""",
        "history.append",
    ),
    "noise": (
        """
@pure
def f(x, scale):
    return x + scale * torch.randn_like(x)

args = torch.ones(3), 0.1
""",
        "randn_like",
    ),
    "dropout": (
        """
@pure
def f(x):
    return F.dropout(x, 0.5)

args = (torch.ones(3, 5),)
""",
        "dropout",
    ),
    "Python's chance": (
        """
@pure
def f(rows):
    return random.choice(rows)

args = ([1, 2, 3],)
""",
        "random.choice",
    ),
    "NumPy's chance": (
        """
@pure
def f(count):
    return np.random.permutation(count)

args = (5,)
""",
        "permutation",
    ),
    "a permutation": (
        """
@pure
def f(x):
    order = torch.randperm(len(x))
    return x[order]

args = (torch.ones(5),)
""",
        "randperm",
    ),
    "a helper": (
        """
def normalize(x):
    x /= x.norm()
    return x

@pure
def f(x):
    return normalize(x).sum()

args = (torch.randn(5),)
""",
        "x /= ",
    ),
    "an attribute": (STATE.replace("UPDATE", "self.count += 1"), "self.count"),
    "a tensor in an object": (STATE.replace("UPDATE", "self.mean.lerp_(x.mean(0), 0.1)"), "lerp_"),
    "a layer in training": (
        """
model = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7))

@pure
def f(model, x):
    return model(x)

args = model, torch.randn(3, 5)
""",
        "model(x)",
    ),
    "gradients": (
        """
@pure
def f(weight, x):
    loss = (x @ weight).square().mean()
    loss.backward()
    return loss.item()

args = torch.randn(5, 3, requires_grad=True), torch.randn(7, 5)
""",
        "backward",
    ),
    "a coroutine": (
        """
import asyncio

@pure
async def work(x):
    await asyncio.sleep(0)
    x.zero_()
    return x

def f(x):
    return asyncio.run(work(x))

args = (torch.ones(3),)
""",
        "zero_",
    ),
}
GOOD = {
    "new tensors": """
@pure
def f(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-6)

args = (torch.randn(7, 5),)
""",
    "a clone": """
@pure
def f(scores, mask):
    scores = scores.clone()
    scores[mask] = float("-inf")
    return scores.softmax(-1)

args = torch.randn(3, 5), torch.eye(3, 5, dtype=torch.bool)
""",
    "in place on what is new": """
@pure
def f(x):
    y = x * 2
    y += 1
    y.clamp_(min=0)
    y[0] = 5
    out = torch.empty_like(y)
    torch.exp(y, out=out)
    return out

args = (torch.randn(3, 5),)
""",
    "a list of its own": """
@pure
def f(x, steps):
    rows = []
    for _ in range(steps):
        x = x * 0.5
        rows.append(x)
    seen = {}
    seen["last"] = rows[-1]
    return torch.stack(rows), seen

args = torch.ones(3), 4
""",
    "a counter": """
@pure
def f(x):
    total = 0
    for row in x:
        total += row.sum()
    x = x + 1
    x += total
    return x

args = (torch.randn(3, 5),)
""",
    "a global that is read": """
EPS = 1e-6
weights = torch.ones(5)

@pure
def f(x):
    return x * weights + EPS

args = (torch.randn(3, 5),)
""",
    "dropout in evaluation": """
@pure
def f(x, training):
    return F.dropout(x, 0.5, training=training)

args = torch.randn(3, 5), False
""",
    "noise that is given": """
@pure
def f(x, noise, scale):
    return x + scale * noise

args = torch.ones(3), torch.randn(3), 0.1
""",
    "a model in evaluation": """
model = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Dropout(0.1)).eval()

@pure
def f(model, x):
    with torch.no_grad():
        return model(x)

args = model, torch.randn(3, 5)
""",
    "an object of its own": """
class Box:
    def __init__(self, x):
        self.x = x
        self.parts = []

@pure
def f(x):
    box = Box(x)
    box.x = x + 1
    box.parts.append(box.x)
    return box.parts

args = (torch.ones(3),)
""",
    "an inner function": """
@pure
def f(x, n):
    total = torch.zeros_like(x)

    def add(y):
        nonlocal total
        total = total + y

    for i in range(n):
        add(x * i)
    return total

args = torch.ones(3), 4
""",
    "a method": STATE.replace("UPDATE", "return self.mean + x.mean(0)"),
    "a copy of a dict": """
@pure
def f(options, rate):
    options = {**options, "lr": rate}
    options.setdefault("momentum", 0.9)
    return options

args = {"lr": 0.1}, 0.2
""",
    "gradients that are asked for": """
@pure
def f(weight, x):
    loss = (x @ weight).square().mean()
    return torch.autograd.grad(loss, weight)[0]

args = torch.randn(5, 3, requires_grad=True), torch.randn(7, 5)
""",
}


SCRIPTS = Scripts(HEAD)
followed, run = SCRIPTS.said, SCRIPTS.run


def state(value: object) -> bytes:
    """A value as it is now, with its gradients."""
    if isinstance(value, torch.Tensor):
        return pickle.dumps((value.detach().tolist(), None if value.grad is None else value.grad.tolist()))
    if isinstance(value, nn.Module):
        return state(list(value.state_dict().values()))
    if isinstance(value, dict):
        return state(list(value.items()))
    if isinstance(value, list | tuple):
        return pickle.dumps([state(v) for v in value])
    if isinstance(value, int | float | str | bool | None):
        return pickle.dumps(value)
    return state(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, FunctionType | type) else b""


def is_pure(source: str) -> bool:
    """Whether a call of ``f`` leaves its arguments, the generators of random numbers and the globals as they were."""

    def everything() -> tuple[object, ...]:
        names = {
            k: v for k, v in scope.items() if k not in ("__builtins__", "f", "args") and not hasattr(v, "__file__")
        }
        receiver = getattr(scope["f"], "__self__", None)
        numpys = np.random.get_state()
        return (state(scope["args"]), state(receiver), state(names), torch.get_rng_state().tolist(), random.getstate(),
                numpys[1].tolist(), numpys[2])  # fmt: skip

    scope = run(source)
    before = copy.deepcopy(everything())
    scope["f"](*scope["args"])
    return everything() == before


@pytest.mark.parametrize(("source", "piece"), BAD.values(), ids=BAD)
def test_a_broken_promise_is_found(source, piece, tmp_path):
    assert not is_pure(source)
    found = followed(source + "f(*args)\n", tmp_path)
    assert [e.code for e in found.errors] == ["tensor-pure"]
    assert piece in (HEAD + source).splitlines()[found.errors[0].line - 1]
    assert not found.warnings


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_a_promise_that_is_kept_is_left_alone(source, tmp_path):
    assert is_pure(source)
    found = followed(source + "f(*args)\n", tmp_path)
    assert not found.errors
    assert not found.warnings
    assert not followed(source, tmp_path).errors  # nobody calls it


def test_a_function_that_nobody_calls_is_followed(tmp_path):
    assert [e.code for e in followed(BAD["a list"][0], tmp_path).errors] == ["tensor-pure"]
    assert [e.code for e in followed(BAD["a dict"][0], tmp_path).errors] == ["tensor-pure"]


def test_what_may_be_a_copy_is_left_alone(tmp_path):
    source = "@pure\ndef f(x):\n    y = x.contiguous()\n    y[0] = 1\n    return y\n\nf(torch.ones(3, 5).T)\n"
    assert not followed(source, tmp_path).errors


def test_it_can_be_switched_off(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + BAD["a list"][0])
    found = follow(path, severities={"tensor-pure": "off"})
    assert (found.errors, found.warnings) == ((), ())


def test_the_sentence(tmp_path):
    (found,) = followed(BAD["a view of an argument"][0] + "f(*args)\n", tmp_path).errors
    assert found.message == "f is pure, but it changes Float32[3, 7], which was there before the call"
    assert found.hint == "make a new tensor, with zero"


def test_at_run_time_it_is_the_function_itself():
    def double(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    assert simpletorch.pure(double) is double


def test_coroutines_and_asynchronous_loops_are_followed(tmp_path):
    source = """
import asyncio
from simpletorch.data import DataLoader, TensorDataset

class Batches:
    def __init__(self, count):
        self.count = count
    def __aiter__(self):
        return self
    async def __anext__(self):
        if not self.count:
            raise StopAsyncIteration
        self.count -= 1
        return torch.zeros(3, 5)

async def batches(count):
    for _ in range(count):
        await asyncio.sleep(0)
        yield torch.zeros(3, 5)

@st.checked
async def forward(x: torch.Tensor) -> torch.Tensor:
    await asyncio.sleep(0)
    return x @ torch.zeros(SIZE, 2)

async def main():
    async for x in SOURCE:
        out = await forward(x)

loader = DataLoader(TensorDataset(torch.zeros(6, 5)), 3)
asyncio.run(main())
"""
    for written, right, wrong in (("batches(2)", 5, 7), ("Batches(2)", 5, 7)):
        program = source.replace("SOURCE", written)
        run(program.replace("SIZE", str(right)))
        assert not followed(program.replace("SIZE", str(right)), tmp_path).errors
        with pytest.raises(RuntimeError):
            run(program.replace("SIZE", str(wrong)))
        assert [e.code for e in followed(program.replace("SIZE", str(wrong)), tmp_path).errors] == ["tensor-shape"]
    program = source.replace("x in SOURCE", "(x,) in loader")
    run(program.replace("SIZE", "5"))
    assert not followed(program.replace("SIZE", "5"), tmp_path).errors
    assert [e.code for e in followed(program.replace("SIZE", "7"), tmp_path).errors] == ["tensor-shape"]


def test_a_checked_coroutine_is_checked():
    @simpletorch.checked
    async def total(x: simpletorch.Tensor[simpletorch.Float32, simpletorch.N]) -> torch.Tensor:
        await asyncio.sleep(0)
        return x.sum()

    assert asyncio.run(total(torch.ones(3))).item() == 3
    with pytest.raises(simpletorch.ShapeMismatch):
        asyncio.run(total(torch.ones(3, 5)))
