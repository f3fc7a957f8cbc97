"""Writes a state_dict of PyTorch: the zip file of torch.save, which loads with weights_only=True.

The format: an archive, not compressed, of a pickle (data.pkl) that makes an OrderedDict of tensors,
and of a file for each storage (data/0, …), whose bytes begin at multiples of 64.
"""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

from runtime.export.parameters import Parameter

_ROOT = "archive"
_ALIGNMENT = 64
_PADDING_FIELD = 0x4246  # the extra field of a file's header in which the padding stands ("FB")
_DATE = (1980, 1, 1, 0, 0, 0)
_STORAGES = {
    "float16": "HalfStorage",
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "uint8": "ByteStorage",
}


def write_state_dict(
    file: IO[bytes],
    parameters: Mapping[str, Parameter],
    floats: str,
    progress: Callable[[int], object] = lambda count: None,
) -> None:
    """Write parameters by their names; those that are shared in memory share a storage.

    floats: "float32" or "float64". progress: gets the number of bytes that were just written.
    """
    storages: dict[Any, tuple[str, Parameter]] = {}
    for parameter in parameters.values():
        key = (parameter.key, parameter.shape)
        storages.setdefault(key, (str(len(storages)), parameter))
    keys = {name: storages[(each.key, each.shape)][0] for name, each in parameters.items()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _member(archive, "data.pkl", _pickle(parameters, keys, floats))
        _member(archive, "byteorder", b"little")
        for number, parameter in storages.values():
            info = _info(archive, f"data/{number}")
            info.file_size = parameter.size * parameter.dtype(floats).itemsize
            with archive.open(info, "w") as out:
                for part in parameter.parts(floats):
                    out.write(part)
                    progress(len(part))
        _member(archive, "version", b"3\n")


def _member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(_info(archive, name), data)


def _info(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """A file's header; its length is such that the bytes behind it are aligned."""
    info = zipfile.ZipInfo(f"{_ROOT}/{name}", _DATE)
    assert archive.fp is not None
    start = archive.fp.tell() + 30 + len(info.filename) + 4
    padding = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + b"Z" * padding
    return info


def _pickle(parameters: Mapping[str, Parameter], keys: Mapping[str, str], floats: str) -> bytes:
    """The pickle of an OrderedDict, of protocol 2, whose tensors name their storages."""
    out = [b"\x80\x02ccollections\nOrderedDict\n)R("]
    for name, parameter in parameters.items():
        out += [_text(name), _tensor(parameter, keys[name], floats)]
    return b"".join([*out, b"u."])


def _tensor(parameter: Parameter, key: str, floats: str) -> bytes:
    """A call of torch._utils._rebuild_tensor_v2: storage, offset, sizes, strides, no gradient."""
    strides: list[int] = []
    step = 1
    for size in reversed(parameter.shape):
        strides.insert(0, step)
        step *= size
    kind = _STORAGES[parameter.dtype(floats).name]
    storage = b"(" + _text("storage") + f"ctorch\n{kind}\n".encode() + _text(key) + _text("cpu")
    storage += _int(parameter.size) + b"tQ"
    sizes = b"(" + b"".join(map(_int, parameter.shape)) + b"t"
    steps = b"(" + b"".join(map(_int, strides)) + b"t"
    hooks = b"ccollections\nOrderedDict\n)R"
    arguments = b"(" + storage + _int(0) + sizes + steps + b"\x89" + hooks + b"t"
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"


def _text(text: str) -> bytes:
    data = text.encode()
    return pickle.BINUNICODE + struct.pack("<I", len(data)) + data


def _int(value: int) -> bytes:
    if 0 <= value < 2**31:
        return pickle.BININT + struct.pack("<i", value)
    data = value.to_bytes(9, "little", signed=True)
    return pickle.LONG1 + bytes([len(data)]) + data
