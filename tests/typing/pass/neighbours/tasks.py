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


class Layer(Protocol):
    def __call__(self, input: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]: ...


def layer(x: Tensor[Float32, 7, 3]) -> Tensor[Float32, 7, 5]:
    model = hub.load("folder", "linear", 5, trust=True, signature=Layer)
    model.eval()
    return model(x)


def loose(x: Tensor[Float32, 7, 3]) -> Any:
    return hub.load("folder", "linear", trust=True).eval()(x)
