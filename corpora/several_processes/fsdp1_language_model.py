"""FSDP1 and checkpoints as in PyTorch's FSDP tutorial, for a small recurrent language model, and `dist.gather` of scores."""

import functools
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.nn.parallel import DistributedDataParallel as DDP

VOCAB, WIDTH, STEPS = 50, 24, 10


class CharRNN(nn.Module):
    def __init__(self, vocab, width, layers=1):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, state=None):
        out, state = self.rnn(self.embed(tokens), state)
        return self.head(out), state


def wrap(model, device, local_rank):
    if device.type == "cuda":
        policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1000)
        return FSDP(
            model, auto_wrap_policy=policy, device_id=local_rank, sharding_strategy=ShardingStrategy.FULL_SHARD
        )
    return DDP(model)


def train(model, rank, world_size, batches, optimizer, epoch):
    ddp_loss = torch.zeros(2)
    model.train()
    with Join([model]):
        for tokens in batches:
            optimizer.zero_grad()
            logits, _ = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="sum")
            loss.backward()
            optimizer.step()
            ddp_loss[0] += loss.item()
            ddp_loss[1] += len(tokens)
    dist.all_reduce(ddp_loss, op=dist.ReduceOp.SUM)
    if rank == 0:
        print(f"Train Epoch: {epoch} \tLoss: {ddp_loss[0] / ddp_loss[1]:.6f}")


@torch.no_grad()
def score(model, tokens, rank, world_size):
    model.eval()
    logits, (h, c) = model(tokens)
    scores = logits.log_softmax(-1).mean(dim=(1, 2))
    gathered = [torch.zeros(len(tokens)) for _ in range(world_size)] if rank == 0 else None
    dist.gather(scores, gathered, dst=0)
    if rank == 0:
        table = torch.stack(gathered)
        return table.mean(dim=0) + scores
    return None


@record
def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    model = wrap(CharRNN(VOCAB, WIDTH).to(device), device, local_rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if rank == 0:
        text = torch.randint(VOCAB, (64 * (STEPS + 1),))
    else:
        text = torch.empty(64 * (STEPS + 1), dtype=torch.long)
    dist.broadcast(text, src=0)
    rows = text.view(-1, STEPS + 1)
    per_rank = len(rows) // world_size
    mine = rows[rank * per_rank : (rank + 1) * per_rank]
    for epoch in range(2):
        train(model, rank, world_size, mine.split(8), optimizer, epoch)
    scores = score(model, mine[:5, :-1], rank, world_size)
    if scores is not None:
        print(scores.shape)
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if rank == 0:
        torch.save(state, os.devnull)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
