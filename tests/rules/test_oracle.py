"""A seeded sample of torch's own test inputs through the oracle: no rule is wrong, none refuses what torch accepts."""

from collections import Counter

import oracle
import oracle_lesser
import pytest
import torch

import simpletorch.rules as rules
from simpletorch.rules import ANYTHING, Mismatch, Named, Report, Scalar, TensorType, tensor
from simpletorch.rules.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape, var

BAD = ("wrong", "false_error")
SHARDS = 8


def _select(shard):
    return lambda names: sum(map(ord, names[0])) % SHARDS == shard and any(n in rules.RULES for n in names)


def _calls(shard):
    for call in oracle.samples(_select(shard), dtypes=(torch.float32, torch.int64), count=1, seed=1):
        if call.name in rules.RULES:
            yield call
            yield from oracle.perturbations(call, count=1)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
        lesser = list(oracle_lesser.weakened(call, count=2, seed=2))
        lesser += [found for found in [oracle_lesser.symbolic(call)] if found is not None]
        count += len(lesser)
        bad += [f"{text}, where it is {call}\n  {j}" for text, j in lesser if j.verdict in BAD]
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
