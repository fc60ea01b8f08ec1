"""Arguments of a kind or number that an operation doesn't take, and lists and arrays that no tensor can be made of."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DataError, TypeMismatch
from simpletorch.errors._reasons._table import Reason, message

_FORM = re.compile(r"^ \* (\(.*\))$", re.MULTILINE)
_SIZES = re.compile(r"\(tuple of ints ([\w.]+)\)")


@message(r"(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given")
def _too_many(f: Failure, m: re.Match[str]) -> Reason | None:
    if f.operation != m[1]:
        return None  # a function of the program's, whose name says more
    hint = "permute reorders all dims, transpose exchanges two" if m[1] == "transpose" else None
    return Reason(TypeMismatch, f"it takes {m[2]} arguments, but is given {m[3]}", int(m[2]), int(m[3]), hint)


@message(r"(\w+)\(\) received an invalid combination of arguments - got \((.*)\), but expected one of")
def _no_such_form(f: Failure, m: re.Match[str]) -> Reason | None:
    kinds = m[2].split(", ")
    given = f.tensor(0, "input")
    if kinds[0] == "Image":
        hint = "torchvision.transforms.functional.to_tensor(image) makes a tensor of an image"
        return Reason(TypeMismatch, "the input should be a Tensor, but is a PIL Image", "Tensor", "Image", hint)
    if f.layer is not None and given is None and kinds[0] not in ("Tensor", "Parameter"):
        what = "None" if kinds[0] == "NoneType" else f"of type {kinds[0]}"
        return Reason(TypeMismatch, f"the input should be a Tensor, but is {what}", "Tensor", kinds[0])
    forms = tuple(f"takes {_SIZES.sub(r'(ints)', form[1])}" for form in _FORM.finditer(m.string))
    return Reason(TypeMismatch, f"it takes no ({m[2]})", got=m[2], details=forms)


@message(r"expected Tensor as element (\d+) in argument 0, but got (\w+)")
def _item_of_list(_f: Failure, m: re.Match[str]) -> Reason:
    is_none = m[2] == "NoneType"
    hint = "does __getitem__, or a function of your own, return something in each case?" if is_none else None
    got = "None" if is_none else f"of type {m[2]}"
    return Reason(TypeMismatch, f"item {m[1]} should be a Tensor like the others, but is {got}", "Tensor", got, hint)


@message(r"all elements of (input|target) should be between 0 and 1")
def _no_probabilities(f: Failure, m: re.Match[str]) -> Reason:
    found = f.tensor(0 if m[1] == "input" else 1, m[1])
    name = found.name if found else f"the {m[1]}"
    hint = "binary_cross_entropy_with_logits (BCEWithLogitsLoss) takes scores as a layer gives them, without a sigmoid"
    sentence = f"{name} must lie between 0 and 1, as probabilities do, but not all of it does"
    return Reason(DataError, sentence, hint=hint if m[1] == "input" else None)


@message(r"too many dimensions 'str'", r"new\(\): invalid data type 'str'")
def _texts(_f: Failure, _m: re.Match[str]) -> Reason:
    hint = "give each name a number first: {name: i for i, name in enumerate(names)}"
    return Reason(TypeMismatch, "the list holds texts, but a tensor holds numbers", "numbers", "str", hint)


@message(r"can't convert np\.ndarray of type numpy\.(str_|object_|bytes_|datetime64)")
def _no_numbers(_f: Failure, m: re.Match[str]) -> Reason:
    hint = "use array.astype(np.float32), if every element is a number"
    sentence = f"the array is of NumPy's {m[1]}, but a tensor holds numbers"
    return Reason(TypeMismatch, sentence, "numbers", m[1], hint)


@message(r"Could not infer dtype of (\w+)")
def _no_dtype(_f: Failure, m: re.Match[str]) -> Reason:
    got = "None" if m[1] == "NoneType" else f"of type {m[1]}"
    return Reason(TypeMismatch, f"a tensor is made of numbers, but an item is {got}", "numbers", got)
