"""Language models with transformers' parameter names, so that their state dicts and weight files load.

::

    model = gpt2(weights="gpt2/model.safetensors")
    scores = model(tokens)  # Int64[B, T] -> Float32[B, T, 50257]
    own = GPT2LMHeadModel(GPT2Config.from_transformers(hf.config))
    own.load_state_dict(hf.state_dict())

Sizes are in the types, taken from a configuration whose fields are named as transformers'. ``forward`` takes ids and
gives scores or states; GPT-2 and Llama go on after earlier tokens by ``step``, with a `KeyValues` for each layer.
Weights are read strictly from a file (``.safetensors`` or torch's), a folder or an address (`load_weights`); nothing is
looked up by a model's name.
"""

from simpletorch.language.models._attention import KeyValues
from simpletorch.language.models._bert import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertOutput,
    bert_base,
    bert_large,
)
from simpletorch.language.models._gpt2 import (
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    gpt2,
    gpt2_large,
    gpt2_medium,
    gpt2_xl,
)
from simpletorch.language.models._llama import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaModel,
    llama_2_7b,
    llama_3_2_1b,
    llama_3_8b,
)
from simpletorch.language.models._rotary import Rotary
from simpletorch.language.models._t5 import T5Config, T5ForConditionalGeneration, t5_base, t5_large, t5_small
from simpletorch.language.models._weights import Weights, load_weights

__all__ = [
    "BertConfig",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertModel",
    "BertOutput",
    "GPT2Config",
    "GPT2LMHeadModel",
    "GPT2Model",
    "KeyValues",
    "LlamaConfig",
    "LlamaForCausalLM",
    "LlamaModel",
    "Rotary",
    "T5Config",
    "T5ForConditionalGeneration",
    "Weights",
    "bert_base",
    "bert_large",
    "gpt2",
    "gpt2_large",
    "gpt2_medium",
    "gpt2_xl",
    "llama_2_7b",
    "llama_3_2_1b",
    "llama_3_8b",
    "load_weights",
    "t5_base",
    "t5_large",
    "t5_small",
]
