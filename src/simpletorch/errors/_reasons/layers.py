"""Layers: convolutions, pools, norms, recurrent ones, attention."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers


@message(
    r"Given (groups=\d+|transposed=\d+), weight of size (\[[\d, ]*\]), "
    r"expected input(\[[\d, ]*\]) to have (\d+) channels, but got (\d+) channels"
)
def _conv_channels(f: Failure, m: re.Match[str]) -> Reason:
    weight, shape, expected, got = numbers(m[2]), numbers(m[3]), int(m[4]), int(m[5])
    x = f.with_shape(shape) or f.tensor(0, "input")
    name = called(x, "the input")
    dims = len(weight) - 2
    hint = None
    if len(shape) == dims + 2 and shape[-1] == expected:
        order = (0, dims + 1, *range(1, dims + 1))
        hint = f"{name} looks channels-last: {name}.permute{listed(order)} would fit"
    elif f.layer is not None:
        kernel = weight[2] if len(set(weight[2:])) == 1 else listed(weight[2:])
        out = getattr(f.layer, "out_channels", weight[0])
        hint = f"{type(f.layer).__name__}({got}, {out}, {kernel}) would fit"
    taker = f.layer_name or called(f.role("weight"), "the weight")
    return Reason(
        ShapeMismatch,
        f"{name} has {got} channels (dim 1), but {taker} takes {expected}",
        expected,
        got,
        hint,
    )


@message(r"Expected (\d)D \(unbatched\) or (\d)D \(batched\) input to (\w+), but got input of size: (\[[\d, ]*\])")
def _conv_rank(f: Failure, m: re.Match[str]) -> Reason:
    unbatched, batched, shape = int(m[1]), int(m[2]), numbers(m[4])
    x = f.with_shape(shape) or f.tensor(0, "input")
    space = "DHW"[-(unbatched - 1) :] if unbatched > 2 else "L"
    layout = ", ".join(("C", *space))
    hint = None
    if len(shape) == unbatched - 1:
        hint = f"{called(x, 'the input')}.unsqueeze(0) adds a dim for one channel"
    return Reason(
        ShapeMismatch,
        f"{called(x, 'the input')} has {len(shape)} dims, but {m[3]} takes (N, {layout}) or (C, {layout[3:]})",
        batched,
        len(shape),
        hint,
    )


@message(r"Calculated padded input size per channel: \(([\d x]+)\)\. Kernel size: \(([\d x]+)\)")
def _kernel_size(f: Failure, m: re.Match[str]) -> Reason:
    own, kernel = numbers(m[1]), numbers(m[2])
    x = f.tensor(0, "input")
    return Reason(
        ShapeMismatch,
        f"{called(x, 'the input')} is {m[1]} with its padding, smaller than the kernel of {m[2]}",
        kernel,
        own,
        "use a smaller kernel, more padding, or fewer strides and poolings before it",
    )


@message(r"Given input size: \(([\dx]+)\)\. Calculated output size: \(([\dx]+)\)\. Output size is too small")
def _pool_size(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{called(x, 'the input')} is {m[1]} (without its batch dim), and {m[2]} would be left of it"
    return Reason(ShapeMismatch, sentence, None, numbers(m[1]), "pool fewer times, or with a smaller kernel")


@message(r"running_mean should contain (\d+) elements not (\d+)")
def _batch_norm(f: Failure, m: re.Match[str]) -> Reason:
    got, expected = int(m[1]), int(m[2])
    x = f.tensor(0, "input")
    taker = f.layer_name or "running_mean"
    hint = f"{type(f.layer).__name__}({got}) would fit" if f.layer is not None else None
    sentence = f"{called(x, 'the input')} has {got} channels (dim 1), but {taker} takes {expected}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"expected (\w+) input \(got (\d+)D input\)")
def _norm_rank(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{called(x, 'the input')} has {m[2]} dims, but {f.layer_name or f.operation} takes {m[1]}"
    hint = "BatchNorm1d takes (N, C) and (N, C, L), BatchNorm2d (N, C, H, W), BatchNorm3d (N, C, D, H, W)"
    return Reason(ShapeMismatch, sentence, m[1], int(m[2]), hint)


@message(r"Expected more than 1 value per channel when training, got input size torch.Size\((\[[\d, ]*\])\)")
def _one_value(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return Reason(
        ShapeMismatch,
        f"{called(x, 'the input')} has one value per channel, which has no variance to normalise by",
        None,
        numbers(m[1]),
        "give a batch of more than one sample (drop_last=True in the DataLoader), or call model.eval()",
    )


@message(
    r"Given normalized_shape=(\[[\d, ]*\]), expected input with "
    r"shape \[\*, [\d, ]*\], but got input of size\s*(\[[\d, ]*\])"
)
def _layer_norm(f: Failure, m: re.Match[str]) -> Reason:
    expected, shape = numbers(m[1]), numbers(m[2])
    got = shape[len(shape) - len(expected) :]
    x = f.with_shape(shape) or f.tensor(0, "input")
    dims = "the last dim" if len(expected) == 1 else f"the last {len(expected)} dims"
    one = len(expected) == 1
    verb = "is" if one else "are"
    want, have = (expected[0], got[0]) if one and got else (listed(expected), listed(got))
    hint = f"{type(f.layer).__name__}({have}) would fit" if f.layer is not None else None
    taker = f.layer_name or str(f.operation)
    sentence = f"{dims} of {called(x, 'the input')} {verb} {have}, but {taker} normalises {want}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(
    r"Expected number of channels in input to be divisible by "
    r"num_groups, but got input of shape (\[[\d, ]*\]) and num_groups=(\d+)"
)
def _group_norm(f: Failure, m: re.Match[str]) -> Reason:
    shape = numbers(m[1])
    x = f.with_shape(shape) or f.tensor(0, "input")
    sentence = f"{called(x, 'the input')} has {shape[1]} channels (dim 1), which {m[2]} groups don't divide evenly"
    return Reason(ShapeMismatch, sentence, int(m[2]), shape[1])


@message(r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)")
def _rnn(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = int(m[1]), int(m[2])
    x = f.tensor(0, "input")
    kind = type(f.layer).__name__ if f.layer is not None else "RNN"
    hidden = getattr(f.layer, "hidden_size", "…")
    sentence = (
        f"the last dim of {called(x, 'the input')} is {got}, but {f.layer_name or kind} takes {expected} features"
    )
    return Reason(ShapeMismatch, sentence, expected, got, f"{kind}({got}, {hidden}) would fit")


@message(r"Expected hidden(?:\[\d\])? size \(([\d, ]*)\), got \[([\d, ]*)\]")
def _hidden(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = numbers(m[1]), numbers(m[2])
    x = f.tensor(0, "input")
    first = bool(getattr(f.layer, "batch_first", False))
    hint = None
    if x and len(x.shape) == 3 and len(got) == 3 and got[1] == x.shape[1 if first else 0]:
        order = "(batch, time, features)" if first else "(time, batch, features)"
        told = f"with batch_first={first} {x.name} is {order}, so its batch is {expected[1]}"
        hint = f"batch_first={not first} would fit: {told}"
    sentence = f"the hidden state has shape {listed(got)}, but it must be {listed(expected)}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"was expecting embedding dimension of (\d+), but got (\d+)")
def _attention(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "query")
    sentence = (
        f"the last dim of {called(x, 'the query')} is {m[2]}, but {f.layer_name or 'attention'} has embed_dim {m[1]}"
    )
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))
