"""`opportunities`: the savings of a model's step, if its chains of operations were one kernel each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simpletorch.kernels._chips import GPU, GPUS
from simpletorch.kernels._opportunities._report import Opportunities, Opportunity, Traffic

if TYPE_CHECKING:
    import torch

__all__ = ["Opportunities", "Opportunity", "Traffic", "opportunities"]


def opportunities(
    model: Callable[..., Any],
    /,
    *inputs: Any,
    gpu: str | GPU = "H100",
    dtype: torch.dtype | None = None,
    backward: bool = False,
    loss: Callable[..., Any] | None = None,
    targets: Sequence[Any] = (),
    **keywords: Any,
) -> Opportunities:
    """The chains of operations in ``model(*inputs)`` that could be fused, and the savings on a GPU by roofline.

    ::

        print(kernels.opportunities(llama, "Int64[2, 1024]", gpu="H100", dtype=torch.bfloat16))
        kernels.opportunities(gpt.loss, tokens, backward=True)       # a method: its module's parameters take part
        kernels.opportunities(resnet50(), (8, 3, 224, 224), loss=F.cross_entropy, targets=("Int64[8]",), backward=True)

    Nothing is computed: the model is called on tensors without values, in the mode that it is in (``eval()`` for
    inference), and is left as it was. No GPU is needed. Each kernel is said to read each argument once and to write
    each result once, as the best kernel would; views are free. Rows don't overlap, so their savings add up.

    Args:
        model: a module, a method of one, or a function.
        inputs: the arguments: tensors, sizes, annotations such as ``"Int64[2, 1024]"``, anything else.
        gpu: one of the table (`simpletorch.kernels.GPU` makes others).
        dtype: of all floats of the model and of its inputs; by default as they are.
        backward: the gradients too, of ``loss`` or else of all that the model gives.
        loss: is called with the model's output, and ``targets``.
        targets: as ``inputs``.
        keywords: inputs by name.

    Raises:
        ValueError: there is no such GPU; a size isn't a number; the model asks for values.
        Exception: raised by the model; torch's own as `TorchError`.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels, nn
        >>> found = kernels.opportunities(nn.MLP(1024, 4096, 1024), "Float32[8192, 1024]")
        >>> found.gpu.name, len(found.rows)
        ('H100', 1)
    """
    from simpletorch.kernels._opportunities._search import searched
    from simpletorch.kernels._opportunities._trace import traced

    known = _gpu(gpu)
    args, named = _tensors(model, inputs, keywords)
    wanted = _tensors(model, targets, {})[0] if targets else ()
    graph = traced(model, args, named, dtype=dtype, backward=backward, loss=loss, targets=wanted)
    return searched(graph, known)


def _gpu(gpu: str | GPU) -> GPU:
    if isinstance(gpu, GPU):
        return gpu
    found = next((known for name, known in GPUS.items() if name.lower() == gpu.lower()), None)
    if found is None:
        names = ", ".join(GPUS)
        raise ValueError(
            f"opportunities: there is no GPU {gpu!r} in the table, which has {names}; another one is "
            'kernels.GPU("name", bandwidth=bytes a second, float32=operations a second)'
        )
    return found


def _tensors(
    model: Callable[..., Any], inputs: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Sizes and annotations as tensors without values; anything else as it is."""
    import torch

    from simpletorch.nn._summary_inputs import Sized, read_inputs

    if not inputs and not keywords and not isinstance(model, torch.nn.Module):
        return (), {}
    try:
        given = read_inputs(model, inputs, keywords)  # type: ignore[arg-type]  # a module only where it is asked
    except ValueError as error:
        raise ValueError(str(error).replace("summary: ", "opportunities: ", 1)) from None
    if symbols := given.symbols():
        raise ValueError(
            f"opportunities: bytes need numbers, but the sizes {', '.join(symbols)} of the inputs are open; "
            'write them as numbers, as in "Int64[2, 1024]"'
        )
    parameters = model.parameters() if isinstance(model, torch.nn.Module) else ()
    dtype = next((p.dtype for p in parameters if p.dtype.is_floating_point), torch.get_default_dtype())

    def made(value: Any) -> Any:
        if not isinstance(value, Sized):
            return value
        return torch.empty(value.at({}), dtype=value.dtype or dtype, device="meta")

    return given.made(made)
