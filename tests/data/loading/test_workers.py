"""What goes wrong in a worker process is a `DataError` that says what and where, soon, and no process is left."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch

from simpletorch.data import DataLoader, Dataset, IterableDataset, Padded, Subset, TensorDataset, get_worker_info
from simpletorch.errors import DataError

KILLS = int(os.environ.get("SIMPLETORCH_KILLS", "5"))


class Rows(Dataset):
    def __init__(self, size=23, seconds=0.0, shape=(3,)):
        self.size = size
        self.seconds = seconds
        self.shape = shape

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full(self.shape, float(index))


def children():
    """The processes that this one has started and not yet waited for, by the kernel's word."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/stat") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found.append(int(entry.name))
    return set(found)


@pytest.fixture(autouse=True)
def no_process_is_left():
    before = children()
    yield
    gc.collect()
    # multiprocessing's own helpers, of spawn and forkserver, stay by design
    from multiprocessing import forkserver, resource_tracker

    own = {forkserver._forkserver._forkserver_pid, resource_tracker._resource_tracker._pid}
    assert children() - before - own == set()


class Broken(Rows):
    def __getitem__(self, index):
        if index == 11:
            raise KeyError("sample 11 is broken")
        return super().__getitem__(index)


def test_an_error_arrives_with_sample_batch_and_traceback():
    loader = DataLoader(Broken(), 5, num_workers=2)
    with pytest.raises(DataError) as caught:
        list(loader)
    text = str(caught.value)
    assert "worker 0 failed while loading sample 11 of Broken; in batch 2: KeyError: 'sample 11 is broken'" in text
    assert "Traceback (most recent call last)" in text
    assert 'raise KeyError("sample 11 is broken")' in text


def test_an_error_is_still_of_the_class_that_was_raised():
    with pytest.raises(KeyError, match="sample 11 is broken"):
        list(DataLoader(Broken(), 5, num_workers=1))


def test_after_a_failed_batch_the_others_come():
    batches = iter(DataLoader(Broken(), 5, num_workers=2))
    given, failed = [], 0
    while True:
        try:
            given.append(next(batches)[0, 0].item())
        except StopIteration:
            break
        except DataError:
            failed += 1
    assert given == [0, 5, 15, 20]
    assert failed == 1


def test_in_this_process_the_error_stays_what_it_is_and_names_the_sample():
    with pytest.raises(KeyError) as caught:
        list(DataLoader(Broken(), 5))
    assert not isinstance(caught.value, DataError)
    assert caught.value.__notes__ == ["while loading sample 11 of Broken"]


class Odd(Rows):
    def __getitem__(self, index):
        return torch.zeros(5 if index == 13 else 3)


@pytest.mark.parametrize("workers", [0, 1])
def test_samples_that_do_not_fit_are_named_by_index(workers):
    with pytest.raises(DataError, match=r"samples 10 and 13 of Odd .* the one has shape \[3\] and the other \[5\]"):
        list(DataLoader(Odd(), 5, num_workers=workers))


class Picky(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class Strange(Rows):
    def __getitem__(self, index):
        class Local(Exception):
            pass

        raise (Picky(1, 2) if index < 5 else Local("here"))


def test_exceptions_that_can_not_be_sent_or_made_again_arrive_too():
    batches = iter(DataLoader(Strange(), 5, num_workers=1))
    with pytest.raises(DataError, match=r"Picky: \(1, 2\)") as caught:
        next(batches)
    assert isinstance(caught.value, Picky)
    with pytest.raises(DataError, match="Local: here"):
        next(batches)


class Unsendable(Rows):
    def __getitem__(self, index):
        return lambda: index


def test_a_batch_that_can_not_be_sent_is_a_failure_of_that_batch():
    with pytest.raises(DataError, match="while sending batch 0 to the loader"):
        list(DataLoader(Unsendable(), 5, num_workers=1, collate_fn=list))


def no_start(worker):
    raise ValueError(f"worker {worker} can't find its disk")


def test_worker_init_fn_that_fails():
    with pytest.raises(DataError, match="in worker_init_fn: ValueError: worker 0 can't find its disk"):
        list(DataLoader(Rows(), 5, num_workers=2, worker_init_fn=no_start))


class Exits(Rows):
    def __getitem__(self, index):
        if index == 11:
            os._exit(3)
        return super().__getitem__(index)


def test_a_worker_that_ends_itself():
    with pytest.raises(DataError, match=r"worker 0 \(pid \d+\) of the DataLoader ended with exit code 3"):
        list(DataLoader(Exits(), 5, num_workers=2))


def kill_one(seed):
    """Kill a worker at a random moment; the seconds until the loader says so."""
    draw = random.Random(seed)
    shape = draw.choice([(3,), (97, 101)])
    loader = DataLoader(Rows(10**6, 0.001, shape), 7, num_workers=draw.choice([1, 2, 3]))
    before = children()
    batches = iter(loader)
    killed = draw.choice(sorted(children() - before))
    end = time.monotonic() + draw.uniform(0, 0.3)
    while time.monotonic() < end:
        next(batches)
    start = time.monotonic()
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(DataError, match=rf"worker \d \(pid {killed}\) .* was killed by signal SIGKILL: .* memory"):
        exhaust(batches)
    seconds = time.monotonic() - start
    assert list(batches) == []
    assert children() - before == set()
    return seconds


def exhaust(batches):
    for _ in batches:
        pass


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_worker_is_an_error_within_five_seconds(seed):
    assert kill_one(seed) < 5


def test_a_worker_killed_while_the_program_is_busy_elsewhere():
    loader = DataLoader(Rows(10**6), 7, num_workers=2)
    before = children()
    batches = iter(loader)
    next(batches)
    os.kill(max(children() - before), signal.SIGKILL)
    time.sleep(0.2)  # the program's own code is not interrupted
    with pytest.raises(DataError, match="killed by signal SIGKILL"):
        exhaust(batches)


@pytest.mark.parametrize("persistent", [False, True])
def test_leaving_the_loop_ends_the_workers(persistent):
    before = children()
    loader = DataLoader(Rows(), 5, num_workers=2, persistent_workers=persistent)
    for _ in loader:
        break
    del loader, _
    gc.collect()
    assert children() == before


def test_a_worker_in_the_middle_of_a_long_sample_is_ended():
    loader = DataLoader(Rows(23, 60.0), 5, num_workers=1)
    batches = iter(loader)
    time.sleep(0.2)
    start = time.monotonic()
    del batches
    gc.collect()
    assert time.monotonic() - start < 10


def test_persistent_workers_are_the_same_processes_in_each_epoch():
    class Who(Rows):
        def __getitem__(self, index):
            return os.getpid()

    loader = DataLoader(Who(), 5, num_workers=2, persistent_workers=True)
    first, second = ({int(p) for batch in loader for p in batch} for _ in range(2))
    assert first == second
    assert len(first) == 2


def test_persistent_workers_begin_anew_when_an_epoch_is_left():
    loader = DataLoader(Rows(), 5, num_workers=2, persistent_workers=True)
    old = iter(loader)
    next(old)
    assert [batch[0, 0].item() for batch in loader] == [0, 5, 10, 15, 20]
    with pytest.raises(DataError, match="a newer one over the same loader has taken its persistent workers"):
        next(old)


def test_after_a_death_the_next_epoch_has_new_workers():
    # one batch ahead, so that the worker that is killed still has one to make
    loader = DataLoader(Rows(), 5, num_workers=2, persistent_workers=True, prefetch_factor=1)
    before = children()
    batches = iter(loader)
    os.kill(max(children() - before), signal.SIGKILL)
    with pytest.raises(DataError, match="SIGKILL"):
        exhaust(batches)
    assert [batch[0, 0].item() for batch in loader] == [0, 5, 10, 15, 20]
    del loader, batches


def test_too_slow_is_an_error():
    loader = DataLoader(Rows(23, 30.0), 5, num_workers=1, timeout=0.3)
    with pytest.raises(DataError, match=r"no batch arrived within 0.3 s: worker 0 \(pid \d+\) is still at batch 0"):
        next(iter(loader))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_an_unpicklable_dataset_is_refused(method):
    class Local(Rows):
        pass

    with pytest.raises(
        DataError, match=r"Local \(or its collate_fn or worker_init_fn\) can't be sent .* num_workers=0"
    ):
        list(DataLoader(Local(), 5, num_workers=1, multiprocessing_context=method))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize(
    ("view", "options"),
    [(lambda data: data, {}), (lambda data: data.map(list).cache() + Subset(data, []), {"collate_fn": Padded()})],
)
def test_other_ways_to_start_workers(method, view, options):
    """The dataset and the rest are sent to them pickled, and found again by the names of their classes."""
    data = TensorDataset(torch.arange(23 * 5003).reshape(23, 5003), torch.arange(23))
    loader = DataLoader(view(data), 5, num_workers=1, multiprocessing_context=method, **options)
    assert [len(rows) for rows, _ in loader] == [5, 5, 5, 5, 3]


def test_large_and_small_tensors_numbers_strings_and_others_arrive():
    class Mixed(Rows):
        def __getitem__(self, index):
            big = torch.full((113, 97), float(index), dtype=torch.float64)
            return {"big": big, "small": torch.tensor([index]), "name": f"n{index}", "half": big.bfloat16()}

    (batch,) = DataLoader(Mixed(3), 3, num_workers=1)
    assert batch["big"].shape == (3, 113, 97)
    assert batch["big"][2, 0, 0] == 2
    assert batch["half"].dtype == torch.bfloat16
    assert batch["small"].tolist() == [[0], [1], [2]]
    assert batch["name"] == ["n0", "n1", "n2"]


def test_large_messages_without_tensors_arrive():
    class Texts(Rows):
        def __getitem__(self, index):
            return str(index) * 100003

    assert [len(batch[0]) for batch in DataLoader(Texts(7), 2, num_workers=2)] == [100003] * 4


def test_a_custom_batch_of_views_arrives_as_it_is():
    def halves(samples):
        rows = torch.stack(samples)
        return rows[:, :5000], rows[:, 5000:].t(), torch.sparse_coo_tensor([[1]], [2.0], (3,))

    batches = iter(DataLoader(Rows(3, shape=(10007,)), 3, num_workers=1, collate_fn=halves))
    with torch.sparse.check_sparse_tensor_invariants():
        left, right, sparse = next(batches)
    assert left.shape == (3, 5000)
    assert right.shape == (5007, 3)
    assert right[0].tolist() == [0, 1, 2]
    assert sparse.to_dense().tolist() == [0, 2, 0]


def test_writing_to_a_batch_of_a_worker_is_allowed():
    for batch in DataLoader(Rows(23, shape=(10007,)), 5, num_workers=1):
        batch += 1
        assert batch.min() >= 1


def test_no_handle_is_left_open():
    def handles():
        return len(os.listdir("/proc/self/fd"))

    kept = list(DataLoader(Rows(23, shape=(10007,)), 5, num_workers=1))
    before = handles()
    kept += list(DataLoader(Rows(23, shape=(10007,)), 2, num_workers=2))
    assert handles() <= before
    assert sum(len(batch) for batch in kept) == 46


class Shares(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 5 if info.id == 0 else 17, info.num_workers))


def test_streams_take_turns_until_each_ends():
    batches = [batch.tolist() for batch in DataLoader(Shares(), 2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4], [5, 7], [9, 11], [13, 15]]


def test_persistent_streams_begin_anew():
    loader = DataLoader(Shares(), 2, num_workers=2, persistent_workers=True)
    assert [b.tolist() for b in loader] == [b.tolist() for b in loader]


def test_worker_info_is_torch_s():
    class Info(Rows):
        def __getitem__(self, index):
            info = torch.utils.data.get_worker_info()
            return info.id, info.num_workers, int(info.dataset is self)

    (batch,) = DataLoader(Info(3), 3, num_workers=1)
    assert [column.tolist() for column in batch] == [[0] * 3, [1] * 3, [1] * 3]


def test_batches_as_they_get_ready():
    others_are_there = multiprocessing.Event()

    class Uneven(Rows):
        def __getitem__(self, index):
            if index == 0:
                others_are_there.wait(60)
            return index

    batches = iter(DataLoader(Uneven(8), 1, num_workers=2, in_order=False))
    given = [int(next(batches))]
    others_are_there.set()
    given += map(int, batches)
    assert sorted(given) == list(range(8))
    assert given[0] != 0


@pytest.mark.slow
def test_workers_end_when_the_program_is_killed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, time, torch
            from simpletorch.data import DataLoader, Dataset
            class Rows(Dataset):
                def __len__(self): return 10**6
                def __getitem__(self, index): return torch.tensor(os.getpid())
            if __name__ == "__main__":
                batches = iter(DataLoader(Rows(), 1, num_workers=2))
                print(int(next(batches)), int(next(batches)), flush=True)
                time.sleep(60)
            """
        )
    )
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    workers = [int(pid) for pid in process.stdout.readline().split()]
    assert len(set(workers)) == 2
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") and not is_zombie(pid) for pid in workers):
        assert time.monotonic() < deadline, "the workers live on"
        time.sleep(0.05)


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_workers_can_not_be_started_in_a_worker():
    class Nested(Rows):
        def __getitem__(self, index):
            return len(list(DataLoader(Rows(3), 1, num_workers=1)))

    with pytest.raises(DataError, match="daemonic"):
        list(DataLoader(Nested(3), 1, num_workers=1))


def test_multiprocessing_knows_no_worker_afterwards():
    list(DataLoader(Rows(), 5, num_workers=2))
    assert multiprocessing.active_children() == []
