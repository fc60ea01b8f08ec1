"""Objects in processes of their own, by Ray: `spawn` starts them, `Actor.ask` calls a method and gives a `Pending`.

::

    class Player:
        def __init__(self, seed: int) -> None: ...
        def play(self, weights: Weights, games: int) -> Games: ...

    with actors.spawn(partial(Player, seed=7), 2) as players:
        shared = actors.share(weights)                          # one copy, which all of a machine read
        games = [player.ask(Player.play, shared, 200) for player in players]
        first = games[0].wait()                                     # or: await games[0]

The method is given as ``Player.play``, so its arguments and its result have types for every checker. Ray starts the
processes, carries the values and restarts actors that died; without Ray the error says how to install it. Those that
one `spawn` starts are a group of `torch.distributed`: `distributed.rank` and `distributed.all_reduce` work in their
methods.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, overload

import torch
import torch.distributed as dist

from simpletorch._tensors import map_tensors
from simpletorch.distributed._ray import library, start
from simpletorch.errors import TorchError, as_also

__all__ = ["Actor", "Actors", "Pending", "share", "spawn"]

W = TypeVar("W")
T = TypeVar("T")
P = ParamSpec("P")

_TIMEOUT: Final = 600.0
_API: Final[Any] = dist  # whose stubs lack its stores


class Pending(Generic[T]):
    """A result that an actor is computing: ``await`` it, or `wait` for it.

    Args:
        answer: Ray's reference to the result.
        actor: the name of the actor.
        method: the method that was called.
    """

    def __init__(self, answer: Any, actor: str, method: str) -> None:
        self._answer, self._actor, self._method = answer, actor, method

    def wait(self, timeout: float | None = None) -> T:
        """The result, once it is there.

        Args:
            timeout: the most seconds to wait; None is without an end.

        Raises:
            TorchError: the method raised, which the error is an instance of too, or the actor has died.
            TimeoutError: it takes longer; it is a `TorchError` too.
        """
        try:
            return cast(T, library().get(self._answer, timeout=timeout))
        except library("ray.exceptions").GetTimeoutError as error:
            message = f"{self._actor}: {self._method} hasn't answered within {timeout} s"
            raise as_also(TorchError, TimeoutError)(message) from error
        except Exception as error:
            raise self._explained(error) from error

    def __await__(self) -> Generator[Any, None, T]:
        return self._result().__await__()

    async def _result(self) -> T:
        try:
            return cast(T, await self._answer)
        except Exception as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> Exception:
        errors = library("ray.exceptions")
        if isinstance(error, errors.RayTaskError):
            cause = error.cause
            return as_also(TorchError, type(cause))(f"{self._actor}: {self._method}: {cause}", hint=_hint_of(cause))
        if isinstance(error, errors.RayActorError):
            return TorchError(
                f"{self._actor} has died, before or while it was asked to {self._method}",
                hint="with spawn(restarts=1) Ray starts it anew: join() waits for it; then give it its state again",
            )
        return error


def _hint_of(error: BaseException) -> str | None:
    return error.hint if isinstance(error, TorchError) else None


class Actor(Generic[W]):
    """An object of class ``W`` in a process of its own; it may be sent to other actors. `spawn` makes it.

    Args:
        handle: Ray's handle.
        name: how errors call it.
        rank: its number among those that were started together, from 0.
    """

    def __init__(self, handle: Any, name: str, rank: int) -> None:
        self._handle, self.name, self.rank = handle, name, rank

    @overload
    def ask(
        self, method: Callable[Concatenate[W, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Pending[T]: ...
    @overload
    def ask(self, method: Callable[Concatenate[W, P], T], *args: P.args, **kwargs: P.kwargs) -> Pending[T]: ...
    def ask(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Pending[Any]:
        """Call a method, without waiting for its result: ``worker.ask(Worker.train, batch)``.

        Args:
            method: of the class, as ``Worker.train``.
            args, kwargs: its arguments; tensors are copied, those of `share` aren't.

        Returns:
            The result, which `Pending.wait` waits for.
        """
        name = method.__name__
        return self._ask("call", name, args, kwargs, method=name)

    def stop(self) -> None:
        """End the process at once."""
        library().kill(self._handle)

    def _ask(self, name: str, *args: Any, method: str) -> Pending[Any]:
        return Pending(getattr(self._handle, name).remote(*args), self.name, method)

    def _is_made(self) -> Pending[None]:
        """Waits while Ray starts the actor, for the first time or again."""
        return Pending(self._handle.made.options(max_task_retries=-1).remote(), self.name, "be made")

    def __repr__(self) -> str:
        return f"Actor({self.name})"


class Actors(Sequence[Actor[W]]):
    """Actors that were started together, by rank. At the end of a ``with`` block they are stopped.

    Args:
        actors: the actors.
        timeout: seconds that one waits for the others in a collective.
    """

    def __init__(self, actors: Iterable[Actor[W]], timeout: float) -> None:
        self._actors, self._timeout = tuple(actors), timeout

    @overload
    def __getitem__(self, index: int) -> Actor[W]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Actor[W], ...]: ...
    def __getitem__(self, index: int | slice) -> Actor[W] | tuple[Actor[W], ...]:
        return self._actors[index]

    def __len__(self) -> int:
        return len(self._actors)

    def __iter__(self) -> Iterator[Actor[W]]:
        return iter(self._actors)

    def __enter__(self) -> Actors[W]:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def join(self) -> None:
        """Make a group of them for collectives, once all are there; `spawn` has done so, a restart needs it anew.

        Raises:
            TorchError: one of them has died, and isn't started again.
        """
        for answer in [actor._is_made() for actor in self]:
            answer.wait()
        host, port = self[0]._ask("serve", len(self), self._timeout, method="make a group").wait()
        joining = [
            actor._ask("join", actor.rank, len(self), host, port, self._timeout, method="join the group")
            for actor in self
        ]
        for each in joining:
            each.wait()

    def stop(self) -> None:
        """End all processes at once."""
        for actor in self:
            actor.stop()


class _Shared:
    """A tensor in Ray's shared memory."""

    def __init__(self, tensor: torch.Tensor) -> None:
        plain = tensor.detach().cpu().contiguous()
        self.dtype, self.shape = plain.dtype, plain.shape
        self.reference = library().put(plain.view(torch.uint8).numpy() if plain.dim() else plain.item())

    def tensor(self) -> torch.Tensor:
        """The tensor, which reads the shared memory."""
        held = library().get(self.reference)
        if not self.shape:
            return torch.tensor(held, dtype=self.dtype)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            return torch.from_numpy(held).view(self.dtype)


def share(value: T) -> T:
    """Put tensors into Ray's shared memory once, to give them to many actors without a copy for each.

    Actors of one machine read the same memory, which they must not write to. It is freed when the last that knows it
    is gone. Ray copies small tensors (below 100 KB).

    Args:
        value: a tensor, or a tuple, list or dict of tensors such as a state dict; their graphs are left out.

    Returns:
        What stands for it as an argument of `Actor.ask`, and is none by itself; the method gets the tensors.

    Raises:
        ImportError: Ray is not installed; it is a `TorchError` too.
    """
    start()
    return cast(T, map_tensors(value, cast(Any, _Shared)))


def _received(value: Any) -> Any:
    """An argument as the method gets it."""
    if isinstance(value, _Shared):
        return value.tensor()
    if type(value) in (list, tuple):
        return type(value)(map(_received, value))
    if isinstance(value, Mapping):
        return {key: _received(item) for key, item in value.items()}
    return value


def spawn(
    make: Callable[[], W],
    count: int = 1,
    *,
    resources: Mapping[str, float] | None = None,
    restarts: int = 0,
    name: str | None = None,
    timeout: float = _TIMEOUT,
) -> Actors[W]:
    """Start ``count`` actors, each with an object that ``make`` makes in its process.

    Args:
        make: a class, or any function without arguments: ``partial(Player, seed=7)``; it is pickled.
        count: how many, 1 or more.
        resources: what each holds of its machine, as ``{"CPU": 1, "GPU": 1}``; by default nothing.
        restarts: how often Ray starts each anew that has died; it is as it was made, without what it had learned.
        name: how errors call them; by default as the class.
        timeout: seconds that one waits for the others in a collective.

    Returns:
        The actors by rank; they are a group for collectives.

    Raises:
        ValueError: ``count`` is below 1; it is a `TorchError` too.
        ImportError: Ray is not installed; it is a `TorchError` too.
        TorchError: ``make`` raised, which the error is an instance of too.

    Source: https://docs.ray.io/en/latest/ray-core/actors.html
    """
    if count < 1:
        raise as_also(TorchError, ValueError)(f"spawn got count={count}: it takes 1 actor or more")
    ray = start(cpus=count)
    own = dict(resources or {})
    made = getattr(make, "func", make)  # of a partial
    host = ray.remote(_AsyncHost if _has_coroutines(made) else _Host).options(
        num_cpus=own.pop("CPU", 0), num_gpus=own.pop("GPU", 0), resources=own, max_restarts=restarts
    )
    called = name or getattr(made, "__name__", type(made).__name__)
    actors = Actors(
        [Actor[W](host.remote(make), f"{called} {rank} of {count}", rank) for rank in range(count)], timeout
    )
    try:
        actors.join()
    except BaseException:
        actors.stop()
        raise
    return actors


def _has_coroutines(made: Any) -> bool:
    return isinstance(made, type) and any(inspect.iscoroutinefunction(value) for value in vars(made).values())


class _Host:
    """The part in the actor's process."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.store: Any = None
        self.error: Exception | None = None
        try:
            self.held = make()
        except Exception as error:  # of an exception in a constructor Ray tells a text alone
            self.error = error

    def made(self) -> None:
        if self.error is not None:
            raise self.error

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = getattr(self.held, method)(*map(_received, args), **_received(kwargs))
        return asyncio.run(_awaited(made)) if inspect.isawaitable(made) else made

    def serve(self, count: int, timeout: float) -> tuple[str, int]:
        """Of the first actor: the address at which the others find it."""
        host = library("ray.util").get_node_ip_address()
        wait = timedelta(seconds=timeout)
        self.store = _API.TCPStore(host, 0, count, is_master=True, wait_for_workers=False, timeout=wait)
        return host, self.store.port

    def join(self, rank: int, count: int, host: str, port: int, timeout: float) -> None:
        """Make a group with the others; one that was there before has lost a member."""
        wait = timedelta(seconds=timeout)
        if dist.is_initialized():
            dist.destroy_process_group()
        own = None if rank else self.store
        store = own or _API.TCPStore(host, port, count, is_master=False, timeout=wait)
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=count, timeout=wait)


class _AsyncHost(_Host):
    """That of a class with coroutines, which take turns where they wait."""

    async def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = await asyncio.to_thread(_received, (args, kwargs))  # which reads Ray's memory
        made = getattr(self.held, method)(*args, **kwargs)
        return await made if inspect.isawaitable(made) else made


async def _awaited(made: Awaitable[T]) -> T:
    return await made
