"""``async for batch in loader``: the same batches, while other tasks run."""

import asyncio
import threading

import pytest
import torch

from simpletorch.data import DataLoader, Dataset, TensorDataset


class Gated(Dataset):
    """Samples that wait for a gate."""

    def __init__(self) -> None:
        self.gate, self.threads = threading.Event(), set()

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        assert self.gate.wait(60)
        self.threads.add(threading.get_ident())
        return torch.full((2,), float(index))


async def batches(loader: DataLoader) -> list[torch.Tensor]:
    return [batch async for batch in loader]


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_batches_are_those_of_an_ordinary_loop(shuffle: bool):
    def loader() -> DataLoader:
        torch.manual_seed(3)
        return DataLoader(TensorDataset(torch.arange(7)), 3, shuffle=shuffle)

    ordinary = [x.tolist() for (x,) in loader()]
    assert [x.tolist() for (x,) in asyncio.run(batches(loader()))] == ordinary
    assert [len(rows) for rows in ordinary] == [3, 3, 1]


def test_other_tasks_run_while_a_batch_is_read():
    data = Gated()

    async def main() -> list[torch.Tensor]:
        reading = asyncio.create_task(batches(DataLoader(data, 3)))
        await asyncio.sleep(0)
        assert not reading.done()
        data.gate.set()  # by this task, while the other one waits
        return await reading

    assert [b.shape for b in asyncio.run(main())] == [(3, 2), (3, 2)]
    assert threading.get_ident() not in data.threads


def test_an_error_of_the_data_arrives():
    class Broken(Dataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> torch.Tensor:
            raise KeyError(f"sample {index}")

    with pytest.raises(KeyError, match="sample 0"):
        asyncio.run(batches(DataLoader(Broken(), 2)))


def test_a_loop_that_is_left_goes_on_later():
    loader = DataLoader(TensorDataset(torch.arange(9)), 3)

    async def main() -> list[list[int]]:
        seen = []
        async for (x,) in loader:
            seen.append(x.tolist())
            break
        return seen + [x.tolist() async for (x,) in loader]

    assert asyncio.run(main()) == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [6, 7, 8]]
