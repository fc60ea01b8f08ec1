"""BERT, GPT-2, Llama and T5 compute what transformers' do, from the same state dicts."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from simpletorch import nn
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TorchError
from simpletorch.language import models
from tests.language.pairs import KINDS, ROPE, difference, ids, padded, transformers

pytestmark = pytest.mark.neighbour("transformers")

CLOSE = 1e-5
CAUSAL = ["GPT2LMHeadModel", "LlamaForCausalLM"]
LONG = {"T5ForConditionalGeneration": ({"decoder_input_ids": ids(5, 7)}, {"decoder_attention_mask": padded(5, 7)})}


def outputs(theirs, ours, **inputs):
    """The tensors that both give, side by side."""
    with torch.no_grad():
        full, own = theirs(**inputs), ours(**inputs)
    if isinstance(own, models.BertOutput):
        return [(full.last_hidden_state, own.last_hidden_state), (full.pooler_output, own.pooler_output)]
    return [(full.logits, own)]


# -- the same numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_state_dicts_have_the_same_keys_and_shapes(name):
    theirs, ours = KINDS[name].pair()
    wanted = {key: value.shape for key, value in theirs.state_dict().items()}
    assert {key: value.shape for key, value in ours.state_dict().items()} == wanted
    assert list(ours.state_dict()) == list(wanted)
    theirs.load_state_dict(ours.state_dict())


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_outputs_are_those_of_transformers(name, masked):
    theirs, ours = KINDS[name].pair()
    more, masks = LONG.get(name, ({}, {}))
    inputs = {"input_ids": ids(5, 11), **more}
    if masked:
        inputs |= {"attention_mask": padded(5, 11), **masks}
    for full, own in outputs(theirs, ours, **inputs):
        assert full.abs().max() > 0.1
        assert difference(full, own) <= CLOSE


@pytest.mark.parametrize("name", [name for name in KINDS if name.startswith("Bert")])
def test_bert_tells_two_texts_apart(name):
    theirs, ours = KINDS[name].pair()
    types = (torch.arange(11) > 5).long().expand(5, -1)
    for full, own in outputs(theirs, ours, input_ids=ids(5, 11), token_type_ids=types):
        assert difference(full, own) <= CLOSE


@pytest.mark.parametrize("name", CAUSAL)
def test_padding_on_the_left_with_positions(name):
    theirs, ours = KINDS[name].pair()
    mask = padded(5, 11, left=True)
    places = (mask.cumsum(1) - 1).clamp(min=0)
    ((full, own),) = outputs(theirs, ours, input_ids=ids(5, 11), attention_mask=mask, position_ids=places)
    assert difference(full[mask.bool()], own[mask.bool()]) <= CLOSE


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("masked", [False, True])
def test_tokens_after_earlier_ones(name, masked):
    theirs, ours = KINDS[name].pair()
    tokens, cache, past = ids(5, 11), None, ours.empty_cache(5)
    mask = padded(5, 11, left=True) if masked else None
    for start, end in ((0, 5), (5, 6), (6, 11)):
        seen = None if mask is None else mask[:, :end]
        with torch.no_grad():
            full = theirs(tokens[:, start:end], past_key_values=cache, attention_mask=seen, use_cache=True)
            scores, past = ours.step(tokens[:, start:end], past, seen)
        cache = full.past_key_values
        real = torch.ones(5, end - start, dtype=torch.bool) if mask is None else mask[:, start:end].bool()
        assert difference(full.logits[real], scores[real]) <= CLOSE
        for layer, seen_so_far in zip(cache.layers, past, strict=True):
            assert seen_so_far.keys.shape == layer.keys.shape


@pytest.mark.parametrize("rope", ROPE)
def test_rotary_positions_are_scaled_as_the_configuration_says(rope):
    theirs, ours = KINDS["LlamaForCausalLM"].pair(rope_parameters=ROPE[rope], max_position_embeddings=17)
    for length in (7, 13, 29):  # shorter than the text of the first training, and longer
        ((full, own),) = outputs(theirs, ours, input_ids=ids(3, length))
        assert difference(full, own) <= CLOSE


@pytest.mark.parametrize("rope", ["dynamic", "yarn", "longrope"])
def test_scaled_positions_of_tokens_after_earlier_ones(rope):
    theirs, ours = KINDS["LlamaForCausalLM"].pair(rope_parameters=ROPE[rope], max_position_embeddings=7)
    tokens, cache, past = ids(3, 13), None, ours.empty_cache(3)
    for start, end in ((0, 5), (5, 11), (11, 13)):
        with torch.no_grad():
            full = theirs(tokens[:, start:end], past_key_values=cache, use_cache=True)
            scores, past = ours.step(tokens[:, start:end], past)
        cache = full.past_key_values
        assert difference(full.logits, scores) <= CLOSE


def test_factors_are_one_for_each_pair():
    config = KINDS["LlamaForCausalLM"].theirs(rope_parameters=ROPE["longrope"]).config
    config.rope_parameters["long_factor"] = [2.0]
    ours = models.LlamaConfig.from_transformers(config)
    with pytest.raises(ShapeMismatch, match="long_factor has 1 numbers, but in head_dim=4 there are 2 pairs"):
        models.LlamaForCausalLM(ours)


@pytest.mark.parametrize(
    "sizes",
    [
        {"num_key_value_heads": 6},
        {"head_dim": 10},
        {"tie_word_embeddings": True},
        {"attention_bias": True, "mlp_bias": True},
        {"hidden_act": "gelu"},
    ],
    ids=lambda sizes: next(iter(sizes)),
)
def test_variants_of_llama(sizes):
    theirs, ours = KINDS["LlamaForCausalLM"].pair(**sizes)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ((full, own),) = outputs(theirs, ours, input_ids=ids(5, 11))
    assert difference(full, own) <= CLOSE


@pytest.mark.parametrize(
    "sizes",
    [
        {"scale_attn_by_inverse_layer_idx": True},
        {"scale_attn_weights": False},
        {"n_inner": 17, "activation_function": "relu"},
    ],
    ids=lambda sizes: next(iter(sizes)),
)
def test_variants_of_gpt2(sizes):
    ((full, own),) = outputs(*KINDS["GPT2LMHeadModel"].pair(**sizes), input_ids=ids(5, 11))
    assert difference(full, own) <= CLOSE


@pytest.mark.parametrize("proj", ["gated-gelu", "gated-silu", "gelu"])
@pytest.mark.parametrize("tied", [True, False])
def test_t5_of_version_1_1(proj, tied):
    theirs, ours = KINDS["T5ForConditionalGeneration"].pair(feed_forward_proj=proj, tie_word_embeddings=tied)
    assert ours.config.scale_decoder_outputs is tied
    more, _ = LONG["T5ForConditionalGeneration"]
    ((full, own),) = outputs(theirs, ours, input_ids=ids(5, 11), **more)
    assert difference(full, own) <= CLOSE


def test_t5_writes_what_comes_after_a_start():
    theirs, ours = KINDS["T5ForConditionalGeneration"].pair()
    labels = ids(5, 7)
    labels[2, 4:] = -100
    with torch.no_grad():
        full = theirs(input_ids=ids(5, 11), labels=labels).logits
        own = ours(ids(5, 11), ours.shift_right(labels))
    assert difference(full, own) <= CLOSE


# -- training ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_every_weight_gets_a_gradient(name):
    model = KINDS[name].pair()[1].train()
    more, _ = LONG.get(name, ({}, {}))
    result = model(ids(5, 11), **more)
    tensors = result if isinstance(result, tuple) else (result,)
    sum(tensor.square().sum() for tensor in tensors).backward()
    assert [key for key, value in model.named_parameters() if value.grad is None] == []


@pytest.mark.parametrize("name", KINDS)
def test_weights_begin_as_transformers_do(name):
    kind = KINDS[name]
    torch.manual_seed(0)
    config = getattr(transformers, kind.config)(**{**kind.sizes, **WIDE[kind.config]})
    full = getattr(transformers, kind.name)(config)
    own = getattr(models, kind.name)(getattr(models, kind.config).from_transformers(full.config))
    for key, value in full.state_dict().items():
        if value.numel() > 2000:
            assert own.state_dict()[key].std().item() == pytest.approx(value.std().item(), rel=0.1), key


WIDE = {
    "BertConfig": {"hidden_size": 60, "intermediate_size": 61},
    "GPT2Config": {"n_embd": 60},
    "LlamaConfig": {"hidden_size": 60, "intermediate_size": 61},
    "T5Config": {"d_model": 60, "d_ff": 61, "d_kv": 20},
}


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "sizes", "reason"),
    [
        (
            "GPT2Config",
            {"add_cross_attention": True},
            "add_cross_attention is True, but this model computes False only",
        ),
        ("BertConfig", {"is_decoder": True}, "is_decoder is True, but .* False only"),
        ("LlamaConfig", {"rope_parameters": {**ROPE["linear"], "rope_type": "proportional"}}, "rope_type is 'propor"),
    ],
)
def test_what_is_not_computed_is_refused(config, sizes, reason):
    theirs = getattr(transformers, config)(**sizes)
    with pytest.raises(TorchError, match=reason) as caught:
        getattr(models, config).from_transformers(theirs)
    assert isinstance(caught.value, ValueError)


def test_a_configuration_of_another_kind_lacks_sizes():
    with pytest.raises(TorchError, match="BertConfig has no n_embd, n_head, n_positions") as caught:
        models.GPT2Config.from_transformers(transformers.BertConfig())
    assert "is it a configuration of the kind of GPT2Config?" in str(caught.value)


@pytest.mark.parametrize("name", KINDS)
def test_a_configuration_s_file_says_the_same(name):
    config = KINDS[name].theirs().config
    ours = getattr(models, KINDS[name].config)
    assert ours.from_transformers(config.to_dict()) == ours.from_transformers(config)


def test_rotary_positions_of_an_older_file():
    scaling = {**ROPE["llama3"]}
    theta = scaling.pop("rope_theta")
    scaling["type"] = scaling.pop("rope_type")
    older = {**KINDS["LlamaForCausalLM"].sizes, "rope_theta": theta, "rope_scaling": scaling}
    del older["rope_parameters"]
    assert models.LlamaConfig.from_transformers(older).rope_parameters == models.Rotary.from_transformers(
        ROPE["llama3"]
    )


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ShapeMismatch, match="n_embd=20 is not divisible by n_head=3"):
        models.GPT2LMHeadModel(models.GPT2Config(53, 37, n_embd=20, n_head=3))
    with pytest.raises(ShapeMismatch, match="vocab_size is 0"):
        models.GPT2LMHeadModel(models.GPT2Config(0, 37, n_embd=21, n_head=3))


def test_a_call_is_held_to_its_annotation():
    model = KINDS["GPT2LMHeadModel"].pair()[1]
    with pytest.raises(DTypeMismatch, match="input_ids is Float32, but should be Int64"):
        model(torch.zeros(5, 11))
    with pytest.raises(ShapeMismatch, match="dim 1 of attention_mask is 7, but T is 11"):
        model(ids(5, 11), torch.ones(5, 7, dtype=torch.int64))
    with pytest.raises(ShapeMismatch, match="past_key_values has 1 items, but the model has 2 layers"):
        model.step(ids(5, 11), model.empty_cache(5)[:1])
    with pytest.raises(ShapeMismatch):
        model.step(ids(5, 11), model.empty_cache(3))


# -- half precision, other devices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_half_precision(name):
    model = KINDS[name].pair()[1].to(torch.bfloat16)
    more, masks = LONG.get(name, ({}, {}))
    result = model(ids(5, 11), attention_mask=padded(5, 11), **more, **masks)
    tensors = result if isinstance(result, tuple) else (result,)
    assert {tensor.dtype for tensor in tensors} == {torch.bfloat16}
    assert all(tensor.isfinite().all() for tensor in tensors)


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("bert_base", 109.48),
        ("bert_large", 335.14),
        ("gpt2", 124.44),
        ("gpt2_medium", 354.82),
        ("gpt2_large", 774.03),
        ("gpt2_xl", 1557.61),
        ("llama_2_7b", 6738.42),
        ("llama_3_8b", 8030.26),
        ("llama_3_2_1b", 1235.81),
        ("t5_small", 60.51),
        ("t5_base", 222.90),
        ("t5_large", 737.67),
    ],
)
def test_as_many_parameters_as_published(name, millions):
    with torch.device("meta"):
        model = getattr(models, name)()
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, abs=0.01)


def test_configurations_are_plain_values():
    config = models.GPT2Config(53, 37, n_embd=21, n_head=3)
    assert dataclasses.replace(config, n_layer=2) != config
    assert isinstance(models.GPT2LMHeadModel(dataclasses.replace(config, n_layer=1)), nn.Module)


# -- export ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"])
def test_exported_for_any_batch_and_length(name):
    model = KINDS[name].pair()[1]
    sizes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=31)}
    program = torch.export.export(model, (ids(5, 11),), dynamic_shapes={"input_ids": sizes}).module()
    for batch, length in ((3, 5), (7, 29), (2, 13)):
        assert difference(program(ids(batch, length)), model(ids(batch, length))) <= CLOSE


@pytest.mark.slow
def test_t5_exported_for_any_batch_and_lengths():
    model = KINDS["T5ForConditionalGeneration"].pair()[1]
    batch, read, written = (torch.export.Dim(name, max=31) for name in ("batch", "read", "written"))
    sizes = {"input_ids": {0: batch, 1: read}, "decoder_input_ids": {0: batch, 1: written}}
    program = torch.export.export(model, (ids(5, 11), ids(5, 7)), dynamic_shapes=sizes).module()
    for given in ((3, 5, 7), (7, 29, 2), (2, 13, 11)):
        inputs = ids(*given[:2]), ids(given[0], given[2])
        assert difference(program(*inputs), model(*inputs)) <= CLOSE
