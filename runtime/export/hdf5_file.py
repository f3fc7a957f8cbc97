"""Writes HDF5: a dataset for each parameter, in groups by the dots of its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from th_shell.runtime.export.parameters import Parameter, Progress, firsts
from th_shell.runtime.export.python_text import free_name


def write_hdf5(
    file: IO[bytes],
    parameters: Mapping[str, Parameter],
    structure: str,
    floats: str | None,
    progress: Progress,
) -> None:
    """Write parameters by their names, and a text that the file has as its attribute torch7.

    h5py makes the file with room for the elements, and these are then written to their places: so
    one part is in memory at a time. floats: told of `Parameter.dtype`.
    """
    import h5py

    owners = firsts(parameters.items())
    paths = dict(zip(parameters, _paths(parameters), strict=True))
    offsets: list[tuple[int | None, Parameter]] = []
    # In files of earlier versions attributes have at most 64 KB.
    with h5py.File(file, "w", libver=("v108", "v108")) as made:
        made.attrs["torch7"] = structure
        for name, each in parameters.items():
            if owners[name] != name:
                made[paths[name]] = made[paths[owners[name]]]
                continue
            kind = each.dtype(floats).newbyteorder("<")
            dataset = made.create_dataset(
                paths[name], each.shape, kind, dcpl=_at_once(h5py), track_times=False
            )
            offsets.append((dataset.id.get_offset(), each))
    for offset, each in offsets:
        file.seek(offset or 0)  # what has no elements has no offset
        each.write(file, floats, progress)


def _at_once(h5py: Any) -> Any:
    """The property of a dataset that its room is there from the start, and not filled."""
    found = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    found.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    found.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    return found


def _paths(names: Iterable[str]) -> Iterator[str]:
    """Paths for names, each of which is there once; nothing is in a dataset."""
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
