"""Models of transformers by task, and of a hub, as mypy sees them; nothing is loaded here."""

from typing import Any, Protocol

import torch

from simpletorch import Float, Float32, Int64, Tensor
from simpletorch.dims import B, T
from simpletorch.interop import from_transformers, hub


def scores(config: Any, ids: Tensor[Int64, B, T]) -> Tensor[Float, B, T, Any]:
    model = from_transformers(config, "causal-lm").eval()
    result = model(ids, attention_mask=torch.ones_like(ids))
    model(ids[:, -1:], past_key_values=result.past_key_values)
    model.generate(ids, max_new_tokens=3)
    model.save_pretrained("folder")
    return result.logits


def states(name: str, ids: Tensor[Int64, 2, 5]) -> Tensor[Float, 2, 5, Any]:
    return from_transformers(name, revision="main")(ids).last_hidden_state


def classes(config: Any, ids: Tensor[Int64, 2, 5]) -> Tensor[Float, 2, 7]:
    return from_transformers(config, "sequence-classification")(ids).logits


def written(config: Any, ids: Tensor[Int64, 2, 5], labels: Tensor[Int64, 2, 3]) -> Tensor[Float, 2, 3, Any]:
    return from_transformers(config, "seq2seq-lm")(ids, labels=labels).logits


def everyday(config: Any, ids: Tensor[Int64, 2, 5], x: torch.Tensor) -> None:
    """What transformers' own pages do with a model."""
    bert = from_transformers(config)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    output = bert(**batch)
    head: Tensor[Float32, 2, 3] = torch.nn.Linear(21, 3)(output.pooler_output)
    print(head, output[0], output["last_hidden_state"], output.to_tuple())
    bert(ids, torch.ones_like(ids))
    bert(ids, attention_mask=torch.ones(2, 1, 5, 5), position_ids=torch.arange(5)[None])
    deep = bert(ids, output_attentions=True, output_hidden_states=True, return_dict=True)
    print(deep.hidden_states[-1].mean(), len(deep.attentions), deep.hidden_states[0].shape)
    embedded = bert(inputs_embeds=x, attention_mask=ids)
    print(embedded.last_hidden_state @ torch.zeros(7, 11))
    model = from_transformers(config, "causal-lm")
    model(ids, labels=ids).loss.backward()
    loss, logits = model(ids, labels=ids, return_dict=False)[:2]
    last = model(ids, logits_to_keep=1).logits.view(2, 1, 53)
    print(loss, logits, last, model(**batch).logits[:, -1].argmax(-1))
    spans = from_transformers(config, "question-answering")(**batch, start_positions=ids[:, 0], end_positions=ids[:, 1])
    print(spans.start_logits.argmax(-1) - spans.end_logits.argmax(-1), spans.loss.item())
    print(from_transformers(config, "token-classification")(ids, labels=ids).logits.view(-1, 7))
    regression = from_transformers(config, "sequence-classification")
    regression(**batch, labels=torch.zeros(2)).loss.backward()
    t5 = from_transformers(config, "seq2seq-lm")
    encoded = t5.get_encoder()(ids)
    print(t5(encoder_outputs=encoded, decoder_input_ids=ids[:, :2]).logits, t5(ids, labels=ids).loss.item())


class Layer(Protocol):
    def __call__(self, input: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]: ...


def layer(x: Tensor[Float32, 7, 3]) -> Tensor[Float32, 7, 5]:
    model = hub.load("folder", "linear", 5, trust=True, signature=Layer)
    model.eval()
    return model(x)


def loose(x: Tensor[Float32, 7, 3]) -> Any:
    return hub.load("folder", "linear", trust=True).eval()(x)
