"""What transformers' own tests ask of the four models' calls, asked of ours and of theirs with our signatures.

After ``tests/models/{bert,gpt2,llama,t5}/test_modeling_*.py`` of transformers (their ``create_and_check_…``), with the
sizes of their ``ModelTester``s. Left out is what these models here don't have: cross-attention in BERT and GPT-2, heads
for questions, choices and tokens, other kinds of rotary positions.
"""

from __future__ import annotations

import pytest
import torch

from simpletorch.interop import from_transformers
from simpletorch.language import models
from tests.language.pairs import transformers

pytestmark = pytest.mark.neighbour("transformers")

BATCH, LENGTH, WRITTEN, VOCAB, WIDTH, LABELS = 13, 7, 9, 99, 32, 3
SIZES = {
    "BertConfig": {
        "vocab_size": VOCAB,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 37,
        "type_vocab_size": 16,
        "num_labels": LABELS,
    },
    "GPT2Config": {"vocab_size": VOCAB, "n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_inner": 37, "n_positions": 512},
    "LlamaConfig": {
        "vocab_size": VOCAB,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 37,
        "hidden_act": "gelu",
    },
    "T5Config": {
        "vocab_size": VOCAB,
        "d_model": WIDTH,
        "d_kv": 8,
        "d_ff": 37,
        "num_layers": 5,
        "num_heads": 4,
        "relative_attention_num_buckets": 8,
        "initializer_factor": 0.002,
        "decoder_start_token_id": 0,
    },
}
CAUSAL = {"GPT2Config": models.GPT2LMHeadModel, "LlamaConfig": models.LlamaForCausalLM}
LARGE = 1e-3  # their tolerance between one pass and two


def config(name, **more):
    return getattr(transformers, name)(**SIZES[name], **more, bos_token_id=0, eos_token_id=1, pad_token_id=0)


def ours(cls, name):
    return cls(getattr(models, name).from_transformers(config(name))).eval()


def theirs(name, task):
    return from_transformers(config(name), task).eval()


def tokens(*shape, below=VOCAB):
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(sum(shape)))


MASK = torch.cat([torch.ones(BATCH, 1), tokens(BATCH, LENGTH - 1, below=2)], dim=1).long()


# -- BERT --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [{}, {"types": True}, {"types": True, "mask": True}], ids=str)
def test_bert(inputs):
    given = {"token_type_ids": tokens(BATCH, LENGTH, below=16)} if "types" in inputs else {}
    given |= {"attention_mask": MASK} if "mask" in inputs else {}
    for model in (ours(models.BertModel, "BertConfig"), theirs("BertConfig", "hidden-states")):
        result = model(tokens(BATCH, LENGTH), **given)
        assert result.last_hidden_state.shape == (BATCH, LENGTH, WIDTH)
        assert result.pooler_output.shape == (BATCH, WIDTH)


def test_bert_for_masked_tokens():
    ids = tokens(BATCH, LENGTH)
    assert ours(models.BertForMaskedLM, "BertConfig")(ids, MASK).shape == (BATCH, LENGTH, VOCAB)
    result = theirs("BertConfig", "masked-lm")(ids, attention_mask=MASK, labels=tokens(BATCH, LENGTH, below=LABELS))
    assert result.logits.shape == (BATCH, LENGTH, VOCAB)


def test_bert_for_classes_of_texts():
    ids = tokens(BATCH, LENGTH)
    assert ours(models.BertForSequenceClassification, "BertConfig")(ids, MASK).shape == (BATCH, LABELS)
    model = theirs("BertConfig", "sequence-classification")
    assert model(ids, attention_mask=MASK, labels=tokens(BATCH, below=2)).logits.shape == (BATCH, LABELS)
    several = from_transformers(
        config("BertConfig", problem_type="multi_label_classification"), "sequence-classification"
    ).eval()
    labels = tokens(BATCH, LABELS, below=2).float()
    assert several(ids, attention_mask=ids.ne(1), labels=labels).logits.shape == (BATCH, LABELS)


# -- GPT-2 and Llama ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("mask", [None, MASK, MASK.bool(), torch.ones(BATCH, LENGTH).tril()], ids=lambda m: str(m)[:9])
def test_states_and_scores(name, mask):
    ids = tokens(BATCH, LENGTH)
    own = ours(CAUSAL[name], name)
    base = own.transformer if name == "GPT2Config" else own.model
    assert base(ids, mask).shape == (BATCH, LENGTH, WIDTH)
    assert own(ids, mask).shape == (BATCH, LENGTH, VOCAB)
    states = theirs(name, "hidden-states")(ids, attention_mask=mask)
    assert states.last_hidden_state.shape == (BATCH, LENGTH, WIDTH)
    result = theirs(name, "causal-lm")(ids, attention_mask=mask, labels=ids)
    assert result.logits.shape == (BATCH, LENGTH, VOCAB)
    assert result.loss.shape == ()


@pytest.mark.parametrize("name", CAUSAL)
def test_training(name):
    own, ids = ours(CAUSAL[name], name).train(), tokens(BATCH, LENGTH)
    torch.nn.functional.cross_entropy(own(ids).flatten(0, 1), ids.flatten()).backward()
    theirs(name, "causal-lm").train()(ids, labels=ids).loss.backward()


@pytest.mark.parametrize("new", [1, 3])
@pytest.mark.parametrize("name", CAUSAL)
def test_new_tokens_after_earlier_ones_are_as_in_one_pass(name, new):
    ids, more = tokens(BATCH, LENGTH), tokens(BATCH, new)
    mask = torch.cat([MASK, torch.ones(BATCH, new, dtype=torch.int64)], dim=1)
    whole = torch.cat([ids, more], dim=1)
    own = ours(CAUSAL[name], name)
    _, past = own.step(ids, own.empty_cache(BATCH), MASK)
    scores, _ = own.step(more, past, mask)
    assert torch.allclose(scores, own(whole, mask)[:, -new:], atol=LARGE)
    full = theirs(name, "causal-lm")
    past = full(ids, attention_mask=MASK, use_cache=True).past_key_values
    scores = full(more, attention_mask=mask, past_key_values=past, use_cache=True).logits
    assert torch.allclose(scores, full(whole, attention_mask=mask).logits[:, -new:], atol=LARGE)


# -- T5 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
def test_t5(masked):
    read, written = tokens(BATCH, LENGTH), tokens(BATCH, WRITTEN)
    masks = {"attention_mask": MASK, "decoder_attention_mask": tokens(BATCH, WRITTEN, below=2)} if masked else {}
    own = ours(models.T5ForConditionalGeneration, "T5Config")
    assert own.encoder(read).shape == (BATCH, LENGTH, WIDTH)
    assert own.decoder(written, None, own.encoder(read)).shape == (BATCH, WRITTEN, WIDTH)
    scores = own(read, written, **masks)
    assert scores.shape == (BATCH, WRITTEN, VOCAB)
    assert scores.isfinite().all()
    result = theirs("T5Config", "seq2seq-lm")(read, decoder_input_ids=written, **masks)
    assert result.logits.shape == (BATCH, WRITTEN, VOCAB)


def test_t5_with_labels():
    read, labels = tokens(BATCH, LENGTH), tokens(BATCH, WRITTEN)
    result = theirs("T5Config", "seq2seq-lm")(read, labels=labels)
    assert result.logits.shape == (BATCH, WRITTEN, VOCAB)
    assert result.loss.shape == ()
    own = ours(models.T5ForConditionalGeneration, "T5Config")
    shifted = own.shift_right(labels)
    assert (shifted[:, 0] == own.config.decoder_start_token_id).all()
    assert torch.equal(shifted[:, 1:], labels[:, :-1])
    assert own(read, shifted).shape == (BATCH, WRITTEN, VOCAB)


def test_t5_in_half_precision():
    model = ours(models.T5ForConditionalGeneration, "T5Config").half()
    assert not model(tokens(BATCH, LENGTH), tokens(BATCH, LENGTH), MASK).isnan().any()
