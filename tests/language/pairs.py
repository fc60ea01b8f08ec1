"""The language models beside transformers' own, small and with the same random weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers

from simpletorch.language import models

transformers.logging.set_verbosity_error()

VOCAB = 53
ROPE: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default", "rope_theta": 1e4},
    "linear": {"rope_type": "linear", "rope_theta": 1e4, "factor": 3.0},
    "llama3": {
        "rope_type": "llama3",
        "rope_theta": 100.0,
        "factor": 5.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 17,
    },
    "dynamic": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 3.0},
    "yarn": {"rope_type": "yarn", "rope_theta": 100.0, "factor": 5.0, "original_max_position_embeddings": 11},
    "yarn of all": {
        "rope_type": "yarn",
        "rope_theta": 50.0,
        "factor": 3.0,
        "original_max_position_embeddings": 13,
        "beta_fast": 2.0,
        "beta_slow": 0.5,
        "mscale": 0.7,
        "mscale_all_dim": 1.3,
        "truncate": False,
    },
    "yarn of no factor": {"rope_type": "yarn", "rope_theta": 100.0, "factor": None},
    "longrope": {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0, 1.5],
        "long_factor": [2.0, 7.0],
        "original_max_position_embeddings": 11,
    },
    "longrope of all": {
        "rope_type": "longrope",
        "rope_theta": 1e3,
        "factor": 3.0,
        "attention_factor": 1.7,
        "short_factor": [1.0, 1.5],
        "long_factor": [2.0, 7.0],
        "original_max_position_embeddings": 23,
    },
}


@dataclass(frozen=True)
class Kind:
    """A model of ours, transformers' of the same name, and small sizes."""

    name: str
    config: str
    sizes: dict[str, Any]

    def theirs(self, **sizes: Any) -> Any:
        """Transformers' model with weights that no term of the model is lost in."""
        torch.manual_seed(0)
        model = getattr(transformers, self.name)(getattr(transformers, self.config)(**{**self.sizes, **sizes}))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        return model.eval()

    def ours(self, theirs: Any) -> Any:
        """Our model of the same configuration, with the same weights."""
        config: Any = getattr(models, self.config).from_transformers(theirs.config)
        model = getattr(models, self.name)(config)
        model.load_state_dict(theirs.state_dict())
        return model.eval()

    def pair(self, **sizes: Any) -> tuple[Any, Any]:
        """Theirs and ours."""
        theirs = self.theirs(**sizes)
        return theirs, self.ours(theirs)


_BERT = {
    "vocab_size": VOCAB,
    "hidden_size": 21,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 31,
    "max_position_embeddings": 37,
    "type_vocab_size": 2,
    "num_labels": 7,
}
KINDS = {
    kind.name: kind
    for kind in (
        Kind("BertModel", "BertConfig", _BERT),
        Kind("BertForMaskedLM", "BertConfig", _BERT),
        Kind("BertForSequenceClassification", "BertConfig", _BERT),
        Kind(
            "GPT2LMHeadModel",
            "GPT2Config",
            {"vocab_size": VOCAB, "n_positions": 37, "n_embd": 21, "n_head": 3, "n_layer": 2},
        ),
        Kind(
            "LlamaForCausalLM",
            "LlamaConfig",
            {
                "vocab_size": VOCAB,
                "hidden_size": 24,
                "intermediate_size": 31,
                "num_attention_heads": 6,
                "num_key_value_heads": 2,
                "num_hidden_layers": 2,
                "rope_parameters": ROPE["default"],
            },
        ),
        Kind(
            "T5ForConditionalGeneration",
            "T5Config",
            {
                "vocab_size": VOCAB,
                "d_model": 21,
                "d_kv": 5,
                "d_ff": 31,
                "num_heads": 3,
                "num_layers": 2,
                "num_decoder_layers": 3,
                "relative_attention_num_buckets": 8,
                "relative_attention_max_distance": 13,
                "decoder_start_token_id": 0,
            },
        ),
    )
}


def ids(batch: int, length: int) -> torch.Tensor:
    """Random tokens."""
    generator = torch.Generator().manual_seed(length)
    return torch.randint(VOCAB, (batch, length), generator=generator)


def padded(batch: int, length: int, *, left: bool = False) -> torch.Tensor:
    """A mask of 1 and 0: each text is one token shorter than the one before it."""
    lengths = length - torch.arange(batch)[:, None]
    places = torch.arange(length)[None]
    return ((places >= length - lengths) if left else (places < lengths)).long()


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    """The greatest difference of two tensors of one shape."""
    assert a.shape == b.shape
    return (a - b).abs().max().item()
