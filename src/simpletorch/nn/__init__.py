"""torch's modules under our face: the same classes, the same constructor arguments, with sizes in their types.

For a type checker ``simpletorch.nn.Linear`` *is* `torch.nn.Linear`. At run time a name resolves on first use to torch's
own object, or for a module class to its `Face`, which builds torch's own instances and only adds subscripting
(``fc: nn.Linear[784, 128]``). Ours are:

- `Module`: a `torch.nn.Module` whose ``forward`` annotations are enforced and whose errors name the submodule,
- `Sequential`: torch's, with `Sequential.add_layer`,
- `MLP`, `FeedForward`, `Residual`, `SelfAttention`, `TransformerBlock`: blocks that most models are built from,
- `initialize`: a model's weights drawn anew by the recipe of a paper,
- `run_padded`: a recurrent layer over sequences of different lengths, which can be compiled and exported,
- `summary`: what each part of a model takes, gives, holds and costs,
- `typed_repr`: a model's repr with the types of its calls,
- `load_state_dict`: any module's state loaded whole or not at all, with all that doesn't fit in one error.

``functional``, ``init``, ``utils`` … are torch's own modules; ``import simpletorch.nn.functional as F`` works too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch.nn
from torch.nn import attention as attention
from torch.nn import functional as functional
from torch.nn import init as init
from torch.nn import modules as modules
from torch.nn import parallel as parallel
from torch.nn import parameter as parameter
from torch.nn import utils as utils

from simpletorch.nn._blocks import MLP as MLP
from simpletorch.nn._blocks import FeedForward as FeedForward
from simpletorch.nn._blocks import Residual as Residual
from simpletorch.nn._blocks import SelfAttention as SelfAttention
from simpletorch.nn._blocks import TransformerBlock as TransformerBlock
from simpletorch.nn._face import Face
from simpletorch.nn._initialize import initialize as initialize
from simpletorch.nn._module import Module as Module
from simpletorch.nn._recurrent import run_padded as run_padded
from simpletorch.nn._sequential import Sequential as Sequential
from simpletorch.nn._state import StateMismatch as StateMismatch
from simpletorch.nn._state import load_state_dict as load_state_dict

if TYPE_CHECKING:
    from torch.nn import CELU as CELU
    from torch.nn import ELU as ELU
    from torch.nn import GELU as GELU
    from torch.nn import GLU as GLU
    from torch.nn import GRU as GRU
    from torch.nn import LSTM as LSTM
    from torch.nn import RNN as RNN
    from torch.nn import SELU as SELU
    from torch.nn import AdaptiveAvgPool1d as AdaptiveAvgPool1d
    from torch.nn import AdaptiveAvgPool2d as AdaptiveAvgPool2d
    from torch.nn import AdaptiveAvgPool3d as AdaptiveAvgPool3d
    from torch.nn import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
    from torch.nn import AdaptiveMaxPool1d as AdaptiveMaxPool1d
    from torch.nn import AdaptiveMaxPool2d as AdaptiveMaxPool2d
    from torch.nn import AdaptiveMaxPool3d as AdaptiveMaxPool3d
    from torch.nn import AlphaDropout as AlphaDropout
    from torch.nn import AvgPool1d as AvgPool1d
    from torch.nn import AvgPool2d as AvgPool2d
    from torch.nn import AvgPool3d as AvgPool3d
    from torch.nn import BatchNorm1d as BatchNorm1d
    from torch.nn import BatchNorm2d as BatchNorm2d
    from torch.nn import BatchNorm3d as BatchNorm3d
    from torch.nn import BCELoss as BCELoss
    from torch.nn import BCEWithLogitsLoss as BCEWithLogitsLoss
    from torch.nn import Bilinear as Bilinear
    from torch.nn import Buffer as Buffer
    from torch.nn import ChannelShuffle as ChannelShuffle
    from torch.nn import CircularPad1d as CircularPad1d
    from torch.nn import CircularPad2d as CircularPad2d
    from torch.nn import CircularPad3d as CircularPad3d
    from torch.nn import ConstantPad1d as ConstantPad1d
    from torch.nn import ConstantPad2d as ConstantPad2d
    from torch.nn import ConstantPad3d as ConstantPad3d
    from torch.nn import Container as Container
    from torch.nn import Conv1d as Conv1d
    from torch.nn import Conv2d as Conv2d
    from torch.nn import Conv3d as Conv3d
    from torch.nn import ConvTranspose1d as ConvTranspose1d
    from torch.nn import ConvTranspose2d as ConvTranspose2d
    from torch.nn import ConvTranspose3d as ConvTranspose3d
    from torch.nn import CosineEmbeddingLoss as CosineEmbeddingLoss
    from torch.nn import CosineSimilarity as CosineSimilarity
    from torch.nn import CrossEntropyLoss as CrossEntropyLoss
    from torch.nn import CrossMapLRN2d as CrossMapLRN2d
    from torch.nn import CTCLoss as CTCLoss
    from torch.nn import DataParallel as DataParallel
    from torch.nn import Dropout as Dropout
    from torch.nn import Dropout1d as Dropout1d
    from torch.nn import Dropout2d as Dropout2d
    from torch.nn import Dropout3d as Dropout3d
    from torch.nn import Embedding as Embedding
    from torch.nn import EmbeddingBag as EmbeddingBag
    from torch.nn import FeatureAlphaDropout as FeatureAlphaDropout
    from torch.nn import Flatten as Flatten
    from torch.nn import Fold as Fold
    from torch.nn import FractionalMaxPool2d as FractionalMaxPool2d
    from torch.nn import FractionalMaxPool3d as FractionalMaxPool3d
    from torch.nn import GaussianNLLLoss as GaussianNLLLoss
    from torch.nn import GroupNorm as GroupNorm
    from torch.nn import GRUCell as GRUCell
    from torch.nn import Hardshrink as Hardshrink
    from torch.nn import Hardsigmoid as Hardsigmoid
    from torch.nn import Hardswish as Hardswish
    from torch.nn import Hardtanh as Hardtanh
    from torch.nn import HingeEmbeddingLoss as HingeEmbeddingLoss
    from torch.nn import HuberLoss as HuberLoss
    from torch.nn import Identity as Identity
    from torch.nn import InstanceNorm1d as InstanceNorm1d
    from torch.nn import InstanceNorm2d as InstanceNorm2d
    from torch.nn import InstanceNorm3d as InstanceNorm3d
    from torch.nn import KLDivLoss as KLDivLoss
    from torch.nn import L1Loss as L1Loss
    from torch.nn import LayerNorm as LayerNorm
    from torch.nn import LazyBatchNorm1d as LazyBatchNorm1d
    from torch.nn import LazyBatchNorm2d as LazyBatchNorm2d
    from torch.nn import LazyBatchNorm3d as LazyBatchNorm3d
    from torch.nn import LazyConv1d as LazyConv1d
    from torch.nn import LazyConv2d as LazyConv2d
    from torch.nn import LazyConv3d as LazyConv3d
    from torch.nn import LazyConvTranspose1d as LazyConvTranspose1d
    from torch.nn import LazyConvTranspose2d as LazyConvTranspose2d
    from torch.nn import LazyConvTranspose3d as LazyConvTranspose3d
    from torch.nn import LazyInstanceNorm1d as LazyInstanceNorm1d
    from torch.nn import LazyInstanceNorm2d as LazyInstanceNorm2d
    from torch.nn import LazyInstanceNorm3d as LazyInstanceNorm3d
    from torch.nn import LazyLinear as LazyLinear
    from torch.nn import LeakyReLU as LeakyReLU
    from torch.nn import Linear as Linear
    from torch.nn import LinearCrossEntropyLoss as LinearCrossEntropyLoss
    from torch.nn import LinearCrossEntropyOptions as LinearCrossEntropyOptions
    from torch.nn import LocalResponseNorm as LocalResponseNorm
    from torch.nn import LogSigmoid as LogSigmoid
    from torch.nn import LogSoftmax as LogSoftmax
    from torch.nn import LPPool1d as LPPool1d
    from torch.nn import LPPool2d as LPPool2d
    from torch.nn import LPPool3d as LPPool3d
    from torch.nn import LSTMCell as LSTMCell
    from torch.nn import MarginRankingLoss as MarginRankingLoss
    from torch.nn import MaxPool1d as MaxPool1d
    from torch.nn import MaxPool2d as MaxPool2d
    from torch.nn import MaxPool3d as MaxPool3d
    from torch.nn import MaxUnpool1d as MaxUnpool1d
    from torch.nn import MaxUnpool2d as MaxUnpool2d
    from torch.nn import MaxUnpool3d as MaxUnpool3d
    from torch.nn import Mish as Mish
    from torch.nn import ModuleDict as ModuleDict
    from torch.nn import ModuleList as ModuleList
    from torch.nn import MSELoss as MSELoss
    from torch.nn import MultiheadAttention as MultiheadAttention
    from torch.nn import MultiLabelMarginLoss as MultiLabelMarginLoss
    from torch.nn import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
    from torch.nn import MultiMarginLoss as MultiMarginLoss
    from torch.nn import NLLLoss as NLLLoss
    from torch.nn import NLLLoss2d as NLLLoss2d
    from torch.nn import PairwiseDistance as PairwiseDistance
    from torch.nn import Parameter as Parameter
    from torch.nn import ParameterDict as ParameterDict
    from torch.nn import ParameterList as ParameterList
    from torch.nn import PixelShuffle as PixelShuffle
    from torch.nn import PixelUnshuffle as PixelUnshuffle
    from torch.nn import PoissonNLLLoss as PoissonNLLLoss
    from torch.nn import PReLU as PReLU
    from torch.nn import ReflectionPad1d as ReflectionPad1d
    from torch.nn import ReflectionPad2d as ReflectionPad2d
    from torch.nn import ReflectionPad3d as ReflectionPad3d
    from torch.nn import ReLU as ReLU
    from torch.nn import ReLU6 as ReLU6
    from torch.nn import ReplicationPad1d as ReplicationPad1d
    from torch.nn import ReplicationPad2d as ReplicationPad2d
    from torch.nn import ReplicationPad3d as ReplicationPad3d
    from torch.nn import RMSNorm as RMSNorm
    from torch.nn import RNNBase as RNNBase
    from torch.nn import RNNCell as RNNCell
    from torch.nn import RNNCellBase as RNNCellBase
    from torch.nn import RReLU as RReLU
    from torch.nn import Sigmoid as Sigmoid
    from torch.nn import SiLU as SiLU
    from torch.nn import SmoothL1Loss as SmoothL1Loss
    from torch.nn import SoftMarginLoss as SoftMarginLoss
    from torch.nn import Softmax as Softmax
    from torch.nn import Softmax2d as Softmax2d
    from torch.nn import Softmin as Softmin
    from torch.nn import Softplus as Softplus
    from torch.nn import Softshrink as Softshrink
    from torch.nn import Softsign as Softsign
    from torch.nn import SyncBatchNorm as SyncBatchNorm
    from torch.nn import Tanh as Tanh
    from torch.nn import Tanhshrink as Tanhshrink
    from torch.nn import Threshold as Threshold
    from torch.nn import Transformer as Transformer
    from torch.nn import TransformerDecoder as TransformerDecoder
    from torch.nn import TransformerDecoderLayer as TransformerDecoderLayer
    from torch.nn import TransformerEncoder as TransformerEncoder
    from torch.nn import TransformerEncoderLayer as TransformerEncoderLayer
    from torch.nn import TripletMarginLoss as TripletMarginLoss
    from torch.nn import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
    from torch.nn import Unflatten as Unflatten
    from torch.nn import Unfold as Unfold
    from torch.nn import UninitializedBuffer as UninitializedBuffer
    from torch.nn import UninitializedParameter as UninitializedParameter
    from torch.nn import Upsample as Upsample
    from torch.nn import UpsamplingBilinear2d as UpsamplingBilinear2d
    from torch.nn import UpsamplingNearest2d as UpsamplingNearest2d
    from torch.nn import ZeroPad1d as ZeroPad1d
    from torch.nn import ZeroPad2d as ZeroPad2d
    from torch.nn import ZeroPad3d as ZeroPad3d
    from torch.nn import factory_kwargs as factory_kwargs

    from simpletorch.nn._summary import Summary as Summary
    from simpletorch.nn._summary import summary as summary
    from simpletorch.nn._typed_repr import typed_repr as typed_repr

# `import simpletorch.nn.functional as F` has to find torch's module itself, whatever was imported before.
for _name in ("functional", "init"):
    sys.modules[f"{__name__}.{_name}"] = getattr(torch.nn, _name)

if not TYPE_CHECKING:  # a checker must not think that every name exists
    # what few programs use, and costs time to load
    _LATER = {"Summary": "_summary", "summary": "_summary", "typed_repr": "_typed_repr"}
    _OURS = {
        *("FeedForward", "MLP", "Module", "Residual", "SelfAttention", "Sequential", "StateMismatch"),
        *("TransformerBlock", "initialize", "load_state_dict", "run_padded", *_LATER),
    }
    __all__ = sorted(
        _OURS
        | {"functional", "init", "utils", *torch.nn.modules.__all__}
        | {name for name in vars(torch.nn) if isinstance(getattr(torch.nn, name), type)}
    )

    def __getattr__(name: str) -> Any:
        """Resolve a name once; from then on it is an ordinary attribute of this module."""
        if name in _LATER:
            return globals().setdefault(name, getattr(import_module(f"{__name__}.{_LATER[name]}"), name))
        if name.startswith("_") or not hasattr(torch.nn, name):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(torch.nn, name)
        # A deprecated class would warn about the face as if a user had subclassed it.
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and not hasattr(value, "__deprecated__"):
            value = Face.of(value, __name__)
        return globals().setdefault(name, value)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
