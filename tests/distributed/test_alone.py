"""Without torchrun: one process, no group, and the same script runs."""

import os
import signal
import sys

import pytest
import torch
from torch.nn import functional as F

from simpletorch import _peers, distributed
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.distributed import _failures, _group
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
        x, was_at_work = torch.ones(20_000_000), False  # 80 MB: a copy takes long enough to be seen
        for _ in range(30):  # on a busy machine it may be done before this thread goes on
            work = torch.distributed.all_gather([torch.empty_like(x)], x, async_op=True)
            was_at_work |= not work.is_completed()
            _group._wait_for_gloo()
            assert work.is_completed()
            if was_at_work:
                break
        assert was_at_work
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


@pytest.fixture
def peers(monkeypatch):
    """Makes this process one of two that have met; both live, as far as can be seen."""
    store = torch.distributed.HashStore()
    both = (_peers.Peer("elsewhere", 7, {}), _peers.Peer("elsewhere", 11, {}))
    return lambda rank: monkeypatch.setattr(_peers, "_met", _peers.Peers(store, rank, both))


def test_who_waited_in_vain_is_not_to_blame_and_still_says_how_it_ended(peers, monkeypatch):
    monkeypatch.setattr(_peers, "PATIENCE", 0.0)
    peers(0)
    assert _peers.on_the_others("backward") == "rank 1 (process 11 on elsewhere) hangs, or works on something else"
    monkeypatch.setattr(sys, "last_value", BackendError("rank 0 of 2 waited"), raising=False)
    _peers.leave()
    peers(1)
    assert _peers.ended() == "rank 0 ended by BackendError: rank 0 of 2 waited"
    assert _peers.on_the_others("all_reduce") == "rank 0 was in backward"


def test_who_ended_without_an_error_had_perhaps_fewer_batches(peers, monkeypatch):
    monkeypatch.delattr(sys, "last_value", raising=False)
    peers(0)
    _peers.leave()
    peers(1)
    words = "rank 0 ended without an error: did it have fewer batches, or call fewer collectives?"
    assert _peers.on_the_others("backward") == _peers.ended() == words


def test_sigterm_does_not_break_the_explanation_of_what_ends_a_process(monkeypatch):
    heard = []
    monkeypatch.setattr(_peers, "ended", lambda: "rank 1 has ended")
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
    handler = _failures._End(os.getpid(), os.getppid())

    def meanwhile(*_):
        handler(signal.SIGTERM, sys._getframe())
        heard.append("nothing")

    monkeypatch.setattr("simpletorch.errors._translation.translation", meanwhile)
    _failures._Uncaught(lambda kind, *_: heard.append(kind))(
        RuntimeError, RuntimeError("Connection closed by peer"), None
    )
    assert heard == ["nothing", RuntimeError]
    with pytest.raises(BackendError, match="rank 0 was told to end: rank 1 has ended"):
        handler(signal.SIGTERM, sys._getframe())
