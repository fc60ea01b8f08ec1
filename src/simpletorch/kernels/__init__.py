"""Operators of your own, Triton kernels with typed launches, and fused operators that come with simpletorch."""

from simpletorch.kernels._chips import GPU
from simpletorch.kernels._compile_check import CompileReport, Variant, compile_check
from simpletorch.kernels._extension import extension
from simpletorch.kernels._operator import Operator, operator
from simpletorch.kernels._opportunities import Opportunities, Opportunity, Traffic, opportunities
from simpletorch.kernels._signatures import Number, Pointer, Size, Stride
from simpletorch.kernels._triton import TritonKernel, triton
from simpletorch.kernels._verify import Verification, verify
from simpletorch.kernels.shipped import (
    adamw_step,
    add_rms_norm,
    attention,
    attention_backend,
    cross_entropy,
    dropout_add,
    geglu,
    geglu_packed,
    layer_norm,
    linear_cross_entropy,
    relu_add,
    rms_norm,
    rotary,
    softmax,
    swiglu,
    swiglu_packed,
)

__all__ = [
    "GPU",
    "CompileReport",
    "Number",
    "Operator",
    "Opportunities",
    "Opportunity",
    "Pointer",
    "Size",
    "Stride",
    "Traffic",
    "TritonKernel",
    "Variant",
    "Verification",
    "adamw_step",
    "add_rms_norm",
    "attention",
    "attention_backend",
    "compile_check",
    "cross_entropy",
    "dropout_add",
    "extension",
    "geglu",
    "geglu_packed",
    "layer_norm",
    "linear_cross_entropy",
    "operator",
    "opportunities",
    "relu_add",
    "rms_norm",
    "rotary",
    "softmax",
    "swiglu",
    "swiglu_packed",
    "triton",
    "verify",
]
