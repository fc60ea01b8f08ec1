"""The place of a running program: the user's line, and the called module."""

from __future__ import annotations

from types import FrameType

from simpletorch.errors._fields import Place
from simpletorch.errors._module_path import modules_in, path_of
from simpletorch.errors._source import expression, location
from simpletorch.errors._stack import outer_steps, user_step

__all__ = ["module_path_of", "place_of"]


def place_of(frame: FrameType) -> Place:
    """The innermost line of the user's from ``frame`` outwards, and the path of the innermost module."""
    steps = outer_steps(frame)
    step = user_step(steps)
    return Place(
        location=None if step is None else location(step, expression(step)),
        module_path=path_of(modules_in(steps), steps),
    )


def module_path_of(frame: FrameType) -> str | None:
    """The path of the innermost module that is being called around ``frame``."""
    steps = outer_steps(frame)
    return path_of(modules_in(steps), steps)
