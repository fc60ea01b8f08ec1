"""What torch does with operators: opcheck, compile, export, meta, gradients, vmap and torch.func."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.export import Dim, export

from simpletorch import Float, Int64, Tensor, kernels
from simpletorch.errors import ShapeMismatch
from tests.kernels.operators import (
    CALLS,
    added,
    double_,
    halves,
    normalized,
    pooled,
    positive,
    relu_add,
    split,
    tensor,
    total,
)


def flat(result: Any) -> list[torch.Tensor]:
    if isinstance(result, list | tuple):
        return [t for r in result for t in flat(r)]
    return [result] if isinstance(result, torch.Tensor) else []


@pytest.mark.parametrize("name", CALLS)
def test_opcheck(name: str):
    op, args = CALLS[name]
    done = torch.library.opcheck(op.op, args)
    assert set(done.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"positive"}))
def test_on_meta_the_sizes_are_those_of_the_values(name: str):
    op, args = CALLS[name]
    meta = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().to("meta"), args)
    plain = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), args)
    got, expected = flat(op.op(*meta)), flat(op.op(*plain))
    assert [(t.shape, t.dtype, t.stride()) for t in got] == [(t.shape, t.dtype, t.stride()) for t in expected]


def test_on_meta_sizes_that_values_decide_are_refused():
    with pytest.raises(RuntimeError, match="data-dependent"):
        positive.op(torch.ones(3, device="meta"))


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"positive"}))
def test_compile_sees_one_graph(name: str, dynamic: bool):
    op, args = CALLS[name]
    torch._dynamo.reset()
    compiled = torch.compile(op.unchecked, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    with torch.no_grad():
        ours, theirs = (torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, args) for _ in range(2))
        torch.testing.assert_close(
            flat(compiled(*ours)),
            flat(op.reference(*args[:-1], swapped=True) if name == "halves" else op.reference(*theirs)),
        )
        torch.testing.assert_close(flat(ours), flat(theirs))


@pytest.mark.slow
def test_compile_goes_through_the_checked_call_and_its_gradient():
    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (relu_add(x, y) * halves(x, swapped=True)[0].repeat(1, 2)).sum()

    x, y = tensor(3, 10, grad=True), tensor(3, 10, seed=1)
    step(x, y).backward()
    z = tensor(3, 10, grad=True)
    (relu_add.reference(z, y) * halves.reference(z, swapped=True)[0].repeat(1, 2)).sum().backward()
    torch.testing.assert_close(x.grad, z.grad)


@pytest.mark.slow
def test_a_size_that_values_decide_is_a_symbol():
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(lambda x: positive(x)[0] * 2, fullgraph=True, backend="aot_eager")
        for size in (7, 11):
            x = tensor(size)
            torch.testing.assert_close(compiled(x), x[x > 0] * 2)


@pytest.mark.slow
def test_sizes_that_do_not_fit_are_found_while_compiling():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, y: relu_add(x, y), fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match=r"\*n is \(3, 7\) in y, but \(3, 5\) before"):
        compiled(tensor(3, 5), tensor(3, 7))


@pytest.mark.slow
def test_a_traced_implementation_is_seen_through():
    @kernels.operator("kernel_tests::seen")
    def seen(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        return x.relu()

    @seen.on("cpu", traced=True)
    def _(x):
        return x.clamp_min(0)

    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=keep)
    compiled = torch.compile(lambda x: seen(x) + 1, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(tensor(3, 5)), tensor(3, 5).relu() + 1)
    (graph,) = graphs
    names = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert "aten.clamp_min.default" in names
    assert "kernel_tests.seen.default" not in names


class Halved(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return pooled(halves(x)[0])


def test_export_keeps_the_operator_and_its_sizes():
    program = export(Halved(), (tensor(3, 10),), dynamic_shapes={"x": {0: Dim("b"), 1: 2 * Dim("n", min=2)}})
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {"kernel_tests.halves.default", "kernel_tests.pooled.default"} <= targets
    for shape in ((5, 14), (2, 22)):
        x = tensor(*shape)
        torch.testing.assert_close(program.module()(x), Halved()(x))


# -- gradients ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Input #. requires gradient and is not a double:UserWarning")
@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"double_"}))
def test_gradients_are_those_of_the_reference(name: str):
    op, args = CALLS[name]
    double = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: t.detach().double().requires_grad_() if t.is_floating_point() else t, args
    )
    if name in ("pooled", "embedded"):  # of float32 only
        assert torch.autograd.gradcheck(lambda *a: tuple(flat(op.op(*a))), args, eps=1e-2, atol=1e-2, rtol=1e-2)
        return
    leaves = flat(double)

    def call(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        left = list(given)
        whole = torch.utils._pytree.tree_map_only(torch.Tensor, lambda _: left.pop(0), double)
        return tuple(flat(op.op(*whole)))

    assert torch.autograd.gradcheck(call, leaves)
    assert torch.autograd.gradgradcheck(call, leaves)


def test_a_gradient_gets_what_its_parameters_name():
    seen: dict[str, Any] = {}

    @kernels.operator("kernel_tests::scaled")
    def scaled(
        x: Float[Tensor, "*n"], y: Float[Tensor, "*n"], k: int
    ) -> tuple[Float[Tensor, "*n"], Int64[Tensor, "*n"]]:
        return x * y * k, x.long()

    @scaled.backward
    def _(grads, results, y, k, needs):
        seen.update(results=results, needs=needs, k=k)
        return grads[0] * y * k, None

    x = tensor(3, grad=True)
    scaled(x, tensor(3, seed=1), 5)[0].sum().backward()
    torch.testing.assert_close(x.grad, tensor(3, seed=1) * 5)
    assert seen["needs"] == {"x"}
    assert seen["k"] == 5
    assert [r.dtype for r in seen["results"]] == [torch.float32, torch.int64]


@pytest.mark.parametrize(
    ("gradient", "error", "sentence"),
    [
        (
            lambda grad, z: grad,
            TypeError,
            "has a parameter z, but the names of its parameters say what it is given: grad",
        ),
        (lambda grad: grad, TypeError, r"returns 1 value, but there is one to return for each of x, y, in this order"),
        (lambda grad: (grad[0], grad), ShapeMismatch, r"the gradient of x has shape \(5,\), but x has \(3, 5\)"),
    ],
)
def test_a_wrong_gradient_is_named(gradient: Any, error: type[Exception], sentence: str):
    @kernels.operator("kernel_tests::summed")
    def summed(x: Float[Tensor, "n m"], y: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
        return x + y

    x = tensor(3, 5, grad=True)

    def call() -> None:
        summed.backward(gradient)
        summed(x, x).sum().backward()

    with pytest.raises(error, match=sentence):
        call()


def test_an_operator_without_gradient_has_none():
    with pytest.raises(TypeError, match="changes its arguments in place, so it has no gradient"):
        double_.backward(lambda grad: grad)


# -- batches -----------------------------------------------------------------------------------------------------------


def test_an_element_wise_operator_is_called_once_for_a_batch():
    calls = []

    @kernels.operator("kernel_tests::counted")
    def counted(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        return x * y.sin()

    @counted.cpu
    def _(x, y):
        calls.append(x.shape)
        return x * y.sin()

    x, y = tensor(3, 7, 5), tensor(3, 5, seed=1)
    got = torch.vmap(counted, in_dims=(1, None))(x, y)
    torch.testing.assert_close(got, x.movedim(1, 0) * y.sin())
    assert calls == [(7, 3, 5)]


def test_same_shapes_do_not_make_an_operator_element_wise():
    x = tensor(3, 5)
    torch.testing.assert_close(torch.vmap(normalized)(x), torch.stack([normalized(row) for row in x]))


@pytest.mark.parametrize(
    ("op", "dims", "args"),
    [
        (halves, (1, None), (tensor(3, 2, 10), 5.0)),
        (added, (0, None), (tensor(2, 3, 1), tensor(1, 5))),
        (total, ([0, None], 1), ([tensor(2, 5), tensor(5)], tensor(5, 2))),
        (split, (0, None), (tensor(2, 8, 3), [3, 5])),
    ],
)
def test_a_batch_of_any_other_operator_is_a_loop(op: Any, dims: Any, args: Any):
    got = torch.vmap(op, in_dims=dims)(*args)
    expected = torch.vmap(op.reference, in_dims=dims)(*args)
    torch.testing.assert_close(flat(got), flat(expected))


def test_in_place_a_batch_is_changed_example_by_example():
    def changed(x: torch.Tensor) -> torch.Tensor:
        double_(x)
        return x

    x = tensor(3, 5)
    torch.vmap(changed, in_dims=1)(x)
    torch.testing.assert_close(x, tensor(3, 5) * 2)


def test_a_batching_rule_of_the_user_s_is_taken():
    @kernels.operator("kernel_tests::squared")
    def squared(x: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        return x * x

    @squared.vmap
    def _(info, dims, x):
        return x.movedim(dims[0], 0) * x.movedim(dims[0], 0) + info.batch_size, 0

    torch.testing.assert_close(torch.vmap(squared)(tensor(3, 5)), tensor(3, 5) ** 2 + 3)


@pytest.mark.parametrize("own", [False, True])
def test_torch_func_differentiates_operators(own: bool):
    @kernels.operator("kernel_tests::weighted")
    def weighted(x: Float[Tensor, " n"], w: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        return x * w.sin()

    if own:

        @weighted.backward
        def _(grad, x, w):
            return grad * w.sin(), grad * x * w.cos()

    x, w = tensor(3, 5), tensor(5, seed=1)
    func = torch.func
    for work in (
        lambda f: func.grad(lambda w: f(x[0], w).sum())(w),
        lambda f: torch.vmap(func.grad(lambda x, w: f(x, w).sum(), argnums=1), (0, None))(x, w),
        lambda f: func.grad(lambda w: torch.vmap(f, (0, None))(x, w).sum())(w),
        lambda f: func.jacrev(func.jacrev(lambda w: f(x[0], w).sum()))(w),
    ):
        torch.testing.assert_close(work(weighted), work(weighted.reference))
