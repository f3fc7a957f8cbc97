"""Writes what a file holds as safetensors and HDF5: tensors by name, and the structure as JSON."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import IO, Any, Literal

from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.runtime.export.graph import ExportError
from th_shell.runtime.export.lowering import value_at
from th_shell.runtime.export.parameters import FLOATS, Parameter, Progress, owner_names
from th_shell.runtime.export.python_text import free_name
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.convert import outline
from th_shell.runtime.t7.files import Path
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.working_memory import count_left_out, portable_parts
from th_shell.torch.tensors.tensor import Tensor


@dataclass
class WeightOptions:
    """The options of `to_safetensors` and `to_hdf5`."""

    #: The path of the part of the value that is written, as "model".
    select: str | None = None
    #: Whether gradients, results, room to compute in and an optimizer's state are written, too.
    everything: bool = False
    #: The type of numbers with a fraction; by default the one that they have.
    type: Literal["float", "double"] | None = None
    #: Gets the number of bytes that were just written.
    progress: Progress = field(default=lambda count: None)


def to_safetensors(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as a file of safetensors; returns `count_left_out`.

    Names are keys with dots between them, as in modules.1.weight. The header's __metadata__ has the
    structure as JSON, by the name torch7 (`th_shell.runtime.t7.convert` tells its form); a tensor
    that is another one again is left out, and its name leads to the other's there.

    options: the fields of `WeightOptions`. Raises OSError, and ExportError for a path that leads
    nowhere.
    """
    return _write(value, target, WeightOptions(**options), write_safetensors)


def to_hdf5(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as datasets of HDF5, in groups: modules/1/weight.

    The file's attribute torch7 has the structure as JSON; a tensor that is another one again is a
    link to that. Result, options and errors are those of `to_safetensors`; ExportError also where
    the library h5py is not installed.
    """
    if find_spec("h5py") is None:
        raise ExportError("writing HDF5 needs the library h5py: pip install 'th-shell[export]'")
    return _write(value, target, WeightOptions(**options), write_hdf5)


def _write(value: Any, target: Path, which: WeightOptions, write: Callable[..., None]) -> int:
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
    """Return the tensors and storages among named values; a name that is there again gets '#2'."""
    parameters: dict[str, Parameter] = {}
    for name, value in values:
        parameter = _parameter(value)
        if parameter is not None:
            parameters[free_name(name, parameters, between="#")] = parameter
    return parameters


def _parameter(value: Any) -> Parameter | None:
    if isinstance(value, Tensor):
        return Parameter.of(value)
    storage = storage_of(value)
    if storage is None:
        return None
    sizes = (storage.size,)
    data = TENSOR_CLASSES[storage.dtype.index](storage, 0, sizes, (1,))
    return Parameter(data, sizes, (id(storage), 0, (1,), sizes))


_METADATA, _STRUCTURE = "__metadata__", "torch7"
_MOST = 100_000_000  # bytes of a header that the library safetensors reads


def write_safetensors(
    file: IO[bytes],
    parameters: Mapping[str, Parameter],
    structure: str,
    floats: str | None,
    progress: Progress,
) -> None:
    """Write parameters by their names, and a text that the header has by the name torch7.

    Large elements come first, so that all are aligned. floats: see `Parameter.dtype`.
    """
    if _METADATA in parameters:
        raise ExportError(f"safetensors has no room for a tensor of the name {_METADATA}")
    owners = owner_names(parameters.items())
    # An entry of the header's has a name of its own: a tensor of that name is written again.
    again = {name: owner for name, owner in owners.items() if name not in (owner, _STRUCTURE)}
    names = [name for name in parameters if name not in again]
    names.sort(key=lambda name: -parameters[name].dtype(floats).itemsize)
    header: dict[str, Any] = {_METADATA: again | {_STRUCTURE: structure}}
    stop = 0
    for name in names:
        each = parameters[name]
        start, stop = stop, stop + each.length(floats)
        kind = each.dtype(floats)
        type_name = f"{kind.kind.upper()}{8 * kind.itemsize}"  # F32
        header[name] = {"dtype": type_name, "shape": each.shape, "data_offsets": [start, stop]}
    _write_header(file, header)
    for name in names:
        parameters[name].write(file, floats, progress)


def _write_header(file: IO[bytes], header: Mapping[str, Any]) -> None:
    data = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    data += b" " * (-len(data) % 8)
    if len(data) > _MOST:
        raise ExportError(
            f"the structure and the names have {len(data)} bytes: a header of safetensors has room "
            f"for {_MOST}"
        )
    file.write(struct.pack("<Q", len(data)) + data)


def write_hdf5(
    file: IO[bytes],
    parameters: Mapping[str, Parameter],
    structure: str,
    floats: str | None,
    progress: Progress,
) -> None:
    """Write parameters by their names, and a text that the file has as its attribute torch7.

    h5py makes the file with room for the elements, and these are then written to their places: so
    one part is in memory at a time. floats: see `Parameter.dtype`.
    """
    import h5py

    owners = owner_names(parameters.items())
    paths = dict(zip(parameters, _paths(parameters), strict=True))
    offsets: list[tuple[int | None, Parameter]] = []
    # In files of earlier versions attributes have at most 64 KB.
    with h5py.File(file, "w", libver=("v108", "v108")) as archive:
        archive.attrs["torch7"] = structure
        for name, each in parameters.items():
            if owners[name] != name:
                archive[paths[name]] = archive[paths[owners[name]]]
                continue
            kind = each.dtype(floats).newbyteorder("<")
            dataset = archive.create_dataset(
                paths[name], each.shape, kind, dcpl=_at_once(h5py), track_times=False
            )
            offsets.append((dataset.id.get_offset(), each))
    for offset, each in offsets:
        file.seek(offset or 0)  # what has no elements has no offset
        each.write(file, floats, progress)


def _at_once(h5py: Any) -> Any:
    """Return the property of a dataset that its room is there from the start, and not filled."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    return properties


def _paths(names: Iterable[str]) -> Iterator[str]:
    """Yield a path for each name: each is there once, and none is in a dataset."""
    datasets: set[str] = set()
    groups: set[str] = set()
    for name in names:
        *outer, last = [part or "_" for part in name.replace("/", "_").split(".")]
        path = ""
        for part in outer:
            path = free_name(f"{path}/{part}", datasets, between="#")
            groups.add(path)
        path = free_name(f"{path}/{last}", datasets, groups, between="#")
        datasets.add(path)
        yield path
