"""Writes a state_dict of PyTorch: the file of torch.save, which loads with weights_only=True."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import IO, Any

from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.runtime.export.parameters import Parameter, Progress
from th_shell.torch.base.dtypes import NUMPY_DTYPES
from th_shell.torch.files.archive import write_archive
from th_shell.torch.files.pickling import Elements, View


def write_state_dict(
    file: IO[bytes],
    parameters: Mapping[str, Parameter],
    floats: str,
    progress: Progress = lambda count: None,
) -> None:
    """Write parameters by their names; those that are shared in memory share a storage.

    floats: "float32" or "float64". progress: gets the number of bytes that were just written.
    """
    stored: dict[Any, Elements] = {}
    state: OrderedDict[str, View] = OrderedDict()
    for name, each in parameters.items():
        kind = NUMPY_DTYPES[each.dtype(floats)]
        elements = Elements(kind, each.size, partial(each.parts, floats))
        elements = stored.setdefault((each.key, each.shape), elements)
        state[name] = View(elements, 0, each.shape, contiguous_strides(each.shape))
    write_archive(file, state, progress=progress)
