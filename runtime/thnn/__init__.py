"""The backend of nn: the functions of THNN's header, one module for each family of layers.

nn's Lua files call them with pointers to C structs, which ``thnn/entries.lua`` turns into tensors.
Each module adds rows to the table when it is imported here.
"""

from th_shell.runtime.thnn import (  # noqa: F401
    channels,
    classes,
    convolution_by_plane,
    convolution_map,
    convolutions,
    counted_pooling,
    criterions,
    elementwise,
    named_rows,
    pooling,
    resampling,
    sparse,
    temporal,
    unpooling,
    window_sums,
)
