"""What the follower knows of libraries: a file each, functions in a table by their dotted names.

A function gets the interpreter, the positional arguments and those by name (`follow.values`), and answers a value.
What a library's class needs is a `Class` that a maker builds once for each follow. A name that no table has is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch import _outside as outside
from simpletorch.follow.values import Cause, Class, Native, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ALIASES",
    "CLASSES",
    "MADE",
    "METHODS",
    "NATIVES",
    "OWN",
    "VALUES",
    "Work",
    "by_name",
    "gives",
    "library_class",
    "load",
    "method",
    "native",
    "source_of",
]

Work = Callable[["Interpreter", tuple[Value, ...], dict[str, Value]], Value]

NATIVES: Final[dict[str, Native]] = {}
VALUES: Final[dict[str, Value]] = {}
"""Constants: ``math.pi``."""
MADE: Final[dict[str, Callable[[Interpreter], Value]]] = {}
"""Values that change, so that each follow has its own: ``sys.argv``."""
METHODS: Final[dict[type | str, dict[str, Work]]] = {}
"""Methods of values that are no objects of the program, by their Python class; the receiver comes first."""
CLASSES: Final[dict[str, Callable[[Callable[[str], Class]], Class]]] = {}
"""Makers of classes; each gets what finds other classes by name."""
OWN: Final[dict[str, Path]] = {}
"""Of simpletorch's names those that are followed in a file of ours: the source itself, or a text that says the same."""
_FOLLOWED: Final = tuple(f"simpletorch.{name}._" for name in ("losses", "transforms", "language.models"))
"""How the dotted names begin of sources of ours that are followed from one to the other."""
ALIASES: Final[dict[str, str]] = {}
"""Other dotted names of the same thing, or of the same package: the longest one counts."""


_FILES: Final = {
    "PIL": "pil",
    "absl": "command_lines",
    "argparse": "python.argparse",
    "ast": "python.evaluation",
    "asyncio": "python.asyncio",
    "click": "command_lines",
    "collections": "python.collections",
    "contextlib": "python.contextlib",
    "copy": "python.copy",
    "dataclasses": "python.dataclasses",
    "enum": "python.enum",
    "fire": "command_lines",
    "functools": "python.functools",
    "heapq": "python.ordering",
    "bisect": "python.ordering",
    "hydra": "configs.hydra",
    "importlib": "python.modules",
    "io": "python.storage",
    "itertools": "python.itertools",
    "jax": "jax",
    "json": "python.text",
    "math": "python.mathematics",
    "multiprocessing": "python.processes",
    "concurrent": "python.processes",
    "configparser": "configs.readers",
    "dotenv": "configs.readers",
    "numpy": "numpy",
    "operator": "python.functools",
    "os": "python.system",
    "pandas": "pandas",
    "pathlib": "python.system",
    "pyarrow": "arrow",
    "datetime": "python.system",
    "glob": "python.system",
    "librosa": "sounds",
    "scipy.io": "sounds",
    "soundfile": "sounds",
    "torchaudio": "sounds",
    "pickle": "python.storage",
    "pytest": "pytest",
    "random": "python.chance",
    "re": "python.patterns",
    "scipy": "scipy",
    "sklearn": "sklearn",
    "simpletorch": "simpletorch",
    "simpletorch.data": "pytorch.torch_data",
    "simpletorch.interop": "pytorch.torch_interop",
    "simpletorch.kernels": "pytorch.shipped_kernels",
    "simpletorch.optim": "pytorch.torch_optim",
    "simpletorch.vision": "pytorch.vision_models",
    "safetensors": "python.storage",
    "shutil": "python.storage",
    "statistics": "python.mathematics",
    "string": "python.text",
    "subprocess": "python.storage",
    "sys": "python.system",
    "tempfile": "python.storage",
    "time": "python.system",
    "simpletorch.distributed": "pytorch.torch_distributed",
    "torch.distributed": "pytorch.torch_distributed",
    "torch.multiprocessing": "python.processes",
    "torch.distributions": "pytorch.torch_distributions",
    "torch.optim": "pytorch.torch_optim",
    "torch.utils": "pytorch.torch_data",
    "torchvision": "pytorch.torchvision_datasets",
    "torchvision.models": "pytorch.torchvision_models",
    "torchvision.transforms": "pytorch.torchvision_transforms",
    "tqdm": "progress",
    "toml": "configs.readers",
    "tomli": "configs.readers",
    "tomllib": "configs.readers",
    "typer": "command_lines",
    "types": "python.typing",
    "typing": "python.typing",
    "typing_extensions": "python.typing",
    "unittest": "python.mock",
    "abc": "python.typing",
    "ruamel": "configs.readers",
    "yaml": "configs.readers",
    "addict": "configs.dicts",
    "box": "configs.dicts",
    "easydict": "configs.dicts",
    "fvcore": "configs.dicts",
    "ml_collections": "configs.dicts",
    "munch": "configs.dicts",
    "simpletorch_settings": "configs.dicts",
    "yacs": "configs.dicts",
    "omegaconf": "configs.omegaconf",
    "simpletorch_omegaconf": "configs.omegaconf",
    "pkgutil": "python.modules",
    "draccus": "configs.records",
    "pyrallis": "configs.records",
    "simple_parsing": "configs.records",
    "transformers": "configs.records",
    "tyro": "configs.records",
    "ml_collections.config_flags": "command_lines",
    "attr": "configs.classes",
    "attrs": "configs.classes",
    "pydantic": "configs.classes",
    "pydantic_settings": "configs.classes",
    "configargparse": "configs.options",
    "getopt": "configs.options",
    "optparse": "configs.options",
}
"""Which file knows a library or a package of one: it is read when the program first speaks of it."""
_loaded: Final[set[str]] = set()


def load(name: str) -> bool:
    """Read what is known of the library that a dotted name belongs to, and of its package. Whether that was new."""
    first, _, rest = name.partition(".")
    keys = (first, f"{first}.{rest.partition('.')[0]}")
    files = {_FILES[key] for key in keys if key in _FILES} - _loaded
    for file in files:
        _loaded.add(file)
        import_module(f"{__name__}.{file}")
    return bool(files)


def source_of(module: str) -> Path | None:
    """The file of a module of ours, if what it imports of others is followed there."""
    if not module.startswith(_FOLLOWED):
        return None
    path = Path(__file__).parents[2].joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if outside.is_file(path) else None


def native(*names: str) -> Callable[[Work], Work]:
    """Register a function under dotted names: ``"math.sqrt"``."""

    def register(work: Work) -> Work:
        for name in names:
            if name in NATIVES:
                raise ValueError(f"two functions for {name}")
            NATIVES[name] = Native(name, work)
        return work

    return register


def gives(names: str, type: str | None = None, cause: Cause = "code") -> None:
    """Register functions that change nothing, and of whose answer at most the class is known."""
    for name in names.split():
        native(name)(lambda run, args, kwargs, n=name: run.unknown(f"what {n} gives", type, cause))  # type: ignore[misc]


def method(kind: type | str, *names: str) -> Callable[[Work], Work]:
    """Register a method of a kind of value: ``method(str, "split")``."""

    def register(work: Work) -> Work:
        table = METHODS.setdefault(kind, {})
        for name in names:
            if name in table:
                raise ValueError(f"two methods {name} of {kind}")
            table[name] = work
        return work

    return register


def library_class(
    name: str,
    bases: tuple[str, ...] = ("builtins.object",),
    methods: dict[str, Any] | None = None,
    unknown: str | None = None,
    **metadata: Any,
) -> None:
    """Register a class by its dotted name, with its methods (functions such as `native` takes; the object comes first).

    ``unknown`` says what its objects are, of which other attributes may be anything.
    ``metadata`` is the class's: ``make`` builds its objects, ``subclassed`` is told of the program's subclasses.
    """

    def make(find: Callable[[str], Class]) -> Class:
        module, _, short = name.rpartition(".")
        cells = {k: Native(f"{name}.{k}", v) if callable(v) else v for k, v in (methods or {}).items()}
        made = Class(short, tuple(map(find, bases)), cells, module)
        made.metadata.update(metadata)
        if unknown is not None:
            made.unknown_base = Unknown(unknown)
        return made

    if name in CLASSES:
        raise ValueError(f"two classes {name}")
    CLASSES[name] = make


def by_name(parameters: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments that are given, by the names of the parameters: ``by_name("scale size", args, kwargs)``."""
    return {**dict(zip(parameters.split(), args, strict=False)), **kwargs}
