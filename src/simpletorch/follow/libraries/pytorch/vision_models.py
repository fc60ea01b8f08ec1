"""``simpletorch.vision.models``: those that torchvision has too end in the same layers under the same names, and are
followed as its are. U-Net is ours alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import layers
from simpletorch.follow.libraries import ALIASES, library_class, native
from simpletorch.follow.libraries.pytorch.torchvision_models import MODELS, images_for
from simpletorch.follow.values import Instance, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_VISION: Final = "simpletorch_vision"  # a name of its own: else simpletorch's names count as torch's
_UNET: Final = f"{_VISION}.models.UNet"
_DEFAULTS: Final = {"channels": 3, "num_classes": 2, "width": 64}  # of `unet`

ALIASES.update(
    {
        "simpletorch.vision": _VISION,
        "simpletorch.vision.models": MODELS,
        "simpletorch.vision.models.UNet": _UNET,
        "simpletorch.vision.models.unet": f"{_VISION}.models.unet",
    }
)


@native(f"{_VISION}.models.unet")
def _unet(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Of a U-Net only the last layer is known, which programs replace."""
    given = {name: run.resolve(kwargs.get(name, value)) for name, value in _DEFAULTS.items()}
    made = Instance(run.program.library_class(_UNET), given["width"])
    conv = run.program.library_class("torch.nn.Conv2d")
    head = run.call(conv, (given["width"], given["num_classes"]), {"kernel_size": 1})
    run.heap.write(made.cells, "head", head)
    run.heap.write(made.state, "open", True)
    return made


def _forward(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, kind = args[0], images_for(run, "head", args, kwargs)
    if isinstance(kind, Unknown):
        return kind
    batch, _, *pixels = kind.shape.dims if kind.shape.is_exact else [UNKNOWN] * 4
    width = me.native if isinstance(me.native, int) else UNKNOWN
    return run.call(me.cells["head"], (Tensor(TensorType(Shape((batch, width, *pixels)), kind.dtype)),))


library_class(_UNET, (layers.MODULE,), {"forward": _forward})
