"""Arguments find their parameters as `inspect.Signature.bind` would have it, over every rule."""

import random

import pytest

from simpletorch.rules import MODULES, RULES, CannotTell, Rule

ENTRIES = [
    *{id(r): r for r in RULES.values()}.values(),
    *(Rule(c.names, c.forward) for c in dict.fromkeys(MODULES.values())),
]


def _by_inspect(entry, args, kwargs):
    try:
        return list(entry.signature.bind(*args, **kwargs).arguments.items())
    except TypeError:
        return None


def _by_binder(entry, args, kwargs):
    try:
        return list(entry.binder.bind(args, kwargs).items())
    except CannotTell:
        return None


@pytest.mark.parametrize("part", range(4))
def test_binds_as_inspect_does(part):
    refused = taken = 0
    for entry in ENTRIES[part::4]:
        rng = random.Random(entry.names[0])
        names = [*entry.signature.parameters, "no_such"]
        for _ in range(20):
            args = tuple(range(rng.randint(0, len(names))))
            kwargs = {n: n for n in rng.sample(names, rng.randint(0, min(4, len(names))))}
            expected = _by_inspect(entry, args, kwargs)
            assert _by_binder(entry, args, kwargs) == expected, (entry.names[0], args, kwargs)
            refused += expected is None
            taken += expected is not None
    assert refused > 100
    assert taken > 100
