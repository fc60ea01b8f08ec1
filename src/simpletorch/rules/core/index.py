"""Which module has which rules. Written by ``python -m simpletorch.rules.core.families``."""

# fmt: off
from typing import Final

FUNCTIONS: Final = {
    "functions.communicating.collectives": (
        "torch.distributed.all_gather torch.distributed.all_gather_into_tensor torch.distributed.all_gather_single "
        "torch.distributed.all_to_all_single torch.distributed.gather torch.distributed.reduce_scatter "
        "torch.distributed.reduce_scatter_single torch.distributed.reduce_scatter_tensor torch.distributed.scatter "
    ),
    "functions.communicating.functional": (
        "simpletorch.distributed.all_gather simpletorch.distributed.all_reduce simpletorch.distributed.all_to_all "
        "simpletorch.distributed.broadcast simpletorch.distributed.gather simpletorch.distributed.reduce_scatter "
        "simpletorch.distributed.scatter torch.distributed._functional_collectives.all_gather_single "
        "torch.distributed._functional_collectives.all_gather_single_autograd "
        "torch.distributed._functional_collectives.all_gather_tensor "
        "torch.distributed._functional_collectives.all_gather_tensor_autograd "
        "torch.distributed._functional_collectives.all_reduce "
        "torch.distributed._functional_collectives.all_to_all_single "
        "torch.distributed._functional_collectives.all_to_all_single_autograd "
        "torch.distributed._functional_collectives.broadcast torch.distributed._functional_collectives.permute_tensor "
        "torch.distributed._functional_collectives.reduce_scatter_single "
        "torch.distributed._functional_collectives.reduce_scatter_single_autograd "
        "torch.distributed._functional_collectives.reduce_scatter_tensor "
        "torch.distributed._functional_collectives.reduce_scatter_tensor_autograd "
        "torch.distributed._functional_collectives.wait_tensor torch.distributed.nn.functional.all_gather "
        "torch.distributed.nn.functional.all_reduce torch.distributed.nn.functional.all_to_all_single "
        "torch.distributed.nn.functional.broadcast torch.distributed.nn.functional.gather "
        "torch.distributed.nn.functional.reduce torch.distributed.nn.functional.reduce_scatter "
        "torch.distributed.nn.functional.scatter "
    ),
    "functions.elementwise.activation": (
        "Tensor.hardshrink Tensor.log_softmax Tensor.prelu Tensor.relu Tensor.relu_ Tensor.softmax "
        "torch.alpha_dropout torch.alpha_dropout_ torch.celu torch.celu_ torch.dropout torch.dropout_ "
        "torch.feature_alpha_dropout torch.feature_alpha_dropout_ torch.feature_dropout torch.feature_dropout_ "
        "torch.hardshrink torch.log_softmax torch.native_dropout torch.nn.functional.alpha_dropout "
        "torch.nn.functional.celu torch.nn.functional.celu_ torch.nn.functional.dropout torch.nn.functional.dropout1d "
        "torch.nn.functional.dropout2d torch.nn.functional.dropout3d torch.nn.functional.elu torch.nn.functional.elu_ "
        "torch.nn.functional.feature_alpha_dropout torch.nn.functional.gelu torch.nn.functional.glu "
        "torch.nn.functional.gumbel_softmax torch.nn.functional.hardshrink torch.nn.functional.hardsigmoid "
        "torch.nn.functional.hardswish torch.nn.functional.hardtanh torch.nn.functional.hardtanh_ "
        "torch.nn.functional.leaky_relu torch.nn.functional.leaky_relu_ torch.nn.functional.log_softmax "
        "torch.nn.functional.logsigmoid torch.nn.functional.mish torch.nn.functional.prelu torch.nn.functional.relu "
        "torch.nn.functional.relu6 torch.nn.functional.relu_ torch.nn.functional.rrelu torch.nn.functional.rrelu_ "
        "torch.nn.functional.selu torch.nn.functional.selu_ torch.nn.functional.silu torch.nn.functional.softmax "
        "torch.nn.functional.softmin torch.nn.functional.softplus torch.nn.functional.softshrink "
        "torch.nn.functional.softsign torch.nn.functional.tanhshrink torch.nn.functional.threshold "
        "torch.nn.functional.threshold_ torch.prelu torch.relu torch.relu_ torch.rrelu torch.rrelu_ torch.selu "
        "torch.selu_ torch.softmax torch.special.log_softmax torch.special.softmax torch.threshold torch.threshold_ "
    ),
    "functions.elementwise.arithmetic": (
        "Tensor.__add__ Tensor.__div__ Tensor.__floordiv__ Tensor.__iadd__ Tensor.__idiv__ Tensor.__ifloordiv__ "
        "Tensor.__imod__ Tensor.__imul__ Tensor.__ipow__ Tensor.__isub__ Tensor.__itruediv__ Tensor.__mod__ "
        "Tensor.__mul__ Tensor.__pow__ Tensor.__radd__ Tensor.__rdiv__ Tensor.__rfloordiv__ Tensor.__rmod__ "
        "Tensor.__rmul__ Tensor.__rpow__ Tensor.__rsub__ Tensor.__rtruediv__ Tensor.__sub__ Tensor.__truediv__ "
        "Tensor.add Tensor.add_ Tensor.arctan2 Tensor.arctan2_ Tensor.atan2 Tensor.atan2_ Tensor.clamp Tensor.clamp_ "
        "Tensor.clamp_max Tensor.clamp_max_ Tensor.clamp_min Tensor.clamp_min_ Tensor.clip Tensor.clip_ "
        "Tensor.copysign Tensor.copysign_ Tensor.div Tensor.div_ Tensor.divide Tensor.divide_ Tensor.float_power "
        "Tensor.float_power_ Tensor.floor_divide Tensor.floor_divide_ Tensor.fmax Tensor.fmin Tensor.fmod "
        "Tensor.fmod_ Tensor.gcd Tensor.gcd_ Tensor.heaviside Tensor.heaviside_ Tensor.hypot Tensor.hypot_ "
        "Tensor.igamma Tensor.igamma_ Tensor.igammac Tensor.igammac_ Tensor.lcm Tensor.lcm_ Tensor.ldexp "
        "Tensor.ldexp_ Tensor.logaddexp Tensor.logaddexp2 Tensor.maximum Tensor.minimum Tensor.mul Tensor.mul_ "
        "Tensor.multiply Tensor.multiply_ Tensor.nextafter Tensor.nextafter_ Tensor.pow Tensor.pow_ Tensor.remainder "
        "Tensor.remainder_ Tensor.sub Tensor.sub_ Tensor.subtract Tensor.subtract_ Tensor.true_divide "
        "Tensor.true_divide_ Tensor.xlogy Tensor.xlogy_ torch.add torch.arctan2 torch.atan2 torch.clamp torch.clamp_ "
        "torch.clamp_max torch.clamp_max_ torch.clamp_min torch.clamp_min_ torch.clip torch.clip_ torch.copysign "
        "torch.div torch.divide torch.float_power torch.floor_divide torch.fmax torch.fmin torch.fmod torch.gcd "
        "torch.gcd_ torch.heaviside torch.hypot torch.igamma torch.igammac torch.lcm torch.lcm_ torch.ldexp "
        "torch.ldexp_ torch.logaddexp torch.logaddexp2 torch.maximum torch.minimum torch.mul torch.multiply "
        "torch.nextafter torch.pow torch.remainder torch.rsub torch.special.chebyshev_polynomial_t "
        "torch.special.chebyshev_polynomial_u torch.special.chebyshev_polynomial_v "
        "torch.special.chebyshev_polynomial_w torch.special.gammainc torch.special.gammaincc "
        "torch.special.hermite_polynomial_h torch.special.hermite_polynomial_he torch.special.laguerre_polynomial_l "
        "torch.special.legendre_polynomial_p torch.special.shifted_chebyshev_polynomial_t "
        "torch.special.shifted_chebyshev_polynomial_u torch.special.shifted_chebyshev_polynomial_v "
        "torch.special.shifted_chebyshev_polynomial_w torch.special.xlog1py torch.special.xlogy torch.special.zeta "
        "torch.sub torch.subtract torch.true_divide torch.xlogy torch.xlogy_ "
    ),
    "functions.elementwise.casting": (
        "Tensor.__reversed__ Tensor.apply_ Tensor.bfloat16 Tensor.bool Tensor.byte Tensor.cdouble Tensor.cfloat "
        "Tensor.chalf Tensor.char Tensor.clone Tensor.coalesce Tensor.contiguous Tensor.copy_ Tensor.cpu Tensor.cuda "
        "Tensor.data Tensor.detach Tensor.detach_ Tensor.double Tensor.float Tensor.half Tensor.int Tensor.long "
        "Tensor.map2_ Tensor.map_ Tensor.pin_memory Tensor.requires_grad_ Tensor.share_memory_ Tensor.short Tensor.to "
        "Tensor.to_dense Tensor.type Tensor.type_as Tensor.xpu torch.alias_copy torch.clone torch.detach "
        "torch.detach_ torch.detach_copy "
    ),
    "functions.elementwise.comparison": (
        "Tensor.__and__ Tensor.__eq__ Tensor.__ge__ Tensor.__gt__ Tensor.__iand__ Tensor.__ilshift__ Tensor.__ior__ "
        "Tensor.__irshift__ Tensor.__ixor__ Tensor.__le__ Tensor.__lshift__ Tensor.__lt__ Tensor.__ne__ Tensor.__or__ "
        "Tensor.__rand__ Tensor.__rlshift__ Tensor.__ror__ Tensor.__rrshift__ Tensor.__rshift__ Tensor.__rxor__ "
        "Tensor.__xor__ Tensor.allclose Tensor.bitwise_and Tensor.bitwise_and_ Tensor.bitwise_left_shift "
        "Tensor.bitwise_left_shift_ Tensor.bitwise_or Tensor.bitwise_or_ Tensor.bitwise_right_shift "
        "Tensor.bitwise_right_shift_ Tensor.bitwise_xor Tensor.bitwise_xor_ Tensor.eq Tensor.eq_ Tensor.equal "
        "Tensor.ge Tensor.ge_ Tensor.greater Tensor.greater_ Tensor.greater_equal Tensor.greater_equal_ Tensor.gt "
        "Tensor.gt_ Tensor.isclose Tensor.le Tensor.le_ Tensor.less Tensor.less_ Tensor.less_equal Tensor.less_equal_ "
        "Tensor.logical_and Tensor.logical_and_ Tensor.logical_or Tensor.logical_or_ Tensor.logical_xor "
        "Tensor.logical_xor_ Tensor.lt Tensor.lt_ Tensor.ne Tensor.ne_ Tensor.not_equal Tensor.not_equal_ "
        "torch.allclose torch.bitwise_and torch.bitwise_left_shift torch.bitwise_or torch.bitwise_right_shift "
        "torch.bitwise_xor torch.eq torch.equal torch.ge torch.greater torch.greater_equal torch.gt torch.isclose "
        "torch.isin torch.le torch.less torch.less_equal torch.logical_and torch.logical_or torch.logical_xor "
        "torch.lt torch.ne torch.not_equal "
    ),
    "functions.elementwise.elementwise": (
        "Tensor.__abs__ Tensor.__invert__ Tensor.__neg__ Tensor.__pos__ Tensor.abs Tensor.abs_ Tensor.absolute "
        "Tensor.absolute_ Tensor.acos Tensor.acos_ Tensor.acosh Tensor.acosh_ Tensor.angle Tensor.arccos "
        "Tensor.arccos_ Tensor.arccosh Tensor.arccosh_ Tensor.arcsin Tensor.arcsin_ Tensor.arcsinh Tensor.arcsinh_ "
        "Tensor.arctan Tensor.arctan_ Tensor.arctanh Tensor.arctanh_ Tensor.asin Tensor.asin_ Tensor.asinh "
        "Tensor.asinh_ Tensor.atan Tensor.atan_ Tensor.atanh Tensor.atanh_ Tensor.bitwise_not Tensor.bitwise_not_ "
        "Tensor.ceil Tensor.ceil_ Tensor.conj Tensor.conj_physical Tensor.conj_physical_ Tensor.cos Tensor.cos_ "
        "Tensor.cosh Tensor.cosh_ Tensor.deg2rad Tensor.deg2rad_ Tensor.digamma Tensor.digamma_ Tensor.erf "
        "Tensor.erf_ Tensor.erfc Tensor.erfc_ Tensor.erfinv Tensor.erfinv_ Tensor.exp Tensor.exp2 Tensor.exp2_ "
        "Tensor.exp_ Tensor.expm1 Tensor.expm1_ Tensor.fix Tensor.fix_ Tensor.floor Tensor.floor_ Tensor.frac "
        "Tensor.frac_ Tensor.frexp Tensor.i0 Tensor.i0_ Tensor.imag Tensor.isfinite Tensor.isinf Tensor.isnan "
        "Tensor.isneginf Tensor.isposinf Tensor.isreal Tensor.lgamma Tensor.lgamma_ Tensor.log Tensor.log10 "
        "Tensor.log10_ Tensor.log1p Tensor.log1p_ Tensor.log2 Tensor.log2_ Tensor.log_ Tensor.logical_not "
        "Tensor.logical_not_ Tensor.logit Tensor.logit_ Tensor.mvlgamma Tensor.mvlgamma_ Tensor.nan_to_num "
        "Tensor.nan_to_num_ Tensor.neg Tensor.neg_ Tensor.negative Tensor.negative_ Tensor.polygamma "
        "Tensor.polygamma_ Tensor.positive Tensor.rad2deg Tensor.rad2deg_ Tensor.real Tensor.reciprocal "
        "Tensor.reciprocal_ Tensor.resolve_conj Tensor.resolve_neg Tensor.round Tensor.round_ Tensor.rsqrt "
        "Tensor.rsqrt_ Tensor.sgn Tensor.sgn_ Tensor.sigmoid Tensor.sigmoid_ Tensor.sign Tensor.sign_ Tensor.signbit "
        "Tensor.sin Tensor.sin_ Tensor.sinc Tensor.sinc_ Tensor.sinh Tensor.sinh_ Tensor.sqrt Tensor.sqrt_ "
        "Tensor.square Tensor.square_ Tensor.tan Tensor.tan_ Tensor.tanh Tensor.tanh_ Tensor.trunc Tensor.trunc_ "
        "torch.abs torch.abs_ torch.absolute torch.acos torch.acos_ torch.acosh torch.acosh_ torch.angle torch.arccos "
        "torch.arccos_ torch.arccosh torch.arccosh_ torch.arcsin torch.arcsin_ torch.arcsinh torch.arcsinh_ "
        "torch.arctan torch.arctan_ torch.arctanh torch.arctanh_ torch.asin torch.asin_ torch.asinh torch.asinh_ "
        "torch.atan torch.atan_ torch.atanh torch.atanh_ torch.bitwise_not torch.ceil torch.ceil_ torch.conj "
        "torch.conj_physical torch.conj_physical_ torch.cos torch.cos_ torch.cosh torch.cosh_ torch.deg2rad "
        "torch.deg2rad_ torch.digamma torch.erf torch.erf_ torch.erfc torch.erfc_ torch.erfinv torch.exp torch.exp2 "
        "torch.exp2_ torch.exp_ torch.expm1 torch.expm1_ torch.fix torch.fix_ torch.floor torch.floor_ torch.frac "
        "torch.frac_ torch.frexp torch.i0 torch.i0_ torch.imag torch.isfinite torch.isinf torch.isnan torch.isneginf "
        "torch.isposinf torch.isreal torch.lgamma torch.log torch.log10 torch.log10_ torch.log1p torch.log1p_ "
        "torch.log2 torch.log2_ torch.log_ torch.logical_not torch.logit torch.logit_ torch.mvlgamma torch.nan_to_num "
        "torch.nan_to_num_ torch.neg torch.neg_ torch.negative torch.negative_ torch.nn.functional.sigmoid "
        "torch.nn.functional.tanh torch.polygamma torch.positive torch.rad2deg torch.rad2deg_ torch.real "
        "torch.reciprocal torch.reciprocal_ torch.resolve_conj torch.resolve_neg torch.round torch.round_ torch.rsqrt "
        "torch.rsqrt_ torch.sgn torch.sigmoid torch.sigmoid_ torch.sign torch.signbit torch.sin torch.sin_ torch.sinc "
        "torch.sinc_ torch.sinh torch.sinh_ torch.special.airy_ai torch.special.bessel_j0 torch.special.bessel_j1 "
        "torch.special.bessel_y0 torch.special.bessel_y1 torch.special.digamma torch.special.entr torch.special.erf "
        "torch.special.erfc torch.special.erfcx torch.special.erfinv torch.special.exp2 torch.special.expit "
        "torch.special.expm1 torch.special.gammaln torch.special.i0 torch.special.i0e torch.special.i1 "
        "torch.special.i1e torch.special.log1p torch.special.log_ndtr torch.special.logit "
        "torch.special.modified_bessel_i0 torch.special.modified_bessel_i1 torch.special.modified_bessel_k0 "
        "torch.special.modified_bessel_k1 torch.special.multigammaln torch.special.ndtr torch.special.ndtri "
        "torch.special.polygamma torch.special.psi torch.special.round torch.special.scaled_modified_bessel_k0 "
        "torch.special.scaled_modified_bessel_k1 torch.special.sinc torch.special.spherical_bessel_j0 torch.sqrt "
        "torch.sqrt_ torch.square torch.square_ torch.tan torch.tan_ torch.tanh torch.tanh_ torch.trunc torch.trunc_ "
    ),
    "functions.elementwise.ternary": (
        "Tensor.addcdiv Tensor.addcdiv_ Tensor.addcmul Tensor.addcmul_ Tensor.lerp Tensor.lerp_ Tensor.where "
        "torch.addcdiv torch.addcmul torch.lerp torch.where "
    ),
    "functions.gradients": (
        "Tensor.backward torch.autograd.backward torch.autograd.grad torch.nn.utils.clip_grad.clip_grad_norm_ "
        "torch.nn.utils.clip_grad_norm_ torch.nn.utils.convert_parameters.parameters_to_vector "
        "torch.nn.utils.parameters_to_vector "
    ),
    "functions.indexing.gathering": (
        "Tensor.argwhere Tensor.gather Tensor.index_select Tensor.masked_select Tensor.nonzero Tensor.nonzero_static "
        "Tensor.take Tensor.take_along_dim torch.argwhere torch.functional.unravel_index torch.gather "
        "torch.index_select torch.masked_select torch.nonzero torch.nonzero_static torch.take torch.take_along_dim "
        "torch.unravel_index "
    ),
    "functions.indexing.indexing": (
        "Tensor.__contains__ Tensor.__getitem__ Tensor.__iter__ Tensor.__len__ Tensor.__setitem__ "
    ),
    "functions.indexing.scattering": (
        "Tensor.diagonal_scatter Tensor.index_add Tensor.index_add_ Tensor.index_copy Tensor.index_copy_ "
        "Tensor.index_fill Tensor.index_fill_ Tensor.index_put Tensor.index_put_ Tensor.index_reduce "
        "Tensor.index_reduce_ Tensor.masked_fill Tensor.masked_fill_ Tensor.masked_scatter Tensor.masked_scatter_ "
        "Tensor.put Tensor.put_ Tensor.scatter Tensor.scatter_ Tensor.scatter_add Tensor.scatter_add_ "
        "Tensor.scatter_reduce Tensor.scatter_reduce_ Tensor.select_scatter Tensor.slice_scatter "
        "torch.diagonal_scatter torch.index_add torch.index_copy torch.index_fill torch.index_put torch.index_put_ "
        "torch.index_reduce torch.masked_fill torch.masked_scatter torch.put torch.scatter torch.scatter_add "
        "torch.scatter_reduce torch.select_scatter torch.slice_scatter "
    ),
    "functions.inspecting": (
        "Tensor.__bool__ Tensor.__complex__ Tensor.__float__ Tensor.__index__ Tensor.__int__ Tensor.data_ptr "
        "Tensor.device Tensor.dim Tensor.dim_order Tensor.dtype Tensor.element_size Tensor.get_device "
        "Tensor.is_complex Tensor.is_conj Tensor.is_contiguous Tensor.is_cpu Tensor.is_cuda Tensor.is_floating_point "
        "Tensor.is_inference Tensor.is_leaf Tensor.is_meta Tensor.is_mps Tensor.is_neg Tensor.is_nested "
        "Tensor.is_nonzero Tensor.is_pinned Tensor.is_quantized Tensor.is_same_size Tensor.is_set_to Tensor.is_shared "
        "Tensor.is_signed Tensor.is_sparse Tensor.is_xpu Tensor.item Tensor.itemsize Tensor.nbytes Tensor.ndim "
        "Tensor.ndimension Tensor.nelement Tensor.numel Tensor.output_nr Tensor.requires_grad Tensor.shape "
        "Tensor.size Tensor.storage_offset Tensor.stride Tensor.tolist torch.get_device torch.is_complex "
        "torch.is_conj torch.is_floating_point torch.is_inference torch.is_neg torch.is_nonzero torch.is_same_size "
        "torch.is_signed torch.is_tensor torch.numel torch.promote_types torch.result_type "
    ),
    "functions.linear_algebra.decompositions": (
        "Tensor.cholesky Tensor.cholesky_inverse Tensor.geqrf Tensor.lu Tensor.orgqr Tensor.ormqr Tensor.qr "
        "Tensor.svd torch.cholesky torch.cholesky_inverse torch.geqrf torch.linalg.cholesky torch.linalg.cholesky_ex "
        "torch.linalg.eig torch.linalg.eigh torch.linalg.eigvals torch.linalg.eigvalsh "
        "torch.linalg.householder_product torch.linalg.ldl_factor torch.linalg.ldl_factor_ex torch.linalg.lu "
        "torch.linalg.lu_factor torch.linalg.lu_factor_ex torch.linalg.qr torch.linalg.svd torch.linalg.svdvals "
        "torch.lu torch.lu_unpack torch.orgqr torch.ormqr torch.pca_lowrank torch.qr torch.svd torch.svd_lowrank "
    ),
    "functions.linear_algebra.diagonals": (
        "Tensor.diag Tensor.diag_embed Tensor.diagflat Tensor.diagonal Tensor.fill_diagonal_ Tensor.trace Tensor.tril "
        "Tensor.tril_ Tensor.triu Tensor.triu_ torch.diag torch.diag_embed torch.diagflat torch.diagonal "
        "torch.diagonal_copy torch.linalg.diagonal torch.trace torch.tril torch.triu "
    ),
    "functions.linear_algebra.einsum": (
        "torch.einsum "
    ),
    "functions.linear_algebra.linalg": (
        "Tensor.det Tensor.inverse Tensor.logdet Tensor.matrix_exp Tensor.matrix_power Tensor.pinverse Tensor.slogdet "
        "torch.det torch.inverse torch.linalg.det torch.linalg.inv torch.linalg.inv_ex torch.linalg.matrix_exp "
        "torch.linalg.matrix_power torch.linalg.matrix_rank torch.linalg.pinv torch.linalg.slogdet "
        "torch.linalg.vander torch.logdet torch.matrix_exp torch.matrix_power torch.pinverse torch.slogdet "
        "torch.vander "
    ),
    "functions.linear_algebra.matmul": (
        "Tensor.__matmul__ Tensor.__rmatmul__ Tensor.matmul Tensor.mm torch.linalg.matmul torch.matmul torch.mm "
    ),
    "functions.linear_algebra.products": (
        "Tensor.addbmm Tensor.addbmm_ Tensor.addmm Tensor.addmm_ Tensor.addmv Tensor.addmv_ Tensor.addr Tensor.addr_ "
        "Tensor.baddbmm Tensor.baddbmm_ Tensor.bmm Tensor.cross Tensor.dot Tensor.ger Tensor.inner Tensor.kron "
        "Tensor.mv Tensor.outer Tensor.vdot torch.addbmm torch.addmm torch.addmv torch.addmv_ torch.addr "
        "torch.baddbmm torch.bmm torch.chain_matmul torch.cross torch.dot torch.ger torch.inner torch.kron "
        "torch.linalg.cross torch.linalg.multi_dot torch.linalg.vecdot torch.mv torch.outer torch.tensordot "
        "torch.vdot "
    ),
    "functions.linear_algebra.solve": (
        "Tensor.cholesky_solve Tensor.lu_solve Tensor.triangular_solve torch.cholesky_solve torch.linalg.ldl_solve "
        "torch.linalg.lstsq torch.linalg.lu_solve torch.linalg.solve torch.linalg.solve_ex "
        "torch.linalg.solve_triangular torch.linalg.tensorinv torch.linalg.tensorsolve torch.lu_solve "
        "torch.triangular_solve "
    ),
    "functions.making.creation": (
        "Tensor.new_empty Tensor.new_empty_strided Tensor.new_full Tensor.new_ones Tensor.new_zeros torch.empty "
        "torch.empty_like torch.empty_permuted torch.empty_strided torch.eye torch.full torch.full_like torch.ones "
        "torch.ones_like torch.rand torch.rand_like torch.randint torch.randint_like torch.randn torch.randn_like "
        "torch.randperm torch.scalar_tensor torch.zeros torch.zeros_like "
    ),
    "functions.making.data": (
        "Tensor.new_tensor torch.BFloat16Tensor torch.BoolTensor torch.ByteTensor torch.CharTensor torch.DoubleTensor "
        "torch.FloatTensor torch.HalfTensor torch.IntTensor torch.LongTensor torch.ShortTensor torch.Tensor "
        "torch.as_tensor torch.asarray torch.complex torch.from_dlpack torch.from_numpy torch.frombuffer torch.polar "
        "torch.tensor torch.utils.dlpack.from_dlpack "
    ),
    "functions.making.grids": (
        "torch.cartesian_prod torch.combinations torch.functional.cartesian_prod torch.functional.meshgrid "
        "torch.meshgrid "
    ),
    "functions.making.random": (
        "Tensor.bernoulli Tensor.bernoulli_ Tensor.cauchy_ Tensor.exponential_ Tensor.fill_ Tensor.geometric_ "
        "Tensor.log_normal_ Tensor.multinomial Tensor.normal_ Tensor.random_ Tensor.uniform_ Tensor.zero_ "
        "torch.bernoulli torch.binomial torch.fill torch.fill_ torch.multinomial torch.nn.init.constant_ "
        "torch.nn.init.dirac_ torch.nn.init.eye_ torch.nn.init.kaiming_normal_ torch.nn.init.kaiming_uniform_ "
        "torch.nn.init.normal_ torch.nn.init.ones_ torch.nn.init.orthogonal_ torch.nn.init.sparse_ "
        "torch.nn.init.trunc_normal_ torch.nn.init.uniform_ torch.nn.init.xavier_normal_ "
        "torch.nn.init.xavier_uniform_ torch.nn.init.zeros_ torch.normal torch.poisson torch.zero_ "
    ),
    "functions.making.ranges": (
        "torch.arange torch.linspace torch.logspace torch.nn.Transformer.generate_square_subsequent_mask torch.range "
        "torch.tril_indices torch.triu_indices "
    ),
    "functions.networks.adaptive_pooling": (
        "torch.adaptive_avg_pool1d torch.adaptive_max_pool1d torch.nn.functional.adaptive_avg_pool1d "
        "torch.nn.functional.adaptive_avg_pool2d torch.nn.functional.adaptive_avg_pool3d "
        "torch.nn.functional.adaptive_max_pool1d torch.nn.functional.adaptive_max_pool1d_with_indices "
        "torch.nn.functional.adaptive_max_pool2d torch.nn.functional.adaptive_max_pool2d_with_indices "
        "torch.nn.functional.adaptive_max_pool3d torch.nn.functional.adaptive_max_pool3d_with_indices "
        "torch.nn.functional.fractional_max_pool2d torch.nn.functional.fractional_max_pool2d_with_indices "
        "torch.nn.functional.fractional_max_pool3d torch.nn.functional.fractional_max_pool3d_with_indices "
        "torch.nn.functional.max_unpool1d torch.nn.functional.max_unpool2d torch.nn.functional.max_unpool3d "
    ),
    "functions.networks.attention": (
        "torch.nn.functional.multi_head_attention_forward torch.nn.functional.scaled_dot_product_attention "
    ),
    "functions.networks.class_losses": (
        "torch.ctc_loss torch.nn.functional.cosine_embedding_loss torch.nn.functional.cross_entropy "
        "torch.nn.functional.ctc_loss torch.nn.functional.linear_cross_entropy "
        "torch.nn.functional.margin_ranking_loss torch.nn.functional.multi_margin_loss "
        "torch.nn.functional.multilabel_margin_loss torch.nn.functional.nll_loss "
        "torch.nn.functional.triplet_margin_loss torch.nn.functional.triplet_margin_with_distance_loss "
    ),
    "functions.networks.convolution": (
        "torch.conv1d torch.conv2d torch.conv3d torch.conv_tbc torch.conv_transpose1d torch.conv_transpose2d "
        "torch.conv_transpose3d torch.convolution torch.nn.functional.conv1d torch.nn.functional.conv2d "
        "torch.nn.functional.conv3d torch.nn.functional.conv_tbc torch.nn.functional.conv_transpose1d "
        "torch.nn.functional.conv_transpose2d torch.nn.functional.conv_transpose3d "
    ),
    "functions.networks.embedding": (
        "torch.embedding torch.embedding_bag torch.nn.functional.embedding torch.nn.functional.embedding_bag "
        "torch.nn.functional.one_hot "
    ),
    "functions.networks.linear": (
        "torch.bilinear torch.nn.functional.bilinear torch.nn.functional.linear "
    ),
    "functions.networks.losses": (
        "torch.nn.functional.binary_cross_entropy torch.nn.functional.binary_cross_entropy_with_logits "
        "torch.nn.functional.gaussian_nll_loss torch.nn.functional.hinge_embedding_loss "
        "torch.nn.functional.huber_loss torch.nn.functional.kl_div torch.nn.functional.l1_loss "
        "torch.nn.functional.mse_loss torch.nn.functional.multilabel_soft_margin_loss "
        "torch.nn.functional.poisson_nll_loss torch.nn.functional.smooth_l1_loss torch.nn.functional.soft_margin_loss "
    ),
    "functions.networks.normalization": (
        "torch.batch_norm torch.group_norm torch.instance_norm torch.layer_norm torch.native_batch_norm "
        "torch.native_group_norm torch.native_layer_norm torch.nn.functional.batch_norm "
        "torch.nn.functional.group_norm torch.nn.functional.instance_norm torch.nn.functional.layer_norm "
        "torch.nn.functional.local_response_norm torch.nn.functional.normalize torch.nn.functional.rms_norm "
        "torch.rms_norm "
    ),
    "functions.networks.padding": (
        "torch.constant_pad_nd torch.nn.functional.pad "
    ),
    "functions.networks.pooling": (
        "torch.avg_pool1d torch.max_pool1d torch.max_pool1d_with_indices torch.max_pool2d torch.max_pool3d "
        "torch.nn.functional.avg_pool1d torch.nn.functional.avg_pool2d torch.nn.functional.avg_pool3d "
        "torch.nn.functional.lp_pool1d torch.nn.functional.lp_pool2d torch.nn.functional.lp_pool3d "
        "torch.nn.functional.max_pool1d torch.nn.functional.max_pool1d_with_indices torch.nn.functional.max_pool2d "
        "torch.nn.functional.max_pool2d_with_indices torch.nn.functional.max_pool3d "
        "torch.nn.functional.max_pool3d_with_indices "
    ),
    "functions.networks.recurrent": (
        "torch.gru torch.lstm torch.rnn_relu torch.rnn_tanh "
    ),
    "functions.networks.recurrent_cells": (
        "torch.gru_cell torch.lstm_cell torch.rnn_relu_cell torch.rnn_tanh_cell "
    ),
    "functions.networks.resampling": (
        "torch.affine_grid_generator torch.channel_shuffle torch.grid_sampler torch.grid_sampler_2d "
        "torch.grid_sampler_3d torch.native_channel_shuffle torch.nn.functional.affine_grid "
        "torch.nn.functional.channel_shuffle torch.nn.functional.grid_sample torch.nn.functional.interpolate "
        "torch.nn.functional.native_channel_shuffle torch.nn.functional.pixel_shuffle "
        "torch.nn.functional.pixel_unshuffle torch.nn.functional.upsample torch.nn.functional.upsample_bilinear "
        "torch.nn.functional.upsample_nearest torch.pixel_shuffle torch.pixel_unshuffle "
    ),
    "functions.networks.sequences": (
        "torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence "
        "torch.nn.utils.rnn.pad_packed_sequence torch.nn.utils.rnn.pad_sequence "
    ),
    "functions.networks.sliding_blocks": (
        "torch.nn.functional.fold torch.nn.functional.unfold "
    ),
    "functions.reducing.covariance": (
        "Tensor.corrcoef Tensor.cov torch.corrcoef torch.cov "
    ),
    "functions.reducing.cumulative": (
        "Tensor.cummax Tensor.cummin Tensor.cumprod Tensor.cumprod_ Tensor.cumsum Tensor.cumsum_ Tensor.logcumsumexp "
        "torch.cummax torch.cummin torch.cumprod torch.cumsum torch.logcumsumexp "
    ),
    "functions.reducing.differences": (
        "Tensor.diff torch.cumulative_trapezoid torch.diff torch.gradient torch.trapezoid torch.trapz "
    ),
    "functions.reducing.distance": (
        "torch.cosine_similarity torch.nn.functional.cosine_similarity torch.nn.functional.pairwise_distance "
        "torch.nn.functional.pdist torch.pairwise_distance torch.pdist "
    ),
    "functions.reducing.masked": (
        "torch.masked.amax torch.masked.amin torch.masked.argmax torch.masked.argmin torch.masked.cumprod "
        "torch.masked.cumsum torch.masked.log_softmax torch.masked.logaddexp torch.masked.logsumexp torch.masked.mean "
        "torch.masked.median torch.masked.norm torch.masked.normalize torch.masked.prod torch.masked.softmax "
        "torch.masked.softmin torch.masked.std torch.masked.sum torch.masked.var "
    ),
    "functions.reducing.norms": (
        "Tensor.dist Tensor.norm Tensor.renorm Tensor.renorm_ torch.cdist torch.dist torch.frobenius_norm "
        "torch.linalg.cond torch.linalg.matrix_norm torch.linalg.norm torch.linalg.vector_norm torch.norm "
        "torch.nuclear_norm torch.renorm "
    ),
    "functions.reducing.reduction": (
        "Tensor.all Tensor.amax Tensor.amin Tensor.aminmax Tensor.any Tensor.argmax Tensor.argmin "
        "Tensor.count_nonzero Tensor.hash_tensor Tensor.logsumexp Tensor.max Tensor.mean Tensor.median Tensor.min "
        "Tensor.mode Tensor.nanmean Tensor.nanmedian Tensor.nanquantile Tensor.nansum Tensor.prod Tensor.quantile "
        "Tensor.std Tensor.sum Tensor.var torch.all torch.amax torch.amin torch.aminmax torch.any torch.argmax "
        "torch.argmin torch.count_nonzero torch.hash_tensor torch.logsumexp torch.max torch.mean torch.median "
        "torch.min torch.mode torch.nanmean torch.nanmedian torch.nanquantile torch.nansum torch.prod torch.quantile "
        "torch.special.logsumexp torch.std torch.std_mean torch.sum torch.var torch.var_mean "
    ),
    "functions.reducing.sorting": (
        "Tensor.argsort Tensor.bincount Tensor.histc Tensor.histogram Tensor.kthvalue Tensor.msort Tensor.sort "
        "Tensor.topk Tensor.unique Tensor.unique_consecutive torch.argsort torch.bincount torch.bucketize torch.histc "
        "torch.histogram torch.histogramdd torch.kthvalue torch.msort torch.searchsorted torch.sort torch.topk "
        "torch.unique torch.unique_consecutive "
    ),
    "functions.shaping.einops": (
        "einops.einops.parse_shape einops.einops.rearrange einops.einops.reduce einops.einops.repeat "
        "einops.parse_shape einops.rearrange einops.reduce einops.repeat "
    ),
    "functions.shaping.expanding": (
        "Tensor.broadcast_to Tensor.expand Tensor.expand_as Tensor.repeat Tensor.repeat_interleave Tensor.sum_to_size "
        "Tensor.tile torch.broadcast_shapes torch.broadcast_tensors torch.broadcast_to torch.expand_copy "
        "torch.functional.broadcast_shapes torch.functional.broadcast_tensors torch.repeat_interleave torch.tile "
    ),
    "functions.shaping.joining": (
        "torch.block_diag torch.cat torch.column_stack torch.concat torch.concatenate torch.dstack "
        "torch.functional.block_diag torch.hstack torch.row_stack torch.stack torch.vstack "
    ),
    "functions.shaping.movement": (
        "Tensor.H Tensor.T Tensor.adjoint Tensor.flip Tensor.fliplr Tensor.flipud Tensor.mH Tensor.mT Tensor.moveaxis "
        "Tensor.movedim Tensor.narrow Tensor.narrow_copy Tensor.permute Tensor.roll Tensor.rot90 Tensor.select "
        "Tensor.swapaxes Tensor.swapaxes_ Tensor.swapdims Tensor.swapdims_ Tensor.t Tensor.t_ Tensor.transpose "
        "Tensor.transpose_ Tensor.unfold torch.adjoint torch.flip torch.fliplr torch.flipud torch.moveaxis "
        "torch.movedim torch.narrow torch.narrow_copy torch.permute torch.permute_copy torch.roll torch.rot90 "
        "torch.select torch.select_copy torch.slice_copy torch.swapaxes torch.swapdims torch.t torch.t_copy "
        "torch.transpose torch.transpose_copy torch.unfold_copy "
    ),
    "functions.shaping.packing": (
        "einops.einops.einsum einops.einsum einops.pack einops.packing.pack einops.packing.unpack einops.unpack "
    ),
    "functions.shaping.reshaping": (
        "Tensor.flatten Tensor.ravel Tensor.reshape Tensor.reshape_as Tensor.squeeze Tensor.squeeze_ Tensor.unflatten "
        "Tensor.unsqueeze Tensor.unsqueeze_ Tensor.view Tensor.view_as torch.atleast_1d torch.atleast_2d "
        "torch.atleast_3d torch.flatten torch.ravel torch.reshape torch.squeeze torch.squeeze_copy torch.unflatten "
        "torch.unsqueeze torch.unsqueeze_copy torch.view_as_complex torch.view_as_complex_copy torch.view_as_real "
        "torch.view_as_real_copy torch.view_copy "
    ),
    "functions.shaping.splitting": (
        "Tensor.chunk Tensor.dsplit Tensor.hsplit Tensor.split Tensor.split_with_sizes Tensor.tensor_split "
        "Tensor.unbind Tensor.unsafe_chunk Tensor.unsafe_split Tensor.unsafe_split_with_sizes Tensor.vsplit "
        "torch.chunk torch.dsplit torch.functional.split torch.hsplit torch.split torch.split_copy "
        "torch.split_with_sizes torch.split_with_sizes_copy torch.tensor_split torch.unbind torch.unbind_copy "
        "torch.unsafe_chunk torch.unsafe_split torch.unsafe_split_with_sizes torch.vsplit "
    ),
    "functions.shaping.strided": (
        "Tensor.as_strided Tensor.as_strided_ Tensor.as_strided_scatter Tensor.resize Tensor.resize_ Tensor.resize_as "
        "Tensor.resize_as_ torch.as_strided torch.as_strided_ torch.as_strided_copy torch.as_strided_scatter "
        "torch.resize_as_ "
    ),
    "functions.signal.fft": (
        "torch.fft.fft torch.fft.fft2 torch.fft.fftfreq torch.fft.fftn torch.fft.fftshift torch.fft.hfft "
        "torch.fft.hfft2 torch.fft.hfftn torch.fft.ifft torch.fft.ifft2 torch.fft.ifftn torch.fft.ifftshift "
        "torch.fft.ihfft torch.fft.ihfft2 torch.fft.ihfftn torch.fft.irfft torch.fft.irfft2 torch.fft.irfftn "
        "torch.fft.rfft torch.fft.rfft2 torch.fft.rfftfreq torch.fft.rfftn "
    ),
    "functions.signal.short_time": (
        "Tensor.istft Tensor.stft torch.istft torch.stft "
    ),
    "functions.signal.windows": (
        "torch.bartlett_window torch.blackman_window torch.hamming_window torch.hann_window torch.kaiser_window "
        "torch.signal.windows.bartlett torch.signal.windows.blackman torch.signal.windows.cosine "
        "torch.signal.windows.exponential torch.signal.windows.gaussian torch.signal.windows.general_cosine "
        "torch.signal.windows.general_hamming torch.signal.windows.hamming torch.signal.windows.hann "
        "torch.signal.windows.kaiser torch.signal.windows.nuttall "
    ),
}
LAYERS: Final = {
    "layers.activation": (
        "torch.nn.AlphaDropout torch.nn.CELU torch.nn.Dropout torch.nn.Dropout1d torch.nn.Dropout2d "
        "torch.nn.Dropout3d torch.nn.ELU torch.nn.FeatureAlphaDropout torch.nn.GELU torch.nn.GLU torch.nn.Hardshrink "
        "torch.nn.Hardsigmoid torch.nn.Hardswish torch.nn.Hardtanh torch.nn.Identity torch.nn.LeakyReLU "
        "torch.nn.LogSigmoid torch.nn.LogSoftmax torch.nn.Mish torch.nn.PReLU torch.nn.RReLU torch.nn.ReLU "
        "torch.nn.ReLU6 torch.nn.SELU torch.nn.SiLU torch.nn.Sigmoid torch.nn.Softmax torch.nn.Softmax2d "
        "torch.nn.Softmin torch.nn.Softplus torch.nn.Softshrink torch.nn.Softsign torch.nn.Tanh torch.nn.Tanhshrink "
        "torch.nn.Threshold "
    ),
    "layers.adaptive_pooling": (
        "torch.nn.AdaptiveAvgPool1d torch.nn.AdaptiveAvgPool2d torch.nn.AdaptiveAvgPool3d torch.nn.AdaptiveMaxPool1d "
        "torch.nn.AdaptiveMaxPool2d torch.nn.AdaptiveMaxPool3d torch.nn.FractionalMaxPool2d "
        "torch.nn.FractionalMaxPool3d torch.nn.MaxUnpool1d torch.nn.MaxUnpool2d torch.nn.MaxUnpool3d "
    ),
    "layers.attention": (
        "torch.nn.MultiheadAttention "
    ),
    "layers.class_losses": (
        "torch.nn.AdaptiveLogSoftmaxWithLoss torch.nn.CTCLoss torch.nn.CosineEmbeddingLoss torch.nn.CrossEntropyLoss "
        "torch.nn.LinearCrossEntropyLoss torch.nn.MarginRankingLoss torch.nn.MultiLabelMarginLoss "
        "torch.nn.MultiMarginLoss torch.nn.NLLLoss torch.nn.TripletMarginLoss torch.nn.TripletMarginWithDistanceLoss "
    ),
    "layers.convolution": (
        "torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d torch.nn.ConvTranspose2d "
        "torch.nn.ConvTranspose3d torch.nn.LazyConv1d torch.nn.LazyConv2d torch.nn.LazyConv3d "
        "torch.nn.LazyConvTranspose1d torch.nn.LazyConvTranspose2d torch.nn.LazyConvTranspose3d "
    ),
    "layers.distance": (
        "torch.nn.CosineSimilarity torch.nn.PairwiseDistance "
    ),
    "layers.einops": (
        "einops.layers.torch.Rearrange einops.layers.torch.Reduce "
    ),
    "layers.embedding": (
        "torch.nn.Embedding torch.nn.EmbeddingBag "
    ),
    "layers.linear": (
        "torch.nn.Bilinear torch.nn.LazyLinear torch.nn.Linear "
    ),
    "layers.losses": (
        "torch.nn.BCELoss torch.nn.BCEWithLogitsLoss torch.nn.GaussianNLLLoss torch.nn.HingeEmbeddingLoss "
        "torch.nn.HuberLoss torch.nn.KLDivLoss torch.nn.L1Loss torch.nn.MSELoss torch.nn.MultiLabelSoftMarginLoss "
        "torch.nn.PoissonNLLLoss torch.nn.SmoothL1Loss torch.nn.SoftMarginLoss "
    ),
    "layers.normalization": (
        "torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d torch.nn.CrossMapLRN2d torch.nn.GroupNorm "
        "torch.nn.InstanceNorm1d torch.nn.InstanceNorm2d torch.nn.InstanceNorm3d torch.nn.LayerNorm "
        "torch.nn.LazyBatchNorm1d torch.nn.LazyBatchNorm2d torch.nn.LazyBatchNorm3d torch.nn.LazyInstanceNorm1d "
        "torch.nn.LazyInstanceNorm2d torch.nn.LazyInstanceNorm3d torch.nn.LocalResponseNorm torch.nn.RMSNorm "
        "torch.nn.SyncBatchNorm "
    ),
    "layers.padding": (
        "torch.nn.CircularPad1d torch.nn.CircularPad2d torch.nn.CircularPad3d torch.nn.ConstantPad1d "
        "torch.nn.ConstantPad2d torch.nn.ConstantPad3d torch.nn.ReflectionPad1d torch.nn.ReflectionPad2d "
        "torch.nn.ReflectionPad3d torch.nn.ReplicationPad1d torch.nn.ReplicationPad2d torch.nn.ReplicationPad3d "
        "torch.nn.ZeroPad1d torch.nn.ZeroPad2d torch.nn.ZeroPad3d "
    ),
    "layers.pooling": (
        "torch.nn.AvgPool1d torch.nn.AvgPool2d torch.nn.AvgPool3d torch.nn.LPPool1d torch.nn.LPPool2d "
        "torch.nn.LPPool3d torch.nn.MaxPool1d torch.nn.MaxPool2d torch.nn.MaxPool3d "
    ),
    "layers.recurrent": (
        "torch.nn.GRU torch.nn.LSTM torch.nn.RNN "
    ),
    "layers.recurrent_cells": (
        "torch.nn.GRUCell torch.nn.LSTMCell torch.nn.RNNCell "
    ),
    "layers.resampling": (
        "torch.nn.ChannelShuffle torch.nn.PixelShuffle torch.nn.PixelUnshuffle torch.nn.Upsample "
        "torch.nn.UpsamplingBilinear2d torch.nn.UpsamplingNearest2d "
    ),
    "layers.reshaping": (
        "torch.nn.Flatten torch.nn.Unflatten "
    ),
    "layers.sliding_blocks": (
        "torch.nn.Fold torch.nn.Unfold "
    ),
    "layers.transformer": (
        "torch.nn.Transformer torch.nn.TransformerDecoder torch.nn.TransformerDecoderLayer "
        "torch.nn.TransformerEncoder torch.nn.TransformerEncoderLayer "
    ),
}
