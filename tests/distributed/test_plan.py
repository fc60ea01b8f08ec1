"""`plan` says what torch then takes and sends, and what papers give for models that don't fit here."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from simpletorch import TorchError, train
from simpletorch.cli import main
from simpletorch.distributed import Mesh, parallelize, plan
from simpletorch.language.models import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from simpletorch.vision.models import resnet18
from tests.distributed import language

WORLD = 6


class Block(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(width, hidden), nn.Linear(hidden, width), nn.LayerNorm(width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    """Rows that 3 ranks don't divide and 2 do, a frozen parameter and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(106, 13)
        self.blocks = nn.ModuleList(Block(13, 34) for _ in range(3))
        self.head = nn.Linear(13, 22)
        self.head.bias.requires_grad_(False)
        self.register_buffer("scale", torch.ones(5))

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.fixture
def fake_group():
    """Six ranks in one process: collectives return at once, and their calls can be seen."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=WORLD, store=FakeStore())
    yield
    dist.destroy_process_group()


class Wire(TorchDispatchMode):
    """Calls and bytes of each collective: of the largest tensor, which is the whole one."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, list[int]] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, result = str(func), func(*args, **(kwargs or {}))
        for kind, part in (("all_gather", "gather"), ("reduce_scatter", "reduce_scatter"), ("all_reduce", "reduce")):
            if "c10d" in name and part in name.replace("all_reduce", "allreduce"):
                leaves = torch.utils._pytree.tree_leaves((args, kwargs, result))
                sizes = [t.numel() * t.element_size() for t in leaves if isinstance(t, torch.Tensor)]
                self.seen.setdefault(kind, []).append(max(sizes))
                break
        return result


def of_tensors(tensors) -> int:
    local = [getattr(t, "_local_tensor", t) for t in tensors]
    return sum(t.numel() * t.element_size() for t in local)


def states(optimizer) -> int:
    return of_tensors(v for state in optimizer.state.values() for v in state.values() if isinstance(v, torch.Tensor))


def in_bytes(found, kind: str) -> tuple[int, int]:
    rows = [c for c in found.collectives if c.kind == kind]
    return sum(c.calls for c in rows), sum(c.bytes for c in rows)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("parallel", ["fsdp", "zero2"])
def test_fsdp_holds_and_sends_what_was_said(fake_group, precision, parallel):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    net = Net()
    found = plan(net, "Int64[B, 7]", mesh={"data": WORLD}, parallel=parallel, precision=precision, batch=5)
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if precision == "bf16" else MixedPrecisionPolicy()
    again = None if parallel == "fsdp" else False
    for block in net.blocks:
        fully_shard(block, mp_policy=policy, reshard_after_forward=again)
    fully_shard(net, mp_policy=policy, reshard_after_forward=again)
    optimizer = torch.optim.AdamW(net.parameters())
    with Wire() as wire:
        net(torch.randint(101, (5, 7))).sum().backward()
    optimizer.step()

    assert found.memory.parameters == of_tensors(net.parameters())
    assert found.memory.gradients == of_tensors(p.grad for p in net.parameters() if p.grad is not None)
    assert found.memory.optimizer == states(optimizer)
    assert {kind: (len(b), sum(b)) for kind, b in wire.seen.items()} == {
        kind: in_bytes(found, kind) for kind in ("all_gather", "reduce_scatter")
    }


def test_copies_of_the_shards_are_summed_as_was_said(fake_group):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    net = Net()
    found = plan(net, "Int64[B, 7]", mesh="replicate=2,data=3", batch=5)
    mesh = init_device_mesh("cpu", (2, 3), mesh_dim_names=("replicate", "data"))
    for module in (*net.blocks, net):
        fully_shard(module, mesh=mesh)
    with Wire() as wire:
        net(TOKENS).sum().backward()
    assert found.memory.parameters == of_tensors(net.parameters())
    assert {kind: (len(b), sum(b)) for kind, b in wire.seen.items()} == {
        kind: in_bytes(found, kind) for kind in ("all_gather", "reduce_scatter", "all_reduce")
    }


def test_tensor_parallel_under_fsdp_holds_and_sends_what_was_said(fake_group):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    net = Net()
    styles = {"words": "rows", "blocks.*.up": "out", "blocks.*.down": "in", "head": "out and gather"}
    found = plan(net, "Int64[B, 7]", mesh="data=3,tensor=2", batch=5, styles=styles, optimizer="sgd")
    mesh = init_device_mesh("cpu", (3, 2), mesh_dim_names=("data", "tensor"))
    torch_styles = {
        "words": RowwiseParallel(input_layouts=Replicate()),
        "blocks.*.up": ColwiseParallel(),
        "blocks.*.down": RowwiseParallel(),
        "head": ColwiseParallel(output_layouts=Replicate()),
    }
    parallelize_module(net, mesh["tensor"], torch_styles)
    with Wire() as wire:
        net(torch.randint(101, (5, 7))).sum().backward()
    on_tensor = replace(found, collectives=tuple(c for c in found.collectives if c.axis == "tensor"))
    for kind in ("all_reduce", "all_gather"):
        assert (len(wire.seen[kind]), sum(wire.seen[kind])) == in_bytes(on_tensor, kind)
    assert found.memory.activations == saved_by(net, TOKENS)

    for module in (*net.blocks, net):
        fully_shard(module, mesh=mesh["data"])
    assert found.memory.parameters == of_tensors(net.parameters())
    assert found.memory.optimizer == 0


@pytest.mark.parametrize("name", ["BERT's words", "GPT-2", "T5"])
def test_divided_language_models_hold_and_send_what_was_said(name):
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    net = language.made(name)
    texts = 2 if name == "T5" else 1
    found = plan(net, *["Int64[B, 7]"] * texts, mesh="tensor=2", batch=5, optimizer="sgd")
    parallelize(net, Mesh(tensor=2))
    with Wire() as wire:
        net(*[TOKENS % 29] * texts).sum().backward()
    dist.destroy_process_group()
    assert found.memory.parameters == of_tensors(net.parameters())
    sent = {kind: (len(sizes), sum(sizes)) for kind, sizes in wire.seen.items()}
    assert sent == {kind: in_bytes(found, kind) for kind in sent}
    assert sum(sum(sizes) for sizes in wire.seen.values()) == sum(c.bytes for c in found.collectives)


def test_ddp_sends_what_was_said(fake_group):
    from torch.nn.parallel import DistributedDataParallel

    net = Net()
    found = plan(net, "Int64[B, 7]", mesh={"data": WORLD}, parallel="ddp", batch=5)
    replicated, sent = DistributedDataParallel(net), []

    def hook(_state, bucket):
        sent.append(of_tensors([bucket.buffer()]))
        future = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    replicated.register_comm_hook(None, hook)
    replicated(torch.randint(101, (5, 7))).sum().backward()
    assert (len(sent), sum(sent)) == in_bytes(found, "all_reduce")
    assert found.memory.parameters == of_tensors(net.parameters())
    assert found.memory.buffers == 20


# -- activations ---------------------------------------------------------------------------------------------------


def saved_by(model: nn.Module, *inputs: torch.Tensor, loss=lambda out: out) -> int:
    """The bytes of what autograd saves in a forward, each storage once, without the model's own."""
    own = {storage_of(t).data_ptr() for t in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor):
        storage = storage_of(tensor)
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = loss(model.train()(*inputs))
    del out
    return sum(storage.nbytes() for storage in kept.values())


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage:
    local = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
    return getattr(local, "elem", local).untyped_storage()  # of a collective's result that nobody has waited for


def gpt() -> nn.Module:
    return GPT2LMHeadModel(GPT2Config(101, n_positions=31, n_embd=22, n_head=2, n_layer=3))


def llama() -> nn.Module:
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "intermediate_size": 38}
    return LlamaForCausalLM(LlamaConfig(101, 24, num_hidden_layers=3, **sizes))


TOKENS = torch.randint(101, (5, 7))
MODELS = {
    "net": (Net, TOKENS, {"T": 7}),
    "gpt": (gpt, TOKENS, {"T": 7}),
    "llama": (llama, TOKENS, {"T": 7}),
    "resnet": (lambda: resnet18(num_classes=7), torch.randn(5, 3, 37, 41), {}),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_activations_are_what_autograd_saves(name, precision):
    build, inputs, _ = MODELS[name]
    model = build()
    found = plan(model, inputs, parallel="ddp", precision=precision)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        assert found.memory.activations == saved_by(model, inputs)


def test_a_loss_saves_too():
    model = gpt()

    def loss(scores):
        return nn.functional.cross_entropy(scores.flatten(0, 1), torch.zeros(35, dtype=torch.int64))

    assert plan(model, TOKENS, loss=loss).memory.activations == saved_by(model, TOKENS, loss=loss)


def test_blocks_that_are_computed_again_keep_their_inputs():
    model = llama()
    whole, some = plan(model, TOKENS), plan(model, TOKENS, recompute=True)
    again = llama()
    train.recompute(again, type(again.model.layers[0]), preserve_rng=False)
    kept = saved_by(again, TOKENS)
    assert kept < some.memory.activations < whole.memory.activations
    alone = plan(model.model.layers[0], torch.empty(5, 7, 24), *[torch.empty(5, 1, 7, 6)] * 2, None, None)
    assert some.memory.activations - kept <= alone.memory.activations


def test_activations_of_a_batch_are_a_line():
    found = plan(llama(), batch=3, sizes={"T": 7}, room=10**6)
    least = plan(llama(), batch=found.largest_batch, sizes={"T": 7}, room=10**6)
    more = plan(llama(), batch=found.largest_batch + 1, sizes={"T": 7}, room=10**6)
    assert least.fits
    assert not more.fits


# -- the command ---------------------------------------------------------------------------------------------------

GPT = "simpletorch.language.models:gpt2"


def test_the_command_prints_what_fits(capsys):
    assert main(["plan", GPT, "--mesh", "data=3", "--batch", "2", "--size", "T=64", "--optimizer", "sgd"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("GPT2LMHeadModel: 124,439,808 parameters\ndata=3 (3 ranks), fsdp, float32, SGD, inputs B=2")
    assert "reduce_scatter" in out
    assert "largest batch that fits: " in out


def test_the_command_gives_data(capsys):
    arguments = ["--batch", "2", "--size", "T=64", "--json", "--memory", "1", "--optimizer", "sgd(momentum=0.9)"]
    assert main(["plan", GPT, *arguments]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["memory"]["optimizer"] == found["memory"]["parameters"] == 4 * 124_439_808
    assert found["fits"] is False
    assert found["largest_batch"] is None
    assert found["collectives"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mesh", "data=8,pipeline=2"], "a plan knows the axes replicate, data, tensor, not 'pipeline'"),
        (["--mesh", "data:8"], "'data:8' is no mesh"),
        (["--precision", "int4"], "'int4' is no precision"),
        (["--optimizer", "adam2"], "'adam2' is no optimizer of torch"),
        (["--optimizer", "adafactor"], "the states of Adafactor are not as large as its parameters"),
        (["--batch", "3"], "the inputs have the sizes B, T, and T is open"),
        (["--size", "T"], "--size T: write a size by its name"),
        (
            ["--mesh", "tensor=5", "--batch", "2", "--size", "T=5"],
            "the tensor axis has 5 ranks, which don't divide dim",
        ),
    ],
)
def test_a_wrong_argument_is_explained(capsys, arguments, message):
    assert main(["plan", GPT, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"simpletorch plan: {message}")


def test_a_model_that_cannot_be_called_is_explained(capsys):
    assert main(["plan", "torch.nn:Linear(7, 3)", "--input", "B 5", "--batch", "2"]) == 1
    assert "the last dim" in capsys.readouterr().err


def test_ranks_that_do_not_divide_are_named():
    with pytest.raises(
        TorchError, match=r"5 ranks, which don't divide dim 0 of model\.embed_tokens\.weight, \(101, 24\)"
    ):
        plan(llama(), mesh="tensor=5", batch=5, sizes={"T": 7})


@pytest.mark.parametrize(
    ("styles", "message"),
    [
        ({"layers.*": "out"}, "the plan divides 'layers.*', and a LlamaForCausalLM has no such module"),
        (
            {"lm_head": "column"},
            "lm_head has the style 'column': it must be one of 'out', 'in', 'out and gather', 'rows'",
        ),
    ],
)
def test_styles_are_checked(styles, message):
    with pytest.raises(ValueError, match=message):
        plan(llama(), mesh="tensor=2", batch=5, sizes={"T": 7}, styles=styles)
