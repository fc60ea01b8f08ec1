"""A device that an annotation states is held against what is given, returned and assigned; `# E` marks the mistakes."""

import pytest

from simpletorch.follow import follow

HEAD = """import torch
from torch import nn
from simpletorch import CPUTensor, CUDATensor, Float32, MPSTensor, Tensor
def on_cuda(x: CUDATensor[Float32, 3, 5], flag: bool = True) -> None: ...
def on_any_cuda(*, x: CUDATensor) -> None: ...
def on_cuda_or_none(x: "CUDATensor[Float32, 3, 5] | None") -> None: ...
def on_mps(x: MPSTensor[Float32, 3, 5]) -> None: ...
"""

MISTAKES = {
    "arguments": """
a = CPUTensor.zeros(3, 5)
on_cuda(a)  # E
on_any_cuda(x=a)  # E
on_cuda_or_none(a)  # E
on_mps(a.cuda())  # E
on_mps(a)  # E
on_cuda(torch.zeros(3, 5, device="cpu"))  # E
on_cuda(CUDATensor.zeros(3, 5).cpu())  # E
""",
    "results": """
def sent(x: CPUTensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
    return x * 2  # E
def kept(x: CUDATensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
    return x.cpu()  # E
kept(CUDATensor.zeros(3, 5))
""",
    "variables": """
a = CUDATensor.zeros(3, 5)
b: CPUTensor[Float32, 3, 5] = a  # E
c: MPSTensor[Float32, 3, 5] = a + 1  # E
""",
    "attributes": """
class Box:
    x: CUDATensor[Float32, 3, 5]
    def __init__(self, x: CPUTensor[Float32, 3, 5]) -> None:
        self.x = x  # E
        self.y: CUDATensor[Float32, 3, 5] = x  # E
Box(CPUTensor.zeros(3, 5)).x = torch.zeros(3, 5, device="mps")  # E
""",
    "modules": """
class Net(nn.Module):
    def forward(self, x: CUDATensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
        return x
Net()(CPUTensor.zeros(3, 5))  # E
""",
    "in a function that nobody calls": """
def f(x: CPUTensor[Float32, 3, 5], y: CUDATensor[Float32, 3, 5]) -> None:
    on_cuda(x)  # E
    x + y  # E
    y + x.to(y)
""",
}

RIGHT = {
    "moved": """
a = CPUTensor.zeros(3, 5)
for each in (a.cuda(), a.to("cuda"), a.to(device="cuda:1"), a.to(torch.device("cuda"))):
    on_cuda(each)
    b: CPUTensor[Float32, 3, 5] = each.cpu()
""",
    "not stated": """
on_cuda(torch.zeros(3, 5))
on_cuda(nn.Linear(5, 5)(torch.zeros(3, 5)))
def f(x: Tensor[Float32, 3, 5], y: CPUTensor[Float32, 3, 5], device: str, one: bool) -> CUDATensor[Float32, 3, 5]:
    on_cuda(x)
    on_cuda(y.to(device))
    on_cuda(y if one else x)
    return x
""",
    "chosen": """
device = "cuda" if torch.cuda.is_available() else "cpu"
on_cuda(torch.zeros(3, 5, device=device))
on_cuda(CPUTensor.zeros(3, 5).to(device))
""",
    "moved where there is one": """
a = CPUTensor.zeros(3, 5)
if torch.cuda.is_available():
    print("moved")
    a = a.cuda()
on_cuda(a)
""",
    "caught": """
try:
    on_cuda(CPUTensor.zeros(3, 5))
except TypeError:
    pass
""",
    "another library's": """
from arrays import CUDATensor as Other
def f(x: Other) -> None: ...
f(torch.zeros(3, device="cpu"))
""",
}


def errors(source, folder):
    path = folder / "program.py"
    path.write_text(source)
    return follow(path).errors


@pytest.mark.parametrize("name", MISTAKES)
def test_a_tensor_on_another_device_than_stated(name, tmp_path):
    source = HEAD + MISTAKES[name]
    marked = [i for i, line in enumerate(source.splitlines(), 1) if line.endswith("# E")]
    found = errors(source, tmp_path)
    assert sorted((e.line, e.code) for e in found) == [(line, "tensor-device") for line in marked]


@pytest.mark.parametrize("name", RIGHT)
def test_a_device_that_fits_or_is_not_known(name, tmp_path):
    assert errors(HEAD + RIGHT[name], tmp_path) == ()


def test_the_message_is_that_of_the_check_at_run_time(tmp_path):
    (found,) = errors(HEAD + "on_cuda(CPUTensor.zeros(3, 5))\n", tmp_path)
    assert found.message == "on_cuda: x is on cpu, but should be on cuda [Float32[3, 5]]"
