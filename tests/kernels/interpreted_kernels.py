"""The Triton kernels in Triton's interpreter; `test_triton_interpreted.py` runs this with TRITON_INTERPRET=1.

The interpreter is chosen when a kernel is decorated, so this is a process of its own.
"""

from __future__ import annotations

import pytest
import torch

from simpletorch.kernels import shipped
from simpletorch.kernels._compile_check import _bind_shipped
from simpletorch.kernels._triton import KERNELS, TritonKernel, interpreted
from simpletorch.kernels.shipped._triton.cross_entropy import cross_entropy_in_place
from simpletorch.kernels.shipped.adamw_step import adamw_step, adamw_step_in_place
from tests.kernels.cases import cases, check, classes, normal
from tests.kernels.every import FACES, OPERATORS

assert interpreted()

# what runs on CUDA otherwise, kernels and all
for operator in OPERATORS.values():
    if "cpu" not in operator.implementations:
        operator.cpu(operator.implementations["cuda"])

# of each kernel: the dtypes of the tensors and the sizes in each of its launches
LAUNCHES: dict[str, list[tuple[set[torch.dtype], list[int]]]] = {}


@pytest.fixture(autouse=True, scope="module")
def recorded():
    launch = TritonKernel.launch

    def recording(kernel, values, constants):
        dtypes = {value.dtype for value in values if isinstance(value, torch.Tensor)}
        sizes = [v for p, v in zip(kernel._passed, values, strict=True) if p.kind == "size"]
        LAUNCHES.setdefault(kernel.name, []).append((dtypes, sizes))
        launch(kernel, values, constants)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TritonKernel, "launch", recording)
        yield


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("case", cases(), ids=repr)
def test_kernel(case, dtype):
    check(case, dtype, "cpu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_adamw_step(dtype):
    """Lists of odd sizes, of which some lie where loads can't be wide."""
    torch.manual_seed(1)
    room = [torch.rand(3, 4103).to(dtype if i < 2 else torch.float32) for i in range(4)]
    lists = [[x[0, :4099], x[1, 1:8], x[2, :2048]] for x in room]
    exact = [[x.double() for x in one] for one in lists]
    for step in (1, 2):
        adamw_step(*lists, step=step, lr=0.1)
        adamw_step_in_place.reference(*exact, None, step, 0.1, 0.9, 0.999, 1e-8, 1e-2)
    for one, other in zip(lists, exact, strict=True):
        for a, b in zip(one, other, strict=True):
            torch.testing.assert_close(a.double(), b, rtol=3 * torch.finfo(dtype).eps, atol=3 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_losses_and_gradients_in_place(dtype, smoothing):
    """The kernel of linear_cross_entropy, which runs on a GPU only."""
    logits, targets = normal(11, 5003).to(dtype), classes(11, 5003)
    rows = logits.double().requires_grad_()
    right = torch.nn.functional.cross_entropy(rows, targets, reduction="none", label_smoothing=smoothing)
    (right_grad,) = torch.autograd.grad(right.sum(), rows)
    losses = torch.empty(11)
    constants = {"SMOOTH": smoothing != 0, "BLOCK": 1024, "STAGES": 2}
    cross_entropy_in_place(logits, targets, losses, 11, 5003, 5003, -100, smoothing, **constants)
    torch.testing.assert_close(losses, right.float())
    torch.testing.assert_close(logits, right_grad.to(dtype))


# -- what the tests above have run -------------------------------------------------------------------------------------


def test_there_is_a_case_of_every_operator():
    called = {case.name.split()[0] for case in cases()}
    public = {name for name in vars(shipped) if name in OPERATORS or name in FACES}
    assert public - called == {"adamw_step", "attention"}, "the one is tested above, the other is torch's own"


_bind_shipped()
SHIPPED = sorted(kernel.name for place, kernel in KERNELS.items() if place.startswith(f"{shipped.__name__}."))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_kernel_has_run(name, dtype):
    """With each dtype, and with a size that fills no block, so that its masks decide."""
    launches = [sizes for dtypes, sizes in LAUNCHES.get(name, ()) if dtype in dtypes]
    assert launches
    # the sizes of adamw_step's tensors are in its table
    assert name == "adamw_step" or any(size % 2 and size > 1 for sizes in launches for size in sizes)
