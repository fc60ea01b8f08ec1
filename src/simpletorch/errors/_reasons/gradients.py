"""Gradients and the graph."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DTypeMismatch, ShapeMismatch, TorchError
from simpletorch.errors._reasons._inplace import changed_tensor
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers
from simpletorch.errors._reasons.dtypes import spelled


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
    r"\[([\d, ]*)\]\](?:, which is output (\d+) of ([\w:]+),)?(?: is at version (\d+); expected version (\d+))?"
)
def _inplace(f: Failure, m: re.Match[str]) -> Reason:
    shape, version = numbers(m[2]), int(m[5] or 0)
    found = changed_tensor(f, shape, version, m[4])
    what = f"a {spelled(m[1])}[{', '.join(map(str, shape))}] tensor"
    if m[4]:
        what += f", the output of {m[4].rpartition(':')[2].removesuffix('0').removesuffix('Backward')},"
    if found is None:
        sentence = f"{what} that backward needs was changed in place"
        details: tuple[str, ...] = ()
    else:
        sentence = f"{found.name}, which backward needs, was changed in place"
        details = (f"changed at {found.place}",) if found.place else ()
    if m[5]:
        sentence += f": it is at version {m[5]}, but was saved at version {m[6]}"
    hint = "use the ordinary operation instead of += or …_(), or clone the tensor first"
    if found is not None and found.is_parameter:
        hint = "call backward before optimizer.step(), which changes the parameters; or run the forward pass again"
    return Reason(TorchError, sentence, m[6] and int(m[6]), m[5] and version, hint, details=details)


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


@message(r"grad can be implicitly created only for scalar outputs")
def _backward_shape(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = called(x, "the loss")
    return Reason(
        ShapeMismatch,
        f"{name} is not a scalar, and only a scalar has one gradient",
        (),
        x.shape if x else None,
        f"{name}.mean().backward() or {name}.sum().backward()",
    )


@message(
    r"ne of the differentiated Tensors (?:appears to not have been used in the graph|does not require grad)",
    r"differentiated Tensor at index \d+ (?:appears to not have been used in the graph|does not require grad)",
)
def _unused(_f: Failure, m: re.Match[str]) -> Reason:
    unused = "not have been used" in m[0]
    return Reason(
        TorchError,
        "an input of grad took no part in computing the output" if unused else "an input of grad does not require grad",
        hint="allow_unused=True gives None for it" if unused else "call .requires_grad_() on it before it is used",
    )


@message(
    r"Only Tensors created explicitly by the user \(graph leaves\) support the (deepcopy) protocol",
    r"[Oo]nly Tensors of floating point(?: and complex)? dtype can require gradients",
)
def _cannot_require(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    if "deepcopy" in m[0]:
        return Reason(
            TorchError,
            f"{called(x, 'a tensor')} is the result of an operation, and only leaves of the graph can be copied deeply",
            hint="detach it before it is stored: self.state = state.detach()",
        )
    return Reason(
        DTypeMismatch,
        f"{called(x, 'a tensor')} is {x.dtype if x else 'no float'}, but only floats have gradients",
        "Float",
        x.dtype if x else None,
        f"{called(x, 'the tensor')}.float() has them",
    )


@message(
    r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[([\d, ]*)\]\) "
    r"and output\[\d+\] has a shape of torch\.Size\(\[([\d, ]*)\]\)"
)
def _gradient_shape(_f: Failure, m: re.Match[str]) -> Reason:
    got, expected = numbers(m[1]), numbers(m[2])
    sentence = f"the gradient given to backward has shape {listed(got)}, but the tensor has {listed(expected)}"
    return Reason(ShapeMismatch, sentence, expected, got)


@message(r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside InferenceMode")
def _inference(f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        TorchError,
        "a tensor made under inference_mode can't take part in training",
        hint="make it under torch.no_grad() instead, or .clone() it outside of inference_mode",
    )
