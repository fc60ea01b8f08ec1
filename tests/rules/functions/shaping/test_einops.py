"""Rules of einops against the real einops, over random patterns."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import einops
import einops.layers.torch
import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, INT32, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Rest, var, variables
from tests import oracle
from tests.rules.hiding import hidden

NAMES = "abcdef"
SIZES = dict(zip(NAMES, (2, 3, 5, 7, 11, 13), strict=True))
B, T, H, D, C = map(var, "BTHDC")
BATCH = Rest("Batch")


def attempt(action: Callable[[], Any]) -> Any:
    """What einops answers, or why it refuses."""
    try:
        return action()
    except (einops.EinopsError, RuntimeError, NotImplementedError, TypeError, ValueError) as e:
        return e


def group(rng: random.Random, axes: list[str]) -> list[list[str]]:
    """The axes in order, some of them put together."""
    out: list[list[str]] = []
    for a in axes:
        if out and rng.random() < 0.3 and "..." not in out[-1] and a != "...":
            out[-1].append(a)
        else:
            out.append([a])
    return out


def write(groups: list[list[str]], rng: random.Random) -> str:
    words = [f"({' '.join(g)})" if len(g) > 1 else g[0] for g in groups]
    if rng.random() < 0.15:
        words.insert(rng.randint(0, len(words)), rng.choice(["1", "()"]))
    return " ".join(words)


def draw(rng: random.Random, operation: str) -> tuple[str, list[int], dict[str, int]]:
    """A pattern, a shape that mostly fits, and sizes for axes."""
    left = rng.sample(NAMES[:5], rng.randint(1, 4))
    right = rng.sample(left, len(left))
    if rng.random() < 0.3:
        left.insert(rng.randint(0, len(left)), "...")
        right.insert(rng.randint(0, len(right)), "...")
    if operation == "repeat":
        right.insert(rng.randint(0, len(right)), "f" if rng.random() < 0.6 else "3")
    elif operation == "reduce":
        right = [a for a in right if rng.random() < 0.6]
    if rng.random() < 0.03 and right:
        right.pop()
    groups = group(rng, left)
    text = write(groups, rng)
    lengths: dict[str, int] = {"f": 13} if "f" in right and rng.random() < 0.97 else {}
    for g in groups:
        given = g[:] if rng.random() < 0.15 else rng.sample(g, len(g) - 1)
        if rng.random() < 0.97:
            lengths.update({a: SIZES[a] + (rng.random() < 0.02) for a in given if a != "..."})
    shape: list[int] = []
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        shape = extend(shape, word, rng)
    shape = [s + (rng.random() < 0.03) for s in shape if s]
    return f"{text} -> {write(group(rng, right), rng)}", shape[:-1] if rng.random() < 0.02 else shape, lengths


def extend(shape: list[int], word: str, rng: random.Random) -> list[int]:
    """The shape with one more word of the pattern read; an open group ends with a 0."""
    inside = bool(shape) and shape[-1] == 0
    if word == "(":
        return [*shape, 1, 0]
    if word == ")":
        return shape[:-1]
    if word == "...":
        return [*shape, *rng.sample((17, 19, 23), rng.randint(0, 2))]
    size = 1 if word == "1" else SIZES[word]
    return [*shape[:-2], shape[-2] * size, 0] if inside else [*shape, size]


@pytest.mark.parametrize("operation", ["rearrange", "repeat", "reduce"])
@pytest.mark.parametrize("seed", range(3))
def test_random_patterns_give_what_einops_gives(operation: str, seed: int) -> None:
    rng = random.Random(f"{operation} {seed}")
    refused = 0
    for _ in range(500):
        pattern, shape, lengths = draw(rng, operation)
        dtype = rng.choice([torch.float32, torch.int32, torch.bool])
        x = torch.empty(shape, dtype=dtype, device="meta")
        more = (rng.choice(["sum", "mean", "max", "any", "prod"]),) if operation == "reduce" else ()
        truth = attempt(lambda x=x, p=pattern, m=more, k=lengths: getattr(einops, operation)(x, p, *m, **k))
        answer = infer(f"einops.{operation}", (oracle.lift(x), pattern, *more), lengths)
        shown = f"{operation}({shape} {dtype}, {pattern!r}, {more}, {lengths}): {answer}; einops: {truth}"
        if isinstance(truth, Exception):
            assert isinstance(answer, Report), shown
            refused += 1
        else:
            assert answer == oracle.lift(truth), shown
    assert 20 < refused < 350


@pytest.mark.parametrize("operation", ["rearrange", "repeat", "reduce"])
def test_nothing_false_is_said_of_what_is_partly_hidden(operation: str) -> None:
    rng = random.Random(operation)
    for _ in range(400):
        pattern, shape, lengths = draw(rng, operation)
        x = torch.empty(shape, dtype=torch.int32, device="meta")
        more = (rng.choice(["sum", "max", "any"]),) if operation == "reduce" else ()
        truth = attempt(lambda x=x, p=pattern, m=more, k=lengths: getattr(einops, operation)(x, p, *m, **k))
        if isinstance(truth, Exception):
            continue
        seen = hidden(oracle.lift(x), rng)
        known = {k: UNKNOWN if rng.random() < 0.2 else v for k, v in lengths.items()}
        answer = infer(f"einops.{operation}", (seen, pattern, *more), known)
        shown = f"{operation}({seen} for {shape}, {pattern!r}, {more}, {known}): {answer}; einops: {truth.shape}"
        assert isinstance(answer, TensorType), shown
        assert oracle.compare(answer, oracle.lift(truth)) != "wrong", shown


@pytest.mark.parametrize(
    "pattern",
    [
        "a b",
        "a -> b -> c",
        "a (b c",
        "a b) c",
        "((a) b)",
        "a a -> a",
        "_a -> _a",
        "a- -> a",
        "a -> ...",
        "(a ...) -> a ...",
    ],
)
def test_what_is_no_pattern(pattern: str) -> None:
    x = torch.empty(4, 4)
    assert isinstance(attempt(lambda: einops.rearrange(x, pattern)), Exception)
    assert isinstance(infer("einops.rearrange", (oracle.lift(x), pattern)), Report)


def f32(*items: Any) -> TensorType:
    return tensor(*items, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("shape", "pattern", "lengths", "expected"),
    [
        ((B, T, 3 * H * D), "b t (k h d) -> k b h t d", {"k": 3, "h": H}, (3, B, H, T, D)),
        ((B, H, T, D), "b h t d -> b t (h d)", {}, (B, T, H * D)),
        ((B, C, H), "b c (p q) -> b (c q) p", {"p": 4}, (B, C * (H // 4), 4)),
        ((BATCH, C), "... c -> c ...", {}, (C, BATCH)),
        ((BATCH, 12), "... (h d) -> ... h d", {"h": 3}, (BATCH, 3, 4)),
        ((ANY_REST,), "b c h w -> b (c h w)", {}, (UNKNOWN, UNKNOWN)),
        ((ANY_REST,), "b ... -> b (...)", {}, (UNKNOWN, UNKNOWN)),
        ((UNKNOWN, 5), "(a b) c -> a b c", {"a": UNKNOWN}, (UNKNOWN, UNKNOWN, 5)),
        ((12, 5), "(a b) c -> a b c", {"a": 3, "b": UNKNOWN}, (3, 4, 5)),
    ],
)
def test_rearrange_of_partly_known_shapes(shape: Any, pattern: str, lengths: Any, expected: Any) -> None:
    assert infer("einops.rearrange", (f32(*shape), pattern), lengths) == f32(*expected)


def test_symbols_agree_with_einops_for_every_size() -> None:
    rng = random.Random(7)
    names = {v: var(v.upper()) for v in NAMES}
    compared = 0
    for _ in range(300):
        pattern, shape, lengths = draw(rng, "rearrange")
        axes = {a for a in pattern if a in NAMES}
        truth = attempt(lambda p=pattern, s=shape, k=lengths: einops.rearrange(torch.empty(s, device="meta"), p, **k))
        if "..." in pattern or isinstance(truth, Exception) or any(lengths[a] != SIZES[a] for a in lengths):
            continue
        left = pattern.partition("->")[0].replace("()", "1")
        symbolic = infer(
            "einops.rearrange",
            (f32(*[product(g, names) for g in words(left)]), pattern),
            {a: names[a] for a in lengths},
        )
        assert isinstance(symbolic, TensorType), f"{pattern}: {symbolic}"
        sizes = {only: SIZES[a] for a in axes for only in variables(names[a])}
        if tuple(shape) == tuple(product(g, SIZES) for g in words(left)):
            compared += 1
            assert symbolic.shape.substitute(sizes).items == tuple(truth.shape), f"{pattern}: {symbolic}"
    assert compared > 100


def words(side: str) -> list[list[str]]:
    out: list[list[str]] = []
    for part in side.replace("(", "|(").replace(")", ")|").split("|"):
        out += [part.strip("()").split()] if part.startswith("(") else [[w] for w in part.split()]
    return out


def product(axes: list[str], sizes: Any) -> Any:
    total: Any = 1
    for a in axes:
        total = total * (1 if a == "1" else sizes[a])
    return total


@pytest.mark.parametrize(
    ("shape", "pattern", "lengths", "reason"),
    [
        ((6, 30), "b (h w) -> b h w", {"h": 4}, "30 can't be divided into (h w) with h=4"),
        ((6, 30), "b (h w) -> b h w", {}, "the sizes of h and w in (h w) can't both be found; give one of them"),
        ((6, 30), "b c -> b c", {"c": 31}, "axis c is 31, but dim 1 is 30"),
        ((6, 30), "b (h w) -> b h w", {"h": 4, "w": 7}, "the axes (h w) with h=4, w=7, which is 28, but dim 1 is 30"),
        ((6, 30), "b c d -> b d c", {}, 'the pattern names 3 dims "b c d", but the tensor is (6, 30)'),
        ((6, 30), "b c -> b", {}, "axis c is on one side of the pattern only"),
        ((6, 30), "b c -> c b", {"h": 3}, "axis h is given a size, but the pattern doesn't name it"),
        ((B, T), "b c -> c b", {"c": 5}, "axis c is 5, but dim 1 is T; they are not equal for all sizes"),
    ],
)
def test_wording(shape: Any, pattern: str, lengths: Any, reason: str) -> None:
    report = infer("einops.rearrange", (f32(*shape), pattern), lengths)
    assert isinstance(report, Report)
    assert report.reason == reason


def test_a_list_of_tensors_gets_an_axis_in_front() -> None:
    assert infer("einops.rearrange", ((f32(B, 5), f32(B, 5), f32(B, 5)), "k b c -> b (k c)")) == f32(B, 15)
    report = infer("einops.rearrange", ((f32(3, 5), f32(3, 7)), "k b c -> b (k c)"))
    assert isinstance(report, Report)
    assert "the sizes of dim 1 differ: tensors[0] has 5, tensors[1] has 7" in report.reason


def test_reduce_of_ints_and_by_functions() -> None:
    x = tensor(B, 12, dtype=INT32)
    assert infer("einops.reduce", (x, "b (c k) -> b c", "sum"), {"k": 4}) == tensor(B, 3, dtype=INT64)
    assert infer("einops.reduce", (x, "b c -> b c", "sum")) == x
    assert infer("einops.reduce", (x, "b c -> b", "all")) == tensor(B, dtype=BOOL)
    assert infer("einops.reduce", (x, "b c -> b", ANYTHING)) == tensor(B)
    report = infer("einops.reduce", (x, "b c -> b", "mean"))
    assert isinstance(report, Report)
    assert report.kind == "dtype"


@pytest.mark.parametrize("seed", range(2))
def test_pack_and_unpack(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(200):
        before, after = rng.sample((2, 3), rng.randint(0, 2)), rng.sample((5, 7), rng.randint(0, 2))
        pattern = " ".join([*"ab"[: len(before)], "*", *"cd"[: len(after)]])
        shapes = [[*before, *rng.sample((11, 13, 17), rng.randint(0, 2)), *after] for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            shapes[-1] = shapes[-1][1:]
        xs = [torch.empty(s, device="meta") for s in shapes]
        truth = attempt(lambda xs=xs, p=pattern: einops.pack(xs, p))
        answer = infer("einops.pack", (oracle.lift(xs), pattern))
        if isinstance(truth, Exception):
            assert isinstance(answer, Report), f"{shapes} {pattern}: {answer}; einops: {truth}"
            refused += 1
            continue
        assert answer == oracle.lift(truth), f"{shapes} {pattern}"
        packed, parts = truth
        parts = [list(p) for p in parts]
        if rng.random() < 0.3 and parts[0]:
            parts[0][0] = -1
        if rng.random() < 0.2:
            parts.append([2])
        back = attempt(lambda x=packed, p=parts, q=pattern: einops.unpack(x, p, q))
        answer = infer("einops.unpack", (oracle.lift(packed), oracle.lift(parts), pattern))
        assert isinstance(answer, Report) if isinstance(back, Exception) else answer == oracle.lift(back), f"{back}"
    assert refused > 5


def test_pack_of_symbols() -> None:
    packed = infer("einops.pack", ((f32(B, T, C), f32(B, C)), "b * c"))
    assert packed == (f32(B, T + 1, C), ((T,), ()))
    assert infer("einops.unpack", (f32(B, T + 1, C), ((T,), ()), "b * c")) == (f32(B, T, C), f32(B, C))


def test_einsum() -> None:
    x, w = f32(B, T, 5), f32(5, 7)
    assert infer("einops.einsum", (x, w, "batch time inp, inp out -> batch time out")) == f32(B, T, 7)
    assert infer("einops.einsum", (f32(BATCH, 5), w, "... i, i o -> ... o")) == f32(BATCH, 7)
    report = infer("einops.einsum", (x, f32(6, 7), "b t inp, inp out -> b t out"))
    assert isinstance(report, Report)
    assert report.reason == "the sizes of axis inp differ: tensor 0 has 5, tensor 1 has 6"
    assert isinstance(infer("einops.einsum", (x, w, "b t i, i o -> b x")), Report)


def test_parse_shape() -> None:
    assert infer("einops.parse_shape", (f32(3, 5), "b _")) is ANYTHING
    assert isinstance(infer("einops.parse_shape", (f32(3, 5), "b c d")), Report)
    assert isinstance(infer("einops.parse_shape", (f32(3, 5), "b 1")), Report)


def test_layers() -> None:
    rearrange = new_module(
        "einops.layers.torch.Rearrange", {"pattern": "b (h w) -> b h w", "axes_lengths": (("h", 4),)}
    )
    assert infer_module(rearrange, (f32(B, 28),)) == f32(B, 4, 7)
    assert isinstance(infer_module(rearrange, (f32(B, 30),)), Report)
    reduce = new_module("einops.layers.torch.Reduce", {"pattern": "b c h w -> b c", "reduction": "mean"})
    assert infer_module(reduce, (f32(B, C, 5, 7),)) == f32(B, C)
    assert isinstance(new_module("einops.layers.torch.Rearrange", {"pattern": "b c -> b"}), Report)
    for given, refuses in (((("p", 7),), False), ((), True)):  # einops refuses when the layer is made, too
        arguments = {"pattern": "b (h p) c -> b h (p c)", "axes_lengths": given}
        assert isinstance(new_module("einops.layers.torch.Rearrange", arguments), Report) is refuses
        with pytest.raises(einops.EinopsError) if refuses else contextlib.nullcontext():
            einops.layers.torch.Rearrange(arguments["pattern"], **dict(given))
