"""Products, diagonals, decompositions and linear systems against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Named, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape, minimum
from tests import oracle
from tests.rules.symbolic import GOOD, B, K, M, N, case, differs
from tests.rules.symbolic import f32 as f


def t(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


def eye(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A batch of identities: every decomposition takes it."""
    return torch.eye(shape[-1], dtype=dtype).expand(*shape, shape[-1]).contiguous()


f64, i64, c64 = torch.float64, torch.int64, torch.complex64
PRODUCTS = [
    case("torch.bmm", t(2, 3, 5), t(2, 5, 7)),
    case("torch.bmm", t(2, 3, 5), t(3, 5, 7)),
    case("torch.bmm", t(1, 3, 5), t(2, 5, 7)),
    case("torch.bmm", t(2, 3, 5), t(2, 5, 7, dtype=f64)),
    case("torch.baddbmm", t(7), t(2, 3, 5), t(2, 5, 7)),
    case("torch.baddbmm", t(11), t(2, 3, 5), t(2, 5, 7)),
    case("Tensor.baddbmm_", t(7), t(2, 3, 5), t(2, 5, 7)),
    case("torch.addbmm", t(3, 7), t(2, 3, 5), t(2, 5, 7)),
    case("torch.addmm", t(7), t(3, 5), t(5, 7), beta=2),
    case("torch.addmm", t(2, 3, 7), t(3, 5), t(5, 7)),
    case("torch.addmm", t(3, 7), t(3, 5), t(7, 5)),
    case("torch.addmm", t(3, 7, dtype=f64), t(3, 5), t(5, 7)),
    case("Tensor.addmm_", t(1, 1), t(3, 5), t(5, 7)),
    case("torch.addmv", t(3), t(3, 5), t(5)),
    case("torch.addr", t(5), t(3), t(5)),
    case("Tensor.addr_", t(3, 5, dtype=i64), t(3), t(5)),
    case("torch.mv", t(3, 5), t(5)),
    case("torch.mv", t(3, 5), t(3)),
    case("torch.dot", t(5), t(5)),
    case("torch.dot", t(5), t(1)),
    case("torch.dot", t(5), t(5, dtype=i64)),
    case("torch.vdot", t(5, dtype=c64), t(5, dtype=c64)),
    case("torch.outer", t(3), t(5, dtype=f64)),
    case("torch.outer", t(3, 1), t(5)),
    case("torch.inner", t(2, 3, 5), t(7, 5)),
    case("torch.inner", t(), t(7, 5)),
    case("torch.inner", t(2, 3), t(7, 5)),
    case("torch.linalg.vecdot", t(7, 1, 3), t(5, 3)),
    case("torch.linalg.vecdot", t(7, 3, dtype=i64), t(7, 3, dtype=i64)),
    case("torch.cross", t(5, 3), t(5, 3)),
    case("torch.cross", t(3, 5), t(3, 5)),
    case("torch.cross", t(2, 5), t(2, 5)),
    case("torch.cross", t(5, 3), t(3)),
    case("torch.linalg.cross", t(3, 5), t(3, 5)),
    case("torch.linalg.cross", t(7, 1, 3), t(1, 5, 3)),
    case("torch.kron", t(2, 3), t(5)),
    case("torch.linalg.multi_dot", [t(3), t(3, 5), t(5)]),
    case("torch.linalg.multi_dot", [t(2, 3), t(3, 5), t(5, 7)]),
    case("torch.linalg.multi_dot", [t(2, 3), t(5, 3)]),
    case("torch.linalg.multi_dot", [t(2, 3)]),
    case("torch.chain_matmul", t(2, 3), t(3, 5)),
    case("torch.tensordot", t(2, 3, 5), t(3, 5, 7)),
    case("torch.tensordot", t(2, 3, 5), t(5, 3, 7), ([1, 2], [1, 0])),
    case("torch.tensordot", t(2, 3, 5), t(7, 3), 1),
    case("torch.tensordot", t(2, 1), t(5, 7), 1),
    case("torch.tensordot", t(2, 5), t(5, 7), 3),
    case("Tensor.__rmatmul__", t(5, 7), t(3, 5)),
    case("Tensor.__rmatmul__", t(3, 5), t(5, 7)),
    case("torch.nn.functional.bilinear", t(2, 3, 5), t(2, 3, 7), t(11, 5, 7), t(11)),
    case("torch.nn.functional.bilinear", t(2, 3, 5), t(2, 1, 7), t(11, 5, 7)),
]
DIAGONALS = [
    case("torch.trace", t(3, 5, dtype=torch.int32)),
    case("torch.trace", t(2, 3, 5)),
    case("torch.diag", t(3), 2),
    case("torch.diag", t(3, 5), -1),
    case("torch.diag", t(3, 5), 7),
    case("torch.diag", t(3, 5, 7)),
    case("torch.diagonal", t(3, 5, 7), 1, 0, 2),
    case("torch.diagonal", t(3, 5, 7), 0, 1, -2),
    case("torch.diagonal", t(3)),
    case("torch.linalg.diagonal", t(3, 5, 7), offset=2, dim1=0),
    case("torch.diag_embed", t(3, 5), -2, 0, 1),
    case("torch.diag_embed", t(3, 5), 0, 1, 1),
    case("torch.diagflat", t(3, 5), 2),
    case("torch.tril", t(3, 5, 7), 2),
    case("torch.triu", t(3)),
    case("Tensor.fill_diagonal_", t(3, 5), 1.0),
    case("Tensor.fill_diagonal_", t(3, 5, 7), 1.0),
]
SQUARE = (
    "det",
    "slogdet",
    "inv",
    "inv_ex",
    "eig",
    "eigvals",
    "eigh",
    "eigvalsh",
    "cholesky",
    "cholesky_ex",
    "matrix_exp",
)
ANY_MATRIX = ("svd", "svdvals", "qr", "lu", "lu_factor", "lu_factor_ex", "matrix_rank", "pinv")
MATRICES = [
    *(case(f"torch.linalg.{n}", eye(2, 3, dtype=d)) for n in (*SQUARE, *ANY_MATRIX) for d in (f64, c64)),
    *(case(f"torch.linalg.{n}", t(2, 3, 5)) for n in SQUARE),
    *(case(f"torch.linalg.{n}", eye(2, 5)[:, :3]) for n in ANY_MATRIX),
    *(case(f"torch.linalg.{n}", t(3)) for n in (*SQUARE, *ANY_MATRIX)),
    *(case(f"torch.{n}", eye(3)) for n in ("det", "logdet", "slogdet", "inverse", "cholesky", "svd", "qr", "geqrf")),
    case("torch.linalg.svd", t(2, 3, 5), full_matrices=False),
    case("torch.svd", t(2, 3, 5), some=False),
    case("torch.linalg.qr", t(2, 5, 3), mode="complete"),
    case("torch.linalg.qr", t(2, 5, 3), "r"),
    case("torch.linalg.inv", eye(3, dtype=torch.float16)),
    case("torch.linalg.inv", eye(3, dtype=i64)),
    case("torch.lu", eye(2, 3), get_infos=True),
    case("torch.linalg.matrix_power", t(3, 3), 2),
    case("torch.linalg.matrix_power", t(3, 3, dtype=i64), -1),
    case("torch.linalg.vander", t(2, 3), N=5),
    case("torch.vander", t(3)),
    case("torch.cov", t(3, 5), aweights=t(5, dtype=f64)),
    case("torch.cov", t(3, 5), fweights=t(3, dtype=i64)),
    case("torch.corrcoef", t(5)),
    case("torch.corrcoef", t(2, 3, 5)),
    case("torch.svd_lowrank", t(2, 11, 7), q=3),
    case("torch.linalg.householder_product", t(2, 5, 3), t(2, 3)),
    case("torch.linalg.householder_product", t(2, 3, 5), t(2, 3)),
]
SYSTEMS = [
    case("torch.linalg.solve", eye(2, 3), t(2, 3, 5)),
    case("torch.linalg.solve", eye(2, 3), t(2, 3)),
    case("torch.linalg.solve", eye(7, 1, 3), t(2, 3, 5)),
    case("torch.linalg.solve", eye(2, 3), t(2, 5, 3), left=False),
    case("torch.linalg.solve", eye(2, 3), t(2, 5, 3)),
    case("torch.linalg.solve", eye(2, 3), t(5, 3, 5)),
    case("torch.linalg.solve", eye(3), t(3, dtype=f64)),
    case("torch.linalg.solve", t(3, 5), t(3)),
    case("torch.linalg.solve_ex", eye(2, 3), t(2, 3, 5)),
    case("torch.linalg.solve_triangular", eye(7, 1, 3), t(2, 5, 3), upper=True, left=False),
    case("torch.linalg.solve_triangular", eye(3), t(3), upper=True),
    case("torch.triangular_solve", t(2, 3, 5), eye(7, 1, 3)),
    case("torch.cholesky_solve", t(3, 5), eye(3)),
    case("torch.cholesky_solve", t(5, 3), eye(3)),
    case("torch.linalg.lu_solve", eye(2, 3), torch.ones(2, 3, dtype=torch.int32), t(2, 3, 5)),
    case("torch.linalg.lu_solve", eye(2, 3), t(2, 3), t(2, 3, 5)),
    case("torch.linalg.lstsq", eye(2, 5)[:, :, :3], t(2, 5, 7), driver="gels"),
    case("torch.linalg.lstsq", t(5, 3), t(3, 2)),
    case("torch.linalg.tensorinv", torch.eye(6).reshape(2, 3, 6), 2),
    case("torch.linalg.tensorinv", t(6, 2, 5), 1),
    case("torch.linalg.tensorsolve", torch.eye(6).reshape(2, 3, 6), t(2, 3)),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), [*PRODUCTS, *DIAGONALS, *MATRICES, *SYSTEMS])
def test_agrees_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    judgement = oracle.examine(name, args, kwargs)
    assert judgement.verdict in GOOD, judgement


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("torch.bmm", f(B, N, K), f(B, K, M)),
        case("torch.bmm", f(B, N, K), f(B, M, K)),
        case("torch.addmm", f(M), f(N, K), f(K, M)),
        case("torch.addmm", f(K), f(N, K), f(K, M)),
        case("torch.kron", f(N, K), f(B, M)),
        case("torch.tensordot", f(B, N, K), f(N, K, M)),
        case("torch.inner", f(B, N, K), f(M, K)),
        case("torch.outer", f(N), f(2 * M)),
        case("torch.linalg.multi_dot", (f(B, N), f(N, K), f(K, M))),
        case("torch.diag", f(N, N + 2), 1),
        case("torch.diag", f(N + K), -3),
        case("torch.diagonal", f(B, N, N), 0, 1, 2),
        case("torch.diag_embed", f(B, N), 1),
        case("torch.diagflat", f(B, N)),
        case("torch.linalg.svd", f(B, N, N + 2), False),
        case("torch.linalg.qr", f(B, N + M, N)),
        case("torch.linalg.cholesky_ex", f(B, N, M)),
        case("torch.linalg.tensorinv", f(B, N, B * M), 2),
        case("torch.nn.functional.bilinear", f(B, N), f(B, K), f(M, N, K)),
        case("torch.cov", f(N, M)),
        case("torch.linalg.vander", f(B, N), N=7),
    ],
)
def test_symbols_agree_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert differs(name, *args, **kwargs) == ""


def test_a_product_has_its_rank_even_of_unknown_operands() -> None:
    assert infer("torch.bmm", (ANYTHING, f(B, K, M))) == f(B, UNKNOWN, M)
    assert infer("torch.outer", (ANYTHING, tensor(5))) == tensor(UNKNOWN, 5)
    assert infer("torch.mv", (ANYTHING, ANYTHING)) == tensor(UNKNOWN)
    assert infer("torch.kron", (tensor(ANY_REST, 3), tensor(2, 5))) == tensor(ANY_REST, 15)
    assert infer("torch.inner", (tensor(ANY_REST, 3, 5), tensor(7, 5))) == tensor(ANY_REST, 3, 7)


def test_what_is_known_of_matrices_of_unknown_rank_is_kept() -> None:
    found = infer("torch.linalg.svd", (f(ANY_REST, N, K), False))
    assert isinstance(found, Named)
    assert dict(found.fields)["U"] == f(ANY_REST, N, minimum(N, K))
    assert infer("torch.linalg.inv", (tensor(ANY_REST, dtype=FLOAT64),)) == tensor(
        ANY_REST, UNKNOWN, UNKNOWN, dtype=FLOAT64
    )
    assert infer("torch.linalg.inv", (f(B, 3, UNKNOWN),)) == f(B, 3, 3)
    assert infer("torch.linalg.det", (f(ANY_REST, N, N),)) == TensorType(Shape.of(ANY_REST), FLOAT32)


def test_a_right_hand_side_of_unknown_rank_may_be_vectors() -> None:
    assert infer("torch.linalg.solve", (f(B, 3, 3), tensor(ANY_REST))) == TensorType(ANY_SHAPE, FLOAT32)


@pytest.mark.parametrize(
    ("name", "args", "text", "hint"),
    [
        (
            "torch.bmm",
            (f(B, N, K), f(B, M, K)),
            "bmm: the inner dims differ: input has K, mat2 has M; they are not equal for all sizes "
            "[input: Float32[B, N, K], mat2: Float32[B, M, K]]",
            None,
        ),
        (
            "torch.addmm",
            (f(11), f(3, 5), f(5, 7)),
            "addmm: input (11,) can't be expanded to the product (3, 7): 11 is not 7 at dim -1 "
            "[input: Float32[11], mat1: Float32[3, 5], mat2: Float32[5, 7]]",
            None,
        ),
        (
            "torch.linalg.inv",
            (f(3, 5),),
            "inv: the matrices of A (3, 5) must be square, but they are 3 by 5 [A: Float32[3, 5]]",
            None,
        ),
        (
            "torch.linalg.solve",
            (f(3, 3), f(5, 2)),
            "solve: the numbers of rows differ: A has 3, B has 5 [A: Float32[3, 3], B: Float32[5, 2]]",
            None,
        ),
        (
            "torch.linalg.det",
            (tensor(3, 3, dtype=INT64),),
            "det: A is Int64, but it must be floating or complex [A: Int64[3, 3]]",
            "A.float()",
        ),
        (
            "torch.dot",
            (f(3, 1), f(3)),
            "dot: input must have 1 dim, but it is (3, 1) [input: Float32[3, 1], tensor: Float32[3]]",
            None,
        ),
        (
            "torch.tensordot",
            (f(2, 3, 5), f(7, 3), 1),
            "tensordot: the contracted dims differ: a has 5 at dim 2, b has 7 at dim 0 "
            "[a: Float32[2, 3, 5], b: Float32[7, 3]]",
            None,
        ),
    ],
)
def test_message(name: str, args: tuple[Any, ...], text: str, hint: str | None) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.text == text
    assert report.hint == hint
