"""``simpletorch check --stop``: the daemons of mypy that check the current folder."""

from __future__ import annotations

from simpletorch.cli._config import daemon_file

__all__ = ["stop"]


def stop() -> int:
    """End the current folder's daemons and say how many there were; a daemon that does not answer is killed."""
    from mypy import api

    stopped = 0
    for followed in (True, False):
        status = daemon_file(followed=followed)
        if not status.is_file():
            continue
        _, _, code = api.run_dmypy(["--status-file", str(status), "stop"])
        if code:
            _, _, code = api.run_dmypy(["--status-file", str(status), "kill"])
        stopped += code == 0
        status.unlink(missing_ok=True)  # of a daemon that has died
    what = {0: "no daemon runs for this folder", 1: "the daemon has stopped"}
    print(what.get(stopped, f"{stopped} daemons have stopped"))
    return 0
