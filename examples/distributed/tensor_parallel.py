"""Tensor parallel: the heads and perceptrons of a small Llama divided among processes that share one batch.

Run:    python examples/distributed/tensor_parallel.py
        torchrun --nproc-per-node 2 examples/distributed/tensor_parallel.py
Check:  simpletorch check examples/distributed/tensor_parallel.py
"""

import torch

import simpletorch.nn.functional as F
from simpletorch import distributed, seed_everything
from simpletorch.language.models import LlamaConfig, LlamaForCausalLM
from simpletorch.optim import SGD

CONFIG = LlamaConfig(67, 32, 4, 2, 8, 88, num_hidden_layers=2)  # heads for one or two processes
STEPS = 20


def train(model: torch.nn.Module) -> list[float]:
    """Learn to count in sevens; returns the losses."""
    tokens = (torch.arange(24).repeat(8, 1) * 7 + torch.arange(8)[:, None]) % 67
    optimizer = SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(STEPS):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> float:
    """Train together and alone; returns how far the two loss curves are apart, relative to the loss."""
    torch.set_num_threads(1)
    distributed.init()
    seed_everything(0)
    model, alone = LlamaForCausalLM(CONFIG), LlamaForCausalLM(CONFIG)
    alone.load_state_dict(model.state_dict())
    distributed.parallelize(model, distributed.Mesh(tensor=-1))
    curve, expected = train(model), train(alone)
    difference = max(abs(a - b) / b for a, b in zip(curve, expected, strict=True))

    losses = torch.tensor(curve, dtype=torch.float64)
    agree = torch.equal(distributed.all_gather(losses), losses.repeat(distributed.world_size()))
    whole = sum(parameter.numel() for parameter in model.parameters())
    print(f"this process holds {distributed.held(model):,} of {whole:,} parameters")
    print(f"loss: {curve[0]:.6f} at first, {curve[-1]:.6f} at last, on {distributed.world_size()} processes")
    print(f"difference to one process: {difference:.1e}")
    print(f"ranks agree: {agree}")
    return difference


if __name__ == "__main__":
    main()
