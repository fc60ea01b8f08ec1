"""Computed sizes: what mypy proves of them never fails at run time, whatever names a call binds and in what order."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Generic

import jaxtyping
import pytest
import torch

from simpletorch import B, Dim, Float32, H, Int64, K, M, N, P, Tensor, checked, nn
from simpletorch.errors import ShapeMismatch

z = torch.zeros


def test_an_expression_in_one_open_name_binds_it():
    @checked
    def half(x: Tensor[Float32, B, "2*H"]) -> Tensor[Float32, B, H]:
        return x[:, ::2] if len(x) > 1 else x

    assert half(z(3, 10)).shape == (3, 5)
    with pytest.raises(ShapeMismatch, match="dim 1 of the result is 10, but H is 5 from dim 1 of x"):
        half(z(1, 10))
    with pytest.raises(ShapeMismatch, match=r"dim 1 of x is 11, which 2\*H can't be"):
        half(z(3, 11))


def test_an_expression_in_one_open_name_agrees_with_the_other_arguments():
    @checked
    def f(x: Tensor[Float32, "2*H"], y: Tensor[Float32, "H + 1"], n: Dim["3*H"] = 0) -> None: ...

    f(z(10), z(6))
    f(z(10), z(6), 15)
    with pytest.raises(ShapeMismatch, match=r"dim 0 of y is 7, but H\+1 is 6"):
        f(z(10), z(7))
    with pytest.raises(ShapeMismatch, match=r"n is 16, but 3\*H is 15"):
        f(z(10), z(6), 16)


def test_one_solution_leads_to_the_next():
    @checked
    def f(x: Tensor[Float32, "H*K"], y: Tensor[Float32, "K + N"], z: Tensor[Float32, "2*N"], w: Tensor[Float32, H]): ...

    f(z(15), z(7), z(8), z(5))
    with pytest.raises(ShapeMismatch):
        f(z(16), z(7), z(8), z(5))


def test_what_names_leave_open_is_not_checked():
    @checked
    def f(x: Tensor[Float32, "H*K"], y: Tensor[Float32, "N//P"]) -> Tensor[Float32, B, "min(N, P)"]:
        return x[None, :3]

    for size in (6, 7):
        assert f(z(size), z(3)).shape == (1, 3)
    with pytest.raises(ShapeMismatch, match="x has 2 dims, not 1"):
        f(z(6, 1), z(3))
    with pytest.raises(TypeError, match="y is Int64, but should be Float32"):
        f(z(6), z(3).long())


def test_names_that_only_the_result_has():
    @checked
    def f(x: Tensor[Float32, N], wrong: bool) -> tuple[Tensor[Float32, "2*H"], Tensor[Float32, H]]:
        return x, x[: len(x) // 2 - wrong]

    f(z(6), False)
    with pytest.raises(TypeError, match=r"dim 0 of the result\[0\] is 6, but 2\*H is 4 \(H = 2 from dim 0 of"):
        f(z(6), True)


def test_names_are_bound_by_any_parameter_of_the_call():
    @checked
    def f(
        xs: list[Tensor[Float32, "N//P"]] | None, n: Dim["N//P"], y: Tensor[Float32, N] | None, p: Dim[P] = 7
    ) -> Tensor[Float32, "N%P"]:
        return z(1)

    f([z(3), z(3)], 3, z(16), 5)
    f(None, 3, z(16), 5)
    f([z(3), z(4)], 3, None, 5)  # N is open
    with pytest.raises(TypeError, match=r"dim 0 of xs\[1\] is 4, but N//P is 3"):
        f([z(3), z(4)], 3, z(16), 5)
    with pytest.raises(ShapeMismatch):
        f(None, 4, z(16), 5)
    with pytest.raises(ShapeMismatch):
        f(None, 3, z(15), 5)
    f(None, 3, z(16), 0)  # divides by nothing


def test_unions_do_not_bind_by_a_member_that_is_not_known_to_be_meant():
    @checked
    def f(x: Tensor[Float32, "N//P", M] | Tensor[Float32, H, K], m: Tensor[Float32, M]) -> Tensor[Float32, K]:
        return m

    f(z(3, 5), z(5))
    f(z(3, 7), z(5))
    with pytest.raises(TypeError):
        f(z(3), z(5))

    @checked
    def g(x: Tensor[Float32, "2*N"] | Tensor[Int64, "3*N"] | int, y: Tensor[Float32, N]) -> None: ...

    g(z(10), z(5))
    g(z(15).long(), z(5))
    g(3, z(5))
    with pytest.raises(ShapeMismatch):
        g(z(15), z(5))


def test_broadcastable_and_variadic_parts_stay_jaxtypings():
    @checked
    def f(
        x: jaxtyping.Float32[torch.Tensor, "*r #2*n"], y: jaxtyping.Float32[torch.Tensor, "*r n m=4"]
    ) -> jaxtyping.Float32[torch.Tensor, "... n"]:
        return y[..., 0]

    f(z(2, 3, 10), z(2, 3, 5, 4))
    f(z(2, 3, 1), z(2, 3, 5, 4))
    for bad in ((z(2, 3, 11), z(2, 3, 5, 4)), (z(3, 10), z(2, 3, 5, 4)), (z(2, 3, 10), z(2, 3, 5, 5))):
        with pytest.raises(ShapeMismatch):
            f(*bad)


def test_jaxtypings_strings():
    @checked
    def f(x: jaxtyping.Float32[torch.Tensor, "batch 2*n"]) -> jaxtyping.Float32[torch.Tensor, "batch n"]:
        return x[:, ::2]

    assert f(z(3, 10)).shape == (3, 5)

    @checked
    def g(k: int, x: jaxtyping.Float32[torch.Tensor, "{k}*n"], y: jaxtyping.Float32[torch.Tensor, "n"]) -> None: ...

    g(2, z(10), z(5))
    with pytest.raises(ShapeMismatch):
        g(3, z(10), z(5))


def test_a_size_that_only_python_can_compute_is_told():
    @checked
    def f(x: Tensor[Float32, N], y: Tensor[Float32, "min(N, 4)"]) -> None: ...

    f(z(9), z(4))
    with pytest.raises(ShapeMismatch, match=r"y"):
        f(z(9), z(5))


def test_under_autocast_too():
    @checked
    def half(x: Tensor[Float32, B, "2*H"]) -> Tensor[Float32, B, H]:
        return x[:, ::2].bfloat16()

    with torch.autocast("cpu", dtype=torch.bfloat16):
        half(z(3, 10))
        with pytest.raises(ShapeMismatch):
            half(z(3, 11))


class Patches(nn.Module, Generic[N, P]):
    def __init__(self, size: Dim[N], patch: Dim[P]) -> None:
        super().__init__()
        self.patch = patch

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, "N//P"]:
        return x[:, :: self.patch]


def test_the_sizes_of_a_class_in_an_expression():
    assert Patches(15, 5)(z(2, 15)).shape == (2, 3)


# -- the sizes of an instance ----------------------------------------------------------------------------------------


class MLP(nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M] = 2, *, extra: Dim[M] | None = None) -> None:
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        return self.fc(x) if x.shape[-1] == self.fc.in_features else x


def test_forward_is_held_to_the_sizes_of_its_instance():
    small, large = MLP(3, 4), MLP(5, m=6)
    for _ in range(2):
        small(z(2, 3))
        large(z(2, 5))
        with pytest.raises(ShapeMismatch, match="dim 1 of x is 5, but N is 3 in this MLP"):
            small(z(2, 5))
    small.fc = nn.Linear(3, 7)  # a swapped head: what was assigned counts, and not what the constructor was given
    assert small(z(2, 3)).shape == (2, 7)
    model = Patches(15, 5)
    model.patch = 3
    with pytest.raises(ShapeMismatch, match=r"dim 1 of the result is 5, but N//P is 3 \(N = 15 .*, P = 5 .*\)"):
        model(z(2, 15))


def test_a_size_is_checked_once_for_a_signature_and_an_instances_sizes():
    class Same(nn.Module, Generic[N]):
        def __init__(self, n: Dim[N]) -> None:
            super().__init__()

        def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
            return x

    for model in (Same(3), Same(3), Same(4)):
        for _ in range(3):
            model(z(*model._sizes_of_Same[0][1:]))
    assert len(Same.forward.__globals__["_st_seen"]) == 2


def test_copies_and_pickles_keep_their_sizes():
    for again in (copy.deepcopy(MLP(3, 4)), pickle.loads(pickle.dumps(MLP(3, 4)))):
        again(z(2, 3))
        with pytest.raises(ShapeMismatch, match="N is 3"):
            again(z(2, 5))
    assert list(MLP(3, 4).state_dict()) == ["fc.weight", "fc.bias"]
    assert repr(MLP(3, 4)).startswith("MLP(\n  (fc): Linear(")
    bare = MLP.__new__(MLP)
    torch.nn.Module.__init__(bare)
    bare.fc = nn.Linear(5, 6)
    bare(z(2, 5))


def test_a_subclass_has_sizes_of_its_own():
    class Twice(MLP, Generic[N]):
        def __init__(self, n: Dim[N]) -> None:
            super().__init__(2 * n, 3)

        def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, 3]:
            return super().forward(torch.cat([x, x], 1))

    class Inherits(MLP):
        pass

    assert Twice(4)(z(2, 4)).shape == (2, 3)
    with pytest.raises(ShapeMismatch, match="N is 4 in this Twice"):
        Twice(4)(z(2, 8))
    with pytest.raises(ShapeMismatch, match="N is 4 in this MLP"):
        Inherits(4, 5)(z(2, 8))


def test_what_init_was_not_given_or_contradicts_stays_open():
    MLP(3)(z(2, 3))  # M is open
    MLP(3, 4, extra=4)(z(2, 3))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        MLP()

    class Odd(nn.Module, Generic[N]):
        def __init__(self, n: Dim[N], m: Dim[N], k: Dim[K]) -> None:
            super().__init__()

        def forward(self, x: Tensor[Float32, N, K]) -> None: ...

    Odd(3, 4, 5)(z(6, 7))
    assert list(inspect.signature(Odd).parameters) == ["n", "m", "k"]
    assert "forward" in MLP.__dict__


@pytest.mark.slow
def test_sizes_of_an_instance_do_not_disturb_compile_and_export():
    model = MLP(3, 4)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.equal(compiled(z(2, 3)), model(z(2, 3)))
    assert torch.export.export(model, (z(2, 3),)).module()(z(2, 3)).shape == (2, 4)
    assert torch.fx.symbolic_trace(MLP(3, 4).fc)(z(2, 3)).shape == (2, 4)
