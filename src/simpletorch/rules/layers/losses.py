"""The loss classes of `torch.nn`: each holds how it reduces and calls its function."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks import losses


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
    log_target: Value = False

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.kl_div(input, target, reduction=self.reduction)


@record
class Weighted(ModuleRule):
    """A loss with a weight for each class or element, which is a buffer."""

    weight: Value = None

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": self.weight}


@module("torch.nn.BCELoss")
@record
class BCELoss(Weighted):
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


@module("torch.nn.BCEWithLogitsLoss")
@record
class BCEWithLogitsLoss(Weighted):
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
class MultiLabelSoftMarginLoss(Weighted):
    """``(*b, C), target (*b, C) -> ()``; reduction "none" keeps ``(*b)``"""

    reduction: Value = "mean"

    def forward(self, input: TensorType, target: TensorType) -> TensorType:  # type: ignore[override]
        return losses.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


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


__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MultiLabelSoftMarginLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Weighted",
]
