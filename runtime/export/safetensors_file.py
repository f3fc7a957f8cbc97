"""Writes the format safetensors: the length of a header of JSON, the header, and the elements."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any

from th_shell.runtime.export.graph import ExportError
from th_shell.runtime.export.parameters import Parameter, Progress, firsts

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

    Large elements come first, so that all are aligned. floats: told of `Parameter.dtype`.
    """
    if _METADATA in parameters:
        raise ExportError(f"safetensors has no room for a tensor of the name {_METADATA}")
    owners = firsts(parameters.items())
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
        told = f"{kind.kind.upper()}{8 * kind.itemsize}"  # F32
        header[name] = {"dtype": told, "shape": each.shape, "data_offsets": [start, stop]}
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
