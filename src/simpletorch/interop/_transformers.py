"""`from_transformers`: models of transformers with a signature."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias, overload

from torch import nn

from simpletorch.errors import BackendError, DataError, TorchError, as_also
from simpletorch.interop._tasks import (
    CausalLM,
    HiddenStates,
    MaskedLM,
    QuestionAnswering,
    Seq2SeqLM,
    SequenceClassifier,
    TokenClassifier,
    TransformersModel,
)
from simpletorch.interop._typed import attach_signature

__all__ = ["Task", "from_transformers"]

Task: TypeAlias = Literal[
    "hidden-states",
    "causal-lm",
    "masked-lm",
    "seq2seq-lm",
    "sequence-classification",
    "token-classification",
    "question-answering",
]

_TASKS: Final[dict[str, tuple[str, type[TransformersModel]]]] = {
    "hidden-states": ("AutoModel", HiddenStates),
    "causal-lm": ("AutoModelForCausalLM", CausalLM),
    "masked-lm": ("AutoModelForMaskedLM", MaskedLM),
    "seq2seq-lm": ("AutoModelForSeq2SeqLM", Seq2SeqLM),
    "sequence-classification": ("AutoModelForSequenceClassification", SequenceClassifier),
    "token-classification": ("AutoModelForTokenClassification", TokenClassifier),
    "question-answering": ("AutoModelForQuestionAnswering", QuestionAnswering),
}


@overload
def from_transformers(source: Any, task: Literal["hidden-states"] = ..., **options: Any) -> HiddenStates: ...
@overload
def from_transformers(source: Any, task: Literal["causal-lm"], **options: Any) -> CausalLM: ...
@overload
def from_transformers(source: Any, task: Literal["masked-lm"], **options: Any) -> MaskedLM: ...
@overload
def from_transformers(source: Any, task: Literal["seq2seq-lm"], **options: Any) -> Seq2SeqLM: ...
@overload
def from_transformers(source: Any, task: Literal["sequence-classification"], **options: Any) -> SequenceClassifier: ...
@overload
def from_transformers(source: Any, task: Literal["token-classification"], **options: Any) -> TokenClassifier: ...
@overload
def from_transformers(source: Any, task: Literal["question-answering"], **options: Any) -> QuestionAnswering: ...
def from_transformers(source: Any, task: Task = "hidden-states", **options: Any) -> Any:
    """A model of transformers whose calls are checked against the signature of its task, by mypy and when they run.

    ::

        model = from_transformers(transformers.GPT2Config(n_layer=2), "causal-lm")  # random weights, no download
        scores = model(tokens).logits  # Int64[B, T] -> Float[B, T, V]

    The result is transformers' own model (see `typed` for its additions). For mypy it is of a class here that
    has the call; ``generate``, ``config`` and what else the model has are there too, without types.

    Args:
        source: a configuration, whose model gets random weights; or the name of a model on the Hugging Face hub, or a
            folder, from which the weights are loaded.
        task: of the model; it decides the inputs and outputs.
        options: for ``from_pretrained`` of a name or folder (``revision=``, ``local_files_only=``, ``dtype=``,
            ``token=``), or ``from_config`` of a configuration. ``trust_remote_code`` is False unless it is given.

    Raises:
        BackendError: transformers is not installed.
        TorchError: (a `ValueError` too) there is no such task, or transformers has no model of this kind for it.
        DataError: no model of that name can be loaded: it isn't there, or there is no network.

    Source: https://huggingface.co/docs/transformers/model_doc/auto

    Examples:
        >>> import torch
        >>> import transformers
        >>> from simpletorch import interop
        >>> config = transformers.GPT2Config(n_layer=2, n_head=4, n_embd=32)
        >>> model = interop.from_transformers(config, "causal-lm")  # random weights
        >>> model(torch.zeros(2, 7, dtype=torch.int64)).logits.shape
        torch.Size([2, 7, 50257])
    """
    error = as_also(TorchError, ValueError)
    if task not in _TASKS:
        reason = f"there is no task {task!r}; there are {', '.join(_TASKS)}"
        raise error(reason, operation="from_transformers", expected=tuple(_TASKS), got=task)
    auto, signature = _TASKS[task]
    factory = getattr(_transformers(), auto)
    options = {"trust_remote_code": False, **options}
    if isinstance(source, str | os.PathLike):
        model: nn.Module = _loaded(factory, os.fspath(source), options)
    else:
        try:
            model = factory.from_config(source, **options)
        except ValueError as cause:  # no such model for this kind of configuration
            reason = f"transformers makes no model for {task!r} of a {type(source).__name__}: {_first_line(cause)}"
            raise error(reason, operation="from_transformers") from cause
    attach_signature(model, signature, {}, shared=True)
    return model


def _transformers() -> ModuleType:
    # by name: an import statement would have mypy read all of it wherever simpletorch is imported
    try:
        return import_module("transformers")
    except ImportError as cause:
        hint = "pip install transformers"
        raise BackendError("transformers is not installed", operation="from_transformers", hint=hint) from cause


def _loaded(factory: Any, name: str, options: dict[str, Any]) -> nn.Module:
    """The model of a name or folder, with its weights."""
    try:
        model = factory.from_pretrained(name, **options)
    except (OSError, ValueError) as cause:  # of huggingface_hub all are one of these
        hint = (
            "a folder that save_pretrained has written is loaded without a network; a configuration, such as "
            "transformers.GPT2Config(), gives a model with random weights"
        )
        reason = f"no model can be loaded from {name!r}: {_first_line(cause)}"
        raise DataError(reason, operation="from_transformers", hint=hint) from cause
    assert isinstance(model, nn.Module)
    return model


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
