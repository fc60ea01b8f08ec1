"""A server that reads handwritten digits: requests that arrive together are computed together.

`pip install 'simpletorch-typed[serve]'`, then `python examples/serve.py` trains for a few seconds and listens at
http://127.0.0.1:8000.

``POST /predict`` takes ``{"image": [[0.0, …, 16.0], …]}``, rows of 64 numbers, and gives ``{"digits": [3, …]}``. What a
request must be is the annotation of `accept`, and what is wrong with one is said by its fields::

    {"error": {"field": "image", "reason": "dim 1 of image is 63, not 64",
               "expected": "Float32[B, 64]", "got": "Float32[2, 63]"}}

It is 422 for what is no such request, 413 for more rows than are computed at once, which are not even read to their
end, and 503 where too many wait already:
who asks then shall ask again later, since waiting would only make it later for all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

import torch

from simpletorch import Float32, Int64, Tensor, TorchError, checked, nn
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.errors import Operand
from simpletorch.optim import AdamW
from simpletorch.train import Trainer

ROW: Final = 64 * 32  # bytes that the text of a row may take
Waiting: TypeAlias = tuple[torch.Tensor, "asyncio.Future[torch.Tensor]"]


class Reader(nn.Module):
    """Scores of the ten digits for rows of 8 × 8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, image: Tensor[Float32, B, 64]) -> Tensor[Float32, B, 10]:
        """From pixels between 0 and 1."""
        return self.layers(image)


@checked
def accept(image: Tensor[Float32, B, 64]) -> Tensor[Float32, B, 64]:
    """What a request must be; checked before it is put together with others, so that nobody else's fails with it."""
    return image / 16


class BusyError(Exception):
    """So many rows wait that another one would wait too long."""


class Batcher:
    """Computes requests together that arrive within some milliseconds.

    The first request opens a batch, which is computed once it has ``largest`` rows, the next request has too many, or
    ``wait`` seconds are over; while it is computed the next ones gather. Each gets its own rows back, and an error of
    the model reaches all of its batch.

    Args:
        compute: from rows to as many rows; it runs in a thread.
        largest: rows that are computed at once; no request has more.
        wait: seconds that the first request waits for others.
        limit: rows that may wait; more are refused with `BusyError`.
    """

    def __init__(
        self,
        compute: Callable[[Tensor[Float32, B, 64]], torch.Tensor],
        *,
        largest: int = 64,
        wait: float = 0.005,
        limit: int = 512,
    ) -> None:
        self.compute, self.largest, self.wait, self.limit = compute, largest, wait, limit
        self.waiting = 0
        self._requests: asyncio.Queue[Waiting] = asyncio.Queue()
        self._first: Waiting | None = None  # what had no room in the last batch

    async def __call__(self, rows: Tensor[Float32, B, 64]) -> torch.Tensor:
        """The results for these rows.

        Raises:
            BusyError: too many rows wait.
        """
        if self.waiting + len(rows) > self.limit:
            raise BusyError(f"{self.waiting} rows wait, and {self.limit} may")
        result: asyncio.Future[torch.Tensor] = asyncio.get_running_loop().create_future()
        self.waiting += len(rows)
        try:
            self._requests.put_nowait((rows, result))
            return await result
        finally:
            self.waiting -= len(rows)

    async def run(self) -> None:
        """Compute batch after batch, until it is cancelled."""
        while True:
            batch = await self._gathered()
            try:
                found = await asyncio.to_thread(self._computed, [rows for rows, _ in batch])
            except Exception as error:  # it belongs to whoever asked, and the next batch may be better
                for _, result in batch:
                    if not result.done():  # who asked may have gone
                        result.set_exception(error)
                continue
            for (_, result), rows in zip(batch, found, strict=True):
                if not result.done():
                    result.set_result(rows)

    async def _gathered(self) -> list[Waiting]:
        """The requests of one batch."""
        batch, self._first = [self._first or await self._requests.get()], None
        count = len(batch[0][0])
        try:
            async with asyncio.timeout(self.wait):
                while count < self.largest and self._first is None:
                    request = await self._requests.get()
                    count += len(request[0])
                    if count > self.largest:
                        self._first = request
                    else:
                        batch.append(request)
        except TimeoutError:
            pass  # those that came
        return batch

    def _computed(self, parts: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        with torch.inference_mode():
            return self.compute(torch.cat(parts)).split([len(rows) for rows in parts])


def shown(operand: Operand) -> str:
    """What was given: ``Float32[2, 63]``."""
    if operand.shape is None:
        return operand.text
    return f"{operand.dtype}[{', '.join(map(str, operand.shape))}]"


def explained(error: TorchError) -> dict[str, Any]:
    """What is wrong with a request, as the answer says it."""
    wrong = next((operand for operand in error.operands if operand.should_be is not None), None)
    fields = {} if wrong is None else {"field": wrong.name, "expected": wrong.should_be, "got": shown(wrong)}
    return {"error": {**fields, "reason": error.reason}}


def read(text: bytes) -> torch.Tensor:
    """The tensor of a request.

    Raises:
        ValueError: there is none.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:  # the latter of brackets in brackets, thousands of them
        raise ValueError(f"the request is no JSON: {error}") from error
    if not isinstance(body, dict) or "image" not in body:
        raise ValueError("the request has no field image")
    try:
        found = torch.tensor(body["image"], dtype=torch.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"image is no table of numbers: {error}") from error
    if not found.isfinite().all():  # Python reads NaN as JSON, and 1e999 is JSON
        raise ValueError("image has numbers that aren't finite")
    return found


async def received(parts: AsyncIterator[bytes], limit: int) -> bytes | None:
    """The text of a request; None if it is longer than ``limit`` bytes, of which no more are kept."""
    text = bytearray()
    async for part in parts:
        text += part
        if len(text) > limit:
            return None
    return bytes(text)


def application(model: nn.Module, **options: Any) -> Any:
    """The server; ``options`` are those of `Batcher`."""
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

    def digits(rows: Tensor[Float32, B, 64]) -> Tensor[Int64, B]:
        found: torch.Tensor = model(rows)
        return found.argmax(1)

    batcher = Batcher(digits, **options)

    async def predict(request: Request) -> JSONResponse:
        text = await received(request.stream(), batcher.largest * ROW + ROW)
        if text is None:
            reason = f"the request is longer than that of {batcher.largest} rows"
            return JSONResponse({"error": {"reason": reason}}, 413)
        try:
            image = accept(read(text))
        except TorchError as error:
            return JSONResponse(explained(error), 422)
        except ValueError as error:
            wrong = {"field": "image", "expected": "Float32[B, 64]", "reason": str(error)}
            return JSONResponse({"error": wrong}, 422)
        if not 0 < len(image) <= batcher.largest:
            reason = f"image has {len(image)} rows, and 1 to {batcher.largest} are read at once"
            return JSONResponse({"error": {"field": "image", "reason": reason}}, 413)
        try:
            found = await batcher(image)
        except BusyError as error:
            return JSONResponse({"error": {"reason": str(error)}}, 503, {"Retry-After": "1"})
        except TorchError as error:
            return JSONResponse({"error": {"reason": error.reason}}, 500)
        return JSONResponse({"digits": found.tolist()})

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None, None]:
        running = asyncio.create_task(batcher.run())
        yield
        running.cancel()

    # under `from __future__ import annotations` FastAPI looks the names up, which are this function's
    predict.__annotations__ = {"request": Request}
    app = FastAPI(lifespan=life)
    app.add_api_route("/predict", predict, methods=["POST"], response_class=JSONResponse, response_model=None)
    return app


def trained() -> Reader:
    """A model that reads digits, after a few seconds."""
    model = Reader()
    rows = nn.Sequential(nn.Flatten(), model)
    trainer = Trainer(loss=nn.functional.cross_entropy, optimizer=AdamW(model.parameters(), lr=0.005))
    trainer.fit(rows, DataLoader(Digits(), 64, shuffle=True), epochs=5)
    return model.eval()


def main() -> None:
    """Listen."""
    import uvicorn

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    uvicorn.run(application(trained()), port=parser.parse_args().port)


if __name__ == "__main__":
    main()
