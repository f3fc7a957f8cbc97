"""The backend of nn: the functions of THNN's header, one module for each family of layers.

nn's Lua files call them with pointers to C structs, which ``thnn/entries.lua`` turns into tensors.
Each module adds rows to the table when it is imported here.
"""

from __future__ import annotations

from th_shell.runtime.thnn import (  # noqa: F401
    adaptive_pooling,
    channels,
    classes,
    convolution_by_plane,
    convolution_local,
    convolution_map,
    convolutions,
    criterions,
    elementwise,
    fractional_pooling,
    index_linear,
    lookup,
    lp_pooling,
    pooling,
    resampling,
    softmax,
    sparse,
    sub_sampling,
    temporal,
    unpooling,
)

#: That the modules are imported, and the table is complete.
ROWS_ADDED = True
