"""Coroutines: while one waits, others change what they share."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

HEAD = "import asyncio\nimport torch\n"
RIGHT = {
    "a list of the object's": """class Runner:
    def __init__(self):
        self.queue, self.ready, self.size = [], asyncio.Event(), 5
    async def put(self, x):
        self.queue.append(x)
        self.size = 3
        self.ready.set()
    async def work(self):
        await self.ready.wait()
        return torch.stack(self.queue) @ torch.zeros(self.size, 7)
async def main():
    runner = Runner()
    task = asyncio.create_task(runner.work())
    await runner.put(torch.zeros(3))
    await task
asyncio.run(main())
""",
    "a list of the module's": """queue = []
async def work():
    await asyncio.sleep(0)
    return torch.stack(queue)
async def put():
    queue.append(torch.zeros(3))
async def main():
    task = asyncio.create_task(work())
    await put()
    await task
asyncio.run(main())
""",
    "a list of the function's around": """async def main():
    queue, ready = [], asyncio.Event()
    async def work():
        await ready.wait()
        return torch.stack(queue)
    task = asyncio.create_task(work())
    queue.append(torch.zeros(3))
    ready.set()
    await task
asyncio.run(main())
""",
    "under a lock": """queue = []
async def put(lock):
    async with lock:
        queue.append(torch.zeros(3))
async def work(lock):
    async with lock:
        return torch.stack(queue)
async def main():
    lock = asyncio.Lock()
    await lock.acquire()
    first, second = asyncio.create_task(put(lock)), asyncio.create_task(work(lock))
    lock.release()
    await asyncio.gather(first, second)
asyncio.run(main())
""",
}
WRONG = {
    "its own variable": """async def work():
    rows = []
    await asyncio.sleep(0)
    return torch.stack(rows)
asyncio.run(work())
""",
    "what no other changes": """class Runner:
    def __init__(self):
        self.rows = []
    def show(self):
        return len(self.rows)
    async def work(self):
        await asyncio.sleep(0)
        return torch.stack(self.rows)
asyncio.run(Runner().work())
""",
    "a coroutine that is followed": """rows = []
async def nothing():
    return 3
async def work():
    await nothing()
    return torch.stack(rows)
async def later():
    rows.append(torch.zeros(3))
asyncio.run(work())
""",
}


def followed(source: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD + source)
    return follow(path)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_others_change_while_a_coroutine_waits_is_unknown(source: str, tmp_path: Path):
    exec(compile(HEAD + source, "program.py", "exec"), {})
    assert followed(source, tmp_path).errors == ()


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_what_nobody_else_changes_is_as_it_was(source: str, tmp_path: Path):
    with pytest.raises(RuntimeError, match="expects a non-empty"):
        exec(compile(HEAD + source, "program.py", "exec"), {})
    (error,) = followed(source, tmp_path).errors
    assert error.message.startswith("stack: tensors is an empty list")
