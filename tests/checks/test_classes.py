"""`checked` of a class, and dataclasses, named tuples and typed dicts of tensors as arguments."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, NotRequired, TypedDict, no_type_check

import jaxtyping
import pytest
import torch

from simpletorch import B, Dim, Float32, Int64, K, N, Tensor, checked, nn
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TypeMismatch

z = torch.zeros


class Pair(NamedTuple):
    x: Tensor[Float32, B, 3]
    y: Tensor[Int64, B]


@dataclass
class Batch:
    x: Tensor[Float32, B, "2*K"]
    y: Tensor[Int64, B]
    half: Tensor[Float32, K] | None = None
    name: str = ""
    more: list[Tensor[Float32, B]] = field(default_factory=list)


class Sample(TypedDict):
    x: Tensor[Float32, B, 3]
    y: NotRequired[Tensor[Int64, B]]


@dataclass
class Nested:
    pairs: list[Pair]
    depth: int


@checked
def use_pair(pair: Pair, n: int = 1) -> None: ...


@checked
def use_batch(batch: Batch) -> None: ...


@checked
def use_sample(sample: Sample) -> None: ...


def long(*sizes: int) -> torch.Tensor:
    return z(*sizes, dtype=torch.int64)


# -- records as arguments ---------------------------------------------------------------------------------------------


def test_the_fields_of_a_named_tuple_are_checked():
    for _ in range(2):
        use_pair(Pair(z(2, 3), long(2)))
        with pytest.raises(ShapeMismatch) as caught:
            use_pair(Pair(z(2, 3), long(5)))
        assert caught.value.reason == "dim 0 of pair.y is 5, but B is 2 from dim 0 of pair.x"
        with pytest.raises(DTypeMismatch, match=r"pair\.y is Float32, but should be Int64"):
            use_pair(Pair(z(2, 3), z(2)))
    with pytest.raises(TypeMismatch, match="pair should be a Pair, but is of type tuple"):
        use_pair((z(2, 3), long(2)))


def test_the_fields_of_a_dataclass_are_checked():
    good = Batch(z(5, 14), long(5), z(7))
    for _ in range(2):
        use_batch(good)
        use_batch(replace(good, half=None))
        use_batch(replace(good, more=[z(5), z(5)]))
        with pytest.raises(ShapeMismatch, match=r"dim 1 of batch.x is 14, but 2\*K is 22 \(K = 11"):
            use_batch(replace(good, half=z(11)))
        with pytest.raises(ShapeMismatch, match=r"dim 0 of batch.more\[1\] is 7, but B is 5"):
            use_batch(replace(good, more=[z(5), z(7)]))


def test_a_dataclass_that_changed_is_looked_at_again():
    batch = Batch(z(5, 14), long(5), z(7))
    use_batch(batch)
    batch.y = long(7)
    with pytest.raises(ShapeMismatch):
        use_batch(batch)


def test_the_items_of_a_typed_dict_are_checked():
    for _ in range(2):
        use_sample({"x": z(2, 3)})
        use_sample({"x": z(2, 3), "y": long(2)})
        with pytest.raises(ShapeMismatch, match=r"dim 0 of sample\['y'\] is 5, but B is 2 from dim 0 of sample\['x'\]"):
            use_sample({"x": z(2, 3), "y": long(5)})
        with pytest.raises(TypeMismatch, match="sample should be a Sample"):
            use_sample({"y": long(5)})
        with pytest.raises(TypeMismatch, match="sample should be a Sample"):
            use_sample([z(2, 3)])


def test_the_keys_of_a_dict_are_told_apart():
    use_sample({"x": z(2, 3), "y": long(2)})
    with pytest.raises(DTypeMismatch):
        use_sample({"y": z(2, 3), "x": long(2)})


def test_the_names_of_sizes_are_a_records_own():
    @checked
    def both(x: Tensor[Float32, B], pairs: list[Pair]) -> Pair:
        return pairs[0]

    assert both(z(7), [Pair(z(2, 3), long(2)), Pair(z(5, 3), long(5))]).x.shape == (2, 3)


def test_records_in_records():
    @checked
    def f(nested: Nested | None = None) -> None: ...

    f(Nested([Pair(z(2, 3), long(2))], 1))
    with pytest.raises(ShapeMismatch, match=r"nested.pairs\[1\].x"):
        f(Nested([Pair(z(2, 3), long(2)), Pair(z(2, 4), long(2))], 1))


def test_a_record_as_the_result():
    @checked
    def made(n: int) -> Pair:
        return Pair(z(2, 3), long(n))

    made(2)
    with pytest.raises(ShapeMismatch, match=r"dim 0 of the result\.y is 5, but B is 2"):
        made(5)


def test_under_autocast_a_float_field_means_a_float():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        use_pair(Pair(z(2, 3).bfloat16(), long(2)))
        with pytest.raises(ShapeMismatch):
            use_pair(Pair(z(2, 4).bfloat16(), long(2)))
    with pytest.raises(DTypeMismatch):
        use_pair(Pair(z(2, 3).bfloat16(), long(2)))


# -- checked classes --------------------------------------------------------------------------------------------------


@checked
class CheckedPair(NamedTuple):
    x: Tensor[Float32, B, 3]
    y: Tensor[Int64, B]
    scale: float = 1.0


@checked
@dataclass(frozen=True)
class CheckedBatch:
    x: Tensor[Float32, B, 3]
    y: Tensor[Int64, B]
    name: str = ""

    def rows(self, n: Dim[N]) -> Tensor[Float32, N, 3]:
        return self.x[:n]


def test_a_dataclass_holds_its_fields_when_it_is_made():
    batch = CheckedBatch(z(2, 3), long(2), name="a")
    assert batch.rows(2).shape == (2, 3)
    for bad in (z(2, 4), z(5, 3)):
        with pytest.raises(ShapeMismatch) as caught:
            CheckedBatch(bad, long(2))
        assert caught.value.operation == "CheckedBatch"
    with pytest.raises(TypeMismatch, match="name should be a str"):
        CheckedBatch(z(2, 3), long(2), 3)
    with pytest.raises(ShapeMismatch):
        replace(batch, y=long(5))
    assert pickle.loads(pickle.dumps(batch)).name == "a"


def test_its_methods_are_checked():
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 2, but N is 5 from n"):
        CheckedBatch(z(2, 3), long(2)).rows(5)


def test_a_named_tuple_holds_its_fields_when_it_is_made():
    assert CheckedPair(z(2, 3), y=long(2)).scale == 1.0
    with pytest.raises(ShapeMismatch, match="dim 0 of y is 5, but B is 2 from dim 0 of x") as caught:
        CheckedPair(z(2, 3), long(5))
    assert caught.value.operation == "CheckedPair"
    assert pickle.loads(pickle.dumps(CheckedPair(z(2, 3), long(2)))).y.shape == (2,)


def test_named_tuples_and_dataclasses_that_are_local():
    @checked
    class Local(NamedTuple):
        x: Tensor[Float32, 3]
        other: Local | None = None

    @checked
    @dataclass(slots=True)
    class Slots(Generic[N]):
        n: Dim[N]
        x: Tensor[Float32, N]

    Local(z(3), Local(z(3)))
    Slots(3, z(3))
    with pytest.raises(ShapeMismatch):
        Local(z(4))
    with pytest.raises(TypeMismatch):
        Local(z(3), 3)
    with pytest.raises(ShapeMismatch):
        Slots(3, z(4))


@checked
class Scaler(Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        self.n = n

    def scale(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
        return x

    @property
    def weights(self) -> Tensor[Float32, N]:
        return z(self.n)

    @classmethod
    def of(cls, x: Tensor[Float32, 3]) -> Scaler:
        return cls(len(x))

    @staticmethod
    def plain(x: Tensor[Float32, N]) -> None: ...

    @no_type_check
    def anything(self, x: Tensor[Float32, N]) -> None: ...

    def bare(self, x):
        return x


def test_the_methods_of_a_class_are_held_to_the_sizes_of_the_instance():
    three, five = Scaler(3), Scaler(5)
    for _ in range(2):
        three.scale(z(2, 3))
        five.scale(z(2, 5))
        with pytest.raises(ShapeMismatch, match="dim 1 of x is 5, but N is 3 in this Scaler"):
            three.scale(z(2, 5))
    assert three.weights.shape == (3,)
    three.n = 7
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 7, but N is 3 in this Scaler"):
        _ = three.weights
    assert Scaler.of(z(3)).n == 3
    with pytest.raises(ShapeMismatch):
        Scaler.of(z(4))
    Scaler.plain(z(7))
    with pytest.raises(TypeMismatch):
        Scaler.plain(3)
    three.anything("what it likes")
    assert three.bare("what it likes") == "what it likes"


class Attention(nn.Module, Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        super().__init__()

    @checked
    def split(self, x: Tensor[Float32, B, "2*N"]) -> Tensor[Float32, B, 2, N]:
        return x.unflatten(1, (2, -1))

    def forward(self, x: Tensor[Float32, B, "2*N"]) -> Tensor[Float32, B, 2, N]:
        return self.split(x)


def test_a_checked_method_of_a_module_is_held_to_its_sizes_too():
    model = Attention(3)
    assert model.split(z(5, 6)).shape == (5, 2, 3)
    with pytest.raises(ShapeMismatch, match=r"dim 1 of x is 10, but 2\*N is 6"):
        model.split(z(5, 10))


def test_checked_twice_is_checked_once():
    @checked
    @checked
    def f(x: Tensor[Float32, N]) -> None: ...

    f(z(3))
    assert not hasattr(f.__wrapped__, "__wrapped__")
    with pytest.raises(TypeMismatch):
        f(3)


def test_jaxtypings_dataclasses_agree():
    from beartype import beartype

    @jaxtyping.jaxtyped(typechecker=beartype)
    @dataclass
    class Theirs:
        x: jaxtyping.Float32[torch.Tensor, "b 3"]
        y: jaxtyping.Int64[torch.Tensor, "b"]

    @checked
    @dataclass
    class Ours:
        x: jaxtyping.Float32[torch.Tensor, "b 3"]
        y: jaxtyping.Int64[torch.Tensor, "b"]

    for args in ((z(2, 3), long(2)), (z(2, 3), long(5)), (z(2, 4), long(2)), (z(2, 3), z(2)), (z(2, 3), None)):
        for cls in (Ours, Theirs):
            try:
                cls(*args)
                verdict = True
            except TypeError:
                verdict = False
            assert verdict == (
                args[0].shape == (2, 3) and args[1] is not None and args[1].dtype == torch.int64 and len(args[1]) == 2
            )
