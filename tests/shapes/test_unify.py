"""Unification: what it binds makes the pattern the shape, and it clashes only where nothing could."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simpletorch.shapes import ANY_REST, UNKNOWN, Bindings, Clash, Expr, Rest, Shape, Var, substitute, unify, var
from tests.shapes.trees import instances, shapes

N, M, K = map(var, "NMK")
BATCH = Rest("Batch")
of = Shape.of
FLEXIBLE = frozenset({Var("N"), Var("M")})
SIZES = [{Var("N"): n, Var("M"): m} for n, m in product(range(1, 13), repeat=2)]

patterns = st.lists(st.sampled_from([N, M, 2 * N, N + 1, 3 * M + 2, N * M, N + M, 4, N // 2]), max_size=4).map(
    lambda items: Shape(tuple(items))
)


def fresh():
    return Bindings(FLEXIBLE)


@given(patterns, st.sampled_from(SIZES))
def test_a_pattern_unifies_with_its_own_instances(pattern, sizes):
    bindings = fresh()
    assert unify(pattern, pattern.substitute(sizes), bindings) is None
    for name, bound in bindings.dims.items():
        assert bound == sizes[name]


@given(patterns, st.lists(st.integers(1, 12), max_size=4))
def test_a_clash_means_that_no_sizes_fit(pattern, numbers):
    if unify(pattern, Shape(tuple(numbers)), fresh()) is not None:
        assert not any(pattern.substitute(sizes).dims == tuple(numbers) for sizes in SIZES)


@given(patterns, st.sampled_from(SIZES), st.data())
def test_an_instance_of_which_less_is_known_unifies_too(pattern, sizes, data):
    items = [UNKNOWN if data.draw(st.booleans()) else d for d in pattern.substitute(sizes).dims]
    if data.draw(st.booleans()):
        left = data.draw(st.integers(0, len(items)))
        items[left : data.draw(st.integers(left, len(items)))] = [ANY_REST]
    bindings = fresh()
    assert unify(pattern, Shape(tuple(items)), bindings) is None
    for name, bound in bindings.dims.items():
        assert bound in (sizes[name], UNKNOWN)


@given(shapes(), st.data())
def test_a_variadic_pattern_unifies_with_its_instances(pattern, data):
    rests = data.draw(st.lists(st.integers(1, 5), max_size=3))
    concrete = data.draw(instances(pattern, rests))
    bindings = fresh()
    assert unify(pattern, Shape(concrete), bindings) is None
    if pattern.rest == Rest("R"):
        assert bindings.rests[Rest("R")] == tuple(rests)


@pytest.mark.parametrize(
    ("pattern", "actual", "dims"),
    [
        (of(N, 4), of(7, 4), {"N": 7}),
        (of(2 * N), of(10), {"N": 5}),
        (of(2 * N + 1), of(11), {"N": 5}),
        (of(5 - N), of(3), {"N": 2}),
        (of(N, 2 * N), of(3, 6), {"N": 3}),
        (of(N), of(K), {"N": K}),
        (of(2 * N), of(2 * K), {"N": K}),
        (of(N + 1), of(K), {"N": K - 1}),
        (of(K * N), of(K * 3), {}),
        (of(N, N + M), of(3, 8), {"N": 3, "M": 5}),
        (of(N), of(UNKNOWN), {"N": UNKNOWN}),
        (of(N, N), of(UNKNOWN, 5), {"N": 5}),
        (of(N, N), of(5, UNKNOWN), {"N": 5}),
        (of(N * M), of(6), {}),
        (of(N), of(ANY_REST), {}),
        (of(N, M), of(ANY_REST, 7), {"M": 7}),
        (of(N, M), of(3, ANY_REST, 7), {"N": 3, "M": 7}),
    ],
    ids=str,
)
def test_binds(pattern, actual, dims):
    bindings = fresh()
    assert unify(pattern, actual, bindings) is None
    assert {v.name: d for v, d in bindings.dims.items()} == dims


@pytest.mark.parametrize(
    ("pattern", "actual", "text"),
    [
        (of(N, 4), of(7, 5), "dim 1: expected 4, got 5"),
        (of(N, N), of(3, 5), "dim 1: expected 3, got 5"),
        (of(2 * N), of(7), "dim 0: expected 2*N, got 7"),
        (of(N + 5), of(3), "dim 0: expected N + 5, got 3"),
        (of(N, M), of(3), "expected 2 dims (N, M), got 1 dims (3,)"),
        (of(N), of(3, ANY_REST, 5), "expected 1 dims (N,), got at least 2 dims (3, ..., 5)"),
        (of(N, BATCH, M), of(3), "expected at least 2 dims (N, *Batch, M), got 1 dims (3,)"),
        (of(BATCH, 4), of(7, 5), "dim -1: expected 4, got 5"),
        (of(K), of(N), "dim 0: expected K, got N"),
        (of(N, N), of(3, K), "dim 1: expected 3, got K"),
    ],
    ids=str,
)
def test_clashes(pattern, actual, text):
    clash = unify(pattern, actual, fresh())
    assert isinstance(clash, Clash)
    assert str(clash) == text


def test_bindings_grow_over_several_operands():
    bindings = fresh()
    assert unify(of(BATCH, N), of(2, 3, 7), bindings) is None
    assert unify(of(N, M), of(7, 11), bindings) is None
    assert bindings.rests == {BATCH: (2, 3)}
    assert of(BATCH, M).substitute(bindings.dims, bindings.rests) == of(2, 3, 11)
    assert str(unify(of(BATCH, M), of(2, 5, 11), bindings)) == "expected *Batch = (2, 3), got (2, 5)"
    assert str(unify(of(BATCH, M), of(2, 11), bindings)) == "expected *Batch = (2, 3), got (2,)"


def test_a_variadic_part_of_unknown_length():
    bindings = fresh()
    assert unify(of(BATCH, N), of(ANY_REST, 7), bindings) is None
    assert bindings.rests == {BATCH: (ANY_REST,)}
    assert unify(of(BATCH), of(2, 3), bindings) is None


def test_rigid_variables_are_not_bound():
    bindings = Bindings(frozenset())
    assert unify(of(N), of(N), bindings) is None
    assert str(unify(of(N), of(3), bindings)) == "dim 0: expected N, got 3"


def test_solutions_are_dims_of_the_actual_shape():
    bindings = fresh()
    assert unify(of(2 * N), of(K), bindings) is None
    found = bindings.dims[Var("N")]
    assert isinstance(found, Expr)
    assert substitute(found, {Var("K"): 10}) == 5
