"""Expressions over sizes as the type checker sees them: ``2*N + 1`` is ``Sum[Product[Literal[2], N], Literal[1]]``.

No program has these: the mypy plugin makes them, so that mypy's own substitution reaches the variables inside. They are
never instantiated, and this module imports nothing, because the plugin makes torch's own modules depend on it.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, Protocol, TypeVar, TypeVarTuple

A_co = TypeVar("A_co", covariant=True)
B_co = TypeVar("B_co", covariant=True)
Function_co = TypeVar("Function_co", covariant=True)
Name_co = TypeVar("Name_co", covariant=True)
Terms = TypeVarTuple("Terms")


class Unknown(Protocol):
    """A size that isn't known, where a rule has found that there is one.

    To mypy it is compatible with every size, both ways, as Any is. But Any is a special case in its unions: of
    ``Tensor[DT, Any, Any]`` and ``Tensor[DT, *tuple[Any, ...]]`` it keeps whichever comes first. Of this and 3 it keeps
    this; of two of these and any number of dims it keeps both.
    """


class Sum(Generic[*Terms]):
    """``a + b + …``"""


class Product(Generic[*Terms]):
    """``a * b * …``"""


class Quotient(Generic[A_co, B_co]):
    """``a // b``"""


class Remainder(Generic[A_co, B_co]):
    """``a % b``"""


class Power(Generic[A_co, B_co]):
    """``a ** b``"""


class Minimum(Generic[*Terms]):
    """``min(a, b, …)``"""


class Maximum(Generic[*Terms]):
    """``max(a, b, …)``"""


class Broadcast(Generic[A_co]):
    """``#n`` of a jaxtyping string: the size is n or 1"""


# Functions that torch.func makes: the type of the original function, its full name where it has one, and the options
# that decide the result. They are called like any function, and the plugin computes each call from the call of the
# function.


class _Transformed(Generic[Function_co, Name_co, A_co, B_co]):
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class vmap(_Transformed[Function_co, Name_co, A_co, B_co]):
    """`torch.vmap`: of ``in_dims`` and ``out_dims``"""


class grad(_Transformed[Function_co, Name_co, A_co, B_co]):
    """`torch.func.grad`: of ``argnums`` and ``has_aux``"""


class grad_and_value(_Transformed[Function_co, Name_co, A_co, B_co]):
    """`torch.func.grad_and_value`: of ``argnums`` and ``has_aux``"""


class jacrev(_Transformed[Function_co, Name_co, A_co, B_co]):
    """`torch.func.jacrev` and `torch.func.jacfwd`: of ``argnums`` and ``has_aux``"""


class hessian(_Transformed[Function_co, Name_co, A_co, B_co]):
    """`torch.func.hessian`: of ``argnums`` and ``has_aux``"""


# torch.linalg's named tuples, which torch's stubs lack; at run time they are in `torch.return_types`.


class linalg_svd(NamedTuple):
    """`torch.linalg.svd`"""

    U: Any
    S: Any
    Vh: Any


class linalg_eig(NamedTuple):
    """`torch.linalg.eig`"""

    eigenvalues: Any
    eigenvectors: Any


class linalg_eigh(NamedTuple):
    """`torch.linalg.eigh`"""

    eigenvalues: Any
    eigenvectors: Any


class linalg_qr(NamedTuple):
    """`torch.linalg.qr`"""

    Q: Any
    R: Any


class linalg_slogdet(NamedTuple):
    """`torch.linalg.slogdet`"""

    sign: Any
    logabsdet: Any


class linalg_cholesky_ex(NamedTuple):
    """`torch.linalg.cholesky_ex`"""

    L: Any
    info: Any


class linalg_inv_ex(NamedTuple):
    """`torch.linalg.inv_ex`"""

    inverse: Any
    info: Any


class linalg_solve_ex(NamedTuple):
    """`torch.linalg.solve_ex`"""

    result: Any
    info: Any


class linalg_lu(NamedTuple):
    """`torch.linalg.lu`"""

    P: Any
    L: Any
    U: Any


class linalg_lu_factor(NamedTuple):
    """`torch.linalg.lu_factor`"""

    LU: Any
    pivots: Any


class linalg_lu_factor_ex(NamedTuple):
    """`torch.linalg.lu_factor_ex`"""

    LU: Any
    pivots: Any
    info: Any


class linalg_ldl_factor(NamedTuple):
    """`torch.linalg.ldl_factor`"""

    LD: Any
    pivots: Any


class linalg_ldl_factor_ex(NamedTuple):
    """`torch.linalg.ldl_factor_ex`"""

    LD: Any
    pivots: Any
    info: Any


class linalg_lstsq(NamedTuple):
    """`torch.linalg.lstsq`"""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any
