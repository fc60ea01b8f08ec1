"""A seeded sample of torch's own test inputs as ordinary Python through mypy.

Nothing is wrong, nothing sound is refused, and a mistake is one error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice

import pytest
import torch

from simpletorch.mypy.calls import mutations
from simpletorch.rules import ANYTHING, RULES, Named, Scalar, TensorType, tensor
from simpletorch.rules.core.dtype import BY_NAME, FLOAT32, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN
from tests import warm
from tests.mypy import programs

SEED = 3


def _calls():
    """About a thousand calls that torch accepts, and for every second one a change of it."""
    for i, call in enumerate(programs.oracle.samples(dtypes=(torch.float32,), count=1, seed=SEED)):
        yield call
        if i % 2:
            yield from islice(programs.oracle.perturbations(call, seed=SEED, count=1), i // 2 % 2, i // 2 % 2 + 1)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = programs.examine(_calls(), tmp_path_factory.mktemp("calls"))
    torch.set_num_threads(before)
    return [r for r in found if r.call.name in RULES]


def shown(results):
    return "\n\n".join(map(str, results[:20]))


def test_nothing_is_wrong_and_nothing_sound_is_refused(results):
    assert len(results) > 1_200
    bad = [r for r in results if r.outcome in ("wrong", "false_error")]
    assert not bad, shown(bad)


def test_nearly_everything_is_known_exactly(results):
    calls = [r for r in results if not r.call.change]
    rest = [r for r in calls if r.outcome != "exact"]
    assert len(rest) <= 0.03 * len(calls), shown(rest)


# after these the tensor has another shape, which isn't followed; mypy looks at the argument of reveal_type twice
RESHAPES_IN_PLACE = {f"Tensor.{name}" for name in mutations.TENSOR_METHODS}


def test_what_the_rule_knows_mypy_reveals(results):
    lost = [r for r in results if r.rule == "exact" and r.outcome in ("partial", "unknown")]
    assert not [r for r in lost if r.call.name not in RESHAPES_IN_PLACE], shown(lost)


def test_a_mistake_is_one_error(results):
    refused = [r for r in results if r.rule == "both_refuse"]
    assert len(refused) > 100
    bad = [r for r in refused if r.outcome != "both_refuse"]
    assert not bad, shown(bad)


# -- every rule is reached ---------------------------------------------------------------------------------------------

# what mypy can't see: torch's stubs lack the name
NOT_IN_THE_STUBS = {"Tensor.cdouble", "Tensor.cfloat", "torch.from_dlpack", "torch.nn.functional.threshold_"}
# what torch.Tensor(...) makes is not followed: its arguments mean too much
NOT_FOLLOWED = {"torch.Tensor"}

# asks mypy about every name and tells which rules the hooks were asked for, by the names that they were asked by
LISTENER = """
import json, sys
import simpletorch.mypy
from simpletorch.mypy.names import public_name
from simpletorch.rules import RULES
from mypy import api

asked = set()
plugin = sys.modules["simpletorch.mypy.plugin"].SimpletorchPlugin

def listen(hook, spell):
    original = getattr(plugin, hook)
    def asked_for(self, fullname):
        asked.add(spell(fullname))
        return original(self, fullname)
    setattr(plugin, hook, asked_for)

def method(fullname):
    static = public_name(fullname)
    return static if static in RULES else "Tensor." + fullname.rpartition(".")[2]

listen("get_function_signature_hook", public_name)
listen("get_method_signature_hook", method)
listen("get_attribute_hook", method)
api.run(sys.argv[1:])
print(json.dumps(sorted({n for name in asked & set(RULES) for n in RULES[name].names})))
"""


def test_every_rule_is_reached(tmp_path):
    names = [n for n in RULES if n.startswith(("torch.", "Tensor.")) and not n.rpartition(".")[2].startswith("__")]
    lines = [
        "import torch",
        "import torch.masked",
        "import torch.signal",
        "import torch.nn.functional",
        "import torch.distributed.nn.functional",
        "import torch.distributed._functional_collectives",
        "x = torch.zeros(2, 3)",
    ]
    for name in names:
        is_property = name.startswith("Tensor.") and not callable(getattr(torch.Tensor, name.partition(".")[2], None))
        lines.append(name.replace("Tensor.", "x.", 1) + ("" if is_property else "(x)"))
    (tmp_path / "names.py").write_text("\n".join(lines) + "\n")
    options = ["--config-file", warm.STRICT, "--cache-dir", warm.cache(tmp_path)]
    command = [sys.executable, "-c", LISTENER, *options, "names.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    missing = set(names) - set(json.loads(done.stdout)) - NOT_IN_THE_STUBS - NOT_FOLLOWED
    assert not missing


# -- the generator itself ----------------------------------------------------------------------------------------------

X, Y = torch.zeros(2, 3), torch.zeros(3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "expression"),
    [
        (("torch.cat", ([X, X],), {"dim": -1}), "torch.cat([t0, t1], dim=-1)"),
        (("Tensor.sum", (X, (0, 1)), {}), "t0.sum((0, 1))"),
        (("Tensor.sum", (X, (0,)), {"dtype": torch.float64}), "t0.sum((0,), dtype=torch.float64)"),
        (("Tensor.mT", (X,), {}), "t0.mT"),
        (("Tensor.__add__", (X, 2.5), {}), "t0 + 2.5"),
        (("Tensor.__rsub__", (X, 1), {}), "1 - t0"),
        (("Tensor.__eq__", (X, X), {}), "t0 == t1"),
        (("Tensor.__invert__", (Y,), {}), "~t0"),
        (("Tensor.__abs__", (Y,), {}), "abs(t0)"),
        (("Tensor.__getitem__", (X, (slice(None, None, 2), None, ..., Y)), {}), "t0[::2, None, ..., t1]"),
        (("Tensor.__getitem__", (X, [0, 1]), {}), "t0[[0, 1]]"),
        (("Tensor.__getitem__", (X, (slice(1, None),)), {}), "t0[1:,]"),
        (("torch.nn.functional.pad", (X, (1, 2)), {"value": float("inf")}), 'F.pad(t0, (1, 2), value=float("inf"))'),
    ],
)
def test_calls_are_written_as_users_write_them(call, expression):
    program = programs.write(programs.oracle.Call(*call))
    assert program.expression == expression
    assert "t0: Tensor[" in program.parameters[0]


def test_an_operator_in_place_is_a_statement():
    program = programs.write(programs.oracle.Call("Tensor.__iadd__", (X, Y)))
    assert program.lines("f") == [
        "def f(t0: Tensor[Float32, 2, 3], t1: Tensor[Int64, 3]) -> None:",
        "    t0 += t1",
        "    reveal_type(t0)",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Tensor[Float32, 2, 3]", tensor(2, 3, dtype=FLOAT32)),
        ("Tensor[Int64]", tensor(dtype=INT64)),
        ("CPUTensor[Any, 2, Any]", tensor(2, UNKNOWN)),
        ("Tensor[Float, ..., 3]", tensor(ANY_REST, 3, dtype=BY_NAME["Float"])),
        ("Tensor", TensorType()),
        ("tuple[Tensor[Int64, 2], int]", (tensor(2, dtype=INT64), UNKNOWN)),
        ("tuple[()]", ()),
        ("tuple[Dim[2], Dim[3], fallback=torch._C.Size]", (2, 3)),
        (
            "tuple[Tensor[Int64], Tensor, fallback=torch.return_types.max]",
            Named("torch.return_types.max", (("0", tensor(dtype=INT64)), ("1", TensorType()))),
        ),
        ("tuple[Tensor, ...]", ANYTHING),
        ("Tensor[Int64, 2] | Tensor[Int64, 3]", ANYTHING),
        ("Literal[3]?", 3),
        ("builtins.bool", Scalar("bool")),
        ("None", None),
        ("Any", ANYTHING),
    ],
)
def test_revealed_types_are_read(text, value):
    assert programs.read(text) == value


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (programs.Said("Tensor[Float32, 2, 3]"), "exact"),
        (programs.Said("Tensor[Float32, 2, Any]"), "partial"),
        (programs.Said("Tensor"), "unknown"),
        (programs.Said("Tensor[Float32, 3, 2]"), "wrong"),
        (programs.Said("Tensor", errors=[("tensor-shape", "add: no")]), "false_error"),
        (programs.Said("Any", errors=[("arg-type", "no")]), "stub"),
    ],
)
def test_outcomes(said, outcome):
    call = programs.oracle.Call("torch.add", (X, X))
    assert programs.judge(call, programs.write(call), said, "exact").outcome == outcome


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ([], "missed"),
        ([("tensor-shape", "add: no")], "both_refuse"),
        ([("tensor-shape", "add: no"), ("operator", "Unsupported operand types")], "twice"),
        ([("operator", "Unsupported operand types")], "stub"),
    ],
)
def test_outcomes_of_what_torch_refuses(errors, outcome):
    call = programs.oracle.Call("torch.add", (X, torch.zeros(7)))
    assert (
        programs.judge(call, programs.write(call), programs.Said("Tensor", errors=errors), "both_refuse").outcome
        == outcome
    )
