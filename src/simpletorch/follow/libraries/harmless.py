"""Libraries that change nothing of what they are given: calls of theirs leave their arguments as they are."""

from __future__ import annotations

import sys
from typing import Final

__all__ = ["is_harmless"]

_TOOLS: Final = frozenset(
    [
        "IPython",
        "PIL",
        "albumentations",
        "bokeh",
        "colorama",
        "coloredlogs",
        "colorlog",
        "comet_ml",
        "cv2",
        "dotenv",
        "gdown",
        "h5py",
        "huggingface_hub",
        "imageio",
        "loguru",
        "matplotlib",
        "mlflow",
        "neptune",
        "nltk",
        "numpy",
        "openpyxl",
        "pandas",
        "plotly",
        "prettytable",
        "psutil",
        "pynvml",
        "requests",
        "rich",
        "scipy",
        "seaborn",
        "sentencepiece",
        "setproctitle",
        "simplejson",
        "skimage",
        "sklearn",
        "soundfile",
        "swanlab",
        "tabulate",
        "tensorboard",
        "tensorboardX",
        "tensorboard_logger",
        "termcolor",
        "tiktoken",
        "tokenizers",
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
_TOOLS_OF_TORCH: Final = ("torch.utils.tensorboard", "torch.profiler", "torch.utils.benchmark")
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


def is_harmless(name: str) -> bool:
    """Whether what has this dotted name leaves its arguments as they are."""
    first = name.partition(".")[0]
    return first in _STANDARD or first in _TOOLS or name.startswith(_TOOLS_OF_TORCH)
