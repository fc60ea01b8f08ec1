"""Functions made of functions: mapped, derived, and modules called with other parameters."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

HEAD = "import torch\nfrom torch import nn\nfrom torch.func import *\n"

MAPPED = """
x, w, y = torch.randn(7, 3), torch.randn(3, 5), torch.randn(5, 7)
a = vmap(lambda row: row @ w)(x)
b = torch.vmap(torch.dot, in_dims=(0, 1))(torch.randn(7, 5), y)
c = vmap(lambda row, m: m + row, in_dims=(0, None), out_dims=1)(x, torch.randn(2, 3))
d, e = vmap(lambda p: (p["u"].sum(), p["v"] * 2))({"u": x, "v": torch.randn(7, 2)})
f = vmap(vmap(lambda s: s.repeat(2)))(x[..., None])
"""
DERIVED = """
x, w = torch.randn(3), torch.randn(5, 3)
f = lambda x, w: (w @ x).tanh()
a = grad(lambda x: f(x, w).sum())(x)
b, c = grad(lambda x, w: f(x, w).sum(), argnums=(0, 1))(x, w)
d, e = grad_and_value(lambda x: f(x, w).sum())(x)
g = jacrev(f)(x, w)
h, i = jacfwd(f, argnums=(0, 1))(x, w)
j = hessian(f)(x, w)
k, back = vjp(f, x, w)
m, n = back(k)
o, p = jvp(f, (x, w), (x, w))
q, (r, s) = grad(lambda x: (f(x, w).sum(), (x, w)), has_aux=True)(x)
each = vmap(grad(lambda x: x.pow(2).sum()))(torch.randn(7, 3))
"""
FUNCTIONAL = """
from torch.autograd import functional
x, w = torch.randn(3), torch.randn(5, 3)
a = functional.jacobian(lambda x: w @ x, x)
b, c = functional.jacobian(lambda x, w: w @ x, (x, w))
d = functional.hessian(lambda x: (w @ x).pow(2).sum(), x)
e, f = functional.hvp(lambda x: (w @ x).pow(2).sum(), x, x)
g, h = functional.jvp(lambda x: w @ x, x, x)
"""
MODULES = """
models = [nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5)).eval() for _ in range(2)]
params, buffers = stack_module_state(models)
w, mean = params["0.weight"], buffers["1.running_mean"]
x = torch.randn(7, 3)
def call(params, buffers, x):
    return functional_call(models[0], (params, buffers), (x,))
y = vmap(call, in_dims=(0, 0, None))(params, buffers, x)
own = dict(models[0].named_parameters())
z = functional_call(models[0], own, x)
def loss(params):
    return functional_call(models[0], params, x).sum()
gradients = grad(loss)(own)
g = gradients["0.weight"]
"""
FUNCTION = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x.repeat(n, 1)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.view(ctx.n, *x.shape).sum(0), None
class Halve(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x[:, ::2]
    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)
a = Double.apply(torch.randn(3, 5), 2)
b = Halve.apply(torch.randn(3, 6))
layers = [nn.Linear(3, 5), nn.ReLU()]
c = torch.utils.checkpoint.checkpoint_sequential(layers, 2, torch.randn(7, 3), use_reentrant=False)
d = torch.utils.checkpoint.checkpoint_sequential(nn.ModuleList(layers), 1, torch.randn(11, 3), use_reentrant=False)
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (MAPPED, "a b c d e f"),
        (DERIVED, "a b c d e g h i j k m n o p q r s each"),
        (FUNCTIONAL, "a b c d e f g h"),
        (MODULES, "w mean y z g"),
        (FUNCTION, "a b c d"),
    ],
)
def test_what_they_give_is_what_torch_gives(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_gradient_is_taken_of_a_scalar(tmp_path: Path) -> None:
    ((_, message),) = findings(HEAD + "grad(lambda x: 2 * x)(torch.ones(3))\n", tmp_path)
    assert message == "grad: the function must give a scalar, a tensor without dims [output: Float32[3]]"


def test_mapped_dims_have_one_size(tmp_path: Path) -> None:
    ((_, message),) = findings(HEAD + "vmap(torch.dot)(torch.ones(3, 5), torch.ones(7, 5))\n", tmp_path)
    assert "the mapped dims have 3 and 7 items" in message


def test_a_mistake_inside_a_mapped_function_is_found(tmp_path: Path) -> None:
    ((_, message),) = findings(HEAD + "vmap(lambda r: r @ torch.ones(5, 2))(torch.ones(7, 3))\n", tmp_path)
    assert message.startswith("@")
