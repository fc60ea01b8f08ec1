"""Reading dims and jaxtyping's shape strings: what is accepted means what jaxtyping means, what is not says why."""

from contextlib import suppress

import jaxtyping
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simpletorch.shapes import (
    ANY_REST,
    UNKNOWN,
    Axis,
    DimSyntaxError,
    Rest,
    Shape,
    maximum,
    minimum,
    parse_axes,
    parse_dim,
    parse_shape,
    rest_in,
    var,
)
from tests.shapes.trees import trees

B, N, M, H = map(var, "BNMH")


@pytest.mark.parametrize(
    ("text", "name"), [("*Batch", "Batch"), (" *b ", "b"), ("Batch", None), ("*2", None), ("**b", None), ("2*N", None)]
)
def test_any_number_of_dims_in_quotes(text, name):
    assert rest_in(text) == name


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("3", 3),
        ("N", N),
        (" 2*N + 1 ", 2 * N + 1),
        ("(H - 1)//2 + 1", (H + 1) // 2),
        ("N % 4", N % 4),
        ("2**N", 2**N),
        ("N**2", N * N),
        ("-N + 5", 5 - N),
        ("min(N, 3)", minimum(N, 3)),
        ("max(N, M, 3)", maximum(N, M, 3)),
        ("N//N", 1),
        ("7//2", 3),
        ("7%4", 3),
        ("2**10", 1024),
    ],
)
def test_parse_dim(text, dim):
    assert parse_dim(text) == dim


@given(trees)
def test_a_tree_reads_as_it_is_built(tree):
    refused = ""
    try:
        assert parse_dim(str(tree)) == tree.build()
    except DimSyntaxError as e:
        refused = str(e)
    assert not refused or "divides by zero" in refused or "to the power of" in refused


def test_names_are_resolved():
    known = {"N": 5, "M": M}

    def resolve(name):
        if name not in known:
            raise DimSyntaxError(f"{name} is no dim here")
        return known[name]

    assert parse_dim("2*N + M", resolve) == M + 10
    with pytest.raises(DimSyntaxError, match=r"^K is no dim here$"):
        parse_dim("K", resolve)


NOT = "write integers, names and + - * // % ** min max"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f'"" is not a dim expression; {NOT}'),
        ("N +", f'"N +" is not a dim expression; {NOT}'),
        ("a b", f'"a b" is not a dim expression; {NOT}'),
        ("N\0", f'"N\0" is not a dim expression; {NOT}'),
        ("N/2", '"N/2" divides with "/", which gives a float; sizes divide with "//"'),
        ("N//0", '"N//0" divides by zero'),
        ("N%0", '"N%0" divides by zero'),
        ("3//(1 - 1)", '"3//(1 - 1)" divides by zero'),
        ("N//(M - M)", '"N//(M - M)" divides by zero'),
        ("2**65", '"2**65" raises to the power of 65; no size is that large'),
        ("2**(64**64)", f'"2**(64**64)" raises to the power of {64**64}; no size is that large'),
        ("True", f'"True" in "True" is not part of a dim; {NOT}'),
        ("2*1.5", f'"1.5" in "2*1.5" is not part of a dim; {NOT}'),
        ("N & 1", f'"N & 1" in "N & 1" is not part of a dim; {NOT}'),
        ("x.y + 1", f'"x.y" in "x.y + 1" is not part of a dim; {NOT}'),
        ("abs(N)", f'"abs(N)" in "abs(N)" is not part of a dim; {NOT}'),
        ("min()", f'"min()" in "min()" is not part of a dim; {NOT}'),
        ("~N", f'"~N" in "~N" is not part of a dim; {NOT}'),
        ("N if M else 2", f'"N if M else 2" in "N if M else 2" is not part of a dim; {NOT}'),
        ("__import__('os')", f"\"__import__('os')\" in \"__import__('os')\" is not part of a dim; {NOT}"),
    ],
)
def test_no_dim(text, message):
    with pytest.raises(DimSyntaxError) as found:
        parse_dim(text)
    assert str(found.value) == message


@given(st.text(alphabet="NM12+-*/%() ,.minax", max_size=12))
def test_any_text_is_a_dim_or_says_why_not(text):
    with suppress(DimSyntaxError):
        parse_dim(text)


# -- jaxtyping's strings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("", ()),
        ("b c", (Axis("dim", "b"), Axis("dim", "c"))),
        ("3  7", (Axis("dim", "3"), Axis("dim", "7"))),
        ("...", (Axis("any_rest"),)),
        ("... d", (Axis("any_rest"), Axis("dim", "d"))),
        ("*batch d", (Axis("rest", "batch"), Axis("dim", "d"))),
        ("_ d", (Axis("any"), Axis("dim", "d"))),
        ("_named d", (Axis("any"), Axis("dim", "d"))),
        ("*_ d", (Axis("any_rest"), Axis("dim", "d"))),
        ("#b", (Axis("dim", "b", True),)),
        ("*#b", (Axis("rest", "b", True),)),
        ("#*b", (Axis("rest", "b", True),)),
        ("rows=3", (Axis("dim", "3"),)),
        ("2*n+1", (Axis("dim", "2*n+1"),)),
        ("{self.size}+1", (Axis("dim", "{self.size}+1"),)),
    ],
)
def test_parse_axes(text, axes):
    assert parse_axes(text) == axes


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", Shape.of()),
        ("b c 3", Shape.of(var("b"), var("c"), 3)),
        ("... 3", Shape.of(ANY_REST, 3)),
        ("*batch 3", Shape.of(Rest("batch"), 3)),
        ("*#batch 3", Shape.of(ANY_REST, 3)),
        ("_ #b n=4", Shape.of(UNKNOWN, UNKNOWN, 4)),
        ("2*n+1", Shape.of(2 * var("n") + 1)),
        ("{n}", Shape.of(UNKNOWN)),
    ],
)
def test_parse_shape(text, shape):
    assert parse_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*a *b", '"*a *b" has two variadic parts; a shape can have only one "*name" or "..."'),
        ("... *b", '"... *b" has two variadic parts; a shape can have only one "*name" or "..."'),
        ("b, c", '"b," in "b, c": dims are separated by spaces, not by ","'),
        ("b;c", '"b;c" in "b;c": dims are separated by spaces, not by ";"'),
        ("-3", '"-3" in "-3" is negative; a size is 0 or more'),
        ("*3", '"*3" in "*3": a variadic part is "*name", so "3" must be one name'),
        ("*a+1", '"*a+1" in "*a+1": a variadic part is "*name", so "a+1" must be one name'),
        ("#", '"#" in "#" names no dim'),
        ("*", '"*" in "*" names no dim'),
        ("n=", '"n=" in "n=" is neither a dim nor name=size'),
        ("2=3", '"2=3" in "2=3" is neither a dim nor name=size'),
        ("b/2", '"b/2" divides with "/", which gives a float; sizes divide with "//"'),
    ],
)
def test_no_axes(text, message):
    with pytest.raises(DimSyntaxError) as found:
        parse_axes(text)
    assert str(found.value) == message


WORDS = ("b", "c", "3", "1", "_", "...", "*batch", "#b", "*#batch", "n=5", "b+1", "2*b", "*_")


@given(st.lists(st.sampled_from(WORDS), max_size=4), st.lists(st.integers(1, 6), max_size=4))
def test_what_jaxtyping_accepts_we_do_too_and_ranks_agree(words, numbers):
    text = " ".join(words)
    try:
        annotation = jaxtyping.Float[np.ndarray, text]
    except ValueError:
        with pytest.raises(DimSyntaxError):
            parse_axes(text)
        return
    shape = parse_shape(text)
    with jaxtyping.jaxtyped("context"):
        try:
            fits = isinstance(np.zeros(numbers), annotation)
        except NameError:  # an expression over a name that no dim has bound
            return
        except jaxtyping.AnnotationError:
            return
    if fits:
        assert shape.is_exact is False or shape.rank == len(numbers)
        assert shape.min_rank <= len(numbers)
        assert all(d == n for d, n in zip(shape.items, numbers, strict=False) if shape.is_exact and isinstance(d, int))
