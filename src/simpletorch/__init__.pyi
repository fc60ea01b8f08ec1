"""Every name of `simpletorch`, once: what type checkers see, and the table that ``__init__.py`` resolves names by."""

# ruff would write each name on a line of its own
# fmt: off
# isort: off
# ruff: noqa: F811

__version__: str

from simpletorch import amp as amp
from simpletorch import checkpoint as checkpoint
from simpletorch import cuda as cuda
from simpletorch import data as data
from simpletorch import dims as dims
from simpletorch import distributed as distributed
from simpletorch import dtypes as dtypes
from simpletorch import errors as errors
from simpletorch import export as export
from simpletorch import interop as interop
from simpletorch import kernels as kernels
from simpletorch import language as language
from simpletorch import losses as losses
from simpletorch import metrics as metrics
from simpletorch import nn as nn
from simpletorch import optim as optim
from simpletorch import reproducibility as reproducibility
from simpletorch import train as train
from simpletorch import transforms as transforms
from simpletorch import vision as vision

from simpletorch._distribution import torch_available as torch_available
from simpletorch._excepthook import install_excepthook as install_excepthook
from simpletorch._import_hook import install_import_hook as install_import_hook
from simpletorch.checks import checked as checked, config as config, pure as pure
from simpletorch.device import (
    Device as Device, cuda_available as cuda_available, device_count as device_count,
    torch_version as torch_version,
)
from simpletorch.dims import (
    B as B, Batch as Batch, C as C, D as D, Dim as Dim, E as E, F as F, G as G, H as H, I as I, K as K,
    L as L, M as M, N as N, O as O, P as P, Q as Q, Rest as Rest, S as S, T as T, V as V, W as W,
)
from simpletorch.dtypes import (
    BFloat16 as BFloat16, Bool as Bool, Complex as Complex, Complex64 as Complex64,
    Complex128 as Complex128, Float as Float, Float8e4m3fn as Float8e4m3fn, Float8e5m2 as Float8e5m2,
    Float16 as Float16, Float32 as Float32, Float64 as Float64, Inexact as Inexact, Int as Int,
    Int8 as Int8, Int16 as Int16, Int32 as Int32, Int64 as Int64, Integer as Integer, Num as Num,
    Real as Real, Shaped as Shaped, UInt as UInt, UInt8 as UInt8, UInt16 as UInt16, UInt32 as UInt32,
    UInt64 as UInt64, dtype_of as dtype_of,
)
from simpletorch.errors import (
    BackendError as BackendError, CheckpointError as CheckpointError, CUDAError as CUDAError,
    DataError as DataError, DeviceMismatch as DeviceMismatch, DTypeMismatch as DTypeMismatch,
    Err as Err, Ok as Ok, OutOfMemory as OutOfMemory, ShapeMismatch as ShapeMismatch,
    TorchError as TorchError, TypeMismatch as TypeMismatch, attempt as attempt, explain as explain,
)
from simpletorch.reproducibility import deterministic as deterministic, seed_everything as seed_everything
from simpletorch.tensor import (
    CPUTensor as CPUTensor, CUDATensor as CUDATensor, MPSTensor as MPSTensor, Parameter as Parameter,
    Tensor as Tensor, TensorShape as TensorShape, from_array as from_array,
)

from torch import (
    autograd as autograd, bfloat16 as bfloat16, complex64 as complex64, complex128 as complex128,
    float8_e4m3fn as float8_e4m3fn, float8_e5m2 as float8_e5m2, float16 as float16, float32 as float32,
    float64 as float64, int8 as int8, int16 as int16, int32 as int32, int64 as int64, load as load,
    save as save, uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64, utils as utils,
)

from torch import (
    abs as abs, absolute as absolute, acos as acos, acosh as acosh, add as add, addbmm as addbmm,
    addcdiv as addcdiv, addcmul as addcmul, addmm as addmm, addmv as addmv, addr as addr,
    adjoint as adjoint, all as all, allclose as allclose, amax as amax, amin as amin,
    aminmax as aminmax, angle as angle, any as any, arange as arange, arccos as arccos,
    arccosh as arccosh, arcsin as arcsin, arcsinh as arcsinh, arctan as arctan, arctan2 as arctan2,
    arctanh as arctanh, argmax as argmax, argmin as argmin, argsort as argsort, argwhere as argwhere,
    as_tensor as as_tensor, asarray as asarray, asin as asin, asinh as asinh, atan as atan,
    atan2 as atan2, atanh as atanh, atleast_1d as atleast_1d, atleast_2d as atleast_2d,
    atleast_3d as atleast_3d, baddbmm as baddbmm, bartlett_window as bartlett_window,
    bernoulli as bernoulli, bincount as bincount, binomial as binomial, bitwise_and as bitwise_and,
    bitwise_left_shift as bitwise_left_shift, bitwise_not as bitwise_not, bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift, bitwise_xor as bitwise_xor,
    blackman_window as blackman_window, block_diag as block_diag, bmm as bmm,
    broadcast_shapes as broadcast_shapes, broadcast_tensors as broadcast_tensors,
    broadcast_to as broadcast_to, bucketize as bucketize, cartesian_prod as cartesian_prod, cat as cat,
    cdist as cdist, ceil as ceil, cholesky as cholesky, cholesky_inverse as cholesky_inverse,
    cholesky_solve as cholesky_solve, chunk as chunk, clamp as clamp, clamp_max as clamp_max,
    clamp_min as clamp_min, clip as clip, clone as clone, column_stack as column_stack,
    combinations as combinations, complex as complex, concat as concat, concatenate as concatenate,
    conj as conj, conj_physical as conj_physical, copysign as copysign, corrcoef as corrcoef,
    cos as cos, cosh as cosh, count_nonzero as count_nonzero, cov as cov, cross as cross,
    cummax as cummax, cummin as cummin, cumprod as cumprod, cumsum as cumsum,
    cumulative_trapezoid as cumulative_trapezoid, deg2rad as deg2rad, det as det, detach as detach,
    diag as diag, diag_embed as diag_embed, diagflat as diagflat, diagonal as diagonal,
    diagonal_scatter as diagonal_scatter, diff as diff, digamma as digamma, dist as dist, div as div,
    divide as divide, dot as dot, dsplit as dsplit, dstack as dstack, einsum as einsum, empty as empty,
    empty_like as empty_like, enable_grad as enable_grad, eq as eq, equal as equal, erf as erf,
    erfc as erfc, erfinv as erfinv, exp as exp, exp2 as exp2, expm1 as expm1, eye as eye, fix as fix,
    flatten as flatten, flip as flip, fliplr as fliplr, flipud as flipud, float_power as float_power,
    floor as floor, floor_divide as floor_divide, fmax as fmax, fmin as fmin, fmod as fmod,
    frac as frac, frexp as frexp, from_numpy as from_numpy,
    frombuffer as frombuffer, full as full, full_like as full_like, gather as gather, gcd as gcd,
    ge as ge, geqrf as geqrf, ger as ger, greater as greater, greater_equal as greater_equal,
    grid_sampler as grid_sampler, gt as gt, hamming_window as hamming_window,
    hann_window as hann_window, heaviside as heaviside, histc as histc, histogram as histogram,
    hsplit as hsplit, hstack as hstack, hypot as hypot, i0 as i0, igamma as igamma, igammac as igammac,
    imag as imag, index_add as index_add, index_fill as index_fill, index_reduce as index_reduce,
    index_select as index_select, inference_mode as inference_mode, inner as inner, inverse as inverse,
    is_complex as is_complex, is_floating_point as is_floating_point,
    is_grad_enabled as is_grad_enabled, is_nonzero as is_nonzero, is_tensor as is_tensor,
    isclose as isclose, isfinite as isfinite, isin as isin, isinf as isinf, isnan as isnan,
    isneginf as isneginf, isposinf as isposinf, isreal as isreal, istft as istft,
    kaiser_window as kaiser_window, kron as kron, kthvalue as kthvalue, lcm as lcm, ldexp as ldexp,
    le as le, lerp as lerp, less as less, less_equal as less_equal, lgamma as lgamma,
    linspace as linspace, log as log, log10 as log10, log1p as log1p, log2 as log2,
    log_softmax as log_softmax, logaddexp as logaddexp, logaddexp2 as logaddexp2,
    logcumsumexp as logcumsumexp, logdet as logdet, logical_and as logical_and,
    logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor, logit as logit,
    logspace as logspace, logsumexp as logsumexp, lt as lt, lu_solve as lu_solve,
    manual_seed as manual_seed, masked_fill as masked_fill, masked_scatter as masked_scatter,
    masked_select as masked_select, matmul as matmul, matrix_exp as matrix_exp,
    matrix_power as matrix_power, max as max, maximum as maximum, mean as mean, median as median,
    meshgrid as meshgrid, min as min, minimum as minimum, mm as mm, mode as mode, moveaxis as moveaxis,
    movedim as movedim, msort as msort, mul as mul, multinomial as multinomial, multiply as multiply,
    mv as mv, mvlgamma as mvlgamma, nan_to_num as nan_to_num, nanmean as nanmean,
    nanmedian as nanmedian, nanquantile as nanquantile, nansum as nansum, narrow as narrow, ne as ne,
    neg as neg, negative as negative, nextafter as nextafter, no_grad as no_grad, nonzero as nonzero,
    norm as norm, normal as normal, not_equal as not_equal, numel as numel, ones as ones,
    ones_like as ones_like, orgqr as orgqr, ormqr as ormqr, outer as outer, permute as permute,
    pinverse as pinverse, poisson as poisson, polar as polar, polygamma as polygamma,
    positive as positive, pow as pow, prod as prod, promote_types as promote_types, qr as qr,
    quantile as quantile, rad2deg as rad2deg, rand as rand, rand_like as rand_like, randint as randint,
    randint_like as randint_like, randn as randn, randn_like as randn_like, randperm as randperm,
    ravel as ravel, real as real, reciprocal as reciprocal, relu as relu, remainder as remainder,
    renorm as renorm, repeat_interleave as repeat_interleave, reshape as reshape,
    result_type as result_type, roll as roll, rot90 as rot90, round as round, row_stack as row_stack,
    rsqrt as rsqrt, scatter as scatter, scatter_add as scatter_add, scatter_reduce as scatter_reduce,
    searchsorted as searchsorted, select as select, select_scatter as select_scatter,
    set_grad_enabled as set_grad_enabled, sgn as sgn, sigmoid as sigmoid, sign as sign,
    signbit as signbit, sin as sin, sinc as sinc, sinh as sinh, slice_scatter as slice_scatter,
    slogdet as slogdet, softmax as softmax, sort as sort, split as split,
    split_with_sizes as split_with_sizes, sqrt as sqrt, square as square, squeeze as squeeze,
    stack as stack, std as std, std_mean as std_mean, stft as stft, sub as sub, subtract as subtract,
    sum as sum, svd as svd, swapaxes as swapaxes, swapdims as swapdims, t as t, take as take,
    take_along_dim as take_along_dim, tan as tan, tanh as tanh, tensor as tensor,
    tensor_split as tensor_split, tensordot as tensordot, tile as tile, topk as topk, trace as trace,
    transpose as transpose, trapezoid as trapezoid, trapz as trapz, tril as tril,
    tril_indices as tril_indices, triu as triu, triu_indices as triu_indices,
    true_divide as true_divide, trunc as trunc, unbind as unbind, unflatten as unflatten,
    unique as unique, unique_consecutive as unique_consecutive, unravel_index as unravel_index,
    unsqueeze as unsqueeze, vander as vander, var as var, var_mean as var_mean, vdot as vdot,
    view_as_complex as view_as_complex, view_as_real as view_as_real, vmap as vmap, vsplit as vsplit,
    vstack as vstack, where as where, xlogy as xlogy, zeros as zeros, zeros_like as zeros_like,
)
from torch.linalg import (
    eig as eig, eigh as eigh, eigvals as eigvals, eigvalsh as eigvalsh, inv as inv, lstsq as lstsq,
    matrix_norm as matrix_norm, matrix_rank as matrix_rank, multi_dot as multi_dot, pinv as pinv,
    solve as solve, vector_norm as vector_norm,
)
from torch.nn.functional import (
    adaptive_avg_pool1d as adaptive_avg_pool1d, adaptive_avg_pool2d as adaptive_avg_pool2d,
    adaptive_avg_pool3d as adaptive_avg_pool3d, adaptive_max_pool1d as adaptive_max_pool1d,
    adaptive_max_pool2d as adaptive_max_pool2d, adaptive_max_pool3d as adaptive_max_pool3d,
    affine_grid as affine_grid, alpha_dropout as alpha_dropout, avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d, avg_pool3d as avg_pool3d, batch_norm as batch_norm, bilinear as bilinear,
    binary_cross_entropy as binary_cross_entropy,
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits, celu as celu,
    conv1d as conv1d, conv2d as conv2d, conv3d as conv3d, conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d, conv_transpose3d as conv_transpose3d,
    cosine_embedding_loss as cosine_embedding_loss, cosine_similarity as cosine_similarity,
    cross_entropy as cross_entropy, ctc_loss as ctc_loss, dropout as dropout, dropout1d as dropout1d,
    dropout2d as dropout2d, dropout3d as dropout3d, elu as elu, embedding as embedding,
    embedding_bag as embedding_bag, feature_alpha_dropout as feature_alpha_dropout, fold as fold,
    fractional_max_pool2d as fractional_max_pool2d, fractional_max_pool3d as fractional_max_pool3d,
    gaussian_nll_loss as gaussian_nll_loss, gelu as gelu, glu as glu, grid_sample as grid_sample,
    group_norm as group_norm, gumbel_softmax as gumbel_softmax, hardshrink as hardshrink,
    hardsigmoid as hardsigmoid, hardswish as hardswish, hardtanh as hardtanh,
    hinge_embedding_loss as hinge_embedding_loss, huber_loss as huber_loss,
    instance_norm as instance_norm, interpolate as interpolate, kl_div as kl_div, l1_loss as l1_loss,
    layer_norm as layer_norm, leaky_relu as leaky_relu, linear as linear,
    local_response_norm as local_response_norm, logsigmoid as logsigmoid, lp_pool1d as lp_pool1d,
    lp_pool2d as lp_pool2d, lp_pool3d as lp_pool3d, margin_ranking_loss as margin_ranking_loss,
    max_pool1d as max_pool1d, max_pool2d as max_pool2d, max_pool3d as max_pool3d,
    max_unpool1d as max_unpool1d, max_unpool2d as max_unpool2d, max_unpool3d as max_unpool3d,
    mish as mish, mse_loss as mse_loss, multi_margin_loss as multi_margin_loss,
    multilabel_margin_loss as multilabel_margin_loss,
    multilabel_soft_margin_loss as multilabel_soft_margin_loss, nll_loss as nll_loss,
    normalize as normalize, one_hot as one_hot, pad as pad, pairwise_distance as pairwise_distance,
    pdist as pdist, pixel_shuffle as pixel_shuffle, pixel_unshuffle as pixel_unshuffle,
    poisson_nll_loss as poisson_nll_loss, prelu as prelu, relu6 as relu6, rms_norm as rms_norm,
    rrelu as rrelu, scaled_dot_product_attention as scaled_dot_product_attention, selu as selu,
    silu as silu, smooth_l1_loss as smooth_l1_loss, soft_margin_loss as soft_margin_loss,
    softmin as softmin, softplus as softplus, softshrink as softshrink, softsign as softsign,
    tanhshrink as tanhshrink, threshold as threshold, triplet_margin_loss as triplet_margin_loss,
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss, unfold as unfold,
)
from torch.utils.dlpack import from_dlpack as from_dlpack, to_dlpack as to_dlpack  # type: ignore[attr-defined]

# once more, for checkers without the plugin: mypy takes the first definition of a name, the others the last
from simpletorch._plain import (  # type: ignore[assignment]
    Tensor as Tensor, CPUTensor as CPUTensor, CUDATensor as CUDATensor, MPSTensor as MPSTensor, Dim as Dim,
    Shaped as Shaped, Num as Num, Real as Real, Inexact as Inexact, Integer as Integer, Int as Int,
    UInt as UInt, Float as Float, Complex as Complex, Bool as Bool, Int8 as Int8, Int16 as Int16,
    Int32 as Int32, Int64 as Int64, UInt8 as UInt8, UInt16 as UInt16, UInt32 as UInt32, UInt64 as UInt64,
    Float16 as Float16, BFloat16 as BFloat16, Float32 as Float32, Float64 as Float64,
    Float8e4m3fn as Float8e4m3fn, Float8e5m2 as Float8e5m2, Complex64 as Complex64, Complex128 as Complex128,
)
