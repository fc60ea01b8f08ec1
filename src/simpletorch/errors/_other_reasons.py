"""What torch's messages about dtypes, devices, memory, gradients and checkpoints mean."""

from __future__ import annotations

import re
from typing import Final

from torch import nn

from simpletorch.errors._failure import Failure, Value, dtype_name
from simpletorch.errors._kinds import (
    CheckpointError,
    CUDAError,
    DeviceMismatch,
    DTypeMismatch,
    OutOfMemory,
    ShapeMismatch,
    TorchError,
    TypeMismatch,
)
from simpletorch.errors._reason import Reason, message

# torch names a dtype in its messages as C++ does, or as its old tensor classes
_SPELLINGS: Final = {
    "Byte": "UInt8", "Char": "Int8", "Short": "Int16", "Int": "Int32", "Long": "Int64", "Half": "Float16",
    "BFloat16": "BFloat16", "Float": "Float32", "Double": "Float64", "Bool": "Bool", "ComplexFloat": "Complex64",
    "ComplexDouble": "Complex128", "unsigned char": "UInt8", "signed char": "Int8", "short": "Int16",
    "short int": "Int16",
    "int": "Int32", "long": "Int64", "long int": "Int64", "float": "Float32", "double": "Float64", "bool": "Bool",
    "c10::Half": "Float16", "c10::BFloat16": "BFloat16", "struct c10::Half": "Float16", "at::Half": "Float16",
    "struct c10::BFloat16": "BFloat16",
}  # fmt: skip


def _spelled(name: str) -> str:
    return _SPELLINGS.get(name.strip(), name.strip())


def _method(name: str) -> str:
    """The conversion that gives a dtype: ``.float()``, ``.long()``, ``.to(torch.bfloat16)``."""
    usual = {"Float32": ".float()", "Int64": ".long()", "Float64": ".double()", "Bool": ".bool()"}
    return usual.get(name, f".to(torch.{name.lower()})")


def _dtype(value: Value | None) -> str | None:
    return None if value is None else dtype_name(value.value.dtype)


def _parameter_dtype(layer: nn.Module | None) -> str | None:
    parameter = None if layer is None else next(layer.parameters(), None)
    return None if parameter is None else dtype_name(parameter.dtype)


@message(
    r"Input type \(torch\.(cuda\.)?(\w+)Tensor\) and (weight|bias) "
    r"type \(torch\.(cuda\.)?(\w+)Tensor\) should be the same"
)
def _input_and_weight(f: Failure, m: re.Match[str]) -> Reason | None:
    return _two_devices(f, m) if m[1] != m[4] else _two_dtypes(f, _spelled(m[2]), _spelled(m[5]))


@message(
    r"mat1 and mat2 must have the same dtype, but got ([\w: ]+?) and ([\w: ]+)",
    r"expected m1 and m2 to have the same dtype, but got: ([\w: ]+?) != ([\w: ]+)",
    r"expected both vectors to have same dtype, but found ([\w: ]+?) and ([\w: ]+)",
    r"Input type \(([\w: ]+)\) and (?:weight|bias) type \(([\w: ]+)\) should be the same",
    r"expected mat1 and mat2 to have the same dtype, but got: ([\w: ]+?) != ([\w: ]+)",
)
def _mixed(f: Failure, m: re.Match[str]) -> Reason:
    return _two_dtypes(f, _spelled(m[1]), _spelled(m[2]))


def _two_dtypes(f: Failure, left: str, right: str) -> Reason:
    x = f.tensor(0, "input")
    own = _dtype(x)
    if f.layer is not None:
        other = _parameter_dtype(f.layer)
        if own is not None and other is not None and own != other:
            left, right = own, other
        second = f.layer_name
    else:
        y = next((t for t in f.tensors if _dtype(t) == right and t is not x), None)
        second = y.name if y else "the other operand"
    name = x.name if x else "the input"
    hint = f"{name}{_method(right)} would fit"
    if left == "Float64" and right == "Float32":
        hint += "; numbers from NumPy are Float64 unless told otherwise"
    elif right == "Float64" and left == "Float32" and f.layer is None:
        hint = f"{second}{_method(left)} would fit; numbers from NumPy are Float64 unless told otherwise"
    return Reason(DTypeMismatch, f"{name} is {left}, but {second} is {right}", right, left, hint)


@message(r"expected target dtype to be Long or Byte, but got (\w+)", r"expected scalar type Long but found (\w+)")
def _class_target(f: Failure, m: re.Match[str]) -> Reason:
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    got = _dtype(y) or _spelled(m[1])
    name = y.name if y else "the target"
    hint = f"{name}.long() would fit"
    if x and y and got.startswith("Float"):
        hint += "; class probabilities would need the input's shape" if len(y.shape) < len(x.shape) else ""
    return Reason(DTypeMismatch, f"{name} is {got}, but class indices are Int64", "Int64", got, hint)


@message(r"expected scalar type (\w+) but found (\w+)", r"Found dtype (?P<got>\w+) but expected (?P<expected>\w+)")
def _scalar_type(f: Failure, m: re.Match[str]) -> Reason:
    named = m.groupdict()
    expected, got = (named["expected"], named["got"]) if named else (m[1], m[2])
    expected, got = _spelled(expected), _spelled(got)
    culprit = next((t for t in f.tensors if _dtype(t) == got), None)
    name = culprit.name if culprit else "an operand"
    hint = f"{name}{_method(expected)} would fit" if culprit else None
    return Reason(DTypeMismatch, f"{name} is {got}, but {expected} is expected", expected, got, hint)


@message(r"result type (\w+) can't be cast to the desired output type (\w+)")
def _cast(f: Failure, m: re.Match[str]) -> Reason:
    wide, narrow = _spelled(m[1]), _spelled(m[2])
    if f.operation in ("binary_cross_entropy_with_logits", "binary_cross_entropy"):
        y = f.tensor(1, "target")
        name = y.name if y else "the target"
        return Reason(
            DTypeMismatch,
            f"{name} is {narrow}, but probabilities are floats",
            wide,
            narrow,
            f"{name}.float() would fit",
        )
    target = f.tensor(0, "input")
    name = target.name if target else "the tensor"
    sentence = f"the result is {wide}, which {name} of {narrow} can't hold"
    return Reason(
        DTypeMismatch,
        sentence,
        narrow,
        wide,
        f"an in-place operation keeps its tensor's dtype: {name}{_method(wide)} first",
    )


@message(
    r"Expected tensor for argument #\d+ '(\w+)' to have one of the "
    r"following scalar types: ([\w, ]+); but got torch\.(?:cuda\.)?(\w+)Tensor"
)
def _argument_type(f: Failure, m: re.Match[str]) -> Reason:
    allowed = " or ".join(_spelled(s) for s in m[2].split(","))
    got = _spelled(m[3])
    x = next((t for t in f.tensors if _dtype(t) == got), None)
    name = x.name if x else m[1]
    return Reason(DTypeMismatch, f"{name} is {got}, but {m[1]} are {allowed}", allowed, got, f"{name}.long() would fit")


@message(
    r"tensors used as indices must be long, int, byte or bool tensors",
    r"Expected dtype int32/int64 for index",
    r"one_hot is only applicable to index tensor of type LongTensor",
)
def _index_type(f: Failure, _m: re.Match[str]) -> Reason:
    culprit = next((t for t in f.tensors if t.value.is_floating_point() and t.role != "input"), None)
    culprit = culprit or next((t for t in reversed(f.tensors) if dtype_name(t.value.dtype) != "Int64"), None)
    name, got = (culprit.name, _dtype(culprit)) if culprit else ("the index", None)
    what = f"{name} is {got}" if got else "the index is no integer tensor"
    return Reason(DTypeMismatch, f"{what}, but indices are Int64", "Int64", got, f"{name}.long() would fit")


@message(r"could not infer output dtype\. Input dtype must be either a floating point or complex dtype\. Got: (\w+)")
def _needs_float(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = x.name if x else "the tensor"
    sentence = f"{name} is {_spelled(m[1])}, but {f.operation or 'this operation'} needs floats"
    return Reason(DTypeMismatch, sentence, "Float", _spelled(m[1]), f"{name}.float() would fit")


@message(r"\"(\w+)\" not implemented for '(\w+)'")
def _not_implemented(f: Failure, m: re.Match[str]) -> Reason:
    got = _spelled(m[2])
    x = next((t for t in f.tensors if _dtype(t) == got), None)
    name = x.name if x else "an operand"
    operation = f.operation or m[1]
    bits = "bitwise" in m[1]
    hint = (
        f"{name}.bool() would fit" if bits else f"{name}.float() would fit" if "Int" in got or got == "Bool" else None
    )
    return Reason(DTypeMismatch, f"{operation} is not defined for {got}, which {name} is", None, got, hint)


@message(r"is only implemented on integer and Boolean-type tensors")
def _needs_bits(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name, got = (x.name, _dtype(x)) if x else ("the tensor", None)
    is_got = f"is {got}" if got else "is neither"
    sentence = f"{name} {is_got}, but {f.operation or 'this operation'} needs Bool or integers"
    return Reason(DTypeMismatch, sentence, "Bool", got, f"{name}.bool() would fit")


@message(
    r"Expected all tensors to be on the same device",
    r"Tensor on device ([\w:]+) is not on the expected device ([\w:]+)",
    r"Expected (?:object|tensor).* (?:to be on|on) (?:the same )?device",
)
def _two_devices(f: Failure, _m: re.Match[str]) -> Reason:
    places = [(v.name, str(v.value.device)) for v in f.tensors]
    parameter = None if f.layer is None else next(f.layer.parameters(), None)
    if parameter is not None:
        places.append((f.layer_name, str(parameter.device)))
    for name, device in places[1:]:
        if places and device != places[0][1]:
            first, where = places[0]
            hint = f"{first}.to({device!r}) would fit"
            if parameter is None and where != "cpu":
                hint = f"{name}.to({where!r}) would fit"
            return Reason(DeviceMismatch, f"{first} is on {where}, but {name} is on {device}", device, where, hint)
    found = re.findall(r"\b(?:cuda(?::\d+)?|cpu|mps(?::\d+)?|xpu(?::\d+)?|meta)\b", f.message)
    devices = list(dict.fromkeys(found))
    where = " and ".join(devices) if devices else "different devices"
    return Reason(
        DeviceMismatch,
        f"the operands are on {where}",
        devices[0] if devices else None,
        devices[1] if len(devices) > 1 else None,
        "move model and data to one device with .to(device)",
    )


@message(r"argument '(\w+)'(?: \(position \d+\))? must be (\w+(?: of \w+)?), not ([\w.]+)")
def _argument_class(f: Failure, m: re.Match[str]) -> Reason | None:
    value = f.role(m[1])
    name = value.name if value else m[1]
    hint = (
        f"torch.as_tensor({name}) makes a tensor of it"
        if m[2] == "Tensor" and m[3] in ("list", "float", "int", "numpy.ndarray")
        else None
    )
    if m[2] == "Tensor" and m[3] == "NoneType":
        hint = f"is {name} the result of a function that returns nothing?"
    return Reason(
        TypeMismatch,
        f"{name} should be a {m[2]}, but is {'None' if m[3] == 'NoneType' else f'of type {m[3]}'}",
        m[2],
        m[3],
        hint,
    )


@message(
    r"CUDA out of memory\. Tried to allocate ([\d.]+) (\w+)",
    r"can't allocate memory: you tried to allocate (\d+) (bytes)",
    r"out of memory",
)
def _out_of_memory(f: Failure, m: re.Match[str]) -> Reason:
    requested = _bytes(m[1], m[2]) if m.re.groups else None
    free = re.search(r"of which ([\d.]+) (\w+) is free", f.message)
    available = _bytes(free[1], free[2]) if free else None
    sentence = OutOfMemory(requested, available).reason
    if free is None:
        sentence = sentence.partition(",")[0] + ", more than there is"
    hint = "a smaller batch, mixed precision (amp) or gradient checkpointing need less"
    return Reason(OutOfMemory, sentence, available, requested, hint)


def _bytes(count: str, unit: str) -> int:
    return int(float(count) * {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}.get(unit, 1))


@message(r"CUDA error: ([^\n]+)")
def _cuda(_f: Failure, m: re.Match[str]) -> Reason:
    hint = "CUDA reports late: CUDA_LAUNCH_BLOCKING=1 in the environment shows the line that really failed"
    if "device-side assert" in m[1]:
        hint = "usually an index or class target out of range; the CPU, or CUDA_LAUNCH_BLOCKING=1, shows which"
    return Reason(CUDAError, m[1].strip(), None, None, hint)


@message(r"element \d+ of tensors does not require grad and does not have a grad_fn")
def _no_grad(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return Reason(
        TorchError,
        f"{x.name if x else 'the tensor'} was computed without a graph, so there is nothing to differentiate",
        hint="is it under no_grad or detach, taken through .item() or NumPy, or are all parameters frozen?",
    )


@message(r"Trying to backward through the graph a second time")
def _second_backward(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        TorchError,
        "the graph was freed by an earlier backward",
        hint="sum the losses and call backward once; detach a state that is carried from step to step; "
        "or keep the graph with retain_graph=True",
    )


@message(
    r"modified by an inplace operation: \[torch\.(?:cuda\.)?(\w+)Tensor "
    r"(\[[\d, ]*\])\](?:, which is output \d+ of (\w+))?"
)
def _inplace(_f: Failure, m: re.Match[str]) -> Reason:
    source = f", the output of {m[3]}," if m[3] else ""
    what = f"a {_spelled(m[1])}{m[2]} tensor{source} that backward needs was changed in place"
    return Reason(TorchError, what, hint="use the ordinary operation instead of += or …_(), or clone the tensor first")


@message(r"a leaf Variable that requires grad is being used in an in-place operation")
def _leaf(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = x.name if x else "the tensor"
    return Reason(
        TorchError,
        f"{name} is a leaf that requires grad, so it can't be changed in place",
        hint="do it under torch.no_grad()",
    )


@message(r"Can't call numpy\(\) on Tensor that requires grad")
def _numpy(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = x.name if x else "the tensor"
    return Reason(TorchError, f"{name} requires grad, which a NumPy array can't carry", hint=f"{name}.detach().numpy()")


@message(r"Error\(s\) in loading state_dict for (\w+):\s*((?:.|\n)*)")
def _state_dict(_f: Failure, m: re.Match[str]) -> Reason:
    parts = [" ".join(line.split()) for line in m[2].splitlines() if line.strip()]
    shown = "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")
    return Reason(CheckpointError, f"the checkpoint doesn't fit {m[1]}: {shown}")


@message(r"Dimension size must be non-negative|Trying to create tensor with negative dimension (-?\d+)")
def _negative(_f: Failure, _m: re.Match[str]) -> Reason:

    return Reason(ShapeMismatch, "a size is negative; sizes are 0 or more")
