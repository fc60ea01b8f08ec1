"""Encoder-decoder with T5's relative position bias and RMS norm; learns to copy."""
import copy
import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class T5Config:
    vocab_size: int = 37
    d_model: int = 30
    d_kv: int = 6
    d_ff: int = 44
    num_layers: int = 2
    num_heads: int = 4
    relative_attention_num_buckets: int = 8
    relative_attention_max_distance: int = 20
    dropout_rate: float = 0.1
    is_decoder: bool = False
    decoder_start_token_id: int = 0

    @property
    def inner_dim(self):
        return self.num_heads * self.d_kv


class T5LayerNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states


class T5Attention(nn.Module):
    def __init__(self, config, has_relative_attention_bias=False):
        super().__init__()
        self.config = config
        self.n_heads, self.key_value_proj_dim = config.num_heads, config.d_kv
        self.q = nn.Linear(config.d_model, config.inner_dim, bias=False)
        self.k = nn.Linear(config.d_model, config.inner_dim, bias=False)
        self.v = nn.Linear(config.d_model, config.inner_dim, bias=False)
        self.o = nn.Linear(config.inner_dim, config.d_model, bias=False)
        self.has_relative_attention_bias = has_relative_attention_bias
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(config.relative_attention_num_buckets, self.n_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        # half of the buckets are for exact increments in positions
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        relative_position_if_large = max_exact + (
            torch.log(relative_position.float() / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).to(torch.long)
        relative_position_if_large = torch.min(
            relative_position_if_large, torch.full_like(relative_position_if_large, num_buckets - 1)
        )
        relative_buckets += torch.where(is_small, relative_position, relative_position_if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = torch.arange(query_length, dtype=torch.long)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long)[None, :]
        relative_position = memory_position - context_position
        bucket = self._relative_position_bucket(
            relative_position,
            bidirectional=(not self.config.is_decoder),
            num_buckets=self.config.relative_attention_num_buckets,
            max_distance=self.config.relative_attention_max_distance,
        )
        values = self.relative_attention_bias(bucket)  # shape (query_length, key_length, num_heads)
        values = values.permute([2, 0, 1]).unsqueeze(0)  # shape (1, num_heads, query_length, key_length)
        return values

    def forward(self, hidden_states, mask=None, key_value_states=None, position_bias=None):
        batch_size, seq_length = hidden_states.shape[:2]
        source = hidden_states if key_value_states is None else key_value_states
        key_length = source.shape[1]

        def shape(states):
            return states.view(batch_size, -1, self.n_heads, self.key_value_proj_dim).transpose(1, 2)

        def unshape(states):
            return states.transpose(1, 2).contiguous().view(batch_size, -1, self.config.inner_dim)

        query_states, key_states, value_states = shape(self.q(hidden_states)), shape(self.k(source)), shape(self.v(source))
        scores = torch.matmul(query_states, key_states.transpose(3, 2))

        if position_bias is None:
            if not self.has_relative_attention_bias:
                position_bias = torch.zeros((1, self.n_heads, seq_length, key_length), dtype=scores.dtype)
            else:
                position_bias = self.compute_bias(seq_length, key_length)
            if mask is not None:
                position_bias = position_bias + mask

        scores += position_bias
        attn_weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        attn_weights = F.dropout(attn_weights, p=self.config.dropout_rate, training=self.training)
        return self.o(unshape(torch.matmul(attn_weights, value_states))), position_bias


class T5Block(nn.Module):
    def __init__(self, config, first=False):
        super().__init__()
        self.is_decoder = config.is_decoder
        self.layer = nn.ModuleList([T5Attention(config, has_relative_attention_bias=first)])
        if self.is_decoder:
            self.layer.append(T5Attention(config))
        self.norms = nn.ModuleList(T5LayerNorm(config.d_model) for _ in range(len(self.layer) + 1))
        self.wi_0 = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wi_1 = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x, mask=None, bias=None, encoded=None, encoded_mask=None, cross_bias=None):
        y, bias = self.layer[0](self.norms[0](x), mask=mask, position_bias=bias)
        x = x + self.dropout(y)
        if self.is_decoder:
            y, cross_bias = self.layer[1](self.norms[1](x), encoded_mask, encoded, cross_bias)
            x = x + self.dropout(y)
        h = self.norms[-1](x)
        h = F.gelu(self.wi_0(h), approximate="tanh") * self.wi_1(h)
        return x + self.dropout(self.wo(self.dropout(h))), bias, cross_bias


class T5Stack(nn.Module):
    def __init__(self, config, embed_tokens):
        super().__init__()
        self.config, self.embed_tokens = config, embed_tokens
        self.block = nn.ModuleList([T5Block(config, first=bool(i == 0)) for i in range(config.num_layers)])
        self.final_layer_norm = T5LayerNorm(config.d_model)

    def forward(self, ids, attention_mask, encoded=None, encoded_mask=None):
        x = self.embed_tokens(ids)
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        if self.config.is_decoder:
            t = ids.size(1)
            mask = mask + torch.full((t, t), -1e9).triu(1)
            encoded_mask = (1.0 - encoded_mask[:, None, None, :].float()) * -1e9
        bias = cross = None
        for block in self.block:
            x, bias, cross = block(x, mask, bias, encoded, encoded_mask, cross)
        return self.final_layer_norm(x)


class T5(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = T5Stack(config, self.shared)
        self.decoder = T5Stack(replace(config, is_decoder=True), self.shared)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.lm_head.weight = self.shared.weight

    def _shift_right(self, labels):
        shifted = labels.new_zeros(labels.shape)
        shifted[..., 1:] = labels[..., :-1].clone()
        shifted[..., 0] = self.config.decoder_start_token_id
        return shifted.masked_fill_(shifted == -100, 0)

    def forward(self, ids, mask, labels):
        encoded = self.encoder(ids, mask)
        decoder_ids = self._shift_right(labels)
        out = self.decoder(decoder_ids, torch.ones_like(decoder_ids), encoded, mask)
        logits = self.lm_head(out * (self.config.d_model ** -0.5))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        return loss, logits

    @torch.no_grad()
    def greedy(self, ids, mask, steps):
        encoded = self.encoder(ids, mask)
        out = ids.new_full((ids.shape[0], 1), self.config.decoder_start_token_id)
        for _ in range(steps):
            h = self.decoder(out, torch.ones_like(out), encoded, mask)
            out = torch.cat([out, self.lm_head(h[:, -1]).argmax(-1, keepdim=True)], dim=-1)
        return out[:, 1:]


def main():
    torch.manual_seed(0)
    config = T5Config()
    model = T5(config)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step in range(3):
        ids = torch.randint(2, config.vocab_size, (5, 13))
        mask = torch.ones_like(ids)
        mask[:, 10:] = 0
        labels = ids[:, :9].masked_fill(torch.rand(5, 9) < 0.1, -100)
        loss, logits = model(ids, mask, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    frozen = copy.deepcopy(model).eval()
    print(frozen.greedy(ids[:2], mask[:2], 4).tolist())


if __name__ == "__main__":
    main()
