"""Files of safetensors: the length of a header of JSON, the header, and the elements.

What the library of this name refuses is refused.
"""

from __future__ import annotations

import io
import json
import sys
from math import prod
from pickle import UnpicklingError
from typing import IO, Any, NamedTuple

from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.dtypes import DTYPES
from th_shell.torch.classes.storages import TypedStorage
from th_shell.torch.files.storage_loading import fill, new_storage
from th_shell.torch.files.unpickling import DAMAGED, rebuild_tensor
from th_shell.torch.tensors.tensor import Tensor

_SPECIAL = {"bool": "BOOL", "bfloat16": "BF16"}
_KINDS = {_SPECIAL.get(k.name, f"{k.name[0].upper()}{8 * k.itemsize}"): k for k in DTYPES}
_MOST = 100_000_000  # bytes of a header, as in the library


class _Entry(NamedTuple):
    """A tensor's entry in a header. begin, end: of its elements, in bytes behind the header."""

    begin: int
    end: int
    dtype: str
    shape: list[int]


def load_safetensors(file: IO[bytes]) -> dict[str, Tensor]:
    """Return the tensors of a file by their names. Raises UnpicklingError where it is damaged.

    NotImplementedError tells of a type that PyTorch has and this torch has not.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if length > min(_MOST, size - 8):
        raise UnpicklingError(f"{DAMAGED}: a header of {length} bytes")
    header = {name: _entry(name, value) for name, value in _header(file.read(length)).items()}
    stop = 0
    for entry in sorted(header.values(), key=lambda entry: entry[:2]):
        if entry.dtype not in _KINDS:
            raise NotImplementedError(
                f"tensors of safetensors' type {entry.dtype} are not provided here"
            )
        item = _KINDS[entry.dtype].itemsize
        is_huge = item * prod(n or 1 for n in entry.shape) >= 1 << 63
        if is_huge or entry[:2] != (stop, stop + item * prod(entry.shape)):
            raise UnpicklingError(f"{DAMAGED}: {entry.shape} {entry.dtype} are not at {entry[:2]}")
        stop = entry.end
    if stop != size - 8 - length:
        raise UnpicklingError(f"{DAMAGED}: {size - 8 - length} bytes of elements, not {stop}")
    return {name: _tensor(file, 8 + length, entry) for name, entry in header.items()}


def _header(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data.decode(), object_pairs_hook=_members, parse_int=_natural)
        json.dumps(header, ensure_ascii=False, allow_nan=False).encode()  # Python reads more
    except (ValueError, RecursionError):
        raise UnpicklingError(f"{DAMAGED}: the header is no JSON") from None
    notes = header.pop("__metadata__", None) if isinstance(header, dict) else 0
    if not (notes is None or isinstance(notes, dict) and {*map(type, notes.values())} <= {str}):
        raise UnpicklingError(f"{DAMAGED}: the header is no table of tensors and texts")
    return dict(header)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _natural(digits: str) -> float:
    return float(digits) if digits[0] == "-" else int(digits)  # of -0, too, which is no size


def _entry(name: str, value: Any) -> _Entry:
    match value:
        case {"dtype": str(kind), "shape": [*shape], "data_offsets": [begin, end]}:
            if all(type(number) is int and number >= 0 for number in (*shape, begin, end)):
                return _Entry(begin, end, kind, shape)
    raise UnpicklingError(f"{DAMAGED}: the header has no type, shape and place of {name!r}")


def _tensor(file: IO[bytes], start: int, entry: _Entry) -> Tensor:
    kind, shape = _KINDS[entry.dtype], entry.shape
    storage = TypedStorage(new_storage(kind, prod(shape)), dtype=kind)
    file.seek(start + entry.begin)
    fill(file, storage.object.data, sys.byteorder == "big")
    return rebuild_tensor(storage, 0, shape, contiguous_strides(tuple(shape)))
