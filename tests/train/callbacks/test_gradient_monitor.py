"""How large the gradients are, and which parameters get none."""

import math

import pytest
import torch

from simpletorch.train import Callback, GradientMonitor
from tests.train.callbacks.small_training import loader, net, trainer


def test_the_gradient_monitor_measures_before_clipping():
    seen = []

    class Look(Callback):
        def on_step_end(self, fit):
            seen.append({name: float(value) for name, value in fit.logged.items()})
            seen.append(float(torch.nn.utils.get_total_norm([p.grad for p in fit.model.parameters()])))

    model = net()
    trainer(model, GradientMonitor(each=True), Look(), clip_norm=1e-3).fit(model, loader(), steps=1)
    logged, clipped = seen
    assert clipped == pytest.approx(1e-3, rel=1e-2)
    assert logged["gradient_norm"] > 10 * clipped
    parts = [value for name, value in logged.items() if name.startswith("gradient_norm/")]
    assert math.hypot(*parts) == pytest.approx(logged["gradient_norm"])
    assert len(parts) == 4


def test_the_gradient_monitor_names_what_gets_no_gradient():
    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)

        def forward(self, x):
            return self.used(x)

    model, monitor = Half(), GradientMonitor()
    trainer(model, monitor).fit(model, loader())
    assert monitor.without_gradient == ("unused.weight", "unused.bias")
