"""What the follower knows of libraries: a file each, functions in a table by their dotted names.

A `model` is a function with the library's own signature behind the interpreter; Python binds it as the library's.
A `native` function gets the interpreter, the positional arguments and those by name (`follow.values`) as they are.
What a library's class needs is a `Class` that a maker builds once for each follow. A name that no table has is unknown.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from simpletorch import _outside as outside
from simpletorch.follow.libraries.harmless import is_without_tensors
from simpletorch.follow.values import Cause, Choice, Class, Native, Property, Unknown, Value
from simpletorch.rules.core.binding import Binder

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ABSENT",
    "ALIASES",
    "CLASSES",
    "MADE",
    "MEMBERS",
    "METHODS",
    "NATIVES",
    "OWN",
    "VALUES",
    "Model",
    "Work",
    "attribute",
    "by_name",
    "gives",
    "library_class",
    "load",
    "method",
    "model",
    "native",
    "signed",
    "source_of",
]

Work = Callable[..., Value]
"""A model, or a function of the interpreter, the arguments by place and those by name."""

NATIVES: Final[dict[str, Native]] = {}
VALUES: Final[dict[str, Value]] = {}
"""Constants: ``math.pi``."""
MADE: Final[dict[str, Callable[[Interpreter], Value]]] = {}
"""Values that change, so that each follow has its own: ``sys.argv``."""
METHODS: Final[dict[type | str, dict[str, Work]]] = {}
"""Methods of values that are no objects of the program, by their Python class; the receiver comes first."""
CLASSES: Final[dict[str, Callable[[Callable[[str], Class]], Class]]] = {}
"""Makers of classes; each gets what finds other classes by name."""
MEMBERS: Final[dict[str, dict[str, Native | Property]]] = {}
"""Methods and properties of classes that are models, by the class's dotted name."""
OWN: Final[dict[str, Path]] = {}
"""Of simpletorch's names those that are followed in a file of ours: the source itself, or a text that says the same."""
ABSENT: Final[dict[str, Path]] = {}
"""Of libraries' names those that a text of ours defines where the library isn't installed."""
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
    "cv2": "opencv",
    "datetime": "python.system",
    "glob": "python.system",
    "librosa": "sounds",
    "scipy.io": "matlab",
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
    "torch.__version__": "versions",
    "torch.torch_version": "versions",
    "torch.version": "versions",
    "distutils": "versions",
    "looseversion": "versions",
    "packaging": "versions",
    "pkg_resources": "versions",
    "torchvision": "pytorch.torchvision_datasets",
    "torchvision.models": "pytorch.torchvision_models",
    "torchvision.transforms": "pytorch.torchvision_transforms",
    "timm": "installed.timm",
    "torch_geometric": "installed.torch_geometric",
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
    "diffusers": "installed.diffusers",
    "gym": "installed.gymnasium",
    "gymnasium": "installed.gymnasium",
    "h5py": "installed.h5py",
    "accelerate": "installed.accelerate",
    "lightning": "installed.lightning",
    "ogb": "installed.torch_geometric",
    "optuna": "installed.callers",
    "peft": "installed.peft",
    "pyspark": "installed.callers",
    "prefetch_generator": "progress",
    "pytorch_lightning": "installed.lightning",
    "ray": "installed.callers",
    "huggingface_hub": "installed.transformers",
    "simpletorch_gymnasium": "installed.gymnasium",
    "simpletorch_h5py": "installed.h5py",
    "simpletorch_archives": "installed.archives",
    "simpletorch_sqlite3": "installed.sqlite3",
    "sqlite3": "installed.sqlite3",
    "tarfile": "installed.archives",
    "zipfile": "installed.archives",
    "simpletorch_installed": "installed.transformers",
    "transformers": "installed.transformers",
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
            NATIVES[name] = Native(name, _bound(name, work))
        return work

    return register


@final
class Model:
    """A library's function as the follower knows it: the function that answers, bound as the library's is.

    The signature behind the interpreter is the library's. One that ends with ``**rest`` is a part of it: of a call that
    doesn't fit nothing is said. Arguments come without choices that are decided where the call stands.
    """

    __slots__ = ("_binder", "function", "is_method", "name")

    def __init__(self, name: str, function: Callable[..., Value], is_method: bool) -> None:
        self.name, self.function, self.is_method = name, function, is_method
        self._binder: Binder | None = None

    def __call__(self, run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """The library's answer to a call."""
        for value in args:
            if type(value) is Choice:
                args = tuple(map(run.resolve, args))
                break
        if kwargs:
            kwargs = {name: run.resolve(value) for name, value in kwargs.items()}
        return self.function(run, *args, **kwargs)

    @property
    def binder(self) -> Binder:
        """The library's parameters."""
        if self._binder is None:
            self._binder = Binder.of(self.signature)
        return self._binder

    @property
    def signature(self) -> inspect.Signature:
        """The library's signature, as far as the model has it."""
        found = inspect.signature(self.function)
        return found.replace(parameters=list(found.parameters.values())[1:])

    @property
    def shown(self) -> str:
        """The name for messages: ``DataFrame.drop``, ``pandas.read_csv``."""
        name = self.name.removeprefix("builtins.").removesuffix(".__init__")
        if name + ".__init__" == self.name:
            return name.rpartition(".")[2]
        return ".".join(name.split(".")[-2:]) if self.is_method else name


def _bound(name: str, function: Callable[..., Value], is_method: bool = False) -> Callable[..., Value]:
    """A function that takes arguments as they are, ``(run, args, kwargs)``, as it is; a model behind its signature."""
    code = getattr(function, "__code__", None)
    as_they_are = code is None or code.co_varnames[:3] == ("run", "args", "kwargs")
    return function if as_they_are else Model(name, function, is_method)


Modelled = TypeVar("Modelled", bound=Callable[..., Value])


def model(*names: str) -> Callable[[Modelled], Modelled]:
    """Register a function under dotted names: its parameters behind the interpreter are the library's own.

    It is a method of a class where the first of them is ``self``::

        @model("pandas.DataFrame.drop")
        def drop(run, self, labels=None, *, axis=0, columns=None, inplace=False, **rest):
    """

    def register(function: Modelled) -> Modelled:
        is_method = function.__code__.co_varnames[1:2] == ("self",) and function.__code__.co_argcount > 1
        for name in names:
            if is_method:
                _enter(name, Native(name, Model(name, function, True)))
            else:
                native(name)(function)
        return function

    return register


def signed(parameters: str, work: Callable[[Interpreter, dict[str, Value]], Value]) -> Callable[..., Value]:
    """A function with these parameters that gets the arguments which a call gives, by their names.

    For what counts as given or not, and for many that are alike: ``signed("loc=0.0, scale=1.0, size=None", work)``.
    """
    found = inspect.signature(eval(f"lambda run, {parameters}: None"))

    def bound(run: Interpreter, /, *by_place: Value, **by_name: Value) -> Value:
        given = found.bind(run, *by_place, **by_name).arguments
        del given["run"]
        return work(run, given)

    bound.__signature__ = found  # type: ignore[attr-defined]
    return bound


def attribute(*names: str) -> Callable[[Modelled], Modelled]:
    """Register properties of classes: functions of the interpreter and the object."""

    def register(function: Modelled) -> Modelled:
        for name in names:
            _enter(name, Property(Native(name, Model(name, function, True))))
        return function

    return register


def _enter(name: str, value: Native | Property) -> None:
    owner, _, short = name.rpartition(".")
    if short in MEMBERS.setdefault(owner, {}):
        raise ValueError(f"two members {name}")
    MEMBERS[owner][short] = value


def gives(names: str, type: str | None = None, cause: Cause = "code") -> None:
    """Register functions that change nothing, and of whose answer at most the class is known."""
    for name in names.split():
        native(name)(lambda run, args, kwargs, n=name: _given(run, n, type, cause))


def _given(run: Interpreter, name: str, type: str | None, cause: Cause) -> Unknown:
    made = run.unknown(f"what {name} gives", type, cause)
    made.without_tensors = is_without_tensors(name)
    return made


def method(kind: type | str, *names: str) -> Callable[[Work], Work]:
    """Register a method of a kind of value: ``method(str, "split")``."""

    def register(work: Work) -> Work:
        table = METHODS.setdefault(kind, {})
        for name in names:
            if name in table:
                raise ValueError(f"two methods {name} of {kind}")
            table[name] = _bound(f"{getattr(kind, '__name__', kind)}.{name}", work, True)
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
        cells = {
            k: Native(f"{name}.{k}", _bound(f"{name}.{k}", v, True)) if callable(v) else v
            for k, v in (methods or {}).items()
        }
        made = Class(short, tuple(map(find, bases)), {**cells, **MEMBERS.get(name, {})}, module)
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
