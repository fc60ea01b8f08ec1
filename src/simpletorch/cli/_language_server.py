"""``simpletorch language-server``: what an editor starts."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from simpletorch._distribution import installing

__all__ = ["language_server"]


def language_server() -> int:
    """Serve one editor; 2 if the packages are missing that this takes."""
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        print(
            f"simpletorch language-server: the package pygls is not installed: {installing('language-server')}",
            file=sys.stderr,
        )
        return 2
    from simpletorch.language_server.server import serve

    return serve()
