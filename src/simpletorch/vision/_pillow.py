"""The pixels of a Pillow image as a tensor, without a copy where that can be had."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from PIL.Image import Image


class _ArrowArray(ctypes.Structure):
    """``struct ArrowArray``; https://arrow.apache.org/docs/format/CDataInterface.html"""


_ArrowArray._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_ArrowArray))),
    *((name, ctypes.c_void_p) for name in ("dictionary", "release", "private_data")),
]


_pointer: Final = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def pixels(image: Image) -> torch.Tensor:
    """UInt8 ``[C, H, W]`` of an image whose mode has bytes (L, LA, RGB, RGBA), decoded now; it may be written to."""
    image.load()
    shared = _shared(image) if image.mode == "RGB" else None
    if shared is not None:
        return shared
    # bytes can't be written to; a bytearray of them is a faster copy than np.array
    flat = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return flat.view(image.height, image.width, -1).permute(2, 0, 1)


def _shared(image: Image) -> torch.Tensor | None:
    """Pillow's own memory, which has a fourth, unused byte in each pixel; None if it isn't in one piece."""
    try:
        _, capsule = image.__arrow_c_array__()
    except (AttributeError, ValueError, MemoryError):  # Pillow before 11.2; an image in several blocks of memory
        return None
    array = _ArrowArray.from_address(_pointer(capsule, b"arrow_array"))
    if array.n_children != 1 or array.offset or array.length != image.width * image.height:
        return None
    values = array.children[0].contents.buffers[1]
    # four bytes a pixel, all in the child array, whose buffers[0] would say which of them are null
    memory: Any = (ctypes.c_uint8 * (4 * array.length)).from_address(values)
    memory.owner = capsule  # the tensor keeps `memory`, and that keeps Pillow's image
    four = torch.frombuffer(memory, dtype=torch.uint8).view(image.height, image.width, 4)
    return four[..., :3].permute(2, 0, 1)
