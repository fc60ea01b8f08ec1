"""The Transformer and its layers."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    called,
    need_at_least,
    need_divisible,
    need_float_or_complex,
    need_one_of,
    need_probability,
    need_rank,
    need_same_rank,
    need_size,
)
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.rules.functions.networks.attention import SEQUENCE, attend
from simpletorch.shapes import UNKNOWN, Dim, Shape


def _need_sizes(d_model: Value, nhead: Value, dim_feedforward: Value, activation: Value) -> None:
    need_at_least("d_model", as_dim(d_model), 1)
    need_at_least("nhead", as_dim(nhead), 1)
    need_divisible("d_model", as_dim(d_model), "nhead", as_dim(nhead))
    need_at_least("dim_feedforward", as_dim(dim_feedforward), 0)
    need_one_of("activation", activation, "relu", "gelu", also="a function")


def _with_features(x: TensorType, features: Dim) -> TensorType:
    """The layer's result: the operand's shape, its features filled in."""
    return TensorType(Shape((*x.shape.drop_last(1).items, features)), x.dtype)


def _need_sequence(name: str, x: TensorType, features: Dim, what: str = "d_model is") -> None:
    need_float_or_complex(name, x, why="the weights are floats")
    need_rank(name, x, 2, 3, meaning=SEQUENCE)
    need_size(f"the last dim of {name} is", x.shape.dim(-1), what, features)


@record
class _Layer(ModuleRule):
    holds_modules = True

    d_model: Value
    nhead: Value
    dim_feedforward: Value = 2048
    activation: Value = ANYTHING  # torch's default is the function relu
    batch_first: Value = False
    device: Value = None
    dtype: Value = None

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        need_probability("dropout", given.get("dropout"))

    def check(self) -> None:
        _need_sizes(self.d_model, self.nhead, self.dim_feedforward, self.activation)

    def attend(
        self,
        query: TensorType,
        key: TensorType,
        mask: Value,
        padding: Value,
        is_causal: Value,
        names: Mapping[str, str],
    ) -> None:
        """The checks of one attention, in the names of the layer's own parameters."""
        with called(**names):
            attend(
                query,
                key,
                key,
                embed_dim=as_dim(self.d_model),
                num_heads=as_dim(self.nhead),
                batch_first=self.batch_first,
                key_padding_mask=padding,
                attn_mask=mask,
                is_causal=is_causal,
            )


@module("torch.nn.TransformerEncoderLayer")
@record
class TransformerEncoderLayer(_Layer):
    """``(L, N, d_model) -> (L, N, d_model)``; N first if batch_first"""

    takes_parameters_dtype = ("src",)

    def forward(
        self,
        src: TensorType,
        src_mask: Value = None,
        src_key_padding_mask: Value = None,
        is_causal: Value = False,
    ) -> TensorType:
        _need_sequence("src", src, as_dim(self.d_model))
        names = {
            "key_padding_mask": "src_key_padding_mask",
            "attn_mask": "src_mask",
            "query": "src",
            "key": "src",
            "value": "src",
        }
        self.attend(src, src, src_mask, src_key_padding_mask, is_causal, names)
        return _with_features(src, as_dim(self.d_model))


@module("torch.nn.TransformerDecoderLayer")
@record
class TransformerDecoderLayer(_Layer):
    """``tgt (T, N, d_model), memory (S, N, d_model) -> (T, N, d_model)``; N first if batch_first"""

    takes_parameters_dtype = ("tgt", "memory")

    def forward(  # type: ignore[override]  # its own operands
        self,
        tgt: TensorType,
        memory: TensorType,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        tgt_is_causal: Value = False,
        memory_is_causal: Value = False,
    ) -> TensorType:
        _need_sequence("tgt", tgt, as_dim(self.d_model))
        _need_sequence("memory", memory, as_dim(self.d_model))
        names = {
            "key_padding_mask": "tgt_key_padding_mask",
            "attn_mask": "tgt_mask",
            "query": "tgt",
            "key": "tgt",
            "value": "tgt",
        }
        self.attend(tgt, tgt, tgt_mask, tgt_key_padding_mask, tgt_is_causal, names)
        names = {
            "key_padding_mask": "memory_key_padding_mask",
            "attn_mask": "memory_mask",
            "query": "tgt",
            "key": "memory",
            "value": "memory",
        }
        self.attend(tgt, memory, memory_mask, memory_key_padding_mask, memory_is_causal, names)
        return _with_features(tgt, as_dim(self.d_model))


@module("torch.nn.TransformerEncoder")
@record
class TransformerEncoder(ModuleRule):
    """``(L, N, E) -> (L, N, E)``"""

    holds_modules = True

    encoder_layer: Value
    num_layers: Value

    def forward(
        self, src: TensorType, mask: Value = None, src_key_padding_mask: Value = None, is_causal: Value = None
    ) -> TensorType:
        if isinstance(self.encoder_layer, TransformerEncoderLayer):
            return self.encoder_layer.forward(src, mask, src_key_padding_mask)
        return TensorType(src.shape, src.dtype)


@module("torch.nn.TransformerDecoder")
@record
class TransformerDecoder(ModuleRule):
    """``tgt (T, N, E), memory (S, N, E) -> (T, N, E)``"""

    holds_modules = True

    decoder_layer: Value
    num_layers: Value

    def forward(  # type: ignore[override]  # its own operands
        self,
        tgt: TensorType,
        memory: TensorType,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        tgt_is_causal: Value = None,
        memory_is_causal: Value = False,
    ) -> TensorType:
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        if isinstance(self.decoder_layer, TransformerDecoderLayer):
            return self.decoder_layer.forward(tgt, memory, *masks)
        return TensorType(tgt.shape, tgt.dtype)


@module("torch.nn.Transformer")
@record
class Transformer(ModuleRule):
    """``src (S, N, d_model), tgt (T, N, d_model) -> (T, N, d_model)``; N first if batch_first"""

    takes_parameters_dtype = ("src", "tgt")
    holds_modules = True

    d_model: Value = 512
    nhead: Value = 8
    num_encoder_layers: Value = 6
    num_decoder_layers: Value = 6
    dim_feedforward: Value = 2048
    activation: Value = ANYTHING  # torch's default is the function relu
    custom_encoder: Value = None
    custom_decoder: Value = None
    batch_first: Value = False
    device: Value = None
    dtype: Value = None

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        if given.get("custom_encoder") is None or given.get("custom_decoder") is None:
            need_probability("dropout", given.get("dropout"))

    def check(self) -> None:
        if self.custom_encoder is None or self.custom_decoder is None:
            _need_sizes(self.d_model, self.nhead, self.dim_feedforward, self.activation)

    def _need_batches(self, src: TensorType, tgt: TensorType) -> None:
        need_same_rank("src", src.shape, "tgt", tgt.shape)
        if src.shape.rank == tgt.shape.rank == 3 and isinstance(self.batch_first, bool):
            at = 0 if self.batch_first else 1
            hint = None if self.batch_first else "Transformer(..., batch_first=True) if the batch comes first"
            need_size("src has a batch of", src.shape.dim(at), "tgt has", tgt.shape.dim(at), hint=hint)

    def forward(  # type: ignore[override]  # its own operands
        self,
        src: TensorType,
        tgt: TensorType,
        src_mask: Value = None,
        tgt_mask: Value = None,
        memory_mask: Value = None,
        src_key_padding_mask: Value = None,
        tgt_key_padding_mask: Value = None,
        memory_key_padding_mask: Value = None,
        src_is_causal: Value = None,
        tgt_is_causal: Value = None,
        memory_is_causal: Value = False,
    ) -> TensorType:
        if self.custom_encoder is not None or self.custom_decoder is not None:
            raise CannotTell
        _need_sequence("src", src, as_dim(self.d_model))
        _need_sequence("tgt", tgt, as_dim(self.d_model))
        self._need_batches(src, tgt)
        # the size and activation of the layers' feed-forward part show in no shape
        sizes = (self.d_model, self.nhead, UNKNOWN, ANYTHING, self.batch_first)
        memory = TransformerEncoderLayer(*sizes).forward(src, src_mask, src_key_padding_mask)
        return TransformerDecoderLayer(*sizes).forward(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )


__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
