"""examples/serve.py answers: what is right together, and what is wrong by its field. Over ASGI, without a network."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import asynccontextmanager

import httpx
import pytest
import torch

from examples import serve
from simpletorch.errors import ShapeMismatch
from simpletorch.follow import follow

pytestmark = pytest.mark.neighbour("httpx", "fastapi", "uvicorn")

PIXELS = (torch.rand(7, 64, generator=torch.Generator().manual_seed(0)) * 16).tolist()


class Model(serve.Reader):
    """Counts the batches, and computes none before it may."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        super().__init__()
        self.sizes: list[int] = []
        self.may, self.begun = threading.Event(), threading.Event()
        self.may.set()
        self.wrong = False

    def forward(self, image):
        self.sizes.append(len(image))
        self.begun.set()
        assert self.may.wait(30)
        return self.layers(image[:, :-1] if self.wrong else image)


@asynccontextmanager
async def client(model, **options):
    app = serve.application(model, **options)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://server") as found,
    ):
        yield found


def expected(model, rows):
    return model.layers(torch.tensor(rows) / 16).argmax(1).tolist()


def test_a_request_is_answered():
    async def ask():
        model = Model()
        async with client(model, wait=0) as server:
            answer = await server.post("/predict", json={"image": PIXELS})
        assert (answer.status_code, answer.json()) == (200, {"digits": expected(model, PIXELS)})

    asyncio.run(ask())


def test_requests_that_arrive_together_are_computed_together_and_each_gets_its_own():
    async def ask():
        model = Model()
        async with client(model, largest=7, wait=60) as server:  # full long before the minute is over
            parts = [PIXELS[:2], PIXELS[2:5], PIXELS[5:]]
            answers = await asyncio.gather(*[server.post("/predict", json={"image": part}) for part in parts])
        assert [answer.json()["digits"] for answer in answers] == [expected(model, part) for part in parts]
        assert model.sizes == [7]

    asyncio.run(ask())


def test_no_batch_has_more_rows_than_are_computed_at_once():
    async def ask():
        model = Model()
        async with client(model, largest=7, wait=0.2) as server:
            parts = [PIXELS[:5], PIXELS[:3], PIXELS[3:]]
            answers = await asyncio.gather(*[server.post("/predict", json={"image": part}) for part in parts])
        assert [answer.json()["digits"] for answer in answers] == [expected(model, part) for part in parts]
        assert sorted(model.sizes) == [5, 7]

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            {"image": [[0.0] * 63] * 2},
            {
                "field": "image", "reason": "dim 1 of image is 63, not 64",
                "expected": "Float32[B, 64]", "got": "Float32[2, 63]",
            },
        ),
        (
            {"image": [0.0] * 64},
            {"field": "image", "reason": "image has 1 dim, not 2", "expected": "Float32[B, 64]", "got": "Float32[64]"},
        ),
        ({"images": []}, {"field": "image", "reason": "the request has no field image", "expected": "Float32[B, 64]"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_its_field_and_reaches_nobody_else(body, error):
    async def ask():
        model = Model()
        async with client(model, wait=0) as server:
            wrong, right = await asyncio.gather(
                server.post("/predict", json=body), server.post("/predict", json={"image": PIXELS})
            )
        assert (wrong.status_code, wrong.json()) == (422, {"error": error})
        assert right.json() == {"digits": expected(model, PIXELS)}

    asyncio.run(ask())


@pytest.fixture
def usual_depth():
    """Python's own limit of calls in calls, which a library that another test has imported may have raised."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("usual_depth")
@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        ({"json": {"image": [[0.0] * 64, [0.0]]}}, 422, "image is no table of numbers"),
        ({"json": {"image": "digits"}}, 422, "image is no table of numbers"),
        ({"json": {"image": [[None] * 64]}}, 422, "image is no table of numbers"),
        ({"content": b'{"image": [[%s]]}' % (b"1" * 400)}, 422, "too large to convert to float"),
        ({"content": b'{"image": [[%s]]}' % (b"1" * 5000)}, 422, "the request is no JSON: Exceeds the limit"),
        ({"content": b'{"image": [[1e999, NaN]]}'}, 422, "image has numbers that aren't finite"),
        ({"content": b"[" * 7000 + b"]" * 7000}, 422, "the request is no JSON: maximum recursion depth"),
        ({"content": b"\xff\xfe\x00{"}, 422, "the request is no JSON"),
        ({"content": b""}, 422, "the request is no JSON: Expecting value"),
        ({"content": b"{"}, 422, "the request is no JSON: Expecting property name"),
        ({"json": {"image": [[0.0] * 64] * 8}}, 413, "image has 8 rows, and 1 to 7 are read at once"),
    ],
)
def test_what_is_no_request_is_refused(sent, status, reason):
    async def ask():
        async with client(Model(), largest=7, wait=0) as server:
            answer = await server.post("/predict", **sent)
        assert answer.status_code == status
        assert answer.json()["error"]["field"] == "image"
        assert reason in answer.json()["error"]["reason"]

    asyncio.run(ask())


def test_a_request_without_end_is_not_read_to_its_end():
    async def ask():
        given = 0

        async def parts():
            nonlocal given
            while given < 1000:
                given += 1
                yield b"[" * 10_000

        async with client(Model(), largest=7, wait=0) as server:
            answer = await server.post("/predict", content=parts())
        assert (answer.status_code, answer.json()) == (
            413, {"error": {"reason": "the request is longer than that of 7 rows"}},
        )  # fmt: skip
        assert given == 2

    asyncio.run(ask())


def test_more_than_may_wait_are_sent_away():
    async def ask():
        model = Model()
        model.may.clear()
        async with client(model, wait=0, limit=7) as server:
            first = asyncio.create_task(server.post("/predict", json={"image": PIXELS[:5]}))
            await asyncio.to_thread(model.begun.wait, 30)
            busy = await server.post("/predict", json={"image": PIXELS[:3]})
            assert (busy.status_code, busy.headers["Retry-After"]) == (503, "1")
            assert busy.json() == {"error": {"reason": "5 rows wait, and 7 may"}}
            model.may.set()
            assert (await first).json() == {"digits": expected(model, PIXELS[:5])}
            assert (await server.post("/predict", json={"image": PIXELS[:3]})).status_code == 200

    asyncio.run(ask())


def test_an_error_of_the_model_reaches_who_asked_and_the_next_batch_is_computed():
    async def ask():
        model = Model()
        async with client(model, wait=0) as server:
            model.wrong = True
            failed = await server.post("/predict", json={"image": PIXELS})
            assert failed.status_code == 500
            assert "63" in failed.json()["error"]["reason"]
            model.wrong = False
            assert (await server.post("/predict", json={"image": PIXELS})).status_code == 200

    asyncio.run(ask())


def test_who_leaves_takes_no_one_with_them():
    async def ask():
        batcher = serve.Batcher(lambda rows: rows, largest=5, wait=60)
        running = asyncio.create_task(batcher.run())
        gone = asyncio.create_task(batcher(torch.zeros(2, 64)))
        await asyncio.sleep(0)
        gone.cancel()
        assert (await batcher(torch.ones(3, 64))).tolist() == torch.ones(3, 64).tolist()
        assert batcher.waiting == 0
        running.cancel()

    asyncio.run(ask())


def test_nothing_is_found_in_the_example():
    found = follow(serve.__file__)
    assert [finding.lines() for finding in (*found.errors, *found.warnings, *found.remarks)] == []


def test_a_request_is_checked_before_it_is_put_together_with_others():
    with pytest.raises(ShapeMismatch, match="dim 1 of image is 63, not 64"):
        serve.accept(torch.zeros(2, 63))


@pytest.mark.slow
def test_the_model_that_it_trains_reads_digits():
    from simpletorch.data import Digits

    model, test = serve.trained(), Digits(train=False)
    right = sum(model(image.view(1, 64)).argmax() == target for image, target in (test[i] for i in range(len(test))))
    assert right / len(test) > 0.9
