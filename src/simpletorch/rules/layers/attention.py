"""Multi-head attention as a layer."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_float_or_complex,
    need_rank,
    need_size,
)
from simpletorch.rules.common.parameters import flagged, parameter
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.rules.functions.networks.attention import SEQUENCE, attend
from simpletorch.shapes import UNKNOWN, Dim, equal


@module("torch.nn.MultiheadAttention")
@record
class MultiheadAttention(ModuleRule):
    """``query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) -> (L, N, embed_dim), weights (N, L, S)``"""

    takes_parameters_dtype = ("query", "key", "value")
    holds_modules = True

    embed_dim: Value
    num_heads: Value
    bias: Value = True
    add_bias_kv: Value = False
    add_zero_attn: Value = False
    kdim: Value = None
    vdim: Value = None
    batch_first: Value = False
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        embed, heads = as_dim(self.embed_dim), as_dim(self.num_heads)
        need_at_least("embed_dim", embed, 1)
        need_at_least("num_heads", heads, 1)
        need_divisible("embed_dim", embed, "num_heads", heads)
        for name, value in (("kdim", self.kdim), ("vdim", self.vdim)):
            if value is not None:
                need_at_least(name, as_dim(value), 0)

    def _features(self, value: Value) -> Dim:
        return as_dim(self.embed_dim if value is None else value)

    def forward(  # type: ignore[override]  # its own operands
        self,
        query: TensorType,
        key: TensorType,
        value: TensorType,
        key_padding_mask: Value = None,
        need_weights: Value = True,
        attn_mask: Value = None,
        average_attn_weights: Value = True,
        is_causal: Value = False,
    ) -> Value:
        for name, x in (("query", query), ("key", key), ("value", value)):
            need_float_or_complex(name, x, why="the weights are floats")
            need_rank(name, x, 2, 3, meaning=SEQUENCE)
        need_size("the last dim of query is", query.shape.dim(-1), "embed_dim is", as_dim(self.embed_dim))
        need_size("the last dim of key is", key.shape.dim(-1), "kdim is", self._features(self.kdim))
        need_size("the last dim of value is", value.shape.dim(-1), "vdim is", self._features(self.vdim))
        extra: Dim = 0
        for flag in (self.add_bias_kv, self.add_zero_attn):
            extra = extra + (int(flag) if isinstance(flag, bool) else UNKNOWN)
        return attend(
            query,
            key,
            value,
            embed_dim=as_dim(self.embed_dim),
            num_heads=as_dim(self.num_heads),
            batch_first=self.batch_first,
            added=extra,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )

    def attributes(self) -> Mapping[str, Value]:
        e = as_dim(self.embed_dim)
        packed = all(equal(self._features(v), e) is True for v in (self.kdim, self.vdim))
        separate = any(equal(self._features(v), e) is False for v in (self.kdim, self.vdim))

        joined: Value = True if packed else False if separate else ANYTHING
        apart: Value = not joined if isinstance(joined, bool) else ANYTHING
        return {
            "in_proj_weight": flagged(joined, parameter(3 * e, e)),
            "q_proj_weight": flagged(apart, parameter(e, e)),
            "k_proj_weight": flagged(apart, parameter(e, self._features(self.kdim))),
            "v_proj_weight": flagged(apart, parameter(e, self._features(self.vdim))),
            "in_proj_bias": flagged(self.bias, parameter(3 * e)),
            "bias_k": flagged(self.add_bias_kv, parameter(1, 1, e)),
            "bias_v": flagged(self.add_bias_kv, parameter(1, 1, e)),
        }


__all__ = ["MultiheadAttention"]
