"""Annotations that are no tensor types: an error where they stand, statically and when the definition runs."""

from typing import Any, Literal

import torch
from jaxtyping import Float32 as JaxFloat32

import simpletorch as st
from simpletorch import Float32, Tensor
from simpletorch.dims import B, Batch, N, Rest


def fail_dtype() -> None:
    def f(x: Tensor[int, 3]) -> None: ...  # E: tensor-annotation


def fail_dtype_is_a_size() -> None:
    def f(x: Tensor[3, 784]) -> None: ...  # E: tensor-annotation


def fail_negative() -> None:
    def f(x: Tensor[Float32, -3]) -> None: ...  # E: tensor-annotation


def fail_two_variadics() -> None:
    def f(x: Tensor[Float32, *Batch, 3, *Rest]) -> None: ...  # E: tensor-annotation


def fail_two_variadics_in_quotes() -> None:
    def f(x: Tensor[Float32, "*Batch", 3, "*Rest"]) -> None: ...  # E: tensor-annotation


def fail_no_expression_in_a_literal() -> None:
    def f(x: Tensor[Float32, B, Literal["2*"]]) -> None: ...  # E: tensor-annotation


def fail_float_size() -> None:
    def f(x: Tensor[Float32, B, "N/2"], y: Tensor[Float32, N]) -> None: ...  # E: tensor-annotation


def fail_no_expression() -> None:
    def f(x: Tensor[Float32, B, "2*"]) -> None: ...  # E: tensor-annotation


def fail_not_a_size() -> None:
    def f(x: Tensor[Float32, True]) -> None: ...  # E: tensor-annotation


def fail_jaxtyping_two_variadics() -> None:
    def f(x: JaxFloat32[torch.Tensor, "*a 3 *b"]) -> None: ...  # E: tensor-annotation


def fail_jaxtyping_comma() -> None:
    def f(x: JaxFloat32[torch.Tensor, "a,b"]) -> None: ...  # E: tensor-annotation


def fail_not_a_dtype_module() -> None:
    def f(x: Tensor[st.Device, 3]) -> None: ...  # E: tensor-annotation


def unused(x: Any) -> None: ...
