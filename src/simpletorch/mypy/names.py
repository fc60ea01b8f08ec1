"""Where things live: the full names that mypy knows things by, and how they lead to public torch names."""

from __future__ import annotations

from typing import Final

TENSOR: Final = "torch._tensor.Tensor"
TENSOR_BASE: Final = "torch._C.TensorBase"
DTENSOR: Final = "torch.distributed.tensor._api.DTensor"
PARAMETER: Final = "torch.nn.parameter.Parameter"
MODULE: Final = "torch.nn.modules.module.Module"
OUR_MODULE: Final = "simpletorch.nn._module.Module"
SEQUENTIAL: Final = "torch.nn.modules.container.Sequential"
MODULE_LIST: Final = "torch.nn.modules.container.ModuleList"
MODULE_DICT: Final = "torch.nn.modules.container.ModuleDict"
PARAMETER_LIST: Final = "torch.nn.modules.container.ParameterList"
PARAMETER_DICT: Final = "torch.nn.modules.container.ParameterDict"
LISTS: Final = (MODULE_LIST, PARAMETER_LIST)
DICTS: Final = (MODULE_DICT, PARAMETER_DICT)
WRAPPERS: Final = frozenset(
    {
        "torch.nn.parallel.distributed.DistributedDataParallel",
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
        "torch.optim.swa_utils.AveragedModel",
    }
)
PACKED: Final = "torch.nn.utils.rnn.PackedSequence"
OUR_SEQUENTIAL: Final = "simpletorch.nn._sequential.Sequential"
SEQUENTIALS: Final = (SEQUENTIAL, OUR_SEQUENTIAL)
ARRAY: Final = "numpy.ndarray"
JAX_ARRAY: Final = "jax._src.basearray.Array"
SIZE: Final = "torch._C.Size"
SAME_ITEMS: Final = frozenset({"builtins.tuple", "builtins.list", SIZE})
"""What is called with several sizes and holds the same ones."""
DEVICE: Final = "torch._C.device"
RETURN_TYPES: Final = "torch.return_types."

_FILES: Final = {
    "Normal": "normal", "LogNormal": "log_normal", "Laplace": "laplace", "Cauchy": "cauchy", "Gumbel": "gumbel",
    "Binomial": "binomial", "NegativeBinomial": "negative_binomial", "Multinomial": "multinomial",
    "Bernoulli": "bernoulli", "Geometric": "geometric", "ContinuousBernoulli": "continuous_bernoulli",
    "Categorical": "categorical", "OneHotCategorical": "one_hot_categorical",
    "OneHotCategoricalStraightThrough": "one_hot_categorical", "RelaxedBernoulli": "relaxed_bernoulli",
    "RelaxedOneHotCategorical": "relaxed_categorical", "Beta": "beta", "Kumaraswamy": "kumaraswamy", "Gamma": "gamma",
    "InverseGamma": "inverse_gamma", "HalfNormal": "half_normal", "HalfCauchy": "half_cauchy",
    "Exponential": "exponential", "Poisson": "poisson", "Uniform": "uniform", "StudentT": "studentT", "Chi2": "chi2",
    "Pareto": "pareto", "Weibull": "weibull", "FisherSnedecor": "fishersnedecor", "VonMises": "von_mises",
    "Dirichlet": "dirichlet", "MultivariateNormal": "multivariate_normal",
}  # fmt: skip
DISTRIBUTIONS: Final = frozenset(f"torch.distributions.{file}.{name}" for name, file in _FILES.items())
"""The distributions of which it is known what they sample."""
INDEPENDENT: Final = "torch.distributions.independent.Independent"

OUR_DEVICE: Final = "simpletorch.device.Device"
OUR_TENSOR: Final = "simpletorch._tensor.Tensor"
OUR_PARAMETER: Final = "simpletorch._tensor.Parameter"
DEVICE_TENSORS: Final = {
    "simpletorch._tensor.CPUTensor": "cpu",
    "simpletorch._tensor.CUDATensor": "cuda",
    "simpletorch._tensor.MPSTensor": "mps",
    **{f"simpletorch._tensor.CUDATensor{index}": f"cuda:{index}" for index in range(8)},
}
DEVICE_CLASSES: Final = {device: fullname for fullname, device in DEVICE_TENSORS.items()}
DEVICE_NAMES: Final = {fullname.rpartition(".")[2]: device for fullname, device in DEVICE_TENSORS.items()}
OUR_TENSORS: Final = frozenset({OUR_TENSOR, OUR_PARAMETER, *DEVICE_TENSORS})

# Programs annotate with these and pass tensors of any floating dtype on any device; to us they are plain tensors.
LEGACY_TENSORS: Final = frozenset(
    f"torch._C.{kind}Tensor"
    for kind in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
)

DTYPES_MODULE: Final = "_simpletorch.dtypes"
DIMS_MODULE: Final = "simpletorch.dims"
DIM: Final = "_simpletorch.dim.Dim"
PHANTOM: Final = "_simpletorch.phantom"
BROADCAST: Final = "_simpletorch.phantom.Broadcast"
UNKNOWN_SIZE: Final = "_simpletorch.phantom.Unknown"

# A function's full name is that of its defining module; these prefixes are private spellings of public ones.
_FUNCTION_PREFIXES: Final = (
    ("torch._C._VariableFunctions.", "torch."),
    ("torch.functional.", "torch."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch._C._fft.", "torch.fft."),
    ("torch._C._linalg.", "torch.linalg."),
    ("torch._C._special.", "torch.special."),
    ("torch._tensor.Tensor.", "Tensor."),
    ("torch._C.TensorBase.", "Tensor."),
    ("einops.einops.", "einops."),
    ("einops.packing.", "einops."),
    ("torch._lowrank.", "torch."),
    ("torch.masked._ops.", "torch.masked."),
    ("torch.signal.windows.windows.", "torch.signal.windows."),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("simpletorch.distributed.collectives.", "simpletorch.distributed."),
    ("torch._C.", "torch."),
)
_RENAMED: Final = {
    "torch._C._nn.log_sigmoid": "torch.nn.functional.logsigmoid",
    "simpletorch.interop._numpy.from_numpy": "torch.from_numpy",
    "simpletorch.interop._dlpack.from_dlpack": "torch.from_dlpack",
    "simpletorch.tensor.from_array": "torch.asarray",
    "torch.nn.modules.transformer.Transformer.generate_square_subsequent_mask": (
        "torch.nn.Transformer.generate_square_subsequent_mask"
    ),
}


def public_name(fullname: str) -> str:
    """The public name of a torch function or method: ``torch._C._nn.gelu`` is ``torch.nn.functional.gelu``."""
    if fullname in _RENAMED:
        return _RENAMED[fullname]
    for private, public in _FUNCTION_PREFIXES:
        if fullname.startswith(private):
            return public + fullname[len(private) :]
    return fullname


# torch.nn's classes are defined in torch.nn.modules.<file>.<Class>; the public name drops the file.
MODULES_PREFIX: Final = "torch.nn.modules."


def public_class(fullname: str) -> str:
    """The public name of a torch class: ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``."""
    if fullname.startswith(MODULES_PREFIX):
        return "torch.nn." + fullname.rpartition(".")[2]
    return fullname
