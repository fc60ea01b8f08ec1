"""``torch_geometric``: how messages are passed, and graphs (`torch_geometric.txt`). Its layers' files are followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.installed import (
    stand,
    transformers,  # noqa: F401  (what is anything)
)
from simpletorch.follow.values import Function, List, Method, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_POOLS: Final = ("", ".pool", ".pool.glob")

_STANDING: Final = {
    "MessagePassing": "nn.conv.message_passing.MessagePassing nn.MessagePassing nn.conv.MessagePassing",
    "Data": "data.data.Data data.Data",
    "SparseTensor": "typing.SparseTensor",
    "is_sparse": "utils.sparse.is_torch_sparse_tensor utils.is_torch_sparse_tensor utils.is_sparse "
    "utils.sparse.is_sparse",
    "maybe_num_nodes": "utils.num_nodes.maybe_num_nodes",
    "remove_self_loops": "utils.remove_self_loops utils.loop.remove_self_loops",
    "add_self_loops": "utils.add_self_loops utils.loop.add_self_loops",
    "add_remaining_self_loops": "utils.add_remaining_self_loops utils.loop.add_remaining_self_loops",
    "scatter": "utils.scatter utils._scatter.scatter",
    "softmax": "utils.softmax utils._softmax.softmax",
    "pooled": " ".join(f"nn{place}.global_{kind}_pool" for kind in ("mean", "add", "max") for place in _POOLS),
}
"""By name in the text, where torch_geometric has it."""
stand("torch_geometric", "torch_geometric.txt", _STANDING)


@native("simpletorch_installed.parameters")
def _parameters(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The names of a method's parameters."""
    found = run.resolve(args[0])
    function = found.function if isinstance(found, Method) else found
    if not isinstance(function, Function):
        return run.unknown("the parameters of a function")
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    return List(tuple(names[isinstance(found, Method) :]))
