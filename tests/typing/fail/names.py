"""A misspelt name of simpletorch is an error, as one of torch is."""

import simpletorch
from simpletorch import nn, optim


def fail_function() -> None:
    simpletorch.rnadn(3, 5)  # E: attr-defined


def fail_import() -> None:
    from simpletorch import rnadn  # E: attr-defined


def fail_submodule() -> None:
    simpletorch.optin.AdamW  # E: attr-defined


def fail_layer() -> None:
    nn.Lineal(3, 5)  # E: attr-defined


def fail_optimizer() -> None:
    optim.AdanW  # E: attr-defined
