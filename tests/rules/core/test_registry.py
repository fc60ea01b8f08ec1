"""The table of rules: names exist in torch, and parameters are called as torch calls them."""

import importlib.util
import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from torch.overrides import get_testing_overrides

import simpletorch
from simpletorch.rules import (
    ANYTHING,
    MODULES,
    RULES,
    CannotTell,
    Device,
    Mismatch,
    Named,
    Report,
    Rule,
    TensorType,
    infer,
    new_module,
    tensor,
)
from simpletorch.rules.core.attributes import is_of_tensors, of_tensors
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.rules.core.registry import _NAMES_OF_THE_FIRST, _OTHER_NAMES, module, rule
from simpletorch.shapes import UNKNOWN, Shape
from tests import oracle

SOURCE = Path(simpletorch.__file__).parent


def _installed(name):
    return importlib.util.find_spec(name.partition(".")[0].replace("Tensor", "torch")) is not None


# -- names -------------------------------------------------------------------------------------------------------------


def test_every_name_resolves_in_the_installed_libraries():
    missing = [name for name in RULES if _installed(name) and not oracle.exists(name)]
    assert not missing


def test_every_module_is_a_class_of_the_installed_libraries():
    wrong = [n for n in MODULES if _installed(n) and not inspect.isclass(oracle.resolve(n))]
    assert not wrong


# -- parameters --------------------------------------------------------------------------------------------------------

_SELF = {"input", "self"}  # torch's own tables mix the two for the tensor itself


def _torch_parameters(name):
    """Parameter names where torch tells them: a Python signature, or the lambda of its own override tests."""
    function = oracle.resolve(name)
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        pass
    override = _OVERRIDES.get(function)
    return None if override is None else list(inspect.signature(override).parameters.values())


_OVERRIDES = get_testing_overrides()
_DOCUMENTED = re.compile(r"^\s*(?:torch\.)?[\w.]*\((.*?)\)\s*->", re.DOTALL)


def _documented(name):
    """All parameter names in the first lines of the docstring: ``cat(tensors, dim=0, *, out=None) -> Tensor``."""
    text = inspect.getdoc(oracle.resolve(name)) or ""
    return {w for line in _DOCUMENTED.findall(text) for w in re.findall(r"\b([A-Za-z_]\w*)\b", line)}


def _in_schemas(name):
    """All parameter names in the schemas of the operator; ``_schema`` is private, but nothing public lists them."""
    space, _, last = name.removeprefix("torch.").rpartition(".")
    packet = getattr(torch.ops.aten, f"{space}_{last}" if space in ("linalg", "special", "fft") else last, None)
    overloads = [] if packet is None else [getattr(packet, o) for o in packet.overloads()]
    return {a.name for o in overloads for a in o._schema.arguments}


def _unknown_parameters(name):
    """The rule's required parameters that torch calls otherwise (one function may serve names with fewer options)."""
    found = _torch_parameters(name)
    if found is None or any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in found) or name.endswith("__"):
        return []
    theirs = {p.name for p in found} | _documented(name) | _in_schemas(name) | _SELF
    own = [p for p in RULES[name].signature.parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if name.startswith("Tensor."):
        own = own[1:]
    required = [p for p in own if p.default is p.empty and p.kind is not p.POSITIONAL_ONLY]
    theirs |= {ours for given, own in _OTHER_NAMES.items() if given in theirs for ours in own}
    first = {own[0].name} if theirs & _NAMES_OF_THE_FIRST and not name.startswith("Tensor.") else set()
    return [p.name for p in required if p.name not in theirs | first]


def test_parameters_have_the_names_of_torch():
    known = [name for name in RULES if _installed(name) and oracle.exists(name)]
    wrong = {name: bad for name in known if (bad := _unknown_parameters(name))}
    assert not wrong, "\n".join(f"{name}: torch has no parameter {', '.join(bad)}" for name, bad in wrong.items())


def test_fields_of_modules_are_constructor_arguments():
    wrong = {}
    for name, cls in MODULES.items():
        if _installed(name):
            known = set(inspect.signature(oracle.resolve(name).__init__).parameters)
            bad = [f.name for f in fields(cls) if f.name not in known and not known & {"args", "kwargs"}]
            if bad:
                wrong[name] = bad
    assert not wrong


# -- documentation -----------------------------------------------------------------------------------------------------


def test_every_rule_has_a_shape_sentence():
    lacking = {names[0] for names in {r.names for r in RULES.values() if not r.sentence.strip()}}
    lacking |= {name for name, cls in MODULES.items() if not (inspect.getdoc(cls) or "").strip()}
    assert not lacking


def test_a_sentence_fits_on_a_line():
    long = {r.names[0]: r.sentence for r in RULES.values() if len(r.sentence) > 116}
    assert not long


# -- files -------------------------------------------------------------------------------------------------------------


def _families(folder):
    return {path.stem for path in (SOURCE / "rules" / folder).rglob("*.py")} - {"__init__"}


def test_rules_are_in_functions_and_modules_in_layers():
    rules, layers = "simpletorch.rules.functions.", "simpletorch.rules.layers."
    misplaced = {name for name, entry in RULES.items() if not entry.function.__module__.startswith(rules)}
    misplaced |= {name for name, cls in MODULES.items() if not cls.__module__.startswith(layers)}
    assert not misplaced


def test_layers_are_in_a_file_of_the_name_that_their_functions_have():
    without_functions = {"transformer"}
    assert _families("layers") - _families("functions") == without_functions


def test_the_rules_load_without_torch_and_mypy():
    code = "import simpletorch.rules, sys; print([m for m in ('torch', 'mypy', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- the border --------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_rule():
    """Registers rules that are gone after the test."""
    before = dict(RULES)
    yield rule
    RULES.clear()
    RULES.update(before)


def test_two_rules_for_one_name_are_an_error(own_rule):
    with pytest.raises(ValueError, match=r"two rules for torch\.mm"):
        own_rule("torch.mm")(lambda input: input)


def test_two_module_rules_for_one_name_are_an_error():
    with pytest.raises(ValueError, match=r"two module rules for torch\.nn\.Linear"):
        module("torch.nn.Linear")(MODULES["torch.nn.Linear"])


def test_a_name_without_a_rule_is_unknown():
    assert infer("torch.no_such_function", (tensor(3),)) is ANYTHING


def test_arguments_that_do_not_bind_are_unknown():
    assert infer("torch.mm", (tensor(3, 5),)) is ANYTHING
    assert infer("torch.mm", (tensor(3, 5), tensor(5, 7)), {"no_such": 1}) is ANYTHING


def test_numpy_s_parameter_names_are_torch_s_too():
    x = tensor(3, 5, dtype=FLOAT32)
    assert infer("torch.sum", (x,), {"axis": 0, "keepdims": True}) == tensor(1, 5, dtype=FLOAT32)
    assert infer("torch.sum", (), {"a": x}) == tensor(dtype=FLOAT32)


def test_a_parameter_may_have_a_name_of_its_own():
    x = tensor(3, 3, dtype=FLOAT32)
    assert infer("torch.pow", (x,), {"exponent": 2}) == x
    assert infer("torch.det", (), {"input": x}) == tensor(dtype=FLOAT32)
    assert infer("torch.linalg.det", (), {"A": x}) == tensor(dtype=FLOAT32)
    assert infer("torch.linalg.vector_norm", (), {"input": x}) == tensor(dtype=FLOAT32)
    assert infer("torch.split", (), {"tensor": x, "split_size_or_sections": 3}) == (x,)
    assert infer("torch.linalg.det", (x,), {"input": x}) is ANYTHING


def test_every_argument_may_be_given_by_keyword():
    x, size = tensor(1, 5, dtype=FLOAT32), (3, 5)
    assert infer("torch.broadcast_to", (), {"input": x, "size": size}) == tensor(3, 5, dtype=FLOAT32)
    assert infer("torch.cat", (), {"tensors": (x, x), "dim": 1}) == tensor(1, 10, dtype=FLOAT32)


def test_a_name_of_numpy_s_may_be_an_axis_of_einops():
    x = tensor(6, dtype=FLOAT32)
    assert infer("einops.rearrange", (x, "(a b) -> a b"), {"a": 2}) == tensor(2, 3, dtype=FLOAT32)


def test_an_unknown_argument_is_a_tensor_where_one_must_stand():
    assert infer("torch.mm", (tensor(3, 5, dtype=FLOAT32), ANYTHING)) == tensor(3, UNKNOWN, dtype=FLOAT32)


def test_out_is_the_result():
    out = tensor(3, 7, dtype=FLOAT32)
    assert infer("torch.mm", (tensor(3, 5), tensor(5, 7)), {"out": out}) == out


def test_out_is_resized():
    out = tensor(0, dtype=FLOAT32)
    assert infer("torch.mm", (tensor(3, 5), tensor(5, 7)), {"out": out}) == tensor(3, 7, dtype=FLOAT32)
    assert infer("torch.mm", (ANYTHING, ANYTHING), {"out": out}) == tensor(UNKNOWN, UNKNOWN, dtype=FLOAT32)


def test_a_mismatch_is_reported_with_operation_and_operands():
    found = infer("torch.mm", (tensor(3, 5, dtype=FLOAT32), tensor(7, 2, dtype=FLOAT32)))
    assert isinstance(found, Report)
    assert (found.op, found.kind) == ("mm", "shape")
    assert found.text == (
        "mm: the inner dims differ: input has 5, mat2 has 7 [input: Float32[3, 5], mat2: Float32[7, 2]]"
    )


def test_devices_must_agree(own_rule):
    @own_rule("torch.test_only")
    def same(input: TensorType, other: TensorType) -> TensorType:
        return TensorType(input.shape)

    cpu, cuda = Device("cpu"), Device("cuda", 0)
    found = infer("torch.test_only", (tensor(3, device=cuda), tensor(3, device=cpu)))
    assert isinstance(found, Report)
    assert (found.kind, found.reason) == ("device", "input is on cuda:0, but other is on cpu")
    assert found.hint == "move one of them: other.to('cuda:0')"
    assert infer("torch.test_only", (tensor(3, device=cuda), tensor(device=cpu))) == tensor(3, device=cuda)
    assert infer("torch.test_only", (tensor(3, device=cuda), tensor(3))) == tensor(3, device=cuda)
    assert isinstance(infer("torch.test_only", (tensor(3, device=cuda), tensor(3, device=Device("cuda", 1)))), Report)
    assert infer("torch.test_only", (tensor(3, device=Device("cuda")), tensor(3, device=cuda))) == tensor(
        3, device=Device("cuda")
    )


def test_a_rule_that_moves_takes_any_devices(own_rule):
    @own_rule("torch.test_only", moves=True)
    def first(input: TensorType, other: TensorType) -> Named:
        return Named("pair", (("a", input), ("b", other)))

    cpu, cuda = tensor(3, device=Device("cpu")), tensor(3, device=Device("cuda"))
    assert infer("torch.test_only", (cpu, cuda)) == Named("pair", (("a", cpu), ("b", cuda)))


def test_a_result_is_no_parameter_and_is_where_its_operands_are(own_rule):
    @own_rule("torch.test_only")
    def echo(input: TensorType) -> tuple[TensorType, TensorType]:
        return input, TensorType(Shape.of(2))

    cuda = Device("cuda")
    weight = TensorType(Shape.of(3), device=cuda, is_parameter=True)
    assert infer("torch.test_only", (weight,)) == (tensor(3, device=cuda), tensor(2, device=cuda))


def test_cannot_tell_is_unknown(own_rule):
    @own_rule("torch.test_only")
    def nothing(input: TensorType) -> TensorType:
        raise CannotTell

    assert infer("torch.test_only", (tensor(3),)) is ANYTHING


def test_a_module_that_cannot_be_built_is_reported():
    found = new_module("torch.nn.Linear", {"in_features": -1, "out_features": 3})
    assert isinstance(found, Report)
    assert found.text == "Linear: in_features is -1, but it must be at least 0"
    assert new_module("torch.nn.Linear", {"in_features": 3}) is None
    assert new_module("torch.nn.NoSuchModule", {}) is None


def test_a_mismatch_carries_fields():
    found = Mismatch("why", kind="dtype", hint="how", expected=1, got=2)
    assert (str(found), found.kind, found.hint, found.expected, found.got) == ("why", "dtype", "how", 1, 2)


def test_a_rule_knows_its_tensor_parameters():
    def function(input: TensorType, dim: int) -> TensorType:
        return input

    assert Rule(("x",), function).tensor_parameters == {"input"}


def test_torch_is_the_one_that_the_rules_were_measured_on():
    assert torch.__version__.startswith("2.")


def test_the_names_that_tensors_have() -> None:
    public = {name for name in dir(torch.Tensor) if not name.startswith("_")} - {"to_dlpack"}  # ours
    assert set(of_tensors()) == public
    assert all(map(is_of_tensors, public))
    assert not is_of_tensors("unsqeeze")
