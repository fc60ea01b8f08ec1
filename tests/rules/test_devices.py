"""Operands on two devices, with torch's own test inputs: the rules refuse and place what torch does with fake CUDA."""

import logging
import warnings
from dataclasses import replace

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode  # torch's only way to ask of CUDA on a machine without it

from simpletorch.rules import RULES, Device, Report, TensorType, infer
from tests import oracle
from tests.oracle.truth import lift, resolve, tensors_in, tree_map

SHARDS = 4
OTHERWISE = ("conv", "addmv", "index_put", "prelu", "select_scatter")
"""Operations whose kernels refuse two devices and their fakes don't, or the other way round, by torch's source."""


def _torch(call, devices):
    """What torch gives for the call with its tensors on these devices, or its exception."""
    left = iter(devices)

    def placed(t):
        return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=next(left))

    logging.getLogger("torch._subclasses.fake_tensor").disabled = True  # it logs what is caught here
    with FakeTensorMode(), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        args, kwargs = tree_map(placed, (call.args, dict(call.kwargs)))
        try:
            return resolve(call.name)(*args, **kwargs)
        except Exception as e:
            return e


def _rule(call, devices):
    left = iter(devices)

    def placed(value):
        if isinstance(value, torch.Tensor):
            return replace(lift(value), device=Device(next(left)))
        if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
            return tuple(map(placed, value))
        return lift(value)

    args = [placed(a) for a in call.args]
    return infer(call.name, args, {k: placed(v) for k, v in call.kwargs.items()})


def _devices(value):
    """The devices of the tensors in torch's answer, or in a rule's, where it knows them."""
    if isinstance(value, TensorType):
        return set() if value.device is None else {value.device.type}
    if isinstance(value, torch.Tensor):
        return {value.device.type}
    return set().union(*map(_devices, value)) if isinstance(value, list | tuple) else set()


def _mixed(call, count):
    """Each tensor of the call in turn on another device than the rest."""
    for i in range(count if count > 2 else 1):
        for one, rest in (("cpu", "cuda"), ("cuda", "cpu")):
            yield [one if i == j else rest for j in range(count)]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_rules_agree_with_torch_about_devices(shard):
    judged, bad = 0, []
    for call in oracle.samples(
        lambda names: sum(map(ord, names[0])) % SHARDS == shard, dtypes=(torch.float32,), count=1
    ):
        tensors = tensors_in(call.args, dict(call.kwargs))
        together = ["cuda"] * len(tensors)
        if (
            call.name not in RULES
            or not all(t.numel() for t in tensors)
            or isinstance(_torch(call, together), Exception)
        ):
            continue
        if isinstance(_rule(call, together), Report) or any(word in call.name for word in OTHERWISE):
            continue
        for devices in [together, *_mixed(call, len(tensors))]:
            real, ours = _torch(call, devices), _rule(call, devices)
            judged += 1
            if isinstance(ours, Report):
                if not isinstance(real, Exception):
                    bad.append(f"refused: {call} on {devices}")
            elif isinstance(real, Exception):
                if "device" in str(real) and all(t.dim() for t in tensors):
                    bad.append(f"let through: {call} on {devices}: {real}")
            elif not _devices(ours) <= _devices(real) and all(t.dim() for t in tensors):
                bad.append(f"on {_devices(real)}, not on {_devices(ours)}: {call} on {devices}")
    assert judged > 100
    assert not bad, "\n".join(bad)
