"""PPM and PGM files, in characters (P2, P3) and in bytes (P5, P6). No library is needed."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image import files

_CANNOT_OPEN = "cannot open file <%s> for reading"
_BROKEN = "corrupted file or read error"
_BLANKS, _DIGITS = b" ,\t\r\n", 9
_LINE_END = re.compile(rb"[\r\n]|\Z")


class _Header(NamedTuple):
    """The header of a file."""

    #: The digit of the format.
    kind: str
    #: In pixels.
    width: int
    height: int
    #: The value of white.
    largest: int
    #: The index of the first byte behind the header.
    end: int

    @property
    def depth(self) -> int:
        return 3 if self.kind in "36" else 1


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number behind blanks and comments, and the position behind the byte that ends it.

    A comment stands for the end of its line.
    """
    digits = b""
    while at < len(data):
        if data[at] == ord("#"):
            at = _LINE_END.search(data, at).start()  # type: ignore[union-attr]
        byte, at = data[at : at + 1], at + 1
        if byte.isdigit() and len(digits) < _DIGITS:
            digits += byte
        elif digits or byte not in _BLANKS:
            break
    if not int(digits or b"0"):
        raise TorchError(_BROKEN)
    return int(digits), at


def _header(data: bytes) -> _Header:
    if data[:1] != b"P":
        raise TorchError("corrupted file")
    kind = data[1:2].decode("latin-1")
    if kind not in ("2", "3", "5", "6"):
        raise TorchError(f"unsupported magic number: P{kind}")
    width, end = _number(data, 2)
    height, end = _number(data, end)
    largest, end = _number(data, end)
    return _Header(kind, width, height, largest, end)


def _load(call: Call) -> Tensor:
    data = files.read_file(files.file_name(call, 1), _CANNOT_OPEN)
    header = _header(data)
    count = header.width * header.height * header.depth
    read = _characters if header.kind in "23" else _bytes
    values = read(data, header, count)
    if len(values) < count:
        raise TorchError(_BROKEN)
    return files.tensor_of(call.dtype, values.reshape(header.height, header.width, header.depth))


def _characters(data: bytes, header: _Header, count: int) -> Array:
    words = data[header.end :].split(None, count)[:count]
    try:
        values = np.array(words, dtype=bytes).astype(np.int64)
    except (ValueError, OverflowError):
        raise TorchError(_BROKEN) from None
    return (255 * values // header.largest).astype(np.uint8)


def _bytes(data: bytes, header: _Header, count: int) -> Array:
    """Return the samples of a file in bytes.

    Torch7: of samples of two bytes takes the first for the lower one, unlike other programs.
    """
    wide = header.largest > 255
    raster = data[header.end :][: count * (1 + wide)]
    return np.frombuffer(
        raster[: len(raster) // 2 * 2] if wide else raster, "<u2" if wide else "u1"
    )


def _size(call: Call) -> tuple[int, int, int]:
    header = _header(files.read_file(files.file_name(call, 1), _CANNOT_OPEN))
    return header.depth, header.height, header.width


def _save(call: Call) -> None:
    image = call.tensor(2)
    if image.ndim not in (2, 3):
        raise TorchError("can only export tensor with geometry: HxW or 1xHxW or 3xHxW")
    pixels = files.image_bytes(image)
    height, width, depth = pixels.shape
    head = f"P{6 if depth == 3 else 5}\n{width} {height}\n255\n"
    data = head.encode() + pixels.tobytes()
    files.write(call, data, "cannot open file <%s> for writing", at=4)


FUNCTIONS: files.Functions = {"libppm.load": _load, "libppm.size": _size, "libppm.save": _save}
