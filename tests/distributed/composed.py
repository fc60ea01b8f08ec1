"""What the processes of `test_composed` run: the directions of a mesh, alone and together."""

from contextlib import nullcontext
from unittest import mock

import torch
import torch.distributed as dist
from torch.nn import functional as F

from simpletorch.distributed import Mesh, Pipeline, context_parallel, parallelize, shard
from simpletorch.distributed._ring import ring_of_cpu
from simpletorch.errors import TorchError
from simpletorch.language.models import LlamaConfig, LlamaForCausalLM
from tests.distributed.sharded import meet

# -- a thousand processes, of which there is this one ------------------------------------------------------------------


def fake(_rank, folder):
    """The shapes of a Llama of eight layers, as processes of 1,024 have them."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    found = {}
    for number in (777, 0, 300, 1023):
        dist.init_process_group("fake", rank=number, world_size=1024, store=FakeStore())
        found |= divided() if number == 777 else stages(number)
        dist.destroy_process_group()
    torch.save(found, folder / "shapes.pt")


def eight_layers():
    """A Llama without memory."""
    with torch.device("meta"):
        return LlamaForCausalLM(LlamaConfig(32000, 512, 16, 8, 32, 1408, num_hidden_layers=8))


def divided():
    """By arrangement, the shapes of a layer's weights, and of what is beside the layers."""
    found = {}
    for name, grid in {
        "fsdp": Mesh(data=-1),
        "fsdp + tensor": Mesh(data=128, tensor=8),
        "hybrid + tensor": Mesh(replicate=4, data=32, tensor=8),
        "tensor": Mesh(data=128, tensor=8),
        "fsdp + sequence": Mesh(data=128, tensor=8),
        "fsdp + context": Mesh(data=32, context=4, tensor=8),
        "hybrid + context + tensor": Mesh(replicate=4, data=8, context=4, tensor=8),
        "context": Mesh(context=-1),
    }.items():
        model = eight_layers()
        if "tensor" in grid.names:
            parallelize(model, grid, sequence="sequence" in name)
        if name != "tensor":
            shard(model, grid)
        layer = "model.layers.7."
        wanted = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "mlp.up_proj", "mlp.down_proj")
        parameters = dict(model.named_parameters())
        assert all(hasattr(parameter, "placements") for parameter in parameters.values())
        found[name] = {key: tuple(parameters[f"{layer}{key}.weight"].to_local().shape) for key in wanted}
        found[name]["norm"] = tuple(parameters["model.norm.weight"].to_local().shape)
        found[name]["embed"] = tuple(parameters["model.embed_tokens.weight"].to_local().shape)
    return found


def stages(number):
    """By arrangement and process, the number of its stage, and the shapes of what that has."""
    found = {}
    for name, grid in {
        "pipeline": Mesh(data=128, pipeline=8),
        "pipeline + fsdp": Mesh(pipeline=4, data=256),
        "pipeline + tensor": Mesh(pipeline=4, data=32, tensor=8),
        "pipeline + fsdp + tensor": Mesh(pipeline=4, data=32, tensor=8),
    }.items():
        model = eight_layers()
        if "tensor" in name:
            parallelize(model, grid)
        pipeline = Pipeline(model, F.cross_entropy, parts=8, mesh=grid)
        if "fsdp" in name:
            shard(pipeline.stage, grid)
        assert pipeline._schedule is not None  # torch's own, built of this stage
        state = pipeline.state_dict().items()
        shapes = {key: tuple(v.to_local().shape if hasattr(v, "to_local") else v.shape) for key, v in state}
        found[name, number] = pipeline.number, shapes
    return found


# -- four processes ----------------------------------------------------------------------------------------------------


def llama():
    """A Llama whose layers two processes can divide, the same in each process."""
    torch.manual_seed(7)
    return LlamaForCausalLM(LlamaConfig(26, 12, 4, 2, 6, 22, num_hidden_layers=3))


def text(length):
    """Tokens, and those that come next: ``(12, length)`` each."""
    tokens = torch.randint(26, (12, length + 1), generator=torch.Generator().manual_seed(5))
    return tokens[:, :-1], tokens[:, 1:].contiguous()


def next_token(scores, targets):
    """The mean loss of all tokens."""
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def train(model, step):
    """Three steps; the losses, as means over all processes, and the whole state afterwards."""
    owner = getattr(model, "stage", model)
    optimizer = torch.optim.SGD(owner.parameters(), lr=0.5)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        losses.append(step())
        optimizer.step()
    mean = torch.tensor(losses)
    if dist.is_initialized():
        dist.all_reduce(mean)
        mean /= dist.get_world_size()
    state = {
        key: value.full_tensor() if hasattr(value, "full_tensor") else value.clone()
        for key, value in model.state_dict().items()
    }
    return {"losses": mean.tolist(), "state": state}


def plainly(model, tokens, targets):
    """A step that is written as for one process."""

    def step():
        loss = next_token(model(tokens), targets)
        loss.backward()
        return loss.item()

    return step


def four(rank, folder):
    """Every arrangement that `shard` alone isn't, trained from the same weights on the same texts."""
    meet(folder, "four", rank, 4)
    found = {
        "pipeline + data": pipelined(Mesh(pipeline=2, data=2)),
        "pipeline + tensor": pipelined(Mesh(pipeline=2, tensor=2)),
        "data + sequence": in_sequence(Mesh(data=2, tensor=2)),
        "data + context": in_context(Mesh(data=2, context=2)),
        "refused": refused(Mesh(data=2, context=2)),
    }
    torch.save(found, folder / f"{rank}.pt")
    dist.destroy_process_group()


def share(grid, *tensors):
    """This process's samples."""
    return [tensor.chunk(grid.share.num_replicas)[grid.share.rank] for tensor in tensors]


def pipelined(grid):
    """Two stages, each of two processes that divide samples, or layers."""
    model = parallelize(llama(), grid) if "tensor" in grid.names else llama()
    pipeline = Pipeline(model, next_token, parts=3, mesh=grid)
    if "data" in grid.names:
        shard(pipeline.stage, grid)
    tokens, targets = share(grid, *text(11))
    return train(pipeline, lambda: pipeline.step(tokens, targets).item())


def in_sequence(grid):
    """Tokens divided between the layers: 11 tokens are 6 and 5."""
    model = shard(parallelize(llama(), grid, sequence=True), grid)
    between = []
    model.model.layers[1].register_forward_hook(
        lambda _module, _given, found: between.append(found[0].to_local().shape)
    )
    return {**train(model, plainly(model, *share(grid, *text(11)))), "between": tuple(between[0])}


def in_context(grid):
    """Tokens divided from the first layer to the last."""
    model = shard(llama(), grid)
    tokens, targets = share(grid, *text(12))
    places = torch.arange(12).expand(tokens.shape)
    had = []

    def step():
        with context_parallel(grid, tokens, places, targets) as (part, its_places, its_targets):
            had.append(its_places[0].tolist())
            loss = next_token(model(part, position_ids=its_places), its_targets)
            loss.backward()
        return loss.item()

    return {**train(model, step), "places": had[0]}


def refused(grid):
    """What `context_parallel` says of what it can't do."""
    part = torch.ones(2, 3, 6, 5)

    def attend(mask=None, length=12):
        with context_parallel(grid, torch.zeros(2, length)):
            F.scaled_dot_product_attention(part, part, part, mask, is_causal=mask is None)

    said = []
    for work, ours in (
        (lambda: attend(length=10), ring_of_cpu),
        (lambda: attend(torch.ones(1, 1, 6, 12)), ring_of_cpu),
        (attend, nullcontext),  # a kernel without a ring, as the CPU's is by torch itself
    ):
        try:
            with mock.patch("simpletorch.distributed._ring.ring_of_cpu", ours):
                work()
        except TorchError as error:
            said.append(str(error))
    return said
