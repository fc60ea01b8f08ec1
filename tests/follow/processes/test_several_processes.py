"""Programs of several processes: how many there are, and which this is, are symbols; what is sent must fit."""

import sys
from pathlib import Path

import pytest
from scripts import Scripts
from torch.distributed.fsdp import FSDPModule

from simpletorch.follow import follow
from simpletorch.follow.attributes import _OF_SHARDED

BENCHMARKS = Path(__file__).parents[3] / "benchmarks" / "follow"
sys.path.insert(0, str(BENCHMARKS))
from slips import FOLDER, SLIPS  # noqa: E402

PROGRAMS = Scripts("import os\nimport torch\nimport torch.distributed as dist\nfrom torch import nn\n")
OURS = Scripts("import torch\nfrom simpletorch import distributed\n")
MESHES = Scripts(
    "import torch\nfrom torch import nn\nfrom torch.distributed.fsdp import fully_shard\n"
    "from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor, "
    "init_device_mesh\n"
)


# -- whole programs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SLIPS)
def test_nothing_is_said_of_a_program_that_two_processes_run(name):
    found = follow(FOLDER / f"{name}.py", arguments=())
    assert [f.message for f in (*found.errors, *found.warnings, *found.remarks)] == []
    assert found.faults == ()


@pytest.mark.parametrize("name", SLIPS)
def test_slips_are_found(name, tmp_path):
    text, missed = (FOLDER / f"{name}.py").read_text(), []
    for old, new in SLIPS[name]:
        assert text.count(old) == 1
        path = tmp_path / f"{name}.py"
        path.write_text(text.replace(old, new))
        if not follow(path, arguments=()).errors:
            missed.append(new)
    assert missed == []


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        ("dist.get_world_size()", "world_size"),
        ("int(os.environ['WORLD_SIZE'])", "world_size"),
        ("int(os.environ.get('RANK', -1))", "rank or -1"),
        ("int(os.environ['LOCAL_RANK'])", "local_rank"),
        ("int(os.environ['RANK']) == dist.get_rank()", "True"),
        ("torch.zeros(3 * dist.get_world_size(), 5)", "Float32[3*world_size, 5]"),
        ("torch.cat([torch.zeros(3, 5) for _ in range(dist.get_world_size())])", "Float32[3*world_size, 5]"),
        ("dist.new_group([0, 1]).size()", "2"),
        ("dist.group.WORLD.size()", "world_size"),
    ],
)
def test_how_many_processes_there_are_and_which_this_is(x, shown, tmp_path):
    assert PROGRAMS.shown(f"x = {x}", tmp_path, right=True) == shown


def test_what_a_program_says_of_itself_counts(tmp_path):
    source = "dist.init_process_group('gloo', rank=1, world_size=3)\nx = dist.get_rank(), dist.get_world_size()"
    assert PROGRAMS.shown(source, tmp_path, right=True) == "(1, 3)"


def test_torchrun_has_set_all_of_its_variables_or_none(tmp_path):
    source = (
        "if 'RANK' in os.environ and 'WORLD_SIZE' in os.environ:\n"
        "    ddp, world = True, int(os.environ['WORLD_SIZE'])\n"
        "else:\n    ddp, world = False, 1\n"
        "x = torch.zeros(world, 3) if ddp else torch.zeros(5, 3)\n"
        "x = x @ torch.zeros(3, 7)"
    )
    assert PROGRAMS.shown(source, tmp_path, right=True).endswith(", 7]")


def test_both_ways_of_a_rank_are_followed(tmp_path):
    source = (
        "dist.init_process_group('gloo')\n"
        "rank = dist.get_rank()\n"
        "x = torch.zeros(7, 3) if rank == 0 else torch.empty(7, 3)\n"
        "dist.broadcast(x, 0)\n"
        "rows = [torch.zeros(7, 3) for _ in range(dist.get_world_size())] if rank == 0 else None\n"
        "dist.gather(x, rows, 0)\n"
        "if rank == 0:\n    torch.cat(rows) @ torch.zeros(3, 5)\n"
        "if rank == 0:\n    torch.cat(rows) @ torch.zeros(5, 3)\n"
    )
    assert PROGRAMS.lines(source, tmp_path) == [10]


def test_what_spawned_processes_do_is_followed(tmp_path):
    source = (
        "import torch.multiprocessing as mp\n"
        "def work(rank, world, size):\n"
        "    dist.init_process_group('gloo', rank=rank, world_size=world)\n"
        "    out = torch.zeros(world * size)\n"
        "    dist.all_gather_into_tensor(out, torch.zeros(size))\n"
        "    dist.all_gather_into_tensor(torch.zeros(7), torch.zeros(size))\n"
        "mp.spawn(work, args=(2, 5), nprocs=2)\n"
        "p = mp.Process(target=work, args=(0, 3), kwargs={'size': 11})\n"
        "p.start()\np.join()\n"
    )
    assert PROGRAMS.lines(source, tmp_path) == [6]


def test_another_process_changes_nothing_here(tmp_path):
    source = (
        "import torch.multiprocessing as mp\n"
        "held = [torch.zeros(7, 3)]\n"
        "def work(rank):\n    held[0] = torch.zeros(5)\n    dist.init_process_group('gloo', rank=rank, world_size=2)\n"
        "mp.spawn(work, nprocs=2)\n"
        "x = held[0], dist.get_world_size()"
    )
    assert PROGRAMS.shown(source, tmp_path, right=True) == "(Float32[7, 3], world_size)"


# -- collectives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "dist.all_gather_into_tensor(torch.zeros(7 * w, 3), x)",
        "dist.all_gather_into_tensor(torch.zeros(w, 7, 3), x)",
        "dist.reduce_scatter_tensor(x, torch.zeros(w * 7, 3))",
        "dist.all_gather([torch.empty_like(x) for _ in range(w)], x)",
        "dist.all_to_all_single(torch.empty_like(x), x)",
        "dist.all_reduce(x, async_op=True).wait()",
        "dist.scatter(x, [x] * w if dist.get_rank() == 0 else None)",
        "dist.all_gather_into_tensor(torch.zeros(2 * 7, 3), x, group=dist.new_group([0, 1]))",
    ],
)
def test_what_fits_is_right(call, tmp_path):
    assert PROGRAMS.lines(f"w, x = dist.get_world_size(), torch.zeros(7, 3)\n{call}\n", tmp_path) == []


@pytest.mark.parametrize(
    "call",
    [
        "dist.all_gather_into_tensor(torch.zeros(5 * w, 3), x)",
        "dist.all_gather_into_tensor(torch.zeros(7 * w, 3, dtype=torch.int64), x)",
        "dist.reduce_scatter_tensor(x, torch.zeros(w * 5, 3))",
        "dist.all_gather([torch.empty(7, 5) for _ in range(w)], x)",
        "dist.all_to_all_single(torch.empty(7, 5), x)",
        "dist.all_gather_into_tensor(torch.zeros(3 * 7, 3), x, group=dist.new_group([0, 1]))",
        "dist.all_gather([x, x, x], x, group=dist.new_group([0, 1]))",
    ],
)
def test_what_doesnt_fit_is_said(call, tmp_path):
    assert PROGRAMS.lines(f"w, x = dist.get_world_size(), torch.zeros(7, 3)\n{call}\n", tmp_path) == [2]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("all_reduce(torch.zeros(7, 3))", "Float32[7, 3]"),
        ("all_gather(torch.zeros(7, 3))", "Float32[7*world_size, 3]"),
        ("all_gather(torch.zeros(7, 3), dim=1)", "Float32[7, 3*world_size]"),
        ("reduce_scatter(distributed.all_gather(torch.zeros(7, 3)))", "Float32[7, 3]"),
        ("scatter(torch.zeros(11 * distributed.world_size(), 3), src=0)", "Float32[11, 3]"),
        ("broadcast(torch.zeros(7, 3), 1)", "Float32[7, 3]"),
        ("all_to_all(torch.zeros(7, 3), dim=1)", "Float32[7, 3]"),
        ("gather(torch.zeros(7, 3))", "Float32[7*world_size, 3] or None"),
    ],
)
def test_ours_give_new_tensors(call, shown, tmp_path):
    assert OURS.shown(f"distributed.init()\nx = distributed.{call}", tmp_path, right=True) == shown


def test_models_are_replicated_and_sharded_as_they_are(tmp_path):
    source = (
        "from torch import nn\n"
        "model = distributed.replicate(nn.Linear(3, 5))\n"
        "other = distributed.shard(nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2)))\n"
        "x = model(torch.zeros(7, 3)), other(torch.zeros(7, 3))"
    )
    assert OURS.shown(source, tmp_path, right=True) == "(Float32[7, 5], Float32[7, 2])"


# -- meshes and tensors over them --------------------------------------------------------------------------------------

MESH = "mesh = init_device_mesh('cpu', (2, 3), mesh_dim_names=('a', 'b'))\n"


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        ("mesh.size(), mesh['b'].size(), mesh.size(0)", "(6, 3, 2)"),
        ("distribute_tensor(torch.zeros(12, 7), mesh['a'], [Shard(0)])", "Float32[12, 7]"),
        ("distribute_tensor(torch.zeros(12, 7), mesh['a'], [Shard(0)]).to_local()", "Float32[6, 7]"),
        ("distribute_tensor(torch.zeros(12, 7), mesh, [Shard(0), Shard(0)]).to_local()", "Float32[2, 7]"),
        ("distribute_tensor(torch.zeros(12, 7), mesh['a'], [Shard(1)]).to_local()", "Float32[12, ?]"),
        ("distribute_tensor(torch.zeros(12, 7), mesh['a'], [Replicate()]).to_local()", "Float32[12, 7]"),
        ("DTensor.from_local(torch.zeros(5, 7), mesh['b'], [Shard(0)])", "Float32[15, 7]"),
        ("DTensor.from_local(torch.zeros(5), mesh['b'], [Shard(0)]).full_tensor() + torch.zeros(15)", "Float32[15]"),
        ("distribute_tensor(torch.zeros(5, 7), mesh['a']).redistribute(placements=[Shard(0)])", "Float32[5, 7]"),
        ("distribute_module(nn.Linear(7, 2), mesh['a'])(torch.zeros(5, 7))", "Float32[5, 2]"),
        ("fully_shard(nn.Linear(7, 2), mesh=mesh['a'])(torch.zeros(5, 7))", "Float32[5, 2]"),
    ],
)
def test_a_tensor_over_a_mesh_has_the_shape_of_the_whole(x, shown, tmp_path):
    assert MESHES.shown(f"{MESH}x = {x}", tmp_path, right=True) == shown


@pytest.mark.parametrize(
    "mixed",
    ["d + torch.zeros(5, 7)", "torch.zeros(5, 7) * d", "d @ torch.zeros(7, 2)", "torch.cat([d, torch.zeros(5, 7)])"],
)
def test_dtensors_and_plain_tensors_arent_mixed(mixed, tmp_path):
    source = f"{MESH}d = distribute_tensor(torch.zeros(5, 7), mesh['a'], [Shard(0)])\n{mixed}\n"
    (found,) = MESHES.said(source, tmp_path).errors
    assert found.code == "tensor-device"
    assert "is a DTensor, spread over a mesh, but Float32[" in found.message
    assert found.message.endswith("is a plain tensor; torch doesn't mix them")


@pytest.mark.parametrize(
    "right",
    [
        "d + 1.0",
        "d + torch.tensor(2.0)",
        "d * torch.zeros(1)",
        "d + distribute_tensor(torch.zeros(5, 7), mesh['a'], [Replicate()])",
        "d.full_tensor() + torch.zeros(5, 7)",
        "def f(d):\n    return d.redistribute()\nf(d)",
        "d + nn.Linear(7, 7).weight[:5]",
        "(d * 2).sum(0).full_tensor() + torch.zeros(7)",
        "torch.zeros_like(d) + d",
        "from torch.distributed.tensor.experimental import implicit_replication\nwith implicit_replication():\n"
        "    d + torch.zeros(5, 7)",
    ],
)
def test_what_may_be_mixed_is_right(right, tmp_path):
    source = f"{MESH}d = distribute_tensor(torch.zeros(5, 7), mesh['a'], [Shard(0)])\n{right}\n"
    assert MESHES.lines(source, tmp_path) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "distribute_tensor(torch.zeros(5, 7), mesh, [Shard(0)])",
        "distribute_tensor(torch.zeros(5, 7), mesh['a'], [Shard(2)])",
        "init_device_mesh('cpu', (2, 3), mesh_dim_names=('a',))",
    ],
)
def test_placements_and_names_fit_the_mesh(wrong, tmp_path):
    assert MESHES.lines(MESH + wrong, tmp_path) == [2]


@pytest.mark.parametrize(("grid", "lines"), [("(3, 3)", [2]), ("(9,)", [2]), ("(2, 4)", []), ("(2, 3)", [])])
def test_a_mesh_has_no_more_processes_than_there_are(grid, lines, tmp_path):
    start = "torch.distributed.init_process_group('gloo', rank=0, world_size=8)\n"
    assert MESHES.lines(f"{start}init_device_mesh('cpu', {grid})", tmp_path) == lines
    assert MESHES.lines(f"init_device_mesh('cpu', {grid})", tmp_path) == []  # torchrun's number of processes


def test_a_sharded_model_has_methods_of_its_own(tmp_path):
    assert all(n.startswith(_OF_SHARDED) for n in dir(FSDPModule) if not n.startswith("_"))
    source = (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(7, 2)\n"
        "    def forward(self, x):\n        return self.fc(x)\n"
        "net = Net()\nfully_shard(net)\nnet.set_requires_gradient_sync(False)\nnet.unshard()\n"
        "assert all(isinstance(p, DTensor) for p in net.parameters())\n"
        "x = net(torch.zeros(5, 7))"
    )
    assert MESHES.shown(source, tmp_path, right=True) == "Float32[5, 2]"


# -- layers that are divided, and stages -------------------------------------------------------------------------------

PLANS = Scripts(
    "import torch\nfrom torch import nn\n"
    "from torch.distributed.tensor import Replicate, Shard, init_device_mesh\n"
    "from torch.distributed.tensor.parallel import (\n"
    "    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module\n)\n"
    "mesh = init_device_mesh('cpu', (2,))\n"
    "net = nn.Sequential(nn.Linear(7, 10), nn.Linear(10, 3))\n"
    "x = torch.zeros(5, 7)\n"
)
HOOKED = "unknown: what a hook makes of a module's result"


@pytest.mark.parametrize(
    ("plan", "call", "shown"),
    [
        ("{'0': ColwiseParallel()}", "net[0](x)", "Float32[5, 5]"),
        ("{'0': ColwiseParallel(), '1': RowwiseParallel()}", "net(x)", "Float32[5, 3]"),
        ("{'*': ColwiseParallel(output_layouts=Replicate())}", "net(x)", "Float32[5, 3]"),
        ("{'1': RowwiseParallel(input_layouts=Replicate())}", "net(x)", "Float32[5, 3]"),
        ("{'0': ColwiseParallel(output_layouts=Shard(0))}", "net[0](torch.zeros(6, 7))", "Float32[3, 10]"),
        # three columns for two processes: one has two, one has one
        ("{'1': ColwiseParallel(input_layouts=Replicate())}", "net(x)", "Float32[5, ?]"),
        # a plan that hands DTensors on: nothing is claimed
        ("{'0': ColwiseParallel(use_local_output=False)}", "net[0](x)", HOOKED),
        ("{'0': SequenceParallel(), '1': RowwiseParallel()}", "net[1](x)", HOOKED),
    ],
)
def test_a_process_has_its_part_of_what_a_divided_layer_gives(plan, call, shown, tmp_path):
    found = PLANS.shown(f"parallelize_module(net, mesh, {plan})\nx = {call}", tmp_path, right=True)
    assert found == shown


@pytest.mark.parametrize(
    "plan",
    [
        "{'0': ColwiseParallel()}",  # 5 of 10 columns come to a layer that isn't divided
        "{'1': RowwiseParallel()}",  # all 10 columns come to one that takes 5
        "{'0': ColwiseParallel(output_layouts=Replicate()), '1': RowwiseParallel()}",
    ],
)
def test_layers_are_divided_in_pairs(plan, tmp_path):
    assert PLANS.lines(f"parallelize_module(net, mesh, {plan})\nx = net(x)", tmp_path) == [2]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("torch.zeros(3, 5)", "[Float32[3, 5], Float32[3, 5], Float32[3, 5]]"),
        ("None", "[None, None, None]"),
        ("7", "[7, 7, 7]"),
    ],
)
def test_launched_processes_give_a_list(given, shown, tmp_path):
    source = f"def work():\n    return {given}\nx = distributed.launch(work, processes=3)"
    assert OURS.shown(source, tmp_path, right=True) == shown


def test_what_differs_between_launched_processes_isnt_known(tmp_path):
    source = (
        "def work():\n    return torch.zeros(distributed.rank() + 1)\n"
        "first, second = distributed.launch(work)\nx = first.shape == second.shape"
    )
    assert "unknown" in OURS.shown(source, tmp_path, right=True)


def test_parts_of_a_batch_go_through_a_pipeline(tmp_path):
    made = "from torch import nn\nimport torch.nn.functional as F\n"
    made += "pipeline = distributed.Pipeline([nn.Linear(7, 3), nn.Linear(3, 2)], F.mse_loss, parts=4)\n"
    right = "x = pipeline.step(torch.zeros(20, 7), torch.zeros(20, 2))"
    assert OURS.shown(made + right, tmp_path, right=True) == "Float32[]"
    for wrong in ("torch.zeros(22, 7), torch.zeros(22, 2)", "torch.zeros(20, 5), torch.zeros(20, 2)"):
        assert OURS.lines(f"{made}x = pipeline.step({wrong})", tmp_path) == [4], wrong
