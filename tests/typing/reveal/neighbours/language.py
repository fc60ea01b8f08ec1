"""Language models: sizes from a configuration, through every call; and what grows in every step."""

from typing import Generic, NamedTuple

import torch

from simpletorch import Float32, Tensor, nn
from simpletorch.dims import B, D, Dim, E, H, S, T
from simpletorch.language.models import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

ids = torch.zeros(2, 5, dtype=torch.int64)

bert = BertConfig(53, 37, hidden_size=21, num_attention_heads=3, num_labels=7, num_hidden_layers=1)
states = BertModel(bert)(ids)
reveal_type(states.last_hidden_state)  # R: Tensor[Float, 2, 5, 21]
reveal_type(states.pooler_output)  # R: Tensor[Float, 2, 21]
reveal_type(BertForMaskedLM(bert)(ids))  # R: Tensor[Float, 2, 5, 53]
reveal_type(BertForSequenceClassification(bert)(ids, torch.ones_like(ids)))  # R: Tensor[Float, 2, 7]

gpt2 = GPT2LMHeadModel(GPT2Config(53, 37, n_embd=21, n_head=3, n_layer=1))
reveal_type(gpt2(ids))  # R: Tensor[Float, 2, 5, 53]
scores, past = gpt2.step(ids, gpt2.empty_cache(2))
scores, past = gpt2.step(ids[:, -1:], past)
reveal_type(scores)  # R: Tensor[Float, 2, 1, 53]
reveal_type(past[0].keys)  # R: Tensor[Float, 2, 3, 6, 7]

llama = LlamaForCausalLM(
    LlamaConfig(
        53,
        24,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=4,
        intermediate_size=31,
        num_hidden_layers=1,
    )
)
reveal_type(llama(ids))  # R: Tensor[Float, 2, 5, 53]
seen = llama.empty_cache(2)
for _ in range(3):
    following, seen = llama.step(ids[:, -1:], seen)
    reveal_type(following)  # R: Tensor[Float, 2, 1, 53]

t5 = T5ForConditionalGeneration(T5Config(53, 21, d_kv=5, num_heads=3, d_ff=31, num_layers=1, num_decoder_layers=1))
written = torch.zeros(2, 11, dtype=torch.int64)
reveal_type(t5(ids, written))  # R: Tensor[Float, 2, 11, 53]
reveal_type(t5.encoder(ids))  # R: Tensor[Float, 2, 5, 21]
reveal_type(t5.shift_right(written))  # R: Tensor[Int64, 2, 11]


# -- a model of one's own ----------------------------------------------------------------------------------------------


class Seen(NamedTuple, Generic[B, H, S, E]):
    keys: Tensor[Float32, B, H, S, E]
    values: Tensor[Float32, B, H, S, E]


class Attention(nn.Module, Generic[D, H]):
    def __init__(self, dim: Dim[D], heads: Dim[H]) -> None:
        super().__init__()
        self.dim, self.heads = dim, heads

    def empty(self, batch: Dim[B]) -> list[Seen[B, H, 0, "D//H"]]:
        nothing = torch.zeros(batch, self.heads, 0, self.dim // self.heads)
        return [Seen(nothing, nothing)]

    def forward(
        self, x: Tensor[Float32, B, T, D], past: list[Seen[B, H, S, "D//H"]]
    ) -> tuple[Tensor[Float32, B, T, D], list[Seen[B, H, "S+T", "D//H"]]]:
        b, t, _ = x.shape
        new = x.view(b, t, self.heads, self.dim // self.heads).transpose(1, 2)
        return x, [Seen(torch.cat([old.keys, new], 2), torch.cat([old.values, new], 2)) for old in past]

    def step(
        self, x: Tensor[Float32, B, T, D], past: list[Seen[B, H, S, "D//H"]]
    ) -> tuple[Tensor[Float32, B, T, D], list[Seen[B, H, "S+T", "D//H"]]]:
        return self(x, past)


model = Attention(21, 3)
x = torch.zeros(2, 5, 21)
seen_so_far = model.empty(2)
x, seen_so_far = model(x, seen_so_far)
reveal_type(seen_so_far[0].keys)  # R: Tensor[Float32, 2, 3, 5, 7]
x, seen_so_far = model.step(x, seen_so_far)
reveal_type(seen_so_far[0].keys)  # R: Tensor[Float32, 2, 3, 10, 7]
for _ in range(11):
    x, seen_so_far = model.step(x, seen_so_far)
    reveal_type(x)  # R: Tensor[Float32, 2, 5, 21]
