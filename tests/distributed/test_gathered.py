"""What `plan` says FSDP2 holds beside its shards, against the storages that are alive after each operation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FSDPModule
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from simpletorch.distributed import Mesh, plan, shard
from simpletorch.language.models import LlamaConfig, LlamaForCausalLM

RANKS = 5
TOKENS = torch.randint(26, (2, 7))


@pytest.fixture(autouse=True)
def fake_group() -> Iterator[None]:
    """Five ranks in one process: collectives return at once."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())
    yield
    dist.destroy_process_group()


class Gathered(TorchDispatchMode):
    """The most bytes at a time of whole parameters, their gradients, and the buffers of collectives."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.most, self.buffers = 0, {}
        groups = [m._get_fsdp_state()._fsdp_param_group for m in model.modules() if isinstance(m, FSDPModule)]
        self.parameters = [parameter for group in groups for parameter in group.fsdp_params]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result, leaving = func(*args, **(kwargs or {})), 0
        if func is torch.ops.fsdp.all_gather_copy_in.default:
            self._note(result[1])
        elif func is torch.ops.fsdp.chunk_cat.default:  # gradients into the buffer of a reduce-scatter
            self._note(kwargs["out"])
            leaving = sum(tensor.nbytes for tensor in args[0])  # nobody's ``.grad`` any more
        self.buffers = {ref: size for ref, size in self.buffers.items() if not ref.expired()}
        self.most = max(self.most, sum(self.buffers.values()) + leaving + sum(map(self._of, self.parameters)))
        return result

    def _note(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        self.buffers[StorageWeakRef(storage)] = storage.nbytes()

    @staticmethod
    def _of(parameter) -> int:
        whole = sum(output.untyped_storage().nbytes() for output in getattr(parameter, "all_gather_outputs", ()))
        grad = getattr(getattr(parameter, "_unsharded_param", None), "grad", None)
        return whole + (0 if grad is None else grad.nbytes)


class Block(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(11, hidden), nn.Linear(hidden, 11)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    """Blocks of these widths, a head that is frozen in part, and words whose gradients come last."""

    def __init__(self, words: int, hidden: list[int]) -> None:
        super().__init__()
        self.words = nn.Embedding(words, 11)
        self.blocks = nn.ModuleList(Block(size) for size in hidden)
        self.head = nn.Linear(11, words)
        self.head.bias.requires_grad_(False)

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def llama() -> nn.Module:
    return LlamaForCausalLM(LlamaConfig(26, 12, 4, 2, 6, 22, num_hidden_layers=3))


def tied() -> nn.Module:
    return LlamaForCausalLM(LlamaConfig(26, 12, 4, 2, 6, 22, num_hidden_layers=3, tie_word_embeddings=True))


MODELS = {
    "one block": lambda: Net(29, [37]),
    "four blocks": lambda: Net(29, [37, 37, 37, 37]),
    "wider blocks": lambda: Net(29, [37, 53, 61, 23]),
    "narrower blocks": lambda: Net(29, [23, 61, 53, 37]),
    "many words": lambda: Net(359, [37, 37, 37]),
    "llama": llama,
    "tied llama": tied,
}


@pytest.mark.filterwarnings("ignore:FSDP2-wrapped module .* returned a view tensor")
@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("parallel", ["fsdp", "zero2"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_gathered_is_what_was_said(name: str, parallel: str, precision: str):
    model = MODELS[name]()
    found = plan(model, TOKENS, mesh=Mesh(data=-1), parallel=parallel, precision=precision)
    again = parallel == "fsdp"
    shard(model, precision="float32" if precision == "float32" else "bfloat16", reshard=None if again else False)
    watch = Gathered(model)
    for _ in range(2):  # the first step makes what later ones use again
        with watch:
            model(TOKENS).sum().backward()
        for parameter in model.parameters():
            parameter.grad = None
    if name == "tied llama":  # until the embedding has one too, the head's gradient is autograd's own, and not seen
        waiting = 26 * 12 * (4 if precision == "float32" else 2)
        assert 0 <= found.memory.gathered - watch.most <= waiting
    else:
        assert found.memory.gathered == watch.most


def test_a_plan_of_a_mesh_needs_no_processes():
    found = plan(Net(29, [37]), TOKENS, mesh=Mesh(data=3, tensor=1))
    assert found.mesh == {"replicate": 1, "data": 3, "tensor": 1}
    with pytest.raises(ValueError, match="Mesh\\(data=-1, tensor=2\\) is a grid of 2 processes or a multiple of them"):
        plan(Net(29, [37]), TOKENS, mesh=Mesh(data=-1, tensor=2))
    with pytest.raises(ValueError, match="a plan knows the axes replicate, data, tensor, not 'pipeline'"):
        plan(Net(29, [37]), TOKENS, mesh=Mesh(pipeline=2))
