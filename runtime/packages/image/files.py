"""Image files: what reading and writing the formats PNG, JPEG and PPM have in common; and PPM.

The Lua half knows the functions as ``libpng.load``: tables of this name are fields of the tensor
classes, as in the original. ``load`` takes 1 and a file's name, or 0 and a ByteTensor of a file's
bytes; ``save`` a file's name, an image and 1, or anything, an image, 0 and a ByteTensor that gets
the bytes. Pixels are between 0 and 255 here, and between 0 and 65535 in a PNG file of 16 bits.

PPM and PGM files have numbers in characters (P2, P3) or in bytes (P5, P6); they need no library.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, Array, DType
from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import TorchError, TypeMismatch
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.packages import optional

#: The functions of a format, by the names that Lua knows them under.
Functions = dict[str, Callable[[Call], Any]]


def file_name(call: Call, at: int) -> bytes:
    """Return an argument that names a file; it ends at the first zero byte, as in C."""
    value = call.get(at)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{value:.14g}".encode()  # as Lua writes numbers
    if not isinstance(value, bytes):
        raise TypeMismatch(at, "string", call.type_name(at))
    return value.partition(b"\0")[0]


def read_source(call: Call, cannot_open: str) -> bytes:
    """Return the bytes of the file, or of the ByteTensor, that a call of ``load`` names.

    cannot_open: the message about a file that cannot be read, with %s for its name.
    """
    if call.long(1) != 1:
        return bytes(call.tensor(2, BYTE).flat.tobytes())
    return read_file(file_name(call, 2), cannot_open)


def read_file(name: bytes, cannot_open: str) -> bytes:
    """Return the bytes of a file.

    cannot_open: as for `read_source`.
    """
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise TorchError(cannot_open % printable(name)) from error


@contextmanager
def damage(message: str) -> Iterator[None]:
    """Raise errors of a library that reads a file as one with the original's message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those about EXIF data
            yield
    except (TorchError, MemoryError):
        raise
    except Exception as error:
        raise TorchError(message) from error


def tensor_of(dtype: DType, pixels: Array) -> Tensor:
    """Return a new image of height x width x depth pixels, as depth x height x width elements."""
    planes = pixels.transpose(2, 0, 1).astype(dtype.numpy, order="C")
    return TENSOR_CLASSES[dtype.index].of(planes)


def image_bytes(image: Tensor) -> Array:
    """Return an image as bytes, height x width x depth; fractions are cut off."""
    planes = image.array if image.ndim == 3 else image.array[None]
    if planes.dtype.kind == "f":
        planes = np.nan_to_num(planes, nan=0, posinf=0, neginf=0).astype(np.int64)
    return np.ascontiguousarray(planes.astype(np.uint8).transpose(1, 2, 0))


def encoded(pixels: Array, format: str, **options: Any) -> bytes:
    """Return a file of pixels, height x width x depth, in a format of Pillow's."""
    library: Any = optional("PIL.Image", "Pillow", "image")
    picture = library.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    buffer = BytesIO()
    picture.save(buffer, format, **options)
    return buffer.getvalue()


def write(call: Call, data: bytes, cannot_open: str, at: int) -> None:
    """Write a file's bytes to the file that a call of ``save`` names, or to a ByteTensor.

    at: the position of the ByteTensor among the arguments.
    """
    if call.long(3) == 0:
        target = call.tensor(at, BYTE)
        target.resize((len(data),))
        target.array[...] = np.frombuffer(data, np.uint8)
        return
    name = file_name(call, 1)
    try:
        replacement = Replacement(name)
    except OSError as error:
        raise TorchError(cannot_open % printable(name)) from error
    try:
        with replacement:
            replacement.write(data)
    except OSError as error:
        raise TorchError(f"{printable(name)}: {error.strerror}") from error


_CANNOT_OPEN = "cannot open file <%s> for reading"
_BROKEN = "corrupted file or read error"
_BLANKS, _DIGITS = b" ,\t\r\n", 9
_LINE_END = re.compile(rb"[\r\n]|\Z")


class _Header(NamedTuple):
    """The header of a file."""

    #: The digit of the format.
    kind: str
    #: The width in pixels.
    width: int
    #: The height in pixels.
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
    data = read_file(file_name(call, 1), _CANNOT_OPEN)
    header = _header(data)
    count = header.width * header.height * header.depth
    read = _characters if header.kind in "23" else _bytes
    values = read(data, header, count)
    if len(values) < count:
        raise TorchError(_BROKEN)
    return tensor_of(call.dtype, values.reshape(header.height, header.width, header.depth))


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
    header = _header(read_file(file_name(call, 1), _CANNOT_OPEN))
    return header.depth, header.height, header.width


def _save(call: Call) -> None:
    image = call.tensor(2)
    if image.ndim not in (2, 3):
        raise TorchError("can only export tensor with geometry: HxW or 1xHxW or 3xHxW")
    pixels = image_bytes(image)
    height, width, depth = pixels.shape
    head = f"P{6 if depth == 3 else 5}\n{width} {height}\n255\n"
    data = head.encode() + pixels.tobytes()
    write(call, data, "cannot open file <%s> for writing", at=4)


FUNCTIONS: Functions = {"libppm.load": _load, "libppm.size": _size, "libppm.save": _save}
