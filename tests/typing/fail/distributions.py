"""Distributions whose parameters, or values, don't fit."""

import torch
from torch.distributions import Categorical, Independent, MultivariateNormal, Normal, kl_divergence


def fail_parameters() -> None:
    Normal(torch.zeros(3, 5), torch.ones(3))  # E: tensor-shape


def fail_value() -> None:
    Normal(torch.zeros(3, 5), torch.ones(5)).log_prob(torch.zeros(3, 7))  # E: tensor-shape


def fail_sample() -> None:
    Normal(torch.zeros(3), 1.0).sample((5,)) + torch.zeros(7)  # E: tensor-shape


def fail_scalar() -> None:
    Categorical(logits=torch.tensor(3.0))  # E: tensor-shape


def fail_batch() -> None:
    Categorical(logits=torch.zeros(3, 5)).log_prob(torch.zeros(5))  # E: tensor-shape


def fail_covariance() -> None:
    MultivariateNormal(torch.zeros(3), torch.eye(5)).rsample()  # E: tensor-shape


def fail_independent() -> None:
    Independent(Normal(torch.zeros(3), 1.0), 2)  # E: tensor-shape


def fail_divergence() -> None:
    kl_divergence(Normal(torch.zeros(3), 1.0), Normal(torch.zeros(5), 1.0))  # E: tensor-shape
