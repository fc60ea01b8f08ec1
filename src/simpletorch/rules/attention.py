"""Attention: the scaled dot product and the multi-head layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simpletorch.rules.arguments import broadcast_shapes, same_dtype
from simpletorch.rules.dtype import BOOL, FLOAT32
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim, check_at_least, check_equal, need_float, need_ranks
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, BroadcastError, Dim, Item, Shape, broadcast, equal, same


def _grouped_heads(query: Shape, key: Shape, name: str) -> Shape:
    """The batch of key or value once its heads are repeated for those of query."""
    if query.min_rank < 3 or key.min_rank < 3:
        return key.drop_last(2)
    heads, own = query.dim(-3), key.dim(-3)
    if isinstance(heads, int) and isinstance(own, int) and (own == 0 or heads % own):
        raise Mismatch(
            f"{name} has {own} heads, which doesn't divide the {heads} heads of query", expected=heads, got=own
        )
    return Shape((*key.drop_last(3).items, heads))


def _check_mask(mask: TensorType, query: TensorType, scores: Shape) -> None:
    """The mask is bool or has the query's dtype, and broadcasts to the scores without making them larger."""
    dtype = mask.dtype
    if dtype is not None and dtype.is_concrete and query.dtype is not None and query.dtype.is_concrete:
        if dtype not in (BOOL, FLOAT32, query.dtype):
            raise Mismatch(
                f"attn_mask is {dtype}, but it must be Bool or {query.dtype} as query",
                kind="dtype",
                expected=query.dtype,
                got=dtype,
            )
    elif dtype is not None and dtype.category == "int":
        raise Mismatch(f"attn_mask is {dtype}, but it must be Bool or a float", kind="dtype", got=dtype)
    if mask.shape.rank is not None and mask.shape.rank < 2:
        raise Mismatch(f"attn_mask must have at least 2 dims, but it is {mask.shape}", got=mask.shape.rank)
    try:
        out = broadcast(scores, mask.shape)
    except BroadcastError:
        out = None
    if out is None or same(out, scores) is False:
        raise Mismatch(
            f"attn_mask has shape {mask.shape}, which can't be broadcast to the scores {scores}",
            expected=scores,
            got=mask.shape,
        )


@rule("torch.nn.functional.scaled_dot_product_attention")
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
        if x.shape.rank is not None and x.shape.rank < 2:
            raise Mismatch(f"{name} must have at least 2 dims, but it is {x.shape}", got=x.shape.rank)
        need_float(x, name=name, of="attention takes floats")
    q, k, v = query.shape, key.shape, value.shape
    check_equal("the last dim of key is", k.dim(-1), "that of query is", q.dim(-1))
    check_equal("dim -2 of value is", v.dim(-2), "key has a length of", k.dim(-2))
    batches = [q.drop_last(2), k.drop_last(2), v.drop_last(2)]
    if enable_gqa is True:
        batches[1:] = [_grouped_heads(q, k, "key"), _grouped_heads(q, v, "value")]
    elif enable_gqa is not False:
        batches[1:] = []
    names = ("the batch of query", "the batch of key", "the batch of value")
    rows = list(zip(names, batches, strict=False))
    if isinstance(attn_mask, TensorType):
        length = k.dim(-2) if k.dim(-2) is not UNKNOWN else v.dim(-2)
        _check_mask(attn_mask, query, Shape((*broadcast_shapes(*rows[:2]).items, q.dim(-2), length)))
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
        need_ranks(name, x.shape, 2, 3, meaning="(L, N, E), (N, L, E) or (L, E)")
    if len(ranks) > 1:
        shapes = ", ".join(f"{name} is {x.shape}" for name, x in operands)
        raise Mismatch(f"query, key and value must have the same number of dims, but {shapes}")
    rank = ranks.pop() if ranks else None
    if rank is None or (rank == 3 and not isinstance(batch_first, bool)):
        return _Lengths(None if rank is None else True, UNKNOWN, UNKNOWN, UNKNOWN)
    if rank == 2:
        check_equal("dim 0 of value is", value.shape.dim(-2), "key has a length of", key.shape.dim(-2))
        source = key.shape.dim(-2) if key.shape.dim(-2) is not UNKNOWN else value.shape.dim(-2)
        return _Lengths(False, UNKNOWN, query.shape.dim(-2), source)
    at, batch_at = (-2, -3) if batch_first else (-3, -2)
    for name, x in (("key", key), ("value", value)):
        check_equal(f"{name} has a batch of", x.shape.dim(batch_at), "query has", query.shape.dim(batch_at))
    check_equal("value has a length of", value.shape.dim(at), "key has", key.shape.dim(at))
    batch = next((x.shape.dim(batch_at) for _, x in operands if x.shape.dim(batch_at) is not UNKNOWN), UNKNOWN)
    source = key.shape.dim(at) if key.shape.dim(at) is not UNKNOWN else value.shape.dim(at)
    return _Lengths(True, batch, query.shape.dim(at), source)


def _check_mask_dtype(name: str, mask: TensorType) -> None:
    if mask.dtype is not None and mask.dtype.category in ("int", "complex"):
        raise Mismatch(
            f"{name} is {mask.dtype}, but it must be Bool or a float",
            kind="dtype",
            hint=f"{name}.bool()",
            got=mask.dtype,
        )


def _check_sizes(name: str, mask: TensorType, *wanted: Dim) -> None:
    if mask.shape.rank != len(wanted):
        return
    if any(equal(a, b) is False for a, b in zip(mask.shape.dims, wanted, strict=True)):
        raise Mismatch(
            f"{name} has shape {mask.shape}, but it must be {Shape(wanted)}", expected=Shape(wanted), got=mask.shape
        )


def _check_masks(sizes: _Lengths, num_heads: Dim, attn_mask: Value, key_padding_mask: Value) -> None:
    """``attn_mask (L, S) or (N*num_heads, L, S)``, ``key_padding_mask (N, S)``; without batch likewise."""
    if isinstance(attn_mask, TensorType):
        _check_mask_dtype("attn_mask", attn_mask)
        need_ranks("attn_mask", attn_mask.shape, 2, 3, meaning="(L, S) or (N*num_heads, L, S)")
        _check_sizes("attn_mask", attn_mask, sizes.target, sizes.source)
        if sizes.batched is not None:
            first = sizes.batch * num_heads if sizes.batched else num_heads
            _check_sizes("attn_mask", attn_mask, first, sizes.target, sizes.source)
    if isinstance(key_padding_mask, TensorType):
        _check_mask_dtype("key_padding_mask", key_padding_mask)
        if sizes.batched is not None:
            meaning = "(N, S)" if sizes.batched else "(S,)"
            need_ranks("key_padding_mask", key_padding_mask.shape, 2 if sizes.batched else 1, meaning=meaning)
        _check_sizes("key_padding_mask", key_padding_mask, sizes.source)
        _check_sizes("key_padding_mask", key_padding_mask, sizes.batch, sizes.source)


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
    check_equal("the last dim of query is", query.shape.dim(-1), "embed_dim is", embed_dim)
    sizes = _lengths(query, key, value, batch_first)
    _check_masks(sizes, num_heads, attn_mask, key_padding_mask)
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
        check_equal("the last dim of key is", key.shape.dim(-1), "that of value is", value.shape.dim(-1))
        check_equal("the last dim of key is", key.shape.dim(-1), "that of query is", query.shape.dim(-1))
        if isinstance(in_proj_weight, TensorType):
            same_dtype(("query", query), ("in_proj_weight", in_proj_weight))
            check_equal(
                "in_proj_weight takes", in_proj_weight.shape.dim(-1), "embed_dim is", as_dim(embed_dim_to_check)
            )
    known = isinstance(add_zero_attn, bool) and static_k is None and (bias_k is None or isinstance(bias_k, TensorType))
    return attend(
        query,
        key,
        value,
        embed_dim=as_dim(embed_dim_to_check),
        num_heads=as_dim(num_heads),
        batch_first=False,
        added=int(add_zero_attn is True) + int(bias_k is not None) if known else UNKNOWN,
        key_padding_mask=key_padding_mask,
        need_weights=need_weights,
        attn_mask=attn_mask,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
    )


@module("torch.nn.MultiheadAttention")
@record
class MultiheadAttention(ModuleRule):
    """``query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) -> (L, N, embed_dim), weights (N, L, S)``"""

    takes_parameters_dtype = ("query", "key", "value")

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
        check_at_least("embed_dim", (embed,), 1)
        check_at_least("num_heads", (heads,), 1)
        check_heads("embed_dim", embed, "num_heads", heads)
        for name, value in (("kdim", self.kdim), ("vdim", self.vdim)):
            if value is not None:
                check_at_least(name, (as_dim(value),), 0)

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
            need_float(x, name=name)
            if x.shape.rank == 0:
                raise Mismatch(f"{name} must have 2 or 3 dims (T, E) or (T, B, E), but it is 0-dim", got=0)
        check_equal("the last dim of query is", query.shape.dim(-1), "embed_dim is", as_dim(self.embed_dim))
        check_equal("the last dim of key is", key.shape.dim(-1), "kdim is", self._features(self.kdim))
        check_equal("the last dim of value is", value.shape.dim(-1), "vdim is", self._features(self.vdim))
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

        def parameter(present: Value, *dims: Dim) -> Value:
            if not isinstance(present, bool):
                return ANYTHING
            return TensorType(Shape(dims), is_parameter=True) if present else None

        joined: Value = True if packed else False if separate else ANYTHING
        apart: Value = not joined if isinstance(joined, bool) else ANYTHING
        return {
            "in_proj_weight": parameter(joined, 3 * e, e),
            "q_proj_weight": parameter(apart, e, e),
            "k_proj_weight": parameter(apart, e, self._features(self.kdim)),
            "v_proj_weight": parameter(apart, e, self._features(self.vdim)),
            "in_proj_bias": parameter(self.bias, 3 * e),
            "bias_k": parameter(self.add_bias_kv, 1, 1, e),
            "bias_v": parameter(self.add_bias_kv, 1, 1, e),
        }


def check_heads(what: str, size: Dim, name: str, heads: Dim) -> None:
    """The features must be divisible by the number of heads."""
    if isinstance(size, int) and isinstance(heads, int) and heads > 0 and size % heads:
        raise Mismatch(f"{what}={size} is not divisible by {name}={heads}", expected=heads, got=size)


__all__ = [
    "MultiheadAttention",
    "attend",
    "check_heads",
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
]
