"""Messages between processes that train together, so that a failed collective can name the missing ones.

Nothing here is asked while all is well, except once, when they meet. They go through the store of the rendezvous,
which outlives a process if torchrun's agent holds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import sys
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch.distributed as dist

from simpletorch._distribution import NAME, version_of

PATIENCE: Final = 5.0
"""Seconds that a process whose collective failed waits for what the others say of theirs."""

WITHOUT_A_WORD: Final = "has ended without an error of its own"


@dataclass(frozen=True)
class Peer:
    """One process: where it runs, and of what."""

    host: str
    pid: int
    versions: dict[str, str]

    def has_ended(self) -> bool:
        """Whether it surely runs no more; of another machine's that is never known."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
            # the third field, after a name that may have anything in it; Z: dead, and not yet noticed by its parent
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except ProcessLookupError:
            return True
        except OSError:  # another user's, or a system without /proc
            return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True)
class Peers:
    """All processes, by rank; this one is ``rank``."""

    store: Any
    rank: int
    all: tuple[Peer, ...]


_met: Peers | None = None
doing: str | None = None
"""The collective that failed, while its error is made."""


def versions() -> dict[str, str]:
    """The versions that must be equal everywhere."""
    import torch

    own = version_of(NAME) or "unknown"
    return {"Python": platform.python_version(), "torch": str(torch.__version__), "simpletorch": own}


def fresh(store: Any, rank: int, size: int, timeout: float) -> Any:
    """A part of ``store`` in which nothing is written yet, the same for all; all call it.

    torchrun's agent keeps its store when it starts the processes anew, with the addresses of those that have ended:
    now and then a group of gloo's would connect to them. So every process shows a fresh random number, and rank 0
    answers under that number until it has seen that the answer came. Numbers left over from earlier processes are
    answered too, but these answers are never read.

    Raises:
        RuntimeError: a process did not come in time.
    """
    number = uuid.uuid4().hex
    if rank:
        store.set(f"simpletorch/number/{rank}", number)
        token = store.get(f"simpletorch/answer/{number}").decode()
        store.set(f"simpletorch/heard/{token}/{rank}", "")
    else:
        token, missing, until = number, set(range(1, size)), time.monotonic() + timeout
        while missing:
            for other in sorted(missing):
                if store.check([f"simpletorch/heard/{token}/{other}"]):
                    missing.discard(other)
                elif store.check([f"simpletorch/number/{other}"]):
                    theirs = store.get(f"simpletorch/number/{other}").decode()
                    store.set(f"simpletorch/answer/{theirs}", token)
            if missing and time.monotonic() > until:
                joined = size - len(missing)
                # in torch's words, which are explained in one place
                raise RuntimeError(
                    f"Timed out after {timeout:g} seconds waiting for clients. {joined}/{size} clients joined"
                )
            time.sleep(0.005 if missing else 0)
    return dist.PrefixStore(token, store)  # type: ignore[attr-defined]  # public, but not in __all__


def meet(store: Any, rank: int, size: int) -> list[str]:
    """Tell each other who takes part; gives a line for each version that is not the one of rank 0. All call it."""
    global _met
    own = dist.PrefixStore("simpletorch", store)  # type: ignore[attr-defined]
    own.set(f"peer/{rank}", json.dumps(asdict(Peer(socket.gethostname(), os.getpid(), versions()))))
    if rank == 0:  # one asks all, and all ask one
        own.set("peers", json.dumps([json.loads(own.get(f"peer/{other}")) for other in range(size)]))
    peers = tuple(Peer(**each) for each in json.loads(own.get("peers")))
    _met = Peers(own, rank, peers)
    first = peers[0].versions
    return [
        f"rank {number} ({peer}) has {name} {peer.versions[name]}, rank 0 has {first[name]}"
        for number, peer in enumerate(peers)
        for name in first
        if peer.versions[name] != first[name]
    ]


def leave() -> None:
    """Say why this process ends; the others may be waiting for it."""
    if _met is None:
        return
    error = getattr(sys, "last_value", None)
    words = "ended without an error: did it have fewer batches, or call fewer collectives?"
    if error is not None:
        first_line = str(error).partition("\n")[0]
        words = f"ended by {type(error).__name__}: {first_line}"
    with contextlib.suppress(RuntimeError):  # the store's: its process has ended, so the others can't be told
        _met.store.set(f"last/{_met.rank}", words)
        if not _met.store.check([f"end/{_met.rank}"]):  # else it waited for others itself, who are to blame
            _met.store.set(f"end/{_met.rank}", words)


def ended() -> str:
    """Which of the other processes have ended, as far as that is known at once."""
    if _met is None:
        return ""
    said = {rank: _last_word(_met, rank) for rank in range(len(_met.all)) if rank != _met.rank}
    gone = {rank: words for rank, words in said.items() if words}
    gone |= {rank: _gone(_met.all[rank]) for rank in said if rank not in gone and _met.all[rank].has_ended()}
    return "; ".join(f"rank {rank} {words}" for rank, words in sorted(gone.items())[:8])


def _last_word(met: Peers, rank: int) -> str:
    """A process's last status; "" if none or the store is unreachable."""
    try:
        return str(met.store.get(f"last/{rank}").decode()) if met.store.check([f"last/{rank}"]) else ""
    except RuntimeError:
        return ""


def _gone(peer: Peer) -> str:
    return f"({peer}) {WITHOUT_A_WORD}: was it killed?"


def on_the_others(operation: str | None = None) -> str:
    """The state of the other processes after a collective of this one failed; "" if there are none.

    Waits until each has said what it was doing, until one has ended, or for `PATIENCE`.
    """
    if _met is None:
        return ""
    try:
        return _accusation(_met, doing or operation or "a collective")
    except RuntimeError:  # torch's, of the store
        holder = _met.all[0]
        ended = "has ended" if holder.has_ended() else "can't be reached"
        return "" if _met.rank == 0 else f"rank 0 ({holder}), which held what ranks say to each other, {ended}"


def _accusation(met: Peers, own: str) -> str:
    if not met.store.check([f"end/{met.rank}"]):
        met.store.set(f"end/{met.rank}", f"was in {own}")
    others = {rank: peer for rank, peer in enumerate(met.all) if rank != met.rank}
    said: dict[int, str] = {}
    until = time.monotonic() + PATIENCE
    while len(said) < len(others):
        for rank, peer in others.items():
            if rank not in said and met.store.check([f"end/{rank}"]):
                said[rank] = met.store.get(f"end/{rank}").decode()
            elif rank not in said and peer.has_ended():
                said[rank] = _gone(peer)
        if time.monotonic() > until or any("ended" in words for words in said.values()):
            break
        time.sleep(0.05)
    silent = {r: f"({p}) hangs, or works on something else" for r, p in others.items() if r not in said}
    culprits = {r: words for r, words in said.items() if "ended" in words} or silent or said
    shown = [f"rank {rank} {words}" for rank, words in sorted(culprits.items())[:8]]
    more = len(culprits) - len(shown)
    return "; ".join([*shown, *([f"so do {more} more"] if more else [])])
