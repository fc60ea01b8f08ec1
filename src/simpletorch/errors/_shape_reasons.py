"""What torch's messages about shapes mean."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from torch import nn

from simpletorch.errors._failure import Failure, Value
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reason import Reason, message


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"-?\d+", text))


def _list(sizes: Sequence[int]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


@message(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)")
def _matmul(f: Failure, m: re.Match[str]) -> Reason:
    rows, got, expected, out = map(int, m.groups())
    if isinstance(f.layer, nn.Linear):
        return _linear_layer(f, f.layer, got)
    if f.operation == "linear":
        return _linear_function(f, got, expected, out)
    left, right = _matrices(f, (rows, got), (expected, out))
    hint = None
    if left and right and right.shape[-1] == got:
        hint = f"{left.name} @ {right.name}.{'T' if len(right.shape) == 2 else 'mT'} would fit"
    elif left and right and len(left.shape) == 2 and rows == expected:
        hint = f"{left.name}.T @ {right.name} would fit"
    a, b = _name(left, "the left matrix"), _name(right, "the right matrix")
    sentence = f"the last dim of {a} is {got}, but the first of {b} is {expected}"
    if right and len(right.shape) > 2:
        sentence = f"the last dim of {a} is {got}, but the second last of {b} is {expected}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


def _matrices(f: Failure, left: Sequence[int], right: Sequence[int]) -> tuple[Value | None, Value | None]:
    """The two factors: by their roles, else by their sizes (addmm has a third tensor in front)."""
    a, b = f.role("mat1"), f.role("mat2")
    if a is None and f.operation not in ("addmm", "baddbmm", "addbmm"):
        a, b = f.tensor(0, "input"), f.tensor(1, "other", "weight")
    fits = a is not None and a.shape[-1:] == tuple(left[-1:]) and b is not None and right[0] in b.shape[-2:]
    return (a, b) if fits else (f.with_shape(left), f.with_shape(right))


def _linear_layer(f: Failure, layer: nn.Linear, got: int) -> Reason:
    x = f.tensor(0, "input")
    expected = layer.in_features
    shape = x.shape if x else ()
    hint = f"{type(layer).__name__}({got}, {layer.out_features}) would fit"
    if len(shape) > 2 and math.prod(shape[1:]) == expected:
        hint = f"{_name(x, 'input')}.flatten(1) has {expected} features"
    elif len(shape) == 1 and got == 1:
        hint = f"{_name(x, 'input')} has no feature dim: {_name(x, 'input')}.unsqueeze(1) adds one"
    elif len(shape) == 2 and shape[0] == expected:
        hint += f"; or are batch and features swapped? {_name(x, 'input')}.T has {expected} features"
    return Reason(
        ShapeMismatch,
        f"the last dim of {_name(x, 'the input')} is {shape[-1] if shape else got}, "
        f"but {f.layer_name} takes {expected} features",
        (*shape[:-1], expected),
        shape,
        hint,
    )


def _linear_function(f: Failure, got: int, expected: int, out: int) -> Reason:
    x, w = f.tensor(0, "input"), f.tensor(1, "weight")
    weight = _name(w, "the weight")
    hint = None
    if got == out:
        hint = f"the weight of linear is (out, in): {weight}.T would fit"
    return Reason(
        ShapeMismatch,
        f"the last dim of {_name(x, 'the input')} is {got}, but {weight} takes {expected} features (its last dim)",
        expected,
        got,
        hint,
    )


@message(
    r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
)
def _broadcast(f: Failure, m: re.Match[str]) -> Reason:
    a, b, at = map(int, m.groups())
    pair = _meeting(f, a, b, at)
    if pair is None:
        return Reason(ShapeMismatch, f"sizes {a} and {b} meet in dim {at}, and neither is 1", a, b)
    left, right, index = pair
    reverse = len(left.shape) > 1 and len(right.shape) > 1 and left.shape[::-1] == right.shape
    hint = None
    if f.operation in ("matmul", "bmm", "__matmul__"):
        hint = "all dims but the last two are batch dims, which must agree"
    elif reverse:
        hint = f"{right.name}.T has the shape of {left.name}"
    else:
        hint = _unsqueeze_hint(left, right) or _unsqueeze_hint(right, left)
    return Reason(
        ShapeMismatch,
        f"dim {index} of {left.name} is {a}, but of {right.name} it is {b}, and neither is 1",
        left.shape,
        right.shape,
        hint,
    )


def _meeting(f: Failure, a: int, b: int, at: int) -> tuple[Value, Value, int] | None:
    """The two tensors whose sizes ``a`` and ``b`` meet, and the dim counted from the right."""
    tensors = [v for v in f.tensors if v.shape]
    rank = max((len(v.shape) for v in tensors), default=0)
    for i, left in enumerate(tensors):
        for right in tensors[i + 1 :]:
            for index in (at - max(len(left.shape), len(right.shape)), at - rank):
                within = index < 0 and -index <= min(len(left.shape), len(right.shape))
                if within and left.shape[index] == a and right.shape[index] == b:
                    return left, right, index
    return None


def _unsqueeze_hint(small: Value, large: Value) -> str | None:
    """A vector that fits the first dim of a matrix needs a dim behind it."""
    if len(small.shape) == 1 and len(large.shape) == 2 and small.shape[0] == large.shape[0]:
        return f"{small.name}.unsqueeze(1) has shape ({small.shape[0]}, 1), one number for each row of {large.name}"
    return None


@message(r"output with shape (\[[\d, ]*\]) doesn't match the broadcast shape (\[[\d, ]*\])")
def _inplace_broadcast(f: Failure, m: re.Match[str]) -> Reason:
    own, wide = _sizes(m[1]), _sizes(m[2])
    target = f.tensor(0, "input", "self")
    return Reason(
        ShapeMismatch,
        f"{_name(target, 'the tensor')} has shape {_list(own)}, which can't hold the result of shape {_list(wide)}",
        own,
        wide,
        "an in-place operation can't grow its tensor; assign the result of the ordinary one instead",
    )


@message(r"Expected size for first two dimensions of batch2 tensor to be: (\[[\d, ]*\]) but got: (\[[\d, ]*\])")
def _bmm(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = _sizes(m[1]), _sizes(m[2])
    left = f.tensor(0, "input", "query")
    right = f.tensor(1, "mat2", "other", "key")
    a, b = _name(left, "the left batch"), _name(right, "the right batch")
    if f.operation == "scaled_dot_product_attention" and left and right and left.shape[-1] != right.shape[-1]:
        sentence = f"the last dim of {a} is {left.shape[-1]}, but of {b} it is {right.shape[-1]}"
        return Reason(ShapeMismatch, sentence, left.shape[-1], right.shape[-1])
    if expected[0] != got[0]:
        sentence = f"{a} holds {expected[0]} matrices, but {b} holds {got[0]}"
    else:
        sentence = f"the last dim of {a} is {expected[1]}, but the second last of {b} is {got[1]}"
    hint = None
    if left and right and right.shape[-1] == left.shape[-1] and expected[0] == got[0]:
        hint = f"{b}.mT would fit"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)")
def _mv(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = int(m[3]), int(m[4])
    mat, vec = f.tensor(0, "input"), f.tensor(1, "vec", "other")
    sentence = (
        f"the last dim of {_name(mat, 'the matrix')} is {expected}, but {_name(vec, 'the vector')} has {got} numbers"
    )
    return Reason(ShapeMismatch, sentence, expected, got)


@message(r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]")
def _dot(f: Failure, m: re.Match[str]) -> Reason:
    a, b = f.tensor(0, "input"), f.tensor(1, "other", "tensor")
    sentence = f"{_name(a, 'the left vector')} has {m[1]} numbers, but {_name(b, 'the right one')} has {m[2]}"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))


@message(
    r"Sizes of tensors must match except in dimension (\d+)\. "
    r"Expected size (\d+) but got size (\d+) for tensor number (\d+)"
)
def _cat(f: Failure, m: re.Match[str]) -> Reason:
    along, expected, got, number = map(int, m.groups())
    tensors = [v for v in f.values if v.role == "tensors"] or f.tensors
    first, other = (tensors[0], tensors[number]) if number < len(tensors) else (None, None)
    differ: list[int] = []
    if first and other:
        pairs = zip(first.shape, other.shape, strict=False)
        differ = [i for i, (p, q) in enumerate(pairs) if p != q and i != along]
    where = f"dim {differ[0]}" if differ else "a dim"
    sentence = (
        f"{where} of {_name(other, f'tensor {number}')} is {got}, but of {_name(first, 'the first one')} "
        f"it is {expected} (only dim {along} may differ)"
    )
    hint = None
    if len(differ) == 1 and first and other and first.shape[along] == other.shape[along]:
        hint = f"dim={differ[0]} would fit"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"Tensors must have same number of dimensions: got (\d+) and (\d+)")
def _cat_rank(f: Failure, m: re.Match[str]) -> Reason:
    a, b = int(m[1]), int(m[2])
    tensors = f.tensors
    first = tensors[0] if tensors else None
    other = next((t for t in tensors if first and len(t.shape) != len(first.shape)), None)
    sentence = f"{_name(first, 'one tensor')} has {a} dims, but {_name(other, 'another')} has {b}"
    hint = f"{other.name}.unsqueeze(0) adds a dim" if other and b == a - 1 else None
    return Reason(ShapeMismatch, sentence, a, b, hint)


@message(
    r"stack expects each tensor to be equal size, but got (\[[\d, ]*\]) at entry 0 and (\[[\d, ]*\]) at entry (\d+)"
)
def _stack(f: Failure, m: re.Match[str]) -> Reason:
    expected, got, number = _sizes(m[1]), _sizes(m[2]), int(m[3])
    tensors = [v for v in f.values if v.role == "tensors"] or f.tensors
    first = tensors[0] if tensors else None
    other = tensors[number] if number < len(tensors) else None
    sentence = (
        f"{_name(other, f'tensor {number}')} has shape {_list(got)}, "
        f"but {_name(first, 'the first one')} has {_list(expected)}"
    )
    return Reason(
        ShapeMismatch, sentence, expected, got, "torch.cat joins tensors that differ in one dim; stack needs them equal"
    )


@message(r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)")
def _view(f: Failure, m: re.Match[str]) -> Reason:
    wanted, count = _sizes(m[1]), int(m[2])
    x = f.tensor(0, "input")
    name = _name(x, "the tensor")
    known = math.prod(s for s in wanted if s >= 0)
    hint = None
    if -1 in wanted:
        sentence = (
            f"{name} has {count} numbers, which {_list(wanted)} can't divide up: {count} is no multiple of {known}"
        )
    else:
        sentence = f"{name} has {count} numbers, but {_list(wanted)} has {known}"
        rest = math.prod(wanted[1:])
        if rest and count % rest == 0 and len(wanted) > 1:
            hint = f"{_list((-1, *wanted[1:]))} would fit, and makes the first dim {count // rest}"
    return Reason(ShapeMismatch, sentence, wanted, x.shape if x else None, hint)


@message(r"view size is not compatible with input tensor's size and stride")
def _view_stride(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = _name(x, "the tensor")
    return Reason(
        ShapeMismatch,
        f"{name} is not contiguous (it was transposed, permuted or expanded), so view can't merge its dims",
        hint=f"{name}.reshape(...) copies where it has to; {name}.contiguous().view(...) says so",
    )


@message(
    r"The expanded size of the tensor \((-?\d+)\) must match the existing size \((\d+)\) at non-singleton dimension "
    r"(\d+)\.\s+Target sizes: (\[[-\d, ]*\])\.\s+Tensor sizes: (\[[-\d, ]*\])"
)
def _expand(f: Failure, m: re.Match[str]) -> Reason:
    target, own = _sizes(m[4]), _sizes(m[5])
    x = f.with_shape(own)
    if _is_assignment(f):
        sentence = (
            f"{_name(x, 'the value')} has shape {_list(own)}, but the place it is assigned to has {_list(target)}"
        )
    else:
        sentence = (
            f"dim {int(m[3]) - len(target)} of {_name(x, 'the tensor')} is {m[2]}, so it can't be expanded to {m[1]} "
            "(only a dim of size 1 can)"
        )
    return Reason(ShapeMismatch, sentence, target, own)


def _is_assignment(f: Failure) -> bool:
    return f.operation == "index" and isinstance(getattr(f.node, "ctx", None), ast.Store)


@message(
    r"Given (groups=\d+|transposed=\d+), weight of size (\[[\d, ]*\]), "
    r"expected input(\[[\d, ]*\]) to have (\d+) channels, but got (\d+) channels"
)
def _conv_channels(f: Failure, m: re.Match[str]) -> Reason:
    weight, shape, expected, got = _sizes(m[2]), _sizes(m[3]), int(m[4]), int(m[5])
    x = f.with_shape(shape) or f.tensor(0, "input")
    name = _name(x, "the input")
    dims = len(weight) - 2
    hint = None
    if len(shape) == dims + 2 and shape[-1] == expected:
        order = (0, dims + 1, *range(1, dims + 1))
        hint = f"{name} looks channels-last: {name}.permute{_list(order)} would fit"
    elif len(shape) == dims + 2 and shape[0] == expected and dims + 1 < len(shape):
        hint = f"is {name} missing its batch dim, or are batch and channels swapped?"
    elif f.layer is not None:
        kernel = weight[2] if len(set(weight[2:])) == 1 else _list(weight[2:])
        out = getattr(f.layer, "out_channels", weight[0])
        hint = f"{type(f.layer).__name__}({got}, {out}, {kernel}) would fit"
    taker = f.layer_name or _name(f.role("weight"), "the weight")
    return Reason(
        ShapeMismatch,
        f"{name} has {got} channels (dim 1), but {taker} takes {expected}",
        expected,
        got,
        hint,
    )


@message(r"Expected (\d)D \(unbatched\) or (\d)D \(batched\) input to (\w+), but got input of size: (\[[\d, ]*\])")
def _conv_rank(f: Failure, m: re.Match[str]) -> Reason:
    unbatched, batched, shape = int(m[1]), int(m[2]), _sizes(m[4])
    x = f.with_shape(shape) or f.tensor(0, "input")
    space = "DHW"[-(unbatched - 1) :] if unbatched > 2 else "L"
    layout = ", ".join(("C", *space))
    hint = None
    if len(shape) == unbatched - 1:
        hint = f"{_name(x, 'the input')}.unsqueeze(0) adds a dim for one channel"
    return Reason(
        ShapeMismatch,
        f"{_name(x, 'the input')} has {len(shape)} dims, but {m[3]} takes (N, {layout}) or (C, {layout[3:]})",
        batched,
        len(shape),
        hint,
    )


@message(r"Calculated padded input size per channel: \(([\d x]+)\)\. Kernel size: \(([\d x]+)\)")
def _kernel_size(f: Failure, m: re.Match[str]) -> Reason:
    own, kernel = _sizes(m[1]), _sizes(m[2])
    x = f.tensor(0, "input")
    return Reason(
        ShapeMismatch,
        f"{_name(x, 'the input')} is {m[1]} with its padding, smaller than the kernel of {m[2]}",
        kernel,
        own,
        "use a smaller kernel, more padding, or fewer strides and poolings before it",
    )


@message(r"Given input size: \(([\dx]+)\)\. Calculated output size: \(([\dx]+)\)\. Output size is too small")
def _pool_size(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{_name(x, 'the input')} is {m[1]} (without its batch dim), and {m[2]} would be left of it"
    return Reason(ShapeMismatch, sentence, None, _sizes(m[1]), "pool fewer times, or with a smaller kernel")


@message(r"running_mean should contain (\d+) elements not (\d+)")
def _batch_norm(f: Failure, m: re.Match[str]) -> Reason:
    got, expected = int(m[1]), int(m[2])
    x = f.tensor(0, "input")
    taker = f.layer_name or "running_mean"
    hint = f"{type(f.layer).__name__}({got}) would fit" if f.layer is not None else None
    sentence = f"{_name(x, 'the input')} has {got} channels (dim 1), but {taker} takes {expected}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"expected (\w+) input \(got (\d+)D input\)")
def _norm_rank(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{_name(x, 'the input')} has {m[2]} dims, but {f.layer_name or f.operation} takes {m[1]}"
    hint = "BatchNorm1d takes (N, C) and (N, C, L), BatchNorm2d (N, C, H, W), BatchNorm3d (N, C, D, H, W)"
    return Reason(ShapeMismatch, sentence, m[1], int(m[2]), hint)


@message(r"Expected more than 1 value per channel when training, got input size torch.Size\((\[[\d, ]*\])\)")
def _one_value(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return Reason(
        ShapeMismatch,
        f"{_name(x, 'the input')} has one value per channel, which has no variance to normalise by",
        None,
        _sizes(m[1]),
        "give a batch of more than one sample (drop_last=True in the DataLoader), or call model.eval()",
    )


@message(
    r"Given normalized_shape=(\[[\d, ]*\]), expected input with "
    r"shape \[\*, [\d, ]*\], but got input of size\s*(\[[\d, ]*\])"
)
def _layer_norm(f: Failure, m: re.Match[str]) -> Reason:
    expected, shape = _sizes(m[1]), _sizes(m[2])
    got = shape[len(shape) - len(expected) :]
    x = f.with_shape(shape) or f.tensor(0, "input")
    dims = "the last dim" if len(expected) == 1 else f"the last {len(expected)} dims"
    one = len(expected) == 1
    verb = "is" if one else "are"
    want, have = (expected[0], got[0]) if one and got else (_list(expected), _list(got))
    hint = f"{type(f.layer).__name__}({have}) would fit" if f.layer is not None else None
    taker = f.layer_name or str(f.operation)
    sentence = f"{dims} of {_name(x, 'the input')} {verb} {have}, but {taker} normalises {want}"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(
    r"Expected number of channels in input to be divisible by "
    r"num_groups, but got input of shape (\[[\d, ]*\]) and num_groups=(\d+)"
)
def _group_norm(f: Failure, m: re.Match[str]) -> Reason:
    shape = _sizes(m[1])
    x = f.with_shape(shape) or f.tensor(0, "input")
    sentence = f"{_name(x, 'the input')} has {shape[1]} channels (dim 1), which {m[2]} groups don't divide evenly"
    return Reason(ShapeMismatch, sentence, int(m[2]), shape[1])


@message(r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)")
def _rnn(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = int(m[1]), int(m[2])
    x = f.tensor(0, "input")
    kind = type(f.layer).__name__ if f.layer is not None else "RNN"
    hidden = getattr(f.layer, "hidden_size", "…")
    sentence = f"the last dim of {_name(x, 'the input')} is {got}, but {f.layer_name or kind} takes {expected} features"
    return Reason(ShapeMismatch, sentence, expected, got, f"{kind}({got}, {hidden}) would fit")


@message(r"was expecting embedding dimension of (\d+), but got (\d+)")
def _attention(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "query")
    sentence = (
        f"the last dim of {_name(x, 'the query')} is {m[2]}, but {f.layer_name or 'attention'} has embed_dim {m[1]}"
    )
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))


@message(r"(?:bilinear\(\): )?(input[12]) size does not match weight size: got (\d+) but expected (\d+)")
def _bilinear(f: Failure, m: re.Match[str]) -> Reason:
    x = f.role(m[1])
    sentence = f"the last dim of {_name(x, m[1])} is {m[2]}, but {f.layer_name or 'the weight'} takes {m[3]} features"
    return Reason(ShapeMismatch, sentence, int(m[3]), int(m[2]))


@message(r"(?:[Tt])arget size \(torch\.Size\((\[[\d, ]*\])\)\) .*?input size \(torch\.Size\((\[[\d, ]*\])\)\)")
def _target_size(f: Failure, m: re.Match[str]) -> Reason:
    target, shape = _sizes(m[1]), _sizes(m[2])
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    hint = None
    if shape == (*target, 1):
        hint = f"{_name(y, 'the target')}.unsqueeze({len(target)}) has the input's shape"
    elif target == (*shape, 1):
        hint = f"{_name(y, 'the target')}.squeeze({len(shape)}) has the input's shape"
    sentence = f"{_name(y, 'the target')} has shape {_list(target)}, but {_name(x, 'the input')} has {_list(shape)}"
    return Reason(ShapeMismatch, sentence, shape, target, hint)


@message(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def _batch_size(f: Failure, m: re.Match[str]) -> Reason:
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    sentence = f"{_name(x, 'the input')} has {m[1]} rows, but {_name(y, 'the target')} has {m[2]}"
    hint = None
    if x and y and math.prod(x.shape[:-1]) == math.prod(y.shape):
        hint = f"{x.name}.flatten(0, -2) and {y.name}.flatten() go together"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]), hint)


@message(r"0D or 1D target tensor expected, multi-target not supported")
def _multi_target(f: Failure, _m: re.Match[str]) -> Reason:
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    name = _name(y, "the target")
    hint = None
    if y and y.shape[1:] == (1,):
        hint = f"{name}.squeeze(1) has one class index for each row"
    elif x and y and x.shape == y.shape:
        hint = f"{name} looks one-hot: {name}.argmax(1) gives class indices, {name}.float() class probabilities"
    sentence = (
        f"{name} has {len(y.shape) if y else 'several'} dims, but class indices have one for each row of the input"
    )
    return Reason(ShapeMismatch, sentence, (x.shape[0],) if x else None, y.shape if y else None, hint)


@message(
    r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) "
    r"which does not broadcast with previously seen size (\d+)"
)
def _einsum(f: Failure, m: re.Match[str]) -> Reason:
    number = int(m[3])
    tensors = f.tensors
    x = tensors[number] if number < len(tensors) else None
    sentence = f"{m[1]} is {m[2]} in {_name(x, f'operand {number}')}, but {m[4]} before it"
    return Reason(ShapeMismatch, sentence, int(m[4]), int(m[2]))


@message(
    r"einsum\(\): the number of subscripts in the equation \((\d+)\) does not match the number of dimensions "
    r"\((\d+)\) for operand (\d+)"
)
def _einsum_rank(f: Failure, m: re.Match[str]) -> Reason:
    number = int(m[3])
    tensors = f.tensors
    x = tensors[number] if number < len(tensors) else None
    sentence = f"{_name(x, f'operand {number}')} has {m[2]} dims, but the equation names {m[1]} of it"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]), "... in the equation stands for dims without a name")


@message(r"unflatten: Provided sizes (\[[-\d, ]*\]) don't multiply up to the size of dim (\d+) \((\d+)\)")
def _unflatten(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sizes = _sizes(m[1])
    sentence = f"dim {m[2]} of {_name(x, 'the tensor')} is {m[3]}, but {_list(sizes)} multiply to {math.prod(sizes)}"
    return Reason(ShapeMismatch, sentence, int(m[3]), math.prod(sizes))


@message(
    r"split_with_sizes expects split_sizes to sum exactly to (\d+) \(input "
    r"tensor's size at dimension (-?\d+)\), but got split_sizes=(\[[\d, ]*\])"
)
def _split(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sizes = _sizes(m[3])
    sentence = f"dim {m[2]} of {_name(x, 'the tensor')} is {m[1]}, but the parts {_list(sizes)} add up to {sum(sizes)}"
    return Reason(ShapeMismatch, sentence, int(m[1]), sum(sizes))


@message(r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)")
def _permute(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{_name(x, 'the tensor')} has {m[1]} dims, but an order of {m[2]} is given"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))


@message(r"linalg\.(\w+): A must be batches of square matrices, but they are (\d+) by (\d+) matrices")
def _square(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input", "A")
    sentence = f"{_name(x, 'the matrix')} is {m[2]} by {m[3]}, but {m[1]} needs a square matrix"
    return Reason(ShapeMismatch, sentence, None, (int(m[2]), int(m[3])))


@message(r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
def _dim_range(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    rank = int(m[2]) + 1
    sentence = f"there is no dim {m[3]}: {_name(x, 'the tensor')} has {rank} dims ({m[1]} to {m[2]})"
    return Reason(ShapeMismatch, sentence, (int(m[1]), int(m[2])), int(m[3]))


@message(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def _index_range(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    size = int(m[3])
    sentence = (
        f"index {m[1]} is outside dim {m[2]} of {_name(x, 'the tensor')}, which has size {size} (0 to {size - 1})"
    )
    return Reason(ShapeMismatch, sentence, size, int(m[1]))


@message(r"too many indices for tensor of dimension (\d+)")
def _too_many(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return Reason(ShapeMismatch, f"{_name(x, 'the tensor')} has {m[1]} dims, fewer than the indices", int(m[1]))


@message(
    r"The shape of the mask (\[[\d, ]*\]) at index (\d+) does not match the shape of the indexed tensor (\[[\d, ]*\])"
)
def _mask(f: Failure, m: re.Match[str]) -> Reason:
    mask, shape, at = _sizes(m[1]), _sizes(m[3]), int(m[2])
    x, chosen = f.with_shape(shape), f.with_shape(mask)
    sentence = (
        f"the mask {_name(chosen, '')}".rstrip() + f" has shape {_list(mask)}, but "
        f"{_name(x, 'the tensor')} has {_list(shape)}: they differ in dim {at}"
    )
    return Reason(ShapeMismatch, sentence, shape, mask)


@message(r"^index out of range in self", r"Target (-?\d+) is out of bounds")
def _lookup_range(f: Failure, m: re.Match[str]) -> Reason:
    if f.operation in ("cross_entropy", "nll_loss") and m.re.groups:
        x, y = f.tensor(0, "input"), f.tensor(1, "target")
        classes = x.shape[1 if len(x.shape) > 1 else 0] if x else None
        rows = f": {_name(x, 'the input')} has {classes} classes (0 to {classes - 1})" if classes else ""
        return Reason(
            ShapeMismatch, f"class {m[1]} in {_name(y, 'the target')} is out of range{rows}", classes, int(m[1])
        )
    if isinstance(f.layer, nn.Embedding | nn.EmbeddingBag):
        ids = f.tensor(0, "input")
        count = f.layer.num_embeddings
        extreme = _extreme(ids, count)
        what = f"index {extreme}" if extreme is not None else "an index"
        return Reason(
            ShapeMismatch,
            f"{what} in {_name(ids, 'the input')} is out of range: {f.layer_name} has {count} rows (0 to {count - 1})",
            count,
            extreme,
            "num_embeddings must be larger than the largest index",
        )
    return Reason(ShapeMismatch, "an index is out of range")


def _extreme(ids: Value | None, count: int) -> int | None:
    """The index furthest outside; read on the CPU only, where it costs no synchronisation."""
    if ids is None or ids.value.device.type != "cpu" or ids.value.is_floating_point() or not ids.value.numel():
        return None
    low, high = int(ids.value.min()), int(ids.value.max())
    return high if high >= count else low if low < 0 else None


@message(r"Boolean value of Tensor with more than one value is ambiguous")
def _truth(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(ShapeMismatch, "a tensor of several values is neither true nor false", hint="say .any() or .all()")


@message(r"a Tensor with (\d+) elements cannot be converted to Scalar")
def _item(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{_name(x, 'the tensor')} has {m[1]} values, but only one value can become a number"
    return Reason(ShapeMismatch, sentence, 1, int(m[1]), "reduce it first (.mean(), .sum()), or use .tolist()")


@message(r"grad can be implicitly created only for scalar outputs")
def _backward_shape(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = _name(x, "the loss")
    return Reason(
        ShapeMismatch,
        f"{name} is not a scalar, and only a scalar has one gradient",
        (),
        x.shape if x else None,
        f"{name}.mean().backward() or {name}.sum().backward()",
    )


def _name(value: Value | None, default: str) -> str:
    return default if value is None else value.name
