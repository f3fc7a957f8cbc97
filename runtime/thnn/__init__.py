"""The backend of nn: the functions of THNN's header, one module for each family of layers.

nn's Lua files call them with pointers to C structs, which ``lua/thnn/door.lua`` turns into tensors.
Each module adds rows to the table when it is imported here.
"""

from __future__ import annotations

from runtime.thnn import (
    activations,
    adaptive_pooling,
    classes,
    convolution_depthwise,
    convolution_local,
    convolution_map,
    convolutions,
    criterions,
    fractional_pooling,
    grid_sampler,
    index_linear,
    linear,
    lookup,
    lp_pooling,
    normalization,
    pooling,
    prelu,
    rectifiers,
    resampling,
    softmax,
    sparse,
    sub_sampling,
    temporal,
    temporal_row,
    unpooling,
    volumetric_convolution,
)

__all__ = [
    "ROWS_ADDED",
    "activations",
    "adaptive_pooling",
    "classes",
    "convolution_depthwise",
    "convolution_local",
    "convolution_map",
    "convolutions",
    "criterions",
    "fractional_pooling",
    "grid_sampler",
    "index_linear",
    "linear",
    "lookup",
    "lp_pooling",
    "normalization",
    "pooling",
    "prelu",
    "rectifiers",
    "resampling",
    "softmax",
    "sparse",
    "sub_sampling",
    "temporal",
    "temporal_row",
    "unpooling",
    "volumetric_convolution",
]

#: That the modules are imported, and the table is complete.
ROWS_ADDED = True
