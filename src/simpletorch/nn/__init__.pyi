"""Every name of `simpletorch.nn`, once: what type checkers see, and where ``__init__.py`` finds what is not torch's."""

# ruff: noqa: F403, F811
# torch's, file by file: a star import of all of `torch.nn` would bring its Module and Sequential in the place of ours
from torch.nn import Buffer as Buffer
from torch.nn import DataParallel as DataParallel
from torch.nn import Parameter as Parameter
from torch.nn import UninitializedBuffer as UninitializedBuffer
from torch.nn import UninitializedParameter as UninitializedParameter
from torch.nn import attention as attention
from torch.nn import factory_kwargs as factory_kwargs
from torch.nn import functional as functional
from torch.nn import init as init
from torch.nn import modules as modules
from torch.nn import parallel as parallel
from torch.nn import parameter as parameter
from torch.nn import utils as utils
from torch.nn.modules.activation import *
from torch.nn.modules.adaptive import *
from torch.nn.modules.batchnorm import *
from torch.nn.modules.channelshuffle import *
from torch.nn.modules.container import Container as Container
from torch.nn.modules.container import ModuleDict as ModuleDict
from torch.nn.modules.container import ModuleList as ModuleList
from torch.nn.modules.container import ParameterDict as ParameterDict
from torch.nn.modules.container import ParameterList as ParameterList
from torch.nn.modules.conv import *
from torch.nn.modules.distance import *
from torch.nn.modules.dropout import *
from torch.nn.modules.flatten import *
from torch.nn.modules.fold import *
from torch.nn.modules.instancenorm import *
from torch.nn.modules.linear import *
from torch.nn.modules.linear_cross_entropy_options import *
from torch.nn.modules.loss import *
from torch.nn.modules.normalization import *
from torch.nn.modules.padding import *
from torch.nn.modules.pixelshuffle import *
from torch.nn.modules.pooling import *
from torch.nn.modules.rnn import *
from torch.nn.modules.sparse import *
from torch.nn.modules.transformer import *
from torch.nn.modules.upsampling import *

from simpletorch.nn._blocks import MLP as MLP
from simpletorch.nn._blocks import FeedForward as FeedForward
from simpletorch.nn._blocks import Residual as Residual
from simpletorch.nn._blocks import SelfAttention as SelfAttention
from simpletorch.nn._blocks import TransformerBlock as TransformerBlock
from simpletorch.nn._initialize import initialize as initialize
from simpletorch.nn._module import Module as Module
from simpletorch.nn._recurrent import run_padded as run_padded
from simpletorch.nn._sequential import Sequential as Sequential
from simpletorch.nn._state import StateMismatch as StateMismatch
from simpletorch.nn._state import load_state_dict as load_state_dict
from simpletorch.nn._summary import Summary as Summary
from simpletorch.nn._summary import summary as summary
from simpletorch.nn._typed_repr import typed_repr as typed_repr

# Once more, for checkers without the plugin, see `simpletorch._plain`; mypy and the run time take what is above.
# isort: off
# fmt: off
from simpletorch.nn._plain import (  # type: ignore[assignment]
    Sequential as Sequential, AdaptiveAvgPool1d as AdaptiveAvgPool1d, AdaptiveAvgPool2d as AdaptiveAvgPool2d,
    AdaptiveAvgPool3d as AdaptiveAvgPool3d, AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss,
    AlphaDropout as AlphaDropout, AvgPool1d as AvgPool1d, AvgPool2d as AvgPool2d, AvgPool3d as AvgPool3d,
    BCELoss as BCELoss, BCEWithLogitsLoss as BCEWithLogitsLoss, BatchNorm1d as BatchNorm1d,
    BatchNorm2d as BatchNorm2d, BatchNorm3d as BatchNorm3d, Bilinear as Bilinear, CELU as CELU, CTCLoss as CTCLoss,
    ChannelShuffle as ChannelShuffle, CircularPad1d as CircularPad1d, CircularPad2d as CircularPad2d,
    CircularPad3d as CircularPad3d, ConstantPad1d as ConstantPad1d, ConstantPad2d as ConstantPad2d,
    ConstantPad3d as ConstantPad3d, Conv1d as Conv1d, Conv2d as Conv2d, Conv3d as Conv3d,
    ConvTranspose1d as ConvTranspose1d, ConvTranspose2d as ConvTranspose2d, ConvTranspose3d as ConvTranspose3d,
    CosineEmbeddingLoss as CosineEmbeddingLoss, CosineSimilarity as CosineSimilarity,
    CrossEntropyLoss as CrossEntropyLoss, CrossMapLRN2d as CrossMapLRN2d, Dropout as Dropout,
    Dropout1d as Dropout1d, Dropout2d as Dropout2d, Dropout3d as Dropout3d, ELU as ELU, Embedding as Embedding,
    EmbeddingBag as EmbeddingBag, FeatureAlphaDropout as FeatureAlphaDropout, Flatten as Flatten, Fold as Fold,
    GELU as GELU, GLU as GLU, GRU as GRU, GRUCell as GRUCell, GaussianNLLLoss as GaussianNLLLoss,
    GroupNorm as GroupNorm, Hardshrink as Hardshrink, Hardsigmoid as Hardsigmoid, Hardswish as Hardswish,
    Hardtanh as Hardtanh, HingeEmbeddingLoss as HingeEmbeddingLoss, HuberLoss as HuberLoss, Identity as Identity,
    InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d, InstanceNorm3d as InstanceNorm3d,
    KLDivLoss as KLDivLoss, L1Loss as L1Loss, LPPool1d as LPPool1d, LPPool2d as LPPool2d, LPPool3d as LPPool3d,
    LSTM as LSTM, LSTMCell as LSTMCell, LayerNorm as LayerNorm, LazyBatchNorm1d as LazyBatchNorm1d,
    LazyBatchNorm2d as LazyBatchNorm2d, LazyBatchNorm3d as LazyBatchNorm3d, LazyConv1d as LazyConv1d,
    LazyConv2d as LazyConv2d, LazyConv3d as LazyConv3d, LazyConvTranspose1d as LazyConvTranspose1d,
    LazyConvTranspose2d as LazyConvTranspose2d, LazyConvTranspose3d as LazyConvTranspose3d,
    LazyInstanceNorm1d as LazyInstanceNorm1d, LazyInstanceNorm2d as LazyInstanceNorm2d,
    LazyInstanceNorm3d as LazyInstanceNorm3d, LazyLinear as LazyLinear, LeakyReLU as LeakyReLU, Linear as Linear,
    LinearCrossEntropyLoss as LinearCrossEntropyLoss, LocalResponseNorm as LocalResponseNorm,
    LogSigmoid as LogSigmoid, LogSoftmax as LogSoftmax, MSELoss as MSELoss, MarginRankingLoss as MarginRankingLoss,
    MaxUnpool1d as MaxUnpool1d, MaxUnpool2d as MaxUnpool2d, MaxUnpool3d as MaxUnpool3d, Mish as Mish,
    ModuleDict as ModuleDict, ModuleList as ModuleList, MultiLabelMarginLoss as MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss,
    MultiMarginLoss as MultiMarginLoss, MultiheadAttention as MultiheadAttention, NLLLoss as NLLLoss,
    NLLLoss2d as NLLLoss2d, PReLU as PReLU, PairwiseDistance as PairwiseDistance, PixelShuffle as PixelShuffle,
    PixelUnshuffle as PixelUnshuffle, PoissonNLLLoss as PoissonNLLLoss, RMSNorm as RMSNorm, RNN as RNN,
    RNNCell as RNNCell, RReLU as RReLU, ReLU as ReLU, ReLU6 as ReLU6, ReflectionPad1d as ReflectionPad1d,
    ReflectionPad2d as ReflectionPad2d, ReflectionPad3d as ReflectionPad3d, ReplicationPad1d as ReplicationPad1d,
    ReplicationPad2d as ReplicationPad2d, ReplicationPad3d as ReplicationPad3d, SELU as SELU, SiLU as SiLU,
    Sigmoid as Sigmoid, SmoothL1Loss as SmoothL1Loss, SoftMarginLoss as SoftMarginLoss, Softmax as Softmax,
    Softmax2d as Softmax2d, Softmin as Softmin, Softplus as Softplus, Softshrink as Softshrink,
    Softsign as Softsign, SyncBatchNorm as SyncBatchNorm, Tanh as Tanh, Tanhshrink as Tanhshrink,
    Threshold as Threshold, Transformer as Transformer, TransformerDecoder as TransformerDecoder,
    TransformerDecoderLayer as TransformerDecoderLayer, TransformerEncoder as TransformerEncoder,
    TransformerEncoderLayer as TransformerEncoderLayer, TripletMarginLoss as TripletMarginLoss,
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss, Unflatten as Unflatten, Unfold as Unfold,
    Upsample as Upsample, UpsamplingBilinear2d as UpsamplingBilinear2d, UpsamplingNearest2d as UpsamplingNearest2d,
    ZeroPad1d as ZeroPad1d, ZeroPad2d as ZeroPad2d, ZeroPad3d as ZeroPad3d,
)
