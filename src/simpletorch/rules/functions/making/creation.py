"""New tensors of a given size: zeros, full, rand, their ``_like`` and ``new_`` forms."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument
from simpletorch.rules.common.conditions import need_categories
from simpletorch.rules.common.dtypes import number_dtype
from simpletorch.rules.common.factory import device_argument, made, size_argument
from simpletorch.rules.core.cards import DRAWS, NEVER, PLAIN, Card, Random
from simpletorch.rules.core.dtype import BOOL, COMPLEX64, DEFAULT_FLOAT, INT64, DType
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Shape


def fill_dtype(value: Value) -> DType | None:
    """The dtype of a tensor filled with this number; a 0-dim tensor counts by its category only."""
    found = number_dtype(value)
    if not isinstance(value, TensorType) or found is None or found.category is None:
        return found
    return {"bool": BOOL, "int": INT64, "float": DEFAULT_FLOAT, "complex": COMPLEX64}[found.category]


def need_fillable(value: Value, dtype: DType | None) -> None:
    """A tensor of ints or floats can't be filled with a complex number.

    Raises:
        Mismatch: it shall be.
    """
    if isinstance(value, complex) and value.imag and dtype is not None and dtype.category in ("int", "float"):
        raise Mismatch(f"the value is complex, but the tensor is {dtype}", kind="dtype", expected=dtype, got=value)


def _register_sized(names: tuple[str, ...], *, drawn: bool) -> None:
    @rule(*names, moves=True, card=Card(random=DRAWS) if drawn else PLAIN)
    def create(
        *sizes: Value,
        size: Value = None,
        dtype: Value = None,
        device: Value = None,
        requires_grad: Value = False,
        **options: Value,
    ) -> TensorType:
        """``size -> (*size)``"""
        found = dtype_argument(dtype, DEFAULT_FLOAT)
        if drawn:
            need_categories("dtype", found, "float", "complex", hint="torch.randint draws integers")
        return made(size_argument(sizes, size), found, device_argument(device), requires_grad)


_register_sized(("torch.zeros", "torch.ones", "torch.empty"), drawn=False)
_register_sized(("torch.rand", "torch.randn"), drawn=True)


def _register_like(names: tuple[str, ...], *, drawn: bool) -> None:
    @rule(*names, moves=True, card=Card(gradient=NEVER, random=DRAWS if drawn else Random.NO))
    def create_like(
        input: TensorType, *, dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value
    ) -> TensorType:
        """``(*b) -> (*b)``"""
        found = dtype_argument(dtype, input.dtype)
        if drawn:
            need_categories("dtype", found, "float", "complex", hint="torch.randint draws integers")
        return made(input.shape, found, device_argument(device, input.device), requires_grad)


_register_like(("torch.zeros_like", "torch.ones_like", "torch.empty_like"), drawn=False)
_register_like(("torch.rand_like", "torch.randn_like"), drawn=True)


@rule("Tensor.new_zeros", "Tensor.new_ones", "Tensor.new_empty", moves=True, card=Card(gradient=NEVER))
def new_sized(
    input: TensorType,
    *sizes: Value,
    size: Value = None,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``(*a), size -> (*size)``, with the dtype and device of the tensor"""
    found = dtype_argument(dtype, input.dtype)
    return made(size_argument(sizes, size), found, device_argument(device, input.device), requires_grad)


@rule("torch.full", moves=True)
def full(
    size: Value,
    fill_value: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``size, fill_value -> (*size)``, with the dtype of the value"""
    found = dtype_argument(dtype, fill_dtype(fill_value))
    need_fillable(fill_value, found)
    return made(size_argument((size,)), found, device_argument(device), requires_grad)


@rule("torch.full_like", moves=True, card=Card(gradient=NEVER))
def full_like(
    input: TensorType,
    fill_value: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``(*b), fill_value -> (*b)``, with the dtype of the tensor"""
    found = dtype_argument(dtype, input.dtype)
    need_fillable(fill_value, found)
    return made(input.shape, found, device_argument(device, input.device), requires_grad)


@rule("Tensor.new_full", moves=True, card=Card(gradient=NEVER))
def new_full(
    input: TensorType,
    size: Value,
    fill_value: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``(*a), size, fill_value -> (*size)``, with the dtype and device of the tensor"""
    found = dtype_argument(dtype, input.dtype)
    need_fillable(fill_value, found)
    return made(size_argument((size,)), found, device_argument(device, input.device), requires_grad)


@rule("torch.empty_strided", moves=True)
def empty_strided(
    size: Value,
    stride: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``size -> (*size)``"""
    found = dtype_argument(dtype, DEFAULT_FLOAT)
    return made(size_argument((size,)), found, device_argument(device), requires_grad)


@rule("torch.empty_permuted", moves=True)
def empty_permuted(
    size: Value,
    physical_layout: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``size -> (*size)``"""
    found = dtype_argument(dtype, DEFAULT_FLOAT)
    shape = size_argument((size,))
    if (
        isinstance(physical_layout, tuple)
        and shape.rank is not None
        and all(isinstance(d, int) for d in physical_layout)
    ):
        order = [d for d in physical_layout if isinstance(d, int)]
        if sorted(order) != list(range(shape.rank)):
            raise Mismatch(
                f"physical_layout {tuple(order)} doesn't order the dims of size {shape}", got=physical_layout
            )
    return made(shape, found, device_argument(device), requires_grad)


@rule("Tensor.new_empty_strided", moves=True, card=Card(gradient=NEVER))
def new_empty_strided(
    input: TensorType, size: Value, stride: Value, dtype: Value = None, device: Value = None, **options: Value
) -> TensorType:
    """``(*a), size -> (*size)``, with the dtype and device of the tensor"""
    return made(size_argument((size,)), dtype_argument(dtype, input.dtype), device_argument(device, input.device))


@rule("torch.scalar_tensor", moves=True)
def scalar_tensor(
    s: Value, *, dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value
) -> TensorType:
    """``number -> ()``"""
    default = COMPLEX64 if number_dtype(s) == COMPLEX64 else DEFAULT_FLOAT if number_dtype(s) else None
    return made(Shape(()), dtype_argument(dtype, default), device_argument(device), requires_grad)


@rule("torch.randint", moves=True, card=Card(random=DRAWS))
def randint(
    *args: Value,
    low: Value = 0,
    high: Value = None,
    size: Value = None,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``low, high, size -> (*size)``"""
    given, bounds = (args[-1], args[:-1]) if size is None and args else (size, args)
    _need_some((low, *bounds) if len(bounds) == 1 else bounds or (low, high))
    return made(size_argument((given,)), dtype_argument(dtype, INT64), device_argument(device), requires_grad)


def _need_some(bounds: tuple[Value, ...]) -> None:
    """There is a number to draw, from the first on and below the second."""
    if len(bounds) != 2:
        return
    low, high = bounds
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        raise Mismatch(f"low is {low} and high is {high}, but low must be less", expected=low + 1, got=high)


@rule("torch.randint_like", moves=True, card=Card(gradient=NEVER, random=DRAWS))
def randint_like(
    input: TensorType, *bounds: Value, dtype: Value = None, device: Value = None, **options: Value
) -> TensorType:
    """``(*b) -> (*b)``"""
    return made(input.shape, dtype_argument(dtype, input.dtype), device_argument(device, input.device))


@rule("torch.randperm", moves=True, card=Card(random=DRAWS))
def randperm(
    n: Value, *, dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value
) -> TensorType:
    """``n -> (n,)``"""
    return made(size_argument((n,)), dtype_argument(dtype, INT64), device_argument(device), requires_grad)


@rule("torch.eye", moves=True)
def eye(
    n: Value,
    m: Value = None,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``n, m -> (n, m)``"""
    shape = size_argument((n, n if m is None else m))
    return made(shape, dtype_argument(dtype, DEFAULT_FLOAT), device_argument(device), requires_grad)
