"""`kernels.operator`: what is derived from the annotations, and what is said of those from which nothing can be."""

from __future__ import annotations

import copy
import pickle
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

from simpletorch import Float, Float32, Int64, Tensor, config, kernels
from simpletorch.errors import DeviceMismatch, DTypeMismatch, ShapeMismatch, TorchError, TypeMismatch
from tests.kernels import operators
from tests.kernels.operators import CALLS, double_, embedded, halves, positive, relu_add, tensor, total


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("relu_add", "(Tensor x, Tensor y) -> Tensor"),
        ("halves", "(Tensor x, float scale, bool swapped) -> (Tensor, Tensor)"),
        ("embedded", "(Tensor table, Tensor ids, SymInt n) -> Tensor"),
        ("total", "(Tensor[] xs, Tensor? weight) -> Tensor"),
        ("double_", "(Tensor(a0!) x) -> ()"),
        ("split", "(Tensor x, SymInt[] sizes) -> Tensor[]"),
    ],
)
def test_the_schema_is_that_of_the_annotations(name: str, schema: str):
    assert str(CALLS[name][0].op._schema) == f"kernel_tests::{name}{schema}"


def test_an_operator_is_called_as_its_function():
    x, y = tensor(3, 5), tensor(3, 5, seed=1)
    assert torch.equal(relu_add(x, y=y), torch.relu(x + y))
    a, b = halves(tensor(3, 10), swapped=True)
    assert torch.equal(torch.cat((b, a), 1), tensor(3, 10) * 3)
    assert relu_add.__name__ == "relu_add"
    assert relu_add.__doc__ == "relu(x + y)"
    assert relu_add.__wrapped__ is relu_add.reference
    assert repr(relu_add) == "<operator kernel_tests::relu_add(Tensor x, Tensor y) -> Tensor>"


def test_an_operator_is_one_object():
    assert copy.deepcopy(relu_add) is relu_add
    assert pickle.loads(pickle.dumps(relu_add)) is relu_add


def test_an_operator_is_named_after_package_and_function():
    @kernels.operator
    def scaled(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        return x * 3

    assert scaled.name == "tests::test_an_operator_is_named_after_package_and_function_scaled"


# -- arguments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: relu_add(tensor(3, 5), tensor(3, 7)), "relu_add: *n is (3, 7) in y, but (3, 5) before"),
        (lambda: halves(tensor(3, 7)), "halves: dim 1 of x is 7, which 2*n can't be"),
        (lambda: embedded(tensor(7, 3), torch.arange(5), 11), "embedded: n is 11, but N is 7 from dim 0 of table"),
        (lambda: total([tensor(3), tensor(5)]), "total: *n is (5,) in xs[1], but (3,) before"),
        (lambda: embedded(tensor(7, 3).double(), torch.arange(5), 7), "table is Float64, but should be Float32"),
    ],
)
def test_arguments_are_checked_as_of_any_checked_function(call: Callable[[], Any], sentence: str):
    with pytest.raises(TorchError) as caught:
        call()
    assert sentence in str(caught.value).splitlines()[0]


def test_with_checks_off_an_operator_runs_all_the_same():
    with config(check="off"):

        @kernels.operator("kernel_tests::unchecked")
        def unchecked(x: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
            return x * 2

        assert torch.equal(unchecked(torch.ones(3, 5)), torch.full((3, 5), 2.0))


# -- what implementations promise --------------------------------------------------------------------------------------


@pytest.fixture
def doubled() -> kernels.Operator[..., Any]:
    @kernels.operator("kernel_tests::doubled")
    def doubled(x: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
        return x * 2

    return doubled


@pytest.mark.parametrize(
    ("give", "kind", "sentence"),
    [
        (lambda x: torch.ones(3, 7), ShapeMismatch, "dim 1 of the result is 7, but m is 5 from dim 1 of x"),
        (lambda x: torch.ones(3), ShapeMismatch, "the result has 1 dim, not 2"),
        (lambda x: x.double(), DTypeMismatch, "the result is Float64, but should be Float32"),
        (lambda x: x.long(), DTypeMismatch, "the result is Int64, but should be Float"),
        (lambda x: None, TypeMismatch, "the result should be a Tensor, Float[n, m], but is None"),
        (lambda x: (x, x), TypeMismatch, "the result should be a Tensor, Float[n, m], but is of type tuple"),
        (lambda x: x.to("meta"), DeviceMismatch, "the result is on meta, but the arguments are on cpu"),
    ],
)
def test_an_implementation_that_breaks_the_promise_is_named(
    doubled: Any, give: Callable[..., Any], kind: type[TorchError], sentence: str
):
    doubled.cpu(give)
    with pytest.raises(kind) as caught:
        doubled(torch.ones(3, 5))
    assert str(caught.value).splitlines()[0] == f"kernel_tests::doubled (implementation on cpu): {sentence}"


def test_the_reference_is_held_to_the_promise_too():
    @kernels.operator("kernel_tests::turned")
    def turned(x: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
        return x.mT * 1

    assert turned(torch.ones(3, 3)).shape == (3, 3)
    with pytest.raises(
        ShapeMismatch, match=r"^kernel_tests::turned \(reference\): dim 0 of the result is 5, but n is 3"
    ):
        turned(torch.ones(3, 5))


def test_in_place_an_implementation_gives_nothing():
    @kernels.operator("kernel_tests::zeroed_", mutates="x")
    def zeroed_(x: Float[Tensor, "*n"]) -> None:
        return x.zero_()  # type: ignore[return-value]

    with pytest.raises(TypeMismatch, match="the result should be None, but is of type Tensor"):
        zeroed_(torch.ones(3))


def test_results_are_contiguous_and_new(doubled: Any):
    x = torch.ones(3, 5)
    doubled.cpu(lambda x: x)
    assert doubled(x).data_ptr() != x.data_ptr()
    doubled.cpu(lambda x: x.view(3, 5))
    assert doubled(x).data_ptr() != x.data_ptr()
    doubled.cpu(lambda x: x.mT.contiguous().mT)
    assert doubled(x).is_contiguous()


def test_two_results_share_no_memory():
    @kernels.operator("kernel_tests::twins")
    def twins(x: Float[Tensor, "*n"]) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
        new = x * 2
        return new, new

    a, b = twins(torch.ones(3))
    assert a.data_ptr() != b.data_ptr()


def test_inside_an_operator_there_is_no_autocast(doubled: Any):
    doubled.cpu(lambda x: x @ torch.eye(5))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert doubled(torch.ones(3, 5)).dtype == torch.float32


def test_an_operator_may_say_what_it_computes_in_under_autocast():
    @kernels.operator("kernel_tests::logged", autocast=torch.float32)
    def logged(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        return x.log()

    x = torch.ones(3, dtype=torch.bfloat16)
    assert logged(x).dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert logged(x).dtype == torch.float32


# -- in place ----------------------------------------------------------------------------------------------------------


def test_a_change_in_place_is_known_to_autograd():
    x = tensor(3, grad=True)
    y = x * 1
    z = (y * y).sum()
    with torch.no_grad():
        double_(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    with pytest.raises(RuntimeError, match="changes its arguments in place and has no gradient"):
        double_(tensor(3, grad=True))


# -- definitions -------------------------------------------------------------------------------------------------------


def define(body: str) -> Any:
    """What a module with this text defines as ``f``."""
    names: dict[str, Any] = {"__name__": "somewhere"}
    head = "import torch\nfrom typing import *\nfrom simpletorch import *\nfrom simpletorch.kernels import operator\n"
    exec(compile(head + textwrap.dedent(body), "somewhere.py", "exec"), names)
    return names["f"]


WRONG = {
    "def f(x) -> Float[Tensor, 'n']: ...": "parameter x of f has no annotation, and an operator is made from its",
    "def f(x: Float[Tensor, 'n']): ...": "the result of f has no annotation, and an operator is made from it",
    "def f(x: dict[str, int]) -> None: ...": r"parameter x of f is dict\[str, int\], which no operator can take",
    "def f(x: list[Float[Tensor, 'n'] | None]) -> None: ...": "parameter x of f is .*, which no operator can take",
    "def f(*x: Float[Tensor, 'n']) -> None: ...": r"f takes \*x, but an operator has a fixed number of parameters",
    "def f(x: 'Missing') -> None: ...": "the annotation of parameter x of f names something that isn't defined",
    "def f(x: Float[Tensor, 'n']) -> int: ...": "the result of f is int, but an operator gives a tensor",
    "def f(x: Float[Tensor, 'n']) -> Float[Tensor, 'n'] | None: ...": "the result of f is .*, but an operator gives",
}


@pytest.mark.parametrize(("definition", "sentence"), WRONG.items())
def test_an_annotation_from_which_nothing_can_be_made_is_named(definition: str, sentence: str):
    with pytest.raises(TypeError, match=sentence):
        define(f"@operator\n{definition}")


@pytest.mark.parametrize(
    ("decorator", "error", "sentence"),
    [
        ("@operator(mutates=('z',))", TypeError, "f has no parameter z, which mutates= says that it changes"),
        ("@operator(mutates=('k',))", TypeError, "f can't change its parameter k, which is no tensor"),
        ("@operator('f')", ValueError, "'f' is no name for an operator; write \"package::function\""),
        ("@operator('aten::f')", ValueError, "aten is a namespace of torch's own"),
        ("@operator('kernel_tests::halves')", ValueError, "is the operator of tests.kernels.operators.halves"),
    ],
)
def test_a_wrong_decoration_is_named(decorator: str, error: type[Exception], sentence: str):
    with pytest.raises(error, match=sentence):
        define(f"{decorator}\ndef f(x: Float[Tensor, 'n'], k: int) -> None: ...")


def test_an_implementation_must_be_callable_as_the_operator(doubled: Any):
    with pytest.raises(
        TypeError, match=r"implementation on cpu of kernel_tests::doubled can't be called with its param"
    ):
        doubled.cpu(lambda x, y: x)
    with pytest.raises(ValueError, match="can't have an implementation on 'gpu'; write cpu, cuda"):
        doubled.on("gpu")


def test_a_cell_that_runs_again_defines_its_operator_anew():
    text = "@operator\ndef f(x: Float[Tensor, '*n']) -> Float[Tensor, '*n']:\n    return x * {factor}\n"
    first, second = define(text.format(factor=3)), define(text.format(factor=5))
    assert second(torch.ones(2)).tolist() == [5, 5]
    assert torch.ops.somewhere.f(torch.ones(2)).tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="somewhere::f has been defined once more, and this is the operator of the"):
        first(torch.ones(2))
    with pytest.raises(RuntimeError, match="has been defined once more"):
        first.op(torch.ones(2))


def test_an_operator_is_defined_as_often_as_one_likes():
    """In torch 2.11 the old one stays in torch.ops, where its memory has been freed."""
    text = "@operator\ndef f(x: Float[Tensor, '*n']) -> Float[Tensor, '*n']:\n    return x * {factor}\n"
    for factor in range(2, 50):
        f = define(text.format(factor=factor))
        assert f(torch.ones(2)).tolist() == [factor, factor]
        assert torch.ops.somewhere.f.default is f.op


def test_an_operator_in_an_operator_works():
    @kernels.operator("kernel_tests::outer")
    def outer(x: Float32[Tensor, " n"]) -> Int64[Tensor, " k"]:
        return positive(relu_add(x, x))[1]

    assert outer(torch.tensor([1.0, -1.0, 2.0])).tolist() == [0, 2]


def test_every_operator_of_the_tests_is_called():
    defined = {name for name, value in vars(operators).items() if isinstance(value, kernels.Operator)}
    assert defined == CALLS.keys()
