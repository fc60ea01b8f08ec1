"""Dtypes and classes of values."""

from __future__ import annotations

import re
from typing import Final

import torch
from torch import nn

from simpletorch.errors._description import dtype_name
from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DTypeMismatch, TypeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons.devices import two_devices

# torch's messages name a dtype by its C++ scalar type ("Half"), by the type itself ("c10::Half") or by C's ("float")
_SPELLINGS: Final = {
    "Byte": "UInt8", "Char": "Int8", "Short": "Int16", "Int": "Int32", "Long": "Int64", "Half": "Float16",
    "BFloat16": "BFloat16", "Float": "Float32", "Double": "Float64", "Bool": "Bool", "ComplexFloat": "Complex64",
    "ComplexDouble": "Complex128", "unsigned char": "UInt8", "signed char": "Int8", "short": "Int16",
    "short int": "Int16",
    "int": "Int32", "long": "Int64", "long int": "Int64", "float": "Float32", "double": "Float64", "bool": "Bool",
    "c10::Half": "Float16", "c10::BFloat16": "BFloat16", "struct c10::Half": "Float16", "at::Half": "Float16",
    "struct c10::BFloat16": "BFloat16",
}  # fmt: skip


def spelled(name: str) -> str:
    return _SPELLINGS.get(name.strip(), name.strip())


def _method(name: str) -> str:
    """The conversion that gives a dtype: ``.float()``, ``.long()``, ``.to(torch.bfloat16)``."""
    usual = {"Float32": ".float()", "Int64": ".long()", "Float64": ".double()", "Bool": ".bool()"}
    return usual.get(name, f".to(torch.{name.lower()})")


def _parameter_dtype(layer: nn.Module | None) -> str | None:
    parameter = None if layer is None else next(layer.parameters(), None)
    return None if parameter is None else dtype_name(parameter.dtype)


@message(
    r"Input type \(torch\.(cuda\.)?(\w+)Tensor\) and (weight|bias) "
    r"type \(torch\.(cuda\.)?(\w+)Tensor\) should be the same"
)
def _input_and_weight(f: Failure, m: re.Match[str]) -> Reason | None:
    return two_devices(f, m) if m[1] != m[4] else _two_dtypes(f, spelled(m[2]), spelled(m[5]))


@message(
    r"mat1 and mat2 must have the same dtype, but got ([\w: ]+?) and ([\w: ]+)",
    r"expected m1 and m2 to have the same dtype, but got: ([\w: ]+?) != ([\w: ]+)",
    r"expected both vectors to have same dtype, but found ([\w: ]+?) and ([\w: ]+)",
    r"Input type \(([\w: ]+)\) and (?:weight|bias) type \(([\w: ]+)\) should be the same",
    r"expected mat1 and mat2 to have the same dtype, but got: ([\w: ]+?) != ([\w: ]+)",
)
def _mixed(f: Failure, m: re.Match[str]) -> Reason:
    return _two_dtypes(f, spelled(m[1]), spelled(m[2]))


def _two_dtypes(f: Failure, left: str, right: str) -> Reason:
    x = f.tensor(0, "input")
    own = x.dtype if x else None
    if f.layer is not None:
        other = _parameter_dtype(f.layer)
        if own is not None and other is not None and own != other:
            left, right = own, other
        second = f.layer_name
    else:
        y = next((t for t in f.tensors if t.dtype == right and t is not x), None)
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
    got = (y and y.dtype) or spelled(m[1])
    name = y.name if y else "the target"
    hint = f"{name}.long() would fit"
    if x and y and got.startswith("Float"):
        hint += "; class probabilities would need the input's shape" if len(y.shape) < len(x.shape) else ""
    return Reason(DTypeMismatch, f"{name} is {got}, but class indices are Int64", "Int64", got, hint)


@message(r"expected scalar type (\w+) but found (\w+)", r"Found dtype (?P<got>\w+) but expected (?P<expected>\w+)")
def _scalar_type(f: Failure, m: re.Match[str]) -> Reason:
    named = m.groupdict()
    expected, got = (named["expected"], named["got"]) if named else (m[1], m[2])
    expected, got = spelled(expected), spelled(got)
    culprit = next((t for t in f.tensors if t.dtype == got), None)
    name = culprit.name if culprit else "an operand"
    hint = f"{name}{_method(expected)} would fit" if culprit else None
    return Reason(DTypeMismatch, f"{name} is {got}, but {expected} is expected", expected, got, hint)


@message(r"result type (\w+) can't be cast to the desired output type (\w+)")
def _cast(f: Failure, m: re.Match[str]) -> Reason:
    wide, narrow = spelled(m[1]), spelled(m[2])
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
    allowed = " or ".join(spelled(s) for s in m[2].split(","))
    got = spelled(m[3])
    x = next((t for t in f.tensors if t.dtype == got), None)
    name = x.name if x else m[1]
    return Reason(DTypeMismatch, f"{name} is {got}, but {m[1]} are {allowed}", allowed, got, f"{name}.long() would fit")


@message(
    r"tensors used as indices must be long, int, byte or bool tensors",
    r"Expected dtype int32/int64 for index",
    r"one_hot is only applicable to index tensor of type LongTensor",
)
def _index_type(f: Failure, _m: re.Match[str]) -> Reason:
    culprit = next(
        (t for t in f.tensors if (t.dtype or "").startswith(("Float", "BFloat")) and t.role != "input"), None
    )
    culprit = culprit or next((t for t in reversed(f.tensors) if t.dtype != "Int64"), None)
    name, got = (culprit.name, culprit.dtype) if culprit else ("the index", None)
    what = f"{name} is {got}" if got else "the index is no integer tensor"
    return Reason(DTypeMismatch, f"{what}, but indices are Int64", "Int64", got, f"{name}.long() would fit")


@message(
    r"could not infer output dtype\. Input dtype must be either a floating point or complex dtype\. "
    r"Got: (?:torch\.)?(\w+)"
)
def _needs_float(f: Failure, m: re.Match[str]) -> Reason:
    dtype = getattr(torch, m[1], None)
    got = dtype_name(dtype) if isinstance(dtype, torch.dtype) else spelled(m[1])
    x = next((t for t in f.tensors if t.dtype == got), f.tensor(0, "input"))
    name = x.name if x else "the tensor"
    sentence = f"{name} is {got}, but {f.operation or 'this operation'} needs floats"
    return Reason(DTypeMismatch, sentence, "Float", got, f"{name}.float() would fit")


@message(r"\"(\w+)\" not implemented for '(\w+)'")
def _not_implemented(f: Failure, m: re.Match[str]) -> Reason:
    got = spelled(m[2])
    x = next((t for t in f.tensors if t.dtype == got), None)
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
    name, got = (x.name, x.dtype) if x else ("the tensor", None)
    is_got = f"is {got}" if got else "is neither"
    sentence = f"{name} {is_got}, but {f.operation or 'this operation'} needs Bool or integers"
    return Reason(DTypeMismatch, sentence, "Bool", got, f"{name}.bool() would fit")


@message(r"argument '(\w+)'(?: \(position \d+\))? must be ([\w.]+(?: of \w+)?), not ([\w.]+)")
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
    if m[2] == "torch.dtype" and m[3] == "str":
        hint = "a dtype has no quotes: torch.float32"
    return Reason(
        TypeMismatch,
        f"{name} should be a {m[2]}, but is {'None' if m[3] == 'NoneType' else f'of type {m[3]}'}",
        m[2],
        m[3],
        hint,
    )
