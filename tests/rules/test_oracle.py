"""A seeded sample of torch's own test inputs through the oracle: no rule is wrong, none refuses what torch accepts."""

import re
from collections import Counter
from dataclasses import replace

import pytest
import torch

import simpletorch.rules as rules
from simpletorch.cli._coverage import measured
from simpletorch.rules import ANYTHING, Mismatch, Named, Report, Scalar, TensorType, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape, var
from tests import oracle
from tests.oracle import __main__ as command_line
from tests.oracle import by_hand, less_known

BAD = ("wrong", "false_error")
SHARDS = 8


def _select(shard):
    return lambda names: sum(map(ord, names[0])) % SHARDS == shard and any(n in rules.RULES for n in names)


def _calls(shard):
    for call in oracle.samples(_select(shard), dtypes=(torch.float32, torch.int64), count=1, seed=1):
        if call.name in rules.RULES:
            yield call
            yield from oracle.perturbations(call, count=1)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_rule_contradicts_torch(shard):
    judged = [(call, call.judge()) for call in _calls(shard)]
    bad = [f"{call}\n  {j}" for call, j in judged if j.verdict in BAD]
    assert len(judged) > 20
    assert not bad, "\n".join([f"{len(bad)} of {len(judged)} calls:", *bad[:20]])


@pytest.mark.parametrize("shard", range(SHARDS))
def test_with_less_known_no_rule_contradicts_torch(shard):
    bad, count = [], 0
    for call in oracle.samples(_select(shard), dtypes=(torch.float32, torch.int64), count=1, seed=2):
        if call.name not in rules.RULES or _is_out_of_scope(call):
            continue
        known_less = list(less_known.weakened(call, count=2, seed=2))
        known_less += [found for found in [less_known.symbolic(call)] if found is not None]
        count += len(known_less)
        bad += [f"{text}, where it is {call}\n  {j}" for text, j in known_less if j.verdict in BAD]
    assert count > 20
    assert not bad, "\n".join([f"{len(bad)} of {count} calls:", *bad[:20]])


def _is_out_of_scope(call):
    """Sizes are at least 1; and `chunk` of an unknown size is taken to give as many pieces as were asked for."""
    return _pieces(call) or not all(t.numel() for t in oracle.tensors_in(call.args, dict(call.kwargs)))


def _pieces(call):
    return call.name.endswith("chunk") and len(oracle.run_torch(call.name, call.args, call.kwargs)) < call.args[1]


def test_torch_s_own_error_inputs_are_refused():
    calls = oracle.error_inputs(lambda names: any(n in rules.RULES for n in names))
    found = Counter(call.judge().verdict for call in calls if call.name in rules.RULES)
    assert found["both_refuse"] >= 0.85 * found.total(), found


@pytest.mark.parametrize("call", list(by_hand.calls()), ids=str)
def test_samples_by_hand(call):
    assert call.judge().verdict == "exact"
    assert not [str(c) for c in oracle.perturbations(call) if c.judge().verdict in BAD]


def test_samples_by_hand_are_for_what_op_db_lacks():
    assert not {call.name for call in by_hand.calls()} & set(measured())


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.fixture
def prove(capsys):
    """Runs ``python -m tests.oracle``: the exit status, and what it prints and says."""

    def run(*arguments):
        status = command_line.main(["--count", "1", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_a_right_rule_is_proved(prove):
    status, out, err = prove("--op", "torch.outer", "--perturb")
    assert (status, out) == (0, "")
    assert re.search(r"^sample +exact +\d+$", err, re.MULTILINE)


def test_a_rule_is_proved_by_hand_where_op_db_has_no_inputs(prove):
    status, out, err = prove("--op", "torch.gru_cell")
    assert (status, out) == (0, "")
    assert re.search(r"^by hand +exact +1$", err, re.MULTILINE)


def test_a_wrong_rule_is_found_out(prove, monkeypatch):
    wrong = replace(rules.RULES["torch.gru_cell"], function=lambda *args: TensorType(Shape.of(3)))
    monkeypatch.setitem(rules.RULES, "torch.gru_cell", wrong)
    status, out, _ = prove("--op", "torch.gru_cell")
    assert status == 1
    assert "by hand: wrong" in out


def test_a_rule_that_crashes_is_found_out(prove, monkeypatch):
    def crash(*args):
        raise ZeroDivisionError

    monkeypatch.setitem(rules.RULES, "torch.gru_cell", replace(rules.RULES["torch.gru_cell"], function=crash))
    with pytest.raises(ZeroDivisionError):
        prove("--op", "torch.gru_cell")


def test_what_has_no_inputs_proves_nothing_and_says_what_to_do(prove):
    status, out, err = prove("--op", "Tensor.apply_")
    assert (status, out) == (2, "")
    assert err == (
        "torch's op_db has no inputs for Tensor.apply_, so nothing is proved: add samples to tests/oracle/by_hand.py\n"
    )


def test_of_several_each_must_have_inputs(prove):
    status, _, err = prove("--op", "torch.gru_cell", "--op", "Tensor.apply_")
    assert status == 2
    assert "no inputs for Tensor.apply_" in err


def test_a_name_that_nothing_has_is_an_error(prove):
    status, _, err = prove("--op", "torch.outre")
    assert (status, err) == (2, "no rule, entry of op_db or family is called torch.outre; did you mean torch.outer?\n")
    assert prove("--family", "reduce")[0] == 2


def test_the_examples_of_the_help_name_what_there_is():
    text = command_line.parser().format_help()
    families, operations = re.findall(r"--family (\w+ )", text), re.findall(r"--op (torch[.\w]+)", text)
    assert {f.strip() for f in families} - {"FAMILY"} == {"reduction"}
    assert {oracle.family(name) for name in rules.RULES} >= {"reduction"}
    assert operations
    assert set(operations) <= set(rules.RULES)


# -- the oracle itself: it must be able to fail ------------------------------------------------------------------------


@pytest.fixture
def rule_says(monkeypatch):
    """Makes the rule of ``torch.add`` answer, or raise, what the test says."""

    def says(answer):
        def function(input: TensorType, other: object) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setitem(rules.RULES, "torch.add", rules.Rule(("torch.add",), function))

    return says


A, B = torch.zeros(3, 5), torch.zeros(7, 1, 5)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (tensor(7, 3, 5, dtype=FLOAT32), "exact"),
        (tensor(7, 3, 5), "partial"),
        (tensor(7, UNKNOWN, 5, dtype=FLOAT32), "partial"),
        (tensor(ANY_REST, 5, dtype=FLOAT32), "partial"),
        (TensorType(), "unknown"),
        (ANYTHING, "unknown"),
        (tensor(7, 3, 5, dtype=FLOAT64), "wrong"),
        (tensor(7, 3, 11, dtype=FLOAT32), "wrong"),
        (tensor(3, 5, dtype=FLOAT32), "wrong"),
        (tensor(7, 3, var("N"), dtype=FLOAT32), "wrong"),
        (tensor(ANY_REST, 3, dtype=FLOAT32), "wrong"),
        (tensor(7, 3, ANY_REST, 3, 5, dtype=FLOAT32), "wrong"),
        ((tensor(7, 3, 5, dtype=FLOAT32),), "wrong"),
        (Mismatch("no"), "false_error"),
        (Mismatch("likely a mistake", kind="broadcast"), "flagged"),
    ],
    ids=str,
)
def test_verdict_on_a_call_that_torch_accepts(rule_says, answer, verdict):
    rule_says(answer)
    assert oracle.judge("torch.add", (A, B)) == verdict


def test_a_broadcast_warning_is_a_false_error_where_nothing_grows(rule_says):
    rule_says(Mismatch("likely a mistake", kind="broadcast"))
    assert oracle.judge("torch.add", (A, A)) == "false_error"


@pytest.mark.parametrize(
    ("answer", "verdict"), [(Mismatch("no"), "both_refuse"), (ANYTHING, "missed"), (tensor(3, 5), "missed")], ids=str
)
def test_verdict_on_a_call_that_torch_refuses(rule_says, answer, verdict):
    rule_says(answer)
    assert oracle.judge("torch.add", (A, torch.zeros(3, 7))) == verdict


def test_lift():
    lifted = oracle.lift(
        [torch.zeros(2, 3), torch.tensor(1), torch.bool, torch.Size([2]), 1.5, slice(2), ..., object()]
    )
    assert lifted == (
        tensor(2, 3, dtype=FLOAT32), tensor(dtype=INT64), BOOL, (2,), 1.5, slice(2), ..., ANYTHING
    )  # fmt: skip


def test_named_tuples_are_compared_by_fields():
    found = oracle.run_torch("torch.max", (torch.zeros(3, 5), 0))
    values, indices = tensor(5, dtype=FLOAT32), tensor(5, dtype=INT64)
    assert found == Named("max", (("values", values), ("indices", indices)))
    assert oracle.compare(Named("torch.return_types.max", found.fields), found) == "exact"
    assert oracle.compare((values, indices), found) == "partial"
    assert oracle.compare(Named("max", (("values", values), ("index", indices))), found) == "wrong"


def test_an_unknown_number_is_consistent_with_its_type():
    assert oracle.compare(Scalar("float"), 1.5) == "partial"
    assert oracle.compare(Scalar("float"), True) == "wrong"
    assert oracle.compare(UNKNOWN, 3) == "partial"


def test_redrawn_calls_have_distinct_sizes():
    call = oracle.redraw(oracle.Call("torch.add", (torch.zeros(5, 5, 5), torch.zeros(5, 5))))
    assert [tuple(t.shape) for t in call.args] == [(5, 7, 11), (7, 11)]


def test_perturbations_change_one_dim_or_dtype():
    call = oracle.Call("torch.add", (torch.zeros(3, 5), torch.zeros(5)))
    changed = list(oracle.perturbations(call, count=10))
    assert {c.change: tuple(tuple(t.shape) for t in c.args) for c in changed if c.change == "dtype"}
    assert {tuple(tuple(t.shape) for t in c.args) for c in changed if c.change == "dim"} == {
        ((4, 5), (5,)), ((3, 6), (5,)), ((3, 5), (6,))
    }  # fmt: skip


def test_the_result_of_a_refusal_is_the_exception():
    assert isinstance(oracle.run_torch("torch.mm", (A, A)), RuntimeError)
    assert isinstance(rules.infer("torch.mm", oracle.lift((A, A))), Report)
    assert oracle.run_torch("torch.mm", (A, A.T)).shape == Shape.of(3, 3)
