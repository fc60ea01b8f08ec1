"""The names that ``torch.Tensor`` has: those of the rules, and those that have none."""

from __future__ import annotations

from functools import cache
from typing import Final

from simpletorch.rules.core.registry import RULES

__all__ = ["is_of_tensors", "of_tensors"]

_PREFIX: Final = "Tensor."
_WITHOUT_RULE: Final = frozenset({
    "as_subclass", "ccol_indices", "col_indices", "const_data_ptr", "crow_indices", "dense_dim", "dequantize", "eig",
    "grad", "grad_dtype", "grad_fn", "index", "indices", "int_repr", "ipu", "is_coalesced", "is_distributed",
    "is_ipu", "is_maia", "is_mkldnn", "is_mtia", "is_sparse_csr", "is_vulkan", "is_xla", "layout", "lstsq",
    "module_load", "mtia", "name", "new", "numpy", "q_per_channel_axis", "q_per_channel_scales",
    "q_per_channel_zero_points", "q_scale", "q_zero_point", "qscheme", "record_stream", "register_hook",
    "register_post_accumulate_grad_hook", "reinforce", "resize_as_sparse_", "retain_grad", "retains_grad",
    "row_indices", "set_", "slice_inverse", "smm", "solve", "sparse_dim", "sparse_mask", "sparse_resize_",
    "sparse_resize_and_clear_", "sspaddmm", "storage", "storage_type", "symeig", "to_mkldnn", "to_padded_tensor",
    "to_sparse", "to_sparse_bsc", "to_sparse_bsr", "to_sparse_coo", "to_sparse_csc", "to_sparse_csr",
    "untyped_storage", "values", "volatile",
})  # fmt: skip


def is_of_tensors(name: str) -> bool:
    """Whether a tensor has a public attribute of this name."""
    return name in _WITHOUT_RULE or _PREFIX + name in RULES


@cache
def of_tensors() -> tuple[str, ...]:
    """The names of all public attributes of tensors."""
    ruled = {name.removeprefix(_PREFIX) for name in RULES if name.startswith(_PREFIX)}
    return tuple(sorted(name for name in _WITHOUT_RULE | ruled if not name.startswith("_")))
