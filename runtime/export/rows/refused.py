"""Classes without a counterpart, and why."""

from __future__ import annotations

from th_shell.runtime.export.modules import no_counterpart

no_counterpart(
    "it takes lists of indices and numbers, which ONNX has no tensors for; in PyTorch "
    "nn.EmbeddingBag does the same with the transposed weight",
    "nn.SparseLinear",
    "nn.IndexLinear",
)
no_counterpart(
    "how many elements it gives depends on its input's; convert the net up to it",
    "nn.MaskedSelect",
)
no_counterpart(
    "it draws the regions that it pools at random, in evaluation, too",
    "nn.SpatialFractionalMaxPooling",
    "nn.VolumetricFractionalMaxPooling",
)
no_counterpart(
    "it cuts patches at places that another tensor gives, one sample after the other",
    "nn.SpatialGlimpse",
)
no_counterpart(
    "it is a base of other classes, and computes nothing",
    "nn.Container",
    "nn.Criterion",
    "nn.Module",
    "nn.Reinforce",
    "cudnn._Pointwise",
    "cudnn._Pooling",
    "cudnn._Pooling3D",
)
no_counterpart(
    "it trains a net, and is none: select the module that it trains", "nn.StochasticGradient"
)
no_counterpart(
    "it computes what only cudnn does; train the net with nn's class instead",
    "cudnn.SpatialDivisiveNormalization",
)
