"""Attention: the scaled dot product, and several heads of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.broadcasting import broadcast_shapes, need_expandable
from simpletorch.rules.common.conditions import (
    need_categories,
    need_divisible,
    need_float_or_complex,
    need_min_rank,
    need_rank,
    need_same_rank,
    need_shape,
    need_size,
)
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.core.cards import DROPS, Card
from simpletorch.rules.core.dtype import BOOL, FLOAT32
from simpletorch.rules.core.mismatch import Hint, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Item, Shape

SEQUENCE: Final = "(L, N, E), (N, L, E) or (L, E)"
"""What the dims of an operand mean."""


def _grouped_heads(query: Shape, key: Shape, name: str) -> Shape:
    """The batch of key or value once its heads are repeated for those of query."""
    if query.min_rank < 3 or key.min_rank < 3:
        return key.drop_last(2)
    heads, own = query.dim(-3), key.dim(-3)
    need_divisible("the number of heads of query", heads, f"that of {name}", own)
    return Shape((*key.drop_last(3).items, heads))


def _need_mask(mask: TensorType, query: TensorType, scores: Shape) -> None:
    """The mask is bool or has the query's dtype, and broadcasts to the scores without making them larger."""
    dtype = mask.dtype
    if dtype is not None and dtype.is_concrete and query.dtype is not None and query.dtype.is_concrete:
        # torch: "to be bool or float or to match query dtype"
        if dtype not in (BOOL, FLOAT32, query.dtype):
            raise Mismatch(
                f"attn_mask is {dtype}, but it must be Bool or {query.dtype} as query",
                kind="dtype",
                expected=query.dtype,
                got=dtype,
            )
    else:
        need_categories("attn_mask", dtype, "bool", "float", "complex", why="it must be Bool or floating")
    need_min_rank("attn_mask", mask, 2)
    need_expandable("attn_mask", mask.shape, scores, "the scores")


@rule("torch.nn.functional.scaled_dot_product_attention", card=Card(random=DROPS))
def scaled_dot_product_attention(
    query: TensorType,
    key: TensorType,
    value: TensorType,
    attn_mask: Value = None,
    dropout_p: Value = 0.0,
    is_causal: Value = False,
    scale: Value = None,
    enable_gqa: Value = False,
) -> TensorType:
    """``query (*b, L, E), key (*b, S, E), value (*b, S, Ev) -> (*b, L, Ev)``"""
    dtype = same_dtype(("query", query), ("key", key), ("value", value))
    for name, x in (("query", query), ("key", key), ("value", value)):
        need_min_rank(name, x, 2)
        need_float_or_complex(name, x, why="attention takes floats")
    q, k, v = query.shape, key.shape, value.shape
    need_size("the last dim of key is", k.dim(-1), "that of query is", q.dim(-1))
    need_size("dim -2 of value is", v.dim(-2), "key has a length of", k.dim(-2))
    batches = [q.drop_last(2), k.drop_last(2), v.drop_last(2)]
    if enable_gqa is True:
        batches[1:] = [_grouped_heads(q, k, "key"), _grouped_heads(q, v, "value")]
    elif enable_gqa is not False:
        batches[1:] = []
    names = ("the batch of query", "the batch of key", "the batch of value")
    rows = list(zip(names, batches, strict=False))
    if isinstance(attn_mask, TensorType):
        length = k.dim(-2) if k.dim(-2) is not UNKNOWN else v.dim(-2)
        _need_mask(attn_mask, query, Shape((*broadcast_shapes(*rows[:2]).items, q.dim(-2), length)))
    told = [row for row in rows if row[1] != ANY_SHAPE]
    unknown = [("the rest", ANY_SHAPE)] if len(told) < len(rows) else []
    batch = broadcast_shapes(*told, *unknown)  # unknown shapes together say no more than one of them
    return TensorType(Shape((*batch.items, q.dim(-2), v.dim(-1))), dtype)


@dataclass(frozen=True)
class _Lengths:
    """Whether the operands of a multi-head attention have a batch dim (None: not known), and their sizes."""

    batched: bool | None
    batch: Dim
    target: Dim
    source: Dim


def _lengths(query: TensorType, key: TensorType, value: TensorType, batch_first: Value) -> _Lengths:
    """The sizes by name, with the ranks and lengths of the operands checked against each other."""
    operands = (("query", query), ("key", key), ("value", value))
    ranks = {x.shape.rank for _, x in operands if x.shape.rank is not None}
    for name, x in operands:
        need_rank(name, x, 2, 3, meaning=SEQUENCE)
    for (left, a), (right, b) in combinations(operands, 2):
        need_same_rank(left, a.shape, right, b.shape)
    rank = ranks.pop() if ranks else None
    if rank is None or (rank == 3 and not isinstance(batch_first, bool)):
        return _Lengths(None if rank is None else True, UNKNOWN, UNKNOWN, UNKNOWN)
    if rank == 2:
        need_size("dim 0 of value is", value.shape.dim(-2), "key has a length of", key.shape.dim(-2))
        source = key.shape.dim(-2) if key.shape.dim(-2) is not UNKNOWN else value.shape.dim(-2)
        return _Lengths(False, UNKNOWN, query.shape.dim(-2), source)
    at, batch_at = (-2, -3) if batch_first else (-3, -2)
    turned = f"batch_first={not batch_first} would fit"
    for name, x in (("key", key), ("value", value)):
        need_size(f"{name} has a batch of", x.shape.dim(batch_at), "query has", query.shape.dim(batch_at), hint=turned)
    need_size("value has a length of", value.shape.dim(at), "key has", key.shape.dim(at), hint=turned)
    batch = next((x.shape.dim(batch_at) for _, x in operands if x.shape.dim(batch_at) is not UNKNOWN), UNKNOWN)
    source = key.shape.dim(at) if key.shape.dim(at) is not UNKNOWN else value.shape.dim(at)
    return _Lengths(True, batch, query.shape.dim(at), source)


def _need_sizes(name: str, mask: TensorType, *wanted: Dim, hint: Hint = None) -> None:
    if mask.shape.rank == len(wanted):
        need_shape(name, mask.shape, Shape(wanted), hint=hint)


def _need_masks(sizes: _Lengths, num_heads: Dim, attn_mask: Value, key_padding_mask: Value, batch_first: Value) -> None:
    """``attn_mask (L, S) or (N*num_heads, L, S)``, ``key_padding_mask (N, S)``; without batch likewise."""
    if isinstance(attn_mask, TensorType):
        need_categories("attn_mask", attn_mask.dtype, "bool", "float", hint="attn_mask.bool()")
        need_rank("attn_mask", attn_mask, 2, 3, meaning="(L, S) or (N*num_heads, L, S)")
        _need_sizes("attn_mask", attn_mask, sizes.target, sizes.source)
        if sizes.batched is not None:
            first = sizes.batch * num_heads if sizes.batched else num_heads
            _need_sizes("attn_mask", attn_mask, first, sizes.target, sizes.source)
    if isinstance(key_padding_mask, TensorType):
        need_categories("key_padding_mask", key_padding_mask.dtype, "bool", "float", hint="key_padding_mask.bool()")
        if sizes.batched is not None:
            meaning = "(N, S)" if sizes.batched else "(S,)"
            need_rank("key_padding_mask", key_padding_mask, 2 if sizes.batched else 1, meaning=meaning)
        _need_sizes("key_padding_mask", key_padding_mask, sizes.source)
        turned = (f"batch_first={not batch_first} would fit", "key_padding_mask.mT would fit")
        _need_sizes("key_padding_mask", key_padding_mask, sizes.batch, sizes.source, hint=turned)


def _weights(sizes: _Lengths, source: Dim, num_heads: Dim, average: Value) -> Value:
    """The type of the attention weights, averaged over the heads or one for each."""
    if sizes.batched is None or not isinstance(average, bool):
        return TensorType()
    items: list[Item] = [sizes.batch] if sizes.batched else []
    if not average:
        items.append(num_heads)
    return TensorType(Shape((*items, sizes.target, source)))


def attend(
    query: TensorType,
    key: TensorType,
    value: TensorType,
    *,
    embed_dim: Dim,
    num_heads: Dim,
    batch_first: Value,
    added: Dim = 0,
    key_padding_mask: Value = None,
    need_weights: Value = True,
    attn_mask: Value = None,
    average_attn_weights: Value = True,
    is_causal: Value = False,
) -> tuple[Value, Value]:
    """``query (L, N, E), key (S, N, Ek), value (S, N, Ev) -> (L, N, E), weights (N, L, S)``"""
    need_size("the last dim of query is", query.shape.dim(-1), "embed_dim is", embed_dim)
    sizes = _lengths(query, key, value, batch_first)
    _need_masks(sizes, num_heads, attn_mask, key_padding_mask, batch_first)
    if is_causal is True and attn_mask is None:
        raise Mismatch("is_causal=True is a hint about attn_mask, which isn't given", hint="give attn_mask too")
    out = TensorType(Shape((*query.shape.drop_last(1).items, embed_dim)), query.dtype)
    if need_weights is False:
        return (out, None)
    if need_weights is not True:
        return (out, ANYTHING)
    weights = _weights(sizes, sizes.source + added, num_heads, average_attn_weights)
    return (out, weights.with_dtype(query.dtype) if isinstance(weights, TensorType) else weights)


@rule("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    query: TensorType,
    key: TensorType,
    value: TensorType,
    embed_dim_to_check: Value,
    num_heads: Value,
    in_proj_weight: Value,
    in_proj_bias: Value,
    bias_k: Value,
    bias_v: Value,
    add_zero_attn: Value,
    dropout_p: Value,
    out_proj_weight: Value,
    out_proj_bias: Value,
    training: Value = True,
    key_padding_mask: Value = None,
    need_weights: Value = True,
    attn_mask: Value = None,
    use_separate_proj_weight: Value = False,
    q_proj_weight: Value = None,
    k_proj_weight: Value = None,
    v_proj_weight: Value = None,
    static_k: Value = None,
    static_v: Value = None,
    average_attn_weights: Value = True,
    is_causal: Value = False,
) -> Value:
    """``query (L, N, E), key (S, N, Ek), value (S, N, Ev) -> (L, N, E), weights (N, L, S)``"""
    same_dtype(("query", query), ("key", key), ("value", value))
    if use_separate_proj_weight is False:
        need_size("the last dim of key is", key.shape.dim(-1), "that of value is", value.shape.dim(-1))
        need_size("the last dim of key is", key.shape.dim(-1), "that of query is", query.shape.dim(-1))
        if isinstance(in_proj_weight, TensorType):
            same_dtype(("query", query), ("in_proj_weight", in_proj_weight))
            need_size("in_proj_weight takes", in_proj_weight.shape.dim(-1), "embed_dim is", as_dim(embed_dim_to_check))
    known = isinstance(add_zero_attn, bool) and static_k is None and (bias_k is None or isinstance(bias_k, TensorType))
    return attend(
        query,
        key,
        value,
        embed_dim=as_dim(embed_dim_to_check),
        num_heads=as_dim(num_heads),
        batch_first=False,
        # each of the two makes the sequence that is attended to longer by one
        added=int(add_zero_attn is True) + int(bias_k is not None) if known else UNKNOWN,
        key_padding_mask=key_padding_mask,
        need_weights=need_weights,
        attn_mask=attn_mask,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
    )


__all__ = ["SEQUENCE", "attend", "multi_head_attention_forward", "scaled_dot_product_attention"]
