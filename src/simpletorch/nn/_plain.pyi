"""Layers for type checkers without the mypy plugin: a call takes and gives what ``forward`` does.

torch types every call of a module as ``Callable[..., Any]``. See `simpletorch._plain` for who sees these.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, Generic, Self, overload

from torch import Tensor, nn
from typing_extensions import TypeVar, TypeVarTuple, Unpack

_Given = TypeVarTuple("_Given", default=Unpack[tuple[Any, ...]])  # the sizes, for ``nn.Linear[I, O]`` in an annotation
_Item = TypeVar("_Item", bound=nn.Module, default=nn.Module, covariant=True)

class AdaptiveAvgPool1d(nn.AdaptiveAvgPool1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool2d(nn.AdaptiveAvgPool2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool3d(nn.AdaptiveAvgPool3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveLogSoftmaxWithLoss(nn.AdaptiveLogSoftmaxWithLoss, Generic[*_Given]):
    def __call__(self, input_: Tensor, target_: Tensor) -> Any: ...

class AlphaDropout(nn.AlphaDropout, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool1d(nn.AvgPool1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool2d(nn.AvgPool2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool3d(nn.AvgPool3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class BCELoss(nn.BCELoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCEWithLogitsLoss(nn.BCEWithLogitsLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class BatchNorm1d(nn.BatchNorm1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm2d(nn.BatchNorm2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm3d(nn.BatchNorm3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Bilinear(nn.Bilinear, Generic[*_Given]):
    def __call__(self, input1: Tensor, input2: Tensor) -> Tensor: ...

class CELU(nn.CELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class CTCLoss(nn.CTCLoss, Generic[*_Given]):
    def __call__(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor: ...

class ChannelShuffle(nn.ChannelShuffle, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad1d(nn.CircularPad1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad2d(nn.CircularPad2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad3d(nn.CircularPad3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad1d(nn.ConstantPad1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad2d(nn.ConstantPad2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad3d(nn.ConstantPad3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv1d(nn.Conv1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv2d(nn.Conv2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv3d(nn.Conv3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConvTranspose1d(nn.ConvTranspose1d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class ConvTranspose2d(nn.ConvTranspose2d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class ConvTranspose3d(nn.ConvTranspose3d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class CosineEmbeddingLoss(nn.CosineEmbeddingLoss, Generic[*_Given]):
    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class CosineSimilarity(nn.CosineSimilarity, Generic[*_Given]):
    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class CrossEntropyLoss(nn.CrossEntropyLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class CrossMapLRN2d(nn.CrossMapLRN2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout(nn.Dropout, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout1d(nn.Dropout1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout2d(nn.Dropout2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout3d(nn.Dropout3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ELU(nn.ELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Embedding(nn.Embedding, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class EmbeddingBag(nn.EmbeddingBag, Generic[*_Given]):
    def __call__(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor: ...

class FeatureAlphaDropout(nn.FeatureAlphaDropout, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Flatten(nn.Flatten, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Fold(nn.Fold, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class GELU(nn.GELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class GLU(nn.GLU, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class GRU(nn.GRU, Generic[*_Given]):
    def __call__(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]: ...

class GRUCell(nn.GRUCell, Generic[*_Given]):
    def __call__(self, input: Tensor, hx: Tensor | None = None) -> Tensor: ...

class GaussianNLLLoss(nn.GaussianNLLLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor: ...

class GroupNorm(nn.GroupNorm, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardshrink(nn.Hardshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardsigmoid(nn.Hardsigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardswish(nn.Hardswish):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardtanh(nn.Hardtanh):
    def __call__(self, input: Tensor) -> Tensor: ...

class HingeEmbeddingLoss(nn.HingeEmbeddingLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class HuberLoss(nn.HuberLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class Identity(nn.Identity):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm1d(nn.InstanceNorm1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm2d(nn.InstanceNorm2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm3d(nn.InstanceNorm3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class KLDivLoss(nn.KLDivLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class L1Loss(nn.L1Loss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class LPPool1d(nn.LPPool1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LPPool2d(nn.LPPool2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LPPool3d(nn.LPPool3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LSTM(nn.LSTM, Generic[*_Given]):
    def __call__(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]: ...

class LSTMCell(nn.LSTMCell, Generic[*_Given]):
    def __call__(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]: ...

class LayerNorm(nn.LayerNorm, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm1d(nn.LazyBatchNorm1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm2d(nn.LazyBatchNorm2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm3d(nn.LazyBatchNorm3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv1d(nn.LazyConv1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv2d(nn.LazyConv2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv3d(nn.LazyConv3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConvTranspose1d(nn.LazyConvTranspose1d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyConvTranspose2d(nn.LazyConvTranspose2d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyConvTranspose3d(nn.LazyConvTranspose3d, Generic[*_Given]):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyInstanceNorm1d(nn.LazyInstanceNorm1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm2d(nn.LazyInstanceNorm2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm3d(nn.LazyInstanceNorm3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyLinear(nn.LazyLinear, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LeakyReLU(nn.LeakyReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Linear(nn.Linear, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LinearCrossEntropyLoss(nn.LinearCrossEntropyLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class LocalResponseNorm(nn.LocalResponseNorm, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSigmoid(nn.LogSigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSoftmax(nn.LogSoftmax, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class MSELoss(nn.MSELoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MarginRankingLoss(nn.MarginRankingLoss, Generic[*_Given]):
    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class MaxUnpool1d(nn.MaxUnpool1d, Generic[*_Given]):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class MaxUnpool2d(nn.MaxUnpool2d, Generic[*_Given]):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class MaxUnpool3d(nn.MaxUnpool3d, Generic[*_Given]):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class Mish(nn.Mish):
    def __call__(self, input: Tensor) -> Tensor: ...

class ModuleDict(nn.ModuleDict, Generic[_Item]):
    def __init__(self, modules: Mapping[str, _Item] | Iterable[tuple[str, _Item]] | None = None) -> None: ...
    def __getitem__(self, key: str) -> _Item: ...
    def pop(self, key: str) -> _Item: ...
    def items(self) -> ItemsView[str, _Item]: ...
    def values(self) -> ValuesView[_Item]: ...

class ModuleList(nn.ModuleList, Generic[_Item]):
    def __init__(self, modules: Iterable[_Item] | None = None) -> None: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> _Item: ...
    def __iter__(self) -> Iterator[_Item]: ...
    def pop(self, key: int | slice) -> _Item: ...

class MultiLabelMarginLoss(nn.MultiLabelMarginLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiLabelSoftMarginLoss(nn.MultiLabelSoftMarginLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiMarginLoss(nn.MultiMarginLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiheadAttention(nn.MultiheadAttention, Generic[*_Given]):
    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]: ...

class NLLLoss(nn.NLLLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class NLLLoss2d(nn.NLLLoss2d):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class PReLU(nn.PReLU, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class PairwiseDistance(nn.PairwiseDistance, Generic[*_Given]):
    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class PixelShuffle(nn.PixelShuffle, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class PixelUnshuffle(nn.PixelUnshuffle, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class PoissonNLLLoss(nn.PoissonNLLLoss, Generic[*_Given]):
    def __call__(self, log_input: Tensor, target: Tensor) -> Tensor: ...

class RMSNorm(nn.RMSNorm, Generic[*_Given]):
    def __call__(self, x: Tensor) -> Tensor: ...

class RNN(nn.RNN, Generic[*_Given]):
    def __call__(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]: ...

class RNNCell(nn.RNNCell, Generic[*_Given]):
    def __call__(self, input: Tensor, hx: Tensor | None = None) -> Tensor: ...

class RReLU(nn.RReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU(nn.ReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU6(nn.ReLU6):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad1d(nn.ReflectionPad1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad2d(nn.ReflectionPad2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad3d(nn.ReflectionPad3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad1d(nn.ReplicationPad1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad2d(nn.ReplicationPad2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad3d(nn.ReplicationPad3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class SELU(nn.SELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Sequential(nn.Sequential, Generic[*_Given]):
    def __call__(self, input: Any) -> Tensor: ...
    def add_layer(self, layer: nn.Module, name: str | None = None) -> Self: ...

class SiLU(nn.SiLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Sigmoid(nn.Sigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class SmoothL1Loss(nn.SmoothL1Loss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class SoftMarginLoss(nn.SoftMarginLoss, Generic[*_Given]):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class Softmax(nn.Softmax, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmax2d(nn.Softmax2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmin(nn.Softmin, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softplus(nn.Softplus):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softshrink(nn.Softshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softsign(nn.Softsign):
    def __call__(self, input: Tensor) -> Tensor: ...

class SyncBatchNorm(nn.SyncBatchNorm, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Tanh(nn.Tanh):
    def __call__(self, input: Tensor) -> Tensor: ...

class Tanhshrink(nn.Tanhshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Threshold(nn.Threshold):
    def __call__(self, input: Tensor) -> Tensor: ...

class Transformer(nn.Transformer, Generic[*_Given]):
    def __call__(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerDecoder(nn.TransformerDecoder, Generic[*_Given]):
    def __call__(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerDecoderLayer(nn.TransformerDecoderLayer, Generic[*_Given]):
    def __call__(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerEncoder(nn.TransformerEncoder, Generic[*_Given]):
    def __call__(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor: ...

class TransformerEncoderLayer(nn.TransformerEncoderLayer, Generic[*_Given]):
    def __call__(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor: ...

class TripletMarginLoss(nn.TripletMarginLoss, Generic[*_Given]):
    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class TripletMarginWithDistanceLoss(nn.TripletMarginWithDistanceLoss, Generic[*_Given]):
    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class Unflatten(nn.Unflatten, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Unfold(nn.Unfold, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class Upsample(nn.Upsample, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class UpsamplingBilinear2d(nn.UpsamplingBilinear2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class UpsamplingNearest2d(nn.UpsamplingNearest2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad1d(nn.ZeroPad1d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad2d(nn.ZeroPad2d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad3d(nn.ZeroPad3d, Generic[*_Given]):
    def __call__(self, input: Tensor) -> Tensor: ...
