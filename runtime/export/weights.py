"""Writes the tensors that a file holds by their names: as safetensors, HDF5 or arrays of numpy."""

import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, Any, Literal

import numpy as np

from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.runtime.export.graph import ExportError
from th_shell.runtime.export.lowering import value_at
from th_shell.runtime.export.parameters import FLOATS, Parameter, owner_names
from th_shell.runtime.export.python_text import free_name
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.files import Path
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.working_memory import portable_tensors
from th_shell.torch.tensors.tensor import Tensor


@dataclass
class WeightOptions:
    """The options of `to_safetensors`, `to_hdf5` and `to_npz`."""

    #: The path of the part of the value that is written, as "model".
    select: str | None = None
    #: Whether gradients, results, room to compute in and an optimizer's state are written, too.
    everything: bool = False
    #: The type to which floats and doubles are converted; None leaves them as they are.
    type: Literal["float", "double"] | None = None


def to_safetensors(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as a file of safetensors.

    Names are keys with dots between them, as in modules.1.weight. A tensor that is another one
    again is written once, and its name leads to the other's in the header's __metadata__.

    Returns how many tensors working memory has, which is left out (see `portable_tensors`).

    options: the fields of `WeightOptions`. Raises OSError, and ExportError for a path that leads
    nowhere.
    """
    return _write(value, target, WeightOptions(**options), write_safetensors)


def to_hdf5(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as datasets of HDF5, in groups: modules/1/weight.

    A tensor that is another one again is a link to that. Options, result and errors are those of
    `to_safetensors`; ExportError also where the library h5py is not installed.
    """
    if find_spec("h5py") is None:
        raise ExportError("writing HDF5 needs the library h5py: pip install 'th-shell[hdf5]'")
    return _write(value, target, WeightOptions(**options), write_hdf5)


def to_npz(value: Any, target: Path, **options: Any) -> int:
    """Write the tensors in a value of `load` as arrays of numpy (.npz).

    Names, options, result and errors are those of `to_safetensors`; slashes in names become lines.
    """
    return _write(value, target, WeightOptions(**options), write_npz)


def _write(value: Any, target: Path, which: WeightOptions, write: Callable[..., None]) -> int:
    if which.select:
        value = value_at(value, which.select)
    named, left_out = portable_tensors(value, which.everything)
    floats = None if which.type is None else FLOATS[which.type]
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "wb", closefd=False) as file:
            write(file, parameters_of(named), floats)
    return left_out


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


_METADATA = "__metadata__"


def write_safetensors(
    file: IO[bytes], parameters: Mapping[str, Parameter], floats: str | None
) -> None:
    """Write parameters by their names as safetensors.

    Large elements come first, so that all are aligned. floats: see `Parameter.dtype`.
    """
    if _METADATA in parameters:
        raise ExportError(f"safetensors has no room for a tensor of the name {_METADATA}")
    owners = owner_names(parameters.items())
    again = {name: owner for name, owner in owners.items() if name != owner}
    names = [name for name in parameters if name not in again]
    names.sort(key=lambda name: -parameters[name].dtype(floats).itemsize)
    header: dict[str, Any] = {_METADATA: again} if again else {}
    stop = 0
    for name in names:
        each = parameters[name]
        start, stop = stop, stop + each.length(floats)
        kind = each.dtype(floats)
        type_name = f"{kind.kind.upper()}{8 * kind.itemsize}"  # F32
        header[name] = {"dtype": type_name, "shape": each.shape, "data_offsets": [start, stop]}
    data = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    data += b" " * (-len(data) % 8)
    file.write(struct.pack("<Q", len(data)) + data)
    for name in names:
        parameters[name].write(file, floats)


def write_hdf5(file: IO[bytes], parameters: Mapping[str, Parameter], floats: str | None) -> None:
    """Write parameters as datasets; the parts of their names are groups.

    h5py makes the file with room for the elements, and these are then written to their places: so
    one part is in memory at a time. floats: see `Parameter.dtype`.
    """
    import h5py

    has_room = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    has_room.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    has_room.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    owners, paths = owner_names(parameters.items()), _paths(parameters)
    offsets: dict[str, int] = {}
    with h5py.File(file, "w") as archive:
        for name, each in parameters.items():
            if owners[name] != name:
                archive[paths[name]] = archive[paths[owners[name]]]
                continue
            kind = each.dtype(floats).newbyteorder("<")
            place = archive.create_dataset(
                paths[name], each.shape, kind, dcpl=has_room, track_times=False
            )
            offsets[name] = place.id.get_offset() or 0  # none where there are no elements
    for name, offset in offsets.items():
        file.seek(offset)
        parameters[name].write(file, floats)


def _paths(names: Iterable[str]) -> dict[str, str]:
    """Return a path of HDF5 for each name; none is there twice or leads through a dataset."""
    paths: dict[str, str] = {}
    datasets: set[str] = set()
    groups: set[str] = set()
    for name in names:
        *outer, last = [part or "_" for part in name.replace("/", "_").split(".")]
        path = ""
        for part in outer:
            path = free_name(f"{path}/{part}", datasets, between="#")
            groups.add(path)
        paths[name] = free_name(f"{path}/{last}", datasets, groups, between="#")
        datasets.add(paths[name])
    return paths


def write_npz(file: IO[bytes], parameters: Mapping[str, Parameter], floats: str | None) -> None:
    """Write parameters by their names as an archive of numpy's files.

    No name leads out of the folder that it is unpacked in. floats: see `Parameter.dtype`.
    """
    members: set[str] = set()
    with zipfile.ZipFile(file, "w") as archive:
        for name, each in parameters.items():
            member = free_name(name.replace("/", "_").replace("\\", "_"), members, between="#")
            members.add(member)
            kind = np.lib.format.dtype_to_descr(each.dtype(floats).newbyteorder("<"))
            head = {"descr": kind, "fortran_order": False, "shape": each.shape}
            with archive.open(f"{member}.npy", "w", force_zip64=True) as out:
                np.lib.format.write_array_header_2_0(out, head)
                each.write(out, floats)
