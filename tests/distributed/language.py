"""What the processes of `test_language` run: language models whose layers are divided, and the same ones whole."""

import torch
import torch.distributed as dist

from simpletorch.distributed import Mesh, held, parallelize, shard
from simpletorch.language import models
from tests import meeting

BERT = models.BertConfig(
    29, 13, 12, 4, 3, 2, intermediate_size=22, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
)
GPT2 = models.GPT2Config(29, 13, 12, 4, n_layer=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
T5 = models.T5Config(29, 12, 6, 4, 22, num_layers=2, num_decoder_layers=2, dropout_rate=0.0)
T5_GATED = models.T5Config(29, 12, 6, 4, 22, num_layers=1, dropout_rate=0.0, feed_forward_proj="gated-gelu")
LLAMA = models.LlamaConfig(29, 12, 4, 2, 6, 22, num_hidden_layers=2, tie_word_embeddings=True)

MODELS = {
    "BERT's words": (models.BertForMaskedLM, BERT),
    "BERT's classes": (models.BertForSequenceClassification, BERT),
    "GPT-2": (models.GPT2LMHeadModel, GPT2),
    "GPT-2 under FSDP": (models.GPT2LMHeadModel, GPT2),
    "T5": (models.T5ForConditionalGeneration, T5),
    "gated T5": (models.T5ForConditionalGeneration, T5_GATED),
    "Llama with tied words": (models.LlamaForCausalLM, LLAMA),
}


def made(name):
    """The model, with the same weights each time."""
    torch.manual_seed(3)
    kind, config = MODELS[name]
    return kind(config)


def whole(tensor):
    """All of a tensor, as it is now."""
    return tensor.full_tensor().clone() if hasattr(tensor, "full_tensor") else tensor.detach().clone()


def trained(model):
    """The results and gradients of two steps, and the weights after them."""
    tokens = torch.randint(29, (3, 7), generator=torch.Generator().manual_seed(5))
    seen = torch.ones(3, 7, dtype=torch.int64)
    seen[1, 5:] = 0
    given = (tokens, tokens[:, :5], seen) if hasattr(model, "decoder") else (tokens, seen)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    found = {}
    for step in range(2):
        optimizer.zero_grad()
        found[f"result {step}"] = model(*given)
        found[f"result {step}"].square().mean().backward()
        gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
        found |= {f"gradient {step} {name}": whole(gradient) for name, gradient in gradients.items()}
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return found | {f"weight {name}": whole(p) for name, p in model.state_dict().items()}


def two(rank, folder):
    """Every model, divided among two processes."""
    meeting.meet(folder / "language", rank)
    found = {}
    for name in MODELS:
        mesh = Mesh(data=1, tensor=2)
        model = parallelize(made(name), mesh)
        if "FSDP" in name:
            shard(model, mesh)
        found[name] = held(model), {key: value.detach() for key, value in trained(model).items()}
    if rank == 0:
        torch.save(found, folder / "found.pt")
    dist.destroy_process_group()
