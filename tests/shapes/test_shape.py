"""Shapes and how they broadcast, against a reference that knows numbers only."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simpletorch.shapes import (
    ANY_REST,
    ANY_SHAPE,
    UNKNOWN,
    BroadcastError,
    Rest,
    Shape,
    Var,
    broadcast,
    broadcast_dims,
    equal,
    same,
    var,
)
from tests.shapes import trees
from tests.shapes.trees import instances, is_instance, shapes

B, N, M, H = map(var, "BNMH")
BATCH = Rest("Batch")
of = Shape.of


def reference(a, b):
    """`torch.broadcast_shapes` for two tuples of numbers; None where they don't fit."""
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b), strict=True)
    out = [y if x == 1 else x if y in (1, x) else None for x, y in pairs]
    return None if None in out else tuple(out)


# -- what a shape knows ------------------------------------------------------------------------------------------------


def test_an_exact_shape():
    shape = of(2, N, 5)
    assert (shape.rank, shape.min_rank, shape.rest, shape.is_exact, shape.is_literal) == (3, 3, None, True, False)
    assert (shape.dim(-1), shape.dim(0), shape.dim(1)) == (5, 2, N)
    assert shape.last(2) == (N, 5)
    assert shape.drop_last(2) == of(2)
    assert shape.numel() == 10 * N
    assert str(shape) == "(2, N, 5)"
    assert str(of(3)) == "(3,)"
    assert list(shape) == [2, N, 5]
    with pytest.raises(IndexError):
        shape.dim(3)


def test_a_variadic_shape():
    shape = of(2, BATCH, N, 5)
    assert (shape.rank, shape.min_rank, shape.rest, shape.is_exact) == (None, 3, BATCH, False)
    assert (shape.head, shape.tail) == ((2,), (N, 5))
    assert (shape.dim(0), shape.dim(1), shape.dim(-2), shape.dim(-3)) == (2, UNKNOWN, N, UNKNOWN)
    assert shape.last(3) == (UNKNOWN, N, 5)
    assert shape.drop_last(2) == of(2, BATCH)
    assert shape.drop_last(3) == of(ANY_REST)
    assert shape.numel() is UNKNOWN
    assert str(shape) == "(2, *Batch, N, 5)"
    assert str(ANY_SHAPE) == "(...,)"
    with pytest.raises(ValueError, match=r"^\(2, \*Batch, N, 5\) has no fixed number of dims$"):
        shape.dims  # noqa: B018


def test_two_variadic_parts_are_an_error():
    message = r"^a shape can have only one variadic part, but \(\.\.\., 3, \*Batch\) has several$"
    with pytest.raises(ValueError, match=message):
        of(ANY_REST, 3, BATCH)


def test_substitute():
    shape = of(BATCH, 2 * N, M)
    assert shape.substitute({Var("N"): 5}) == of(BATCH, 10, M)
    assert shape.substitute({Var("N"): 5, Var("M"): 7}, {BATCH: (2, 3)}) == of(2, 3, 10, 7)


@given(shapes(), st.integers(0, 5), st.data())
def test_drop_last_holds_for_every_instance(shape, count, data):
    concrete = data.draw(instances(shape))
    assume(len(concrete) >= count)
    dropped = shape.drop_last(count)
    kept = concrete[: len(concrete) - count]
    if dropped.rest == Rest("R"):
        assert len(dropped.items) == len(shape.items) - count
    else:
        assert is_instance(kept, dropped)


@given(shapes(), st.integers(-5, 4), st.data())
def test_dim_holds_for_every_instance(shape, index, data):
    concrete = data.draw(instances(shape))
    assume(-len(concrete) <= index < len(concrete))
    assert shape.dim(index) in (concrete[index], UNKNOWN)


# -- broadcasting ------------------------------------------------------------------------------------------------------

numbers = st.sampled_from([0, 1, 2, 3])


@given(shapes(dims=numbers, variadic=False), shapes(dims=numbers, variadic=False))
def test_broadcast_of_numbers(a, b):
    expected = reference(a.dims, b.dims)
    if expected is None:
        with pytest.raises(BroadcastError):
            broadcast(a, b)
    else:
        assert broadcast(a, b) == Shape(expected)


@given(shapes(), shapes(), st.data())
def test_broadcast_of_what_is_partly_known_holds_for_every_instance(a, b, data):
    rests = data.draw(st.lists(st.sampled_from([1, 2, 3]), max_size=3))  # what *R is, on both sides
    x, y = data.draw(instances(a, rests)), data.draw(instances(b, rests))
    truth = reference(x, y)
    try:
        answer = broadcast(a, b)
    except BroadcastError:
        assert truth is None
    else:
        assert truth is None or is_instance(truth, answer, rests)


@given(shapes(), shapes())
def test_broadcast_commutes_in_what_it_refuses(a, b):
    def refuses(x, y):
        try:
            broadcast(x, y)
        except BroadcastError:
            return True
        return False

    assert refuses(a, b) == refuses(b, a)


@given(shapes(dims=st.sampled_from([1, 2, 3]), variadic=False))
def test_broadcast_with_itself_and_with_a_scalar(shape):
    assert broadcast(shape, shape) == broadcast(shape, of()) == broadcast(of(), shape) == shape


symbols = st.sampled_from([1, 2, N, M, 2 * N, N + 1])


@given(shapes(dims=symbols, variadic=False), shapes(dims=symbols, variadic=False), st.integers(2, 9), st.integers(2, 9))
def test_broadcast_of_symbols_holds_for_every_size(a, b, n, m):
    sizes = {Var("N"): n, Var("M"): m}
    truth = reference(a.substitute(sizes).dims, b.substitute(sizes).dims)
    try:
        answer = broadcast(a, b)
    except BroadcastError as e:
        refused = e
    else:
        assert truth is not None
        assert answer.substitute(sizes).dims == truth
        return
    assert equal(refused.left, refused.right) is False


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (of(B, 1), of(N), of(B, N)),
        (of(B, N), of(N), of(B, N)),
        (of(B, N), of(UNKNOWN), of(B, N)),
        (of(UNKNOWN), of(1), of(UNKNOWN)),
        (of(UNKNOWN), of(5), of(5)),
        (of(BATCH, N), of(N), of(BATCH, N)),
        (of(BATCH, N), of(BATCH, N), of(BATCH, N)),
        (of(BATCH, N), of(BATCH, 1), of(BATCH, N)),
        (of(BATCH, N), of(5, N), of(ANY_REST, N)),
        (of(ANY_REST, 128), of(128), of(ANY_REST, 128)),
        (of(ANY_REST, 128), of(7, 128), of(ANY_REST, 7, 128)),
        (of(ANY_REST, 128), of(1, 128), of(ANY_REST, UNKNOWN, 128)),
        (ANY_SHAPE, of(3, 5), of(ANY_REST, 3, 5)),
        (ANY_SHAPE, ANY_SHAPE, ANY_SHAPE),
        (of(ANY_REST), of(), ANY_SHAPE),
    ],
    ids=str,
)
def test_broadcast(a, b, expected):
    assert broadcast(a, b) == broadcast(b, a) == expected


@pytest.mark.parametrize(
    ("a", "b", "index", "message"),
    [
        (of(3, 5), of(3, 7), -1, "5 and 7 differ and neither is 1"),
        (of(3, 5), of(2, 5), -2, "3 and 2 differ and neither is 1"),
        (of(B, N), of(B, M), -1, "N and M differ and neither is 1"),
        (of(ANY_REST, 3), of(5), -1, "3 and 5 differ and neither is 1"),
        (of(BATCH, 3, N), of(4, N), -2, "3 and 4 differ and neither is 1"),
    ],
    ids=str,
)
def test_broadcast_refuses(a, b, index, message):
    with pytest.raises(BroadcastError) as found:
        broadcast(a, b)
    assert (found.value.index, str(found.value)) == (index, message)


def test_broadcast_dims_that_may_be_equal():
    assert broadcast_dims(N // H * H, N) == N // H * H
    assert broadcast_dims(N, N // H * H) == N


# -- equality ----------------------------------------------------------------------------------------------------------


@given(shapes(), shapes(), st.data())
def test_same_is_never_wrong(a, b, data):
    verdict = same(a, b)
    rests = data.draw(st.lists(st.sampled_from([1, 2, 3]), max_size=3))
    x, y = data.draw(instances(a, rests)), data.draw(instances(b, rests))
    if verdict is not None:
        assert verdict == (x == y)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (of(2, N), of(2, N), True),
        (of(2, N), of(2, M), False),
        (of(2, N), of(2, UNKNOWN), None),
        (of(2), of(2, 1), False),
        (of(BATCH, N), of(BATCH, N), True),
        (of(BATCH, N), of(BATCH, 3), False),
        (of(ANY_REST, N), of(ANY_REST, N), None),
        (of(ANY_REST, 3), of(5), False),
        (of(ANY_REST, 3, 5), of(5), False),
        (of(ANY_REST, 5), of(3, 5), None),
        (of(BATCH, N), of(Rest("Other"), N), None),
    ],
    ids=str,
)
def test_same(a, b, verdict):
    assert same(a, b) is verdict
    assert same(b, a) is verdict


def test_the_reference_knows_torch_s_rule():
    assert reference((7, 1, 5), (3, 5)) == (7, 3, 5)
    assert reference((3,), (2,)) is None
    assert trees.is_instance((7, 3), of(ANY_REST, 3))
    assert not trees.is_instance((7, 3), of(ANY_REST, 5))
