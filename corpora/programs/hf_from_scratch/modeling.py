import math
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Optional, Tuple

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import CrossEntropyLoss, MSELoss

from configuration import TinyDebertaConfig

ACT2FN = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "tanh": torch.tanh}


@dataclass
class SequenceClassifierOutput:
    loss: Optional[torch.Tensor] = None
    logits: Optional[torch.Tensor] = None
    hidden_states: Optional[Tuple[torch.Tensor]] = None

    def to_tuple(self):
        return tuple(getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None)

    def __getitem__(self, k):
        if isinstance(k, str):
            return getattr(self, k)
        return self.to_tuple()[k]


class PreTrainedModel(nn.Module):
    config_class = None

    def __init__(self, config):
        super().__init__()
        self.config = config

    def post_init(self):
        self.apply(self._init_weights)

    def _init_weights(self, module):
        std = self.config.initializer_range
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=std)
            if module.bias is not None:
                module.bias.data.zero_()
        elif isinstance(module, nn.Embedding):
            module.weight.data.normal_(mean=0.0, std=std)
            if module.padding_idx is not None:
                module.weight.data[module.padding_idx].zero_()
        elif isinstance(module, nn.LayerNorm):
            module.bias.data.zero_()
            module.weight.data.fill_(1.0)

    def get_extended_attention_mask(self, attention_mask, dtype):
        if attention_mask.dim() == 3:
            extended = attention_mask[:, None, :, :]
        elif attention_mask.dim() == 2:
            extended = attention_mask[:, None, None, :]
        else:
            raise ValueError(f"Wrong shape for attention_mask (shape {attention_mask.shape})")
        extended = extended.to(dtype=dtype)
        return (1.0 - extended) * torch.finfo(dtype).min


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)), persistent=False)

    def forward(self, input_ids, token_type_ids=None):
        if token_type_ids is None:
            token_type_ids = torch.zeros(input_ids.size(), dtype=torch.long, device=self.position_ids.device)
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.LayerNorm(embeddings))


class DisentangledSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError(
                f"The hidden size ({config.hidden_size}) is not a multiple of the number of attention "
                f"heads ({config.num_attention_heads})"
            )
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = int(config.hidden_size / config.num_attention_heads)
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.in_proj = nn.Linear(config.hidden_size, self.all_head_size * 3, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(self.all_head_size, dtype=torch.float))
        self.v_bias = nn.Parameter(torch.zeros(self.all_head_size, dtype=torch.float))
        self.max_relative_positions = config.max_relative_positions
        self.pos_proj = nn.Linear(config.hidden_size, self.all_head_size, bias=False)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, -1)
        x = x.view(new_x_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask, rel_embeddings, relative_pos):
        qp = self.in_proj(hidden_states)
        query_layer, key_layer, value_layer = qp.chunk(3, dim=-1)
        query_layer = self.transpose_for_scores(query_layer + self.q_bias)
        key_layer = self.transpose_for_scores(key_layer)
        value_layer = self.transpose_for_scores(value_layer + self.v_bias)
        scale_factor = 2
        query_layer = query_layer / math.sqrt(query_layer.size(-1) * scale_factor)
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        pos_key = self.pos_proj(rel_embeddings).view(-1, self.num_attention_heads, self.attention_head_size).permute(1, 2, 0)
        c2p_att = torch.matmul(query_layer, pos_key.unsqueeze(0))
        index = relative_pos[None, None].expand(c2p_att.size(0), c2p_att.size(1), -1, -1)
        attention_scores = attention_scores + torch.gather(c2p_att, dim=-1, index=index)
        attention_probs = nn.functional.softmax(attention_scores + attention_mask, dim=-1)
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_context_layer_shape = context_layer.size()[:-2] + (self.all_head_size,)
        return context_layer.view(*new_context_layer_shape)


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = DisentangledSelfAttention(config)
        self.attention_output = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm1 = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.intermediate_act_fn = ACT2FN[config.hidden_act] if isinstance(config.hidden_act, str) else config.hidden_act
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm2 = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, hidden_states, attention_mask, rel_embeddings, relative_pos):
        attended = self.attention(hidden_states, attention_mask, rel_embeddings, relative_pos)
        hidden_states = self.norm1(hidden_states + self.attention_output(attended))
        out = self.output(self.intermediate_act_fn(self.intermediate(hidden_states)))
        return self.norm2(hidden_states + out)


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])
        self.span = config.max_relative_positions
        self.rel_embeddings = nn.Embedding(2 * self.span, config.hidden_size)
        self.gradient_checkpointing = True

    def get_rel_pos(self, hidden_states):
        positions = torch.arange(hidden_states.size(-2), device=hidden_states.device)
        relative_pos = positions[:, None] - positions[None, :]
        return torch.clamp(relative_pos + self.span, 0, 2 * self.span - 1)

    def forward(self, hidden_states, attention_mask, output_hidden_states=False):
        all_hidden_states = () if output_hidden_states else None
        relative_pos = self.get_rel_pos(hidden_states)
        rel_embeddings = self.rel_embeddings.weight
        for i, layer_module in enumerate(self.layer):
            if output_hidden_states:
                all_hidden_states = all_hidden_states + (hidden_states,)
            if self.gradient_checkpointing and self.training:
                hidden_states = torch.utils.checkpoint.checkpoint(
                    layer_module, hidden_states, attention_mask, rel_embeddings, relative_pos, use_reentrant=False)
            else:
                hidden_states = layer_module(hidden_states, attention_mask, rel_embeddings, relative_pos)
        if output_hidden_states:
            all_hidden_states = all_hidden_states + (hidden_states,)
        return hidden_states, all_hidden_states


class Pooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states):
        return torch.tanh(self.dense(hidden_states[:, 0]))


class TinyDebertaForSequenceClassification(PreTrainedModel):
    config_class = TinyDebertaConfig

    def __init__(self, config):
        super().__init__(config)
        self.num_labels = config.num_labels
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)
        self.pooler = Pooler(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None, output_hidden_states=None, return_dict=True):
        output_hidden_states = output_hidden_states if output_hidden_states is not None else self.config.output_hidden_states
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        embedding_output = self.embeddings(input_ids, token_type_ids=token_type_ids)
        extended = self.get_extended_attention_mask(attention_mask, embedding_output.dtype)
        sequence_output, hidden_states = self.encoder(embedding_output, extended, output_hidden_states)
        logits = self.classifier(self.pooler(sequence_output))
        loss = None
        if labels is not None:
            if self.num_labels == 1:
                loss = MSELoss()(logits.view(-1), labels.view(-1))
            else:
                loss = CrossEntropyLoss()(logits.view(-1, self.num_labels), labels.view(-1))
        if not return_dict:
            output = (logits,) + ((hidden_states,) if hidden_states is not None else ())
            return ((loss,) + output) if loss is not None else output
        return SequenceClassifierOutput(loss=loss, logits=logits, hidden_states=hidden_states)
