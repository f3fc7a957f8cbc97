"""Writes what a file holds as safetensors and HDF5: tensors by name, and the structure as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import IO, Any, Literal

from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.runtime.export.graph import ExportError
from th_shell.runtime.export.hdf5_file import write_hdf5
from th_shell.runtime.export.lowering import value_at
from th_shell.runtime.export.parameters import FLOATS, Parameter, Progress
from th_shell.runtime.export.python_text import free_name
from th_shell.runtime.export.safetensors_file import write_safetensors
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.convert import outline
from th_shell.runtime.t7.files import Path
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.working_memory import count_left_out, portable_parts
from th_shell.torch.tensors.tensor import Tensor


@dataclass
class Which:
    """What is written, and how.

    select: the path of a part of the value, as "model". everything: whether gradients, results,
    room to compute in and an optimizer's state are written, too. type: of numbers with a fraction;
    by default the one that they have. progress: gets the number of bytes that were just written.
    """

    select: str | None = None
    everything: bool = False
    type: Literal["float", "double"] | None = None
    progress: Progress = field(default=lambda count: None)


def to_safetensors(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as a file of safetensors; returns `count_left_out`.

    Names are keys with dots between them, as in modules.1.weight. The header's __metadata__ has the
    structure as JSON, by the name torch7 (`th_shell.runtime.t7.convert` tells its form); a tensor
    that is another one again is left out, and its name leads to the other's there.

    options: the fields of `Which`. Raises OSError, and ExportError for a path that leads nowhere.
    """
    return _write(value, target, Which(**options), write_safetensors)


def to_hdf5(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as datasets of HDF5, in groups: modules/1/weight.

    The file's attribute torch7 has the structure as JSON; a tensor that is another one again is a
    link to that. Result, options and errors are those of `to_safetensors`; ExportError also where
    the library h5py is not installed.
    """
    if find_spec("h5py") is None:
        raise ExportError("writing HDF5 needs the library h5py: pip install 'th-shell[export]'")
    return _write(value, target, Which(**options), write_hdf5)


def _write(value: Any, target: Path, which: Which, write: Callable[..., None]) -> int:
    if which.select:
        value = value_at(value, which.select)
    structure, values = portable_parts(value, which.everything)
    floats = None if which.type is None else FLOATS[which.type]
    text = json.dumps(outline(structure), ensure_ascii=False, separators=(",", ":"))
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "w+b", closefd=False) as opened:
            file: IO[bytes] = opened
            write(file, parameters_of(values), text, floats, which.progress)
    return count_left_out(value, structure)


def parameters_of(values: Iterable[tuple[str, Any]]) -> dict[str, Parameter]:
    """The tensors and storages among named values; a name that is there again gets '#2'."""
    found: dict[str, Parameter] = {}
    for name, value in values:
        parameter = _parameter(value)
        if parameter is not None:
            found[free_name(name, found, between="#")] = parameter
    return found


def _parameter(value: Any) -> Parameter | None:
    if isinstance(value, Tensor):
        return Parameter.of(value)
    storage = storage_of(value)
    if storage is None:
        return None
    sizes = (storage.size,)
    data = TENSOR_CLASSES[storage.dtype.index](storage, 0, sizes, (1,))
    return Parameter(data, sizes, (id(storage), 0, (1,), sizes))
