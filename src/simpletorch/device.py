"""Devices."""

from typing import TypeAlias

import torch

DeviceLike: TypeAlias = torch.device | str | int | None
