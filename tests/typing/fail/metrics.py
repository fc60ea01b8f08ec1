"""Metrics given outputs that don't go with the targets."""

import torch

from simpletorch.metrics import AUROC, F1, Accuracy, ConfusionMatrix, MeanSquaredError, Perplexity


def fail_accuracy_of_two_batches() -> None:
    Accuracy().update(torch.randn(5, 3), torch.randint(3, (7,)))  # E: tensor-shape


def fail_confusion_matrix_of_two_batches() -> None:
    ConfusionMatrix(3).update(torch.randn(5, 3), torch.randint(3, (7,)))  # E: tensor-shape


def fail_f1_of_two_batches() -> None:
    F1(3).update(torch.randint(3, (5,)), torch.randint(3, (7,)))  # E: tensor-shape


def fail_auroc_of_integers() -> None:
    AUROC().update(torch.randint(3, (5,)), torch.randint(2, (5,)))  # E: tensor-dtype


def fail_squared_error_of_a_column_and_a_row() -> None:
    MeanSquaredError().update(torch.randn(5, 1), torch.randn(5))  # E: tensor-shape


def fail_perplexity_with_the_vocabulary_in_the_middle() -> None:
    Perplexity().update(torch.randn(3, 7, 5), torch.randint(7, (3, 5)))  # E: tensor-shape


def fail_perplexity_of_float_targets() -> None:
    Perplexity().update(torch.randn(3, 5, 7), torch.randn(3, 5))  # E: tensor-dtype
