"""Classes that are not converted, and why."""

from __future__ import annotations

_CRITERION = "it is a criterion, and no part of a net; torch.nn has PyTorch's losses"
_REASONS = {
    _CRITERION: "nn.BinaryLogisticRegression nn.L1Cost nn.SpatialBinaryLogisticRegression",
    "it takes lists of indices and numbers, which ONNX has no tensors for; in PyTorch "
    "nn.EmbeddingBag does the same with the transposed weight": "nn.SparseLinear nn.IndexLinear",
    "how many elements it gives depends on its input's; convert the net up to it": (
        "nn.MaskedSelect"
    ),
    "it draws the regions that it pools at random, in evaluation, too": (
        "nn.SpatialFractionalMaxPooling nn.VolumetricFractionalMaxPooling"
    ),
    "it cuts patches at places that another tensor gives, one sample after the other": (
        "nn.SpatialGlimpse"
    ),
    "it looks at places that it draws at random, step by step": "nn.RecurrentAttention",
    "it is a base of other classes, and computes nothing": (
        "nn.Container nn.Criterion nn.Module nn.Reinforce "
        "cudnn._Pointwise cudnn._Pooling cudnn._Pooling3D"
    ),
    "it trains a net, and is none: select the module that it trains": "nn.StochasticGradient",
    "it rewards modules that draw at random: convert the net without it": (
        "nn.BinaryClassReward nn.VRClassReward"
    ),
    "it computes what only cudnn does; train the net with nn's class instead": (
        "cudnn.SpatialDivisiveNormalization"
    ),
    "it draws what it pools at random in training, and takes weighted means in evaluation, which "
    "neither library has": "inn.SpatialStochasticPooling",
    "it pools regions that another tensor lists: torchvision.ops.roi_pool does so in PyTorch": (
        "inn.ROIPooling"
    ),
    "it mixes the means of samples": "nn.LayerNormalization",
    "it is rare: --stub leaves its place empty in a .pt file's source": (
        "nn.Convert nn.FeatureLPPooling nn.Kmeans nn.PartialLinear nn.ReinforceGamma "
        "nn.SpatialBinaryConvolution nn.SpatialConvolutionLocal nn.SpatialFeatNormalization "
        "nn.SpatialFullConvolutionMap "
        "nn.SpatialUniformCrop nn.TemporalDynamicKMaxPooling nn.TemporalRowConvolution"
    ),
}
REASONS = {name: reason for reason, names in _REASONS.items() for name in names.split()}


def reason_of(kind: str) -> str | None:
    """Return why a class is not converted; None for one that is not known."""
    return REASONS.get(kind) or (_CRITERION if "Criterion" in kind else None)
