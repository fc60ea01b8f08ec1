"""Libraries that change nothing of what they are given: calls of theirs leave their arguments as they are."""

from __future__ import annotations

import sys
from typing import Final

__all__ = ["OF_ARRAYS", "OF_NUMBERS", "is_harmless", "is_without_tensors"]

OF_ARRAYS: Final = frozenset({".cm", ".colormaps", ".imread"})
"""Matplotlib's members that give arrays all the same."""
OF_NUMBERS: Final = (
    *(".device", ".dim", ".dtype", ".is_cuda", ".item", ".nbytes", ".ndim", ".nelement", ".numel", ".requires_grad"),
    *(".shape", ".size", ".tolist"),
)
"""Members that give no tensor, of a tensor, of an array and of whatever imitates them."""

# Those that draw, write and show; what they give is neither a tensor nor an array.
_SHOWING: Final = frozenset(
    [
        "IPython",
        "bokeh",
        "colorama",
        "coloredlogs",
        "colorlog",
        "comet_ml",
        "dotenv",
        "gdown",
        "hbconfig",
        "loguru",
        "matplotlib",
        "neptune",
        "openpyxl",
        "plotly",
        "prettytable",
        "psutil",
        "pynvml",
        "requests",
        "rich",
        "seaborn",
        "setproctitle",
        "simplejson",
        "swanlab",
        "tabulate",
        "tensorboard",
        "tensorboardX",
        "tensorboard_logger",
        "termcolor",
        "toml",
        "torchinfo",
        "torchsummary",
        "tqdm",
        "ujson",
        "visdom",
        "wandb",
        "yaml",
    ]
)
_TOOLS: Final = _SHOWING | frozenset(
    [
        "PIL",
        "albumentations",
        "cv2",
        "h5py",
        "huggingface_hub",
        "imageio",
        "mlflow",
        "nltk",
        "numpy",
        "pandas",
        "scipy",
        "sentencepiece",
        "skimage",
        "sklearn",
        "soundfile",
        "tiktoken",
        "tokenizers",
    ]
)
_TOOLS_OF_TORCH: Final = (
    *("torch.utils.tensorboard", "torch.profiler", "torch.utils.benchmark"),
    *("pytorch_lightning.loggers", "pytorch_lightning.profilers", "lightning.pytorch.loggers"),
)
# Of Python's own: those that call what they are given, make objects of the program's classes, or change a list.
_CALLING: Final = frozenset(
    [
        "_thread",
        "array",
        "asyncio",
        "atexit",
        "bisect",
        "builtins",
        "code",
        "codeop",
        "concurrent",
        "contextvars",
        "copy",
        "copyreg",
        "ctypes",
        "functools",
        "heapq",
        "importlib",
        "marshal",
        "multiprocessing",
        "operator",
        "pickle",
        "queue",
        "random",
        "runpy",
        "sched",
        "shelve",
        "signal",
        "threading",
        "timeit",
        "trace",
        "types",
        "unittest",
        "weakref",
    ]
)
_STANDARD: Final = sys.stdlib_module_names - _CALLING
# Of these: those that give back what they are given, or what it holds.
_HOLDING: Final = frozenset(
    [
        "ast",
        "collections",
        "contextlib",
        "dataclasses",
        "enum",
        "gc",
        "graphlib",
        "inspect",
        "itertools",
        "sys",
        "typing",
    ]
)
_WITHOUT_TENSORS: Final = _SHOWING | (_STANDARD - _HOLDING) | {"timeit"}


def is_harmless(name: str) -> bool:
    """Whether what has this dotted name leaves its arguments as they are."""
    first = name.partition(".")[0]
    return first in _STANDARD or first in _TOOLS or name.startswith(_TOOLS_OF_TORCH)


def is_without_tensors(name: str) -> bool:
    """Whether what has this dotted name makes neither tensors nor arrays."""
    return name.partition(".")[0] in _WITHOUT_TENSORS or name.startswith(_TOOLS_OF_TORCH)
