"""Files of safetensors: the length of a header of JSON, the header, and the elements."""

from __future__ import annotations

import io
import json
import sys
from math import prod
from pickle import UnpicklingError
from typing import IO

from runtime.core.tensor import contiguous_strides
from runtime.pytorch.base.dtypes import DTYPES
from runtime.pytorch.classes.storages import TypedStorage
from runtime.pytorch.files.storing import fill, new_storage, read_struct
from runtime.pytorch.files.unpickling import DAMAGED, rebuild_tensor
from runtime.pytorch.tensors.tensor import Tensor

_SPECIAL = {"bool": "BOOL", "bfloat16": "BF16"}
_KINDS = {_SPECIAL.get(k.name, f"{k.name[0].upper()}{8 * k.itemsize}"): k for k in DTYPES}


def load_safetensors(file: IO[bytes]) -> dict[str, Tensor]:
    """The tensors of a file by their names. Raises UnpicklingError, and others where it is damaged.

    NotImplementedError tells of a type that PyTorch has and this torch has not.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    (length,) = read_struct(file, "<Q")
    header = json.loads(file.read(min(length, size)))
    header.pop("__metadata__", None)
    return {name: _tensor(file, 8 + length, size, **told) for name, told in header.items()}


def _tensor(
    file: IO[bytes], start: int, size: int, dtype: str, shape: list[int], data_offsets: list[int]
) -> Tensor:
    if dtype not in _KINDS:
        raise NotImplementedError(f"tensors of safetensors' type {dtype} are not provided here")
    kind, (begin, end) = _KINDS[dtype], data_offsets
    count = prod(shape)
    if not (0 <= begin <= end <= size - start and count * kind.itemsize == end - begin):
        raise UnpicklingError(f"{DAMAGED}: {shape} {dtype} are not at {data_offsets}")
    storage = TypedStorage(new_storage(kind, count), dtype=kind)
    file.seek(start + begin)
    fill(file, storage.object.data, sys.byteorder == "big")
    return rebuild_tensor(storage, 0, shape, contiguous_strides(tuple(shape)))
