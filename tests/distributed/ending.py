"""Processes that don't come, and what the others say."""

import sys
import threading

import torch

from simpletorch import distributed

distributed.init(timeout=15)  # a busy machine starts one process seconds after the other
case, other = sys.argv[1], distributed.rank() == 1
if case == "hangs" and other:
    threading.Event().wait(100)
if case == "raises" and other:
    raise KeyError("its own")
distributed.all_reduce(torch.ones(3, 5))
