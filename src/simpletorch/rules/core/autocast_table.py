"""The operations whose operands autocast casts. Written by ``python -m tests.oracle.autocast``.

An operation that is in none of the sets is left alone."""

# fmt: off
# ruff: noqa: SIM905
from typing import Literal

TABLE: dict[str, dict[Literal["lower", "float32", "widest", "unknown"], frozenset[str]]] = {
    "cuda": {
        "lower": frozenset("""
    Tensor.__matmul__ Tensor.__rmatmul__ Tensor.addbmm Tensor.addmm Tensor.addmv Tensor.addr Tensor.baddbmm
    Tensor.bmm Tensor.matmul Tensor.mm Tensor.mv Tensor.prelu torch.addbmm torch.addmm torch.addmv torch.addr
    torch.baddbmm torch.bmm torch.conv1d torch.conv2d torch.conv3d torch.conv_transpose1d torch.conv_transpose2d
    torch.conv_transpose3d torch.einsum torch.linalg.matmul torch.linalg.multi_dot torch.linalg.vecdot torch.matmul
    torch.mm torch.mv torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d
    torch.nn.ConvTranspose2d torch.nn.ConvTranspose3d torch.nn.LSTMCell torch.nn.LazyConv1d torch.nn.LazyConv2d
    torch.nn.LazyConv3d torch.nn.LazyConvTranspose1d torch.nn.LazyConvTranspose2d torch.nn.LazyConvTranspose3d
    torch.nn.LazyLinear torch.nn.Linear torch.nn.PReLU torch.nn.RNN torch.nn.RNNCell torch.nn.functional.conv1d
    torch.nn.functional.conv2d torch.nn.functional.conv3d torch.nn.functional.conv_transpose1d
    torch.nn.functional.conv_transpose2d torch.nn.functional.conv_transpose3d torch.nn.functional.linear
    torch.nn.functional.prelu torch.nn.functional.scaled_dot_product_attention torch.prelu
        """.split()),
        "float32": frozenset("""
    Tensor.__pow__ Tensor.__rdiv__ Tensor.__rpow__ Tensor.__rtruediv__ Tensor.acos Tensor.arccos Tensor.arcsin
    Tensor.asin Tensor.cosh Tensor.cumprod Tensor.cumsum Tensor.dist Tensor.erfinv Tensor.exp Tensor.expm1
    Tensor.log Tensor.log10 Tensor.log1p Tensor.log2 Tensor.log_softmax Tensor.logsumexp Tensor.norm Tensor.pow
    Tensor.prod Tensor.reciprocal Tensor.renorm Tensor.rsqrt Tensor.sinh Tensor.softmax Tensor.square Tensor.sum
    Tensor.tan torch.acos torch.arccos torch.arcsin torch.asin torch.cdist torch.cosh torch.cosine_similarity
    torch.cumprod torch.cumsum torch.cumulative_trapezoid torch.dist torch.erfinv torch.exp torch.expm1
    torch.group_norm torch.layer_norm torch.linalg.matrix_norm torch.linalg.matrix_rank torch.linalg.norm
    torch.linalg.vector_norm torch.log torch.log10 torch.log1p torch.log2 torch.log_softmax torch.logsumexp
    torch.native_layer_norm torch.nn.BCEWithLogitsLoss torch.nn.Bilinear torch.nn.CosineEmbeddingLoss
    torch.nn.CrossEntropyLoss torch.nn.GroupNorm torch.nn.HingeEmbeddingLoss torch.nn.HuberLoss torch.nn.KLDivLoss
    torch.nn.L1Loss torch.nn.LPPool1d torch.nn.LPPool2d torch.nn.LPPool3d torch.nn.LayerNorm
    torch.nn.LinearCrossEntropyLoss torch.nn.LocalResponseNorm torch.nn.LogSoftmax torch.nn.MSELoss
    torch.nn.MarginRankingLoss torch.nn.MultiLabelMarginLoss torch.nn.MultiLabelSoftMarginLoss
    torch.nn.MultiMarginLoss torch.nn.NLLLoss torch.nn.PoissonNLLLoss torch.nn.SmoothL1Loss torch.nn.SoftMarginLoss
    torch.nn.Softmax torch.nn.Softmax2d torch.nn.Softmin torch.nn.Softplus
    torch.nn.functional.binary_cross_entropy_with_logits torch.nn.functional.cosine_embedding_loss
    torch.nn.functional.cosine_similarity torch.nn.functional.cross_entropy torch.nn.functional.group_norm
    torch.nn.functional.hinge_embedding_loss torch.nn.functional.huber_loss torch.nn.functional.kl_div
    torch.nn.functional.l1_loss torch.nn.functional.layer_norm torch.nn.functional.linear_cross_entropy
    torch.nn.functional.log_softmax torch.nn.functional.margin_ranking_loss torch.nn.functional.mse_loss
    torch.nn.functional.multi_margin_loss torch.nn.functional.multilabel_margin_loss
    torch.nn.functional.multilabel_soft_margin_loss torch.nn.functional.nll_loss torch.nn.functional.normalize
    torch.nn.functional.pairwise_distance torch.nn.functional.pdist torch.nn.functional.poisson_nll_loss
    torch.nn.functional.smooth_l1_loss torch.nn.functional.soft_margin_loss torch.nn.functional.softmax
    torch.nn.functional.softmin torch.nn.functional.softplus torch.nn.functional.triplet_margin_loss
    torch.nn.functional.upsample_bilinear torch.nn.functional.upsample_nearest torch.norm torch.pairwise_distance
    torch.pdist torch.pow torch.prod torch.reciprocal torch.renorm torch.rsqrt torch.sinh torch.softmax
    torch.special.erfinv torch.special.expm1 torch.special.log1p torch.special.log_softmax torch.special.logsumexp
    torch.special.softmax torch.square torch.sum torch.tan torch.trapezoid torch.trapz
        """.split()),
        "widest": frozenset("""
    Tensor.addcdiv Tensor.addcmul Tensor.arctan2 Tensor.atan2 Tensor.cross Tensor.dot Tensor.index_put
    Tensor.scatter_add Tensor.vdot torch.addcdiv torch.addcmul torch.arctan2 torch.atan2 torch.bilinear torch.cross
    torch.dot torch.index_put torch.nn.functional.bilinear torch.nn.functional.grid_sample torch.normal
    torch.scatter_add torch.tensordot torch.vdot
        """.split()),
        "unknown": frozenset("""
    Tensor.addbmm_ Tensor.addmm_ Tensor.corrcoef Tensor.cov Tensor.geqrf Tensor.heaviside Tensor.heaviside_
    Tensor.histogram Tensor.index_add Tensor.index_add_ Tensor.index_copy Tensor.index_copy_ Tensor.index_put_
    Tensor.index_reduce Tensor.index_reduce_ Tensor.inner Tensor.istft Tensor.matrix_power Tensor.put Tensor.put_
    Tensor.sum_to_size einops.einops.einsum einops.einops.reduce einops.einsum einops.layers.torch.Reduce
    einops.reduce torch.affine_grid_generator torch.batch_norm torch.binomial torch.chain_matmul torch.combinations
    torch.complex torch.conv_tbc torch.convolution torch.corrcoef torch.cov torch.ctc_loss torch.frobenius_norm
    torch.geqrf torch.grid_sampler torch.grid_sampler_2d torch.grid_sampler_3d torch.gru torch.gru_cell
    torch.heaviside torch.histogram torch.histogramdd torch.index_add torch.index_copy torch.index_put_
    torch.index_reduce torch.inner torch.instance_norm torch.istft torch.linalg.cross torch.linalg.lstsq
    torch.linalg.matrix_power torch.linalg.solve torch.linalg.solve_ex torch.lstm torch.lstm_cell torch.masked.amax
    torch.masked.amin torch.masked.argmax torch.masked.argmin torch.masked.cumprod torch.masked.cumsum
    torch.masked.log_softmax torch.masked.logaddexp torch.masked.logsumexp torch.masked.mean torch.masked.median
    torch.masked.norm torch.masked.normalize torch.masked.prod torch.masked.softmax torch.masked.softmin
    torch.masked.std torch.masked.sum torch.masked.var torch.matrix_power torch.native_batch_norm
    torch.native_group_norm torch.nn.AdaptiveLogSoftmaxWithLoss torch.nn.BCELoss torch.nn.CTCLoss
    torch.nn.CosineSimilarity torch.nn.CrossMapLRN2d torch.nn.GRU torch.nn.GRUCell torch.nn.GaussianNLLLoss
    torch.nn.LSTM torch.nn.MultiheadAttention torch.nn.PairwiseDistance torch.nn.RMSNorm torch.nn.RReLU
    torch.nn.Transformer torch.nn.TransformerDecoder torch.nn.TransformerDecoderLayer
    torch.nn.TransformerEncoderLayer torch.nn.TripletMarginLoss torch.nn.TripletMarginWithDistanceLoss
    torch.nn.Upsample torch.nn.UpsamplingBilinear2d torch.nn.functional.affine_grid
    torch.nn.functional.binary_cross_entropy torch.nn.functional.conv_tbc torch.nn.functional.ctc_loss
    torch.nn.functional.embedding_bag torch.nn.functional.gaussian_nll_loss torch.nn.functional.gumbel_softmax
    torch.nn.functional.interpolate torch.nn.functional.local_response_norm torch.nn.functional.lp_pool1d
    torch.nn.functional.lp_pool2d torch.nn.functional.lp_pool3d torch.nn.functional.multi_head_attention_forward
    torch.nn.functional.rms_norm torch.nn.functional.triplet_margin_with_distance_loss torch.nn.functional.upsample
    torch.nn.utils.clip_grad.clip_grad_norm_ torch.nn.utils.clip_grad_norm_ torch.nuclear_norm torch.pca_lowrank
    torch.poisson torch.polar torch.put torch.rms_norm torch.rnn_relu torch.rnn_relu_cell torch.rnn_tanh
    torch.rnn_tanh_cell torch.svd_lowrank torch.vander
        """.split()),
    },
    "cpu": {
        "lower": frozenset("""
    Tensor.__matmul__ Tensor.__rmatmul__ Tensor.addbmm Tensor.addmm Tensor.baddbmm Tensor.bmm Tensor.corrcoef
    Tensor.cov Tensor.matmul Tensor.mm Tensor.prelu torch.addbmm torch.addmm torch.baddbmm torch.bmm torch.conv1d
    torch.conv2d torch.conv3d torch.conv_transpose1d torch.conv_transpose2d torch.conv_transpose3d torch.corrcoef
    torch.cov torch.linalg.matmul torch.linalg.multi_dot torch.linalg.vecdot torch.matmul torch.mm torch.nn.Conv1d
    torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d torch.nn.ConvTranspose2d torch.nn.ConvTranspose3d
    torch.nn.LazyConv1d torch.nn.LazyConv2d torch.nn.LazyConv3d torch.nn.LazyConvTranspose1d
    torch.nn.LazyConvTranspose2d torch.nn.LazyConvTranspose3d torch.nn.LazyLinear torch.nn.Linear
    torch.nn.MultiheadAttention torch.nn.PReLU torch.nn.RNN torch.nn.RNNCell torch.nn.functional.conv1d
    torch.nn.functional.conv2d torch.nn.functional.conv3d torch.nn.functional.conv_transpose1d
    torch.nn.functional.conv_transpose2d torch.nn.functional.conv_transpose3d torch.nn.functional.linear
    torch.nn.functional.multi_head_attention_forward torch.nn.functional.prelu
    torch.nn.functional.scaled_dot_product_attention torch.prelu
        """.split()),
        "float32": frozenset("""
    Tensor.cholesky Tensor.cholesky_inverse Tensor.cholesky_solve Tensor.geqrf Tensor.inverse Tensor.lu
    Tensor.lu_solve Tensor.nanquantile Tensor.orgqr Tensor.ormqr Tensor.pinverse Tensor.prod Tensor.qr
    Tensor.quantile Tensor.stft Tensor.svd Tensor.trace Tensor.triangular_solve torch.cdist torch.cholesky
    torch.cholesky_inverse torch.cholesky_solve torch.ctc_loss torch.fft.fft torch.fft.fft2 torch.fft.fftn
    torch.fft.hfft torch.fft.ifft torch.fft.ifft2 torch.fft.ifftn torch.fft.ihfft torch.fft.irfft torch.fft.irfft2
    torch.fft.irfftn torch.fft.rfft torch.fft.rfft2 torch.fft.rfftn torch.geqrf torch.grid_sampler_2d
    torch.grid_sampler_3d torch.inverse torch.linalg.cholesky torch.linalg.cholesky_ex torch.linalg.cond
    torch.linalg.eigh torch.linalg.eigvalsh torch.linalg.householder_product torch.linalg.inv torch.linalg.inv_ex
    torch.linalg.lstsq torch.linalg.matrix_rank torch.linalg.qr torch.linalg.solve torch.linalg.svd
    torch.linalg.svdvals torch.linalg.tensorinv torch.linalg.tensorsolve torch.lu torch.lu_solve torch.nanquantile
    torch.nn.AdaptiveAvgPool3d torch.nn.AdaptiveMaxPool3d torch.nn.AvgPool3d torch.nn.BCELoss
    torch.nn.BCEWithLogitsLoss torch.nn.CTCLoss torch.nn.CosineEmbeddingLoss torch.nn.CrossEntropyLoss
    torch.nn.FractionalMaxPool2d torch.nn.FractionalMaxPool3d torch.nn.HingeEmbeddingLoss torch.nn.HuberLoss
    torch.nn.KLDivLoss torch.nn.L1Loss torch.nn.LPPool3d torch.nn.LinearCrossEntropyLoss torch.nn.MSELoss
    torch.nn.MarginRankingLoss torch.nn.MultiLabelMarginLoss torch.nn.MultiMarginLoss torch.nn.NLLLoss
    torch.nn.PoissonNLLLoss torch.nn.ReflectionPad1d torch.nn.ReflectionPad2d torch.nn.ReplicationPad1d
    torch.nn.ReplicationPad2d torch.nn.ReplicationPad3d torch.nn.SmoothL1Loss torch.nn.SoftMarginLoss
    torch.nn.functional.adaptive_avg_pool3d torch.nn.functional.adaptive_max_pool3d torch.nn.functional.avg_pool3d
    torch.nn.functional.binary_cross_entropy torch.nn.functional.binary_cross_entropy_with_logits
    torch.nn.functional.cosine_embedding_loss torch.nn.functional.cross_entropy torch.nn.functional.ctc_loss
    torch.nn.functional.fractional_max_pool2d torch.nn.functional.fractional_max_pool2d_with_indices
    torch.nn.functional.fractional_max_pool3d torch.nn.functional.fractional_max_pool3d_with_indices
    torch.nn.functional.grid_sample torch.nn.functional.hinge_embedding_loss torch.nn.functional.huber_loss
    torch.nn.functional.kl_div torch.nn.functional.l1_loss torch.nn.functional.linear_cross_entropy
    torch.nn.functional.margin_ranking_loss torch.nn.functional.max_unpool1d torch.nn.functional.max_unpool2d
    torch.nn.functional.max_unpool3d torch.nn.functional.mse_loss torch.nn.functional.multi_margin_loss
    torch.nn.functional.multilabel_margin_loss torch.nn.functional.nll_loss torch.nn.functional.poisson_nll_loss
    torch.nn.functional.smooth_l1_loss torch.nn.functional.soft_margin_loss torch.nn.functional.triplet_margin_loss
    torch.orgqr torch.ormqr torch.pinverse torch.prod torch.qr torch.quantile torch.stft torch.svd torch.trace
    torch.triangular_solve torch.view_as_complex torch.view_as_complex_copy
        """.split()),
        "widest": frozenset("""
    Tensor.index_copy torch.index_copy torch.nn.TransformerEncoderLayer
        """.split()),
        "unknown": frozenset("""
    Tensor.matrix_power einops.einops.einsum einops.einops.reduce einops.einsum einops.layers.torch.Reduce
    einops.reduce torch.affine_grid_generator torch.batch_norm torch.binomial torch.chain_matmul torch.complex
    torch.conv_tbc torch.convolution torch.einsum torch.frobenius_norm torch.grid_sampler torch.gru torch.gru_cell
    torch.instance_norm torch.linalg.matrix_power torch.linalg.pinv torch.linalg.solve_ex torch.lstm torch.lstm_cell
    torch.masked.amax torch.masked.amin torch.masked.argmax torch.masked.argmin torch.masked.cumprod
    torch.masked.cumsum torch.masked.log_softmax torch.masked.logaddexp torch.masked.logsumexp torch.masked.mean
    torch.masked.median torch.masked.norm torch.masked.normalize torch.masked.prod torch.masked.softmax
    torch.masked.softmin torch.masked.std torch.masked.sum torch.masked.var torch.matrix_power torch.max_pool3d
    torch.nn.AdaptiveLogSoftmaxWithLoss torch.nn.CosineSimilarity torch.nn.CrossMapLRN2d torch.nn.GRU
    torch.nn.GRUCell torch.nn.LSTM torch.nn.LSTMCell torch.nn.LocalResponseNorm torch.nn.MaxPool3d
    torch.nn.PairwiseDistance torch.nn.RMSNorm torch.nn.RReLU torch.nn.Transformer torch.nn.TransformerDecoder
    torch.nn.TransformerDecoderLayer torch.nn.TripletMarginLoss torch.nn.TripletMarginWithDistanceLoss
    torch.nn.Upsample torch.nn.UpsamplingBilinear2d torch.nn.functional.affine_grid torch.nn.functional.conv_tbc
    torch.nn.functional.gumbel_softmax torch.nn.functional.instance_norm torch.nn.functional.interpolate
    torch.nn.functional.lp_pool1d torch.nn.functional.lp_pool2d torch.nn.functional.lp_pool3d
    torch.nn.functional.max_pool3d torch.nn.functional.pad torch.nn.functional.rms_norm
    torch.nn.functional.triplet_margin_with_distance_loss torch.nn.functional.upsample
    torch.nn.utils.clip_grad.clip_grad_norm_ torch.nn.utils.clip_grad_norm_ torch.nuclear_norm torch.pca_lowrank
    torch.poisson torch.polar torch.rms_norm torch.rnn_relu torch.rnn_relu_cell torch.rnn_tanh torch.rnn_tanh_cell
    torch.svd_lowrank torch.tensordot torch.vander
        """.split()),
    },
}
