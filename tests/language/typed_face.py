"""A plugin for pytest: transformers' own tests of its models, where every model that a test makes is typed first.

::

    git clone --branch v5.23.0 https://github.com/huggingface/transformers
    pytest -p tests.language.typed_face transformers/tests/models/{bert,gpt2,llama,t5}/test_modeling_*.py

The tests stay as they are. A model gets the signature of its task as soon as it is made, as `from_transformers` would
have given it, or of what a task isn't there for, one that is stated here; what it consists of gets none. At the end it
is said how many calls were held to a signature, and how many had arguments that it doesn't have.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, Protocol

import pytest
import transformers

from simpletorch import Float, Int64, Shaped, Tensor
from simpletorch.dims import B, Batch, K, S, T
from simpletorch.interop import _tasks as tasks
from simpletorch.interop import _typed


class Pretraining(tasks.Output, Protocol[B, T]):
    prediction_logits: Tensor[Float, B, T, Any]
    seq_relationship_logits: Tensor[Float, B, 2]


class TwoHeads(tasks.Output, Protocol[*Batch, T]):
    logits: Tensor[Float, *Batch, T, Any]
    mc_logits: Tensor[Float, *Batch]


class Choice(tasks.Output, Protocol[B, K]):
    logits: Tensor[Float, B, K]


class BothStates(tasks.Output, Protocol[B, S, T]):
    last_hidden_state: Tensor[Float, B, T, Any]
    encoder_last_hidden_state: Tensor[Float, B, S, Any]


def pretraining(
    input_ids: Tensor[Int64, B, T],
    *,
    attention_mask: Tensor[Shaped, B, T] | None = None,
    token_type_ids: Tensor[Int64, B, T] | None = None,
    labels: Tensor[Int64, B, T] | None = None,
    next_sentence_label: Tensor[Int64, B] | None = None,
    output_hidden_states: Any = None,
    output_attentions: Any = None,
) -> Pretraining[B, T]:
    raise NotImplementedError


def choice(
    input_ids: Tensor[Int64, B, K, T],
    *,
    attention_mask: Tensor[Shaped, B, K, T] | None = None,
    token_type_ids: Tensor[Int64, B, K, T] | None = None,
    labels: Tensor[Int64, B] | None = None,
    output_hidden_states: Any = None,
    output_attentions: Any = None,
) -> Choice[B, K]:
    raise NotImplementedError


def two_heads(
    input_ids: Tensor[Int64, *Batch, T],
    *,
    attention_mask: Tensor[Shaped, *Batch, T] | None = None,
    token_type_ids: Tensor[Int64, *Batch, T] | None = None,
    mc_token_ids: Tensor[Int64, *Batch] | None = None,
    labels: Tensor[Int64, *Batch, T] | None = None,
    output_hidden_states: Any = None,
    output_attentions: Any = None,
) -> TwoHeads[*Batch, T]:
    raise NotImplementedError


def both(
    input_ids: Tensor[Int64, B, S],
    *,
    attention_mask: Tensor[Shaped, B, S] | None = None,
    decoder_input_ids: Tensor[Int64, B, T] | None = None,
    decoder_attention_mask: Tensor[Shaped, B, T] | None = None,
    use_cache: Any = None,
    output_hidden_states: Any = None,
    output_attentions: Any = None,
) -> BothStates[B, S, T]:
    raise NotImplementedError


FACES: dict[str, object] = {
    "BertModel": tasks.HiddenStates,
    "BertLMHeadModel": tasks.CausalLM,
    "BertForMaskedLM": tasks.MaskedLM,
    "BertForMultipleChoice": choice,
    "BertForNextSentencePrediction": tasks.SequenceClassifier,
    "BertForPreTraining": pretraining,
    "BertForQuestionAnswering": tasks.QuestionAnswering,
    "BertForSequenceClassification": tasks.SequenceClassifier,
    "BertForTokenClassification": tasks.TokenClassifier,
    "GPT2Model": tasks.HiddenStates,
    "GPT2LMHeadModel": tasks.CausalLM,
    "GPT2DoubleHeadsModel": two_heads,
    "GPT2ForQuestionAnswering": tasks.QuestionAnswering,
    "GPT2ForSequenceClassification": tasks.SequenceClassifier,
    "GPT2ForTokenClassification": tasks.TokenClassifier,
    "LlamaModel": tasks.HiddenStates,
    "LlamaForCausalLM": tasks.CausalLM,
    "LlamaForQuestionAnswering": tasks.QuestionAnswering,
    "LlamaForSequenceClassification": tasks.SequenceClassifier,
    "LlamaForTokenClassification": tasks.TokenClassifier,
    "T5Model": both,
    "T5ForConditionalGeneration": tasks.Seq2SeqLM,
    "T5EncoderModel": tasks.HiddenStates,
    "T5ForQuestionAnswering": tasks.QuestionAnswering,
    "T5ForSequenceClassification": tasks.SequenceClassifier,
    "T5ForTokenClassification": tasks.TokenClassifier,
}


class Face:
    """Types what is made, and counts the calls."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.depth = 0  # of models that are being made: one inside of another is a part

    def dress(self, cls: type, signature: object) -> None:
        """From now on each new ``cls`` has the signature."""
        init = cls.__init__

        @functools.wraps(init)
        def made(model: Any, *args: Any, **kwargs: Any) -> None:
            self.depth += 1
            try:
                init(model, *args, **kwargs)
            finally:
                self.depth -= 1
            if type(model) is cls and not self.depth:
                _typed.attach_signature(model, signature, {}, shared=True)

        cls.__init__ = made

    def count(self) -> None:
        """From now on calls of typed models are counted."""
        before = _typed._Check.before

        def counted(check: Any, model: Any, args: Any, kwargs: Any) -> None:
            self.calls["held to a signature" if check._is_meant(args, kwargs) else "with other arguments"] += 1
            before(check, model, args, kwargs)

        _typed._Check.before = counted


face = Face()


def pytest_configure() -> None:
    face.count()
    for name, signature in FACES.items():
        face.dress(getattr(transformers, name), signature)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # of pytest-xdist
        session.config.workeroutput["calls"] = dict(face.calls)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    face.calls.update(getattr(node, "workeroutput", {}).get("calls", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"calls of typed models: {dict(face.calls)}")
