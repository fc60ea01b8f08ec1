# coding=utf-8
"""A compact BERT with a masked-language-model head (after the HF implementation)."""
import math
import random
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import CrossEntropyLoss

ACT2FN = {"gelu": nn.functional.gelu, "relu": nn.functional.relu}


class BertConfig(SimpleNamespace):
    defaults = dict(
        vocab_size=61,
        hidden_size=36,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=72,
        hidden_act="gelu",
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
        max_position_embeddings=20,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        pad_token_id=0,
    )

    def __init__(self, **kwargs):
        merged = dict(self.defaults)
        merged.update(kwargs)
        super().__init__(**merged)


class BertEmbeddings(nn.Module):
    """Construct the embeddings from word, position and token_type embeddings."""

    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)))

    def forward(self, input_ids, token_type_ids=None):
        input_shape = input_ids.size()
        seq_length = input_shape[1]
        position_ids = self.position_ids[:, :seq_length]
        if token_type_ids is None:
            token_type_ids = torch.zeros(input_shape, dtype=torch.long, device=self.position_ids.device)

        inputs_embeds = self.word_embeddings(input_ids)
        token_type_embeddings = self.token_type_embeddings(token_type_ids)
        embeddings = inputs_embeds + token_type_embeddings
        embeddings += self.position_embeddings(position_ids)
        embeddings = self.LayerNorm(embeddings)
        return self.dropout(embeddings)


class BertSelfAttention(nn.Module):
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

        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(new_x_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        mixed_query_layer = self.query(hidden_states)
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        query_layer = self.transpose_for_scores(mixed_query_layer)

        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask

        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)

        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_context_layer_shape = context_layer.size()[:-2] + (self.all_head_size,)
        context_layer = context_layer.view(new_context_layer_shape)
        outputs = (context_layer, attention_probs) if output_attentions else (context_layer,)
        return outputs


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = BertSelfAttention(config)
        self.attention_output = nn.Linear(config.hidden_size, config.hidden_size)
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        if isinstance(config.hidden_act, str):
            self.intermediate_act_fn = ACT2FN[config.hidden_act]
        else:
            self.intermediate_act_fn = config.hidden_act
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.output_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        attention_outputs = self.attention(hidden_states, attention_mask, output_attentions)
        attention_output = self.dropout(self.attention_output(attention_outputs[0]))
        attention_output = self.attention_norm(attention_output + hidden_states)
        outputs = attention_outputs[1:]
        intermediate_output = self.intermediate_act_fn(self.intermediate(attention_output))
        layer_output = self.output_norm(self.dropout(self.output(intermediate_output)) + attention_output)
        return (layer_output,) + outputs


class BertModel(nn.Module):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])
        self.pooler = nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh()) if add_pooling_layer else None

    def get_extended_attention_mask(self, attention_mask):
        if attention_mask.dim() == 3:
            extended_attention_mask = attention_mask[:, None, :, :]
        elif attention_mask.dim() == 2:
            extended_attention_mask = attention_mask[:, None, None, :]
        else:
            raise ValueError("Wrong shape for attention_mask")
        return (1.0 - extended_attention_mask.to(dtype=torch.float32)) * torch.finfo(torch.float32).min

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, output_attentions=False):
        if attention_mask is None:
            attention_mask = torch.ones(input_ids.size())
        mask = self.get_extended_attention_mask(attention_mask)
        hidden_states = self.embeddings(input_ids, token_type_ids)
        all_self_attentions = () if output_attentions else None
        for i, layer_module in enumerate(self.layer):
            layer_outputs = layer_module(hidden_states, mask, output_attentions)
            hidden_states = layer_outputs[0]
            if output_attentions:
                all_self_attentions = all_self_attentions + (layer_outputs[1],)
        pooled = self.pooler(hidden_states[:, 0]) if self.pooler is not None else None
        return {"last_hidden_state": hidden_states, "pooler_output": pooled, "attentions": all_self_attentions}


class BertForPreTraining(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.transform = nn.Sequential(
            nn.Linear(config.hidden_size, config.hidden_size), nn.GELU(), nn.LayerNorm(config.hidden_size)
        )
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder.bias = self.bias
        self.decoder.weight = self.bert.embeddings.word_embeddings.weight
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None, next_sentence_label=None):
        outputs = self.bert(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        prediction_scores = self.decoder(self.transform(outputs["last_hidden_state"]))
        seq_relationship_score = self.seq_relationship(outputs["pooler_output"])

        total_loss = None
        if labels is not None and next_sentence_label is not None:
            loss_fct = CrossEntropyLoss()
            masked_lm_loss = loss_fct(prediction_scores.view(-1, self.config.vocab_size), labels.view(-1))
            next_sentence_loss = loss_fct(seq_relationship_score.view(-1, 2), next_sentence_label.view(-1))
            total_loss = masked_lm_loss + next_sentence_loss
        return SimpleNamespace(loss=total_loss, prediction_logits=prediction_scores)


MASK = 3


class DataCollator:
    def __init__(self, pad=0, mlm_probability=0.15):
        self.pad, self.p = pad, mlm_probability

    def __call__(self, examples):
        longest = max(len(e["ids"]) for e in examples)
        ids, mask, types = [], [], []
        for e in examples:
            short = longest - len(e["ids"])
            ids.append(e["ids"] + [self.pad] * short)
            mask.append([1] * len(e["ids"]) + [0] * short)
            types.append([0] * e["cut"] + [1] * (longest - e["cut"]))
        input_ids = torch.tensor(ids)
        labels = input_ids.clone()
        masked_indices = torch.bernoulli(torch.full(labels.shape, self.p)).bool() & (labels != self.pad)
        masked_indices[:, 1] = True
        labels[~masked_indices] = -100
        input_ids[masked_indices] = MASK
        return {
            "input_ids": input_ids,
            "attention_mask": torch.tensor(mask),
            "token_type_ids": torch.tensor(types),
            "labels": labels,
            "next_sentence_label": torch.tensor([e["is_next"] for e in examples]),
        }


def main():
    random.seed(0)
    torch.manual_seed(0)
    config = BertConfig(hidden_act="relu")
    examples = []
    for _ in range(10):
        n = random.randint(8, config.max_position_embeddings)
        examples.append({"ids": [random.randint(4, config.vocab_size - 1) for _ in range(n)],
                         "cut": n // 2, "is_next": random.randint(0, 1)})
    loader = torch.utils.data.DataLoader(examples, batch_size=4, collate_fn=DataCollator(), shuffle=True)
    model = BertForPreTraining(config)
    no_decay = ["bias", "LayerNorm.weight", "norm.weight"]
    optimizer_grouped_parameters = [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(optimizer_grouped_parameters, lr=5e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 2))
    model.train()
    for step, batch in enumerate(loader):
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        model.zero_grad()
        print(f"step {step}: {loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        out = model.bert(torch.randint(4, 60, (2, 9)), output_attentions=True)
        print(torch.stack(out["attentions"]).mean(dim=(0, 2)).shape)


if __name__ == "__main__":
    main()
