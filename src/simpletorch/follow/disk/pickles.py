"""Pickles, read without running them: plain data, arrays and tensors are made from the opcodes.

A pickle names functions to call. Here a call gives a described value if the function is in one of two tables, and an
`Object` otherwise; nothing is ever imported.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Callable
from typing import IO, Any, Final

from simpletorch.follow.disk.arrays import numpy_dtype
from simpletorch.follow.disk.described import Array, Contents, Object, Tensor, Unreadable

__all__ = ["pickled", "torch_archive"]

_MOST_OPCODES: Final = 1_000_000
_LARGEST: Final = 1 << 26
_MARK: Final = object()


class _Global:
    """A class or function that a pickle names."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Storage:
    """A storage of torch's, by its dtype and number of elements."""

    def __init__(self, dtype: str, size: int | None) -> None:
        self.dtype = dtype
        self.size = size


class _Dtype:
    """A dtype of NumPy's."""

    def __init__(self, name: str) -> None:
        self.name = name


_STORAGES: Final = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip


def _sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, tuple | list) or not all(type(n) is int and 0 <= n < 1 << 62 for n in value):
        raise Unreadable("a shape that isn't one")
    return tuple(value)


def _rebuilt_tensor(storage: Any, offset: Any, size: Any, stride: Any, grad: Any = False, *rest: Any) -> Tensor:
    shape, steps = _sizes(size), _sizes(stride)
    if len(shape) != len(steps) or type(offset) is not int or offset < 0:
        raise Unreadable("a tensor that isn't one")
    if not isinstance(storage, _Storage):  # in a pickle that isn't torch's, storages are bytes of their own
        return Tensor(shape, "", grad is True)
    if storage.size is not None and 0 not in shape:
        last = offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        if last >= storage.size:
            raise Unreadable("a tensor larger than its storage")
    return Tensor(shape, storage.dtype, grad is True)


def _rebuilt_parameter(data: Any, grad: Any = True, *rest: Any) -> Any:
    return Tensor(data.shape, data.dtype, grad is True) if isinstance(data, Tensor) else Object("torch.nn.Parameter")


def _dtype(code: Any, *rest: Any) -> _Dtype:
    return _Dtype(numpy_dtype(code))


def _pairs(items: Any = ()) -> Any:
    return (
        dict(items) if isinstance(items, list | tuple) else dict(items) if isinstance(items, dict) else Object("dict")
    )


_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "collections.OrderedDict": _pairs,
    "builtins.complex": lambda *a: Object("builtins.complex"),
    "builtins.set": lambda *a: Object("builtins.set"),
    "numpy.dtype": _dtype,
    "torch._utils._rebuild_tensor_v2": _rebuilt_tensor,
    "torch._utils._rebuild_tensor": _rebuilt_tensor,
    "torch._utils._rebuild_parameter": _rebuilt_parameter,
    "torch.Size": lambda *a: tuple(a[0]) if a and isinstance(a[0], list | tuple) else (),
}
for _home in ("numpy.core", "numpy._core"):
    _CALLS[f"{_home}.multiarray._reconstruct"] = lambda *a: _Unbuilt()
    _CALLS[f"{_home}.multiarray.scalar"] = lambda *a: Object("numpy.generic")
    _CALLS[f"{_home}.numeric._frombuffer"] = lambda *a: (
        Array(_sizes(a[2]), a[1].name) if len(a) > 2 and isinstance(a[1], _Dtype) else Object("numpy.ndarray")
    )


class _Unbuilt:
    """An array whose state follows."""

    array: Array | None = None


def _called(function: Any, arguments: Any) -> Any:
    if not isinstance(function, _Global) or not isinstance(arguments, tuple):
        return Object("")
    if function.name.startswith("torch.") and function.name.endswith("Storage"):
        return _Storage(_STORAGES.get(function.name.rpartition(".")[2], ""), None)
    work = _CALLS.get(function.name)
    try:
        return Object(function.name) if work is None else work(*arguments)
    except (TypeError, ValueError):
        return Object(function.name)


def _persistent(value: Any) -> Any:
    """``("storage", class, key, place, elements)``, as torch names the storages of a file."""
    if isinstance(value, tuple) and len(value) >= 5 and value[0] == "storage" and isinstance(value[1], _Global):
        dtype = _STORAGES.get(value[1].name.rpartition(".")[2], "")
        return _Storage(dtype, value[4] if type(value[4]) is int else None)
    return Object("")


def _built(value: Any, state: Any) -> Any:
    has_state = isinstance(state, tuple) and len(state) >= 3 and isinstance(state[2], _Dtype)
    if isinstance(value, _Unbuilt) and has_state:
        value.array = Array(_sizes(state[1]), state[2].name)
    return value


class _Machine:
    """The stack machine of pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def popped(self) -> Any:
        if not self.stack:
            raise Unreadable("a stack that is empty")
        return self.stack.pop()

    def since_mark(self) -> list[Any]:
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                found = self.stack[place + 1 :]
                del self.stack[place:]
                return found
        raise Unreadable("a mark that is missing")

    def top(self) -> Any:
        if not self.stack:
            raise Unreadable("a stack that is empty")
        return self.stack[-1]

    def put_items(self, items: list[Any]) -> None:
        target = self.top()
        if isinstance(target, dict):
            for key, value in zip(items[::2], items[1::2], strict=False):
                if isinstance(key, str | int | float | bool | bytes | None):
                    target[key] = value
                else:
                    raise Unreadable("a key that isn't plain")

    def run(self, file: IO[bytes]) -> Any:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(file)):
            if count >= _MOST_OPCODES:
                raise Unreadable("a pickle of that length")
            name = opcode.name
            if name == "STOP":
                return self.popped()
            self.step(name, argument)
        raise Unreadable("a pickle without an end")

    def step(self, name: str, argument: Any) -> None:
        stack, memo = self.stack, self.memo
        if name in ("PROTO", "FRAME"):
            return
        if name in _PLAIN:
            if isinstance(argument, str) and len(argument) > _LARGEST:
                raise Unreadable("a text of that length")
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name == "MARK":
            stack.append(_MARK)
        elif name == "POP":
            self.popped()
        elif name == "POP_MARK":
            self.since_mark()
        elif name == "DUP":
            stack.append(self.top())
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(argument)] = self.top()
        elif name == "MEMOIZE":
            memo[len(memo)] = self.top()
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            if int(argument) not in memo:
                raise Unreadable("a memo that is missing")
            stack.append(memo[int(argument)])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            if name == "STACK_GLOBAL":
                short, module = self.popped(), self.popped()
                argument = f"{module} {short}"
            stack.append(_Global(str(argument).replace(" ", ".", 1)))
        elif name.startswith("TUPLE"):
            count = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}.get(name)
            items = self.since_mark() if count is None else [self.popped() for _ in range(count)][::-1]
            stack.append(tuple(items))
        elif name == "LIST":
            stack.append(self.since_mark())
        elif name == "DICT":
            items = self.since_mark()
            stack.append({})
            self.put_items(items)
        elif name in ("APPEND", "APPENDS"):
            items = [self.popped()] if name == "APPEND" else self.since_mark()
            if isinstance(self.top(), list):
                self.top().extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = [self.popped(), self.popped()][::-1] if name == "SETITEM" else self.since_mark()
            self.put_items(items)
        elif name in ("ADDITEMS", "FROZENSET"):
            self.since_mark()
            if name == "FROZENSET":
                stack.append(Object("builtins.frozenset"))
        elif name == "BINPERSID":
            stack.append(_persistent(self.popped()))
        elif name == "PERSID":
            stack.append(Object(""))
        elif name == "REDUCE":
            arguments, function = self.popped(), self.popped()
            stack.append(_called(function, arguments))
        elif name in ("NEWOBJ", "NEWOBJ_EX"):
            if name == "NEWOBJ_EX":
                self.popped()
            arguments, function = self.popped(), self.popped()
            stack.append(_called(function, arguments))
        elif name in ("INST", "OBJ"):
            items = self.since_mark()
            first = _Global(str(argument).replace(" ", ".", 1)) if name == "INST" else items[0] if items else None
            stack.append(Object(first.name if isinstance(first, _Global) else ""))
        elif name == "BUILD":
            state = self.popped()
            stack.append(_built(self.popped(), state))
        else:
            raise Unreadable(f"the opcode {name}")


_PLAIN: Final = frozenset((
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "UNICODE", "BINUNICODE"),
    *("SHORT_BINUNICODE", "BINUNICODE8", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"),
    *("BINBYTES8", "BYTEARRAY8"),
))  # fmt: skip
_CONSTANTS: Final[dict[str, Callable[[], Any]]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_LIST": list,
    "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple, "EMPTY_SET": lambda: Object("builtins.set"),
}  # fmt: skip


def pickled(file: IO[bytes]) -> Contents:
    """The contents of a pickle, without its large bytes.

    Raises:
        Unreadable: it isn't a pickle, is damaged, or is too long.
    """
    machine = _Machine()
    try:
        return _plain(machine.run(file), {}, 0)
    except (ValueError, IndexError, OverflowError, MemoryError, RecursionError, UnicodeDecodeError, EOFError) as error:
        raise Unreadable("a pickle that is damaged") from error


_DEEPEST: Final = 50


def _plain(value: Any, seen: dict[int, Any], depth: int) -> Contents:
    """A value of the machine as `described` has it; one that holds itself is an `Object`."""
    if isinstance(value, _Unbuilt):
        return value.array or Object("numpy.ndarray")
    if isinstance(value, _Global | _Storage | _Dtype):
        return Object(getattr(value, "name", ""))
    if isinstance(value, bytes | bytearray) and len(value) > 1_000:
        return Object("builtins.bytes")
    if not isinstance(value, list | tuple | dict):
        return value
    if id(value) in seen:
        return Object("") if seen[id(value)] is None else seen[id(value)]
    if depth > _DEEPEST:
        return Object("")
    seen[id(value)] = None
    made: Contents
    if isinstance(value, dict):
        made = {k: _plain(v, seen, depth + 1) for k, v in value.items()}
    else:
        items = [_plain(v, seen, depth + 1) for v in value]
        made = tuple(items) if isinstance(value, tuple) else items
    seen[id(value)] = made
    return made


def torch_archive(file: IO[bytes]) -> Contents:
    """The contents of a file of ``torch.save`` (a zip archive with a pickle in it).

    Raises:
        Unreadable: it isn't such a file.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            found = [m for m in archive.infolist() if m.filename.endswith("/data.pkl") and m.filename.count("/") == 1]
            if len(found) != 1 or found[0].file_size > _LARGEST or found[0].flag_bits & 1:
                raise Unreadable("no archive of torch's")
            if found[0].compress_type != zipfile.ZIP_STORED:
                raise Unreadable("a compressed archive")
            names = {m.filename.rpartition("/")[2] for m in archive.infolist()}
            if "constants.pkl" in names:
                raise Unreadable("a TorchScript archive")
            with archive.open(found[0]) as inner:
                return pickled(inner)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError, RuntimeError) as error:
        raise Unreadable("no archive of torch's") from error
