"""torch is asked whether each rule's card is right, and whether what has no card of its own needs one."""

from functools import cache

import pytest
import torch

from simpletorch.rules import RULES
from simpletorch.rules.core.cards import (
    DRAWS,
    DROPS,
    KEPT,
    MAYBE,
    MOVED,
    NEW,
    OPERAND,
    OTHER,
    OTHERS,
    PLAIN,
    RESULT,
    SOMETHING,
    VIEW,
    WRITES,
    Random,
)
from simpletorch.rules.core.dtype import UINT8
from simpletorch.rules.core.registry import card_of
from tests.oracle import cards

SHARDS = 4
NOT_HERE = {
    *("Tensor.cuda", "Tensor.xpu", "Tensor.pin_memory"),  # without such a device
    "torch.lu_unpack",  # it reads past operands that don't fit
}


@cache
def _calls(shard):
    return [call for call in cards.calls(lambda names: sum(map(ord, names[0])) % SHARDS == shard) if call.name in RULES]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_card_contradicts_torch(shard):
    bad = [f"{call}: {why}" for call in _calls(shard) for why in cards.contradictions(call, card_of(call.name))]
    assert len(_calls(shard)) > 100
    assert not bad, "\n".join([f"{len(bad)}:", *bad])


def test_what_may_share_memory_or_draw_does_so_in_a_sample():
    seen = [call for shard in range(SHARDS) for call in _calls(shard)]
    names = {call.name for call in seen}
    sharing = {n for n in names if card_of(n).memory is MAYBE}
    drawing = {n for n in names if card_of(n).random in (DRAWS, DROPS)}
    assert sharing - {c.name for c in seen if c.name in sharing and cards.shares(c)} == set()
    assert drawing - {c.name for c in seen if c.name in drawing and cards.draws(c)} == set()


def test_torch_was_asked_of_the_cards():
    names = {call.name for shard in range(SHARDS) for call in _calls(shard)}
    own = {name for name in RULES if card_of(name) != PLAIN and card_of(name).memory is not WRITES}
    assert own - names == NOT_HERE


def test_an_operation_is_read_by_each_of_its_names():
    assert card_of("torch.transpose") == card_of("Tensor.transpose")
    assert card_of("torch.transpose").memory is VIEW
    assert card_of("Tensor.transpose_").memory is WRITES
    assert card_of("torch.transpose_copy").memory is NEW
    assert card_of("torch.transpose_copy").numbers is MOVED
    assert card_of("Tensor.__iadd__").memory is WRITES
    assert card_of("Tensor.__invert__").memory is NEW
    assert card_of("nothing.of_torchs") == PLAIN


def test_bits_are_other_numbers():
    card = card_of("Tensor.view")
    assert card.held((None, 3, 5), {}) is MOVED
    assert card.held((None, UINT8), {}) is card.held((None,), {"dtype": UINT8}) is OTHER


def test_wrong_cards_are_seen():
    x = torch.rand(3, 5)

    def refused(name, *args, **changes):
        return cards.contradictions(cards.Call(name, args), cards.changed(card_of(name), **changes))

    assert refused("torch.transpose", x, 0, 1) == []
    assert refused("torch.transpose", x, 0, 1, memory=NEW)
    assert refused("torch.clone", x, memory=VIEW)
    assert refused("torch.transpose", x, 0, 1, numbers=KEPT)
    assert refused("torch.exp", x, numbers=MOVED)
    assert refused("torch.rand", 3, random=Random.NO)
    assert refused("torch.softmax", x, -1, by_element=True)
    assert refused("torch.sum", x, by_element=True)
    assert refused("torch.exp", x, saves=OPERAND)
    assert refused("torch.log", x, saves=RESULT)
    assert refused("torch.add", x, x, saves=SOMETHING)
    assert refused("torch.add", x, x, saves=OTHERS)
    attention = torch.rand(2, 3, 7, 5).transpose(1, 2), torch.rand(2, 7, 5, 11)
    assert refused("torch.matmul", torch.rand(2, 1, 3, 5), torch.rand(2, 7, 5, 11), saves=OTHERS)
    assert refused("torch.matmul", *attention) == []
    assert refused("Tensor.expand", x, 2, 3, 5, numbers=MOVED)
    assert refused("Tensor.expand", x, 2, 3, 5, numbers=OTHER) == []
