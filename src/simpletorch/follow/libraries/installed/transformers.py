"""``transformers``: bases of its models and their outputs (`transformers.txt`), and decorators that change nothing.

The files of the models themselves are followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.configs import records  # noqa: F401  (tables)
from simpletorch.follow.libraries.installed import stand
from simpletorch.follow.values import MISSING, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_STANDING: Final = {
    "PreTrainedConfig": "configuration_utils.PreTrainedConfig configuration_utils.PretrainedConfig PreTrainedConfig "
    "PretrainedConfig",
    "PreTrainedModel": "modeling_utils.PreTrainedModel PreTrainedModel",
    "GenerationMixin": "generation.GenerationMixin generation.utils.GenerationMixin GenerationMixin",
    "GradientCheckpointingLayer": "modeling_layers.GradientCheckpointingLayer GradientCheckpointingLayer",
    "ModelOutput": "utils.ModelOutput utils.generic.ModelOutput file_utils.ModelOutput",
    "can_return_tuple": "utils.can_return_tuple utils.generic.can_return_tuple",
    "capture_outputs": "utils.output_capturing.capture_outputs",
    "check_model_inputs": "utils.generic.check_model_inputs",
    "merge_with_config_defaults": "utils.generic.merge_with_config_defaults",
    "create_bidirectional_mask": "masking_utils.create_bidirectional_mask",
    "create_causal_mask": "masking_utils.create_causal_mask",
    "create_sliding_window_causal_mask": "masking_utils.create_sliding_window_causal_mask",
    "create_masks_for_generate": "masking_utils.create_masks_for_generate",
    "apply_chunking_to_forward": "pytorch_utils.apply_chunking_to_forward modeling_utils.apply_chunking_to_forward",
    "DynamicCache": "cache_utils.DynamicCache DynamicCache",
    "EncoderDecoderCache": "cache_utils.EncoderDecoderCache EncoderDecoderCache",
    "AutoMapping": "models.auto.auto_factory._LazyAutoMapping",
    "AutoClass": "models.auto.auto_factory._BaseAutoModelClass",
    "ACT2FN": "activations.ACT2FN",
    "get_activation": "activations.get_activation",
    "ALL_ATTENTION_FUNCTIONS": "modeling_utils.ALL_ATTENTION_FUNCTIONS",
}
"""By name in the text, where transformers has it."""
stand("transformers", "transformers.txt", _STANDING)

_OF_DOCS: Final = """
    add_start_docstrings add_start_docstrings_to_model_forward add_end_docstrings add_code_sample_docstrings
    replace_return_docstrings
"""


@native("simpletorch_installed.anything")
def _anything(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("what transformers makes of it")


@native("simpletorch_installed.named")
def _named(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[0])
    found = run.program.library(run, f"transformers.{name}") if isinstance(name, str) else MISSING
    return run.unknown("a class of transformers") if found is MISSING else found


@native(
    "transformers.utils.auto_docstring",
    "transformers.models.auto.auto_factory.auto_class_update",
    "huggingface_hub.dataclasses.strict",
)
def _same(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@decorator`` or ``@decorator(…)``: what it decorates."""
    return args[0] if args else Native("a decorator", lambda run, args, kwargs: args[0])


@native(
    *(f"transformers.utils.{place}{name}" for name in _OF_DOCS.split() for place in ("", "doc.")),
    "transformers.integrations.use_kernel_forward_from_hub",
    "transformers.integrations.use_kernel_func_from_hub",
    "transformers.integrations.use_kernelized_func",
    "transformers.utils.requires",
    "transformers.utils.import_utils.requires",
)
def _made(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@decorator(…)``: a decorator that changes nothing."""
    return Native("a decorator", lambda run, args, kwargs: args[0])
