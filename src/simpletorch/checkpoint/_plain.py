"""Python values as JSON and tensors, and back: exactly, and without ever running what a file says."""

from __future__ import annotations

import base64
import math
import sys
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch

from simpletorch.checkpoint._format import DTYPE_NAMES
from simpletorch.errors import CheckpointError

TAG: Final = "$"
"""The key that marks a JSON object which stands for something else: ``{"$": "tuple", "v": […]}``."""


def pack(
    value: Any,
    tensors: dict[str, torch.Tensor],
    *,
    copy: bool = False,
    sharded: dict[str, torch.Tensor] | None = None,
) -> Any:
    """``value`` as what `json` writes; its tensors are added to ``tensors``, by where they are: ``model.fc1.weight``.

    Those that are divided among processes (`DTensor`) are added to ``sharded``, as they are, if it is given.

    Tensors are on the CPU and contiguous afterwards; with ``copy``, none shares memory with ``value``. Two references
    to one tensor stay two references to one tensor.

    Raises:
        CheckpointError: there is something that is neither plain data nor a tensor; its place is named.
    """
    return _Packer(tensors, copy, sharded).pack(value, "")


class _Packer:
    def __init__(self, tensors: dict[str, torch.Tensor], copy: bool, sharded: dict[str, torch.Tensor] | None) -> None:
        self.tensors, self.copy, self.sharded = tensors, copy, sharded
        self.names: dict[tuple[Any, ...], str] = {}
        self.keep: list[torch.Tensor] = []  # their addresses are keys above, so they must not be freed meanwhile

    def pack(self, value: Any, path: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            # Python reads no decimals of more than 4,300 digits; these bits are 3,011
            return value if value.bit_length() < 10_000 else _tagged("int", hex(value))
        if kind is float:
            return value if math.isfinite(value) else _tagged("float", str(value))
        if isinstance(value, torch.Tensor):
            return self.tensor(value, path)
        if kind is dict:
            # JSON would make strings of other keys, and a key "$" of the program's would be read as a tag
            if all(type(key) is str for key in value) and TAG not in value:
                return {key: self.pack(item, _at(path, key)) for key, item in value.items()}
            return _tagged("dict", self.pairs(value, path))
        if kind is list:
            return [self.pack(item, _at(path, index)) for index, item in enumerate(value)]
        if kind in (tuple, set, frozenset):
            return _tagged(kind.__name__, [self.pack(item, _at(path, index)) for index, item in enumerate(value)])
        return self.less_common(value, path)

    def less_common(self, value: Any, path: str) -> Any:
        kind = type(value)
        if kind is OrderedDict:
            # torch hangs the versions of modules on their state; without them old layouts would be assumed
            metadata = getattr(value, "_metadata", None)
            packed = _tagged("ordered", self.pairs(value, path))
            if metadata is not None:
                packed["metadata"] = self.pack(dict(metadata), _at(path, "_metadata"))
            return packed
        if kind is Counter:
            return _tagged("counter", self.pairs(value, path))
        if kind is deque:
            items = [self.pack(item, _at(path, index)) for index, item in enumerate(value)]
            return {**_tagged("deque", items), "maxlen": value.maxlen}
        if kind is complex:
            return _tagged("complex", [self.pack(value.real, path), self.pack(value.imag, path)])
        if kind is bytes:
            return _tagged("bytes", base64.b64encode(value).decode())
        if kind in (torch.dtype, torch.device):
            return _tagged(kind.__name__, str(value).removeprefix("torch."))
        if kind is torch.Size:
            return _tagged("size", list(value))
        if kind is np.ndarray and value.dtype.kind in "biufc":
            if value.dtype.itemsize > (16 if value.dtype.kind == "c" else 8):
                raise _unfit(f"a NumPy array of {value.dtype}, which torch doesn't have", path, "use .astype(float)")
            # torch takes no other byte order and no negative strides
            native = np.array(value, value.dtype.newbyteorder("="), order="C")
            return {**self.tensor(torch.from_numpy(native), path), TAG: "array"}
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return {**_tagged("scalar", base64.b64encode(value.tobytes()).decode()), "dtype": value.dtype.str}
        raise _unfit(f"a {kind.__module__}.{kind.__qualname__}".replace("a builtins.", "a "), path)

    def pairs(self, value: Mapping[Any, Any], path: str) -> list[Any]:
        return [[self.pack(key, f"{path} (key)"), self.pack(item, _at(path, key))] for key, item in value.items()]

    def tensor(self, value: torch.Tensor, path: str) -> dict[str, Any]:
        if self.sharded is not None and is_sharded(value):
            return self.part(value.detach(), path, self.sharded)
        if reason := _not_dense(value):
            raise _unfit(reason, path, "give it as ordinary tensors" if "sparse" not in reason else "use .to_dense()")
        value = value.detach()
        address = (value.data_ptr(), value.dtype, value.shape, value.stride(), value.device)
        address += (value.is_conj(), value.is_neg())  # the same memory, read otherwise
        # tensors without elements have no address, and would all be one
        if value.numel() and address in self.names:
            return _tagged("tensor", self.names[address])
        packed: dict[str, Any] = {}
        flat = value.resolve_conj().resolve_neg().to("cpu").contiguous()
        if flat.dtype not in DTYPE_NAMES:
            packed = {"dtype": str(flat.dtype).removeprefix("torch."), "shape": list(flat.shape)}
            flat = flat.reshape(-1).view(torch.uint8)
        # from another device it has been copied already
        if self.copy and value.device.type == "cpu":
            flat = flat.clone()
        name = path
        # the key "a.b" and the key "b" inside of "a" have one path
        while name in self.tensors:
            name += "'"
        self.tensors[name] = flat
        self.names[address] = name
        self.keep.append(value)
        return {**_tagged("tensor", name), **packed}

    def part(self, value: Any, path: str, sharded: dict[str, torch.Tensor]) -> dict[str, Any]:
        if value.dtype not in DTYPE_NAMES or any(placement.is_partial() for placement in value.placements):
            what = f"a DTensor of {value.dtype} with {value.placements}"
            raise _unfit(what, path, "give it as .full_tensor(), or .redistribute() it: sums must be complete")
        local = value.to_local()
        # of tied weights this process has the same part, unless it has none: then both are kept
        address = (local.data_ptr(), value.dtype, value.shape, local.shape, local.stride(), "sharded")
        if local.numel() and address in self.names:
            return _tagged("sharded", self.names[address])
        name = path
        while name in self.tensors or name in sharded:
            name += "'"
        sharded[name] = value
        self.names[address] = name
        self.keep.append(local)
        return _tagged("sharded", name)


def is_sharded(value: Any) -> bool:
    """Whether it is a `DTensor`: each process has a part (or a copy)."""
    # whoever has one has imported its class: here it would take half a second
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def _at(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _tagged(tag: str, value: Any) -> dict[str, Any]:
    return {TAG: tag, "v": value}


def _not_dense(value: torch.Tensor) -> str:
    """Why this tensor can't be kept as one block of numbers; "" when it can."""
    if value.layout != torch.strided:
        return f"a sparse tensor ({value.layout})"
    if value.is_meta:
        return "a tensor on the meta device, which has no numbers"
    if value.is_quantized:
        return f"a quantized tensor ({value.dtype})"
    if hasattr(value, "__tensor_flatten__") or value.is_nested:
        return f"a {type(value).__name__}, which is made of several tensors"
    return ""


def _unfit(what: str, path: str, hint: str = "") -> CheckpointError:
    return CheckpointError(
        f"{path} is {what}: a checkpoint holds tensors, arrays, numbers, strings, and lists, tuples, sets and dicts",
        hint=hint or "let state_dict() return such data, for instance dataclasses.asdict(…), str(path) or enum.name",
    )


def unpack(packed: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    """The inverse of `pack`.

    Raises:
        CheckpointError: ``packed`` is not what `pack` makes, or refers to a tensor that is missing.
    """
    if isinstance(packed, list):
        return [unpack(item, tensors) for item in packed]
    if not isinstance(packed, dict):
        return packed
    tag = packed.get(TAG)
    if tag is None:
        return {key: unpack(item, tensors) for key, item in packed.items()}
    try:
        return _READERS[tag](packed, tensors)
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError) as error:
        raise CheckpointError(f"the checkpoint's description has a {tag!r} that can't be read: {error}") from error


def _items(packed: dict[str, Any], tensors: Mapping[str, torch.Tensor]) -> list[Any]:
    return [unpack(item, tensors) for item in packed["v"]]


def _entries(packed: dict[str, Any], tensors: Mapping[str, torch.Tensor]) -> list[tuple[Any, Any]]:
    return [(unpack(key, tensors), unpack(value, tensors)) for key, value in packed["v"]]


def _ordered(packed: dict[str, Any], tensors: Mapping[str, torch.Tensor]) -> OrderedDict[Any, Any]:
    result = OrderedDict(_entries(packed, tensors))
    if "metadata" in packed:
        result._metadata = OrderedDict(unpack(packed["metadata"], tensors))  # type: ignore[attr-defined]
    return result


def _tensor(packed: dict[str, Any], tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
    tensor = tensors[packed["v"]]
    if "dtype" in packed:
        return tensor.view(_dtype(packed["dtype"])).reshape(packed["shape"])
    return tensor


def _dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch.{name} is no dtype")
    return dtype


def _scalar(packed: dict[str, Any]) -> Any:
    dtype = np.dtype(packed["dtype"])
    if dtype.kind not in "biufc":
        raise ValueError(f"{dtype} is no dtype of numbers")
    (value,) = np.frombuffer(base64.b64decode(packed["v"], validate=True), dtype)
    return value


_READERS: Final[dict[str, Callable[[dict[str, Any], Mapping[str, torch.Tensor]], Any]]] = {
    "int": lambda packed, _: int(packed["v"], 16),
    "float": lambda packed, _: float(packed["v"]),
    "complex": lambda packed, tensors: complex(*_items(packed, tensors)),
    "bytes": lambda packed, _: base64.b64decode(packed["v"], validate=True),
    "tuple": lambda packed, tensors: tuple(_items(packed, tensors)),
    "set": lambda packed, tensors: set(_items(packed, tensors)),
    "frozenset": lambda packed, tensors: frozenset(_items(packed, tensors)),
    "dict": lambda packed, tensors: dict(_entries(packed, tensors)),
    "ordered": _ordered,
    "counter": lambda packed, tensors: Counter(dict(_entries(packed, tensors))),
    "deque": lambda packed, tensors: deque(_items(packed, tensors), packed["maxlen"]),
    "dtype": lambda packed, _: _dtype(packed["v"]),
    "device": lambda packed, _: torch.device(packed["v"]),
    "size": lambda packed, _: torch.Size(packed["v"]),
    "tensor": _tensor,
    # what stands for it is among the tensors too: `_sharded` puts it there
    "sharded": _tensor,
    "array": lambda packed, tensors: _tensor(packed, tensors).numpy(),
    "scalar": lambda packed, _: _scalar(packed),
}
