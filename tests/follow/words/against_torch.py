"""Programs in texts, and where Python raises in them."""

import contextlib
import io
import traceback
from pathlib import Path

import torch

HEAD = """import collections, dataclasses, enum, math, typing
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""


def programs(text: str) -> list[str]:
    return [HEAD + one.strip() + "\n" for one in text.split("---\n")]


def raises(source: str, path: Path) -> int | None:
    """The line of the program where Python raises."""
    path.write_text(source)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, str(path), "exec"), {"__name__": "__main__"})
    except Exception as error:
        return [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)][-1]
    finally:
        torch.set_default_device(None)  # a program's own switches would hold for the tests behind it
        torch.autograd.set_detect_anomaly(False)
    return None
