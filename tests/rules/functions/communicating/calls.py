"""Collectives with shapes that fit and that don't; two processes say which work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

# name, arguments: a tuple is a tensor of that shape, "long" before it makes it Int64, a list is one of tensors
Case = tuple[str, dict[str, Any]]

CASES: Final[tuple[Case, ...]] = (
    ("all_gather_into_tensor", {"output_tensor": (14, 3), "input_tensor": (7, 3)}),
    ("all_gather_into_tensor", {"output_tensor": (13, 3), "input_tensor": (7, 3)}),
    ("all_gather_into_tensor", {"output_tensor": (21, 3), "input_tensor": (7, 3)}),
    ("all_gather_into_tensor", {"output_tensor": ("long", 14, 3), "input_tensor": (7, 3)}),
    ("reduce_scatter_tensor", {"output": (7, 3), "input": (14, 3)}),
    ("reduce_scatter_tensor", {"output": (5, 3), "input": (14, 3)}),
    ("reduce_scatter_tensor", {"output": (7, 3), "input": (7, 3)}),
    ("all_gather", {"tensor_list": [(7, 3), (7, 3)], "tensor": (7, 3)}),
    ("all_gather", {"tensor_list": [(7, 3), (7, 3), (7, 3)], "tensor": (7, 3)}),
    ("all_gather", {"tensor_list": [(7, 5), (7, 5)], "tensor": (7, 3)}),
    ("all_gather", {"tensor_list": [("long", 7, 3), ("long", 7, 3)], "tensor": (7, 3)}),
    ("gather", {"tensor": (5,), "gather_list": [(5,)], "group_dst": 0}),
    ("gather", {"tensor": (5,), "gather_list": [(5,), (5,)], "group_dst": 0}),
    ("gather", {"tensor": (5,), "gather_list": [(7,)], "group_dst": 0}),
    ("scatter", {"tensor": (5,), "scatter_list": [(5,)], "group_src": 0}),
    ("scatter", {"tensor": (5,), "scatter_list": [(5,), (5,)], "group_src": 0}),
    ("scatter", {"tensor": (5,), "scatter_list": [("long", 5)], "group_src": 0}),
    ("reduce_scatter", {"output": (3,), "input_list": [(3,), (3,)]}),
    ("reduce_scatter", {"output": (3,), "input_list": [(3,)]}),
    ("all_to_all_single", {"output": (6, 5), "input": (6, 5)}),
    ("all_to_all_single", {"output": (7, 5), "input": (7, 5)}),
    ("all_to_all_single", {"output": (6, 5), "input": (6, 7)}),
    (
        "all_to_all_single",
        {"output": (6, 5), "input": (6, 5), "output_split_sizes": [3, 2], "input_split_sizes": [3, 3]},
    ),
    (
        "all_to_all_single",
        {"output": (6, 5), "input": (6, 5), "output_split_sizes": [3, 3], "input_split_sizes": [3, 3]},
    ),
    ("all_to_all_single", {"output": (6, 5), "input": (6, 5), "output_split_sizes": [2, 2, 2]}),
)
ALONE: Final = ("gather", "scatter")
"""Only one process refuses these, and another would wait for it: they are called in a group of one."""


def works(case: Case, group: Any) -> bool:
    """Whether torch does it."""
    import torch
    import torch.distributed as dist

    def made(value: Any) -> Any:
        if isinstance(value, list):
            return [made(v) for v in value]
        if not isinstance(value, tuple):
            return value
        long = value[0] == "long"
        return torch.zeros(value[1:] if long else value, dtype=torch.int64 if long else None)

    name, given = case
    try:
        getattr(dist, name)(**{k: made(v) for k, v in given.items()}, group=group)
    except (RuntimeError, ValueError, TypeError):
        return False
    return True


def both(rank: int, folder: Path) -> None:
    """Write for each case whether it works, as one of two processes."""
    import warnings

    import torch.distributed as dist

    from tests import meeting

    warnings.simplefilter("ignore")  # `reduce_scatter_tensor` has another name now
    meeting.meet(folder / "meeting", rank)
    alone = [dist.new_group([rank]) for rank in range(2)][rank]
    # each case in a group of its own: gloo may raise for the next operation of a group what the last one did wrong
    found = [works(case, alone if case[0] in ALONE else dist.new_group()) for case in CASES]
    if rank == 0:
        (folder / "works.json").write_text(json.dumps(found))
    dist.barrier()
