"""Weights of the language models as they are saved and published: files, folders, parts, older names."""

from __future__ import annotations

import json
import random

import pytest
import torch
from safetensors.torch import load_file, save_file

from simpletorch.errors import CheckpointError
from simpletorch.language import models
from simpletorch.language.models import load_weights
from simpletorch.nn import StateMismatch
from tests.language.pairs import KINDS, transformers

pytestmark = pytest.mark.neighbour("transformers")

GPT2 = KINDS["GPT2LMHeadModel"]


def fresh(kind, theirs):
    """A model of ours with other weights."""
    return getattr(models, kind.name)(getattr(models, kind.config).from_transformers(theirs.config))


def assert_same(model, theirs):
    state = model.state_dict()
    assert [key for key, value in theirs.state_dict().items() if not torch.equal(value, state[key])] == []


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("parts", [False, True])
def test_a_folder_that_transformers_has_saved(tmp_path, name, parts):
    theirs = KINDS[name].theirs()
    theirs.save_pretrained(tmp_path, max_shard_size="10KB" if parts else "5GB")
    assert (tmp_path / "model.safetensors.index.json").exists() == parts
    model = fresh(KINDS[name], theirs)
    load_weights(model, tmp_path)
    assert_same(model, theirs)


def test_a_file_and_a_state_dict(tmp_path):
    theirs = GPT2.theirs()
    theirs.save_pretrained(tmp_path)
    torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    for weights in (tmp_path / "model.safetensors", tmp_path / "pytorch_model.bin", theirs.state_dict()):
        model = fresh(GPT2, theirs)
        load_weights(model, weights)
        assert_same(model, theirs)


def test_tied_weights_stay_tied(tmp_path):
    theirs = GPT2.theirs()
    theirs.save_pretrained(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    model = fresh(GPT2, theirs)
    load_weights(model, tmp_path)
    assert model.lm_head.weight is model.transformer.wte.weight


def test_a_published_file_without_the_head_s_prefix_and_with_old_buffers(tmp_path):
    theirs = GPT2.theirs()
    state = {key: value.clone() for key, value in theirs.transformer.state_dict().items()}
    state |= {f"h.{layer}.attn.bias": torch.ones(1, 1, 37, 37) for layer in range(2)}
    save_file(state, tmp_path / "gpt2.safetensors")
    model = fresh(GPT2, theirs)
    load_weights(model, tmp_path / "gpt2.safetensors")
    assert_same(model, theirs)


def test_older_names_of_bert(tmp_path):
    theirs = KINDS["BertModel"].theirs()
    older = {
        f"bert.{key}".replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for key, value in theirs.state_dict().items()
    }
    save_file({**older, "bert.embeddings.position_ids": torch.arange(37)[None]}, tmp_path / "bert.safetensors")
    model = fresh(KINDS["BertModel"], theirs)
    load_weights(model, tmp_path / "bert.safetensors")
    assert_same(model, theirs)


@pytest.mark.parametrize("name", ["BertModel", "BertForMaskedLM", "BertForSequenceClassification"])
def test_heads_that_the_model_has_not_are_left_out(tmp_path, name):
    full = transformers.BertForPreTraining(transformers.BertConfig(**KINDS[name].sizes))
    full.save_pretrained(tmp_path)
    model = fresh(KINDS[name], full)
    head = {key: value.clone() for key, value in model.state_dict().items() if key.startswith("classifier.")}
    load_weights(model, tmp_path, new=["classifier"])
    state = full.state_dict() | {key.removeprefix("bert."): value for key, value in full.state_dict().items()} | head
    assert [key for key, value in model.state_dict().items() if not torch.equal(value, state[key])] == []


def test_a_head_that_the_file_has_not_is_an_error_unless_it_is_new(tmp_path):
    theirs = KINDS["BertModel"].theirs()
    theirs.save_pretrained(tmp_path)
    model = fresh(KINDS["BertForSequenceClassification"], theirs)
    with pytest.raises(StateMismatch, match=r"classifier\.weight"):
        load_weights(model, tmp_path)
    load_weights(model, tmp_path, new=["classifier"])
    assert_same(model.bert, theirs)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_name_is_not_looked_up(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file or folder gpt2; nothing is downloaded by name"):
        load_weights(fresh(GPT2, GPT2.theirs()), "gpt2")
    with pytest.raises(FileNotFoundError, match=r"has none of model\.safetensors, pytorch_model\.bin"):
        load_weights(fresh(GPT2, GPT2.theirs()), tmp_path)


def test_weights_of_another_model_change_nothing(tmp_path):
    theirs, other = GPT2.theirs(), GPT2.theirs(n_embd=24, n_layer=3)
    other.save_pretrained(tmp_path)
    model = GPT2.ours(theirs)
    with pytest.raises(StateMismatch, match=r"transformer\.h\.2\.attn\.c_attn\.weight"):
        load_weights(model, tmp_path)
    assert_same(model, theirs)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"\x07" * 31)
    with pytest.raises(CheckpointError, match="can't be read as weights"):
        load_weights(fresh(GPT2, GPT2.theirs()), path)


@pytest.mark.parametrize(
    "index",
    ["{", "[]", json.dumps({"weight_map": {"a": "../elsewhere.safetensors"}}), json.dumps({"weight_map": {"a": 5}})],
)
def test_an_index_that_is_damaged_or_leads_elsewhere(tmp_path, index):
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(CheckpointError, match="can't be read as an index of weights"):
        load_weights(fresh(GPT2, GPT2.theirs()), tmp_path)


def damaged(data, chance):
    """The bytes cut short, or with some of them changed."""
    if chance.random() < 0.3:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20))):
        changed[chance.randrange(4000)] = chance.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_damaged_files_are_refused_or_read(tmp_path, name):
    theirs = GPT2.theirs()
    theirs.save_pretrained(tmp_path)
    torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    data, model, chance = (tmp_path / name).read_bytes(), GPT2.ours(theirs), random.Random(0)
    refused = 0
    for _ in range(100):
        (tmp_path / name).write_bytes(damaged(data, chance))
        try:
            load_weights(model, tmp_path / name)
        except CheckpointError:  # a plain safetensors file has no checksum: another number is read as one
            refused += 1
    assert refused > 50
