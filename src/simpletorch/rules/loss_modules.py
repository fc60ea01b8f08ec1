"""The loss classes of `torch.nn`: each holds how it reduces and calls its function."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from simpletorch.rules import class_losses, losses
from simpletorch.rules.arguments import is_dim
from simpletorch.rules.conditions import need_equal, need_rank
from simpletorch.rules.matmul import check_size
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import check_probability
from simpletorch.rules.values import Named, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Expr, Shape, Unknown


@module("torch.nn.MSELoss")
@record
class MSELoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.mse_loss(input, target, reduction=self.reduction)


@module("torch.nn.L1Loss")
@record
class L1Loss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.l1_loss(input, target, reduction=self.reduction)


@module("torch.nn.SmoothL1Loss")
@record
class SmoothL1Loss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.smooth_l1_loss(input, target, reduction=self.reduction)


@module("torch.nn.HuberLoss")
@record
class HuberLoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.huber_loss(input, target, reduction=self.reduction)


@module("torch.nn.SoftMarginLoss")
@record
class SoftMarginLoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.soft_margin_loss(input, target, reduction=self.reduction)


@module("torch.nn.HingeEmbeddingLoss")
@record
class HingeEmbeddingLoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.hinge_embedding_loss(input, target, reduction=self.reduction)


@module("torch.nn.KLDivLoss")
@record
class KLDivLoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.kl_div(input, target, reduction=self.reduction)


@record
class _Weighted(ModuleRule):
    """A loss with a weight for each class or element, which is a buffer."""

    weight: Value = None

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": self.weight}


@module("torch.nn.BCELoss")
@record
class BCELoss(_Weighted):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.BCEWithLogitsLoss")
@record
class BCEWithLogitsLoss(_Weighted):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"
    pos_weight: Value = None

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.binary_cross_entropy_with_logits(
            input, target, weight=self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )

    def attributes(self) -> Mapping[str, Value]:
        return {**super().attributes(), "pos_weight": self.pos_weight}


@module("torch.nn.MultiLabelSoftMarginLoss")
@record
class MultiLabelSoftMarginLoss(_Weighted):
    """``(*b, C), target (*b, C) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.CrossEntropyLoss")
@record
class CrossEntropyLoss(_Weighted):
    """``(N, C, *d), target (N, *d) of Int64 or (N, C, *d) of floats -> ()``; reduction "none" keeps ``(N, *d)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.NLLLoss")
@record
class NLLLoss(_Weighted):
    """``(N, C, *d), target (N, *d) of Int64 -> ()``; reduction "none" keeps ``(N, *d)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.nll_loss(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.MultiMarginLoss")
@record
class MultiMarginLoss(_Weighted):
    """``(N, C), target (N,) of Int64 -> ()``; reduction "none" keeps ``(N,)``"""

    reduction: Value = "mean"

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        p, weight = given.get("p", 1), given.get("weight")
        if isinstance(p, int | float) and p not in (1, 2):
            raise Mismatch(f"p is {p}, but it must be 1 or 2", got=p)
        if isinstance(weight, TensorType):
            need_rank("weight", weight, 1)

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.multi_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.MultiLabelMarginLoss")
@record
class MultiLabelMarginLoss(ModuleRule):
    """``(N, C), target (N, C) of Int64 -> ()``; reduction "none" keeps ``(N,)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.multilabel_margin_loss(input, target, reduction=self.reduction)


@module("torch.nn.PoissonNLLLoss")
@record
class PoissonNLLLoss(ModuleRule):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(  # type: ignore[override]
        self, log_input: TensorType, target: TensorType
    ) -> TensorType:
        return losses.poisson_nll_loss(log_input, target, reduction=self.reduction)


@module("torch.nn.GaussianNLLLoss")
@record
class GaussianNLLLoss(ModuleRule):
    """``(*b), target (*b), var (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(  # type: ignore[override]
        self, input: TensorType, target: TensorType, var: Value
    ) -> TensorType:
        return losses.gaussian_nll_loss(input, target, var, reduction=self.reduction)


@module("torch.nn.MarginRankingLoss")
@record
class MarginRankingLoss(ModuleRule):
    """``(*b), (*b), target (*b) of -1 and 1 -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(  # type: ignore[override]
        self, input1: TensorType, input2: TensorType, target: TensorType
    ) -> TensorType:
        return class_losses.margin_ranking_loss(input1, input2, target, reduction=self.reduction)


@module("torch.nn.CosineEmbeddingLoss")
@record
class CosineEmbeddingLoss(ModuleRule):
    """``(N, D), (N, D), target (N,) of -1 and 1 -> ()``; reduction "none" keeps ``(N,)``"""

    reduction: Value = "mean"

    def forward(  # type: ignore[override]
        self, input1: TensorType, input2: TensorType, target: TensorType
    ) -> TensorType:
        return class_losses.cosine_embedding_loss(input1, input2, target, reduction=self.reduction)


def _check_margin(margin: Value) -> None:
    if isinstance(margin, int | float) and margin <= 0:
        raise Mismatch(f"margin is {margin}, but it must be greater than 0", got=margin)


@module("torch.nn.TripletMarginLoss")
@record
class TripletMarginLoss(ModuleRule):
    """``(*b, D), (*b, D), (*b, D) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        _check_margin(given.get("margin", 1.0))

    def forward(  # type: ignore[override]
        self, anchor: TensorType, positive: TensorType, negative: TensorType
    ) -> TensorType:
        return class_losses.triplet_margin_loss(anchor, positive, negative, reduction=self.reduction)


@module("torch.nn.TripletMarginWithDistanceLoss")
@record
class TripletMarginWithDistanceLoss(ModuleRule):
    """``(*b, D), (*b, D), (*b, D) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"
    distance_function: Value = None

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        _check_margin(given.get("margin", 1.0))

    def forward(  # type: ignore[override]
        self, anchor: TensorType, positive: TensorType, negative: TensorType
    ) -> TensorType:
        return class_losses.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, reduction=self.reduction
        )


@module("torch.nn.CTCLoss")
@record
class CTCLoss(ModuleRule):
    """``(T, N, C), targets (N, S) -> ()``; reduction "none" keeps ``(N,)``"""

    reduction: Value = "mean"

    def forward(  # type: ignore[override]
        self, log_probs: TensorType, targets: TensorType, input_lengths: Value, target_lengths: Value
    ) -> TensorType:
        return class_losses.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction=self.reduction)


def _size(value: Value) -> Dim:
    return value if is_dim(value) and isinstance(value, int | Expr | Unknown) else UNKNOWN


@module("torch.nn.LinearCrossEntropyLoss")
@record
class LinearCrossEntropyLoss(ModuleRule):
    """``(N, in_features), target (N, *out_features) of Int64 -> ()``; reduction "none" keeps ``(N, *out_features)``"""

    in_features: Value
    num_classes: Value
    out_features: Value = ()
    bias: Value = False
    device: Value = None
    dtype: Value = None
    reduction: Value = "mean"

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        weight, classes = given.get("weight"), given.get("num_classes", UNKNOWN)
        check_probability("label_smoothing", given.get("label_smoothing"))
        if isinstance(weight, TensorType) and is_dim(classes):
            need_rank("weight", weight, 1)
            need_equal("weight", weight.shape.dim(0), "the layer", classes, what="the numbers of classes")

    def _weight(self, input: TensorType) -> TensorType:
        if not isinstance(self.out_features, tuple):
            return TensorType(Shape((*ANY_SHAPE.items, _size(self.in_features))), input.dtype)
        inner = (_size(d) for d in self.out_features)
        return TensorType(Shape((_size(self.num_classes), *inner, _size(self.in_features))), input.dtype)

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.linear_cross_entropy(input, self._weight(input), target, reduction=self.reduction)


@module("torch.nn.AdaptiveLogSoftmaxWithLoss")
@record
class AdaptiveLogSoftmaxWithLoss(ModuleRule):
    """``(N, in_features), target (N,) of Int64 -> output (N,), loss ()``"""

    in_features: Value
    n_classes: Value
    device: Value = None
    dtype: Value = None

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        cutoffs, classes = given.get("cutoffs"), given.get("n_classes")
        if not isinstance(cutoffs, tuple) or not all(isinstance(c, int) for c in cutoffs):
            return
        steps: tuple[Value, ...] = (0, *cutoffs, *((classes,) if isinstance(classes, int) else ()))
        if not cutoffs or any(a >= b for a, b in pairwise(steps)):  # type: ignore[operator]
            raise Mismatch(
                f"cutoffs are {list(cutoffs)}, but they must increase from 1 or more to less than n_classes={classes}",
                got=cutoffs,
            )

    def check(self) -> None:
        check_size("in_features", self.in_features)

    def forward(self, input_: TensorType, target_: TensorType) -> Named:  # type: ignore[override]
        need_rank("input_", input_, 1, 2)
        need_equal("input_", input_.shape.dim(-1), "the layer", _size(self.in_features), what="the numbers of features")
        output = input_.shape.drop_last(1) if input_.shape.is_exact else ANY_SHAPE
        fields = ("output", TensorType(output, input_.dtype)), ("loss", TensorType(Shape(()), input_.dtype))
        return Named("torch.nn.modules.adaptive._ASMoutput", fields)


__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
