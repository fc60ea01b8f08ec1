"""opcheck, gradcheck, fullgraph, export and vmap of every operator that `kernels` ships: of who can't, what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from simpletorch.kernels import shipped
from tests.kernels.cases import angles, classes, normal
from tests.kernels.every import FACES, OPERATORS

Call = Callable[..., Any]


def rows(*counts: int) -> Call:
    return lambda: tuple(normal(*([3, 5] if n == 2 else [5])) for n in counts)


def logits() -> tuple[torch.Tensor, ...]:
    return normal(7, 11), classes(7, 11)


def projected() -> tuple[torch.Tensor, ...]:
    return normal(7, 3), normal(11, 3), classes(7, 11)


def row_slopes() -> tuple[torch.Tensor, ...]:
    scores, targets = logits()
    return normal(7), normal(7), scores, targets, scores.logsumexp(-1)


def turned() -> tuple[torch.Tensor, ...]:
    return normal(2, 5, 3, 6), *angles(5, 3)


def stepped() -> tuple[torch.Tensor, ...]:
    return normal(7), normal(7), normal(7), normal(7).square()


# what follows the lists: seed, step, lr, betas, eps, weight_decay
STEP = (None, 3, 0.1, 0.9, 0.99, 1e-8, 0.01)


def seeded(count: int) -> Call:
    return lambda: (*(normal(3, 5) for _ in range(count)), torch.tensor(11))


def step(call: Call) -> Call:
    """What a step makes of copies, since it changes its arguments."""

    def changed(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        parameter, grad, average, square = (x.clone() for x in given)
        call([parameter], [grad], [average], [square])
        return parameter, average, square

    return changed


def with_plain(name: str, *plain: Any) -> Call:
    """An operator with the arguments that are no tensors after those that are."""
    op = OPERATORS[name].unchecked
    PLAIN[name] = plain
    return lambda *tensors: op(*tensors, *plain)


# by name: arguments of operators that are no tensors
PLAIN: dict[str, tuple[Any, ...]] = {}

# by name: the call, what makes its tensors, and which of these have no gradient although they are floats
CALLS: dict[str, tuple[Call, Call, tuple[int, ...]]] = {
    "relu_add": (with_plain("relu_add"), rows(2, 2), ()),
    "relu_add_backward": (with_plain("relu_add_backward"), rows(2, 2), (1,)),
    "softmax": (with_plain("softmax", 0.7), rows(2), ()),
    "softmax_backward": (with_plain("softmax_backward", 0.7), rows(2, 2), ()),
    "layer_norm": (with_plain("layer_norm", 1e-3), rows(2, 1, 1), ()),
    "layer_norm_backward": (with_plain("layer_norm_backward", 1e-3), rows(2, 2, 1), ()),
    "rms_norm": (with_plain("rms_norm", 1e-3), rows(2, 1), ()),
    "add_rms_norm": (with_plain("add_rms_norm", 1e-3), rows(2, 2, 1), ()),
    "rms_norm_backward": (with_plain("rms_norm_backward", 1e-3), rows(2, 2, 2, 1), ()),
    "swiglu": (with_plain("swiglu"), rows(2, 2), ()),
    "geglu": (with_plain("geglu", True), rows(2, 2), ()),
    "swiglu_packed": (with_plain("swiglu_packed"), lambda: (normal(3, 10),), ()),
    "geglu_packed": (with_plain("geglu_packed", False), lambda: (normal(3, 10),), ()),
    "gated_backward": (with_plain("gated_backward", 0), rows(2, 2, 2), ()),
    "gated_packed_backward": (with_plain("gated_packed_backward", 1), lambda: (normal(3, 5), normal(3, 10)), ()),
    "rotary": (FACES["rotary"], turned, (1, 2)),
    "rotary_turned": (with_plain("rotary_turned", True), turned, (1, 2)),
    "rotary_backward": (with_plain("rotary_backward", False), turned, (1, 2)),
    "cross_entropy": (FACES["cross_entropy"], logits, ()),
    "cross_entropy_rows": (with_plain("cross_entropy_rows", -100, 0.1), logits, ()),
    "cross_entropy_rows_backward": (with_plain("cross_entropy_rows_backward", -100, 0.1), row_slopes, ()),
    "linear_cross_entropy": (FACES["linear_cross_entropy"], projected, ()),
    "linear_cross_entropy_sum": (with_plain("linear_cross_entropy_sum", -100, 0.1), projected, ()),
    "linear_cross_entropy_hidden_gradient": (
        with_plain("linear_cross_entropy_hidden_gradient", -100, 0.1),
        projected,
        (1,),
    ),
    "linear_cross_entropy_gradients": (with_plain("linear_cross_entropy_gradients", -100, 0.1), projected, ()),
    "dropout_add": (lambda x, y: FACES["dropout_add"](x, y, 0.3, seed=11), rows(2, 2), ()),
    "dropout_add_seeded": (with_plain("dropout_add_seeded", 0.3), seeded(2), ()),
    "dropout_seeded": (with_plain("dropout_seeded", 0.3), seeded(1), ()),
    "attention": (lambda q, k, v: FACES["attention"](q, k, v, causal=True), lambda: (*[normal(2, 3, 5, 4)] * 3,), ()),
    "adamw_step": (step(lambda *lists: FACES["adamw_step"](*lists, step=3)), stepped, ()),
    "adamw_step_in_place": (
        step(lambda *lists: OPERATORS["adamw_step_in_place"].unchecked(*lists, *STEP)),
        stepped,
        (),
    ),
}

# what some give besides a value is a gradient, which is a constant: only the value has a gradient
VALUES = {"linear_cross_entropy_hidden_gradient", "linear_cross_entropy_gradients"}

REFUSED = {
    ("gradcheck", "adamw_step"): "adamw_step can't change parameters[0], which is computed from other tensors: a step "
    "has no gradient",
    ("gradcheck", "adamw_step_in_place"): "simpletorch::adamw_step_in_place changes its arguments in place and has no "
    "gradient",
}


def test_there_is_a_call_of_every_operator():
    assert CALLS.keys() == OPERATORS.keys() | FACES.keys()


def results(call: Call, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    found = call(*given)
    return found if isinstance(found, tuple) else (found,)


def made(name: str) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(5)
    given: tuple[torch.Tensor, ...] = CALLS[name][1]()
    return given


def leaves(name: str) -> tuple[torch.Tensor, ...]:
    constant = CALLS[name][2]
    return tuple(
        x.requires_grad_() if x.is_floating_point() and i not in constant else x for i, x in enumerate(made(name))
    )


def compared(got: tuple[torch.Tensor, ...], right: tuple[torch.Tensor, ...]) -> None:
    assert len(got) == len(right)
    for a, b in zip(got, right, strict=True):
        torch.testing.assert_close(a, b)


def gradients(found: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...], name: str) -> tuple[torch.Tensor, ...]:
    wanted = [x for x in given if x.requires_grad]
    outputs = [y.sum() for y in (found[:1] if name in VALUES else found) if y.requires_grad]
    return torch.autograd.grad(outputs, wanted)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_opcheck(name):
    op = OPERATORS[name]
    plain = name in VALUES or op.signature.mutated
    given: list[Any] = list(made(name) if plain else leaves(name))
    if op.signature.mutated:
        given = [*([x] for x in given), *STEP]
    torch.library.opcheck(op.op, (*given, *PLAIN.get(name, ())))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_gradcheck(name):
    call = CALLS[name][0]
    if sentence := REFUSED.get(("gradcheck", name)):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            call(*leaves(name))
        assert str(caught.value).startswith(sentence)
        return
    only = (lambda *given: call(*given)[0]) if name in VALUES else call
    assert torch.autograd.gradcheck(only, leaves(name))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_fullgraph(name):
    torch._dynamo.reset()
    call = CALLS[name][0]
    has_gradient = ("gradcheck", name) not in REFUSED
    given = leaves(name) if has_gradient else made(name)
    got, right = results(torch.compile(call, backend="aot_eager", fullgraph=True), given), results(call, given)
    compared(got, right)
    if has_gradient:
        compared(gradients(got, given, name), gradients(right, given, name))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_export(name):
    call = CALLS[name][0]

    class Model(torch.nn.Module):
        def forward(self, *given):
            return call(*given)

    exported = torch.export.export(Model(), made(name))
    own = "simpletorch." + ("adamw_step_in_place" if name.startswith("adamw") else name)
    graphs = [m.graph for m in exported.graph_module.modules() if isinstance(m, torch.fx.GraphModule)]
    kinds = {str(node.target) for graph in graphs for node in graph.nodes if node.op == "call_function"}
    assert name == "attention" or any(kind.startswith(own) for kind in kinds)
    with torch.no_grad():
        compared(results(exported.module(), made(name)), results(call, made(name)))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_vmap(name):
    """As a loop does; what isn't batched is the same for each example."""
    call, given = CALLS[name][0], made(name)
    batch = [torch.stack([x, x.flip(0) if x.dim() else x + 1, x]) for x in given]
    with torch.no_grad():
        got = results(torch.vmap(call), tuple(batch))
        each = [results(call, tuple(x[i] for x in batch)) for i in range(3)]
        compared(got, tuple(torch.stack(parts) for parts in zip(*each, strict=True)))
        if "adamw" not in name:
            in_dims = (0, *[None] * (len(given) - 1))
            got = results(torch.vmap(call, in_dims=in_dims), (batch[0], *given[1:]))
            each = [results(call, (batch[0][i], *given[1:])) for i in range(3)]
            compared(got, tuple(torch.stack(parts) for parts in zip(*each, strict=True)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: shipped.swiglu(x, y),
        lambda x, y: shipped.geglu(x, y, True),
        lambda x, y: shipped.swiglu_packed(torch.cat((x, y), -1)),
        lambda x, y: shipped.layer_norm(x, y[0], y[1]),
        lambda x, y: shipped.rms_norm(x, y[0]),
        lambda x, y: shipped.softmax(x * y),
    ],
    ids=["swiglu", "geglu", "swiglu_packed", "layer_norm", "rms_norm", "softmax"],
)
def test_second_derivatives(call):
    given = tuple(x.requires_grad_() for x in (normal(2, 3), normal(2, 3)))
    assert torch.autograd.gradgradcheck(call, given)


def test_a_step_of_a_batch_says_what_is_the_same_for_all():
    op = OPERATORS["adamw_step_in_place"]
    parameter, *others = made("adamw_step_in_place")

    def stepped(grad: torch.Tensor) -> torch.Tensor:
        op.unchecked([parameter], [grad], *([x] for x in others[1:]), *STEP)
        return grad

    sentence = "adamw_step_in_place changes parameters in place, but parameters is the same for the whole batch"
    with torch.no_grad(), pytest.raises(RuntimeError, match=sentence):
        torch.vmap(stepped)(torch.stack([others[0], others[0]]))
