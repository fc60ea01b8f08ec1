"""What ``class Net(nn.Module[In, Out])`` states is held against its ``forward``, as it is at run time."""

import pytest

from simpletorch.errors import TypeMismatch
from simpletorch.follow import follow

PROGRAM = """
from simpletorch import Float32, Float64, Tensor, nn
from simpletorch.dims import B, N
SIZE = 5
class Net(nn.Module[{stated}]):
    def forward(self, x: {taken}{more}) -> {given}:
        return x
"""
A, B, C, D = "Tensor[Float32, B, 5]", "Tensor[Float32, B, 3]", "Tensor[Float64, B, 5]", "Tensor[Float32, 5]"


@pytest.mark.parametrize(
    ("stated", "taken", "given", "code", "said"),
    [
        (
            f"{A}, {B}",
            A,
            A,
            "tensor-shape",
            f"class Net: forward gives {A}, but the class's Module[In, Out] states {B}",
        ),
        (
            f"{C}, {A}",
            A,
            A,
            "tensor-dtype",
            f"class Net: forward takes x: {A}, but the class's Module[In, Out] states {C}",
        ),
        (
            f"{A}, {D}",
            A,
            A,
            "tensor-shape",
            f"class Net: forward gives {A}, but the class's Module[In, Out] states {D}",
        ),
    ],
)
def test_a_forward_that_breaks_the_class_s_word_is_found(tmp_path, stated, taken, given, code, said):
    file = tmp_path / "net.py"
    file.write_text(PROGRAM.format(stated=stated, taken=taken, given=given, more=""))
    (error,) = follow(file).errors
    assert (error.line, error.code, error.message) == (5, code, said)
    with pytest.raises(TypeMismatch) as raised:
        exec(compile(file.read_text(), str(file), "exec"), {"__name__": "net"})
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("stated", "taken", "given", "more"),
    [
        (f"{A}, {A}", A, A, ""),
        (f"{A}, {A}", "Tensor[Float32, B, SIZE]", "Tensor[Float32, N, 5]", ""),
        (f"{A}, {A}", "Tensor[Float32, ..., 5]", "Tensor", ", scale: float = 1.0"),
        (f"{A}, {B}", D, B, ", other: Tensor"),  # two inputs aren't one In
    ],
)
def test_a_forward_that_keeps_it_is_right(tmp_path, stated, taken, given, more):
    file = tmp_path / "net.py"
    file.write_text(PROGRAM.format(stated=stated, taken=taken, given=given, more=more))
    assert follow(file).errors == ()
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "net"})
