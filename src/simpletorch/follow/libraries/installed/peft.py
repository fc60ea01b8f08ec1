"""``peft``: a model with low-rank adapters has the sizes that it has without them (`peft.txt`)."""

from __future__ import annotations

from typing import Final

from simpletorch.follow.libraries.installed import (
    stand,
    transformers,  # noqa: F401  (what is anything)
)

__all__: Final = ()

_STANDING: Final = {
    "LoraConfig": "LoraConfig tuners.LoraConfig tuners.lora.LoraConfig",
    "PeftModel": "PeftModel peft_model.PeftModel",
    "get_peft_model": "get_peft_model mapping.get_peft_model mapping_func.get_peft_model",
}
"""By name in the text, where peft has it."""
stand("peft", "peft.txt", _STANDING)
