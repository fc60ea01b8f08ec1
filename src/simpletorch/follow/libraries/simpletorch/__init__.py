"""simpletorch's own names: each is a name of torch's, a face of one, or is followed in a file of ours.

The stub ``simpletorch/__init__.pyi`` says which of torch's functions a name is; `TORCHS` says it of the tensor classes'
factories; `OWN` says which file has the rest. A mistake in a file of ours is reported where the program calls it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch._stub import homes
from simpletorch.follow import calls, files
from simpletorch.follow.libraries import ALIASES, OWN, VALUES, Work, gives, library_class, native
from simpletorch.follow.libraries.simpletorch import launched, training  # noqa: F401  (tables)
from simpletorch.follow.model import handlers
from simpletorch.follow.values import (
    MISSING,
    Function,
    Instance,
    Native,
    StaticMethod,
    Value,
)
from simpletorch.rules import Device
from simpletorch.rules.core.dtype import BY_NAME, DType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["TORCHS"]

_PACKAGE: Final = Path(__file__).parents[3]
_HERE: Final = Path(__file__).parent

# -- torch's functions -------------------------------------------------------------------------------------------------

ALIASES.update({f"simpletorch.{name}": f"{home}.{name}" for name, home in homes("simpletorch").items()
                if home in ("torch", "torch.linalg", "torch.nn.functional")})  # fmt: skip
ALIASES.update({"simpletorch.dtypes": "torch", "simpletorch.device": "torch", "simpletorch.vmap": "torch.func.vmap"})
VALUES.update({f"torch.{name}": dtype for name, dtype in BY_NAME.items() if dtype.is_concrete})

# -- tensors -----------------------------------------------------------------------------------------------------------

TORCHS: Final = {
    **{
        name: f"torch.{name}"
        for name in (
            *("zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "logspace", "eye"),
            *("tensor", "from_numpy", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like"),
            "tril_indices",
        )
    },
    "from_array": "simpletorch.from_array",
    "from_dlpack": "torch.from_dlpack",
    "one_hot": "torch.nn.functional.one_hot",
}
"""What makes the tensor of ``Tensor.zeros`` and its like."""
_WITHOUT_DEVICE: Final = frozenset(("from_numpy", "one_hot"))
_WITHOUT_DTYPE: Final = _WITHOUT_DEVICE | {"from_dlpack"}


def _factory(name: str, dtype: DType | None = None, device: str | None = None) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given, moves = dict(kwargs), dict[str, Any]()
        for key, wanted, without in (("dtype", dtype, _WITHOUT_DTYPE), ("device", device, _WITHOUT_DEVICE)):
            if wanted is not None and run.resolve(given.get(key)) is None:
                (moves if name in without else given)[key] = wanted
        made = run.call(run.program.library(run, TORCHS[name]), args, given)
        return run.call(run.attribute(made, "to"), (), moves) if moves else made

    return work


def _parameter(name: str) -> Work:
    make = _factory(name)

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = dict(kwargs)
        trains = given.pop("requires_grad", True)
        parameter = run.program.library(run, "torch.nn.Parameter")
        return run.call(parameter, (make(run, args, given),), {"requires_grad": trains})

    return work


def _factories(owner: str, dtype: DType | None = None, device: str | None = None) -> dict[str, Any]:
    return {name: StaticMethod(Native(f"{owner}.{name}", _factory(name, dtype, device))) for name in TORCHS}


for _name in TORCHS:
    native(f"torch.Tensor.{_name}")(_factory(_name))
    native(f"torch.nn.Parameter.{_name}")(_parameter(_name))
for _name, _dtype in BY_NAME.items():
    if _dtype.is_concrete:
        library_class(f"torch.Tensor[{_dtype}]", ("torch.Tensor",), _factories(f"Tensor[{_name}]", _dtype))
for _face in ("CPU", "CUDA", "MPS"):
    library_class(f"torch.{_face}Tensor", ("torch.Tensor",), _factories(f"{_face}Tensor", device=_face.lower()))
ALIASES.update(
    {
        "simpletorch.Parameter": "torch.nn.Parameter",
        "simpletorch.TensorShape": "torch.Size",
        "simpletorch.from_array": "simpletorch.from_array",
        "simpletorch.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    }
)
for _name in ("Tensor", "CPUTensor", "CUDATensor", "MPSTensor", "Parameter", "from_array"):
    ALIASES[f"simpletorch.tensor.{_name}"] = ALIASES.get(f"simpletorch.{_name}", f"torch.{_name}")


@native("simpletorch.from_array")
def _from_array(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``from_array(array, shape=...)``: `torch.asarray` and a ``reshape``."""
    given = dict(kwargs)
    shape = given.pop("shape", None)
    made = run.call(run.program.library(run, "torch.asarray"), args, given)
    return made if run.resolve(shape) is None else run.call(run.attribute(made, "reshape"), (shape,))


# -- devices -----------------------------------------------------------------------------------------------------------


def _indexed(kind: str) -> StaticMethod:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        index = run.resolve(next(iter((*args, *kwargs.values())), 0))
        name = f"{kind}:{index}" if type(index) is int else kind
        return run.call(run.program.library(run, "torch.device"), (name,))

    return StaticMethod(Native(f"Device.{kind}", work))


def _best(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("the best device that there is", "device")


library_class(
    "torch.Device",
    methods={
        "CPU": Device("cpu"),
        "MPS": Device("mps"),
        "CUDA": _indexed("cuda"),
        "Vulkan": _indexed("vulkan"),
        "best": StaticMethod(Native("Device.best", _best)),
    },
)

# -- what is followed in a file of ours --------------------------------------------------------------------------------


def _package_of(name: str) -> str:
    return name.rpartition(".")[0]


def _followed(package: str, folder: str = "", **files: str) -> None:
    """Names of a package, by the file: a source of ours (``_blocks``), or a text beside this file."""
    source = _PACKAGE / (folder or package.replace(".", "/"))
    for file, names in files.items():
        path = source / f"{file}.py" if file.startswith("_") else _HERE / f"{file}.txt"
        for name in names.split():
            for dotted in (f"simpletorch.{package}.{name}", f"simpletorch.{package}.{file}.{name}"):
                OWN[dotted] = path
                ALIASES[dotted] = dotted


_followed(
    "nn",
    _blocks="MLP FeedForward Residual SelfAttention TransformerBlock",
    _arguments="sizes divisible probability refuse",
    recurrent="run_padded",
)
_followed(
    "losses",
    _dice="dice_loss",
    _focal="focal_loss sigmoid_focal_loss",
    _smoothing="smooth_labels smoothed_cross_entropy",
    _sum="WeightedSum",
)
_followed(
    "metrics",
    metrics="Accuracy AUROC ConfusionMatrix F1 Mean MeanLoss MeanSquaredError Metric Perplexity Precision Recall",
)
_followed(
    "train",
    step="Step",
    trainer="Trainer",
    update="Update",
    evaluate="evaluate predict",
    callbacks=(
        "AimLogger CSVLogger Callback Checkpoint DetectNaN EarlyStopping Fit GradientMonitor LearningRateFinder Live "
        "MLflowLogger Profiler TensorBoardLogger WandbLogger"
    ),
    mode="mode",
)
_followed("train", batches="output_of parts_of", _epoch="Epoch")
_followed(
    "data",
    images="MNIST FashionMNIST CIFAR10 CIFAR100",
    datasets="CachedDataset MappedDataset ZippedDataset",
    replay="Prioritized PrioritizedReplayBuffer ReplayBuffer Transition",
    text="CharTokens",
)
_followed("data", "data/loading", _builder="LoaderBuilder")
_followed("distributed.actors", actors="Actor Actors Pending share spawn")
_followed("errors", results="Err Ok attempt")
_followed("optim", _warmup="LinearWarmup WarmupCosine", averages="EMA SWA", groups="ParameterGroup decay_groups")
_followed("checkpoint", checkpoints="Saved load save save_async")
_followed("export", exported="Exported aot onnx program torchscript")
_followed(
    "language.models",
    _attention="KeyValues",
    _bert="BertConfig BertForMaskedLM BertForSequenceClassification BertModel BertOutput bert_base bert_large",
    _gpt2="GPT2Config GPT2LMHeadModel GPT2Model gpt2 gpt2_large gpt2_medium gpt2_xl",
    _llama="LlamaConfig LlamaForCausalLM LlamaModel llama_2_7b llama_3_2_1b llama_3_8b",
    _rotary="Rotary",
    _t5="T5Config T5ForConditionalGeneration t5_base t5_large t5_small",
)
ALIASES["simpletorch.data.collate"] = "torch.utils.data.default_collate"
_followed(
    "transforms",
    _blur="GaussianBlur",
    _color="ColorJitter Grayscale",
    _compose="Compose",
    _convert="Normalize ToTensor",
    _crop="CenterCrop RandomCrop",
    _erase="RandomErasing",
    _flip="RandomHorizontalFlip RandomVerticalFlip",
    _mix="CutMix MixUp",
    _pad="Pad",
    _resize="RandomResizedCrop Resize resize",
    _transform="Transform takes_batches",
)
ALIASES["simpletorch.nn._module"] = "torch.nn"
ALIASES.update({f"simpletorch.{name}": f"simpletorch.errors.{name}" for name in ("Err", "Ok", "attempt")})
for _name in (*map(_package_of, OWN), "simpletorch.train._following", "simpletorch.language"):
    ALIASES.setdefault(_name, _name)


@native("simpletorch.transforms._crop.windows")
def _windows(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Windows of images, wherever they are."""
    images, _, height, width = args
    window = slice(None), slice(None), slice(None, height), slice(None, width)
    return run.ask("Tensor.__getitem__", (images, window))


@native("simpletorch.transforms._resize.resized_windows")
def _resized_windows(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Windows of images, wherever they are and whatever their sizes were."""
    crop, images, _ = args
    options = (run.attribute(crop, name) for name in ("size", "interpolation", "antialias"))
    return run.call(run.program.library(run, "simpletorch.transforms._resize.resize"), (images, *options))


@native("simpletorch.errors._following.is_explained")
def _is_explained(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether an exception is torch's, of tensors that don't fit; others of torch's look like the program's own."""
    found = handlers.mistake_of(run.resolve(args[0]))
    return True if found is not None and found.code in _EXPLAINED else run.unknown("whose exception it is", "bool")


_EXPLAINED: Final = frozenset({"tensor-shape", "tensor-dtype", "tensor-device", "tensor-layout", "tensor-grad"})


@native("torch.errors.as_also", "simpletorch.errors.as_also")
def _as_also(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("a class of errors")


@native("simpletorch.export._following.says_itself")
def _says_itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether the annotations of a model's ``forward`` say more than that it takes tensors: they count then."""
    model = run.resolve(args[0])
    found = model.cls.find("forward") if isinstance(model, Instance) else None
    if found is None or not isinstance(found[0], Function):
        return False  # a layer of torch's
    given = found[0].node.args
    hints = [a.annotation for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.annotation is not None]
    return any(ast.unparse(hint) != "torch.Tensor" for hint in hints)


@native("simpletorch.checkpoint._following.write")
def _write_checkpoint(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.save(run, "checkpoint", *args)
    return None


@native("simpletorch.checkpoint._following.read")
def _read_checkpoint(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = files.load(run, ("checkpoint",), args[0])
    return run.unknown("what is loaded from a file", None, "data") if found is MISSING else found


@native("simpletorch.checkpoint._following.touched")
def _touched(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Parts of a file beside models, and objects that they are loaded into: neither is known."""
    calls.escape(run, args)
    return run.unknown("what a checkpoint has", None, "data")


ALIASES.update(
    {
        "simpletorch.seed_everything": "torch.manual_seed",
        "simpletorch.reproducibility.seed_everything": "torch.manual_seed",
        "simpletorch.cuda_available": "torch.cuda.is_available",
        "simpletorch.device.cuda_available": "torch.cuda.is_available",
    }
)
gives("torch.device_count torch.torch_available torch.torch_version", cause="data")
gives(
    " ".join(
        f"simpletorch.{name}"
        for name in (
            *("checkpoint.latest", "checkpoint.checkpoints_in"),
            *("checkpoint.read", "nn.initialize", "nn.summary", "nn.typed_repr", "reproducibility.checksum"),
            "reproducibility.rng_state",
        )
    )
)
for _name in ("checkpoint", "reproducibility", "export", "nn.initialize", "nn.summary", "nn.typed_repr"):
    ALIASES.setdefault(f"simpletorch.{_name}", f"simpletorch.{_name}")
gives(" ".join(f"simpletorch.train.{name}" for name in ("BatchSizeFinder", "recompute", "rng_state")))
