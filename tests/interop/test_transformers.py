"""`from_transformers`: transformers' own models, small and without a download, typed by task."""

from __future__ import annotations

import importlib
import pickle

import pytest
import torch
import transformers

from simpletorch.errors import BackendError, DataError, DTypeMismatch, ShapeMismatch, TorchError
from simpletorch.interop import from_transformers

pytestmark = pytest.mark.neighbour("transformers")
transformers.logging.set_verbosity_error()

IDS = torch.arange(10).view(2, 5)
BERT = {
    "vocab_size": 53,
    "hidden_size": 21,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 31,
    "num_labels": 7,
}
GPT2 = {"vocab_size": 53, "n_embd": 21, "n_head": 3, "n_layer": 2, "n_positions": 37}


def bert(task):
    return from_transformers(transformers.BertConfig(**BERT), task).eval()


def gpt2():
    return from_transformers(transformers.GPT2Config(**GPT2, bos_token_id=0, eos_token_id=0), "causal-lm").eval()


def test_the_model_is_transformers_own():
    assert type(gpt2()) is transformers.GPT2LMHeadModel
    assert type(from_transformers(transformers.BertConfig(**BERT))) is transformers.BertModel


def test_hidden_states():
    result = bert("hidden-states")(IDS, output_hidden_states=True)
    assert result.last_hidden_state.shape == (2, 5, 21)
    assert len(result.hidden_states) == 3


def test_scores_of_tokens_and_classes():
    assert bert("masked-lm")(IDS, attention_mask=torch.ones_like(IDS)).logits.shape == (2, 5, 53)
    result = bert("sequence-classification")(IDS, labels=torch.tensor([0, 6]))
    assert result.logits.shape == (2, 7)
    assert result.loss.shape == ()


def test_scores_of_the_next_tokens_after_earlier_ones():
    model = gpt2()
    first = model(IDS, use_cache=True)
    mask = torch.ones(2, 6, dtype=torch.int64)
    then = model(IDS[:, :1], attention_mask=mask, past_key_values=first.past_key_values, use_cache=True)
    assert first.logits.shape == (2, 5, 53)
    assert then.logits.shape == (2, 1, 53)


def test_what_is_read_and_what_is_written():
    config = transformers.T5Config(vocab_size=53, d_model=21, d_kv=5, d_ff=31, num_heads=3, num_layers=2)
    config.decoder_start_token_id = 0
    model = from_transformers(config, "seq2seq-lm").eval()
    assert model(IDS, decoder_input_ids=IDS[:, :3]).logits.shape == (2, 3, 53)
    assert model(IDS, labels=IDS[:, :3].contiguous()).logits.shape == (2, 3, 53)
    with pytest.raises(ShapeMismatch, match="T5ForConditionalGeneration: dim 0 of decoder_input_ids is 1, but B is 2"):
        model(IDS, decoder_input_ids=IDS[:1])
    assert model.generate(IDS, max_new_tokens=3, do_sample=False).shape[0] == 2


def test_classes_of_tokens_and_the_place_of_an_answer():
    labels = torch.zeros(2, 5, dtype=torch.int64)
    result = bert("token-classification")(IDS, token_type_ids=torch.zeros_like(IDS), labels=labels)
    assert result.logits.shape == (2, 5, 7)
    model = from_transformers(transformers.BertConfig(**{**BERT, "num_labels": 2}), "question-answering").eval()
    result = model(IDS, start_positions=torch.tensor([0, 1]), end_positions=torch.tensor([2, 4]))
    assert result.start_logits.shape == result.end_logits.shape == (2, 5)
    with pytest.raises(ShapeMismatch, match="dim 0 of start_positions is 3, but B is 2"):
        model(IDS, start_positions=torch.tensor([0, 1, 2]))


def test_what_a_tokenizer_gives():
    batch = {"input_ids": IDS, "token_type_ids": torch.zeros_like(IDS), "attention_mask": torch.ones_like(IDS)}
    assert bert("hidden-states")(**batch).pooler_output.shape == (2, 21)
    for task in ("hidden-states", "masked-lm", "sequence-classification", "token-classification"):
        with pytest.raises(ShapeMismatch, match="dim 1 of token_type_ids is 3, but T is 5 from dim 1 of input_ids"):
            bert(task)(**{**batch, "token_type_ids": IDS[:, :3]})


def test_masks_of_what_each_token_sees():
    model = bert("hidden-states")
    for seen in ((2, 5), (2, 5, 5), (2, 1, 5, 5), (1, 1, 5, 5)):
        assert model(IDS, attention_mask=torch.ones(seen, dtype=torch.bool)).last_hidden_state.shape == (2, 5, 21)
    with pytest.raises(ShapeMismatch, match="attention_mask"):
        model(IDS, attention_mask=torch.ones(3, 5))


def test_states_of_some_layers():
    result = bert("hidden-states")(IDS, output_hidden_states=[1], output_attentions=False)
    assert [states is not None for states in result.hidden_states] == [False, True, False]


def test_a_regression():
    config = transformers.BertConfig(**{**BERT, "num_labels": 1})
    model = from_transformers(config, "sequence-classification").eval()
    assert model(IDS, labels=torch.tensor([0.5, 2.0])).loss.shape == ()


def test_arguments_of_the_model_s_own():
    model = gpt2()
    assert model(IDS, logits_to_keep=2).logits.shape == (2, 2, 53)
    assert model(inputs_embeds=torch.zeros(2, 3, 21)).logits.shape == (2, 3, 53)
    assert isinstance(model(IDS, return_dict=False), tuple)
    assert model(IDS, None, torch.ones_like(IDS)).logits.shape == (2, 5, 53)


def test_a_model_that_lacks_a_parameter_of_the_task():
    class Config(transformers.PreTrainedConfig):
        model_type = "narrow"

    class Model(transformers.PreTrainedModel):
        config_class = Config

        def __init__(self, config):
            super().__init__(config)
            self.embedding = torch.nn.Embedding(53, 21)
            self.post_init()

        def forward(self, input_ids, attention_mask=None):
            states = self.embedding(input_ids)
            return transformers.modeling_outputs.BaseModelOutput(states)

    transformers.AutoModel.register(Config, Model, exist_ok=True)
    model = from_transformers(Config())
    assert model(IDS).last_hidden_state.shape == (2, 5, 21)
    with pytest.raises(DTypeMismatch):
        model(IDS.float())


def test_generation_calls_the_model_in_its_own_ways():
    made = gpt2().generate(IDS, max_new_tokens=3, min_new_tokens=3, do_sample=False, pad_token_id=0)
    assert made.shape == (2, 8)


def test_calls_are_held_to_the_task():
    with pytest.raises(DTypeMismatch, match="BertModel: input_ids is Float32, but should be Int64"):
        bert("hidden-states")(torch.zeros(2, 5))
    with pytest.raises(ShapeMismatch, match="BertForMaskedLM: dim 1 of attention_mask is 3, but T is 5"):
        bert("masked-lm")(IDS, attention_mask=IDS[:, :3])
    with pytest.raises(ShapeMismatch, match="GPT2LMHeadModel: dim 1 of labels is 3, but T is 5"):
        gpt2()(IDS, labels=IDS[:, :3])


def test_a_folder(tmp_path):
    model = gpt2()
    model.save_pretrained(tmp_path)
    again = from_transformers(tmp_path, "causal-lm").eval()
    twin = pickle.loads(pickle.dumps(again))
    assert twin(inputs_embeds=torch.zeros(2, 3, 21)).logits.shape == (2, 3, 53)
    with pytest.raises(DTypeMismatch):
        twin(torch.zeros(2, 5))
    assert torch.equal(again(IDS).logits, model(IDS).logits)
    with pytest.raises(DTypeMismatch):
        again(torch.zeros(2, 5))


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_name_that_is_not_there():
    with pytest.raises(DataError, match="no model can be loaded from 'nobody/none'") as caught:
        from_transformers("nobody/none", "causal-lm", local_files_only=True)
    assert "save_pretrained" in str(caught.value)


def test_an_empty_folder(tmp_path):
    with pytest.raises(DataError, match="no model can be loaded from"):
        from_transformers(tmp_path)


def test_a_task_that_is_not_there():
    with pytest.raises(TorchError, match="there is no task 'poetry'; there are hidden-states, causal-lm"):
        from_transformers(transformers.GPT2Config(**GPT2), "poetry")
    with pytest.raises(TorchError, match="transformers makes no model for 'seq2seq-lm' of a GPT2Config"):
        from_transformers(transformers.GPT2Config(**GPT2), "seq2seq-lm")


def test_without_transformers(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("simpletorch.interop._transformers.import_module", missing)
    with pytest.raises(BackendError, match="transformers is not installed"):
        from_transformers("gpt2")
    assert importlib.import_module is not missing
