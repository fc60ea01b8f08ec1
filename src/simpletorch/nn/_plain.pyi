"""Layers for type checkers without the mypy plugin: a call takes and gives what ``forward`` does.

torch types every call of a module as ``Callable[..., Any]``. See `simpletorch._plain` for who sees these.
"""

from typing import Any, Self

from torch import Tensor, nn

class AdaptiveAvgPool1d(nn.AdaptiveAvgPool1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool2d(nn.AdaptiveAvgPool2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool3d(nn.AdaptiveAvgPool3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class AdaptiveLogSoftmaxWithLoss(nn.AdaptiveLogSoftmaxWithLoss):
    def __call__(self, input_: Tensor, target_: Tensor) -> Any: ...

class AlphaDropout(nn.AlphaDropout):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool1d(nn.AvgPool1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool2d(nn.AvgPool2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class AvgPool3d(nn.AvgPool3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class BCELoss(nn.BCELoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCEWithLogitsLoss(nn.BCEWithLogitsLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class BatchNorm1d(nn.BatchNorm1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm2d(nn.BatchNorm2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class BatchNorm3d(nn.BatchNorm3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Bilinear(nn.Bilinear):
    def __call__(self, input1: Tensor, input2: Tensor) -> Tensor: ...

class CELU(nn.CELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class CTCLoss(nn.CTCLoss):
    def __call__(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor: ...

class ChannelShuffle(nn.ChannelShuffle):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad1d(nn.CircularPad1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad2d(nn.CircularPad2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class CircularPad3d(nn.CircularPad3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad1d(nn.ConstantPad1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad2d(nn.ConstantPad2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConstantPad3d(nn.ConstantPad3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv1d(nn.Conv1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv2d(nn.Conv2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Conv3d(nn.Conv3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ConvTranspose1d(nn.ConvTranspose1d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class ConvTranspose2d(nn.ConvTranspose2d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class ConvTranspose3d(nn.ConvTranspose3d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class CosineEmbeddingLoss(nn.CosineEmbeddingLoss):
    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class CosineSimilarity(nn.CosineSimilarity):
    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class CrossEntropyLoss(nn.CrossEntropyLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class CrossMapLRN2d(nn.CrossMapLRN2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout(nn.Dropout):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout1d(nn.Dropout1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout2d(nn.Dropout2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Dropout3d(nn.Dropout3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ELU(nn.ELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Embedding(nn.Embedding):
    def __call__(self, input: Tensor) -> Tensor: ...

class EmbeddingBag(nn.EmbeddingBag):
    def __call__(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor: ...

class FeatureAlphaDropout(nn.FeatureAlphaDropout):
    def __call__(self, input: Tensor) -> Tensor: ...

class Flatten(nn.Flatten):
    def __call__(self, input: Tensor) -> Tensor: ...

class Fold(nn.Fold):
    def __call__(self, input: Tensor) -> Tensor: ...

class GELU(nn.GELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class GLU(nn.GLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class GRU(nn.GRU):
    def __call__(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]: ...

class GRUCell(nn.GRUCell):
    def __call__(self, input: Tensor, hx: Tensor | None = None) -> Tensor: ...

class GaussianNLLLoss(nn.GaussianNLLLoss):
    def __call__(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor: ...

class GroupNorm(nn.GroupNorm):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardshrink(nn.Hardshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardsigmoid(nn.Hardsigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardswish(nn.Hardswish):
    def __call__(self, input: Tensor) -> Tensor: ...

class Hardtanh(nn.Hardtanh):
    def __call__(self, input: Tensor) -> Tensor: ...

class HingeEmbeddingLoss(nn.HingeEmbeddingLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class HuberLoss(nn.HuberLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class Identity(nn.Identity):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm1d(nn.InstanceNorm1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm2d(nn.InstanceNorm2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class InstanceNorm3d(nn.InstanceNorm3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class KLDivLoss(nn.KLDivLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class L1Loss(nn.L1Loss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class LPPool1d(nn.LPPool1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LPPool2d(nn.LPPool2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LPPool3d(nn.LPPool3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LSTM(nn.LSTM):
    def __call__(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]: ...

class LSTMCell(nn.LSTMCell):
    def __call__(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]: ...

class LayerNorm(nn.LayerNorm):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm1d(nn.LazyBatchNorm1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm2d(nn.LazyBatchNorm2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm3d(nn.LazyBatchNorm3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv1d(nn.LazyConv1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv2d(nn.LazyConv2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConv3d(nn.LazyConv3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyConvTranspose1d(nn.LazyConvTranspose1d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyConvTranspose2d(nn.LazyConvTranspose2d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyConvTranspose3d(nn.LazyConvTranspose3d):
    def __call__(self, input: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class LazyInstanceNorm1d(nn.LazyInstanceNorm1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm2d(nn.LazyInstanceNorm2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm3d(nn.LazyInstanceNorm3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class LazyLinear(nn.LazyLinear):
    def __call__(self, input: Tensor) -> Tensor: ...

class LeakyReLU(nn.LeakyReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Linear(nn.Linear):
    def __call__(self, input: Tensor) -> Tensor: ...

class LinearCrossEntropyLoss(nn.LinearCrossEntropyLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class LocalResponseNorm(nn.LocalResponseNorm):
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSigmoid(nn.LogSigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class LogSoftmax(nn.LogSoftmax):
    def __call__(self, input: Tensor) -> Tensor: ...

class MSELoss(nn.MSELoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MarginRankingLoss(nn.MarginRankingLoss):
    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class MaxUnpool1d(nn.MaxUnpool1d):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class MaxUnpool2d(nn.MaxUnpool2d):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class MaxUnpool3d(nn.MaxUnpool3d):
    def __call__(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor: ...

class Mish(nn.Mish):
    def __call__(self, input: Tensor) -> Tensor: ...

class MultiLabelMarginLoss(nn.MultiLabelMarginLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiLabelSoftMarginLoss(nn.MultiLabelSoftMarginLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiMarginLoss(nn.MultiMarginLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiheadAttention(nn.MultiheadAttention):
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

class NLLLoss(nn.NLLLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class NLLLoss2d(nn.NLLLoss2d):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class PReLU(nn.PReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class PairwiseDistance(nn.PairwiseDistance):
    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class PixelShuffle(nn.PixelShuffle):
    def __call__(self, input: Tensor) -> Tensor: ...

class PixelUnshuffle(nn.PixelUnshuffle):
    def __call__(self, input: Tensor) -> Tensor: ...

class PoissonNLLLoss(nn.PoissonNLLLoss):
    def __call__(self, log_input: Tensor, target: Tensor) -> Tensor: ...

class RMSNorm(nn.RMSNorm):
    def __call__(self, x: Tensor) -> Tensor: ...

class RNN(nn.RNN):
    def __call__(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]: ...

class RNNCell(nn.RNNCell):
    def __call__(self, input: Tensor, hx: Tensor | None = None) -> Tensor: ...

class RReLU(nn.RReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU(nn.ReLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReLU6(nn.ReLU6):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad1d(nn.ReflectionPad1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad2d(nn.ReflectionPad2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReflectionPad3d(nn.ReflectionPad3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad1d(nn.ReplicationPad1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad2d(nn.ReplicationPad2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ReplicationPad3d(nn.ReplicationPad3d):
    def __call__(self, input: Tensor) -> Tensor: ...

class SELU(nn.SELU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Sequential(nn.Sequential):
    def __call__(self, input: Any) -> Tensor: ...
    def add_layer(self, layer: nn.Module, name: str | None = None) -> Self: ...

class SiLU(nn.SiLU):
    def __call__(self, input: Tensor) -> Tensor: ...

class Sigmoid(nn.Sigmoid):
    def __call__(self, input: Tensor) -> Tensor: ...

class SmoothL1Loss(nn.SmoothL1Loss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class SoftMarginLoss(nn.SoftMarginLoss):
    def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

class Softmax(nn.Softmax):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmax2d(nn.Softmax2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softmin(nn.Softmin):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softplus(nn.Softplus):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softshrink(nn.Softshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Softsign(nn.Softsign):
    def __call__(self, input: Tensor) -> Tensor: ...

class SyncBatchNorm(nn.SyncBatchNorm):
    def __call__(self, input: Tensor) -> Tensor: ...

class Tanh(nn.Tanh):
    def __call__(self, input: Tensor) -> Tensor: ...

class Tanhshrink(nn.Tanhshrink):
    def __call__(self, input: Tensor) -> Tensor: ...

class Threshold(nn.Threshold):
    def __call__(self, input: Tensor) -> Tensor: ...

class Transformer(nn.Transformer):
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

class TransformerDecoder(nn.TransformerDecoder):
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

class TransformerDecoderLayer(nn.TransformerDecoderLayer):
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

class TransformerEncoder(nn.TransformerEncoder):
    def __call__(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor: ...

class TransformerEncoderLayer(nn.TransformerEncoderLayer):
    def __call__(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor: ...

class TripletMarginLoss(nn.TripletMarginLoss):
    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class TripletMarginWithDistanceLoss(nn.TripletMarginWithDistanceLoss):
    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class Unflatten(nn.Unflatten):
    def __call__(self, input: Tensor) -> Tensor: ...

class Unfold(nn.Unfold):
    def __call__(self, input: Tensor) -> Tensor: ...

class Upsample(nn.Upsample):
    def __call__(self, input: Tensor) -> Tensor: ...

class UpsamplingBilinear2d(nn.UpsamplingBilinear2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class UpsamplingNearest2d(nn.UpsamplingNearest2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad1d(nn.ZeroPad1d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad2d(nn.ZeroPad2d):
    def __call__(self, input: Tensor) -> Tensor: ...

class ZeroPad3d(nn.ZeroPad3d):
    def __call__(self, input: Tensor) -> Tensor: ...
