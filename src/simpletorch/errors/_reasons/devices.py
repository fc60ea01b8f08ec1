"""Devices, their memory and their own errors."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DeviceMismatch
from simpletorch.errors._reasons._table import Reason, message


@message(
    r"Expected all tensors to be on the same device",
    r"Tensor on device ([\w:]+) is not on the expected device ([\w:]+)",
    r"Expected (?:object|tensor).* (?:to be on|on) (?:the same )?device",
)
def two_devices(f: Failure, _m: re.Match[str]) -> Reason:
    places = [(v.name, v.device) for v in f.tensors]
    parameter = None if f.layer is None else next(f.layer.parameters(), None)
    if parameter is not None:
        places.append((f.layer_name, str(parameter.device)))
    for name, device in places[1:]:
        if places and device != places[0][1]:
            first, where = places[0]
            hint = f"{first}.to({device!r}) would fit"
            if parameter is None and where != "cpu":
                hint = f"{name}.to({where!r}) would fit"
            return Reason(DeviceMismatch, f"{first} is on {where}, but {name} is on {device}", device, where, hint)
    found = re.findall(r"\b(?:cuda(?::\d+)?|cpu|mps(?::\d+)?|xpu(?::\d+)?|meta)\b", f.message)
    devices = list(dict.fromkeys(found))
    if len(devices) == 1:  # torch.cuda.FloatTensor against torch.FloatTensor
        devices.append("cpu")
    where = " and ".join(devices) if devices else "different devices"
    return Reason(
        DeviceMismatch,
        f"the operands are on {where}",
        devices[0] if devices else None,
        devices[1] if len(devices) > 1 else None,
        "move model and data to one device with .to(device)",
    )
