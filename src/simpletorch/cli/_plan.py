"""``simpletorch plan``: what a training takes on each rank of a mesh."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from simpletorch.cli._following.progress import Progress
from simpletorch.cli._target import Failed, NotFound, arguments, built, said

if TYPE_CHECKING:
    import torch

__all__ = ["plan"]


def plan(given: Namespace) -> int:
    """Print the plan; 0 if it fits, 1 if it doesn't or the model can't be built or called, 2 for a wrong argument."""
    try:
        found = _found(given)
    except NotFound as error:
        return _refused(given, f"simpletorch plan: {error}", 2)
    except Failed as error:
        return _refused(given, f"simpletorch plan: {given.model}: {error}", 1)
    try:
        print(json.dumps(found.as_dict(), indent=2) if given.output == "json" else found)
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if found.fits else 1


def _refused(given: Namespace, message: str, code: int) -> int:
    if given.output == "json":
        print(json.dumps({"error": message}))
    else:
        print(message, file=sys.stderr)
    return code


def _found(given: Namespace) -> Any:
    name, _, options = given.optimizer.partition("(")
    positional, keywords = arguments(options.removesuffix(")"))
    if positional:
        raise NotFound(f"{given.optimizer!r}: write an optimizer's arguments by name, 'sgd(momentum=0.9)'")
    sizes = dict(map(_size, given.size))
    model = built(given.model)
    from simpletorch.distributed import plan as planned
    from simpletorch.errors import TypeMismatch

    try:
        with Progress(name=f"running a step of {given.model} on shapes"):
            return planned(
                model,
                *given.input,
                mesh=given.mesh,
                parallel=given.parallel,
                precision=given.precision,
                optimizer=name,
                optimizer_options=keywords,
                batch=given.batch,
                sizes=sizes,
                recompute=given.recompute,
                loss=_cross_entropy if given.loss else None,
                room=given.memory * 1e9,
            )
    except TypeMismatch as error:
        raise Failed(said(error)) from error
    except ValueError as error:  # an argument that can't be
        raise NotFound(said(error).removeprefix("ValueError: ")) from error
    except Exception as error:
        raise Failed(said(error)) from error


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not number.isdecimal():
        raise NotFound(f"--size {text}: write a size by its name, --size T=2048")
    return name, int(number)


def _cross_entropy(output: Any) -> torch.Tensor:
    """Of scores in the last dim, as language models and classifiers of whole images have them."""
    import torch

    scores = output if isinstance(output, torch.Tensor) else output[0]
    scores = scores.flatten(0, -2)
    return torch.nn.functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.int64))
