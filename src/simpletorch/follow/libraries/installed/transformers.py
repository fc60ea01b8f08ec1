"""``transformers``: bases of its models and their outputs (`transformers.txt`), and decorators that change nothing.

The files of the models themselves are followed.
"""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING, Final

from simpletorch import _outside as outside
from simpletorch.follow import files
from simpletorch.follow.disk import entries, hubs
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.configs import records  # noqa: F401  (tables)
from simpletorch.follow.libraries.installed import stand
from simpletorch.follow.sources.syntax import of_node
from simpletorch.follow.values import MISSING, Choice, Class, Dict, Instance, Native, Unknown, Value
from simpletorch.rules.core.dtype import BY_TORCH_NAME

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
    "CONFIGS": "models.auto.configuration_auto.CONFIG_MAPPING_NAMES",
    "AutoConfig": "models.auto.configuration_auto.AutoConfig models.auto.AutoConfig AutoConfig",
    "AutoMapping": "models.auto.auto_factory._LazyAutoMapping",
    "AutoClass": "models.auto.auto_factory._BaseAutoModelClass",
    "ACT2FN": "activations.ACT2FN",
    "get_activation": "activations.get_activation",
    "ALL_ATTENTION_FUNCTIONS": "modeling_utils.ALL_ATTENTION_FUNCTIONS",
}
"""By name in the text, where transformers has it."""
_TOKENIZERS: Final = """
    models.auto.tokenization_auto.AutoTokenizer models.auto.AutoTokenizer AutoTokenizer PreTrainedTokenizerFast
    BertTokenizer BertTokenizerFast DistilBertTokenizer DistilBertTokenizerFast RobertaTokenizer RobertaTokenizerFast
    GPT2Tokenizer GPT2TokenizerFast T5Tokenizer T5TokenizerFast LlamaTokenizer LlamaTokenizerFast XLMRobertaTokenizer
    AlbertTokenizer AlbertTokenizerFast ElectraTokenizer ElectraTokenizerFast BartTokenizer BartTokenizerFast
    XLMRobertaTokenizerFast CLIPTokenizer CLIPTokenizerFast
"""
stand("transformers", "tokenizers.txt", {"Tokenizer": " ".join(_TOKENIZERS.split())})
stand("transformers", "transformers.txt", _STANDING)

_NEWER: Final = 5
_CACHES: Final = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "XDG_CACHE_HOME", "HOME")
_OF_DOCS: Final = """
    add_start_docstrings add_start_docstrings_to_model_forward add_end_docstrings add_code_sample_docstrings
    replace_return_docstrings
"""


@native("simpletorch_installed.named")
def _named(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[0])
    found = run.program.library(run, f"transformers.{name}") if isinstance(name, str) else MISSING
    return run.unknown("a class of transformers") if found is MISSING else found


@native("simpletorch_installed.config_class")
def _config_class(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The class of a model's configuration, as the model's class says it: by ``config_class`` or ``config: Config``."""
    model = run.resolve(args[0])
    for cls in model.mro if isinstance(model, Class) else ():
        said = run.resolve(cls.cells.get("config_class"))
        note = cls.notes.get("config")
        if said is None and isinstance(note, ast.Name):
            said = run.program.library(run, f"{cls.module}.{note.id}")
        if said is not None:
            return said if isinstance(said, Class) else None
    return None


_TABLES: Final = ("configuration_auto", "auto_mappings")
_TABLE: Final = "CONFIG_MAPPING_NAMES"


@native("simpletorch_installed.configured")
def _configured(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The class of a configuration by its model's type."""
    kind = run.resolve(args[0])
    for table in _TABLES:
        tree = run.program.packages.tree(f"transformers.models.auto.{table}")
        name = _rows(tree).get(kind) if isinstance(kind, str) else None
        if name is not None:
            return _named(run, (name,), {})
    return run.unknown("a configuration of transformers whose kind isn't known")


@of_node
def _rows(tree: ast.Module) -> dict[str, str]:
    """The rows of a module's table of configurations, however they are written."""
    found = {}
    for statement in tree.body:
        if not any(isinstance(n, ast.Name) and n.id == _TABLE for n in ast.walk(statement)):
            continue
        for node in ast.walk(statement):
            match node:
                case ast.Dict(keys=keys, values=values):
                    rows = list(zip(keys, values, strict=True))
                case ast.Tuple(elts=[key, value]):
                    rows = [(key, value)]
                case _:
                    continue
            for key, value in rows:
                match key, value:
                    case ast.Constant(value=str(kind)), ast.Constant(value=str(name)):
                        found[kind] = name
    return found


@native("simpletorch_installed.is_newer")
def _is_newer(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether the library is of version 5 or later, which loads weights in the dtype that they were saved in."""
    version = run.resolve(run.program.library(run, "transformers.__version__"))
    if not isinstance(version, str) or not version.partition(".")[0].isdigit():
        return run.unknown("the version of transformers", "bool")
    return int(version.partition(".")[0]) >= _NEWER


def _place(run: Interpreter, args: tuple[Value, ...]) -> dict[str, str] | None:
    """Where a model's files are looked for, as `hubs.file_of` takes it; None if that isn't known."""
    name, *_, options = map(run.resolve, args)
    if not isinstance(options, Dict):
        return None
    given = {key: run.resolve(value) for key, value in options.cells.items()}
    if isinstance(name, Instance) and name.cls.is_a("pathlib.PurePath"):
        name = run.resolve(name.native)
    chosen = run.program.library(run, "os.environ")
    if isinstance(chosen, Dict):
        changed = [key for key in _CACHES if key in chosen.cells]
        if changed:
            return None
    found = {"name": name, "cache": given.get("cache_dir") or "", "revision": given.get("revision") or "main"}
    found["below"] = given.get("subfolder") or ""
    texts = {key: value for key, value in found.items() if isinstance(value, str)}
    if len(texts) < len(found) or any(_has_written(run, text) for text in (texts["name"], texts["cache"]) if text):
        return None
    return texts


def _has_written(run: Interpreter, path: str) -> bool:
    """Whether the program may have written below a path."""
    return files.folder(run, path) is None and outside.exists(path)


def _real(run: Interpreter, args: tuple[Value, ...], file: str) -> str | None:
    place = _place(run, args)
    if place is None:
        return None
    below, reach = place.pop("below"), run.program.reach
    return hubs.file_of(
        reach, place["name"], posixpath.join(below, file), cache=place["cache"], revision=place["revision"]
    )


@native("simpletorch_installed.from_disk")
def _from_disk(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``from_disk(name, file, options)``: the contents of a model's JSON file; None where they aren't known."""
    file = run.resolve(args[1])
    real = _real(run, args, file) if isinstance(file, str) else None
    if real is None:
        return None
    try:
        found = hubs.read_json(run.program.reach, real)
    except Unreadable:
        return None
    if not isinstance(found, dict):
        return None
    entries.entry(run, real)
    run.program.described[real] = f"{file} of a model of {len(found)} entries"
    return entries.value(run, found)


@native("simpletorch_installed.weights_dtype")
def _weights_dtype(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``weights_dtype(name, options)``: the dtype in which a model's weights were saved."""
    real = _real(run, args, "model.safetensors")
    found = BY_TORCH_NAME.get("" if real is None else hubs.weights_dtype(run.program.reach, real))
    return run.unknown("the dtype in which weights were saved") if found is None else found


_LARGE: Final = 10**20  # from here on transformers takes a length for none
_SIZED: Final = ("Albert", "Bert", "CLIP", "DistilBert", "Electra", "GPT2", "GPTNeoX", "MPNet", "Qwen2", "Roberta")
_SIZED_CLASSES: Final = {"PreTrainedTokenizerFast", "TokenizersBackend", *(f"{name}Tokenizer" for name in _SIZED)}


@native("simpletorch_installed.is_large")
def _is_large(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether a length stands for none."""
    found = run.resolve(args[0])
    return isinstance(found, int | float) and found > _LARGE


@native("simpletorch_installed.length_of")
def _length_of(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``length_of(name, options, told)``: how many tokens a tokenizer has, by the two files that say what it is."""
    unclear = run.unknown("how many tokens a tokenizer has", "int", "data")
    found = [_real(run, args[:2], f"tokenizer{ending}.json") for ending in ("", "_config")]
    try:
        fast, told = ({} if f is None else hubs.read_json(run.program.reach, f) for f in found)
    except Unreadable:
        return unclear
    tokens, named = hubs.tokens(fast), hubs.tokens_named(told)
    kind = told.get("tokenizer_class") if isinstance(told, dict) else None
    is_known = isinstance(kind, str) and (kind in _SIZED_CLASSES or kind.removesuffix("Fast") in _SIZED_CLASSES)
    return len(tokens) if is_known and tokens and named is not None and named <= tokens else unclear


@native("simpletorch_installed.is_known")
def _is_known(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether at least the kind of a value is known."""
    return not isinstance(run.resolve(args[0]), Unknown | Choice)


@native("simpletorch_installed.own")
def _own(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``own(object, name)``: an attribute that an object itself has; None without one."""
    value, name = map(run.resolve, args)
    if not isinstance(value, Instance) or "open" in value.state:
        return run.unknown("an attribute")
    found = run.resolve(value.cells.get(name, MISSING))
    return None if found is MISSING else found


@native("simpletorch_installed.put_down")
def _put_down(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A model is saved in a folder, whose contents aren't known from then on."""
    files.handed_over(run, args)
    return None


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
