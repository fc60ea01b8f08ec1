"""What torch does beside shapes and dtypes, as a rule's card says it: seen on calls that torch accepts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import torch

from simpletorch.rules import RULES
from simpletorch.rules.core.cards import (
    BITS,
    DRAWS,
    DROPS,
    FIRST,
    KEPT,
    MOVED,
    NEVER,
    OPERAND,
    OTHER,
    OTHERS,
    PICKED,
    PRODUCT,
    REPEATED,
    RESULT,
    SOME,
    VIEW,
    WRITES,
    Card,
    Numbers,
    writes,
)
from tests.oracle import by_hand
from tests.oracle.by_hand import f, i, row, sample
from tests.oracle.samples import samples
from tests.oracle.truth import UNCHECKED, exists, resolve, tensors_in, tree_map
from tests.oracle.verdict import Call

_F: Final = "torch.nn.functional."

_CASTS: Final = {
    "half": torch.half, "bfloat16": torch.bfloat16, "float": torch.float, "double": torch.double, "bool": torch.bool,
    "byte": torch.uint8, "char": torch.int8, "short": torch.short, "int": torch.int, "long": torch.long,
    "cfloat": torch.cfloat, "cdouble": torch.cdouble, "chalf": torch.complex32,
}  # fmt: skip

TABLE: Final = (
    row("Tensor.detach torch.detach Tensor.data Tensor.cpu Tensor.__pos__", sample(f(3, 5))),
    row("Tensor.H Tensor.mH torch.detach_copy torch.select_copy", sample(f(3, 5)), sample(f(3, 5), 1, 2)),
    *(row(f"Tensor.{name}", sample(f(3, 5)), sample(f(3, 5).to(dtype))) for name, dtype in _CASTS.items()),
    row("Tensor.__getitem__", sample(f(3, 5), 1), sample(f(3, 5), i(2)), sample(f(3, 5), (slice(1, 3), None))),
    row("Tensor.__reversed__", sample(f(3, 5))),
    row("Tensor.sum_to_size", sample(f(3, 5), 3, 5), sample(f(3, 5), 1, 5)),
    row("Tensor.new_tensor", sample(f(3), f(5))),
    row("Tensor.to Tensor.type", sample(f(3, 5), torch.float64), sample(f(3, 5), torch.float32)),
    row("Tensor.to Tensor.type_as", sample(f(3, 5), f(7)), sample(f(3, 5), f(7).double())),
    row("Tensor.view", sample(f(3, 4), 6, 2), sample(f(3, 4), torch.int32), sample(i(3, 4), torch.int32)),
    row("Tensor.to_dense torch.as_tensor torch.asarray", sample(f(3, 5))),
    row("torch.from_dlpack torch.utils.dlpack.from_dlpack", sample(f(3, 5))),
    row("Tensor.coalesce", sample(f(3, 5).to_sparse().coalesce())),
    row("Tensor.requires_grad_ Tensor.detach_ torch.detach_", sample(f(3, 5))),
    row("torch.cartesian_prod", sample(f(3), f(5))),
    row("torch.einsum", sample("ij->ji", f(3, 5)), sample("ij,jk->ik", f(3, 5), f(5, 7))),
    row("einops.rearrange einops.einops.rearrange", sample(f(3, 5), "a b -> b a"), sample(f(3, 5), "a b -> (b a)")),
    row("einops.repeat einops.einops.repeat", sample(f(3, 5), "a b -> a b c", c=2)),
    row("einops.repeat einops.einops.repeat", sample(f(3, 5), "a b -> (a c) b", c=2)),
    row("einops.unpack einops.packing.unpack", sample(f(3, 5), [(2,), (3,)], "a *")),
    row("einops.reduce einops.einops.reduce", sample(f(3, 5), "a b -> a", "max"), sample(f(3, 5), "a b -> a b", "max")),
    row("einops.einsum einops.einops.einsum", sample(f(3, 5), "a b -> b a")),
    row("torch.nn.utils.rnn.pad_sequence", sample([f(3, 5)])),
    row(f"{_F}dropout {_F}dropout1d {_F}alpha_dropout", sample(f(3, 5)), sample(f(3, 5), training=True)),
    row(f"{_F}dropout {_F}dropout1d {_F}alpha_dropout {_F}rrelu", sample(f(3, 5), training=False)),
    row(f"{_F}dropout2d {_F}dropout3d {_F}feature_alpha_dropout", sample(f(2, 3, 5, 7), training=True)),
    row("torch.dropout torch.alpha_dropout torch.native_dropout", sample(f(3, 5), 0.5, True), sample(f(3), 0.5, False)),
    row("torch.feature_dropout torch.feature_alpha_dropout", sample(f(2, 3, 5), 0.5, True)),
    row("torch.feature_dropout torch.feature_alpha_dropout", sample(f(2, 3, 5), 0.5, False)),
    row("torch.rrelu torch.nn.functional.rrelu", sample(-f(3, 5), 0.1, 0.3, True), sample(f(3, 5))),
    row("torch.rand torch.randn torch.zeros torch.empty", sample(3, 5)),
    row("torch.randint", sample(7, (3, 5))),
    row("torch.randint_like", sample(f(3, 5), 7)),
    row("torch.rand_like torch.randn_like torch.bernoulli Tensor.bernoulli Tensor.bernoulli_", sample(f(3, 5))),
    row("Tensor.random_", sample(f(3, 5)), sample(i(3, 5))),
    row("torch.multinomial Tensor.multinomial", sample(f(3, 5), 2)),
    row("torch.normal", sample(f(3, 5), f(3, 5)), sample(0.0, 1.0, (3, 5))),
    row("torch.nn.init.uniform_ torch.nn.init.normal_ torch.nn.init.trunc_normal_", sample(f(3, 5))),
    row("torch.nn.init.kaiming_normal_ torch.nn.init.kaiming_uniform_ torch.nn.init.xavier_normal_", sample(f(3, 5))),
    row("torch.nn.init.ones_ torch.nn.init.zeros_", sample(f(3, 5))),
    row("torch.nn.init.sparse_", sample(f(3, 5), 0.5)),
    row("torch.pca_lowrank", sample(f(7, 5), 3)),
    row(f"{_F}fractional_max_pool2d", sample(f(2, 3, 11, 11), 2, 5)),
    row(f"{_F}fractional_max_pool3d_with_indices", sample(f(2, 3, 11, 11, 11), 2, 5)),
    row("torch.unsafe_split_with_sizes Tensor.unsafe_split_with_sizes", sample(f(8, 3), [3, 5])),
    row("torch.split_copy", sample(f(8, 3), 3)),
    row("Tensor.__iadd__ Tensor.__itruediv__ Tensor.__ior__", sample(f(3, 5), 2.0), sample(i(3, 5), 2)),
    row("Tensor.__floordiv__ Tensor.__truediv__ Tensor.__rlshift__ Tensor.__rrshift__", sample(i(3, 5), i(3, 5))),
    row("Tensor.__rfloordiv__ Tensor.__rtruediv__", sample(f(3, 5), 2), sample(f(3, 5), 3.0)),
    row("Tensor.where", sample(f(3, 5), f(3, 5) > 0, f(5))),
    row("Tensor.copy_", sample(f(3, 5), f(5))),
    row("Tensor.__setitem__", sample(f(3, 5), 1, 2.0)),
)
"""Calls of what op_db lacks, or doesn't call in each of the ways that make a difference."""

_ORDER: Final = (KEPT, MOVED, REPEATED, PICKED, OTHER)


@contextmanager
def _seeded() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        yield


def calls(select: Callable[[Any], bool] = lambda names: True, seed: int = 1) -> Iterator[Call]:
    """Calls of operations that have a rule: torch's own samples, and those by hand."""
    for table in (by_hand.TABLE, TABLE):
        for names, given in table:
            for name in filter(exists, names):
                if select((name,)):
                    yield from (Call(name, s.args, s.kwargs, "by hand") for s in given)
    for call in samples(select, dtypes=(torch.float32, torch.int64), count=1, seed=seed):
        if call.name in RULES and not UNCHECKED.search(call.name):
            yield call


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, but the last two dims lie in memory the other way round, or with gaps."""
    if tensor.layout is not torch.strided:
        return tensor.clone()
    if tensor.dim() == 1:
        return tensor.repeat_interleave(2)[::2]
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2) if tensor.dim() else tensor.clone()


def _run(call: Call, fresh: Callable[[torch.Tensor], torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The operands of a call, and its results; torch refuses some calls of strided or new operands: no results."""
    args, kwargs = tree_map(fresh, tuple(call.args)), tree_map(fresh, dict(call.kwargs))
    with _seeded():
        try:
            found = resolve(call.name)(*args, **kwargs)
        except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
            return tensors_in(args, kwargs), []
    found = [found] if isinstance(found, torch.Tensor) else found
    return tensors_in(args, kwargs), tensors_in(found) if isinstance(found, list | tuple) else []


def _is_at(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    strided = tensor.layout is torch.strided and other.layout is torch.strided
    return strided and tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _memory(call: Call, card: Card) -> Iterator[str]:
    for fresh in (torch.clone, _strided):
        operands, results = _run(call, fresh)
        if not operands or not all(t.numel() for t in operands):
            continue
        for one in (r for r in results if r.numel()):
            shared = [o for o in operands if o is one or _is_at(o, one)]
            if shared and not (card.may_share(len(operands)) or card.memory is WRITES):
                yield "a result shares memory with an operand"
            elif card.memory is VIEW and not (_is_at(one, operands[0]) and one is not operands[0]):
                yield "a result is no view of the first operand"
            elif card.memory is WRITES and one is not operands[0]:
                yield "a result isn't the first operand"


def distinct(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor like this one with numbers that are all different, of both signs, and none of them whole."""
    places = torch.randperm(tensor.numel(), generator=torch.Generator().manual_seed(7)).reshape(tensor.shape)
    made = places - tensor.numel() // 2
    made = (made + 0.3125).to(tensor.dtype) if tensor.dtype.is_floating_point else made.to(tensor.dtype)
    is_real = not (tensor.dtype.is_complex or tensor.dtype == torch.bool)
    return made if is_real and made.unique().numel() == made.numel() > 1 else None


def held(result: torch.Tensor, operand: torch.Tensor) -> Numbers:
    """Which numbers a result has, beside those of its operand."""
    wanted = operand.to(result.dtype)
    if result.dtype == torch.bool or result.dtype.is_complex:
        return OTHER
    if result.shape == wanted.shape and torch.equal(result, wanted):
        return KEPT
    mine, theirs = Counter(result.flatten().tolist()), Counter(wanted.flatten().tolist())
    if mine == theirs:
        return MOVED
    if mine.keys() == theirs.keys() and all(mine[n] >= theirs[n] for n in theirs):
        return REPEATED
    return PICKED if mine.keys() <= theirs.keys() else OTHER


def _numbers(call: Call, card: Card) -> Iterator[str]:
    if card.numbers is OTHER or (card.numbers is BITS and any(isinstance(a, torch.dtype) for a in call.args)):
        return
    most = _ORDER.index(MOVED if card.numbers is BITS else card.numbers)
    originals = tensors_in(tuple(call.args), dict(call.kwargs))
    several = len(call.args[:1]) == 1 and isinstance(call.args[0], list | tuple)
    new = [distinct(t) for t in originals]
    if not new or new[0] is None:
        return
    for fresh in (torch.clone, _strided):
        left = iter([new[0] if not several else n for n in new])
        given = iter(originals[:1] if not several else originals)
        taken: list[torch.Tensor] = []

        def draw(t: torch.Tensor, fresh: Any = fresh, left: Any = left, given: Any = given, taken: Any = taken) -> Any:
            number = next(left, None) if next(given, None) is not None else None
            if number is None:
                return t.clone()
            taken.append(number)
            return fresh(number)

        _, results = _run(call, draw)
        for place, one in enumerate(results):
            operand = taken[place] if several and place < len(taken) else taken[0]
            if one.numel() and not (one.dtype.is_complex and not operand.dtype.is_complex):
                found = held(one, operand)
                if _ORDER.index(found) > most and not _is_each(call):
                    yield f"the numbers are {found.name}"


def _is_each(call: Call) -> bool:
    """Whether tensors are given one by one, each for its own result, which the first operand says nothing of."""
    return call.name.rpartition(".")[2] in ("broadcast_tensors", "meshgrid") and len(tensors_in(call.args)) > 1


def _elements(call: Call, card: Card) -> Iterator[str]:
    """Where half of the elements by themselves give other numbers than among all."""
    operands = tensors_in(call.args, dict(call.kwargs))
    if not card.by_element or not operands or "out" in call.kwargs:
        return
    shape = torch.broadcast_shapes(*(t.shape for t in operands))
    some = torch.randperm(shape.numel(), generator=torch.Generator().manual_seed(3))[: (shape.numel() + 1) // 2]
    if not shape.numel():
        return
    # a tensor without dims counts less for the result's dtype, and stays one
    _, parts = _run(call, lambda t: t.broadcast_to(shape).reshape(-1)[some].clone() if t.dim() else t.clone())
    _, results = _run(call, torch.clone)
    for one, part in zip(results, parts, strict=False):
        if one.shape != shape:
            yield f"the result is {tuple(one.shape)}, but the operands are broadcast to {tuple(shape)}"
        elif not torch.allclose(one.reshape(-1)[some], part.reshape(-1), rtol=1e-4, atol=1e-6, equal_nan=True):
            yield "an element's result depends on others"


def _gradient(call: Call, card: Card) -> Iterator[str]:
    if writes(call.name) or "out" in call.kwargs or card.gradient is SOME:
        return
    floating = [n for n, t in enumerate(tensors_in(call.args, dict(call.kwargs))) if t.dtype.is_floating_point]
    for which in ([floating] if len(floating) > 1 else []) + [[n] for n in floating]:
        place = iter(range(1_000))

        def leaf(t: torch.Tensor, place: Any = place, which: Any = which) -> torch.Tensor:
            return t.clone().requires_grad_(next(place) in which) if t.dtype.is_floating_point else _next(place, t)

        results = [t for t in _run(call, leaf)[1] if t.dtype.is_floating_point]
        wanted = card.gradient is not NEVER and (card.gradient is not FIRST or 0 in which)
        if any(t.requires_grad is not wanted for t in results) and not (wanted and len(which) < len(floating)):
            yield f"{'no' if wanted else 'a'} result requires a gradient, where operands {which} do"


def _next(place: Iterator[int], tensor: torch.Tensor) -> torch.Tensor:
    next(place)
    return tensor.clone()


def _backward(call: Call, card: Card) -> Iterator[str]:
    """Where a backward that a card says is refused goes through."""
    if card.saves is None or writes(call.name) or "out" in call.kwargs:
        return
    originals = tensors_in(call.args, dict(call.kwargs))
    places = [n for n, t in enumerate(originals) if t.dtype == torch.float32]
    if not places or not all(t.numel() for t in originals):
        return
    pairs = card.saves in (OTHERS, PRODUCT)
    for which in places:
        if pairs and which > 1:
            continue
        if not _is_refused(call, which, None):
            yield f"a second backward to operand {which} isn't refused"
        if card.saves is RESULT and not _is_refused(call, which, "result"):
            yield f"a result that was changed is no obstacle to operand {which}"
        spoiled = 1 - which if pairs else 0
        is_one = pairs and all(isinstance(a, torch.Tensor) for a in call.args[:2]) and spoiled in places
        whole = card.saves is not PRODUCT or _is_multiplied_itself(originals, spoiled)
        if ((is_one and whole) or card.saves is OPERAND) and not _is_refused(call, which, spoiled):
            yield f"operand {spoiled}, changed, is no obstacle to operand {which}"


def _is_multiplied_itself(operands: list[torch.Tensor], place: int) -> bool:
    """As the follower says of a product's operands."""
    one, other = operands[place], operands[1 - place]
    if one.dim() <= 2 or not one.is_contiguous():
        return one.dim() <= 2
    return place == 0 if other.dim() <= 2 else one.shape[:-2] == other.shape[:-2]


def _is_refused(call: Call, which: int, spoiled: object) -> bool:
    """Whether torch refuses the backward to one operand behind a change, or the second one where nothing is changed."""
    place = iter(range(1_000))

    def leaf(t: torch.Tensor) -> torch.Tensor:
        return t.clone().requires_grad_(next(place) == which)

    def other(t: torch.Tensor) -> torch.Tensor:
        return leaf(t) if t.dtype.is_floating_point else _next(place, t)

    operands, results = _run(call, other)
    results = [t for t in results if t.requires_grad]
    if not results:
        return True  # torch refuses the call
    with torch.no_grad():
        for one in results if spoiled == "result" else [operands[spoiled]] if isinstance(spoiled, int) else []:
            one.add_(1)
    try:
        for _ in range(2 if spoiled is None else 1):
            torch.autograd.grad(results, operands[which], [torch.ones_like(t) for t in results])
    except RuntimeError as error:
        return "second time" in str(error) or "inplace operation" in str(error)
    return False


def draws(call: Call) -> bool:
    """Whether a call changes the state of torch's generator."""
    args, kwargs = tree_map(torch.clone, tuple(call.args)), tree_map(torch.clone, dict(call.kwargs))
    with _seeded():
        before = torch.get_rng_state()
        try:
            resolve(call.name)(*args, **kwargs)
        except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
            return False
        return not torch.equal(before, torch.get_rng_state())


def contradictions(call: Call, card: Card) -> list[str]:
    """Each fact of a card that torch does otherwise in this call."""
    facts = (_memory, _numbers, _gradient, _backward, _elements)
    found = [reason for fact in facts for reason in fact(call, card)]
    if card.random not in (DRAWS, DROPS) and draws(call):
        found.append("random numbers are drawn")
    return list(dict.fromkeys(found))


def changed(card: Card, **facts: Any) -> Card:
    """A card with other facts."""
    return replace(card, **facts)


def shares(call: Call) -> bool:
    """Whether a result is memory of an operand."""
    return any(
        o is r or _is_at(o, r)
        for fresh in (torch.clone, _strided)
        for operands, results in [_run(call, fresh)]
        for r in results
        for o in operands
        if r.numel() and o.numel()
    )


__all__ = ["Call", "calls", "changed", "contradictions", "distinct", "draws", "held", "shares"]
