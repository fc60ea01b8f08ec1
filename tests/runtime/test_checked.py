"""`checked` and `Module.forward`: annotations are enforced when the program runs."""
# ruff: noqa: UP045 - a dim string is no quoted annotation, and Optional has to work as well

from __future__ import annotations

import asyncio
import enum
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, Protocol, runtime_checkable

import jaxtyping
import pytest
import torch

from simpletorch import B, Batch, Dim, Float, Float16, Float32, Int64, K, M, N, Tensor, checked, config, nn
from simpletorch.checks import Border
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TorchError, TypeMismatch


def border_of(function: Any) -> Border:
    return function.__globals__["_st_admit"].__self__


@checked
def product(x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
    return x @ y


def test_a_call_that_fits_passes():
    assert product(torch.zeros(2, 3), torch.zeros(3, 5)).shape == (2, 5)


def test_one_size_variable_has_one_value_in_a_call():
    with pytest.raises(ShapeMismatch) as caught:
        product(torch.zeros(2, 3), torch.zeros(5, 7))
    assert caught.value.reason == "dim 0 of y is 5, but K is 3 from dim 1 of x"


def test_a_size_variable_is_free_again_in_the_next_call():
    product(torch.zeros(2, 3), torch.zeros(3, 5))
    product(torch.zeros(2, 7), torch.zeros(7, 5))


def test_the_result_is_checked_with_the_sizes_of_the_arguments():
    @checked
    def transposed(x: Tensor[Float32, M, N]) -> Tensor[Float32, M, N]:
        return x.T

    transposed(torch.zeros(3, 3))
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 3, but M is 2 from dim 0 of x"):
        transposed(torch.zeros(2, 3))


def test_a_result_that_changes_under_equal_arguments_is_seen():
    results = iter([torch.zeros(2), torch.zeros(2), torch.zeros(3)])

    @checked
    def draw(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return next(results)

    draw(torch.zeros(2))
    draw(torch.zeros(2))
    with pytest.raises(ShapeMismatch, match="the result"):
        draw(torch.zeros(2))


def test_a_wrong_dtype_is_a_dtype_mismatch():
    with pytest.raises(DTypeMismatch, match="x is Int64, but should be Float32"):
        product(torch.zeros(2, 3, dtype=torch.int64), torch.zeros(3, 5))


def test_no_tensor_is_a_type_mismatch():
    with pytest.raises(TypeMismatch, match=r"x should be a Tensor, Float32\[M, K\], but is of type list"):
        product([[1.0]], torch.zeros(3, 5))


def test_a_refusal_can_be_caught_as_jaxtypings_error_a_type_error_or_a_runtime_error():
    for cls in (jaxtyping.TypeCheckError, TypeError, RuntimeError, TorchError, ShapeMismatch):
        with pytest.raises(cls):
            product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_a_call_refused_once_is_refused_again():
    for _ in range(3):
        with pytest.raises(ShapeMismatch):
            product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_all_mistakes_of_a_call_are_told():
    with pytest.raises(TorchError) as caught:
        product(torch.zeros(2), torch.zeros(3, 5, dtype=torch.int32))
    assert caught.value.reason == "x has 1 dim, not 2; y is Int32, but should be Float32"


def test_the_whole_message():
    x, y = torch.zeros(2, 3), torch.zeros(5, 7)
    with pytest.raises(ShapeMismatch) as caught:
        product(x, y)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "product: dim 0 of y is 5, but K is 3 from dim 1 of x",
        "  x  Float32[2, 3]  (cpu)",
        "  y  Float32[5, 7]  (cpu)  should be Float32[K, N]",
    ]
    assert lines[3].endswith(": product(x, y)")


def test_jaxtypings_own_style_works():
    @checked
    def f(x: jaxtyping.Float32[torch.Tensor, "batch 784"]) -> jaxtyping.Float32[torch.Tensor, "batch 10"]:
        return x[:, :10]

    f(torch.zeros(3, 784))
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 783, not 784"):
        f(torch.zeros(3, 783))


def test_jaxtypings_dims_that_depend_on_an_argument_are_checked_on_every_call():
    @checked
    def f(size: int, x: jaxtyping.Float32[torch.Tensor, "{size}"]) -> None: ...

    f(3, torch.zeros(3))
    f(4, torch.zeros(4))
    with pytest.raises(ShapeMismatch):
        f(4, torch.zeros(3))


def test_variadic_dims():
    @checked
    def f(x: Tensor[Float32, *Batch, 3], y: Tensor[Float32, *Batch]) -> None: ...

    f(torch.zeros(3), torch.zeros(()))
    f(torch.zeros(5, 7, 3), torch.zeros(5, 7))
    with pytest.raises(ShapeMismatch, match=r"\*Batch is \(5,\) in y, but \(5, 7\) before"):
        f(torch.zeros(5, 7, 3), torch.zeros(5))


def test_a_computed_size_may_come_before_the_one_it_is_computed_from():
    @checked
    def f(x: Tensor[Float32, "2*N"], y: Tensor[Float32, N]) -> Tensor[Float32, "N + 1"]:
        return x[: len(y) + 1]

    f(torch.zeros(6), torch.zeros(3))
    with pytest.raises(ShapeMismatch, match=r"dim 0 of x is 7, but 2\*N is 6"):
        f(torch.zeros(7), torch.zeros(3))


def test_a_scalar_has_no_dims():
    @checked
    def loss(x: Tensor[Float32, ...]) -> Tensor[Float32]:
        return x.mean()

    loss(torch.zeros(2, 3))

    @checked
    def wrong(x: Tensor[Float32, ...]) -> Tensor[Float32]:
        return x

    with pytest.raises(ShapeMismatch, match="the result has 2 dims, not 0"):
        wrong(torch.zeros(2, 3))


def test_a_dim_binds_with_the_tensors():
    @checked
    def f(n: Dim[N], x: Tensor[Float32, N]) -> None: ...

    f(3, torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(4, torch.zeros(3))
    with pytest.raises(TypeMismatch):
        f(True, torch.zeros(1))
    with pytest.raises(TypeMismatch):
        f("3", torch.zeros(3))


def test_optional_tensors():
    @checked
    def f(
        x: Tensor[Float32, N], mask: Tensor[Float32, N] | None = None, y: Optional[Tensor[Float32, N]] = None
    ) -> None: ...

    f(torch.zeros(3))
    f(torch.zeros(3), None, torch.zeros(3))
    f(torch.zeros(3), mask=torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(3), torch.zeros(4))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(3), y=torch.zeros(4))


def test_a_default_passes_whatever_its_annotation():
    @checked
    def f(x: Tensor[Float32, N] = None) -> None: ...

    f()
    f(torch.zeros(3))
    with pytest.raises(TypeMismatch):
        f(3)


def test_args_and_kwargs():
    @checked
    def f(*xs: Tensor[Float32, N], scale: float = 1.0, **more: Tensor[Float32, N]) -> float:
        return scale

    assert f(torch.zeros(3), torch.zeros(3), scale=2.0, y=torch.zeros(3)) == 2.0
    f()
    with pytest.raises(ShapeMismatch, match=r"dim 0 of xs\[1\] is 4, but N is 3"):
        f(torch.zeros(3), torch.zeros(4))
    with pytest.raises(ShapeMismatch, match="dim 0 of y is 4"):
        f(torch.zeros(3), y=torch.zeros(4))
    with pytest.raises(TypeMismatch):
        f(scale="2")


def test_positional_only_and_keyword_only_parameters_keep_their_kind():
    @checked
    def f(x: int, /, y: int, *, z: int = 3) -> tuple[int, int, int]:
        return x, y, z

    assert f(1, y=2) == (1, 2, 3)
    with pytest.raises(TypeError, match="positional-only"):
        f(x=1, y=2)
    with pytest.raises(TypeError):
        f(1, 2, 3)


def test_containers_are_keyed_by_their_leaves():
    @checked
    def f(
        xs: list[Tensor[Float32, N]], pair: tuple[Tensor[Float32, N], int], named: Mapping[str, Tensor[Float32, N]]
    ) -> None: ...

    good = torch.zeros(3)
    f([good, good], (good, 1), {"a": good})
    f([], (good, 1), {})
    for bad in (
        ([good, torch.zeros(4)], (good, 1), {}),
        ([good], (good, "1"), {}),
        ([good], (good, 1), {"a": torch.zeros(4)}),
    ):
        for _ in range(2):
            with pytest.raises(TorchError):
                f(*bad)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def test_every_item_of_a_long_list_counts():
    @checked
    def f(xs: Sequence[int]) -> None: ...

    f(list(range(1000)))
    with pytest.raises(TorchError):
        f([*range(999), "x"])


def test_named_tuples_and_tuple_results():
    @checked
    def f(pair: Pair) -> tuple[Tensor[Float32, N], ...]:
        return pair.left, pair.right

    f(Pair(torch.zeros(3), torch.zeros(3)))
    with pytest.raises(TorchError):
        f(Pair(torch.zeros(3), torch.zeros(4)))
    with pytest.raises(TorchError):
        f((torch.zeros(3), torch.zeros(3)))


def test_unions_of_shapes():
    @checked
    def f(x: Tensor[Float32, 3] | Tensor[Int64, 5] | int) -> None: ...

    f(torch.zeros(3))
    f(torch.zeros(5, dtype=torch.int64))
    f(7)
    for bad in (torch.zeros(5), torch.zeros(3, dtype=torch.int64), "x"):
        with pytest.raises(TorchError):
            f(bad)


def test_literals_are_keyed_by_value():
    @checked
    def f(mode: Literal["mean", "sum"]) -> None: ...

    f("mean")
    with pytest.raises(TorchError):
        f("max")


@runtime_checkable
class Sized(Protocol):
    size: int


class Thing:
    pass


def test_what_has_no_sound_key_is_checked_in_full_every_time():
    @checked
    def f(thing: Sized) -> None: ...

    good, bad = Thing(), Thing()
    good.size = 3
    f(good)
    with pytest.raises(TorchError):
        f(bad)


class Colour(enum.Enum):
    RED = 1


def test_classes_are_keyed_by_class():
    @checked
    def f(colour: Colour, layer: nn.Linear, x: torch.Tensor) -> None: ...

    f(Colour.RED, torch.nn.Linear(2, 3), torch.zeros(2))
    with pytest.raises(TypeMismatch, match="layer should be"):
        f(Colour.RED, torch.nn.ReLU(), torch.zeros(2))


def test_a_torch_parameter_is_no_plain_tensor_and_the_other_way_round():
    from simpletorch import Parameter

    @checked
    def f(w: Parameter[Float32, N]) -> None: ...

    f(torch.nn.Parameter(torch.zeros(3)))
    with pytest.raises(TypeMismatch, match="w should be a Parameter, but is a plain Tensor"):
        f(torch.zeros(3))


def test_methods_class_methods_static_methods_and_properties():
    class Box:
        def __init__(self) -> None:
            self.x = torch.zeros(3)

        @checked
        def method(self, x: Tensor[Float32, 3]) -> Tensor[Float32, 3]:
            return x

        @checked
        @classmethod
        def of_class(cls, x: Tensor[Float32, 3]) -> str:
            return cls.__name__

        @checked
        @staticmethod
        def static(x: Tensor[Float32, 3]) -> None: ...

        @checked
        @property
        def weights(self) -> Tensor[Float32, 4]:
            return self.x

    box, bad = Box(), torch.zeros(4)
    assert Box.of_class(box.x) == "Box"
    box.method(box.x)
    for call in (box.method, Box.of_class, Box.static):
        with pytest.raises(ShapeMismatch):
            call(bad)
    with pytest.raises(ShapeMismatch):
        _ = box.weights


def test_a_class_cannot_be_decorated():
    with pytest.raises(TypeError, match="checked takes a function, not the class Thing; decorate its methods"):
        checked(Thing)


def test_coroutines():
    @checked
    async def f(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        await asyncio.sleep(0)
        return x if len(x) < 5 else x[:1]

    async def both() -> None:
        await asyncio.gather(f(torch.zeros(3)), f(torch.zeros(4)))
        with pytest.raises(ShapeMismatch):
            await f(torch.zeros(7))

    asyncio.run(both())


def test_generators_have_their_arguments_checked():
    @checked
    def f(x: Tensor[Float32, N]) -> Iterator[Tensor[Float32, 1]]:
        yield from x.split(1)

    assert len(list(f(torch.zeros(3)))) == 3
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(3, 3))


def test_nested_checked_functions_have_scopes_of_their_own():
    @checked
    def twice(x: Tensor[Float32, M, K]) -> Tensor[Float32, M, K]:
        return product(product(x, x.T), x)

    assert twice(torch.zeros(2, 3)).shape == (2, 3)


def test_string_annotations_see_local_names():
    local = torch.Tensor

    @checked
    def f(x: jaxtyping.Float32[local, "3"]) -> None: ...

    f(torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(4))


def test_string_annotations_may_name_what_is_defined_later():
    @checked
    def f(x: Later) -> None: ...

    globals()["Later"] = Tensor[Float32, 3]
    try:
        f(torch.zeros(3))
        with pytest.raises(ShapeMismatch):
            f(torch.zeros(4))
    finally:
        del globals()["Later"]


def test_an_annotation_that_exists_for_the_checker_only_is_left_unchecked():
    @checked
    def f(x: OnlyForMypy, y: Tensor[Float32, 3]) -> None: ...

    f(object(), torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(object(), torch.zeros(4))


def test_name_doc_and_signature_stay():
    import inspect

    assert product.__name__ == "product"
    assert list(inspect.signature(product).parameters) == ["x", "y"]
    assert pickle.loads(pickle.dumps(product)) is product


def test_memory_is_bounded_over_ever_new_shapes():
    @checked
    def f(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x

    base = torch.zeros(4000)
    for n in range(4000):
        f(base[:n])
    assert len(border_of(f).seen) <= 1024


def test_results_are_bounded_for_one_signature():
    sizes = iter(range(500))

    @checked
    def f(x: Tensor[Float32, 1]) -> Tensor[Float32, N]:
        return torch.zeros(next(sizes))

    x = torch.zeros(1)
    for _ in range(500):
        f(x)
    (results,) = border_of(f).seen.values()
    assert len(results) <= 64


def test_threads_do_not_disturb_each_other():
    failures: list[object] = []

    def work(size: int) -> None:
        for n in range(1, 60):
            if product(torch.zeros(size, n), torch.zeros(n, size)).shape != (size, size):
                failures.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# -- modes ----------------------------------------------------------------------------------------------------------


def test_off_at_decoration_is_the_function_itself():
    def f(x: Tensor[Float32, 3]) -> None: ...

    with config(check="off"):
        assert checked(f) is f


def test_off_for_a_block():
    with config(check="off"):
        product(torch.zeros(2, 3), torch.zeros(3, 5, dtype=torch.float32))
        with pytest.raises(ShapeMismatch, match="the last dim of x"):
            product(torch.zeros(2, 3), torch.zeros(5, 7))  # torch's own failure, explained
    with pytest.raises(ShapeMismatch, match="but K is 3"):
        product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_full_checks_every_call():
    calls = 0

    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32, 3]:
        return x

    admit = border_of(f).admit

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return admit(*args)

    f.__globals__["_st_admit"] = counted
    f(torch.zeros(3))
    f(torch.zeros(3))
    assert calls == 1
    with config(check="full"):
        f(torch.zeros(3))
        f(torch.zeros(3))
    assert calls == 3


def test_a_block_holds_in_its_own_thread_only():
    seen: list[str] = []
    with config(check="off"):
        thread = threading.Thread(target=lambda: seen.append(config.check))
        thread.start()
        thread.join()
        assert config.check == "off"
    assert seen == ["once"]
    assert config.check == "once"


@pytest.mark.slow
def test_the_environment_sets_the_mode():
    code = "from simpletorch import checked, config; f = lambda x: x; print(config.check, checked(f) is f)"
    env = {**os.environ, "SIMPLETORCH_CHECK": "off"}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert out.split() == ["off", "True"]
    env["SIMPLETORCH_CHECK"] = "sometimes"
    err = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stderr
    assert err.splitlines()[-1] == (
        "ValueError: SIMPLETORCH_CHECK is 'sometimes', which is no mode; write off, once or full"
    )


def test_an_unknown_mode_says_which_there_are():
    with pytest.raises(ValueError, match="'sometimes', which is no mode; write off, once or full"):
        config(check="sometimes")
    with pytest.raises(ValueError, match="no mode"):
        config.check = "sometimes"


# -- autocast and transforms ------------------------------------------------------------------------------------------


@checked
def linear(x: Tensor[Float32, B, 4], w: Tensor[Float32, 3, 4]) -> Tensor[Float32, B, 3]:
    return torch.nn.functional.linear(x, w)


def test_under_autocast_a_float_annotation_means_a_float():
    x, w = torch.zeros(2, 4), torch.zeros(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(x, w).dtype == torch.bfloat16
        assert linear(x.bfloat16(), w).dtype == torch.bfloat16
        with pytest.raises(ShapeMismatch):
            linear(x, torch.zeros(3, 4, 1))
        with pytest.raises(DTypeMismatch):
            linear(x.long(), w)
    with pytest.raises(DTypeMismatch):
        linear(x.bfloat16(), w)


def test_what_passed_under_autocast_has_not_passed_outside():
    @checked
    def half(x: Tensor[Float32, 2]) -> Tensor[Float32, 2]:
        return x.to(torch.bfloat16)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        half(torch.zeros(2))
    with pytest.raises(DTypeMismatch, match="the result is BFloat16"):
        half(torch.zeros(2))


def test_vmap_sees_one_example():
    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32]:
        return x.sum()

    assert torch.vmap(f)(torch.ones(5, 3)).shape == (5,)
    with pytest.raises(ShapeMismatch):
        torch.vmap(f)(torch.ones(5, 4))


def test_function_transforms():
    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32]:
        return (x * x).sum()

    x = torch.ones(3)
    assert torch.equal(torch.func.grad(f)(x), 2 * x)
    assert torch.func.jvp(f, (x,), (x,))[1] == 6
    assert torch.func.jacrev(f)(x).shape == (3,)
    assert torch.func.hessian(f)(x).shape == (3, 3)


def test_fake_and_meta_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert linear(torch.zeros(2, 4), torch.zeros(3, 4)).shape == (2, 3)
    assert linear(torch.zeros(2, 4, device="meta"), torch.zeros(3, 4, device="meta")).shape == (2, 3)


def test_fx_tracing_sees_through_the_border():
    graph = torch.fx.symbolic_trace(linear)
    assert graph(torch.ones(2, 4), torch.ones(3, 4)).tolist() == [[4.0] * 3] * 2


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_jit_tracing_sees_through_the_border():
    traced = torch.jit.trace(linear, (torch.ones(2, 4), torch.ones(3, 4)))
    assert traced(torch.ones(5, 4), torch.ones(3, 4)).shape == (5, 3)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor[Float32, B, 4]) -> Tensor[Float32, B, 3]:
        return torch.relu(self.fc(x))


def test_export_with_a_dynamic_batch():
    program = torch.export.export(Net(), (torch.zeros(2, 4),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    assert program.module()(torch.zeros(7, 4)).shape == (7, 3)


@pytest.mark.slow
def test_compile_finds_one_whole_graph():
    net = Net()
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    for rows in (2, 3, 5):
        assert torch.equal(compiled(torch.ones(rows, 4)), net(torch.ones(rows, 4)))
    assert torch.equal(
        torch.compile(linear, fullgraph=True, backend="eager")(torch.ones(2, 4), torch.ones(3, 4)),
        torch.full((2, 3), 4.0),
    )
    explained = torch._dynamo.explain(net)(torch.ones(2, 4))
    assert explained.graph_break_count == 0


def test_float16_is_no_float32_but_is_a_float():
    @checked
    def f(x: Tensor[Float, 2], y: Tensor[Float16, 2]) -> None: ...

    f(torch.zeros(2, dtype=torch.float16), torch.zeros(2, dtype=torch.float16))
    with pytest.raises(DTypeMismatch):
        f(torch.zeros(2), torch.zeros(2))
