"""How many bytes a kernel reads and writes: each argument once and each result once, but for what is listed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from simpletorch.kernels._opportunities._graph import Value, values_in

__all__ = ["GATHERS", "MAKERS", "traffic"]

Bytes = tuple[tuple[Value, int], ...]

_ALLOCATE: Final = frozenset(
    ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted")
)
# what makes a tensor of nothing, though it may look at the sizes of another one
MAKERS: Final = frozenset(
    (
        *(
            "zeros",
            "ones",
            "full",
            "arange",
            "scalar_tensor",
            "linspace",
            "eye",
            "rand",
            "randn",
            "randint",
            "tril_indices",
        ),
        *("zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"),
        *("new_zeros", "new_ones", "new_full", "triu_indices", "randperm"),
    )
)
# what changes a tensor without looking at what was in it
_OVERWRITE: Final = frozenset(
    (
        "copy_",
        "fill_",
        "zero_",
        "bernoulli_",
        "normal_",
        "uniform_",
        "random_",
        "exponential_",
        "log_normal_",
        "geometric_",
    )
)
# what reads only some rows of its first argument
GATHERS: Final = frozenset(("embedding", "index_select", "gather", "index", "take", "nll_loss_forward"))
# arguments whose sizes alone matter, by position
_SIZES_ONLY: Final = {
    "nll_loss_backward": (1,),
    "nll_loss2d_backward": (1,),
    "max_pool2d_with_indices_backward": (1,),
    "avg_pool2d_backward": (1,),
    "_adaptive_avg_pool2d_backward": (1,),
    "_softmax_backward_data": (),
}
# what makes zeros first, and writes its argument into a part of them
_INTO_ZEROS: Final = frozenset(("slice_backward", "select_backward", "diagonal_backward", "as_strided_scatter"))


def traffic(
    name: str, args: Sequence[Any], kwargs: dict[str, Any], changed: Sequence[Value], outputs: Sequence[Value]
) -> tuple[Bytes, Bytes]:
    """Bytes read and bytes written.

    Args:
        name: of the operator, without overload: ``add_`` is in place.
        changed: arguments that are written to, as they were before.
        outputs: the results, and changed arguments as they are afterwards.
    """
    if name in _ALLOCATE:
        return (), ()
    given = () if name in MAKERS else tuple(values_in((args, kwargs)))
    if name in _OVERWRITE:
        given = tuple(value for value in given if value not in changed)
    unread = [args[i] for i in _SIZES_ONLY.get(name, ()) if i < len(args)]
    given = tuple(value for value in given if value not in unread)
    written = sum(value.bytes for value in outputs)
    reads = {value: value.bytes for value in given}
    writes = {value: value.bytes for value in outputs}
    if name in GATHERS and isinstance(args[0], Value):
        reads[args[0]] = min(args[0].bytes, _gathered(name, args, outputs))
    elif name in _INTO_ZEROS and given and outputs:
        writes[outputs[0]] = written + given[0].bytes
    elif name in ("index_put_", "scatter_", "scatter_add_", "index_add_", "index_copy_") and changed and outputs:
        # only the places that are written to, which are read too if something is added there
        part = min(
            changed[0].bytes,
            max((v.bytes for v in given if v not in changed and v.dtype == changed[0].dtype), default=0),
        )
        reads[changed[0]] = part if "add" in name or name == "index_put_" else 0
        writes[outputs[0]] = part
    return tuple((v, n) for v, n in reads.items() if n), tuple((v, n) for v, n in writes.items() if n)


def _gathered(name: str, args: Sequence[Any], outputs: Sequence[Value]) -> int:
    rows = args[1].numel if name == "nll_loss_forward" else outputs[0].numel
    return int(rows) * int(args[0].dtype.itemsize)
