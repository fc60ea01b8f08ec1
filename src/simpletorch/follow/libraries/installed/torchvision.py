"""``torchvision.models``: decorators of what is followed in its source (`torchvision.txt`)."""

from __future__ import annotations

from typing import Final

from simpletorch.follow.libraries.installed import stand

__all__: Final = ()

stand("torchvision", "torchvision.txt", {
    "register_model": "models._api.register_model",
    "handle_legacy_interface": "models._utils.handle_legacy_interface",
})  # fmt: skip
