"""Losses and their modules against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import (
    ANYTHING,
    Named,
    Report,
    TensorType,
    infer,
    infer_module,
    new_module,
    tensor,
)
from simpletorch.rules.core.dtype import BOOL, BY_NAME, FLOAT32, FLOAT64, INT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, C, H, N, T, differs
from tests.rules.symbolic import f32 as f

F = "torch.nn.functional."
f16, f32, f64, i32, i64 = torch.float16, torch.float32, torch.float64, torch.int32, torch.int64


def case(name: str, *args: Any, **kwargs: Any) -> Any:
    return pytest.param(F + name, args, kwargs, id=str(oracle.Call(name, args, kwargs)))


def t(*shape: int, dtype: torch.dtype = f32) -> torch.Tensor:
    return torch.full(shape, 0.5).to(dtype)


def index(*shape: int, dtype: torch.dtype = i64) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


PAIRS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss", "soft_margin_loss")
WARNING = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")
EQUAL_SHAPES = [
    *(case(n, t(3, 5), t(3, 5), reduction=r) for n in (*PAIRS, *BINARY) for r in ("none", "sum", "mean", "median")),
    *(case(n, t(3, 5), t(3, 5, dtype=d), reduction="none") for n in (*PAIRS, *BINARY) for d in (f16, f64, i64)),
    *(case(n, t(3, 5, dtype=f16), t(3, 5, dtype=f64)) for n in PAIRS),
    *(case(n, t(3, 5), t(3, 7)) for n in (*PAIRS, *BINARY)),
    *(case(n, t(3, 5), t(3, 1), reduction="none") for n in (*PAIRS, *BINARY) if n not in WARNING),
    *(case(n, index(3, 5), index(3, 5)) for n in ("mse_loss", "l1_loss", "kl_div", "hinge_embedding_loss")),
    case("mse_loss", t(3, 5), t(3, 5), weight=t(3, 5, dtype=f64), reduction="none"),
    case("mse_loss", t(3, 5), t(3, 5), weight=t(5)),
    case("mse_loss", t(3, 5), t(3, 5), reduce=False),
    case("kl_div", t(3, 5), t(3, 5), reduction="batchmean"),
    case("l1_loss", t(3, 5, dtype=torch.complex64), t(3, 5), reduction="none"),
    case("binary_cross_entropy", t(3, 5), t(3, 5), t(5), reduction="none"),
    case("binary_cross_entropy", t(3, 5), t(3, 5), t(2, 3, 5)),
    case("binary_cross_entropy_with_logits", t(3, 5), t(3, 5), pos_weight=t(5)),
    case("binary_cross_entropy_with_logits", t(3, 5), t(3, 5), pos_weight=t(3)),
    *(case("gaussian_nll_loss", t(3, 5), t(3, 5), v) for v in (t(3, 5), t(3, 1), t(3), t(5), 0.5)),
]
CLASSIFICATION = [
    *(case(n, t(3, 5), index(3), reduction=r) for n in ("cross_entropy", "nll_loss") for r in ("none", "mean")),
    *(
        case(n, t(3, 5, *d), index(3, *d), reduction="none")
        for n in ("cross_entropy", "nll_loss")
        for d in ((7,), (7, 2), (7, 2, 11))
    ),
    *(case(n, t(5), index(), reduction="none") for n in ("cross_entropy", "nll_loss")),
    *(case(n, t(3, 5), index(3, dtype=d)) for n in ("cross_entropy", "nll_loss") for d in (i32, torch.uint8, f32)),
    *(case(n, t(3, 5), index(*s)) for n in ("cross_entropy", "nll_loss") for s in ((7,), (3, 1), (), (3, 5))),
    *(case(n, t(3, 7, 5), index(3, 7)) for n in ("cross_entropy", "nll_loss")),
    *(case(n, t(3, 5), index(3), weight=w) for n in ("cross_entropy", "nll_loss") for w in (t(5), t(3), t(3, 5))),
    case("cross_entropy", t(3, 5), t(3, 5)),
    case("cross_entropy", t(3, 5, 7), t(3, 5, 7, dtype=f64), reduction="none"),
    case("cross_entropy", t(3, 5), t(3, 5), weight=t(5, dtype=f64)),
    case("cross_entropy", t(3, 5), t(3, 7)),
    case("cross_entropy", t(3, 5), index(3), label_smoothing=0.1),
    case("nll_loss", t(3, 5), t(3, 5)),
    case("linear_cross_entropy", t(3, 5), t(7, 5), index(3), reduction="none"),
    case("linear_cross_entropy", t(3, 5), t(7, 2), index(3)),
    *(case("multi_margin_loss", t(3, 5), i, reduction="none") for i in (index(3), index(7), index(3, dtype=i32))),
    *(case("multilabel_margin_loss", t(3, 5), i, reduction="none") for i in (index(3, 5), index(3, 7), t(3, 5))),
    case("ctc_loss", t(11, 3, 5), index(3, 7), (11,) * 3, (7,) * 3, reduction="none"),
    case("ctc_loss", t(11, 3, 5), index(2, 7), (11,) * 3, (7,) * 3),
    case("ctc_loss", t(11, 3, 5), index(3, 7), (11,) * 2, (7,) * 3),
]
EMBEDDINGS = [
    case("cosine_embedding_loss", t(3, 5), t(3, 5), t(3), reduction="none"),
    case("cosine_embedding_loss", t(5), t(5), t()),
    case("cosine_embedding_loss", t(3, 5), t(3, 5), t()),
    case("cosine_embedding_loss", t(3, 5), t(3, 7), t(3)),
    case("margin_ranking_loss", t(3), t(3, dtype=f64), t(3), reduction="none"),
    case("margin_ranking_loss", t(3), t(3), t(3, 1)),
    case("triplet_margin_loss", t(2, 3, 5), t(2, 3, 5), t(2, 3, 5), reduction="none"),
    case("triplet_margin_loss", t(3, 5), t(5), t(3, 5)),
    case("triplet_margin_with_distance_loss", t(3, 5), t(3, 5), t(3, 7)),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), [*EQUAL_SHAPES, *CLASSIFICATION, *EMBEDDINGS])
def test_agrees_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    judgement = oracle.examine(name, args, kwargs)
    assert judgement.verdict in GOOD, judgement


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("mse_loss", f(B, N), f(B, N), reduction="none"),
        case("mse_loss", f(B, N), f(B, T)),
        case("binary_cross_entropy", f(B, 2 * N), f(B, 2 * N), reduction="none"),
        case("binary_cross_entropy", f(B), f(B, 1)),
        case("cross_entropy", f(B, C, H, H), tensor(B, H, H, dtype=INT64), reduction="none"),
        case("cross_entropy", f(B * T, C), tensor(B * T, dtype=INT64), reduction="none"),
        case("cross_entropy", f(B, T, C), tensor(B, T, dtype=INT64)),
        case("triplet_margin_loss", f(B, N), f(B, N), f(B, N), reduction="none"),
    ],
)
def test_symbols_agree_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert differs(name, *args, **kwargs) == ""


# -- likely mistakes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss"])
def test_a_loss_larger_than_both_sides_is_flagged(name: str) -> None:
    assert oracle.judge(F + name, (t(5), t(5, 1))) == "flagged"
    report = infer(F + name, (f(B), f(B, 1)))
    assert isinstance(report, Report)
    assert report.kind == "broadcast"


@pytest.mark.parametrize("name", WARNING)
@pytest.mark.parametrize("target", [(5,), (3, 1), (), (1, 3, 5)])
def test_different_sizes_are_flagged_where_torch_warns(name: str, target: tuple[int, ...]) -> None:
    with pytest.warns(UserWarning, match="Using a target size"):
        oracle.resolve(F + name)(t(3, 5), t(*target))
    report = infer(F + name, (f(3, 5), f(*target)))
    assert isinstance(report, Report)
    assert report.kind == "broadcast"
    assert "have different shapes and are broadcast to" in report.reason


def test_what_is_not_surely_larger_is_not_flagged() -> None:
    for left, right in (
        (f(B, N), f(N)),
        (f(3, 5), f()),
        (f(1), f(1, 1)),
        (f(3), f(1, 3)),
        (f(UNKNOWN), f(UNKNOWN, 1)),
        (f(ANY_REST), f(5, 1)),
        (f(0), f(5, 1)),
    ):
        assert infer(F + "poisson_nll_loss", (left, right)) == f()


# -- partial knowledge -------------------------------------------------------------------------------------------------


def test_a_reduced_loss_is_one_number_whatever_the_operands() -> None:
    assert infer(F + "mse_loss", (ANYTHING, ANYTHING)) == tensor()
    assert infer(F + "cross_entropy", (tensor(ANY_REST, dtype=FLOAT32), ANYTHING)) == tensor()
    assert infer(F + "nll_loss", (tensor(ANY_REST, dtype=FLOAT32), ANYTHING)) == f()


def test_an_unknown_reduction_leaves_the_shape_open() -> None:
    assert infer(F + "mse_loss", (f(3), f(3)), {"reduction": ANYTHING}) == TensorType(ANY_SHAPE, FLOAT32)


def test_either_operand_tells_the_shape_of_an_unreduced_loss() -> None:
    none = {"reduction": "none"}
    assert infer(F + "cross_entropy", (f(B, C, N), ANYTHING), none) == tensor(B, N)
    found = infer(F + "cross_entropy", (f(UNKNOWN, C), tensor(5, dtype=INT64)), none)
    assert found == f(5)
    assert infer(F + "nll_loss", (f(B, C, ANY_REST), ANYTHING), none) == f(B, ANY_REST)
    assert infer(F + "binary_cross_entropy", (f(ANY_REST), f(B, N)), none) == f(B, N)


def test_families_of_dtypes_are_judged_by_what_is_sure() -> None:
    assert infer(F + "cross_entropy", (f(3, 5), tensor(3, dtype=BY_NAME["Int"]))) == f()
    assert isinstance(infer(F + "cross_entropy", (f(3, 5), tensor(3, dtype=BY_NAME["Float"]))), Report)


# -- messages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args", "kind", "text", "hint"),
    [
        (
            "cross_entropy",
            (f(B, C), tensor(B, dtype=INT32)),
            "dtype",
            "cross_entropy: target is Int32, but class indices must be Int64 or UInt8 "
            "[input: Float32[B, C], target: Int32[B]]",
            "target.long()",
        ),
        (
            "cross_entropy",
            (f(32, 10), tensor(32, 1, dtype=INT64)),
            "shape",
            "cross_entropy: target is (32, 1), but for input (32, 10) it must be (32,) "
            "[input: Float32[32, 10], target: Int64[32, 1]]",
            "target.squeeze(-1)",
        ),
        (
            "cross_entropy",
            (f(B, T, C), tensor(B, T, dtype=INT64)),
            "shape",
            "cross_entropy: target is (B, T), but for input (B, T, C) it must be (B, C) for all sizes "
            "[input: Float32[B, T, C], target: Int64[B, T]]",
            "the classes must be dim 1 of input: input.transpose(1, 2)",
        ),
        (
            "cross_entropy",
            (f(3, 5), tensor(3, 5, dtype=INT64)),
            "dtype",
            "cross_entropy: target has the shape of input, so it must be floating (probabilities), but it is Int64 "
            "[input: Float32[3, 5], target: Int64[3, 5]]",
            "target.float(), or class indices as target.argmax(1)",
        ),
        (
            "mse_loss",
            (f(32, 1), f(32)),
            "broadcast",
            "mse_loss: input (32, 1) and target (32,) are broadcast to (32, 32), which is larger than both "
            "[input: Float32[32, 1], target: Float32[32]]",
            "input.squeeze(-1)",
        ),
        (
            "binary_cross_entropy_with_logits",
            (f(B, 1), f(B)),
            "shape",
            "binary_cross_entropy_with_logits: input is (B, 1), but target is (B,); they must be equal for all sizes "
            "[input: Float32[B, 1], target: Float32[B]]",
            "input.squeeze(-1)",
        ),
        (
            "binary_cross_entropy",
            (f(3), tensor(3, dtype=FLOAT64)),
            "dtype",
            "binary_cross_entropy: input is Float32, but target is Float64; both must have one dtype "
            "[input: Float32[3], target: Float64[3]]",
            "target.to(input.dtype)",
        ),
        (
            "l1_loss",
            (f(3), tensor(3, dtype=BOOL)),
            "dtype",
            "l1_loss: target is Bool, which can't be subtracted [input: Float32[3], target: Bool[3]]",
            "target.float()",
        ),
    ],
)
def test_message(name: str, args: tuple[Any, ...], kind: str, text: str, hint: str) -> None:
    report = infer(F + name, args)
    assert isinstance(report, Report)
    assert (report.kind, report.text, report.hint) == (kind, text, hint)


# -- dtypes ------------------------------------------------------------------------------------------------------------

ANY_DTYPE = (i64, torch.uint8, torch.bool, f16, torch.bfloat16, f32, torch.complex64)
BEYOND_PAIRS = ("margin_ranking_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss", "gaussian_nll_loss")


@pytest.mark.parametrize("first", ANY_DTYPE, ids=str)
def test_every_pair_of_dtypes(first: torch.dtype) -> None:
    judged = []
    for second in ANY_DTYPE:
        pair = t(3, 5, dtype=first), t(3, 5, dtype=second)
        judged += [(n, pair, {"reduction": r}) for n in (*PAIRS, *BINARY) for r in ("none", "mean")]
        judged += [("smooth_l1_loss", pair, {"beta": 0}), ("hinge_embedding_loss", pair, {})]
        judged += [
            ("poisson_nll_loss", pair, {"log_input": i, "full": f}) for i in (True, False) for f in (True, False)
        ]
        judged += [("cosine_similarity", pair, {}), ("pairwise_distance", pair, {})]
    wrong = [(n, a, k) for n, a, k in judged if oracle.judge(F + n, a, k) not in GOOD]
    assert not wrong, [str(oracle.Call(*w)) for w in wrong]


@pytest.mark.parametrize("first", ANY_DTYPE, ids=str)
def test_every_three_dtypes(first: torch.dtype) -> None:
    judged = []
    for second in ANY_DTYPE:
        for third in ANY_DTYPE:
            three = t(3, 5, dtype=first), t(3, 5, dtype=second), t(3, 5, dtype=third)
            judged += [(n, three, {}) for n in BEYOND_PAIRS]
            judged += [("triplet_margin_loss", three, {"swap": True})]
            judged += [("cosine_embedding_loss", (*three[:2], t(3, dtype=third)), {})]
    wrong = [(n, a, k) for n, a, k in judged if oracle.judge(F + n, a, k) not in GOOD]
    assert not wrong, [str(oracle.Call(*w)) for w in wrong]


# -- modules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("name", "args"),
    [
        *((n, (t(3, 5), t(3, 5))) for n in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss", "BCELoss")),
        *((n, (t(3, 5), t(3, 5))) for n in ("BCEWithLogitsLoss", "MultiLabelSoftMarginLoss", "PoissonNLLLoss")),
        *((n, (t(3, 5), t(3, 5))) for n in ("SoftMarginLoss", "HingeEmbeddingLoss")),
        *((n, (t(3, 5, 7), index(3, 7))) for n in ("CrossEntropyLoss", "NLLLoss")),
        ("MultiMarginLoss", (t(3, 5), index(3))),
        ("MultiLabelMarginLoss", (t(3, 5), index(3, 5))),
        ("GaussianNLLLoss", (t(3, 5), t(3, 5), t(3, 1))),
        ("MarginRankingLoss", (t(3), t(3), t(3))),
        ("CosineEmbeddingLoss", (t(3, 5), t(3, 5), t(3))),
        ("TripletMarginLoss", (t(3, 5), t(3, 5), t(3, 5))),
        ("TripletMarginWithDistanceLoss", (t(3, 5), t(3, 5), t(3, 5))),
        ("CTCLoss", (t(11, 3, 5), index(3, 7), (11,) * 3, (7,) * 3)),
        ("CrossEntropyLoss", (t(3, 5), index(3, 1))),
        ("MSELoss", (t(3, 5), t(3, 7))),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size:UserWarning")  # torch's word on what it broadcasts
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss:UserWarning")
def test_module_agrees_with_torch(name: str, args: tuple[Any, ...], reduction: str) -> None:
    built = new_module(f"torch.nn.{name}", {"reduction": reduction})
    assert built is not None
    assert not isinstance(built, Report)
    answer = infer_module(built, oracle.lift(args))
    try:
        truth = oracle.lift(getattr(torch.nn, name)(reduction=reduction)(*args))
    except (RuntimeError, ValueError):
        assert isinstance(answer, Report)
    else:
        assert oracle.compare(answer, truth) == "exact", (answer, truth)


def test_adaptive_softmax_gives_a_named_pair() -> None:
    built = new_module("torch.nn.AdaptiveLogSoftmaxWithLoss", {"in_features": 5, "n_classes": 7})
    assert built is not None
    assert not isinstance(built, Report)
    answer = infer_module(built, (f(3, 5), tensor(3, dtype=INT64)))
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(5, 7, [2])
    assert oracle.compare(answer, oracle.lift(layer(t(3, 5), index(3)))) == "exact"
    assert isinstance(answer, Named)
    assert isinstance(infer_module(built, (f(3, 11), tensor(3, dtype=INT64))), Report)


def test_a_linear_loss_knows_its_features() -> None:
    built = new_module("torch.nn.LinearCrossEntropyLoss", {"in_features": N, "num_classes": C})
    assert built is not None
    assert not isinstance(built, Report)
    assert infer_module(built, (f(B, N), tensor(B, dtype=INT64))) == TensorType(Shape(()), FLOAT32)
    report = infer_module(built, (f(B, T), tensor(B, dtype=INT64)))
    assert isinstance(report, Report)
    assert "the numbers of features differ" in report.text
