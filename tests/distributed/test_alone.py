"""Without torchrun: one process, no group, and the same script runs."""

import pytest
import torch
from torch.nn import functional as F

from simpletorch import _peers, distributed
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.distributed import _group
from simpletorch.errors import BackendError, ShapeMismatch, TorchError, explain
from simpletorch.train import Trainer


def test_one_process_without_a_group():
    assert distributed.init(device="cpu") == torch.device("cpu")
    assert (distributed.rank(), distributed.local_rank(), distributed.world_size()) == (0, 0, 1)
    assert distributed.is_main()
    distributed.barrier()
    assert not torch.distributed.is_initialized()


def test_the_end_waits_for_what_gloo_still_does():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        x = torch.ones(20_000_000)  # 80 MB: a copy takes long enough to be seen
        work = torch.distributed.all_gather([torch.empty_like(x)], x, async_op=True)
        assert not work.is_completed()
        _group._wait_for_gloo()
        assert work.is_completed()
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize(
    "collective", ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "gather", "scatter"]
)
def test_collectives_of_one_give_a_tensor_of_its_own(collective):
    x = torch.arange(6.0, requires_grad=True)
    result = getattr(distributed, collective)(x)
    assert torch.equal(result, x)
    assert not result.requires_grad
    assert result.data_ptr() != x.data_ptr()


def test_what_a_collective_can_t_take_is_said():
    with pytest.raises(ShapeMismatch, match="all_gather: a 0-d tensor has no dim 0"):
        distributed.all_gather(torch.tensor(5.0))
    with pytest.raises(ShapeMismatch, match=r"scatter: \[3, 5\] has no dim 2"):
        distributed.scatter(torch.ones(3, 5), dim=2)
    with pytest.raises(ValueError, match="broadcast got src=1: there are 1 processes, ranks 0 to 0"):
        distributed.broadcast(torch.ones(3), src=1)


def test_replicate_gives_the_model_itself():
    model = torch.nn.Linear(3, 5)
    assert distributed.replicate(model) is model


def test_a_trainer_alone_trains_as_ever():
    def weights(parallel):
        torch.manual_seed(3)
        model = torch.nn.Linear(5, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.randn(13, 5), torch.randint(3, (13,))), 3, shuffle=True)
        Trainer(loss=F.cross_entropy, optimizer=optimizer, progress=False, parallel=parallel).fit(model, loader)
        return model.weight

    assert torch.equal(weights(None), weights("ddp"))


def test_who_was_started_together_has_to_meet_first(monkeypatch):
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    assert (distributed.rank(), distributed.world_size(), distributed.is_main()) == (1, 2, False)
    with pytest.raises(TorchError, match=r"the processes have not met: call simpletorch.distributed.init\(\)"):
        distributed.replicate(torch.nn.Linear(3, 5))
    trainer = Trainer(loss=F.mse_loss, optimizer=torch.optim.SGD(torch.nn.Linear(3, 5).parameters()), parallel="ddp")
    with pytest.raises(ValueError, match="parallel='ddp', but the processes have not met"):
        trainer.fit(torch.nn.Linear(3, 5), [(torch.ones(2, 3), torch.ones(2, 5))])


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": -1.0}])
def test_settings_of_init(options):
    with pytest.raises(ValueError, match="init got timeout="):
        distributed.init(**options)


def test_settings_of_launch():
    with pytest.raises(ValueError, match="launch got processes=0, restarts=0: at least 1 process"):
        distributed.launch(print, processes=0)


def test_another_version_on_another_rank_is_named(monkeypatch):
    store = torch.distributed.HashStore()
    other = {**_peers.versions(), "torch": "2.7.1"}
    peer = {"host": "other", "pid": 7, "versions": other}
    monkeypatch.setattr(_peers, "_met", None)
    torch.distributed.PrefixStore("simpletorch", store).set("peer/1", _peers.json.dumps(peer))
    (line,) = _peers.meet(store, 0, 2)
    assert line == f"rank 1 (process 7 on other) has torch 2.7.1, rank 0 has {torch.__version__}"


def test_a_port_in_use_is_named(monkeypatch):
    held = torch.distributed.TCPStore("localhost", 0, 1, is_master=True)
    environment = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": str(held.port)}
    with pytest.raises(BackendError, match=f"port {held.port}, at which the ranks were to meet, is in use"), explain():
        torch.distributed.TCPStore("localhost", held.port, 1, is_master=True)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def test_what_stays_of_earlier_processes_is_not_read():
    store = torch.distributed.HashStore()
    for left in ("number/1", "answer/stale", "heard/stale/1"):
        store.set(f"simpletorch/{left}", "stale")
    import threading

    found = {}
    second = threading.Thread(target=lambda: found.update(other=_peers.fresh(store, 1, 2, 60)))
    second.start()
    own = _peers.fresh(store, 0, 2, 60)
    second.join(timeout=60)
    own.set("word", "said")
    assert found["other"].get("word") == b"said"
    with pytest.raises(RuntimeError, match="1/2 clients joined"):
        _peers.fresh(torch.distributed.HashStore(), 0, 2, 0.0)
