"""The shipped kernels on a GPU against float64: all dtypes, odd and large sizes. Skipped where there is no GPU."""

from __future__ import annotations

import pytest
import torch

from simpletorch.errors import BackendError
from simpletorch.kernels.shipped.adamw_step import adamw_step, adamw_step_in_place
from simpletorch.kernels.shipped.attention import attention, attention_backend
from simpletorch.kernels.shipped.dropout_add import dropout_add
from simpletorch.kernels.shipped.gated import swiglu
from simpletorch.kernels.shipped.layer_norm import layer_norm
from simpletorch.kernels.shipped.relu_add import relu_add
from simpletorch.kernels.shipped.rms_norm import rms_norm
from simpletorch.kernels.shipped.softmax import softmax
from tests.kernels.cases import Case, cases, check, normal

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]

LARGE = [
    Case("softmax 16384", softmax, lambda: (normal(301, 16384),)),
    Case("softmax 128k", softmax, lambda: (normal(17, 131071),)),
    Case("layer_norm 4096", layer_norm, lambda: (normal(2003, 4096), normal(4096), normal(4096))),
    Case("layer_norm 16384", layer_norm, lambda: (normal(509, 16384), normal(16384), normal(16384))),
    Case("layer_norm 40000", layer_norm, lambda: (normal(41, 40000), normal(40000), normal(40000))),
    Case("rms_norm 1024", rms_norm, lambda: (normal(10007, 1024), normal(1024))),
    Case("rms_norm 16384", rms_norm, lambda: (normal(509, 16384), normal(16384))),
]


@pytest.fixture(autouse=True)
def exact_products():
    """No TF32: what is compared with is exact."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", [*cases(), *LARGE], ids=repr)
def test_agrees_with_float64(case, dtype):
    check(case, dtype, "cuda")


@pytest.mark.parametrize("case", [case for case in cases(97) if "long" not in case.name], ids=repr)
def test_many_rows(case):
    check(case, torch.bfloat16, "cuda")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_same_bits_each_time(dtype):
    x, w, b = (
        torch.randn(4099, 1031, device="cuda", dtype=dtype, requires_grad=True),
        *torch.randn(2, 1031, device="cuda"),
    )
    leaves = (x, w.to(dtype).requires_grad_(), b.to(dtype).requires_grad_())
    grad = torch.randn_like(x)
    first, second = (torch.autograd.grad(layer_norm(*leaves), leaves, grad) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_more_than_2_to_the_31_elements():
    rows, n = (1 << 31) // 4096 + 3, 4096
    x = torch.zeros(rows, n, device="cuda", dtype=torch.bfloat16)
    x[-1] = torch.arange(n, device="cuda") % 7
    x[0] = 3
    assert relu_add(x, x)[-1].tolist() == (2 * x[-1]).tolist()
    torch.testing.assert_close(softmax(x)[-1], torch.softmax(x[-1], -1))
    torch.testing.assert_close(swiglu(x, x)[-1], torch.nn.functional.silu(x[-1]) * x[-1], rtol=1e-2, atol=1e-2)
    weight = torch.ones(n, device="cuda", dtype=torch.bfloat16)
    torch.testing.assert_close(rms_norm(x, weight)[-1], torch.nn.functional.rms_norm(x[-1], (n,), weight, 1e-6))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_mask_is_that_of_the_cpu(dtype):
    x = torch.ones(20011, dtype=dtype)
    on_cpu = dropout_add(x, torch.zeros_like(x), 0.3, seed=5)
    on_gpu = dropout_add(x.cuda(), torch.zeros_like(x).cuda(), 0.3, seed=5)
    assert torch.equal(on_cpu, on_gpu.cpu())


@pytest.mark.parametrize("sizes", [(1,), (2048, 3), (5000, 7, 64, 100003)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("seed", [None, 3])
def test_adamw_step(sizes, dtype, seed):
    torch.manual_seed(1)
    lists = [[torch.randn(n) for n in sizes], [torch.randn(n) for n in sizes], *[[torch.rand(n) for n in sizes]] * 2]
    lists = [[x.to(dtype) for x in one] if i < 2 else one for i, one in enumerate(lists)]
    ours = [[x.cuda() for x in one] for one in lists]
    right = [[x.clone() for x in one] for one in lists]
    for step in (1, 2):
        adamw_step(*ours, step=step, lr=0.1, seed=seed)
        adamw_step(*right, step=step, lr=0.1, seed=seed)
    step_of = 2e-2 if dtype == torch.bfloat16 else 1e-5
    for one, other in zip(ours, right, strict=True):
        for a, b in zip(one, other, strict=True):
            torch.testing.assert_close(a.cpu(), b, rtol=step_of, atol=step_of)
    assert "cuda" in adamw_step_in_place.implementations


@pytest.mark.parametrize(
    "call",
    [
        lambda x: softmax(x, 0.5).sum(),
        lambda x: relu_add(x, x).sum(),
        lambda x: rms_norm(x, x[0]).square().sum(),
        lambda x: layer_norm(x, x[0], x[1]).square().sum(),
        lambda x: swiglu(*x.chunk(2, -1)).sum(),
    ],
)
def test_compiled_in_one_graph(call):
    x = torch.randn(37, 514, device="cuda", requires_grad=True)
    compiled = torch.compile(call, fullgraph=True)
    right, got = call(x), compiled(x)
    torch.testing.assert_close(got, right, rtol=1e-4, atol=1e-4)
    right_grad, got_grad = (torch.autograd.grad(y, x)[0] for y in (right, got))
    torch.testing.assert_close(got_grad, right_grad, rtol=1e-4, atol=1e-4)


def test_attention_names_its_backend_and_says_why_one_can_not():
    q = torch.randn(2, 4, 16, 64, device="cuda", dtype=torch.bfloat16)
    mask = torch.zeros(16, 16, device="cuda", dtype=torch.bfloat16)
    assert attention_backend(q, q, q, causal=True) in ("flash", "cudnn", "efficient")
    torch.testing.assert_close(
        attention(q, q, q, causal=True, backend="flash"),
        attention(q, q, q, causal=True, backend="math"),
        rtol=2e-2,
        atol=2e-2,
    )
    with pytest.raises(BackendError, match=r"flash can't run these arguments: .*mask"):
        attention(q, q, q, mask=mask, backend="flash")
