"""``simpletorch summary``: a model's modules in a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from simpletorch.cli._following.progress import Progress
from simpletorch.cli._target import Failed, NotFound, built, said

__all__ = ["summary"]


def summary(
    target: str,
    inputs: Sequence[str],
    *,
    depth: int | None = None,
    as_html: bool = False,
    as_types: bool = False,
) -> int:
    """Print the summary of the model that ``target`` names; 1 if it can't be built or called, 2 if it isn't found."""
    try:
        print(_shown(target, inputs, depth, as_html, as_types))
    except NotFound as error:
        print(f"simpletorch summary: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        print(f"simpletorch summary: {target}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _shown(target: str, inputs: Sequence[str], depth: int | None, as_html: bool, as_types: bool) -> str:
    model = built(target)
    from simpletorch import nn

    try:
        if as_types:
            return nn.typed_repr(model)
        with Progress(name=f"running {target} on shapes"):
            table = nn.summary(model, *inputs)
    except Exception as error:
        raise Failed(said(error)) from error
    return table.html(depth) if as_html else table.text(depth)
