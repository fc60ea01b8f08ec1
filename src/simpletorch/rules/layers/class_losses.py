"""Losses over classes, pairs and sequences, as layers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim
from simpletorch.rules.common.conditions import need_at_least, need_equal, need_probability, need_rank
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import Named, TensorType, Value
from simpletorch.rules.functions.networks import class_losses
from simpletorch.rules.layers.losses import Weighted
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape


@module("torch.nn.CrossEntropyLoss")
@record
class CrossEntropyLoss(Weighted):
    """``(N, C, *d), target (N, *d) of Int64 or (N, C, *d) of floats -> ()``; reduction "none" keeps ``(N, *d)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.NLLLoss")
@record
class NLLLoss(Weighted):
    """``(N, C, *d), target (N, *d) of Int64 -> ()``; reduction "none" keeps ``(N, *d)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return class_losses.nll_loss(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.MultiMarginLoss")
@record
class MultiMarginLoss(Weighted):
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


def _need_margin(margin: Value) -> None:
    if isinstance(margin, int | float) and margin <= 0:
        raise Mismatch(f"margin is {margin}, but it must be greater than 0", got=margin)


@module("torch.nn.TripletMarginLoss")
@record
class TripletMarginLoss(ModuleRule):
    """``(*b, D), (*b, D), (*b, D) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        _need_margin(given.get("margin", 1.0))

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
        _need_margin(given.get("margin", 1.0))

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


@module("torch.nn.LinearCrossEntropyLoss")
@record
class LinearCrossEntropyLoss(ModuleRule):
    """``(N, in_features), target (N, *out_features) of Int64 -> ()``; reduction "none" keeps ``(N, *out_features)``"""

    holds_modules = True

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
        need_probability("label_smoothing", given.get("label_smoothing"))
        if isinstance(weight, TensorType) and is_dim(classes):
            need_rank("weight", weight, 1)
            need_equal("weight", weight.shape.dim(0), "the layer", classes, what="the numbers of classes")

    def _weight(self, input: TensorType) -> TensorType:
        if not isinstance(self.out_features, tuple):
            return TensorType(Shape((*ANY_SHAPE.items, dim_or_unknown(self.in_features))), input.dtype)
        inner = (dim_or_unknown(d) for d in self.out_features)
        return TensorType(
            Shape((dim_or_unknown(self.num_classes), *inner, dim_or_unknown(self.in_features))), input.dtype
        )

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
        need_at_least("in_features", self.in_features, 1)

    def forward(self, input_: TensorType, target_: TensorType) -> Named:  # type: ignore[override]
        need_rank("input_", input_, 1, 2)
        need_equal(
            "input_",
            input_.shape.dim(-1),
            "the layer",
            dim_or_unknown(self.in_features),
            what="the numbers of features",
        )
        output = input_.shape.drop_last(1) if input_.shape.is_exact else ANY_SHAPE
        fields = ("output", TensorType(output, input_.dtype)), ("loss", TensorType(Shape(()), input_.dtype))
        return Named("torch.nn.modules.adaptive._ASMoutput", fields)


__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "LinearCrossEntropyLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
