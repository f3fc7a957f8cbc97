"""PNG files, by Pillow; those of several planes with 16 bits by pypng, since Pillow cuts them.

The libraries get only the chunks that a picture needs, with right checksums: the others may be
damaged, as for the original.
"""

import struct
import zlib
from io import BytesIO
from typing import NamedTuple

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.image import files

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CANNOT_OPEN = "[%s] File %%s could not be opened for reading"

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NEEDED = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
_PALETTE = 3
_PLANES = {0: 1, 2: 3, _PALETTE: 3, 4: 2, 6: 4}  # by what the header says of the colours
_MOST_PIXELS = 1_000_000  # in a row or column, as for libpng


class _Header(NamedTuple):
    """The first chunk of a file."""

    #: The width in pixels.
    width: int
    #: The height in pixels.
    height: int
    #: The bits of a sample.
    bits: int
    #: A key of `_PLANES`.
    colour: int

    @property
    def depth(self) -> int:
        """Return the number of the picture's planes."""
        return _PLANES[self.colour]


def _check_signature(data: bytes, label: str, name: bytes | None) -> None:
    what = "ByteTensor" if name is None else f"File {printable(name)}"
    if name is not None and len(data) < len(_SIGNATURE):
        raise TorchError(f"[{label}] {what} error reading header")
    if not data.startswith(_SIGNATURE):
        raise TorchError(f"[{label}] {what} is not recognized as a PNG file")


def _load(call: Call) -> tuple[Tensor, int]:
    data = files.read_source(call, _CANNOT_OPEN % "read_png_file")
    if call.long(1) == 1:
        _check_signature(data, "read_png_file", files.file_name(call, 2))
    else:
        _check_signature(data, "read_png_byte_tensor", None)
    header, keeps_16_bits = _read_header(data, "read_png"), call.dtype is not BYTE
    depth, bits = header.depth, header.bits
    tensor = TENSOR_CLASSES[call.dtype.index].new((depth, header.height, header.width))
    read = _read_wide if bits == 16 and depth > 1 and keeps_16_bits else _read
    message = "[read_png_file] Error during read_image"
    with files.damage(f"{message}: the picture is damaged"):
        pixels = read(_needed(data, message), depth if bits < 16 or depth > 1 else 0)
    if pixels.dtype != np.uint8 and not keeps_16_bits:
        pixels = pixels >> 8
    tensor.array[...] = pixels.reshape(header.height, header.width, depth).transpose(2, 0, 1)
    return tensor, max(bits, 8)


def _read_header(data: bytes, label: str) -> _Header:
    """Return the header of a file; TorchError where it cannot be that of one."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise TorchError(f"[{label}] Error during init_io: Missing IHDR")
    if zlib.crc32(data[12:29]) != int.from_bytes(data[29:33], "big"):
        raise TorchError(f"[{label}] Error during init_io: IHDR: CRC error")
    header = _Header(*struct.unpack(">IIBB", data[16:26]))
    fits = 0 < min(header[:2]) and max(header[:2]) <= _MOST_PIXELS and header.colour in _PLANES
    if not fits or header.bits not in (1, 2, 4, 8, 16):
        raise TorchError(f"[{label}] Error during init_io: Invalid IHDR data")
    return header


def _needed(data: bytes, message: str) -> bytes:
    """Return a file without the chunks that its picture does not need.

    Raises TorchError, which begins with a message, where one that it needs is damaged.
    """
    parts, at, name = [_SIGNATURE], len(_SIGNATURE), b""
    while name != b"IEND":
        size, name = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        chunk = data[at : at + 12 + size]
        if len(chunk) < 12 + size:
            raise TorchError(f"{message}: Read Error")
        if name in _NEEDED:
            if zlib.crc32(chunk[4:-4]) != int.from_bytes(chunk[-4:], "big"):
                raise TorchError(f"{message}: {name.decode()}: CRC error")
            parts.append(chunk)
        at += len(chunk)
    return b"".join(parts)


def _read(data: bytes, depth: int) -> Array:
    """Return the pixels as Pillow has them, as bytes; depth: 0 for a grey image of 16 bits."""
    plugin = optional("PIL.PngImagePlugin", "Pillow", "image")
    with plugin.PngImageFile(BytesIO(data)) as picture:
        if picture.mode == "P" and picture.palette is None:
            raise ValueError("there is no palette")
        return np.asarray(picture.convert(_MODES[depth]) if depth else picture)


def _read_wide(data: bytes, depth: int) -> Array:
    _, _, rows, _ = optional("png", "pypng", "image").Reader(bytes=data).read()
    return np.vstack([np.asarray(row, np.uint16) for row in rows])


def _size(call: Call) -> tuple[int, int, int]:
    name = files.file_name(call, 1)
    data = files.read_file(name, _CANNOT_OPEN % "get_png_size")
    _check_signature(data, "get_png_size", name)
    header = _read_header(data, "get_png_size")
    if header.colour == _PALETTE:
        raise TorchError("[get_png_size] unsupported type: PALETTE")
    return header.depth, header.height, header.width


def _save(call: Call) -> None:
    image = call.tensor(2)
    depth = {2: 1, 3: image.sizes[0] if image.sizes else 0}.get(image.ndim, 0)
    if depth not in (1, 3, 4):
        raise TorchError("[write_png_file] Depth must be 1, 3 or 4")
    data = files.encoded(files.image_bytes(image), "PNG")
    cannot_open = "[write_png_file] File %s could not be opened for writing"
    files.write(call, data, cannot_open, at=4)


FUNCTIONS: files.Functions = {"libpng.load": _load, "libpng.size": _size, "libpng.save": _save}
